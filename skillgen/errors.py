"""Problems, exceptions and exit codes. Every other module may import this one.

A defect of one piece of a source is a value, a `Problem`: it is collected, and the rest is still documented. A fatal
error is an exception, a `SkillgenError`, that carries the exit code of the command:

    SkillgenError          5  a bug in skillgen
    ├── UsageError         2  invalid options or configuration
    ├── SourceError        3  the source could not be reached or read, or no longer has any tools
    ├── EditedError        4  a file that skillgen would replace holds edits
    └── OutputError        5  OUT could not be written

Exit code 0 is success and 1 is drift: documents that are not up to date, reported by `--check`; or errors that `lint`
found; or an error with which a service answered a call; or a skill that `eval` grades below its threshold.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum

from msgspec import Struct

from skillgen.problem_codes import CODES, Level


class ExitCode(IntEnum):
    """The exit codes of every command. A run over several services or targets returns the highest."""

    DONE = 0
    DRIFT = 1
    FAILED = 1  # another name of the same code: the answer to a call is an error
    USAGE = 2
    SOURCE = 3
    EDITED = 4
    OUTPUT = 5


class Problem(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A defect of one piece of a source; the rest is still documented."""

    code: str
    """The kind of problem, stable between versions: `reference-not-found`."""

    level: Level
    """How serious it is; follows from the code."""

    where: str
    """A JSON pointer into the source, or the name of the piece."""

    message: str
    """What is wrong, in one sentence."""

    fix: str | None = None
    """What the author of the source, or the user, can do about it."""

    @classmethod
    def of(cls, code: str, where: str, message: str, fix: str | None = None) -> Problem:
        """Returns a problem with the level of its code, which `problem_codes.CODES` must have, and the fix of its code
        unless there is a more exact one."""
        kind = CODES[code]
        return cls(code=code, level=kind.level, where=where, message=message, fix=fix or kind.fix or None)


class ProblemLog:
    """Collects problems while a source is read or a document is rendered; duplicates are dropped."""

    def __init__(self) -> None:
        self._problems: dict[Problem, None] = {}

    def report(self, code: str, where: str, message: str, fix: str | None = None) -> None:
        """Adds a problem with the level and, without a more exact one, the fix of its code."""
        self.add(Problem.of(code, where, message, fix))

    def add(self, problem: Problem) -> None:
        """Adds a problem after those already collected, unless an equal one is among them."""
        self._problems[problem] = None

    def __iter__(self) -> Iterator[Problem]:
        return iter(self._problems)

    def __len__(self) -> int:
        return len(self._problems)


class SkillgenError(Exception):
    """A fatal error: what happened, where, and what to do next."""

    exit_code = ExitCode.OUTPUT
    advice = "run it again with --debug, and report what it prints"
    """The fix of an error that is raised without one."""

    def __init__(self, what: str, *, where: str | None = None, fix: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.fix = fix or self.advice
        self.others: tuple[SkillgenError, ...] = ()
        """Other errors that were found with it."""


def raise_all(errors: Sequence[SkillgenError]) -> None:
    """Raises the first of these errors with the others, if there are any."""
    for error in errors[:1]:
        error.others = tuple(errors[1:])
        raise error


def failure_of(error: Exception) -> SkillgenError:
    """Returns an exception as a fatal error."""
    failure: SkillgenError
    if isinstance(error, SkillgenError):
        return error
    if isinstance(error, (MemoryError, RecursionError)):  # a text of others decides how much is needed
        failure = SourceError("the input is too large or nested too deeply", fix="give a smaller one")
    elif isinstance(error, OSError):
        where = str(error.filename or "standard output")
        failure = OutputError(f"cannot be read or written: {error.strerror}", where=where)
    else:
        what = f"a bug in skillgen: {type(error).__name__}: {error}"
        failure = SkillgenError(what, fix="report it with the output of --debug")
    failure.__cause__ = error
    return failure


class UsageError(SkillgenError):
    """The options or the configuration are invalid."""

    exit_code = ExitCode.USAGE
    advice = "see --help"


class SourceError(SkillgenError):
    """The source could not be reached or read, or has no tools although the existing documents do."""

    exit_code = ExitCode.SOURCE
    advice = "correct the source, or report it to its author"


class EditedError(SkillgenError):
    """A file that skillgen would replace was edited, or was not written by skillgen."""

    exit_code = ExitCode.EDITED

    def __init__(self, what: str, *, where: str, fix: str, diff: str) -> None:
        super().__init__(what, where=where, fix=fix)
        self.diff = diff


class OutputError(SkillgenError):
    """OUT could not be written."""

    exit_code = ExitCode.OUTPUT
    advice = "check its permissions and the free space, move what is in its place, or choose another folder"


@contextmanager
def time_limit(limit_s: float, error: Exception) -> Iterator[None]:
    """Raises `error` in the block after `limit_s` seconds of CPU time: for user templates and JSONPath expressions,
    whose run time their input does not bound.

    It has no effect outside the main thread and on Windows, where Python has no such timer: code that needs a limit
    must run in the main thread.
    """
    if sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(signal_number: int, frame: object) -> None:
        raise error

    previous_handler = signal.signal(signal.SIGVTALRM, interrupt)
    signal.setitimer(signal.ITIMER_VIRTUAL, limit_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, previous_handler)
