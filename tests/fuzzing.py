"""Readers of untrusted input, as fuzz targets: each takes bytes, and may raise nothing but skillgen's own errors.

`tests/fuzz.py` runs one guided by coverage with atheris (`make fuzz`); the tests run each for a bounded number of
inputs that hypothesis makes of fragments.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from skillgen.errors import ProblemLog, SkillgenError
from skillgen.model.value import Json
from skillgen.sources.document import Document
from skillgen.sources.infer import completed
from skillgen.sources.mcp.ai_help import ai_help_from_result
from skillgen.sources.mcp.connection import ConnectionLost
from skillgen.sources.mcp.service import service_from_crawl
from skillgen.sources.mcp.target import Crawl
from skillgen.sources.mcp.wire import error_from_answer, messages_in
from skillgen.sources.openapi.service import service_from_description
from skillgen.sources.screening import screened
from skillgen.sources.yaml_core import YamlError, parse_yaml


def read_yaml(data: bytes) -> None:
    try:
        parse_yaml(data.decode("utf-8", "replace"), ProblemLog())
    except (YamlError, SkillgenError):
        pass


def read_openapi(data: bytes) -> None:
    try:
        parsed = parse_yaml(data.decode("utf-8", "replace"), ProblemLog())
    except (YamlError, SkillgenError):
        return
    described = {"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "paths": parsed}
    for whole in (described, parsed if isinstance(parsed, dict) else {}, {**described, "paths": {"/a": parsed}}):
        try:
            document = Document(data=whole, size_bytes=len(data), name="fuzz")
            completed(screened(service_from_description(document, ProblemLog())))
        except SkillgenError:
            pass


def read_messages(data: bytes) -> None:
    for line in data.split(b"\n"):
        try:
            messages, _ = messages_in(line)
        except ConnectionLost:
            continue
        for message in messages:
            error_from_answer(message.get("error"))


def read_crawl(data: bytes) -> None:
    try:
        parsed: Json = json.loads(data)
    except (ValueError, RecursionError):
        return
    methods = ("initialize", "ai_help", "tools/list", "resources/list", "prompts/list")
    results = {method: [parsed] if method.endswith("/list") else parsed for method in methods}
    for found in (results, {**results, "tools/list": [{"tools": parsed if isinstance(parsed, list) else [parsed]}]}):
        crawl = Crawl(results=found, protocol_version="2025-06-18", transport="stdio", url=None)
        try:
            completed(screened(service_from_crawl(crawl)))
        except SkillgenError:
            pass


def read_ai_help(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    ai_help_from_result({"content": text}, ProblemLog())
    ai_help_from_result({"content": [{"type": "text", "text": text}], "format": "markdown"}, ProblemLog())


TARGETS: dict[str, Callable[[bytes], None]] = {
    "yaml": read_yaml,
    "openapi": read_openapi,
    "messages": read_messages,
    "crawl": read_crawl,
    "ai_help": read_ai_help,
}
