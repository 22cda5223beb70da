"""Examples of MCP tool calls: the declared ones, validated, and a generated one if none of them can be sent."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from skillgen.errors import ProblemLog
from skillgen.model.calls import Example
from skillgen.model.schema import Schema, Types
from skillgen.model.values import Origin
from skillgen.sources.examples.generator import Generator, NoExample
from skillgen.sources.examples.prose import calls_in
from skillgen.sources.examples.validation import UNCHECKED, Validator, why_unpublishable

GENERATED_ORIGINS: dict[str, Origin] = {"input": Origin("inferred", "input_schema")}
_DESCRIBED_ORIGINS: dict[str, Origin] = {"input": Origin("inferred", "description")}


def call_examples(
    declared: Iterable[tuple[Example, str]],
    schema: Schema | None,
    types: Types,
    problems: ProblemLog,
    *,
    name: str,
    description: str | None,
    may_generate: bool = True,
) -> tuple[Example, ...]:
    """Returns the declared examples, after another one if none of them can be sent. `declared` has their pointers.

    The other one is in the description of the tool, or is generated if the source has a value for each argument but
    one. `schema` is that of the arguments, `None` without one; `may_generate` is false if it does not declare them.
    """
    if schema is None:
        return tuple(example for example, _ in declared)
    validator = Validator(types, is_request=False, allows_placeholders=True)
    examples = [_checked(example, where, schema, validator, problems) for example, where in declared]
    can_be_sent = any(example.flaw is None and why_unpublishable(example.input) is None for example in examples)
    if can_be_sent or not may_generate:
        return tuple(examples)
    generator, text = Generator(validator), description or ""
    names = {item.name for item in generator.variants.first(schema).properties}
    for call in calls_in(text, name):
        if names.issuperset(call) and why_unpublishable(call) is None and not validator.validation_error(call, schema):
            return (Example(input=call, origins=_DESCRIBED_ORIGINS), *examples)
    try:
        made = generator.generate(schema, "", text=text)
    except NoExample:
        return tuple(examples)
    values = made.value.values() if isinstance(made.value, dict) else ()
    if len(made.placeholders) > 1 or all(value is False or value in made.placeholders for value in values):
        return tuple(examples)
    return (Example(input=made.value, origins=GENERATED_ORIGINS), *examples)


def _checked(example: Example, where: str, schema: Schema, validator: Validator, problems: ProblemLog) -> Example:
    if (reason := why_unpublishable(example.input)) is not None:
        problems.report(reason[0], where, reason[1])
    flaw = validator.validation_error(example.input, schema)
    if flaw in (None, UNCHECKED):
        return example
    problems.report("call-example-invalid", where, f"the example does not match the tool's own schema: {flaw}")
    return replace(example, flaw=flaw)
