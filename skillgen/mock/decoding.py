"""Reads the arguments of an operation from an HTTP request: the inverse of how a caller serialises them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from email import message_from_bytes
from email.message import Message
from urllib.parse import parse_qsl, unquote, unquote_plus, urlsplit

from msgspec import Struct, field

from skillgen.calls.arguments import body_form, body_parameters, parameter_keys
from skillgen.model.check import unknown
from skillgen.model.schema import Parameter, Schema
from skillgen.model.schema_json import Types
from skillgen.model.serialization import QUERY_STRING, is_exploded, is_json, is_json_lines, is_json_sequence
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.values import Json, child
from skillgen.sources.examples.validation import Fault, Validator
from skillgen.sources.json_access import as_dict, json_or_none
from skillgen.sources.json_schema.merge import ANYTHING
from skillgen.sources.json_schema.variants import Variants
from skillgen.sources.openapi.media import URL_ENCODED, is_text, is_xml

_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,18})(?:\.\d{1,20})?(?:[eE][+-]?\d{1,3})?", re.ASCII)
_SEPARATORS = {"spaceDelimited": " ", "pipeDelimited": "|", "tabDelimited": "\t"}
_DEEP_KEY = re.compile(r"\[([^\[\]]*)\]")
_FIELDS_LIMIT = 10_000


class Request(Struct, frozen=True):
    """An HTTP request."""

    method: str
    target: str
    """Path and query, as they were sent."""

    headers: Message
    body: bytes

    @property
    def path(self) -> str:
        """The path, also of a request as a proxy gets it."""
        path = self.target.partition("#")[0].partition("?")[0]
        return urlsplit(path).path if path.startswith(("http://", "https://")) else path

    @property
    def query(self) -> str:
        """The query, percent-encoded."""
        return self.target.partition("#")[0].partition("?")[2]


class Decoded(Struct):
    """The arguments of a request, in the form of the tool's input schema."""

    arguments: dict[str, Json] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    """Arguments that cannot be read at all."""

    is_media_type_known: bool = True
    opaque: str | None = None
    """The argument that is there but was not fully read: a body that is neither JSON nor a form nor text."""


class Decoder:
    """Reads arguments for the operations of one service."""

    def __init__(self, service: Service) -> None:
        types = Types.of(service.schemas)
        self._validator = Validator(types, is_request=True)
        self._variants = Variants(types)

    def decode(self, tool: Tool, request: Request, path: Mapping[str, str], own: Collection[str]) -> Decoded:
        """Returns the arguments of a call.

        `path` are the variables of the path, percent-encoded; `own` are names in the query that are not parameters: of
        credentials, and of the path's own query.
        """
        slots, body_key = parameter_keys(tool)
        decoded = Decoded()
        pieces = [pair.partition("=")[::2] for pair in request.query.split("&") if pair]
        if len(pieces) > _FIELDS_LIMIT:
            decoded.faults.append(Fault("", f"the query has more than {_FIELDS_LIMIT:,} fields"))
            return decoded
        pairs = [(unquote_plus(name), text) for name, text in pieces]
        names = {item.name for item in slots.values() if item.location == "query"}
        known = set(own)
        for key, parameter in slots.items():
            sent = self._pairs(parameter, request.headers, path, pairs, names)
            known |= {name for name, _ in sent} if parameter.location == "query" else set()
            try:
                if sent:
                    decoded.arguments[key] = self._argument(parameter, sent, request.query)
            except ValueError as error:
                decoded.faults.append(Fault(child("", key), str(error)))
        for name in dict.fromkeys(name for name, _ in pairs if name not in known):
            decoded.faults.append(Fault(child("", name), unknown(name, names)))
        if request.body:
            self._decode_body(tool, request, body_key, decoded)
        return decoded

    # -- parameters --------------------------------------------------------------------------------------------------

    def _pairs(
        self,
        parameter: Parameter,
        headers: Message,
        path: Mapping[str, str],
        query: list[tuple[str, str]],
        names: set[str],
    ) -> list[tuple[str, str]]:
        """Returns what was sent for a parameter: names, and values in the encoding of their place."""
        name, (style, explode) = parameter.name, _style(parameter)
        if parameter.location == "path":
            return [(name, _without_prefix(path[name], name, style))] if name in path else []
        if parameter.location == "header":  # several of one name are one list (RFC 9110, 5.3)
            return [(name, ",".join(found))] if (found := headers.get_all(name)) else []
        if parameter.location == "cookie":
            return [pair for pair in _cookies(headers) if pair[0] == name]
        if style == QUERY_STRING:
            return query
        if style == "deepObject":
            return [pair for pair in query if pair[0].startswith(f"{name}[")]
        own = [pair for pair in query if pair[0] == name]
        if own or not explode or "object" not in self._kinds(parameter.schema):
            return own
        flats = list(self._variants.of(parameter.schema))  # of an object, each member is a parameter of its own
        members = {item.name for flat in flats for item in flat.properties}
        is_open = any(flat.additional is not False for flat in flats)
        return [pair for pair in query if pair[0] in members or (is_open and pair[0] not in names)]

    def _argument(self, parameter: Parameter, pairs: list[tuple[str, str]], query: str) -> Json:
        """Returns the value of a parameter.

        Raises:
            ValueError: it is not JSON.
        """
        schema, (style, explode) = parameter.schema, _style(parameter)
        place, rules = parameter.location, parameter.serialization
        decode = unquote_plus if place == "query" else str if place == "header" else unquote
        texts = [text for _, text in pairs]
        if style == QUERY_STRING:
            texts = [query]
        elif pairs[0][0] != parameter.name:
            tree = _tree((name, decode(text)) for name, text in pairs)
            return self._value(tree.get(parameter.name, {}) if style == "deepObject" else tree, schema)
        if rules is not None and rules.media_type is not None and is_json(rules.media_type):
            return _json(decode(texts[-1]))
        separator = _SEPARATORS.get(style or "", "." if style == "label" and explode else ",")
        if place in ("query", "path") and separator in ",.":  # within an item it is encoded; others are themselves
            pieces = list(map(decode, texts[-1].split(separator)))
        else:
            pieces = decode(texts[-1]).split(separator)
        is_repeated = explode and place in ("query", "cookie")
        texts = list(map(decode, texts))
        return self._best(list(self._readings(texts, schema, pieces, is_repeated=is_repeated, explode=explode)), schema)

    def _readings(
        self, texts: list[str], schema: Schema, pieces: list[str], *, is_repeated: bool, explode: bool
    ) -> Iterator[Json]:
        """Yields what texts mean: as a list, as an object, as one value; `pieces` are those of the last text."""
        kinds = self._kinds(schema)
        if "array" in kinds:
            items = texts if is_repeated else pieces if texts[-1] else []
            flat = next((flat for flat in self._variants.of(schema) if "array" in flat.types), ANYTHING)
            yield [self._typed(item.strip(), _item(flat, index)) for index, item in enumerate(items)]
        if "object" in kinds:
            if explode:
                members = [piece.partition("=")[::2] for piece in pieces]
            else:
                members = list(zip(pieces[::2], pieces[1::2], strict=False))
            yield self._value(_tree(members), schema)
        if not kinds or kinds - {"array", "object"}:
            yield self._typed(texts[-1], schema)

    def _value(self, tree: Json, schema: Schema) -> Json:
        """Returns the value of a tree of names whose leaves are lists of texts."""
        if isinstance(tree, list):
            readings = self._readings(tree, schema, tree[-1].split(","), is_repeated=True, explode=True)
            return self._best(list(readings), schema)
        if list(tree) == [""]:
            return self._value(tree[""], schema)
        if tree and all(map(str.isdecimal, tree)) and "array" in self._kinds(schema):
            flat = next(flat for flat in self._variants.of(schema) if "array" in flat.types)
            return [self._value(part, _item(flat, index)) for index, part in enumerate(tree.values())]
        schemas, extra = self._properties(schema)
        return {name: self._value(part, schemas.get(name, extra)) for name, part in tree.items()}

    def _properties(self, schema: Schema) -> tuple[dict[str, Schema], Schema]:
        """Returns the schemas of the properties of an object, and that of any other."""
        flat = next((flat for flat in self._variants.of(schema) if flat.properties), ANYTHING)
        extra = flat.additional if isinstance(flat.additional, Schema) else ANYTHING
        return {item.name: item.schema for item in flat.properties}, extra

    def _typed(self, text: str, schema: Schema) -> Json:
        """Returns the value of a text in the type that the schema allows; the text where none fits."""
        kinds, readings = self._kinds(schema), list[Json]()
        if (not kinds or kinds & {"integer", "number"}) and _NUMBER.fullmatch(text):
            readings.append(json_or_none(text))
        if (not kinds or "boolean" in kinds) and text in ("true", "false"):
            readings.append(text == "true")
        if kinds & {"array", "object"} and text[:1] in ("[", "{"):
            readings.append(json_or_none(text))
        if text in ("", "null") and any(flat.nullable for flat in self._variants.of(schema)):
            readings.append(None)
        if not kinds:
            readings.insert(0, text)
        return self._best([*readings, text], schema)

    def _kinds(self, schema: Schema) -> set[str]:
        return {kind for flat in self._variants.of(schema) for kind in flat.types}

    def _best(self, readings: Sequence[Json], schema: Schema) -> Json:
        """Returns the first reading that the schema allows, else the first."""
        valid = (value for value in readings if self._validator.validation_error(value, schema) is None)
        return next(valid, readings[0])

    # -- body --------------------------------------------------------------------------------------------------------

    def _decode_body(self, tool: Tool, request: Request, key: str, decoded: Decoded) -> None:
        if tool.input is None:
            return  # it takes no body: servers ignore one
        base_type = request.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        if (form := body_form(tool, base_type)) is None:
            decoded.is_media_type_known = False
            return
        schema = form.schema_of(body_parameters(tool, form))
        try:
            if base_type == URL_ENCODED:
                pairs = parse_qsl(_text(request), keep_blank_values=True, max_num_fields=_FIELDS_LIMIT)
                decoded.arguments[key] = self._form(pairs, schema)
            elif base_type.startswith("multipart/"):
                decoded.arguments[key] = self._multipart(request, schema)
            elif is_json(base_type):
                decoded.arguments[key] = _json(_text(request))
            elif is_json_lines(base_type) or is_json_sequence(base_type):
                lines = _text(request).replace("\x1e", "\n").splitlines()
                decoded.arguments[key] = [_json(line) for line in lines if line.strip()]
            elif is_xml(base_type):
                decoded.arguments[key] = _text(request)
                decoded.opaque = key
            elif is_text(base_type):
                decoded.arguments[key] = _text(request)
            else:
                decoded.arguments[key] = f"{len(request.body)} bytes"
                decoded.opaque = key
        except ValueError as error:
            decoded.faults.append(Fault(child("", key), str(error)))

    def _form(self, pairs: Sequence[tuple[str, str]], schema: Schema) -> Json:
        return self._value(_tree(pairs, self._properties(schema)[0].keys()), schema)

    def _multipart(self, request: Request, schema: Schema) -> Json:
        head = b"Content-Type: " + request.headers.get("Content-Type", "").encode("latin-1", "replace") + b"\r\n\r\n"
        message = message_from_bytes(head + request.body)
        parts = message.get_payload()
        if not isinstance(parts, list) and request.body.strip() == f"--{message.get_boundary()}--".encode():
            parts = []
        if not isinstance(parts, list):
            raise ValueError("is not a multipart body: its boundary is missing")
        pairs: list[tuple[str, str]] = []
        objects: dict[str, Json] = {}
        for part in (item for item in parts if isinstance(item, Message)):
            name = part.get_param("name", header="content-disposition")
            content = part.get_payload(decode=True)
            if not isinstance(name, str) or not isinstance(content, bytes):
                raise ValueError("has a part without a name")
            if (filename := part.get_filename()) is not None:
                pairs.append((name, filename))
            elif is_json(part.get_content_type()):
                objects[name] = _json(content.decode("utf-8", "replace"))
            else:
                pairs.append((name, content.decode("utf-8", "replace")))
        return as_dict(self._form(pairs, schema)) | objects


def _tree(pairs: Iterable[tuple[str, str]], whole: Collection[str] = ()) -> dict[str, Json]:
    """Returns names and texts as a tree whose leaves are lists of texts: `name[a][]` is two levels below `name`.

    Names that are in `whole` have no such parts.
    """
    root: dict[str, Json] = {}
    for key, text in pairs:
        name, parts = key.partition("[")[0], _DEEP_KEY.findall(key)
        if key in whole or not name or key != name + "".join(f"[{part}]" for part in parts):
            name, parts = key, []
        place: Json = root
        for part in (name, *parts[:-1]) if parts else ():
            place = place.setdefault(part, {}) if isinstance(place, dict) else None
        last = parts[-1] if parts else name
        if isinstance(place, dict) and isinstance(leaf := place.setdefault(last, []), list):
            leaf.append(text)
    return root


def _style(parameter: Parameter) -> tuple[str | None, bool]:
    """Returns the declared style of a parameter, and whether it is exploded."""
    rules = parameter.serialization
    style = rules.style if rules is not None else None
    default = "form" if parameter.location in ("query", "cookie") else "simple"
    return style, is_exploded(style or default, rules.explode if rules is not None else None)


def _item(flat: Schema, index: int) -> Schema:
    return flat.prefix_items[index] if index < len(flat.prefix_items) else flat.items or ANYTHING


def _without_prefix(text: str, name: str, style: str | None) -> str:
    if style == "label":
        return text.removeprefix(".")
    return text.removeprefix(f";{name}=").removeprefix(";") if style == "matrix" else text


def _cookies(headers: Message) -> Iterator[tuple[str, str]]:
    for header in headers.get_all("Cookie") or ():
        for pair in header.split(";"):
            key, _, text = pair.strip().partition("=")
            yield key, text


def _text(request: Request) -> str:
    try:
        return request.body.decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError("is not UTF-8") from None


def _json(text: str) -> Json:
    value = json_or_none(text)
    if value is None and text.strip() != "null":
        raise ValueError("is not JSON")
    return value
