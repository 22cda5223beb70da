"""Every filter and function of the templates; their docstrings are what docs/templates.md says of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jinja2

from skillgen.markdown import filters
from skillgen.markdown.blocks import block
from skillgen.markdown.filters import Markdown
from skillgen.markdown.front_matter import front_matter
from skillgen.markdown.sentences import clipped, shortened
from skillgen.markdown.values import json_text
from skillgen.model.schema import NamedType, Schema
from skillgen.model.tool import Tool
from skillgen.model.value import Json, is_inferred
from skillgen.render import (
    access,
    branches,
    calls,
    client,
    credentials,
    directions,
    effects,
    error_results,
    examples,
    identity,
    links,
    operation,
    results,
    type_phrases,
    uses,
    value_notes,
    whole_input,
)
from skillgen.render.environment import printed


class _NamedTypes:
    """The named types of a service by name; those of the last service are kept, for a run renders one at a time."""

    def __init__(self) -> None:
        self._types: tuple[NamedType, ...] = ()
        self._schemas: dict[str, Schema] = {}

    def schemas(self, types: tuple[NamedType, ...]) -> dict[str, Schema]:
        """Gives the schema of each type by its name."""
        if self._types is not types:
            self._types, self._schemas = types, {item.name: item.schema for item in types}
        return self._schemas


_NAMED_TYPES = _NamedTypes()


@jinja2.pass_context
def _call_line(context: jinja2.runtime.Context, tool: Tool) -> Markdown:
    """Gives a call in one line: `create_task(title*, due?, tags?: string[])`, and for an operation its request."""
    return calls.call_line(tool, _NAMED_TYPES.schemas(context["service"].schemas))


def _listed(items: Any, separator: str = ", ") -> Markdown:
    """Gives items one after another, with a comma between."""
    return Markdown(separator.join(printed(item) for item in items))


def _count(things: Sequence[object], noun: str) -> Markdown:
    """Says how many there are of what: `3 tools`."""
    return Markdown(f"{len(things):,} {noun}" if len(things) == 1 else f"{len(things):,} {noun}s")


def _json(data: Json) -> str:
    """Returns a value as JSON, indented."""
    return filters.inert_json(json_text(data, indent=2))


def _sentence(text: str) -> Markdown:
    """Gives safe words as a sentence: a capital first, a full stop last."""
    return Markdown(text[:1].upper() + text[1:] + ".")


def _begins_with(text: str, start: str) -> bool:
    """Tells whether a text of several lines begins with the words of another."""
    return " ".join(text[: 2 * len(start) + 40].split()).startswith(filters.paragraph(start))


def _codes(names: Iterable[str], limit: int | None = None, last: str = ", ") -> Markdown:
    """Returns names as code, with a comma between, or `last` before the last.

    Beyond a limit it says how many more there are.
    """
    shown = [filters.code(name) for name in names]
    if limit is not None and len(shown) > limit:
        return Markdown(f"{', '.join(shown[:limit])} and {len(shown) - limit:,} more")
    return Markdown(last.join(filter(None, (", ".join(shown[:-1]), *shown[-1:]))))


def _are_few(names: Sequence[str]) -> bool:
    """True if names can be listed in a sentence."""
    return len(names) <= 12 and sum(map(len, names)) <= 600


def _reference_links(file_names: Sequence[str]) -> Markdown:
    """Links the first files by name, and says up to which the rest go."""
    shown = [f"[references/{name}](references/{name})" for name in file_names[:3]]
    if len(file_names) > 3:
        shown[2:] = [f"… [{file_names[-1]}](references/{file_names[-1]})"]
    return Markdown(", ".join(shown))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "tool_link": links.tool_link,
    "type_link": links.type_link,
    "common_errors_link": links.common_errors_link,
}
"""What every template can call."""

FILTERS: dict[str, Callable[..., Any]] = {
    "inline": filters.inline,
    "paragraph": filters.paragraph,
    "block": block,
    "code": filters.code,
    "value": filters.value,
    "heading": filters.name,
    "fence": filters.fence,
    "quotation": filters.quotation,
    "label": filters.link_label,
    "link_title": filters.link_title,
    "url": filters.link_url,
    "markdown": Markdown,
    "front_matter": front_matter,
    "json": _json,
    "clipped": clipped,
    "shortened": shortened,
    "base_url": access.base_url,
    "address": access.address,
    "has_choice": access.has_choice,
    "have_host": access.have_host,
    "has_other_addresses": access.has_other_addresses,
    "count": _count,
    "listed": _listed,
    "begins_with": _begins_with,
    "codes": _codes,
    "are_few": _are_few,
    "reference_links": _reference_links,
    "is_inferred": is_inferred,
    "shown_uses": uses.shown_uses,
    "wanted_uses": uses.wanted_uses,
    "whole_parts": uses.whole_parts,
    "unwanted_uses": uses.unwanted_uses,
    "other_access": access.other_access,
    "web_access": access.web_access,
    "access_word": access.access_word,
    "host_names": access.host_names,
    "client_configuration": client.client_configuration,
    "client_variables": client.client_variables,
    "auth_phrases": access.auth_phrases,
    "speaks_of_authentication": access.speaks_of_authentication,
    "sent_as": access.sent_as,
    "type_phrase": type_phrases.type_phrase,
    "notes": value_notes.parameter_notes,
    "schema_notes": value_notes.schema_notes,
    "branches": branches.branches,
    "going": directions.going,
    "left_out": directions.left_out,
    "whole_notes": whole_input.whole_notes,
    "unnamed_branches": branches.unnamed_branches,
    "whole_branches": whole_input.whole_branches,
    "effects": effects.effects,
    "event_auth": effects.event_auth,
    "marks": effects.marks,
    "declares_effects": effects.declares_effects,
    "goes_by_names": effects.goes_by_names,
    "needs": effects.needs,
    "names_shown": operation.names_shown,
    "needs_stop": effects.needs_stop,
    "rate_limit": effects.rate_limit_phrase,
    "summary_line": effects.summary_line,
    "title_line": effects.title_line,
    "returned_outputs": results.returned_outputs,
    "output_facts": results.output_facts,
    "output_words": results.output_words,
    "output_example": examples.output_example,
    "has_plain_headers": results.has_plain_headers,
    "link_line": results.link_line,
    "offered_counts": identity.offered_counts,
    "error_line": error_results.error_line,
    "error_bodies": error_results.error_bodies,
    "error_headers": error_results.error_headers,
    "error_examples": error_results.error_examples,
    "error_types": error_results.error_types,
    "parameter_lists": calls.parameter_lists,
    "event_lists": calls.event_lists,
    "call_line": _call_line,
    "filled_command": examples.filled_command,
    "filled_request": examples.filled_request,
    "example_variables": credentials.example_variables,
    "sentence": _sentence,
}
