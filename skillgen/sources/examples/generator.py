"""Generates a value that a schema allows, from what the source says: examples, defaults, values of an enumeration and
values that the prose has as examples.

Of formats, dates have a fixed value. Any other string is a placeholder, `<name>`, which a caller replaces; a number has
none. A mock, whose answers nobody reads as the words of the source, `invents` what is missing.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from skillgen.errors import ProblemLog
from skillgen.model.calls import Example
from skillgen.model.schema import Parameter, Schema, Types, is_finite, writable
from skillgen.model.serialization import value_text
from skillgen.model.values import Json, Origin
from skillgen.sources.examples.validation import (
    UNCHECKED,
    Validator,
    calls_in,
    holds,
    lines_on,
    needs_one_of,
    requires,
    values_in,
    why_unpublishable,
)
from skillgen.sources.json_schema.flatten import Variants
from skillgen.sources.json_schema.merge import ANYTHING
from skillgen.text import lazy_re as re
from skillgen.text.words import singular

_DEPTH_LIMIT = 12
"""Levels of a value; a recursive type that needs more has no example."""

_VALUES_LIMIT = 400
"""Values that are generated for one call, including discarded ones."""

_ITEMS_LIMIT = 20
"""Items of a generated list, and properties of a generated object without declared names."""

_DECLARED_LIMIT = 3
"""Examples of one schema that are tried."""

_MEMBERS_LIMIT = 6
"""Optional members that are tried where an object without them is invalid."""

_UNINFORMATIVE: tuple[Json, ...] = ("", [], {}, "string")
"""Declared values that show nothing; `string` is what editors fill in."""

_UNSET = re.compile(r"(?:^|_)(?:unspecified|unknown|undefined|invalid)\Z", re.IGNORECASE)
"""The first value of an enumeration of Protocol Buffers, which is not to be sent."""

_HARMFUL = re.compile(
    r"(?:^|[\W_])(?:delet|remov|destroy|purge|drop|wipe|erase|overwrit|forc|send|notif|publish|email|cancel|terminat)",
    re.IGNORECASE,
)
"""A flag that deletes or sends, or a value that does."""

_NAMED_FORMATS = frozenset({"uuid", "guid", "email", "uri", "url", "hostname", "ipv4", "ipv6", "duration"})
"""Formats whose name says more of a value than that of its parameter."""

_SCALAR = re.compile(r"(?:true|false|-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?)\Z")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_NOT_IN_PLACEHOLDER = re.compile(r"[^\w.-]+")
_LARGEST_BOUND = 10**30
"""A larger bound is ignored; no number is generated near it."""


class NoExample(ValueError):
    """No value was found that the schema allows."""


class Generated(Struct, frozen=True):
    """A value for a parameter or a body."""

    value: Json
    is_generated: bool = False
    """Whether any part of it is neither an example nor a default."""

    placeholders: tuple[str, ...] = ()
    """The placeholders in it."""


def _invented(value: Json) -> Generated:
    return Generated(value, is_generated=True)


def _composed(value: Json, parts: Iterable[Generated]) -> Generated:
    """Returns an object or a list with the values of its parts."""
    return Generated(value, True, tuple(text for part in parts for text in part.placeholders))


class Generator:
    """Generates values; each is validated before it is used."""

    def __init__(self, validator: Validator, *, invents: bool = False, is_complete: bool = False) -> None:
        """With `is_complete`, objects have their optional properties too, as results do."""
        self.validator = validator
        self.types = validator.types
        self.variants = Variants(self.types)
        self._invents = invents
        self._is_complete = is_complete
        self._built = 0
        self._path: set[int] = set()
        self._in_url = False
        self._needed: frozenset[str] = frozenset()
        self._taken: list[Json] = []
        """Strings that other arguments of the call have; an example in the prose on two of them is given to one."""

    def generate(
        self, schema: Schema, name: str, *, text: str = "", needed: Iterable[str] = (), in_url: bool = False
    ) -> Generated:
        """Returns a value that a schema allows.

        `text` is the description of the value, or of the tool for all its arguments; `needed` are optional properties
        that every call has. In a URL, also a number may be a placeholder.

        Raises:
            NoExample: none was found.
        """
        self._built, self._in_url, self._needed, self._path, self._taken = 0, in_url, frozenset(needed), set(), []
        try:
            return self._value(schema, name, 0, text)
        except RecursionError:
            raise NoExample from None

    def _value(self, schema: Schema, name: str, depth: int, text: str) -> Generated:
        """Returns a value that matches the schema: a declared one if one does."""
        self._built += 1
        if depth > _DEPTH_LIMIT or self._built > _VALUES_LIMIT or id(schema) in self._path:
            raise NoExample
        if found := self._first_valid(_declared(schema), name, schema):
            return Generated(found[0])
        self._path.add(id(schema))
        try:
            return self._generated(schema, name, depth, text or self.types.description(schema))
        finally:
            self._path.discard(id(schema))

    def _generated(self, schema: Schema, name: str, depth: int, text: str) -> Generated:
        for flat in self.variants.of(schema):
            with suppress(NoExample):
                for candidate in self._candidates(flat, name, depth, text):
                    error = self.validator.validation_error(candidate.value, schema)
                    if error is None:
                        return candidate
                    if error == UNCHECKED:  # and so would be all others, in as many steps
                        raise RecursionError
        if self._invents and schema.nullable:
            return _invented(None)
        raise NoExample

    def _first_valid(self, values: Iterable[Json], name: str, schema: Schema) -> tuple[Json, ...]:
        """Returns the first value that may be published and is valid, and is no flag that deletes or sends."""
        found = (
            (value,)
            for written in values
            for value in (_readings(written) if self._in_url else (written,))
            if not (value is True and _is_harmful(name))
            and why_unpublishable(value, name) is None
            and self.validator.validation_error(value, schema) is None
        )
        return next(found, ())

    def _candidates(self, flat: Schema, name: str, depth: int, text: str) -> Iterator[Generated]:
        """Yields values for a flat schema, the best first."""
        kind = kind_of(flat)
        declared = self._first_valid(_declared(flat), name, flat)
        said = values_in(text, kind) if text and (depth or kind != "object") else ()
        values = [*sorted(flat.choices or (), key=_reluctance), *(item for item in said if item not in self._taken)]
        if found := declared or self._first_valid(values, name, flat):
            yield Generated(found[0], is_generated=not declared)
        elif flat.choices is not None:
            raise NoExample
        elif kind == "object":
            yield from self._objects(flat, depth, text)
        elif kind == "array":
            yield self._array(flat, name, depth, text)
        elif kind == "boolean":
            yield from map(_invented, (False, True))
        elif self._invents:
            yield from map(_invented, _numbers(flat) if kind in ("integer", "number") else self._strings(flat, name))
            yield from map(_invented, (1, {}, [], False) if not flat.types else ())
        elif flat.format in _DATES and kind == "string" and not any(item in self._taken for item in said):
            yield Generated(_DATES[flat.format], is_generated=True)
        elif kind == "string" or self._in_url:
            word = str(flat.format) if flat.format in _NAMED_FORMATS and not self._in_url else name
            placeholder = f"<{_NOT_IN_PLACEHOLDER.sub('_', word).strip('_')[:60] or 'value'}>"
            yield Generated(placeholder, True, (placeholder,))
        else:
            raise NoExample

    def _strings(self, flat: Schema, name: str) -> Iterator[str]:
        constraints = [part.constraints or {} for part in (flat, *flat.also)]
        patterns = tuple(part["pattern"] for part in constraints if "pattern" in part)
        most = _count(flat, "maxLength") if "maxLength" in constraints[0] else _LENGTH_LIMIT
        if (least := _count(flat, "minLength")) <= _LENGTH_LIMIT:
            yield from _strings_of(name, flat.format, patterns, least, most)

    def _property(self, item: Parameter, depth: int, text: str) -> Generated:
        """Returns a value of a property; `text` is the description of the object, which may explain it."""
        about = "\n".join(filter(None, (_about(item), lines_on(item.name, text) if text else "")))
        found = self._value(item.schema, item.name, depth + 1, about)
        self._taken += [found.value] if depth == 0 and not self._invents and isinstance(found.value, str) else []
        return found

    def _objects(self, flat: Schema, depth: int, text: str) -> Iterator[Generated]:
        self._taken = self._taken if depth else []
        sent = writable(flat.properties) if self.validator.is_request else flat.properties
        members = {item.name: self._property(item, depth, text) for item in sent if item.required}
        members |= {name: self._value(_additional(flat), name, depth + 1, "") for name in flat.required}
        optional = [item for item in sent if not (item.required or item.deprecated or item.schema.choices == ())]
        least = _count(flat, "minProperties")
        if self._is_complete:
            members |= self._attempted(optional, depth, text)
        chosen = [(name, member.value) for name, member in members.items() if isinstance(member.value, str)]
        for item in optional:
            if (depth == 0 and item.name in self._needed) or requires(_about(item), chosen):
                members[item.name] = self._property(item, depth, text)
        members |= self._one_of(optional, members, depth, text)
        for item in optional:
            if len(members) < least and item.name not in members:
                members[item.name] = self._property(item, depth, text)
        if self._invents:
            members |= self._more(members, flat, min(least, _ITEMS_LIMIT), depth)
        elif not members and depth:
            raise NoExample
        yield _object(members)
        for item in [item for item in optional if item.name not in members][:_MEMBERS_LIMIT]:
            # It may match several alternatives where exactly one must match.
            if more := self._attempted([item], depth, text):
                yield _object({**members, **more})

    def _one_of(
        self, optional: Sequence[Parameter], members: Mapping[str, Generated], depth: int, text: str
    ) -> dict[str, Generated]:
        """Returns the first property with a known value among those of which, by the prose, a call needs one."""
        by_name = {item.name: item for item in optional}
        texts = filter(None, (text, *(item.description for item in optional)))
        alternatives = needs_one_of(list(by_name), "\n".join(texts))
        if not members.keys() & alternatives:
            for name in alternatives:
                found = self._attempted([by_name[name]], depth, text)
                if found and not found[name].placeholders:
                    return found
        return {}

    def _attempted(self, items: Iterable[Parameter], depth: int, text: str) -> dict[str, Generated]:
        """Returns the values of those properties that have one."""
        found: dict[str, Generated] = {}
        for item in items:
            with suppress(NoExample):
                found[item.name] = self._property(item, depth, text)
        return found

    def _more(self, known: Mapping[str, Json], flat: Schema, least: int, depth: int) -> dict[str, Generated]:
        """Returns properties without declared names, for an object that would be too small."""
        names = flat.property_names or ANYTHING
        if flat.property_names is None and len(flat.patterns or {}) == 1:
            names = Schema(constraints={"pattern": next(iter(flat.patterns or {}))})
        first, found = self.variants.first(names), dict[str, Generated]()
        for number in range(_ITEMS_LIMIT * (len(known) < least)):
            for text in (*(first.choices or ()), *self._strings(first, f"name{number or ''}")):
                name = str(text if text not in {*known, *found} else _varied(text, number))
                is_new = name and name not in {*known, *found}
                if len(known) + len(found) < least and is_new and not self.validator.validation_error(name, names):
                    found[name] = self._value(_additional(flat), "value", depth + 1, "")
        return found

    def _array(self, flat: Schema, name: str, depth: int, text: str) -> Generated:
        items, first = flat.items or ANYTHING, flat.prefix_items
        constraints = flat.constraints or {}
        needed = max(_count(flat, "minItems"), len(first) if flat.items is None or items.choices == () else 0)
        least = max(needed, len(first), 0 if items.choices == () else 1)
        if flat.contains is not None and not first:
            items, least = flat.contains, max(least, _count(flat, "minContains"))
        if "maxItems" in constraints:
            least = min(least, _count(flat, "maxItems"))
        if least > _ITEMS_LIMIT:
            raise NoExample
        result = [self._value(item, name, depth + 1, "") for item in first[:least]]
        while len(result) < least:
            try:
                item = self._value(items, singular(name), depth + 1, text)
            except NoExample:
                if len(result) < needed or not self._invents:
                    raise
                break  # a list of recursive items may be shorter
            before = [other.value for other in result]
            # Documents repeat no text that is known: with a bound of two, they want two of them.
            is_text = isinstance(item.value, str) and not (item.placeholders or self._invents)
            if item.value in before and (is_text or constraints.get("uniqueItems") is True):
                item = self._different(item.value, items, before, text)
            result.append(item)
        return _composed([item.value for item in result], result)

    def _different(self, value: Json, items: Schema, before: list[Json], text: str) -> Generated:
        parts = (
            (*_declared(flat), *(flat.choices or ()), *values_in(text, kind_of(flat)))
            for flat in self.variants.of(items)
        )
        others = [*chain.from_iterable(parts), *(_varied(value, number) for number in range(2, 24 * self._invents))]
        if found := self._first_valid((other for other in others if other not in before), "", items):
            return Generated(found[0], is_generated=True)
        raise NoExample


def _object(members: Mapping[str, Generated]) -> Generated:
    return _composed({name: item.value for name, item in members.items()}, members.values())


def _about(item: Parameter) -> str:
    """Returns what explains a property: its description, or that of its schema or of an alternative."""
    parts = (item.description, item.schema.description, *(part.description for part in item.schema.alternatives))
    return next(filter(None, parts), "")


def _reluctance(choice: Json) -> int:
    """Returns the order in which the values of an enumeration are tried: empty ones, and those that do harm, last."""
    if choice in (None, ""):
        return 2
    return int(_UNSET.search(str(choice)) is not None or _is_harmful(choice))


def _readings(written: Json) -> Iterator[Json]:
    """Yields a value, and the one of another type that is the same in a URL."""
    yield written
    if isinstance(written, str) and _SCALAR.match(written):
        yield json.loads(written)
    elif isinstance(written, (int, float)):
        yield value_text(written)


def _declared(schema: Schema) -> Iterator[Json]:
    """Yields the examples and the default of a schema that show something, unless they are one format of several."""
    if schema.choices is not None and "json" in schema.choices and not schema.examples:
        yield "json"  # of a response, even if another is the default
    yield from (value for value in schema.examples[:_DECLARED_LIMIT] if value not in _UNINFORMATIVE)
    if schema.default is not None and schema.default.json is not None and schema.default.json not in _UNINFORMATIVE:
        yield schema.default.json


def _is_harmful(word: Json) -> bool:
    return isinstance(word, str) and _HARMFUL.search(_HUMP.sub("_", word)) is not None


def kind_of(flat: Schema) -> str:
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


def _count(flat: Schema, keyword: str) -> int:
    """Returns a size limit; 0 if it is not a positive integer."""
    value = (flat.constraints or {}).get(keyword)
    return value if type(value) is int and value > 0 else 0


def _additional(flat: Schema) -> Schema:
    """Returns the schema of a property that is not declared."""
    if len(flat.patterns or {}) == 1:
        return next(iter((flat.patterns or {}).values()))
    return flat.additional if isinstance(flat.additional, Schema) else ANYTHING


def _varied(value: Json, number: int) -> Json:
    """Returns another value of the same form: a string ends in another letter, an object has other strings."""
    if isinstance(value, str):
        return f"{value[:-1]}{chr(ord('a') + number % 26)}"
    if isinstance(value, dict):
        return {key: _varied(item, number) if isinstance(item, str) else item for key, item in value.items()}
    return not value if isinstance(value, bool) else value + number if isinstance(value, (int, float)) else value


def _numbers(flat: Schema) -> Iterator[int | float]:
    """Yields numbers near 1 and near the bounds of a schema."""
    constraints = flat.constraints or {}
    bounds = {key: bound for key, bound in constraints.items() if is_finite(bound) and abs(bound) < _LARGEST_BOUND}
    low = max((bounds[key] for key in ("minimum", "exclusiveMinimum") if key in bounds), default=None)
    high = min((bounds[key] for key in ("maximum", "exclusiveMaximum") if key in bounds), default=None)
    step = max(bounds.get("multipleOf", 0), 0) or 1
    candidates = [1, step, 0]
    for bound, inward in ((low, 1), (high, -1)):
        if bound is not None:
            multiple = inward * math.ceil(inward * bound / step) * step
            candidates += [bound, multiple, multiple + inward * step]
    if low is not None and high is not None:
        candidates.append((low + high) / 2)
    for number in candidates:
        if number == int(number) or kind_of(flat) != "integer":
            yield int(number) if number == int(number) else round(number, 9)


# -- strings of a format or a pattern, as a mock answers with ---------------------------------------------------------

_DATES = {"date": "2025-01-31", "date-time": "2025-01-31T09:00:00Z", "time": "09:00:00Z"}
"""Formats with a fixed value in documents."""

_FORMATS = _DATES | {
    "duration": "P1D",
    "email": "user@example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/",
    "url": "https://example.com/",
    "uri-reference": "/name",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
    "byte": "dGV4dA==",
}
"""Format to a value; hosts and IP addresses are reserved for documentation (RFC 2606, 3849, 5737)."""

_LENGTH_LIMIT = 200
"""Characters of a string."""

_TOKEN = re.compile(
    r"(?P<set>\[(?:\\.|[^\]\\])+(?:\]|\\?\Z)|\.|\\[dDwWsS]|\\[pP]\{[^}]{0,60}\})"
    r"|\\(?P<escape>.)|(?P<open>\((?:\?(?:P?<\w+>|<?[=!]|:))?)"
    r"|(?P<close>\))|(?P<or>\|)|(?P<quantifier>[*+?]\??|\{\d{1,4}(?:,\d{0,9})?\}\??)|(?P<anchor>[\^$])|(?P<literal>.)",
    re.DOTALL,
)
_READABLE = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ1234567890-_ ./:@"


def _strings_of(name: str, format_name: str | None, patterns: tuple[Json, ...], least: int, most: int) -> Iterator[str]:
    """Yields strings of `least` to `most` characters that a schema may allow, the best first."""
    known = [_FORMATS[format_name]] if format_name in _FORMATS else []
    words = [name, name.lower(), name.upper(), "1"]
    for text in (*known, *words, *(f"{word}{'a' * (least - len(word))}" for word in words)):
        yield text[:most]
    yield from ("aA1!aA1!", "a1!a1!a1")  # for look-aheads, as of passwords
    for pattern in filter(lambda item: isinstance(item, str), patterns):
        for wanted in (least, least + 1, least + 8):
            text = _built([*_TOKEN.finditer(pattern)], wanted)
            yield f"{text}{'a' * (least - len(text))}"


def _built(tokens: list[re.Match[str]], wanted: int) -> str:
    """Returns a string for the tokens up to the end of a group, of alternatives for the first; takes them away."""
    text, is_first = "", True
    while tokens:
        token = tokens.pop(0)
        kind = token.lastgroup
        if kind == "close":
            break
        is_first &= kind != "or"
        piece = ""
        if kind == "open":
            piece = _built(tokens, wanted) * (not token[0].endswith(("=", "!")))
        elif kind == "set":
            piece = _character(token[0])
        elif kind in ("literal", "escape"):
            piece = token[kind] if token[0] not in ("\\b", "\\B", "\\A", "\\z", "\\Z") else ""
        low, high = 1, 1
        if tokens and tokens[0].lastgroup == "quantifier":
            low, high = _bounds(tokens.pop(0)[0])
        if is_first and len(text) + len(piece) * low <= _LENGTH_LIMIT:
            missing = -(-(wanted - len(text)) // len(piece)) if piece else 0
            text += piece * max(low, min(high, missing))
    return text


def _bounds(quantifier: str) -> tuple[int, int]:
    if quantifier[0] in "*+?":
        return int(quantifier[0] == "+"), 1 if quantifier[0] == "?" else _LENGTH_LIMIT
    low, comma, high = quantifier.rstrip("?")[1:-1].partition(",")
    return int(low), min(int(high), _LENGTH_LIMIT) if high else _LENGTH_LIMIT if comma else int(low)


@lru_cache(1024)
def _character(set_text: str) -> str:
    """Returns a character of a set, preferably a readable one, else one that the set names."""
    return next((item for item in dict.fromkeys(_READABLE + set_text) if holds("pattern", f"^{set_text}$", item)), "")


GENERATED_ORIGINS: dict[str, Origin] = {"input": Origin("inferred", "input_schema")}
_DESCRIBED_ORIGINS: dict[str, Origin] = {"input": Origin("inferred", "description")}


def call_examples(
    declared: Iterable[tuple[Example, str]],
    schema: Schema | None,
    types: Types,
    problems: ProblemLog,
    *,
    name: str,
    description: str | None,
    may_generate: bool = True,
) -> tuple[Example, ...]:
    """Returns the declared examples, after another one if none of them can be sent. `declared` has their pointers.

    The other one is in the description of the tool, or is generated if the source has a value for each argument but
    one. `schema` is that of the arguments, `None` without one; `may_generate` is false if it does not declare them.
    """
    if schema is None:
        return tuple(example for example, _ in declared)
    validator = Validator(types, is_request=False, allows_placeholders=True)
    examples = [_checked(example, where, schema, validator, problems) for example, where in declared]
    can_be_sent = any(example.flaw is None and why_unpublishable(example.input) is None for example in examples)
    if can_be_sent or not may_generate:
        return tuple(examples)
    generator, text = Generator(validator), description or ""
    names = {item.name for item in generator.variants.first(schema).properties}
    for call in calls_in(text, name):
        if names.issuperset(call) and why_unpublishable(call) is None and not validator.validation_error(call, schema):
            return (Example(input=call, origins=_DESCRIBED_ORIGINS), *examples)
    try:
        made = generator.generate(schema, "", text=text)
    except NoExample:
        return tuple(examples)
    values = made.value.values() if isinstance(made.value, dict) else ()
    if len(made.placeholders) > 1 or all(value is False or value in made.placeholders for value in values):
        return tuple(examples)
    return (Example(input=made.value, origins=GENERATED_ORIGINS), *examples)


def _checked(example: Example, where: str, schema: Schema, validator: Validator, problems: ProblemLog) -> Example:
    if (reason := why_unpublishable(example.input)) is not None:
        problems.report(reason[0], where, reason[1])
    flaw = validator.validation_error(example.input, schema)
    if flaw in (None, UNCHECKED):
        return example
    problems.report("call-example-invalid", where, f"the example does not match the tool's own schema: {flaw}")
    return replace(example, flaw=flaw)
