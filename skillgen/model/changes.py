"""Inventories of services, and the changes between two of them for callers.

An inventory holds the facts that matter to callers, compactly; the record (`.skillgen.json`) stores it, and change
messages are derived from it. Of a tool these are: HTTP method and path; the `MARKS` that apply; each parameter with its
location, its type, whether it is required, and its choices; each property of the result with its type; and a digest of
the description. Nested parameters are listed in the same mapping, as `schedule.due_date` and `items[].name`. A named
type, which tools refer to by name, lists its properties in the same form.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from skillgen.model.resource import Prompt, Resource
from skillgen.model.schema import Parameter, Schema
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.traversal import TypeUsage
from skillgen.model.values import Json

MARKS = ("read-only", "destructive", "sending", "asks first", "deprecated")

UNREAD_DOCUMENTS = "documents not read"
"""The key of `offers_of` for the unread documents of an API."""

_DEPTH_LIMIT = 4
"""Levels of nested parameters, and of nested types in a type's text."""

_MAX_LISTED_TOOLS = 3
_PLAIN_NAME = re.compile(r"[\w.-]+")


class ToolChange(Struct, frozen=True, kw_only=True):
    """One change of a tool or a named type."""

    tool: str
    """The tool, by its new name if it was renamed; for the kind `type`, the named type."""

    kind: str
    """`added`, `removed`, `renamed`, `parameter`, `effect`, `result`, `words` or `type`."""

    text: str
    """The change as a phrase."""

    breaking: bool
    """Whether a valid caller may become invalid."""


class _RowChange(Struct, frozen=True, kw_only=True):
    """One change of a parameter, or of a property."""

    text: str
    """The change as a phrase after the name."""

    breaks_senders: bool = False
    """Whether a value that was valid to send may become invalid."""

    breaks_readers: bool = False
    """Whether a caller that reads the value may fail."""


class Inventory(Struct, frozen=True, kw_only=True):
    """The facts of services that matter to callers, from `inventory_of` and `types_of`."""

    tools: Mapping[str, Json]
    """The tools by name."""

    types: Mapping[str, Json]
    """The named types by name; empty if they are unknown."""


def compare_inventories(old: Inventory, new: Inventory, uses: TypeUsage) -> tuple[ToolChange, ...]:
    """Returns the changes from one inventory to another, breaking ones first; `uses` belongs to the new services.

    The name of a type does not matter to callers: a type with another name and the same properties is the same.
    """
    names = _renamed_types(old.types, new.types)
    changes = list(_tool_changes(_with_type_names(old.tools, names), new.tools))
    old_types = {names.get(name, name): rows for name, rows in _with_type_names(old.types, names).items()}
    for name in sorted(old_types.keys() & new.types.keys()):
        if old_types[name] != new.types[name]:
            changes += _type_changes(name, old_types[name], new.types[name], uses)
    return tuple(sorted(changes, key=lambda change: not change.breaking))


def _renamed_types(old: Mapping[str, Json], new: Mapping[str, Json]) -> dict[str, str]:
    added = {str(rows): name for name, rows in new.items() if name not in old}
    return {name: added[str(rows)] for name, rows in old.items() if name not in new and str(rows) in added}


def _with_type_names(facts: Mapping[str, Json], names: Mapping[str, str]) -> Mapping[str, Json]:
    if not names:
        return facts
    # A pattern that tries every name at every position is slow, so only names with unusual characters are in it; the
    # others are looked up whenever a word matches.
    unusual = sorted((name for name in names if not _PLAIN_NAME.fullmatch(name)), key=len, reverse=True)
    pattern = re.compile(
        "|".join([*(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])" for name in unusual), _PLAIN_NAME.pattern])
    )

    def renamed(value: Json) -> Json:
        if isinstance(value, str):
            return pattern.sub(lambda match: names.get(match[0], match[0]), value)
        if isinstance(value, list):
            return [renamed(item) if index == 0 else item for index, item in enumerate(value)]
        return {key: renamed(item) for key, item in value.items()} if isinstance(value, dict) else value

    def renamed_in_tool(tool: Json) -> Json:
        return tool | {key: renamed(tool[key]) for key in ("takes", "gives") if key in tool}

    return {
        name: renamed_in_tool(fact) if "takes" in fact and "about" in fact else renamed(fact)
        for name, fact in facts.items()
    }


def _type_changes(name: str, old: Json, new: Json, uses: TypeUsage) -> Iterator[ToolChange]:
    sent, returned = uses.sent_by(name), uses.returned_by(name)
    users = "; ".join(
        f"{verb} by {_listed(tools)}" for verb, tools in (("sent", sent), ("returned", returned)) if tools
    )
    if not users:
        return

    def change(text: str, breaking: bool) -> ToolChange:
        return ToolChange(tool=name, kind="type", text=f"{text}; {users}", breaking=breaking)

    for row in old:
        if row not in new:
            yield change(f"property {row} removed", True)
    for row, facts in new.items():
        what = f"property {row}" if row else "it"
        if row not in old:
            yield change(f"{what} added{' (required)' if facts[1] else ''}", bool(facts[1] and sent))
            continue
        for item in _row_changes(old[row], facts):
            is_breaking = bool(sent and item.breaks_senders) or bool(returned and item.breaks_readers)
            yield change(f"{what} {item.text}", is_breaking)


def _listed(tools: Sequence[str]) -> str:
    more = f" and {len(tools) - _MAX_LISTED_TOOLS} more" if len(tools) > _MAX_LISTED_TOOLS else ""
    return ", ".join(tools[:_MAX_LISTED_TOOLS]) + more


def _tool_changes(old: Mapping[str, Json], new: Mapping[str, Json]) -> Iterator[ToolChange]:
    renamed = _renamed_tools(old, new)
    for name in old:
        if name not in new and name not in renamed:
            yield ToolChange(tool=name, kind="removed", text="removed", breaking=True)
    for old_name, new_name in renamed.items():
        text = f"renamed from {old_name} (inferred: the same request, or the same description and parameters)"
        yield ToolChange(tool=new_name, kind="renamed", text=text, breaking=True)
    old_names = {new_name: old_name for old_name, new_name in renamed.items()}
    for name, tool in new.items():
        if name in old_names or name in old:
            yield from _changes_of_tool(name, old[old_names.get(name, name)], tool)
        else:
            yield ToolChange(tool=name, kind="added", text="added", breaking=False)


def _renamed_tools(old: Mapping[str, Json], new: Mapping[str, Json]) -> dict[str, str]:
    """Pairs a removed tool with the only added one of the same request, or of the same description and parameters."""
    removed = [name for name in old if name not in new]
    added = [name for name in new if name not in old]
    renamed: dict[str, str] = {}
    for key in (lambda tool: tool.get("at"), lambda tool: (tool.get("about"), str(tool.get("takes")))):
        for name in removed:
            same = [other for other in added if key(new[other]) is not None and key(new[other]) == key(old[name])]
            twins = [other for other in removed if key(old[other]) == key(old[name])]
            if name not in renamed and len(same) == 1 and len(twins) == 1 and same[0] not in renamed.values():
                renamed[name] = same[0]
    return renamed


def _changes_of_tool(name: str, old: Json, new: Json) -> Iterator[ToolChange]:
    def change(kind: str, text: str, breaking: bool = False) -> ToolChange:
        return ToolChange(tool=name, kind=kind, text=text, breaking=breaking)

    if old.get("at") != new.get("at"):
        yield change("effect", f"its request was {old.get('at')}, and is {new.get('at')}", True)
    for mark in new.get("is", ()):
        if mark not in old.get("is", ()):
            yield change("effect", f"is now {mark}", mark in ("destructive", "sending", "asks first"))
    for mark in old.get("is", ()):
        if mark not in new.get("is", ()):
            yield change("effect", f"is no longer {mark}", mark == "read-only")
    before, after = old.get("takes", {}), new.get("takes", {})
    for parameter in before:
        if parameter not in after:
            yield change("parameter", f"parameter {parameter} removed", True)
    for parameter, row in after.items():
        if parameter not in before:
            yield change("parameter", f"parameter {parameter} added{' (required)' if row[1] else ''}", bool(row[1]))
            continue
        for item in _row_changes(before[parameter], row):
            yield change("parameter", f"parameter {parameter} {item.text}", item.breaks_senders)
    old_result, new_result = old.get("gives", {}), new.get("gives", {})
    for key in old_result:
        what = f"result's {key}" if key else "result"
        if key not in new_result:
            yield change("result", f"{what} removed", True)
        elif old_result[key] != new_result[key]:
            yield change("result", f"{what} was {old_result[key]}, and is {new_result[key]}", True)
    for key in new_result:
        if key not in old_result:
            yield change("result", f"{'result has ' + key if key else 'result is declared'}")
    if old.get("about") != new.get("about"):
        yield change("words", "description changed")


def _row_changes(old: Json, new: Json) -> Iterator[_RowChange]:
    if old[0] != new[0]:
        yield _RowChange(text=f"was {old[0]}, and is {new[0]}", breaks_senders=True, breaks_readers=True)
    if old[1] != new[1]:
        text = "is now required" if new[1] else "is now optional"
        yield _RowChange(text=text, breaks_senders=bool(new[1]), breaks_readers=not new[1])
    old_choices: list[str] | None = old[2] if len(old) > 2 else None
    new_choices: list[str] | None = new[2] if len(new) > 2 else None
    if old_choices == new_choices:
        return
    if new_choices is None:
        yield _RowChange(text="takes any value")
    elif old_choices is None:
        yield _RowChange(text=f"takes only {', '.join(new_choices)}", breaks_senders=True)
    else:
        if removed := [item for item in old_choices if item not in new_choices]:
            yield _RowChange(text=f"takes {', '.join(removed)} no longer", breaks_senders=True)
        if added := [item for item in new_choices if item not in old_choices]:
            yield _RowChange(text=f"takes {', '.join(added)} too")


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
        types[_clean(named.name)] = {"": [_type_text(schema), 0, *_choices(schema)], **_rows(schema.properties)}
    return types


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
        properties = {_clean(item.name): _type_text(item.schema) for item in output.properties}
        facts["gives"] = properties or {"": _type_text(output)}
    text = tool.description or tool.summary or tool.title or ""
    facts["about"] = hashlib.sha256(" ".join(text.split()).encode("utf-8", "replace")).hexdigest()[:8]
    return facts


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
        yield name, [parameter.location, _type_text(schema), int(required), *_choices(schema)]
        if depth < _DEPTH_LIMIT:
            for inner, suffix in ((schema, ""), (schema.items, "[]"), (schema.additional, "{}")):
                if isinstance(inner, Schema) and inner.properties:
                    yield from _flatten(inner.properties, f"{name}{suffix}.", required, depth + 1)


def _choices(schema: Schema) -> list[Json]:
    """Returns the choices as the last element of a row: one list, or nothing."""
    choices = schema.choices or (schema.items.choices if schema.items is not None else None)
    if not choices:
        return []
    return [[_clean(choice if isinstance(choice, str) else json.dumps(choice)) for choice in choices]]


def _type_text(schema: Schema) -> str:
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
