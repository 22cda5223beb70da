"""Says in words how a value is written into a request, where that is not the default."""

from __future__ import annotations

from collections.abc import Iterator

from skillgen.markdown.filters import code
from skillgen.model.schema import Parameter, Schema

_SEPARATORS = {"spaceDelimited": "%20", "pipeDelimited": "|"}


def sending_notes(parameter: Parameter) -> Iterator[str]:
    """Gives what a caller must know to write a parameter, a sentence each."""
    sent = parameter.serialization
    if parameter.location == "body" and _is_file(parameter.schema):
        yield "The content of a file."
    if sent is None:
        return
    if sent.style is not None or sent.explode is not None:
        yield _form_note(parameter, sent.style or "", sent.explode)
    if sent.media_type is not None:
        lead = "Its media type" if parameter.location == "body" else "Written as"
        yield f"{lead}: {code(sent.media_type)}."
    if sent.allow_reserved:
        yield "Reserved characters such as `/` and `?` are not percent-encoded."


def _is_file(schema: Schema) -> bool:
    return schema.format == "binary" and "string" in schema.types


def _form_note(parameter: Parameter, style: str, explode: bool | None) -> str:
    name, schema = parameter.name, parameter.schema
    is_array = schema.items is not None or "array" in schema.types
    if style == "deepObject" and not is_array:
        key = next((item.name for item in schema.properties), "NAME")
        return f"Sent as {code(f'{name}[{key}]=VALUE')}."
    if style in _SEPARATORS:
        return f"Sent as {code(f'{name}=A{_SEPARATORS[style]}B')}."
    if style == "matrix":
        return f"Sent as {code(f';{name}=A;{name}=B' if explode and is_array else f';{name}=A')}."
    if style == "label":
        return f"Sent as {code('.A.B' if explode and is_array else '.A')}."
    if style:
        return f"Written in the style {code(style)}" + (", each item on its own." if explode else ".")
    if parameter.location in ("path", "header"):  # exploded, which only tells with the properties of an object
        return "Sent as `NAME=VALUE,NAME=VALUE`."
    if is_array:
        return f"Sent as {code(f'{name}=A,B')}."
    return f"Sent as {code(f'{name}=NAME,VALUE')}."
