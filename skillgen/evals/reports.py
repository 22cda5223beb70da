"""Reports of an evaluation: for people, as JSON, and as JUnit XML."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import to_builtins

from skillgen.evals.grading import Assertion, Grade, benchmark, success_rate, trigger_rates
from skillgen.model.values import Json
from skillgen.text.junit import TestCase, junit_xml, plain
from skillgen.text.markdown import counted, json_output

Checks = Mapping[str, Sequence[Assertion]]
"""The name of a check that needs no agent to its results."""

_FAILURES_SHOWN = 20


def text_report(grades: Sequence[Grade], checks: Checks) -> str:
    """Returns the report for people: what failed, and the rates."""
    failures = {name: [item for item in results if not item.passed] for name, results in checks.items()}
    lines = []
    for name, results in checks.items():
        passed = len(results) - len(failures[name])
        lines.append(f"{'failed' if failures[name] else 'passed'}: {name}: {passed:,} of {len(results):,}")
    for name, failed in failures.items():
        lines += [f"  {name}: {plain(item.text)}: {plain(item.evidence)}" for item in failed[:_FAILURES_SHOWN]]
        if len(failed) > _FAILURES_SHOWN:
            lines.append(f"  {name}: {len(failed) - _FAILURES_SHOWN:,} more; --format json has all")
    for item in grades:
        state = "passed" if item.passed else "failed"
        tokens = "" if item.tokens is None else f", {item.tokens:,} tokens"
        lines.append(f"{state}: {_name(item)} ({counted(item.calls, 'call')}{tokens})")
        lines += [f"  {plain(part.text)}: {plain(part.evidence)}" for part in item.assertions if not part.passed]
    rates = {"success with the skill": success_rate(grades), "without it": success_rate(grades, has_skill=False)}
    rates |= dict(zip(("recall of the triggers", "precision"), trigger_rates(grades), strict=True))
    known = [f"{name} {rate:.0%}" for name, rate in rates.items() if rate is not None]
    return "\n".join([*lines, *([", ".join(known)] if known else [])]) + "\n"


def json_report(grades: Sequence[Grade], checks: Checks) -> str:
    """Returns the report as JSON."""
    data: dict[str, Json] = {}
    if checks:
        data["static"] = to_builtins(checks)
    if grades:
        data["runs"] = [{**to_builtins(item), "passed": item.passed} for item in grades]
        data |= benchmark(grades)
    return json_output(data) + "\n"


def junit_report(grades: Sequence[Grade], checks: Checks) -> str:
    """Returns JUnit XML: a suite for each check, one for the runs with the skill; the control does not fail."""
    suites = [(name, [_test_case(name, item.text, [item]) for item in results]) for name, results in checks.items()]
    runs = [item for item in grades if item.has_skill]
    if runs:
        suites.append(("runs", [_test_case("runs", _name(run), run.assertions) for run in runs]))
    return junit_xml(suites)


def _test_case(suite: str, name: str, assertions: Sequence[Assertion]) -> TestCase:
    failed = [f"{item.text}: {item.evidence}" for item in assertions if not item.passed]
    return TestCase(name=name, suite=suite, failure="; ".join(failed) if failed else None)


def _name(run: Grade) -> str:
    kind = "" if run.should_trigger is not None else " with the skill" if run.has_skill else " without the skill"
    return f"{plain(run.task)}{kind}: {plain(run.prompt)[:100]}"


REPORTS: Mapping[str, Callable[[Sequence[Grade], Checks], str]] = {
    "text": text_report,
    "json": json_report,
    "junit": junit_report,
}
"""Every format of `--format`."""
