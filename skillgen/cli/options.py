"""The options of the command line, each declared once, and the groups in which commands take them.

A group is a dataclass. A command has it as one parameter, and `with_option_groups` replaces that parameter by the
group's options for typer. The same options are keys of skillgen.yaml: see `config.project` and `field_of_option`.
"""

from __future__ import annotations

import functools
import inspect
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias, get_type_hints

import typer

from skillgen.cli.output import Console
from skillgen.errors import UsageError
from skillgen.model.document import DEFAULT_FORMATS, DEFAULT_PROFILE, FORMATS, PROFILES
from skillgen.pipeline.generate import (
    DEFAULT_OUT,
    DescriptionOptions,
    OutputOptions,
    Overrides,
    install_folders,
    parse_formats,
    parse_profile,
)

Url: TypeAlias = Annotated[
    str | None, typer.Option(help="URL of an MCP server (Streamable HTTP, falling back to HTTP+SSE).", metavar="URL")
]
Snapshot: TypeAlias = Annotated[
    str | None, typer.Option(help="Read a snapshot that `skillgen inspect` printed, not a server.", metavar="FILE")
]
Config: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="Client configuration (.mcp.json, Claude Desktop, Cursor, VS Code), server.json or server card.",
        metavar="FILE",
    ),
]
Server: TypeAlias = Annotated[
    str | None, typer.Option(help="Read only this server of --config. Default: all.", metavar="NAME")
]
Manifest: TypeAlias = Annotated[
    str | None, typer.Option(help="Service manifest: a file, a URL, or - for standard input.", metavar="SOURCE")
]
NoToolDescriptions: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--no-tool-descriptions",
        help="Skip the tool descriptions of a progressive-disclosure server (reading them authorises its tools).",
    ),
]
NoLegacyHandshake: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--no-legacy-handshake",
        help="Do not connect a second time with the handshake of older protocol revisions.",
    ),
]
CallGetManifest: TypeAlias = Annotated[
    bool, typer.Option("--call-get-manifest", help="Call the server's tool get_manifest. No other tool is ever called.")
]
SkillFiles: TypeAlias = Annotated[
    bool, typer.Option("--skill-files", help="Read the files of the skills that the server lists.")
]
Env: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--env",
        help="Environment variable for the server: KEY=VALUE, or KEY to pass on its current value. With --config, a "
        "value for the variables in the file. Repeatable.",
        metavar="KEY",
    ),
]
Header: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--header",
        help="HTTP header for --url: 'NAME: VALUE', 'NAME: env:VARIABLE' or 'NAME: Bearer env:VARIABLE'. Repeatable.",
        metavar="HEADER",
    ),
]
Cwd: TypeAlias = Annotated[Path | None, typer.Option(help="Working directory of the server.", metavar="DIR")]
ServerName: TypeAlias = Annotated[
    str | None, typer.Option(help="Name of the server in the host's configuration.", metavar="NAME")
]
Login: TypeAlias = Annotated[
    bool, typer.Option("--login", help="Log in to --url with OAuth in the browser. Later runs reuse the login.")
]
ClientId: TypeAlias = Annotated[
    str | None,
    typer.Option(help="OAuth client to log in as: a registered ID, or the URL of its metadata.", metavar="ID"),
]
ClientSecret: TypeAlias = Annotated[
    str | None, typer.Option(help="Secret of --client-id, as env:VARIABLE.", metavar="env:VARIABLE")
]
Issuer: TypeAlias = Annotated[
    str | None, typer.Option(help="Authorization server that --client-secret may be sent to.", metavar="URL")
]
Timeout: TypeAlias = Annotated[float, typer.Option(help="Timeout of one request, in seconds.", min=0.1, max=86_400)]
Name: TypeAlias = Annotated[str | None, typer.Option(help="Name of the service. Replaces the source's.")]
ServiceVersion: TypeAlias = Annotated[
    str | None, typer.Option(help="Version of the service. Replaces the source's.", metavar="VERSION")
]
Description: TypeAlias = Annotated[
    str | None, typer.Option(help="What the service does and when to use it. Replaces the source's description.")
]
Extra: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        help="Captured --ai-help text or llms.txt that adds to the description. Repeatable.", metavar="SOURCE"
    ),
]
BaseUrl: TypeAlias = Annotated[
    str | None, typer.Option(help="Base URL of the API. Replaces the source's.", metavar="URL")
]
Include: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--include",
        help="Document only matching tools: NAME-GLOB, tag:GLOB, path:GLOB or method:GET. Repeatable.",
        metavar="PATTERN",
    ),
]
Exclude: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--exclude", help="Leave out matching tools; patterns as for --include. Repeatable.", metavar="PATTERN"
    ),
]
Overlay: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--overlay", help="Apply an OpenAPI Overlay to the description first. Repeatable.", metavar="FILE"),
]
AllowRemoteRefs: TypeAlias = Annotated[
    bool, typer.Option("--allow-remote-refs", help="Fetch URLs that the description refers to with $ref.")
]
AllowOutsideRefs: TypeAlias = Annotated[
    bool, typer.Option("--allow-outside-refs", help="Read files outside the description's folder that it refers to.")
]
DescriptionHeader: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--header",
        help="HTTP header to fetch the description: 'NAME: VALUE', 'NAME: env:VARIABLE' or 'NAME: Bearer "
        "env:VARIABLE'. Repeatable.",
        metavar="HEADER",
    ),
]
Out: TypeAlias = Annotated[Path, typer.Option("-o", "--out", help="Folder for the documents.", metavar="DIR")]
EMIT = typer.Option(help=f"Output formats, comma-separated, of {','.join(FORMATS)}.", metavar="LIST")
Emit: TypeAlias = Annotated[str, EMIT]
TemplatesDir: TypeAlias = Annotated[
    Path | None,
    typer.Option("--templates", help="Folder of templates that replace built-in ones of the same name.", metavar="DIR"),
]
PROFILE = typer.Option(
    help=f"Front matter of the skill: {', or '.join(f'{name} for {text}' for name, text in PROFILES.items())}.",
    metavar="NAME",
)
Profile: TypeAlias = Annotated[str, PROFILE]
Install: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--install",
        help="Also install the skill for a host: claude (.claude/skills) or agents (.agents/skills). Repeatable.",
        metavar="HOST",
    ),
]
User: TypeAlias = Annotated[
    bool, typer.Option("--user", help="Install into the home folder, not the current one (with --install).")
]
Check: TypeAlias = Annotated[
    bool, typer.Option("--check", help="Write nothing. Print a diff and exit with 1 if a file would change.")
]
AllowEmpty: TypeAlias = Annotated[
    bool,
    typer.Option("--allow-empty", help="Replace documents even if the source now lacks tools or parts of them."),
]
Force: TypeAlias = Annotated[
    bool,
    typer.Option("--force", help="Overwrite edits within generated text. Lines that were added elsewhere stay."),
]
Prune: TypeAlias = Annotated[
    bool,
    typer.Option("--prune", help="Remove documents and installed skills of targets and servers that no longer exist."),
]
Strict: TypeAlias = Annotated[bool, typer.Option("--strict", help="Treat warnings as errors.")]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print a JSON report to standard output.")]
Quiet: TypeAlias = Annotated[bool, typer.Option("-q", "--quiet", help="Print only errors.")]
Verbose: TypeAlias = Annotated[bool, typer.Option("-v", "--verbose", help="Print every problem, including notes.")]
Debug: TypeAlias = Annotated[bool, typer.Option("--debug", help="Print tracebacks of errors.")]


_FIELDS = {"header": "headers", "overlay": "overlays", "install": "install_to", "service_version": "version"}
"""Options whose field in the project file has another name."""

_HEADER_VARIABLE = re.compile(r"(?P<scheme>[A-Za-z][\w-]*[ \t]+)?env:(?P<name>\S*)")


def field_of_option(option: str) -> str:
    """Returns the field of `config.project.Source` or `Target` that corresponds to an option."""
    return _FIELDS.get(option, option)


def parse_env(entries: Iterable[str] | None) -> dict[str, str]:
    """Parses `--env`: `KEY=VALUE`, or `KEY` for its value in this environment.

    Raises:
        UsageError: a variable is not set, or an entry has no name.
    """
    values = {}
    for entry in entries or ():
        name, equals, value = entry.partition("=")
        if not name:
            raise UsageError("an entry has no name", where="--env", fix="write --env KEY=VALUE or --env KEY")
        values[name] = value if equals else _variable(name, "--env", or_else=", or {name}=…")
    return values


def parse_headers(entries: Iterable[str] | None) -> tuple[tuple[str, str], ...]:
    """Parses `--header`: `NAME: VALUE`; the value may be `env:VARIABLE`, also after a scheme (`Bearer env:TOKEN`).

    Raises:
        UsageError: an entry does not have that form, or the variable is not set.
    """
    headers = []
    for entry in entries or ():
        name, colon, value = entry.partition(":")
        name, value = name.strip(), value.strip()
        if not colon or not name or not value:
            raise UsageError(
                "a header is not of the form 'NAME: VALUE'", where="--header", fix="write --header 'NAME: VALUE'"
            )
        if variable := _HEADER_VARIABLE.fullmatch(value):
            value = (variable["scheme"] or "") + _variable(variable["name"], "--header")
        headers.append((name, value))
    return tuple(headers)


def parse_secret(entry: str | None) -> str | None:
    """Parses `--client-secret`, which must name a variable: other users of the machine can see command lines.

    Raises:
        UsageError: it does not name a variable, or the variable is not set.
    """
    if entry is None:
        return None
    prefix, _, variable = entry.partition(":")
    if prefix != "env" or not variable:
        raise UsageError(
            "the secret is not of the form env:VARIABLE", where="--client-secret", fix="put it into a variable"
        )
    return _variable(variable, "--client-secret")


def _variable(name: str, option: str, *, or_else: str = "") -> str:
    if name not in os.environ:
        from skillgen.security.secrets import is_made_of_words

        shown = name if is_made_of_words(name) else "NAME"  # the user may have written the secret without its name
        raise UsageError(
            f"{shown} is not set in this environment", where=option, fix="set it" + or_else.format(name=shown)
        )
    return os.environ[name]


_DEFAULT_EMIT = ",".join(DEFAULT_FORMATS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """Options that select a server and say how to connect to it."""

    url: Url = None
    config: Config = None
    server: Server = None
    snapshot: Snapshot = None
    manifest: Manifest = None
    env: Env = None
    header: Header = None
    cwd: Cwd = None
    login: Login = False
    client_id: ClientId = None
    client_secret: ClientSecret = None
    issuer: Issuer = None
    server_name: ServerName = None
    no_tool_descriptions: NoToolDescriptions = False
    no_legacy_handshake: NoLegacyHandshake = False
    call_get_manifest: CallGetManifest = False
    skill_files: SkillFiles = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceOptions:
    """Options that replace or add to what the source says about the service."""

    name: Name = None
    service_version: ServiceVersion = None
    description: Description = None
    base_url: BaseUrl = None
    include: Include = None
    exclude: Exclude = None
    extra: Extra = None

    def overrides(self, timeout_s: float) -> Overrides:
        """Returns the overrides for the pipeline. Reads the texts of `--extra`.

        Raises:
            SourceError: a text cannot be reached or read.
        """
        overrides = Overrides(
            name=self.name,
            version=self.service_version,
            description=self.description,
            base_url=self.base_url,
            include=tuple(self.include or ()),
            exclude=tuple(self.exclude or ()),
        )
        if not self.extra:
            return overrides
        from skillgen.pipeline.read import with_extras

        return with_extras(overrides, self.extra, timeout_s=timeout_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenapiOptions:
    """Options for reading an OpenAPI description."""

    overlay: Overlay = None
    allow_remote_refs: AllowRemoteRefs = False
    allow_outside_refs: AllowOutsideRefs = False

    def description_options(self, header: Iterable[str] | None, timeout_s: float) -> DescriptionOptions:
        """Returns the options for the pipeline; `header` holds the unparsed values of `--header`.

        Raises:
            UsageError: a header is invalid.
        """
        return DescriptionOptions(
            timeout_s=timeout_s,
            headers=parse_headers(header),
            overlays=tuple(self.overlay or ()),
            allow_remote_refs=self.allow_remote_refs,
            allow_outside_refs=self.allow_outside_refs,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentOptions:
    """Options for where the documents go, and what may happen to existing ones."""

    out: Out = Path(DEFAULT_OUT)
    emit: Emit = _DEFAULT_EMIT
    templates: TemplatesDir = None
    profile: Profile = DEFAULT_PROFILE
    install: Install = None
    user: User = False
    check: Check = False
    allow_empty: AllowEmpty = False
    force: Force = False
    prune: Prune = False
    strict: Strict = False
    as_json: AsJson = False

    def output_options(self) -> OutputOptions:
        """Returns the options for the pipeline.

        Raises:
            UsageError: a format, a profile or a host is unknown.
        """
        return OutputOptions(
            out=self.out,
            formats=parse_formats(self.emit),
            templates=self.templates,
            profile=parse_profile(self.profile),
            install=install_folders(self.install or (), user=self.user, formats=parse_formats(self.emit)),
            check=self.check,
            allow_empty=self.allow_empty,
            force=self.force,
            prune=self.prune,
            strict=self.strict,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """Options of every command that reads a source: the timeout, and what is printed."""

    timeout: Timeout = 30.0
    quiet: Quiet = False
    verbose: Verbose = False
    debug: Debug = False

    def console(self) -> Console:
        """Returns the console for these options."""
        return Console(self.quiet, self.verbose, self.debug)


def with_option_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Decorates a command: typer sees the options of each group in place of the group's parameter."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, type[Any]] = {}
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        annotation = hints[name]
        if is_dataclass(annotation) and isinstance(annotation, type):
            groups[name] = annotation
            parameters += _parameters_of(annotation)
        else:
            parameters.append(parameter.replace(annotation=annotation))

    @functools.wraps(command)
    def flat_command(**values: Any) -> None:
        for name, group in groups.items():
            values[name] = group(**{field.name: values.pop(field.name) for field in fields(group)})
        command(**values)

    flat_command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    flat_command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return flat_command


def _parameters_of(group: type[Any]) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name]
        )
        for field in fields(group)
    ]
