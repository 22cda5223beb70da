"""One sendable request for each operation, from declared values or generated ones.

A body is written in the first media type for which that is possible: JSON, then forms, text and files. Forms follow
their encodings (OpenAPI 3.2, "Encoding Object"); only declared XML is shown.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain, islice
from urllib.parse import unquote

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
from skillgen.model.tool import Tool
from skillgen.model.values import Json, Value, child
from skillgen.security.credentials import is_secret_name
from skillgen.sources.examples.calls import GENERATED_ORIGINS
from skillgen.sources.examples.generator import ExampleGenerator, GeneratedValue, NoExample, Variants
from skillgen.sources.examples.prose import wanted_by
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
from skillgen.sources.openapi.parameters import EXPANSIONS, TEMPLATE_VARIABLE, input_keys
from skillgen.sources.openapi.references import Resolver
from skillgen.sources.openapi.security import SCHEMES, SecurityOptions
from skillgen.text import lazy_re as re
from skillgen.text.markdown import disarm
from skillgen.text.unicode import strip_invisible
from skillgen.text.words import words_of


def xml_object(flat: Schema) -> dict[str, Json]:
    """Returns how a value is written as XML (OpenAPI 3.1, "XML Object")."""
    return as_dict((flat.constraints or {}).get("xml"))


def _item(flat: Schema, index: int) -> Schema:
    return flat.prefix_items[index] if index < len(flat.prefix_items) else flat.items or ANYTHING


_STYLE_MEMBERS = frozenset({"style", "explode"})


def _multipart_fields(
    value: dict[str, Json], encoding: dict[str, Json], schema: Schema, variants: Variants
) -> tuple[Part, ...]:
    """Writes fields by their media type: files as files, objects as JSON, each item of a list as a field."""
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
            parts.extend(_typed(name, member, first_concrete(media_type)) for member in items)
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
            parts.append(_typed("", member, media_type))
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


def _typed(name: str, member: Json, media_type: str | None) -> Part:
    if isinstance(member, (dict, list)):
        if media_type is None or is_json(media_type):
            return _part(name, value_text(member), media_type or "application/json")
        raise NoExample(f"an object cannot be written as {media_type[:60]}")
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

_EXAMPLES_LIMIT = 10
"""Declared examples of one operation that are tried."""

_FILE_NAME = "FILE"
"""Placeholder of a file name."""


_NOTHING = GeneratedValue(None, False, False)


class SentBody(Struct, frozen=True, kw_only=True):
    """A body in the form in which it is sent."""

    media_type: str | None = None
    """Its media type; `None` if there is no body."""

    content: GeneratedValue = _NOTHING
    """Its value before serialisation."""

    body: Value | None = None
    """JSON, or a string."""

    parts: tuple[Part, ...] = ()
    """The fields of a form."""

    is_file: bool = False
    is_assumed: bool = False
    """Whether its media type is assumed, as the source names no media type (Swagger 2.0 without `consumes`)."""

    declared_example: DeclaredExample | None = None
    """The declared example of which it is the value; `None` if it was generated."""

    is_open: bool = False
    """Whether it is valid only without the `additionalProperties: false` of the types that its type extends."""


class _Content(Struct, frozen=True):
    """One media type of a body."""

    generator: ExampleGenerator
    media_type: str
    """The media type to send, which may be a range."""

    media: dict[str, Json]
    """The raw media type object."""

    schema: Schema | None
    """The type of the complete content."""

    pointer: str
    text: str
    """The description of the operation, which may explain it."""

    is_read: bool
    """Whether the operation only searches."""

    def sent(self, example: DeclaredExample | None = None) -> SentBody:
        """Returns the body with the value of a declared example, or with a generated one.

        Raises:
            NoExample: there is no such body.
        """
        media_type = self.media_type
        base_type = media_type.split(";")[0].strip().lower()
        is_range = "*" in base_type
        if is_json(base_type) or (is_range and self._is_structured()):
            found = self._value(example)
            media_type = _DEFAULT_MEDIA_TYPE if is_range else media_type
            return SentBody(media_type=media_type, content=found, body=Value(found.value))
        if base_type == URL_ENCODED or base_type.startswith("multipart/"):
            return self._form(base_type, example)
        if is_json_lines(base_type) or is_json_sequence(base_type):
            # Each item is on a line. Records are delimited by control characters, so they stay JSON here.
            found = self._value(example)
            items = found.value if isinstance(found.value, list) else [found.value]
            text = _displayable("\n".join(json.dumps(item, ensure_ascii=False) for item in items))
            body = Value(items if is_json_sequence(media_type) else text)
            return SentBody(media_type=media_type, content=found, body=body)
        if is_text(base_type):
            return self._text(example)
        concrete = "application/octet-stream" if is_range else media_type
        return SentBody(media_type=concrete, content=GeneratedValue(_FILE_NAME, True), is_file=True)

    def _form(self, media_type: str, example: DeclaredExample | None) -> SentBody:
        found, schema, variants = self._value(example), self.schema or ANYTHING, self.generator.variants
        value, encoding = found.value, as_dict(self.media.get("encoding"))
        sent = SentBody(media_type=media_type, content=found)
        if media_type == URL_ENCODED and isinstance(value, str):  # the source has the complete form as a string
            return replace(sent, body=Value(_displayable(value)))
        if media_type != URL_ENCODED and isinstance(value, list):
            return replace(sent, parts=_unnamed_parts(value, self.media, schema, variants))
        if not isinstance(value, dict):
            raise NoExample("the schema of the form is not an object")
        if media_type != URL_ENCODED:
            return replace(sent, parts=_multipart_fields(value, encoding, schema, variants))
        fields = (_styled(name, item, as_dict(encoding.get(name))) for name, item in value.items())
        return replace(sent, parts=tuple(chain.from_iterable(fields)))

    def _text(self, example: DeclaredExample | None) -> SentBody:
        is_written = example is not None and isinstance(example.value, str)
        if not is_xml(self.media_type):
            found = self._value(example if is_written else None)
            text = value_text(found.value)
        elif example is not None and is_written:
            if (reason := why_unpublishable(example.value)) is not None:
                raise NoExample(reason[1])
            found, text = GeneratedValue(example.value, False), example.value
        else:
            raise NoExample("no example of the XML body is declared as a string")
        return SentBody(media_type=self.media_type, content=found, body=Value(_displayable(text)))

    def _value(self, example: DeclaredExample | None) -> GeneratedValue:
        """Returns the content before it is serialised."""
        declared = [(example.value, example.pointer)] if example is not None else []
        if self.schema is None and not is_text(self.media_type):
            if example is None:
                raise NoExample("its body has no schema and no example")
            return GeneratedValue(example.value, False)
        name, pointer = "text" if is_text(self.media_type) else "body", child(self.pointer, "schema")
        schema, text = self.schema or ANYTHING, self.text
        return self.generator.generate(schema, name, pointer, text=text, declared=declared, is_read=self.is_read)

    def _is_structured(self) -> bool:
        types = () if self.schema is None else self.generator.variants.first(self.schema).types
        return types[:1] in (("object",), ("array",))


_METHODS_WITHOUT_BODY = frozenset({"get", "head", "delete", "options", "trace", "connect"})
"""Methods for which an optional body is left out; with most others a request does nothing without one."""

_FRAMING_HEADERS = frozenset(
    {"connection", "content-length", "expect", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"}
)
"""Headers that the HTTP client sets; with another value, the request hangs or fails."""

_ASSUMED_JSON = "sent as JSON, since the source names no media type"
_RELAXED = "valid only without the `additionalProperties: false` of a part of its schema"

_HEADER_NAME = re.compile(r"[A-Za-z0-9!#%&*+.^_|~-]+\Z")
_HEADER_VALUE = re.compile(r"[\x20-\x7e\t]*\Z")
_PATH_CHARACTERS = "/-._~:@,;=+&%()*?"
_ENCODED = re.compile(r"%[0-9A-Fa-f]{2}")
_NOT_IN_PATH = re.compile(r"\{[#?&][^{}]*\}|#.*", re.DOTALL)


class _RequestParts(Struct):
    """The parts of a request under construction."""

    path: dict[str, str] = field(default_factory=dict)
    query: list[str] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    cookies: dict[str, str] = field(default_factory=dict)
    arguments: dict[str, Json] = field(default_factory=dict)
    secrets: list[str] = field(default_factory=list)
    is_generated: bool = False
    is_known: bool = False
    description: str | None = None


class Call(Struct, frozen=True, kw_only=True):
    """An operation as its examples need it."""

    method: str
    path: str
    parameters: tuple[Parameter, ...]
    body: Body
    security: SecurityOptions | None
    text: str
    """Its description, which may name values and required parameters."""

    pointer: str
    name: str

    @property
    def is_search(self) -> bool:
        """True if the name, the end of the path or the description begins with a word such as "search"."""
        words = [*words_of(self.name)[:1], *words_of(self.path.rpartition("/")[2])[-1:], *words_of(self.text[:40])[:1]]
        return not _SEARCHES.isdisjoint(word.removesuffix("es") for word in words)


_SEARCHES = frozenset({"filter", "filters", "find", "finds", "lookup", "queri", "query", "search"})
"""What a request with a body does that only reads."""

_LOGIN = re.compile(r"(?:key|token|jwt)\Z", re.IGNORECASE)
"""The last word of a credential that a caller has before the first call; a password is also that of a new user."""


_KEY = re.compile(r"\b(?:access|api|app|application|auth\w*|developer|license) ?(?:key|token)\b", re.IGNORECASE)


def login_parameters(tools: Sequence[Tool]) -> tuple[str, ...]:
    """Returns the parameters with a credential that at least half of the tools have, such as `header token`.

    They may have the same name in several places, the most frequent first. Of those that no tool requires, only a
    single name counts: several are different ways to authenticate.
    """
    counts, places, required = Counter[str](), Counter[tuple[str, str]](), set[str]()
    for tool in tools:
        found = [
            item
            for item in tool.parameters
            if item.location in ("header", "query", "body")
            and _LOGIN.search(item.name)
            and (item.name.lower() == "key" or is_secret_name(item.name))
        ]
        counts.update({item.name for item in found})
        places.update((item.location, item.name) for item in found)
        required |= {item.name for item in found if item.required}
    is_common = {name for name, count in counts.items() if count > 1 and 2 * count >= len(tools)}
    if len(tools) == 1:
        is_common = {item.name for item in tools[0].parameters if item.required and _KEY.search(item.description or "")}
    common = [name for name in counts if name in is_common]
    logins = [name for name in common if name in required or len(common) == 1]
    return tuple(f"{place} {name}" for (place, name), _ in places.most_common() if name in logins)


class RequestGenerator:
    """Generates the requests of one description; a shared parameter is generated once."""

    def __init__(
        self,
        document: dict[str, Json],
        resolver: Resolver,
        declared: dict[str, dict[str, Json]],
        problems: ProblemLog,
    ) -> None:
        """`declared` has the raw parameters by pointer."""
        self._problems = problems
        self._resolver = resolver
        self._declared = declared
        self._schemas = ExampleSchemas(document, ref_siblings=reads_siblings_of_references(document))
        self._generator, self._open_generator = (
            ExampleGenerator(Validator(self._schemas, is_request=True, is_open=is_open), problems)
            for is_open in (False, True)  # open for types that extend one with `additionalProperties: false`
        )
        self._schemes = as_dict(as_dict(document.get("components")).get("securitySchemes"))
        self._logins: tuple[str, ...] = ()
        self._values: dict[tuple[str, str, str | None], GeneratedValue | NoExample] = {}

    def examples(self, call: Call, logins: tuple[str, ...]) -> tuple[Example, ...]:
        """Returns the declared requests, or one that shows a value; reports if none can be generated.

        `logins` are parameters that hold the credential.
        """
        self._logins = logins
        self._generator.credentials = frozenset(login[5:] for login in logins if login.startswith("body "))
        auth = self._auth(call.security)
        try:
            bodies = self._sent_bodies(call)
            if not bodies:
                return ()
            scenarios = self._scenarios(call.parameters, bodies)
            parts = [self._parts(call, auth, scenario) for scenario in scenarios]
        except NoExample as problem:
            self._problems.report("example-missing", call.pointer, f"no valid request could be generated: {problem}")
            return ()
        found: list[Example] = []
        for scenario, part in zip(scenarios, parts, strict=True):
            sent = next((item for item in bodies if _name(item) == scenario), bodies[0])
            example = self._example(call, part, sent, auth)
            if example is not None and all(example.request != other.request for other in found):
                found.append(replace(example, name=scenario or example.name))
        return tuple(found)

    def _example(self, call: Call, parts: _RequestParts, sent: SentBody, auth: tuple[str, ...]) -> Example | None:
        """Returns a request; `None` if every value in it is a placeholder."""
        value, members = sent.content.value, as_dict(sent.content.value)
        secrets = [item for item in self._logins if item.startswith("body ") and item[5:] in members]
        properties = [] if call.method in _METHODS_WITHOUT_BODY else call.body.parameters
        is_complete = not parts.arguments and all(f"body {item.name}" in secrets for item in properties)
        is_known = parts.is_known or sent.content.is_known or any(part.is_file for part in sent.parts)
        if not (is_known or is_complete) or _is_empty(sent):
            return None
        if sent.is_open:
            message = "a part of the body forbids properties that another part requires; the example has them"
            self._problems.report("properties-forbidden", call.body.pointer, message)
        request = Request(
            path=_path(call.path, parts.path, parts.query),
            headers=parts.headers or None,
            cookies=parts.cookies or None,
            media_type=sent.media_type,
            body=sent.body,
            parts=sent.parts,
            is_file=sent.is_file,
            auth=auth,
            secrets=(*parts.secrets, *secrets),
        )
        body_key = input_keys(call.parameters)[1]
        return Example(
            input=parts.arguments if sent.media_type is None else {**parts.arguments, body_key: value},
            name=_name(sent),
            description="; ".join(filter(None, (parts.description, *_notes(sent)))) or None,
            request=request,
            origins=GENERATED_ORIGINS if parts.is_generated or sent.content.is_generated else None,
        )

    # -- parameters --------------------------------------------------------------------------------------------------

    def _scenarios(self, parameters: tuple[Parameter, ...], bodies: list[SentBody]) -> list[str | None]:
        """Returns the names of the declared examples, each of which is a request: equal names belong together."""
        names = {name: None for item in bodies if (name := _name(item)) is not None}
        for parameter in parameters:
            if not parameter.pointer.startswith("/components/"):  # those of a shared parameter are of any operation
                named = [item.name for item in self._examples_of(parameter) if item.name is not None]
                names |= dict.fromkeys(named if len(named) > 1 else ())
        return [*islice(names, _EXAMPLES_LIMIT)] or [None]

    def _parts(self, call: Call, auth: tuple[str, ...], scenario: str | None) -> _RequestParts:
        parts, optional = _RequestParts(), dict[str, tuple[str, Parameter]]()
        sent_by_auth = {self._credential_location(name) for name in auth}
        for key, parameter in zip(input_keys(call.parameters)[0], call.parameters, strict=True):
            where = f"{parameter.location} {parameter.name}"
            if (parameter.location, parameter.name.lower()) in sent_by_auth:
                continue
            if parameter.location == "header" and parameter.name.lower() in _FRAMING_HEADERS:
                continue
            if where in self._logins:
                parts.secrets += [where] if parameter.required or not auth else []
            elif parameter.required or self._named(parameter, scenario) is not None:
                self._add(parts, call, key, parameter, scenario)
            elif not parameter.deprecated:
                optional[parameter.name] = key, parameter
        for names in wanted_by(call.text, [parameter for _, parameter in optional.values()], parts.arguments):
            if parts.arguments.keys().isdisjoint(names):
                with suppress(NoExample):
                    self._add(parts, call, *optional[names[0]], scenario)
        return parts

    def _add(self, parts: _RequestParts, call: Call, key: str, parameter: Parameter, scenario: str | None) -> None:
        """Adds the value of a parameter."""
        example = self._named(parameter, scenario)
        source = parameter
        if parameter.location == "path" and parameter.name[:1] in EXPANSIONS:  # `{.format}` has the value of `format`
            source = next((item for item in call.parameters if item.name == parameter.name[1:]), parameter)
        generated = self._value(source, None if example is None else example.name)
        parts.arguments[key] = generated.value
        parts.is_generated |= generated.is_generated
        parts.is_known |= generated.is_known
        if example is not None:
            parts.description = parts.description or example.description
        self._add_value(parts, parameter, self._declared[parameter.pointer], generated.value)

    def _examples_of(self, parameter: Parameter) -> list[DeclaredExample]:
        """Returns the declared examples of a parameter, or of its content."""
        raw = self._declared[parameter.pointer]
        examples = declared_examples(raw, parameter.pointer, self._resolver)
        if raw.get("schema") is None and as_dict(raw.get("content")):
            examples = chain(examples, declared_examples(*self._content_of(parameter), self._resolver))
        return list(islice(examples, _EXAMPLES_LIMIT))

    def _content_of(self, parameter: Parameter) -> tuple[dict[str, Json], str]:
        content = as_dict(self._declared[parameter.pointer]["content"])
        name = preferred_first(content)[0]
        return media_type_object(content[name], child(parameter.pointer, "content", name), self._resolver)

    def _named(self, parameter: Parameter, name: str | None) -> DeclaredExample | None:
        if name is None or self._declared[parameter.pointer].keys().isdisjoint(("examples", "content")):
            return None
        return next((item for item in self._examples_of(parameter) if item.name == name), None)

    def _value(self, parameter: Parameter, example: str | None) -> GeneratedValue:
        key = parameter.pointer, parameter.name, example
        if (result := self._values.get(key)) is None:
            try:
                result = self._generate(parameter, example)
            except NoExample as error:
                result = error
            self._values[key] = result
        if isinstance(result, NoExample):
            raise result
        return result

    def _generate(self, parameter: Parameter, example: str | None) -> GeneratedValue:
        raw, pointer = self._declared[parameter.pointer], parameter.pointer
        schema = raw.get("schema")
        if schema is None and as_dict(raw.get("content")):
            media, pointer = self._content_of(parameter)
            schema = content_schema(media)
        pointer = child(pointer, "schema")
        read = ANYTHING if schema is None else self._schemas.read(schema, pointer)
        examples = self._examples_of(parameter)
        examples.sort(key=lambda item: item.name != example)
        values = [(_decoded(item.value, parameter.location), item.pointer) for item in examples]
        text = parameter.description or ""
        generated = self._generator.generate(read, parameter.name, pointer, text=text, declared=values)
        if generated.value == {} and generated.is_generated:  # it would be missing from the request
            filled = Schema(types=("object",), constraints={"minProperties": 1}, also=(read,))
            with suppress(NoExample):
                generated = self._generator.generate(filled, parameter.name, pointer, text=text)
        if parameter.location == "path" and generated.value in ("", ".", "..", [], [""]):
            name = placeholder(parameter.name)
            return GeneratedValue([name] if isinstance(generated.value, list) else name, True, False)
        return replace(generated, value=_decoded(generated.value, parameter.location))

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

    def _sent_bodies(self, call: Call) -> list[SentBody]:
        """Returns the bodies to send, or an empty one; none if only arbitrary values could be sent."""
        body = call.body
        is_left_out = call.method in _METHODS_WITHOUT_BODY and not body.is_required
        if body.declared is None or (is_left_out and call.method != "delete"):
            return [SentBody()]
        try:
            bodies = self._bodies(self._generator, call)
        except NoExample:
            with suppress(NoExample):
                bodies = self._bodies(self._open_generator, call)
                return [replace(sent, is_open=True) for sent in bodies]
            # A request without the body would be shown as if it did something.
            if body.is_required or any(map(is_xml, body.media_types)):
                raise
            return [SentBody()]
        if is_left_out and bodies[0].declared_example is None:
            return [SentBody()]
        if not body.is_required and bodies[0].content.value is None:
            return [SentBody(content=bodies[0].content)]
        return [] if _is_empty(bodies[0]) and body.parameters else bodies

    def _bodies(self, generator: ExampleGenerator, call: Call) -> list[SentBody]:
        """Returns the declared examples that are valid, or one body, in the first media type that has any.

        Raises:
            NoExample: no body can be generated.
        """
        reason, body = "its body declares no media type", call.body
        declared = as_dict(as_dict(body.declared).get("content"))
        for name in preferred_first(declared):
            media, pointer = media_type_object(declared[name], child(body.pointer, "content", name), self._resolver)
            media_type = CONCRETE_MEDIA_TYPES.get(name, name) or _DEFAULT_MEDIA_TYPE
            if not (CONCRETE_MEDIA_TYPE.match(media_type) or "*" in media_type):
                continue
            raw = content_schema(media)
            schema = None if raw is None else self._schemas.read(raw, child(pointer, "schema"))
            content = _Content(generator, media_type, media, schema, pointer, call.text, call.is_search)
            found: list[SentBody] = []
            for example in islice(declared_examples(media, pointer, self._resolver), _EXAMPLES_LIMIT):
                with suppress(NoExample):
                    sent = content.sent(example)
                    if not sent.content.is_generated and sent.content.value == example.value:
                        found.append(replace(sent, declared_example=example))
            try:
                return [replace(item, is_assumed=not name) for item in found or [content.sent()]]
            except NoExample as problem:
                reason = str(problem)
        raise NoExample(reason)

    def _auth(self, security: SecurityOptions | None) -> tuple[str, ...]:
        """Returns the schemes of the first requirement that can be met (OpenAPI 3.1, "Security Requirement Object")."""
        options = (tuple(credential.scheme for credential in option) for option in security or ())
        return next(
            (names for names in options if all(isinstance(self._schemes.get(name), dict) for name in names)), ()
        )

    def _credential_location(self, name: str) -> tuple[str, str]:
        scheme, _ = self._resolver.resolve(self._schemes[name], child(SCHEMES, name))
        return text_of(scheme, "in") or "", (text_of(scheme, "name") or "").lower()


def _name(sent: SentBody) -> str | None:
    return sent.declared_example.name if sent.declared_example is not None else None


def _is_empty(sent: SentBody) -> bool:
    """True for an object without properties, none of which is required."""
    return sent.content.value == {} and sent.content.is_generated


def _decoded(value: Json, location: str) -> Json:
    """Returns a value without the percent-encoding that the source has for a URL."""
    if location not in ("path", "query") or not isinstance(value, str) or not _ENCODED.search(value):
        return value
    decoded = unquote(value)
    return value if "\ufffd" in decoded else decoded


def _notes(sent: SentBody) -> Iterator[str]:
    if sent.declared_example is not None and sent.declared_example.description is not None:
        yield sent.declared_example.description
    if sent.is_assumed:
        yield _ASSUMED_JSON
    if sent.is_open:
        yield _RELAXED


def _path(template: str, values: dict[str, str], query: list[str]) -> str:
    """Returns a path with its variables filled in, and its query; a fragment is removed, since it is never sent.

    A variable may have an operator (RFC 6570): `{.format}` becomes `.json`.
    """
    pieces: Iterator[str] = iter(TEMPLATE_VARIABLE.split(_NOT_IN_PATH.sub("", template)))
    path = percent_encode(next(pieces), _PATH_CHARACTERS)
    if not template.startswith(("/", "?", "{/")):  # reported; it must not continue the last segment of the base URL
        path = "/" + path
    for name in pieces:
        if (operator := name[:1]) in EXPANSIONS:
            value = values.get(name, values.get(name[1:]))
            path += f"{EXPANSIONS[operator]}{value}" if value is not None else ""
        else:
            path += values.get(name, percent_encode(placeholder(name)))
        path += percent_encode(next(pieces), _PATH_CHARACTERS)
    if not query:
        return path
    return path + ("&" if "?" in path else "?") + "&".join(query)
