"""The references of a skill: every tool, named type, resource and prompt, in pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, chain, takewhile

from msgspec import Struct
from msgspec.structs import replace

from skillgen.model.resource import Event, Group, Prompt, Resource
from skillgen.model.schema import NamedType, Schema
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.traversal import type_references, types_named_in, types_reached
from skillgen.model.values import is_inferred
from skillgen.render.about import about_pages, description_headings, with_quotations
from skillgen.render.access import shared_auth
from skillgen.render.environment import Templates
from skillgen.render.examples import shown_examples
from skillgen.render.pages import (
    ERRORS,
    PAGE_LIMIT_BYTES,
    TOOL,
    TOOL_PAGE_LIMIT_BYTES,
    TYPE,
    Page,
    Section,
    addresses,
    file_stems,
    is_own_heading,
    link_resolver,
    move_types_to_tools,
    pages_of,
    section_of,
)
from skillgen.render.parameters import items_of, repeated
from skillgen.render.phrases import phrase, phrases, plain_phrase
from skillgen.render.results import CommonErrors, common_errors
from skillgen.render.semantics import common_notes
from skillgen.render.types import inline_types, nested_lines, schema_notes, selected_types, type_phrase
from skillgen.text import lazy_re as re
from skillgen.text.blocks import block
from skillgen.text.markdown import Markdown, inline, one_line, paragraph
from skillgen.text.markdown import name as heading_text
from skillgen.text.summary import Anchors, clip, headings_in, paragraphs, parts_of, sentences, start_of
from skillgen.text.words import words_of

WHOLE_PAGE_LIMIT_BYTES = 300_000
"""Maximum size of the sections of a page for people."""

_WORDS_LIMIT = 160
"""Characters of what the source says of a group in a list of groups."""


class Topic(Struct, frozen=True, kw_only=True):
    """The tools of one group, and the pages that document them."""

    title: str
    """The title of the group."""

    tools: tuple[Tool, ...]
    """Its tools, in order, without preflight requests, which are only on its pages."""

    words: str
    """The first sentence of what the source says of the group; empty if it says nothing."""

    pages: tuple[Page, ...]
    """The pages that document them."""

    intro: Markdown | None = None
    """What its tools are for, in the source's words."""

    above: Markdown | None = None
    """The items of their lists that are written once, above the sections."""

    @property
    def tools_by_page(self) -> list[tuple[Page, tuple[Tool, ...]]]:
        """Each of the pages, with the tools that it documents."""
        tools = {tool.name: tool for tool in self.tools}
        return [
            (page, tuple(tools[section.name] for section in page.sections if section.name in tools))
            for page in self.pages
        ]


class Reference(Struct, frozen=True, kw_only=True, dict=True):
    """Everything that is documented about a service, in sections and pages."""

    about: tuple[Page, ...]
    """What concerns the service as a whole; no pages if there is nothing to add to SKILL.md."""

    headings: tuple[str, ...] = ()
    """The headings of the description, which begins `about`."""

    options: Section | None = None
    """The options of a program that precede the command; also in `about`."""

    errors: Section | None = None
    """The errors that most tools share; also in `about`."""

    topics: tuple[Topic, ...]
    """The tools by group."""

    types: tuple[Page, ...]
    """Named types that are not on the page of their tools."""

    resources: tuple[Page, ...]
    """Resources and resource templates."""

    prompts: tuple[Page, ...]
    """Prompts."""

    events: tuple[Page, ...]
    """Requests that the service itself sends."""

    type_sections: tuple[Section, ...] = ()
    """All named types, on any page."""

    has_quotations: bool = False
    """True if a section quotes an order to the reader, which never enters SKILL.md."""

    @cached_property
    def places(self) -> dict[str, str]:
        """The address within `references/` of each section, by its key."""
        return addresses(self.pages)

    @cached_property
    def tool_addresses(self) -> dict[str, str]:
        """Tool name to address within `references/`."""
        return {key[1:]: address for key, address in self.places.items() if key[:1] == TOOL}

    @property
    def type_names(self) -> list[str]:
        """The named types that have a section."""
        return [key[1:] for key in self.places if key[:1] == TYPE]

    @property
    def usual_errors(self) -> str | None:
        """The address of the common errors, if there are some that sections do not name."""
        return self.places.get(ERRORS)

    @property
    def tool_pages(self) -> list[tuple[Page, tuple[Tool, ...]]]:
        """Each page of tools, with its tools."""
        return [item for topic in self.topics for item in topic.tools_by_page]

    def about_address(self, name: str) -> str | None:
        """Returns the address of a section of the about pages, such as `authentication`."""
        return addresses(self.about).get(phrases("about_headings")[name])

    @property
    def pages(self) -> Iterator[Page]:
        """All pages."""
        tools = (page for topic in self.topics for page in topic.pages)
        return chain(self.about, tools, self.types, self.resources, self.prompts, self.events)

    def size_bytes(self) -> int:
        """Returns the total size of all sections."""
        sections = (section for page in self.pages for section in (*page.sections, *page.types))
        return sum(len(section.text.encode("utf-8")) for section in sections)


def reference_of(
    service: Service,
    templates: Templates,
    elsewhere: Collection[str] = (),
    called: Sequence[Tool] | None = None,
    *,
    is_whole: bool = False,
) -> Reference:
    """Renders every section of a service and divides them into pages, without the types that are described `elsewhere`.

    Its workflows may have the tools `called`, also those of other skills. If it is for people, each section is whole,
    and a group has one page if it is not very large.
    """
    short = inline_types()
    short.update(_short_types(service.schemas))
    limit = WHOLE_PAGE_LIMIT_BYTES if is_whole else TOOL_PAGE_LIMIT_BYTES
    list_limit = WHOLE_PAGE_LIMIT_BYTES if is_whole else PAGE_LIMIT_BYTES
    tools_by_group, common = _tools_by_group(service), common_errors(service)
    shown = with_quotations(service if called is None else replace(service, tools=called))
    sections = {
        name: list(_tool_sections(service, tools, templates, common, is_site=is_whole))
        for name, tools in tools_by_group.items()
    }
    headings, notes = phrases("about_headings"), common_notes(service)
    options = errors = said = None
    if service.parameters:
        options = section_of(headings["options"], templates.render("reference/options.md.j2", service=service))
    if notes:
        said = section_of(headings["notes"], "\n\n".join(map(paragraph, notes)))
    if common.cases:
        words = templates.render("reference/common-errors.md.j2", common=common)
        errors = section_of(phrase("common_errors"), words, target=ERRORS)
    listed: dict[str, Sequence[Resource | Prompt | Event]] = {
        "resource": (*service.resources, *service.resource_templates),
        "prompt": service.prompts,
        "event": shown.events,
    }
    lists = {f"{kind}s": _list_pages(kind, items, service, templates, list_limit) for kind, items in listed.items()}
    type_sections = _type_sections(service, {*short, *elsewhere}, templates)  # after all that may lead to one
    topics = _topics(service, shown.groups, tools_by_group, sections, limit)
    if type_sections:
        moved = iter(move_types_to_tools([page for topic in topics for page in topic.pages], type_sections))
        topics = tuple(replace(topic, pages=tuple(next(moved) for _ in topic.pages)) for topic in topics)
    on_tool_pages = {section.name for topic in topics for page in topic.pages for section in page.types}
    rest = [section for section in type_sections if section.name not in on_tool_pages]
    parts: Sequence[Service | Tool | Resource | Prompt]
    parts = (service, *service.tools, *service.resources, *service.resource_templates, *service.prompts)
    return Reference(
        about=about_pages(shown, templates, [*filter(None, (options, said, errors))]),
        headings=description_headings(service),
        options=options,
        errors=errors,
        topics=topics,
        types=pages_of(phrase("named_types"), "types", rest, limit=limit),
        **lists,
        type_sections=tuple(type_sections),
        has_quotations=any(part.quotations for part in parts),
    )


INLINE_LIMIT_BYTES = 300
"""Bytes of a named type that is written wherever it is used."""

INLINE_LIMIT_LINES = 8
"""Properties of such an object."""


def _short_types(types: Sequence[NamedType]) -> dict[str, Schema]:
    """Returns the types that are written wherever a value has them; one of them has another only if that is one, too,
    so that there are no cycles.
    """
    candidates = {item.name: item.schema for item in types if _is_short(item.schema)}
    short: dict[str, Schema] = {}
    for name, schema in sorted(candidates.items(), key=lambda item: len(item[1].properties)):
        if all(other in short or other not in candidates for other in types_named_in(schema)):
            short[name] = schema
    return short


def _is_short(schema: Schema) -> bool:
    """True if a type has nothing nested but a few properties without a list of their own."""
    if not schema.properties:
        is_typed = bool(schema.types or schema.choices)
        return is_typed and not nested_lines(schema) and _size_bytes(schema) <= INLINE_LIMIT_BYTES
    has_lists = any((item.schema.items or item.schema).properties for item in schema.properties)
    rest = replace(schema, types=(), description=None, title=None, properties=())
    if has_lists or len(schema.properties) > INLINE_LIMIT_LINES or rest not in (Schema(), Schema(additional=False)):
        return False
    size = 0
    for item in schema.properties:
        size += len(item.name) + len((item.description or "").encode()) + _size_bytes(item.schema)
    return size <= INLINE_LIMIT_BYTES and not any(nested_lines(item.schema) for item in schema.properties)


def _size_bytes(schema: Schema) -> int:
    return sum(len(text.encode()) for text in (type_phrase(schema), schema.description or "", schema_notes(schema)))


def _type_sections(service: Service, short: Collection[str], templates: Templates) -> list[Section]:
    """Returns the sections of the named types, and of `short` ones to which a discriminator or an error leads."""
    sent = _sent_types(service)

    def section(item: NamedType) -> Section:
        way = "both" if item.name in sent else "returned"
        body = templates.render("reference/type.md.j2", type=item, way=way)
        return section_of(item.name, body, target=TYPE + item.name)

    sections = [section(item) for item in service.schemas if item.name not in short]
    sections += [section(item) for item in service.schemas if item.name in short and item.name in selected_types()]
    return sorted(sections, key=lambda section: section.name)


def reference_files(
    reference: Reference, templates: Templates, index_of: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Yields the name in `references/` and the text of each file; `index_of` has the index page of some files."""
    resolved = link_resolver(reference.places)
    for page in reference.pages:
        text = resolved(page_text(page, templates, index_of.get(page.file_name, SKILL_FILE)))
        yield page.file_name, text.replace(f"]({page.file_name}#", "](#")


def section_command(file: str, sections: Sequence[Section | Tool]) -> str:
    """Returns the command that prints one section of a file; names with a slash need another delimiter.

    The headings of the source's own texts, which are on the about pages, are bold.
    """
    heading = r"[#* ]*NAME\**" if file.startswith("about") else "## NAME"
    return _command(file, heading, "## ", [section.name for section in sections])


def request_command(file: str, start: str, tools: Sequence[Tool]) -> str:
    """Returns the command that prints one section of a file from its request on; `start` begins every path.

    Without `start` if `sed` would read more in it than its characters.
    """
    if not _are_inert([f"{tool.method}{tool.path}" for tool in tools]):
        return f"grep -n '^`[A-Z]' {file}"
    start = start if re.fullmatch(r"[\w/.~{}-]*", start) else ".*"
    return rf"sed -n '\|^`METHOD {start}PATH`|,/^## /p' {file}"


def type_command(file: str, names: Collection[str]) -> str:
    """Returns the command that prints one of the named types, which follow the tools of a page or have a page."""
    return _command(file, "###* NAME", "##", names)


_SEPARATOR = re.compile(r"[\s;&`<>]|\$(?![a-z])")


def _are_inert(names: Collection[str]) -> bool:
    """True if no name in an address of `sed`, which a shell quotes, is a command of `sed` or of the shell.

    What follows a quote is not quoted; OData has paths such as `/days(start='{start}')/$value`.
    """
    quoted = (name for name in names if "'" in name)
    return not any(map("".join(names).__contains__, "|\\‘’‚‛")) and not any(map(_SEPARATOR.search, quoted))


def _command(file: str, heading: str, end: str, names: Collection[str]) -> str:
    if not _are_inert(names):
        return f"grep -n '^{end}' {file}"
    if any(heading_text(name).startswith("`") or ("# NAME" in heading and is_own_heading(name)) for name in names):
        heading = heading.replace("NAME", "`*NAME`*")
    start = rf"\|^{heading}$|" if any("/" in name for name in names) else f"/^{heading}$/"
    return f"sed -n '{start},/^{end}/p' {file}"


SKILL_FILE = "../SKILL.md"
"""SKILL.md, as pages link to it."""


def page_text(page: Page, templates: Templates, index: str = SKILL_FILE, *, is_index: bool = False) -> Markdown:
    """Renders one page, which links to its index or is one; other links are unresolved."""
    parts = [section.text for section in page.sections]
    if page.types:
        parts += [Markdown(f"## {phrase('named_types')}"), *(Markdown(f"#{section.text}") for section in page.types)]
    body = Markdown("\n\n".join(parts))
    return templates.render("reference/page.md.j2", page=page, body=body, index=index, is_index=is_index)


class SingleFile:
    """A file that is written from top to bottom, so that the anchor of every heading is known."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        """The texts, with unresolved links."""
        self._anchors = Anchors()
        self._places: dict[str, str] = {}
        self._pages: dict[str, str] = {}

    def add(self, *texts: str | None, pages: Iterable[Page] = ()) -> None:
        """Adds a text with its own headings; below the first, the sections of pages follow."""
        text = "\n\n".join(part.strip("\n") for part in texts if part)
        anchors = [self._anchors.of(heading.replace("\\", "")) for heading in headings_in(text)]
        self._pages.update({page.file_name: anchors[0] for page in pages})
        self.parts.append(text)

    def add_sections(self, sections: Iterable[Section], level: str = "#") -> None:
        """Adds sections, one level below the last heading, or on the second level if `level` is empty."""
        for section in sections:
            self._places[section.key] = "#" + self._anchors.of(section.heading)
            self.parts.append(level + section.text)

    def add_pages(self, pages: Iterable[Page], level: str = "#") -> None:
        """Adds the sections of pages."""
        self.add_sections((section for page in pages for section in page.sections), level)

    def add_tool(self, section: Section) -> None:
        """Adds the section of one tool, without its heading."""
        self._places[section.key] = "#"
        self.parts.append(section.text.partition("\n")[2].strip("\n"))
        self.parts.append(above_sections([section]) or "")

    def anchors(self, places: Mapping[str, str]) -> dict[str, str]:
        """Returns the anchor of each address within the references, `holidays.md#list` and `holidays.md`."""
        sections = {places[key]: anchor[1:] for key, anchor in self._places.items() if key in places}
        return {**self._pages, **sections}

    def text(self) -> str:
        """Returns the file, with links resolved to its own anchors."""
        # Part by part: one character beyond Latin-1 doubles or quadruples the memory of every copy of a string.
        *parts, last = map(link_resolver(self._places), filter(None, self.parts))
        return "\n\n".join([*parts, f"{last}\n"])


def single_file(head: str, reference: Reference) -> str:
    """Returns the complete reference of a service in one file, after `head`."""
    file = SingleFile()
    file.add(head)
    _add_about(file, reference)
    for topic in reference.topics:
        file.add(f"## {heading_text(topic.title)}", topic.intro, topic.above)
        file.add_pages(topic.pages)
    _add_lists(file, reference)
    return file.text()


def whole_skill(head: str, reference: Reference) -> tuple[str, Mapping[str, str]]:
    """Returns SKILL.md of a small service, with everything: its tools right after `head`, on the second level.

    The second value is the anchor in it of each address within the references, to which links of `head` lead, too.
    """
    file = SingleFile()
    file.add(head)
    for topic in reference.topics:
        file.add(topic.intro and f"**{heading_text(topic.title)}:**", topic.intro)  # a tool may have its name
        file.add(above_sections([section for page in topic.pages for section in page.sections], head))
        file.add_pages(topic.pages, level="")
    _add_lists(file, reference)
    _add_about(file, reference)
    anchors = file.anchors(reference.places)
    file.parts[0] = _LINK_TO_REFERENCES.sub(
        lambda match: f"](#{anchors.get(match[1]) or match[2] or ''})", file.parts[0]
    )
    return file.text(), anchors


_LINK_TO_REFERENCES = re.compile(r"\]\(references/([^()#]*(?:#([^()]*))?)\)")


def _add_about(file: SingleFile, reference: Reference) -> None:
    if reference.about:
        first = reference.about[0]
        file.add(f"## {heading_text(first.title)}", first.intro, pages=reference.about)
        file.add_pages(reference.about)


def _add_lists(file: SingleFile, reference: Reference) -> None:
    for kind, heading in phrases("list_headings").items():
        if pages := getattr(reference, kind):
            file.add(f"## {heading}", pages[0].intro, pages=pages)
            file.add_pages(pages)
    if reference.type_sections:
        file.add(f"## {phrase('named_types')}", pages=reference.types)
        file.add_sections(reference.type_sections)


def _tools_by_group(service: Service) -> dict[str | None, list[Tool]]:
    """Returns the tools of each group; those without one are in the group `None`."""
    tools: dict[str | None, list[Tool]] = {group.name: [] for group in service.groups}
    for tool in service.tools:
        tools.setdefault(tool.group if tool.group in tools else None, []).append(tool)
    return tools


def _tool_sections(
    service: Service, tools: Sequence[Tool], templates: Templates, common: CommonErrors, *, is_site: bool
) -> Iterator[Section]:
    """Yields the section of each tool; on a site, all items of its lists are in it, and its marks are not."""
    above = [] if is_site else repeated(tools)
    context = {
        "common": common,
        "shared_auth": shared_auth(service),
        "has_one_scheme": len({item.name for item in service.requirements.auth}) == 1,
        "above": above,
        "notes": common_notes(service),
        "is_site": is_site,
    }
    for tool in map(with_quotations, tools):
        examples = shown_examples(tool, service)
        body = templates.render("reference/tool.md.j2", tool=tool, shown_examples=examples, **context)
        section = section_of(tool.name, body, target=TOOL + tool.name)
        yield replace(section, above=tuple(filter(items_of(tool).__contains__, above)))


def _topics(
    service: Service,
    groups: Sequence[Group],
    by_group: Mapping[str | None, Sequence[Tool]],
    sections: Mapping[str | None, Sequence[Section]],
    limit: int,
) -> tuple[Topic, ...]:
    titles = Counter(group.title for group in groups)
    said = Counter(group.description for group in service.groups)
    names = {group.name: group.title if titles[group.title] == 1 else group.name for group in groups}
    stems = file_stems(names.values(), _reserved_stems(service))
    topics: list[Topic] = []
    for group, shown in (*zip(service.groups, groups, strict=True), (None, None)):
        if not (own := sections.get(name := group.name if group is not None else None)):
            continue
        title, stem, words, intro = str(phrase("other_tools" if topics else "all_tools")), "tools", "", None
        if group is not None and shown is not None:
            title, stem, intro = one_line(group.title), stems[names[group.name]], _intro(shown, limit // 2)
            is_said = said[group.description] == 1 and not is_inferred(group, "description")
            words = clip(_sentence_on(group), _WORDS_LIMIT) if is_said else ""
        above = sum(len(item.encode()) for item in {item for section in own for item in section.above})
        # What is written above the sections has room on each page.
        pages = pages_of(title, stem, own, intro=intro, limit=max(limit - above, limit // 2))
        if above:
            pages = tuple(replace(page, intro=_joined(page.intro, above_sections(page.sections))) for page in pages)
        tools = tuple(tool for tool in by_group[name] if not tool.is_preflight)
        topics.append(Topic(title=title, tools=tools, words=words, pages=pages, intro=intro, above=above_sections(own)))
    return tuple(topics)


def _reserved_stems(service: Service) -> frozenset[str]:
    """Returns the names of pages that are not those of a group."""
    lists = {
        "types": service.schemas,
        "resources": (*service.resources, *service.resource_templates),
        "prompts": service.prompts,
        "events": service.events,
    }
    return frozenset({"about", "index", "shared", "tools", *(name for name, items in lists.items() if items)})


def group_words(words: str, names: Sequence[str], limit: int, separator: str = ", ") -> Markdown:
    """Returns what the source says of a group within a number of characters, else its first tools."""
    if words:
        return inline(clip(words, limit)) if limit else Markdown("")
    count = len([*takewhile(limit.__ge__, accumulate(len(name) + len(separator) for name in names))])
    return Markdown(separator.join([*names[:count], *["…"] * (0 < count < len(names))]))


def above_sections(sections: Sequence[Section], head: str = "") -> Markdown | None:
    """Returns the items that are written once for some sections, without those that `head` has."""
    items = dict.fromkeys(item for section in sections for item in section.above if item not in head)
    return Markdown(f"{phrase('above_sections')}\n\n" + "\n".join(items)) if items else None


def _joined(*texts: Markdown | None) -> Markdown | None:
    return Markdown("\n\n".join(filter(None, texts))) or None


def _list_pages(
    kind: str, items: Sequence[Resource | Prompt | Event], service: Service, templates: Templates, limit: int
) -> tuple[Page, ...]:
    """Divides resources, prompts or events into pages."""
    if not items:
        return ()
    intro = Markdown(templates.render(f"reference/{kind}s.md.j2", service=service).rstrip("\n"))
    template = f"reference/{kind}.md.j2"
    with_variables = set(map(id, service.resource_templates))
    sections = []
    for item in items:
        context = {kind: item if isinstance(item, Event) else with_quotations(item)}
        text = templates.render(template, service=service, is_template=id(item) in with_variables, **context)
        sections.append(section_of(item.name, text, getattr(item, "uri", None)))
    return pages_of(phrases("list_headings")[f"{kind}s"], f"{kind}s", sections, intro=intro, limit=limit)


def _sentence_on(group: Group) -> str:
    """Returns the first sentence on a group as a whole, which is not below a heading on something else; empty if it
    only repeats the title.
    """
    title = {*words_of(group.title)}
    parts = ((heading, text) for _, heading, text in parts_of(group.description or "", 6) if text)
    heading, text = next(parts, ("", ""))
    sentence = next(sentences(next(paragraphs(text), "")))
    return sentence if {*words_of(heading)} <= title and not {*words_of(sentence)} <= title else ""


def _intro(group: Group, limit: int) -> Markdown | None:
    """Returns what a group's tools are for, cut at a paragraph so that the page stays within its size."""
    text = (group.description or "").strip()
    if text and "description" in (group.origins or {}):
        text = plain_phrase("small_groups", groups=text)
    return block(start_of(text, limit)) if text else None


def _sent_types(service: Service) -> set[str]:
    """Returns the named types that a caller sends; of the others nothing is said that only callers must know."""
    inputs = chain.from_iterable((*tool.parameters, tool.input, *tool.other_inputs) for tool in service.tools)
    named = types_named_in(*{id(item): item for item in inputs}.values())  # tools share most of their parameters
    return types_reached(named, type_references(service))
