"""What the user and the author of a project declare of a service, which wins over its source: selected tools, texts,
links, workflows and effects.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, Struct
from msgspec.structs import replace

from skillgen.errors import Problem, UsageError
from skillgen.infer.description import with_description, with_summaries
from skillgen.infer.effects import AuthorEffect
from skillgen.infer.inference import infer_effects, infer_missing
from skillgen.model.auth import Access, Endpoint
from skillgen.model.resource import Area, Event, Section
from skillgen.model.service import Service, Workflow, WorkflowStep
from skillgen.model.tool import EFFECTS, Tool, is_raised_by
from skillgen.model.traversal import type_references, types_named_in, types_reached
from skillgen.model.values import Origin, Value, child
from skillgen.security.screening import screen_service
from skillgen.security.secrets import public_url
from skillgen.sources.arazzo import usable_workflows
from skillgen.sources.documents import is_url
from skillgen.text.words import slug

if TYPE_CHECKING:
    from skillgen.config.project import SkillTexts, Texts
    from skillgen.pipeline.results import Request

_SUGGESTIONS_LIMIT = 5_000
"""Names, tags, paths and methods that are compared with an unmatched pattern to suggest one."""

_KINDS = ("tag", "path", "method")


class Pattern(Struct, frozen=True, kw_only=True):
    """A parsed pattern."""

    option: str
    """`--include` or `--exclude`."""

    text: str
    """As the user wrote it."""

    glob: str
    """The glob to match with the labels of an item; `*` also matches `/`."""

    def matches(self, item: Tool | Event) -> bool:
        """True if the pattern matches a tool or an event."""
        labels = [f"name:{item.name}"] if self.glob.startswith("name:") else _labels(item)  # often one for each tool
        return any(fnmatchcase(label, self.glob) for label in labels)


def _labels(item: Tool | Event) -> list[str]:
    """Returns what a pattern may select an item by, each after its kind."""
    labels = [f"name:{item.name}", *(f"tag:{tag}" for tag in item.tags)]
    if isinstance(item, Tool):
        facts = {"tag": item.group, "path": item.path, "method": item.method}
        labels += [f"{kind}:{value}" for kind, value in facts.items() if value]
    return labels


def parse_patterns(option: str, texts: Iterable[str]) -> tuple[Pattern, ...]:
    """Parses the patterns of an option.

    Raises:
        UsageError: a pattern is empty, or has nothing after its kind.
    """
    patterns = []
    for text in texts:
        kind, colon, glob = text.strip().partition(":")
        if not (colon and kind in _KINDS):
            kind, glob = "name", text.strip()
        glob = glob.strip()
        if not glob:
            what = f"the pattern {text[:80]!r} is empty"
            raise UsageError(what, where=option, fix="write NAME-GLOB, tag:GLOB, path:GLOB or method:NAME")
        glob = f"{kind}:{glob.upper() if kind == 'method' else glob}"
        patterns.append(Pattern(option=option, text=text.strip(), glob=glob))
    return tuple(patterns)


def select_tools(service: Service, include: Sequence[Pattern], exclude: Sequence[Pattern]) -> Service:
    """Returns the service with the selected tools, and only the groups and named types that they use.

    A pattern that matches nothing is reported.

    Raises:
        UsageError: nothing is selected.
    """
    if not include and not exclude:
        return service
    tools = tuple(tool for tool in service.tools if _is_selected(tool, include, exclude))
    names = {tool.name for tool in tools}
    events = tuple(
        event
        for event in service.events
        if (event.tool in names if event.tool is not None else _is_selected(event, include, exclude))
    )
    candidates: tuple[Tool | Event, ...] = (*service.tools, *service.events)
    if (include or candidates) and not tools and not events:
        what, fix = "the patterns select no tool", "remove a pattern, or make one narrower"
        if unmatched := _unmatched((*include, *exclude), candidates):
            listed = ", ".join(f"`{pattern.text}`" for pattern in unmatched[:5])
            what = f"{listed} {'match' if len(unmatched) > 1 else 'matches'} no tool"
            fix = f"check the spelling or remove the pattern; {_suggestion(unmatched[0], candidates)}"
        raise UsageError(what, where="--include" if include else "--exclude", fix=fix)
    problems = unmatched_patterns((*include, *exclude), candidates)
    used_groups = {tool.group for tool in tools}
    groups = tuple(group for group in service.groups if group.name in used_groups)
    selection = replace(service, tools=tools, events=events, groups=groups)
    used = types_reached(types_named_in(tools, events, selection.prompts), type_references(service))
    workflows, left_out = usable_workflows(service.workflows, names)
    return replace(
        selection,
        schemas=tuple(item for item in service.schemas if item.name in used),
        workflows=workflows,
        problems=(*service.problems, *problems, *left_out),
    )


def unmatched_patterns(patterns: Sequence[Pattern], candidates: Sequence[Tool | Event]) -> list[Problem]:
    """Returns a problem for each pattern that matches nothing."""
    message = "the pattern matches no tool"
    return [
        Problem.of("pattern-unmatched", f"{item.option[2:]} {item.text}", message, _suggestion(item, candidates))
        for item in _unmatched(patterns, candidates)
    ]


def _unmatched(patterns: Sequence[Pattern], candidates: Sequence[Tool | Event]) -> list[Pattern]:
    return [pattern for pattern in patterns if not any(pattern.matches(item) for item in candidates)]


def _suggestion(pattern: Pattern, candidates: Iterable[Tool | Event]) -> str:
    """Returns a fix that suggests a similar pattern: in another case, of another kind, or with a typo."""
    known: dict[str, str] = {}
    for item in candidates:
        for label in _labels(item):
            text = label.removeprefix("name:")
            known.setdefault(text.lower(), text)
            known.setdefault(label.partition(":")[2].lower(), text)
    near = get_close_matches(pattern.text.lower(), list(known)[:_SUGGESTIONS_LIMIT], n=1)
    if near:
        return f"perhaps {known[near[0]]!r} is meant"
    return "compare it with the names, tags, paths and methods of the service"


def _is_selected(item: Tool | Event, include: Sequence[Pattern], exclude: Sequence[Pattern]) -> bool:
    is_included = not include or any(pattern.matches(item) for pattern in include)
    return is_included and not any(pattern.matches(item) for pattern in exclude)


def completed(
    service: Service, request: Request, infer: Callable[[Service, Mapping[str, AuthorEffect]], Service] = infer_missing
) -> Service:
    """Returns a service with what the user and the author declare, and with what `infer` adds.

    The source's texts are screened first, for every kind of source.

    Raises:
        UsageError: an override is not a URL, or a pattern is invalid.
    """
    if prose := request.texts.prose():
        from skillgen.rules.prose import check_texts

        problems = [*check_texts({_place(request, *path): text for path, text in prose.items()}, service)]
        if request.texts_file is not None:  # a clone may have it
            from skillgen.pipeline.draft import orders_in

            flaws = ((path, flaw) for path, text in prose.items() for flaw in orders_in(path[0], text))
            problems += [Problem.of("addresses-reader", _place(request, *path), flaw) for path, flaw in flaws]
        service = replace(service, problems=(*service.problems, *problems))
    if request.extras:
        from skillgen.sources.extra_text import apply_extra

        service = functools.reduce(apply_extra, request.extras, service)
    service = with_summaries(_with_texts(_selected(service, request), request))
    service, effects = _with_effects(service, request)
    service = _with_groups(infer(service, effects), request)
    service = _with_areas(service, request) if request.texts.skills else service
    if service.kind == "mcp" and service.install:
        from skillgen.sources.mcp.publications import with_installed_entry

        service = with_installed_entry(service)
    return with_description(service)


def _place(request: Request, key: str, *keys: str) -> str:
    return child(request.place(key.replace("-", "_")), *keys)


def _selected(service: Service, request: Request) -> Service:
    """Returns the service with the tools that are documented; a problem if its source changed since `draft` wrote its
    texts, or a text names what is gone.
    """
    texts = request.texts
    patterns = (parse_patterns("--include", texts.include), parse_patterns("--exclude", texts.exclude))
    declared, service = service, select_tools(screen_service(service, request.source.screen), *patterns)
    if request.on_declared is None and not texts.drafted:
        return service
    from skillgen.pipeline.draft import names_gone, outdated_texts

    names = {tool.name for tool in service.tools}
    declared = replace(declared, tools=tuple(tool for tool in declared.tools if tool.name in names))
    if request.on_declared is not None:
        request.on_declared(declared)
    problems: list[Problem] = []
    if changes := [f"{', '.join(keys)} ({what})" for what, keys in outdated_texts(texts, declared).items()]:
        message = f"the source changed since these texts were written: {', '.join(changes)}"
        fix = "renew them with `skillgen draft SOURCE --outdated` and the same --out" if request.texts_file else None
        problems.append(Problem.of("text-outdated", request.place("drafted"), message, fix))
    for key, name in names_gone(texts, declared):
        if key != "workflows":  # see `_workflows`
            place = _place(request, key)
            problems.append(Problem.of("text-names-gone", place, f"names {name}, which the service no longer has"))
    return replace(service, problems=(*service.problems, *problems))


_OPTIONS = {"summary": "description", "when_not_to_use": "not_for", "endpoints": "base_url"}
"""Fields of a service to the options that declare them, where the names differ."""


def _with_texts(service: Service, request: Request) -> Service:
    texts, endpoints = request.texts, list[Endpoint]()
    if texts.base_url is not None:
        refuse_secret_url(texts.base_url, "--base-url", "write https://HOST/PATH")
        others = (endpoint for endpoint in service.endpoints if endpoint.url != texts.base_url)
        endpoints = [Endpoint(url=texts.base_url), *others]
    declared: dict[str, Any] = {
        "name": texts.name,
        "version": texts.version,
        "summary": texts.description,
        "when_to_use": texts.when_to_use,
        "when_not_to_use": texts.not_for,
        "license": texts.license,
        "homepage": texts.homepage,
        "install": {**(service.install or {}), **texts.install} if texts.install else None,
        "endpoints": tuple(endpoints),
    }
    declared = {field: value for field, value in declared.items() if value}
    origins = {field: Origin("declared", request.place(_OPTIONS.get(field, field))) for field in declared}
    if texts.name is not None:
        declared["title"] = None  # headings would show it, not the user's name
    sections = _sections(texts)
    titles = {section.title.lower() for section in sections}
    sections += [section for section in service.sections if section.title.strip().lower() not in titles]
    workflows, problems = _workflows(service, request)
    return replace(
        service,
        **declared,
        origins={**(service.origins or {}), **origins} or None,
        sections=tuple(sections),
        access=_access(service.access, request),
        workflows=(*workflows, *service.workflows),
        problems=(*service.problems, *problems),
    )


def _sections(texts: Texts | SkillTexts) -> list[Section]:
    practices = "\n".join(f"- {item}" for item in texts.best_practices)
    sections = [Section(title="Notes", body=texts.notes.strip())] if texts.notes is not None else []
    return [*sections, *([Section(title="Best Practices", body=practices)] if practices else [])]


def _workflows(service: Service, request: Request) -> tuple[list[Workflow], list[Problem]]:
    """Returns the workflows of the author, and a problem for each that calls what is gone."""
    names, problems, flows = {tool.name for tool in service.tools}, [], []
    for number, (goal, steps) in enumerate(request.texts.workflows.items(), 1):
        place = child(request.place("workflows"), goal)
        if unknown := [step.tool for step in steps if step.tool not in names]:
            message = f"a step calls {unknown[0]!r}, which the service does not have"
            problems.append(Problem.of("text-names-gone", place, message))
        known = tuple(
            WorkflowStep(name=str(index), tool=step.tool, description=step.do, pointer=child(place, index))
            for index, step in enumerate(steps)
            if step.tool in names
        )
        flows.append(Workflow(name=f"workflow-{number}", title=goal, steps=known, pointer=place))
    return flows, problems


def _access(access: Access, request: Request) -> Access:
    origins = dict(access.origins or {})
    for name in ("cli", "api", "web", "mcp"):
        link = getattr(request.texts.links, name)
        if link is UNSET:
            continue
        place = child(request.place("links"), name)
        if link is not None:
            refuse_secret_url(link, place, "write https://HOST/PATH, or null if the service has no such access")
        access = replace(access, **{name: Value(link)})
        origins[name] = Origin("declared", place)
    return replace(access, origins=origins or None)


def refuse_secret_url(url: str, where: str, fix: str) -> None:
    """Refuses what is not an HTTP URL, or has credentials or a query.

    Raises:
        UsageError: it is so.
    """
    if public_url(url) != url or not is_url(url):
        raise UsageError("is not a URL without credentials and query", where=where, fix=fix)


def _with_effects(service: Service, request: Request) -> tuple[Service, dict[str, AuthorEffect]]:
    """Returns the effects that the author declares, by tool; unmatched patterns are reported.

    Raises:
        UsageError: a pattern is empty.
    """
    place, declared, problems = request.place("tools"), request.texts.tools, list[Problem]()
    patterns = parse_patterns("--effect" if request.pointer is None else "--tools", declared)

    def declared_effects(names: Collection[str]) -> dict[str, AuthorEffect]:
        found: dict[str, AuthorEffect] = {}
        for effect in EFFECTS:  # of several patterns the worst effect counts, but a name wins
            for pattern in patterns:
                texts = declared[pattern.text]
                if pattern.text in names and texts.effect == effect:
                    author = AuthorEffect(effect, child(place, pattern.text), texts.overrule)
                    matched = (tool.name for tool in service.tools if pattern.matches(tool))
                    found |= {name: author for name in matched if name == pattern.text or name not in names}
        return found

    effects = declared_effects(declared.keys() - request.raising)
    raising = declared_effects(request.raising)
    for tool in infer_effects(service, effects).tools if raising else ():
        known, author = tool.semantics.effect, raising.get(tool.name)
        if author is not None and is_raised_by(known, author.effect):
            effects[tool.name] = author
        elif author is not None and author.effect != known:
            message = f"{tool.name!r} has the effect {author.effect}, which only rises from {known or 'none'}; left out"
            problems.append(Problem.of("safety-facts-disagree", author.place, message))
    problems += unmatched_patterns(patterns, service.tools)
    return replace(service, problems=(*service.problems, *problems)), effects


def _with_groups(service: Service, request: Request) -> Service:
    declared = request.texts.groups
    known = {name for group in service.groups for name in (group.name, group.title)}
    listed = ", ".join(group.name for group in service.groups)
    fix = f"name one of {listed}" if listed else None
    problems = [
        Problem.of("group-unknown", _place(request, "groups", name), f"the service has no group {name!r}", fix)
        for name in declared
        if name not in known
    ]
    groups = []
    for group in service.groups:
        if texts := declared.get(group.name) or declared.get(group.title):
            group = replace(group, title=texts.title or group.title, description=texts.intro or group.description)
        groups.append(group)
    return replace(service, groups=tuple(groups), problems=(*service.problems, *problems))


def _with_areas(service: Service, request: Request) -> Service:
    """Returns the service with the parts that have a skill each.

    Raises:
        UsageError: a name is invalid, a group does not exist, or two skills have the same one.
    """
    from skillgen.pipeline.rendering import groups_called, titles_of

    listed = ", ".join(titles_of(service))
    areas: list[Area] = []
    owners: dict[str, str] = {}
    for name, texts in request.texts.skills.items():
        place = child(request.place("skills"), name)
        if slug(name) != name:
            fix = "write lower-case letters and digits, with single hyphens between"
            raise UsageError("is not the end of a skill's name", where=place, fix=fix)
        groups: list[str] = []
        for text in texts.groups or (name,):
            found = groups_called(text, service)
            if not found:
                fix = f"name groups of {listed}" if listed else "leave the skill out"
                raise UsageError(f"the service has no group {text!r}", where=place, fix=fix)
            if other := next((owners[group] for group in found if group in owners), None):
                what = f"the group {text!r} is in the skill {other!r} already"
                raise UsageError(what, where=place, fix="name each group in one skill")
            groups += found
            owners |= dict.fromkeys(found, name)
        area = Area(
            name=name,
            groups=tuple(groups),
            summary=texts.description,
            when_to_use=tuple(texts.when_to_use),
            when_not_to_use=tuple(texts.not_for),
            sections=tuple(_sections(texts)),
            pointer=place,
        )
        areas.append(area)
    return replace(service, areas=tuple(areas))
