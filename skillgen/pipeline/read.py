"""Reads sources into services: read, apply extra texts, screen, select tools, apply overrides, infer what is missing.

There is a function for each kind of source. What the user or the author of a project declares wins over the source.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from skillgen.config.project import Links, Target
from skillgen.enrich.inference import infer_missing
from skillgen.errors import Problem, ProblemLog, SkillgenError, SourceError, UsageError, failure_from_bug
from skillgen.model.auth import Access, Endpoint
from skillgen.model.resource import Section
from skillgen.model.service import Service
from skillgen.model.values import Json, Origin, child
from skillgen.pipeline.generate import DescriptionOptions, Overrides, Progress
from skillgen.security.addresses import public_url
from skillgen.security.screening import screen_service
from skillgen.security.secrets import Secrets, report_url_secret, secrets_from_headers, secrets_from_url
from skillgen.sources.detect import detect_kind, discover_document, is_description, wrong_kind_error
from skillgen.sources.documents import (
    Document,
    document_from_parsed,
    is_snapshot,
    is_url,
    load_document,
    services_from_snapshot,
)
from skillgen.sources.http import FetchOptions
from skillgen.sources.mcp.extensions import find_manifest
from skillgen.sources.openapi.references import ReferencePolicy
from skillgen.sources.openapi.source import service_from_description
from skillgen.sources.selection import parse_patterns, select_tools

if TYPE_CHECKING:
    from skillgen.sources.mcp.session import CancelToken
    from skillgen.sources.mcp.target import CrawlScope, Login, ServerTarget


def read_description(source: str, overrides: Overrides, options: DescriptionOptions) -> Service:
    """Reads an OpenAPI description from a file or URL, or from where the service at that URL publishes it.

    Raises:
        SourceError: it cannot be reached or read.
    """
    problems, access = ProblemLog(), _fetch_options(source, options)
    with access.secrets.redact_errors():
        document = discover_document(source, problems, access, is_description)
        return _from_description(document, problems, overrides, options, access)


def read_server(
    target: ServerTarget,
    overrides: Overrides,
    *,
    server_name: str | None,
    progress: Progress,
    cancel_token: CancelToken | None = None,
) -> Service:
    """Crawls an MCP server; `cancel_token` cancels the crawl from another thread.

    Raises:
        SourceError: the server cannot be reached, or does not list its tools.
    """
    from skillgen.sources.mcp.client_config import client_entry_of
    from skillgen.sources.mcp.crawl import crawl
    from skillgen.sources.mcp.source import service_from_crawl

    result = crawl(target, progress, cancel_token=cancel_token)
    service = service_from_crawl(result, server_name=server_name)
    origins = {**(service.origins or {}), "client_entry": Origin("declared", "command line")}
    service = replace(service, client_entry=client_entry_of(target, result.transport), origins=origins)
    if overrides.version is None:
        service = replace(service, problems=(*service.problems, *_version_problems(service, target)))
    return infer_missing(with_overrides(service, overrides))


def _version_problems(service: Service, target: ServerTarget) -> Iterator[Problem]:
    from skillgen.sources.mcp.target import sdk_with_version

    if (
        target.command
        and service.version
        and (sdk := sdk_with_version(target.command, target.caller_env, service.version))
    ):
        yield Problem.of(
            code="version-of-sdk",
            where="/initialize/serverInfo/version",
            message=f"the server reports {service.version}, which is the version of its SDK, {sdk}",
            fix="set a version in the server, `version:` in skillgen.yaml, or --service-version",
        )


def read_snapshot(source: str, overrides: Overrides, *, timeout_s: float) -> tuple[Service, ...]:
    """Reads the services of a snapshot.

    Raises:
        SourceError: it cannot be read, or is not a snapshot.
    """
    document = _load(source, timeout_s)
    return tuple(with_overrides(item, overrides) for item in services_from_snapshot(document.data, document.name))


def read_manifest(
    source: str, overrides: Overrides, *, server_name: str | None, timeout_s: float, secrets: Secrets | None = None
) -> Service:
    """Reads a service manifest (seed 004, 1).

    Raises:
        SourceError: it cannot be reached or read, or is something else.
    """
    document = _load(source, timeout_s, secrets)
    return _from_manifest(document, overrides, server_name)


def read_document(source: str, overrides: Overrides, options: DescriptionOptions) -> tuple[Service, ...]:
    """Reads a description, a snapshot or a service manifest; detects which by the content.

    Raises:
        SourceError: it cannot be reached or read, or is something else.
    """
    problems, access = ProblemLog(), _fetch_options(source, options)
    with access.secrets.redact_errors():
        document = discover_document(source, problems, access, _is_readable)
        return _from_document(document, problems, overrides, options, access)


def read_parsed(data: Mapping[str, Json], overrides: Overrides, options: DescriptionOptions) -> tuple[Service, ...]:
    """Reads a parsed description, snapshot or service manifest.

    Raises:
        SourceError: it is something else.
    """
    problems, access = ProblemLog(), _fetch_options("", options)
    with access.secrets.redact_errors():
        document = document_from_parsed(data, problems, access)
        return _from_document(document, problems, overrides, options, access)


def _from_document(
    document: Document, problems: ProblemLog, overrides: Overrides, options: DescriptionOptions, access: FetchOptions
) -> tuple[Service, ...]:
    if is_snapshot(document.data):
        return tuple(with_overrides(item, overrides) for item in services_from_snapshot(document.data, document.name))
    if is_description(document.data):
        return (_from_description(document, problems, overrides, options, access),)
    if find_manifest(document.data) is not None:
        return (_from_manifest(document, overrides, None),)
    if (kind := detect_kind(document.data)) is not None:
        raise wrong_kind_error(document.name, kind)
    raise SourceError(
        "is not an OpenAPI description, a service manifest or a snapshot",
        where=document.name,
        fix="give one of them, or a server: --url URL or -- COMMAND",
    )


def with_extras(overrides: Overrides, sources: Iterable[str], *, timeout_s: float) -> Overrides:
    """Returns the overrides with the texts of `--extra`, which are read here.

    Raises:
        SourceError: a text cannot be reached or read.
    """
    from skillgen.sources.extra_text import load_extra

    return replace(overrides, extras=tuple(load_extra(source, timeout_s=timeout_s) for source in sources))


def with_overrides(service: Service, overrides: Overrides) -> Service:
    """Returns the service with the user's overrides. The source's texts are screened first, for every kind of source.

    Raises:
        UsageError: an override is empty or not a URL, or a pattern is invalid.
    """
    if overrides.extras:
        from skillgen.sources.extra_text import apply_extra_text

        service = functools.reduce(apply_extra_text, overrides.extras, service)
    service = select_tools(
        screen_service(service),
        parse_patterns("--include", overrides.include),
        parse_patterns("--exclude", overrides.exclude),
    )
    origins = dict(service.origins or {})
    for option, value in (("--name", overrides.name), ("--service-version", overrides.version)):
        if value is not None and not value.strip():
            raise UsageError("is empty", where=option, fix="give it a value, or leave it out")
    if overrides.name is not None:
        # Headings show the title if there is one, and would not show the user's name.
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
                "is not a URL without credentials and query", where="--base-url", fix="write https://HOST/PATH"
            )
        others = tuple(endpoint for endpoint in service.endpoints if endpoint.url != url)
        service = replace(service, endpoints=(Endpoint(url=url), *others))
        origins["endpoints"] = Origin("declared", "--base-url")
    return replace(service, origins=origins or None)


def _from_description(
    document: Document, problems: ProblemLog, overrides: Overrides, options: DescriptionOptions, access: FetchOptions
) -> Service:
    if options.overlays:
        from skillgen.sources.overlay import apply_overlays

        document = apply_overlays(document, options.overlays, problems, access)
    policy = ReferencePolicy(outside=options.allow_outside_refs, remote=options.allow_remote_refs, access=access)
    service = service_from_description(document, problems, policy)
    # A relative URL of a server is resolved against the description's own URL, which may hold a secret.
    endpoints = tuple(replace(item, url=access.secrets.hide_in_url(item.url)) for item in service.endpoints)
    if endpoints != service.endpoints:
        report_url_secret(problems)
        service = replace(service, endpoints=endpoints)
    if overrides.base_url is not None:
        problems = _without_problem(problems, "base-url-missing")
    redacted_problems = tuple(map(access.secrets.hide_in_problem, problems))
    return infer_missing(with_overrides(replace(service, problems=redacted_problems), overrides))


def _from_manifest(document: Document, overrides: Overrides, server_name: str | None) -> Service:
    from skillgen.sources.mcp.source import service_from_manifest

    manifest = find_manifest(document.data)
    if manifest is None:
        raise SourceError(
            "is not a service manifest: it has neither `manifest_version` nor `server` with `tools`",
            where=document.name,
            fix="give an object with `manifest_version`, `server` and `tools`; for an OpenAPI description, use "
            "from-openapi",
        )
    service = service_from_manifest(manifest, server_name=server_name)
    return infer_missing(with_overrides(service, overrides))


def _fetch_options(source: str, options: DescriptionOptions) -> FetchOptions:
    secrets = options.secrets | secrets_from_headers(options.headers)
    for address in filter(is_url, (source, *options.overlays)):
        secrets |= secrets_from_url(address)
    return FetchOptions(timeout_s=options.timeout_s, headers=options.headers, secrets=secrets)


def _load(source: str, timeout_s: float, secrets: Secrets | None = None) -> Document:
    secrets = (secrets or Secrets()) | (secrets_from_url(source) if is_url(source) else Secrets())
    access = FetchOptions(timeout_s=timeout_s, secrets=secrets)
    with access.secrets.redact_errors():
        return load_document(source, ProblemLog(), access)


def _without_problem(problems: ProblemLog, code: str) -> ProblemLog:
    others = ProblemLog()
    for problem in problems:
        if problem.code != code:
            others.add(problem)
    return others


def _is_readable(data: Json) -> bool:
    return is_description(data) or is_snapshot(data) or find_manifest(data) is not None


_AT_ONCE = 8
"""Number of servers that are crawled at the same time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedServer:
    """A server of a client configuration."""

    name: str
    """Its name in the file."""

    mount_name: str | None
    """The name under which a host mounts it; `None` if the file is not a client's, such as a server card."""

    target: ServerTarget | UsageError
    """How to connect to it, or why its entry cannot be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadServer:
    """The result of reading one server."""

    name: str
    """Its name in the file."""

    outcome: Service | SkillgenError
    """The service, or why it could not be read."""


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
    """Returns the servers of a client configuration, or only the one named `name`.

    Variables in the file take their values from `given`, then from `environment`. The command of a server gets the part
    of `environment` that every program needs.

    Raises:
        UsageError: the file cannot be read, or has no such server.
    """
    from skillgen.sources.mcp.client_config import read_client_config

    config = read_client_config(path)

    def target_or_error(key: str) -> ServerTarget | UsageError:
        try:
            target = replace(
                config.target(key, given, environment, timeout_s=timeout_s), scope=scope, caller_env=environment
            )
            return target if target.url is None else replace(target, login=login)
        except UsageError as error:
            return error

    return tuple(
        NamedServer(name=key, mount_name=None if config.is_published else key, target=target_or_error(key))
        for key in config.chosen(name)
    )


def read_servers(
    servers: Sequence[NamedServer], overrides: Overrides, progress: Progress, cancel_token: CancelToken
) -> tuple[ReadServer, ...]:
    """Crawls servers at the same time; one that fails does not affect the others. Keeps their order."""
    progress(f"crawling {len(servers)} servers")
    with ThreadPoolExecutor(max_workers=_AT_ONCE, thread_name_prefix="skillgen-crawl") as pool:
        try:
            futures = [pool.submit(_server_reader(server, overrides, cancel_token)) for server in servers]
            outcomes = [future.result() for future in futures]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            cancel_token.cancel()
            raise
    return tuple(ReadServer(name=item.name, outcome=outcome) for item, outcome in zip(servers, outcomes, strict=True))


def _server_reader(
    server: NamedServer, overrides: Overrides, cancel_token: CancelToken
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
                cancel_token=cancel_token,
            )
        except SkillgenError as error:
            return _named(error, server.name)
        except Exception as error:  # a bug that one server triggers must not cost the others
            failure = failure_from_bug(error)
            failure.where = server.name
            return failure

    return read


def _named(error: SkillgenError, name: str) -> SkillgenError:
    """Adds the name of the server to an error."""
    if isinstance(error, (SourceError, UsageError)):
        error.where = f"server {name!r} ({error.where})" if error.where else name
    return error


def with_author_texts(service: Service, target: Target, pointer: str) -> Service:
    """Returns the service with the texts of a target; `pointer` locates the target: `skillgen.yaml#/targets/api`.

    Raises:
        UsageError: a link is not a URL.
    """
    origins = dict(service.origins or {})

    def declared(name: str, key: str) -> None:
        origins[name] = Origin("declared", child(pointer, key))

    if target.name is not None:
        declared("name", "name")
    if target.version is not None:
        declared("version", "version")
    if target.description is not None:
        declared("summary", "description")
    if target.when_to_use:
        service = replace(service, when_to_use=target.when_to_use)
        declared("when_to_use", "when-to-use")
    if target.not_for:
        service = replace(service, when_not_to_use=target.not_for)
        declared("when_not_to_use", "not-for")
    if target.install:
        service = replace(service, install={**(service.install or {}), **target.install})
        declared("install", "install")
    if target.license is not None:
        service = replace(service, license=target.license)
        declared("license", "license")
    if sections := _sections(target):
        titles = {section.title.lower() for section in sections}
        others = tuple(section for section in service.sections if section.title.strip().lower() not in titles)
        service = replace(service, sections=(*sections, *others))
    service = replace(service, access=_access(service.access, target.links, child(pointer, "links")))
    return _with_groups(replace(service, origins=origins or None), target, pointer)


def _sections(target: Target) -> list[Section]:
    sections = []
    if target.notes is not None:
        sections.append(Section(title="Notes", body=target.notes.strip()))
    if target.best_practices:
        sections.append(Section(title="Best Practices", body="\n".join(f"- {item}" for item in target.best_practices)))
    return sections


def _access(access: Access, links: Links, pointer: str) -> Access:
    origins = dict(access.origins or {})
    for name in ("cli", "api", "web", "mcp"):
        link = getattr(links, name)
        if link is None:
            continue
        if link.json is not None:
            url = public_url(link.json)
            if url != link.json or not url.startswith(("http://", "https://")):
                raise UsageError(
                    "is not a URL without credentials and query",
                    where=child(pointer, name),
                    fix="write https://HOST/PATH, or null if the service has no such access",
                )
        access = replace(access, **{name: link})
        origins[name] = Origin("declared", child(pointer, name))
    return replace(access, origins=origins or None)


def _with_groups(service: Service, target: Target, pointer: str) -> Service:
    known = {name for group in service.groups for name in (group.name, group.title)}
    problems = [
        Problem.of(
            code="group-unknown",
            where=child(child(pointer, "groups"), name),
            message=f"the service has no group {name!r}",
            fix=f"name one of {', '.join(group.name for group in service.groups)}" if service.groups else None,
        )
        for name in target.groups
        if name not in known
    ]
    groups = []
    for group in service.groups:
        texts = target.groups.get(group.name) or target.groups.get(group.title)
        if texts is not None:
            group = replace(group, title=texts.title or group.title, description=texts.intro or group.description)
        groups.append(group)
    return replace(service, groups=tuple(groups), problems=(*service.problems, *problems))
