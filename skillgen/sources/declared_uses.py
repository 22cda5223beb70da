"""Finds in a source's own prose when a service is to be used and when not: `Do not use it for: …`.

Only what speaks of the whole counts: a sentence or a list that names one of its tools, or stands below the heading of
one, does not. What is found keeps its words; those that only open it go.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache

from skillgen.markdown.filters import one_line
from skillgen.markdown.sentences import sentences

TEXT_LIMIT = 20_000
"""Characters of a text that are looked through."""

USES = 12
"""Uses of one kind that are kept."""

LONGEST = 400
"""Characters of a use; a longer one is no phrase."""

_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(?P<title>.*?)[\s#]*\Z")
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,2}[.)])\s+(?P<text>\S.*)")
_MARKS = re.compile(r"[*_]{2,}|\A[*_]|[*_]\Z")
_CONDITION = re.compile(r"\b(?:when|whenever|if)\b", re.IGNORECASE)
_NEGATIVE = re.compile(r"\b(?:not|don['’]t|never|avoid)\b", re.IGNORECASE)
_FOR = re.compile(r"for\b\s*:?\s*", re.IGNORECASE)
_CONNECTIVE = r"(?:when|whenever|if|to|for)"
_ASKED = r"(?:\s+(?:you|the\s+user|users?)\s+(?:needs?|wants?|would\s+like|asks?)(?:\s+you)?(?:\s+to)?)?"


@dataclass(frozen=True, slots=True)
class DeclaredUses:
    """What a text says of its own use."""

    wanted: tuple[str, ...] = ()
    """When to use what it speaks of."""

    unwanted: tuple[str, ...] = ()
    """When not to, or for what."""


def uses_declared_in(text: str, part_names: Collection[str] = ()) -> DeclaredUses:
    """Gives when a text wants what it speaks of to be used; `part_names` are the names of its tools."""
    found: tuple[list[str], list[str]] = ([], [])
    for unwanted, words in _Reader(part_names).uses_in(text[:TEXT_LIMIT]):
        if 0 < len(words) <= LONGEST and words not in found[unwanted]:
            found[unwanted].append(words)
    return DeclaredUses(tuple(found[False][:USES]), tuple(found[True][:USES]))


class _Reader:
    """Reads a text line by line; a heading or a line with a colon tells what the list below it is."""

    def __init__(self, part_names: Collection[str]) -> None:
        self._forms = _forms(not part_names)
        self._part = _mention(frozenset(part_names)) if part_names else None
        self._is_of_part = False
        self._label: bool | None = None

    def uses_in(self, text: str) -> Iterator[tuple[bool, str]]:
        """Gives each use with whether it is an unwanted one."""
        for kind, block in _blocks(text):
            if kind == "heading":
                self._is_of_part = self._names_part(block)
                self._label = self._label_of(block)
            elif self._is_of_part:
                continue
            elif kind == "item" and self._label is not None:
                yield from [] if self._names_part(block) else [(self._label, block)]
            elif kind == "item":
                yield from self._sentences_of(block, True)
            elif (label := self._label_of(block)) is not None:
                self._label = label
            else:
                self._label = None
                yield from self._sentences_of(block, False)

    def _names_part(self, text: str) -> bool:
        return self._part is not None and self._part.search(text) is not None

    def _label_of(self, line: str) -> bool | None:
        return _NEGATIVE.search(line) is not None if self._forms.label.fullmatch(line) else None

    def _sentences_of(self, block: str, needs_subject: bool) -> Iterator[tuple[bool, str]]:
        for sentence in sentences(block):
            match = self._forms.sentence.match(sentence.rstrip(" .;"))
            if match is None or (needs_subject and not match["subject"]) or self._names_part(sentence):
                continue
            use, unwanted = match["use"], match["no"] is not None
            if unwanted:
                yield True, _FOR.sub("", use, count=1) if _FOR.match(use) else use
            elif _CONDITION.search(use):
                yield False, use


@dataclass(frozen=True, slots=True)
class _Forms:
    """How a text says when something is to be used."""

    sentence: re.Pattern[str]
    label: re.Pattern[str]


@lru_cache(2)
def _forms(is_single: bool) -> _Forms:
    """Gives the forms; "this tool" is the whole only where the text speaks of a single one."""
    nouns = "server|service|skill|api|mcp|toolset|toolkit|tools" + ("|tool|function" if is_single else "")
    subject = rf"(?:(?:this|the|these)\s+(?:\w+\s+){{0,2}}?(?:{nouns})|this|it)"
    no = r"(?:do\s+not|don['’]t|never)"
    return _Forms(
        sentence=re.compile(
            rf"(?P<no>{no}\s+)?use(?:\s+(?P<subject>{subject}))?\s+(?P<use>{_CONNECTIVE}\b\s*:?\s*\S.*)",
            re.IGNORECASE | re.DOTALL,
        ),
        label=re.compile(
            rf"(?:when\s+(?:not\s+to|to\s+not|to)\s+use(?:\s+{subject})?"
            rf"|(?:{no}\s+)?use(?:\s+{subject})?\s+{_CONNECTIVE}{_ASKED}"
            rf"|{no}\s+use(?:\s+{subject})?|not\s+for)\s*:?",
            re.IGNORECASE,
        ),
    )


def _mention(names: Collection[str]) -> re.Pattern[str]:
    """Gives what finds one of the names; one that is a word of the language only where it is marked as a name."""
    longest_first = sorted(names, key=len, reverse=True)
    found = "|".join(map(re.escape, longest_first))
    coined = "|".join(re.escape(name) for name in longest_first if not (name.isalpha() and name.islower()))
    forms = [rf"[`'\"“](?:{found})\b", rf"(?<![\w-])(?:{found})(?:\(|\s+tool\b)"]
    return re.compile("|".join([*forms, *([rf"(?<![\w-])(?:{coined})(?![\w-])"] if coined else [])]))


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    """Gives the headings, the items of lists and the paragraphs, each on one line without the marks of emphasis."""
    kind, lines = "", list[str]()
    for line in [*text.splitlines(), ""]:
        item, heading = _ITEM.fullmatch(line), _HEADING.fullmatch(line)
        if item or heading or not line.strip():
            if lines:
                yield kind, _MARKS.sub("", one_line(" ".join(lines))).strip()
            kind, lines = ("item", [item["text"]]) if item else ("", [])
            if heading:
                yield "heading", _MARKS.sub("", one_line(heading["title"])).strip()
        else:
            kind = kind or "paragraph"
            lines.append(line)
            if line.rstrip(" *_").endswith(":") and kind == "paragraph":
                yield kind, _MARKS.sub("", one_line(" ".join(lines))).strip()
                kind, lines = "", []
