"""What is sent to a tool and what it returns: requests, examples, outputs, errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from skillgen.model.schema import Parameter, Schema, object_of
from skillgen.model.values import Declared, Json, Node, Origins, Value


class Part(Node, frozen=True, kw_only=True):
    """A field of a form, or a part of another multipart body."""

    name: str
    """The name; empty for a part without a name."""

    text: str = ""
    """The value; empty for a file."""

    media_type: str | None = None
    """The media type of the value, if not plain text."""

    is_file: bool = False
    """Whether the content of a file is sent."""


class Request(Node, frozen=True, kw_only=True):
    """An HTTP request without base URL and credentials."""

    path: str
    """Path and query, percent-encoded."""

    headers: Mapping[str, str] | None = None
    """Headers that are parameters of the operation."""

    cookies: Mapping[str, str] | None = None
    """Cookies with percent-encoded values."""

    media_type: str | None = None
    """The media type of the body; `None` without a body."""

    body: Declared = None
    """The body as JSON, a sequence of records as a list; a string if the media type is not JSON."""

    parts: tuple[Part, ...] = ()
    """The fields of a form."""

    is_file: bool = False
    """Whether the body is the content of a file."""

    auth: tuple[str, ...] = ()
    """Names of the security schemes that are used together."""

    secrets: tuple[str, ...] = ()
    """Parameters that hold the credential, such as `header token`; only those of a body are also in it."""


class Example(Node, frozen=True, kw_only=True):
    """A call and its result."""

    input: Json
    """The arguments, in the form of `Tool.input_schema`."""

    name: str | None = None
    """The name in the source."""

    description: str | None = None
    """What it shows."""

    output: Declared = None
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


class Input(Node, frozen=True, kw_only=True):
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

    def schema_of(self, parameters: tuple[Parameter, ...]) -> Schema:
        """Returns the schema of this form of a body, which has these parameters."""
        if len(parameters) == 1 and parameters[0].is_whole_body:
            return parameters[0].schema
        return object_of(parameters, self.schema)


class Link(Node, frozen=True, kw_only=True):
    """How a value of a response is used in another call (OpenAPI 3.1, "Link Object")."""

    name: str
    """The name."""

    operation: str | None = None
    """The name of the tool, or a reference to the operation."""

    parameters: Mapping[str, Json] | None = None
    """Name of a parameter to its value, or to an expression such as `$response.body#/id`."""

    description: str | None = None
    """What it is for."""


class ExampleOutput(Node, frozen=True, kw_only=True):
    """A result that the source declares as an example."""

    value: Value
    """The result as JSON; a string if the media type is not JSON."""

    media_type: str | None = None
    """The media type; `None` if not declared."""

    name: str | None = None
    """The name in the source."""

    description: str | None = None
    """What it shows."""


class Output(Node, frozen=True, kw_only=True):
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


PagingMethod = Literal["next_url", "link_field", "link_header", "field"]


class Pagination(Node, frozen=True, kw_only=True):
    """How to get the next page of results."""

    method: PagingMethod | None = None
    """What leads to the next page: a URL in a field of the response (`next_url` and `link_field`), or in its `Link`
    header (`link_header`); or a value of the response that is sent as `parameter` (`field`). `None` if only known is
    that results are paginated."""

    source: str | None = None
    """The path of the field in the response."""

    parameter: str | None = None
    """The name of the parameter that selects a page."""

    is_null_at_end: bool = False
    """Whether the field is null on the last page."""

    size_parameter: str | None = None
    """The name of the parameter that sets the page size."""


class Completion(Node, frozen=True, kw_only=True):
    """How to learn the outcome of work that continues after the response."""

    status: str | None = None
    """The HTTP status that says that it continues."""

    url_header: str | None = None
    """The response header with the URL of the result."""

    wait_header: str | None = None
    """The response header that says how long to wait before that URL is requested."""


class Deprecation(Node, frozen=True, kw_only=True):
    """What the source says about a deprecation."""

    message: str | None = None
    """The reason or the advice, in the words of the source."""

    removal_date: str | None = None
    """When it will be removed."""

    replacement: str | None = None
    """What to use instead."""

    has_sunset_header: bool = False
    """Whether the `Sunset` header of its responses has the date of its removal (RFC 8594)."""


class ErrorCase(Node, frozen=True, kw_only=True):
    """An error that a call may return."""

    code: str
    """A code of the source, or an HTTP status; empty if not declared."""

    description: str | None = None
    """What it means."""

    resolution: str | None = None
    """What to do about it."""

    category: str | None = None
    """`transient`, `permanent`, `auth_required`, `invalid_input` or `rate_limited` (seed 004, 11)."""

    retry_after_s: int | float | None = None
    """Seconds to wait before a retry."""

    has_retry_header: bool = False
    """Whether its `Retry-After` header says how long to wait before the next call."""

    user_actionable: bool | None = None
    """Whether the user must be informed."""

    documentation: str | None = None
    """URL of its documentation."""

    details: Declared = None
    """Machine-readable details (seed 004, 11)."""

    output: Output | None = None
    """The response."""

    other_outputs: tuple[Output, ...] = ()
    """The response in media types with a different schema."""
