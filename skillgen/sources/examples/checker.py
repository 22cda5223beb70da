"""Validates values with `jsonschema`, within bounds. Imported only on use, since `jsonschema` loads slowly.

`jsonschema` reads only those parts of a schema that apply to the value, so a large document costs nothing. Keywords
differ from its own in OpenAPI's rules for null and for read-only properties, in patterns that are matched in bounded
steps, and in a limit on references. The registry never fetches.
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

_REFERENCES_LIMIT = 2_000
"""References that are followed while one value is validated."""

_Errors = Iterator[ValidationError]
_Keyword = Callable[[Any, Json, Json, Json], _Errors]


class Unchecked(Exception):
    """A value could not be validated within bounds."""


class Checker:
    """Validates values against the schemas of one document."""

    def __init__(self, root: Json, *, is_openapi: bool, draft: type[Any] | None, is_open: bool) -> None:
        schema = root if isinstance(root, dict) else {}
        kind: Any = draft or validators.validator_for(schema, default=validators.Draft202012Validator)
        extended: Any = _extended(kind, is_openapi, is_open)
        self._validator = extended(schema, registry=Registry(), format_checker=FormatChecker(FORMATS))
        self._has_pattern_properties = (
            isinstance(root, dict) and not is_openapi and _mentions(root, "patternProperties")
        )

    def validation_error(self, value: Json, raw: Json) -> str | None:
        """Returns why a value does not match a schema; `None` if it does.

        Raises:
            Unchecked: validation would take too long.
        """
        _BUDGET.references = _REFERENCES_LIMIT
        _BUDGET.has_pattern_properties = self._has_pattern_properties
        error = next(iter(self._validator.evolve(schema=raw).iter_errors(value)), None)
        if error is None:
            return None
        where = "/".join(str(part) for part in error.absolute_path)
        return f"{where}: {error.message}" if where else str(error.message)


def checker_for(root: Json, dialect: Dialect, *, is_open: bool = False) -> Checker:
    """Returns the checker of a document; with `is_open` every object may have further properties."""
    drafts = {"openapi-3.0": validators.Draft4Validator, "openapi-draft-07": validators.Draft7Validator}
    draft = drafts.get(dialect)
    return Checker(root, is_openapi=dialect != "json-schema", draft=draft, is_open=is_open)


class _Budget:
    """The remaining budget of the current validation."""

    references = _REFERENCES_LIMIT
    has_pattern_properties = False


_BUDGET = _Budget()


@cache
def _extended(kind: type[Any], is_openapi: bool, is_open: bool) -> type[Any]:
    """Returns the validator class of a draft with the keywords that differ here."""
    base: dict[str, _Keyword] = dict(kind.VALIDATORS)
    overrides: dict[str, _Keyword] = {
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _open(_additional_properties) if is_open else _additional_properties,
        "required": _required_of_a_request if is_openapi else _required,
    }
    for name in ("$ref", "$dynamicRef", "$recursiveRef"):
        if name in base:
            overrides[name] = _counted(base[name])
    if "prefixItems" in base:
        overrides["items"] = _accept_draft_07_tuples(base["items"])
    if "unevaluatedProperties" in base:
        overrides["unevaluatedProperties"] = _without_patterns(base["unevaluatedProperties"])
    for name in ("exclusiveMinimum", "exclusiveMaximum"):
        if name in base:
            overrides[name] = _number_only(base[name])
    if is_openapi:
        for name in ("type", "enum", "allOf"):
            overrides[name] = _unless_nullable(base[name])
        for name in ("anyOf", "oneOf"):
            overrides[name] = _unless_nullable(_by_discriminator(base[name]))
    extend: Any = validators.extend
    return cast(type[Any], extend(kind, overrides))


def _counted(keyword: _Keyword) -> _Keyword:
    def check(validator: Any, value: Json, instance: Json, schema: Json) -> _Errors:
        _BUDGET.references -= 1
        if _BUDGET.references < 0:
            raise Unchecked
        return keyword(validator, value, instance, schema)

    return check


def _without_patterns(keyword: _Keyword) -> _Keyword:
    def check(validator: Any, value: Json, instance: Json, schema: Json) -> _Errors:
        if _BUDGET.has_pattern_properties:
            raise Unchecked
        return keyword(validator, value, instance, schema)

    return check


def _accept_draft_07_tuples(keyword: _Keyword) -> _Keyword:
    """Reads a list of `items`, which is invalid since 2020-12, like the drafts before."""
    older: dict[str, _Keyword] = dict(validators.Draft7Validator.VALIDATORS)

    def check(validator: Any, items: Json, instance: Json, schema: Json) -> _Errors:
        if not isinstance(items, list):
            yield from keyword(validator, items, instance, schema)
            return
        yield from older["items"](validator, items, instance, schema)
        if "additionalItems" in schema:
            yield from older["additionalItems"](validator, schema["additionalItems"], instance, schema)

    return check


def _unless_nullable(keyword: _Keyword) -> _Keyword:
    def check(validator: Any, value: Json, instance: Json, schema: Json) -> _Errors:
        if instance is None and schema.get("nullable") is True:
            return iter(())
        return keyword(validator, value, instance, schema)

    return check


def _by_discriminator(keyword: _Keyword) -> _Keyword:
    """Validates a value only against the alternative that its discriminator names (OpenAPI, "Discriminator Object")."""

    def check(validator: Any, options: Json, instance: Json, schema: Json) -> _Errors:
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
        # The alternative need not declare the discriminator property.
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


def _number_only(keyword: _Keyword) -> _Keyword:
    """Ignores the boolean form of draft-04, where later drafts have a number."""

    def check(validator: Any, value: Json, instance: Json, schema: Json) -> _Errors:
        return iter(()) if isinstance(value, bool) else keyword(validator, value, instance, schema)

    return check


def _pattern(validator: Any, pattern: Json, instance: Json, schema: Json) -> _Errors:
    if isinstance(instance, str) and isinstance(pattern, str) and not _matches(pattern, instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _matches(pattern: str, text: str) -> bool:
    answer = matches(pattern, text)
    if answer is None:
        raise Unchecked
    return answer


def _pattern_properties(validator: Any, patterns: Json, instance: Json, schema: Json) -> _Errors:
    if isinstance(instance, dict):
        for pattern, subschema in patterns.items():
            for name, value in instance.items():
                if _matches(pattern, name):
                    yield from validator.descend(value, subschema, path=name, schema_path=pattern)


def _additional_properties(validator: Any, allowed: Json, instance: Json, schema: Json) -> _Errors:
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


def _open(keyword: _Keyword) -> _Keyword:
    def check(validator: Any, allowed: Json, instance: Json, schema: Json) -> _Errors:
        return iter(()) if allowed is False else keyword(validator, allowed, instance, schema)

    return check


def _required(validator: Any, names: Json, instance: Json, schema: Json) -> _Errors:
    if isinstance(instance, dict) and isinstance(names, list):
        for name in names:
            if name not in instance:
                yield ValidationError(f"{name!r} is required")


def _required_of_a_request(validator: Any, names: Json, instance: Json, schema: Json) -> _Errors:
    """Ignores read-only properties, which are not sent (OpenAPI 3.0, `readOnly`)."""
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
