"""Calls one tool of an MCP server, or one operation of an API: check, refuse or send, unwrap the answer.

`call` and the program of `--emit scripts` are one: what is sent here differs in its network and its secrets.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from msgspec import structs

from skillgen.calls import script
from skillgen.config.project import CallOptions
from skillgen.errors import ExitCode, SkillgenError, SourceError, UsageError
from skillgen.model.check import unknown
from skillgen.model.credentials import origin_of
from skillgen.model.tool import Tool
from skillgen.pipeline.read import read_source
from skillgen.pipeline.results import Request
from skillgen.render.scripts import call_data, why_confirmed
from skillgen.security.secrets import Secrets, hosts_of, secrets_from_headers
from skillgen.sources.documents import is_url
from skillgen.sources.http import Network
from skillgen.sources.mcp.session import RpcError, Session
from skillgen.text.markdown import first_of

if TYPE_CHECKING:
    from skillgen.sources.mcp.target import ServerTarget


def call_tool(request: Request, name: str, words: Sequence[str], options: CallOptions) -> tuple[str, bool]:
    """Calls a tool of the only service of a source, one of a server over the connection that was read.

    Returns the result, or the error, and whether it is an error.

    Raises:
        SourceError: the service cannot be reached or read, or does not answer.
        UsageError: the source is not one service that can be called, there is no such tool, the arguments are invalid,
            or a person must confirm the call.
    """
    with contextlib.ExitStack() as connections:
        crawled: list[tuple[Session, ServerTarget]] = []
        keep = replace(request, connections=connections, on_crawl=lambda _, *server: crawled.append(server))
        service = read_source(keep).only
        if request.texts.base_url is not None and service.kind != "openapi":
            raise UsageError("has no effect without a description of an API", where="--base-url", fix="leave it out")
        if service.kind == "cli" or (service.kind == "mcp" and not crawled):
            what = "is a program; its commands are called in a shell" if service.kind == "cli" else "cannot be called"
            fix = "run the command itself" if service.kind == "cli" else "give the server or the description itself"
            raise UsageError(what, where=service.name, fix=fix)
        tools = {tool.name: tool for tool in service.tools}
        if (tool := tools.get(name)) is None:
            what = unknown(name, tools, "tool") if name else f"no tool is given; the tools are {first_of(tools, 12)}"
            raise UsageError(what, where=name[:80], fix="give the exact name of a tool")
        names = [word.partition("=")[0] for word in words]
        if files := {item[:-1].removeprefix("body.") for item in names if item.endswith("@")}:
            tool = _with_form_of_files(tool, files)
        data = call_data(service, [tool])
        found = data["tools"][name]
        try:
            client: _McpClient | _HttpClient
            client = _McpClient(data, *crawled[0], options) if crawled else _HttpClient(data, request, options)
            with client.hidden.redact_errors():
                arguments = script.checked(client, found, script.read_arguments(words, found, data["types"]))
                if options.dry_run:
                    return client.dry_run(name, found, arguments).replace("%24SKILL_", "$SKILL_"), False
                if (reason := why_confirmed(tool)) is not None and not options.yes:
                    raise UsageError(f"{reason}, so nothing was sent", where=name, fix="ask the user, then add --yes")
                text, is_error = client.call(name, found, arguments)
            return client.hidden.hide(text), is_error
        except script.Failure as failure:
            first, *faults = str(failure).split("\n  ")
            what, _, fix = first.partition("; ")
            if faults:
                what, fix = f"{what}: {'; '.join(faults)}", "correct the arguments"
            kind: Callable[..., SkillgenError] = UsageError if failure.code == ExitCode.USAGE else SourceError
            raise kind(what, where=name, fix=fix or None) from None


def _with_form_of_files(tool: Tool, names: set[str]) -> Tool:
    """Returns a tool with the form of its body that can hold these files, if it has one."""
    for form in (tool.input, *tool.other_inputs) if tool.input is not None else ():
        kinds = tuple(name for name in form.media_types if name.startswith("multipart/"))
        members = tool.body_parameters(form)
        if kinds and names.issubset(item.name for item in members):
            parameters = (*(item for item in tool.parameters if item.location != "body"), *members)
            return structs.replace(tool, input=structs.replace(form, media_types=kinds), parameters=parameters)
    return tool


class _McpClient(script.McpClient):
    """Calls the tools of an MCP server over an open session."""

    def __init__(self, data: dict[str, Any], session: Session, target: ServerTarget, options: CallOptions) -> None:
        self.data, self.timeout_s, self.folder = data, target.timeout_s, options.out
        self.command, self.url, self.version = None, target.where, "open"
        self.hidden = target.secrets()
        # One of its own, since the deadline of the crawl does not count.
        self._session = Session(session.connection, session.handshake, self.timeout_s)

    def dry_run(self, name: str, tool: Any, arguments: Any) -> str:
        """Returns the request of a call, without secrets."""
        return self.hidden.hide(super().dry_run(name, tool, arguments))

    def ask(self, method: str, params: Any) -> Any:
        """Sends a request, and returns the answer to it."""
        from skillgen.sources.mcp.connect import crawl_error

        answer = self._session.request(method, params)
        failure = answer.failure
        if isinstance(failure, RpcError) and (failure.http_status is None or failure.http_status < 400):
            return {"error": {"code": failure.code, "message": failure.message}}
        if failure is not None:
            symptoms = self._session.connection.symptoms()
            raise crawl_error(failure, method, where=self.url, symptoms=symptoms, secrets=self.hidden)
        return {"result": answer.result}


class _HttpClient(script.HttpClient):
    """Calls one operation of an API; a header of `--header` goes to the origin that the user named.

    That is the base URL, the URL of the description, or the API that a file describes.
    """

    def __init__(self, data: dict[str, Any], request: Request, options: CallOptions) -> None:
        super().__init__(data, request.source.timeout, options.out)
        self.environment, base_url = request.environment, request.texts.base_url or ""
        (tool,) = data["tools"].values()
        if base_url:
            tool.pop("base", None)
        source = str(request.source.openapi or request.source.document or "")
        url, variables = script.base_url(data, tool, self.environment)
        own_url = self.environment.get(script.url_variable(data, tool.get("base") or data["base"]))
        named = own_url or base_url or (source if is_url(source) else data["base"])
        is_elsewhere = "{" not in named and origin_of(named) not in (None, origin_of(url))
        self._own = {} if is_elsewhere else dict(request.source.headers)
        # Hosts that may be private: that of the description, or those that a local file names.
        self._named = hosts_of([source if is_url(source) else url, *([base_url] if base_url else [])])
        data["given"] = [name.lower() for name in self._own]
        values = {self.environment[name]: name for name in variables.values() if self.environment.get(name)}
        self.hidden = secrets_from_headers(self._own.items()) | Secrets(values)

    def request(self, tool: Any, arguments: Any, environment: Any) -> Any:
        """Returns the request of a call."""
        method, url, headers, content = super().request(tool, arguments, environment)
        own = self._own if environment is self.environment else dict.fromkeys(self._own, "…")
        return method, url, {**headers, **own}, content

    def answer(self, method: str, url: str, headers: Any, content: bytes) -> Any:
        """Returns the status, the headers and the body of the answer to a request."""
        accept = next((headers.pop(name) for name in list(headers) if name.lower() == "accept"), "*/*")
        network = Network(
            named=self._named,
            timeout_s=self.timeout_s,
            size_limit_bytes=script.SIZE_LIMIT,
            headers=headers,
            method=method,
            content=content,
            returns_errors=True,
        )
        response = network.fetch(url, accept=accept)
        kept = {name.title(): value for name, value in response.headers.items()}
        return response.status, {**kept, "Content-Type": response.content_type}, response.content
