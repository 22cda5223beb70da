"""Groups of tools: declared ones, those that names and paths suggest, and what becomes of one that is too small."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from captured import service_of_answers
from cli import generated
from conftest import GitHub
from descriptions import description, grouped, operation, write
from listed import documented, inspected, tools
from listed import tool as entry

from skillgen import Service

Json = Any

THINGS = ("user", "order", "invoice", "product", "ticket", "project", "task", "comment", "file", "folder")
METHODS = ("get", "post", "put", "delete")
VERBS = ("list", "get", "create", "update", "delete")


def service_of(source: Path) -> dict[str, Json]:
    service: dict[str, Json] = json.loads(generated("inspect", "-q", source).stdout)["services"][0]
    return service


def members(service: dict[str, Json]) -> dict[str | None, list[str]]:
    """Returns the title of each group with the names of its tools."""
    titles = {group["name"]: group["title"] for group in service.get("groups", [])}
    found: dict[str | None, list[str]] = {title: [] for title in titles.values()}
    for tool in service["tools"]:
        found.setdefault(titles.get(tool.get("group")), []).append(tool["name"])
    return found


def service_with(*entries: Json) -> Service:
    """Returns the service of a server that lists these tools."""
    return service_of_answers({"tools/list": [{"tools": list(entries)}]})


def named(*names: str) -> dict[str | None, list[str]]:
    """Returns the groups that these names suggest."""
    service = service_with(*({"name": name} for name in names))
    titles = {group.name: group.title for group in service.groups}
    found: dict[str | None, list[str]] = {}
    for tool in service.tools:
        found.setdefault(titles.get(tool.group or ""), []).append(tool.name)
    return found


def test_tools_are_grouped_by_their_names_and_marked_as_inferred(tmp_path: Path) -> None:
    """Issue 5: inferred, and the model says from what."""
    service = inspected(tmp_path, tools=tools(f"{verb}_{thing}" for thing in ("task", "board") for verb in VERBS))
    assert {title: len(names) for title, names in members(service).items()} == {"Boards": 5, "Tasks": 5}
    assert {str(tool["origins"]["group"]) for tool in service["tools"]} == {str({"kind": "inferred", "source": "name"})}


@pytest.mark.parametrize(
    ("names", "titles"),
    [
        (["listUsers", "getUser", "createUser", "listOrders", "getOrder", "createOrder"], ["Users", "Orders"]),
        (["user.list", "user.get", "user.create", "order.list", "order.get", "order.create"], ["User", "Order"]),
        (["browser_tab_new", "browser_tab_list", "browser_tab_close", "browser_mouse_click", "browser_mouse_move",
          "browser_mouse_drag"], ["Tab", "Mouse"]),
        (["get_pull_request", "list_pull_requests", "create_pull_request", "get_issue", "create_issue", "list_issues"],
         ["Pull requests", "Issues"]),
        (["create_or_update_file", "get_file_contents", "push_files", "search_repositories", "create_repository",
          "fork_repository"], ["Files", "Repositories"]),
    ],
)  # fmt: skip
def test_however_names_are_written(names: list[str], titles: list[str]) -> None:
    found = named(*names)
    assert set(found) == set(titles)
    assert {len(group) for group in found.values()} == {3}


def test_a_word_with_which_all_titles_end_is_left_out(tmp_path: Path) -> None:
    """Issue 15: `Users API` is about users."""
    data = grouped(
        **{f"{title} API": [f"{title}_{verb}" for verb in ("list", "get")] for title in ("Ship", "Pier", "Tide")}
    )
    titles = [group["title"] for group in service_of(write(tmp_path / "api.json", data))["groups"]]
    assert not any(title.endswith("API") for title in titles)


@pytest.mark.parametrize("names", [["a", "b"], ["echo", "add", "print_env", "get_tiny_image", "sample", "zip"]])
def test_names_that_have_nothing_in_common_make_no_groups(names: list[str]) -> None:
    assert set(named(*names)) == {None}


@pytest.mark.parametrize(
    "names",
    [
        [f"tool_{number}" for number in range(300)],
        [f"tool{number}" for number in range(3_000)],
        [f"{verb}_{thing}" for thing in THINGS for verb in VERBS],
        [f"{verb}_{one}_{two}" for one in THINGS for two in THINGS for verb in VERBS],
        [f"list_{thing}_{number}" for thing in THINGS for number in range(31)],
        [f"get_{thing}" for thing in THINGS],
        [f"x{number}.get" for number in range(150)],
        ["工具" + str(number) for number in range(120)],
    ],
)
def test_no_group_has_one_tool_and_none_more_than_a_page_of_an_index_holds(names: list[str]) -> None:
    """Issue 5: no group of one, no group of 300; every tool is in one, and the order of tools is what it was."""
    found = named(*names)
    assert sorted(name for group in found.values() for name in group) == sorted(names)
    assert all(2 <= len(group) <= 100 for group in found.values())
    assert len(found) == len({str(title).lower() for title in found})
    assert named(*names) == found


def test_a_tag_of_one_operation_joins_others_and_is_marked_as_inferred(tmp_path: Path) -> None:
    source = write(tmp_path / "api.json", grouped(pets=["a", "b", "c"], emojis=["d"], limits=["e"]))
    service = service_of(source)
    assert members(service) == {"Pets": ["a", "b", "c"], "Emojis, limits": ["d", "e"]}
    assert "group" not in service["tools"][0].get("origins", {})
    assert service["tools"][3]["origins"]["group"]["kind"] == "inferred"


def test_the_one_tag_of_one_operation_is_put_with_the_smallest(tmp_path: Path) -> None:
    source = write(tmp_path / "api.json", grouped(pets=["a", "b", "c"], store=["d", "e"], health=["f"]))
    assert members(service_of(source)) == {"Pets": ["a", "b", "c"], "Health, store": ["d", "e", "f"]}


def test_operations_without_tags_are_grouped_by_their_paths(tmp_path: Path) -> None:
    paths = {f"/v1/{thing}s/{{id}}": {method: operation() for method in ("get", "put")} for thing in THINGS[:3]}
    source = write(tmp_path / "api.json", description(paths))
    assert {title: len(names) for title, names in members(service_of(source)).items()} == {
        "Invoices": 2,
        "Orders": 2,
        "Users": 2,
    }


def test_a_large_tag_is_divided_by_paths_and_its_parts_say_what_is_in_them(github: GitHub) -> None:
    """Issue 5: repos (204), actions (187) and orgs (111) of GitHub; every other group is a declared tag."""
    service = service_of(github.source)
    sizes = Counter(tool["group"] for tool in service["tools"])
    assert set(sizes) == {group["name"] for group in service["groups"]}
    assert min(sizes.values()) >= 2
    assert max(sizes.values()) <= 100
    titles = [group["title"] for group in service["groups"]]
    assert {"Repos: branches", "Repos: releases", "Credentials, emojis, rate limit"} <= set(titles)
    divided = {title.partition(": ")[0] for title in titles if ": " in title}
    assert divided == {"Repos", "Actions", "Orgs"}
    tags = {tag["name"].replace("-", " ").casefold() for tag in github.raw["tags"]}
    undeclared = {
        title for title in titles if ": " not in title and not tags & {title.casefold(), title.casefold()[:-1]}
    }
    assert undeclared == {"Credentials, emojis, rate limit"}


def test_a_heading_keeps_compound_nouns_and_is_plural_if_countable() -> None:
    """Issue 5: groups in the words of users, also where a verb is taken back or the noun is a verb elsewhere."""
    requests = ["merge_merge_request", "approve_merge_request", "unapprove_merge_request", "get_merge_request"]
    groups = ["create_group", "list_group_members", "list_group_iterations"]
    found = named(*requests, "list_merge_requests", *groups, "get_weather", "compare_weather", "search_weather")
    assert list(found) == ["Merge requests", "Groups", "Weather"]
    assert len(found["Merge requests"]) == 5


def test_a_heading_spells_a_word_as_the_descriptions_do() -> None:
    """Issue 5: `CI`, not `Ci`."""
    words = {"validate_ci": "Validates CI configuration", "list_ci_jobs": "Lists the jobs of CI", "get_ci": "Gets it"}
    words |= {f"{verb}_order": "Orders" for verb in VERBS}
    service = service_with(*(entry(name, description=text) for name, text in words.items()))
    assert [group.title for group in service.groups] == ["CI", "Orders"]


def test_operations_that_share_a_path_are_grouped_by_their_names(tmp_path: Path) -> None:
    """Issue 5: `/#Action=ListUsers` says nothing but the name, as in many descriptions of Amazon's services."""
    paths = {
        f"/#Action={verb.title()}{thing.title()}": {
            method: operation(f"{method.upper()}_{verb.title()}{thing.title()}") for method in ("get", "post")
        }
        for thing in THINGS[:3]
        for verb in VERBS
    }
    found = members(service_of(write(tmp_path / "api.json", description(paths))))
    assert {title: len(names) for title, names in found.items()} == {"Users": 10, "Orders": 10, "Invoices": 10}


def test_the_one_tag_of_all_operations_is_not_repeated_before_its_parts(tmp_path: Path) -> None:
    """Issue 5: what all share distinguishes none, and no part has a single tool."""
    paths = {
        f"/{thing}s/{part}": {
            verb: operation(f"{verb}_{thing}_{part}", tags=["all"]) for verb in ("get", "put", "post")
        }
        for thing in THINGS
        for part in ("files", "labels", "notes", "links")
    }
    paths["/health"] = {"get": operation("health", tags=["all"])}
    found = members(service_of(write(tmp_path / "api.json", description(paths))))
    assert [title for title in found if title and title.startswith("all")] == []
    assert min(map(len, found.values())) > 1


def test_identifiers_are_headings_as_texts_spell_them(tmp_path: Path) -> None:
    """Plural if tools list them, with the capitals of the texts, and with the name of a larger area first."""
    tags = {"credit_notes": "Lists credit notes", "apple_pay": "A domain for Apple Pay", "GitHub": "Links to GitHub"}
    tags |= {"admin.users": "Does it", "admin.users.restrictAccess": "Does it", "Read me": "Does it", "user_data": "x"}
    source = grouped(**{tag: [f"{tag}_a", f"{tag}_b"] for tag in tags}, pet=["listPet", "createPet"])
    for path in source["paths"].values():
        for item in path.values():
            item["summary"] = tags.get(item["tags"][0], "Does it")
    titles = set(members(service_of(write(tmp_path / "api.json", source))))
    assert titles == {
        *("Credit notes", "Apple Pay", "GitHub", "Admin users", "Admin users: restrict access"),
        *("Read me", "User data", "Pets"),
    }


def test_a_name_in_mixed_case_is_one_word_unless_texts_write_it_apart(tmp_path: Path) -> None:
    said = {
        "GitHub": "Links to GitHub",
        "PhoneNumber": "A PhoneNumber, a phone number",
        "AnyCall": "x",
        "UsageLog": "x",
    }
    source = grouped(**{tag: [f"{tag}_a", f"{tag}_b"] for tag in said})
    for path in source["paths"].values():
        for item in path.values():
            item["summary"] = said[item["tags"][0]]
    titles = set(members(service_of(write(tmp_path / "api.json", source))))
    assert titles == {"GitHub", "Phone number", "Any call", "Usage log"}


PART = re.compile(r"-p\d+\.md$")
"""How many pages a group has depends on which tools share one."""

WORDS = ("skill", "md", "pet", "tag", "order", "item", "user", "file", "note", "run", "log", "job")


@pytest.mark.parametrize("count", [12, 40, 300])
def test_groups_and_files_are_the_same_in_whatever_order_tools_arrive(tmp_path: Path, count: int) -> None:
    """S0-25, X-51: also where several words would do as well for a group, and where a group is divided."""
    chance = random.Random(count)
    verbs = [*VERBS, "add", "zap"]
    names = [f"{chance.choice(verbs)}_{'_'.join(chance.sample(WORDS, chance.randint(1, 3)))}" for _ in range(count)]
    names = list(dict.fromkeys([*names, "get_skill_md", "put_skill_md", "ping"]))
    found = []
    for attempt in range(2):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        groups = {title: sorted(members) for title, members in named(*names).items()}
        finished, out = documented(folder, "-q", "--emit", "skill", tools=tools(names))
        assert finished.exit_code == 0, finished.stderr
        files = sorted(path.name for path in out.glob("skills/*/references/*") if not PART.search(path.name))
        found.append((groups, files))
        chance.shuffle(names)
    assert found[0] == found[1]


def test_groups_whose_names_differ_in_case_only_are_one(tmp_path: Path) -> None:
    """Issue 5: tags, and a tag with what paths suggest; the membership that nobody declared is said to be inferred."""
    paths = {
        "/orders": {"get": operation("a", tags=["Orders"]), "post": operation("b", tags=["orders"])},
        "/orders/{id}": {"get": operation("c", tags=["Orders"]), "put": operation("d"), "delete": operation("e")},
        "/pets": {"get": operation("f"), "post": operation("g")},
    }
    service = service_of(write(tmp_path / "api.json", description(paths)))
    assert members(service) == {"Orders": ["a", "b", "c", "d", "e"], "Pets": ["f", "g"]}
    origins = {tool["name"]: tool.get("origins", {}).get("group", {}).get("source") for tool in service["tools"]}
    spelling = "groups whose names differ in case only"
    assert origins == {"a": None, "b": spelling, "c": None, "d": "path", "e": "path", "f": "path", "g": "path"}


def test_a_group_named_like_a_generated_file_has_another_file_name(tmp_path: Path) -> None:
    """X-24: `index.md` and `about.md` are other things; there are no events that need `events.md`."""
    tags = {tag: [f"{tag}{n}" for n in range(8)] for tag in ("index", "about", "events", "ship")}
    generated("from-openapi", write(tmp_path / "api.json", grouped(**tags)), "-o", tmp_path / "out")
    files = {path.name for path in (tmp_path / "out").glob("skills/*/references/*.md")}
    assert {"group-index.md", "group-about.md", "ship.md", "events.md"} <= files


def in_groups(service: dict[str, Any]) -> dict[str, list[str]]:
    """Returns the titles of the groups with the names of their tools."""
    return {
        group["title"]: [tool["name"] for tool in service["tools"] if tool.get("group") == group["name"]]
        for group in service["groups"]
    }


def test_compound_names_are_one_word_and_versions_are_ignored(tmp_path: Path) -> None:
    """Issue 5: groups are called by words that a user would use."""
    verbs = ("install", "update", "delete", "list")
    said = [
        entry(f"{verb}WordPressV1", description=f"{verb.title()} a WordPress site of the account.") for verb in verbs
    ]
    said += [entry(f"{verb}DriveItemV1", description=f"{verb.title()} a DriveItem.") for verb in verbs]
    said += [entry(f"{verb}DriveV1", description=f"{verb.title()} a drive.") for verb in verbs]
    found = in_groups(inspected(tmp_path, tools=said))
    assert found["WordPress"] == [f"{verb}WordPressV1" for verb in verbs]
    assert "Word" not in found
    # Of a drive there is more than its items, so that the two are one matter.
    assert len(found["Drives"]) == 8


def test_an_abbreviation_stays_upper_case_with_its_usual_plural(tmp_path: Path) -> None:
    """Issue 5: names of groups."""
    said = [
        entry(f"{verb}_record_xml", description="Does it to a record XML.")
        for verb in ("check", "build", "read", "edit")
    ]
    said += [entry(f"VPS_{verb}", description="Does it.") for verb in ("getData", "startNow", "stopNow", "resetPower")]
    said += [
        entry(name, description="Does it to one URL.") for name in ("create_url", "list_urls", "delete_url", "find_url")
    ]
    assert set(in_groups(inspected(tmp_path, tools=said))) == {"Record XML", "VPS", "URLs"}


@pytest.mark.parametrize("last", [{"category": "admin"}, {}])
def test_a_category_of_one_tool_takes_no_other_category_away(tmp_path: Path, last: dict[str, str]) -> None:
    """S0-12, S0-35: in the model, in the references and among the capabilities; nor does a tool without one."""
    entries = [
        {"name": f"do_{n}", "inputSchema": {"type": "object"}, "dashdash": own}
        for n, own in enumerate([{"category": "projects"}] * 6 + [last])
    ]
    service = inspected(tmp_path, tools=entries)
    assert [item["group"] for item in service["tools"][:6]] == ["projects"] * 6
    assert service["tools"][6]["group"] == last.get("category", "other")
    assert {group["name"] for group in service["groups"]} == {"projects", last.get("category", "other")}
    _, out = documented(tmp_path, tools=entries, prompts=[])
    capabilities = (out / "ai-help.md").read_text("utf-8").partition("## Capabilities")[2].partition("\n## ")[0]
    assert "- Projects: `do_0`, `do_1`, `do_2`, `do_3`, `do_4`, `do_5`\n" in capabilities
    assert f"- {last.get('category', 'other').title()}: `do_6`\n" in capabilities


def test_a_tag_of_one_operation_takes_no_other_tag_away(tmp_path: Path) -> None:
    paths = {f"/p{n}": {"get": operation(f"op{n}", tags=["projects"])} for n in range(6)}
    paths["/a"] = {"get": operation("opA", tags=["admin"])}
    service = service_of(write(tmp_path / "api.json", description(paths)))
    assert {item["group"] for item in service["tools"]} == {"projects", "admin"}


NOUNS = """
    cookie:cookies movie:movies cache:caches alias:aliases status:statuses book:books category:categories bus:buses
    box:boxes class:classes branch:branches database:databases release:releases purchase:purchases license:licenses
    warehouse:warehouses response:responses person:people child:children analysis:analyses leaf:leaves hero:heroes
    shoe:shoes photo:photos quiz:quizzes prize:prizes series:series news:news tie:ties lens:lenses canvas:canvases
    virus:viruses key:keys archive:archives drive:drives tax:taxes address:addresses niche:niches headache:headaches
    cause:causes use:uses issue:issues value:values invoice:invoices device:devices axis:axes vertex:vertices
    phrase:phrases exercise:exercises expense:expenses clause:clauses census:censuses potato:potatoes policy:policies
    query:queries entry:entries currency:currencies property:properties dns:dns analytics:analytics
"""


def test_tools_for_one_noun_and_for_several_are_one_group() -> None:
    pairs = [pair.split(":") for pair in NOUNS.split()]
    names = [f"{verb}_{many}" for _, many in pairs for verb in ("list", "clear", "count")]
    names += [f"{verb}_{one}" for one, _ in pairs for verb in ("get", "delete")]
    service = service_with(*(entry(name) for name in names))
    nouns = {tool.name: tool.name.partition("_")[2] for tool in service.tools}
    apart = [pair for pair in pairs if len({tool.group for tool in service.tools if nouns[tool.name] in pair}) != 1]
    assert apart == []
    assert len({tool.group for tool in service.tools}) == len(pairs)


def test_a_verb_at_the_end_of_a_name_may_be_a_noun() -> None:
    nouns = {"book": ("rate_book", "list_books", "get_book"), "room": ("book_room", "list_rooms", "get_room")}
    nouns["seat"] = ("app_book_seat", "list_seats", "get_seat")
    service = service_with(*(entry(name) for names in nouns.values() for name in names))
    assert {tool.name: tool.group for tool in service.tools} == {
        name: noun for noun, names in nouns.items() for name in names
    }


def test_a_verb_at_the_end_of_a_name_is_the_noun_of_a_group() -> None:
    """Issue 15: `start_search` is about searches if other tools are."""
    names = (
        "start_search",
        "stop_search",
        "list_searches",
        "get_search_results",
        "get_port",
        "list_ports",
        "open_port",
    )
    assert named(*names) == {"Searches": [*names[:4]], "Ports": [*names[4:]]}


def test_a_group_with_the_one_other_tool_keeps_its_title() -> None:
    """Issue 15: "Other" says nothing of five tools with messages."""
    messages = ("push_message", "send_message", "list_messages")
    menus = [f"{verb}_menu" for verb in ("create", "delete", "list", "get", "set")]
    found = named(*messages, *menus, "get_profile")
    assert found["Messages, other"] == [*messages, "get_profile"]


def test_no_two_groups_share_a_name() -> None:
    """S0-35: parts of a large group are named apart from one another and from declared groups, in whatever case."""
    names = ["".join("lI1"[i // 3**place % 3] for place in range(12)) for i in range(2_500)]
    parted = service_with(*({"name": name} for name in names))
    large = [{"name": f"{verb}_{n}", "dashdash": {"category": "Port"}} for verb in VERBS for n in range(60)]
    declared = [
        {"name": f"sail_{part}_{n}", "dashdash": {"category": f"port: {part}"}} for part in VERBS for n in range(2)
    ]
    both = service_with(*large, *declared)
    for service in (parted, both):
        found = [group.name.casefold() for group in service.groups]
        assert len(found) == len(set(found))
        assert sum(Counter(tool.group for tool in service.tools).values()) == len(service.tools)
    assert {f"port: {part}" for part in VERBS} < {group.name for group in both.groups}
    assert "Port: list (2)" in {group.name for group in both.groups}


def test_preflight_requests_are_documented_but_in_no_list(tmp_path: Path) -> None:
    paths = {f"/{thing}s": {"get": operation(f"list_{thing}"), "post": operation(f"add_{thing}")} for thing in THINGS}
    for path, item in paths.items():
        item["options"] = operation(f"cors_{path[1:]}") | {"summary": "CORS support"}
    generated("from-openapi", write(tmp_path / "api.json", description(paths)), "-o", tmp_path / "out")
    (skill,) = (tmp_path / "out" / "skills").iterdir()
    lists = [skill / "SKILL.md", *skill.glob("references/index*"), tmp_path / "out" / "llms.txt"]
    assert [path.name for path in lists if "cors_" in path.read_text("utf-8")] == []
    pages = "".join(path.read_text("utf-8") for path in skill.glob("references/*.md"))
    assert pages.count("\n## cors_") == len(THINGS)
