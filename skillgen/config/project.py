"""What a project's file may hold. The names of keys are those of the fields, with hyphens.

Every option of from-server, from-openapi and build that says what is documented, how and where has a key here. The
reader, the JSON Schema, the digest of a target and the options that a source does not take are derived from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from skillgen.model.values import Value

COMMAND = {"is_command": True}
"""Metadata of a field that holds a command line: a list of words, or one text that is split as a shell would."""

_SERVERS = ("command", "url", "config")
_DESCRIPTIONS = ("openapi", "openapi_command")


def _of(*kinds: str) -> dict[str, Any]:
    """Returns the metadata of a field that only these kinds of source take."""
    return {"kinds": kinds}


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where the facts come from: one of command, url, config, openapi, openapi-command, snapshot, manifest."""

    command: tuple[str, ...] = field(default=(), metadata=COMMAND)
    """The command that starts an MCP server on standard input and output."""

    url: str | None = None
    """The address of an MCP server."""

    config: str | None = None
    """A client's server file, such as .mcp.json; every server in it unless `server` names one."""

    server: str | None = field(default=None, metadata=_of("config"))
    """The one server of `config` to read."""

    openapi: str | None = None
    """An OpenAPI description: a file or a URL."""

    openapi_command: tuple[str, ...] = field(default=(), metadata=COMMAND)
    """A command that prints an OpenAPI description."""

    snapshot: str | None = None
    """What `skillgen inspect` printed: a file."""

    manifest: str | None = None
    """A service manifest: a file or a URL."""

    overlays: tuple[str, ...] = field(default=(), metadata=_of(*_DESCRIPTIONS))
    """OpenAPI Overlays that are applied to the description, in this order: files or URLs."""

    allow_remote_refs: bool = field(default=False, metadata=_of(*_DESCRIPTIONS))
    """Whether documents at other addresses that the description names in a $ref are fetched."""

    allow_outside_refs: bool = field(default=False, metadata=_of(*_DESCRIPTIONS))
    """Whether files that the description names outside its own folder are read."""

    env: Mapping[str, str] = field(default_factory=dict, metadata=_of("command", "config", "openapi_command"))
    """Environment variables for the command, or for the variables of `config`; secrets by ${NAME} only."""

    headers: Mapping[str, str] = field(default_factory=dict, metadata=_of("url", *_DESCRIPTIONS))
    """Headers for `url`, or to fetch the description; secrets by ${NAME} only."""

    cwd: str | None = field(default=None, metadata=_of("command", "openapi_command"))
    """The folder in which the command is started; that of this file by default."""

    login: bool = field(default=False, metadata=_of("url", "config"))
    """Whether the server needs a login with OAuth: by the browser in a terminal, elsewhere the login that was kept."""

    client_id: str | None = field(default=None, metadata=_of("url", "config"))
    """The client to log in as: a registered ID, or the URL of its metadata."""

    client_secret: str | None = field(default=None, metadata=_of("url", "config"))
    """The secret of that client: ${NAME}."""

    issuer: str | None = field(default=None, metadata=_of("url", "config"))
    """The authorization server that may get the secret of that client."""

    no_tool_descriptions: bool = field(default=False, metadata=_of(*_SERVERS))
    """Whether the descriptions of a progressive server are not read; reading authorises its tools in that session."""

    no_older_era: bool = field(default=False, metadata=_of(*_SERVERS))
    """Whether a server of the newest revision is not started once more to see how it opens older ones."""

    call_get_manifest: bool = field(default=False, metadata=_of(*_SERVERS))
    """Whether the server's tool get_manifest is called; no other tool ever is."""

    skill_files: bool = field(default=False, metadata=_of(*_SERVERS))
    """Whether the files of the skills that the server offers are read."""

    server_name: str | None = field(default=None, metadata=_of("command", "url", "manifest"))
    """The name under which a host mounts the server."""

    timeout: float = 30.0
    """Seconds that one request may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """Other ways to use the service: a URL each, or null where there is none."""

    cli: Value | None = None
    """Documentation of a command line."""

    api: Value | None = None
    """Documentation of an HTTP API."""

    web: Value | None = None
    """A web interface."""

    mcp: Value | None = None
    """An MCP server: its address, or its documentation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupTexts:
    """The author's words on a group of tools."""

    title: str | None = None
    """Its heading."""

    intro: str | None = None
    """What its tools are for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One source and the documents made of it, with words of the author's own, which win over the source's."""

    source: Source
    """Where the facts come from."""

    out: str | None = None
    """Where the documents go; agent-docs by default, and agent-docs/TARGET where there are several targets."""

    emit: tuple[str, ...] = ()
    """The formats, by name; skill, llms, ai-help and registry by default."""

    templates: str | None = None
    """A folder; a template in it replaces skillgen's of that name."""

    profile: str | None = None
    """Which front matter SKILL.md has: portable, or claude."""

    install_to: tuple[str, ...] = field(default=(), metadata=COMMAND)
    """Also put the skill where hosts look for it: claude (.claude/skills), agents (.agents/skills)."""

    include: tuple[str, ...] = ()
    """What is documented; everything by default: NAME-GLOB, tag:GLOB, path:GLOB or method:GET."""

    exclude: tuple[str, ...] = ()
    """What is not: the same forms."""

    extra: tuple[str, ...] = ()
    """Texts that add to the service, a captured --ai-help text or an llms.txt: files or URLs."""

    name: str | None = None
    """The service's name."""

    version: str | None = None
    """The service's version. A server that sets none reports the version of its SDK."""

    description: str | None = None
    """What it does and when to use it."""

    when_to_use: tuple[str, ...] = ()
    """What a user asks for when this service is the right one: phrases after "when the user asks to"."""

    not_for: tuple[str, ...] = ()
    """What it is not for."""

    notes: str | None = None
    """What else an agent should know; Markdown."""

    best_practices: tuple[str, ...] = ()
    """How to use it well."""

    groups: Mapping[str, GroupTexts] = field(default_factory=dict)
    """Words on groups of tools, by the name of the group."""

    links: Links = field(default_factory=Links)
    """Other ways to use the service."""

    install: Mapping[str, str] = field(default_factory=dict)
    """Package manager to package."""

    license: str | None = None
    """The licence of the documents."""

    base_url: str | None = None
    """The address of the API."""

    prune: bool = False
    """Whether documents and installed skills of targets and servers that are gone are removed."""

    allow_empty: bool = False
    """Whether a source that shows less, or no tools, may replace documents that have more."""

    strict: bool = False
    """Whether a problem of the source stops the target."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """All targets of a project."""

    targets: Mapping[str, Target]
    """The targets, by name."""


SOURCE_KINDS = ("command", "url", "config", "openapi", "openapi_command", "snapshot", "manifest")
"""The fields of `Source` of which a target has exactly one."""


def unsupported_keys(kind: str | None) -> tuple[str, ...]:
    """Returns the fields of `Source` that a kind of source does not take; for None, all that some kinds do not."""
    return tuple(
        item.name for item in fields(Source) if "kinds" in item.metadata and kind not in item.metadata["kinds"]
    )
