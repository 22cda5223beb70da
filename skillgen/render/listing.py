"""The list of tools in SKILL.md: the richest of five forms that fits.

1. The call with every parameter, the mark, the summary.
2. The same with the required parameters only, and `…` where others are left out.
3. The name or request, the mark, and the start of the summary.
4. The name or request, and the mark; several methods of one path together.
5. The group: its title, how many tools it has, the source's words on it; the tools are on a page of its own.

All groups have one form; what room is left raises whole groups by one form, the largest first, but none from the fifth.
A tool of an HTTP API is listed by its request, unless requests differ only in a fragment, a parameter or a header.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate, chain

from msgspec import Struct

from skillgen.model.schema import Parameter, Schema, writable
from skillgen.model.serialization import value_text
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.values import json_type
from skillgen.render.commands import usage
from skillgen.render.identity import tool_phrase
from skillgen.render.pages import Page, Section, pages_of
from skillgen.render.parameters import is_fixed, lists_requests, shared_parameters, takes_nothing
from skillgen.render.phrases import of_rendering, once, phrase, plain_phrase, usual_number
from skillgen.render.reference import Reference, Topic, group_words
from skillgen.render.semantics import mark_text
from skillgen.text.markdown import Markdown, code, code_list, inline, link_label, link_url, one_line, paragraph
from skillgen.text.markdown import name as heading_text
from skillgen.text.summary import clip, clip_middle

FORMS = (1, 2, 3, 4, 5)

LINE_BYTES = 240
"""Bytes of a line; a longer one has the required parameters only, then its summary is cut, as far as in form 3."""

PHRASE_CHARACTERS = 80
"""Characters of a summary in form 3."""

GROUP_CHARACTERS = (160, 120, 80, 0)
"""Characters of the words on a group, the most that fit."""

_CHOICES = 4
"""Values of a parameter in a call."""

_SHORT_TYPES = {"integer": "int", "boolean": "bool"}

_KINDS = 2
"""Types of one parameter in a call."""


class Start(Struct, frozen=True):
    """The start of paths that a list says once."""

    text: str = ""
    """Whole segments, empty if there is no such start."""

    mark: str = ""
    """What is written in its place: nothing if all paths have it, else a full stop."""

    def left_out_of(self, path: str) -> str:
        """Returns a path without the start."""
        return self.mark + path[len(self.text) :] if self.text and path.startswith(f"{self.text}/") else path


_NO_START = Start()


class Listing(Struct, frozen=True, kw_only=True):
    """The list of tools in SKILL.md, and the pages that it needs."""

    text: Markdown = Markdown("")
    """The lines of the groups, below their headings."""

    forms: tuple[int, ...] = FORMS[:1]
    """The forms that occur."""

    start: Start = _NO_START
    """What is left out of paths."""

    indexes: tuple[Page, ...] = ()
    """The pages that list the tools of groups in form 5."""


def names_in(topic: Topic, service: Service, start: Start = _NO_START) -> Sequence[Markdown]:
    """Returns the names of the tools of a group, or their paths where requests are listed, as code."""
    if not lists_requests(service):
        return [code(tool.name) for tool in topic.tools]
    return [*map(code, dict.fromkeys(start.left_out_of(tool.path or "") for tool in topic.tools))]


def list_tools(service: Service, reference: Reference, room: int, *, is_linked: bool = True) -> Listing:
    """Returns the list within `room` bytes; more only if the groups alone have no room.

    The groups link to their pages if it `is_linked`.
    """
    lines, topics = _Lines(service, shared_start(service)), reference.topics

    def text(number: int, form: int) -> str:
        return of_rendering(
            (form, is_linked), topics[number], lambda it: "\n".join(lines.of_group(it, form, is_linked=is_linked))
        )

    def size(number: int, form: int) -> int:
        return len(text(number, form).encode()) + 1

    base, numbers = FORMS[-1], range(len(topics))
    while base > FORMS[0] and all(size <= room for size in accumulate(size(item, base - 1) for item in numbers)):
        base -= 1
    if base == FORMS[-1]:
        return (_list_of_groups if is_linked else _commands_of_groups)(service, reference, room)
    left, forms = room - sum(size(item, base) for item in numbers), [base] * len(topics)
    for item in sorted(numbers, key=lambda item: -len(topics[item].tools)) if base > FORMS[0] else ():
        if (more := size(item, base - 1) - size(item, base)) <= left:
            left -= more
            forms[item] = base - 1
    listed = "\n".join(map(text, numbers, forms))
    return Listing(text=Markdown(listed.rstrip("\n")), forms=tuple(sorted(set(forms))), start=lines.start)


def _list_of_groups(service: Service, reference: Reference, room: int) -> Listing:
    """Returns a line for each group: a few groups with all their tools would hide the others."""
    found = of_rendering(_list_of_groups, reference, partial(_lists_of_groups, service))
    return next((listing for listing in found if len(listing.text.encode()) < room), None) or _sequence(reference, room)


def _lists_of_groups(service: Service, reference: Reference) -> Sequence[Listing]:
    """Returns a line for each group, with fewer and fewer words on it."""
    lines, indexes = _Lines(service, _NO_START), dict[str, tuple[Page, ...]]()
    for topic in reference.topics:
        if len(topic.pages) > 1:
            stem = topic.pages[0].file_name.removesuffix(".md")
            listed = ((page, lines.of(tools, 3)) for page, tools in topic.tools_by_page)
            indexes[stem] = _index(plain_phrase("index_of", list=topic.title), f"index-{stem}", listed)

    def entry(topic: Topic) -> str:
        pages = indexes.get(topic.pages[0].file_name.removesuffix(".md"), topic.pages)
        first, *others = (link_url(page.file_name) for page in pages)
        more = "".join(f", [{phrase('more')}](references/{file})" for file in others)
        return f"- [{link_label(topic.title)}](references/{first}) ({len(topic.tools)}){more}"

    entries = [entry(topic) for topic in reference.topics]
    start, all_pages = shared_start(service), tuple(chain.from_iterable(indexes.values()))
    names = [names_in(topic, service, start) for topic in reference.topics]
    found = []
    for limit in GROUP_CHARACTERS:
        words = [group_words(topic.words, each, limit) for topic, each in zip(reference.topics, names, strict=True)]
        shown = [f"{entry}: {said}" if said else entry for entry, said in zip(entries, words, strict=True)]
        left_out = start if any(words) else _NO_START
        found.append(Listing(text=Markdown("\n".join(shown)), forms=FORMS[-1:], indexes=all_pages, start=left_out))
    return found


def _commands_of_groups(service: Service, reference: Reference, room: int) -> Listing:
    """Returns a line for each group with as many of its tools as fit, because nothing leads to the others."""
    topics, start = reference.topics, shared_start(service)

    def texts(_: Reference) -> list[str]:
        tools_of = _Lines(service, start).of
        entries = [f"- {paragraph(topic.title)} ({len(topic.tools)})" for topic in topics]
        names = [[line[2:] for line in tools_of(topic.tools, 4)] for topic in topics]
        words = ([group_words("", each, limit, "; ") for each in names] for limit in _COMMANDS_CHARACTERS)
        listed = (zip(entries, of_limit, strict=True) for of_limit in words)
        return ["\n".join(f"{entry}: {said}" if said else entry for entry, said in lines) for lines in listed]

    # Once for all the texts that are tried around the list.
    for limit, text in zip(_COMMANDS_CHARACTERS, of_rendering(_commands_of_groups, reference, texts), strict=True):
        if len(text.encode()) < room:
            forms = FORMS[-2:-1] if limit == _COMMANDS_CHARACTERS[0] else FORMS[-1:]
            return Listing(text=Markdown(text), forms=forms, start=start)
    titles = inline(clip(", ".join(topic.title for topic in topics), _TITLES_CHARACTERS))
    return Listing(text=phrase("groups_only", titles=titles), forms=FORMS[-1:])


_COMMANDS_CHARACTERS = (100_000, *range(640, -1, -40))
"""Characters of the tools of a group where nothing leads to the others, the most that fit."""


def _sequence(reference: Reference, room: int) -> Listing:
    """Returns links to pages that list all tools by name, in the order of their groups' titles; titles are cut to fit
    `room` bytes.
    """
    topics = sorted(reference.topics, key=lambda topic: (topic.title.casefold(), topic.title))
    listed = {page.file_name: (topic, page, tools) for topic in topics for page, tools in topic.tools_by_page}
    entries = ((page, [code_list(tool.name for tool in tools)]) for _, page, tools in listed.values())
    pages = of_rendering(_sequence, reference, lambda _: _index(plain_phrase("index_of_tools"), "index", entries))

    def line(page: Page, characters: int) -> str:
        titles = [clip_middle(listed[name][0].title, characters) for name in page.anchors]
        label = " to ".join(map(link_label, dict.fromkeys((titles[0], titles[-1]))))
        count = sum(len(listed[name][2]) for name in page.anchors)
        return f"- [{label}](references/{link_url(page.file_name)}) ({count})"

    texts = ["\n".join(line(page, characters) for page in pages) for characters in _LABEL_CHARACTERS]
    text = next((text for text in texts if len(text.encode()) <= room), texts[-1])
    return Listing(text=Markdown(text), forms=FORMS[-1:], indexes=pages)


_TITLES_CHARACTERS = 2_000
"""Characters of the titles of the groups where nothing links to their pages."""

_LABEL_CHARACTERS = (40, 30, 20)
"""Characters of the title of a group in a range, the most that fit."""


def _index(title: str, stem: str, entries: Iterable[tuple[Page, Iterable[str]]]) -> tuple[Page, ...]:
    """Returns pages that list other pages, each with lines on what it has."""
    sections = []
    for page, lines in entries:
        text = Markdown(f"## [{link_label(page.heading)}]({page.file_name})\n\n" + "\n".join(lines))
        sections.append(Section(name=page.file_name, heading=page.heading, text=text))
    return pages_of(title, stem, sections)


class _Lines:
    """Writes the lines of tools; `start` is left out of paths."""

    def __init__(self, service: Service, start: Start) -> None:
        self.service, self.start = service, start
        self._types = {item.name: item.schema for item in service.schemas}
        self._are_requests = lists_requests(service)
        shared = (item.parameter for item in shared_parameters(service) if item.leaves_lines)
        self._left_out = {(item.name, item.location) for item in shared}

    def of_group(self, topic: Topic, form: int, *, is_linked: bool) -> Iterator[str]:
        """Yields the text of each page of a group, which ends with a line break."""
        for page, tools in topic.tools_by_page:
            heading = f"[{link_label(page.heading)}](references/{link_url(page.file_name)})"
            listed = "\n".join(self.of(tools, form))
            yield f"### {heading if is_linked else heading_text(page.heading)}\n\n{listed}\n"

    def of(self, tools: Sequence[Tool], form: int) -> Iterator[str]:
        """Returns the lines of tools, the deprecated ones last."""
        ordered = sorted(tools, key=lambda tool: tool.deprecated)
        are_paths = form == 4 and self._are_requests
        return self._paths(ordered) if are_paths else (self._line(tool, form) for tool in ordered)

    def _line(self, tool: Tool, form: int) -> str:
        said = tool_phrase(tool) if form < 4 else ""
        mark = mark_text(tool, said)
        if form > 2:
            return f"- {self._name(tool)}{mark}{_said(clip(said, PHRASE_CHARACTERS))}"
        head = f"- {self.call(tool, form)}{mark}"
        if form == 1 and len(f"{head}{_said(said)}".encode()) > LINE_BYTES:
            head = f"- {self.call(tool, 2)}{mark}"
        room = max(LINE_BYTES - len(f"{head} — ".encode()), PHRASE_CHARACTERS)
        return head + _said(clip(said, len(said.encode()[:room].decode(errors="ignore"))))

    def _paths(self, tools: Sequence[Tool]) -> Iterator[str]:
        """Yields a line for each path with its methods; [read] of GET is left out."""
        by_path: dict[str, list[Tool]] = {}
        for tool in tools:
            by_path.setdefault(tool.path or "", []).append(tool)
        for path, members in by_path.items():
            if len(members) == 1:
                yield f"- {self._name(members[0])}{mark_text(members[0], is_short=True)}"
                continue
            methods = ", ".join(f"{inline(tool.method or '')}{mark_text(tool, is_short=True)}" for tool in members)
            yield f"- {code(self.start.left_out_of(path))}: {methods}"

    def _name(self, tool: Tool) -> str:
        if self._are_requests:
            return code(f"{tool.method} {self.start.left_out_of(tool.path or '')}")
        return code(tool.name)

    def call(self, tool: Tool, form: int) -> str:
        """Returns the call: `create_task(title*, labels: string[])`, or the request with its parameters after it."""
        if tool.command:
            return code(usage(tool, _COMMAND_PARAMETERS if form == 1 else 0))
        words = self._arguments(tool, form)
        if self._are_requests:
            return self._name(tool) + (f" ({code(words)})" if words else "")
        return code(f"{tool.name}({words})")

    def _arguments(self, tool: Tool, form: int) -> str:
        # A name says what differs only in a constant; a header with one says nothing about the call.
        named = ("header",) if self._are_requests else ("header", "query", "body")
        sent = [
            item
            for item in writable(tool.parameters)
            if not (self._are_requests and item.location == "path")
            and (item.name, item.location) not in self._left_out
            and not (item.location in named and is_fixed(item))
        ]
        # A sole argument that is an object counts as a body.
        sole = self._target(tool.parameters[0].schema) if len(tool.parameters) == 1 else Schema()
        if members := writable(sole.properties):
            item = tool.parameters[0]
            return f"{one_line(item.name)}{'*' * item.required}: {{{self._joined(members, sole, form)}}}"
        if not tool.parameters and not takes_nothing(tool):
            return "…"
        return self._joined(sent, tool.input.schema if tool.input is not None else None, form)

    def _joined(self, sent: Sequence[Parameter], whole: Schema | None, form: int) -> str:
        """Returns the parameters, with the names that are required of the whole but not declared."""
        # One that is sent in two places, such as the query and the body, is named once.
        sent = [*{item.name: item for item in sorted(sent, key=lambda item: item.required)}.values()]
        # Headers hold signatures and versions, which say nothing about the call.
        sent.sort(key=lambda item: item.location in ("header", "cookie"))
        required = [item for item in sent if item.required]
        shown = [item for item in sent if form == 1 and not item.required and not item.deprecated]
        undeclared = [f"{one_line(name)}*" for name in (whole.required if whole is not None else ())]
        has_more = len(required) + len(shown) < len(sent)
        return ", ".join([*map(self._argument, required), *undeclared, *map(self._argument, shown), *["…"] * has_more])

    def _target(self, schema: Schema) -> Schema:
        for _ in range(_REFERENCES):
            if schema.ref is None or schema.ref not in self._types:
                break
            schema = self._types[schema.ref]
        return schema

    def _argument(self, item: Parameter) -> str:
        kind = self._kind(item.schema)
        return f"{one_line(item.name)}{'*' * item.required}" + (f": {kind}" if kind else "")

    def _kind(self, schema: Schema) -> str:
        """Returns the types in short, or a few values; empty for a string."""
        schema = self._target(schema)
        if schema.choices and len(schema.choices) <= _CHOICES:
            types = str if len(schema.choices) > 1 else (str, int)
            words = [value_text(item) for item in schema.choices if isinstance(item, types)]
            if len(words) == len(schema.choices) and all(word and word.isascii() for word in words):
                return "|".join(map(one_line, words))
        kinds = self._json_types(schema)
        if kinds == ["array"] and schema.items is not None:
            kinds = self._json_types(self._target(schema.items))
            return f"{_SHORT_TYPES.get(kinds[0], kinds[0])}[]" if len(kinds) == 1 else "array"
        if kinds == ["string"]:
            return ""
        return " or ".join(_SHORT_TYPES.get(kind, kind) for kind in kinds) if 0 < len(kinds) <= _KINDS else "any"

    def _json_types(self, schema: Schema) -> list[str]:
        """Returns the types of the values but null; none if they may be of any type."""
        kinds: dict[str, None] = {}
        waiting, known = [schema], {id(schema)}
        while waiting:
            schema = waiting.pop()
            types: Iterable[str] = schema.types
            if not types and schema.alternatives:
                found = {id(item): item for item in map(self._target, schema.alternatives) if id(item) not in known}
                known |= {*found}
                waiting += reversed(found.values())
                continue
            if not types and schema.choices:
                types = map(json_type, schema.choices)
            elif not types and (schema.properties or schema.includes):
                types = ("object",)
            elif not types and schema.items is not None:
                types = ("array",)
            if not (of_this := dict.fromkeys(types)):
                return []
            kinds |= of_this
        return [kind for kind in kinds if kind != "null"]


_COMMAND_PARAMETERS = 8
"""Parameters of a command in its usage, unless more are required."""

_REFERENCES = 8
"""Named types that are only another one, one after the other."""


def _said(words: str) -> str:
    return f" — {inline(words)}" if words else ""


@once
def shared_start(service: Service) -> Start:
    """Returns the longest start that most paths share: of one segment only if all have it."""
    count = len(service.tools)
    if not lists_requests(service) or count < 2:
        return _NO_START
    starts: Counter[str] = Counter()
    for tool in service.tools:
        starts.update(accumulate(f"/{item}" for item in (tool.path or "").split("/")[1:-1]))
    shared = {start: number for start, number in starts.items() if number >= min(count, usual_number(count))}
    start = max(shared, key=len, default="")
    is_usual = start.count("/") > 1 and shared[start] < count
    return Start(start, "." if is_usual else "") if is_usual or shared.get(start) == count else _NO_START


def list_indexes(reference: Reference) -> dict[str, tuple[Page, ...]]:
    """Returns the pages that list resources, prompts and events which fill several pages, by what they list."""
    found = {}
    for name in ("resources", "prompts", "events"):
        if len(pages := getattr(reference, name)) > 1:
            entries = [(page, [code_list(section.heading for section in page.sections)]) for page in pages]
            found[name] = _index(plain_phrase("index_of", list=name), f"index-{name}", entries)
    return found


def about_words(reference: Reference, about: Sequence[Page]) -> Markdown:
    """Returns what the about pages hold: their headings."""
    sections = (section.heading for page in about for section in page.sections)
    named = dict.fromkeys([*(reference.headings if about[0].intro else ()), *sections])
    words = Markdown(", ".join(map(paragraph, named))) or phrase("the_description")
    return words if len(words) <= _TOPICS_LIMIT else paragraph(clip(words, _TOPICS_LIMIT))


_TOPICS_LIMIT = 200
"""Characters of the headings of the about pages."""

_LINKED_PAGES = 3


def page_links(pages: Sequence[Page], indexes: Sequence[Page] = ()) -> Markdown:
    """Returns links to the pages that list others, else to the first pages and to the last."""
    names = [page.file_name for page in indexes or pages]
    shown = [f"[references/{name}](references/{link_url(name)})" for name in names[:_LINKED_PAGES]]
    if len(names) > _LINKED_PAGES:
        shown[-1] = f"… [references/{names[-1]}](references/{link_url(names[-1])})"
    return Markdown(", ".join(shown))
