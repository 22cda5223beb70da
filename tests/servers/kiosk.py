"""An imaginary newspaper kiosk as an MCP server, in plain JSON: what it offers, and how it answers one message.

It shares no code with any SDK, and says things that the typed models of SDKs drop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Json = dict[str, Any]

MODERN = "2026-07-28"
LEGACY = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")

METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
UNSUPPORTED_VERSION = -32022

META = "io.modelcontextprotocol/"

DASHDASH: Json = {"specVersion": "0.2.0", "identity": {"name": "kiosk", "description": "Use when a paper is wanted."}}

TOOLS: list[Json] = [
    {
        "name": "buy_paper",
        "description": "Buys a newspaper.",
        "inputSchema": {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]},
        "dashdash": {"category": "shop", "operationType": "write"},
    },
    # Without an input schema, as progressive disclosure allows: a typed SDK loses the whole list over it.
    {"name": "list_papers", "description": "Lists the newspapers.", "risk_level": "safe"},
]
RESOURCES: list[Json] = [{"uri": "kiosk://papers", "name": "papers", "dashdash": {"resourceType": "list"}}]
TEMPLATES: list[Json] = [{"uriTemplate": "kiosk://papers/{title}", "name": "paper"}]
PROMPTS: list[Json] = [{"name": "recommend", "arguments": [{"name": "topic", "required": True}]}]


class RpcError(Exception):
    """An answer that is an error."""

    def __init__(self, code: int | str, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.error: Json = {"code": code, "message": message}
        if data is not None:
            self.error["data"] = data


class Kiosk:
    """A server of one or more protocol versions. `methods` is there to be changed."""

    def __init__(self, *versions: str) -> None:
        self.versions = versions
        self.capabilities: Json = {"tools": {}, "resources": {}, "prompts": {}}
        self.extras: Json = {}
        self.methods: dict[str, Callable[[Json], Any]] = {
            "tools/list": lambda _: {"tools": TOOLS},
            "resources/list": lambda _: {"resources": RESOURCES},
            "resources/templates/list": lambda _: {"resourceTemplates": TEMPLATES},
            "prompts/list": lambda _: {"prompts": PROMPTS},
        }
        if MODERN in versions:
            self.methods["server/discover"] = self._discover
        if set(versions) & set(LEGACY):
            self.methods["initialize"] = self._initialize

    def answer(self, message: Json) -> Json | None:
        """Answers a request; a notification has no answer."""
        if "id" not in message or "method" not in message:
            return None
        try:
            result = self.result(message["method"], message.get("params", {}))
        except RpcError as error:
            return {"jsonrpc": "2.0", "id": message["id"], "error": error.error}
        return {"jsonrpc": "2.0", "id": message["id"], "result": result}

    def result(self, method: str, params: Json) -> Any:
        """Returns the result of a request."""
        if self.versions == (MODERN,):
            check_meta(params)
        if method not in self.methods:
            raise RpcError(METHOD_NOT_FOUND, f"Unknown method {method}")
        return self.methods[method](params)

    def _initialize(self, params: Json) -> Json:
        legacy = [version for version in self.versions if version in LEGACY]
        wanted = params["protocolVersion"]
        return {
            "protocolVersion": wanted if wanted in legacy else legacy[-1],
            "capabilities": self.capabilities,
            "serverInfo": {"name": "kiosk", "version": "1.0"},
            "instructions": "Buy before noon.",
            **self.extras,
        }

    def _discover(self, params: Json) -> Json:
        return {
            "resultType": "complete",
            "supportedVersions": list(self.versions),
            "capabilities": self.capabilities,
            "ttlMs": 1000,
            "cacheScope": "public",
            "_meta": {META + "serverInfo": {"name": "kiosk", "version": "1.0"}},
            **self.extras,
        }


def check_meta(params: Json) -> None:
    """Demands of a request what `RequestMetaObject` of 2026-07-28 demands."""
    meta = params.get("_meta", {})
    if meta.get(META + "protocolVersion") != MODERN:
        raise RpcError(UNSUPPORTED_VERSION, "Unsupported protocol version", {"supported": [MODERN], "requested": ""})
    if not isinstance(meta.get(META + "clientCapabilities"), dict):
        raise RpcError(INVALID_PARAMS, "No client capabilities")
    if not {"name", "version"} <= meta.get(META + "clientInfo", {}).keys():
        raise RpcError(INVALID_PARAMS, "No client info")


def pages(items_key: str, pages: dict[str | None, tuple[list[Json], Json]]) -> Callable[[Json], Json]:
    """Returns a list method with pages: cursor to items and what else the page says."""

    def listed(params: Json) -> Json:
        items, more = pages[params.get("cursor")]
        return {items_key: items, **more}

    return listed
