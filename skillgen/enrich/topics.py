"""What many tools are about.

What the tools of a service are about, in single words: those of its groups' titles, of its paths and of its names.

A large service has more groups than a description has room for. The words that most of its tools share say in little
room what it is for, and in the words in which a user would ask.

The areas of a large service: what most of its tools are about, each with the things that it deals with.

A service with more groups than a description has room for is told by what is above them: its declared tags where these
are few, else the parts with which its paths begin.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, islice, pairwise

from skillgen.enrich.groups import REST, shared_prefix
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
    words_of,
)

SHARE = 0.5
"""A word of the paths that stands in more of the groups tells nothing apart."""

COMPOUND_SHARE = 0.9
"""A word that stands beside others in this many of its places says too little alone."""

PAIR_SHARE = 0.15
"""Another word must stand beside it in this many of its places, to be shown with it."""

OWN_SHARE = 0.25
"""Of its places a word must have this many within a group, to be what that group is about before others."""

_GENERIC = word_set(
    """
    action alpha api app base beta child common count data default detail entity field function general get global
    group id info information item json list method misc miscellaneous name number object operation other per ref
    resource rest root service status type value version web
    """
)
"""Words that are about everything, and so about nothing."""

_VERSION = re.compile(r"v?\d[\w.]*", re.IGNORECASE)


@dataclass(slots=True)
class _Words:
    """The words of the phrases that tools have: titles, parts of paths, names."""

    of_phrase: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """A phrase to its words, in the singular and in lower case."""

    places: Counter[str] = field(default_factory=Counter)
    """How often a word stands somewhere."""

    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How often it stands before another."""

    alone: Counter[str] = field(default_factory=Counter)
    """How often it is all that stands there."""

    spelt: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    """How it is spelt there."""

    written: Mapping[str, str] = field(default_factory=dict)
    """A word to how it is written, where that is with capitals inside: `wordpress` to `WordPress`."""

    compounds: dict[str, tuple[str, str]] = field(default_factory=dict)
    """A word that hardly ever stands alone, to it with the one that stands beside it most often."""

    def add(self, phrase: str, count: int) -> None:
        """Takes in a phrase that stands in so many places."""
        found = []
        for place, part in enumerate(re.split(r"[^\w\s&'-]+", join_compounds(phrase, self.written))):
            surfaces = _surfaces(part, may_begin_with_verb=place == 0)
            keys = [singular(surface.lower()) for surface in surfaces]
            for key, surface in zip(keys, surfaces, strict=True):
                self.places[key] += count
                self.spelt[key][surface] += count
            if len(keys) == 1:
                self.alone[keys[0]] += count
            for pair in pairwise(keys):
                self.pairs[pair] += count
            found += keys
        self.of_phrase[phrase] = tuple(found)

    def settle(self) -> None:
        """Finds the words that hardly ever stand without another beside them, and that other one."""
        for pair, count in self.pairs.items():
            for word in pair:
                best = self.compounds.get(word)
                is_whole = self.alone[word] <= (1 - COMPOUND_SHARE) * self.places[word]
                if (
                    is_whole
                    and count >= PAIR_SHARE * self.places[word]
                    and (best is None or (-count, pair) < (-self.pairs[best], best))
                ):
                    self.compounds[word] = pair

    def spelling(self, word: str) -> str:
        """Gives a word as it is spelt most, in lower case but for abbreviations."""
        if word in self.written:
            return self.written[word]
        surfaces = self.spelt[word]
        surface = max(surfaces, key=lambda item: (surfaces[item], item))
        return surface if surface[1:].lower() != surface[1:] else surface.lower()

    def first(self, word: str) -> str:
        """Gives a word as it stands before the one that it belongs to, in the singular: `credit notes`."""
        surface = self.spelling(word)
        return surface if surface.lower() == word or surface.lower() != surface else word


class Subjects:
    """What the tools of a service and of each of its groups are about."""

    def __init__(self, service: Service, titles: Mapping[str, str]) -> None:
        """Counts the words; `titles` has that of the declared group of each tool that is in one, by the tool's name."""
        spoken = readable_names(service.tools)
        named = [tool for tool in service.tools if not tool.path]
        names = chain((tool.name for tool in named), set(titles.values()))
        self._words = _Words(written=compound_words(named, names) if named else {})
        self._of_groups: dict[str | None, Counter[str]] = defaultdict(Counter)
        self._sizes = Counter(tool.group for tool in service.tools)
        phrases = [_phrases(tool, spoken[tool.name], titles.get(tool.name)) for tool in service.tools]
        for phrase, count in Counter(chain.from_iterable(phrases)).items():
            self._words.add(phrase, count)
        self._words.settle()
        words = self._words.of_phrase
        self._of_titles: dict[str | None, Counter[str]] = defaultdict(Counter)
        for tool, found in zip(service.tools, phrases, strict=True):
            unique = set(chain.from_iterable(words[phrase] for phrase in found))
            self._of_groups[tool.group].update(unique)
            self._of_titles[titles.get(tool.name)].update(unique)
        self._everywhere = Counter[str]()
        for counts in self._of_titles.values():
            self._everywhere.update(counts)
        of_titles = {word for title in set(titles.values()) for word in words.get(title, ())}
        self._common = _common(self._of_groups.values())
        own = {singular(word.lower()) for word in WORD.findall(service.title or service.name)}
        own -= {word for title in titles.values() for word in words.get(title, ()) if len(words[title]) == 1}
        self._said_by_all = (_common(self._of_titles.values()) - of_titles) | own

    def of_service(self) -> Iterator[str]:
        """Gives the words of most tools first, without those that say nothing or stand but once."""
        counts: Counter[str] = Counter()
        for found in self._of_groups.values():
            counts.update(found)
        return self._named({word: count for word, count in counts.items() if count > 1}, self._said_by_all)

    def of_group(self, group: Group) -> Iterator[str]:
        """Gives what tells the tools of a group apart, beside the words of its title."""
        size, counts = self._sizes[group.name], self._of_groups[group.name]
        title = {singular(word.lower()) for word in WORD.findall(group.title)}
        found = {word: count for word, count in counts.items() if count < size or size == 1}
        return self._named(found, self._common | title)

    def of_title(self, title: str) -> Iterator[str]:
        """Gives what the tools of a declared group are about, however it was divided, beside the words of its title.

        What mostly stands elsewhere, as the owners of things do in paths, comes last.
        """
        without = self._said_by_all | {singular(word.lower()) for word in WORD.findall(title)}
        counts = {word: count for word, count in self._of_titles[title].items() if count > 1}
        own = {word: count for word, count in counts.items() if count >= OWN_SHARE * self._everywhere[word]}
        yield from self._named(own, without)
        yield from self._named({word: count for word, count in counts.items() if word not in own}, without)

    def _named(self, counts: Mapping[str, int], without: Container[str]) -> Iterator[str]:
        said: set[str] = set()
        for word in sorted(counts, key=lambda word: (-counts[word], word)):
            if word in said or word in without or word in _GENERIC:
                continue
            compound: tuple[str, ...] = self._words.compounds.get(word) or (word,)
            said.update(compound)
            yield " ".join([*(self._words.first(part) for part in compound[:-1]), self._words.spelling(compound[-1])])


def _common(groups: Collection[Iterable[str]]) -> frozenset[str]:
    """Gives the words that stand in so many groups that they tell none apart."""
    limit = SHARE * len(groups)
    spread = Counter(word for words in groups for word in words)
    return frozenset(word for word, count in spread.items() if count > limit > 2)


def _phrases(tool: Tool, name: str, title: str | None) -> list[str]:
    parts = [part for part in path_segments(tool.path or "") if "(" not in part and not _VERSION.fullmatch(part)]
    return [*([title] if title else []), *(parts or [_with_verb_first(name)])]


def _with_verb_first(name: str) -> str:
    """Gives a name with its verb first, so that it is none of its nouns: `hosting_installPlugin` is about hosting and
    about plugins, which do not stand side by side."""
    verb = verb_of(name)
    before, found, after = next(
        (
            (name[: word.start()], word[0], name[word.end() :])
            for word in WORD.finditer(name)
            if word[0].lower() == verb
        ),
        ("", "", name),
    )
    return ", ".join(filter(None, (found, before.strip("_-. "), after))) if before else name


def _surfaces(text: str, *, may_begin_with_verb: bool) -> list[str]:
    """Gives the words of a text that say something, without the verb with which it may begin and those joined to it."""
    found = [
        word
        for before, word in pairwise(["", *WORD.findall(text)])
        if len(word) > 1
        and word.lower() not in STOP_WORDS
        and not (before.lower() in CONJUNCTIONS and is_verb(word.lower()))
    ]
    return found[1:] if may_begin_with_verb and found and is_verb(found[0].lower()) else found


FEW_TITLES = 60
"""Declared groups up to which they are areas themselves."""

MOST = 0.5
"""An area with more of the tools than this tells little, as do areas that have fewer together."""

LEAST_AREAS = 3

SHOWN = 11
"""Areas that have a line each."""

WORDS_SHOWN = 10

LINE_LIMIT = 110
"""Characters of a line."""

OTHER_LINES = 2
"""Lines that name the other areas, and twice as many where no area has more to say."""


@dataclass(frozen=True, slots=True)
class _Area:
    """Tools that are about one thing."""

    label: str
    words: tuple[str, ...]
    """What it deals with, the most frequent first."""

    size: int
    """How many tools it has."""


def area_lines(service: Service, titles: Mapping[str, str], subjects: Subjects) -> list[str]:
    """Gives a line for each of the largest areas, `users: events, mail folders`, and more that name the others.

    `titles` has the title of the group of each tool, by its name. Empty where there are too few areas to tell by.
    """
    areas = _of_titles(service.tools, titles, subjects)
    if not _tell_much(areas, len(service.tools)):
        areas = max(areas, _of_paths(service.tools), key=_told_by)
    if len(areas) < LEAST_AREAS:
        return []
    areas = sorted(_without_alike(areas), key=lambda area: -area.size)
    told = [area for area in areas if area.words][:SHOWN]
    others = [area.label for area in areas if area not in told]
    lines = [f"{area.label}: {_enumerated(area.words, LINE_LIMIT - len(area.label))}" for area in told]
    for _ in range(OTHER_LINES if told else 2 * OTHER_LINES):
        if others:
            line = _enumerated(others, LINE_LIMIT)
            lines.append(line)
            others = others[len(line.split(", ")) :]
    return lines


def _tell_much(areas: Sequence[_Area], count: int) -> bool:
    """Tells whether groups are few, have most of the tools between them, and none has most alone."""
    is_few = LEAST_AREAS <= len(areas) <= FEW_TITLES
    return is_few and areas[0].size <= MOST * count <= _told_by(areas)


def _told_by(areas: Sequence[_Area]) -> int:
    """Gives how many tools the areas have that are shown with a line each."""
    return sum(area.size for area in areas[:SHOWN]) if len(areas) >= LEAST_AREAS else 0


def _of_titles(tools: Sequence[Tool], titles: Mapping[str, str], subjects: Subjects) -> list[_Area]:
    """Gives the groups as areas, the largest first."""
    sizes = Counter(titles[tool.name] for tool in tools if tool.name in titles)
    return [
        _Area(title, tuple(islice(subjects.of_title(title), WORDS_SHOWN)), size)
        for title, size in sorted(sizes.items(), key=lambda item: (-item[1], item[0]))
        if title.lower() != REST
    ]


def _of_paths(tools: Sequence[Tool]) -> list[_Area]:
    """Gives what the paths begin with, after what all share, as areas; empty where there are no paths."""
    parts = [path_segments(tool.path or "") for tool in tools]
    if not all(parts):
        return []
    shared = shared_prefix(parts)
    sizes: Counter[str] = Counter()
    things: dict[str, Counter[str]] = defaultdict(Counter)
    for found in parts:
        own = [_spoken(part) for part in found[shared:] if "(" not in part]
        if own and own[0]:
            sizes[own[0]] += 1
            things[own[0]].update(filter(None, own[1:2]))
    return [
        _Area(label, tuple(_told_apart(label, things[label])), size)
        for label, size in sorted(sizes.items(), key=lambda item: (-item[1], item[0]))
    ]


@lru_cache(1 << 12)
def _spoken(part: str) -> str:
    """Gives a part of a path in words: `mailFolders` is "mail folders"; empty for what is no name of a thing."""
    return " ".join(words_of(part)) if part[:1].isalpha() and "." not in part else ""


def _told_apart(label: str, things: Counter[str]) -> Iterator[str]:
    """Gives the most frequent things first, each in one number and one of those that have its words."""
    seen = {_key(label)}
    for thing in sorted(things, key=lambda thing: (-things[thing], thing)):
        if _key(thing) not in seen and things[thing] > 1:
            seen.add(_key(thing))
            yield thing


def _key(words: str) -> str:
    return " ".join(map(singular, words.split()))


def _without_alike(areas: Iterable[_Area]) -> Iterator[_Area]:
    """Puts areas together that deal with the same things: what is there for `users` and for `me`."""
    same: dict[tuple[str, ...], list[_Area]] = {}
    for area in areas:
        same.setdefault(area.words or (area.label,), []).append(area)
    for words, found in same.items():
        label = ", ".join(area.label for area in found)
        yield _Area(label, words if found[0].words else (), sum(area.size for area in found))


def _enumerated(words: Iterable[str], limit: int) -> str:
    """Gives as many words as have room."""
    line = ""
    for word in words:
        found = f"{line}, {word}" if line else word
        if len(found) > limit and line:
            break
        line = found
    return line
