"""The words of a project's author, which win over what the source says."""

from __future__ import annotations

from dataclasses import replace

from skillgen.config.project import Links, Target
from skillgen.errors import Problem, UsageError
from skillgen.model.access import Access
from skillgen.model.offers import Section
from skillgen.model.pointer import child
from skillgen.model.service import Service
from skillgen.model.value import Origin
from skillgen.sources.addresses import public_url


def authored(service: Service, target: Target, pointer: str) -> Service:
    """Gives the service with the author's words; `pointer` is where the target stands, as `skillgen.yaml#/targets/api`.

    Raises:
        UsageError: a link is no address.
    """
    origins = dict(service.origins or {})

    def declared(name: str, key: str) -> None:
        origins[name] = Origin("declared", child(pointer, key))

    if target.name is not None:
        declared("name", "name")
    if target.version is not None:
        declared("version", "version")
    if target.description is not None:
        declared("summary", "description")
    if target.when_to_use:
        service = replace(service, when_to_use=target.when_to_use)
        declared("when_to_use", "when-to-use")
    if target.not_for:
        service = replace(service, when_not_to_use=target.not_for)
        declared("when_not_to_use", "not-for")
    if target.install:
        service = replace(service, install={**(service.install or {}), **target.install})
        declared("install", "install")
    if target.license is not None:
        service = replace(service, license=target.license)
        declared("license", "license")
    own = _sections(target)
    if own:
        titles = {section.title.lower() for section in own}
        kept = tuple(section for section in service.sections if section.title.strip().lower() not in titles)
        service = replace(service, sections=(*own, *kept))
    service = replace(service, access=_access(service.access, target.links, child(pointer, "links")))
    return _with_groups(replace(service, origins=origins or None), target, pointer)


def _sections(target: Target) -> list[Section]:
    found = []
    if target.notes is not None:
        found.append(Section(title="Notes", body=target.notes.strip()))
    if target.best_practices:
        found.append(Section(title="Best Practices", body="\n".join(f"- {item}" for item in target.best_practices)))
    return found


def _access(access: Access, links: Links, pointer: str) -> Access:
    origins = dict(access.origins or {})
    for name in ("cli", "api", "web", "mcp"):
        link = getattr(links, name)
        if link is None:
            continue
        if link.json is not None:
            url = public_url(link.json)
            if url != link.json or not url.startswith(("http://", "https://")):
                raise UsageError(
                    "is no address without credentials and query",
                    where=child(pointer, name),
                    fix="give https://HOST/PATH, or null where there is none",
                )
        access = replace(access, **{name: link})
        origins[name] = Origin("declared", child(pointer, name))
    return replace(access, origins=origins or None)


def _with_groups(service: Service, target: Target, pointer: str) -> Service:
    known = {name for group in service.groups for name in (group.name, group.title)}
    problems = [
        Problem(
            code="group-unknown",
            level="warning",
            where=child(child(pointer, "groups"), name),
            message=f"the service has no group {name!r}",
            fix=f"name one of {', '.join(group.name for group in service.groups)}" if service.groups else None,
        )
        for name in target.groups
        if name not in known
    ]
    groups = []
    for group in service.groups:
        words = target.groups.get(group.name) or target.groups.get(group.title)
        if words is not None:
            group = replace(group, title=words.title or group.title, description=words.intro or group.description)
        groups.append(group)
    return replace(service, groups=tuple(groups), problems=(*service.problems, *problems))
