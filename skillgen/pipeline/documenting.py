"""From a service to its documents: rendered, compared with what stands in OUT, written or shown as a diff."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, count
from typing import TYPE_CHECKING

from skillgen.errors import EditedError, ExitCode, Problem, SourceError, UsageError
from skillgen.markdown.filters import one_line
from skillgen.model.service import Service
from skillgen.pipeline.options import Outcome, OutputOptions, tokens
from skillgen.render.document import FORMATS

if TYPE_CHECKING:
    from skillgen.write.plan import Plan


def generate(service: Service, options: OutputOptions) -> Outcome:
    """Renders a service, and writes the documents or shows what would change.

    Raises:
        SourceError: the service has no tools where its documents have some, or `strict` and it has problems.
        EditedError: a file that would be replaced holds edits; nothing was written.
        OutputError: OUT cannot be written.
        UsageError: a template has an error.
    """
    from skillgen.render.formats import render_documents
    from skillgen.write.apply import apply_plan
    from skillgen.write.diff import unified_diff
    from skillgen.write.plan import plan_documents

    if options.strict:
        _refuse_problems(service.problems)
    documents = {item.path: item.text for item in render_documents(service, options.formats, options.templates)}
    plan = plan_documents(
        options.out,
        documents,
        service=one_line(service.name),
        tools=len(service.tools),
    )
    _refuse_empty(service, plan, options)
    problems = (*service.problems, *_plan_problems(plan))
    diff = ""
    if options.check:
        diff = unified_diff(plan.drift)
    else:
        _refuse_conflicts(plan)
        apply_plan(plan)
    skill = next((text for path, text in documents.items() if path.endswith("/SKILL.md")), None)
    return Outcome(
        service=service,
        plan=plan,
        problems=problems,
        diff=diff,
        skill_tokens=tokens(skill) if skill is not None else None,
        exit_code=ExitCode.DRIFT if options.check and plan.drift else ExitCode.DONE,
    )


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
        f"{service.name} shows no tools, but its documents have {plan.before.tools}; nothing was changed",
        where=str(options.out),
        fix="check the source, or give --allow-empty if it really has none any more",
    )


def _refuse_conflicts(plan: Plan) -> None:
    from skillgen.write.diff import unified_diff

    conflicts = plan.conflicts
    if not conflicts:
        return
    names = ", ".join(change.path for change in conflicts[:5]) + (", …" if len(conflicts) > 5 else "")
    raise EditedError(
        f"{names}: edited since skillgen wrote {'it' if len(conflicts) == 1 else 'them'}, or not made by skillgen; "
        "nothing was written",
        where=str(plan.out),
        fix="move the edit elsewhere or delete the file, and run again; or choose another folder with --out",
        diff=unified_diff(conflicts),
    )


def _plan_problems(plan: Plan) -> list[Problem]:
    found = [
        Problem(
            code="stale-file-kept",
            level="warning",
            where=change.path,
            message="skillgen no longer writes this file; it was edited, so it stays",
            fix="delete it when its words are safe elsewhere",
        )
        for change in plan.abandoned
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
