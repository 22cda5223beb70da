"""Typed fields with their place; which place wins.

Reads the members of untrusted JSON objects as claims: a value, and the place that claims it.

Two places may claim different things of one field; `precedence` says which of them counts.

Decides between claims: the one place that knows who counts more.

Walks over the pages of a list, and leaves out entries that cannot be used; the rest is still documented.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from skillgen.errors import Level, Problem, ProblemLog
from skillgen.model.tool import CAUTION
from skillgen.model.values import Json, Origin, Origins, child
from skillgen.security.addresses import without_credentials
from skillgen.sources.json_access import as_dict, as_list, is_blank
from skillgen.sources.safety import flag_from

Provider = Literal["dashdash", "ai_help", "manifest", "serverInfo", "entry", "annotations"]
"""Who claims something. `entry` is a tool, a resource or a prompt that speaks of itself."""

NULL_IS_A_VALUE: frozenset[Provider] = frozenset({"dashdash", "ai_help"})
"""Places whose specification gives null a meaning (seed 000, 3.1.2, "or null"). Elsewhere it is what some SDKs write
for a member that was never set, and the same as an absent one."""


@dataclass(frozen=True, slots=True)
class SourcedValue:
    """What one place says of one field."""

    value: Json
    """The value, of a type that was checked; a list of texts is a tuple."""

    pointer: str
    """JSON pointer to it in the source."""

    provider: Provider
    """Who says so."""

    inferred_from: str | None = None
    """The member that it was drawn from, where it does not stand there itself."""

    def origin(self) -> Origin:
        """Gives where the claim comes from, as the model holds it."""
        if self.inferred_from is not None:
            return Origin("inferred", self.inferred_from)
        return Origin("declared", self.pointer)

    def implies(self, value: Json) -> SourcedValue:
        """Gives the claim of another field that follows from this one."""
        return replace(self, value=value, inferred_from=self.pointer.rpartition("/")[2])


class FieldReader:
    """The members of one JSON object.

    What has the wrong type is reported and left out. What nobody asked for is kept: `unread` gives it.
    """

    __slots__ = ("_items", "_keys", "_parts", "_problems", "_read", "pointer", "provider", "raw")

    def __init__(
        self,
        raw: dict[str, Json],
        pointer: str,
        provider: Provider,
        problems: ProblemLog,
        *,
        keys: Mapping[str, str] | None = None,
    ) -> None:
        """`keys` are the keys as a text spells them, for an object inside a text, which has no pointers of its own."""
        self.raw = raw
        self.pointer = pointer
        self.provider = provider
        self._problems = problems
        self._keys = keys
        self._read: set[str] = set()
        self._parts: dict[str, FieldReader] = {}
        self._items: dict[str, list[FieldReader]] = {}

    def pointer_to(self, key: object) -> str:
        """Gives the pointer to a member; for an object that stands inside a text, the pointer to that text."""
        return child(self.pointer, key) if self._keys is None else self.pointer

    def json(self, key: str) -> SourcedValue | None:
        """Gives a member of any type."""
        return self._claim(key, "a value", lambda value: True)

    def string(self, key: str) -> SourcedValue | None:
        """Gives a member that is a text; a blank one says nothing."""
        claim = self._claim(key, "a text", lambda value: isinstance(value, str))
        return None if claim is not None and claim.value is not None and is_blank(claim.value, key) else claim

    def version(self, key: str) -> SourcedValue | None:
        """Returns a member that is a string, or a number that stands for one, as an unquoted version does."""
        claim = self._claim(
            key, "a text", lambda value: isinstance(value, (str, int, float)) and not isinstance(value, bool)
        )
        if claim is None or claim.value is None or isinstance(claim.value, str):
            return self.string(key)
        return replace(claim, value=json.dumps(claim.value))

    def word(self, key: str, words: tuple[str, ...]) -> SourcedValue | None:
        """Gives a member that is one of some words."""
        return self._claim(key, f"one of {', '.join(words)}", lambda value: isinstance(value, str) and value in words)

    def boolean(self, key: str) -> SourcedValue | None:
        """Gives a member that is true or false."""
        return self._claim(key, "true or false", lambda value: isinstance(value, bool))

    def cautious_boolean(self, key: str, cautious: bool) -> SourcedValue | None:
        """Returns a member on safety that is true or false; of another type, its careful reading."""
        self._read.add(key)
        value = self.raw.get(key)
        if value is None or isinstance(value, bool):
            return self.boolean(key) if value is not None else None
        return self._misread(key, "true or false", flag_from(value, cautious))

    def cautious_choice(self, key: str, words: tuple[str, ...], unknown: str | None = None) -> SourcedValue | None:
        """Returns a member on safety that is one of some words, the least cautious first; `unknown` for other values.

        A word in the wrong case counts unless it is the least cautious one.
        """
        self._read.add(key)
        value = self.raw.get(key)
        if value is None or (isinstance(value, str) and value in words):
            return SourcedValue(value, self.pointer_to(key), self.provider) if value is not None else None
        word = value.strip().lower() if isinstance(value, str) else None
        meaning = unknown if word not in words else word if word != words[0] else None
        return self._misread(key, f"one of {', '.join(words)}", meaning)

    def number(self, key: str) -> SourcedValue | None:
        """Gives a member that is a number."""
        return self._claim(
            key, "a number", lambda value: isinstance(value, (int, float)) and not isinstance(value, bool)
        )

    def integer(self, key: str) -> SourcedValue | None:
        """Gives a member that is a whole number."""
        return self._claim(key, "a whole number", lambda value: isinstance(value, int) and not isinstance(value, bool))

    def strings(self, key: str) -> SourcedValue | None:
        """Returns a member that is a list of strings, as a tuple without other items; one string is a list of one."""
        claim = self._claim(key, "a list of texts", lambda value: isinstance(value, (list, str)))
        if claim is None or claim.value is None:
            return claim
        if isinstance(claim.value, str):
            self._report(key, "a list of texts", claim.value, outcome="read as a list of one", level="info")
            return replace(claim, value=(claim.value,)) if claim.value.strip() else None
        items = enumerate(claim.value)
        return replace(claim, value=tuple(item for index, item in items if self._is_text(item, key, index)))

    def url(self, key: str) -> SourcedValue | None:
        """Returns a member that is a web address, without user and password; the word `none` is null."""
        claim = self.link(key)
        if claim is None or claim.value is None:
            return claim
        if claim.value.lower() == "none":
            self._problems.info(
                "member-invalid",
                self.pointer_to(key),
                self._named(key, "the word `none` is read as null"),
                "write null",
            )
            return replace(claim, value=None)
        if not re.match(r"https?://[^/\s]", claim.value):
            self._problems.warning(
                "member-invalid",
                self.pointer_to(key),
                self._named(key, "expected an http:// or https:// URL; left out"),
            )
            return None
        return claim

    def link(self, key: str) -> SourcedValue | None:
        """Returns a member that is an address or a name of a place, without user and password."""
        claim = self.string(key)
        if claim is None or claim.value is None:
            return claim
        value = claim.value.strip()
        if (url := without_credentials(value)) != value:
            self._problems.warning(
                "credential-left-out",
                self.pointer_to(key),
                self._named(key, "the URL holds a user or password, which is left out"),
                "take it out of the source, and revoke it if it is real",
            )
        return replace(claim, value=url)

    def variable_names(self, key: str) -> SourcedValue | None:
        """Returns a member that is a list of names of environment variables; the values in it are left out."""
        raw = self.raw.get(key)
        claim = self._claim(key, "", lambda value: True) if isinstance(raw, str) else self.strings(key)
        if claim is None or claim.value is None:
            return claim
        names = []
        for item in claim.value.split() if isinstance(claim.value, str) else claim.value:
            name, sign, _ = item.partition("=") if "=" in item else item.partition(":")
            if sign:
                self._problems.warning(
                    "credential-left-out",
                    self.pointer_to(key),
                    f"{name.strip()[:60]} is listed with a value; only its name is documented",
                    "list names of variables, and revoke the value if it is real",
                )
            names.append(name.strip().removeprefix("export ").strip())
        return replace(claim, value=tuple(filter(None, names)))

    def objects(self, key: str) -> Iterator[FieldReader]:
        """Yields the objects of a member that is a list of them."""
        claim = self._claim(key, "a list of objects", lambda value: isinstance(value, list))
        items = self._items[key] = []
        for index, item in enumerate(claim.value or () if claim is not None else ()):
            pointer = child(self.pointer_to(key), index) if self._keys is None else self.pointer
            raw = item if isinstance(item, dict) else {}
            items.append(FieldReader(raw, pointer, self.provider, self._problems, keys=self._keys))
            if isinstance(item, dict):
                yield items[-1]
            else:
                self._report(key, "an object", item, index=index)

    def object(self, key: str, provider: Provider | None = None) -> FieldReader:
        """Gives the members of a member that is an object, none where there is no object; `place` if another speaks."""
        if key not in self._parts:
            claim = self._claim(key, "an object", lambda value: isinstance(value, dict))
            raw = claim.value if claim is not None and claim.value is not None else {}
            self._parts[key] = FieldReader(
                raw, self.pointer_to(key), provider or self.provider, self._problems, keys=self._keys
            )
        return self._parts[key]

    def ignore(self, *keys: str) -> None:
        """Counts members as read that say nothing of the service."""
        self._read.update(keys)

    def unread(self) -> dict[str, Json]:
        """Returns the members that were not read, also those of its parts and of the objects in its lists.

        A `dashdash` part is asked for itself. A list has an object for each of its items up to the last one that has
        such members.
        """
        rest = {key: value for key, value in self.raw.items() if key not in self._read}
        for key, part in self._parts.items():
            if part.provider != "dashdash" or self.provider == "dashdash":
                rest.update({key: inner} if (inner := part.unread()) else {})
        for key, items in self._items.items():
            found = [item.unread() for item in items]
            while found and not found[-1]:
                found.pop()
            rest.update({key: found} if found else {})
        return rest

    def _claim(self, key: str, expected: str, accepts: Callable[[Json], bool]) -> SourcedValue | None:
        self._read.add(key)
        value = self.raw.get(key)
        if value is None:
            declared = key in self.raw and self.provider in NULL_IS_A_VALUE
            return SourcedValue(None, self.pointer_to(key), self.provider) if declared else None
        if not accepts(value):
            self._report(key, expected, value)
            return None
        return SourcedValue(value, self.pointer_to(key), self.provider)

    def _misread(self, key: str, expected: str, meaning: Json) -> SourcedValue | None:
        """Returns what a value of the wrong form is taken for, if it claims anything; reports it."""
        if meaning is None:
            self._report(key, expected, self.raw[key])
            return None
        self._problems.warning(
            "member-invalid",
            self.pointer_to(key),
            self._named(
                key,
                f"expected {expected}, found {_shown(self.raw[key])}; read as {str(meaning).lower()}, to be careful",
            ),
        )
        return SourcedValue(meaning, self.pointer_to(key), self.provider, inferred_from=key)

    def _is_text(self, item: Json, key: str, index: int) -> bool:
        if isinstance(item, str):
            return True
        self._report(key, "a text", item, index=index)
        return False

    def _report(
        self,
        key: str,
        expected: str,
        found: Json,
        *,
        index: int | None = None,
        outcome: str = "left out",
        level: Level = "warning",
    ) -> None:
        pointer, words = self.pointer_to(key), f"expected {expected}, found {_shown(found)}; {outcome}"
        if index is not None and self._keys is None:
            pointer = child(pointer, index)
        self._problems.add(Problem(code="member-invalid", level=level, where=pointer, message=self._named(key, words)))

    def _named(self, key: str, message: str) -> str:
        """Returns a message on a member; the pointer to a text does not say which one of its keys it is about."""
        return message if self._keys is None else f"{self._keys.get(key, key)}: {message}"


def _shown(value: Json) -> str:
    if isinstance(value, str):
        return repr(value[:60])
    names = {dict: "an object", list: "a list", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


ORDER: tuple[Provider, ...] = ("dashdash", "ai_help", "manifest", "serverInfo", "entry", "annotations")
"""Who counts more stands first. `--name` and its like, and the configuration file, come before all of them; they are
applied to the finished service."""


class FieldResolver:
    """The fields of one node of the model, taken from claims; `origins` says where each comes from."""

    def __init__(self, problems: ProblemLog, node: str | None = None) -> None:
        """`node` is the pointer of a node whose own declarations need no origin; without it every field gets one."""
        self._problems = problems
        self._node = node
        self._origins: dict[str, Origin] = {}

    @property
    def origins(self) -> Origins | None:
        """Field name to origin, for the fields that need one."""
        return self._origins or None

    def value(self, field: str, *claims: SourcedValue | None) -> Json:
        """Gives the value of a field: that of the claim that counts most, `None` without any."""
        claim = self.resolve(field, *claims)
        return claim.value if claim is not None else None

    def resolve(self, field: str, *claims: SourcedValue | None) -> SourcedValue | None:
        """Gives the claim that counts most, a declared null among them, and reports every one that disagrees.

        Of equal claims a declared one is given rather than one that was inferred.
        """
        made = [claim for claim in claims if claim is not None]
        if not made:
            return None
        if len(made) == 1:
            self._note(field, made[0])
            return made[0]
        made.sort(key=lambda claim: ORDER.index(claim.provider))
        strongest = made[0]
        agreeing = [claim for claim in made if _agree(claim.value, strongest.value)]
        for other in made:
            if other not in agreeing:
                self._report(field, strongest, other)
        winner = next((claim for claim in agreeing if claim.inferred_from is None), strongest)
        self._note(field, winner)
        return winner

    def cautious(self, field: str, *claims: SourcedValue | None) -> Json:
        """Returns the most cautious value that is claimed of a field on safety, and warns of every other one."""
        made = [claim for claim in claims if claim is not None and claim.value is not None]
        if not made:
            return None
        order = CAUTION[field]
        made.sort(key=lambda claim: (-order.index(claim.value), claim.inferred_from is not None))
        winner = made[0]
        for other in made[1:]:
            if other.value != winner.value:
                self._warn(field, winner, other)
        self._note(field, winner)
        return winner.value

    def union(self, field: str, *claims: SourcedValue | None) -> tuple[str, ...]:
        """Returns the items of all lists that are claimed of a field on safety."""
        made = [claim for claim in claims if claim is not None and claim.value]
        for claim in reversed(made):
            self._note(field, claim)
        return tuple(dict.fromkeys(item for claim in made for item in claim.value))

    def record(self, field: str, origin: Origin) -> None:
        """Notes where a field comes from that was not taken from claims."""
        self._origins[field] = origin

    def _note(self, field: str, claim: SourcedValue) -> None:
        at_home = self._node is not None and claim.pointer.startswith(self._node + "/")
        if claim.inferred_from is not None or not at_home:
            self._origins[field] = claim.origin()

    def _warn(self, field: str, winner: SourcedValue, other: SourcedValue) -> None:
        shown = [str(claim.value).lower() for claim in (other, winner)]
        self._problems.warning(
            "facts-disagree",
            other.pointer,
            f"{field} is {shown[0]} by {_member(other)} but {shown[1]} at {winner.pointer}, the more cautious fact",
            "correct the fact that is wrong",
        )

    def _report(self, field: str, strongest: SourcedValue, other: SourcedValue) -> None:
        self._problems.info(
            "facts-disagree",
            other.pointer,
            f"{field}: {other.provider} disagrees with {strongest.provider} at {strongest.pointer}, which is used",
        )


def _member(claim: SourcedValue) -> str:
    return claim.inferred_from or claim.pointer.rpartition("/")[2]


def _agree(one: Json, other: Json) -> bool:
    """Tells whether two values say the same: line breaks in a text and the order of a list do not matter."""
    if isinstance(one, str) and isinstance(other, str):
        return one.split() == other.split()
    if isinstance(one, tuple) and isinstance(other, tuple):
        return sorted(one) == sorted(other)
    return bool(one == other)


def named_entries(
    results: Mapping[str, Json], method: str, list_key: str, name_key: str, problems: ProblemLog
) -> Iterator[tuple[str, FieldReader]]:
    """Gives the entries that have a name that none before them has, each with that name."""
    return named_among(raw_entries(results, method, list_key, problems), name_key, problems)


def named_among(
    entries: Iterable[tuple[str, Json]], name_key: str, problems: ProblemLog
) -> Iterator[tuple[str, FieldReader]]:
    """Does the same with entries that stand elsewhere, each with its pointer."""
    seen: dict[str, str] = {}
    for pointer, raw in entries:
        name = as_dict(raw).get(name_key)
        if not isinstance(raw, dict):
            problems.warning("entry-invalid", pointer, "the entry is not an object; left out")
        elif not isinstance(name, str) or not name.strip():
            problems.warning("name-missing", pointer, f"the entry has no {name_key} that is a text; left out")
        elif name in seen:
            problems.warning("name-duplicate", pointer, f"{name[:100]!r} stands at {seen[name]} already; left out")
        else:
            seen[name] = pointer
            fields = FieldReader(raw, pointer, "entry", problems)
            fields.ignore(name_key)
            yield name, fields


def raw_entries(
    results: Mapping[str, Json], method: str, list_key: str, problems: ProblemLog
) -> Iterator[tuple[str, Json]]:
    """Gives every entry of every page, each with its pointer."""
    for number, page in enumerate(as_list(results.get(method))):
        pointer = child("", method, number, list_key)
        entries = as_dict(page).get(list_key)
        if not isinstance(entries, list):
            problems.warning("page-invalid", pointer, f"page {number + 1} of {method} has no list `{list_key}`")
        for index, entry in enumerate(as_list(entries)):
            yield child(pointer, index), entry
