"""Finds what contradicts itself in the schemas of a service: values that their own schema does not allow, invalid
keywords.

It reads the model, so a snapshot has the same findings as its source. What reading reports already is not repeated.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator

from skillgen.errors import Problem
from skillgen.model.calls import Output
from skillgen.model.check import is_type
from skillgen.model.schema import BOUNDS, COUNTS, SIZES, TYPES, Parameter, Schema, Types, bases, is_finite
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.values import Json, child
from skillgen.security.credentials import without_placeholders
from skillgen.sources.examples.validation import PATTERN_LIMIT, UNCHECKED, Validator, holds
from skillgen.text.markdown import one_line
from skillgen.text.summary import clip

_TYPES = TYPES | {"file"}
"""Types of JSON Schema, and that of Swagger 2.0 for uploads."""

_RANGES = (("minimum", "maximum"), *((f"min{noun}", f"max{noun}") for noun in SIZES))
_SHOWN_LENGTH = 60
_VALUES_LIMIT = 20_000
"""Values of one service that are validated; checking the others would take minutes."""


def schema_problems(service: Service) -> Iterator[Problem]:
    """Yields `example-invalid`, `schema-invalid` and `properties-forbidden`."""
    if service.kind != "cli":  # a program converts its values from strings
        yield from _Checker(service).problems()


class _Checker:
    def __init__(self, service: Service) -> None:
        self._service = service
        self._types = Types.of(service.schemas)
        self._validator = Validator(self._types, is_request=True)
        self._seen: set[str] = set()
        self._validated = 0

    def problems(self) -> Iterator[Problem]:
        for tool in self._service.tools:
            for parameter in tool.parameters:
                yield from self._parameter(parameter)
            for output in _outputs(tool):
                yield from self._output(output)
        for item in self._service.schemas:
            yield from self._schema(item.schema, item.name, item.pointer)

    def _parameter(self, parameter: Parameter) -> Iterator[Problem]:
        # The schema of a parameter in OpenAPI 3 is a member of it; that of a property is the property itself.
        inner = "" if parameter.location in ("argument", "property", "body") else "/schema"
        yield from self._schema(parameter.schema, parameter.name, parameter.pointer, inner)

    def _output(self, output: Output) -> Iterator[Problem]:
        media_types = output.media_types[:1]
        where = child(output.pointer, "content", *media_types, "schema") if media_types else output.pointer
        if output.schema is None or where in self._seen:
            return
        name = f"the response {output.status}" if output.status is not None else "the result"
        yield from self._schema(output.schema, name, where)
        for example in output.examples:
            media_type = example.media_type or ""
            if "json" in media_type:
                last = ("examples", example.name) if example.name is not None else ("example",)
                quoted = f" {example.name[:_SHOWN_LENGTH]!r}" if example.name is not None else ""
                where = child(output.pointer, "content", media_type, *last)
                yield from self._value(example.value.json, output.schema, f"the example{quoted} of {name}", where)

    def _schema(self, schema: Schema, name: str, pointer: str, inner: str = "") -> Iterator[Problem]:
        if pointer in self._seen:
            return
        self._seen.add(pointer)
        where, name = pointer + inner, name[:_SHOWN_LENGTH]
        closed = [base for base in bases(schema) if self._types.type_of(base).additional is False]
        if closed and (schema.properties or len(bases(schema)) > 1):
            message = f"{name}: {closed[0][:60]} forbids the properties that it adds"
            yield Problem.of("properties-forbidden", where, message)
        for message in _faults(schema):
            yield Problem.of("schema-invalid", where, f"{name}: {message}")
        values = [("default", schema.default.json)] if schema.default is not None else []
        for what, value in [*values, *(("example", value) for value in schema.examples)]:
            if value is not None:
                yield from self._value(value, schema, f"the {what} of {name}", child(where, what))
        for item in schema.properties:
            yield from self._parameter(item)
        parts = {"items": schema.items, "additionalProperties": schema.additional, "contains": schema.contains}
        for keyword, part in parts.items():
            if isinstance(part, Schema):
                yield from self._schema(part, f"{keyword} of {name}", child(pointer + inner, keyword))
        for keyword, several in (("anyOf", schema.alternatives), ("allOf", schema.also)):
            for index, part in enumerate(several):
                yield from self._schema(part, f"an alternative of {name}", child(pointer + inner, keyword, index))

    def _value(self, value: Json, schema: Schema, what: str, where: str) -> Iterator[Problem]:
        if self._validated >= _VALUES_LIMIT:
            return
        self._validated += 1
        error = self._validator.validation_error(value, schema)
        if error not in (None, UNCHECKED) and not _is_changed(value):
            yield Problem.of("example-invalid", where, f"{what} does not match its schema: {error}")


def _is_changed(value: Json) -> bool:
    """True if screening replaced a part of a value."""
    text = json.dumps(value)
    return without_placeholders(text) != text


def _outputs(tool: Tool) -> Iterator[Output]:
    if tool.output is not None:
        yield tool.output
    yield from tool.other_outputs
    for error in tool.errors:
        if error.output is not None:
            yield error.output


def _faults(schema: Schema) -> Iterator[str]:
    """Yields what is wrong with the keywords of one schema."""
    for name in schema.types:
        if name not in _TYPES:
            yield f"{name[:_SHOWN_LENGTH]!r} is not a type of JSON Schema"
    if schema.choices and schema.types:
        kinds = {*schema.types, "null"}
        wrong = [value for value in schema.choices if not any(is_type(value, kind) for kind in kinds)]
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
    for low, high in _RANGES:
        least, most = constraints.get(low), constraints.get(high)
        if least is not None and most is not None and is_finite(least) and is_finite(most) and least > most:
            yield f"no value is allowed: {low} is {least}, {high} is {most}"


def _shown(value: Json) -> str:
    return clip(one_line(repr(value)), _SHOWN_LENGTH)


_BROKEN_PATTERN = (
    "missing )",
    "unbalanced parenthesis",
    "unterminated character set",
    "nothing to repeat",
    "bad escape (end",
)
"""What Python says of patterns that are valid in no language; other errors may come from a difference of languages."""


def _is_pattern(text: str) -> bool:
    """True unless a pattern is a regular expression in no language."""
    if len(text) <= PATTERN_LIMIT and holds("pattern", text, "") is None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                re.compile(text)
            except re.error as error:
                return not error.msg.startswith(_BROKEN_PATTERN)
            except (OverflowError, RecursionError):
                pass  # too large, which is not a fault of its syntax
    return True
