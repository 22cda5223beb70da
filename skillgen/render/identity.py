"""The name and description of a skill, and what its tools do in short: what was inferred, in the form of each file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from skillgen.errors import Problem
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.values import is_inferred
from skillgen.render.phrases import phrase
from skillgen.text.markdown import Markdown, one_line, plain_words
from skillgen.text.slugs import slug
from skillgen.text.summary import TRIGGER, clip, sentences, shorten

TITLE_LIMIT = 120
"""Characters of a display name."""

_DESCRIPTION_LIMIT = 1_024
"""Characters of a description (Agent Skills)."""

PHRASE_LIMIT = 110
"""Characters of a phrase in a list of tools, resources or prompts."""


def skill_name(service: Service) -> str:
    """Returns the name of the skill: 1 to 64 of `a-z`, `0-9` and single hyphens (Agent Skills, `name`)."""
    return slug(service.part_name or "") or service.skill_name or "service"


def title(service: Service) -> str:
    """Returns the display name, on one line."""
    return clip(one_line(service.title or service.product or ""), TITLE_LIMIT) or skill_name(service)


def what_and_when(service: Service) -> tuple[str, str]:
    """Returns what the service does and when to use it; the second is empty if the first is only on that."""
    what, when = plain(service.purpose or ""), plain(service.trigger or "")
    if not when:
        found = [*sentences(what)]
        when = next(filter(TRIGGER.search, found), "")
        what = " ".join(item for item in found if item != when)
    return what or when, when if what else ""


def description(service: Service, limit: int = _DESCRIPTION_LIMIT) -> str:
    """Says on one line what the service does and when to use it, within `limit` characters."""
    what, when = plain(service.purpose or ""), plain(service.trigger or "")
    room = limit - len(when) - 1 if when else limit
    return shorten(f"{shorten(what, max(room, limit // 2))} {when}".strip(), limit)


def short_description(service: Service, limit: int = 100) -> str:
    """Says what the service does in one sentence, for a server.json: at most `limit` characters, cut at a word."""
    return clip(next(sentences(what_and_when(service)[0])), limit)


def description_problems(service: Service) -> Iterator[Problem]:
    """Yields a problem with the description if it had to be inferred."""
    if is_inferred(service, "purpose"):
        yield Problem.of(
            code="description-inferred",
            where=skill_name(service),
            message="no sentence of the source says what the service does; the description follows from its tools",
            fix="write one with --description, or have an agent write it: `skillgen draft`",
        )


_EMPHASIS = re.compile(r"(?<![\w*])\*([^\s*](?:[^*\n]{0,80}[^\s*])?)\*(?![\w*])")


def plain(text: str) -> str:
    """Returns a text on one line for a value of front matter: without angle brackets, `---` and Markdown code."""
    line = plain_words(text).replace("<", "‹").replace(">", "›").replace("`", "").replace("**", "")
    line = _EMPHASIS.sub(r"\1", line)
    return re.sub("-{3,}", "—", line)


def offered_counts(service: Service) -> str:
    """Returns the numbers of what a service offers: `2 tools, 1 prompt`; `0 tools` only if it offers nothing."""
    return _counts(service, ("tools", "resources", "resource_templates", "prompts")) or phrase("tools", 0, number=0)


def resource_counts(service: Service) -> Markdown:
    """Returns the numbers of resources and resource templates."""
    return _counts(service, ("resources", "resource_templates"), " and ")


def _counts(service: Service, names: Iterable[str], separator: str = ", ") -> Markdown:
    counts = {name: len(items) for name in names if (items := getattr(service, name))}
    return Markdown(separator.join(phrase(name, count, number=f"{count:,}") for name, count in counts.items()))


def tool_phrase(tool: Tool, limit: int = 0) -> str:
    """Returns the summary of a tool on one line, without its full stop; cut at a word."""
    return shorten(plain_words(tool.summary or ""), limit or PHRASE_LIMIT).rstrip(".。 ")
