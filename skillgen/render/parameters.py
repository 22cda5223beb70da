"""Call line and parameter lists.

How a tool is called: its parameters by where they are sent, and a line that shows the call.

Which properties are sent and which are returned.

What the input of a tool must be as a whole, beyond what is said of its parameters one by one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from skillgen.model.calls import Input
from skillgen.model.resource import Event
from skillgen.model.schema import Location, Parameter, Schema, is_open, takes_any_names
from skillgen.model.tool import Tool
from skillgen.render.nested import Branch, alternative_labels, branches, telling_property
from skillgen.render.semantics import needs_stop
from skillgen.render.types import (
    NO_OTHER_PROPERTIES,
    adds_description,
    schema_description,
    type_phrase,
    value_notes,
    with_stop,
)
from skillgen.text.blocks import block
from skillgen.text.markdown import Markdown, code, inline, one_line
from skillgen.text.summary import join_texts

SHOWN_PARAMETERS = 8
"""Parameters in a call line, unless more are required."""

CHOICES_LIMIT = 40
"""Characters that the choices of a parameter may take in a call line."""

SHOWN_PROPERTIES = 3
"""Properties of an object that are shown in a call line; a larger one is `object`, unless it is all that is sent."""

ALTERNATIVES_LIMIT = 24
"""Characters that the types of a value may take that has several."""

DEPTH_LIMIT = 2
"""Named types, and objects in objects, that a call line looks into."""

_PARAGRAPHS = re.compile(r"\n[ \t\r]*\n")
"""What stands between the paragraphs of a text, which is then too long for the middle of a line."""

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

    is_body: bool = False
    """Whether they are the body of a request."""

    is_typed: bool = False
    """Whether the label already says of what type they are together."""


def parameter_lists(tool: Tool) -> tuple[ParameterList, ...]:
    """Gives a tool's parameters by where they are sent."""
    if tool.parameters or tool.other_inputs:
        return _lists(tool)
    whole = tool.input.schema if tool.input else None
    if whole is not None and takes_any_names(whole):
        phrase = type_phrase(whole)
        label = f"It takes any properties: {phrase}." if phrase != "object" else "It takes properties by their names."
        return (ParameterList(Markdown(label), (), whole, is_typed=True),)
    if tool.is_input_declared:
        verb = "declares" if tool.method is None and is_open(tool.input_schema) else "takes"
        return (ParameterList(Markdown(f"It {verb} no parameters."), (), whole),)
    label = "Its parameters are not declared by name." if whole else "What it takes is not declared."
    return (ParameterList(Markdown(label), (), whole),)


def event_lists(event: Event) -> tuple[ParameterList, ...]:
    """Gives what a request of the service carries, by where it stands."""
    return _lists(event)


def _lists(item: Tool | Event) -> tuple[ParameterList, ...]:
    by_location: dict[Location, list[Parameter]] = {}
    for parameter in item.parameters:
        by_location.setdefault(parameter.location, []).append(parameter)
    whole = item.input.schema if item.input is not None else None
    lists = [
        ParameterList(
            _label(location, item),
            tuple(by_location[location]),
            whole if location in ("argument", "body") else None,
            location == "body",
        )
        for location in _LABELS
        if location in by_location
    ]
    lists += [
        ParameterList(_body_label("Or as", form), form.parameters, form.schema, True) for form in item.other_inputs
    ]
    return tuple(lists)


def call_line(tool: Tool, types: Mapping[str, Schema]) -> Markdown:
    """Gives a call in one line: `create_task(title*, due?, tags?: string[])`, and for an operation its request.

    `*` marks what is required, `?` what is not; a type is given where it is not string, and headers come last. `types`
    are the named types.
    """
    sent = _sent(tool.parameters)
    words = _words(sent, types, 0, SHOWN_PARAMETERS if len(sent) == 1 else SHOWN_PROPERTIES)
    if not tool.parameters and not _takes_nothing(tool):
        words = "…"
    call = code(f"{tool.name}({words})")
    if tool.method and tool.path:
        return Markdown(f"{call} {code(f'{tool.method} {tool.path}')}")
    return call


def _takes_nothing(tool: Tool) -> bool:
    whole = tool.input.schema if tool.input else None
    return tool.is_input_declared and not (whole is not None and takes_any_names(whole))


def _label(location: Location, item: Tool | Event) -> Markdown:
    if item.input is None or location not in ("argument", "body"):
        return Markdown(_LABELS[location])
    if location == "argument":
        said = item.description if isinstance(item, Tool) else None
        return _with_words("Parameters", _further(item.input.schema, said))
    form = item.input if isinstance(item, Tool) else replace(item.input, required=True)  # the service knows when
    return _body_label("Body", form, item.parameters)


def _body_label(lead: str, form: Input, parameters: tuple[Parameter, ...] = ()) -> Markdown:
    """Gives the words before the properties of a body: its media types, whether it may be left out, what it is."""
    types = " or ".join(code(name) for name in form.media_types if name)
    label = f"{lead} {types}" if lead != "Body" else f"{lead} ({types})" if types else lead
    own = [item for item in form.parameters or parameters if item.location == "body"]
    if not form.required and any(item.required for item in own):
        label += ", which may be left out"
    if any(item.is_whole_body for item in own):
        return Markdown(f"{label}:")
    said = [form.description] if form.description else []
    return _with_words(label, [*said, *_further(form.schema, form.description)])


def _further(schema: Schema | None, said: str | None) -> list[str]:
    """Gives what the type of the whole says of itself, where that is not said already."""
    return [schema.description] if schema and schema.description and adds_description(schema, said) else []


def _with_words(label: str, texts: Sequence[str]) -> Markdown:
    """Gives a label of a list, and what is said of the whole."""
    if any(_PARAGRAPHS.search(text.strip()) for text in texts):
        # A list at their end would go on as that of the properties.
        about = "\n\n".join(str(block(text)) for text in texts)
        return Markdown(f"About the {'parameters' if label == 'Parameters' else 'body'}:\n\n{about}\n\n{label}:")
    said = [words for text in texts if (words := inline(text))]
    return Markdown(" ".join([f"{label}:", *map(with_stop, said[:-1]), *said[-1:]]))


def _sent(parameters: Sequence[Parameter]) -> list[Parameter]:
    return [parameter for parameter in parameters if not parameter.schema.read_only]


def _words(sent: Sequence[Parameter], types: Mapping[str, Schema], depth: int, properties: int) -> str:
    """Gives what is required and some of the rest; `properties` of an object are shown."""
    first = _headers_last(parameter for parameter in sent if parameter.required)
    rest = _headers_last(parameter for parameter in sent if not parameter.required and not parameter.deprecated)
    shown = [*first, *rest[: max(SHOWN_PARAMETERS - len(first), 0)]]
    more = ["…"] if len(shown) < len(sent) else []
    return ", ".join([_word(parameter, types, depth, properties) for parameter in shown] + more)


def _headers_last(parameters: Iterable[Parameter]) -> list[Parameter]:
    """Puts what goes into headers and cookies last: signatures and versions, which say nothing of the call."""
    return sorted(parameters, key=lambda parameter: parameter.location in ("header", "cookie"))


def _word(parameter: Parameter, types: Mapping[str, Schema], depth: int, properties: int = SHOWN_PROPERTIES) -> str:
    mark = "*" if parameter.required else "?"
    kind = _type_word(parameter.schema, types, depth, properties)
    return f"{one_line(parameter.name)}{mark}" + (f": {kind}" if kind != "string" else "")


def _type_word(schema: Schema, types: Mapping[str, Schema], depth: int, properties: int = SHOWN_PROPERTIES) -> str:
    if schema.choices and all(isinstance(choice, str) and choice.isascii() for choice in schema.choices):
        words = "|".join(schema.choices)
        if len(words) <= CHOICES_LIMIT:
            return words
    if schema.ref is not None:
        target = types.get(schema.ref)
        if target is None or depth >= DEPTH_LIMIT:
            return "object" if target is None else _plain_word(target)
        return _type_word(target, types, depth + 1, properties)
    if schema.items is not None:
        inner = _type_word(schema.items, types, depth, properties)
        return f"({inner})[]" if "|" in inner and not inner.startswith("{") else f"{inner}[]"
    if _is_shown(schema, depth, properties):
        return "{" + _words(_sent(schema.properties), types, depth + 1, SHOWN_PROPERTIES) + "}"
    if len(schema.types) == 1:
        return _TYPE_WORDS.get(schema.types[0], "string")
    if schema.properties or schema.includes:
        return "object"
    return _several_types(schema, types) or ("string" if not schema.types and schema.choices else "any")


def _plain_word(schema: Schema) -> str:
    """Gives the type of a value that is not looked into."""
    if len(schema.types) == 1:
        return _TYPE_WORDS.get(schema.types[0], "string")
    if schema.types:
        return "any"
    if schema.choices and all(isinstance(choice, str) for choice in schema.choices):
        return "string"
    return "any" if schema.alternatives or schema.also or schema.choices else "object"


def _is_shown(schema: Schema, depth: int, properties: int) -> bool:
    """Tells whether the properties of an object are shown: few, or as many as may be where it is all that is sent."""
    if not schema.properties or schema.includes or depth >= DEPTH_LIMIT:
        return False
    return len(schema.properties) <= SHOWN_PROPERTIES or properties > SHOWN_PROPERTIES


def _several_types(schema: Schema, types: Mapping[str, Schema]) -> str | None:
    """Gives the types of a value that has several, as long as that is short."""
    if schema.alternatives:
        found = [_type_word(item, types, DEPTH_LIMIT) for item in schema.alternatives]
    else:
        found = [_TYPE_WORDS.get(name, "string") for name in schema.types]
    words = "|".join(dict.fromkeys(found))
    return words if found and "any" not in found and len(words) <= ALTERNATIVES_LIMIT else None


Way = Literal["sent", "returned", "both"]
"""Which way a value goes: what is only returned is not among what is sent, and the other way round."""


def going(parameters: Sequence[Parameter], way: Way) -> Sequence[Parameter]:
    """Gives the properties that go this way."""
    if way == "both" or not any(_is_left_out(item, way) for item in parameters):
        return parameters
    return [item for item in parameters if not _is_left_out(item, way)]


def left_out(parameters: Sequence[Parameter], way: Way) -> Sequence[Parameter]:
    """Gives the properties that go the other way only."""
    return [item for item in parameters if _is_left_out(item, way)] if way != "both" else []


def _is_left_out(parameter: Parameter, way: Way) -> bool:
    return parameter.schema.read_only if way == "sent" else parameter.schema.write_only


def whole_notes(schema: Schema, is_body: bool = False, *, has_parameters: bool = True) -> Markdown:
    """Says in sentences what the input of a tool must be as a whole, beyond its parameters."""
    if has_parameters:
        schema = _without_unnamed(schema)
    phrase = type_phrase(schema)
    lead = [] if phrase in ("any", "object") else [f"As a whole it is {phrase}."]
    end = [NO_OTHER_PROPERTIES] if is_body and schema.additional is False and not schema.properties else []
    return Markdown(" ".join([*lead, *value_notes(schema, False), *end]))


def whole_branches(schema: Schema, parameters: Sequence[Parameter], way: Way) -> tuple[Branch, ...]:
    """Gives what is nested in the input as a whole, whose parameters stand above it.

    Of its alternatives it gives the names of the properties that each has, with what each makes of them.
    """
    if parameters:
        schema = _without_unnamed(schema)
    if not any(item.properties for item in schema.alternatives):
        return branches(schema)
    known: dict[str, Schema | None] = {item.name: item.schema for item in parameters}
    if (telling := telling_property(schema.alternatives)) is not None:
        known |= {telling: None}
    found = [
        Branch(
            Markdown(label),
            Markdown(
                " ".join(
                    [
                        *schema_description(item, schema.description),
                        *_named_properties(item, known, way),
                        *_further_descriptions(item, parameters, way),
                        *value_notes(item, item.deprecated),
                    ]
                )
            ),
            branches=tuple(inner for inner in branches(item) if inner.label is not None),
        )
        for label, item in zip(alternative_labels(schema.alternatives), schema.alternatives, strict=True)
        if item.properties
    ]
    others = tuple(item for item in schema.alternatives if not item.properties)
    return (*found, *branches(replace(schema, alternatives=others)))


def _without_unnamed(schema: Schema) -> Schema:
    """Gives a schema without the properties that have no name: they stand with those that have one."""
    if not schema.patterns and not isinstance(schema.additional, Schema):
        return schema
    rest = None if isinstance(schema.additional, Schema) else schema.additional
    return replace(schema, patterns=None, additional=rest)


def _named_properties(schema: Schema, known: Mapping[str, Schema | None], way: Way) -> Iterator[str]:
    """Names the properties of one alternative that go this way, and says what each is where that is not yet known.

    Of one that is known to be `None` nothing more is said.
    """
    words = []
    for parameter in going(schema.properties, way):
        facts = ["required"] if parameter.required else []
        held = known.get(parameter.name, parameter.schema)
        if held is not None and held != parameter.schema:
            facts = [type_phrase(parameter.schema), *facts]
            facts += [note.rstrip(".") for note in value_notes(parameter.schema, False)]
        words.append(code(parameter.name) + (f" ({'; '.join(facts)})" if facts else ""))
    if words:
        yield f"{', '.join(words)}."


def _further_descriptions(schema: Schema, parameters: Sequence[Parameter], way: Way) -> Iterator[str]:
    """Yields the descriptions of the properties of one alternative that differ from those of the parameters."""
    known = {item.name: item.description for item in parameters}
    for item in going(schema.properties, way):
        text = item.description
        if text and join_texts(known.get(item.name), text) != known.get(item.name):
            yield f"{code(item.name)}: {inline(text)}{'.' if needs_stop(text) else ''}"
