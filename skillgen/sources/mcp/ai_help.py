"""Reads the answer to `ai_help` (seed 000, 3.3), as Markdown or as JSON: `contentType` says which it is."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from skillgen.errors import ProblemLog
from skillgen.model.offers import Section
from skillgen.model.value import Json
from skillgen.sources.guards import as_dict, as_list, is_bare_markup, text_of
from skillgen.sources.mcp.ai_help_markdown import (
    page_from_markdown,
    split_front_matter,
    tool_chapters,
    tool_lines,
    uses,
)
from skillgen.sources.mcp.ai_help_metadata import metadata_from_front_matter, metadata_from_mapping
from skillgen.sources.mcp.claims import Members
from skillgen.sources.mcp.json_as_markdown import as_markdown, title_from_key

POINTER = "/ai_help"

OWN_LIST = "The Source's Own Quick Reference"
"""The title of what a quick reference lists in a form that cannot be merged with the documents' own list."""

_USE = re.compile(r"whentouse|usewhen")
_NO_USE = re.compile(r"when(?:not|to(?:not|avoid))|(?:do|should)not|dont|not(?:for|tobe|intended|suitable)|outofscope")
_REFERENCES = ("toolreference", "tools", "availabletools", "commandreference", "commands")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolHelp:
    """What an answer says of some tools, and what it says of nothing but the service."""

    phrases: Mapping[str, str]
    """Tool name to one line, from the quick reference."""

    chapters: Mapping[str, str]
    """Tool name to Markdown, from the tool reference."""

    sections: tuple[Section, ...]
    """The sections without what they say of these tools."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AiHelp:
    """What an answer says of the service."""

    metadata: Members
    """The front matter, or `metadata`, in the shape of a `dashdash` object."""

    pointer: str = POINTER
    """JSON pointer to what the rest was read from."""

    title: str | None = None
    """The heading of the whole."""

    quote: str | None = None
    """One line that says what the service is."""

    introduction: str | None = None
    """What stands before the first section."""

    when_to_use: tuple[str, ...] = ()
    """What the service is for, item by item."""

    when_not_to_use: tuple[str, ...] = ()
    """What it is not for."""

    sections: tuple[Section, ...] = ()
    """All sections without the uses, in order."""

    def of_tools(self, tool_names: Collection[str], problems: ProblemLog, *, is_own: bool = True) -> ToolHelp:
        """Returns what it says of the tools that a service offers.

        Other tools are left out of the service's own quick reference and reported; an extra text may list commands.
        """
        phrases: dict[str, str] = {}
        chapters: dict[str, str] = {}
        sections: list[Section] = []
        unknown: list[str] = []
        for section in self.sections:
            key, title, body = _letters(section.title), section.title, section.body
            if key == "quickreference":
                lines = tool_lines(body, tool_names, is_own=is_own)
                phrases = {**lines.phrases, **phrases}
                unknown += lines.unknown
                title, body = OWN_LIST if lines.has_list else title, lines.rest
            elif key in _REFERENCES:
                found, body = tool_chapters(body, tool_names)
                for name, words in found.items():
                    chapters[name] = "\n\n".join(filter(None, (chapters.get(name), words)))
            if body:
                sections.append(Section(title=title, body=body))
        if unknown:
            problems.warning(
                "quick-reference-unknown-tool",
                self.pointer,
                f"the quick reference lists {', '.join(unknown)[:200]}, which the source does not offer; left out",
                "correct the names or remove the lines",
            )
        return ToolHelp(phrases=phrases, chapters=chapters, sections=tuple(sections))


def ai_help_from_result(raw: Json, problems: ProblemLog) -> AiHelp:
    """Reads an answer; `None` is no answer. What makes no sense is reported, and the rest is read."""
    result = as_dict(raw)
    content, kind = result.get("content"), str(result.get("contentType", "")).partition(";")[0].strip().lower()
    if kind == "application/json" and "metadata" not in result and isinstance(content, str):
        result, content = _decoded(content, problems), None
    if isinstance(content, str) and kind != "application/json":
        return _from_markdown(content, problems)
    if "metadata" in result or "sections" in result:
        return _from_json(result, problems)
    if raw is not None:
        problems.warning("ai-help-invalid", POINTER, "the answer to ai_help has neither `content` nor `metadata`")
    return AiHelp(metadata=metadata_from_mapping({}, "", problems))


def _from_markdown(content: str, problems: ProblemLog) -> AiHelp:
    pointer = f"{POINTER}/content"
    front_matter, body = split_front_matter(content)
    page = page_from_markdown(body)
    builder = _Builder()
    for chapter in page.chapters:
        builder.add_markdown(chapter.title, chapter.body)
    return builder.built(
        metadata=metadata_from_front_matter(front_matter, pointer, problems),
        pointer=pointer,
        title=page.title,
        quote=page.quote,
        introduction=page.introduction,
    )


def _from_json(result: dict[str, Json], problems: ProblemLog) -> AiHelp:
    metadata = as_dict(result.get("metadata"))
    builder = _Builder()
    for key, value in as_dict(result.get("sections")).items():
        builder.add_json(key, value)
    return builder.built(
        metadata=metadata_from_mapping(metadata, f"{POINTER}/metadata", problems),
        pointer=f"{POINTER}/sections",
        title=text_of(metadata, "title"),
    )


class _Builder:
    """Gathers what the sections of an answer say."""

    def __init__(self) -> None:
        self._wanted: tuple[str, ...] = ()
        self._unwanted: tuple[str, ...] = ()
        self._sections: list[Section] = []

    def add_markdown(self, title: str, body: str) -> None:
        key = _letters(title)
        is_unwanted = _NO_USE.match(key) is not None
        if is_unwanted or _USE.match(key):
            found = uses(body, unwanted=is_unwanted)
            self._wanted += found.wanted
            self._unwanted += found.unwanted
            body = found.rest
        if body and not is_bare_markup(body):
            self._sections.append(Section(title=title, body=body))

    def add_json(self, key: str, value: Json) -> None:
        letters = _letters(key)
        body = _tool_list(value) if letters == "quickreference" else ""
        body = body or (_tool_reference(value) if letters in _REFERENCES else "")
        self.add_markdown(title_from_key(key), body or as_markdown(value))

    def built(
        self,
        *,
        metadata: Members,
        pointer: str,
        title: str | None,
        quote: str | None = None,
        introduction: str | None = None,
    ) -> AiHelp:
        return AiHelp(
            metadata=metadata,
            pointer=pointer,
            title=title,
            quote=quote,
            introduction=introduction,
            when_to_use=self._wanted,
            when_not_to_use=self._unwanted,
            sections=tuple(self._sections),
        )


def _decoded(content: str, problems: ProblemLog) -> dict[str, Json]:
    try:
        return as_dict(json.loads(content))
    except (ValueError, RecursionError):
        problems.warning("ai-help-invalid", f"{POINTER}/content", "the content is not JSON, though `contentType` is")
        return {}


def _tool_list(value: Json) -> str:
    """Returns a quick reference in JSON as the list that it is in Markdown; empty where it has another form."""
    phrases = {name: item if isinstance(item, str) else _phrase(item) for name, item in _named(value)}
    return "\n".join(f"- `{name}` — {' '.join(words.split())}" for name, words in phrases.items() if words)


def _phrase(item: Json) -> str:
    return text_of(item, "description") or text_of(item, "summary") or ""


def _tool_reference(value: Json) -> str:
    """Returns a tool reference in JSON as the chapters that it has in Markdown, a labelled part for each member."""
    return "\n\n".join(f"### {name}\n\n{_chapter(item)}" for name, item in _named(value))


def _chapter(item: Json) -> str:
    if not isinstance(item, dict):
        return as_markdown(item)
    parts = [text_of(item, "description") or ""]
    for key, part in item.items():
        if key not in ("name", "tool") and part != parts[0]:
            parts.append(f"**{title_from_key(key)}:**\n\n{as_markdown(part)}")
    return "\n\n".join(filter(None, parts))


def _named(value: Json) -> Iterator[tuple[str, Json]]:
    """Yields the members of an object, or the objects of a list that have a name."""
    if isinstance(value, dict):
        yield from value.items()
    for item in as_list(value):
        if (name := text_of(item, "name") or text_of(item, "tool")) is not None:
            yield name, item


def _letters(title: str) -> str:
    return re.sub(r"[^a-z]", "", title.lower())
