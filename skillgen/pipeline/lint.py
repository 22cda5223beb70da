"""Checks services by the rules that the options and the project file choose."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path

from skillgen.config.project import NO_LINT_OPTIONS, LintOptions
from skillgen.errors import CODES, Problem, SkillgenError, UsageError
from skillgen.model.service import Service
from skillgen.model.values import prefixes
from skillgen.rules.checks import check_service
from skillgen.rules.reports import Findings, owners_in, unknown_code, worst_first
from skillgen.sources.documents import text_of_file
from skillgen.sources.examples.validation import SchemaChecker
from skillgen.text.markdown import first_of
from skillgen.write.files import is_below
from skillgen.write.record import read_record


class Linter:
    """Checks services by the same rules."""

    def __init__(
        self,
        given: LintOptions,
        project: LintOptions = NO_LINT_OPTIONS,
        file: Path | None = None,
        *,
        has_requirements: bool = False,
        only_errors: bool = False,
    ) -> None:
        """Combines the options of a run with those of the project file, if there is one. With `only_errors`, rules of
        other levels are not checked.

        Raises:
            UsageError: a pattern matches no code.
        """
        self.strict = given.strict or project.strict
        place = "lint" if file is None else f"{file.as_posix()}#/lint"
        select_place, ignore_place = "--select" if given.select else f"{place}/select", f"{place}/ignore"
        selected = set(_codes(select_place, given.select or project.select))
        ignored = {*_codes("--ignore", given.ignore), *_codes(ignore_place, project.ignore)}
        chosen = selected or {code for code, kind in CODES.items() if not kind.is_optional}
        codes = CODES if has_requirements else chosen - ignored
        self.codes = frozenset(code for code in codes if not only_errors or CODES[code].level == "error")

    def check(self, service: Service, source: str, *, path: str | None = None, out: Path | None = None) -> Findings:
        """Returns the findings on a service of the file `path`, and on what a person added to documents in `out`."""
        found = [*service.problems, *service.advice, *check_service(service, self.codes)]
        # A program converts its values from strings.
        if service.kind != "cli" and self.codes & {"example-invalid", "schema-invalid", "properties-forbidden"}:
            found += SchemaChecker(service).problems()
        if stubs := {tool.pointer for tool in service.tools if tool.is_preflight}:
            found = [problem for problem in found if stubs.isdisjoint(prefixes(problem.where))]
        if out is not None:
            found += _problems_of_added_lines(out, service)
        return self._findings(service, source, path, found, file=path)

    def check_skill(self, skill: Path, service: Service) -> Findings:
        """Returns the findings on a skill that a person wrote for a service; `skill` is SKILL.md or its folder.

        Raises:
            UsageError: there is no skill.
        """
        from skillgen.pipeline.rendering import part_called
        from skillgen.rules.prose import check_texts, unmentioned_tools

        file = skill / "SKILL.md" if skill.is_dir() else skill
        pages = [file, *sorted(path for path in file.parent.rglob("*.md") if path != file and file.name == "SKILL.md")]
        inside = (path for path in pages[:_PAGES_LIMIT] if is_below(path, file.parent))
        texts = {path.as_posix(): text for path in inside if (text := text_of_file(path)) is not None}
        if file.as_posix() not in texts:
            raise UsageError("is not a skill", where=f"--skill {skill.as_posix()}", fix="name a SKILL.md or its folder")
        folder = file.resolve().parent
        service = part_called(service, folder.name, [path.name for path in folder.parent.iterdir() if path.is_dir()])
        found = list(check_texts(texts, service))
        if names := unmentioned_tools(texts.values(), service):
            message = f"{len(names):,} of {len(service.tools):,} tools are not mentioned: {first_of(names, 20)}"
            found.append(Problem.of("tool-unmentioned", file.as_posix(), message))
        return self._findings(service, skill.as_posix(), file.as_posix(), found, file=None)

    def _findings(
        self, service: Service, source: str, path: str | None, found: Iterable[Problem], *, file: str | None
    ) -> Findings:
        """Returns the findings that the options choose; pointers are into `file`."""
        found = worst_first(problem for problem in found if problem.code in self.codes)
        return Findings(service=service, source=source, path=path, owners=owners_in(service), problems=found, file=file)


def _problems_of_added_lines(out: Path, service: Service) -> Iterator[Problem]:
    """Yields what the lines that a person added to SKILL.md say of a service, and it does not have."""
    from skillgen.pipeline.generate import problems_of_added_lines

    with suppress(SkillgenError):  # `build` reports a damaged record
        for name, states in read_record(out).states.items():
            path = out / name
            if path.name == "SKILL.md" and is_below(path, out) and (text := text_of_file(path)):
                yield from problems_of_added_lines(text.split("\n"), states, service, path.as_posix())


_PAGES_LIMIT = 500
"""Pages of a skill that are read."""


def _codes(where: str, patterns: Iterable[str]) -> Iterator[str]:
    """Yields the codes that patterns match.

    Raises:
        UsageError: a pattern matches no code.
    """
    for pattern in filter(None, (part.strip() for text in patterns for part in text.split(","))):
        codes = [code for code in CODES if fnmatchcase(code, pattern)]
        if not codes:
            raise unknown_code(pattern, where)
        yield from codes
