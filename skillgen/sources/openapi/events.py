"""Requests that the service sends: webhooks, and the callbacks of operations (OpenAPI 3.1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from skillgen.model.resource import Event
from skillgen.model.schema import Parameter
from skillgen.model.tool import Tool
from skillgen.model.values import Origin, child
from skillgen.sources.json_access import as_dict, text_of
from skillgen.sources.openapi.bodies import Body
from skillgen.sources.openapi.operations import OperationReader, tags_of
from skillgen.sources.openapi.paths import PathOperation

_EventOperation = tuple[PathOperation, str, "str | None"]
"""An operation, the name of the event, and the tool that triggers it."""

_WEBHOOK_KEYS = ("webhooks", "x-webhooks")
"""Members with webhooks: that of OpenAPI 3.1, and the extension of many 3.0 descriptions."""


_DETAILED_LIMIT = 50
"""Events up to which their parameters and bodies are read. GitHub has 270, which would double its documents."""


class EventReader:
    """Reads the requests that the service sends."""

    def __init__(self, operations: OperationReader) -> None:
        self._operations = operations
        self._resolver = operations.resolver
        self._names: set[str] = set()

    def events(self, tools: Iterable[tuple[Tool, PathOperation]]) -> tuple[Event, ...]:
        """Returns the webhooks, then the callbacks of each tool."""
        events = list(self._webhooks())
        for tool, entry in tools:
            if "callbacks" in entry.operation:
                events += self._callbacks(tool, entry)
        is_detailed = len(events) <= _DETAILED_LIMIT
        if not is_detailed:
            self._resolver.problems.report(
                "events-not-detailed",
                f"/{next((key for key in _WEBHOOK_KEYS if key in self._resolver.document), 'paths')}",
                f"{len(events)} webhooks and callbacks are listed without their contents",
            )
        return tuple(self._event(*item, is_detailed=is_detailed) for item in events)

    def _webhooks(self) -> Iterator[_EventOperation]:
        for key in _WEBHOOK_KEYS:
            for entry in self._operations.paths.operations(as_dict(self._resolver.document.get(key)), f"/{key}"):
                yield entry, self._unique(entry.path, f"{entry.path} {entry.method.upper()}"), None

    def _callbacks(self, tool: Tool, entry: PathOperation) -> Iterator[_EventOperation]:
        pointer = child(entry.pointer, "callbacks")
        for name, raw in as_dict(entry.operation["callbacks"]).items():
            if name.startswith("x-"):
                continue
            callback, callback_pointer = self._resolver.resolve(raw, child(pointer, name))
            for request in self._operations.paths.operations(callback or {}, callback_pointer):
                yield request, self._unique(name, f"{name} of {tool.name}"), tool.name

    def _event(self, entry: PathOperation, name: str, tool: str | None, *, is_detailed: bool) -> Event:
        operation, pointer = entry.operation, entry.pointer
        sent: tuple[Parameter, ...] = ()
        body = Body()
        media_types: tuple[str, ...] = ()
        if is_detailed:
            sent = self._operations.parameters.parameters((*entry.items, (operation, pointer)))
            location = child(pointer, "requestBody")
            body = self._operations.bodies.body(operation.get("requestBody"), location, sent_by_service=True)
            media_types = body.media_types
        elif "requestBody" in operation:
            media_types = tuple(as_dict(self._resolver.resolve_or_empty(operation["requestBody"]).get("content")))
        return Event(
            name=name,
            tool=tool,
            method=entry.sent_method,
            address=entry.path if tool is not None else None,
            summary=text_of(operation, "summary"),
            description=text_of(operation, "description"),
            parameters=sent + body.parameters,
            input=body.input,
            other_inputs=body.other_inputs,
            tags=tags_of(operation),
            media_types=tuple(filter(None, media_types)),
            auth=self._operations.security.declared_security(operation, pointer),
            deprecated=operation.get("deprecated") is True,
            pointer=pointer,
            origins=None if name == entry.path or tool is not None else {"name": Origin("inferred", "path and method")},
        )

    def _unique(self, name: str, longer: str) -> str:
        unique, number = (name if name not in self._names else longer), 2
        while unique in self._names:
            unique, number = f"{longer} {number}", number + 1
        self._names.add(unique)
        return unique
