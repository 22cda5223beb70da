"""The name and description of a skill, when to use it, and what its tools do in short.

Inferred uses name what the tools are for: `Items: Get an item; Delete an item` for a group, `Items: files, notes,
links` for an area of a large service. A shorter form has only the first parts.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from skillgen.model.resource import Group, Prompt, Resource
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.values import is_inferred
from skillgen.render.pages import safe_stem, slug
from skillgen.render.phrases import phrase, plain_phrase
from skillgen.text.markdown import CACHE_SIZE, Markdown, one_line, plain_words
from skillgen.text.summary import TRIGGER, adds_to_name, clip, common_prefix, first_sentence, list_phrase, shorten

_CONNECTED = re.compile(r"(?:when|whenever|if|to|for)\s", re.IGNORECASE)
_PERSON = re.compile(r"(?:(?:the|a|an)\s+)?(?:users?|you|someone|people|agents?|caller)\b", re.IGNORECASE)
_DOING = re.compile(r"\w{2,}ing\b")


_USES = 16
"""Maximum of uses in a list."""

_BRIEF_USES = 5
"""The same in a short list."""

_USE_CHARACTERS = 200
"""Characters of a use."""

_BRIEF_USE_CHARACTERS = 100
"""The same in a short list."""

_ALL_NAMED = 12
"""Tools up to which each has its own phrase, unless another does the same."""

_LABEL_LIMIT = 90
"""Characters of a label before a colon; a longer one is a sentence."""

_MIN_ENUMERATED = 3
"""Minimum of items in an enumeration with commas."""

_ENUMERATED_LIMIT = 40
"""Characters of an item in an enumeration; a longer one is a clause."""


class PhraseParts(Struct, frozen=True):
    """The parts of a phrase."""

    label: str
    """What precedes the parts and a colon; may be empty."""

    items: tuple[str, ...]
    joint: str
    """The separator of the parts."""

    def first(self, count: int) -> str:
        """Returns the phrase with the first `count` parts."""
        words = self.joint.join(self.items[:count])
        return f"{self.label}: {words}" if self.label else words


class Uses(Struct, frozen=True):
    """Uses, worded to follow their lead."""

    lead: str
    """The words before the list: "when the user asks to"."""

    phrases: tuple[str, ...]
    """The uses."""


def _shown_uses(service: Service, brief: bool) -> Uses:
    """Returns what the tools are for, shortened, with a lead that says whether the list is complete."""
    limit = _BRIEF_USE_CHARACTERS if brief else _USE_CHARACTERS
    shown = [whole_parts(phrase, limit) for phrase in service.when_to_use[: _BRIEF_USES if brief else _USES]]
    tools = service.tools
    part_count = sum(len(_parts_of(phrase).items) for phrase in shown)
    after_verb = sum(phrase.count(", ") + 1 for phrase in shown)  # `Draw pie charts, bar charts`
    is_all = len(tools) in (part_count, after_verb) or (
        len(tools) <= _ALL_NAMED and tuple(shown) == service.when_to_use
    )
    lead = phrase("uses_complete" if is_all and not shown[-1].endswith("…") else "uses_incomplete", len(tools))
    return Uses(lead, tuple(shown))


def uses_shown(service: Service, brief: bool) -> Uses:
    """Returns when to use the service, as a list shows it."""
    return (
        _shown_uses(service, brief)
        if is_inferred(service, "when_to_use")
        else _listed(_wanted_uses(service), brief, 12, 5)
    )


def unwanted_uses(service: Service, brief: bool) -> Uses:
    """Returns when not to use the service, as a list shows it."""
    uses = _worded(service.when_not_to_use, phrase("for_this"), phrase("for_this"))
    return _listed(uses, brief, 12, 4)


def _listed(uses: Uses, brief: bool, count: int, brief_count: int) -> Uses:
    limit = _BRIEF_USE_CHARACTERS if brief else _USE_CHARACTERS
    return replace(
        uses, phrases=tuple(whole_parts(use, limit) for use in uses.phrases[: brief_count if brief else count])
    )


def _wanted_uses(service: Service) -> Uses:
    if is_inferred(service, "when_to_use"):
        return Uses("", service.when_to_use)
    return _worded(service.when_to_use, phrase("when_asked"), phrase("to_do"))


def _worded(phrases: Sequence[str], lead: str, connective: str) -> Uses:
    """Returns phrases with a lead that all of them can follow: some already begin with such words."""
    if any(_CONNECTED.match(phrase) for phrase in phrases):
        connected = (phrase if _CONNECTED.match(phrase) else f"{connective} {_lowered(phrase)}" for phrase in phrases)
        return Uses("", tuple(map(_lowered, connected)))
    if any(_PERSON.match(phrase) for phrase in phrases):
        return Uses(phrase("when"), tuple(phrases))
    if any(_DOING.match(phrase) for phrase in phrases):
        return Uses(phrase("for_this"), tuple(phrases))
    return Uses(lead, tuple(phrases))


def _parts_of(phrase: str) -> PhraseParts:
    """Returns the parts of a phrase: tasks separated by semicolons, or an enumeration of short words with commas."""
    label, colon, words = phrase.partition(": ")
    if not colon or "; " in label or len(label) > _LABEL_LIMIT:
        label, words = "", phrase
    if "; " in words:
        return PhraseParts(label, tuple(words.split("; ")), "; ")
    items = words.split(", ")
    is_enumeration = len(items) >= _MIN_ENUMERATED and not any(
        len(item) > _ENUMERATED_LIMIT or item.startswith(("and ", "or ")) for item in items
    )
    return PhraseParts(label, tuple(items), ", ") if is_enumeration else PhraseParts(label, (words,), "; ")


def whole_parts(phrase: str, limit: int) -> str:
    """Returns as many complete parts of a phrase as fit; cuts the first if it is too long."""
    parts = _parts_of(phrase)
    for count in range(len(parts.items), 0, -1):
        if len(shortened_phrase := parts.first(count)) <= limit:
            return shortened_phrase
    return clip(parts.first(1), limit)


def _lowered(phrase: str) -> str:
    """Puts the first word in lower case, unless it is an abbreviation or a name with inner capitals."""
    first = phrase.split(" ", 1)[0]
    return phrase if first[1:].lower() != first[1:] else phrase[:1].lower() + phrase[1:]


_NAME_LIMIT = 64
"""Characters of a skill's name (Agent Skills)."""

TITLE_LIMIT = 120
"""Characters of a display name."""

_DESCRIPTION_LIMIT = 1024
"""Characters of a description (Agent Skills)."""

_TRIGGERS_LIMIT = 640
"""Characters of the triggers in a description, so that there is room for what the service does."""

_TEXT_SEARCHED = 20_000
"""Characters of a text that are searched for a trigger."""

_OFFERED_LIMIT = 90
"""Characters for one resource or prompt of a service without tools."""

_GROUPS_NAMED = 6
"""Groups that are named if the source does not say what the service does."""

_VENDOR_WORDS = re.compile(r"(?:^|-)(?:claude|anthropic)(?=-|$)")


def skill_name(service: Service) -> str:
    """Returns the name of the skill: 1 to 64 of `a-z`, `0-9` and single hyphens (Agent Skills, `name`).

    Hosts refuse the names of their vendor in it, so those words are removed. If nothing remains, part of a digest makes
    the name unique.
    """
    name = _VENDOR_WORDS.sub("", slug(service.name, _NAME_LIMIT)).strip("-")
    while "claude" in name or "anthropic" in name:
        name = name.replace("claude", "").replace("anthropic", "").strip("-")
    name = re.sub("-{2,}", "-", name)
    if not name and service.name.strip():
        return f"service-{hashlib.sha256(service.name.encode('utf-8', 'surrogatepass')).hexdigest()[:6]}"
    return safe_stem(name or "service", "service")


def title(service: Service) -> str:
    """Returns the display name, on one line."""
    return clip(one_line(service.title or service.name), TITLE_LIMIT) or skill_name(service)


def description(service: Service, limit: int = _DESCRIPTION_LIMIT) -> str:
    """Says on one line what the service does and when to use it, within `limit` characters.

    Hosts refuse angle brackets, and `---` ends front matter for careless parsers.
    """
    what = plain(what_it_does(service))
    sentences = _sentences(what)
    declared = next(filter(TRIGGER.search, sentences), None)
    when = declared or _declared_trigger(service) or _triggers(service)
    if when in what and (len(what) <= limit or what.index(when) + len(when) < limit):
        return clip(what, limit)
    when = clip(when, _TRIGGERS_LIMIT) if declared else when
    what = " ".join(item for item in sentences if item != declared) or what
    what = shorten(what, max(limit - len(when) - 2, limit // 3)).rstrip(" :")
    return clip(f"{what if what.endswith(('.', '!', '?', '…')) else what + '.'} {when}", limit)


def short_description(service: Service, limit: int = 100) -> str:
    """Says what the service does in one sentence, for a server.json: at most `limit` characters, cut at a word."""
    sentences = _sentences(plain(what_it_does(service)))
    first = next((sentence for sentence in sentences if not TRIGGER.match(sentence)), sentences[0])
    return clip(first, limit)


def what_it_does(service: Service) -> str:
    """Returns the summary or description of the source, else its kind and the subjects of its tools."""
    texts = (text for text in (service.summary, service.description) if text and plain(text).strip())
    return next(texts, None) or _kind(service)


def _declared_trigger(service: Service) -> str | None:
    """Returns the sentence of the source that says when to use the service, if there is one."""
    texts = (service.description, service.summary)
    sentences = (sentence for text in texts if text for sentence in _sentences(plain(text[:_TEXT_SEARCHED])))
    trigger = next(filter(TRIGGER.match, sentences), None)
    return clip(trigger, _TRIGGERS_LIMIT) if trigger else None


def what_and_when(service: Service, limit: int = _DESCRIPTION_LIMIT) -> tuple[str, str]:
    """Returns what the service does and when to use it, separately; a declared list of uses takes precedence."""
    sentences = _sentences(plain(what_it_does(service)))
    what = " ".join(item for item in sentences if not TRIGGER.match(item)) or " ".join(sentences)
    is_listed = bool(service.when_to_use) and not is_inferred(service, "when_to_use")
    when = None if is_listed else _declared_trigger(service)
    return shorten(what, limit), when or _triggers(service)


def _sentences(line: str) -> list[str]:
    return re.split(r"(?<=[.!?])\s+|(?<=[。！])(?=[^\s。！？）」』”])", line)


def _kind(service: Service) -> str:
    what = plain_phrase(
        "mcp_with" if service.kind == "mcp" else "api_with", title=title(service), offers=_count(service)
    )
    names = {group.name: _subject_of(group) for group in service.groups}
    sizes = Counter(names[tool.group] for tool in service.tools if tool.group in names)
    titles = sorted((title for title in sizes if title.lower() != "other"), key=lambda title: -sizes[title])
    if len(titles) < 2:
        return what
    is_all = len(titles) <= _GROUPS_NAMED and len(titles) == len(set(names.values()))
    shown = [*map(_lowered, titles[:_GROUPS_NAMED]), *([] if is_all else [phrase("more_groups")])]
    return plain_phrase("kind_for", kind=what, groups=", ".join(shown[:-1]) + phrase("and_between") + shown[-1])


def _count(service: Service) -> str:
    count = len(service.tools)
    return phrase("tools", count, number=count) if count else offered_counts(service)


def _subject_of(group: Group) -> str:
    """Returns the title of a group; for a part of a group that was split by size, the title of that group."""
    origin = (group.origins or {}).get("name")
    is_part = origin is not None and origin.source.startswith("size of the group")
    return one_line(group.title.partition(": ")[0] if is_part else group.title)


def _triggers(service: Service) -> str:
    """Returns when to use the service: by declared triggers, else by what its tools do. Not safe Markdown."""
    uses = _wanted_uses(service)
    phrases = [plain(phrase).rstrip(" .。;") for phrase in uses.phrases]
    others: list[Prompt | Resource] = [*service.prompts, *service.resources, *service.resource_templates]
    if not phrases and others:
        names = (list_phrase(item.description or item.title or item.name, _OFFERED_LIMIT) for item in others)
        return plain_phrase("use_for_these", items=clip(plain("; ".join(names)), _TRIGGERS_LIMIT))
    if not phrases:
        return plain_phrase("use_for_service", service=plain(title(service)))
    if is_inferred(service, "when_to_use"):
        parts = [_parts_of(phrase) for phrase in phrases]
        is_one = len(parts) == 1 and len(parts[0].items) == 1
        # Labelled groups of tasks already contain semicolons, so full stops separate them.
        is_grouped = sum(1 for part in parts if part.label) > 1
        words = clip(_joined(_spread(parts, _TRIGGERS_LIMIT), is_grouped), _TRIGGERS_LIMIT)
        return plain_phrase("use_for_this" if is_one else "use_for_these", items=_stopped(words))
    fitting: list[str] = []
    for item in phrases:
        if fitting and sum(map(len, fitting)) + len(item) + 2 * len(fitting) > _TRIGGERS_LIMIT:
            break
        fitting.append(_lowered(item))
    words = clip("; ".join(fitting), _TRIGGERS_LIMIT)
    return plain_phrase("use", uses=" ".join(filter(None, (uses.lead, _stopped(words)))))


def _stopped(words: str) -> str:
    return words if words.endswith("…") else f"{words}."


def _spread(phrases: Sequence[PhraseParts], limit: int) -> list[str]:
    """Shortens phrases of several parts so that many fit: one part of each, then a second of each, and so on."""
    counts = [0] * len(phrases)
    free = limit
    for turn in range(max((len(part.items) for part in phrases), default=0)):
        for index, part in enumerate(phrases):
            if turn == counts[index] < len(part.items):
                cost = len(part.first(turn + 1)) - (len(part.first(turn)) if turn else 0) + 2
                if cost <= free:
                    free -= cost
                    counts[index] += 1
    fitting = [part.first(count) for part, count in zip(phrases, counts, strict=True) if count]
    return fitting or [phrases[0].first(1)]


def _joined(phrases: Sequence[str], is_grouped: bool) -> str:
    """Joins phrases with semicolons, or with full stops if they have labels."""
    if not is_grouped:
        return "; ".join(phrases)
    return " ".join(phrase if phrase.endswith(("…", ".", "!", "?")) else f"{phrase}." for phrase in phrases).rstrip(".")


def plain(text: str) -> str:
    """Returns a text on one line for a value of front matter: without angle brackets, `---` and Markdown code."""
    line = plain_words(text).replace("<", "‹").replace(">", "›").replace("`", "").replace("**", "")
    return re.sub("-{3,}", "—", line)


def offered_counts(service: Service) -> str:
    """Returns the numbers of what a service offers: `2 tools, 1 prompt`; `0 tools` only if it offers nothing."""
    return _counts(service, ("tools", "resources", "resource_templates", "prompts")) or phrase("tools", 0, number=0)


def resource_counts(service: Service) -> Markdown:
    """Returns the numbers of resources and resource templates."""
    return _counts(service, ("resources", "resource_templates"))


def _counts(service: Service, names: Iterable[str]) -> Markdown:
    counts = {name: len(items) for name in names if (items := getattr(service, name))}
    return Markdown(", ".join(phrase(name, count, number=f"{count:,}") for name, count in counts.items()))


PHRASE_LIMIT = 110
"""Characters of a phrase in a list of tools, resources or prompts."""


def tool_phrase(tool: Tool, limit: int = PHRASE_LIMIT) -> str:
    """Returns the summary of a tool, else the first sentence of its description, else its title; cut at a word.

    A text that only repeats the name is skipped.
    """
    return list_phrase(_best_phrase(tool.name, tool.summary, tool.description, tool.title), limit)


def phrase_of(service: Service) -> Callable[[Tool], str]:
    """Returns a function for the phrase of a tool, without a beginning that all tools of the service share."""
    start = common_prefix(text for tool in service.tools for text in [tool.summary or tool.description] if text)
    if not start:
        return tool_phrase
    return lambda tool: tool_phrase(tool, PHRASE_LIMIT + len(start)).removeprefix(start)


@lru_cache(CACHE_SIZE)
def _best_phrase(name: str, summary: str | None, description: str | None, title: str | None) -> str:
    """Cached: every format shows the phrases of all tools, and SKILL.md in every form that is tried."""
    if summary and adds_to_name(summary, name):
        return summary
    texts = (first_sentence(description or ""), title)
    return next((text for text in texts if text and adds_to_name(text, name)), "")
