"""Reads several servers at the same time; one that fails does not cost the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from skillgen.errors import SkillgenError, SourceError, UsageError, failure_from_bug
from skillgen.model.service import Service
from skillgen.pipeline.options import Overrides, Progress
from skillgen.pipeline.reading import read_server

if TYPE_CHECKING:
    from skillgen.sources.mcp.interruption import Interruption
    from skillgen.sources.mcp.target import CrawlScope, Login, ServerTarget

_AT_ONCE = 8
"""Servers that run at the same time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedServer:
    """A server of a client's file."""

    name: str
    """Its name there."""

    mount_name: str | None
    """The name under which a host mounts it, if the file says that."""

    target: ServerTarget | UsageError
    """How it is reached, or why the file does not tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadServer:
    """What came of reading one server."""

    name: str
    """Its name in the file."""

    outcome: Service | SkillgenError
    """What it is, or why it could not be read."""


def servers_in_file(
    path: Path,
    name: str | None,
    *,
    given: Mapping[str, str],
    environment: Mapping[str, str],
    login: Login,
    scope: CrawlScope,
    timeout_s: float,
) -> tuple[NamedServer, ...]:
    """Gives the servers of a client's file: all, or the one that is named.

    `given` comes before `environment` where a variable is filled in; a server's command gets what any program needs of
    `environment`.

    Raises:
        UsageError: the file cannot be read, or has no such server.
    """
    from skillgen.sources.mcp.client_config import read_client_config

    config = read_client_config(path)

    def target(key: str) -> ServerTarget | UsageError:
        try:
            found = replace(
                config.target(key, given, environment, timeout_s=timeout_s), scope=scope, caller=environment
            )
            return found if found.url is None else replace(found, login=login)
        except UsageError as error:
            return error

    return tuple(
        NamedServer(name=key, mount_name=None if config.is_published else key, target=target(key))
        for key in config.chosen(name)
    )


def read_servers(
    servers: Sequence[NamedServer], overrides: Overrides, progress: Progress, interruption: Interruption
) -> tuple[ReadServer, ...]:
    """Crawls servers at the same time, and returns what came of each, in order; `interruption` stops them."""
    progress(f"crawling {len(servers)} servers")
    with ThreadPoolExecutor(max_workers=_AT_ONCE, thread_name_prefix="skillgen-crawl") as pool:
        try:
            futures = [pool.submit(_reader(server, overrides, interruption)) for server in servers]
            outcomes = [future.result() for future in futures]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            interruption.interrupt()
            raise
    return tuple(ReadServer(name=item.name, outcome=outcome) for item, outcome in zip(servers, outcomes, strict=True))


def _reader(
    server: NamedServer, overrides: Overrides, interruption: Interruption
) -> Callable[[], Service | SkillgenError]:
    def read() -> Service | SkillgenError:
        if isinstance(server.target, UsageError):
            return server.target
        try:
            return read_server(
                server.target,
                overrides,
                server_name=server.mount_name,
                progress=lambda message: None,
                interruption=interruption,
            )
        except SkillgenError as error:
            return _named(error, server.name)
        except Exception as error:  # of one server; the others are documented all the same
            failure = failure_from_bug(error)
            failure.where = server.name
            return failure

    return read


def _named(error: SkillgenError, name: str) -> SkillgenError:
    """Returns the error with the name of the server that failed."""
    if isinstance(error, (SourceError, UsageError)):
        error.where = f"server {name!r} ({error.where})" if error.where else name
    return error
