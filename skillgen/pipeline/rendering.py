"""What the options of a run make of a service: checks them, and renders its documents, which nothing writes here.

It also distinguishes what a new release of skillgen changed in documents from what their source changed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeAlias

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from skillgen.config.project import HOSTS, PACKAGE, OutputOptions
from skillgen.errors import Problem, UsageError
from skillgen.infer.description import skill_name_of, summaries_of, texts_of_tools, trigger_for, trigger_of_uses
from skillgen.infer.inference import REST
from skillgen.model.changes import CHANGED_OTHERWISE, ToolChange, compare_services
from skillgen.model.document import FORMATS, Artifact, Document, Publisher, RenderOptions
from skillgen.model.inventory import service_of_facts
from skillgen.model.resource import Area, ClientEntry
from skillgen.model.service import Service
from skillgen.model.traversal import type_references, types_named_in, types_reached
from skillgen.model.values import Json, Origin, is_inferred
from skillgen.security.secrets import checked_domain, host_of, public_url
from skillgen.text.markdown import counted, one_line, plain_words, with_stop
from skillgen.text.summary import TRIGGER, is_usable, sentences
from skillgen.text.words import distinct, slug
from skillgen.write.plan import Plan
from skillgen.write.record import Record

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
    labels = {item.name: {item.name.casefold(), item.title.casefold(), areas[item.name][0]} for item in service.groups}
    return tuple(name for name, own in labels.items() if names & own)


def _areas(service: Service, by: str | None) -> dict[str, Area]:
    """Returns the parts with a skill each, by its name: the declared ones; by `group`, the largest other groups too."""
    sizes = Counter(map(attrgetter("group"), service.tools))
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


def part_called(service: Service, name: str, siblings: Collection[str]) -> Service:
    """Returns the service of the skill of this name, which is split if skills of others are among `siblings`."""
    others = {*siblings} - {name}
    parts = {part.part_name or service.skill_name: part for part, _ in split_service(service, "group") if others}
    return parts[name] if name in parts and others & parts.keys() else service


def split_service(service: Service, by: str | None = None) -> tuple[Part, ...]:
    """Returns a part for each skill, the common one first; none if the service has a single skill."""
    areas = _areas(service, by).values()
    names = distinct(skill_name_of(service, area.name) for area in areas)
    parts = [replace(_part(service, area), part_name=name) for name, area in zip(names, areas, strict=True)]
    return tuple(_with_used_types(service, [_common(service, parts), *parts])) if parts else ()


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
    # The title, with the first sentence of what the source says of each group, else what tools do.
    words = (next(sentences(plain_words(group.description or "")), "") for group in part.groups)
    usable = dict.fromkeys(with_stop(text) for text in words if text and is_usable(text))
    purpose = " ".join([with_stop(title), *usable]) if usable else summaries_of(title, texts_of_tools(part))
    purpose = with_stop(area.summary) if area.summary else purpose
    start = f"Use when the user mentions {service.product} and asks about"
    trigger = trigger_of_uses(part, title) or trigger_for(start, titles, _TITLES_LIMIT)
    return replace(part, purpose=purpose, trigger=None if TRIGGER.search(purpose) else trigger)


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


def checked_output(output: OutputOptions) -> OutputOptions:
    """Returns the options with the formats in the order of `FORMATS`.

    Raises:
        UsageError: the publisher is invalid, or an option needs another one.
    """
    if not output.emit:
        raise UsageError("no format is given", where="--emit", fix=f"choose from {','.join(FORMATS)}")
    if output.user and (not output.install_to or PACKAGE in output.install_to):
        what = f"has no effect without --install {' or '.join(HOSTS)}"
        raise UsageError(what, where="--user", fix=f"add --install {'|'.join(HOSTS)}, or leave --user out")
    if output.package is not None and PACKAGE not in output.install_to:
        what = f"has no effect without --install {PACKAGE}"
        raise UsageError(what, where="--package", fix=f"add --install {PACKAGE}")
    if output.install_to and "skill" not in output.emit:
        fix = "add skill to it, or leave --install out"
        raise UsageError("the formats have no skill to install", where="--emit", fix=fix)
    render_options(output)
    return replace(output, emit=tuple(name for name in FORMATS if name in output.emit))


_NAMESPACE = re.compile(r"(?=.{3,120}\Z)[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+")


def render_options(output: OutputOptions) -> RenderOptions:
    """Returns the options on which what is rendered depends.

    Raises:
        UsageError: the domain, the URL or the namespace is invalid.
    """
    publish = output.publish
    url = publish.base_url.rstrip("/") if publish.base_url is not None else None
    host, where = host_of(url), "--publish"
    if url is not None and (not url.startswith("https://") or public_url(url) != url or host is None):
        what, fix = "base-url is not an https URL without credentials and query", "write https://HOST/PATH"
        raise UsageError(what, where=where, fix=fix)
    domain = publish.domain if publish.domain is not None else host
    domain = checked_domain(domain, where) if domain is not None else None
    if publish.namespace is not None and not _NAMESPACE.fullmatch(publish.namespace):
        what = f"{publish.namespace!r} is not a namespace"
        raise UsageError(what, where=where, fix="write a domain in reverse order, such as com.acme or io.github.acme")
    card = publish.server_card if publish.server_card is not None else Publisher().server_card
    return RenderOptions(
        formats=tuple(output.emit),
        overrides=None if output.templates is None else str(output.templates),
        profile=output.profile,
        publisher=Publisher(domain=domain, base_url=url, namespace=publish.namespace, server_card=card),
        budget=output.budget,
    )


# -- the documents of a service --------------------------------------------------------------------------------------


class Documents(Struct, frozen=True):
    """Rendered documents."""

    contents: dict[str, bytes]
    """Path to content."""

    artifacts: frozenset[str]
    """The paths of those that are written byte for byte."""

    problems: tuple[Problem, ...]
    """Problems such as texts that had to be left out."""

    services: Mapping[str, Service] = {}
    """What each of several skills documents, by its folder."""

    @classmethod
    def of(cls, items: Sequence[Document | Artifact], *others: Any) -> Documents:
        """Returns rendered documents by their bytes."""
        artifacts = frozenset(item.path for item in items if isinstance(item, Artifact))
        return cls({item.path: item.content for item in items}, artifacts, *others)


def documents_of(service: Service, output: OutputOptions, added: Mapping[str, bytes] = {}) -> Documents:
    """Renders a service; `added` are the files of its skills to which a person added lines, as they will be written.

    Raises:
        UsageError: an option is invalid, or a template has an error.
    """
    from skillgen.render.catalogue import template_problems
    from skillgen.render.formats import render_documents
    from skillgen.render.identity import profile_problems, skill_name

    if service.kind == "mcp" and output.publish.command:
        entry = replace(service.client_entry or ClientEntry(), transport="stdio", command=tuple(output.publish.command))
        origins = {**(service.origins or {}), "client_entry": Origin("declared", "--publish")}
        service = replace(service, client_entry=entry, origins=origins)
    parts, options = split_service(service, output.split), render_options(output)
    items, problems = render_documents(service, options, added, parts)
    others = [*profile_problems(service, output.profile), *template_problems(options.overrides)]
    if (output.split is not None or service.areas) and not parts:
        others.append(Problem.of("not-split", service.name, f"no group has {_MIN_TOOLS} tools, so there is one skill"))
    elif parts and output.split is None and (rest := titles_of(service, [group.name for group in parts[0][0].groups])):
        message = f"{', '.join(rest)}: in no skill of `skills`, so their tools are in the common one"
        others.append(Problem.of("not-split", service.name, message))
    skills = [item for item in items if item.path.startswith("skills/") and item.path.endswith("/SKILL.md")]
    if not all(item.content.startswith(b"---\n") for item in skills):
        message = "SKILL.md has no front matter, so hosts do not find the skill"
        others.append(Problem.of("skill-without-front-matter", "skill/SKILL.md.j2", message))
    documents = Documents.of(items, (*problems, *others), {skill_name(part): part for part, _ in parts})
    if {"plugin", "skill"} <= {*output.emit}:
        documents.contents.update({f"plugin/{path}": content for path, content in added.items()})
    return documents


_IN_DOCUMENTS = ("emit", "publish", "profile", "budget", "split")
"""The options that documents depend on, apart from the templates."""

_VARIABLE = re.compile(rb"\bSKILL_[A-Z0-9_]*[A-Z0-9]")


def declared_digest(service: Service, output: OutputOptions) -> str:
    """Returns a digest of what documents are made from, but for tools and types, which the record has, and for what a
    release infers.
    """
    about = replace(
        service, tools=(), schemas=(), problems=(), advice=(), origins=None, quotations=(), source=(),
        access_level=None, purpose=None, trigger=None, product=None, skill_name=None, source_size_bytes=0,
    )  # fmt: skip
    options = [getattr(output, name) for name in _IN_DOCUMENTS]
    templates = templates_digests(Path(output.templates)) if output.templates is not None else {}
    data = json.dumps(to_builtins([about, options, templates], enc_hook=attrgetter("json"), order="deterministic"))
    return hashlib.sha256(data.encode()).hexdigest()[:16]


def templates_digests(folder: Path) -> dict[str, str]:
    """Returns the digest of every file in a folder of templates, since a new file may replace a built-in template."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def recorded_changes(before: Record, after: Record) -> list[ToolChange]:
    """Returns the changes for callers between two records of a service, breaking ones first.

    What only digests show has the kind `other`; the records of earlier releases have no digests and no limits.
    """
    service, has_limits = after.service or before.service or "", bool(before.digests)
    sides = ([service_of_facts(service, item.tools, item.types, has_limits=has_limits)] for item in (before, after))
    changes = [*compare_services(*sides)]
    listed = {change.tool for change in changes if change.breaking or change.kind in ("added", "removed")}
    for name in dict.fromkeys((*before.digests, *after.digests)) if has_limits else ():
        old, new = before.digests.get(name), after.digests.get(name)
        if old != new and name not in listed:
            text = "added" if old is None else "removed" if new is None else CHANGED_OTHERWISE
            changes.append(ToolChange(tool=name or service, kind="other", text=text, breaking=new is None))
    return sorted(changes, key=lambda change: not change.breaking)


def upgrade_problems(plan: Plan) -> Iterator[Problem]:
    """Yields what a new release changed in documents, if their source and options did not change."""
    old, new = plan.before, plan.after
    is_same = (old.declared, old.offers) == (new.declared, new.offers) and old.release not in (None, new.release)
    if not (plan.drift and is_same) or any(change.kind != "other" for change in recorded_changes(old, new)):
        return
    message = f"by its record, skillgen changed from {old.release} to {new.release}, the source did not"
    message += f": {counted(len(plan.drift), 'file')}"
    sides = zip(*((change.old or b"", change.new or b"") for change in plan.drift), strict=True)
    before, after = (_VARIABLE.findall(b"\n".join(contents)) for contents in sides)
    if names := b", ".join(sorted({*before} - {*after})).decode():
        message += f"; the variable {names} is not used any more"
    yield Problem.of("generator-changed", str(plan.out), message)
