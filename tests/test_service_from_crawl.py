"""What a server said becomes one model: where each fact is found, who counts more, and what is left out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest
from captured import Json, service_of_answers
from descriptions import follow
from msgspec.structs import replace

from skillgen import Origin, Problem, Service, Tool, Value, read, render_documents, snapshot

DASHDASH: dict[str, Json] = {
    "specVersion": "0.2.0",
    "identity": {"name": "acme-mcp", "description": "Manages projects. Use when user asks to manage projects."},
    "accessLevel": "interact",
    "alternativeAccess": {"cliUrl": "https://acme.com/cli", "apiUrl": None, "webUrl": "https://acme.com/app"},
}

HELP = """---
# Server Identity
name: acme-mcp
description: >
  Manages projects.
  Use when user asks to manage projects.
access-level: interact
cli-url: https://acme.com/cli
api-url: none
web-url: https://acme.com/app
requires:
  auth:
    - api-key
invocation:
  model-invocable: true
---

# Acme MCP Server

> Projects and tasks

## When to Use

Use this MCP server when the user asks to:
- Manage projects
- Track, create, or update tasks.

Do NOT use this MCP server for:
- File storage (use another)

## Quick Reference

**Project Tools:**
- `create` — Create a new project

## Tool Reference

### create

Creates a project.

**CLI Equivalent:** `acme create --name x`

## Best Practices

Cache IDs.
"""


def service_of(
    opening: Mapping[str, Json] | None = None,
    *,
    tools: Json = (),
    ai_help: Json = None,
    url: str | None = None,
    server_name: str | None = None,
    results: Mapping[str, Json] | None = None,
) -> Service:
    answers: dict[str, Json] = {
        "initialize": {"serverInfo": {"name": "acme-mcp"}, **(opening or {})},
        "tools/list": [{"tools": list(tools) if isinstance(tools, tuple) else tools}],
        **({"ai_help": ai_help} if ai_help is not None else {}),
        **(results or {}),
    }
    service = service_of_answers(answers, url=url, server_name=server_name)
    again = read(snapshot(service))
    assert again == replace(service, source=again.source)  # without the folder of the program
    return service


def as_json(service: Service) -> dict[str, Json]:
    """Returns the service as a snapshot holds it."""
    (data,) = snapshot(service)["services"]
    return dict(data)


def test_rate_limits_are_documented_without_the_remaining_calls() -> None:
    """S4-05, S4-07, X-51: wherever a server puts them; the model keeps the rest among its extras."""

    def limits(left: int) -> dict[str, Json]:
        moment = {"remaining": left, "resets_at": f"2026-01-0{left}T00:00:00Z"}
        return {"rateLimits": {"requests_per_minute": 60, **moment}, "quota": {"limit": 100, **moment}}

    def crawled(left: int) -> Service:
        tool = {"name": "create", "inputSchema": {"type": "object"}, "_meta": {"dashdash": limits(left)}}
        return service_of({"dashdash": {**described("acme-mcp"), **limits(left)}}, tools=(tool,))

    service, later = crawled(1), crawled(2)
    documents = [render_documents(item) for item in (service, later)]
    assert documents[0] == documents[1]
    for extras in (service.extras, service.tools[0].extras):
        assert "'remaining': 1" in str(extras)
    assert service.rate_limit is not None
    assert service.rate_limit.requests_per_minute == 60
    assert service.tools[0].rate_limit == service.rate_limit


def tool_of(entry: Mapping[str, Json], ai_help: Json = None) -> Tool:
    (tool,) = service_of(tools=({"name": "create", "inputSchema": {"type": "object"}, **entry},), ai_help=ai_help).tools
    return tool


NOTHING: Json = {"type": "object", "properties": {}}


def codes(service: Service) -> list[str]:
    return [problem.code for problem in service.problems]


def the_problem(service: Service) -> Problem:
    (problem,) = service.problems
    return problem


def markdown(content: str) -> dict[str, Json]:
    return {"content": content, "contentType": "text/markdown"}


def described(name: str) -> dict[str, Json]:
    return {**DASHDASH, "identity": {"name": name, "description": "Found."}}


class TestWhereDashdashStands:
    @pytest.mark.parametrize(
        ("opening", "pointer"),
        [
            ({"dashdash": described("x")}, "/initialize/dashdash"),
            ({"_meta": {"com.acme/dashdash": described("x")}}, "/initialize/_meta/com.acme~1dashdash"),
            ({"_meta": {"dashdash": described("x")}}, "/initialize/_meta/dashdash"),
            (
                {"capabilities": {"extensions": {"com.acme/dashdash": described("x")}}},
                "/initialize/capabilities/extensions/com.acme~1dashdash",
            ),
            (
                {"capabilities": {"experimental": {"dashdash": described("x")}}},
                "/initialize/capabilities/experimental/dashdash",
            ),
            ({"capabilities": {"dashdash": described("x")}}, "/initialize/capabilities/dashdash"),
            ({"serverInfo": {"dashdash": described("x")}}, "/initialize/serverInfo/dashdash"),
        ],
    )
    def test_it_is_found_in_each_place_of_the_result(self, opening: dict[str, Json], pointer: str) -> None:
        """S0-01, S0-02: the pointer of the place is the origin of what is there."""
        service = service_of(opening)
        assert service.name == "x"
        assert (service.origins or {})["name"] == Origin("declared", f"{pointer}/identity/name")
        assert "dashdash" not in str(service.extras)

    def test_the_first_place_wins(self) -> None:
        """S0-02: the order of reading is fixed."""
        service = service_of(
            {
                "serverInfo": {"dashdash": described("last")},
                "capabilities": {"experimental": {"dashdash": described("third")}},
                "_meta": {"com.acme/dashdash": described("first")},
            }
        )
        assert service.name == "first"

    def test_a_place_that_holds_no_object_is_passed_over(self) -> None:
        service = service_of({"dashdash": "yes", "_meta": {"dashdash": DASHDASH}})
        assert service.summary == DASHDASH["identity"]["description"]
        assert the_problem(service).where == "/initialize/dashdash"

    def test_the_result_of_discovery_is_read_alike(self) -> None:
        """S0-02, S1-01: since 2026-07-28 the server says who it is in `_meta`."""
        discovered = {
            "supportedVersions": ["2026-07-28"],
            "instructions": "Ask first.",
            "_meta": {
                "io.modelcontextprotocol/serverInfo": {"name": "modern", "version": "2", "dashdash": described("x")}
            },
        }
        service = service_of_answers({"server/discover": discovered}, protocol_version="2026-07-28")
        assert (service.name, service.version, service.instructions) == ("x", "2", "Ask first.")
        assert (service.extras or {})["supportedVersions"] == ["2026-07-28"]

    def test_both_eras_of_a_server_are_read_as_one(self) -> None:
        """X-07: what only the older opening says is not lost."""
        answers: dict[str, Json] = {
            "server/discover": {"_meta": {"io.modelcontextprotocol/serverInfo": {"name": "modern"}}},
            "initialize": {"serverInfo": {"name": "old"}, "dashdash": described("x")},
        }
        assert service_of_answers(answers, protocol_version="2026-07-28").name == "x"

    @pytest.mark.parametrize(
        "entry",
        [
            {"dashdash": {"category": "projects"}},
            {"_meta": {"com.acme/dashdash": {"category": "projects"}}},
            {"annotations": {"dashdash": {"category": "projects"}}},
        ],
    )
    def test_it_is_found_in_each_place_of_a_tool(self, entry: dict[str, Json]) -> None:
        """S0-03: the raw entry is read, so that nothing is lost to typed models."""
        tool = tool_of(entry)
        assert tool.group == "projects"
        assert tool.extras is None

    def test_it_is_found_on_a_resource(self) -> None:
        """S0-14: and its fields are read."""
        own = {
            "resourceType": "project",
            "refreshable": True,
            "cacheDuration": 300,
            "webEquivalent": "https://acme.com/1",
            "apiEquivalent": "GET /1",
            "colour": "red",
        }
        entry = {"uri": "acme://1", "name": "One", "_meta": {"dashdash": own}}
        (resource,) = service_of(results={"resources/list": [{"resources": [entry]}]}).resources
        assert (resource.resource_type, resource.refreshable, resource.cache_duration_s) == ("project", True, 300)
        assert (resource.web_equivalent, resource.api_equivalent) == ("https://acme.com/1", "GET /1")
        assert resource.extras == {"dashdash": {"colour": "red"}}


class TestWhatDashdashLacks:
    def test_a_complete_object_is_not_reported(self) -> None:
        assert service_of({"dashdash": DASHDASH, "serverInfo": {}}).problems == ()

    @pytest.mark.parametrize(
        ("path", "code"),
        [
            (("specVersion",), "dashdash-spec-version-missing"),
            (("identity", "name"), "dashdash-identity-name-missing"),
            (("identity", "description"), "dashdash-identity-description-missing"),
            (("accessLevel",), "dashdash-access-level-missing"),
            (("alternativeAccess", "cliUrl"), "dashdash-cli-url-missing"),
            (("alternativeAccess", "apiUrl"), "dashdash-api-url-missing"),
            (("alternativeAccess", "webUrl"), "dashdash-web-url-missing"),
        ],
    )
    def test_each_required_field_has_a_problem_of_its_own(self, path: tuple[str, ...], code: str) -> None:
        """S0-06: a name for what is missing, not a crash."""
        owner = DASHDASH if len(path) == 1 else DASHDASH[path[0]]
        smaller = {key: value for key, value in owner.items() if key != path[-1]}
        problem = the_problem(service_of({"dashdash": smaller if len(path) == 1 else {**DASHDASH, path[0]: smaller}}))
        assert (problem.code, problem.level) == (code, "warning")
        assert ".".join(path) in problem.message

    def test_an_empty_object_lacks_them_all(self) -> None:
        assert len(service_of({"dashdash": {}}).problems) == 7

    @pytest.mark.parametrize(
        ("version", "expected"),
        [
            ("0.2.0", []),
            ("1.0.0-draft", []),
            ("0.1.9", ["dashdash-spec-version-old"]),
            ("two", ["dashdash-spec-version-invalid"]),
            (2, ["member-invalid"]),
        ],
    )
    def test_the_version_must_be_0_2_0_or_later(self, version: Json, expected: list[str]) -> None:
        """S0-06: `specVersion`."""
        assert codes(service_of({"dashdash": {**DASHDASH, "specVersion": version}})) == expected

    def test_a_description_without_when_to_use_is_reported(self) -> None:
        """S0-08: a trigger phrase."""
        codes = {}
        for text in ("Keeps tasks.", "Keeps tasks. Use when a task comes up.", "Keeps tasks. Use it for tasks."):
            dashdash = {"specVersion": "0.2.0", "identity": {"name": "a", "description": text}}
            opening = {"initialize": {"dashdash": dashdash, "serverInfo": {"name": "a"}}}
            service = service_of_answers(opening, protocol_version="2024-11-05")
            codes[text] = "dashdash-description-without-trigger" in [problem.code for problem in service.problems]
        assert list(codes.values()) == [True, False, False]

    @pytest.mark.parametrize("name", ["Acme MCP", "acme_mcp", "a" * 65])
    def test_a_name_of_the_wrong_form_is_kept_and_reported(self, name: str) -> None:
        """S0-07: the form of `identity.name`."""
        service = service_of({"dashdash": described(name), "serverInfo": {}})
        assert service.name == name
        assert "dashdash-identity-name-invalid" in codes(service)

    def test_an_access_level_that_is_not_one_is_left_out(self) -> None:
        """S0-09: reported, and then as if nobody had declared one."""
        service = service_of({"dashdash": {**DASHDASH, "accessLevel": "root"}})
        assert codes(service) == ["member-invalid"]
        assert (service.origins or {})["access_level"].kind == "inferred"

    def test_unknown_fields_are_kept_and_not_reported(self) -> None:
        """S0-04: at every depth."""
        identity = {**DASHDASH["identity"], "colour": "red"}
        service = service_of({"dashdash": {**DASHDASH, "identity": identity, "new": [1]}})
        assert service.problems == ()
        assert (service.extras or {})["dashdash"] == {"new": [1], "identity": {"colour": "red"}}

    def test_a_server_without_any_of_it_is_read(self) -> None:
        """S0-05: nothing is missed."""
        service = service_of(
            {"serverInfo": {"name": "plain", "version": "1"}}, tools=({"name": "a", "inputSchema": NOTHING},)
        )
        assert (service.name, service.version, service.problems) == ("plain", "1", ())


class TestWhatTheServiceIs:
    def test_every_field_of_dashdash_is_read(self) -> None:
        """S0-11: install, requires, invocation and the rest."""
        service = service_of(
            {
                "dashdash": {
                    **DASHDASH,
                    "identity": {**DASHDASH["identity"], "emoji": "📊"},
                    "install": {"npm": "@acme/mcp", "brew": "acme/tap/mcp"},
                    "requires": {
                        "auth": ["api-key", "oauth2"],
                        "env": ["KEY"],
                        "scopes": ["read:x"],
                        "bins": ["git"],
                        "os": ["linux"],
                    },
                    "invocation": {"modelInvocable": False, "userInvocable": True, "allowedTools": ["mcp"]},
                    "rateLimit": "1000/hour",
                    "homepage": "https://acme.com",
                    "repository": "https://github.com/acme/mcp",
                    "statusPage": "https://status.acme.com",
                    "contentVersion": "3",
                    "lastUpdated": "2026-01-21",
                    "categories": ["productivity"],
                }
            },
        )
        assert service.problems == ()
        assert as_json(service)["requirements"] == {
            "auth": [
                {"kind": "api-key", "pointer": "/initialize/dashdash/requires/auth/0"},
                {"kind": "oauth2", "pointer": "/initialize/dashdash/requires/auth/1"},
            ],
            "env": ["KEY"],
            "scopes": ["read:x"],
            "bins": ["git"],
            "os": ["linux"],
        }
        assert as_json(service)["invocation"] == {
            "model_invocable": False,
            "user_invocable": True,
            "allowed_tools": ["mcp"],
        }
        assert service.install == {"npm": "@acme/mcp", "brew": "acme/tap/mcp"}
        assert service.rate_limit is not None
        assert service.rate_limit.text == "1000/hour"
        assert (service.emoji, service.homepage, service.repository) == (
            "📊",
            "https://acme.com",
            "https://github.com/acme/mcp",
        )
        assert (service.status_page, service.content_version, service.last_updated, service.categories) == (
            "https://status.acme.com",
            "3",
            "2026-01-21",
            ("productivity",),
        )

    def test_a_url_that_is_null_is_not_one_that_is_absent(self) -> None:
        """S0-10: a URL, known absent, and unknown are three things."""
        ways = {"cliUrl": "https://a.com", "apiUrl": None}
        access = service_of({"dashdash": {**DASHDASH, "alternativeAccess": ways}}).access
        assert (access.cli, access.api, access.web) == (Value("https://a.com"), Value(None), None)
        assert (access.origins or {})["api"] == Origin("declared", "/initialize/dashdash/alternativeAccess/apiUrl")

    @pytest.mark.parametrize(
        ("url", "own", "address", "source"),
        [
            (
                "https://mcp.acme.com",
                {"repository": "https://r", "homepage": "https://h"},
                "https://mcp.acme.com",
                "url",
            ),
            (None, {"repository": "https://r", "homepage": "https://h"}, "https://r", "repository"),
            (None, {"homepage": "https://h"}, "https://h", "homepage"),
        ],
    )
    def test_the_address_of_the_server_is_the_best_that_is_known(
        self, url: str | None, own: dict[str, Json], address: str, source: str
    ) -> None:
        """Design, "Where facts disagree": `--url`, else repository, else homepage."""
        service = service_of({"dashdash": {**DASHDASH, **own}}, url=url)
        assert service.access.mcp == Value(address)
        assert (service.access.origins or {})["mcp"] == Origin("inferred", source)
        assert [endpoint.url for endpoint in service.endpoints] == ([url] if url else [])

    def test_an_unknown_address_is_left_out(self) -> None:
        assert service_of().access.mcp is None

    def test_a_nameless_server_gets_the_next_best_name(self) -> None:
        service = service_of({"serverInfo": {}}, url="https://mcp.acme.com/mcp")
        assert service.name == "mcp.acme.com"
        assert (service.origins or {})["name"].kind == "inferred"
        assert codes(service) == ["name-missing"]
        assert service_of({"serverInfo": {}}, url="https://mcp.acme.com/mcp", server_name="acme").name == "acme"
        assert service_of({"serverInfo": None}).name == "mcp-server"

    def test_the_purpose_is_the_declared_description_else_the_instructions(self) -> None:
        declared = service_of({"serverInfo": {"name": "x", "description": "Does\nthings."}, "instructions": "No."})
        assert declared.summary == "Does things."
        drawn = service_of({"instructions": "Manages boards and cards. Call list_boards first."})
        assert (drawn.summary, drawn.purpose) == (None, "Manages boards and cards.")
        assert (drawn.origins or {})["purpose"] == Origin("declared", "/initialize/instructions")
        for order in ("Call list_boards first.", "Please read the guide.", "Make sure that a board is open."):
            assert service_of({"instructions": order}).purpose == service_of().purpose

    def test_a_long_description_is_kept_complete_next_to_its_first_paragraph(self) -> None:
        service = service_of({"serverInfo": {"name": "x", "description": "One\nline.\n\nMore."}})
        assert (service.summary, service.description) == ("One line.", "One\nline.\n\nMore.")

    def test_extensions_are_read_from_a_map_and_from_a_list(self) -> None:
        """S4-04: the reference server of seed 004 has names."""
        assert service_of({"capabilities": {"extensions": {"a/b": {"c": 1}}}}).extensions == {"a/b": {"c": 1}}
        service = service_of({"capabilities": {"extensions": ["streaming"], "tools": {"listChanged": True}}})
        assert service.extensions == {"streaming": {}}
        assert service.extras == {"capabilities": {"tools": {"listChanged": True}}}


class TestWhoCountsMore:
    def test_dashdash_counts_more_than_help_and_help_more_than_server_info(self) -> None:
        """S0-19: each disagreement is one problem of level info that names both places."""
        service = service_of(
            {
                "dashdash": {**DASHDASH, "homepage": "https://one"},
                "serverInfo": {"name": "acme-mcp", "websiteUrl": "https://three"},
            },
            ai_help=markdown("---\nhomepage: https://two\nrepository: https://r\n---\n"),
        )
        assert (service.homepage, service.repository) == ("https://one", "https://r")
        assert [(problem.code, problem.level, problem.where) for problem in service.problems] == [
            ("facts-disagree", "info", "/ai_help/content"),
            ("facts-disagree", "info", "/initialize/serverInfo/websiteUrl"),
        ]
        assert "/initialize/dashdash/homepage" in service.problems[0].message

    def test_a_declared_null_wins_like_any_other_value(self) -> None:
        """S0-10, S0-19: the server knows that there is no such thing."""
        service = service_of({"dashdash": DASHDASH}, ai_help=markdown("---\napi-url: https://api.acme.com\n---\n"))
        assert service.access.api == Value(None)
        assert codes(service) == ["facts-disagree"]

    def test_an_absent_field_leaves_the_word_to_the_next(self) -> None:
        smaller = {key: value for key, value in DASHDASH.items() if key != "alternativeAccess"}
        service = service_of({"dashdash": smaller}, ai_help=markdown("---\napi-url: none\nweb-url: https://w\n---\n"))
        assert (service.access.api, service.access.web, service.access.cli) == (Value(None), Value("https://w"), None)
        assert "facts-disagree" not in codes(service)

    def test_what_says_the_same_in_other_lines_or_another_order_agrees(self) -> None:
        service = service_of(
            {"dashdash": {**DASHDASH, "requires": {"env": ["A", "B"]}}, "serverInfo": {}},
            ai_help=markdown(
                f"---\ndescription: |\n  {DASHDASH['identity']['description']}\nrequires:\n  env: [B, A]\n---\n"
            ),
        )
        assert service.problems == ()
        assert service.requirements.env == ("A", "B")

    def test_a_tools_title_counts_more_than_that_of_its_annotations(self) -> None:
        """X-08: `title`, then `annotations.title`."""
        assert tool_of({"title": "One", "annotations": {"title": "Two"}}).title == "One"
        assert tool_of({"title": None, "annotations": {"title": "Two"}}).title == "Two"

    def test_both_places_of_a_disagreement_are_named(self) -> None:
        """S0-19: and both places are named."""
        service = service_of(
            {"dashdash": {**DASHDASH, "homepage": "https://one"}}, ai_help=markdown("---\nhomepage: https://two\n---\n")
        )
        assert service.homepage == "https://one"
        assert the_problem(service).where == "/ai_help/content"
        assert "/initialize/dashdash/homepage" in the_problem(service).message

    def test_the_cautious_of_two_facts_on_safety_counts_from_any_place(self) -> None:
        """S0-19: with a warning that names both places."""
        entry = {"dashdash": {"idempotent": True}, "annotations": {"idempotentHint": False}}
        service = service_of(tools=({"name": "create", "inputSchema": NOTHING, **entry},))
        assert service.tools[0].semantics.idempotent is False
        assert the_problem(service).level == "warning"
        assert the_problem(service).where == "/tools~1list/0/tools/0/dashdash/idempotent"
        assert "/tools~1list/0/tools/0/annotations/idempotentHint" in the_problem(service).message


class TestWhatAToolDoes:
    def test_every_field_of_dashdash_is_read(self) -> None:
        """S0-12: as the seed's own example has them."""
        service = service_of(
            tools=(
                {
                    "name": "create",
                    "inputSchema": NOTHING,
                    "description": "Creates a project. It is empty.",
                    "dashdash": {
                        "category": "project-admin",
                        "operationType": "write",
                        "idempotent": False,
                        "idempotentWithKey": True,
                        "sideEffects": ["sends webhook"],
                        "reversible": True,
                        "reverseMethod": "delete",
                        "cliEquivalent": "acme create {name}",
                        "apiEquivalent": "POST /projects",
                        "rateLimit": "100/hour",
                        "examples": [{"description": "One", "input": {"name": "x"}, "output": None}, {"input": 3}],
                        "errors": [{"code": "TAKEN", "resolution": "Choose another"}, {"code": 409}, {}],
                        "colour": "red",
                    },
                },
                {"name": "delete", "inputSchema": NOTHING},
            )
        )
        tool = service.tools[0]
        assert (tool.summary, tool.description) == ("Creates a project.", "Creates a project. It is empty.")
        assert (tool.origins or {})["summary"] == Origin("inferred", "description")
        data = as_json(service)["tools"][0]
        assert data["semantics"]["side_effects"] == ["sends webhook"]
        assert (tool.semantics.operation, tool.semantics.idempotent, tool.semantics.idempotent_with_key) == (
            "write",
            False,
            True,
        )
        assert (tool.semantics.reversible, tool.semantics.reversed_by) == (True, "delete")
        assert (tool.cli_equivalent, tool.api_equivalent) == ("acme create {name}", "POST /projects")
        assert data["rate_limit"] == {"text": "100/hour"}
        assert data["examples"] == [{"input": {"name": "x"}, "description": "One", "output": None}]
        assert [error.code for error in tool.errors] == ["TAKEN", "409"]
        assert tool.extras == {"dashdash": {"colour": "red"}}

    def test_a_category_becomes_a_group_with_a_heading(self) -> None:
        service = service_of(
            tools=(
                {"name": "a", "dashdash": {"category": "project-admin"}},
                {"name": "b", "dashdash": {"category": "Tasks"}},
                {"name": "c"},
            )
        )
        assert [(group.name, group.title) for group in service.groups] == [
            ("project-admin", "Project admin"),
            ("Tasks", "Tasks"),
            ("other", "Other"),
        ]
        assert [tool.group for tool in service.tools] == ["project-admin", "Tasks", "other"]

    def test_only_declared_hints_are_facts(self) -> None:
        """X-08: the defaults of the annotations are not stored; an absent hint is not known."""
        semantics = tool_of({"name": "x", "annotations": {"destructiveHint": False, "openWorldHint": True}}).semantics
        assert (semantics.destructive, semantics.open_world) == (False, True)
        assert (semantics.read_only, semantics.idempotent, semantics.operation) == (None, None, None)
        assert (semantics.origins or {})["destructive"].kind == "declared"
        assert tool_of({"name": "x"}).semantics.origins is None

    def test_what_only_reads_is_a_read_operation(self) -> None:
        semantics = tool_of({"name": "x", "annotations": {"readOnlyHint": True}}).semantics
        assert semantics.operation == "read"
        assert (semantics.origins or {})["operation"] == Origin("inferred", "readOnlyHint")

    @pytest.mark.parametrize(
        ("operation", "read_only", "destructive"),
        [("read", True, None), ("write", False, None), ("delete", False, True), ("admin", False, None)],
    )
    def test_an_operation_implies_what_its_word_means(
        self, operation: str, read_only: bool | None, destructive: bool | None
    ) -> None:
        semantics = tool_of({"name": "x", "dashdash": {"operationType": operation}}).semantics
        assert (semantics.read_only, semantics.destructive) == (read_only, destructive)
        origins = semantics.origins or {}
        assert all(origins[field] == Origin("inferred", "operationType") for field in origins if field != "operation")

    def test_a_hint_that_agrees_with_an_inference_is_the_origin(self) -> None:
        entry = {"name": "x", "dashdash": {"operationType": "read"}, "annotations": {"readOnlyHint": True}}
        assert (tool_of(entry).semantics.origins or {})["read_only"].kind == "declared"

    @pytest.mark.parametrize(
        "entry",
        [
            {"risk_level": "destructive", "requires_confirmation": True, "confirmation_message": "Sure?"},
            {"riskLevel": "destructive", "requiresConfirmation": True, "confirmationMessage": "Sure?"},
            {
                "_meta": {
                    "risk_level": "destructive",
                    "requiresConfirmation": True,
                    "confirmation_message": "Sure?",
                }
            },
            {
                "annotations": {"riskLevel": "destructive", "requires_confirmation": True},
                "confirmationMessage": "Sure?",
            },
        ],
    )
    def test_confirmation_and_risk_are_read_wherever_they_stand(self, entry: dict[str, Json]) -> None:
        """S4-03, S4-10, S4-11: a destructive risk is a destructive tool, by inference."""
        tool = tool_of(entry)
        semantics = tool.semantics
        assert (semantics.requires_confirmation, semantics.confirmation_message) == (True, "Sure?")
        assert (semantics.risk, semantics.destructive, semantics.read_only) == ("destructive", True, False)
        assert (semantics.origins or {})["destructive"].kind == "inferred"
        assert tool.extras is None

    def test_a_safe_tool_may_still_write(self) -> None:
        """S4-11: `safe` implies nothing."""
        semantics = tool_of({"name": "x", "risk_level": "safe"}).semantics
        assert (semantics.risk, semantics.read_only, semantics.destructive) == ("safe", None, None)

    def test_a_risk_that_contradicts_a_hint_is_reported(self) -> None:
        """S4-11: the field of seed 004 counts more."""
        entry = {
            "name": "a",
            "inputSchema": NOTHING,
            "risk_level": "destructive",
            "annotations": {"destructiveHint": False},
        }
        service = service_of(tools=(entry,))
        assert service.tools[0].semantics.destructive is True
        assert codes(service) == ["safety-facts-disagree"]

    def test_the_other_fields_of_seed_004_are_read(self) -> None:
        """S4-03: in both spellings, with the schemas."""
        tool = tool_of(
            {
                "inputSchema": None,
                "input_schema": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
                "output_schema": {"type": "object", "properties": {"b": {"type": "integer"}}},
                "cost": {"category": "metered", "estimatedUnits": 5, "unit_label": "calls"},
                "latency": "minutes",
                "required_scopes": ["write:x"],
                "inputTypes": ["image/png"],
                "output_types": ["application/json"],
                "supports_streaming": False,
                "supportsPagination": True,
                "execution": {"taskSupport": "optional"},
            }
        )
        assert [(item.name, item.required, item.location) for item in tool.parameters] == [("a", True, "argument")]
        assert tool.output is not None
        assert tool.output.schema is not None
        assert [item.name for item in tool.output.schema.properties] == ["b"]
        assert tool.cost is not None
        assert (tool.cost.category, tool.cost.estimated_units, tool.cost.unit_label) == ("metered", 5, "calls")
        assert (tool.latency, tool.scopes, tool.streaming) == ("minutes", ("write:x",), False)
        assert tool.pagination is not None
        assert tool.pagination.method is None
        assert (tool.input_media_types, tool.output_media_types) == (("image/png",), ("application/json",))
        assert tool.extras == {"execution": {"taskSupport": "optional"}}

    def test_named_types_are_held_once_for_the_service(self) -> None:
        schema = {
            "type": "object",
            "properties": {"at": {"$ref": "#/$defs/Point"}},
            "$defs": {"Point": {"type": "object", "properties": {"x": {"type": "number"}}}},
        }
        service = service_of(tools=({"name": "a", "inputSchema": schema}, {"name": "b", "inputSchema": schema}))
        assert [named.name for named in service.schemas] == ["Point"]
        assert [tool.parameters[0].schema.ref for tool in service.tools] == ["Point", "Point"]

    def test_a_schema_that_occurs_twice_is_one_type_in_both_places(self) -> None:
        """Generators write the second occurrence as a `$ref` to the first, or to another such `$ref`."""
        box = {"type": "object", "properties": {"wide": {"type": "integer"}}, "description": "A box."}
        schema = {
            "properties": {
                "header": box,
                "body": {"$ref": "#/properties/header"},
                "footer": {"$ref": "#/properties/body"},
                "inner": {"type": "array", "items": {"$ref": "#/properties/inner"}},
                "size": {"type": "string", "enum": ["s", "l"]},
            }
        }
        (tool,) = (service := service_of(tools=({"name": "a", "inputSchema": schema},))).tools
        refs = {item.name: item.schema.ref for item in tool.parameters}
        assert refs == {"header": "header", "body": "header", "footer": "header", "inner": "inner", "size": None}
        assert tool.parameters[0].description == "A box."
        types = {named.name: named.schema for named in service.schemas}
        assert [item.name for item in types["header"].properties] == ["wide"]
        assert types["inner"].items is not None
        assert types["inner"].items.ref == "inner"

    def test_references_below_an_id_are_relative_to_it(self) -> None:
        """JSON Schema 2020-12, 8.2: the same `#/$defs/Point` is one type at the root, and another below the `$id`."""
        point = {"$ref": "#/$defs/Point"}
        schema = {
            "type": "object",
            "properties": {
                "at": point,
                "box": {
                    "$id": "https://schemas.example/box",
                    "type": "object",
                    "properties": {"corner": point, "outer": {"$ref": "https://schemas.example/box"}},
                    "$defs": {"Point": {"type": "string", "enum": ["top", "bottom"]}},
                },
            },
            "required": ["box"],
            "$defs": {"Point": {"type": "integer"}},
        }
        (tool,) = (service := service_of(tools=({"name": "a", "inputSchema": schema},))).tools
        types = {named.name: named.schema for named in service.schemas}
        at, box = (parameter.schema for parameter in tool.parameters)
        corner, outer = (item.schema for item in types[box.ref or ""].properties)
        assert types[at.ref or ""].types == ("integer",)
        assert types[corner.ref or ""].choices == ("top", "bottom")
        assert outer.ref == box.ref
        assert not [problem for problem in service.problems if problem.code.startswith("reference")]

    def test_every_pointer_leads_to_what_it_names(self) -> None:
        entry = {"name": "a", "inputSchema": {"properties": {"x/y": {"type": "string"}}}}
        (tool,) = service_of(tools=(entry,)).tools
        results = {"tools/list": [{"tools": [entry]}]}
        assert follow(results, tool.pointer) is entry
        assert follow(results, tool.parameters[0].pointer) == {"type": "string"}

    def test_the_size_is_that_of_the_raw_entries(self) -> None:
        entry: Json = {"name": "ä", "inputSchema": {}}
        assert service_of(tools=(entry, 7)).source_size_bytes == len('[{"name":"ä","inputSchema":{}},7]'.encode())
        assert service_of().source_size_bytes == 0


class TestBrokenEntries:
    def test_a_broken_entry_does_not_cost_the_rest(self) -> None:
        service = service_of(tools=({"name": "a"}, 7, {"description": "x"}, {"name": 3}, {"name": "a"}, {"name": "b"}))
        assert [tool.name for tool in service.tools] == ["a", "b"]
        warnings = [(problem.code, problem.where) for problem in service.problems if problem.level == "warning"]
        assert warnings == [
            ("entry-invalid", "/tools~1list/0/tools/1"),
            ("name-missing", "/tools~1list/0/tools/2"),
            ("name-missing", "/tools~1list/0/tools/3"),
            ("name-duplicate", "/tools~1list/0/tools/4"),
        ]

    def test_a_tool_without_an_input_schema_is_kept(self) -> None:
        """Seed 003 allows it."""
        service = service_of(tools=({"name": "a"},))
        assert service.tools[0].parameters == ()
        assert (the_problem(service).code, the_problem(service).level) == ("input-schema-missing", "info")

    @pytest.mark.parametrize("schema", [True, [], "object", 7])
    def test_an_input_schema_that_is_no_object_is_left_out(self, schema: Json) -> None:
        service = service_of(tools=({"name": "a", "inputSchema": schema},))
        assert service.tools[0].input_schema is None
        assert codes(service) == ["input-schema-invalid"]

    @pytest.mark.parametrize("page", [None, [], {"tools": "none"}, {}])
    def test_a_page_that_holds_no_list_is_reported(self, page: Json) -> None:
        service = service_of(results={"tools/list": [page, {"tools": [{"name": "a", "inputSchema": NOTHING}]}]})
        assert [tool.name for tool in service.tools] == ["a"]
        assert codes(service) == ["page-invalid"]

    @pytest.mark.parametrize("wrong", [7, "x", [], {}, True, None, [[]], {"a": {}}])
    def test_no_value_in_a_wrong_place_breaks_the_reading(self, wrong: Json) -> None:
        """Whatever is where something else belongs, the tool is still there."""
        keys = (
            "title", "description", "annotations", "_meta", "dashdash", "icons", "outputSchema", "cost", "latency",
            "required_scopes", "input_types", "risk_level", "execution",
        )  # fmt: skip
        own = ("category", "operationType", "sideEffects", "examples", "errors", "rateLimit", "reverseMethod")
        parts = ("identity", "alternativeAccess", "install", "requires", "invocation", "rateLimit", "homepage")
        service = service_of(
            {
                "capabilities": wrong,
                "instructions": wrong,
                "_meta": wrong,
                "serverInfo": {"name": "x", "title": wrong, "version": wrong, "icons": wrong, "websiteUrl": wrong},
                "dashdash": dict.fromkeys(parts, wrong),
            },
            tools=(
                {"name": "a", **dict.fromkeys(keys, wrong)},
                {"name": "b", "dashdash": dict.fromkeys(own, wrong)},
            ),
            ai_help=wrong,
            results={
                "resources/list": [{"resources": [{"uri": "a:b", "size": wrong, "annotations": wrong, "name": wrong}]}],
                "prompts/list": [{"prompts": [{"name": "p", "arguments": wrong, "title": wrong}]}],
            },
        )
        assert [tool.name for tool in service.tools] == ["a", "b"]
        assert len(service.resources) == len(service.prompts) == 1

    def test_the_problems_of_the_crawl_come_first(self) -> None:
        problem = Problem(code="list-failed", level="warning", where="prompts/list", message="no answer")
        assert service_of_answers({}, protocol_version=None, problems=[problem]).problems[0] == problem


class TestResourcesAndPrompts:
    def test_a_resource_is_read_whole(self) -> None:
        """X-08: size, audience, priority, lastModified."""
        entry = {
            "uri": "acme://1",
            "name": "One",
            "title": "The one",
            "mimeType": "text/plain",
            "size": 12,
            "annotations": {"audience": ["user"], "priority": 0.5, "lastModified": "2026-01-01", "new": 1},
            "colour": "red",
        }
        (resource,) = service_of(results={"resources/list": [{"resources": [entry]}]}).resources
        assert (resource.title, resource.media_type, resource.size) == ("The one", "text/plain", 12)
        assert (resource.audience, resource.priority, resource.last_modified) == (("user",), 0.5, "2026-01-01")
        assert resource.extras == {"annotations": {"new": 1}, "colour": "red"}

    def test_a_template_has_its_template_as_uri(self) -> None:
        entry = {"uriTemplate": "acme://{id}", "name": "Any"}
        service = service_of(results={"resources/templates/list": [{"resourceTemplates": [entry]}]})
        assert service.resource_templates[0].uri == "acme://{id}"

    def test_a_nameless_resource_goes_by_its_uri(self) -> None:
        service = service_of(results={"resources/list": [{"resources": [{"uri": "acme://1"}, {"name": "lost"}]}]})
        assert [resource.name for resource in service.resources] == ["acme://1"]
        assert codes(service) == ["name-missing", "name-missing"]

    def test_the_arguments_of_a_prompt_are_texts(self) -> None:
        """X-08: by the protocol's default, which is recorded as such."""
        arguments = [{"name": "goal", "title": "Goal", "required": True, "description": "What for"}, {"required": True}]
        service = service_of(results={"prompts/list": [{"prompts": [{"name": "plan", "arguments": arguments}]}]})
        (parameter,) = service.prompts[0].parameters
        assert (parameter.name, parameter.required, parameter.description) == ("goal", True, "What for")
        assert parameter.schema.types == ("string",)
        assert (parameter.origins or {})["schema"].kind == "defaulted"
        assert codes(service) == ["name-missing"]


class TestIcons:
    URL = "https://mcp.acme.com/mcp"

    def icons(self, *raw: Json, url: str | None = URL, website: str | None = None) -> Service:
        info = {"name": "x", "icons": list(raw), **({"websiteUrl": website} if website else {})}
        return service_of({"serverInfo": info}, url=url)

    @pytest.mark.parametrize(
        ("sizes", "expected"),
        [(["48x48", "any"], ("48x48", "any")), ("48x48 96x96", ("48x48", "96x96")), (None, ()), (7, ())],
    )
    def test_sizes_are_a_text_or_a_list(self, sizes: Json, expected: tuple[str, ...]) -> None:
        """S1-03: and `theme` is kept, `kind` ignored."""
        raw = {
            "src": "https://mcp.acme.com/i.png",
            "mimeType": "image/png",
            "sizes": sizes,
            "theme": "dark",
            "kind": "x",
        }
        service = self.icons(raw)
        (icon,) = service.icons
        assert (icon.src, icon.media_type) == ("https://mcp.acme.com/i.png", "image/png")
        assert (icon.sizes, icon.theme) == (expected, "dark")
        assert [problem.code for problem in service.problems] == ["member-invalid"] * (sizes == 7)

    @pytest.mark.parametrize(
        "src",
        [
            "http://mcp.acme.com/i.png",
            "javascript:alert(1)",
            "file:///etc/passwd",
            "ftp://mcp.acme.com/i",
            "i.png",
            "",
            None,
            7,
            "https://evil.com/i.png",
            "https://evilmcp.acme.com.evil.com/i.png",
            "https://mcp.acme.com@evil.com/i.png",
            "https://[broken/i.png",
        ],
    )
    def test_an_address_that_must_not_be_linked_is_left_out(self, src: Json) -> None:
        """S1-04, S1-05: the scheme, and the host."""
        service = self.icons({"src": src})
        assert service.icons == ()
        assert "icon-left-out" in codes(service)

    def test_data_and_subdomains_are_kept(self) -> None:
        """S1-04, S1-05: what needs no request, and what the server's host replaces."""
        service = self.icons({"src": "data:image/png;base64,AA=="}, {"src": "https://cdn.mcp.acme.com/i.png"})
        assert len(service.icons) == 2

    def test_for_a_local_server_the_host_is_that_of_its_homepage(self) -> None:
        """S1-05: without a homepage no host is trusted."""
        icon = {"src": "https://cdn.acme.com/i.png"}
        assert len(self.icons(icon, url=None, website="https://www.acme.com").icons) == 1
        assert self.icons(icon, url=None).icons == ()

    @pytest.mark.parametrize(
        ("website", "url", "is_kept"),
        [
            ("https://acme.com/docs", "https://mcp.acme.com/", True),
            ("https://docs.mcp.acme.com", "https://mcp.acme.com/", True),
            ("https://evil.com", "https://mcp.acme.com/", False),
            ("https://acme.com.evil.com", "https://mcp.acme.com/", False),
            ("https://acme.com@evil.com/", "https://mcp.acme.com/", False),
            ("https://acme.dev", "https://mcp.acme.com/", True),
            ("https://evil.com", "http://localhost:8000/", True),
            ("https://evil.com", None, True),
        ],
    )
    def test_a_homepage_is_on_the_domain_of_the_server(self, website: str, url: str | None, is_kept: bool) -> None:
        """S1-10, S1-11: or on one that the user names; one that the user runs has whatever it declares."""
        answers = {"initialize": {"serverInfo": {"name": "acme-mcp", "websiteUrl": website}}}
        service = service_of_answers(answers, url=url, trusted_domains=["acme.dev"])
        assert (service.homepage is not None, "homepage-left-out" not in codes(service)) == (is_kept, is_kept)
        assert is_kept or "evil" not in repr(render_documents(service))

    def test_a_website_is_the_homepage(self) -> None:
        """S1-01, S1-08: `websiteUrl`, `title` and `description` of the implementation."""
        service = service_of(
            {"serverInfo": {"name": "x", "title": "X", "description": "Does x.", "websiteUrl": "https://x.com"}}
        )
        assert (service.homepage, service.title, service.summary) == ("https://x.com", "X", "Does x.")

    @pytest.mark.parametrize("form", ["utf8,<svg onload='alert(1)'/>", "base64,PHN2ZyBvbmxvYWQ9J2FsZXJ0KDEpJy8+"])
    def test_a_picture_that_may_hold_a_script_is_never_written_as_markup(self, form: str) -> None:
        """S1-06: SVG, whose markup a document would run; it stays in the model and reaches no document."""
        service = self.icons({"src": f"data:image/svg+xml;{form}", "mimeType": "image/svg+xml"})
        for path, text in render_documents(service).items():
            assert not re.search("<svg|onload|PHN2Zy|image/svg", text), path

    def test_every_kind_of_entry_may_have_icons(self) -> None:
        """S1-02: and none need have any (S1-07)."""
        icons = {"icons": [{"src": "data:image/png;base64,AA=="}]}
        service = service_of(
            tools=({"name": "a", "inputSchema": NOTHING, **icons},),
            results={
                "resources/list": [{"resources": [{"uri": "a:b", "name": "r", **icons}]}],
                "resources/templates/list": [{"resourceTemplates": [{"uriTemplate": "a:{b}", "name": "t", **icons}]}],
                "prompts/list": [{"prompts": [{"name": "p", **icons}]}],
            },
        )
        (tool,), (resource,), (template,) = service.tools, service.resources, service.resource_templates
        for found in (tool.icons, resource.icons, template.icons, service.prompts[0].icons):
            assert len(found) == 1
        assert service.problems == ()


class TestAiHelp:
    def test_commented_front_matter_and_sections_are_read(self) -> None:
        """S0-18: what the tools hold already is no section any more."""
        service = service_of(
            {"serverInfo": {"name": "acme-mcp"}},
            tools=({"name": "create", "inputSchema": NOTHING},),
            ai_help=markdown(HELP),
        )
        assert service.problems == ()
        assert service.title == "Acme MCP Server"
        assert service.summary == "Manages projects. Use when user asks to manage projects."
        assert service.access.api == Value(None)
        assert service.invocation is not None
        assert service.invocation.model_invocable is True
        assert as_json(service)["requirements"]["auth"][0] == {"kind": "api-key", "pointer": "/ai_help/content"}
        assert service.when_to_use == ("Manage projects", "Track, create, or update tasks.")
        assert service.when_not_to_use == ("File storage (use another)",)
        assert [(section.title, section.body) for section in service.sections] == [("Best Practices", "Cache IDs.")]
        (tool,) = service.tools
        assert (tool.summary, tool.description) == ("Create a new project", "Creates a project.")
        assert tool.cli_equivalent == "acme create --name x"
        assert (tool.origins or {})["summary"] == Origin("declared", "/ai_help/content")

    def test_a_tools_own_description_is_kept(self) -> None:
        tool = tool_of({"description": "Makes one. Or two."}, ai_help=markdown(HELP))
        assert (tool.summary, tool.description) == ("Create a new project", "Makes one. Or two.")

    def test_unlisted_tools_of_the_help_stay_in_the_tool_reference(self) -> None:
        """S0-34: what a quick reference lists is called by these names."""
        service = service_of(ai_help=markdown(HELP))
        assert [section.title for section in service.sections] == ["Tool Reference", "Best Practices"]
        assert codes(service) == ["quick-reference-unknown-tool"]

    def test_what_else_a_quick_reference_lists_is_kept(self) -> None:
        content = "## Quick Reference\n\n- `create`: Create one\n- Ask before you delete\n"
        service = service_of(tools=({"name": "create", "inputSchema": NOTHING},), ai_help=markdown(content))
        assert service.tools[0].summary == "Create one"
        assert [(section.kind, section.body) for section in service.sections] == [
            ("quick_reference", "- Ask before you delete")
        ]

    @pytest.mark.parametrize(
        "content",
        [
            "## When to Use\n\nDo NOT use it for:\n- Files\n\nUse it to:\n- Plan\n",
            "## When to Use\n\n### When not to use\n\nBetter done by others:\n\n* Files\n\n### When to use\n\n* Plan\n",
            "## Tips\n\nx\n\n## When NOT to Use\n\n1. Files\n\n## When to use this server\n\n1. Plan\n",
            "## Do not use for\n- Files\n\n## When to Use\n- Plan\n",
            "# A\r\n\r\n## When to Use\r\n\r\n- Plan\r\n\r\nDon’t use it for:\r\n\r\n- Files\r\n",
        ],
    )
    def test_the_lists_of_use_may_stand_in_any_order(self, content: str) -> None:
        """S0-18: what introduces a list says which it is."""
        service = service_of(ai_help=markdown(content))
        assert (service.when_to_use, service.when_not_to_use) == (("Plan",), ("Files",))
        assert [section.title for section in service.sections] in ([], ["Tips"])

    def test_a_section_on_use_without_a_list_is_kept(self) -> None:
        service = service_of(ai_help=markdown("## When to Use\n\nWhenever you like.\n"))
        assert service.when_to_use == ()
        assert [section.title for section in service.sections] == ["When to Use"]

    def test_headings_in_code_are_no_headings(self) -> None:
        service = service_of(ai_help=markdown("## Setup\n\n```\n## Not a heading\n```\n"))
        assert [section.title for section in service.sections] == ["Setup"]

    def test_json_is_read_like_markdown(self) -> None:
        """S0-15: `contentType` decides."""
        service = service_of(
            tools=({"name": "lookup", "inputSchema": NOTHING, "annotations": {"readOnlyHint": True}},),
            ai_help={
                "metadata": {"name": "acme-mcp", "description": "Manages projects.", "accessLevel": "read"},
                "sections": {
                    "whenToUse": ["Plan"],
                    "whenNotToUse": ["Files"],
                    "quickReference": [{"name": "lookup", "description": "Find a project"}],
                    "authentication": "Send a key.",
                    "rateLimits": {"perMinute": 60},
                    "tips": ["One", "Two"],
                    "odd": [{"a": 1}],
                },
                "contentType": "application/json; charset=utf-8",
            },
        )
        assert (service.name, service.summary, service.access_level) == ("acme-mcp", "Manages projects.", "read")
        assert (service.when_to_use, service.when_not_to_use) == (("Plan",), ("Files",))
        assert service.tools[0].summary == "Find a project"
        assert [(section.title, section.body) for section in service.sections] == [
            ("Authentication", "Send a key."),
            ("Rate Limits", "- **Per Minute:** 60"),
            ("Tips", "- One\n- Two"),
            ("Odd", '```json\n[\n  {\n    "a": 1\n  }\n]\n```'),
        ]
        assert service.problems == ()

    def test_json_in_a_text_is_read_too(self) -> None:
        content = '{"metadata": {"name": "acme-mcp"}, "sections": {"whenToUse": ["Plan"]}}'
        service = service_of(
            {"serverInfo": {"name": "acme-mcp"}}, ai_help={"content": content, "contentType": "application/json"}
        )
        assert (service.name, service.when_to_use) == ("acme-mcp", ("Plan",))

    @pytest.mark.parametrize(
        "answer",
        [
            [],
            {},
            {"content": 7, "contentType": "text/markdown"},
            {"content": "{", "contentType": "application/json"},
            markdown("---\na: [\n---\n# X\n"),
            markdown("---\n- a\n---\n# X\n"),
            markdown(f"---\na: {'x' * 30_000}\n---\n# X\n"),
            markdown("---\na: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
                     "c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\n"
                     "e: [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\n---\n# X\n"),
        ],
    )  # fmt: skip
    def test_an_answer_that_makes_no_sense_is_reported(self, answer: Json) -> None:
        service = service_of(ai_help=answer)
        assert set(codes(service)) == {"ai-help-invalid"}
        assert service.name == "acme-mcp"

    def test_front_matter_that_never_ends_is_text(self) -> None:
        service = service_of(ai_help=markdown("---\nname: other\n\n## Tips\n\nx\n"))
        assert service.name == "acme-mcp"
        assert [section.title for section in service.sections] == ["Tips"]


def test_the_sections_of_ai_help_may_stand_in_any_order() -> None:
    """S0-18: the model differs in the order of what is no field of its own alone."""
    head, *sections = HELP.split("\n## ")
    tools: Json = ({"name": "create", "inputSchema": {"type": "object"}},)
    services = [
        service_of({"dashdash": DASHDASH}, tools=tools, ai_help=markdown("\n## ".join([head, *ordered]) + "\n"))
        for ordered in (sections, sections[::-1], sections[2:] + sections[:2])
    ]

    assert services[0].when_to_use == ("Manage projects", "Track, create, or update tasks.")
    assert services[0].when_not_to_use == ("File storage (use another)",)
    assert services[0].tools[0].summary == "Create a new project"
    assert services[0].tools[0].cli_equivalent == "acme create --name x"
    assert [section.title for section in services[0].sections] == ["Best Practices"]
    for other in services[1:]:
        assert (other.when_to_use, other.when_not_to_use) == (services[0].when_to_use, services[0].when_not_to_use)
        assert other.tools[0].summary == services[0].tools[0].summary
        assert other.tools[0].description == services[0].tools[0].description
        assert other.tools[0].cli_equivalent == services[0].tools[0].cli_equivalent
        assert other.sections == services[0].sections


class TestTheNewestRevision:
    """What 2026-07-28 says next to the lists."""

    @staticmethod
    def service(tools: list[Json], transport: Any = "http", version: str = "2026-07-28", **page: Json) -> Service:
        """Reads a server of the newest revision that has these tools."""
        return service_of_answers(
            {"server/discover": {}, "tools/list": [{"tools": tools, **page}]},
            protocol_version=version,
            url=None if transport == "stdio" else "https://acme.example/mcp",
        )

    @staticmethod
    def tool(name: str, *schemas: Json, **root: Json) -> dict[str, Json]:
        """Returns a tool whose parameters are `a`, `b` and so on."""
        properties = {chr(ord("a") + index): schema for index, schema in enumerate(schemas)}
        return {"name": name, "inputSchema": {"type": "object", "properties": properties, **root}}

    @pytest.mark.parametrize(
        ("broken", "reason"),
        [
            (({"type": "string", "x-mcp-header": ""},), "not a header name"),
            (({"type": "string", "x-mcp-header": "a b"},), "not a header name"),
            (({"type": "string", "x-mcp-header": 7},), "not a header name"),
            (({"type": "number", "x-mcp-header": "X"},), "not a string, integer or boolean"),
            (({"type": ["string", "null"], "x-mcp-header": "X"},), "not a string, integer or boolean"),
            (({"type": "string", "x-mcp-header": "X"}, {"type": "string", "x-mcp-header": "x"}), "another parameter"),
            (({"type": "array", "items": {"type": "string", "x-mcp-header": "X"}},), "not on a plain property"),
            (({"anyOf": [{"properties": {"c": {"type": "string", "x-mcp-header": "X"}}}]},), "not on a plain property"),
            (({"$defs": {"c": {"type": "string", "x-mcp-header": "X"}}, "items": 3},), "not on a plain property"),
        ],
    )
    def test_a_tool_that_no_client_may_call_over_http_is_left_out_and_reported(
        self, broken: tuple[Json, ...], reason: str
    ) -> None:
        """X-10: an invalid `x-mcp-header` (2026-07-28, "Custom Headers")."""
        nested: Json = {"type": "object", "properties": {"c": {"type": "boolean", "x-mcp-header": "Region"}}}
        fine = self.tool("fine", nested, {"type": "string", "default": {"x-mcp-header": ""}})
        tools = [self.tool("broken", *broken), fine]

        service = self.service(tools)

        assert [tool.name for tool in service.tools] == ["fine"]
        (problem,) = [problem for problem in service.problems if problem.code == "tool-header-invalid"]
        assert (problem.level, problem.where) == ("warning", "/tools~1list/0/tools/0/inputSchema")
        assert "'broken'" in problem.message
        assert reason in problem.message
        for other in (self.service(tools, transport="stdio"), self.service(tools, version="2025-11-25")):
            assert [tool.name for tool in other.tools] == ["broken", "fine"]

    def test_list_metadata_is_kept_and_private_results_are_reported(self) -> None:
        """X-06: `ttlMs` and `cacheScope`; S0-03: also what no typed model knows."""
        service = self.service([self.tool("a")], ttlMs=5000, cacheScope="private", region="eu", resultType="complete")

        assert (service.extras or {})["lists"] == {
            "tools/list": {"ttlMs": 5000, "cacheScope": "private", "region": "eu"}
        }
        (problem,) = [problem for problem in service.problems if problem.code == "results-private"]
        assert (problem.level, problem.where) == ("info", "/tools~1list")
        assert "results-private" not in codes(self.service([self.tool("a")], ttlMs=5000, cacheScope="public"))
