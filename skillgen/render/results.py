"""Results and errors in words.

An error that many of a service's tools have in the same words is described once, and each tool's section only
refers to it. Within a section, a body or header that several errors share is described once.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from http import HTTPStatus
from itertools import chain

from msgspec import Struct, field
from msgspec.structs import replace

from skillgen.model.calls import ErrorCase, ExampleOutput, Link, Output
from skillgen.model.schema import Parameter, Schema
from skillgen.model.serialization import value_text
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.render.nested import Branch, branches
from skillgen.render.pages import tool_link
from skillgen.render.phrases import of_rendering, once, phrase, phrases
from skillgen.render.semantics import commands_shown
from skillgen.render.types import (
    NOTHING,
    PLAIN_TYPES,
    differ_in_required,
    inline_type,
    is_bare,
    parameter_notes,
    says_nothing,
    schema_description,
    schema_notes,
    type_phrase,
    with_inline_type,
)
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
from skillgen.text.summary import clip_middle, sentences, shorten
from skillgen.text.words import word_set, words_of

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


def output_type(output: Output) -> Markdown:
    """Returns the type of a result; empty for an object whose properties are listed, or are not known."""
    if output.schema is None:
        return NOTHING
    kind = type_phrase(output.schema)
    return NOTHING if kind == "object" and (output.status or output_branches(output)) else kind


def _described(output: Output, name: str) -> str:
    """Returns the descriptions of a result and of its schema; `name` is that of the tool."""
    description = _told(output.description, output.status, name)
    words = [str(inline(description))] if description else []
    schemas = (output.schema, inline_type(output.schema)) if output.schema is not None else ()
    for more in (
        words for schema in schemas if schema is not None for words in schema_description(schema, description)
    ):
        if _told(more, output.status, name):
            words = [*map(with_stop, words), more]
    return " ".join(words)


def _output_words(output: Output, tool: Tool) -> str:
    return of_rendering((_output_words, tool.name), output, lambda: _described(output, tool.name))


_EMPTY_WORDS = word_set(
    """
    default error normal ok okay operation request response result schema standard success successful successfully
    succeeded typical
    """
)
"""Words with which a description of a result or an error only repeats that it is one."""

_BETWEEN = word_set("a an api by call endpoint for from function http method of the to")
"""Words between them, and before the name of the tool."""

_LONG_DESCRIPTION = 400
"""Characters of a description that surely has more to say."""

_REASONS = {str(status.value): status.phrase for status in HTTPStatus}


@lru_cache(4096)
def _told(text: str | None, code: str | None, name: str) -> str:
    """Returns a description without the sentences that only repeat the code or name the tool."""
    if not text or len(text) > _LONG_DESCRIPTION:
        return text or ""
    reasons = " ".join(_REASONS.get(word, "") for word in (code or "").replace(",", "").split())
    named = _BETWEEN.union(words_of(name))
    known = named.union(_EMPTY_WORDS, words_of(reasons))
    parts = [part for part in sentences(text) if part.strip(" .") != code]
    told = [part for part in parts if not known.issuperset(words_of(part)) or named.issuperset(words_of(part))]
    return text if parts and len(told) == len(parts) else " ".join(told)


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


def results_of(tool: Tool, envelope: Envelope) -> Iterator[tuple[Output, Markdown]]:
    """Yields the results of a call and the words on each, without what many results have.

    Statuses that differ only in a short description share a result.
    """
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
    for outputs in groups:
        output = outputs[0] if len(outputs) == 1 else _merged(outputs)
        words, shown = _output_words(output, tool), _received(output, envelope.results)
        if words in envelope.words:
            words = ""
        yield shown, Markdown(with_stop(words) if words and output_notes(shown) else words)


def _received(output: Output, usual: Collection[_Property]) -> Output:
    """Returns a result without usual properties, and without what concerns only a value that is sent."""
    headers = tuple(map(_received_property, output.headers))
    return replace(output, schema=_received_body(output, usual), headers=headers)


def _received_body(output: Output, usual: Collection[_Property] = ()) -> Schema | None:
    declared = output.schema
    if declared is None:
        return None
    schema = of_rendering(received, declared, lambda: received(declared))
    if not usual or not schema.properties:
        return schema
    return replace(schema, properties=tuple(item for item in schema.properties if _property(item) not in usual))


_INNER = ("items", "additional", "contains", "content")
"""Fields of a schema with one schema."""

_TOLD_OF_RESULTS = ("contentMediaType", "xml")
"""Constraints that help to read a value."""


def received(schema: Schema) -> Schema:
    """Returns the type of a value that is returned, without defaults, limits and rules: the service sees to these."""
    if schema.types in PLAIN_TYPES and is_bare(schema) and says_nothing(schema) and not schema.properties:
        return schema
    if (target := inline_type(schema)) is not None:
        return received(replace(target, nullable=target.nullable or schema.nullable))
    constraints = {key: item for key, item in (schema.constraints or {}).items() if key in _TOLD_OF_RESULTS}
    inner = {name: received(item) for name in _INNER if isinstance(item := getattr(schema, name), Schema)}
    return replace(
        schema,
        **{"additional": None, **inner},
        constraints=constraints or None,
        default=None,
        required=(),
        properties=tuple(map(_received_property, schema.properties)),
        prefix_items=tuple(map(received, schema.prefix_items)),
        also=tuple(map(received, schema.also)),
        alternatives=()
        if differ_in_required(schema)
        else tuple(received(with_inline_type(item)) for item in schema.alternatives),
        patterns={name: received(item) for name, item in schema.patterns.items()} if schema.patterns else None,
        excluded=None,
        conditions=(),
        read_only=False,
    )


def _received_property(item: Parameter) -> Parameter:
    return replace(item, schema=received(item.schema), required=False)


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
"""Tools that must have an error, or a property of results, before it is described in a common section."""

MIN_USUAL_BYTES = 600
"""Bytes of repetitions that justify a section on the properties of many results."""

_Property = tuple[str, ...]
"""What is written of a property in which nothing is nested."""


class Envelope(Struct, frozen=True):
    """What many results have in the same words, and many bodies of errors."""

    words: frozenset[str] = frozenset()
    """Descriptions of results."""

    error_words: frozenset[str] = frozenset()
    """Descriptions of bodies of errors."""

    results: Mapping[_Property, Parameter] = field(default_factory=dict)
    """The properties of results."""

    errors: Mapping[_Property, Parameter] = field(default_factory=dict)
    """The properties of bodies of errors."""


@once
def envelope_of(service: Service) -> Envelope:
    """Finds what many results, or errors of many tools, have: sections do not repeat it."""
    words = Counter(_output_words(tool.output, tool) for tool in service.tools if tool.output is not None)
    results = [[tool.output] for tool in service.tools]
    errors = [
        [output for case in tool.errors for output in (case.output, *case.other_outputs)] for tool in service.tools
    ]
    described = chain.from_iterable(filter(None, outputs) for outputs in errors)
    error_words = Counter(_told(output.schema.description, None, "") for output in described if output.schema)
    return Envelope(
        words=_usual_words(words),
        error_words=_usual_words(error_words),
        results=_usual_properties(results),
        errors=_usual_properties(errors),
    )


def _usual_words(counts: Counter[str]) -> frozenset[str]:
    least = max(MIN_TOOLS, MANY_RESULTS * counts.total())
    return frozenset(text for text, count in counts.items() if count >= least and len(text) > SHORT_DESCRIPTION)


def _usual_properties(outputs_of_tools: Iterable[Sequence[Output | None]]) -> dict[_Property, Parameter]:
    counts: Counter[_Property] = Counter()
    first: dict[_Property, Parameter] = {}
    number = 0
    for outputs in outputs_of_tools:
        bodies = [body for output in outputs if output is not None and (body := _received_body(output)) is not None]
        items = {_property(item): item for body in bodies for item in body.properties}
        counts.update(key for key, item in items.items() if not branches(item.schema))
        first = {**items, **first}
        number += bool(bodies)
    usual = {key: first[key] for key, count in counts.items() if count >= max(MIN_TOOLS, MANY_RESULTS * number)}
    saved = sum(counts[key] * len(" ".join(key)) for key in usual)
    return usual if saved >= MIN_USUAL_BYTES else {}


def _property(item: Parameter) -> _Property:
    return item.name, type_phrase(item.schema), item.description or "", parameter_notes(item)


MIN_ERRORS = 3
"""Errors that justify a common section, however short they are."""

MANY_TOOLS = 20
"""Tools that may share an error although most have others; it takes as many until sections do not name it."""

MANY_RESULTS = 0.2
"""Share of the results, or of the bodies of errors, that must have a property or description in the same words."""

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


@once
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
    description = inline(_told(_description(error), None, ""))
    for text in filter(None, (description, inline(_resolution(error)), _error_notes(error))):
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
        return [error_line(case, commands_shown(by_words[line], service)) for line, case in in_order]
    lines = [
        Markdown(f"{code(name)}: {commands_shown(list(tools), service)}")
        for name, tools in sorted(by_code.items())
        if name
    ]
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


def error_bodies(cases: Sequence[ErrorCase], envelope: Envelope, name: str = "") -> tuple[ErrorBody, ...]:
    """Returns each schema of the errors' bodies once, except for those of `error_types`.

    What many bodies have is left out; `name` is that of the tool.
    """
    bodies = _bodies(cases)
    counts = _body_counts(bodies)
    found = (
        _error_body(output, codes, len(codes) == len(cases), envelope, name)
        for output, schema, codes in bodies
        if not _is_listed_with_error(schema, codes, counts)
    )
    return tuple(filter(None, found))


def _error_body(output: Output, codes: Sequence[str], is_all: bool, envelope: Envelope, name: str) -> ErrorBody | None:
    body = phrase("body_of_any_error") if is_all else phrase("body_of_errors", errors=code_list(codes))
    if types := ", ".join(_media_type_facts(output)):
        body = Markdown(f"{body} ({types})")
    received_output = _received(output, envelope.errors)
    schema = received_output.schema or Schema()
    kind = output_type(received_output)
    lead = phrase("body_has_type", body=body, type=kind) if kind else phrase("list_label", label=body)
    told = _told(schema.description, None, name)
    description = with_stop(inline(told)) if told not in envelope.error_words else ""
    if not (kind or types or description or output_branches(received_output)):
        return None
    return ErrorBody(Markdown(" ".join(filter(None, (lead, schema_notes(schema), description)))), schema)


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
    """Returns a sentence for the first example of each error that is short enough and shows undeclared properties."""
    codes_by_text: dict[Markdown, list[str]] = {}
    for case in cases:
        outputs = [output for output in (case.output, *case.other_outputs) if output is not None]
        examples = (example.value.json for output in outputs for example in output.examples if _adds(example, output))
        texts = map(exact_json_text, examples)
        if (text := next((text for text in texts if len(text.encode()) <= EXAMPLE_LIMIT), None)) is not None:
            codes_by_text.setdefault(exact_code(text), []).append(case.code)
    return tuple(
        phrase("error_example", errors=code_list(codes), example=text) for text, codes in codes_by_text.items()
    )


def _adds(example: ExampleOutput, output: Output) -> bool:
    """True if an example shows more than the declared properties."""
    names = {item.name for item in output.schema.properties} if output.schema is not None else set[str]()
    return not isinstance(example.value.json, dict) or not names.issuperset(example.value.json)


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
    """True if a body is only a named type without properties here, and belongs to one error that has no other body."""
    is_listed = (target := inline_type(schema)) is not None and target.properties
    return not is_listed and len(codes) == 1 and counts[codes[0]] == 1 and schema == Schema(ref=schema.ref)


def _error_headers(output: Output, codes: Sequence[str], is_all: bool) -> ErrorHeaders:
    errors = phrase("every_error") if is_all and len(codes) > 1 else code_list(codes)
    name = "comes_with" if is_all or len(codes) == 1 else "come_with"
    lead = phrase(name, len(output.headers), errors=errors)
    if not has_plain_headers(output):
        return ErrorHeaders(phrase("list_label", label=lead), output.headers)
    return ErrorHeaders(phrase("sentence", words=f"{lead} {code_list(item.name for item in output.headers)}"), ())
