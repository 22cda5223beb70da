"""Groups the tools of a service: as declared, else by paths or names, else not at all.

Few tools need no groups. Inferred ones must help: not one for every two tools, none with most of them, and few tools
left over.
The result does not depend on the order of the tools.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from msgspec.structs import replace

from skillgen.infer.effects import is_verb, words_without_prefix
from skillgen.model.resource import Group
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.values import Origin
from skillgen.text import lazy_re as re
from skillgen.text.words import STOP_WORDS, path_segments, plural, singular, words_of

LIMIT = 100
"""Maximum number of tools in a group that can be divided."""

REST = "other"
"""The group of the tools that have nothing in common with others; it comes last."""

_FEW = 40
"""Tools that need no groups."""

_PARTS_SHARE = 0.8
"""Share of the names that have a first part in common with others."""

_MIN_SHARED = 3
"""Tools that have a first part in common, and mean size of a group that helps."""

_DEPTH_LIMIT = 12
"""Words of a name or a path by which a group is divided."""

_SINGLE, _SPELLING = "groups of one tool", "groups whose names differ in case only"

_VERSION = re.compile(r"v?\d(?:[.\d_-]*\d)?(?:(?:alpha|beta|p)\d*)?\Z", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")

_TEXT_LIMIT = 300
"""Characters of the texts of a tool in which nouns are searched."""


def group_tools(service: Service) -> Service:
    """Returns the service with its declared groups; paths or names suggest those of other tools, if they help."""
    others = [tool for tool in service.tools if tool.group is None]
    if sum(not tool.is_preflight for tool in others) > _FEW:
        source, names = next((item for item in _suggestions(others) if _helps(item[1])), ("", {}))
        spellings, origins = _spellings(service.tools), {"name": Origin("inferred", f"{source}s")}
        groups = (
            Group(name=name, title=_title(name, spellings), origins=origins) for name in sorted({*names.values()})
        )
        tools = tuple(_in_group(tool, names.get(tool.name), source) for tool in service.tools)
        service = replace(service, groups=(*service.groups, *groups), tools=tools)
    return _merged(service) if any(tool.group for tool in service.tools) else replace(service, groups=())


def split_large_groups(service: Service) -> Service:
    """Returns the service with each group of more than `LIMIT` tools divided by the next word of its tools."""
    members: dict[str, list[Tool]] = defaultdict(list)
    for tool in service.tools:
        members[tool.group or ""].append(tool)
    taken = {group.name.casefold() for group in service.groups}
    names: dict[str, str] = {}
    groups: list[Group] = []
    for group in service.groups:
        parts = _parts(members[group.name]) if len(members[group.name]) > LIMIT else {}
        words = sorted(set(parts.values()), key=lambda word: (word == REST, word))
        if not words or not taken.isdisjoint(f"{group.name}: {word}".casefold() for word in words):
            groups.append(group)
            continue
        names |= {tool: f"{group.name}: {word}" for tool, word in parts.items()}
        origins = {"name": Origin("inferred", f"size of the group {group.name}")}
        groups += [
            replace(group, name=f"{group.name}: {word}", title=f"{group.title}: {word}", origins=origins)
            for word in words
        ]
    tools = (_in_group(tool, names.get(tool.name), f"size of the group {tool.group}") for tool in service.tools)
    return replace(service, groups=tuple(groups), tools=tuple(tools))


def _merged(service: Service) -> Service:
    """Returns the service with one group for the tools without a group, or with a tag that no other has.

    Groups whose names differ in case only are one. The categories of an MCP server are never merged (S0-12).
    """
    known: dict[str, Group] = {}
    for group in service.groups:
        key = group.name.casefold()
        # Of several spellings the first in order, however they arrive.
        known[key] = min(known.get(key, group), group, key=lambda group: group.name)
    for tool in service.tools:
        if tool.group is not None:
            known.setdefault(tool.group.casefold(), Group(name=tool.group, title=tool.group))
    sizes = Counter(tool.group.casefold() for tool in service.tools if tool.group is not None)
    least = 1 if service.kind == "mcp" or max(sizes.values()) == 1 else 2
    rest = known.pop(REST, None) or Group(name=REST, title="Other", origins={"name": Origin("inferred", _SINGLE)})
    kept = {key: group for key, group in known.items() if sizes[key] >= least} | {REST: rest}
    tools = []
    for tool in service.tools:
        key = (tool.group or REST).casefold()
        group = kept.get(key, rest)
        if group.name != tool.group:
            tool = _in_group(tool, group.name, _SPELLING if tool.group and key in kept else _SINGLE)
        tools.append(tool)
    used = {tool.group for tool in tools}
    return replace(service, groups=tuple(group for group in kept.values() if group.name in used), tools=tuple(tools))


def _suggestions(tools: Sequence[Tool]) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yields what groups may be inferred from, with the group of each tool, the best first."""
    if all(tool.path for tool in tools):
        yield "path", _first_segments(tools)
    else:
        yield "name", _first_parts(tools)
    yield "name", _nouns(tools)


def _helps(names: Mapping[str, str]) -> bool:
    counts = Counter(names.values())
    rest = counts.pop(REST, 0)
    most = max(counts.values(), default=0)
    return 0 < len(counts) * _MIN_SHARED <= len(names) >= 2 * most and 3 * rest <= len(names)


def _shared(groups: Mapping[str, str], least: int = 2) -> dict[str, str]:
    """Returns the group of each tool, in one of its spellings; those of too few tools, and none, are the rest.

    A word and its plural are one group.
    """
    words = {group: group.casefold() for group in sorted(groups.values())}
    many = {plural(word): word for word in words.values() if word}
    words |= {group: many[word] for group, word in words.items() if word in many}
    counts = Counter(words[group] for group in groups.values())
    kept = {word: group for group, word in words.items() if group and counts[word] >= least}
    return {name: kept.get(words[group], REST) for name, group in groups.items()}


def _first_segments(tools: Sequence[Tool]) -> dict[str, str]:
    """Returns the first segment of each path that is neither a version, nor a parameter, nor common to all."""
    paths = {tool.name: _segments(tool) for tool in tools}
    start = _common(paths.values())
    return _shared({name: next(iter(path[start : start + 1]), "") for name, path in paths.items()})


def _segments(tool: Tool) -> tuple[str, ...]:
    return tuple(part for part in path_segments(tool.path or "") if not _VERSION.match(part))[:_DEPTH_LIMIT]


def _common(words: Iterable[Sequence[str]]) -> int:
    """Returns the number of words with which all of them begin."""
    columns = zip(*words, strict=False)
    return next((index for index, column in enumerate(columns) if len(set(column)) > 1), 0)


def _first_parts(tools: Sequence[Tool]) -> dict[str, str]:
    """Returns the first part of each name, if most names have one in common with at least two others.

    A part is a verb, and none of them, unless a name that begins with it ends with a verb: `monitor_metrics_query`.
    """
    names = words_without_prefix(tools)
    nouns = {words[0] for words in names.values() if len(words) > 1 and is_verb(words[-1])}
    firsts = {name: next(iter(words), "") for name, words in names.items()}
    parts = {name: first if first in nouns or not is_verb(first) else "" for name, first in firsts.items()}
    shared = _shared(parts, _MIN_SHARED)
    count = sum(part != REST for part in shared.values())
    return shared if count >= _PARTS_SHARE * len(tools) else dict.fromkeys(shared, REST)


def _nouns(tools: Sequence[Tool]) -> dict[str, str]:
    """Returns the noun of each name that most names share, of those that occur in the texts."""
    names = {
        name: {singular(word) for word in words if len(word) > 1 and not is_verb(word) and word not in STOP_WORDS}
        for name, words in words_without_prefix(tools).items()
    }
    counts, spellings = Counter(chain.from_iterable(names.values())), _spellings(tools)
    useful = {
        noun
        for noun, count in counts.items()
        if 2 * count <= len(tools) and (noun in spellings or plural(noun) in spellings)
    }
    return _shared(
        {name: max(nouns & useful, key=lambda noun: (counts[noun], noun), default="") for name, nouns in names.items()}
    )


def _spellings(tools: Iterable[Tool]) -> dict[str, Counter[str]]:
    """Returns the words of the texts of tools in lower case, each with its spellings and their counts."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for tool in tools:
        for word in _WORD.findall(f"{tool.summary or ''} {(tool.description or '')[:_TEXT_LIMIT]}"[:_TEXT_LIMIT]):
            found[word.lower()][word] += 1
    return found


def _title(name: str, spellings: Mapping[str, Counter[str]]) -> str:
    """Returns a word as the texts spell it most often, in the plural if they do, else unchanged."""
    counts = Counter[str]() if name == REST else spellings[name.lower()] + spellings[plural(name.lower())]
    usual = max(counts, key=lambda spelling: (counts[spelling], spelling), default=name)
    return usual[:1].upper() + usual[1:]


def _parts(tools: Sequence[Tool]) -> dict[str, str]:
    """Returns the next word of each tool of a group that helps to divide it; empty without one."""
    words = {tool.name: _segments(tool) or words_of(tool.name) for tool in tools}
    for depth in range(_DEPTH_LIMIT):
        parts = _shared({name: next(iter(each[depth : depth + 1]), "") for name, each in words.items()})
        if _helps(parts):
            return parts
    return {}


def _in_group(tool: Tool, group: str | None, source: str) -> Tool:
    if group is None:
        return tool
    return replace(tool, group=group, origins={**(tool.origins or {}), "group": Origin("inferred", source)})
