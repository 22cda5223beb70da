"""The reference pages `about.md`, `about-p2.md`, …: what concerns the service as a whole, in sections.

Also the service's entry for a client's server file (`mcpServers`), one line for each workflow, resource and prompt, and
the quotations of texts that address their reader.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter
from textwrap import wrap
from typing import Any, Literal, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from skillgen.model.resource import Prompt, Resource
from skillgen.model.resource import Section as SourceSection
from skillgen.model.service import Service, Workflow
from skillgen.model.tool import Tool
from skillgen.model.traversal import PROSE_FIELDS, place_of, rewrite_texts
from skillgen.model.values import Quotation
from skillgen.render.access import has_choice
from skillgen.render.environment import Templates
from skillgen.render.examples import credential_variable
from skillgen.render.identity import PHRASE_LIMIT, mount_name, title
from skillgen.render.pages import TOOL, Page, Section, addresses, is_own_heading, link_resolver, pages_of, section_of
from skillgen.render.phrases import phrase, phrases, plain_phrase
from skillgen.render.semantics import marks
from skillgen.text import lazy_re as re
from skillgen.text.blocks import block
from skillgen.text.html import html_to_markdown
from skillgen.text.markdown import Markdown, code, code_list, inline, join_lines, one_line, paragraph, plain_words
from skillgen.text.summary import (
    clip,
    first_sentence,
    normalise_sentence,
    says_something,
    sentences,
    start_of,
    top_headings,
    without_empty_sections,
)


def client_configuration(service: Service, *, is_example: bool = True) -> dict[str, Any] | None:
    """Returns the JSON object to add to a client's server file; `None` if neither a URL nor a portable command is
    known. With `is_example`, a person may have to complete the command.

    A variable refers to itself, as clients expand it: `"TOKEN": "${TOKEN}"`.
    """
    entry = service.client_entry
    if service.kind != "mcp" or entry is None:
        return None
    if entry.transport != "stdio" and service.endpoints:
        server: dict[str, Any] = {"type": entry.transport, "url": service.endpoints[0].url}
    elif entry.transport == "stdio" and (command := entry.command or (entry.example if is_example else ())):
        program, *arguments = command
        server = {"command": program, "args": arguments}
        if names := client_variables(service):
            server["env"] = {name: f"${{{name}}}" for name in names}
    else:
        return None
    return {"mcpServers": {mount_name(service): server}}


def program_variables(service: Service) -> tuple[str, ...]:
    """Returns the variables with the credentials that the program of an MCP server's skill sends to a URL."""
    entry = service.client_entry
    is_remote = service.kind == "mcp" and entry is not None and entry.transport != "stdio" and bool(service.endpoints)
    return (credential_variable(service, service.endpoints, "TOKEN"),) if is_remote else ()


def client_variables(service: Service) -> list[str]:
    """Returns the environment variables of a stdio server: the declared ones, then those that were passed on."""
    passed = service.client_entry.env if service.client_entry is not None else ()
    return list(dict.fromkeys([*service.requirements.env, *passed]))


_AUTHENTICATION = "authentication"
"""The title of the source's own sections on it."""


def about_pages(service: Service, templates: Templates, more: Sequence[Section] = ()) -> tuple[Page, ...]:
    """Returns the pages; none if there is nothing to add to SKILL.md.

    `more` are the sections on options, on what all tools say, and on the errors that they share.
    """
    text = _description(service) or ""
    intro = block(text) if text.strip() else None
    sections = [*_sections(service, templates), *more]
    heading = plain_phrase("about", service=title(service))
    if intro and not sections:
        return (Page(file_name="about.md", title=heading, part=1, parts=1, intro=intro),)
    return pages_of(heading, "about", sections, intro=intro)


def _sections(service: Service, templates: Templates) -> Iterator[Section]:
    headings = phrases("about_headings")

    def section(heading: str, template: str, **context: object) -> Section:
        body = templates.render(f"about/{template}.md.j2", service=service, **context)
        return section_of(Markdown(one_line(heading)), body)

    is_client = service.kind == "mcp" and service.client_entry is not None
    if is_client and (client_configuration(service) or service.install or client_variables(service)):
        yield section(headings["client"], "client")
    if said_by(service, name="instructions").text:
        yield section(headings["instructions"], "instructions", text=service.instructions)
    if has_choice(service.endpoints):
        yield section(headings["addresses"], "addresses")
    own = [item for item in service.sections if item.title.strip().lower() == _AUTHENTICATION]
    if service.requirements.auth:
        yield section(headings["authentication"], "authentication", own=own)
    for name in ("errors", "extensions", "skills", "related"):
        if getattr(service, name):
            yield section(headings[name], name)
    for file in (file for skill in service.skills for file in skill.files):
        if file.text is not None:
            yield section(file.uri, "text", text=file.text)
    for workflow in service.workflows:
        yield workflow_section(workflow, service, templates)
    for item in service.sections:
        if not service.requirements.auth or item not in own:
            yield section(section_title(item), "text", text=item.body)
    if service.quotations:
        yield section(headings["quotations"], "quotations")


def section_title(section: SourceSection) -> str:
    """Returns the heading of a section of the source."""
    title = f'"{section.title}"' if is_own_heading(section.title) else section.title
    return phrases("section_titles")[section.kind] if section.kind else title


def description_headings(service: Service) -> tuple[str, ...]:
    """Returns the headings of the description that is in the pages, as plain text."""
    return tuple(filter(None, map(plain_words, top_headings(_description(service) or ""))))


def _description(service: Service) -> str | None:
    """Returns the summary and the description, without what the description of the skill has completely."""
    said = one_line(service.purpose or "")
    texts = [service.description] if said_by(service, name="description").text else []
    if service.summary and one_line(service.summary) not in one_line(service.description or ""):
        texts = [service.summary, *texts]
    kept = "\n\n".join(text for text in texts if text and one_line(text).rstrip(".") not in said)
    return without_empty_sections(html_to_markdown(kept)) or None


_OFFERED_LINES = 40
"""Maximum of lines; a last one says how many more there are."""


def resource_and_prompt_lines(service: Service) -> list[Markdown]:
    """Returns a line for each resource and each prompt, up to a limit."""
    lines = [_resource("resource_line", item) for item in service.resources]
    lines += [_resource("uri_template_line", item) for item in service.resource_templates]
    lines += map(_prompt, service.prompts)
    omitted = len(lines) - _OFFERED_LINES
    return lines if omitted <= 0 else [*lines[:_OFFERED_LINES], phrase("more_lines", number=omitted)]


def _resource(name: str, resource: Resource) -> Markdown:
    own_name = inline(resource.name) if resource.name != resource.uri else Markdown("")
    return _line(phrase(name, uri=code(resource.uri)), _short(resource.description) or own_name)


def _prompt(prompt: Prompt) -> Markdown:
    arguments = ", ".join(f"{item.name}{'*' if item.required else '?'}" for item in prompt.parameters)
    return _line(phrase("prompt_line", call=code(f"{prompt.name}({arguments})")), _short(prompt.description))


def _line(lead: Markdown, words: Markdown) -> Markdown:
    return Markdown(f"{lead}: {words}") if words else lead


def _short(text: str | None) -> Markdown:
    return inline(clip(plain_words(first_sentence(text or "")), PHRASE_LIMIT).rstrip("."))


_Name = Literal["instructions", "description"]

_SEARCHED = 4_000
"""Characters of a text in which the sentences of the description of the skill are searched."""


class Said(Struct, frozen=True, kw_only=True):
    """A text of the service on itself, as SKILL.md quotes it."""

    name: _Name = "instructions"
    """What the text is; its section of the about pages has this name."""

    text: Markdown = Markdown("")
    """The text, safe as blocks; empty without one."""

    is_cut: bool = False
    """True if the about pages have more."""

    def left_in(self, about: Sequence[Page]) -> tuple[Page, ...]:
        """Returns the about pages without the text, if SKILL.md has all of it."""
        if self.is_cut or not self.text:
            return tuple(about)
        if self.name == "description":
            pages = [replace(page, intro=None) for page in about]
        else:
            heading = phrases("about_headings")["instructions"]
            pages = [
                replace(page, sections=tuple(item for item in page.sections if item.heading != heading))
                for page in about
            ]
        return tuple(page for page in pages if page.intro or page.sections)


def said_by(service: Service, limit: int | None = None, name: _Name | None = None) -> Said:
    """Returns the instructions, else the description, cut at a paragraph or a sentence to `limit` bytes."""
    name = name or ("instructions" if service.instructions else "description")
    text = (service.instructions if name == "instructions" else service.description) or ""
    text = _without_sentences(_IMAGE.sub("", html_to_markdown(text)).strip(), service.purpose or "")
    names = (service.title or "", service.product or "", service.name)
    if not text or (name == "description" and not says_something(text, names, 1)):
        return Said()
    rest = text if limit is None or len(text.encode()) <= limit else without_empty_sections(_cut(text, limit))
    return Said(name=name, text=block(rest), is_cut=len(rest) < len(text))


def block_quote(text: str) -> Markdown:
    """Returns safe blocks as a quotation."""
    return Markdown("\n".join(f"> {line}".rstrip() for line in text.split("\n")))


_IMAGE = re.compile(r"(?<!\w)\[?!\[[^\[\]]*\]\([^()\s]*\)(?:\]\([^()\s]*\))?(?!\w)")


def _without_sentences(text: str, said: str) -> str:
    """Returns a text without the sentences near its start that the description of the skill has."""
    known = {normalise_sentence(sentence) for sentence in sentences(said)}
    lines = ("\n" if line.startswith("#") else line for line in text[:_SEARCHED].split("\n"))
    for part in "\n".join(lines).split("\n\n"):
        for sentence in filter(None, map(str.strip, sentences(part))):
            if normalise_sentence(plain_words(sentence)) in known:
                text = text.replace(sentence, "", 1)
    return without_empty_sections(text)


def _cut(text: str, limit: int) -> str:
    portion = start_of(text, limit).rstrip()
    if portion.endswith(":"):  # what it announces is left out
        return portion.rpartition("\n\n")[0] or portion
    if portion[-1:].isalnum():  # within a sentence
        whole = [*sentences(portion)][:-1]
        end = portion.rfind(whole[-1]) + len(whole[-1]) if whole else 0
        return portion[:end] if end > len(portion) // 2 else portion
    return portion


# -- workflows ---------------------------------------------------------------------------------------------------------


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


# -- texts that address their reader -----------------------------------------------------------------------------------


_QUOTED_CHARACTERS = 800
"""Characters of one quotation."""

_IN_ITEM = re.compile(r"\s*(?:[-+*•]|\d{1,9}[.)])\s+|\s+\S|[\w.*`-]{1,60}(?: \([^()]{0,80}\))?:\s")
"""A line in which a quotation stays within the line."""

_NEUTRAL = str.maketrans({**dict.fromkeys("“”„", '"'), "<": "(", ">": ")"})
"""Replaces what could end a quotation, or what a model could read as markup of its host."""


_Part = TypeVar("_Part", bound=Service | Tool | Resource | Prompt)


def with_quotations(part: _Part) -> _Part:
    """Returns a part with its quotations in their places; the others remain in `quotations`."""
    if not part.quotations:
        return part
    by_place: dict[tuple[str, str], list[Quotation]] = {}
    for item in part.quotations:
        by_place.setdefault((item.pointer, item.rest), []).append(item)
    placed: set[Quotation] = set()

    def put_back(node: object, field: str, text: str, pointer: str) -> str:
        items = by_place.get((place_of(node, field, pointer), text), ()) if field in PROSE_FIELDS else ()
        placed.update(items)
        for item in sorted(items, key=attrgetter("at"), reverse=True):
            text = _put_back(text, item)
        return text

    part = rewrite_texts(part, put_back)
    return replace(part, quotations=tuple(item for item in part.quotations if item not in placed))


def _put_back(rest: str, quotation: Quotation) -> str:
    """Returns the rest of a text with a quotation: within a list item or a docstring's argument, else as a block."""
    before, after = rest[: quotation.at], rest[quotation.at :]
    item = re.match(r"\s*(?:[-+*•]|\d{1,9}[.)])\s+", quotation.text)
    lines = _quoted_lines(quotation.text[item.end() :] if item else quotation.text)
    if item:
        line = item[0].lstrip("\n") + " ".join(lines)
        return "\n".join(filter(None, (before, line, after.removeprefix("\n"))))
    if before and _IN_ITEM.match(before.rpartition("\n")[2]):
        return f"{before} {' '.join(lines)}{after}"
    block = "\n\n".join(f"> {line}" for line in lines)
    return "\n\n".join(filter(None, (before, block, after.lstrip("\n") if after[:1] == "\n" else after.lstrip())))


def quotation(item: Quotation) -> Markdown:
    """Returns a passage that addresses the reader as a quotation, with the field that had it."""
    return Markdown("\n>\n".join(f"> {paragraph(line)}" for line in _quoted_lines(item.text, item.field)))


def _quoted_lines(text: str, field: str = "") -> list[str]:
    """Returns a passage that addresses the reader in quotations of a line each."""
    lines = wrap(join_lines(text).translate(_NEUTRAL), _QUOTED_CHARACTERS, break_on_hyphens=False)
    # A code span that is not closed would continue after the quotation.
    lines = [line.replace("`", "'") if "``" in line or line.count("`") % 2 else line for line in lines]
    return [plain_phrase("order_in" if field else "order", text=line, field=code(field)) for line in lines]
