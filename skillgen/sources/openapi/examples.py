"""One sendable request for each operation, from declared values or generated ones.

A body is written in the first media type for which that is possible: JSON, then forms, text and files. Forms follow
their encodings (OpenAPI 3.2, "Encoding Object"); only declared XML is shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, islice
from urllib.parse import unquote

from msgspec import Struct, field
from msgspec.structs import replace

from skillgen.model.auth import Auth
from skillgen.model.calls import Example, Input, Part, Request
from skillgen.model.schema import Parameter, Schema, Serialization, input_keys
from skillgen.model.schema_json import Types
from skillgen.model.serialization import (
    form_fields,
    is_json,
    is_json_lines,
    is_json_sequence,
    part_items,
    percent_encode,
    sequence_text,
    value_text,
    written,
)
from skillgen.model.tool import Tool
from skillgen.model.values import Json, Value, child
from skillgen.security.credentials import is_secret_name
from skillgen.sources.examples.calls import GENERATED_ORIGINS
from skillgen.sources.examples.generator import Generated, Generator, NoExample
from skillgen.sources.examples.prose import requires
from skillgen.sources.examples.validation import UNCHECKED, Validator, why_unpublishable
from skillgen.sources.json_access import as_dict, as_list
from skillgen.sources.json_schema.merge import ANYTHING
from skillgen.sources.openapi.bodies import Body
from skillgen.sources.openapi.media import (
    CONCRETE_MEDIA_TYPE,
    CONCRETE_MEDIA_TYPES,
    URL_ENCODED,
    DeclaredExample,
    declared_examples,
    first_concrete,
    is_text,
    is_xml,
)
from skillgen.sources.openapi.parameters import EXPANSIONS, TEMPLATE_VARIABLE
from skillgen.sources.openapi.references import Resolver
from skillgen.text import lazy_re as re
from skillgen.text.inert import disarm
from skillgen.text.unicode import strip_invisible

_EXAMPLES_LIMIT = 10
"""Declared examples of one operation that are tried."""

_METHODS_WITHOUT_BODY = frozenset({"GET", "HEAD", "DELETE", "OPTIONS", "TRACE", "CONNECT"})
"""Methods for which an optional body is left out; with most others a request does nothing without one."""

_FRAMING_HEADERS = frozenset(
    {"connection", "content-length", "expect", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"}
)
"""Headers that the HTTP client sets; with another value, the request hangs or fails."""

_ASSUMED_JSON = "sent as JSON, since the source names no media type"
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#%&*+.^_|~-]+\Z")
_HEADER_VALUE = re.compile(r"[\x20-\x7e\t]*\Z")
_PATH_CHARACTERS = "/-._~:@,;=+&%()*?"
_ENCODED = re.compile(r"%[0-9A-Fa-f]{2}")
_NOT_IN_PATH = re.compile(r"\{[#?&][^{}]*\}|#.*", re.DOTALL)

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
    # Such as `X-Acme-Api-Id`, which every call needs next to `X-Acme-Api-Key`.
    starts = {(place, start) for place, name in places if name in logins and (start := _start_of(name))}
    needed = Counter((item.location, item.name) for tool in tools for item in tool.parameters if item.required)
    for (place, name), count in needed.items():
        if (place, _start_of(name)) in starts and name not in logins and 2 * count >= len(tools) > 1:
            places[place, name], logins = count, [*logins, name]
    return tuple(f"{place} {name}" for (place, name), _ in places.most_common() if name in logins)


def _start_of(name: str) -> str:
    """Returns a name of several words without the last."""
    return name.replace("_", "-").rpartition("-")[0].lower()


class _Sent(Struct, frozen=True, kw_only=True):
    """A body in the form in which it is sent."""

    content: Generated = Generated(None, is_known=False)
    """Its value before serialisation."""

    media_type: str | None = None
    body: Value | None = None
    parts: tuple[Part, ...] = ()
    is_file: bool = False
    is_assumed: bool = False
    """Whether its media type is assumed, as the source names no media type (Swagger 2.0 without `consumes`)."""

    example: DeclaredExample | None = None
    """The declared example of which it is the value; `None` if it was generated."""

    @property
    def name(self) -> str | None:
        """The name of the declared example."""
        return self.example.name if self.example is not None else None

    @property
    def is_empty(self) -> bool:
        """True for a generated object without properties."""
        return self.content.value == {} and self.example is None


class _Parts(Struct):
    """The parts of a request under construction."""

    path: dict[str, str] = field(default_factory=dict)
    query: list[str] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    cookies: dict[str, str] = field(default_factory=dict)
    arguments: dict[str, Json] = field(default_factory=dict)
    secrets: list[str] = field(default_factory=list)
    is_generated: bool = False
    is_known: bool = False
    placeholders: int = 0
    """Placeholders outside of the path."""

    description: str | None = None


class RequestGenerator:
    """Generates the requests of one description; the value of a shared parameter is generated once."""

    def __init__(
        self,
        resolver: Resolver,
        types: Types,
        examples: dict[str, tuple[DeclaredExample, ...]],
        schemes: Iterable[Auth],
    ) -> None:
        """`examples` has the declared examples of parameters by pointer."""
        self._problems = resolver.problems
        self._resolver = resolver
        self._examples = examples
        self._sent_as = {scheme.name: (scheme.sent_as or "").lower() for scheme in schemes}
        self._validator = Validator(types, is_request=True, allows_placeholders=True)
        self._generator = Generator(self._validator)
        self._logins: tuple[str, ...] = ()
        self._values: dict[tuple[str, str], Generated | str] = {}
        """The values of parameters, or why they are missing: an error would hold this object and the description."""

    def examples(self, tool: Tool, body: Body, logins: tuple[str, ...]) -> tuple[Example, ...]:
        """Returns the declared requests, or one whose values come from the source.

        `logins` are parameters that hold the credential.
        """
        self._logins = logins
        auth = self._auth(tool)
        try:
            bodies = self._bodies_of(tool, body)
            scenarios = self._scenarios(tool, bodies)
            parts = [self._parts(tool, auth, scenario) for scenario in scenarios if bodies]
        except NoExample:
            return ()
        found: list[Example] = []
        for scenario, part in zip(scenarios, parts, strict=False):
            sent = next((item for item in bodies if item.name == scenario), bodies[0])
            example = self._example(tool, body, part, sent, auth)
            if example is not None and all(example.request != other.request for other in found):
                found.append(replace(example, name=scenario or example.name))
        return tuple(found)

    def _example(self, tool: Tool, body: Body, parts: _Parts, sent: _Sent, auth: tuple[str, ...]) -> Example | None:
        """Returns a request; `None` if every value in it is a placeholder, or one too many."""
        members = as_dict(sent.content.value)
        secrets = [item for item in self._logins if item.startswith("body ") and item[5:] in members]
        properties = [] if tool.method in _METHODS_WITHOUT_BODY else body.parameters
        is_complete = not parts.arguments and all(f"body {item.name}" in secrets for item in properties)
        is_known = parts.is_known or sent.content.is_known or any(part.is_file for part in sent.parts)
        shown = {
            text
            for text in sent.content.placeholders
            if not sent.parts or any(text == part.text for part in sent.parts)  # a file has no text
        }
        unknown = parts.placeholders + len(shown) - len(secrets)
        if not (is_known or is_complete) or unknown > 1 or sent.is_empty:
            return None
        request = Request(
            path=_path(tool.path or "", parts.path, parts.query),
            headers=parts.headers or None,
            cookies=parts.cookies or None,
            media_type=sent.media_type,
            body=sent.body,
            parts=sent.parts,
            is_file=sent.is_file,
            auth=auth,
            secrets=(*parts.secrets, *secrets),
        )
        notes = [parts.description, sent.example.description if sent.example is not None else None]
        notes += [_ASSUMED_JSON] * sent.is_assumed
        return Example(
            input=parts.arguments
            if sent.media_type is None
            else {**parts.arguments, _body_key(tool): sent.content.value},
            name=sent.name,
            description="; ".join(filter(None, notes)) or None,
            request=request,
            origins=GENERATED_ORIGINS if parts.is_generated or sent.content.is_generated else None,
        )

    # -- parameters --------------------------------------------------------------------------------------------------

    def _scenarios(self, tool: Tool, bodies: list[_Sent]) -> list[str | None]:
        """Returns the names of the declared examples, each of which is a request: equal names belong together."""
        names = {name: None for item in bodies if (name := item.name) is not None}
        for parameter in _outside_body(tool):
            if not parameter.pointer.startswith("/components/"):  # those of a shared parameter are of any operation
                named = [item.name for item in self._examples.get(parameter.pointer, ()) if item.name is not None]
                names |= dict.fromkeys(named if len(named) > 1 else ())
        return [*islice(names, _EXAMPLES_LIMIT)] or [None]

    def _parts(self, tool: Tool, auth: tuple[str, ...], scenario: str | None) -> _Parts:
        parts, parameters = _Parts(), _outside_body(tool)
        sent_by_auth = {self._sent_as[name] for name in auth}
        for key, parameter in zip(input_keys(parameters)[0], parameters, strict=True):
            where = f"{parameter.location} {parameter.name}"
            example = next(
                (item for item in self._examples.get(parameter.pointer, ()) if scenario and item.name == scenario), None
            )
            if where.lower() in sent_by_auth:
                continue
            if parameter.location == "header" and parameter.name.lower() in _FRAMING_HEADERS:
                continue
            if where in self._logins:
                parts.secrets += [where] if parameter.required or not auth else []
            elif parameter.required or example is not None or requires(parameter.description or ""):
                self._add(parts, key, parameter, parameters, example)
        return parts

    def _add(
        self, parts: _Parts, key: str, item: Parameter, parameters: Sequence[Parameter], example: DeclaredExample | None
    ) -> None:
        """Adds the value of a parameter: that of an example, or another one."""
        source = item
        if item.location == "path" and item.name[:1] in EXPANSIONS:  # `{.format}` has the value of `format`
            source = next((other for other in parameters if other.name == item.name[1:]), item)
        made = Generated(_decoded(example.value, item.location)) if example is not None else self._value(source)
        parts.arguments[key] = made.value
        parts.is_generated |= made.is_generated
        parts.is_known |= made.is_known
        parts.placeholders += len(made.placeholders) * (item.location != "path")
        if example is not None:
            parts.description = parts.description or example.description
        self._write(parts, item, made)

    def _value(self, parameter: Parameter) -> Generated:
        key = parameter.pointer, parameter.name
        if (result := self._values.get(key)) is None:
            try:
                result = self._generate(parameter)
            except NoExample as error:
                result = str(error)
            self._values[key] = result
        if isinstance(result, str):
            raise NoExample(result)
        return result

    def _generate(self, item: Parameter) -> Generated:
        text, schema = item.description or "", item.schema
        made = self._generator.generate(schema, item.name, text=text, in_url=True)
        if made.value == {}:  # it would be missing from the request
            raise NoExample(f"{item.name}: nothing in it is known")
        if item.location == "path" and made.value in ("", ".", "..", [], [""]):
            made = self._generator.generate(Schema(types=("string",)), item.name, in_url=True)
        return replace(made, value=_decoded(made.value, item.location))

    def _write(self, parts: _Parts, item: Parameter, made: Generated) -> None:
        name, rules = item.name, item.serialization or Serialization()
        has_content = rules.media_type is not None and not isinstance(made.value, str)
        value = value_text(made.value) if has_content else made.value
        texts = written(item.location, name, value, rules.style, rules.explode, rules.allow_reserved)
        if item.location in ("path", "query"):
            for placeholder in made.placeholders:
                texts = [text.replace(percent_encode(placeholder), placeholder) for text in texts]
        if item.location == "path":
            parts.path[name] = texts[0]
        elif item.location == "query":
            parts.query += texts
        elif item.location == "header":
            if not _HEADER_NAME.match(name) or not _HEADER_VALUE.match(texts[0]):
                raise NoExample(f"the value for the header {name[:60]} cannot be sent")
            parts.headers[name] = texts[0]
        elif item.location == "cookie":
            key, _, text = texts[0].partition("=")
            parts.cookies[key] = text

    # -- body and credentials ----------------------------------------------------------------------------------------

    def _bodies_of(self, tool: Tool, body: Body) -> list[_Sent]:
        """Returns the bodies to send, or an empty one; none if only arbitrary values could be sent."""
        is_left_out = tool.method in _METHODS_WITHOUT_BODY and not body.is_required
        if not body.forms or (is_left_out and tool.method != "DELETE"):
            return [_Sent()]
        try:
            bodies = self._bodies(tool, body)
        except NoExample:
            # A request without the members of its body would be shown as if it did something.
            has_members = any(not item.is_whole_body for item in body.parameters) or any(map(is_xml, body.media_types))
            if body.is_required or (has_members and not is_left_out):
                raise
            return [_Sent()]
        if is_left_out and bodies[0].example is None:
            return [_Sent()]
        if not body.is_required and bodies[0].content.value is None:
            return [_Sent(content=bodies[0].content)]
        return [] if bodies[0].is_empty and body.parameters else bodies

    def _bodies(self, tool: Tool, body: Body) -> list[_Sent]:
        """Returns the declared examples that are valid, or one body, in the first media type that has any.

        Raises:
            NoExample: no body can be generated.
        """
        reason = "its body declares no media type"
        contents = ((form, name, *media) for form, has in body.forms for name, media in has.contents.items())
        for form, name, media, pointer in contents:
            media_type = CONCRETE_MEDIA_TYPES.get(name, name) or "application/json"
            if not (form.parameters and (CONCRETE_MEDIA_TYPE.match(media_type) or "*" in media_type)):
                continue
            whole = self._examples_of_schema(media, pointer)
            found: list[_Sent] = []
            for example in islice(chain(declared_examples(media, pointer, self._resolver), whole), _EXAMPLES_LIMIT):
                with suppress(NoExample):
                    found.append(replace(self._sent(tool, media_type, form, example), example=example))
            found = [item for item in found if item.example not in whole] or found[:1]
            try:
                return [replace(item, is_assumed=not name) for item in found or [self._sent(tool, media_type, form)]]
            except NoExample as problem:
                reason = str(problem)
        raise NoExample(reason)

    def _examples_of_schema(self, media: dict[str, Json], pointer: str) -> list[DeclaredExample]:
        """Returns the examples that the schema of a body has for the whole of it."""
        raw, where = as_dict(media.get("schema")), child(pointer, "schema")
        if "$ref" in raw:
            raw, where = as_dict(self._resolver.resolve_or_empty(raw)), str(raw["$ref"]).removeprefix("#")
        found = [DeclaredExample(raw["example"], child(where, "example"))] if "example" in raw else []
        values = enumerate(as_list(raw.get("examples")))
        return found + [DeclaredExample(value, child(where, "examples", index)) for index, value in values]

    def _sent(self, tool: Tool, media_type: str, form: Input, example: DeclaredExample | None = None) -> _Sent:
        """Returns the body with the value of a declared example, or with a generated one.

        Raises:
            NoExample: there is no such body.
        """
        schema = form.schema_of(form.parameters)
        essence = media_type.partition(";")[0].strip().lower()
        is_range, kind = "*" in essence, self._generator.variants.first(schema).types[:1]
        is_lines, is_multipart = is_json_lines(essence) or is_json_sequence(essence), essence.startswith("multipart/")
        is_structured = is_json(essence) or (is_range and kind in (("object",), ("array",)))
        if not (is_structured or is_lines or is_multipart or essence == URL_ENCODED or is_text(essence)):
            concrete = "application/octet-stream" if is_range else media_type
            return _Sent(media_type=concrete, content=Generated("FILE"), is_file=True)
        if is_xml(essence) and not (example is not None and isinstance(example.value, str)):
            raise NoExample("no example of the XML body is declared as a string")
        made = self._content(
            tool, schema, "text" if is_text(essence) else "body", example, is_checked=not is_xml(essence)
        )
        value, sent = made.value, _Sent(media_type=media_type, content=made)
        if is_structured:
            return replace(sent, media_type="application/json" if is_range else media_type, body=Value(value))
        if is_lines:
            # Each item is on a line. Records are delimited by control characters, so they stay JSON here.
            items = value if isinstance(value, list) else [value]
            text = _displayable(sequence_text(items).removesuffix("\n"))
            return replace(sent, body=Value(items if is_json_sequence(media_type) else text))
        if is_multipart and isinstance(value, dict):
            return replace(sent, media_type=essence, parts=tuple(self._multipart(value, schema, form.parameters)))
        if essence == URL_ENCODED and isinstance(value, dict):
            return replace(sent, media_type=essence, parts=tuple(_form(value, form.parameters)))
        if is_multipart or isinstance(value, (dict, list)):
            raise NoExample(f"an object cannot be written as {media_type[:60]}")
        return replace(sent, body=Value(_displayable(value_text(value))))

    def _content(
        self, tool: Tool, schema: Schema, name: str, example: DeclaredExample | None, *, is_checked: bool
    ) -> Generated:
        if example is None:
            needed = (login[5:] for login in self._logins if login.startswith("body "))
            text = "\n\n".join(filter(None, (tool.summary, tool.description)))
            return self._generator.generate(schema, name, text=text, needed=needed)
        reason = why_unpublishable(example.value)
        if is_checked and reason is None:
            error = self._validator.validation_error(example.value, schema)
            if error not in (None, UNCHECKED):
                reason = "example-invalid", f"the declared value does not match its own schema: {error}"
        if reason is not None:
            self._problems.report(reason[0], example.pointer, reason[1])
            raise NoExample(reason[1])
        return Generated(example.value)

    def _multipart(self, value: dict[str, Json], schema: Schema, parameters: tuple[Parameter, ...]) -> Iterator[Part]:
        """Yields parts by their media type: files as files, objects as JSON, each item of a list as a part."""
        schemas = {item.name: item.schema for item in self._generator.variants.first(schema).properties}
        rules = {item.name: item.serialization for item in parameters}
        for name, member in value.items():
            rule = rules.get(name) or Serialization()
            media_type = first_concrete(rule.media_type)
            if any(item.required for item in rule.part_headers):
                raise NoExample(f"the part {name[:60]} needs a header of its own")
            if self._is_file(schemas.get(name, ANYTHING)):
                count = len(member) if isinstance(member, list) else 1
                yield from [
                    Part(name=_displayable(name), is_file=True, media_type=first_concrete(rule.media_type))
                ] * count
            else:
                found = part_items(name, member, media_type, rule.style, rule.explode)
                yield from (_typed(*part) for part in found)

    def _is_file(self, schema: Schema) -> bool:
        flat = self._generator.variants.first(schema)
        if flat.types[:1] == ("array",):
            flat = self._generator.variants.first(flat.items or ANYTHING)
        return flat.format == "binary" or (flat.format is None and "contentMediaType" in (flat.constraints or {}))

    def _auth(self, tool: Tool) -> tuple[str, ...]:
        """Returns the schemes of the first requirement that can be met (OpenAPI 3.1, "Security Requirement Object")."""
        options = (tuple(credential.scheme for credential in option) for option in tool.auth or ())
        return next((names for names in options if self._sent_as.keys() >= set(names)), ())


def _outside_body(tool: Tool) -> list[Parameter]:
    return [item for item in tool.parameters if item.location != "body"]


def _body_key(tool: Tool) -> str:
    return input_keys(_outside_body(tool))[1]


def _displayable(text: str) -> str:
    """Returns the string, which a document must show exactly.

    Raises:
        NoExample: documents change it: it has invisible characters or a form that a host would run or fill in.
    """
    if disarm(strip_invisible(text)) != text:
        raise NoExample("a value has characters that documents must not show")
    return text


def _form(value: dict[str, Json], parameters: tuple[Parameter, ...]) -> Iterator[Part]:
    """Yields the fields of a form."""
    rules = {item.name: item.serialization or Serialization() for item in parameters}
    for name, item in value.items():
        rule = rules.get(name, Serialization())
        for key, text in form_fields(name, item, rule.style, rule.explode):
            yield Part(name=_displayable(key), text=_displayable(text))


def _typed(name: str, member: Json, media_type: str | None) -> Part:
    if isinstance(member, (dict, list)) and not is_json(media_type or ""):
        raise NoExample(f"an object cannot be written as {str(media_type)[:60]}")
    if media_type is None or is_json(media_type) or is_text(media_type):
        media_type = None if media_type == "text/plain" else media_type
        return Part(name=_displayable(name), text=_displayable(value_text(member)), media_type=media_type)
    return Part(name=_displayable(name), is_file=True, media_type=media_type)


def _decoded(value: Json, location: str) -> Json:
    """Returns a value without the percent-encoding that the source has for a URL."""
    if location not in ("path", "query") or not isinstance(value, str) or not _ENCODED.search(value):
        return value
    decoded = unquote(value)
    return value if "\ufffd" in decoded else decoded


def _path(template: str, values: dict[str, str], query: list[str]) -> str:
    """Returns a path with its variables filled in, and its query; a fragment is removed, since it is never sent.

    A variable may have an operator (RFC 6570): `{.format}` becomes `.json`.
    """
    pieces: Iterator[str] = iter(TEMPLATE_VARIABLE.split(_NOT_IN_PATH.sub("", template)))
    path = percent_encode(next(pieces), _PATH_CHARACTERS)
    if not template.startswith(("/", "?", "{/")):  # reported; it must not continue the last segment of the base URL
        path = "/" + path
    for name in pieces:
        operator = name[:1] if name[:1] in EXPANSIONS else ""
        value = values.get(name, values.get(name.removeprefix(operator)) if operator else "")
        path += f"{EXPANSIONS.get(operator, '')}{value}" if value is not None else ""
        path += percent_encode(next(pieces), _PATH_CHARACTERS)
    if not query:
        return path
    return path + ("&" if "?" in path else "?") + "&".join(query)
