"""How the findings of `skillgen lint` are reported, and the ConformanceReport of seed 004 on the requirements.

Every text of a source is on one line and without what a terminal, a CI host or an agent would obey.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from urllib.parse import quote

from msgspec import structs

from skillgen import __version__
from skillgen.errors import Problem, UsageError
from skillgen.model.service import Service
from skillgen.model.values import Json
from skillgen.problem_codes import CODES, Level
from skillgen.rules.explanation import explanation
from skillgen.rules.findings import LEVELS, Findings, Requirement, Status, counts_of
from skillgen.text.inert import disarm, disarm_log_commands
from skillgen.text.junit import TestCase, junit_xml, plain
from skillgen.text.markdown import counted, json_output, one_line


def conformance_report(findings: Sequence[Findings], tested_at: str) -> str:
    """Returns a ConformanceReport (seed 004, 12) on one service.

    Raises:
        UsageError: there is not exactly one service.
    """
    if len(findings) != 1:
        what = f"a conformance report is on one service, not on {len(findings)}"
        raise UsageError(what, where="--format", fix="give one source; of a client configuration, choose with --server")
    (item,) = findings
    results: list[dict[str, Json]] = [
        {"test_id": each.identifier, "status": each.status} | ({"message": plain(each.note)} if each.note else {})
        for each in item.requirements
    ]
    counts = Counter(each.status for each in item.requirements)
    report = {
        "server_name": plain(item.identity[0]),
        "server_version": plain(item.identity[1]),
        "suite_version": __version__,
        "tested_at": tested_at,
        "results": results,
        "summary": {status: counts[status] for status in ("passed", "failed", "skipped")},
    }
    return json_output(report) + "\n"


_BY_CRITERIA = "disclosure-criterion-not-met"
"""A code that each criterion replaces."""


def requirements_of(service: Service, problems: Collection[Problem]) -> Iterator[Requirement]:
    """Yields every requirement by specification; `problems` are the findings of all rules."""
    found: defaultdict[str, list[Problem]] = defaultdict(list)
    for problem in problems:
        found[problem.code].append(problem)
    for name, starts, is_used in _SPECIFICATIONS:
        clauses = (
            (code, kind.clause.split("; "))
            for code, kind in sorted(CODES.items())
            if kind.demand and code != _BY_CRITERIA
        )
        codes = [code for code, parts in clauses if any(part.startswith(starts) for part in parts)]
        applies = is_used(service)
        for code in codes:
            kind = CODES[code]
            also, _, ending = kind.also_failed_by.partition(" ")
            failures = [*found[code], *(problem for problem in found[also] if problem.where.endswith(ending))]
            is_asked = applies and (bool(failures) or all(_has(service, part) for part in kind.needs))
            status: Status = "skipped" if not is_asked else "failed" if failures else "passed"
            more = f", and {len(failures) - 1:,} more" if len(failures) > 1 else ""
            yield Requirement(f"{name}/{code}", status, f"{failures[0].message}{more}" if failures else "")
    statuses: Mapping[str, Status] = {"met": "passed", "not met": "failed", "not checked": "skipped"}
    for criterion in service.disclosure.criteria if service.disclosure is not None else ():
        note = f"{criterion.text}: {criterion.note}" if criterion.note else criterion.text
        identifier = f"progressive-disclosure/criterion-{criterion.number}"
        yield Requirement(identifier, statuses[criterion.outcome], note)


def _uses_proposals(service: Service) -> bool:
    declared = (tool.cost or tool.latency or tool.semantics.risk for tool in service.tools)
    return "manifest" in service.uses or any(declared)


def _has_icons(service: Service) -> bool:
    icons = [*service.icons, *(icon for tool in service.tools for icon in tool.icons)]
    icons += [icon for prompt in service.prompts for icon in prompt.icons]
    icons += [icon for resource in (*service.resources, *service.resource_templates) for icon in resource.icons]
    return bool(icons) or any(item.code == "icon-left-out" for item in service.problems)


_SPECIFICATIONS: Sequence[tuple[str, tuple[str, ...], Callable[[Service], bool]]] = (
    ("mcp", ("MCP 20",), lambda service: service.kind == "mcp"),
    ("dashdash", ("dashdash",), lambda service: not {"dashdash", "ai_help"}.isdisjoint(service.uses)),
    ("sep-973", ("SEP-973",), _has_icons),
    ("progressive-disclosure", ("Progressive disclosure",), lambda service: service.disclosure is not None),
    ("mcp-extension-proposals", ("MCP extension proposals",), _uses_proposals),
    ("mcp-rest-edition", ("MCP REST Edition",), lambda service: "mcp-rest" in service.uses),
    ("openapi", ("OpenAPI", "Swagger"), lambda service: service.kind == "openapi"),
)
"""Name of each specification, how its clauses begin, and whether a service uses it."""

_PARTS: Mapping[str, Callable[[Service], bool]] = {
    "tools": lambda service: bool(service.tools),
    "resources": lambda service: bool(service.resources),
    "results": lambda service: any(tool.output is not None for tool in service.tools),
    "OpenAPI 3.2": lambda service: (service.protocol_version or "").startswith("3.2"),
}
"""What a requirement may need, apart from what a service uses: the values of `needs` in problem_codes.yaml."""


def _has(service: Service, part: str) -> bool:
    return _PARTS[part](service) if part in _PARTS else part in service.uses


PLACES_SHOWN = 5
"""Number of places that are printed for a rule; `--verbose` prints each."""

# -- for people ------------------------------------------------------------------------------------------------------

_NOUNS: Mapping[Level, str] = {"error": "error", "warning": "warning", "info": "note"}
"""What a level is called, also in SARIF."""


def text_report(findings: Sequence[Findings], *, is_complete: bool = False, nothing: str = "no findings") -> str:
    """Returns the findings by service and rule, the worst first; `is_complete` prints every place, and `nothing` is
    the line of a service without any.
    """
    lines: list[str] = []
    for item in findings:
        counts = counts_of([item])
        parts = [counted(counts[level], _NOUNS[level]) for level in LEVELS if counts[level]]
        lines += [f"{one_line(item.source)}: {', '.join(parts) or nothing}", ""]
        for same in _by_rule(item.problems):
            lines += [*_rule_lines(same, item, is_complete), ""]
    plain = (disarm_log_commands(disarm(line)) for line in lines[:-1])
    return "".join(f"{line}\n" for line in plain)


def _by_rule(problems: Iterable[Problem]) -> list[list[Problem]]:
    """Returns the problems of each code; the worst codes come first, then the most frequent."""
    rules: defaultdict[str, list[Problem]] = defaultdict(list)
    for problem in problems:
        rules[problem.code].append(problem)
    return sorted(rules.values(), key=lambda same: (LEVELS.index(same[0].level), -len(same), same[0].code))


def _rule_lines(same: list[Problem], item: Findings, is_complete: bool) -> Iterator[str]:
    first, fixes = same[0], {problem.fix for problem in same}
    count = f" ({len(same):,} times)" if len(same) > 1 else ""
    yield f"{first.level}: {first.code}{count}: {CODES[first.code].meaning}"
    if len(fixes) == 1 and first.fix:
        yield f"  fix: {one_line(first.fix)}"
    shown = same if is_complete else same[:PLACES_SHOWN]
    for problem in shown:
        fix = f" ({one_line(problem.fix)})" if len(fixes) > 1 and problem.fix else ""
        yield f"  {_place(problem, item)}{one_line(problem.message)}{fix}"
    if len(shown) < len(same):
        yield f"  … {len(same) - len(shown):,} more; -v shows all"


def _place(problem: Problem, item: Findings) -> str:
    """Returns where a finding is, in the form that editors follow, and whose it is unless its message says so."""
    owner = item.owners.get(item.owner_pointer(problem), "")
    name = f"{one_line(owner)}: " if owner and owner not in problem.message else ""
    if (at := item.location(problem)) is not None:
        return f"{one_line(at.path)}:{at.line}:{at.column}: {name}"
    return name if owner or not problem.where else f"{one_line(problem.where)}: "


# -- for programs ----------------------------------------------------------------------------------------------------


def json_report(findings: Sequence[Findings]) -> str:
    """Returns the findings as one JSON object."""
    entries = [_json_entry(item, problem) for item in findings for problem in item.problems]
    return _json({"findings": entries, "counts": counts_of(findings)})


def _json_entry(item: Findings, problem: Problem) -> dict[str, Json]:
    at = item.location(problem)
    return {
        "source": item.source,
        "code": problem.code,
        "level": problem.level,
        "where": problem.where,
        "owner": item.owners.get(item.owner_pointer(problem)),
        "file": at.path if at is not None else item.path,
        "line": at.line if at is not None else None,
        "column": at.column if at is not None else None,
        "message": problem.message,
        "fix": problem.fix,
    }


_SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def sarif_report(findings: Sequence[Findings]) -> str:
    """Returns a SARIF 2.1.0 log with one run."""
    codes = sorted({problem.code for item in findings for problem in item.problems})
    rules = [
        {
            "id": code,
            "shortDescription": {"text": CODES[code].meaning},
            "help": {"text": CODES[code].fix or CODES[code].meaning, "markdown": explanation(code)},
            "defaultConfiguration": {"level": _NOUNS[CODES[code].level]},
        }
        for code in codes
    ]
    results = [
        {
            "ruleId": problem.code,
            "ruleIndex": codes.index(problem.code),
            "level": _NOUNS[problem.level],
            "message": {"text": _sarif_text(_sentence(problem))},
            "locations": [_sarif_location(item, problem)],
            "partialFingerprints": {"skillgenFinding/v1": _fingerprint(item, problem)},
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
        at = item.location(problem)
        physical: dict[str, Json] = {"artifactLocation": {"uri": quote(at.path if at is not None else item.path)}}
        if at is not None:
            physical["region"] = {"startLine": at.line, "startColumn": at.column}
        location["physicalLocation"] = physical
    return location


def _fingerprint(item: Findings, problem: Problem) -> str:
    """Returns what identifies a finding when lines move."""
    parts = (item.source, problem.code, item.stable_place(problem))
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()


def _sarif_text(text: str) -> str:
    """Escapes what SARIF reads as a placeholder or a link (SARIF 2.1.0, 3.11.5 and 3.11.6)."""
    return text.replace("{", "{{").replace("}", "}}").replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")


def junit_report(findings: Sequence[Findings]) -> str:
    """Returns JUnit XML: a test suite for each service, a test case for each finding; notes do not fail."""
    return junit_xml(
        (item.source, [*map(_test_case, item.problems)] or [TestCase(name=item.source, suite="skillgen")])
        for item in findings
    )


def _test_case(problem: Problem) -> TestCase:
    case = TestCase(name=f"{problem.code} {problem.where}".strip(), suite=problem.code)
    if problem.level == "info":
        return structs.replace(case, output=_sentence(problem))
    return structs.replace(case, failure=_sentence(problem), failure_type=problem.level)


_GITHUB_LEVELS: Mapping[Level, str] = {"error": "error", "warning": "warning", "info": "notice"}


def github_report(findings: Sequence[Findings]) -> str:
    """Returns workflow commands, which GitHub Actions shows as annotations."""
    lines = []
    for item in findings:
        for problem in item.problems:
            at = item.location(problem)
            path = at.path if at is not None else item.path
            file = f"file={_github_property(path)}," if path is not None else ""
            if at is not None:
                file += f"line={at.line},col={at.column},"
            title = _github_property(f"{problem.code} ({item.source}#{problem.where})")
            message = _sentence(problem).replace("%", "%25")
            lines.append(f"::{_GITHUB_LEVELS[problem.level]} {file}title={title}::{message}\n")
    return "".join(lines)


def _github_property(text: str) -> str:
    return plain(text).replace("%", "%25").replace(":", "%3A").replace(",", "%2C")


def _sentence(problem: Problem) -> str:
    """Returns message and fix on one line."""
    return plain(problem.message + (f" ({problem.fix})" if problem.fix else ""))


def _json(data: Json) -> str:
    return json_output(data) + "\n"


REPORTS: Mapping[str, Callable[[Sequence[Findings]], str]] = {
    "text": text_report,
    "json": json_report,
    "sarif": sarif_report,
    "junit": junit_report,
    "github": github_report,
}
"""Every format of `--format`, without `conformance`, which needs the time."""
