"""Scores of a service: which requirements of each specification it meets, and the quality of its descriptions.

Quality: each rule takes points from its subject, by its level and the share of tools that break it; the mean of all
subjects is the score. docs/scores.md explains both.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from math import ceil
from typing import Literal, get_args

from msgspec import Struct

from skillgen.errors import Problem
from skillgen.model.service import Service
from skillgen.model.tool import Kind
from skillgen.problem_codes import CODES, Level, Subject

Outcome = Literal["met", "failed", "not applicable"]


class Requirement(Struct, frozen=True, kw_only=True):
    """One requirement of a specification."""

    specification: str
    identifier: str
    """The code of the rule, or the number of a criterion."""

    demand: Literal["MUST", "SHOULD"]
    outcome: Outcome
    note: str = ""
    """The first finding, with the number of others."""


class Scores(Struct, frozen=True, kw_only=True):
    """The scores of a service."""

    quality: int
    """From 0 to 100."""

    subjects: Mapping[Subject, int]
    """The score of each subject that has a rule for this kind of source."""

    lost: Mapping[str, int]
    """Code of each rule that is broken to the points that its subject loses for that, rounded up."""

    requirements: tuple[Requirement, ...]
    """Every requirement that can be observed, by specification."""


def scores_of(service: Service, problems: Collection[Problem], owner_of: Callable[[Problem], str]) -> Scores:
    """Returns the scores; `problems` are the findings of all rules, and `owner_of` returns the pointer of the tool that
    one concerns.
    """
    found: defaultdict[str, list[Problem]] = defaultdict(list)
    for problem in problems:
        found[problem.code].append(problem)
    subjects = [subject for subject in get_args(Subject) if subject not in _NOT_JUDGED[service.kind]]
    lost = {
        code: POINTS[CODES[code].level] * _share(code, problems, len(service.tools), owner_of)
        for code, problems in sorted(found.items())
        if CODES[code].subject in subjects
    }
    scores = {
        subject: max(0, int(100 - sum(points for code, points in lost.items() if CODES[code].subject == subject)))
        for subject in subjects
    }
    return Scores(
        quality=sum(scores.values()) // len(scores),
        subjects=scores,
        lost={code: ceil(points) for code, points in sorted(lost.items(), key=lambda item: -item[1])},
        requirements=tuple(_requirements(service, found)),
    )


# -- quality ---------------------------------------------------------------------------------------------------------

POINTS: Mapping[Level, int] = {"error": 100, "warning": 50, "info": 25}
"""What a subject loses if every tool breaks a rule, by the level of the rule."""

_NOT_JUDGED: Mapping[Kind, tuple[Subject, ...]] = {"mcp": ("errors",), "openapi": (), "cli": ("results", "errors")}
"""Subjects without a rule for a kind of source."""


def _share(code: str, problems: Sequence[Problem], tools: int, owner_of: Callable[[Problem], str]) -> float:
    """Returns the share of tools that break a rule; what several tools share counts as one of them."""
    if CODES[code].is_of_service or not tools:
        return 1
    owners = [owner_of(problem) for problem in problems]
    return min(1, (len({owner for owner in owners if owner}) + owners.count("")) / tools)


# -- specifications --------------------------------------------------------------------------------------------------


def _uses_proposals(service: Service) -> bool:
    declared = (tool.cost or tool.latency or tool.semantics.risk for tool in service.tools)
    return "manifest" in service.uses or any(declared)


def _has_icons(service: Service) -> bool:
    icons = [*service.icons, *(icon for tool in service.tools for icon in tool.icons)]
    icons += [icon for prompt in service.prompts for icon in prompt.icons]
    icons += [icon for resource in (*service.resources, *service.resource_templates) for icon in resource.icons]
    return bool(icons) or any(item.code == "icon-left-out" for item in service.problems)


def _is_version(service: Service, start: str) -> bool:
    return (service.protocol_version or "").startswith(start)


_SPECIFICATIONS: Mapping[str, tuple[tuple[str, ...], Callable[[Service], bool]]] = {
    "MCP": (("MCP 20",), lambda service: service.kind == "mcp"),
    "dashdash": (("dashdash",), lambda service: bool({"dashdash", "ai_help"} & {*service.uses})),
    "SEP-973": (("SEP-973",), _has_icons),
    "Progressive disclosure": (("Progressive disclosure",), lambda service: service.disclosure is not None),
    "MCP extension proposals": (("MCP extension proposals",), _uses_proposals),
    "MCP REST Edition": (("MCP REST Edition",), lambda service: "mcp-rest" in service.uses),
    "OpenAPI": (("OpenAPI", "Swagger"), lambda service: service.kind == "openapi"),
}
"""Name of each specification to how its clauses begin, and whether a service uses it."""

_PARTS: Mapping[str, Callable[[Service], bool]] = {
    "tools": lambda service: bool(service.tools),
    "resources": lambda service: bool(service.resources),
    "results": lambda service: any(tool.output is not None for tool in service.tools),
    "OpenAPI 3.2": lambda service: _is_version(service, "3.2"),
}
"""What a requirement may need, apart from what a service uses: the values of `needs` in problem_codes.yaml."""


def _specifications_of(clause: str) -> Iterator[str]:
    """Yields the specifications that a clause names; several are separated by semicolons."""
    for part in clause.partition(" (")[0].split("; "):
        text = part.partition(", ")[0]
        for name, (beginnings, _) in _SPECIFICATIONS.items():
            if text == name or text.startswith(beginnings):
                yield name
                break


def _requirements(service: Service, found: Mapping[str, Sequence[Problem]]) -> Iterator[Requirement]:
    by_specification: defaultdict[str, list[str]] = defaultdict(list)
    for code, kind in CODES.items():
        for name in _specifications_of(kind.clause) if kind.demand else ():
            by_specification[name].append(code)
    for name, (_, is_used) in _SPECIFICATIONS.items():
        applies = is_used(service)
        for code in sorted(by_specification[name]):
            demand = CODES[code].demand
            also, _, ending = CODES[code].also_failed_by.partition(" ")
            others = (problem for problem in found.get(also, ()) if problem.where.endswith(ending))
            problems = [*found.get(code, ()), *others]
            is_asked = applies and (bool(problems) or all(_has(service, part) for part in CODES[code].needs))
            if demand and code != "disclosure-criterion-not-met":
                outcome: Outcome = "not applicable" if not is_asked else "failed" if problems else "met"
                yield Requirement(
                    specification=name, identifier=code, demand=demand, outcome=outcome, note=_note(problems)
                )
        if name == "Progressive disclosure":
            yield from _criteria(service)


def _criteria(service: Service) -> Iterator[Requirement]:
    """Yields the criteria that were checked, or could be: those that need a call are not applicable."""
    outcomes: Mapping[str, Outcome] = {"met": "met", "not met": "failed", "not checked": "not applicable"}
    for criterion in service.disclosure.criteria if service.disclosure is not None else ():
        yield Requirement(
            specification="Progressive disclosure",
            identifier=f"criterion-{criterion.number}",
            demand="MUST",
            outcome=outcomes[criterion.outcome],
            note=f"{criterion.text}: {criterion.note}" if criterion.note else criterion.text,
        )


def _has(service: Service, part: str) -> bool:
    return _PARTS[part](service) if part in _PARTS else part in service.uses


def _note(problems: Sequence[Problem]) -> str:
    if not problems:
        return ""
    more = f", and {len(problems) - 1:,} more" if len(problems) > 1 else ""
    return f"{problems[0].message}{more}"


# -- the badge -------------------------------------------------------------------------------------------------------

_COLOURS = ((90, "#2e7d32"), (75, "#558b2f"), (50, "#b26a00"), (0, "#c62828"))
_LABEL, _LABEL_WIDTH, _VALUE_WIDTH = "agent readiness", 104, 56


def badge(quality: int) -> str:
    """Returns an SVG image with a score."""
    colour = next(colour for least, colour in _COLOURS if quality >= least)
    value, width = f"{quality} / 100", _LABEL_WIDTH + _VALUE_WIDTH
    middle = _LABEL_WIDTH + _VALUE_WIDTH // 2
    return f"""<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img" \
aria-label="{_LABEL}: {value}">
  <title>{_LABEL}: {value}</title>
  <rect width="{width}" height="20" rx="3" fill="#555"/>
  <rect x="{_LABEL_WIDTH}" width="{_VALUE_WIDTH}" height="20" rx="3" fill="{colour}"/>
  <g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
    <text x="{_LABEL_WIDTH // 2}" y="14">{_LABEL}</text>
    <text x="{middle}" y="14">{value}</text>
  </g>
</svg>
"""
