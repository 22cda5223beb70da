"""Checks a skill without an agent: its example calls, and the way to each tool."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from skillgen.evals.grading import Assertion
from skillgen.mock.api import request_of_command
from skillgen.mock.log import CallLog
from skillgen.mock.mcp import McpMock, McpSession
from skillgen.mock.serving import mock_of
from skillgen.model.service import Service
from skillgen.model.values import Json
from skillgen.sources.documents import text_of_file
from skillgen.sources.json_access import json_or_none
from skillgen.write.files import is_below

if TYPE_CHECKING:
    from markdown_it.token import Token

_READS = 2
"""Pages that an agent reads after SKILL.md, at the most."""

_PAGES_LIMIT = 5_000
_PAGE_LIMIT_BYTES = 4 * 1024 * 1024
_LABEL = "Example:"


def check_static(skill: Path, service: Service, results: Mapping[str, Json] | None) -> dict[str, list[Assertion]]:
    """Returns the checks that need no agent: the name of each to its results."""
    examples: dict[str, str | None] = {}
    for tokens in _pages(skill):
        _collect_examples(tokens, "json" if service.kind == "mcp" else "sh", examples)
    return {
        "example calls": list(_check_examples(service, results, examples)),
        "two reads": list(_check_headings(service, examples)),
    }


# -- documents ---------------------------------------------------------------------------------------------------------


def _pages(skill: Path) -> Iterator[Sequence[Token]]:
    """Yields the tokens of the pages that are reached from SKILL.md within the number of reads."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark")
    root = skill.resolve()
    waiting, seen = [(root / "SKILL.md", 0)], {root / "SKILL.md"}
    for path, reads in waiting:
        text = text_of_file(path) if is_below(path, root) else None
        if text is None:
            continue
        tokens = parser.parse(text[:_PAGE_LIMIT_BYTES])
        yield tokens
        if reads == _READS:
            continue
        for link in _links(tokens):
            target = (path.parent / unquote(link.partition("#")[0])).resolve()
            if target not in seen and target.is_relative_to(root) and len(seen) < _PAGES_LIMIT and target.is_file():
                seen.add(target)
                waiting.append((target, reads + 1))


def _links(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        for child in token.children or ():
            if child.type == "link_open" and not urlsplit(str(child.attrs["href"])).scheme:
                yield str(child.attrs["href"])


def _collect_examples(tokens: Sequence[Token], language: str, examples: dict[str, str | None]) -> None:
    """Collects for each heading the first code block in a language after the word "Example" below it."""
    heading = label = previous = ""
    for token in tokens:
        if token.type == "inline":
            label = _shown(token)
        if token.type == "inline" and previous == "heading_open":
            heading = label
            examples.setdefault(heading, None)
        elif token.type == "fence" and token.info == language and label.startswith(_LABEL):
            examples[heading] = examples.get(heading) or token.content
        previous = token.type


def _shown(token: Token) -> str:
    return "".join(
        child.content for child in token.children or () if child.type in ("text", "code_inline", "text_special")
    )


# -- checks ------------------------------------------------------------------------------------------------------------


def _check_headings(service: Service, headings: Mapping[str, object]) -> Iterator[Assertion]:
    for tool in service.tools:
        found = tool.name in headings
        evidence = "its section is there" if found else f"no page within {_READS} reads of SKILL.md has its heading"
        yield Assertion(tool.name, found, evidence)


def _check_examples(
    service: Service, results: Mapping[str, Json] | None, examples: Mapping[str, str | None]
) -> Iterator[Assertion]:
    log = CallLog(keeps=True)
    mock = mock_of(service, results, log, allows_placeholders=True)
    for tool in service.tools:
        if (example := examples.get(tool.name)) is None:
            continue
        log.calls.clear()
        try:
            if isinstance(mock, McpMock):
                _call(mock, tool.name, json_or_none(example))
            else:
                mock.respond(request_of_command(example))
        except ValueError as error:
            yield Assertion(tool.name, False, f"the example cannot be read: {error}")
            continue
        call = log.calls[-1] if log.calls else None
        if call is None or call.tool != tool.name:
            yield Assertion(tool.name, False, f"the example calls {(call.tool if call else None) or 'no tool'}")
        else:
            faults = "; ".join(f"{fault.pointer or '/'} {fault.message}" for fault in call.faults)
            yield Assertion(tool.name, call.valid, faults[:500] or "accepted")


def _call(mock: McpMock, name: str, arguments: Json) -> None:
    if not isinstance(arguments, dict):
        raise ValueError("it is not a JSON object")
    call = {"method": "tools/call", "params": {"name": name, "arguments": arguments}}
    mock.answer({"jsonrpc": "2.0", "id": 1, **call}, McpSession(described={name}))
