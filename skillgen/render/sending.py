"""Says in words how a value is written into a request, where that is not the default."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import unquote

from skillgen.markdown.filters import code
from skillgen.model.schema import Parameter, Schema, Serialization
from skillgen.model.value import Json
from skillgen.model.wire import (
    LINES,
    QUERY_STRING,
    RECORDS,
    cookie_text,
    header_text,
    is_exploded,
    path_segment,
    query_pairs,
)

_SCALARS = frozenset({"string", "integer", "number", "boolean"})
_SPACES = {"%20": "%2520", "%09": "%2509"}
"""Signs that stay percent-encoded where a form is shown, for they could not be seen."""


def sending_notes(parameter: Parameter) -> Iterator[str]:
    """Gives what a caller must know to write a parameter, a sentence each."""
    sent = parameter.serialization
    if parameter.location == "body" and _is_file(parameter.schema):
        yield "The content of a file."
    elif parameter.location == "body" and parameter.schema.items is not None and _is_file(parameter.schema.items):
        yield "Each item is the content of a file."
    if sent is None:
        return
    if sent.style is not None or sent.explode is not None:
        yield from _form_notes(parameter, sent)
    if sent.media_type is not None:
        lead = "Its media type" if parameter.location == "body" else "Written as"
        yield f"{lead}: {code(sent.media_type)}."
    if sent.headers:
        lead = "Some of its parts have" if parameter.is_whole_body else "With"
        yield f"{lead} the header{'s' if len(sent.headers) > 1 else ''} {', '.join(map(code, sent.headers))}."
    if sent.allow_reserved:
        signs = "`/` and `:`" if parameter.location == "path" else "`/` and `?`"
        yield f"Reserved characters such as {signs} are not percent-encoded."
    if sent.allow_empty:
        yield "May be sent without a value."


def _is_file(schema: Schema) -> bool:
    return schema.format == "binary" and "string" in schema.types


def _form_notes(parameter: Parameter, sent: Serialization) -> Iterator[str]:
    style, schema = sent.style or "", parameter.schema
    if style == LINES:
        yield "Each item stands on a line of its own."
    elif style == RECORDS:
        yield "Each item stands between a record separator (U+001E) and a newline."
    elif style == QUERY_STRING:
        yield "It is the whole query string: what stands after the `?`, percent-encoded and without a name."
    elif style == "deepObject" and _is_array(schema):
        form = "&".join(query_pairs(parameter.name, ["A", "B"], style))
        yield f"How the style `deepObject` writes a list, OpenAPI leaves open; often it is {code(unquote(form))}."
    else:
        sample = _sample_form(parameter, style, is_exploded(style or _default_style(parameter), sent.explode))
        if sample is not None:
            yield f"Sent as {code(sample)}."
        if style == "cookie":
            yield "Not percent-encoded."
        lists = [item.name for item in schema.properties if _is_array(item.schema)]
        if style == "deepObject" and lists:
            form = "&".join(query_pairs(parameter.name, {lists[0]: ["A", "B"]}, style))
            yield f"How a list in it is written, OpenAPI leaves open; often it is {code(unquote(form))}."


def _default_style(parameter: Parameter) -> str:
    return "simple" if parameter.location in ("path", "header") else "form"


def _is_array(schema: Schema) -> bool:
    return schema.items is not None or "array" in schema.types


def _sample_form(parameter: Parameter, style: str, explode: bool) -> str | None:
    """Gives what a parameter looks like in a request; `None` where every style writes it alike."""
    name, value = parameter.name, _sample(parameter.schema, style)
    if parameter.location == "path":
        return _readable(path_segment(name, value, style or "simple", explode)) if style or value != "VALUE" else None
    if value == "VALUE":
        return None
    if parameter.location == "header":
        return header_text(value, style or "simple", explode=explode).replace("\t", "%09")
    if parameter.location == "cookie":
        return unquote(cookie_text(name, value, style or "form", explode=explode))
    return _readable("&".join(query_pairs(name, value, style or "form", explode))) or None


def _sample(schema: Schema, style: str) -> Json:
    """Gives a value that shows the form: a list, an object with the properties that are known, or one value."""
    if not schema.properties and schema.types and _SCALARS.issuperset(schema.types):
        return "VALUE"
    if _is_array(schema) or style.endswith("Delimited"):
        return ["A", "B"]
    known = [item for item in schema.properties if not _is_array(item.schema)]
    if style != "deepObject":
        return dict.fromkeys([item.name for item in known[:2]] or ["A", "B"], "VALUE")
    known.sort(key=lambda item: bool(item.schema.properties))
    if not known:
        return {} if schema.properties else {"NAME": "VALUE"}
    return {item.name: _sample(item.schema, style) if item.schema.properties else "VALUE" for item in known[:1]}


def _readable(form: str) -> str:
    for sign, kept in _SPACES.items():
        form = form.replace(sign, kept)
    return unquote(form)
