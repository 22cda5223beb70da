"""Says in words what a value may be: the type of a parameter, what bounds it, what is nested in it.

Links to named types and to tools are written as `LINK_TO_TYPE` and `LINK_TO_TOOL` targets and resolved when it is known
in which file the text stands (`links`).
"""

from __future__ import annotations

from dataclasses import dataclass

from skillgen.markdown.filters import Markdown, code, inline, value
from skillgen.markdown.values import json_text
from skillgen.model.schema import Parameter, Schema
from skillgen.model.value import Json
from skillgen.render.links import type_link

ALTERNATIVES_SHOWN = 12
CHOICES_SHOWN = 200

_BOUNDS = (
    ("minimum", "maximum", ""),
    ("minLength", "maxLength", " characters"),
    ("minItems", "maxItems", " items"),
    ("minProperties", "maxProperties", " properties"),
)
_PLAIN: dict[tuple[str, ...], Markdown] = {
    (name,): Markdown(name) for name in ("string", "integer", "number", "boolean", "object", "array")
}


@dataclass(frozen=True, slots=True)
class Branch:
    """What is nested in a value: the properties of an object, or of one of its alternatives."""

    label: Markdown | None
    """What tells the branch from the others; `None` for the only one."""

    parameters: tuple[Parameter, ...]
    """The properties."""


def type_phrase(schema: Schema) -> Markdown:
    """Says in a few words what a value may be: `array of [Task](…) or null`."""
    if schema.types in _PLAIN and _is_bare(schema):
        return _PLAIN[schema.types]
    phrase = _core_phrase(schema)
    return Markdown(f"{phrase} or null" if schema.nullable else phrase)


def notes(parameter: Parameter) -> Markdown:
    """Says in sentences what bounds a parameter: choices, default, limits, and that it is not to be used.

    A sentence that its description says in the same words is left out.
    """
    said = parameter.description or ""
    found = _notes(parameter.schema, parameter.deprecated)
    return Markdown(" ".join(note for note in found if note.rstrip(".") not in said))


def schema_notes(schema: Schema) -> Markdown:
    """Says the same of a named type or of an output."""
    return Markdown(" ".join(_notes(schema, schema.deprecated)))


def branches(schema: Schema) -> tuple[Branch, ...]:
    """Gives what is written out below a value: inline objects, not named types."""
    if schema.items is not None and not schema.properties:
        return branches(schema.items)
    found = [Branch(None, schema.properties)] if schema.properties else []
    if isinstance(schema.additional, Schema):
        found += [Branch(_labelled("each other value", item), item.parameters) for item in branches(schema.additional)]
    inner = [branches(alternative) for alternative in schema.alternatives]
    several = sum(map(bool, inner)) > 1
    for index, nested in enumerate(inner, 1):
        label = f"alternative {index}" if several else "as an object" if schema.types != ("array",) else "in an item"
        found += [Branch(_labelled(label, item), item.parameters) for item in nested]
    for index, member in enumerate(schema.prefix_items, 1):
        found += [Branch(_labelled(f"item {index}", item), item.parameters) for item in branches(member)]
    return tuple(found)


def _labelled(label: str, branch: Branch) -> Markdown:
    return Markdown(f"{inline(label)}, {branch.label}") if branch.label else inline(label)


def _is_bare(schema: Schema) -> bool:
    return not (
        schema.nullable
        or schema.format
        or schema.ref
        or schema.includes
        or schema.alternatives
        or schema.items
        or schema.prefix_items
        or isinstance(schema.additional, Schema)
    )


def _core_phrase(schema: Schema) -> str:
    if schema.ref is not None:
        return type_link(schema.ref)
    if schema.includes:
        own = [" with more properties"] if schema.properties else []
        return " and ".join(type_link(name) for name in schema.includes) + "".join(own)
    if schema.alternatives and not schema.properties:
        return _alternatives_phrase(schema.alternatives)
    if schema.prefix_items:
        return f"array of exactly: {', '.join(type_phrase(item) for item in schema.prefix_items)}"
    if schema.items is not None:
        inner = type_phrase(schema.items)
        return f"array of ({inner})" if " or " in inner else f"array of {inner}"
    if isinstance(schema.additional, Schema) and not schema.properties:
        inner = type_phrase(schema.additional)
        return f"map of string to {inner}"
    return _scalar_phrase(schema)


def _scalar_phrase(schema: Schema) -> str:
    if not schema.types:
        return "object" if schema.properties else _choices_phrase(schema.choices or ())
    phrase = " or ".join(inline(name) for name in schema.types)
    return f"{phrase} ({inline(schema.format)})" if schema.format else phrase


def _choices_phrase(choices: tuple[Json, ...]) -> str:
    """Gives the types of the values that are allowed, where no type is declared."""
    names = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}
    return " or ".join(dict.fromkeys(names.get(type(choice), "null") for choice in choices)) or "any"


def _alternatives_phrase(alternatives: tuple[Schema, ...]) -> str:
    phrases = list(dict.fromkeys(str(type_phrase(item)) for item in alternatives))
    more = len(phrases) - ALTERNATIVES_SHOWN
    if more > 0:
        phrases[ALTERNATIVES_SHOWN:] = [f"{more} more"]
    return " or ".join(phrases)


def _notes(schema: Schema, deprecated: bool) -> list[str]:
    found = []
    if deprecated:
        found.append("Deprecated.")
    if schema.choices is not None:
        found.append(_choices_note(schema.choices))
    elif schema.items is not None and schema.items.choices is not None:
        found.append(_choices_note(schema.items.choices, "Each item one of"))
    if schema.default is not None:
        found.append(f"Default: {value(schema.default.json)}.")
    found.extend(_constraint_notes(schema))
    if schema.items is not None:
        found.extend(f"Each item: {note[0].lower()}{note[1:]}" for note in _constraint_notes(schema.items))
    if schema.additional is False and schema.properties:
        found.append("No other properties.")
    if schema.read_only:
        found.append("Read-only: not sent.")
    if schema.examples:
        found.append(f"Example: {value(schema.examples[0])}.")
    return found


def _choices_note(choices: tuple[Json, ...], lead: str = "One of") -> str:
    if not choices:
        return "No value is allowed."
    if len(choices) == 1:
        return f"Always {value(choices[0])}." if lead == "One of" else f"Each item is always {value(choices[0])}."
    shown = ", ".join(value(choice) for choice in choices[:CHOICES_SHOWN])
    more = f" and {len(choices) - CHOICES_SHOWN} more" if len(choices) > CHOICES_SHOWN else ""
    return f"{lead} {shown}{more}."


def _constraint_notes(schema: Schema) -> list[str]:
    constraints = schema.constraints or {}
    is_array = schema.items is not None or "array" in schema.types
    found = []
    for low, high, unit in _BOUNDS:
        if low in constraints or high in constraints:
            found.append(_range_note(constraints.get(low), constraints.get(high), unit))
    if "exclusiveMinimum" in constraints:
        found.append(f"More than {value(constraints['exclusiveMinimum'])}.")
    if "exclusiveMaximum" in constraints:
        found.append(f"Less than {value(constraints['exclusiveMaximum'])}.")
    if "multipleOf" in constraints:
        found.append(f"A multiple of {value(constraints['multipleOf'])}.")
    if "pattern" in constraints:
        found.append(f"Matches {code(str(constraints['pattern']))}.")
    if "uniqueItems" in constraints and is_array:
        found.append("No item twice.")
    if "contentMediaType" in constraints:
        found.append(f"Holds {code(str(constraints['contentMediaType']))}.")
    if "dependentRequired" in constraints:
        found.append(f"Required together: {code(json_text(constraints['dependentRequired']))}.")
    return found


def _range_note(low: Json, high: Json, unit: str) -> str:
    if low is None:
        return f"At most {_number(high)}{_unit(unit, high)}."
    if high is None:
        return f"At least {_number(low)}{_unit(unit, low)}."
    if low == high:
        return f"Exactly {_number(low)}{_unit(unit, low)}."
    return f"{_number(low)} to {_number(high)}{unit}."


def _unit(unit: str, number: Json) -> str:
    if number != 1:
        return unit
    return unit.replace("properties", "property").removesuffix("s")


def _number(data: Json) -> str:
    return str(data) if type(data) is int else str(value(data))
