"""What a service offers beside its tools: resources, prompts and events."""

from __future__ import annotations

from collections.abc import Mapping

from skillgen.model.access import Credential
from skillgen.model.exchange import Input
from skillgen.model.frozen import frozen
from skillgen.model.icon import Icon
from skillgen.model.quotation import Quotation
from skillgen.model.schema import Parameter
from skillgen.model.value import Json, Origins


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
