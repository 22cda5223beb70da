"""Reads an OpenAPI description (Swagger 2.0, OpenAPI 3.0, 3.1, 3.2) as a service."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from urllib.parse import urljoin, urlsplit

from msgspec.structs import replace

from skillgen.errors import ProblemLog, SourceError
from skillgen.model.auth import LOGIN_POINTER, Access, Auth, Endpoint, Requirements
from skillgen.model.resource import Event
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.traversal import rewrite_pointers
from skillgen.model.values import Icon, Json, Origin, Value, child
from skillgen.security.secrets import host_of, icon_objection, without_credentials
from skillgen.sources.detect import shape_of, wrong_kind_error
from skillgen.sources.documents import Document
from skillgen.sources.json_access import as_dict, as_list, text_of, texts_of
from skillgen.sources.json_schema.keywords import rewrite_objects
from skillgen.sources.json_schema.loader import SchemaReader
from skillgen.sources.openapi.checks import (
    DRAFT_07,
    REST_EDITION,
    check_dialect,
    check_info,
    check_security,
    check_shapes,
    check_version,
)
from skillgen.sources.openapi.operations import OperationReader, TagReader, tags_of
from skillgen.sources.openapi.references import FILES_KEY, Bundler, PointerMap, ReferencePolicy, Resolver
from skillgen.sources.openapi.requests import PathOperation
from skillgen.sources.openapi.responses import needs_xml_names
from skillgen.sources.openapi.security import (
    SecurityOptions,
    SecurityReader,
    endpoints_from,
    is_absolute,
    scalar_text,
    url_of,
)


def _convert_schema(raw: Json) -> Json:
    """Converts a schema, or an object that holds schemas; returns the same object if nothing changes."""
    return rewrite_objects(raw, _convert_keywords)


def _convert_keywords(raw: dict[str, Json], _pointer: str, is_map: bool) -> dict[str, Json]:
    """Converts what differs: `x-nullable`, `type: file`, and a discriminator that is a string."""
    if is_map:
        return raw
    changed: dict[str, Json] = {}
    if raw.get("x-nullable") is True and "nullable" not in raw:
        changed["nullable"] = True
    if raw.get("type") == "file":
        changed |= {"type": "string", "format": "binary"}
    if isinstance(discriminator := raw.get("discriminator"), str):
        changed["discriminator"] = {"propertyName": discriminator}
    return {**raw, **changed} if changed else raw


_METHODS = ("get", "put", "post", "delete", "options", "head", "patch")
_PARAMETER_MEMBERS = frozenset({"name", "in", "description", "required", "allowEmptyValue", "collectionFormat", "$ref"})
_STYLES: dict[str, dict[str, Json]] = {
    "multi": {"style": "form", "explode": True},
    "csv": {"explode": False},
    "ssv": {"style": "spaceDelimited", "explode": False},
    "pipes": {"style": "pipeDelimited", "explode": False},
    "tsv": {"style": "tabDelimited", "explode": False},
}
"""The members of OpenAPI 3 for each `collectionFormat`; it has no style for `tsv`."""
_FORM_TYPES = ("multipart/form-data", "application/x-www-form-urlencoded")
_FLOWS = {
    "implicit": "implicit",
    "password": "password",
    "application": "clientCredentials",
    "accessCode": "authorizationCode",
}
_Located = tuple[dict[str, Json], str]
"""An object and its pointer in the source."""


class SwaggerConverter:
    """Converts a Swagger 2.0 description to OpenAPI 3, without changing it.

    `source` is the pointer of an object in the Swagger document, `pointer` that in the converted one.
    """

    def __init__(self, data: dict[str, Json], url: str | None, pointer_map: PointerMap, problems: ProblemLog) -> None:
        """`url` is where the description was loaded from."""
        self._data = data
        self._url = url
        self._map = pointer_map
        self._problems = problems
        self._resolver = Resolver(data, problems)
        pointer_map.start_pass()
        self._consumes = texts_of(data, "consumes")
        self._produces = texts_of(data, "produces")
        items = map(as_dict, as_dict(data.get("paths")).values())
        own = [as_dict(item[method]).get("schemes") for item in items for method in _METHODS if method in item]
        is_common = "schemes" not in data and own and own.count(own[0]) == len(own)  # goa writes them only there
        self._schemes = own[0] if is_common else data.get("schemes")

    def description(self) -> dict[str, Json]:
        """Returns the converted description."""
        data = dict(self._data)
        for key in ("swagger", "host", "basePath", "schemes", "consumes", "produces", "securityDefinitions"):
            data.pop(key, None)
        data["openapi"] = "3.0.3"
        data["paths"] = {**as_dict(data.get("paths")), **as_dict(data.pop("x-ms-paths", None))}  # those with a query
        data["servers"] = self._servers(self._schemes)
        self._map.record("/servers", "/host")
        schemes = as_dict(self._data.get("securityDefinitions"))
        self._map.record("/components/securitySchemes", "/securityDefinitions")
        data["components"] = {"securitySchemes": {name: self._scheme(name, raw) for name, raw in schemes.items()}}
        for key, convert in (
            ("definitions", lambda raw, _: _convert_schema(raw)),
            (FILES_KEY, lambda file, _: {stem: _convert_schema(raw) for stem, raw in file.items()}),
            ("parameters", lambda raw, pointer: self._parameter(raw, pointer, pointer)),
            ("responses", lambda raw, pointer: self._response(raw, pointer, pointer, self._produces)),
            ("paths", self._path_item),
        ):
            if isinstance(data.get(key), dict):
                data[key] = {name: convert(raw, child("", key, name)) for name, raw in data[key].items()}
        return data

    def _servers(self, schemes: Json) -> list[Json]:
        host, base = text_of(self._data, "host") or "", text_of(self._data, "basePath") or ""
        hosts = as_dict(self._data.get("x-ms-parameterized-host"))  # of Azure
        host = text_of(hosts, "hostTemplate") or host
        named = map(self._resolver.resolve_or_empty, as_list(hosts.get("parameters")))
        more = {"variables": {text_of(item, "name") or "": item for item in named}} if hosts else {}
        if hosts.get("useSchemePrefix") is False:
            return [{"url": f"{host}{base}", **more}]
        declared = [scheme for scheme in as_list(schemes) if isinstance(scheme, str) and scheme]
        schemes_in_order = sorted(declared, key=lambda scheme: {"https": 0, "http": 1}.get(scheme, 2))
        scheme, slashes, authority = host.partition("//")
        if slashes and (scheme == "" or scheme.endswith(":")):
            host, scheme = authority, scheme.removesuffix(":").lower()
            message = f"`host` has a scheme, {scheme!r}" if scheme else "`host` begins with two slashes"
            self._problems.report("server-invalid", "/host", message, "write the host and the port only")
            schemes_in_order = schemes_in_order or list(filter(None, [scheme]))
        if base and not base.startswith("/"):
            base = f"/{base}"
        if not host and schemes_in_order and self._url is not None:
            # "If the host is not included, the host serving the documentation is to be used" (2.0, "Swagger Object").
            host = urlsplit(self._url).netloc
        host = host.rstrip("/")
        if not host:
            return [{"url": base}] if base else []
        # Without schemes, it is the scheme of the URL of the description: the server URL is relative to that.
        urls = [f"{scheme}://{host}{base}" for scheme in schemes_in_order] or [f"//{host}{base}"]
        return [{"url": url, **more} for url in urls]

    def _scheme(self, name: str, raw: Json) -> Json:
        kind, flow = text_of(raw, "type"), text_of(raw, "flow")
        if kind == "basic":
            return {**raw, "type": "http", "scheme": "basic"}
        if kind != "oauth2" or flow is None:
            return raw
        flow = _FLOWS.get(flow, flow)
        self._map.record(child("/components/securitySchemes", name, "flows", flow), child("/securityDefinitions", name))
        scheme = {key: value for key, value in raw.items() if key in ("type", "description") or key.startswith("x-")}
        settings = {key: raw[key] for key in ("authorizationUrl", "tokenUrl", "scopes") if key in raw}
        return {**scheme, "flows": {flow: settings}}

    def _followed(self, raw: dict[str, Json], source: str, pointer: str) -> _Located:
        """Returns the target of a reference, or the object itself if it has no reference that can be followed.

        Only Swagger 2.0 has references there.
        """
        if text_of(raw, "$ref") is None:
            return raw, source
        target, source = self._resolver.resolve(raw, source)
        self._map.record(pointer, source)
        return target or raw, source

    def _path_item(self, raw: Json, pointer: str) -> Json:
        if not isinstance(raw, dict) or pointer.startswith("/paths/x-"):
            return raw
        raw, source = self._followed(raw, pointer, pointer)
        parameters, body, form = self._parameters(raw.get("parameters"), source, pointer)
        item = {**raw, "parameters": parameters} if "parameters" in raw else dict(raw)
        for method in _METHODS:
            if isinstance(raw.get(method), dict):
                item[method] = self._operation(raw[method], child(source, method), child(pointer, method), body, form)
        return item

    def _operation(
        self, raw: dict[str, Json], source: str, pointer: str, body: _Located | None, form: dict[str, _Located]
    ) -> Json:
        operation = {key: value for key, value in raw.items() if key not in ("consumes", "produces", "schemes")}
        parameters, own_body, own_form = self._parameters(raw.get("parameters"), source, pointer)
        if "parameters" in raw:
            operation["parameters"] = parameters
        body, form = own_body or body, {**form, **own_form}
        consumes = texts_of(raw, "consumes") if "consumes" in raw else self._consumes
        if body is not None:
            operation["requestBody"] = self._body(*body, consumes, f"{pointer}/requestBody")
        elif form:
            operation["requestBody"] = self._form(form, consumes, f"{pointer}/requestBody")
        produces = texts_of(raw, "produces") if "produces" in raw else self._produces
        if isinstance(raw.get("responses"), dict):
            at, into = f"{source}/responses", f"{pointer}/responses"
            operation["responses"] = {
                status: self._response(response, child(at, status), child(into, status), produces)
                for status, response in raw["responses"].items()
            }
        if "schemes" in raw and raw["schemes"] != self._schemes:
            operation["servers"] = self._servers(raw["schemes"])
            self._map.record(f"{pointer}/servers", f"{source}/schemes")
        return operation

    def _parameters(
        self, raw: Json, source: str, pointer: str
    ) -> tuple[list[Json], _Located | None, dict[str, _Located]]:
        """Returns the converted parameters, the body, and the form fields by name; only 2.0 has the latter two here."""
        converted: list[Json] = []
        body: _Located | None = None
        form: dict[str, _Located] = {}
        for index, item in enumerate(as_list(raw)):
            place = f"{source}/parameters/{index}"
            if text_of(item, "$ref") is not None:
                target, place = self._resolver.resolve(item, place)
                if target is None:
                    self._map.record(f"{pointer}/parameters/{len(converted)}", place)
                    converted.append(item)  # its reader says that it is not there
                    continue
                item = target
            if text_of(item, "in") == "body":
                body = (item, place)
            elif text_of(item, "in") == "formData":
                form[text_of(item, "name") or ""] = (item, place)
            else:
                into = f"{pointer}/parameters/{len(converted)}"
                self._map.record(into, place)
                converted.append(self._parameter(item, place, into))
        return converted, body, form

    def _parameter(self, raw: Json, source: str, pointer: str) -> Json:
        if not isinstance(raw, dict) or text_of(raw, "in") in ("body", "formData"):
            return raw
        parameter = {key: value for key, value in raw.items() if key in _PARAMETER_MEMBERS or key.startswith("x-")}
        parameter.pop("collectionFormat", None)
        if raw.get("type") == "array":
            parameter |= _style(raw)
        schema = {key: value for key, value in raw.items() if key not in parameter and key not in _PARAMETER_MEMBERS}
        if "x-nullable" in raw:
            schema["x-nullable"] = raw["x-nullable"]
        parameter["schema"] = _convert_schema(schema)
        self._map.record(f"{pointer}/schema", source)
        return parameter

    def _body(self, raw: dict[str, Json], source: str, consumes: tuple[str, ...], pointer: str) -> Json:
        self._map.record(pointer, source)
        content = self._content(consumes or ("",), {"schema": _convert_schema(raw.get("schema", {}))}, source, pointer)
        return {"description": raw.get("description"), "required": raw.get("required"), "content": content}

    def _form(self, form: dict[str, _Located], consumes: tuple[str, ...], pointer: str) -> Json:
        has_file = any(raw.get("type") == "file" for raw, _ in form.values())
        media_types = [name for name in consumes if name in _FORM_TYPES and not (has_file and name != _FORM_TYPES[0])]
        properties, encoding = dict[str, Json](), dict[str, Json]()
        for name, (raw, _) in form.items():
            schema = {key: value for key, value in raw.items() if key not in _PARAMETER_MEMBERS or key == "description"}
            properties[name] = _convert_schema(schema)
            if raw.get("type") == "array" and as_dict(raw.get("items")).get("type") != "file":
                encoding[name] = _style(raw)
        required = [name for name, (raw, _) in form.items() if raw.get("required") is True]
        media: Json = {"schema": {"type": "object", "properties": properties, "required": required}}
        media |= {"encoding": encoding} if encoding else {}
        source = next(iter(form.values()))[1].rpartition("/")[0]
        self._map.record(pointer, source)
        content = self._content(media_types or [_FORM_TYPES[not has_file]], media, source, pointer)
        for media_type in content:
            for name, (_, place) in form.items():
                self._map.record(child(pointer, "content", media_type, "schema", "properties", name), place)
        return {"required": bool(required), "content": content}

    def _response(self, raw: Json, source: str, pointer: str, produces: tuple[str, ...]) -> Json:
        if not isinstance(raw, dict) or (text_of(raw, "$ref") or "").startswith("#/responses/"):
            return raw  # the latter is converted there
        raw, source = self._followed(raw, source, pointer)
        response = {key: value for key, value in raw.items() if key not in ("schema", "examples")}
        if isinstance(raw.get("headers"), dict):
            response["headers"] = {name: _header(header) for name, header in raw["headers"].items()}
        examples = as_dict(raw.get("examples"))
        content: dict[str, Json] = {name: {"example": value} for name, value in examples.items()}
        if "schema" in raw:
            media_types = dict.fromkeys((*examples, *produces)) or ("",)
            media = self._content(media_types, {"schema": _convert_schema(raw["schema"])}, source, pointer)
            content = {name: {**content.get(name, {}), **media[name]} for name in media}
        return {**response, "content": content} if content else response

    def _content(self, media_types: Iterable[str], media: Json, source: str, pointer: str) -> dict[str, Json]:
        """Returns the `content` of the object at a pointer, alike for each media type."""
        for media_type in media_types:
            self._map.record(child(pointer, "content", media_type), source)
        return dict.fromkeys(media_types, media)


def _style(raw: dict[str, Json]) -> dict[str, Json]:
    return _STYLES.get(text_of(raw, "collectionFormat") or "csv", _STYLES["csv"])


def _header(raw: Json) -> Json:
    if not isinstance(raw, dict):
        return raw
    schema = {key: value for key, value in raw.items() if key not in ("description", "collectionFormat")}
    return {"description": raw.get("description"), "schema": _convert_schema(schema)}


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
    # JSON Schema before 2019-09 ignores keywords next to a `$ref`, as OpenAPI before 3.1 does.
    ref_siblings = resolver.reads_ref_siblings and not DRAFT_07.match(text_of(data, "jsonSchemaDialect") or "")
    schemas = reader.open_document(data, "", ref_siblings=ref_siblings, reads_xml=needs_xml_names(data))
    check_dialect(data, problems)
    operations = OperationReader(resolver, schemas, document.url, tags, security, has_internal=has_internal)
    tools_with_operations = operations.tools()
    tools = tuple(tool for tool, _ in tools_with_operations)
    events = EventReader(operations).events(tools_with_operations)
    required_by_calls = security.default, *(tool.auth for tool in tools)
    auth = _mark_event_schemes(security.auth, required_by_calls, (item.auth for item in events))
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
    place = "x-apiClientRegistration"
    registration_url = url_of(info.get(place), "url", f"/info/{place}", problems)
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
        requirements=Requirements(auth=auth, registration_url=registration_url),
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
    version = as_dict(data).get("openapi", as_dict(data).get("swagger"))
    if version is None:
        error = wrong_kind_error(data, name) if isinstance(data, dict) else None
        shape = shape_of(data) if isinstance(data, dict) else "the document is not an object"
        raise error or SourceError(f"is not OpenAPI: {shape}", where=name, fix="give an OpenAPI document")
    version = str(version)
    if not version.startswith(("3.", "2.") if "openapi" not in data else "3."):
        raise SourceError(f"is OpenAPI {version[:20]!r}; Swagger 2.0 and OpenAPI 3.0 to 3.2 are read", where=name)
    return version


def _endpoints(data: dict[str, Json], document: Document, problems: ProblemLog) -> tuple[Endpoint, ...]:
    endpoints = endpoints_from(data.get("servers"), "/servers", document.url, problems)
    if not any(map(is_absolute, endpoints[:1])):
        message = "no absolute URL of the API is declared; a placeholder does not count"
        problems.report("base-url-missing", "/servers", message)
    if not endpoints and document.url is not None:
        url = without_credentials(urljoin(document.url, "/"))
        return (Endpoint(url=url, origins={"url": Origin("defaulted", "where the description was found")}),)
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
        events: list[_EventOperation] = []
        for key in _WEBHOOK_KEYS:
            for entry in self._operations.requests.operations(as_dict(self._resolver.document.get(key)), f"/{key}"):
                events.append((entry, self._unique(entry.path, f"{entry.path} {entry.method.upper()}"), None))
        for tool, entry in tools:
            if "callbacks" in entry.operation:
                events += self._callbacks(tool, entry)
        is_detailed = len(events) <= _DETAILED_LIMIT
        if not is_detailed:
            place = next((key for key in _WEBHOOK_KEYS if key in self._resolver.document), "paths")
            message = f"{len(events)} webhooks and callbacks are listed without their contents"
            self._resolver.problems.report("events-not-detailed", f"/{place}", message)
        return tuple(self._event(*item, is_detailed=is_detailed) for item in events)

    def _callbacks(self, tool: Tool, entry: PathOperation) -> Iterator[_EventOperation]:
        pointer = f"{entry.pointer}/callbacks"
        for name, raw in as_dict(entry.operation["callbacks"]).items():
            if name.startswith("x-"):
                continue
            callback, callback_pointer = self._resolver.resolve(raw, child(pointer, name))
            for request in self._operations.requests.operations(callback or {}, callback_pointer):
                yield request, self._unique(name, f"{name} of {tool.name}"), tool.name

    def _event(self, entry: PathOperation, name: str, tool: str | None, *, is_detailed: bool) -> Event:
        operation, pointer = entry.operation, entry.pointer
        raw, location, operations = operation.get("requestBody"), f"{pointer}/requestBody", self._operations
        body = operations.requests.body(raw if is_detailed else None, location, sent_by_service=True)
        sent = operations.requests.parameters(entry) if is_detailed else ()
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
