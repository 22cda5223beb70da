"""Lists of parameters and of what is nested in a value, in Markdown.

Neighbours of which there is no more to say than their types share a line. Optional parameters that many tools of a
group have in the same words are written once, above their sections (`repeated`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

from skillgen.model.schema import Parameter
from skillgen.model.tool import Tool
from skillgen.render.commands import usage
from skillgen.render.nested import Branch, branches
from skillgen.render.parameters import (
    parameter_lists,
    parameter_name,
    read_only_parameters,
    sent_parameters,
)
from skillgen.render.phrases import of_rendering, phrase
from skillgen.render.types import Direction, parameter_notes, parameter_type
from skillgen.text.markdown import Markdown, code, code_list, inline, needs_stop

MIN_TOOLS = 3
"""Tools that must have an item in the same words before it is written once."""

MOST = 0.8
"""Share of the tools of a group that must have it."""

LONG = 200
"""Characters of an item from which `MIN_TOOLS` are enough."""


def usage_line(tool: Tool) -> Markdown:
    """Returns the complete usage of a command."""
    return code(usage(tool, None, is_complete=True))


def rows(parameters: Sequence[Parameter], way: Direction = "both", above: Collection[str] = ()) -> Markdown:
    """Returns a list of parameters; those of which `above` has the item are only named, at its end."""
    return Markdown("".join(f"{line}\n" for line in _rows(parameters, way, above)))


def nested(parts: Iterable[Branch], way: Direction = "both") -> Markdown:
    """Returns the list of what is nested in a value."""
    return Markdown("".join(f"{line}\n" for line in _nested(parts, way)))


def item_of(parameter: Parameter, way: Direction) -> str:
    """Returns the lines of one parameter, without a line break at the end."""
    return of_rendering((item_of, way), parameter, lambda: "\n".join(_item(parameter, way)))


def repeated(tools: Sequence[Tool]) -> list[str]:
    """Returns the items of optional parameters that are written once for these tools, in their order."""
    counts = Counter(pair for tool in tools for pair in items_of(tool).items())
    least = max(MIN_TOOLS, MOST * len(tools))
    found: dict[str, str] = {}
    for (item, name), count in counts.most_common():
        if count >= (MIN_TOOLS if len(item) > LONG else least):
            found.setdefault(name, item)  # sections name it, so that there is one of each name
    return [item for item, name in dict(counts) if found.get(name) == item]


def items_of(tool: Tool) -> dict[str, str]:
    """Returns the items of the optional parameters of a tool, each with its name."""

    def items() -> dict[str, str]:
        parameters = (item for part in parameter_lists(tool) for item in sent_parameters(part.parameters, "sent"))
        return {item_of(item, "sent"): item.name for item in parameters if not item.required}

    return of_rendering(items_of, tool, items)


def _rows(parameters: Sequence[Parameter], way: Direction, above: Collection[str]) -> Iterator[str]:
    plain: list[str] = []
    named: list[str] = []
    for parameter in sent_parameters(parameters, way):
        item = item_of(parameter, way)
        if item in above and not parameter.required:
            named.append(code(parameter.name))
        elif item.endswith(")") and "\n" not in item and item == f"- {_head(parameter, way)}":
            plain.append(item.removeprefix("- "))
        else:
            if plain:
                yield f"- {', '.join(plain)}"
                plain.clear()
            yield item
    if plain:
        yield f"- {', '.join(plain)}"
    if named:
        yield f"- {phrase('also_above', names=', '.join(named))}"
    if left := read_only_parameters(parameters, way):
        name = "only_returned" if way == "sent" else "only_sent"
        yield f"- {phrase(name, names=code_list(item.name for item in left))}"


def _head(parameter: Parameter, way: Direction) -> str:
    required = f", {phrase('required')}" if parameter.required and way != "returned" else ""
    return f"{parameter_name(parameter)} ({parameter_type(parameter)}{required})"


def _item(parameter: Parameter, way: Direction) -> Iterator[str]:
    words = inline(parameter.description or "")
    notes = parameter_notes(parameter, way)
    line = f"- {_head(parameter, way)}" + (f": {words}" if words else "")
    if notes:
        line += f"{'.' if words and needs_stop(words) else '' if words else ':'} {notes}"
    yield line
    yield from _indented(_nested(branches(parameter.schema, way), way))


def _nested(parts: Iterable[Branch], way: Direction) -> Iterator[str]:
    for part in parts:
        inner = _rows(part.parameters, way, ())
        if part.label:
            yield f"- {part.line}"
            inner = _indented(inner)
        yield from inner
        yield from _indented(_nested(part.branches, way))


def _indented(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield "  " + line.replace("\n", "\n  ")
