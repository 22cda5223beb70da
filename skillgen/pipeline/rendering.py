"""What the options of a run make of a service: checks them, and renders its documents, which nothing writes here.

It also distinguishes what a new release of skillgen changed in documents from what their source changed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from skillgen.config.project import HOSTS, PACKAGE, OutputOptions
from skillgen.errors import Problem, UsageError
from skillgen.model.changes import CHANGED_OTHERWISE, ToolChange, compare_services
from skillgen.model.document import FORMATS, UNKNOWN_PUBLISHER, Artifact, Document, Publisher
from skillgen.model.inventory import service_of_inventory
from skillgen.model.resource import ClientEntry
from skillgen.model.service import Service
from skillgen.model.values import Json, Origin, Value
from skillgen.security.addresses import checked_domain, host_of, public_url
from skillgen.text.markdown import counted
from skillgen.write.plan import Plan
from skillgen.write.record import Record


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
    if output.split is not None or service.areas:
        from skillgen.pipeline.split import groups_without_skill

        others += groups_without_skill(service, output.split)
    skills = [item for item in items if item.path.startswith("skills/") and item.path.endswith("/SKILL.md")]
    if not all(item.content.startswith(b"---\n") for item in skills):
        message = "SKILL.md has no front matter, so hosts do not find the skill"
        others.append(Problem.of("skill-without-front-matter", "skill/SKILL.md.j2", message))
    documents = Documents.of(items, (*problems, *others), {skill_name(part): part for part, _ in parts})
    documents.contents.update(copies)
    return documents


def parts_of(service: Service, output: OutputOptions) -> Sequence[tuple[Service, Collection[str]]]:
    """Returns what each of several skills documents, and the types that only the common one does."""
    if output.split is None and not service.areas:
        return ()
    from skillgen.pipeline.split import split_service

    return split_service(service, output.split)


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
    data = json.dumps(to_builtins([about, options, templates], enc_hook=_plain, order="deterministic"))
    return hashlib.sha256(data.encode()).hexdigest()[:16]


def _plain(value: Any) -> Json:
    return value.json if isinstance(value, Value) else str(value)


def templates_digests(folder: Path) -> dict[str, str]:
    """Returns the digest of every file in a folder of templates, since a new file may replace a built-in template."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def is_upgrade(plan: Plan) -> bool:
    """True if documents change although their source and options did not: another release of skillgen writes them."""
    before, after = plan.before, plan.after
    is_other = bool(plan.drift) and before.release not in (None, after.release)
    same = all(getattr(before, name) == getattr(after, name) for name in ("declared", "offers"))
    return is_other and same and all(change.kind == "other" for change in recorded_changes(before, after))


def recorded_changes(before: Record, after: Record) -> list[ToolChange]:
    """Returns the changes for callers between two records of a service, breaking ones first.

    What only digests show has the kind `other`; the records of earlier releases have no digests and no limits.
    """
    service, has_limits = after.service or before.service or "", bool(before.digests)
    sides = ([service_of_inventory(service, item.tools, item.types, has_limits=has_limits)] for item in (before, after))
    changes = [*compare_services(*sides)]
    listed = {change.tool for change in changes if change.breaking or change.kind in ("added", "removed")}
    for name in dict.fromkeys((*before.digests, *after.digests)) if has_limits else ():
        old, new = before.digests.get(name), after.digests.get(name)
        if old != new and name not in listed:
            text = "added" if old is None else "removed" if new is None else CHANGED_OTHERWISE
            changes.append(ToolChange(tool=name or service, kind="other", text=text, breaking=new is None))
    return sorted(changes, key=lambda change: not change.breaking)


def upgrade_problems(plan: Plan) -> Iterator[Problem]:
    """Yields what a new release changed in documents, if that is all that changed them."""
    if not is_upgrade(plan):
        return
    message = f"by its record, skillgen changed from {plan.before.release} to {plan.after.release}, the source did not"
    message += f": {counted(len(plan.drift), 'file')}"
    sides = zip(*((change.old or b"", change.new or b"") for change in plan.drift), strict=True)
    before, after = (_VARIABLE.findall(b"\n".join(contents)) for contents in sides)
    if names := b", ".join(sorted({*before} - {*after})).decode():
        message += f"; the variable {names} is not used any more"
    yield Problem.of("generator-changed", str(plan.out), message)
