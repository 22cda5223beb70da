"""Reads operations as tools (seed 002, 4.1; OpenAPI 3.1, "Operation Object")."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from skillgen.errors import ProblemLog
from skillgen.model.pointer import child
from skillgen.model.service import Endpoint, Tool
from skillgen.model.value import Json, Origin
from skillgen.sources.guards import as_dict, as_list, text_of
from skillgen.sources.json_schema import Scope
from skillgen.sources.openapi.names import operation_names
from skillgen.sources.openapi.parameters import ParameterReader
from skillgen.sources.openapi.requests import RequestMaker
from skillgen.sources.openapi.resolver import Resolver
from skillgen.sources.openapi.responses import ResponseReader
from skillgen.sources.openapi.security import security_from
from skillgen.sources.openapi.semantics import pagination_of, semantics_from_method
from skillgen.sources.openapi.servers import endpoints_from

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """One operation as it stands in the document."""

    method: str
    path: str
    item: dict[str, Json]
    operation: dict[str, Json]
    pointer: str
    item_pointer: str

    @property
    def operation_id(self) -> str | None:
        return text_of(self.operation, "operationId")


class OperationReader:
    """Reads the operations of one description; what is shared between them is read once."""

    def __init__(self, document: dict[str, Json], scope: Scope, problems: ProblemLog, base_url: str | None) -> None:
        self._document = document
        self._base_url = base_url
        self._problems = problems
        self._resolver = Resolver(document, problems)
        self._parameters = ParameterReader(self._resolver, scope, problems)
        self._requests = RequestMaker(document, self._resolver, problems)
        self._responses = ResponseReader(self._resolver, scope, problems)
        self._semantics = {method: semantics_from_method(method) for method in METHODS}
        self._default_security = security_from(document.get("security"))

    def tools(self) -> tuple[Tool, ...]:
        """Gives every operation as a tool, in the order of the document."""
        entries = list(self._entries())
        names = operation_names((entry.method, entry.path, entry.operation_id) for entry in entries)
        for entry, name in zip(entries, names, strict=True):
            self._report_name(entry, name)
        return tuple(self._tool(entry, name) for entry, name in zip(entries, names, strict=True))

    def _entries(self) -> Iterator[_Entry]:
        paths = self._document.get("paths")
        if paths is not None and not isinstance(paths, dict):
            self._problems.error("paths-invalid", "/paths", "`paths` is not an object; no operation can be read")
        for path, raw in as_dict(paths).items():
            if path.startswith("x-"):
                continue
            item, item_pointer = self._resolver.resolved(raw, child("/paths", path))
            if item is None:
                continue
            for method, operation in item.items():
                if method not in METHODS:
                    continue
                pointer = child(item_pointer, method)
                if isinstance(operation, dict):
                    yield _Entry(
                        method=method,
                        path=path,
                        item=item,
                        operation=operation,
                        pointer=pointer,
                        item_pointer=item_pointer,
                    )
                else:
                    self._problems.error("operation-invalid", pointer, "the operation is not an object; left out")

    def _report_name(self, entry: _Entry, name: str) -> None:
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

    def _tool(self, entry: _Entry, name: str) -> Tool:
        operation, pointer = entry.operation, entry.pointer
        sent = self._parameters.parameters(((entry.item, entry.item_pointer), (operation, pointer)))
        body = self._parameters.body(operation.get("requestBody"), child(pointer, "requestBody"))
        responses, responses_pointer = as_dict(operation.get("responses")), child(pointer, "responses")
        outputs, output_media_types = self._responses.outputs(responses, responses_pointer)
        output = outputs[0] if outputs else None
        security = security_from(operation["security"]) if "security" in operation else self._default_security
        tags = [tag for tag in as_list(operation.get("tags")) if isinstance(tag, str) and tag.strip()]
        return Tool(
            name=name,
            summary=text_of(operation, "summary"),
            description=text_of(operation, "description"),
            group=tags[0] if tags else None,
            parameters=sent + body.parameters,
            input_schema=self._parameters.input_schema(sent, body),
            input=body.input,
            other_inputs=body.others,
            output=output,
            other_outputs=outputs[1:],
            semantics=self._semantics[entry.method],
            input_media_types=body.media_types,
            output_media_types=output_media_types,
            auth=security.schemes,
            scopes=security.scopes,
            examples=self._requests.examples(
                method=entry.method,
                path=entry.path,
                parameters=sent,
                declared=self._parameters.declared,
                body=body,
                security=operation.get("security", self._document.get("security")),
                pointer=pointer,
            ),
            errors=self._responses.errors(responses, responses_pointer),
            method=entry.method.upper(),
            path=entry.path,
            endpoints=self._endpoints(entry),
            deprecated=operation.get("deprecated") is True,
            streaming=True if "text/event-stream" in output_media_types else None,
            pagination=pagination_of(body.parameters + sent, output),
            pointer=pointer,
            origins=None if name == entry.operation_id else {"name": Origin("inferred", "method and path")},
        )

    def _endpoints(self, entry: _Entry) -> tuple[Endpoint, ...]:
        """Reads the `servers` of an operation or of its path, which replace those of the document."""
        for owner, pointer in ((entry.operation, entry.pointer), (entry.item, entry.item_pointer)):
            if "servers" in owner:
                return endpoints_from(owner["servers"], child(pointer, "servers"), self._base_url, self._problems)
        return ()
