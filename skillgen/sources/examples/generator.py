"""A value for a model Schema.

Types that others extend: what is sent for one is of a type that extends it (OpenAPI 3.1, "Discriminator Object").

Whether a base may be sent itself no description can say, unless its discriminator has a word for it.

A schema without composition: what `$ref`, `allOf` and one choice of each `oneOf`, `anyOf` and `if` come to.

Each variant is one flat schema, raw, from which a value can be built. Where parts disagree in a way that nothing can
fit, there is no variant.

What one schema without composition says of the value to build from it.

Values to take where one is taken already or ruled out: those a schema lists, then others of the same type.

A number within its bounds: 1 where that fits, else the nearest that does.

Builds a value that a schema allows: declared values first, else the least that is required, readable and small.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import islice
from typing import Any

from skillgen.model.values import Json, child, last_token
from skillgen.sources.examples.strings import NoString, made_string, one_of, varied
from skillgen.sources.examples.validation import UNCHECKED, Validator, why_unpublishable
from skillgen.sources.json_access import as_dict, as_list
from skillgen.sources.json_schema.discriminators import (
    children_by_base,
    descendants,
    implied_value,
    is_type_reference,
    mapped_reference,
)

CHILDREN_LIMIT = 6
"""Types that are tried in the place of the one that they extend."""

CHOSEN = "\0chosen"
"""Keyword of a variant: references to the types that were chosen for it, each of which its value must fit."""

Schema = dict[str, Json]


class Bases:
    """Finds the types that extend others, in one document."""

    def __init__(self, follow: Callable[[str], Json]) -> None:
        self._follow = follow
        self._words: dict[str, dict[str, str]] = {}
        self._descendants: dict[str, dict[str, None]] = {}

    def choices(self, reference: str, target: Json, within: tuple[str, ...]) -> tuple[list[Json], list[Json]]:
        """Gives the types that may stand for the one at a reference, and then its own forms, each as a schema.

        `within` are the references that led to it: what extends it is no choice any more.
        """
        name = _property_of(target)
        if name is None or not isinstance(target, dict):
            return [], [target]
        words = self._words_of(reference, name, target)
        known = next((held for held in (*within, reference) if held in words), None)
        if known is not None:
            return [], [_narrowed(target, name, words[known]), target]
        types: list[Json] = [
            {"allOf": [{"$ref": held}, *self._beside(held, reference, _narrowed(target, name, word))], CHOSEN: [held]}
            for held, word in list(words.items())[:CHILDREN_LIMIT]
        ]
        return types, [with_constant(target, name, last_token(reference)) if is_type_reference(reference) else target]

    def _words_of(self, reference: str, name: str, target: Schema) -> dict[str, str]:
        """Gives references to the types that extend one, each with the word for it, those with a declared one first."""
        if reference not in self._words:
            mapping = as_dict(as_dict(target["discriminator"]).get("mapping"))
            words: dict[str, str] = {}
            for word, held in mapping.items():
                if isinstance(held, str):
                    words.setdefault(mapped_reference(held), word)
            for pointer in self._extending(reference):
                if (own := implied_value(f"#{pointer}", name, self._follow)) is not None:
                    words.setdefault(f"#{pointer}", own)
            self._words[reference] = words
        return self._words[reference]

    def _beside(self, chosen: str, base: str, narrowed: Schema) -> tuple[Json, ...]:
        """Gives what a value must be beside the type that was chosen: one that only a mapping names is not the base."""
        return () if chosen.removeprefix("#") in self._extending(base) else (narrowed,)

    def _extending(self, reference: str) -> dict[str, None]:
        pointer = reference.removeprefix("#")
        if pointer not in self._descendants:
            self._descendants[pointer] = dict.fromkeys(descendants(self._children, pointer))
        return self._descendants[pointer]

    @cached_property
    def _children(self) -> dict[str, list[str]]:
        return children_by_base(self._follow("#"))


def _property_of(target: Json) -> str | None:
    """Gives the property by which a type is told that others extend; a choice of types names them itself."""
    if not isinstance(target, dict) or "discriminator" not in target or target.keys() & {"oneOf", "anyOf"}:
        return None
    name = as_dict(target["discriminator"]).get("propertyName")
    return name if isinstance(name, str) else None


def with_constant(raw: Schema, name: str, value: str) -> Schema:
    """Gives a schema in which a property is required and has one value, unless it names its values itself."""
    own = as_dict(raw.get("properties")).get(name)
    return raw if isinstance(own, dict) and own.keys() & _SAYS_ITSELF else _narrowed(raw, name, value)


def _narrowed(raw: Schema, name: str, value: str) -> Schema:
    """Gives a schema in which a property is required and has one value."""
    properties = as_dict(raw.get("properties"))
    own = properties.get(name)
    constant: Json = {**own, "enum": [value]} if isinstance(own, dict) else {"enum": [value]}
    if isinstance(own, dict) and own.keys() & _SAYS_ITSELF:
        constant = {"allOf": [own, {"enum": [value]}]}
    required = [item for item in as_list(raw.get("required")) if item != name]
    return {**raw, "properties": {**properties, name: constant}, "required": [*required, name]}


_SAYS_ITSELF = frozenset({"enum", "const", "$ref", "allOf"})


VARIANTS_LIMIT = 24
"""Choices that are tried for one value."""

STEPS_LIMIT = 2_000
"""Schemas that are read for the variants of one value."""

VARIANT_DEPTH_LIMIT = 150
"""Schemas that are read one within the other, or one beside the other in a list."""

_COMPOSITION = frozenset({"$ref", "allOf", "oneOf", "anyOf", "if", "then", "else"})

Follow = Callable[[str], Json]
"""Gives what stands at a `$ref`, or raises `LookupError`."""

Flat = dict[str, Json]


class Variants:
    """Flattens the schemas of one document."""

    def __init__(self, follow: Follow, *, siblings_of_references: bool) -> None:
        self._follow = follow
        self._siblings = siblings_of_references
        self._steps = 0
        self._bases = Bases(follow)

    def of(self, raw: Json) -> Iterator[Flat]:
        """Gives the variants of a schema, the plainest first."""
        if isinstance(raw, dict) and not _COMPOSITION & raw.keys():
            return iter((raw,))
        self._steps = 0
        return islice(self._of(raw, (), 0), VARIANTS_LIMIT)

    def _of(self, raw: Json, seen: tuple[str, ...], depth: int) -> Iterator[Flat]:
        self._steps += 1
        if raw is True:
            yield {}
        if not isinstance(raw, dict) or self._steps > STEPS_LIMIT or depth > VARIANT_DEPTH_LIMIT:
            return
        if not _COMPOSITION & raw.keys():
            yield raw
            return
        reference = raw.get("$ref")
        own = {key: value for key, value in raw.items() if key not in _COMPOSITION}
        if not isinstance(reference, str):
            yield from self._expanded(own, list(_choices(raw, self._follow)), seen, depth)
        elif reference not in seen:
            try:
                target = self._follow(reference)
            except LookupError:
                return
            beside = list(_choices(raw, self._follow)) if self._siblings else []
            flat = own if self._siblings else {}
            types, itself = self._bases.choices(reference, target, seen)
            for chosen in types:  # each leads back to what it extends, so that is not among what was seen
                yield from self._expanded(flat, [[chosen], *beside], seen, depth)
            yield from self._expanded(flat, [itself, *beside], (*seen, reference), depth)

    def _expanded(self, flat: Flat, choices: list[list[Json]], seen: tuple[str, ...], depth: int) -> Iterator[Flat]:
        if not choices:
            yield flat
            return
        if depth + len(choices) > VARIANT_DEPTH_LIMIT:
            return
        for option in choices[0]:
            for variant in self._of(option, seen, depth + 1):
                both = merged(flat, variant)
                if both is not None:
                    yield from self._expanded(both, choices[1:], seen, depth + 1)


def _choices(raw: Flat, follow: Follow) -> Iterator[list[Json]]:
    """Gives lists of schemas, of each of which one must be taken."""
    for member in as_list(raw.get("allOf")):
        yield [member]
    for keyword in ("oneOf", "anyOf"):
        if isinstance(raw.get(keyword), list):
            discriminator = as_dict(raw.get("discriminator"))
            values = _values_by_target(discriminator)
            options = sorted(raw[keyword], key=lambda item: isinstance(item, dict) and item.get("type") == "null")
            yield [_discriminated(item, discriminator.get("propertyName"), values, follow) for item in options]
    if "if" in raw:
        met = {"allOf": [raw["if"], raw.get("then", True)]}
        yield [{}, met] if "else" not in raw else [raw["else"], met]


def _values_by_target(discriminator: Flat) -> dict[str, tuple[int, str]]:
    """Returns, for each target of the mapping, the first value that names it, after the position of that value."""
    values: dict[str, tuple[int, str]] = {}
    for position, (value, target) in enumerate(as_dict(discriminator.get("mapping")).items()):
        if isinstance(target, str):
            values.setdefault(target, (position, value))
    return values


def _discriminated(option: Json, name: Json, values: dict[str, tuple[int, str]], follow: Follow) -> Json:
    """Returns an option with the value of the discriminating property `name` for it (OpenAPI, "Discriminator Object").

    A mapping names its targets by reference or by the name of the type; the first value that names the option counts.
    """
    reference = option.get("$ref") if isinstance(option, dict) else None
    if not isinstance(name, str) or not isinstance(reference, str):
        return option
    value: str | None = None
    if named := [values[target] for target in (reference, last_token(reference)) if target in values]:
        value = min(named)[1]
    elif is_type_reference(reference):
        value = implied_value(reference, name, follow)
    return option if value is None else {"allOf": [option, with_constant({}, name, value)]}


def merged(one: Flat, other: Flat) -> Flat | None:
    """Gives a flat schema that asks for what both ask for; `None` where nothing fits both."""
    if not one or not other:
        return one or other
    result = {**other, **one}
    for key in one.keys() & other.keys():
        if key in _MERGED:
            if (value := _MERGED[key](one[key], other[key])) is None:
                return None
            result[key] = value
    return result


def _types(one: Json, other: Json) -> Json:
    ones, others = _listed(one), _listed(other)
    both = [item for item in ones if item in others or (item == "integer" and "number" in others)]
    return both or (["integer"] if "integer" in others and "number" in ones else None)


def _properties(one: Json, other: Json) -> Json:
    ones, others = as_dict(one), as_dict(other)
    both = {
        name: {"allOf": [ones[name], others[name]]} for name in ones if name in others and ones[name] != others[name]
    }
    return {**others, **ones, **both} if not both else {**ones, **others, **both}


def _union(one: Json, other: Json) -> Json:
    return [*as_list(one), *(item for item in as_list(other) if item not in as_list(one))]


def _intersection(one: Json, other: Json) -> Json:
    return [item for item in as_list(one) if item in as_list(other)] or None


def _same(one: Json, other: Json) -> Json:
    return one if one == other else None


def _both(one: Json, other: Json) -> Json:
    return one if one == other else {"allOf": [one, other]}


def _patterns(one: Json, other: Json) -> Json:
    """Gives all patterns, of which a text must match each; only a flat schema has such a list."""
    return _union(_listed(one), _listed(other))


def _greater(one: Json, other: Json) -> Json:
    return max(one, other) if _are_numbers(one, other) else one


def _smaller(one: Json, other: Json) -> Json:
    return min(one, other) if _are_numbers(one, other) else one


def _are_numbers(*values: Json) -> bool:
    return all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)


def _listed(value: Json) -> list[Json]:
    return value if isinstance(value, list) else [value]


_MERGED: dict[str, Callable[[Json, Json], Json]] = {
    "type": _types,
    "properties": _properties,
    "required": _union,
    "enum": _intersection,
    "const": _same,
    "items": _both,
    "pattern": _patterns,
    CHOSEN: _union,
    **dict.fromkeys(("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"), _greater),
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"), _smaller),
    "additionalProperties": lambda one, other: one if other is True or other == {} else other,
}
"""How a keyword that stands in both comes out; of any other, the first is kept."""


_KEYWORDS = {
    "object": {"properties", "required", "additionalProperties", "minProperties", "patternProperties"},
    "array": {"items", "prefixItems", "minItems", "uniqueItems", "contains"},
    "string": {"pattern", "minLength", "maxLength", "format"},
    "number": {"minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum"},
}
"""Type of value to the keywords that speak of no other."""


class NoExample(ValueError):
    """No value was found that the schema allows; the message says why."""


def declared_values(raw: Json, pointer: str) -> Iterator[tuple[Json, str]]:
    """Gives the values that a schema itself shows, each with its pointer, the likeliest first."""
    if not isinstance(raw, dict):
        return
    if "example" in raw:
        yield raw["example"], child(pointer, "example")
    examples = raw.get("examples")
    if isinstance(examples, list):
        yield from ((value, child(pointer, "examples", index)) for index, value in enumerate(examples[:3]))
    if raw.get("default") is not None:
        yield raw["default"], child(pointer, "default")


def kind_of_value(flat: Flat) -> str:
    """Gives the type of value to build, from the keywords where none is declared."""
    types: Any = flat.get("type")
    names = [types] if isinstance(types, str) else as_list(types)
    for name in names:
        if name != "null":
            return str(name)
    if names:
        return "null"
    for kind, keywords in _KEYWORDS.items():
        if flat.keys() & keywords:
            return kind
    return "string"


def with_dependents(wanted: dict[str, None], flat: Flat) -> dict[str, None]:
    """Adds the properties that others ask for (`dependentRequired`, and `dependencies` of draft-07)."""
    rules = {**as_dict(flat.get("dependencies")), **as_dict(flat.get("dependentRequired"))}
    waiting = list(wanted)
    while waiting:
        for name in as_list(rules.get(waiting.pop())):
            if isinstance(name, str) and name not in wanted:
                wanted[name] = None
                waiting.append(name)
    return wanted


def member_schema(flat: Flat, name: str, pointer: str, *, is_open: bool = False) -> tuple[Json, str]:
    """Gives the schema of a member of an object, and its pointer; where `is_open`, it may have any.

    Raises:
        NoExample: the object may not have one of that name.
    """
    properties = as_dict(flat.get("properties"))
    if name in properties:
        return properties[name], child(pointer, "properties", name)
    patterns = as_dict(flat.get("patternProperties"))
    if len(patterns) == 1:
        (pattern,) = patterns
        return patterns[pattern], child(pointer, "patternProperties", pattern)
    additional = flat.get("additionalProperties", True)
    if additional is False and is_open:
        additional = True
    if additional is False:
        raise NoExample(f"it requires {name[:60]!r}, which it does not allow")
    return additional, child(pointer, "additionalProperties")


def items_of(flat: Flat) -> tuple[Json, list[Json]]:
    """Gives the schema of the items of an array, and those of its first items, which have one each."""
    items, first = flat.get("items", True), as_list(flat.get("prefixItems"))
    if isinstance(items, list):  # draft-07 has the positional form here
        return flat.get("additionalItems", True), items
    return items, first


def count_of(value: Json) -> int:
    """Gives a bound as a number of things, 0 where it is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def other_values(value: Json, variants: Iterable[Flat]) -> Iterator[Json]:
    """Gives other values than one, for places where that one is taken or ruled out, the likeliest first."""
    for flat in variants:
        yield from as_list(flat.get("enum"))
    for number in range(2, 24):
        if isinstance(value, str):
            yield f"{value}{number}"
            yield f"{value[:-1]}{number % 10}"
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            yield value + number - 1
        elif isinstance(value, dict):
            for key, item in value.items():
                if isinstance(item, str):
                    yield {**value, key: f"{item}{number}"}
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, str):
        yield from varied(value)


DIGITS_LIMIT = 30
"""Digits of a bound beyond which no number is made."""


def made_number(flat: dict[str, Json], *, whole: bool) -> int | float | None:
    """Gives a number that the keywords of a flat schema allow; `None` where none was found."""
    low, low_open = _bound(flat, "minimum", "exclusiveMinimum", max)
    high, high_open = _bound(flat, "maximum", "exclusiveMaximum", min)
    step = _number(flat.get("multipleOf"))
    if step is None or step <= 0:
        step = Fraction(1) if whole else None
    elif whole:
        step = Fraction(math.lcm(step.numerator, step.denominator), step.denominator)

    def fits(number: Fraction) -> bool:
        return (low is None or (number > low if low_open else number >= low)) and (
            high is None or (number < high if high_open else number <= high)
        )

    for candidate in _candidates(low, high, step):
        if fits(candidate):
            return int(candidate) if candidate.denominator == 1 else float(candidate)
    return None


def _candidates(low: Fraction | None, high: Fraction | None, step: Fraction | None) -> list[Fraction]:
    if step is None:
        found = [Fraction(1), Fraction(0)]
        found += [low, low + 1] if low is not None else []
        found += [high, high - 1] if high is not None else []
        return [*found, (low + high) / 2] if low is not None and high is not None else found
    found = [Fraction(1)] if step.numerator == 1 else []
    found.append(step)
    if low is not None:
        first = math.ceil(low / step) * step
        found += [first, first + step]
    if high is not None:
        last = math.floor(high / step) * step
        found += [last, last - step]
    return [*found, Fraction(0)]


def _bound(flat: dict[str, Json], closed: str, opened: str, tighter: object) -> tuple[Fraction | None, bool]:
    """Gives a bound and whether it is excluded, by the rules of draft-04 (a flag) and of later ones (a number)."""
    bound, limit = _number(flat.get(closed)), _number(flat.get(opened))
    if flat.get(opened) is True:
        return bound, True
    if limit is None or bound is None:
        return (bound, False) if limit is None else (limit, True)
    if limit == bound:
        return limit, True
    return (limit, True) if (limit > bound) is (tighter is max) else (bound, False)


def _number(value: Json) -> Fraction | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return Fraction(str(value)) if isinstance(value, float) or abs(value) < 10**DIGITS_LIMIT else None


DEPTH_LIMIT = 12
"""Levels of a value; a type that cannot end within them has no example."""

WIDER_LIMIT = 12
"""Properties that are tried for an object that says too little, and other values for one that is ruled out."""

VALUES_LIMIT = 400
"""Values that are built for one call, those that were thrown away among them."""

Report = Callable[[str, str, str], None]
"""Takes the code, the pointer and the message of a declared value that is not used."""


@dataclass(frozen=True, slots=True)
class GeneratedValue:
    """A value for a parameter."""

    value: Json
    """The value."""

    is_generated: bool
    """Whether any of it was made, not declared."""


class ExampleGenerator:
    """Makes values for the schemas of one document; each is checked against its schema before it is used."""

    def __init__(self, validator: Validator, report: Report, *, is_request: bool) -> None:
        self._validator = validator
        self._report = report
        self._is_request = is_request
        self._variants = Variants(validator.follow, siblings_of_references=validator.reads_siblings_of_references)
        self._built = 0
        self._is_made = False
        self._path: set[int] = set()

    def generate(
        self, raw: Json, name: str, pointer: str, *, declared: Iterable[tuple[Json, str]] = ()
    ) -> GeneratedValue:
        """Gives a value for a parameter, which its schema allows: one of `declared` (value and pointer) if any does.

        Raises:
            NoExample: none was found.
        """
        self._built = 0
        self._is_made = False
        self._path.clear()
        for value, where in declared:
            if self._is_usable(value, raw, name, where):
                return GeneratedValue(value, False)
        value = self._checked(raw, name, pointer, 0)
        return GeneratedValue(value, self._is_made)

    def generate_non_empty(
        self, raw: Json, name: str, pointer: str, *, declared: Iterable[tuple[Json, str]] = ()
    ) -> GeneratedValue:
        """Gives a value for a body; for an object that requires nothing, one with its first property.

        The same of an object that stands alone in another: APIs wrap what is sent (`{"data": …}`).
        """
        made = self._with_a_property(self.generate(raw, name, pointer, declared=declared), raw, pointer)
        inner = list(as_dict(made.value).items())
        if not made.is_generated or len(inner) != 1 or inner[0][1] != {}:
            return made
        key = inner[0][0]
        for flat in self._variants.of(raw):
            if (item := dict(self._writable(flat)).get(key)) is not None:
                where = child(pointer, "properties", key)
                wider = {key: self._with_a_property(GeneratedValue({}, True), item, where).value}
                if wider != made.value and self._validator.validation_error(wider, raw) is None:
                    return GeneratedValue(wider, True)
        return made

    def _with_a_property(self, made: GeneratedValue, raw: Json, pointer: str) -> GeneratedValue:
        """Gives an object that was made, where it is empty with the first of its properties that says something."""
        if made.value != {} or not made.is_generated:
            return made
        found = made
        for flat in self._variants.of(raw):
            # A form is there for its file, where it has one.
            for key, item in sorted(self._writable(flat), key=lambda pair: as_dict(pair[1]).get("format") != "binary"):
                try:
                    wider = {key: self._checked(item, key, child(pointer, "properties", key), 1)}
                except NoExample:
                    continue
                if self._is_returned_only(item) or self._validator.validation_error(wider, raw) is not None:
                    continue
                if wider[key] not in ({}, [], [{}]):
                    return GeneratedValue(wider, True)
                found = found if found.value else GeneratedValue(wider, True)
        return found

    def _is_returned_only(self, item: Json) -> bool:
        """Tells it also of what OpenAPI 3.0 says beside a reference, in an `allOf` with it."""
        return any(map(self._is_read_only, as_list(as_dict(item).get("allOf"))))

    def _checked(self, raw: Json, name: str, pointer: str, depth: int) -> Json:
        """Gives a value that was checked against the raw schema."""
        self._built += 1
        if depth > DEPTH_LIMIT or self._built > VALUES_LIMIT or id(raw) in self._path:
            raise NoExample("it is nested too deep, or in a circle")
        for value, where in declared_values(raw, pointer):
            if self._is_usable(value, raw, name, where):
                return value
        self._path.add(id(raw))
        try:
            return self._made(raw, name, pointer, depth)
        except NoExample as problem:
            raise NoExample(f"{name}: {problem}" if name and name not in str(problem) else str(problem)) from None
        finally:
            self._path.discard(id(raw))

    def _made(self, raw: Json, name: str, pointer: str, depth: int) -> Json:
        reason = "nothing fits its schema"
        for flat in self._variants.of(raw):
            try:
                value = self._from_flat(flat, name, pointer, depth)
            except NoExample as problem:
                reason = str(problem)
                continue
            if (flaw := self._flaw(value, raw, flat)) is None:
                return value
            reason = f"what was made for it is refused: {flaw}"
            for candidate in self._others_for(value, flat, pointer, depth):
                if self._flaw(candidate, raw, flat) is None:
                    return candidate
        raise NoExample(reason)

    def _flaw(self, value: Json, raw: Json, flat: Flat) -> str | None:
        """Says what is wrong with a value made for a variant: it fits the schema, and each type that was chosen."""
        if CHOSEN not in flat:
            return self._validator.validation_error(value, raw)
        schemas = [raw, *({"$ref": chosen} for chosen in as_list(flat.get(CHOSEN)))]
        errors = (self._validator.validation_error(value, schema) for schema in schemas)
        return next((error for error in errors if error is not None), None)

    def _others_for(self, value: Json, flat: Flat, pointer: str, depth: int) -> Iterator[Json]:
        """Gives what may fit in the place of a value that does not; an object that fits several alternatives where one
        alone must fit says more, with properties that it may have.
        """
        if "type" not in flat:
            yield from (1, {}, [], False)
        if not isinstance(value, dict):
            yield from islice(other_values(value, self._variants.of(flat)), WIDER_LIMIT)
            return
        wider = value
        for name, item in islice(self._writable(flat), WIDER_LIMIT):
            if name not in value:
                try:
                    more = {name: self._checked(item, name, child(pointer, "properties", name), depth + 1)}
                except NoExample:
                    continue
                wider = {**wider, **more}
                yield {**value, **more}
                if wider.keys() - more.keys() - value.keys():
                    yield wider

    def _is_usable(self, value: Json, raw: Json, name: str, where: str) -> bool:
        if (reason := why_unpublishable(value, name)) is not None:
            self._report(reason[0], where, reason[1])
            return False
        flaw = self._validator.validation_error(value, raw)
        if flaw == UNCHECKED:  # what an author shows is taken for right until it is known to be wrong
            return True
        if flaw is not None:
            self._report("example-invalid", where, f"the declared value does not fit its own schema: {flaw}")
        return flaw is None

    def _from_flat(self, flat: Flat, name: str, pointer: str, depth: int) -> Json:
        for value, _ in declared_values(flat, pointer):
            if why_unpublishable(value, name) is None and self._validator.validation_error(value, flat) is None:
                return value
        if "const" in flat:
            return flat["const"]
        self._is_made = True
        choices = flat.get("enum")
        if isinstance(choices, list):
            if not choices:
                raise NoExample("its list of values is empty")
            return next((item for item in choices if item is not None and item != ""), choices[0])
        kind = kind_of_value(flat)
        if kind == "object":
            return self._object(flat, pointer, depth)
        if kind == "array":
            return self._array(flat, name, pointer, depth)
        if kind in ("integer", "number"):
            number = made_number(flat, whole=kind == "integer")
            if number is None:
                raise NoExample("no number was found within its bounds")
            return number
        if kind in ("boolean", "null"):
            return False if kind == "boolean" else None
        return _string(flat, name)

    def _object(self, flat: Flat, pointer: str, depth: int) -> Json:
        properties = as_dict(flat.get("properties"))
        wanted = dict.fromkeys(name for name in as_list(flat.get("required")) if isinstance(name, str))
        # Draft-3 habits: `required: true` on the property itself.
        wanted.update((name, None) for name, item in properties.items() if as_dict(item).get("required") is True)
        wanted = {name: None for name in wanted if not self._is_read_only(properties.get(name))}
        result: dict[str, Json] = {}
        for name in with_dependents(wanted, flat):
            item, where = member_schema(flat, name, pointer, is_open=self._validator.is_open)
            result[name] = self._checked(item, name, where, depth + 1)
        for name, item in self._writable(flat):
            if len(result) >= count_of(flat.get("minProperties")):
                break
            if name not in result:
                result[name] = self._checked(item, name, child(pointer, "properties", name), depth + 1)
        self._add_unnamed(result, flat, pointer, depth)
        return result

    def _add_unnamed(self, result: dict[str, Json], flat: Flat, pointer: str, depth: int) -> None:
        rules = [item for item in [flat.get("propertyNames")] if isinstance(item, dict)]
        patterns = as_dict(flat.get("patternProperties"))
        if not rules and len(patterns) == 1 and flat.get("additionalProperties") is False:
            rules = [{"pattern": pattern} for pattern in patterns]
        while len(result) < min(count_of(flat.get("minProperties")), 20):
            name = self._another_name(result, rules, depth)
            item, where = member_schema(flat, name, pointer, is_open=self._validator.is_open)
            result[name] = self._checked(item, "value", where, depth + 1)

    def _another_name(self, taken: dict[str, Json], rules: list[Json], depth: int) -> str:
        wanted = f"name{len(taken) or ''}"
        if not rules:
            return _string({}, wanted)
        schema: Json = {"type": "string", "allOf": rules}
        first = self._checked(schema, wanted, "", depth + 1)
        for name in (first, *other_values(first, self._variants.of(schema))):
            if isinstance(name, str) and name not in taken and self._validator.validation_error(name, schema) is None:
                return name
        raise NoExample("its names must differ, and no more were found")

    def _array(self, flat: Flat, name: str, pointer: str, depth: int) -> Json:
        items, first = items_of(flat)
        least = max(count_of(flat.get("minItems")), len(first), 0 if items is False else 1)
        if "contains" in flat and not first:
            items = {"allOf": [items, flat["contains"]]}
            least = max(least, count_of(flat.get("minContains")))
        most = flat.get("maxItems")
        least = min(least, most) if isinstance(most, int) else least
        if least > 20:
            raise NoExample(f"it has {least} items or more")
        result: list[Json] = []
        for index in range(least):
            if index < len(first):
                result.append(self._checked(first[index], name, child(pointer, "prefixItems", index), depth + 1))
                continue
            try:
                result.append(self._item(items, one_of(name), result, pointer, depth, flat.get("uniqueItems") is True))
            except NoExample:
                if len(result) < max(count_of(flat.get("minItems")), count_of(flat.get("minContains"))):
                    raise
                break  # a list may end where its items come in a circle
        return result

    def _item(self, items: Json, name: str, before: list[Json], pointer: str, depth: int, unique: bool) -> Json:
        value = self._checked(items, name, child(pointer, "items"), depth + 1)
        if not unique or value not in before:
            return value
        for other in other_values(value, self._variants.of(items)):
            if other not in before and self._validator.validation_error(other, items) is None:
                return other
        raise NoExample("its items must differ, and no more were found")

    def _writable(self, flat: Flat) -> Iterator[tuple[str, Json]]:
        for name, item in as_dict(flat.get("properties")).items():
            if item is not False and not self._is_read_only(item) and as_dict(item).get("deprecated") is not True:
                yield name, item

    def _is_read_only(self, item: Json) -> bool:
        return self._is_request and self._validator.is_read_only(item)


def _string(flat: Flat, name: str) -> str:
    patterns = flat.get("pattern", [])
    try:
        return made_string(
            name,
            flat.get("format"),
            tuple(patterns) if isinstance(patterns, list) else (patterns,),
            count_of(flat.get("minLength")),
            most if isinstance(most := flat.get("maxLength"), int) else None,
        )
    except NoString as problem:
        raise NoExample(str(problem)) from None
