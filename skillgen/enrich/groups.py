"""Group tools; divide large groups.

Divides a group that is too large into parts with names that tell what is in them.

By the parts of the paths or the nouns of the names where these tell tools apart, else by what the tools do, else by
the alphabet.

Groups of tools: those that the source declares, else those that paths and names suggest.

No group has a single tool where another can take it, none more than a page of an index holds, and no two differ in
case only. What is drawn from names, and what becomes of a declared group that is too small or too large, is marked as
inferred. Which groups there are and what they are called does not depend on the order in which the tools come.
"""

from __future__ import annotations

import heapq
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby

from skillgen.model.resource import Group
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.values import Origin
from skillgen.text.words import (
    WORD,
    nouns_of,
    path_segments,
    plural,
    readable_names,
    singular,
    verb_of,
    without_method_prefix,
    words_of,
)

LIMIT = 100
"""Tools that a group may have: with a line for each, a page of an index holds them."""

OWN_PART = 12
"""Tools from which on what shares a word is a part of its own."""

SMALL_PART = 40
"""Up to how many tools smaller ones are put together, in the order of the alphabet."""

DEPTH_LIMIT = 12

Part = tuple[str, tuple[Tool, ...]]
"""A label, and the tools."""


def divided(tools: Sequence[Tool]) -> list[Part]:
    """Returns parts of at most `LIMIT` tools, each with a label, which several may have."""
    return _without_single_parts(list(_by_words(tuple(tools), 0)))


def _without_single_parts(parts: list[Part]) -> list[Part]:
    """Puts each part of one tool to the smallest other one."""
    found = [part for part in parts if len(part[1]) > 1]
    for label, members in (part for part in parts if len(part[1]) == 1):
        if not found:
            return parts
        smallest = min(range(len(found)), key=lambda place: len(found[place][1]))
        found[smallest] = (f"{found[smallest][0]}, {label}", (*found[smallest][1], *members))
    return found


def _by_words(tools: tuple[Tool, ...], depth: int) -> Iterator[Part]:
    spoken = readable_names(tools)
    words = {tool.name: _words(tool, spoken[tool.name]) for tool in tools}
    shared = shared_prefix(list(words.values()))
    buckets = _buckets(tools, lambda tool: next(iter(words[tool.name][shared : shared + 1]), ""))
    if len(buckets) == 1 or depth == DEPTH_LIMIT:
        yield from _by_action(tools)
        return
    for key, members in _packed(buckets):
        if len(members) <= LIMIT:
            yield key, members
        elif key:
            yield from ((f"{key} {label}", part) for label, part in _by_words(members, depth + 1))
        else:
            yield from _by_action(members)


def _by_action(tools: tuple[Tool, ...]) -> Iterator[Part]:
    """Divides what no noun tells apart: by verb, and what is still too large by the alphabet."""
    for key, members in _packed(_buckets(tools, _action)):
        by_name = sorted(members, key=lambda tool: tool.name)
        for start in range(0, len(by_name), LIMIT):
            portion = tuple(by_name[start : start + LIMIT])
            whole = len(members) <= LIMIT and key
            yield (key if whole else f"{portion[0].name} to {portion[-1].name}"), portion


def _action(tool: Tool) -> str:
    """Gives the word that says what a tool does."""
    return verb_of(without_method_prefix(tool.name, tool.method)) or (tool.method or "").lower()


def _words(tool: Tool, name: str) -> tuple[str, ...]:
    """Gives the words by which a tool of this name is put away, the most general first."""
    return path_segments(tool.path or "") or nouns_of(name) or words_of(name)


def shared_prefix(words: Sequence[tuple[str, ...]]) -> int:
    """Gives with how many words all begin."""
    shared = 0
    while all(len(found) > shared for found in words) and len({found[shared] for found in words}) == 1:
        shared += 1
    return shared


def _buckets(tools: Sequence[Tool], key: Callable[[Tool], str]) -> dict[str, tuple[Tool, ...]]:
    return {word: tuple(members) for word, members in groupby(sorted(tools, key=key), key)}


def _packed(buckets: dict[str, tuple[Tool, ...]]) -> Iterator[Part]:
    """Gives large buckets as they are, and fills parts with the small ones."""
    small = {key: tools for key, tools in buckets.items() if len(tools) < OWN_PART}
    yield from ((key, tools) for key, tools in buckets.items() if key not in small)
    keys: list[str] = []
    members: list[Tool] = []
    left = sum(map(len, small.values()))
    for key, tools in small.items():
        if members and len(members) + len(tools) > SMALL_PART and left > 1:
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


REST = "other"
"""The group of tools that have nothing in common with others; it comes last."""

NAMED_TOOLS = 6
"""Fewer tools than this are not grouped by their names."""

MEAN_SIZE = 3
"""Groups by names must be this large on average: a page for each two tools helps nobody."""

_SINGLE = "groups of one tool"

_SPELLING = "groups whose names differ in case only"

_BY_PATH = Origin("inferred", "paths")

COMPOUND_SHARE = 0.95
"""Two nouns that stand together in this many of the names are one."""

_MAKING = frozenset({"add", "create", "delete", "new", "remove"})
"""Verbs whose object is one of several."""

_AFTER_ONE = "and|as|at|by|for|from|in|into|of|on|or|that|to|using|which|with"
"""Words that follow the name of a thing, which so is no half of another: `a page of`, not `a page size`."""

COMMON_SHARE = 0.7
"""A word that more of the names have tells nothing apart."""

_TEXT_WORD = re.compile(r"\w+")

_Spellings = defaultdict[str, Counter[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cluster:
    """Tools that belong together, and the group that they are to have."""

    group: Group
    tools: tuple[Tool, ...]
    source: str | None = None
    """What the membership was inferred from; `None` where it is declared."""


def grouped(service: Service) -> Service:
    """Gives the service with every tool in a group, as far as there is more than one."""
    clusters = _without_alike([*_declared(service), *_inferred(service)])
    if not clusters:
        return service
    clusters = _without_single(clusters, keeps_declared=service.kind == "mcp")
    names_nothing = clusters[0].group.name == REST or clusters[0].source == _SINGLE
    if len(clusters) == 1 and names_nothing and clusters[0].source is not None and len(service.tools) <= LIMIT:
        return replace(service, groups=(), tools=tuple(replace(tool, group=None) for tool in service.tools))
    return _with_clusters(service, clusters)


def with_small_groups(service: Service) -> Service:
    """Gives the service with each group divided that is too large for a page of an index."""
    clusters = _declared(service)
    if all(len(cluster.tools) <= LIMIT for cluster in clusters):
        return service
    named = {cluster.group.name for cluster in clusters}
    return _with_clusters(
        service,
        [part for cluster in clusters for part in _parts(cluster, named, 2 * len(cluster.tools) > len(service.tools))],
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


def _inferred(service: Service) -> list[_Cluster]:
    """Groups the tools for which no group is declared."""
    loose = [tool for tool in service.tools if tool.group is None]
    if not loose:
        return []
    is_rest = len(loose) < len(service.tools)
    names = _noun_names(loose)
    if all(tool.path for tool in loose):
        paths = _path_names(loose)
        return _clusters(names, loose, "name") if _tells_more(names, paths) else _clusters(paths, loose, "path")
    is_worth_it = len(loose) >= NAMED_TOOLS and len(loose) >= MEAN_SIZE * len(set(names.values()))
    if is_rest or len(loose) > LIMIT or (is_worth_it and 2 * list(names.values()).count(REST) <= len(loose)):
        return _clusters(names if is_worth_it or len(loose) > LIMIT else dict.fromkeys(names, REST), loose, "name")
    return []


def _tells_more(names: Mapping[str, str], paths: Mapping[str, str]) -> bool:
    """Tells whether names put tools in groups where paths leave nearly every tool on its own, or all in one."""
    left = [list(found.values()).count(REST) for found in (names, paths)]
    sizes = [len(found) / len(set(found.values())) for found in (names, paths)]
    is_poor = 2 * left[1] > len(paths) or sizes[1] < MEAN_SIZE
    return len(names) >= NAMED_TOOLS and is_poor and 2 * left[0] <= len(names) and sizes[0] >= MEAN_SIZE


def _clusters(names: Mapping[str, str], tools: Sequence[Tool], source: str) -> list[_Cluster]:
    by_name: dict[str, list[Tool]] = {}
    for tool in tools:
        by_name.setdefault(names[tool.name], []).append(tool)
    origins = {"name": Origin("inferred", f"{source}s")}
    return [
        _Cluster(
            group=Group(name=name, title=_title(name, source, by_name[name]), origins=origins),
            tools=tuple(by_name[name]),
            source=source,
        )
        for name in sorted(by_name, key=REST.__eq__)
    ]


def _title(name: str, source: str, tools: Sequence[Tool]) -> str:
    """Gives a noun as a heading, in the plural where there can be several; a part of a path as it is."""
    if source == "path" and name != REST:
        return name
    noun = name.rpartition(" ")[2]
    spellings = _spellings(tools)
    found = plural(name) if name != REST and _can_be_several(noun, tools, spellings) else name
    found = " ".join(_spelt(word, spellings) for word in found.split(" "))
    return found[:1].upper() + found[1:]


def _can_be_several(noun: str, tools: Sequence[Tool], spellings: _Spellings) -> bool:
    """Tells whether names have a noun in the plural, make or remove one of them, or do something to one at a time."""
    words = [words_of(said) for said in readable_names(tools).values()]
    if any(plural(noun) in found for found in words):
        return True
    if _as_written(noun, spellings) != noun:
        return False
    made = any(found[-1:] == (noun,) and not _MAKING.isdisjoint(found[:-1]) for found in words)
    if made:
        return True
    one = re.compile(
        rf"\b(?:an?|each|every)\s(?:[\w-]+\s){{0,2}}{re.escape(noun)}\b(?=\W*$|[.,;:)]|\s(?:{_AFTER_ONE})\b)", re.I
    )
    return sum(bool(one.search(tool.summary or (tool.description or "")[:300])) for tool in tools) > 1


def _spelt(word: str, spellings: _Spellings) -> str:
    """Gives a word of a title as it is written, several of what is abbreviated too: `URLs`."""
    found = _as_written(word, spellings)
    one = _as_written(singular(word), spellings) if found == word != singular(word) else word
    return f"{one}s" if one.isupper() else found


def _spellings(tools: Iterable[Tool]) -> _Spellings:
    """Returns how often the descriptions and names of tools spell each word in which way, by the word in lower case."""
    found: _Spellings = defaultdict(Counter)
    for tool in tools:
        text = tool.summary or (tool.description or "")[:300]
        for word in chain(_TEXT_WORD.findall(text), _capitals(tool.name)):
            found[word.lower()][word] += 1
    return found


def _as_written(word: str, spellings: _Spellings) -> str:
    """Returns a word as the descriptions spell it where they use capitals inside it: `CI`, `GitLab`."""
    found = spellings.get(word.lower(), Counter())
    most = max(found, key=lambda spelt: (found[spelt], spelt), default=word)
    return most if most[1:].lower() != most[1:] else word


def _capitals(name: str) -> list[str]:
    """Returns the words in capitals of a name that also has others."""
    return [] if name.isupper() else [word for word in WORD.findall(name) if word.isupper()]


def _path_names(tools: Sequence[Tool]) -> dict[str, str]:
    """Gives each tool the first part of its path after those that all paths share."""
    parts = {tool.name: [part for part in (tool.path or "").split("/") if part] for tool in tools}
    shared = 0
    while all(len(found) > shared + 1 and "{" not in found[shared] for found in parts.values()):
        if len({found[shared] for found in parts.values()}) > 1:
            break
        shared += 1
    names = {name: next(iter(path_segments("/".join(found[shared:]))), "") for name, found in parts.items()}
    counts = Counter(names.values())
    return {name: found if found and counts[found] > 1 else REST for name, found in names.items()}


def _noun_names(tools: Sequence[Tool]) -> dict[str, str]:
    """Gives each tool the noun of its name that most others share, from the most frequent on.

    Of those that are equally frequent the one comes first that stands further ahead in the names.
    """
    nouns = {name: nouns_of(said) for name, said in readable_names(tools).items()}
    counts = Counter(noun for found in nouns.values() for noun in found)
    common = {noun for noun, count in counts.items() if count > COMMON_SHARE * len(tools)}
    left = {name: tuple(noun for noun in found if noun not in common) for name, found in nouns.items()}
    counts, places = Counter[str](), Counter[str]()
    having: dict[str, list[str]] = {}
    for name, words in left.items():
        for place, noun in enumerate(words):
            counts[noun] += 1
            places[noun] += place
            having.setdefault(noun, []).append(name)
    # An entry of the queue that is no longer true is passed over: a count is queued again when it changes.
    queue = [(-count, places[noun], noun) for noun, count in counts.items()]
    heapq.heapify(queue)
    found: dict[str, str] = {}
    while queue:
        count, place_sum, noun = heapq.heappop(queue)
        if (-count, place_sum) != (counts[noun], places[noun]):
            continue
        if counts[noun] < 2:
            break
        members = [name for name in having[noun] if name in left]
        title = _phrase_of(noun, [left[name] for name in members])
        changed: set[str] = set()
        for name in members:
            found[name] = title
            for place, word in enumerate(left.pop(name)):
                counts[word] -= 1
                places[word] -= place
                changed.add(word)
        for word in changed:
            heapq.heappush(queue, (-counts[word], places[word], word))
    return {tool.name: found.get(tool.name, REST) for tool in tools}


def _phrase_of(noun: str, members: Sequence[tuple[str, ...]]) -> str:
    """Gives the noun with the one that follows or leads it in nearly every name: `pull request`."""
    for step, phrase in ((1, "{noun} {beside}"), (-1, "{beside} {noun}")):
        places = [(words, words.index(noun) + step) for words in members]
        found = Counter(words[place] for words, place in places if 0 <= place < len(words))
        beside, count = max(found.items(), key=lambda item: (item[1], item[0]), default=("", 0))
        if count >= COMPOUND_SHARE * len(members):
            return phrase.format(noun=noun, beside=beside)
    return noun


def _without_alike(clusters: list[_Cluster]) -> list[_Cluster]:
    """Puts groups together whose names differ in case only, and one that was inferred to the declared one so called.

    A declared one keeps its name before others, then one that is described, then the larger.
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
    return [_as_one(found) for cluster in clusters if (found := same.get(cluster.group.name)) and cluster is found[0]]


def _precedence(cluster: _Cluster) -> tuple[bool, bool, int, str]:
    return cluster.source is not None, cluster.group.description is None, -len(cluster.tools), cluster.group.name


def _as_one(clusters: Sequence[_Cluster]) -> _Cluster:
    """Puts the tools of all into the first group, and says of those that another was declared for why."""
    first, *others = clusters
    moved = (
        replace(
            tool,
            group=first.group.name,
            origins={**(tool.origins or {}), "group": Origin("inferred", cluster.source or _SPELLING)},
        )
        for cluster in others
        for tool in cluster.tools
    )
    return replace(first, tools=(*first.tools, *moved))


def _without_single(clusters: list[_Cluster], *, keeps_declared: bool) -> list[_Cluster]:
    """Joins groups of one tool; one that is alone goes with the smallest other group.

    The categories of an MCP server stay as declared (S0-12). The tags of an API are joined, but never all of them.
    """
    kept = [cluster for cluster in clusters if keeps_declared and cluster.source is None]
    loose = [cluster for cluster in clusters if not (keeps_declared and cluster.source is None)]
    single = [cluster for cluster in loose if _is_single(cluster)]
    if all(len(cluster.tools) > 1 for cluster in single) or len(clusters) == 1:
        return clusters
    others = [cluster for cluster in loose if not _is_single(cluster)]
    if sum(len(cluster.tools) for cluster in single) == 1:
        if not others:
            return clusters
        smallest = min(others, key=lambda cluster: (len(cluster.tools), cluster.group.name))
        others.remove(smallest)
        single = [smallest, *single]
    if not others and any(cluster.source is None and len(cluster.tools) > 1 for cluster in single):
        return clusters
    return [*kept, *others, _joined(single)]


def _is_single(cluster: _Cluster) -> bool:
    return len(cluster.tools) == 1 or cluster.group.name == REST


def _joined(clusters: Sequence[_Cluster]) -> _Cluster:
    """Makes one group of several; its title names them as long as they are few."""
    titles = sorted(
        (cluster.group.title for cluster in clusters if cluster.group.name != REST),
        key=lambda title: (title.casefold(), title),
    )
    name = ", ".join(titles) if 0 < len(titles) <= 3 and len(titles) == len(clusters) else REST
    title = name if name != REST else "Other"
    origin = Origin("inferred", _SINGLE)
    description = ", ".join(titles) if titles and name == REST else None
    return _Cluster(
        group=Group(name=name, title=title, description=description, origins={"name": origin, "description": origin}),
        tools=tuple(tool for cluster in clusters for tool in cluster.tools),
        source=_SINGLE,
    )


def _parts(cluster: _Cluster, named: Container[str], is_most: bool) -> Iterable[_Cluster]:
    """Divides a group that is too large; `named` are the names of all groups.

    The parts are named after it too, unless it is the only one, or has most tools and was named by the start of their
    paths.
    """
    if len(cluster.tools) <= LIMIT:
        yield cluster
        return
    source = f"size of the group {cluster.group.name}"
    parts = divided(cluster.tools)
    labels = [label.removeprefix(f"{cluster.group.name} ") or label for label, _ in parts]
    is_path = (cluster.group.origins or {}).get("name") == _BY_PATH
    says_nothing = cluster.group.name == REST or named == {cluster.group.name} or (is_path and is_most)
    is_alone = says_nothing and not any(label in named for label in labels)
    spellings = _spellings(cluster.tools)
    for label, (_, tools) in zip(labels, parts, strict=True):
        shown = label if is_path else " ".join(_as_written(word, spellings) for word in label.split(" "))
        yield _Cluster(
            group=replace(
                cluster.group,
                name=label if is_alone else f"{cluster.group.name}: {label}",
                title=shown if is_alone else f"{cluster.group.title}: {shown}",
                origins={"name": Origin("inferred", source)},
            ),
            tools=tools,
            source=source,
        )


def _named_apart(clusters: Sequence[_Cluster]) -> Iterator[_Cluster]:
    """Yields the clusters with a number in each inferred name that another group has, in whatever case."""
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
        tool.name: tool
        if cluster.source is None
        else replace(
            tool,
            group=cluster.group.name,
            origins={**(tool.origins or {}), "group": Origin("inferred", cluster.source)},
        )
        for cluster in clusters
        for tool in cluster.tools
    }
    return replace(
        service,
        groups=tuple(cluster.group for cluster in clusters),
        tools=tuple(members[tool.name] for tool in service.tools),
    )
