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


def _resource(kind: str, resource: Resource) -> Markdown:
    words = _words(resource.description) or (inline(resource.name) if resource.name != resource.uri else "")
    return Markdown(f"{kind} {code(resource.uri)}" + (f": {words}" if words else ""))


def _prompt(prompt: Prompt) -> Markdown:
    arguments = ", ".join(f"{item.name}{'*' if item.required else '?'}" for item in prompt.parameters)
    words = _words(prompt.description)
    return Markdown(f"Prompt {code(f'{prompt.name}({arguments})')}" + (f": {words}" if words else ""))


def _words(text: str | None) -> Markdown:
    return inline(clipped(plain_words(first_sentence(text or "")), PHRASE_LIMIT).rstrip("."))
