"""How a tool is called: its parameters by where they are sent, and a line that shows the call."""

from __future__ import annotations

from dataclasses import dataclass

from skillgen.markdown.filters import Markdown, code, one_line
from skillgen.model.schema import Location, Parameter, Schema
from skillgen.model.service import Tool

SHOWN_PARAMETERS = 8
"""Parameters in a call line, unless more are required."""

CHOICES_LIMIT = 40
"""Characters that the choices of a parameter may take in a call line."""

SHOWN_PROPERTIES = 3
"""Properties of an object that are shown in a call line; a larger one is `object`."""

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


def parameter_lists(tool: Tool) -> tuple[ParameterList, ...]:
    """Gives a tool's parameters by where they are sent."""
    if not tool.parameters:
        return (ParameterList(Markdown("It takes no parameters."), ()),)
    by_location: dict[Location, list[Parameter]] = {}
    for parameter in tool.parameters:
        by_location.setdefault(parameter.location, []).append(parameter)
    return tuple(
        ParameterList(_label(location, tool), tuple(by_location[location]))
        for location in _LABELS
        if location in by_location
    )


def call_line(tool: Tool) -> Markdown:
    """Gives a call in one line: `create_task(title*, due?, tags?: string[])`, and for an operation its request.

    `*` marks what is required, `?` what is not; a type is given where it is not string.
    """
    first = [parameter for parameter in tool.parameters if parameter.required]
    rest = [parameter for parameter in tool.parameters if not parameter.required and not parameter.deprecated]
    shown = [*first, *rest[: max(SHOWN_PARAMETERS - len(first), 0)]]
    more = len(shown) < len(tool.parameters)
    words = ", ".join([_word(parameter) for parameter in shown] + (["…"] if more else []))
    call = code(f"{tool.name}({words})")
    if tool.method and tool.path:
        return Markdown(f"{call} {code(f'{tool.method} {tool.path}')}")
    return call


def is_whole_body(parameter: Parameter) -> bool:
    """Tells whether a parameter is the body itself, and no member of it."""
    return parameter.location == "body" and "name" in (parameter.origins or {})


def _label(location: Location, tool: Tool) -> Markdown:
    if location != "body":
        return Markdown(_LABELS[location])
    types = ", ".join(code(name) for name in tool.input_media_types)
    return Markdown(f"Body ({types}):" if types else "Body:")


def _word(parameter: Parameter) -> str:
    mark = "*" if parameter.required else "?"
    kind = _type_word(parameter.schema)
    return f"{one_line(parameter.name)}{mark}" + (f": {kind}" if kind != "string" else "")


def _type_word(schema: Schema) -> str:
    if schema.choices and all(isinstance(choice, str) and choice.isascii() for choice in schema.choices):
        words = "|".join(schema.choices)
        if len(words) <= CHOICES_LIMIT:
            return words
    if schema.ref is not None:
        return one_line(schema.ref)
    if schema.items is not None:
        inner = _type_word(schema.items)
        return f"{inner}[]" if inner.isidentifier() or inner.startswith("{") else "array"
    if 0 < len(schema.properties) <= SHOWN_PROPERTIES and not schema.includes:
        return "{" + ", ".join(_word(item) for item in schema.properties) + "}"
    if len(schema.types) == 1:
        return _TYPE_WORDS.get(schema.types[0], "string")
    if schema.properties or schema.includes:
        return "object"
    return "string" if not schema.types and schema.choices else "any"
