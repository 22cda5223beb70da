"""Progressive disclosure (seed 003): the tools are listed without schemas, and a resource describes them.

The descriptions are read in the session that listed the tools, because reading them authorises the tools there. The
criteria of the extension that need no call of a tool are checked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlsplit

from skillgen.errors import ProblemLog
from skillgen.model.calls import ErrorCase
from skillgen.model.resource import Criterion, Disclosure, Section
from skillgen.model.values import Json, child
from skillgen.security.secrets import Secrets
from skillgen.sources.json_access import as_dict, as_list, text_of
from skillgen.sources.mcp.ai_help import as_markdown
from skillgen.sources.mcp.entries import error_cases, is_catalogue
from skillgen.sources.mcp.fields import FieldReader
from skillgen.sources.mcp.jsonrpc import RpcError
from skillgen.sources.mcp.session import Answer, Request, Session

READ = "resources/read"

_URI_LIMIT = 2_000
"""Maximum number of characters of a URI that names tools."""

_MAX_NAMES = 100
"""Maximum number of tools that one URI names."""

_RESOURCE_NAME = re.compile(r"\btool[ _-]?descriptions?\b", re.IGNORECASE)

ERROR_CODES = ("MISSING_TOOL_SELECTION", "TOOL_DESCRIPTION_REQUIRED")
"""Errors of the extension (seed 003, 6)."""


def descriptions_uri(results: Mapping[str, Json]) -> str | None:
    """Returns the URI of the resource that describes the tools, if the server lists one (seed 003, 4.1).

    It is recognised by its path, with any scheme; if tools have no schema, also by its name.
    """
    resources = list(_resources(results))
    for uri, _ in resources:
        if _uri_path(uri).endswith("/tool_descriptions"):
            return uri
    if not any(is_minimal(tool) for tool in _list_items(results, "tools/list", "tools")):
        return None
    return next((uri for uri, resource in resources if _has_describing_name(resource)), None)


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


def _has_describing_name(resource: Json) -> bool:
    return any(_RESOURCE_NAME.search(text_of(resource, key) or "") for key in ("name", "title"))


def uris_for(uri: str, names: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yields URIs that together name all tools, each with its tools. A name with a comma gets its own URI."""
    batch: list[str] = []
    length = 0
    for name in names:
        part = _quote_name(name)
        is_full = length + len(part) + 1 > _URI_LIMIT or len(batch) >= _MAX_NAMES
        if batch and (is_full or "," in name):
            yield _uri_with_names(uri, batch), tuple(batch)
            batch, length = [], 0
        if "," in name:
            yield _uri_with_names(uri, [name]), (name,)
            continue
        batch.append(name)
        length += len(part) + 1
    if batch:
        yield _uri_with_names(uri, batch), tuple(batch)


def read_descriptions(
    session: Session, uri: str, names: Sequence[str], log: ProblemLog, secrets: Secrets
) -> dict[str, Json]:
    """Reads the descriptions of tools: name to raw description. Failures are reported.

    Tools are read in batches; those of a failed batch, one by one (seed 003, 4.3).
    """
    reader = _DescriptionReader(session, uri, log, secrets)
    batches = list(uris_for(uri, names))
    answers = session.request_all([Request(READ, {"uri": batch_uri}) for batch_uri, _ in batches])
    failed: list[str] = []
    for (batch_uri, requested), answer in zip(batches, answers, strict=True):
        if not reader.take(answer, requested, batch_uri, is_last=len(requested) == 1):
            failed += requested if len(requested) > 1 else ()
    if failed and not reader.is_lost:
        reader.read_one_by_one(failed)
    return reader.descriptions


class _DescriptionReader:
    def __init__(self, session: Session, uri: str, log: ProblemLog, secrets: Secrets) -> None:
        self.descriptions: dict[str, Json] = {}
        self.is_lost = False
        """True if the server no longer answers."""
        self._session = session
        self._uri = uri
        self._log = log
        self._secrets = secrets

    def read_one_by_one(self, names: Sequence[str]) -> None:
        """Reads single tools, at first only one: the server may no longer answer."""
        uris = [_uri_with_names(self._uri, [name]) for name in names]
        first = self._session.request(Request(READ, {"uri": uris[0]}))
        self.take(first, names[:1], uris[0], is_last=True)
        if self.is_lost:
            return
        answers = self._session.request_all([Request(READ, {"uri": uri}) for uri in uris[1:]])
        for name, uri, answer in zip(names[1:], uris[1:], answers, strict=True):
            self.take(answer, (name,), uri, is_last=True)

    def take(self, answer: Answer, requested: Sequence[str], uri: str, *, is_last: bool) -> bool:
        """Stores the descriptions of one answer; returns false if it is unusable."""
        if (error := answer.failure) is not None:
            self.is_lost = self.is_lost or not isinstance(error, RpcError)
            message = _extension_error(error) or str(error)
            if is_last or self.is_lost:
                self._report(uri, self._secrets.excerpt(message))
            return False
        descriptions, message = _descriptions_from_result(answer.result)
        if descriptions is None:
            if is_last:
                self._report(uri, self._secrets.excerpt(message))
            return False
        self._store(descriptions, requested, uri)
        return True

    def _store(self, descriptions: Mapping[str, Json], requested: Sequence[str], uri: str) -> None:
        for name in requested:
            entry = as_dict(descriptions.get(name))
            if not entry:
                self._report(uri, f"the answer omits {name[:80]!r}, which was requested")
            elif "error" in entry and "inputSchema" not in entry:
                self._report(uri, self._secrets.excerpt(_error_message(entry["error"])))
            else:
                self.descriptions[name] = entry
        extra = [name for name in descriptions if name not in requested]
        if extra:
            self._log.report(
                "tool-description-extra",
                uri,
                f"the answer contains {len(extra)} tools that were not requested, such as {extra[0][:80]!r}",
                "return only the tools that the URI names (progressive disclosure, 4.4)",
            )

    def _report(self, uri: str, message: str) -> None:
        self._log.report("tool-description-failed", uri, f"a description could not be read: {message}")


def _descriptions_from_result(result: Json) -> tuple[dict[str, Json] | None, str]:
    """Returns name to description from the contents of a resource, or the reason why they are missing."""
    if as_dict(result).get("isError") is True:
        return None, _error_in_texts(as_list(as_dict(result).get("content"))) or "the server answers with an error"
    contents = as_list(as_dict(result).get("contents")) or as_list(as_dict(result).get("content"))
    descriptions: dict[str, Json] = {}
    message = "the answer has no text"
    for item in contents:
        data = _json_of(item)
        if not isinstance(data, dict):
            message = "the text is not a JSON object" if text_of(item, "text") else message
        elif (error := _error_of(data)) is not None:
            return None, error
        else:
            descriptions.update(data)
    return (descriptions, "") if descriptions else (None, message)


def _json_of(item: Json) -> Json:
    text = text_of(item, "text")
    try:
        return json.loads(text) if text is not None else None
    except (ValueError, RecursionError):
        return None


def _error_of(data: Mapping[str, Any]) -> str | None:
    """Returns the message of an error object of the extension: `{"error": {"code": …, "message": …}}`."""
    error = data.get("error")
    if isinstance(error, dict) and ("code" in error or "message" in error):
        return f"{error.get('code', '')}: {error.get('message', '')}".strip(": ")
    # A tool may be named `error`; its description is an object.
    return error if isinstance(error, str) and set(data) <= {"error", "available_tools", "code", "message"} else None


def _error_in_texts(items: Sequence[Json]) -> str | None:
    for item in items:
        data = _json_of(item)
        if isinstance(data, dict) and (error := _error_of(data)) is not None:
            return error
    return next((text for item in items if (text := text_of(item, "text")) is not None), None)


def _extension_error(error: BaseException) -> str | None:
    """Returns the error of the extension in the data or the message of a JSON-RPC error, if any."""
    if not isinstance(error, RpcError):
        return None
    for data in (error.data, as_dict(error.data).get("data"), _json_of({"text": error.message})):
        if isinstance(data, dict):
            if (message := _error_of(data)) is not None:
                return message
            if data.get("code") in ERROR_CODES:
                return f"{data['code']}: {data.get('message', error.message)}"
    return None


def _error_message(error: Json) -> str:
    if isinstance(error, dict):
        return f"{error.get('code', '')}: {error.get('message', '')}".strip(": ") or "an error"
    return str(error)


def _resources(results: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
    """Yields resources with their URI without the query, and templates with the part before their variables."""
    for resource in _list_items(results, "resources/list", "resources"):
        if (uri := text_of(resource, "uri")) is not None:
            yield uri.partition("?")[0], resource
    for template in _list_items(results, "resources/templates/list", "resourceTemplates"):
        if (uri := text_of(template, "uriTemplate")) is not None:
            yield re.split(r"[?{]", uri)[0], template


def _list_items(results: Mapping[str, Json], method: str, key: str) -> Iterator[Json]:
    for page in as_list(results.get(method)):
        yield from as_list(as_dict(page).get(key))


def _uri_path(uri: str) -> str:
    try:
        parts = urlsplit(uri)
    except ValueError:
        return ""
    return f"{'/' if parts.netloc else ''}{parts.netloc}{parts.path}".rstrip("/")


def _uri_with_names(uri: str, names: Sequence[str]) -> str:
    return f"{uri}?tools={','.join(_quote_name(name) for name in names)}"


def _quote_name(name: str) -> str:
    # Characters of tool names stay unquoted, because servers compare the literal string (seed 003, 4.3).
    return quote(name, safe="-._~/:@!$'()*")


ERRORS = (
    ErrorCase(
        code="TOOL_DESCRIPTION_REQUIRED",
        description="The tool was called before its description was read in this session.",
        resolution="Read its description, then call it again.",
    ),
    ErrorCase(
        code="MISSING_TOOL_SELECTION",
        description="The descriptions were read without naming tools.",
        resolution="Name the tools in the query of the URI.",
    ),
)
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
            self._problems.report(
                "disclosure-without-session",
                "resources/list",
                f"Revision {protocol_version} has no sessions, but progressive disclosure authorises tools for one.",
                "offer `io.modelcontextprotocol/groups` there",
            )
        undescribed = tuple(name for name, _ in entries if name not in self._tools)
        criteria = tuple(self._criteria([entry.raw for _, entry in entries], undescribed))
        for criterion in criteria:
            if criterion.outcome == "not met":
                self._problems.report(
                    "disclosure-criterion-not-met",
                    "resources/list",
                    f"Criterion {criterion.number} of progressive disclosure: {criterion.text}: {criterion.note}",
                )
        return Disclosure(
            uri=self._uri, undescribed=undescribed, criteria=criteria, pointer=child("", "resources/list")
        )

    def _criteria(self, entries: Sequence[Json], undescribed: Sequence[str]) -> Iterator[Criterion]:
        """Checks the criteria that need no call (seed 003, 9)."""
        detailed = [str(as_dict(entry).get("name")) for entry in entries if not is_minimal(entry)]
        yield _checked_criterion(
            1,
            "tools/list has minimal descriptions",
            not detailed,
            f"{len(detailed)} of {len(entries)} tools have a schema there, such as {detailed[0][:60]}"
            if detailed
            else None,
        )
        yield _checked_criterion(2, "resources/list has a tool_descriptions resource", True, None)
        if not self._was_read:
            for number, text in ((3, "the resource accepts tools"), (4, "it returns full descriptions")):
                yield Criterion(number=number, text=text, outcome="not checked", note="the descriptions were not read")
        else:
            few = ", ".join(undescribed[:3])
            yield _checked_criterion(
                3, "the resource accepts tools", bool(self._tools), "no read returned a description"
            )
            partial = [name for name, raw in self._tools.items() if not {"description", "inputSchema"} <= raw.keys()]
            lacking = (
                f"without a description or inputSchema: {', '.join(partial[:3])}" if partial else f"missing: {few}"
            )
            yield _checked_criterion(4, "it returns full descriptions", not undescribed and not partial, lacking)
        yield Criterion(
            number=5,
            text="a read without tools returns MISSING_TOOL_SELECTION",
            outcome="not checked",
            note="skillgen never reads the resource without naming tools",
        )
        for number, text in (
            (6, "authorization is enforced"),
            (7, "a call without reading returns TOOL_DESCRIPTION_REQUIRED"),
            (8, "authorization is isolated in its session"),
        ):
            yield Criterion(number=number, text=text, outcome="not checked", note="skillgen calls no tools")


def guidance_from(described: FieldReader | None) -> tuple[tuple[Section, ...], tuple[ErrorCase, ...]]:
    """Reads `usage_guidance` and `error_guidance`; their shape is not specified (seed 003, 4.4)."""
    sections: list[Section] = []
    cases: tuple[ErrorCase, ...] = ()
    for key, title in (("usage_guidance", "Usage"), ("error_guidance", "When it fails")):
        raw = described.raw.get(key) if described is not None else None
        if described is not None and key == "error_guidance" and is_catalogue(raw):
            cases = tuple(error_cases(described, key))
        elif described is not None and (body := as_markdown(raw)):
            described.ignore(key)
            sections.append(Section(title=title, body=body))
    return tuple(sections), cases


def _checked_criterion(number: int, text: str, is_met: bool, note: str | None) -> Criterion:
    return Criterion(number=number, text=text, outcome="met" if is_met else "not met", note=None if is_met else note)
