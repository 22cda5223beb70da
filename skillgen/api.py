"""The public Python API: read a source, write its documents or check them, build a project.

`import skillgen` offers everything here; docs/api.md explains it. The command line is built on the same functions of
`pipeline`. A fatal error is a `SkillgenError`; a defect of a source is a value, in `problems`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from skillgen.config.loader import project_file, read_project
from skillgen.errors import (
    EditedError,
    ExitCode,
    OutputError,
    Problem,
    SkillgenError,
    SourceError,
    UsageError,
)
from skillgen.model.auth import Endpoint
from skillgen.model.calls import Example, Output
from skillgen.model.document import DEFAULT_FORMATS, DEFAULT_PROFILE
from skillgen.model.resource import Group, Prompt, Resource, Section
from skillgen.model.schema import NamedType, Parameter, Schema
from skillgen.model.service import Service
from skillgen.model.tool import Semantics, Tool
from skillgen.model.values import Origin, Value
from skillgen.pipeline.generate import (
    DEFAULT_OUT,
    DescriptionOptions,
    File,
    OutputOptions,
    Overrides,
    Result,
    install_folders,
    parse_formats,
    parse_profile,
    write_documents,
)

__all__ = [
    "EditedError",
    "Endpoint",
    "Example",
    "ExitCode",
    "File",
    "Group",
    "NamedType",
    "Origin",
    "Output",
    "OutputError",
    "Parameter",
    "Problem",
    "Prompt",
    "Resource",
    "Result",
    "Schema",
    "Section",
    "Semantics",
    "Service",
    "SkillgenError",
    "SourceError",
    "Tool",
    "UsageError",
    "Value",
    "build",
    "check",
    "generate",
    "read",
    "render_documents",
]

Notify = Callable[[str], None]
"""Receives messages for a person: progress, and the URL to log in at."""


def read(
    source: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    *,
    command: Sequence[str] = (),
    url: str | None = None,
    config: str | os.PathLike[str] | None = None,
    server: str | None = None,
    env: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
    login: bool = False,
    client_id: str | None = None,
    client_secret: str | None = None,
    issuer: str | None = None,
    no_tool_descriptions: bool = False,
    no_legacy_handshake: bool = False,
    call_get_manifest: bool = False,
    skill_files: bool = False,
    server_name: str | None = None,
    overlays: Sequence[str] = (),
    allow_remote_refs: bool = False,
    allow_outside_refs: bool = False,
    timeout: float = 30.0,
    name: str | None = None,
    version: str | None = None,
    description: str | None = None,
    base_url: str | None = None,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    extra: Sequence[str] = (),
    notify: Notify | None = None,
) -> Service:
    """Reads a service from one source.

    `source` is the path or URL of an OpenAPI description, a service manifest or a snapshot, the base URL of a service
    that publishes one, `-` for standard input, or such a document as a parsed mapping. An MCP server is given by
    `command` (over stdio), by `url` (over HTTP), or by `config` (a client configuration; `server` names one of its
    servers). The other options are those of the command line; values of `env` and `headers` are literal.

    Raises:
        SourceError: the source cannot be reached or read.
        UsageError: an option is invalid, no source or more than one is given, or the source has several services.
    """
    from skillgen.pipeline import read as reading
    from skillgen.sources.mcp.session import CancelToken
    from skillgen.sources.mcp.target import CrawlScope, Login, ServerTarget

    given = {"source": source is not None, "command": bool(command), "url": bool(url), "config": config is not None}
    names = [key for key, is_given in given.items() if is_given]
    if len(names) != 1:
        what = f"several sources are given: {', '.join(names)}" if names else "no source is given"
        raise UsageError(what, fix="give one of source, command, url and config")
    overrides = Overrides(
        name=name,
        version=version,
        description=description,
        base_url=base_url,
        include=tuple(include),
        exclude=tuple(exclude),
    )
    if extra:
        overrides = reading.with_extras(overrides, extra, timeout_s=timeout)
    if source is not None:
        options = DescriptionOptions(
            timeout_s=timeout,
            headers=tuple((headers or {}).items()),
            overlays=tuple(overlays),
            allow_remote_refs=allow_remote_refs,
            allow_outside_refs=allow_outside_refs,
        )
        if isinstance(source, Mapping):
            return _only(reading.read_parsed(source, overrides, options))
        return _only(reading.read_document(os.fspath(source), overrides, options))
    scope = CrawlScope(
        no_tool_descriptions=no_tool_descriptions,
        no_legacy_handshake=no_legacy_handshake,
        call_get_manifest=call_get_manifest,
        skill_files=skill_files,
    )
    access = Login(
        is_requested=login,
        announce=notify if login else None,
        client_id=client_id,
        client_secret=client_secret,
        issuer=issuer,
    )
    progress = notify or (lambda message: None)
    if config is None:
        target = ServerTarget(
            command=tuple(command),
            url=url,
            env=env or {},
            headers=tuple((headers or {}).items()),
            cwd=Path(cwd) if cwd is not None else None,
            login=access,
            timeout_s=timeout,
            scope=scope,
        )
        return reading.read_server(target, overrides, server_name=server_name, progress=progress)
    servers = reading.servers_in_file(
        Path(config), server, given=env or {}, environment=os.environ, login=access, scope=scope, timeout_s=timeout
    )
    if len(servers) > 1:
        raise _several([item.name for item in servers], "choose one with server=")
    outcome = reading.read_servers(servers, overrides, progress, CancelToken())[0].outcome
    if isinstance(outcome, SkillgenError):
        raise outcome
    return outcome


def _only(services: Sequence[Service]) -> Service:
    if len(services) != 1:
        raise _several([service.name for service in services], "write a snapshot of one service")
    return services[0]


def _several(names: Sequence[str], fix: str) -> UsageError:
    return UsageError(f"the source has {len(names)} services: {', '.join(names[:10])}", fix=fix)


def generate(
    service: Service,
    out: str | os.PathLike[str] = DEFAULT_OUT,
    *,
    emit: str | Iterable[str] = DEFAULT_FORMATS,
    templates: str | os.PathLike[str] | None = None,
    profile: str = DEFAULT_PROFILE,
    install_to: Sequence[str] = (),
    user: bool = False,
    allow_empty: bool = False,
    force: bool = False,
    prune: bool = False,
    strict: bool = False,
) -> Result:
    """Writes the documents of a service to the folder `out`. The options are those of the command line.

    Raises:
        EditedError: a file that would be overwritten was edited; nothing was written.
        OutputError: a file cannot be written.
        SourceError: the service lacks what its documents have, or has problems and `strict` is set.
        UsageError: an option or a template is invalid.
    """
    options = _output_options(out, emit, templates, profile, install_to, user)
    return _written(
        service, replace(options, allow_empty=allow_empty, force=force, prune=prune, strict=strict, check=False)
    )


def check(
    service: Service,
    out: str | os.PathLike[str] = DEFAULT_OUT,
    *,
    emit: str | Iterable[str] = DEFAULT_FORMATS,
    templates: str | os.PathLike[str] | None = None,
    profile: str = DEFAULT_PROFILE,
    install_to: Sequence[str] = (),
    user: bool = False,
    allow_empty: bool = False,
    force: bool = False,
    prune: bool = False,
    strict: bool = False,
) -> Result:
    """Compares the documents in the folder `out` with those that `generate` would write. Writes nothing.

    `drift` of the result is true if they differ, and `diff` is the difference.

    Raises:
        OutputError: a file cannot be read.
        SourceError: the service lacks what its documents have, or has problems and `strict` is set.
        UsageError: an option or a template is invalid.
    """
    options = _output_options(out, emit, templates, profile, install_to, user)
    return _written(
        service, replace(options, allow_empty=allow_empty, force=force, prune=prune, strict=strict, check=True)
    )


def render_documents(
    service: Service,
    *,
    emit: str | Iterable[str] = DEFAULT_FORMATS,
    profile: str = DEFAULT_PROFILE,
    templates: str | os.PathLike[str] | None = None,
) -> dict[str, str]:
    """Returns the documents of a service, path to text. Reads and writes no documents.

    Raises:
        UsageError: an option or a template is invalid.
    """
    from skillgen.render import formats

    options = _output_options("", emit, templates, profile, (), False)
    documents = formats.render_documents(service, options.formats, options.templates, options.profile)
    return {document.path: document.text for document in documents}


def build(
    config: str | os.PathLike[str] | None = None,
    *,
    target: str | None = None,
    out: str | os.PathLike[str] | None = None,
    emit: str | Iterable[str] | None = None,
    templates: str | os.PathLike[str] | None = None,
    profile: str | None = None,
    install_to: Sequence[str] = (),
    user: bool = False,
    timeout: float | None = None,
    check: bool = False,
    allow_empty: bool = False,
    force: bool = False,
    prune: bool = False,
    strict: bool = False,
    notify: Notify | None = None,
) -> Result:
    """Builds every target of a project file, or only `target`; with `check`, writes nothing.

    `config` is the file; by default the `skillgen.yaml` of the current folder, else its `pyproject.toml`. The other
    options win over those of every target. A target that fails does not stop the others: `errors` of the result says
    why, and `exit_code` is what the command line would exit with.

    Raises:
        UsageError: the project file or an option is invalid.
    """
    from skillgen.pipeline.build import CliOverrides, build_targets, prune_targets, resolve_targets

    file = project_file(Path(config) if config is not None else None)
    overrides = CliOverrides(
        out=Path(out) if out is not None else None,
        emit=None if emit is None else _joined(emit),
        templates=Path(templates) if templates is not None else None,
        profile=profile,
        install=tuple(install_to),
        user=user,
        timeout_s=timeout,
        check=check,
        allow_empty=allow_empty,
        force=force,
        prune=prune,
        strict=strict,
    )
    targets = resolve_targets(read_project(file).targets, file, target, overrides)
    result = Result()
    for built in build_targets(targets, os.environ, notify):
        result = result.joined(built.result)
    return result if target is not None else result.joined(prune_targets(targets, result, overrides.out))


def _joined(emit: str | Iterable[str]) -> str:
    return emit if isinstance(emit, str) else ",".join(emit)


def _output_options(
    out: str | os.PathLike[str],
    emit: str | Iterable[str],
    templates: str | os.PathLike[str] | None,
    profile: str,
    install_to: Sequence[str],
    user: bool,
) -> OutputOptions:
    formats = parse_formats(_joined(emit))
    return OutputOptions(
        out=Path(out),
        formats=formats,
        templates=Path(templates) if templates is not None else None,
        profile=parse_profile(profile),
        install=install_folders(install_to, user=user, formats=formats),
    )


def _written(service: Service, options: OutputOptions) -> Result:
    result = write_documents([service], options)
    if result.errors:
        raise result.errors[0]
    return result
