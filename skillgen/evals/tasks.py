"""Tasks and trigger queries of a skill, in `evals/evals.json`: read, checked and drafted."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from msgspec import Struct

from skillgen.errors import UsageError
from skillgen.model.calls import Example
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.values import Json
from skillgen.sources.json_access import as_dict, as_list, json_or_none
from skillgen.text import lazy_re as re
from skillgen.text.markdown import json_output, one_line
from skillgen.text.summary import clip

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
    arguments: Mapping[str, Json] = {}
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


def read_tasks(skill: Path, tools: frozenset[str]) -> tuple[Task, ...]:
    """Returns the tasks and the trigger queries of a skill; `tools` are the names that a call may have.

    Raises:
        UsageError: the file is missing or invalid.
    """
    path = skill / FILE
    try:
        data = json_or_none(path.read_text("utf-8-sig"))
    except FileNotFoundError:
        raise UsageError("the file does not exist", where=str(path), fix="draft it with --init") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot be read: {error}", where=str(path), fix="save it as UTF-8") from None
    if not isinstance(data, dict) or not isinstance(data.get("evals", []), list):
        raise UsageError("is not an object with the list `evals`", where=str(path), fix="see docs/eval.md")
    tasks = [_task(raw, index, path, tools) for index, raw in enumerate(as_list(data.get("evals")))]
    for index, raw in enumerate(as_list(data.get("trigger_queries"))):
        where = f"{path}#/trigger_queries/{index}"
        query, expected = as_dict(raw).get("query"), as_dict(raw).get("should_trigger")
        if not isinstance(query, str) or not isinstance(expected, bool):
            raise UsageError("needs `query`, and `should_trigger`: true or false", where=where)
        tasks.append(Task(id=f"query-{index + 1}", prompt=query, should_trigger=expected))
    repeated = [name for name, count in Counter(task.id for task in tasks).items() if count > 1]
    if repeated:
        raise UsageError(f"several evals have the id {min(repeated)}", where=str(path), fix="number them")
    if not any(task.is_gradable for task in tasks):
        fix = "add expected_calls or forbidden_calls to a task, or trigger_queries"
        raise UsageError("no eval can be graded from calls", where=str(path), fix=fix)
    return tuple(tasks)


def _task(raw: Json, index: int, path: Path, tools: frozenset[str]) -> Task:
    where, members = f"{path}#/evals/{index}", as_dict(raw)
    prompt = members.get("prompt")
    if not isinstance(prompt, str) or not prompt.strip():
        raise UsageError("has no prompt", where=where, fix="write what the user asks for")
    files = members.get("files", [])
    if not isinstance(files, list) or not all(isinstance(name, str) and _is_inside(name) for name in files):
        raise UsageError("`files` are paths in the folder of the skill", where=where, fix="correct them")
    identifier = members.get("id", index + 1)
    name = re.sub(r"[^\w.-]+", "-", str(identifier)).strip(".-")[:60]
    return Task(
        id=name or str(index + 1),
        prompt=prompt,
        expected_calls=tuple(_calls(members, "expected_calls", where, tools)),
        forbidden_calls=tuple(_calls(members, "forbidden_calls", where, tools)),
        files=tuple(files),
    )


def _is_inside(name: str) -> bool:
    path = Path(name)
    return not path.is_absolute() and ".." not in path.parts


def _calls(members: dict[str, Json], key: str, where: str, tools: frozenset[str]) -> Iterator[ExpectedCall]:
    declared = members.get(key, [])
    if not isinstance(declared, list):
        raise UsageError(f"`{key}` is not a list", where=where, fix="write objects with tool and arguments")
    for index, raw in enumerate(declared):
        place, call = f"{where}/{key}/{index}", as_dict(raw)
        tool, arguments = call.get("tool"), call.get("arguments", {})
        if not isinstance(tool, str) or not isinstance(arguments, dict):
            raise UsageError("needs `tool`, and `arguments` as an object", where=place)
        if tool not in tools:
            raise UsageError(f"the service has no tool {tool[:80]!r}", where=place, fix="correct the name")
        yield ExpectedCall(tool, arguments)


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
        phrases = dict.fromkeys(_sentence(_phrase(tool)) for tool in islice(_in_turn(service), _DRAFTED_QUERIES))
        queries += [{"query": phrase, "should_trigger": True} for phrase in phrases]
    numbered = [{"id": number, **task} for number, task in enumerate(evals, 1)]
    data = {"skill_name": skill_name, "evals": numbered, "trigger_queries": queries}
    return json_output(data) + "\n"


def _from_workflows(service: Service) -> Iterator[dict[str, Json]]:
    names = {tool.name for tool in service.tools}
    for workflow in service.workflows:
        goal = one_line(workflow.title or workflow.description or workflow.name)
        calls = [{"tool": name} for name in dict.fromkeys(step.tool for step in workflow.steps) if name in names]
        if calls:
            yield {"prompt": clip(_sentence(goal), _PROMPT_LENGTH), "expected_output": goal, "expected_calls": calls}


def _from_examples(service: Service) -> Iterator[dict[str, Json]]:
    """Yields a task for each tool, first of those with an example that can be sent, one of each group at a time."""
    destructive = [tool.name for tool in service.tools if tool.semantics.destructive]
    examples = {tool.name: example for tool in service.tools if (example := _sendable(tool)) is not None}
    for tool in sorted(_in_turn(service), key=lambda tool: tool.name not in examples):
        arguments = as_dict(examples[tool.name].input) if tool.name in examples else {}
        what, body = _phrase(tool), arguments.get("body") if tool.method is not None else None
        if isinstance(body, dict):
            shown = {**{name: value for name, value in arguments.items() if name != "body"}, **body}
        else:
            shown = arguments
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


def _in_turn(service: Service) -> Iterator[Tool]:
    groups: dict[str | None, list[Tool]] = {}
    for tool in service.tools:
        groups.setdefault(tool.group, []).append(tool)
    for index in range(max(map(len, groups.values()), default=0)):
        yield from (tools[index] for tools in islice(groups.values(), 1_000) if index < len(tools))


def _sentence(text: str) -> str:
    text = one_line(text).strip()
    return text[:1].upper() + text[1:]
