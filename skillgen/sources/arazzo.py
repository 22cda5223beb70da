"""Reads the workflows of Arazzo 1.0 and 1.1 files (`--extra`).

A workflow with a step that cannot be made is left out, with a problem: half a recipe does harm. References to
components are resolved, and the actions and parameters of a workflow are those of each of its steps.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote

from msgspec.structs import replace

from skillgen.errors import Problem, ProblemLog
from skillgen.model.schema import Schema
from skillgen.model.service import Service, StepAction, StepCriterion, StepValue, Workflow, WorkflowStep
from skillgen.model.values import Json, Value, child, follow
from skillgen.sources.documents import parse_text
from skillgen.sources.json_access import as_dict, as_list, json_or_none, strings_in, text_of, texts_of
from skillgen.sources.json_schema.loader import SchemaReader
from skillgen.text import lazy_re as re

_START = re.compile(r"(?m)^[\"']?arazzo[\"']? {0,9}:|\"arazzo\"\s{0,9}:")
_START_LENGTH = 4_096
"""Characters in which the key `arazzo` is looked for; in published files it is the first one."""

_SIZE_LIMIT = 2 * 1024 * 1024
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
_PATH = re.compile(r"\{\$sourceDescriptions\.([A-Za-z0-9_-]+)\.url\}#?(/.+)", re.DOTALL)


def is_arazzo(text: str) -> bool:
    """True if a text is an Arazzo file, by its start."""
    return _START.search(text[:_START_LENGTH]) is not None


def apply_arazzo(service: Service, files: Mapping[str, str], problems: ProblemLog) -> Service:
    """Returns the service with the workflows of Arazzo files, which may start one another; `files` are texts by name.

    Raises:
        SourceError: one is neither JSON nor YAML.
    """
    parsed = list[tuple[str, dict[str, Json]]]()
    for name, text in files.items():
        if len(text) > _SIZE_LIMIT:
            what = f"the file is larger than {_SIZE_LIMIT >> 20} MiB; it is not read"
            problems.report("workflow-invalid", name, what)
        else:
            parsed.append((Path(name).name, as_dict(parse_text(text, name, problems))))
    found = {workflow.name: workflow for workflow in service.workflows}
    ids = {*found, *(text_of(item, "workflowId") for _, data in parsed for item in as_list(data.get("workflows")))}
    for name, data in parsed:
        for workflow in _FileReader(data, service, name, ids, problems).workflows(found):
            found[workflow.name] = workflow
    workflows, left_out = usable_workflows([*found.values()], {tool.name for tool in service.tools})
    problems.add(*left_out)
    return replace(service, workflows=workflows)


class _CannotBeMadeError(Exception):
    """A workflow has a step that cannot be made: the pointer, the message and the code of its problem."""


class _FileReader:
    """Reads one file."""

    def __init__(
        self, data: Mapping[str, Json], service: Service, name: str, ids: Collection[str | None], problems: ProblemLog
    ) -> None:
        """`ids` are those of the workflows of all files, which steps may start."""
        self._data, self._name, self._ids, self._problems = data, name, ids, problems
        self._tools = {key: tool for tool in service.tools for key in (tool.pointer, tool.name)}
        self._by_path = {(tool.path, (tool.method or "").lower()): tool for tool in service.tools if tool.path}
        self._sources: dict[str | None, str] = {}
        """The name of each source description with its type."""
        for item in as_list(data.get("sourceDescriptions")):
            self._sources.setdefault(text_of(item, "name"), text_of(item, "type") or "openapi")

    def _report(self, pointer: str, message: str, code: str = "workflow-invalid") -> None:
        self._problems.report(code, f"{self._name}#{pointer}", message)

    def workflows(self, known: Collection[str]) -> Iterator[Workflow]:
        """Yields the workflows without those `known`, to which each is added before the next."""
        version, raw = str(self._data.get("arazzo", "")), as_list(self._data.get("workflows"))
        if not version.startswith("1."):
            self._report("/arazzo", f"the version is {version[:20]!r}; Arazzo 1.0 and 1.1 are read")
            return
        if not 0 < len(raw) <= _WORKFLOWS_LIMIT:
            self._report("/workflows", f"there are {len(raw):,} workflows; the first {_WORKFLOWS_LIMIT} are read")
        for index, item in enumerate(raw[:_WORKFLOWS_LIMIT]):
            pointer, name = f"/workflows/{index}", text_of(item, "workflowId")
            if name is None or name in known:
                message = f"a workflow has no workflowId, or that of another one ({name}); it is left out"
                self._report(f"{pointer}/workflowId", message)
                continue
            try:
                yield self._workflow(as_dict(item), name, pointer)
            except _CannotBeMadeError as error:
                self._report(*error.args)

    def _workflow(self, raw: dict[str, Json], name: str, pointer: str) -> Workflow:
        """Returns a workflow.

        Raises:
            _CannotBeMadeError: one of its steps cannot be made.
        """
        raw_steps, place = [as_dict(item) for item in as_list(raw.get("steps"))], f"{pointer}/steps"
        names = [text_of(item, "stepId") for item in raw_steps]
        if not 0 < len(names) <= _STEPS_LIMIT or None in names or len(set(names)) < len(names):
            what = f"no steps, more than {_STEPS_LIMIT}, or steps without a stepId of their own"
            raise _CannotBeMadeError(place, f"the workflow {name!r} has {what}; it is left out")
        self._steps = [str(name) for name in names]
        self._shared = self._values(raw, pointer)
        self._on_success = self._actions(raw, "successActions", pointer)
        self._on_failure = self._actions(raw, "failureActions", pointer)
        steps = tuple(self._step(item, f"{place}/{index}") for index, item in enumerate(raw_steps))
        if not any(step.tool is not None or step.workflow is not None for step in steps):
            message = f"the workflow {name!r} has no step that calls the service"
            raise _CannotBeMadeError(place, message, "workflow-left-out")
        after = [text.rpartition(".")[2] for text in texts_of(raw, "dependsOn")[:_PARTS_LIMIT]]
        return Workflow(
            name=name,
            title=text_of(raw, "summary"),
            description=text_of(raw, "description"),
            inputs=self._inputs(raw.get("inputs"), f"{pointer}/inputs"),
            steps=steps,
            outputs=_expressions(raw.get("outputs")),
            after=self._existing(after, {*self._ids} - {name}, pointer),
            pointer=f"{self._name}#{pointer}",
        )

    def _existing(self, names: Iterable[str], known: Collection[str | None], pointer: str) -> tuple[str, ...]:
        """Returns the steps or workflows of `dependsOn` that there are."""
        kept = tuple(name for name in names if name.startswith("$") or name in known)
        if unknown := [name for name in names if name not in kept]:
            self._report(f"{pointer}/dependsOn", f"there is no {unknown[0][:120]!r} to wait for; it is left out")
        return kept

    # -- steps -------------------------------------------------------------------------------------------------------

    def _step(self, raw: dict[str, Json], pointer: str) -> WorkflowStep:
        target, values = self._target(raw, pointer), self._values(raw, pointer)
        own = {(item.name, item.location) for item in values}
        if "workflow" not in target:
            values = (*(item for item in self._shared if (item.name, item.location) not in own), *values)
        body = as_dict(raw.get("requestBody"))
        replaced = as_list(body.get("replacements"))[:_PARTS_LIMIT]
        # A payload may be a JSON text with expressions in it.
        payload = json_or_none(body["payload"]) if isinstance(body.get("payload"), str) else body.get("payload")
        return WorkflowStep(
            name=str(raw["stepId"]),
            description=text_of(raw, "description"),
            **target,
            values=values,
            body=Value(payload if isinstance(payload, (dict, list)) else body["payload"])
            if "payload" in body
            else None,
            media_type=text_of(body, "contentType"),
            replacements=tuple(
                StepValue(name=text_of(item, "target") or "", value=as_dict(item).get("value")) for item in replaced
            ),
            criteria=self._criteria(raw, "successCriteria", pointer),
            on_success=_with_shared(self._actions(raw, "onSuccess", pointer), self._on_success),
            on_failure=_with_shared(self._actions(raw, "onFailure", pointer), self._on_failure),
            outputs=_expressions(raw.get("outputs")),
            after=self._existing(texts_of(raw, "dependsOn")[:_PARTS_LIMIT], self._steps, pointer),
            pointer=f"{self._name}#{pointer}",
        )

    def _target(self, step: Mapping[str, Json], pointer: str) -> dict[str, str]:
        """Returns what a step calls, as the field of `WorkflowStep` for it.

        Raises:
            _CannotBeMadeError: it names nothing, or nothing that exists.
        """
        keys = [key for key in _TARGETS if text_of(step, key) is not None]
        if len(keys) != 1:
            message = f"a step must have one of {', '.join(_TARGETS)}, and has {' and '.join(keys) or 'none'}"
            raise _CannotBeMadeError(pointer, message)
        key, text, pointer = keys[0], str(step[keys[0]]), child(pointer, keys[0])
        source, name = self._named(text)
        if source and source not in self._sources and key != "channelPath":
            raise _CannotBeMadeError(pointer, f"{source!r} is not a source description")
        kind, other = self._sources.get(source, "openapi"), f"{name} ({source})" if source else name
        if key == "workflowId" and name.removeprefix("workflows.") in self._ids:
            return {"workflow": name.removeprefix("workflows.")}
        if key.startswith("operation") and kind == "openapi" and (tool := self._tool(name)) is not None:
            return {"tool": tool}
        if key == "channelPath" or kind == "asyncapi" or set(self._sources.values()) == {"asyncapi"}:
            shown = " ".join(filter(None, (text_of(step, "action"), other)))
            self._report(pointer, f"the step sends or receives a message, {shown[:120]!r}", "workflow-step-not-http")
            return {"other": shown}
        if (kind == "arazzo") if key == "workflowId" else len(self._sources) > 1 and source not in self._own_sources:
            return {"other": other}
        message = f"the service has no operation or workflow {name[:120]!r}, so the workflow is left out"
        raise _CannotBeMadeError(pointer, message, "workflow-operation-unknown")

    def _named(self, text: str) -> tuple[str, str]:
        """Returns the source description that a target names, empty for none, and the name or path in it."""
        if (match := _OTHER.fullmatch(text) or _PATH.fullmatch(text)) is not None:
            return match[1], match[2]
        if text not in self._tools and text.partition(".")[0] in self._sources:
            return text.partition(".")[0], text.partition(".")[2]  # as in Redocly's examples
        return "", text.rpartition("#")[2] or text

    def _tool(self, name: str) -> str | None:
        """Returns the tool with a name, or at the pointer of an operation."""
        tokens = name.split("/")
        is_path = len(tokens) == 4 and tokens[1] == "paths"
        path = (unquote(tokens[2]).replace("~1", "/").replace("~0", "~"), tokens[3]) if is_path else ("", "")
        tool = self._tools.get(name) or self._by_path.get(path)
        return tool.name if tool is not None else None

    @cached_property
    def _own_sources(self) -> set[str]:
        """The source descriptions with an operation that is a tool of the service."""
        targets = map(self._named, strings_in(self._data.get("workflows")))
        return {"", *(source for source, name in targets if source and self._tool(name) is not None)}

    # -- parts of steps ----------------------------------------------------------------------------------------------

    def _parts(
        self, raw: Mapping[str, Json], key: str, pointer: str, component: str = ""
    ) -> Iterator[tuple[str, dict[str, Json]]]:
        """Yields the objects of a list with their pointers; a component with the fields that replace its own."""
        for index, item in enumerate(map(as_dict, as_list(raw.get(key))[:_PARTS_LIMIT])):
            place = child(pointer, key, index)
            if component and (reference := text_of(item, "reference")) is not None:
                name = reference.removeprefix(f"$components.{component}.")
                found = as_dict(as_dict(self._data.get("components")).get(component)).get(name)
                if not isinstance(found, dict) or name == reference:
                    self._report(f"{place}/reference", f"{reference[:120]!r} names no component")
                    continue
                item = {**found, **{key: value for key, value in item.items() if key != "reference"}}
            yield place, item

    def _values(self, raw: Mapping[str, Json], pointer: str) -> tuple[StepValue, ...]:
        found: dict[tuple[str, str | None], StepValue] = {}
        for place, item in self._parts(raw, "parameters", pointer, "parameters"):
            name, location = text_of(item, "name"), text_of(item, "in")
            if name is None or "value" not in item or location not in (None, *_LOCATIONS) or (name, location) in found:
                what = "a parameter has no name, no value, an unknown place, or occurs twice"
                self._report(place, f"{what}; it is left out")
            else:
                found[name, location] = StepValue(name=name, location=location, value=item["value"])
        return tuple(found.values())

    def _criteria(self, raw: Mapping[str, Json], key: str, pointer: str) -> tuple[StepCriterion, ...]:
        found = []
        for place, item in self._parts(raw, key, pointer):
            condition, context, kind = text_of(item, "condition"), text_of(item, "context"), item.get("type", "simple")
            kind = text_of(kind, "type") if isinstance(kind, dict) else kind
            if condition is None or kind not in _KINDS or (kind != "simple" and context is None):
                self._report(place, "a criterion has no condition, an unknown type, or a type without a context")
            if condition is not None:
                known = kind if kind in _KINDS else "simple"
                found.append(StepCriterion(condition=condition, kind=known, context=context))
        return tuple(found)

    def _actions(self, raw: Mapping[str, Json], key: str, pointer: str) -> tuple[StepAction, ...]:
        found = []
        component = "failureActions" if "ailure" in key else "successActions"
        for place, item in self._parts(raw, key, pointer, component):
            kind, step, workflow = text_of(item, "type"), text_of(item, "stepId"), text_of(item, "workflowId")
            workflow = self._named(workflow)[1].removeprefix("workflows.") if workflow is not None else None
            is_known = kind in ("end", "goto") or (kind == "retry" and component == "failureActions")
            has_target = kind != "goto" or (step is None) != (workflow is None)
            exists = (step is None or step in self._steps) and (workflow is None or workflow in self._ids)
            if not is_known or not has_target or not exists:
                goal = step or workflow or "nothing"
                what = f"`{kind}` is not an action here, or goes to {goal}, which does not exist"
                self._report(place, f"{what[:300]}; it is left out")
                continue
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
            self._report(child(pointer, key), f"{key} is not a number from 0 to {_NUMBER_LIMIT}; it is left out")
        return None

    # -- inputs ------------------------------------------------------------------------------------------------------

    def _inputs(self, raw: Json, pointer: str) -> Schema | None:
        """Returns the inputs of a workflow, with the types that they refer to in their places."""
        reference = text_of(raw, "reference") or (raw if isinstance(raw, str) else None)
        if reference is not None and reference.startswith("$components.inputs."):
            raw = {"$ref": f"#/components/inputs/{reference.removeprefix('$components.inputs.')}"}
        if not isinstance(raw, dict) or not raw:
            return None
        inlined, where = self._inlined(raw, pointer, 0, [_VALUES_LIMIT]), f"{self._name}#{pointer}"
        return SchemaReader(ProblemLog()).open_document(inlined, where).schema(inlined, where)

    def _inlined(self, raw: Json, pointer: str, depth: int, left: list[int]) -> Json:
        if isinstance(raw, str):
            left[0] -= len(raw) // _CHARACTERS_OF_VALUE
        if not isinstance(raw, (dict, list)):
            return raw
        if depth > _DEPTH_LIMIT:
            return {}
        reference = text_of(raw, "$ref")
        target = self._referred(reference, pointer) if reference is not None else {}
        size = 1 + len(raw) + len(target)  # before anything is copied
        if size > left[0]:
            self._report(pointer, f"the inputs have more than {_VALUES_LIMIT:,} values; what is too much is left out")
            return {}
        left[0] -= size
        if isinstance(raw, list):
            return [self._inlined(item, pointer, depth + 1, left) for item in raw]
        if reference is not None:
            rest = {key: item for key, item in raw.items() if key != "$ref"}
            return self._inlined({**target, **rest}, pointer, depth + 1, left)
        return {key: self._inlined(item, pointer, depth + 1, left) for key, item in raw.items()}

    def _referred(self, reference: str, pointer: str) -> dict[str, Json]:
        target = follow(self._data, reference[1:]) if reference.startswith("#/") else {}
        if target is None:
            self._report(pointer, f"{reference[:120]!r} points to nothing")
        return as_dict(target)


def usable_workflows(
    workflows: Sequence[Workflow], tools: Collection[str]
) -> tuple[tuple[Workflow, ...], list[Problem]]:
    """Returns the workflows whose tools and workflows are among those given, and a problem for each other."""
    kept, problems = list(workflows), list[Problem]()
    while True:
        names = {workflow.name for workflow in kept}
        usable = []
        for workflow in kept:
            needed = [*workflow.after, *(name for step in workflow.steps for name in step.workflows)]
            missing = [name for name in needed if name not in names]
            missing += [step.tool for step in workflow.steps if step.tool is not None and step.tool not in tools]
            if missing:
                message = f"the workflow {workflow.name!r} needs {missing[0]!r}, which is not documented"
                problems.append(Problem.of("workflow-left-out", workflow.pointer, message))
            else:
                usable.append(workflow)
        if len(usable) == len(kept):
            return tuple(kept), problems
        kept = usable


def _with_shared(own: tuple[StepAction, ...], shared: tuple[StepAction, ...]) -> tuple[StepAction, ...]:
    """Returns the actions of a step, and those of its workflow that they do not replace."""
    names = {item.name for item in own}
    return (*own, *(item for item in shared if item.name not in names))


def _expressions(raw: Json) -> dict[str, Json] | None:
    return dict(list(as_dict(raw).items())[:_PARTS_LIMIT]) or None
