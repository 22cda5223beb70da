"""Reads operations as tools (seed 002, 4.1; OpenAPI 3.2, "Operation Object")."""

from __future__ import annotations

from dataclasses import replace

from skillgen.errors import ProblemLog
from skillgen.markdown.sentences import joined_texts
from skillgen.model.access import Endpoint
from skillgen.model.exchange import ErrorCase
from skillgen.model.pointer import child
from skillgen.model.tool import Semantics, Tool
from skillgen.model.value import Json, Origin
from skillgen.sources.guards import as_dict, text_of
from skillgen.sources.json_schema.scope import Scope
from skillgen.sources.openapi.bodies import BodyReader
from skillgen.sources.openapi.checks import check_audience, check_path, check_words
from skillgen.sources.openapi.completion import completion_of, is_declared_long
from skillgen.sources.openapi.endings import deprecation_of
from skillgen.sources.openapi.hints import (
    described_for_agents,
    is_removing,
    semantics_from_method,
    semantics_from_operation,
)
from skillgen.sources.openapi.names import operation_names
from skillgen.sources.openapi.pagination import PaginationReader
from skillgen.sources.openapi.parameters import ParameterReader
from skillgen.sources.openapi.paths import Entry, PathReader
from skillgen.sources.openapi.requests import RequestMaker
from skillgen.sources.openapi.resolver import Resolver
from skillgen.sources.openapi.responses import ResponseReader
from skillgen.sources.openapi.security import SecurityReader, scopes_of
from skillgen.sources.openapi.servers import endpoints_from
from skillgen.sources.openapi.streams import stream_of
from skillgen.sources.openapi.tags import TagReader, tags_of
from skillgen.sources.safety import settled

_WAIT_STATUSES = ("429", "503")


class OperationReader:
    """Reads the operations of one description; what is shared between them is read once."""

    def __init__(
        self,
        document: dict[str, Json],
        scope: Scope,
        problems: ProblemLog,
        base_url: str | None,
        tags: TagReader,
        security: SecurityReader,
    ) -> None:
        self._document = document
        self._base_url = base_url
        self._problems = problems
        self._tags = tags
        self._security = security
        self._resolver = Resolver(document, problems)
        self.paths = PathReader(self._resolver, problems)
        self.parameters = ParameterReader(self._resolver, scope, problems)
        self.bodies = BodyReader(self._resolver, scope, problems)
        self._requests = RequestMaker(document, self._resolver, problems)
        self._responses = ResponseReader(self._resolver, scope, problems)
        self._pagination = PaginationReader(self._resolver)
        self._semantics: dict[tuple[str, bool], Semantics] = {}

    def tools(self) -> tuple[tuple[Tool, Entry], ...]:
        """Gives every operation as a tool, with where it was read, in the order of the document."""
        entries = list(self.paths.entries(as_dict(self._document.get("paths")), "/paths"))
        names = operation_names((entry.method, entry.path, entry.operation_id) for entry in entries)
        for entry, name in zip(entries, names, strict=True):
            # A path item may stand elsewhere; a link names either place.
            for place in (entry.pointer, child("/paths", entry.path, entry.method)):
                self._responses.names.setdefault(place, name)
        for entry, name in zip(entries, names, strict=True):
            self._report_name(entry, name)
            check_path(entry.path, entry.items[-1][1], self._problems)
        return tuple((self._tool(entry, name), entry) for entry, name in zip(entries, names, strict=True))

    def _report_name(self, entry: Entry, name: str) -> None:
        if entry.operation_id is None:
            self._problems.warning(
                "operation-id-missing", entry.pointer, f"no operationId; named {name}", "give it an operationId"
            )
        elif name != entry.operation_id:
            self._problems.warning(
                "operation-id-duplicate",
                entry.pointer,
                f"another operation has the operationId {entry.operation_id!r}; this one is named {name}",
                "make it unique",
            )

    def _tool(self, entry: Entry, name: str) -> Tool:
        operation, pointer = entry.operation, entry.pointer
        sent = self.parameters.parameters((*entry.items, (operation, pointer)))
        sent = self.parameters.completed(sent, entry.path, pointer)
        body = self.bodies.body(operation.get("requestBody"), child(pointer, "requestBody"))
        responses, responses_pointer = as_dict(operation.get("responses")), child(pointer, "responses")
        check_audience(operation, pointer, self._problems)
        outputs, output_media_types = self._responses.outputs(responses, responses_pointer)
        output = outputs[0] if outputs else None
        success = self._success(responses)
        auth = self._security.of_operation(operation, pointer)
        title, description = described_for_agents(operation)
        origins = {} if name == entry.operation_id else {"name": Origin("inferred", "method and path")}
        words = _words(entry, origins)
        pagination = self._pagination.declared(operation)
        if pagination is None:
            raw = output.raw if output is not None else None
            pagination = self._pagination.inferred(body.parameters + sent, raw, as_dict(success.get("headers")))
            if pagination is not None:
                origins["pagination"] = Origin("inferred", "names of parameters and of what is returned")
        completion = completion_of(operation, responses, self._resolver)
        if completion is not None and not is_declared_long(operation):
            origins["completion"] = Origin("inferred", "the statuses of its answers")
        stream = stream_of(output_media_types, success)
        if stream is not None:
            origins["streaming"] = Origin("inferred", stream)
        tool = Tool(
            name=name,
            title=title,
            summary=words["summary"],
            description=joined_texts(description, words["description"], "\n\n"),
            group=self._tags.group_of(operation),
            tags=tags_of(operation),
            parameters=sent + body.parameters,
            input_schema=self.parameters.input_schema(sent, body),
            input=body.input,
            other_inputs=body.others,
            output=output,
            other_outputs=outputs[1:],
            semantics=self._semantics_of(entry),
            input_media_types=tuple(filter(None, body.media_types)),
            output_media_types=tuple(filter(None, output_media_types)),
            auth=auth,
            scopes=scopes_of(auth),
            examples=self._requests.examples(
                method=entry.method,
                path=entry.path,
                parameters=sent,
                declared=self.parameters.declared,
                body=body,
                ways=auth,
                pointer=pointer,
            ),
            errors=self._errors(responses, responses_pointer),
            method=entry.sent_method,
            path=entry.path,
            endpoints=self._endpoints(entry),
            deprecated=operation.get("deprecated") is True,
            deprecation=deprecation_of(operation, success),
            streaming=True if stream is not None else None,
            pagination=pagination,
            completion=completion,
            pointer=pointer,
            origins=origins or None,
        )
        check_words(tool, self._problems)
        return settled(tool, self._problems)

    def _semantics_of(self, entry: Entry) -> Semantics:
        method, removes = entry.method, is_removing(entry.method, text_of(entry.operation, "operationId"))
        found = semantics_from_operation(method, entry.operation, entry.pointer, self._problems, removes=removes)
        if found is not None:
            return found
        key = method, removes
        if key not in self._semantics:
            self._semantics[key] = semantics_from_method(*key)
        return self._semantics[key]

    def _success(self, responses: dict[str, Json]) -> dict[str, Json]:
        """Gives the response of the first status of success."""
        status = min((key for key in responses if key.startswith("2")), default="default")
        return self._resolver.quietly(responses.get(status))

    def _errors(self, responses: dict[str, Json], pointer: str) -> tuple[ErrorCase, ...]:
        """Reads the errors; where a response has `Retry-After`, says what it is for (RFC 9110, 10.2.3)."""
        cases = self._responses.errors(responses, pointer)
        if not any(status in responses for status in _WAIT_STATUSES):
            return cases
        return tuple(replace(case, resolution=self._wait(case, responses)) for case in cases)

    def _wait(self, case: ErrorCase, responses: dict[str, Json]) -> str | None:
        if case.code not in _WAIT_STATUSES or case.resolution is not None:
            return case.resolution
        headers = as_dict(self._resolver.quietly(responses.get(case.code)).get("headers"))
        if any(name.lower() == "retry-after" for name in headers):
            return "Wait as long as its `Retry-After` header says before the next call."
        return None

    def _endpoints(self, entry: Entry) -> tuple[Endpoint, ...]:
        """Reads the `servers` of an operation or of its path, which replace those of the document."""
        for owner, pointer in ((entry.operation, entry.pointer), *reversed(entry.items)):
            if "servers" in owner:
                return endpoints_from(owner["servers"], child(pointer, "servers"), self._base_url, self._problems)
        return ()


def _words(entry: Entry, origins: dict[str, Origin]) -> dict[str, str | None]:
    """Gives the summary and the description of an operation, with those of its path, which concern it too.

    A summary of the path stands for one of an operation that says nothing of itself (OpenAPI 3.1, "Path Item Object").
    """
    found = {name: text_of(entry.operation, name) for name in ("summary", "description")}
    says_nothing = not any(found.values())
    for item, pointer in entry.items:
        for name in ("summary", "description") if says_nothing else ("description",):
            if (text := text_of(item, name)) is not None:
                if says_nothing or found[name] is None:
                    origins[name] = Origin("declared", child(pointer, name))
                found[name] = text if says_nothing else joined_texts(found[name], text, "\n\n")
    return found
