"""Runs all tasks of a skill, some at the same time, and keeps each result: a run that was stopped is resumed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from msgspec import Struct, ValidationError, convert, structs

from skillgen.errors import OutputError
from skillgen.evals.grading import Assertion, Grade, benchmark, grade
from skillgen.evals.running import Evaluation, run_agent
from skillgen.evals.tasks import Task
from skillgen.model.values import Json
from skillgen.sources.documents import snapshot_text
from skillgen.sources.json_access import json_or_none
from skillgen.write.files import replace_file

_INPUTS, _SNAPSHOT, _GRADING, _BENCHMARK = "inputs.json", "service.json", "grading.json", "benchmark.json"


class _Planned(Struct, frozen=True):
    task: Task
    has_skill: bool
    folder: Path


Report = Callable[[Grade, int, int, bool], None]
"""Receives a grade, how many runs are done, how many there are, and whether the grade is of an earlier start."""


def evaluate(evaluation: Evaluation, workspace: Path, report: Report) -> tuple[Path, list[Grade]]:
    """Runs the tasks that an earlier start has not run; returns the folder of the iteration and all grades.

    Raises:
        OutputError: the workspace cannot be written.
        UsageError: the agent cannot be started, or a file of a task is missing.
    """
    try:
        return _evaluate(evaluation, workspace.absolute(), report)
    except OSError as error:
        raise OutputError(f"cannot be written: {error.strerror}", where=str(error.filename or workspace)) from None


def _evaluate(evaluation: Evaluation, workspace: Path, report: Report) -> tuple[Path, list[Grade]]:
    snapshot = snapshot_text([evaluation.service])
    iteration = _iteration(workspace, _digest(evaluation, snapshot))
    (iteration / _SNAPSHOT).write_text(snapshot, "utf-8")
    planned = list(_planned(evaluation, iteration))
    grades = {item.folder: found for item in planned if (found := _earlier_grade(item)) is not None}
    for number, found in enumerate(grades.values(), 1):
        report(found, number, len(planned), True)
    waiting = [item for item in planned if item.folder not in grades]
    with ThreadPoolExecutor(max_workers=evaluation.jobs, thread_name_prefix="skillgen-eval") as pool:
        futures = {pool.submit(_graded, evaluation, item, iteration): item for item in waiting}
        try:
            for future in as_completed(futures):
                grades[futures[future].folder] = future.result()
                report(future.result(), len(grades), len(planned), False)
        except BaseException:
            evaluation.cancel_token.cancel()  # no agent may outlive the evaluation
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    ordered = [grades[item.folder] for item in planned]
    _write(iteration / _BENCHMARK, benchmark(ordered))
    return iteration, ordered


def _planned(evaluation: Evaluation, iteration: Path) -> list[_Planned]:
    found = []
    for task in evaluation.tasks:
        if not task.is_gradable:
            continue
        folder = iteration / f"eval-{task.id}"
        found.append(_Planned(task, True, folder / "with_skill"))
        if evaluation.has_control and task.should_trigger is None:
            found.append(_Planned(task, False, folder / "without_skill"))
    return found


def _graded(evaluation: Evaluation, item: _Planned, iteration: Path) -> Grade:
    run = run_agent(evaluation, item.task, item.folder, iteration / _SNAPSHOT, has_skill=item.has_skill)
    item.folder.mkdir(parents=True, exist_ok=True)  # the agent may have deleted it
    found = grade(item.task, run, has_skill=item.has_skill)
    timing = {"total_tokens": found.tokens, "duration_ms": round(found.seconds * 1_000)}
    _write(item.folder / "timing.json", {key: value for key, value in timing.items() if value is not None})
    # The last file: with it the run is done.
    _write(item.folder / _GRADING, _grading(found))
    return found


def _grading(found: Grade) -> dict[str, Json]:
    passed = sum(item.passed for item in found.assertions)
    total = len(found.assertions)
    summary = {"passed": passed, "failed": total - passed, "total": total, "pass_rate": round(passed / total, 4)}
    return {
        "assertion_results": [structs.asdict(item) for item in found.assertions],
        "summary": summary,
        "calls": found.calls,
        "skill_loaded": found.is_skill_loaded,
        "tokens": found.tokens,
        "seconds": found.seconds,
    }


class _Stored(Struct):
    """The members of `grading.json` that a grade is made of."""

    assertion_results: tuple[Assertion, ...]
    calls: int
    skill_loaded: bool
    tokens: int | None
    seconds: float


def _earlier_grade(item: _Planned) -> Grade | None:
    """Returns the grade that an earlier start has written."""
    try:
        stored = convert(_json_in(item.folder / _GRADING), _Stored)
    except ValidationError:
        return None
    return Grade(
        task=item.task.id,
        prompt=item.task.prompt,
        has_skill=item.has_skill,
        assertions=stored.assertion_results,
        calls=stored.calls,
        seconds=stored.seconds,
        tokens=stored.tokens,
        should_trigger=item.task.should_trigger,
        is_skill_loaded=stored.skill_loaded,
    )


def _iteration(workspace: Path, digest: str) -> Path:
    """Returns the folder of the last iteration if it is incomplete and has the same inputs, else of a new one."""
    numbers = [int(path.name[10:]) for path in workspace.glob("iteration-*") if path.name[10:].isdigit()]
    last = workspace / f"iteration-{max(numbers, default=0)}"
    if numbers and not (last / _BENCHMARK).exists() and _json_in(last / _INPUTS) == {"digest": digest}:
        return last
    folder = workspace / f"iteration-{max(numbers, default=0) + 1}"
    folder.mkdir(parents=True)
    _write(folder / _INPUTS, {"digest": digest})
    return folder


def _json_in(path: Path) -> Json:
    try:
        return json_or_none(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError):
        return None


def _digest(evaluation: Evaluation, snapshot: str) -> str:
    """Returns a digest of all that the result of a run depends on."""
    total = hashlib.sha256(snapshot.encode("utf-8", "surrogatepass"))
    total.update(json.dumps([evaluation.agent, evaluation.has_control, evaluation.timeout_s]).encode())
    for path in sorted(path for path in evaluation.skill.rglob("*") if path.is_file()):
        total.update(path.relative_to(evaluation.skill).as_posix().encode("utf-8", "surrogateescape"))
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def _write(path: Path, data: Mapping[str, Json] | Sequence[Json]) -> None:
    """Writes JSON so that the file is complete or not there."""
    text = json.dumps(data, ensure_ascii=False, indent=2) + "\n"
    replace_file(path, lambda temporary: temporary.write_text(text, "utf-8"))
