"""The findings of `skillgen lint`: which of them count, and how they are reported.

Every text of a source is on one line and without what a terminal, a CI host or an agent would obey.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

from msgspec import Struct

from skillgen import __version__
from skillgen.errors import Problem, UsageError
from skillgen.lint.explanation import explanation, similar_codes
from skillgen.lint.positions import Position
from skillgen.model.values import Json
from skillgen.problem_codes import CODES, Level
from skillgen.text.markdown import disarm, disarm_json, disarm_log_commands, one_line
from skillgen.text.unicode import escape_invisible_in_json

LEVELS: tuple[Level, ...] = ("error", "warning", "info")
"""The worst first."""

PLACES_SHOWN = 5
"""Number of places that are printed for a rule; `--verbose` prints each."""


class Findings(Struct, frozen=True, kw_only=True):
    """The findings on one service."""

    source: str
    """The source as the user named it, or the name of the service."""

    path: str | None
    """The file; `None` if the source is not a file."""

    problems: tuple[Problem, ...]

    positions: Mapping[str, Position]
    """Line and column in the file, by the place of a problem; unknown ones are missing."""


def chosen_codes(select: Iterable[str], ignore: Iterable[str]) -> frozenset[str]:
    """Returns the codes that count: those selected, by default all but the optional ones, without those ignored.

    Raises:
        UsageError: a pattern matches no code.
    """
    chosen = set(_matching("--select", select)) or {code for code, kind in CODES.items() if not kind.is_optional}
    return frozenset(chosen - set(_matching("--ignore", ignore)))


def _matching(option: str, patterns: Iterable[str]) -> Iterator[str]:
    for pattern in (part.strip() for text in patterns for part in text.split(",")):
        codes = [code for code in CODES if fnmatchcase(code, pattern)]
        if not codes:
            close = similar_codes(pattern)
            fix = f"did you mean {' or '.join(close)}?" if close else "run `skillgen rule` to list all codes"
            raise UsageError(f"no such code: {pattern}", where=option, fix=fix)
        yield from codes


def worst_first(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Returns problems by level; those of one level stay in order."""
    return tuple(sorted(problems, key=lambda problem: LEVELS.index(problem.level)))


def counts_of(findings: Iterable[Findings]) -> dict[Level, int]:
    """Returns how many findings each level has."""
    found = Counter(problem.level for item in findings for problem in item.problems)
    return {level: found[level] for level in LEVELS}


# -- for people ------------------------------------------------------------------------------------------------------

_NOUNS: Mapping[Level, str] = {"error": "error", "warning": "warning", "info": "note"}


def text_report(findings: Sequence[Findings], *, is_complete: bool = False) -> str:
    """Returns the findings by service and rule, the worst first; `is_complete` prints every place."""
    lines: list[str] = []
    for item in findings:
        counts = counts_of([item])
        parts = [_count(counts[level], _NOUNS[level]) for level in LEVELS if counts[level]]
        lines += [f"{one_line(item.source)}: {', '.join(parts) or 'no findings'}", ""]
        for same in _by_rule(item.problems):
            lines += [*_rule_lines(same, item.positions, is_complete), ""]
    return "".join(f"{disarm_log_commands(disarm(line))}\n" for line in lines[:-1])


def _by_rule(problems: Iterable[Problem]) -> list[list[Problem]]:
    """Returns the problems of each code; the worst codes come first, then the most frequent."""
    rules: defaultdict[str, list[Problem]] = defaultdict(list)
    for problem in problems:
        rules[problem.code].append(problem)
    return sorted(rules.values(), key=lambda same: (LEVELS.index(same[0].level), -len(same), same[0].code))


def _rule_lines(same: list[Problem], positions: Mapping[str, Position], is_complete: bool) -> Iterator[str]:
    first, fixes = same[0], {problem.fix for problem in same}
    count = f" ({len(same):,} times)" if len(same) > 1 else ""
    yield f"{first.level}: {first.code}{count}: {CODES[first.code].meaning}"
    if len(fixes) == 1 and first.fix:
        yield f"  fix: {one_line(first.fix)}"
    shown = same if is_complete else same[:PLACES_SHOWN]
    for problem in shown:
        place = f"{one_line(problem.where)}: " if problem.where else ""
        if problem.where in positions:
            line, column = positions[problem.where]
            place = f"{line}:{column} {place}"
        fix = f" ({one_line(problem.fix)})" if len(fixes) > 1 and problem.fix else ""
        yield f"  {place}{one_line(problem.message)}{fix}"
    if len(shown) < len(same):
        yield f"  … {len(same) - len(shown):,} more; -v shows all"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


# -- for programs ----------------------------------------------------------------------------------------------------


def json_report(findings: Sequence[Findings]) -> str:
    """Returns the findings as one JSON object."""
    entries = [
        {
            "source": item.source,
            "code": problem.code,
            "level": problem.level,
            "where": problem.where,
            "line": item.positions.get(problem.where, (None, None))[0],
            "column": item.positions.get(problem.where, (None, None))[1],
            "message": problem.message,
            "fix": problem.fix,
        }
        for item in findings
        for problem in item.problems
    ]
    return _json({"findings": entries, "counts": counts_of(findings)})


_SARIF_LEVELS: Mapping[Level, str] = {"error": "error", "warning": "warning", "info": "note"}
_SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def sarif_report(findings: Sequence[Findings]) -> str:
    """Returns a SARIF 2.1.0 log with one run."""
    codes = sorted({problem.code for item in findings for problem in item.problems})
    rules = [
        {
            "id": code,
            "shortDescription": {"text": CODES[code].meaning},
            "help": {"text": CODES[code].fix or CODES[code].meaning, "markdown": explanation(code)},
            "defaultConfiguration": {"level": _SARIF_LEVELS[CODES[code].level]},
        }
        for code in codes
    ]
    results = [
        {
            "ruleId": problem.code,
            "ruleIndex": codes.index(problem.code),
            "level": _SARIF_LEVELS[problem.level],
            "message": {"text": _sarif_text(_sentence(problem))},
            "locations": [_sarif_location(item, problem)],
        }
        for item in findings
        for problem in item.problems
    ]
    driver = {"name": "skillgen", "version": __version__, "rules": rules}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return _json({"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]})


def _sarif_location(item: Findings, problem: Problem) -> dict[str, Json]:
    location: dict[str, Json] = {"logicalLocations": [{"fullyQualifiedName": f"{item.source}#{problem.where}"}]}
    if item.path is not None:
        physical: dict[str, Json] = {"artifactLocation": {"uri": quote(item.path)}}
        if problem.where in item.positions:
            line, column = item.positions[problem.where]
            physical["region"] = {"startLine": line, "startColumn": column}
        location["physicalLocation"] = physical
    return location


def _sarif_text(text: str) -> str:
    """Escapes what SARIF reads as a placeholder or a link (SARIF 2.1.0, 3.11.5 and 3.11.6)."""
    return text.replace("{", "{{").replace("}", "}}").replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")


def junit_report(findings: Sequence[Findings]) -> str:
    """Returns JUnit XML: a test suite for each service, a test case for each finding; notes do not fail."""
    suites = []
    for item in findings:
        failures = [problem for problem in item.problems if problem.level != "info"]
        cases = "".join(_junit_case(item, problem) for problem in item.problems)
        cases = cases or f'    <testcase name={_attribute(item.source)} classname="skillgen"/>\n'
        count = f'tests="{max(len(item.problems), 1)}" failures="{len(failures)}"'
        suites.append(f"  <testsuite name={_attribute(item.source)} {count}>\n{cases}  </testsuite>\n")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n{"".join(suites)}</testsuites>\n'


def _junit_case(item: Findings, problem: Problem) -> str:
    name = f"name={_attribute(f'{problem.code} {problem.where}'.strip())} classname={_attribute(problem.code)}"
    if problem.level == "info":
        body = f"<system-out>{escape(_sentence(problem))}</system-out>"
    else:
        body = f'<failure type="{problem.level}" message={_attribute(_sentence(problem))}/>'
    return f"    <testcase {name}>{body}</testcase>\n"


def _attribute(text: str) -> str:
    return quoteattr(_plain(text))


_GITHUB_LEVELS: Mapping[Level, str] = {"error": "error", "warning": "warning", "info": "notice"}


def github_report(findings: Sequence[Findings]) -> str:
    """Returns workflow commands, which GitHub Actions shows as annotations."""
    lines = []
    for item in findings:
        for problem in item.problems:
            file = f"file={_github_property(item.path)}," if item.path is not None else ""
            if problem.where in item.positions:
                line, column = item.positions[problem.where]
                file += f"line={line},col={column},"
            title = _github_property(f"{problem.code} ({item.source}#{problem.where})")
            message = _sentence(problem).replace("%", "%25")
            lines.append(f"::{_GITHUB_LEVELS[problem.level]} {file}title={title}::{message}\n")
    return "".join(lines)


def _github_property(text: str) -> str:
    return _plain(text).replace("%", "%25").replace(":", "%3A").replace(",", "%2C")


def _sentence(problem: Problem) -> str:
    """Returns message and fix on one line."""
    return _plain(problem.message + (f" ({problem.fix})" if problem.fix else ""))


def _plain(text: str) -> str:
    return disarm(one_line(text))


def _json(data: Json) -> str:
    return disarm_json(escape_invisible_in_json(json.dumps(data, ensure_ascii=False, indent=2))) + "\n"


REPORTS: Mapping[str, Callable[[Sequence[Findings]], str]] = {
    "text": text_report,
    "json": json_report,
    "sarif": sarif_report,
    "junit": junit_report,
    "github": github_report,
}
"""Every format of `--format`."""
