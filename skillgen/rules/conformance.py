"""Which requirements of each specification a service meets, and the ConformanceReport of seed 004 on them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from skillgen import __version__
from skillgen.errors import Problem, UsageError
from skillgen.model.service import Service
from skillgen.model.values import Json
from skillgen.problem_codes import CODES
from skillgen.rules.findings import Findings, Requirement, Status
from skillgen.text.junit import plain
from skillgen.text.markdown import json_output


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
