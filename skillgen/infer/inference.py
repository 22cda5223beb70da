"""Infers facts that a source does not declare: groups, deprecations, the access level.

They are marked as inferred, so that no document states them as the source's word. Parameters that a description
declares are read here too.

Groups are as declared, else by paths or names, else not at all. Few tools need no groups. Inferred ones must help: not
one for every two tools, none with most of them, and few tools left over. The result does not depend on the order of the
tools.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, takewhile

from msgspec.structs import replace

from skillgen.errors import Problem
from skillgen.infer.effects import AuthorEffect, is_verb, with_effects, with_facts, words_without_prefix
from skillgen.model.auth import AccessLevel
from skillgen.model.resource import Group
from skillgen.model.service import Service
from skillgen.model.tool import CAUTION, Tool
from skillgen.model.values import Origin
from skillgen.text import lazy_re as re
from skillgen.text.summary import documented_parameters
from skillgen.text.words import STOP_WORDS, path_segments, plural, singular, words_of

_DEPRECATED = re.compile(r"\W{0,9}deprecated\b|[^\n]{0,80}\(deprecated\)", re.IGNORECASE)
_DEPRECATED_BELOW = re.compile(r"\n[^\S\n]*\n\W{0,3}[\[(*]DEPRECATED[\])*]")
"""A mark before a later paragraph: the description of a path is added to those of its operations."""

_KEYS = frozenset(f"{start}idempotency{between}key" for start in ("", "x-") for between in ("", "-", "_"))

_LEVELS = CAUTION["access_level"]
_REASONS: dict[AccessLevel, str] = {
    "full": "a tool that may delete or overwrite",
    "interact": "a tool that is not known to only read",
    "read": "every tool only reads",
}


def infer_missing(service: Service, authored: Mapping[str, AuthorEffect]) -> Service:
    """Returns the service with inferred facts of its tools added; declared facts are unchanged.

    `authored` has the effects that the author of the documents declares.
    """
    return infer_effects(replace(service, tools=tuple(map(_completed, service.tools))), authored)


def infer_effects(service: Service, authored: Mapping[str, AuthorEffect]) -> Service:
    """Returns the service with what its tools change, and the access level that follows; twice changes nothing.

    A declared level stays, unless the tools need a more cautious one.
    """
    service = with_effects(service, authored)
    semantics, origins = [tool.semantics for tool in service.tools], dict(service.origins or {})
    are_read = all(each.effect == "read" and not each.requires_confirmation for each in semantics)
    is_full = any(each.destructive for each in semantics)
    level: AccessLevel = "full" if is_full else "read" if semantics and are_read else "interact"
    declared, problems = origins.get("access_level"), service.problems
    if declared is not None and declared.source not in _REASONS.values():
        if not semantics or _LEVELS.index(service.access_level) >= _LEVELS.index(level):
            return service
        message = f"the access level is declared to be {service.access_level}, but there is {_REASONS[level]}; "
        message += f"it is documented as {level}"
        fix = "correct the access level, or what is declared of the tool"
        problems = (*problems, Problem.of("safety-facts-disagree", declared.source, message, fix))
    origins["access_level"] = Origin("inferred", _REASONS[level])
    return replace(service, access_level=level, origins=origins, problems=problems)


def _completed(tool: Tool) -> Tool:
    """Returns a tool with what its texts declare where its source has no field for it: descriptions of parameters (in a
    docstring), an idempotency key, as a header or in its body (seed 002), and a deprecation."""
    undescribed = {parameter.name for parameter in tool.parameters if not parameter.description}
    _, texts = documented_parameters(tool.description or "", undescribed)
    if texts:
        origin = Origin("declared", f"{tool.pointer}/description")
        items = ((item, None if item.description else texts.get(item.name)) for item in tool.parameters)
        parameters = [with_facts(item, origin, description=text) if text else item for item, text in items]
        tool = replace(tool, parameters=tuple(parameters))
    key = next((item for item in tool.parameters if item.name.lower() in _KEYS), None)
    if key is not None and tool.semantics.idempotent_with_key is None:
        origin = Origin("declared", key.pointer or tool.pointer)
        tool = replace(tool, semantics=with_facts(tool.semantics, origin, idempotent_with_key=True))
    said = [text for text in (tool.title, tool.description, tool.summary) if text and "deprecated" in text.lower()]
    if not tool.deprecated and any(_DEPRECATED.match(text) or _DEPRECATED_BELOW.search(text) for text in said):
        tool = with_facts(tool, Origin("inferred", "its title or description"), deprecated=True)
    return tool


# -- groups ------------------------------------------------------------------------------------------------------------

LIMIT = 100
"""Maximum number of tools in a group that can be divided."""

REST = "other"
"""The group of the tools that have nothing in common with others; it comes last."""

_FEW, _MIN_SHARED = 40, 3
"""Tools that need no groups; tools that have a first part in common, and mean size of a group that helps."""

_PARTS_SHARE = 0.8
"""Share of the names that have a first part in common with others."""

_DEPTH_LIMIT, _TEXT_LIMIT = 12, 300
"""Words of a name or a path by which a group is divided; characters of the texts of a tool in which nouns are searched.
"""

_SINGLE, _SPELLING = "groups of one tool", "groups whose names differ in case only"

_VERSION = re.compile(r"v?\d(?:[.\d_-]*\d)?(?:(?:alpha|beta|p)\d*)?\Z", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")


def grouped(service: Service) -> Service:
    """Returns the service with its declared groups, or with those that its tools suggest, none of them too large."""
    return _divided(_grouped(service))


def _grouped(service: Service) -> Service:
    """Returns the service with its declared groups; paths or names suggest those of other tools, if they help."""
    others = [tool for tool in service.tools if tool.group is None]
    if sum(not tool.is_preflight for tool in others) > _FEW:
        first = ("paths", _first_segments) if all(tool.path for tool in others) else ("names", _first_parts)
        ways = ((source, suggest(others)) for source, suggest in (first, ("names", _nouns)))
        source, names = next((way for way in ways if _helps(way[1])), ("", {}))
        spellings, origins = _spellings(service.tools), {"name": Origin("inferred", source)}
        groups = (Group(name=key, title=_title(key, spellings), origins=origins) for key in sorted({*names.values()}))
        tools = (_in_group(tool, names.get(tool.name), source[:-1]) for tool in service.tools)
        service = replace(service, groups=(*service.groups, *groups), tools=tuple(tools))
    return _merged(service) if any(tool.group for tool in service.tools) else replace(service, groups=())


def _merged(service: Service) -> Service:
    """Returns the service with one group for the tools without a group, or with a tag that no other has.

    Groups whose names differ in case only are one. The categories of an MCP server are never merged (S0-12).
    """
    known: dict[str, Group] = {}
    used = (Group(name=tool.group, title=tool.group) for tool in service.tools if tool.group is not None)
    for group in (*service.groups, *used):
        key = group.name.casefold()
        # Of several spellings the first in order, however they arrive.
        known[key] = min(known.get(key, group), group, key=lambda group: group.name)
    sizes = Counter(tool.group.casefold() for tool in service.tools if tool.group is not None)
    least = 1 if service.kind == "mcp" or max(sizes.values()) == 1 else 2
    rest = known.pop(REST, None) or Group(name=REST, title="Other", origins={"name": Origin("inferred", _SINGLE)})
    kept = {key: group for key, group in known.items() if sizes[key] >= least} | {REST: rest}
    if merged := [group for key, group in known.items() if 0 < sizes[key] < least and group.description]:
        texts = (f"{group.title}: {group.description}" for group in merged)
        kept[REST] = rest = replace(rest, description="\n\n".join(filter(None, (rest.description, *texts))))
    keys = [(tool.group or REST).casefold() for tool in service.tools]
    tools = tuple(
        _in_group(tool, kept.get(key, rest).name, _SPELLING if tool.group and key in kept else _SINGLE)
        for tool, key in zip(service.tools, keys, strict=True)
    )
    names = {tool.group for tool in tools}
    return replace(service, groups=tuple(group for group in kept.values() if group.name in names), tools=tools)


def _divided(service: Service) -> Service:
    """Returns the service with each group of more than `LIMIT` tools divided by the next word of its tools."""
    tools_of: dict[str | None, list[Tool]] = defaultdict(list)
    for tool in service.tools:
        tools_of[tool.group].append(tool)
    names, groups, taken = dict[str, str](), list[Group](), {group.name.casefold() for group in service.groups}
    for group in service.groups:
        own, origin = tools_of[group.name], Origin("inferred", f"size of the group {group.name}")
        words = _parts(own) if len(own) > LIMIT else {}
        parts = [
            replace(group, name=f"{group.name}: {word}", title=f"{group.title}: {word}", origins={"name": origin})
            for word in sorted({*words.values()}, key=lambda word: (word == REST, word))
        ]
        if not taken.isdisjoint(part.name.casefold() for part in parts):
            words, parts = {}, []
        names |= {tool: f"{group.name}: {word}" for tool, word in words.items()}
        groups += parts or [group]
    tools = (_in_group(tool, names.get(tool.name), f"size of the group {tool.group}") for tool in service.tools)
    return replace(service, groups=tuple(groups), tools=tuple(tools))


def _in_group(tool: Tool, group: str | None, source: str) -> Tool:
    return tool if group in (None, tool.group) else with_facts(tool, Origin("inferred", source), group=group)


def _helps(names: Mapping[str, str]) -> bool:
    counts = Counter(names.values())
    rest = counts.pop(REST, 0)
    return 0 < len(counts) * _MIN_SHARED <= len(names) >= 2 * max(counts.values(), default=0) and 3 * rest <= len(names)


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


def _at(words: Mapping[str, Sequence[str]], depth: int) -> dict[str, str]:
    """Returns the word of each tool at this depth; empty where it has fewer."""
    return {name: each[depth] if len(each) > depth else "" for name, each in words.items()}


def _segments(tool: Tool) -> tuple[str, ...]:
    return tuple(part for part in path_segments(tool.path or "") if not _VERSION.match(part))[:_DEPTH_LIMIT]


def _first_segments(tools: Sequence[Tool]) -> dict[str, str]:
    """Returns the first segment of each path that is neither a version, nor a parameter, nor common to all."""
    paths = {tool.name: _segments(tool) for tool in tools}
    columns = enumerate(zip(*paths.values(), strict=False))
    return _shared(_at(paths, next((depth for depth, column in columns if len({*column}) > 1), 0)))


def _first_parts(tools: Sequence[Tool]) -> dict[str, str]:
    """Returns the first part of each name, if most names have one in common with at least two others.

    A part is a verb, and none of them, unless a name that begins with it ends with a verb: `monitor_metrics_query`.
    """
    names = words_without_prefix(tools)
    nouns = {words[0] for words in names.values() if len(words) > 1 and is_verb(words[-1])}
    parts = {name: first if first in nouns or not is_verb(first) else "" for name, first in _at(names, 0).items()}
    shared = _shared(parts, _MIN_SHARED)
    count = sum(part != REST for part in shared.values())
    return shared if count >= _PARTS_SHARE * len(tools) else dict.fromkeys(shared, REST)


def _nouns(tools: Sequence[Tool]) -> dict[str, str]:
    """Returns the noun of each name that most names share, of those that occur in the texts; the last of
    several, which names the thing in English: `event_stream`.

    A word that may be a verb counts unless half of its names begin with it and have no other verb: not `move_up`.
    """
    names, verbs = dict[str, dict[str, bool]](), Counter[str]()
    for name, words in words_without_prefix(tools).items():
        nouns = [word for word in words if len(word) > 1 and not is_verb(word) and word not in STOP_WORDS]
        things = {*takewhile("by".__ne__, words)}  # rather than by what they are found: `get_item_by_name`
        names[name] = {singular(word): word in things for word in reversed(nouns)}
        verbs.update(word for word in nouns[:1] if is_verb(word, is_sure=False) and not any(map(is_verb, words)))
    counts, spellings = Counter(chain(*names.values())), _spellings(tools)
    shared = {noun for noun, count in counts.items() if 2 * verbs[noun] < count and 2 * count <= len(tools)}
    useful = {noun for noun in shared if _spelled(noun, spellings)}
    found = {
        name: max(filter(useful.__contains__, nouns), key=lambda noun: (nouns[noun], counts[noun]), default="")
        for name, nouns in names.items()
    }
    return _shared(found)


def _spellings(tools: Iterable[Tool]) -> dict[str, Counter[str]]:
    """Returns the words of the texts of tools in lower case, each with its spellings and their counts."""
    texts = (f"{tool.summary or ''} {(tool.description or '')[:_TEXT_LIMIT]}"[:_TEXT_LIMIT] for tool in tools)
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for word, count in Counter(chain.from_iterable(map(_WORD.findall, texts))).items():
        found[word.lower()][word] = count
    return found


def _spelled(word: str, spellings: Mapping[str, Counter[str]]) -> Counter[str]:
    """Returns how often the texts spell a word, or its plural, so."""
    return sum((spellings[form] for form in (word, plural(word)) if form in spellings), Counter[str]())


def _title(name: str, spellings: Mapping[str, Counter[str]]) -> str:
    """Returns a word as the texts spell it most often, in the plural if they do, else unchanged."""
    counts = Counter[str]() if name == REST else _spelled(name.lower(), spellings)
    usual = max(counts, key=lambda spelling: (counts[spelling], spelling), default=name)
    return usual[:1].upper() + usual[1:]


def _parts(tools: Sequence[Tool]) -> dict[str, str]:
    """Returns the next word of each tool of a group that helps to divide it; empty without one."""
    words = {tool.name: _segments(tool) or words_of(tool.name) for tool in tools}
    ways = (_shared(_at(words, depth)) for depth in range(_DEPTH_LIMIT))
    return next(filter(_helps, ways), {})
