"""Reads the responses of operations: what success returns, and how calls fail (OpenAPI 3.1, "Responses Object")."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from urllib.parse import unquote

from skillgen.errors import ProblemLog
from skillgen.model.exchange import ErrorCase, ExampleOutput, Link, Output
from skillgen.model.pointer import child
from skillgen.model.schema import Parameter, Schema
from skillgen.model.value import Json, Value
from skillgen.sources.examples.showable import reason_to_hide
from skillgen.sources.guards import as_dict, text_of
from skillgen.sources.json_schema.collecting import flatten
from skillgen.sources.json_schema.scope import Scope
from skillgen.sources.openapi.media import Form, declared_examples, first_media_schema, forms, media_type_object
from skillgen.sources.openapi.resolver import Resolver

MESSAGE = "message"
"""What the body of an error is asked to have (seed 002, 6.1)."""

EXAMPLES_LIMIT = 3
"""Examples of one output that are kept."""

TRIED_LIMIT = 10
"""Examples of one media type that are read."""

_HOLDERS = ("error", "errors", "detail", "details")
"""Properties inside which a message may stand."""


class ResponseReader:
    """Reads responses; those that are shared between operations are read once."""

    def __init__(self, resolver: Resolver, scope: Scope, problems: ProblemLog) -> None:
        self._resolver = resolver
        self._scope = scope
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
            response, response_pointer = self._resolver.resolved(responses[status], child(pointer, status))
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
        for index, form in enumerate(forms(content, content_pointer, self._resolver)):
            yield Output(
                schema=form.read(self._scope),
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

    def _examples(self, form: Form, content: dict[str, Json], pointer: str) -> Iterator[ExampleOutput]:
        for name in form.media_types or ("",):
            media, place = media_type_object(content[name], child(pointer, name), self._resolver)
            for example in islice(declared_examples(media, place, self._resolver), TRIED_LIMIT):
                if (reason := reason_to_hide(example.value)) is not None:
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
            header, header_pointer = self._resolver.resolved(raw, child(pointer, "headers", name))
            if header is None or name.lower() == "content-type":
                continue
            declared, place = header.get("schema"), child(header_pointer, "schema")
            if declared is None and "content" in header:
                declared, place = first_media_schema(
                    header["content"], child(header_pointer, "content"), self._resolver
                )
            schema = self._scope.schema(declared, place) if declared is not None else Schema()
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
            link, _ = self._resolver.resolved(raw, child(pointer, "links", name))
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
        response, response_pointer = self._resolver.resolved(raw, pointer)
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
            target = self._scope.target(as_dict(output.raw).get("$ref"), where)
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
        found = {item.name: item for item in flatten(self._scope, raw, pointer, "property").parameters}
        if MESSAGE in found or (not found and depth == 0):
            return True
        held = (as_dict(as_dict(as_dict(raw).get("properties")).get(name)) for name in _HOLDERS if name in found)
        return depth == 0 and any(self._has_message(item.get("items", item), pointer, 1) for item in held)
