"""Name, description, triggers.

When to use a service and when not, as a line and the list that goes on with it.

What was inferred names what the tools are for: `Items: Get an item; Delete an item` for those of a group, `Items:
files, notes, links` for an area of a large service. Its first parts may stand alone where there is little room.

The name and the description under which a service's documents are found.

What a tool does, in one short line.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from skillgen.model.resource import Group, Prompt, Resource
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.values import is_inferred
from skillgen.render.pages import safe_stem, slug
from skillgen.text.markdown import CACHE_SIZE, one_line, plain_words
from skillgen.text.summary import TRIGGER, adds_to_name, clip, common_prefix, first_sentence, list_phrase, shorten

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
    return clip(parts.first(1), limit)


def lowered(phrase: str) -> str:
    """Puts the first word in lower case, unless it is an abbreviation or a name with capitals inside."""
    first = phrase.split(" ", 1)[0]
    return phrase if first[1:].lower() != first[1:] else phrase[:1].lower() + phrase[1:]


NAME_LIMIT = 64
"""Characters of the name of a skill (Agent Skills)."""

TITLE_LIMIT = 120
"""Characters of the name for people."""

DESCRIPTION_LIMIT = 1024
"""Characters of its description (Agent Skills)."""

TRIGGERS_LIMIT = 640
"""Characters that the triggers may take of a description, so that what the service does is read too."""

WORDS_READ = 20_000
"""Characters of a text in which a trigger is looked for."""

OFFERED_LIMIT = 90
"""Characters that tell of one resource or prompt of a service without tools."""

KINDS = 6
"""Groups that are named where the source says nothing else of what the service does."""

_VENDOR_WORDS = re.compile(r"(?:^|-)(?:claude|anthropic)(?=-|$)")


def skill_name(service: Service) -> str:
    """Gives the name of the skill: 1 to 64 of `a-z`, `0-9` and single hyphens (Agent Skills, `name`).

    Hosts refuse the names of their vendor in it, so those words are left out. If nothing is left of a name, a part of
    its digest tells it from others.
    """
    name = _VENDOR_WORDS.sub("", slug(service.name, NAME_LIMIT)).strip("-")
    while "claude" in name or "anthropic" in name:
        name = name.replace("claude", "").replace("anthropic", "").strip("-")
    name = re.sub("-{2,}", "-", name)
    if not name and service.name.strip():
        return f"service-{hashlib.sha256(service.name.encode('utf-8', 'surrogatepass')).hexdigest()[:6]}"
    return safe_stem(name or "service", "service")


def title(service: Service) -> str:
    """Returns the name for people, on one line."""
    return clip(one_line(service.title or service.name), TITLE_LIMIT) or skill_name(service)


def description(service: Service, limit: int = DESCRIPTION_LIMIT) -> str:
    """Says on one line what the service does and when to use it, within `limit` characters.

    Hosts refuse angle brackets, and `---` ends front matter for careless readers.
    """
    what = plain(what_it_does(service))
    sentences = _sentences(what)
    declared = next(filter(TRIGGER.search, sentences), None)
    when = declared or declared_trigger(service) or triggers(service)
    if when in what and (len(what) <= limit or what.index(when) + len(when) < limit):
        return clip(what, limit)
    when = clip(when, TRIGGERS_LIMIT) if declared else when
    what = " ".join(item for item in sentences if item != declared) or what
    what = shorten(what, max(limit - len(when) - 2, limit // 3)).rstrip(" :")
    return clip(f"{what if what.endswith(('.', '!', '?', '…')) else what + '.'} {when}", limit)


def short_description(service: Service, limit: int = 100) -> str:
    """Says what the service does in one sentence, for a server.json: at most `limit` characters, cut at a word."""
    sentences = _sentences(plain(what_it_does(service)))
    first = next((sentence for sentence in sentences if not TRIGGER.match(sentence)), sentences[0])
    return clip(first, limit)


def what_it_does(service: Service) -> str:
    """Gives what the source says of itself in short, else what it is and what its tools are about."""
    said = (text for text in (service.summary, service.description) if text and plain(text).strip())
    return next(said, None) or _kind(service)


def declared_trigger(service: Service) -> str | None:
    """Gives the sentence that says when to use the service, wherever it stands in what the source says of it."""
    texts = (service.description, service.summary)
    found = (sentence for text in texts if text for sentence in _sentences(plain(text[:WORDS_READ])))
    trigger = next(filter(TRIGGER.match, found), None)
    return clip(trigger, TRIGGERS_LIMIT) if trigger else None


def what_and_when(service: Service, limit: int = DESCRIPTION_LIMIT) -> tuple[str, str]:
    """Says what the service does and when to use it, each on its own; what is declared of its uses in a list first."""
    sentences = _sentences(plain(what_it_does(service)))
    what = " ".join(item for item in sentences if not TRIGGER.match(item)) or " ".join(sentences)
    is_listed = bool(service.when_to_use) and not is_inferred(service, "when_to_use")
    when = None if is_listed else declared_trigger(service)
    return shorten(what, limit), when or triggers(service)


def _sentences(line: str) -> list[str]:
    return re.split(r"(?<=[.!?])\s+|(?<=[。！])(?=[^\s。！？）」』”])", line)


def _kind(service: Service) -> str:
    kind = "MCP server" if service.kind == "mcp" else "HTTP API"
    what = f"{title(service)}, an {kind} with {_count(service)}"
    names = {group.name: _kind_of_group(group) for group in service.groups}
    sizes = Counter(names[tool.group] for tool in service.tools if tool.group in names)
    titles = sorted((title for title in sizes if title.lower() != "other"), key=lambda title: -sizes[title])
    if len(titles) < 2:
        return what
    is_all = len(titles) <= KINDS and len(titles) == len(set(names.values()))
    shown = [*map(lowered, titles[:KINDS]), *([] if is_all else ["more"])]
    return f"{what} for {', '.join(shown[:-1])} and {shown[-1]}"


def _count(service: Service) -> str:
    count = len(service.tools)
    return f"{count} tool{'' if count == 1 else 's'}" if count else offered_counts(service)


def _kind_of_group(group: Group) -> str:
    """Gives the title of a group, of a part of one that was too large that of the whole."""
    origin = (group.origins or {}).get("name")
    is_part = origin is not None and origin.source.startswith("size of the group")
    return one_line(group.title.partition(": ")[0] if is_part else group.title)


def triggers(service: Service) -> str:
    """Says when to use the service: declared triggers as such, else what its tools do."""
    uses = wanted_uses(service)
    phrases = [plain(phrase).rstrip(" .。;") for phrase in uses.phrases]
    others: list[Prompt | Resource] = [*service.prompts, *service.resources, *service.resource_templates]
    if not phrases and others:
        said = (list_phrase(item.description or item.title or item.name, OFFERED_LIMIT) for item in others)
        return f"Use when a task needs one of these: {clip(plain('; '.join(said)), TRIGGERS_LIMIT)}"
    if not phrases:
        return f"Use when a task needs {plain(title(service))}."
    if is_inferred(service, "when_to_use"):
        parts = [parts_of(phrase) for phrase in phrases]
        is_one = len(parts) == 1 and len(parts[0].items) == 1
        lead = f"Use when a task needs {'this' if is_one else 'one of these'}: "
        # Where tasks stand below what they are about, a stop parts what only semicolons would part.
        is_grouped = sum(1 for part in parts if part.label) > 1
        words = clip(_joined(_spread(parts, TRIGGERS_LIMIT), is_grouped), TRIGGERS_LIMIT)
        return f"{lead}{words}" if words.endswith("…") else f"{lead}{words}."
    kept: list[str] = []
    for phrase in phrases:
        if kept and sum(map(len, kept)) + len(phrase) + 2 * len(kept) > TRIGGERS_LIMIT:
            break
        kept.append(lowered(phrase))
    words = clip("; ".join(kept), TRIGGERS_LIMIT)
    return f"Use {uses.lead + ' ' if uses.lead else ''}{words}" + ("" if words.endswith("…") else ".")


def _spread(phrases: Sequence[Parts], limit: int) -> list[str]:
    """Shortens phrases of several parts so that many fit: one part of each, then a second of each, and so on."""
    taken = [0] * len(phrases)
    left = limit
    for turn in range(max((len(phrase.items) for phrase in phrases), default=0)):
        for index, phrase in enumerate(phrases):
            if turn == taken[index] < len(phrase.items):
                cost = len(phrase.first(turn + 1)) - (len(phrase.first(turn)) if turn else 0) + 2
                if cost <= left:
                    left -= cost
                    taken[index] += 1
    kept = [phrase.first(count) for phrase, count in zip(phrases, taken, strict=True) if count]
    return kept or [phrases[0].first(1)]


def _joined(phrases: Sequence[str], is_grouped: bool) -> str:
    """Gives phrases one after another."""
    if not is_grouped:
        return "; ".join(phrases)
    return " ".join(phrase if phrase.endswith(("…", ".", "!", "?")) else f"{phrase}." for phrase in phrases).rstrip(".")


def plain(text: str) -> str:
    """Gives a text on one line for a value of front matter: no angle brackets, no `---`, no marks of Markdown code."""
    line = plain_words(text).replace("<", "‹").replace(">", "›").replace("`", "").replace("**", "")
    return re.sub("-{3,}", "—", line)


def offered_counts(service: Service) -> str:
    """Returns what a service offers in numbers: `2 tools, 1 prompt`; tools are named unless it offers others alone."""
    found = {
        "tool": service.tools,
        "resource": service.resources,
        "resource template": service.resource_templates,
        "prompt": service.prompts,
    }
    shown = {noun: len(items) for noun, items in found.items() if items} or {"tool": 0}
    return ", ".join(f"{count:,} {noun}{'' if count == 1 else 's'}" for noun, count in shown.items())


PHRASE_LIMIT = 110
"""Characters of a phrase in a list of tools, resources or prompts."""


def tool_phrase(tool: Tool, limit: int = PHRASE_LIMIT) -> str:
    """Gives the summary of a tool, else the first sentence of its description, else its title; cut at a word.

    What only repeats the name is passed over.
    """
    return list_phrase(_said(tool.name, tool.summary, tool.description, tool.title), limit)


def phrase_of(service: Service) -> Callable[[Tool], str]:
    """Gives the function that says what a tool of a service does, without what it says of every tool."""
    start = common_prefix(text for tool in service.tools for text in [tool.summary or tool.description] if text)
    if not start:
        return tool_phrase
    return lambda tool: tool_phrase(tool, PHRASE_LIMIT + len(start)).removeprefix(start)


@lru_cache(CACHE_SIZE)
def _said(name: str, summary: str | None, description: str | None, title: str | None) -> str:
    """Each output shows the phrases of all tools, and SKILL.md in every form that is tried."""
    if summary and adds_to_name(summary, name):
        return summary
    said = (first_sentence(description or ""), title)
    return next((text for text in said if text and adds_to_name(text, name)), "")
