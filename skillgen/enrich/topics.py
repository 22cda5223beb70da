"""Describes large services in keywords, from the titles of their groups, their paths and the names of their tools.

A large service has more groups than a description has room for. `Keywords` finds the words that most of its tools
share; `area_lines` describes its areas: its declared tags if they are few, else the first parts of its paths.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, islice, pairwise

from msgspec import Struct, field

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

_COMMON_SHARE = 0.5
"""Words in more than this share of the groups are ignored: a word of most groups does not distinguish them."""

_COMPOUND_SHARE = 0.9
"""A word with a neighbour in this share of its occurrences means too little alone and is shown with the most frequent
one. With 0.7, words that often occur alone are so in 7 of 220 public descriptions.
"""

_TOPIC_SHARE = 0.25
"""Minimum share of a word's occurrences for it to describe the group: a path names its owners, `/repos/{repo}/issues`,
so words of other groups come last. It changes the lines of 5 of 220 public descriptions.
"""

_MAX_AREA_SHARE = 0.5
"""Groups are areas if none has more than this share of the tools and those with a line have at least this share: else
the lines describe one area, or the smaller half of the service.
"""

_MIN_AREAS = 3
"""With fewer areas, keywords say more."""

_MAX_AREA_LINES = 11
"""Areas with a line each: with the line of the others, a dozen (`inference._MAX_PHRASES`)."""

_MAX_TOPICS = 10
"""Topics of an area: more do not fit into its line."""

_LINE_LIMIT = 110
"""Characters of a line."""

_OTHER_LINES = 2
"""Lines that name the other areas; twice as many if no area has a line of its own."""

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
    """Finds the keywords of a service and of each of its groups, the most frequent first."""

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
        self._of_titles: dict[str | None, Counter[str]] = defaultdict(Counter)
        for tool, phrases_of_tool in zip(service.tools, phrases, strict=True):
            unique = set(chain.from_iterable(words[phrase] for phrase in phrases_of_tool))
            self._of_groups[tool.group].update(unique)
            self._of_titles[titles.get(tool.name)].update(unique)
        self._everywhere = Counter[str]()
        for counts in self._of_titles.values():
            self._everywhere.update(counts)
        of_titles = {word for title in set(titles.values()) for word in words.get(title, ())}
        self._common = _common(self._of_groups.values())
        name = {singular(word.lower()) for word in WORD.findall(service.title or service.name)}
        name -= {word for title in titles.values() for word in words.get(title, ()) if len(words[title]) == 1}
        self._ignored = (_common(self._of_titles.values()) - of_titles) | name

    def of_service(self) -> Iterator[str]:
        """Yields the keywords of the service that occur more than once."""
        counts: Counter[str] = Counter()
        for group_counts in self._of_groups.values():
            counts.update(group_counts)
        return self._ranked({word: count for word, count in counts.items() if count > 1}, self._ignored)

    def of_group(self, group: Group) -> Iterator[str]:
        """Yields the words that distinguish the tools of a group, without those of its title."""
        size, counts = self._sizes[group.name], self._of_groups[group.name]
        title = {singular(word.lower()) for word in WORD.findall(group.title)}
        distinct = {word: count for word, count in counts.items() if count < size or size == 1}
        return self._ranked(distinct, self._common | title)

    def of_title(self, title: str) -> Iterator[str]:
        """Yields the keywords of a declared group, also of one that was split, without those of its title.

        Words that occur mostly in other groups, such as the owners of things in paths, come last.
        """
        ignored = self._ignored | {singular(word.lower()) for word in WORD.findall(title)}
        counts = {word: count for word, count in self._of_titles[title].items() if count > 1}
        topics = {word: count for word, count in counts.items() if count >= _TOPIC_SHARE * self._everywhere[word]}
        yield from self._ranked(topics, ignored)
        yield from self._ranked({word: count for word, count in counts.items() if word not in topics}, ignored)

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


class _Area(Struct, frozen=True):
    """Tools with a common label."""

    label: str
    topics: tuple[str, ...]
    """The most frequent first."""

    size: int
    """The number of its tools."""


def area_lines(service: Service, titles: Mapping[str, str], keywords: Keywords) -> list[str]:
    """Returns a line such as `users: events, mail folders` for each of the largest areas, then lines with the others.

    `titles` maps tool name to the title of its group. The list is empty if there are too few areas.
    """
    areas = _areas_from_titles(service.tools, titles, keywords)
    if not _are_descriptive(areas, len(service.tools)):
        areas = max(areas, _areas_from_paths(service.tools), key=_shown_size)
    if len(areas) < _MIN_AREAS:
        return []
    areas = sorted(_without_alike(areas), key=lambda area: -area.size)
    shown = [area for area in areas if area.topics][:_MAX_AREA_LINES]
    others = [area.label for area in areas if area not in shown]
    lines = [f"{area.label}: {_joined(area.topics, _LINE_LIMIT - len(area.label))}" for area in shown]
    for _ in range(_OTHER_LINES if shown else 2 * _OTHER_LINES):
        if others:
            line = _joined(others, _LINE_LIMIT)
            lines.append(line)
            others = others[len(line.split(", ")) :]
    return lines


def _are_descriptive(areas: Sequence[_Area], tool_count: int) -> bool:
    """True if those with a line have most of the tools together, and none has most alone."""
    return len(areas) >= _MIN_AREAS and areas[0].size <= _MAX_AREA_SHARE * tool_count <= _shown_size(areas)


def _shown_size(areas: Sequence[_Area]) -> int:
    """Returns the number of tools in the areas that get a line each."""
    return sum(area.size for area in areas[:_MAX_AREA_LINES]) if len(areas) >= _MIN_AREAS else 0


def _areas_from_titles(tools: Sequence[Tool], titles: Mapping[str, str], keywords: Keywords) -> list[_Area]:
    """Returns the groups as areas, the largest first."""
    sizes = Counter(titles[tool.name] for tool in tools if tool.name in titles)
    return [
        _Area(title, tuple(islice(keywords.of_title(title), _MAX_TOPICS)), size)
        for title, size in sorted(sizes.items(), key=lambda item: (-item[1], item[0]))
        if title.lower() != REST
    ]


def _areas_from_paths(tools: Sequence[Tool]) -> list[_Area]:
    """Returns the first parts of the paths after their shared prefix as areas; empty without paths."""
    parts = [path_segments(tool.path or "") for tool in tools]
    if not all(parts):
        return []
    shared = shared_prefix(parts)
    sizes: Counter[str] = Counter()
    things: dict[str, Counter[str]] = defaultdict(Counter)
    for segments in parts:
        phrases = [_phrase_from_segment(segment) for segment in segments[shared:] if "(" not in segment]
        if phrases and phrases[0]:
            sizes[phrases[0]] += 1
            things[phrases[0]].update(filter(None, phrases[1:2]))
    return [
        _Area(label, tuple(_distinct(label, things[label])), size)
        for label, size in sorted(sizes.items(), key=lambda item: (-item[1], item[0]))
    ]


@lru_cache(1 << 12)
def _phrase_from_segment(segment: str) -> str:
    """Returns the words of a part of a path, "mail folders" for `mailFolders`; empty if it is not a name."""
    return " ".join(words_of(segment)) if segment[:1].isalpha() and "." not in segment else ""


def _distinct(label: str, things: Counter[str]) -> Iterator[str]:
    """Yields the things that occur more than once, the most frequent first, without plurals of earlier ones."""
    seen = {_key(label)}
    for thing in sorted(things, key=lambda thing: (-things[thing], thing)):
        if _key(thing) not in seen and things[thing] > 1:
            seen.add(_key(thing))
            yield thing


def _key(words: str) -> str:
    return " ".join(map(singular, words.split()))


def _without_alike(areas: Iterable[_Area]) -> Iterator[_Area]:
    """Merges areas with the same topics, such as `users` and `me` of one API."""
    same: dict[tuple[str, ...], list[_Area]] = {}
    for area in areas:
        same.setdefault(area.topics or (area.label,), []).append(area)
    for topics, alike in same.items():
        label = ", ".join(area.label for area in alike)
        yield _Area(label, topics if alike[0].topics else (), sum(area.size for area in alike))


def _joined(phrases: Iterable[str], limit: int) -> str:
    """Returns as many phrases as fit into `limit` characters, but at least one."""
    line = ""
    for phrase in phrases:
        extended = f"{line}, {phrase}" if line else phrase
        if len(extended) > limit and line:
            break
        line = extended
    return line
