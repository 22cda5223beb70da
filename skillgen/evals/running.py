"""Runs an agent on a task in a folder of its own, with a mock of the service, and kills all that it started."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TypeGuard

from msgspec import Struct

from skillgen.errors import UsageError
from skillgen.evals.tasks import Task
from skillgen.mock.log import CallLog, LoggedCall, calls_in_log
from skillgen.mock.serving import mock_of, serving, url_of
from skillgen.model.service import Service
from skillgen.model.values import Json
from skillgen.sources.command_output import exit_status
from skillgen.sources.json_access import as_dict, json_or_none
from skillgen.sources.mcp.process import ProcessTree
from skillgen.sources.mcp.session import CancelToken

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


class AgentRun(Struct, frozen=True, kw_only=True):
    """What an agent did."""

    calls: tuple[LoggedCall, ...]
    exit_code: int | None
    """`None` if it was killed at the time limit."""

    seconds: float
    tokens: int | None
    """As its output reports; `None` if it does not."""

    is_skill_loaded: bool


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
        return prefix if isinstance(prefix, str) and prefix.isidentifier() else None
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
