"""A Schema in words.

Tells quickly what a schema holds, so that of most values no more is asked than the word for their type.

Says in a few words what a value may be: `array of [Task](…) or null`.

Links to named types are targets, resolved when it is known in which file the text stands (`links`).

Says in sentences what bounds a value, apart from what is nested in it: choices, default, limits, rules.

What a schema says of itself, beside what is said of the place where it stands.

Says in words how a value is written into a request, where that is not the default.

Says which value of a property means which type.

Says in sentences what a value must be: of a parameter, a named type, an output, and of their items or values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Literal
from urllib.parse import unquote

from skillgen.model.schema import Condition, Discriminator, Parameter, Schema, Serialization
from skillgen.model.serialization import (
    LINES,
    QUERY_STRING,
    RECORDS,
    cookie_text,
    header_text,
    is_exploded,
    path_segment,
    query_pairs,
)
from skillgen.model.values import Json
from skillgen.render.pages import type_link
from skillgen.render.semantics import needs_stop
from skillgen.text.markdown import Markdown, code, exact_code, inline, value


def is_bare(schema: Schema) -> bool:
    """Tells whether its types say all of what a value is, but for properties, rules and limits."""
    return not (
        schema.nullable
        or schema.format
        or schema.ref
        or schema.includes
        or schema.also
        or schema.alternatives
        or schema.items
        or schema.prefix_items
        or isinstance(schema.additional, Schema)
    )


def has_no_rules(schema: Schema) -> bool:
    """Tells whether nothing is asked of parts of a value or of a value as a whole, for which there is no short word."""
    return not (schema.patterns or schema.contains or schema.content or schema.excluded or schema.conditions)


def is_container(schema: Schema, field: Literal["items", "additional"]) -> bool:
    """Tells whether all that is nested in a value are its items, or its values."""
    other = isinstance(schema.additional, Schema) if field == "items" else schema.items is not None
    return not (
        other
        or schema.properties
        or schema.alternatives
        or schema.also
        or schema.prefix_items
        or not has_no_rules(schema)
    )


def says_nothing(schema: Schema) -> bool:
    """Tells quickly that there is no sentence to say."""
    return (
        schema.choices is None
        and schema.default is None
        and schema.constraints is None
        and not schema.examples
        and schema.items is None
        and schema.additional is None
        and schema.ref is None
        and is_bare(schema)
        and has_no_rules(schema)
        and not (schema.required or schema.property_names or schema.discriminator)
        and not (schema.read_only or schema.write_only)
    )


ALTERNATIVES_SHOWN = 12
"""Alternatives in the words for a type; where there are more, a sentence has them all."""

PLAIN: dict[tuple[str, ...], Markdown] = {
    (name,): Markdown(name) for name in ("string", "integer", "number", "boolean", "object", "array")
}
"""Types that one word says, where nothing stands beside them."""


def type_phrase(schema: Schema) -> Markdown:
    """Says in a few words what a value may be: `array of [Task](…) or null`."""
    if schema.types in PLAIN and is_bare(schema):
        return PLAIN[schema.types]
    phrase = _core_phrase(schema)
    if not schema.nullable or phrase == "null":
        return Markdown(phrase)
    return Markdown(f"({phrase}) or null" if " and " in phrase else f"{phrase} or null")


def distinct_phrases(alternatives: Sequence[Schema]) -> list[str]:
    """Gives the types of alternatives, each once, in their order."""
    return list(dict.fromkeys(str(type_phrase(item)) for item in alternatives))


def _core_phrase(schema: Schema) -> str:
    parts: list[str] = [type_link(schema.ref)] if schema.ref is not None else []
    parts += [type_link(name) for name in schema.includes]
    parts += [phrase for item in schema.also if (phrase := type_phrase(item)) not in ("any", "object")]
    choice = _alternatives_phrase(schema.alternatives) if schema.alternatives else "any"
    if choice not in ("any", "object"):
        parts.append(f"({choice})" if parts and " or " in choice else choice)
    if not parts:
        own = _own_phrase(schema)
        return choice if own == "any" else own
    joined = " and ".join(parts)
    if not schema.properties:
        return joined
    return f"{joined}, with more properties" if " or " in joined else f"{joined} with more properties"


def _own_phrase(schema: Schema) -> str:
    types = schema.types or tuple(_implied_types(schema))
    if not types:
        phrase = _choices_phrase(schema.choices or ())
    else:
        phrase = " or ".join(_words_of_type(name, schema) for name in types)
    return f"{phrase} ({inline(schema.format)})" if schema.format else phrase


def _implied_types(schema: Schema) -> Iterator[str]:
    """Gives the types of which a schema speaks, where it declares none."""
    if schema.properties or schema.required or schema.patterns or schema.additional is not None:
        yield "object"
    if schema.items is not None or schema.prefix_items or schema.contains is not None:
        yield "array"


def _words_of_type(name: str, schema: Schema) -> str:
    if name == "array":
        return _array_phrase(schema)
    if name == "object" and isinstance(schema.additional, Schema) and not schema.properties and not schema.patterns:
        return f"map of string to {_grouped(schema.additional)}"
    return str(inline(name))


def _array_phrase(schema: Schema) -> str:
    none = schema.items is not None and schema.items.choices == ()
    if schema.prefix_items:
        first = ", ".join(type_phrase(item) for item in schema.prefix_items)
        most = (schema.constraints or {}).get("maxItems")
        if none or (type(most) is int and most <= len(schema.prefix_items)):
            return f"array of exactly: {first}"
        if schema.items is not None:
            return f"array of: {first}, then any number of {_grouped(schema.items)}"
        return f"array that begins with: {first}"
    if schema.items is None:
        return "array"
    return "empty array" if none else f"array of {_grouped(schema.items)}"


def _grouped(schema: Schema) -> str:
    phrase = type_phrase(schema)
    return f"({phrase})" if " or " in phrase else str(phrase)


def _choices_phrase(choices: tuple[Json, ...]) -> str:
    """Gives the types of the values that are allowed, where no type is declared."""
    kinds = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}
    return " or ".join(dict.fromkeys(kinds.get(type(choice), "null") for choice in choices)) or "any"


def _alternatives_phrase(alternatives: Sequence[Schema]) -> str:
    phrases = distinct_phrases(alternatives)
    return " or ".join(phrases) if len(phrases) <= ALTERNATIVES_SHOWN else f"one of {len(phrases)} types"


NO_OTHERS = "No other properties."
"""The sentence on an object that allows no properties but its own."""

_ANYTHING = Schema()
_BOUNDS = (
    ("minimum", "maximum", ""),
    ("minLength", "maxLength", " characters"),
    ("minItems", "maxItems", " items"),
    ("minProperties", "maxProperties", " properties"),
)


def limits(schema: Schema, deprecated: bool = False) -> Iterator[str]:
    """Gives what bounds a value itself, a sentence each."""
    if deprecated:
        yield "Deprecated."
    if schema.choices is not None and not is_null(schema):
        yield _choices_note(schema.choices)
    if schema.default is not None:
        yield f"Default: {value(schema.default.json)}."
    if schema.constraints:
        yield from _constraint_notes(schema)
    if schema.additional is False and schema.properties:
        yield NO_OTHERS
    if schema.required:
        yield f"Also required: {names(schema.required)}."
    if needed := _one_of_names(schema):
        yield needed
    if schema.excluded is not None and (words := excluded_words(schema.excluded)):
        yield f"{words}."
    for condition in schema.conditions:
        yield from simple_rules(condition)
    if schema.read_only:
        yield "Read-only: not sent to the service."
    if schema.write_only:
        yield "Write-only: not sent by the service."
    if schema.examples:
        yield f"Example: {value(schema.examples[0])}."


def is_null(schema: Schema) -> bool:
    """Tells whether null is the only value."""
    return schema.choices == (None,) and not schema.types


def names(found: Iterable[str], separator: str = ", ") -> str:
    """Gives names as code."""
    return separator.join(code(name) for name in found)


def required_alternatives(schema: Schema) -> bool:
    """Tells whether the alternatives differ in nothing but which properties must be there."""
    return bool(schema.alternatives) and all(
        item.required and replace(item, required=(), types=()) == _ANYTHING for item in schema.alternatives
    )


def excluded_words(schema: Schema) -> str | None:
    """Says in a few words what a value must not be; `None` where that takes more."""
    if schema.choices and replace(schema, choices=None, types=(), nullable=False) == _ANYTHING:
        lead = "Not one of" if len(schema.choices) > 1 else "Not"
        return f"{lead} {', '.join(value(choice) for choice in schema.choices)}"
    if schema.types and replace(schema, types=(), nullable=False) == _ANYTHING:
        return f"Not {' or '.join(inline(name) for name in schema.types)}"
    if schema.required and replace(schema, required=(), types=()) == _ANYTHING:
        return f"Not with {names(schema.required, ' and ')}" + (" together" if len(schema.required) > 1 else "")
    if schema.constraints and "pattern" in schema.constraints and len(schema.constraints) == 1:
        if replace(schema, constraints=None, types=()) == _ANYTHING:
            return f"Does not match {exact_code(str(schema.constraints['pattern']))}"
    return None


def condition_words(schema: Schema) -> str | None:
    """Says in a few words when a rule holds: "`kind` is `x`"; `None` where that takes more."""
    if replace(schema, properties=(), required=(), types=()) != _ANYTHING:
        return None
    found = []
    for item in schema.properties:
        if item.schema.choices and replace(item.schema, choices=None, types=()) == _ANYTHING:
            lead = " is one of " if len(item.schema.choices) > 1 else " is "
            words = code(item.name) + lead + ", ".join(value(choice) for choice in item.schema.choices)
            found.append(words if item.required else f"{words} or absent")
        elif item.schema == _ANYTHING and item.required:
            found.append(f"{code(item.name)} is there")
        else:
            return None
    found.extend(f"{code(name)} is there" for name in schema.required)
    return " and ".join(found) or None


def is_simple(schema: Schema | None) -> bool:
    """Tells whether all that a rule asks for is that properties are there or not."""
    return schema is None or _rule_words(schema) is not None


def simple_rules(condition: Condition) -> Iterator[str]:
    """Says a rule in a sentence, where that is enough."""
    when = condition_words(condition.when)
    if when is None or not (is_simple(condition.then) and is_simple(condition.otherwise)):
        return
    if condition.then is not None:
        yield f"If {when}, {_rule_words(condition.then)}."
    if condition.otherwise is not None:
        yield f"Unless {when}, {_rule_words(condition.otherwise)}."


def _rule_words(schema: Schema) -> str | None:
    if schema.required and replace(schema, required=(), types=()) == _ANYTHING:
        return f"{names(schema.required, ' and ')} {'is' if len(schema.required) == 1 else 'are'} required"
    if schema.excluded is not None and replace(schema, excluded=None, types=()) == _ANYTHING:
        inner = schema.excluded
        if len(inner.required) == 1 and replace(inner, required=(), types=()) == _ANYTHING:
            return f"{names(inner.required)} must not be there"
    return None


def _one_of_names(schema: Schema) -> str | None:
    if not required_alternatives(schema):
        return None
    lead = "Exactly one" if schema.is_exclusive else "At least one"
    if all(len(item.required) == 1 for item in schema.alternatives):
        return f"{lead} of {names(item.required[0] for item in schema.alternatives)} is required."
    return f"{lead} of these is required: {'; '.join(names(item.required, ' and ') for item in schema.alternatives)}."


def led(lead: str, sentences: Iterable[str]) -> Iterator[str]:
    """Says the same of something nested: `Each item: at most 3 characters.`"""
    for sentence in sentences:
        words = f"{sentence[0].lower()}{sentence[1:]}"
        if sentence.startswith(("Each item", "Each value")):
            noun = sentence.split(maxsplit=2)[1].rstrip(":")
            yield f"Each {noun} of {lead.lower()}{sentence.removeprefix(f'Each {noun}')}"
        elif sentence.startswith("One of "):
            yield f"{lead} {words}"
        elif sentence.startswith("Always "):
            yield f"{lead} is {words}"
        elif sentence.startswith("Example: "):
            yield f"{lead} such as {sentence.removeprefix('Example: ')}"
        elif sentence != NO_OTHERS:
            yield f"{lead}: {words}"


def stopped(text: str) -> str:
    """Gives words as a sentence."""
    return f"{text}." if needs_stop(text) else text


def _choices_note(choices: tuple[Json, ...]) -> str:
    if not choices:
        return "No value is allowed."
    if len(choices) == 1:
        return f"Always {value(choices[0])}."
    return f"One of {', '.join(value(choice) for choice in choices)}."


def _constraint_notes(schema: Schema) -> Iterator[str]:
    constraints = schema.constraints or {}
    is_array = schema.items is not None or "array" in schema.types
    for low, high, unit in _BOUNDS:
        if low in constraints or high in constraints:
            yield _range_note(constraints.get(low), constraints.get(high), unit)
    if "exclusiveMinimum" in constraints:
        yield f"More than {value(constraints['exclusiveMinimum'])}."
    if "exclusiveMaximum" in constraints:
        yield f"Less than {value(constraints['exclusiveMaximum'])}."
    if "multipleOf" in constraints:
        yield f"A multiple of {value(constraints['multipleOf'])}."
    if "pattern" in constraints:
        yield f"Matches {exact_code(str(constraints['pattern']))}."
    if "uniqueItems" in constraints and is_array:
        yield "No item twice."
    if "contentMediaType" in constraints:
        yield f"Holds {code(str(constraints['contentMediaType']))}."
    if isinstance(xml := constraints.get("xml"), dict):
        yield from _xml_note(xml, is_array)


def _xml_note(xml: dict[str, Json], is_array: bool) -> Iterator[str]:
    """Says how a value stands in XML (OpenAPI 3.2, "XML Object")."""
    node = xml.get("nodeType")
    is_wrapped = xml.get("wrapped") is True or (is_array and node == "element")
    words = []
    if xml.get("attribute") is True or node == "attribute":
        words.append("an attribute")
    elif node in ("text", "cdata"):
        words.append("the text of the element around it")
    elif is_wrapped:
        words.append("its items stand within an element of their own")
    if isinstance(xml.get("name"), str) and (is_wrapped or not is_array):  # a list has no element otherwise
        words.append(f"called {code(xml['name'])}")
    for key, lead in (("prefix", "with the prefix"), ("namespace", "in the namespace")):
        if isinstance(xml.get(key), str):
            words.append(f"{lead} {code(xml[key])}")
    if words:
        yield f"In XML: {', '.join(words)}."


def _range_note(low: Json, high: Json, unit: str) -> str:
    if low is None:
        return f"At most {number(high)}{unit_of(unit, high)}."
    if high is None:
        return f"At least {number(low)}{unit_of(unit, low)}."
    if low == high:
        return f"Exactly {number(low)}{unit_of(unit, low)}."
    return f"{number(low)} to {number(high)}{unit}."


def unit_of(unit: str, count: Json) -> str:
    """Gives a unit for a count: one item, two items."""
    if count != 1:
        return unit
    return unit.replace("properties", "property").removesuffix("s")


def number(data: Json) -> str:
    """Gives a bound; an integer as plain text."""
    return str(data) if type(data) is int else str(value(data))


def further_words(schema: Schema, said: str | None) -> Iterator[str]:
    """Gives what a schema says of itself, where what is said of its place does not say it already."""
    if schema.description and has_more_to_say(schema, said):
        yield stopped(inline(schema.description))


def has_more_to_say(schema: Schema, said: str | None) -> bool:
    """Tells whether the description of a schema is none of the words that are said of its place."""
    return bool(schema.description) and _compared(schema.description or "") not in _compared(said or "")


def _compared(text: str) -> str:
    """Gives a text without case, line breaks and the stop at its end."""
    return " ".join(text.split()).rstrip(".").casefold()


_SCALARS = frozenset({"string", "integer", "number", "boolean"})
_SPACES = {"%20": "%2520", "%09": "%2509"}
"""Signs that stay percent-encoded where a form is shown, for they could not be seen."""


def sending_notes(parameter: Parameter) -> Iterator[str]:
    """Gives what a caller must know to write a parameter, a sentence each."""
    sent = parameter.serialization
    if parameter.location == "body" and _is_file(parameter.schema):
        yield "The content of a file."
    elif parameter.location == "body" and parameter.schema.items is not None and _is_file(parameter.schema.items):
        yield "Each item is the content of a file."
    if sent is None:
        return
    if sent.style is not None or sent.explode is not None:
        yield from _form_notes(parameter, sent)
    if sent.media_type is not None:
        lead = "Its media type" if parameter.location == "body" else "Written as"
        yield f"{lead}: {code(sent.media_type)}."
    if sent.headers:
        lead = "Some of its parts have" if parameter.is_whole_body else "With"
        yield f"{lead} the header{'s' if len(sent.headers) > 1 else ''} {', '.join(map(code, sent.headers))}."
    if sent.allow_reserved:
        signs = "`/` and `:`" if parameter.location == "path" else "`/` and `?`"
        yield f"Reserved characters such as {signs} are not percent-encoded."
    if sent.allow_empty:
        yield "May be sent without a value."


def _is_file(schema: Schema) -> bool:
    return schema.format == "binary" and "string" in schema.types


def _form_notes(parameter: Parameter, sent: Serialization) -> Iterator[str]:
    style, schema = sent.style or "", parameter.schema
    if style == LINES:
        yield "Each item stands on a line of its own."
    elif style == RECORDS:
        yield "Each item stands between a record separator (U+001E) and a newline."
    elif style == QUERY_STRING:
        yield "It is the whole query string: what stands after the `?`, percent-encoded and without a name."
    elif style == "deepObject" and _is_array(schema):
        form = "&".join(query_pairs(parameter.name, ["A", "B"], style))
        yield f"How the style `deepObject` writes a list, OpenAPI leaves open; often it is {code(unquote(form))}."
    else:
        sample = _sample_form(parameter, style, is_exploded(style or _default_style(parameter), sent.explode))
        if sample is not None:
            yield f"Sent as {code(sample)}."
        if style == "cookie":
            yield "Not percent-encoded."
        lists = [item.name for item in schema.properties if _is_array(item.schema)]
        if style == "deepObject" and lists:
            form = "&".join(query_pairs(parameter.name, {lists[0]: ["A", "B"]}, style))
            yield f"How a list in it is written, OpenAPI leaves open; often it is {code(unquote(form))}."


def _default_style(parameter: Parameter) -> str:
    return "simple" if parameter.location in ("path", "header") else "form"


def _is_array(schema: Schema) -> bool:
    return schema.items is not None or "array" in schema.types


def _sample_form(parameter: Parameter, style: str, explode: bool) -> str | None:
    """Gives what a parameter looks like in a request; `None` where every style writes it alike."""
    name, value = parameter.name, _sample(parameter.schema, style)
    if parameter.location == "path":
        return _readable(path_segment(name, value, style or "simple", explode)) if style or value != "VALUE" else None
    if value == "VALUE":
        return None
    if parameter.location == "header":
        return header_text(value, style or "simple", explode=explode).replace("\t", "%09")
    if parameter.location == "cookie":
        return unquote(cookie_text(name, value, style or "form", explode=explode))
    return _readable("&".join(query_pairs(name, value, style or "form", explode))) or None


def _sample(schema: Schema, style: str) -> Json:
    """Gives a value that shows the form: a list, an object with the properties that are known, or one value."""
    if not schema.properties and schema.types and _SCALARS.issuperset(schema.types):
        return "VALUE"
    if _is_array(schema) or style.endswith("Delimited"):
        return ["A", "B"]
    known = [item for item in schema.properties if not _is_array(item.schema)]
    if style != "deepObject":
        return dict.fromkeys([item.name for item in known[:2]] or ["A", "B"], "VALUE")
    known.sort(key=lambda item: bool(item.schema.properties))
    if not known:
        return {} if schema.properties else {"NAME": "VALUE"}
    return {item.name: _sample(item.schema, style) if item.schema.properties else "VALUE" for item in known[:1]}


def _readable(form: str) -> str:
    for sign, kept in _SPACES.items():
        form = form.replace(sign, kept)
    return unquote(form)


LINKED_KINDS = 100
"""Types of a discriminator that are linked; where there are more, their names alone are long enough."""

UNREAD = "(a type that is not described here)"
"""What stands for a type that could not be read."""


def discriminator_notes(discriminator: Discriminator, schema: Schema) -> Iterator[str]:
    """Says which value of the property means which type; each name but once where the value follows from it."""
    name = code(discriminator.property)
    mapping = discriminator.mapping or {}
    around = _around_names(mapping)
    if not mapping:
        yield f"{name} tells which it is."
    elif around is not None:
        told = bool(schema.alternatives) and around == ("", "")
        held = list(filter(None, mapping.values()))
        listed = names(held) if told or len(mapping) > LINKED_KINDS else ", ".join(map(type_link, held))
        lead = "".join(f"{code(part)}, then " if part else "" for part in around[:1])
        end = "".join(f", then {code(part)}" if part else "" for part in around[1:])
        yield f"{name} is {lead}the name of the type{end}: {listed}."
    else:
        yield (
            f"{name} tells which type it is: "
            + ", ".join(f"{code(key)} {type_link(held) if held else UNREAD}" for key, held in mapping.items())
            + "."
        )
    if discriminator.default is not None:
        yield f"Where {name} is absent or has another value, it is {type_link(discriminator.default)}."


def _around_names(mapping: Mapping[str, str | None]) -> tuple[str, str] | None:
    """Gives what stands before and after the name of the type in every value; `None` where no rule makes the values."""
    found: tuple[str, str] | None = None
    for key, held in mapping.items():
        before, is_there, after = key.partition(held) if held else (key, "", "")
        if not is_there or found not in (None, (before, after)):
            return None
        found = before, after
    return found


NO_WORDS = Markdown("")
"""What is said where there is nothing to say."""

_OF_ITEMS = "Each item: "


def parameter_notes(parameter: Parameter) -> Markdown:
    """Says in sentences what bounds a parameter: choices, default, limits, and that it is not to be used.

    A sentence that its description says in the same words is left out.
    """
    schema = parameter.schema
    has_words = parameter.deprecated or schema.description is not None
    if not has_words and parameter.serialization is None and says_nothing(schema):
        return NO_WORDS
    said = parameter.description or ""
    found = chain(value_notes(schema, parameter.deprecated), sending_notes(parameter))
    sentences = [note for note in found if note.rpartition(_OF_ITEMS)[2].rstrip(".") not in said]
    return Markdown(" ".join([*further_words(schema, said), *sentences]))


def schema_notes(schema: Schema) -> Markdown:
    """Says the same of a named type or of an output."""
    return Markdown(" ".join(value_notes(schema, schema.deprecated)))


def value_notes(schema: Schema, deprecated: bool) -> Iterator[str]:
    """Gives sentences on a value, and on the items or values where that is all that is nested in it."""
    yield from limits(schema, deprecated)
    if schema.discriminator is not None:
        yield from discriminator_notes(schema.discriminator, schema)
    if len(schema.alternatives) > ALTERNATIVES_SHOWN:
        phrases = distinct_phrases(schema.alternatives)
        if len(phrases) > ALTERNATIVES_SHOWN:
            yield f"The types: {', '.join(phrases)}."
    if schema.property_names is not None:
        yield from led("Each name of a property", _described(schema.property_names))
    if schema.items is not None and is_container(schema, "items"):
        yield from _inner_notes("Each item", schema.items)
    if isinstance(schema.additional, Schema) and is_container(schema, "additional"):
        yield from _inner_notes("Each value", schema.additional)


def _inner_notes(lead: str, schema: Schema) -> Iterator[str]:
    if schema.choices == ():
        return
    if schema.description:
        yield f"{lead}: {stopped(inline(schema.description))}"
    if not says_nothing(schema):
        yield from led(lead, value_notes(schema, schema.deprecated))


def _described(schema: Schema) -> Iterator[str]:
    if schema.description:
        yield stopped(inline(schema.description))
    yield from value_notes(schema, schema.deprecated)
