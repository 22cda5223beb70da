"""Runs agents on the tasks of a skill, each in a folder of its own with a mock of the service.

All that an agent starts is killed. Each result is kept: an evaluation that was stopped is resumed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from msgspec import Struct, ValidationError, field, structs, to_builtins

from skillgen.calls import script
from skillgen.config.project import EvalOptions
from skillgen.errors import OutputError, UsageError
from skillgen.evals.tasks import Assertion, Grade, Task, assertions_of, benchmark
from skillgen.mock.answers import CallLog, log_line
from skillgen.mock.api import request_of_command
from skillgen.mock.mcp import McpMock
from skillgen.mock.serving import mock_of, serving, url_of
from skillgen.model.credentials import variable_prefix
from skillgen.model.service import Service
from skillgen.model.values import Json
from skillgen.render.scripts import call_data
from skillgen.sources.documents import snapshot_parts, text_of_file
from skillgen.sources.json_access import as_dict, json_or_none
from skillgen.sources.mcp.process import CommandRun
from skillgen.sources.mcp.session import CancelToken
from skillgen.typed import convert
from skillgen.write.files import Folder, is_below, lock_folder

if TYPE_CHECKING:
    from markdown_it.token import Token


_OUTPUT_LIMIT_BYTES = 64 * 1024 * 1024
_TOKEN_KEYS = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


class Evaluation(Struct, frozen=True, kw_only=True):
    """What is evaluated."""

    service: Service
    results: Mapping[str, Json] | None
    """The raw results of a crawl of the service, if there was one."""

    skill: Path
    """Its absolute path."""

    tasks: tuple[Task, ...]
    agent: tuple[str, ...]
    """The words of its command."""

    options: EvalOptions
    cancel_token: CancelToken = field(default_factory=CancelToken)


def _graded(evaluation: Evaluation, item: _Planned, out: Folder) -> Grade:
    """Runs the agent on a task in a folder below `out`, which it may fill, and returns its grade.

    What it may change is not read: its calls are those that the mock saw, and its output is that of its process. The
    files about the run are written when it has ended.

    Raises:
        OutputError: a symbolic link leads out of `out`.
        UsageError: the agent cannot be started, or a file of the task is missing.
    """
    task, path = item.task, item.path
    folder = Path(out.path, path)
    if not is_below(folder, Path(out.path)):
        raise OutputError("leads outside the workspace", where=str(folder), fix="remove the symbolic link")
    shutil.rmtree(folder, ignore_errors=True)
    with out.below(f"{path}/outputs", make=True):
        pass
    for source in (evaluation.skill / name for name in task.files):
        try:
            shutil.copyfile(source, folder / "outputs" / source.name)
        except OSError as error:
            raise UsageError(f"cannot be read: {error.strerror}", where=str(source), fix="correct `files`") from None
    log = CallLog(keeps=True)
    mock = mock_of(evaluation.service, evaluation.results, log)
    with serving(mock) as port, TemporaryDirectory(prefix="skillgen-", ignore_cleanup_errors=True) as skills:
        url = url_of(evaluation.service, port)
        environment = _environment(evaluation, url, Path(skills) if item.has_skill else None)
        started = time.monotonic()
        try:
            limits = (evaluation.options.task_timeout, _OUTPUT_LIMIT_BYTES, evaluation.cancel_token)
            run = CommandRun(evaluation.agent, environment, folder / "outputs", *limits, text=task.prompt)
            finished = run.finished()
        except (OSError, ValueError) as error:
            what = f"the agent cannot be started: {error}"
            raise UsageError(what, where="--agent", fix="give the command of an agent, or correct its name") from None
        seconds = time.monotonic() - started
    out.replace(f"{path}/calls.jsonl", "".join(map(log_line, log.calls)).encode())
    out.replace(f"{path}/stdout.txt", finished.output)
    out.replace(f"{path}/stderr.txt", finished.errors)
    tokens, is_loaded = reported(finished.output.decode("utf-8", "replace"), evaluation.skill.name)
    total = {} if tokens is None else {"total_tokens": tokens}
    _write_json(out, f"{path}/timing.json", {**total, "duration_ms": round(seconds * 1_000)})
    assertions = assertions_of(task, log.calls, finished.status, is_loaded=is_loaded)
    facts = {**item.known, "should_trigger": task.should_trigger, "is_skill_loaded": is_loaded, "tokens": tokens}
    found = Grade(assertions=assertions, calls=len(log.calls), seconds=round(seconds, 3), **facts)
    passed, count = sum(each.passed for each in assertions), len(assertions)
    summary = {"passed": passed, "failed": count - passed, "total": count, "pass_rate": round(passed / count, 4)}
    members = to_builtins(found)
    # The last file: with it the run is done.
    grading = {"assertion_results": members.pop("assertions"), "summary": summary, **members}
    _write_json(out, f"{path}/{_GRADING}", grading)
    return found


def _environment(evaluation: Evaluation, url: str, skills: Path | None) -> dict[str, str]:
    """Returns the variables of an agent: those of the user, who has logged it in, and where the service is.

    `skills` gets a copy of the skill without the expected calls.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SKILLGEN_")}
    environment["SKILLGEN_MOCK_URL"] = url
    if evaluation.service.kind != "mcp":
        tools = call_data(evaluation.service, evaluation.service.tools)["tools"].values()
        nouns = sorted({noun for tool in tools for noun in tool["nouns"]})
        environment |= {f"{variable_prefix(url)}___{noun}": "mock" for noun in nouns}
    if skills is not None:
        copy, ignored = skills / evaluation.skill.name, shutil.ignore_patterns("evals")
        environment["SKILLGEN_SKILL"] = str(shutil.copytree(evaluation.skill, copy, symlinks=True, ignore=ignored))
        environment |= dict.fromkeys(_program_variables(evaluation.skill), url)
    return environment


def _program_variables(skill: Path) -> set[str]:
    """Returns the variables with a URL of the skill's program, which must call the mock, not the service."""
    path = skill / "scripts" / "tools.json"
    data = as_dict(json_or_none((text_of_file(path) if is_below(path, skill) else None) or ""))
    members = (data, *map(as_dict, as_dict(data.get("tools")).values()))
    keys = ("kind", "prefix", "url", "base")
    of_service, *of_tools = [{key: str(item.get(key) or "") for key in keys} for item in members]
    noun = "URL" if of_service["kind"] == "mcp" else "BASE_URL"
    declared = {item["url"] or item["base"] or of_service["base"] for item in (of_service, *of_tools)}
    names = {script.url_variable(of_service, url, noun) for url in declared}
    return {name for name in names if re.fullmatch(r"SKILL_\w+", name, re.ASCII)}


def reported(output: str, skill_name: str) -> tuple[int | None, bool]:
    """Returns the tokens that an agent reports, and whether its output shows that it loaded the skill.

    The output is JSON, JSON a line, or text. The last object with `total_tokens` or `usage` counts. A skill is loaded
    if `skill_loaded` is true, if a tool `Skill` is called with its name, or if the path of its SKILL.md occurs.
    """
    whole = json_or_none(output)
    objects = [whole] if whole is not None else [json_or_none(line) for line in output.splitlines() if "{" in line]
    members = [as_dict(each) for item in objects for each in (item if isinstance(item, list) else [item])]
    counts = [count for item in members if (count := _tokens(item)) is not None]
    declared = [item["skill_loaded"] for item in members if isinstance(item.get("skill_loaded"), bool)]
    calls = (item for item in _objects_in(objects) if item.get("name") == "Skill")
    names = {str(as_dict(item.get("input")).get("skill")).rpartition(":")[2] for item in calls}
    is_read = f"{skill_name}/SKILL.md" in output.replace("\\\\", "/").replace("\\", "/")
    return counts[-1] if counts else None, declared[-1] if declared else skill_name in names or is_read


def _tokens(members: dict[str, Json]) -> int | None:
    usage = as_dict(members.get("usage"))
    known = [members.get("total_tokens"), usage.get("total_tokens"), *map(usage.get, _TOKEN_KEYS)]
    totals, counts = ([item for item in part if type(item) is int and item >= 0] for part in (known[:2], known[2:]))
    return totals[0] if totals else sum(counts) if counts else None


def _objects_in(waiting: list[Json]) -> Iterator[dict[str, Json]]:
    """Yields the objects in values, at any depth."""
    for value in waiting:
        waiting.extend(value if isinstance(value, list) else as_dict(value).values())
        if isinstance(value, dict):
            yield value


# -- all tasks --------------------------------------------------------------------------------------------------------


_INPUTS, _GRADING, _BENCHMARK = "inputs.json", "grading.json", "benchmark.json"


class _Planned(Struct, frozen=True):
    task: Task
    has_skill: bool
    path: str
    """The folder of the run below the workspace, with forward slashes."""

    @property
    def known(self) -> dict[str, Any]:
        return {"task": self.task.id, "prompt": self.task.prompt, "has_skill": self.has_skill}


Report = Callable[[Grade, int, int, bool], None]
"""Receives a grade, how many runs are done, how many there are, and whether the grade is of an earlier start."""


def evaluate(evaluation: Evaluation, workspace: Path, jobs: int, report: Report) -> tuple[Path, list[Grade]]:
    """Runs the tasks that an earlier start has not run, `jobs` at the same time; returns the folder of the iteration
    and all grades.

    Raises:
        OutputError: the workspace cannot be written.
        UsageError: the agent cannot be started, or a file of a task is missing.
    """
    pool = ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="skillgen-eval")
    try:
        with lock_folder(workspace.absolute()) as out, pool:
            iteration = _iteration(out, _digest(evaluation))
            planned = list(_planned(evaluation, iteration))
            grades = {item.path: found for item in planned if (found := _earlier_grade(out, item)) is not None}
            for number, found in enumerate(grades.values(), 1):
                report(found, number, len(planned), True)
            waiting = [item for item in planned if item.path not in grades]
            futures = {pool.submit(_graded, evaluation, item, out): item for item in waiting}
            try:
                for future in as_completed(futures):
                    grades[futures[future].path] = future.result()
                    report(future.result(), len(grades), len(planned), False)
            except BaseException:
                evaluation.cancel_token.cancel()  # no agent may outlive the evaluation
                pool.shutdown(wait=False, cancel_futures=True)
                raise
            ordered = [grades[item.path] for item in planned]
            _write_json(out, f"{iteration}/{_BENCHMARK}", benchmark(ordered))
            return Path(out.path, iteration), ordered
    except OSError as error:
        raise OutputError(f"cannot be written: {error.strerror}", where=str(error.filename or workspace)) from None


def _planned(evaluation: Evaluation, iteration: str) -> Iterator[_Planned]:
    for task in (task for task in evaluation.tasks if task.is_gradable):
        path = f"{iteration}/eval-{task.id}"
        yield _Planned(task, True, f"{path}/with_skill")
        if not evaluation.options.no_control and task.should_trigger is None:
            yield _Planned(task, False, f"{path}/without_skill")


def _earlier_grade(out: Folder, item: _Planned) -> Grade | None:
    """Returns the grade that an earlier start has written."""
    members = as_dict(_json_in(out, f"{item.path}/{_GRADING}"))
    with suppress(ValidationError):
        return convert({**members, **item.known, "assertions": members.get("assertion_results")}, Grade)
    return None


def _iteration(out: Folder, digest: str) -> str:
    """Returns the folder of the last iteration if it is incomplete and has the same inputs, else of a new one."""
    last = max((int(name[10:]) for name in out.names() if re.fullmatch(r"iteration-[0-9]{1,9}", name)), default=0)
    name = f"iteration-{last}"
    if _json_in(out, f"{name}/{_BENCHMARK}") is None and _json_in(out, f"{name}/{_INPUTS}") == {"digest": digest}:
        return name
    name = f"iteration-{last + 1}"
    _write_json(out, f"{name}/{_INPUTS}", {"digest": digest})
    return name


def _json_in(out: Folder, path: str) -> Json:
    content = out.read(path)
    return None if content is None else json_or_none(content.decode("utf-8", "replace"))


def _digest(evaluation: Evaluation) -> str:
    """Returns a digest of all that the result of a run depends on."""
    service, options = structs.replace(evaluation.service, source=()), evaluation.options
    total = hashlib.sha256("".join(snapshot_parts([service])).encode("utf-8", "surrogatepass"))
    total.update(json.dumps([evaluation.agent, options.no_control, options.task_timeout]).encode())
    skill = evaluation.skill
    for path in sorted(path for path in skill.rglob("*") if path.is_file() and is_below(path, skill)):
        total.update(path.relative_to(skill).as_posix().encode("utf-8", "surrogateescape"))
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def _write_json(out: Folder, path: str, data: Mapping[str, Json] | Sequence[Json]) -> None:
    out.replace(path, f"{json.dumps(data, ensure_ascii=False, indent=2)}\n".encode())


_READS = 2
"""Pages that an agent reads after SKILL.md, at the most."""

_PAGES_LIMIT = 5_000
_PAGE_LIMIT_BYTES = 4 * 1024 * 1024
_LABEL = "Example:"


def check_static(skill: Path, service: Service, results: Mapping[str, Json] | None) -> dict[str, list[Assertion]]:
    """Returns the checks that need no agent: the name of each to its results."""
    examples: dict[str, str | None] = {}
    for tokens in _pages(skill):
        _collect_examples(tokens, "json" if service.kind == "mcp" else "sh", examples)
    evidence = (f"no page within {_READS} reads of SKILL.md has its heading", "its section is there")
    reads = [(tool.name, tool.name in examples) for tool in service.tools]
    return {
        "example calls": list(_check_examples(service, results, examples)),
        "two reads": [Assertion(name, is_there, evidence[is_there]) for name, is_there in reads],
    }


# -- documents ---------------------------------------------------------------------------------------------------------


def _pages(skill: Path) -> Iterator[Sequence[Token]]:
    """Yields the tokens of the pages that are reached from SKILL.md within the number of reads."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark")
    root = skill.resolve()
    waiting, seen = [(root / "SKILL.md", 0)], {root / "SKILL.md"}
    for path, reads in waiting:
        text = text_of_file(path) if is_below(path, root) else None
        if text is None:
            continue
        tokens = parser.parse(text[:_PAGE_LIMIT_BYTES])
        yield tokens
        if reads == _READS:
            continue
        children = [child for token in tokens for child in token.children or () if child.type == "link_open"]
        links = [link for child in children if not urlsplit(link := str(child.attrs["href"])).scheme]
        for link in links:
            target = (path.parent / unquote(link.partition("#")[0])).resolve()
            if target not in seen and target.is_relative_to(root) and len(seen) < _PAGES_LIMIT and target.is_file():
                seen.add(target)
                waiting.append((target, reads + 1))


def _collect_examples(tokens: Sequence[Token], language: str, examples: dict[str, str | None]) -> None:
    """Collects for each heading the first code block in a language after the word "Example" below it."""
    heading = label = previous = ""
    for token in tokens:
        if token.type == "inline":
            label = _shown(token)
        if token.type == "inline" and previous == "heading_open":
            heading = label
            examples.setdefault(heading, None)
        elif token.type == "fence" and token.info == language and label.startswith(_LABEL):
            examples[heading] = examples.get(heading) or token.content
        previous = token.type


def _shown(token: Token) -> str:
    kinds = ("text", "code_inline", "text_special")
    return "".join(child.content for child in token.children or () if child.type in kinds)


# -- checks ------------------------------------------------------------------------------------------------------------


def _check_examples(
    service: Service, results: Mapping[str, Json] | None, examples: Mapping[str, str | None]
) -> Iterator[Assertion]:
    log = CallLog(keeps=True)
    mock = mock_of(service, results, log)
    mock.validator.allows_placeholders = True  # documents show `<id>` for a value
    for tool in service.tools:
        if (example := examples.get(tool.name)) is None:
            continue
        log.calls.clear()
        try:
            if not isinstance(mock, McpMock):
                mock.respond(request_of_command(example))
            elif isinstance(arguments := json_or_none(example), dict):
                call = {"method": "tools/call", "params": {"name": tool.name, "arguments": arguments}}
                mock.answer({"jsonrpc": "2.0", "id": 1, **call}, {tool.name})
            else:
                raise ValueError("it is not a JSON object")
        except ValueError as error:
            yield Assertion(tool.name, False, f"the example cannot be read: {error}")
            continue
        logged = log.calls[-1] if log.calls else None
        if logged is None or logged.tool != tool.name:
            yield Assertion(tool.name, False, f"the example calls {(logged.tool if logged else None) or 'no tool'}")
        else:
            yield Assertion(tool.name, logged.valid, "; ".join(map(str, logged.faults))[:500] or "accepted")
