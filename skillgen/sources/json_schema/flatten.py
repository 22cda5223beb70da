"""The parameters that an object schema comes to, gathered through `$ref`, `allOf` and alternatives."""

from __future__ import annotations

from dataclasses import dataclass, replace

from skillgen.model.schema import Location, Parameter, Schema
from skillgen.model.values import Json, child
from skillgen.sources.json_access import text_of
from skillgen.sources.json_schema.keywords import ABOUT_THE_WHOLE, members, required_names
from skillgen.sources.json_schema.loader import SchemaDocument
from skillgen.sources.json_schema.merge import ANYTHING, either, merged
from skillgen.text.summary import join_texts

COLLECT_LIMIT = 5_000
"""Schemas from which the parameters of one tool are gathered at the most."""

DEPTH_LIMIT = 200
"""How many of them may stand one within the other."""

ALTERNATIVES_LIMIT = 12
"""Alternatives of a named type that are told with each tool that takes it; more stand at the type alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlatObject:
    """What an object schema comes to."""

    parameters: tuple[Parameter, ...]
    """Every property that it may have."""

    schema: Schema | None
    """What the object is and must be beyond its properties: its description, alternatives, conditions, bounds; `None`
    where nothing is said."""


EMPTY_OBJECT = FlatObject(parameters=(), schema=None)
"""What is no object comes to."""


def flatten(schemas: SchemaDocument, raw: Json, pointer: str, location: Location = "argument") -> FlatObject:
    """Reads the properties of an object schema as parameters, through `$ref`, `allOf` and alternatives.

    Each parameter gets `location`; `pointer` is the schema's place in the source.
    """
    return _Flattener(schemas, location).collected(raw, pointer)


class _Flattener:
    """Gathers the parameters of one schema."""

    def __init__(self, schemas: SchemaDocument, location: Location) -> None:
        self._schemas = schemas
        self._location = location
        self._found: dict[str, Parameter] = {}
        self._whole = ANYTHING
        self._said: dict[bool, str] = {}
        """The descriptions of the object itself, and of what it includes: it is that, too."""
        self._count = self._depth = 0

    def collected(self, raw: Json, pointer: str) -> FlatObject:
        """Gathers the properties; one of an alternative is required where every alternative requires it."""
        required = self._collect(raw, pointer, set())
        if self._count > COLLECT_LIMIT:
            self._schemas.report(pointer, f"made of more than {COLLECT_LIMIT} schemas; the rest is left out")
        elsewhere = tuple(sorted(required - self._found.keys()))
        whole = replace(self._whole, required=elsewhere) if elsewhere else self._whole
        if (description := join_texts(self._said.get(True), self._said.get(False))) is not None:
            whole = replace(whole, description=description)
        return FlatObject(
            parameters=tuple(
                item if item.required == (name in required) else replace(item, required=name in required)
                for name, item in self._found.items()
            ),
            schema=whole if whole != ANYTHING else None,
        )

    def _collect(
        self,
        raw: Json,
        pointer: str,
        seen: set[int],
        settled: frozenset[str] | None = None,
        is_itself: bool = True,
    ) -> frozenset[str]:
        """Gathers properties; gives the names that are required.

        `settled` is given for an alternative: the names that the object has whichever is taken; of any other, each
        alternative may have it its own way. `is_itself` is false for what the object only includes.
        """
        if not isinstance(raw, dict) or id(raw) in seen or self._count > COLLECT_LIMIT:
            return frozenset()
        if self._depth > DEPTH_LIMIT:
            self._schemas.report(pointer, f"made of more than {DEPTH_LIMIT} schemas in a row; the rest is left out")
            self._count = COLLECT_LIMIT
            return frozenset()
        self._depth += 1
        required = self._collect_from(raw, pointer, seen, settled, is_itself)
        self._depth -= 1
        return required

    def _collect_from(
        self, raw: dict[str, Json], pointer: str, seen: set[int], settled: frozenset[str] | None, is_itself: bool
    ) -> frozenset[str]:
        seen.add(id(raw))  # alternatives may share a part, so each has a set of its own, and the whole is bounded
        self._count += 1
        if "$ref" in raw and not self._schemas.ref_siblings:
            raw = {"$ref": raw["$ref"]}
        if settled is None and (not ABOUT_THE_WHOLE.isdisjoint(raw) or _is_not_only_object(raw)):
            self._add_to_whole(raw, pointer, is_itself)
        if settled is None and (words := text_of(raw, "description")) is not None:
            self._said[is_itself] = join_texts(self._said.get(is_itself), words) or words
        required = set(required_names(raw))
        if "properties" in raw:
            for parameter in self._schemas.properties(raw, pointer, self._location):
                self._add(parameter, settled)
                if parameter.required:
                    required.add(parameter.name)
        if (target := self._schemas.resolve(raw.get("$ref"), pointer)) is not None:
            required |= self._collect(target[1], target[0], seen, settled, is_itself)
        for index, member in members(raw, "allOf"):
            required |= self._collect(member, child(pointer, "allOf", index), seen, settled, False)
        own = frozenset(self._found) if settled is None else settled
        for keyword in ("oneOf", "anyOf"):
            sets = [
                self._collect(member, child(pointer, keyword, index), set(seen), own)
                for index, member in members(raw, keyword)
            ]
            if sets:
                required |= frozenset.intersection(*sets)
        return frozenset(required)

    def _add(self, parameter: Parameter, settled: frozenset[str] | None) -> None:
        """Adds a property; what an alternative makes narrower of one that all have, the whole tells."""
        held = self._found.setdefault(parameter.name, parameter)
        if held is parameter:
            return
        if settled is None:
            schema = merged(held.schema, parameter.schema)
            description = join_texts(held.description, parameter.description)
        else:
            schema = held.schema if parameter.name in settled else either(held.schema, parameter.schema)
            description = held.description if held.description is not None else parameter.description
        if schema is not held.schema or description is not held.description:
            self._found[parameter.name] = replace(held, schema=schema, description=description)

    def _add_to_whole(self, raw: dict[str, Json], pointer: str, is_itself: bool) -> None:
        """Reads the keywords that say something of the object as a whole.

        A long list of types stands at the named type, where there is one: an operation links it.
        """
        about = {key: raw[key] for key in raw if key in ABOUT_THE_WHOLE}
        if _is_not_only_object(raw):
            about = {key: raw[key] for key in raw if key not in _GATHERED}
        if about.get("additionalProperties") is True or about.get("additionalProperties") == {}:
            del about["additionalProperties"]
        count = len(members(raw, "oneOf")) + len(members(raw, "anyOf"))
        if "discriminator" in about and not count:
            del about["discriminator"]  # of a base: it concerns what extends it, and stands there
            if is_itself:
                self._link(pointer)
        elif count > ALTERNATIVES_LIMIT and self._link(pointer):
            return
        self._whole = merged(self._whole, self._schemas.schema(about, pointer))

    def _link(self, pointer: str) -> bool:
        """Says that the whole is the named type at a pointer, if one stands there."""
        link = self._schemas.named_at(pointer)
        if link is None:
            return False
        self._whole = merged(self._whole, link)
        return True


_GATHERED = frozenset(
    {"$ref", "properties", "required", "allOf", "title", "description", "example", "examples", "default"}
)
"""Keywords that are read apart from what the whole is."""


def _is_not_only_object(raw: dict[str, Json]) -> bool:
    """True if the schema allows null, or other types besides objects."""
    types = raw.get("type")
    return raw.get("nullable") is True or (isinstance(types, list) and "object" in types and len(types) > 1)
