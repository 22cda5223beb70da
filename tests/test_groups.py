"""Groups of tools: declared ones, those that names and paths suggest, and none where they would not help."""

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
from listed import documented, documents, inspected, tools
from listed import tool as entry

from skillgen import Service

Json = Any

THINGS = ("user", "order", "invoice", "product", "ticket", "project", "task", "comment", "file", "folder")
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


def called(*patterns: str, count: int = 12) -> list[str]:
    """Returns names that fit each pattern, with different words in the place of the star."""
    words = [a + b for a in ("sail", "mast", "keel", "deck") for b in ("wood", "rope", "iron", "cloth", "wax")]
    return [pattern.replace("*", word) for pattern in patterns for word in words[:count]]


@pytest.mark.parametrize(
    "patterns",
    [
        ("tab_*", "mouse_*", "page_*", "window_*"),
        ("browser_tab_*", "browser_mouse_*", "browser_page_*", "browser_window_*"),
        ("tab.*", "mouse.*", "page.*", "window.*"),
        ("Tab-*", "Mouse-*", "Page-*", "Window-*"),
    ],
)
def test_the_first_part_of_most_names_is_their_group(tmp_path: Path, patterns: tuple[str, ...]) -> None:
    service = inspected(tmp_path, tools=tools([*called(*patterns), "undo", "zoom"]))
    found = {title: len(names) for title, names in members(service).items()}
    assert found == {"Mouse": 12, "Page": 12, "Tab": 12, "Window": 12, "Other": 2}
    assert list(found)[-1] == "Other"
    assert {str(tool["origins"]["group"]) for tool in service["tools"]} == {str({"kind": "inferred", "source": "name"})}


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
def test_no_inferred_group_has_one_tool_and_none_most_of_them(names: list[str]) -> None:
    """Issue 5: every tool is in one group, or none is; no two groups share a name."""
    found = named(*names)
    assert sorted(name for group in found.values() for name in group) == sorted(names)
    assert set(found) == {None} or all(
        title == "Other" or 2 <= len(group) <= len(names) / 2 for title, group in found.items()
    )
    assert len(found) == len({str(title).lower() for title in found})
    assert named(*names) == found


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
        out = documents(folder, "-q", "--emit", "skill", tools=tools(names))
        files = sorted(path.name for path in out.glob("skills/*/references/*") if not PART.search(path.name))
        found.append((groups, files))
        chance.shuffle(names)
    assert found[0] == found[1]


def test_groups_whose_names_differ_in_case_or_number_are_one(tmp_path: Path) -> None:
    """Issue 5: tags, and a tag with what paths suggest; the membership that nobody declared is said to be inferred."""
    paths = {
        "/orders": {"get": operation("a", tags=["Orders"]), "post": operation("b", tags=["orders"])},
        "/orders/{id}": {"get": operation("c", tags=["Orders"])},
    }
    for thing in ("orders", "pets", "Pets", "ad", "ads"):
        paths |= {f"/{thing}/{n}": {"get": operation(f"{thing}{n}")} for n in range(16)}
    service = service_of(write(tmp_path / "api.json", description(paths)))
    assert {title: len(names) for title, names in members(service).items()} == {"Orders": 19, "Pets": 32, "Ads": 32}
    origins = {tool["name"]: tool.get("origins", {}).get("group", {}).get("source") for tool in service["tools"]}
    spelling = "groups whose names differ in case only"
    assert (origins["a"], origins["b"], origins["c"], origins["pets1"]) == (None, spelling, None, "path")


def test_a_group_named_like_a_generated_file_has_another_file_name(tmp_path: Path) -> None:
    """X-24: `index.md` and `about.md` are other things; there are no events that need `events.md`."""
    tags = {tag: [f"{tag}{n}" for n in range(8)] for tag in ("index", "about", "events", "ship")}
    generated("from-openapi", write(tmp_path / "api.json", grouped(**tags)), "-o", tmp_path / "out")
    files = {path.name for path in (tmp_path / "out").glob("skills/*/references/*.md")}
    assert {"group-index.md", "group-about.md", "ship.md", "events.md"} <= files


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


def test_operations_without_tags_are_grouped_by_their_paths(tmp_path: Path) -> None:
    """By the first segment that is no version, no parameter, and not common to all; a query is no part of it."""
    paths = {
        f"/api/v1/{{tenant}}/{thing}s{part}": {method: operation() for method in ("get", "put")}
        for thing in (*THINGS[:3], "apiKey")
        for part in ("?beta=true", "/b", "/c", "/d", "/e", "/f")
    }
    source = write(tmp_path / "api.json", description(paths))
    assert {title: len(names) for title, names in members(service_of(source)).items()} == {
        "ApiKeys": 12,
        "Invoices": 12,
        "Orders": 12,
        "Users": 12,
    }


def test_groups_without_words_name_as_many_of_their_tools_as_fit(tmp_path: Path) -> None:
    parts = ("open", "closed", "lost", "found", "sold", "sent")
    paths = {
        f"/registered-parcels-of-depot-{number}/{part}-by-the-office": {"get": {"tags": [f"Depot {number}"]}}
        for number in range(90)
        for part in parts
    }
    generated("from-openapi", write(tmp_path / "api.json", description(paths)), "-o", tmp_path / "out")
    (skill,) = (tmp_path / "out" / "skills").glob("*/SKILL.md")
    lines = [line for line in skill.read_text("utf-8").splitlines() if line.startswith("- [Depot ")]
    assert len(lines) == 90
    assert [line for line in lines if "(6): `/" not in line] == []


@pytest.mark.parametrize("pattern", ["{verb}_{thing}", "{verb}{Thing}", "{thing}_{verb}"])
def test_else_the_noun_that_most_names_share_as_the_texts_spell_it(pattern: str) -> None:
    """Issue 5: `CI`, not `Ci`."""
    verbs = (*VERBS, "search", "add", "find", "remove", "edit", "set")
    things = {"ci": "the CI", "order": "an order", "user": "users", "wordpress": "WordPress"}
    said = [
        entry(pattern.format(verb=verb, thing=thing, Thing=thing.title()), description=f"Does it to {words}.")
        for verb in verbs
        for thing, words in things.items()
    ]
    assert {group.title for group in service_with(*said).groups} == {"CI", "Order", "Users", "WordPress"}


@pytest.mark.parametrize(
    ("names", "title"),
    [
        (("move_up", "move_down", "bulk_move", "get_move"), None),
        (("delete_older_than", "mark_older_than_read", "archive_older_than"), None),
        (("list_before_sale", "count_during_sale", "find_after_sale"), "Sale"),
        (("log_write", "log_read", "log_clear"), "Log"),
        (("story_reply", "story_mark_seen", "reply_to_story"), "Story"),
        (("get_event_stream", "find_event_stream"), "Stream"),
        (("get_depot_by_label", "find_crane_by_label", "list_hulls_by_label"), None),
    ],
)
def test_a_group_is_neither_a_verb_nor_a_word_that_links_others(names: tuple[str, ...], title: str | None) -> None:
    """As "Than" and "Move" of a mailbox; a word that may be a verb is a noun next to another one."""
    usual = [f"{verb}_{thing}" for verb in (*VERBS, "search", "find", "add") for thing in THINGS[:6]]
    said = [entry(name, description=f"Does it: {name.replace('_', ' ')}.") for name in (*usual, *names)]
    titles = {"Users", "Orders", "Invoices", "Products", "Tickets", "Projects"}
    found = {group.title for group in service_with(*said).groups} - {"Other"}
    assert {title.rstrip("s") for title in found} == {name.rstrip("s") for name in titles} | ({title} - {None})


def test_a_large_tag_is_divided_by_paths_and_its_parts_say_what_is_in_them(
    github: GitHub, github_snapshot: Json
) -> None:
    """Issue 5: repos (204), actions (187) and orgs (111) of GitHub; every other group is a declared tag."""
    (service,) = github_snapshot["services"]
    sizes = Counter(tool["group"] for tool in service["tools"])
    assert set(sizes) == {group["name"] for group in service["groups"]}
    assert min(sizes.values()) >= 2
    titles = [group["title"] for group in service["groups"]]
    assert {"repos: branches", "repos: releases"} <= set(titles)
    assert titles[-1] == "Other"
    assert {title.partition(": ")[0] for title in titles if ": " in title} == {"repos", "actions", "orgs"}
    assert {title.partition(": ")[0] for title in titles} - {"Other"} <= {tag["name"] for tag in github.raw["tags"]}
