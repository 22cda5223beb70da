"""What SKILL.md says on safety: which tools to ask the user about, and what the source declares of their effects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.render.parameters import label_of
from skillgen.render.phrases import once, phrase
from skillgen.text.markdown import Markdown, inline

NAMED = 12
"""Tools that are named, all of them; of more, their marks are."""

NAMED_CHARACTERS = 800
"""Characters of their names; the source chooses these."""

DECLARED = 10
"""Tools whose declared effects are listed; of more, their number is."""

_MARKS = ("destructive", "sends", None)
"""What to ask the user about; `None` is no mark."""


@once
def cautions(service: Service) -> list[Markdown]:
    """Returns the sentences, a line each."""
    return [*_marked(service), *_declared(service)]


def _marked(service: Service) -> Iterator[Markdown]:
    asked = [
        tool for tool in service.tools if tool.semantics.effect in _MARKS and not tool.semantics.requires_confirmation
    ]
    if not asked:
        return
    found = {tool.semantics.effect for tool in asked}
    marks = phrase("or_between").join(f"[{mark}]" for mark in _MARKS if mark and mark in found)
    conditions = [phrase("has_mark", marks=marks)] if marks else []
    conditions += [phrase("has_no_mark")] if None in found else []
    labels = ", ".join(label_of(tool, service) for tool in asked[:NAMED])
    are_named = len(asked) <= NAMED and len(labels) <= NAMED_CHARACTERS
    tools = f": {labels}" if are_named else ""
    yield phrase("ask_before", conditions=phrase("or_between").join(conditions), tools=tools)


def _declared(service: Service) -> Iterator[Markdown]:
    """Yields what the source declares: confirmations, what cannot be undone, side effects."""
    tools = service.tools
    for name, found in (
        ("confirmed", [tool for tool in tools if tool.semantics.requires_confirmation]),
        ("irreversible", [tool for tool in tools if tool.semantics.reversible is False]),
        ("with_side_effects", [tool for tool in tools if tool.semantics.side_effects]),
    ):
        if len(found) > DECLARED:
            yield phrase(f"{name}_number", number=len(found))
        elif found:
            yield phrase(name, tools="; ".join(_told(name, found, service)))


def _told(name: str, tools: Iterable[Tool], service: Service) -> Iterator[str]:
    for tool in tools:
        words = ""
        if name == "confirmed" and tool.semantics.confirmation_message:
            words = inline(tool.semantics.confirmation_message)
        elif name == "with_side_effects":
            words = "; ".join(map(inline, tool.semantics.side_effects))
        label = label_of(tool, service)
        yield f"{label} ({words})" if words else label
