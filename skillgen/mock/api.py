"""Answers the requests of an API from its description: routing, credentials, arguments, statuses, media types."""

from __future__ import annotations

import json
import re
import shlex
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from email.message import Message
from fnmatch import fnmatchcase
from typing import NoReturn
from urllib.parse import parse_qsl, quote, quote_plus, urlsplit

from msgspec import Struct

from skillgen.mock.answers import Answers, CallLog, Decoded, Decoder, Request, error_case
from skillgen.model import serialization
from skillgen.model.auth import Auth
from skillgen.model.calls import Output
from skillgen.model.schema import Types
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.values import Json
from skillgen.sources.examples.validation import Fault, Validator
from skillgen.sources.openapi.requests import EXPANSIONS, TEMPLATE_VARIABLE
from skillgen.sources.openapi.responses import CONCRETE_MEDIA_TYPE, CONCRETE_MEDIA_TYPES

_BYTES = b"mock"
"""Content of a file."""

_OWN_HEADERS = ("connection", "content-encoding", "content-length", "content-type", "date", "transfer-encoding")
"""Headers that follow from the body and the connection, whatever is declared."""

_WITHOUT_BODY = (204, 205, 304)


class Response(Struct, frozen=True):
    """An HTTP response."""

    status: int
    headers: dict[str, str] = {}
    body: bytes = b""


class ApiMock:
    """An HTTP API without a service behind it."""

    def __init__(self, service: Service, *, log: CallLog) -> None:
        self._service = service
        self._routes: list[Route] = []
        for tool in (tool for tool in service.tools if tool.method is not None):
            path, _, query = _template(tool).partition("#")[0].partition("?")
            constants = tuple(parse_qsl(TEMPLATE_VARIABLE.sub("", query)))
            self._routes += [Route(tool, f"{base}/{path.lstrip('/')}", constants) for base in base_paths(service, tool)]
        self._decoder = Decoder(service)
        self.validator = Validator(Types.of(service.schemas), is_request=True, is_strict=True)
        self._answers = Answers(service)
        self._log = log
        self._schemes: dict[str | None, list[Auth]] = {}
        for auth in service.requirements.auth:
            self._schemes.setdefault(auth.name, []).append(auth)
        places = [auth.sent_as or "" for auth in service.requirements.auth]
        self._query_credentials = {place[6:] for place in places if place.startswith("query ")}

    def respond(self, request: Request) -> Response:
        """Returns the response to a request."""
        matches = self._matches(request.path, request.query)
        methods = list(dict.fromkeys(route.tool.method or "" for route, _ in matches))
        method = "GET" if request.method == "HEAD" and "HEAD" not in methods else request.method
        matches = [match for match in matches if match[0].tool.method == method]
        if not matches:
            other = f"{request.method} is not a method of {request.path}"
            status, message = (405, other) if methods else (404, "no such path")
            self._record(None, None, [Fault("", message)], status, request)
            return json_response(status, {"message": message}, {"Allow": ", ".join(methods)} if methods else {})
        checked = []
        for route, values in matches:
            if route.shape == matches[0][0].shape:
                own = {*self._query_credentials, *(name for name, _ in route.query)}
                found = self._decoder.decode(route.tool, request, values, own)
                checked.append((route.tool, found, self._argument_faults(route.tool, found, request)))
        # Operations that differ only in the query or the fragment of their path: the one that the arguments fit.
        tool, found, faults = next((item for item in checked if not item[2]), checked[0])
        return self._answer(tool, found, faults, request)

    def _matches(self, path: str, query: str) -> list[tuple[Route, dict[str, str]]]:
        """Returns the routes of a path, whatever their method, the best first: each with its variables, encoded."""
        sent = set(parse_qsl(query, keep_blank_values=True))
        pairs = ((route, variables_in(path, route.path)) for route in self._routes if sent.issuperset(route.query))
        found = [(route, values) for route, values in pairs if values is not None]
        found.sort(key=lambda match: match[0].rank)
        # A path without variables is matched before any template, whatever the methods of either.
        is_concrete = bool(found) and "{" not in found[0][0].path
        return [match for match in found if not (is_concrete and "{" in match[0].path)]

    def _answer(self, tool: Tool, found: Decoded, faults: list[Fault], request: Request) -> Response:
        outputs, headers = _successes(tool), dict[str, str]()
        output, media_type = _negotiated(outputs, request.headers)
        if (missing := self._missing_credentials(tool, request)) is not None:
            status, message = 401, f"credentials are missing: {missing}"
            headers["WWW-Authenticate"] = "Basic" if missing.endswith("Basic") else "Bearer"
            faults = [Fault("", message)]
        elif not found.is_media_type_known:
            status, message = 415, f"the media type of the body is not one of {', '.join(tool.input_media_types)}"
            faults = [Fault("", message)]
        elif faults:
            message = "; ".join(map(str, faults))
            status = next((code for code in (400, 422) if any(error.code == str(code) for error in tool.errors)), 400)
        elif outputs and output is None:
            names = ", ".join(dict.fromkeys(name for item in outputs for name in item.media_types))
            status, message, faults = 406, f"the response is one of {names}", [Fault("", "")]
        else:
            status = _status(output, tool)
            self._record(tool, found.arguments, [], status, request)
            headers |= self._headers(output, status) if output is not None else {}
            if output is None or media_type is None or status in _WITHOUT_BODY:
                return Response(status, headers)
            headers["Content-Type"] = concrete = _concrete(media_type)
            return Response(status, headers, self._written(self._answers.value(output, media_type), concrete))
        self._record(tool, found.arguments, faults, status, request)
        return self._refusal(tool, status, message, headers)

    def _argument_faults(self, tool: Tool, found: Decoded, request: Request) -> list[Fault]:
        media_type = request.headers.get_content_type() if request.body else None
        unread = {fault.pointer for fault in found.faults}
        faults = self.validator.faults(found.arguments, tool.arguments_schema(media_type))
        own = (fault for fault in faults if found.opaque is None or fault.pointer.split("/")[1:2] != [found.opaque])
        return [*found.faults, *(fault for fault in own if fault.pointer not in unread)]

    # -- credentials -------------------------------------------------------------------------------------------------

    def _missing_credentials(self, tool: Tool, request: Request) -> str | None:
        """Returns the credentials of the first alternative if none of the alternatives was sent."""
        missing = []
        for alternative in tool.auth or ():
            needed = [items for item in alternative if (items := self._schemes.get(item.scheme))]
            unsent = [items[0] for items in needed if not any(_is_sent(auth, request) for auth in items)]
            missing.append(" and ".join(auth.sent_as or "Authorization: Bearer" for auth in unsent))
        return missing[0] if missing and all(missing) else None

    # -- responses ---------------------------------------------------------------------------------------------------

    def _refusal(self, tool: Tool, status: int, message: str, headers: dict[str, str]) -> Response:
        case = error_case(self._service, tool, str(status))
        outputs = (item for item in (case.output, *case.other_outputs) if item is not None)
        found = ((item, name) for item in outputs for name in item.media_types if serialization.is_json(name))
        output, media_type = next(found, (None, "application/json"))
        return json_response(status, self._answers.error(output, message), headers, media_type)

    def _headers(self, output: Output, status: int) -> Iterator[tuple[str, str]]:
        """Yields the declared headers that can be sent; a redirection always has its target."""
        names = set[str]()
        for header in output.headers:
            value = self._answers.generated(header.schema, header.name)
            text = serialization.header_text(value)
            is_sendable = text.isascii() and text.isprintable() and header.name.isascii()
            if value is not None and is_sendable and header.name.lower() not in _OWN_HEADERS:
                names.add(header.name.lower())
                yield header.name, text
        if 300 <= status < 400 and "location" not in names:
            yield "Location", "/"

    def _written(self, value: Json, media_type: str) -> bytes:
        """Returns a value as the body of a response."""
        kind = serialization.media_kind(media_type)
        if kind == "json":
            return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
        items = value if isinstance(value, list) else [value]
        if kind in ("lines", "records"):
            return serialization.sequence_text(items, "\x1e" * (kind == "records")).encode("utf-8", "replace")
        if serialization.essence_of(media_type) == "text/event-stream":
            return "".join(f"data: {json.dumps(item)}\n\n" for item in items).encode()
        if kind == "xml" and not isinstance(value, str):
            return b"<result/>"
        return serialization.value_text(value).encode("utf-8", "replace") if kind in ("xml", "text") else _BYTES

    def _record(
        self, tool: Tool | None, arguments: Json, faults: Sequence[Fault], status: int, request: Request
    ) -> None:
        """Logs a request, without the values of credentials."""
        path, mark, query = request.target.partition("?")
        pairs = [(pair, pair.partition("=")[0]) for pair in query.split("&")]
        shown = "&".join(f"{name}=…" if name in self._query_credentials else pair for pair, name in pairs)
        target = f"{request.method} {path}{mark}{shown}"
        self._log.add(tool.name if tool is not None else None, arguments, faults, status, target)


def _is_sent(auth: Auth, request: Request) -> bool:
    """True if a request has a credential; also if its place is not known."""
    where, _, name = (auth.sent_as or "").partition(" ")
    if where == "header":
        return bool(request.headers.get(name, "").strip())
    if where == "query":
        return any(key == name and text for key, text in parse_qsl(request.query))
    if where == "cookie":
        cookies = ";".join(request.headers.get_all("Cookie") or ()).split(";")
        return any(pair.strip().startswith(f"{name}=") for pair in cookies)
    sent, prefix = request.headers.get("Authorization", "").strip().lower(), auth.prefix.lower()
    return auth.field != "header authorization" or (sent.startswith(prefix) and len(sent) > len(prefix))


def _successes(tool: Tool) -> list[Output]:
    """Returns the outputs of the best status: the first from 200 to 299, else the first there is."""
    outputs = [item for item in (tool.output, *tool.other_outputs) if item is not None]
    good = [item for item in outputs if (item.status or "2").startswith(("2", "default"))] or outputs
    return [item for item in good if item.status == good[0].status] if good else []


def _status(output: Output | None, tool: Tool) -> int:
    text = (output.status if output is not None else None) or "200"
    if text.isascii() and text.isdigit() and 200 <= int(text) <= 399:
        return int(text)
    return int(text[0]) * 100 if text[:1] in ("2", "3") and text[1:].upper() == "XX" else 200


def _negotiated(outputs: Sequence[Output], headers: Message) -> tuple[Output | None, str | None]:
    """Returns the output and the media type that the client accepts most, JSON first; `None` if it accepts none."""
    offers = [(item, name) for item in outputs for name in item.media_types]
    offers.sort(key=lambda offer: not serialization.is_json(offer[1]))
    if not offers:
        return (outputs[0] if outputs else None), None
    accepted = ",".join(headers.get_all("Accept") or ("*/*",)).lower().split(",")
    qualities = [(part.partition(";")[0].strip(), _QUALITY.search(part)) for part in accepted]
    ranked = [(float(quality[1]) if quality is not None else 1.0, name) for name, quality in qualities]
    for value, name in sorted(ranked, key=lambda each: -each[0]):
        for output, offer in offers if value > 0 else ():
            if fnmatchcase(serialization.essence_of(_concrete(offer)), name):
                return output, offer
    return None, None


_QUALITY = re.compile(r";\s*q=([01](?:\.\d{0,3})?)\s*(?:;|$)")


def _concrete(media_type: str) -> str:
    """Returns a media type that can be sent, for a range too."""
    name = CONCRETE_MEDIA_TYPES.get(media_type, media_type)
    other = "application/json" if "*" in name else "application/octet-stream"
    return name if CONCRETE_MEDIA_TYPE.match(name) else other


def json_response(
    status: int, body: Json, headers: Mapping[str, str] | None = None, media_type: str = "application/json"
) -> Response:
    """Returns a response with JSON as its body."""
    return Response(status, {**(headers or {}), "Content-Type": media_type}, json.dumps(body).encode())


# -- commands ----------------------------------------------------------------------------------------------------------

_VARIABLE = re.compile(r"\$\{?[A-Za-z_]\w*\}?")
_BOUNDARY = "skillgen-part"

_FLAGS = (
    "-G --get", "-I --head", "-L --location", "-N --no-buffer", "-S --show-error", "-f --fail", "-g --globoff",
    "-i --include", "-k --insecure", "-s --silent", "-v --verbose", "--compressed", "--digest",
)  # fmt: skip
_VALUES = (
    "-X --request", "-u --user", "-A --user-agent", "-c --cookie-jar", "-m --max-time", "-o --output",
    "-w --write-out", "--cert", "--connect-timeout", "--key", "--retry",
)  # fmt: skip
_LISTS = (
    "-H --header", "-b --cookie", "-d --data --data-ascii --data-binary", "--data-raw", "--data-urlencode", "--json",
    "-F --form", "--form-string",
)  # fmt: skip


class _CurlParser(ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ValueError(message)


_CURL = _CurlParser(add_help=False, allow_abbrev=False)
_CURL.add_argument("url")
for _names in _FLAGS:
    _CURL.add_argument(*_names.split(), action="store_true")
for _names in _VALUES:
    _CURL.add_argument(*_names.split(), default="")
for _names in _LISTS:
    _CURL.add_argument(*_names.split(), action="append", default=[])


def request_of_command(text: str) -> Request:
    """Returns the request that a `curl` command of the documents sends; a variable and a file have any content.

    Raises:
        ValueError: it is not such a command.
    """
    words = shlex.split(text.replace("\\\n", " "))
    piped = b""
    if "|" in words:
        before, words = words[: words.index("|")], words[words.index("|") + 1 :]
        piped = "".join(f"\x1e{word}\n" for word in before[2:]).encode()
    return request_of_words(words, piped)


def request_of_words(words: Sequence[str], piped: bytes = b"") -> Request:
    """Returns the request that the words of a `curl` command send.

    Raises:
        ValueError: they are not such a command.
    """
    if words[:1] != ["curl"]:
        raise ValueError("it is not a curl command")
    sent = _CURL.parse_args(words[1:])
    url = _VARIABLE.sub("x", re.sub(r"\A\$\{?\w+\}?", "http://x", sent.url))  # a base URL may be a variable
    headers = Message()
    for line in (*sent.header, *(f"Cookie: {text}" for text in sent.cookie)):
        name, _, content = _VARIABLE.sub("x", line).partition(":")
        headers[name.rstrip(";").strip()] = content.strip()
    if sent.user:
        headers["Authorization"] = "Basic eDp4"
    if sent.json:
        headers["Content-Type"] = "application/json"
    given = [*sent.data, *sent.json]
    data = [*(item for item in given if not item.startswith("@")), *sent.data_raw]
    for value in sent.data_urlencode:
        name, content = re.split("[=@]", f"{value}=", maxsplit=1)
        data.append(f"{name}={quote_plus(content[:-1])}")
    if sent.get and data:
        url, data = f"{url}{'&' if '?' in url else '?'}{'&'.join(data)}", []
    body = "&".join(data).encode() or (piped if "@-" in given else b"content" if len(given) > len(data) else b"")
    if data and "Content-Type" not in headers:
        headers["Content-Type"] = "application/x-www-form-urlencoded"
    if parts := [*map(_part, sent.form), *((*value.partition("=")[::2], None) for value in sent.form_string)]:
        body = b"".join(_written(*part) for part in parts) + f"--{_BOUNDARY}--\r\n".encode()
        del headers["Content-Type"]
        headers["Content-Type"] = f"multipart/form-data; boundary={_BOUNDARY}"
    address = urlsplit(url)
    target = (address.path or "/") + (f"?{address.query}" if address.query else "")
    method = sent.request or ("HEAD" if sent.head else "POST" if body or data else "GET")
    return Request(method, target, headers, body)


def _part(value: str) -> tuple[str, str, str | None]:
    name, _, content = value.partition("=")
    content, _, media_type = content.rpartition(";type=") if ";type=" in content else (content, "", "")
    if content.startswith('"') and content.endswith('"') and len(content) > 1:
        content = re.sub(r"\\(.)", r"\1", content[1:-1])
    return name, content, media_type or None


def _written(name: str, content: str, media_type: str | None) -> bytes:
    is_file = content.startswith("@")
    file = '; filename="FILE"' if is_file else ""
    typed = f"Content-Type: {media_type}\r\n" if media_type else ""
    head = f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"{file}\r\n{typed}\r\n'
    return f"{head}{'content' if is_file else content}\r\n".encode()


_WITH_SLASHES = ("+", "/")
"""Operators of variables whose value may have several segments (RFC 6570)."""


class Route(Struct, frozen=True):
    """An operation at one of its addresses."""

    tool: Tool
    path: str
    """The template of its path, with that of the base URL."""

    query: tuple[tuple[str, str], ...]
    """Parts of the query that the template holds."""

    @property
    def shape(self) -> str:
        """Its path without the names of its variables."""
        return TEMPLATE_VARIABLE.sub("{}", self.path)

    @property
    def rank(self) -> tuple[int, int, int]:
        """Its place among several that match: concrete paths come first (OpenAPI 3.1, "Paths Object")."""
        return self.path.count("{"), -len(self.path), -len(self.query)


def _template(tool: Tool) -> str:
    """Returns the path of an operation, percent-encoded, in which `+` marks the variables whose values are not."""
    sent = ((item.name, item.serialization) for item in tool.parameters if item.location == "path")
    reserved = {name for name, rules in sent if rules is not None and rules.allow_reserved}
    pieces = TEMPLATE_VARIABLE.split(tool.path or "")
    pieces[::2] = [quote(literal, safe="/-._~:@,;=+&%()*?!$'#") for literal in pieces[::2]]
    pieces[1::2] = [f"{{+{name}}}" if name in reserved else f"{{{name}}}" for name in pieces[1::2]]
    return "".join(pieces)


def base_paths(service: Service, tool: Tool | None = None) -> list[str]:
    """Returns the paths of the base URLs, without a slash at the end; those with variables in braces are templates."""
    endpoints = (tool.endpoints if tool is not None else ()) or service.endpoints
    paths = []
    for url in (url for endpoint in endpoints for url in (endpoint.url, endpoint.template or endpoint.url)):
        with suppress(ValueError):
            paths.append(urlsplit(f"//{url}" if url.startswith("{") else url).path.rstrip("/"))
    return list(dict.fromkeys(paths)) or [""]


def variables_in(text: str, template: str, operators: tuple[str, ...] = _WITH_SLASHES) -> dict[str, str] | None:
    """Returns the variables of a template in a text; `None` if it is not of that template.

    Values of variables with these operators may have slashes. A value ends where the next literal begins, so that the
    time grows with the length of the text alone.
    """
    if not text.startswith(template.partition("{")[0]):
        return None
    values: dict[str, str] = {}
    first, *pieces = TEMPLATE_VARIABLE.split(template)
    start, end = len(first), len(text)
    for index in range(0, len(pieces), 2):
        name, literal = pieces[index : index + 2]
        is_long, least = name.startswith(operators), start + (name[:1] not in EXPANSIONS)
        if index == len(pieces) - 2:
            end = len(text) - len(literal) if text.endswith(literal) else -1
        else:
            end = text.rfind(literal, least) if is_long else text.find(literal, least)
        value = text[start:end]
        if end < least or ("/" in value and not is_long):
            return None
        operator = name[0] if name[:1] in EXPANSIONS else ""
        if value:
            values |= dict.fromkeys((name, name[len(operator) :]), value.removeprefix(EXPANSIONS.get(operator, "")))
        start = end + len(literal)
    return values if start == len(text) else None
