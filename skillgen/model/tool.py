"""A tool, and the effects of calling it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec.structs import replace

from skillgen.model.auth import Credential, Endpoint, RateLimit
from skillgen.model.calls import Completion, Deprecation, ErrorCase, Example, Input, Output, Pagination
from skillgen.model.resource import Section
from skillgen.model.schema import Parameter, Schema, arguments_of, input_keys, object_of
from skillgen.model.serialization import essence_of
from skillgen.model.values import Icon, Json, Node, Origins, Quotation

Operation = Literal["read", "write", "delete", "admin"]

Risk = Literal["safe", "reversible", "destructive"]

Kind = Literal["mcp", "openapi", "cli"]
"""The kinds of source."""

Effect = Literal["read", "write", "sends", "destructive"]

EFFECTS: Mapping[Effect, str] = {
    "read": "changes nothing",
    "write": "changes data",
    "sends": "sends or hands over something",
    "destructive": "deletes or overwrites",
}
"""Every effect of a call with its meaning, the worst last."""


_RANKS: Mapping[str | None, int] = {effect: rank for rank, effect in enumerate((None, *EFFECTS))}


def rank_of(effect: str | None) -> int:
    """Returns the place of an effect in `EFFECTS`, from 1; 0 for none."""
    return _RANKS[effect]


def is_raised_by(known: str | None, effect: str) -> bool:
    """True if an effect asks for more caution than a known one; agents ask before a tool without one."""
    return rank_of(effect) > rank_of(known or "write")


JUDGED_BY = ("its name", "its description", "HTTP ", "its argument ", "its option ", "its property ")
"""What effects are judged by, as the sources of their origins begin; the last two are those of older snapshots."""


class Semantics(Node, frozen=True, kw_only=True):
    """The effects of a call. `None` means unknown, not false."""

    operation: Operation | None = None
    """The kind of operation."""

    read_only: bool | None = None
    """Whether it changes nothing."""

    destructive: bool | None = None
    """Whether it may delete or overwrite."""

    sends: bool | None = None
    """Whether it reaches people, costs money or hands something over."""

    idempotent: bool | None = None
    """Whether repeating a call has no further effect."""

    idempotent_with_key: bool | None = None
    """Whether it is idempotent if an idempotency key is sent."""

    open_world: bool | None = None
    """Whether it reaches beyond the service's own data."""

    reversible: bool | None = None
    """Whether it can be undone."""

    reversed_by: str | None = None
    """The name of the tool that undoes it."""

    side_effects: tuple[str, ...] = ()
    """Other effects."""

    requires_confirmation: bool | None = None
    """Whether a person must confirm it first (seed 004, 6)."""

    confirmation_message: str | None = None
    """The question to that person; `{parameter}` is a placeholder for an argument."""

    risk: Risk | None = None
    """The consequences of a mistake (seed 004, 6)."""

    origins: Origins | None = None
    """Origins of these fields."""

    @property
    def effect(self) -> Effect | None:
        """The worst known effect."""
        if self.destructive:
            return "destructive"
        if self.sends:
            return "sends"
        if self.read_only:
            return "read"
        is_changing = self.read_only is False or self.destructive is False
        return "write" if is_changing or self.operation in ("write", "delete", "admin") else None

    @property
    def is_effect_judged(self) -> bool:
        """True if the worst known effect is judged, not declared."""
        field = "destructive" if self.destructive else "sends" if self.sends else "read_only"
        return self.effect is not None and self.is_judged(field)

    def is_declared(self, name: str) -> bool:
        """True if a known field was declared, not inferred or defaulted."""
        origin = (self.origins or {}).get(name)
        return origin is None or origin.kind == "declared"

    def is_judged(self, name: str) -> bool:
        """True if a known field follows from the HTTP method, the name or the texts, not from what is declared."""
        origin = (self.origins or {}).get(name)
        return origin is not None and origin.source.startswith(JUDGED_BY)


class Cost(Node, frozen=True, kw_only=True):
    """The estimated cost of a call (seed 004, 3)."""

    category: str | None = None
    """`free`, `metered` or `requires_approval`."""

    estimated_units: int | float | None = None
    """The number of units."""

    unit_label: str | None = None
    """The unit."""


class Tool(Node, frozen=True, kw_only=True):
    """An MCP tool, an operation of an API (seed 002, 4.1), or a command of a program."""

    name: str
    """The exact name for calls; unique in the service."""

    title: str | None = None
    """The display name."""

    summary: str | None = None
    """One line."""

    description: str | None = None
    """The complete description; Markdown, untrusted."""

    group: str | None = None
    """The name of its group."""

    disclosed_by: str | None = None
    """The name of the group that discloses it: it is not in `tools/list`, only in the result of `groups/get`."""

    tags: tuple[str, ...] = ()
    """All tags; one of them names its group."""

    parameters: tuple[Parameter, ...] = ()
    """The parameters in the order declared; of an operation, followed by the properties of the recommended form of the
    request body."""

    input_schema: Json = None
    """All parameters as the raw JSON Schema of the source; none of an operation."""

    is_input_declared: bool = True
    """Whether the source declares the input; if not, a call may take more than `parameters`."""

    unread: tuple[str, ...] = ()
    """Parts that are declared but could not be read, such as `parameter limit`, `body order` and `result orders`."""

    input: Input | None = None
    """The input itself: the arguments, or the recommended form of the request body."""

    other_inputs: tuple[Input, ...] = ()
    """Other forms of the request body."""

    output: Output | None = None
    """The result."""

    other_outputs: tuple[Output, ...] = ()
    """Other results of a successful call: an operation's other statuses from 200 to 299, and other media types."""

    semantics: Semantics = Semantics()
    """The effects of a call."""

    cost: Cost | None = None
    """The estimated cost of a call."""

    latency: str | None = None
    """`instant`, `seconds` or `minutes` (seed 004, 3)."""

    input_media_types: tuple[str, ...] = ()
    """Media types that it accepts."""

    output_media_types: tuple[str, ...] = ()
    """Media types that it returns."""

    max_input_bytes: int | None = None
    """The maximum size of the input (seed 004, 10)."""

    binary_transport: str | None = None
    """How binary data is sent, such as `multipart` (seed 004, 10)."""

    auth: tuple[tuple[Credential, ...], ...] | None = None
    """Alternative ways to authenticate. All credentials of one alternative are sent together; one without credentials
    allows anonymous calls. An empty tuple if no authentication is needed."""

    scopes: tuple[str, ...] = ()
    """Scopes that it needs, or that one of its alternatives needs."""

    rate_limit: RateLimit | None = None
    """Its own rate limit, if it differs from the service's."""

    examples: tuple[Example, ...] = ()
    """Example calls: those of the source, otherwise one generated from the schema. The first one without a `flaw` can
    be sent unchanged."""

    errors: tuple[ErrorCase, ...] = ()
    """Errors that it may return."""

    guidance: tuple[Section, ...] = ()
    """Further advice of the source on its use (seed 003, `usage_guidance` and `error_guidance`)."""

    cli_equivalent: str | None = None
    """The equivalent command; `{parameter}` is a placeholder for an argument."""

    api_equivalent: str | None = None
    """The equivalent HTTP request."""

    method: str | None = None
    """The HTTP method, in upper case."""

    path: str | None = None
    """The path, as declared."""

    command: tuple[str, ...] = ()
    """The words that call a command of a program, such as `acme`, `registry` and `build`."""

    help: str | None = None
    """The help of a command as the program prints it, of a program that is only known by its help."""

    usage: str | None = None
    """The usage line in `help`."""

    endpoints: tuple[Endpoint, ...] = ()
    """Its own base URLs, if they differ from the service's."""

    documentation: str | None = None
    """URL of its documentation."""

    deprecated: bool = False
    """Whether it is deprecated."""

    deprecation: Deprecation | None = None
    """What the source says about the deprecation."""

    streaming: bool | None = None
    """Whether it returns partial results."""

    pagination: Pagination | None = None
    """How to get the next page."""

    task_support: Literal["optional", "required"] | None = None
    """Whether it can, or must, be called as a task (MCP 2025-11-25, `execution.taskSupport`)."""

    completion: Completion | None = None
    """How to learn the outcome of work that continues after the response."""

    icons: tuple[Icon, ...] = ()
    """Icons."""

    extras: Mapping[str, Json] | None = None
    """Everything else that the source declares, as raw JSON."""

    quotations: tuple[Quotation, ...] = ()
    """Text in the tool or in its parts that addresses the reader."""

    pointer: str
    """JSON pointer to it in the source."""

    origins: Origins | None = None
    """Origins of the fields that are not declared there."""

    @property
    def is_preflight(self) -> bool:
        """True for an operation that only answers the preflight request of a browser (CORS), which nobody calls."""
        text = f"{self.summary or ''} {self.description or ''}" if self.method == "OPTIONS" else None
        return text is not None and ("CORS" in text or not text.strip())

    # -- arguments, in the form of `input_schema`: a key for each parameter, and one for the body

    def arguments_schema(self, media_type: str | None = None) -> Schema:
        """Returns the schema of the arguments; `media_type` is that of the body, by default the recommended one."""
        if self.method is None:
            rules = self.input.schema if self.input is not None else None
            return arguments_of(self.parameters, rules) if isinstance(self.input_schema, dict) else Schema()
        slots, body_key = self.parameter_keys()
        properties = [replace(item, name=key) for key, item in slots.items()]
        if (form := self.body_form(media_type)) is not None:
            schema = form.schema_of(self.body_parameters(form))
            properties.append(
                Parameter(name=body_key, location="body", required=form.required, schema=schema, pointer=form.pointer)
            )
        return object_of(properties, Schema(additional=False))

    def parameter_keys(self) -> tuple[dict[str, Parameter], str]:
        """Returns the parameters outside of the body by their keys in the arguments, and the key of the body."""
        sent = [item for item in self.parameters if item.location != "body"]
        keys, body_key = input_keys(sent)
        return dict(zip(keys, sent, strict=True)), body_key

    def body_form(self, media_type: str | None = None) -> Input | None:
        """Returns the form of the request body in a media type, by default the recommended one; `None` without one."""
        if media_type is None or self.input is None:
            return self.input
        wanted = essence_of(media_type)
        forms = (self.input, *self.other_inputs)
        for patterns in ({wanted}, {f"{wanted.partition('/')[0]}/*", "*/*"}):  # the exact type first
            for form in forms:
                if not patterns.isdisjoint(map(essence_of, form.media_types)):
                    return form
        return None if any(form.media_types for form in forms) else self.input

    def body_parameters(self, form: Input | None = None) -> tuple[Parameter, ...]:
        """Returns the properties of a form of the body, or its one parameter for the whole body."""
        if form is None or form is self.input:
            return tuple(item for item in self.parameters if item.location == "body")
        return form.parameters


CAUTION: Mapping[str, tuple[Json, ...]] = {
    "operation": ("read", "write", "admin", "delete"),
    "read_only": (True, False),
    "destructive": (False, True),
    "sends": (False, True),
    "idempotent": (True, False),
    "open_world": (False, True),
    "reversible": (True, False),
    "requires_confirmation": (False, True),
    "risk": ("safe", "reversible", "destructive"),
    "access_level": ("read", "browse", "interact", "full"),
}
"""The values of each safety field, from the least to the most cautious."""
