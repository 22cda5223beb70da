"""Fills in what a source leaves open, from what it says: groups, access level, when to use.

Everything here is marked as inferred, so that no document states it as the source's word.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from skillgen.enrich.groups import LIMIT, REST, group_tools, split_large_groups
from skillgen.enrich.topics import Subjects, area_lines
from skillgen.errors import Problem
from skillgen.model.auth import AccessLevel
from skillgen.model.resource import Group
from skillgen.model.service import Service
from skillgen.model.tool import CAUTION, Semantics, Tool
from skillgen.model.values import Origin
from skillgen.text.markdown import one_line, plain_words
from skillgen.text.summary import adds_to_name, clip, common_prefix, first_sentence, list_phrase
from skillgen.text.uses import uses_declared_in
from skillgen.text.words import nouns_of, verb_of, without_method_prefix, word_set, words_of

_DEPRECATED = re.compile(r"\W{0,9}deprecated\b|[^\n]{0,80}\(deprecated\)", re.IGNORECASE)
_DEPRECATED_BELOW = re.compile(r"\n[^\S\n]*\n\W{0,3}[\[(*]DEPRECATED[\])*]")
"""A mark before a later paragraph, as before that of a path, which speaks of all its operations."""

TRIGGERS = 12
"""Phrases of "when to use" at the most."""

LINES = 16
"""Phrases up to which each has a line of its own."""

TRIGGER_LIMIT = 90
"""Characters of one phrase."""

_EMPTY = word_set(
    """
    about api call data endpoint everything function general group interact interaction manage management method
    operation related request resource rest retrieval service
    """
)
"""Words that say nothing of what a group of tools is for."""

SUBJECTS = 4
"""Lines of words that say what a service with many groups is about."""

WORDS_LIMIT = 80

WORDS_OF_GROUP = 24

_LEVELS = CAUTION["access_level"]

SHORT = 40
"""Characters of a phrase that can stand in an enumeration."""

TRIGGERS_LIMIT = 600
"""Characters of all phrases of a service with few groups."""


def infer_missing(service: Service) -> Service:
    """Gives the service with what can be inferred filled in; declared facts stay as they are."""
    service = _with_effects(_with_deprecations(group_tools(service)))
    origins = dict(service.origins or {})
    service = _with_access_level(service, origins)
    service = _with_declared_uses(service, origins)
    divided = split_large_groups(service)
    subjects = Subjects(divided, _titles(service)) if len(service.tools) > LIMIT else None
    if not service.when_to_use and service.tools:
        origins["when_to_use"] = Origin("inferred", "titles and summaries of the tools")
        areas = area_lines(service, _titles(service), subjects) if subjects else []
        phrases = tuple(_triggers(_without_shared_start(service), subjects, areas))
        divided = replace(divided, when_to_use=phrases)
    return replace(_with_subjects(divided, subjects) if subjects else divided, origins=origins)


def _titles(service: Service) -> dict[str, str]:
    """Gives the title of the group of each tool, by the name of the tool."""
    titles = {group.name: group.title for group in service.groups}
    return {tool.name: titles[tool.group] for tool in service.tools if tool.group in titles}


def _with_subjects(service: Service, subjects: Subjects) -> Service:
    """Says what the tools of each group are about."""
    origin = Origin("inferred", "paths and names of its tools")

    def told(group: Group) -> Group:
        words = tuple(islice(subjects.of_group(group), WORDS_OF_GROUP))
        origins = {**(group.origins or {}), "subjects": origin}
        return replace(group, subjects=words, origins=origins) if words else group

    return replace(service, groups=tuple(map(told, service.groups)))


def _with_declared_uses(service: Service, origins: dict[str, Origin]) -> Service:
    """Takes over when the source's own prose wants the service to be used and when not, where nothing else says so.

    What the description of an API is to be used for says less than its groups.
    """
    for text, pointer in _own_words(service):
        found = uses_declared_in(text, () if len(service.tools) == 1 else [tool.name for tool in service.tools])
        if found.wanted and not service.when_to_use and service.kind == "mcp":
            service = replace(service, when_to_use=found.wanted)
            origins["when_to_use"] = Origin("declared", pointer)
        if found.unwanted and not service.when_not_to_use:
            service = replace(service, when_not_to_use=found.unwanted)
            origins["when_not_to_use"] = Origin("declared", pointer)
    return service


def _own_words(service: Service) -> Iterable[tuple[str, str]]:
    """Gives the texts that speak of the service as a whole, each with its place; of a single tool that is one too."""
    origins = service.origins or {}
    elsewhere = {"instructions": "/initialize/instructions", "summary": "/info/description"}
    said = [("instructions", service.instructions), ("summary", service.description)]
    if service.summary and service.summary not in (service.description or ""):
        said.append(("summary", service.summary))
    for field, text in said:
        origin = origins.get(field, Origin("declared", elsewhere[field]))
        if text and origin.kind == "declared":
            yield text, origin.source
    if len(service.tools) == 1 and service.tools[0].description:
        yield service.tools[0].description, f"{service.tools[0].pointer}/description"


def _with_deprecations(service: Service) -> Service:
    """Marks tools whose words begin with it as deprecated: MCP has no other way to say so."""
    if not any(_says_deprecated(tool) for tool in service.tools):
        return service
    origin = Origin("inferred", "its title or description")
    tools = tuple(
        replace(tool, deprecated=True, origins={**(tool.origins or {}), "deprecated": origin})
        if _says_deprecated(tool)
        else tool
        for tool in service.tools
    )
    return replace(service, tools=tools)


def _with_effects(service: Service) -> Service:
    """Marks tools with declared side effects as changing something, where nothing else says what they change."""
    tools = tuple(replace(tool, semantics=_with_change(tool.semantics)) for tool in service.tools)
    return replace(service, tools=tools) if tools != service.tools else service


def _with_change(semantics: Semantics) -> Semantics:
    known = (semantics.operation, semantics.read_only, semantics.destructive)
    if not semantics.side_effects or any(fact is not None for fact in known):
        return semantics
    origins = {**(semantics.origins or {}), "read_only": Origin("inferred", "side effects")}
    return replace(semantics, read_only=False, origins=origins)


def _says_deprecated(tool: Tool) -> bool:
    if tool.deprecated:
        return False
    texts = (tool.title, tool.description, tool.summary)
    return any(_DEPRECATED.match(text) or _DEPRECATED_BELOW.search(text) for text in texts if text)


def _with_access_level(service: Service, origins: dict[str, Origin]) -> Service:
    """Follows the marks of the tools, unless a more cautious level is declared (design, "Where facts disagree")."""
    level, reason = _access_level(service.tools)
    if "access_level" in origins:
        if not service.tools or _LEVELS.index(service.access_level) >= _LEVELS.index(level):
            return service
        problem = Problem(
            code="facts-disagree",
            level="warning",
            where=origins["access_level"].source,
            message=f"the access level is declared to be {service.access_level}, but there is {reason}; "
            f"it is documented as {level}",
            fix="correct the access level, or what is declared of the tool",
        )
        service = replace(service, problems=(*service.problems, problem))
    origins["access_level"] = Origin("inferred", reason)
    return replace(service, access_level=level)


def _access_level(tools: Sequence[Tool]) -> tuple[AccessLevel, str]:
    if any(tool.semantics.destructive for tool in tools):
        return "full", "a tool that may delete or overwrite"
    if tools and all(tool.semantics.read_only for tool in tools):
        return "read", "every tool changes nothing"
    return "interact", "a tool that is not known to change nothing"


def _triggers(service: Service, subjects: Subjects | None, areas: Sequence[str]) -> Iterable[str]:
    """Gives what each tool does, or for many tools what those of each group do, the largest first.

    Those of a service with more than that are about what its areas are.
    """
    by_group: dict[str | None, list[Tool]] = {}
    for tool in service.tools:
        by_group.setdefault(tool.group, []).append(tool)
    if len(service.tools) <= TRIGGERS:
        yield from dict.fromkeys(filter(None, map(_phrase, service.tools)))
        return
    is_told = len(by_group) <= TRIGGERS and all(len(tools) <= LIMIT for tools in by_group.values())
    if areas and not is_told:
        yield from areas
        return
    if len(by_group) == 1:
        if subjects is not None:
            yield from _lines(subjects.of_service())
        yield from _bundles(service.tools)
        return
    groups = {group.name: group for group in service.groups}
    if subjects is not None and not is_told:
        yield from _lines(subjects.of_service())
    largest = sorted(by_group.items(), key=lambda item: (_is_rest(groups, item[0]), -len(item[1])))[:TRIGGERS]
    length = max(2 * TRIGGER_LIMIT, TRIGGERS_LIMIT // len(largest))
    shared = _shared_phrases(by_group.values())
    for name, tools in largest:
        group = groups.get(name or "")
        title = clip(one_line(group.title if group else name or "other tools"), TRIGGER_LIMIT // 2)
        said = first_sentence(group.description) if group and group.description else ""
        is_declared = group is not None and "description" not in (group.origins or {})
        if said and is_declared and _tells_what_for(said, title):
            yield f"{title}: {clip(said, length)}".rstrip(". ")
        elif phrases := _phrases([tool for tool in tools if _phrase(tool) not in shared] or tools, length):
            yield phrases if _is_rest(groups, name) else f"{title}: {phrases}"


def _lines(words: Iterable[str]) -> Iterable[str]:
    """Gives words in a few lines."""
    lines: list[str] = []
    for word in islice(words, WORDS_LIMIT):
        if lines and len(lines[-1]) + len(word) + 2 <= TRIGGER_LIMIT:
            lines[-1] += f", {word}"
        elif len(lines) < SUBJECTS:
            lines.append(word)
        else:
            break
    return lines


def _tells_what_for(said: str, title: str) -> bool:
    """Tells whether what is said of a group is more than its title: `User operations` of `Users` is not."""
    known = {*nouns_of(title), *_EMPTY}
    return any(word not in known for word in nouns_of(said))


def _in_words(phrases: Iterable[str]) -> list[str]:
    """Gives the phrases that are words and no names, where there are any."""
    phrases = list(phrases)
    return [phrase for phrase in phrases if " " in phrase] or phrases


def _shared_phrases(groups: Iterable[Sequence[Tool]]) -> frozenset[str]:
    """Gives what is done in several groups in the same words, and so tells none of them apart."""
    counts = Counter(phrase for tools in groups for phrase in {_phrase(tool) for tool in tools})
    return frozenset(phrase for phrase, count in counts.items() if count > 1)


def _bundles(tools: Sequence[Tool]) -> Iterable[str]:
    """Gives as many phrases as there is room for, several in one, and says how many there are beside them."""
    phrases = _in_words(dict.fromkeys(filter(None, map(_phrase, tools))))
    if _size(phrases) > TRIGGERS_LIMIT:
        phrases = _in_words(dict.fromkeys(filter(None, map(_short_phrase, tools))))
    lead = _shared_lead(phrases)
    phrases = [phrase.removeprefix(lead) for phrase in phrases]
    kept: list[str] = []
    for item in phrases:
        if _size([*kept, item]) <= TRIGGERS_LIMIT:
            kept.append(item)
    size = -(-len(kept) // TRIGGERS) if lead or len(kept) > LINES else 1
    left = [f"and {len(phrases) - len(kept)} more"] if len(kept) < len(phrases) else []
    joint = ", " if lead else "; "
    yield from (lead + joint.join(kept[start : start + size]) for start in range(0, len(kept), max(size, 1)))
    yield from left


def _shared_lead(phrases: Sequence[str]) -> str:
    """Gives the word with which all phrases begin, said once where they are short; empty where there is none."""
    lead = phrases[0].partition(" ")[0] + " " if phrases else ""
    is_shared = all(phrase.startswith(lead) and "," not in phrase and len(phrase) <= SHORT for phrase in phrases)
    return lead if is_shared and len(phrases) > 1 else ""


def _size(phrases: Sequence[str]) -> int:
    return sum(map(len, phrases)) + 2 * max(len(phrases) - 1, 0)


def _is_rest(groups: Mapping[str, Group], name: str | None) -> bool:
    return name is None or (name == REST and name in groups and bool(groups[name].origins))


def _phrases(tools: list[Tool], length: int) -> str:
    """Gives what tools do, the first of each kind before others of its kind, as long as there is room."""
    tools = [tool for tool in tools if not tool.deprecated] or tools
    kinds = {
        tool.name: verb_of(without_method_prefix(tool.name, tool.method)) or tool.semantics.operation for tool in tools
    }
    first = {kinds[tool.name] or tool.name: tool.name for tool in reversed(tools)}
    firsts = frozenset(first.values())
    kept: list[str] = []
    for phrase in _in_words(dict.fromkeys(map(_phrase, sorted(tools, key=lambda tool: tool.name not in firsts)))):
        if phrase and (not kept or sum(map(len, kept)) + len(phrase) + 2 * len(kept) <= length):
            kept.append(phrase)
    return "; ".join(kept)


def _phrase(tool: Tool) -> str:
    said = (first_sentence(text) for text in (tool.summary, tool.description, tool.title) if text)
    texts = [text for text in said if text]
    text = next((text for text in texts if adds_to_name(text, tool.name)), None)
    in_words = (text for text in texts if " " in text)  # where no name stands beside it, the name in words says more
    return list_phrase(text or next(in_words, None) or tool.title or _name_in_words(tool), TRIGGER_LIMIT)


def _name_in_words(tool: Tool) -> str:
    """Gives the name as a user might say it: `get_berth_plan` is "Get berth plan"."""
    words = " ".join(words_of(tool.name))
    return words[:1].upper() + words[1:] or tool.name


def _short_phrase(tool: Tool) -> str:
    """Gives the title of a tool where it has several words, and so says what the tool does in few."""
    title = plain_words(tool.title or "").removesuffix(" Tool")
    return clip(title, TRIGGER_LIMIT).rstrip(". ") if " " in title.strip() else _phrase(tool)


def _without_shared_start(service: Service) -> Service:
    """Takes off the words before a bar or colon with which the summary or description of every tool begins."""
    end = len(common_prefix(text for tool in service.tools for text in [tool.summary or tool.description] if text))
    if not end:
        return service
    tools = tuple(
        replace(tool, summary=(tool.summary or tool.description or "")[end:] or None) for tool in service.tools
    )
    return replace(service, tools=tools)
