"""Reads the source of a target into services, with the words of its author."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING

from skillgen.errors import SkillgenError, UsageError
from skillgen.model.service import Service
from skillgen.pipeline.options import Overrides
from skillgen.pipeline.targets.choosing import NamedTarget, located_in_file
from skillgen.pipeline.targets.filling import FilledSource
from skillgen.pipeline.targets.printed import printed_description
from skillgen.sources.document import FilesRead, files_read

if TYPE_CHECKING:
    from skillgen.sources.mcp.interruption import Interruption
    from skillgen.sources.mcp.target import Login

_AT_ONCE = 8
"""Sources that are read at the same time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadTarget:
    """What came of reading a target."""

    services: tuple[Service, ...]
    """Its services, with the author's words."""

    files: FilesRead
    """The files that it was read from."""

    failures: tuple[SkillgenError, ...] = ()
    """Why others of it could not be read."""


@contextmanager
def reading_at_once(
    targets: Sequence[NamedTarget], environment: Mapping[str, str], announce: Callable[[str], None] | None
) -> Iterator[Callable[[NamedTarget], ReadTarget]]:
    """Reads targets at the same time; yields what waits for one of them and returns or raises what `read_target` does.

    A target with overlays is read when it is asked for, in the main thread: only there a slow expression can be
    stopped. The other threads are daemons, so that an interrupted run waits for none of them.
    """
    from skillgen.sources.mcp.interruption import Interruption

    interruption = Interruption()
    waiting: SimpleQueue[NamedTarget] = SimpleQueue()
    futures: dict[str, Future[ReadTarget]] = {}
    for named in targets:
        if not named.target.source.overlays:
            futures[named.name] = Future()
            waiting.put(named)

    def work() -> None:
        while True:
            try:
                named = waiting.get_nowait()
            except Empty:
                return
            try:
                futures[named.name].set_result(read_target(named, environment, interruption, announce))
            except BaseException as error:
                futures[named.name].set_exception(error)

    def read(named: NamedTarget) -> ReadTarget:
        if named.name in futures:
            return futures[named.name].result()
        return read_target(named, environment, interruption, announce)

    for number in range(min(_AT_ONCE, len(futures))):
        Thread(target=work, name=f"skillgen-build-{number}", daemon=True).start()
    try:
        yield read
    finally:
        interruption.interrupt()


def read_target(
    named: NamedTarget,
    environment: Mapping[str, str],
    interruption: Interruption,
    announce: Callable[[str], None] | None = None,
) -> ReadTarget:
    """Reads the source of a target; `announce` shows a person where to log in, and is None where there is nobody.

    Raises:
        SourceError: it cannot be reached or read.
        UsageError: the target makes no sense.
    """
    from skillgen.pipeline.authoring import authored

    with files_read() as files, located_in_file(named.pointer):
        services, failures = _services(FilledSource(named, environment), interruption, announce)
    one = [key for key in ("name", "version", "description", "base_url", "extra") if getattr(named.target, key)]
    if len(services) > 1 and one:
        raise UsageError(
            f"of one service, and the source has several: {', '.join(one).replace('_', '-')}",
            where=named.pointer,
            fix="make a target for each, with server: NAME",
        )
    found = tuple(authored(service, named.target, named.pointer) for service in services)
    return ReadTarget(services=found, failures=failures, files=files)


def _services(
    filled: FilledSource, interruption: Interruption, announce: Callable[[str], None] | None
) -> tuple[tuple[Service, ...], tuple[SkillgenError, ...]]:
    from skillgen.pipeline import reading

    target, source = filled.named.target, filled.source
    overrides = Overrides(
        name=target.name,
        version=target.version,
        description=target.description,
        base_url=target.base_url,
        include=target.include,
        exclude=target.exclude,
    )
    if target.extra:
        extra = [filled.place(item) for item in target.extra]
        with filled.secrets.kept_from_errors():
            overrides = reading.with_extras(overrides, extra, timeout_s=source.timeout)
    if source.snapshot is not None:
        path = str(filled.named.path(source.snapshot))
        return reading.read_snapshot(path, overrides, timeout_s=source.timeout), ()
    if source.manifest is not None:
        found = reading.read_manifest(
            filled.place(source.manifest),
            overrides,
            server_name=source.server_name,
            timeout_s=source.timeout,
            secrets=filled.secrets,
        )
        return (found,), ()
    if source.openapi is not None:
        place = filled.place(source.openapi)
        return (reading.read_description(place, overrides, filled.description_options()),), ()
    if source.openapi_command:
        return (printed_description(filled, overrides, interruption),), ()
    if source.config is not None:
        return _configured(filled, source.config, overrides, interruption, filled.login(announce))
    return (_crawled(filled, overrides, interruption, filled.login(announce)),), ()


def _configured(
    filled: FilledSource, file: str, overrides: Overrides, interruption: Interruption, login: Login
) -> tuple[tuple[Service, ...], tuple[SkillgenError, ...]]:
    from skillgen.pipeline.several import read_servers, servers_in_file
    from skillgen.sources.mcp.target import CrawlScope

    servers = servers_in_file(
        filled.named.path(file),
        filled.source.server,
        given=filled.env(),
        environment=filled.project_environment(),
        login=login,
        scope=CrawlScope.given_in(filled.source),
        timeout_s=filled.source.timeout,
    )
    read = read_servers(servers, overrides, lambda message: None, interruption)
    failures = tuple(item.outcome for item in read if isinstance(item.outcome, SkillgenError))
    return tuple(item.outcome for item in read if isinstance(item.outcome, Service)), failures


def _crawled(filled: FilledSource, overrides: Overrides, interruption: Interruption, login: Login) -> Service:
    from skillgen.pipeline import reading
    from skillgen.sources.mcp.target import CrawlScope, ServerTarget

    source = filled.source
    url = filled.text(source.url, "/url") if source.url is not None else None
    if url is not None and not url.startswith(("http://", "https://")):
        raise UsageError("is no http:// or https:// address", where=f"{filled.where}/url", fix="give https://HOST/PATH")
    target = ServerTarget(
        command=filled.words(source.command),
        caller=filled.project_environment(),
        url=url,
        env=filled.env(),
        headers=filled.headers(),
        cwd=filled.folder() if source.command else None,
        login=login,
        timeout_s=source.timeout,
        scope=CrawlScope.given_in(source),
        passed=filled.secrets,  # at last, when everything is filled in
    )
    return reading.read_server(
        target,
        overrides,
        server_name=source.server_name,
        progress=lambda message: None,
        interruption=interruption,
    )
