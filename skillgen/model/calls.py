"""What is sent to a tool and what it returns: requests, examples, outputs, errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from skillgen.model.schema import Parameter, Schema
from skillgen.model.values import Json, Origins, Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A field of a form, or a part of another multipart body."""

    name: str
    """The name; empty for a part without a name."""

    text: str = ""
    """The value; empty for a file."""

    media_type: str | None = None
    """The media type of the value, if not plain text."""

    is_file: bool = False
    """Whether the content of a file is sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """An HTTP request without base URL and credentials."""

    path: str
    """Path and query, percent-encoded."""

    headers: Mapping[str, str] | None = None
    """Headers that are parameters of the operation."""

    cookies: Mapping[str, str] | None = None
    """Cookies with percent-encoded values."""

    media_type: str | None = None
    """The media type of the body; `None` without a body."""

    body: Value | None = None
    """The body as JSON, a sequence of records as a list; a string if the media type is not JSON."""

    parts: tuple[Part, ...] = ()
    """The fields of a form."""

    is_file: bool = False
    """Whether the body is the content of a file."""

    auth: tuple[str, ...] = ()
    """Names of the security schemes that are used together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A call and its result."""

    input: Json
    """The arguments, in the form of `Tool.input_schema`."""

    name: str | None = None
    """The name in the source."""

    description: str | None = None
    """What it shows."""

    output: Value | None = None
    """The result."""

    flaw: str | None = None
    """Why the arguments are invalid by the tool's own schema; `None` if they are valid."""

    request: Request | None = None
    """The equivalent HTTP request."""

    origins: Origins | None = None
    """Origins of the fields that were generated from the schema, not declared."""

    @property
    def is_declared(self) -> bool:
        """True if the source declares this call."""
        return "input" not in (self.origins or {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """The arguments of a tool, or one form of a request body."""

    media_types: tuple[str, ...] = ()
    """The media types in which this form can be sent, the recommended one first; empty for arguments."""

    required: bool = True
    """Whether it must be sent."""

    description: str | None = None
    """What it is."""

    schema: Schema | None = None
    """Rules beyond those of each parameter: alternatives, conditions, constraints."""

    parameters: tuple[Parameter, ...] = ()
    """Its parameters, if they are not among `Tool.parameters`."""

    pointer: str
    """JSON pointer to it in the source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """How a value of a response is used in another call (OpenAPI 3.1, "Link Object")."""

    name: str
    """The name."""

    operation: str | None = None
    """The name of the tool, or a reference to the operation."""

    parameters: Mapping[str, Json] | None = None
    """Name of a parameter to its value, or to an expression such as `$response.body#/id`."""

    description: str | None = None
    """What it is for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleOutput:
    """A result that the source declares as an example."""

    value: Value
    """The result as JSON; a string if the media type is not JSON."""

    media_type: str | None = None
    """The media type; `None` if not declared."""

    name: str | None = None
    """The name in the source."""

    description: str | None = None
    """What it shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """The result of a call."""

    schema: Schema | None = None
    """The type."""

    description: str | None = None
    """What it is."""

    status: str | None = None
    """The HTTP status."""

    media_types: tuple[str, ...] = ()
    """The media types."""

    headers: tuple[Parameter, ...] = ()
    """The response headers."""

    links: tuple[Link, ...] = ()
    """Calls that can follow."""

    examples: tuple[ExampleOutput, ...] = ()
    """Examples that the source declares."""

    raw: Json = None
    """The schema as raw JSON."""

    pointer: str
    """JSON pointer to it in the source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorCase:
    """An error that a call may return."""

    code: str
    """A code of the source, or an HTTP status; empty if not declared."""

    description: str | None = None
    """What it means."""

    resolution: str | None = None
    """What to do about it."""

    category: str | None = None
    """`transient`, `permanent`, `auth_required`, `invalid_input` or `rate_limited` (seed 004, 11)."""

    retry_after_s: float | None = None
    """Seconds to wait before a retry."""

    user_actionable: bool | None = None
    """Whether the user must be informed."""

    documentation: str | None = None
    """URL of its documentation."""

    details: Value | None = None
    """Machine-readable details (seed 004, 11)."""

    output: Output | None = None
    """The response."""

    other_outputs: tuple[Output, ...] = ()
    """The response in media types with a different schema."""
