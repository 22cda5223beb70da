"""Calls the tools of one service, with Python's standard library alone; `call.py --help` shows how.

The service, its tools and their parameters are data in `tools.json` next to this file; nothing of it is run as code.
Arguments are checked before anything is sent; secrets are in environment variables. A server's command may follow `--`.

Exit codes: 0 done; 1 the answer is an error; 2 the call is invalid, or needs --yes; 3 no answer from the service.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import json
import os
import queue
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
import zlib
from pathlib import Path
from typing import Any

from skillgen.model.check import Check, pointer, unknown
from skillgen.model.credentials import forms_of, origin_of, variable_prefix, with_plain_origin
from skillgen.model.serialization import (
    form_pairs,
    header_text,
    part_items,
    percent_encode,
    query_pairs,
    sequence_text,
    value_text,
    written,
)

SIZE_LIMIT = 32 * 1024 * 1024
FILES_LIMIT = 100
CHARSET = r"charset=\"?(iso-8859-(?:[1-9]|1[013-6])\b|windows-125[0-8]|utf-16|shift_jis|euc-(?:jp|kr)|gbk|gb18030|big5)"
LEGACY, MODERN = "2025-11-25", "2026-07-28"
CLIENT = {"name": "call.py", "version": "1"}


class Failure(Exception):
    """The call cannot be made, or failed; `code` is the exit code."""

    def __init__(self, code: Any, message: Any) -> None:
        super().__init__(message)
        self.code = code


class File:
    """An argument that is the content of a file."""

    def __init__(self, path: Any) -> None:
        self.name = Path(path).name
        try:
            self.content = Path(path).read_bytes()
        except OSError as error:
            raise Failure(2, f"{path}: cannot be read: {error.strerror}") from None
        if len(self.content) > SIZE_LIMIT:
            raise Failure(2, f"{path}: larger than {SIZE_LIMIT // 2**20} MiB")

    def text(self) -> str:
        """Returns the content as a string: that of binary files in Base64."""
        try:
            return self.content.decode("utf-8")
        except UnicodeDecodeError:
            return base64.b64encode(self.content).decode()


def with_texts(value: Any) -> Any:
    """Returns a value with the text of each file in it."""
    return json.loads(json.dumps(value, default=File.text))


def timed(deadline: float, failure: str, action: Any) -> Any:
    """Returns the result of an action; fails at the deadline, however slowly the other side sends."""
    results: Any = queue.Queue()

    def act() -> None:
        try:
            results.put(action())
        except Exception as error:
            results.put(error)

    threading.Thread(target=act, daemon=True).start()
    try:
        result = results.get(timeout=deadline - time.monotonic())
    except (queue.Empty, ValueError):  # a negative time, which a queue that is not empty would not notice
        raise Failure(3, "no answer in time; raise --timeout") from None
    if isinstance(result, Exception) and not isinstance(result, urllib.error.HTTPError):
        raise Failure(3, f"{failure}: {getattr(result, 'reason', result)}")
    return result


# -- arguments --------------------------------------------------------------------------------------------------------


def doubts(value: Any, schema: Any, types: Any) -> int:
    """Returns 0 for a value that a schema allows, 2 for one of another type, 1 for any other fault."""
    try:
        faults = list(Check(types).faults(schema, value))
    except RecursionError:
        return 0
    is_other = any(not place and ("of type" in text or "matches none" in text) for place, text in faults)
    return 2 if is_other else int(bool(faults))


def typed(text: Any, schema: Any, types: Any) -> Any:
    """Returns what a string means: of its readings, as one value and as a list, the first that the schema allows."""
    readings = [text]
    with contextlib.suppress(ValueError, RecursionError):
        is_string_first = 0 not in (doubts({}, schema, types), doubts([{}], schema, types))
        readings.insert(is_string_first, from_json(text))
    return min([*readings, *([item] for item in readings)], key=lambda value: doubts(value, schema, types))


def keys_by_place(tool: Any) -> Any:
    """Returns the key of each parameter of an operation by its place and name, such as `query.id`."""
    return {f"{item['in']}.{item['name']}": key for key, item in tool.get("parameters", {}).items()}


def keyed(tool: Any, arguments: Any) -> Any:
    """Returns arguments by the keys of the parameters; `body` may have all members of the body."""
    places, keys, found = tool.get("parameters", {}), keys_by_place(tool), {}
    for name, value in arguments.items():
        is_body = name == "body" and "body" in tool and name not in places and isinstance(value, dict)
        for item, part in ((f"body.{key}", part) for key, part in value.items()) if is_body else [(name, value)]:
            key = item if item in places else keys.get(item, item)
            if key not in places and key.startswith("body.") and "body" in tool:  # the schema of the body decides
                places[key] = {"in": "body", "name": key[5:]}
                tool["schema"].setdefault("properties", {})[key] = {}
            found[key] = part
    return found


def read_arguments(words: Any, tool: Any, types: Any) -> Any:
    """Returns the arguments of a command line: one JSON object, or NAME=VALUE, NAME:=JSON or NAME@=FILE for each."""
    properties, keys = tool["schema"].get("properties", {}), keys_by_place(tool)
    if len(words) == 1 and words[0].lstrip()[:1] in ("{", "["):
        return object_from(words[0])
    found: Any = {}
    for word in words:
        name, separator, text = word.partition("=")
        if not separator or not name.rstrip(":@"):
            raise Failure(2, f"{word[:60]!r} is not an argument; give NAME=VALUE, NAME:=JSON, NAME@=FILE or JSON")
        mark, name = (name[-1], name[:-1]) if name[-1] in ":@" else ("", name)
        try:
            schema = properties.get(name if name in properties else keys.get(name), {})
            value = File(text) if mark == "@" else from_json(text) if mark else typed(text, schema, types)
        except (ValueError, RecursionError):
            raise Failure(2, f"the value of {name} is not JSON") from None
        if name in found:
            value = [item for part in (found[name], value) for item in (part if isinstance(part, list) else [part])]
        found[name] = value
    return found


def from_json(text: Any) -> Any:
    """Returns the value of a JSON text; `NaN` and numbers beyond the largest float are not JSON."""
    value = json.loads(text)
    json.dumps(value, allow_nan=False)
    return value


def object_from(text: Any) -> Any:
    """Returns the JSON object in a text."""
    try:
        value = from_json(text)
    except (ValueError, RecursionError) as error:
        raise Failure(2, f"the arguments are not JSON: {error}") from None
    if not isinstance(value, dict):
        raise Failure(2, "the arguments are not a JSON object")
    return value


def checked(client: Any, tool: Any, arguments: Any) -> Any:
    """Returns the arguments by the keys of the parameters; fails with every fault in them."""
    if "has_unread_body" in tool:
        raise Failure(2, "the description of its body could not be read, so nothing was sent; correct the description")
    check, arguments = Check(client.data["types"]), keyed(tool, arguments)
    try:
        faults = [*check.faults(tool["schema"], arguments), *client.faults(tool, arguments, check)]
        faults = [fault for fault in faults if fault[0] not in tool.get("filled", ()) or "required" not in fault[1]]
    except RecursionError:
        faults = []  # too much to check; the service decides
    if faults:
        lines = [f"{place or '/'}: {text}" for place, text in dict.fromkeys(faults)]
        lines[20:] = [f"and {len(lines) - 20} more"] if len(lines) > 20 else []
        raise Failure(2, "\n  ".join(["the arguments are invalid, so nothing was sent", *lines]))
    return arguments


def unsendable(place: Any, value: Any) -> Any:
    """Yields why a value cannot be sent in a place: `path`, `query`, `header` or `cookie`."""
    parts = value if isinstance(value, list) and value else [value]
    if place == "path" and any(part in ("", ".", "..", []) for part in parts):
        yield "is a part of the path, which cannot be empty, `.` or `..`"
    if place == "header" and re.search(r"[^\t\x20-\x7e\x80-\xff]", header_text(value)):
        yield "is a header, which cannot have line breaks or characters outside of Latin-1"


# -- HTTP requests ----------------------------------------------------------------------------------------------------


def body_of(tool: Any, arguments: Any) -> Any:
    """Returns the form of the body of a call, `None` for no body, and its value."""
    body, places = tool.get("body", {}), tool["parameters"].items()
    if body.get("whole"):
        return (body if "body" in arguments else None), arguments.get("body")
    members = {item["name"]: arguments[key] for key, item in places if item["in"] == "body" and key in arguments}
    return (body if members or body.get("required") else None), members


def http_request(data: Any, tool: Any, arguments: Any, form: Any, value: Any, environment: Any) -> Any:
    """Returns the method, the URL, the headers and the content of a request; `value` is that of its body."""
    segments, headers, content = {}, {}, b""
    query: list[str] = []
    cookies: list[str] = []
    for key, item in tool["parameters"].items():
        if key not in arguments or item["in"] == "body":
            continue
        place, name, part, reserved = item["in"], item["name"], with_texts(arguments[key]), item.get("reserved", False)
        part = value_text(part) if item.get("json") else part
        texts = written(place, name, part, item.get("style"), item.get("explode"), reserved)
        if place == "path":
            segments[name] = item.get("prefix", "") + texts[0]
        elif place == "header":
            headers[name] = texts[0]
        else:
            (query if place == "query" else cookies).extend(texts)
    base, variables = base_url(data, tool, environment)
    for place, name, text in credentials_of(data, tool, environment, variables):
        if place in ("query", "cookie"):
            (query if place == "query" else cookies).extend(query_pairs(name, text))
        elif place == "body" and isinstance(value or {}, dict):
            form, value = form or tool["body"], {**(value or {}), name: text}
        else:
            headers[name] = text
    if form is not None:
        headers["Content-Type"], content = encoded_body(form, value)
    if cookies:
        headers["Cookie"] = "; ".join(cookies)
    headers.setdefault("Accept", tool.get("accept", "*/*"))
    url = base + re.sub(r"\{([^{}]*)\}", lambda match: segments.get(match[1], ""), tool["path"])
    if query:
        url += ("&" if "?" in url else "?") + "&".join(query)
    return tool["method"], url, headers, content


def base_url(data: Any, tool: Any, environment: Any) -> Any:
    """Returns the base URL: of a variable, of the tool, or of the service; and the variables with its credentials.

    A credential is sent to no other origin, since its variable is named by that.
    """
    declared = tool.get("base") or data["base"]
    variable = url_variable(data, declared)
    base = environment.get(variable, "").rstrip("/") + (declared if declared[:1] == "/" else "") or declared
    for name in re.findall(r"\{(\w+)\}", base):
        if not environment.get(name):
            raise Failure(2, f"the base URL has a variable; set {name}")
        base = base.replace(f"{{{name}}}", percent_encode(environment.get(name)))
    if origin_of(base) is None:
        raise Failure(2, f"the service declares no base URL; set {variable}")
    prefixes = [variable_prefix(base), *([] if "://" in declared else [variable])]  # documents name it without a host
    names = {noun: [f"{prefix}___{noun}" for prefix in prefixes] for noun in tool.get("nouns", ())}
    variables = {noun: next(filter(environment.get, found), found[0]) for noun, found in names.items()}
    return with_plain_origin(base).rstrip("/"), variables


def url_variable(data: Any, declared: Any, noun: Any = "BASE_URL") -> Any:
    """Returns the name of the variable with another URL than the declared one, whose host is in the name."""
    return f"{variable_prefix(declared)}___{noun}" if origin_of(declared) else f"{data['prefix']}_{noun}"


def encoded_body(form: Any, value: Any) -> Any:
    """Returns the media type and the content of a body."""
    media_type = form["type"]
    essence, parts = media_type.partition(";")[0].strip().lower(), form.get("parts", {})
    if isinstance(value, File):
        return media_type, value.content
    if essence.startswith("multipart/") and isinstance(value, dict):
        return multipart(essence, value, parts)
    value = with_texts(value)
    if essence == "application/x-www-form-urlencoded" and isinstance(value, dict):
        keys = ("style", "explode", "reserved")
        fields = (form_pairs(name, item, *map(parts.get(name, {}).get, keys)) for name, item in value.items())
        return media_type, "&".join(pair for pairs in fields for pair in pairs).encode()
    if "line_start" in form and isinstance(value, list):
        return media_type, sequence_text(value, form["line_start"]).encode("utf-8", "backslashreplace")
    if essence.endswith(("/json", "+json")):
        return media_type, json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace")
    if isinstance(value, (dict, list)):
        raise Failure(2, f"the body is sent as {media_type}; give its content with body@=FILE, or as a string")
    return media_type, value_text(value).encode("utf-8", "replace")


def multipart(essence: Any, fields: Any, parts: Any) -> Any:
    """Returns a multipart body: files and strings unchanged, other values as JSON."""
    boundary, pieces = uuid.uuid4().hex, []
    for name, value in fields.items():
        rule = parts.get(name, {})
        has_file = any(isinstance(item, File) for item in (value if isinstance(value, list) else [value]))
        style = () if has_file else (rule.get("style"), rule.get("explode"))
        for part, item, kind in part_items(name, value, rule.get("type"), *style):
            quoted = part.replace("\\", "\\\\").replace('"', "%22").replace("\r", "").replace("\n", "")
            head = f'Content-Disposition: form-data; name="{quoted}"'
            if isinstance(item, File):
                head += '; filename="' + re.sub(r'[\r\n"\\]', "_", item.name) + '"'
                content, kind = item.content, kind or "application/octet-stream"
            else:
                content = value_text(item).encode("utf-8", "replace")
            kind = f"\r\nContent-Type: {kind.partition(',')[0]}" if kind and "*" not in kind else ""
            pieces.append(f"--{boundary}\r\n{head}{kind}\r\n\r\n".encode() + content + b"\r\n")
    return f"{essence}; boundary={boundary}", b"".join(pieces) + f"--{boundary}--\r\n".encode()


def credentials_of(data: Any, tool: Any, environment: Any, variables: Any) -> Any:
    """Yields where each credential is sent, by what name, and its value."""
    schemes, given = data["auth"], data.get("given", ())
    ways = [way for way in tool.get("auth", []) if set(way) <= set(schemes)]
    # A header that the caller adds is the credential that it carries.
    sent = [name for name, item in schemes.items() if item["place"] == "header" and item["name"].lower() in given]
    named = [[variables[noun] for item in way if item not in sent for noun in schemes[item]["nouns"]] for way in ways]
    usable = [ways[number] for number, names in enumerate(named) if all(map(environment.get, names))]
    chosen: Any = max(usable, key=len, default=None)
    if ways and chosen is None:
        wanted = " or ".join(" and ".join(names) for names in named if names)
        raise Failure(2, f"a credential is needed; set {wanted}. {data.get('login', '')}".strip())
    for name in (item for item in chosen or () if item not in sent):
        scheme = schemes[name]
        if scheme["kind"] in ("digest", "mutualTLS", "aws-sigv4"):
            raise Failure(2, f"authentication by {scheme['kind']} is not supported; call the API another way")
        first, *others = (environment.get(variables[noun]) for noun in scheme["nouns"])
        if scheme["kind"] == "basic":
            yield "header", "Authorization", "Basic " + base64.b64encode(f"{first}:{others[0]}".encode()).decode()
        else:
            yield scheme["place"], scheme["name"], with_prefix(first, scheme.get("prefix", ""))


def filled(data: Any, tool: Any, places: Any, arguments: Any, environment: Any) -> Any:
    """Returns arguments with the credentials among the parameters, each from its variable."""
    found, given, (_, variables) = dict(arguments), data.get("given", ()), base_url(data, tool, environment)
    for place, (noun, is_required) in places.items():
        if environment.get(variables[noun]):
            found.setdefault(place[1:], environment.get(variables[noun]))
        elif is_required and place[1:] not in found and tool["parameters"][place[1:]]["name"].lower() not in given:
            raise Failure(2, f"a credential is needed; set {variables[noun]}")
    return found


def with_prefix(token: Any, prefix: Any) -> Any:
    """Returns a token after its scheme; one that begins with the scheme is sent unchanged."""
    return token if token.lower().startswith(prefix.lower()) else prefix + token


# -- HTTP -------------------------------------------------------------------------------------------------------------


class SameOrigin(urllib.request.HTTPRedirectHandler):
    """Follows redirects on the same host: another one must not get the credentials."""

    def redirect_request(self, request: Any, *details: Any) -> Any:
        """Returns the next request; `None` returns the response itself."""
        is_same = origin_of(details[-1]) == origin_of(request.full_url)
        is_followed = request.get_method() in ("GET", "HEAD") and is_same
        return super().redirect_request(request, *details) if is_followed else None


def send(method: str, url: str, headers: Any, content: bytes, deadline: float) -> Any:
    """Sends a request; returns the open response, also that of an error."""
    opener, seconds = urllib.request.build_opener(SameOrigin), max(0.1, deadline - time.monotonic())
    request = urllib.request.Request(url, data=content or None, headers=headers, method=method)
    return timed(deadline, f"{request.host} cannot be reached", lambda: opener.open(request, timeout=seconds))


def parts_of(response: Any, deadline: float) -> Any:
    """Yields the content of a response in parts, within the limits of size and time."""
    size, part = 0, b"-"
    while part:
        part = timed(deadline, "the answer ended early", lambda: response.read1(65536))
        size += len(part)
        if size > SIZE_LIMIT:
            raise Failure(3, f"the answer is larger than {SIZE_LIMIT // 2**20} MiB")
        yield part


def read_all(response: Any, deadline: float) -> Any:
    """Returns the body of a response."""
    length = response.length or 0
    content = b"".join(parts_of(response, deadline))
    if len(content) < length:
        raise Failure(3, f"the answer ended early: {len(content)} of {length} bytes")
    if "gzip" in (response.headers.get("Content-Encoding") or ""):
        return timed(deadline, "the answer is not gzip", lambda: zlib.decompressobj(31).decompress(content, SIZE_LIMIT))
    return content


class HttpClient:
    """Calls the operations of an API."""

    def __init__(self, data: Any, timeout_s: float, folder: str) -> None:
        self.data, self.timeout_s, self.folder = data, timeout_s, folder
        self.environment: Any = os.environ
        self.secrets: list[str] = []

    def request(self, tool: Any, arguments: Any, environment: Any) -> Any:
        """Returns the request of a call."""
        arguments = filled(self.data, tool, tool.get("filled", {}), arguments, environment)
        form, value = body_of(tool, arguments)
        return http_request(self.data, tool, arguments, form, value, environment)

    def faults(self, tool: Any, arguments: Any, check: Check) -> Any:
        """Yields the faults of arguments as parts of a request."""
        form, value = body_of(tool, arguments)
        yield from check.faults((form or {}).get("rules", {}), value)
        for key, item in tool["parameters"].items():
            if key in arguments:
                yield from ((pointer("", key), text) for text in unsendable(item["in"], with_texts(arguments[key])))

    def dry_run(self, name: str, tool: Any, arguments: Any) -> str:
        """Returns the request of a call, with the names of variables in place of secrets."""
        shown = {name: f"${name}" for name in base_url(self.data, tool, self.environment)[1].values()}
        method, url, headers, content = self.request(tool, arguments, {**self.environment, **shown})
        lines = [f"{method} {url}", *(f"{name}: {value}" for name, value in headers.items())]
        return "\n".join([*lines, *(["", content.decode("utf-8", "replace")] if content else [])])

    def call(self, name: str, tool: Any, arguments: Any) -> Any:
        """Sends a call; returns the text of the answer, and whether it is an error."""
        variables = base_url(self.data, tool, self.environment)[1]
        self.secrets = [self.environment.get(name, "") for noun, name in variables.items() if not noun.endswith("USER")]
        status, headers, content = self.answer(*self.request(tool, arguments, self.environment))
        return http_answer(status, headers, content, tool, self.folder)

    def answer(self, method: str, url: str, headers: Any, content: bytes) -> Any:
        """Returns the status, the headers and the body of the answer to a request."""
        deadline = time.monotonic() + self.timeout_s
        response = send(method, url, headers, content, deadline)
        return response.status, response.headers, read_all(response, deadline)

    def close(self) -> None:
        """Does nothing: each call has a connection of its own."""


def http_answer(status: int, headers: Any, content: bytes, tool: Any, folder: str) -> Any:
    """Returns the text of an answer, and whether it is an error."""
    media_type = (headers.get("Content-Type") or "").partition(";")[0].strip().lower()
    if media_type.startswith("text/") or media_type.endswith(("json", "xml", "yaml", "javascript", "urlencoded")):
        charset = re.search(CHARSET, headers["Content-Type"].lower())
        text = pretty(content.decode(charset[1] if charset else "utf-8", "replace"))
    else:
        text = saved(content, media_type, folder) if content else ""
    if 200 <= status < 300:
        return text or f"HTTP {status}", False
    lines = [f"HTTP {status}", *([text] if text else [])]
    for name, words in (("Location", "The redirect is not followed"), ("Retry-After", "Retry-After")):
        lines += [f"{words}: {headers[name][:300]}"] if headers.get(name) else []
    return "\n".join([*lines, *advice(tool, str(status))]), True


# -- results ----------------------------------------------------------------------------------------------------------


def hidden(text: str, secrets: Any) -> str:
    """Returns a text without the secrets that a service echoes, also in the encodings of URLs, JSON and Base64."""
    for value in (item for secret in secrets for item in (secret, secret.partition(" ")[2])):
        for form in forms_of(value) if len(value) > 3 else ():
            text = text.replace(form, "[hidden]")
    return text


def pretty(text: str) -> str:
    """Returns JSON with line breaks; any other text unchanged."""
    try:
        return json.dumps(json.loads(text), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return text


def saved(content: bytes, media_type: str, folder: str) -> str:
    """Writes content to a new file; returns a line that names it."""
    ending = re.sub(r"[^a-z0-9].*", "", media_type.partition("/")[2])[:10] or "bin"
    try:
        handle, path = tempfile.mkstemp(prefix="result-", suffix=f".{ending}", dir=folder or None)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
    except OSError as error:
        raise Failure(2, f"the result cannot be saved: {error.strerror}; name an existing folder with --out") from None
    return f"saved {path} ({media_type or 'no media type'}, {len(content):,} bytes)"


def advice(tool: Any, text: str) -> list[str]:
    """Returns what the service advises on the errors whose codes are in a text."""
    codes = [code for code in tool.get("errors", {}) if re.search(rf"(?<!\w){re.escape(code)}(?!\w)", text)]
    return [f"The service's advice: {tool['errors'][code]}" for code in codes[:3]]


def decoded(blob: str) -> bytes:
    """Returns the content of a Base64 string; the string itself if it is invalid."""
    try:
        return base64.b64decode(blob + "==")
    except ValueError:
        return blob.encode("utf-8", "replace")


def unwrapped(result: Any, tool: Any, folder: str) -> Any:
    """Returns the text of the result of an MCP tool, and whether it is an error. Images and audio go to files."""
    result = result if isinstance(result, dict) else {}
    structured, content, lines, files = result.get("structuredContent"), result.get("content"), [], 0
    is_error = result.get("isError") is True
    whole = "" if structured is None else pretty(json.dumps(structured, ensure_ascii=False))
    for item in content if isinstance(content, list) else ():
        item = item if isinstance(item, dict) else {}
        resource: Any = item.get("resource") if isinstance(item.get("resource"), dict) else {}
        kind, text = item.get("type"), item.get("text", resource.get("text"))
        blob, media_type = item.get("data", resource.get("blob")), item.get("mimeType", resource.get("mimeType"))
        if isinstance(text, str):
            lines += [] if structured is not None and kind == "text" and not is_error else [pretty(text)]
        elif isinstance(blob, str) and blob and files < FILES_LIMIT:
            files += 1
            lines.append(saved(decoded(blob), str(media_type or "").lower(), folder))
            whole = whole.replace(f'"{blob}"', json.dumps(lines[-1]))
        elif kind == "resource_link":
            lines.append(f"resource {item.get('uri')}")
    if files == FILES_LIMIT:
        lines.append(f"No more than {files} files are saved.")
    lines = [whole, *lines] if structured is not None else lines
    if result.get("resultType", "complete") != "complete":
        lines, is_error = [*lines, f"The server wants more first: {json.dumps(result)[:2000]}"], True
    text = "\n".join(lines)
    return "\n".join([text, *(advice(tool, text) if is_error else [])]), is_error


# -- MCP --------------------------------------------------------------------------------------------------------------


class McpClient:
    """Calls the tools of an MCP server, over standard input and output or Streamable HTTP."""

    def __init__(self, data: Any, timeout_s: float, folder: str) -> None:
        self.data, self.timeout_s, self.folder = data, timeout_s, folder
        self.number, self.version, self.session, self.deadline = 0, "", "", 0.0
        own_url = os.environ.get(url_variable(data, data.get("url", ""), "URL"), "")
        url = own_url or data.get("url", "")
        self.url = with_plain_origin(url) if origin_of(url) else ""
        self.token = f"{variable_prefix(self.url)}___TOKEN"
        self.secrets = [os.environ.get(name, "") for name in data.get("secrets", [self.token])]
        given = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else []
        self.command = given or ([] if own_url else data.get("command"))
        self.process: Any = None
        self.lines: Any = queue.Queue()

    def faults(self, tool: Any, arguments: Any, check: Check) -> Any:
        """Returns no further faults."""
        return ()

    def dry_run(self, name: str, tool: Any, arguments: Any) -> str:
        """Returns the request of a call."""
        message = {"method": "tools/call", "params": {"name": name, "arguments": with_texts(arguments)}}
        where = " ".join(self.command or [self.url])
        return f"{where}\n{json.dumps(message, ensure_ascii=False, indent=2)}"

    def call(self, name: str, tool: Any, arguments: Any) -> Any:
        """Sends a call; returns the text of the answer, and whether it is an error."""
        if tool.get("is_task"):
            raise Failure(2, f"{name} can only be called as a task; call it from a host that supports tasks")
        self.deadline = time.monotonic() + self.timeout_s
        if not self.version:
            self.open()
        answer = self.ask("tools/call", {"name": name, "arguments": with_texts(arguments)})
        if "error" in answer:
            text = f"The server answers with an error: {json.dumps(answer['error'], ensure_ascii=False)[:2000]}"
            return "\n".join([text, *advice(tool, text)]), True
        return unwrapped(answer.get("result"), tool, self.folder)

    def open(self) -> None:
        """Opens a session: with `initialize`, or with `server/discover` of servers that have only that (2026-07-28)."""
        answer = self.ask("initialize", {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": CLIENT})
        if isinstance(answer.get("result"), dict):
            self.version = str(answer["result"].get("protocolVersion", LEGACY))
            if self.version == MODERN:
                raise Failure(3, f"the server answers initialize with {MODERN}, which has no initialize")
            self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})
            return
        self.close()
        self.version, self.session = MODERN, ""
        if "result" not in self.ask("server/discover", {}):
            raise Failure(3, f"the server opens no session: {json.dumps(answer.get('error'))[:500]}")

    def ask(self, method: str, params: Any) -> Any:
        """Sends a request and returns the answer to it; whatever the server asks meanwhile is refused."""
        self.number += 1
        number = self.number
        if self.version == MODERN:
            keys = {"protocolVersion": MODERN, "clientInfo": CLIENT, "clientCapabilities": {}}
            params = {**params, "_meta": {f"io.modelcontextprotocol/{key}": value for key, value in keys.items()}}
        for message in self.post({"jsonrpc": "2.0", "id": number, "method": method, "params": params}):
            if "method" in message and "id" in message:
                is_ping = message["method"] == "ping"
                refusal = {"result": {}} if is_ping else {"error": {"code": -32601, "message": "not supported"}}
                self.post({"jsonrpc": "2.0", "id": message["id"], **refusal})
            elif message.get("id") == number:
                return message
        raise Failure(3, f"the server ended without an answer to {method}")

    def post(self, message: Any) -> Any:
        """Sends a message; returns the messages that follow, until the deadline of the call."""
        if not self.command:
            return self.post_http(message)
        if self.process is None:
            self.start()
        line = json.dumps(message).encode() + b"\n"
        timed(self.deadline, "the server ended; read its output", lambda: self.process.stdin.write(line))
        return self.received()

    def start(self) -> None:
        """Starts the server, with the variables of this environment but the credentials of HTTP services."""
        command = self.command
        if missing := [name for name in self.data.get("env", ()) if not os.environ.get(name)]:
            print(f"note: {', '.join(missing)} is not set; the server may need it", file=sys.stderr)
        try:
            env = {name: value for name, value in os.environ.items() if not re.match("SKILL_.+___", name)}
            pipes: Any = {"env": env, "stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "bufsize": 0}
            self.process = subprocess.Popen(command, start_new_session=True, **pipes)
        except OSError as error:
            raise Failure(3, f"{command[0]} cannot be started: {error.strerror}") from None
        self.lines = queue.Queue(8)
        threading.Thread(target=self.read, args=(self.process.stdout, self.lines), daemon=True).start()

    @staticmethod
    def read(stream: Any, lines: Any) -> None:
        """Puts the lines of a stream into a queue, and at its end an empty one."""
        buffered = open(stream.fileno(), "rb", closefd=False)  # noqa: SIM115
        while line := buffered.readline(SIZE_LIMIT):
            lines.put(line)
        lines.put(b"")

    def received(self) -> Any:
        """Yields the messages of the server; other lines are not messages."""
        while True:
            try:
                line = self.lines.get(timeout=self.deadline - time.monotonic())
            except (queue.Empty, ValueError):
                raise Failure(3, "no answer in time; raise --timeout") from None
            if not line:
                return
            if len(line) == SIZE_LIMIT:
                raise Failure(3, f"the answer is larger than {SIZE_LIMIT // 2**20} MiB")
            yield from messages_in(line)

    def post_http(self, message: Any) -> Any:
        """Sends a message over Streamable HTTP; returns the messages in the response."""
        if not self.url:
            raise Failure(
                3, f"how to reach the server is not known; set {self.data['prefix']}_URL, or give its command after --"
            )
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if token := os.environ.get(self.token):
            headers["Authorization"] = with_prefix(token, "Bearer ")
        if self.version:
            headers["MCP-Protocol-Version"] = self.version
        if self.session:
            headers["Mcp-Session-Id"] = self.session
        if self.version == MODERN and "method" in message:
            headers["Mcp-Method"] = message["method"]
            if (name := message["params"].get("name")) is not None:
                is_plain = re.fullmatch(r"[!-~](?:[ -~]*[!-~])?", name) and not name.startswith("=?")
                headers["Mcp-Name"] = name if is_plain else f"=?base64?{base64.b64encode(name.encode()).decode()}?="
        response = send("POST", self.url, headers, json.dumps(message).encode(), self.deadline)
        self.session = response.headers.get("Mcp-Session-Id") or self.session
        if response.status in (401, 403):
            what = f"the server requires credentials: HTTP {response.status}; set {self.token} to a valid token"
            asked = response.headers.get("WWW-Authenticate") or ""
            known = re.search(r'resource_metadata="(https?://[\w.~:/?@!$&()*+,;=%-]{1,300})"', asked)
            where = f"of an authorization server that {known[1]} names" if known else "as the service describes"
            raise Failure(3, f"{what}. {self.data.get('login') or f'This program has no OAuth: get a token {where}'}")
        if (response.headers.get("Content-Type") or "").startswith("text/event-stream"):
            return self.events(response)
        found = messages_in(read_all(response, self.deadline))
        if not found and response.status >= 300:
            target = response.headers.get("Location")
            what = f"HTTP {response.status}" + (f", which redirects to {target[:300]}" if target else "")
            found = [{"id": message.get("id"), "error": {"code": response.status, "message": what}}]
        return found

    def events(self, response: Any) -> Any:
        """Yields the messages of an event stream."""
        data, rest = b"", b""
        for part in parts_of(response, self.deadline):
            *lines, rest = (rest + part).split(b"\n")
            for line in lines:
                if line.startswith(b"data:"):
                    data += line[5:].strip()
                elif not line.strip():
                    yield from messages_in(data)
                    data = b""

    def close(self) -> None:
        """Ends the session, and the server that was started with all processes of its group."""
        if self.process is not None:
            self.process.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(2)
            with contextlib.suppress(OSError):
                getattr(os, "killpg", os.kill)(self.process.pid, 9)
            self.process = None


def messages_in(text: bytes) -> list[Any]:
    """Returns the messages in a line or a body: one, or several in a batch."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, dict)]


# -- the command ------------------------------------------------------------------------------------------------------


CLIENTS: Any = {"http": HttpClient, "mcp": McpClient}


def printable(text: str) -> str:
    """Returns a text without the control characters that a terminal would obey."""
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", "", text)


def prepared(data: Any, name: str, is_confirmed: bool) -> Any:
    """Returns a tool; refuses an unknown one, and one that needs a confirmation."""
    if (tool := data["tools"].get(name)) is None:
        raise Failure(2, f"{name[:80]!r} {unknown(name, data['tools'], 'tool')}; --list shows the tools")
    if tool.get("confirm") and not is_confirmed:
        raise Failure(2, f"{name} {tool['confirm']}; ask the user, then add --yes")
    return tool


def run_session(data: Any, client: Any, is_confirmed: bool) -> int:
    """Runs one call for each line of standard input, and prints a line of JSON for each."""
    worst = 0
    for line in sys.stdin:
        name = None
        try:
            request = object_from(line)
            name = request.get("tool")
            tool = prepared(data, str(name), is_confirmed)
            arguments = object_from(json.dumps(request.get("arguments", {})))
            text, is_error = client.call(name, tool, checked(client, tool, arguments))
            said, code = {"ok": not is_error, "text": hidden(text, client.secrets)}, int(is_error)
        except Exception as error:  # the other lines are answered, whatever this one does
            said, code = {"ok": False, "error": hidden(str(error), client.secrets)}, getattr(error, "code", 2)
        worst = max(worst, code)
        print(json.dumps({"tool": name, **said}), flush=True)
    return worst


def main() -> int:
    """Runs the command; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool", nargs="?", help="exact name of the tool")
    parser.add_argument("arguments", nargs="*", help="NAME=VALUE, NAME:=JSON, NAME@=FILE; or JSON; - reads JSON")
    parser.add_argument("--yes", action="store_true", help="a person confirmed the call: it deletes, or needs it")
    parser.add_argument("--dry-run", action="store_true", help="print the request, without secrets, and send nothing")
    parser.add_argument("--list", action="store_true", help="list the tools, and the variables that hold credentials")
    parser.add_argument("--session", action="store_true", help='read {"tool": …, "arguments": {…}} from each line')
    parser.add_argument("--timeout", type=float, default=60.0, metavar="SECONDS", help="time limit of a call")
    parser.add_argument("--out", default="", metavar="FOLDER", help="folder for images and other files")
    end = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    options = parser.parse_intermixed_args(sys.argv[1:end])
    if not 0 < options.timeout <= 86_400:
        parser.error("--timeout is not a number of seconds up to a day (86400)")
    if options.out and not Path(options.out).is_dir():
        parser.error(f"--out: {options.out} is not a folder")
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    data = json.loads(Path(__file__).with_name("tools.json").read_text("utf-8"))
    client = CLIENTS[data["kind"]](data, options.timeout, options.out)
    try:
        if options.list or not (options.tool or options.session):
            variables = ["", "Variables:", *data["variables"]] if data["variables"] else []
            print("\n".join(name.replace("\n", " ") for name in [*data["tools"], *variables]))
            return 0
        if options.session:
            return run_session(data, client, options.yes)
        tool = prepared(data, options.tool, options.yes or options.dry_run)
        words = [sys.stdin.read() if word == "-" else word for word in options.arguments]
        arguments = checked(client, tool, read_arguments(words, tool, data["types"]))
        if options.dry_run:
            print(printable(client.dry_run(options.tool, tool, arguments)).replace("%24SKILL_", "$SKILL_"))
            return 0
        text, is_error = client.call(options.tool, tool, arguments)
        print(hidden(printable(text), client.secrets), file=sys.stderr if is_error else sys.stdout)
        return int(is_error)
    except (Failure, ValueError, ArithmeticError, RecursionError) as error:
        print(f"call.py: {hidden(printable(str(error)), client.secrets)}", file=sys.stderr)
        return getattr(error, "code", 2)
    except KeyboardInterrupt:
        return 130
    finally:
        client.close()


if __name__ == "__main__":
    sys.exit(main())
