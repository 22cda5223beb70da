"""Inventories of services, the facts that matter most to callers, compactly; and what a change of a fact means to them.

The record (`.skillgen.json`) stores an inventory, and a check describes the changes since then. Of a tool the facts
are: HTTP method and path; the `MARKS` that apply; each parameter with its type, whether it is required, its choices,
and its limits; each property of the result with its type; and a digest of the description. Nested parameters are listed
in the same mapping, as `schedule.due_date` and `items[].name`. A named type lists its properties in the same form. Of
everything else that matters to callers there are digests.

A change of a field, or of a keyword of a schema, allows fewer values than before, more, or both. Fewer values break a
caller that sends them, more a caller that reads them. What cannot be decided, such as another pattern, counts as both.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias

from msgspec import NODEFAULT, Struct
from msgspec.structs import replace

from skillgen.model.calls import Example, Output
from skillgen.model.schema import NamedType, Parameter, Schema
from skillgen.model.service import Service
from skillgen.model.tool import CAUTION, Semantics, Tool
from skillgen.model.values import Json, Node, Value


class Effect(NamedTuple):
    """What a change does to the values that are allowed."""

    fewer: bool
    more: bool


NEITHER, FEWER, MORE, BOTH = Effect(False, False), Effect(True, False), Effect(False, True), Effect(True, True)

Judge: TypeAlias = Callable[[Any, Any], Effect]
Rule: TypeAlias = "Judge | str | None"


def _bound(direction: int) -> Judge:
    def judge(old: Any, new: Any) -> Effect:
        try:
            return FEWER if old is None or (new is not None and (new - old) * direction > 0) else MORE
        except TypeError:
            return BOTH

    return judge


def exact(old: Any, new: Any) -> Effect:
    """Judges a constraint whose values have no order."""
    return FEWER if old is None else MORE if new is None else BOTH


def _names(old: Any, new: Any) -> Effect:
    before, after = ({*map(shown, names or ())} for names in (old, new))
    return Effect(bool(before - after), bool(after - before))


def allowed(old: Any, new: Any) -> Effect:
    """Judges lists of values; without one, any value is allowed."""
    return exact(old, new) if old is None or new is None else _names(old, new)


def judged_types(old: Any, new: Any) -> Effect:
    """Judges JSON types; an integer is a number."""
    return allowed(*([*names, *(["integer"] if "number" in names else [])] or None for names in (old, new)))


def _inside(old: Any, new: Any) -> Effect:
    """Judges the schema of what is inside a value; without one, anything may be."""
    width = [0 if item is False else 1 if isinstance(item, Schema) and item != Schema() else 2 for item in (old, new)]
    return Effect(width[1] < width[0], width[1] > width[0])


def both(_old: Any, _new: Any) -> Effect:
    """Judges what cannot be decided."""
    return BOTH


def _caution(order: Sequence[Json]) -> Judge:
    """Judges a mark of safety: a caller relies on the least cautious value only if it is declared."""
    known = [item or None for item in order]

    def judge(old: Any, new: Any) -> Effect:
        ranks = [known.index(item or None) if (item or None) in known else 0 for item in (old, new)]
        return FEWER if ranks[1] > ranks[0] else NEITHER

    return judge


def text_rule(_old: Any, _new: Any) -> Effect:
    """Judges a text or an example, which only is named."""
    return NEITHER


RULES: dict[str, Rule] = {
    name: rule
    for names, rule in (
        ("minimum exclusiveMinimum minLength minItems minProperties minContains", _bound(1)),
        ("maximum exclusiveMaximum maxLength maxItems maxProperties maxContains", _bound(-1)),
        ("max_input_bytes requests_per_minute requests_per_day", _bound(-1)),
        ("uniqueItems is_exclusive Parameter.required", lambda _old, new: FEWER if new else MORE),
        ("nullable allow_empty is_repeatable is_value_optional", lambda _old, new: MORE if new else FEWER),
        ("aliases negations variables", _names),
        ("required scopes env bins os", lambda old, new: _names(new, old)),
        ("types", judged_types),
        ("choices", allowed),
        ("additional items content property_names", _inside),
        ("mapping", lambda old, new: Effect(*exact(old, new)[::-1])),
        ("default Input.required", lambda _old, _new: FEWER),
        ("pattern format multipleOf contentMediaType xml contains excluded also conditions when then otherwise", exact),
        (
            "prefix_items patterns discriminator read_only write_only location style explode"
            " allow_reserved media_type word value values after kind disclosed_by task_support",
            both,
        ),
        (
            "deprecated deprecation operation extras is_input_declared input_media_types output_media_types latency"
            " cost protocol_version server_name client_entry workflows skills related disclosure grants prompt size"
            " priority cache_duration_s refreshable links category retry_after_s has_retry_header user_actionable"
            " details side_effects reversed_by idempotent_with_key cli_equivalent api_equivalent resource_type"
            " version content_version last_updated title name summary description instructions body text message icons"
            " emoji tags homepage repository status_page license when_to_use when_not_to_use categories"
            " sections guidance documentation confirmation_message resolution examples argument_hint web_equivalent"
            " token_format audience api web cli mcp api_endpoint unread",
            text_rule,
        ),
        ("parameters properties", ""),
        ("Output.headers part_headers", "header"),
        ("Service.endpoints", "server"),
        ("Requirements.auth", "login"),
        ("Service.resources Service.resource_templates", "resource"),
        ("Service.prompts", "prompt"),
        ("Service.events", "event"),
        ("Service.errors", "error"),
        (
            "pointer origins quotations raw input_schema problems advice uses source_size_bytes last_modified"
            " access_level group groups areas purpose trigger product skill_name part_name ref includes Service.source"
            " Service.schemas Service.tools Tool.parameters Tool.input Tool.other_inputs"
            " Tool.output Tool.other_outputs Tool.errors Tool.usage Tool.endpoints Tool.auth"
            " Tool.method Tool.path Input.media_types Output.status Output.media_types"
            " ErrorCase.output ErrorCase.other_outputs Schema.alternatives",
            None,
        ),
    )
    for name in names.split()
}
RULES |= {f"Semantics.{name}": _caution(order) for name, order in CAUTION.items() if name != "operation"}
"""What a change of a field, or of a keyword of a schema, means; of a list of nodes, what one of them is called. `None`
for positions, and for what is compared in another way. A field without a rule may be added, but not lost or changed."""

STEPS = {
    "items": "[]", "additional": "{}", "contains": "[some]", "content": "(content)", "property_names": "(names)",
    "excluded": "(not)",
}  # fmt: skip
"""The fields of a schema with a schema of values inside, and the end of their paths."""

UNCERTAIN = frozenset({"excluded", "contains", "when"})
"""Fields in whose schema fewer values can be more values of the schema with the field."""


@lru_cache(128)
def rules_of(kind: type[Struct]) -> tuple[tuple[str, Judge | str], ...]:
    """Returns the fields of a class that are compared, each with its rule."""
    rules = ((name, RULES.get(f"{kind.__name__}.{name}", RULES.get(name, kept))) for name in kind.__struct_fields__)
    return tuple((name, rule) for name, rule in rules if rule is not None)


def kept(old: Any, _new: Any) -> Effect:
    """Judges a fact that may be added, but not lost or changed."""
    return BOTH if old else NEITHER


_PLAIN = frozenset((str, bool, int, type(None)))
_NOT_COMPARED = ("pointer", "origins", "request", "raw", "input_schema", "quotations", "group")


def bare(value: Any, without_texts: bool = False, known: dict[int, Json] | None = None) -> Json:
    """Returns a value as JSON without positions, and without what is left out by default.

    `known` has, by the `id` of a node, what was returned for it, if values are walked that share nodes.
    """
    if isinstance(value, Struct):
        known = {} if known is None else known
        if id(value) not in known:
            known[id(value)] = {
                name: item if type(item) in _PLAIN else bare(item, without_texts, known)
                for name, default in _compared(type(value), without_texts)
                if (item := getattr(value, name)) is not default and item != default
            }
        return known[id(value)]
    if isinstance(value, Value):
        return value.json
    if isinstance(value, (tuple, list)):
        return [bare(item, without_texts, known) for item in value if not isinstance(item, Example) or item.is_declared]
    if isinstance(value, dict):
        return {key: bare(item, without_texts, known) for key, item in value.items()}
    return value


@lru_cache(256)
def _compared(kind: type[Struct], without_texts: bool) -> tuple[tuple[str, Any], ...]:
    """Returns the fields of a class that `bare` has, each with its default value."""
    names = kind.__struct_fields__
    # Fields without a default precede those with one.
    defaults = dict(zip(reversed(names), reversed(kind.__struct_defaults__), strict=False))
    return tuple(
        (name, defaults.get(name, NODEFAULT))
        for name in names
        if name not in _NOT_COMPARED and not (without_texts and RULES.get(name) is text_rule)
    )


def shown(value: Any) -> str:
    """Returns the text for a value: a string unchanged, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(bare(value), ensure_ascii=False, sort_keys=True)


MARKS = {
    "read_only": "read-only", "destructive": "destructive", "sends": "sending", "requires_confirmation": "asks first",
    "deprecated": "deprecated",
}  # fmt: skip
"""Field of a tool, or of its semantics, to the word that an inventory has if it applies."""

UNREAD_DOCUMENTS = "documents not read"
"""The key of `offers_of` for the unread documents of an API."""

_DEPTH_LIMIT = 4
"""Levels of nested parameters, and of nested types in a type's text."""


def service_of_facts(name: str, tools: Mapping[str, Json], types: Mapping[str, Json], *, has_limits: bool) -> Service:
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
        marks = {field: word in facts.get("is", ()) or None for field, word in MARKS.items()}
        gives = {key: [text, 1] for key, text in facts.get("gives", {}).items()}
        output = replace(schema(gives[""][0]) if "" in gives else Schema(), properties=parameters(gives))
        return Tool(
            name=name,
            description=facts.get("about"),
            method=method or None,
            path=path or None,
            deprecated=bool(marks.pop("deprecated")),
            semantics=Semantics(**marks),  # type: ignore[arg-type]
            parameters=parameters(facts.get("takes", {})),
            output=Output(schema=output, pointer="") if gives else None,
            pointer="",
        )

    nodes = ((key, replace(row_schema(rows[""]), properties=parameters(rows))) for key, rows in types.items())
    schemas = (NamedType(name=key, schema=node, pointer="") for key, node in nodes)
    return Service(kind="mcp", name=name, tools=tuple(tool(*item) for item in tools.items()), schemas=tuple(schemas))


def inventory_of(service: Service) -> dict[str, Json]:
    """Returns the facts of each tool by its name, in the order of the service."""
    undescribed = service.disclosure.undescribed if service.disclosure is not None else None
    inventory = {}
    # Tools share most of their parameters.
    parameters = {id(item): item for item in chain(service.parameters, *(tool.parameters for tool in service.tools))}
    rows = {key: _flatten([item]) for key, item in parameters.items()}
    for tool in service.tools:
        takes = _rows(chain.from_iterable(rows[id(item)] for item in (*tool.parameters, *service.parameters)))
        facts = inventory[_clean(tool.name)] = _tool_facts(tool, takes)
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
    pointers = [item.pointer for item in service.resources] + [item.pointer for item in service.prompts]
    from_groups = [pointer for pointer in pointers if pointer.startswith("/groups~1get/")]
    origins = [service.origins or {}, *(tool.origins or {} for tool in service.tools)]
    methods = Counter(f"{origin.source}/".split("/")[1] for fields in origins for origin in fields.values())
    counts = {
        "resources/list": len(service.resources),
        "resources/templates/list": len(service.resource_templates),
        "prompts/list": len(service.prompts),
        "groups/list": sum(bool(group.description) or "title" not in (group.origins or {}) for group in service.groups),
        "groups/get": len(from_groups) + sum(tool.disclosed_by is not None for tool in service.tools),
        "skills/list": len(service.skills),
        "skills/files": sum(file.text is not None for skill in service.skills for file in skill.files),
        "initialize": methods["initialize"] if methods["server~1discover"] else 0,
        "ai_help": methods["ai_help"] + len(service.sections) + sum(len(tool.guidance) for tool in service.tools),
        "get_manifest": methods["manifest"] + len(service.related) + len(service.errors),
    }
    return {method: count for method, count in counts.items() if count}


def types_of(service: Service) -> dict[str, Json]:
    """Returns the facts of each named type by its name: its properties, and the type itself under the empty name."""
    types = {}
    for named in service.schemas:
        rows = _rows(_flatten(named.schema.properties))
        types[_clean(named.name)] = {"": [type_text(named.schema), 0, *_details(named.schema)], **rows}
    return types


def digests_of(service: Service) -> dict[str, str]:
    """Returns digests of what `inventory_of` and `types_of` leave out: of tools, prompts and resources, by name, and
    of the rest of the service, under the empty name.
    """
    nodes: dict[str, Any] = {tool.name: replace(tool, parameters=()) for tool in service.tools}
    nodes |= {f"prompt {item.name}": item for item in service.prompts}
    nodes |= {f"resource {item.uri}": item for item in (*service.resources, *service.resource_templates)}
    others = {"prompts", "resources", "resource_templates"}
    rest = (name for name, rule in rules_of(Service) if rule is not text_rule and name not in others)
    nodes[""] = {name: getattr(service, name) for name in rest}
    known: dict[int, Json] = {}  # tools share errors and results
    return {_clean(name): _digest(bare(node, True, known)) for name, node in nodes.items()}


def _tool_facts(tool: Tool, takes: Json) -> dict[str, Json]:
    facts: dict[str, Json] = {}
    if tool.method and tool.path:
        facts["at"] = _clean(f"{tool.method} {tool.path}")
    if marks := [
        word for field, word in MARKS.items() if getattr(tool if field == "deprecated" else tool.semantics, field)
    ]:
        facts["is"] = marks
    facts["takes"] = takes
    if tool.output is not None and (output := tool.output.schema) is not None:
        properties = {_clean(item.name): type_text(item.schema) for item in output.properties}
        facts["gives"] = properties or {"": type_text(output)}
    facts["about"] = _digest(" ".join((tool.description or tool.summary or tool.title or "").split()))
    return facts


_SORTED = json.JSONEncoder(sort_keys=True)


def _digest(value: Json) -> str:
    text = value if isinstance(value, str) else _SORTED.encode(value)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:8]


def _rows(parameters: Iterable[tuple[str, str, list[Json]]]) -> dict[str, Json]:
    rows: dict[str, Json] = {}
    for name, location, row in parameters:
        rows[name if name not in rows else f"{location}:{name}"] = row
    return rows


def _flatten(
    parameters: Iterable[Parameter], prefix: str = "", parent_required: bool = True, depth: int = 0
) -> list[tuple[str, str, list[Json]]]:
    rows: list[tuple[str, str, list[Json]]] = []
    for parameter in parameters:
        name, schema = prefix + _clean(parameter.name), parameter.schema
        required = parameter.required and parent_required
        rows.append((name, parameter.location, [type_text(schema), int(required), *_details(schema, parameter)]))
        if depth < _DEPTH_LIMIT and (schema.properties or schema.items or schema.additional):
            for inner, suffix in ((schema, ""), (schema.items, "[]"), (schema.additional, "{}")):
                if isinstance(inner, Schema) and inner.properties:
                    rows += _flatten(inner.properties, f"{name}{suffix}.", required, depth + 1)
    return rows


def _details(schema: Schema, parameter: Parameter | None = None) -> list[Json]:
    """Returns the end of a row: the choices, then the limits, if the schema has any."""
    items = schema.choices or (schema.items is not None and schema.items.choices)
    choices = items and [_clean(item if isinstance(item, str) else json.dumps(item)) for item in items]
    limits = _limits(schema) if parameter is None else _limits(schema, parameter.serialization, parameter.syntax)
    if parameter is not None and parameter.location in ("header", "cookie", "body"):
        limits["place"] = parameter.location
    return [choices or [], limits] if limits else [choices] if choices else []


OTHER_RULES = "other rules"
"""The key of the digest of rules that an inventory does not list."""

_IN_ROWS = (
    "types", "nullable", "format", "choices", "constraints", "default", "ref", "includes", "properties", "items",
)  # fmt: skip
_OTHERS = [name for name, _ in _compared(Schema, True) if name not in _IN_ROWS]
_others_of = attrgetter(*_OTHERS)
_NO_OTHERS = _others_of(Schema())


def _limits(schema: Schema, serialization: Node | None = None, syntax: Node | None = None) -> dict[str, Json]:
    """Returns the constraints and the default by their keyword, and a digest of what else is declared."""
    limits: dict[str, Json] = {} if schema.default is None else {"default": schema.default.json}
    limits |= schema.constraints or {}
    if limits and not all(map(_is_plain, limits.values())):
        limits = json.loads(_clean(json.dumps(limits, ensure_ascii=False)))
    if schema.items is not None and (inner := _limits(schema.items)):
        limits["each item"] = inner
    if (values := _others_of(schema)) != _NO_OTHERS or serialization or syntax:
        pairs = zip(_OTHERS, values, _NO_OTHERS, strict=True)
        own = {name: bare(item, True) for name, item, default in pairs if item != default}
        if rules := [*filter(None, (own, bare(serialization, True), bare(syntax, True)))]:
            limits[OTHER_RULES] = _digest(rules)
    return limits


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


def _is_plain(value: Json) -> bool:
    return isinstance(value, int) or (isinstance(value, str) and _clean(value) == value)


def _clean(text: str) -> str:
    """Returns text on one line that can be encoded as UTF-8."""
    is_word = text.isascii() and " " not in text and text.isprintable()
    return text if is_word else " ".join(text.encode("utf-8", "replace").decode("utf-8").split())
