"""Divides a large service into several skills: the service of each has some of its groups, and what these need.

The common skill has the name of the service. It has what concerns the service as a whole, and every group without a
skill of its own, so that no tool is left out and none is in two skills.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import TypeAlias

from msgspec.structs import replace

from skillgen.errors import Problem
from skillgen.infer.description import skill_name_of, summaries_of, trigger_for, trigger_of_uses
from skillgen.infer.groups import REST
from skillgen.model.resource import Area, Group
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.traversal import type_references, types_named_in, types_reached
from skillgen.model.values import Origin
from skillgen.text.markdown import one_line, plain_words, with_stop
from skillgen.text.slugs import slug
from skillgen.text.summary import TRIGGER, is_usable, sentences

MIN_TOOLS = 5
"""Tools of a group that has a skill of its own."""

MAX_SKILLS = 20
"""Skills next to the common one: hosts show an agent the descriptions of all skills, whatever it does."""

AREA_LIMIT = 40
"""Characters of the end of a skill's name."""

_TITLES_LIMIT = 500
"""Characters of the titles of groups in the description of the common skill."""

_INFERRED = Origin("inferred", "tools")


Part: TypeAlias = tuple[Service, frozenset[str]]
"""The service with what one of several skills documents, and types of results that only the common one describes."""


def areas_of(service: Service) -> dict[str, tuple[str, ...]]:
    """Returns the names of the groups by the end of the name that a skill of them has.

    The parts of a group that is divided for its size are one area, unless there is no other group.
    """
    found: dict[str, list[str]] = defaultdict(list)
    for name, (whole, _) in _wholes(service).items():
        digest = hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:6]
        found[slug(whole, AREA_LIMIT) or f"area-{digest}"].append(name)
    return {area: tuple(names) for area, names in found.items()}


def titles_of(service: Service) -> dict[str, str]:
    """Returns the title of the area that each group is in."""
    return {name: one_line(title) for name, (_, title) in _wholes(service).items()}


def groups_called(text: str, service: Service) -> tuple[str, ...]:
    """Returns the names of the groups that have a name or title, in any case, or are in the area of this name."""
    if found := areas_of(service).get(text):
        return found
    wholes = _wholes(service)
    texts = ({group.name, group.title, *wholes[group.name]} for group in service.groups)
    called = zip(service.groups, texts, strict=True)
    return tuple(group.name for group, names in called if text.casefold() in map(str.casefold, names))


def _wholes(service: Service) -> dict[str, tuple[str, str]]:
    """Returns the name and the title of the area that each group is in."""
    parts = [
        group for group in service.groups if (group.origins or {}).get("name", _INFERRED).source.startswith("size of")
    ]
    is_one = len(parts) == len(service.groups) and len({item.name.rpartition(": ")[0] for item in parts}) == 1
    found = {group.name: (group.name, group.title) for group in service.groups}
    for group in parts:
        name, title = (text.rpartition(": ")[2 if is_one else 0] for text in (group.name, group.title))
        found[group.name] = name, title
    return found


def split_service(service: Service, by: str | None = None) -> tuple[Part, ...]:
    """Returns a part for each skill, the common one first; none if the service has a single skill."""
    areas = _areas(service, by)
    if not areas:
        return ()
    parts = [_part(service, area) for area in areas.values()]
    return _with_used_types(service, [_common(service, parts), *_with_distinct_names(parts)])


def _with_distinct_names(parts: Iterable[Service]) -> Iterator[Service]:
    taken = set[str]()
    for part in parts:
        name = part.part_name or ""
        numbered = (f"{name[:60]}-{number}" for number in range(2, MAX_SKILLS + 2))
        name = next(item for item in chain([name], numbered) if item not in taken)
        taken.add(name)
        yield replace(part, part_name=name)


def _areas(service: Service, by: str | None) -> dict[str, Area]:
    """Returns the parts with a skill each, by its name: the declared ones; by `group`, the largest other groups too."""
    sizes = Counter(tool.group for tool in service.tools)
    areas = {area.name: area for area in service.areas if any(sizes[name] for name in area.groups)}
    taken = {name for area in areas.values() for name in area.groups}
    if by is not None:
        groups = {
            name: names
            for name, names in areas_of(service).items()
            if name != REST and name not in areas and taken.isdisjoint(names)
        }
        counts = {name: sum(sizes[group] for group in names) for name, names in groups.items()}
        largest = sorted(counts, key=lambda name: (-counts[name], name))[: max(MAX_SKILLS - len(areas), 0)]
        areas |= {
            name: Area(name=name, groups=groups[name])
            for name in groups
            if name in largest and counts[name] >= MIN_TOOLS
        }
    return areas


def skills_in(service: Service, by: str | None) -> dict[str, list[str]]:
    """Returns the titles of the groups of each skill but the common one, by the end of the skill's name."""
    areas = _areas(service, by)
    titles = titles_of(service)
    return {
        area: [*dict.fromkeys(title for name, title in titles.items() if name in item.groups)]
        for area, item in areas.items()
    }


def groups_without_skill(service: Service, by: str | None) -> Iterator[Problem]:
    """Yields a problem with the groups that are only in the common skill, unless there are too many for `by`."""
    areas = _areas(service, by)
    listed = {group for area in areas.values() for group in area.groups}
    others = dict.fromkeys(title for name, title in titles_of(service).items() if name not in listed)
    if not areas:
        yield Problem.of("not-split", service.name, f"no group has {MIN_TOOLS} tools, so there is one skill")
    elif by is None and others:
        message = f"{', '.join(others)}: in no skill of `skills`, so their tools are in the common one"
        yield Problem.of("not-split", service.name, message)


def part_called(service: Service, name: str, siblings: Collection[str]) -> Service:
    """Returns the service of the skill of this name, which is split if skills of others are among `siblings`."""
    if not {*siblings} - {name}:
        return service
    parts = [part for part, _ in split_service(service, "group")]
    names = [part.part_name or service.skill_name for part in parts]
    is_split = len({*names} & {name, *siblings}) > 1
    return parts[names.index(name)] if is_split and name in names else service


def _common(service: Service, parts: Sequence[Service]) -> Service:
    """Returns the service with what no part has."""
    names = {tool.name for part in parts for tool in part.tools}
    flows = {flow.name for part in parts for flow in part.workflows}
    tools = tuple(tool for tool in service.tools if tool.name not in names)
    used = {tool.group for tool in tools}
    groups = tuple(group for group in service.groups if group.name in used)
    trigger, purpose = service.trigger, service.purpose
    if purpose and (service.origins or {}).get("purpose", _INFERRED).source in ("groups", "tools"):
        purpose = f"{service.product}: what all of its skills need, and what no other of them has."
    if purpose and not TRIGGER.search(purpose) and not service.when_to_use:
        titles = [title for name, title in titles_of(service).items() if name in used and name != REST]
        start = f"Use when the user mentions {service.product} and no other {service.skill_name} skill is for it"
        trigger = trigger_for(f"{start}, or asks about", titles, _TITLES_LIMIT) or f"{start}."
    return replace(
        service,
        tools=tools,
        groups=groups,
        workflows=tuple(flow for flow in service.workflows if flow.name not in flows),
        purpose=purpose,
        trigger=trigger,
    )


def _part(service: Service, area: Area) -> Service:
    """Returns the service with an area, and with what its tools need."""
    tools = tuple(tool for tool in service.tools if tool.group in area.groups)
    groups = tuple(group for group in service.groups if group.name in area.groups)
    names = {tool.name for tool in tools}
    titles = [*dict.fromkeys(title for name, title in titles_of(service).items() if name in area.groups)]
    product = service.product or service.name
    title = f"{product}: {', '.join(titles)}"
    origin = Origin("declared" if area.summary else "inferred", area.pointer or "groups")
    part = replace(
        service,
        title=title,
        part_name=skill_name_of(service, area.name),
        summary=None,
        description=None,
        instructions=None,
        purpose=with_stop(area.summary) if area.summary else _purpose(title, groups, tools),
        trigger=None,
        when_to_use=area.when_to_use,
        when_not_to_use=area.when_not_to_use,
        groups=groups,
        tools=tools,
        workflows=tuple(flow for flow in service.workflows if {step.tool for step in flow.steps} <= names),
        sections=area.sections,
        resources=(),
        resource_templates=(),
        prompts=(),
        events=(),
        skills=(),
        related=(),
        extensions=None,
        quotations=(),
        areas=(),
        origins={**(service.origins or {}), "purpose": origin, "summary": origin},
    )
    if part.purpose and not TRIGGER.search(part.purpose):
        start = f"Use when the user mentions {product} and asks about"
        part = replace(part, trigger=trigger_of_uses(part, title) or trigger_for(start, titles, _TITLES_LIMIT))
    return part


def _with_used_types(service: Service, parts: Sequence[Service]) -> tuple[Part, ...]:
    """Returns parts with the types that each uses.

    A part describes the types of its arguments, and those of its results that no other part has.
    """
    references = type_references(service)
    used, arguments = [], []
    for part in parts:
        named = types_named_in(part.tools, part.events, part.prompts)
        used.append(types_reached(named, references))
        inputs = [(tool.parameters, tool.input, tool.other_inputs) for tool in part.tools]
        arguments.append(types_reached(types_named_in(*inputs), references))
    counts = Counter(name for names in used for name in names)
    shared = {name for name, count in counts.items() if count > 1}
    split: list[Part] = []
    for part, names, needed in zip(parts, used, arguments, strict=True):
        is_common = not split
        own = names | shared if is_common else names
        schemas = tuple(item for item in service.schemas if item.name in own)
        split.append((replace(part, schemas=schemas), frozenset() if is_common else frozenset(names & shared - needed)))
    return tuple(split)


def _purpose(title: str, groups: Iterable[Group], tools: Iterable[Tool]) -> str:
    """Returns the title, with the first sentence of what the source says of each group, else what tools do."""
    found = (next(sentences(plain_words(group.description or "")), "") for group in groups)
    if words := dict.fromkeys(with_stop(text) for text in found if text and is_usable(text)):
        return " ".join([with_stop(title), *words])
    return summaries_of(title, [plain_words(tool.summary) for tool in tools if tool.summary and not tool.deprecated])
