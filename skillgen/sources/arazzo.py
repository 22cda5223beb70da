"""Reads the workflows of Arazzo 1.0 and 1.1 files: of `--extra`, and of the folder of a description that they name.

A workflow with a step that cannot be made is left out, with a problem: half a recipe does harm. References to
components are resolved, and the actions and parameters of a workflow are those of each of its steps.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote, urlsplit

from msgspec.structs import replace

from skillgen.errors import Problem, ProblemLog, SourceError
from skillgen.model.schema import Schema
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.values import Json, Value, child, follow
from skillgen.model.workflow import StepAction, StepCriterion, StepValue, Workflow, WorkflowStep
from skillgen.sources.documents import is_url, load_text, parse_text
from skillgen.sources.http import FetchOptions
from skillgen.sources.json_access import as_dict, as_list, text_of
from skillgen.sources.json_schema.loader import SchemaReader

_START = re.compile(r"(?m)^[\"']?arazzo[\"']? {0,9}:|\"arazzo\"\s{0,9}:")
_START_LENGTH = 4_096
"""Characters in which the key `arazzo` is looked for; in published files it is the first one."""

_SIZE_LIMIT = 2 * 1024 * 1024
_FILES_LIMIT = 1_000
_WORKFLOWS_LIMIT = 100
_STEPS_LIMIT = 50
_PARTS_LIMIT = 30
"""Parameters, criteria, actions or outputs of one step that are read."""

_DEPTH_LIMIT = 20
_VALUES_LIMIT = 10_000
"""Values in the inputs of one workflow that are read; one that several references name counts each time."""

_CHARACTERS_OF_VALUE = 64
"""Characters of a text that count as one more value."""

_NUMBER_LIMIT = 2**53

_KINDS = ("simple", "regex", "jsonpath", "xpath")
_LOCATIONS = ("path", "query", "querystring", "header", "cookie")
_TARGETS = ("operationId", "operationPath", "workflowId", "channelPath")
_OTHER = re.compile(r"\$sourceDescriptions\.([A-Za-z0-9_-]+)\.(.+)", re.DOTALL)
_PATH = re.compile(r"\{\$sourceDescriptions\.([A-Za-z0-9_-]+)\.url\}#?(/paths/[^/]+/[a-z]+)\Z")
_CHANNEL = re.compile(r"\{\$sourceDescriptions\.([A-Za-z0-9_-]+)\.url\}#?(/.+)")
_STEP_OUTPUT = re.compile(r"\$steps\.([A-Za-z0-9_-]+)\.(?:outputs\.)?([A-Za-z0-9_-]+)")
_INPUT = re.compile(r"\$inputs\.([A-Za-z0-9_-]+)")


def is_arazzo(text: str) -> bool:
    """True if a text is an Arazzo file, by its start."""
    return _START.search(text[:_START_LENGTH]) is not None


def apply_arazzo(service: Service, name: str, text: str) -> Service:
    """Returns the service with the workflows of an Arazzo file; `name` is that of the file, for messages.

    Raises:
        SourceError: it is neither JSON nor YAML.
    """
    problems = ProblemLog()
    if len(text) > _SIZE_LIMIT:
        problems.report("workflow-invalid", name, f"the file is larger than {_SIZE_LIMIT >> 20} MiB; it is not read")
        return replace(service, problems=(*service.problems, *problems))
    data = parse_text(text, name, problems)
    reader = _FileReader(as_dict(data), service, Path(name).name, problems)
    workflows = tuple(reader.workflows())
    return replace(service, workflows=(*service.workflows, *workflows), problems=(*service.problems, *problems))


def apply_neighbours(service: Service, description: Path, others: Sequence[str]) -> Service:
    """Returns the service with the workflows of the Arazzo files in the description's folder that name it, without the
    files in `others`.
    """
    known = {os.path.realpath(item) for item in others}
    for path in neighbours(description):
        if os.path.realpath(path) in known:
            continue
        try:
            name, text, _ = load_text(str(path), FetchOptions())
            data = as_dict(parse_text(text, name, ProblemLog())) if is_arazzo(text) else {}
        except SourceError as error:
            problem = Problem.of("workflow-invalid", path.name, f"the file {error.what}; it is not read", error.fix)
            service = replace(service, problems=(*service.problems, problem))
            continue
        match _names(data, path, description):
            case "path":
                service = apply_arazzo(service, name, text)
            case "file name":  # elsewhere, but perhaps a copy of it is here
                found = apply_arazzo(service, name, text)
                service = found if len(found.workflows) > len(service.workflows) else service
    return service


def neighbours(description: Path) -> Iterator[Path]:
    """Yields the Arazzo files in the folder of a description."""
    try:
        paths = sorted(description.parent.iterdir())[:_FILES_LIMIT]
    except OSError:
        return
    for path in paths:
        if path.suffix.lower() not in (".yaml", ".yml", ".json") or path.name == description.name:
            continue
        try:
            if not path.is_file():  # a pipe would block
                continue
            with path.open(encoding="utf-8", errors="replace") as file:
                start = file.read(_START_LENGTH)
            if is_arazzo(start) and path.stat().st_size <= _SIZE_LIMIT:
                yield path
        except OSError:
            continue


def _names(data: Mapping[str, Json], path: Path, description: Path) -> Literal["", "path", "file name"]:
    """Returns how the source descriptions of a file name a description: by its path, by its file name elsewhere."""
    base = text_of(data, "$self") or ""
    for item in as_list(data.get("sourceDescriptions")):
        url = text_of(item, "url") or ""
        if text_of(item, "type") not in (None, "openapi") or not url:
            continue
        try:
            parts = urlsplit(url)
            target = (path.parent / unquote(parts.path)).resolve()
        except (ValueError, OSError, RuntimeError):  # no URL, a null character, or links in a circle
            continue
        if not parts.scheme and not parts.netloc and target == description.resolve():
            return "path"
        if (is_url(url) or is_url(base)) and Path(unquote(parts.path)).name == description.name:
            return "file name"
    return ""


class _CannotBeMadeError(Exception):
    """A workflow has a step that cannot be made; the problem is reported."""


class _FileReader:
    """Reads one file."""

    def __init__(self, data: Mapping[str, Json], service: Service, name: str, problems: ProblemLog) -> None:
        self._data, self._service, self._name, self._problems = data, service, name, problems
        self._tools = {tool.name: tool for tool in service.tools}
        self._by_path = {(tool.path, (tool.method or "").lower()): tool for tool in service.tools if tool.path}
        self._sources = self._read_sources()
        self._ids = {text_of(item, "workflowId") for item in as_list(data.get("workflows"))}

    def report(self, pointer: str, message: str, code: str = "workflow-invalid") -> None:
        """Reports a problem at a pointer of the file."""
        self._problems.report(code, f"{self._name}#{pointer}", message)

    def _read_sources(self) -> dict[str, str]:
        """Returns the name of each source description with its type."""
        sources: dict[str, str] = {}
        for index, item in enumerate(as_list(self._data.get("sourceDescriptions"))):
            name, pointer = text_of(item, "name"), child("/sourceDescriptions", index)
            if name is None or text_of(item, "url") is None:
                self.report(pointer, "a source description has no name or no url")
            elif name in sources:
                self.report(child(pointer, "name"), f"two source descriptions have the name {name!r}")
            if name is not None:
                sources.setdefault(name, text_of(item, "type") or "openapi")
        return sources

    def workflows(self) -> Iterator[Workflow]:
        """Yields the workflows that can be made with the tools of the service."""
        version = str(self._data.get("arazzo", ""))
        if not version.startswith("1."):
            self.report("/arazzo", f"the version is {version[:20]!r}; Arazzo 1.0 and 1.1 are read")
            return
        for key in ("title", "version"):
            if as_dict(self._data.get("info")).get(key) is None:
                self.report(child("/info", key), f"info has no {key}")
        if not self._sources:
            self.report("/sourceDescriptions", "there is no source description")
        raw = as_list(self._data.get("workflows"))
        if not raw:
            self.report("/workflows", "there is no workflow")
        if len(raw) > _WORKFLOWS_LIMIT:
            self.report("/workflows", f"there are {len(raw):,} workflows; the first {_WORKFLOWS_LIMIT} are read")
        known = {workflow.name for workflow in self._service.workflows}
        found: dict[str, Workflow] = {}
        for index, item in enumerate(raw[:_WORKFLOWS_LIMIT]):
            pointer = child("/workflows", index)
            name = text_of(item, "workflowId")
            if name is None:
                self.report(child(pointer, "workflowId"), "a workflow has no workflowId; it is left out")
            elif name in found or name in known:
                self.report(
                    child(pointer, "workflowId"), f"two workflows have the name {name!r}; the second is left out"
                )
            else:
                try:
                    found[name] = _WorkflowReader(self, as_dict(item), name, pointer).workflow()
                except _CannotBeMadeError:
                    continue
        self._report_circles(found)
        kept, problems = usable_workflows((*self._service.workflows, *found.values()), self._tools.keys())
        for problem in problems:
            self._problems.add(problem)
        yield from (workflow for workflow in kept if workflow.name in found)

    def _report_circles(self, workflows: Mapping[str, Workflow]) -> None:
        """Reports the workflows that always lead back to themselves."""
        needed = {
            name: {*workflow.after, *(step.workflow for step in workflow.steps if step.workflow)}
            for name, workflow in workflows.items()
        }
        for name, workflow in workflows.items():
            seen, waiting = set[str](), list(needed[name])
            while waiting:
                other = waiting.pop()
                if other not in seen:
                    seen.add(other)
                    waiting += needed.get(other, ())
            if name in seen:
                self.report(
                    workflow.pointer.partition("#")[2], f"the workflow {name!r} needs itself to be completed first"
                )

    # -- what steps refer to ------------------------------------------------------------------------------------------

    def component(self, kind: str, raw: Json, pointer: str) -> dict[str, Json] | None:
        """Returns a parameter or an action; that of a component with the fields that replace its own."""
        item = as_dict(raw)
        reference = text_of(item, "reference")
        if reference is None:
            return item
        name = reference.removeprefix(f"$components.{kind}.")
        found = as_dict(as_dict(self._data.get("components")).get(kind)).get(name)
        if not isinstance(found, dict) or name == reference:
            self.report(child(pointer, "reference"), f"{reference[:120]!r} names no component")
            return None
        return {**found, **{key: value for key, value in item.items() if key != "reference"}}

    def schema(self, raw: Json, pointer: str) -> Schema | None:
        """Returns the inputs of a workflow, with the types that they refer to in their places."""
        reference = text_of(raw, "reference") or (raw if isinstance(raw, str) else None)
        if reference is not None and reference.startswith("$components.inputs."):
            raw = {"$ref": f"#/components/inputs/{reference.removeprefix('$components.inputs.')}"}
        if not isinstance(raw, dict) or not raw:
            return None
        inlined = self._inlined(raw, pointer, 0, [_VALUES_LIMIT])
        schemas = SchemaReader(ProblemLog())
        return schemas.open_document(inlined, f"{self._name}#{pointer}").schema(inlined, f"{self._name}#{pointer}")

    def _inlined(self, raw: Json, pointer: str, depth: int, left: list[int]) -> Json:
        if isinstance(raw, str):
            left[0] -= len(raw) // _CHARACTERS_OF_VALUE
        if not isinstance(raw, (dict, list)):
            return raw
        if depth > _DEPTH_LIMIT:
            return {}
        reference = raw.get("$ref") if isinstance(raw, dict) else None
        target = self._referred(reference, pointer) if isinstance(reference, str) else {}
        size = 1 + len(raw) + len(target)  # before anything is copied
        if size > left[0]:
            self.report(pointer, f"the inputs have more than {_VALUES_LIMIT:,} values; what is too much is left out")
            return {}
        left[0] -= size
        if isinstance(raw, list):
            return [self._inlined(item, pointer, depth + 1, left) for item in raw]
        if not isinstance(reference, str):
            return {key: self._inlined(item, pointer, depth + 1, left) for key, item in raw.items()}
        rest = {key: item for key, item in raw.items() if key != "$ref"}
        return self._inlined({**target, **rest}, pointer, depth + 1, left)

    def _referred(self, reference: str, pointer: str) -> dict[str, Json]:
        try:
            return as_dict(follow(self._data, reference.removeprefix("#"))) if reference.startswith("#/") else {}
        except LookupError:
            self.report(pointer, f"{reference[:120]!r} points to nothing")
            return {}

    def is_workflow(self, name: str) -> bool:
        """True if the file, or one that was read before, has a workflow of this name."""
        return name in self._ids or any(workflow.name == name for workflow in self._service.workflows)

    def target(self, step: Mapping[str, Json], pointer: str) -> dict[str, str]:
        """Returns what a step calls, as the field of `WorkflowStep` for it.

        Raises:
            _CannotBeMadeError: it names nothing, or nothing that exists.
        """
        given = [key for key in _TARGETS if text_of(step, key) is not None]
        if len(given) != 1:
            what = " and ".join(given) or f"none of {', '.join(_TARGETS[:3])}"
            raise self._cannot_be_made(pointer, f"a step has {what}, but must have one", "workflow-invalid")
        key, text = given[0], str(step[given[0]])
        pointer = child(pointer, key)
        if key == "workflowId":
            return self._target_workflow(text, pointer)
        if key == "channelPath":
            path = _CHANNEL.fullmatch(text)
            shown = f"{path[2]} ({path[1]})" if path is not None else text
            return self._message(" ".join(filter(None, (text_of(step, "action"), shown))), pointer)
        source, name = "", text
        if key == "operationId" and (match := _OTHER.fullmatch(text)) is not None:
            source, name = match[1], match[2]
        elif key == "operationId" and text not in self._tools and text.partition(".")[0] in self._sources:
            source, _, name = text.partition(".")  # as in Redocly's examples
        if key == "operationPath":
            path = _PATH.match(text)
            source, name = (path[1], path[2]) if path is not None else ("", text.rpartition("#")[2] or text)
        if source and source not in self._sources:
            raise self._cannot_be_made(pointer, f"{source!r} is not a source description", "workflow-invalid")
        tool = self._tool_at(name) if key == "operationPath" else self._tools.get(name)
        if tool is not None and self._sources.get(source, "openapi") == "openapi":
            return {"tool": tool.name}
        if self._sources.get(source) == "asyncapi" or set(self._sources.values()) == {"asyncapi"}:
            return self._message(text, pointer)
        others = [item for item in self._sources if item != source]
        if source and others and source not in self._own_sources:
            return {"other": f"{name} ({source})"}
        message = f"the service has no operation {name[:120]!r}, so the workflow is left out"
        raise self._cannot_be_made(pointer, message, "workflow-operation-unknown")

    @cached_property
    def _own_sources(self) -> set[str]:
        """The source descriptions with an operation that is a tool of the service."""
        found = set[str]()
        for text in _strings(self._data.get("workflows")):
            name, path = _OTHER.fullmatch(text), _PATH.match(text)
            if name is not None and name[2] in self._tools:
                found.add(name[1])
            if path is not None and self._tool_at(path[2]) is not None:
                found.add(path[1])
        return found

    def _target_workflow(self, text: str, pointer: str) -> dict[str, str]:
        match = _OTHER.fullmatch(text)
        name = match[2].removeprefix("workflows.") if match is not None else text
        if self.is_workflow(name):
            return {"workflow": name}
        if match is not None and self._sources.get(match[1]) == "arazzo":
            return {"other": f"{name} ({match[1]})"}
        message = f"there is no workflow {name[:120]!r}, so the workflow is left out"
        raise self._cannot_be_made(pointer, message, "workflow-operation-unknown")

    def _message(self, text: str, pointer: str) -> dict[str, str]:
        self.report(pointer, f"the step sends or receives a message, {text[:120]!r}", "workflow-step-not-http")
        return {"other": text}

    def _tool_at(self, pointer: str) -> Tool | None:
        tokens = pointer.split("/")
        if len(tokens) != 4 or tokens[1] != "paths":
            return None
        path = unquote(tokens[2]).replace("~1", "/").replace("~0", "~")
        return self._by_path.get((path, tokens[3]))

    def _cannot_be_made(self, pointer: str, message: str, code: str) -> _CannotBeMadeError:
        self.report(pointer, message, code)
        return _CannotBeMadeError()

    def tool(self, name: str) -> Tool:
        """Returns a tool of the service."""
        return self._tools[name]

    @property
    def name(self) -> str:
        """The name of the file."""
        return self._name


class _WorkflowReader:
    """Reads one workflow."""

    def __init__(self, file: _FileReader, raw: Mapping[str, Json], name: str, pointer: str) -> None:
        self._file, self._raw, self._name, self._pointer = file, raw, name, pointer

    def workflow(self) -> Workflow:
        """Returns the workflow.

        Raises:
            _CannotBeMadeError: one of its steps cannot be made.
        """
        raw_steps = [as_dict(item) for item in as_list(self._raw.get("steps"))]
        names = [text_of(item, "stepId") for item in raw_steps]
        place = child(self._pointer, "steps")
        if not raw_steps or len(raw_steps) > _STEPS_LIMIT or None in names or len(set(names)) < len(names):
            what = "no steps" if not raw_steps else "steps without a stepId, or two with the same one"
            what = f"more than {_STEPS_LIMIT} steps" if len(raw_steps) > _STEPS_LIMIT else what
            self._file.report(place, f"the workflow {self._name!r} has {what}; it is left out")
            raise _CannotBeMadeError
        self._steps = [str(name) for name in names]
        shared = self._values(self._raw, self._pointer)
        actions = {key: self._actions(self._raw, f"{key}Actions", self._pointer) for key in ("success", "failure")}
        steps = tuple(self._step(item, child(place, index), shared, actions) for index, item in enumerate(raw_steps))
        if not any(step.tool is not None or step.workflow is not None for step in steps):
            message = f"the workflow {self._name!r} has no step that calls the service"
            self._file.report(place, message, "workflow-left-out")
            raise _CannotBeMadeError
        inputs = self._file.schema(self._raw.get("inputs"), child(self._pointer, "inputs"))
        self._check_expressions(raw_steps, steps, inputs)
        after = [text.rpartition(".")[2] for text in self._texts("dependsOn")]
        for name in after:
            if not self._file.is_workflow(name):
                self._file.report(child(self._pointer, "dependsOn"), f"there is no workflow {name[:120]!r}")
        return Workflow(
            name=self._name,
            title=text_of(self._raw, "summary"),
            description=text_of(self._raw, "description"),
            inputs=inputs,
            steps=steps,
            outputs=_expressions(self._raw.get("outputs")),
            after=tuple(name for name in after if self._file.is_workflow(name)),
            pointer=f"{self._file.name}#{self._pointer}",
        )

    def _texts(self, key: str) -> list[str]:
        return [item for item in as_list(self._raw.get(key)) if isinstance(item, str)][:_PARTS_LIMIT]

    def _step(
        self,
        raw: dict[str, Json],
        pointer: str,
        shared: tuple[StepValue, ...],
        actions: Mapping[str, tuple[StepAction, ...]],
    ) -> WorkflowStep:
        target = self._file.target(raw, pointer)
        values = self._values(raw, pointer)
        own = {(item.name, item.location) for item in values}
        if "workflow" not in target:
            values = (*(item for item in shared if (item.name, item.location) not in own), *values)
        if "tool" in target:
            self._check_values(self._file.tool(target["tool"]), values, pointer)
        body = as_dict(raw.get("requestBody"))
        replaced = [as_dict(item) for item in as_list(body.get("replacements"))][:_PARTS_LIMIT]
        return WorkflowStep(
            name=str(raw["stepId"]),
            description=text_of(raw, "description"),
            **target,
            values=values,
            body=Value(_parsed(body["payload"])) if "payload" in body else None,
            media_type=text_of(body, "contentType"),
            replacements=tuple(
                StepValue(name=text_of(item, "target") or "", value=item.get("value")) for item in replaced
            ),
            criteria=self._criteria(raw, "successCriteria", pointer),
            on_success=_with_shared(self._actions(raw, "onSuccess", pointer), actions["success"]),
            on_failure=_with_shared(self._actions(raw, "onFailure", pointer), actions["failure"]),
            outputs=_expressions(raw.get("outputs")),
            after=self._preceding(raw, pointer),
            pointer=f"{self._file.name}#{pointer}",
        )

    def _preceding(self, raw: Mapping[str, Json], pointer: str) -> tuple[str, ...]:
        names = [item for item in as_list(raw.get("dependsOn"))[:_PARTS_LIMIT] if isinstance(item, str)]
        for name in names:
            if not name.startswith("$") and name not in self._steps:
                self._file.report(child(pointer, "dependsOn"), f"there is no step {name[:120]!r}")
        return tuple(name for name in names if name.startswith("$") or name in self._steps)

    def _values(self, raw: Mapping[str, Json], pointer: str) -> tuple[StepValue, ...]:
        found: dict[tuple[str, str | None], StepValue] = {}
        for index, entry in enumerate(as_list(raw.get("parameters"))[:_PARTS_LIMIT]):
            place = child(pointer, "parameters", index)
            item = self._file.component("parameters", entry, place)
            if item is None:
                continue
            name, location = text_of(item, "name"), text_of(item, "in")
            if name is None or "value" not in item or location not in (None, *_LOCATIONS):
                self._file.report(place, "a parameter has no name, no value, or an unknown place; it is left out")
            elif (name, location) in found:
                self._file.report(place, f"the parameter {name!r} occurs twice; the first one is used")
            else:
                found[name, location] = StepValue(name=name, location=location, value=item["value"])
        return tuple(found.values())

    def _check_values(self, tool: Tool, values: Sequence[StepValue], pointer: str) -> None:
        """Reports the parameters of a step that its operation does not have, except credentials."""
        for item in values:
            if item.location in ("path", "query") and not any(
                other.name == item.name and other.location == item.location for other in tool.parameters
            ):
                message = f"{tool.name} has no {item.location} parameter {item.name!r}"
                self._file.report(child(pointer, "parameters"), message)
            elif item.location is None and tool.method is not None:
                self._file.report(child(pointer, "parameters"), f"the parameter {item.name!r} has no `in`")

    def _criteria(self, raw: Mapping[str, Json], key: str, pointer: str) -> tuple[StepCriterion, ...]:
        found = []
        for index, entry in enumerate(as_list(raw.get(key))[:_PARTS_LIMIT]):
            place, item = child(pointer, key, index), as_dict(entry)
            condition, context = text_of(item, "condition"), text_of(item, "context")
            declared = item.get("type", "simple")
            kind = text_of(declared, "type") if isinstance(declared, dict) else declared
            if condition is None or kind not in _KINDS or (kind != "simple" and context is None):
                self._file.report(place, "a criterion has no condition, an unknown type, or a type without a context")
            if condition is not None:
                known = kind if kind in _KINDS else "simple"
                found.append(StepCriterion(condition=condition, kind=known, context=context))
        return tuple(found)

    def _actions(self, raw: Mapping[str, Json], key: str, pointer: str) -> tuple[StepAction, ...]:
        found = []
        component = "failureActions" if "ailure" in key else "successActions"
        for index, entry in enumerate(as_list(raw.get(key))[:_PARTS_LIMIT]):
            place = child(pointer, key, index)
            item = self._file.component(component, entry, place)
            if item is None:
                continue
            kind, step, workflow = text_of(item, "type"), text_of(item, "stepId"), text_of(item, "workflowId")
            if workflow is not None and (match := _OTHER.fullmatch(workflow)) is not None:
                workflow = match[2]
            is_known = kind in ("end", "goto") or (kind == "retry" and component == "failureActions")
            has_target = kind != "goto" or (step is None) != (workflow is None)
            if not is_known or not has_target:
                self._file.report(place, "an action has no known type, or `goto` has no target; it is left out")
            elif (step is not None and step not in self._steps) or (workflow and not self._file.is_workflow(workflow)):
                self._file.report(
                    place, f"an action goes to {step or workflow!r}, which does not exist; it is left out"
                )
            else:
                after, limit = self._number(item, "retryAfter", place), self._number(item, "retryLimit", place)
                found.append(
                    StepAction(
                        kind="retry" if kind == "retry" else "goto" if kind == "goto" else "end",
                        name=text_of(item, "name"),
                        step=step,
                        workflow=workflow,
                        inputs=self._values(item, place),
                        criteria=self._criteria(item, "criteria", place),
                        retry_after_s=float(after) if after is not None else None,
                        retry_limit=limit if isinstance(limit, int) else None,
                    )
                )
        return tuple(found)

    def _number(self, raw: Mapping[str, Json], key: str, pointer: str) -> int | float | None:
        number = raw.get(key)
        if isinstance(number, (int, float)) and not isinstance(number, bool) and 0 <= number <= _NUMBER_LIMIT:
            return number
        if number is not None:
            self._file.report(child(pointer, key), f"{key} is not a number from 0 to {_NUMBER_LIMIT}; it is left out")
        return None

    def _check_expressions(
        self, raw_steps: Sequence[Json], steps: Sequence[WorkflowStep], inputs: Schema | None
    ) -> None:
        """Reports the inputs and the outputs of steps that are used but do not exist, or only later."""
        outputs = {step.name: {name.partition(".")[0] for name in step.outputs or {}} for step in steps}
        known_inputs = {item.name.partition(".")[0] for item in inputs.properties} if inputs is not None else set[str]()
        places: list[tuple[Json, str, int]] = [
            (raw, child(self._pointer, "steps", index), index) for index, raw in enumerate(raw_steps)
        ]
        places.append((self._raw.get("outputs"), child(self._pointer, "outputs"), len(steps)))
        for raw, pointer, index in places:
            used, inputs_used = set[tuple[str, str]](), set[str]()
            for text in _strings(raw):
                used.update(_STEP_OUTPUT.findall(text))
                inputs_used.update(_INPUT.findall(text))
            for step, output in sorted(used):
                if output not in outputs.get(step, ()):
                    self._file.report(pointer, f"there is no output {output!r} of a step {step!r}")
                elif self._steps.index(step) >= index and not as_dict(raw).get("dependsOn"):
                    self._file.report(pointer, f"the output {output!r} is of the step {step!r}, which comes later")
            for name in sorted(inputs_used - known_inputs if known_inputs else ()):
                self._file.report(pointer, f"there is no input {name!r}")


def usable_workflows(workflows: Sequence[Workflow], tools: Any) -> tuple[tuple[Workflow, ...], list[Problem]]:
    """Returns the workflows whose tools and workflows are among those given, and a problem for each other."""
    kept, problems = list(workflows), list[Problem]()
    while True:
        names = {workflow.name for workflow in kept}
        left_out = {
            workflow.name: missing
            for workflow in kept
            if (missing := next(_missing(workflow, names, tools), None)) is not None
        }
        if not left_out:
            return tuple(kept), problems
        for workflow in kept:
            if workflow.name in left_out:
                message = f"the workflow {workflow.name!r} needs {left_out[workflow.name]!r}, which is not documented"
                problems.append(Problem.of("workflow-left-out", workflow.pointer, message))
        kept = [workflow for workflow in kept if workflow.name not in left_out]


def _missing(workflow: Workflow, names: set[str], tools: Any) -> Iterator[str]:
    yield from (name for name in workflow.after if name not in names)
    for step in workflow.steps:
        yield from (name for name in step.workflows if name not in names)
        if step.tool is not None and step.tool not in tools:
            yield step.tool


def _with_shared(own: tuple[StepAction, ...], shared: tuple[StepAction, ...]) -> tuple[StepAction, ...]:
    """Returns the actions of a step, and those of its workflow that they do not replace."""
    names = {item.name for item in own}
    return (*own, *(item for item in shared if item.name not in names))


def _expressions(raw: Json) -> dict[str, Json] | None:
    return dict(list(as_dict(raw).items())[:_PARTS_LIMIT]) or None


def _parsed(payload: Json) -> Json:
    """Returns a payload; a JSON text with expressions in it as its value."""
    if not isinstance(payload, str) or payload.lstrip()[:1] not in ("{", "["):
        return payload
    try:
        return json.loads(payload)
    except (ValueError, RecursionError):
        return payload


def _strings(raw: Json) -> Iterator[str]:
    waiting = [raw]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, (dict, list)):
            waiting += item.values() if isinstance(item, dict) else item
