"""Services of servers whose answers a test writes down: read by the Python API, without a process and a connection."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from unittest import mock

import skillgen
from skillgen.sources.mcp import crawl as crawl_module

Json = Any


def service_of_answers(
    answers: Mapping[str, Json],
    *,
    protocol_version: str | None = "2025-11-25",
    url: str | None = None,
    problems: Iterable[skillgen.Problem] = (),
    **options: Any,
) -> skillgen.Service:
    """Returns the service of a server: method to its result, of a list to its pages; `options` are those of `read`."""
    crawled = crawl_module.Crawl(
        results=dict(answers),
        protocol_version=protocol_version,
        transport="stdio" if url is None else "http",
        url=url,
        problems=tuple(problems),
    )
    with mock.patch.object(crawl_module, "crawl", return_value=crawled):
        return skillgen.read(url=url, command=() if url else ("captured",), **options)
