"""Workflows as recipes: each step with its tool, values, conditions and results; runtime expressions are quoted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from skillgen.model.schema import Parameter
from skillgen.model.tool import Tool
from skillgen.model.values import Json
from skillgen.model.workflow import StepAction, StepCriterion, StepValue, Workflow, WorkflowStep
from skillgen.render.pages import TOOL, Page, addresses, link_resolver, tool_link
from skillgen.render.phrases import phrase, phrases
from skillgen.render.semantics import marks
from skillgen.text.markdown import Markdown, code, code_list, inline, one_line, value, with_stop
from skillgen.text.summary import clip

_TITLE_LENGTH = 80
"""Characters of a summary that is the heading; of a longer one, the name is."""

_SUMMARY_LENGTH = 120
"""Characters of such a summary on the line of a workflow."""

_LINE_TOOLS = 12
"""Tools of a workflow that its line in SKILL.md names."""

LINES_LIMIT = 20
"""Workflows that have a line of their own; a last line says how many more there are."""

_SECTION_PREFIX = "workflow "

_SELECTOR = {"context", "selector", "type"}
"""The keys of an object that selects a value (Arazzo 1.1, "Selector Object")."""


class RecipeStep(Struct, frozen=True):
    """The words on a step."""

    line: Markdown
    """Its name, what it calls, and what it does."""

    details: tuple[Markdown, ...]
    """What is sent, when it succeeded, what follows, and what to keep."""


class Recipe(Struct, frozen=True):
    """The words on a workflow."""

    lead: Markdown
    """Its effect, its name, and the workflows that precede it."""

    summary: Markdown
    """Its summary, if that is too long for a heading."""

    inputs: tuple[Parameter, ...]
    """What must be known."""

    steps: tuple[RecipeStep, ...]
    """The steps."""

    results: tuple[Markdown, ...]
    """What comes out of it."""


def workflow_title(workflow: Workflow) -> str:
    """Returns the heading of a workflow: its summary if that is short, else its name."""
    title = one_line(workflow.title or "").rstrip(".")
    return title if 0 < len(title) <= _TITLE_LENGTH else clip(one_line(workflow.name), _TITLE_LENGTH)


def _long_summary(workflow: Workflow) -> str:
    """Returns the summary if it is not the heading."""
    return workflow.title if workflow.title and len(one_line(workflow.title).rstrip(".")) > _TITLE_LENGTH else ""


def workflow_section_name(workflow: Workflow) -> str:
    """Returns the name of its section, which no tool and no other section has."""
    return f"{_SECTION_PREFIX}{workflow.name}"


def recipe_of(workflow: Workflow, workflows: Sequence[Workflow], called: Sequence[Tool]) -> Recipe:
    """Returns the words on a workflow, which calls some tools and may start other workflows."""
    tools = {tool.name: tool for tool in called}
    found, has_unknown = workflow_effect(workflow, workflows, called)
    lead = [phrase("workflow_lead", marks=_marks_text(found), name=code(workflow.name))]
    if workflow.after:
        lead.append(phrase("workflow_after", len(workflow.after), names=code_list(workflow.after)))
    if has_unknown:
        lead.append(phrase("workflow_unknown"))
    lead.append(phrase("workflow_order"))
    return Recipe(
        Markdown(" ".join(lead).strip()),
        inline(summary) if (summary := _long_summary(workflow)) not in (workflow.description or "") else Markdown(""),
        workflow.inputs.properties if workflow.inputs is not None else (),
        tuple(_step(step, tools) for step in workflow.steps),
        tuple(_kept(workflow.outputs, "workflow_result")),
    )


def _line(workflow: Workflow, found: Sequence[str], address: str | None) -> Markdown:
    """Returns a workflow on one line: its goal, its effect, and its steps in order."""
    title = inline(workflow_title(workflow))
    label = Markdown(f"[{title}]({address})") if address is not None else title
    names = [step.tool or step.workflow or step.other or step.name for step in workflow.steps]
    shown = code_list(names[:_LINE_TOOLS], phrase("workflow_then"))
    more = phrase("workflow_more", number=len(names) - _LINE_TOOLS) if len(names) > _LINE_TOOLS else ""
    facts = f" {_marks_text(found)}" if found else ""
    if summary := inline(clip(one_line(_long_summary(workflow)), _SUMMARY_LENGTH)):
        facts = f"{facts}: {with_stop(summary)} {phrase('workflow_steps')}"
    return Markdown(f"{label}{facts}: {shown}{more}")


def workflow_lines(
    workflows: Sequence[Workflow], called: Sequence[Tool], pages: Sequence[Page], place: Callable[[str], str]
) -> tuple[Markdown, ...]:
    """Returns a line for each workflow, with a link to its section; `place` returns the target of an address."""
    places = addresses(pages)
    shown = workflows if len(workflows) == LINES_LIMIT + 1 else workflows[:LINES_LIMIT]
    lines = []
    for item in shown:
        address = places.get(workflow_section_name(item))
        found, _ = workflow_effect(item, workflows, called)
        lines.append(_line(item, found, None if address is None else place(address)))
    if left := len(workflows) - len(shown):
        words = phrase("workflows_more", left, number=left)
        lines.append(Markdown(f"[{words}]({place(pages[0].file_name)})") if pages else words)
    return tuple(lines)


def recipes_text(pages: Sequence[Page], tools: Mapping[str, str]) -> Markdown:
    """Returns all workflows, with headings of the third level. `tools` has the target of the links to each tool."""
    texts = [section.text for page in pages for section in page.sections if section.name.startswith(_SECTION_PREFIX)]
    resolve = link_resolver({TOOL + name: address for name, address in tools.items()})
    return Markdown("\n\n".join(f"#{resolve(text)}" for text in texts))


# -- effects ----------------------------------------------------------------------------------------------------------

_EFFECTS = ("read", "write", "sends", "destructive")


def workflow_effect(
    workflow: Workflow, every: Sequence[Workflow], called: Sequence[Tool]
) -> tuple[tuple[str, ...], bool]:
    """Returns the marks of the worst steps, also of the workflows that it may start, and whether others are unknown.

    An effect that might be understated is not a mark: a workflow with an unknown step does not only read.
    """
    tools = {tool.name: tool for tool in called}
    workflows = {item.name: item for item in every}
    seen, waiting = {workflow.name}, [workflow]
    found: set[str] = set()
    is_unknown = False
    while waiting:
        current = waiting.pop()
        for step in current.steps:
            tool = tools.get(step.tool or "")
            own = set(marks(tool)) if tool is not None else set()
            is_unknown |= step.workflow is None and own.isdisjoint(_EFFECTS)
            found |= own
            for name in (*step.workflows, *current.after):
                if name in workflows and name not in seen:
                    seen.add(name)
                    waiting.append(workflows[name])
    worst = next((name for name in reversed(_EFFECTS) if name in found), None)
    effect = [worst] if worst is not None and not (is_unknown and worst == "read") else []
    return (*(["ask first"] if "ask first" in found else []), *effect), is_unknown


def _marks_text(marks: Iterable[str]) -> Markdown:
    return Markdown(" ".join(f"[{mark}]" for mark in marks))


# -- steps ------------------------------------------------------------------------------------------------------------


def _step(step: WorkflowStep, tools: Mapping[str, Tool]) -> RecipeStep:
    tool = tools.get(step.tool or "")
    if tool is not None:
        shown = "".join(f" [{mark}]" for mark in marks(tool))
        called = phrase("step_calls", tool=f"{tool_link(tool.name)}{shown}")
    elif step.workflow is not None:
        called = phrase("step_makes", workflow=code(step.workflow))
    else:
        called = phrase("step_other", name=code(step.other or ""))
    line = phrase("step_line", name=code(step.name), called=called)
    if description := inline(step.description or ""):
        line = Markdown(f"{line} {description}")
    return RecipeStep(line, tuple(_details(step)))


def _details(step: WorkflowStep) -> Iterator[Markdown]:
    if step.after:
        yield phrase("step_after", len(step.after), names=code_list(step.after))
    yield from map(_sent, step.values)
    yield from _body(step)
    if step.criteria:
        yield phrase("step_succeeds", conditions=_all(step.criteria))
    yield from (_action(action, "step_then") for action in step.on_success)
    yield from (_action(action, "step_if_failed") for action in step.on_failure)
    yield from _kept(step.outputs)


def _sent(item: StepValue) -> Markdown:
    place = phrases("step_places").get(item.location or "", "")
    return phrase("step_value", place=f"{place} " if place else "", name=code(item.name), value=value(item.value))


def _body(step: WorkflowStep) -> Iterator[Markdown]:
    kind = code(step.media_type) if step.media_type and step.media_type != "application/json" else ""
    words = phrase("step_body_as", type=kind) if kind else phrase("step_body")
    data = step.body.json if step.body is not None else None
    if isinstance(data, dict) and data and data.keys() != _SELECTOR:
        for name, item in data.items():
            yield phrase("step_value", place=f"{words} ", name=code(name), value=value(item))
    elif step.body is not None:
        yield phrase("step_whole_body", place=words, value=value(data))
    for item in step.replacements:
        yield phrase("step_value", place=f"{phrase('step_body_at')} ", name=code(item.name), value=value(item.value))


def _kept(outputs: Mapping[str, Json] | None, words: str = "step_keeps") -> Iterator[Markdown]:
    for name, item in (outputs or {}).items():
        yield phrase(words, name=code(name), value=value(item))


def _action(action: StepAction, name: str) -> Markdown:
    kinds = phrases("step_actions")
    target = code(action.step or action.workflow or "")
    kind: str = action.kind
    if action.kind == "goto":
        kind = "goto_step" if action.step else "goto_workflow"
    if action.kind == "end" and name == "step_if_failed":
        kind = "end_failed"
    if action.kind == "retry" and (action.step or action.workflow):
        kind = "retry_after_step" if action.step else "retry_after_workflow"
    words = Markdown(kinds[kind].format(target=target))
    if action.kind == "retry":
        words = phrase("step_retry", action=words, number=action.retry_limit if action.retry_limit is not None else 1)
        if action.retry_after_s:
            words = phrase("step_wait", action=words, seconds=f"{action.retry_after_s:g}")
    if action.inputs:
        sent = ", ".join(f"{code(item.name)} = {value(item.value)}" for item in action.inputs)
        words = phrase("step_with", action=words, values=sent)
    if action.criteria:
        return phrase(f"{name}_if", conditions=_all(action.criteria), action=words)
    return phrase(name, action=words)


def _all(criteria: Sequence[StepCriterion]) -> Markdown:
    return Markdown(phrase("and_between").join(map(_criterion, criteria)))


def _criterion(item: StepCriterion) -> Markdown:
    condition = code(item.condition)
    if item.kind == "simple":
        return condition
    return phrase("step_criterion", kind=inline(item.kind), condition=condition, context=code(item.context or ""))
