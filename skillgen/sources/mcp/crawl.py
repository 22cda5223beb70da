"""What is asked of a server, in which order; paging.

The lists of a server, every page of each, all at once.

Reads what a server says after its first answer: its lists, its extensions, its own documentation.

No tool is called but `get_manifest`, and that one only where the user asks for it.

Crawls an MCP server: asks all that it says of itself, and keeps the answers raw.

Nothing is interpreted here: the typed models of SDKs drop what they do not know, and extensions live there.
"""

from __future__ import annotations

import contextlib
import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from pathlib import Path

from skillgen.errors import ProblemLog, SourceError
from skillgen.model.values import Json
from skillgen.security.secrets import HIDDEN_IN_URL, Secrets, report_echoed_secrets, report_url_secret, text_chunks
from skillgen.sources.json_access import as_dict, as_list, text_of
from skillgen.sources.json_text import resolve_marks
from skillgen.sources.mcp import progressive
from skillgen.sources.mcp.connect import Attempt, attempts_for, crawl_error, logged_in, needs_probe, probe_in_parallel
from skillgen.sources.mcp.extensions import (
    GROUPING,
    GROUPS,
    MANIFEST_TOOL,
    SKILLS,
    read_groups,
    read_manifest,
    read_skill_files,
)
from skillgen.sources.mcp.jsonrpc import Connection, ConnectionLost, RpcError
from skillgen.sources.mcp.session import CancelToken, Handshake, NoAnswer, Session
from skillgen.sources.mcp.target import Crawl, ServerTarget

_PAGES_LIMIT = 1_000


class ListReading:
    """One list while it is read, page by page."""

    def __init__(self, method: str, *, items_key: str, timeout_s: float) -> None:
        self.method = method
        self.timeout_s = timeout_s
        self.pages: list[Json] = []
        self.failure: BaseException | None = None
        """Why it ended before its end."""

        self.future: Future[Json] = Future()
        self.deadline = 0.0
        self._items_key = items_key
        self._cursors: set[str] = set()
        self._contents: set[str] = set()

    def ask(self, session: Session, cursor: dict[str, Json]) -> None:
        """Asks for the page at a cursor, `{}` for the first."""
        self.future = session.send(self.method, cursor)
        self.deadline = time.monotonic() + session.seconds_left(self.timeout_s)

    def take(self, log: ProblemLog) -> dict[str, Json] | None:
        """Takes the page that has come, and gives the cursor of the next one, if there is one."""
        if error := self.future.exception():
            self.failure = error
            return None
        page = self.future.result()
        kind = page.get("resultType", "complete") if isinstance(page, dict) else "null"
        if kind != "complete":
            log.warning(
                "list-incomplete",
                self.method,
                f"A page came back as {kind!r:.60} instead of complete; skillgen answers no request for input.",
                "List without asking for input.",
            )
        if not isinstance(page, dict) or not isinstance(page.get(self._items_key), list):
            # An answer that asks for input first is reported above (2026-07-28, `InputRequiredResult`). Any other one
            # without tools is fatal; without another list the rest can be documented.
            if self.method == "tools/list" and kind in ("complete", "null"):
                self.failure = RpcError(f"the answer has no list of {self._items_key}")
            return None
        # Opaque, and the empty string is one too: only a cursor that is not there ends a list.
        cursor = page.get("nextCursor")
        if self._is_loop(page, cursor, log):
            return None
        self.pages.append(page)
        return None if cursor is None or self._goes_on_for_ever(cursor, log) else {"cursor": cursor}

    def _is_loop(self, page: dict[str, Json], cursor: Json, log: ProblemLog) -> bool:
        """Tells whether a page came before: some servers send an empty cursor for the end, and then begin anew."""
        if cursor is None and not self.pages:
            return False
        content = json.dumps(page.get(self._items_key), sort_keys=True)
        if content in self._contents and page.get(self._items_key):
            log.warning("list-page-repeated", self.method, f"Page {len(self.pages) + 1} repeats an earlier one.", _FIX)
            return True
        self._contents.add(content)
        return False

    def _goes_on_for_ever(self, cursor: Json, log: ProblemLog) -> bool:
        key = json.dumps(cursor, sort_keys=True)
        if key in self._cursors:
            log.warning("list-cursor-repeated", self.method, f"Page {len(self.pages)} names a cursor again.", _FIX)
            return True
        if len(self.pages) >= _PAGES_LIMIT:
            log.warning("list-too-long", self.method, f"There are more than the {_PAGES_LIMIT} pages that are read.")
            return True
        self._cursors.add(key)
        return False


_FIX = "Leave `nextCursor` out of the last page."


def read_lists(session: Session, readings: Sequence[ListReading], log: ProblemLog) -> None:
    """Reads lists at the same time, until each has ended, failed, or stayed without an answer.

    When the time for the whole crawl is over, what has come is kept.
    """
    for reading in readings:
        reading.ask(session, {})
    active = list(readings)
    while active:
        seconds = min(reading.deadline for reading in active) - time.monotonic()
        done, _ = wait([reading.future for reading in active], max(0.0, seconds), FIRST_COMPLETED)
        now = time.monotonic()
        for reading in list(active):
            if reading.future in done:
                cursor = reading.take(log)
                if cursor is None:
                    active.remove(reading)
                elif session.seconds_left():
                    reading.ask(session, cursor)
                else:
                    _cut(reading, log)
                    active.remove(reading)
            elif reading.deadline <= now and reading.pages and not session.seconds_left():
                _cut(reading, log)
                active.remove(reading)
            elif reading.deadline <= now:
                reading.failure = NoAnswer(reading.method, reading.timeout_s)
                active.remove(reading)


def _cut(reading: ListReading, log: ProblemLog) -> None:
    log.warning("list-too-long", reading.method, "It went on for too long; the pages that came are kept.")


_UNPROMISED_S = 3.0
"""How long an answer is waited for that the server did not promise."""

_LISTS = {
    "tools/list": ("tools", "tools"),
    "resources/list": ("resources", "resources"),
    "resources/templates/list": ("resources", "resourceTemplates"),
    "prompts/list": ("prompts", "prompts"),
    "skills/list": (SKILLS, "skills"),
    "groups/list": (GROUPS, "groups"),
}
"""Method to the capability or extension that promises it, and to the key of its items."""

_NOT_FOUND = (-32601, -32602)
"""What servers answer to a method that they do not know."""

_INVALID_REQUEST = -32600
"""What some answer to a method that is not of the protocol."""


class CrawlReader:
    """Reads one server."""

    def __init__(self, target: ServerTarget, session: Session, secrets: Secrets) -> None:
        self.log = ProblemLog()
        self._target = target
        self._session = session
        self._secrets = secrets

    def read(self, progress: Callable[[str], None]) -> dict[str, Json]:
        """Reads everything: method to raw result, for a list method the list of its pages."""
        opening = self._session.opening
        results: dict[str, Json] = {opening.method: opening.result}
        progress("reading tools, resources and prompts")
        for reading in self._read_lists():
            if reading.pages:
                results[reading.method] = reading.pages
        self._read_extensions(results, progress)
        progress("asking for ai_help")
        results |= self._read_ai_help()
        return results

    def _read_extensions(self, results: dict[str, Json], progress: Callable[[str], None]) -> None:
        scope, session = self._target.scope, self._session
        if "groups/list" in results and session.opening.declares(GROUPS):
            results["groups/get"] = read_groups(session, results["groups/list"], self.log, self._secrets)
        if scope.skill_files and "skills/list" in results:
            progress("reading skills")
            results["skills/files"] = read_skill_files(session, results["skills/list"], self.log, self._secrets)
        if not scope.no_tool_descriptions and (uri := progressive.descriptions_uri(results)) is not None:
            progress("reading the descriptions of the tools")
            names = _names(results)
            described = progressive.read_descriptions(session, uri, names, self.log, self._secrets)
            results[progressive.READ] = {"uri": uri, "tools": described}
            self.log.info(
                "tools-authorised",
                uri,
                "Reading the descriptions of the tools authorises the tools in that session.",
                fix="Leave them unread with --no-tool-descriptions, or `no-tool-descriptions: true` in skillgen.yaml.",
            )
        if scope.call_get_manifest and MANIFEST_TOOL not in _names(results):
            self.log.warning(
                "manifest-tool-missing",
                "tools/list",
                f"The server has no tool {MANIFEST_TOOL}, so no service manifest was read.",
                "leave out --call-get-manifest",
            )
        elif scope.call_get_manifest:
            progress(f"calling {MANIFEST_TOOL}")
            if (manifest := read_manifest(session, self.log, self._secrets)) is not None:
                results["manifest"] = manifest

    def _read_lists(self) -> list[ListReading]:
        opening = self._session.opening
        readings = [
            ListReading(method, items_key=items_key, timeout_s=self._timeout_s(is_promised=opening.declares(name)))
            for method, (name, items_key) in _LISTS.items()
            if opening.declares(name) or method == "tools/list" or (name == GROUPS and opening.declares(GROUPING))
        ]
        # Over HTTP, one request that breaks off ends the transport for all that are under way: tools come first there.
        tools_alone = 1 if self._target.url is not None else 0
        for together in (readings[:tools_alone], readings[tools_alone:]):
            read_lists(self._session, together, self.log)
            for reading in together:
                if reading.failure is not None and opening.declares(_LISTS[reading.method][0]):
                    self._report(reading, reading.failure)
        return readings

    def _report(self, reading: ListReading, error: BaseException) -> None:
        if reading.method == "tools/list":
            symptoms = self._session.connection.symptoms()
            raise crawl_error(error, reading.method, where=self._target.where, symptoms=symptoms, secrets=self._secrets)
        if isinstance(error, RpcError) and _is_unknown(error) and not reading.pages:
            self.log.info("list-not-offered", reading.method, "The server declares this list, but does not know it.")
        else:
            reason = self._secrets.excerpt(str(error))
            self.log.warning("list-failed", reading.method, f"The list could not be read to its end: {reason}")

    def _read_ai_help(self) -> dict[str, Json]:
        """Asks for the server's own documentation (dashdash, "AI Help Method"); most servers have none.

        It is the last request of all: some servers do not survive a method that they do not know.
        """
        is_announced = self._session.opening.mentions_dashdash
        future = self._session.send("ai_help", {"format": "markdown", "section": None})
        wait([future], self._session.seconds_left(self._timeout_s(is_promised=is_announced)))
        error = future.exception() if future.done() else NoAnswer("ai_help", self._target.timeout_s)
        if error is None:
            return {"ai_help": future.result()}
        if is_announced or not (isinstance(error, RpcError) and (_is_unknown(error) or error.code == _INVALID_REQUEST)):
            reason = self._secrets.excerpt(str(error))
            self.log.info("ai-help-missing", "ai_help", f"The server's own documentation could not be read: {reason}")
        return {}

    def _timeout_s(self, *, is_promised: bool) -> float:
        return self._target.timeout_s if is_promised else min(self._target.timeout_s, _UNPROMISED_S)


def _is_unknown(error: RpcError) -> bool:
    return error.code in _NOT_FOUND or error.http_status == 404


def _names(results: dict[str, Json]) -> list[str]:
    """Gives the names of the tools, each once, in order."""
    pages = as_list(results.get("tools/list"))
    entries = (entry for page in pages for entry in as_list(as_dict(page).get("tools")))
    return list(dict.fromkeys(name for entry in entries if (name := text_of(entry, "name")) is not None))


_FOLDERS_OF_PEOPLE = ("home", "Users")
"""Parents of folders with the name of a person."""

__all__ = ["Crawl", "ServerTarget", "crawl"]


def crawl(target: ServerTarget, progress: Callable[[str], None], *, cancel_token: CancelToken | None = None) -> Crawl:
    """Crawls a server. When this returns, the server is being ended in the background.

    `cancel_token` ends the crawl from another thread.

    Raises:
        SourceError: it cannot be reached, or does not say what it offers.
        ConnectionLost: it was interrupted.
    """
    target = logged_in(target)
    secrets = target.secrets()
    with secrets.redact_errors():
        return _crawl(target, secrets, progress, cancel_token or CancelToken())


def _crawl(target: ServerTarget, secrets: Secrets, progress: Callable[[str], None], cancel_token: CancelToken) -> Crawl:
    failures: list[SourceError] = []
    for attempt in attempts_for(target, secrets):
        progress(attempt.announcement)
        cancel_token.raise_if_cancelled()
        started = time.monotonic()
        with _ended(attempt.connect()) as connection, cancel_token.attach(connection):
            try:
                opening = attempt.open(connection)
            except (NoAnswer, RpcError, ConnectionLost) as error:
                symptoms = connection.symptoms()
                if target.url is not None and symptoms:  # the older transport is there: what fails is in it
                    failures.clear()
                failures.append(crawl_error(error, None, where=target.where, symptoms=symptoms, secrets=secrets))
                if not attempt.retry_on(error):
                    break
                continue
            reader = CrawlReader(target, Session(connection, opening, target.timeout_s), secrets)
            seconds = time.monotonic() - started
            if not needs_probe(target.scope, opening):
                return _crawl_from(target, attempt, opening, reader.read(progress), reader, secrets)
            with probe_in_parallel(
                attempt, opening, opening_s=seconds, timeout_s=target.timeout_s, cancel_token=cancel_token
            ) as older_answers:
                results = reader.read(progress)
                return _crawl_from(target, attempt, opening, {**older_answers(reader.log), **results}, reader, secrets)
    # A program tells most about itself at its last start; what is wrong with a URL, the first request shows.
    raise failures[0 if target.url is not None else -1]


def _crawl_from(
    target: ServerTarget,
    attempt: Attempt,
    opening: Handshake,
    results: dict[str, Json],
    reader: CrawlReader,
    secrets: Secrets,
) -> Crawl:
    hidden, repeated = secrets.hide_in(resolve_marks(dict(results), reader.log))
    report_echoed_secrets(reader.log, repeated)
    _report_home_folder(hidden, reader.log)
    if HIDDEN_IN_URL in (target.public_url or ""):
        report_url_secret(reader.log)
    return Crawl(
        results=as_dict(hidden),
        protocol_version=opening.version,
        transport=attempt.transport,
        url=target.public_url,
        problems=tuple(map(secrets.hide_in_problem, reader.log)),
    )


def _report_home_folder(results: Json, log: ProblemLog) -> None:
    """Reports texts with the path of the user's home folder.

    They are not changed: the same text read by another user would become another document.
    """
    home = Path.home()
    if home.parent.name not in _FOLDERS_OF_PEOPLE:
        return
    path = re.compile(re.escape(str(home)) + r"(?![\w.-])")
    if any(str(home) in chunk and path.search(chunk) for chunk in text_chunks(results)):
        log.warning(
            "home-folder-named",
            "",
            "The server names your home folder. The documents hold it, and they differ where somebody else runs this.",
            "make the server name no folder of its machine, or start it with another one",
        )


@contextlib.contextmanager
def _ended(connection: Connection) -> Iterator[Connection]:
    """Sees to it that a connection ends: at once when the user interrupts, otherwise in the background."""
    try:
        yield connection
    except BaseException as error:
        (connection.close if isinstance(error, Exception) else connection.kill)()
        raise
    connection.close()
