"""What a tool does, in one short line."""

from __future__ import annotations

from skillgen.markdown.filters import plain_words
from skillgen.markdown.sentences import clipped, first_sentence
from skillgen.model.service import Tool

PHRASE_LIMIT = 110


def tool_phrase(tool: Tool, limit: int = PHRASE_LIMIT) -> str:
    """Gives the summary of a tool, else the first sentence of its description, else its title; cut at a word."""
    text = tool.summary or first_sentence(tool.description or "") or tool.title or ""
    return clipped(plain_words(text), limit).rstrip(".")
