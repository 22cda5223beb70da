"""Results and errors in words.

An error that many of a service's tools have in the same words is described once, and each tool's section only
refers to it. Within a section, a body or header that several errors share is described once.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from http import HTTPStatus

from msgspec import Struct
from msgspec.structs import replace

from skillgen.model.calls import ErrorCase, Link, Output
from skillgen.model.schema import Schema
from skillgen.model.serialization import value_text
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.render.examples import ShownExample, shown_outputs
from skillgen.render.pages import tool_link
from skillgen.render.phrases import once, phrase, phrases, usual_number
from skillgen.render.semantics import commands_shown
from skillgen.render.types import (
    NOTHING,
    inline_type,
    item_of,
    linked_type,
    nested,
    schema_description,
    schema_notes,
    type_phrase,
)
from skillgen.text.markdown import (
    Markdown,
    code,
    code_list,
    exact_json_text,
    inline,
    needs_stop,
    one_line,
    value,
    with_stop,
)
from skillgen.text.summary import clip_middle, shorten

_JSON = "application/json"

_NO_STATUS = ("", "default")
"""Not a specific status."""


class Returned(Struct, frozen=True, kw_only=True):
    """The words on a result of a tool or of errors."""

    kind: Markdown = NOTHING
    """The type; empty for an object whose properties are listed, or are not known."""

    facts: Markdown = NOTHING
    """The status, and media types other than plain JSON."""

    words: str = ""
    """The descriptions of the result and of its type."""

    notes: Markdown = NOTHING
    """Sentences on the type."""

    nested: Markdown = NOTHING
    """The list of what is nested in it."""

    examples: Sequence[ShownExample] = ()
    """Declared examples."""


def returned(output: Output) -> Returned:
    """Returns the words on a result."""
    schema, kind, notes, inner = None, NOTHING, NOTHING, NOTHING
    if output.schema is not None:
        schema, kind, notes, inner = _type_words(output.schema)
    if kind == "any" or (kind == "object" and (output.status or inner)):
        kind = NOTHING
    words = _described(output.description, schema, output.status)
    return Returned(
        kind=kind,
        facts=Markdown(", ".join(filter(None, (inline(output.status or ""), *_media_type_facts(output))))),
        words=with_stop(words) if words and notes else words,
        notes=notes,
        nested=inner,
        examples=shown_outputs(output),
    )


@once
def _type_words(schema: Schema) -> tuple[Schema, Markdown, Markdown, Markdown]:
    """Returns a type in the form that its use shows, in a few words, with sentences, and the list of what is nested."""
    if (target := inline_type(schema)) is not None:
        nullable, description = target.nullable or schema.nullable, schema.description or target.description
        schema = replace(target, nullable=nullable, description=description)
    return schema, type_phrase(schema), schema_notes(schema, "returned"), nested(schema, "returned")


def _media_type_facts(output: Output) -> Iterator[str]:
    """Yields the media types, if there are any other than plain JSON."""
    others = code_list(name for name in output.media_types if name and name != _JSON)
    if others:
        yield phrase("also_types", types=others) if _JSON in output.media_types else others


def _described(text: str | None, schema: Schema | None, status: str | None) -> str:
    """Returns the descriptions of a result and of its type."""
    description = _told(text, status)
    words = [str(inline(description))] if description else []
    for more in schema_description(schema, description) if schema is not None else ():
        if _told(more, status):
            words = [*map(with_stop, words), more]
    return " ".join(words)


_SAYS_NOTHING = {"ok", "success", "successful", "successful operation", "successful response", "response", "error"}
"""Descriptions that only say that a result or an error is one, in addition to the reason phrase of its status."""

_REASONS = {str(status.value): status.phrase.lower() for status in HTTPStatus}


def _told(text: str | None, status: str | None) -> str:
    """Returns a description, unless it only repeats its status."""
    words = one_line(text or "").strip(" .").lower()
    repeated = _REASONS.values() if status is None else (_REASONS.get(status), status.lower())
    return "" if words in _SAYS_NOTHING or words in repeated else text or ""


def link_line(link: Link) -> Markdown:
    """Says which operation can be called next with a response."""
    name = link.operation or link.name
    target = tool_link(name) if link.operation and "/" not in link.operation.partition("#")[2] else code(name)
    arguments = ", ".join(f"{code(key)} = {value(item)}" for key, item in (link.parameters or {}).items())
    words = phrase("next_with", tool=target, arguments=arguments) if arguments else phrase("next", tool=target)
    return Markdown(f"{words} {with_stop(inline(link.description))}") if link.description else words


def results_of(tool: Tool) -> Iterator[tuple[Output, Returned]]:
    """Yields the results of a call and the words on each; statuses with the same result share one."""
    outputs = [*([tool.output] if tool.output else []), *tool.other_outputs]
    groups: dict[object, list[Output]] = {}
    for number, output in enumerate(outputs):
        facts: object = number
        if output.status and len(outputs) > 1:
            facts = output.description, *map(link_line, output.links), *_declared_facts(output)
        groups.setdefault(facts, []).append(output)
    for group in groups.values():
        *before, last = [item.status or "" for item in group]
        status = phrase("or_between").join((", ".join(before), last)) if before else last or None
        shown = replace(group[0], status=status)
        words = returned(shown)
        kind = words.kind if words.kind != "object" else NOTHING
        more = (words.words, words.notes, kind, words.nested, shown.headers, shown.links, shown.examples)
        # A success alone says nothing, and an object without properties neither.
        if any(more) or words.facts not in (_NO_STATUS if len(groups) > 1 else (*_NO_STATUS, "200")):
            yield shown, words


def _declared_facts(output: Output) -> tuple[object, ...]:
    """Returns what is declared of a result, but for its words: results that agree in it are described once."""
    return output.media_types, json.dumps(output.raw, sort_keys=True), _header_facts(output)


def _header_facts(output: Output) -> tuple[tuple[object, ...], ...]:
    """Returns what is shown of headers, as words."""
    return tuple((item_of(item, "returned"), item.description) for item in output.headers)


_Key = tuple[object, ...]


class CommonErrors(Struct, frozen=True):
    """The errors that most tools have in the same words."""

    cases: tuple[ErrorCase, ...] = ()
    """The errors, without duplicates."""

    keys: frozenset[_Key] = frozenset()
    """Their keys."""

    codes: frozenset[str] = frozenset()
    """Their codes."""

    def missing_from(self, tool: Tool) -> list[ErrorCase]:
        """Returns those errors that a tool has in no form."""
        codes = {case.code for case in tool.errors}
        return [case for case in self.cases if case.code not in codes]

    def specific_to(self, tool: Tool) -> Sequence[ErrorCase]:
        """Returns the errors of a tool that its own section describes."""
        return [case for case in tool.errors if case.code not in self.codes or _key(case) not in self.keys]


@once
def common_errors(service: Service) -> CommonErrors:
    """Finds the errors that most tools share."""
    tools = [tool for tool in service.tools if not tool.is_preflight]
    counts = Counter(case.code for tool in tools for case in tool.errors)
    least = usual_number(len(tools))
    usual = [case for tool in tools for case in tool.errors if counts[case.code] >= least]
    keys, first = Counter(map(_key, usual)), {_key(case): case for case in reversed(usual)}
    common = {key: first[key] for key, count in keys.items() if count >= least}
    cases = tuple(sorted(common.values(), key=lambda case: case.code))
    return CommonErrors(cases, frozenset(common), frozenset(case.code for case in cases))


@once
def _key(case: ErrorCase) -> _Key:
    """Returns what a document says of an error: tools often share the same one, and keys are slow to build."""
    outputs = [output for output in (case.output, *case.other_outputs) if output is not None]
    examples = [exact_json_text(example.value.json) for output in outputs for example in output.examples]
    return (case.code, error_line(case), case.description, *map(_declared_facts, outputs), *examples)


EXAMPLE_LIMIT = 300
"""Bytes of an error's example, as JSON; a longer one is not shown."""

DETAILS_LIMIT = 300
"""Characters of an error's details."""

WORDS_LIMIT = 160
"""Characters of an error's description in the list of all tools' errors."""

COMMAND_ERRORS = 40
"""Lines in the list of all tools' errors."""


def error_line(error: ErrorCase, detail: str = "") -> Markdown:
    """Returns an error on one line: its code with `detail`, its description, what a caller can do."""
    head = f"{code(error.code) if error.code else ''} {f'({detail})' if detail else ''}".strip()
    return Markdown(": ".join(filter(None, (head, _error_words(error)))))


@once
def _error_words(error: ErrorCase) -> str:
    """Returns the description of an error, and what a caller can do; tools share most of their errors."""
    words = ""
    description = inline(_told(error.description or phrases("disclosure_errors").get(error.code, ""), error.code))
    advice = error.resolution or (phrase("error_wait") if error.has_retry_header else "")
    for text in filter(None, (description, inline(advice), _error_notes(error))):
        words += f"{'.' if needs_stop(words) else ''} {text}" if words else text
    return words


@once
def command_errors(service: Service) -> list[Markdown]:
    """Returns a line for each error that tools declare, with the tools; of many, only the codes.

    Long descriptions are cut, as the tools' sections have them in full.
    """
    tools: dict[Markdown, dict[str, Tool]] = {}
    cases: dict[Markdown, ErrorCase] = {}
    for tool in service.tools:
        for case in tool.errors:
            line, short = _short_line(case)
            cases.setdefault(line, short)
            tools.setdefault(line, {})[tool.name] = tool
    coded = [(case, tools[line]) for line, case in cases.items()]
    if len(cases) > COMMAND_ERRORS:
        by_code: dict[str, dict[str, Tool]] = {}
        for case, named in coded:
            by_code.setdefault(case.code, {}).update(named)
        coded = [(ErrorCase(code=name), named) for name, named in by_code.items() if name]
    in_order = sorted(coded, key=lambda item: item[0].code)
    lines = [error_line(case, commands_shown([*named.values()], service)) for case, named in in_order]
    left = len(lines) - COMMAND_ERRORS
    return [*lines[:COMMAND_ERRORS], phrase("more_lines", number=left)] if left > 0 else lines


@once
def _short_line(case: ErrorCase) -> tuple[Markdown, ErrorCase]:
    short = replace(case, description=shorten(one_line(case.description or ""), WORDS_LIMIT))
    return error_line(short), short


def _error_notes(error: ErrorCase) -> str:
    """Returns what a caller can do about an error, beyond its own description."""
    details = error.details and clip_middle(value_text(error.details.json), DETAILS_LIMIT)
    facts = {
        "error_category": error.category and code(error.category),
        "error_retry": None if error.retry_after_s is None else f"{error.retry_after_s:g}",
        "error_for_user": error.user_actionable,
        "error_documentation": error.documentation and code(error.documentation),
        "error_details": details and code(details),
    }
    return " ".join(phrase(name, value=fact) for name, fact in facts.items() if fact)


def error_types(cases: Sequence[ErrorCase]) -> dict[str, Markdown]:
    """Returns the named types of each error's bodies by its code, with media types other than JSON."""
    types: dict[str, list[str]] = {}
    for case in cases:
        types.setdefault(case.code, []).extend(_body_types(case))
    return {name: Markdown(phrase("or_between").join(dict.fromkeys(words))) for name, words in types.items() if words}


@once
def _body_types(case: ErrorCase) -> list[str]:
    return [
        ", ".join([linked_type(output.schema.ref or ""), *_media_type_facts(output)])
        for output in filter(None, (case.output, *case.other_outputs))
        if output.schema is not None and _is_named(output.schema)
    ]


def error_parts(cases: Sequence[ErrorCase]) -> Iterator[tuple[Markdown, Output, Returned]]:
    """Yields codes and the bodies of these errors, but for those of `error_types`, then codes and headers.

    Each is described once. Of the examples, it has the first that is short enough and shows undeclared properties.
    """
    for part, facts in ((_body_of, _body_facts), (_headers_of, _header_facts)):
        groups: dict[object, tuple[Output, dict[str, None]]] = {}
        for case in cases:
            for output in (case.output, *case.other_outputs):
                if output is not None and (shown := part(output)) is not None:
                    groups.setdefault(facts(shown), (shown, {}))[1][case.code] = None
        for output, codes in groups.values():
            names = phrase("every_error") if len(codes) == len(cases) > 1 else code_list(codes)
            output = replace(output, status=None)
            yield names, output, returned(output)


@once
def _body_of(output: Output) -> Output | None:
    """Returns the body of an error, if there is more to say of it than the name of its type."""
    schema = output.schema
    names = {item.name for item in schema.properties} if schema is not None else set()
    short = (item for item in output.examples if len(exact_json_text(item.value.json).encode()) <= EXAMPLE_LIMIT)
    examples = [it for it in short if not (isinstance(it.value.json, dict) and names.issuperset(it.value.json))]
    shown = replace(output, description=None, headers=(), links=(), examples=tuple(examples[:1]))
    if schema is not None and _is_named(schema):  # `error_types` names it, with its media types
        shown = replace(shown, schema=None, media_types=())
    return shown if shown.schema is not None or shown.examples else None


def _headers_of(output: Output) -> Output | None:
    return Output(headers=output.headers, pointer="") if output.headers else None


def _body_facts(output: Output) -> object:
    """Returns the words in which a body is declared."""
    if output.schema is None:
        return tuple(exact_json_text(item.value.json) for item in output.examples)
    return json.dumps(output.raw, sort_keys=True), output.media_types


def _is_named(schema: Schema) -> bool:
    """True if a body is only a named type."""
    return schema.ref is not None and schema == Schema(ref=schema.ref)
