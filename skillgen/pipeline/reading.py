"""From a source to services: what each kind of source needs, and what the user says over it."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from skillgen.errors import Problem, ProblemLog, SourceError, UsageError
from skillgen.model.access import Endpoint
from skillgen.model.service import Service
from skillgen.model.value import Json, Origin
from skillgen.pipeline.options import DescriptionOptions, Overrides, Progress
from skillgen.sources.addresses import public_url
from skillgen.sources.discovery import discovered_document, not_a_description
from skillgen.sources.document import Document, is_url, load_document
from skillgen.sources.fetch import Access
from skillgen.sources.given import secrets_of_headers, secrets_of_url
from skillgen.sources.infer import completed
from skillgen.sources.kinds import is_description, kind_of_document
from skillgen.sources.mcp.manifest_tool import manifest_in
from skillgen.sources.openapi.bundle import ReferencePolicy
from skillgen.sources.openapi.service import service_from_description
from skillgen.sources.screening import screened
from skillgen.sources.secrets import Secrets, report_url
from skillgen.sources.selection import patterns_from, selected
from skillgen.sources.snapshot import is_snapshot, services_from_snapshot

if TYPE_CHECKING:
    from skillgen.sources.mcp.interruption import Interruption
    from skillgen.sources.mcp.target import ServerTarget


def read_description(source: str, overrides: Overrides, options: DescriptionOptions) -> Service:
    """Reads an OpenAPI description: at the source, or where the service at that address publishes it.

    Raises:
        SourceError: it cannot be reached or read.
    """
    problems, access = ProblemLog(), _access(source, options)
    with access.secrets.kept_from_errors():
        document = discovered_document(source, problems, access, is_description)
        return _from_description(document, problems, overrides, options, access)


def read_server(
    target: ServerTarget,
    overrides: Overrides,
    *,
    server_name: str | None,
    progress: Progress,
    interruption: Interruption | None = None,
) -> Service:
    """Crawls an MCP server; `interruption` ends it from another thread.

    Raises:
        SourceError: it cannot be reached, or does not list its tools.
    """
    from skillgen.sources.mcp.client_entry import client_entry_of
    from skillgen.sources.mcp.crawl import crawl
    from skillgen.sources.mcp.service import service_from_crawl

    found = crawl(target, progress, interruption=interruption)
    service = service_from_crawl(found, server_name=server_name)
    origins = {**(service.origins or {}), "client_entry": Origin("declared", "command line")}
    service = replace(service, client_entry=client_entry_of(target, found.transport), origins=origins)
    if overrides.version is None:
        service = replace(service, problems=(*service.problems, *_version_problems(service, target)))
    return completed(overridden(service, overrides))


def _version_problems(service: Service, target: ServerTarget) -> Iterator[Problem]:
    from skillgen.sources.mcp.environment import sdk_with_version

    if target.command and service.version and (sdk := sdk_with_version(target.command, target.caller, service.version)):
        yield Problem(
            code="version-of-sdk",
            level="warning",
            where="/initialize/serverInfo/version",
            message=f"the server reports {service.version}, which is the version of its SDK, {sdk}",
            fix="set a version in the server, `version:` in skillgen.yaml, or --service-version",
        )


def read_snapshot(source: str, overrides: Overrides, *, timeout_s: float) -> tuple[Service, ...]:
    """Reads the services of a snapshot.

    Raises:
        SourceError: it is no snapshot.
    """
    document = _loaded(source, timeout_s)
    return tuple(overridden(item, overrides) for item in services_from_snapshot(document.data, document.name))


def read_manifest(
    source: str, overrides: Overrides, *, server_name: str | None, timeout_s: float, secrets: Secrets | None = None
) -> Service:
    """Reads a service manifest (seed 004, 1).

    Raises:
        SourceError: it cannot be reached or read, or is none.
    """
    document = _loaded(source, timeout_s, secrets)
    return _from_manifest(document, overrides, server_name)


def read_document(source: str, overrides: Overrides, options: DescriptionOptions) -> tuple[Service, ...]:
    """Reads a document whose kind its content tells.

    Raises:
        SourceError: it is of no kind that skillgen reads.
    """
    problems, access = ProblemLog(), _access(source, options)
    with access.secrets.kept_from_errors():
        document = discovered_document(source, problems, access, _is_readable)
        return _from_document(document, problems, overrides, options, access)


def _from_document(
    document: Document, problems: ProblemLog, overrides: Overrides, options: DescriptionOptions, access: Access
) -> tuple[Service, ...]:
    if is_snapshot(document.data):
        return tuple(overridden(item, overrides) for item in services_from_snapshot(document.data, document.name))
    if is_description(document.data):
        return (_from_description(document, problems, overrides, options, access),)
    if manifest_in(document.data) is not None:
        return (_from_manifest(document, overrides, None),)
    if (kind := kind_of_document(document.data)) is not None:
        raise not_a_description(document.name, kind)
    raise SourceError(
        "is neither an OpenAPI description nor a service manifest nor a snapshot",
        where=document.name,
        fix="give one of them, or a server: --url URL or -- COMMAND",
    )


def with_extras(overrides: Overrides, sources: Iterable[str], *, timeout_s: float) -> Overrides:
    """Gives what the user says of a service, with texts that add to it.

    Raises:
        SourceError: one of them cannot be reached or read.
    """
    from skillgen.sources.extra_text import load_extra

    return replace(overrides, extras=tuple(load_extra(source, timeout_s=timeout_s) for source in sources))


def overridden(service: Service, overrides: Overrides) -> Service:
    """Gives the service with what the user says of it; what its source says is screened first, whatever the source."""
    if overrides.extras:
        from skillgen.sources.extra_text import extended

        service = functools.reduce(extended, overrides.extras, service)
    service = selected(
        screened(service),
        patterns_from("--include", overrides.include),
        patterns_from("--exclude", overrides.exclude),
    )
    origins = dict(service.origins or {})
    for option, value in (("--name", overrides.name), ("--service-version", overrides.version)):
        if value is not None and not value.strip():
            raise UsageError("is empty", where=option, fix="give it a value, or leave it out")
    if overrides.name is not None:
        # The title would stand in every heading in its place.
        service = replace(service, name=overrides.name, title=None)
        origins["name"] = Origin("declared", "--name")
    if overrides.version is not None:
        service, origins["version"] = (
            replace(service, version=overrides.version),
            Origin("declared", "--service-version"),
        )
    if overrides.description is not None:
        service, origins["summary"] = (
            replace(service, summary=overrides.description),
            Origin("declared", "--description"),
        )
    if overrides.base_url is not None:
        url = public_url(overrides.base_url)
        if url != overrides.base_url or not url.startswith(("http://", "https://")):
            raise UsageError(
                "is no address without credentials and query", where="--base-url", fix="give https://HOST/PATH"
            )
        rest = tuple(endpoint for endpoint in service.endpoints if endpoint.url != url)
        service = replace(service, endpoints=(Endpoint(url=url), *rest))
        origins["endpoints"] = Origin("declared", "--base-url")
    return replace(service, origins=origins or None)


def _from_description(
    document: Document, problems: ProblemLog, overrides: Overrides, options: DescriptionOptions, access: Access
) -> Service:
    if options.overlays:
        from skillgen.sources.overlay import overlaid

        document = overlaid(document, options.overlays, problems, access)
    policy = ReferencePolicy(outside=options.allow_outside_refs, remote=options.allow_remote_refs, access=access)
    service = service_from_description(document, problems, policy)
    # A relative address has the path of the description's own URL.
    endpoints = tuple(replace(item, url=access.secrets.hide_in_url(item.url)) for item in service.endpoints)
    if endpoints != service.endpoints:
        report_url(problems)
        service = replace(service, endpoints=endpoints)
    if overrides.base_url is not None:
        problems = _without(problems, "base-url-missing")
    found = tuple(map(access.secrets.hide_in_problem, problems))
    return completed(overridden(replace(service, problems=found), overrides))


def _from_manifest(document: Document, overrides: Overrides, server_name: str | None) -> Service:
    from skillgen.sources.mcp.service import service_from_manifest

    manifest = manifest_in(document.data)
    if manifest is None:
        raise SourceError(
            "is no service manifest: it has neither `manifest_version` nor `server` with `tools`",
            where=document.name,
            fix="give an object with `manifest_version`, `server` and `tools`; an OpenAPI description goes to "
            "from-openapi",
        )
    service = service_from_manifest(manifest, server_name=server_name)
    return completed(overridden(service, overrides))


def _access(source: str, options: DescriptionOptions) -> Access:
    secrets = options.secrets | secrets_of_headers(options.headers)
    for address in filter(is_url, (source, *options.overlays)):
        secrets |= secrets_of_url(address)
    return Access(timeout_s=options.timeout_s, headers=options.headers, secrets=secrets)


def _loaded(source: str, timeout_s: float, secrets: Secrets | None = None) -> Document:
    secrets = (secrets or Secrets()) | (secrets_of_url(source) if is_url(source) else Secrets())
    access = Access(timeout_s=timeout_s, secrets=secrets)
    with access.secrets.kept_from_errors():
        return load_document(source, ProblemLog(), access)


def _without(problems: ProblemLog, code: str) -> ProblemLog:
    kept = ProblemLog()
    for problem in problems:
        if problem.code != code:
            kept.add(problem)
    return kept


def _is_readable(data: Json) -> bool:
    return is_description(data) or is_snapshot(data) or manifest_in(data) is not None
