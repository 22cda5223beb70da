"""The rules that only `skillgen lint` checks: what a service does not say, although it could be read.

Names of rules on MCP tools are those of the Tool Definition Quality Score (TDQS); the subjects of the rules on
operations are those of Redocly's `score`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from operator import itemgetter

from skillgen.errors import Problem
from skillgen.model.calls import Output
from skillgen.model.schema import Parameter, Schema
from skillgen.model.service import Service
from skillgen.model.tool import EFFECTS, Kind, Tool
from skillgen.model.values import Icon, child, is_inferred
from skillgen.rules.prose import ToolNames, style_of, words_in
from skillgen.security.addresses import host_of, is_loopback, is_private
from skillgen.security.injection import find_injections

Types = Mapping[str, Schema]
"""The named types of a service."""

Check = Callable[[Tool, Types], Iterator[Problem]]
ServiceCheck = Callable[[Service], Iterator[Problem]]


def check_service(service: Service, codes: frozenset[str]) -> Iterator[Problem]:
    """Yields the findings on each tool, then those on the service; rules that are not among `codes` are not checked.

    What several tools share has each finding once.
    """
    checks = [check for rules, check in _TOOL_RULES[service.kind] if not codes.isdisjoint(rules.split())]
    types = {item.name: item.schema for item in service.schemas}
    places: set[tuple[str, str]] = set()
    for tool in service.tools:
        for check in checks if not tool.is_preflight else ():
            for problem in check(tool, types):
                if (problem.code, problem.where) not in places:
                    places.add((problem.code, problem.where))
                    yield problem
    for rules, service_check in _SERVICE_RULES[service.kind]:
        if not codes.isdisjoint(rules.split()):
            yield from service_check(service)


# -- texts -----------------------------------------------------------------------------------------------------------


def _text_of(tool: Tool) -> str:
    """Returns the declared description; a text that is quoted elsewhere because it addresses the reader counts."""
    quoted = " ".join(item.text for item in tool.quotations if item.field in ("summary", "description"))
    return f"{tool.description or tool.summary or ''} {quoted}".strip()


def _check_description(tool: Tool, types: Types) -> Iterator[Problem]:
    text = _text_of(tool)
    if not text:
        yield Problem.of("no-description", tool.pointer, f"{tool.name} has no description")


def _check_orders(tool: Tool, types: Types) -> Iterator[Problem]:
    """Yields the weak matches of the rules on injection; a strong one is a problem of every run, and quoted."""
    texts = [(child(tool.pointer, field), getattr(tool, field)) for field in ("summary", "description")]
    texts += [(child(item.pointer, "description"), item.description) for item in tool.parameters]
    found = find_injections(filter(None, map(itemgetter(1), texts)), is_weak=True)
    for place, text in texts:
        if text in found:
            rule = found[text][0].rule
            message = f"{tool.name} has words of a text that {rule.meaning} ({rule.code}), but speaks to nobody"
            yield Problem.of("like-an-order", place, message)


def _check_tautology(tool: Tool, types: Types) -> Iterator[Problem]:
    # The summary of an operation is a title.
    text = (tool.description or "") if tool.method is not None else _text_of(tool)
    if text and (what := _repeated(text, tool)) is not None:
        message = f"the description of {tool.name} only repeats its {what}: {text[:80]!r}"
        yield Problem.of("tautological-description", child(tool.pointer, "description"), message)


def _repeated(text: str, tool: Tool) -> str | None:
    """Returns what a text only repeats: the name of a tool, or its title."""
    same = {"name": tool.name, "title": tool.title or ""}
    return next((what for what, other in same.items() if words_in(text) == words_in(other)), None)


def _all_words(tool: Tool) -> tuple[str, ...]:
    """Returns the words of a description; of an operation, with those of its summary, which may distinguish twins. What
    an operation has from its path is not its own.
    """
    if tool.method is None:
        return words_in(_text_of(tool))
    return () if "description" in (tool.origins or {}) else words_in(f"{tool.summary or ''} {_text_of(tool)}")


def _shadow_candidates(service: Service) -> Iterator[Problem]:
    """Yields tools with the same words as an earlier one in their names or descriptions."""
    first_of: dict[tuple[str, ...], Tool] = {}
    for tool in service.tools:
        own = (("name", tuple(sorted(words_in(tool.name)))), ("description", _all_words(tool)))
        for what, words in () if tool.is_preflight else own:
            first = first_of.setdefault((what, *words), tool) if words else tool
            if first is not tool:
                message = f"{tool.name} has the same words in its {what} as {first.name}"
                yield Problem.of("shadow-candidate", child(tool.pointer, what), message)
                break


# -- effects, parameters, results ------------------------------------------------------------------------------------

_HINTS = ("read_only", "destructive", "idempotent", "open_world")


def _check_annotations(service: Service) -> Iterator[Problem]:
    # What is inferred replaced a hint that is less cautious: that disagreement was reported.
    contradicted = {problem.where for problem in service.problems if problem.code == "safety-facts-disagree"}
    for tool in service.tools:
        hints = [hint for hint in _HINTS if getattr(tool.semantics, hint) is not None]
        if not any(map(tool.semantics.is_declared, hints)) and tool.pointer not in contradicted:
            yield Problem.of("missing-annotations", tool.pointer, f"{tool.name} declares no effects")


def _check_parameters(tool: Tool, types: Types) -> Iterator[Problem]:
    # Headers and cookies are mostly credentials, which clients add.
    parameters = [item for item in tool.parameters if item.location not in ("header", "cookie")]
    missing = [item.name for item in parameters if not _is_described(item, types)]
    if 2 * len(missing) > len(parameters):  # TDQS: below a coverage of 50 %, the description must compensate
        message = (
            f"{len(missing)} of {len(parameters)} parameters of {tool.name} have no description: {_listed(missing)}"
        )
        if len(parameters) == 1:
            message = f"the only parameter of {tool.name}, {_listed(missing)}, has no description"
        yield Problem.of("undocumented-parameters", tool.pointer, message)


def _is_described(parameter: Parameter, types: Types) -> bool:
    return bool(parameter.description) or any(schema.description for schema in _with_named(parameter.schema, types))


def _with_named(schema: Schema, types: Types) -> Iterator[Schema]:
    """Yields a schema, and the named types that a value of it has."""
    yield schema
    for name in (schema.ref, *schema.includes):
        if name is not None and name in types:
            yield types[name]


def _listed(names: list[str]) -> str:
    return ", ".join(name[:40] for name in names[:3]) + (", …" if len(names) > 3 else "")


def _check_result(tool: Tool, types: Types) -> Iterator[Problem]:
    if tool.output is None or tool.output.schema is None:
        yield Problem.of("no-output-schema", tool.pointer, f"{tool.name} does not declare its result")


_DEFAULT_IN_TEXT = re.compile(
    r"\b(?<!, the )default(?:s| value)?(?: is| to| =|:|=)+ ?[`'\"]?"
    r"(?:(true|false)|(-?\d+(?:\.\d+)?)|(?<=[`'\"])([\w.-]+)(?=[`'\"]))"
    r"[`'\"]?(?![\w%]|[.,:/-]\w| ?(?:%|per ?cent|ms|milliseconds|seconds|minutes|hours|days|weeks|[KMG]B|bytes)\b)",
    re.IGNORECASE,
)
"""A default in words: true or false, a number without a unit, which a schema may count otherwise, or a quoted word."""


def _check_defaults(tool: Tool, types: Types) -> Iterator[Problem]:
    for item in tool.parameters:
        said = _DEFAULT_IN_TEXT.findall((item.description or "")[:_SCANNED_CHARACTERS])
        if item.schema.default is None or len(said) != 1:
            continue
        declared, (flag, number, word) = item.schema.default.json, said[0]
        value: object = word or None if isinstance(declared, str) else None
        if isinstance(declared, bool):
            value = flag.lower() == "true" if flag else None
        elif isinstance(declared, int | float):
            value = float(number) if number else None
        if value is not None and value != declared:
            message = f"the description of {item.name} says the default {flag or number or word}, its schema {declared}"
            yield Problem.of("default-contradicted", item.pointer, message)


_TIME_OF_RUN = re.compile(r"20\d\d-\d\d-\d\d[T ]\d\d:\d\d:(?!00)\d\d\S*")
_MACHINE_OF_RUN = re.compile(r"\brunning on (?:linux|windows|macos|darwin|ubuntu|debian)\b[^.\n]{0,40}", re.IGNORECASE)


def _check_run(tool: Tool, types: Types) -> Iterator[Problem]:
    # A time to the second is no constant that a person writes.
    for item in tool.parameters:
        default = item.schema.default
        if default is not None and isinstance(default.json, str) and _TIME_OF_RUN.fullmatch(default.json):
            message = f"the default of {item.name} is a time, {default.json[:40]}"
            yield Problem.of("differs-by-run", item.pointer, message)
    if (machine := _MACHINE_OF_RUN.search(_text_of(tool)[:_SCANNED_CHARACTERS])) is not None:
        message = f"the description of {tool.name} names a machine: {machine[0]!r}"
        yield Problem.of("differs-by-run", child(tool.pointer, "description"), message)


_GENERIC = frozenset({"data", "id", "key", "name", "object", "params", "status", "type", "value"})
"""Names that say nothing without a description; Redocly's `score` counts such names."""


def _check_identifiers(tool: Tool, types: Types) -> Iterator[Problem]:
    for item in tool.parameters:
        # A value of `enum` and the properties of an object say what it is; what only the service sets is not sent.
        schema = item.schema
        is_open = not (schema.choices or schema.properties or schema.ref or schema.read_only)
        if is_open and item.name.lower() in _GENERIC and not _is_described(item, types):
            message = f"{item.name} of {tool.name} has neither a telling name nor a description"
            yield Problem.of("ambiguous-identifier", item.pointer, message)


def _check_constraints(tool: Tool, types: Types) -> Iterator[Problem]:
    open_names = [item.name for item in tool.parameters if not _is_constrained(item.schema)]
    if len(open_names) == len(tool.parameters) > 1:
        message = f"no parameter of {tool.name} says which values it takes: {_listed(open_names)}"
        yield Problem.of("unconstrained-parameters", tool.pointer, message)


_OPEN_TYPES = frozenset({"string", "number", "integer"})


def _is_constrained(schema: Schema) -> bool:
    is_open = not schema.types or not _OPEN_TYPES.isdisjoint(schema.types)
    is_closed = bool(schema.choices or schema.constraints or schema.format or schema.ref or schema.alternatives)
    return is_closed or not is_open


def _check_errors(tool: Tool, types: Types) -> Iterator[Problem]:
    if not tool.errors:
        yield Problem.of("errors-undeclared", child(tool.pointer, "responses"), f"{tool.name} declares no errors")
    elif not any(item.output is not None for item in tool.errors):
        message = f"no error of {tool.name} declares its body"
        yield Problem.of("errors-unstructured", child(tool.pointer, "responses"), message)


_MESSAGE = re.compile(
    r"[\w-]*(?:message|msg|description|reason|error|detail|title|text|value|faultstring)s?", re.IGNORECASE
)
"""Names of properties that say what went wrong, also those of RFC 9457 and of common frameworks."""

_INNER_ERRORS = 3
"""How deep the text may be, as in `{"error": {"message": {"value": …}}}`."""


def _check_error_bodies(service: Service) -> Iterator[Problem]:
    types = {item.name: item.schema for item in service.schemas}
    pointers = {item.name: item.pointer for item in service.schemas}
    bodies: dict[str, Output] = {}
    for error in (error for tool in service.tools for error in tool.errors):
        if error.output is not None and error.output.schema is not None and _is_json(error.output):
            bodies.setdefault(pointers.get(error.output.schema.ref or "", error.output.pointer), error.output)
    for pointer, output in bodies.items():
        if output.schema is not None and _says_what_went_wrong(output.schema, types, 0) is False:
            message = f"the body of the error {output.status} has no property for what went wrong, such as `message`"
            yield Problem.of("error-message-missing", pointer, message)


def _says_what_went_wrong(schema: Schema, types: Types, depth: int) -> bool | None:
    """Returns whether an object has a text for what went wrong, also in an inner object; `None` if its properties are
    unknown.
    """
    merged = list(_merged(schema, types, set()))
    if inner := [item for each in merged for item in (each.items, *each.alternatives) if item is not None]:
        return any(_says_what_went_wrong(item, types, depth) is not False for item in inner)
    properties = [item for each in merged for item in each.properties]
    if not properties or any(each.additional not in (None, False) for each in merged):
        return None
    if any(_MESSAGE.fullmatch(item.name) and _may_be_text(item.schema, types) for item in properties):
        return True
    return depth < _INNER_ERRORS and any(_says_what_went_wrong(item.schema, types, depth + 1) for item in properties)


def _merged(schema: Schema, types: Types, seen: set[str]) -> Iterator[Schema]:
    """Yields a schema, and all the types that it names or includes."""
    yield schema
    for name in (schema.ref, *schema.includes):
        if name is not None and name in types and name not in seen:
            seen.add(name)
            yield from _merged(types[name], types, seen)


def _may_be_text(schema: Schema, types: Types) -> bool:
    own = list(_merged(schema if schema.items is None else schema.items, types, set()))
    return any("string" in item.types for item in own) or not any(item.types or item.properties for item in own)


def _check_examples(tool: Tool, types: Types) -> Iterator[Problem]:
    outputs = [item for item in (tool.output, *tool.other_outputs) if item is not None and _is_json(item)]
    if outputs and not any(_has_example(item, types) for item in outputs):
        yield Problem.of("result-without-example", outputs[0].pointer, f"the result of {tool.name} has no example")


def _is_json(output: Output) -> bool:
    return output.schema is not None and any("json" in media_type for media_type in output.media_types)


def _has_example(output: Output, types: Types) -> bool:
    """True if a result has an example; also one in its schema, or in that of its items or of a property."""
    if output.examples or output.schema is None:
        return True
    outer = list(_with_named(output.schema, types))
    inner = [item.items for item in outer if item.items is not None]
    schemas = [*outer, *(named for item in inner for named in _with_named(item, types))]
    return any(item.examples or any(each.schema.examples for each in item.properties) for item in schemas)


# -- descriptions ----------------------------------------------------------------------------------------------------

_BRIEF_WORDS = 4
"""A description with fewer words hardly says what a tool does, when to use it and what it returns."""

_LONG_CHARACTERS = 4_000
"""Some 1,200 tokens, which hosts put into the context of every conversation."""

_USAGE = re.compile(
    r"\b(?:use (?:this|it|when|for|only|to|instead)|used (?:to|for|when)|when (?:you|the|a|an)|whenever|if you|instead|"
    r"rather than|prefer|only (?:if|for|when|use)|before|after|unless|requires?|must|not for|do not|don't|helpful|"
    r"useful|for example|e\.g\.)\b",
    re.IGNORECASE,
)


def _check_length(tool: Tool, types: Types) -> Iterator[Problem]:
    text = _text_of(tool)
    count, pointer = len(words_in(text)), child(tool.pointer, "description")
    if 0 < count < _BRIEF_WORDS and _repeated(text, tool) is None:
        yield Problem.of("brief-description", pointer, f"the description of {tool.name} has {count} words: {text!r}")
    if len(text) > _LONG_CHARACTERS:
        message = f"the description of {tool.name} has {len(text):,} characters"
        yield Problem.of("long-description", pointer, message)


def _check_usage(tool: Tool, types: Types) -> Iterator[Problem]:
    text = f"{tool.summary or ''} {_text_of(tool)}"
    if text.strip() and not _USAGE.search(text[:_SCANNED_CHARACTERS]):
        message = f"{tool.name} does not say when to use it, and when not"
        yield Problem.of("usage-unsaid", child(tool.pointer, "description"), message)


_SCANNED_CHARACTERS = 4_000
_REPLACEMENT = re.compile(
    r"\b(?:use|using|used|call|replac\w+|instead|superseded|migrat\w+|switch|see|prefer|favou?r|alternative|moved|new"
    r"|recommend\w*|deprecated version of|no (?:replacement|longer|effect|substitute))\b",
    re.IGNORECASE,
)


def _check_deprecation(tool: Tool, types: Types) -> Iterator[Problem]:
    details = tool.deprecation
    if not tool.deprecated or (details is not None and (details.replacement or details.message)):
        return
    if not _REPLACEMENT.search(f"{tool.summary or ''} {_text_of(tool)}"[:_SCANNED_CHARACTERS]):
        message = f"{tool.name} is deprecated, and does not say what to use instead"
        yield Problem.of("deprecated-without-replacement", tool.pointer, message)


def _check_named_tools(service: Service) -> Iterator[Problem]:
    names = ToolNames(service)
    about = " ".join(filter(None, (service.summary, service.description, service.instructions)))
    place = "/initialize" if service.kind == "mcp" else "/info/description"
    texts = [(service.name, place, about)]
    for tool in service.tools:
        texts.append((tool.name, child(tool.pointer, "description"), f"{tool.summary or ''} {_text_of(tool)}"))
        texts += [(tool.name, item.pointer, item.description) for item in tool.parameters if item.description]
    for owner, pointer, text in texts:
        for name in names.missing_in(text[:_SCANNED_CHARACTERS]):
            message = f"a text of {owner} names the tool {name[:80]}, which is not listed{names.meant(name)}"
            yield Problem.of("unknown-tool-named", pointer, message)


# -- names -----------------------------------------------------------------------------------------------------------

_TOOL_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_LONG_NAME = 64
"""Hosts of models accept names of tools up to this length."""


def _check_name(tool: Tool, types: Types) -> Iterator[Problem]:
    if not _TOOL_NAME.fullmatch(tool.name):
        message = f"the name {tool.name[:140]!r} is not of 1 to 128 letters, digits, `_`, `-` and `.`"
        yield Problem.of("name-not-portable", child(tool.pointer, "name"), message)


def _check_name_length(tool: Tool, types: Types) -> Iterator[Problem]:
    if len(tool.name) > _LONG_NAME and not is_inferred(tool, "name"):
        message = f"the name {tool.name[:140]!r} has {len(tool.name)} characters"
        yield Problem.of("name-too-long", _place_of_name(tool), message)


def _place_of_name(tool: Tool) -> str:
    return child(tool.pointer, "name" if tool.method is None else "operationId")


def _check_styles(service: Service) -> Iterator[Problem]:
    by_style: dict[str, list[Tool]] = {}
    for tool in service.tools:
        style = None if is_inferred(tool, "name") else style_of(tool.name)
        if style is not None:
            by_style.setdefault(style, []).append(tool)
    if len(by_style) < 2:
        return
    (main, most), *others = sorted(by_style.items(), key=lambda item: -len(item[1]))
    rare = [tool for _, tools in others for tool in tools]
    names = _listed([tool.name for tool in rare])
    message = f"{len(most)} of {len(most) + len(rare)} names are in {main}, the others are not: {names}"
    yield Problem.of("mixed-name-styles", _place_of_name(rare[0]), message)


# -- effects ---------------------------------------------------------------------------------------------------------


def _check_method(tool: Tool, types: Types) -> Iterator[Problem]:
    semantics = tool.semantics
    if tool.method not in ("GET", "HEAD") or semantics.read_only is not False:
        return
    field = "destructive" if semantics.destructive else "sends" if semantics.sends else "read_only"
    origin = (semantics.origins or {}).get(field)
    if origin is not None and semantics.is_judged(field):
        effect = EFFECTS[semantics.effect or "write"]
        message = f"{tool.name} is a {tool.method}, which must be safe, but {effect} by {origin.source}"
        yield Problem.of("method-contradicts-name", tool.pointer, message)


def _check_confirmation(tool: Tool, types: Types) -> Iterator[Problem]:
    semantics = tool.semantics
    is_declared = semantics.risk == "destructive" and semantics.is_declared("risk")
    if is_declared and not semantics.requires_confirmation:
        message = f"{tool.name} has risk_level destructive, but requires no confirmation"
        yield Problem.of("destructive-unconfirmed", tool.pointer, message)


# -- inputs ----------------------------------------------------------------------------------------------------------

_MANY_PARAMETERS = 30
_MANY_REQUIRED = 10
_DEEP_LEVELS = 4


def _check_count(tool: Tool, types: Types) -> Iterator[Problem]:
    required = sum(parameter.required for parameter in tool.parameters)
    if len(tool.parameters) > _MANY_PARAMETERS or required > _MANY_REQUIRED:
        message = f"{tool.name} has {len(tool.parameters)} parameters, {required} of them required"
        yield Problem.of("many-parameters", tool.pointer, message)


def _check_depth(tool: Tool, types: Types) -> Iterator[Problem]:
    for parameter in filter(lambda item: item.required, tool.parameters):
        if (depth := _depth_of(parameter.schema, types, frozenset(), _DEEP_LEVELS)) >= _DEEP_LEVELS:
            message = f"{parameter.name} of {tool.name} has objects in {depth} or more levels"
            yield Problem.of("deep-input", parameter.pointer, message)


def _depth_of(schema: Schema, types: Types, above: frozenset[str], limit: int) -> int:
    """Returns how deep objects that must be sent are nested, up to a limit; a type within itself counts once."""
    if limit == 0:
        return 0
    own = 1 if schema.properties else 0
    inner = [item.schema for item in schema.properties if item.required]
    inner += [schema.items] if schema.items is not None else []
    depth = own + max((_depth_of(item, types, above, limit - own) for item in inner), default=0)
    names = {name for name in (schema.ref, *schema.includes) if name is not None and name in types} - above
    return max([depth, *(_depth_of(types[name], types, above | {name}, limit) for name in names)])


def _check_alternatives(tool: Tool, types: Types) -> Iterator[Problem]:
    schemas = [(item.pointer, item.name, item.schema) for item in tool.parameters]
    if tool.input is not None and tool.input.schema is not None:
        schemas.append((tool.input.pointer, "the body", tool.input.schema))
    for pointer, name, outer in schemas:
        if any(_is_ambiguous(schema, types) for schema in _with_named(outer, types)):
            message = f"{name} of {tool.name} is one of several objects, and nothing says which one is sent"
            yield Problem.of("ambiguous-alternatives", pointer, message)


def _is_ambiguous(schema: Schema, types: Types) -> bool:
    """True if each object of one alternative may be one of another, and no discriminator says which one it is."""
    if schema.discriminator is not None:
        return False
    seen: list[dict[str, Parameter]] = []
    for alternative in schema.alternatives:
        named = list(_with_named(alternative, types))
        properties = {item.name: item for each in named for item in each.properties}
        if not properties or any(item.discriminator is not None for item in named):
            continue
        if any(_are_alike(properties, other) for other in seen):
            return True
        seen.append(properties)
    return False


def _are_alike(one: Mapping[str, Parameter], other: Mapping[str, Parameter]) -> bool:
    """True if neither the names of properties, nor which are required, nor their types distinguish two objects."""
    if {name for name in one if one[name].required} != {name for name in other if other[name].required}:
        return False
    shared = one.keys() & other.keys()
    return shared in (one.keys(), other.keys()) and all(
        _type_of(one[name].schema) == _type_of(other[name].schema) for name in shared
    )


def _type_of(schema: Schema) -> tuple[object, ...]:
    """Returns by what the values of a schema differ from those of another."""
    names = tuple(item.name for item in schema.properties)
    items = None if schema.items is None else _type_of(schema.items)
    return schema.types, schema.choices, schema.ref, schema.format, names, items


def _check_request_example(tool: Tool, types: Types) -> Iterator[Problem]:
    body = [item for item in tool.parameters if item.location == "body"]
    has_example = any(example.is_declared for example in tool.examples)
    schemas = [schema for item in body for schema in _with_named(item.schema, types)]
    if not body or has_example or any(schema.examples for schema in schemas):
        return
    yield Problem.of("request-without-example", body[0].pointer, f"the body of {tool.name} has no example")


# -- results ---------------------------------------------------------------------------------------------------------


_STRUCTURED = re.compile(r"json|xml|\*/\*|form-urlencoded|event-stream", re.IGNORECASE)
"""Media types whose content has a structure that a schema can declare."""


def _check_result_of_operation(tool: Tool, types: Types) -> Iterator[Problem]:
    status = tool.output.status if tool.output is not None else None
    media_types = tool.output.media_types if tool.output is not None else ()
    if media_types and not any(_STRUCTURED.search(item) for item in media_types):
        return  # a file, an image, plain text
    is_expected = bool(media_types) or (tool.method == "GET" and status == "200")
    if is_expected and (tool.output is None or tool.output.schema is None):
        what = "the structure of its result" if media_types else "a result"
        yield Problem.of("no-output-schema", child(tool.pointer, "responses"), f"{tool.name} does not declare {what}")


def _check_paging(tool: Tool, types: Types) -> Iterator[Problem]:
    if tool.method != "GET" or tool.pagination is not None or tool.output is None or tool.output.schema is None:
        return
    # Short enumerations are mostly lists of strings or numbers.
    lists = [schema for schema in _with_named(tool.output.schema, types) if "array" in schema.types]
    is_list = any(item.items is not None and item.items.types in ((), ("object",)) for item in lists)
    if is_list and not any(parameter.location == "query" for parameter in tool.parameters):
        message = f"{tool.name} returns a list, and no parameter limits its length"
        yield Problem.of("list-without-paging", tool.pointer, message)


def _check_output_schema(tool: Tool, types: Types) -> Iterator[Problem]:
    raw = tool.output.raw if tool.output is not None else None
    if isinstance(raw, dict) and raw.get("type") != "object":
        message = f"the outputSchema of {tool.name} is of type {str(raw.get('type'))[:40]}"
        yield Problem.of("output-schema-invalid", tool.output.pointer if tool.output is not None else "", message)


# -- the service -----------------------------------------------------------------------------------------------------

_MANY_TOOLS = 50


def _check_size(service: Service) -> Iterator[Problem]:
    listed = [tool for tool in service.tools if tool.disclosed_by is None]
    if len(listed) > _MANY_TOOLS and service.disclosure is None:
        message = f"the server lists {len(listed)} tools"
        yield Problem.of("too-many-tools", "/tools~1list", message)


def _check_purpose(service: Service) -> Iterator[Problem]:
    if not (service.summary or service.description or service.instructions or service.quotations):
        message = f"{service.name} has neither a description nor instructions"
        yield Problem.of("service-undescribed", "/initialize", message)


def _check_offers(service: Service) -> Iterator[Problem]:
    for resource in (*service.resources, *service.resource_templates):
        if not resource.description and not resource.quotations:
            message = f"{resource.uri[:200]} has no description"
            yield Problem.of("resource-undescribed", resource.pointer, message)
    for prompt in service.prompts:
        lacking = [item.name for item in prompt.parameters if not item.description]
        if not prompt.description and not prompt.quotations:
            yield Problem.of("prompt-undescribed", prompt.pointer, f"the prompt {prompt.name} has no description")
        elif lacking and not prompt.quotations:
            message = f"the prompt {prompt.name} has arguments without a description: {_listed(lacking)}"
            yield Problem.of("prompt-undescribed", prompt.pointer, message)


_PORTABLE_ICON = re.compile(
    r"image/(?:png|jpe?g)|data:image/(?:png|jpe?g)[;,].*|[^?#]*\.(?:png|jpe?g)(?:[?#].*)?", re.IGNORECASE | re.DOTALL
)
_TYPED_ICON = re.compile(r"^data:|\.\w{2,4}(?:[?#]|\Z)")
_ICON_SIZE = re.compile(r"any|[1-9]\d{0,4}x[1-9]\d{0,4}")


def _check_icons(service: Service) -> Iterator[Problem]:
    owners: list[tuple[str, str, tuple[Icon, ...]]] = [("/initialize/serverInfo", service.name, service.icons)]
    owners += [(tool.pointer, tool.name, tool.icons) for tool in service.tools]
    owners += [(prompt.pointer, prompt.name, prompt.icons) for prompt in service.prompts]
    owners += [(item.pointer, item.uri, item.icons) for item in (*service.resources, *service.resource_templates)]
    for pointer, name, icons in owners:
        # An icon without a type and an extension may be of any type.
        are_known = all(icon.media_type or _TYPED_ICON.search(icon.src) for icon in icons)
        if icons and are_known and not any(_PORTABLE_ICON.fullmatch(icon.media_type or icon.src) for icon in icons):
            message = f"no icon of {name[:100]} is a PNG or JPEG image"
            yield Problem.of("icon-not-portable", child(pointer, "icons"), message)
        for index, icon in enumerate(icons):
            if wrong := [size for size in icon.sizes if not _ICON_SIZE.fullmatch(size)]:
                message = f"the size {wrong[0][:40]!r} of an icon of {name[:100]} is neither WxH nor any"
                yield Problem.of("icon-size-invalid", child(pointer, "icons", index, "sizes"), message)


def _check_transport(service: Service) -> Iterator[Problem]:
    urls = [endpoint.url for endpoint in service.endpoints]
    insecure = [url for url in urls if url.lower().startswith("http://") and not _is_local(url)]
    if insecure and service.requirements.auth and len(insecure) == len(urls):
        message = f"credentials are sent to {insecure[0][:200]} without encryption"
        place = "/schemes" if (service.protocol_version or "").startswith("2.") else "/servers"
        yield Problem.of("server-without-tls", place, message)


def _is_local(url: str) -> bool:
    host = host_of(url)
    return host is None or is_private(host) or is_loopback(url)


def _check_credentials(service: Service) -> Iterator[Problem]:
    for auth in service.requirements.auth:
        if auth.kind == "api-key" and (auth.sent_as or "").startswith("query"):
            message = f"the API key {auth.name or ''} is sent in the query".replace("  ", " ")
            yield Problem.of("key-in-query", auth.pointer, message)


def _check_cursors(service: Service) -> Iterator[Problem]:
    for tool in service.tools if "mcp-rest" in service.uses else ():
        if tool.pagination is not None and not any(item.name == "cursor" for item in tool.parameters):
            message = f"{tool.name} returns pages, but takes no `cursor`"
            yield Problem.of("paging-without-cursor", tool.pointer, message)


def _check_rate_limit(service: Service) -> Iterator[Problem]:
    codes = {error.code for tool in service.tools for error in tool.errors} | {error.code for error in service.errors}
    if service.tools and service.rate_limit is None and not codes & {"429", "4XX", "4xx"}:
        yield Problem.of("rate-limit-undeclared", "/paths", "no operation declares the response 429")


# -- which rules for which kind --------------------------------------------------------------------------------------

_ALL: tuple[tuple[str, Check], ...] = (
    ("like-an-order", _check_orders),
    ("tautological-description", _check_tautology),
    ("undocumented-parameters", _check_parameters),
    ("default-contradicted", _check_defaults),
    ("usage-unsaid", _check_usage),
    ("deprecated-without-replacement", _check_deprecation),
)
_TOOL_RULES: Mapping[Kind, tuple[tuple[str, Check], ...]] = {
    "mcp": (
        *_ALL,
        ("no-description", _check_description),
        ("differs-by-run", _check_run),
        ("brief-description long-description", _check_length),
        ("no-output-schema", _check_result),
        ("name-not-portable", _check_name),
        ("name-too-long", _check_name_length),
        ("output-schema-invalid", _check_output_schema),
        ("destructive-unconfirmed", _check_confirmation),
        ("many-parameters", _check_count),
        ("ambiguous-alternatives", _check_alternatives),
    ),
    "openapi": (
        *_ALL,
        ("ambiguous-identifier", _check_identifiers),
        ("unconstrained-parameters", _check_constraints),
        ("errors-undeclared errors-unstructured", _check_errors),
        ("result-without-example", _check_examples),
        ("request-without-example", _check_request_example),
        ("no-output-schema", _check_result_of_operation),
        ("list-without-paging", _check_paging),
        ("name-too-long", _check_name_length),
        ("method-contradicts-name", _check_method),
        ("many-parameters", _check_count),
        ("deep-input", _check_depth),
        ("ambiguous-alternatives", _check_alternatives),
    ),
    "cli": (*_ALL, ("no-description", _check_description), ("ambiguous-identifier", _check_identifiers)),
}
"""The rules on a tool, by the kind of source: their codes, and what checks them."""

_SERVICE_RULES: Mapping[Kind, tuple[tuple[str, ServiceCheck], ...]] = {
    "mcp": (
        ("shadow-candidate", _shadow_candidates),
        ("missing-annotations", _check_annotations),
        ("mixed-name-styles", _check_styles),
        ("too-many-tools", _check_size),
        ("service-undescribed", _check_purpose),
        ("unknown-tool-named", _check_named_tools),
        ("resource-undescribed prompt-undescribed", _check_offers),
        ("icon-not-portable icon-size-invalid", _check_icons),
    ),
    "openapi": (
        ("shadow-candidate", _shadow_candidates),
        ("mixed-name-styles", _check_styles),
        ("unknown-tool-named", _check_named_tools),
        ("server-without-tls", _check_transport),
        ("key-in-query", _check_credentials),
        ("paging-without-cursor", _check_cursors),
        ("rate-limit-undeclared", _check_rate_limit),
        ("error-message-missing", _check_error_bodies),
    ),
    "cli": (("shadow-candidate", _shadow_candidates),),
}
"""The rules on a service."""
