"""A run: the source that is asked for, the folders that it wrote or checked, what failed, and its exit code."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Semaphore, Thread
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from skillgen.config.option import options_in
from skillgen.config.project import Source, Texts
from skillgen.errors import ExitCode, Problem, SkillgenError, UsageError
from skillgen.model.schema import writable
from skillgen.model.service import Service
from skillgen.model.values import Json, child
from skillgen.security.secrets import Secrets, secrets_from_headers, secrets_from_url
from skillgen.sources.documents import is_url
from skillgen.sources.http import FetchOptions
from skillgen.write.plan import Action, Plan
from skillgen.write.record import Run

if TYPE_CHECKING:
    from concurrent.futures import Future

    from skillgen.sources.extra_text import ExtraText
    from skillgen.sources.mcp.session import CancelToken, Session
    from skillgen.sources.mcp.target import ServerTarget


Notify = Callable[[str], None]
"""Receives a message for a person."""

OnCrawl: TypeAlias = "Callable[[Mapping[str, Json], Session, ServerTarget], None]"
"""Receives the raw results of a server (method to result), the session in which it was crawled, and the server."""


_AT_ONCE = 8
"""Number of sources that are read at the same time."""

_Item = TypeVar("_Item")
_Read = TypeVar("_Read")


def at_once(read: Callable[[_Item], _Read], items: Iterable[_Item]) -> list[Future[_Read]]:
    """Reads several items at the same time. The threads are daemons: an interrupted run does not wait for them."""
    from concurrent.futures import Future

    slots = Semaphore(_AT_ONCE)

    def work(item: _Item, future: Future[_Read]) -> None:
        with slots:
            try:
                future.set_result(read(item))
            except BaseException as error:
                future.set_exception(error)

    pairs = [(item, Future[_Read]()) for item in items]
    for pair in pairs:
        Thread(target=work, args=pair, daemon=True).start()
    return [future for _, future in pairs]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A source to read, with what its reader needs."""

    source: Source
    texts: Texts = field(default_factory=Texts)
    """What its author declares, and which tools are documented."""

    pointer: str | None = None
    """The target in the project file, such as `skillgen.yaml#/targets/api`; `None` for options of a caller."""

    environment: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    """The variables of the user's shell."""

    secrets: Secrets = field(default_factory=Secrets, repr=False)
    """Secrets that replaced variables of the project file."""

    extras: tuple[ExtraText, ...] = ()
    """The texts of `--extra`; `read_source` reads them."""

    progress: Notify = lambda message: None
    announce: Notify | None = None
    """Receives the URL to log in at; `None` if nobody can be asked."""

    confirm: Callable[[str], bool] | None = None
    """Asks whether an authorization server may receive the client secret; `None` if nobody can be asked."""

    cancel_token: CancelToken | None = None

    on_crawl: OnCrawl | None = None

    on_declared: Callable[[Service, Request], None] | None = None
    """Receives a service as its source declares it, with the tools that are documented, and the request with the texts
    in its folder. The service that is read then has no text of `draft`.
    """

    is_for_documents: bool = True
    """False if nobody reads its groups and what a skill says of the service, which are then not inferred."""

    documents: Place | None = None
    """The place of the documents, whose texts.yaml counts; `None` for a source without documents."""

    texts_file: str | None = None
    """That file, in the folder that has the documents of the service."""

    stored: Collection[tuple[str, ...]] = ()
    """The texts that only this file has, each by its name or its keys. Effects among them only raise what is known."""

    connections: contextlib.ExitStack | None = field(default=None, repr=False)
    """Closes the connections to servers; `None` closes each after its crawl."""

    def place(self, name: str, *keys: object) -> str:
        """Returns the place of an option for messages and origins: a pointer into the file that has it, or its flag."""
        is_stored = not {(name,), (name, *keys[:1])}.isdisjoint(self.stored)
        file = f"{self.texts_file}#" if is_stored else self.pointer
        if file is not None:
            return child(file, name.replace("_", "-"), *keys)
        return child(next((item.flag for item in options_in(Texts) if item.name == name and item.flag), name), *keys)

    def access(self, *addresses: object) -> FetchOptions:
        """Returns how documents are fetched; no document and no message holds the secrets in their URLs."""
        headers = tuple(self.source.headers.items())
        secrets = self.secrets | secrets_from_headers(headers)
        for address in (*addresses, *self.source.overlays):
            if isinstance(address, str) and is_url(address):
                secrets |= secrets_from_url(address)
        return FetchOptions(timeout_s=self.source.timeout, headers=headers, secrets=secrets)


class Reading(Struct, frozen=True, kw_only=True):
    """The result of reading a source."""

    services: tuple[Service, ...]
    failures: tuple[SkillgenError, ...] = ()
    """Why other services of the source could not be read."""
    problems: tuple[Problem, ...] = ()
    """Problems of none of the services."""

    @property
    def only(self) -> Service:
        """The only service.

        Raises:
            SkillgenError: it could not be read.
            UsageError: there are several.
        """
        count = len(self.services) + len(self.failures)
        if count != 1:
            names = ", ".join(service.name for service in self.services[:10])
            fix = "choose one of a client's file or a snapshot with --server, or give a source with one service"
            raise UsageError(f"the source has {count} services: {names}", fix=fix)
        if self.failures:
            raise self.failures[0]
        return self.services[0]


class Place(Struct, frozen=True, kw_only=True):
    """A folder to write documents to."""

    out: Path
    within: Path | None = None
    """The folder that the user named, if `out` is a folder in it with a name from the source."""

    siblings: Mapping[str, Path] = {}
    """Folders of all documents of the run, by target or server. Others with the same `top` are orphaned."""

    kept: Collection[Path] = ()
    """Folders whose documents stay, with those below them: in a run with --out, those of the project's file."""

    near: tuple[Path, ...] = ()
    """Folders that may have the documents of earlier runs, or folders with them."""

    owner: Path | None = None
    """What `out` belongs to, if not to the user alone: the project file, the folder of all services of a run, or the
    documents that an installed skill is a copy of."""

    top: Path = Path()
    """The owner of all documents of the run: the project file, or the folder that the user named."""

    target: str | None = None
    """The target of the project's file, with the name of the server if it has several."""

    servers: Collection[str] = ()
    """The folders of all servers of the run, if it has several."""

    is_shared: bool = False
    """True if another target or server of the run has the same source, so that documents go with their name alone."""

    run: Run | None = None
    """The command that wrote the documents; its folder is absolute."""

    install: tuple[Path, ...] = ()
    """Folders to install the skill into; it is renewed in those that have a copy of it, too."""

    is_installed: bool = False
    """True for an installed skill."""

    def below(self, names: Sequence[str]) -> list[Place]:
        """Returns the places of several services, in folders of these names."""
        siblings = {**self.siblings, **{str(self.out / name): self.out / name for name in names}}
        place = replace(self, within=self.out, owner=self.out, siblings=siblings, servers=names)
        return [replace(place, out=self.out / name, target=self.target and f"{self.target} {name}") for name in names]


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

    moved: str = ""
    """Where the documents were moved from, or would be moved to, as the end of a sentence."""

    @property
    def exit_code(self) -> ExitCode:
        """`DRIFT` if a check found what a run would write, which may be only the record; else `DONE`."""
        is_drift = self.plan.drift or self.moved or (self.plan.after.states and not self.plan.before.states)
        return ExitCode.DRIFT if self.is_check and is_drift else ExitCode.DONE

    @property
    def parameter_count(self) -> int:
        """How many parameters the tools have that are sent; of a service that was not read, those of its record."""
        if self.service is not None:
            return sum(len(writable(tool.parameters)) for tool in self.service.tools)
        tools = self.plan.after.tools.values()
        return sum(not set(name) & set(".[") for tool in tools for name in tool.get("takes", ()))


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
        pairs = ((outcome.plan.out, change) for outcome in self.outcomes for change in outcome.plan.changes)
        return tuple(File(path=out / change.path, action=change.action) for out, change in pairs)

    @property
    def changed(self) -> tuple[Path, ...]:
        """The files that were created, replaced or deleted, or in a check would be."""
        return tuple(outcome.plan.out / change.path for outcome in self.outcomes for change in outcome.plan.drift)

    @property
    def drift(self) -> bool:
        """True if the documents differed from what the source yields."""
        return any(outcome.plan.drift or outcome.moved for outcome in self.outcomes)

    @property
    def is_upgrade(self) -> bool:
        """True if documents differed, and only because another release of skillgen writes them."""
        codes = [{problem.code for problem in outcome.problems} for outcome in self.outcomes if outcome.plan.drift]
        return bool(codes) and all("generator-changed" in found for found in codes)

    @property
    def diff(self) -> str:
        """The changes of a check as a unified diff; empty after a run that wrote them."""
        return "".join(outcome.plan.diff() for outcome in self.outcomes if outcome.is_check)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problems of the sources and of the documents; each failed service is one."""
        return (*(problem for step in self.steps for problem in step.problems), *self.notices)

    @property
    def exit_code(self) -> ExitCode:
        """The exit code of a command with this result."""
        return max((step.exit_code for step in self.steps), default=ExitCode.DONE)

    @property
    def counts(self) -> dict[str, int]:
        """How many services, tools, parameters, resources, prompts and files were documented."""
        documented = [outcome for outcome in self.outcomes if outcome.kind == "documents"]
        offers = sum((Counter(outcome.plan.after.offers) for outcome in documented), Counter[str]())
        return {
            "services": len(documented),
            "tools": sum(len(outcome.plan.after.tools) for outcome in documented),
            "parameters": sum(outcome.parameter_count for outcome in documented),
            "resources": offers["resources/list"] + offers["resources/templates/list"],
            "prompts": offers["prompts/list"],
            "files": sum(len(outcome.plan.changes) for outcome in self.outcomes),
        }


def problem_from_error(error: SkillgenError) -> Problem:
    """Returns the fatal error of one service as a problem of the run."""
    return Problem.of(code="service-failed", where=error.where or "", message=error.what, fix=error.fix)
