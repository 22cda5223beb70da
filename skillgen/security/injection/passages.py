"""Separates the passages of a text that address the model from the rest, which describes.

A passage is a sentence, with the next ones that refer back to it. An attacker decides where sentences end,
so the rest is searched again: as long as a rule matches it, passages of more sentences are searched, and at last the
complete text is one passage. Each step takes time in proportion to the text.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from operator import itemgetter

from skillgen.security.injection.detection import find_injections
from skillgen.text import lazy_re as re
from skillgen.text.html import html_to_markdown
from skillgen.text.summary import ABBREVIATION
from skillgen.text.unicode import strip_invisible

_SIZES = (1, 2, 4, 8)
"""Numbers of sentences that are searched together, before the complete text is one passage."""

_MAX_PASSAGES = 20
"""A text with more is a single passage: each is stored with the rest."""

_SENTENCE_END = re.compile(
    r"(?P<sentence>(?<!\.)[.!?](?<!\s\d\.)[\"'”’)\]*_`]{0,3}(?=\s)|[。！？][\"'”’）」』]{0,3})\s*"
)
_FENCE = re.compile(r"`{3,}|~{3,}")
_MARKED = re.compile(r"\s*(?P<item>(?:[-+*•]|\d{1,9}[.)])\s)|\s*(?:#|[\w.*`-]{1,60}(?: \([^()]{0,80}\))?:\s)")
"""A line that begins a block: an item, a heading, a label."""

_REFERS_BACK = re.compile(r"\W*(?:it|that|these|they|this|those)\b", re.IGNORECASE)
_GOES_ON = re.compile(r"\W*(?:afterwards?|also|and|finally|next|then)\b", re.IGNORECASE)


_TAG = re.compile(r"<(?P<end>/?)(?P<name>[A-Za-z][\w-]{0,40})>")
_ONLY_TAGS = re.compile(rf"\s*(?:{_TAG.pattern.replace('?P<end>', '').replace('?P<name>', '')}\s*)+\Z")


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage that addresses the model."""

    text: str
    """The passage, with the marker of its list item."""

    at: int
    """How many characters of the rest are before it."""


@dataclass(slots=True)
class _Sentence:
    """A sentence, or a block that is not divided: code, a table, a quote."""

    start: int
    end: int

    block: int
    """The number of its block: a paragraph, an item, a heading."""

    is_marked: bool = False
    """Whether the marker of an item is in front of it; the sentences after it belong to that item."""

    is_passage: bool = False


@lru_cache(1 << 8)
def split_passages(text: str) -> tuple[str, tuple[Passage, ...]]:
    """Returns the rest of a text that addresses the model, without HTML, and the passages that do so, in order."""
    text = html_to_markdown(strip_invisible(text)).strip("\n")
    sentences = list(_sentences(text))
    for size in _SIZES:
        _mark(text, sentences, size)
        rest, passages = _divided(text, sentences)
        if len(passages) > _MAX_PASSAGES:
            break
        if passages and not find_injections((rest, *_runs(rest, passages))):
            return rest, passages
    return "", (Passage(text, 0),)


def _runs(rest: str, passages: Sequence[Passage]) -> Iterator[str]:
    """Yields the parts of the rest between the passages, as documents show them."""
    places = [0, *(passage.at for passage in passages), len(rest)]
    yield from (rest[start:end] for start, end in pairwise(places))


def _mark(text: str, sentences: Sequence[_Sentence], size: int) -> None:
    """Marks sentences of which so many together address the model, and those that continue them."""
    rest = [sentence for sentence in sentences if not sentence.is_passage]
    windows = [rest[start : start + size] for start in range(0, len(rest), max(size // 2, 1))]
    joined = ["\n".join(text[item.start : item.end] for item in window) for window in windows]
    found = find_injections(joined)
    for window, words in zip(windows, joined, strict=True):
        if words in found:
            for sentence in window:
                sentence.is_passage = True
    _mark_elements(text, sentences)
    for before, sentence in pairwise(sentences):
        if before.is_passage and not sentence.is_passage:
            words, is_same = text[sentence.start : sentence.start + 20], before.block == sentence.block
            refers_back = is_same and (before.is_marked or _REFERS_BACK.match(words))
            sentence.is_passage = bool(refers_back or _GOES_ON.match(words))
            sentence.is_marked = is_same and before.is_marked


def _mark_elements(text: str, sentences: Sequence[_Sentence]) -> None:
    """Marks everything in an element that begins in a marked sentence, such as `<IMPORTANT>`, and its end tag."""
    closed: dict[str, list[int]] = {}
    for tag in filter(itemgetter("end"), _TAG.finditer(text)):
        closed.setdefault(tag["name"], []).append(tag.start())
    end, was_marked = 0, False
    for sentence in sentences:
        words = text[sentence.start : sentence.end]
        if sentence.start < end or (was_marked and _ONLY_TAGS.match(words)):
            sentence.is_passage = True
        elif sentence.is_passage:
            for tag in _TAG.finditer(words):
                places = closed.get(tag["name"], [])
                index = bisect_left(places, sentence.end)
                if not tag["end"] and index < len(places):
                    end = max(end, places[index])
        was_marked = sentence.is_passage


def _divided(text: str, sentences: Sequence[_Sentence]) -> tuple[str, tuple[Passage, ...]]:
    """Returns what is not marked, and the passages: adjacent marked sentences are one."""
    parts: list[str] = []
    passages: list[Passage] = []
    gap, end, length, first = "", 0, 0, None
    for sentence in sentences:
        gap = max(gap, text[end : sentence.start], key=lambda blank: (blank.count("\n"), len(blank)))
        if not sentence.is_passage:
            if first is not None:
                passages.append(Passage(text[first:end], length))
            parts += [gap if parts else "", text[sentence.start : sentence.end]]
            length += len(parts[-2]) + len(parts[-1])
            gap, first = "", None
        elif first is None:
            first = sentence.start
        end = sentence.end
    if first is not None:
        passages.append(Passage(text[first:end], length))
    return "".join(parts), tuple(passages)


def _sentences(text: str) -> Iterator[_Sentence]:
    for number, (start, end, is_item, is_whole) in enumerate(_blocks(text)):
        if is_whole:
            yield _Sentence(start, end, number)
            continue
        first = start
        for match in _SENTENCE_END.finditer(text, start, end):
            if match.end() < end and not ABBREVIATION.search(text[max(start, match.start() - 9) : match.start() + 1]):
                yield _Sentence(start, match.end("sentence"), number, is_item and start == first)
                start = match.end()
        yield _Sentence(start, end, number, is_item and start == first)


def _blocks(text: str) -> Iterator[tuple[int, int, bool, bool]]:
    """Yields start and end of each block, whether it is a list item, and whether it is code, a table or a quote."""
    start = end = position = column = 0
    fence, kind, is_item, is_open = "", "", False, False
    for line in text.split("\n"):
        body, indent = line.strip(), len(line) - len(line.lstrip())
        mark, starts, tags = _FENCE.match(body), _MARKED.match(line), _ONLY_TAGS.match(body)
        line_kind = body[:1] if body[:1] in ("|", ">") else ""
        is_last = not fence and tags is not None and body.startswith("</")
        if fence:
            is_last = mark is not None and mark[0].startswith(fence) and not body.strip(fence[0])
        elif is_open and not is_last:
            is_other = line_kind != kind or (indent != column and not is_item)
            if not body or mark or starts or tags or is_other:
                yield start, end, is_item, bool(kind)
                is_open = False
        if body and not is_open:
            start, is_open, kind, column = position, True, line_kind, indent
            is_item = starts is not None and starts["item"] is not None
            fence = mark[0] if mark else ""
        end = position + len(line) if body else end
        if is_last:
            yield start, end, is_item, bool(kind or fence)
            fence, is_open = "", False
        position += len(line) + 1
    if is_open:
        yield start, end, is_item, bool(kind or fence)
