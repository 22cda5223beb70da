"""Crawls an MCP server: sends every request that lists what the server offers, and returns the results raw.

The results are not interpreted here, and not parsed by the typed models of the SDK, which drop unknown fields, where
extensions live. No tool is called, except `get_manifest` and `ai_help` on request.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait

from skillgen.errors import ProblemLog, SourceError
from skillgen.model.values import Json, child
from skillgen.security.addresses import is_loopback
from skillgen.security.secrets import (
    HIDDEN_IN_URL,
    Secrets,
    replace_home_folders,
    report_echoed_secrets,
    report_url_secret,
)
from skillgen.sources.json_access import as_dict, page_items, text_of
from skillgen.sources.json_text import resolve_marks
from skillgen.sources.mcp import progressive
from skillgen.sources.mcp.connect import (
    SecondHandshake,
    attempts_for,
    crawl_error,
    with_exact_fix,
    with_token,
)
from skillgen.sources.mcp.extensions import (
    AI_HELP,
    GROUPING,
    GROUPS,
    MANIFEST_TOOL,
    SKILLS,
    call_ai_help,
    read_groups,
    read_manifest,
    read_skill_files,
)
from skillgen.sources.mcp.jsonrpc import Connection, ConnectionLost, RpcError
from skillgen.sources.mcp.session import AI_HELP_PARAMS, CancelToken, Handshake, NoAnswer, Session, negotiate
from skillgen.sources.mcp.stdio import StdioConnection
from skillgen.sources.mcp.target import Crawl, ServerTarget, Transport

__all__ = ["Crawl", "crawled_session"]

_LISTS = {
    "tools/list": ("tools", "tools"),
    "resources/list": ("resources", "resources"),
    "resources/templates/list": ("resources", "resourceTemplates"),
    "prompts/list": ("prompts", "prompts"),
    "skills/list": (SKILLS, "skills"),
    "groups/list": (GROUPS, "groups"),
}
"""Method to the capability or extension that declares it, and to the key of its items."""

_PAGES_LIMIT = 1_000
_CUT = "Reading it took too long; only the pages that arrived are documented."

_UNDECLARED_TIMEOUT_S = 3.0
"""How long to wait for the answer to a method that the server does not declare."""

_NOT_FOUND = (-32601, -32602)
"""Codes with which servers reject unknown methods."""

_INVALID_REQUEST = -32600
"""Code with which some servers reject methods that are not part of the protocol."""


@contextlib.contextmanager
def crawled_session(
    target: ServerTarget, progress: Callable[[str], None], *, cancel_token: CancelToken | None = None
) -> Iterator[tuple[Crawl, Session]]:
    """Crawls a server, and keeps the connection open while the block runs, for calls of its tools.

    Raises:
        SourceError: the server cannot be reached, or does not list its tools.
        ConnectionLost: the crawl was cancelled.
    """
    target = with_token(target)
    secrets, token = target.secrets(), cancel_token or CancelToken()
    with secrets.redact_errors(), _opened(target, secrets, progress, token) as (transport, session, second):
        reader = _CrawlReader(target, session, secrets)
        results = reader.read(progress)
        if second is not None:
            results = {**second.results(session.handshake, reader.log), **results}
            second.end()
        yield _crawl_from_results(target, transport, session.handshake, results, reader.log, secrets), session


@contextlib.contextmanager
def _opened(
    target: ServerTarget, secrets: Secrets, progress: Callable[[str], None], cancel_token: CancelToken
) -> Iterator[tuple[Transport, Session, SecondHandshake | None]]:
    """Yields the transport, the session, and the second handshake if the server may only there have a `dashdash`."""
    failures: list[SourceError] = []
    for attempt in attempts_for(target, secrets):
        progress(attempt.announcement)
        cancel_token.raise_if_cancelled()
        with contextlib.ExitStack() as stack:
            connection = stack.enter_context(_closing(attempt.connect()))
            stack.enter_context(cancel_token.attach(connection))
            second, started = None, time.monotonic()
            try:
                handshake = negotiate(connection, probe_s=attempt.probe_s, timeout_s=target.first_answer_s)
            except (NoAnswer, RpcError, ConnectionLost) as error:
                symptoms = connection.symptoms()
                if target.url is not None and symptoms:  # HTTP+SSE is the right transport: report its error alone
                    failures.clear()
                failures.append(crawl_error(error, None, where=target.where, symptoms=symptoms, secrets=secrets))
                if not attempt.retry_on(error):
                    break
                continue
            if handshake.is_modern and not handshake.mentions_dashdash and not target.scope.no_legacy_handshake:
                second = SecondHandshake(attempt, target, cancel_token, time.monotonic() - started)
                stack.callback(second.end)
            yield attempt.transport, Session(connection, handshake, target.timeout_s), second
            return
    # The last start of a program is the most informative; what is wrong with a URL, the first request shows.
    raise failures[0] if target.url is not None else with_exact_fix(failures[-1], target)


def _crawl_from_results(
    target: ServerTarget,
    transport: Transport,
    handshake: Handshake,
    results: dict[str, Json],
    log: ProblemLog,
    secrets: Secrets,
) -> Crawl:
    redacted, repeated = secrets.hide_in(resolve_marks(dict(results), log))
    report_echoed_secrets(log, repeated)
    if target.url is None or is_loopback(target.url):
        redacted = replace_home_folders(redacted, log, target.cwd)
    if HIDDEN_IN_URL in (target.public_url or ""):
        report_url_secret(log)
    return Crawl(
        results=as_dict(redacted),
        protocol_version=handshake.version,
        transport=transport,
        url=target.public_url,
        problems=tuple(map(secrets.hide_in_problem, log)),
    )


@contextlib.contextmanager
def _closing(connection: Connection) -> Iterator[Connection]:
    """Closes the connection in the background, or kills it if the user interrupts."""
    try:
        yield connection
    except BaseException as error:
        (connection.close if isinstance(error, Exception) else connection.kill)()
        raise
    connection.close()


class _CrawlReader:
    """Reads what one server offers over an open session."""

    def __init__(self, target: ServerTarget, session: Session, secrets: Secrets) -> None:
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
        if connection.has_replaced_bytes:
            _report_replaced_bytes(results, self.log)
        return results

    def _read_lists(self) -> dict[str, Json]:
        """Returns method to the pages of its list, as far as they arrived."""
        handshake = self._session.handshake
        methods = [
            method
            for method, (name, _) in _LISTS.items()
            if handshake.declares(name) or method == "tools/list" or (name == GROUPS and handshake.declares(GROUPING))
        ]
        # Over HTTP, one broken response closes the transport for all requests in flight: tools come first there.
        first = 1 if self._target.url is not None else 0
        results: dict[str, Json] = {}
        for concurrent in (methods[:first], methods[first:]):
            requests = [self._request_page(method, {}) for method in concurrent]
            for method, request in zip(concurrent, requests, strict=True):
                pages, failure = self._read_list(method, *request)
                if failure is not None and handshake.declares(_LISTS[method][0]):
                    self._report(method, failure, has_pages=bool(pages))
                results |= {method: pages} if pages else {}
        return results

    def _request_page(self, method: str, params: dict[str, Json]) -> tuple[Future[Json], float, float]:
        """Requests a page of a list; returns the timeout and the deadline of its answer as well."""
        timeout_s = self._timeout_s(is_declared=self._session.handshake.declares(_LISTS[method][0]))
        deadline = time.monotonic() + self._session.seconds_left(timeout_s)
        return self._session.send(method, params), timeout_s, deadline

    def _read_list(
        self, method: str, future: Future[Json], timeout_s: float, deadline: float
    ) -> tuple[list[Json], BaseException | None]:
        """Reads a list until it is complete, fails or times out; returns its pages, and why it is incomplete.

        At the deadline of the crawl, the pages that have arrived remain.
        """
        items_key, pages, seen = _LISTS[method][1], list[Json](), set[str]()
        while True:
            wait([future], max(0.0, deadline - time.monotonic()))
            if not future.done() and pages and not self._session.seconds_left():
                self.log.report("list-too-long", method, _CUT)
                return pages, None
            if error := future.exception() if future.done() else NoAnswer(method, timeout_s):
                return pages, error
            page = future.result()
            kind = page.get("resultType", "complete") if isinstance(page, dict) else "null"
            if kind != "complete":
                message = f"A page has the result type {kind!r:.60} instead of complete"
                self.log.report("list-incomplete", method, f"{message}; skillgen answers no request for input.")
            if not isinstance(page, dict) or not isinstance(items := page.get(items_key), list):
                # An answer that asks for input first is reported above (2026-07-28, `InputRequiredResult`). Any other
                # one without tools is fatal; without another list the rest can be documented.
                is_fatal = method == "tools/list" and kind in ("complete", "null")
                return pages, RpcError(f"the answer has no list of {items_key}") if is_fatal else None
            # A cursor is opaque, and may be the empty string: only a missing one marks the last page. Some servers
            # mark the end with an empty one, then start again.
            cursor = page.get("nextCursor")
            marks = (
                [json.dumps([part], sort_keys=True) for part in (items, cursor)]
                if pages or cursor is not None
                else ["", ""]
            )
            if items and marks[0] in seen:
                self.log.report("list-repeated", method, f"Page {len(pages) + 1} repeats an earlier page.")
                return pages, None
            pages.append(page)
            if cursor is None:
                return pages, None
            if f"at {marks[1]}" in seen:
                self.log.report("list-repeated", method, f"Page {len(pages)} repeats an earlier cursor.")
                return pages, None
            if len(pages) >= _PAGES_LIMIT or not self._session.seconds_left():
                too_many = f"The list has more than {_PAGES_LIMIT} pages; only these are read."
                self.log.report("list-too-long", method, too_many if len(pages) >= _PAGES_LIMIT else _CUT)
                return pages, None
            seen |= {marks[0], f"at {marks[1]}"}
            future, timeout_s, deadline = self._request_page(method, {"cursor": cursor})

    def _report(self, method: str, error: BaseException, *, has_pages: bool) -> None:
        if method == "tools/list":
            symptoms = self._session.connection.symptoms()
            raise crawl_error(error, method, where=self._target.where, symptoms=symptoms, secrets=self._secrets)
        if isinstance(error, RpcError) and _is_unknown_method(error) and not has_pages:
            message = "The server declares this list, but does not know the method."
            self.log.report("list-not-offered", method, message)
        else:
            reason = self._secrets.excerpt(str(error))
            self.log.report("list-failed", method, f"The list could not be read completely: {reason}")

    def _read_extensions(self, results: dict[str, Json], progress: Callable[[str], None]) -> None:
        scope, session = self._target.scope, self._session
        if "groups/list" in results and session.handshake.declares(GROUPS):
            results["groups/get"] = read_groups(session, results["groups/list"], self.log, self._secrets)
        if scope.skill_files and "skills/list" in results:
            progress("reading skills")
            results["skills/files"] = read_skill_files(session, results["skills/list"], self.log, self._secrets)
        listed = (text_of(tool, "name") for tool in page_items(results.get("tools/list"), "tools"))
        names = list(dict.fromkeys(filter(None, listed)))
        if not scope.no_tool_descriptions and (uri := progressive.descriptions_uri(results)) is not None:
            progress("reading the descriptions of the tools")
            descriptions = progressive.read_descriptions(session, uri, names, self.log, self._secrets)
            results[progressive.READ] = {"uri": uri, "tools": descriptions}
            message = "Reading the descriptions of the tools authorises the tools in that session."
            self.log.report("tools-authorised", uri, message)
        if scope.call_get_manifest and MANIFEST_TOOL not in names:
            message = f"The server has no tool {MANIFEST_TOOL}, so no service manifest was read."
            self.log.report("manifest-tool-missing", "tools/list", message)
        elif scope.call_get_manifest:
            progress(f"calling {MANIFEST_TOOL}")
            if (manifest := read_manifest(session, self.log, self._secrets)) is not None:
                results["manifest"] = manifest

    def _read_ai_help(self, results: dict[str, Json]) -> dict[str, Json]:
        """Requests the server's own documentation (dashdash, "AI Help Method"); few servers have it.

        It is the last request, because some servers crash at an unknown method.
        """
        tools = map(as_dict, page_items(results.get("tools/list"), "tools"))
        tool = next((tool for tool in tools if tool.get("name") == AI_HELP), None)
        if self._target.scope.call_ai_help and tool is not None:
            result = call_ai_help(self._session, tool, self.log, self._secrets)
            return {AI_HELP: result} if result is not None else {}
        if self._target.scope.call_ai_help:
            self.log.report("ai-help-missing", AI_HELP, f"The server has no tool {AI_HELP}.")
        is_declared = self._session.handshake.mentions_dashdash
        future = self._session.send(AI_HELP, AI_HELP_PARAMS)
        wait([future], self._session.seconds_left(self._timeout_s(is_declared=is_declared)))
        error = future.exception() if future.done() else NoAnswer(AI_HELP, self._target.timeout_s)
        if error is None:
            return {AI_HELP: future.result()}
        is_unknown = isinstance(error, RpcError) and (_is_unknown_method(error) or error.code == _INVALID_REQUEST)
        if is_declared or not is_unknown:
            reason = self._secrets.excerpt(str(error))
            self.log.report("ai-help-missing", AI_HELP, f"The server's own documentation could not be read: {reason}")
        return {}

    def _timeout_s(self, *, is_declared: bool) -> float:
        return self._target.timeout_s if is_declared else min(self._target.timeout_s, _UNDECLARED_TIMEOUT_S)


def _report_replaced_bytes(results: dict[str, Json], log: ProblemLog) -> None:
    """Reports each entry, such as a tool, with a text that was not UTF-8."""
    waiting: list[tuple[str, str, Json]] = [("", "", results)]
    while waiting:
        pointer, entry, value = waiting.pop()
        if isinstance(value, dict):
            entry = text_of(value, "name") or text_of(value, "uri") or entry
            waiting += [(pointer, entry, key) for key in value]
        if isinstance(value, (dict, list)):
            members = value.items() if isinstance(value, dict) else enumerate(value)
            waiting += [(child(pointer, key), entry, item) for key, item in reversed(list(members))]
        elif isinstance(value, str) and "\ufffd" in value:
            log.report("text-not-decoded", pointer, f"A text of {entry or 'the server'} is not UTF-8: {value!r:.60}.")


def _is_unknown_method(error: RpcError) -> bool:
    return error.code in _NOT_FOUND or error.http_status == 404
