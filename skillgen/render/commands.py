"""Commands of a program: their usage on one line, and calls with values, as a POSIX shell reads them.

A word from a source is quoted where the shell would not take it literally. Options precede positional arguments.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence

from skillgen.model.schema import CommandSyntax, Parameter, Schema
from skillgen.model.tool import Tool
from skillgen.model.values import Json
from skillgen.render.phrases import phrase
from skillgen.text.markdown import Markdown, code_list, exact_json_text, inline, one_line

_CHOICES_LIMIT = 40
"""Characters of the choices of a value in a usage line."""


def usage(tool: Tool, shown: int | None, *, is_complete: bool = False) -> str:
    """Returns the usage of a command: `acme registry build PACKAGE --out DIR [--json]`.

    `shown` limits the parameters, unless more are required or positional; `[…3]` means three more. If it is `None`,
    only those are shown, or with `is_complete` all.
    """
    if tool.usage is not None:
        return one_line(tool.usage)
    needed = [item for item in tool.parameters if item.required or item.location == "positional"]
    optional = [item for item in tool.parameters if item not in needed and (is_complete or not item.deprecated)]
    kept = optional if is_complete else optional[: max((shown or 0) - len(needed), 0)]
    listed = [item for item in tool.parameters if item in (*needed, *kept)]
    left = len(tool.parameters) - len(listed)
    words = [*_with_globals(tool, {item.name: [_usage_of(item)] for item in listed})]
    words += [_usage_of(item) for item in listed if item.location == "option"]
    words += [f"[…{left}]" if shown is not None else "…"] if left else []
    words += [] if listed or tool.is_input_declared else ["…"]
    words += [_usage_of(item) for item in listed if item.location == "positional"]
    return " ".join(words)


def _with_globals(tool: Tool, written: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yields the words of a command, quoted, and after each the global parameters that have their place there."""
    for count, word in enumerate(tool.command, 1):
        yield shlex.quote(one_line(word))
        for item in tool.parameters:
            if item.location == "global" and _syntax(item).after == count:
                yield from written.get(item.name, ())


def _usage_of(parameter: Parameter) -> str:
    syntax, name = _syntax(parameter), one_line(_word(parameter))
    value = _value_of(parameter)
    if not _is_named(parameter) and "[" in value:  # the help's own syntax
        return value
    if syntax.values is None:
        has_least = bool((parameter.schema.constraints or {}).get("minItems"))
        is_needed = parameter.required or not _is_named(parameter) or has_least
        value = f"{value}..." if is_needed else f"[{value}...]"
    elif syntax.values > 1 and " " not in value:
        value = " ".join([value] * syntax.values)
    if syntax.is_value_optional:
        value = f"[{value}]"
    flags = "|".join((name, *sorted(syntax.negations, key=lambda other: not other.startswith("--"))[:1]))
    words = flags if syntax.is_flag else f"{name} {value}" if _is_named(parameter) else value
    words = words if parameter.required else f"[{words}]"
    return f"{words}..." if syntax.is_repeatable else words


def _value_of(parameter: Parameter) -> str:
    choices = innermost(parameter.schema).choices or ()
    words = ",".join(str(choice) for choice in choices)
    is_short = 0 < len(words) <= _CHOICES_LIMIT and words.isascii() and not set(words) & set(" {}|`")
    return f"{{{words}}}" if is_short else one_line(_syntax(parameter).value or "")


def innermost(schema: Schema) -> Schema:
    """Returns the schema of one value."""
    while schema.items is not None:
        schema = schema.items
    return schema


def _is_named(parameter: Parameter) -> bool:
    return _word(parameter).startswith("-") or _syntax(parameter).is_flag or bool(_syntax(parameter).aliases)


_SYNTAX = CommandSyntax()


def _syntax(parameter: Parameter) -> CommandSyntax:
    return parameter.syntax or _SYNTAX


def _word(parameter: Parameter) -> str:
    """Returns the name of an option in a call."""
    return _syntax(parameter).word or parameter.name


def command_line(tool: Tool, arguments: Mapping[str, Json]) -> str:
    """Returns a call with these arguments, which a POSIX shell splits into exactly its words."""
    written = {item.name: [*_words(item, arguments[item.name])] for item in tool.parameters if item.name in arguments}
    quoted = {name: list(map(shlex.quote, words)) for name, words in written.items()}
    options = [item for item in tool.parameters if item.location == "option" and item.name in written]
    positional = [
        word for item in tool.parameters if item.location == "positional" for word in written.get(item.name, ())
    ]
    takes_next = bool(options) and (_syntax(options[-1]).values is None or _syntax(options[-1]).is_value_optional)
    separator = ["--"] if positional and (takes_next or any(word.startswith("-") for word in positional)) else []
    words = [*_with_globals(tool, quoted), *(word for item in options for word in quoted[item.name])]
    return " ".join([*words, *separator, *map(shlex.quote, positional)])


def _words(parameter: Parameter, value: Json) -> Iterator[str]:
    """Yields the words of one parameter."""
    syntax, name = _syntax(parameter), _word(parameter)
    if syntax.is_flag:
        count = value if type(value) is int else 1
        flag = name if value else next(iter(syntax.negations), None)
        yield from [flag] * count if flag is not None else []
        return
    several = value if isinstance(value, list) else [value]
    for group in several if syntax.is_repeatable and syntax.values == 1 else [several]:
        words = [item if isinstance(item, str) else exact_json_text(item) for item in _flat(group)]
        if not _is_named(parameter):
            yield from words
        elif len(words) == 1 and words[0].startswith("-"):
            yield f"{name}={words[0]}" if name.startswith("--") else f"{name}{words[0]}"
        else:
            yield from (name, *words)


def _flat(value: Json) -> Iterator[Json]:
    if isinstance(value, list):
        for item in value:
            yield from _flat(item)
    else:
        yield value


def syntax_notes(parameter: Parameter) -> Iterator[Markdown]:
    """Yields sentences on how a parameter is written, and what happens without it."""
    syntax = parameter.syntax
    if syntax is None:
        return
    if syntax.aliases:
        yield phrase("also_written", names=code_list(syntax.aliases))
    if syntax.negations:
        yield phrase("turned_off", names=code_list(syntax.negations, phrase("or_between")))
    if syntax.is_repeatable:
        yield phrase("repeatable")
    elif syntax.values is None:
        yield phrase("some_values" if parameter.required else "values_follow")
    if syntax.is_value_optional:
        yield phrase("value_optional")
    if syntax.variables:
        yield phrase("set_by_variable", names=code_list(syntax.variables, phrase("or_between")))
    if syntax.prompt:
        yield phrase("asks_without", prompt=inline(syntax.prompt))
