"""llms.txt, and everything in a single file: llms-full.txt, and --ai-help if it is short enough.

llmstxt.org's parser requires every line under a second-level heading to be a link item, so each section of llms.txt is
a list of links; dashdash's web profile shares the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from msgspec import Struct

from skillgen.model.document import Document
from skillgen.model.tool import Tool
from skillgen.render.dashdash import web_front_matter
from skillgen.render.identity import skill_name, what_it_does
from skillgen.render.index import Entry
from skillgen.render.reference import Reference, single_file
from skillgen.render.skill import Rendering
from skillgen.text.markdown import one_line

_MAX_CHARACTERS = 16_000
"""Maximum length of llms.txt with a line for each tool; beyond it, groups are listed (design, "Output")."""

_QUICK_TOOLS = 20
"""Maximum of entries in the quick reference (web profile, 5.2.2)."""


class Places(Struct, frozen=True):
    """The paths of the other files, relative to llms.txt."""

    skill: str | None
    """The folder of the skill; `None` if no skill is written."""

    is_whole: bool = False
    """True if SKILL.md has everything, and there are no references."""

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
        if self.is_whole:
            return self.overview + "".join(address.partition("#")[1:])
        return f"{self.skill}/references/{address}" if self.skill else "llms-full.txt"


def llms_documents(rendering: Rendering) -> Iterator[Document]:
    """Yields both files."""
    service, reference, templates = rendering.service, rendering.reference, rendering.templates
    places = Places(
        f"skills/{skill_name(service)}" if rendering.skill is not None else None,
        is_whole=rendering.skill is not None and rendering.skill.is_whole,
    )
    quick = quick_tools(reference)
    shown = {tool.name for tool in quick}
    context = {
        **rendering.context,
        "what": what_it_does(service),
        "noun": "service",
        "brief": False,
        "places": places,
        "fields": web_front_matter(service),
        "quick": quick,
        "unlisted": [tool for topic in reference.topics for tool in topic.tools if tool.name not in shown],
    }
    names_length = sum(len(one_line(tool.name)) for tool in service.tools)
    text = ""
    if names_length <= _MAX_CHARACTERS or not templates.are_builtin:
        text = templates.render("llms.txt.j2", **context, entries=None)
    if not text or len(text) > _MAX_CHARACTERS:
        index = rendering.skill.index if rendering.skill is not None else None
        entries = index.entries if index is not None else _group_entries(reference)
        text = templates.render("llms.txt.j2", **context, entries=entries)
    yield Document("llms.txt", text)
    head = templates.render("llms-full.txt.j2", **context)
    yield Document("llms-full.txt", single_file(head, reference))


def _group_entries(reference: Reference) -> tuple[Entry, ...]:
    return tuple(
        Entry(
            label=topic.title,
            count=len(topic.tools),
            files=(topic.pages[0].file_name,),
            description=topic.description,
        )
        for topic in reference.topics
    )


def quick_tools(reference: Reference) -> list[Tool]:
    """Returns up to twenty tools, from every group in turn, so that each group is represented by its first ones."""
    turns = zip_longest(*(topic.tools for topic in reference.topics))
    tools = [tool for turn in turns for tool in turn if tool is not None][:_QUICK_TOOLS]
    order = {tool.name: place for place, tool in enumerate(t for topic in reference.topics for t in topic.tools)}
    return sorted(tools, key=lambda tool: order[tool.name])
