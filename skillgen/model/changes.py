"""The changes between two readings of services, for those who call them.

One walk compares every field that the classes of the model have. `RULES` says what a change of a field means: fewer
values are allowed than before, or more. Fewer values break a caller that sends them, more a caller that reads them. A
change that cannot be decided, such as another pattern, breaks both. A named type is compared once for all its users.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import fields, replace

from skillgen.model.calls import ErrorCase, Input, Output
from skillgen.model.inventory import (
    BOTH,
    FEWER,
    MARKS,
    MORE,
    OTHER_RULES,
    RULES,
    STEPS,
    UNCERTAIN,
    Effect,
    Judge,
    allowed,
    bare,
    both,
    judged_types,
    rules_of,
    shown,
    text_rule,
    type_text,
)
from skillgen.model.resource import Event
from skillgen.model.schema import Condition, Schema
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.values import Value

CHANGED_OTHERWISE = "changed otherwise, maybe breaking: see the diff"
"""What is said of what only a digest shows."""

_LISTED_LIMIT = 3
"""Tools that use a type, and changed texts, that one line names."""

_SHOWN_LENGTH = 80


class ToolChange(Struct, frozen=True, kw_only=True):
    """One change of a tool, a named type or a service."""

    tool: str
    """The tool; the named type for the kind `type`, the service for `service`."""

    kind: str
    """`added`, `removed`, `parameter`, `effect`, `result`, `request`, `type`, `service`, `words` for texts and
    examples, which are not judged, or `other` for what only a digest shows."""

    text: str
    """The change as a phrase."""

    breaking: bool
    """Whether a valid caller may become invalid."""


class _At(NamedTuple):
    """Where the walk is, and what a change there is called."""

    user: Any
    """What has the change: a tool, a pair of types with the way of their values, or `None` for the service."""

    kind: str
    is_returned: bool = False
    is_uncertain: bool = False
    """Whether fewer values in this place can be more values elsewhere (`not`, `if`, alternatives that overlap)."""

    expanded: frozenset[str] = frozenset()
    """The types that were resolved on the way, which may refer to themselves."""

    whole: str = ""
    """What is called if there is no path, such as `result`."""

    noun: str = ""
    """What precedes a path, such as `parameter `."""

    path: str = ""

    @property
    def place(self) -> str:
        return self.noun + self.path if self.path else self.whole

    def inside(self, step: str) -> _At:
        return self._replace(path=f"{self.path}{'' if not self.path or step[:1] in '[{(' else '.'}{step}")

    def label(self, field: str) -> str:
        words = field.replace("_", " ")
        return f"{self.place}: {words}" if self.place else words


def compare_services(old: Sequence[Service], new: Sequence[Service]) -> tuple[ToolChange, ...]:
    """Returns the changes for callers: breaking ones first, those of texts last.

    The name of a type does not matter to callers: a type with another name and the same content is the same.
    """
    changes: list[ToolChange] = []
    for name, one, other in _pairs(_by_key(old), _by_key(new)):
        if one is None or other is None:
            word = "removed" if other is None else "added"
            changes.append(ToolChange(tool=name, kind="service", text=f"service {word}", breaking=other is None))
        else:
            changes += _Walk(one, other).changes()
    return tuple(sorted(changes, key=lambda change: (not change.breaking, change.kind == "words")))


class _Walk:
    """Compares two services."""

    def __init__(self, old: Service, new: Service) -> None:
        self._services = (old, new)
        self._types = [{item.name: item.schema for item in service.schemas} for service in (old, new)]
        self._found: dict[Any, dict[tuple[str, str], bool]] = defaultdict(dict)
        self._users: dict[Any, dict[Any, None]] = {}
        self._waiting: list[tuple[str, str, bool, bool]] = []

    def changes(self) -> Iterator[ToolChange]:
        """Yields the changes: of the service, of tools in their order, of types by name."""
        self._compare_services(*self._services)
        while self._waiting:
            old, new, is_returned, is_uncertain = pair = self._waiting.pop()
            types = self._types[0].get(old, Schema()), self._types[1].get(new, Schema())
            self._schema(*types, _At(pair, "type", is_returned, is_uncertain, whole="it", noun="property "))
        names = {user[:2]: None for user in self._found if isinstance(user, tuple)}
        for user in [user for user in self._found if not isinstance(user, tuple)]:
            yield from self._of(self._services[1].name if user is None else user, [user])
        for old, new in sorted(names, key=lambda pair: pair[::-1]):
            ways = {"sent": False, "returned": True}
            pairs = {way: [(old, new, ways[way], uncertain) for uncertain in (False, True)] for way in ways}
            users = "".join(f"; {way} by {_listed(tools)}" for way in ways if (tools := self._tools_with(pairs[way])))
            yield from self._of(new, [*pairs["sent"], *pairs["returned"]], users)

    def _of(self, name: str, users: Sequence[Any], end: str = "") -> Iterator[ToolChange]:
        found: dict[tuple[str, str], bool] = {}
        for user in users:
            for key, breaks in self._found.get(user, {}).items():
                found[key] = found.get(key, False) or breaks
        words = [text for kind, text in found if kind == "words"]
        for (kind, text), breaks in found.items():
            if kind != "words":
                yield ToolChange(tool=name, kind=kind, text=text + end, breaking=breaks)
        if words:
            yield ToolChange(tool=name, kind="words", text=f"{_listed(words)} changed{end}", breaking=False)

    def _tools_with(self, pairs: Sequence[Any]) -> list[str]:
        seen = dict.fromkeys(pairs)
        for user in (waiting := [*pairs]):
            new = [item for item in self._users.get(user, ()) if item not in seen]
            seen.update(dict.fromkeys(new))
            waiting += new
        return sorted(user or self._services[1].name for user in seen if not isinstance(user, tuple))

    def _add(self, at: _At, text: str, effect: Effect | bool) -> None:
        breaks = effect if isinstance(effect, bool) else effect[at.is_returned] or (at.is_uncertain and any(effect))
        found = self._found[at.user]
        found[at.kind, text] = found.get((at.kind, text), False) or breaks

    def _pair(self, old: str, new: str, at: _At) -> None:
        pair = (old, new, at.is_returned, at.is_uncertain)
        if pair not in self._users:
            self._users[pair] = {}
            self._waiting.append(pair)
        self._users[pair][at.user] = None

    # -- services and tools --------------------------------------------------------------------------------------------

    def _compare_services(self, old: Service, new: Service) -> None:
        self._fields(old, new, _At(None, "service", noun="parameter "))
        before, after = ({tool.name: tool for tool in service.tools} for service in (old, new))
        for name, one, other in _pairs(before, after, True):
            if one is not None and other is not None:
                self._tool(one, other, _At(name, "effect"))
            else:
                word = "removed" if other is None else "added"
                self._add(_At(name, word), word, other is None)

    def _tool(self, old: Tool, new: Tool, at: _At) -> None:
        if (old.method, old.path) != (new.method, new.path):
            requests = (f"{tool.method} {tool.path}" if tool.method else "none" for tool in (old, new))
            self._add(at, "its request was {}, and is {}".format(*requests), True)
        self._fields(old, new, at)
        request = at._replace(kind="request")
        self._logins(old, new, request)
        if old.endpoints or new.endpoints:
            servers = [tool.endpoints or side.endpoints for tool, side in zip((old, new), self._services, strict=True)]
            self._nodes("server", servers[0], servers[1], request)
        self._bodies(old, new, at._replace(kind="parameter", whole="arguments", noun="parameter "))
        result = at._replace(kind="result", is_returned=True)
        self._forms("returned", _outputs_of(old), _outputs_of(new), result)
        self._nodes("error", old.errors, new.errors, result)

    def _logins(self, old: Tool, new: Tool, at: _At) -> None:
        sets, texts = [], []
        for tool, service, other in ((old, *self._services), (new, *self._services[::-1])):
            # Callers do not see the name of a scheme: one with a name that the other side lacks is known by its form.
            known = {auth.name for auth in other.requirements.auth}
            forms = {auth.name: f"{auth.kind} {auth.sent_as or ''}".strip() for auth in service.requirements.auth}
            ways: list[set[str]] = [set() for _ in tool.auth or [()]]
            for way, logins in zip(ways, tool.auth or (), strict=False):
                for login in logins:
                    scheme = login.scheme if login.scheme in known else forms.get(login.scheme, login.scheme)
                    way.update((scheme, *(f"{scheme} {scope}" for scope in login.scopes)))
            sets.append(ways)
            listed = sorted(" and ".join(sorted(way)) or "none" for way in ways)
            texts.append("not declared" if tool.auth is None else " or ".join(listed))
        if texts[0] != texts[1]:
            breaks = not all(any(way <= known for way in sets[1]) for known in sets[0])
            self._add(at, f"authentication was {texts[0]}, and is {texts[1]}", breaks)

    def _bodies(self, old: Tool, new: Tool, at: _At) -> None:
        others = [[item for item in tool.parameters if item.location != "body"] for tool in (old, new)]
        self._nodes("", others[0], others[1], at)
        forms: list[list[Input]] = []
        for tool in (old, new):
            first = tool.input or Input(required=tool.method is None, pointer="")  # of a tool with a method, its body
            forms.append([replace(first, parameters=tool.body_parameters()), *tool.other_inputs])
        self._forms("taken", forms[0], forms[1], at._replace(whole="body" if old.method else "arguments"))

    def _forms(self, verb: str, old: Sequence[Any], new: Sequence[Any], at: _At) -> None:
        """Compares bodies, or results, by status, then by media type; the only other one is the same, changed."""
        sides: tuple[dict[str, dict[str, Any]], ...] = ({}, {})
        for side, items in zip(sides, (old, new), strict=True):
            for item in items:
                for name in item.media_types or ("",):
                    side.setdefault(getattr(item, "status", None) or "", {}).setdefault(name, item)
        for status, one, other in _pairs(sides[0], sides[1]):
            what = at.whole or (f"result of {status}" if max(map(len, sides)) > 1 else "result")
            here = at if at.whole else at._replace(whole=what, noun=f"{what}'s ")
            forms, words = (one or {}, other or {}), ("no longer", "also")
            is_both = bool(at.whole or (one and other))
            for form, word in zip(forms, words, strict=True) if not at.whole else ():
                for item in [*form.values()][: not (status in sides[0] and status in sides[1])]:
                    label = f"status {item.status}" if item.status else "result"
                    self._add(at, f"{label} is {word} {verb}", form is one)
            for name in sorted(filter(None, forms[0].keys() ^ forms[1].keys())) if is_both else ():
                self._add(here, f"{what} in {name} is {words[name in forms[1]]} {verb}", name in forms[0])
            pairs = [pair[1:] for pair in _pairs(forms[0], forms[1]) if None not in pair[1:]]
            for pair in {tuple(map(id, pair)): pair for pair in pairs}.values():
                self._fields(*pair, here)

    # -- nodes of the model --------------------------------------------------------------------------------------------

    def _fields(self, old: Struct, new: Struct, at: _At) -> None:
        for field, rule in rules_of(type(new)):
            before, after = getattr(old, field), getattr(new, field)
            if before is after and not isinstance(after, Schema):
                continue
            if not isinstance(new, (Schema, Condition)):
                before, after = _or_empty(before, after), _or_empty(after, before)
            if isinstance(before, Schema) and isinstance(after, Schema):
                is_uncertain = at.is_uncertain or field in UNCERTAIN
                self._schema(before, after, at.inside(STEPS.get(field, ""))._replace(is_uncertain=is_uncertain))
            elif isinstance(before, Struct) and isinstance(after, Struct) and not isinstance(after, Value):
                self._fields(before, after, at)
            elif isinstance(rule, str):
                self._nodes(rule, before, after, at)
            elif field in ("constraints", "mapping", "patterns", "also", "prefix_items", "conditions"):
                self._members(field, before or {}, after or {}, rule, at)
            else:
                self._value(field, before, after, rule, at)

    def _members(self, field: str, old: Any, new: Any, rule: Judge, at: _At) -> None:
        """Compares a mapping, or a list by position, whose values can be nodes."""
        sides = [dict(enumerate(side)) if isinstance(side, tuple) else side for side in (old, new)]
        for key in dict.fromkeys((*sides[0], *sides[1])):
            one, other = (side.get(key) for side in sides)
            if isinstance(one, Schema) and isinstance(other, Schema):
                steps = {"patterns": f"{{{key}}}", "prefix_items": f"[{key}]"}
                self._schema(one, other, at.inside(steps.get(field, "")))
            elif isinstance(one, Condition) and isinstance(other, Condition):
                self._fields(one, other, at._replace(is_uncertain=True))
            elif key == OTHER_RULES and one != other:
                self._add(at, f"{at.place} {CHANGED_OTHERWISE}", False)
            elif field == "constraints":
                judge = RULES.get(key)
                self._value(key, one, other, judge if callable(judge) else both, at)
            else:
                self._value(f"{field} {key}", one, other, rule, at)

    def _value(self, field: str, old: Any, new: Any, rule: Judge, at: _At) -> None:
        # 1 and true are equal in Python, and 2 and 2.0 in JSON.
        if old == new and repr(old).replace(".0", "") == repr(new).replace(".0", ""):
            return
        before, after = (bare(value, rule is not text_rule) for value in (old, new))
        if isinstance(old, tuple) and isinstance(new, tuple) and field != "command":
            before, after = (sorted(items, key=shown) for items in (before, after))
        if shown(before) == shown(after):
            return
        if field == "help" and old and new:
            # An option that is gone is a line that is gone, but a line that is gone need not be an option.
            before, after = ([line.strip() for line in text.splitlines() if line.strip()] for text in (old, new))
            for one, other, word in ((before, after, "removed"), (after, before, "added")):
                if lines := [repr(line[:_SHOWN_LENGTH]) for line in dict.fromkeys(one) if line not in other]:
                    self._add(at, f"in its help, {_listed(lines)} {word}", word == "removed")
            return
        if rule is text_rule and field not in MARKS:
            self._add(at._replace(kind="words"), f"{at.place}'s {field}" if at.place else field, False)
        elif field == "choices" and old is not None and new is not None:
            before, after = ([*map(shown, choices)] for choices in (old, new))
            for one, other, words, effect in ((before, after, "no longer", FEWER), (after, before, "too", MORE)):
                if items := [item for item in one if item not in other]:
                    self._add(at, f"{at.place} takes {', '.join(items)} {words}", effect)
        elif field == "choices":
            text = "takes any value" if new is None else f"takes only {', '.join(map(shown, new))}"
            self._add(at, f"{at.place} {text}", rule(old, new))
        elif field == "required" and isinstance(new, bool):
            self._add(at, f"{at.place} is now {'required' if new else 'optional'}", rule(old, new))
        elif field in MARKS and bool(old) != bool(new):
            self._add(at, f"{at.place} is {'now' if new else 'no longer'} {MARKS[field]}".strip(), rule(old, new))
        elif field == "types":
            texts = ["|".join(names) or "any" for names in (old, new)]
            self._add(at, _was(at.place, *texts), rule(old, new))
        else:
            texts = [type_text(item) if isinstance(item, Schema) else bare(item, True) for item in (old, new)]
            self._add(at, _was(at.label(field), *texts), rule(old, new))

    def _nodes(self, noun: str, old: Sequence[Any], new: Sequence[Any], at: _At) -> None:
        """Compares lists of nodes by their names; a parameter is never taken for renamed."""
        is_parameter = noun in ("", "header")
        if is_parameter:
            spelled = {item.name.lower(): item.name for item in new if item.location == "header"}  # in any case
            named = ((item, spelled.get(item.name.lower(), item.name)) for item in old)
            old = [replace(item, name=name) if item.location == "header" else item for item, name in named]
        for key, one, other in _pairs(_by_key(old), _by_key(new), is_parameter):
            here = at._replace(whole=f"{noun} {key}", noun=f"{noun} {key}'s ")
            if is_parameter:
                here = at._replace(noun=f"{at.noun}{noun} " if noun else at.noun).inside(key)
            if other is None:
                self._add(here, f"{here.place} removed", noun != "error")
            elif one is None:
                is_required = is_parameter and other.required
                self._add(here, f"{here.place} added{' (required)' if is_required else ''}", Effect(is_required, False))
            else:
                here = here._replace(is_returned=at.is_returned or isinstance(other, (Event, ErrorCase)))
                if isinstance(other, ErrorCase):
                    self._forms("returned", _outputs_of(one), _outputs_of(other), here)
                self._fields(one, other, here)

    # -- schemas -------------------------------------------------------------------------------------------------------

    def _schema(self, old: Schema, new: Schema, at: _At) -> None:
        if bool(old.alternatives) != bool(new.alternatives):
            old, new = _as_alternatives(old, new), _as_alternatives(new, old)
        old, new, at = self._resolved(old, new, at)
        if old.types and new.types and judged_types(old.types, new.types) == BOTH and not {*old.types} & {*new.types}:
            self._value("types", old.types, new.types, judged_types, at)
            return  # nothing inside is comparable
        self._fields(old, new, at)
        if not old.alternatives or not new.alternatives:
            self._value("alternatives", old.alternatives, new.alternatives, allowed, at)
            return
        if not new.discriminator and (old.is_exclusive or new.is_exclusive) and not _are_distinct(old, new):
            at = at._replace(is_uncertain=True)  # a value that matches another alternative too is invalid
        for label, one, other in _pairs(_by_label(old.alternatives), _by_label(new.alternatives)):
            if one is None:
                self._add(at, f"{at.place} may also be {label}", MORE)
            elif other is None:
                self._add(at, f"{at.place} may no longer be {label}", FEWER)
            else:
                self._schema(one, other, at)

    def _resolved(self, old: Schema, new: Schema, at: _At) -> tuple[Schema, Schema, _At]:
        """Returns two schemas with what the types declare to which one refers; what both refer to waits its turn."""
        names = [{name: None for name in (schema.ref, *schema.includes) if name} for schema in (old, new)]
        if not names[0] and not names[1]:
            return old, new, at
        rest = [[name for name in names[side] if name not in names[1 - side]] for side in (0, 1)]
        for name in (name for name in names[0] if name in names[1]):
            self._pair(name, name, at)
            if bool(old.types) != bool(new.types):  # one side repeats the type
                one, other = (types[name].types if name in types else () for types in self._types)
                old, new = replace(old, types=old.types or one), replace(new, types=new.types or other)
        if len(rest[0]) == len(rest[1]) == 1:
            self._pair(rest[0][0], rest[1][0], at)
        elif at.expanded.isdisjoint(found := {*rest[0], *rest[1]}):
            old, new = _merged(old, rest[0], self._types[0]), _merged(new, rest[1], self._types[1])
            at = at._replace(expanded=at.expanded | found)
        else:  # a type that refers to itself, where the other side nests
            self._add(at, _was(at.place, type_text(old), type_text(new)), BOTH)
        return old, new, at


def _outputs_of(node: Tool | ErrorCase) -> list[Output]:
    return [*filter(None, (node.output, *node.other_outputs))]


def _are_distinct(*schemas: Schema) -> bool:
    """True if the alternatives of each schema have no JSON type in common."""
    for schema in schemas:
        types = [name for item in schema.alternatives for name in (*item.types, *(["null"] if item.nullable else []))]
        kinds = ["number" if name == "integer" else name for name in types]
        if len(kinds) != len({*kinds}) or not all(item.types for item in schema.alternatives):
            return False
    return True


def _merged(schema: Schema, names: Iterable[str], types: Mapping[str, Schema], *seen: str) -> Schema:
    """Returns a schema that has what named types declare as well."""
    for name in names:
        if name not in seen and name in types:
            other = _merged(types[name], (types[name].ref or "", *types[name].includes), types, *seen, name)
            values: dict[str, Any] = {}
            for field in Schema.__struct_fields__:
                own, more = getattr(schema, field), getattr(other, field)
                if field == "properties" and own and more:
                    own = tuple({item.name: item for item in (*more, *own)}.values())
                elif isinstance(own, Mapping) and more:
                    own = {**more, **own}
                elif isinstance(own, tuple) and field in ("required", "also", "conditions"):
                    own = own + more
                values[field] = more if own is None or own == () or own is False else own
            schema = Schema(**values)
    return schema


def _as_alternatives(schema: Schema, other: Schema) -> Schema:
    """Returns a schema as the only alternative if another schema has nothing but alternatives."""
    plain = replace(other, alternatives=(), is_exclusive=False, discriminator=None, nullable=False)
    if schema.alternatives or bare(plain, True):
        return schema
    only = (replace(schema, nullable=False),)
    return Schema(alternatives=only, nullable=schema.nullable, is_exclusive=other.is_exclusive)


def _by_label(schemas: Iterable[Schema]) -> dict[str, Schema]:
    """Returns alternatives by their type, their title, or their choices."""
    labelled: dict[str, Schema] = {}
    for schema in schemas:
        label = schema.ref or schema.title or " ".join([type_text(schema), *map(shown, schema.choices or ())])
        labelled[label if label not in labelled else f"{label} ({len(labelled) + 1})"] = schema
    return labelled


def _by_key(nodes: Iterable[Any]) -> dict[str, Any]:
    keyed: dict[str, Any] = {}
    for node in nodes:
        key = next(filter(None, (getattr(node, name, None) for name in ("name", "uri", "url", "code", "kind"))), "")
        if key in keyed:
            key = f"{getattr(node, 'location', len(keyed))} {key}"
        keyed[key] = node
    return keyed


def _pairs(old: Mapping[Any, Any], new: Mapping[Any, Any], by_name: bool = False) -> Iterator[tuple[Any, Any, Any]]:
    """Yields what is in one mapping or in both; the only other item of each is taken for the same, renamed."""
    lost, gained = ([key for key in one if key not in other] for one, other in ((old, new), (new, old)))
    if len(lost) == len(gained) == 1 and not by_name:
        yield gained[0], old[lost[0]], new[gained[0]]
        lost, gained = [], []
    yield from ((key, old[key], None) for key in lost)
    yield from ((key, old.get(key), new[key]) for key in new if key in old or key in gained)


def _or_empty(value: Any, other: Any) -> Any:
    """Returns a node without any fact for one that is not declared, if the other is."""
    if value is None and isinstance(other, Struct) and not any(item.required for item in fields(other)):
        return type(other)()
    return value


def _was(label: str, old: Any, new: Any) -> str:
    texts = [f"{text[:_SHOWN_LENGTH]}…" if len(text) > _SHOWN_LENGTH else text for text in map(shown, (old, new))]
    if old is None or old == [] or old == {}:
        return f"{label} {texts[1]} added"
    if new is None or new == [] or new == {}:
        return f"{label} {texts[0]} removed"
    return f"{label} was {texts[0]}, and is {texts[1]}" if texts[0] != texts[1] else f"{label} changed"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _LISTED_LIMIT} more" if len(names) > _LISTED_LIMIT else ""
    return ", ".join(names[:_LISTED_LIMIT]) + more
