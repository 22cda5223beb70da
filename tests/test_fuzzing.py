"""No input makes a reader fail in a way that is not skillgen's own (issue 7); `make fuzz` runs longer."""

from __future__ import annotations

import json

import pytest
from fuzzing import TARGETS
from hypothesis import example, given, settings
from hypothesis import strategies as st
from properties import examples

pytestmark = pytest.mark.slow

KEYS = (
    *("openapi", "paths", "/a", "get", "post", "parameters", "name", "in", "schema", "$ref", "#/a", "type", "items"),
    *("properties", "allOf", "oneOf", "enum", "default", "description", "required", "responses", "200", "content"),
    *("tools", "inputSchema", "annotations", "dashdash", "capabilities", "serverInfo", "_meta", "icons", "src", "uri"),
    *("jsonrpc", "id", "method", "result", "error", "code", "message", "content", "text", "metadata", "examples"),
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.sampled_from(KEYS),
    st.text(max_size=12),
    st.just("9" * 4_000),
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(st.sampled_from(KEYS), st.text(max_size=6)), inner, max_size=5),
    ),
    max_leaves=20,
)
LINES = st.lists(
    st.sampled_from(
        ("---\n", "name: x\n", "- ", "  ", "&a ", "*a ", "<<: *a\n", "# H\n", "## When to Use\n", "```\n", "a: b\n", "? ",
         ": ", "[", "]", "{", "}", "!!str ", "|\n", ">\n", "\t", "\x00", "'", '"', "…", "\ufeff", "- [a](b): c\n", "%YAML 1.2\n")
    ),
    max_size=20,
).map("".join)  # fmt: skip
INPUTS = st.one_of(JSON.map(json.dumps), LINES).map(lambda text: text.encode("utf-8", "surrogatepass")) | st.binary(
    max_size=60
)


@pytest.mark.parametrize("target", TARGETS)
@settings(max_examples=examples(120))
@given(data=INPUTS)
@example(b"[" * 20_000)
@example(b'{"a":' * 20_000)
@example(b"- " * 20_000)
@example(b'{"id": 1, "result": NaN, "error": 1e999}')
@example(b'{"type": "\\ud800", "minimum": ' + b"9" * 4_400 + b"}")
@example(b"a: &a [*a]")
def test_a_reader_raises_nothing_but_skillgens_own_errors(target: str, data: bytes) -> None:
    """X-10, X-13: deep nesting, cycles, long numbers, NaN, lone surrogates, and nonsense."""
    TARGETS[target](data)
