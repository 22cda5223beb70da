"""Renders services and writes their documents: service -> documents -> plan -> write or diff.

Each place of a run is planned before anything is written: OUT, and the folders in which hosts look for skills. An
installed skill has a folder and a record of its own there, so that nothing else in that folder is ever touched.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from itertools import product, zip_longest
from pathlib import Path
from typing import Any, TypeAlias

from msgspec.structs import replace

from skillgen import __version__
from skillgen.config.option import PathName
from skillgen.config.project import DEFAULT_OUT, OutputOptions
from skillgen.errors import CODES, WHERE, EditedError, Problem, SkillgenError, SourceError, UsageError, raise_all
from skillgen.infer.description import described, skill_name_of, with_description
from skillgen.model.document import TEXTS_NAME
from skillgen.model.inventory import UNREAD_DOCUMENTS, digests_of, inventory_of, offers_of, types_of
from skillgen.model.service import Service
from skillgen.model.traversal import with_shared_parameters
from skillgen.model.values import Json, Origin
from skillgen.pipeline import ownership, rendering
from skillgen.pipeline.packages import skill_folders
from skillgen.pipeline.results import Failure, Outcome, OutcomeKind, Place, Reading, Result
from skillgen.sources.json_access import as_dict, json_or_none
from skillgen.text.markdown import counted, first_of, one_line
from skillgen.text.words import distinct
from skillgen.write.files import lock_folder, refuse_outside
from skillgen.write.merge import UNMERGED, generated_digests
from skillgen.write.plan import CHANGED_ARTIFACT, FOREIGN, Plan, apply_plan, move_documents, plan_documents
from skillgen.write.record import RECORD_NAME, Record, Run, content_of, line_digests, lines_of, read_record, skills_in

_SKILLS = "skills/"
"""The folder of all skills."""


def _added_to_skills(plan: Plan, documents: Mapping[str, bytes]) -> dict[str, bytes]:
    """Returns the files of skills that have lines of a person, with them; line ends are those of a document.

    With the files next to them, but no hidden ones and no `evals/`, which has the answers.
    """
    folders = tuple(f"{_SKILLS}{name}/" for name in plan.after.skills)
    own = {path: content for path, content in plan.beside.items() if path.startswith(folders) and "/." not in path}
    return {path: content for path, content in own.items() if path.split("/")[2] != "evals"} | {
        change.path: content_of(lines)
        for change in plan.changes
        if change.path.startswith(folders)
        and change.new is not None
        and change.new != (document := documents.get(change.path, b""))
        and (lines := lines_of(change.new)) != lines_of(document)
    }


# -- one service -----------------------------------------------------------------------------------------------------


def write_service(service: Service, output: OutputOptions, place: Place) -> tuple[Outcome, ...]:
    """Renders a service and writes its documents, and its skill for each host; with `check`, only plans it.

    All places are planned before anything is written: an edit in one of them leaves all unchanged.

    Raises:
        SourceError: the service lacks tools or parts that its documents have, or has problems in a `strict` run.
        EditedError: a file that would be overwritten was edited; nothing was written.
        OutputError: a place cannot be written.
        UsageError: a template has an error, or a place has documents of another service.
    """
    if gone := [problem for problem in service.problems if problem.code == "text-names-gone"]:
        raise UsageError(gone[0].message, where=gone[0].where, fix=gone[0].fix)
    refused = [item for item in service.problems if output.strict and item.level != "info"]
    if warnings := [f"{item.code}: {item.where}: {item.message}" for item in refused]:
        what = f"--strict refuses {counted(len(warnings), 'problem')}: {first_of(warnings, 3)}"
        raise SourceError(what, fix="correct the source, or run without --strict")
    shared = with_shared_parameters(service)
    documents = rendering.documents_of(shared, output)
    hosts = {folder.resolve(): folder for folder in (*ownership.installed_from(place.out), *place.install)}
    places = [place]
    for folder, name in product(hosts.values(), skills_in(documents.contents)):  # unless OUT is already the same place
        if (copy := folder / name).resolve() != (place.out / _SKILLS / name).resolve():
            places.append(Place(out=copy, within=folder, owner=place.out, target=place.target, is_installed=True))
    for item in places:  # before a folder is created
        refuse_outside(item.out, item.within)
        _refuse_other_service(service, item, place, output)
    with ExitStack() as stack:
        held = [] if output.check else [stack.enter_context(lock_folder(item.out, item.within)) for item in places]
        plans = [_plan(shared, documents, output, place)]
        if added := _added_to_skills(plans[0], documents.contents):
            documents = rendering.documents_of(shared, output, added)
            plans = [_plan(shared, documents, output, place)]
            documents.contents.update(added)
        plans += [_plan(documents.services.get(item.out.name, shared), documents, output, item) for item in places[1:]]
        for plan in plans:
            if not output.allow_empty:  # a copy may have more than the skill that it is now, but no more than all
                _refuse_losses(service, plan, plans[0].after)
            if not output.check:
                _refuse_conflicts(plan)
        for plan, out in zip(plans, held, strict=False):
            apply_plan(plan, out)
    problems = [*service.problems, *documents.problems, *_problems_of_entry(service, output, plans[0])]
    for change in plans[0].changes:
        if change.path.endswith("SKILL.md") and change.new is not None and change.path in documents.contents:
            states = plans[0].after.states[change.path]
            problems += problems_of_added_lines(lines_of(change.new), states, service, change.path)
    outcomes: list[Outcome] = []
    for item, plan in zip(places, plans, strict=True):
        kind: OutcomeKind = "installed" if item.is_installed else "documents"
        found = (*([] if item.is_installed else problems), *_plan_problems(plan))
        outcomes.append(Outcome(kind=kind, plan=plan, is_check=output.check, service=service, problems=found))
    return tuple(outcomes)


def _move_service(service: Service, output: OutputOptions, place: Place, old: Path) -> tuple[Outcome, ...]:
    """Writes the documents of a service that are in another folder: plans them there, moves them, and writes them.

    Raises:
        SkillgenError: as by `write_service`; or a file of the other folder cannot be moved.
    """
    _refuse_other_service(service, place, place, output)
    planned = write_service(service, replace(output, check=True), replace(place, out=old, within=None))
    for outcome in planned:
        _refuse_conflicts(outcome.plan)
    identity, before = ownership.identity_of(service, place), read_record(place.out)
    is_other = ownership.is_of_other_service(service, place) and not ownership.is_site(before)
    replaced = [_replaced(before, identity, place.out)] if is_other else []
    if output.check:
        move_documents(old, place.out, identity, check=True)
        problems = (*planned[0].problems, *replaced)
        return (replace(planned[0], moved=f", would be moved to {place.out}", problems=problems), *planned[1:])
    install = (*place.install, *ownership.installed_from(old))
    with lock_folder(old), lock_folder(place.out, place.within):
        move_documents(old, place.out, identity)
    written = write_service(service, output, replace(place, install=install))
    problems = (*written[0].problems, *replaced)
    return (replace(written[0], moved=f", moved from {old}", problems=problems), *written[1:])


def _problems_of_entry(service: Service, output: OutputOptions, plan: Plan) -> Iterator[Problem]:
    """Yields the command of a snapshot that programs and hosts will start, unless the files to replace have it."""
    from skillgen.render.about import client_variables

    entry, origin = service.client_entry, (service.origins or {}).get("client_entry")
    if entry is None or not entry.command or output.publish.command or origin is None or origin.source != "snapshot":
        return
    if any(_started_by(change.new) != _started_by(change.old) for change in plan.changes if change.new is not None):
        names = ", ".join(client_variables(service)) or "no variable of its own"
        message = f"programs and hosts start what the snapshot says: {shlex.join(entry.command)}; it gets {names}"
        yield Problem.of("starts-what-the-snapshot-says", str(plan.out), one_line(message))


def _started_by(content: bytes | None) -> list[Json]:
    """Returns what a generated file has on the command of a server; only JSON has any."""
    data = as_dict(json_or_none((content or b"").decode("utf-8", "replace")))
    return [data.get(key) for key in ("command", "env", "mcpServers", "packages")]


def _plan(service: Service, documents: rendering.Documents, output: OutputOptions, place: Place) -> Plan:
    # Of an installed skill, the files are relative to its folder.
    folder = f"{_SKILLS}{place.out.name}/" if place.is_installed else ""
    contents = {path[len(folder) :]: new for path, new in documents.contents.items() if path.startswith(folder)}
    record = replace(
        ownership.identity_of(service, place),
        tools=inventory_of(service),
        types=types_of(service),
        digests=digests_of(service),
        offers=offers_of(service),
        release=__version__,
        declared=rendering.declared_digest(service, output),
        run=ownership.run_in_record(None if place.is_installed else place.run, place.out),
    )
    return plan_documents(place.out, contents, record, artifacts=documents.artifacts, force=output.force)


# -- what a run refuses ----------------------------------------------------------------------------------------------


def _refuse_other_service(service: Service, place: Place, main: Place, output: OutputOptions) -> None:
    """Refuses a place with the documents of another service, or an installed skill that other documents still have; in
    a run with `replace`, only texts on such documents.

    Raises:
        UsageError: it is one.
    """
    if output.replace:
        if (place.out / TEXTS_NAME).is_file() and ownership.is_of_other_service(service, place):
            fix = "move it elsewhere; after the run, move it back if it is on this service"
            raise UsageError("is on the documents that would be replaced", where=str(place.out / TEXTS_NAME), fix=fix)
        return
    before, after = read_record(place.out), ownership.identity_of(service, place)
    is_other = not place.is_installed and ownership.is_of_others(before, after, place)
    owner = (place.out / (before.owner or "")).resolve()
    if place.is_installed and after.owner is not None and owner != main.out.resolve():
        with suppress(SkillgenError):
            is_other = place.out.name in read_record(owner).skills
    ownership.refuse_other_service(before, after, place, is_other=is_other)


_READ_LATER = {"groups/list": ("groups/get",), "skills/list": ("skills/files",)}
_IN_GROUPS = ("tools/list", "resources/list", "prompts/list", "ai_help")
"""Parts to which the contents of a group are added; the instructions of groups count as texts of `ai_help`."""


def _refuse_losses(service: Service, plan: Plan, after: Record) -> None:
    """Refuses to replace the documents of a complete run if the source has no tools, or a part of it could not be read.

    `after` is the record of all documents of the service.

    Raises:
        SourceError: the documents have more than could be read.
    """
    before = plan.before
    if before.tools and not service.tools and "tools" not in (service.origins or {}):
        what = f"{service.name} lists no tools, but its documents have {len(before.tools)}; nothing was changed"
        fix = "check the source, or give --allow-empty if it has no tools any more"
        raise SourceError(what, where=str(plan.out), fix=fix)
    missing = ((CODES[problem.code].missing, problem.where) for problem in service.problems if problem.code in CODES)
    failed = {where if part == WHERE else part for part, where in missing if part}
    failed.update(*(_READ_LATER.get(part, ()) for part in tuple(failed)))
    failed.update(_IN_GROUPS if "groups/get" in failed else ())
    counts = ((part, count, count - after.offers.get(part, 0)) for part, count in before.offers.items())
    lost = [f"{gone} of the {count} entries of {part}" for part, count, gone in counts if part in failed and gone > 0]
    if "tools/list" in failed and (gone := before.tools.keys() - after.tools.keys()):
        lost.append(f"{len(gone)} of the {len(before.tools)} tools")
    kept = {name: tool for name, tool in before.tools.items() if name in after.tools}
    if any(problem.code == "tool-description-failed" for problem in service.problems):
        lost += _poorer_tools("the description", kept, after.tools, "described")
    if after.offers.get(UNREAD_DOCUMENTS, 0) > before.offers.get(UNREAD_DOCUMENTS, 0):
        # The description refers to another document, which an earlier run could read.
        lost += _poorer_tools("parameters or results", before.tools, after.tools, "takes", "gives")
        if types := before.types.keys() - after.types.keys():
            lost.append(f"{len(types)} of the {len(before.types)} types")
    if lost:
        what = f"could not be read completely, and lacks what its documents have: {'; '.join(lost)}; nothing changed"
        raise SourceError(what, where=service.name, fix="run it again, or give --allow-empty if it has no more")


def _poorer_tools(what: str, before: Mapping[str, Any], after: Mapping[str, Any], *keys: str) -> list[str]:
    pairs = ((name, tool, after.get(name, {})) for name, tool in before.items())
    poorer = [name for name, old, new in pairs if any(old.get(key) and not new.get(key) for key in keys)]
    return [f"{what} of {counted(len(poorer), 'tool')}, such as {poorer[0]}"] if poorer else []


def _refuse_conflicts(plan: Plan) -> None:
    if not (conflicts := plan.conflicts):
        return
    reasons = dict.fromkeys(change.reason for change in conflicts)
    discard = "or discard the edits with --force, an option of the command that wrote them"
    if [*reasons] == [FOREIGN]:
        fix = "move the file away, choose another folder with --out, or replace it with --force"
        if not plan.before.states:
            fix = f"restore {RECORD_NAME} if skillgen wrote these files and it was lost; {fix}"
    elif UNMERGED in reasons:
        fix = "resolve it: keep the lines that people wrote, and of the others one side; then run again"
    elif [*reasons] == [CHANGED_ARTIFACT]:
        fix = f"change skillgen.yaml or the templates, from which it is written; {discard}"
    elif all(change.path.endswith(".json") for change in conflicts):
        fix = "put your keys above the last key, on separate lines that end with a comma, to keep them; "
        fix += f"set generated values in skillgen.yaml; {discard}"
    else:
        fix = "move your words to skillgen.yaml; or put them between <!-- yours --> and <!-- /yours --> to keep them; "
        fix += discard
    names = first_of((change.path for change in conflicts), 5)
    what = f"{names}: {'; '.join(reasons)}; none of these documents was written"
    raise EditedError(what, where=str(plan.out), fix=fix, diff="".join(change.edit for change in conflicts))


# -- what a run reports ----------------------------------------------------------------------------------------------


def problems_of_added_lines(
    lines: Sequence[str], states: Sequence[str], service: Service, where: str
) -> Iterator[Problem]:
    """Yields what the lines that a person added to a document say of a service, and it does not have; `states` are
    those of the file in the record.
    """
    own = generated_digests(states)
    if any(added := ["" if key in own else line for key, line in zip(line_digests(lines), lines, strict=True)]):
        from skillgen.rules.prose import check_texts

        yield from check_texts({where: "\n".join(added)}, service)


def _plan_problems(plan: Plan) -> list[Problem]:
    before, after, out = plan.before, plan.after, str(plan.out)
    conflicts = ((change.path, f"{change.reason}; a run would stop and write nothing") for change in plan.conflicts)
    problems = [*plan.problems, *(Problem.of("edited", path, message) for path, message in conflicts)]
    problems += rendering.upgrade_problems(plan)
    old, new = before.skills, after.skills
    is_same = ownership.is_same_service(before, after, plan.out)
    if len(old) == len(new) == 1 and old != new and is_same:
        message = f"the skill is called {new[0]}, no longer {old[0]}; links and variables with that name break"
        problems.append(Problem.of("skill-renamed", out, message, f"keep the name {old[0]} with --name"))
    if before.states and before.owner != ".." and (before.target is None) != (after.target is None):
        one, other = ("a command" if item.target is None else f"the target {item.target}" for item in (before, after))
        message = f"{one} wrote these documents, and {other} now does, without the options of the former"
        problems.append(Problem.of("writer-changed", out, message))
    is_written = any(change.old is not None for change in plan.changes)
    if before.service is not None and is_written and not is_same and not ownership.is_site(before):
        problems.append(_replaced(before, after, plan.out))
    return problems


def _replaced(before: Record, after: Record, out: Path) -> Problem:
    message = f"the documents of {before.service!r} are replaced by those of {after.service!r}"
    return Problem.of("service-replaced", str(out), message)


# -- several services ------------------------------------------------------------------------------------------------


def write_documents(reading: Reading, output: OutputOptions, run: Run | None = None) -> Result:
    """Documents the services of one source, and reports the documents of those that no longer exist.

    Raises:
        UsageError: an option is invalid.
    """
    output = rendering.checked_output(output)
    place = replace(place_of(output.out), install=skill_folders(output), run=run)
    result = write_services(reading, output, place)
    return result.joined(Result(notices=tuple(ownership.leftovers(result, place, place.install))))


def place_of(out: PathName | None) -> Place:
    """Returns the place of the documents of a source in a folder that the user names."""
    folder = Path(out or DEFAULT_OUT)
    return Place(out=folder, siblings={"": folder}, near=(folder,), top=folder)


_Written: TypeAlias = list[tuple[str, Service, Outcome]]
"""The folder of each service of a run, and its documents."""


def write_services(reading: Reading, output: OutputOptions, place: Place) -> Result:
    """Documents the services of one source, each in a folder of OUT if there are several.

    A service that fails does not stop the others.
    """
    is_one = len(reading.services) + len(reading.failures) == 1
    steps: list[Outcome | Failure] = [Failure(error=error) for error in reading.failures]
    names = ownership.folder_names(reading.services)
    places = [place] * len(names) if is_one else place.below(names)
    services = _with_distinct_names(reading.services, [own.out for own in places] if reading.failures else ())
    counts = Counter(service.source for service in services)
    shared = [place.is_shared or counts[service.source] > 1 for service in services]
    places = [replace(own, is_shared=is_shared) for own, is_shared in zip(places, shared, strict=True)]
    if services and not (is_one or output.replace):
        _refuse_unclaimed(services, places, place, reading.failures)
    written: _Written = []
    left: list[str] = []
    for name, service, own in zip(names, services, places, strict=True):
        try:
            record = read_record(own.out)
            if not is_one and record.owner is None and record.run is not None:
                left.append(name)
                continue
            old = ownership.earlier_folder(service, own, record)
            outcomes = _move_service(service, output, own, old) if old else write_service(service, output, own)
        except SkillgenError as error:
            steps.append(Failure(error=error, source_problems=service.problems if is_one else ()))
        else:
            written.append((name, service, outcomes[0]))
            steps += outcomes
    try:
        is_partial = any(isinstance(step, Failure) for step in steps)
        # Documents of a service that are still there could not be moved, or in a check were not.
        can_replace = output.replace and not is_partial and not any(outcome.moved for *_, outcome in written)
        if not is_one and (written or left) and (can_replace or not _is_of_one(read_record(place.out), place)):
            steps.append(_write_site(written, left, output, place, is_partial=is_partial))
    except SkillgenError as error:
        steps.append(Failure(error=error))
    message = "a command for this server alone wrote its documents; of what this run writes, only llms.txt names them"
    own_commands = [Problem.of("has-own-command", str(place.out / name), message) for name in left]
    return Result(steps=tuple(steps), notices=(*reading.problems, *own_commands), is_one=is_one)


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
        mount, name = service.server_name, f"{service.name}-{service.server_name}"
        is_shared = counts[skill_name(service)] > 1 or (folder and read_record(folder).service == one_line(name))
        if is_shared and mount is not None and mount != service.name:
            # Declared, so that no part of it, such as `staging` or `v2`, is left out.
            origins = {**(service.origins or {}), "name": Origin("declared", "mcpServers")}
            title, called = f"{service.product} ({mount})", skill_name_of(service, mount)
            service = with_description(replace(service, name=name, title=title, origins=origins))
            service = replace(service, skill_name=called)
        renamed.append(service)
    names = distinct(map(skill_name, renamed))
    return tuple(replace(service, skill_name=name) for service, name in zip(renamed, names, strict=True))


def _is_of_one(record: Record, place: Place) -> bool:
    return ownership.has_documents(record, place.out) and not ownership.is_site(record)


def _refuse_unclaimed(
    services: Iterable[Service], places: Iterable[Place], place: Place, failures: Sequence[SkillgenError]
) -> None:
    """Refuses a folder for several services with the documents of one that none of them is known to be.

    Raises:
        SourceError: it may be one that could not be read.
        UsageError: the folder has such documents.
    """
    pairs = zip(services, places, strict=True)
    earlier = (ownership.earlier_folder(service, own, read_record(own.out)) for service, own in pairs)
    if not _is_of_one(before := read_record(place.out), place) or place.out in earlier:
        return
    if failures:
        what = f"holds the documents of {before.service!r}, which may be a server that failed; nothing was written"
        error = SourceError(what, where=str(place.out), fix="run it again when every server can be read")
        raise_all([error, *failures])
    ownership.refuse_other_service(before, ownership.identity_of(None, place), place)


def _write_site(
    written: _Written, left: Collection[str], output: OutputOptions, place: Place, *, is_partial: bool
) -> Outcome:
    """Writes the documents above those of several services; with `check`, only plans them.

    If some services failed, only llms.txt is written, with those that still have documents of an earlier run. A service
    that has a command of its own is only in llms.txt, since its other documents may differ from those of this run.

    Raises:
        EditedError: a file was edited.
        OutputError: OUT cannot be written.
        UsageError: a template has an error.
    """
    from skillgen.render.formats import render_site

    folder, identity = place.out, ownership.identity_of(None, place)
    names = [name for name, *_ in written]
    records = ownership.records_in(folder, [(folder / name).resolve() for name in names])
    known = records.pop(folder).services if folder in records else {}
    earlier = {  # the other services that have an llms.txt, with what is known of each
        path.name: {"title": record.service, **known.get(path.name, {}), "tools": len(record.tools)}
        for path, record in records.items()
        if path.name in left or (is_partial and (record.owner == ".." or path.name in known))
        if (path / "llms.txt").is_file()
    }
    emit = [name for name in output.emit if name == "llms" or not is_partial]
    parts = [rendering.split_service(service, output.split) for _, service, _ in written]
    added = [_added_to_skills(outcome.plan, {}) for *_, outcome in written]
    triples = zip(written, added, parts, strict=True)
    services = {name: (service, (own, part)) for (name, service, _), own, part in triples}
    rendered, entries = render_site(services, rendering.render_options(replace(output, emit=emit)), earlier)
    documents = rendering.Documents.of(*rendered)
    with ExitStack() as stack:
        held = None if output.check else stack.enter_context(lock_folder(folder))
        plan = plan_documents(
            folder,
            documents.contents,
            replace(identity, services=entries, run=ownership.run_in_record(place.run, folder)),
            artifacts=documents.artifacts,
            kept=read_record(folder).states.keys() - {"llms.txt"} if is_partial else (),
            force=output.force,
        )
        if held is not None:
            _refuse_conflicts(plan)
            apply_plan(plan, held)
    problems = [*documents.problems, *_plan_problems(plan)]
    if is_partial and "llms.txt" in documents.contents:
        shown = ", ".join(names) + (f"; of an earlier run {', '.join(earlier)}" if earlier else "")
        message = f"it names the services of this run, {shown}; a service failed, so nothing else above them is renewed"
        problems.append(Problem.of("site-partial", str(folder / "llms.txt"), message))
    return Outcome(kind="site", plan=plan, is_check=output.check, problems=tuple(problems))
