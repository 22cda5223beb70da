"""Families of options: what several commands take, declared once.

A command has a family as one parameter, and `with_families` gives typer the options of it one by one.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, get_type_hints

from skillgen.cli import options
from skillgen.cli.console import Console
from skillgen.pipeline.documenting import formats_named
from skillgen.pipeline.installing import install_folders, profile_named
from skillgen.pipeline.options import DEFAULT_OUT, DescriptionOptions, OutputOptions, Overrides
from skillgen.render.document import DEFAULT_FORMATS, DEFAULT_PROFILE

_DEFAULT_EMIT = ",".join(DEFAULT_FORMATS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFamily:
    """How a server is reached."""

    url: options.Url = None
    config: options.Config = None
    server: options.Server = None
    snapshot: options.Snapshot = None
    manifest: options.Manifest = None
    env: options.Env = None
    header: options.Header = None
    cwd: options.Cwd = None
    login: options.Login = False
    client_id: options.ClientId = None
    client_secret: options.ClientSecret = None
    issuer: options.Issuer = None
    server_name: options.ServerName = None
    no_tool_descriptions: options.NoToolDescriptions = False
    no_older_era: options.NoOlderEra = False
    call_get_manifest: options.CallGetManifest = False
    skill_files: options.SkillFiles = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceFamily:
    """What the user says of the service."""

    name: options.Name = None
    service_version: options.ServiceVersion = None
    description: options.Description = None
    base_url: options.BaseUrl = None
    include: options.Include = None
    exclude: options.Exclude = None
    extra: options.Extra = None

    def overrides(self, timeout_s: float) -> Overrides:
        """Gives what wins over the source, and the texts that add to it, which are read for this.

        Raises:
            SourceError: a text cannot be reached or read.
        """
        said = Overrides(
            name=self.name,
            version=self.service_version,
            description=self.description,
            base_url=self.base_url,
            include=tuple(self.include or ()),
            exclude=tuple(self.exclude or ()),
        )
        if not self.extra:
            return said
        from skillgen.pipeline.reading import with_extras

        return with_extras(said, self.extra, timeout_s=timeout_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class DescriptionFamily:
    """What is read with an OpenAPI description."""

    overlay: options.Overlay = None
    allow_remote_refs: options.AllowRemoteRefs = False
    allow_outside_refs: options.AllowOutsideRefs = False

    def description_options(self, header: Iterable[str] | None, timeout_s: float) -> DescriptionOptions:
        """Gives what the pipeline needs to know; takes the headers as they were given.

        Raises:
            UsageError: a header makes no sense.
        """
        return DescriptionOptions(
            timeout_s=timeout_s,
            headers=options.header_values(header),
            overlays=tuple(self.overlay or ()),
            allow_remote_refs=self.allow_remote_refs,
            allow_outside_refs=self.allow_outside_refs,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputFamily:
    """Where documents go, and what may happen to those that are there."""

    out: options.Out = Path(DEFAULT_OUT)
    emit: options.Emit = _DEFAULT_EMIT
    templates: options.TemplatesDir = None
    profile: options.Profile = DEFAULT_PROFILE
    install: options.Install = None
    user: options.User = False
    check: options.Check = False
    allow_empty: options.AllowEmpty = False
    force: options.Force = False
    prune: options.Prune = False
    strict: options.Strict = False
    as_json: options.AsJson = False

    def output_options(self) -> OutputOptions:
        """Gives what the pipeline needs to know.

        Raises:
            UsageError: a format, a profile or a host is unknown.
        """
        return OutputOptions(
            out=self.out,
            formats=formats_named(self.emit),
            templates=self.templates,
            profile=profile_named(self.profile),
            install=install_folders(self.install or (), user=self.user, formats=formats_named(self.emit)),
            check=self.check,
            allow_empty=self.allow_empty,
            force=self.force,
            prune=self.prune,
            strict=self.strict,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFamily:
    """How long a request may take, and what is printed."""

    timeout: options.Timeout = 30.0
    quiet: options.Quiet = False
    verbose: options.Verbose = False
    debug: options.Debug = False

    def console(self) -> Console:
        """Gives what prints."""
        return Console(self.quiet, self.verbose, self.debug)


def with_families(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command whose signature has the options of each family in the family's place."""
    hints = get_type_hints(command, include_extras=True)
    families: dict[str, type[Any]] = {}
    shown: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        annotation = hints[name]
        if is_dataclass(annotation) and isinstance(annotation, type):
            families[name] = annotation
            shown += _options_of(annotation)
        else:
            shown.append(parameter.replace(annotation=annotation))

    @functools.wraps(command)
    def flat(**values: Any) -> None:
        for name, family in families.items():
            values[name] = family(**{field.name: values.pop(field.name) for field in fields(family)})
        command(**values)

    flat.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    flat.__annotations__ = {parameter.name: parameter.annotation for parameter in shown}
    return flat


def _options_of(family: type[Any]) -> list[inspect.Parameter]:
    hints = get_type_hints(family, include_extras=True)
    return [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name]
        )
        for field in fields(family)
    ]
