"""Calls one tool of an MCP server, or one operation of an API: check, refuse or send, unwrap the answer."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import wait
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from skillgen.calls import script
from skillgen.calls.arguments import (
    CallChecker,
    as_errors,
    body_form,
    body_parameters,
    object_from_json,
    parameter_keys,
    unknown_name,
)
from skillgen.config.project import CallOptions
from skillgen.errors import SkillgenError, UsageError
from skillgen.model.credentials import origin_of
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.values import Json, child
from skillgen.pipeline.read import Request, read_source, server_target
from skillgen.render.scripts import advice_data, call_data, credential_parameters, sent_form, why_confirmed
from skillgen.security.addresses import hosts_of
from skillgen.security.secrets import Secrets, secrets_from_headers
from skillgen.sources.documents import is_url
from skillgen.sources.http import Network

if TYPE_CHECKING:
    from skillgen.sources.mcp.session import Session
    from skillgen.sources.mcp.target import ServerTarget

_FAULTS_SHOWN = 20


class Reply(Struct, frozen=True):
    """The answer to a call."""

    text: str
    """The result, or the error."""

    is_error: bool = False


class Caller(Protocol):
    """Sends calls to one service."""

    def shown(self, tool: Tool, arguments: dict[str, Json]) -> str:
        """Returns the request of a call, without secrets."""

    def send(self, tool: Tool, arguments: dict[str, Json]) -> Reply:
        """Sends a call, and returns the answer as text; images and other files are saved.

        Raises:
            SourceError: the service cannot be reached, or does not answer.
        """


class Calls:
    """Calls of the tools of one service."""

    def __init__(self, service: Service, caller: Caller, options: CallOptions) -> None:
        self.service = service
        self._tools = {tool.name: tool for tool in service.tools}
        self._checker = CallChecker(service)
        self._caller = caller
        self._options = options

    def run(self, name: str, words: Sequence[str]) -> Reply:
        """Makes the call of a command line."""
        tool = self.tool(name)
        return self._run(tool, self._checker.arguments(tool, words))

    def run_line(self, line: str) -> dict[str, Json]:
        """Makes the call of a line of a session, `{"tool": …, "arguments": {…}}`; returns the line of its answer."""
        name = None
        try:
            request = object_from_json(line)
            name, arguments = request.get("tool"), request.get("arguments", {})
            if not isinstance(name, str) or not isinstance(arguments, dict):
                fix = 'write {"tool": NAME, "arguments": {…}} on each line'
                raise UsageError("a line has no tool, or its arguments are not an object", fix=fix)
            reply = self._run(self.tool(name), arguments)
            return {"tool": name, "ok": not reply.is_error, "text": reply.text, "exit": int(reply.is_error)}
        except SkillgenError as error:
            return {"tool": name, "ok": False, "error": error.what, "fix": error.fix, "exit": int(error.exit_code)}

    def tool(self, name: str) -> Tool:
        """Returns the tool of a name.

        Raises:
            UsageError: there is no such tool.
        """
        if name in self._tools:
            return self._tools[name]
        raise UsageError(unknown_name(name, self._tools, "tool"), where=name[:80], fix="give the exact name of a tool")

    def _run(self, tool: Tool, arguments: Mapping[str, Json]) -> Reply:
        normal = self._checked(tool, arguments)
        if self._options.dry_run:
            return Reply(self._caller.shown(tool, normal))
        if (reason := why_confirmed(tool)) is not None and not self._options.yes:
            raise UsageError(f"{reason}, so nothing was sent", where=tool.name, fix="ask the user, then add --yes")
        return self._caller.send(tool, normal)

    def _checked(self, tool: Tool, arguments: Mapping[str, Json]) -> dict[str, Json]:
        normal, faults = self._checker.normalized(tool, arguments)
        faults += tuple(self._checker.faults(tool, normal, media_type_of(tool, normal)))
        filled = _filled(self.service, tool)
        faults = tuple(fault for fault in faults if fault.pointer not in filled or "required" not in fault.message)
        if faults:
            # A schema without `additionalProperties: false` allows a misspelt name, and only misses the right one.
            known = [item.name for item in tool.parameters] if tool.method is None else []
            unknown = {child("", name): unknown_name(name, known) for name in arguments if known and name not in known}
            lines = [f"{pointer}: {what}" for pointer, what in unknown.items()]
            others = (fault for fault in dict.fromkeys(faults) if fault.pointer not in unknown)
            lines += [f"{fault.pointer or '/'}: {fault.message}" for fault in others]
            more = f"; and {len(lines) - _FAULTS_SHOWN} more" if len(lines) > _FAULTS_SHOWN else ""
            what = f"the arguments are invalid, so nothing was sent: {'; '.join(lines[:_FAULTS_SHOWN])}{more}"
            raise UsageError(what, where=tool.name, fix="correct the arguments")
        return normal


def media_type_of(tool: Tool, arguments: Mapping[str, Json]) -> str | None:
    """Returns the media type of the body of a call, one that can hold its files; `None` without a body."""
    body_key = parameter_keys(tool)[1] if tool.method is not None else ""
    if tool.input is None or tool.method is None or body_key not in arguments:
        return None
    value = arguments[body_key]
    names = [name for form in (tool.input, *tool.other_inputs) for name in form.media_types]
    is_multipart = isinstance(value, dict) and any(map(_holds_file, value.values()))
    if is_multipart:
        wanted = [name for name in names if name.startswith("multipart/")]
    elif isinstance(value, script.File):
        wanted = [name for name in names if "json" not in name and not name.startswith("multipart/")]
    else:
        wanted = [name for name in names if not isinstance(value, (dict, list)) or not name.endswith("xml")]
    return next(iter(wanted or names), None)


def _filled(service: Service, tool: Tool, given: Sequence[str] = ()) -> dict[str, tuple[str, bool]]:
    """Returns the parameters with a credential by pointer, but those headers that are given: the end of the name of its
    variable, and whether a call needs it.
    """
    slots, body_key = parameter_keys(tool)
    found = {}
    for index, noun, is_needed, _ in credential_parameters(service, tool):
        item = tool.parameters[index]
        if item.location == "header" and item.name.lower() in given:
            continue
        slot = next((child("", key) for key, other in slots.items() if other is item), None)
        found[slot or child("", body_key, item.name)] = noun, is_needed
    return found


def _holds_file(value: Json) -> bool:
    return isinstance(value, script.File) or (isinstance(value, list) and any(map(_holds_file, value)))


@contextlib.contextmanager
def opened_calls(request: Request, options: CallOptions) -> Iterator[Calls]:
    """Reads a source, and makes the calls in the block; those to a server over the connection that was read.

    Raises:
        SourceError: the service cannot be reached or read.
        UsageError: the source is not one service that can be called.
    """
    target = server_target(request) if request.source.kind in ("command", "url", "config") else None
    with contextlib.ExitStack() as connections:
        sessions: list[Session] = []
        keep = replace(request, connections=connections, on_crawl=lambda _, session: sessions.append(session))
        service = read_source(keep).only
        if request.texts.base_url is not None and service.kind != "openapi":
            raise UsageError("has no effect without a description of an API", where="--base-url", fix="leave it out")
        if service.kind == "mcp" and target is not None:
            yield Calls(service, _McpCaller(service, target, options, sessions[0]), options)
        elif service.kind == "openapi":
            yield Calls(service, _HttpCaller(service, request, options), options)
        else:
            what = "is a program; its commands are called in a shell" if service.kind == "cli" else "cannot be called"
            fix = "run the command itself" if service.kind == "cli" else "give the server or the description itself"
            raise UsageError(what, where=service.name, fix=fix)


class _McpCaller:
    """Calls the tools of an MCP server over an open session."""

    def __init__(self, service: Service, target: ServerTarget, options: CallOptions, session: Session) -> None:
        self._service, self._target, self._options, self._session = service, target, options, session
        self._secrets = target.secrets()

    def shown(self, tool: Tool, arguments: dict[str, Json]) -> str:
        message = {"method": "tools/call", "params": {"name": tool.name, "arguments": script.with_texts(arguments)}}
        text = f"{self._target.where}\n{json.dumps(message, ensure_ascii=False, indent=2)}"
        return self._secrets.hide(text)

    def send(self, tool: Tool, arguments: dict[str, Json]) -> Reply:
        from skillgen.sources.mcp.connect import crawl_error
        from skillgen.sources.mcp.jsonrpc import RpcError
        from skillgen.sources.mcp.session import NoAnswer

        if tool.task_support == "required":
            fix = "call it from a host that supports tasks"
            raise UsageError("can only be called as a task", where=tool.name, fix=fix)
        future = self._session.send("tools/call", {"name": tool.name, "arguments": script.with_texts(arguments)})
        wait([future], self._target.timeout_s)
        failure = future.exception() if future.done() else NoAnswer("tools/call", self._target.timeout_s)
        if isinstance(failure, RpcError) and (failure.http_status is None or failure.http_status < 400):
            code = "" if failure.code is None else f" (code {failure.code})"
            text = self._secrets.hide(f"the server answers with an error{code}: {failure.message}")
            return Reply("\n".join([text, *script.advice(advice_data(self._service, tool), text)]), is_error=True)
        if failure is not None:
            symptoms = self._session.connection.symptoms()
            raise crawl_error(failure, "tools/call", where=self._target.where, symptoms=symptoms, secrets=self._secrets)
        with as_errors():
            text, is_error = script.unwrapped(future.result(), advice_data(self._service, tool), self._options.out)
        return Reply(self._secrets.hide(text), is_error)


class _HttpCaller:
    """Calls the operations of an API."""

    def __init__(self, service: Service, request: Request, options: CallOptions) -> None:
        self._service, self._request, self._options = service, request, options

    def shown(self, tool: Tool, arguments: dict[str, Json]) -> str:
        data, own = self._data(tool)
        environment = script.masked(data, data["tools"][tool.name], self._request.environment)
        method, url, headers, content = self._http_request(data, tool, arguments, environment)
        headers = {**headers, **dict.fromkeys(own, "…")}
        text: str = script.request_text(method, url, headers, content)
        return text.replace("%24SKILL_", "$SKILL_")

    def send(self, tool: Tool, arguments: dict[str, Json]) -> Reply:
        data, own = self._data(tool)
        method, url, headers, content = self._http_request(data, tool, arguments, self._request.environment)
        headers = {**headers, **own}
        accept = next((headers.pop(name) for name in list(headers) if name.lower() == "accept"), "*/*")
        network = Network(
            named=self._named_hosts(url),
            timeout_s=self._request.source.timeout,
            size_limit_bytes=script.SIZE_LIMIT,
            headers=headers,
            method=method,
            content=content,
            returns_errors=True,
        )
        secrets = self._secrets(tool)
        with secrets.redact_errors(), as_errors():
            response = network.fetch(url, accept=accept)
            kept = {name.title(): value for name, value in response.headers.items()}
            kept["Content-Type"] = response.content_type
            advice = advice_data(self._service, tool)
            text, is_error = script.http_answer(response.status, kept, response.content, advice, self._options.out)
        return Reply(secrets.hide(text), is_error)

    def _secrets(self, tool: Tool) -> Secrets:
        """Returns the secrets that a call sends."""
        environment, (data, own) = self._request.environment, self._data(tool)
        names = script.base_url(data, data["tools"][tool.name], environment)[1].values()
        return secrets_from_headers(own.items()) | Secrets(
            {environment[name]: name for name in names if environment.get(name)}
        )

    def _http_request(self, data: dict[str, Any], tool: Tool, arguments: dict[str, Json], environment: Any) -> Any:
        slots, body_key = parameter_keys(tool)
        found = data["tools"][tool.name]
        places = {key: item for key, item in found["parameters"].items() if item["in"] != "body"}
        # The keys outside of the body, which `input_keys` makes, need not be those of the flat form.
        places = dict(zip(slots, places.values(), strict=True))
        values = {key: item for key, item in arguments.items() if key != body_key}
        value, within = arguments.get(body_key), child("", body_key)
        credentials = _filled(self._service, tool, data["given"])
        in_body = {place.removeprefix(within): item for place, item in credentials.items() if f"{within}/" in place}
        others = {place: item for place, item in credentials.items() if f"{within}/" not in place}
        with as_errors():
            values = script.filled(data, found, others, values, environment)
            if in_body and isinstance(value or {}, dict):
                value = script.filled(data, found, in_body, value or {}, environment)
            form, media_type = None, media_type_of(tool, arguments)
            if (body_key in arguments or in_body) and (chosen := body_form(tool, media_type)) is not None:
                form = sent_form(chosen, body_parameters(tool, chosen), media_type)
            return script.http_request(data, {**found, "parameters": places}, values, form, value, environment)

    def _data(self, tool: Tool) -> tuple[dict[str, Any], dict[str, str]]:
        """Returns what a call needs, and the headers of `--header` that are for its origin.

        They are for what the user named: the base URL, the URL of the description, or the API that a file describes.
        """
        data, environment, base_url = call_data(self._service, [tool]), self._request.environment, ""
        if self._request.texts.base_url:
            data["tools"][tool.name].pop("base", None)
            base_url = self._request.texts.base_url
        source = self._description()
        named = (
            environment.get(script.url_variable(data, data["tools"][tool.name].get("base") or data["base"]))
            or base_url
            or (source if is_url(source) else data["base"])
        )
        with as_errors():
            url, _ = script.base_url(data, data["tools"][tool.name], environment)
        is_elsewhere = "{" not in named and origin_of(named) not in (None, origin_of(url))
        own = {} if is_elsewhere else dict(self._request.source.headers)
        data["given"] = [name.lower() for name in own]
        return data, own

    def _description(self) -> str:
        """Returns the file or the URL of the description."""
        source = self._request.source
        return str(source.openapi or source.document or "")

    def _named_hosts(self, url: str) -> frozenset[str]:
        """Returns the hosts that may be private: that of the description, or those that a local file names."""
        source = self._description()
        named = [source] if is_url(source) else [url]
        return hosts_of([*named, *([self._request.texts.base_url] if self._request.texts.base_url else [])])
