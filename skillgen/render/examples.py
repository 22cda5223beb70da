"""Which example calls of a tool are shown, and how they are introduced."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from urllib.parse import quote

from skillgen.markdown.filters import Markdown, code, exact_json_text, inline
from skillgen.markdown.invisible import visible
from skillgen.model.exchange import Example, Output, Request
from skillgen.model.tool import Tool
from skillgen.model.value import Json
from skillgen.model.wire import is_json

ONE_LIMIT = 3_000
"""Bytes of an example, as shown; a longer one is not."""

OUTPUT_LIMIT = 1_500
"""Bytes of a result, as shown; a longer one is not. Its shape is documented without it."""

ALL_LIMIT = 5_000
"""Bytes of all examples of a tool; the first is always shown."""

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_OPTION = re.compile(r"\s--?[\w-]+[ =]\{(\w+)\}(?=\s|$)")
_QUERY = re.compile(r"(?<=[?&])[\w-]+=\{(\w+)\}&?")

LINE_LIMIT = 100
"""Characters of JSON that stand on one line."""


Command = Callable[[Tool, Request], str]
"""Gives a request as a command."""


@dataclass(frozen=True, slots=True)
class ShownExample:
    """An example as a document has it."""

    label: Markdown
    """What stands before it."""

    language: str
    """Of its code block: `json`, or `sh` for a command."""

    text: str
    """The arguments as JSON, or the request as a command."""

    output: str | None
    """What comes back, as JSON."""


@dataclass(frozen=True, slots=True)
class ShownExamples:
    """The example calls of a tool as a document has them."""

    calls: tuple[ShownExample, ...]
    """Those that are shown."""

    left_out: Markdown | None
    """Names the others."""


def shown_examples(tool: Tool, command: Command) -> ShownExamples:
    """Returns the examples that are short enough, those that can be sent first."""
    shown: list[ShownExample] = []
    size = 0
    left_out: list[Example] = []
    for example in sorted(tool.examples, key=lambda example: example.flaw is not None):
        language = "json" if example.request is None else "sh"
        text = example_json(example.input) if example.request is None else command(tool, example.request)
        size += len(text.encode())
        if len(text.encode()) > ONE_LIMIT or (shown and size > ALL_LIMIT):
            left_out.append(example)
            continue
        shown.append(ShownExample(_label(example, has_others=len(tool.examples) > 1), language, text, _output(example)))
    return ShownExamples(tuple(shown), _left_out(left_out))


def _left_out(examples: list[Example]) -> Markdown | None:
    """Returns a sentence that names examples; `None` where none has a name."""
    names = [
        code(item.name) + (f" ({inline(item.description)})" if item.description else "")
        for item in examples
        if item.name
    ]
    return Markdown(f"Other declared examples, too long to be shown here: {', '.join(names)}.") if names else None


def output_example(output: Output) -> ShownExample | None:
    """Returns the first result that the source shows and that is short enough."""
    for example in output.examples:
        data = example.value.json
        is_text = isinstance(data, str) and example.media_type is not None and not is_json(example.media_type)
        text = data if isinstance(data, str) and is_text else example_json(data)
        if text.strip() and len(text.encode()) <= OUTPUT_LIMIT:
            words = f": {inline(example.description)}" if example.description else ":"
            return ShownExample(Markdown(f"Example result{words}"), "" if is_text else "json", text, None)
    return None


def filled_command(tool: Tool) -> str | None:
    """Gives the command that does the same, with the values of an example in it; `None` where it lacks one.

    An option for a parameter that may be left out goes with it.
    """
    return _filled(tool, tool.cli_equivalent, shlex.quote, _OPTION)


def filled_request(tool: Tool) -> str | None:
    """Gives the HTTP request that does the same, with the values of an example in it; `None` where it lacks one."""
    return _filled(tool, tool.api_equivalent, partial(quote, safe=""), _QUERY)


def _filled(tool: Tool, text: str | None, written: Callable[[str], str], option: re.Pattern[str]) -> str | None:
    example = next((example for example in tool.examples if example.flaw is None), None)
    if text is None or example is None or not isinstance(example.input, dict):
        return None
    words = {name: _word(example.input[name]) for name in example.input}
    optional = {item.name for item in tool.parameters if not item.required}
    text = option.sub(lambda match: "" if match[1] in optional and match[1] not in words else match[0], text)
    names = _PLACEHOLDER.findall(text)
    if not names or any(words.get(name) is None for name in names):
        return None
    return _PLACEHOLDER.sub(lambda match: written(words[match[1]] or ""), text).rstrip("?&")


def _word(value: Json) -> str | None:
    """Gives a value as one word of a command or an address; `None` where that can't be written."""
    if isinstance(value, (dict, list)) or value is None:
        return None
    word = value if isinstance(value, str) else exact_json_text(value)
    is_plain = visible(word) == word and "\n" not in word and not word.startswith("-")
    return word if word and is_plain else None


def example_json(data: Json) -> str:
    """Gives a value as exact JSON: on one line where that is short, else indented."""
    line = exact_json_text(data)
    return line if len(line) <= LINE_LIMIT else exact_json_text(data, indent=2)


def _label(example: Example, *, has_others: bool) -> Markdown:
    lead = "Example"
    if example.flaw is not None:
        lead = f"Declared example that the schema does not allow ({inline(example.flaw)})"
    elif not example.is_declared:
        lead = f"Example, {'partly ' if example.name is not None else ''}made from the schema"
    if example.description:
        return Markdown(f"{lead}: {inline(example.description)}")
    return Markdown(f"{lead}: {code(example.name)}" if example.name and has_others else f"{lead}:")


def _output(example: Example) -> str | None:
    if example.output is None:
        return None
    text = example_json(example.output.json)
    return text if len(text.encode()) <= ONE_LIMIT else None
