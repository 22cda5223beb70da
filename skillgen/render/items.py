"""Lists of parameters and of what is nested in a value: a tree of branches, which one function writes as Markdown.

A branch holds only what the value's type and sentences (`types`) do not say already. Neighbours of which there is no
more to say than their types share a line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from skillgen.model.schema import Parameter, Schema
from skillgen.model.values import Json
from skillgen.render.phrases import of_rendering, phrase
from skillgen.render.types import (
    NOTHING,
    Direction,
    differ_in_required,
    inline_parts,
    is_container,
    parameter_notes,
    parameter_type,
    rule_text,
    schema_notes,
    type_phrase,
    value_notes,
    with_inline_type,
)
from skillgen.text.markdown import Markdown, code, code_list, exact_code, inline, needs_stop, value, with_stop


def alternative_labels(alternatives: Sequence[Schema]) -> list[str]:
    """Returns a label that distinguishes each alternative: its constant, its title or its type."""
    alternatives = [*map(with_inline_type, alternatives)]
    types = [type_phrase(item) for item in alternatives]
    counts = Counter(types)
    distinguishing = distinguishing_property(alternatives)
    labels: list[str] = []
    for number, (item, kind) in enumerate(zip(alternatives, types, strict=True), 1):
        if distinguishing is not None:
            constant = value(_constants(item)[distinguishing])
            labels.append(phrase("where", name=code(distinguishing), value=constant))
        elif _is_constant(item) and item.choices:
            labels.append(value(item.choices[0]) + (f" ({inline(item.title)})" if item.title else ""))
        elif item.title and not ("_" in item.title and counts[kind] == 1 and kind != "any"):  # no internal name
            labels.append(f"{inline(item.title)} ({kind})")
        elif counts[kind] == 1 and kind != "any":
            labels.append(phrase("as_object") if kind == "object" else phrase("as_type", type=kind))
        else:
            labels.append(phrase("alternative", number=number))
    return labels


def _is_constant(schema: Schema) -> bool:
    """True if only one value is allowed."""
    return schema.choices is not None and len(schema.choices) == 1 and not schema.properties


def distinguishing_property(alternatives: Sequence[Schema]) -> str | None:
    """Returns the property that has a different constant in each alternative, if there is one."""
    all_constants = [_constants(item) for item in alternatives]
    for name in all_constants[0] if len(all_constants) > 1 else ():
        values = [repr(constants[name]) for constants in all_constants if name in constants]
        if len(values) == len(all_constants) == len(set(values)):
            return name
    return None


def _constants(schema: Schema) -> dict[str, Json]:
    return {
        item.name: item.schema.choices[0]
        for item in schema.properties
        if item.schema.choices is not None and len(item.schema.choices) == 1
    }


class Branch(Struct, frozen=True):
    """What is nested in a value: the properties of an object, or one of its parts or alternatives."""

    label: Markdown | None
    """Distinguishes the branch from the others; `None` for the value's own properties."""

    words: Markdown = NOTHING
    """Sentences on it."""

    parameters: tuple[Parameter, ...] = ()
    """The properties of an object."""

    branches: tuple[Branch, ...] = ()
    """What is nested deeper."""

    @property
    def line(self) -> Markdown:
        """The label and the sentences."""
        colon = ":" if self.words or self.parameters or self.branches else ""
        return Markdown(f"{self.label}{colon}{' ' if self.words else ''}{self.words}")


def branches(schema: Schema, way: Direction = "both") -> tuple[Branch, ...]:
    """Returns what is written below a value: everything that its type and sentences do not say; named types are not
    expanded.
    """
    if schema.items is not None and is_container(schema, "items"):
        return branches(schema.items, way)
    refined = {item.name: item for item in schema.properties}
    parts = [_without_refined(part, refined) for part in inline_parts(schema)]
    own = replace(schema, properties=tuple(refined.values())) if parts and refined else schema
    return (*chain.from_iterable(branches(part, way) for part in parts), *_branches(own, way))


def _without_refined(part: Schema, refined: dict[str, Parameter]) -> Schema:
    """Returns a type without the properties that the schema including it declares again with the same type.

    What only the type says of them is added to `refined`.
    """
    kept: list[Parameter] = []
    for item in part.properties:
        more = refined.get(item.name)
        if (
            more is None
            or schema_notes(replace(item.schema, read_only=False))
            or more.schema.types not in ((), item.schema.types)
        ):
            kept.append(item)
            continue
        required, description = more.required or item.required, more.description or item.description
        value = replace(more.schema, read_only=more.schema.read_only or item.schema.read_only)
        refined[item.name] = replace(more, required=required, description=description, schema=value)
    return replace(part, properties=tuple(kept)) if len(kept) < len(part.properties) else part


def _branches(schema: Schema, way: Direction) -> Iterator[Branch]:
    if schema.properties:
        yield Branch(None, parameters=schema.properties)
    if isinstance(schema.additional, Schema) and is_container(schema, "additional"):
        if branches(schema.additional, way):
            yield replace(_branch(phrase("branch_each_value"), schema.additional, way), words=NOTHING)
    else:
        yield from unnamed_branches(schema, way)
    for number, member in enumerate(schema.prefix_items, 1):
        yield from _unless_empty(_branch(phrase("branch_item", number=number), member, way))
    if schema.items is not None and schema.items.choices != () and not is_container(schema, "items"):
        label = phrase("branch_each_other_item" if schema.prefix_items else "branch_each_item")
        yield from _unless_empty(_branch(label, schema.items, way))
    if schema.content is not None:
        yield _branch(phrase("branch_decoded", type=type_phrase(schema.content)), schema.content, way)
    if schema.alternatives and not differ_in_required(schema):
        yield from _alternative_branches(schema.alternatives, way)
    for member in schema.also:
        yield from _unless_empty(_branch(phrase("branch_also"), member, way))
    for condition in schema.conditions if way != "returned" else ():
        yield _branch(phrase("branch_if", rule=rule_text(condition.when)), condition.then or Schema(), way)
        if condition.otherwise is not None:
            yield _branch(phrase("branch_else"), condition.otherwise, way)


def unnamed_branches(schema: Schema, way: Direction = "sent") -> Iterator[Branch]:
    """Yields the properties that have no fixed name, which follow those that have one."""
    for pattern, item in (schema.patterns or {}).items():
        yield _branch(phrase("branch_matching", pattern=exact_code(pattern), type=type_phrase(item)), item, way)
    if isinstance(schema.additional, Schema):
        yield _branch(phrase("branch_other", type=type_phrase(schema.additional)), schema.additional, way)


def _alternative_branches(alternatives: Sequence[Schema], way: Direction) -> Iterator[Branch]:
    """Yields the alternatives with more to say than their type, and those that could be mistaken for one of them."""
    candidates = [
        _branch(label, replace(item, choices=None) if _is_constant(item) else item, way)
        for label, item in zip(alternative_labels(alternatives), alternatives, strict=True)
    ]
    are_constants = all(_is_constant(item) for item in alternatives)
    described = {
        type_phrase(item) for item, branch in zip(alternatives, candidates, strict=True) if any(_unless_empty(branch))
    }
    for item, branch in zip(alternatives, candidates, strict=True):
        if any(_unless_empty(branch)):
            yield branch
        elif _is_constant(item):
            yield branch if are_constants else Branch(phrase("branch_or", label=branch.label))
        elif (kind := type_phrase(item)) in described or item.title:
            yield Branch(phrase("branch_or_any", type=kind) if kind in described else branch.label)


def _branch(label: str, schema: Schema, way: Direction) -> Branch:
    notes = [*value_notes(schema, schema.deprecated, way)]
    if schema.description:
        notes.insert(0, with_stop(inline(schema.description)))
    inner = branches(schema, way)
    properties = inner[0].parameters if inner and inner[0].label is None else ()
    return Branch(Markdown(label), Markdown(" ".join(notes)), properties, inner[1:] if properties else inner)


def _unless_empty(branch: Branch) -> Iterator[Branch]:
    if branch.words or branch.parameters or branch.branches:
        yield branch


def parameter_name(parameter: Parameter) -> Markdown:
    """Returns the name of a parameter as code, or a phrase for a body as a whole."""
    return phrase("whole_body") if parameter.is_whole_body else code(parameter.name)


def sent_parameters(parameters: Sequence[Parameter], way: Direction) -> Sequence[Parameter]:
    """Returns the properties that are used in this way; what a caller must send comes first."""
    if way != "both" and any(_is_read_only(item, way) for item in parameters):
        parameters = [item for item in parameters if not _is_read_only(item, way)]
    return parameters if way == "returned" else sorted(parameters, key=lambda item: not item.required)


def read_only_parameters(parameters: Sequence[Parameter], way: Direction) -> Sequence[Parameter]:
    """Returns the properties that are used only in the other way."""
    return [item for item in parameters if _is_read_only(item, way)] if way != "both" else []


def _is_read_only(parameter: Parameter, way: Direction) -> bool:
    return parameter.schema.read_only if way == "sent" else parameter.schema.write_only


def rows(parameters: Sequence[Parameter], way: Direction = "both", above: Collection[str] = ()) -> Markdown:
    """Returns a list of parameters; those of which `above` has the item are only named, at its end."""
    return Markdown("".join(f"{line}\n" for line in _rows(parameters, way, above)))


def nested(parts: Iterable[Branch], way: Direction = "both") -> Markdown:
    """Returns the list of what is nested in a value."""
    return Markdown("".join(f"{line}\n" for line in _nested(parts, way)))


def item_of(parameter: Parameter, way: Direction) -> str:
    """Returns the lines of one parameter, without a line break at the end."""
    return of_rendering((item_of, way), parameter, lambda: "\n".join(_item(parameter, way)))


def _rows(parameters: Sequence[Parameter], way: Direction, above: Collection[str]) -> Iterator[str]:
    plain: list[str] = []
    named: list[str] = []
    for parameter in sent_parameters(parameters, way):
        item = item_of(parameter, way)
        if item in above and not parameter.required:
            named.append(code(parameter.name))
        elif item.endswith(")") and "\n" not in item and item == f"- {_head(parameter, way)}":
            plain.append(item.removeprefix("- "))
        else:
            if plain:
                yield f"- {', '.join(plain)}"
                plain.clear()
            yield item
    if plain:
        yield f"- {', '.join(plain)}"
    if named:
        yield f"- {phrase('also_above', names=', '.join(named))}"
    if left := read_only_parameters(parameters, way):
        name = "only_returned" if way == "sent" else "only_sent"
        yield f"- {phrase(name, names=code_list(item.name for item in left))}"


def _head(parameter: Parameter, way: Direction) -> str:
    required = f", {phrase('required')}" if parameter.required and way != "returned" else ""
    return f"{parameter_name(parameter)} ({parameter_type(parameter)}{required})"


def _item(parameter: Parameter, way: Direction) -> Iterator[str]:
    words = inline(parameter.description or "")
    notes = parameter_notes(parameter, way)
    line = f"- {_head(parameter, way)}" + (f": {words}" if words else "")
    if notes:
        line += f"{'.' if words and needs_stop(words) else '' if words else ':'} {notes}"
    yield line
    headers = parameter.serialization.part_headers if parameter.serialization is not None else ()
    label = phrase("branch_part_headers", 1 + parameter.is_whole_body)
    of_part = [Branch(label, parameters=headers)] if headers else []
    yield from _indented(_nested([*of_part, *branches(parameter.schema, way)], way))


def _nested(parts: Iterable[Branch], way: Direction) -> Iterator[str]:
    for part in parts:
        inner = _rows(part.parameters, way, ())
        if part.label:
            yield f"- {part.line}"
            inner = _indented(inner)
        yield from inner
        yield from _indented(_nested(part.branches, way))


def _indented(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield "  " + line.replace("\n", "\n  ")
