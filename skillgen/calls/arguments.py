"""Arguments of a call: read from a command line, put in the form of `Tool.input_schema`, and checked.

The arguments of an operation are one object with a key for each parameter and one for the request body (`input_keys`).
A caller may also give the properties of the body by their names, as the documents list them, and put the location
before any name: `query.id`, `body.title`.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from difflib import get_close_matches
from typing import Any

from skillgen.calls import script
from skillgen.errors import ExitCode, SkillgenError, SourceError, UsageError
from skillgen.model.calls import Input
from skillgen.model.schema import Parameter, Schema, arguments_of, input_keys
from skillgen.model.schema_json import Types
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.values import Json, child
from skillgen.render.scripts import call_data, undeclared_members
from skillgen.sources.examples.validation import Fault, Validator


class CallChecker:
    """Reads and checks the arguments of calls to the tools of one service."""

    def __init__(self, service: Service, *, is_strict: bool = False, allows_placeholders: bool = False) -> None:
        """`is_strict` is for a service that reads numbers and times of an API into types; with `allows_placeholders`,
        any value may be one, such as `<id>`."""
        self._service = service
        self._validator = Validator(
            Types.of(service.schemas),
            is_request=service.kind == "openapi",
            is_strict=is_strict,
            allows_placeholders=allows_placeholders,
        )

    def arguments(self, tool: Tool, texts: Sequence[str]) -> dict[str, Json]:
        """Returns the arguments of a command line: one JSON object, or `NAME=VALUE` for each.

        `NAME:=JSON` is a value as JSON, `NAME@=FILE` the content of a file. A name that is repeated is a list.

        Raises:
            UsageError: a text is neither.
        """
        properties, types = self._properties(tool)
        with as_errors(tool.name):
            found: dict[str, Json] = script.read_arguments(texts, properties, types)
        return found

    def _properties(self, tool: Tool) -> tuple[dict[str, Any], dict[str, Any]]:
        """Returns the schemas of the parameters of a tool, as `call.py` has them, by all their names; and the types."""
        data = call_data(self._service, [tool])
        schemas = data["tools"][tool.name]["schema"].get("properties", {})
        found: dict[str, Any] = {}
        for item, schema in zip(tool.parameters, schemas.values(), strict=False):
            found |= {f"{item.location}.{item.name}": schema, item.name: found.get(item.name, schema)}
        return found, data["types"]

    # -- the form of the input schema --------------------------------------------------------------------------------

    def normalized(self, tool: Tool, arguments: Mapping[str, Json]) -> tuple[dict[str, Json], tuple[Fault, ...]]:
        """Returns arguments in the form of `Tool.input_schema`, and a fault for each unknown name."""
        if tool.method is None:
            return dict(arguments), ()
        slots, body_key = parameter_keys(tool)
        properties = {item.name: item for item in body_parameters(tool) if not item.is_whole_body}
        undeclared = undeclared_members(tool)
        result: dict[str, Json] = {}
        members: dict[str, Json] = {}
        faults = []
        for name, value in arguments.items():
            location, _, rest = name.partition(".")
            is_body = name == body_key and (self._is_whole_body(tool, value) if name in properties else has_body(tool))
            if name in slots or is_body:
                result[name] = value
            elif name in properties or name in undeclared:
                members[name] = value
            elif location == "body" and rest and has_body(tool):
                members[rest] = value
            elif (key := next((key for key, item in slots.items() if _is(item, location, rest)), None)) is not None:
                result[key] = value
            else:
                faults.append(Fault(child("", name), unknown_name(name, [*slots, *properties])))
        has_members = bool(properties or undeclared)
        is_empty = body_key not in result and has_members and tool.input is not None and tool.input.required
        if members or is_empty:
            whole = result.get(body_key, {})
            if isinstance(whole, dict):
                result[body_key] = {**whole, **members}
            else:
                faults.append(Fault(child("", body_key), "is given both as a whole and by its properties"))
        return result, tuple(faults)

    def _is_whole_body(self, tool: Tool, value: Json) -> bool:
        """True if an argument named `body` is the body, not its property of that name, which cannot be an object."""
        properties, types = self._properties(tool)
        return isinstance(value, dict) and script.doubts({}, properties["body.body"], types) > 1

    # -- checking ----------------------------------------------------------------------------------------------------

    def faults(self, tool: Tool, arguments: Mapping[str, Json], media_type: str | None = None) -> tuple[Fault, ...]:
        """Returns every fault of arguments in the form of `Tool.input_schema`, each at its JSON pointer.

        `media_type` is that of the request body; by default it is the recommended one.
        """
        if tool.method is None:
            if not isinstance(tool.input_schema, dict):
                return ()
            schema = arguments_of(tool.parameters, tool.input.schema if tool.input is not None else None)
            return tuple(self._validator.faults(_checkable(arguments), schema))
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
            for reason in script.unsendable(item.location, script.with_texts(value)):
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
            yield from self._value_faults(arguments[body_key], form.schema_of(body_parameters(tool, form)), body_key)
        elif form.required:
            names = [item.name for item in body_parameters(tool, form) if item.required and not item.is_whole_body]
            for name in names or [""]:
                pointer = child("", body_key, name) if name else child("", body_key)
                yield Fault(pointer, "is required (body)")

    def _value_faults(self, value: Json, schema: Schema, key: str) -> Iterator[Fault]:
        if isinstance(value, script.File):
            return
        for fault in self._validator.faults(_checkable(value), schema):
            yield Fault(child("", key) + fault.pointer, fault.message)


def object_from_json(text: str) -> dict[str, Json]:
    """Returns the JSON object in a text.

    Raises:
        UsageError: it is not JSON, or not an object.
    """
    with as_errors():
        value: dict[str, Json] = script.object_from(text)
    return value


@contextlib.contextmanager
def as_errors(where: str | None = None) -> Iterator[None]:
    """Turns the failures of the functions that `call.py` shares into errors of skillgen."""
    try:
        yield
    except script.Failure as failure:
        what, _, fix = str(failure).partition("; ")
        kind: Callable[..., SkillgenError] = UsageError if failure.code == ExitCode.USAGE else SourceError
        raise kind(what, where=where, fix=fix or None) from None


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
    for patterns in ({wanted}, {f"{wanted.partition('/')[0]}/*", "*/*"}):  # the exact type first
        for form in forms:
            if not patterns.isdisjoint(map(_essence, form.media_types)):
                return form
    return None if any(form.media_types for form in forms) else tool.input


def body_parameters(tool: Tool, form: Input | None = None) -> tuple[Parameter, ...]:
    """Returns the properties of a form of the body, or its one parameter for the whole body."""
    if form is None or form is tool.input:
        return tuple(item for item in tool.parameters if item.location == "body")
    return form.parameters


def unknown_name(name: str, known: Iterable[str], noun: str = "parameter") -> str:
    """Returns the message for a name that no parameter or tool has, with the nearest names."""
    names = sorted(known) if isinstance(known, Set) else list(known)
    if close := get_close_matches(name, names, n=3, cutoff=0.5):
        return f"is not a {noun}; did you mean {' or '.join(close)}?"
    more = f" and {len(names) - 12:,} more" if len(names) > 12 else ""
    listed = f"; the {noun}s are {', '.join(names[:12])}{more}" if names else f"; there are no {noun}s"
    return f"is not a {noun}{listed}"


def _is(item: Parameter, location: str, name: str) -> bool:
    return item.location == location and item.name == name


def _essence(media_type: str) -> str:
    return media_type.partition(";")[0].strip().lower()


def _checkable(value: Json) -> Json:
    """Returns a value with an empty string for each file, whose content is not checked."""
    return json.loads(json.dumps(value, default=lambda file: ""))
