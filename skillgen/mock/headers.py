"""The headers of Streamable HTTP that repeat the body (2026-07-28, "Standard Headers", "Custom Headers")."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterator
from email.message import Message

from skillgen.mock.mcp import RequestError
from skillgen.model.serialization import value_text
from skillgen.model.values import Json
from skillgen.sources.json_access import as_dict
from skillgen.sources.mcp.session import MODERN_VERSION
from skillgen.sources.mcp.tools import HEADER_KEY, subschemas

_HEADER_MISMATCH = -32020

_NAMES = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""Method to the parameter that the header `Mcp-Name` repeats."""


def header_fault(
    headers: Message, message: dict[str, Json], input_schema: Callable[[str], Json]
) -> RequestError | None:
    """Returns the error of a request whose headers differ from its body; `input_schema` is that of a tool."""
    params, method = as_dict(message.get("params")), str(message.get("method"))
    expected = [("MCP-Protocol-Version", MODERN_VERSION), ("Mcp-Method", method)]
    if method in _NAMES:
        expected.append(("Mcp-Name", str(params.get(_NAMES[method]))))
    if method == "tools/call":
        expected += _argument_headers(input_schema(str(params.get("name"))), params.get("arguments"))
    for name, value in expected:
        sent = headers.get_all(name) or []
        if len(sent) != 1 or _decoded(sent[0].strip()) != value:
            found = f"is {sent[0]!r:.80}" if sent else "is missing"
            return RequestError(_HEADER_MISMATCH, f"Header mismatch: {name} {found}, but the body has {value!r:.80}")
    return None


def _argument_headers(schema: Json, arguments: Json) -> Iterator[tuple[str, str]]:
    """Yields the headers that repeat arguments, each with its value."""
    for path, part in subschemas(schema):
        if HEADER_KEY not in part or not path:
            continue
        value: Json = arguments
        for name in path:
            value = as_dict(value).get(name)
        if isinstance(value, (str, int, bool)):
            yield f"Mcp-Param-{part[HEADER_KEY]}", value_text(value)


def _decoded(text: str) -> str | None:
    """Returns the value of a header, which may be written as `=?base64?…?=`."""
    if not (text.startswith("=?base64?") and text.endswith("?=")):
        return text
    try:
        return base64.b64decode(text[9:-2], validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return None
