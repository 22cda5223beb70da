"""One sendable request.

Writes a value as XML, by the `xml` objects of its schema (OpenAPI 3.2, "XML Object").

The fields of a form, as they are sent (OpenAPI 3.2, "Encoding Object").

The body of a request, in a media type that can be written: JSON first, then forms, texts and files.

One request for each operation that can be sent as it stands, of declared values or of made ones.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain, islice
from urllib.parse import unquote
from xml.sax.saxutils import escape, quoteattr

from skillgen.errors import ProblemLog
from skillgen.model.calls import Example, Part, Request
from skillgen.model.schema import Parameter
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
from skillgen.model.values import Json, Value, child, last_token
from skillgen.sources.examples.calls import GENERATED_ORIGINS
from skillgen.sources.examples.generator import ExampleGenerator, Flat, GeneratedValue, NoExample, Variants
from skillgen.sources.examples.strings import placeholder
from skillgen.sources.examples.validation import Validator, why_unpublishable
from skillgen.sources.json_access import as_dict, as_list, text_of
from skillgen.sources.json_schema.discriminators import is_type_reference
from skillgen.sources.openapi.bodies import Body
from skillgen.sources.openapi.checks import dialect_of
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

_NAME = re.compile(r"[A-Za-z_][\w.-]*\Z")


def xml_text(value: Json, schema: Json, variants: Variants, name: str | None = None) -> str:
    """Gives a document of one element; its name is that of the schema's `xml`, of the type, or the one given.

    Raises:
        NoExample: the source does not say what the element is called.
    """
    return _Writer(variants).document(value, schema, name)


class _Writer:
    def __init__(self, variants: Variants) -> None:
        self._variants = variants

    def document(self, value: Json, schema: Json, name: str | None) -> str:
        reference = text_of(schema, "$ref")
        if reference is not None and is_type_reference(reference):
            name = last_token(reference)
        flat = self._flat(schema)
        if text_of(as_dict(flat.get("xml")), "name") is None and name is None:
            raise NoExample("the element that is the body has no name")
        return self._element(value, flat, name or "")

    def _flat(self, schema: Json) -> Flat:
        return next(self._variants.of(schema), {})

    def _element(self, value: Json, flat: Flat, name: str) -> str:
        """Gives one element; a list whose items would stand beside one another is one only as a whole document."""
        tag, attributes = _tag(flat, name), ""
        xml = as_dict(flat.get("xml"))
        if (namespace := text_of(xml, "namespace")) is not None:
            prefix = text_of(xml, "prefix")
            attributes = f" xmlns{f':{prefix}' if prefix else ''}={quoteattr(namespace)}"
        if isinstance(value, list):
            return f"<{tag}{attributes}>{self._items(value, flat, tag)}</{tag}>"
        if not isinstance(value, dict):
            return f"<{tag}{attributes}>{escape(value_text(value))}</{tag}>"
        content = ""
        properties = as_dict(flat.get("properties"))
        for key, item in value.items():
            inner = self._flat(properties.get(key, {}))
            if is_attribute(inner):
                attributes += f" {_tag(inner, key)}={quoteattr(value_text(item))}"
            elif as_dict(inner.get("xml")).get("nodeType") in ("text", "cdata"):
                content += escape(value_text(item))
            elif isinstance(item, list) and not is_wrapped(inner):
                content += self._items(item, inner, key)
            else:
                content += self._element(item, inner, key)
        return f"<{tag}{attributes}>{content}</{tag}>" if content else f"<{tag}{attributes}/>"

    def _items(self, value: list[Json], flat: Flat, name: str) -> str:
        """Gives the items of a list: the name of each is that of `items`, else that of the property."""
        schema = flat.get("items", {})
        first = as_list(flat.get("prefixItems"))
        schemas = [first[at] if at < len(first) else schema for at in range(len(value))]
        return "".join(self._element(item, self._flat(raw), name) for item, raw in zip(value, schemas, strict=True))


def is_attribute(flat: Flat) -> bool:
    """Tells whether a property is an attribute of its object's element."""
    xml = as_dict(flat.get("xml"))
    return xml.get("attribute") is True or xml.get("nodeType") == "attribute"


def is_wrapped(flat: Flat) -> bool:
    """Tells whether the items of a list stand within an element of its own."""
    xml = as_dict(flat.get("xml"))
    return xml.get("wrapped") is True or xml.get("nodeType") == "element"


def _tag(flat: Flat, name: str) -> str:
    xml = as_dict(flat.get("xml"))
    tag, prefix = text_of(xml, "name") or name, text_of(xml, "prefix")
    if not _NAME.match(tag) or (prefix is not None and not _NAME.match(prefix)):
        raise NoExample(f"{tag[:60]!r} is no name of an element")
    return f"{prefix}:{tag}" if prefix else tag


_HOW = frozenset({"style", "explode"})


def url_encoded_fields(value: dict[str, Json], encoding: dict[str, Json]) -> tuple[Part, ...]:
    """Writes the fields as `style` says, else a list as repeated fields and an object as JSON."""
    return tuple(part for name, item in value.items() for part in _styled(name, item, as_dict(encoding.get(name))))


def multipart_fields(
    value: dict[str, Json], encoding: dict[str, Json], schema: Json, variants: Variants
) -> tuple[Part, ...]:
    """Writes each field in its media type: files as such, objects as JSON or XML, each item of a list on its own."""
    properties = as_dict(next(variants.of(schema), {}).get("properties"))
    parts: list[Part] = []
    for name, item in value.items():
        declared, how = properties.get(name, {}), as_dict(encoding.get(name))
        media_type = text_of(how, "contentType")
        items = item if isinstance(item, list) else [item]
        if _is_file(declared, variants):
            parts.extend(Part(name=shown(name), is_file=True, media_type=first_concrete(media_type)) for _ in items)
        elif _HOW & how.keys() and media_type is None:
            parts.extend(_styled(name, item, how))
        else:
            parts.extend(_typed(name, member, first_concrete(media_type), declared, variants) for member in items)
    return tuple(parts)


def unnamed_parts(value: list[Json], media: dict[str, Json], variants: Variants) -> tuple[Part, ...]:
    """Writes the parts of a body in which none has a name, each in its media type (OpenAPI 3.2, `prefixEncoding`)."""
    flat: Flat = next(variants.of(media.get("schema", {})), {})
    schemas, encodings = as_list(flat.get("prefixItems")), as_list(media.get("prefixEncoding"))
    parts: list[Part] = []
    for index, member in enumerate(value):
        declared = schemas[index] if index < len(schemas) else flat.get("items", {})
        how = encodings[index] if index < len(encodings) else media.get("itemEncoding")
        media_type = first_concrete(text_of(how, "contentType"))
        if media_type is None and isinstance(member, str) and _is_file(declared, variants):
            parts.append(Part(name="", is_file=True))
        else:
            parts.append(_typed("", member, media_type, declared, variants))
    return tuple(parts)


def shown(text: str) -> str:
    """Gives a text that a document can show exactly.

    Raises:
        NoExample: none can.
    """
    if disarm(strip_invisible(text)) != text:
        raise NoExample("a value holds what no document may show")
    return text


def _styled(name: str, item: Json, how: dict[str, Json]) -> Iterator[Part]:
    if isinstance(item, list) or (isinstance(item, dict) and "style" in how):
        style = text_of(how, "style") or "form"
        for pair in query_pairs(name, item, style, is_exploded(style, how.get("explode"))):
            key, _, text = pair.partition("=")
            yield _part(unquote(key), unquote(text))
    else:
        yield _part(name, value_text(item))


def _typed(name: str, member: Json, media_type: str | None, declared: Json, variants: Variants) -> Part:
    if isinstance(member, (dict, list)):
        if media_type is None or is_json(media_type):
            return _part(name, value_text(member), media_type or "application/json")
        if not is_xml(media_type):
            raise NoExample(f"an object cannot be written as {media_type[:60]}")
        return _part(name, xml_text(member, declared, variants, name or None), media_type)
    if media_type is None or is_json(media_type) or is_text(media_type):
        return _part(name, value_text(member), None if media_type == "text/plain" else media_type)
    return Part(name=shown(name), is_file=True, media_type=media_type)


def _is_file(schema: Json, variants: Variants) -> bool:
    flat: Flat = next(variants.of(schema), {})
    if flat.get("type") == "array":
        flat = next(variants.of(flat.get("items", {})), {})
    return flat.get("format") == "binary" or ("contentMediaType" in flat and "contentEncoding" not in flat)


def _part(name: str, text: str, media_type: str | None = None) -> Part:
    return Part(name=shown(name), text=shown(text), media_type=media_type)


_USUAL = "application/json"

EXAMPLES_LIMIT = 10
"""Examples of one media type that are read."""

FILE = "FILE"
"""What stands for the name of a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SentBody:
    """A body as it is sent."""

    media_type: str
    """Its media type."""

    value: Json
    """What it says, as its schema has it."""

    is_generated: bool
    """Whether any of it was made."""

    body: Value | None = None
    """JSON, or a text."""

    parts: tuple[Part, ...] = ()
    """The fields of a form."""

    is_file: bool = False
    """Whether it is the content of a file."""

    is_assumed: bool = False
    """Whether its media type is none of the source's, which names none (Swagger 2.0 without `consumes`)."""

    shown: DeclaredExample | None = None
    """The example of the source that it is."""

    is_open: bool = False
    """Whether it fits its schema only where what is extended does not forbid the properties that are added."""


class BodyGenerator:
    """Makes bodies."""

    def __init__(self, maker: ExampleGenerator, validator: Validator, resolver: Resolver) -> None:
        self._maker = maker
        self._validator = validator
        self._resolver = resolver
        self._variants = Variants(validator.follow, siblings_of_references=validator.reads_siblings_of_references)

    def bodies(self, body: Body) -> list[SentBody]:
        """Returns the body as each example of the source has it, else one that is made.

        They are of the first media type in which one can be made.

        Raises:
            NoExample: in none of them.
        """
        reason = "its body declares no media type"
        content = as_dict(as_dict(body.declared).get("content"))
        for name in preferred_first(content):
            pointer = child(body.pointer, "content", name)
            media, pointer = media_type_object(content[name], pointer, self._resolver)
            if (schema := content_schema(media)) is not media.get("schema"):
                media = {**media, "schema": schema}
            media_type = CONCRETE_MEDIA_TYPES.get(name, name) or _USUAL
            if not (CONCRETE_MEDIA_TYPE.match(media_type) or "*" in media_type):
                continue
            try:
                found = self._shown(media_type, media, pointer) or [self._in_media_type(media_type, media, pointer)]
            except NoExample as problem:
                reason = str(problem)
            else:
                return [replace(item, is_assumed=not name) for item in found]
        raise NoExample(reason)

    def _shown(self, media_type: str, media: dict[str, Json], pointer: str) -> list[SentBody]:
        """Returns the examples of the source that the schema allows."""
        found: list[SentBody] = []
        for example in islice(declared_examples(media, pointer, self._resolver), EXAMPLES_LIMIT):
            with suppress(NoExample):
                sent = self._in_media_type(media_type, media, pointer, example)
                if not sent.is_generated and sent.value == example.value:
                    found.append(replace(sent, shown=example))
        return found

    def _in_media_type(
        self, media_type: str, media: dict[str, Json], pointer: str, example: DeclaredExample | None = None
    ) -> SentBody:
        bare = media_type.split(";")[0].strip().lower()
        schema = media.get("schema", {})
        if is_json(bare) or ("*" in bare and self._kind(schema) in ("object", "array")):
            made = self._made(media, pointer, example)
            is_concrete = is_json(bare) and "*" not in bare
            return SentBody(
                media_type=media_type if is_concrete else "application/json",
                value=made[0],
                is_generated=made[1],
                body=Value(made[0]),
            )
        if bare == URL_ENCODED or bare.startswith("multipart/"):
            value, is_generated = self._made(media, pointer, example)
            if isinstance(value, str) and bare == URL_ENCODED:  # the source writes the whole form as one text
                return SentBody(media_type=bare, value=value, is_generated=is_generated, body=Value(shown(value)))
            if isinstance(value, list) and bare != URL_ENCODED:
                parts = unnamed_parts(value, media, self._variants)
            elif not isinstance(value, dict):
                raise NoExample("a form whose schema is not an object")
            elif bare == URL_ENCODED:
                parts = url_encoded_fields(value, as_dict(media.get("encoding")))
            else:
                parts = multipart_fields(value, as_dict(media.get("encoding")), schema, self._variants)
            return SentBody(media_type=media_type.split(";")[0], value=value, is_generated=is_generated, parts=parts)
        if is_json_lines(bare) or is_json_sequence(bare):
            return self._sequence(media_type, media, pointer, example)
        if is_text(bare):
            return self._text(media_type, media, pointer, example)
        concrete = "application/octet-stream" if "*" in media_type else media_type
        return SentBody(media_type=concrete, value=FILE, is_generated=True, is_file=True)

    def _text(self, media_type: str, media: dict[str, Json], pointer: str, example: DeclaredExample | None) -> SentBody:
        schema = media.get("schema", {})
        found = [(example.value, example.pointer)] if example is not None and isinstance(example.value, str) else []
        if not is_xml(media_type):
            made = self._maker.generate(schema, "text", child(pointer, "schema"), declared=found)
            value, is_generated = made.value, made.is_generated
            text = value if isinstance(value, str) else value_text(value)
        elif found:
            value, is_generated = text, _ = found[0][0], False
            if (reason := why_unpublishable(value)) is not None:
                raise NoExample(reason[1])
        else:
            value, is_generated = self._made(media, pointer, example)
            text = xml_text(value, schema, self._variants)
        return SentBody(media_type=media_type, value=value, is_generated=is_generated, body=Value(shown(text)))

    def _sequence(
        self, media_type: str, media: dict[str, Json], pointer: str, example: DeclaredExample | None
    ) -> SentBody:
        """Writes each item on a line of its own; records have signs around them that only a command can show."""
        value, is_generated = self._made(media, pointer, example)
        items = value if isinstance(value, list) else [value]
        text = shown("\n".join(json.dumps(item, ensure_ascii=False) for item in items))
        body = Value(items if is_json_sequence(media_type) else text)
        return SentBody(media_type=media_type, value=value, is_generated=is_generated, body=body)

    def _made(self, media: dict[str, Json], pointer: str, example: DeclaredExample | None) -> tuple[Json, bool]:
        if "schema" not in media:
            if example is None:
                raise NoExample("its body has no schema and no example")
            return example.value, False
        found = [(example.value, example.pointer)] if example is not None else []
        made = self._maker.generate_non_empty(media["schema"], "body", child(pointer, "schema"), declared=found)
        return made.value, made.is_generated

    def _kind(self, schema: Json) -> str | None:
        kind = next(self._variants.of(schema), {}).get("type")
        return kind if isinstance(kind, str) else None


METHODS_WITHOUT_BODY = frozenset({"get", "head", "delete", "options", "trace", "connect"})
"""Methods for which an optional body is left out; with any other most requests do nothing without it."""

_FRAMING_HEADERS = frozenset(
    {"connection", "content-length", "expect", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"}
)
"""Headers that whatever sends a request works out itself: with a value of another's, the request hangs or is lost."""

DECLARED_LIMIT = 3
"""Examples of a parameter that are tried before a value is made."""

_AS_JSON = "sent as JSON, for the source names no media type"
_AS_IF_OPEN = "read as if no part of it forbade what another asks for"

_HEADER_NAME = re.compile(r"[A-Za-z0-9!#%&*+.^_|~-]+\Z")
_HEADER_VALUE = re.compile(r"[\x20-\x7e\t]*\Z")
_PATH_SIGNS = "/-._~:@,;=+&%()*?"


@dataclass(slots=True)
class _Parts:
    """What a request is put together from."""

    path: dict[str, str] = field(default_factory=dict)
    query: list[str] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    cookies: dict[str, str] = field(default_factory=dict)
    arguments: dict[str, Json] = field(default_factory=dict)
    body_key: str = ""
    is_generated: bool = False


class RequestGenerator:
    """Makes the requests of one description; a parameter that operations share is made once."""

    def __init__(self, document: dict[str, Json], resolver: Resolver, problems: ProblemLog) -> None:
        self._problems = problems
        self._resolver = resolver
        self._document = document
        self._maker, self._bodies = self._makers()
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
        alternatives: SecurityOptions | None,
        pointer: str,
    ) -> tuple[Example, ...]:
        """Returns the requests that the source shows, else one that is made; reports where none can be.

        `declared` has the parameters as the document has them, by pointer; `alternatives` are those to authenticate.
        """
        auth = self._auth(alternatives)
        try:
            parts = self._parts(parameters, declared, auth)
            bodies = self._sent_bodies(method, body)
        except NoExample as problem:
            self._problems.info("example-missing", pointer, f"no request that it allows could be made: {problem}")
            return ()
        return tuple(self._example(path, parts, sent, body, auth) for sent in bodies or (None,))

    def _example(self, path: str, parts: _Parts, sent: SentBody | None, body: Body, auth: tuple[str, ...]) -> Example:
        arguments = parts.arguments
        if sent is not None:
            arguments = {**arguments, parts.body_key: sent.value}
        request = Request(
            path=_path(path, parts.path, parts.query),
            headers=parts.headers or None,
            cookies=parts.cookies or None,
            media_type=sent.media_type if sent is not None else None,
            body=sent.body if sent is not None else None,
            parts=sent.parts if sent is not None else (),
            is_file=sent.is_file if sent is not None else False,
            auth=auth,
        )
        if sent is not None and sent.is_open:
            self._problems.info(
                "properties-forbidden",
                body.pointer,
                "a part of the body allows no properties but its own, and others are asked for; the example has them",
                "leave `additionalProperties: false` out of what is extended",
            )
        is_generated = parts.is_generated or (sent is not None and sent.is_generated)
        return Example(
            input=arguments,
            name=sent.shown.name if sent is not None and sent.shown is not None else None,
            description="; ".join(_remarks(sent)) or None,
            request=request,
            origins=GENERATED_ORIGINS if is_generated else None,
        )

    # -- parameters --------------------------------------------------------------------------------------------------

    def _parts(
        self, parameters: tuple[Parameter, ...], declared: dict[str, dict[str, Json]], auth: tuple[str, ...]
    ) -> _Parts:
        parts = _Parts()
        sent_by_auth = {self._place(name) for name in auth}
        keys, parts.body_key = input_keys(parameters)
        for key, parameter in zip(keys, parameters, strict=True):
            if not parameter.required or (parameter.location, parameter.name.lower()) in sent_by_auth:
                continue
            if parameter.location == "header" and parameter.name.lower() in _FRAMING_HEADERS:
                continue
            raw = declared[parameter.pointer]
            made = self._value(parameter, raw)
            parts.arguments[key] = made.value
            parts.is_generated |= made.is_generated
            self._place_value(parts, parameter, raw, made.value)
        return parts

    def _value(self, parameter: Parameter, raw: dict[str, Json]) -> GeneratedValue:
        key = parameter.pointer, parameter.name
        if (held := self._values.get(key)) is None:
            try:
                held = self._made(parameter, raw)
            except NoExample as problem:
                held = problem
            self._values[key] = held
        if isinstance(held, NoExample):
            raise held
        return held

    def _made(self, parameter: Parameter, raw: dict[str, Json]) -> GeneratedValue:
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
        found = [(example.value, example.pointer) for example in islice(examples, DECLARED_LIMIT)]
        # An object that says nothing would leave no trace in the request.
        made = self._maker.generate_non_empty(
            {} if schema is None else schema, parameter.name, schema_pointer, declared=found
        )
        if parameter.location == "path" and made.value in ("", ".", ".."):
            return GeneratedValue(placeholder(parameter.name), True)
        if parameter.location == "path" and made.value in ([], [""]):
            return GeneratedValue([placeholder(parameter.name)], True)
        return made

    def _place_value(self, parts: _Parts, parameter: Parameter, raw: dict[str, Json], value: Json) -> None:
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
                raise NoExample(f"the header {name[:60]} cannot be sent with the value that was found")
            parts.headers[name] = text
        elif parameter.location == "cookie":
            key, _, text = cookie_text(name, value, style, explode=explode).partition("=")
            parts.cookies[key] = text

    # -- body and credentials ----------------------------------------------------------------------------------------

    def _sent_bodies(self, method: str, body: Body) -> list[SentBody]:
        if body.declared is None or not (body.is_required or method.lower() not in METHODS_WITHOUT_BODY):
            return []
        try:
            return self._bodies.bodies(body)
        except NoExample:
            with suppress(NoExample):
                return [replace(sent, is_open=True) for sent in self._open_bodies.bodies(body)]
            if body.is_required:
                raise
            return []

    def _makers(self, *, is_open: bool = False) -> tuple[ExampleGenerator, BodyGenerator]:
        validator = Validator(self._document, dialect_of(self._document), is_open=is_open)
        maker = ExampleGenerator(validator, partial(_report, self._problems), is_request=True)
        return maker, BodyGenerator(maker, validator, self._resolver)

    @cached_property
    def _open_bodies(self) -> BodyGenerator:
        """Makes bodies of types that forbid what they are extended by: no value fits those as they are written."""
        return self._makers(is_open=True)[1]

    def _auth(self, alternatives: SecurityOptions | None) -> tuple[str, ...]:
        """Gives the schemes of the first requirement that can be met (OpenAPI 3.1, "Security Requirement Object")."""
        found = (tuple(credential.scheme for credential in way) for way in alternatives or ())
        return next((names for names in found if all(isinstance(self._schemes.get(name), dict) for name in names)), ())

    def _place(self, name: str) -> tuple[str, str]:
        scheme, _ = self._resolver.resolve(self._schemes[name], child(SCHEMES, name))
        return text_of(scheme, "in") or "", (text_of(scheme, "name") or "").lower()


def _report(problems: ProblemLog, code: str, where: str, message: str) -> None:
    problems.info(code, where, message, "mend the value or the schema")


def _remarks(sent: SentBody | None) -> Iterator[str]:
    if sent is not None and sent.shown is not None and sent.shown.description is not None:
        yield sent.shown.description
    if sent is not None and sent.is_assumed:
        yield _AS_JSON
    if sent is not None and sent.is_open:
        yield _AS_IF_OPEN


def _path(template: str, values: dict[str, str], query: list[str]) -> str:
    """Gives a path with its variables filled in, and its query; a fragment, which is never sent, goes."""
    pieces: Iterator[str] = iter(TEMPLATE_VARIABLE.split(template.split("#")[0]))
    path = percent_encode(next(pieces), _PATH_SIGNS)
    if not template.startswith(("/", "?")):  # reported; as it stands it would run into the address before it
        path = "/" + path
    for name in pieces:
        path += values.get(name, percent_encode(placeholder(name))) + percent_encode(next(pieces), _PATH_SIGNS)
    if not query:
        return path
    return path + ("&" if "?" in path else "?") + "&".join(query)
