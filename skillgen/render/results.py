"""Says in words what comes back from a call that succeeds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from skillgen.markdown.filters import Markdown, code, inline, value
from skillgen.model.exchange import Link, Output
from skillgen.model.tool import Tool
from skillgen.render.further_words import further_words
from skillgen.render.limits import stopped
from skillgen.render.links import tool_link
from skillgen.render.type_phrases import type_phrase
from skillgen.render.value_notes import parameter_notes

_JSON = "application/json"

_UNSAID = (None, "default")
"""What is no status of its own."""

SHORT = 40
"""Characters of a description that only says in words what its status says: `Created`."""


def output_facts(output: Output) -> Markdown:
    """Gives the status and, beside plain JSON, the media types."""
    facts: list[str] = [inline(output.status)] if output.status else []
    return Markdown(", ".join([*facts, *media_type_facts(output)]))


def media_type_facts(output: Output) -> Iterator[str]:
    """Gives the media types, where there are any beside plain JSON."""
    others = ", ".join(code(name) for name in output.media_types if name and name != _JSON)
    if others:
        yield f"also {others}" if _JSON in output.media_types else others


def output_words(output: Output) -> Markdown:
    """Gives what is said of a result, and then of its shape."""
    words = [str(inline(output.description))] if output.description else []
    for more in further_words(output.schema, output.description) if output.schema is not None else ():
        words = [*map(stopped, words), more]
    return Markdown(" ".join(words))


def has_plain_headers(output: Output) -> bool:
    """Tells whether nothing is to be said of the headers but their names."""
    return all(
        not item.description and not parameter_notes(item) and type_phrase(item.schema) in ("string", "any")
        for item in output.headers
    )


def link_line(link: Link) -> Markdown:
    """Says what can be called next with a response."""
    name = link.operation or link.name
    target = tool_link(name) if link.operation and "/" not in link.operation.partition("#")[2] else code(name)
    words = f"Next: {target}"
    if link.parameters:
        words += " with " + ", ".join(f"{code(key)} = {value(item)}" for key, item in link.parameters.items())
    return Markdown(f"{words}. {stopped(inline(link.description))}" if link.description else f"{words}.")


def returned_outputs(tool: Tool) -> tuple[Output, ...]:
    """Gives what can come back from a call; what several statuses share in every word but a short phrase, once."""
    found: list[list[Output]] = []
    first = tool.output
    if first is not None and (first.schema or first.description or first.headers or first.status not in _UNSAID):
        found.append([first])
    for output in tool.other_outputs:
        held = next((outputs for outputs in found if _goes_with(outputs[0], output)), None)
        if held is None:
            found.append([output])
        else:
            held.append(output)
    return tuple(_received(outputs[0] if len(outputs) == 1 else _merged(outputs)) for outputs in found)


def _received(output: Output) -> Output:
    """Gives a result without what concerns sending it."""
    schema = output.schema
    return replace(output, schema=replace(schema, read_only=False)) if schema and schema.read_only else output


def _goes_with(one: Output, other: Output) -> bool:
    is_short = all(len(item.description or "") <= SHORT for item in (one, other))
    has_same_words = one.description == other.description or is_short
    has_statuses = bool(one.status and other.status and one.status[0] == other.status[0])
    return has_statuses and has_same_words and one.raw == other.raw and _facts(one) == _facts(other)


def _facts(output: Output) -> tuple[object, ...]:
    """Gives what is said of a result beside its shape, in words: pointers differ wherever it stands."""
    return output.media_types, header_facts(output), [link_line(link) for link in output.links]


def header_facts(output: Output) -> list[tuple[object, ...]]:
    """Gives what is said of headers, in words: those of two results that agree in it are told once."""
    return [(item.name, item.description, type_phrase(item.schema), parameter_notes(item)) for item in output.headers]


def _merged(outputs: list[Output]) -> Output:
    descriptions = list(dict.fromkeys(item.description for item in outputs if item.description))
    statuses = _either([item.status for item in outputs if item.status])
    examples = tuple(example for item in outputs for example in item.examples)
    return replace(outputs[0], status=statuses, description=_either(descriptions) or None, examples=examples)


def _either(words: list[str]) -> str:
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1] if words else ""]))
