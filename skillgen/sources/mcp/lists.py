"""The lists of a server, every page of each, all at once."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait

from skillgen.errors import ProblemLog
from skillgen.model.value import Json
from skillgen.sources.mcp.connection import RpcError
from skillgen.sources.mcp.negotiation import NoAnswer
from skillgen.sources.mcp.session import Session

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
