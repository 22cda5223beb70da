"""When to use a service and when not, as a line and the list that goes on with it.

What was inferred names what the tools are for: `Items: Get an item; Delete an item` for those of a group, `Items:
files, notes, links` for an area of a large service. Its first parts may stand alone where there is little room.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from skillgen.markdown.sentences import clipped
from skillgen.model.service import Service
from skillgen.model.value import is_inferred

_CONNECTED = re.compile(r"(?:when|whenever|if|to|for)\s", re.IGNORECASE)
_PERSON = re.compile(r"(?:(?:the|a|an)\s+)?(?:users?|you|someone|people|agents?|caller)\b", re.IGNORECASE)
_DOING = re.compile(r"\w{2,}ing\b")


USES = 16
BRIEF_USES = 5
"""Uses that are listed."""

CHARACTERS = 200
BRIEF_CHARACTERS = 100
"""Characters of one."""

ALL_NAMED = 12
"""Tools up to which each has a phrase of its own, unless another does the same."""

LABEL_LIMIT = 90
ENUMERATED = 3
ENUMERATED_LIMIT = 40


@dataclass(frozen=True, slots=True)
class Parts:
    """What a phrase consists of."""

    label: str
    """What stands before the parts, with a colon; empty where nothing does."""

    items: tuple[str, ...]
    joint: str
    """What stands between them."""

    def first(self, count: int) -> str:
        """Gives the phrase with so many of its parts."""
        words = self.joint.join(self.items[:count])
        return f"{self.label}: {words}" if self.label else words


@dataclass(frozen=True, slots=True)
class Uses:
    """Uses, worded to follow the words before them."""

    lead: str
    """What stands before the list: "when the user asks to"."""

    phrases: tuple[str, ...]
    """The uses."""


def shown_uses(service: Service, brief: bool) -> Uses:
    """Gives what the tools are for, as far as there is room, with words that say whether it is all."""
    limit = BRIEF_CHARACTERS if brief else CHARACTERS
    shown = [whole_parts(phrase, limit) for phrase in service.when_to_use[: BRIEF_USES if brief else USES]]
    tools = service.tools
    said = sum(len(parts_of(phrase).items) for phrase in shown)
    after_verb = sum(phrase.count(", ") + 1 for phrase in shown)  # `Draw pie charts, bar charts`
    is_all = len(tools) in (said, after_verb) or (len(tools) <= ALL_NAMED and tuple(shown) == service.when_to_use)
    lead = "Its tool is for" if len(tools) == 1 else "Its tools are for"
    return Uses(lead if is_all and not shown[-1].endswith("…") else f"{lead}, among others", tuple(shown))


def wanted_uses(service: Service) -> Uses:
    """Gives when to use the service."""
    if is_inferred(service, "when_to_use"):
        return Uses("", service.when_to_use)
    return _worded(service.when_to_use, "when the user asks to", "to")


def unwanted_uses(service: Service) -> Uses:
    """Gives when not to use it."""
    return _worded(service.when_not_to_use, "for", "for")


def _worded(phrases: Sequence[str], lead: str, connective: str) -> Uses:
    """Gives phrases with the words that they all can follow: some are sentences that begin with such words."""
    if any(_CONNECTED.match(phrase) for phrase in phrases):
        found = (phrase if _CONNECTED.match(phrase) else f"{connective} {lowered(phrase)}" for phrase in phrases)
        return Uses("", tuple(map(lowered, found)))
    if any(_PERSON.match(phrase) for phrase in phrases):
        return Uses("when", tuple(phrases))
    if any(_DOING.match(phrase) for phrase in phrases):
        return Uses("for", tuple(phrases))
    return Uses(lead, tuple(phrases))


def parts_of(phrase: str) -> Parts:
    """Gives the parts of a phrase: tasks with semicolons between, or an enumeration of short words with commas."""
    label, colon, words = phrase.partition(": ")
    if not colon or "; " in label or len(label) > LABEL_LIMIT:
        label, words = "", phrase
    if "; " in words:
        return Parts(label, tuple(words.split("; ")), "; ")
    items = words.split(", ")
    is_enumeration = len(items) >= ENUMERATED and not any(
        len(item) > ENUMERATED_LIMIT or item.startswith(("and ", "or ")) for item in items
    )
    return Parts(label, tuple(items), ", ") if is_enumeration else Parts(label, (words,), "; ")


def whole_parts(phrase: str, limit: int) -> str:
    """Gives as many of the parts of a phrase as have room, whole; cuts the first where it has none."""
    parts = parts_of(phrase)
    for count in range(len(parts.items), 0, -1):
        if len(found := parts.first(count)) <= limit:
            return found
    return clipped(parts.first(1), limit)


def lowered(phrase: str) -> str:
    """Puts the first word in lower case, unless it is an abbreviation or a name with capitals inside."""
    first = phrase.split(" ", 1)[0]
    return phrase if first[1:].lower() != first[1:] else phrase[:1].lower() + phrase[1:]
