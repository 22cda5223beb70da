"""Services of servers whose answers a test writes down: read as after a crawl, without a process and a connection."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any
from unittest import mock

import skillgen
from skillgen.sources.mcp import crawl as crawl_module

Json = Any

COMMAND = ("/captured",)
"""The command of a server that nobody starts; a path is of this machine alone, and reaches no document."""


@contextmanager
def crawled(
    answers: Mapping[str, Json],
    *,
    protocol_version: str | None = "2025-11-25",
    url: str | None = None,
    problems: Iterable[skillgen.Problem] = (),
) -> Iterator[mock.Mock]:
    """Makes every crawl in the block return these answers: method to its result, of a list to its pages.

    Yields the substitute of the crawl, which is called with the server.
    """
    found = crawl_module.Crawl(
        results=dict(answers),
        protocol_version=protocol_version,
        transport="stdio" if url is None else "http",
        url=url,
        problems=tuple(problems),
    )
    opened = mock.Mock(side_effect=lambda *_, **__: nullcontext((found, None)))
    with mock.patch.object(crawl_module, "crawled_session", opened):
        yield opened


def service_of_answers(
    answers: Mapping[str, Json],
    *,
    protocol_version: str | None = "2025-11-25",
    url: str | None = None,
    problems: Iterable[skillgen.Problem] = (),
    command: Sequence[str] = COMMAND,
    **options: Any,
) -> skillgen.Service:
    """Returns the service of a server with these answers; `options` are those of `read`."""
    with crawled(answers, protocol_version=protocol_version, url=url, problems=problems):
        return skillgen.read(url=url, command=() if url else command, **options)


def service_of_snapshot(service: skillgen.Service) -> skillgen.Service:
    """Returns a service after screening: it is read from its snapshot."""
    return skillgen.read(skillgen.snapshot(service))
