"""Builds a value that a schema allows: declared values first, else the least that is required, readable and small."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from skillgen.model.pointer import child
from skillgen.model.value import Json
from skillgen.sources.examples.bases import CHOSEN
from skillgen.sources.examples.flat_schemas import (
    NoExample,
    count_of,
    declared_values,
    items_of,
    kind_of_value,
    member_schema,
    with_dependents,
)
from skillgen.sources.examples.numbers import made_number
from skillgen.sources.examples.other_values import other_values
from skillgen.sources.examples.pattern_syntax import NoText
from skillgen.sources.examples.showable import reason_to_hide
from skillgen.sources.examples.strings import made_string, one_of
from skillgen.sources.examples.validity import UNCHECKED, Validity
from skillgen.sources.examples.variants import Flat, Variants
from skillgen.sources.guards import as_dict, as_list

DEPTH_LIMIT = 12
"""Levels of a value; a type that cannot end within them has no example."""

WIDER_LIMIT = 12
"""Properties that are tried for an object that says too little, and other values for one that is ruled out."""

VALUES_LIMIT = 400
"""Values that are built for one call, those that were thrown away among them."""

Report = Callable[[str, str, str], None]
"""Takes the code, the pointer and the message of a declared value that is not used."""


@dataclass(frozen=True, slots=True)
class Made:
    """A value for a parameter."""

    value: Json
    """The value."""

    is_made: bool
    """Whether any of it was made, not declared."""


class Maker:
    """Makes values for the schemas of one document; each is checked against its schema before it is used."""

    def __init__(self, validity: Validity, report: Report, *, is_request: bool) -> None:
        self._validity = validity
        self._report = report
        self._is_request = is_request
        self._variants = Variants(validity.follow, siblings_of_references=validity.reads_siblings_of_references)
        self._built = 0
        self._is_made = False
        self._path: set[int] = set()

    def made(self, raw: Json, name: str, pointer: str, *, declared: Iterable[tuple[Json, str]] = ()) -> Made:
        """Gives a value for a parameter, which its schema allows: one of `declared` (value and pointer) if any does.

        Raises:
            NoExample: none was found.
        """
        self._built = 0
        self._is_made = False
        self._path.clear()
        for value, where in declared:
            if self._is_usable(value, raw, name, where):
                return Made(value, False)
        value = self._checked(raw, name, pointer, 0)
        return Made(value, self._is_made)

    def made_meaningful(self, raw: Json, name: str, pointer: str, *, declared: Iterable[tuple[Json, str]] = ()) -> Made:
        """Gives a value for a body; for an object that requires nothing, one with its first property.

        The same of an object that stands alone in another: APIs wrap what is sent (`{"data": …}`).
        """
        made = self._with_a_property(self.made(raw, name, pointer, declared=declared), raw, pointer)
        inner = list(as_dict(made.value).items())
        if not made.is_made or len(inner) != 1 or inner[0][1] != {}:
            return made
        key = inner[0][0]
        for flat in self._variants.of(raw):
            if (item := dict(self._writable(flat)).get(key)) is not None:
                where = child(pointer, "properties", key)
                wider = {key: self._with_a_property(Made({}, True), item, where).value}
                if wider != made.value and self._validity.flaw(wider, raw) is None:
                    return Made(wider, True)
        return made

    def _with_a_property(self, made: Made, raw: Json, pointer: str) -> Made:
        """Gives an object that was made, where it is empty with the first of its properties that says something."""
        if made.value != {} or not made.is_made:
            return made
        found = made
        for flat in self._variants.of(raw):
            # A form is there for its file, where it has one.
            for key, item in sorted(self._writable(flat), key=lambda pair: as_dict(pair[1]).get("format") != "binary"):
                try:
                    wider = {key: self._checked(item, key, child(pointer, "properties", key), 1)}
                except NoExample:
                    continue
                if self._is_returned_only(item) or self._validity.flaw(wider, raw) is not None:
                    continue
                if wider[key] not in ({}, [], [{}]):
                    return Made(wider, True)
                found = found if found.value else Made(wider, True)
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
            return self._validity.flaw(value, raw)
        schemas = [raw, *({"$ref": chosen} for chosen in as_list(flat.get(CHOSEN)))]
        return next((flaw for schema in schemas if (flaw := self._validity.flaw(value, schema)) is not None), None)

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
        if (reason := reason_to_hide(value, name)) is not None:
            self._report(reason[0], where, reason[1])
            return False
        flaw = self._validity.flaw(value, raw)
        if flaw == UNCHECKED:  # what an author shows is taken for right until it is known to be wrong
            return True
        if flaw is not None:
            self._report("example-invalid", where, f"the declared value does not fit its own schema: {flaw}")
        return flaw is None

    def _from_flat(self, flat: Flat, name: str, pointer: str, depth: int) -> Json:
        for value, _ in declared_values(flat, pointer):
            if reason_to_hide(value, name) is None and self._validity.flaw(value, flat) is None:
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
            item, where = member_schema(flat, name, pointer, is_open=self._validity.is_open)
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
            item, where = member_schema(flat, name, pointer, is_open=self._validity.is_open)
            result[name] = self._checked(item, "value", where, depth + 1)

    def _another_name(self, taken: dict[str, Json], rules: list[Json], depth: int) -> str:
        wanted = f"name{len(taken) or ''}"
        if not rules:
            return _string({}, wanted)
        schema: Json = {"type": "string", "allOf": rules}
        first = self._checked(schema, wanted, "", depth + 1)
        for name in (first, *other_values(first, self._variants.of(schema))):
            if isinstance(name, str) and name not in taken and self._validity.flaw(name, schema) is None:
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
            if other not in before and self._validity.flaw(other, items) is None:
                return other
        raise NoExample("its items must differ, and no more were found")

    def _writable(self, flat: Flat) -> Iterator[tuple[str, Json]]:
        for name, item in as_dict(flat.get("properties")).items():
            if item is not False and not self._is_read_only(item) and as_dict(item).get("deprecated") is not True:
                yield name, item

    def _is_read_only(self, item: Json) -> bool:
        return self._is_request and self._validity.is_read_only(item)


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
    except NoText as problem:
        raise NoExample(str(problem)) from None
