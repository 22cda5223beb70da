"""What a service offers beside its tools, a line each: resources, templates of them, and prompts."""

from __future__ import annotations

from skillgen.markdown.filters import Markdown, code, inline, plain_words
from skillgen.markdown.sentences import clipped, first_sentence
from skillgen.model.resource import Prompt, Resource
from skillgen.model.service import Service
from skillgen.render.phrases import PHRASE_LIMIT

LINES = 40
"""Lines at the most; how many more there are is said."""


def offered_lines(service: Service) -> list[Markdown]:
    """Gives a line for each resource and each prompt, as far as they are few."""
    lines = [
        *(_resource("Resource", item) for item in service.resources),
        *(_resource("URI template", item) for item in service.resource_templates),
        *(_prompt(item) for item in service.prompts),
    ]
    left = len(lines) - LINES
    return lines if left <= 0 else [*lines[:LINES], Markdown(f"And {left} more")]


def offered_counts(service: Service) -> str:
    """Returns what a service offers in numbers: `2 tools, 1 prompt`; tools are named unless it offers others alone."""
    found = {
        "tool": service.tools,
        "resource": service.resources,
        "resource template": service.resource_templates,
        "prompt": service.prompts,
    }
    shown = {noun: len(items) for noun, items in found.items() if items} or {"tool": 0}
    return ", ".join(f"{count:,} {noun}{'' if count == 1 else 's'}" for noun, count in shown.items())


def _resource(kind: str, resource: Resource) -> Markdown:
    words = _words(resource.description) or (inline(resource.name) if resource.name != resource.uri else "")
    return Markdown(f"{kind} {code(resource.uri)}" + (f": {words}" if words else ""))


def _prompt(prompt: Prompt) -> Markdown:
    arguments = ", ".join(f"{item.name}{'*' if item.required else '?'}" for item in prompt.parameters)
    words = _words(prompt.description)
    return Markdown(f"Prompt {code(f'{prompt.name}({arguments})')}" + (f": {words}" if words else ""))


def _words(text: str | None) -> Markdown:
    return inline(clipped(plain_words(first_sentence(text or "")), PHRASE_LIMIT).rstrip("."))
