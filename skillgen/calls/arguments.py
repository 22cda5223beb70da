"""Arguments of a call: read from a command line, put in the form of `Tool.input_schema`, and checked.

The arguments of an operation are one object with a key for each parameter and one for the request body (`input_keys`).
A caller may also give the properties of the body by their names, as the documents list them, and put the location
before any name: `query.id`, `body.title`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from skillgen.calls import script
from skillgen.model.calls import Input
from skillgen.model.schema import Parameter, Schema, arguments_of, input_keys
from skillgen.model.schema_json import Types
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.values import Json, child
from skillgen.sources.examples.validation import Fault, Validator


class CallChecker:
    """Reads and checks the arguments of calls to the tools of one service."""

    def __init__(self, service: Service, *, is_strict: bool = False, allows_placeholders: bool = False) -> None:
        """`is_strict` is for a service that reads numbers and times of an API into types; with `allows_placeholders`,
        any value may be one, such as `<id>`."""
        self._validator = Validator(
            Types.of(service.schemas),
            is_request=service.kind == "openapi",
            is_strict=is_strict,
            allows_placeholders=allows_placeholders,
        )

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
                yield Fault(child("", key), script.unknown(key, slots))
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


def _essence(media_type: str) -> str:
    return media_type.partition(";")[0].strip().lower()


def _checkable(value: Json) -> Json:
    """Returns a value with an empty string for each file, whose content is not checked."""
    return json.loads(json.dumps(value, default=lambda file: ""))
