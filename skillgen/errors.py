"""Problems, their codes, exceptions and exit codes. Every other module may import this one.

A code is declared in problem_codes.yaml and nowhere else: level and fix of a problem follow from its code, and
docs/rules.md is built from that file.
"""

from __future__ import annotations

import re
import signal
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import IntEnum
from functools import cached_property
from pathlib import Path
from typing import Literal

from msgspec import Struct

from skillgen.typed import convert

Level = Literal["info", "warning", "error"]

WHERE = "where"


class ProblemCode(Struct, frozen=True, kw_only=True, rename="kebab", forbid_unknown_fields=True):
    """A kind of problem."""

    level: Level
    """`info`: worth knowing; `warning`: the documents are incomplete or could mislead; `error`: the run fails, and its
    exit code says so; of `lint` alone, what is useless to agents."""

    meaning: str
    """What is wrong, in one clause that is true of every problem with this code."""

    fix: str = ""
    """What to do about it, in the imperative; empty if nothing is to be done. A problem may have a more exact one."""

    clause: str = ""
    """The specification and its section that asks for it, followed by `(MUST)` or `(SHOULD)` if it says so."""

    known_as: str = ""
    """Its codes in public scanners, such as that of Snyk's agent-scan."""

    is_optional: bool = False
    """Whether `lint` reports it only if --select names it, because most sources have it."""

    needs: tuple[str, ...] = ()
    """What a service uses or has where its clause counts, such as `dashdash` or `tools`."""

    also_failed_by: str = ""
    """Another code and the end of its places, of problems that do not meet the clause either."""

    missing: str = ""
    """The part of the source that is not read completely, such as `ai_help`; `WHERE` if `where` of the problem names
    it, and empty if nothing is missing."""

    part: str = ""
    """What the examples are part of: a key of `PARTS` in rules/reports.py."""

    bad: str = ""
    good: str = ""

    case: str = ""
    """In place of examples, the case of a problem that no short example shows."""

    @property
    def demand(self) -> Literal["", "MUST", "SHOULD"]:
        """How strictly the clause asks for it."""
        return "MUST" if self.clause.endswith("(MUST)") else "SHOULD" if self.clause.endswith("(SHOULD)") else ""


_MEMBER = re.compile(r"^  ([a-z-]+): (?:\|\n((?:    .*\n|\n)+)|(.*)\n)", re.MULTILINE)


def _value(block: str, line: str) -> str | bool | list[str]:
    """Returns the value of a member; importing PyYAML takes more than the rest of a small run."""
    if block:
        return block[4:].replace("\n    ", "\n").rstrip("\n") + "\n"
    if line.startswith("["):
        return line[1:-1].split(", ")
    return line == "true" or line.strip("'")


class _Table(Mapping[str, ProblemCode]):
    """The table; an entry is parsed when it is first needed, because most runs need few."""

    def __init__(self) -> None:
        self._kinds: dict[str, ProblemCode] = {}

    @cached_property
    def _entries(self) -> dict[str, str]:
        text = Path(__file__).with_name("problem_codes.yaml").read_text("utf-8")
        return dict(re.findall(r"^([a-z-]+):\n((?: .*\n|\n)+)", text, re.MULTILINE))

    def __getitem__(self, code: str) -> ProblemCode:
        if code not in self._kinds:
            members = {key: _value(block, line) for key, block, line in _MEMBER.findall(self._entries[code])}
            self._kinds[code] = convert(members, ProblemCode)
        return self._kinds[code]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


CODES: Mapping[str, ProblemCode] = _Table()
"""Code of a problem to what it means, by the part of skillgen that reports it."""


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

    def add(self, *problems: Problem) -> None:
        """Adds problems after those already collected, but for those of which an equal one is among them."""
        self._problems |= dict.fromkeys(problems)

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
