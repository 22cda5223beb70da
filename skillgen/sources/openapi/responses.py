"""Responses, links, pagination.

Reads the responses of operations: what success returns, and how calls fail (OpenAPI 3.1, "Responses Object").

How to get the next page, from the conventions that parameters, response fields and headers follow.

OpenAPI has no words for it, so all of this is inferred, but for `x-ms-pageable`, which declares it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from urllib.parse import unquote

from skillgen.errors import ProblemLog
from skillgen.model.calls import ErrorCase, ExampleOutput, Link, Output
from skillgen.model.schema import Parameter, Schema
from skillgen.model.values import Json, Value, child
from skillgen.sources.examples.validation import why_unpublishable
from skillgen.sources.json_access import as_dict, as_list, text_of
from skillgen.sources.json_schema.flatten import flatten
from skillgen.sources.json_schema.loader import SchemaDocument
from skillgen.sources.openapi.media import (
    Representation,
    declared_examples,
    first_media_schema,
    media_type_object,
    representations,
)
from skillgen.sources.openapi.references import Resolver

MESSAGE = "message"
"""What the body of an error is asked to have (seed 002, 6.1)."""

EXAMPLES_LIMIT = 3
"""Examples of one output that are kept."""

TRIED_LIMIT = 10
"""Examples of one media type that are read."""

_ERROR_HOLDERS = ("error", "errors", "detail", "details")
"""Properties inside which a message may stand."""


class ResponseReader:
    """Reads responses; those that are shared between operations are read once."""

    def __init__(self, resolver: Resolver, schemas: SchemaDocument, problems: ProblemLog) -> None:
        self._resolver = resolver
        self._schemas = schemas
        self._problems = problems
        self._errors: dict[str, ErrorCase] = {}
        self._checked: dict[str, bool] = {}
        self.names: dict[str, str] = {}
        """Names of the tools, by the pointers of their operations."""

    def outputs(self, responses: dict[str, Json], pointer: str) -> tuple[tuple[Output, ...], tuple[str, ...]]:
        """Gives what each status that is no failure returns in each of its forms, and the media types of all.

        Success stands first. Of a response that cannot be read the status is known all the same.
        """
        statuses = sorted(status for status in responses if status.startswith("2"))
        if not statuses and "default" in responses:
            statuses = ["default"]
        statuses += sorted(status for status in responses if status[:1] in ("1", "3"))
        outputs: list[Output] = []
        media_types: dict[str, None] = {}
        for status in statuses:
            response, response_pointer = self._resolver.resolve(responses[status], child(pointer, status))
            outputs.extend(self._outputs(status, response or {}, response_pointer))
            media_types.update(dict.fromkeys(as_dict((response or {}).get("content"))))
        return tuple(outputs), tuple(media_types)

    def errors(self, responses: dict[str, Json], pointer: str) -> tuple[ErrorCase, ...]:
        """Gives a case for each status of failure."""
        return tuple(
            self._error_case(status, responses[status], child(pointer, status))
            for status in sorted(responses)
            if status[:1] in ("4", "5") or (status == "default" and any(key.startswith("2") for key in responses))
        )

    def _outputs(self, status: str, response: dict[str, Json], pointer: str) -> Iterator[Output]:
        headers, links = tuple(self._headers(response, pointer)), tuple(self._links(response, pointer))
        description = text_of(response, "description") or text_of(response, "summary")  # 3.2 lets one stand for both
        content = as_dict(response.get("content"))
        content_pointer = child(pointer, "content")
        for index, form in enumerate(representations(content, content_pointer, self._resolver)):
            yield Output(
                schema=form.read(self._schemas),
                description=description if index == 0 else None,
                status=status,
                media_types=form.media_types,
                headers=headers if index == 0 else (),
                links=links if index == 0 else (),
                examples=tuple(islice(self._examples(form, content, content_pointer), EXAMPLES_LIMIT)),
                raw=form.schema,
                pointer=pointer,
            )
        if not content:
            yield Output(description=description, status=status, headers=headers, links=links, pointer=pointer)

    def _examples(self, form: Representation, content: dict[str, Json], pointer: str) -> Iterator[ExampleOutput]:
        for name in form.media_types or ("",):
            media, place = media_type_object(content[name], child(pointer, name), self._resolver)
            for example in islice(declared_examples(media, place, self._resolver), TRIED_LIMIT):
                if (reason := why_unpublishable(example.value)) is not None:
                    self._problems.info(
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
            declared, place = header.get("schema"), child(header_pointer, "schema")
            if declared is None and "content" in header:
                declared, place = first_media_schema(
                    header["content"], child(header_pointer, "content"), self._resolver
                )
            schema = self._schemas.schema(declared, place) if declared is not None else Schema()
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
        """Gives the name of the tool that stands at a reference; the reference itself where none does."""
        if reference is None or not reference.startswith("#"):
            return reference
        return self.names.get(unquote(reference[1:]), reference)

    def _error_case(self, status: str, raw: Json, pointer: str) -> ErrorCase:
        key = f"{status} {text_of(raw, '$ref')}"
        if key in self._errors:
            return self._errors[key]
        response, response_pointer = self._resolver.resolve(raw, pointer)
        outputs: list[Output] = []
        if response is not None and not response.keys() <= {"description"}:
            outputs = list(self._outputs(status, response, response_pointer))
            self._check_message(outputs[0])
            outputs = [item for item in outputs if item.schema is not None or item.headers or item.examples]
        description = text_of(response, "description") or text_of(response, "summary")
        case = ErrorCase(
            code=status,
            description=description,
            output=outputs[0] if outputs else None,
            other_outputs=tuple(outputs[1:]),
        )
        if text_of(raw, "$ref") is not None:
            self._errors[key] = case
        return case

    def _check_message(self, output: Output) -> None:
        """Reports the body of an error that has no `message`, itself or in its `error` (seed 002, 6.1)."""
        if output.schema is None or not output.media_types or "json" not in output.media_types[0]:
            return
        where = child(output.pointer, "content", output.media_types[0], "schema")
        if output.schema.ref is not None:
            target = self._schemas.resolve(as_dict(output.raw).get("$ref"), where)
            where = where if target is None else target[0]
        if where not in self._checked:
            self._checked[where] = self._has_message(output.raw, where, 0)
            if not self._checked[where]:
                self._problems.warning(
                    "error-message-missing",
                    where,
                    f"the body of the error {output.status} has no `{MESSAGE}` that says what went wrong",
                    f"add a property `{MESSAGE}`",
                )

    def _has_message(self, raw: Json, pointer: str, depth: int) -> bool:
        """Tells whether a body has a message, or is no object whose properties are known."""
        found = {item.name: item for item in flatten(self._schemas, raw, pointer, "property").parameters}
        if MESSAGE in found or (not found and depth == 0):
            return True
        held = (as_dict(as_dict(as_dict(raw).get("properties")).get(name)) for name in _ERROR_HOLDERS if name in found)
        return depth == 0 and any(self._has_message(item.get("items", item), pointer, 1) for item in held)


_PLAIN = re.compile(r"[$@A-Za-z0-9_.\-\[\]]{1,60}\Z")
"""Names that can be quoted in a sentence."""

_CURSORS = (
    "cursor", "nextcursor", "pagetoken", "nextpagetoken", "nexttoken", "continuationtoken", "continuation", "after",
    "startingafter", "marker", "startkey", "exclusivestartkey", "bookmark", "scrollid", "pagecursor", "paginationtoken",
)  # fmt: skip
_NEXT_CURSORS = (
    "nextcursor", "nextpagetoken", "nexttoken", "continuationtoken", "endcursor", "nextmarker", "nextpagecursor",
    "lastevaluatedkey", "scrollid", "paginationtoken", "cursor", "after", "nextpage",
)  # fmt: skip
_NEXT_LINKS = ("odatanextlink", "nextlink", "nexturl", "nextpageurl", "nextpageuri", "nexthref", "next")
_PAGES = ("page", "pagenumber", "pageno", "pageindex", "currentpage", "pagenum")
_SIZES = (
    "perpage", "pagesize", "limit", "size", "count", "maxresults", "top", "pagelimit", "itemsperpage", "resultsperpage",
    "maxitems", "rows", "take",
)  # fmt: skip
_OFFSETS = ("offset", "skip", "startindex", "start", "pageoffset")
_ITEM_HOLDERS = frozenset(
    {"meta", "metadata", "pagination", "paging", "page", "pageinfo", "links", "responsemetadata", "cursors", "cursor"}
)
"""Members of a response in which what leads to the next page may stand."""

_NEXT_PAGES = ("nextpage", "nextpagenumber", "nextpageno", "nextpageindex")
_NEXT_HEADERS = ("xnextcursor", "nextcursor", "xnextpagetoken", "xnextpage", "nextpage", "xcontinuationtoken")
_AFTER = frozenset({"startingafter", "after", "afterid", "sinceid"})
"""Cursors that are the name of an item."""
_MORE = ("hasmore", "hasnext", "hasnextpage", "ismore", "istruncated", "moreavailable", "moreitems", "more")

_LEVELS = 2


class PaginationReader:
    """Recognises how the results of operations are paged."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self._fields: dict[str, dict[str, tuple[str, Json]]] = {}

    def declared(self, operation: Mapping[str, Json]) -> str | None:
        """Reads `x-ms-pageable`, which names the field that holds the address of the next page."""
        link = text_of(operation.get("x-ms-pageable"), "nextLinkName")
        return f"get the address in `{link}` of the response" if link and _PLAIN.match(link) else None

    def inferred(self, parameters: Iterable[Parameter], output: Json, headers: Iterable[str]) -> str | None:
        """Gives how to get the next page; takes the schema and the headers of a successful response."""
        items = [item for item in parameters if item.location in ("query", "body")]
        sent = _by_word(item.name for item in items)
        texts = {item.name for item in items if item.schema.types == ("string",)}
        size = _named(sent, _SIZES)
        sized = f"; `{size}` bounds a page" if size else ""
        cursor, page, offset = _named(sent, _CURSORS), _named(sent, _PAGES), _named(sent, _OFFSETS)
        linked = any(name.lower() == "link" for name in headers)
        if cursor is None and page is None and offset is None and not linked and size is None:
            return None
        fields = self._fields_of(output)
        more = _first(fields, _MORE)
        sized += f"; `{fields[more][0]}` of the response tells whether there is more" if more is not None else ""
        if cursor is not None and (found := _first(fields, _NEXT_CURSORS)) is not None:
            path, schema = fields[found]
            ends = "; null means that there is none" if _may_be_null(schema) else ""
            return f"send `{path}` of the response as `{cursor}` to get the next page{ends}{sized}"
        if (target := cursor or page) is not None and (header := _named(_by_word(headers), _NEXT_HEADERS)) is not None:
            return f"send the `{header}` header of the response as `{target}` to get the next page{sized}"
        if linked:
            return f"the `Link` header of the response leads to the next page{_counted(page)}{sized}"
        if (found := _first(fields, _NEXT_LINKS)) is not None:
            return f"`{fields[found][0]}` of the response leads to the next page{_counted(page)}{sized}"
        if page is not None and (found := _first(fields, _NEXT_PAGES)) is not None:
            return f"send `{fields[found][0]}` of the response as `{page}` to get the next page{sized}"
        if cursor is not None and _word(cursor) in _AFTER and more is not None:
            return f"send what names the last item as `{cursor}` to get the next page{sized}"
        if page is not None and size is not None:
            return f"send `{page}` to get another page{sized}"
        if offset is not None and size is not None:
            # An offset that is text may be a token as well as a count.
            does = "get the next page" if offset in texts else "skip what was seen"
            return f"send `{offset}` to {does}{sized}"
        return None

    def _fields_of(self, output: Json) -> dict[str, tuple[str, Json]]:
        """Gives the fields of a response that may lead on: plain word to path and schema."""
        reference = text_of(output, "$ref")
        if reference is None:
            return dict(self._read_fields(output))
        if reference not in self._fields:
            self._fields[reference] = dict(self._read_fields(output))
        return self._fields[reference]

    def _read_fields(self, output: Json) -> Iterator[tuple[str, tuple[str, Json]]]:
        # What stands higher is written last, and wins.
        found = list(self._properties(output, "", 0))
        for path, schema in sorted(found, key=lambda item: -item[0].count(".")):
            yield _word(path.rpartition(".")[2]), (path, schema)

    def _properties(self, raw: Json, prefix: str, level: int) -> Iterator[tuple[str, Json]]:
        schema = self._target(raw)
        for member in (schema, *(self._target(item) for item in as_list(schema.get("allOf"))[:8])):
            for name, value in as_dict(member.get("properties")).items():
                if not _PLAIN.match(name):
                    continue
                yield prefix + name, value
                if level < _LEVELS and _word(name) in _ITEM_HOLDERS:
                    yield from self._properties(value, f"{prefix}{name}.", level + 1)

    def _target(self, raw: Json) -> dict[str, Json]:
        if text_of(raw, "$ref") is None:
            return as_dict(raw)
        return self._resolver.resolve_or_empty(raw)


def _counted(page: str | None) -> str:
    return f", and `{page}` chooses one" if page else ""


def _by_word(names: Iterable[str]) -> dict[str, str]:
    return {_word(name): name for name in names if _PLAIN.match(name)}


def _word(name: str) -> str:
    return re.sub("[^a-z0-9]", "", name.lower())


def _first(found: Mapping[str, object], words: tuple[str, ...]) -> str | None:
    return next((word for word in words if word in found), None)


def _named(sent: Mapping[str, str], words: tuple[str, ...]) -> str | None:
    word = _first(sent, words)
    return None if word is None else sent[word]


def _may_be_null(schema: Json) -> bool:
    schema = as_dict(schema)
    return schema.get("nullable") is True or "null" in as_list(schema.get("type"))
