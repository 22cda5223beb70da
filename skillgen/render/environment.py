"""The one Jinja environment: what templates can use, and where they are found.

Whatever a template prints goes through `paragraph`, which is safe anywhere in a line, unless a filter of its own made
it safe for another place. So a template that forgets a filter is safe all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jinja2

from skillgen.errors import SkillgenError, UsageError
from skillgen.markdown import filters
from skillgen.markdown.blocks import block
from skillgen.markdown.filters import Markdown
from skillgen.markdown.front_matter import front_matter
from skillgen.markdown.sentences import clipped, shortened
from skillgen.markdown.values import json_text
from skillgen.model.schema import NamedType, Schema
from skillgen.model.tool import Tool
from skillgen.model.value import Json
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
    links,
    offered,
    operation,
    results,
    type_phrases,
    uses,
    value_notes,
    whole_input,
)
from skillgen.render.catalogue import templates_folder
from skillgen.render.compiled import CompiledTemplates, cache_folder
from skillgen.render.own_environment import OwnEnvironment
from skillgen.render.sandbox import LIMIT_S, Missing, TemplateFiles, UsersEnvironment
from skillgen.time_limit import time_limit


class Templates:
    """Loads templates: the user's first, then those that skillgen comes with."""

    def __init__(self, overrides: Path | None = None, limit_s: float = LIMIT_S) -> None:
        if overrides is not None and not overrides.is_dir():
            raise UsageError("no such folder", where=f"--templates {overrides}", fix="give a folder of templates")
        self._files = TemplateFiles([templates_folder()] if overrides is None else [overrides, templates_folder()])
        # A user's template may come from anywhere; it gets no further than the model.
        kind = OwnEnvironment if overrides is None else UsersEnvironment
        self._limit_s = None if overrides is None else limit_s
        self._environment = kind(
            loader=self._files,
            undefined=Missing,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
            autoescape=False,  # Markdown, not HTML: see `_printed`
            finalize=_printed,
            bytecode_cache=_kept_compiled() if overrides is None else None,
        )
        self.are_own = overrides is None
        """Whether every template is one of skillgen's own."""
        self._environment.filters.update(FILTERS)
        self._environment.globals.update(FUNCTIONS)

    def render(self, template: str, **context: Any) -> Markdown:
        """Renders one template; its result ends with one line end.

        Raises:
            UsageError: the template has an error; the message names the file, the line and what is missing.
        """
        with self._problems(template):
            return Markdown(self._environment.get_template(template).render(context).strip("\n") + "\n")

    def macro(self, template: str, name: str, **context: Any) -> Any:
        """Gives a macro of a template as a function; what it returns is Markdown, trimmed."""
        with self._problems(template):
            module = self._environment.get_template(template).make_module(context)
            if not hasattr(module, name):
                raise jinja2.TemplateRuntimeError(f"it has no macro {name!r}")
            macro = getattr(module, name)

        def call(*arguments: Any) -> Markdown:
            with self._problems(template):
                try:
                    return Markdown(macro(*arguments).strip("\n"))
                except Exception:
                    self._environment.handle_exception()  # raises it again, with the lines of the template

        return call

    @contextmanager
    def _problems(self, template: str) -> Iterator[None]:
        """Turns what goes wrong in a template into a message; in one of ours, only what Jinja itself reports."""
        try:
            too_long = jinja2.TemplateRuntimeError(f"it takes more than {self._limit_s or 0:g} s")
            with time_limit(self._limit_s, too_long):
                yield
        except jinja2.TemplateError as error:
            raise self._problem(template, error) from error
        except SkillgenError:
            raise
        except Exception as error:
            if self.are_own:
                raise
            raise self._problem(template, error) from error

    def _problem(self, template: str, error: Exception) -> UsageError:
        """Says what is wrong, with the file where it stands and the line."""
        file, line = getattr(error, "filename", None), getattr(error, "lineno", None)
        if line is None:
            file, line = _place_of(error)
        name = self._shown(file or self._files.file_of(template) or template)
        where = f"template {name}" + (f", line {line}" if line else "")
        words = "it calls itself without end" if isinstance(error, RecursionError) else str(error)
        return UsageError(f"the template cannot be rendered: {words}", where=where, fix="correct the template")

    def _shown(self, file: str) -> str:
        """Gives a template of the user's with the folder that they named, and one of ours by its name."""
        path = Path(file)
        own = templates_folder()
        return path.relative_to(own).as_posix() if path.is_relative_to(own) else path.as_posix()


def _kept_compiled() -> CompiledTemplates | None:
    folder = cache_folder()
    return CompiledTemplates(folder) if folder is not None else None


def _printed(printed: Any) -> str:
    if type(printed) is Markdown:
        return printed
    if type(printed) is str:
        return filters.paragraph(printed)
    if isinstance(printed, jinja2.Undefined):
        return str(printed)  # raises, with the name that is missing
    if printed is None:
        raise jinja2.TemplateRuntimeError("a value that is not declared (None) would be printed")
    if isinstance(printed, (str, int, float)):
        return filters.paragraph(str(printed))
    kind = type(printed).__name__
    raise jinja2.TemplateRuntimeError(f"a whole {kind} would be printed; name what of it, or use a filter for it")


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
    return Markdown(separator.join(_printed(item) for item in items))


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


def _place_of(error: Exception) -> tuple[str | None, int | None]:
    """Finds the template's file and line in the traceback of a run-time error, which carries none itself."""
    trace, file, line = error.__traceback__, None, None
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if trace.tb_frame.f_globals.get("__jinja_template__") is not None or name.endswith((".j2", ".jinja")):
            file, line = name, trace.tb_lineno
        trace = trace.tb_next
    return file, line


FUNCTIONS = {
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
    "is_inferred": access.is_inferred,
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
    "is_whole_body": calls.is_whole_body,
    "returned_outputs": results.returned_outputs,
    "output_facts": results.output_facts,
    "output_words": results.output_words,
    "output_example": examples.output_example,
    "has_plain_headers": results.has_plain_headers,
    "link_line": results.link_line,
    "offered_counts": offered.offered_counts,
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
