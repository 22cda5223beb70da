"""Checks values against schemas in the form of `schema_json`, in a bounded number of steps.

The one validator: of examples, mock, lint and `call`, and a part of `call.py`, so it needs only the standard library.
"""

from __future__ import annotations

import difflib
import json
import re
from operator import ge, gt, le, lt
from typing import Any

from skillgen.model.serialization import MATCHED_LENGTH

STEPS_LIMIT = 50_000
UNSURE = {"$comment", "contains", "patternProperties", "propertyNames"}
TYPES = {str: "string", dict: "object", list: "array", bool: "boolean", int: "integer", float: "number"}
SIZES = {str: "Length", list: "Items", dict: "Properties"}
BOUNDS: Any = {kind: {f"min{noun}": lt, f"max{noun}": gt} for kind, noun in SIZES.items()}
BOUNDS[int] = BOUNDS[float] = {"minimum": lt, "exclusiveMinimum": le, "maximum": gt, "exclusiveMaximum": ge}


class Check:
    """Checks values against schemas; what is not JSON, such as the content of a file, is right."""

    def __init__(self, types: Any) -> None:
        self.types, self.steps, self.unsure, self.unchecked, self.unexpected = types, 0, False, UNSURE, unknown

    def faults(self, schema: Any, value: Any, at: Any = "", within: Any = ()) -> Any:
        """Yields the faults of a value, each with its JSON pointer."""
        if not isinstance(schema, dict):
            yield from () if schema else [(at, "is not allowed here")]
            return
        self.steps += 1 + len(schema.get("enum", ())) // 64
        if self.steps > STEPS_LIMIT:
            raise RecursionError
        if value is not None and type(value) not in TYPES:
            return
        self.unsure |= not self.unchecked.isdisjoint(schema)
        if "discriminator" in schema and isinstance(value, dict):
            schema = selected(schema, value)
        kinds, choices = schema.get("type", ()), schema.get("enum")
        kinds = [kinds] if isinstance(kinds, str) else kinds
        if kinds and not is_type(value, kinds):
            yield at, f"{shown(value)} is not of type {' or '.join(kinds)}"
            return
        if choices and not any(value == item and isinstance(value, bool) == isinstance(item, bool) for item in choices):
            yield at, f"{shown(value)} is not one of {', '.join(map(shown, choices[:20]))}"
        yield from ((at, text) for text in self.value_faults(schema, value))
        name = name_of(schema)
        if name not in (None, *within):
            yield from self.faults(self.types.get(name, {}), value, at, (*within, name))
        for part in schema.get("allOf", ()):
            yield from self.faults(part, value, at, within)
        if not {"anyOf", "oneOf", "not", "if"}.isdisjoint(schema):
            yield from self.choice(schema, value, at, within)
        if isinstance(value, dict):
            yield from self.members(schema, value, at)
        elif isinstance(value, list):
            first, rest = schema.get("prefixItems", ()), schema.get("items", {})
            for index, item in enumerate(value):
                yield from self.faults(first[index] if index < len(first) else rest, item, f"{at}/{index}")

    def choice(self, schema: Any, value: Any, at: Any, within: Any) -> Any:
        """Returns the faults by alternatives, exclusions and conditions; none that follow from what is not checked."""
        before, self.unsure = self.unsure, False
        options = schema.get("anyOf", schema.get("oneOf", ()))
        results = [self.faults(option, value, at, within) for option in options]
        first = [next(result, None) for result in results]
        found: Any = []
        if first and None not in first:
            every = ([fault, *others] for fault, others in zip(first, results, strict=True))
            near = [item for item in every if not any(place == at and "of type" in text for place, text in item)]
            found = near[0] if len(near) == 1 else [(at, f"{shown(value)} matches none of its alternatives")]
        elif (matching := first.count(None)) > 1 and "oneOf" in schema:
            found = [(at, f"{shown(value)} matches {matching} alternatives, but only one may match")]
        if "not" in schema and not any(self.faults(schema["not"], value, at, within)):
            found.append((at, f"{shown(value)} is excluded"))
        if "if" in schema:
            branch = "else" if any(self.faults(schema["if"], value, at, within)) else "then"
            found += self.faults(schema.get(branch, {}), value, at, within)
        found, self.unsure = [] if self.unsure else found, self.unsure or before
        return found

    def members(self, schema: Any, value: Any, at: Any) -> Any:
        """Yields the faults of the members of an object; of an open one, misspelt names of what it lacks."""
        missing = [name for name in schema.get("required", ()) if name not in value]
        yield from ((pointer(at, name), "is required") for name in missing)
        properties, additional = schema.get("properties", {}), schema.get("additionalProperties")
        is_closed = False in (additional, schema.get("unevaluatedProperties")) and "patternProperties" not in schema
        known = set(self.names(schema, set())) if is_closed or missing else set()
        for name, member in value.items():
            if name in properties:
                yield from self.faults(properties[name], member, pointer(at, name))
            elif isinstance(additional, dict) and "patternProperties" not in schema:
                yield from self.faults(additional, member, pointer(at, name))
            elif name not in known and (is_closed or (missing and difflib.get_close_matches(name, missing))):
                yield pointer(at, name), self.unexpected(name, known)

    def names(self, schema: Any, seen: Any) -> Any:
        """Yields the names of the properties that a schema declares, also by way of types that were not `seen`."""
        yield from schema.get("properties", ())
        if (base := name_of(schema)) not in (None, *seen):
            seen.add(base)
            yield from self.names(self.types.get(base, {}) or {}, seen)
        parts = [part for key in ("allOf", "anyOf", "oneOf") for part in schema.get(key, ())]
        for part in (*parts, schema.get("then"), schema.get("else")):
            yield from self.names(part, seen) if isinstance(part, dict) else ()

    def value_faults(self, limits: Any, value: Any) -> Any:
        """Yields the reasons for which a value is out of bounds."""
        kind, size = type(value), len(value) if type(value) in SIZES else value
        for name, is_beyond in BOUNDS.get(kind, {}).items():
            if name in limits and is_beyond(size, limits[name]):
                yield f"{shown(value)} violates {name}: {limits[name]}"
        step = limits.get("multipleOf")
        if step and kind in (int, float) and abs(value) < 2**53 and abs(value / step - round(value / step)) > 1e-9:
            yield f"{shown(value)} is not a multiple of {step}"
        if kind is list and limits.get("uniqueItems") and len({json.dumps(x, sort_keys=True) for x in value}) < size:
            yield "has the same item twice"
        if kind is str and "pattern" in limits and self.matches(limits["pattern"], value) is False:
            yield f"{shown(value)} does not match {limits['pattern']}"

    def matches(self, pattern: str, text: str) -> Any:
        """True if a string matches a pattern; `None` if that is not known."""
        return re.search(pattern, text, re.ASCII) is not None if len(text) <= MATCHED_LENGTH else None


def name_of(schema: Any) -> Any:
    """Returns the name of the type to which a schema refers; `None` if it refers to none."""
    return schema["$ref"].rpartition("/")[2].replace("~1", "/").replace("~0", "~") if "$ref" in schema else None


def selected(schema: Any, value: Any) -> Any:
    """Returns a schema with the alternative that the discriminator names; that need not declare the property."""
    name = schema["discriminator"]["propertyName"]
    target = schema["discriminator"]["mapping"].get(value[name]) if isinstance(value.get(name), str) else None
    options = schema.get("anyOf", [{"$ref": target}])
    chosen = [item for item in options if isinstance(item, dict) and item.get("$ref") == target is not None]
    return {**schema, "anyOf": [{**chosen[0], "properties": {name: True}}]} if chosen else schema


def is_type(value: Any, kinds: Any) -> Any:
    """True if a value has one of these JSON types."""
    own = TYPES.get(type(value), "null")
    is_whole = own == "integer" or (own == "number" and value.is_integer())
    return own in kinds or (is_whole and not {"integer", "number"}.isdisjoint(kinds))


def shown(value: Any) -> Any:
    """Returns a value for a message."""
    text = json.dumps(value, ensure_ascii=False, default=lambda item: "FILE")
    return text if len(text) <= 60 else text[:59] + "…"


def pointer(at: Any, name: Any) -> Any:
    """Returns the JSON pointer of a member."""
    return f"{at}/{str(name).replace('~', '~0').replace('/', '~1')}"


def unknown(name: Any, names: Any, noun: Any = "parameter") -> Any:
    """Returns the message for a name that no parameter or tool has, with the nearest ones."""
    names = sorted(names) if isinstance(names, set) else list(names)
    if close := difflib.get_close_matches(name, names, n=3, cutoff=0.5):
        return f"is not a {noun}; did you mean {' or '.join(close)}?"
    known = f"the {noun}s are {', '.join(names[:12])}" if names else f"there are no {noun}s"
    return f"is not a {noun}; {known}" + (f" and {len(names) - 12:,} more" if len(names) > 12 else "")
