"""Every filter and function of the templates: `FILTERS` and `FUNCTIONS`.

docs/templates.md is generated from their docstrings: the first sentence of each is its documentation.

Front matter is block style only, without comments, anchors and tags: the reference validator of skills reads a strict
subset of YAML and breaks at `---` inside a value, and the reference parser of llms.txt takes a comment for the title.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import jinja2

from skillgen.model.tool import Tool
from skillgen.model.values import Json, is_inferred
from skillgen.render import (
    about,
    access,
    examples,
    identity,
    listing,
    pages,
    parameters,
    reference,
    results,
    semantics,
    types,
)
from skillgen.render.environment import escape_printed
from skillgen.render.reference import quotation
from skillgen.text import markdown
from skillgen.text.blocks import block
from skillgen.text.inert import disarm_json
from skillgen.text.markdown import Markdown, json_text, one_line
from skillgen.text.summary import clip, shorten

VALUE_LIMIT = 1_536
"""Characters of one value; the longest that a host reads is Claude Code's `description`."""

KEY_LIMIT = 256
"""Characters of a key, which a source names in a map: YAML allows keys of 1,024 at most (YAML 1.2, 7.4.2)."""


_PLAIN = re.compile(r"(?:[^\W\d_]|\d+\.\d+\.\d|[1-9]\d*[A-Za-z/]{2})(?:[^:#]|:(?!\s|\Z)|(?<!\s)#)*(?<!\s)")
"""Text that is a string in YAML 1.1 and 1.2; no number and no date begins like this."""

_NOT_TEXT = frozenset(("yes", "no", "y", "n", "true", "false", "on", "off", "null"))


def yaml_lines(item: Any, scalar: Callable[[Any], str]) -> Iterator[str]:
    """Yields a value in YAML's block style: PyYAML takes a twentieth of a small run to import."""
    if isinstance(item, dict) and item:
        for key, inner in item.items():
            lines = list(yaml_lines(inner, scalar))
            is_nested = isinstance(inner, (dict, list)) and inner
            yield f"{scalar(key)}:" if is_nested else f"{scalar(key)}: {lines[0]}"
            yield from (f"  {line}" for line in lines if is_nested)
    elif isinstance(item, list) and item:
        for inner in item:
            yield from (f"{'  ' if number else '- '}{line}" for number, line in enumerate(yaml_lines(inner, scalar)))
    else:
        yield scalar(item)


def is_plain_yaml(item: Any) -> bool:
    """True for text that YAML reads as text without quotes."""
    return isinstance(item, str) and bool(_PLAIN.fullmatch(item)) and item.lower() not in _NOT_TEXT


def _yaml_scalar(item: Any) -> str:
    if not isinstance(item, str):
        return json_text(item)
    return item if is_plain_yaml(item) else "'" + item.replace("'", "''") + "'"


def front_matter(fields: Mapping[str, Any]) -> Markdown:
    """Returns the fields between two lines of dashes, without those that are `None` or empty.

    Inside a field, only `None` is removed.
    """
    present = {key: safe for key, item in fields.items() if (safe := _safe(item)) not in (None, "", [], {})}
    return Markdown("\n".join(["---", *yaml_lines(present, _yaml_scalar), "---"]))


def _safe(item: Any, limit: int = VALUE_LIMIT) -> Any:
    if isinstance(item, str):
        line = one_line(item).replace("---", "—")
        return line if len(line) <= limit else line[: limit - 1] + "…"
    if isinstance(item, Mapping):
        return {_safe(key, KEY_LIMIT): safe for key, inner in item.items() if (safe := _safe(inner)) is not None}
    if isinstance(item, (list, tuple)):
        return [_safe(inner) for inner in item]
    return item


@jinja2.pass_context
def _short_call(context: jinja2.runtime.Context, tool: Tool) -> str:
    """Returns a call with what is required, or the request of an API: `create_task(title*, …)`."""
    return parameters.short_call(tool, context["service"])


@jinja2.pass_context
def _tool_label(context: jinja2.runtime.Context, tool: Tool) -> Markdown:
    """Returns the name of a tool, or its request where SKILL.md lists requests."""
    return parameters.label_of(tool, context["service"])


def _listed(items: Any, separator: str = ", ") -> Markdown:
    """Returns items with a separator between them, a comma by default."""
    return Markdown(separator.join(escape_printed(item) for item in items))


def _count(things: Sequence[object], noun: str) -> Markdown:
    """Returns a number with its noun: `3 tools`."""
    return Markdown(markdown.counted(len(things), noun))


def _json(data: Json) -> str:
    """Returns a value as indented JSON."""
    return disarm_json(json_text(data, indent=2))


def _block(text: str | None) -> Markdown:
    """Makes a longer text safe, with its paragraphs, lists, quotes and code blocks; empty if there is no text."""
    return block(text) if text else Markdown("")


def _trimmed(text: str) -> Markdown:
    """Returns what a macro printed, without blanks at its ends."""
    return Markdown(text.strip())


def _stop(text: str | None) -> Markdown:
    """Returns what is missing between a text and the next sentence: a full stop, or a colon if there is no text."""
    return Markdown(":" if not text else "." if markdown.needs_stop(text) else "")


def _sentence(text: str) -> Markdown:
    """Returns safe text as a sentence, with a capital and a full stop."""
    return Markdown(text[:1].upper() + text[1:] + ".")


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "tool_link": pages.tool_link,
    "type_link": pages.type_link,
    "common_errors_link": pages.common_errors_link,
    "rows": types.rows,
    "nested": types.nested,
}
"""Functions that every template can call."""

FILTERS: dict[str, Callable[..., Any]] = {
    "inline": markdown.inline,
    "paragraph": markdown.paragraph,
    "block": _block,
    "code": markdown.code,
    "value": markdown.value,
    "heading": markdown.name,
    "fence": markdown.fence,
    "quotation": quotation,
    "block_quote": about.block_quote,
    "label": markdown.link_label,
    "url": markdown.link_url,
    "markdown": Markdown,
    "trimmed": _trimmed,
    "stop": _stop,
    "front_matter": front_matter,
    "json": _json,
    "clipped": clip,
    "shortened": shorten,
    "address": access.address,
    "has_choice": access.has_choice,
    "count": _count,
    "listed": _listed,
    "codes": semantics.codes,
    "is_inferred": is_inferred,
    "example_variables": examples.example_variables,
    "login": access.login,
    "explained_scopes": access.explained_scopes,
    "other_access": access.other_access,
    "login_hints": access.login_hints,
    "undescribed_logins": access.undescribed_logins,
    "about_words": listing.about_words,
    "page_links": listing.page_links,
    "web_links": access.web_links,
    "access_word": access.access_word,
    "host_prefixes": identity.host_prefixes,
    "program_variables": about.program_variables,
    "client_configuration": about.client_configuration,
    "client_variables": about.client_variables,
    "sent_as": access.sent_as,
    "shared_auth": access.shared_auth,
    "section_title": about.section_title,
    "auth_gloss": access.auth_gloss,
    "type_phrase": types.type_phrase,
    "schema_notes": types.schema_notes,
    "branches": types.branches,
    "cautions": semantics.cautions,
    "effects": semantics.effects,
    "mark_text": semantics.mark_text,
    "marks_legend": semantics.marks_legend,
    "auth_alternatives": semantics.auth_alternatives,
    "rate_limit_phrase": semantics.rate_limit_phrase,
    "summary_line": semantics.summary_line,
    "title_line": semantics.title_line,
    "tool_description": semantics.tool_description,
    "results_of": results.results_of,
    "link_line": results.link_line,
    "error_line": results.error_line,
    "error_parts": results.error_parts,
    "error_types": results.error_types,
    "parameter_lists": parameters.parameter_lists,
    "common_notes": semantics.common_notes,
    "usage_line": parameters.usage_line,
    "short_call": _short_call,
    "tool_label": _tool_label,
    "section_command": reference.section_command,
    "request_command": reference.request_command,
    "type_command": reference.type_command,
    "sentence": _sentence,
}
