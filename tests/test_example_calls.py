"""Example calls: declared where the source has one, else of values of the source, and always what the schema allows."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from captured import service_of_answers
from cli import generated
from descriptions import LONG
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, ValidationError
from listed import command, tool
from properties import examples
from rows import inputs

import skillgen
from skillgen import Service, Tool, render_documents

Json = Any

LARGE = {"prompts/list": [{"prompts": [{"name": "filler", "description": LONG}]}]}
"""What makes a service too large for SKILL.md alone: it has references."""


def service_of(*schemas: Json, examples: tuple[Json, ...] = ()) -> Service:
    """Returns a service with a tool for each schema, and a prompt that makes it large; the examples are the first's."""
    tools = [{"name": f"tool{number}", "inputSchema": schema} for number, schema in enumerate(schemas, 1)]
    if examples:
        tools[0]["dashdash"] = {"examples": list(examples)}
    results = {"initialize": {"serverInfo": {"name": "booth"}}, "tools/list": [{"tools": tools}], **LARGE}
    return service_of_answers(results)


def tool_of(schema: Json, *examples: Json) -> Tool:
    return service_of(schema, examples=examples).tools[0]


def page_of(service: Service) -> str:
    """Returns the page of the references that documents the tools."""
    texts = render_documents(service, emit="skill")
    return next(text for path, text in texts.items() if path.endswith("references/tools.md"))


def codes_of(service: Service) -> list[tuple[str, str]]:
    return [(problem.code, problem.where) for problem in service.problems if "example" in problem.code]


def is_valid(pattern: str, text: str) -> bool:
    """True if a declared call whose one value has a pattern is not called invalid."""
    schema = of(value={"type": "string", "pattern": pattern})
    declared = [item for item in tool_of(schema, {"input": {"value": text}}).examples if item.is_declared]
    return [item.flaw for item in declared] == [None]


def of(**properties: Json) -> dict[str, Json]:
    """Returns the schema of an object that requires all of its properties and allows no others."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def shown(schema: Json) -> dict[str, Json]:
    """Returns the schema of a call that is shown whatever its `value` is, for it has one that the source declares."""
    return {**of(kind={"const": "task"}, value=schema), "$defs": schema.get("$defs", {})}


SCHEMAS: dict[str, Any] = inputs("example_calls")["schemas"]


def test_a_mock_answers_with_what_each_output_allows(tmp_path: Path) -> None:
    """Its values may be invented: nobody reads them as the words of the source."""
    tools = [tool(f"tool{number}", outputSchema=shown(schema)) for number, schema in enumerate(SCHEMAS.values())]
    calls = [{"name": item["name"], "arguments": {}} for item in tools]
    lines = [json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}) for call in calls]
    text = "\n".join([*lines, ""])
    finished = generated("mock", "--", *command(tmp_path, tools=tools), stdin=text, cwd=Path(__file__).parent)
    for (name, schema), line in zip(SCHEMAS.items(), finished.stdout.splitlines(), strict=True):
        answer = json.loads(line)["result"].get("structuredContent")
        assert answer, name
        Draft202012Validator(shown(schema), format_checker=Draft202012Validator.FORMAT_CHECKER).validate(answer)


@pytest.mark.parametrize(
    ("properties", "call"),
    [
        ({"a": {"type": "string", "example": "x"}, "b": {"type": "string"}}, {"a": "x", "b": "<b>"}),
        ({"a": {"enum": ["delete_all", "list"]}}, {"a": "list"}),
        ({"a": {"const": 1}, "day": {"type": "string", "format": "date"}}, {"a": 1, "day": "2025-01-31"}),
        ({"a": {"const": 1}, "id": {"type": "string", "format": "uuid"}}, {"a": 1, "id": "<uuid>"}),
        ({"a": {"const": 1}, "force": {"type": "boolean", "default": True}}, {"a": 1, "force": False}),
        ({"a": {"const": 1}, "sendEmail": {"type": "boolean", "example": True}}, {"a": 1, "sendEmail": False}),
        ({"a": {"const": 1}, "tags": {"type": "array", "items": {"type": "string"}}}, {"a": 1, "tags": ["<tag>"]}),
        ({"a": {"type": "string"}}, None),
        ({"a": {"const": 1}, "b": {"type": "string"}, "c": {"type": "string"}}, None),
        ({"a": {"const": 1}, "n": {"type": "integer"}}, None),
        ({"a": {"type": "string", "example": "string"}}, None),
    ],
)
def test_every_value_but_one_placeholder_comes_from_the_source(properties: Json, call: Json) -> None:
    """Issue 5: nothing is invented, no call deletes or sends by a flag."""
    assert [example.input for example in tool_of(of(**properties)).examples] == ([call] if call else [])


def test_an_optional_member_is_in_no_call_unless_the_words_require_it() -> None:
    """Issue 5: nor is one that is deprecated."""
    optional: Json = {"limit": {"default": 20}, "old": {"example": 1, "deprecated": True}, "note": {"example": "n"}}
    schema: Json = {"type": "object", "properties": {"a": {"const": 1}, **optional}, "required": ["a"]}
    assert [example.input for example in tool_of(schema).examples] == [{"a": 1}]
    schema["properties"]["note"]["description"] = "(required) What to say."
    assert [example.input for example in tool_of(schema).examples] == [{"a": 1, "note": "n"}]


@pytest.mark.parametrize(
    ("about", "is_in_call"),
    [
        ("The tag. Required for get, create, update.", True),
        ("(required when action is create)", True),
        ("Required for copy.", False),
        ("Required when a create button is shown.", False),
        ("Required for copy, optional for create.", False),
        ("Required for copy (from create).", False),
        ("Not required for create.", False),
        ("It isn't required for create.", False),
        ("Required for all actions except create.", False),
        ("Required for copy, but not for create.", False),
        ("Required when action is not create.", False),
    ],
)
def test_what_the_words_require_for_a_value_is_in_the_call_with_it(about: str, is_in_call: bool) -> None:
    properties: Json = {"action": {"enum": ["create", "copy"]}, "tag": {"type": "string", "description": about}}
    schema: Json = {"type": "object", "properties": properties, "required": ["action"]}
    (example,) = tool_of(schema).examples
    assert example.input == {"action": "create"} | ({"tag": "<tag>"} if is_in_call else {})


schemas = st.recursive(
    st.sampled_from(
        [
            {"type": "string", "minLength": 2, "maxLength": 5},
            {"type": "integer", "minimum": -7, "exclusiveMaximum": 3},
            {"enum": ["a", 2, None]},
            {"type": ["null", "boolean"]},
            {"type": "string", "format": "date"},
            {"type": "number", "multipleOf": 0.5, "exclusiveMinimum": 2},
            True,
        ]
    ),
    lambda inner: st.one_of(
        st.dictionaries(st.sampled_from("abcd"), inner, max_size=3).map(lambda found: of(**found)),
        st.builds(lambda item, least: {"type": "array", "items": item, "minItems": least}, inner, st.integers(0, 3)),
        st.lists(inner, min_size=1, max_size=3).map(lambda found: {"anyOf": found}),
        st.lists(inner, min_size=1, max_size=2).map(lambda found: {"allOf": found}),
        st.lists(inner, min_size=1, max_size=2, unique_by=json.dumps).map(lambda found: {"oneOf": found}),
    ),
    max_leaves=8,
)


@given(schemas)
def test_whatever_is_made_for_any_schema_fits_it(schema: Json) -> None:
    whole = of(kind={"const": "task"}, value=schema)
    for example in tool_of(whole).examples:
        try:
            Draft202012Validator(whole, format_checker=Draft202012Validator.FORMAT_CHECKER).validate(example.input)
        except ValidationError:
            assert re.search(r"<[a-d]>|<value>", json.dumps(example.input))


def test_a_call_with_an_object_of_which_nothing_is_known_is_not_shown() -> None:
    """H3: `"metadata": {}` says nothing of what belongs there."""
    schema = of(kind={"const": "task"}, metadata={"type": "object"})
    assert tool_of(schema).examples == ()
    assert [call.input for call in tool_of(of(kind={"const": "task"})).examples] == [{"kind": "task"}]


def test_a_declared_call_is_shown_first_and_none_is_generated_next_to_it() -> None:
    """S0-12."""
    schema = of(title={"type": "string"})
    service = service_of(schema, examples=({"input": {"title": "Buy milk"}, "description": "Add one"},))
    assert [example.input for example in service.tools[0].examples] == [{"title": "Buy milk"}]
    assert 'Example: Add one\n\n```json\n{"title": "Buy milk"}\n```' in page_of(service)
    assert codes_of(service) == []


def test_a_generated_call_precedes_a_declared_one_that_is_invalid() -> None:
    schema = of(due={"type": "string", "format": "date"})
    service = service_of(schema, examples=({"input": {"due": "tomorrow"}},))
    made, declared = service.tools[0].examples
    assert (made.input, made.is_declared, made.flaw) == ({"due": "2025-01-31"}, False, None)
    assert declared.flaw == 'due: "tomorrow" is not a "date"'
    assert codes_of(service) == [("call-example-invalid", "/tools~1list/0/tools/0/dashdash/examples/0")]
    page = page_of(service)
    assert page.index("Example:") < page.index("Declared example that the schema does not allow")


def test_a_declared_value_of_a_property_is_used_if_it_is_valid() -> None:
    city = {"type": "string", "examples": ["Oslo"]}
    sizes = {"type": "integer", "examples": ["large", 3]}
    assert tool_of(of(city=city, size=sizes)).examples[0].input == {"city": "Oslo", "size": 3}


@pytest.mark.parametrize(
    "schema",
    [
        of(value=False),
        of(value={"enum": []}),
        of(value={"type": "string", "minLength": 100_000}),
        of(value={"type": "array", "items": {"type": "integer"}, "minItems": 5_000}),
        of(value={"$ref": "https://types.example/node.json"}),
        of(value={"type": "string", "pattern": r"(.)\1(?<!x)"}),
        {"$ref": "#/$defs/Node", "$defs": {"Node": of(next={"$ref": "#/$defs/Node"})}},
        {"type": "object", "required": ["a"], "additionalProperties": False},
    ],
)
def test_there_is_no_call_where_none_is_valid(schema: Json) -> None:
    service = service_of(schema)
    assert service.tools[0].examples == ()
    assert "Example" not in page_of(service)


@pytest.mark.parametrize(("pattern", "text", "answer"), inputs("example_calls")["patterns"])
def test_a_pattern_is_matched_as_ecmascript_matches_it(pattern: str, text: str, answer: bool | None) -> None:
    """With the flag `u`; what is not understood is not called invalid."""
    assert is_valid(pattern, text) is (answer is not False)


@pytest.mark.parametrize("pattern", [r"^\p{L}+$", r"^(?<first>É)mil\w$|\k<first>", r"(?i)^éMILE$"])
def test_a_value_with_an_uncheckable_pattern_is_not_called_invalid(pattern: str) -> None:
    """S0-32."""
    schema = of(value={"type": "string", "pattern": pattern})
    service = service_of(schema, examples=({"input": {"value": "Émile"}},))
    (example,) = service.tools[0].examples
    assert (example.is_declared, example.flaw) == (True, None)
    assert codes_of(service) == []


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("^(a+)+$", "a" * 2_000 + "!"),
        ("^(a|a)*$", "a" * 2_000 + "!"),
        ("^(a*)*b$", "a" * 2_000),
        ("(x+x+)+y", "x" * 2_000),
        ("^(.*.*.*.*.*)*z$", "a" * 2_000),
        ("((a{0,50}){0,50}){0,50}b", "a" * 2_000),
    ],
)
def test_no_pattern_makes_the_search_hang(pattern: str, text: str) -> None:
    schema = of(value={"type": "string", "pattern": pattern, "examples": [text]})
    for example in tool_of(schema).examples:
        assert example.input["value"] != text


@pytest.mark.parametrize("kind", ["object", "string"])
def test_references_that_double_at_every_step_are_checked_in_bounds(kind: str) -> None:
    types = {f"T{n}": {"type": kind, "anyOf": [{"$ref": f"#/$defs/T{n + 1}"}] * 2} for n in range(40)}
    any_of = [{"type": "object", "properties": {"y": {}}}, {"$ref": "#/$defs/T0"}]
    value = {"anyOf": any_of, "unevaluatedProperties": False, "examples": [{"x": 1}]}
    schema = {"$defs": {**types, "T40": {"type": kind, "properties": {"z": {}}}}, **of(value=value)}
    assert service_of(schema).tools[0].examples == ()


@settings(max_examples=examples(8))
@given(st.text())
def test_a_value_is_exact_in_a_document_whatever_it_holds(text: str) -> None:
    """S0-25."""
    hostile = f"{text}!`id`$ARGUMENTS${{CLAUDE_X}}\x85```\n# heading"
    service = service_of(of(value={"const": hostile}))
    assume(not any(problem.code.endswith("-characters") for problem in service.problems))
    block = page_of(service).split("json\n", 1)[1]
    assert json.loads(block[: block.index("\n```")]) == {"value": hostile}


def test_a_declared_call_with_a_credential_is_replaced() -> None:
    """S0-22."""
    secret = "ghp_" + "x9K2mQ7vT4bW8nR3cY6zL1dF5gH0jS2pA4eU"
    schema = of(access_token={"type": "string"}, kind={"const": "a"})
    service = service_of(schema, examples=({"input": {"access_token": secret, "kind": "a"}},))
    page = page_of(service)
    assert '{"access_token": "<access_token>", "kind": "a"}' in page
    assert secret not in page


PAIR: dict[str, Json] = {"type": "array", "items": {"type": "string"}, "minItems": 2}
PROSE: tuple[tuple[dict[str, Json], str, Json], ...] = (
    ({"type": "string"}, "The zone (e.g., 'Asia/Tokyo', 'UTC'). Use 'UTC' if unsure.", "Asia/Tokyo"),
    ({"type": "string"}, "Which city, for example: New York, Oslo", "New York"),
    ({"type": "string"}, "A model, such as `small` or `large`", "small"),
    ({"type": "string"}, "Examples: <code>2017-JUL-31</code>, <code>2017-SEP-01</code>", "2017-JUL-31"),
    ({"type": "string", "enum": ["b", "c"]}, "e.g. 'a' or 'b'", "b"),
    ({"type": "string", "maxLength": 3}, "e.g. 'Oslo' or 'Rom'", "Rom"),
    ({"type": "integer"}, "How many, e.g. 25", 25),
    ({"type": "integer"}, "At most this many. Defaults to 10.", 10),
    ({"type": "array", "items": {"type": "string"}}, 'Labels, e.g. ["bug", "help"]', ["bug", "help"]),
    ({"type": "array", "items": {"type": "string"}}, "Labels, e.g. 'bug', 'help'", ["bug"]),
    ({"type": "object"}, 'The key (e.g. {"id": {"S": "a"}})', {"id": {"S": "a"}}),
    (PAIR, "The shares to compare, e.g. ['THYAO','PGSUS']", ["THYAO", "PGSUS"]),
    (PAIR | {"items": {"type": "string", "examples": ["a", "b"]}}, "The shares to compare", ["a", "b"]),
    (PAIR | {"items": {"type": "string", "enum": ["b", "c"]}}, "The sides", ["b", "c"]),
    (PAIR, "The shares to compare, e.g. THYAO", None),
    (PAIR, "The shares to compare", None),  # placeholders: no call of a server
    (PAIR | {"items": {"type": "number", "example": 1.5}}, "A point", [1.5, 1.5]),
)
"""A schema, a description, and the value that is read from it; `None` if too few are known."""


def test_a_value_is_read_from_the_words_of_its_parameter() -> None:
    """H3: as the source names it, if its schema allows it."""
    found = []
    for schema, text, value in PROSE:
        calls = tool_of(of(value={**schema, "description": text})).examples
        if [call.input for call in calls] != [{"value": value}] * (value is not None):
            found.append((text, [call.input for call in calls]))
    assert found == []


def described(description: str, schema: Json) -> Json:
    """Returns the arguments of the call that is shown for a tool with a description; `None` without one."""
    tool = {"name": "act", "description": description, "inputSchema": schema}
    examples = service_of_answers({"tools/list": [{"tools": [tool]}]}).tools[0].examples
    return examples[0].input if examples else None


def test_a_call_in_the_description_of_a_tool_is_its_example() -> None:
    """H3: as JSON, or written like a function call."""
    schema = of(url={"type": "string"}, names={"type": "array", "items": {"type": "string"}})
    call = {"url": "https://a.example/x", "names": ["a b", "c"]}
    texts = (
        f"Reads parts. Example: {json.dumps(call)}",
        f"Reads parts.\n```json\n{json.dumps({'name': 'act', 'arguments': call}, indent=2)}\n```",
        "Reads parts.\n```\nact(\n  url='https://a.example/x',\n  names=['a b', \"c\"],\n)\n```",
    )
    assert [described(text, schema) for text in texts] == [call] * 3
    assert described('Returns {"url": 3}.', schema) is None
    assert described('Arguments: {"url": "string", "names": ["string"]}', schema) is None, "types are no values"


def test_two_arguments_share_no_value_of_the_prose() -> None:
    """The second one has its next value, or a placeholder; what both declare, or what is no text, may be equal."""
    city, day, size = "e.g. 'OSL'", {"format": "date", "description": "e.g. 2026-10-21"}, {"description": "e.g. 3"}
    text = {"type": "string"}
    assert described("Finds.", of(origin={**text, "description": city}, goal={**text, "description": city})) == {
        "origin": "OSL",
        "goal": "<goal>",
    }
    call = described("Finds.", of(a={**text, "description": city}, b={**text, "description": f"{city} or 'BGO'"}))
    assert call == {"a": "OSL", "b": "BGO"}
    call = described("Finds.", of(first={**text, **day}, last={**text, **day}))
    assert call == {"first": "2026-10-21", "last": "<last>"}
    call = described("Finds.", of(a={"type": "integer", **size}, b={"type": "integer", **size}))
    assert call == {"a": 3, "b": 3}
    assert described("Finds.", of(a={"enum": ["x"]}, b={"enum": ["x"]})) == {"a": "x", "b": "x"}
    late = {"format": "date", "description": "e.g. `yesterday`"}
    assert described("Finds.", of(since={**text, **late})) == {"since": "2025-01-31"}


def test_an_example_does_not_depend_on_the_operation_before_it() -> None:
    """What one call has in its body is free in the next, also in an address and in the answers of the mock."""
    name = {"type": "string", "description": "E.g. `acme`."}
    body = {
        "content": {"application/json": {"schema": {"type": "object", "required": ["n"], "properties": {"n": name}}}}
    }
    query = {"name": "org", "in": "query", "required": True, "schema": name}
    paths = {
        "/a": {"post": {"operationId": "add", "requestBody": body, "responses": {}}},
        "/b": {"get": {"operationId": "find", "parameters": [query], "responses": {}}},
    }
    found = skillgen.read({"openapi": "3.1.0", "info": {"title": "Firms", "version": "1"}, "paths": paths})
    assert [tool.examples[0].input for tool in found.tools] == [{"body": {"n": "acme"}}, {"org": "acme"}]


def test_an_object_that_requires_nothing_has_no_example() -> None:
    """H3: a default is what happens without the member; an example of one member is not one of the call."""
    known, unknown = {"type": "integer", "example": 3}, {"type": "string"}
    assert described("Acts.", {"type": "object", "properties": {"n": known, "a": unknown}}) is None
    assert described("Acts.", {"type": "object", "properties": {"n": {"default": 3}}}) is None
    about = {"type": "string", "description": "e.g. 'DEV'"}
    assert described("page_id OR both.", {"type": "object", "properties": {"page_id": about, "key": about}}) is None


def test_a_secret_in_prose_reaches_no_call() -> None:
    """S0-22."""
    secret = "ghp_" + "x9K2mQ7vT4bW8nR3cY6zL1dF5gH0jS2pA4eU"
    assert described("Acts.", of(value={"type": "string", "description": f"e.g. '{secret}'"})) is None
