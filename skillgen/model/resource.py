"""Resources, prompts, events, groups, skills.

What a service offers beside its tools: resources, prompts and events.

What a service says of its tools as a whole: groups, workflows, skills, other servers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from skillgen.model.auth import Credential
from skillgen.model.calls import Input
from skillgen.model.schema import Parameter
from skillgen.model.values import Icon, Json, Origins, Quotation, frozen


@frozen
class Resource:
    """Something that can be read, at one URI or at all that fit a template."""

    uri: str
    """The URI, or the URI template (RFC 6570)."""

    name: str
    """Its name."""

    title: str | None = None
    """A name for people."""

    description: str | None = None
    """What it holds."""

    media_type: str | None = None
    """The media type of its content."""

    size: int | None = None
    """In bytes."""

    audience: tuple[str, ...] = ()
    """`user`, `assistant`: for whom it is meant."""

    priority: float | None = None
    """From 0, optional, to 1, needed."""

    last_modified: str | None = None
    """ISO 8601. It changes without the service changing, so no document shows it."""

    resource_type: str | None = None
    """What kind of thing it is (seed 000)."""

    refreshable: bool | None = None
    """Whether its content changes (seed 000)."""

    cache_duration_s: int | None = None
    """How many seconds it may be kept (seed 000)."""

    web_equivalent: str | None = None
    """Where a person sees the same (seed 000)."""

    api_equivalent: str | None = None
    """The same as an HTTP request (seed 000)."""

    icons: tuple[Icon, ...] = ()
    """Pictures."""

    extras: Mapping[str, Json] | None = None
    """What the source says beyond these fields, raw."""

    quotations: tuple[Quotation, ...] = ()
    """What the source says in it that addresses the reader."""

    pointer: str
    """JSON pointer to it in the source."""


@frozen
class Prompt:
    """A message that the service writes for the model, from arguments."""

    name: str
    """The exact name."""

    title: str | None = None
    """A name for people."""

    description: str | None = None
    """What it is for."""

    parameters: tuple[Parameter, ...] = ()
    """Its arguments."""

    icons: tuple[Icon, ...] = ()
    """Pictures."""

    extras: Mapping[str, Json] | None = None
    """What the source says beyond these fields, raw."""

    quotations: tuple[Quotation, ...] = ()
    """What the source says in it or below it that addresses the reader."""

    pointer: str
    """JSON pointer to it in the source."""


@frozen
class Event:
    """A request that the service itself sends, to an address that a caller gave it (OpenAPI webhooks, callbacks)."""

    name: str
    """The name of the webhook, or of the callback; unique in the service."""

    tool: str | None = None
    """The tool whose call leads to it; `None` for a webhook, which is set up elsewhere."""

    method: str
    """The HTTP method, in capitals."""

    address: str | None = None
    """Where a callback goes: a runtime expression such as `{$request.body#/url}`."""

    summary: str | None = None
    """One line."""

    description: str | None = None
    """When it is sent and what it means; Markdown, untrusted."""

    parameters: tuple[Parameter, ...] = ()
    """What it carries."""

    input: Input | None = None
    """Its body as a whole, in the form whose properties are among its parameters."""

    other_inputs: tuple[Input, ...] = ()
    """The forms of its body that differ from that one."""

    media_types: tuple[str, ...] = ()
    """Media types of its body."""

    tags: tuple[str, ...] = ()
    """What the source files it under."""

    auth: tuple[tuple[Credential, ...], ...] | None = None
    """The sets of credentials of which the service sends one to the receiver. Empty: it sends none; `None`: not
    declared."""

    deprecated: bool = False
    """Whether it will go."""

    pointer: str
    """JSON pointer to it in the source."""

    origins: Origins | None = None
    """Fields that are not declared there."""


ClientTransport = Literal["stdio", "http", "sse"]


@frozen
class Section:
    """A piece of the source's own documentation that has no field of its own."""

    title: str
    """Its heading."""

    body: str
    """Markdown, untrusted."""


@frozen
class Workflow:
    """Tools that are used one after another."""

    title: str
    """What it achieves."""

    steps: tuple[str, ...]
    """What to do, in order."""


@frozen
class Group:
    """Tools that belong together."""

    name: str
    """What tools refer to; unique in the service."""

    title: str
    """Its heading."""

    description: str | None = None
    """What its tools are for."""

    parent: str | None = None
    """The name of the group that it is a part of; that one need not have tools of its own."""

    subjects: tuple[str, ...] = ()
    """What its tools are about beside its title, in words of their paths and names; inferred, in a large service."""

    origins: Origins | None = None
    """Where it comes from, when the source does not declare it."""


@frozen
class Criterion:
    """One of the conformance criteria of progressive disclosure (seed 003, 9)."""

    number: int
    """1 to 8."""

    text: str
    """What it asks for."""

    outcome: Literal["met", "not met", "not checked"]
    """What the crawl showed."""

    note: str | None = None
    """What was seen, or why it was not checked."""


@frozen
class Disclosure:
    """A server that lists its tools briefly, and wants a tool's description read before its first call (seed 003)."""

    uri: str
    """The resource that holds the descriptions; tools are named in its query: `?tools=A,B`."""

    undescribed: tuple[str, ...] = ()
    """Tools whose description was not read."""

    criteria: tuple[Criterion, ...] = ()
    """How far the server conforms."""

    pointer: str
    """JSON pointer to the resource in the source."""


@frozen
class SkillFile:
    """A file of a skill that a server offers."""

    uri: str
    """Where it is read."""

    size: int | None = None
    """In bytes, as declared."""

    digest: str | None = None
    """`sha256:` and 64 digits, as declared."""

    text: str | None = None
    """Its content, where it was asked for and is what size and digest say; untrusted."""


@frozen
class OfferedSkill:
    """A skill that an MCP server offers itself (`io.modelcontextprotocol/skills`)."""

    uri: str
    """Of its SKILL.md; with the server it is the skill's identity."""

    name: str
    """As its front matter says."""

    description: str | None = None
    """What it does and when to use it."""

    files: tuple[SkillFile, ...] = ()
    """Its files; empty where they are made on demand."""

    extras: Mapping[str, Json] | None = None
    """What its front matter says beyond that. `allowed-tools` is never among it."""

    pointer: str
    """JSON pointer to it in the source."""


@frozen
class RelatedServer:
    """Another server that the service recommends for what it does not do itself (seed 004, 13)."""

    name: str
    """The server."""

    capability: str | None = None
    """For what."""

    registry_url: str | None = None
    """Where it is found."""

    auth_flow: str | None = None
    """How one authenticates there."""

    confidence: str | None = None
    """`high`, `medium` or `low`: how well it fits."""


@frozen
class ClientEntry:
    """How an MCP server was reached, as far as the entry of a client's server file may say it: no value of a secret."""

    transport: ClientTransport = "stdio"
    """What was spoken over; the address of `http` and `sse` is the service's first endpoint."""

    command: tuple[str, ...] = ()
    """The program and its arguments; empty where they mean nothing on another machine."""

    env: tuple[str, ...] = ()
    """Names of the environment variables that were passed on."""

    headers: tuple[str, ...] = ()
    """Names of the headers that were sent."""
