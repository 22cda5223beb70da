"""From a source to documents: source, service, documents, plan, write or diff. Prints nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from skillgen.errors import EditedError, ExitCode, Problem, ProblemLog, SourceError, UsageError
from skillgen.markdown.filters import one_line
from skillgen.model.service import Endpoint, Service
from skillgen.model.value import Origin
from skillgen.render.document import FORMATS
from skillgen.sources.addresses import public_url
from skillgen.sources.document import Document as SourceDocument
from skillgen.sources.document import load_document
from skillgen.sources.infer import completed
from skillgen.sources.openapi.service import is_description, service_from_description
from skillgen.sources.snapshot import is_snapshot, services_from_snapshot

if TYPE_CHECKING:
    from skillgen.sources.mcp.crawl import ServerTarget
    from skillgen.write.plan import Plan

Progress = Callable[[str], None]

BYTES_PER_TOKEN = 3.2
"""Tokens are counted as UTF-8 bytes / 3.2, rounded up (design, "Output")."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overrides:
    """What the user says of the service; it wins over the source (design, "Where facts disagree")."""

    name: str | None = None
    """`--name`."""

    description: str | None = None
    """`--description`."""

    base_url: str | None = None
    """`--base-url`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputOptions:
    """Where documents go, and what may happen to those that are there."""

    out: Path
    """The folder."""

    formats: tuple[str, ...]
    """Names of formats."""

    templates: Path | None = None
    """A folder whose templates win over skillgen's."""

    check: bool = False
    """Whether to write nothing and show what would change."""

    allow_empty: bool = False
    """Whether a service without tools may replace the documents of one that had some."""

    strict: bool = False
    """Whether a problem of level warning or error is a dead end."""


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

    skill_tokens: int | None
    """What the first level costs an agent."""

    exit_code: ExitCode
    """How it ended."""


# -- sources ---------------------------------------------------------------------------------------------------------


def read_description(source: str, overrides: Overrides, *, timeout_s: float) -> Service:
    """Reads an OpenAPI description.

    Raises:
        SourceError: it cannot be reached or read.
    """
    problems = ProblemLog()
    return _from_description(load_document(source, problems, timeout_s=timeout_s), problems, overrides)


def read_server(target: ServerTarget, overrides: Overrides, *, server_name: str | None, progress: Progress) -> Service:
    """Crawls an MCP server.

    Raises:
        SourceError: it cannot be reached, or does not list its tools.
    """
    from skillgen.sources.mcp.crawl import crawl
    from skillgen.sources.mcp.service import service_from_crawl

    service = service_from_crawl(crawl(target, progress), server_name=server_name)
    return completed(overridden(service, overrides))


def read_snapshot(source: str, overrides: Overrides, *, timeout_s: float) -> tuple[Service, ...]:
    """Reads the services of a snapshot.

    Raises:
        SourceError: it is no snapshot.
    """
    document = load_document(source, ProblemLog(), timeout_s=timeout_s)
    return tuple(overridden(item, overrides) for item in services_from_snapshot(document.data, document.name))


def read_document(source: str, overrides: Overrides, *, timeout_s: float) -> tuple[Service, ...]:
    """Reads a document whose kind its content tells.

    Raises:
        SourceError: it is of no kind that skillgen reads.
    """
    problems = ProblemLog()
    document = load_document(source, problems, timeout_s=timeout_s)
    if is_snapshot(document.data):
        return tuple(overridden(item, overrides) for item in services_from_snapshot(document.data, document.name))
    if is_description(document.data):
        return (_from_description(document, problems, overrides),)
    raise SourceError(
        "is neither an OpenAPI description nor a snapshot",
        where=document.name,
        fix="give one of them, or a server: --url URL or -- COMMAND",
    )


def overridden(service: Service, overrides: Overrides) -> Service:
    """Gives the service with what the user says of it."""
    origins = dict(service.origins or {})
    if overrides.name is not None and not overrides.name.strip():
        raise UsageError("is empty", where="--name", fix="give a name")
    if overrides.name is not None:
        service, origins["name"] = replace(service, name=overrides.name), Origin("declared", "--name")
    if overrides.description is not None:
        service, origins["summary"] = (
            replace(service, summary=overrides.description),
            Origin("declared", "--description"),
        )
    if overrides.base_url is not None:
        url = public_url(overrides.base_url)
        if url != overrides.base_url or not url.startswith(("http://", "https://")):
            raise UsageError(
                "is no address without credentials and query", where="--base-url", fix="give https://HOST/PATH"
            )
        rest = tuple(endpoint for endpoint in service.endpoints if endpoint.url != url)
        service = replace(service, endpoints=(Endpoint(url=url), *rest))
        origins["endpoints"] = Origin("declared", "--base-url")
    return replace(service, origins=origins or None)


def _from_description(document: SourceDocument, problems: ProblemLog, overrides: Overrides) -> Service:
    service = service_from_description(document, problems)
    if overrides.base_url is not None:
        problems = _without(problems, "base-url-missing")
    return replace(completed(overridden(service, overrides)), problems=tuple(problems))


def _without(problems: ProblemLog, code: str) -> ProblemLog:
    kept = ProblemLog()
    for problem in problems:
        if problem.code != code:
            kept.add(problem)
    return kept


# -- documents -------------------------------------------------------------------------------------------------------


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


def folder_name(service: Service) -> str:
    """Gives the folder of one service among several."""
    from skillgen.render.identity import skill_name

    return skill_name(service)


def tokens(text: str) -> int:
    """Counts tokens as the design does."""
    return -int(-len(text.encode("utf-8")) // BYTES_PER_TOKEN)


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
