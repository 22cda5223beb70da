"""The meaning of a change of each field of the model, and of each keyword of a schema, for callers.

A change allows fewer values than before, more, or both. Fewer values break a caller that sends them, more a caller that
reads them. What cannot be decided, such as another pattern, counts as both.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from msgspec import Struct
from msgspec.structs import fields

from skillgen.model.calls import Example
from skillgen.model.schema import Schema
from skillgen.model.tool import CAUTION
from skillgen.model.values import Json, Value


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
    if old is None or new is None:
        return FEWER if old is None else MORE
    return _names(old, new)


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
            " token_format audience api web cli mcp api_endpoint",
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


_NOT_COMPARED = ("pointer", "origins", "request", "raw", "input_schema", "quotations", "group")


def bare(value: Any, without_texts: bool = False) -> Json:
    """Returns a value as JSON without positions, and without what is left out by default."""
    if isinstance(value, Value):
        return value.json
    if isinstance(value, Struct):
        return {
            name: bare(item, without_texts)
            for name, default in defaults_of(type(value))
            if name not in _NOT_COMPARED and not (without_texts and RULES.get(name) is text_rule)
            if (item := getattr(value, name)) != default
        }
    if isinstance(value, (tuple, list)):
        return [bare(item, without_texts) for item in value if not isinstance(item, Example) or item.is_declared]
    if isinstance(value, Mapping):
        return {key: bare(item, without_texts) for key, item in value.items()}
    return value


@lru_cache(128)
def defaults_of(kind: type[Struct]) -> tuple[tuple[str, Any], ...]:
    """Returns the fields of a class, each with its default value."""
    return tuple((item.name, item.default) for item in fields(kind))


def shown(value: Any) -> str:
    """Returns the text for a value: a string unchanged, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(bare(value), ensure_ascii=False, sort_keys=True)
