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

from msgspec import Struct
from msgspec.structs import replace

from skillgen.model.calls import Example, Input, Part, Request
from skillgen.model.schema import Parameter, Schema, Serialization, Types
from skillgen.model.serialization import (
    essence_of,
    form_fields,
    media_kind,
    part_items,
    percent_encode,
    sequence_text,
    value_text,
    written,
)
from skillgen.model.tool import Tool
from skillgen.model.values import Json, Value
from skillgen.security.credentials import is_secret_name, issues_credential
from skillgen.sources.examples.generator import GENERATED_ORIGINS, Generated, Generator, NoExample
from skillgen.sources.examples.validation import UNCHECKED, Validator, requires, why_unpublishable
from skillgen.sources.json_access import as_dict, as_list
from skillgen.sources.json_schema.merge import ANYTHING
from skillgen.sources.openapi.references import Resolver
from skillgen.sources.openapi.requests import EXPANSIONS, TEMPLATE_VARIABLE, Body
from skillgen.sources.openapi.responses import (
    CONCRETE_MEDIA_TYPE,
    CONCRETE_MEDIA_TYPES,
    DeclaredExample,
    first_concrete,
    media_examples,
)
from skillgen.sources.openapi.security import SecurityReader
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

_DEFAULT = Serialization()
_ASSUMED_JSON = "sent as JSON, since the source names no media type"
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#%&*+.^_|~-]+\Z")
_HEADER_VALUE = re.compile(r"[\x20-\x7e\t]*\Z")
_PATH_CHARACTERS = "/-._~:@,;=+&%()*?"
_ENCODED = re.compile(r"%[0-9A-Fa-f]{2}")
_NOT_IN_PATH = re.compile(r"\{[#?&][^{}]*\}|#.*", re.DOTALL)

_LOGINS = ("key", "token", "jwt", "authorization")
"""The last word of a credential that a caller has before the first call; a password is also that of a new user."""

_KEY = re.compile(r"\b(?:access|api|app(?:lication)?|auth\w*|developer|license) ?(?:key|token)\b", re.IGNORECASE)


def login_parameters(tools: Sequence[Tool], text: str | None) -> tuple[str, ...]:
    """Returns the parameters with a credential that at least half of the tools have, such as `header token`.

    Two tools are enough if the text on the API names it where it speaks of authentication. They may have the same name
    in several places, the most frequent first. Of those that no tool requires, only a single name counts: several are
    different ways to authenticate.
    """
    found = [[item for item in tool.parameters if _may_be_login(item)] for tool in tools]
    counts = Counter(name for items in found for name in {item.name for item in items})
    places = Counter((item.location, item.name) for items in found for item in items)
    required = {item.name for items in found for item in items if item.required}
    said = ".".join(line for line in (text or "").replace("\n", ".").split(".") if "uthenticat" in line)
    quoted = {name for name in counts for mark in "`*'\"" if f"{mark}{name}{mark}" in said}
    is_common = {name for name, count in counts.items() if count > 1 and (2 * count >= len(tools) or name in quoted)}
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


def _may_be_login(item: Parameter) -> bool:
    if item.location not in ("header", "query", "body") or not item.name.lower().endswith(_LOGINS):  # as of most
        return False
    return item.name.lower() == "key" or is_secret_name(item.name) or bool(_KEY.search(re.sub("[_-]", " ", item.name)))


def _start_of(name: str) -> str:
    """Returns a name of several words without the last."""
    return name.replace("_", "-").rpartition("-")[0].lower()


class _Sent(Struct, frozen=True, kw_only=True):
    """A body in the form in which it is sent."""

    content: Generated = Generated(None)
    """Its value before serialisation."""

    media_type: str | None = None
    body: Value | None = None
    parts: tuple[Part, ...] = ()
    is_file: bool = False
    is_assumed: bool = False
    """Whether its media type is assumed, as the source names no media type (Swagger 2.0 without `consumes`)."""

    example: DeclaredExample | None = None
    """The declared example of which it is the value; `None` if it was generated."""

    name: str | None = None
    """The name of that example."""


class _Argument(Struct, frozen=True):
    """The value of a parameter outside of the body."""

    parameter: Parameter
    made: Generated
    texts: list[str]
    """The value as a URL, a header or a cookie has it."""

    description: str | None = None
    """That of the declared example with the value."""


class RequestGenerator:
    """Generates the requests of one description; parameters that differ in their pointer only share a value."""

    def __init__(
        self,
        resolver: Resolver,
        types: Types,
        examples: dict[str, tuple[DeclaredExample, ...]],
        security: SecurityReader,
    ) -> None:
        """`examples` has the declared examples of parameters by pointer."""
        self._problems = resolver.problems
        self._resolver = resolver
        self._examples = examples
        self._sent_as = {scheme.name: (scheme.sent_as or "").lower() for scheme in security.auth}
        self._assumed = tuple(name for name in security.assumed if name in self._sent_as)
        self._validator = Validator(types, is_request=True, allows_placeholders=True)
        self._generator = Generator(self._validator)
        self._logins: tuple[str, ...] = ()
        self._generated: dict[tuple[str | None, ...], _Argument | None] = {}

    def examples(self, tool: Tool, body: Body, logins: tuple[str, ...]) -> tuple[Example, ...]:
        """Returns the declared requests, or one whose values come from the source.

        `logins` are parameters that hold the credential. Without all parameters, no request is known.
        """
        if not tool.is_input_declared:
            return ()
        self._logins = logins
        found: list[Example] = []
        with suppress(NoExample):
            bodies = self._bodies(tool, body)
            for scenario in self._scenarios(tool, bodies):
                sent = next((item for item in bodies if item.name == scenario), bodies[0])
                example = self._example(tool, body, sent, scenario)
                if example is not None and all(example.request != other.request for other in found):
                    found.append(replace(example, name=scenario or example.name))
        return tuple(found)

    def _example(self, tool: Tool, body: Body, sent: _Sent, scenario: str | None) -> Example | None:
        """Returns a request; `None` if more than one value of its body is a placeholder, but for a login."""
        auth = self._auth(tool)
        parameters, body_key = tool.parameter_keys()
        arguments, secrets = self._arguments(parameters, auth, scenario)
        members = as_dict(sent.content.value)
        sent_logins = [item for item in self._logins if item.startswith("body ") and item[5:] in members]
        placeholders = {
            text
            for text in sent.content.placeholders
            if not sent.parts or any(text == part.text for part in sent.parts)  # a file has no text
        }
        if len(placeholders) - len(sent_logins) > 1 and not issues_credential(tool, self._validator.types):
            return None
        query: list[str] = []
        is_generated = sent.content.is_generated
        texts: dict[str, dict[str, str]] = {"path": {}, "header": {}, "cookie": {}}
        for item in arguments.values():
            is_generated |= item.made.is_generated
            if item.parameter.location == "query":
                query += item.texts
            else:
                texts[item.parameter.location][item.parameter.name] = item.texts[0]
        request = Request(
            path=_path(tool.path or "", texts["path"], query),
            headers=texts["header"] or None,
            cookies=dict(text.split("=", 1) for text in texts["cookie"].values()) or None,
            media_type=sent.media_type,
            body=sent.body,
            parts=sent.parts,
            is_file=sent.is_file,
            auth=auth,
            secrets=(*secrets, *sent_logins),
        )
        described = [item.description for item in arguments.values() if item.description][:1]
        of_body = sent.example.description if sent.example is not None else None
        notes = [*described, of_body, *[_ASSUMED_JSON] * sent.is_assumed]
        call = {key: item.made.value for key, item in arguments.items()}
        return Example(
            input=call if sent.media_type is None else {**call, body_key: sent.content.value},
            name=sent.name,
            description="; ".join(filter(None, notes)) or None,
            request=request,
            origins=GENERATED_ORIGINS if is_generated else None,
        )

    # -- parameters --------------------------------------------------------------------------------------------------

    def _scenarios(self, tool: Tool, bodies: list[_Sent]) -> list[str | None]:
        """Returns the names of the declared examples, each of which is a request: equal names belong together."""
        names = {name: None for item in bodies if (name := item.name) is not None}
        for parameter in tool.parameters:
            examples = self._examples.get(parameter.pointer, ())
            if examples and not parameter.pointer.startswith("/components/"):  # those of a shared one are of any call
                named = [item.name for item in examples if item.name is not None]
                names |= dict.fromkeys(named if len(named) > 1 else ())
        return [*islice(names, _EXAMPLES_LIMIT)] or [None]

    def _arguments(
        self, parameters: dict[str, Parameter], auth: tuple[str, ...], scenario: str | None
    ) -> tuple[dict[str, _Argument], list[str]]:
        """Returns the arguments outside of the body, and the parameters in which the caller puts a credential."""
        arguments: dict[str, _Argument] = {}
        secrets: list[str] = []
        sent_by_auth = {self._sent_as[name] for name in auth}
        for key, item in parameters.items():
            where = f"{item.location} {item.name}"
            declared = self._examples.get(item.pointer) if scenario else None
            example = next((found for found in declared if found.name == scenario), None) if declared else None
            if where.lower() in sent_by_auth or (item.location == "header" and item.name.lower() in _FRAMING_HEADERS):
                continue
            if where in self._logins:
                secrets += [where] if item.required or not auth else []
            elif example is not None:
                made = Generated(_decoded(example.value, item.location))
                arguments[key] = _Argument(item, made, _texts(item, made), example.description)
            elif item.required or requires(item.description or ""):
                arguments[key] = self._argument(item, parameters.values())
        return arguments, secrets

    def _argument(self, item: Parameter, parameters: Iterable[Parameter]) -> _Argument:
        source = item
        if item.location == "path" and item.name[:1] in EXPANSIONS:  # `{.format}` has the value of `format`
            source = next((other for other in parameters if other.name == item.name[1:]), item)
        sent = repr((item.serialization, source.schema))
        key = item.location, item.name, source.location, source.name, source.description, sent
        if key not in self._generated:
            self._generated[key] = None
            with suppress(NoExample):
                made = self._generate(source)
                self._generated[key] = _Argument(item, made, _texts(item, made))
        if (argument := self._generated[key]) is None:
            raise NoExample
        return argument

    def _generate(self, item: Parameter) -> Generated:
        made = self._generator.generate(item.schema, item.name, text=item.description or "", in_url=True)
        if made.value == {}:  # it would be missing from the request
            raise NoExample
        if item.location == "path" and made.value in ("", ".", "..", [], [""]):
            made = self._generator.generate(Schema(types=("string",)), item.name, in_url=True)
        return replace(made, value=_decoded(made.value, item.location))

    # -- body and credentials ----------------------------------------------------------------------------------------

    def _bodies(self, tool: Tool, body: Body) -> list[_Sent]:
        """Returns the bodies to send, or an empty one.

        Raises:
            NoExample: only arbitrary values could be sent.
        """
        is_left_out = tool.method in _METHODS_WITHOUT_BODY and not body.is_required
        if not body.forms or (is_left_out and tool.method != "DELETE"):
            return [_Sent()]
        bodies = self._sent_bodies(tool, body)
        if not bodies and not is_left_out:  # without its body, a request would be shown as if it did something
            raise NoExample
        if not bodies or (is_left_out and bodies[0].example is None):
            return [_Sent()]
        if not body.is_required and bodies[0].content.value is None:
            return [_Sent(content=bodies[0].content)]
        if bodies[0].content.value == {} and bodies[0].example is None:
            raise NoExample
        return bodies

    def _sent_bodies(self, tool: Tool, body: Body) -> list[_Sent]:
        """Returns the declared examples that are valid, or one body, in the first media type that has any."""
        contents = ((form, name, *media) for form, has in body.forms for name, media in has.contents.items())
        for form, name, media, pointer in contents:
            media_type = CONCRETE_MEDIA_TYPES.get(name, name) or "application/json"
            if not (form.parameters and (CONCRETE_MEDIA_TYPE.match(media_type) or "*" in media_type)):
                continue
            of_schema = self._examples_of_schema(media, pointer)
            examples = chain(media_examples(name, media, pointer, self._resolver), of_schema)
            declared = (item for item in examples if not _is_empty_form(item.value))
            found: list[_Sent] = []
            for example in (*islice(declared, _EXAMPLES_LIMIT), None):
                if example is not None or not found:
                    with suppress(NoExample):
                        sent = self._sent(tool, media_type, form, example)
                        found.append(replace(sent, example=example, name=example and example.name, is_assumed=not name))
            if found:
                return [item for item in found if item.example not in of_schema] or found[:1]
        return []

    def _examples_of_schema(self, media: dict[str, Json], pointer: str) -> list[DeclaredExample]:
        """Returns the examples that the schema of a body has for the whole of it."""
        raw, where = as_dict(media.get("schema")), f"{pointer}/schema"
        if "$ref" in raw:
            raw, where = as_dict(self._resolver.resolve_or_empty(raw)), str(raw["$ref"]).removeprefix("#")
        found = [DeclaredExample(raw["example"], f"{where}/example")] if "example" in raw else []
        values = enumerate(as_list(raw.get("examples")))
        return found + [DeclaredExample(value, f"{where}/examples/{index}") for index, value in values]

    def _sent(self, tool: Tool, media_type: str, form: Input, example: DeclaredExample | None = None) -> _Sent:
        """Returns the body with the value of a declared example, or with a generated one.

        Raises:
            NoExample: there is no such body.
        """
        schema = form.schema_of(form.parameters)
        essence, kind = essence_of(media_type), media_kind(media_type)
        is_range = "*" in essence
        if is_range and self._generator.variants.first(schema).types[:1] in (("object",), ("array",)):
            kind = "json"
        if kind == "file":
            if not all(item.is_whole_body for item in form.parameters):
                raise NoExample  # nobody knows how a file of this type has named members
            concrete = "application/octet-stream" if is_range else media_type
            return _Sent(media_type=concrete, content=Generated("FILE"), is_file=True)
        if kind == "xml" and not (example is not None and isinstance(example.value, str)):
            raise NoExample
        name = "text" if kind in ("xml", "text") else "body"
        made = self._content(tool, schema, name, example, is_checked=kind != "xml")
        value, sent = made.value, _Sent(media_type=media_type, content=made)
        if kind == "json":
            return replace(sent, media_type="application/json" if is_range else media_type, body=Value(value))
        if kind in ("lines", "records"):
            # Each item is on a line. Records are delimited by control characters, so they stay JSON here.
            items = value if isinstance(value, list) else [value]
            text = _displayable(sequence_text(items).removesuffix("\n"))
            return replace(sent, body=Value(items if kind == "records" else text))
        if kind == "multipart" and isinstance(value, dict):
            return replace(sent, media_type=essence, parts=tuple(self._multipart(value, schema, form.parameters)))
        if kind == "form" and isinstance(value, dict):
            return replace(sent, media_type=essence, parts=tuple(_form(value, form.parameters)))
        if kind == "multipart" or isinstance(value, (dict, list)):
            raise NoExample
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
            if (error := self._validator.validation_error(example.value, schema)) not in (None, UNCHECKED):
                reason = "example-invalid", f"the declared value does not match its own schema: {error}"
        if reason is not None:
            self._problems.report(reason[0], example.pointer, reason[1])
            raise NoExample
        return Generated(example.value)

    def _multipart(self, value: dict[str, Json], schema: Schema, parameters: tuple[Parameter, ...]) -> Iterator[Part]:
        """Yields parts by their media type: files as files, objects as JSON, each item of a list as a part."""
        schemas = {item.name: item.schema for item in self._generator.variants.first(schema).properties}
        rules = {item.name: item.serialization for item in parameters}
        for name, member in value.items():
            rule = rules.get(name) or _DEFAULT
            media_type = first_concrete(rule.media_type)
            if any(item.required for item in rule.part_headers):
                raise NoExample
            if self._is_file(schemas.get(name, ANYTHING)):
                count = len(member) if isinstance(member, list) else 1
                part = Part(name=_displayable(name), is_file=True, media_type=first_concrete(rule.media_type))
                yield from [part] * count
            else:
                yield from (_typed(*part) for part in part_items(name, member, media_type, rule.style, rule.explode))

    def _is_file(self, schema: Schema) -> bool:
        flat = self._generator.variants.first(schema)
        if flat.types[:1] == ("array",):
            flat = self._generator.variants.first(flat.items or ANYTHING)
        return flat.format == "binary" or (flat.format is None and "contentMediaType" in (flat.constraints or {}))

    def _auth(self, tool: Tool) -> tuple[str, ...]:
        """Returns the schemes of the first requirement that can be met (OpenAPI 3.1, "Security Requirement Object")."""
        options = (tuple(credential.scheme for credential in option) for option in tool.auth or ())
        known = (names for names in options if self._sent_as.keys() >= set(names))
        return next(known, () if tool.auth is not None else self._assumed)


def _is_empty_form(value: Json) -> bool:
    """True for an object of which each member is an empty text: it only names the members."""
    return isinstance(value, dict) and bool(value) and all(member == "" for member in value.values())


def _texts(item: Parameter, made: Generated) -> list[str]:
    """Returns the value of a parameter as a URL, a header or a cookie has it."""
    rules = item.serialization or _DEFAULT
    has_content = rules.media_type is not None and not isinstance(made.value, str)
    value = value_text(made.value) if has_content else made.value
    texts = written(item.location, item.name, value, rules.style, rules.explode, rules.allow_reserved)
    for placeholder in made.placeholders if item.location in ("path", "query") else ():
        texts = [text.replace(percent_encode(placeholder), placeholder) for text in texts]
    if item.location == "header" and not (_HEADER_NAME.match(item.name) and _HEADER_VALUE.match(texts[0])):
        raise NoExample
    return texts


def _displayable(text: str) -> str:
    """Returns the string, which a document must show exactly.

    Raises:
        NoExample: documents change it: it has invisible characters or a form that a host would run or fill in.
    """
    if disarm(strip_invisible(text)) != text:
        raise NoExample
    return text


def _form(value: dict[str, Json], parameters: tuple[Parameter, ...]) -> Iterator[Part]:
    """Yields the fields of a form."""
    rules = {item.name: item.serialization for item in parameters}
    for name, item in value.items():
        rule = rules.get(name) or _DEFAULT
        for key, text in form_fields(name, item, rule.style, rule.explode):
            yield Part(name=_displayable(key), text=_displayable(text))


def _typed(name: str, member: Json, media_type: str | None) -> Part:
    kind = media_kind(media_type or "text/plain")
    if isinstance(member, (dict, list)) and kind != "json":
        raise NoExample
    if kind in ("json", "xml", "text"):
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
    return path + ("&" if "?" in path else "?") + "&".join(query) if query else path
