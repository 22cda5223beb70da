"""A schema in words.

The type is a short phrase (`array of [Task](…) or null`, `type_phrase`); sentences say what else a value must satisfy
(`value_notes`, `parameter_notes`). Only named types are linked, by targets that are resolved once the text's file is
known (`pages`). What is nested in a value, with what type and sentences do not say, is a list (`nested`). Neighbours of
which there is no more to say than their types share a line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import Literal
from urllib.parse import unquote

from msgspec.structs import astuple, replace

from skillgen.model.schema import Discriminator, Parameter, Schema, SchemaWriter, Serialization, Types
from skillgen.model.serialization import LINES, QUERY_STRING, RECORDS, written
from skillgen.model.values import Json, json_type
from skillgen.render.commands import innermost, syntax_notes
from skillgen.render.pages import type_link
from skillgen.render.phrases import phrase, table
from skillgen.text.markdown import (
    Markdown,
    as_sent,
    code,
    code_list,
    exact_code,
    inline,
    json_text,
    needs_stop,
    value,
    with_stop,
)
from skillgen.text.summary import normalise_sentence

_NESTED = attrgetter("properties", "alternatives", "also", "prefix_items", "patterns", "contains", "content",
                     "excluded", "conditions")  # fmt: skip


def _is_container(schema: Schema, field: Literal["items", "additional"]) -> bool:
    """True if the items of a value, or its values, are all that is nested in it."""
    return not (isinstance(schema.additional if field == "items" else schema.items, Schema) or any(_NESTED(schema)))


def inline_types() -> dict[str, Schema]:
    """Returns the named types of this rendering that are written wherever a value has them, without a link."""
    return table(inline_types)


def inline_type(schema: Schema) -> Schema | None:
    """Returns the named type that a value has, if it is written where it is used."""
    return inline_types().get(schema.ref) if schema.ref is not None else None


def inline_parts(schema: Schema) -> Sequence[Schema]:
    """Returns the named types that a value has or includes, if they are written where it is used."""
    types = inline_types() if schema.ref is not None or schema.includes else None
    return [types[name] for name in (schema.ref, *schema.includes) if name in types] if types else ()


def with_inline_type(schema: Schema) -> Schema:
    """Returns an alternative, or the named type that it is if that is written where it is used, titled by its name."""
    target = inline_type(schema)
    return schema if target is None else replace(target, title=target.title or schema.ref)


_ANYTHING = Schema()


_NOTHING_MORE = astuple(_ANYTHING)[4:]
"""The fields of a schema that declares nothing but types, `nullable`, a format and a title, without these first ones.
Most properties have one: a comparison of the tuples costs less than a look at each field."""


def _has_only(schema: Schema, field: str) -> bool:
    """True if a schema declares nothing but a type and this field."""
    return replace(schema, types=(), **{field: getattr(_ANYTHING, field)}) == _ANYTHING


Direction = Literal["sent", "returned", "received", "both"]
"""Which way a value goes. What is `sent` has no read-only properties; of what is `returned`, nothing is said that only
a caller must know, such as defaults, limits and rules, nor of what is write-only."""


def type_phrase(schema: Schema) -> Markdown:
    """Returns a value's type in a few words: `array of [Task](…) or null`."""
    words = _core_phrase(schema)
    if not schema.nullable or words == "null" or words.endswith(null := f"{phrase('or_between')}null"):
        return words if isinstance(words, Markdown) else Markdown(words)
    return Markdown((f"({words})" if phrase("and_between") in words else words) + null)


def _core_phrase(schema: Schema) -> str:
    if schema.ref is None and not (schema.includes or schema.also or schema.alternatives):
        return _declared_phrase(schema)
    parts: list[str] = []
    if schema.ref is not None:
        parts.append(_named_phrase(schema.ref))
    parts += map(_named_phrase, schema.includes)
    parts += map(type_phrase, schema.also)
    is_object = "object" in parts
    parts = [words for words in parts if words not in ("any", "object")]
    types = dict.fromkeys(map(type_phrase, schema.alternatives))
    choice = phrase("or_between").join(types) if types else "any"
    if choice not in ("any", "object"):
        parts.append(_parenthesised(choice) if parts else choice)
    if not parts:
        declared = _declared_phrase(schema)
        return declared if declared != "any" else "object" if is_object else choice
    joined = parts[0] if len(parts) == 1 else phrase("and_between").join(dict.fromkeys(parts))
    if not schema.properties:
        return joined
    return joined + phrase("more_properties_of_choice" if phrase("or_between") in joined else "more_properties")


def _named_phrase(name: str) -> Markdown:
    target = inline_types().get(name)
    return type_link(name) if target is None else type_phrase(target)


def selected_types() -> dict[str, None]:
    """Returns the named types to which a discriminator in a text of this rendering leads."""
    return table(selected_types)


def linked_type(name: str, listed: Collection[str] = ()) -> Markdown:
    """Returns a link to a named type, also to one that is written where a value has it.

    Of such a type that is `listed` next to it, it returns the name.
    """
    if name in listed and name in inline_types():
        return code(name)
    selected_types()[name] = None
    return type_link(name)


_SCALARS = frozenset({"string", "integer", "number", "boolean"})
_SCALAR_PHRASES: Mapping[tuple[str, ...], str] = {(name,): Markdown(name) for name in _SCALARS}


def _declared_phrase(schema: Schema) -> str:
    if not (words := _SCALAR_PHRASES.get(schema.types, "")):
        types = [_phrase_for_type(name, schema) for name in schema.types or _implied_types(schema)]
        words = phrase("or_between").join(types or dict.fromkeys(map(json_type, schema.choices or ()))) or "any"
    return f"{words} ({inline(schema.format)})" if schema.format and schema.format != words else words


def _implied_types(schema: Schema) -> Iterator[str]:
    """Yields the types that the keywords of a schema without `type` imply."""
    if schema.properties or schema.required or schema.patterns or schema.additional is not None:
        yield "object"
    if schema.items is not None or schema.prefix_items or schema.contains is not None:
        yield "array"


def _phrase_for_type(name: str, schema: Schema) -> str:
    if name == "array":
        return _array_phrase(schema)
    if name == "object" and schema.additional is not None and not schema.properties and not schema.patterns:
        if isinstance(schema.additional, Schema):
            return phrase("map_of", values=_parenthesised(type_phrase(schema.additional)))
        is_part = schema.required or schema.ref or schema.includes or schema.also or schema.alternatives
        return inline(name) if schema.additional or is_part else phrase("empty_object")
    return inline(name)


def _array_phrase(schema: Schema) -> str:
    is_closed = schema.items is not None and schema.items.choices == ()
    rest = _parenthesised(type_phrase(schema.items)) if schema.items is not None else ""
    if not schema.prefix_items:
        return phrase("empty_array") if is_closed else phrase("array_of", items=rest) if rest else "array"
    limit = (schema.constraints or {}).get("maxItems")
    if type(limit) is int and limit <= len(schema.prefix_items):
        is_closed = True
    name = "array_of_exactly" if is_closed else "array_then" if rest else "array_starting"
    return phrase(name, first=", ".join(map(type_phrase, schema.prefix_items)), rest=rest)


def _parenthesised(words: str) -> str:
    return f"({words})" if phrase("or_between") in words else words


def rule_text(schema: Schema) -> Markdown:
    """Returns a rule as JSON Schema; its texts are left out."""
    return exact_code(json_text(SchemaWriter(Types(lambda _: _ANYTHING), is_request=False).write(schema)))


def differ_in_required(schema: Schema) -> bool:
    """True if the alternatives differ only in the properties that they require."""
    return bool(schema.alternatives) and all(it.required and _has_only(it, "required") for it in schema.alternatives)


_LARGEST_SAFE = 2**53 - 1
"""The largest integer that JavaScript holds exactly: validators such as Zod declare it for every integer."""

_TOLD_OF_RESULTS = ("contentMediaType", "xml")
"""Constraints that help to read a value."""

_BOUNDS = (
    ("minimum", "maximum", None), ("minLength", "maxLength", "characters"),
    ("minItems", "maxItems", "items"), ("minProperties", "maxProperties", "properties"),
)  # fmt: skip
_CONSTRAINTS = (
    ("exclusiveMinimum", "more_than", value), ("exclusiveMaximum", "less_than", value),
    ("multipleOf", "multiple_of", value), ("pattern", "matches", lambda data: exact_code(str(data))),
    ("contentMediaType", "holds", lambda data: code(str(data))), ("xml", "in_xml", value),
)  # fmt: skip
"""Keywords with a sentence on their value, which the function formats."""


_IN_JSON = ("argument", "body", "property")

Shown = Callable[[Json], str]
"""Writes a value: as JSON, or a string without quotes."""


def value_notes(
    schema: Schema, deprecated: bool, way: Direction, text: str = "", *, is_nested: bool = False, shown: Shown = value
) -> list[str]:
    """Returns sentences on a value, and on its items or values if nothing else is nested in it; none that `text` has.

    If the value `is_nested`, they begin in lower case; values in them are written by `shown`.
    """
    found: list[str] = []
    for target in inline_parts(schema):
        found += schema_description(target, text)
        found += value_notes(target, target.deprecated, way, text, is_nested=is_nested, shown=shown)
    notes = [*_notes(schema, deprecated, way, shown)]
    if schema.items is not None or schema.additional is not None or schema.property_names is not None:
        notes += _within(schema, way, text, shown)
    for note in notes:
        if not (text and _says(text, note.rstrip("."))):
            found.append(note[:1].lower() + note[1:] if is_nested else note)
    return found


def _within(schema: Schema, way: Direction, text: str, shown: Shown) -> Iterator[str]:
    """Yields a sentence on the values within another one: `Each item: one of `a`, `b`; at most 3 characters.`"""
    items = schema.items if schema.items is not None and schema.items.choices != () else None
    items = items if _is_container(schema, "items") else None
    values = schema.additional if _is_container(schema, "additional") else None
    for name, inner in (("each_name", schema.property_names), ("each_item", items), ("each_value", values)):
        if isinstance(inner, Schema):
            notes = value_notes(inner, inner.deprecated, way, text, is_nested=True, shown=shown)
            if words := "; ".join(note.removesuffix(".") for note in (*schema_description(inner, text), *notes)):
                yield phrase("nested", lead=phrase(name), words=words)


def _notes(schema: Schema, deprecated: bool, way: Direction, shown: Shown) -> Iterator[str]:
    """Yields a sentence for each constraint on a value itself."""
    if deprecated:
        yield phrase("deprecated")
    if schema.choices is not None and (schema.types or schema.choices != (None,)):
        name = ("no_value", "always")[len(schema.choices)] if len(schema.choices) < 2 else "one_of"
        yield phrase(name, values=", ".join(map(shown, schema.choices)))
    if way != "returned" and schema.default is not None and schema.default.json is not None:
        yield phrase("default", value=shown(schema.default.json))  # null is what is sent by default anyway
    constraints = schema.constraints or {}
    if constraints and way == "returned":  # the service sees to the rest
        constraints = {key: item for key, item in constraints.items() if key in _TOLD_OF_RESULTS}
    if constraints:
        yield from _limits(schema, constraints)
    if way != "returned":
        yield from _rules(schema)
        if schema.read_only and way != "received":
            yield phrase("read_only")
    if schema.contains is not None:
        counts = {name: count for name, count in constraints.items() if name.endswith("Contains")}
        yield phrase("must_match", rule=rule_text(Schema(contains=schema.contains, constraints=counts)))
    if schema.write_only:
        yield phrase("write_only")
    for example in schema.examples:
        # One that is empty or a placeholder (`<string>`) says nothing.
        if not isinstance(example, str) or example[:1] + example[-1:] not in ("", "<>"):
            yield phrase("example", value=shown(example))
            break
    if schema.discriminator is not None:
        yield from _discriminator(schema.discriminator, schema)


def _rules(schema: Schema) -> Iterator[str]:
    """Yields what a caller must see to: what else is required, and what is not allowed."""
    if schema.required:
        yield phrase("also_required", names=code_list(schema.required))
    if schema.patterns and schema.additional is False:
        yield phrase("no_other_names")
    if differ_in_required(schema):
        lead = phrase("exactly_one" if schema.is_exclusive else "at_least_one")
        groups = [code_list(item.required, phrase("and_between")) for item in schema.alternatives]
        separator = "; " if any(len(item.required) > 1 for item in schema.alternatives) else ", "
        yield phrase("one_is_required", lead=lead, names=separator.join(groups))
    if schema.excluded is not None:
        names = schema.excluded.required
        if names and _has_only(schema.excluded, "required"):
            yield phrase("not_with", len(names), names=code_list(names, phrase("and_between")))
        else:
            yield phrase("must_not_match", rule=rule_text(schema.excluded))


def _limits(schema: Schema, constraints: Mapping[str, Json]) -> Iterator[str]:
    for low_key, high_key, unit in _BOUNDS:
        low, high = constraints.get(low_key), constraints.get(high_key)
        low, high = None if low == -_LARGEST_SAFE else low, None if high == _LARGEST_SAFE else high
        if low is not None and high is not None and low != high:
            yield phrase("from_to", low=limit_text(low), high=_measured(high, unit, None))
        elif low is not None or high is not None:
            limit, name = (high, "at_most") if low is None else (low, "at_least" if high is None else "exactly")
            yield phrase(name, limit=_measured(limit, unit, limit))
    for key, name, shown in _CONSTRAINTS:
        if key in constraints and not (key == "pattern" and _is_of_format(schema, str(constraints[key]))):
            yield phrase(name, value=shown(constraints[key]))
    if "uniqueItems" in constraints and _is_array(schema):
        yield phrase("unique_items")


_LINKED_TYPES = 100
"""Linked types of a discriminator; a longer list has only names."""


def _discriminator(discriminator: Discriminator, schema: Schema) -> Iterator[str]:
    """Yields which property value means which type."""
    name, mapping = code(discriminator.property), discriminator.mapping or {}
    listed = {item.ref for item in schema.alternatives if item.ref is not None}
    links = {ref: linked_type(ref, listed) for ref in filter(None, (*mapping.values(), discriminator.default))}
    types = [f"{code(key)} {links[ref] if ref else phrase('unread_type')}" for key, ref in mapping.items()]
    if len(mapping) > _LINKED_TYPES or all(key == ref and ref in listed for key, ref in mapping.items()):
        types = [*map(code, mapping)]
    yield phrase("identifies_by" if types else "identifies", name=name, types=", ".join(types))
    if discriminator.default:
        yield phrase("default_type", name=name, type=links[discriminator.default])


def _is_of_format(schema: Schema, pattern: str) -> bool:
    """True for a pattern that only repeats the format: validators such as Zod declare a long one with each."""
    return schema.format in ("date", "date-time", "time", "duration", "uuid", "ipv4", "ipv6") and len(pattern) > 60


def _measured(limit: Json, unit: str | None, count: Json) -> str:
    """Returns a limit with its unit, in the singular for 1."""
    return phrase(unit, count, number=limit_text(limit)) if unit else limit_text(limit)


def limit_text(data: Json) -> str:
    """Returns a limit; an integer without code formatting."""
    return str(data) if type(data) is int else value(data)


def schema_description(schema: Schema, text: str | None) -> Iterator[str]:
    """Yields what a schema says after `text`, the description of its parameter or result, if it says more."""
    if schema.description and adds_description(schema, text):
        yield Markdown(with_stop(inline(schema.description)).removeprefix(with_stop(inline(text or ""))).lstrip())


def adds_description(schema: Schema, text: str | None) -> bool:
    """True if a schema has a description that `text`, the description of its parameter or result, does not contain."""
    said = normalise_sentence(schema.description or "")
    return bool(said) and said not in normalise_sentence(text or "")


def _sending_notes(parameter: Parameter) -> Iterator[str]:
    """Yields a sentence for each thing that a caller must know to write a parameter into a request."""
    sent, is_body = parameter.serialization, parameter.location == "body"
    if is_body and any(_is_file(schema) for schema in (parameter.schema, parameter.schema.items) if schema is not None):
        yield phrase("is_file" if _is_file(parameter.schema) else "items_are_files")
    if sent is None:
        return
    if sent.style is not None or sent.explode is not None:
        yield from _style_notes(parameter, sent)
    if sent.media_type is not None:
        yield phrase("part_type" if is_body else "written_as", type=code(sent.media_type))
    if sent.allow_reserved:
        yield phrase("reserved_in_path" if parameter.location == "path" else "reserved")
    if sent.allow_empty:
        yield phrase("may_be_empty")


def _is_file(schema: Schema) -> bool:
    return schema.format == "binary" and "string" in schema.types


_STYLES = {LINES: "style_lines", RECORDS: "style_records", QUERY_STRING: "style_querystring"}


def _style_notes(parameter: Parameter, sent: Serialization) -> Iterator[str]:
    style, place = sent.style or "", parameter.location
    if style in _STYLES:
        yield phrase(_STYLES[style])
        return
    sample = _sample(inline_type(parameter.schema) or parameter.schema, style)
    if sample != "VALUE" or (style and place == "path"):
        place = place if place in ("path", "header", "cookie") else "query"
        form = "&".join(written(place, parameter.name, sample, style, sent.explode)).replace("\t", "%09")
        for blank in ("%20", "%09"):  # which would be invisible
            form = form.replace(blank, f"%25{blank[1:]}")
        if form:
            yield phrase("sent_as", form=code(unquote(form)))
        if style == "deepObject" and "%5B%5D=" in form:
            yield phrase("list_as_deep_object")
    if style == "cookie":
        yield phrase("not_encoded")


def _is_array(schema: Schema) -> bool:
    return schema.items is not None or "array" in schema.types


def _is_scalar(schema: Schema) -> bool:
    if schema.alternatives and not schema.types:
        return all(map(_is_scalar, schema.alternatives))
    return not schema.properties and bool(schema.types) and _SCALARS.issuperset(schema.types)


def _sample(schema: Schema, style: str) -> Json:
    """Returns a value that shows the form: a list, an object with known properties, or a scalar."""
    if _is_scalar(schema):
        return "VALUE"
    if any(map(_is_array, (schema, *schema.alternatives))) or style.endswith("Delimited"):
        return ["A", "B"]
    if not schema.properties:
        return dict.fromkeys(["NAME"] if style == "deepObject" else ["A", "B"], "VALUE")
    plain = [item.name for item in schema.properties if not (_is_array(item.schema) or item.schema.properties)]
    lists = [item.name for item in schema.properties if _is_array(item.schema)] if style == "deepObject" else []
    return {**dict.fromkeys(plain[:2], "VALUE"), **{name: ["A", "B"] for name in lists[:1]}}


NOTHING = Markdown("")
"""Nothing to say."""


def parameter_type(parameter: Parameter) -> Markdown:
    """Returns the type of a parameter in a few words; of one value, if it is written on a command line."""
    if parameter.syntax is None:
        return type_phrase(parameter.schema)
    if parameter.syntax.is_flag:
        return phrase("flag")
    one = innermost(parameter.schema)
    return inline(one.format) if one.format and one.format.endswith(("path", "file")) else type_phrase(one)


def parameter_notes(parameter: Parameter, way: Direction = "both") -> Markdown:
    """Returns sentences on a parameter: choices, default, limits, how it is sent, whether it is deprecated.

    A sentence that is already in its description is left out.
    """
    schema, text = parameter.schema, parameter.description or ""
    target, said = inline_type(schema) or schema, text
    is_json = parameter.location in _IN_JSON or getattr(parameter.serialization, "media_type", None)
    shown = value if is_json else as_sent
    if target.choices and _lists_all(f"{text} {target.description or ''}", target.choices):
        said += phrase("one_of", values=", ".join(map(shown, target.choices)))
    if text and schema.default is not None and _says_default(text, schema.default.json):
        said += phrase("default", value=shown(schema.default.json))
    notes = [*schema_description(schema, text), *value_notes(schema, parameter.deprecated, way, said, shown=shown)]
    if parameter.serialization is not None or parameter.syntax is not None or parameter.location == "body":
        more = chain(_sending_notes(parameter), syntax_notes(parameter))
        notes += (item for item in more if item not in text)
    return Markdown(" ".join(notes))


def _says(text: str, note: str) -> bool:
    """True if a text has a sentence already; one with a value also within another sentence."""
    return note in text or ("`" in note and (lower := note.lower()) in text.lower().replace(f"not {lower}", ""))


def _lists_all(text: str, choices: Sequence[Json]) -> bool:
    """True if a text has all of several values in quotes or as code, or after `one of` with commas."""
    words = [*map(str, choices)]
    quoted = {match[2] for match in _QUOTED.finditer(text)}
    return len(words) > 1 and (quoted.issuperset(words) or f"one of {', '.join(words)}".lower() in text.lower())


def _says_default(text: str, default: Json) -> bool:
    """True if a text states a number, a boolean, or a string that looks like no other value, as the default."""
    if isinstance(default, (dict, list)) or "default" not in text.lower() or '"' in value(default):
        return False
    said = rf"\bdefault(?:s|ing)?(?: value)?(?: is| to| of)?[ :=]{{1,2}}[`'\"]?{re.escape(str(default))}(?![\w-]|\.\d)"
    return re.search(said, text, re.IGNORECASE) is not None


_QUOTED = re.compile(r"([`\"'])([^`\"'\n]{1,80})\1")


def schema_notes(schema: Schema, way: Direction = "both") -> Markdown:
    """Returns the same for a named type or a result."""
    return Markdown(" ".join(value_notes(schema, schema.deprecated, way)))


# -- what is nested in a value -----------------------------------------------------------------------------------------


def alternative_labels(alternatives: Sequence[Schema]) -> list[str]:
    """Returns a label that distinguishes each alternative: its constant, its title or its type."""
    alternatives = [*map(with_inline_type, alternatives)]
    types = [type_phrase(item) for item in alternatives]
    counts = Counter(types)
    distinguishing = distinguishing_property(alternatives)
    labels: list[str] = []
    for number, (item, kind) in enumerate(zip(alternatives, types, strict=True), 1):
        if distinguishing is not None:
            constant = value(_constants(item)[distinguishing])
            labels.append(phrase("where", name=code(distinguishing), value=constant))
        elif _is_constant(item) and item.choices:
            labels.append(value(item.choices[0]) + (f" ({inline(item.title)})" if item.title else ""))
        elif item.title and not ("_" in item.title and counts[kind] == 1 and kind != "any"):  # no internal name
            labels.append(f"{inline(item.title)} ({kind})")
        elif counts[kind] == 1 and kind != "any":
            labels.append(phrase("as_object") if kind == "object" else phrase("as_type", type=kind))
        else:
            labels.append(phrase("alternative", number=number))
    return labels


def _is_constant(schema: Schema) -> bool:
    """True if only one value is allowed."""
    return schema.choices is not None and len(schema.choices) == 1 and not schema.properties


def distinguishing_property(alternatives: Sequence[Schema]) -> str | None:
    """Returns the property that has a different constant in each alternative, if there is one."""
    all_constants = [_constants(item) for item in alternatives]
    for name in all_constants[0] if len(all_constants) > 1 else ():
        values = [repr(constants[name]) for constants in all_constants if name in constants]
        if len(values) == len(all_constants) == len(set(values)):
            return name
    return None


def _constants(schema: Schema) -> dict[str, Json]:
    choices = {item.name: item.schema.choices for item in schema.properties if item.schema.choices is not None}
    return {name: values[0] for name, values in choices.items() if len(values) == 1}


def nested_lines(schema: Schema, way: Direction = "both", *, has_own: bool = True) -> list[str]:
    """Returns what is written below a value: everything that its type and sentences do not say; named types are not
    expanded. Without `has_own`, its own properties are left out.
    """
    if schema.items is not None and _is_container(schema, "items"):
        return nested_lines(schema.items, way)
    lines, own = [], schema.properties
    if parts := inline_parts(schema):
        refined = {item.name: item for item in own}
        parts = [_without_refined(part, refined) for part in parts]
        lines = [line for part in parts for line in nested_lines(part, way, has_own=has_own)]
        own = tuple(refined.values())
    if own and has_own:
        lines += _rows(own, way, ())
    if schema.items is not None or schema.additional is not None or any(_NESTED(schema)):
        lines += _other_lines(schema, way)
    return lines


def _without_refined(part: Schema, refined: dict[str, Parameter]) -> Schema:
    """Returns a type without the properties that the schema including it declares again with the same type.

    What only the type says of them is added to `refined`.
    """
    kept: list[Parameter] = []
    for item in part.properties:
        more = refined.get(item.name)
        if (
            more is None
            or schema_notes(replace(item.schema, read_only=False))
            or more.schema.types not in ((), item.schema.types)
        ):
            kept.append(item)
            continue
        required, description = more.required or item.required, more.description or item.description
        value = replace(more.schema, read_only=more.schema.read_only or item.schema.read_only)
        refined[item.name] = replace(more, required=required, description=description, schema=value)
    return replace(part, properties=tuple(kept)) if len(kept) < len(part.properties) else part


def _other_lines(schema: Schema, way: Direction) -> Iterator[str]:
    """Yields what is nested in a value next to its named properties."""
    if isinstance(schema.additional, Schema) and _is_container(schema, "additional"):
        if inner := nested_lines(schema.additional, way):
            yield from (f"- {phrase('branch_each_value')}:", *indented(inner))
    else:
        yield from unnamed_lines(schema, way)
    for number, member in enumerate(schema.prefix_items, 1):
        yield from _branch(phrase("branch_item", number=number), member, way, is_optional=True)
    if schema.items is not None and schema.items.choices != () and not _is_container(schema, "items"):
        label = phrase("branch_each_other_item" if schema.prefix_items else "branch_each_item")
        yield from _branch(label, schema.items, way, is_optional=True)
    if schema.content is not None:
        yield from _branch(phrase("branch_decoded", type=type_phrase(schema.content)), schema.content, way)
    if schema.alternatives and not differ_in_required(schema):
        yield from _alternative_lines(schema.alternatives, way)
    for member in schema.also:
        yield from _branch(phrase("branch_also"), member, way, is_optional=True)
    for condition in schema.conditions if way != "returned" else ():
        yield from _branch(phrase("branch_if", rule=rule_text(condition.when)), condition.then or Schema(), way)
        if condition.otherwise is not None:
            yield from _branch(phrase("branch_else"), condition.otherwise, way)


def unnamed_lines(schema: Schema, way: Direction) -> Iterator[str]:
    """Yields the properties that have no fixed name, which follow those that have one."""
    for pattern, item in (schema.patterns or {}).items():
        yield from _branch(phrase("branch_matching", pattern=exact_code(pattern), type=type_phrase(item)), item, way)
    if isinstance(schema.additional, Schema):
        yield from _branch(phrase("branch_other", type=type_phrase(schema.additional)), schema.additional, way)


def _alternative_lines(alternatives: Sequence[Schema], way: Direction) -> Iterator[str]:
    """Yields the alternatives with more to say than their type, and those that could be mistaken for one of them."""
    found = []
    for label, item in zip(alternative_labels(alternatives), alternatives, strict=True):
        shown = replace(item, choices=None) if _is_constant(item) else item
        found.append((label, item, [*_branch(label, shown, way, is_optional=True)]))
    are_constants = all(_is_constant(item) for item in alternatives)
    described = {type_phrase(item) for _, item, lines in found if lines}
    for label, item, lines in found:
        yield from lines
        if not lines and _is_constant(item):
            yield f"- {label if are_constants else phrase('branch_or', label=label)}"
        elif not lines and ((kind := type_phrase(item)) in described or item.title):
            yield f"- {phrase('branch_or_any', type=kind) if kind in described else label}"


def _branch(label: str, schema: Schema, way: Direction, *, is_optional: bool = False) -> Iterator[str]:
    """Yields a part of a value: its label, sentences on it, and what is nested in it; none if that `is_optional`."""
    notes = [with_stop(inline(schema.description))] if schema.description else []
    notes += value_notes(schema, schema.deprecated, way)
    inner = nested_lines(schema, way)
    if notes or inner or not is_optional:
        yield branch_line(label, notes, inner)
        yield from indented(inner)


def branch_line(label: str, notes: Iterable[str], inner: Sequence[str]) -> str:
    """Returns the line above what is nested in a part of a value."""
    words = " ".join(notes)
    return f"- {label}" + (":" if words or inner else "") + (f" {words}" if words else "")


def sent_parameters(parameters: Sequence[Parameter], way: Direction) -> Sequence[Parameter]:
    """Returns the properties that are used in this way; what a caller must send comes first."""
    if left := {*map(id, _left_out(parameters, way))}:
        parameters = [item for item in parameters if id(item) not in left]
    return parameters if way == "returned" else sorted(parameters, key=attrgetter("required"), reverse=True)


def _left_out(parameters: Sequence[Parameter], way: Direction) -> list[Parameter]:
    """Returns the properties that are not used in this way."""
    field = "read_only" if way == "sent" else "write_only"
    return [item for item in parameters if getattr(item.schema, field)] if way != "both" else []


def rows(parameters: Sequence[Parameter], way: Direction = "both", above: Collection[str] = ()) -> Markdown:
    """Returns a list of parameters; those of which `above` has the item are only named, at its end."""
    return as_list(_rows(parameters, way, above))


def nested(schema: Schema, way: Direction = "both") -> Markdown:
    """Returns the list of what is nested in a value."""
    return as_list(nested_lines(schema, way))


def as_list(lines: Iterable[str]) -> Markdown:
    """Returns the lines of a list."""
    return Markdown("\n".join([*lines, ""]))


_Item = tuple[Parameter, str, bool]
"""A parameter, its lines without a line break at the end, and whether they are only its name and type."""


def _items(way: Direction) -> dict[int, _Item]:
    """Returns the items of this rendering by the identity of their parameters."""
    # Inline types are found by what is nested in types.
    return table((_items, way, bool(inline_types())))


def item_of(parameter: Parameter, way: Direction) -> str:
    """Returns the lines of one parameter, without a line break at the end."""
    return _item(parameter, way, _items(way))[1]


def _rows(parameters: Sequence[Parameter], way: Direction, above: Collection[str]) -> Iterator[str]:
    plain, named, items = [], [], _items(way)
    for parameter in sent_parameters(parameters, way):
        _, item, is_plain = _item(parameter, way, items)
        if item in above and not parameter.required:
            named.append(code(parameter.name))
        elif is_plain:
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
    if left := _left_out(parameters, way):
        name = "only_returned" if way == "sent" else "only_sent"
        yield f"- {phrase(name, names=code_list(item.name for item in left))}"


def _item(parameter: Parameter, way: Direction, items: dict[int, _Item]) -> _Item:
    if found := items.get(id(parameter)):
        return found
    schema, sent = parameter.schema, parameter.serialization
    words, notes, lines = inline(parameter.description or ""), "", []
    required = f", {phrase('required')}" if parameter.required and way != "returned" else ""
    name = phrase("whole_body") if parameter.is_whole_body else code(parameter.name)
    line = f"- {name} ({parameter_type(parameter)}{required})" + (f": {words}" if words else "")
    is_plain = astuple(schema)[4:] == _NOTHING_MORE and schema.format != "binary"
    if not is_plain or parameter.deprecated or sent is not None or parameter.syntax is not None:
        if notes := parameter_notes(parameter, way):
            line += f"{'.' if words and needs_stop(words) else '' if words else ':'} {notes}"
        if sent is not None and sent.part_headers:
            lines.append(f"- {phrase('branch_part_headers', 1 + parameter.is_whole_body)}:")
            lines += indented(_rows(sent.part_headers, way, ()))
        lines += nested_lines(schema, way)
    text = "\n".join([line, *indented(lines)]) if lines else line
    item = items[id(parameter)] = parameter, text, not (words or notes or lines)
    return item


def indented(lines: Iterable[str]) -> Iterator[str]:
    """Yields the lines of a list below an item."""
    for line in lines:
        yield "  " + line.replace("\n", "\n  ")
