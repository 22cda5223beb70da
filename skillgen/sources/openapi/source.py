"""Reads an OpenAPI description (Swagger 2.0, OpenAPI 3.0, 3.1, 3.2) as a service."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from skillgen.errors import ProblemLog, SourceError
from skillgen.model.auth import LOGIN_POINTER, Access, Auth, Endpoint, Requirements
from skillgen.model.resource import Event
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.traversal import rewrite_pointers
from skillgen.model.values import Icon, Json, Origin, Value, child
from skillgen.security.addresses import host_of, icon_objection
from skillgen.sources.detect import shape_of, wrong_kind_error
from skillgen.sources.documents import Document
from skillgen.sources.json_access import as_dict, text_of, texts_of
from skillgen.sources.json_schema.loader import SchemaReader
from skillgen.sources.openapi.checks import (
    REST_EDITION,
    check_dialect,
    check_info,
    check_security,
    check_shapes,
    check_version,
    reads_siblings_of_references,
)
from skillgen.sources.openapi.operations import OperationReader, TagReader, tags_of
from skillgen.sources.openapi.references import Bundler, PointerMap, ReferencePolicy, Resolver
from skillgen.sources.openapi.requests import PathOperation
from skillgen.sources.openapi.responses import needs_xml_names
from skillgen.sources.openapi.security import (
    SecurityOptions,
    SecurityReader,
    default_endpoint,
    endpoints_from,
    is_absolute,
    scalar_text,
    url_of,
)
from skillgen.sources.openapi.swagger import SwaggerConverter


def service_from_description(
    document: Document, problems: ProblemLog, policy: ReferencePolicy | None = None
) -> Service:
    """Returns the service of a description, and of the other documents that it names and the policy allows.

    Raises:
        SourceError: the document is not OpenAPI or Swagger 2.0.
    """
    version = _checked_version(document.data, document.name)
    pointer_map, mapped_later = PointerMap(), ProblemLog()
    claims = check_version(document, version, mapped_later)
    data = document.data
    if document.refers_outward:
        has_names = not version.startswith(("2.", "3.0"))  # `$id` and `$anchor` came with OpenAPI 3.1
        data = Bundler(document, policy or ReferencePolicy(), pointer_map, mapped_later, has_names).bundle()
    shapes = ProblemLog()
    check_shapes(data, shapes)
    for problem in shapes:
        # Mapped before a conversion of Swagger 2.0 starts another pass of the pointer map.
        problems.add(pointer_map.problem_to_source(problem))
    if version.startswith("2."):
        data = SwaggerConverter(data, document.url, pointer_map, mapped_later).description()
    has_internal = policy is not None and policy.internal
    service = _service(data, version, document, mapped_later, claims=claims, has_internal=has_internal)
    if pointer_map:
        service = rewrite_pointers(service, pointer_map.source_of)
    for problem in mapped_later:
        problems.add(pointer_map.problem_to_source(problem))
    return service


def _service(
    data: dict[str, Json], version: str, document: Document, problems: ProblemLog, *, claims: bool, has_internal: bool
) -> Service:
    """Returns the service; `claims` is true for a manifest of the MCP REST Edition."""
    info = as_dict(data.get("info"))
    check_info(data, problems)
    reader = SchemaReader(problems)
    tags = TagReader(data, problems)
    resolver = Resolver(data, problems)
    endpoints = _endpoints(data, document, problems)
    security = SecurityReader(resolver, next((at.url for at in endpoints if is_absolute(at)), None))
    ref_siblings = reads_siblings_of_references(data)
    schemas = reader.open_document(data, "", ref_siblings=ref_siblings, reads_xml=needs_xml_names(data))
    check_dialect(data, problems)
    operations = OperationReader(resolver, schemas, document.url, tags, security, has_internal=has_internal)
    tools_with_operations = operations.tools()
    tools = tuple(tool for tool, _ in tools_with_operations)
    events = EventReader(operations).events(tools_with_operations)
    required_by_calls = security.default, *(tool.auth for tool in tools)
    auth = _mark_event_schemes(security.auth(), required_by_calls, (item.auth for item in events))
    if claims:
        check_security(data, auth, problems)
    if not auth:
        texts = {f"{item.location} {item.name}": item.description for tool in tools for item in tool.parameters}
        logins = [(login, login.partition(" ")[2]) for login in operations.logins]
        auth = tuple(
            Auth(kind="api-key", name=name, description=texts[login], sent_as=login, pointer=LOGIN_POINTER)
            for login, name in logins
        )
    if not tools:
        problems.report("no-operations", "/paths", "the description has no operations")
    title = text_of(info, "title")
    documentation_url = url_of(data.get("externalDocs"), "url", "/externalDocs", problems)
    description = "\n\n".join(filter(None, (text_of(info, "description"), *tags.introductions()))) or None
    extension = as_dict(info.get("x-mcp"))
    hosts = map(host_of, [*(endpoint.url for endpoint in endpoints), document.url, documentation_url])
    return Service(
        kind="openapi",
        protocol_version=version,
        name=title or "api",
        title=title,
        version=scalar_text(info.get("version")),
        summary=text_of(info, "summary"),
        description=description,
        homepage=documentation_url,
        license=text_of(as_dict(info.get("license")), "name"),
        icons=_icons(text_of(extension, "logo"), hosts, problems),
        endpoints=endpoints,
        uses=(REST_EDITION,) if claims else (),
        access=Access(
            api=Value(documentation_url) if documentation_url else None,
            origins={"api": Origin("declared", "/externalDocs/url")} if documentation_url else None,
        ),
        requirements=Requirements(
            auth=auth,
            registration_url=url_of(
                info.get("x-apiClientRegistration"), "url", "/info/x-apiClientRegistration", problems
            ),
        ),
        categories=texts_of(extension, "categories"),
        groups=tags.groups(tool.group for tool in tools if tool.group is not None),
        tools=tools,
        events=events,
        schemas=reader.named_types(),
        source_size_bytes=document.size_bytes,
    )


def _mark_event_schemes(
    auth: tuple[Auth, ...], calls: Iterable[SecurityOptions | None], events: Iterable[SecurityOptions | None]
) -> tuple[Auth, ...]:
    """Returns the schemes with those marked that only events require."""
    of_calls, of_events = (
        {credential.scheme for options in group for option in options or () for credential in option}
        for group in (calls, events)
    )
    return tuple(replace(item, is_for_events=True) if item.name in of_events - of_calls else item for item in auth)


def _checked_version(data: Json, name: str) -> str:
    if not isinstance(data, dict):
        raise SourceError("is not OpenAPI: the document is not an object", where=name, fix="give an OpenAPI document")
    version = data.get("openapi", data.get("swagger"))
    if version is None:
        if (error := wrong_kind_error(data, name)) is not None:
            raise error
        raise SourceError(f"is not OpenAPI: {shape_of(data)}", where=name, fix="give an OpenAPI document")
    version = str(version)
    if not version.startswith(("3.", "2.") if "openapi" not in data else "3."):
        raise SourceError(f"is OpenAPI {version[:20]!r}; Swagger 2.0 and OpenAPI 3.0 to 3.2 are read", where=name)
    return version


def _endpoints(data: dict[str, Json], document: Document, problems: ProblemLog) -> tuple[Endpoint, ...]:
    endpoints = endpoints_from(data.get("servers"), "/servers", document.url, problems)
    if not any(map(is_absolute, endpoints[:1])):
        problems.report(
            "base-url-missing", "/servers", "no absolute URL of the API is declared; a placeholder does not count"
        )
    if not endpoints and document.url is not None:
        return (default_endpoint(document.url),)
    return endpoints


def _icons(logo: str | None, hosts: Iterable[str | None], problems: ProblemLog) -> tuple[Icon, ...]:
    if logo is None:
        return ()
    if (objection := icon_objection(logo, filter(None, hosts))) is not None:
        problems.report("icon-left-out", "/info/x-mcp/logo", objection)
        return ()
    return (Icon(src=logo),)


# -- requests that the service sends ----------------------------------------------------------------------------------


_EventOperation = tuple[PathOperation, str, "str | None"]
"""An operation, the name of the event, and the tool that triggers it."""

_WEBHOOK_KEYS = ("webhooks", "x-webhooks")
"""Members with webhooks: that of OpenAPI 3.1, and the extension of many 3.0 descriptions."""


_DETAILED_LIMIT = 50
"""Events up to which their parameters and bodies are read. GitHub has 270, which would double its documents."""


class EventReader:
    """Reads the requests that the service sends."""

    def __init__(self, operations: OperationReader) -> None:
        self._operations = operations
        self._resolver = operations.resolver
        self._names: set[str] = set()

    def events(self, tools: Iterable[tuple[Tool, PathOperation]]) -> tuple[Event, ...]:
        """Returns the webhooks, then the callbacks of each tool."""
        events = list(self._webhooks())
        for tool, entry in tools:
            if "callbacks" in entry.operation:
                events += self._callbacks(tool, entry)
        is_detailed = len(events) <= _DETAILED_LIMIT
        if not is_detailed:
            self._resolver.problems.report(
                "events-not-detailed",
                f"/{next((key for key in _WEBHOOK_KEYS if key in self._resolver.document), 'paths')}",
                f"{len(events)} webhooks and callbacks are listed without their contents",
            )
        return tuple(self._event(*item, is_detailed=is_detailed) for item in events)

    def _webhooks(self) -> Iterator[_EventOperation]:
        for key in _WEBHOOK_KEYS:
            for entry in self._operations.requests.operations(as_dict(self._resolver.document.get(key)), f"/{key}"):
                yield entry, self._unique(entry.path, f"{entry.path} {entry.method.upper()}"), None

    def _callbacks(self, tool: Tool, entry: PathOperation) -> Iterator[_EventOperation]:
        pointer = child(entry.pointer, "callbacks")
        for name, raw in as_dict(entry.operation["callbacks"]).items():
            if name.startswith("x-"):
                continue
            callback, callback_pointer = self._resolver.resolve(raw, child(pointer, name))
            for request in self._operations.requests.operations(callback or {}, callback_pointer):
                yield request, self._unique(name, f"{name} of {tool.name}"), tool.name

    def _event(self, entry: PathOperation, name: str, tool: str | None, *, is_detailed: bool) -> Event:
        operation, pointer = entry.operation, entry.pointer
        raw, owners = operation.get("requestBody"), (*entry.items, (operation, pointer))
        location, operations = child(pointer, "requestBody"), self._operations
        body = operations.requests.body(raw if is_detailed else None, location, sent_by_service=True)
        sent = operations.requests.parameters(owners) if is_detailed else ()
        content = as_dict(self._resolver.resolve_or_empty(raw).get("content"))
        return Event(
            name=name,
            tool=tool,
            method=entry.sent_method,
            address=entry.path if tool is not None else None,
            summary=text_of(operation, "summary"),
            description=text_of(operation, "description"),
            parameters=sent + body.parameters,
            input=body.input,
            other_inputs=body.other_inputs,
            tags=tags_of(operation),
            media_types=tuple(filter(None, content)),
            answers=operations.responses.answers(operation, pointer) if is_detailed else (),
            auth=self._operations.security.declared_security(operation, pointer),
            deprecated=operation.get("deprecated") is True,
            pointer=pointer,
            origins=None if name == entry.path or tool is not None else {"name": Origin("inferred", "path and method")},
        )

    def _unique(self, name: str, longer: str) -> str:
        unique, number = (name if name not in self._names else longer), 2
        while unique in self._names:
            unique, number = f"{longer} {number}", number + 1
        self._names.add(unique)
        return unique
