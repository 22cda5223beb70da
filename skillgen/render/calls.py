"""How a tool is called: its parameters by where they are sent, and a line that shows the call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from skillgen.markdown.filters import Markdown, code, inline, one_line
from skillgen.model.schema import Location, Parameter, Schema
from skillgen.model.service import Event, Input, Tool

SHOWN_PARAMETERS = 8
"""Parameters in a call line, unless more are required."""

CHOICES_LIMIT = 40
"""Characters that the choices of a parameter may take in a call line."""

SHOWN_PROPERTIES = 3
"""Properties of an object that are shown in a call line; a larger one is `object`."""

DEPTH_LIMIT = 2
"""Named types, and objects in objects, that a call line looks into."""

_LABELS: dict[Location, str] = {
    "argument": "Parameters:",
    "path": "Path parameters:",
    "query": "Query parameters:",
    "header": "Headers:",
    "cookie": "Cookies:",
    "body": "Body:",
}
_TYPE_WORDS = {"integer": "int", "boolean": "bool", "number": "number", "object": "object", "array": "array"}


@dataclass(frozen=True, slots=True)
class ParameterList:
    """Parameters that are sent in the same place."""

    label: Markdown
    """What stands before the list."""

    parameters: tuple[Parameter, ...]
    """The parameters, in order."""

    whole: Schema | None = None
    """What they must be together."""


def parameter_lists(tool: Tool) -> tuple[ParameterList, ...]:
    """Gives a tool's parameters by where they are sent."""
    if not tool.parameters and not tool.other_inputs:
        return (ParameterList(Markdown("It takes no parameters."), (), tool.input.schema if tool.input else None),)
    by_location: dict[Location, list[Parameter]] = {}
    for parameter in tool.parameters:
        by_location.setdefault(parameter.location, []).append(parameter)
    whole = tool.input.schema if tool.input is not None else None
    lists = [
        ParameterList(
            _label(location, tool), tuple(by_location[location]), whole if location in ("argument", "body") else None
        )
        for location in _LABELS
        if location in by_location
    ]
    lists += [ParameterList(_body_label("Or as", item), item.parameters, item.schema) for item in tool.other_inputs]
    return tuple(lists)


def event_lists(event: Event) -> tuple[ParameterList, ...]:
    """Gives what a request of the service carries, by where it stands."""
    by_location: dict[Location, list[Parameter]] = {}
    for parameter in event.parameters:
        by_location.setdefault(parameter.location, []).append(parameter)
    types = " or ".join(code(name) for name in event.media_types)
    labels = {**_LABELS, "body": f"Body ({types}):" if types else "Body:"}
    return tuple(
        ParameterList(Markdown(labels[location]), tuple(by_location[location]))
        for location in _LABELS
        if location in by_location
    )


def call_line(tool: Tool, types: Mapping[str, Schema]) -> Markdown:
    """Gives a call in one line: `create_task(title*, due?, tags?: string[])`, and for an operation its request.

    `*` marks what is required, `?` what is not; a type is given where it is not string. `types` are the named types.
    """
    sent = [parameter for parameter in tool.parameters if not parameter.schema.read_only]
    first = [parameter for parameter in sent if parameter.required]
    rest = [parameter for parameter in sent if not parameter.required and not parameter.deprecated]
    shown = [*first, *rest[: max(SHOWN_PARAMETERS - len(first), 0)]]
    more = len(shown) < len(sent)
    words = ", ".join([_word(parameter, types) for parameter in shown] + (["…"] if more else []))
    call = code(f"{tool.name}({words})")
    if tool.method and tool.path:
        return Markdown(f"{call} {code(f'{tool.method} {tool.path}')}")
    return call


def is_whole_body(parameter: Parameter) -> bool:
    """Tells whether a parameter is the body itself, and no member of it."""
    return parameter.location == "body" and "name" in (parameter.origins or {})


def _label(location: Location, tool: Tool) -> Markdown:
    if location != "body" or tool.input is None:
        return Markdown(_LABELS[location])
    return _body_label("Body", tool.input, tool.parameters)


def _body_label(lead: str, form: Input, parameters: tuple[Parameter, ...] = ()) -> Markdown:
    """Gives the words before the properties of a body: its media types, whether it may be left out, what it is."""
    types = " or ".join(code(name) for name in form.media_types if name)
    label = f"{lead} {types}" if lead != "Body" else f"{lead} ({types})" if types else lead
    own = [item for item in form.parameters or parameters if item.location == "body"]
    if not form.required and any(item.required for item in own):
        label += ", which may be left out"
    if form.description and not any(map(is_whole_body, own)):
        return Markdown(f"{label}: {inline(form.description)}")
    return Markdown(f"{label}:")


def _word(parameter: Parameter, types: Mapping[str, Schema], depth: int = 0) -> str:
    mark = "*" if parameter.required else "?"
    kind = _type_word(parameter.schema, types, depth)
    return f"{one_line(parameter.name)}{mark}" + (f": {kind}" if kind != "string" else "")


def _type_word(schema: Schema, types: Mapping[str, Schema], depth: int) -> str:
    if schema.choices and all(isinstance(choice, str) and choice.isascii() for choice in schema.choices):
        words = "|".join(schema.choices)
        if len(words) <= CHOICES_LIMIT:
            return words
    if schema.ref is not None:
        target = types.get(schema.ref)
        return "object" if target is None or depth == DEPTH_LIMIT else _type_word(target, types, depth + 1)
    if schema.items is not None:
        inner = _type_word(schema.items, types, depth)
        return f"{inner}[]" if inner.isidentifier() or inner.startswith("{") else "array"
    if 0 < len(schema.properties) <= SHOWN_PROPERTIES and not schema.includes and depth < DEPTH_LIMIT:
        return "{" + ", ".join(_word(item, types, depth + 1) for item in schema.properties) + "}"
    if len(schema.types) == 1:
        return _TYPE_WORDS.get(schema.types[0], "string")
    if schema.properties or schema.includes:
        return "object"
    return "string" if not schema.types and schema.choices else "any"
