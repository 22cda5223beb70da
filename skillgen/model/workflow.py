"""Workflows: sequences of calls that reach a goal, in the form of Arazzo 1.0 and 1.1.

Values hold literals, runtime expressions such as `$steps.find.outputs.id`, and strings with expressions in braces.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from skillgen.model.schema import Schema
from skillgen.model.values import Declared, Json, Node


class StepValue(Node, frozen=True, kw_only=True):
    """A value that a step sends."""

    name: str
    """The name of the parameter or the input, or the place in the body."""

    location: str | None = None
    """`path`, `query`, `querystring`, `header` or `cookie`; `None` for an input of a workflow, or a place in the
    body."""

    value: Json
    """A literal, an expression, or a selector: an object of `context`, `selector` and `type`."""


class StepCriterion(Node, frozen=True, kw_only=True):
    """A condition on the answer to a step."""

    condition: str
    """The condition."""

    kind: str = "simple"
    """`simple`, `regex`, `jsonpath` or `xpath`."""

    context: str | None = None
    """The expression to whose value the condition applies."""


class StepAction(Node, frozen=True, kw_only=True):
    """What to do after a step."""

    kind: Literal["end", "goto", "retry"]
    """The kind of action."""

    name: str | None = None
    """The name; an action of a step replaces that of the workflow with the same name."""

    step: str | None = None
    """The name of the step to go to, or to make before a retry."""

    workflow: str | None = None
    """The name of the workflow to go to, or to make before a retry."""

    inputs: tuple[StepValue, ...] = ()
    """The inputs of that workflow."""

    criteria: tuple[StepCriterion, ...] = ()
    """All of these must hold."""

    retry_after_s: int | float | None = None
    """Seconds to wait before a retry."""

    retry_limit: int | None = None
    """The maximum number of retries."""


class WorkflowStep(Node, frozen=True, kw_only=True):
    """A call within a workflow: of a tool, of another workflow, or of something that is not documented here."""

    name: str
    """The name, unique in the workflow."""

    description: str | None = None
    """What it does; Markdown, untrusted."""

    tool: str | None = None
    """The name of the tool."""

    workflow: str | None = None
    """The name of the workflow."""

    other: str | None = None
    """An operation of another API, a channel or a workflow elsewhere, as the source names it."""

    values: tuple[StepValue, ...] = ()
    """Parameters, or inputs of the workflow."""

    body: Declared = None
    """The body of the request."""

    media_type: str | None = None
    """The media type of the body."""

    replacements: tuple[StepValue, ...] = ()
    """Values at places in the body."""

    criteria: tuple[StepCriterion, ...] = ()
    """It succeeded if all of these hold."""

    on_success: tuple[StepAction, ...] = ()
    """What to do then; the first action whose criteria hold. Otherwise the next step follows."""

    on_failure: tuple[StepAction, ...] = ()
    """What to do if it failed; the first action whose criteria hold. Otherwise the workflow ends."""

    outputs: Mapping[str, Json] | None = None
    """Name to expression: what later steps use of the answer."""

    after: tuple[str, ...] = ()
    """Names of other steps that must be completed before."""

    pointer: str
    """JSON pointer to it in the source."""

    @property
    def workflows(self) -> tuple[str, ...]:
        """The names of the workflows that it may start."""
        actions = (item.workflow for item in (*self.on_success, *self.on_failure))
        return tuple(dict.fromkeys(filter(None, (self.workflow, *actions))))


class Workflow(Node, frozen=True, kw_only=True):
    """A sequence of calls."""

    name: str
    """The name, unique in the service."""

    title: str | None = None
    """The goal, in one line."""

    description: str | None = None
    """The complete description; Markdown, untrusted."""

    inputs: Schema | None = None
    """What must be known before the first step."""

    steps: tuple[WorkflowStep, ...]
    """The steps, in order."""

    outputs: Mapping[str, Json] | None = None
    """Name to expression: the result."""

    after: tuple[str, ...] = ()
    """Names of workflows that must be completed before."""

    pointer: str
    """JSON pointer to it in the source."""
