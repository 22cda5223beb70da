"""Examples of MCP tool calls: the declared ones, validated, and a generated one if none of them can be sent."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from skillgen.errors import ProblemLog
from skillgen.model.calls import Example
from skillgen.model.schema import Schema
from skillgen.model.values import Json, Origin
from skillgen.sources.examples.generator import ExampleGenerator, NoExample
from skillgen.sources.examples.prose import calls_in
from skillgen.sources.examples.validation import UNCHECKED, ExampleSchemas, Validator, why_unpublishable

GENERATED_ORIGINS: dict[str, Origin] = {"input": Origin("inferred", "input_schema")}
_DESCRIBED_ORIGINS: dict[str, Origin] = {"input": Origin("inferred", "description")}


def call_examples(
    declared: Iterable[tuple[Example, str]],
    raw: Json,
    pointer: str,
    problems: ProblemLog,
    *,
    name: str,
    description: str | None,
    may_generate: bool = True,
) -> tuple[Example, ...]:
    """Returns the declared examples, after another one if none of them can be sent. `declared` has their pointers.

    The other one is in the description of the tool, or is generated if it shows more than the names of the arguments.
    `raw` is the schema of the arguments, `None` without one; `may_generate` is false if it does not declare them.
    """
    if raw is None:
        return tuple(example for example, _ in declared)
    schemas = ExampleSchemas(raw, pointer)
    schema = schemas.read(raw, pointer)
    validator = Validator(schemas, is_request=False)
    examples = [_checked(example, where, schema, validator, problems) for example, where in declared]
    can_be_sent = any(example.flaw is None and why_unpublishable(example.input) is None for example in examples)
    if can_be_sent or not may_generate:
        return tuple(examples)
    generator, text = ExampleGenerator(validator, problems), description or ""
    names = {item.name for item in generator.variants.first(schema).properties}
    for call in calls_in(text, name):
        if names.issuperset(call) and why_unpublishable(call) is None and not validator.validation_error(call, schema):
            return (Example(input=call, origins=_DESCRIBED_ORIGINS), *examples)
    try:
        example = generator.generate(schema, "", pointer, text=text)
    except NoExample as problem:
        problems.report("example-missing", pointer, f"no call that its schema allows could be generated: {problem}")
        return tuple(examples)
    if not isinstance(example.value, dict):
        problems.report("example-missing", pointer, "its schema allows no object, but arguments are an object")
        return tuple(examples)
    shows_something = example.is_known and not _has_nothing(example.value)
    return (Example(input=example.value, origins=GENERATED_ORIGINS), *examples) if shows_something else tuple(examples)


def _has_nothing(value: Json) -> bool:
    """True if something within a value is an empty object, which says nothing of what belongs there."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(part == {} or _has_nothing(part) for part in parts)


def _checked(example: Example, where: str, schema: Schema, validator: Validator, problems: ProblemLog) -> Example:
    if (reason := why_unpublishable(example.input)) is not None:
        problems.report(reason[0], where, reason[1])
    flaw = validator.validation_error(example.input, schema)
    if flaw in (None, UNCHECKED):
        return example
    problems.report("call-example-invalid", where, f"the example does not match the tool's own schema: {flaw}")
    return replace(example, flaw=flaw)
