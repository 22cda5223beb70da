"""Responses of operations: what they return, how they fail, and how to get the next page.

See OpenAPI 3.1, "Responses Object". OpenAPI has no field for pagination.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from urllib.parse import unquote

from skillgen.model.calls import ErrorCase, ExampleOutput, Link, Output, Pagination
from skillgen.model.schema import Parameter, Schema, Types
from skillgen.model.values import Json, Value, child
from skillgen.sources.examples.validation import why_unpublishable
from skillgen.sources.json_access import as_dict, text_of
from skillgen.sources.json_schema.loader import SchemaDocument
from skillgen.sources.openapi.media import Representation, headers_from, media_examples, representations
from skillgen.sources.openapi.references import Resolver

_WAIT_STATUSES = ("429", "503")
"""Statuses with a `Retry-After` header (RFC 9110, 10.2.3; RFC 6585, 4)."""

_EXAMPLES_LIMIT = 3
"""Examples of one output that are documented."""

_SCANNED_EXAMPLES_LIMIT = 10
"""Examples of one media type that are read."""


class ResponseReader:
    """Reads responses; a shared one is read once."""

    def __init__(self, resolver: Resolver, schemas: SchemaDocument) -> None:
        self._resolver = resolver
        self._schemas = schemas
        self._problems = resolver.problems
        self._errors: dict[str, ErrorCase] = {}
        self._read_outputs: dict[tuple[str, str], tuple[Output, ...]] = {}
        self._objections: dict[str, tuple[str, str] | None] = {}
        self.tool_names: dict[str, str] = {}
        """Names of the tools, by the pointers of their operations."""
        self.operations: frozenset[str] = frozenset()

    def outputs(self, responses: dict[str, Json], pointer: str) -> tuple[tuple[Output, ...], tuple[str, ...]]:
        """Returns an output for each status except errors and each representation, and the media types of all.

        Success comes first. An output without schema represents a response that cannot be read.
        """
        statuses = sorted(status for status in responses if status.startswith("2"))
        if not statuses and "default" in responses:
            statuses = ["default"]
        statuses += sorted(status for status in responses if status[:1] in ("1", "3"))
        outputs: list[Output] = []
        media_types: dict[str, None] = {}
        for status in statuses:
            response, response_pointer = self._resolver.resolve(responses[status], child(pointer, status))
            read = self._read_outputs.get((status, response_pointer))
            if read is None:
                read = tuple(self._outputs(status, response or {}, response_pointer))
                self._read_outputs[status, response_pointer] = read
            outputs += read
            media_types.update(dict.fromkeys(as_dict((response or {}).get("content"))))
        return tuple(outputs), tuple(media_types)

    def errors(self, responses: dict[str, Json], pointer: str) -> tuple[ErrorCase, ...]:
        """Returns a case for each error status."""
        return tuple(
            self._error_case(status, responses[status], child(pointer, status))
            for status in sorted(responses)
            if status[:1] in ("4", "5") or (status == "default" and any(key.startswith("2") for key in responses))
        )

    def answers(self, operation: dict[str, Json], pointer: str) -> tuple[ErrorCase, ...]:
        """Returns a case for each status that the receiver of a webhook or a callback may answer with."""
        responses = as_dict(operation.get("responses")).items()
        return tuple(self._error_case(status, raw, child(pointer, "responses", status)) for status, raw in responses)

    def _outputs(self, status: str, response: dict[str, Json], pointer: str) -> Iterator[Output]:
        headers = tuple(headers_from(response, pointer, self._resolver, self._schemas))
        links = tuple(self._links(response, pointer))
        # In 3.2 the description is optional next to a summary.
        description = text_of(response, "description") or text_of(response, "summary")
        content = as_dict(response.get("content"))
        content_pointer = child(pointer, "content")
        for index, representation in enumerate(representations(content, content_pointer, self._resolver)):
            yield Output(
                schema=representation.read(self._schemas),
                description=description if index == 0 else None,
                status=status,
                media_types=representation.media_types,
                headers=headers if index == 0 else (),
                links=links if index == 0 else (),
                examples=tuple(islice(self._examples(representation), _EXAMPLES_LIMIT)),
                raw=representation.schema,
                pointer=pointer,
            )
        if not content:
            yield Output(description=description, status=status, headers=headers, links=links, pointer=pointer)

    def _examples(self, representation: Representation) -> Iterator[ExampleOutput]:
        for name, media in representation.contents.items():
            for example in islice(media_examples(name, *media, self._resolver), _SCANNED_EXAMPLES_LIMIT):
                if example.pointer not in self._objections:  # a shared example is in many responses
                    self._objections[example.pointer] = why_unpublishable(example.value)
                if (reason := self._objections[example.pointer]) is not None:
                    self._problems.report(
                        reason[0], example.pointer, "the example of a response is left out: " + reason[1]
                    )
                else:
                    yield ExampleOutput(
                        value=Value(example.value),
                        media_type=name or None,
                        name=example.name,
                        description=example.description,
                    )

    def _links(self, response: dict[str, Json], pointer: str) -> Iterator[Link]:
        for name, raw in as_dict(response.get("links")).items():
            link, _ = self._resolver.resolve(raw, child(pointer, "links", name))
            if link is None:
                continue
            if (target := text_of(link, "operationId")) and target not in self.operations:
                message = f"the link leads to the operation {target[:100]!r}, which is not there; left out"
                self._problems.report("reference-not-found", child(pointer, "links", name), message)
                continue
            parameters = as_dict(link.get("parameters"))
            if "requestBody" in link:
                parameters = {**parameters, "body": link["requestBody"]}
            yield Link(
                name=name,
                operation=text_of(link, "operationId") or self._operation_at(text_of(link, "operationRef")),
                parameters=parameters or None,
                description=text_of(link, "description"),
            )

    def _operation_at(self, reference: str | None) -> str | None:
        """Returns the name of the tool at a reference; the reference itself if it is not a tool."""
        if reference is None or not reference.startswith("#"):
            return reference
        return self.tool_names.get(unquote(reference[1:]), reference)

    def _error_case(self, status: str, raw: Json, pointer: str) -> ErrorCase:
        key = f"{status} {text_of(raw, '$ref')}"
        if key in self._errors:
            return self._errors[key]
        response, response_pointer = self._resolver.resolve(raw, pointer)
        outputs: list[Output] = []
        if response is not None and not response.keys() <= {"description"}:
            outputs = list(self._outputs(status, response, response_pointer))
            outputs = [item for item in outputs if item.schema is not None or item.headers or item.examples]
        description = text_of(response, "description") or text_of(response, "summary")
        headers = map(str.lower, as_dict((response or {}).get("headers")))
        case = ErrorCase(
            code=status,
            description=description,
            has_retry_header=status in _WAIT_STATUSES and "retry-after" in headers,
            output=outputs[0] if outputs else None,
            other_outputs=tuple(outputs[1:]),
        )
        if text_of(raw, "$ref") is not None:
            self._errors[key] = case
        return case


_QUOTABLE_NAME = re.compile(r"[$@A-Za-z0-9_.\-\[\]]{1,60}\Z")
"""Names that can be quoted in a sentence."""

_CURSORS = frozenset(
    {"cursor", "nextcursor", "pagetoken", "nextpagetoken", "nexttoken", "continuationtoken", "after", "marker"}
)
"""Parameters for the position of the next page, without case and punctuation."""

_SIZES = frozenset({"limit", "perpage", "pagesize", "maxresults", "maxitems"})
_NEXT = (
    "nextcursor", "nextpagetoken", "nexttoken", "continuationtoken", "endcursor", "nextmarker", "cursor", "after",
)  # fmt: skip
_LINKS = ("odatanextlink", "nextlink", "nexturl", "nextpageurl", "next")
_CONTAINERS = frozenset({"meta", "metadata", "pagination", "paging", "page", "pageinfo", "links", "responsemetadata"})
"""Members of a response that may contain the fields for the next page."""

_CONTAINER_DEPTH = 2


def pagination_of(
    operation: Mapping[str, Json],
    parameters: Iterable[Parameter],
    output: Output | None,
    headers: Iterable[str],
    types: Types,
) -> tuple[Pagination | None, str | None]:
    """Returns how to get the next page, and from what that was inferred.

    `x-ms-pageable` declares it; else a field of the response is the cursor that a parameter takes, or the URL of the
    next page, or the `Link` header has that.
    """
    declared = text_of(operation.get("x-ms-pageable"), "nextLinkName")
    if declared and _QUOTABLE_NAME.match(declared):
        return Pagination(method="next_url", source=declared), None
    names = [item.name for item in parameters if item.location in ("query", "body") and _QUOTABLE_NAME.match(item.name)]
    cursor = next((name for name in names if _plain(name) in _CURSORS), None)
    size = next((name for name in names if _plain(name) in _SIZES), None)
    has_link = any(name.lower() == "link" for name in headers)
    if cursor is None and size is None and not has_link:
        return None, None
    # Of equal names, the field that is less nested wins: it comes last.
    found = sorted(_fields(output.schema if output else None, types), key=lambda field: -field[0].count("."))
    fields = {_plain(path.rpartition(".")[2]): (path, schema) for path, schema in found}
    position, link = (next((fields[name] for name in known if name in fields), None) for known in (_NEXT, _LINKS))
    if cursor is not None and position is not None:
        path, schema = position
        paging = Pagination(
            method="field", source=path, parameter=cursor, is_null_at_end=schema.nullable, size_parameter=size
        )
    elif has_link:
        paging = Pagination(method="link_header", size_parameter=size)
    elif link is not None:
        paging = Pagination(method="link_field", source=link[0], size_parameter=size)
    else:
        return None, None
    return paging, "names of parameters, response fields and headers"


def _fields(schema: Schema | None, types: Types, prefix: str = "", depth: int = 0) -> Iterator[tuple[str, Schema]]:
    """Yields the fields of a response, and of the members that are about its pages, each with its path."""
    parts = [schema, *map(types.type_of, types.extended(schema))] if schema is not None else []
    for item in (item for part in parts for item in part.properties if _QUOTABLE_NAME.match(item.name)):
        yield prefix + item.name, item.schema
        if depth < _CONTAINER_DEPTH and _plain(item.name) in _CONTAINERS:
            yield from _fields(item.schema, types, f"{prefix}{item.name}.", depth + 1)


def _plain(name: str) -> str:
    return re.sub("[^a-z0-9]", "", name.lower())
