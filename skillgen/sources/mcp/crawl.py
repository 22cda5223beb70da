"""Crawls an MCP server: asks all that it says of itself, and keeps the answers raw.

Nothing is interpreted here: the typed models of SDKs drop what they do not know, and extensions live there.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from skillgen.errors import ProblemLog, SourceError
from skillgen.model.value import Json
from skillgen.sources.guards import as_dict
from skillgen.sources.json_text import settled
from skillgen.sources.mcp.attempts import Attempt, attempts_for
from skillgen.sources.mcp.connection import Connection, ConnectionLost, RpcError
from skillgen.sources.mcp.dead_ends import dead_end
from skillgen.sources.mcp.interruption import Interruption
from skillgen.sources.mcp.negotiation import NoAnswer, Opening
from skillgen.sources.mcp.oauth.login import logged_in
from skillgen.sources.mcp.older_era import asked_beside, is_worth_asking
from skillgen.sources.mcp.reader import CrawlReader
from skillgen.sources.mcp.session import Session
from skillgen.sources.mcp.target import Crawl, ServerTarget
from skillgen.sources.secrets import HIDDEN_IN_URL, Secrets, chunks_of, report_repeated, report_url

_FOLDERS_OF_PEOPLE = ("home", "Users")
"""Parents of folders with the name of a person."""

__all__ = ["Crawl", "ServerTarget", "crawl"]


def crawl(target: ServerTarget, progress: Callable[[str], None], *, interruption: Interruption | None = None) -> Crawl:
    """Crawls a server. When this returns, the server is being ended in the background.

    `interruption` ends the crawl from another thread.

    Raises:
        SourceError: it cannot be reached, or does not say what it offers.
        ConnectionLost: it was interrupted.
    """
    target = logged_in(target)
    secrets = target.secrets()
    with secrets.kept_from_errors():
        return _crawl(target, secrets, progress, interruption or Interruption())


def _crawl(
    target: ServerTarget, secrets: Secrets, progress: Callable[[str], None], interruption: Interruption
) -> Crawl:
    failures: list[SourceError] = []
    for attempt in attempts_for(target, secrets):
        progress(attempt.announcement)
        interruption.refuse_more()
        started = time.monotonic()
        with _ended(attempt.connect()) as connection, interruption.watched(connection):
            try:
                opening = attempt.open(connection)
            except (NoAnswer, RpcError, ConnectionLost) as error:
                symptoms = connection.symptoms()
                if target.url is not None and symptoms:  # the older transport is there: what fails is in it
                    failures.clear()
                failures.append(dead_end(error, None, where=target.where, symptoms=symptoms, secrets=secrets))
                if not attempt.may_be_followed_after(error):
                    break
                continue
            reader = CrawlReader(target, Session(connection, opening, target.timeout_s), secrets)
            seconds = time.monotonic() - started
            if not is_worth_asking(target.scope, opening):
                return _crawl_from(target, attempt, opening, reader.read(progress), reader, secrets)
            with asked_beside(
                attempt, opening, opening_s=seconds, timeout_s=target.timeout_s, interruption=interruption
            ) as older_answers:
                results = reader.read(progress)
                return _crawl_from(target, attempt, opening, {**older_answers(reader.log), **results}, reader, secrets)
    # A program tells most about itself at its last start; what is wrong with a URL, the first request shows.
    raise failures[0 if target.url is not None else -1]


def _crawl_from(
    target: ServerTarget,
    attempt: Attempt,
    opening: Opening,
    results: dict[str, Json],
    reader: CrawlReader,
    secrets: Secrets,
) -> Crawl:
    hidden, repeated = secrets.hide_in(settled(dict(results), reader.log))
    report_repeated(reader.log, repeated)
    _report_home_folder(hidden, reader.log)
    if HIDDEN_IN_URL in (target.public_url or ""):
        report_url(reader.log)
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
    if any(str(home) in chunk and path.search(chunk) for chunk in chunks_of(results)):
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
