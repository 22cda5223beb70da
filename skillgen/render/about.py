"""The reference pages `about.md`, `about-p2.md`, …: what concerns the service as a whole, in sections.

Also the service's entry for a client's server file (`mcpServers`), and one line for each resource and prompt.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from skillgen.model.resource import Prompt, Resource
from skillgen.model.service import Service
from skillgen.render.access import has_choice
from skillgen.render.environment import Templates
from skillgen.render.identity import PHRASE_LIMIT, title
from skillgen.render.pages import Page, Section, pages_of
from skillgen.text.blocks import block
from skillgen.text.markdown import Markdown, code, inline, one_line, plain_words
from skillgen.text.structure import split_portions, top_headings
from skillgen.text.summary import clip, first_sentence

_MEANINGS = {
    "streaming": "a tool that declares it sends partial results, and a long call that was interrupted may be resumed "
    "from its last checkpoint token.",
    "progress_notifications": "long calls report their progress.",
    "idempotency": "a call that changes something may have an `idempotency_key` (1 to 128 letters, digits and "
    "`_-:.`); repeating the key has no further effect, for 24 hours unless `idempotency_ttl_seconds` says otherwise.",
    "transactions": "several calls may share a `transaction_id`; if one fails, compensating calls undo the others, if "
    "possible. Other clients may see the intermediate steps.",
    "session_state": "a result may have `session_state`, an opaque token: send it back unchanged with the next call.",
    "intent_hints": "a call may have an `intent` field with its purpose. The result may then have a `suggestion` "
    "(`recommended_tool`, `reason`): advice, not an instruction.",
    "provenance": "a result may have `provenance` (source, location, time, confidence) for citing it; it is not proof.",
    "human_in_the_loop": "a person must agree before a tool that requires confirmation is called.",
    "data_references": "a result may be a reference to data, which another server can fetch until it expires.",
    "subscribe_notify": "a client may subscribe to events, and is notified when they happen.",
    "server_recommendations": "the server can recommend other servers for what it does not do itself.",
    "structured_errors": "an error has a code, a message and a category: `transient`, `permanent`, `auth_required`, "
    "`invalid_input` or `rate_limited`. It may say how long to wait, whether to tell the user, and what to do.",
    "multimodal_signatures": "tools list the media types that they accept and return: hints, not a complete list.",
    "conformance": "it can be tested against a conformance suite.",
    "io.modelcontextprotocol/skills": "the server offers its own skills, listed by `skills/list`.",
    "io.modelcontextprotocol/groups": "some tools are listed only by `groups/get` with the name of their group.",
    "io.modelcontextprotocol/grouping": "the server names groups of its tools.",
}


def _extension_lines(service: Service) -> tuple[Markdown, ...]:
    """Returns a line for each declared extension, with its meaning if it is known."""
    return tuple(_line(name) for name in service.extensions or {})


def _line(name: str) -> Markdown:
    meaning = _MEANINGS.get(name)
    return Markdown(f"{code(name)}: {meaning}" if meaning else code(name))


def client_configuration(service: Service) -> dict[str, Any] | None:
    """Returns the JSON object to add to a client's server file; `None` if neither a URL nor a portable command is
    known.

    A variable refers to itself, as clients expand it: `"TOKEN": "${TOKEN}"`.
    """
    entry = service.client_entry
    if service.kind != "mcp" or entry is None:
        return None
    if entry.transport != "stdio" and service.endpoints:
        server: dict[str, Any] = {"type": entry.transport, "url": service.endpoints[0].url}
    elif entry.transport == "stdio" and entry.command:
        program, *arguments = entry.command
        server = {"command": program, "args": arguments}
        if names := client_variables(service):
            server["env"] = {name: f"${{{name}}}" for name in names}
    else:
        return None
    return {"mcpServers": {service.server_name or service.name: server}}


def client_variables(service: Service) -> list[str]:
    """Returns the environment variables of a stdio server: the declared ones, then those that were passed on."""
    passed = service.client_entry.env if service.client_entry is not None else ()
    return list(dict.fromkeys([*service.requirements.env, *passed]))


def _has_client_notes(service: Service) -> bool:
    """True if there is anything to say about how a client starts or reaches the server."""
    entry = service.client_entry
    if service.kind != "mcp" or entry is None:
        return False
    return client_configuration(service) is not None or bool(service.install or client_variables(service))


ABOUT_TEMPLATE = "reference/about.md.j2"
OFFERS_TEMPLATE = "reference/offers.md.j2"

_PORTION_BYTES = 7_000
"""Bytes of source text in one section; escaping may double them."""

DESCRIPTION = "Description"
_AUTHENTICATION = "Authentication"
_CLIENT = "Client Configuration"
_QUOTED = "Quoted from the source"


def about_pages(service: Service, templates: Templates, common: Section | None = None) -> tuple[Page, ...]:
    """Returns the pages; none if there is nothing to add to SKILL.md.

    `common` is the section on the errors that most tools share, if there is one.
    """
    text = _description(service)
    first, *rest = split_portions(text, _PORTION_BYTES) if text else ("",)
    sections = [
        *_client_sections(service, templates),
        *_numbered_sections(DESCRIPTION, rest, templates, start=2),
        *_sections(service, templates),
        *([common] if common is not None else []),
    ]
    intro = block(first) if first.strip() else None
    heading = f"About {title(service)}"
    if intro and not sections:
        return (Page(file_name="about.md", title=heading, part=1, parts=1, intro=intro),)
    return pages_of(heading, "about", sections, intro=intro)


def description_headings(service: Service) -> tuple[str, ...]:
    """Returns the headings of the description that is in the pages, as plain text."""
    return tuple(filter(None, map(plain_words, top_headings(_description(service) or ""))))


def _description(service: Service) -> str | None:
    """Returns the description, unless it is the summary in SKILL.md."""
    return service.description if service.description != service.summary else None


def _client_sections(service: Service, templates: Templates) -> Iterator[Section]:
    if _has_client_notes(service):
        text = templates.macro(ABOUT_TEMPLATE, "client")(service)
        yield Section(name=_CLIENT, heading=_CLIENT, text=text)


def _sections(service: Service, templates: Templates) -> Iterator[Section]:
    if service.instructions:
        yield from _text_sections("Instructions", service.instructions, templates, is_instructions=True)
    if has_choice(service.endpoints):
        text = templates.macro(ABOUT_TEMPLATE, "addresses")(service.endpoints)
        yield Section(name="Addresses", heading="Addresses", text=text)
    auth_sections = [item for item in service.sections if item.title.strip().lower() == _AUTHENTICATION.lower()]
    if service.requirements.auth:
        text = templates.macro(ABOUT_TEMPLATE, "authentication", service=service)(
            service.requirements.auth, auth_sections, service.requirements
        )
        yield Section(name=_AUTHENTICATION, heading=_AUTHENTICATION, text=text)
    if service.errors:
        yield Section(name="Errors", heading="Errors", text=templates.macro(ABOUT_TEMPLATE, "errors")(service.errors))
    yield from _extra_sections(service, templates)
    for workflow in service.workflows:
        heading = one_line(workflow.title)
        yield Section(name=heading, heading=heading, text=templates.macro(ABOUT_TEMPLATE, "workflow")(workflow))
    for section in service.sections:
        if not service.requirements.auth or section not in auth_sections:
            yield from _text_sections(one_line(section.title), section.body, templates)
    yield from _quotation_sections(service, templates)


def _quotation_sections(service: Service, templates: Templates) -> Iterator[Section]:
    render = templates.macro(ABOUT_TEMPLATE, "quotation")
    quotations = [
        replace(item, text=text) for item in service.quotations for text in split_portions(item.text, _PORTION_BYTES)
    ]
    for number, item in enumerate(quotations, 1):
        heading = _QUOTED if len(quotations) == 1 else f"{_QUOTED} ({number} of {len(quotations)})"
        yield Section(name=heading, heading=heading, text=render(heading, item))


def _extra_sections(service: Service, templates: Templates) -> Iterator[Section]:
    extras = (
        ("Protocol Extensions", "extensions", _extension_lines(service)),
        ("Skills of the Server", "skills", service.skills),
        ("Related Servers", "related", service.related),
    )
    for heading, macro, items in extras:
        if items:
            yield Section(name=heading, heading=heading, text=templates.macro(OFFERS_TEMPLATE, macro)(items))
    for file in (file for skill in service.skills for file in skill.files):
        if file.text is not None:
            yield from _text_sections(one_line(file.uri), file.text, templates)


def _text_sections(heading: str, text: str, templates: Templates, is_instructions: bool = False) -> Iterator[Section]:
    yield from _numbered_sections(
        heading, split_portions(text, _PORTION_BYTES), templates, is_instructions=is_instructions
    )


def _numbered_sections(
    heading: str, texts: Sequence[str], templates: Templates, *, start: int = 1, is_instructions: bool = False
) -> Iterator[Section]:
    render = templates.macro(ABOUT_TEMPLATE, "portion")
    count = start + len(texts) - 1
    for number, text in enumerate(texts, start):
        numbered = heading if count == 1 else f"{heading} ({number} of {count})"
        yield Section(name=numbered, heading=numbered, text=render(numbered, text, is_instructions and number == 1))


_OFFERED_LINES = 40
"""Maximum of lines; a last one says how many more there are."""


def resource_and_prompt_lines(service: Service) -> list[Markdown]:
    """Returns a line for each resource and each prompt, up to a limit."""
    lines = [
        *(_resource("Resource", item) for item in service.resources),
        *(_resource("URI template", item) for item in service.resource_templates),
        *(_prompt(item) for item in service.prompts),
    ]
    omitted = len(lines) - _OFFERED_LINES
    return lines if omitted <= 0 else [*lines[:_OFFERED_LINES], Markdown(f"And {omitted} more")]


def _resource(kind: str, resource: Resource) -> Markdown:
    phrase = _phrase(resource.description) or (inline(resource.name) if resource.name != resource.uri else "")
    return Markdown(f"{kind} {code(resource.uri)}" + (f": {phrase}" if phrase else ""))


def _prompt(prompt: Prompt) -> Markdown:
    arguments = ", ".join(f"{item.name}{'*' if item.required else '?'}" for item in prompt.parameters)
    phrase = _phrase(prompt.description)
    return Markdown(f"Prompt {code(f'{prompt.name}({arguments})')}" + (f": {phrase}" if phrase else ""))


def _phrase(text: str | None) -> Markdown:
    return inline(clip(plain_words(first_sentence(text or "")), PHRASE_LIMIT).rstrip("."))
