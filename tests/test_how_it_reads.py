"""How the documents read: nothing twice, nothing cut where it hurts, nothing that a renderer shows otherwise."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from cli import generated
from descriptions import description, operation, write
from documents import MarkdownDocument, broken_links
from filters import each
from listed import documented, tool
from test_before_the_first_call import of_description

import skillgen

Json = Any

LIST = {"/tasks": {"get": operation("list_tasks")}}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("MANDATORY FIRST STEP: call this.\n\nKeeps berths. Must be free.", "Keeps berths"),
        ("You must call this before any other tool. Always call it again.", "You must call this before any other tool"),
        (
            "Keeps the berths of all harbours, which must be free.",
            "Keeps the berths of all harbours, which must be free",
        ),
    ],
)
def test_a_list_shows_what_a_tool_does_and_not_an_order(tmp_path: Path, text: str, shown: str) -> None:
    _, out = documented(tmp_path, tools=[tool("keep", description=text)])
    assert f": {shown}\n" in (out / "llms.txt").read_text("utf-8")


def test_a_text_is_cut_before_a_parenthesis_that_would_stay_open() -> None:
    """X-22."""
    text = "Ends a deployment of a component (for a component that is deployed at the very moment)"
    assert each("clipped(70)", [text]) == ["Ends a deployment of a component…"]
    text = "Ends what `a component of the harbour` deploys at the very moment"
    assert each("clipped(30)", [text]) == ["Ends what…"]


INFO = {"title": "Tasks", "version": "1"}


def test_a_path_that_begins_at_no_host_is_no_address(tmp_path: Path) -> None:
    """Issue 5, how to call."""
    skill = of_description(tmp_path, LIST, servers=[{"url": "/api"}])
    assert "Base URL: `/api`; the source does not declare on which host." in skill
    skill = of_description(tmp_path, LIST, servers=[])
    assert "The source declares no base URL." in skill


def test_a_tool_that_is_called_elsewhere_is_spoken_of_before_its_section(tmp_path: Path) -> None:
    own = {"get": operation("health", servers=[{"url": "http://localhost:8080"}])}
    skill = of_description(tmp_path, {**LIST, "/health": own})
    assert ", unless the tool's section names another." in skill


def test_alternative_ways_to_authenticate_are_not_required_together(tmp_path: Path) -> None:
    schemes = {"key": {"type": "apiKey", "in": "header", "name": "K"}, "basic": {"type": "http", "scheme": "basic"}}

    def authentication(paths: Json, security: Json) -> str:
        skill = of_description(tmp_path, paths, components={"securitySchemes": schemes}, security=security)
        return skill[skill.index("- Authentication") :]

    start, name = 'curl "https://tasks.example/v1/PATH"', "SKILL_TASKS_EXAMPLE"
    header, user = f'-H "K: ${name}___API_KEY"', f'-u "${name}___USER:${name}___PASSWORD"'
    assert authentication(LIST, [{"key": []}]).startswith(
        f"- Authentication: `{start} {header}` (`key`). The user sets the variable; send it to no other host. "
    )
    either = authentication(LIST, [{"key": []}, {"basic": []}])
    assert either.startswith(
        "- Authentication: one of these. The user sets the variables; send them to no other host. "
    )
    assert f"\n  - `{start} {header}` (`key`).\n  - `{start} {user}` (`basic`).\n" in either
    both = authentication(LIST, [{"key": [], "basic": []}])
    assert both.startswith(f"- Authentication: `{start} {header} {user}` (`key` with `basic`). ")
    optional = authentication(LIST, [{"key": []}, {}])
    assert optional.startswith(f"- Authentication: optional. `{start} {header}` (`key`). ")
    other = {**LIST, "/other": {"get": operation("other", security=[{"basic": []}])}}
    assert authentication(other, [{"key": []}]).startswith("- Authentication: a tool's section says which of these ")


@pytest.mark.parametrize(
    ("flow", "steps"),
    [
        (
            {"authorizationCode": {"authorizationUrl": "https://a.example/in", "tokenUrl": "https://a.example/token"}},
            "let the user consent at `https://a.example/in`, then exchange the code at `https://a.example/token`",
        ),
        (
            {"clientCredentials": {"tokenUrl": "/token"}, "x-own": {"tokenUrl": "/other"}},
            "send client ID and secret to `https://tasks.example/token` (`grant_type=client_credentials`)",
        ),
        ({"implicit": {"authorizationUrl": "https://a.example/in"}}, "let the user consent at `https://a.example/in`"),
    ],
)
def test_a_token_is_got_in_steps(tmp_path: Path, flow: Json, steps: str) -> None:
    words = "Register an app at https://a.example/apps first. " + "It has a long story. " * 20
    schemes = {"login": {"type": "oauth2", "flows": flow, "description": words}}
    skill = of_description(tmp_path, LIST, components={"securitySchemes": schemes}, security=[{"login": ["read"]}])
    line = next(line for line in skill.splitlines() if line.startswith("- Authentication: "))
    assert '-H "Authorization: Bearer $SKILL_TASKS_EXAMPLE___TOKEN"` (`login`, OAuth 2.0). To get a token ' in line
    assert f"in the tool's section, {steps}. Register an app at https://a.example/apps first. " in line


RESULT: Json = {"schema": {"type": "object", "properties": {"access_token": {"type": "string"}}}}
TOKEN: Json = {"200": {"description": "Done", "content": {"application/json": RESULT}}}


def test_a_parameter_of_most_tools_is_the_login(tmp_path: Path) -> None:
    token: Json = {"name": "access_token", "required": True, "schema": {"type": "string"}}
    body: Json = {"type": "object", "properties": {"access_token": {"type": "string"}, "id": {"type": "string"}}}
    content = {"content": {"application/json": {"schema": {**body, "required": ["access_token"]}}}}
    paths = {
        "/a": {"get": operation("get_a", parameters=[{**token, "in": "query"}])},
        "/b": {"get": operation("get_b", parameters=[{**token, "in": "header"}])},
        "/c": {"post": operation("post_c", requestBody=content)},
        "/login": {"post": operation("createToken", responses=TOKEN)},
        "/logout": {"delete": operation("login_delete")},
    }
    skill = of_description(tmp_path, paths)
    variable = "$SKILL_TASKS_EXAMPLE___API_KEY"
    assert (
        f'- Authentication: `curl "https://tasks.example/v1/PATH?access_token={variable}"`. '
        f"The value of `{variable}` is sent in the header `access_token` where a tool takes it there. "
        f"The value of `{variable}` is sent as `access_token` in the body where a tool takes it there. "
        "To get it, call `createToken` first. The user sets the variable; send it to no other host. "
    ) in skill
    schemes = {"bearer": {"type": "http", "scheme": "bearer"}}
    skill = of_description(tmp_path, paths, components={"securitySchemes": schemes}, security=[{"bearer": []}])
    assert "A tool with the parameter `access_token` takes it there too." in skill
    texts = [path.read_text("utf-8") for path in tmp_path.rglob("*.md")]
    assert any("?access_token=$SKILL_TASKS_EXAMPLE___TOKEN" in text for text in texts)
    assert not any("ACCESS_TOKEN" in text.replace("SKILL_TASKS", "") for text in texts)


@pytest.mark.parametrize(("said", "is_login"), [("An application key", True), ("The name of the value", False)])
def test_the_key_of_a_single_tool_is_a_login_if_its_text_says_so(tmp_path: Path, said: str, is_login: bool) -> None:
    key: Json = {"name": "key", "in": "query", "required": True, "schema": {"type": "string"}, "description": said}
    skill = of_description(tmp_path, {"/a": {"get": operation("get_a", parameters=[key])}})
    assert ("/PATH?key=$SKILL_TASKS_EXAMPLE___API_KEY" in skill) == is_login


def test_a_tool_that_issues_a_token_is_named_if_no_login_is_declared(tmp_path: Path) -> None:
    login = {"/login": {"post": operation("login", responses=TOKEN) | {"summary": "Opens the door of the harbour"}}}
    skill = of_description(tmp_path, LIST | login)
    assert (
        "- Authentication: not declared; calls may still require it. `login`: Opens the door of the harbour\n" in skill
    )


def test_what_only_sends_is_not_claimed_to_need_authentication(tmp_path: Path) -> None:
    skill = of_description(tmp_path, {}, webhooks={"task_done": {"post": operation("done")}})
    assert "Authentication" not in skill


def test_headers_come_last_in_a_call_line(tmp_path: Path) -> None:
    """Issue 5, dense where it counts: signatures do not crowd out what a call is about."""
    headers = [{"name": f"X-Sign-{n}", "in": "header", "schema": {"type": "string"}} for n in range(8)]
    title = {"name": "title", "in": "query", "schema": {"type": "string"}}
    skill = of_description(tmp_path, {"/tasks": {"get": operation("find", parameters=[*headers, title])}})
    assert "`GET /tasks` (`title, X-Sign-0, " in skill


def test_errors_and_other_ways_are_two_lists(tmp_path: Path) -> None:
    """Issue 5, beauty: lists with nothing between them are one list to a renderer."""
    said = {"dashdash": {"cliEquivalent": "acme find {id}", "errors": [{"code": "NOT_FOUND", "description": "None"}]}}
    _, out = documented(tmp_path, tools=[tool("find", **said)])
    (page,) = out.glob("skills/*/references/tools.md")
    section = MarkdownDocument(page.read_text("utf-8")).section("find")
    assert section.item("", "Other ways").text == "As a command: acme find {id}"


def test_a_title_that_the_description_begins_with_is_written_once(tmp_path: Path) -> None:
    found = tool("browser_dialog", title="Handle a dialog", description="Handle a dialog of the page")
    _, out = documented(tmp_path, tools=[found])
    (page,) = out.glob("skills/*/references/tools.md")
    assert page.read_text("utf-8").count("Handle a dialog") == 1


def test_a_title_of_names_yields_to_the_description(tmp_path: Path) -> None:
    said = "Add several remarks to tasks or projects."
    titles = {"add-comments": "Todoist: Add Comments", "list-tasks": "List Tasks", "merge": "Todoist: Join tasks"}
    tools = [tool(name, title=title, description=said) for name, title in titles.items()]
    words = "You have access to management of tasks and remarks. Todoist keeps lists of work for teams."
    _, out = documented(
        tmp_path, server={"serverInfo": {"name": "todoist", "version": "1"}, "instructions": words}, tools=tools
    )
    (skill,) = out.glob("skills/*/SKILL.md")
    text = skill.read_text("utf-8")
    assert "description: Todoist keeps lists of work for teams." in text
    lines = re.findall(r": ([^:\n]*)$", (out / "llms.txt").read_text("utf-8"), re.MULTILINE)
    assert [line for line in lines if "remarks" in line or "Join" in line] == [said[:-1], said[:-1], "Join tasks"]


def test_llms_txt_leads_to_the_headings_of_a_small_service(tmp_path: Path) -> None:
    """X-22: also to one that equals the title of its group, or that of another section."""
    named = {
        f"/{name}": {"get": operation(name, tags=["Ships"], security=[{"authentication": []}])}
        for name in ("ships", "named-types", "authentication")
    }
    schemes = {"authentication": {"type": "http", "scheme": "bearer"}}
    data = description(named, webhooks={}, components={"securitySchemes": schemes})
    generated("from-openapi", write(tmp_path / "api.json", data), "-o", tmp_path / "out")
    assert not [*tmp_path.rglob("references")]
    assert broken_links(tmp_path / "out") == []
    assert "SKILL.md#ships)" in (tmp_path / "out/llms.txt").read_text("utf-8")
    (skill,) = tmp_path.rglob("SKILL.md")
    assert "[Authentication](#authentication-1)" in skill.read_text("utf-8")


@pytest.mark.parametrize(("count", "in_llms_txt"), [(20, 1), (30, 1), (600, 0)])
def test_llms_txt_lists_every_tool_or_group_once(tmp_path: Path, count: int, in_llms_txt: int) -> None:
    """S0-41: twenty in the quick reference, the others after it; many tools are on the pages that it links."""
    _, out = documented(tmp_path, tools=[tool(f"find_{n}") for n in range(count)])
    text = (out / "llms.txt").read_text("utf-8")
    assert [text.count(f"- [find_{n}(…)](") for n in range(count)] == [in_llms_txt] * count
    assert text.count("- [Tools](skills/listed/references/") == 1 - in_llms_txt
    quick = text.partition("## Quick Reference\n")[2].partition("\n## ")[0]
    assert quick.count("\n- [") == (20 if in_llms_txt else 1)
    pages = "\n".join(path.read_text("utf-8") for path in (out / "skills/listed/references").glob("tools*.md"))
    assert [len(re.findall(rf"^## find_{n}$", pages, re.MULTILINE)) for n in range(count)] == [1] * count


def test_a_mark_in_the_description_of_a_path_is_of_its_operations(tmp_path: Path) -> None:
    """S0-35."""
    path = {"description": "[DEPRECATED] Runs of a flow", "get": operation("list_runs", description="Lists the runs.")}
    assert "`GET /runs` [read] (deprecated)" in of_description(tmp_path, {"/runs": path})


def test_a_code_span_over_a_line_end_stays_one() -> None:
    """Issue 5, beauty."""
    text = "Send `GET /tasks\n  ?page=2` and `x`.\n\n- a `b\n- c` d"
    assert each("block", [text]) == ["Send `GET /tasks\n  ?page=2` and `x`.\n\n- a `b\n- c` d"]


def test_a_label_in_bold_is_followed_by_one_colon(tmp_path: Path) -> None:
    said = "Why it waits.\n\n**Idle:**\n- NONE - no task\n\n**Busy:**\n- FULL - no room\n- LATE - no time"
    parameter = {"name": "why", "in": "query", "description": said, "schema": {"type": "string"}}
    of_description(tmp_path, {"/tasks": {"get": operation("find", parameters=[parameter])}})
    (page,) = (tmp_path / "out").glob("skills/*/references/t*.md")
    assert "**Idle:** NONE - no task. **Busy:** FULL - no room; LATE - no time" in page.read_text("utf-8")


def test_an_operation_named_after_a_removal_is_marked_destructive(tmp_path: Path) -> None:
    """S2-09, issue 5: where POST is used for every call, `may change data` says too little."""
    paths = {f"/{name}": {"post": operation(name)} for name in ("DeleteRope", "purgeRopes", "GetRope", "undeleteRope")}
    skill = of_description(tmp_path, paths)
    named = "`POST /DeleteRope`, `POST /purgeRopes`"
    assert f"- Ask the user before you call a tool that has the mark [destructive]: {named}.\n" in skill
    assert "- `POST /GetRope` [read] — " in skill
    (page,) = (tmp_path / "out").glob("skills/*/references/t*.md")
    assert "`POST /purgeRopes` [destructive]\n" in page.read_text("utf-8")


def test_a_type_within_an_operation_is_called_after_it(tmp_path: Path) -> None:
    """Issue 5: `schema-2` and `0` say nothing."""
    hull = {"type": "object", "properties": {"length": {"type": "number"}}}
    answer = {"content": {"application/json": {"schema": {"type": "object", "properties": {"hull": hull}}}}}
    place = "#/paths/~1boats~1%7Bid%7D/get/responses/200/content/application~1json/schema"
    boat = operation("get_boat", responses={"200": {"description": "A boat", **answer}})
    answer = {"content": {"application/json": {"schema": {"type": "array", "items": {"$ref": place}}}}}
    fleet = operation("get_fleet", responses={"200": {"description": "All", **answer}})
    of_description(tmp_path, {"/boats/{id}": {"get": boat}, "/fleet": {"get": fleet}})
    pages = [path.read_text("utf-8") for path in (tmp_path / "out").glob("skills/*/references/*.md")]
    assert sum(page.count("## boats\n") for page in pages) == 1


def test_ai_help_says_once_what_the_description_begins_with(tmp_path: Path) -> None:
    """S0-32."""
    info = {**INFO, "summary": "Keeps the tasks of a team", "description": "Keeps the tasks of a team\nfor a year."}
    of_description(tmp_path, LIST, info=info)
    text = (tmp_path / "out" / "ai-help.md").read_text("utf-8")
    overview = text[text.index("## Overview") : text.index("## Setup")]
    assert overview.count("Keeps the tasks") == 1


# -- the description, by which a host chooses a skill -----------------------------------------------------------------


def described(tmp_path: Path, tools: list[Json], **server: Json) -> str:
    """Returns the description of the skill of a server."""
    _, out = documented(tmp_path, server=server, tools=tools)
    (skill,) = out.rglob("SKILL.md")
    found: str = MarkdownDocument(skill.read_text("utf-8")).fields()["description"]
    return found


def test_a_server_is_called_so_only_if_its_author_says_so(tmp_path: Path) -> None:
    _, out = documented(tmp_path, server={"serverInfo": {"name": "port-mcp-server"}}, tools=[tool("a")])
    assert (out / "skills/port/SKILL.md").is_file()
    _, out = documented(tmp_path, "--name", "port-mcp-server", tools=[tool("a")])
    assert (out / "skills/port-mcp-server/SKILL.md").is_file()


def test_a_changed_name_is_reported_and_additions_move(tmp_path: Path) -> None:
    _, out = documented(
        tmp_path, "--name", "port-mcp-server", server={"serverInfo": {"name": "port-mcp-server"}}, tools=[tool("a")]
    )
    old = out / "skills/port-mcp-server/SKILL.md"
    old.write_text(old.read_text("utf-8") + "\nAsk the harbour master.\n", "utf-8")
    finished, out = documented(tmp_path, server={"serverInfo": {"name": "port-mcp-server"}}, tools=[tool("a")])
    assert "warning: skill-renamed: " in finished.stderr
    assert "--name port-mcp-server" in finished.stderr
    assert not old.exists()
    assert (out / "skills/port/SKILL.md").read_text("utf-8").endswith("\nAsk the harbour master.\n")


@pytest.mark.parametrize(("version", "shown"), [("2.1", "2.1"), ("v1", "v1"), ("Wed Oct 15 2025", None)])
def test_a_version_is_a_number_and_an_api_keeps_its_licence(tmp_path: Path, version: str, shown: str | None) -> None:
    info = {"title": "Harbour", "version": version, "license": {"name": "MIT"}}
    generated("from-openapi", write(tmp_path / "api.json", description(LIST, info=info)), "-o", tmp_path / "out")
    fields = MarkdownDocument((tmp_path / "out/skills/harbour/SKILL.md").read_text("utf-8")).fields()
    assert fields.get("metadata", {}).get("version") == shown
    assert "license" not in fields


def test_a_summary_that_shows_nothing_leaves_no_gap() -> None:
    summary = '&nbsp; <i class="fa fa-lock"></i>'
    paths = {"/locks": {"get": operation("list_locks") | {"summary": summary}}}
    texts = skillgen.render_documents(skillgen.read(description(paths)), emit="skill,llms,ai-help")
    assert [path for path, text in texts.items() if "\n\n\n" in text] == []
