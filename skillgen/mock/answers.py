"""What a mock reads from a request, in the types of the schemas, and what it answers, always the same; and its log."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from email import message_from_bytes
from email.message import Message
from operator import itemgetter
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct, field, to_builtins

from skillgen.model import serialization
from skillgen.model.calls import ErrorCase, Output
from skillgen.model.check import unknown
from skillgen.model.schema import Parameter, Schema, Serialization, Types
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.values import Json, child
from skillgen.sources.examples.generator import Generator, NoExample
from skillgen.sources.examples.validation import UNCHECKED, Fault, Validator
from skillgen.sources.json_access import as_dict, json_or_none
from skillgen.sources.json_schema.flatten import Variants
from skillgen.sources.json_schema.merge import ANYTHING

NOTHING_DECLARED = "The call is valid. A mock answers, and the service declares no result."

_MESSAGE_NAMES = ("message", "detail", "error", "error_description", "description", "title", "reason", "msg")
"""Properties of an error that hold its message, the likelier first."""


class Answers:
    """Generates the results of a service; the same call always has the same result."""

    def __init__(self, service: Service) -> None:
        self.validator = Validator(Types.of(service.schemas), is_request=False)
        self._generators = [Generator(self.validator, invents=True, is_complete=full) for full in (True, False)]

    def value(self, output: Output, media_type: str | None = None) -> Json:
        """Returns an example of an output that is valid, else a generated value; null if none was found.

        Examples for another `media_type` do not count.
        """
        found = (item for item in output.examples if media_type is None or item.media_type in (None, media_type))
        values = [item.value.json for item in found]
        if output.schema is not None:
            error_of, schema = self.validator.validation_error, output.schema
            values = [value for value in values if error_of(value, schema) in (None, UNCHECKED)]
            values = values or [self.generated(schema, "result")]
        return next(iter(values), None)

    def generated(self, schema: Schema, name: str) -> Json:
        """Returns a value that a schema allows; null if none was found."""
        for generator in self._generators:  # a value with all optional properties may be too large
            try:
                return generator.generate(schema, name).value
            except NoExample:
                continue
        return None

    def of_tool(self, tool: Tool, arguments: Json) -> tuple[Json, bool]:
        """Returns the result of a call, and whether the service declares what it is like.

        The output of the example with the same arguments is the result, or that of the first example.
        """
        schema = tool.output.schema if tool.output is not None else None
        results = [(item.input != arguments, item.output.json) for item in tool.examples if item.output is not None]
        for _, value in sorted(results, key=itemgetter(0)):
            if schema is None or self.validator.validation_error(value, schema) is None:
                return value, True
        if tool.output is None:
            return NOTHING_DECLARED, False
        return self.value(tool.output), True

    def error(self, output: Output | None, message: str) -> Json:
        """Returns the body of an error: what the output allows, with the message where it has a place for one."""
        if output is None or output.schema is None:
            return {"message": message}
        value = self.value(output)
        for candidate in _with_message(value, message):
            if self.validator.validation_error(candidate, output.schema) is None:
                return candidate
        return value


def error_case(service: Service, tool: Tool, code: str) -> ErrorCase:
    """Returns what is declared of an error: by the tool, else by the service, else for a range such as `4XX`."""
    cases = {case.code: case for case in (*service.errors, *tool.errors)}
    names = (code, f"{code[:1]}XX", f"{code[:1]}xx", "default")
    return next((cases[name] for name in names if name in cases), ErrorCase(code=code))


def _with_message(value: Json, message: str) -> Iterator[Json]:
    if isinstance(value, dict):
        for name in _MESSAGE_NAMES:
            if isinstance(value.get(name), str):
                yield {**value, name: message}
            for inner in _with_message(value[name], message) if isinstance(value.get(name), (dict, list)) else ():
                yield {**value, name: inner}
    elif isinstance(value, list) and value:
        yield from ([inner, *value[1:]] for inner in _with_message(value[0], message))
    elif isinstance(value, str):
        yield message


class LoggedCall(Struct, frozen=True, kw_only=True):
    """A call as it arrived, and what came of it."""

    tool: str | None
    """The name of the tool; `None` if no tool has that name or path."""

    arguments: Json = None
    """The arguments in the form of the tool's input schema; of an unknown tool as they were sent."""

    valid: bool
    """Whether the service would accept them."""

    faults: tuple[Fault, ...] = ()
    status: str | int
    """`ok`, `invalid`, `unknown-tool`, or `error:CODE`; of an API, the HTTP status."""

    request: str | None = None
    """Of an API, the method and the path with its query, without credentials."""


class CallLog:
    """Collects calls, and appends each to a file at once."""

    def __init__(self, path: Path | None = None, *, keeps: bool = False) -> None:
        """Creates the file; with `keeps`, the calls are also in `calls`.

        Raises:
            OSError: it cannot be written.
        """
        self.calls: list[LoggedCall] = []
        self._keeps = keeps
        self._file = open(path, "a", encoding="utf-8") if path is not None else None  # noqa: SIM115

    def add(
        self, tool: str | None, arguments: Json, faults: Iterable[Fault], status: str | int, request: str | None = None
    ) -> None:
        """Records a call; without a tool or with faults it is not valid."""
        found = tuple(faults)
        valid = tool is not None and not found
        call = LoggedCall(tool=tool, arguments=arguments, valid=valid, faults=found, status=status, request=request)
        if self._keeps:
            self.calls.append(call)
        if self._file is not None:
            self._file.write(log_line(call))
            self._file.flush()

    def close(self) -> None:
        """Closes the file."""
        if self._file is not None:
            self._file.close()


def log_line(call: LoggedCall) -> str:
    """Returns a call as a line of a log."""
    members = {key: value for key, value in to_builtins(call).items() if value is not None or key == "tool"}
    return json.dumps(members) + "\n"


_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,18})(?:\.\d{1,20})?(?:[eE][+-]?\d{1,3})?", re.ASCII)
_FIELDS_LIMIT = 10_000

Pairs = Sequence[tuple[str, str]]
"""Names, and values as they were sent."""


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


_CLIENT_HEADERS = ("accept-encoding", "accept-language", "user-agent")
"""Headers that clients send on their own: an optional one that is invalid was not given."""


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
        slots, body_key = tool.parameter_keys()
        decoded = Decoded()
        if request.query.count("&") >= _FIELDS_LIMIT:
            decoded.faults.append(Fault("", f"the query has more than {_FIELDS_LIMIT:,} fields"))
            return decoded
        query = serialization.read_pairs(request.query)
        cookies = serialization.read_pairs(";".join(request.headers.get_all("Cookie", ())), ";")
        names = {item.name for item in slots.values() if item.location == "query"}
        known = set(own)
        for key, parameter in slots.items():
            place, name = parameter.location, parameter.name
            style, explode = _style(parameter)
            if style == serialization.QUERY_STRING:
                sent: Pairs = [(name, request.query)] if request.query else []
                known |= {name for name, _ in query}
            elif place == "header":  # several of one name are one list (RFC 9110, 5.3)
                sent = [(name, ",".join(request.headers.get_all(name, ())))] if name in request.headers else []
            elif place == "path":
                sent = serialization.read_path(name, path[name], style, explode) if name in path else []
            else:
                sent = self._own_pairs(parameter, query if place == "query" else cookies, names)
                known |= {name for name, _ in sent}
            try:
                if sent:
                    value = self._argument(parameter, sent, place)
                    is_own = place == "header" and name.lower() in _CLIENT_HEADERS and not parameter.required
                    if not (is_own and any(self._validator.faults(value, parameter.schema))):
                        decoded.arguments[key] = value
            except ValueError as error:
                decoded.faults.append(Fault(child("", key), str(error)))
        for name in dict.fromkeys(name for name, _ in query if name not in known):
            decoded.faults.append(Fault(child("", name), unknown(name, names)))
        if request.body:
            self._decode_body(tool, request, body_key, decoded)
        return decoded

    # -- parameters --------------------------------------------------------------------------------------------------

    def _own_pairs(self, parameter: Parameter, pairs: Pairs, names: Collection[str]) -> Pairs:
        """Returns the pairs of one parameter; `names` are those of all."""
        name, (style, explode) = parameter.name, _style(parameter)
        if style == "deepObject":
            return [pair for pair in pairs if pair[0].startswith(f"{name}[")]
        own = [pair for pair in pairs if pair[0] == name]
        if own or not explode or "object" not in self._kinds(parameter.schema):
            return own
        flats = list(self._variants.of(parameter.schema))  # of an object, each member is a parameter of its own
        members = {item.name for flat in flats for item in flat.properties}
        is_open = any(flat.additional is not False for flat in flats)
        return [pair for pair in pairs if pair[0] in members or (is_open and pair[0] not in names)]

    def _argument(self, parameter: Parameter, pairs: Pairs, place: str) -> Json:
        """Returns the value of a parameter.

        Raises:
            ValueError: it is not JSON.
        """
        schema, (style, explode) = parameter.schema, _style(parameter)
        texts = [serialization.read_text(place, text, style) for _, text in pairs]
        if pairs[0][0] != parameter.name:
            tree = serialization.read_tree(zip((name for name, _ in pairs), texts, strict=True))
            return self._value(tree.get(parameter.name, {}) if style == "deepObject" else tree, schema)
        rules = parameter.serialization
        if rules is not None and rules.media_type is not None and serialization.is_json(rules.media_type):
            return _json(texts[-1])
        items, members = serialization.read_joined(place, pairs[-1][1], style, explode)
        if place == "header":
            items = [item.strip() for item in items]
        if serialization.are_separate(place, style, explode):
            items = texts
        return self._best(list(self._readings(texts[-1], items, members, schema)), schema)

    def _readings(self, text: str, items: list[str], members: Pairs, schema: Schema) -> Iterator[Json]:
        """Yields what a string means: as a list, as an object, as one value."""
        kinds = self._kinds(schema)
        if "array" in kinds:
            flat = next((flat for flat in self._variants.of(schema) if "array" in flat.types), ANYTHING)
            yield [self._typed(item, _item(flat, index)) for index, item in enumerate(items)]
        if "object" in kinds:
            if text[:1] == "{" and isinstance(value := json_or_none(text), dict):
                yield value
            yield self._value(serialization.read_tree(members), schema)
        if not kinds or kinds - {"array", "object"}:
            yield self._typed(text, schema)

    def _value(self, tree: Json, schema: Schema) -> Json:
        """Returns the value of a tree of names whose leaves are lists of strings."""
        if isinstance(tree, list):
            return self._best(list(self._readings(tree[-1], tree, (), schema)), schema)
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
        """Returns the value of a string in the type that the schema allows; the string where none fits."""
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
        if (form := tool.body_form(base_type)) is None:
            decoded.is_media_type_known = False
            return
        parameters, kind = tool.body_parameters(form), serialization.media_kind(base_type)
        schema = form.schema_of(parameters)
        decoded.opaque = key if kind in ("xml", "file") else None
        try:
            text = _text(request) if kind not in ("multipart", "file") else f"{len(request.body)} bytes"
            if kind == "form" and text.count("&") >= _FIELDS_LIMIT:
                raise ValueError(f"has more than {_FIELDS_LIMIT:,} fields")
            value: Json = text
            if kind == "form":
                value = self._form(serialization.read_pairs(text), parameters, schema, "query")
            elif kind == "multipart":
                pairs, objects = _parts(request)
                value = self._form(pairs, parameters, schema, "body") | objects
            elif kind == "json":
                value = _json(text)
            elif kind in ("lines", "records"):
                value = [_json(line) for line in text.replace("\x1e", "\n").split("\n") if line.strip()]
            elif kind == "text":
                value = self._typed(text, schema)
            decoded.arguments[key] = value
        except ValueError as error:
            decoded.faults.append(Fault(child("", key), str(error)))

    def _form(self, pairs: Pairs, parameters: Sequence[Parameter], schema: Schema, place: str) -> dict[str, Json]:
        """Returns the fields of a form: one with a style is read as a parameter is."""
        styled = dict[str, Json]()
        names = {item.name for item in parameters}
        for parameter in parameters:
            rules = parameter.serialization or Serialization()
            if rules.style is not None or rules.explode is not None:
                own = self._own_pairs(parameter, pairs, names)
                pairs = [pair for pair in pairs if pair not in own]
                if own:
                    styled[parameter.name] = self._argument(parameter, own, place)
        texts = ((name, serialization.read_text(place, text)) for name, text in pairs)
        tree = serialization.read_tree(texts, self._properties(schema)[0].keys())
        return {**as_dict(self._value(tree, schema)), **styled}


def _parts(request: Request) -> tuple[Pairs, dict[str, Json]]:
    """Returns the parts of a multipart body as pairs, and those that are JSON.

    Raises:
        ValueError: it is not such a body.
    """
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
        elif serialization.is_json(part.get_content_type()):
            objects[name] = _json(content.decode("utf-8", "replace"))
        else:
            pairs.append((name, content.decode("utf-8", "replace")))
    return pairs, objects


def _style(parameter: Parameter) -> tuple[str, bool]:
    """Returns the style of a parameter, and whether it is exploded."""
    rules = parameter.serialization or Serialization()
    style = rules.style or ("simple" if parameter.location in ("path", "header") else "form")
    explode = serialization.is_exploded(style, rules.explode)
    return style, explode and (parameter.location != "cookie" or style == "cookie")


def _item(flat: Schema, index: int) -> Schema:
    return flat.prefix_items[index] if index < len(flat.prefix_items) else flat.items or ANYTHING


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
