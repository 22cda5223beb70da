"""An HTTP request as a `curl` command: what a source says is quoted exactly, what is secret is a variable.

Nothing of a source stands outside quotes. Between single quotes a shell takes every sign as it is; between double
quotes stand addresses, percent-encoded, and the variables. `curl` itself would read a file for `@` and `<`, or take
`[` and `{` for a list of addresses; those never stand where it looks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from urllib.parse import quote

from skillgen.markdown.filters import exact_json_text
from skillgen.model.exchange import Part, Request
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.value import Json
from skillgen.model.wire import is_of_records
from skillgen.render.credentials import ADDRESS_VARIABLE, Credential, variable
from skillgen.render.examples import example_json

LINE_LIMIT = 100
"""Characters of a command that stands on one line."""

FORM = "application/x-www-form-urlencoded"
MULTIPART_FORM = "multipart/form-data"

_JSON = re.compile(r"(?:.*[/+])?json\s*(?:;|\Z)", re.IGNORECASE)
_BEARERS = ("oauth2", "openIdConnect", "bearer")
_HEADER_NAME = re.compile(r"[A-Za-z0-9_.-]+\Z")
_PLAIN_COOKIES = re.compile(r"[A-Za-z0-9%._~,=:; -]*\Z")
_URL_SIGNS = "/-._~:@&=+,;%*()"


def curl_command(tool: Tool, request: Request, service: Service, known: Mapping[str, Credential]) -> str:
    """Returns the command, on one line where it is short, else an option to a line.

    `known` are the credentials of all examples of the service.
    """
    used = [known[name] for name in request.auth if name in known]
    parts = [_address(tool, request, service, used), *_options(request, used)]
    method = tool.method or "GET"
    start = "curl"
    if method == "HEAD":
        start = "curl -I"
    elif method != ("POST" if request.media_type is not None else "GET"):
        start = f"curl -X {method}" if re.match(r"[A-Z]+\Z", method) else f"curl -X {_quoted(method)}"
    if request.body is not None and is_of_records(request.media_type or ""):
        start = f"printf '\\036%s\\n' {_records(request.body.json)} | {start}"  # what cannot be seen is made
    line = " ".join((start, *parts))
    if len(line) <= LINE_LIMIT and "\n" not in line:
        return line
    return " \\\n  ".join((f"{start} {parts[0]}", *parts[1:]))


def _address(tool: Tool, request: Request, service: Service, used: list[Credential]) -> str:
    """Gives the address in double quotes; where the base is not known, a variable stands for it."""
    endpoint = next(iter(tool.endpoints or service.endpoints), None)
    base = endpoint.url.rstrip("/") if endpoint is not None else ""
    if not base.startswith(("http://", "https://")):
        base = f"${variable(service, 'BASE_URL')}{_encoded(base) if base.startswith('/') else ''}"
    else:
        pieces = ADDRESS_VARIABLE.split(base)
        base = _encoded(pieces[0])
        for name, rest in zip(pieces[1::2], pieces[2::2], strict=True):
            base += f"${{{variable(service, name)}}}{_encoded(rest)}"
    path = request.path
    for credential in used:
        place, _, name = (credential.auth.sent_as or "").partition(" ")
        if credential.auth.kind == "api-key" and place == "query":
            path += f"{'&' if '?' in path else '?'}{quote(name)}=${credential.variables[0]}"
    return f'"{base}{path}"'


def _options(request: Request, used: list[Credential]) -> Iterator[str]:
    fields: set[str] = set()
    for credential in used:
        field = _field_of(credential)
        if field is None or field not in fields:  # a request has one, which then says what all of them ask for
            yield from _authentication(credential)
        fields |= {field} if field is not None else set()
    for name, text in (request.headers or {}).items():
        yield f"-H {_quoted(f'{name}: {text}' if text else f'{name};')}"
    if cookies := _cookies(request, used):
        yield f"-b {cookies}"
    yield from _body(request)


def _cookies(request: Request, used: list[Credential]) -> str:
    """Gives all cookies as one word of the shell: `curl` would put those of several options together with no space."""
    secrets = []
    for credential in used:
        place, _, name = (credential.auth.sent_as or "").partition(" ")
        if credential.auth.kind == "api-key" and place == "cookie":
            secrets.append(f"{quote(name)}=${credential.variables[0]}")
    others = "; ".join(f"{name}={text}" for name, text in (request.cookies or {}).items())
    if not secrets:
        return _quoted(others) if others else ""
    if _PLAIN_COOKIES.match(others):
        return f'"{"; ".join(filter(None, (*secrets, others)))}"'
    return f'"{"; ".join(secrets)}; "{_quoted(others)}'


def _field_of(credential: Credential) -> str | None:
    """Gives the header field in which a secret is sent, in lower case; `None` for one that stands elsewhere."""
    auth = credential.auth
    if auth.kind == "mutualTLS":
        return None
    place, _, name = (auth.sent_as or "").partition(" ")
    if auth.kind == "api-key":
        return None if place in ("query", "cookie") else name.lower()
    return "authorization"


def _authentication(credential: Credential) -> Iterator[str]:
    auth, (first, *others) = credential.auth, credential.variables
    place, _, name = (auth.sent_as or "").partition(" ")
    if others and auth.kind == "mutualTLS":
        yield f'--cert "${first}" --key "${others[0]}"'
    elif others:
        option = "--digest -u" if auth.kind == "digest" else "-u"
        yield f'{option} "${first}:${others[0]}"'
    elif auth.sent_as is None and auth.kind not in _BEARERS:
        return  # of a type that OpenAPI does not know
    elif auth.kind != "api-key":
        scheme = (auth.sent_as or "Authorization: Bearer").partition(": ")[2]
        scheme = f"{scheme} " if _HEADER_NAME.match(scheme) else ""
        yield f'-H "Authorization: {scheme}${first}"'
    elif place not in ("query", "cookie"):
        yield f'-H "{name}: ${first}"' if _HEADER_NAME.match(name) else f"-H {_quoted(name)}': '\"${first}\""


def _body(request: Request) -> Iterator[str]:
    if request.media_type is None:
        return
    if request.parts:
        is_form = request.media_type == FORM
        if request.media_type not in (FORM, MULTIPART_FORM):  # `curl` adds the boundary
            yield f"-H {_quoted(f'Content-Type: {request.media_type}')}"
        for part in request.parts:
            yield _field(part) if is_form else _form_part(part)
        return
    yield f"-H {_quoted(f'Content-Type: {request.media_type}')}"
    if request.is_file or request.body is None:
        yield "--data-binary @FILE" if request.is_file else "-d ''"
    elif _JSON.match(request.media_type):
        yield f"-d {_quoted(example_json(request.body.json))}"
    elif is_of_records(request.media_type):
        yield "--data-binary @-"
    else:
        yield f"--data-raw {_quoted(str(request.body.json))}"


def _records(items: Json) -> str:
    """Gives each record as a word of the shell."""
    return " ".join(_quoted(exact_json_text(item)) for item in items) if isinstance(items, list) else ""


def _field(part: Part) -> str:
    name = quote(part.name, safe="[]")
    return f"--data-urlencode {_quoted(f'{name}={part.text}')}"


def _form_part(part: Part) -> str:
    name = _form_quoted(part.name)
    if part.is_file:
        typed = f";type={part.media_type}" if part.media_type is not None else ""
        return f"-F {_quoted(f'{name}=@FILE{typed}')}"
    if part.media_type is None:
        return f"--form-string {_quoted(f'{name}={part.text}')}"
    escaped = part.text.replace("\\", "\\\\").replace('"', '\\"')
    typed = f'{name}="{escaped}";type={part.media_type}'
    return f"-F {_quoted(typed)}"


def _form_quoted(name: str) -> str:
    """Gives the name of a field; `=` would end it, and no name that matters has one."""
    return name.replace("=", "%3D")


def _quoted(text: str) -> str:
    """Puts a text in single quotes, in which a shell takes nothing for its own."""
    return "'" + text.replace("'", "'\\''") + "'"


def _encoded(text: str) -> str:
    return quote(text, safe=_URL_SIGNS + "[]")
