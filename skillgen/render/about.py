"""About pages; extensions; offers.

Says what the protocol extensions mean that a service declares (seed 004 and the official ones).

The entry for a server in a client's server file (`mcpServers`), and what is known where none can be given.

What a service says of itself as a whole, in sections and pages: a long text in several.

What a service offers beside its tools, a line each: resources, templates of them, and prompts.
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
    "streaming": "a tool that says so sends partial results, and a long call that broke off may be taken up again from "
    "the checkpoint token that it gave.",
    "progress_notifications": "long calls tell how far they are.",
    "idempotency": "a call that changes something may carry an `idempotency_key` (1 to 128 letters, digits and "
    "`_-:.`); the same key again has no further effect, for 24 hours unless `idempotency_ttl_seconds` says otherwise.",
    "transactions": "several calls may share a `transaction_id`; when one fails, the others are undone by calls that "
    "compensate for them, as far as that works. Others may see the steps in between.",
    "session_state": "a result may carry `session_state`, an opaque token: send it back as it is with the next call.",
    "intent_hints": "a call may carry an `intent` field that says why it is made. The answer may then hold a "
    "`suggestion` (`recommended_tool`, `reason`): advice, not an instruction.",
    "provenance": "a result may carry `provenance` (source, location, time, confidence), to cite it by; no proof.",
    "human_in_the_loop": "a person must agree before a tool that wants confirmation is called.",
    "data_references": "a result may be a reference to data, which another server can fetch until it expires.",
    "subscribe_notify": "a client may subscribe to events, and is told when they happen.",
    "server_recommendations": "the server can name other servers for what it does not do itself.",
    "structured_errors": "an error has a code, a message and a category: `transient`, `permanent`, `auth_required`, "
    "`invalid_input` or `rate_limited`. It may say how long to wait, whether a person must know, and what to do.",
    "multimodal_signatures": "tools name the media types that they take and give: hints, not a complete list.",
    "conformance": "it can be tested against a conformance suite.",
    "io.modelcontextprotocol/skills": "the server offers skills of its own, listed by `skills/list`.",
    "io.modelcontextprotocol/groups": "some tools are listed only by `groups/get` with the name of their group.",
    "io.modelcontextprotocol/grouping": "the server names groups of its tools.",
}


def extension_lines(service: Service) -> tuple[Markdown, ...]:
    """Gives a line for each extension that is declared; one that is not known is named only."""
    return tuple(_line(name) for name in service.extensions or {})


def _line(name: str) -> Markdown:
    meaning = _MEANINGS.get(name)
    return Markdown(f"{code(name)}: {meaning}" if meaning else code(name))


def client_configuration(service: Service) -> dict[str, Any] | None:
    """Gives the JSON object to add; `None` where neither an address nor a command that others can run is known.

    A variable has its own name for a value, as clients expand it: `"TOKEN": "${TOKEN}"`.
    """
    entry = service.client_entry
    if service.kind != "mcp" or entry is None:
        return None
    if entry.transport != "stdio" and service.endpoints:
        found: dict[str, Any] = {"type": entry.transport, "url": service.endpoints[0].url}
    elif entry.transport == "stdio" and entry.command:
        program, *arguments = entry.command
        found = {"command": program, "args": arguments}
        if names := client_variables(service):
            found["env"] = {name: f"${{{name}}}" for name in names}
    else:
        return None
    return {"mcpServers": {service.server_name or service.name: found}}


def client_variables(service: Service) -> list[str]:
    """Gives the environment variables of a server that is started: those declared, then those that were passed on."""
    passed = service.client_entry.env if service.client_entry is not None else ()
    return list(dict.fromkeys([*service.requirements.env, *passed]))


def has_client_notes(service: Service) -> bool:
    """Tells whether there is anything to say of how a client starts or reaches the server."""
    entry = service.client_entry
    if service.kind != "mcp" or entry is None:
        return False
    return client_configuration(service) is not None or bool(service.install or client_variables(service))


TEMPLATE = "reference/about.md.j2"
OFFERS = "reference/offers.md.j2"

PORTION_BYTES = 7_000
"""Of a text as the source has it; the filters may double what they make safe."""

DESCRIPTION = "Description"
AUTHENTICATION = "Authentication"
CLIENT = "Client Configuration"
QUOTED = "Quoted from the source"


def about_pages(service: Service, templates: Templates, common: Section | None = None) -> tuple[Page, ...]:
    """Gives the pages `about.md`, `about-p2.md`, …; none where there is nothing to add to SKILL.md.

    `common` tells the errors of most tools, where there are any.
    """
    described = _described(service)
    first, *rest = split_portions(described, PORTION_BYTES) if described else ("",)
    sections = [
        *_client(service, templates),
        *_numbered(DESCRIPTION, rest, templates, start=2),
        *_sections(service, templates),
        *([common] if common is not None else []),
    ]
    intro = block(first) if first.strip() else None
    heading = f"About {title(service)}"
    if intro and not sections:
        return (Page(file_name="about.md", title=heading, part=1, parts=1, intro=intro),)
    return pages_of(heading, "about", sections, intro=intro)


def description_headings(service: Service) -> tuple[str, ...]:
    """Gives the headings of the description that stands in the pages, in plain words."""
    return tuple(filter(None, map(plain_words, top_headings(_described(service) or ""))))


def _described(service: Service) -> str | None:
    """Gives the description where it says more than the summary in SKILL.md."""
    return service.description if service.description != service.summary else None


def _client(service: Service, templates: Templates) -> Iterator[Section]:
    if has_client_notes(service):
        text = templates.macro(TEMPLATE, "client")(service)
        yield Section(name=CLIENT, heading=CLIENT, text=text)


def _sections(service: Service, templates: Templates) -> Iterator[Section]:
    if service.instructions:
        yield from _of_text("Instructions", service.instructions, templates, is_said=True)
    if has_choice(service.endpoints):
        text = templates.macro(TEMPLATE, "addresses")(service.endpoints)
        yield Section(name="Addresses", heading="Addresses", text=text)
    own = [section for section in service.sections if section.title.strip().lower() == AUTHENTICATION.lower()]
    if service.requirements.auth:
        text = templates.macro(TEMPLATE, "authentication", service=service)(
            service.requirements.auth, own, service.requirements
        )
        yield Section(name=AUTHENTICATION, heading=AUTHENTICATION, text=text)
    if service.errors:
        yield Section(name="Errors", heading="Errors", text=templates.macro(TEMPLATE, "errors")(service.errors))
    yield from _offers(service, templates)
    for workflow in service.workflows:
        heading = one_line(workflow.title)
        yield Section(name=heading, heading=heading, text=templates.macro(TEMPLATE, "workflow")(workflow))
    for section in service.sections:
        if not service.requirements.auth or section not in own:
            yield from _of_text(one_line(section.title), section.body, templates)
    yield from _quotations(service, templates)


def _quotations(service: Service, templates: Templates) -> Iterator[Section]:
    render = templates.macro(TEMPLATE, "quotation")
    found = [
        replace(item, text=text) for item in service.quotations for text in split_portions(item.text, PORTION_BYTES)
    ]
    for number, item in enumerate(found, 1):
        words = QUOTED if len(found) == 1 else f"{QUOTED} ({number} of {len(found)})"
        yield Section(name=words, heading=words, text=render(words, item))


def _offers(service: Service, templates: Templates) -> Iterator[Section]:
    found = (
        ("Protocol Extensions", "extensions", extension_lines(service)),
        ("Skills of the Server", "skills", service.skills),
        ("Related Servers", "related", service.related),
    )
    for heading, macro, items in found:
        if items:
            yield Section(name=heading, heading=heading, text=templates.macro(OFFERS, macro)(items))
    for file in (file for skill in service.skills for file in skill.files):
        if file.text is not None:
            yield from _of_text(one_line(file.uri), file.text, templates)


def _of_text(heading: str, text: str, templates: Templates, is_said: bool = False) -> Iterator[Section]:
    yield from _numbered(heading, split_portions(text, PORTION_BYTES), templates, is_said=is_said)


def _numbered(
    heading: str, found: Sequence[str], templates: Templates, *, start: int = 1, is_said: bool = False
) -> Iterator[Section]:
    render = templates.macro(TEMPLATE, "portion")
    count = start + len(found) - 1
    for number, text in enumerate(found, start):
        words = heading if count == 1 else f"{heading} ({number} of {count})"
        yield Section(name=words, heading=words, text=render(words, text, is_said and number == 1))


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
    return inline(clip(plain_words(first_sentence(text or "")), PHRASE_LIMIT).rstrip("."))
