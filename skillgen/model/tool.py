"""A tool, and what a call of it does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from skillgen.model.auth import Credential, Endpoint, RateLimit
from skillgen.model.calls import ErrorCase, Example, Input, Output
from skillgen.model.resource import Section
from skillgen.model.schema import Parameter
from skillgen.model.values import Icon, Json, Origins, Quotation, frozen

Operation = Literal["read", "write", "delete", "admin"]

Risk = Literal["safe", "reversible", "destructive"]


@frozen
class Semantics:
    """What calling a tool does to the world. `None` is "not known", which is not the same as no."""

    operation: Operation | None = None
    """What kind of operation it is."""

    read_only: bool | None = None
    """Whether it changes nothing."""

    destructive: bool | None = None
    """Whether it may delete or overwrite."""

    idempotent: bool | None = None
    """Whether a repetition has no further effect."""

    idempotent_with_key: bool | None = None
    """Whether it is idempotent when an idempotency key is sent."""

    open_world: bool | None = None
    """Whether it reaches beyond the service's own data."""

    reversible: bool | None = None
    """Whether it can be undone."""

    reversed_by: str | None = None
    """The name of the tool that undoes it."""

    side_effects: tuple[str, ...] = ()
    """What else happens."""

    requires_confirmation: bool | None = None
    """Whether a person must agree first (seed 004, 6)."""

    confirmation_message: str | None = None
    """What to ask that person; `{parameter}` stands for an argument."""

    risk: Risk | None = None
    """How bad a mistake would be (seed 004, 6)."""

    origins: Origins | None = None
    """Where each of these comes from."""

    def is_declared(self, name: str) -> bool:
        """Tells whether a field that is known was declared rather than inferred or defaulted."""
        origin = (self.origins or {}).get(name)
        return origin is None or origin.kind == "declared"


@frozen
class Cost:
    """What a call uses up: an estimate (seed 004, 3)."""

    category: str | None = None
    """`free`, `metered` or `requires_approval`."""

    estimated_units: float | None = None
    """How many units."""

    unit_label: str | None = None
    """What a unit is."""


@frozen
class Tool:
    """One thing that the service can do: an MCP tool, or an operation of an API (seed 002, 4.1)."""

    name: str
    """The exact name by which it is called; unique in the service."""

    title: str | None = None
    """A name for people."""

    summary: str | None = None
    """One line."""

    description: str | None = None
    """All that the source says of it; Markdown, untrusted."""

    group: str | None = None
    """The name of its group."""

    disclosed_by: str | None = None
    """The name of the group that alone shows it: it is in no list, and a client gets it by `groups/get`."""

    tags: tuple[str, ...] = ()
    """All that the source files it under; one of them names its group."""

    parameters: tuple[Parameter, ...] = ()
    """What a caller sends, in the order declared; for an operation, then the properties of the request body in its
    recommended form."""

    input_schema: Json = None
    """All parameters as one JSON Schema, raw: for an operation, composed from the parameters' own schemas. Its
    `$ref`s name types that `Service.schemas` holds."""

    is_input_declared: bool = True
    """Whether the source declares what it takes; if not, a call may take more than `parameters`."""

    input: Input | None = None
    """What they are as a whole: the arguments, or the recommended form of the request body."""

    other_inputs: tuple[Input, ...] = ()
    """Other forms of the request body, which differ from it."""

    output: Output | None = None
    """What it returns."""

    other_outputs: tuple[Output, ...] = ()
    """What else it returns on success: an operation's other statuses from 200 to 299, and other media types."""

    semantics: Semantics = field(default_factory=Semantics)
    """What it does to the world."""

    cost: Cost | None = None
    """What a call uses up."""

    latency: str | None = None
    """`instant`, `seconds` or `minutes` (seed 004, 3)."""

    input_media_types: tuple[str, ...] = ()
    """Media types that it takes."""

    output_media_types: tuple[str, ...] = ()
    """Media types that it gives."""

    max_input_bytes: int | None = None
    """How large an input may be (seed 004, 10)."""

    binary_transport: str | None = None
    """How binary data is sent, such as `multipart` (seed 004, 10)."""

    auth: tuple[tuple[Credential, ...], ...] | None = None
    """Ways to authenticate, of which one is enough; all credentials of one way are sent together, and a way without
    any is a call without authentication. An empty tuple where none is needed."""

    scopes: tuple[str, ...] = ()
    """Scopes that it needs, or that one of its ways to authenticate needs."""

    rate_limit: RateLimit | None = None
    """Its own limit, where it differs from the service's."""

    examples: tuple[Example, ...] = ()
    """Calls: those that the source shows, else one that was made from the schema. The first that has no flaw can be
    sent as it stands."""

    errors: tuple[ErrorCase, ...] = ()
    """Ways in which it fails."""

    guidance: tuple[Section, ...] = ()
    """What else the source says of how to use it (seed 003, `usage_guidance` and `error_guidance`)."""

    cli_equivalent: str | None = None
    """The same as a command; `{parameter}` stands for an argument."""

    api_equivalent: str | None = None
    """The same as an HTTP request."""

    method: str | None = None
    """The HTTP method, in capitals."""

    path: str | None = None
    """The path, as the description has it."""

    endpoints: tuple[Endpoint, ...] = ()
    """Its own addresses, where they are not the service's."""

    deprecated: bool = False
    """Whether it should not be used any more."""

    deprecation: str | None = None
    """What the source says of its end: when, and what takes its place."""

    streaming: bool | None = None
    """Whether it gives partial results."""

    pagination: str | None = None
    """How to get the next page."""

    task_support: Literal["optional", "required"] | None = None
    """Whether it can, or must, be called as a task (MCP 2025-11-25, `execution.taskSupport`)."""

    completion: str | None = None
    """When the work goes on after the answer, and how its outcome is learned."""

    icons: tuple[Icon, ...] = ()
    """Pictures."""

    extras: Mapping[str, Json] | None = None
    """What the source says beyond these fields, raw."""

    quotations: tuple[Quotation, ...] = ()
    """What the source says in it or below it that addresses the reader."""

    pointer: str
    """JSON pointer to it in the source."""

    origins: Origins | None = None
    """Fields that are not declared there."""


CAUTION: Mapping[str, tuple[Json, ...]] = {
    "operation": ("read", "write", "admin", "delete"),
    "read_only": (True, False),
    "destructive": (False, True),
    "open_world": (False, True),
    "reversible": (True, False),
    "requires_confirmation": (False, True),
    "risk": ("safe", "reversible", "destructive"),
    "access_level": ("read", "browse", "interact", "full"),
}
"""The values of each field on safety, the most cautious last."""
