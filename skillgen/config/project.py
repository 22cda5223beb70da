"""What a project's file may hold. The names of keys are those of the fields, with hyphens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from skillgen.model.value import Value

COMMAND = {"is_command": True}
"""Metadata of a field that holds a command line: a list of words, or one text that is split as a shell would."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where the facts come from: one of command, url, config, openapi, openapi-command, snapshot, manifest."""

    command: tuple[str, ...] = field(default=(), metadata=COMMAND)
    """The command that starts an MCP server on standard input and output."""

    url: str | None = None
    """The address of an MCP server."""

    config: str | None = None
    """A client's server file, such as .mcp.json; every server in it unless `server` names one."""

    server: str | None = None
    """The one server of `config` to read."""

    openapi: str | None = None
    """An OpenAPI description: a file or a URL."""

    openapi_command: tuple[str, ...] = field(default=(), metadata=COMMAND)
    """A command that prints an OpenAPI description."""

    snapshot: str | None = None
    """What `skillgen inspect` printed: a file."""

    manifest: str | None = None
    """A service manifest: a file or a URL."""

    overlays: tuple[str, ...] = ()
    """OpenAPI Overlays that are applied to the description, in this order: files or URLs."""

    env: Mapping[str, str] = field(default_factory=dict)
    """Environment variables for the command; secrets by ${NAME} only."""

    headers: Mapping[str, str] = field(default_factory=dict)
    """Headers for `url`; secrets by ${NAME} only."""

    cwd: str | None = None
    """The folder in which the command is started; that of this file by default."""

    server_name: str | None = None
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
class GroupWords:
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

    install_to: str | None = None
    """Also put the skill where a host looks for it: claude (.claude/skills) or agents (.agents/skills)."""

    include: tuple[str, ...] = ()
    """What is documented; everything by default: NAME-GLOB, tag:GLOB, path:GLOB or method:GET."""

    exclude: tuple[str, ...] = ()
    """What is not: the same forms."""

    name: str | None = None
    """The service's name."""

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

    groups: Mapping[str, GroupWords] = field(default_factory=dict)
    """Words on groups of tools, by the name of the group."""

    links: Links = field(default_factory=Links)
    """Other ways to use the service."""

    install: Mapping[str, str] = field(default_factory=dict)
    """Package manager to package."""

    license: str | None = None
    """The licence of the documents."""

    base_url: str | None = None
    """The address of the API."""

    allow_empty: bool = False
    """Whether a source without tools may replace documents that have some."""

    strict: bool = False
    """Whether a problem of the source stops the target."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """All targets of a project."""

    targets: Mapping[str, Target]
    """The targets, by name."""
