"""What the service says in its own words: the server's instructions, or the description of an API or a program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from skillgen.model.service import Service
from skillgen.render.pages import Page
from skillgen.render.phrases import phrases
from skillgen.text.blocks import block
from skillgen.text.markdown import Markdown
from skillgen.text.structure import split_portions
from skillgen.text.summary import sentences

_Name = Literal["instructions", "description"]


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
        heading = phrases("about_headings")[self.name]
        pages = (
            replace(
                page,
                intro=None if self.name == "description" else page.intro,
                sections=tuple(item for item in page.sections if item.topic != heading),
            )
            for page in about
        )
        return tuple(page for page in pages if page.intro or page.sections)


def said_by(service: Service, limit: int | None = None, name: _Name | None = None) -> Said:
    """Returns the instructions, else the description, cut at a paragraph or a sentence to `limit` bytes."""
    name = name or ("instructions" if service.instructions else "description")
    text = (service.instructions if name == "instructions" else service.description) or ""
    text = _without_summary(text.strip(), (service.purpose or "").strip())
    if not text:
        return Said()
    rest = text if limit is None or len(text.encode()) <= limit else _cut(text, limit)
    return Said(name=name, text=block(rest), is_cut=len(rest) < len(text))


def block_quote(text: str) -> Markdown:
    """Returns safe blocks as a quotation."""
    return Markdown("\n".join(f"> {line}".rstrip() for line in text.split("\n")))


def _without_summary(text: str, summary: str) -> str:
    """Returns a text without the sentence at its start that the description of the skill has."""
    return text.removeprefix(summary).lstrip() if summary else text


def _cut(text: str, limit: int) -> str:
    portion = split_portions(text, limit)[0]
    if portion.rstrip()[-1:].isalnum():  # within a sentence
        whole = [*sentences(portion)][:-1]
        end = portion.rfind(whole[-1]) + len(whole[-1]) if whole else 0
        return portion[:end] if end > len(portion) // 2 else portion
    return portion
