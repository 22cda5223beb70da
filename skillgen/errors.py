"""Problem, ProblemLog, exception tree, exit codes, time_limit.

What can go wrong, on the lowest floor: every other module may import this one.

Two things are kept apart. A bad piece is a value, a `Problem`: it is collected, and the rest is still
documented. A dead end is an exception, a `SkillgenError`, which carries the exit code of the command:

    SkillgenError            5   OUT could not be written, or a bug in skillgen
    ├── UsageError           2   options or configuration that make no sense
    ├── SourceError          3   the source could not be reached or read, or shows no tools any more
    ├── EditedError          4   a file that skillgen would write holds edits
    └── OutputError          5   OUT could not be written

Stops what takes too long where its input does not bound it: templates and expressions that others wrote.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

Level = Literal["info", "warning", "error"]


class ExitCode(IntEnum):
    """The exit codes of every command; with several services or targets the highest wins."""

    DONE = 0
    DRIFT = 1
    USAGE = 2
    SOURCE = 3
    EDITED = 4
    OUTPUT = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong with a piece of a source, where the rest can still be documented."""

    code: str
    """What kind of problem, in words that do not change between versions: `reference-not-found`."""

    level: Level
    """`info`: worth knowing; `warning`: the documents lack something; `error`: the run fails, and its exit code says
    so."""

    where: str
    """A JSON pointer into the source, or the name of what is concerned."""

    message: str
    """What was seen there, one sentence."""

    fix: str | None = None
    """What its author can do about it."""


class ProblemLog:
    """Collects problems while a source is read or a document is rendered; equal ones are kept once."""

    def __init__(self) -> None:
        self._problems: dict[Problem, None] = {}

    def info(self, code: str, where: str, message: str, fix: str | None = None) -> None:
        """Adds a problem of level info."""
        self.add(Problem(code=code, level="info", where=where, message=message, fix=fix))

    def warning(self, code: str, where: str, message: str, fix: str | None = None) -> None:
        """Adds a problem of level warning."""
        self.add(Problem(code=code, level="warning", where=where, message=message, fix=fix))

    def add(self, problem: Problem) -> None:
        """Adds one problem, in the order of arrival."""
        self._problems[problem] = None

    def __iter__(self) -> Iterator[Problem]:
        return iter(self._problems)

    def __len__(self) -> int:
        return len(self._problems)


class SkillgenError(Exception):
    """A dead end: what happened, where, and what to do next."""

    exit_code = ExitCode.OUTPUT
    advice = "run it again with --debug, and report what it prints"
    """What to do where an error names no fix of its own."""

    def __init__(self, what: str, *, where: str | None = None, fix: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.fix = fix or self.advice


def failure_from_bug(error: Exception) -> SkillgenError:
    """Returns the fatal error for an exception that nothing expected."""
    failure = SkillgenError(
        f"a bug in skillgen: {type(error).__name__}: {error}", fix="report it with the output of --debug"
    )
    failure.__cause__ = error
    return failure


class UsageError(SkillgenError):
    """The options or the configuration make no sense together."""

    exit_code = ExitCode.USAGE
    advice = "see --help"


class SourceError(SkillgenError):
    """The source could not be reached or read, or it shows no tools where the documents have some."""

    exit_code = ExitCode.SOURCE
    advice = "correct the source, or report it to its author"


class EditedError(SkillgenError):
    """A file that skillgen would write was edited, or was not made by skillgen."""

    exit_code = ExitCode.EDITED

    def __init__(self, what: str, *, where: str, fix: str, diff: str) -> None:
        super().__init__(what, where=where, fix=fix)
        self.diff = diff


class OutputError(SkillgenError):
    """OUT could not be written."""

    exit_code = ExitCode.OUTPUT
    advice = "check its permissions, move what is in its place, or choose another folder"


@contextmanager
def time_limit(limit_s: float | None, error: Exception) -> Iterator[None]:
    """Raises an error in what takes more processor seconds.

    It works in the main thread only, and not on Windows: what needs a limit must run in the main thread.
    """
    if limit_s is None or sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(signal_number: int, frame: object) -> None:
        raise error

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, limit_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
