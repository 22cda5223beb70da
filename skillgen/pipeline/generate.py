"""Renders a service and writes its documents: service -> documents -> plan -> write or diff.

`generate` does so for each place of a run: OUT, and the folders in which hosts look for skills. An installed skill
has a folder and a record of its own there, so that nothing else in that folder is ever touched. `orphaned_folders`
finds the documents of targets, servers and names that no longer exist.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import chain, count, zip_longest
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from skillgen.config.project import DEFAULT_OUT, HOSTS, PACKAGE, OutputOptions
from skillgen.errors import EditedError, ExitCode, Problem, SkillgenError, SourceError, UsageError
from skillgen.infer.description import described, with_description
from skillgen.model.document import (
    BYTES_PER_TOKEN,
    FORMATS,
    UNKNOWN_PUBLISHER,
    Artifact,
    Document,
    Publisher,
)
from skillgen.model.inventory import UNREAD_DOCUMENTS, inventory_of, offers_of, types_of
from skillgen.model.service import Service
from skillgen.pipeline.ownership import SITE, has_documents, is_same_service, refuse_other_service, words_in_record
from skillgen.pipeline.packages import SkillFolder, skill_folders
from skillgen.problem_codes import CODES, WHERE
from skillgen.security.addresses import host_of, public_url
from skillgen.text.markdown import one_line
from skillgen.write.files import is_below
from skillgen.write.plan import Action, Plan
from skillgen.write.record import RECORD_NAME, Record, content_of, lines_of, read_record


class Place(Struct, frozen=True, kw_only=True):
    """A folder to write documents to."""

    out: Path
    within: Path | None = None
    """The folder that the user named, if `out` is a folder in it with a name from the source."""

    siblings: tuple[Path, ...] = ()
    """Folders of all documents of the run. Folders with the same owner that are not among them are orphaned."""

    owner: Path | None = None
    """What `out` belongs to, if not to the user alone: the project file, the folder of all services of a run, or the
    documents that an installed skill is a copy of."""

    target: str | None = None
    """The target of the project's file, with the name of the server if it has several."""

    install: tuple[SkillFolder, ...] = ()
    """Folders to install the skill into."""

    installed_in: SkillFolder | None = None
    """The one that `out` is in, if it is an installed skill."""

    @property
    def is_installed(self) -> bool:
        """True for an installed skill."""
        return self.installed_in is not None


OutcomeKind = Literal["documents", "installed", "site", "removed"]
"""The documents of a service, an installed copy of its skill, the documents above those of several services, or
documents of something that no longer exists."""


class Outcome(Struct, frozen=True, kw_only=True):
    """What a run did in one folder, or with `check` would do."""

    kind: OutcomeKind
    plan: Plan
    is_check: bool
    """True if nothing was written."""

    service: Service | None = None
    """The service that was documented; `None` for the kinds `site` and `removed`, and if its documents were up to
    date without reading it."""

    problems: tuple[Problem, ...] = ()
    skill_tokens: int | None = None
    """Tokens of SKILL.md; `None` if it is not among the formats."""

    @property
    def exit_code(self) -> ExitCode:
        """`DRIFT` if a check found changes, else `DONE`."""
        return ExitCode.DRIFT if self.is_check and self.plan.drift else ExitCode.DONE


class Failure(Struct, frozen=True, kw_only=True):
    """A service that could not be documented."""

    error: SkillgenError
    source_problems: tuple[Problem, ...] = ()

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problems of its source, and the error as a problem."""
        return (*self.source_problems, problem_from_error(self.error))

    @property
    def exit_code(self) -> ExitCode:
        """The exit code of the error."""
        return self.error.exit_code


class File(Struct, frozen=True, kw_only=True):
    """A file of the documents."""

    path: Path
    """Its path, which begins with OUT."""

    action: Action
    """`create`, `replace`, `delete`, or `keep` if it is up to date."""


class Result(Struct, frozen=True, kw_only=True):
    """What a run did, or in a check would do."""

    steps: tuple[Outcome | Failure, ...] = ()
    """The result for each folder, and for each service that failed, in the order of the run."""

    notices: tuple[Problem, ...] = ()
    """Problems of the run itself, such as documents of something that no longer exists."""

    is_one: bool = True
    """True if the source has one service; its documents are in OUT itself."""

    def joined(self, other: Result) -> Result:
        """Returns the result of two parts of a run."""
        return replace(self, steps=(*self.steps, *other.steps), notices=(*self.notices, *other.notices))

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """The results of the folders that were documented."""
        return tuple(step for step in self.steps if isinstance(step, Outcome))

    @property
    def errors(self) -> tuple[SkillgenError, ...]:
        """Why services could not be documented."""
        return tuple(step.error for step in self.steps if isinstance(step, Failure))

    @property
    def files(self) -> tuple[File, ...]:
        """Every file of the documents, with what happened to it."""
        return tuple(
            File(path=outcome.plan.out / change.path, action=change.action)
            for outcome in self.outcomes
            for change in outcome.plan.changes
        )

    @property
    def changed(self) -> tuple[Path, ...]:
        """The files that were created, replaced or deleted, or in a check would be."""
        return tuple(outcome.plan.out / change.path for outcome in self.outcomes for change in outcome.plan.drift)

    @property
    def drift(self) -> bool:
        """True if the documents differed from what the source yields."""
        return bool(self.changed)

    @property
    def diff(self) -> str:
        """The changes of a check as a unified diff; empty after a run that wrote them."""
        return "".join(outcome.plan.diff for outcome in self.outcomes if outcome.is_check)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problems of the sources and of the documents; each failed service is one."""
        return (*(problem for step in self.steps for problem in step.problems), *self.notices)

    @property
    def exit_code(self) -> ExitCode:
        """The exit code of a command with this result."""
        return max((step.exit_code for step in self.steps), default=ExitCode.DONE)

    @property
    def documents(self) -> dict[Path, Collection[str]]:
        """Each folder that has documents, resolved, to their paths."""
        return {outcome.plan.out.resolve(): outcome.plan.after.states for outcome in self.outcomes}

    @property
    def counts(self) -> dict[str, int]:
        """How many services, tools, parameters, resources, prompts and files were documented."""
        documented = [outcome for outcome in self.outcomes if outcome.kind == "documents"]
        offers = [outcome.plan.after.offers for outcome in documented]
        return {
            "services": len(documented),
            "tools": sum(len(outcome.plan.after.tools) for outcome in documented),
            "parameters": sum(map(_parameter_count, documented)),
            "resources": sum(
                offer.get(part, 0) for offer in offers for part in ("resources/list", "resources/templates/list")
            ),
            "prompts": sum(offer.get("prompts/list", 0) for offer in offers),
            "files": sum(len(outcome.plan.changes) for outcome in self.outcomes),
        }


def _parameter_count(outcome: Outcome) -> int:
    if outcome.service is not None:
        return sum(len(tool.parameters) for tool in outcome.service.tools)
    tools = outcome.plan.after.tools.values()
    return sum(not set(name) & set(".[") for tool in tools for name in tool.get("takes", ()))


def problem_from_error(error: SkillgenError) -> Problem:
    """Returns the fatal error of one service as a problem of the run."""
    return Problem.of(code="service-failed", where=error.where or "", message=error.what, fix=error.fix)


def write_service(service: Service, output: OutputOptions, place: Place) -> tuple[Outcome, ...]:
    """Renders a service and writes its documents, and its skill for each host; with `check`, only plans it.

    All places are planned before anything is written: an edit in one of them leaves all unchanged.

    Raises:
        SourceError: the service lacks tools or parts that its documents have, or has problems in a `strict` run.
        EditedError: a file that would be overwritten was edited; nothing was written.
        OutputError: a place cannot be written.
        UsageError: a template has an error, or a place has documents of another service.
    """
    from skillgen.render.catalogue import template_problems
    from skillgen.render.invocation import profile_problems
    from skillgen.write.files import lock_folder, refuse_outside
    from skillgen.write.plan import apply_plan

    places = [place, *_installations(service, place)]
    if gone := [problem for problem in service.problems if problem.code == "text-names-gone"]:
        raise UsageError(gone[0].message, where=gone[0].where, fix=gone[0].fix)
    if output.strict:
        _refuse_problems(service.problems)
    rendered = _documents(service, output)
    generated = documents = rendered.contents
    for item in () if output.replace else places:  # before a folder is created
        refuse_outside(item.out, item.within)
        _refuse_other_service(read_record(item.out), _identity(service, item), item, place)
    with ExitStack() as stack:
        plans, held = [], []
        for item in places:
            if not output.check:
                held.append(stack.enter_context(lock_folder(item.out, item.within)))
            refuse_outside(item.out, item.within)
            plans.append(_plan(service, _documents_for(documents, service, item), rendered.artifacts, output, item))
            if not output.replace:
                _refuse_other_service(plans[-1].before, plans[-1].after, item, place)
            if item is place and (added := _added_to_skill(plans[-1], documents, service)):
                rendered = _documents(service, output, added)
                plans[-1] = _plan(service, rendered.contents, rendered.artifacts, output, item)
                documents = {**rendered.contents, **added}
        if not output.check:
            for plan in plans:
                _refuse_conflicts(plan)
        for plan, out in zip(plans, held, strict=False):
            apply_plan(plan, out)
    skill = next((content for path, content in documents.items() if path.endswith("SKILL.md")), None)
    skill_tokens = -int(-len(skill) // BYTES_PER_TOKEN) if skill is not None else None
    source_problems = [*service.problems]
    if skill is not None and not skill.startswith(b"---\n"):
        source_problems.append(_WITHOUT_FRONT_MATTER)
    source_problems += [
        *rendered.problems,
        *profile_problems(service, output.profile),
        *template_problems(_templates(output)),
        *_prose_problems(plans[0], generated, service),
    ]
    return tuple(
        Outcome(
            kind="installed" if item.is_installed else "documents",
            plan=plan,
            is_check=output.check,
            service=service,
            problems=(
                *(() if item.is_installed else source_problems),
                *_plan_problems(plan),
            ),
            skill_tokens=skill_tokens,
        )
        for item, plan in zip(places, plans, strict=True)
    )


_WITHOUT_FRONT_MATTER = Problem.of(
    code="skill-without-front-matter",
    where="skill/SKILL.md.j2",
    message="SKILL.md has no front matter, so hosts do not find the skill",
)


def write_services(
    services: Iterable[Service], output: OutputOptions, place: Place, failures: Sequence[SkillgenError] = ()
) -> Result:
    """Documents the services of one source, each in a folder of OUT if there are several.

    A service that fails does not stop the others. `failures` holds the errors of services that could not be read.
    """
    services = tuple(services)
    is_one = len(services) + len(failures) == 1
    steps: list[Outcome | Failure] = [Failure(error=error) for error in failures]
    names = _folder_names(services)
    folders = tuple(place.out / name for name in names)
    services = _with_distinct_names(services, folders if failures else ())
    has_site = not is_one and bool(services) and any(FORMATS[name].site_renderer for name in output.emit)
    if has_site and not output.replace:
        _refuse_site(services, place)
    written: list[tuple[str, Service, Outcome]] = []
    for name, service, folder in zip(names, services, folders, strict=True):
        own = place
        if not is_one:
            siblings = (*place.siblings, *folders)
            target = f"{place.target} {name}" if place.target else None
            own = replace(place, out=folder, within=place.out, owner=place.out, siblings=siblings, target=target)
        try:
            outcomes = write_service(service, output, own)
        except SkillgenError as error:
            steps.append(Failure(error=error, source_problems=service.problems if is_one else ()))
        else:
            steps += outcomes
            written.append((name, service, outcomes[0]))
    if has_site and written:
        try:
            is_partial = any(isinstance(step, Failure) for step in steps)
            steps.append(_write_site(written, output, place.out, is_partial=is_partial))
        except SkillgenError as error:
            steps.append(Failure(error=error))
    return Result(steps=tuple(steps), is_one=is_one)


def _refuse_site(services: Iterable[Service], place: Place) -> None:
    """Refuses to write above the documents of several services over those of a service that is not one of them.

    Raises:
        UsageError: the folder has such documents.
    """
    before = read_record(place.out)
    if not any(is_same_service(before, _identity(service, place), place.out) for service in services):
        refuse_other_service(before, Record(service=SITE, source=(SITE,)), place)


def write_documents(
    services: Iterable[Service], output: OutputOptions, failures: Sequence[SkillgenError] = ()
) -> Result:
    """Documents the services of one source, and reports or removes the documents of those that no longer exist.

    Raises:
        UsageError: an option is invalid.
    """
    output = checked_output(output)
    out = Path(output.out or DEFAULT_OUT)
    install = skill_folders(output)
    result = write_services(services, output, Place(out=out, install=install), failures)
    if result.exit_code not in (ExitCode.DONE, ExitCode.DRIFT):
        return result
    folders = orphaned_folders(
        result.documents, [out], [out], [*map(Path, HOSTS.values()), *(item.path for item in install)]
    )
    return result.joined(prune_folders(folders, prune=output.prune, check=output.check))


def checked_output(output: OutputOptions) -> OutputOptions:
    """Returns the options with the formats in the order of `FORMATS`.

    Raises:
        UsageError: the publisher is invalid, or an option needs another one.
    """
    if not output.emit:
        raise UsageError("no format is given", where="--emit", fix=f"choose from {','.join(FORMATS)}")
    if output.user and not output.install_to:
        raise UsageError("has no effect without --install", where="--user", fix=f"add --install {'|'.join(HOSTS)}")
    if output.user and PACKAGE in output.install_to:
        what = "installs into the home folder, and the package is in the project"
        raise UsageError(what, where="--user", fix=f"leave out --user, or --install {PACKAGE}")
    if output.package is not None and PACKAGE not in output.install_to:
        raise UsageError(
            f"has no effect without --install {PACKAGE}", where="--package", fix=f"add --install {PACKAGE}"
        )
    if output.install_to and "skill" not in output.emit:
        fix = "add skill to it, or leave --install out"
        raise UsageError("the formats have no skill to install", where="--emit", fix=fix)
    publisher_of(output)
    return replace(output, emit=tuple(name for name in FORMATS if name in output.emit))


_DOMAIN = re.compile(r"(?=.{1,253}\Z)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]")
_NAMESPACE = re.compile(r"(?=.{3,120}\Z)[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+")


def publisher_of(output: OutputOptions) -> Publisher:
    """Returns the publisher that the options declare.

    Raises:
        UsageError: the domain, the URL or the namespace is invalid.
    """
    publish = output.publish
    url = publish.base_url.rstrip("/") if publish.base_url is not None else None
    host = host_of(url)
    where, fix = "--publish", "write https://HOST/PATH, without credentials and query"
    if url is not None and (not url.startswith("https://") or public_url(url) != url or host is None):
        raise UsageError("base-url is not an https URL without credentials and query", where=where, fix=fix)
    domain = publish.domain.lower() if publish.domain is not None else host
    if domain is not None and not _DOMAIN.fullmatch(domain):
        raise UsageError(f"{domain!r} is not a domain", where=where, fix="write a domain such as acme.com")
    if publish.namespace is not None and not _NAMESPACE.fullmatch(publish.namespace):
        what = f"{publish.namespace!r} is not a namespace"
        raise UsageError(what, where=where, fix="write a domain in reverse order, such as com.acme or io.github.acme")
    card = publish.server_card if publish.server_card is not None else UNKNOWN_PUBLISHER.server_card
    return Publisher(domain=domain, base_url=url, namespace=publish.namespace, server_card=card)


def _templates(output: OutputOptions) -> Path | None:
    return None if output.templates is None else Path(output.templates)


def _plan(
    service: Service,
    documents: Mapping[str, bytes],
    artifacts: Collection[str],
    output: OutputOptions,
    place: Place,
) -> Plan:
    from skillgen.write.plan import plan_documents

    record = replace(
        _identity(service, place), tools=inventory_of(service), types=types_of(service), offers=offers_of(service)
    )
    plan = plan_documents(place.out, documents, record, artifacts=artifacts, force=output.force)
    if not output.allow_empty:
        _refuse_empty(service, plan)
        _refuse_partial(service, plan)
    return plan


def _identity(service: Service, place: Place) -> Record:
    """Returns the record of a place without what is documented."""
    source = tuple(map(one_line, words_in_record(service, place.out)))
    return Record(service=one_line(service.name), target=place.target, source=source, owner=_owner_from(place))


def _owner_from(place: Place) -> str | None:
    """Returns the path from OUT to its owner; `None` if it would name folders above the project."""
    owner, out = place.owner, place.out
    if owner is None:
        return None
    top = place.installed_in.project if place.installed_in else owner if owner.is_dir() else owner.parent
    if not (is_below(owner, top) and is_below(out, top)):
        return None
    return Path(os.path.relpath(owner.resolve(), out.resolve())).as_posix()


def _refuse_other_service(before: Record, after: Record, place: Place, main: Place) -> None:
    """Refuses a place with the documents of another service, or an installed skill that other documents still have.

    Raises:
        UsageError: it is one.
    """
    is_known = place.is_installed and before.owner is not None and after.owner is not None
    is_other = is_known and bool(before.states) and _is_copy_of_others(place.out, before, main)
    refuse_other_service(before, after, place, is_other=is_other)


class _Documents(Struct, frozen=True):
    """Rendered documents."""

    contents: Mapping[str, bytes]
    """Path to content."""

    artifacts: Collection[str]
    """The paths of those that are written byte for byte."""

    problems: tuple[Problem, ...]
    """Problems such as texts that had to be left out."""


def _documents(service: Service, output: OutputOptions, added: Mapping[str, bytes] = {}) -> _Documents:
    """Renders a service; `added` are the files of its skill to which a person added lines, as they will be written."""
    from skillgen.render.formats import render_documents

    publisher = publisher_of(output)
    rendered = render_documents(
        service, tuple(output.emit), _templates(output), output.profile, publisher, _below_skill(added), output.budget
    )
    contents = _contents(*rendered)
    if "plugin" not in output.emit or "skill" not in output.emit:
        return contents
    copies = {f"plugin/{path}": content for path, content in added.items()}
    return replace(contents, contents={**contents.contents, **copies})


def _below_skill(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Returns files with their paths relative to the folder of the skill."""
    return {path.split("/", 2)[2]: content for path, content in files.items()}


def _added_to_skill(plan: Plan, documents: Mapping[str, bytes], service: Service) -> dict[str, bytes]:
    """Returns the files of the skill that have lines of a person, with them; line ends are those of a document."""
    from skillgen.render.identity import skill_name

    folder = f"skills/{skill_name(service)}/"
    return {
        change.path: content_of(lines)
        for change in plan.changes
        if change.path.startswith(folder)
        and change.new is not None
        and (lines := lines_of(change.new)) != lines_of(documents.get(change.path, b""))
    }


def _contents(documents: Sequence[Document | Artifact], problems: tuple[Problem, ...]) -> _Documents:
    artifacts = frozenset(item.path for item in documents if isinstance(item, Artifact))
    return _Documents({item.path: item.content for item in documents}, artifacts, problems)


def _documents_for(documents: Mapping[str, bytes], service: Service, place: Place) -> Mapping[str, bytes]:
    """Returns the documents that go to a place; for an installed skill, its own files relative to its folder."""
    if not place.is_installed:
        return documents
    from skillgen.render.identity import skill_name

    folder = f"skills/{skill_name(service)}/"
    return {path[len(folder) :]: content for path, content in documents.items() if path.startswith(folder)}


def _write_site(
    written: Sequence[tuple[str, Service, Outcome]], output: OutputOptions, folder: Path, *, is_partial: bool
) -> Outcome:
    """Writes the documents above those of several services; with `check`, only plans them.

    If some services failed, only llms.txt is written, with those that still have documents of an earlier run.

    Raises:
        EditedError: a file was edited.
        OutputError: OUT cannot be written.
        UsageError: a template has an error.
    """
    from skillgen.render.formats import render_site
    from skillgen.write.plan import plan_documents

    names, services, outcomes = zip(*written, strict=True)
    added = [
        _below_skill(_added_to_skill(outcome.plan, {}, service))
        for service, outcome in zip(services, outcomes, strict=True)
    ]
    earlier = _earlier_services(folder, names) if is_partial else {}
    formats = ["llms"] if is_partial else output.emit
    rendered, entries = render_site(
        services,
        names,
        formats,
        _templates(output),
        output.profile,
        publisher_of(output),
        added,
        earlier,
        output.budget,
    )
    contents = _contents(*rendered)
    record = Record(service=SITE, source=(SITE,), services=entries)

    def planned() -> Plan:
        kept = read_record(folder).states.keys() - {"llms.txt"} if is_partial else ()
        return plan_documents(
            folder, contents.contents, record, artifacts=contents.artifacts, kept=kept, force=output.force
        )

    plan = _carried_out(folder, planned, is_check=output.check)
    problems = [*contents.problems, *_plan_problems(plan)]
    if is_partial:
        shown = ", ".join(names) + (f"; of an earlier run {', '.join(earlier)}" if earlier else "")
        message = f"it names the services of this run, {shown}; a service failed, so nothing else above them is renewed"
        problems.append(Problem.of(code="site-partial", where=str(folder / "llms.txt"), message=message))
    return Outcome(kind="site", plan=plan, is_check=output.check, problems=tuple(problems))


def _earlier_services(folder: Path, names: Collection[str]) -> dict[str, Any]:
    """Returns the other services that have documents in a folder, with what the documents above them said of each."""
    known = read_record(folder).services
    earlier: dict[str, Any] = {}
    for path in sorted(folder.glob(f"*/{RECORD_NAME}")):
        name = path.parent.name
        with contextlib.suppress(SkillgenError):
            record = read_record(path.parent)
            if name not in names and record.owner == ".." and has_documents(record, path.parent):
                earlier[name] = known.get(name) or {"title": record.service, "tools": len(record.tools)}
    return earlier


def _carried_out(folder: Path, planned: Callable[[], Plan], *, is_check: bool) -> Plan:
    """Carries out the plan for a folder, which is locked meanwhile; a check only returns it."""
    from skillgen.write.files import lock_folder
    from skillgen.write.plan import apply_plan

    if is_check:
        return planned()
    with lock_folder(folder) as held:
        plan = planned()
        _refuse_conflicts(plan)
        apply_plan(plan, held)
        if not plan.after.states:
            held.delete(RECORD_NAME)
    return plan


def _folder_names(services: Iterable[Service]) -> tuple[str, ...]:
    """Returns a distinct folder name for each service: its name in the client configuration, else its own."""
    from skillgen.render.identity import skill_name
    from skillgen.render.pages import file_stems

    names = [service.server_name or skill_name(service) for service in services]
    stems = file_stems(dict.fromkeys(names), frozenset())
    taken: dict[str, None] = {}
    for name in names:
        numbered = (f"{stems[name]}-{number}" for number in count(2))
        taken[next(stem for stem in chain([stems[name]], numbered) if stem not in taken)] = None
    return tuple(taken)


def _with_distinct_names(services: Sequence[Service], folders: Sequence[Path] = ()) -> tuple[Service, ...]:
    """Returns the services of one run; adds the mount name to the names of services with the same skill name.

    Hosts keep all skills in one folder (X-21). `folders` holds the folders of the services if other services of the run
    could not be read: a name that the record there has remains distinct.
    """
    from skillgen.render.identity import skill_name

    services = [*map(described, services)]
    counts = Counter(map(skill_name, services))
    renamed: list[Service] = []
    for service, folder in zip_longest(services, folders):
        mount = service.server_name
        distinct = f"{service.name}-{mount}"
        is_shared = counts[skill_name(service)] > 1 or (folder and read_record(folder).service == one_line(distinct))
        if is_shared and mount is not None and mount != service.name:
            title = f"{service.title} ({mount})" if service.title else None
            service = with_description(replace(service, name=distinct, title=title))
        renamed.append(service)
    return tuple(renamed)


SHOWN_STRICT_PROBLEMS = 3
"""Number of problems in the message of --strict."""


def _refuse_problems(problems: Sequence[Problem]) -> None:
    warnings = [problem for problem in problems if problem.level != "info"]
    if warnings:
        shown = [f"{item.code}: {item.where}: {item.message}" for item in warnings[:SHOWN_STRICT_PROBLEMS]]
        hidden = len(warnings) - len(shown)
        raise SourceError(
            f"--strict refuses {len(warnings)} problem{'s' if len(warnings) > 1 else ''}: {'; '.join(shown)}"
            + (f"; and {hidden} more" if hidden else ""),
            fix="correct the source, or run without --strict",
        )


def _refuse_empty(service: Service, plan: Plan) -> None:
    if service.tools or not plan.before.tools:
        return
    what = f"{service.name} lists no tools, but its documents have {len(plan.before.tools)}; nothing was changed"
    fix = "check the source, or give --allow-empty if it has no tools any more"
    raise SourceError(what, where=str(plan.out), fix=fix)


_PARTS_READ_LATER = {"groups/list": ("groups/get",), "skills/list": ("skills/files",)}
_IN_GROUPS = ("tools/list", "resources/list", "prompts/list", "ai_help")
"""Parts to which the contents of a group are added; the instructions of groups count as texts of `ai_help`."""


def _failed_parts(problems: Sequence[Problem]) -> set[str]:
    kinds = ((CODES[problem.code].missing, problem.where) for problem in problems if problem.code in CODES)
    failed = {where if part == WHERE else part for part, where in kinds if part}
    for part in tuple(failed):
        failed.update(_PARTS_READ_LATER.get(part, ()))
    return failed | set(_IN_GROUPS) if "groups/get" in failed else failed


def _refuse_partial(service: Service, plan: Plan) -> None:
    """Refuses to replace the documents of a complete run if a part of the source could not be read this time.

    Raises:
        SourceError: the documents have more of a part than could be read.
    """
    failed = _failed_parts(service.problems)
    before, after = plan.before, plan.after
    lost = [
        f"{count - after.offers.get(part, 0)} of the {count} entries of {part}"
        for part, count in before.offers.items()
        if part in failed and after.offers.get(part, 0) < count
    ]
    if "tools/list" in failed and (gone := before.tools.keys() - after.tools.keys()):
        lost.append(f"{len(gone)} of the {len(before.tools)} tools")
    if any(problem.code == "tool-description-failed" for problem in service.problems):
        undescribed = [
            name for name, tool in after.tools.items() if _has_lost(tool, before.tools.get(name, {}), "described")
        ]
        lost += [f"the description of {len(undescribed)} tools, such as {undescribed[0]}"] if undescribed else []
    if after.offers.get(UNREAD_DOCUMENTS, 0) > before.offers.get(UNREAD_DOCUMENTS, 0):
        # The description refers to another document, which an earlier run could read.
        poorer = [
            name for name, tool in before.tools.items() if _has_lost(after.tools.get(name, {}), tool, "takes", "gives")
        ]
        lost += [f"parameters or results of {len(poorer)} tools, such as {poorer[0]}"] if poorer else []
        if types := before.types.keys() - after.types.keys():
            lost.append(f"{len(types)} of the {len(before.types)} types")
    if lost:
        raise SourceError(
            f"could not be read completely, and lacks what its documents have: {'; '.join(lost)}; nothing was changed",
            where=service.name,
            fix="run it again, or give --allow-empty if it has no more",
        )


def _has_lost(now: Mapping[str, Any], before: Mapping[str, Any], *keys: str) -> bool:
    return any(before.get(key) and not now.get(key) for key in keys)


def _refuse_conflicts(plan: Plan) -> None:
    from skillgen.write.merge import UNMERGED
    from skillgen.write.plan import CHANGED_ARTIFACT, FOREIGN

    conflicts = plan.conflicts
    if not conflicts:
        return
    names = ", ".join(change.path for change in conflicts[:5]) + (", …" if len(conflicts) > 5 else "")
    reasons = "; ".join(dict.fromkeys(change.reason for change in conflicts))
    if all(change.reason == FOREIGN for change in conflicts):
        fix = "move the file away, choose another folder with --out, or replace it with --force"
        if not plan.before.states:
            fix = f"restore {RECORD_NAME} if skillgen wrote these files and it was lost; {fix}"
    elif any(change.reason == UNMERGED for change in conflicts):
        fix = "resolve it: keep the lines that people wrote, and of the others one side; then run again"
    elif all(change.reason == CHANGED_ARTIFACT for change in conflicts):
        fix = "change skillgen.yaml or the templates, from which it is written; or discard the edits with --force"
    elif all(change.path.endswith(".json") for change in conflicts):
        fix = (
            "put your keys above the last key, on separate lines that end with a comma, to keep them; set generated "
            "values in skillgen.yaml; or discard the edits with --force"
        )
    else:
        fix = (
            "move your words to skillgen.yaml; or put them between <!-- yours --> and <!-- /yours --> to keep them; "
            "or discard the edits with --force"
        )
    what = f"{names}: {reasons}; nothing was written"
    raise EditedError(what, where=str(plan.out), fix=fix, diff="".join(change.edit for change in conflicts))


def _prose_problems(plan: Plan, generated: Mapping[str, bytes], service: Service) -> Iterator[Problem]:
    """Yields what the lines that a person added to SKILL.md say of a service, and it does not have."""
    for change in plan.changes:
        if change.path.endswith("SKILL.md") and change.new is not None and change.path in generated:
            own = set(generated[change.path].decode().split("\n"))
            lines = change.new.decode("utf-8", "replace").split("\n")
            if not own.issuperset(lines):
                from skillgen.rules.prose import check_prose

                added = "\n".join("" if line in own else line for line in lines)
                yield from check_prose(added, service, where=change.path)


def _plan_problems(plan: Plan) -> list[Problem]:
    problems = list(plan.problems)
    problems += [
        Problem.of(
            code="edited",
            where=change.path,
            message=f"{change.reason}; a run would stop and write nothing",
        )
        for change in plan.conflicts
    ]
    old, new = _skill_names(plan.before), _skill_names(plan.after)
    before, after = plan.before, plan.after
    is_same = is_same_service(before, after, plan.out)
    if len(old) == len(new) == 1 and old != new and is_same:
        problems.append(
            Problem.of(
                code="skill-renamed",
                where=str(plan.out),
                message=f"the skill is called {new[0]}, no longer {old[0]}; links and variables with that name break",
                fix=f"keep it with --name {old[0]}, or name: {old[0]} in skillgen.yaml",
            )
        )
    if before.service is not None and not is_same:
        message = f"the documents of {before.service!r} are replaced by those of {after.service!r}"
        problems.append(Problem.of(code="service-replaced", where=str(plan.out), message=message))
    return problems


def _skill_names(record: Record) -> list[str]:
    return [path.split("/")[1] for path in record.states if path.startswith("skills/") and path.endswith("/SKILL.md")]


def _installations(service: Service, place: Place) -> list[Place]:
    """Returns the places of the skill in each folder for skills, unless OUT is already the same place."""
    from skillgen.render.identity import skill_name

    name = skill_name(service)
    return [
        Place(out=folder.path / name, within=folder.path, owner=place.out, target=place.target, installed_in=folder)
        for folder in place.install
        if (folder.path / name).resolve() != (place.out / "skills" / name).resolve()
    ]


DocumentedFiles = Mapping[Path, Collection[str]]
"""Each folder that a run wrote, resolved, to the paths of its documents."""


def orphaned_folders(
    written: DocumentedFiles, folders: Collection[Path], owners: Iterable[Path], installed: Iterable[Path]
) -> dict[Path, Problem]:
    """Returns folders with documents of something that no longer exists, each with the problem to report.

    Searches `folders` and their subfolders for documents of the `owners` that this run did not write, and the
    `installed` folders for copies of skills that the documents of this run no longer have.
    """
    owned = {owner.resolve() for owner in owners}
    orphans: dict[Path, Problem] = {}
    queue = list(dict.fromkeys(folders))
    gone: set[Path] = set()
    while queue:
        for folder, owner in _owned_folders(queue.pop(), written):
            if owner in owned and folder not in orphans:
                message = "the target or server of these documents no longer exists"
                orphans[folder] = _orphan_problem("documents-left", folder, message)
                gone.add(folder.resolve())
                owned.add(folder.resolve())
                queue.append(folder)
    tops = [path.resolve() for path in folders]
    for path in dict.fromkeys(installed):
        for folder, owner in _owned_folders(path, written):
            if not any(owner.is_relative_to(top) for top in tops):
                continue
            if owner in gone or f"skills/{folder.name}/SKILL.md" not in _documented_files(owner, written):
                message = "the documents that this installed skill is a copy of no longer exist, or were renamed"
                orphans[folder] = _orphan_problem("installed-skill-left", folder, message)
    return orphans


def _is_copy_of_others(folder: Path, record: Record, main: Place) -> bool:
    """True if an installed skill is a copy of documents other than those of `main`, and they still have it."""
    other = (folder / (record.owner or "")).resolve()
    if other == main.out.resolve():
        return False
    with contextlib.suppress(SkillgenError):
        other_record = read_record(other)
        owners = [owner.resolve() for owner in (main.owner, main.out) if owner is not None]
        is_orphaned = (
            other_record.owner is not None
            and (other / other_record.owner).resolve() in owners
            and other not in {sibling.resolve() for sibling in main.siblings}
        )
        return f"skills/{folder.name}/SKILL.md" in other_record.states and not is_orphaned
    return False


def prune_folders(folders: Mapping[Path, Problem], *, prune: bool, check: bool) -> Result:
    """Reports orphaned documents; with `prune`, removes them, and with `check` too, only plans that."""
    if not prune:
        return Result(notices=tuple(folders.values()))
    steps: list[Outcome | Failure] = []
    for folder in folders:
        try:
            plan = _prune_folder(folder, check=check)
        except SkillgenError as error:
            steps.append(Failure(error=error))
        else:
            steps.append(Outcome(kind="removed", plan=plan, is_check=check, problems=plan.problems))
    return Result(steps=tuple(steps))


def _prune_folder(folder: Path, *, check: bool) -> Plan:
    """Removes what skillgen wrote to a folder, except what a person edited; with `check`, only plans it.

    Raises:
        OutputError: the folder cannot be read or written.
    """
    from skillgen.write.plan import plan_documents

    def planned() -> Plan:
        record = read_record(folder)
        return plan_documents(folder, {}, replace(record, tools={}, types={}, offers={}))

    plan = _carried_out(folder, planned, is_check=check)
    if not check:
        with contextlib.suppress(OSError):  # not empty: a person's file is in it
            folder.rmdir()
    return plan


def _orphan_problem(code: str, folder: Path, message: str) -> Problem:
    fix = "run again with the option `prune` to remove them, or delete the folder"
    return Problem.of(code=code, where=folder.as_posix(), message=message, fix=fix)


def _owned_folders(parent: Path, written: DocumentedFiles) -> Iterator[tuple[Path, Path]]:
    """Yields a folder and its subfolders that this run did not write with an owner in their record, and that owner."""
    for path in (parent / RECORD_NAME, *sorted(parent.glob(f"*/{RECORD_NAME}"))):
        folder = path.parent
        with contextlib.suppress(SkillgenError, OSError):
            if folder.is_symlink() or folder.resolve() in written:
                continue
            record = read_record(folder)
            is_left_over = not any(map(any, record.states.values()))  # only a person's notes are there
            if record.owner is not None and not is_left_over:
                yield folder, (folder / record.owner).resolve()


def _documented_files(folder: Path, written: DocumentedFiles) -> Collection[str]:
    if folder in written:
        return written[folder]
    try:
        return read_record(folder).states
    except SkillgenError:
        return ()
