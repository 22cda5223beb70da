"""Reads the responses of operations: what success returns, and how calls fail (OpenAPI 3.1, "Responses Object")."""

from __future__ import annotations

from skillgen.model.pointer import child
from skillgen.model.service import ErrorCase, Output
from skillgen.model.value import Json
from skillgen.sources.guards import as_dict, text_of
from skillgen.sources.json_schema import Scope
from skillgen.sources.openapi.media import first_media_schema
from skillgen.sources.openapi.resolver import Resolver


class ResponseReader:
    """Reads responses; those that are shared between operations are read once."""

    def __init__(self, resolver: Resolver, scope: Scope) -> None:
        self._resolver = resolver
        self._scope = scope
        self._errors: dict[str, ErrorCase] = {}

    def outputs(self, responses: dict[str, Json], pointer: str) -> tuple[tuple[Output, ...], tuple[str, ...]]:
        """Gives what each status of success returns, and the media types of all."""
        successes = sorted(status for status in responses if status.startswith("2"))
        if not successes and "default" in responses:
            successes = ["default"]
        outputs: list[Output] = []
        media_types: dict[str, None] = {}
        for status in successes:
            response, response_pointer = self._resolver.resolved(responses[status], child(pointer, status))
            if response is not None:
                outputs.append(self._output(status, response, response_pointer))
                media_types.update(dict.fromkeys(as_dict(response.get("content"))))
        return tuple(outputs), tuple(media_types)

    def _output(self, status: str, response: dict[str, Json], pointer: str) -> Output:
        content = as_dict(response.get("content"))
        raw, schema_pointer = first_media_schema(content, child(pointer, "content"))
        return Output(
            schema=self._scope.schema(raw, schema_pointer) if raw is not None else None,
            description=text_of(response, "description"),
            status=status,
            raw=raw,
            pointer=pointer,
        )

    def errors(self, responses: dict[str, Json], pointer: str) -> tuple[ErrorCase, ...]:
        """Gives a case for each status of failure."""
        return tuple(
            self._error_case(status, responses[status], child(pointer, status))
            for status in sorted(responses)
            if status[:1] in ("4", "5") or (status == "default" and any(key.startswith("2") for key in responses))
        )

    def _error_case(self, status: str, raw: Json, pointer: str) -> ErrorCase:
        key = f"{status} {text_of(raw, '$ref')}"
        if key in self._errors:
            return self._errors[key]
        response, _ = self._resolver.resolved(raw, pointer)
        case = ErrorCase(code=status, description=text_of(response, "description"))
        if text_of(raw, "$ref") is not None:
            self._errors[key] = case
        return case
