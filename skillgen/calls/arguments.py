"""Arguments of a call: read from a command line, put in the form of `Tool.input_schema`, and checked.

The arguments of an operation are one object with a key for each parameter and one for the request body (`input_keys`).
A caller may also give the properties of the body by their names, as the documents list them, and put the location
before any name: `query.id`, `body.title`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches

from msgspec import Struct
from msgspec.structs import replace

from skillgen.calls import script
from skillgen.errors import UsageError
from skillgen.model.calls import Input
from skillgen.model.schema import Parameter, Schema
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.values import Json, child
from skillgen.sources.examples.validation import ExampleSchemas, Fault, ModelSchemas, Validator
from skillgen.sources.openapi.parameters import input_keys

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?\Z")

_TYPES_LIMIT = 100
"""Schemas that are read for the types that a value may have."""


class Upload(Struct, frozen=True):
    """A value that is the content of a file."""

    path: str
    """The file, as the caller named it."""


class CallChecker:
    """Reads and checks the arguments of calls to the tools of one service."""

    def __init__(self, service: Service, *, is_strict: bool = False) -> None:
        """`is_strict` is for a service that reads numbers and times of an API into types."""
        self._schemas = ModelSchemas(service.schemas)
        self._validator = Validator(self._schemas, is_request=True, is_strict=is_strict)

    # -- reading -----------------------------------------------------------------------------------------------------

    def arguments(self, tool: Tool, texts: Sequence[str]) -> dict[str, Json]:
        """Returns the arguments of a command line: one JSON object, or `NAME=VALUE` for each.

        `NAME:=JSON` is a value as JSON, `NAME@=FILE` the content of a file. A name that is repeated is a list.

        Raises:
            UsageError: a text is neither.
        """
        if len(texts) == 1 and texts[0].lstrip()[:1] in ("{", "["):
            return object_from_json(texts[0])
        found: dict[str, Json] = {}
        for text in texts:
            name, separator, value = text.partition("=")
            if not separator or not name.rstrip(":@"):
                fix = "give NAME=VALUE, NAME:=JSON, NAME@=FILE, or all arguments as one JSON object"
                raise UsageError(f"{text[:60]!r} is not an argument", where=tool.name, fix=fix)
            operator, name = (name[-1], name[:-1]) if name[-1] in ":@" else ("", name)
            schema = self._schema_of(tool, name)
            read: Json = Upload(value) if operator == "@" else self._value(tool, name, value, operator, schema)
            if name in found:
                known = found[name] if isinstance(found[name], list) else [found[name]]
                found[name] = [*known, *(read if isinstance(read, list) else [read])]
            else:
                found[name] = read
        return found

    def typed(self, text: str, schema: Schema) -> Json:
        """Returns the value that a string means: a number or a boolean only where the schema allows no string.

        A string that matches nothing else stays a string, and the check names the fault.
        """
        types = self._types(schema, [_TYPES_LIMIT])
        choices = schema.choices or ()
        if text in choices or (types is not None and "string" in types and not choices):
            return text
        value = _json_or_text(text)
        is_allowed = value in choices or (not choices and (types is None or not types.isdisjoint(_types_of(value))))
        if is_allowed and not (types is None and isinstance(value, str)):
            return value
        if types is not None and "array" in types:
            return [self.typed(text, self._items(schema))]
        return text

    def _value(self, tool: Tool, name: str, text: str, operator: str, schema: Schema) -> Json:
        if operator != ":":
            return self.typed(text, schema)
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            fix = f"write valid JSON, or {name}=VALUE for a string"
            raise UsageError(f"the value of {name} is not JSON", where=tool.name, fix=fix) from None

    def _schema_of(self, tool: Tool, name: str) -> Schema:
        """Returns the schema of an argument; one that allows anything for an unknown name."""
        for item in tool.parameters:
            if name in (item.name, f"{item.location}.{item.name}"):
                return item.schema
        return Schema()

    def _items(self, schema: Schema) -> Schema:
        names = [*self._schemas.bases(schema), *self._schemas.ancestors(schema)]
        schemas = [schema, *map(self._schemas.type, names), *schema.alternatives]
        return next((item.items for item in schemas if item.items is not None), Schema())

    def _types(self, schema: Schema, left: list[int]) -> frozenset[str] | None:
        """Returns the types that a schema allows; `None` if it allows any. `left` is how many schemas may be read."""
        left[0] -= 1
        if left[0] < 0:
            return None
        found: list[frozenset[str] | None] = [frozenset(schema.types) if schema.types else None]
        if schema.choices is not None:
            found.append(frozenset(name for choice in schema.choices for name in _types_of(choice)))
        found += [self._types(self._schemas.type(name), left) for name in self._schemas.bases(schema)]
        if schema.alternatives:
            options = [self._types(item, left) for item in schema.alternatives]
            known = [item for item in options if item is not None]
            found.append(frozenset().union(*known) if len(known) == len(options) else None)
        limits = [item for item in found if item is not None]
        if not limits:
            return None
        return frozenset.intersection(*limits) | ({"null"} if schema.nullable else set())

    # -- the form of the input schema --------------------------------------------------------------------------------

    def normalized(self, tool: Tool, arguments: Mapping[str, Json]) -> tuple[dict[str, Json], tuple[Fault, ...]]:
        """Returns arguments in the form of `Tool.input_schema`, and a fault for each unknown name."""
        if tool.method is None:
            return dict(arguments), ()
        slots, body_key = parameter_keys(tool)
        properties = {item.name: item for item in body_parameters(tool) if not item.is_whole_body}
        result: dict[str, Json] = {}
        members: dict[str, Json] = {}
        faults = []
        for name, value in arguments.items():
            location, _, rest = name.partition(".")
            if name in slots or (name == body_key and self._is_whole_body(tool, value, properties.get(name))):
                result[name] = value
            elif name in properties:
                members[name] = value
            elif location == "body" and rest and has_body(tool):
                members[rest] = value
            elif (key := next((key for key, item in slots.items() if _is(item, location, rest)), None)) is not None:
                result[key] = value
            else:
                faults.append(Fault(child("", name), unknown_name(name, [*slots, *properties])))
        is_empty = body_key not in result and properties and tool.input is not None and tool.input.required
        if members or is_empty:
            whole = result.get(body_key, {})
            if isinstance(whole, dict):
                result[body_key] = {**whole, **members}
            else:
                faults.append(Fault(child("", body_key), "is given both as a whole and by its properties"))
        return result, tuple(faults)

    def _is_whole_body(self, tool: Tool, value: Json, item: Parameter | None) -> bool:
        """True if an argument with the key of the body is the body, not a property of the same name."""
        if item is None:
            return has_body(tool)
        types = self._types(item.schema, [_TYPES_LIMIT])
        return isinstance(value, dict) and types is not None and "object" not in types

    # -- checking ----------------------------------------------------------------------------------------------------

    def faults(self, tool: Tool, arguments: Mapping[str, Json], media_type: str | None = None) -> tuple[Fault, ...]:
        """Returns every fault of arguments in the form of `Tool.input_schema`, each at its JSON pointer.

        `media_type` is that of the request body; by default it is the recommended one.
        """
        if tool.method is None:
            if not isinstance(tool.input_schema, dict):
                return ()
            schemas = ExampleSchemas(tool.input_schema)
            validator = Validator(schemas, is_request=False)
            return tuple(validator.faults(_checkable(arguments), schemas.read(tool.input_schema, "")))
        return tuple(self._operation_faults(tool, arguments, media_type))

    def _operation_faults(self, tool: Tool, arguments: Mapping[str, Json], media_type: str | None) -> Iterator[Fault]:
        slots, body_key = parameter_keys(tool)
        for key, item in slots.items():
            if key not in arguments:
                if item.required:
                    yield Fault(child("", key), f"is required ({item.location})")
                continue
            value = arguments[key]
            yield from self._value_faults(value, item.schema, key)
            for reason in script.unsendable(item.location, with_texts(value)):
                yield Fault(child("", key), reason)
        for key in arguments:
            if key not in slots and not (key == body_key and has_body(tool)):
                yield Fault(child("", key), unknown_name(key, slots))
        form = body_form(tool, media_type)
        if form is None:
            if media_type is not None and tool.input is not None and body_key in arguments:
                known = ", ".join(tool.input_media_types)
                yield Fault(child("", body_key), f"cannot be sent as {media_type[:60]}, only as {known}")
            return
        if body_key in arguments:
            yield from self._value_faults(arguments[body_key], body_schema(tool, form), body_key)
        elif form.required:
            names = [item.name for item in body_parameters(tool, form) if item.required and not item.is_whole_body]
            for name in names or [""]:
                pointer = child("", body_key, name) if name else child("", body_key)
                yield Fault(pointer, "is required (body)")

    def _value_faults(self, value: Json, schema: Schema, key: str) -> Iterator[Fault]:
        if isinstance(value, Upload):
            return
        for fault in self._validator.faults(_checkable(value), schema):
            yield Fault(child("", key) + fault.pointer, fault.message)


def object_from_json(text: str) -> dict[str, Json]:
    """Returns the JSON object in a text.

    Raises:
        UsageError: it is not JSON, or not an object.
    """
    try:
        value: dict[str, Json] = script.object_from(text)
    except script.Failure as failure:
        raise UsageError(str(failure), fix="write one JSON object") from None
    return value


def parameter_keys(tool: Tool) -> tuple[dict[str, Parameter], str]:
    """Returns the parameters outside of the body by their keys in the arguments, and the key of the body."""
    sent = [item for item in tool.parameters if item.location != "body"]
    keys, body_key = input_keys(sent)
    return dict(zip(keys, sent, strict=True)), body_key


def has_body(tool: Tool) -> bool:
    """True if an operation takes a request body."""
    return tool.input is not None


def body_form(tool: Tool, media_type: str | None = None) -> Input | None:
    """Returns the form of the request body in a media type, by default the recommended one; `None` without one."""
    if media_type is None or tool.input is None:
        return tool.input
    wanted = _essence(media_type)
    forms = (tool.input, *tool.other_inputs)
    for matches_type in (lambda name: name == wanted, lambda name: _matches_range(name, wanted)):
        for form in forms:
            if any(matches_type(_essence(name)) for name in form.media_types):
                return form
    return None if any(form.media_types for form in forms) else tool.input


def body_parameters(tool: Tool, form: Input | None = None) -> tuple[Parameter, ...]:
    """Returns the properties of a form of the body, or its one parameter for the whole body."""
    if form is None or form is tool.input:
        return tuple(item for item in tool.parameters if item.location == "body")
    return form.parameters


def body_schema(tool: Tool, form: Input) -> Schema:
    """Returns the schema of a form of the request body."""
    parameters = body_parameters(tool, form)
    if len(parameters) == 1 and parameters[0].is_whole_body:
        return parameters[0].schema
    rules = form.schema or Schema()
    declared = Schema(types=() if rules.types else ("object",), properties=parameters)
    return declared if rules == Schema() else _with_properties(rules, declared)


def _with_properties(rules: Schema, declared: Schema) -> Schema:
    known = {item.name for item in rules.properties}
    more = tuple(item for item in declared.properties if item.name not in known)
    return replace(rules, types=rules.types or declared.types, properties=rules.properties + more)


def unknown_name(name: str, known: Iterable[str], noun: str = "parameter") -> str:
    """Returns the message for a name that no parameter or tool has, with the nearest names."""
    names = list(known)
    if close := get_close_matches(name, names, n=3, cutoff=0.5):
        return f"is not a {noun}; did you mean {' or '.join(close)}?"
    more = f" and {len(names) - 12:,} more" if len(names) > 12 else ""
    listed = f"; the {noun}s are {', '.join(names[:12])}{more}" if names else f"; there are no {noun}s"
    return f"is not a {noun}{listed}"


def _is(item: Parameter, location: str, name: str) -> bool:
    return item.location == location and item.name == name


def _essence(media_type: str) -> str:
    return media_type.partition(";")[0].strip().lower()


def _matches_range(declared: str, wanted: str) -> bool:
    return declared == "*/*" or (declared.endswith("/*") and wanted.startswith(declared[:-1]))


def _json_or_text(text: str) -> Json:
    """Returns the value of a string that is JSON in the form in which a person writes it."""
    if text in ("true", "false", "null") or _NUMBER.match(text) or text[:1] in ("{", "["):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
    return text


def _types_of(value: Json) -> tuple[str, ...]:
    if isinstance(value, bool):
        return ("boolean",)
    if isinstance(value, int):
        return ("integer", "number")
    if isinstance(value, float):
        return ("number", "integer") if value.is_integer() else ("number",)
    if isinstance(value, str):
        return ("string",)
    return ("object",) if isinstance(value, dict) else ("array",) if isinstance(value, list) else ("null",)


def with_uploads(value: Json, content: Callable[[Upload], Json]) -> Json:
    """Returns a value with the content of each file in place of the file."""
    if isinstance(value, Upload):
        return content(value)
    if isinstance(value, Mapping):
        return {key: with_uploads(item, content) for key, item in value.items()}
    return [with_uploads(item, content) for item in value] if isinstance(value, list) else value


def with_texts(value: Json) -> Json:
    """Returns a value with the text of its files, of binary files in Base64.

    Raises:
        UsageError: a file cannot be read.
    """
    try:
        return with_uploads(value, lambda upload: script.File(upload.path).text())
    except script.Failure as failure:
        raise UsageError(str(failure), fix="name another file") from None


def _checkable(value: Json) -> Json:
    return with_uploads(value, lambda upload: "")
