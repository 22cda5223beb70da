"""Runs agents on the tasks of a skill, each in a folder of its own with a mock of the service.

All that an agent starts is killed. Each result is kept: an evaluation that was stopped is resumed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TypeGuard

from msgspec import Struct, ValidationError, convert, structs

from skillgen.errors import OutputError, UsageError
from skillgen.evals.grading import AgentRun, Assertion, Grade, benchmark, grade
from skillgen.evals.tasks import Task
from skillgen.mock.log import CallLog, calls_in_log
from skillgen.mock.serving import mock_of, serving, url_of
from skillgen.model.credentials import variable_prefix
from skillgen.model.service import Service
from skillgen.model.values import Json
from skillgen.render.scripts import call_data
from skillgen.sources.command_output import exit_status
from skillgen.sources.documents import snapshot_text
from skillgen.sources.json_access import as_dict, json_or_none
from skillgen.sources.mcp.process import ProcessTree
from skillgen.sources.mcp.session import CancelToken
from skillgen.write.files import replace_file

_OUTPUT_LIMIT_BYTES = 64 * 1024 * 1024
_CHUNK_BYTES = 64 * 1024
_TOKEN_KEYS = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_DEPTH_LIMIT = 50


class Evaluation(Struct, frozen=True, kw_only=True):
    """What is evaluated."""

    service: Service
    results: Mapping[str, Json] | None
    """The raw results of a crawl of the service, if there was one."""

    skill: Path
    """Its absolute path."""

    tasks: tuple[Task, ...]
    agent: tuple[str, ...]
    timeout_s: float
    jobs: int
    has_control: bool
    """Whether each task is also run without the skill."""

    cancel_token: CancelToken


def run_agent(evaluation: Evaluation, task: Task, folder: Path, snapshot: Path, *, has_skill: bool) -> AgentRun:
    """Runs the agent on a task in a folder, which it may fill; `snapshot` is read by the command of a mock.

    Raises:
        UsageError: the agent cannot be started, or a file of the task is missing.
    """
    outputs, log_path = folder / "outputs", folder / "calls.jsonl"
    shutil.rmtree(folder, ignore_errors=True)
    outputs.mkdir(parents=True)
    for name in task.files:
        _copy(evaluation.skill / name, outputs / Path(name).name)
    log = CallLog(log_path)
    try:
        with serving(mock_of(evaluation.service, evaluation.results, log)) as port:
            environment = _environment(
                evaluation, url_of(evaluation.service, port), snapshot, log_path, has_skill=has_skill
            )
            started = time.monotonic()
            exit_code = _run(evaluation, task.prompt, environment, folder)
            seconds = time.monotonic() - started
    finally:
        log.close()
    tokens, is_loaded = reported(_text(folder / "stdout.txt"), evaluation.skill.name)
    calls = tuple(calls_in_log(_text(log_path).splitlines()))
    return AgentRun(calls=calls, exit_code=exit_code, seconds=seconds, tokens=tokens, is_skill_loaded=is_loaded)


def _text(path: Path) -> str:
    """Returns what was written to a file; nothing if the agent deleted it."""
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


def _copy(source: Path, target: Path) -> None:
    try:
        shutil.copyfile(source, target)
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(source), fix="correct `files`") from None


def _environment(
    evaluation: Evaluation, url: str, snapshot: Path, log_path: Path, *, has_skill: bool
) -> dict[str, str]:
    """Returns the variables of an agent: those of the user, who has logged it in, and where the service is."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SKILLGEN_")}
    environment["SKILLGEN_MOCK_URL"] = url
    if evaluation.service.kind != "mcp":
        tools = call_data(evaluation.service, evaluation.service.tools)["tools"].values()
        nouns = sorted({noun for tool in tools for noun in tool["nouns"]})
        environment |= {f"{variable_prefix(url)}___{noun}": "mock" for noun in nouns}
    if evaluation.service.kind == "mcp":
        words = (sys.executable, "-m", "skillgen", "mock", str(snapshot), "--log", str(log_path))
        environment["SKILLGEN_MOCK_COMMAND"] = shlex.join(words)
    if has_skill:
        environment["SKILLGEN_SKILL"] = str(evaluation.skill)
        if (prefix := _program_prefix(evaluation.skill)) is not None:
            environment[f"{prefix}_URL" if evaluation.service.kind == "mcp" else f"{prefix}_BASE_URL"] = url
    return environment


def _program_prefix(skill: Path) -> str | None:
    """Returns how the variables of the skill's program begin, which must call the mock, not the service."""
    with suppress(OSError, ValueError):
        prefix = as_dict(json_or_none((skill / "scripts" / "tools.json").read_text("utf-8"))).get("prefix")
        return prefix if isinstance(prefix, str) and re.fullmatch(r"SKILL_\w+", prefix, re.ASCII) else None
    return None


def _run(evaluation: Evaluation, prompt: str, environment: Mapping[str, str], folder: Path) -> int | None:
    """Returns the exit code of the agent; `None` if it was killed at the time limit."""
    try:
        family = ProcessTree(
            evaluation.agent,
            environment=environment,
            cwd=folder / "outputs",
            stdin=subprocess.PIPE,
            kill_on_leader_exit=True,
        )
    except (OSError, ValueError) as error:
        what = f"the agent cannot be started: {error}"
        raise UsageError(what, where="--agent", fix="give the command of an agent, or correct its name") from None
    process = family.process
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    stdin = process.stdin

    def write_prompt() -> None:
        with suppress(OSError, ValueError):  # it need not read all of it
            stdin.write(prompt.encode("utf-8", "replace"))
            stdin.close()

    keep_output = partial(_keep, process.stdout, folder / "stdout.txt")
    keep_errors = partial(_keep, process.stderr, folder / "stderr.txt")
    return exit_status(family, (write_prompt, keep_output, keep_errors), evaluation.timeout_s, evaluation.cancel_token)


def _keep(stream: object, path: Path) -> None:
    """Writes the output of an agent to a file, up to a limit."""
    read, size = stream.read, 0  # type: ignore[attr-defined]
    with open(path, "wb") as file, suppress(OSError, ValueError):
        while chunk := read(_CHUNK_BYTES):
            file.write(chunk[: max(0, _OUTPUT_LIMIT_BYTES - size)])
            size += len(chunk)


def reported(output: str, skill_name: str) -> tuple[int | None, bool]:
    """Returns the tokens that an agent reports, and whether its output shows that it loaded the skill.

    The output is JSON, JSON a line, or text. The last object with `total_tokens` or `usage` counts. A skill is loaded
    if `skill_loaded` is true, if a tool `Skill` is called with its name, or if the path of its SKILL.md occurs.
    """
    whole = json_or_none(output)
    objects = [whole] if whole is not None else [json_or_none(line) for line in output.splitlines() if "{" in line]
    tokens: int | None = None
    declared: bool | None = None
    for item in objects:
        for members in map(as_dict, item if isinstance(item, list) else [item]):
            counted = _tokens(members)
            tokens = tokens if counted is None else counted
            if isinstance(members.get("skill_loaded"), bool):
                declared = members["skill_loaded"]
    if declared is not None:
        return tokens, declared
    is_named = any(_calls_skill(item, skill_name, 0) for item in objects)
    return tokens, is_named or f"{skill_name}/SKILL.md" in output.replace("\\\\", "/").replace("\\", "/")


def _tokens(members: dict[str, Json]) -> int | None:
    usage = as_dict(members.get("usage"))
    for total in (members.get("total_tokens"), usage.get("total_tokens")):
        if _is_count(total):
            return total
    counts = [usage[key] for key in _TOKEN_KEYS if _is_count(usage.get(key))]
    return sum(counts) if counts else None


def _is_count(value: Json) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _calls_skill(value: Json, skill_name: str, depth: int) -> bool:
    if depth > _DEPTH_LIMIT or not isinstance(value, (dict, list)):
        return False
    if isinstance(value, list):
        return any(_calls_skill(item, skill_name, depth + 1) for item in value)
    called = as_dict(value.get("input")).get("skill")
    if value.get("name") == "Skill" and isinstance(called, str) and called.rpartition(":")[2] == skill_name:
        return True
    return any(_calls_skill(item, skill_name, depth + 1) for item in value.values())


# -- all tasks --------------------------------------------------------------------------------------------------------


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
