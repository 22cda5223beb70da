"""Progressive disclosure (seed 003): the tools are listed without schemas, and a resource describes them.

The descriptions are read in the session that listed the tools, because reading them authorises the tools there. The
criteria of the extension that need no call of a tool are checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from skillgen.errors import ProblemLog
from skillgen.model.calls import ErrorCase
from skillgen.model.resource import Criterion, Disclosure, Section, SectionKind
from skillgen.model.values import Json, child
from skillgen.security.secrets import Secrets
from skillgen.sources.json_access import as_dict, as_list, json_or_none, page_items, text_of
from skillgen.sources.mcp.ai_help import as_markdown
from skillgen.sources.mcp.fields import FieldReader, error_cases, is_catalogue
from skillgen.sources.mcp.session import LISTS, Answer, RpcError, Session

READ = "resources/read"

_URI_LIMIT = 2_000
"""Maximum number of characters of a URI that names tools."""

_MAX_NAMES = 100
"""Maximum number of tools that one URI names."""

_RESOURCE_NAME = re.compile(r"\btool[ _-]?descriptions?\b|\bdescriptions? of (?:the |all )?tools\b", re.IGNORECASE)

_ERROR_CODES = ("TOOL_DESCRIPTION_REQUIRED", "MISSING_TOOL_SELECTION")
"""Errors of the extension (seed 003, 6)."""

_ERROR_KEYS = {"error", "available_tools", "code", "message"}


def descriptions_uri(results: Mapping[str, Json]) -> str | None:
    """Returns the URI of the resource that describes the tools, if the server lists one (seed 003, 4.1).

    It is recognised by its path, with any scheme; if tools have no schema, also by its name.
    """
    resources = list(_resources(results))
    for uri, _ in resources:
        if re.search(r"(?:^|[/:])tool_descriptions/*(?:#|\Z)", uri):
            return uri
    if not any(map(is_minimal, page_items(results.get("tools/list"), "tools"))):
        return None
    names = ((uri, text_of(resource, key) or "") for uri, resource in resources for key in ("name", "title"))
    return next((uri for uri, name in names if _RESOURCE_NAME.search(name)), None)


def is_minimal(tool: Json) -> bool:
    """True if an entry of `tools/list` does not describe the parameters of the tool (seed 003, 3.1)."""
    entry = as_dict(tool)
    schema = entry.get("inputSchema", entry.get("input_schema"))
    return schema is None or (
        isinstance(schema, dict)
        and not schema.keys() - {"type", "additionalProperties", "$schema"}
        and schema.get("additionalProperties", True) is True
        and schema.get("type", "object") == "object"
    )


def uris_for(uri: str, names: Iterable[str]) -> list[tuple[str, tuple[str, ...]]]:
    """Returns URIs that together name all tools, each with its tools. A name with a comma gets its own URI."""
    batches: list[dict[str, str]] = [{}]
    for name in names:
        # Characters of tool names stay unquoted, because servers compare the literal string (seed 003, 4.3).
        last, quoted = batches[-1], quote(name, safe="-._~/:@!$'()*")
        is_full = len(last) >= _MAX_NAMES or len(",".join((*last.values(), quoted))) >= _URI_LIMIT
        if last and (is_full or any("," in item for item in (name, *last))):
            batches.append({})
        batches[-1][name] = quoted
    return [(f"{uri}?tools={','.join(batch.values())}", tuple(batch)) for batch in batches if batch]


def read_descriptions(
    session: Session, uri: str, names: Sequence[str], log: ProblemLog, secrets: Secrets
) -> dict[str, Json]:
    """Reads the descriptions of tools: name to raw description. Failures are reported.

    Tools are read in batches; those of a failed batch, one by one (seed 003, 4.3).
    """
    descriptions: dict[str, Json] = {}
    batches = uris_for(uri, names)
    while batches:
        answers = session.request_all([(READ, {"uri": where}) for where, _ in batches])
        failed: list[str] = []
        for (where, wanted), answer in zip(batches, answers, strict=True):
            found = _descriptions_from(answer)
            if isinstance(found, str) and len(wanted) > 1 and isinstance(answer.failure, RpcError | None):
                failed += wanted
                continue
            described, flaws = ({}, [found]) if isinstance(found, str) else (found, [])
            for name in wanted if described else ():
                entry = as_dict(described.get(name))
                if not entry:
                    flaws.append(f"the answer omits {name[:80]!r}, which was requested")
                elif "error" in entry and "inputSchema" not in entry:
                    flaws.append(_error_in(entry) or "an error")
                else:
                    descriptions[name] = entry
            for flaw in flaws:
                message = f"a description could not be read: {secrets.excerpt(flaw)}"
                log.report("tool-description-failed", where, message)
            if extra := [name for name in described if name not in wanted]:
                message = f"the answer contains {len(extra)} tools that were not requested, such as {extra[0][:80]!r}"
                log.report("tool-description-extra", where, message)
        batches = [batch for name in failed for batch in uris_for(uri, [name])]
    return descriptions


def reading_tool(results: Mapping[str, Json]) -> str | None:
    """Returns the first tool that is declared to read only: a call of it is safe, whether the server refuses it."""
    tools = map(as_dict, page_items(results.get("tools/list"), "tools"))
    reading = (tool for tool in tools if as_dict(tool.get("annotations")).get("readOnlyHint") is True)
    return next(filter(None, (text_of(tool, "name") for tool in reading)), None)


def refusal_of(answer: Answer) -> str:
    """Returns why a read or a call is refused; empty if it is not."""
    found = _descriptions_from(answer)
    return found if isinstance(found, str) else ""


def _descriptions_from(answer: Answer) -> dict[str, Json] | str:
    """Returns name to description from the contents of a resource, or the reason why they are missing."""
    if isinstance(error := answer.failure, RpcError):
        return _error_in(error.data, as_dict(error.data).get("data"), error.message) or str(error)
    if answer.failure is not None:
        return str(answer.failure)
    result = as_dict(answer.result)
    items = as_list(result.get("contents")) or as_list(result.get("content"))
    texts = [text for item in items if (text := text_of(item, "text")) is not None]
    if (message := _error_in(*texts)) is not None or result.get("isError") is True:
        return message or next(iter(texts), "the server answers with an error")
    descriptions: dict[str, Json] = {}
    for text in texts:
        descriptions |= as_dict(json_or_none(text))
    return descriptions or ("the text is not a JSON object" if texts else "the answer has no text")


def _error_in(*values: Json) -> str | None:
    """Returns the message of the first value, also as a text, that is an error of the extension (seed 003, 6).

    It is `{"error": {"code": …, "message": …}}`, or has one of its codes. A tool may be named `error` as well.
    """
    for value in values:
        members = as_dict(json_or_none(value) if isinstance(value, str) else value)
        error = members.get("error", members if members.get("code") in _ERROR_CODES else None)
        if isinstance(error, dict) and not error.keys().isdisjoint(("code", "message")):
            return f"{error.get('code', '')}: {error.get('message', '')}".strip(": ") or "an error"
        if isinstance(error, str) and members.keys() <= _ERROR_KEYS:
            return error
    return None


def _resources(results: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
    """Yields resources with their URI without the query, and templates with the part before their variables."""
    for method, uri_key in (("resources/list", "uri"), ("resources/templates/list", "uriTemplate")):
        for resource in page_items(results.get(method), LISTS[method][1]):
            if (uri := text_of(resource, uri_key)) is not None:
                yield re.split(r"[?{]", uri)[0], resource


ERRORS = tuple(ErrorCase(code=code) for code in _ERROR_CODES)
"""Errors that the extension defines (seed 003, 6)."""


class DisclosedTools:
    """The descriptions of a progressive-disclosure server; empty for any other server."""

    def __init__(self, results: Mapping[str, Json], problems: ProblemLog) -> None:
        read = as_dict(results.get(READ))
        self._results = results
        self._problems = problems
        self._uri = text_of(read, "uri") or descriptions_uri(results)
        self._was_read = bool(read)
        self._tools = as_dict(read.get("tools"))
        self._refusals = as_dict(read.get("refusals"))

    def description(self, name: str) -> FieldReader | None:
        """Returns the description of a tool, if it was read."""
        raw = self._tools.get(name)
        if not isinstance(raw, dict):
            return None
        fields = FieldReader(raw, child("", READ, "tools", name), "entry", self._problems)
        fields.ignore("name")
        return fields

    def is_undescribed(self, name: str) -> bool:
        """True if the server describes its tools in a resource, and this tool's description was not read."""
        return self._uri is not None and not isinstance(self._tools.get(name), dict)

    def disclosure(self, entries: Sequence[tuple[str, FieldReader]], protocol_version: str | None) -> Disclosure | None:
        """Returns how a progressive-disclosure server describes its tools, and reports the criteria that it misses."""
        if self._uri is None:
            return None
        if protocol_version is not None and protocol_version >= "2026-07-28":
            message = (
                f"Revision {protocol_version} has no sessions, but progressive disclosure authorises tools for one."
            )
            self._problems.report("disclosure-without-session", "resources/list", message)
        undescribed = tuple(name for name, _ in entries if name not in self._tools)
        criteria = tuple(self._criteria([entry.raw for _, entry in entries], undescribed))
        for criterion in criteria:
            if criterion.outcome == "not met":
                message = f"Criterion {criterion.number} of progressive disclosure: {criterion.text}: {criterion.note}"
                self._problems.report("disclosure-criterion-not-met", "resources/list", message)
        pointer = child("", "resources/list")
        return Disclosure(uri=self._uri, undescribed=undescribed, criteria=criteria, pointer=pointer)

    def _criteria(self, entries: Sequence[Json], undescribed: Sequence[str]) -> Iterator[Criterion]:
        """Checks the criteria (seed 003, 9); 5 to 8 by how the server refused what is not allowed, if tried."""
        detailed = [str(as_dict(entry).get("name")) for entry in entries if not is_minimal(entry)]
        partial = [key for key, raw in self._tools.items() if not {"description", "inputSchema"} <= as_dict(raw).keys()]
        lacking = f"{'without a description or inputSchema' if partial else 'missing'}: "
        shown = f"{len(detailed)} of {len(entries)} tools have a schema there, such as {''.join(detailed[:1])[:60]}"
        incomplete = f"{lacking}{', '.join((partial or undescribed)[:3])}" if partial or undescribed else ""
        unread = "" if self._was_read else "the descriptions were not read"
        untried = "" if self._refusals else "needs --call-undescribed, and a tool with readOnlyHint"
        before = self._flaw("before", 0)
        rows = (
            ("tools/list has minimal descriptions", "", shown if detailed else ""),
            ("resources/list has a tool_descriptions resource", "", ""),
            ("the resource accepts tools", unread, "" if self._tools else "no read returned a description"),
            ("it returns full descriptions", unread, incomplete),
            ("a read without tools returns MISSING_TOOL_SELECTION", untried, self._flaw("unnamed", 1)),
            ("authorization is enforced", untried, before),
            ("a call without reading returns TOOL_DESCRIPTION_REQUIRED", untried, before),
            ("authorization is isolated in its session", untried, self._flaw("elsewhere", 0)),
        )
        for number, (text, reason, flaw) in enumerate(rows, start=1):
            found: dict[str, Any] = {"outcome": "not checked" if reason else "not met" if flaw else "met"}
            yield Criterion(number=number, text=text, note=reason or flaw or None, **found)

    def _flaw(self, case: str, code: int) -> str:
        """Returns what is wrong with how a request was answered that one of the errors must refuse."""
        answer = str(self._refusals.get(case, ""))
        return "" if _ERROR_CODES[code] in answer else f"the answer is {answer[:80] or 'a result'!r}"


def guidance_from(described: FieldReader) -> tuple[tuple[Section, ...], tuple[ErrorCase, ...]]:
    """Reads `usage_guidance` and `error_guidance`; their shape is not specified (seed 003, 4.4)."""
    sections: list[Section] = []
    cases: tuple[ErrorCase, ...] = ()
    kinds: tuple[tuple[str, SectionKind], ...] = (("usage_guidance", "usage"), ("error_guidance", "failures"))
    for key, kind in kinds:
        raw = described.raw.get(key)
        if key == "error_guidance" and is_catalogue(raw):
            cases = tuple(error_cases(described, key))
        elif body := as_markdown(raw[0] if isinstance(raw, list) and len(raw) == 1 else raw):
            described.ignore(key)
            sections.append(Section(kind=kind, body=body))
    return tuple(sections), cases
