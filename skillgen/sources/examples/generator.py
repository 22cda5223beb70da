"""Generates a value that a schema allows: declared values first, else only what is required, readable and small.

`Variants` flattens a schema: each variant has no composition, with references and `allOf` merged and one of the
alternatives and conditions chosen. Contradictory parts have no variant. For a base type with a discriminator, a value
of a subtype is generated (OpenAPI 3.1, "Discriminator Object"): no description says whether the base itself may be
sent, unless its discriminator has a value for it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import islice
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from skillgen.errors import ProblemLog
from skillgen.model.schema import Discriminator, Parameter, Schema
from skillgen.model.values import Json, child
from skillgen.sources.examples.patterns import NoString
from skillgen.sources.examples.prose import excludes_others, text_on, values_in, wanted_by
from skillgen.sources.examples.strings import fits, is_telling, singular, string_for, variations
from skillgen.sources.examples.validation import UNCHECKED, ExampleSchemas, Validator, is_finite, why_unpublishable
from skillgen.sources.json_access import as_dict
from skillgen.sources.json_schema.merge import ANYTHING, merge

_SUBTYPES_LIMIT = 6
"""Subtypes of a base type that are tried."""

_VARIANTS_LIMIT = 24
"""Variants of a schema that are tried for one value."""

_STEPS_LIMIT = 2_000
"""Schemas that are read for the variants of one schema."""

_VARIANT_DEPTH_LIMIT = 150
"""Levels of nested schemas, and parts of one, that are read; both recurse."""

_WITHOUT_COMPOSITION: dict[str, Any] = {
    "ref": None,
    "includes": (),
    "also": (),
    "alternatives": (),
    "conditions": (),
    "discriminator": None,
    "description": None,
}

_Option = tuple[Schema, tuple[str, ...]]
"""A schema, and the names of the types that it is part of."""


class Variants:
    """Flattens the schemas of one document."""

    def __init__(self, schemas: ExampleSchemas) -> None:
        self._schemas = schemas
        self._steps = 0
        self._values: dict[str, dict[str, str]] = {}
        self._first: dict[int, tuple[Schema, Schema]] = {}

    def of(self, schema: Schema) -> Iterator[Schema]:
        """Returns the variants of a schema, the simplest first."""
        self._steps = 0
        return islice(self._of(schema, (), 0), _VARIANTS_LIMIT)

    def first(self, schema: Schema) -> Schema:
        """Returns the simplest variant."""
        if id(schema) not in self._first:  # by identity: a schema is compared by all that it holds
            self._first[id(schema)] = next(self.of(schema), ANYTHING), schema
        return self._first[id(schema)][0]

    def _of(self, schema: Schema, within: tuple[str, ...], depth: int) -> Iterator[Schema]:
        self._steps += 1
        parts = len(schema.includes) + len(schema.also) + len(schema.conditions)
        if self._steps > _STEPS_LIMIT or depth + parts > _VARIANT_DEPTH_LIMIT:
            return
        choices = [list(self._type_options(name, within)) for name in self._schemas.bases(schema)]
        choices += [[(part, within)] for part in schema.also]
        if schema.alternatives:
            choices.append([(item, within) for item in _discriminated(schema)])
        choices += [[(option, within) for option in options] for options in _outcomes(schema)]
        if not choices:
            yield schema
            return
        flat = ANYTHING if schema == Schema(ref=schema.ref) else replace(schema, **_WITHOUT_COMPOSITION)
        yield from self._expanded(flat, choices, depth)

    def _expanded(self, flat: Schema, choices: list[list[_Option]], depth: int) -> Iterator[Schema]:
        if not choices:
            yield flat
            return
        if depth + len(choices) > _VARIANT_DEPTH_LIMIT:
            return
        for option, within in choices[0]:
            for variant in self._of(option, within, depth + 1):
                merged = variant if flat is ANYTHING else merge(flat, variant)
                is_empty = merged.choices == () and () not in (flat.choices, variant.choices)
                if not is_empty and not any(part.types for part in merged.also):
                    yield from self._expanded(merged, choices[1:], depth + 1)

    def _type_options(self, name: str, within: tuple[str, ...]) -> Iterator[_Option]:
        """Yields what a reference to a type may mean: the type, or for a base type one of its subtypes."""
        if name in within:
            return
        target = self._schemas.type(name)
        inside = (*within, name)
        if target.discriminator is None or target.alternatives:
            yield target, inside
            return
        key = target.discriminator.property
        if name not in self._values:
            self._values[name] = _values_by_type(target.discriminator)
        values = self._values[name]
        known = next((values[item] for item in inside if item in values), None)
        if known is not None:
            yield _narrowed(target, key, known), inside
            yield target, inside
            return
        for subtype, value in islice(values.items(), _SUBTYPES_LIMIT):
            # A subtype includes its base, so the base is not in `within` yet; one that only the mapping names does not.
            is_extension = name in self._schemas.ancestors(self._schemas.type(subtype))
            base = () if is_extension else (replace(_narrowed(target, key, value), discriminator=None),)
            yield Schema(ref=subtype, also=base), within
        restricted = any(item.name == key and _is_restricted(item.schema) for item in target.properties)
        yield (target if restricted else _narrowed(target, key, name)), inside


def _values_by_type(discriminator: Discriminator) -> dict[str, str]:
    """Returns the first value that selects each type."""
    values: dict[str, str] = {}
    for value, name in (discriminator.mapping or {}).items():
        if name:
            values.setdefault(name, value)
    return values


def _is_restricted(schema: Schema) -> bool:
    return schema.choices is not None or schema.ref is not None or bool(schema.includes)


def _narrowed(schema: Schema, name: str, value: str) -> Schema:
    """Requires a property with a constant value."""
    known = next((item.schema for item in schema.properties if item.name == name), ANYTHING)
    schema = replace(schema, properties=tuple(item for item in schema.properties if item.name != name))
    constant = merge(known, Schema(choices=(value,)))
    item = Parameter(name=name, location="property", required=True, schema=constant, pointer="")
    return replace(schema, properties=(*schema.properties, item))


def _discriminated(schema: Schema) -> Iterator[Schema]:
    """Yields the alternatives, each with its value of the discriminator (OpenAPI, "Discriminator Object")."""
    if schema.discriminator is None:
        yield from schema.alternatives
        return
    name, values = schema.discriminator.property, _values_by_type(schema.discriminator)
    for item in schema.alternatives:
        value = values.get(item.ref or "")
        yield item if value is None else merge(item, _narrowed(ANYTHING, name, value))


def _outcomes(schema: Schema) -> Iterator[list[Schema]]:
    """Yields what a value may match because of each condition, the likelier first."""
    required = {*schema.required, *(item.name for item in schema.properties if item.required)}
    for condition in schema.conditions:
        met = merge(condition.when, condition.then or ANYTHING)
        names = condition.when.required
        is_certain = condition.when == Schema(required=names) and required.issuperset(names)
        yield [met] if is_certain else [condition.otherwise or ANYTHING, met]


class NoExample(ValueError):
    """No value was found that the schema allows; the message is the reason."""


def _kind_of_value(flat: Schema) -> str:
    """Returns the type to generate; inferred from the keywords if none is declared."""
    if flat.types:
        return flat.types[0]
    keywords = (flat.constraints or {}).keys()
    if flat.properties or flat.required or flat.additional is not None or flat.patterns or "minProperties" in keywords:
        return "object"
    if flat.items or flat.prefix_items or flat.contains or keywords & {"minItems", "uniqueItems"}:
        return "array"
    if flat.format is None and keywords & {"minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum"}:
        return "number"
    return "string"


def _offers_json(schema: Schema) -> bool:
    """True if `json` is among other formats of a response, even if another is the default."""
    return schema.choices is not None and "json" in schema.choices and not schema.examples


def _count(flat: Schema, keyword: str) -> int:
    """Returns a size limit; 0 if it is not a positive integer."""
    value = (flat.constraints or {}).get(keyword)
    return value if type(value) is int and value > 0 else 0


def _other_values(value: Json, variants: Iterable[Schema]) -> Iterator[Json]:
    """Yields alternatives to a value that is already used or not allowed, the best first."""
    for flat in variants:
        yield from flat.choices or ()
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


_LARGEST_BOUND = 10**30
"""A larger bound is ignored; no number is generated near it."""


def _numbers(constraints: Mapping[str, Json], *, is_integer: bool) -> Iterator[int | float]:
    """Yields numbers near 1 and near the bounds of a schema."""
    bounds = {
        keyword: Fraction(str(value))
        for keyword, value in constraints.items()
        if is_finite(value) and abs(value) < _LARGEST_BOUND
    }
    low = max((bounds[keyword] for keyword in ("minimum", "exclusiveMinimum") if keyword in bounds), default=None)
    high = min((bounds[keyword] for keyword in ("maximum", "exclusiveMaximum") if keyword in bounds), default=None)
    step = max(bounds.get("multipleOf", Fraction(0)), Fraction(0))
    if is_integer:
        step = Fraction(math.lcm(step.numerator, step.denominator), step.denominator) if step else Fraction(1)
    candidates = [Fraction(1), step]
    if low is not None:
        first = math.ceil(low / step) * step if step else low
        candidates += [first, first + (step or 1)]
    if high is not None:
        last = math.floor(high / step) * step if step else high
        candidates += [last, last - (step or 1)]
    if low is not None and high is not None:
        candidates.append((low + high) / 2)
    for number in (*candidates, Fraction(0)):
        if number.denominator == 1 or not is_integer:
            yield int(number) if number.denominator == 1 else float(number)


_DEPTH_LIMIT = 12
"""Levels of a value; a recursive type that needs more has no example."""

_ATTEMPTS_LIMIT = 12
"""Properties that are tried for an object that is too small, and alternatives to a value that is not allowed."""

_VALUES_LIMIT = 400
"""Values that are generated for one call, including discarded ones."""

_ITEMS_LIMIT = 20
"""Items of a generated list, and properties of a generated object without declared names."""

_SCALARS_LIMIT = 6
"""Optional properties of an object that requires none; if there are more, none is chosen."""

_SCALARS_DEPTH_LIMIT = 3
"""Levels of a value at which optional properties are added."""

_SCALARS = frozenset({"string", "integer", "number", "boolean"})

_UNINFORMATIVE: tuple[Json, ...] = ("", [], {}, "string")
"""Declared values that show nothing; `string` is what editors fill in."""

_UNSET = re.compile(r"(?:^|_)(?:unspecified|unknown|undefined|invalid)\Z", re.IGNORECASE)
"""The first value of an enumeration of Protocol Buffers, which is not to be sent."""


class GeneratedValue(Struct, frozen=True):
    """A value for a parameter or a body."""

    value: Json

    is_generated: bool
    """Whether any part of it is generated, not declared."""

    is_known: bool = True
    """Whether any part of it comes from the source, or has the form that it asks for; others are placeholders."""


class ExampleGenerator:
    """Generates values for the schemas of one document; each is validated before it is used."""

    def __init__(self, validator: Validator, problems: ProblemLog, *, is_complete: bool = False) -> None:
        """With `is_complete`, objects have their optional properties too, as results do."""
        self.schemas = validator.schemas
        self._is_complete = is_complete
        self.variants = Variants(self.schemas)
        self._validator = validator
        self._problems = problems
        self._built = 0
        self._is_generated = self._is_known = False
        self._path: set[int] = set()
        self.credentials: frozenset[str] = frozenset()
        """Properties of a body that hold the credential, which every call needs."""
        self._is_read = True
        self._takes_some = False

    def generate(
        self,
        schema: Schema,
        name: str,
        pointer: str,
        *,
        text: str = "",
        declared: Iterable[tuple[Json, str]] = (),
        is_read: bool = True,
    ) -> GeneratedValue:
        """Returns a value that a schema allows: the first valid one of `declared` (with pointers), else a new one.

        `text` is the description of the value, or of the tool for all its arguments. Unless the call only reads, an
        optional property has a value only if the source has an example of it, or the prose requires it.

        Raises:
            NoExample: none was found.
        """
        self._built = 0
        self._is_generated = self._is_known = False
        self._is_read = is_read
        self._takes_some = excludes_others(text)
        self._path.clear()
        for value, where in declared:
            if self._is_usable(value, schema, name, where):
                return GeneratedValue(value, False)
        value = self._valid_value(schema, name, pointer, 0, text)
        return GeneratedValue(value, self._is_generated, self._is_known)

    def _valid_value(self, schema: Schema, name: str, pointer: str, depth: int, text: str) -> Json:
        """Returns a value that matches the schema: a declared one if one does."""
        self._built += 1
        if depth > _DEPTH_LIMIT or self._built > _VALUES_LIMIT or id(schema) in self._path:
            raise NoExample("it is nested too deep, or in a circle")
        for value, where in self.schemas.declared_values(schema, pointer):
            if value not in _UNINFORMATIVE and not _offers_json(schema) and self._is_usable(value, schema, name, where):
                self._is_known = True
                return value
        self._path.add(id(schema))
        try:
            return self._generated(schema, name, pointer, depth, text or self.schemas.description(schema))
        except NoExample as problem:
            raise NoExample(f"{name}: {problem}" if name and name not in str(problem) else str(problem)) from None
        finally:
            self._path.discard(id(schema))

    def _generated(self, schema: Schema, name: str, pointer: str, depth: int, text: str) -> Json:
        reason, was_known = "nothing fits its schema", self._is_known
        for flat in self.variants.of(schema):
            self._is_known = was_known
            try:
                value = self._from_flat(flat, name, pointer, depth, text)
            except NoExample as problem:
                reason = str(problem)
                continue
            if (error := self._validator.validation_error(value, schema)) is None:
                return value
            reason = f"the generated value is invalid: {error}"
            for candidate in self._alternatives(value, flat, depth):
                if self._validator.validation_error(candidate, schema) is None:
                    return candidate
        self._is_known = was_known
        if schema.nullable and self._validator.validation_error(None, schema) is None:
            return None
        raise NoExample(reason)

    def _alternatives(self, value: Json, flat: Schema, depth: int) -> Iterator[Json]:
        """Yields candidates to replace an invalid value.

        An object gets more properties, since it may match several alternatives where exactly one must match.
        """
        if not flat.types:
            yield from (1, {}, [], False)
        if not isinstance(value, dict):
            yield from islice(_other_values(value, [flat]), _ATTEMPTS_LIMIT)
            return
        wider = value
        for item in islice(self._writable(flat), _ATTEMPTS_LIMIT):
            if item.name not in value:
                try:
                    more = {item.name: self._property(item, depth)}
                except NoExample:
                    continue
                wider = {**wider, **more}
                yield {**value, **more}
                if wider.keys() - more.keys() - value.keys():
                    yield wider

    def _is_usable(self, value: Json, schema: Schema, name: str, where: str) -> bool:
        if (reason := why_unpublishable(value, name)) is not None:
            self._problems.report(reason[0], where, reason[1])
            return False
        error = self._validator.validation_error(value, schema)
        if error in (None, UNCHECKED):  # an author's value counts as valid until proven invalid
            return True
        message = f"the declared value does not match its own schema: {error}"
        self._problems.report("example-invalid", where, message)
        return False

    def _first_valid(self, candidates: Iterable[Json], name: str, flat: Schema) -> tuple[Json, ...]:
        """Returns the first of the candidates that may be published and is valid, if there is one."""
        valid = (
            (value,)
            for value in candidates
            if why_unpublishable(value, name) is None and self._validator.validation_error(value, flat) is None
        )
        return next(valid, ())

    def _from_flat(self, flat: Schema, name: str, pointer: str, depth: int, text: str) -> Json:
        values = () if _offers_json(flat) else self.schemas.declared_values(flat, pointer)
        found = self._first_valid((value for value, _ in values if value not in _UNINFORMATIVE), name, flat)
        if not found and flat.choices is not None:
            if not flat.choices:
                raise NoExample("its list of values is empty")
            self._is_generated = True
            choices = [item for item in flat.choices if item not in (None, "") and not _UNSET.search(str(item))]
            found = ("json" if _offers_json(flat) else (choices or flat.choices)[0],)
        kind = _kind_of_value(flat)
        if not found and text and (depth or kind != "object"):
            self._is_generated = True
            candidates = values_in(text, kind)
            found = self._first_valid((item for item in candidates if fits(item, name, flat.format)), name, flat)
        if found:
            self._is_known = True
            return found[0]
        self._is_generated = True
        if kind == "object":
            return self._object(flat, pointer, depth, text)
        if kind == "array":
            return self._array(flat, name, pointer, depth, text)
        if kind in ("integer", "number"):
            numbers = _numbers(flat.constraints or {}, is_integer=kind == "integer")
            if not (found := self._first_valid(numbers, name, flat)):
                raise NoExample("no number was found within its bounds")
            return found[0]
        return False if kind == "boolean" else self._string(flat, name)

    def _string(self, flat: Schema, name: str) -> str:
        parts = [part.constraints or {} for part in (flat, *flat.also)]
        patterns = tuple(part["pattern"] for part in parts if "pattern" in part)
        most = _count(flat, "maxLength") if "maxLength" in parts[0] else None
        try:
            value = string_for(name, flat.format, patterns, _count(flat, "minLength"), most)
        except NoString as problem:
            raise NoExample(str(problem)) from None
        self._is_known |= is_telling(value, name, has_pattern=bool(patterns))
        return value

    def _property(self, item: Parameter, depth: int, text: str = "") -> Json:
        """Returns a value of a property; `text` is the description of the object, which may explain it."""
        return self._valid_value(item.schema, item.name, item.pointer, depth + 1, text_on(item, text))

    def _object(self, flat: Schema, pointer: str, depth: int, text: str) -> Json:
        result: dict[str, Json] = {}
        for item in flat.properties:
            if item.required and not self._validator.is_read_only(item.schema):
                result[item.name] = self._property(item, depth, text)
        for name in flat.required:
            result[name] = self._valid_value(*self._member(flat, name, pointer), depth + 1, "")
        optional = {item.name: item for item in self._writable(flat) if item.name not in result}
        if depth == 0:
            result |= {name: self._property(optional[name], depth) for name in self.credentials & optional.keys()}
        if optional and depth < _SCALARS_DEPTH_LIMIT:
            result = self._with_optional(result, flat, optional, depth, text)
        least = _count(flat, "minProperties")
        for item in optional.values():
            if len(result) >= least:
                break
            if item.name not in result:
                result[item.name] = self._property(item, depth, text)
        while len(result) < min(least, _ITEMS_LIMIT):
            name = self._additional_name(result, flat, depth)
            schema, _, where = self._member(flat, name, pointer)
            result[name] = self._valid_value(schema, "value", where, depth + 1, "")
        return result

    def _with_optional(
        self, value: dict[str, Json], flat: Schema, optional: Mapping[str, Parameter], depth: int, text: str
    ) -> dict[str, Json]:
        """Returns an object with the properties that the prose requires, else with all known scalars."""
        if self._is_complete:
            attempts = (self._attempt(item, depth, text) for item in optional.values())
            members = [as_dict(attempt.value) for attempt in attempts if attempt is not None]
            return value | {name: member for item in members for name, member in item.items()}
        for names in wanted_by(text, flat.properties, value):
            if value.keys().isdisjoint(names):
                tried = [self._attempt(optional[name], depth, text) for name in names if name in optional]
                found = sorted((item for item in tried if item is not None), key=lambda item: not item.is_known)
                for best in found[:1]:
                    self._is_known |= best.is_known
                    value = {**value, **as_dict(best.value)}
        scalars = [item for item in optional.values() if item.name not in value and self._is_scalar(item)]
        if len(optional.keys() - self.credentials) == 1:
            scalars = [item for item in optional.values() if item.name not in value]
        if value.keys() - self.credentials or len(scalars) > _SCALARS_LIMIT or self._takes_some:
            return value
        shown = scalars if self._is_read else [*filter(self._is_illustrated, scalars)]
        known = [item for name in shown if (item := self._attempt(name, depth, text)) is not None and item.is_known]
        wider = value | {key: member for item in known for key, member in as_dict(item.value).items()}
        if len(known) < min(len(scalars), 2) or self._validator.validation_error(wider, flat) is not None:
            return value
        self._is_known |= bool(known)
        return wider

    def _attempt(self, item: Parameter, depth: int, text: str) -> GeneratedValue | None:
        """Returns an object with one property; `None` if it has no value."""
        was_known, self._is_known = self._is_known, False
        try:
            return GeneratedValue({item.name: self._property(item, depth, text)}, True, self._is_known)
        except NoExample:
            return None
        finally:
            self._is_known = was_known

    def _is_scalar(self, item: Parameter) -> bool:
        types = self.variants.first(item.schema).types
        return bool(types) and _SCALARS.issuperset(types)

    def _is_illustrated(self, item: Parameter) -> bool:
        """True if the source has an example of a property, or may have one of what is in it."""
        flat = self.variants.first(item.schema)
        return flat.types == ("object",) or any(example not in _UNINFORMATIVE for example in flat.examples)

    def _member(self, flat: Schema, name: str, pointer: str) -> tuple[Schema, str, str]:
        """Returns the schema of a property that is not declared, its name and its pointer.

        Raises:
            NoExample: the object does not allow a property of that name.
        """
        patterns = flat.patterns or {}
        if len(patterns) == 1:
            ((pattern, schema),) = patterns.items()
            return schema, name, child(pointer, "patternProperties", pattern)
        if flat.additional is False and not self._validator.is_open:
            raise NoExample(f"it requires {name[:60]!r}, which it does not allow")
        schema = flat.additional if isinstance(flat.additional, Schema) else ANYTHING
        return schema, name, child(pointer, "additionalProperties")

    def _additional_name(self, taken: dict[str, Json], flat: Schema, depth: int) -> str:
        wanted = f"name{len(taken) or ''}"
        schema = flat.property_names
        if schema is None and len(flat.patterns or {}) == 1 and flat.additional is False:
            schema = Schema(constraints={"pattern": next(iter(flat.patterns or {}))})
        schema = merge(Schema(types=("string",)), schema or ANYTHING)
        first = self._valid_value(schema, wanted, "", depth + 1, "")
        for name in (first, *_other_values(first, self.variants.of(schema))):
            if name not in taken and self._validator.validation_error(name, schema) is None:
                return str(name)
        raise NoExample("its names must differ, and no more were found")

    def _array(self, flat: Schema, name: str, pointer: str, depth: int, text: str) -> Json:
        items, first = flat.items or ANYTHING, flat.prefix_items
        needed = max(_count(flat, "minItems"), len(first) if flat.items is None or items.choices == () else 0)
        least = max(needed, len(first), 0 if items.choices == () else 1)
        if flat.contains is not None and not first:
            items = merge(items, flat.contains)
            needed = max(needed, _count(flat, "minContains"))
            least = max(least, needed)
        if "maxItems" in (flat.constraints or {}):
            least = min(least, _count(flat, "maxItems"))
        if least > _ITEMS_LIMIT:
            raise NoExample(f"it has {least} items or more")
        result: list[Json] = []
        for index in range(least):
            if index < len(first):
                where = child(pointer, "prefixItems", index)
                result.append(self._valid_value(first[index], name, where, depth + 1, ""))
                continue
            try:
                value = self._valid_value(items, singular(name), child(pointer, "items"), depth + 1, text)
                if value in result and (flat.constraints or {}).get("uniqueItems") is True:
                    value = self._different(value, items, result)
                result.append(value)
            except NoExample:
                if len(result) < needed:
                    raise
                break  # a list of recursive items may be shorter
        return result

    def _different(self, value: Json, items: Schema, before: list[Json]) -> Json:
        for other in _other_values(value, self.variants.of(items)):
            if other not in before and self._validator.validation_error(other, items) is None:
                return other
        raise NoExample("its items must differ, and no more were found")

    def _writable(self, flat: Schema) -> Iterator[Parameter]:
        for item in flat.properties:
            if item.schema.choices != () and not item.deprecated and not self._validator.is_read_only(item.schema):
                yield item
