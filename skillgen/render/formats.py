"""Renders all documents of a service, format by format, and those above the documents of several services; every filter
and function of the templates: `FILTERS` and `FUNCTIONS`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import jinja2
from msgspec import Struct
from msgspec.structs import replace

from skillgen.errors import Problem
from skillgen.model.auth import AccessLevel
from skillgen.model.document import FORMATS, SERVER_FORMATS, Artifact, Document, RenderOptions
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.values import Json, is_inferred
from skillgen.render import (
    about,
    access,
    examples,
    identity,
    listing,
    pages,
    parameters,
    reference,
    results,
    semantics,
    types,
)
from skillgen.render.about import workflow_lines
from skillgen.render.ai_help import SPEC_URL, SPEC_VERSION, web_front_matter
from skillgen.render.environment import Templates, escape_printed
from skillgen.render.identity import (
    TITLE_LIMIT,
    description,
    description_problems,
    plain,
    short_description,
    skill_name,
    title,
    tool_phrase,
    what_and_when,
)
from skillgen.render.listing import names_in
from skillgen.render.parameters import short_call
from skillgen.render.phrases import phrases_of, plain_phrase
from skillgen.render.publishing import NOT_A_SERVER, left_out
from skillgen.render.reference import group_words, single_file
from skillgen.render.skill import Rendering, Site, finished
from skillgen.text import markdown
from skillgen.text.blocks import block
from skillgen.text.inert import disarm_json, marked
from skillgen.text.markdown import Markdown, inline, json_text, one_line, rewritten
from skillgen.text.summary import clip, shorten
from skillgen.typed import convert

VALUE_LIMIT = 1_536
"""Characters of one value; the longest that a host reads is Claude Code's `description`."""

KEY_LIMIT = 256
"""Characters of a key, which a source names in a map: YAML allows keys of 1,024 at most (YAML 1.2, 7.4.2)."""


_PLAIN = re.compile(r"(?:[^\W\d_]|\d+\.\d+\.\d|[1-9]\d*[A-Za-z/]{2})(?:[^:#]|:(?!\s|\Z)|(?<!\s)#)*(?<!\s)")
"""Text that is a string in YAML 1.1 and 1.2; no number and no date begins like this."""

_NOT_TEXT = frozenset(("yes", "no", "y", "n", "true", "false", "on", "off", "null"))


def yaml_lines(item: Any, scalar: Callable[[Any], str]) -> Iterator[str]:
    """Yields a value in YAML's block style: PyYAML takes a twentieth of a small run to import."""
    if isinstance(item, dict) and item:
        for key, inner in item.items():
            lines = list(yaml_lines(inner, scalar))
            is_nested = isinstance(inner, (dict, list)) and inner
            yield f"{scalar(key)}:" if is_nested else f"{scalar(key)}: {lines[0]}"
            yield from (f"  {line}" for line in lines if is_nested)
    elif isinstance(item, list) and item:
        for inner in item:
            yield from (f"{'  ' if number else '- '}{line}" for number, line in enumerate(yaml_lines(inner, scalar)))
    else:
        yield scalar(item)


def is_plain_yaml(item: Any) -> bool:
    """True for text that YAML reads as text without quotes."""
    return isinstance(item, str) and bool(_PLAIN.fullmatch(item)) and item.lower() not in _NOT_TEXT


def _yaml_scalar(item: Any) -> str:
    if not isinstance(item, str):
        return json_text(item)
    return item if is_plain_yaml(item) else "'" + item.replace("'", "''") + "'"


def front_matter(fields: Mapping[str, Any]) -> Markdown:
    """Returns the fields between two lines of dashes, without those that are `None` or empty.

    Inside a field, only `None` is removed.
    """
    present = {key: safe for key, item in fields.items() if (safe := _safe(item)) not in (None, "", [], {})}
    return Markdown("\n".join(["---", *yaml_lines(present, _yaml_scalar), "---"]))


def _safe(item: Any, limit: int = VALUE_LIMIT) -> Any:
    if isinstance(item, str):
        line = one_line(item).replace("---", "—")
        return line if len(line) <= limit else line[: limit - 1] + "…"
    if isinstance(item, Mapping):
        return {_safe(key, KEY_LIMIT): safe for key, inner in item.items() if (safe := _safe(inner)) is not None}
    return [_safe(inner) for inner in item] if isinstance(item, (list, tuple)) else item


@jinja2.pass_context
def _short_call(context: jinja2.runtime.Context, tool: Tool) -> str:
    """Returns a call with what is required, or the request of an API: `create_task(title*, …)`."""
    return parameters.short_call(tool, context["service"])


@jinja2.pass_context
def _tool_label(context: jinja2.runtime.Context, tool: Tool) -> Markdown:
    """Returns the name of a tool, or its request where SKILL.md lists requests."""
    return parameters.label_of(tool, context["service"])


def _listed(items: Any, separator: str = ", ") -> Markdown:
    """Returns items with a separator between them, a comma by default."""
    return Markdown(separator.join(escape_printed(item) for item in items))


def _count(things: Sequence[object], noun: str) -> Markdown:
    """Returns a number with its noun: `3 tools`."""
    return Markdown(markdown.counted(len(things), noun))


def _json(data: Json) -> str:
    """Returns a value as indented JSON."""
    return disarm_json(json_text(data, indent=2))


def _block(text: str | None) -> Markdown:
    """Makes a longer text safe, with its paragraphs, lists, quotes and code blocks; empty if there is no text."""
    return block(text) if text else Markdown("")


def _trimmed(text: str) -> Markdown:
    """Returns what a macro printed, without blanks at its ends."""
    return Markdown(text.strip())


def _stop(text: str | None) -> Markdown:
    """Returns what is missing between a text and the next sentence: a full stop, or a colon if there is no text."""
    return Markdown(":" if not text else "." if markdown.needs_stop(text) else "")


def _sentence(text: str) -> Markdown:
    """Returns safe text as a sentence, with a capital and a full stop."""
    return Markdown(text[:1].upper() + text[1:] + ".")


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "tool_link": pages.tool_link,
    "type_link": pages.type_link,
    "common_errors_link": pages.common_errors_link,
    "rows": types.rows,
    "nested": types.nested,
}
"""Functions that every template can call."""

_FILTERS_IN = {
    markdown: "inline paragraph code value fence",
    about: "block_quote client_configuration client_variables program_variables quotation section_title",
    access: "access_word address auth_gloss explained_scopes has_choice login login_hints other_access sent_as"
    " shared_auth undescribed_logins web_links",
    examples: "example_variables",
    identity: "host_prefixes",
    listing: "about_words page_links",
    parameters: "parameter_lists usage_line",
    reference: "request_command section_command type_command",
    results: "error_line error_parts error_types link_line results_of",
    semantics: "auth_alternatives cautions codes common_notes effects mark_text marks_legend rate_limit_phrase"
    " summary_line title_line tool_description",
    types: "schema_notes type_phrase",
}
"""The filters that have the name of their function, by its module."""

FILTERS: dict[str, Callable[..., Any]] = {
    **{name: getattr(module, name) for module, names in _FILTERS_IN.items() for name in names.split()},
    "block": _block,
    "heading": markdown.name,
    "label": markdown.link_label,
    "url": markdown.link_url,
    "markdown": Markdown,
    "trimmed": _trimmed,
    "stop": _stop,
    "front_matter": front_matter,
    "json": _json,
    "clipped": clip,
    "shortened": shorten,
    "count": _count,
    "listed": _listed,
    "is_inferred": is_inferred,
    "short_call": _short_call,
    "tool_label": _tool_label,
    "sentence": _sentence,
}


def _templates_with(overrides: str | None) -> Templates:
    return _builtin_templates() if overrides is None else Templates(FILTERS, FUNCTIONS, Path(overrides))


@cache
def _builtin_templates() -> Templates:
    """Returns skillgen's own templates, which a build of many targets loads once."""
    return Templates(FILTERS, FUNCTIONS)


_VERSION = re.compile(r"\s*v?\d\S*(?:\s+\S+){0,2}\s*\Z", re.IGNORECASE)
"""A version of at most three words: "Wed Oct 15 2025" and "latest" are not versions, nor is a sentence."""

_VERSION_LIMIT = 64
"""Characters of a service's version; longer ones are not real versions."""


Rendered = tuple[tuple[Document | Artifact, ...], tuple[Problem, ...]]
"""Documents sorted by path, and problems such as texts that had to be left out."""


def render_documents(
    service: Service,
    options: RenderOptions,
    added: Mapping[str, bytes] = {},
    parts: Sequence[tuple[Service, Collection[str]]] = (),
) -> Rendered:
    """Renders a service in each format. `added` are the files of skills to which a person added lines.

    `parts` are what each of several skills documents, the common one first.

    Raises:
        UsageError: a template has an error.
    """
    templates = _templates_with(options.overrides)
    problems = [*_length_problems(service)]
    service, parts = _with_version(service), [(_with_version(part), elsewhere) for part, elsewhere in parts]
    with phrases_of(templates):
        problems += description_problems(service)
        rendering = Rendering(service, templates, options, added, parts)
        impossible = SERVER_FORMATS if service.kind != "mcp" else ()
        wanted = {*options.formats}.difference(impossible)
        documents, more = _run((item.renderer for name, item in FORMATS.items() if name in wanted), rendering)
    problems += [left_out(name, NOT_A_SERVER) for name in impossible if name in options.formats]
    return documents, (*more, *problems)


def _with_version(service: Service) -> Service:
    """Returns a service with its version only if that is one."""
    if service.version is None:
        return service
    version = rewritten(one_line(service.version)) if _VERSION.match(service.version) else ""
    return replace(service, version=clip(version, _VERSION_LIMIT) or None)


def render_site(
    services: Mapping[str, tuple[Service, tuple[Mapping[str, bytes], Sequence[tuple[Service, Collection[str]]]]]],
    options: RenderOptions,
    earlier: Mapping[str, Any] = {},
) -> tuple[Rendered, dict[str, Any]]:
    """Renders the documents above those of several services; returns facts on each service too.

    They are by their folder, each with what `render_documents` takes of it; `earlier` has the facts on services that
    are not rendered.

    Raises:
        UsageError: a template has an error.
    """
    templates = _templates_with(options.overrides)
    with phrases_of(templates):
        renderers = (item.site_renderer for name, item in FORMATS.items() if name in options.formats)
        renderings = [Rendering(service, templates, options, *more) for service, more in services.values()]
        site = Site(renderings, [*services], options.publisher, templates, earlier)
        return _run(filter(None, renderers), site), site_facts(site)


def _run(renderers: Iterable[str], subject: Rendering | Site) -> Rendered:
    results = [finished(item) for renderer in renderers for item in resolve_name(renderer)(subject)]
    documents = sorted((item for item in results if not isinstance(item, Problem)), key=lambda document: document.path)
    return tuple(documents), tuple(dict.fromkeys(item for item in results if isinstance(item, Problem)))


def _length_problems(service: Service) -> Iterator[Problem]:
    """Yields a problem for the title or version of a service if it is too long for its documents and appears nowhere in
    full.
    """
    title = service.title or service.name
    for field, text, limit in (("title", title, TITLE_LIMIT), ("version", service.version or "", _VERSION_LIMIT)):
        if (length := len(one_line(text))) > limit:
            message = f"the {field} of the service has {length:,} characters; the documents have the first {limit}"
            yield Problem.of("text-too-long", field, message)


_WORDS_LIMIT = 300
"""Characters of what the tools of a group do; more where there are few groups."""

_ALL_WORDS_LIMIT = 3_000
"""Characters of what the tools of all groups do, as far as `_WORDS_LIMIT` leaves it to this limit."""

_QUICK_ITEMS = 20
"""Maximum of entries in the quick reference (web profile, 5.2.2); more follow in a section of their own."""

_TOOLS_LIMIT = 16_000
"""Characters of the calls, addresses and phrases of all tools up to which they are listed; else the groups are."""


class Places(Struct, frozen=True):
    """The paths of the other files, relative to llms.txt."""

    skill: str | None
    """The folder of the skill; `None` if no skill is written."""

    anchors: Mapping[str, str] | None = None
    """The anchor in SKILL.md of each address within the references, if it has everything instead of them."""

    others: Mapping[str, str] = {}
    """The file that introduces each of several skills, by its folder."""

    @property
    def overview(self) -> str:
        """The file that introduces the service."""
        return f"{self.skill}/SKILL.md" if self.skill else "llms-full.txt"

    @property
    def how_to_call(self) -> str:
        """The section on how its tools are called."""
        return f"{self.overview}#how-to-call" if self.skill else self.overview

    def reference(self, address: str) -> str:
        """Returns the link target of an address in the references."""
        if address in self.others:
            return self.others[address]
        if self.anchors is not None:
            return "#".join(filter(None, (self.overview, self.anchors.get(address))))
        return f"{self.skill}/references/{address}" if self.skill else "llms-full.txt"


def llms_documents(rendering: Rendering) -> Iterator[Document]:
    """Yields both files."""
    service, templates = rendering.service, rendering.templates
    skills = [*rendering.skills] if rendering.skill is not None else [rendering]
    reference = skills[0].reference
    places = Places(
        skills[0].folder if rendering.skill is not None else None,
        anchors=rendering.skill.anchors if rendering.skill is not None else None,
        others={skill.folder: f"{skill.folder}/SKILL.md" for skill in skills} if len(skills) > 1 else {},
    )
    tools = [tool for tool in service.tools if not tool.is_preflight]
    addresses = (places.reference(rendering.reference.tool_addresses[tool.name]) for tool in tools)
    pairs = zip(tools, addresses, strict=True)
    sizes = (len(short_call(tool, service) + place + tool_phrase(tool)) for tool, place in pairs)
    is_short = not places.others and all(size <= _TOOLS_LIMIT for size in accumulate(sizes))
    what, when = what_and_when(service)
    context = {
        **rendering.context,
        "reference": reference,
        "what": what,
        "trigger": when or description(service),
        "brief": False,
        "places": places,
        "fields": web_front_matter(service),
        "tools": tools if is_short else (),
        "groups": () if is_short else _groups(rendering),
        "quick_items": _QUICK_ITEMS,
        "instructions_address": _instructions_address(skills[0], places),
        "workflow_lines": workflow_lines(service.workflows, service.tools, reference.about, places.reference),
    }
    yield Document("llms.txt", marked(templates.render("llms.txt.j2", **context)))
    yield Document("llms-full.txt", single_file(templates.render("llms-full.txt.j2", **context), rendering.reference))


def _instructions_address(rendering: Rendering, places: Places) -> str | None:
    """Returns where the instructions of a server are, as far as what it does has not said them."""
    if not rendering.service.instructions:
        return None
    said = rendering.any_skill.said
    if rendering.skill is not None and not said.is_cut:
        return f"{places.overview}#instructions" if said.text else None
    address = rendering.reference.about_address("instructions")
    return places.reference(address) if address else None


def _groups(rendering: Rendering) -> Sequence[tuple[str, str, str]]:
    """Returns title, file and words of each group, the largest first, "Other" last; of sequences if there are many.

    Of several skills, it returns each with its folder.
    """
    if rendering.parts and rendering.skill is not None:
        skills = ((item, inline(description(item.service))) for item in rendering.skills)
        return [(skill_name(item.service), item.folder, words) for item, words in skills]
    listing = rendering.skill.listing if rendering.skill is not None else None
    indexes = listing.indexes if listing is not None else ()
    files = {name: page.file_name for page in indexes for name in page.anchors}
    topics = sorted(rendering.reference.topics, key=lambda topic: (topic.title == "Other", -len(topic.tools)))
    limit = max(_WORDS_LIMIT, _ALL_WORDS_LIMIT // max(len(topics), 1))
    found = []
    for topic in topics:
        words = group_words(topic.words, names_in(topic, rendering.service), limit)
        found.append((topic.title, files.get(topic.pages[0].file_name, topic.pages[0].file_name), words))
    return found


_ACCESS_LEVELS = ("none", "read", "browse", "interact", "full")


class SiteEntry(Struct, frozen=True, kw_only=True):
    """One service above whose documents llms.txt is."""

    folder: str
    """Below OUT."""

    title: str
    """Its display name."""

    does: str = ""
    """What it does, in one sentence."""

    tools: int = 0
    """How many tools it has."""

    access: AccessLevel = "interact"
    """How much a caller can change."""


def site_facts(site: Site) -> dict[str, Any]:
    """Returns the facts on each service by its folder, sorted, for the record."""
    facts = {}
    for service, folder in zip(site.services, site.folders, strict=True):
        words = {"title": title(service), "does": short_description(service)}
        facts[folder] = {**words, "tools": len(service.tools), "access": service.access_level}
    return dict(sorted({**site.earlier, **facts}.items()))


def site_documents(site: Site) -> Iterator[Document]:
    """Yields the llms.txt of a folder with several services, each with its own llms.txt.

    It has the "Site Structure" of dashdash's web profile (6.2).
    """
    facts = site_facts(site)
    found = [convert({"folder": folder, **facts[folder]}, SiteEntry) for folder in (*site.folders, *site.earlier)]
    counts = Counter(entry.title for entry in found)
    distinct = (f"{entry.title} ({entry.folder})" if counts[entry.title] > 1 else entry.title for entry in found)
    entries = [replace(entry, title=title) for entry, title in zip(found, distinct, strict=True)]
    names = plain(", ".join(entry.title for entry in entries[:12]))
    name = "single_site" if len(entries) == 1 else "site" if len(entries) <= 12 else "large_site"
    fields: dict[str, Any] = {
        "name": "services",
        "description": plain_phrase(name, number=len(entries), names=names),
        "spec-url": SPEC_URL,
        "spec-version": SPEC_VERSION,
        "subdirectory-help": True,
        "access-level": max((entry.access for entry in entries), key=_ACCESS_LEVELS.index, default="read"),
        **dict.fromkeys(("cli-url", "mcp-url", "api-url"), "none"),
    }
    yield Document("llms.txt", site.templates.render("llms-site.txt.j2", fields=fields, site=entries))
