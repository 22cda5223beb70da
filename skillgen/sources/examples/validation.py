"""Example values: read out of prose, checked against schemas, and published or not."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.json import encode

from skillgen.errors import Problem
from skillgen.model.calls import Output
from skillgen.model.check import STEPS_LIMIT, Check, is_type, pointer, shown
from skillgen.model.schema import BOUNDS, COUNTS, SIZES, TYPES, Schema, SchemaWriter, Types, bases, is_finite
from skillgen.model.service import Service
from skillgen.model.values import Json, child, json_type
from skillgen.security.credentials import is_secret_name, looks_random, redact, without_placeholders
from skillgen.text import lazy_re as re
from skillgen.text.markdown import json_text, one_line
from skillgen.text.summary import clip
from skillgen.text.unicode import invisible_kinds
from skillgen.text.words import singular

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator

UNCHECKED = "it could not be checked within bounds"
"""The validation error of a value that may be valid."""

PLACEHOLDER = re.compile(r"<[\w .:/-]{1,60}>")
"""What a caller replaces in an example, such as `<listId>`."""

_MAX_ERROR_LENGTH = 160
"""Characters of a validation error in a message."""

_FORMATS = frozenset({"date", "email", "ipv4", "ipv6", "uuid"})
"""Formats that are checked, as most servers do; others are ignored."""

_RANGES = {"int32": 2**31, "int64": 2**63}
"""Ranges of integers by format (OpenAPI 3.1, "Data Types")."""


class Fault(Struct, frozen=True):
    """A part of a value that its schema does not allow."""

    pointer: str
    """JSON pointer to it in the value."""

    message: str
    """What is wrong with it."""

    def __str__(self) -> str:
        return f"{self.pointer or '/'} {self.message}"


_HOPS_LIMIT = 8
"""Types that refer to one another for one value; a longer chain is followed by the complete check."""

_TOO_LONG_LIMIT = 20
"""Values that take too many steps to check, after which no other is checked."""


class Validator:
    """Validates values against schemas of the model, each of which is written as JSON Schema once."""

    def __init__(
        self, types: Types, *, is_request: bool, is_strict: bool = False, allows_placeholders: bool = False
    ) -> None:
        """`is_request` is true for OpenAPI, where read-only properties are not sent; `is_strict` also checks the
        formats that a server with types reads; with `allows_placeholders`, any value may be one."""
        self.types = types
        self.is_request = is_request
        self.is_strict = is_strict
        self.allows_placeholders = allows_placeholders
        self._writer = SchemaWriter(types, is_request=is_request)
        self._written: dict[int, tuple[Schema, Json]] = {}
        self._definition = cache(self._writer.definition)
        self._check = _Check(self)
        self._too_long = 0

    def validation_error(self, value: Json, schema: Schema) -> str | None:
        """Returns why a value does not match a schema, for a message; `None` if it does."""
        if self._too_long > _TOO_LONG_LIMIT:
            return UNCHECKED
        try:
            fault = next(self._found(value, schema), None)
        except RecursionError:
            self._too_long += 1
            return UNCHECKED
        if fault is None:
            return None
        return clip(one_line(": ".join(filter(None, (fault.pointer[1:], fault.message)))), _MAX_ERROR_LENGTH)

    def faults(self, value: Json, schema: Schema) -> Iterator[Fault]:
        """Yields every part of a value that does not match a schema, as far as that is certain."""
        with suppress(RecursionError):
            yield from self._found(value, schema)

    def _found(self, value: Json, schema: Schema) -> Iterator[Fault]:
        suspects, self._check.steps = self._suspects(value, schema), 0
        for where, part, own in [("", value, schema)] if suspects is None else suspects:
            if id(own) not in self._written:  # by identity: a schema is compared by all that it holds
                self._written[id(own)] = own, self._writer.write(own)
            for at, message in self._check.faults(self._written[id(own)][1], part, where):
                yield Fault(at, message)

    def _suspects(self, value: Json, schema: Schema, hops: int = 0) -> list[tuple[str, Json, Schema]] | None:
        """Returns the parts that may not match, with their pointers and schemas; `None` if that is the value itself."""
        kind, types, choices = json_type(value), schema.types, schema.choices
        if value is None or choices == ():
            return [] if value is None and schema.nullable else None
        if kind == "string" and self.allows_placeholders and PLACEHOLDER.fullmatch(value):
            return []
        rare: Json = schema.includes or schema.also or schema.conditions or schema.prefix_items or schema.patterns
        rare = rare or schema.excluded or schema.contains or schema.discriminator or schema.property_names
        is_right = not types or kind in types or (kind == "integer" and "number" in types)
        is_right = is_right and (not choices or (kind == "string" and value in choices))
        if rare or schema.alternatives or hops > _HOPS_LIMIT or not is_right:
            return None
        if schema.constraints or schema.format in _FORMATS or self.is_strict:
            limits = {"format": schema.format, **dict(self._writer.constraints(schema))}
            if any(_Check(self).value_faults(limits, value)):
                return None
        found = self._suspects(value, self.types.type_of(schema.ref), hops + 1) if schema.ref is not None else []
        if found is None or (kind == "object" and not value.keys() >= {*self._writer.required(schema)}):
            return None
        declared: dict[Json, Json] = {item.name: item.schema for item in schema.properties} if kind == "object" else {}
        others = schema.additional if kind == "object" else schema.items if kind == "array" else None
        members: Json = value.items() if kind == "object" else enumerate(value) if kind == "array" else ()
        for name, item in members if declared or others is not None else ():
            part = declared.get(name, others)
            if part is False:
                return None
            if isinstance(part, Schema) and (suspects := self._suspects(item, part)) != []:
                for at, *suspect in [("", item, part)] if suspects is None else suspects:
                    found.append((pointer("", name) + at, *suspect))
        # Null is an alternative to a type: if all fail, the faults of one count only if no other is unsure.
        return None if found and schema.ref is not None and schema.nullable else found

    def get(self, name: str, default: Json) -> Json:
        """Returns the definition of a type."""
        return self._definition(name)


class _Check(Check):
    """Checks also what a program of the standard library cannot: any pattern, formats."""

    def __init__(self, types: Validator) -> None:
        super().__init__(types)
        self.unchecked = set()
        self.unexpected = lambda *_: "is not allowed here"  # the search for the nearest name takes long

    def faults(
        self, schema: Json, value: Json, at: str = "", within: tuple[str, ...] = ()
    ) -> Iterator[tuple[str, str]]:
        is_placeholder = self.types.allows_placeholders and isinstance(value, str) and PLACEHOLDER.fullmatch(value)
        if is_placeholder and schema is not False:
            return
        yield from super().faults(schema, value, at, within)
        if isinstance(value, list) and isinstance(schema, dict) and "contains" in schema:
            count = sum(not any(self.faults(schema["contains"], item, at)) for item in value)
            if not schema.get("minContains", 1) <= count <= schema.get("maxContains", count):
                yield at, f"{count} of its items are such as it must contain"

    def members(self, schema: dict[str, Json], value: dict[str, Json], at: str) -> Iterator[tuple[str, str]]:
        if "propertyNames" in schema:
            for name in value:
                yield from self.faults(schema["propertyNames"], name, pointer(at, name))
        if "patternProperties" in schema:
            properties = dict(schema.get("properties", {}))
            for pattern, part in schema["patternProperties"].items():
                for name, is_match in ((name, self.matches(pattern, name)) for name in value):
                    self.unsure |= is_match is None
                    if is_match is not False:
                        properties[name] = {"allOf": [properties.get(name, True), part if is_match else True]}
            rest = {key: item for key, item in schema.items() if key != "patternProperties"}
            schema = {**rest, "properties": properties}
        yield from super().members(schema, value, at)

    def matches(self, pattern: str, text: str) -> bool | None:
        self.steps += 1
        if self.steps > STEPS_LIMIT:
            raise RecursionError
        is_match = holds("pattern", pattern, text)
        self.unsure |= is_match is None
        return is_match

    def value_faults(self, schema: dict[str, Json], value: Json) -> Iterator[str]:
        yield from super().value_faults(schema, value)
        name = schema.get("format", "")
        if isinstance(value, str) and (name in _FORMATS or (self.types.is_strict and name == "date-time")):
            if holds("format", name, value) is False:
                yield f'{shown(value)} is not a "{name}"'
        elif self.types.is_strict and type(value) is int and name in _RANGES:
            if not -_RANGES[name] <= value < _RANGES[name]:
                yield f'{value} is not an "{name}"'


_MAX_EXAMPLE_LENGTH = 2_000
"""Characters of JSON of a declared value; instead of a larger one, a small one is generated."""


def why_unpublishable(value: Json, name: str = "") -> tuple[str, str] | None:
    """Returns the code and message of the problem that makes a value unpublishable; `None` if it has no problem."""
    if not isinstance(value, (str, dict, list)):
        return None
    if _size_of(value) > _MAX_EXAMPLE_LENGTH:
        return "example-too-long", f"the example is larger than {_MAX_EXAMPLE_LENGTH} bytes"
    if _is_screened(value, name):
        return "example-not-shown", "the example holds what is left out of documents"
    return None


def _size_of(value: Json) -> int:
    if isinstance(value, str):
        return len(value)
    try:
        with suppress(OverflowError, UnicodeEncodeError):  # an integer beyond 64 bits, half a surrogate pair
            compact = len(encode(value).decode())  # without spaces, of which there are at most as many as characters
            if not _MAX_EXAMPLE_LENGTH < 2 * compact <= 2 * _MAX_EXAMPLE_LENGTH:
                return compact
        return len(json_text(value))
    except (ValueError, RecursionError, TypeError):
        return _MAX_EXAMPLE_LENGTH + 1


def _is_screened(value: Json, name: str) -> bool:
    """True if screening would change any string in a value."""
    named = [(name, value)]
    for key, item in named:  # grows
        if isinstance(item, str):
            if _is_screened_anywhere(item) or (is_secret_name(key) and looks_random(item)):
                return True
        elif isinstance(item, dict):
            if any(map(_is_screened_anywhere, item)):
                return True
            named += item.items()
        elif isinstance(item, list):
            named += [(key, part) for part in item]
    return False


@lru_cache(1 << 12)
def _is_screened_anywhere(text: str) -> bool:
    """True if screening would change a string wherever it is; most strings of examples occur in many of them."""
    return bool(invisible_kinds(text)[0]) or bool(redact(text)[1])


PATTERN_LIMIT = 800
"""Characters of a pattern that is read."""

_MATCHED_LIMIT = 2_000
"""Characters of a string that is matched; the time is proportional to its length and to the size of the pattern."""

_BACKTRACKING_LIMIT = 20_000
_ENGINE_SIZE_LIMIT_BYTES = 1_000_000
"""Size of a compiled pattern; 2,000 characters are matched in less than a second."""

_LONG_REPETITIONS = re.compile(r"\{(\d+),\d{3,}\}"), re.compile(r"\{(\d+),\d{2,}\}")
"""Upper bounds of many digits make a pattern large. If it is too large, it is matched without them."""

_OTHER_LANGUAGES = re.compile(r"\A/\^|\$/[a-z]*\Z|\[\[:")
"""JavaScript's `/^a$/i`, and classes of POSIX, which ECMA 262 reads as something else."""


def holds(keyword: str, rule: str, text: str) -> bool | None:
    """True if a string has a `format`, or a `pattern` matches anywhere in it; `None` if that is not known."""
    if (validator := _validator(keyword, rule)) is None or len(text) > _MATCHED_LIMIT:
        return None
    try:
        error = next(iter(validator.iter_errors(text)), None)
    except ValueError:  # half of a surrogate pair
        return None
    return None if error is not None and "backtracking" in error.message else error is None


@lru_cache(4096)
def _validator(keyword: str, rule: str) -> Draft202012Validator | None:
    """Returns the validator of one keyword; `None` if the engine does not support its pattern."""
    if len(rule) > PATTERN_LIMIT or _OTHER_LANGUAGES.search(rule):
        return None
    from jsonschema_rs import Draft202012Validator, FancyRegexOptions

    options = FancyRegexOptions(backtrack_limit=_BACKTRACKING_LIMIT, size_limit=_ENGINE_SIZE_LIMIT_BYTES)
    for candidate in (rule, *(repetition.sub(r"{\1,}", rule) for repetition in _LONG_REPETITIONS)):
        try:
            return Draft202012Validator({keyword: candidate}, validate_formats=True, pattern_options=options)
        except ValueError:
            continue
    return None


_TYPES = TYPES | {"file"}
"""Types of JSON Schema, and that of Swagger 2.0 for uploads."""

_BOUND_PAIRS = (("minimum", "maximum"), *((f"min{noun}", f"max{noun}") for noun in SIZES))
_SHOWN_LENGTH = 60
_VALUES_LIMIT = 20_000
"""Values of one service that are validated; checking the others would take minutes."""


class SchemaChecker:
    """Finds `example-invalid`, `schema-invalid` and `properties-forbidden` in one service."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._types = Types.of(service.schemas)
        self._validator = Validator(self._types, is_request=True)
        self._seen: set[str | int] = set()
        self._validated = 0
        self._problems: list[Problem] = []

    def problems(self) -> list[Problem]:
        """Returns the problems of the schemas, and of the values for each."""
        for tool in self._service.tools:
            for item in tool.parameters:
                # The schema of a parameter in OpenAPI 3 is a member of it; that of a property is the property itself.
                inner = "" if item.location in ("argument", "property", "body") else "/schema"
                self._schema(item.schema, item.name, item.pointer, inner)
            for output in filter(None, (tool.output, *tool.other_outputs, *(error.output for error in tool.errors))):
                self._output(output)
        for named in self._service.schemas:
            self._schema(named.schema, named.name, named.pointer)
        return self._problems

    def _report(self, code: str, where: str, message: str) -> None:
        self._problems.append(Problem.of(code, where, message))

    def _output(self, output: Output) -> None:
        if output.schema is None or id(output) in self._seen:  # most errors are those of many tools
            return
        self._seen.add(id(output))
        types = output.media_types
        where = child(output.pointer, "content", types[0], "schema") if types else output.pointer
        if where in self._seen:
            return
        name = f"the response {output.status}" if output.status is not None else "the result"
        self._schema(output.schema, name, where)
        for example in output.examples:
            if "json" in (media_type := example.media_type or ""):
                last = ("examples", example.name) if example.name is not None else ("example",)
                quoted = f" {example.name[:_SHOWN_LENGTH]!r}" if example.name is not None else ""
                where = child(output.pointer, "content", media_type, *last)
                self._value(example.value.json, output.schema, f"the example{quoted} of {name}", where)

    def _schema(self, schema: Schema, name: str, pointer: str, inner: str = "") -> None:
        if pointer in self._seen:
            return
        self._seen.add(pointer)
        where, name = pointer + inner, name[:_SHOWN_LENGTH]
        names = bases(schema) if schema.properties or schema.includes else ()
        closed = [base for base in names if self._types.type_of(base).additional is False] if names else []
        if closed and (schema.properties or len(names) > 1):
            self._report("properties-forbidden", where, f"{name}: {closed[0][:60]} forbids the properties that it adds")
        if schema.choices or schema.constraints or not _TYPES.issuperset(schema.types):
            for message in _faults(schema):
                self._report("schema-invalid", where, f"{name}: {message}")
        if schema.default is not None and schema.default.json is not None:
            self._value(schema.default.json, schema, f"the default of {name}", f"{where}/default")
        for value in schema.examples:
            if value is not None:
                self._value(value, schema, f"the example of {name}", f"{where}/example")
        for item in schema.properties:
            self._schema(item.schema, item.name, item.pointer)
        if schema.items or schema.additional or schema.contains:  # those of few schemas
            parts = (schema.items, schema.additional, schema.contains)
            for keyword, part in zip(("items", "additionalProperties", "contains"), parts, strict=True):
                if isinstance(part, Schema):
                    self._schema(part, f"{keyword} of {name}", f"{where}/{keyword}")
        if schema.alternatives or schema.also:
            for keyword, several in (("anyOf", schema.alternatives), ("allOf", schema.also)):
                for index, part in enumerate(several):
                    self._schema(part, f"an alternative of {name}", f"{where}/{keyword}/{index}")

    def _value(self, value: Json, schema: Schema, what: str, where: str) -> None:
        self._validated += 1
        error = self._validator.validation_error(value, schema) if self._validated <= _VALUES_LIMIT else None
        # A value of which screening replaced a part need not match.
        if error not in (None, UNCHECKED) and without_placeholders(text := json.dumps(value)) == text:
            self._report("example-invalid", where, f"{what} does not match its schema: {error}")


def _faults(schema: Schema) -> Iterator[str]:
    """Yields what is wrong with the keywords of one schema."""
    for name in schema.types:
        if name not in _TYPES:
            yield f"{name[:_SHOWN_LENGTH]!r} is not a type of JSON Schema"
    if schema.choices and schema.types:
        wrong = [value for value in schema.choices if not is_type(value, (*schema.types, "null"))]
        if wrong and _TYPES.issuperset(schema.types):
            yield f"the value {_shown(wrong[0])} of its enum is not of type {' or '.join(schema.types)}"
    constraints = schema.constraints or {}
    for keyword, bound in constraints.items():
        if keyword in BOUNDS and not is_finite(bound):
            yield f"{keyword} is {_shown(bound)}, not a number"
        elif keyword in COUNTS and not (is_finite(bound) and bound >= 0 and bound == int(bound)):
            yield f"{keyword} is {_shown(bound)}, not a count"
        elif keyword == "pattern" and not (isinstance(bound, str) and _is_pattern(bound)):
            yield f"the pattern {_shown(bound)} is not a regular expression"
    for low, high in _BOUND_PAIRS if constraints else ():
        least, most = constraints.get(low), constraints.get(high)
        if least is not None and most is not None and is_finite(least) and is_finite(most) and least > most:
            yield f"no value is allowed: {low} is {least}, {high} is {most}"


def _shown(value: Json) -> str:
    return clip(one_line(repr(value)), _SHOWN_LENGTH)


_BROKEN_PATTERN = re.compile(r"missing \)|unbalanced paren|unterminated char|nothing to rep|bad escape \(end")
"""What Python says of patterns that are valid in no language; other errors may come from a difference of languages."""


def _is_pattern(text: str) -> bool:
    """True unless a pattern is a regular expression in no language."""
    if len(text) <= PATTERN_LIMIT and holds("pattern", text, "") is None:
        with warnings.catch_warnings(), suppress(OverflowError, RecursionError):  # too large is no fault of its syntax
            warnings.simplefilter("ignore")
            try:
                re.match(text, "")
            except re.error as error:
                return not _BROKEN_PATTERN.match(error.msg)
    return True


_TEXT_LIMIT = 8_000
"""Characters of a text that are read."""

_ATTEMPTS_LIMIT = 20
"""Places of one text at which JSON or a call may begin, and parentheses at which a call may end."""

_LEAD = re.compile(
    r"(?P<bare>\be\.\s?g\.?|\beg\.|\bfor (?:example|instance)|\bexamples?(?=\s?:|\sis\b|\sare\b)"
    r"|\bdefault(?:s?(?=\s?:)|s? (?:to|is)))|\bsuch as\b|\bare (?:accepted|allowed|supported)(?=:\n)",
    re.IGNORECASE,
)
"""What precedes a value. After the first ones it need not be quoted."""

_FILLER = re.compile(r"(?:\n\s{0,9}[-*]\s|[\s:,=(\[]|(?:is|are)\b){0,6}")
_QUOTED = re.compile(
    r"`([^`\n]{1,300})`|\"([^\"\n]{1,200})\"|'([^'\n]{1,200})'(?!\w)|“([^“”\n]{1,200})”|‘([^‘’\n]{1,200})’"
)
_BARE = re.compile(
    r"(?:[A-Z0-9][^\s,;()]{0,60}(?: [A-Z0-9][^\s,;()]{0,60}){1,4}|[^\s,;()]{1,200})"
    r"(?=\s?[,;)\n]|\s?\Z|\s(?:or|and)\s|(?<=\.)\s)"
)
_BETWEEN = re.compile(r"\s?(?:[,|/]|,?\s(?:or|and)\b)\s?")
_NUMBER = re.compile(r"[`'\"]?(-?\d{1,15}(?:\.\d{1,6})?)(?![\w%:/-]|\.\d)")
_CODE_TAG = re.compile(r"</?(?:code|tt|kbd|samp)>", re.IGNORECASE)
_NEGATION = re.compile(r"\b(?:not|no|never|avoid|cannot|except|than|instead|without)\b|n't\b", re.IGNORECASE)
_REFUSED = re.compile(
    r"(?:[^.;\n]|\.(?!\s)){0,120}\b(?:not (?:allowed|permitted|supported|valid|accepted|used)"
    r"|(?:are|be|is) (?:blocked|denied|disallowed|forbidden|invalid|prohibited|refused|rejected))\b"
)
"""The rest of a sentence on values that are not to be sent."""

_NO_VALUE = re.compile(
    r"\W*|<[^<>]*>|\{[^{}]*\}|\$\{?\w+\}?|\[[^\[\]]*\]|(?:null|none|undefined|etc|true|false|string|integer|number)\.?"
    r"|.*(?:\.\.\.|…|\"|yyyy|hh:mm).*",
    re.IGNORECASE,
)
"""A placeholder, a form, the name of a type, words with a quoted value, or what no one would send."""

_JSON_TEXT = re.compile(
    r"(?i)(?:.{0,80} as |\W{0,3}(?:optional\W+)?)(?:an? )?JSON (?:string )?(?:(?P<list>array|list)|string|object)\b"
)
"""The start of the description of a string that is JSON."""

_TYPE_NAME = re.compile(r"(?i)<?(?:str|string|int|integer|number|float|bool|boolean|object|array)>?|\.\.\.|…")


@lru_cache(4096)
def values_in(text: str, kind: str) -> tuple[Json, ...]:
    """Returns the values of a JSON type that a description has as examples, in their order."""
    text = _CODE_TAG.sub("`", text[:_TEXT_LIMIT])
    if kind in ("object", "array"):
        return tuple(_json_in(text, "{" if kind == "object" else "["))
    if kind == "string" and (written := _JSON_TEXT.match(text)) is not None:
        return tuple(json.dumps(item, ensure_ascii=False) for item in _json_in(text, "[" if written["list"] else "{"))
    found: list[Json] = []
    for lead in _LEAD.finditer(text):
        before = text[max(lead.start() - 30, 0) : lead.start()].rpartition(". ")[2]
        if not _NEGATION.search(before) and not _REFUSED.match(text[lead.end() : lead.end() + 200]):
            filler = _FILLER.match(text, lead.end())
            found += _after(text, filler.end() if filler is not None else lead.end(), kind, lead["bare"] is not None)
    return tuple(found)


def _after(text: str, start: int, kind: str, may_be_bare: bool) -> Iterator[Json]:
    """Yields the values at a place: numbers, or strings in quotation marks, one after another."""
    if kind in ("integer", "number"):
        if (number := _NUMBER.match(text, start)) is not None:
            exact = float(number[1])
            yield int(exact) if exact.is_integer() else exact
    elif kind == "string" and (quoted := _QUOTED.match(text, start)) is not None:
        while quoted is not None:
            if not _NO_VALUE.fullmatch(value := next(filter(None, quoted.groups())).strip("'\"")):
                yield value.rstrip(",")
            quoted = _QUOTED.match(text, between.end()) if (between := _BETWEEN.match(text, quoted.end())) else None
    elif kind == "string" and may_be_bare and (bare := _BARE.match(text, start)) is not None:
        word = bare[0].rstrip(".:")
        if word[:1] not in (*"`'\"“‘*-", "") and not _NO_VALUE.fullmatch(word):
            yield word


def _json_in(text: str, opening: str) -> Iterator[Json]:
    decoder, start = json.JSONDecoder(), 0
    for _ in range(_ATTEMPTS_LIMIT):
        start = text.find(opening, start)
        if start < 0:
            return
        try:
            value, start = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            start += 1
            continue
        if value and not _names_types(value):
            yield value


def _names_types(value: Json) -> bool:
    """True if a value has names of types in place of values."""
    if isinstance(value, (dict, list)):
        return any(map(_names_types, value.values() if isinstance(value, dict) else value))
    return isinstance(value, str) and _TYPE_NAME.fullmatch(value) is not None


_ARGUMENT = re.compile(
    r"'((?:[^'\\\n]|\\.)*)'?|\"(?:[^\"\\\n]|\\.)*\"?|\b(True|False|None)\b|\b([A-Za-z_]\w{0,60})\s?=(?!=)|,(?=\s*[)\]}])"
)
_CONSTANTS = {"True": "true", "False": "false", "None": "null"}


def calls_in(text: str, name: str) -> Iterator[dict[str, Json]]:
    """Yields the arguments of calls of a tool in its description: `NAME(key="value")`, or JSON objects."""
    text = text[:_TEXT_LIMIT]
    for written in text.split(f"{name}(")[1 : _ATTEMPTS_LIMIT + 1]:
        *pieces, _ = _ARGUMENT.sub(_json_token, written[:2_000]).split(")", _ATTEMPTS_LIMIT)
        for count in range(1, len(pieces) + 1):
            with suppress(ValueError, RecursionError):
                value = json.loads(f"{{{')'.join(pieces[:count]).strip().rstrip(',')}}}")
                if value and not _names_types(value):
                    yield value
                break
    for found in _json_in(text, "{"):
        inner = found.get("arguments") if isinstance(found, dict) else None
        yield inner if isinstance(inner, dict) else found


def _json_token(token: re.Match[str]) -> str:
    single, constant, key = token.groups()
    if single is not None:
        return json.dumps(single.replace("\\'", "'"))
    if constant is not None:
        return _CONSTANTS[constant]
    return f'"{key}":' if key is not None else "" if token[0] == "," else token[0]


_EXPLAINED = re.compile(
    r"^[ \t]{0,16}(?:[-*]\s)?[`*]{0,2}([\w.-]{1,60})[`*]{0,2}(?:\s?\([^()\n]{0,80}\))?\s?:.*", re.MULTILINE
)
"""A line that explains a parameter."""

_LISTED = re.compile(
    r"^\W{0,16}examples? (\w{1,60})\W{0,3}\n\s{0,20}[-*]\s([^\s`]{1,200})$", re.IGNORECASE | re.MULTILINE
)
"""A heading and the first item of the list below it: `Example URLs`."""

_ONE_OF = re.compile(
    r"\b(?:at least one of|exactly one of|(?:pass|provide|specify|supply) (?:either|one of))\b([^.\n]{1,200})",
    re.IGNORECASE,
)
_REQUIRED = re.compile(
    r"\A[^.]{0,60}\(required\)|\A\W{0,3}required\b(?!.{0,3}\b(?:if|when|only|for|by|with|unless)\b)", re.IGNORECASE
)
_VALUE = re.compile(r"[\w.-]+")
_REQUIRED_WITH = re.compile(
    r"(?i)(?<!\bnot )(?<!n['’]t )\brequired (?:(when|if)|for|by|with)\b((?:(?!but |optional|unless)[^.;()\n]){1,100})"
)


def lines_on(name: str, text: str) -> str:
    """Returns the lines of a tool's description that explain a parameter: `name (type): …`, or list examples of it."""
    lines = _EXPLAINED.finditer(text[:_TEXT_LIMIT])
    listed = _LISTED.finditer(text[:_TEXT_LIMIT])
    found = [line[0].partition(":")[2] for line in lines if line[1] == name]
    return "\n".join(found + [f"e.g. `{item[2]}`" for item in listed if singular(item[1].lower()) == name.lower()])


def requires(about: str, others: Sequence[tuple[str, Json]] = ()) -> bool:
    """True if a description begins with the word that its parameter is required, or says so for a value of another one:
    `Required for create`, `required when action is create`."""
    if "required" not in about.lower():  # as in most
        return False
    stated = [(when, _VALUE.findall(_NEGATION.split(words)[0])) for when, words in _REQUIRED_WITH.findall(about)]
    return _REQUIRED.match(about) is not None or any(
        value in words and (name in words or not when) for when, words in stated for name, value in others
    )


def needs_one_of(names: Sequence[str], text: str) -> list[str]:
    """Returns those of the names that prose names as alternatives of which a call needs one."""
    text, lower = text[:_TEXT_LIMIT], text[:_TEXT_LIMIT].lower()
    if (" one of" not in lower and " either" not in lower) or (found := _ONE_OF.search(text)) is None:
        return []
    words = _VALUE.findall(found[1])
    return [name for name in names if name in words]
