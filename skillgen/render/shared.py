"""Items of lists that several pages have in the same words, such as a parameter of most tools, are written once.

`shareable` renders each item once and puts its number into the text. `share` then writes the items: those that several
pages have into sections of their own, and in their lists a line names them, with type and whether they are required
(`shared_line`). Neighbours of which there is no more to say than that have a line together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum, auto
from itertools import chain
from operator import itemgetter

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

MIN_SAVED = 90
"""Bytes of all repetitions of an item that are worth a section of its own."""

MANY_LISTS = 3
"""Lists of a required item from which it has a section; of fewer, each call needs one read less."""

MIN_WORDS = 18
"""Bytes of an item after its type that are worth a reference."""

MIN_REPEATED = 80
"""Bytes after the type of an item that are not repeated for an item below it."""

MIN_SERIES = 4
"""Items whose names differ only in a number from which one line says it of all."""

MIN_PAGE = 600
"""Bytes of all repetitions that are worth a page."""

_DISTANCE = TOOL_PAGE_LIMIT_BYTES // 3
"""Bytes between sections of a long group that count as several pages, since nobody knows yet where a page ends."""

_START, _BREAK, _END = "\x11", "\x12", "\x13"
"""The number of an item is between marks; three more are before its type and around `, required`. No text of a source
can contain them."""

_NUMBER = re.compile(f"{_START}(\\d+){_END}")

_MARK = re.compile(f"[{_START}{_BREAK}{_END}]")

_Macro = Callable[[Parameter, Direction], str]


def item_head(parameter: Parameter) -> Markdown:
    """Returns a parameter's name, and in parentheses its type and whether it is required."""
    required = f", {phrase('required')}" if parameter.required else ""
    kind = parameter_type(parameter)
    return Markdown(f"{parameter_name(parameter)}{_BREAK} ({kind}{_BREAK}{required}{_BREAK})")


def shareable(macro: _Macro, parameter: Parameter, way: Direction) -> Markdown:
    """Returns the place of a parameter as `macro` renders it; one that several tools have is rendered once."""
    return of_rendering((macro, way), parameter, lambda: _numbered(macro(parameter, way).strip()))


class _Item(Struct, frozen=True):
    """An item as a section has it."""

    label: str
    """Its name as code."""

    kind: str
    """Its type, after an opening parenthesis."""

    required: str
    """Not empty if it is required."""

    rest: str
    """What follows its type, with the numbers of what is nested in it."""

    size: int
    """Bytes of that, with what is nested in it."""

    full: str
    """The item between marks, with what is nested in it."""

    text: str
    """All of it, apart from whether it is required."""

    indent: str = ""
    """The spaces before it."""

    @property
    def name(self) -> str:
        """Its name as plain text."""
        name = self.label.strip("`")
        return name[1:-1] if name.startswith(" ") else name


def _numbered(text: str) -> Markdown:
    """Returns the place of an item; equal items have one number."""
    numbers, items = _known_items()
    if (number := numbers.get(text)) is None:
        number = numbers[text] = len(items)
        head, kind, required, rest = text.split(_BREAK, 3)
        all_of_it = expanded(rest)
        full = f"{_START}{head}{_BREAK}{kind}{_BREAK}{required}{_BREAK}{all_of_it}{_END}"
        label = head.removeprefix("- ")
        items.append(_Item(label, kind, required, rest, len(all_of_it.encode()), full, f"{label}{kind}{rest}"))
    return Markdown(f"{_START}{number}{_END}\n")


def _known_items() -> tuple[dict[str, int], list[_Item]]:
    """Returns the items of this rendering, and the number of each by its text."""
    return of_rendering("items", _known_items, lambda: ({}, []))


def expanded(text: str) -> str:
    """Returns a text with its items, as long as it would be if none was shared."""
    if _START not in text:
        return text
    items = _known_items()[1]

    def full(place: re.Match[str]) -> str:
        indent = text[text.rfind("\n", 0, place.start()) + 1 : place.start()]
        return items[int(place[1])].full.replace("\n", f"\n{indent}")

    return _NUMBER.sub(full, text)


def written_out(text: str) -> Markdown:
    """Returns a text with all items in their places."""
    return Markdown(_MARK.sub("", expanded(text)))


class Kind(Enum):
    """The sections that are not those of a group of tools."""

    TYPES = auto()
    PROMPTS = auto()
    EVENTS = auto()
    ERRORS = auto()
    RESULTS = auto()
    NOTES = auto()
    OPTIONS = auto()
    PARAMETERS = auto()


Place = str | Kind | None
"""The name of a group of tools, `None` for the tools without one, or another kind of sections."""

_Page = tuple[Place, int]


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

    is_required: bool = False
    """True if a list requires it."""

    @property
    def saved(self) -> int:
        """Bytes of its repetitions."""
        return (self.count - 1) * self.size


def share(groups: Mapping[Place, Sequence[Section]]) -> tuple[dict[Place, list[Section]], list[Section]]:
    """Returns the sections of each group without the items that several pages share, and the sections of these."""
    lengths = {id(section): len(expanded(section.text)) for section in chain.from_iterable(groups.values())}
    uses: dict[str, _Use] = {}
    if sum(lengths.values()) >= MIN_BYTES:
        for group, members in groups.items():
            size, is_one_page = 0, sum(lengths[id(section)] for section in members) <= TOOL_PAGE_LIMIT_BYTES
            for section in members:
                size += lengths[id(section)]
                _count(section.text, (group, 0 if is_one_page else size // _DISTANCE), uses)
    found = [
        (text, use)
        for text, use in uses.items()
        if len(use.pages) > 1 and use.count >= (MANY_LISTS if use.is_required else 2) and use.saved >= MIN_SAVED
    ]
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


def unshared(groups: Mapping[Place, Sequence[Section]]) -> tuple[dict[Place, list[Section]], list[Section]]:
    """Returns the sections of each group with all items in their places, and no others."""
    whole = {
        group: [replace(section, text=written_out(section.text)) for section in members]
        for group, members in groups.items()
    }
    return whole, []


def _items(text: str) -> Iterator[str | _Item]:
    """Yields the items of a text, and the lines between them."""
    items, at = _known_items()[1], 0
    for place in _NUMBER.finditer(text):
        line = text.rfind("\n", 0, place.start()) + 1
        if at < line:
            yield text[at:line]
        item, indent, at = items[int(place[1])], text[line : place.start()], place.end() + 1
        yield replace(item, indent=indent) if indent else item
    if at < len(text):
        yield text[at:]


_NUMBERED = re.compile(r"`([A-Za-z_.-]*)(0|[1-9]\d{0,3})([A-Za-z_.-]*)`\Z")


def _without_series(items: Iterator[str | _Item], headings: Mapping[str, str]) -> Iterator[str | _Item]:
    """Yields items; of those that differ only in the number in their names, the first says how far it goes.

    Shared items, of which `headings` has the text, have a section each and are named one by one.
    """
    listed = list(items)
    series: dict[tuple[str, ...], list[tuple[int, _Item]]] = {}
    for item in listed:
        if isinstance(item, _Item) and item.text not in headings and (name := _NUMBERED.match(item.label)):
            key = (*name.group(1, 3), item.indent, item.kind, item.required, item.rest)
            series.setdefault(key, []).append((int(name[2]), item))
    left_out = set[int]()
    ends: dict[int, _Item] = {}
    for members in series.values():
        members.sort(key=itemgetter(0))
        numbers = [number for number, _ in members]
        if len(members) >= MIN_SERIES and numbers == list(range(numbers[0], numbers[0] + len(members))):
            ends[id(members[0][1])] = members[-1][1]
            left_out.update(id(item) for _, item in members[1:])
    for item in listed:
        if isinstance(item, _Item) and id(item) in ends:
            yield replace(item, label=phrase("name_range", first=item.label, last=ends[id(item)].label))
        elif id(item) not in left_out:
            yield item


def _count(text: str, page: _Page, uses: dict[str, _Use]) -> None:
    """Counts the items of a text; those in an item that was counted before are counted with it."""
    for item in _items(text):
        if isinstance(item, _Item):
            is_new = (use := uses.get(item.text)) is None
            if item.size >= MIN_WORDS:
                use = uses.setdefault(item.text, use or _Use(item.name, item.size))
                use.pages.add(page)
                use.count += 1
                use.is_required |= bool(item.required)
            if is_new and _START in item.rest:
                _count(item.rest, page, uses)


def _condensed(text: str, headings: Mapping[str, str]) -> str:
    """Returns a text in which one line names neighbours of which there is no more to say than their types.

    One line of a list names the items that are shared: after the required ones if one of them is, else at the end.
    """
    if _START not in text:
        return text
    parts: list[str] = []
    members: list[_Item] = []
    first_names: dict[str, str] = {}
    for item in _without_series(_items(text), headings):
        if members and (isinstance(item, str) or item.indent != members[0].indent):
            parts += _list_lines(members, headings, first_names)
            members.clear()
        if isinstance(item, str):
            parts.append(item)
        else:
            members.append(item)
    return "".join([*parts, *_list_lines(members, headings, first_names)])


def _list_lines(members: Sequence[_Item], headings: Mapping[str, str], first_names: dict[str, str]) -> Iterator[str]:
    """Yields the lines of one list; `first_names` has the first item with some words, to which later ones refer."""
    shared = [item for item in members if item.text in headings]
    own = [item for item in members if item.text not in headings]
    place = sum(bool(item.required) for item in own) if any(item.required for item in shared) else len(own)
    plain: list[str] = []
    for number, item in enumerate([*own, None]):
        is_plain = item is not None and item.rest == ")"
        if plain and (number == place or not is_plain):
            yield f"{members[0].indent}- {', '.join(plain)}\n"
            plain.clear()
        if number == place and shared:
            yield f"{members[0].indent}{shared_line(_shared_names(shared, headings))}\n"
        if item is None:
            break
        if is_plain:
            plain.append(f"{item.label}{item.kind}{item.required})")
            continue
        first = first_names.setdefault(item.rest, item.label)
        is_repeated = first != item.label and len(item.rest) >= MIN_REPEATED
        rest = f"): {phrase('same_as', name=first)}" if is_repeated else item.rest
        words = _condensed(rest, headings).rstrip("\n").replace("\n", f"\n{item.indent}")
        yield f"{item.indent}- {item.label}{item.kind}{item.required}{words}\n"


def _shared_names(items: Sequence[_Item], headings: Mapping[str, str]) -> list[tuple[str, str]]:
    """Returns each shared item as a list names it, the required ones first, and the address of its section."""
    names = []
    for item in sorted(items, key=lambda item: not item.required):
        heading = headings[item.text]
        number = heading.removeprefix(item.name)
        names.append((f"{item.label}{'*' if item.required else ''}{number}{item.kind})", SHARED + heading))
    return names
