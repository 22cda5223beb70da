"""From a service to its documents: rendered, compared with what stands in OUT, written or shown as a diff."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import chain, count
from typing import TYPE_CHECKING

from skillgen.errors import EditedError, ExitCode, Problem, SourceError, UsageError
from skillgen.markdown.filters import one_line
from skillgen.model.inventory import inventory_of, types_of
from skillgen.model.service import Service
from skillgen.pipeline.options import Outcome, OutputOptions, tokens
from skillgen.render.catalogue import template_problems
from skillgen.render.document import FORMATS
from skillgen.render.identity import skill_name
from skillgen.render.invocation import profile_problems

if TYPE_CHECKING:
    from skillgen.write.plan import Plan


def generate(service: Service, runs: Sequence[OutputOptions]) -> tuple[Outcome, ...]:
    """Renders a service, and writes the documents to each place, or shows what would change there.

    Every place is looked at before anything is written to the first: an edit in one of them leaves all as they are.

    Raises:
        SourceError: the service has no tools where its documents have some, or `strict` and it has problems.
        EditedError: a file that would be replaced holds edits; nothing was written.
        OutputError: a place cannot be written.
        UsageError: a template has an error.
    """
    from skillgen.write.apply import apply_plan
    from skillgen.write.lock import locked, refuse_outside

    if runs[0].strict:
        _refuse_problems(service.problems)
    documents = _documents(service, runs[0])
    with ExitStack() as stack:
        plans, held = [], []
        for run in runs:
            if not run.check:
                held.append(stack.enter_context(locked(run.out, run.within)))
            refuse_outside(run.out, run.within)
            plans.append(_planned(service, _placed(documents, service, run), run))
        for run, plan in zip(runs, plans, strict=True):
            if not run.check:
                _refuse_conflicts(plan)
        for plan, out in zip(plans, held, strict=False):
            apply_plan(plan, out)
    skill = next((content for path, content in documents.items() if path.endswith("SKILL.md")), None)
    skill_tokens = tokens(skill.decode("utf-8")) if skill is not None else None
    outcomes = [_outcome(service, run, plan, skill_tokens) for run, plan in zip(runs, plans, strict=True)]
    return tuple(
        replace(outcome, problems=(*outcome.problems, *_left_installed(plans[0], run))) if run.is_installed else outcome
        for run, outcome in zip(runs, outcomes, strict=True)
    )


def _left_installed(plan: Plan, installed: OutputOptions) -> list[Problem]:
    """Tells of the skills of this service that stand where a host looks, under names that OUT no longer has."""
    from skillgen.write.record import RECORD_NAME

    gone = [
        path.split("/")[1] for path in plan.before.states if path.startswith("skills/") and path.endswith("/SKILL.md")
    ]
    return [
        Problem(
            code="installed-skill-left",
            level="warning",
            where=str(installed.out.parent / name),
            message=f"this skill was installed when the service had this name; it is {installed.out.name} now",
            fix="delete this folder, if nothing else needs it",
        )
        for name in gone
        if name != installed.out.name and (installed.out.parent / name / RECORD_NAME).is_file()
    ]


def _outcome(service: Service, run: OutputOptions, plan: Plan, skill_tokens: int | None) -> Outcome:
    from skillgen.write.diff import unified_diff

    said = [*service.problems, *profile_problems(service, run.profile), *template_problems(run.templates)]
    return Outcome(
        service=service,
        plan=plan,
        problems=(*([] if run.is_installed else said), *_plan_problems(plan)),
        diff=unified_diff(plan.drift) if run.check else "",
        is_installed=run.is_installed,
        skill_tokens=skill_tokens,
        exit_code=ExitCode.DRIFT if run.check and plan.drift else ExitCode.DONE,
    )


def _planned(service: Service, documents: Mapping[str, bytes], options: OutputOptions) -> Plan:
    from skillgen.write.planning import plan_documents

    plan = plan_documents(
        options.out,
        documents,
        service=one_line(service.name),
        tools=inventory_of(service),
        types=types_of(service),
        force=options.force,
    )
    _refuse_empty(service, plan, options)
    return plan


def _documents(service: Service, options: OutputOptions) -> dict[str, bytes]:
    """Gives path to content."""
    from skillgen.render.formats import render_documents

    documents = render_documents(service, options.formats, options.templates, options.profile)
    return {item.path: item.text.encode("utf-8") for item in documents}


def _placed(documents: Mapping[str, bytes], service: Service, options: OutputOptions) -> Mapping[str, bytes]:
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
    from skillgen.write.apply import apply_plan
    from skillgen.write.lock import locked
    from skillgen.write.planning import plan_documents

    document = render_site(services, folders, options.templates)
    content = document.text.encode("utf-8")

    def planned() -> Plan:
        return plan_documents(options.out, {document.path: content}, service="services", tools={}, force=options.force)

    if options.check:
        return planned()
    with locked(options.out) as out:
        plan = planned()
        _refuse_conflicts(plan)
        apply_plan(plan, out)
    return plan


def site_drift(plan: Plan) -> str:
    """Gives what would change in the llms.txt above those of several services, as a diff."""
    from skillgen.write.diff import unified_diff

    return unified_diff(plan.drift)


def formats_named(names: str) -> tuple[str, ...]:
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
    from skillgen.render.file_names import file_stems
    from skillgen.render.identity import skill_name

    names = [service.server_name or skill_name(service) for service in services]
    stems = file_stems(dict.fromkeys(names), frozenset())
    taken: dict[str, None] = {}
    for name in names:
        further = (f"{stems[name]}-{number}" for number in count(2))
        taken[next(stem for stem in chain([stems[name]], further) if stem not in taken)] = None
    return tuple(taken)


def _refuse_problems(problems: Sequence[Problem]) -> None:
    found = [problem for problem in problems if problem.level != "info"]
    if found:
        first = found[0]
        raise SourceError(
            f"has {len(found)} problem{'s' if len(found) > 1 else ''}, and --strict is given; "
            f"the first is {first.code}: {first.message}",
            where=first.where,
            fix="mend the source, or run without --strict",
        )


def _refuse_empty(service: Service, plan: Plan, options: OutputOptions) -> None:
    if service.tools or not plan.before.tools or options.allow_empty:
        return
    raise SourceError(
        f"{service.name} shows no tools, but its documents have {len(plan.before.tools)}; nothing was changed",
        where=str(options.out),
        fix="check the source, or give --allow-empty if it really has none any more",
    )


def _refuse_conflicts(plan: Plan) -> None:
    from skillgen.write.plan import FOREIGN
    from skillgen.write.record import RECORD_NAME

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
