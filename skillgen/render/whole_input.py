"""What the input of a tool must be as a whole, beyond what is said of its parameters one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from skillgen.markdown.filters import Markdown, code, inline
from skillgen.markdown.sentences import joined_texts
from skillgen.model.schema import Parameter, Schema
from skillgen.render.alternatives import alternative_labels, telling_property
from skillgen.render.branches import Branch, branches
from skillgen.render.directions import Way, going
from skillgen.render.effects import needs_stop
from skillgen.render.further_words import further_words
from skillgen.render.limits import NO_OTHERS
from skillgen.render.type_phrases import type_phrase
from skillgen.render.value_notes import value_notes


def whole_notes(schema: Schema, is_body: bool = False, *, has_parameters: bool = True) -> Markdown:
    """Says in sentences what the input of a tool must be as a whole, beyond its parameters."""
    if has_parameters:
        schema = _without_unnamed(schema)
    phrase = type_phrase(schema)
    lead = [] if phrase in ("any", "object") else [f"As a whole it is {phrase}."]
    end = [NO_OTHERS] if is_body and schema.additional is False and not schema.properties else []
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
                        *further_words(item, schema.description),
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
        if text and joined_texts(known.get(item.name), text) != known.get(item.name):
            yield f"{code(item.name)}: {inline(text)}{'.' if needs_stop(text) else ''}"
