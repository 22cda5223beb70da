"""What the user and the author of a project declare of a service, which wins over its source: selected tools, texts,
links, workflows and effects.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, Struct
from msgspec.structs import asdict, replace

from skillgen.errors import Problem, UsageError
from skillgen.infer.description import with_description, with_summaries
from skillgen.infer.effects import AuthorEffect
from skillgen.infer.inference import grouped, infer_effects, infer_missing
from skillgen.model.auth import Access, Endpoint
from skillgen.model.document import TEXTS_NAME
from skillgen.model.resource import Area, Event, Section
from skillgen.model.service import Service, Workflow, WorkflowStep
from skillgen.model.tool import EFFECTS, Tool, is_raised_by
from skillgen.model.traversal import type_references, types_named_in, types_reached
from skillgen.model.values import Origin, Value
from skillgen.pipeline.ownership import earlier_folder, is_of_other_service, is_site
from skillgen.security.screening import screen_service
from skillgen.security.secrets import public_url
from skillgen.sources.arazzo import usable_workflows
from skillgen.sources.documents import is_url
from skillgen.text.words import slug
from skillgen.write.files import is_below
from skillgen.write.record import read_record

if TYPE_CHECKING:
    from skillgen.config.project import SkillTexts, Texts
    from skillgen.pipeline.results import Reading, Request

_SUGGESTIONS_LIMIT = 5_000
"""Names, tags, paths and methods that are compared with an unmatched pattern to suggest one."""


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
        if not (colon and kind in ("tag", "path", "method")):
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

    A pattern that matches nothing is reported. The origin of `tools` says that patterns left out all of them.
    """
    if not include and not exclude:
        return service
    tools = tuple(tool for tool in service.tools if _is_selected(tool, include, exclude))
    names = {tool.name for tool in tools}
    own = (item for item in service.events if item.tool is not None or _is_selected(item, include, exclude))
    events = tuple(item for item in own if item.tool is None or item.tool in names)
    candidates: tuple[Tool | Event, ...] = (*service.tools, *service.events)
    used_groups = {tool.group for tool in tools}
    groups = tuple(group for group in service.groups if group.name in used_groups)
    selection = replace(service, tools=tools, events=events, groups=groups)
    if service.tools and not tools:
        origin = Origin("declared", "--include" if include else "--exclude")
        selection = replace(selection, origins={**(service.origins or {}), "tools": origin})
    used = types_reached(types_named_in(tools, events, selection.prompts), type_references(service))
    workflows, left_out = usable_workflows(service.workflows, names)
    schemas = tuple(item for item in service.schemas if item.name in used)
    problems = (*service.problems, *unmatched_patterns((*include, *exclude), candidates), *left_out)
    return replace(selection, schemas=schemas, workflows=workflows, problems=problems)


def unmatched_patterns(patterns: Sequence[Pattern], candidates: Sequence[Tool | Event]) -> list[Problem]:
    """Returns a problem for each pattern that matches nothing."""
    unmatched = [item for item in patterns if not any(map(item.matches, candidates))]
    found = ((f"{item.option[2:]} {item.text}", f"`{item.text}` matches no tool", item) for item in unmatched)
    return [Problem.of(_UNMATCHED, where, what, _suggestion(item, candidates)) for where, what, item in found]


_UNMATCHED = "pattern-unmatched"


def checked_patterns(reading: Reading, texts: Texts) -> Reading:
    """Returns what was read, with the report of a pattern only if it matches in none of the services.

    Raises:
        UsageError: the patterns select nothing in any of them.
    """
    found = [{item.where: item for item in each.problems if item.code == _UNMATCHED} for each in reading.services]
    if not found or reading.failures:  # a service that could not be read may have what a pattern is for
        found.append({})
    unmatched = [item for where, item in found[0].items() if all(where in each for each in found)]
    selecting = [item for item in unmatched if item.where.startswith(("include ", "exclude "))]
    is_empty = not (reading.failures or any(each.tools or each.events for each in reading.services))
    if is_empty and (texts.include or len(selecting) < len(texts.exclude)):
        first = next(iter(selecting), Problem.of(_UNMATCHED, "", "the patterns select no tool", "remove one"))
        fix = f"check the spelling or remove the pattern; {first.fix}"
        raise UsageError(first.message, where="--include" if texts.include else "--exclude", fix=fix)

    hidden = set().union(*found) - {item.where for item in unmatched}
    same = [tuple(item for item in each.problems if item.where not in hidden) for each in reading.services]
    services = (replace(each, problems=problems) for each, problems in zip(reading.services, same, strict=True))
    return replace(reading, services=tuple(services))


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


def completed(service: Service, request: Request, *, is_snapshot: bool = False) -> Service:
    """Returns a service with what the user and the author declare, and with what is inferred; a snapshot has groups,
    but an old one may lack effects.

    The source's texts are screened first, for every kind of source.

    Raises:
        UsageError: an override is not a URL, or a pattern is invalid.
    """
    request = with_stored_texts(service, request)
    if prose := request.texts.prose():
        from skillgen.rules.prose import check_texts

        places = {path: request.place(path[0].replace("-", "_"), *path[1:]) for path in prose}
        problems = [*check_texts({places[path]: text for path, text in prose.items()}, service)]
        if request.stored:  # a clone may have the file
            from skillgen.pipeline.draft import orders_in

            stored = (path for path in prose if places[path].startswith(f"{request.texts_file}#"))
            flaws = ((path, flaw) for path in stored for flaw in orders_in(path[0], prose[path]))
            problems += [Problem.of("addresses-reader", places[path], flaw) for path, flaw in flaws]
        service = replace(service, problems=(*service.problems, *problems))
    if request.extras:
        from skillgen.sources.extra_text import apply_extras

        service = apply_extras(service, request.extras)
    service = _selected(service, request)
    if request.on_declared is not None:
        request = dataclasses.replace(request, texts=_undrafted(request.texts))
    service = with_summaries(_with_texts(service, request))
    service, effects = _with_effects(service, request)
    service = infer_effects(service, effects) if is_snapshot else infer_missing(service, effects)
    if request.is_for_documents:
        service = _with_groups(service if is_snapshot else grouped(service), request)
    service = _with_areas(service, request) if request.texts.skills else service
    if service.kind == "mcp" and service.install:
        from skillgen.sources.mcp.publications import with_installed_entry

        service = with_installed_entry(service)
    return with_description(service) if request.is_for_documents else service


def with_stored_texts(service: Service, request: Request) -> Request:
    """Returns the request with the texts in the folder that will have the documents of a service, else in the one
    that has them. A text of the request replaces that of the file; of effects, both count.

    Raises:
        UsageError: the file has other keys, or cannot be read.
    """
    if request.documents is None:
        return request
    place, own = request.documents, request.texts
    record = read_record(place.out)
    earlier = earlier_folder(service, place, record)
    folder = place.out if earlier is None or (place.out / TEXTS_NAME).is_file() else earlier
    file, is_freed = folder / TEXTS_NAME, earlier is not None and is_site(record)
    request = dataclasses.replace(request, texts_file=file.as_posix())
    if not file.is_file() or (not is_freed and is_of_other_service(service, replace(place, out=folder))):
        return request
    if not is_below(file, folder):
        raise UsageError("leads outside its folder", where=file.as_posix(), fix="replace the link by the file")
    from skillgen.config.loader import read_options  # loads YAML
    from skillgen.config.project import DRAFTED, Texts

    stored = read_options(Texts, file)
    for name in Texts.__struct_fields__:
        if name not in DRAFTED and getattr(stored, name) != getattr(Texts(), name):
            fix = "write other texts as options, or use a skillgen.yaml"
            raise UsageError(f"no such key: {name.replace('_', '-')}", where=file.as_posix(), fix=fix)
    only: set[tuple[str, ...]] = {(key,) for key in DRAFTED if getattr(stored, key) and not getattr(own, key)}
    values = {name: getattr(own, name) or getattr(stored, name) for name in DRAFTED}
    values["tools"] = {**stored.tools, **own.tools}
    names = [name.replace("_", "-") for (name,) in only]
    records = (replace(item, texts=[key for key in item.texts if key in names]) for item in stored.drafted)
    values["drafted"] = (*own.drafted, *records)
    only |= {("tools", pattern) for pattern in stored.tools.keys() - own.tools.keys()}
    return dataclasses.replace(request, texts=replace(own, **values), stored=only)


def _undrafted(texts: Texts) -> Texts:
    """Returns the texts without those of `draft`, but with effects and the groups of skills."""
    from skillgen.config.project import DRAFTED, SkillTexts, Texts

    skills = {name: SkillTexts(groups=skill.groups) for name, skill in texts.skills.items()}
    return replace(texts, **{name: getattr(Texts(), name) for name in DRAFTED if name != "tools"} | {"skills": skills})


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
        request.on_declared(declared, request)
    problems: list[Problem] = []
    if changes := [f"{', '.join(keys)} ({what})" for what, keys in outdated_texts(texts, declared).items()]:
        message = f"the source changed since these texts were written: {', '.join(changes)}"
        fix = "renew them with `skillgen draft SOURCE --outdated` and the same --out"
        fix = fix if ("drafted",) in request.stored else ""
        problems.append(Problem.of("text-outdated", request.place("drafted"), message, fix))
    for key, name in names_gone(texts, declared):
        if key != "workflows":  # see `_workflows`
            place = request.place(key.replace("-", "_"))
            problems.append(Problem.of("text-names-gone", place, f"names {name}, which the service no longer has"))
    return replace(service, problems=(*service.problems, *problems))


_FIELDS = {"description": "summary", "not_for": "when_not_to_use", "base_url": "endpoints"}
"""Options to the fields of a service that they declare, where the names differ."""


def _with_texts(service: Service, request: Request) -> Service:
    texts = request.texts
    names = ["name", "version", "description", "when_to_use", "not_for", "license", "homepage", "install", "base_url"]
    given = {_FIELDS.get(name, name): name for name in names if getattr(texts, name)}
    declared: dict[str, Any] = {field: getattr(texts, name) for field, name in given.items()}
    origins = {field: Origin("declared", request.place(name)) for field, name in given.items()}
    if texts.install:
        declared["install"] = {**(service.install or {}), **texts.install}
    if texts.base_url is not None:
        refuse_secret_url(texts.base_url, "--base-url", "write https://HOST/PATH")
        others = (endpoint for endpoint in service.endpoints if endpoint.url != texts.base_url)
        declared["endpoints"] = (Endpoint(url=texts.base_url), *others)
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
        place = request.place("workflows", goal)
        if unknown := [step.tool for step in steps if step.tool not in names]:
            message = f"a step calls {unknown[0]!r}, which the service does not have"
            problems.append(Problem.of("text-names-gone", place, message))
        known = []
        for index, step in enumerate(steps):
            if step.tool in names:
                at = f"{place}/{index}"
                known.append(WorkflowStep(name="", tool=step.tool, description=step.do, pointer=at))
        flows.append(Workflow(name=f"workflow-{number}", title=goal, steps=tuple(known), pointer=place))
    return flows, problems


def _access(access: Access, request: Request) -> Access:
    origins = dict(access.origins or {})
    for name, link in asdict(request.texts.links).items():
        if link is not UNSET:
            place = request.place("links", name)
            if link is not None:
                refuse_secret_url(link, place, "write https://HOST/PATH, or null if the service has no such access")
            access, origins[name] = replace(access, **{name: Value(link)}), Origin("declared", place)
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
    declared, problems = request.texts.tools, list[Problem]()
    patterns_of_file = {keys[1] for keys in request.stored if keys[0] == "tools" and keys[1:]}
    patterns = parse_patterns("--effect" if request.pointer is None else "--tools", declared)

    def declared_effects(names: Collection[str]) -> dict[str, AuthorEffect]:
        found: dict[str, AuthorEffect] = {}
        for effect in EFFECTS:  # of several patterns the worst effect counts, but a name wins
            for pattern in patterns:
                texts = declared[pattern.text]
                if pattern.text in names and texts.effect == effect:
                    author = AuthorEffect(effect, request.place("tools", pattern.text), texts.overrule)
                    matched = (tool.name for tool in service.tools if pattern.matches(tool))
                    found |= {name: author for name in matched if name == pattern.text or name not in names}
        return found

    effects = declared_effects(declared.keys() - patterns_of_file)
    raising = declared_effects(patterns_of_file)
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
    unknown = ((request.place("groups", name), name) for name in declared if name not in known)
    problems = [Problem.of("group-unknown", at, f"the service has no group {name!r}", fix) for at, name in unknown]
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
        place = request.place("skills", name)
        if slug(name) != name:
            fix = "write lower-case letters and digits, with single hyphens between"
            raise UsageError("is not the end of a skill's name", where=place, fix=fix)
        for text in texts.groups or (name,):
            found = groups_called(text, service)
            if not found:
                fix = f"name groups of {listed}" if listed else "leave the skill out"
                raise UsageError(f"the service has no group {text!r}", where=place, fix=fix)
            if other := next((owners[group] for group in found if group in owners), None):
                what = f"the group {text!r} is in the skill {other!r} already"
                raise UsageError(what, where=place, fix="name each group in one skill")
            owners |= dict.fromkeys(found, name)
        area = Area(
            name=name,
            groups=tuple(group for group, owner in owners.items() if owner == name),
            summary=texts.description,
            when_to_use=tuple(texts.when_to_use),
            when_not_to_use=tuple(texts.not_for),
            sections=tuple(_sections(texts)),
            pointer=place,
        )
        areas.append(area)
    return replace(service, areas=tuple(areas))
