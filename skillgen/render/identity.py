"""The name and the description under which a service's documents are found."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence

from skillgen.markdown.filters import one_line, plain_words
from skillgen.markdown.sentences import TRIGGER, clipped, list_phrase, shortened
from skillgen.model.offers import Group
from skillgen.model.resource import Prompt, Resource
from skillgen.model.service import Service
from skillgen.model.value import is_inferred
from skillgen.render.file_names import safe_stem, slug
from skillgen.render.uses import Parts, lowered, parts_of, wanted_uses

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
    return clipped(one_line(service.title or service.name), TITLE_LIMIT) or skill_name(service)


def description(service: Service, limit: int = DESCRIPTION_LIMIT) -> str:
    """Says on one line what the service does and when to use it, within `limit` characters.

    Hosts refuse angle brackets, and `---` ends front matter for careless readers.
    """
    what = plain(what_it_does(service))
    sentences = _sentences(what)
    declared = next(filter(TRIGGER.search, sentences), None)
    when = declared or declared_trigger(service) or triggers(service)
    if when in what and (len(what) <= limit or what.index(when) + len(when) < limit):
        return clipped(what, limit)
    when = clipped(when, TRIGGERS_LIMIT) if declared else when
    what = " ".join(item for item in sentences if item != declared) or what
    what = shortened(what, max(limit - len(when) - 2, limit // 3)).rstrip(" :")
    return clipped(f"{what if what.endswith(('.', '!', '?', '…')) else what + '.'} {when}", limit)


def short_description(service: Service, limit: int = 100) -> str:
    """Says what the service does in one sentence, for a server.json: at most `limit` characters, cut at a word."""
    sentences = _sentences(plain(what_it_does(service)))
    first = next((sentence for sentence in sentences if not TRIGGER.match(sentence)), sentences[0])
    return clipped(first, limit)


def what_it_does(service: Service) -> str:
    """Gives what the source says of itself in short, else what it is and what its tools are about."""
    said = (text for text in (service.summary, service.description) if text and plain(text).strip())
    return next(said, None) or _kind(service)


def declared_trigger(service: Service) -> str | None:
    """Gives the sentence that says when to use the service, wherever it stands in what the source says of it."""
    texts = (service.description, service.summary)
    found = (sentence for text in texts if text for sentence in _sentences(plain(text[:WORDS_READ])))
    trigger = next(filter(TRIGGER.match, found), None)
    return clipped(trigger, TRIGGERS_LIMIT) if trigger else None


def what_and_when(service: Service, limit: int = DESCRIPTION_LIMIT) -> tuple[str, str]:
    """Says what the service does and when to use it, each on its own; what is declared of its uses in a list first."""
    sentences = _sentences(plain(what_it_does(service)))
    what = " ".join(item for item in sentences if not TRIGGER.match(item)) or " ".join(sentences)
    is_listed = bool(service.when_to_use) and not is_inferred(service, "when_to_use")
    when = None if is_listed else declared_trigger(service)
    return shortened(what, limit), when or triggers(service)


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
        return f"Use when a task needs one of these: {clipped(plain('; '.join(said)), TRIGGERS_LIMIT)}"
    if not phrases:
        return f"Use when a task needs {plain(title(service))}."
    if is_inferred(service, "when_to_use"):
        parts = [parts_of(phrase) for phrase in phrases]
        is_one = len(parts) == 1 and len(parts[0].items) == 1
        lead = f"Use when a task needs {'this' if is_one else 'one of these'}: "
        # Where tasks stand below what they are about, a stop parts what only semicolons would part.
        is_grouped = sum(1 for part in parts if part.label) > 1
        words = clipped(_joined(_spread(parts, TRIGGERS_LIMIT), is_grouped), TRIGGERS_LIMIT)
        return f"{lead}{words}" if words.endswith("…") else f"{lead}{words}."
    kept: list[str] = []
    for phrase in phrases:
        if kept and sum(map(len, kept)) + len(phrase) + 2 * len(kept) > TRIGGERS_LIMIT:
            break
        kept.append(lowered(phrase))
    words = clipped("; ".join(kept), TRIGGERS_LIMIT)
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
