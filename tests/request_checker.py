"""A server on the loopback interface that says of every request whether a description allows it: `openapi-core`."""

from __future__ import annotations

import json
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import yaml
from openapi_core import Config, OpenAPI
from openapi_core.testing import MockRequest
from werkzeug.datastructures import MultiDict


@contextmanager
def checking(source: Path) -> Iterator[str]:
    """Serves at an address without its base path; status 200 is a valid request, 422 one that is not, with reasons."""
    text = source.read_text("utf-8")
    data = json.loads(text) if source.suffix == ".json" else yaml.safe_load(text)
    _keep_paths_of_servers(data)
    _let_parameters_be_sent(data)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(_api_of(data)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def _keep_paths_of_servers(data: dict[str, Any]) -> None:
    """Leaves the base path of every address: the host is the loopback interface."""
    items = list(data["paths"].values())
    for owner in (data, *items, *(operation for item in items for operation in item.values())):
        if owner is data or (isinstance(owner, dict) and "servers" in owner):
            url = (owner.get("servers") or [{"url": "/"}])[0]["url"]
            owner["servers"] = [{"url": urlsplit(url).path or "/"}]


def _let_parameters_be_sent(data: dict[str, Any]) -> None:
    """Takes `readOnly` from the types of parameters, where it makes no sense: GitHub's has it on a part of a path."""
    components = data.get("components", {})
    for parameter in components.get("parameters", {}).values():
        name = str(parameter.get("schema", {}).get("$ref", "")).rpartition("/")[2]
        components.get("schemas", {}).get(name, {}).pop("readOnly", None)


def _api_of(data: dict[str, Any]) -> OpenAPI:
    unchecked: Any = None  # the description itself is not what is checked
    return OpenAPI.from_dict(data, config=Config(spec_validator_cls=unchecked))


def _handler(api: OpenAPI) -> type[BaseHTTPRequestHandler]:
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            with lock:
                status, reason = _verdict(api, self, body)
            payload = reason.encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(payload)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = answer

        def log_message(self, *arguments: object) -> None:
            """Says nothing."""

    return Handler


def _verdict(api: OpenAPI, handler: BaseHTTPRequestHandler, body: bytes) -> tuple[int, str]:
    parts = urlsplit(handler.path)
    request = MockRequest(
        "http://127.0.0.1",
        handler.command.lower(),
        _decoded(parts.path),
        args=MultiDict(parse_qsl(parts.query, keep_blank_values=True)),
        headers=dict(handler.headers.items()),
        cookies={name: item.value for name, item in SimpleCookie(handler.headers.get("Cookie", "")).items()},
        data=body or None,
        content_type=handler.headers.get("Content-Type", ""),
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # OAuth 2.0 is not looked at
            api.validate_request(request)
    except Exception as error:
        causes = getattr(error.__cause__, "schema_errors", None) or [error.__cause__ or error]
        return 422, f"{error!r}: " + "; ".join(str(getattr(cause, "message", cause))[:200] for cause in causes)
    return 200, ""


def _decoded(path: str) -> str:
    """Returns a path as a router reads it: an encoded slash stays encoded, for it is no separator."""
    return "%2F".join(unquote(piece) for piece in path.replace("%2f", "%2F").split("%2F"))
