"""The keys of a project file. A key has the name of its field, with hyphens.

Every option that shapes documents has a key here. The loader, the JSON Schema (with these docstrings as descriptions),
the digest of a target and the options that a kind of source refuses are derived from these classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from skillgen.model.document import DEFAULT_FORMATS, DEFAULT_PROFILE, FORMATS, PROFILES
from skillgen.model.values import Value

COMMAND = {"is_command": True}
"""Metadata of a field with a command line: a list of arguments, or one string that is split as a shell does."""

_SERVERS = ("command", "url", "config")
_DESCRIPTIONS = ("openapi", "openapi_command")


def _of(*kinds: str) -> dict[str, Any]:
    """Returns the metadata of a field that only these kinds of source use."""
    return {"kinds": kinds}


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The source: exactly one of command, url, config, openapi, openapi-command, snapshot and manifest."""

    command: tuple[str, ...] = field(default=(), metadata=COMMAND)
    """Command that starts an MCP server on standard input and output."""

    url: str | None = None
    """URL of an MCP server."""

    config: str | None = None
    """Client configuration, such as .mcp.json. All its servers are read, unless `server` names one."""

    server: str | None = field(default=None, metadata=_of("config"))
    """The only server of `config` to read."""

    openapi: str | None = None
    """OpenAPI description: a file or a URL."""

    openapi_command: tuple[str, ...] = field(default=(), metadata=COMMAND)
    """Command that prints an OpenAPI description."""

    snapshot: str | None = None
    """Snapshot that `skillgen inspect` printed: a file."""

    manifest: str | None = None
    """Service manifest: a file or a URL."""

    overlays: tuple[str, ...] = field(default=(), metadata=_of(*_DESCRIPTIONS))
    """OpenAPI Overlays to apply to the description, in this order: files or URLs."""

    allow_remote_refs: bool = field(default=False, metadata=_of(*_DESCRIPTIONS))
    """Fetch URLs that the description refers to with $ref."""

    allow_outside_refs: bool = field(default=False, metadata=_of(*_DESCRIPTIONS))
    """Read files outside the description's folder that it refers to."""

    env: Mapping[str, str] = field(default_factory=dict, metadata=_of("command", "config", "openapi_command"))
    """Environment variables for the command, or values for the variables in `config`. Secrets only as ${NAME}."""

    headers: Mapping[str, str] = field(default_factory=dict, metadata=_of("url", *_DESCRIPTIONS))
    """HTTP headers for `url`, or to fetch the description. Secrets only as ${NAME}."""

    cwd: str | None = field(default=None, metadata=_of("command", "openapi_command"))
    """Working directory of the command. Default: the folder of this file."""

    login: bool = field(default=False, metadata=_of("url", "config"))
    """Log in with OAuth: in a terminal through the browser, elsewhere with the stored login."""

    client_id: str | None = field(default=None, metadata=_of("url", "config"))
    """OAuth client to log in as: a registered ID, or the URL of its metadata."""

    client_secret: str | None = field(default=None, metadata=_of("url", "config"))
    """Secret of that client, as ${NAME}."""

    issuer: str | None = field(default=None, metadata=_of("url", "config"))
    """Authorization server that the secret of that client may be sent to."""

    no_tool_descriptions: bool = field(default=False, metadata=_of(*_SERVERS))
    """Skip the tool descriptions of a progressive-disclosure server (reading them authorises its tools)."""

    no_legacy_handshake: bool = field(default=False, metadata=_of(*_SERVERS))
    """Do not connect a second time with the handshake of older protocol revisions."""

    call_get_manifest: bool = field(default=False, metadata=_of(*_SERVERS))
    """Call the server's tool get_manifest. No other tool is ever called."""

    skill_files: bool = field(default=False, metadata=_of(*_SERVERS))
    """Read the files of the skills that the server lists."""

    server_name: str | None = field(default=None, metadata=_of("command", "url", "manifest"))
    """Name of the server in the host's configuration."""

    timeout: float = 30.0
    """Timeout of one request, in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """Other ways to use the service, each a URL; null declares that there is no such way."""

    cli: Value | None = None
    """Documentation of a command line."""

    api: Value | None = None
    """Documentation of an HTTP API."""

    web: Value | None = None
    """Web interface."""

    mcp: Value | None = None
    """MCP server, or its documentation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupTexts:
    """The author's texts for a group of tools."""

    title: str | None = None
    """Heading of the group."""

    intro: str | None = None
    """What the tools of the group are for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A source and the documents generated from it. The author's texts win over the source's."""

    source: Source
    """What to document."""

    out: str | None = None
    """Folder for the documents. Default: agent-docs, or agent-docs/TARGET if there are several targets."""

    emit: tuple[str, ...] = field(default=(), metadata={"choices": FORMATS, "default": list(DEFAULT_FORMATS)})
    """Output formats."""

    templates: str | None = None
    """Folder of templates that replace built-in ones of the same name."""

    profile: str | None = field(default=None, metadata={"choices": PROFILES, "default": DEFAULT_PROFILE})
    """Fields of the front matter of SKILL.md."""

    install_to: tuple[str, ...] = field(default=(), metadata=COMMAND)
    """Also install the skill for hosts: claude (.claude/skills), agents (.agents/skills)."""

    include: tuple[str, ...] = ()
    """Document only matching tools: NAME-GLOB, tag:GLOB, path:GLOB or method:GET. Default: all."""

    exclude: tuple[str, ...] = ()
    """Leave out matching tools; patterns as for include."""

    extra: tuple[str, ...] = ()
    """Texts that add to the description, captured --ai-help text or an llms.txt: files or URLs."""

    name: str | None = None
    """Name of the service."""

    version: str | None = None
    """Version of the service. A server that sets none reports the version of its SDK."""

    description: str | None = None
    """What the service does and when to use it."""

    when_to_use: tuple[str, ...] = ()
    """What users ask for that this service can do: phrases to follow "when the user asks to"."""

    not_for: tuple[str, ...] = ()
    """What the service is not for."""

    notes: str | None = None
    """What else an agent should know, in Markdown."""

    best_practices: tuple[str, ...] = ()
    """How to use the service well."""

    groups: Mapping[str, GroupTexts] = field(default_factory=dict)
    """Texts for groups of tools, by the name of the group."""

    links: Links = field(default_factory=Links)
    """Other ways to use the service."""

    install: Mapping[str, str] = field(default_factory=dict)
    """Package manager to package."""

    license: str | None = None
    """Licence of the documents."""

    base_url: str | None = None
    """Base URL of the API."""

    prune: bool = False
    """Remove documents and installed skills of targets and servers that no longer exist."""

    allow_empty: bool = False
    """Replace documents even if the source now lacks tools or parts of them."""

    strict: bool = False
    """Treat warnings as errors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """The content of a project file."""

    targets: Mapping[str, Target]
    """The targets, by name."""


SOURCE_KINDS = ("command", "url", "config", "openapi", "openapi_command", "snapshot", "manifest")
"""Fields of `Source` that name a source; a target has exactly one."""


def unsupported_keys(kind: str | None) -> tuple[str, ...]:
    """Returns the fields of `Source` that a kind of source does not use; for `None`, all fields specific to kinds."""
    return tuple(
        item.name for item in fields(Source) if "kinds" in item.metadata and kind not in item.metadata["kinds"]
    )
