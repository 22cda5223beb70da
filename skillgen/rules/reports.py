"""The findings of `skillgen lint`, where each is in a JSON or YAML document, their reports and their explanations.

Every text of a source is on one line and without what a terminal, a CI host or an agent would obey.
"""

from __future__ import annotations

import codecs
import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from urllib.parse import quote

from msgspec import Raw, Struct
from msgspec.structs import replace

from skillgen import __version__
from skillgen.config.convert import dropped
from skillgen.errors import CODES, Level, Problem, ProblemLog, SourceError, UsageError
from skillgen.model.service import Service
from skillgen.model.traversal import nodes_in
from skillgen.model.values import Icon, Json, child, last_token, named_place, prefixes
from skillgen.sources.documents import read_file
from skillgen.text.inert import disarm, disarm_log_commands
from skillgen.text.markdown import counted, json_output, one_line, plain
from skillgen.typed import decode

# -- positions in a document -----------------------------------------------------------------------------------------

Position = tuple[int, int]
"""Line and column, both from 1; columns count characters."""

_SPACES = dict.fromkeys({*range(0x20), 0x7F, 0x85, 0x2028, 0x2029} - {0x0A, 0x0D}, " ")
"""What YAML forbids, or reads as the end of a line, though JSON does not; also tabs, which may indent JSON."""

_LINE = re.compile(r"line (\d{1,9})\b")


def positions_in(content: bytes, places: Iterable[str]) -> dict[str, Position]:
    """Returns the position of each place that is a JSON pointer or `line N`; of a pointer to what is missing, that of
    the innermost object around it, unless that is the document itself.

    A member is where its key is. After a syntax error nothing is found.
    """
    lines = ((place, _LINE.match(place)) for place in places)
    found: dict[str, Position | None] = {place: (int(line[1]), 1) if line else None for place, line in lines}
    pointers = [place for place in found if place.startswith("/")]
    try:
        offsets = _offsets_in(content, {prefix for pointer in pointers for prefix in prefixes(pointer)})
        positions = dict(_positions_of(offsets, content))
        for pointer in pointers:
            found[pointer] = next((positions[prefix] for prefix in prefixes(pointer) if prefix in positions), None)
    except (ValueError, LookupError):  # not JSON
        from skillgen.text.yaml_core import Places, YamlError, parse_yaml, place_of

        positions_by_id = Places()
        with suppress(YamlError, UnicodeDecodeError):
            data = parse_yaml(content.decode().translate(_SPACES), ProblemLog(), places=positions_by_id)
            for pointer in pointers:
                found[pointer] = place_of([*map(last_token, pointer.split("/")[1:])], data, positions_by_id)
    return {place: position for place, position in found.items() if position is not None}


def _offsets_in(content: bytes, wanted: set[str]) -> dict[str, int]:
    """Returns the offset of each of these members of a JSON document; what holds none is skipped, which is 50 times as
    fast as reading it as YAML. Of a key that occurs twice, the last one counts.

    Raises:
        ValueError, LookupError: the document is not JSON.
    """
    outer = {pointer.rpartition("/")[0] for pointer in wanted}
    text = content.decode("latin-1")  # a character for each byte
    read_value = json.JSONDecoder(strict=False).raw_decode
    found: dict[str, int] = {}

    def after_space(offset: int) -> int:
        return match.end() if (match := _SPACE.match(text, offset)) is not None else offset

    def walk(offset: int, container: bytes, pointer: str) -> int:
        """Reads a container and returns where it ends. With its text, which may be empty, most of it is skipped."""
        is_object, count, members = text[offset] == "{", 0, dict[Json, Raw]()
        with suppress(ValueError, RecursionError):  # `NaN`, half of a surrogate pair, or a part that is nested too deep
            members = decode(container, dict[str, Raw]) if is_object else dict(enumerate(decode(container, list[Raw])))
        offset = after_space(offset + 1)
        while text[offset] not in "}]":
            start, key = offset, count
            if is_object:
                end = read_value(text, start)[1]
                key, offset = read_value(content[start:end].decode())[0], after_space(end)
                if not isinstance(key, str) or text[offset] != ":":
                    raise ValueError("not a member")
                offset = after_space(offset + 1)
            place, value = child(pointer, key), bytes(members.get(key, b""))
            if place in wanted:
                found[place] = start
            end = offset + len(value)
            if not content.startswith(value, offset) or text[end] not in ",}] \t\r\n":  # of the same key later
                value = b""
            is_outer = place in outer and text[offset] in "{["
            quick = value if place.count("/") < 8 else b""  # each level is read once more
            end = walk(offset, quick, place) if is_outer else end if value else read_value(text, offset)[1]
            offset, count = after_space(end), count + 1
            if text[offset] not in ",}]":
                raise ValueError("neither a comma nor an end")
            offset = after_space(offset + (text[offset] == ","))
        return offset + 1

    start = after_space(0)
    if text[start] not in "{[":
        raise ValueError("not a container")
    if wanted:
        with suppress(RecursionError):  # the rest of a document that is nested too deep has no positions
            walk(start, content[start:], "")
    return found


_SPACE = re.compile(r"[ \t\n\r]*")


def _positions_of(offsets: Mapping[str, int], content: bytes) -> Iterator[tuple[str, Position]]:
    """Yields the position at each offset."""
    line, column, before = 1, 1, 0
    for pointer, offset in sorted(offsets.items(), key=lambda item: item[1]):
        part = content[before:offset]
        _, line_end, rest = part.rpartition(b"\n")
        # `count` takes twice as long for characters so far apart.
        line += len(part) - len(part.replace(b"\n", b""))
        column, before = len(rest.decode()) + (1 if line_end else column), offset
        yield pointer, (line, column)


# -- findings --------------------------------------------------------------------------------------------------------

LEVELS: tuple[Level, ...] = ("error", "warning", "info")
"""The worst first."""


class Location(Struct, frozen=True):
    """A place in a file."""

    path: str
    """The file, as the user named it, or next to that one."""

    line: int
    """From 1."""

    column: int
    """From 1, in characters."""


class Findings(Struct, frozen=True, kw_only=True):
    """The findings on one service."""

    service: Service

    source: str
    """The source as the user named it, the name of the target, or that of the service."""

    path: str | None = None
    """The file; `None` if the source is not a file."""

    problems: tuple[Problem, ...] = ()
    """The findings, the worst first."""

    owners: Mapping[str, str] = {}
    """Pointer of each tool, resource and prompt to its name."""

    file: str | None = None
    """The file into which pointers of the problems are."""

    locations: Mapping[str, Location] = {}
    """Place of a problem to its location; unknown ones are missing."""

    def located(self, shown: int | None = None) -> Findings:
        """Returns the findings with the locations of all problems, or of those that are `shown` of each rule."""
        problems = [problem for same in _by_code(self.problems).values() for problem in same[:shown]]
        return replace(self, locations=locations_of(problems, self.file))

    def location(self, problem: Problem) -> Location | None:
        """Returns where a finding is in a file, if that is known."""
        return self.locations.get(problem.where)

    def path_of(self, problem: Problem) -> str | None:
        """Returns the file of a finding; `None` if the source is not a file."""
        return at.path if (at := self.location(problem)) is not None else self.path

    def owner_pointer(self, problem: Problem) -> str:
        """Returns the pointer of the tool, resource or prompt that a finding concerns, or an empty string."""
        return next((prefix for prefix in prefixes(problem.where) if prefix in self.owners), "")


def owners_in(service: Service) -> dict[str, str]:
    """Returns the name of each tool, resource and prompt by its pointer."""
    owners = {prompt.pointer: prompt.name for prompt in service.prompts}
    owners |= {resource.pointer: resource.uri for resource in (*service.resources, *service.resource_templates)}
    return owners | {tool.pointer: tool.name for tool in service.tools}


def worst_first(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Returns problems by level; those of one level stay in order."""
    return tuple(sorted(problems, key=lambda problem: LEVELS.index(problem.level)))


def counts_of(findings: Iterable[Findings]) -> dict[Level, int]:
    """Returns how many findings each level has."""
    found = Counter(problem.level for item in findings for problem in item.problems)
    return {level: found[level] for level in LEVELS}


def locations_of(problems: Sequence[Problem], path: str | None) -> dict[str, Location]:
    """Returns the locations of findings at a pointer into the file `path`, at `FILE#/POINTER` in one next to it, or
    at `FILE:LINE` in a Markdown file. Nothing is found in a pipe, which was read before.
    """
    folder = (path or "").replace("\\", "/").rpartition("/")[0]
    by_file: dict[str, dict[str, str]] = {}
    locations = {}
    for problem in problems:
        page, _, line = problem.where.rpartition(":")
        file, mark, pointer = problem.where.partition("#")
        if page.endswith(".md") and line.isdigit():
            locations[problem.where] = Location(page, int(line), 1)
        elif path is not None and (not mark or not pointer.startswith("/")):
            by_file.setdefault(path, {})[problem.where] = problem.where
        elif path is not None and "://" not in file:
            by_file.setdefault(f"{folder}/{file}" if folder else file, {})[pointer] = problem.where
    for file, places in by_file.items():
        with suppress(SourceError):
            content = read_file(Path(file)) if Path(file).is_file() else b""
            for place, (row, column) in positions_in(content.removeprefix(codecs.BOM_UTF8), places).items():
                locations[places[place]] = Location(file, row, column)
    return locations


# -- explanations ----------------------------------------------------------------------------------------------------

PARTS = {
    "description": ("yaml", "part of an OpenAPI description"),
    "answers": ("json", "methods of an MCP server with their results"),
    "crawl": ("json", "methods of an MCP server with their results; there are no others"),
    "ai_help": ("markdown", "the text of `ai_help`"),
    "manifest": ("json", "part of a service manifest"),
    "target": ("yaml", "part of a target in skillgen.yaml"),
    "overlay": ("yaml", "part of an OpenAPI Overlay"),
    "extra": ("markdown", "a text of `--extra`"),
    "arazzo": ("yaml", "the workflows of an Arazzo file, for an API with `getOrder` and `deleteOrder`"),
}
"""What examples are part of: its syntax, and its name for readers."""


def unknown_code(code: str, where: str) -> UsageError:
    """Returns the error for a code that does not exist, with those that may be meant, the closest first; for one that
    earlier releases had, with the release that removed it."""
    if (error := dropped("rule", code, where)) is not None:
        return error
    words = [known for known in sorted(CODES) if code and code in known]
    close = list(dict.fromkeys([*get_close_matches(code, CODES, n=3), *words]))[:3]
    fix = f"did you mean {' or '.join(close)}?" if close else "run `skillgen rule` to list all codes"
    return UsageError(f"no such code: {code}", where=where, fix=fix)


def explanation(code: str) -> str:
    """Returns meaning, level, clause, fix and examples of a code, in Markdown without a heading."""
    kind = CODES[code]
    facts = [f"Level: {kind.level}."]
    if kind.clause:
        facts.append(f"Clause: {kind.clause}.")
    if kind.known_as:
        facts.append(f"Also known as {kind.known_as}.")
    if kind.is_optional:
        facts.append("`lint` reports it only if `--select` names it.")
    paragraphs = [f"{kind.meaning[:1].upper()}{kind.meaning[1:]}.", " ".join(facts)]
    if kind.fix:
        paragraphs.append(f"Fix: {kind.fix}.")
    if kind.case:
        paragraphs.append(f"Case: {kind.case}.")
    else:
        syntax, part = PARTS[kind.part]
        for label, example in ((f"Bad ({part})", kind.bad), ("Good", kind.good)):
            paragraphs += [f"{label}:", f"```{syntax}\n{example}```"]
    return "\n\n".join(paragraphs) + "\n"


# -- conformance -----------------------------------------------------------------------------------------------------


def conformance_report(findings: Sequence[Findings], tested_at: str) -> str:
    """Returns a ConformanceReport (seed 004, 12) on one service.

    Raises:
        UsageError: there is not exactly one service.
    """
    if len(findings) != 1:
        what = f"a conformance report is on one service, not on {len(findings)}"
        raise UsageError(what, where="--format", fix="give one source; of a client configuration, choose with --server")
    (item,) = findings
    results = list(_requirements_of(item.service, item.problems))
    counts = Counter(each["status"] for each in results)
    report = {
        "server_name": plain(item.service.name),
        "server_version": plain(item.service.version or ""),
        "suite_version": __version__,
        "tested_at": tested_at,
        "results": results,
        "summary": {status: counts[status] for status in ("passed", "failed", "skipped")},
    }
    return _json(report)


_BY_CRITERIA = "disclosure-criterion-not-met"
"""A code that each criterion replaces."""


def _requirements_of(service: Service, problems: Collection[Problem]) -> Iterator[dict[str, Json]]:
    """Yields the result of every requirement by specification; `problems` are the findings of all rules."""
    found = _by_code(problems)
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
            has = (_PARTS[part](service) if part in _PARTS else part in service.uses for part in kind.needs)
            is_asked = applies and (bool(failures) or all(has))
            status = "skipped" if not is_asked else "failed" if failures else "passed"
            more = f", and {len(failures) - 1:,} more" if len(failures) > 1 else ""
            note = {"message": plain(f"{failures[0].message}{more}")} if failures else {}
            yield {"test_id": f"{name}/{code}", "status": status, **note}
    statuses = {"met": "passed", "not met": "failed", "not checked": "skipped"}
    for criterion in service.disclosure.criteria if service.disclosure is not None else ():
        note = {"message": plain(f"{criterion.text}: {criterion.note}" if criterion.note else criterion.text)}
        identifier = f"progressive-disclosure/criterion-{criterion.number}"
        yield {"test_id": identifier, "status": statuses[criterion.outcome], **note}


def _uses_proposals(service: Service) -> bool:
    declared = (tool.cost or tool.latency or tool.semantics.risk for tool in service.tools)
    return "manifest" in service.uses or any(declared)


def _has_icons(service: Service) -> bool:
    has_icon = any(isinstance(item, Icon) for item in nodes_in(service))
    return has_icon or any(item.code == "icon-left-out" for item in service.problems)


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


PLACES_SHOWN = 5
"""Number of places that are printed for a rule; `--verbose` prints each."""

# -- for people ------------------------------------------------------------------------------------------------------

_NOUNS: Mapping[Level, str] = {"error": "error", "warning": "warning", "info": "note"}
"""What a level is called, also in SARIF."""


def text_report(findings: Sequence[Findings], *, is_complete: bool, is_quiet: bool) -> str:
    """Returns the findings by service and rule, the worst first; `is_complete` prints every place, and `is_quiet` is
    true if only errors were searched."""
    lines: list[str] = []
    for item in findings:
        counts = counts_of([item])
        parts = [counted(counts[level], _NOUNS[level]) for level in LEVELS if counts[level]]
        lines += [f"{one_line(item.source)}: {', '.join(parts) or ('no errors' if is_quiet else 'no findings')}", ""]
        # The worst codes come first, then the most frequent.
        rules = _by_code(item.problems).values()
        for same in sorted(rules, key=lambda same: (LEVELS.index(same[0].level), -len(same), same[0].code)):
            lines += [*_rule_lines(same, item, is_complete), ""]
    return "".join(f"{disarm_log_commands(disarm(line))}\n" for line in lines[:-1])


def _by_code(problems: Iterable[Problem]) -> defaultdict[str, list[Problem]]:
    found: defaultdict[str, list[Problem]] = defaultdict(list)
    for problem in problems:
        found[problem.code].append(problem)
    return found


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
        "file": item.path_of(problem),
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
            "message": {"text": _sentence(problem).translate(_SARIF_ESCAPES)},
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
    if (path := item.path_of(problem)) is not None:
        at = item.location(problem)
        region = {} if at is None else {"region": {"startLine": at.line, "startColumn": at.column}}
        location["physicalLocation"] = {"artifactLocation": {"uri": quote(path)}, **region}
    return location


def _fingerprint(item: Findings, problem: Problem) -> str:
    """Returns what identifies a finding when lines move."""
    # A name in place of an index remains when entries of a list move.
    parts = (item.source, problem.code, named_place(problem.where, item.owners))
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()


_SARIF_ESCAPES = str.maketrans({"{": "{{", "}": "}}", "\\": "\\\\", "[": "\\[", "]": "\\]"})
"""Of what SARIF reads as a placeholder or a link (SARIF 2.1.0, 3.11.5 and 3.11.6)."""

_GITHUB_LEVELS: Mapping[Level, str] = {"error": "error", "warning": "warning", "info": "notice"}


def github_report(findings: Sequence[Findings]) -> str:
    """Returns workflow commands, which GitHub Actions shows as annotations."""
    lines = []
    for item in findings:
        for problem in item.problems:
            at, path = item.location(problem), item.path_of(problem)
            file = f"file={_github_property(path)}," if path is not None else ""
            file += f"line={at.line},col={at.column}," if at is not None else ""
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


REPORTS = {"json": json_report, "sarif": sarif_report, "github": github_report}
"""Every format of `--format` for programs, without `conformance`, which needs the time."""
