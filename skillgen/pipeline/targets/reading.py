"""Reads the source of a target into services, with the words of its author."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from skillgen.errors import SkillgenError, UsageError
from skillgen.model.service import Service
from skillgen.pipeline.options import Overrides
from skillgen.pipeline.targets.choosing import NamedTarget, located_in_file
from skillgen.pipeline.targets.filling import FilledSource
from skillgen.pipeline.targets.inputs import inputs_of
from skillgen.pipeline.targets.printed import printed_description


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadTarget:
    """What came of reading a target."""

    services: tuple[Service, ...]
    """Its services, with the author's words."""

    failures: tuple[SkillgenError, ...] = ()
    """Why others of it could not be read."""

    inputs: str | None = None
    """The digest of all that the documents are made from, where it is known without reading the source."""


def read_target(named: NamedTarget, environment: Mapping[str, str]) -> ReadTarget:
    """Reads the source of a target.

    Raises:
        SourceError: it cannot be reached or read.
        UsageError: the target makes no sense.
    """
    from skillgen.pipeline.authoring import authored

    inputs = inputs_of(named)
    with located_in_file(named.pointer):
        services, failures = _services(FilledSource(named, environment))
    if len(services) > 1 and (named.target.name or named.target.description):
        raise UsageError(
            "name and description are of one service, and the source has several",
            where=named.pointer,
            fix="make a target for each, with server: NAME",
        )
    found = tuple(authored(service, named.target, named.pointer) for service in services)
    return ReadTarget(
        services=found,
        failures=failures,
        inputs=f"{inputs}/{len(found)}" if inputs is not None and not failures else None,
    )


def _services(filled: FilledSource) -> tuple[tuple[Service, ...], tuple[SkillgenError, ...]]:
    from skillgen.pipeline import reading

    target, source = filled.named.target, filled.source
    overrides = Overrides(
        name=target.name,
        description=target.description,
        base_url=target.base_url,
        include=target.include,
        exclude=target.exclude,
    )
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
        return (printed_description(filled, overrides),), ()
    if source.config is not None:
        return _configured(filled, source.config, overrides)
    return (_crawled(filled, overrides),), ()


def _configured(
    filled: FilledSource, file: str, overrides: Overrides
) -> tuple[tuple[Service, ...], tuple[SkillgenError, ...]]:
    from skillgen.pipeline.several import read_servers, servers_in_file
    from skillgen.sources.mcp.target import CrawlScope, Login

    servers = servers_in_file(
        filled.named.path(file),
        filled.source.server,
        given=filled.env(),
        environment=filled.project_environment(),
        login=Login(),
        scope=CrawlScope(),
        timeout_s=filled.source.timeout,
    )
    read = read_servers(servers, overrides, lambda message: None)
    failures = tuple(item.outcome for item in read if isinstance(item.outcome, SkillgenError))
    return tuple(item.outcome for item in read if isinstance(item.outcome, Service)), failures


def _crawled(filled: FilledSource, overrides: Overrides) -> Service:
    from skillgen.pipeline import reading
    from skillgen.sources.mcp.target import ServerTarget

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
        timeout_s=source.timeout,
    )
    target = replace(target, passed=filled.secrets)
    return reading.read_server(target, overrides, server_name=source.server_name, progress=lambda message: None)
