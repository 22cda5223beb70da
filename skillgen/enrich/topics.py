"""Describes the groups of large services in keywords, from their titles, the paths and the names of their tools."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from itertools import chain, pairwise

from msgspec import Struct, field

from skillgen.model.resource import Group
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.text.words import (
    CONJUNCTIONS,
    STOP_WORDS,
    WORD,
    compound_words,
    is_verb,
    join_compounds,
    path_segments,
    readable_names,
    singular,
    verb_of,
    word_set,
)

_COMMON_SHARE = 0.5
"""Words in more than this share of the groups are ignored: a word of most groups does not distinguish them."""

_COMPOUND_SHARE = 0.9
"""A word with a neighbour in this share of its occurrences means too little alone and is shown with the most frequent
one. With 0.7, words that often occur alone are so in 7 of 220 public descriptions.
"""

_GENERIC = word_set(
    """
    action alpha api app base beta child common count data default detail entity field function general get global
    group id info information item json list method misc miscellaneous name number object operation other per ref
    resource rest root service status type value version web
    """
)
"""Words that fit any service and describe none."""

_VERSION = re.compile(r"v?\d[\w.]*", re.IGNORECASE)


class _Words(Struct):
    """Statistics of the words of phrases: titles, parts of paths, names."""

    of_phrase: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Phrase to its words, in the singular and in lower case."""

    counts: Counter[str] = field(default_factory=Counter)
    """Word to the number of its occurrences."""

    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Two adjacent words to the number of their occurrences."""

    alone: Counter[str] = field(default_factory=Counter)
    """Word to the number of occurrences as the only word of a part of a phrase."""

    spellings: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    """Word to the counts of its spellings."""

    fixed_spellings: Mapping[str, str] = field(default_factory=dict)
    """Word to its spelling with capitals inside: `wordpress` to `WordPress`."""

    compounds: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Word that is rarely alone to its most frequent pair."""

    def add(self, phrase: str, count: int) -> None:
        """Counts the words of a phrase that occurs `count` times."""
        words = []
        for index, part in enumerate(re.split(r"[^\w\s&'-]+", join_compounds(phrase, self.fixed_spellings))):
            surfaces = _surfaces(part, may_begin_with_verb=index == 0)
            keys = [singular(surface.lower()) for surface in surfaces]
            for key, surface in zip(keys, surfaces, strict=True):
                self.counts[key] += count
                self.spellings[key][surface] += count
            if len(keys) == 1:
                self.alone[keys[0]] += count
            for pair in pairwise(keys):
                self.pairs[pair] += count
            words += keys
        self.of_phrase[phrase] = tuple(words)

    def find_compounds(self) -> None:
        """Fills `compounds`, once all phrases are added."""
        for pair, count in self.pairs.items():
            for word in pair:
                best = self.compounds.get(word)
                is_rarely_alone = self.alone[word] <= (1 - _COMPOUND_SHARE) * self.counts[word]
                if is_rarely_alone and (best is None or (-count, pair) < (-self.pairs[best], best)):
                    self.compounds[word] = pair

    def spelling(self, word: str) -> str:
        """Returns the most frequent spelling of a word, in lower case unless it has capitals inside."""
        if word in self.fixed_spellings:
            return self.fixed_spellings[word]
        surfaces = self.spellings[word]
        surface = max(surfaces, key=lambda item: (surfaces[item], item))
        return surface if surface[1:].lower() != surface[1:] else surface.lower()

    def modifier(self, word: str) -> str:
        """Returns a word as the first one of a compound, in the singular: `credit notes`."""
        surface = self.spelling(word)
        return surface if surface.lower() == word or surface.lower() != surface else word


class Keywords:
    """Finds the keywords of each group, the most frequent first."""

    def __init__(self, service: Service, titles: Mapping[str, str]) -> None:
        """`titles` maps tool name to the title of its declared group, for the tools that have one."""
        spoken = readable_names(service.tools)
        named = [tool for tool in service.tools if not tool.path]
        names = chain((tool.name for tool in named), set(titles.values()))
        self._words = _Words(fixed_spellings=compound_words(named, names) if named else {})
        self._of_groups: dict[str | None, Counter[str]] = defaultdict(Counter)
        self._sizes = Counter(tool.group for tool in service.tools)
        phrases = [_phrases(tool, spoken[tool.name], titles.get(tool.name)) for tool in service.tools]
        for phrase, count in Counter(chain.from_iterable(phrases)).items():
            self._words.add(phrase, count)
        self._words.find_compounds()
        words = self._words.of_phrase
        for tool, phrases_of_tool in zip(service.tools, phrases, strict=True):
            unique = set(chain.from_iterable(words[phrase] for phrase in phrases_of_tool))
            self._of_groups[tool.group].update(unique)
        self._common = _common(self._of_groups.values())

    def of_group(self, group: Group) -> Iterator[str]:
        """Yields the words that distinguish the tools of a group, without those of its title."""
        size, counts = self._sizes[group.name], self._of_groups[group.name]
        title = {singular(word.lower()) for word in WORD.findall(group.title)}
        distinct = {word: count for word, count in counts.items() if count < size or size == 1}
        return self._ranked(distinct, self._common | title)

    def _ranked(self, counts: Mapping[str, int], ignored: Container[str]) -> Iterator[str]:
        seen: set[str] = set()
        for word in sorted(counts, key=lambda word: (-counts[word], word)):
            if word in seen or word in ignored or word in _GENERIC:
                continue
            compound: tuple[str, ...] = self._words.compounds.get(word) or (word,)
            seen.update(compound)
            modifiers = (self._words.modifier(part) for part in compound[:-1])
            yield " ".join([*modifiers, self._words.spelling(compound[-1])])


def _common(groups: Collection[Iterable[str]]) -> frozenset[str]:
    """Returns the words in so many groups that they do not distinguish them."""
    limit = _COMMON_SHARE * len(groups)
    counts = Counter(word for words in groups for word in words)
    return frozenset(word for word, count in counts.items() if count > limit > 2)


def _phrases(tool: Tool, name: str, title: str | None) -> list[str]:
    parts = [part for part in path_segments(tool.path or "") if "(" not in part and not _VERSION.fullmatch(part)]
    return [*([title] if title else []), *(parts or [_with_verb_first(name)])]


def _with_verb_first(name: str) -> str:
    """Returns a name with its verb first and a comma for the gap.

    `hosting_installPlugin` is about hosting and about plugins, but `hosting plugin` is not a compound.
    """
    verb = verb_of(name)
    before, matched_verb, after = next(
        (
            (name[: word.start()], word[0], name[word.end() :])
            for word in WORD.finditer(name)
            if word[0].lower() == verb
        ),
        ("", "", name),
    )
    return ", ".join(filter(None, (matched_verb, before.strip("_-. "), after))) if before else name


def _surfaces(text: str, *, may_begin_with_verb: bool) -> list[str]:
    """Returns the meaningful words of a text, without a leading verb and verbs that are joined to it."""
    words = [
        word
        for before, word in pairwise(["", *WORD.findall(text)])
        if len(word) > 1
        and word.lower() not in STOP_WORDS
        and not (before.lower() in CONJUNCTIONS and is_verb(word.lower()))
    ]
    return words[1:] if may_begin_with_verb and words and is_verb(words[0].lower()) else words
