"""Crawls an MCP server: sends every request that lists what the server offers, and returns the results raw.

The results are not interpreted here, and not parsed by the typed models of the SDK, which drop unknown fields, where
extensions live. No tool is called, except `get_manifest` and `ai_help` on request.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
from collections.abc import Callable, Iterator
from datetime import datetime, timezone

from skillgen.errors import ProblemLog
from skillgen.model.values import Json, child
from skillgen.security.secrets import (
    HIDDEN_IN_URL,
    Secrets,
    is_loopback,
    report_echoed_secrets,
    report_url_secret,
    without_own_folders,
)
from skillgen.sources.json_access import as_dict, as_list, json_or_none, page_items, resolve_marks, strings_in, text_of
from skillgen.sources.mcp import progressive
from skillgen.sources.mcp import session as rpc
from skillgen.sources.mcp.connect import crawl_error, opened, with_token
from skillgen.sources.mcp.process import StdioConnection
from skillgen.sources.mcp.target import Crawl as Crawl
from skillgen.sources.mcp.target import ServerTarget, find_manifest
from skillgen.text import lazy_re as re

_HELP_KEYS = ("content", "metadata", "sections")

_PAGES_LIMIT = 1_000
_GROUPS_LIMIT = 500
_FILES_LIMIT = 2_000
_FILE_LIMIT_BYTES = 1024 * 1024
_ALL_FILES_LIMIT_BYTES = 16 * 1024 * 1024
_CUT = "Reading it took too long; only the pages that arrived are documented."

_NOT_FOUND = (-32601, -32602)
"""Codes with which servers reject unknown methods."""

_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ][\d:.,Z+-]*)?\Z")
"""A date, or a date with a time (ISO 8601)."""

_INVALID_REQUEST = -32600
"""Code with which some servers reject methods that are not part of the protocol."""


@contextlib.contextmanager
def crawled_session(
    target: ServerTarget, progress: Callable[[str], None], *, cancel_token: rpc.CancelToken | None = None
) -> Iterator[tuple[Crawl, rpc.Session]]:
    """Crawls a server, and keeps the connection open while the block runs, for calls of its tools.

    Raises:
        SourceError: the server cannot be reached, or does not list its tools.
        ConnectionLost: the crawl was cancelled.
    """
    target = with_token(target)
    secrets, token = target.secrets(), cancel_token or rpc.CancelToken()
    with secrets.redact_errors(), opened(target, secrets, progress, token) as (transport, session, second):
        reader = _CrawlReader(target, session, secrets)
        results = reader.read(progress)
        if refusals := as_dict(as_dict(results.get(progressive.READ)).get("refusals")):
            call: dict[str, Json] = {"name": progressive.reading_tool(results), "arguments": {}}
            with opened(target, secrets, progress, token) as (_, other, _):
                refusals["elsewhere"] = progressive.refusal_of(other.request("tools/call", call))
        if second is not None:
            results = {**second.results(session.handshake, reader.log), **results}
        log = reader.log
        _leave_out_today(results, log)
        redacted, repeated = secrets.hide_in(resolve_marks(dict(results), log))
        report_echoed_secrets(log, repeated)
        if target.url is None or is_loopback(target.url):
            redacted = without_own_folders(redacted, target.cwd)
        if HIDDEN_IN_URL in (target.public_url or ""):
            report_url_secret(log)
        crawl = Crawl(
            results=as_dict(redacted),
            protocol_version=session.handshake.version,
            transport=transport,
            url=target.public_url,
            problems=tuple(map(secrets.hide_in_problem, log)),
        )
        yield crawl, session


class _CrawlReader:
    """Reads what one server offers over an open session."""

    def __init__(self, target: ServerTarget, session: rpc.Session, secrets: Secrets) -> None:
        self.log = ProblemLog()
        self._target = target
        self._session = session
        self._secrets = secrets

    def read(self, progress: Callable[[str], None]) -> dict[str, Json]:
        """Returns method to raw result; for a list method, the list of its pages."""
        handshake = self._session.handshake
        results: dict[str, Json] = {handshake.method: handshake.result}
        progress("reading tools, resources and prompts")
        results |= self._read_lists()
        self._read_extensions(results, progress)
        progress("requesting ai_help")
        results |= self._read_ai_help(results)
        connection = self._session.connection
        if isinstance(connection, StdioConnection) and (stray := connection.stray_output()):
            self.log.report("output-not-protocol", "", stray)
        is_undecoded = any("\ufffd" in text for text in strings_in(results))
        for pointer, entry, text in _undecoded(results) if is_undecoded else ():
            self.log.report("text-not-decoded", pointer, f"A text of {entry} is not UTF-8: {text!r:.60}.")
        return results

    def _read_lists(self) -> dict[str, Json]:
        """Returns method to the pages of its list, as far as they arrived."""
        handshake = self._session.handshake
        declared = {method: handshake.declares(name) for method, (name, _) in rpc.LISTS.items()}
        wanted = {**declared, "tools/list": True}
        wanted["groups/list"] = declared["groups/list"] or handshake.declares(rpc.GROUPING)
        methods = [method for method, is_wanted in wanted.items() if is_wanted]
        # Over HTTP, one broken response closes the transport for all requests in flight: tools come first there.
        first = 1 if self._target.url is not None or not handshake.declares("tools") else 0
        results: dict[str, Json] = {}
        for concurrent in (methods[:first], methods[first:]):
            timeout_s = self._timeout_s(is_declared=any(declared[method] for method in concurrent))
            answers = self._session.request_all([(method, {}) for method in concurrent], timeout_s)
            for method, answer in zip(concurrent, answers, strict=True):
                pages, failure = self._read_list(method, answer, timeout_s)
                if failure is not None and declared[method]:
                    self._report(method, failure, has_pages=bool(pages))
                results |= {method: pages} if pages else {}
        return results

    def _read_list(self, method: str, answer: rpc.Answer, timeout_s: float) -> tuple[list[Json], BaseException | None]:
        """Reads a list until it is complete, fails or times out; returns its pages, and why it is incomplete.

        At the deadline of the crawl, the pages that have arrived remain.
        """
        items_key, pages, seen = rpc.LISTS[method][1], list[Json](), set[str]()
        while True:
            if isinstance(answer.failure, rpc.NoAnswer) and pages and not self._session.seconds_left():
                self.log.report("list-too-long", method, _CUT)
                return pages, None
            if answer.failure is not None:
                return pages, answer.failure
            page = answer.result
            kind = page.get("resultType", "complete") if isinstance(page, dict) else "null"
            if kind != "complete":
                message = f"A page has the result type {kind!r:.60} instead of complete"
                self.log.report("list-incomplete", method, f"{message}; skillgen answers no request for input.")
            if not isinstance(page, dict) or not isinstance(items := page.get(items_key), list):
                # An answer that asks for input first is reported above (2026-07-28, `InputRequiredResult`). Any other
                # one without tools is fatal; without another list the rest can be documented.
                is_fatal = method == "tools/list" and kind in ("complete", "null")
                return pages, rpc.RpcError(f"the answer has no list of {items_key}") if is_fatal else None
            # A cursor is opaque, and may be the empty string: only a missing one marks the last page. Some servers
            # mark the end with an empty one, then start again.
            cursor = page.get("nextCursor")
            if cursor is None and not pages:
                return [page], None
            page_mark, cursor_mark = json.dumps(items, sort_keys=True), f"at {json.dumps(cursor, sort_keys=True)}"
            if items and page_mark in seen:
                self.log.report("list-repeated", method, f"Page {len(pages) + 1} repeats an earlier page.")
                return pages, None
            pages.append(page)
            if cursor_mark in seen:
                self.log.report("list-repeated", method, f"Page {len(pages)} repeats an earlier cursor.")
            if cursor is None or cursor_mark in seen:
                return pages, None
            if len(pages) >= _PAGES_LIMIT or not self._session.seconds_left():
                too_many = f"The list has more than {_PAGES_LIMIT} pages; only these are read."
                self.log.report("list-too-long", method, too_many if len(pages) >= _PAGES_LIMIT else _CUT)
                return pages, None
            seen |= {page_mark, cursor_mark}
            answer = self._session.request(method, {"cursor": cursor}, timeout_s)

    def _report(self, method: str, error: BaseException, *, has_pages: bool) -> None:
        if method == "tools/list":
            symptoms = self._session.connection.symptoms()
            raise crawl_error(error, method, where=self._target.where, symptoms=symptoms, secrets=self._secrets)
        if isinstance(error, rpc.RpcError) and _is_unknown_method(error) and not has_pages:
            message = "The server declares this list, but does not know the method."
            self.log.report("list-not-offered", method, message)
        else:
            self._failed("list-failed", method, "The list could not be read completely", error)

    def _failed(self, code: str, where: str, what: str, reason: object) -> None:
        self.log.report(code, where, f"{what}: {self._secrets.excerpt(str(reason))}")

    def _read_extensions(self, results: dict[str, Json], progress: Callable[[str], None]) -> None:
        scope, session = self._target.scope, self._session
        if "groups/list" in results and session.handshake.declares(rpc.GROUPS):
            results["groups/get"] = self._read_groups(results["groups/list"])
        if scope.skill_files and "skills/list" in results:
            progress("reading skills")
            results["skills/files"] = self._read_skill_files(results["skills/list"])
        listed = (text_of(tool, "name") for tool in page_items(results.get("tools/list"), "tools"))
        names = list(dict.fromkeys(filter(None, listed)))
        if not scope.no_tool_descriptions and (uri := progressive.descriptions_uri(results)) is not None:
            progress("reading the descriptions of the tools")
            refusals: dict[str, Json] = {}
            if scope.call_undescribed and (tool := progressive.reading_tool(results)) is not None:
                call = {"name": tool, "arguments": {}}
                refusals["unnamed"] = progressive.refusal_of(session.request(progressive.READ, {"uri": uri}))
                refusals["before"] = progressive.refusal_of(session.request("tools/call", call))
            descriptions = progressive.read_descriptions(session, uri, names, self.log, self._secrets)
            results[progressive.READ] = {"uri": uri, "tools": descriptions, "refusals": refusals}
            message = "Reading the descriptions of the tools authorises the tools in that session."
            self.log.report("tools-authorised", uri, message)
        if scope.call_get_manifest and rpc.MANIFEST_TOOL not in names:
            message = f"The server has no tool {rpc.MANIFEST_TOOL}, so no service manifest was read."
            self.log.report("manifest-tool-missing", "tools/list", message)
        elif scope.call_get_manifest:
            progress(f"calling {rpc.MANIFEST_TOOL}")
            what = "The manifest could not be read"
            manifest = self._call(rpc.MANIFEST_TOOL, {}, find_manifest, "manifest-failed", what)
            results |= {"manifest": manifest} if manifest is not None else {}

    def _read_groups(self, pages: Json) -> list[Json]:
        """Fetches every group and nested group once: a list of `{"group": …, "result": …}`."""
        results: list[Json] = []
        seen: set[str] = set()
        pending = page_items(pages, "groups")
        while pending:
            level = []
            for group in pending:
                if (name := text_of(group, "name")) is not None and name not in seen:
                    seen.add(name)
                    level.append(group)
            if len(seen) > _GROUPS_LIMIT:
                message = f"The server has more than {_GROUPS_LIMIT} groups; only the first levels are read."
                self.log.report("groups-too-many", "groups/list", message)
                break
            answers = self._session.request_all([("groups/get", {"name": group["name"]}) for group in level])
            pending = []
            for group, answer in zip(level, answers, strict=True):
                if answer.failure is not None:
                    what = f"The group {group['name'][:80]!r} could not be read"
                    self._failed("group-failed", "groups/get", what, answer.failure)
                results.append({"group": group, "result": answer.result})
                pending += as_list(as_dict(as_dict(answer.result).get("contents")).get("groups"))
        return results

    def _read_skill_files(self, pages: Json) -> dict[str, Json]:
        """Reads the files of skills: URI to content for those with the declared size and digest.

        The list of files that are created on demand (`dynamic`) is fetched with `skills/get` first.
        """
        session, log = self._session, self.log
        declared: dict[str, dict[str, Json]] = {}
        for skill in map(as_dict, page_items(pages, "skills")):
            files = skill.get("resources")
            if not isinstance(files, list) and (uri := text_of(skill, "uri")) is not None:
                answer = session.request("skills/get", {"uri": uri})
                files = as_dict(as_dict(answer.result).get("skill")).get("resources")
                files = files if isinstance(files, list) else [{"uri": uri}]
            declared |= {uri: as_dict(item) for item in as_list(files) if (uri := text_of(item, "uri")) is not None}
        if len(declared) > _FILES_LIMIT:
            log.report("skill-files-too-many", "skills/list", f"Only {_FILES_LIMIT} of {len(declared)} files are read.")
        uris = list(declared)[:_FILES_LIMIT]
        texts: dict[str, Json] = {}
        total_bytes = 0
        answers = session.request_all([("resources/read", {"uri": uri}) for uri in uris])
        for uri, answer in zip(uris, answers, strict=True):
            content = _content(answer.result) if answer.failure is None else None
            if content is None:
                reason = answer.failure or "it has no content"
                self._failed("skill-file-failed", uri, "The file of a skill could not be read", reason)
                continue
            total_bytes += len(content)
            if (flaw := _flaw(content, declared[uri], total_bytes)) is not None:
                log.report("skill-file-refused", uri, f"The file of a skill is omitted: {flaw}")
                continue
            try:
                texts[uri] = content.decode("utf-8")
            except UnicodeDecodeError:
                log.report("skill-file-binary", uri, "The file of a skill is not text; only its name is documented.")
        return texts

    def _call(self, name: str, arguments: dict[str, Json], find: Callable[[Json], Json], code: str, what: str) -> Json:
        """Calls a tool; returns what `find` finds in its result, the most structured form first, or reports why not."""
        answer = self._session.request("tools/call", {"name": name, "arguments": arguments})
        result, reason = as_dict(answer.result), "the result of the tool contains no text of that form"
        if answer.failure is not None or result.get("isError") is True:
            result, reason = {}, str(answer.failure or "the result is an error")
        structured = as_dict(result.get("structuredContent"))
        texts = [text_of(item, "text") or "" for item in as_list(result.get("content"))]
        for form in (structured, structured.get("result"), *map(json_or_none, texts), result):
            if (found := find(form)) is not None:
                return found
        self._failed(code, name, what, reason)
        return None

    def _read_ai_help(self, results: dict[str, Json]) -> dict[str, Json]:
        """Requests the server's own documentation (dashdash, "AI Help Method"); few servers have it.

        It is the last request, because some servers crash at an unknown method.
        """
        what = "The server's own documentation could not be read"
        tools = map(as_dict, page_items(results.get("tools/list"), "tools"))
        tool = next((tool for tool in tools if tool.get("name") == rpc.AI_HELP), None)
        if self._target.scope.call_ai_help and tool is not None:
            known = as_dict(as_dict(tool.get("inputSchema")).get("properties"))
            params = {key: value for key, value in rpc.AI_HELP_PARAMS.items() if key in known and value is not None}
            text = self._call(rpc.AI_HELP, params, _help_in, "ai-help-missing", what)
            return {rpc.AI_HELP: text} if text is not None else {}
        if self._target.scope.call_ai_help:
            self.log.report("ai-help-missing", rpc.AI_HELP, f"The server has no tool {rpc.AI_HELP}.")
        is_declared = self._session.handshake.mentions_dashdash
        answer = self._session.request(rpc.AI_HELP, rpc.AI_HELP_PARAMS, self._timeout_s(is_declared=is_declared))
        if (error := answer.failure) is None:
            return {rpc.AI_HELP: answer.result}
        is_unknown = isinstance(error, rpc.RpcError) and (_is_unknown_method(error) or error.code == _INVALID_REQUEST)
        if is_declared or not is_unknown:
            self._failed("ai-help-missing", rpc.AI_HELP, what, error)
        return {}

    def _timeout_s(self, *, is_declared: bool) -> float:
        return self._target.timeout_s if is_declared else min(self._target.timeout_s, rpc.UNDECLARED_TIMEOUT_S)


def _leave_out_today(results: dict[str, Json], log: ProblemLog) -> None:
    """Removes defaults that are today's date or time, and dates next to one: they would differ in each run."""
    today = {datetime.now(zone).date().isoformat() for zone in (None, timezone.utc)}
    for tool in map(as_dict, page_items(results.get("tools/list"), "tools")):
        items = as_dict(as_dict(tool.get("inputSchema")).get("properties")).items()
        dated = {name: as_dict(item) for name, item in items if _DATE.match(text_of(item, "default") or "")}
        if any(str(item["default"])[:10] in today for item in dated.values()):
            for item in dated.values():
                del item["default"]
            name, names = str(tool.get("name")), ", ".join(dated)[:200]
            message = f"Defaults of {name!r:.80} are from the time of the run: {names}."
            log.report("default-of-run", "tools/list", message)


def _undecoded(value: Json, pointer: str = "", entry: str = "the server") -> Iterator[tuple[str, str, str]]:
    """Yields the pointer, the entry such as a tool, and each of its texts or keys that was not UTF-8."""
    if isinstance(value, str) and "\ufffd" in value:
        yield pointer, entry, value
    entry = text_of(value, "name") or text_of(value, "uri") or entry
    members = value.items() if isinstance(value, dict) else enumerate(as_list(value))
    for key, item in members:
        yield from _undecoded(key, pointer, entry)
        yield from _undecoded(item, child(pointer, key), entry)


def _help_in(item: Json) -> Json:
    return item if isinstance(item, str) or not as_dict(item).keys().isdisjoint(_HELP_KEYS) else None


def _is_unknown_method(error: rpc.RpcError) -> bool:
    return error.code in _NOT_FOUND or error.http_status == 404


def _content(result: Json) -> bytes | None:
    for item in as_list(as_dict(result).get("contents")):
        if isinstance(text := as_dict(item).get("text"), str):
            return text.encode("utf-8", "surrogatepass")
        if isinstance(blob := as_dict(item).get("blob"), str):
            try:
                return base64.b64decode(blob, validate=True)
            except ValueError:
                return None
    return None


def _flaw(content: bytes, declared: dict[str, Json], total_bytes: int) -> str | None:
    """Compares a file with the declared size and digest (SEP-2640, `SkillResource`)."""
    size, digest = declared.get("size"), declared.get("digest")
    if len(content) > _FILE_LIMIT_BYTES or total_bytes > _ALL_FILES_LIMIT_BYTES:
        return "it is too large"
    if isinstance(size, int) and not isinstance(size, bool) and size != len(content):
        return f"it has {len(content)} bytes instead of the declared {size}"
    if digest is not None and digest != f"sha256:{hashlib.sha256(content).hexdigest()}":
        return "its digest differs from the declared one"
    return None
