"""The root of the model: a service and all that it offers. Sources fill it, and templates read it.

Every node holds the JSON pointer at which the source declares it; `origins` names the fields that are declared
elsewhere. `None` and an empty tuple mean "not declared".

Workflows have the form of Arazzo 1.0 and 1.1. Values in them hold literals, runtime expressions such as
`$steps.find.outputs.id`, and strings with expressions in braces.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from skillgen.errors import Problem
from skillgen.model.auth import Access, AccessLevel, Endpoint, Invocation, RateLimit, Requirements
from skillgen.model.calls import ErrorCase
from skillgen.model.resource import (
    Area,
    ClientEntry,
    Disclosure,
    Event,
    Group,
    OfferedSkill,
    Prompt,
    RelatedServer,
    Resource,
    Section,
)
from skillgen.model.schema import NamedType, Parameter, Schema
from skillgen.model.tool import Kind, Tool
from skillgen.model.values import Declared, Icon, Json, Node, Origins, Quotation


class Service(Node, frozen=True, kw_only=True):
    """A service: what it is, when to use it, and all that it offers."""

    kind: Kind
    """The kind of source."""

    source: tuple[str, ...] = ()
    """What it was read from: the kind, and the URL, the words of the command, or the file, with absolute paths, which
    neither a record nor a snapshot has. Empty if unknown."""

    protocol_version: str | None = None
    """The MCP revision that the server uses, or the OpenAPI version of the description."""

    name: str
    """The declared name, from which the name of the skill is derived."""

    title: str | None = None
    """The display name."""

    version: str | None = None
    """The version of the service."""

    summary: str | None = None
    """What it does, in one or two sentences, as the source declares it."""

    description: str | None = None
    """The complete description; Markdown, untrusted."""

    instructions: str | None = None
    """The instructions of an MCP server to the model; untrusted."""

    emoji: str | None = None
    """One emoji."""

    icons: tuple[Icon, ...] = ()
    """Icons."""

    homepage: str | None = None
    """URL of the main documentation."""

    repository: str | None = None
    """URL of the source code."""

    status_page: str | None = None
    """URL of the page that shows its availability."""

    license: str | None = None
    """The licence of the service's own description."""

    content_version: str | None = None
    """The version of the service's own metadata."""

    last_updated: str | None = None
    """The date of the last change to that metadata; ISO 8601."""

    endpoints: tuple[Endpoint, ...] = ()
    """Base URLs."""

    purpose: str | None = None
    """What it does, as the description of its skill says: a sentence of the source, or what its tools do."""

    trigger: str | None = None
    """When to use it, in a sentence; `None` if `purpose` says so."""

    product: str | None = None
    """What users call it."""

    skill_name: str | None = None
    """The name of its skill."""

    part_name: str | None = None
    """The name of the skill of a part of the service, if this is one."""

    server_name: str | None = None
    """The name under which a host mounts an MCP server."""

    client_entry: ClientEntry | None = None
    """The client configuration of a crawled MCP server; `None` for other sources."""

    when_to_use: tuple[str, ...] = ()
    """Requests of users for which this service is the right one; always declared, never inferred."""

    when_not_to_use: tuple[str, ...] = ()
    """What it is not for; always declared, never inferred."""

    access_level: AccessLevel = "interact"
    """How much a caller can change."""

    access: Access = Access()
    """Other ways to use it."""

    install: Mapping[str, str] | None = None
    """Package manager to package."""

    requirements: Requirements = Requirements()
    """What a caller needs before the first call."""

    invocation: Invocation | None = None
    """Who may invoke the skill."""

    rate_limit: RateLimit | None = None
    """The rate limit of all calls."""

    categories: tuple[str, ...] = ()
    """Topics, for registries."""

    extensions: Mapping[str, Json] | None = None
    """Protocol extensions that it supports, with their settings."""

    uses: tuple[str, ...] = ()
    """Extensions of MCP for documentation that the server uses: `dashdash`, `ai_help` and `manifest`; of a description,
    `mcp-rest` if it claims to be a manifest of the MCP REST Edition."""

    groups: tuple[Group, ...] = ()
    """Groups of tools, in the order of the documents."""

    areas: tuple[Area, ...] = ()
    """The parts that have a skill each, as the author of the documents declares them."""

    tools: tuple[Tool, ...] = ()
    """The tools, in the order declared."""

    parameters: tuple[Parameter, ...] = ()
    """Options of a program that precede the command, whichever it is."""

    resources: tuple[Resource, ...] = ()
    """The resources."""

    resource_templates: tuple[Resource, ...] = ()
    """Resource templates: `uri` is a URI template."""

    prompts: tuple[Prompt, ...] = ()
    """The prompts."""

    events: tuple[Event, ...] = ()
    """Requests that the service sends itself, in the order declared."""

    errors: tuple[ErrorCase, ...] = ()
    """Errors that any tool may return."""

    workflows: tuple[Workflow, ...] = ()
    """Sequences of calls."""

    sections: tuple[Section, ...] = ()
    """The rest of its own documentation."""

    disclosure: Disclosure | None = None
    """How a server with progressive disclosure describes its tools."""

    skills: tuple[OfferedSkill, ...] = ()
    """Skills that the server offers itself."""

    related: tuple[RelatedServer, ...] = ()
    """Other servers that it recommends."""

    schemas: tuple[NamedType, ...] = ()
    """Named types, sorted by name."""

    source_size_bytes: int = 0
    """The size of what an agent would have to read without these documents: `tools/list` or the OpenAPI document as
    compact JSON; of an OpenAPI document over 1 MiB, the size of the file."""

    extras: Mapping[str, Json] | None = None
    """Everything else that the source declares, as raw JSON."""

    quotations: tuple[Quotation, ...] = ()
    """Text outside of tools, resources and prompts that addresses the reader."""

    problems: tuple[Problem, ...] = ()
    """Problems of the source; no document shows them."""

    advice: tuple[Problem, ...] = ()
    """What it lacks of the recommendations of the extensions that it uses, and what only looks like an order to a
    model; only `lint` reports it."""

    origins: Origins | None = None
    """Origins of the fields that are not declared in the usual place."""


class StepValue(Node, frozen=True, kw_only=True):
    """A value that a step sends."""

    name: str
    """The name of the parameter or the input, or the place in the body."""

    location: str | None = None
    """`path`, `query`, `querystring`, `header` or `cookie`; `None` for an input of a workflow, or a place in the
    body."""

    value: Json
    """A literal, an expression, or a selector: an object of `context`, `selector` and `type`."""


class StepCriterion(Node, frozen=True, kw_only=True):
    """A condition on the answer to a step."""

    condition: str
    """The condition."""

    kind: str = "simple"
    """`simple`, `regex`, `jsonpath` or `xpath`."""

    context: str | None = None
    """The expression to whose value the condition applies."""


class StepAction(Node, frozen=True, kw_only=True):
    """What to do after a step."""

    kind: Literal["end", "goto", "retry"]
    """The kind of action."""

    name: str | None = None
    """The name; an action of a step replaces that of the workflow with the same name."""

    step: str | None = None
    """The name of the step to go to, or to make before a retry."""

    workflow: str | None = None
    """The name of the workflow to go to, or to make before a retry."""

    inputs: tuple[StepValue, ...] = ()
    """The inputs of that workflow."""

    criteria: tuple[StepCriterion, ...] = ()
    """All of these must hold."""

    retry_after_s: int | float | None = None
    """Seconds to wait before a retry."""

    retry_limit: int | None = None
    """The maximum number of retries."""


class WorkflowStep(Node, frozen=True, kw_only=True):
    """A call within a workflow: of a tool, of another workflow, or of something that is not documented here."""

    name: str
    """The name, unique in the workflow; empty for a step of the author of the documents."""

    description: str | None = None
    """What it does; Markdown, untrusted."""

    tool: str | None = None
    """The name of the tool."""

    workflow: str | None = None
    """The name of the workflow."""

    other: str | None = None
    """An operation of another API, a channel or a workflow elsewhere, as the source names it."""

    values: tuple[StepValue, ...] = ()
    """Parameters, or inputs of the workflow."""

    body: Declared = None
    """The body of the request."""

    media_type: str | None = None
    """The media type of the body."""

    replacements: tuple[StepValue, ...] = ()
    """Values at places in the body."""

    criteria: tuple[StepCriterion, ...] = ()
    """It succeeded if all of these hold."""

    on_success: tuple[StepAction, ...] = ()
    """What to do then; the first action whose criteria hold. Otherwise the next step follows."""

    on_failure: tuple[StepAction, ...] = ()
    """What to do if it failed; the first action whose criteria hold. Otherwise the workflow ends."""

    outputs: Mapping[str, Json] | None = None
    """Name to expression: what later steps use of the answer."""

    after: tuple[str, ...] = ()
    """Names of other steps that must be completed before."""

    pointer: str
    """JSON pointer to it in the source."""

    @property
    def workflows(self) -> tuple[str, ...]:
        """The names of the workflows that it may start."""
        actions = (item.workflow for item in (*self.on_success, *self.on_failure))
        return tuple(dict.fromkeys(filter(None, (self.workflow, *actions))))


class Workflow(Node, frozen=True, kw_only=True):
    """A sequence of calls."""

    name: str
    """The name, unique in the service."""

    title: str | None = None
    """The goal, in one line."""

    description: str | None = None
    """The complete description; Markdown, untrusted."""

    inputs: Schema | None = None
    """What must be known before the first step."""

    steps: tuple[WorkflowStep, ...]
    """The steps, in order."""

    outputs: Mapping[str, Json] | None = None
    """Name to expression: the result."""

    after: tuple[str, ...] = ()
    """Names of workflows that must be completed before."""

    pointer: str
    """JSON pointer to it in the source."""
