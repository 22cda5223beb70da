"""Crawls an MCP server: asks all that it says of itself, and keeps the answers raw.

Nothing is interpreted here: the typed models of SDKs drop what they do not know, and extensions live there. No tool
is ever called.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import wait

from skillgen.errors import ProblemLog, SourceError
from skillgen.model.value import Json
from skillgen.sources.mcp.attempts import attempts_for
from skillgen.sources.mcp.connection import Connection, ConnectionLost, RpcError
from skillgen.sources.mcp.dead_ends import dead_end
from skillgen.sources.mcp.excerpts import Secrets
from skillgen.sources.mcp.interruption import Interruption
from skillgen.sources.mcp.lists import ListReading, read_lists
from skillgen.sources.mcp.negotiation import NoAnswer, Opening
from skillgen.sources.mcp.oauth.login import logged_in
from skillgen.sources.mcp.target import Crawl, ServerTarget, Transport

__all__ = ["Crawl", "ServerTarget", "crawl"]

_UNPROMISED_S = 3.0
"""How long an answer is waited for that the server did not promise."""

_LISTS = {
    "tools/list": ("tools", "tools"),
    "resources/list": ("resources", "resources"),
    "resources/templates/list": ("resources", "resourceTemplates"),
    "prompts/list": ("prompts", "prompts"),
}
"""Method to capability, and to the key of its items."""

_NOT_FOUND = (-32601, -32602)
"""What servers answer to a method that they do not know."""


def crawl(target: ServerTarget, progress: Callable[[str], None], *, interruption: Interruption | None = None) -> Crawl:
    """Crawls a server. When this returns, the server is being ended in the background.

    `interruption` ends the crawl from another thread.

    Raises:
        SourceError: it cannot be reached, or does not say what it offers.
        ConnectionLost: it was interrupted.
    """
    target = logged_in(target)
    secrets = target.secrets()
    interruption = interruption or Interruption()
    failures: list[SourceError] = []
    for attempt in attempts_for(target, secrets):
        progress(attempt.announcement)
        interruption.refuse_more()
        with _ended(attempt.connect()) as connection, interruption.watched(connection):
            try:
                opening = attempt.open(connection)
            except (NoAnswer, RpcError, ConnectionLost) as error:
                symptoms = connection.symptoms()
                failures.append(dead_end(error, None, where=target.where, symptoms=symptoms, secrets=secrets))
                if not attempt.may_be_followed_after(error):
                    break
                continue
            return _Reader(target, attempt.transport, connection, opening, secrets).read(progress)
    # A program tells most about itself at its last start; what is wrong with a URL, the first request shows.
    raise failures[0 if target.url is not None else -1]


@contextlib.contextmanager
def _ended(connection: Connection) -> Iterator[Connection]:
    """Sees to it that a connection ends: at once when the user interrupts, otherwise in the background."""
    try:
        yield connection
    except BaseException as error:
        (connection.close if isinstance(error, Exception) else connection.kill)()
        raise
    connection.close()


class _Reader:
    """Reads what a server says after its first answer."""

    def __init__(
        self, target: ServerTarget, transport: Transport, connection: Connection, opening: Opening, secrets: Secrets
    ) -> None:
        self._target = target
        self._transport = transport
        self._connection = connection
        self._opening = opening
        self._secrets = secrets
        self._log = ProblemLog()

    def read(self, progress: Callable[[str], None]) -> Crawl:
        """Reads everything."""
        results: dict[str, Json] = {self._opening.method: self._opening.result}
        progress("reading tools, resources and prompts")
        for reading in self._read_lists():
            if reading.pages:
                results[reading.method] = reading.pages
        progress("asking for ai_help")
        if (ai_help := self._read_ai_help()) is not None:
            results["ai_help"] = ai_help
        hidden, is_echo = self._target.given_secrets().hide_in(results)
        if is_echo:
            self._log.warning(
                "secret-echoed", "", "The server repeats a value that was passed to it; [hidden] stands in its place."
            )
        return Crawl(
            results=hidden,
            protocol_version=self._opening.version,
            transport=self._transport,
            url=self._target.public_url,
            problems=tuple(self._log),
        )

    def _read_lists(self) -> list[ListReading]:
        readings = [
            ListReading(
                method, items_key=items_key, timeout_s=self._timeout_s(is_promised=self._opening.declares(name))
            )
            for method, (name, items_key) in _LISTS.items()
            if self._opening.declares(name) or method == "tools/list"
        ]
        read_lists(self._connection, self._opening, readings, self._log)
        for reading in readings:
            if reading.failure is not None and self._opening.declares(_LISTS[reading.method][0]):
                self._report(reading, reading.failure)
        return readings

    def _report(self, reading: ListReading, error: BaseException) -> None:
        if reading.method == "tools/list":
            symptoms = self._connection.symptoms()
            raise dead_end(error, reading.method, where=self._target.where, symptoms=symptoms, secrets=self._secrets)
        is_unknown = isinstance(error, RpcError) and (error.code in _NOT_FOUND or error.http_status == 404)
        if is_unknown and not reading.pages:
            self._log.info("list-not-offered", reading.method, "The server declares this list, but does not know it.")
        else:
            reason = self._secrets.excerpt(str(error))
            self._log.warning("list-failed", reading.method, f"The list could not be read to its end: {reason}")

    def _read_ai_help(self) -> Json:
        """Asks for the server's own documentation (dashdash, "AI Help Method"); most servers have none.

        It is the last request of all: some servers do not survive a method that they do not know.
        """
        is_announced = _mentions_dashdash(self._opening.result)
        params = self._opening.params({"format": "markdown", "section": None})
        future = self._connection.send("ai_help", params)
        wait([future], self._timeout_s(is_promised=is_announced))
        if future.done() and future.exception() is None:
            return future.result()
        if is_announced:
            self._log.info("ai-help-missing", "ai_help", "The server speaks dashdash, but does not answer `ai_help`.")
        return None

    def _timeout_s(self, *, is_promised: bool) -> float:
        return self._target.timeout_s if is_promised else min(self._target.timeout_s, _UNPROMISED_S)


def _mentions_dashdash(result: Json) -> bool:
    waiting = [result]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if any(key == "dashdash" or key.endswith("/dashdash") for key in value):
                return True
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
    return False
