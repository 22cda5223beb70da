"""The arguments of a call in the form of `Tool.input_schema`: a key for each parameter, and one for the body."""

from __future__ import annotations

from msgspec import structs

from skillgen.model.calls import Input
from skillgen.model.schema import Parameter, Schema, arguments_of, input_keys, object_of
from skillgen.model.tool import Tool


def arguments_schema(tool: Tool, media_type: str | None = None) -> Schema:
    """Returns the schema of the arguments; `media_type` is that of the body, by default the recommended one."""
    if tool.method is None:
        rules = tool.input.schema if tool.input is not None else None
        return arguments_of(tool.parameters, rules) if isinstance(tool.input_schema, dict) else Schema()
    slots, body_key = parameter_keys(tool)
    properties = [structs.replace(item, name=key) for key, item in slots.items()]
    if (form := body_form(tool, media_type)) is not None:
        schema = form.schema_of(body_parameters(tool, form))
        properties.append(
            Parameter(name=body_key, location="body", required=form.required, schema=schema, pointer=form.pointer)
        )
    return object_of(properties, Schema(additional=False))


def parameter_keys(tool: Tool) -> tuple[dict[str, Parameter], str]:
    """Returns the parameters outside of the body by their keys in the arguments, and the key of the body."""
    sent = [item for item in tool.parameters if item.location != "body"]
    keys, body_key = input_keys(sent)
    return dict(zip(keys, sent, strict=True)), body_key


def body_form(tool: Tool, media_type: str | None = None) -> Input | None:
    """Returns the form of the request body in a media type, by default the recommended one; `None` without one."""
    if media_type is None or tool.input is None:
        return tool.input
    wanted = _essence(media_type)
    forms = (tool.input, *tool.other_inputs)
    for patterns in ({wanted}, {f"{wanted.partition('/')[0]}/*", "*/*"}):  # the exact type first
        for form in forms:
            if not patterns.isdisjoint(map(_essence, form.media_types)):
                return form
    return None if any(form.media_types for form in forms) else tool.input


def body_parameters(tool: Tool, form: Input | None = None) -> tuple[Parameter, ...]:
    """Returns the properties of a form of the body, or its one parameter for the whole body."""
    if form is None or form is tool.input:
        return tuple(item for item in tool.parameters if item.location == "body")
    return form.parameters


def _essence(media_type: str) -> str:
    return media_type.partition(";")[0].strip().lower()
