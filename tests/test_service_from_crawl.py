"""What a server said becomes one model: where each fact is found, who counts more, and what is left out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from captured import Json, service_of_answers
from descriptions import description, follow
from listed import answers
from msgspec.structs import replace
from rows import inputs, rows

from skillgen import Origin, Problem, Service, read, render_documents, snapshot

DASHDASH: dict[str, Json] = {
    "specVersion": "0.2.0",
    "identity": {"name": "acme-mcp", "description": "Manages projects. Use when user asks to manage projects."},
    "accessLevel": "interact",
    "alternativeAccess": {"cliUrl": "https://acme.com/cli", "apiUrl": None, "webUrl": "https://acme.com/app"},
}

HELP: str = inputs("service_from_crawl")["help"]


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


def differing(expected: Json, found: Json, place: str = "") -> Iterator[str]:
    """Yields where a value is not as expected; it may have more members, but not those `(absent)`."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for key, value in expected.items():
            yield from differing(value, found.get(key, "(absent)"), f"{place}/{key}")
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for index, pair in enumerate(zip(expected, found, strict=True)):
            yield from differing(*pair, f"{place}/{index}")
    elif (type(expected), expected) != (type(found), found):
        yield f"{place}: {found!r} is not {expected!r}"


def assert_problems(service: Service, row: Json) -> None:
    """Asserts that the problems are those of a row: code, level and place, or the first two; of notes, those named."""
    if (expected := row.get("problems")) is not None:
        width = min(map(len, expected), default=3)
        found = [[problem.code, problem.level, problem.where][:width] for problem in service.problems]
        assert sorted(item for item in found if item[1] != "info" or item in expected) == sorted(expected)


@pytest.mark.parametrize("row", rows("readings"))
def test_what_a_server_says_is_read(row: Json) -> None:
    """S0-01, S0-02, S0-03, S0-04, S0-05, S0-06, S0-07, S0-08, S0-09, S0-10, S0-11, S0-12, S0-14, S0-15, S0-18,
    S0-19, S0-34, S1-01, S1-02, S1-03, S1-04, S1-05, S1-07, S1-08, S4-03, S4-04, S4-10, S4-11, X-06, X-07,
    X-08.
    """
    says, options = dict(row["says"]), row.get("options", {})
    if "server/discover" not in says:
        says = {"tools/list": [{"tools": []}], **says}
        says["initialize"] = {"serverInfo": {"name": "acme-mcp"}, **says.get("initialize", {})}
    service = service_of_answers(says, **options)
    assert list(differing(row.get("reads", {}), json.loads(json.dumps(as_json(service))))) == []
    assert_problems(service, row)
    again = read(snapshot(service))
    assert again == replace(service, source=again.source)  # without the folder of the program


@pytest.mark.parametrize("row", rows("descriptions"))
def test_what_any_source_says_is_read(row: Json) -> None:
    """H3, S0-04, S0-08, S0-12, S0-15, S0-18, S0-32, S0-33, S2-04, S2-06, S2-07, S2-08, S2-09, S2-10, S2-11,
    S2-12, S2-13, S2-17, S2-18, S2-20, S2-21, S2-23, X-08, X-22.
    """
    if (lists := row.get("lists")) is not None:
        said = answers(lists.get("server"), {key: value for key, value in lists.items() if key != "server"})
        service = service_of_answers(said)
    elif "says" in row:
        service = service_of_answers(row["says"], **row.get("options", {}))
    else:
        members = description(**row["description"])
        service = read({key: value for key, value in members.items() if value != "(none)"})
    assert list(differing(row.get("reads", {}), json.loads(json.dumps(as_json(service))))) == []
    assert_problems(service, row)


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


def codes(service: Service) -> list[str]:
    return [problem.code for problem in service.problems]


def markdown(content: str) -> dict[str, Json]:
    return {"content": content, "contentType": "text/markdown"}


def described(name: str) -> dict[str, Json]:
    return {**DASHDASH, "identity": {"name": name, "description": "Found."}}


class TestWhatTheServiceIs:
    def test_the_purpose_is_the_declared_description_else_the_instructions(self) -> None:
        declared = service_of({"serverInfo": {"name": "x", "description": "Does\nthings."}, "instructions": "No."})
        assert declared.summary == "Does things."
        drawn = service_of({"instructions": "Manages boards and cards. Call list_boards first."})
        assert (drawn.summary, drawn.purpose) == (None, "Manages boards and cards.")
        assert (drawn.origins or {})["purpose"] == Origin("declared", "/initialize/instructions")
        for order in ("Call list_boards first.", "Please read the guide.", "Make sure that a board is open."):
            assert service_of({"instructions": order}).purpose == service_of().purpose


class TestWhatAToolDoes:
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
            tools=({"name": "a", **dict.fromkeys(keys, wrong)}, {"name": "b", "dashdash": dict.fromkeys(own, wrong)}),
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


class TestIcons:
    URL = "https://mcp.acme.com/mcp"

    def icons(self, *raw: Json, url: str | None = URL, website: str | None = None) -> Service:
        info = {"name": "x", "icons": list(raw), **({"websiteUrl": website} if website else {})}
        return service_of({"serverInfo": info}, url=url)

    @pytest.mark.parametrize(
        "src",
        [
            *("http://mcp.acme.com/i.png", "javascript:alert(1)", "file:///etc/passwd", "ftp://mcp.acme.com/i"),
            *("i.png", "", None, 7, "https://evil.com/i.png", "https://evilmcp.acme.com.evil.com/i.png"),
            *("https://mcp.acme.com@evil.com/i.png", "https://[broken/i.png"),
        ],
    )
    def test_an_address_that_must_not_be_linked_is_left_out(self, src: Json) -> None:
        """S1-04, S1-05: the scheme, and the host."""
        service = self.icons({"src": src})
        assert service.icons == ()
        assert "icon-left-out" in codes(service)

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

    @pytest.mark.parametrize("form", ["utf8,<svg onload='alert(1)'/>", "base64,PHN2ZyBvbmxvYWQ9J2FsZXJ0KDEpJy8+"])
    def test_a_picture_that_may_hold_a_script_is_never_written_as_markup(self, form: str) -> None:
        """S1-06: SVG, whose markup a document would run; it stays in the model and reaches no document."""
        service = self.icons({"src": f"data:image/svg+xml;{form}", "mimeType": "image/svg+xml"})
        for path, text in render_documents(service).items():
            assert not re.search("<svg|onload|PHN2Zy|image/svg", text), path


class TestAiHelp:
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
            (({"type": "string", "x-mcp-header": "a b"},), "is not an RFC 9110 token"),
            (({"type": "number", "x-mcp-header": "X"},), "only permitted on integer/string/boolean properties"),
            (({"type": "array", "items": {"type": "string", "x-mcp-header": "X"}},), "not reachable"),
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
