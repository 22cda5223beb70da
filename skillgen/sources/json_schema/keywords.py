"""Keywords of a JSON Schema as fields of a `Schema`, except composition by `allOf`, `oneOf`, `anyOf` and `$ref`.

Nested schemas are read by the function that each reader is given. A discriminator is the property whose value selects
the type of an object (OpenAPI 3.1, "Discriminator Object"): one of those of `oneOf` or `anyOf`, or of those that extend
the one with the discriminator by `allOf`.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, lru_cache
from typing import Any

from skillgen.model.schema import Condition, Discriminator, Schema
from skillgen.model.values import Json, Value, child, follow, last_token
from skillgen.sources.json_access import as_dict, as_list, is_bare_markup, text_of

Report = Callable[[str, str], None]
"""Reports an invalid value; takes its pointer and the message."""

_CONSTRAINTS = (
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern",
    "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "minContains", "maxContains",
    "contentMediaType",
)  # fmt: skip
"""Keywords that the model holds verbatim."""


_FLAGS = {"readOnly": "read_only", "writeOnly": "write_only", "deprecated": "deprecated"}


_COMMON_FIELDS = frozenset({"types", "format", "nullable", "read_only", "deprecated"})


def scalar_fields(raw: dict[str, Json], pointer: str, report: Report) -> dict[str, Any]:
    """Returns the fields of a `Schema` that come from one keyword each: types, choices, examples, descriptions."""
    fields: dict[str, Any] = {}
    for key, value in raw.items():
        if key == "type" and isinstance(value, str) and value != "null":  # as of most
            fields["types"] = (value,)
        elif key == "type":
            _add_types(value, fields, pointer, report)
        elif key in ("description", "title", "format"):
            if isinstance(value, str) and not is_bare_markup(value):
                fields[key] = value
        elif key == "enum":
            if isinstance(value, list):
                fields.setdefault("choices", tuple(value))
            else:
                report(child(pointer, key), f"expected a list, found {kind_of(value)}")
        elif key == "const":
            fields["choices"] = (value,)
        elif key == "default":
            fields["default"] = Value(value)
        elif key == "example":
            fields["examples"] = (value,)
        elif key == "examples" and isinstance(value, list):
            fields["examples"] = tuple(value)
        elif key == "nullable":
            fields["nullable"] = value is True or fields.get("nullable", False)
        elif key in _FLAGS:
            fields[_FLAGS[key]] = value is True
        elif key == "contentEncoding" and isinstance(value, str):
            fields.setdefault("format", value)
    if "examples" in fields and fields.get("types") == ("string",):
        fields["examples"] = tuple(map(_decoded, fields["examples"]))
    return fields


def scalar_schema(fields: dict[str, Any]) -> Schema:
    """Returns a schema; plain ones, of which a description has thousands, are shared."""
    return shared_schema(**fields) if _COMMON_FIELDS.issuperset(fields) else Schema(**fields)


@lru_cache(4096)
def shared_schema(**fields: Any) -> Schema:
    """Returns the schema with these fields, one for all places."""
    return Schema(**fields)


def _decoded(example: Json) -> Json:
    """Returns an example of a string without the quotation marks of JSON, which authors put into YAML as well."""
    if isinstance(example, str) and example[:1] == example[-1:] == '"' and len(example) > 1:
        with contextlib.suppress(ValueError):
            return json.loads(example)
    return example


def _add_types(declared: Json, fields: dict[str, Any], pointer: str, report: Report) -> None:
    if not isinstance(declared, str) and (not isinstance(declared, list) or {*map(type, declared)} - {str}):
        report(f"{pointer}/type", f"expected a type name or a list of them, found {kind_of(declared)}")
        return
    fields["types"] = names = (declared,) if isinstance(declared, str) else tuple(declared)
    if "null" in names:
        fields["types"], fields["nullable"] = tuple(name for name in names if name != "null"), True
        if not fields["types"]:
            fields["choices"] = (None,)


def constraints_of(raw: dict[str, Json], *, reads_xml: bool) -> dict[str, Json] | None:
    """Returns the keywords that constrain a value, with `reads_xml` also `xml`; `None` without any."""
    if not reads_xml and raw.keys().isdisjoint(_CONSTRAINTS):  # as in most
        return None
    constraints = {key: _whole(raw[key]) for key in _CONSTRAINTS if key in raw and raw[key] is not False}
    # In OpenAPI 3.0 an exclusive bound is a boolean next to the bound.
    for flag, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if constraints.get(flag) is True:
            del constraints[flag]
            if bound in constraints:
                constraints[flag] = constraints.pop(bound)
    if reads_xml and isinstance(raw.get("xml"), dict):
        constraints["xml"] = raw["xml"]
    return constraints or None


def _whole(bound: Json) -> Json:
    """Returns `1` for the bound `1.0`, as some generators write it."""
    return int(bound) if isinstance(bound, float) and bound.is_integer() and abs(bound) < 2**53 else bound


def required_names(raw: Mapping[str, Json]) -> tuple[str, ...]:
    """Returns the names in `required`, each once, in the order declared."""
    return _unique_names(raw.get("required"))


def _unique_names(value: Json) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in as_list(value) if isinstance(name, str)))


def members(raw: Mapping[str, Json], keyword: str) -> list[tuple[int, Json]]:
    """Returns the schemas of a keyword that is a list, each with its index."""
    return list(enumerate(as_list(raw.get(keyword))))


_VALUE_KEYWORDS = frozenset({"example", "x-example", "default", "enum", "const", "value", "dataValue"})
"""Members that hold values, which may look like schemas but are not."""

_NAME_CONTAINERS = frozenset({
    "properties", "patternProperties", "dependentSchemas", "$defs", "definitions", "schemas", "parameters", "responses",
    "requestBodies", "headers", "pathItems", "mediaTypes", "callbacks", "links", "paths", "webhooks", "content",
    "examples", "securitySchemes",
})  # fmt: skip
"""Members of JSON Schema and OpenAPI whose keys are chosen by the author, so that `default` may be a name."""

Member = tuple[str | int, Json, bool]
"""Key or index, value, and whether the keys in the value are names."""


def schema_members(value: Json, holds_names: bool) -> Iterator[Member]:
    """Yields the members of a value that may hold schemas."""
    if isinstance(value, list):
        yield from ((index, item, False) for index, item in enumerate(value) if isinstance(item, (dict, list)))
    elif isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, dict) and (holds_names or key not in _VALUE_KEYWORDS):
                yield key, item, not holds_names and key in _NAME_CONTAINERS
            elif isinstance(item, list) and (holds_names or (key not in _VALUE_KEYWORDS and key != "examples")):
                yield key, item, False


RewriteObject = Callable[[dict[str, Json], str, bool], Json]
"""Returns the new form of an object, or the object itself; takes it, its pointer, and whether its keys are names."""


def rewrite_objects(value: Json, rewrite: RewriteObject, pointer: str = "", holds_names: bool = False) -> Json:
    """Returns a value with each object in it rewritten, the innermost first; unchanged parts are the same objects.

    Examples and other values that only look like schemas are left alone.
    """
    changed: dict[str | int, Json] = {}
    for key, item, inner_holds_names in schema_members(value, holds_names):
        new = rewrite_objects(item, rewrite, child(pointer, key), inner_holds_names)
        if new is not item:
            changed[key] = new
    if isinstance(value, dict):
        value = value | changed if changed else value
        return rewrite(value, pointer, holds_names)
    return [changed.get(index, item) for index, item in enumerate(value)] if changed else value


def values_of(raw: Json, keyword: str) -> Iterator[str]:
    """Yields every string at a keyword in or below a value."""
    stack = [raw]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            if isinstance(found := value.get(keyword), str):
                yield found
            stack.extend(value.values())
        elif isinstance(value, list):
            stack.extend(value)


def references(raw: Json) -> Iterator[str]:
    """Yields every local `$ref` in or below a value."""
    return (found for found in values_of(raw, "$ref") if found.startswith("#"))


def kind_of(value: Json) -> str:
    """Returns the JSON type of a value for messages, such as `an object`."""
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")


def with_named_values(raw: dict[str, Json]) -> dict[str, Json]:
    """Returns a schema whose values have names or descriptions in an extension, as generators write them, in the
    standard form: `oneOf` with a `const`, a `title` and a `description` each.

    The name of a string is only a constant of code.
    """
    values = raw.get("enum")
    if not isinstance(values, list) or "oneOf" in raw or not any(key.startswith("x-") for key in raw):
        return raw
    named = [item for item in as_list(as_dict(raw.get("x-ms-enum")).get("values")) if isinstance(item, dict)]
    found = {}
    for key, member, extensions in (("title", "name", _VALUE_NAMES), ("description", "description", _VALUE_TEXTS)):
        found[key] = {str(item.get("value")): item.get(member) for item in named}
        declared = next((raw[extension] for extension in extensions if extension in raw), None)
        if isinstance(declared, list) and len(declared) == len(values):
            declared = dict(zip(map(str, values), declared, strict=True))
        found[key] |= {str(value): text for value, text in as_dict(declared).items()}
    alternatives: list[Json] = [{"const": value} for value in values]
    for alternative, value in zip(alternatives, values, strict=True):
        for key in ("title", "description") if not isinstance(value, str) else ("description",):
            if isinstance(text := found[key].get(str(value)), str) and text:
                alternative[key] = text
    if all(len(item) == 1 for item in alternatives):
        return raw
    return {**{key: item for key, item in raw.items() if key != "enum"}, "oneOf": alternatives}


_VALUE_NAMES = ("x-enumNames", "x-enum-varnames", "x-enum-names")
_VALUE_TEXTS = ("x-enumDescriptions", "x-enum-descriptions")
"""Extensions of NSwag, OpenAPI Generator and others: a list parallel to `enum`, or an object by value."""

ReadSchema = Callable[[Json, str], Schema]
"""Reads a nested schema; takes its raw form and its pointer."""

RULE_KEYWORDS = frozenset({
    "not", "if", "dependentSchemas", "dependentRequired", "dependencies", "contains", "propertyNames",
    "patternProperties", "contentSchema",
})  # fmt: skip
"""Keywords of `rule_fields`; few schemas have any of them."""


def object_fields(
    raw: dict[str, Json], pointer: str, read: ReadSchema, keyword: str = "additionalProperties"
) -> dict[str, Any]:
    """Reads the keyword for properties that are not declared."""
    additional = raw.get(keyword)
    if isinstance(additional, dict) and additional:
        return {"additional": read(additional, f"{pointer}/{keyword}")}
    return {} if additional is None else {"additional": additional is not False}


def array_fields(raw: dict[str, Json], pointer: str, read: ReadSchema) -> dict[str, Any]:
    """Reads the items of an array: `prefixItems` and `items`, or the `items` and `additionalItems` of draft-07."""
    fields: dict[str, Any] = {}
    items, prefix, keyword, first = raw.get("items"), raw.get("prefixItems"), "items", "prefixItems"
    if isinstance(items, list):
        items, prefix, keyword, first = raw.get("additionalItems"), items, "additionalItems", "items"
    if isinstance(prefix, list):
        fields["prefix_items"] = tuple(read(item, child(pointer, first, index)) for index, item in enumerate(prefix))
    if items is not None and items is not True:
        fields["items"] = read(items, f"{pointer}/{keyword}")
    return fields


def rule_fields(raw: dict[str, Json], pointer: str, read: ReadSchema) -> dict[str, Any]:
    """Reads the keywords of `RULE_KEYWORDS`."""
    fields: dict[str, Any] = {}
    if raw.get("not") in ({}, True):
        return {"choices": ()}
    for keyword, name in (
        ("not", "excluded"),
        ("contains", "contains"),
        ("propertyNames", "property_names"),
        ("contentSchema", "content"),
    ):
        if keyword in raw:
            fields[name] = read(raw[keyword], f"{pointer}/{keyword}")
    if "patternProperties" in raw:
        fields["patterns"] = {
            pattern: read(item, child(pointer, "patternProperties", pattern))
            for pattern, item in raw["patternProperties"].items()
        }
    if conditions := tuple(_conditions(raw, pointer, read)):
        fields["conditions"] = conditions
    return fields


def _conditions(raw: dict[str, Json], pointer: str, read: ReadSchema) -> Iterator[Condition]:
    if "if" in raw and ("then" in raw or "else" in raw):
        yield Condition(
            when=read(raw["if"], f"{pointer}/if"),
            then=read(raw["then"], f"{pointer}/then") if "then" in raw else None,
            otherwise=read(raw["else"], f"{pointer}/else") if "else" in raw else None,
        )
    for keyword in ("dependentRequired", "dependentSchemas", "dependencies"):
        for name, item in raw.get(keyword, {}).items():
            is_list = isinstance(item, list)
            then = Schema(required=_unique_names(item)) if is_list else read(item, child(pointer, keyword, name))
            yield Condition(when=Schema(required=(name,)), then=then)


NameOf = Callable[[str, str], "str | None"]
"""Returns the name of the type at a `$ref`; takes the `$ref` and the pointer of the schema that holds it."""

_TYPE_CONTAINERS = (("components", "schemas"), ("$defs",), ("definitions",))
_VALUE_EXTENSIONS = ("x-ms-discriminator-value", "x-discriminator-value")
"""Extensions of Swagger 2.0, which has no mapping."""

_TYPE_REFERENCE = re.compile(r"#/(?:(?:components/schemas|\$defs|definitions)/[^/]+|x-files/.*)\Z")
"""A reference that ends with the name of a type: only a name can be the value of a discriminator."""


class DiscriminatorReader:
    """Reads the discriminators of one document."""

    def __init__(self, root: Json, pointer: str) -> None:
        """`pointer` is that of the document in the source."""
        self._root, self._pointer = root, pointer
        self._selecting: dict[str, tuple[str, dict[str, str]]] = {}

    def selecting(self, raw: dict[str, Json], pointer: str) -> tuple[str, dict[str, str]]:
        """Returns the property, and the value that selects each of the references to types.

        It is read once for each base type: thousands of types may extend one.
        """
        if pointer not in self._selecting:
            found = self.read(raw, pointer, lambda target, _: target, lambda *_: None)
            mapping = (found.mapping if found else None) or {}
            values = {target: value for value, target in reversed([*mapping.items()]) if target}
            self._selecting[pointer] = (found.property if found else "", values)
        return self._selecting[pointer]

    def read(self, raw: dict[str, Json], pointer: str, name_of: NameOf, report: Report) -> Discriminator | None:
        """Reads the discriminator of the schema at `pointer` of the source."""
        declared, discriminator_pointer = raw["discriminator"], f"{pointer}/discriminator"
        if (name := text_of(declared, "propertyName")) is None:
            report(discriminator_pointer, "the discriminator names no property; left out")
            return None
        mapping_pointer = f"{discriminator_pointer}/mapping"
        mapping = dict(_declared_mapping(declared.get("mapping"), mapping_pointer, name_of, report))
        mapped_types = set(mapping.values())
        for reference in self._implied_references(raw, pointer.removeprefix(self._pointer)):
            type_name = name_of(reference, discriminator_pointer)
            if type_name is None or type_name in mapped_types or not _TYPE_REFERENCE.match(reference):
                continue
            value = self._implied_value(reference, name)
            if value is not None and value not in mapping:
                mapping[value] = type_name
                mapped_types.add(type_name)
        default = declared.get("defaultMapping")
        return Discriminator(
            property=name,
            mapping=mapping or None,
            default=name_of(_mapped_reference(default), discriminator_pointer) if isinstance(default, str) else None,
        )

    def _implied_references(self, raw: dict[str, Json], local: str) -> Iterator[str]:
        """Yields references to the types that a value may select without a mapping."""
        alternatives = [item for keyword in ("oneOf", "anyOf") for _, item in members(raw, keyword)]
        if not alternatives:
            yield from (f"#{pointer}" for pointer in self._descendants(local))
        yield from (reference for item in alternatives if (reference := text_of(item, "$ref")) is not None)

    def _descendants(self, base: str) -> Iterator[str]:
        """Yields the pointers of the types that extend the one at `base`, the nearest first."""
        queue, seen = [base], {base}
        for parent in queue:
            for pointer in self._children.get(parent, ()):
                if pointer not in seen:
                    seen.add(pointer)
                    queue.append(pointer)
                    yield pointer

    @cached_property
    def _children(self) -> dict[str, list[str]]:
        """For the pointer of each base type, the pointers of the named types with it in their `allOf`."""
        children: dict[str, list[str]] = {}
        for container in _TYPE_CONTAINERS:
            types = self._root
            for key in container:
                types = as_dict(types).get(key)
            for name, raw in as_dict(types).items():
                for _, member in members(as_dict(raw), "allOf"):
                    if (reference := text_of(member, "$ref")) is not None:
                        children.setdefault(reference.removeprefix("#"), []).append(child("", *container, name))
        return children

    def _implied_value(self, reference: str, name: str) -> str | None:
        """Returns the value of the property `name` that selects the type at a reference without a mapping.

        This is the name of the type, unless the type declares its own value. `None` if the type allows several values,
        none of which is its name.
        """
        target, own = self._target(reference), last_token(reference)
        for key in _VALUE_EXTENSIONS:
            if (declared := text_of(target, key)) is not None:
                return declared
        allowed = self._allowed_values(target, name)
        if not allowed or own in allowed:
            return own
        return allowed[0] if len(allowed) == 1 else None

    def _allowed_values(self, target: dict[str, Json], name: str) -> list[str]:
        """Returns the strings to which a type restricts a property; empty if it does not restrict it."""
        for part in (target, *(member for _, member in members(target, "allOf"))):
            schema = as_dict(as_dict(as_dict(part).get("properties")).get(name))
            if (reference := text_of(schema, "$ref")) is not None:
                schema = self._target(reference)
            values = [schema["const"]] if "const" in schema else as_list(schema.get("enum"))
            if strings := [value for value in values if isinstance(value, str)]:
                return strings
        return []

    def _target(self, reference: str) -> dict[str, Json]:
        return as_dict(follow(self._root, reference.removeprefix("#")))


def _mapped_reference(target: str) -> str:
    """Returns the target of a mapping as a reference; it may also be written as the name of a type."""
    return target if "#" in target or "/" in target else f"#/components/schemas/{target}"


def _declared_mapping(mapping: Json, pointer: str, name_of: NameOf, report: Report) -> Iterator[tuple[str, str | None]]:
    if mapping is not None and not isinstance(mapping, dict):
        report(pointer, f"expected an object, found {kind_of(mapping)}")
        return
    for value, target in (mapping or {}).items():
        if not isinstance(target, str):
            report(child(pointer, value), f"expected a reference or a name, found {kind_of(target)}")
            continue
        yield value, name_of(_mapped_reference(target), child(pointer, value))
