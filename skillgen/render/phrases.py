"""What a tool does, in one short line."""

from __future__ import annotations

from skillgen.markdown.filters import one_line
from skillgen.markdown.sentences import clipped
from skillgen.model.service import Tool

PHRASE_LIMIT = 110


def tool_phrase(tool: Tool, limit: int = PHRASE_LIMIT) -> str:
    """Gives the summary, title or description of a tool, cut at a word; empty where it has none."""
    return clipped(one_line(tool.summary or tool.title or tool.description or ""), limit).rstrip(".")
