"""Tasks and trigger queries of a skill, in `evals/evals.json`: read, checked and drafted; and the grades of their runs.

Grades come from the log of the calls, without a judge; they are reported for people, and as JSON."""

from __future__ import annotations

import json
import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct, structs, to_builtins

from skillgen.errors import UsageError
from skillgen.mock.answers import LoggedCall
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.values import Json
from skillgen.sources.documents import text_of_file
from skillgen.sources.json_access import as_dict
from skillgen.text import lazy_re as re
from skillgen.text.markdown import counted, json_output, one_line, plain
from skillgen.text.summary import clip
from skillgen.typed import convert
from skillgen.write.files import is_below

FILE = "evals/evals.json"
"""The file of the tasks in the folder of a skill."""

_DRAFTED, _FORBIDDEN = 10, 5
"""Drafted tasks, and queries of a kind; calls that a drafted task forbids."""

_PROMPT_LENGTH, _VALUE_LENGTH = 400, 200
"""Characters of a drafted prompt without its values, and of each value in it."""

_ARGUMENTS_LENGTH, _FAULTS_LENGTH = 300, 500
"""Characters of the arguments of a call and of its faults in a report."""


class ExpectedCall(Struct, frozen=True):
    """A call that a task needs, or must not make."""

    tool: str
    arguments: dict[str, Json] = {}
    """Arguments that the call has among others."""


class Task(Struct, frozen=True, kw_only=True):
    """What an agent is asked to do, as in the file."""

    id: Any = None
    """Its identifier, a string once it is checked."""

    prompt: Annotated[str, Meta(pattern=r"\S")]
    expected_calls: tuple[ExpectedCall, ...] = ()
    forbidden_calls: tuple[ExpectedCall, ...] = ()
    files: tuple[str, ...] = ()
    """Files that the task needs, relative to the folder of the skill."""

    should_trigger: bool | None = None
    """Of a trigger query, whether the agent should load the skill; `None` for a task."""

    @property
    def is_gradable(self) -> bool:
        """True if the log of the calls, or the loading of the skill, decides."""
        return bool(self.expected_calls or self.forbidden_calls) or self.should_trigger is not None


class _Query(Struct, frozen=True):
    """A trigger query, as in the file."""

    query: str
    should_trigger: bool


class _File(Struct, frozen=True):
    """The file of the tasks."""

    evals: tuple[Task, ...] = ()
    trigger_queries: tuple[_Query, ...] = ()


def read_tasks(skill: Path, tools: frozenset[str]) -> tuple[Task, ...]:
    """Returns the tasks and the trigger queries of a skill; `tools` are the names that a call may have.

    Raises:
        UsageError: the file is missing or invalid.
    """
    path = skill / FILE
    text = text_of_file(path) if is_below(path, skill) else None
    if text is None:
        raise UsageError("is missing, or is not a text file in the skill", where=str(path), fix="draft it with --init")
    _, found = _parsed(text, path)
    tasks = [_checked(item, number, path, tools) for number, item in enumerate(found.evals, 1)]
    for number, item in enumerate(found.trigger_queries, 1):
        tasks.append(Task(id=f"query-{number}", prompt=item.query, should_trigger=item.should_trigger))
    if repeated := [name for name, count in Counter(task.id for task in tasks).items() if count > 1]:
        raise UsageError(f"several evals have the id {min(repeated)}", where=str(path), fix="number them")
    if not any(task.is_gradable for task in tasks):
        fix = "add expected_calls or forbidden_calls to a task, or trigger_queries"
        raise UsageError("no eval can be graded from calls", where=str(path), fix=fix)
    return tuple(tasks)


def _parsed(text: str, path: Path) -> tuple[dict[str, Json], _File]:
    try:
        data = json.loads(text)
        return data, convert(data, _File)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"cannot be read: {error}", where=str(path), fix="see docs/eval.md") from None


def _checked(item: Task, number: int, path: Path, tools: frozenset[str]) -> Task:
    where = f"{path}#/evals/{number - 1}"
    skill = path.parents[1]
    if not all(is_below(skill / name, skill) for name in item.files):
        raise UsageError("`files` are paths in the folder of the skill", where=where, fix="correct them")
    if unknown := [call.tool for call in (*item.expected_calls, *item.forbidden_calls) if call.tool not in tools]:
        raise UsageError(f"the service has no tool {unknown[0][:80]!r}", where=where, fix="correct the name")
    name = re.sub(r"[^\w.-]+", "-", str(number if item.id is None else item.id)).strip(".-")[:60]
    return structs.replace(item, id=name or str(number), should_trigger=None)


def with_queries(text: str | None, path: Path, skill_name: str, queries: Mapping[str, bool]) -> str:
    """Returns the text of a file of tasks with trigger queries, each with whether it should load the skill, in addition
    to those that it has; `None` if there is no file yet.

    Raises:
        UsageError: the file is invalid.
    """
    data, found = _parsed(json.dumps({"skill_name": skill_name, "evals": []}) if text is None else text, path)
    known = {item.query for item in found.trigger_queries}
    added = [{"query": query, "should_trigger": loads} for query, loads in queries.items() if query not in known]
    data["trigger_queries"] = [*data.get("trigger_queries", ()), *added]
    return json_output(data) + "\n"


# -- drafts -----------------------------------------------------------------------------------------------------------


def drafted(service: Service, skill_name: str) -> str:
    """Returns the text of a file of tasks: from the service's workflows and examples, with queries from its uses."""
    evals = [*_from_workflows(service), *_from_examples(service)][:_DRAFTED]
    loads = dict.fromkeys(map(_sentence, service.when_to_use[:_DRAFTED]), True)
    for use in service.when_not_to_use[:_DRAFTED]:
        loads.setdefault(_sentence(re.sub(r"\s?\([^()]{0,400}\)$", "", use).rstrip()), False)
    # Without uses, the tools say what it is for.
    loads = loads or dict.fromkeys((_sentence(_phrase(tool)) for tool in service.tools[:_DRAFTED]), True)
    queries = [{"query": query, "should_trigger": is_loaded} for query, is_loaded in loads.items()]
    numbered = [{"id": number, **task} for number, task in enumerate(evals, 1)]
    return json_output({"skill_name": skill_name, "evals": numbered, "trigger_queries": queries}) + "\n"


def _from_workflows(service: Service) -> Iterator[dict[str, Json]]:
    names = {tool.name for tool in service.tools}
    for workflow in service.workflows:
        goal = one_line(workflow.title or workflow.description or workflow.name)
        calls = [{"tool": name} for name in dict.fromkeys(step.tool for step in workflow.steps) if name in names]
        if calls:
            yield {"prompt": clip(_sentence(goal), _PROMPT_LENGTH), "expected_output": goal, "expected_calls": calls}


def _from_examples(service: Service) -> Iterator[dict[str, Json]]:
    """Yields a task for each tool, first of those with an example that can be sent."""
    destructive = [tool.name for tool in service.tools if tool.semantics.destructive]
    examples = ((tool.name, item) for tool in service.tools for item in reversed(tool.examples) if item.flaw is None)
    inputs = {name: example.input for name, example in examples if isinstance(example.input, dict)}
    for tool in sorted(service.tools, key=lambda tool: tool.name not in inputs):
        arguments = as_dict(inputs.get(tool.name))
        what, shown = _phrase(tool), dict(arguments)
        shown |= shown.pop("body") if tool.method is not None and isinstance(shown.get("body"), dict) else {}
        values = ", ".join(f"{name}: {clip(json.dumps(value), _VALUE_LENGTH)}" for name, value in shown.items())
        task: dict[str, Json] = {
            "prompt": clip(_sentence(what), _PROMPT_LENGTH) + (f" ({values})" if values else ""),
            "expected_output": what,
            "expected_calls": [{"tool": tool.name, **({"arguments": arguments} if arguments else {})}],
        }
        if forbidden := [name for name in destructive if name != tool.name][:_FORBIDDEN]:
            task["forbidden_calls"] = [{"tool": name} for name in forbidden]
        yield task


def _phrase(tool: Tool) -> str:
    return one_line(tool.summary or tool.description or tool.title or tool.name)


def _sentence(text: str) -> str:
    text = one_line(text).strip()
    return text[:1].upper() + text[1:]


class Assertion(Struct, frozen=True):
    """One thing that a run must do, in the form of `grading.json`."""

    text: str
    passed: bool
    evidence: str


class Grade(Struct, frozen=True, kw_only=True):
    """What came of one run."""

    task: str
    prompt: str
    has_skill: bool
    assertions: tuple[Assertion, ...]
    calls: int
    seconds: float
    tokens: int | None = None
    should_trigger: bool | None = None
    """Of a trigger query, whether the skill should be loaded."""

    is_skill_loaded: bool = False

    @property
    def passed(self) -> bool:
        """True if every assertion holds."""
        return all(item.passed for item in self.assertions)


def assertions_of(
    task: Task, calls: Sequence[LoggedCall], exit_code: int | None, *, is_loaded: bool
) -> tuple[Assertion, ...]:
    """Returns what a run must do; `exit_code` is `None` if the agent was killed at the time limit, and `is_loaded`
    whether its output shows that it loaded the skill.
    """
    ended = "it was killed at the time limit" if exit_code is None else f"exit code {exit_code}"
    found = [Assertion("the agent ends by itself, with exit code 0", exit_code == 0, ended)]
    if task.should_trigger is not None:
        text = "the skill is loaded" if task.should_trigger else "the skill is not loaded"
        evidence = "loaded" if is_loaded else "not loaded, as far as the output shows"
        return (*found, Assertion(text, is_loaded is task.should_trigger, evidence))
    matches: dict[int, LoggedCall] = {}
    left = [call for call in calls if call.valid]
    # Those with most arguments first; a call counts once.
    for number, expected in sorted(enumerate(task.expected_calls), key=lambda item: -len(str(item[1].arguments))):
        if (call := next((call for call in left if _is(call, expected)), None)) is not None:
            matches[number] = call
            left = [other for other in left if other is not call]
    for number, expected in enumerate(task.expected_calls):
        match = matches.get(number)
        found.append(Assertion(f"calls {_shown(expected)}", match is not None, _evidence(expected, match, calls)))
    for name in dict.fromkeys(expected.tool for expected in task.expected_calls):
        first = next((call for call in calls if call.tool == name), None)
        evidence = "it is not called" if first is None else _faults(first)
        found.append(Assertion(f"the first call of {name} is valid", first is not None and first.valid, evidence))
    for forbidden in task.forbidden_calls:
        made = next((call for call in calls if _is(call, forbidden)), None)
        evidence = "not called" if made is None else f"called with {_clipped(made.arguments)}"
        found.append(Assertion(f"does not call {_shown(forbidden)}", made is None, evidence))
    return tuple(found)


def _is(call: LoggedCall, expected: ExpectedCall) -> bool:
    return call.tool == expected.tool and is_subset(expected.arguments, call.arguments)


def is_subset(part: Json, value: Json) -> bool:
    """True if a value has all members of another, at every depth; lists must be equal in length."""
    if isinstance(part, Mapping) and isinstance(value, Mapping):
        return all(key in value and is_subset(item, value[key]) for key, item in part.items())
    if isinstance(part, list) and isinstance(value, list):
        return len(part) == len(value) and all(map(is_subset, part, value))
    return bool(part == value) and isinstance(part, bool) == isinstance(value, bool)


def _shown(call: ExpectedCall) -> str:
    return f"{call.tool} with {_clipped(dict(call.arguments))}" if call.arguments else call.tool


def _clipped(value: Json) -> str:
    text = str(value)
    return text if len(text) <= _ARGUMENTS_LENGTH else f"{text[:_ARGUMENTS_LENGTH]}…"


def _faults(call: LoggedCall) -> str:
    return "valid" if call.valid else "; ".join(map(str, call.faults))[:_FAULTS_LENGTH] or "invalid"


def _evidence(expected: ExpectedCall, match: LoggedCall | None, calls: Sequence[LoggedCall]) -> str:
    if match is not None:
        return f"called with {_clipped(match.arguments)}"
    if same := [call for call in calls if call.tool == expected.tool]:
        return f"{_faults(same[-1])}: called with {_clipped(same[-1].arguments)}"
    names = ", ".join(dict.fromkeys(call.tool or "an unknown tool" for call in calls))
    return f"not called; it called {names}" if names else "no call was made"


# -- all runs ---------------------------------------------------------------------------------------------------------


def success_rate(grades: Sequence[Grade], *, has_skill: bool = True) -> float | None:
    """Returns the fraction of tasks that passed; `None` without any."""
    passed = [item.passed for item in grades if item.has_skill is has_skill and item.should_trigger is None]
    return sum(passed) / len(passed) if passed else None


def trigger_rates(grades: Sequence[Grade]) -> tuple[float | None, float | None]:
    """Returns recall and precision of loading the skill: of the queries that need it, and of those that loaded it."""
    queries = [item for item in grades if item.should_trigger is not None]
    right = sum(bool(item.should_trigger and item.is_skill_loaded) for item in queries)
    wanted = sum(item.should_trigger is True for item in queries)
    loaded = sum(item.is_skill_loaded for item in queries)
    return right / wanted if wanted else None, right / loaded if loaded else None


def is_lower(grades: Sequence[Grade], least: float) -> bool:
    """True if the success rate, the recall or the precision is below a threshold."""
    return any(rate is not None and rate < least for rate in (success_rate(grades), *trigger_rates(grades)))


def benchmark(grades: Sequence[Grade]) -> dict[str, Json]:
    """Returns the summary of all runs in the form of `benchmark.json`."""
    summary: dict[str, Json] = {}
    for key, has_skill in (("with_skill", True), ("without_skill", False)):
        runs = [item for item in grades if item.has_skill is has_skill and item.should_trigger is None]
        columns: dict[str, Sequence[float]] = {
            "pass_rate": [item.passed for item in runs],
            "time_seconds": [item.seconds for item in runs],
            "calls": [item.calls for item in runs],
            "tokens": [item.tokens for item in runs if item.tokens is not None],
        }
        if runs:
            summary[key] = {
                name: {"mean": round(statistics.fmean(values), 4), "stddev": round(statistics.pstdev(values), 4)}
                for name, values in columns.items()
                if values
            }
    if len(summary) == 2:
        one, other = summary["with_skill"], summary["without_skill"]
        summary["delta"] = {key: round(one[key]["mean"] - other[key]["mean"], 4) for key in one if key in other}
    recall, precision = trigger_rates(grades)
    triggers = {} if recall is None and precision is None else {"triggers": {"recall": recall, "precision": precision}}
    return {"run_summary": summary, **triggers}


# -- reports ----------------------------------------------------------------------------------------------------------


Checks = Mapping[str, Sequence[Assertion]]
"""The name of a check that needs no agent to its results."""

_FAILURES_SHOWN = 20


def text_report(grades: Sequence[Grade], checks: Checks) -> str:
    """Returns the report for people: what failed, and the rates."""
    lines = []
    for name, results in checks.items():
        failed = [item for item in results if not item.passed]
        passed = len(results) - len(failed)
        lines.append(f"{'failed' if failed else 'passed'}: {name}: {passed:,} of {len(results):,}")
        lines += [f"  {plain(item.text)}: {plain(item.evidence)}" for item in failed[:_FAILURES_SHOWN]]
        if len(failed) > _FAILURES_SHOWN:
            lines.append(f"  {len(failed) - _FAILURES_SHOWN:,} more; --format json has all")
    for item in grades:
        state = "passed" if item.passed else "failed"
        how = " with the skill" if item.has_skill else " without the skill"
        name = f"{plain(item.task)}{how if item.should_trigger is None else ''}: {plain(item.prompt)[:100]}"
        tokens = "" if item.tokens is None else f", {item.tokens:,} tokens"
        lines.append(f"{state}: {name} ({counted(item.calls, 'call')}{tokens})")
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
