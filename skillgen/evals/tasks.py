"""Tasks and trigger queries of a skill, in `evals/evals.json`: read, checked and drafted."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct

from skillgen.errors import UsageError
from skillgen.model.calls import Example
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.values import Json
from skillgen.sources.documents import text_of_file
from skillgen.sources.json_access import as_dict
from skillgen.text import lazy_re as re
from skillgen.text.markdown import json_output, one_line
from skillgen.text.summary import clip
from skillgen.typed import convert
from skillgen.write.files import is_below

FILE = "evals/evals.json"
"""The file of the tasks in the folder of a skill."""

_DRAFTED_TASKS = 10
_DRAFTED_QUERIES = 10
_FORBIDDEN_TOOLS = 5
_PROMPT_LENGTH = 400
_VALUE_LENGTH = 200


class ExpectedCall(Struct, frozen=True):
    """A call that a task needs, or must not make."""

    tool: str
    arguments: dict[str, Json] = {}
    """Arguments that the call has among others."""


class Task(Struct, frozen=True, kw_only=True):
    """What an agent is asked to do."""

    id: str
    prompt: str
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


class _Eval(Struct, frozen=True):
    """A task, as in the file."""

    prompt: Annotated[str, Meta(pattern=r"\S")]
    id: Any = None
    files: tuple[str, ...] = ()
    expected_calls: tuple[ExpectedCall, ...] = ()
    forbidden_calls: tuple[ExpectedCall, ...] = ()


class _Query(Struct, frozen=True):
    """A trigger query, as in the file."""

    query: str
    should_trigger: bool


class _File(Struct, frozen=True):
    """The file of the tasks."""

    evals: tuple[_Eval, ...] = ()
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
    tasks = [_task(item, number, path, tools) for number, item in enumerate(found.evals, 1)]
    tasks += [
        Task(id=f"query-{number}", prompt=item.query, should_trigger=item.should_trigger)
        for number, item in enumerate(found.trigger_queries, 1)
    ]
    repeated = [name for name, count in Counter(task.id for task in tasks).items() if count > 1]
    if repeated:
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


def _task(item: _Eval, number: int, path: Path, tools: frozenset[str]) -> Task:
    where = f"{path}#/evals/{number - 1}"
    skill = path.parents[1]
    if not all(is_below(skill / name, skill) for name in item.files):
        raise UsageError("`files` are paths in the folder of the skill", where=where, fix="correct them")
    if unknown := [call.tool for call in (*item.expected_calls, *item.forbidden_calls) if call.tool not in tools]:
        raise UsageError(f"the service has no tool {unknown[0][:80]!r}", where=where, fix="correct the name")
    identifier = str(number if item.id is None else item.id)
    return Task(
        id=re.sub(r"[^\w.-]+", "-", identifier).strip(".-")[:60] or str(number),
        prompt=item.prompt,
        expected_calls=item.expected_calls,
        forbidden_calls=item.forbidden_calls,
        files=item.files,
    )


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
    evals = [*_from_workflows(service), *_from_examples(service)][:_DRAFTED_TASKS]
    queries = [{"query": _sentence(use), "should_trigger": True} for use in service.when_to_use[:_DRAFTED_QUERIES]]
    queries += [
        {"query": _sentence(re.sub(r"\s?\([^()]{0,400}\)$", "", use).rstrip()), "should_trigger": False}
        for use in service.when_not_to_use[:_DRAFTED_QUERIES]
    ]
    if not queries:  # the tools say what it is for
        phrases = dict.fromkeys(_sentence(_phrase(tool)) for tool in service.tools[:_DRAFTED_QUERIES])
        queries += [{"query": phrase, "should_trigger": True} for phrase in phrases]
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
    examples = {tool.name: example for tool in service.tools if (example := _sendable(tool)) is not None}
    for tool in sorted(service.tools, key=lambda tool: tool.name not in examples):
        arguments = as_dict(examples[tool.name].input) if tool.name in examples else {}
        what, shown = _phrase(tool), dict(arguments)
        shown |= shown.pop("body") if tool.method is not None and isinstance(shown.get("body"), dict) else {}
        values = ", ".join(f"{name}: {clip(json.dumps(value), _VALUE_LENGTH)}" for name, value in shown.items())
        task: dict[str, Json] = {
            "prompt": clip(_sentence(what), _PROMPT_LENGTH) + (f" ({values})" if values else ""),
            "expected_output": what,
            "expected_calls": [{"tool": tool.name, **({"arguments": arguments} if arguments else {})}],
        }
        if forbidden := [name for name in destructive if name != tool.name][:_FORBIDDEN_TOOLS]:
            task["forbidden_calls"] = [{"tool": name} for name in forbidden]
        yield task


def _sendable(tool: Tool) -> Example | None:
    return next((item for item in tool.examples if item.flaw is None and isinstance(item.input, dict)), None)


def _phrase(tool: Tool) -> str:
    return one_line(tool.summary or tool.description or tool.title or tool.name)


def _sentence(text: str) -> str:
    text = one_line(text).strip()
    return text[:1].upper() + text[1:]
