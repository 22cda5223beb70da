"""Infers facts that a source does not declare: groups, deprecations, the access level, when to use the service.

They are marked as inferred, so that no document states them as the source's word.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from msgspec.structs import replace

from skillgen.enrich.groups import LIMIT, REST, group_tools, split_large_groups
from skillgen.enrich.topics import Keywords, area_lines
from skillgen.errors import Problem
from skillgen.model.auth import AccessLevel
from skillgen.model.resource import Group
from skillgen.model.service import Service
from skillgen.model.tool import CAUTION, Tool
from skillgen.model.values import Origin
from skillgen.text.markdown import one_line, plain_words
from skillgen.text.summary import adds_to_name, clip, common_prefix, first_sentence, list_phrase
from skillgen.text.uses import uses_declared_in
from skillgen.text.words import nouns_of, verb_of, without_method_prefix, word_set, words_of

_DEPRECATED = re.compile(r"\W{0,9}deprecated\b|[^\n]{0,80}\(deprecated\)", re.IGNORECASE)
_DEPRECATED_BELOW = re.compile(r"\n[^\S\n]*\n\W{0,3}[\[(*]DEPRECATED[\])*]")
"""A mark before a later paragraph: the description of a path is added to those of its operations."""

_MAX_PHRASES = 12
"""Maximum number of phrases in "when to use": a reader takes in a dozen lines."""

_MAX_LINES = 16
"""Maximum number of phrases with a line each: a third more than that, before several share a line."""

_PHRASE_LENGTH = 90
"""Maximum length of one phrase, in characters: a line of the skill."""

_PHRASES_LENGTH = 600
"""Maximum length of all phrases of a service with few groups, in characters: some 150 tokens, which each agent reads.
Without it, 73 of 220 public descriptions have longer ones.
"""

_SHORT_LENGTH = 40
"""Maximum length of a phrase in an enumeration, in characters: two or more fit into a line."""

_KEYWORD_LINES = 4
"""Lines of keywords that describe a service with many groups: a third of the lines, before those of the groups."""

_MAX_GROUP_KEYWORDS = 24
"""Keywords of a group in the index: two lines."""

_LEVELS = CAUTION["access_level"]

_GENERIC_NOUNS = word_set(
    """
    about api call data endpoint everything function general group interact interaction manage management method
    operation related request resource rest retrieval service
    """
)
"""Nouns that do not describe the purpose of a group of tools."""


def infer_missing(service: Service) -> Service:
    """Returns the service with inferred facts added; declared facts are unchanged."""
    service = _with_effects(_with_deprecations(group_tools(service)))
    origins = dict(service.origins or {})
    service = _with_access_level(service, origins)
    service = _with_declared_uses(service, origins)
    split = split_large_groups(service)
    keywords = Keywords(split, _titles(service)) if len(service.tools) > LIMIT else None
    if not service.when_to_use and service.tools:
        origins["when_to_use"] = Origin("inferred", "titles and summaries of the tools")
        areas = area_lines(service, _titles(service), keywords) if keywords else []
        phrases = tuple(_phrases_of_service(_without_shared_start(service), keywords, areas))
        split = replace(split, when_to_use=phrases)
    return replace(_with_subjects(split, keywords) if keywords else split, origins=origins)


def _titles(service: Service) -> dict[str, str]:
    """Returns tool name to the title of its group."""
    titles = {group.name: group.title for group in service.groups}
    return {tool.name: titles[tool.group] for tool in service.tools if tool.group in titles}


def _with_subjects(service: Service, keywords: Keywords) -> Service:
    origin = Origin("inferred", "paths and names of its tools")

    def with_subjects(group: Group) -> Group:
        subjects = tuple(islice(keywords.of_group(group), _MAX_GROUP_KEYWORDS))
        origins = {**(group.origins or {}), "subjects": origin}
        return replace(group, subjects=subjects, origins=origins) if subjects else group

    return replace(service, groups=tuple(map(with_subjects, service.groups)))


def _with_declared_uses(service: Service, origins: dict[str, Origin]) -> Service:
    """Adds the uses that the prose of the source declares, if no field does.

    Wanted uses are not read from the description of an API, which says less than its groups.
    """
    for text, pointer in _service_texts(service):
        uses = uses_declared_in(text, () if len(service.tools) == 1 else [tool.name for tool in service.tools])
        if uses.wanted and not service.when_to_use and service.kind == "mcp":
            service = replace(service, when_to_use=uses.wanted)
            origins["when_to_use"] = Origin("declared", pointer)
        if uses.unwanted and not service.when_not_to_use:
            service = replace(service, when_not_to_use=uses.unwanted)
            origins["when_not_to_use"] = Origin("declared", pointer)
    return service


def _service_texts(service: Service) -> Iterable[tuple[str, str]]:
    """Yields the texts on the service with their pointers; the description of an only tool is one of them."""
    origins = service.origins or {}
    pointers = {"instructions": "/initialize/instructions", "summary": "/info/description"}
    texts = [("instructions", service.instructions), ("summary", service.description)]
    if service.summary and service.summary not in (service.description or ""):
        texts.append(("summary", service.summary))
    for field, text in texts:
        origin = origins.get(field, Origin("declared", pointers[field]))
        if text and origin.kind == "declared":
            yield text, origin.source
    if len(service.tools) == 1 and service.tools[0].description:
        yield service.tools[0].description, f"{service.tools[0].pointer}/description"


def _with_deprecations(service: Service) -> Service:
    """Marks tools with a title or description that starts with "deprecated" (MCP has no field for it)."""
    origin = Origin("inferred", "its title or description")
    tools = tuple(
        replace(tool, deprecated=True, origins={**(tool.origins or {}), "deprecated": origin})
        if _says_deprecated(tool)
        else tool
        for tool in service.tools
    )
    return replace(service, tools=tools)


def _with_effects(service: Service) -> Service:
    """Marks tools as not read-only if side effects are all that they declare."""
    return replace(service, tools=tuple(map(_with_change, service.tools)))


def _with_change(tool: Tool) -> Tool:
    semantics = tool.semantics
    known = (semantics.operation, semantics.read_only, semantics.destructive)
    if not semantics.side_effects or any(fact is not None for fact in known):
        return tool
    origins = {**(semantics.origins or {}), "read_only": Origin("inferred", "side effects")}
    return replace(tool, semantics=replace(semantics, read_only=False, origins=origins))


def _says_deprecated(tool: Tool) -> bool:
    if tool.deprecated:
        return False
    texts = (tool.title, tool.description, tool.summary)
    return any(_DEPRECATED.match(text) or _DEPRECATED_BELOW.search(text) for text in texts if text)


def _with_access_level(service: Service, origins: dict[str, Origin]) -> Service:
    """Infers the access level from the tools, unless a more cautious one is declared."""
    level, reason = _access_level(service.tools)
    if "access_level" in origins:
        if not service.tools or _LEVELS.index(service.access_level) >= _LEVELS.index(level):
            return service
        problem = Problem.of(
            code="safety-facts-disagree",
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


def _phrases_of_service(service: Service, keywords: Keywords | None, areas: Sequence[str]) -> Iterable[str]:
    """Yields what the service does: a phrase for each tool, or for each group from the largest on, or its areas."""
    by_group: dict[str | None, list[Tool]] = {}
    for tool in service.tools:
        by_group.setdefault(tool.group, []).append(tool)
    if len(service.tools) <= _MAX_PHRASES:
        yield from dict.fromkeys(filter(None, map(_phrase, service.tools)))
        return
    has_room = len(by_group) <= _MAX_PHRASES and all(len(tools) <= LIMIT for tools in by_group.values())
    if areas and not has_room:
        yield from areas
        return
    if len(by_group) == 1:
        if keywords is not None:
            yield from _lines(keywords.of_service())
        yield from _bundles(service.tools)
        return
    groups = {group.name: group for group in service.groups}
    if keywords is not None and not has_room:
        yield from _lines(keywords.of_service())
    largest = sorted(by_group.items(), key=lambda item: (_is_rest(groups, item[0]), -len(item[1])))[:_MAX_PHRASES]
    length = max(2 * _PHRASE_LENGTH, _PHRASES_LENGTH // len(largest))
    shared = _shared_phrases(by_group.values())
    for name, tools in largest:
        group = groups.get(name or "")
        title = clip(one_line(group.title if group else name or "other tools"), _PHRASE_LENGTH // 2)
        sentence = first_sentence(group.description) if group and group.description else ""
        is_declared = group is not None and "description" not in (group.origins or {})
        if sentence and is_declared and _adds_to_title(sentence, title):
            yield f"{title}: {clip(sentence, length)}".rstrip(". ")
        elif phrases := _phrases([tool for tool in tools if _phrase(tool) not in shared] or tools, length):
            yield phrases if _is_rest(groups, name) else f"{title}: {phrases}"


def _lines(keywords: Iterable[str]) -> Iterable[str]:
    lines: list[str] = []
    for word in keywords:
        if lines and len(lines[-1]) + len(word) + 2 <= _PHRASE_LENGTH:
            lines[-1] += f", {word}"
        elif len(lines) < _KEYWORD_LINES:
            lines.append(word)
        else:
            break
    return lines


def _adds_to_title(sentence: str, title: str) -> bool:
    """True if a sentence on a group says more than its title: `User operations` of `Users` does not."""
    known = {*nouns_of(title), *_GENERIC_NOUNS}
    return any(word not in known for word in nouns_of(sentence))


def _without_names(phrases: Iterable[str]) -> list[str]:
    """Returns the phrases of several words; all phrases if there are no such."""
    phrases = list(phrases)
    return [phrase for phrase in phrases if " " in phrase] or phrases


def _shared_phrases(groups: Iterable[Sequence[Tool]]) -> frozenset[str]:
    """Returns the phrases of tools in several groups, which do not distinguish the groups."""
    counts = Counter(phrase for tools in groups for phrase in {_phrase(tool) for tool in tools})
    return frozenset(phrase for phrase, count in counts.items() if count > 1)


def _bundles(tools: Sequence[Tool]) -> Iterable[str]:
    """Yields as many phrases as fit, several in a line, then the number of the others."""
    phrases = _without_names(dict.fromkeys(filter(None, map(_phrase, tools))))
    if _size(phrases) > _PHRASES_LENGTH:
        phrases = _without_names(dict.fromkeys(filter(None, map(_short_phrase, tools))))
    lead = _shared_lead(phrases)
    phrases = [phrase.removeprefix(lead) for phrase in phrases]
    shown: list[str] = []
    for phrase in phrases:
        if _size([*shown, phrase]) <= _PHRASES_LENGTH:
            shown.append(phrase)
    size = -(-len(shown) // _MAX_PHRASES) if lead or len(shown) > _MAX_LINES else 1
    separator = ", " if lead else "; "
    yield from (lead + separator.join(shown[start : start + size]) for start in range(0, len(shown), max(size, 1)))
    if len(shown) < len(phrases):
        yield f"and {len(phrases) - len(shown)} more"


def _shared_lead(phrases: Sequence[str]) -> str:
    """Returns the first word of all phrases if they share it and are short, so that it is written once; else empty."""
    lead = phrases[0].partition(" ")[0] + " " if phrases else ""
    is_shared = all(
        phrase.startswith(lead) and "," not in phrase and len(phrase) <= _SHORT_LENGTH for phrase in phrases
    )
    return lead if is_shared and len(phrases) > 1 else ""


def _size(phrases: Sequence[str]) -> int:
    return sum(map(len, phrases)) + 2 * max(len(phrases) - 1, 0)


def _is_rest(groups: Mapping[str, Group], name: str | None) -> bool:
    return name is None or (name == REST and name in groups and bool(groups[name].origins))


def _phrases(tools: list[Tool], length: int) -> str:
    """Returns what tools do, as many as fit into `length`; one tool for each verb comes first."""
    tools = [tool for tool in tools if not tool.deprecated] or tools
    kinds = {
        tool.name: verb_of(without_method_prefix(tool.name, tool.method)) or tool.semantics.operation for tool in tools
    }
    first = {kinds[tool.name] or tool.name: tool.name for tool in reversed(tools)}
    firsts = frozenset(first.values())
    shown: list[str] = []
    for phrase in _without_names(dict.fromkeys(map(_phrase, sorted(tools, key=lambda tool: tool.name not in firsts)))):
        if phrase and (not shown or sum(map(len, shown)) + len(phrase) + 2 * len(shown) <= length):
            shown.append(phrase)
    return "; ".join(shown)


def _phrase(tool: Tool) -> str:
    sentences = (first_sentence(text) for text in (tool.summary, tool.description, tool.title) if text)
    texts = [text for text in sentences if text]
    text = next((text for text in texts if adds_to_name(text, tool.name)), None)
    several_words = (text for text in texts if " " in text)  # a single word says less than the name of the tool
    return list_phrase(text or next(several_words, None) or tool.title or _name_in_words(tool), _PHRASE_LENGTH)


def _name_in_words(tool: Tool) -> str:
    """Returns the name of a tool in words, "Get berth plan" for `get_berth_plan`."""
    words = " ".join(words_of(tool.name))
    return words[:1].upper() + words[1:] or tool.name


def _short_phrase(tool: Tool) -> str:
    """Returns the title of a tool if it has several words, else its phrase."""
    title = plain_words(tool.title or "").removesuffix(" Tool")
    return clip(title, _PHRASE_LENGTH).rstrip(". ") if " " in title.strip() else _phrase(tool)


def _without_shared_start(service: Service) -> Service:
    """Removes a prefix before a bar or colon that the summaries or descriptions of all tools share."""
    end = len(common_prefix(text for tool in service.tools for text in [tool.summary or tool.description] if text))
    if not end:
        return service
    tools = tuple(
        replace(tool, summary=(tool.summary or tool.description or "")[end:] or None) for tool in service.tools
    )
    return replace(service, tools=tools)
