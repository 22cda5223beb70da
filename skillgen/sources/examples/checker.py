"""Checks one value with `jsonschema`, in bounds. Imported only when something is checked, for it loads slowly.

`jsonschema` reads a schema only as far as the value leads, so a large document costs nothing. What differs here: the
rules of OpenAPI for null and for what is only returned, patterns that are matched in bounded steps, references that
are counted, and no registry that fetches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, cast

from jsonschema import FormatChecker, ValidationError, validators
from referencing import Registry

from skillgen.model.values import Json
from skillgen.sources.examples.quick_check import FORMATS, Dialect
from skillgen.sources.examples.strings import matches
from skillgen.sources.json_access import as_dict, as_list, text_of
from skillgen.sources.json_schema.discriminators import implied_value, is_type_reference, mapped_reference

REFERENCES_LIMIT = 2_000
"""References that are followed while one value is checked."""

Errors = Iterator[ValidationError]
Keyword = Callable[[Any, Json, Json, Json], Errors]


class Unchecked(Exception):
    """A value could not be checked within bounds."""


class Checker:
    """Checks values against the schemas of one document."""

    def __init__(self, root: Json, *, is_openapi: bool, draft: type[Any] | None, is_open: bool) -> None:
        schema = root if isinstance(root, dict) else {}
        kind: Any = draft or validators.validator_for(schema, default=validators.Draft202012Validator)
        extended: Any = _extended(kind, is_openapi, is_open)
        self._validator = extended(schema, registry=Registry(), format_checker=FormatChecker(FORMATS))
        self._is_of_patterns = isinstance(root, dict) and not is_openapi and _mentions(root, "patternProperties")

    def validation_error(self, value: Json, raw: Json) -> str | None:
        """Says why a value does not fit; `None` where it does.

        Raises:
            Unchecked: the answer would take too long.
        """
        _BUDGET.references = REFERENCES_LIMIT
        _BUDGET.is_of_patterns = self._is_of_patterns
        error = next(iter(self._validator.evolve(schema=raw).iter_errors(value)), None)
        if error is None:
            return None
        where = "/".join(str(part) for part in error.absolute_path)
        return f"{where}: {error.message}" if where else str(error.message)


def checker_for(root: Json, dialect: Dialect, *, is_open: bool = False) -> Checker:
    """Gives the checker of one document; `is_open` reads every object as one that may have other properties."""
    drafts = {"openapi-3.0": validators.Draft4Validator, "openapi-draft-07": validators.Draft7Validator}
    draft = drafts.get(dialect)
    return Checker(root, is_openapi=dialect != "json-schema", draft=draft, is_open=is_open)


class _Budget:
    """What the check that runs may still do."""

    references = REFERENCES_LIMIT
    is_of_patterns = False


_BUDGET = _Budget()


@cache
def _extended(kind: type[Any], is_openapi: bool, is_open: bool) -> type[Any]:
    """Gives a validator of one draft with the keywords that are read otherwise here."""
    base: dict[str, Keyword] = dict(kind.VALIDATORS)
    own: dict[str, Keyword] = {
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _open(_additional_properties) if is_open else _additional_properties,
        "required": _required_of_a_request if is_openapi else _required,
    }
    for name in ("$ref", "$dynamicRef", "$recursiveRef"):
        if name in base:
            own[name] = _counted(base[name])
    if "prefixItems" in base:
        own["items"] = _old_tuples_too(base["items"])
    if "unevaluatedProperties" in base:
        own["unevaluatedProperties"] = _without_patterns(base["unevaluatedProperties"])
    for name in ("exclusiveMinimum", "exclusiveMaximum"):
        if name in base:
            own[name] = _number_only(base[name])
    if is_openapi:
        for name in ("type", "enum", "allOf"):
            own[name] = _unless_nullable(base[name])
        for name in ("anyOf", "oneOf"):
            own[name] = _unless_nullable(_by_discriminator(base[name]))
    extend: Any = validators.extend
    return cast(type[Any], extend(kind, own))


def _counted(keyword: Keyword) -> Keyword:
    def check(validator: Any, value: Json, instance: Json, schema: Json) -> Errors:
        _BUDGET.references -= 1
        if _BUDGET.references < 0:
            raise Unchecked
        return keyword(validator, value, instance, schema)

    return check


def _without_patterns(keyword: Keyword) -> Keyword:
    def check(validator: Any, value: Json, instance: Json, schema: Json) -> Errors:
        if _BUDGET.is_of_patterns:
            raise Unchecked
        return keyword(validator, value, instance, schema)

    return check


def _old_tuples_too(keyword: Keyword) -> Keyword:
    """Reads a list of `items`, which is no schema since 2020-12, as the drafts before it do."""
    older: dict[str, Keyword] = dict(validators.Draft7Validator.VALIDATORS)

    def check(validator: Any, items: Json, instance: Json, schema: Json) -> Errors:
        if not isinstance(items, list):
            yield from keyword(validator, items, instance, schema)
            return
        yield from older["items"](validator, items, instance, schema)
        if "additionalItems" in schema:
            yield from older["additionalItems"](validator, schema["additionalItems"], instance, schema)

    return check


def _unless_nullable(keyword: Keyword) -> Keyword:
    def check(validator: Any, value: Json, instance: Json, schema: Json) -> Errors:
        if instance is None and schema.get("nullable") is True:
            return iter(())
        return keyword(validator, value, instance, schema)

    return check


def _by_discriminator(keyword: Keyword) -> Keyword:
    """Checks a value against the alternative alone that its discriminator names (OpenAPI, "Discriminator Object")."""

    def check(validator: Any, options: Json, instance: Json, schema: Json) -> Errors:
        discriminator = as_dict(schema.get("discriminator"))
        name = text_of(discriminator, "propertyName")
        value = text_of(instance, name) if name is not None else None
        if name is None or value is None:
            yield from keyword(validator, options, instance, schema)
            return
        option = _named_alternative(as_list(options), discriminator, name, value, validator)
        if option is None:
            yield from keyword(validator, options, instance, schema)
            return
        errors = list(validator.descend(instance, option))
        # The discriminator itself need not be among the properties of the alternative.
        if errors and any(validator.descend({key: instance[key] for key in instance if key != name}, option)):
            yield from errors

    return check


def _named_alternative(options: list[Json], discriminator: Json, name: str, value: str, validator: Any) -> Json:
    def follow(reference: str) -> Json:
        return validator._resolver.lookup(reference).contents

    target = as_dict(as_dict(discriminator).get("mapping")).get(value)
    for option in options:
        reference = text_of(option, "$ref")
        if reference is None:
            continue
        if isinstance(target, str):
            is_named = mapped_reference(target) == reference
        else:
            is_named = is_type_reference(reference) and implied_value(reference, name, follow) == value
        if is_named:
            return option
    return None


def _number_only(keyword: Keyword) -> Keyword:
    """Leaves out the flags of draft-04 where later drafts have a number."""

    def check(validator: Any, value: Json, instance: Json, schema: Json) -> Errors:
        return iter(()) if isinstance(value, bool) else keyword(validator, value, instance, schema)

    return check


def _pattern(validator: Any, pattern: Json, instance: Json, schema: Json) -> Errors:
    if isinstance(instance, str) and isinstance(pattern, str) and not _matches(pattern, instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _matches(pattern: str, text: str) -> bool:
    answer = matches(pattern, text)
    if answer is None:
        raise Unchecked
    return answer


def _pattern_properties(validator: Any, patterns: Json, instance: Json, schema: Json) -> Errors:
    if isinstance(instance, dict):
        for pattern, subschema in patterns.items():
            for name, value in instance.items():
                if _matches(pattern, name):
                    yield from validator.descend(value, subschema, path=name, schema_path=pattern)


def _additional_properties(validator: Any, allowed: Json, instance: Json, schema: Json) -> Errors:
    if not isinstance(instance, dict):
        return
    named, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    for name, value in instance.items():
        if name in named or any(_matches(pattern, name) for pattern in patterns):
            continue
        if isinstance(allowed, dict):
            yield from validator.descend(value, allowed, path=name)
        elif not allowed:
            yield ValidationError(f"{name!r} is not among its properties, and no others are allowed")


def _open(keyword: Keyword) -> Keyword:
    def check(validator: Any, allowed: Json, instance: Json, schema: Json) -> Errors:
        return iter(()) if allowed is False else keyword(validator, allowed, instance, schema)

    return check


def _required(validator: Any, names: Json, instance: Json, schema: Json) -> Errors:
    if isinstance(instance, dict) and isinstance(names, list):
        for name in names:
            if name not in instance:
                yield ValidationError(f"{name!r} is required")


def _required_of_a_request(validator: Any, names: Json, instance: Json, schema: Json) -> Errors:
    """What is only ever returned need not be sent (OpenAPI 3.0, `readOnly`)."""
    for error in _required(validator, names, instance, schema):
        name = next(name for name in names if error.message == f"{name!r} is required")
        if not _is_read_only(validator, schema.get("properties", {}).get(name)):
            yield error


def _is_read_only(validator: Any, raw: Json) -> bool:
    if not isinstance(raw, dict):
        return False
    if isinstance(reference := raw.get("$ref"), str):
        raw = validator._resolver.lookup(reference).contents
    return isinstance(raw, dict) and raw.get("readOnly") is True


def _mentions(raw: Json, keyword: str) -> bool:
    waiting = [raw]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if keyword in value:
                return True
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
    return False
