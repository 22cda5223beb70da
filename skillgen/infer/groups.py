"""Groups the tools of a service: declared groups first, then groups inferred from paths and names.

Groups of one tool are merged, groups too large for a page of an index are split, and no two names differ in case only.
Everything that was not declared is marked as inferred. The result does not depend on the order of the tools.
"""

from __future__ import annotations

import heapq
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby

from msgspec import Struct
from msgspec.structs import replace

from skillgen.model.resource import Group
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.values import Origin
from skillgen.text.words import (
    WORD,
    is_verb,
    nouns_of,
    path_segments,
    plural,
    readable_names,
    singular,
    verb_of,
    without_request,
    words_of,
)

LIMIT = 100
"""Maximum number of tools in a group: with a line for each, they fit on one page of an index."""

REST = "other"
"""The group of tools that have nothing in common with others; it comes last."""

_MIN_PART = 12
"""Minimum number of tools that share a word for a part of their own: fewer would make a page of a dozen lines."""

_MAX_PACKED_PART = 40
"""Maximum number of tools of a part that is packed from smaller ones, in alphabetical order: its label, such as
`billing to emojis`, says less than a word does, so it needs to be found at a glance.
"""

_DEPTH_LIMIT = 12
"""Words of a path by which its tools are split, and parts of a dotted name: hostile ones have thousands."""

_MIN_MEAN_SIZE = 3
"""Minimum mean size of groups by names: a page for every two tools helps nobody. Of 220 public descriptions, 2 are
grouped otherwise with 1 or 2, and 6 with 4.
"""

_COMPOUND_SHARE = 0.95
"""Share of the names with a noun in which it needs the same neighbour to be shown as a compound with it: all but a
misspelt one. With half of them, 12 of 220 public descriptions get compounds that many members do not have.
"""

_COMMON_SHARE = 0.7
"""A noun in more than this share of the names is ignored, since it does not distinguish tools. With half, 5 of 220
public descriptions are grouped otherwise, with 0.9 one.
"""

_SUMMARY_LENGTH = 300
"""Characters of a description that are read in place of a missing summary."""

_SINGLE = "groups of one tool"

_SPELLING = "groups whose names differ in case only"

_BY_PATH = Origin("inferred", "paths")

_COUNTABLE_VERBS = frozenset({"add", "create", "delete", "new", "remove"})
"""Verbs with an object that is one of several."""

_AFTER_NOUN = "and|as|at|by|for|from|in|into|of|on|or|that|to|using|which|with"
"""Words that follow a complete noun: `a page of` names a page, `a page size` does not."""

_TEXT_WORD = re.compile(r"\w+")

_SHARED_START = re.compile(r"[A-Za-z]+(?:\d+(?=[A-Z])|[._:/-] ?(?=[A-Za-z]))")
"""A first word that ends with a number or a separator."""

_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[._/:-]+[A-Za-z0-9]+)*")
"""A name that nobody wrote as a title."""

_EXTENSION = re.compile(r"\A[xX]-(?=[A-Za-z])")
"""The start of a name that is no standard one: `x-internal`."""

_SEPARATORS = re.compile(r"[._/:-]+")
_PATH_GAP = re.compile(r"(?<=[^\W_])[_-](?=[^\W_])")
"""The place between two words of a segment of a path: `outside_collaborators`."""

_HUMP = re.compile(r"(?<=[A-Za-z][a-z])(?=[A-Z])|(?<=\d)(?=[A-Z][a-z])|(?<=[A-Z][A-Z])(?=[A-Z][a-z]{2})")
"""The place between two words of a name in mixed case; not in `OAuth` or `iOS`."""

_MIN_TITLES = 3
"""Minimum of groups whose titles lose the word that all begin with."""

_Part = tuple[str, tuple[Tool, ...]]
"""A label, and the tools."""

_Spellings = defaultdict[str, Counter[str]]


def _split(tools: Sequence[Tool]) -> list[_Part]:
    """Returns parts of at most `LIMIT` tools, each with a label; labels may repeat.

    Tools are split by the parts of their paths or the nouns of their names, then by verb, then alphabetically.
    """
    return _without_single_parts(list(_split_by_words(tuple(tools), 0)))


def _without_single_parts(parts: list[_Part]) -> list[_Part]:
    """Merges each part of one tool into the smallest other part."""
    merged = [part for part in parts if len(part[1]) > 1]
    for label, members in (part for part in parts if len(part[1]) == 1):
        if not merged:
            return parts
        smallest = min(range(len(merged)), key=lambda index: len(merged[index][1]))
        merged[smallest] = (f"{merged[smallest][0]}, {label}", (*merged[smallest][1], *members))
    return merged


def _split_by_words(tools: tuple[Tool, ...], depth: int) -> Iterator[_Part]:
    spoken = readable_names(tools)
    words = {tool.name: _words(tool, spoken[tool.name]) for tool in tools}
    shared = shared_prefix(list(words.values()))
    buckets = _buckets(tools, lambda tool: next(iter(words[tool.name][shared : shared + 1]), ""))
    if len(buckets) == 1 or depth == _DEPTH_LIMIT:
        yield from _split_by_verb(tools)
        return
    for key, members in _packed(buckets):
        label = _PATH_GAP.sub(" ", key)
        if len(members) <= LIMIT:
            yield label, members
        elif key:
            yield from ((f"{label} {rest}", part) for rest, part in _split_by_words(members, depth + 1))
        else:
            yield from _split_by_verb(members)


def _split_by_verb(tools: tuple[Tool, ...]) -> Iterator[_Part]:
    """Splits tools that share their nouns: by verb, and parts that are still too large alphabetically."""
    for key, members in _packed(_buckets(tools, _verb_or_method)):
        by_name = sorted(members, key=lambda tool: tool.name)
        for start in range(0, len(by_name), LIMIT):
            portion = tuple(by_name[start : start + LIMIT])
            has_label = len(members) <= LIMIT and key
            yield (key if has_label else f"{portion[0].name} to {portion[-1].name}"), portion


def _verb_or_method(tool: Tool) -> str:
    """Returns the verb of a tool's name, else its HTTP method."""
    return verb_of(without_request(tool.name, tool.method, tool.path)) or (tool.method or "").lower()


def _words(tool: Tool, name: str) -> tuple[str, ...]:
    """Returns the words by which a tool is sorted, the most general first."""
    return path_segments(tool.path or "") or nouns_of(name) or words_of(name)


def shared_prefix(words: Sequence[tuple[str, ...]]) -> int:
    """Returns the number of words with which all of them begin."""
    shared = 0
    while all(len(item) > shared for item in words) and len({item[shared] for item in words}) == 1:
        shared += 1
    return shared


def _buckets(tools: Sequence[Tool], key: Callable[[Tool], str]) -> dict[str, tuple[Tool, ...]]:
    return {word: tuple(members) for word, members in groupby(sorted(tools, key=key), key)}


def _packed(buckets: dict[str, tuple[Tool, ...]]) -> Iterator[_Part]:
    """Yields large buckets unchanged, and parts that are filled with the small ones."""
    small = {key: tools for key, tools in buckets.items() if len(tools) < _MIN_PART}
    yield from ((key, tools) for key, tools in buckets.items() if key not in small)
    keys: list[str] = []
    members: list[Tool] = []
    left = sum(map(len, small.values()))
    for key, tools in small.items():
        if members and len(members) + len(tools) > _MAX_PACKED_PART and left > 1:
            yield _range(keys), tuple(members)
            keys, members = [], []
        keys.append(key)
        members += tools
        left -= len(tools)
    if members:
        yield _range(keys), tuple(members)


def _range(keys: Sequence[str]) -> str:
    named = [key for key in keys if key] or ["other"]
    return named[0] if len(named) == 1 else f"{named[0]} to {named[-1]}"


class _Cluster(Struct, frozen=True, kw_only=True):
    """Tools, and the group that they will have."""

    group: Group
    tools: tuple[Tool, ...]
    source: str | None = None
    """What the membership was inferred from; `None` if it is declared."""


def group_tools(service: Service) -> Service:
    """Returns the service with every tool in a group, or without groups if there would be only one."""
    clusters = _without_alike([*_labelled(_declared(service)), *_inferred(service)])
    if not clusters:
        return service
    clusters = _without_single(clusters, keeps_declared=service.kind == "mcp")
    is_unnamed = clusters[0].group.name == REST or clusters[0].source == _SINGLE
    if len(clusters) == 1 and is_unnamed and clusters[0].source is not None and len(service.tools) <= LIMIT:
        return replace(service, groups=(), tools=tuple(replace(tool, group=None) for tool in service.tools))
    return _with_clusters(service, clusters)


def split_large_groups(service: Service) -> Service:
    """Returns the service with groups of at most `LIMIT` tools."""
    clusters = _declared(service)
    if all(len(cluster.tools) <= LIMIT for cluster in clusters):
        return service
    names = {cluster.group.name for cluster in clusters}
    return _with_clusters(
        service,
        [part for cluster in clusters for part in _parts(cluster, names, 2 * len(cluster.tools) > len(service.tools))],
    )


def _declared(service: Service) -> list[_Cluster]:
    by_name: dict[str, list[Tool]] = {}
    for tool in service.tools:
        if tool.group is not None:
            by_name.setdefault(tool.group, []).append(tool)
    known = {group.name: group for group in service.groups}
    names = [*(name for name in known if name in by_name), *(name for name in by_name if name not in known)]
    return [
        _Cluster(group=known.get(name) or Group(name=name, title=name), tools=tuple(by_name[name])) for name in names
    ]


def _labelled(clusters: Sequence[_Cluster]) -> list[_Cluster]:
    """Returns declared groups with headings for their names."""
    groups = _without_shared_end(_without_shared_start([cluster.group for cluster in clusters]))
    titles = _labels({group.title: cluster.tools for group, cluster in zip(groups, clusters, strict=True)})
    return [
        replace(cluster, group=replace(group, title=titles[group.title]))
        for group, cluster in zip(groups, clusters, strict=True)
    ]


def _without_shared_end(groups: Sequence[Group]) -> Sequence[Group]:
    """Returns groups without the word with which all their titles end: `Users API`."""
    ends = {group.title.rpartition(" ")[2] for group in groups}
    if len(groups) < _MIN_TITLES or len(ends) != 1 or not all(" " in group.title for group in groups):
        return groups
    return [replace(group, title=group.title.rpartition(" ")[0]) for group in groups]


def _without_shared_start(groups: Sequence[Group]) -> Sequence[Group]:
    """Returns groups without the word with which all their titles begin: `Api20100401Message` is about messages."""
    starts = {match[0] for group in groups if (match := _SHARED_START.match(group.title))}
    if len(groups) < _MIN_TITLES or len(starts) != 1:
        return groups
    (start,) = starts
    if any(not group.title.startswith(start) or len(group.title) < len(start) + 2 for group in groups):
        return groups
    return [replace(group, title=group.title.removeprefix(start)) for group in groups]


def _inferred(service: Service) -> list[_Cluster]:
    """Groups the tools without a declared group."""
    tools = [tool for tool in service.tools if tool.group is None]
    if not tools:
        return []
    some_are_declared = len(tools) < len(service.tools)
    names = _noun_names(tools)
    if all(tool.path for tool in tools):
        paths = _path_names(tools)
        return _clusters(names, tools, "name") if _prefers_names(names, paths) else _clusters(paths, tools, "path")
    is_useful = len(tools) >= _MIN_MEAN_SIZE * len(set(names.values()))
    if some_are_declared or len(tools) > LIMIT or (is_useful and 2 * list(names.values()).count(REST) <= len(tools)):
        return _clusters(names if is_useful or len(tools) > LIMIT else dict.fromkeys(names, REST), tools, "name")
    return []


def _prefers_names(names: Mapping[str, str], paths: Mapping[str, str]) -> bool:
    """True if names group most tools, and paths leave most of them alone or make small groups."""
    rests = [list(groups.values()).count(REST) for groups in (names, paths)]
    sizes = [len(groups) / len(set(groups.values())) for groups in (names, paths)]
    is_poor = 2 * rests[1] > len(paths) or sizes[1] < _MIN_MEAN_SIZE
    return is_poor and 2 * rests[0] <= len(names) and sizes[0] >= _MIN_MEAN_SIZE


def _clusters(names: Mapping[str, str], tools: Sequence[Tool], source: str) -> list[_Cluster]:
    by_name: dict[str, list[Tool]] = {}
    for tool in tools:
        by_name.setdefault(names[tool.name], []).append(tool)
    origins = {"name": Origin("inferred", f"{source}s")}
    titles = _labels(by_name) if source == "path" else {name: _title(name, by_name[name]) for name in by_name}
    return [
        _Cluster(group=Group(name=name, title=titles[name], origins=origins), tools=tuple(by_name[name]), source=source)
        for name in sorted(by_name, key=REST.__eq__)
    ]


def _title(noun: str, tools: Sequence[Tool]) -> str:
    """Returns a noun as a heading, in the plural if it is countable."""
    spellings = _spellings(tools)
    is_countable = noun != REST and _is_countable(noun.rpartition(" ")[2], tools, spellings)
    title = " ".join(_spelled(word, spellings) for word in (plural(noun) if is_countable else noun).split(" "))
    return title[:1].upper() + title[1:]


def _labels(tools_of: Mapping[str, Sequence[Tool]]) -> dict[str, str]:
    """Returns each name of a group as a heading; the name of a larger area is before a colon."""
    is_mixed = sum(bool(_HUMP.search(name)) for name in tools_of) >= _MIN_TITLES
    known = _words_said(tools_of) if is_mixed else frozenset[str]()
    all_spellings = _spellings(tool for tools in tools_of.values() for tool in tools)
    abbreviations = {word for word in all_spellings if _with_capitals(word, all_spellings).isupper()}
    labels = {}
    for name, tools in tools_of.items():
        area = _area(name, tools_of)
        label = _label(name.removeprefix(f"{area}."), tools, known, abbreviations)
        start = f"{_label(area, tools_of[area], known, abbreviations)}: " if area else ""
        labels[name] = start + (_uncapitalised(label) if area else label)
    alike = Counter(map(str.casefold, labels.values()))
    return {name: label if alike[label.casefold()] == 1 else name for name, label in labels.items()}


def _words_said(tools_of: Mapping[str, Sequence[Tool]]) -> frozenset[str]:
    """Returns the words, in the singular, of several names in mixed case and of the texts."""
    in_names = Counter(word for name in tools_of for word in set(map(singular, words_of(name))))
    texts = (_summary(tool).lower() for tools in tools_of.values() for tool in tools)
    in_texts = {singular(word) for text in texts for word in _TEXT_WORD.findall(text)}
    return frozenset(in_texts.union(word for word, count in in_names.items() if count > 1))


def _area(name: str, names: Container[str]) -> str:
    """Returns the longest other name that this one continues after a dot; empty without one."""
    area = name
    for _ in range(_DEPTH_LIMIT):
        area = area.rpartition(".")[0]
        if not area or area in names:
            return area
    return ""


def _label(name: str, tools: Sequence[Tool], known: Container[str], abbreviations: Container[str]) -> str:
    """Returns an identifier as a heading: `credit_notes` is "Credit notes", and `Message` "Messages" if it is one of
    several.

    What people wrote as a title keeps its words. A name such as `GitHub` is one word if texts have it and its last part
    is no known word; `PhoneNumber` has two. An abbreviation of any text of the service is one.
    """
    name = _EXTENSION.sub("", name)
    if name == REST or not _IDENTIFIER.fullmatch(name):
        return name[:1].upper() + name[1:] if name.islower() else name
    spellings = _spellings(tools)
    words: list[str] = []
    for part in (next(same) for _, same in groupby(_SEPARATORS.split(name), singular)):
        parts = _HUMP.sub(" ", part).split(" ")
        words += [part] if part in spellings[part.lower()] and singular(parts[-1].lower()) not in known else parts
    words = [word if word.isupper() and word[1:] else word.lower() for word in words if word]
    if singular(words[-1]) == words[-1] and not words[-1].isupper() and _is_one_of_several(words, tools, spellings):
        words[-1] = plural(words[-1])
    words = [word.upper() if word in abbreviations else word for word in words]
    label = " ".join(word if word.isupper() else _spelled(word, spellings) for word in words)
    label = _as_written(label, tools) if len(words) > 1 else label
    return label[:1].upper() + label[1:]


def _is_one_of_several(noun: Sequence[str], tools: Sequence[Tool], spellings: _Spellings) -> bool:
    """True if tools list and change what has this name, or texts have it in the plural."""
    names = [words_of(text) for text in readable_names(tools).values()]
    length = len(noun)
    verbs = {name[0] for name in names if name[-length:] == tuple(noun) and (length > 1 or len(name) == 2)}
    many = plural(noun[-1])
    if "list" in verbs and len(verbs) > 1 and _with_capitals(noun[-1], spellings) == noun[-1]:
        return True
    return any(many in name for name in names) or (many in spellings and _is_countable(noun[-1], tools, spellings))


def _as_written(label: str, tools: Iterable[Tool]) -> str:
    """Returns several words with capitals if most sentences write them so: `Apple Pay`."""
    pattern = re.compile(rf"(?<=[a-z] ){re.escape(label)}(?!\w)", re.IGNORECASE)
    counts = Counter(text for tool in tools for text in pattern.findall(_summary(tool)))
    return max(counts, key=lambda text: (counts[text], text), default=label)


def _uncapitalised(label: str) -> str:
    """Returns a heading without its capital, for the place after other words."""
    return label[:1].lower() + label[1:] if label[1:].islower() else label


_MIN_NAMED = 5
"""Times that texts write a word with a capital, and never without, from which it is a name."""


def _is_countable(noun: str, tools: Sequence[Tool], spellings: _Spellings) -> bool:
    """True if names have a noun in the plural or after a verb such as "create", or a summary has "a" before it."""
    words = [words_of(name) for name in readable_names(tools).values()]
    if any(plural(noun) in name for name in words):
        return True
    counts = spellings.get(noun, Counter())
    is_name = counts[noun.title()] >= _MIN_NAMED and not counts[noun] and not any(tool.path for tool in tools)
    if is_name or _with_capitals(noun, spellings) != noun:
        return False
    if any(name[-1:] == (noun,) and not _COUNTABLE_VERBS.isdisjoint(name[:-1]) for name in words):
        return True
    one = re.compile(
        rf"\b(?:an?|each|every)\s(?:(?!of\s)[\w-]+\s){{0,2}}{re.escape(noun)}\b(?=\W*$|[.,;:)]|\s(?:{_AFTER_NOUN})\b)",
        re.I,
    )
    return any(one.search(_summary(tool)) for tool in tools)


def _spelled(word: str, spellings: _Spellings) -> str:
    """Returns a word of a title in its usual spelling, also the plural of an abbreviation: `URLs`."""
    spelling = _with_capitals(word, spellings)
    one = _with_capitals(singular(word), spellings) if spelling == word != singular(word) else word
    return f"{one}s" if one.isupper() else spelling


def _spellings(tools: Iterable[Tool]) -> _Spellings:
    """Returns each word in lower case with the counts of its spellings in summaries and names."""
    spellings: _Spellings = defaultdict(Counter)
    for tool in tools:
        for word in chain(_TEXT_WORD.findall(_summary(tool)), _capitals(tool.name)):
            spellings[word.lower()][word] += 1
    return spellings


def _summary(tool: Tool) -> str:
    return tool.summary or (tool.description or "")[:_SUMMARY_LENGTH]


def _with_capitals(word: str, spellings: _Spellings) -> str:
    """Returns the usual spelling of a word if it has capitals inside, as `CI` and `GitLab`, else the word."""
    counts = spellings.get(word.lower(), Counter())
    usual = max(counts, key=lambda spelling: (counts[spelling], spelling), default=word)
    return usual if usual[1:].lower() != usual[1:] else word


def _capitals(name: str) -> list[str]:
    """Returns the upper-case words of a name in mixed case."""
    return [] if name.isupper() else [word for word in WORD.findall(name) if word.isupper()]


def _path_names(tools: Sequence[Tool]) -> dict[str, str]:
    """Returns tool name to group name: the first part of the path after the prefix that all paths share."""
    paths = {tool.name: [part for part in (tool.path or "").split("/") if part] for tool in tools}
    shared = 0
    while all(len(path) > shared + 1 and "{" not in path[shared] for path in paths.values()):
        if len({path[shared] for path in paths.values()}) > 1:
            break
        shared += 1
    names = {name: next(iter(path_segments("/".join(path[shared:]))), "") for name, path in paths.items()}
    names |= {tool.name: "" for tool in tools if tool.is_preflight}
    counts = Counter(names.values())
    return {name: group if group and counts[group] > 1 else REST for name, group in names.items()}


def _noun_names(tools: Sequence[Tool]) -> dict[str, str]:
    """Returns tool name to group name: the noun that most tools share, then that of most of the rest, and so on.

    Of equally frequent nouns, the one that is nearer to the start of the names comes first.
    """
    readable = readable_names(tools)
    nouns = {name: nouns_of(words) for name, words in readable.items()}
    counts = Counter(noun for words in nouns.values() for noun in words)
    common = {noun for noun, count in counts.items() if count > _COMMON_SHARE * len(tools)}
    pending = {name: tuple(noun for noun in words if noun not in common) for name, words in nouns.items()}
    counts, positions = Counter[str](), Counter[str]()
    names_with: dict[str, list[str]] = {}
    for name, words in pending.items():
        for position, noun in enumerate(words):
            counts[noun] += 1
            positions[noun] += position
            names_with.setdefault(noun, []).append(name)
    # Entries of the queue that are out of date are skipped: a noun is queued again when its count changes.
    queue = [(-count, positions[noun], noun) for noun, count in counts.items()]
    heapq.heapify(queue)
    groups: dict[str, str] = {}
    while queue:
        count, position_sum, noun = heapq.heappop(queue)
        if (-count, position_sum) != (counts[noun], positions[noun]):
            continue
        if counts[noun] < 2:
            break
        members = [name for name in names_with[noun] if name in pending]
        title = _compound(noun, [pending[name] for name in members])
        changed: set[str] = set()
        for name in members:
            groups[name] = title
            for position, word in enumerate(pending.pop(name)):
                counts[word] -= 1
                positions[word] -= position
                changed.add(word)
        for word in changed:
            heapq.heappush(queue, (-counts[word], positions[word], word))
    found = frozenset(groups.values())
    return {name: groups.get(name) or _group_of_end(words_of(words), found) for name, words in readable.items()}


def _group_of_end(words: Sequence[str], groups: Container[str]) -> str:
    """Returns the group of a name that ends with a verb that is a noun in others: `start_search` is about searches."""
    end = singular(words[-1]) if len(words) > 1 and is_verb(words[0]) else ""
    return end if end in groups else REST


def _compound(noun: str, names: Sequence[tuple[str, ...]]) -> str:
    """Returns the noun with the one that follows or precedes it in nearly every name, as in `pull request`."""
    for step in (1, -1):
        indexes = [(words, words.index(noun) + step) for words in names]
        neighbours = Counter(words[index] for words, index in indexes if 0 <= index < len(words))
        neighbour, count = max(neighbours.items(), key=lambda item: (item[1], item[0]), default=("", 0))
        if count >= _COMPOUND_SHARE * len(names):
            return f"{noun} {neighbour}" if step == 1 else f"{neighbour} {noun}"
    return noun


def _without_alike(clusters: list[_Cluster]) -> list[_Cluster]:
    """Merges groups with names that differ in case only, and inferred groups into those with the same title.

    The name of a declared group wins, then that of a group with a description, then that of the larger group.
    """
    names: dict[str, str] = {}
    titles: dict[str, str] = {}
    same: dict[str, list[_Cluster]] = {}
    for cluster in sorted(clusters, key=_precedence):
        name, title = cluster.group.name.casefold(), cluster.group.title.casefold()
        known = names.get(name)
        if known is None and cluster.source is not None:
            known = titles.get(name) or names.get(title) or titles.get(title)
        if known is None:
            known = names[name] = cluster.group.name
            titles.setdefault(title, known)
        same.setdefault(known, []).append(cluster)
    if len(same) == len(clusters):
        return clusters
    return [_merged(alike) for cluster in clusters if (alike := same.get(cluster.group.name)) and cluster is alike[0]]


def _precedence(cluster: _Cluster) -> tuple[bool, bool, int, str]:
    return cluster.source is not None, cluster.group.description is None, -len(cluster.tools), cluster.group.name


def _merged(clusters: Sequence[_Cluster]) -> _Cluster:
    """Returns the first group with the tools of all; the origin of moved tools says why."""
    first, *others = clusters
    moved = (_in_group(tool, first.group, cluster.source or _SPELLING) for cluster in others for tool in cluster.tools)
    return replace(first, tools=(*first.tools, *moved))


def _in_group(tool: Tool, group: Group, source: str) -> Tool:
    return replace(tool, group=group.name, origins={**(tool.origins or {}), "group": Origin("inferred", source)})


def _without_single(clusters: list[_Cluster], *, keeps_declared: bool) -> list[_Cluster]:
    """Merges groups of one tool with one another, or a single such group with the smallest other group.

    The categories of an MCP server are never merged (S0-12). The tags of an API are, but never all of them.
    """
    fixed = [cluster for cluster in clusters if keeps_declared and cluster.source is None]
    mergeable = [cluster for cluster in clusters if not (keeps_declared and cluster.source is None)]
    single = [cluster for cluster in mergeable if _is_single(cluster)]
    if all(len(cluster.tools) > 1 for cluster in single) or len(clusters) == 1:
        return clusters
    others = [cluster for cluster in mergeable if not _is_single(cluster)]
    if sum(len(cluster.tools) for cluster in single) == 1:
        if not others:
            return clusters
        smallest = min(others, key=lambda cluster: (len(cluster.tools), cluster.group.name))
        others.remove(smallest)
        single = [smallest, *single]
    if not others and any(cluster.source is None and len(cluster.tools) > 1 for cluster in single):
        return clusters
    return [*fixed, *others, _joined(single)]


def _is_single(cluster: _Cluster) -> bool:
    return len(cluster.tools) == 1 or cluster.group.name == REST


def _joined(clusters: Sequence[_Cluster]) -> _Cluster:
    """Returns one group for several; its title is theirs if they are at most three, else "Other"."""
    titles = sorted(
        (cluster.group.title for cluster in clusters if cluster.group.name != REST),
        key=lambda title: (title.casefold(), title),
    )
    titles[1:] = map(_uncapitalised, titles[1:])
    if len(clusters) == 2 and len(titles) == 1 and min(len(cluster.tools) for cluster in clusters) == 1:
        larger = max(clusters, key=lambda cluster: len(cluster.tools))
        titles += ["other"] * (larger.group.name != REST)
    name = ", ".join(titles) if 0 < len(titles) <= 3 and len(titles) == len(clusters) else REST
    title = name if name != REST else "Other"
    origin = Origin("inferred", _SINGLE)
    description = ", ".join(titles) if titles and name == REST else None
    return _Cluster(
        group=Group(name=name, title=title, description=description, origins={"name": origin, "description": origin}),
        tools=tuple(tool for cluster in clusters for tool in cluster.tools),
        source=_SINGLE,
    )


def _parts(cluster: _Cluster, names: Container[str], is_most: bool) -> Iterable[_Cluster]:
    """Splits a group that is too large; `names` are the names of all groups.

    The names of the parts begin with that of the group, unless it is the only group, or has most tools and was named
    after the start of their paths.
    """
    if len(cluster.tools) <= LIMIT:
        yield cluster
        return
    source = f"size of the group {cluster.group.name}"
    parts = _split(cluster.tools)
    labels = [label.removeprefix(f"{cluster.group.name} ") or label for label, _ in parts]
    is_path = (cluster.group.origins or {}).get("name") == _BY_PATH
    is_redundant = cluster.group.name == REST or names == {cluster.group.name} or (is_path and is_most)
    is_alone = is_redundant and not any(label in names for label in labels)
    spellings = _spellings(cluster.tools)
    for label, (_, tools) in zip(labels, parts, strict=True):
        title = label if is_path else " ".join(_with_capitals(word, spellings) for word in label.split(" "))
        yield _Cluster(
            group=replace(
                cluster.group,
                name=label if is_alone else f"{cluster.group.name}: {label}",
                title=title if is_alone else f"{cluster.group.title}: {title}",
                origins={"name": Origin("inferred", source)},
            ),
            tools=tools,
            source=source,
        )


def _named_apart(clusters: Sequence[_Cluster]) -> Iterator[_Cluster]:
    """Yields the clusters with a number after each inferred name that another group has, regardless of case."""
    taken = {cluster.group.name.casefold() for cluster in clusters if cluster.source is None}
    numbers = Counter[str]()
    for cluster in clusters:
        group, key = cluster.group, cluster.group.name.casefold()
        while cluster.source is not None and group.name.casefold() in taken:
            numbers[key] += 1
            end = f" ({numbers[key] + 1})"
            group = replace(group, name=cluster.group.name + end, title=cluster.group.title + end)
        taken.add(group.name.casefold())
        yield replace(cluster, group=group)


def _with_clusters(service: Service, clusters: Sequence[_Cluster]) -> Service:
    clusters = list(_named_apart(clusters))
    members = {
        tool.name: tool if cluster.source is None else _in_group(tool, cluster.group, cluster.source)
        for cluster in clusters
        for tool in cluster.tools
    }
    return replace(
        service,
        groups=tuple(cluster.group for cluster in clusters),
        tools=tuple(members[tool.name] for tool in service.tools),
    )
