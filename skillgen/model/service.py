"""A service and all that it offers: what a source fills and what the templates read.

Every node holds the JSON pointer at which the source declares it; `origins` names the fields for which that is not
so. `None` and an empty tuple mean "not declared".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from skillgen.errors import Problem
from skillgen.model.auth import Access, AccessLevel, Endpoint, Invocation, RateLimit, Requirements
from skillgen.model.calls import ErrorCase
from skillgen.model.resource import (
    ClientEntry,
    Disclosure,
    Event,
    Group,
    OfferedSkill,
    Prompt,
    RelatedServer,
    Resource,
    Section,
    Workflow,
)
from skillgen.model.schema import NamedType
from skillgen.model.tool import Tool
from skillgen.model.values import Icon, Json, Origins, Quotation, frozen

Kind = Literal["mcp", "openapi"]


@frozen
class Service:
    """A service: what it is, when to use it, and all that it offers."""

    kind: Kind
    """What sort of source it was read from."""

    protocol_version: str | None = None
    """The revision of MCP, or the version of OpenAPI, that the source speaks."""

    name: str
    """Its name as declared; documents derive a skill's name from it."""

    title: str | None = None
    """A name for people."""

    version: str | None = None
    """Its own version."""

    summary: str | None = None
    """One or two sentences that say what it does."""

    description: str | None = None
    """All that the source says of it; Markdown, untrusted."""

    instructions: str | None = None
    """How to use it, written by an MCP server for the model; untrusted."""

    emoji: str | None = None
    """One character."""

    icons: tuple[Icon, ...] = ()
    """Pictures."""

    homepage: str | None = None
    """Its primary documentation."""

    repository: str | None = None
    """Its source code."""

    status_page: str | None = None
    """Whether it is up."""

    license: str | None = None
    """The licence of the service's own description."""

    content_version: str | None = None
    """The version of what the source says of itself."""

    last_updated: str | None = None
    """When that was last changed; ISO 8601."""

    endpoints: tuple[Endpoint, ...] = ()
    """Addresses."""

    server_name: str | None = None
    """The name under which a host mounts an MCP server."""

    client_entry: ClientEntry | None = None
    """How the user named an MCP server that was crawled; `None` for what was read otherwise."""

    when_to_use: tuple[str, ...] = ()
    """What a user asks for when this service is the right one; phrases after "when the user asks to"."""

    when_not_to_use: tuple[str, ...] = ()
    """What it is not for; only ever declared."""

    access_level: AccessLevel = "interact"
    """How much a caller can change."""

    access: Access = field(default_factory=Access)
    """Other ways to use it."""

    install: Mapping[str, str] | None = None
    """Package manager to package."""

    requirements: Requirements = field(default_factory=Requirements)
    """What must be there first."""

    invocation: Invocation | None = None
    """Who may start the skill."""

    rate_limit: RateLimit | None = None
    """How often it may be called."""

    categories: tuple[str, ...] = ()
    """What it is about, for registries."""

    extensions: Mapping[str, Json] | None = None
    """Protocol extensions that it speaks, and their settings."""

    groups: tuple[Group, ...] = ()
    """Tools that belong together, in the order of the documents."""

    tools: tuple[Tool, ...] = ()
    """What it can do, in the order declared."""

    resources: tuple[Resource, ...] = ()
    """What can be read."""

    resource_templates: tuple[Resource, ...] = ()
    """Families of what can be read; `uri` is a URI template."""

    prompts: tuple[Prompt, ...] = ()
    """Messages that it writes."""

    events: tuple[Event, ...] = ()
    """What it sends of its own accord, in the order declared."""

    errors: tuple[ErrorCase, ...] = ()
    """Ways in which any tool fails."""

    workflows: tuple[Workflow, ...] = ()
    """Tools that are used one after another."""

    sections: tuple[Section, ...] = ()
    """The rest of its own documentation."""

    disclosure: Disclosure | None = None
    """How a progressive server's tools are described."""

    skills: tuple[OfferedSkill, ...] = ()
    """Skills that it offers itself."""

    related: tuple[RelatedServer, ...] = ()
    """Other servers that it recommends."""

    schemas: tuple[NamedType, ...] = ()
    """Named types, each once, sorted by name."""

    source_size_bytes: int = 0
    """How large the description is that an agent would have to read without these documents: `tools/list` or the
    OpenAPI document as compact JSON; that of an OpenAPI document over 1 MiB as it is."""

    extras: Mapping[str, Json] | None = None
    """What the source says beyond these fields, raw."""

    quotations: tuple[Quotation, ...] = ()
    """What the source says in its other parts that addresses the reader."""

    problems: tuple[Problem, ...] = ()
    """What was wrong with the source; no document shows it."""

    origins: Origins | None = None
    """Where each field comes from that is not declared in the obvious place."""
