"""Links inside the documents, resolved when it is known in which file a text stands.

A section is rendered once and stands in several files (a page of the references, llms-full.txt). Its links carry
targets that no source's text can hold, for they use characters that every filter removes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from skillgen.markdown.filters import Markdown, link_label

_TYPE, _TOOL = "\x01", "\x02"
_TARGET = re.compile("\\[([^\\[\\]]*)\\]\\(([\x01\x02])([^\x01-\x03]*)\x03\\)")


@lru_cache(1 << 14)
def type_link(name: str) -> Markdown:
    """Gives a link to a named type."""
    return Markdown(f"[{link_label(name)}]({_TYPE}{name}\x03)")


@lru_cache(1 << 14)
def tool_link(name: str) -> Markdown:
    """Gives a link to a tool's section."""
    return Markdown(f"[{link_label(name)}]({_TOOL}{name}\x03)")


COMMON_ERRORS = "Common Errors"
"""The heading under which the errors of most tools are told."""

ERRORS = "\x04"
"""What stands for that heading among the names of types; no source's text can hold it."""


def common_errors_link() -> Markdown:
    """Gives a link to the errors of most tools."""
    return Markdown(f"[{COMMON_ERRORS}]({_TYPE}{ERRORS}\x03)")


def linked_types(text: str) -> tuple[str, ...]:
    """Gives the names of the types to which a text links, each once, in their order."""
    found = (match[3] for match in _TARGET.finditer(text) if match[2] == _TYPE)
    return tuple(dict.fromkeys(name for name in found if name != ERRORS))


def resolved(text: str, types: Mapping[str, str], tools: Mapping[str, str]) -> str:
    """Gives a text with its targets replaced by addresses; a link to what is not documented becomes its label."""

    def replacement(match: re.Match[str]) -> str:
        address = (types if match[2] == _TYPE else tools).get(match[3])
        return match[1] if address is None else f"[{match[1]}]({address})"

    return _TARGET.sub(replacement, text) if "\x03" in text else text
