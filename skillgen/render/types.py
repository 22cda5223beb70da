"""A schema in words.

The type is a short phrase (`array of [Task](…) or null`, `type_phrase`); sentences say what else a value must satisfy
(`value_notes`, `parameter_notes`). Only named types are linked, by targets that are resolved once the text's file is
known (`pages`).

Most schemas are a bare type: `is_bare` and `says_nothing` recognise them, which saves most of the time.
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
from skillgen.text.summary import normalise_sentence


def is_bare(schema: Schema) -> bool:
    """True if the types say everything about a value, apart from properties, rules and limits."""
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
    """True if there are no rules on parts of the value or on all of it, for which there is no short phrase."""
    return not (schema.patterns or schema.contains or schema.content or schema.excluded or schema.conditions)


def is_container(schema: Schema, field: Literal["items", "additional"]) -> bool:
    """True if the items of a value, or its values, are all that is nested in it."""
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
    """True if there is surely no sentence to say; a fast check."""
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


_ALTERNATIVES_SHOWN = 12
"""Alternatives in a type phrase; if there are more, a sentence lists them."""

PLAIN_TYPES: dict[tuple[str, ...], Markdown] = {
    (name,): Markdown(name) for name in ("string", "integer", "number", "boolean", "object", "array")
}
"""Types that are a single word if nothing else is declared."""


def type_phrase(schema: Schema) -> Markdown:
    """Returns a value's type in a few words: `array of [Task](…) or null`."""
    if schema.types in PLAIN_TYPES and is_bare(schema):
        return PLAIN_TYPES[schema.types]
    phrase = _core_phrase(schema)
    if not schema.nullable or phrase == "null":
        return Markdown(phrase)
    return Markdown(f"({phrase}) or null" if " and " in phrase else f"{phrase} or null")


def _distinct_phrases(alternatives: Sequence[Schema]) -> list[str]:
    """Returns the types of the alternatives without duplicates, in their order."""
    return list(dict.fromkeys(str(type_phrase(item)) for item in alternatives))


def _core_phrase(schema: Schema) -> str:
    parts: list[str] = [type_link(schema.ref)] if schema.ref is not None else []
    parts += [type_link(name) for name in schema.includes]
    parts += [phrase for item in schema.also if (phrase := type_phrase(item)) not in ("any", "object")]
    choice = _alternatives_phrase(schema.alternatives) if schema.alternatives else "any"
    if choice not in ("any", "object"):
        parts.append(f"({choice})" if parts and " or " in choice else choice)
    if not parts:
        declared = _declared_phrase(schema)
        return choice if declared == "any" else declared
    joined = " and ".join(parts)
    if not schema.properties:
        return joined
    return f"{joined}, with more properties" if " or " in joined else f"{joined} with more properties"


def _declared_phrase(schema: Schema) -> str:
    types = schema.types or tuple(_implied_types(schema))
    if not types:
        phrase = _choices_phrase(schema.choices or ())
    else:
        phrase = " or ".join(_phrase_for_type(name, schema) for name in types)
    return f"{phrase} ({inline(schema.format)})" if schema.format else phrase


def _implied_types(schema: Schema) -> Iterator[str]:
    """Yields the types that the keywords of a schema without `type` imply."""
    if schema.properties or schema.required or schema.patterns or schema.additional is not None:
        yield "object"
    if schema.items is not None or schema.prefix_items or schema.contains is not None:
        yield "array"


def _phrase_for_type(name: str, schema: Schema) -> str:
    if name == "array":
        return _array_phrase(schema)
    if name == "object" and isinstance(schema.additional, Schema) and not schema.properties and not schema.patterns:
        return f"map of string to {_parenthesised(schema.additional)}"
    return str(inline(name))


def _array_phrase(schema: Schema) -> str:
    allows_no_items = schema.items is not None and schema.items.choices == ()
    if schema.prefix_items:
        first = ", ".join(type_phrase(item) for item in schema.prefix_items)
        limit = (schema.constraints or {}).get("maxItems")
        if allows_no_items or (type(limit) is int and limit <= len(schema.prefix_items)):
            return f"array of exactly: {first}"
        if schema.items is not None:
            return f"array of: {first}, then any number of {_parenthesised(schema.items)}"
        return f"array starting with: {first}"
    if schema.items is None:
        return "array"
    return "empty array" if allows_no_items else f"array of {_parenthesised(schema.items)}"


def _parenthesised(schema: Schema) -> str:
    phrase = type_phrase(schema)
    return f"({phrase})" if " or " in phrase else str(phrase)


def _choices_phrase(choices: tuple[Json, ...]) -> str:
    """Returns the types of the allowed values, for a schema without `type`."""
    kinds = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}
    return " or ".join(dict.fromkeys(kinds.get(type(choice), "null") for choice in choices)) or "any"


def _alternatives_phrase(alternatives: Sequence[Schema]) -> str:
    phrases = _distinct_phrases(alternatives)
    return " or ".join(phrases) if len(phrases) <= _ALTERNATIVES_SHOWN else f"one of {len(phrases)} types"


NO_OTHER_PROPERTIES = "No other properties."
"""The sentence for an object that allows no other properties."""

_ANYTHING = Schema()
_BOUNDS = (
    ("minimum", "maximum", ""),
    ("minLength", "maxLength", " characters"),
    ("minItems", "maxItems", " items"),
    ("minProperties", "maxProperties", " properties"),
)


def _limits(schema: Schema, deprecated: bool = False) -> Iterator[str]:
    """Yields a sentence for each constraint on a value itself."""
    if deprecated:
        yield "Deprecated."
    if schema.choices is not None and not _is_null(schema):
        yield _choices_note(schema.choices)
    if schema.default is not None:
        yield f"Default: {value(schema.default.json)}."
    if schema.constraints:
        yield from _constraint_notes(schema)
    if schema.additional is False and schema.properties:
        yield NO_OTHER_PROPERTIES
    if schema.required:
        yield f"Also required: {_code_list(schema.required)}."
    if needed := _required_note(schema):
        yield needed
    if schema.excluded is not None and (words := exclusion_phrase(schema.excluded)):
        yield f"{words}."
    for condition in schema.conditions:
        yield from _simple_rules(condition)
    if schema.read_only:
        yield "Read-only: not sent to the service."
    if schema.write_only:
        yield "Write-only: not sent by the service."
    if schema.examples:
        yield f"Example: {value(schema.examples[0])}."


def _is_null(schema: Schema) -> bool:
    """True if null is the only value."""
    return schema.choices == (None,) and not schema.types


def _code_list(names: Iterable[str], separator: str = ", ") -> str:
    """Returns names as code."""
    return separator.join(map(code, names))


def differ_in_required(schema: Schema) -> bool:
    """True if the alternatives differ only in the properties that they require."""
    return bool(schema.alternatives) and all(
        item.required and replace(item, required=(), types=()) == _ANYTHING for item in schema.alternatives
    )


def exclusion_phrase(schema: Schema) -> str | None:
    """Returns in a few words what a value must not be; `None` if that takes more."""
    if schema.choices and replace(schema, choices=None, types=(), nullable=False) == _ANYTHING:
        lead = "Not one of" if len(schema.choices) > 1 else "Not"
        return f"{lead} {', '.join(value(choice) for choice in schema.choices)}"
    if schema.types and replace(schema, types=(), nullable=False) == _ANYTHING:
        return f"Not {' or '.join(inline(name) for name in schema.types)}"
    if schema.required and replace(schema, required=(), types=()) == _ANYTHING:
        return f"Not with {_code_list(schema.required, ' and ')}" + (" together" if len(schema.required) > 1 else "")
    if schema.constraints and "pattern" in schema.constraints and len(schema.constraints) == 1:
        if replace(schema, constraints=None, types=()) == _ANYTHING:
            return f"Does not match {exact_code(str(schema.constraints['pattern']))}"
    return None


def condition_phrase(schema: Schema) -> str | None:
    """Returns in a few words when a rule applies: "`kind` is `x`"; `None` if that takes more."""
    if replace(schema, properties=(), required=(), types=()) != _ANYTHING:
        return None
    conditions = []
    for item in schema.properties:
        if item.schema.choices and replace(item.schema, choices=None, types=()) == _ANYTHING:
            lead = " is one of " if len(item.schema.choices) > 1 else " is "
            words = code(item.name) + lead + ", ".join(value(choice) for choice in item.schema.choices)
            conditions.append(words if item.required else f"{words} or absent")
        elif item.schema == _ANYTHING and item.required:
            conditions.append(f"{code(item.name)} is present")
        else:
            return None
    conditions.extend(f"{code(name)} is present" for name in schema.required)
    return " and ".join(conditions) or None


def is_simple_rule(schema: Schema | None) -> bool:
    """True if a rule only requires or forbids properties."""
    return schema is None or _rule_phrase(schema) is not None


def _simple_rules(condition: Condition) -> Iterator[str]:
    """Yields a rule as a sentence, if it is simple enough."""
    when = condition_phrase(condition.when)
    if when is None or not (is_simple_rule(condition.then) and is_simple_rule(condition.otherwise)):
        return
    if condition.then is not None:
        yield f"If {when}, {_rule_phrase(condition.then)}."
    if condition.otherwise is not None:
        yield f"Unless {when}, {_rule_phrase(condition.otherwise)}."


def _rule_phrase(schema: Schema) -> str | None:
    if schema.required and replace(schema, required=(), types=()) == _ANYTHING:
        return f"{_code_list(schema.required, ' and ')} {'is' if len(schema.required) == 1 else 'are'} required"
    if schema.excluded is not None and replace(schema, excluded=None, types=()) == _ANYTHING:
        inner = schema.excluded
        if len(inner.required) == 1 and replace(inner, required=(), types=()) == _ANYTHING:
            return f"{_code_list(inner.required)} must be absent"
    return None


def _required_note(schema: Schema) -> str | None:
    if not differ_in_required(schema):
        return None
    lead = "Exactly one" if schema.is_exclusive else "At least one"
    if all(len(item.required) == 1 for item in schema.alternatives):
        return f"{lead} of {_code_list(item.required[0] for item in schema.alternatives)} is required."
    return (
        f"{lead} of these is required: {'; '.join(_code_list(item.required, ' and ') for item in schema.alternatives)}."
    )


def with_lead(lead: str, sentences: Iterable[str]) -> Iterator[str]:
    """Yields sentences on a nested value: `Each item: at most 3 characters.`"""
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
        elif sentence != NO_OTHER_PROPERTIES:
            yield f"{lead}: {words}"


def with_stop(text: str) -> str:
    """Returns a text with a full stop."""
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
        yield "Items are unique."
    if "contentMediaType" in constraints:
        yield f"Holds {code(str(constraints['contentMediaType']))}."
    if isinstance(xml := constraints.get("xml"), dict):
        yield from _xml_note(xml, is_array)


def _xml_note(xml: dict[str, Json], is_array: bool) -> Iterator[str]:
    """Says how a value is written in XML (OpenAPI 3.2, "XML Object")."""
    node = xml.get("nodeType")
    is_wrapped = xml.get("wrapped") is True or (is_array and node == "element")
    words = []
    if xml.get("attribute") is True or node == "attribute":
        words.append("an attribute")
    elif node in ("text", "cdata"):
        words.append("the text of the element around it")
    elif is_wrapped:
        words.append("its items are in an element of their own")
    if isinstance(xml.get("name"), str) and (is_wrapped or not is_array):  # a list has no element otherwise
        words.append(f"called {code(xml['name'])}")
    for key, lead in (("prefix", "with the prefix"), ("namespace", "in the namespace")):
        if isinstance(xml.get(key), str):
            words.append(f"{lead} {code(xml[key])}")
    if words:
        yield f"In XML: {', '.join(words)}."


def _range_note(low: Json, high: Json, unit: str) -> str:
    if low is None:
        return f"At most {limit_text(high)}{_unit_for(unit, high)}."
    if high is None:
        return f"At least {limit_text(low)}{_unit_for(unit, low)}."
    if low == high:
        return f"Exactly {limit_text(low)}{_unit_for(unit, low)}."
    return f"{limit_text(low)} to {limit_text(high)}{unit}."


def _unit_for(unit: str, count: Json) -> str:
    """Returns a unit in the singular or plural: one item, two items."""
    if count != 1:
        return unit
    return unit.replace("properties", "property").removesuffix("s")


def limit_text(data: Json) -> str:
    """Returns a limit; an integer without code formatting."""
    return str(data) if type(data) is int else str(value(data))


def schema_description(schema: Schema, text: str | None) -> Iterator[str]:
    """Yields the description of a schema, unless the description of its parameter or result already says the same."""
    if schema.description and adds_description(schema, text):
        yield with_stop(inline(schema.description))


def adds_description(schema: Schema, text: str | None) -> bool:
    """True if a schema has a description that `text`, the description of its parameter or result, does not contain."""
    return bool(schema.description) and normalise_sentence(schema.description or "") not in normalise_sentence(
        text or ""
    )


_SCALARS = frozenset({"string", "integer", "number", "boolean"})
_INVISIBLE = {"%20": "%2520", "%09": "%2509"}
"""Characters that stay percent-encoded in a sample, as they would be invisible."""


def _sending_notes(parameter: Parameter) -> Iterator[str]:
    """Yields a sentence for each thing that a caller must know to write a parameter into a request."""
    sent = parameter.serialization
    if parameter.location == "body" and _is_file(parameter.schema):
        yield "The content of a file."
    elif parameter.location == "body" and parameter.schema.items is not None and _is_file(parameter.schema.items):
        yield "Each item is the content of a file."
    if sent is None:
        return
    if sent.style is not None or sent.explode is not None:
        yield from _style_notes(parameter, sent)
    if sent.media_type is not None:
        lead = "Its media type" if parameter.location == "body" else "Written as"
        yield f"{lead}: {code(sent.media_type)}."
    if sent.headers:
        lead = "Some of its parts have" if parameter.is_whole_body else "With"
        yield f"{lead} the header{'s' if len(sent.headers) > 1 else ''} {', '.join(map(code, sent.headers))}."
    if sent.allow_reserved:
        examples = "`/` and `:`" if parameter.location == "path" else "`/` and `?`"
        yield f"Reserved characters such as {examples} are not percent-encoded."
    if sent.allow_empty:
        yield "May be sent without a value."


def _is_file(schema: Schema) -> bool:
    return schema.format == "binary" and "string" in schema.types


def _style_notes(parameter: Parameter, sent: Serialization) -> Iterator[str]:
    style, schema = sent.style or "", parameter.schema
    if style == LINES:
        yield "Each item is on its own line."
    elif style == RECORDS:
        yield "Each item is written between a record separator (U+001E) and a newline."
    elif style == QUERY_STRING:
        yield "It is the complete query string: everything after the `?`, percent-encoded and without a name."
    elif style == "deepObject" and _is_array(schema):
        form = "&".join(query_pairs(parameter.name, ["A", "B"], style))
        yield f"OpenAPI does not define how the style `deepObject` writes a list; often it is {code(unquote(form))}."
    else:
        sample = _sample_form(parameter, style, is_exploded(style or _default_style(parameter), sent.explode))
        if sample is not None:
            yield f"Sent as {code(sample)}."
        if style == "cookie":
            yield "Not percent-encoded."
        lists = [item.name for item in schema.properties if _is_array(item.schema)]
        if style == "deepObject" and lists:
            form = "&".join(query_pairs(parameter.name, {lists[0]: ["A", "B"]}, style))
            yield f"OpenAPI does not define how a list in it is written; often it is {code(unquote(form))}."


def _default_style(parameter: Parameter) -> str:
    return "simple" if parameter.location in ("path", "header") else "form"


def _is_array(schema: Schema) -> bool:
    return schema.items is not None or "array" in schema.types


def _sample_form(parameter: Parameter, style: str, explode: bool) -> str | None:
    """Returns a sample of a parameter in a request; `None` if every style writes it alike."""
    name, value = parameter.name, _sample(parameter.schema, style)
    if parameter.location == "path":
        return _unquoted(path_segment(name, value, style or "simple", explode)) if style or value != "VALUE" else None
    if value == "VALUE":
        return None
    if parameter.location == "header":
        return header_text(value, style or "simple", explode=explode).replace("\t", "%09")
    if parameter.location == "cookie":
        return unquote(cookie_text(name, value, style or "form", explode=explode))
    return _unquoted("&".join(query_pairs(name, value, style or "form", explode))) or None


def _sample(schema: Schema, style: str) -> Json:
    """Returns a value that shows the form: a list, an object with known properties, or a scalar."""
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


def _unquoted(form: str) -> str:
    for encoded, encoded_twice in _INVISIBLE.items():
        form = form.replace(encoded, encoded_twice)
    return unquote(form)


_LINKED_TYPES = 100
"""Linked types of a discriminator; a longer list has only names."""

_UNREADABLE_TYPE = "(a type that is not described here)"
"""Replaces a type that could not be read."""


def _discriminator_notes(discriminator: Discriminator, schema: Schema) -> Iterator[str]:
    """Says which property value means which type; only the types if the values follow from their names."""
    name = code(discriminator.property)
    mapping = discriminator.mapping or {}
    affixes = _affixes(mapping)
    if not mapping:
        yield f"{name} identifies the type."
    elif affixes is not None:
        are_linked_above = bool(schema.alternatives) and affixes == ("", "")
        types = list(filter(None, mapping.values()))
        has_links = not are_linked_above and len(mapping) <= _LINKED_TYPES
        listed = ", ".join(map(type_link, types)) if has_links else _code_list(types)
        prefix, suffix = affixes
        lead = f"{code(prefix)}, then " if prefix else ""
        end = f", then {code(suffix)}" if suffix else ""
        yield f"{name} is {lead}the name of the type{end}: {listed}."
    else:
        links = (f"{code(key)} {type_link(ref) if ref else _UNREADABLE_TYPE}" for key, ref in mapping.items())
        yield f"{name} identifies the type: {', '.join(links)}."
    if discriminator.default is not None:
        yield f"Where {name} is absent or has another value, it is {type_link(discriminator.default)}."


def _affixes(mapping: Mapping[str, str | None]) -> tuple[str, str] | None:
    """Returns the prefix and suffix of the type's name in every value; `None` if the values follow no such pattern."""
    affixes: tuple[str, str] | None = None
    for key, ref in mapping.items():
        prefix, name, suffix = key.partition(ref) if ref else (key, "", "")
        if not name or affixes not in (None, (prefix, suffix)):
            return None
        affixes = prefix, suffix
    return affixes


NOTHING = Markdown("")
"""Nothing to say."""

_OF_ITEMS = "Each item: "


def parameter_notes(parameter: Parameter) -> Markdown:
    """Returns sentences on a parameter: choices, default, limits, how it is sent, whether it is deprecated.

    A sentence that is already in its description is left out.
    """
    schema = parameter.schema
    has_words = parameter.deprecated or schema.description is not None
    if not has_words and parameter.serialization is None and says_nothing(schema):
        return NOTHING
    text = parameter.description or ""
    notes = chain(value_notes(schema, parameter.deprecated), _sending_notes(parameter))
    sentences = [note for note in notes if note.rpartition(_OF_ITEMS)[2].rstrip(".") not in text]
    return Markdown(" ".join([*schema_description(schema, text), *sentences]))


def schema_notes(schema: Schema) -> Markdown:
    """Returns the same for a named type or a result."""
    return Markdown(" ".join(value_notes(schema, schema.deprecated)))


def value_notes(schema: Schema, deprecated: bool) -> Iterator[str]:
    """Yields sentences on a value, and on its items or values if nothing else is nested in it."""
    yield from _limits(schema, deprecated)
    if schema.discriminator is not None:
        yield from _discriminator_notes(schema.discriminator, schema)
    if len(schema.alternatives) > _ALTERNATIVES_SHOWN:
        phrases = _distinct_phrases(schema.alternatives)
        if len(phrases) > _ALTERNATIVES_SHOWN:
            yield f"The types: {', '.join(phrases)}."
    if schema.property_names is not None:
        yield from with_lead("Each name of a property", _description_and_notes(schema.property_names))
    if schema.items is not None and is_container(schema, "items"):
        yield from _inner_notes("Each item", schema.items)
    if isinstance(schema.additional, Schema) and is_container(schema, "additional"):
        yield from _inner_notes("Each value", schema.additional)


def _inner_notes(lead: str, schema: Schema) -> Iterator[str]:
    if schema.choices == ():
        return
    if schema.description:
        yield f"{lead}: {with_stop(inline(schema.description))}"
    if not says_nothing(schema):
        yield from with_lead(lead, value_notes(schema, schema.deprecated))


def _description_and_notes(schema: Schema) -> Iterator[str]:
    if schema.description:
        yield with_stop(inline(schema.description))
    yield from value_notes(schema, schema.deprecated)
