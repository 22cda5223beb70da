"""Items of lists that several pages have in the same words, such as a parameter of most tools, are written once.

`shareable` marks each item while it is rendered. `share` then moves those that several pages have to sections of their
own, and in their lists a line names them, with type and whether they are required (`shared_line`). Neighbours of which
there is no more to say than that have a line together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain

from msgspec import Struct, field
from msgspec.structs import replace

from skillgen.model.schema import Parameter
from skillgen.render.pages import SHARED, TOOL_PAGE_LIMIT_BYTES, Section, section_of, shared_line
from skillgen.render.parameters import Direction, parameter_name
from skillgen.render.phrases import of_rendering, phrase
from skillgen.render.types import parameter_type
from skillgen.text.markdown import Markdown

MIN_BYTES = 10_000
"""Bytes of all sections from which items are shared; of fewer, a second file would save hardly anything."""

MIN_SAVED = 150
"""Bytes of all repetitions of an item that are worth a section of its own."""

MIN_WORDS = 18
"""Bytes of an item after its type that are worth a reference."""

MIN_PAGE = 600
"""Bytes of all repetitions that are worth a page."""

_START, _BREAK, _END = "\x11", "\x12", "\x13"
"""An item begins and ends with a mark; two more are around `, required`. No text of a source can contain them."""

_MARK = re.compile(f"[{_START}{_END}]")

_Macro = Callable[[Parameter, Direction], str]


def item_head(parameter: Parameter) -> Markdown:
    """Returns a parameter's name, and in parentheses its type and whether it is required."""
    required = f", {phrase('required')}" if parameter.required else ""
    kind = parameter_type(parameter)
    return Markdown(f"{parameter_name(parameter)}{_BREAK} ({kind}{_BREAK}{required}{_BREAK})")


def shareable(macro: _Macro, parameter: Parameter, way: Direction) -> Markdown:
    """Returns a parameter as `macro` renders it; one that several tools have is rendered once."""
    return of_rendering((macro, way), parameter, lambda: Markdown(f"{_START}{macro(parameter, way).strip()}{_END}\n"))


_Group = str | None
_Page = tuple[_Group, int]


class _Use(Struct):
    """Where an item is."""

    name: str
    """Its name as plain text."""

    size: int
    """Bytes after its type."""

    pages: set[_Page] = field(default_factory=set)
    """The pages that have it."""

    count: int = 0
    """How many lists have it."""

    @property
    def saved(self) -> int:
        """Bytes of its repetitions."""
        return (self.count - 1) * self.size


def share(groups: Mapping[_Group, Sequence[Section]]) -> tuple[dict[_Group, list[Section]], list[Section]]:
    """Returns the sections of each group without the items that several pages share, and the sections of these."""
    sections = list(chain.from_iterable(groups.values()))
    uses: dict[str, _Use] = {}
    if sum(len(section.text) for section in sections) >= MIN_BYTES:
        for group, members in groups.items():
            size = 0
            for section in members:
                size += len(section.text)
                _count(section.text, (group, size // TOOL_PAGE_LIMIT_BYTES), uses)
    found = [(text, use) for text, use in uses.items() if len(use.pages) > 1 and use.saved >= MIN_SAVED]
    if sum(use.saved for _, use in found) < MIN_PAGE:
        found = []
    names: dict[str, int] = {}
    headings: dict[str, str] = {}
    for text, use in sorted(found, key=lambda item: -item[1].count):
        number = names[use.name] = names.get(use.name, 0) + 1
        headings[text] = use.name if number == 1 else f"{use.name} ({number})"
    shared = [
        section_of(heading, _condensed(f"- {text}", headings), SHARED + heading) for text, heading in headings.items()
    ]
    rest = {
        group: [replace(section, text=Markdown(_condensed(section.text, headings).rstrip("\n"))) for section in members]
        for group, members in groups.items()
    }
    return rest, shared


class _Item(Struct, frozen=True):
    """An item as a section has it."""

    indent: str
    """The spaces before it."""

    label: str
    """Its name as code."""

    kind: str
    """Its type, after an opening parenthesis."""

    required: str
    """Not empty if it is required."""

    rest: str
    """What follows its type, with what is nested in it."""

    @property
    def name(self) -> str:
        """Its name as plain text."""
        name = self.label.strip("`")
        return name[1:-1] if name.startswith(" ") else name

    @property
    def text(self) -> str:
        """All of it, apart from whether it is required."""
        return f"{self.label}{self.kind}{self.rest}"


def _items(text: str) -> Iterator[str | _Item]:
    """Yields the outermost items of a text, and the lines between them."""
    depth = at = start = 0
    for mark in _MARK.finditer(text):
        place = mark.start()
        if text[place] == _START:
            start = start if depth else place
            depth += 1
        else:
            depth -= 1
            if depth == 0:
                line = text.rfind("\n", 0, start) + 1
                if at < line:
                    yield text[at:line]
                indent, at = text[line:start], place + 2
                item = text[start + 1 : place]
                parts = (item.replace(f"\n{indent}", "\n") if indent else item).split(_BREAK, 3)
                yield _Item(indent, parts[0].removeprefix("- "), *parts[1:])
    if at < len(text):
        yield text[at:]


def _count(text: str, page: _Page, uses: dict[str, _Use]) -> None:
    """Counts the items of a text; those in an item that was counted before are counted with it."""
    for item in _items(text):
        if isinstance(item, _Item):
            is_new = (use := uses.get(item.text)) is None
            if (size := len(item.rest.encode())) >= MIN_WORDS:
                use = uses.setdefault(item.text, use or _Use(item.name, size))
                use.pages.add(page)
                use.count += 1
            if is_new:
                _count(item.rest, page, uses)


def _condensed(text: str, headings: Mapping[str, str]) -> str:
    """Returns a text in which one line names neighbours of which there is no more to say than their types.

    A line after each list names the items that are shared.
    """
    parts: list[str] = []
    plain: list[str] = []
    pending: list[tuple[str, str]] = []
    indent = ""

    def flush_plain() -> None:
        if plain:
            parts.append(f"{indent}- {', '.join(plain)}\n")
            plain.clear()

    def flush() -> None:
        flush_plain()
        if pending:
            parts.append(f"{indent}{shared_line(pending)}\n")
            pending.clear()

    for item in _items(text):
        if isinstance(item, str):
            flush()
            parts.append(item)
            continue
        if item.indent != indent:
            flush()
            indent = item.indent
        if (heading := headings.get(item.text)) is not None:
            number = heading.removeprefix(item.name)
            pending.append((f"{item.label}{'*' if item.required else ''}{number}{item.kind})", SHARED + heading))
        elif item.rest == ")":
            plain.append(f"{item.label}{item.kind}{item.required})")
        else:
            flush_plain()
            words = _condensed(item.rest, headings).rstrip("\n").replace("\n", f"\n{item.indent}")
            parts.append(f"{item.indent}- {item.label}{item.kind}{item.required}{words}\n")
    flush()
    return "".join(parts)
