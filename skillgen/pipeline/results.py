"""What a run did: the folders that it wrote or checked, the services that failed, and its exit code."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from skillgen.errors import ExitCode, Problem, SkillgenError
from skillgen.model.service import Service
from skillgen.pipeline.packages import SkillFolder
from skillgen.write.plan import Action, Plan
from skillgen.write.record import Run


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

    run: Run | None = None
    """The command that wrote the documents; its folder is absolute."""

    install: tuple[SkillFolder, ...] = ()
    """Folders to install the skill into."""

    project: Path | None = None
    """The folder of the project, or the home folder, that `out` is installed in; `None` if it is not installed."""

    @property
    def is_installed(self) -> bool:
        """True for an installed skill."""
        return self.project is not None


OutcomeKind = Literal["documents", "installed", "site"]
"""The documents of a service, an installed copy of its skill, or the documents above those of several services."""


class Outcome(Struct, frozen=True, kw_only=True):
    """What a run did in one folder, or with `check` would do."""

    kind: OutcomeKind
    plan: Plan
    is_check: bool
    """True if nothing was written."""

    service: Service | None = None
    """The service that was documented; `None` for the kind `site`, and if its documents were up to
    date without reading it."""

    problems: tuple[Problem, ...] = ()

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
    def is_upgrade(self) -> bool:
        """True if documents differed, and only because another release of skillgen writes them."""
        changed = [outcome for outcome in self.outcomes if outcome.plan.drift]
        return bool(changed) and all(
            any(problem.code == "generator-changed" for problem in outcome.problems) for outcome in changed
        )

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
            "resources": sum(offer.get(part, 0) for offer in offers for part in _RESOURCES),
            "prompts": sum(offer.get("prompts/list", 0) for offer in offers),
            "files": sum(len(outcome.plan.changes) for outcome in self.outcomes),
        }


_RESOURCES = ("resources/list", "resources/templates/list")


def _parameter_count(outcome: Outcome) -> int:
    if outcome.service is not None:
        return sum(len(tool.parameters) for tool in outcome.service.tools)
    tools = outcome.plan.after.tools.values()
    return sum(not set(name) & set(".[") for tool in tools for name in tool.get("takes", ()))


def problem_from_error(error: SkillgenError) -> Problem:
    """Returns the fatal error of one service as a problem of the run."""
    return Problem.of(code="service-failed", where=error.where or "", message=error.what, fix=error.fix)
