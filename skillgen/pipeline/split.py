"""Divides a large service into several skills: the service of each has some of its groups, and what these need.

The common skill has the name of the service. It has what concerns the service as a whole, and every group without a
skill of its own, so that no tool is left out and none is in two skills.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from typing import TypeAlias

from msgspec.structs import replace

from skillgen.errors import Problem
from skillgen.infer.description import skill_name_of, summaries_of, texts_of_tools, trigger_for, trigger_of_uses
from skillgen.infer.inference import REST
from skillgen.model.resource import Area
from skillgen.model.service import Service
from skillgen.model.traversal import type_references, types_named_in, types_reached
from skillgen.model.values import Json, Origin, is_inferred
from skillgen.text.markdown import one_line, plain_words, with_stop
from skillgen.text.slugs import slug
from skillgen.text.summary import TRIGGER, is_usable, sentences

_MIN_TOOLS = 5
"""Tools of a group that has a skill of its own."""

_MAX_SKILLS = 20
"""Skills next to the common one: hosts show an agent the descriptions of all skills, whatever it does."""

_AREA_LIMIT, _TITLES_LIMIT = 40, 500
"""Characters of the end of a skill's name, and of the titles of groups in a description."""

_ONLY_IN_COMMON: dict[str, Json] = dict.fromkeys(("summary", "description", "instructions", "trigger", "extensions"))
_ONLY_IN_COMMON |= dict.fromkeys(
    ["resources", "resource_templates", "prompts", "events", "skills", "related", "quotations", "areas"], ()
)
"""Fields of a service that no other skill has."""

Part: TypeAlias = tuple[Service, frozenset[str]]
"""The service with what one of several skills documents, and types of results that only the common one describes."""


def _areas_of_groups(service: Service) -> dict[str, tuple[str, str]]:
    """Returns the end of the skill's name, and the title, of the area that each group is in.

    The parts of a group that is divided for its size are one area.
    """
    found: dict[str, tuple[str, str]] = {}
    for group in service.groups:
        name, title = group.name, group.title
        if is_inferred(group, "name") and (group.origins or {})["name"].source.startswith("size of"):
            name, title = name.rpartition(": ")[0], title.rpartition(": ")[0]
        digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:6]
        found[group.name] = slug(name, _AREA_LIMIT) or f"area-{digest}", one_line(title)
    return found


def titles_of(service: Service, groups: Collection[str] | None = None) -> list[str]:
    """Returns the titles of the areas that some groups are in, or all of them."""
    areas = _areas_of_groups(service).items()
    return [*dict.fromkeys(title for name, (_, title) in areas if groups is None or name in groups)]


def groups_called(text: str, service: Service) -> tuple[str, ...]:
    """Returns the names of the groups that have a name or title, in any case, or are in the area of this name."""
    areas, names = _areas_of_groups(service), {text.casefold(), slug(text)}
    return tuple(
        group.name
        for group in service.groups
        if names & {group.name.casefold(), group.title.casefold(), areas[group.name][0]}
    )


def _areas(service: Service, by: str | None) -> dict[str, Area]:
    """Returns the parts with a skill each, by its name: the declared ones; by `group`, the largest other groups too."""
    sizes = Counter(tool.group for tool in service.tools)
    areas = {area.name: area for area in service.areas if any(sizes[name] for name in area.groups)}
    if by is None:
        return areas
    taken = {REST, *chain.from_iterable(area.groups for area in areas.values())}
    groups: dict[str, list[str]] = defaultdict(list)
    for group, (name, _) in _areas_of_groups(service).items():
        if group not in taken and name not in areas:
            groups[name].append(group)
    counts = {name: sum(sizes[group] for group in names) for name, names in groups.items()}
    largest = sorted((name for name in counts if counts[name] >= _MIN_TOOLS), key=lambda name: (-counts[name], name))
    chosen = {*largest[: max(_MAX_SKILLS - len(areas), 0)]}
    return areas | {name: Area(name=name, groups=tuple(groups[name])) for name in groups if name in chosen}


def skills_in(service: Service, by: str | None) -> dict[str, list[str]]:
    """Returns the titles of the groups of each skill but the common one, by the end of the skill's name."""
    return {name: titles_of(service, area.groups) for name, area in _areas(service, by).items()}


def groups_without_skill(service: Service, by: str | None) -> Iterator[Problem]:
    """Yields a problem with the groups that are only in the common skill, unless there are too many for `by`."""
    areas = _areas(service, by)
    listed = {*chain.from_iterable(area.groups for area in areas.values())}
    others = titles_of(service, [group.name for group in service.groups if group.name not in listed])
    if not areas:
        yield Problem.of("not-split", service.name, f"no group has {_MIN_TOOLS} tools, so there is one skill")
    elif by is None and others:
        message = f"{', '.join(others)}: in no skill of `skills`, so their tools are in the common one"
        yield Problem.of("not-split", service.name, message)


def part_called(service: Service, name: str, siblings: Collection[str]) -> Service:
    """Returns the service of the skill of this name, which is split if skills of others are among `siblings`."""
    others = {*siblings} - {name}
    parts = {part.part_name or service.skill_name: part for part, _ in split_service(service, "group") if others}
    return parts[name] if name in parts and others & parts.keys() else service


def split_service(service: Service, by: str | None = None) -> tuple[Part, ...]:
    """Returns a part for each skill, the common one first; none if the service has a single skill."""
    parts: dict[str, Service] = {}
    for area in _areas(service, by).values():
        name = skill_name_of(service, area.name)
        numbered = (f"{name[:60]}-{number}" for number in range(2, _MAX_SKILLS + 2))
        name = next(item for item in (name, *numbered) if item not in parts)
        parts[name] = replace(_part(service, area), part_name=name)
    return tuple(_with_used_types(service, [_common(service, [*parts.values()]), *parts.values()])) if parts else ()


def _common(service: Service, parts: Sequence[Service]) -> Service:
    """Returns the service with what no part has."""
    names = {tool.name for part in parts for tool in part.tools}
    flows = {flow.name for part in parts for flow in part.workflows}
    tools = tuple(tool for tool in service.tools if tool.name not in names)
    groups = tuple(group for group in service.groups if group.name in {tool.group for tool in tools})
    trigger, purpose = service.trigger, service.purpose or ""
    if not purpose or (service.origins or {})["purpose"].source in ("groups", "tools"):
        purpose = f"{service.product}: what all of its skills need, and what no other of them has."
    if not TRIGGER.search(purpose) and not service.when_to_use:
        titles = titles_of(service, [group.name for group in groups if group.name != REST])
        start = f"Use when the user mentions {service.product} and no other {service.skill_name} skill is for it"
        trigger = trigger_for(f"{start}, or asks about", titles, _TITLES_LIMIT) or f"{start}."
    workflows = tuple(flow for flow in service.workflows if flow.name not in flows)
    return replace(service, tools=tools, groups=groups, workflows=workflows, purpose=purpose, trigger=trigger)


def _part(service: Service, area: Area) -> Service:
    """Returns the service with an area, and with what its tools need."""
    tools = tuple(tool for tool in service.tools if tool.group in area.groups)
    names = {tool.name for tool in tools}
    titles = titles_of(service, area.groups)
    title = f"{service.product}: {', '.join(titles)}"
    origin = Origin("declared" if area.summary else "inferred", area.pointer or "groups")
    facts = {
        **_ONLY_IN_COMMON,
        "title": title,
        "when_to_use": area.when_to_use,
        "when_not_to_use": area.when_not_to_use,
        "groups": tuple(group for group in service.groups if group.name in area.groups),
        "tools": tools,
        "workflows": tuple(flow for flow in service.workflows if {step.tool for step in flow.steps} <= names),
        "sections": area.sections,
        "origins": {**(service.origins or {}), "purpose": origin, "summary": origin},
    }
    part = replace(service, **facts)
    purpose = with_stop(area.summary) if area.summary else _purpose(title, part)
    start = f"Use when the user mentions {service.product} and asks about"
    trigger = trigger_of_uses(part, title) or trigger_for(start, titles, _TITLES_LIMIT)
    return replace(part, purpose=purpose, trigger=None if TRIGGER.search(purpose) else trigger)


def _purpose(title: str, part: Service) -> str:
    """Returns the title, with the first sentence of what the source says of each group, else what tools do."""
    found = (next(sentences(plain_words(group.description or "")), "") for group in part.groups)
    if words := dict.fromkeys(with_stop(text) for text in found if text and is_usable(text)):
        return " ".join([with_stop(title), *words])
    return summaries_of(title, texts_of_tools(part))


def _with_used_types(service: Service, parts: Sequence[Service]) -> Iterator[Part]:
    """Yields parts with the types that each uses, the common one with those that several do.

    Another part describes the types of its arguments, and those of its results that no other part has.
    """
    references = type_references(service)
    used = [{*types_reached(types_named_in(part.tools, part.events, part.prompts), references)} for part in parts]
    shared = {name for name, count in Counter(chain.from_iterable(used)).items() if count > 1}
    for part, names in zip(parts, [used[0] | shared, *used[1:]], strict=True):
        inputs = [(tool.parameters, tool.input, tool.other_inputs) for tool in part.tools]
        elsewhere = names & shared - types_reached(types_named_in(*inputs), references) if part.part_name else ()
        yield replace(part, schemas=tuple(item for item in service.schemas if item.name in names)), frozenset(elsewhere)
