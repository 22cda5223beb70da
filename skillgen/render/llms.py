"""llms.txt, and everything in a single file: llms-full.txt, and --ai-help if it is short enough.

llmstxt.org's parser requires every line under a second-level heading to be a link item, so each section of llms.txt is
a list of links; dashdash's web profile shares the file.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import accumulate, zip_longest

from msgspec import Struct

from skillgen.model.document import Document
from skillgen.model.schema import Parameter
from skillgen.model.tool import Tool
from skillgen.render.dashdash import web_front_matter
from skillgen.render.identity import skill_name, tool_phrase, what_it_does
from skillgen.render.pages import ERRORS, Page, Section, resolve_links
from skillgen.render.phrases import phrase, phrases
from skillgen.render.reference import Reference, Topic
from skillgen.render.semantics import marks
from skillgen.render.skill import Rendering
from skillgen.text.markdown import Markdown, name
from skillgen.text.structure import Anchors
from skillgen.text.summary import clip
from skillgen.text.words import is_verb, singular, without_method_prefix, words_of

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_HEADING = re.compile(r"(#{1,6}) (.*)")


class SingleFile:
    """Assembles a file from top to bottom, so that the anchor of every heading is known."""

    def __init__(self) -> None:
        self._anchors = Anchors()
        self._parts: list[str] = []
        self._types: dict[str, str] = {}
        self._tools: dict[str, str] = {}

    def add(self, text: str) -> None:
        """Adds a text with its own headings."""
        for heading in _headings(text):
            self._anchors.of(heading.replace("\\", ""))
        self._parts.append(text.strip("\n"))

    def add_tools(self, pages: Iterable[Page]) -> None:
        """Adds the sections of tools, one level below the last heading."""
        self._add_sections(_sections(pages), self._tools)

    def add_tool(self, section: Section) -> None:
        """Adds the section of one tool, without its heading."""
        self._tools[section.name] = "#"
        self._parts.append(section.text.partition("\n")[2].strip("\n"))

    def add_named(self, sections: Iterable[Section]) -> None:
        """Adds sections of named types unchanged."""
        for section in sections:
            self._types[section.name] = "#" + self._anchors.of(section.heading)
            self._parts.append(section.text)

    def add_types(self, sections: Iterable[Section]) -> None:
        """Adds the sections of named types, one level below the last heading."""
        self._add_sections(sections, self._types)

    def add_others(self, pages: Iterable[Page]) -> None:
        """Adds sections that nothing links to, one level below the last heading."""
        self._add_sections(_sections(pages), {})

    def add_about(self, pages: Iterable[Page]) -> None:
        """Adds what concerns the service as a whole, one level below the last heading."""
        links: dict[str, str] = {}
        self._add_sections(_sections(pages), links)
        if (common_errors := phrase("common_errors")) in links:
            self._types[ERRORS] = links[common_errors]

    def add_common_errors(self, section: Section) -> None:
        """Adds the errors that most tools share, unchanged."""
        self._types[ERRORS] = "#" + self._anchors.of(section.heading)
        self._parts.append(section.text)

    def text(self) -> str:
        """Returns the file, with links resolved to its own anchors."""
        # Part by part: one character beyond Latin-1 doubles or quadruples the memory of every copy of a string.
        parts = [resolve_links(part, self._types, self._tools) for part in self._parts if part]
        if parts:
            parts[-1] += "\n"
        return "\n\n".join(parts) or "\n"

    def _add_sections(self, sections: Iterable[Section], links: dict[str, str]) -> None:
        for section in sections:
            links[section.name] = "#" + self._anchors.of(section.heading)
            self._parts.append("#" + section.text)


def _sections(pages: Iterable[Page]) -> Iterator[Section]:
    return (section for page in pages for section in page.sections)


def _single_file(head: Markdown, reference: Reference) -> str:
    """Returns the complete reference of a service, after `head`."""
    file = SingleFile()
    file.add(head)
    if reference.about:
        file.add(f"## {name(reference.about[0].title)}")
        file.add(reference.about[0].intro or "")
        file.add_about(reference.about)
    for topic in reference.topics:
        file.add(f"## {name(topic.title)}")
        file.add(topic.pages[0].intro or "")
        file.add_tools(topic.pages)
    for kind, heading in phrases("list_headings").items():
        if pages := getattr(reference, kind):
            file.add(f"## {heading}")
            file.add_others(pages)
    if reference.type_sections:
        file.add(f"## {phrase('named_types')}")
        file.add_types(reference.type_sections)
    return file.text()


def _headings(text: str) -> Iterator[str]:
    """Yields the text of each heading outside code blocks."""
    fence: str | None = None
    for line in text.split("\n"):
        if (mark := _FENCE.match(line)) and (fence is None or line.strip() == fence):
            fence = mark[1] if fence is None else None
        elif fence is None and (heading := _HEADING.match(line)):
            yield heading[2]


_MAX_CHARACTERS = 16_000
"""Maximum length of a line for each group; beyond it, the lines of the index are listed (design, "Output")."""

_WORDS_LIMIT = 300
"""Characters of what the tools of a group do."""

_QUICK_ITEMS = 20
"""Maximum of entries in the quick reference (web profile, 5.2.2)."""


class Places(Struct, frozen=True):
    """The paths of the other files, relative to llms.txt."""

    skill: str | None
    """The folder of the skill; `None` if no skill is written."""

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
        return f"{self.skill}/references/{address}" if self.skill else "llms-full.txt"


def llms_documents(rendering: Rendering) -> Iterator[Document]:
    """Yields both files."""
    service, reference, templates = rendering.service, rendering.reference, rendering.templates
    places = Places(f"skills/{skill_name(service)}" if "skill" in rendering.formats else None)
    context = {
        **rendering.context,
        "what": what_it_does(service),
        "noun": "service",
        "brief": False,
        "places": places,
        "fields": web_front_matter(service),
        "tools": service.tools if len(service.tools) <= _QUICK_ITEMS else (),
        "groups": _groups(rendering) if len(service.tools) > _QUICK_ITEMS else (),
        "quick_items": _QUICK_ITEMS,
    }
    yield Document("llms.txt", templates.render("llms.txt.j2", **context))
    head = templates.render("llms-full.txt.j2", **context)
    yield Document("llms-full.txt", _single_file(head, reference))


def _groups(rendering: Rendering) -> list[tuple[str, str, str]]:
    """Returns title, file and words of each group, the largest first; of sequences of groups if there are many."""
    index = rendering.skill.index if rendering.skill is not None else None
    files = {entry.label: entry.files[0] for entry in index.entries} if index is not None else {}
    topics = sorted(rendering.reference.topics, key=lambda topic: -len(topic.tools))
    groups = [(item.title, files.get(item.title, item.pages[0].file_name), _actions(item)) for item in topics]
    if index is not None and sum(len(part) for group in groups for part in group) > _MAX_CHARACTERS:
        return [(entry.label, entry.files[0], clip(", ".join(entry.subjects), _WORDS_LIMIT)) for entry in index.entries]
    return groups


def _actions(topic: Topic) -> str:
    """Returns what the tools of a group do, without the words of its title or of all names: `send, list, add reply`."""
    names = [{*map(singular, words_of(tool.name))} for tool in topic.tools]
    known = {"id", *map(singular, words_of(topic.title))}
    known |= {word for word in set.intersection(*names) if len(names) > 1 and not is_verb(word)}
    actions = list(dict.fromkeys(_action(tool, known) for tool in topic.tools))
    lengths = accumulate(len(action) + 2 for action in actions)
    shown = [action for action, length in zip(actions, lengths, strict=True) if length <= _WORDS_LIMIT]
    return ", ".join(shown) + (f" and {len(actions) - len(shown)} more" if len(shown) < len(actions) else "")


_VERBS_OF_METHODS = {"GET": ("list", "get"), "POST": ("create", "update"), "DELETE": ("delete", "delete")}
"""What a request does by its method, to a collection and to one thing in it."""


def _action(tool: Tool, known: Container[str]) -> str:
    words = list(words_of(without_method_prefix(tool.name, tool.method)))
    if len(words) > 1 and words[0] == (tool.method or "").lower():
        del words[0]
    own = list({singular(word): word for word in reversed(words) if singular(word) not in known}.values())[::-1]
    if not any(map(is_verb, own)):
        first = next(iter(words_of(tool_phrase(tool))), "")
        verb = next((word for word in (first, first.removesuffix("s")) if is_verb(word)), None)
        of_method = _VERBS_OF_METHODS.get(tool.method or "", ("", ""))[(tool.path or "").endswith("}")]
        is_action = tool.method == "POST" and bool(own) and singular(own[-1]) == own[-1]
        own = list(filter(None, (verb or ("" if is_action else of_method), *own)))
    return " ".join(own or words) or tool.name


def quick_tools(reference: Reference) -> list[Tool]:
    """Returns up to twenty tools: of the largest groups in turn, and of each first what people ask for.

    That is what reaches people or costs money, then what adds and what lists, then the rest.
    """
    topics = sorted(reference.topics, key=lambda topic: -len(topic.tools))
    turns = zip_longest(*(_by_use(topic.tools) for topic in topics))
    tools = [tool for turn in turns for tool in turn if tool is not None][:_QUICK_ITEMS]
    order = {tool.name: place for place, tool in enumerate(t for topic in reference.topics for t in topic.tools)}
    return sorted(tools, key=lambda tool: order[tool.name])


def _by_use(tools: Sequence[Tool]) -> list[Tool]:
    """Returns tools with each kind in turn; of a kind, those first that need the fewest identifiers."""
    kinds: dict[str, list[Tool]] = {mark: [] for mark in ("sends", "write", "read", "")}
    for tool in sorted(tools, key=lambda tool: (tool.deprecated, sum(item.required for item in _identifiers(tool)))):
        kinds[next((mark for mark in marks(tool) if mark in kinds), "")].append(tool)
    return [tool for turn in zip_longest(*kinds.values()) for tool in turn if tool is not None]


def _identifiers(tool: Tool) -> list[Parameter]:
    """Returns the parameters that name what exists: those in the path, of an MCP tool all."""
    return [item for item in tool.parameters if item.location in ("path", "argument")]
