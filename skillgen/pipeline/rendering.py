"""What the options of a run make of a service: checks them, and renders its documents, which nothing writes here."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from skillgen.config.project import HOSTS, PACKAGE, OutputOptions
from skillgen.errors import Problem, UsageError
from skillgen.model.document import FORMATS, UNKNOWN_PUBLISHER, Artifact, Document, Publisher
from skillgen.model.resource import ClientEntry
from skillgen.model.service import Service
from skillgen.model.values import Origin
from skillgen.security.addresses import checked_domain, host_of, public_url

# -- options ---------------------------------------------------------------------------------------------------------


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
    publisher_of(output)
    return replace(output, emit=tuple(name for name in FORMATS if name in output.emit))


_NAMESPACE = re.compile(r"(?=.{3,120}\Z)[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+")


def publisher_of(output: OutputOptions) -> Publisher:
    """Returns the publisher that the options declare.

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
    card = publish.server_card if publish.server_card is not None else UNKNOWN_PUBLISHER.server_card
    return Publisher(domain=domain, base_url=url, namespace=publish.namespace, server_card=card)


def templates_of(output: OutputOptions) -> Path | None:
    """Returns the folder of the user's templates."""
    return None if output.templates is None else Path(output.templates)


# -- the documents of a service --------------------------------------------------------------------------------------


class Documents(Struct, frozen=True):
    """Rendered documents."""

    items: Sequence[Document | Artifact]
    problems: tuple[Problem, ...]
    """Problems such as texts that had to be left out."""

    copies: Mapping[str, bytes] = {}
    """Files whose content is another: copies of what a person edited."""

    services: Mapping[str, Service] = {}
    """What each of several skills documents, by its folder."""

    @property
    def contents(self) -> dict[str, bytes]:
        """Path to content."""
        return {**{item.path: item.content for item in self.items}, **self.copies}

    @property
    def artifacts(self) -> frozenset[str]:
        """The paths of those that are written byte for byte."""
        return frozenset(item.path for item in self.items if isinstance(item, Artifact))


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
    has_copies = {"plugin", "skill"} <= {*output.emit}
    parts = parts_of(service, output)
    rendered = render_documents(
        service,
        tuple(output.emit),
        templates_of(output),
        output.profile,
        publisher_of(output),
        added,
        output.budget,
        parts,
    )
    copies = {f"plugin/{path}": content for path, content in added.items() if has_copies}
    items, problems = rendered
    others = [*profile_problems(service, output.profile), *template_problems(templates_of(output))]
    others += _split_problems(service, output)
    skills = [item for item in items if item.path.startswith("skills/") and item.path.endswith("/SKILL.md")]
    if not all(item.content.startswith(b"---\n") for item in skills):
        message = "SKILL.md has no front matter, so hosts do not find the skill"
        others.append(Problem.of("skill-without-front-matter", "skill/SKILL.md.j2", message))
    return Documents(items, (*problems, *others), copies, {skill_name(part): part for part, _ in parts})


def parts_of(service: Service, output: OutputOptions) -> Sequence[tuple[Service, Collection[str]]]:
    """Returns what each of several skills documents, and the types that only the common one does."""
    if output.split is None and not service.areas:
        return ()
    from skillgen.infer.split import split_service

    return split_service(service, output.split)


def _split_problems(service: Service, output: OutputOptions) -> Iterator[Problem]:
    """Yields the groups that have no skill, if the service is divided into several."""
    if output.split is not None or service.areas:
        from skillgen.infer.split import groups_without_skill

        yield from groups_without_skill(service, output.split)
