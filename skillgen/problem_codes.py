"""Every kind of problem that skillgen reports: its code, level, meaning, fix, clause and examples.

A code is declared in problem_codes.yaml and nowhere else: level and fix of a problem follow from its code, and
docs/rules.md is built from that file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from textwrap import dedent
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
        return dedent(block).rstrip("\n") + "\n"
    if line.startswith("["):
        return line[1:-1].split(", ")
    return line == "true" or line.strip("'")


class _Table(Mapping[str, ProblemCode]):
    """The table; an entry is parsed when it is first needed, because most runs need few."""

    def __init__(self) -> None:
        self._kinds: dict[str, ProblemCode] = {}

    @cached_property
    def _entries(self) -> dict[str, str]:
        text = Path(__file__).with_suffix(".yaml").read_text("utf-8")
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
