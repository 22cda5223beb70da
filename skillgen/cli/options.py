"""Every option once: flag, help, config key, default; option groups.

The options, one by one, and how the values of some are read; the option groups put them together.

Families of options: what several commands take, declared once.

A command has a family as one parameter, and `with_option_groups` gives typer the options of it one by one.
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
from skillgen.pipeline.generate import (
    DEFAULT_OUT,
    DescriptionOptions,
    OutputOptions,
    Overrides,
    install_folders,
    parse_formats,
    parse_profile,
)
from skillgen.render.document import DEFAULT_FORMATS, DEFAULT_PROFILE

Url: TypeAlias = Annotated[
    str | None, typer.Option(help="Streamable HTTP address of a server; falls back to HTTP+SSE.", metavar="URL")
]
Snapshot: TypeAlias = Annotated[
    str | None, typer.Option(help="What `inspect` captured, in place of a server.", metavar="FILE")
]
Config: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="A client's server file (.mcp.json, Claude Desktop, Cursor, VS Code), a server.json or a server card.",
        metavar="FILE",
    ),
]
Server: TypeAlias = Annotated[
    str | None, typer.Option(help="The one server of --config to read; default: all.", metavar="NAME")
]
Manifest: TypeAlias = Annotated[
    str | None, typer.Option(help="A service manifest: a file, a URL, or - for standard input.", metavar="SOURCE")
]
NoToolDescriptions: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--no-tool-descriptions",
        help="Leave a progressive server's descriptions; reading them authorises its tools in that session.",
    ),
]
NoOlderEra: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--no-older-era",
        help="Do not start a server of the newest revision once more to see how it opens older ones.",
    ),
]
CallGetManifest: TypeAlias = Annotated[
    bool, typer.Option("--call-get-manifest", help="Call the server's tool get_manifest; no other is ever called.")
]
SkillFiles: TypeAlias = Annotated[
    bool, typer.Option("--skill-files", help="Read the files of the skills that the server offers.")
]
Env: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--env",
        help="KEY=VALUE for the server, or KEY from this environment; with --config a value for its variables. "
        "Repeatable.",
        metavar="KEY",
    ),
]
Header: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--header",
        help="'NAME: VALUE', 'NAME: env:VARIABLE' or 'NAME: Bearer env:VARIABLE', for --url. Repeatable.",
        metavar="HEADER",
    ),
]
Cwd: TypeAlias = Annotated[Path | None, typer.Option(help="The folder in which the server is started.", metavar="DIR")]
ServerName: TypeAlias = Annotated[
    str | None, typer.Option(help="The name under which a host mounts the server.", metavar="NAME")
]
Login: TypeAlias = Annotated[
    bool, typer.Option("--login", help="Log in to --url with OAuth, in the browser; kept for later runs.")
]
ClientId: TypeAlias = Annotated[
    str | None,
    typer.Option(help="The client to log in as: a registered ID, or the URL of its metadata.", metavar="ID"),
]
ClientSecret: TypeAlias = Annotated[
    str | None, typer.Option(help="The secret of --client-id: env:VARIABLE.", metavar="env:VARIABLE")
]
Issuer: TypeAlias = Annotated[
    str | None, typer.Option(help="The authorization server that may get --client-secret.", metavar="URL")
]
Timeout: TypeAlias = Annotated[float, typer.Option(help="Seconds that one request may take.", min=0.1, max=86_400)]
Name: TypeAlias = Annotated[str | None, typer.Option(help="The service's name, in place of the source's.")]
ServiceVersion: TypeAlias = Annotated[
    str | None, typer.Option(help="The service's version, in place of the source's.", metavar="VERSION")
]
Description: TypeAlias = Annotated[
    str | None, typer.Option(help="What it does and when to use it, in place of the source's words.")
]
Extra: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        help="A captured --ai-help text or an llms.txt that adds to the service. Repeatable.", metavar="SOURCE"
    ),
]
BaseUrl: TypeAlias = Annotated[
    str | None, typer.Option(help="The address of the API, in place of the source's.", metavar="URL")
]
Include: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--include",
        help="Document only this: NAME-GLOB, tag:GLOB, path:GLOB, method:GET. Repeatable.",
        metavar="PATTERN",
    ),
]
Exclude: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--exclude", help="Leave this out; patterns as above. Repeatable.", metavar="PATTERN"),
]
Overlay: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--overlay", help="An OpenAPI Overlay that is applied first. Repeatable.", metavar="FILE"),
]
AllowRemoteRefs: TypeAlias = Annotated[
    bool, typer.Option("--allow-remote-refs", help="Fetch documents that the description names in a $ref.")
]
AllowOutsideRefs: TypeAlias = Annotated[
    bool, typer.Option("--allow-outside-refs", help="Read files that it names outside its own folder.")
]
DescriptionHeader: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--header",
        help="'NAME: VALUE', 'NAME: env:VARIABLE' or 'NAME: Bearer env:VARIABLE', to fetch the description. "
        "Repeatable.",
        metavar="HEADER",
    ),
]
Out: TypeAlias = Annotated[Path, typer.Option("-o", "--out", help="Where the documents go.", metavar="DIR")]
Emit: TypeAlias = Annotated[str, typer.Option(help="Formats, comma-separated.", metavar="LIST")]
TemplatesDir: TypeAlias = Annotated[
    Path | None,
    typer.Option("--templates", help="A folder; a template in it replaces ours of that name.", metavar="DIR"),
]
Profile: TypeAlias = Annotated[
    str, typer.Option(help="Front matter of the skill: portable, or claude for its additional fields.", metavar="NAME")
]
Install: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--install",
        help="Also put the skill where hosts look: claude (.claude/skills) or agents (.agents/skills). Repeatable.",
        metavar="HOST",
    ),
]
User: TypeAlias = Annotated[
    bool, typer.Option("--user", help="With --install: below the home folder, not the current one.")
]
Check: TypeAlias = Annotated[
    bool, typer.Option("--check", help="Write nothing; print a diff, and exit 1 if a file would change.")
]
AllowEmpty: TypeAlias = Annotated[
    bool, typer.Option("--allow-empty", help="Let a source that shows less replace documents that have more.")
]
Force: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--force", help="Replace what was changed by hand in skillgen's own text; lines added elsewhere stay."
    ),
]
Prune: TypeAlias = Annotated[
    bool,
    typer.Option("--prune", help="Remove documents and installed skills of targets and servers that are gone."),
]
Strict: TypeAlias = Annotated[bool, typer.Option("--strict", help="Stop at a problem of level warning.")]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]
Quiet: TypeAlias = Annotated[bool, typer.Option("-q", "--quiet", help="Print errors only.")]
Verbose: TypeAlias = Annotated[bool, typer.Option("-v", "--verbose", help="Print every problem, and what is done.")]
Debug: TypeAlias = Annotated[bool, typer.Option("--debug", help="Show a traceback for an error.")]


_KEYS = {"header": "headers", "overlay": "overlays", "install": "install_to", "service_version": "version"}
"""Options whose key in skillgen.yaml has another name."""


_HEADER_VARIABLE = re.compile(r"(?P<scheme>[A-Za-z][\w-]*[ \t]+)?env:(?P<name>\S*)")


def field_of_option(option: str) -> str:
    """Returns the field of the project's file, `Source` or `Target`, that says the same as an option."""
    return _KEYS.get(option, option)


def parse_env(entries: Iterable[str] | None) -> dict[str, str]:
    """Reads `--env`: `KEY=VALUE`, or `KEY` for the value that it has here.

    Raises:
        UsageError: a name alone is not set here, or an entry has no name.
    """
    found = {}
    for entry in entries or ():
        name, equals, value = entry.partition("=")
        if not name:
            raise UsageError("an entry without a name", where="--env", fix="write --env KEY=VALUE or --env KEY")
        found[name] = value if equals else _variable(name, "--env", or_else=", or {name}=…")
    return found


def parse_headers(entries: Iterable[str] | None) -> tuple[tuple[str, str], ...]:
    """Reads `--header`: `NAME: VALUE`; `env:VARIABLE`, also after a scheme as in `Bearer env:TOKEN`, is a variable.

    Raises:
        UsageError: an entry is not of that form, or the variable is not set.
    """
    found = []
    for entry in entries or ():
        name, colon, value = entry.partition(":")
        name, value = name.strip(), value.strip()
        if not colon or not name or not value:
            raise UsageError("not of the form 'NAME: VALUE'", where="--header", fix="write --header 'NAME: VALUE'")
        if variable := _HEADER_VARIABLE.fullmatch(value):
            value = (variable["scheme"] or "") + _variable(variable["name"], "--header")
        found.append((name, value))
    return tuple(found)


def parse_secret(entry: str | None) -> str | None:
    """Reads `--client-secret`, whose value only a variable may hold: a command line can be seen by others.

    Raises:
        UsageError: it names no variable, or one that is not set.
    """
    if entry is None:
        return None
    prefix, _, variable = entry.partition(":")
    if prefix != "env" or not variable:
        raise UsageError("not of the form env:VARIABLE", where="--client-secret", fix="put the secret into a variable")
    return _variable(variable, "--client-secret")


def _variable(name: str, option: str, *, or_else: str = "") -> str:
    if name not in os.environ:
        from skillgen.security.secrets import is_made_of_words

        shown = name if is_made_of_words(name) else "NAME"  # it may be the value, without its name
        raise UsageError(
            f"{shown} is not set in this environment", where=option, fix="set it" + or_else.format(name=shown)
        )
    return os.environ[name]


_DEFAULT_EMIT = ",".join(DEFAULT_FORMATS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """How a server is reached."""

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
    no_older_era: NoOlderEra = False
    call_get_manifest: CallGetManifest = False
    skill_files: SkillFiles = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceOptions:
    """What the user says of the service."""

    name: Name = None
    service_version: ServiceVersion = None
    description: Description = None
    base_url: BaseUrl = None
    include: Include = None
    exclude: Exclude = None
    extra: Extra = None

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
        from skillgen.pipeline.read import with_extras

        return with_extras(said, self.extra, timeout_s=timeout_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenapiOptions:
    """What is read with an OpenAPI description."""

    overlay: Overlay = None
    allow_remote_refs: AllowRemoteRefs = False
    allow_outside_refs: AllowOutsideRefs = False

    def description_options(self, header: Iterable[str] | None, timeout_s: float) -> DescriptionOptions:
        """Gives what the pipeline needs to know; takes the headers as they were given.

        Raises:
            UsageError: a header makes no sense.
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
    """Where documents go, and what may happen to those that are there."""

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
        """Gives what the pipeline needs to know.

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
    """How long a request may take, and what is printed."""

    timeout: Timeout = 30.0
    quiet: Quiet = False
    verbose: Verbose = False
    debug: Debug = False

    def console(self) -> Console:
        """Gives what prints."""
        return Console(self.quiet, self.verbose, self.debug)


def with_option_groups(command: Callable[..., None]) -> Callable[..., None]:
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
