"""The options of skillgen, each declared once: how a source is read, what its author says of it, and its documents.

An option is a field that `option` returns. From these classes come the options of the command line, the keywords of the
Python API, the keys of a project file with their validation, their JSON Schema and the lists in `--ai-help`. A key has
the name of the field, with hyphens; so has an option of the command line, unless `flag` says otherwise.
"""

from __future__ import annotations

import os
import re
import shlex
import typing
from collections.abc import Collection, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any, TypeAlias

from skillgen.config.dropped import dropped
from skillgen.errors import UsageError
from skillgen.model.document import (
    DEFAULT_FORMATS,
    DEFAULT_PROFILE,
    DEFAULT_SCREENING,
    FORMATS,
    PROFILES,
    SCREENINGS,
    SERVER_CARDS,
)
from skillgen.model.tool import EFFECTS
from skillgen.model.values import Value
from skillgen.problem_codes import Level

DEFAULT_OUT = "agent-docs"
"""Folder of the documents by default."""

HOSTS = {"claude": ".claude/skills", "agents": ".agents/skills"}
"""Host to the folder in which it looks for skills, in the project or the home folder."""

PACKAGE = "package"
"""What `--install` calls the package of the project: its users get the skill with it."""

PACKAGE_FOLDER = ".agents/skills"
"""The folder for skills in a Python package."""

PathName: TypeAlias = str | os.PathLike[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """What an option declares in addition to its name, its type and its default."""

    help: str
    """What it does, for every place that explains it."""

    usage: str = ""
    """What to add on the command line: its syntax there."""

    note: str = ""
    """What to add in the project file."""

    flag: str | None = ""
    """Its name on the command line if it is not that of the field; `None` if it is not an option there."""

    short: str | None = None
    """Its short name on the command line."""

    metavar: str | None = None
    """What its value is called in help."""

    is_key: bool = True
    """Whether it is a key of the project file; other options concern a single run."""

    kinds: tuple[str, ...] = ()
    """The kinds of source that use it; empty for all."""

    needs: str = ""
    """The option without which it has no effect."""

    is_kind: bool = False
    """Whether its value names the source; exactly one such option is given."""

    is_path: bool = False
    """Whether it is a path or a URL; a path in the project file is relative to the folder of that file."""

    is_command: bool = False
    """Whether the project file may have a string instead of a list, which is split as a shell does."""

    is_comma_separated: bool = False
    """Whether the command line takes a list as one value."""

    is_secret: bool = False
    """Whether its value may be a secret, which `repr` leaves out."""

    choices: Collection[str] = ()
    """Its possible values; empty for any."""

    choice: str = ""
    """What one of its possible values is called in messages."""


def option(help: str, default: Any = None, **details: Any) -> Any:
    """Returns the field of an option; `details` are fields of `Option`."""
    declared = Option(help=help, **details)
    if isinstance(default, dict):
        return field(default_factory=dict, repr=not declared.is_secret, metadata={"option": declared})
    return field(default=default, repr=not declared.is_secret, metadata={"option": declared})


def option_of(item: Field[Any]) -> Option:
    """Returns what `option` declared for a field."""
    declared: Option = item.metadata["option"]
    return declared


def options_in(options: type[Any] | object) -> tuple[Field[Any], ...]:
    """Returns the fields of a class that are options."""
    return tuple(item for item in fields(options) if "option" in item.metadata)  # type: ignore[arg-type]


def keys_in(options: type[Any]) -> dict[str, Field[Any]]:
    """Returns the keys of a class in the project file, those that are no options first, each with its field."""
    return {
        item.name.replace("_", "-"): item
        for item in sorted(fields(options), key=lambda item: "option" in item.metadata)
        if "option" not in item.metadata or option_of(item).is_key
    }


def flag_of(item: Field[Any]) -> str:
    """Returns the name of an option on the command line; empty if it is not an option there."""
    flag = option_of(item).flag
    return "" if flag is None else flag or f"--{item.name.replace('_', '-')}"


def key_help(item: Field[Any]) -> str:
    """Returns the explanation of a key of the project file; it names other keys, not options."""
    declared = option_of(item)
    text = f"{declared.help} {declared.note}".rstrip()
    return re.sub(r"--[a-z-]+", lambda match: f"`{_KEYS[match[0]]}`" if match[0] in _KEYS else match[0], text)


def check_choices(options: object, where: str | None = None) -> None:
    """Checks the options that have choices; `where` is their place if they are not options of the command line.

    Raises:
        UsageError: a value is not one of them.
    """
    for item in options_in(options):
        declared, value = option_of(item), getattr(options, item.name)
        values = tuple(value.values()) if isinstance(value, Mapping) else value
        values = values if isinstance(values, tuple) else (values,) if values is not None else ()
        if declared.choices and (unknown := [text for text in values if text not in declared.choices]):
            if (error := dropped(declared.choice, unknown[0], where or flag_of(item))) is not None:
                raise error
            what = f"no such {declared.choice}: {', '.join(unknown)}"
            raise UsageError(what, where=where or flag_of(item), fix=f"choose from {','.join(declared.choices)}")


def command_words(text: str | None, where: str) -> tuple[str, ...]:
    """Returns the words of a command, split as a shell does; none if it is `None`. `where` is its place for messages.

    Raises:
        UsageError: it is empty, or a quotation is not closed.
    """
    try:
        words = tuple(shlex.split(text or ""))
    except ValueError as error:
        raise UsageError(f"is not a command: {error}", where=where, fix="close its quotation marks") from None
    if text is not None and not words:
        raise UsageError("is empty", where=where, fix="give it a value, or leave it out")
    return words


def is_required(item: Field[Any]) -> bool:
    """True if a field has no default."""
    return item.default is MISSING and item.default_factory is MISSING


@dataclass(frozen=True, kw_only=True)
class _Options:
    """Options; any iterable of strings is accepted for a list, and a string for a list of one."""

    def __post_init__(self) -> None:
        for item in options_in(self):
            value = getattr(self, item.name)
            if not isinstance(item.default, tuple) or isinstance(value, tuple):
                continue
            if isinstance(value, str):
                is_list = option_of(item).is_comma_separated
                value = [part.strip() for part in value.split(",") if part.strip()] if is_list else [value]
            object.__setattr__(self, item.name, tuple(value))


_SERVERS = ("command", "url", "config")
_DESCRIPTIONS = ("document", "openapi", "openapi_command")
_PROGRAMS = ("cli", "cli_command")
_LOGIN = ("url", "config")


@dataclass(frozen=True, kw_only=True)
class Source(_Options):
    """A source, and how to read it."""

    command: Sequence[str] = option(
        "Command that starts an MCP server on standard input and output.", (), flag=None, is_kind=True, is_command=True
    )
    url: str | None = option(
        "URL of an MCP server (Streamable HTTP, falling back to HTTP+SSE).", metavar="URL", is_kind=True
    )
    config: PathName | None = option(
        "Where servers are listed: the configuration of a client (.mcp.json, Claude Desktop, Cursor, VS Code), a "
        "server.json, a server card, a catalogue, the folder of a plugin, or a domain. All servers of a client are "
        "read, unless --server names one; of others only the one that it names.",
        metavar="SOURCE",
        is_kind=True,
        is_path=True,
    )
    server: str | None = option("The only server of --config to read.", metavar="NAME", kinds=("config",))
    openapi: PathName | None = option("OpenAPI description: a file or a URL.", flag=None, is_kind=True, is_path=True)
    openapi_command: Sequence[str] = option(
        "Command that prints an OpenAPI description.", (), flag=None, is_kind=True, is_command=True
    )
    snapshot: PathName | None = option(
        "File with a snapshot, the output of `skillgen inspect`.", metavar="FILE", is_kind=True, is_path=True
    )
    manifest: PathName | None = option(
        "Service manifest: a file or a URL.",
        usage="- reads standard input.",
        metavar="SOURCE",
        is_kind=True,
        is_path=True,
    )
    cli: str | None = option(
        "Command-line program, as MODULE:APP: a Click or Typer program, an argparse parser, or a function that returns "
        "one. It is imported, but no command is run.",
        flag=None,
        is_kind=True,
    )
    cli_command: Sequence[str] = option(
        "Command that starts any other command-line program. Its help is read, that of each command too; nothing else "
        "is run.",
        (),
        flag=None,
        is_kind=True,
        is_command=True,
    )
    document: PathName | Mapping[str, Any] | None = option(
        "OpenAPI description, service manifest or snapshot; its content decides.",
        flag=None,
        is_key=False,
        is_kind=True,
        is_path=True,
    )
    overlays: Sequence[str] = option(
        "OpenAPI Overlay to apply to the description first: a file or a URL.",
        (),
        flag="--overlay",
        metavar="FILE",
        kinds=_DESCRIPTIONS,
        is_path=True,
    )
    allow_remote_refs: bool = option("Fetch URLs that the description refers to with $ref.", False, kinds=_DESCRIPTIONS)
    allow_outside_refs: bool = option(
        "Read files outside the description's folder that it refers to.", False, kinds=_DESCRIPTIONS
    )
    python: PathName | None = option(
        "Python of the environment that has the program. Default: that of the active virtual environment, else the "
        "first on PATH.",
        metavar="PATH",
        kinds=("cli",),
        is_path=True,
    )
    program: str | None = option(
        "What users type to start the program. Default: its console script, or the command itself.",
        metavar="COMMAND",
        kinds=_PROGRAMS,
    )
    env: Mapping[str, str] = option(
        "Environment variable for the command, or value for a variable in the file of --config.",
        {},
        usage="As KEY=VALUE, or as KEY to pass on its current value.",
        note="Secrets only as ${NAME}.",
        metavar="KEY",
        kinds=("command", "config", "openapi_command", *_PROGRAMS),
        is_secret=True,
    )
    headers: Mapping[str, str] = option(
        "HTTP header for the server, or to fetch the description.",
        {},
        usage="As 'NAME: VALUE', 'NAME: env:VARIABLE' or 'NAME: Bearer env:VARIABLE'.",
        note="Secrets only as ${NAME}.",
        flag="--header",
        metavar="HEADER",
        kinds=("url", *_DESCRIPTIONS),
        is_secret=True,
    )
    cwd: PathName | None = option(
        "Working directory of the command.",
        note="Default: the folder of this file.",
        metavar="DIR",
        kinds=("command", "openapi_command", *_PROGRAMS),
        is_path=True,
    )
    login: bool = option(
        "Log in with OAuth in the browser. Later runs reuse the login.",
        False,
        note="Where no person can log in, only a stored login is used.",
        kinds=_LOGIN,
    )
    client_id: str | None = option(
        "OAuth client to log in as: a registered ID, or the URL of its metadata.",
        metavar="ID",
        kinds=_LOGIN,
        needs="login",
    )
    client_secret: str | None = option(
        "Secret of --client-id.",
        usage="As env:VARIABLE.",
        note="As ${NAME}.",
        metavar="env:VARIABLE",
        kinds=_LOGIN,
        needs="login",
        is_secret=True,
    )
    issuer: str | None = option(
        "Authorization server that --client-secret may be sent to.", metavar="URL", kinds=_LOGIN, needs="login"
    )
    no_tool_descriptions: bool = option(
        "Skip the tool descriptions of a progressive-disclosure server (reading them authorises its tools).",
        False,
        kinds=_SERVERS,
    )
    no_legacy_handshake: bool = option(
        "Do not connect a second time with the handshake of older protocol revisions.", False, kinds=_SERVERS
    )
    call_get_manifest: bool = option(
        "Call the server's tool get_manifest; reading a server calls no other tool.", False, kinds=_SERVERS
    )
    skill_files: bool = option("Read the files of the skills that the server lists.", False, kinds=_SERVERS)
    server_name: str | None = option(
        "Name of the server in the host's configuration.", metavar="NAME", kinds=("command", "url", "manifest")
    )
    timeout: float = option("Timeout of one request, in seconds.", 30.0, metavar="SECONDS")
    screen: str = option(
        "What happens to text that addresses the model: "
        f"{'; '.join(f'{name}: {text}' for name, text in SCREENINGS.items())}.",
        DEFAULT_SCREENING,
        metavar="HOW",
        choices=SCREENINGS,
        choice="screening",
    )

    @property
    def kind(self) -> str:
        """The only option that names a source.

        Raises:
            UsageError: none is given, or several are.
        """
        given = [kind for kind in SOURCE_KINDS if getattr(self, kind)]
        if len(given) != 1:
            names = ", ".join(given).replace("_", "-")
            raise UsageError(f"several sources are given: {names}" if given else "no source is given")
        return given[0]

    def for_kind(self, kind: str, value: Any) -> Source:
        """Returns the source of a kind that `value` names, with the options that concern it."""
        kept = {
            item.name: getattr(self, item.name)
            for item in options_in(Source)
            if not option_of(item).is_kind and (not option_of(item).kinds or kind in option_of(item).kinds)
        }
        return Source(**kept, **{kind: value})

    def useless_options(self, kinds: Collection[str]) -> dict[str, str]:
        """Returns the options that are set, but that these kinds of source do not use.

        Each is mapped to the option that it needs, which is empty if it needs another kind of source.
        """
        useless = {}
        for item in options_in(Source):
            declared = option_of(item)
            if getattr(self, item.name) and declared.kinds and not set(kinds) & set(declared.kinds):
                useless[item.name] = ""
            elif getattr(self, item.name) and declared.needs and not getattr(self, declared.needs):
                useless[item.name] = declared.needs
        return useless


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """Other ways to use the service, each a URL; null declares that there is no such way."""

    cli: Value | None = option("Documentation of a command line.")
    api: Value | None = option("Documentation of an HTTP API.")
    web: Value | None = option("Web interface.")
    mcp: Value | None = option("MCP server, or its documentation.")


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupTexts:
    """The author's texts for a group of tools."""

    title: str | None = option("Heading of the group.")
    intro: str | None = option("What the tools of the group are for.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolTexts:
    """What the author declares of tools."""

    effect: str | None = option(
        "What a call does at worst: sends reaches people or costs money, destructive deletes or overwrites.",
        choices=EFFECTS,
        choice="effect",
    )


_REPLACES = "Replaces that of the source."


@dataclass(frozen=True, kw_only=True)
class Texts(_Options):
    """What is documented of a service, and what its author says of it. The author's texts win over the source's."""

    include: Sequence[str] = option(
        "Document only matching tools: NAME-GLOB, tag:GLOB, path:GLOB or method:GET.", (), metavar="PATTERN"
    )
    exclude: Sequence[str] = option("Leave out matching tools; patterns as for --include.", (), metavar="PATTERN")
    extra: Sequence[str] = option(
        "Captured --ai-help text, llms.txt or Arazzo file that adds to the description: a file or a URL.",
        (),
        metavar="SOURCE",
        is_path=True,
    )
    name: str | None = option("Name of the service.", usage=_REPLACES, metavar="TEXT")
    version: str | None = option(
        "Version of the service. A server that sets none reports the version of its SDK.",
        usage=_REPLACES,
        flag="--service-version",
        metavar="VERSION",
    )
    description: str | None = option("What the service does and when to use it.", usage=_REPLACES, metavar="TEXT")
    base_url: str | None = option("Base URL of the API.", usage=_REPLACES, metavar="URL")
    when_to_use: Sequence[str] = option(
        'What users ask for that this service can do: phrases to follow "when the user asks to".', (), flag=None
    )
    not_for: Sequence[str] = option("What the service is not for.", (), flag=None)
    notes: str | None = option("What else an agent should know, in Markdown.", flag=None)
    best_practices: Sequence[str] = option("How to use the service well.", (), flag=None)
    groups: Mapping[str, GroupTexts] = option("Texts for groups of tools, by the name of the group.", {}, flag=None)
    tools: Mapping[str, ToolTexts] = option(
        "Effects of tools that are judged or declared wrongly, by name or pattern (as for --include). A name wins over "
        "patterns; of several patterns the worst effect counts.",
        {},
        flag=None,
    )
    links: Links = option("Other ways to use the service.", Links(), flag=None)
    install: Mapping[str, str] = option("Package manager to package.", {}, flag=None)
    license: str | None = option("Licence of the documents.", flag=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Publish:
    """Who publishes the service, and where. Without it, the homepage and the repository decide."""

    domain: str | None = option("Domain of the publisher, such as acme.com.")
    base_url: str | None = option("URL below which the documents are served; its host is the domain by default.")
    namespace: str | None = option(
        "Namespace of the publisher in registries, such as io.github.acme. Default: the domain in reverse order."
    )
    server_card: str | None = option(f"Version of the server card: {' or '.join(SERVER_CARDS)}.")


NO_PUBLISH = Publish()
"""Nothing is declared."""


@dataclass(frozen=True, kw_only=True)
class OutputOptions(_Options):
    """Where the documents go, and what may happen to existing ones."""

    out: PathName | None = option(
        "Folder for the documents.",
        usage=f"Each of several targets or servers has a folder of its own in it. Default: {DEFAULT_OUT}.",
        note=f"Default: {DEFAULT_OUT}, or {DEFAULT_OUT}/TARGET if there are several targets.",
        short="-o",
        metavar="DIR",
        is_path=True,
    )
    emit: Sequence[str] = option(
        "Output formats.",
        DEFAULT_FORMATS,
        usage=f"Comma-separated, of {','.join(FORMATS)}.",
        metavar="LIST",
        is_comma_separated=True,
        choices=FORMATS,
        choice="format",
    )
    publish: Publish = option(
        "Who publishes the service, for the formats that name the publisher.",
        NO_PUBLISH,
        usage="As domain=DOMAIN, base-url=URL, namespace=NAMESPACE or server-card=VERSION.",
        metavar="KEY=VALUE",
    )
    templates: PathName | None = option(
        "Folder of templates that replace built-in ones of the same name.", metavar="DIR", is_path=True
    )
    profile: str = option(
        f"Front matter of the skill: {', or '.join(f'{name} for {text}' for name, text in PROFILES.items())}.",
        DEFAULT_PROFILE,
        metavar="NAME",
        choices=PROFILES,
        choice="profile",
    )
    install_to: Sequence[str] = option(
        f"Also install the skill for a host: {' or '.join(f'{name} ({folder})' for name, folder in HOSTS.items())}; or "
        f"into the project's own {PACKAGE}, for those who install that.",
        (),
        flag="--install",
        metavar="HOST",
        is_command=True,
        choices=(*HOSTS, PACKAGE),
        choice="host",
    )
    package: PathName | None = option(
        f"Folder of the package, if the project's files leave a choice (with --install {PACKAGE}).",
        metavar="DIR",
        is_path=True,
    )
    user: bool = option("Install into the home folder, not the current one (with --install).", False, is_key=False)
    check: bool = option("Write nothing. Print a diff and exit with 1 if a file would change.", False, is_key=False)
    allow_empty: bool = option("Replace documents even if the source now lacks tools or parts of them.", False)
    force: bool = option(
        "Overwrite edits within generated text. Lines that were added elsewhere stay.", False, is_key=False
    )
    replace: bool = option("Replace the documents of another service that are in the folder.", False)
    prune: bool = option("Remove documents and installed skills of targets and servers that no longer exist.", False)
    strict: bool = option("Treat warnings as errors.", False)


@dataclass(frozen=True, kw_only=True)
class Target(Texts, OutputOptions):
    """A source and the documents generated from it."""

    source: Source
    """What to document."""


LINT_LEVELS: tuple[str, ...] = ("off", *typing.get_args(Level))


@dataclass(frozen=True, kw_only=True)
class LintOptions(_Options):
    """Which rules `skillgen lint` checks, and how its findings count."""

    select: Sequence[str] = option(
        "Check only these rules: codes or patterns.", (), usage="Comma-separated.", metavar="CODES"
    )
    ignore: Sequence[str] = option(
        "Leave out these rules: codes or patterns.", (), usage="Comma-separated.", metavar="CODES"
    )
    levels: Mapping[str, str] = option(
        "Levels of rules, by code or pattern. A rule that is optional is checked if it has a level here.",
        {},
        flag=None,
        choices=LINT_LEVELS,
        choice="level",
    )
    ignore_in: Mapping[str, Sequence[str]] = option(
        "Rules to leave out in parts of a source, by what they concern: a pattern of tools as for --include, "
        "source:GLOB for a file or a target, or a pattern of JSON pointers, which begins with a slash.",
        {},
        flag=None,
    )
    baseline: PathName | None = option(
        "File of known findings, which are not reported; --write-baseline writes it.", metavar="FILE", is_path=True
    )
    write_baseline: PathName | None = option(
        "Write all findings to this file, report none, and exit with 0.", metavar="FILE", is_key=False
    )
    strict: bool = option("Exit with 1 on warnings too.", False)


NO_LINT_OPTIONS = LintOptions()
"""All rules that are not optional, each with its own level."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """The content of a project file."""

    targets: Mapping[str, Target]
    """The targets, by name."""

    lint: LintOptions = NO_LINT_OPTIONS
    """What `skillgen lint` checks in this folder."""


SOURCE_KINDS = tuple(item.name for item in options_in(Source) if option_of(item).is_kind)
"""The options that name a source."""

_KEYS = {
    flag_of(item): key
    for options in (LintOptions, Source, Texts, OutputOptions)
    for key, item in keys_in(options).items()
}


def key_of_flag(flag: str) -> str:
    """Returns the place of an option below a target of the project file: `source/headers` for `--header`."""
    key = _KEYS.get(flag, flag[2:])
    return f"source/{key}" if key in keys_in(Source) else key
