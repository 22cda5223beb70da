"""What the user and the author of a project declare of a service, which wins over its source: selected tools, texts,
links, workflows and effects.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import UNSET
from msgspec.structs import replace

from skillgen.errors import Problem, UsageError
from skillgen.infer.description import with_description, with_summaries
from skillgen.infer.effects import AuthorEffect
from skillgen.infer.inference import infer_effects, infer_missing
from skillgen.model.auth import Access, Endpoint
from skillgen.model.resource import Area, Section
from skillgen.model.service import Service, Workflow, WorkflowStep
from skillgen.model.tool import EFFECTS, is_raised_by
from skillgen.model.values import Origin, Value, child
from skillgen.security.addresses import public_url
from skillgen.security.screening import screen_service
from skillgen.sources.documents import is_url
from skillgen.sources.selection import parse_patterns, select_tools, unmatched_patterns
from skillgen.text.slugs import slug

if TYPE_CHECKING:
    from skillgen.config.project import SkillTexts, Texts
    from skillgen.pipeline.results import Request


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
    unknown = {child(request.place("groups"), name): name for name in declared if name not in known}
    problems = [
        Problem.of("group-unknown", at, f"the service has no group {name!r}", fix) for at, name in unknown.items()
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
    from skillgen.pipeline.split import groups_called, titles_of

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
