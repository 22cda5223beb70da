"""Responses of operations: what they return, how they fail, and how to get the next page.

See OpenAPI 3.1, "Responses Object". OpenAPI has no field for pagination: it is declared by `x-ms-pageable` or inferred
from the usual names of parameters, response fields and headers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import islice
from urllib.parse import unquote

from skillgen.model.calls import ErrorCase, ExampleOutput, Link, Output, Pagination
from skillgen.model.schema import Parameter, Schema
from skillgen.model.values import Json, Value, child
from skillgen.sources.examples.validation import why_unpublishable
from skillgen.sources.json_access import as_dict, as_list, text_of
from skillgen.sources.json_schema.loader import SchemaDocument
from skillgen.sources.openapi.media import (
    Representation,
    declared_examples,
    first_media_schema,
    media_type_object,
    representations,
)
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

    def _outputs(self, status: str, response: dict[str, Json], pointer: str) -> Iterator[Output]:
        headers, links = tuple(self._headers(response, pointer)), tuple(self._links(response, pointer))
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
                examples=tuple(islice(self._examples(representation, content, content_pointer), _EXAMPLES_LIMIT)),
                raw=representation.schema,
                pointer=pointer,
            )
        if not content:
            yield Output(description=description, status=status, headers=headers, links=links, pointer=pointer)

    def _examples(
        self, representation: Representation, content: dict[str, Json], pointer: str
    ) -> Iterator[ExampleOutput]:
        for name in representation.media_types or ("",):
            media, media_pointer = media_type_object(content[name], child(pointer, name), self._resolver)
            for example in islice(declared_examples(media, media_pointer, self._resolver), _SCANNED_EXAMPLES_LIMIT):
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

    def _headers(self, response: dict[str, Json], pointer: str) -> Iterator[Parameter]:
        for name, raw in as_dict(response.get("headers")).items():
            header, header_pointer = self._resolver.resolve(raw, child(pointer, "headers", name))
            if header is None or name.lower() == "content-type":
                continue
            declared, schema_pointer = header.get("schema"), child(header_pointer, "schema")
            if declared is None and "content" in header:
                declared, schema_pointer = first_media_schema(
                    header["content"], child(header_pointer, "content"), self._resolver
                )
            schema = self._schemas.schema(declared, schema_pointer) if declared is not None else Schema()
            yield Parameter(
                name=name,
                location="header",
                required=header.get("required") is True,
                schema=schema,
                description=text_of(header, "description") or schema.description,
                deprecated=header.get("deprecated") is True or schema.deprecated,
                pointer=header_pointer,
            )

    def _links(self, response: dict[str, Json], pointer: str) -> Iterator[Link]:
        for name, raw in as_dict(response.get("links")).items():
            link, _ = self._resolver.resolve(raw, child(pointer, "links", name))
            if link is None:
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

_CURSOR_PARAMETERS = (
    "cursor", "nextcursor", "pagetoken", "nextpagetoken", "nexttoken", "continuationtoken", "continuation", "after",
    "startingafter", "marker", "startkey", "exclusivestartkey", "bookmark", "scrollid", "pagecursor", "paginationtoken",
)  # fmt: skip
_CURSOR_FIELDS = (
    "nextcursor", "nextpagetoken", "nexttoken", "continuationtoken", "endcursor", "nextmarker", "nextpagecursor",
    "lastevaluatedkey", "scrollid", "paginationtoken", "cursor", "after", "nextpage",
)  # fmt: skip
_LINK_FIELDS = ("odatanextlink", "nextlink", "nexturl", "nextpageurl", "nextpageuri", "nexthref", "next")
_PAGE_PARAMETERS = ("page", "pagenumber", "pageno", "pageindex", "currentpage", "pagenum")
_SIZE_PARAMETERS = (
    "perpage", "pagesize", "limit", "size", "count", "maxresults", "top", "pagelimit", "itemsperpage", "resultsperpage",
    "maxitems", "rows", "take",
)  # fmt: skip
_OFFSET_PARAMETERS = ("offset", "skip", "startindex", "start", "pageoffset")
_PAGING_CONTAINERS = frozenset(
    {"meta", "metadata", "pagination", "paging", "page", "pageinfo", "links", "responsemetadata", "cursors", "cursor"}
)
"""Members of a response that may contain the fields for the next page."""

_PAGE_FIELDS = ("nextpage", "nextpagenumber", "nextpageno", "nextpageindex")
_CURSOR_HEADERS = ("xnextcursor", "nextcursor", "xnextpagetoken", "xnextpage", "nextpage", "xcontinuationtoken")
_ITEM_CURSORS = frozenset({"startingafter", "after", "afterid", "sinceid"})
"""Cursors that are the identifier of an item."""
_MORE_FIELDS = ("hasmore", "hasnext", "hasnextpage", "ismore", "istruncated", "moreavailable", "moreitems", "more")

_CONTAINER_DEPTH = 2


class PaginationReader:
    """Recognises how the results of operations are paginated."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self._fields: dict[str, dict[str, tuple[str, Json]]] = {}

    def declared(self, operation: Mapping[str, Json]) -> Pagination | None:
        """Reads `x-ms-pageable`, which names the field with the URL of the next page."""
        field = text_of(operation.get("x-ms-pageable"), "nextLinkName")
        return Pagination(method="next_url", source=field) if field and _QUOTABLE_NAME.match(field) else None

    def inferred(
        self, parameters: Iterable[Parameter], output: Output | None, headers: Iterable[str]
    ) -> Pagination | None:
        """Returns how to get the next page, from the schema, the first example and the headers of a response."""
        inputs = [item for item in parameters if item.location in ("query", "body")]
        strings = {item.name for item in inputs if item.schema.types == ("string",)}
        names = _by_normalised_name(item.name for item in inputs)
        cursor = _first_name(names, _CURSOR_PARAMETERS)
        page = _first_name(names, _PAGE_PARAMETERS)
        offset = _first_name(names, _OFFSET_PARAMETERS)
        size = _first_name(names, _SIZE_PARAMETERS)
        has_link_header = any(name.lower() == "link" for name in headers)
        if cursor is None and page is None and offset is None and size is None and not has_link_header:
            return None
        fields = self._fields_of(output.raw) if output is not None else {}
        if output is not None and output.examples:
            fields = self._read_fields(_schema_of(output.examples[0].value.json)) | fields
        more = _first_known(fields, _MORE_FIELDS)
        paged = partial(Pagination, size_parameter=size, more_field=fields[more][0] if more is not None else None)
        if cursor is not None and (name := _first_known(fields, _CURSOR_FIELDS)) is not None:
            path, schema = fields[name]
            return paged(method="field", source=path, parameter=cursor, is_null_at_end=_may_be_null(schema))
        header = _first_name(_by_normalised_name(headers), _CURSOR_HEADERS)
        if header is not None and (target := cursor or page) is not None:
            return paged(method="header", source=header, parameter=target)
        if has_link_header:
            return paged(method="link_header", parameter=page)
        if (name := _first_known(fields, _LINK_FIELDS)) is not None:
            return paged(method="link_field", source=fields[name][0], parameter=page)
        if page is not None and (name := _first_known(fields, _PAGE_FIELDS)) is not None:
            return paged(method="field", source=fields[name][0], parameter=page)
        if cursor is not None and _normalise_name(cursor) in _ITEM_CURSORS and more is not None:
            return paged(method="last_item", parameter=cursor)
        if page is not None and size is not None:
            return paged(method="page", parameter=page)
        if offset is not None and size is not None:
            # An offset that is a string may be a token rather than a count.
            return paged(method="offset_token" if offset in strings else "offset", parameter=offset)
        return None

    def _fields_of(self, output: Json) -> dict[str, tuple[str, Json]]:
        """Returns the fields of a response as path and schema, by their normalised names."""
        reference = text_of(output, "$ref")
        if reference is None:
            return self._read_fields(output)
        if reference not in self._fields:
            self._fields[reference] = self._read_fields(output)
        return self._fields[reference]

    def _read_fields(self, output: Json) -> dict[str, tuple[str, Json]]:
        # Of equal names, the field that is less nested wins: it comes last.
        fields = sorted(self._properties(output, "", 0), key=lambda field: -field[0].count("."))
        return {_normalise_name(path.rpartition(".")[2]): (path, schema) for path, schema in fields}

    def _properties(self, raw: Json, prefix: str, level: int) -> Iterator[tuple[str, Json]]:
        schema = self._target(raw)
        for member in (schema, *(self._target(item) for item in as_list(schema.get("allOf"))[:8])):
            for name, value in as_dict(member.get("properties")).items():
                if not _QUOTABLE_NAME.match(name):
                    continue
                yield prefix + name, value
                if level < _CONTAINER_DEPTH and _normalise_name(name) in _PAGING_CONTAINERS:
                    yield from self._properties(value, f"{prefix}{name}.", level + 1)

    def _target(self, raw: Json) -> dict[str, Json]:
        if text_of(raw, "$ref") is None:
            return as_dict(raw)
        return self._resolver.resolve_or_empty(raw)


def _schema_of(value: Json, level: int = 0) -> dict[str, Json]:
    """Returns a schema of the members of an object that are read."""
    members = as_dict(value) if level <= _CONTAINER_DEPTH else {}
    return {"properties": {name: _schema_of(member, level + 1) for name, member in members.items()}}


def _by_normalised_name(names: Iterable[str]) -> dict[str, str]:
    return {_normalise_name(name): name for name in names if _QUOTABLE_NAME.match(name)}


def _normalise_name(name: str) -> str:
    return re.sub("[^a-z0-9]", "", name.lower())


def _first_known(fields: Mapping[str, object], names: tuple[str, ...]) -> str | None:
    return next((name for name in names if name in fields), None)


def _first_name(names: Mapping[str, str], normalised_names: tuple[str, ...]) -> str | None:
    return next((names[name] for name in normalised_names if name in names), None)


def _may_be_null(schema: Json) -> bool:
    schema = as_dict(schema)
    return schema.get("nullable") is True or "null" in as_list(schema.get("type"))
