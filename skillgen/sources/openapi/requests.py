"""One request for each operation that can be sent as it stands, of declared values or of made ones."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain, islice

from skillgen.errors import ProblemLog
from skillgen.model.exchange import Example, Request
from skillgen.model.pointer import child
from skillgen.model.schema import Parameter
from skillgen.model.value import Json
from skillgen.model.wire import (
    QUERY_STRING,
    cookie_text,
    encoded,
    header_text,
    is_exploded,
    path_segment,
    query_pairs,
    text_of_value,
)
from skillgen.sources.examples.calls import MADE
from skillgen.sources.examples.flat_schemas import NoExample
from skillgen.sources.examples.maker import Made, Maker
from skillgen.sources.examples.strings import placeholder
from skillgen.sources.examples.validity import Validity
from skillgen.sources.guards import as_dict, text_of
from skillgen.sources.openapi.bodies import Body
from skillgen.sources.openapi.dialect import dialect_of
from skillgen.sources.openapi.media import declared_examples, media_type_object, preferred_first, whole_schema
from skillgen.sources.openapi.parameters import TEMPLATE_VARIABLE, input_keys
from skillgen.sources.openapi.request_bodies import BodyMaker, SentBody
from skillgen.sources.openapi.resolver import Resolver
from skillgen.sources.openapi.security import SCHEMES, Ways
from skillgen.sources.openapi.serialization import SKIP_ENCODING

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
    is_made: bool = False


class RequestMaker:
    """Makes the requests of one description; a parameter that operations share is made once."""

    def __init__(self, document: dict[str, Json], resolver: Resolver, problems: ProblemLog) -> None:
        self._problems = problems
        self._resolver = resolver
        self._document = document
        self._maker, self._bodies = self._makers()
        self._schemes = as_dict(as_dict(document.get("components")).get("securitySchemes"))
        self._values: dict[tuple[str, str], Made | NoExample] = {}

    def examples(
        self,
        *,
        method: str,
        path: str,
        parameters: tuple[Parameter, ...],
        declared: dict[str, dict[str, Json]],
        body: Body,
        ways: Ways | None,
        pointer: str,
    ) -> tuple[Example, ...]:
        """Returns the requests that the source shows, else one that is made; reports where none can be.

        `declared` has the parameters as the document has them, by pointer; `ways` are those to authenticate.
        """
        auth = self._auth(ways)
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
        is_made = parts.is_made or (sent is not None and sent.is_made)
        return Example(
            input=arguments,
            name=sent.shown.name if sent is not None and sent.shown is not None else None,
            description="; ".join(_remarks(sent)) or None,
            request=request,
            origins=MADE if is_made else None,
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
            parts.is_made |= made.is_made
            self._place_value(parts, parameter, raw, made.value)
        return parts

    def _value(self, parameter: Parameter, raw: dict[str, Json]) -> Made:
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

    def _made(self, parameter: Parameter, raw: dict[str, Json]) -> Made:
        pointer = parameter.pointer
        schema, schema_pointer, owner, owner_pointer = raw.get("schema"), child(pointer, "schema"), raw, pointer
        if schema is None:
            for media_type in preferred_first(as_dict(raw.get("content")))[:1]:
                owner_pointer = child(pointer, "content", media_type)
                media = as_dict(raw["content"]).get(media_type)
                owner, owner_pointer = media_type_object(media, owner_pointer, self._resolver)
                schema, schema_pointer = whole_schema(owner), child(owner_pointer, "schema")
        examples = declared_examples(raw, pointer, self._resolver)
        if owner is not raw:
            examples = chain(examples, declared_examples(owner, owner_pointer, self._resolver))
        found = [(example.value, example.pointer) for example in islice(examples, DECLARED_LIMIT)]
        # An object that says nothing would leave no trace in the request.
        made = self._maker.made_meaningful(
            {} if schema is None else schema, parameter.name, schema_pointer, declared=found
        )
        if parameter.location == "path" and made.value in ("", ".", ".."):
            return Made(placeholder(parameter.name), True)
        if parameter.location == "path" and made.value in ([], [""]):
            return Made([placeholder(parameter.name)], True)
        return made

    def _place_value(self, parts: _Parts, parameter: Parameter, raw: dict[str, Json], value: Json) -> None:
        name = parameter.name
        style = text_of(raw, "style") or ("simple" if parameter.location in ("path", "header") else "form")
        explode = is_exploded(style, raw.get("explode"))
        if raw.get("schema") is None and "content" in raw and not isinstance(value, str):
            value = text_of_value(value)
        if parameter.location == "path":
            parts.path[name] = path_segment(name, value, style, explode, raw.get(SKIP_ENCODING) is True)
        elif style == QUERY_STRING:
            parts.query.append(encoded(text_of_value(value)))
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

    def _makers(self, *, is_open: bool = False) -> tuple[Maker, BodyMaker]:
        validity = Validity(self._document, dialect_of(self._document), is_open=is_open)
        maker = Maker(validity, partial(_report, self._problems), is_request=True)
        return maker, BodyMaker(maker, validity, self._resolver)

    @cached_property
    def _open_bodies(self) -> BodyMaker:
        """Makes bodies of types that forbid what they are extended by: no value fits those as they are written."""
        return self._makers(is_open=True)[1]

    def _auth(self, ways: Ways | None) -> tuple[str, ...]:
        """Gives the schemes of the first requirement that can be met (OpenAPI 3.1, "Security Requirement Object")."""
        found = (tuple(credential.scheme for credential in way) for way in ways or ())
        return next((names for names in found if all(isinstance(self._schemes.get(name), dict) for name in names)), ())

    def _place(self, name: str) -> tuple[str, str]:
        scheme, _ = self._resolver.resolved(self._schemes[name], child(SCHEMES, name))
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
    path = encoded(next(pieces), _PATH_SIGNS)
    if not template.startswith(("/", "?")):  # reported; as it stands it would run into the address before it
        path = "/" + path
    for name in pieces:
        path += values.get(name, encoded(placeholder(name))) + encoded(next(pieces), _PATH_SIGNS)
    if not query:
        return path
    return path + ("&" if "?" in path else "?") + "&".join(query)
