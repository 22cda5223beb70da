"""Inventory and diff of two services.

What changed between two inventories of tools, in words for a changelog, and whether it breaks callers.

The facts of a service that matter to its callers, compact: what the record keeps, and what changes are told from.

A tool is `{"at"?, "is"?, "takes", "gives"?, "about"}`: its HTTP method and path; the words of `MARKS` that hold; each
parameter with its type, whether it is required and its choices; each property of its result with its type; and a digest
of its description. Parameters of parameters stand beside them, as `schedule.due_date` and `items[].name`. A named type,
which tools refer to by its name, has its properties in the same form.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from skillgen.model.resource import Prompt, Resource
from skillgen.model.schema import Parameter, Schema
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.traversal import TypeUsage
from skillgen.model.values import Json, frozen

_SHOWN_TOOLS = 3
_PLAIN = re.compile(r"[\w.-]+")


@frozen
class ToolChange:
    """One thing that changed."""

    tool: str
    """The tool, by its new name where it is renamed; of the kind `type` the named type."""

    kind: str
    """`added`, `removed`, `renamed`, `parameter`, `effect`, `result`, `words` or `type`."""

    text: str
    """What happened, in words."""

    breaking: bool
    """Whether a caller that was right before may be wrong now."""


@frozen
class Inventory:
    """The facts of services that matter to callers, as `inventory` gives them."""

    tools: Mapping[str, Json]
    """The tools by name."""

    types: Mapping[str, Json]
    """The named types by name; empty where there are none, or none are known."""


def compare_inventories(old: Inventory, new: Inventory, uses: TypeUsage) -> tuple[ToolChange, ...]:
    """Gives what changed from one inventory to another, what breaks callers first; `uses` are those of the new one.

    The name of a type is no matter of callers: one that has another name and the same properties is the same.
    """
    names = _renamed_types(old.types, new.types)
    found = list(tool_changes(_with_names(old.tools, names), new.tools))
    before = {names.get(name, name): rows for name, rows in _with_names(old.types, names).items()}
    for name in sorted(before.keys() & new.types.keys()):
        if before[name] != new.types[name]:
            found += _changes_of_type(name, before[name], new.types[name], uses)
    return tuple(sorted(found, key=lambda change: not change.breaking))


def _renamed_types(old: Mapping[str, Json], new: Mapping[str, Json]) -> dict[str, str]:
    come = {str(rows): name for name, rows in new.items() if name not in old}
    return {name: come[str(rows)] for name, rows in old.items() if name not in new and str(rows) in come}


def _with_names(facts: Mapping[str, Json], names: Mapping[str, str]) -> Mapping[str, Json]:
    if not names:
        return facts
    # A pattern that tries every name at every place takes time by names and text: only those with other signs need it.
    odd = sorted((name for name in names if not _PLAIN.fullmatch(name)), key=len, reverse=True)
    known = re.compile("|".join([*(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])" for name in odd), _PLAIN.pattern]))

    def renamed(value: Json) -> Json:
        if isinstance(value, str):
            return known.sub(lambda found: names.get(found[0], found[0]), value)
        if isinstance(value, list):
            return [renamed(item) if index == 0 else item for index, item in enumerate(value)]
        return {key: renamed(item) for key, item in value.items()} if isinstance(value, dict) else value

    def of_tool(tool: Json) -> Json:
        return tool | {key: renamed(tool[key]) for key in ("takes", "gives") if key in tool}

    return {
        name: of_tool(fact) if "takes" in fact and "about" in fact else renamed(fact) for name, fact in facts.items()
    }


def _changes_of_type(name: str, old: Json, new: Json, uses: TypeUsage) -> Iterator[ToolChange]:
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
        for found in _changes_of_parameter(name, row, old[row], facts):
            text = found.text.replace(f"parameter {row}", what, 1)
            lost_by_readers = bool(returned) and old[row][1] > facts[1] and text.endswith("is now optional")
            is_of_senders = text.endswith("is now required") or " takes " in text
            yield change(text, lost_by_readers or (found.breaking and bool(sent or not is_of_senders)))


def _listed(tools: Sequence[str]) -> str:
    more = f" and {len(tools) - _SHOWN_TOOLS} more" if len(tools) > _SHOWN_TOOLS else ""
    return ", ".join(tools[:_SHOWN_TOOLS]) + more


def tool_changes(old: Mapping[str, Json], new: Mapping[str, Json]) -> tuple[ToolChange, ...]:
    """Gives what changed from the tools of one inventory to those of another, what breaks callers first."""
    renamed = _renamed(old, new)
    found: list[ToolChange] = []
    for name in old:
        if name not in new and name not in renamed:
            found.append(ToolChange(tool=name, kind="removed", text="removed", breaking=True))
    for before, after in renamed.items():
        text = f"renamed from {before} (inferred: the same request, or the same words and parameters)"
        found.append(ToolChange(tool=after, kind="renamed", text=text, breaking=True))
    origin = {after: before for before, after in renamed.items()}
    for name, tool in new.items():
        if name in origin or name in old:
            found += _changes_of(name, old[origin.get(name, name)], tool)
        else:
            found.append(ToolChange(tool=name, kind="added", text="added", breaking=False))
    return tuple(sorted(found, key=lambda change: not change.breaking))


def _renamed(old: Mapping[str, Json], new: Mapping[str, Json]) -> dict[str, str]:
    """Pairs a tool that is gone with the one new tool that makes the same request, or says and takes the same."""
    gone = [name for name in old if name not in new]
    come = [name for name in new if name not in old]
    found: dict[str, str] = {}
    for key in (lambda tool: tool.get("at"), lambda tool: (tool.get("about"), str(tool.get("takes")))):
        for name in gone:
            same = [other for other in come if key(new[other]) is not None and key(new[other]) == key(old[name])]
            twins = [other for other in gone if key(old[other]) == key(old[name])]
            if name not in found and len(same) == 1 and len(twins) == 1 and same[0] not in found.values():
                found[name] = same[0]
    return found


def _changes_of(name: str, old: Json, new: Json) -> Iterator[ToolChange]:
    def change(kind: str, text: str, breaking: bool = False) -> ToolChange:
        return ToolChange(tool=name, kind=kind, text=text, breaking=breaking)

    if old.get("at") != new.get("at"):
        yield change("effect", f"its request was {old.get('at')}, and is {new.get('at')}", True)
    for mark in new.get("is", ()):
        if mark not in old.get("is", ()):
            yield change("effect", f"is now {mark}", mark in ("destructive", "asks first"))
    for mark in old.get("is", ()):
        if mark not in new.get("is", ()):
            yield change("effect", f"is no longer {mark}", mark == "read-only")
    before, after = old.get("takes", {}), new.get("takes", {})
    for parameter in before:
        if parameter not in after:
            yield change("parameter", f"parameter {parameter} removed", True)
    for parameter, row in after.items():
        if parameter not in before:
            needed = " (required)" if row[1] else ""
            yield change("parameter", f"parameter {parameter} added{needed}", bool(row[1]))
            continue
        yield from _changes_of_parameter(name, parameter, before[parameter], row)
    gave, gives = old.get("gives", {}), new.get("gives", {})
    for key in gave:
        what = f"result's {key}" if key else "result"
        if key not in gives:
            yield change("result", f"{what} removed", True)
        elif gave[key] != gives[key]:
            yield change("result", f"{what} was {gave[key]}, and is {gives[key]}", True)
    for key in gives:
        if key not in gave:
            yield change("result", f"{'result has ' + key if key else 'result is declared'}")
    if old.get("about") != new.get("about"):
        yield change("words", "description changed")


def _changes_of_parameter(tool: str, name: str, old: Json, new: Json) -> Iterator[ToolChange]:
    def change(text: str, breaking: bool) -> ToolChange:
        return ToolChange(tool=tool, kind="parameter", text=f"parameter {name} {text}", breaking=breaking)

    if old[0] != new[0]:
        yield change(f"was {old[0]}, and is {new[0]}", True)
    if old[1] != new[1]:
        yield change("is now required" if new[1] else "is now optional", bool(new[1]))
    had: list[str] | None = old[2] if len(old) > 2 else None
    has: list[str] | None = new[2] if len(new) > 2 else None
    if had == has:
        return
    if had is None and has is not None:
        yield change(f"takes only {', '.join(has)}", True)
    elif has is None:
        yield change("takes any value", False)
    elif had is not None:
        lost, won = [item for item in had if item not in has], [item for item in has if item not in had]
        if lost:
            yield change(f"takes {', '.join(lost)} no longer", True)
        if won:
            yield change(f"takes {', '.join(won)} too", False)


MARKS = ("read-only", "destructive", "asks first", "deprecated")

UNREAD_DOCUMENTS = "documents not read"
"""What `offers_of` counts of an API."""

DEPTH = 4
"""Levels of parameters of parameters."""


def inventory_of(service: Service) -> dict[str, Json]:
    """Returns the facts of each tool by its name, in the order of the service."""
    undescribed = service.disclosure.undescribed if service.disclosure is not None else None
    found = {}
    for tool in service.tools:
        facts = found[_clean(tool.name)] = _tool(tool)
        if undescribed is not None and tool.name not in undescribed:
            facts["described"] = 1
    return found


def offers_of(service: Service) -> dict[str, int]:
    """Returns how much the documents of an MCP server have besides the tools in its list, by the method it came from.

    Of an API it is the number of other documents that could not be read.
    """
    if service.kind != "mcp":
        unread = sum(problem.code == "document-not-read" for problem in service.problems)
        return {UNREAD_DOCUMENTS: unread} if unread else {}
    grouped: tuple[Resource | Prompt, ...] = (*service.resources, *service.prompts)
    from_groups = [item for item in grouped if item.pointer.startswith("/groups~1get/")]
    origins = [service.origins or {}, *(tool.origins or {} for tool in service.tools)]
    sources = [origin.source for fields in origins for origin in fields.values()]
    is_newest_era = any(source.startswith("/server~1discover") for source in sources)
    texts = len(service.sections) + sum(len(tool.guidance) for tool in service.tools)
    counts = {
        "resources/list": len(service.resources),
        "resources/templates/list": len(service.resource_templates),
        "prompts/list": len(service.prompts),
        "groups/list": sum(bool(group.description) or "title" not in (group.origins or {}) for group in service.groups),
        "groups/get": len(from_groups) + sum(tool.disclosed_by is not None for tool in service.tools),
        "skills/list": len(service.skills),
        "skills/files": sum(file.text is not None for skill in service.skills for file in skill.files),
        "initialize": sum(source.startswith("/initialize/") for source in sources) if is_newest_era else 0,
        "ai_help": sum(source.startswith("/ai_help") for source in sources) + texts,
        "get_manifest": sum(source.startswith("/manifest/") for source in sources)
        + len(service.related)
        + len(service.errors),
    }
    return {method: count for method, count in counts.items() if count}


def types_of(service: Service) -> dict[str, Json]:
    """Gives the rows of each named type by its name: its properties, and itself under the empty name."""
    found = {}
    for named in service.schemas:
        schema = named.schema
        found[_clean(named.name)] = {"": [type_text(schema), 0, *_choices(schema)], **_rows(schema.properties)}
    return found


def type_text(schema: Schema) -> str:
    """Gives a type in a few characters: `string`, `Task[]`, `integer|null`, `string(date)`."""
    return _clean(_type_text(schema, 0))


def _tool(tool: Tool) -> dict[str, Json]:
    semantics = tool.semantics
    holds = (semantics.read_only, semantics.destructive, semantics.requires_confirmation, tool.deprecated)
    found: dict[str, Json] = {}
    if tool.method and tool.path:
        found["at"] = _clean(f"{tool.method} {tool.path}")
    if marks := [mark for mark, is_so in zip(MARKS, holds, strict=True) if is_so]:
        found["is"] = marks
    found["takes"] = _rows(tool.parameters)
    output = tool.output.schema if tool.output is not None else None
    if output is not None:
        properties = {_clean(item.name): type_text(item.schema) for item in output.properties}
        found["gives"] = properties or {"": type_text(output)}
    words = tool.description or tool.summary or tool.title or ""
    found["about"] = hashlib.sha256(" ".join(words.split()).encode("utf-8", "replace")).hexdigest()[:8]
    return found


def _rows(parameters: Iterable[Parameter]) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for name, parameter in _flattened(parameters, "", True, 0):
        key = name if name not in found else f"{parameter[0]}:{name}"
        found[key] = parameter[1:]
    return found


def _flattened(
    parameters: Iterable[Parameter], above: str, needed: bool, depth: int
) -> Iterator[tuple[str, list[Json]]]:
    for parameter in parameters:
        name = above + _clean(parameter.name)
        schema = parameter.schema
        is_needed = parameter.required and needed
        yield name, [parameter.location, type_text(schema), int(is_needed), *_choices(schema)]
        if depth < DEPTH:
            yield from _flattened(schema.properties, f"{name}.", is_needed, depth + 1)
            for inner, sign in ((schema.items, "[]"), (schema.additional, "{}")):
                if isinstance(inner, Schema):
                    yield from _flattened(inner.properties, f"{name}{sign}.", is_needed, depth + 1)


def _choices(schema: Schema) -> list[Json]:
    """Gives the choices as the end of a row: one list, or nothing."""
    choices = schema.choices or (schema.items.choices if schema.items is not None else None)
    if not choices:
        return []
    return [[_clean(choice if isinstance(choice, str) else json.dumps(choice)) for choice in choices]]


def _type_text(schema: Schema, depth: int) -> str:
    if schema.ref:
        text = schema.ref
    elif schema.alternatives and depth < DEPTH:
        text = " or ".join(dict.fromkeys(_type_text(item, depth + 1) for item in schema.alternatives))
    elif "array" in schema.types and schema.items is not None and depth < DEPTH:
        text = _type_text(schema.items, depth + 1) + "[]"
    else:
        text = "|".join(schema.types) or "any"
        text += f"({schema.format})" if schema.format else ""
    if schema.includes:
        text = " and ".join([*([text] if text not in ("any", "object") else []), *schema.includes])
    return text + ("|null" if schema.nullable else "")


def _clean(text: str) -> str:
    """Gives text that is one line and can be written as UTF-8."""
    return " ".join(text.encode("utf-8", "replace").decode("utf-8").split())
