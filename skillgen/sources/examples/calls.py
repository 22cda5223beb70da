"""Examples of MCP tool calls: the declared ones, validated, and a generated one if none of them can be sent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from skillgen.errors import ProblemLog
from skillgen.model.calls import Example
from skillgen.model.values import Json, Origin
from skillgen.sources.examples.generator import ExampleGenerator, NoExample
from skillgen.sources.examples.validation import UNCHECKED, Validator, why_unpublishable
from skillgen.sources.json_access import as_dict

GENERATED_ORIGINS: dict[str, Origin] = {"input": Origin("inferred", "input_schema")}


def call_examples(
    declared: Iterable[tuple[Example, str]],
    schema: Json,
    pointer: str,
    problems: ProblemLog,
    *,
    may_generate: bool = True,
) -> tuple[Example, ...]:
    """Returns the declared examples, after a generated one if none of them can be sent. `declared` has their pointers.

    `may_generate` is false if the schema does not declare the arguments of a call.
    """
    validator = Validator(schema, "json-schema")
    examples = [_checked(example, where, schema, validator, problems) for example, where in declared]
    can_be_sent = any(example.flaw is None and why_unpublishable(example.input) is None for example in examples)
    if can_be_sent or schema is None or not may_generate:
        return tuple(examples)

    def report(code: str, where: str, message: str) -> None:
        problems.report(code, where, message, "correct the value or the schema")

    try:
        generator = ExampleGenerator(validator, report, is_request=False)
        generate = generator.generate_non_empty if _is_wrapper(schema, validator) else generator.generate
        example = generate(schema, "", pointer)
    except NoExample as problem:
        problems.report("example-missing", pointer, f"no call that its schema allows could be generated: {problem}")
        return tuple(examples)
    if not isinstance(example.value, dict):
        problems.report("example-missing", pointer, "its schema allows no object, but arguments are an object")
        return tuple(examples)
    return (Example(input=example.value, origins=GENERATED_ORIGINS), *examples)


def _is_wrapper(schema: Json, validator: Validator) -> bool:
    """True if all arguments are in one object, without which a call shows nothing."""
    properties = list(as_dict(as_dict(schema).get("properties")).values())
    if len(properties) != 1:
        return False
    inner = as_dict(properties[0])
    if isinstance(reference := inner.get("$ref"), str):
        try:
            inner = as_dict(validator.follow(reference))
        except LookupError:
            return False
    return bool(inner.get("properties"))


def _checked(example: Example, where: str, schema: Json, validator: Validator, problems: ProblemLog) -> Example:
    if schema is None:
        return example
    if (reason := why_unpublishable(example.input)) is not None:
        problems.report(reason[0], where, reason[1])
    flaw = validator.validation_error(example.input, schema)
    if flaw in (None, UNCHECKED):
        return example
    problems.report(
        "call-example-invalid", where, f"the example does not match the tool's own schema: {flaw}", "correct it"
    )
    return replace(example, flaw=flaw)
