"""The properties of an object schema as parameters, gathered through `$ref`, `allOf`, `oneOf` and `anyOf`.

A tool takes one object, and an agent sends its properties. What concerns the object itself (alternatives, conditions,
bounds) stays a schema next to the parameters.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from skillgen.model.schema import Location, Parameter, Schema
from skillgen.model.values import Json, child
from skillgen.sources.json_access import as_dict, text_of
from skillgen.sources.json_schema.keywords import OBJECT_KEYWORDS, members, required_names
from skillgen.sources.json_schema.loader import SchemaDocument
from skillgen.sources.json_schema.merge import ANYTHING, merge, merge_checked, union
from skillgen.text.summary import join_texts

SCHEMAS_LIMIT = 5_000
"""Maximum number of schemas from which the parameters of one tool are gathered."""

DEPTH_LIMIT = 200
"""Maximum nesting of these schemas."""

ALTERNATIVES_LIMIT = 12
"""Maximum number of alternatives repeated for each tool that takes a named type; more are listed with the type only."""


class FlatObject(Struct, frozen=True, kw_only=True):
    """An object schema, flattened."""

    parameters: tuple[Parameter, ...]
    """Every property that it may have."""

    schema: Schema | None
    """Constraints on the object beyond its properties: description, alternatives, conditions, bounds; `None` without
    any."""


EMPTY_OBJECT = FlatObject(parameters=(), schema=None)


def flatten(schemas: SchemaDocument, raw: Json, pointer: str, location: Location = "argument") -> FlatObject:
    """Returns the properties of an object schema as parameters.

    Each parameter gets `location`; `pointer` is the JSON pointer to the schema in the source.
    """
    return _Flattener(schemas, location).flatten(raw, pointer)


class _Flattener:
    """Gathers the parameters of one schema."""

    def __init__(self, schemas: SchemaDocument, location: Location) -> None:
        self._schemas = schemas
        self._location = location
        self._parameters: dict[str, Parameter] = {}
        self._object_schema = ANYTHING
        self._descriptions: dict[bool, str] = {}
        """Descriptions of the object itself (`True`) and of the schemas that it extends (`False`)."""
        self._count = 0
        self._closed: dict[str, frozenset[str]] = {}
        """Pointers of the parts that forbid further properties, with the names that they have."""
        self._references: list[str] = []
        """The references that were followed to the schema and to those that it extends."""
        self._selected: dict[str, str] = {}
        """Name of a discriminator of a type that the schema extends, to the value that selects the schema."""

    def flatten(self, raw: Json, pointer: str) -> FlatObject:
        """Flattens the schema; a property of an alternative is required if every alternative requires it."""
        required = self._collect(raw, pointer, set())
        if self._count > SCHEMAS_LIMIT:
            self._schemas.report(pointer, f"composed of more than {SCHEMAS_LIMIT} schemas; the rest is left out")
        undeclared = tuple(sorted(required - self._parameters.keys()))
        schema = replace(self._object_schema, required=undeclared) if undeclared else self._object_schema
        for where, names in self._closed.items():
            if forbidden := self._parameters.keys() - names:
                message = f"forbids properties that another part of the object has, such as {min(forbidden)[:60]!r}"
                self._schemas.report(where, message, "properties-forbidden")
        for name, value in self._selected.items():
            self._add(replace(self._parameters[name], schema=Schema(choices=(value,))), None)
        if (description := join_texts(self._descriptions.get(True), self._descriptions.get(False))) is not None:
            schema = replace(schema, description=description)
        return FlatObject(
            parameters=tuple(
                item if item.required == (name in required) else replace(item, required=name in required)
                for name, item in self._parameters.items()
            ),
            schema=schema if schema != ANYTHING else None,
        )

    def _collect(
        self,
        raw: Json,
        pointer: str,
        seen: set[int],
        common: frozenset[str] | None = None,
        is_itself: bool = True,
        depth: int = 0,
    ) -> frozenset[str]:
        """Gathers properties and returns the names that are required.

        `common` is given for an alternative: the names of the properties that the object has with any alternative.
        `is_itself` is false for a schema that the object extends.
        """
        if not isinstance(raw, dict) or id(raw) in seen or self._count > SCHEMAS_LIMIT:
            return frozenset()
        if depth > DEPTH_LIMIT:
            self._schemas.report(
                pointer, f"composed of a chain of more than {DEPTH_LIMIT} schemas; the rest is left out"
            )
            self._count = SCHEMAS_LIMIT
            return frozenset()
        # Alternatives may share a part, so each gets its own `seen`; SCHEMAS_LIMIT bounds the sum.
        seen.add(id(raw))
        self._count += 1
        if "$ref" in raw and not self._schemas.ref_siblings:
            raw = {"$ref": raw["$ref"]}
        raw = self._schemas.without_moot_keywords(raw)
        if common is None and (not OBJECT_KEYWORDS.isdisjoint(raw) or _allows_other_types(raw)):
            self._add_object_keywords(raw, pointer, is_itself)
        if common is None and (description := text_of(raw, "description")) is not None:
            self._descriptions[is_itself] = join_texts(self._descriptions.get(is_itself), description) or description
        required = set(required_names(raw))
        if "properties" in raw:
            for parameter in self._schemas.properties(raw, pointer, self._location):
                self._add(parameter, common)
                if parameter.required:
                    required.add(parameter.name)
        if (target := self._schemas.resolve(raw.get("$ref"), pointer)) is not None:
            self._references += [raw["$ref"]] if common is None else []
            required |= self._collect(target[1], target[0], seen, common, is_itself, depth + 1)
        if common is None and not is_itself and raw.get("additionalProperties") is False and "allOf" not in raw:
            self._closed[pointer] = frozenset(as_dict(raw.get("properties")))
        parts = members(raw, "allOf")
        is_single = is_itself and len(parts) == 1 and "properties" not in raw  # such as a reference with a description
        for index, member in parts:
            required |= self._collect(member, child(pointer, "allOf", index), seen, common, is_single, depth + 1)
        names = frozenset(self._parameters) if common is None else common
        for keyword in ("oneOf", "anyOf"):
            required_sets = [
                self._collect(member, child(pointer, keyword, index), set(seen), names, depth=depth + 1)
                for index, member in members(raw, keyword)
            ]
            if required_sets:
                required |= frozenset.intersection(*required_sets)
        return frozenset(required)

    def _add(self, parameter: Parameter, common: frozenset[str] | None) -> None:
        """Adds a property; the object schema says where an alternative narrows a common one."""
        known = self._parameters.setdefault(parameter.name, parameter)
        if known is parameter:
            return
        if common is None:
            schema = merge_checked(known.schema, parameter.schema, parameter.pointer, self._schemas.report)
            description = join_texts(known.description, parameter.description)
        else:
            schema = known.schema if parameter.name in common else union(known.schema, parameter.schema)
            description = known.description if known.description is not None else parameter.description
        if schema is not known.schema or description is not known.description:
            self._parameters[parameter.name] = replace(known, schema=schema, description=description)

    def _add_object_keywords(self, raw: dict[str, Json], pointer: str, is_itself: bool) -> None:
        """Adds the keywords that constrain the object beyond its properties.

        A long list of alternatives of a named type is replaced by a link to the type.
        """
        keywords = {key: raw[key] for key in raw if key in OBJECT_KEYWORDS}
        if _allows_other_types(raw):
            keywords = {key: raw[key] for key in raw if key not in _FLATTENED_KEYWORDS}
        if keywords.get("additionalProperties") is True or keywords.get("additionalProperties") == {}:
            del keywords["additionalProperties"]
        count = len(members(raw, "oneOf")) + len(members(raw, "anyOf"))
        if "discriminator" in keywords and not count:
            # The discriminator of a base type concerns the types that extend it; the base type itself documents it.
            del keywords["discriminator"]
            if is_itself:
                self._link(pointer)
            elif (selected := self._schemas.selected_by(raw, pointer, self._references)) is not None:
                if selected[0] in self._parameters or selected[0] in as_dict(raw.get("properties")):
                    self._selected[selected[0]] = selected[1]
        elif count > ALTERNATIVES_LIMIT and self._link(pointer):
            return
        self._object_schema = merge(self._object_schema, self._schemas.schema(keywords, pointer))

    def _link(self, pointer: str) -> bool:
        """Adds a reference to the named type at a pointer; returns false if it is not the pointer of one."""
        link = self._schemas.type_at(pointer)
        if link is None:
            return False
        self._object_schema = merge(self._object_schema, link)
        return True


_FLATTENED_KEYWORDS = frozenset(
    {"$ref", "properties", "required", "allOf", "title", "description", "example", "examples", "default"}
)
"""Keywords that are flattened, or that do not constrain the object."""


def _allows_other_types(raw: dict[str, Json]) -> bool:
    """True if the schema allows null or other types, not only objects."""
    types = raw.get("type")
    return raw.get("nullable") is True or (isinstance(types, list) and "object" in types and len(types) > 1)
