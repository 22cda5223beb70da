"""What is sent to a tool and what comes back: requests, examples, outputs, errors."""

from __future__ import annotations

from collections.abc import Mapping

from skillgen.model.schema import Parameter, Schema
from skillgen.model.values import Json, Origins, Value, frozen


@frozen
class Part:
    """One field of a form that a request sends, or one part of another multipart body."""

    name: str
    """Its name; empty for a part that has none."""

    text: str = ""
    """Its value; empty for a file."""

    media_type: str | None = None
    """The media type of its value, where that is not plain text."""

    is_file: bool = False
    """Whether the content of a file is sent."""


@frozen
class Request:
    """An HTTP request that is ready to be sent, but for the address of the service and the credentials."""

    path: str
    """Path and query, percent-encoded."""

    headers: Mapping[str, str] | None = None
    """Headers that are parameters of the operation."""

    cookies: Mapping[str, str] | None = None
    """Cookies, their values percent-encoded."""

    media_type: str | None = None
    """The media type of the body; `None` where there is none."""

    body: Value | None = None
    """The body as JSON, its records as a list, or a text where the media type is none of JSON."""

    parts: tuple[Part, ...] = ()
    """The fields of a form."""

    is_file: bool = False
    """Whether the body is the content of a file."""

    auth: tuple[str, ...] = ()
    """Names of the security schemes that are used together."""


@frozen
class Example:
    """One call and what it gives."""

    input: Json
    """The arguments, of the form of `Tool.input_schema`."""

    name: str | None = None
    """What the source calls it."""

    description: str | None = None
    """What it shows."""

    output: Value | None = None
    """What comes back."""

    flaw: str | None = None
    """Why the tool's own schema does not allow the arguments; `None` where it does."""

    request: Request | None = None
    """The same as an HTTP request."""

    origins: Origins | None = None
    """What of it was made from the schema, not declared."""

    @property
    def is_declared(self) -> bool:
        """Whether the source shows this call itself."""
        return "input" not in (self.origins or {})


@frozen
class Input:
    """The arguments of a tool, or one form of the body of a request, as a whole."""

    media_types: tuple[str, ...] = ()
    """The media types in which this form can be sent, the recommended one first; none for arguments."""

    required: bool = True
    """Whether it must be sent."""

    description: str | None = None
    """What it is."""

    schema: Schema | None = None
    """What it must be beyond what each of its parameters is: alternatives, conditions, bounds."""

    parameters: tuple[Parameter, ...] = ()
    """What it is made of, where that is not among `Tool.parameters`."""

    pointer: str
    """JSON pointer to it in the source."""


@frozen
class Link:
    """How a value of a response is used in another call (OpenAPI 3.1, "Link Object")."""

    name: str
    """Its name."""

    operation: str | None = None
    """The name of the tool, or a reference to the operation."""

    parameters: Mapping[str, Json] | None = None
    """Name of a parameter to its value, or to an expression such as `$response.body#/id`."""

    description: str | None = None
    """What it is for."""


@frozen
class ExampleOutput:
    """One result that the source shows."""

    value: Value
    """The result as JSON, or a string where the media type is not JSON."""

    media_type: str | None = None
    """Its media type; `None` where the source does not declare one."""

    name: str | None = None
    """What the source calls it."""

    description: str | None = None
    """What it shows."""


@frozen
class Output:
    """What a call returns."""

    schema: Schema | None = None
    """The shape of the result."""

    description: str | None = None
    """What it is."""

    status: str | None = None
    """The HTTP status."""

    media_types: tuple[str, ...] = ()
    """The media types in which it comes."""

    headers: tuple[Parameter, ...] = ()
    """Headers of the response."""

    links: tuple[Link, ...] = ()
    """What can be called next with it."""

    examples: tuple[ExampleOutput, ...] = ()
    """Results that the source shows."""

    raw: Json = None
    """The schema as the source has it."""

    pointer: str
    """JSON pointer to it in the source."""


@frozen
class ErrorCase:
    """One way in which a call fails."""

    code: str
    """A code of the source, or an HTTP status; empty where the source declares none."""

    description: str | None = None
    """What it means."""

    resolution: str | None = None
    """What to do about it."""

    category: str | None = None
    """`transient`, `permanent`, `auth_required`, `invalid_input` or `rate_limited` (seed 004, 11)."""

    retry_after_s: float | None = None
    """Seconds to wait before trying again."""

    user_actionable: bool | None = None
    """Whether a person must know."""

    documentation: str | None = None
    """An address that explains it."""

    details: Value | None = None
    """What the source adds for programs (seed 004, 11)."""

    output: Output | None = None
    """What comes back then."""

    other_outputs: tuple[Output, ...] = ()
    """What comes back in media types whose shape is another."""
