"""One sendable request for each operation, from declared values or generated ones.

A body is written in the first media type for which that is possible: JSON, then forms, text and files. XML follows the
`xml` objects of the schema, forms follow their encodings (OpenAPI 3.2, "XML Object", "Encoding Object").
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from itertools import chain, islice
from urllib.parse import unquote
from xml.sax.saxutils import escape, quoteattr

from msgspec import Struct, field
from msgspec.structs import replace

from skillgen.errors import ProblemLog
from skillgen.model.calls import Example, Part, Request
from skillgen.model.schema import Parameter, Schema
from skillgen.model.serialization import (
    QUERY_STRING,
    cookie_text,
    header_text,
    is_exploded,
    is_json,
    is_json_sequence,
    path_segment,
    percent_encode,
    query_pairs,
    value_text,
)
from skillgen.model.values import Json, Value, child
from skillgen.sources.examples.calls import GENERATED_ORIGINS
from skillgen.sources.examples.generator import ExampleGenerator, GeneratedValue, NoExample, Variants
from skillgen.sources.examples.strings import placeholder
from skillgen.sources.examples.validation import ExampleSchemas, Validator, why_unpublishable
from skillgen.sources.json_access import as_dict, as_list, text_of
from skillgen.sources.json_schema.merge import ANYTHING
from skillgen.sources.openapi.bodies import Body
from skillgen.sources.openapi.checks import reads_siblings_of_references
from skillgen.sources.openapi.media import (
    CONCRETE_MEDIA_TYPE,
    CONCRETE_MEDIA_TYPES,
    SKIP_ENCODING,
    URL_ENCODED,
    DeclaredExample,
    content_schema,
    declared_examples,
    first_concrete,
    is_json_lines,
    is_text,
    is_xml,
    media_type_object,
    preferred_first,
)
from skillgen.sources.openapi.parameters import TEMPLATE_VARIABLE, input_keys
from skillgen.sources.openapi.references import Resolver
from skillgen.sources.openapi.security import SCHEMES, SecurityOptions
from skillgen.text.markdown import disarm
from skillgen.text.unicode import strip_invisible

_XML_NAME = re.compile(r"[A-Za-z_][\w.-]*\Z")


class _XmlWriter:
    """Writes values as XML by the `xml` objects of their schemas."""

    def __init__(self, variants: Variants) -> None:
        self._variants = variants

    def document(self, value: Json, schema: Schema, name: str | None = None) -> str:
        """Returns an XML document; its root is named after the schema's `xml`, the type, or `name`, in this order.

        Raises:
            NoExample: the root element has no name, or an element has an invalid one.
        """
        flat = self._variants.first(schema)
        name = schema.ref or name
        if text_of(_xml(flat), "name") is None and name is None:
            raise NoExample("the root element of the XML body has no name")
        return self._element(value, flat, name or "")

    def _element(self, value: Json, flat: Schema, name: str) -> str:
        """Returns one element; a list, which is usually unwrapped, is one if it is the root."""
        tag, attributes = _tag(flat, name), ""
        if (namespace := text_of(_xml(flat), "namespace")) is not None:
            prefix = text_of(_xml(flat), "prefix")
            attributes = f" xmlns{f':{prefix}' if prefix else ''}={quoteattr(namespace)}"
        if isinstance(value, list):
            return f"<{tag}{attributes}>{self._items(value, flat, tag)}</{tag}>"
        if not isinstance(value, dict):
            return f"<{tag}{attributes}>{escape(value_text(value))}</{tag}>"
        content = ""
        properties = {item.name: item.schema for item in flat.properties}
        for key, item in value.items():
            inner = self._variants.first(properties.get(key, ANYTHING))
            xml = _xml(inner)
            node_type = text_of(xml, "nodeType")
            if xml.get("attribute") is True or node_type == "attribute":
                attributes += f" {_tag(inner, key)}={quoteattr(value_text(item))}"
            elif node_type in ("text", "cdata"):
                content += escape(value_text(item))
            elif isinstance(item, list) and xml.get("wrapped") is not True and node_type != "element":
                content += self._items(item, inner, key)
            else:
                content += self._element(item, inner, key)
        return f"<{tag}{attributes}>{content}</{tag}>" if content else f"<{tag}{attributes}/>"

    def _items(self, value: list[Json], flat: Schema, name: str) -> str:
        """Returns the items of a list as elements, named after the `xml` of `items` or after the property."""
        items = (self._variants.first(_item(flat, index)) for index in range(len(value)))
        return "".join(self._element(member, item, name) for member, item in zip(value, items, strict=True))


def _xml(flat: Schema) -> dict[str, Json]:
    return as_dict((flat.constraints or {}).get("xml"))


def _item(flat: Schema, index: int) -> Schema:
    return flat.prefix_items[index] if index < len(flat.prefix_items) else flat.items or ANYTHING


def _tag(flat: Schema, name: str) -> str:
    tag, prefix = text_of(_xml(flat), "name") or name, text_of(_xml(flat), "prefix")
    if not _XML_NAME.match(tag) or (prefix is not None and not _XML_NAME.match(prefix)):
        raise NoExample(f"{tag[:60]!r} is not a valid name of an XML element")
    return f"{prefix}:{tag}" if prefix else tag


_STYLE_MEMBERS = frozenset({"style", "explode"})


def _multipart_fields(
    value: dict[str, Json], encoding: dict[str, Json], schema: Schema, variants: Variants
) -> tuple[Part, ...]:
    """Writes fields by their media type: files as files, objects as JSON or XML, each item of a list as a field."""
    properties = {item.name: item.schema for item in variants.first(schema).properties}
    parts: list[Part] = []
    for name, item in value.items():
        declared, encoding_object = properties.get(name, ANYTHING), as_dict(encoding.get(name))
        media_type = text_of(encoding_object, "contentType")
        items = item if isinstance(item, list) else [item]
        if _is_file(declared, variants):
            parts.extend(
                Part(name=_displayable(name), is_file=True, media_type=first_concrete(media_type)) for _ in items
            )
        elif _STYLE_MEMBERS & encoding_object.keys() and media_type is None:
            parts.extend(_styled(name, item, encoding_object))
        else:
            parts.extend(_typed(name, member, first_concrete(media_type), declared, variants) for member in items)
    return tuple(parts)


def _unnamed_parts(value: list[Json], media: dict[str, Json], schema: Schema, variants: Variants) -> tuple[Part, ...]:
    """Writes the parts of a body without names, each in its media type (OpenAPI 3.2, `prefixEncoding`)."""
    flat, encodings = variants.first(schema), as_list(media.get("prefixEncoding"))
    parts: list[Part] = []
    for index, member in enumerate(value):
        declared = _item(flat, index)
        encoding_object = encodings[index] if index < len(encodings) else media.get("itemEncoding")
        media_type = first_concrete(text_of(encoding_object, "contentType"))
        if media_type is None and isinstance(member, str) and _is_file(declared, variants):
            parts.append(Part(name="", is_file=True))
        else:
            parts.append(_typed("", member, media_type, declared, variants))
    return tuple(parts)


def _displayable(text: str) -> str:
    """Returns the string, which a document must show exactly.

    Raises:
        NoExample: documents change it: it has invisible characters or a form that a host would run or fill in.
    """
    if disarm(strip_invisible(text)) != text:
        raise NoExample("a value has characters that documents must not show")
    return text


def _styled(name: str, item: Json, encoding_object: dict[str, Json]) -> Iterator[Part]:
    """Yields fields by their `style`; without one, a list is repeated fields and an object is JSON."""
    if isinstance(item, list) or (isinstance(item, dict) and "style" in encoding_object):
        style = text_of(encoding_object, "style") or "form"
        for pair in query_pairs(name, item, style, is_exploded(style, encoding_object.get("explode"))):
            key, _, text = pair.partition("=")
            yield _part(unquote(key), unquote(text))
    else:
        yield _part(name, value_text(item))


def _typed(name: str, member: Json, media_type: str | None, declared: Schema, variants: Variants) -> Part:
    if isinstance(member, (dict, list)):
        if media_type is None or is_json(media_type):
            return _part(name, value_text(member), media_type or "application/json")
        if not is_xml(media_type):
            raise NoExample(f"an object cannot be written as {media_type[:60]}")
        return _part(name, _XmlWriter(variants).document(member, declared, name or None), media_type)
    if media_type is None or is_json(media_type) or is_text(media_type):
        return _part(name, value_text(member), None if media_type == "text/plain" else media_type)
    return Part(name=_displayable(name), is_file=True, media_type=media_type)


def _is_file(schema: Schema, variants: Variants) -> bool:
    flat = variants.first(schema)
    if flat.types[:1] == ("array",):
        flat = variants.first(flat.items or ANYTHING)
    return flat.format == "binary" or (flat.format is None and "contentMediaType" in (flat.constraints or {}))


def _part(name: str, text: str, media_type: str | None = None) -> Part:
    return Part(name=_displayable(name), text=_displayable(text), media_type=media_type)


_DEFAULT_MEDIA_TYPE = "application/json"

_DECLARED_BODIES_LIMIT = 10
"""Declared examples of one media type that are tried."""

_FILE_NAME = "FILE"
"""Placeholder of a file name."""


class SentBody(Struct, frozen=True, kw_only=True):
    """A body in the form in which it is sent."""

    media_type: str | None = None
    """Its media type; `None` if there is no body."""

    value: Json = None
    """Its value before serialisation."""

    is_generated: bool = False
    """Whether any part of it was generated."""

    body: Value | None = None
    """JSON, or a string."""

    parts: tuple[Part, ...] = ()
    """The fields of a form."""

    is_file: bool = False
    """Whether it is the content of a file."""

    is_assumed: bool = False
    """Whether its media type is assumed, as the source names no media type (Swagger 2.0 without `consumes`)."""

    declared_example: DeclaredExample | None = None
    """The declared example of which it is the value; `None` if it was generated."""

    is_open: bool = False
    """Whether it is valid only without the `additionalProperties: false` of the types that its type extends."""


class _Content(Struct, frozen=True):
    """One media type of a body."""

    media_type: str
    """The media type to send, which may be a range."""

    media: dict[str, Json]
    """The raw media type object."""

    schema: Schema | None
    """The type of the complete content."""

    pointer: str
    """JSON pointer to `media`."""


class BodyGenerator:
    """Generates bodies."""

    def __init__(self, generator: ExampleGenerator, resolver: Resolver) -> None:
        self._generator = generator
        self._resolver = resolver
        self._variants = generator.variants

    def bodies(self, body: Body) -> list[SentBody]:
        """Returns a body for each declared example, or one generated body.

        They have the first media type for which that is possible.

        Raises:
            NoExample: it is not possible for any.
        """
        reason = "its body declares no media type"
        declared = as_dict(as_dict(body.declared).get("content"))
        for name in preferred_first(declared):
            media, pointer = media_type_object(declared[name], child(body.pointer, "content", name), self._resolver)
            media_type = CONCRETE_MEDIA_TYPES.get(name, name) or _DEFAULT_MEDIA_TYPE
            if not (CONCRETE_MEDIA_TYPE.match(media_type) or "*" in media_type):
                continue
            raw = content_schema(media)
            schema = None if raw is None else self._generator.schemas.read(raw, child(pointer, "schema"))
            content = _Content(media_type, media, schema, pointer)
            try:
                found = self._declared_bodies(content) or [self._in_media_type(content)]
            except NoExample as problem:
                reason = str(problem)
            else:
                return [replace(item, is_assumed=not name) for item in found]
        raise NoExample(reason)

    def _declared_bodies(self, content: _Content) -> list[SentBody]:
        """Returns the declared examples that are valid."""
        bodies: list[SentBody] = []
        examples = declared_examples(content.media, content.pointer, self._resolver)
        for example in islice(examples, _DECLARED_BODIES_LIMIT):
            with suppress(NoExample):
                sent = self._in_media_type(content, example)
                if not sent.is_generated and sent.value == example.value:
                    bodies.append(replace(sent, declared_example=example))
        return bodies

    def _in_media_type(self, content: _Content, example: DeclaredExample | None = None) -> SentBody:
        media_type = content.media_type
        base_type = media_type.split(";")[0].strip().lower()
        is_range = "*" in base_type
        if is_json(base_type) or (is_range and self._is_structured(content.schema)):
            sent = self._generate(content, example)
            return replace(sent, media_type="application/json" if is_range else media_type, body=Value(sent.value))
        if base_type == URL_ENCODED or base_type.startswith("multipart/"):
            return self._form(base_type, content, example)
        if is_json_lines(base_type) or is_json_sequence(base_type):
            # Each item is on a line. Records are delimited by control characters, so they stay JSON here.
            sent = self._generate(content, example)
            items = sent.value if isinstance(sent.value, list) else [sent.value]
            text = _displayable("\n".join(json.dumps(item, ensure_ascii=False) for item in items))
            return replace(sent, body=Value(items if is_json_sequence(media_type) else text))
        if is_text(base_type):
            return self._text(content, example)
        concrete = "application/octet-stream" if is_range else media_type
        return SentBody(media_type=concrete, value=_FILE_NAME, is_generated=True, is_file=True)

    def _form(self, media_type: str, content: _Content, example: DeclaredExample | None) -> SentBody:
        sent = replace(self._generate(content, example), media_type=media_type)
        value, schema, encoding = sent.value, content.schema or ANYTHING, as_dict(content.media.get("encoding"))
        if media_type == URL_ENCODED:
            if isinstance(value, str):  # the source has the complete form as a string
                return replace(sent, body=Value(_displayable(value)))
        elif isinstance(value, list):
            return replace(sent, parts=_unnamed_parts(value, content.media, schema, self._variants))
        if not isinstance(value, dict):
            raise NoExample("the schema of the form is not an object")
        if media_type == URL_ENCODED:
            return replace(
                sent,
                parts=tuple(
                    part for name, item in value.items() for part in _styled(name, item, as_dict(encoding.get(name)))
                ),
            )
        return replace(sent, parts=_multipart_fields(value, encoding, schema, self._variants))

    def _text(self, content: _Content, example: DeclaredExample | None) -> SentBody:
        is_written = example is not None and isinstance(example.value, str)
        if not is_xml(content.media_type):
            sent = self._generate(content, example if is_written else None, is_text=True)
            text = sent.value if isinstance(sent.value, str) else value_text(sent.value)
        elif example is not None and is_written:
            if (reason := why_unpublishable(example.value)) is not None:
                raise NoExample(reason[1])
            text = example.value
            sent = SentBody(media_type=content.media_type, value=text, is_generated=False)
        else:
            sent = self._generate(content, example)
            text = _XmlWriter(self._variants).document(sent.value, content.schema or ANYTHING)
        return replace(sent, body=Value(_displayable(text)))

    def _generate(self, content: _Content, example: DeclaredExample | None, *, is_text: bool = False) -> SentBody:
        """Returns the content before it is serialised."""
        schema, pointer = content.schema or ANYTHING, child(content.pointer, "schema")
        declared = [(example.value, example.pointer)] if example is not None else []
        if is_text:
            generated = self._generator.generate(schema, "text", pointer, declared=declared)
        elif content.schema is not None:
            generated = self._generator.generate_non_empty(schema, "body", pointer, declared=declared)
        elif example is not None:
            generated = GeneratedValue(example.value, False)
        else:
            raise NoExample("its body has no schema and no example")
        return SentBody(media_type=content.media_type, value=generated.value, is_generated=generated.is_generated)

    def _is_structured(self, schema: Schema | None) -> bool:
        return schema is not None and self._variants.first(schema).types[:1] in (("object",), ("array",))


_METHODS_WITHOUT_BODY = frozenset({"get", "head", "delete", "options", "trace", "connect"})
"""Methods for which an optional body is left out; with most others a request does nothing without one."""

_FRAMING_HEADERS = frozenset(
    {"connection", "content-length", "expect", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"}
)
"""Headers that the HTTP client sets; with another value, the request hangs or fails."""

_DECLARED_VALUES_LIMIT = 3
"""Declared examples of a parameter that are tried before a value is generated."""

_ASSUMED_JSON = "sent as JSON, since the source names no media type"
_RELAXED = "valid only without the `additionalProperties: false` of a part of its schema"

_HEADER_NAME = re.compile(r"[A-Za-z0-9!#%&*+.^_|~-]+\Z")
_HEADER_VALUE = re.compile(r"[\x20-\x7e\t]*\Z")
_PATH_CHARACTERS = "/-._~:@,;=+&%()*?"


class _RequestParts(Struct):
    """The parts of a request under construction."""

    path: dict[str, str] = field(default_factory=dict)
    query: list[str] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    cookies: dict[str, str] = field(default_factory=dict)
    arguments: dict[str, Json] = field(default_factory=dict)
    body_key: str = ""
    is_generated: bool = False


class RequestGenerator:
    """Generates the requests of one description; a shared parameter is generated once."""

    def __init__(self, document: dict[str, Json], resolver: Resolver, problems: ProblemLog) -> None:
        self._problems = problems
        self._resolver = resolver
        self._schemas = ExampleSchemas(document, ref_siblings=reads_siblings_of_references(document))
        self._generator, self._bodies = self._generators()
        self._schemes = as_dict(as_dict(document.get("components")).get("securitySchemes"))
        self._values: dict[tuple[str, str], GeneratedValue | NoExample] = {}

    def examples(
        self,
        *,
        method: str,
        path: str,
        parameters: tuple[Parameter, ...],
        declared: dict[str, dict[str, Json]],
        body: Body,
        security: SecurityOptions | None,
        pointer: str,
    ) -> tuple[Example, ...]:
        """Returns the declared requests, or one generated request; reports if that is not possible.

        `declared` has the raw parameters by pointer.
        """
        auth = self._auth(security)
        try:
            parts = self._parts(parameters, declared, auth)
            bodies = self._sent_bodies(method, body)
        except NoExample as problem:
            self._problems.report("example-missing", pointer, f"no valid request could be generated: {problem}")
            return ()
        return tuple(self._example(path, parts, sent, body, auth) for sent in bodies or (SentBody(),))

    def _example(self, path: str, parts: _RequestParts, sent: SentBody, body: Body, auth: tuple[str, ...]) -> Example:
        request = Request(
            path=_path(path, parts.path, parts.query),
            headers=parts.headers or None,
            cookies=parts.cookies or None,
            media_type=sent.media_type,
            body=sent.body,
            parts=sent.parts,
            is_file=sent.is_file,
            auth=auth,
        )
        if sent.is_open:
            self._problems.report(
                "properties-forbidden",
                body.pointer,
                "a part of the body forbids properties that another part requires; the example has them",
                "remove `additionalProperties: false` from the schemas in `allOf`",
            )
        return Example(
            input=parts.arguments if sent.media_type is None else {**parts.arguments, parts.body_key: sent.value},
            name=sent.declared_example.name if sent.declared_example is not None else None,
            description="; ".join(_notes(sent)) or None,
            request=request,
            origins=GENERATED_ORIGINS if parts.is_generated or sent.is_generated else None,
        )

    # -- parameters --------------------------------------------------------------------------------------------------

    def _parts(
        self, parameters: tuple[Parameter, ...], declared: dict[str, dict[str, Json]], auth: tuple[str, ...]
    ) -> _RequestParts:
        parts = _RequestParts()
        sent_by_auth = {self._credential_location(name) for name in auth}
        keys, parts.body_key = input_keys(parameters)
        for key, parameter in zip(keys, parameters, strict=True):
            if not parameter.required or (parameter.location, parameter.name.lower()) in sent_by_auth:
                continue
            if parameter.location == "header" and parameter.name.lower() in _FRAMING_HEADERS:
                continue
            raw = declared[parameter.pointer]
            generated = self._value(parameter, raw)
            parts.arguments[key] = generated.value
            parts.is_generated |= generated.is_generated
            self._add_value(parts, parameter, raw, generated.value)
        return parts

    def _value(self, parameter: Parameter, raw: dict[str, Json]) -> GeneratedValue:
        key = parameter.pointer, parameter.name
        if (result := self._values.get(key)) is None:
            try:
                result = self._generate(parameter, raw)
            except NoExample as error:
                result = error
            self._values[key] = result
        if isinstance(result, NoExample):
            raise result
        return result

    def _generate(self, parameter: Parameter, raw: dict[str, Json]) -> GeneratedValue:
        pointer = parameter.pointer
        schema, schema_pointer, owner, owner_pointer = raw.get("schema"), child(pointer, "schema"), raw, pointer
        if schema is None:
            for media_type in preferred_first(as_dict(raw.get("content")))[:1]:
                owner_pointer = child(pointer, "content", media_type)
                media = as_dict(raw["content"]).get(media_type)
                owner, owner_pointer = media_type_object(media, owner_pointer, self._resolver)
                schema, schema_pointer = content_schema(owner), child(owner_pointer, "schema")
        examples = declared_examples(raw, pointer, self._resolver)
        if owner is not raw:
            examples = chain(examples, declared_examples(owner, owner_pointer, self._resolver))
        values = [(example.value, example.pointer) for example in islice(examples, _DECLARED_VALUES_LIMIT)]
        read = ANYTHING if schema is None else self._schemas.read(schema, schema_pointer)
        # An empty object would be missing from the request.
        generated = self._generator.generate_non_empty(read, parameter.name, schema_pointer, declared=values)
        if parameter.location == "path" and generated.value in ("", ".", ".."):
            return GeneratedValue(placeholder(parameter.name), True)
        if parameter.location == "path" and generated.value in ([], [""]):
            return GeneratedValue([placeholder(parameter.name)], True)
        return generated

    def _add_value(self, parts: _RequestParts, parameter: Parameter, raw: dict[str, Json], value: Json) -> None:
        name = parameter.name
        style = text_of(raw, "style") or ("simple" if parameter.location in ("path", "header") else "form")
        explode = is_exploded(style, raw.get("explode"))
        if raw.get("schema") is None and "content" in raw and not isinstance(value, str):
            value = value_text(value)
        if parameter.location == "path":
            parts.path[name] = path_segment(name, value, style, explode, raw.get(SKIP_ENCODING) is True)
        elif style == QUERY_STRING:
            parts.query.append(percent_encode(value_text(value)))
        elif parameter.location == "query":
            parts.query += query_pairs(name, value, style, explode, raw.get("allowReserved") is True)
        elif parameter.location == "header":
            text = header_text(value, style, explode=explode)
            if not _HEADER_NAME.match(name) or not _HEADER_VALUE.match(text):
                raise NoExample(f"the value for the header {name[:60]} cannot be sent")
            parts.headers[name] = text
        elif parameter.location == "cookie":
            key, _, text = cookie_text(name, value, style, explode=explode).partition("=")
            parts.cookies[key] = text

    # -- body and credentials ----------------------------------------------------------------------------------------

    def _sent_bodies(self, method: str, body: Body) -> list[SentBody]:
        if body.declared is None or not (body.is_required or method.lower() not in _METHODS_WITHOUT_BODY):
            return []
        try:
            return self._bodies.bodies(body)
        except NoExample:
            with suppress(NoExample):
                return [replace(sent, is_open=True) for sent in self._open_bodies.bodies(body)]
            if body.is_required:
                raise
            return []

    def _generators(self, *, is_open: bool = False) -> tuple[ExampleGenerator, BodyGenerator]:
        validator = Validator(self._schemas, is_request=True, is_open=is_open)
        generator = ExampleGenerator(validator, self._problems)
        return generator, BodyGenerator(generator, self._resolver)

    @cached_property
    def _open_bodies(self) -> BodyGenerator:
        """Generates bodies of types that extend one with `additionalProperties: false`: no value is valid."""
        return self._generators(is_open=True)[1]

    def _auth(self, security: SecurityOptions | None) -> tuple[str, ...]:
        """Returns the schemes of the first requirement that can be met (OpenAPI 3.1, "Security Requirement Object")."""
        options = (tuple(credential.scheme for credential in option) for option in security or ())
        return next(
            (names for names in options if all(isinstance(self._schemes.get(name), dict) for name in names)), ()
        )

    def _credential_location(self, name: str) -> tuple[str, str]:
        scheme, _ = self._resolver.resolve(self._schemes[name], child(SCHEMES, name))
        return text_of(scheme, "in") or "", (text_of(scheme, "name") or "").lower()


def _notes(sent: SentBody) -> Iterator[str]:
    if sent.declared_example is not None and sent.declared_example.description is not None:
        yield sent.declared_example.description
    if sent.is_assumed:
        yield _ASSUMED_JSON
    if sent.is_open:
        yield _RELAXED


def _path(template: str, values: dict[str, str], query: list[str]) -> str:
    """Returns a path with its variables filled in, and its query; a fragment is removed, since it is never sent."""
    pieces: Iterator[str] = iter(TEMPLATE_VARIABLE.split(template.split("#")[0]))
    path = percent_encode(next(pieces), _PATH_CHARACTERS)
    if not template.startswith(("/", "?")):  # reported; it must not continue the last segment of the base URL
        path = "/" + path
    for name in pieces:
        path += values.get(name, percent_encode(placeholder(name))) + percent_encode(next(pieces), _PATH_CHARACTERS)
    if not query:
        return path
    return path + ("&" if "?" in path else "?") + "&".join(query)
