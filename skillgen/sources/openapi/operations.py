"""Reads operations as tools (seed 002, 4.1; OpenAPI 3.1, "Operation Object")."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from skillgen.errors import ProblemLog
from skillgen.model.schema import Location, Parameter, Schema
from skillgen.model.service import ErrorCase, Operation, Output, Semantics, Tool
from skillgen.model.value import Json, Origin
from skillgen.sources.guards import as_dict, as_list, text_of
from skillgen.sources.json_schema import Scope
from skillgen.sources.openapi.names import operation_names
from skillgen.sources.openapi.security import security_from
from skillgen.sources.pointer import child, follow

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")

_LOCATIONS: tuple[Location, ...] = ("path", "query", "header", "cookie")
_OPERATION_OF_METHOD: dict[str, Operation] = {"get": "read", "head": "read", "options": "read", "trace": "read"}


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

    def __init__(self, document: dict[str, Json], scope: Scope, problems: ProblemLog) -> None:
        self._document = document
        self._scope = scope
        self._problems = problems
        self._parameters: dict[str, Parameter | None] = {}
        self._raw_schemas: dict[str, Json] = {}
        self._bodies: dict[str, tuple[Parameter, ...]] = {}
        self._responses: dict[str, ErrorCase] = {}
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
            item, item_pointer = self._resolved(raw, child("/paths", path))
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
        body, body_media_types, body_raw = self._body(operation.get("requestBody"), child(pointer, "requestBody"))
        parameters = self._all_parameters(entry) + body
        responses = as_dict(operation.get("responses"))
        output, output_media_types = self._output(responses, child(pointer, "responses"))
        security = security_from(operation["security"]) if "security" in operation else self._default_security
        tags = [tag for tag in as_list(operation.get("tags")) if isinstance(tag, str) and tag.strip()]
        return Tool(
            name=name,
            summary=text_of(operation, "summary"),
            description=text_of(operation, "description"),
            group=tags[0] if tags else None,
            parameters=parameters,
            input_schema=self._input_schema(parameters, body_raw),
            output=output,
            semantics=self._semantics[entry.method],
            input_media_types=body_media_types,
            output_media_types=output_media_types,
            auth=security.schemes,
            scopes=security.scopes,
            errors=self._errors(responses, child(pointer, "responses")),
            method=entry.method.upper(),
            path=entry.path,
            deprecated=operation.get("deprecated") is True,
            streaming=True if "text/event-stream" in output_media_types else None,
            pagination=_pagination(parameters, output),
            pointer=pointer,
            origins=None if name == entry.operation_id else {"name": Origin("inferred", "method and path")},
        )

    # -- parameters --------------------------------------------------------------------------------------------------

    def _all_parameters(self, entry: _Entry) -> tuple[Parameter, ...]:
        """Gives the operation's own parameters after the path's, of which it may override some."""
        found: dict[tuple[str, str], Parameter] = {}
        for owner, pointer in ((entry.item, entry.item_pointer), (entry.operation, entry.pointer)):
            for index, raw in enumerate(as_list(owner.get("parameters"))):
                parameter = self._parameter(raw, child(pointer, "parameters", index))
                if parameter is not None:
                    found[parameter.location, parameter.name] = parameter
        return tuple(found.values())

    def _parameter(self, raw: Json, pointer: str) -> Parameter | None:
        reference = text_of(raw, "$ref")
        if reference is None:
            return self._parameter_from(raw, pointer)
        if reference not in self._parameters:
            target, target_pointer = self._resolved(raw, pointer)
            self._parameters[reference] = None if target is None else self._parameter_from(target, target_pointer)
        return self._parameters[reference]

    def _parameter_from(self, raw: Json, pointer: str) -> Parameter | None:
        name, location = text_of(raw, "name"), text_of(raw, "in")
        if name is None or location not in _LOCATIONS:
            self._problems.error(
                "parameter-invalid", pointer, "a parameter without a name or with an unknown `in`; left out"
            )
            return None
        schema_raw, schema_pointer = raw.get("schema"), child(pointer, "schema")
        if schema_raw is None:
            schema_raw, schema_pointer = _first_media_schema(raw.get("content"), child(pointer, "content"))
        schema = self._scope.schema(schema_raw, schema_pointer) if schema_raw is not None else Schema()
        self._raw_schemas[pointer] = {} if schema_raw is None else schema_raw
        return Parameter(
            name=name,
            location=location,
            required=raw.get("required") is True or location == "path",
            schema=schema,
            description=text_of(raw, "description") or schema.description,
            deprecated=raw.get("deprecated") is True or schema.deprecated,
            pointer=pointer,
        )

    def _body(self, raw: Json, pointer: str) -> tuple[tuple[Parameter, ...], tuple[str, ...], Json]:
        """Gives the parameters of the request body, its media types, and its raw schema."""
        if raw is None:
            return (), (), None
        body, pointer = self._resolved(raw, pointer)
        if body is None:
            return (), (), None
        content = as_dict(body.get("content"))
        found: dict[str, Parameter] = {}
        whole: tuple[Json, str] | None = None
        for media_type in _preferred_first(content):
            schema = as_dict(content[media_type]).get("schema")
            schema_pointer = child(pointer, "content", media_type, "schema")
            properties = self._body_properties(schema, schema_pointer)
            for parameter in properties:
                found.setdefault(parameter.name, parameter)
            if not properties and whole is None:
                whole = schema, schema_pointer
        first_schema, _ = _first_media_schema(content, pointer)
        if found or whole is None:
            return tuple(found.values()), tuple(content), first_schema
        schema_raw, schema_pointer = whole
        schema = self._scope.schema(schema_raw, schema_pointer) if schema_raw is not None else Schema()
        return (
            (
                Parameter(
                    name="body",
                    location="body",
                    required=body.get("required") is True,
                    schema=schema,
                    description=text_of(body, "description"),
                    pointer=pointer,
                    origins={"name": Origin("defaulted", "a request body has no name")},
                ),
            ),
            tuple(content),
            first_schema,
        )

    def _body_properties(self, schema: Json, pointer: str) -> tuple[Parameter, ...]:
        reference = text_of(schema, "$ref")
        if reference is None:
            return self._scope.parameters(schema, pointer, "body")
        if reference not in self._bodies:
            self._bodies[reference] = self._scope.parameters(schema, pointer, "body")
        return self._bodies[reference]

    def _input_schema(self, parameters: tuple[Parameter, ...], body: Json) -> Json:
        """Composes one schema of the parameters' own: by name, by `LOCATION.NAME` where names clash, and `body`."""
        properties: dict[str, Json] = {}
        required: list[str] = []
        for parameter in parameters:
            if parameter.location == "body":
                continue
            key = parameter.name if parameter.name not in properties else f"{parameter.location}.{parameter.name}"
            properties[key] = self._raw_schemas[parameter.pointer]
            if parameter.required:
                required.append(key)
        if body is not None:
            properties["body" if "body" not in properties else "body.body"] = body
        return {"type": "object", "properties": properties, "required": required}

    # -- responses ---------------------------------------------------------------------------------------------------

    def _output(self, responses: dict[str, Json], pointer: str) -> tuple[Output | None, tuple[str, ...]]:
        """Gives what the first status of success returns."""
        successes = sorted(status for status in responses if status.startswith("2"))
        status = successes[0] if successes else "default" if "default" in responses else None
        if status is None:
            return None, ()
        response, pointer = self._resolved(responses[status], child(pointer, status))
        if response is None:
            return None, ()
        content = as_dict(response.get("content"))
        raw, schema_pointer = _first_media_schema(content, child(pointer, "content"))
        output = Output(
            schema=self._scope.schema(raw, schema_pointer) if raw is not None else None,
            description=text_of(response, "description"),
            status=status,
            raw=raw,
            pointer=pointer,
        )
        return output, tuple(content)

    def _errors(self, responses: dict[str, Json], pointer: str) -> tuple[ErrorCase, ...]:
        return tuple(
            self._error(status, responses[status], child(pointer, status))
            for status in sorted(responses)
            if status[:1] in ("4", "5") or (status == "default" and any(key.startswith("2") for key in responses))
        )

    def _error(self, status: str, raw: Json, pointer: str) -> ErrorCase:
        key = f"{status} {text_of(raw, '$ref')}"
        if key in self._responses:
            return self._responses[key]
        response, _ = self._resolved(raw, pointer)
        case = ErrorCase(code=status, description=text_of(response, "description"))
        if text_of(raw, "$ref") is not None:
            self._responses[key] = case
        return case

    # -- references --------------------------------------------------------------------------------------------------

    def _resolved(self, raw: Json, pointer: str) -> tuple[dict[str, Json] | None, str]:
        """Follows a chain of `$ref`s to an object; gives it and where it stands, or reports what is wrong."""
        seen: set[str] = set()
        while isinstance(raw, dict) and isinstance(reference := raw.get("$ref"), str):
            if not reference.startswith("#") or reference in seen:
                reason = "goes in a circle" if reference in seen else "is outside this document"
                self._problems.error(
                    "reference-not-followed", pointer, f"the $ref {reference[:200]!r} {reason}; left out"
                )
                return None, pointer
            seen.add(reference)
            try:
                raw, pointer = follow(self._document, reference[1:]), reference[1:]
            except LookupError:
                self._problems.error(
                    "reference-not-found", pointer, f"nothing stands at the $ref {reference[:200]!r}; left out"
                )
                return None, pointer
        if not isinstance(raw, dict):
            self._problems.error("object-expected", pointer, "expected an object here; left out")
            return None, pointer
        return raw, pointer


def semantics_from_method(method: str) -> Semantics:
    """Gives what HTTP says of a method (RFC 9110, 9.2), as inferred facts."""
    read_only = method in _OPERATION_OF_METHOD
    origin = Origin("inferred", f"HTTP {method.upper()}")
    facts: dict[str, bool | str] = {}
    if read_only:
        facts |= {"operation": "read", "read_only": True, "idempotent": True}
    elif method == "delete":
        facts |= {"operation": "delete", "read_only": False, "destructive": True, "idempotent": True}
    elif method == "put":
        facts |= {"operation": "write", "read_only": False, "idempotent": True}
    else:
        facts |= {"operation": "write", "read_only": False}
    return Semantics(**facts, origins=dict.fromkeys(facts, origin))  # type: ignore[arg-type]


def _preferred_first(content: dict[str, Json]) -> list[str]:
    """Orders media types: JSON first, then as declared."""
    return sorted(content, key=lambda name: (name != "application/json", "json" not in name))


def _first_media_schema(content: Json, pointer: str) -> tuple[Json, str]:
    content = as_dict(content)
    for media_type in _preferred_first(content):
        if (schema := as_dict(content[media_type]).get("schema")) is not None:
            return schema, child(pointer, media_type, "schema")
    return None, pointer


def _pagination(parameters: tuple[Parameter, ...], output: Output | None) -> str | None:
    """Recognises the convention of seed 002, 6.2: `cursor` in the request, `next_cursor` in the response."""
    if output is None or output.schema is None:
        return None
    if not any(item.name == "cursor" for item in parameters):
        return None
    if not any(item.name == "next_cursor" for item in output.schema.properties):
        return None
    return "send `next_cursor` of the response as `cursor` to get the next page; null means that there is none"
