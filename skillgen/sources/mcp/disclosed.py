"""Reads what a progressive server says in its second stage (seed 003), and tells how far it conforms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from skillgen.errors import ProblemLog
from skillgen.model.exchange import ErrorCase
from skillgen.model.offers import Criterion, Disclosure, Section
from skillgen.model.pointer import child
from skillgen.model.value import Json
from skillgen.sources.guards import as_dict, text_of
from skillgen.sources.mcp.claims import Members
from skillgen.sources.mcp.error_cases import error_cases, is_catalogue
from skillgen.sources.mcp.json_as_markdown import as_markdown
from skillgen.sources.mcp.progressive import READ, descriptions_uri, is_minimal

ERRORS = (
    ErrorCase(
        code="TOOL_DESCRIPTION_REQUIRED",
        description="The tool was called before its description was read in this session.",
        resolution="Read its description, then call it again.",
    ),
    ErrorCase(
        code="MISSING_TOOL_SELECTION",
        description="The descriptions were read without naming tools.",
        resolution="Name the tools in the query of the URI.",
    ),
)
"""What the extension itself defines (seed 003, 6)."""

_NEEDS_A_CALL = "it needs a call of a tool, which skillgen does not make"


class Disclosed:
    """The second stage of one server; empty for a server that has none."""

    def __init__(self, results: Mapping[str, Json], problems: ProblemLog) -> None:
        read = as_dict(results.get(READ))
        self._results = results
        self._problems = problems
        self._uri = text_of(read, "uri") or descriptions_uri(results)
        self._was_read = bool(read)
        self._tools = as_dict(read.get("tools"))

    def description(self, name: str) -> Members | None:
        """Gives the description of a tool that was read."""
        raw = self._tools.get(name)
        if not isinstance(raw, dict):
            return None
        members = Members(raw, child("", READ, "tools", name), "entry", self._problems)
        members.ignore("name")
        return members

    def is_undescribed(self, name: str) -> bool:
        """True if the server describes its tools in a second stage, and this tool's description was not read."""
        return self._uri is not None and not isinstance(self._tools.get(name), dict)

    def disclosure(self, entries: Sequence[tuple[str, Members]], protocol_version: str | None) -> Disclosure | None:
        """Tells how the tools of this server are described, if it is a progressive one."""
        if self._uri is None:
            return None
        if protocol_version is not None and protocol_version >= "2026-07-28":
            self._problems.warning(
                "disclosure-without-session",
                "resources/list",
                f"Revision {protocol_version} has no sessions, but progressive disclosure authorises tools for one.",
                "offer `io.modelcontextprotocol/groups` there",
            )
        undescribed = tuple(name for name, _ in entries if name not in self._tools)
        criteria = tuple(self._criteria([entry.raw for _, entry in entries], undescribed))
        for criterion in criteria:
            if criterion.outcome == "not met":
                self._problems.info(
                    "disclosure-criterion-not-met",
                    "resources/list",
                    f"Criterion {criterion.number} of progressive disclosure: {criterion.text}: {criterion.note}",
                )
        return Disclosure(
            uri=self._uri, undescribed=undescribed, criteria=criteria, pointer=child("", "resources/list")
        )

    def _criteria(self, entries: Sequence[Json], undescribed: Sequence[str]) -> Iterator[Criterion]:
        """Checks the criteria that need no call (seed 003, 9)."""
        detailed = [str(as_dict(entry).get("name")) for entry in entries if not is_minimal(entry)]
        yield _criterion(
            1,
            "minimal descriptions stand in tools/list",
            not detailed,
            f"{len(detailed)} of {len(entries)} tools have a schema there, such as {detailed[0][:60]}"
            if detailed
            else None,
        )
        yield _criterion(2, "a tool_descriptions resource stands in resources/list", True, None)
        if not self._was_read:
            for number, text in ((3, "the resource accepts tools"), (4, "it returns full descriptions")):
                yield Criterion(number=number, text=text, outcome="not checked", note="the descriptions were not read")
        else:
            few = ", ".join(undescribed[:3])
            yield _criterion(3, "the resource accepts tools", bool(self._tools), "no read gave a description")
            partial = [name for name, raw in self._tools.items() if not {"description", "inputSchema"} <= raw.keys()]
            lacking = (
                f"without a description or inputSchema: {', '.join(partial[:3])}" if partial else f"missing: {few}"
            )
            yield _criterion(4, "it returns full descriptions", not undescribed and not partial, lacking)
        yield Criterion(
            number=5,
            text="a read without tools returns MISSING_TOOL_SELECTION",
            outcome="not checked",
            note="skillgen never reads the resource without naming tools",
        )
        for number, text in (
            (6, "authorization is enforced"),
            (7, "a call without reading returns TOOL_DESCRIPTION_REQUIRED"),
            (8, "authorization is isolated in its session"),
        ):
            yield Criterion(number=number, text=text, outcome="not checked", note=_NEEDS_A_CALL)


def guidance_from(described: Members | None, problems: ProblemLog) -> tuple[tuple[Section, ...], tuple[ErrorCase, ...]]:
    """Reads `usage_guidance` and `error_guidance`, whose shape is left open (seed 003, 4.4)."""
    if described is None:
        return (), ()
    sections: list[Section] = []
    cases: tuple[ErrorCase, ...] = ()
    for key, title in (("usage_guidance", "Usage"), ("error_guidance", "When it fails")):
        raw = described.raw.get(key)
        if key == "error_guidance" and is_catalogue(raw):
            cases = tuple(error_cases(described, key, problems))
        elif raw is not None and (body := as_markdown(raw)):
            described.ignore(key)
            sections.append(Section(title=title, body=body))
    return tuple(sections), cases


def _criterion(number: int, text: str, is_met: bool, note: str | None) -> Criterion:
    return Criterion(number=number, text=text, outcome="met" if is_met else "not met", note=None if is_met else note)
