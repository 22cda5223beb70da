"""Generates a value that a raw schema allows: declared values first, else only what is required, readable and small.

`Variants` flattens a schema: each variant is a raw schema without composition, with `$ref` and `allOf` merged and one
alternative of each `oneOf`, `anyOf` and `if` chosen. Contradictory parts have no variant. For a base type with a
discriminator, a value of a subtype is generated (OpenAPI 3.1, "Discriminator Object"): no description says whether the
base itself may be sent, unless its discriminator has a value for it.
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
from skillgen.sources.examples.strings import NoString, singular, string_for, variations
from skillgen.sources.examples.validation import UNCHECKED, Validator, why_unpublishable
from skillgen.sources.json_access import as_dict, as_list
from skillgen.sources.json_schema.discriminators import (
    children_by_base,
    descendants,
    implied_value,
    is_type_reference,
    mapped_reference,
)

_SUBTYPES_LIMIT = 6
"""Subtypes of a base type that are tried."""

_SUBTYPE_CHOICE = "\0subtype"
"""Keyword of a variant: references to the chosen subtypes, all of which its value must match."""

Schema = dict[str, Json]


class _Subtypes:
    """Finds the subtypes of base types in one document."""

    def __init__(self, follow: Callable[[str], Json]) -> None:
        self._follow = follow
        self._values_by_subtype: dict[str, dict[str, str]] = {}
        self._descendants: dict[str, dict[str, None]] = {}

    def choices(self, reference: str, target: Json, within: tuple[str, ...]) -> tuple[list[Json], list[Json]]:
        """Returns the subtypes of the type at a reference, and the alternatives for the type itself, as schemas.

        `within` are the references on the way to it; if one of them is a subtype, the choice is already made.
        """
        name = _discriminator_property(target)
        if name is None or not isinstance(target, dict):
            return [], [target]
        words = self._discriminator_values(reference, name, target)
        known = next((held for held in (*within, reference) if held in words), None)
        if known is not None:
            return [], [_narrowed(target, name, words[known]), target]
        types: list[Json] = [
            {
                "allOf": [{"$ref": held}, *self._base_constraint(held, reference, _narrowed(target, name, word))],
                _SUBTYPE_CHOICE: [held],
            }
            for held, word in list(words.items())[:_SUBTYPES_LIMIT]
        ]
        return types, [_with_constant(target, name, last_token(reference)) if is_type_reference(reference) else target]

    def _discriminator_values(self, reference: str, name: str, target: Schema) -> dict[str, str]:
        """Returns references to the subtypes, each with its discriminator value, those in the mapping first."""
        if reference not in self._values_by_subtype:
            mapping = as_dict(as_dict(target["discriminator"]).get("mapping"))
            words: dict[str, str] = {}
            for word, held in mapping.items():
                if isinstance(held, str):
                    words.setdefault(mapped_reference(held), word)
            for pointer in self._descendants_of(reference):
                if (value := implied_value(f"#{pointer}", name, self._follow)) is not None:
                    words.setdefault(f"#{pointer}", value)
            self._values_by_subtype[reference] = words
        return self._values_by_subtype[reference]

    def _base_constraint(self, chosen: str, base: str, narrowed: Schema) -> tuple[Json, ...]:
        """Returns the base as a further constraint, for a subtype that only the mapping names."""
        return () if chosen.removeprefix("#") in self._descendants_of(base) else (narrowed,)

    def _descendants_of(self, reference: str) -> dict[str, None]:
        pointer = reference.removeprefix("#")
        if pointer not in self._descendants:
            self._descendants[pointer] = dict.fromkeys(descendants(self._children, pointer))
        return self._descendants[pointer]

    @cached_property
    def _children(self) -> dict[str, list[str]]:
        return children_by_base(self._follow("#"))


def _discriminator_property(target: Json) -> str | None:
    """Returns the discriminator property of a base type; `None` for a choice of types, which lists them itself."""
    if not isinstance(target, dict) or "discriminator" not in target or target.keys() & {"oneOf", "anyOf"}:
        return None
    name = as_dict(target["discriminator"]).get("propertyName")
    return name if isinstance(name, str) else None


def _with_constant(raw: Schema, name: str, value: str) -> Schema:
    """Requires a property with a constant value, unless the property restricts its values itself."""
    declared = as_dict(raw.get("properties")).get(name)
    return (
        raw if isinstance(declared, dict) and declared.keys() & _RESTRICTING_KEYWORDS else _narrowed(raw, name, value)
    )


def _narrowed(raw: Schema, name: str, value: str) -> Schema:
    """Requires a property with a constant value."""
    properties = as_dict(raw.get("properties"))
    declared = properties.get(name)
    constant: Json = {**declared, "enum": [value]} if isinstance(declared, dict) else {"enum": [value]}
    if isinstance(declared, dict) and declared.keys() & _RESTRICTING_KEYWORDS:
        constant = {"allOf": [declared, {"enum": [value]}]}
    required = [item for item in as_list(raw.get("required")) if item != name]
    return {**raw, "properties": {**properties, name: constant}, "required": [*required, name]}


_RESTRICTING_KEYWORDS = frozenset({"enum", "const", "$ref", "allOf"})


_VARIANTS_LIMIT = 24
"""Variants of a schema that are tried for one value."""

_STEPS_LIMIT = 2_000
"""Schemas that are read for the variants of one schema."""

_VARIANT_DEPTH_LIMIT = 150
"""Levels of nested schemas, and members of a list, that are read; both recurse."""

_COMPOSITION = frozenset({"$ref", "allOf", "oneOf", "anyOf", "if", "then", "else"})

_Follow = Callable[[str], Json]
"""Returns the target of a `$ref`, or raises `LookupError`."""

Flat = dict[str, Json]
"""A raw schema without composition."""


class Variants:
    """Flattens the schemas of one document."""

    def __init__(self, follow: _Follow, *, siblings_of_references: bool) -> None:
        self._follow = follow
        self._siblings = siblings_of_references
        self._steps = 0
        self._subtypes = _Subtypes(follow)

    def of(self, raw: Json) -> Iterator[Flat]:
        """Returns the variants of a schema, the simplest first."""
        if isinstance(raw, dict) and not _COMPOSITION & raw.keys():
            return iter((raw,))
        self._steps = 0
        return islice(self._of(raw, (), 0), _VARIANTS_LIMIT)

    def _of(self, raw: Json, seen: tuple[str, ...], depth: int) -> Iterator[Flat]:
        self._steps += 1
        if raw is True:
            yield {}
        if not isinstance(raw, dict) or self._steps > _STEPS_LIMIT or depth > _VARIANT_DEPTH_LIMIT:
            return
        if not _COMPOSITION & raw.keys():
            yield raw
            return
        reference = raw.get("$ref")
        siblings = {key: value for key, value in raw.items() if key not in _COMPOSITION}
        if not isinstance(reference, str):
            yield from self._expanded(siblings, list(_choices(raw, self._follow)), seen, depth)
        elif reference not in seen:
            try:
                target = self._follow(reference)
            except LookupError:
                return
            constraints = list(_choices(raw, self._follow)) if self._siblings else []
            flat = siblings if self._siblings else {}
            types, itself = self._subtypes.choices(reference, target, seen)
            for chosen in types:  # a subtype refers back to its base, so the base is not in `seen` yet
                yield from self._expanded(flat, [[chosen], *constraints], seen, depth)
            yield from self._expanded(flat, [itself, *constraints], (*seen, reference), depth)

    def _expanded(self, flat: Flat, choices: list[list[Json]], seen: tuple[str, ...], depth: int) -> Iterator[Flat]:
        if not choices:
            yield flat
            return
        if depth + len(choices) > _VARIANT_DEPTH_LIMIT:
            return
        for option in choices[0]:
            for variant in self._of(option, seen, depth + 1):
                both = _merge_flat(flat, variant)
                if both is not None:
                    yield from self._expanded(both, choices[1:], seen, depth + 1)


def _choices(raw: Flat, follow: _Follow) -> Iterator[list[Json]]:
    """Yields lists of alternative schemas; a variant takes one from each list."""
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


def _discriminated(option: Json, name: Json, values: dict[str, tuple[int, str]], follow: _Follow) -> Json:
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
    return option if value is None else {"allOf": [option, _with_constant({}, name, value)]}


def _merge_flat(one: Flat, other: Flat) -> Flat | None:
    """Returns a flat schema with the constraints of both; `None` if they contradict each other."""
    if not one or not other:
        return one or other
    result = {**other, **one}
    for key in one.keys() & other.keys():
        if key in _MERGERS:
            if (value := _MERGERS[key](one[key], other[key])) is None:
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
    """Returns a list of patterns, all of which a string must match; only flat schemas have lists here."""
    return _union(_listed(one), _listed(other))


def _greater(one: Json, other: Json) -> Json:
    return max(one, other) if _are_numbers(one, other) else one


def _smaller(one: Json, other: Json) -> Json:
    return min(one, other) if _are_numbers(one, other) else one


def _are_numbers(*values: Json) -> bool:
    return all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)


def _listed(value: Json) -> list[Json]:
    return value if isinstance(value, list) else [value]


_MERGERS: dict[str, Callable[[Json, Json], Json]] = {
    "type": _types,
    "properties": _properties,
    "required": _union,
    "enum": _intersection,
    "const": _same,
    "items": _both,
    "pattern": _patterns,
    _SUBTYPE_CHOICE: _union,
    **dict.fromkeys(("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"), _greater),
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"), _smaller),
    "additionalProperties": lambda one, other: one if other is True or other == {} else other,
}
"""Keyword to the function that merges two values; of other keywords, the first value is used."""


_KEYWORDS = {
    "object": {"properties", "required", "additionalProperties", "minProperties", "patternProperties"},
    "array": {"items", "prefixItems", "minItems", "uniqueItems", "contains"},
    "string": {"pattern", "minLength", "maxLength", "format"},
    "number": {"minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum"},
}
"""Type to the keywords that only concern this type."""


class NoExample(ValueError):
    """No value was found that the schema allows; the message is the reason."""


def _declared_values(raw: Json, pointer: str) -> Iterator[tuple[Json, str]]:
    """Yields the examples and the default of a schema, each with its pointer, the best first."""
    if not isinstance(raw, dict):
        return
    if "example" in raw:
        yield raw["example"], child(pointer, "example")
    examples = raw.get("examples")
    if isinstance(examples, list):
        yield from ((value, child(pointer, "examples", index)) for index, value in enumerate(examples[:3]))
    if raw.get("default") is not None:
        yield raw["default"], child(pointer, "default")


def _kind_of_value(flat: Flat) -> str:
    """Returns the type to generate; inferred from the keywords if none is declared."""
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


def _with_dependents(wanted: dict[str, None], flat: Flat) -> dict[str, None]:
    """Adds the properties that others require (`dependentRequired`, and `dependencies` of draft-07)."""
    rules = {**as_dict(flat.get("dependencies")), **as_dict(flat.get("dependentRequired"))}
    waiting = list(wanted)
    while waiting:
        for name in as_list(rules.get(waiting.pop())):
            if isinstance(name, str) and name not in wanted:
                wanted[name] = None
                waiting.append(name)
    return wanted


def _member_schema(flat: Flat, name: str, pointer: str, *, is_open: bool = False) -> tuple[Json, str]:
    """Returns the schema of a property and its pointer; with `is_open` every name is allowed.

    Raises:
        NoExample: the object does not allow a property of that name.
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


def _items_of(flat: Flat) -> tuple[Json, list[Json]]:
    """Returns the schema of the items of an array, and the schemas of its positional items."""
    items, first = flat.get("items", True), as_list(flat.get("prefixItems"))
    if isinstance(items, list):  # draft-07 has the positional form here
        return flat.get("additionalItems", True), items
    return items, first


def _count(value: Json) -> int:
    """Returns a size limit; 0 if it is not a positive integer."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _other_values(value: Json, variants: Iterable[Flat]) -> Iterator[Json]:
    """Yields alternatives to a value that is already used or not allowed, the best first."""
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
        yield from variations(value)


_DIGITS_LIMIT = 30
"""Digits of a bound; no number is generated for longer ones."""


def _number_from(flat: dict[str, Json], *, is_integer: bool) -> int | float | None:
    """Returns a number that a flat schema allows, preferably 1; `None` if none was found."""
    low, low_open = _bound(flat, "minimum", "exclusiveMinimum", max)
    high, high_open = _bound(flat, "maximum", "exclusiveMaximum", min)
    step = _number(flat.get("multipleOf"))
    if step is None or step <= 0:
        step = Fraction(1) if is_integer else None
    elif is_integer:
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
        candidates = [Fraction(1), Fraction(0)]
        candidates += [low, low + 1] if low is not None else []
        candidates += [high, high - 1] if high is not None else []
        return [*candidates, (low + high) / 2] if low is not None and high is not None else candidates
    candidates = [Fraction(1)] if step.numerator == 1 else []
    candidates.append(step)
    if low is not None:
        first = math.ceil(low / step) * step
        candidates += [first, first + step]
    if high is not None:
        last = math.floor(high / step) * step
        candidates += [last, last - step]
    return [*candidates, Fraction(0)]


def _bound(flat: dict[str, Json], closed: str, opened: str, tighter: object) -> tuple[Fraction | None, bool]:
    """Returns a bound and whether it is exclusive, by the rules of draft-04 (a boolean) and later (a number)."""
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
    return Fraction(str(value)) if isinstance(value, float) or abs(value) < 10**_DIGITS_LIMIT else None


_DEPTH_LIMIT = 12
"""Levels of a value; a recursive type that needs more has no example."""

_ATTEMPTS_LIMIT = 12
"""Properties that are tried for an object that is too small, and alternatives to a value that is not allowed."""

_VALUES_LIMIT = 400
"""Values that are generated for one call, including discarded ones."""

_Report = Callable[[str, str, str], None]
"""Reports a declared value that is not used: code, pointer and message."""


@dataclass(frozen=True, slots=True)
class GeneratedValue:
    """A value for a parameter or a body."""

    value: Json

    is_generated: bool
    """Whether any part of it is generated, not declared."""


class ExampleGenerator:
    """Generates values for the schemas of one document; each is validated before it is used."""

    def __init__(self, validator: Validator, report: _Report, *, is_request: bool) -> None:
        self._validator = validator
        self._report = report
        self._is_request = is_request
        self._variants = Variants(validator.follow, siblings_of_references=validator.reads_siblings_of_references)
        self._built = 0
        self._is_generated = False
        self._path: set[int] = set()

    def generate(
        self, raw: Json, name: str, pointer: str, *, declared: Iterable[tuple[Json, str]] = ()
    ) -> GeneratedValue:
        """Returns a value that a schema allows: the first valid one of `declared` (with pointers), else a new one.

        Raises:
            NoExample: none was found.
        """
        self._built = 0
        self._is_generated = False
        self._path.clear()
        for value, where in declared:
            if self._is_usable(value, raw, name, where):
                return GeneratedValue(value, False)
        value = self._valid_value(raw, name, pointer, 0)
        return GeneratedValue(value, self._is_generated)

    def generate_non_empty(
        self, raw: Json, name: str, pointer: str, *, declared: Iterable[tuple[Json, str]] = ()
    ) -> GeneratedValue:
        """Returns a value like `generate`, but fills an object that requires nothing with its first useful property.

        The same for an object that is the only property of another: APIs wrap bodies (`{"data": …}`).
        """
        generated = self._fill_empty(self.generate(raw, name, pointer, declared=declared), raw, pointer)
        inner = list(as_dict(generated.value).items())
        if not generated.is_generated or len(inner) != 1 or inner[0][1] != {}:
            return generated
        key = inner[0][0]
        for flat in self._variants.of(raw):
            if (item := dict(self._writable(flat)).get(key)) is not None:
                where = child(pointer, "properties", key)
                wider = {key: self._fill_empty(GeneratedValue({}, True), item, where).value}
                if wider != generated.value and self._validator.validation_error(wider, raw) is None:
                    return GeneratedValue(wider, True)
        return generated

    def _fill_empty(self, generated: GeneratedValue, raw: Json, pointer: str) -> GeneratedValue:
        """Adds the first property with a non-empty value to a generated object that is empty."""
        if generated.value != {} or not generated.is_generated:
            return generated
        best = generated
        for flat in self._variants.of(raw):
            # The file of a form is its most useful property.
            for key, item in sorted(self._writable(flat), key=lambda pair: as_dict(pair[1]).get("format") != "binary"):
                try:
                    wider = {key: self._valid_value(item, key, child(pointer, "properties", key), 1)}
                except NoExample:
                    continue
                if self._has_read_only_part(item) or self._validator.validation_error(wider, raw) is not None:
                    continue
                if wider[key] not in ({}, [], [{}]):
                    return GeneratedValue(wider, True)
                best = best if best.value else GeneratedValue(wider, True)
        return best

    def _has_read_only_part(self, item: Json) -> bool:
        """True if a member of its `allOf` is read-only (OpenAPI 3.0 has no siblings of `$ref`)."""
        return any(map(self._is_read_only, as_list(as_dict(item).get("allOf"))))

    def _valid_value(self, raw: Json, name: str, pointer: str, depth: int) -> Json:
        """Returns a value that matches the raw schema: a declared one if one does."""
        self._built += 1
        if depth > _DEPTH_LIMIT or self._built > _VALUES_LIMIT or id(raw) in self._path:
            raise NoExample("it is nested too deep, or in a circle")
        for value, where in _declared_values(raw, pointer):
            if self._is_usable(value, raw, name, where):
                return value
        self._path.add(id(raw))
        try:
            return self._generated(raw, name, pointer, depth)
        except NoExample as problem:
            raise NoExample(f"{name}: {problem}" if name and name not in str(problem) else str(problem)) from None
        finally:
            self._path.discard(id(raw))

    def _generated(self, raw: Json, name: str, pointer: str, depth: int) -> Json:
        reason = "nothing fits its schema"
        for flat in self._variants.of(raw):
            try:
                value = self._from_flat(flat, name, pointer, depth)
            except NoExample as problem:
                reason = str(problem)
                continue
            if (error := self._validation_error(value, raw, flat)) is None:
                return value
            reason = f"the generated value is invalid: {error}"
            for candidate in self._alternatives(value, flat, pointer, depth):
                if self._validation_error(candidate, raw, flat) is None:
                    return candidate
        raise NoExample(reason)

    def _validation_error(self, value: Json, raw: Json, flat: Flat) -> str | None:
        """Returns why a value of a variant does not match the schema, or a chosen subtype."""
        if _SUBTYPE_CHOICE not in flat:
            return self._validator.validation_error(value, raw)
        schemas = [raw, *({"$ref": chosen} for chosen in as_list(flat.get(_SUBTYPE_CHOICE)))]
        errors = (self._validator.validation_error(value, schema) for schema in schemas)
        return next((error for error in errors if error is not None), None)

    def _alternatives(self, value: Json, flat: Flat, pointer: str, depth: int) -> Iterator[Json]:
        """Yields candidates to replace an invalid value.

        An object gets more properties, since it may match several alternatives where exactly one must match.
        """
        if "type" not in flat:
            yield from (1, {}, [], False)
        if not isinstance(value, dict):
            yield from islice(_other_values(value, self._variants.of(flat)), _ATTEMPTS_LIMIT)
            return
        wider = value
        for name, item in islice(self._writable(flat), _ATTEMPTS_LIMIT):
            if name not in value:
                try:
                    more = {name: self._valid_value(item, name, child(pointer, "properties", name), depth + 1)}
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
        error = self._validator.validation_error(value, raw)
        if error == UNCHECKED:  # an author's value counts as valid until proven invalid
            return True
        if error is not None:
            self._report("example-invalid", where, f"the declared value does not match its own schema: {error}")
        return error is None

    def _from_flat(self, flat: Flat, name: str, pointer: str, depth: int) -> Json:
        for value, _ in _declared_values(flat, pointer):
            if why_unpublishable(value, name) is None and self._validator.validation_error(value, flat) is None:
                return value
        if "const" in flat:
            return flat["const"]
        self._is_generated = True
        choices = flat.get("enum")
        if isinstance(choices, list):
            if not choices:
                raise NoExample("its list of values is empty")
            return next((item for item in choices if item is not None and item != ""), choices[0])
        kind = _kind_of_value(flat)
        if kind == "object":
            return self._object(flat, pointer, depth)
        if kind == "array":
            return self._array(flat, name, pointer, depth)
        if kind in ("integer", "number"):
            number = _number_from(flat, is_integer=kind == "integer")
            if number is None:
                raise NoExample("no number was found within its bounds")
            return number
        if kind in ("boolean", "null"):
            return False if kind == "boolean" else None
        return _string_from(flat, name)

    def _object(self, flat: Flat, pointer: str, depth: int) -> Json:
        properties = as_dict(flat.get("properties"))
        wanted = dict.fromkeys(name for name in as_list(flat.get("required")) if isinstance(name, str))
        # As in draft-03, `required: true` may be on the property itself.
        wanted.update((name, None) for name, item in properties.items() if as_dict(item).get("required") is True)
        wanted = {name: None for name in wanted if not self._is_read_only(properties.get(name))}
        result: dict[str, Json] = {}
        for name in _with_dependents(wanted, flat):
            item, where = _member_schema(flat, name, pointer, is_open=self._validator.is_open)
            result[name] = self._valid_value(item, name, where, depth + 1)
        for name, item in self._writable(flat):
            if len(result) >= _count(flat.get("minProperties")):
                break
            if name not in result:
                result[name] = self._valid_value(item, name, child(pointer, "properties", name), depth + 1)
        self._add_additional_properties(result, flat, pointer, depth)
        return result

    def _add_additional_properties(self, result: dict[str, Json], flat: Flat, pointer: str, depth: int) -> None:
        rules = [item for item in [flat.get("propertyNames")] if isinstance(item, dict)]
        patterns = as_dict(flat.get("patternProperties"))
        if not rules and len(patterns) == 1 and flat.get("additionalProperties") is False:
            rules = [{"pattern": pattern} for pattern in patterns]
        while len(result) < min(_count(flat.get("minProperties")), 20):
            name = self._additional_name(result, rules, depth)
            item, where = _member_schema(flat, name, pointer, is_open=self._validator.is_open)
            result[name] = self._valid_value(item, "value", where, depth + 1)

    def _additional_name(self, taken: dict[str, Json], rules: list[Json], depth: int) -> str:
        wanted = f"name{len(taken) or ''}"
        if not rules:
            return _string_from({}, wanted)
        schema: Json = {"type": "string", "allOf": rules}
        first = self._valid_value(schema, wanted, "", depth + 1)
        for name in (first, *_other_values(first, self._variants.of(schema))):
            if isinstance(name, str) and name not in taken and self._validator.validation_error(name, schema) is None:
                return name
        raise NoExample("its names must differ, and no more were found")

    def _array(self, flat: Flat, name: str, pointer: str, depth: int) -> Json:
        items, first = _items_of(flat)
        least = max(_count(flat.get("minItems")), len(first), 0 if items is False else 1)
        if "contains" in flat and not first:
            items = {"allOf": [items, flat["contains"]]}
            least = max(least, _count(flat.get("minContains")))
        most = flat.get("maxItems")
        least = min(least, most) if isinstance(most, int) else least
        if least > 20:
            raise NoExample(f"it has {least} items or more")
        result: list[Json] = []
        for index in range(least):
            if index < len(first):
                result.append(self._valid_value(first[index], name, child(pointer, "prefixItems", index), depth + 1))
                continue
            try:
                result.append(
                    self._item(items, singular(name), result, pointer, depth, flat.get("uniqueItems") is True)
                )
            except NoExample:
                if len(result) < max(_count(flat.get("minItems")), _count(flat.get("minContains"))):
                    raise
                break  # a list of recursive items may be shorter
        return result

    def _item(self, items: Json, name: str, before: list[Json], pointer: str, depth: int, unique: bool) -> Json:
        value = self._valid_value(items, name, child(pointer, "items"), depth + 1)
        if not unique or value not in before:
            return value
        for other in _other_values(value, self._variants.of(items)):
            if other not in before and self._validator.validation_error(other, items) is None:
                return other
        raise NoExample("its items must differ, and no more were found")

    def _writable(self, flat: Flat) -> Iterator[tuple[str, Json]]:
        for name, item in as_dict(flat.get("properties")).items():
            if item is not False and not self._is_read_only(item) and as_dict(item).get("deprecated") is not True:
                yield name, item

    def _is_read_only(self, item: Json) -> bool:
        return self._is_request and self._validator.is_read_only(item)


def _string_from(flat: Flat, name: str) -> str:
    patterns = flat.get("pattern", [])
    try:
        return string_for(
            name,
            flat.get("format"),
            tuple(patterns) if isinstance(patterns, list) else (patterns,),
            _count(flat.get("minLength")),
            most if isinstance(most := flat.get("maxLength"), int) else None,
        )
    except NoString as problem:
        raise NoExample(str(problem)) from None
