"""Asks a server of the newer era how it opens the older one, where alone its `dashdash` may stand.

A server stays with the era of its first request, and need not say that it speaks another one. So it is connected to
once more, or started once more, beside the reading of the first connection: nothing else shows whether it has more to
say, and what is not asked for is lost. The user may turn it off.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

from skillgen.errors import ProblemLog, SourceError
from skillgen.model.value import Json
from skillgen.sources.mcp.attempts import Attempt
from skillgen.sources.mcp.connection import Connection, ConnectionLost, RpcError
from skillgen.sources.mcp.interruption import Interruption
from skillgen.sources.mcp.negotiation import NoAnswer, Opening, open_by_initialize
from skillgen.sources.mcp.session import Request, Session
from skillgen.sources.mcp.target import CrawlScope

_UNPROMISED_S = 3.0
"""How long the older opening is waited for where the server does not say that it has it."""


def is_worth_asking(scope: CrawlScope, opening: Opening) -> bool:
    """Tells from what a server says first whether its older era is asked."""
    return not scope.no_older_era and opening.is_of_newest_era and not opening.mentions_dashdash


@contextlib.contextmanager
def asked_beside(
    attempt: Attempt, opening: Opening, *, opening_s: float, timeout_s: float, interruption: Interruption
) -> Iterator[Callable[[ProblemLog], dict[str, Json]]]:
    """Asks while the block runs; yields a function that waits for the answers, method to raw result.

    `opening_s` is how long the first connection took to open. Leaving the block ends the second one, whether it has
    answered or not.
    """
    seconds = timeout_s if opening.has_older_era else min(timeout_s, max(_UNPROMISED_S, 3 * opening_s))
    own = Interruption()

    def answers() -> dict[str, Json]:
        interruption.refuse_more()
        connection = attempt.connect()
        try:
            with interruption.watched(connection), own.watched(connection):
                return _asked(connection, seconds)
        finally:
            connection.close()

    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="skillgen-older-era") as pool:
        future = pool.submit(answers)
        try:
            yield lambda log: _results(future, log)
        finally:
            own.interrupt()


def _asked(connection: Connection, seconds: float) -> dict[str, Json]:
    opening = open_by_initialize(connection, seconds)
    results: dict[str, Json] = {opening.method: opening.result}
    if opening.mentions_dashdash:
        answer = Session(connection, opening, seconds).ask(Request("ai_help", {"format": "markdown", "section": None}))
        if answer.failure is None:
            results["ai_help"] = answer.result
    return results


def _results(future: Future[dict[str, Json]], log: ProblemLog) -> dict[str, Json]:
    try:
        return future.result()
    except RpcError:  # the server has no older era
        return {}
    except (NoAnswer, ConnectionLost, SourceError):
        log.info("older-era-missing", "initialize", "The server did not answer in the older era of the protocol.")
        return {}
