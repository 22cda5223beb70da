"""Finds the words of a longer text that say what it is about: mostly its first, but not always.

A text may open with a heading, a greeting, a notice, a label (`Purpose:`), a date or a version (`Last updated: …`), a
link to something else, an example in a fence or what is to be looked out for. What it speaks of then stands further
down.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from skillgen.markdown.html_text import as_markdown

PASSAGES = 40
"""Passages that are looked through."""

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(?P<words>(?:.*[^\s#])?)[\s#]*\Z")
_BOLD_LINE = re.compile(r"\s*(?P<mark>\*\*|__)(?P<words>[^*_\n]{1,80})(?P=mark)\s*\Z")
_UNDERLINE = re.compile(r"\s*(?:={3,}|-{3,})\s*\Z")
_RULE = re.compile(r"\s*(?:[-*_=]\s*){3,}\Z|\s*\|")
"""A line that parts passages, or a row of a table."""

_ITEM = re.compile(r"\s*(?:[-+*•]|\d{1,3}[.)])\s+(?=\S)")
_QUOTE = re.compile(r"\s*>\s?")
_LABEL = re.compile(r"[\W_]{0,8}(?P<words>[A-Za-z][\w '/&-]{0,40})[*_]{0,3}:[*_]{0,3}(?:\s+|\Z)")
_LABEL_LIMIT = 45
_LINK_LIMIT = 80
"""Characters within which a text has a link that may be all that its first passage is."""

_ICON_LABEL = re.compile(r"\s*[^\x00-\u218f]\W{0,4}(?P<words>[A-Za-z][\w '/&-]{0,40})\Z")

_NOTICE = "(?:attention|caution|deprecat(?:ed|ion)|disclaimer|important|news|note|notice|update|warning)"
_ASIDE = re.compile(
    rf"\W{{0,6}}(?:(?:welcome|hello)\b|(?:please )?note that\b|please note\b|(?:\w+ ){{0,2}}{_NOTICE}\W{{0,4}}[:!])",
    re.IGNORECASE,
)
"""How a greeting or a notice begins."""

_SUBJECT = re.compile(
    r"\W*(?:purpose|description|overview|summary|introduction|abstract|goal|about|function|what (?:it|this)\b(?s:.*))"
    r"\W*\Z",
    re.IGNORECASE,
)
"""Labels and headings below which a text says what it is about."""

_DETAILS = re.compile(
    r"\W*(?:args?|arguments|auth\w*|caution|constraints?|errors?|examples?|guardrails?|hints?|important|inputs?|limits?"
    r"|limitations?|notes?|options?|outputs?|parameters?|params|pre-?requisites?|raises|requirements?|requires|returns?"
    r"|rules?|tips?|usage\b(?s:.*)|use[ -]cases?|warnings?|when (?:not )?to use(?s:.*))\W*\Z",
    re.IGNORECASE,
)
"""Labels and headings below which it says something else."""

_RECORD = re.compile(
    r"\W*(?:(?:last |date )?(?:changed|created|edited|generated|modified|published|released?|reviewed|revised|updated?)"
    r"(?: (?:at|by|date|on))?|(?:api |document |spec(?:ification)? )?(?:date|revision|status|version)|authors?"
    r"|base ur[il]|contacts?|copyright|e-?mail|home ?page|host|licen[cs]e|maintainers?|owners?|ur[il]|web ?site)\W*\Z",
    re.IGNORECASE,
)
"""Labels before what a text records of itself or of who keeps it."""

_LINK = re.compile(r"!?\[(?:[^\[\]]|!\[[^\[\]]*\]\([^()\s]*\))*\]\([^()\s]*(?:\s[^()]*)?\)|<?https?://[^\s<>]+>?")

BESIDE_A_LINK = 2
"""Words up to which a passage is no more than the links that stand in it: `Download [the description](…)`."""


_LEAST = 4
"""The rank of what is shown only where there is nothing else."""


@dataclass(slots=True)
class _Passage:
    """A paragraph, an item of a list or a heading, and how well its words say what the text is about."""

    text: str
    rank: int
    """The lower the better; among equals the first counts."""


def opening(text: str) -> str:
    """Gives the passage of a text that says what it is about, without the mark of a list or a heading."""
    text = as_markdown(text)
    found: list[_Passage] = []
    for passage in _passages(text):
        if passage.rank == 0:
            return passage.text
        found.append(passage)
        if len(found) == PASSAGES:
            break
    return min(found, key=lambda passage: passage.rank).text if found else ""


def _passages(text: str) -> Iterator[_Passage]:
    reader = _Reader()
    for line in text.split("\n"):
        yield from reader.read(line)
    yield from reader.end()


@dataclass(slots=True)
class _Reader:
    """Reads a text line by line."""

    lines: list[str] | None = None
    """The lines of the passage that is open."""

    fence: str | None = None
    """The mark that ends the code block in which the next line stands."""

    sections: int = 0
    """How many headings and labels there were."""

    is_subject: bool = True
    """Whether prose at this place says what the text is about, for all that is known."""

    def read(self, line: str) -> Iterator[_Passage]:
        """Takes a line in; gives the passages that it ends or is."""
        if self.fence is not None:
            if line.strip().startswith(self.fence):
                self.fence = None
            return
        if mark := _FENCE.match(line):
            yield from self.end()
            self.fence = mark[1]
        elif self.lines is not None and len(self.lines) == 1 and _UNDERLINE.match(line):
            heading, self.lines = self.lines[0], None
            yield self._section(heading)
        elif not line.strip() or _RULE.match(line):
            yield from self.end()
        elif title := _HEADING.match(line) or _BOLD_LINE.match(line) or _ICON_LABEL.match(line):
            yield from self.end()
            if title["words"].strip("*_`~=- "):
                yield self._section(title["words"])
        else:
            yield from self._prose(line)

    def _prose(self, line: str) -> Iterator[_Passage]:
        item = _ITEM.match(line)
        if mark := item or _QUOTE.match(line):
            line = line[mark.end() :]
        label = None if item else _LABEL.match(line)
        if label is not None and _RECORD.match(label["words"]) and _is_value(line[label.end() :]):
            yield from self.end()
            yield _Passage(line, _LEAST)
            return
        if label is None and not item:
            self.lines = [*(self.lines or ()), line]
            return
        if label is not None and self.lines is None and self.sections == 0 and not _is_known(label["words"]):
            if label.end() < len(line):  # `Berths: finds them` is a sentence
                self.lines = [line]
                return
        yield from self.end()
        if label is None:
            self.lines = [line]
        elif _SUBJECT.match(label["words"]) and label.end() < len(line):
            self._enter(label["words"])
            self.lines = [line[label.end() :]]
        elif label.end() < len(line):
            self._enter(label["words"])
            self.lines = [line]
        else:
            yield self._section(line, is_label=True)

    def end(self) -> Iterator[_Passage]:
        """Ends the passage that is open."""
        if self.lines is not None:
            words = " ".join(self.lines).strip()
            self.lines = None
            if words.strip("=-*_~`#|. "):
                yield _Passage(words, self._rank(words))

    def _rank(self, words: str) -> int:
        if _ASIDE.match(words):
            return 3
        if ("](" in words or "://" in words) and len(_LINK.sub(" ", words).split()) <= BESIDE_A_LINK:
            return _LEAST
        return 0 if self.is_subject else 2

    def _section(self, words: str, is_label: bool = False) -> _Passage:
        self._enter(words)
        if is_label:
            return _Passage(words.rstrip(": "), _LEAST)
        return _Passage(words, 3 if _is_known(words) or _ASIDE.match(words) else 1)

    def _enter(self, words: str) -> None:
        """Begins a section: what it says is about the subject where it says so, or where it is the first."""
        self.sections += 1
        is_first = self.sections == 1 and not _DETAILS.match(words)
        self.is_subject = is_first or _SUBJECT.match(words) is not None


def _is_value(words: str) -> bool:
    """Tells whether words are a date, a number, an address or a name rather than a sentence."""
    return 0 < len(words.split()) <= 2 or any(sign.isdigit() or sign in "@/©" for sign in words)


def _is_known(words: str) -> bool:
    return _SUBJECT.match(words) is not None or _DETAILS.match(words) is not None


def is_plain(text: str) -> bool:
    """Tells whether a text opens with prose, so that its first words need not be looked for."""
    head, _, rest = text.partition("\n")
    if not head[:1].isalpha() or not head.isascii() or ":" in head[:_LABEL_LIMIT] or _ASIDE.match(head):
        return False
    if "](" in head[:_LINK_LIMIT]:
        return False
    return not rest or _UNDERLINE.match(rest.partition("\n")[0]) is None
