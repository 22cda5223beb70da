"""Two-stage descriptions: ask and read.

Recognises a server that describes its tools in two stages (seed 003), and reads the second of them.

No I/O but `resources/read` on the session that listed the tools: what is read there authorises the tools there.

Reads what a progressive server says in its second stage (seed 003), and tells how far it conforms.
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
"""Characters of one address with the names of tools in it."""

_NAMES_AT_ONCE = 100

_NAME = re.compile(r"\btool[ _-]?descriptions?\b", re.IGNORECASE)

ERROR_CODES = ("MISSING_TOOL_SELECTION", "TOOL_DESCRIPTION_REQUIRED")
"""Errors of the extension (seed 003, 6)."""


def descriptions_uri(results: Mapping[str, Json]) -> str | None:
    """Gives the URI of the resource that describes the tools, where a server shows one (seed 003, 4.1).

    Its path tells it, whatever its scheme. A name that tells it counts where the tools themselves say next to nothing.
    """
    found = list(_resources(results))
    for uri, _ in found:
        if _path_of(uri).endswith("/tool_descriptions"):
            return uri
    if not any(is_minimal(tool) for tool in _items(results, "tools/list", "tools")):
        return None
    return next((uri for uri, resource in found if _is_named(resource)), None)


def is_minimal(tool: Json) -> bool:
    """Tells whether an entry of `tools/list` leaves open what the tool takes (seed 003, 3.1)."""
    entry = as_dict(tool)
    schema = entry.get("inputSchema", entry.get("input_schema"))
    return schema is None or (
        isinstance(schema, dict)
        and not schema.keys() - {"type", "additionalProperties", "$schema"}
        and schema.get("additionalProperties", True) is True
        and schema.get("type", "object") == "object"
    )


def _is_named(resource: Json) -> bool:
    return any(_NAME.search(text_of(resource, key) or "") for key in ("name", "title"))


def uris_for(uri: str, names: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Gives addresses that together name all tools, each with its tools; one with a comma in its name stands alone."""
    batch: list[str] = []
    length = 0
    for name in names:
        part = _quoted(name)
        is_full = length + len(part) + 1 > _URI_LIMIT or len(batch) >= _NAMES_AT_ONCE
        if batch and (is_full or "," in name):
            yield _uri(uri, batch), tuple(batch)
            batch, length = [], 0
        if "," in name:
            yield _uri(uri, [name]), (name,)
            continue
        batch.append(name)
        length += len(part) + 1
    if batch:
        yield _uri(uri, batch), tuple(batch)


def read_descriptions(
    session: Session, uri: str, names: Sequence[str], log: ProblemLog, secrets: Secrets
) -> dict[str, Json]:
    """Reads the descriptions of tools, and gives name to description, raw; what failed is reported.

    Names are asked for in batches; those of a batch that failed, one by one (seed 003, 4.3).
    """
    reader = _Reader(session, uri, log, secrets)
    batches = list(uris_for(uri, names))
    answers = session.request_all([Request(READ, {"uri": address}) for address, _ in batches])
    failed: list[str] = []
    for (address, asked), answer in zip(batches, answers, strict=True):
        if not reader.take(answer, asked, address, is_last=len(asked) == 1):
            failed += asked if len(asked) > 1 else ()
    if failed and not reader.is_hopeless:
        reader.read_one_by_one(failed)
    return reader.found


class _Reader:
    """Gathers what the reads give."""

    def __init__(self, session: Session, uri: str, log: ProblemLog, secrets: Secrets) -> None:
        self.found: dict[str, Json] = {}
        self.is_hopeless = False
        self._session = session
        self._uri = uri
        self._log = log
        self._secrets = secrets

    def read_one_by_one(self, names: Sequence[str]) -> None:
        """Reads single tools, the first of them alone: where that fails too, it is not the batch that was wrong."""
        addresses = [address for address, _ in (pair for name in names for pair in uris_for(self._uri, [name]))]
        first = self._session.request(Request(READ, {"uri": addresses[0]}))
        self.take(first, names[:1], addresses[0], is_last=True)
        if self.is_hopeless:
            return
        answers = self._session.request_all([Request(READ, {"uri": address}) for address in addresses[1:]])
        for name, address, answer in zip(names[1:], addresses[1:], answers, strict=True):
            self.take(answer, (name,), address, is_last=True)

    def take(self, answer: Answer, asked: Sequence[str], address: str, *, is_last: bool) -> bool:
        """Takes one answer; tells whether it was one that can be used."""
        if (error := answer.failure) is not None:
            self.is_hopeless = self.is_hopeless or not isinstance(error, RpcError)
            message = _told(error) or str(error)
            if is_last or self.is_hopeless:
                self._report(address, self._secrets.excerpt(message))
            return False
        described, message = _described(answer.result)
        if described is None:
            if is_last:
                self._report(address, self._secrets.excerpt(message))
            return False
        self._keep(described, asked, address)
        return True

    def _keep(self, described: Mapping[str, Json], asked: Sequence[str], address: str) -> None:
        for name in asked:
            entry = as_dict(described.get(name))
            if not entry:
                self._report(address, f"the answer has nothing of {name[:80]!r}, which was asked for")
            elif "error" in entry and "inputSchema" not in entry:
                self._report(address, self._secrets.excerpt(_message_of(entry["error"])))
            else:
                self.found[name] = entry
        extra = [name for name in described if name not in asked]
        if extra:
            self._log.warning(
                "tool-description-extra",
                address,
                f"the answer holds {len(extra)} tools that were not asked for, such as {extra[0][:80]!r}",
                "give only what the address names (progressive disclosure, 4.4)",
            )

    def _report(self, address: str, message: str) -> None:
        self._log.warning("tool-description-failed", address, f"a description could not be read: {message}")


def _described(result: Json) -> tuple[dict[str, Json] | None, str]:
    """Reads name to description from the contents of a resource; else gives why there is none."""
    if as_dict(result).get("isError") is True:
        return None, _error_in_texts(as_list(as_dict(result).get("content"))) or "the server answers with an error"
    contents = as_list(as_dict(result).get("contents")) or as_list(as_dict(result).get("content"))
    found: dict[str, Json] = {}
    message = "the answer has no text"
    for item in contents:
        data = _json_of(item)
        if not isinstance(data, dict):
            message = "the text is no JSON object" if text_of(item, "text") else message
        elif (told := _error_of(data)) is not None:
            return None, told
        else:
            found.update(data)
    return (found, "") if found else (None, message)


def _json_of(item: Json) -> Json:
    text = text_of(item, "text")
    try:
        return json.loads(text) if text is not None else None
    except (ValueError, RecursionError):
        return None


def _error_of(data: Mapping[str, Any]) -> str | None:
    """Gives the message of an error object of the extension: `{"error": {"code": …, "message": …}}`."""
    error = data.get("error")
    if isinstance(error, dict) and ("code" in error or "message" in error):
        return f"{error.get('code', '')}: {error.get('message', '')}".strip(": ")
    # A tool may be called `error`; then it is described by an object.
    return error if isinstance(error, str) and set(data) <= {"error", "available_tools", "code", "message"} else None


def _error_in_texts(items: Sequence[Json]) -> str | None:
    for item in items:
        data = _json_of(item)
        if isinstance(data, dict) and (told := _error_of(data)) is not None:
            return told
    return next((text for item in items if (text := text_of(item, "text")) is not None), None)


def _told(error: BaseException) -> str | None:
    """Gives what a JSON-RPC error says in the words of the extension, where it does: in its data or its message."""
    if not isinstance(error, RpcError):
        return None
    for data in (error.data, as_dict(error.data).get("data"), _json_of({"text": error.message})):
        if isinstance(data, dict):
            if (told := _error_of(data)) is not None:
                return told
            if data.get("code") in ERROR_CODES:
                return f"{data['code']}: {data.get('message', error.message)}"
    return None


def _message_of(error: Json) -> str:
    if isinstance(error, dict):
        return f"{error.get('code', '')}: {error.get('message', '')}".strip(": ") or "an error"
    return str(error)


def _resources(results: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
    """Gives resources by their URIs without a query, and templates by what stands before their variables."""
    for resource in _items(results, "resources/list", "resources"):
        if (uri := text_of(resource, "uri")) is not None:
            yield uri.partition("?")[0], resource
    for template in _items(results, "resources/templates/list", "resourceTemplates"):
        if (uri := text_of(template, "uriTemplate")) is not None:
            yield re.split(r"[?{]", uri)[0], template


def _items(results: Mapping[str, Json], method: str, key: str) -> Iterator[Json]:
    for page in as_list(results.get(method)):
        yield from as_list(as_dict(page).get(key))


def _path_of(uri: str) -> str:
    try:
        parts = urlsplit(uri)
    except ValueError:
        return ""
    return f"{'/' if parts.netloc else ''}{parts.netloc}{parts.path}".rstrip("/")


def _uri(uri: str, names: Sequence[str]) -> str:
    return f"{uri}?tools={','.join(_quoted(name) for name in names)}"


def _quoted(name: str) -> str:
    # What names of tools are made of stays as it is: servers compare the text (seed 003, 4.3).
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
"""What the extension itself defines (seed 003, 6)."""

_NEEDS_A_CALL = "it needs a call of a tool, which skillgen does not make"


class Disclosed:
    """The second stage of one server; empty for a server that has none."""

    def __init__(self, results: Mapping[str, Json], problems: ProblemLog) -> None:
        read = as_dict(results.get(READ))
        self._results = results
        self._problems = problems
        self._uri = text_of(read, "uri") or descriptions_uri(results)
        self._was_read = bool(read)
        self._tools = as_dict(read.get("tools"))

    def description(self, name: str) -> FieldReader | None:
        """Gives the description of a tool that was read."""
        raw = self._tools.get(name)
        if not isinstance(raw, dict):
            return None
        fields = FieldReader(raw, child("", READ, "tools", name), "entry", self._problems)
        fields.ignore("name")
        return fields

    def is_undescribed(self, name: str) -> bool:
        """True if the server describes its tools in a second stage, and this tool's description was not read."""
        return self._uri is not None and not isinstance(self._tools.get(name), dict)

    def disclosure(self, entries: Sequence[tuple[str, FieldReader]], protocol_version: str | None) -> Disclosure | None:
        """Tells how the tools of this server are described, if it is a progressive one."""
        if self._uri is None:
            return None
        if protocol_version is not None and protocol_version >= "2026-07-28":
            self._problems.warning(
                "disclosure-without-session",
                "resources/list",
                f"Revision {protocol_version} has no sessions, but progressive disclosure authorises tools for one.",
                "offer `io.modelcontextprotocol/groups` there",
            )
        undescribed = tuple(name for name, _ in entries if name not in self._tools)
        criteria = tuple(self._criteria([entry.raw for _, entry in entries], undescribed))
        for criterion in criteria:
            if criterion.outcome == "not met":
                self._problems.info(
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
        yield _criterion(
            1,
            "minimal descriptions stand in tools/list",
            not detailed,
            f"{len(detailed)} of {len(entries)} tools have a schema there, such as {detailed[0][:60]}"
            if detailed
            else None,
        )
        yield _criterion(2, "a tool_descriptions resource stands in resources/list", True, None)
        if not self._was_read:
            for number, text in ((3, "the resource accepts tools"), (4, "it returns full descriptions")):
                yield Criterion(number=number, text=text, outcome="not checked", note="the descriptions were not read")
        else:
            few = ", ".join(undescribed[:3])
            yield _criterion(3, "the resource accepts tools", bool(self._tools), "no read gave a description")
            partial = [name for name, raw in self._tools.items() if not {"description", "inputSchema"} <= raw.keys()]
            lacking = (
                f"without a description or inputSchema: {', '.join(partial[:3])}" if partial else f"missing: {few}"
            )
            yield _criterion(4, "it returns full descriptions", not undescribed and not partial, lacking)
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
            yield Criterion(number=number, text=text, outcome="not checked", note=_NEEDS_A_CALL)


def guidance_from(
    described: FieldReader | None, problems: ProblemLog
) -> tuple[tuple[Section, ...], tuple[ErrorCase, ...]]:
    """Reads `usage_guidance` and `error_guidance`, whose shape is left open (seed 003, 4.4)."""
    if described is None:
        return (), ()
    sections: list[Section] = []
    cases: tuple[ErrorCase, ...] = ()
    for key, title in (("usage_guidance", "Usage"), ("error_guidance", "When it fails")):
        raw = described.raw.get(key)
        if key == "error_guidance" and is_catalogue(raw):
            cases = tuple(error_cases(described, key, problems))
        elif raw is not None and (body := as_markdown(raw)):
            described.ignore(key)
            sections.append(Section(title=title, body=body))
    return tuple(sections), cases


def _criterion(number: int, text: str, is_met: bool, note: str | None) -> Criterion:
    return Criterion(number=number, text=text, outcome="met" if is_met else "not met", note=None if is_met else note)
