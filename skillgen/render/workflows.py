"""Workflows: a section and a line for each, with the effect of its worst step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.workflow import Workflow
from skillgen.render.environment import Templates
from skillgen.render.pages import TOOL, Page, Section, addresses, link_resolver, section_of
from skillgen.render.phrases import phrase
from skillgen.render.semantics import marks
from skillgen.text.markdown import Markdown, code_list, inline, one_line
from skillgen.text.summary import clip

_TITLE_LENGTH = 80
"""Characters of a summary that is the heading; of a longer one, the name is."""

_SUMMARY_LENGTH = 120
"""Characters of a longer summary on the line of a workflow."""

_LINE_TOOLS = 12
"""Tools of a workflow that its line in SKILL.md names."""

LINES_LIMIT = 20
"""Workflows that have a line of their own; a last line says how many more there are."""

_SECTION_PREFIX = "workflow "
"""How the name of its section begins, which no tool and no other section has."""


def _title_and_summary(workflow: Workflow) -> tuple[str, str]:
    """Returns the heading of a workflow, its summary if that is short, else its name; and a longer summary."""
    summary = one_line(workflow.title or "")
    if 0 < len(summary.rstrip(".")) <= _TITLE_LENGTH:
        return summary.rstrip("."), ""
    return clip(one_line(workflow.name), _TITLE_LENGTH), summary


def workflow_section(workflow: Workflow, service: Service, templates: Templates) -> Section:
    """Returns the section of a workflow, which calls tools of the service and may start its other workflows."""
    heading, summary = _title_and_summary(workflow)
    effect, is_unknown = workflow_effect(workflow, service.workflows, service.tools)
    text = templates.render(
        "about/workflow.md.j2",
        workflow=workflow,
        tools={tool.name: tool for tool in service.tools},
        effect=effect,
        is_unknown=is_unknown,
        summary=summary if summary not in one_line(workflow.description or "") else "",
    )
    return section_of(heading, text, f"{_SECTION_PREFIX}{workflow.name}")


def workflow_lines(
    workflows: Sequence[Workflow], called: Sequence[Tool], pages: Sequence[Page], place: Callable[[str], str]
) -> tuple[Markdown, ...]:
    """Returns a line for each workflow, with a link to its section; `place` returns the target of an address."""
    places = addresses(pages)
    lines = []
    for workflow in workflows[:LINES_LIMIT]:
        heading, summary = _title_and_summary(workflow)
        address = places.get(f"{_SECTION_PREFIX}{workflow.name}")
        label = inline(heading) if address is None else f"[{inline(heading)}]({place(address)})"
        effect, _ = workflow_effect(workflow, workflows, called)
        words = [effect, *([f"— {inline(clip(summary, _SUMMARY_LENGTH))}"] if summary else [])]
        names = [step.tool or step.workflow or step.other or step.name for step in workflow.steps]
        shown = code_list(names[:_LINE_TOOLS], ", then ") + ", …" * (len(names) > _LINE_TOOLS)
        lines.append(Markdown(f"{' '.join(filter(None, (label, *words)))}: {shown}"))
    if left := len(workflows) - len(lines):
        more = phrase("more_lines", number=left)
        lines.append(Markdown(f"[{more}]({place(pages[0].file_name)})") if pages else more)
    return tuple(lines)


def recipes_text(pages: Sequence[Page], tools: Mapping[str, str]) -> Markdown:
    """Returns all workflows, with headings of the third level. `tools` has the target of the links to each tool."""
    texts = [section.text for page in pages for section in page.sections if section.name.startswith(_SECTION_PREFIX)]
    resolve = link_resolver({TOOL + name: address for name, address in tools.items()})
    return Markdown("\n\n".join(f"#{resolve(text)}" for text in texts))


_EFFECTS = ("read", "write", "sends", "destructive")


def workflow_effect(workflow: Workflow, every: Sequence[Workflow], called: Sequence[Tool]) -> tuple[Markdown, bool]:
    """Returns the marks of the worst steps, also of the workflows that it may start, and whether others are unknown.

    An effect that might be understated is not a mark: a workflow with an unknown step does not only read.
    """
    tools = {tool.name: tool for tool in called}
    workflows = {item.name: item for item in every}
    seen = {workflow.name: None}
    found: set[str] = set()
    is_unknown = False
    waiting = [workflow]
    for current in waiting:
        for step in current.steps:
            own = set(marks(tools[step.tool])) if step.tool in tools else set[str]()
            is_unknown |= step.workflow is None and own.isdisjoint(_EFFECTS)
            found |= own
        names = [*current.after, *(name for step in current.steps for name in step.workflows)]
        waiting += [workflows[name] for name in dict.fromkeys(names) if name in workflows and name not in seen]
        seen |= dict.fromkeys(names)
    effect = [name for name in _EFFECTS if name in found][-1:]
    worst = ["ask first"] * ("ask first" in found) + effect * (not (is_unknown and effect == ["read"]))
    return Markdown(" ".join(f"[{mark}]" for mark in worst)), is_unknown
