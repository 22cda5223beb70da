"""How a tool is called: a call line, its parameters by where they are sent, and rules on the input as a whole.

What is only returned is not among what is sent, and the other way round (`Direction`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from skillgen.model.calls import Input
from skillgen.model.resource import Event
from skillgen.model.schema import Location, Parameter, Schema, is_open, takes_any_names, writable
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.render.commands import usage
from skillgen.render.phrases import FEW, once, phrase, phrases, usual_number
from skillgen.render.types import (
    NOTHING,
    Direction,
    adds_description,
    alternative_labels,
    as_list,
    branch_line,
    distinguishing_property,
    indented,
    item_of,
    nested,
    nested_lines,
    rows,
    schema_description,
    sent_parameters,
    type_phrase,
    unnamed_lines,
    value_notes,
    with_inline_type,
)
from skillgen.text.blocks import block
from skillgen.text.markdown import Markdown, code, inline, one_line, with_stop
from skillgen.text.summary import join_texts

_PARAGRAPHS = re.compile(r"\n[ \t\r]*\n")
"""Separates paragraphs; a text of several does not fit inside a line."""

_LOCATIONS: tuple[Location, ...] = (
    "argument", "path", "query", "header", "cookie", "body", "positional", "option", "global"
)  # fmt: skip
"""Where parameters are sent, in the order of their lists."""


class ParameterList(Struct, frozen=True):
    """Parameters that are sent in the same place."""

    label: Markdown
    """The line before the list."""

    parameters: tuple[Parameter, ...]
    """The parameters, in order."""

    whole: Schema | None = None
    """What they must be together."""

    is_typed: bool = False
    """True if the label already states the type of the input."""

    above: tuple[str, ...] = ()
    """The items of the body's recommended form, which another form only names."""

    def unnamed(self, way: Direction) -> Markdown:
        """Returns the properties that have no fixed name, which follow those that have one."""
        return as_list(unnamed_lines(self.whole, way)) if self.whole is not None else NOTHING

    @property
    def whole_notes(self) -> Markdown:
        """Sentences on the input as a whole, apart from its parameters."""
        if self.whole is None:
            return NOTHING
        schema = _without_unnamed(self.whole) if self.is_typed or self.parameters else self.whole
        words = type_phrase(schema)
        lead = [] if words in ("any", "object", phrase("empty_object")) else [phrase("as_a_whole", type=words)]
        return Markdown(" ".join([*lead, *value_notes(schema, False, "sent")]))

    def whole_parts(self, way: Direction) -> Markdown:
        """Returns what is nested in the input as a whole, below the list of its parameters.

        An alternative only names its properties, and has those that differ from that list.
        """
        if self.whole is None:
            return NOTHING
        schema = _without_unnamed(self.whole) if self.parameters else self.whole
        alternatives = tuple(map(with_inline_type, schema.alternatives))
        if not any(item.properties for item in alternatives):
            return nested(replace(schema, alternatives=alternatives), way)
        known = {item.name: item for item in self.parameters}
        distinguishing = distinguishing_property(alternatives)
        found: list[str] = []
        for label, item in zip(alternative_labels(alternatives), alternatives, strict=True):
            if not item.properties:
                continue
            sent = sent_parameters(item.properties, way)
            names = [code(one.name) + (f" ({phrase('required')})" if one.required else "") for one in sent]
            words = [*schema_description(item, schema.description), *([f"{', '.join(names)}."] if names else [])]
            words += value_notes(item, item.deprecated, way)
            others = [one for one in sent if one.name != distinguishing and _adds(one, known.get(one.name))]
            # What has a list of its own is in the list of the parameters, but for what this alternative says of it.
            nesting = {one.name: bool(nested_lines(one.schema, way)) for one in others}
            shown = [one for one in others if not nesting[one.name] or _says_more(one, known.get(one.name))]
            listed = rows([replace(one, schema=_OBJECT) if nesting[one.name] else one for one in shown], way)
            inner = [*listed.splitlines(), *nested_lines(item, way, has_own=False)]
            found += [branch_line(label, words, inner), *indented(inner)]
        rest = replace(schema, alternatives=tuple(item for item in alternatives if not item.properties))
        return as_list((*found, *nested_lines(rest, way)))


def parameter_lists(tool: Tool | Event) -> tuple[ParameterList, ...]:
    """Returns the parameters of a tool, or of a request that the service sends, by where they are sent."""
    if isinstance(tool, Event) or tool.parameters or tool.other_inputs:
        return _lists(tool)
    if tool.unread and not tool.is_input_declared:
        return ()
    whole = tool.input.schema if tool.input else None
    if whole is not None and takes_any_names(whole):
        kind = type_phrase(whole)
        label = phrase("takes_any", type=kind) if kind != "object" else phrase("takes_named")
        return (ParameterList(label, (), whole, is_typed=True),)
    if not tool.is_input_declared:
        name = "names_not_declared" if whole else "input_not_declared"
    else:
        may_take = is_open(tool.input_schema) or "{" in (tool.description or "")  # which shows arguments
        name = "declares_none" if tool.method is None and may_take else "takes_none"
    return (ParameterList(phrase(name), (), whole),)


@once
def lists_requests(service: Service) -> bool:
    """True if method and path distinguish the tools."""
    requests = [(tool.method, (tool.path or "").partition("#")[0].partition("?")[0]) for tool in service.tools]
    return service.kind == "openapi" and bool(requests) and len(set(requests)) == len(requests)


def label_of(tool: Tool, service: Service) -> Markdown:
    """Returns the name of a tool, or its request where SKILL.md lists requests."""
    return code(f"{tool.method} {tool.path}" if lists_requests(service) else tool.name)


def is_fixed(parameter: Parameter) -> bool:
    """True if a required parameter has one value only, which belongs to the request."""
    return parameter.required and parameter.schema.choices is not None and len(parameter.schema.choices) == 1


EXCEPTIONS = 5
"""Tools without it that are named, so that the lines of the others need not name the parameter."""


class SharedParameter(Struct, frozen=True, kw_only=True):
    """A parameter that most tools take, all in the same words."""

    parameter: Parameter
    """The parameter."""

    missing: tuple[Markdown, ...]
    """The tools that do not take it, if they are few: their names or requests."""

    leaves_lines: bool
    """Whether the lines of the tools do not name it."""

    @property
    def takers(self) -> tuple[bool, tuple[Markdown, ...], Location]:
        """Which tools take it, and where."""
        return not self.leaves_lines, self.missing, self.parameter.location


@once
def shared_parameters(service: Service) -> tuple[SharedParameter, ...]:
    """Returns the parameters that most tools take, and none takes otherwise: with the same lines in its section."""
    tools = [tool for tool in service.tools if not tool.is_preflight and not tool.command]
    least = usual_number(len(tools))
    takers: dict[tuple[str, Location], dict[str, Parameter]] = {}
    for tool in tools:
        for item in tool.parameters:
            if item.location != "path" and not item.schema.read_only:
                takers.setdefault((item.name, item.location), {})[tool.name] = item
    found = []
    for takes in takers.values():
        if len(takes) >= least and len({item_of(item, "sent") for item in takes.values()}) == 1:
            others = [tool for tool in tools if tool.name not in takes]
            is_clear = len(others) <= EXCEPTIONS
            missing = tuple(label_of(tool, service) for tool in others) if is_clear else ()
            item = next(iter(takes.values()))
            found.append(SharedParameter(parameter=item, missing=missing, leaves_lines=is_clear))
    return tuple(found)


def _by_location(item: Tool | Event) -> dict[Location, list[Parameter]]:
    """Returns the parameters by where they are sent, in the order of their lists."""
    found: dict[Location, list[Parameter]] = {}
    for parameter in item.parameters:
        found.setdefault(parameter.location, []).append(parameter)
    return {location: found[location] for location in _LOCATIONS if location in found}


def _lists(item: Tool | Event) -> tuple[ParameterList, ...]:
    by_location = _by_location(item)
    whole = item.input.schema if item.input is not None else None
    last = next((location for location in ("option", "positional") if location in by_location), None)
    rules = dict.fromkeys(("argument", "body", last), whole)
    lists = [ParameterList(_label(at, item), tuple(sent), rules.get(at)) for at, sent in by_location.items()]
    above = tuple(item_of(parameter, "sent") for parameter in by_location.get("body", ()) if item.other_inputs)
    lists += [ParameterList(_body_label(form), form.parameters, form.schema, above=above) for form in item.other_inputs]
    return tuple(lists)


def short_call(tool: Tool, service: Service) -> str:
    """Returns a call with what is required, `create_task(title*, …)`, or the request where SKILL.md lists requests."""
    if tool.command:
        return usage(tool, None)
    if lists_requests(service):
        return f"{tool.method} {tool.path}"
    sent = writable(tool.parameters)
    names = [f"{one_line(item.name)}*" for item in sent if item.required]
    has_more = len(names) < len(sent) or not (sent or takes_nothing(tool))
    return f"{tool.name}({', '.join([*names, *['…'] * has_more])})"


def takes_nothing(tool: Tool) -> bool:
    """True if a tool declares that it takes no parameters."""
    whole = tool.input.schema if tool.input else None
    return tool.is_input_declared and not (whole is not None and takes_any_names(whole))


def _label(location: Location, item: Tool | Event) -> Markdown:
    if item.input is None or location not in ("argument", "body"):
        return phrase("list_label", label=phrases("parameters_in")[location])
    if location == "argument":
        tool_description = item.description if isinstance(item, Tool) else None
        return _label_with_texts("argument", "", _input_description(item.input.schema, tool_description))
    form = item.input if isinstance(item, Tool) else replace(item.input, required=True)  # the service knows when
    return _body_label(form, item.parameters)


def _body_label(form: Input, parameters: tuple[Parameter, ...] | None = None) -> Markdown:
    """Returns the words before the properties of a body: its media types, whether it is optional, what it is.

    `parameters` are those of the recommended form; other forms have their own.
    """
    names = phrases("media_types")
    types = phrase("or_between").join(names.get(name) or code(name) for name in form.media_types if name)
    label = phrases("parameters_in")["body"]
    if parameters is None:
        label = phrase("body_or_as", types=types)
    elif types:
        label = phrase("body_as", types=types)
    in_body = [item for item in form.parameters or parameters or () if item.location == "body"]
    if not form.required and any(item.required for item in in_body):
        label = phrase("optional_body", label=label)
    if any(item.is_whole_body for item in in_body):
        return phrase("list_label", label=label)
    texts = [form.description] if form.description else []
    return _label_with_texts("body", label, [*texts, *_input_description(form.schema, form.description)])


def _input_description(schema: Schema | None, text: str | None) -> list[str]:
    """Returns the description of the input's type, unless `text` already says the same."""
    return [schema.description] if schema and schema.description and adds_description(schema, text) else []


def _label_with_texts(location: Location, label: str, texts: Sequence[str]) -> Markdown:
    """Returns a list's label with the description of the input."""
    label = phrase("list_label", label=label or phrases("parameters_in")[location])
    if any(_PARAGRAPHS.search(text.strip()) for text in texts):
        # A list at the end of the texts would merge with the list of the properties.
        about = "\n\n".join(str(block(text)) for text in texts)
        return Markdown(f"{phrases('about_parameters_in')[location]}\n\n{about}\n\n{label}")
    lines = [line for text in texts if (line := inline(text))]
    return Markdown(" ".join([label, *map(with_stop, lines[:-1]), *lines[-1:]]))


def _adds(parameter: Parameter, known: Parameter | None) -> bool:
    """True if there is more to say of a property than what is known of it."""
    return known is None or known.schema != parameter.schema or _says_more(parameter, known)


def _says_more(parameter: Parameter, known: Parameter | None) -> bool:
    said = known.description if known is not None else None
    return parameter.description is not None and join_texts(said, parameter.description) != said


_OBJECT = Schema(types=("object",))


def _without_unnamed(schema: Schema) -> Schema:
    """Returns a schema without the properties that have no fixed name, which are listed with the named ones."""
    has_unnamed = schema.patterns or schema.additional is not None
    return replace(schema, patterns=None, additional=None) if has_unnamed else schema


LONG = 200
"""Characters of an item from which `FEW` tools are enough."""


def usage_line(tool: Tool) -> Markdown:
    """Returns the complete usage of a command."""
    return code(usage(tool, None, is_complete=True))


def repeated(tools: Sequence[Tool]) -> list[str]:
    """Returns the items of parameters and headers that are written once for these tools, in their order."""
    counts = Counter(pair for tool in tools for pair in items_of(tool).items())
    least = usual_number(len(tools))
    found: dict[str, str] = {}
    for (item, name), count in counts.most_common():
        if count >= (FEW if len(item) > LONG else least):
            found.setdefault(name, item)  # sections name it, so that there is one of each name
    return [item for item, name in dict(counts) if found.get(name) == item]


@once
def items_of(tool: Tool) -> dict[str, str]:
    """Returns the items of the optional parameters and of the headers of a tool, each with its name."""
    lists = (*_by_location(tool).values(), *(form.parameters for form in tool.other_inputs))
    optional = (item for item in chain.from_iterable(lists) if not (item.required or item.schema.read_only))
    found = {item_of(item, "sent"): item for item in optional}
    outputs = (output for output in (tool.output, *tool.other_outputs) if output is not None)
    found |= {item_of(item, "returned"): item for output in outputs for item in output.headers}
    return {text: item.name for text, item in found.items() if not item.required}
