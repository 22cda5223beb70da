"""Service -> documents -> plan -> write or diff; install.

What a run is asked to do, and what came of it.

From a service to its documents: rendered, compared with what stands in OUT, written or shown as a diff.

Where hosts look for skills, and what a run is asked to do there.

The skill of each service has a folder and a record of its own there, so that nothing else in it is ever touched.

Finds and removes what skillgen wrote for targets, servers and names that are gone.
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import chain, count, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skillgen.errors import EditedError, ExitCode, Problem, SkillgenError, SourceError, UsageError
from skillgen.model.changes import UNREAD_DOCUMENTS, inventory_of, offers_of, types_of
from skillgen.model.service import Service
from skillgen.render.catalogue import template_problems
from skillgen.render.document import FORMATS, PROFILES
from skillgen.render.identity import skill_name
from skillgen.render.invocation import profile_problems
from skillgen.security.secrets import Secrets
from skillgen.text.markdown import one_line
from skillgen.write.files import is_below
from skillgen.write.plan import Plan
from skillgen.write.record import RECORD_NAME, Record, read_record

if TYPE_CHECKING:
    from skillgen.sources.extra_text import ExtraText


DEFAULT_OUT = "agent-docs"
"""The folder of the documents where none is named."""

Progress = Callable[[str], None]

BYTES_PER_TOKEN = 3.2
"""Tokens are counted as UTF-8 bytes / 3.2, rounded up (design, "Output")."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overrides:
    """What the user says of the service; it wins over the source (design, "Where facts disagree")."""

    name: str | None = None
    """`--name`."""

    version: str | None = None
    """`--service-version`."""

    description: str | None = None
    """`--description`."""

    base_url: str | None = None
    """`--base-url`."""

    extras: tuple[ExtraText, ...] = ()
    """`--extra`: texts that add to what the source says."""

    include: tuple[str, ...] = ()
    """`--include`: patterns of what is documented; empty for everything."""

    exclude: tuple[str, ...] = ()
    """`--exclude`: patterns of what is not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DescriptionOptions:
    """How a description is reached, and what is read with it."""

    timeout_s: float = 30.0
    """How long one request may take."""

    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """`--header`: may hold secrets."""

    secrets: Secrets = field(default_factory=Secrets, repr=False)
    """Secrets in other places, such as in what a variable of the project's file was replaced by."""

    overlays: tuple[str, ...] = ()
    """`--overlay`: files or addresses, applied in their order."""

    allow_remote_refs: bool = False
    """Whether documents that the description names are fetched."""

    allow_outside_refs: bool = False
    """Whether files outside the folder of the description are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputOptions:
    """Where documents go, and what may happen to those that are there."""

    out: Path
    """The folder."""

    within: Path | None = None
    """The folder that the user named, where `out` is one in it that has its name from the source."""

    siblings: tuple[Path, ...] = ()
    """The folders of all documents of the run; others with the same owner are gone."""

    formats: tuple[str, ...]
    """Names of formats."""

    templates: Path | None = None
    """A folder whose templates win over skillgen's."""

    profile: str
    """Which front matter SKILL.md has: `portable` or `claude`."""

    install: tuple[Path, ...] = ()
    """Where hosts look for skills, and the skill is to be put too."""

    owner: Path | None = None
    """What `out` belongs to, where that is not the user alone: the project's file, the folder of all services of a run,
    or the documents of which the installed skill is a copy."""

    is_installed: bool = False
    """Whether `out` is the folder of the skill itself, in the place where a host looks."""

    check: bool = False
    """Whether to write nothing and show what would change."""

    allow_empty: bool = False
    """Whether a service that shows less, or no tools, may replace documents that have more."""

    force: bool = False
    """Whether generated text wins over what a person changed in it."""

    prune: bool = False
    """Whether documents of what is gone are removed."""

    strict: bool = False
    """Whether a problem of level warning is a fatal error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of one service."""

    service: Service
    """What was documented."""

    plan: Plan
    """What happened to the files, or would have."""

    problems: tuple[Problem, ...]
    """What was wrong with the source or with the files."""

    diff: str
    """With `check`, what would change."""

    is_installed: bool
    """Whether it is about the place where a host looks for the skill."""

    skill_tokens: int | None
    """What the first level costs an agent."""

    exit_code: ExitCode
    """How it ended."""


def count_tokens(text: str) -> int:
    """Counts tokens as the design does."""
    return -int(-len(text.encode("utf-8")) // BYTES_PER_TOKEN)


def generate(service: Service, runs: Sequence[OutputOptions]) -> tuple[Outcome, ...]:
    """Renders a service, and writes the documents to each place, or shows what would change there.

    Every place is looked at before anything is written to the first: an edit in one of them leaves all as they are.

    Raises:
        SourceError: the service has no tools where its documents have some, or `strict` and it has problems.
        EditedError: a file that would be replaced holds edits; nothing was written.
        OutputError: a place cannot be written.
        UsageError: a template has an error.
    """
    from skillgen.write.files import lock_folder, refuse_outside
    from skillgen.write.plan import apply_plan

    if runs[0].strict:
        _refuse_problems(service.problems)
    documents, problems = _documents(service, runs[0])
    with ExitStack() as stack:
        plans, held = [], []
        for run in runs:
            if not run.check:
                held.append(stack.enter_context(lock_folder(run.out, run.within)))
            refuse_outside(run.out, run.within)
            plans.append(_plan(service, _documents_for(documents, service, run), run))
            if run.is_installed and not run.force:
                _refuse_other_skill(plans[-1], runs[0])
        for run, plan in zip(runs, plans, strict=True):
            if not run.check:
                _refuse_conflicts(plan)
        for plan, out in zip(plans, held, strict=False):
            apply_plan(plan, out)
    skill = next((content for path, content in documents.items() if path.endswith("SKILL.md")), None)
    skill_tokens = count_tokens(skill.decode("utf-8")) if skill is not None else None
    if skill is not None and not skill.startswith(b"---\n"):
        service = replace(service, problems=(*service.problems, _WITHOUT_FRONT_MATTER))
    return tuple(_outcome(service, run, plan, skill_tokens, problems) for run, plan in zip(runs, plans, strict=True))


_WITHOUT_FRONT_MATTER = Problem(
    code="skill-without-front-matter",
    level="warning",
    where="skill/SKILL.md.j2",
    message="SKILL.md begins with no front matter, so hosts do not find the skill",
    fix="begin the template with {{ fields|front_matter }}",
)


def _outcome(
    service: Service, run: OutputOptions, plan: Plan, skill_tokens: int | None, problems: Sequence[Problem]
) -> Outcome:
    said = [*service.problems, *problems, *profile_problems(service, run.profile), *template_problems(run.templates)]
    return Outcome(
        service=service,
        plan=plan,
        problems=(*([] if run.is_installed else said), *_plan_problems(plan)),
        diff=plan.diff if run.check else "",
        is_installed=run.is_installed,
        skill_tokens=skill_tokens,
        exit_code=ExitCode.DRIFT if run.check and plan.drift else ExitCode.DONE,
    )


def _plan(service: Service, documents: Mapping[str, bytes], options: OutputOptions) -> Plan:
    from skillgen.write.plan import plan_documents

    plan = plan_documents(
        options.out,
        documents,
        service=one_line(service.name),
        tools=inventory_of(service),
        types=types_of(service),
        offers=offers_of(service),
        owner=_owner_from(options),
        force=options.force,
    )
    if not options.allow_empty:
        _refuse_empty(service, plan, options)
        _refuse_partial(service, plan)
    return plan


def _owner_from(options: OutputOptions) -> str | None:
    """Returns the path from OUT to its owner; `None` where it would name folders above the project."""
    owner, out = options.owner, options.out
    if owner is None:
        return None
    top = out.parent.parent.parent if options.is_installed else owner if owner.is_dir() else owner.parent
    if not (is_below(owner, top) and is_below(out, top)):
        return None
    return Path(os.path.relpath(owner.resolve(), out.resolve())).as_posix()


def _refuse_other_skill(plan: Plan, main: OutputOptions) -> None:
    """Refuses to replace an installed skill that is a copy of other documents.

    Raises:
        EditedError: it is.
    """

    before, after = plan.before, plan.after
    is_known = before.owner is not None and after.owner is not None
    is_other = is_copy_of_others(plan.out, before, main) if is_known else before.service != after.service
    if before.states and is_other:
        raise EditedError(
            f"is the installed skill of another service, {before.service!r}; nothing was written",
            where=str(plan.out),
            fix="give one of them another name (--name, or name: in skillgen.yaml); or give --force to replace it",
            diff="",
        )


def _documents(service: Service, options: OutputOptions) -> tuple[dict[str, bytes], list[Problem]]:
    """Returns path to content, and what had to be left out."""
    from skillgen.render.formats import render_documents

    documents = render_documents(service, options.formats, options.templates, options.profile)
    problems = [problem for item in documents for problem in item.problems]
    return {item.path: item.text.encode("utf-8") for item in documents}, problems


def _documents_for(documents: Mapping[str, bytes], service: Service, options: OutputOptions) -> Mapping[str, bytes]:
    """Gives those that go to a place; an installed skill's paths start in its folder."""
    if not options.is_installed:
        return documents
    folder = f"skills/{skill_name(service)}/"
    return {path[len(folder) :]: content for path, content in documents.items() if path.startswith(folder)}


def generate_site(services: Sequence[Service], folders: Sequence[str], options: OutputOptions) -> Plan:
    """Writes the llms.txt above those of several services, or finds out whether it would change.

    Raises:
        EditedError: the file holds edits.
        OutputError: OUT cannot be written.
        UsageError: the template has an error.
    """
    from skillgen.render.formats import render_site
    from skillgen.write.files import lock_folder
    from skillgen.write.plan import apply_plan, plan_documents

    document = render_site(services, folders, options.templates)
    content = document.text.encode("utf-8")

    def planned() -> Plan:
        return plan_documents(options.out, {document.path: content}, service="services", tools={}, force=options.force)

    if options.check:
        return planned()
    with lock_folder(options.out) as out:
        plan = planned()
        _refuse_conflicts(plan)
        apply_plan(plan, out)
    return plan


def parse_formats(names: str) -> tuple[str, ...]:
    """Reads a comma-separated list of formats.

    Raises:
        UsageError: one of them is unknown.
    """
    asked = [name.strip() for name in names.split(",") if name.strip()]
    unknown = [name for name in asked if name not in FORMATS]
    if unknown or not asked:
        raise UsageError(
            f"no such format: {', '.join(unknown) or 'none given'}",
            where="--emit",
            fix=f"choose from {','.join(FORMATS)}",
        )
    return tuple(name for name in FORMATS if name in asked)


def folder_names(services: Iterable[Service]) -> tuple[str, ...]:
    """Gives the folder of each of several services: after its name in the client's file, else its own."""
    from skillgen.render.pages import file_stems

    names = [service.server_name or skill_name(service) for service in services]
    stems = file_stems(dict.fromkeys(names), frozenset())
    taken: dict[str, None] = {}
    for name in names:
        further = (f"{stems[name]}-{number}" for number in count(2))
        taken[next(stem for stem in chain([stems[name]], further) if stem not in taken)] = None
    return tuple(taken)


def with_distinct_names(services: Sequence[Service], folders: Sequence[Path] = ()) -> tuple[Service, ...]:
    """Returns the services of one run, with the mount name added to a name whose skill is not the only one of its name.

    Hosts keep all skills in one folder (X-21). `folders` are those of a run in which others could not be read: the
    names in their records stay.
    """
    counts = Counter(map(skill_name, services))
    found: list[Service] = []
    for service, folder in zip_longest(services, folders):
        mount = service.server_name
        distinct = f"{service.name}-{mount}"
        is_shared = counts[skill_name(service)] > 1 or (folder and read_record(folder).service == one_line(distinct))
        if is_shared and mount is not None and mount != service.name:
            title = f"{service.title} ({mount})" if service.title else None
            service = replace(service, name=distinct, title=title)
        found.append(service)
    return tuple(found)


SHOWN_STRICT_PROBLEMS = 3
"""Problems that the message of --strict shows."""


def _refuse_problems(problems: Sequence[Problem]) -> None:
    found = [problem for problem in problems if problem.level != "info"]
    if found:
        shown = [f"{item.code}: {item.where}: {item.message}" for item in found[:SHOWN_STRICT_PROBLEMS]]
        left = len(found) - len(shown)
        raise SourceError(
            f"--strict refuses {len(found)} problem{'s' if len(found) > 1 else ''}: {'; '.join(shown)}"
            + (f"; and {left} more" if left else ""),
            fix="correct the source, or run without --strict",
        )


def _refuse_empty(service: Service, plan: Plan, options: OutputOptions) -> None:
    if service.tools or not plan.before.tools:
        return
    raise SourceError(
        f"{service.name} shows no tools, but its documents have {len(plan.before.tools)}; nothing was changed",
        where=str(options.out),
        fix="check the source, or give --allow-empty if it really has none any more",
    )


_FAILURES = {
    "list-failed": None,
    "list-incomplete": None,
    "list-not-offered": None,
    "list-too-long": None,
    "list-page-repeated": None,
    "list-cursor-repeated": None,
    "older-era-missing": None,
    "ai-help-missing": None,
    "ai-help-invalid": "ai_help",
    "group-failed": None,
    "groups-too-many": "groups/get",
    "manifest-failed": None,
    "skill-file-failed": "skills/files",
    "skill-file-refused": "skills/files",
    "skill-files-too-many": "skills/files",
}
"""Codes of problems after which a part of the source is missing, and the part; `None` where the problem's place names
it."""

_PARTS_READ_LATER = {"groups/list": ("groups/get",), "skills/list": ("skills/files",)}
_IN_GROUPS = ("tools/list", "resources/list", "prompts/list", "ai_help")
"""Parts that the contents of a group add to; the instructions of groups are counted with the texts of `ai_help`."""


def _failed_parts(problems: Sequence[Problem]) -> set[str]:
    failed = {_FAILURES[problem.code] or problem.where for problem in problems if problem.code in _FAILURES}
    for part in tuple(failed):
        failed.update(_PARTS_READ_LATER.get(part, ()))
    return failed | set(_IN_GROUPS) if "groups/get" in failed else failed


def _refuse_partial(service: Service, plan: Plan) -> None:
    """Refuses to replace what a good run documented when something of it could not be read now.

    Raises:
        SourceError: a part of the source failed that the documents have.
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
        bare = [name for name, tool in after.tools.items() if _has_lost(tool, before.tools.get(name, {}), "described")]
        lost += [f"the description of {len(bare)} tools, such as {bare[0]}"] if bare else []
    if after.offers.get(UNREAD_DOCUMENTS, 0) > before.offers.get(UNREAD_DOCUMENTS, 0):
        # A description refers to another document that could be read before.
        poorer = [
            name for name, tool in before.tools.items() if _has_lost(after.tools.get(name, {}), tool, "takes", "gives")
        ]
        lost += [f"parameters or results of {len(poorer)} tools, such as {poorer[0]}"] if poorer else []
        if types := before.types.keys() - after.types.keys():
            lost.append(f"{len(types)} of the {len(before.types)} types")
    if lost:
        raise SourceError(
            f"could not be read to its end, and lacks what its documents have: {'; '.join(lost)}; nothing was changed",
            where=service.name,
            fix="run it again, or give --allow-empty if it really has no more",
        )


def _has_lost(now: Mapping[str, Any], before: Mapping[str, Any], *keys: str) -> bool:
    return any(before.get(key) and not now.get(key) for key in keys)


def _refuse_conflicts(plan: Plan) -> None:
    from skillgen.write.plan import FOREIGN

    conflicts = plan.conflicts
    if not conflicts:
        return
    names = ", ".join(change.path for change in conflicts[:5]) + (", …" if len(conflicts) > 5 else "")
    reasons = "; ".join(dict.fromkeys(change.reason for change in conflicts))
    if all(change.reason == FOREIGN for change in conflicts):
        fix = "move the file away, or choose another folder with --out; or give --force to replace it"
        if not plan.before.states:
            fix = f"restore {RECORD_NAME}, where skillgen wrote these files and it was lost; {fix}"
    elif any("merge" in change.reason for change in conflicts):
        fix = "resolve it: take one side of each, and run again"
    elif all(change.path.endswith(".json") for change in conflicts):
        fix = (
            "put keys of your own above the last key, in lines of their own that end with a comma, and they stay; "
            "set what skillgen writes in skillgen.yaml; or give --force, and skillgen's text replaces what was changed"
        )
    else:
        fix = (
            "move your words to skillgen.yaml; or put them between <!-- yours --> and <!-- /yours -->, and they stay; "
            "or give --force, and skillgen's text replaces what was changed in it"
        )
    raise EditedError(
        f"{names}: {reasons}; nothing was written",
        where=str(plan.out),
        fix=fix,
        diff="".join(change.edit for change in conflicts),
    )


def _plan_problems(plan: Plan) -> list[Problem]:
    found = list(plan.problems)
    found += [
        Problem(
            code="edited",
            level="warning",
            where=change.path,
            message=f"{change.reason}; a run would stop and write nothing",
            fix="see what skillgen says without --check",
        )
        for change in plan.conflicts
    ]
    was, now = plan.before.service, plan.after.service
    if was is not None and was != now:
        found.append(
            Problem(
                code="service-replaced",
                level="warning",
                where=str(plan.out),
                message=f"the documents there were those of {was!r}; they are replaced by those of {now!r}",
                fix="give each service an --out of its own",
            )
        )
    return found


HOSTS = {"claude": Path(".claude", "skills"), "agents": Path(".agents", "skills")}
"""Name of `--install` to the folder, below the project or the home folder."""


def install_folders(
    hosts: Sequence[str], *, user: bool, formats: tuple[str, ...], project: Path | None = None
) -> tuple[Path, ...]:
    """Returns the folders in which hosts look for skills: below the project or the current folder, or the user's own.

    Raises:
        UsageError: a host is unknown, no skill is made, or a symbolic link leads out of the project.
    """
    if user and not hosts:
        raise UsageError("says nothing without --install", where="--user", fix=f"add --install {'|'.join(HOSTS)}")
    found = []
    for host in dict.fromkeys(hosts):
        if host not in HOSTS:
            raise UsageError(f"no such host: {host}", where="--install", fix=f"choose from {','.join(HOSTS)}")
        if "skill" not in formats:
            fix = "add skill to it, or leave --install out"
            raise UsageError("there is no skill to install", where="--emit", fix=fix)
        top = project or Path()
        if not user and not is_below(top / HOSTS[host], top):
            raise UsageError(
                f"a symbolic link leads {HOSTS[host].as_posix()} out of the project",
                where="--install",
                fix="remove the link, or install for yourself with --user",
            )
        found.append(Path.home() / HOSTS[host] if user else top / HOSTS[host])
    return tuple(found)


def parse_profile(name: str) -> str:
    """Gives the profile of a name.

    Raises:
        UsageError: there is none.
    """
    if name not in PROFILES:
        raise UsageError(f"no such profile: {name}", where="--profile", fix=f"choose from {','.join(PROFILES)}")
    return name


def installations(service: Service, options: OutputOptions) -> list[OutputOptions]:
    """Returns what a run is to do in the places where hosts look, except where OUT puts the skill there already."""
    name = skill_name(service)
    return [
        replace(options, out=folder / name, within=folder, owner=options.out, formats=("skill",), is_installed=True)
        for folder in options.install
        if (folder / name).resolve() != (options.out / "skills" / name).resolve()
    ]


DocumentedFiles = Mapping[Path, Collection[str]]
"""Each folder that a run wrote, resolved, and the paths of its documents."""


def orphaned_folders(
    written: DocumentedFiles, folders: Collection[Path], owners: Iterable[Path], installed: Iterable[Path]
) -> dict[Path, Problem]:
    """Returns each folder whose documents belong to something that is gone, and what to report of it.

    Below `folders` those of the `owners` are looked for that this run did not write, and in the `installed` folders
    copies of skills that the documents of this run no longer have.
    """
    owned = {owner.resolve() for owner in owners}
    found: dict[Path, Problem] = {}
    waiting = list(dict.fromkeys(folders))
    gone: set[Path] = set()
    while waiting:
        for folder, owner in _owned_folders(waiting.pop()):
            if owner in owned and folder.resolve() not in written and folder not in found:
                found[folder] = _orphan_problem(
                    "documents-left", folder, "the target or server of these documents is gone"
                )
                gone.add(folder.resolve())
                owned.add(folder.resolve())
                waiting.append(folder)
    tops = [path.resolve() for path in folders]
    for path in dict.fromkeys(installed):
        for folder, owner in _owned_folders(path):
            if folder.resolve() in written or not any(owner.is_relative_to(top) for top in tops):
                continue
            if owner in gone or f"skills/{folder.name}/SKILL.md" not in _documented_files(owner, written):
                message = "the documents of which this installed skill is a copy are gone, or have another name"
                found[folder] = _orphan_problem("installed-skill-left", folder, message)
    return found


def is_copy_of_others(folder: Path, record: Record, main: OutputOptions) -> bool:
    """True if an installed skill is a copy of other documents than those of `main`, which still have it."""
    other = (folder / (record.owner or "")).resolve()
    if other == main.out.resolve():
        return False
    with contextlib.suppress(SkillgenError):
        found = read_record(other)
        owners = [owner.resolve() for owner in (main.owner, main.out) if owner is not None]
        is_gone = (
            found.owner is not None
            and (other / found.owner).resolve() in owners
            and other not in {sibling.resolve() for sibling in main.siblings}
        )
        return f"skills/{folder.name}/SKILL.md" in found.states and not is_gone
    return False


def prune_folder(folder: Path, *, check: bool) -> Plan:
    """Removes what skillgen wrote to a folder, except what a person edited; with `check` only plans it.

    Raises:
        OutputError: the folder cannot be read or written.
    """
    from skillgen.write.files import lock_folder
    from skillgen.write.plan import apply_plan, plan_documents

    def planned() -> Plan:
        record = read_record(folder)
        return plan_documents(folder, {}, service=record.service or "", tools={}, owner=record.owner)

    if check:
        return planned()
    with lock_folder(folder) as held:
        plan = planned()
        apply_plan(plan, held)
        if not plan.after.states:
            held.delete(RECORD_NAME)
    with contextlib.suppress(OSError):  # a person's file is in it
        folder.rmdir()
    return plan


def _orphan_problem(code: str, folder: Path, message: str) -> Problem:
    fix = "run again with --prune to remove them, or delete the folder"
    return Problem(code=code, level="warning", where=folder.as_posix(), message=message, fix=fix)


def _owned_folders(parent: Path) -> Iterator[tuple[Path, Path]]:
    """Yields the folders in a place that belong to something, with what they belong to."""
    for path in sorted(parent.glob(f"*/{RECORD_NAME}")):
        folder = path.parent
        with contextlib.suppress(SkillgenError, OSError):
            record = read_record(folder)
            if record.owner is not None and not folder.is_symlink():
                yield folder, (folder / record.owner).resolve()


def _documented_files(folder: Path, written: DocumentedFiles) -> Collection[str]:
    if folder in written:
        return written[folder]
    try:
        return read_record(folder).states
    except SkillgenError:
        return ()
