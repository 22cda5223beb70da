"""The facts of a service that matter to its callers, compact: what the record keeps, and what changes are told from.

A tool is `{"at"?, "is"?, "takes", "gives"?, "about"}`: its HTTP method and path; the words of `MARKS` that hold; each
parameter with its type, whether it is required and its choices; each property of its result with its type; and a digest
of its description. Parameters of parameters stand beside them, as `schedule.due_date` and `items[].name`. A named type,
which tools refer to by its name, has its properties in the same form.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator

from skillgen.model.resource import Prompt, Resource
from skillgen.model.schema import Parameter, Schema
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.value import Json

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
