"""What a service offers in addition to tools: resources, prompts, events, groups, skills."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from skillgen.model.auth import Credential
from skillgen.model.calls import ErrorCase, Input
from skillgen.model.schema import Parameter
from skillgen.model.values import Icon, Json, Node, Origins, Quotation


class Resource(Node, frozen=True, kw_only=True):
    """A resource at a URI, or a family of them at a URI template."""

    uri: str
    """The URI, or the URI template (RFC 6570)."""

    name: str
    """The name."""

    title: str | None = None
    """The display name."""

    description: str | None = None
    """What it contains."""

    media_type: str | None = None
    """The media type of its content."""

    size: int | None = None
    """The size in bytes."""

    audience: tuple[str, ...] = ()
    """Intended readers: `user`, `assistant`."""

    priority: int | float | None = None
    """From 0, optional, to 1, required."""

    last_modified: str | None = None
    """ISO 8601. It changes while the service stays the same, so no document shows it."""

    resource_type: str | None = None
    """The type of resource (seed 000)."""

    refreshable: bool | None = None
    """Whether its content changes (seed 000)."""

    cache_duration_s: int | None = None
    """Seconds for which it may be cached (seed 000)."""

    web_equivalent: str | None = None
    """URL of the same content for people (seed 000)."""

    api_equivalent: str | None = None
    """The equivalent HTTP request (seed 000)."""

    icons: tuple[Icon, ...] = ()
    """Icons."""

    extras: Mapping[str, Json] | None = None
    """Everything else that the source declares, as raw JSON."""

    quotations: tuple[Quotation, ...] = ()
    """Text in it that addresses the reader."""

    pointer: str
    """JSON pointer to it in the source."""


class Prompt(Node, frozen=True, kw_only=True):
    """A message that the service generates for the model, from arguments."""

    name: str
    """The exact name."""

    title: str | None = None
    """The display name."""

    description: str | None = None
    """What it is for."""

    parameters: tuple[Parameter, ...] = ()
    """The arguments."""

    icons: tuple[Icon, ...] = ()
    """Icons."""

    extras: Mapping[str, Json] | None = None
    """Everything else that the source declares, as raw JSON."""

    quotations: tuple[Quotation, ...] = ()
    """Text in the prompt or in its parts that addresses the reader."""

    pointer: str
    """JSON pointer to it in the source."""


class Event(Node, frozen=True, kw_only=True):
    """A request that the service sends to a URL of the caller (OpenAPI webhooks, callbacks)."""

    name: str
    """The name of the webhook or callback; unique in the service."""

    tool: str | None = None
    """The tool that triggers it; `None` for a webhook, which is set up elsewhere."""

    method: str
    """The HTTP method, in upper case."""

    address: str | None = None
    """The URL of a callback: a runtime expression such as `{$request.body#/url}`."""

    summary: str | None = None
    """One line."""

    description: str | None = None
    """When it is sent and what it means; Markdown, untrusted."""

    parameters: tuple[Parameter, ...] = ()
    """The data that it carries."""

    input: Input | None = None
    """Its body, in the form that has its properties among `parameters`."""

    other_inputs: tuple[Input, ...] = ()
    """Other forms of its body."""

    media_types: tuple[str, ...] = ()
    """Media types of its body."""

    answers: tuple[ErrorCase, ...] = ()
    """What the receiver answers, by status."""

    tags: tuple[str, ...] = ()
    """Tags."""

    auth: tuple[tuple[Credential, ...], ...] | None = None
    """Alternative sets of credentials, one of which the service sends to the receiver. Empty: it sends none; `None`:
    not declared."""

    deprecated: bool = False
    """Whether it is deprecated."""

    pointer: str
    """JSON pointer to it in the source."""

    origins: Origins | None = None
    """Origins of the fields that are not declared there."""


ClientTransport = Literal["stdio", "http", "sse"]


SectionKind = Literal["usage", "failures", "help", "help_on_parameters", "quick_reference"]


class Section(Node, frozen=True, kw_only=True):
    """A piece of the source's documentation for which the model has no field."""

    title: str = ""
    """The heading."""

    kind: SectionKind | None = None
    """What it is, if it has no heading: advice on use (`usage`), advice for errors (`failures`), what the source's help
    adds on a tool (`help`) or its parameters (`help_on_parameters`), the source's own list of tools
    (`quick_reference`)."""

    body: str
    """Markdown, untrusted."""


class Group(Node, frozen=True, kw_only=True):
    """Tools that belong together."""

    name: str
    """The identifier that tools refer to; unique in the service."""

    title: str
    """The heading."""

    description: str | None = None
    """What its tools are for."""

    parent: str | None = None
    """The name of the parent group, which may be without tools of its own."""

    origins: Origins | None = None
    """Origins of the fields that the source does not declare."""


class Criterion(Node, frozen=True, kw_only=True):
    """A conformance criterion of progressive disclosure (seed 003, 9)."""

    number: int
    """1 to 8."""

    text: str
    """The requirement."""

    outcome: Literal["met", "not met", "not checked"]
    """The result of the crawl."""

    note: str | None = None
    """What was observed, or why it was not checked."""


class Disclosure(Node, frozen=True, kw_only=True):
    """Progressive disclosure: a server that lists its tools briefly and requires reading a tool's description before
    its first call (seed 003)."""

    uri: str
    """The resource with the descriptions; its query names the tools: `?tools=A,B`."""

    undescribed: tuple[str, ...] = ()
    """Tools without a description, because it was not read."""

    criteria: tuple[Criterion, ...] = ()
    """How far the server conforms."""

    pointer: str
    """JSON pointer to the resource in the source."""


class SkillFile(Node, frozen=True, kw_only=True):
    """A file of a skill that a server offers."""

    uri: str
    """The URI of the file."""

    size: int | None = None
    """The declared size in bytes."""

    digest: str | None = None
    """The declared digest: `sha256:` and 64 hexadecimal digits."""

    text: str | None = None
    """Its content, if it was read and matches size and digest; untrusted."""


class Area(Node, frozen=True, kw_only=True):
    """A part of a large service that has a skill of its own, as the author of the documents declares it."""

    name: str
    """The end of the skill's name."""

    pointer: str = ""
    """Where it is declared."""

    groups: tuple[str, ...]
    """The groups of its tools."""

    summary: str | None = None
    """What it does and when to use it."""

    when_to_use: tuple[str, ...] = ()
    """Requests of users for which it is the right one."""

    when_not_to_use: tuple[str, ...] = ()
    """What it is not for."""

    sections: tuple[Section, ...] = ()
    """What else an agent should know."""


class OfferedSkill(Node, frozen=True, kw_only=True):
    """A skill that an MCP server offers itself (`io.modelcontextprotocol/skills`)."""

    uri: str
    """The URI of its SKILL.md; together with the server it identifies the skill."""

    name: str
    """The name in its front matter."""

    description: str | None = None
    """What it does and when to use it."""

    files: tuple[SkillFile, ...] = ()
    """Its files; empty if they are generated on demand."""

    extras: Mapping[str, Json] | None = None
    """Everything else in its front matter, except `allowed-tools`."""

    pointer: str
    """JSON pointer to it in the source."""


class RelatedServer(Node, frozen=True, kw_only=True):
    """Another server that the service recommends for what it does not do itself (seed 004, 13)."""

    name: str
    """The name of the server."""

    capability: str | None = None
    """What it is recommended for."""

    registry_url: str | None = None
    """URL of its registry entry."""

    auth_flow: str | None = None
    """How to authenticate there."""

    confidence: str | None = None
    """`high`, `medium` or `low`: how well it fits."""


PACKAGE_MANAGERS = {
    **dict.fromkeys(("npm", "npx", "bun", "pnpm", "yarn"), "npm"),
    **dict.fromkeys(("pip", "pipx", "pypi", "uv", "uvx"), "pypi"),
    **dict.fromkeys(("docker", "oci"), "oci"),
}
"""A package manager of `install` (seed 000, 3.1.2) to the type of registry."""


class ClientEntry(Node, frozen=True, kw_only=True):
    """The entry of an MCP server in a client's configuration, without any secret value."""

    transport: ClientTransport = "stdio"
    """The transport; the URL of `http` and `sse` is the service's first endpoint."""

    command: tuple[str, ...] = ()
    """The program and its arguments; empty if they are meaningless on another machine."""

    example: tuple[str, ...] = ()
    """A command for a person, with `<path>` or `<value>` for what is meaningless on another machine."""

    env: tuple[str, ...] = ()
    """Names of the environment variables that were passed."""

    headers: tuple[str, ...] = ()
    """Names of the headers that were sent."""
