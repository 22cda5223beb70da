"""Answers the requests of an MCP client from what a server declared: both eras of the protocol, nothing rewritten.

`initialize` opens a session up to 2025-11-25; since 2026-07-28 there is `server/discover`, and every request names its
version in `_meta`. Lists, instructions and other members are the raw ones of the crawl, so that unknown members stay.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import unquote

from skillgen import __version__
from skillgen.mock.answers import Answers, CallLog
from skillgen.mock.api import variables_in
from skillgen.model.schema import Types
from skillgen.model.service import Service
from skillgen.model.values import Json
from skillgen.sources.examples.validation import Fault, Validator
from skillgen.sources.json_access import as_dict, as_list, page_items, text_of
from skillgen.sources.mcp.fields import SERVER_INFO_KEY
from skillgen.sources.mcp.progressive import READ as DESCRIPTIONS
from skillgen.sources.mcp.session import LEGACY_VERSIONS, LISTS, MANIFEST_TOOL, MODERN_VERSION, VERSION_KEY

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
RESOURCE_NOT_FOUND = -32002
UNSUPPORTED_VERSION = -32022

_CACHED = {"ttlMs": 0, "cacheScope": "public"}
"""Members that results of lists and resources must have since 2026-07-28 (`CacheableResult`)."""


@dataclass(eq=False)
class RequestError(Exception):
    """A request is answered with an error."""

    code: int
    message: str
    data: Json = None


McpSession: TypeAlias = set[str]
"""Tools whose descriptions one client has read, which progressive disclosure requires before a call."""


class McpMock:
    """An MCP server without a service behind it."""

    def __init__(self, service: Service, results: Mapping[str, Json], *, log: CallLog) -> None:
        """`results` are those of a crawl: method to result, of a list to its pages."""
        self._service = service
        self._results = results
        self.validator = Validator(Types.of(service.schemas), is_request=False)
        self._answers = Answers(service)
        self._legacy, self._modern = (as_dict(results.get(method)) for method in ("initialize", "server/discover"))
        self._log = log
        self._tools = {tool.name: tool for tool in service.tools}
        listed = page_items(results.get("tools/list"), "tools")
        self._listed = {text_of(entry, "name"): as_dict(entry) for entry in listed}
        self._handlers: dict[str, Callable[[dict[str, Json], McpSession], Json]] = {
            "initialize": self._initialize,
            "server/discover": self._discover,
            "tools/call": self._call,
            **{method: self._list_reader(method) for method in LISTS if method in results},
        }
        self._constants: dict[str, Json] = {"ping": {}, "logging/setLevel": {}}
        """Method to its result, whatever is asked."""
        if not results.keys().isdisjoint(("resources/list", "resources/templates/list", "skills/list")):
            self._handlers["resources/read"] = self._read
            self._constants |= {"resources/subscribe": {}, "resources/unsubscribe": {}}
        if "completions" in {**as_dict(self._modern.get("capabilities")), **as_dict(self._legacy.get("capabilities"))}:
            self._constants["completion/complete"] = {"completion": {"values": [], "total": 0, "hasMore": False}}
        for kind, handler in {"prompts": self._prompt, "groups": self._group, "skills": self._skill}.items():
            if f"{kind}/list" in results:
                self._handlers[f"{kind}/get"] = handler
        if "ai_help" in results:
            self._constants["ai_help"] = results["ai_help"]

    # -- messages ----------------------------------------------------------------------------------------------------

    def answer(self, message: Json, session: McpSession) -> Json | None:
        """Returns the response to a message, or the responses to a batch; `None` if there is nothing to say."""
        if isinstance(message, list) and message:
            return [response for item in message if (response := self.answer(item, session)) is not None] or None
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            return failed(None, RequestError(INVALID_REQUEST, "Invalid Request: not a JSON-RPC 2.0 message"))
        method, number = message.get("method"), message.get("id")
        if method is None and ("result" in message or "error" in message):
            return None
        if not isinstance(method, str) or ("id" in message and not isinstance(number, (str, int, float))):
            return failed(None, RequestError(INVALID_REQUEST, "Invalid Request: it needs a method and an id"))
        if "id" not in message:
            return None
        try:
            return {"jsonrpc": "2.0", "id": number, "result": self._result(method, message.get("params"), session)}
        except RequestError as error:
            return failed(number, error)

    def _result(self, method: str, params: Json, session: McpSession) -> Json:
        if params is not None and not isinstance(params, dict):
            raise RequestError(INVALID_PARAMS, "Invalid params: they are not an object")
        version = requested_version(params)
        if version is not None and version != MODERN_VERSION:
            data = {"supported": [MODERN_VERSION], "requested": version}
            raise RequestError(UNSUPPORTED_VERSION, "Unsupported protocol version", data)
        if method in self._handlers:
            result = self._handlers[method](as_dict(params), session)
        elif method in self._constants:
            result = self._constants[method]
        else:
            raise RequestError(METHOD_NOT_FOUND, f"Method not found: {method[:100]}")
        if version is None or not isinstance(result, dict):
            return result
        # What a server of an earlier revision declared lacks the members that this revision requires.
        is_cached = method in LISTS or method in ("resources/read", "server/discover")
        return {"resultType": "complete", **(_CACHED if is_cached else {}), **result}

    def input_schema(self, name: str) -> Json:
        """Returns the input schema of a tool as listed; null without one."""
        return self._listed.get(name, {}).get("inputSchema")

    # -- handshakes --------------------------------------------------------------------------------------------------

    def _initialize(self, params: dict[str, Json], session: McpSession) -> Json:
        legacy, modern = self._legacy, self._modern
        wanted = params.get("protocolVersion")
        if not isinstance(wanted, str):
            raise RequestError(INVALID_PARAMS, "Invalid params: protocolVersion is missing")
        declared = text_of(legacy, "protocolVersion")
        newest = declared if declared in LEGACY_VERSIONS else LEGACY_VERSIONS[-1]
        version = {"protocolVersion": wanted if wanted in LEGACY_VERSIONS else newest}
        if legacy:
            return {**legacy, **version}
        own = ("supportedVersions", "resultType", *_CACHED)
        meta = dict(as_dict(modern.get("_meta")))
        server_info = modern.get("serverInfo") or meta.pop(SERVER_INFO_KEY, None) or self._server_info()
        rest = {key: value for key, value in modern.items() if key not in own and (key != "_meta" or meta)}
        return {**version, **rest, **({"_meta": meta} if meta else {}), "serverInfo": server_info}

    def _discover(self, params: dict[str, Json], session: McpSession) -> Json:
        legacy, versions = self._legacy, {"supportedVersions": [MODERN_VERSION, *reversed(LEGACY_VERSIONS)]}
        if self._modern:
            return {**self._modern, **versions}
        rest = {key: value for key, value in legacy.items() if key not in ("protocolVersion", "serverInfo")}
        meta = {**as_dict(legacy.get("_meta")), SERVER_INFO_KEY: legacy.get("serverInfo") or self._server_info()}
        return {**versions, **rest, "_meta": meta}

    def _server_info(self) -> Json:
        return {"name": self._service.name, "version": self._service.version or __version__}

    # -- lists -------------------------------------------------------------------------------------------------------

    def _list_reader(self, method: str) -> Callable[[dict[str, Json], McpSession], Json]:
        pages = [as_dict(page) for page in as_list(self._results[method])]
        cursors = [None, *(page.get("nextCursor") for page in pages)]
        for last in pages[-1:]:  # the crawl stopped there
            pages[-1] = {name: value for name, value in last.items() if name != "nextCursor"}

        def read(params: dict[str, Json], session: McpSession) -> Json:
            for cursor, page in zip(cursors, pages, strict=False):
                if cursor == params.get("cursor"):
                    return page
            raise RequestError(INVALID_PARAMS, "Invalid cursor")

        return read

    def _group(self, params: dict[str, Json], session: McpSession) -> Json:
        for item in map(as_dict, as_list(self._results.get("groups/get"))):
            if as_dict(item.get("group")).get("name") == params.get("name") and item.get("result") is not None:
                return item["result"]
        raise RequestError(INVALID_PARAMS, f"Unknown group: {params.get('name')!s:.100}")

    def _skill(self, params: dict[str, Json], session: McpSession) -> Json:
        for skill in page_items(self._results.get("skills/list"), "skills"):
            if as_dict(skill).get("uri") == params.get("uri"):
                return {"skill": skill}
        raise RequestError(INVALID_PARAMS, f"Unknown skill: {params.get('uri')!s:.200}")

    # -- resources and prompts ---------------------------------------------------------------------------------------

    def _read(self, params: dict[str, Json], session: McpSession) -> Json:
        uri = params.get("uri")
        if not isinstance(uri, str):
            raise RequestError(INVALID_PARAMS, "Invalid params: uri is missing")
        descriptions = as_dict(self._results.get(DESCRIPTIONS))
        if descriptions and uri.partition("?")[0] == descriptions.get("uri"):
            return self._descriptions(uri, as_dict(descriptions.get("tools")), session)
        files = as_dict(self._results.get("skills/files"))
        if isinstance(files.get(uri), str):
            return {"contents": [{"uri": uri, "mimeType": "text/markdown", "text": files[uri]}]}
        for resource in page_items(self._results.get("resources/list"), "resources"):
            if as_dict(resource).get("uri") == uri:
                return {"contents": [_content(uri, as_dict(resource))]}
        for template in page_items(self._results.get("resources/templates/list"), "resourceTemplates"):
            if variables_in(uri, text_of(template, "uriTemplate") or "", ("",)) is not None:
                return {"contents": [_content(uri, as_dict(template))]}
        raise RequestError(RESOURCE_NOT_FOUND, "Resource not found", {"uri": uri})

    def _descriptions(self, uri: str, tools: dict[str, Json], session: McpSession) -> Json:
        """Returns the descriptions of tools, which authorises them in the session (seed 003, 5)."""
        query = uri.partition("?")[2]
        selection = next((item[6:] for item in query.split("&") if item.startswith("tools=")), "")
        if not selection:
            message = "You must specify one or more tool names in the 'tools' parameter."
            error = {"code": "MISSING_TOOL_SELECTION", "message": message}
            raise RequestError(INVALID_PARAMS, message, {"error": error})
        names = [unquote(selection)] if unquote(selection) in tools else list(map(unquote, selection.split(",")))
        unknown = {"available_tools": list(tools)}
        found = {name: tools.get(name, {"error": f"Tool {name!r:.100} not found", **unknown}) for name in names}
        session.update(tools.keys() & found.keys())
        return {"contents": [{"uri": uri, "mimeType": "application/json", "text": json.dumps(found)}]}

    def _prompt(self, params: dict[str, Json], session: McpSession) -> Json:
        name, arguments = params.get("name"), as_dict(params.get("arguments"))
        prompt = next((item for item in self._service.prompts if item.name == name), None)
        if prompt is None:
            raise RequestError(INVALID_PARAMS, f"Unknown prompt: {name!s:.100}")
        missing = [item.name for item in prompt.parameters if item.required and item.name not in arguments]
        if missing:
            raise RequestError(INVALID_PARAMS, f"Missing required arguments: {', '.join(missing)[:500]}")
        text = f"{prompt.name}: {json.dumps(arguments)}"
        description = {} if prompt.description is None else {"description": prompt.description}
        return {**description, "messages": [{"role": "user", "content": {"type": "text", "text": text}}]}

    # -- calls -------------------------------------------------------------------------------------------------------

    def _call(self, params: dict[str, Json], session: McpSession) -> Json:
        name, arguments = params.get("name"), params.get("arguments", {})
        if not isinstance(name, str) or not isinstance(arguments, dict):
            message = "Invalid params: a call has the name of a tool, and an object of arguments"
            self._log.add(None, params, [Fault("", message)], "invalid")
            raise RequestError(INVALID_PARAMS, message)
        if name not in self._tools:
            self._log.add(None, arguments, [Fault("", f"there is no tool {name!r:.100}")], "unknown-tool")
            raise RequestError(INVALID_PARAMS, f"Unknown tool: {name[:100]}")
        disclosed = as_dict(self._results.get(DESCRIPTIONS)) if requested_version(params) is None else {}
        is_described = name in session or name not in as_dict(disclosed.get("tools"))
        if self._service.disclosure is not None and not is_described:
            message = f"Tool {name!r} requires fetching its description before use."
            uri = f"{disclosed.get('uri')}?tools={name}"
            self._log.add(name, arguments, [Fault("", message)], "error:TOOL_DESCRIPTION_REQUIRED")
            error = {"code": "TOOL_DESCRIPTION_REQUIRED", "message": message, "resource_uri": uri}
            raise RequestError(INVALID_PARAMS, message, {"error": error})
        faults = list(self.validator.faults(arguments, self._tools[name].arguments_schema()))
        if faults:
            self._log.add(name, arguments, faults, "invalid")
            lines = "\n".join(f"{fault.pointer or '/'}: {fault.message}" for fault in faults)
            text = f"Invalid arguments for tool {name}:\n{lines}"
            # An error that the model reads (2025-11-25, "Error Handling").
            return {"content": [{"type": "text", "text": text}], "isError": True}
        self._log.add(name, arguments, (), "ok")
        return self._outcome(name, arguments)

    def _outcome(self, name: str, arguments: Json) -> Json:
        if name == MANIFEST_TOOL and (manifest := self._results.get("manifest")) is not None:
            return {"content": [{"type": "text", "text": json.dumps(manifest)}]}
        value, is_declared = self._answers.of_tool(self._tools[name], arguments)
        text = value if isinstance(value, str) else json.dumps(value)
        result: dict[str, Json] = {"content": [{"type": "text", "text": text}]}
        has_schema = isinstance(self._listed.get(name, {}).get("outputSchema"), dict)
        if is_declared and (has_schema or self._tools[name].output is not None) and isinstance(value, dict):
            result["structuredContent"] = value
        return result


def failed(number: Json, error: RequestError) -> dict[str, Json]:
    """Returns the response to a request that failed."""
    data = {} if error.data is None else {"data": error.data}
    return {"jsonrpc": "2.0", "id": number, "error": {"code": error.code, "message": error.message, **data}}


def requested_version(params: Json) -> str | None:
    """Returns the version that a request names in `_meta`, as those of the newest revision do."""
    return text_of(as_dict(as_dict(params).get("_meta")), VERSION_KEY)


def _content(uri: str, entry: dict[str, Json]) -> dict[str, Json]:
    """Returns the content of a resource, in its media type."""
    media_type = text_of(entry, "mimeType") or "text/plain"
    text = text_of(entry, "description") or text_of(entry, "title") or text_of(entry, "name") or uri
    is_binary = media_type.partition("/")[0] in ("image", "audio", "video") or media_type == "application/octet-stream"
    if is_binary:
        return {"uri": uri, "mimeType": media_type, "blob": "bW9jaw=="}
    return {"uri": uri, "mimeType": media_type, "text": json.dumps(text) if "json" in media_type else text}
