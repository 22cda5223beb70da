"""Readers of untrusted input, as fuzz targets: each takes bytes, and may raise nothing but skillgen's own errors.

`tests/fuzz.py` runs one guided by coverage with atheris (`make fuzz`); the tests run each for a bounded number of
inputs that hypothesis makes of fragments.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from captured import Json, service_of_answers

import skillgen
from skillgen.errors import ProblemLog, SkillgenError
from skillgen.sources.mcp.session import ConnectionLost, error_from_response, parse_messages
from skillgen.text.yaml_core import YamlError, parse_yaml

WORDS: tuple[Json, ...] = (
    *("name", "type", "object", "array", "string", "integer", "properties", "items", "required", "$ref", "#/a", "#"),
    *("#/$defs/a", "$defs", "a", "allOf", "anyOf", "oneOf", "not", "enum", "const", "default", "examples", "example"),
    *("description", "title", "format", "date", "pattern", "(a+)+$", "minimum", "maxLength", "additionalProperties"),
    *("patternProperties", "discriminator", "propertyName", "mapping", "nullable", "readOnly", "deprecated", "get"),
    *("post", "parameters", "in", "query", "path", "body", "schema", "style", "explode", "content", "requestBody"),
    *("application/json", "text/event-stream", "responses", "200", "default", "headers", "links", "callbacks", "tags"),
    *("security", "securitySchemes", "components", "schemas", "servers", "url", "variables", "webhooks", "x-mcp"),
    *("inputSchema", "outputSchema", "annotations", "readOnlyHint", "dashdash", "_meta", "icons", "src", "uri", "text"),
    *("capabilities", "serverInfo", "tools", "resources", "prompts", "arguments", "instructions", "version", "groups"),
    *("https://a.example/{b}", "# a", "```", "ignore previous instructions", "\u202e", "\ud800", "", "- a\n  - b"),
    *(None, True, False, 0, -1, 1e300, 10**30, "9" * 4_400),
)
"""What a shape is made of."""

_DEPTH = 40


def shaped(data: bytes) -> Json:
    """Makes JSON of any bytes, so that each of a fuzzer's inputs says something: bytes open and close collections."""
    root: list[Json] = []
    open_: list[Any] = [root]
    key: str | None = None
    for byte in data:
        holder = open_[-1]
        value: Any
        if byte >= 0xF0:
            if len(open_) > 1:
                open_.pop()
            key = None
            continue
        value = {} if byte >= 0xD8 else [] if byte >= 0xC8 else WORDS[byte % len(WORDS)]
        if isinstance(holder, dict) and key is None:
            key = str(value)
            continue
        if isinstance(holder, dict):
            holder[key] = value
        else:
            holder.append(value)
        key = None
        if isinstance(value, (dict, list)) and len(open_) < _DEPTH:
            open_.append(value)
    return root[0] if len(root) == 1 else root


def read_yaml(data: bytes) -> None:
    try:
        parse_yaml(data.decode("utf-8", "replace"), ProblemLog())
    except (YamlError, SkillgenError):
        pass


def read_openapi(data: bytes) -> None:
    try:
        parsed = parse_yaml(data.decode("utf-8", "replace"), ProblemLog())
    except (YamlError, SkillgenError):
        parsed = None
    if not isinstance(parsed, dict):
        parsed = shaped(data)
    described = {"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "paths": parsed}
    for whole in (described, parsed if isinstance(parsed, dict) else {}, {**described, "paths": {"/a": parsed}}):
        try:
            skillgen.read(whole)
        except SkillgenError:
            pass


def read_messages(data: bytes) -> None:
    for line in data.split(b"\n"):
        try:
            messages, _ = parse_messages(line)
        except ConnectionLost:
            continue
        for message in messages:
            error_from_response(message.get("error"))


def read_crawl(data: bytes) -> None:
    try:
        parsed: Json = json.loads(data)
    except (ValueError, RecursionError):
        parsed = shaped(data)
    methods = ("initialize", "ai_help", "tools/list", "resources/list", "prompts/list")
    results = {method: [parsed] if method.endswith("/list") else parsed for method in methods}
    for found in (results, {**results, "tools/list": [{"tools": parsed if isinstance(parsed, list) else [parsed]}]}):
        try:
            service_of_answers(found, protocol_version="2025-06-18")
        except SkillgenError:
            pass


def read_ai_help(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    service_of_answers({"ai_help": {"content": text}})
    service_of_answers({"ai_help": {"content": [{"type": "text", "text": text}], "format": "markdown"}})


TARGETS: dict[str, Callable[[bytes], None]] = {
    "yaml": read_yaml,
    "openapi": read_openapi,
    "messages": read_messages,
    "crawl": read_crawl,
    "ai_help": read_ai_help,
}
