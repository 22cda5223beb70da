"""Inventories of services: the facts that matter most to callers, compactly.

The record (`.skillgen.json`) stores an inventory, and a check describes the changes since then. Of a tool the facts
are: HTTP method and path; the `MARKS` that apply; each parameter with its type, whether it is required, its choices,
and its limits; each property of the result with its type; and a digest of the description. Nested parameters are listed
in the same mapping, as `schedule.due_date` and `items[].name`. A named type lists its properties in the same form. Of
everything else that matters to callers there are digests.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from skillgen.model.calls import Output
from skillgen.model.change_rules import bare, rules_of, text_rule
from skillgen.model.resource import Prompt, Resource
from skillgen.model.schema import NamedType, Parameter, Schema
from skillgen.model.service import Service
from skillgen.model.tool import Semantics, Tool
from skillgen.model.values import Json, Node

MARKS = ("read-only", "destructive", "sending", "asks first", "deprecated")

UNREAD_DOCUMENTS = "documents not read"
"""The key of `offers_of` for the unread documents of an API."""

_DEPTH_LIMIT = 4
"""Levels of nested parameters, and of nested types in a type's text."""


def service_of_inventory(
    name: str, tools: Mapping[str, Json], types: Mapping[str, Json], *, has_limits: bool
) -> Service:
    """Returns a service that has the facts of an inventory, from `inventory_of` and `types_of`, for a comparison."""

    def schema(text: str) -> Schema:
        if text.endswith("|null"):
            return replace(schema(text.removesuffix("|null")), nullable=True)
        if text.endswith("[]"):
            return Schema(types=("array",), items=schema(text.removesuffix("[]")))
        if " or " in text:
            return Schema(alternatives=tuple(map(schema, text.split(" or "))))
        return Schema(ref=text) if text in types else Schema(types=() if text == "any" else tuple(text.split("|")))

    def parameters(rows: Mapping[str, Json]) -> tuple[Parameter, ...]:
        return tuple(
            Parameter(name=key, location="argument", required=bool(row[1]), schema=row_schema(row), pointer="")
            for key, row in rows.items()
            if key
        )

    def row_schema(row: Json) -> Schema:
        _, _, choices, limits = (*row, (), ())[:4]
        limits = dict(limits) if has_limits else None  # the default is compared like a limit
        return replace(schema(row[0]), choices=tuple(choices) or None, constraints=limits)

    def tool(name: str, facts: Json) -> Tool:
        method, _, path = facts.get("at", "").partition(" ")
        marks = [mark in facts.get("is", ()) or None for mark in MARKS]
        gives = {key: [text, 1] for key, text in facts.get("gives", {}).items()}
        output = replace(schema(gives[""][0]) if "" in gives else Schema(), properties=parameters(gives))
        return Tool(
            name=name,
            description=facts.get("about"),
            method=method or None,
            path=path or None,
            semantics=Semantics(
                read_only=marks[0], destructive=marks[1], sends=marks[2], requires_confirmation=marks[3]
            ),
            deprecated=bool(marks[4]),
            parameters=parameters(facts.get("takes", {})),
            output=Output(schema=output, pointer="") if gives else None,
            pointer="",
        )

    schemas = (
        NamedType(name=key, schema=replace(row_schema(rows[""]), properties=parameters(rows)), pointer="")
        for key, rows in types.items()
    )
    return Service(kind="mcp", name=name, tools=tuple(tool(*item) for item in tools.items()), schemas=tuple(schemas))


def inventory_of(service: Service) -> dict[str, Json]:
    """Returns the facts of each tool by its name, in the order of the service."""
    undescribed = service.disclosure.undescribed if service.disclosure is not None else None
    inventory = {}
    for tool in service.tools:
        facts = inventory[_clean(tool.name)] = _tool_facts(tool, service.parameters)
        if undescribed is not None and tool.name not in undescribed:
            facts["described"] = 1
    return inventory


def offers_of(service: Service) -> dict[str, int]:
    """Returns how much the documents of an MCP server contain in addition to its listed tools, by method.

    For an API, returns the number of other documents that could not be read.
    """
    if service.kind != "mcp":
        unread = sum(problem.code == "document-not-read" for problem in service.problems)
        return {UNREAD_DOCUMENTS: unread} if unread else {}
    resources_and_prompts: tuple[Resource | Prompt, ...] = (*service.resources, *service.prompts)
    from_groups = [item for item in resources_and_prompts if item.pointer.startswith("/groups~1get/")]
    origins = [service.origins or {}, *(tool.origins or {} for tool in service.tools)]
    sources = [origin.source for fields in origins for origin in fields.values()]
    is_stateless = any(source.startswith("/server~1discover") for source in sources)
    help_texts = len(service.sections) + sum(len(tool.guidance) for tool in service.tools)
    counts = {
        "resources/list": len(service.resources),
        "resources/templates/list": len(service.resource_templates),
        "prompts/list": len(service.prompts),
        "groups/list": sum(bool(group.description) or "title" not in (group.origins or {}) for group in service.groups),
        "groups/get": len(from_groups) + sum(tool.disclosed_by is not None for tool in service.tools),
        "skills/list": len(service.skills),
        "skills/files": sum(file.text is not None for skill in service.skills for file in skill.files),
        "initialize": sum(source.startswith("/initialize/") for source in sources) if is_stateless else 0,
        "ai_help": sum(source.startswith("/ai_help") for source in sources) + help_texts,
        "get_manifest": sum(source.startswith("/manifest/") for source in sources)
        + len(service.related)
        + len(service.errors),
    }
    return {method: count for method, count in counts.items() if count}


def types_of(service: Service) -> dict[str, Json]:
    """Returns the facts of each named type by its name: its properties, and the type itself under the empty name."""
    types = {}
    for named in service.schemas:
        schema = named.schema
        types[_clean(named.name)] = {"": [type_text(schema), 0, *_details(schema)], **_rows(schema.properties)}
    return types


def digests_of(service: Service) -> dict[str, str]:
    """Returns digests of what `inventory_of` and `types_of` leave out: of tools, prompts and resources, by name, and
    of the rest of the service, under the empty name.
    """
    nodes: dict[str, Any] = {tool.name: replace(tool, parameters=()) for tool in service.tools}
    nodes |= {f"prompt {item.name}": item for item in service.prompts}
    nodes |= {f"resource {item.uri}": item for item in (*service.resources, *service.resource_templates)}
    others = {"prompts", "resources", "resource_templates"}
    nodes[""] = {
        name: getattr(service, name) for name, rule in rules_of(Service) if rule is not text_rule and name not in others
    }
    return {_clean(name): _digest(bare(node, True)) for name, node in nodes.items()}


def _tool_facts(tool: Tool, more: Sequence[Parameter]) -> dict[str, Json]:
    semantics = tool.semantics
    effects = (semantics.read_only, semantics.destructive, semantics.sends)
    flags = (*effects, semantics.requires_confirmation, tool.deprecated)
    facts: dict[str, Json] = {}
    if tool.method and tool.path:
        facts["at"] = _clean(f"{tool.method} {tool.path}")
    if marks := [mark for mark, applies in zip(MARKS, flags, strict=True) if applies]:
        facts["is"] = marks
    facts["takes"] = _rows((*tool.parameters, *more))
    output = tool.output.schema if tool.output is not None else None
    if output is not None:
        properties = {_clean(item.name): type_text(item.schema) for item in output.properties}
        facts["gives"] = properties or {"": type_text(output)}
    text = tool.description or tool.summary or tool.title or ""
    facts["about"] = _digest(" ".join(text.split()))
    return facts


def _digest(value: Json) -> str:
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:8]


def _rows(parameters: Iterable[Parameter]) -> dict[str, Json]:
    rows: dict[str, Json] = {}
    for name, (location, *row) in _flatten(parameters, "", True, 0):
        rows[name if name not in rows else f"{location}:{name}"] = row
    return rows


def _flatten(
    parameters: Iterable[Parameter], prefix: str, parent_required: bool, depth: int
) -> Iterator[tuple[str, list[Json]]]:
    for parameter in parameters:
        name = prefix + _clean(parameter.name)
        schema = parameter.schema
        required = parameter.required and parent_required
        yield name, [parameter.location, type_text(schema), int(required), *_details(schema, parameter)]
        if depth < _DEPTH_LIMIT:
            for inner, suffix in ((schema, ""), (schema.items, "[]"), (schema.additional, "{}")):
                if isinstance(inner, Schema) and inner.properties:
                    yield from _flatten(inner.properties, f"{name}{suffix}.", required, depth + 1)


def _details(schema: Schema, parameter: Parameter | None = None) -> list[Json]:
    """Returns the end of a row: the choices, then the limits, if the schema has any."""
    items = schema.choices or (schema.items.choices if schema.items is not None else None) or ()
    choices = [_clean(choice if isinstance(choice, str) else json.dumps(choice)) for choice in items]
    limits = _limits(schema, *(() if parameter is None else (parameter.serialization, parameter.syntax)))
    if parameter is not None and parameter.location in ("header", "cookie", "body"):
        limits["place"] = parameter.location
    return [choices, limits] if limits else [choices] if choices else []


OTHER_RULES = "other rules"
"""The key of the digest of rules that an inventory does not list."""


def _limits(schema: Schema, *others: Node | None) -> dict[str, Json]:
    """Returns the constraints and the default by their keyword, and a digest of what else it and `others` declare."""
    limits = {} if schema.default is None else {"default": schema.default.json}
    limits |= schema.constraints or {}
    if schema.items is not None and (inner := _limits(schema.items)):
        limits["each item"] = inner
    own = replace(schema, types=(), nullable=False, format=None, choices=None, constraints=None, default=None)
    own = replace(own, ref=None, includes=(), properties=(), items=None)
    if rules := [*filter(None, (bare(item, True) for item in (own, *others)))]:
        limits[OTHER_RULES] = _digest(rules)
    found: dict[str, Json] = json.loads(_clean(json.dumps(limits, ensure_ascii=False)))
    return found


def type_text(schema: Schema) -> str:
    """Returns a type in compact notation: `string`, `Task[]`, `integer|null`, `string(date)`."""
    return _clean(_nested_type_text(schema, 0))


def _nested_type_text(schema: Schema, depth: int) -> str:
    if schema.ref:
        text = schema.ref
    elif schema.alternatives and depth < _DEPTH_LIMIT:
        text = " or ".join(dict.fromkeys(_nested_type_text(item, depth + 1) for item in schema.alternatives))
    elif "array" in schema.types and schema.items is not None and depth < _DEPTH_LIMIT:
        text = _nested_type_text(schema.items, depth + 1) + "[]"
    else:
        text = "|".join(schema.types) or "any"
        text += f"({schema.format})" if schema.format else ""
    if schema.includes:
        text = " and ".join([*([text] if text not in ("any", "object") else []), *schema.includes])
    return text + ("|null" if schema.nullable else "")


def _clean(text: str) -> str:
    """Returns text on one line that can be encoded as UTF-8."""
    return text if text.isidentifier() else " ".join(text.encode("utf-8", "replace").decode("utf-8").split())
