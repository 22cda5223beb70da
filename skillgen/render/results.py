"""Results and errors in words.

An error that many of a service's tools have in the same words is described once, and each tool's section only
refers to it. Within a section, a body or header that several errors share is described once.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from msgspec import Struct, field
from msgspec.structs import replace

from skillgen.model.calls import ErrorCase, Link, Output
from skillgen.model.schema import Parameter, Schema
from skillgen.model.serialization import value_text
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.render.nested import Branch, branches
from skillgen.render.pages import tool_link
from skillgen.render.phrases import phrase, phrases
from skillgen.render.semantics import names_shown
from skillgen.render.types import NOTHING, parameter_notes, schema_description, schema_notes, type_phrase
from skillgen.text.markdown import (
    Markdown,
    code,
    code_list,
    exact_code,
    exact_json_text,
    inline,
    needs_stop,
    one_line,
    value,
    with_stop,
)
from skillgen.text.summary import clip_middle, shorten

_JSON = "application/json"

_NO_STATUS = (None, "default")
"""Not a specific status."""

SHORT_DESCRIPTION = 40
"""Characters of a description that merely repeats its status: `Created`."""


def output_facts(output: Output) -> Markdown:
    """Returns the status and the media types other than plain JSON."""
    facts: list[str] = [inline(output.status)] if output.status else []
    return Markdown(", ".join([*facts, *_media_type_facts(output)]))


def _media_type_facts(output: Output) -> Iterator[str]:
    """Yields the media types, if there are any other than plain JSON."""
    others = code_list(name for name in output.media_types if name and name != _JSON)
    if others:
        yield phrase("also_types", types=others) if _JSON in output.media_types else others


def output_words(output: Output) -> Markdown:
    """Returns the descriptions of a result and of its schema, with a full stop if `output_notes` follow."""
    words = [str(inline(output.description))] if output.description else []
    for more in schema_description(output.schema, output.description) if output.schema is not None else ():
        words = [*map(with_stop, words), more]
    text = " ".join(words)
    return Markdown(with_stop(text) if text and output_notes(output) else text)


def output_notes(output: Output) -> Markdown:
    """Returns sentences on the type of a result."""
    return schema_notes(output.schema) if output.schema is not None else NOTHING


def output_branches(output: Output) -> tuple[Branch, ...]:
    """Returns what is nested in a result."""
    return branches(output.schema) if output.schema is not None else ()


def has_plain_headers(output: Output) -> bool:
    """True if there are headers, with nothing to describe but their names."""
    return bool(output.headers) and all(
        not item.description and not parameter_notes(item) and type_phrase(item.schema) in ("string", "any")
        for item in output.headers
    )


def link_line(link: Link) -> Markdown:
    """Says which operation can be called next with a response."""
    name = link.operation or link.name
    target = tool_link(name) if link.operation and "/" not in link.operation.partition("#")[2] else code(name)
    arguments = ", ".join(f"{code(key)} = {value(item)}" for key, item in (link.parameters or {}).items())
    words = phrase("next_with", tool=target, arguments=arguments) if arguments else phrase("next", tool=target)
    return Markdown(f"{words} {with_stop(inline(link.description))}") if link.description else words


def returned_outputs(tool: Tool) -> tuple[Output, ...]:
    """Returns the results of a call; statuses that differ only in a short description share one."""
    groups: list[list[Output]] = []
    first = tool.output
    if first is not None and (first.schema or first.description or first.headers or first.status not in _NO_STATUS):
        groups.append([first])
    for output in tool.other_outputs:
        group = next((outputs for outputs in groups if _can_merge(outputs[0], output)), None)
        if group is None:
            groups.append([output])
        else:
            group.append(output)
    return tuple(_received(outputs[0] if len(outputs) == 1 else _merged(outputs)) for outputs in groups)


def _received(output: Output) -> Output:
    """Returns a result without `read_only`, which concerns only what is sent."""
    schema = output.schema
    return replace(output, schema=replace(schema, read_only=False)) if schema and schema.read_only else output


def _can_merge(one: Output, other: Output) -> bool:
    is_short = all(len(item.description or "") <= SHORT_DESCRIPTION for item in (one, other))
    has_same_words = one.description == other.description or is_short
    has_statuses = bool(one.status and other.status and one.status[0] == other.status[0])
    return has_statuses and has_same_words and one.raw == other.raw and _facts(one) == _facts(other)


def _facts(output: Output) -> tuple[object, ...]:
    """Returns what is shown of a result apart from its schema, as words: pointers differ in every place."""
    return output.media_types, _header_facts(output), [link_line(link) for link in output.links]


def _header_facts(output: Output) -> list[tuple[object, ...]]:
    """Returns what is shown of headers, as words: results that agree in it are described once."""
    return [(item.name, item.description, type_phrase(item.schema), parameter_notes(item)) for item in output.headers]


def _merged(outputs: list[Output]) -> Output:
    descriptions = list(dict.fromkeys(item.description for item in outputs if item.description))
    statuses = _joined_with_or([item.status for item in outputs if item.status])
    examples = tuple(example for item in outputs for example in item.examples)
    return replace(outputs[0], status=statuses, description=_joined_with_or(descriptions) or None, examples=examples)


def _joined_with_or(words: list[str]) -> str:
    return phrase("or_between").join(filter(None, [", ".join(words[:-1]), words[-1] if words else ""]))


MIN_TOOLS = 8
"""Tools that must have an error before it is described in the common section."""

MIN_ERRORS = 3
"""Errors that justify a common section, however short they are."""

MANY_TOOLS = 20
"""Tools that may share an error although most have others; it takes as many until sections do not name it."""

USUAL_SHARE = 0.9
"""Share of the tools that must have it; those without it say so."""

MIN_CHARACTERS = 120
"""Characters of descriptions that justify a common section, however few errors there are."""

_Key = tuple[object, ...]


class CommonErrors(Struct, frozen=True):
    """The errors that half of the tools have in the same words, or many."""

    cases: tuple[ErrorCase, ...] = ()
    """The errors, without duplicates."""

    keys: frozenset[_Key] = frozenset()
    """Their keys."""

    everywhere: frozenset[_Key] = frozenset()
    """Those of them that nearly every tool has."""

    key_by_id: dict[int, _Key] = field(default_factory=dict)
    """`id()` of each error of the service to its key: tools often share the same object, and keys are slow to build."""

    def shared_by(self, tool: Tool) -> list[ErrorCase]:
        """Returns the errors of a tool that the common section describes, apart from those of nearly every tool."""
        named = self.keys - self.everywhere
        return [case for case in tool.errors if self.key_by_id.get(id(case)) in named] if named else []

    @property
    def cases_everywhere(self) -> list[ErrorCase]:
        """The errors of nearly every tool, which sections do not repeat."""
        return [case for case in self.cases if self.key_by_id[id(case)] in self.everywhere]

    def missing_from(self, tool: Tool) -> list[ErrorCase]:
        """Returns those errors of nearly every tool that this one does not have."""
        if not self.everywhere:
            return []
        found = {self.key_by_id[id(case)] for case in tool.errors}
        return [case for case in self.cases_everywhere if self.key_by_id[id(case)] not in found]

    def specific_to(self, tool: Tool) -> Sequence[ErrorCase]:
        """Returns the errors of a tool that its own section describes."""
        if not self.keys:
            return tool.errors
        return [case for case in tool.errors if self.key_by_id.get(id(case)) not in self.keys]


def common_errors(service: Service) -> CommonErrors:
    """Finds the errors that most tools share."""
    if len(service.tools) < MIN_TOOLS:
        return CommonErrors()
    key_by_id: dict[int, _Key] = {}
    first: dict[_Key, ErrorCase] = {}
    counts: Counter[_Key] = Counter()
    for tool in service.tools:
        for case in tool.errors:
            if (key := key_by_id.get(id(case))) is None:
                key = key_by_id[id(case)] = _key(case)
                first.setdefault(key, case)
            counts[key] += 1
    threshold = min(max(MIN_TOOLS, (len(service.tools) + 1) // 2), MANY_TOOLS)
    usual: dict[str, _Key] = {}  # a section names only the code, which must mean one error
    for key, count in counts.most_common():
        if count >= threshold:
            usual.setdefault(first[key].code, key)
    cases = [first[key] for key in usual.values()]
    length = sum(len(text) for case in cases for text in (_description(case), _resolution(case), *_body_texts(case)))
    many = max(MANY_TOOLS, USUAL_SHARE * len(service.tools))
    everywhere = frozenset(key for key, count in counts.items() if count >= many)
    if len(cases) < MIN_ERRORS and length < MIN_CHARACTERS and not everywhere:
        return CommonErrors()
    cases.sort(key=lambda case: case.code)
    return CommonErrors(tuple(cases), frozenset(key_by_id[id(case)] for case in cases), everywhere, key_by_id)


def _body_texts(case: ErrorCase) -> Iterator[str]:
    """Yields the descriptions of an error's bodies."""
    for output in (case.output, *case.other_outputs):
        if output is not None and output.schema is not None:
            yield output.schema.description or ""


def _key(case: ErrorCase) -> _Key:
    shapes: list[object] = []
    for output in (case.output, *case.other_outputs):
        if output is not None:
            headers = tuple((item.name, item.description) for item in output.headers)
            examples = [example.value.json for example in output.examples]
            shapes += (output.media_types, headers, json.dumps([output.raw, examples], sort_keys=True))
    waiting = case.retry_after_s, case.has_retry_header
    facts = case.category, case.user_actionable, case.documentation, str(case.details)
    return case.code, case.description, case.resolution, *waiting, *facts, *shapes


EXAMPLE_LIMIT = 300
"""Bytes of an error's example, as JSON; a longer one is not shown."""

DETAILS_LIMIT = 300
"""Characters of an error's details."""

WORDS_LIMIT = 160
"""Characters of an error's description in the list of all tools' errors."""

COMMAND_ERRORS = 40
"""Lines in the list of all tools' errors."""


class ErrorBody(Struct, frozen=True):
    """The body of some of a tool's errors."""

    label: Markdown
    """Names the errors and the type of the body."""

    schema: Schema
    """The schema of the body."""


class ErrorHeaders(Struct, frozen=True):
    """The headers of some of a tool's errors."""

    label: Markdown
    """Names the errors, and the headers if their names are all there is."""

    headers: tuple[Parameter, ...]
    """The headers, if there is more to describe."""


_Body = tuple[Output, Schema, list[str]]
"""A result, its schema, and the codes of the errors that have it."""


def error_line(error: ErrorCase, detail: str = "") -> Markdown:
    """Returns an error on one line: its code with `detail`, its description, what a caller can do."""
    head = " ".join(filter(None, (code(error.code) if error.code else "", f"({detail})" if detail else "")))
    words = ""
    for text in filter(None, (inline(_description(error)), inline(_resolution(error)), _error_notes(error))):
        words += f"{'.' if needs_stop(words) else ''} {text}" if words else text
    return Markdown(": ".join(filter(None, (head, words))))


def command_errors(service: Service, common: CommonErrors) -> list[Markdown]:
    """Returns a line for each error that tools declare, with the tools; only the codes if there are many.

    Long descriptions are cut, as the tools' sections have them in full; `common` errors have their own section.
    """
    by_words: dict[Markdown, list[str]] = {}
    by_code: dict[str, dict[str, None]] = {}
    cases: dict[Markdown, ErrorCase] = {}
    for tool in service.tools:
        for case in tool.errors:
            short = replace(case, description=shorten(one_line(case.description or ""), WORDS_LIMIT))
            if common.key_by_id.get(id(case)) in common.keys:
                short = ErrorCase(code=case.code, description=phrase("see", section=phrase("common_errors")))
            line = error_line(short)
            cases.setdefault(line, short)
            by_words.setdefault(line, []).append(tool.name)
            by_code.setdefault(case.code, {})[tool.name] = None
    if len(by_words) <= COMMAND_ERRORS:
        in_order = sorted(cases.items(), key=lambda item: item[1].code)
        return [error_line(case, names_shown(by_words[line])) for line, case in in_order]
    lines = [Markdown(f"{code(name)}: {names_shown(list(tools))}") for name, tools in sorted(by_code.items()) if name]
    left = len(lines) - COMMAND_ERRORS
    return [*lines[:COMMAND_ERRORS], phrase("more_codes", number=left)] if left > 0 else lines


def _description(error: ErrorCase) -> str:
    """Returns what an error means: the words of the source, or those for an error of the protocol."""
    return error.description or phrases("disclosure_errors").get(error.code, "")


def _resolution(error: ErrorCase) -> str:
    return error.resolution or (phrase("error_wait") if error.has_retry_header else "")


def _error_notes(error: ErrorCase) -> str:
    """Returns what a caller can do about an error, beyond its own description."""
    notes = []
    if error.category:
        notes.append(phrase("error_category", category=code(error.category)))
    if error.retry_after_s is not None:
        notes.append(phrase("error_retry", seconds=f"{error.retry_after_s:g}"))
    if error.user_actionable:
        notes.append(phrase("error_for_user"))
    if error.documentation:
        notes.append(phrase("error_documentation", url=code(error.documentation)))
    if error.details is not None:
        details = code(clip_middle(value_text(error.details.json), DETAILS_LIMIT))
        notes.append(phrase("error_details", details=details))
    return " ".join(notes)


def error_types(cases: Sequence[ErrorCase]) -> dict[str, Markdown]:
    """Returns the named type of each error's body by its code, with media types, if no other error has that body."""
    bodies = _bodies(cases)
    counts = _body_counts(bodies)
    return {
        codes[0]: Markdown(", ".join([type_phrase(schema), *_media_type_facts(output)]))
        for output, schema, codes in bodies
        if _is_listed_with_error(schema, codes, counts)
    }


def error_bodies(cases: Sequence[ErrorCase]) -> tuple[ErrorBody, ...]:
    """Returns each schema of the errors' bodies once, except for those of `error_types`."""
    bodies = _bodies(cases)
    counts = _body_counts(bodies)
    return tuple(
        ErrorBody(_body_label(output, schema, codes, len(codes) == len(cases)), schema)
        for output, schema, codes in bodies
        if not _is_listed_with_error(schema, codes, counts)
    )


def error_headers(cases: Sequence[ErrorCase]) -> tuple[ErrorHeaders, ...]:
    """Returns the headers of the errors; errors with the same headers share one entry."""
    groups: list[tuple[Output, list[str]]] = []
    for case in cases:
        if case.output is None or not case.output.headers:
            continue
        facts = _header_facts(case.output)
        known = next((codes for output, codes in groups if _header_facts(output) == facts), None)
        if known is None:
            groups.append((case.output, [case.code]))
        else:
            known.append(case.code)
    return tuple(_error_headers(output, codes, len(codes) == len(cases)) for output, codes in groups)


def error_examples(cases: Sequence[ErrorCase]) -> tuple[Markdown, ...]:
    """Returns a sentence for the first example of each error that is short enough."""
    codes_by_text: dict[Markdown, list[str]] = {}
    for case in cases:
        examples = chain.from_iterable(output.examples for output in (case.output, *case.other_outputs) if output)
        texts = (exact_json_text(example.value.json) for example in examples)
        if (text := next((text for text in texts if len(text.encode()) <= EXAMPLE_LIMIT), None)) is not None:
            codes_by_text.setdefault(exact_code(text), []).append(case.code)
    return tuple(
        phrase("error_example", errors=code_list(codes), example=text) for text, codes in codes_by_text.items()
    )


def _bodies(cases: Sequence[ErrorCase]) -> list[_Body]:
    """Returns each body once."""
    bodies: list[_Body] = []
    for case in cases:
        for output in (case.output, *case.other_outputs):
            if output is None or output.schema is None:
                continue
            known = next((codes for other, _, codes in bodies if _is_same_body(output, other)), None)
            if known is None:
                bodies.append((output, output.schema, [case.code]))
            else:
                known.append(case.code)
    return bodies


def _is_same_body(one: Output, other: Output) -> bool:
    """True if two bodies are declared in the same words."""
    return one.raw == other.raw and one.media_types == other.media_types


def _body_counts(bodies: Sequence[_Body]) -> Counter[str]:
    """Counts the bodies of each error."""
    return Counter(name for _, _, codes in bodies for name in codes)


def _is_listed_with_error(schema: Schema, codes: Sequence[str], counts: Mapping[str, int]) -> bool:
    """True if a body is only a named type, and belongs to one error that has no other body."""
    return len(codes) == 1 and counts[codes[0]] == 1 and schema == Schema(ref=schema.ref)


def _body_label(output: Output, schema: Schema, codes: Sequence[str], is_all: bool) -> Markdown:
    body = phrase("body_of_any_error") if is_all else phrase("body_of_errors", errors=code_list(codes))
    if types := ", ".join(_media_type_facts(output)):
        body = Markdown(f"{body} ({types})")
    description = with_stop(inline(schema.description)) if schema.description else ""
    words = (phrase("body_has_type", body=body, type=type_phrase(schema)), schema_notes(schema), description)
    return Markdown(" ".join(filter(None, words)))


def _error_headers(output: Output, codes: Sequence[str], is_all: bool) -> ErrorHeaders:
    errors = phrase("every_error") if is_all and len(codes) > 1 else code_list(codes)
    name = "comes_with" if is_all or len(codes) == 1 else "come_with"
    lead = phrase(name, len(output.headers), errors=errors)
    if not has_plain_headers(output):
        return ErrorHeaders(phrase("list_label", label=lead), output.headers)
    return ErrorHeaders(phrase("sentence", words=f"{lead} {code_list(item.name for item in output.headers)}"), ())
