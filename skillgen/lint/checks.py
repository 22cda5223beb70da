"""The rules that only `skillgen lint` checks: what a service does not say, although it could be read.

Names of rules on MCP tools are those of the Tool Definition Quality Score (TDQS); the subjects of the rules on
operations are those of Redocly's `score`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from skillgen.errors import Problem
from skillgen.model.calls import Output
from skillgen.model.schema import Parameter, Schema
from skillgen.model.service import Kind, Service
from skillgen.model.tool import Tool
from skillgen.model.values import child

Types = Mapping[str, Schema]
"""The named types of a service."""

Check = Callable[[Tool, Types], Iterator[Problem]]


def check_service(service: Service) -> Iterator[Problem]:
    """Yields the findings on each tool, then those on tools that cannot be distinguished.

    What several tools share has each finding once.
    """
    checks = _CHECKS[service.kind]
    types = {item.name: item.schema for item in service.schemas}
    places: set[tuple[str, str]] = set()
    for tool in service.tools:
        for check in checks if not tool.is_preflight else ():
            for problem in check(tool, types):
                if (problem.code, problem.where) not in places:
                    places.add((problem.code, problem.where))
                    yield problem
    yield from _shadow_candidates(service)


# -- texts -----------------------------------------------------------------------------------------------------------


def _text_of(tool: Tool) -> str:
    """Returns the declared description; a text that is quoted elsewhere because it addresses the reader counts."""
    quoted = " ".join(item.text for item in tool.quotations if item.field in ("summary", "description"))
    return f"{tool.description or tool.summary or ''} {quoted}".strip()


def _words(text: str) -> tuple[str, ...]:
    """Returns the words of a text or a name in lower case: `getOrder`, `get_order` and `Get order.` have the same."""
    return tuple(word.lower() for word in _WORD.findall(_HUMP.sub(" ", text)))


_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_WORD = re.compile(r"[^\W_]+")


def _check_description(tool: Tool, types: Types) -> Iterator[Problem]:
    text = _text_of(tool)
    if not text:
        yield Problem.of("no-description", tool.pointer, f"{tool.name} has no description")


def _check_tautology(tool: Tool, types: Types) -> Iterator[Problem]:
    # The summary of an operation is a title.
    text = (tool.description or "") if tool.method is not None else _text_of(tool)
    if text and _words(text) in (_words(tool.name), _words(tool.title or "")):
        message = f"the description of {tool.name} only repeats its name: {text[:80]!r}"
        yield Problem.of("tautological-description", child(tool.pointer, "description"), message)


def _shadow_candidates(service: Service) -> Iterator[Problem]:
    """Yields tools with the same words as an earlier one in their names or descriptions."""
    first_of: dict[tuple[str, ...], Tool] = {}
    for tool in service.tools:
        for what, words in (("name", tuple(sorted(_words(tool.name)))), ("description", _words(_text_of(tool)))):
            first = first_of.setdefault((what, *words), tool) if words else tool
            if first is not tool:
                message = f"{tool.name} has the same words in its {what} as {first.name}"
                yield Problem.of("shadow-candidate", child(tool.pointer, what), message)
                break


# -- effects, parameters, results ------------------------------------------------------------------------------------

_HINTS = ("read_only", "destructive", "idempotent", "open_world")


def _check_annotations(tool: Tool, types: Types) -> Iterator[Problem]:
    semantics = tool.semantics
    if not any(getattr(semantics, hint) is not None and semantics.is_declared(hint) for hint in _HINTS):
        yield Problem.of("missing-annotations", tool.pointer, f"{tool.name} declares no effects")


def _check_parameters(tool: Tool, types: Types) -> Iterator[Problem]:
    # Headers and cookies are mostly credentials, which clients add.
    parameters = [item for item in tool.parameters if item.location not in ("header", "cookie")]
    missing = [item.name for item in parameters if not _is_described(item, types)]
    if 2 * len(missing) > len(parameters):  # TDQS: below a coverage of 50 %, the description must compensate
        message = f"{tool.name} has {len(parameters)} parameters, {len(missing)} without a description: "
        yield Problem.of("undocumented-parameters", tool.pointer, message + _listed(missing))


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


_GENERIC = frozenset({"data", "id", "key", "name", "object", "params", "status", "type", "value"})
"""Names that say nothing without a description; Redocly's `score` counts such names."""


def _check_identifiers(tool: Tool, types: Types) -> Iterator[Problem]:
    for item in tool.parameters:
        if item.name.lower() in _GENERIC and not _is_described(item, types):
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


_ALL: tuple[Check, ...] = (_check_tautology, _check_parameters)
_CHECKS: Mapping[Kind, tuple[Check, ...]] = {
    "mcp": (*_ALL, _check_description, _check_annotations, _check_result),
    "openapi": (*_ALL, _check_identifiers, _check_constraints, _check_errors, _check_examples),
    "cli": (*_ALL, _check_description, _check_identifiers),
}
"""The rules on a tool, by the kind of source."""
