"""The kiosk behind OAuth: an authorization server and a protected server, both on loopback, in plain HTTP and JSON.

Neither shares code with any SDK. The authorization server checks PKCE, the redirect URI, the resource and the client,
issues each code and each refresh token once, and lets everybody in who comes with a browser.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import secrets
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from servers.kiosk import LEGACY, Json, Kiosk


@dataclass
class Door:
    """How the authorization server behaves, and what it has seen."""

    registers: bool = True
    """Whether clients may register themselves (RFC 7591)."""
    reads_documents: bool = False
    """Whether the URL of a client metadata document is a client."""
    lets_in: bool = True
    """Whether the person says yes."""
    expires_in_s: int = 3600
    quotes: bool = False
    """Whether a request for a token is refused and quoted."""
    names: dict[str, Any] = field(default_factory=dict)
    """What its metadata say instead of the truth."""
    challenges: bool = True
    """Whether the protected server answers a stranger with 401; else it lets him initialize."""
    clients: dict[str, Json] = field(default_factory=dict)
    codes: dict[str, Json] = field(default_factory=dict)
    access: set[str] = field(default_factory=set)
    refresh: set[str] = field(default_factory=set)
    seen: list[str] = field(default_factory=list)
    """Paths of the authorization server that were asked for."""
    grants: list[str] = field(default_factory=list)
    """Grant types of the tokens that were given."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, handler: type[BaseHTTPRequestHandler], door: Door) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        self.door = door
        self.origin = f"http://127.0.0.1:{self.server_port}"
        self.issuer = self.origin
        self.kiosk = Kiosk(*LEGACY)
        self.kiosk.methods["tools/call"] = lambda params: {"content": [{"type": "text", "text": "sold"}]}


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def reply(self, status: int, data: Any = None, **headers: str) -> None:
        body = b"" if data is None else json.dumps(data).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class _Authorization(_Handler):
    """RFC 8414 metadata, RFC 7591 registration, the authorization code with PKCE, and refresh tokens that rotate."""

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        self.server.door.seen.append(parts.path)
        if parts.path == "/.well-known/oauth-authorization-server":
            self.reply(200, self.metadata())
        elif parts.path == "/authorize":
            self.authorize(dict(parse_qsl(parts.query)))
        else:
            self.reply(404)

    def do_POST(self) -> None:
        path, body = urlsplit(self.path).path, self.body()
        self.server.door.seen.append(path)
        if path == "/register" and self.server.door.registers:
            client = json.loads(body)
            client["client_id"] = secrets.token_hex(8)
            self.server.door.clients[client["client_id"]] = client
            self.reply(201, client)
        elif path == "/token":
            if self.server.door.quotes:
                self.reply(400, {"error": "invalid_client", "error_description": f"bad request: {body.decode()}"})
            else:
                self.token(dict(parse_qsl(body.decode())))
        else:
            self.reply(404, {"error": "not_found"})

    def metadata(self) -> Json:
        door, origin = self.server.door, self.server.origin
        return {
            "issuer": origin,
            "authorization_endpoint": f"{origin}/authorize",
            "token_endpoint": f"{origin}/token",
            **({"registration_endpoint": f"{origin}/register"} if door.registers else {}),
            "client_id_metadata_document_supported": door.reads_documents,
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
            "scopes_supported": ["papers"],
            **door.names,
        }

    def authorize(self, asked: Json) -> None:
        door = self.server.door
        client = door.clients.get(asked["client_id"])
        is_document = door.reads_documents and asked["client_id"].startswith("https://")
        is_known = is_document or (client is not None and asked["redirect_uri"] in client["redirect_uris"])
        if not is_known or asked["code_challenge_method"] != "S256" or not asked["resource"].endswith("/mcp"):
            self.reply(400, {"error": "invalid_request"})
            return
        code = secrets.token_urlsafe(16)
        door.codes[code] = asked
        refusal = {"error": "access_denied", "error_description": "the owner said no"}
        answer = {"code": code} if door.lets_in else refusal
        query = urlencode({**answer, "state": asked["state"], "iss": self.server.origin})
        self.reply(302, Location=f"{asked['redirect_uri']}?{query}")

    def token(self, form: Json) -> None:
        door = self.server.door
        if form["grant_type"] == "authorization_code":
            asked = door.codes.pop(form["code"], None)
            digest = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).rstrip(b"=")
            is_good = asked is not None and asked["code_challenge"] == digest.decode()
            is_good = is_good and asked is not None and asked["redirect_uri"] == form["redirect_uri"]
        else:
            is_good = form["refresh_token"] in door.refresh
            door.refresh.discard(form.get("refresh_token", ""))
        if not is_good:
            self.reply(400, {"error": "invalid_grant"})
            return
        access, refresh = f"access-{secrets.token_hex(12)}", f"refresh-{secrets.token_hex(12)}"
        door.access.add(access)
        door.refresh.add(refresh)
        door.grants.append(form["grant_type"])
        tokens = {"access_token": access, "refresh_token": refresh, "token_type": "Bearer", "scope": "papers"}
        self.reply(200, {**tokens, "expires_in": door.expires_in_s})


class _Protected(_Handler):
    """The kiosk, for those who come with a token; it repeats the token in its instructions, as careless ones do."""

    def do_GET(self) -> None:
        if urlsplit(self.path).path == "/.well-known/oauth-protected-resource/mcp":
            metadata = {"resource": f"{self.server.origin}/mcp", "authorization_servers": [self.server.issuer]}
            self.reply(200, metadata)
        else:
            self.reply(405)

    def do_DELETE(self) -> None:
        self.reply(200)

    def do_POST(self) -> None:
        message = json.loads(self.body())
        token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        if token not in self.server.door.access and (self.server.door.challenges or message["method"] == "tools/list"):
            url = f"{self.server.origin}/.well-known/oauth-protected-resource/mcp"
            self.reply(401, WWW_Authenticate=f'Bearer resource_metadata="{url}", scope="papers"')
            return
        self.server.kiosk.extras = {"instructions": f"You came with {token}."}
        answer = self.server.kiosk.answer(message)
        if answer is None:
            self.reply(202)
        else:
            self.reply(200, answer)


@contextlib.contextmanager
def guarded(door: Door) -> Iterator[str]:
    """Runs both servers, and yields the URL of the protected one."""
    with _Server(_Authorization, door) as authorization, _Server(_Protected, door) as protected:
        protected.issuer = authorization.origin
        threads = [
            threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
            for server in (authorization, protected)
        ]
        for thread in threads:
            thread.start()
        try:
            yield f"{protected.origin}/mcp"
        finally:
            for server in (authorization, protected):
                server.shutdown()
            for thread in threads:
                thread.join()
