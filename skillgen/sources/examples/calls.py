"""Examples of MCP tool calls: the declared ones, validated, and a generated one if none of them can be sent."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from skillgen.errors import ProblemLog
from skillgen.model.calls import Example
from skillgen.model.schema import Schema
from skillgen.model.values import Json, Origin
from skillgen.sources.examples.generator import ExampleGenerator, NoExample
from skillgen.sources.examples.validation import UNCHECKED, ExampleSchemas, Validator, why_unpublishable

GENERATED_ORIGINS: dict[str, Origin] = {"input": Origin("inferred", "input_schema")}


def call_examples(
    declared: Iterable[tuple[Example, str]],
    raw: Json,
    pointer: str,
    problems: ProblemLog,
    *,
    may_generate: bool = True,
) -> tuple[Example, ...]:
    """Returns the declared examples, after a generated one if none of them can be sent. `declared` has their pointers.

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
    generator = ExampleGenerator(validator, problems)
    generate = generator.generate_non_empty if _is_wrapper(schema, schemas) else generator.generate
    try:
        example = generate(schema, "", pointer)
    except NoExample as problem:
        problems.report("example-missing", pointer, f"no call that its schema allows could be generated: {problem}")
        return tuple(examples)
    if not isinstance(example.value, dict):
        problems.report("example-missing", pointer, "its schema allows no object, but arguments are an object")
        return tuple(examples)
    return (Example(input=example.value, origins=GENERATED_ORIGINS), *examples)


def _is_wrapper(schema: Schema, schemas: ExampleSchemas) -> bool:
    """True if all arguments are in one object, without which a call shows nothing."""
    if len(schema.properties) != 1:
        return False
    inner = schema.properties[0].schema
    return bool(inner.properties or (inner.ref is not None and schemas.type(inner.ref).properties))


def _checked(example: Example, where: str, schema: Schema, validator: Validator, problems: ProblemLog) -> Example:
    if (reason := why_unpublishable(example.input)) is not None:
        problems.report(reason[0], where, reason[1])
    flaw = validator.validation_error(example.input, schema)
    if flaw in (None, UNCHECKED):
        return example
    problems.report(
        "call-example-invalid", where, f"the example does not match the tool's own schema: {flaw}", "correct it"
    )
    return replace(example, flaw=flaw)
