"""The names of tools as their texts would say them: a name that is written in one word is one, a version is none.

`hosting_installWordPressV1` is about WordPress where the descriptions write "WordPress", and not about words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from skillgen.model.tool import Tool
from skillgen.sources.words import WORD, singular, spoken_name

_TEXT_LIMIT = 300
"""Characters of a description in which its words are looked for."""

_PARTS_LIMIT = 4
"""Parts of a word that is written as one; what has more of them is a phrase."""

_PART = re.compile(r"[A-Z][a-z]+")
_WRITTEN_AS_ONE = re.compile(rf"\b{_PART.pattern}(?:{_PART.pattern}){{1,{_PARTS_LIMIT - 1}}}\b")
_PARTS_TOGETHER = re.compile(rf"{_PART.pattern}(?:{_PART.pattern})+")
_SPACED = re.compile(r"(?<!\w)\w+(?: \w+)+")
_VERSION_END = re.compile(r"_?[vV]\d+$")
_VERSIONED = 0.5
"""A version at the end of more of the names is no part of what they say."""


def spoken_names(tools: Sequence[Tool]) -> dict[str, str]:
    """Gives the name of each tool without method and version, in which what the texts write as one word is one.

    Those that have paths are hardly ever read by their names, so no time is spent on these.
    """
    spoken = {tool.name: spoken_name(tool.name, tool.method) for tool in tools}
    if all(tool.path for tool in tools):
        return spoken
    versioned = sum(bool(_VERSION_END.search(name)) for name in spoken.values())
    if versioned > _VERSIONED * len(spoken):
        spoken = {name: _VERSION_END.sub("", said) or said for name, said in spoken.items()}
    words = words_written_as_one(tools, spoken.values())
    return {name: as_one_word(said, words) for name, said in spoken.items()} if words else spoken


def words_written_as_one(tools: Sequence[Tool], phrases: Iterable[str]) -> dict[str, str]:
    """Returns the words with capitals inside that phrases and the texts of tools share, by how they are read.

    The parts of such a word occur nowhere else in the phrases, or it is two words: `DriveItem` is one of a drive's.
    """
    texts = "\n".join(text for tool in tools for text in _texts(tool))
    counts = Counter(_WRITTEN_AS_ONE.findall(texts))
    words = {tuple(WORD.findall(word)): word for word in counts}
    surfaces = [WORD.findall(phrase) for phrase in phrases]
    apart = Counter(singular(word.lower()) for word in chain.from_iterable(surfaces))
    places = Counter(run for surface in surfaces for run in _runs(surface, with_singular=True) if run in words)
    alone = {
        tuple(part.lower() for part in parts): words[parts]
        for parts, count in places.items()
        if all(apart[singular(part.lower())] == count for part in parts)
    }
    texts = texts.lower() if alone else ""
    spaced = Counter(run for words in _SPACED.findall(texts) for run in _runs(words.split(" ")) if run in alone)
    return {word.lower(): word for parts, word in alone.items() if counts[word] >= spaced[parts]}


def as_one_word(phrase: str, words: Mapping[str, str]) -> str:
    """Returns a phrase in which each of these words has no capitals inside, so that it is read as one."""
    return _PARTS_TOGETHER.sub(lambda match: _joined(_PART.findall(match[0]), words), phrase) if words else phrase


def _joined(parts: Sequence[str], words: Mapping[str, str]) -> str:
    found, at = "", 0
    while at < len(parts):
        sizes = range(min(_PARTS_LIMIT, len(parts) - at), 1, -1)
        size = next((size for size in sizes if _is_one("".join(parts[at : at + size]).lower(), words)), 1)
        found += "".join(parts[at : at + size]).capitalize()
        at += size
    return found


def _is_one(word: str, words: Mapping[str, str]) -> bool:
    return word in words or singular(word) in words


def _runs(parts: Sequence[str], with_singular: bool = False) -> Iterator[tuple[str, ...]]:
    """Yields each few parts that follow one another, where asked also with the last one in the singular."""
    for start in range(len(parts) - 1):
        for end in range(start + 2, min(start + _PARTS_LIMIT, len(parts)) + 1):
            run = tuple(parts[start:end])
            yield run
            last = singular(run[-1].lower()).capitalize()
            if with_singular and run[-1] == run[-1].capitalize() != last:
                yield (*run[:-1], last)


def _texts(tool: Tool) -> Iterable[str]:
    return (text for text in (tool.title, tool.summary, (tool.description or "")[:_TEXT_LIMIT]) if text)
