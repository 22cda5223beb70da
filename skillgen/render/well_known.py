"""What a publisher serves below `/.well-known/`: the skill with its digest, the catalogue of the domain, the links of
its APIs, the headers to serve them with, and `mcp.yaml`: an API as OpenAPI 3.1, whose operations are tools (MCP, REST
edition, seed 002); and the server card, for any place.

An archive is a ZIP without compression: the output of a compressor differs between its versions, and a digest must not
depend on who builds the file. `mcp.yaml` is curated: the tools of the service with what a call needs, without the
extensions and the events of the source. Schemas are written from the model, so those of OpenAPI 3.0 and Swagger 2.0 are
as 3.1 has them.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from msgspec.structs import replace

from skillgen.errors import Problem
from skillgen.model.auth import SIGNATURE, Auth, Credential, Endpoint
from skillgen.model.calls import Output
from skillgen.model.document import SERVER_CARDS, Artifact, Document
from skillgen.model.schema import Parameter, Schema, SchemaWriter, Types
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.values import Json, is_inferred
from skillgen.render.access import logins
from skillgen.render.declarations import declared_hints
from skillgen.render.formats import is_plain_yaml, yaml_lines
from skillgen.render.identity import description, plain, short_description, skill_name, title, tool_phrase
from skillgen.render.publishing import (
    PUBLISH_FIX,
    Namespace,
    exact_version,
    is_endpoint,
    is_published,
    json_document,
    left_out,
    namespace_of,
    published,
    remotes_of,
    server_identity,
    with_values,
    without,
)
from skillgen.render.skill import Rendering, Site
from skillgen.text import lazy_re as re
from skillgen.text.markdown import exact_json_text, one_line
from skillgen.text.summary import clip

_INDEX_SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"

_MEDIA_TYPES = {
    "index.json": "application/json",
    "ard.json": "application/ai-catalog+json",
    "ai-catalog.json": "application/ai-catalog+json",
    "server-card.json": "application/mcp-server-card+json",
    "mcp.yaml": "application/yaml",
    "api-catalog": 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
    ".md": "text/markdown; charset=utf-8",
    ".zip": "application/zip",
}
"""Name of a file, or its suffix, to the media type that clients expect."""

_ENTRY = "mcpx.json"
"""The entry of mcp.yaml in a registry, which is sent there and not served."""

_SKILL_TYPES = {"skill-md": "application/ai-skill+md", "archive": "application/ai-skill"}
"""The type of a skill in the index to that in a catalogue, whose terms are not registered yet."""

_HEADERS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "GET",
    "Access-Control-Allow-Headers": "Content-Type, If-None-Match",
    "Access-Control-Expose-Headers": "ETag",
    "Cache-Control": "public, max-age=3600",
    "X-Content-Type-Options": "nosniff",
}
"""Headers of every file: browsers may read it, and caches keep it for an hour (MCP server cards, "CORS", "Caching")."""

_LINKS = {"api-catalog": {"Link": "</.well-known/api-catalog>; rel=api-catalog"}}
"""The header of the list of APIs, which clients look for with HEAD (RFC 9727, 2)."""

_MAX_CAPABILITIES = 100
"""Tools that a catalogue lists by name; of more, it lists their groups."""

_QUERIES = range(2, 6)
"""How many queries represent an entry of a catalogue (ARD, 4.2)."""

_QUERY_LIMIT = 120
"""Characters of a query."""


def well_known_documents(subject: Rendering | Site) -> Iterator[Document | Artifact | Problem]:
    """Yields the files of the folder `well-known/` for one service, or for the domain of several."""
    renderings = subject.renderings if isinstance(subject, Site) else [subject]
    problems: list[Problem] = []
    namespace = _namespace(renderings, problems)
    domain = namespace.domain if namespace is not None else None
    base = f"https://{domain}/.well-known"
    manifest = [*_manifest(renderings, domain)]
    problems += [item for item in manifest if isinstance(item, Problem)]
    files: list[Document | Artifact] = [item for item in manifest if isinstance(item, Document)]
    index: list[dict[str, str]] = []
    entries: list[dict[str, Any]] = []
    links: list[dict[str, Any]] = []
    for whole in renderings:
        first, card = skill_name(whole.skills[0].service), _server_card(whole, [])
        card_path = "server-card.json" if len(renderings) == 1 else f"mcp/{first}/server-card.json"
        is_served = card is not None and "server-card" in whole.options.formats
        for skill in whole.skills:
            entry, file = _skill_entry(skill)
            index.append(entry)
            files.append(file)
            place: dict[str, Any] = {"url": f"{base}/{file.path}", "metadata": {"digest": entry["digest"]}}
            identifier = f"urn:air:{domain}:skill:{entry['name']}"
            entries.append(_catalogue_entry(skill.service, identifier, _SKILL_TYPES[entry["type"]], place))
            if card is not None and skill is whole.skills[0]:
                place = {"url": f"{base}/{card_path}"} if is_served else {"data": with_values(card)}
                identifier, kind = f"urn:air:{domain}:mcp:{first}", _MEDIA_TYPES["server-card.json"]
                entries.append(_catalogue_entry(whole.service, identifier, kind, place))
        if card is not None and is_served:
            files.append(json_document(card_path, card))
        if namespace is not None:
            served = "mcp.yaml" if whole.service.kind == "openapi" else card_path
            is_served = any(item.path == served for item in files)
            links += _links(whole.service, f"{base}/{served}" if is_served else None)
    index.sort(key=lambda entry: entry["url"])
    files.append(json_document("agent-skills/index.json", {"$schema": _INDEX_SCHEMA, "skills": index}))
    if namespace is not None:
        homepages = {whole.service.homepage for whole in renderings}
        homepage = homepages.pop() if len(homepages) == 1 else None
        host = {"displayName": namespace.owner, "documentationUrl": published(homepage)}
        catalogue = {"specVersion": "1.0", "host": with_values(host), "entries": entries}
        files += [json_document(name, catalogue) for name in ("ard.json", "ai-catalog.json")]
    if links:
        # RFC 9727, 4.2: the list of the APIs, and what each links to.
        items = {"anchor": f"{base}/api-catalog", "item": [{"href": link["anchor"]} for link in links]}
        files.append(json_document("api-catalog", {"linkset": [items, *links]}))
    paths = sorted(item.path for item in files if item.path != _ENTRY)
    headers = [(path, _media_type(path), {**_HEADERS, **_LINKS.get(path, {})}) for path in paths]
    for name in ("_headers", "headers.nginx.conf"):
        files.append(Document(name, renderings[0].templates.render(f"well-known/{name}.j2", files=headers)))
    yield from (replace(file, path=f"well-known/{file.path}") for file in files)
    yield from problems


def server_card_documents(rendering: Rendering) -> Iterator[Document | Problem]:
    """Yields server-card.json, unless the server is not hosted."""
    problems: list[Problem] = []
    card = _server_card(rendering, problems)
    if card is not None:
        yield json_document("server-card.json", card)
    yield from problems


def _skill_entry(rendering: Rendering) -> tuple[dict[str, str], Artifact]:
    """Returns the entry of a skill in the index, and SKILL.md if that is its only file, else an archive of all."""
    files, name = rendering.skill_contents, skill_name(rendering.service)
    is_single = len(files) == 1
    path = f"agent-skills/{name}/SKILL.md" if is_single else f"agent-skills/{name}.zip"
    content = next(iter(files.values())) if is_single else _archive(files)
    entry = {
        "name": name,
        "type": "skill-md" if is_single else "archive",
        "description": description(rendering.service),
        "url": f"/.well-known/{path}",
        "digest": f"sha256:{hashlib.sha256(content).hexdigest()}",
    }
    return entry, Artifact(path, content)


def _archive(files: Mapping[str, bytes]) -> bytes:
    """Returns a ZIP of the files, the same bytes on every system: sorted, with a fixed date, without folders."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for path in sorted(files):
            entry = zipfile.ZipInfo(path, date_time=(1980, 1, 1, 0, 0, 0))
            entry.create_system = 3
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, files[path])
    return target.getvalue()


# -- the catalogue of the domain ---------------------------------------------------------------------------------------


def _namespace(renderings: Sequence[Rendering], problems: list[Problem]) -> Namespace | None:
    """Returns who publishes the services; `None` if nobody declares it, or several do."""
    found = [namespace_of(item.service, item.options.publisher) for item in renderings]
    namespace = found[-1]
    if namespace is None or len({item and item.text for item in found}) > 1:
        message = "ard.json and api-catalog are left out, because it is not declared who publishes the service"
        problems.append(without("well-known/ard.json", message, PUBLISH_FIX))
        return None
    problems += filter(None, [namespace.problem])
    return namespace


def _catalogue_entry(service: Service, identifier: str, kind: str, place: Mapping[str, Any]) -> dict[str, Any]:
    """Returns an entry of the catalogue (ARD 0.9)."""
    names = [tool.name for tool in service.tools]
    if len(names) > _MAX_CAPABILITIES:
        names = [group.name for group in service.groups][:_MAX_CAPABILITIES]
    # Requests of users for which the service is the right one, and after them what its tools do.
    texts = chain(service.when_to_use, map(tool_phrase, service.tools))
    shown = dict.fromkeys(line for text in texts if (line := clip(plain(text), _QUERY_LIMIT)))
    queries = list(shown)[: _QUERIES[-1]]
    fields = {
        "identifier": identifier,
        "type": kind,
        **place,
        "displayName": plain(title(service)),
        "description": short_description(service, 300),
        "tags": list(map(plain, service.categories)),
        "capabilities": list(dict.fromkeys(map(one_line, names))),
        "representativeQueries": queries if len(queries) in _QUERIES else None,
        "version": exact_version(service),
    }
    return with_values(fields)


# -- the description of an API -----------------------------------------------------------------------------------------


def _manifest(renderings: Sequence[Rendering], domain: str | None) -> Iterator[Document | Problem]:
    """Yields mcp.yaml and its entry in a registry; a domain can have only one."""
    services = [rendering.service for rendering in renderings if rendering.service.kind == "openapi"]
    if len(services) > 1:
        message = f"mcp.yaml is left out, because a domain has only one and these are {len(services)} APIs"
        yield without(_MCP_YAML, message, "serve the mcp.yaml of each on its own domain")
    for service in services if len(services) == 1 else ():
        entry = {
            "name": skill_name(service),
            "manifest_url": f"https://{domain}/.well-known/mcp.yaml",
            "auth": list(dict.fromkeys(auth.kind for auth in logins(service))),
            "categories": [plain(category) for category in service.categories],
        }
        for item in _mcp_manifest(service):
            yield item
            if isinstance(item, Document) and domain is not None:
                yield json_document(_ENTRY, entry)


_MCP_YAML = "well-known/mcp.yaml"

_FLOWS = {
    "implicit": ("authorizationUrl",),
    "password": ("tokenUrl",),
    "clientCredentials": ("tokenUrl",),
    "authorizationCode": ("authorizationUrl", "tokenUrl"),
}
"""The flows of OAuth 2.0, and the URLs that OpenAPI requires of each."""

_STYLES = {
    "path": ("matrix", "label", "simple"),
    "query": ("form", "spaceDelimited", "pipeDelimited", "deepObject"),
    "header": ("simple",),
    "cookie": ("form",),
}
"""The styles that OpenAPI 3.1 has for each place."""

_METHODS = ("GET", "PUT", "POST", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE")
"""The methods that OpenAPI 3.1 has; 3.2 has others."""

_STATUS = re.compile(r"[1-5](?:\d\d|XX)|default", re.ASCII)
_SURROGATES = re.compile(r"\\ud([89ab][0-9a-f]{2})\\ud([c-f][0-9a-f]{2})")


def _mcp_manifest(service: Service) -> Iterator[Document | Problem]:
    """Yields mcp.yaml, unless the API declares no version or no operation, which it requires."""
    operations = [tool for tool in service.tools if tool.method is not None and (tool.path or "").startswith("/")]
    tools = [tool for tool in operations if tool.method in _METHODS]
    if service.version is None or not tools:
        message = "mcp.yaml is left out, because the source declares no version of the API or no operation"
        yield without(_MCP_YAML, message, "declare it in the source, or with --service-version")
        return
    schemas = _Schemas(service)
    counts = Counter(tool.auth for tool in tools if tool.auth)
    usual = max(counts, key=counts.__getitem__, default=())
    paths: dict[str, dict[str, Json]] = {}
    for tool in tools:
        assert tool.path is not None
        assert tool.method is not None
        key = f"{tool.path}#{tool.name}" if tool.method.lower() in paths.get(tool.path, {}) else tool.path
        paths.setdefault(key, {})[tool.method.lower()] = _operation(tool, schemas, usual)
    logo = next((icon.src for icon in service.icons if is_published(icon.src)), None)
    info = {
        "title": plain(title(service)),
        "version": service.version,
        "description": service.description or description(service),
        "x-mcp": with_values({"logo": logo, "categories": list(map(plain, service.categories))}),
    }
    servers = _servers(service.endpoints)
    components = {"schemas": schemas.components(), "securitySchemes": _security_schemes(service.requirements.auth)}
    fields = {
        "openapi": "3.1.0",
        "info": with_values(info),
        "servers": servers,
        "paths": paths,
        "components": with_values(components),
        "security": _security(usual),
    }
    yield Document("mcp.yaml", "".join(f"{line}\n" for line in yaml_lines(with_values(fields), _scalar)))
    if others := sorted({one_line(tool.method or "") for tool in operations if tool.method not in _METHODS}):
        message = f"OpenAPI 3.1 has no method {', '.join(others)}; such operations are left out"
        yield without(_MCP_YAML, message, "describe them in the documentation of the API")
    if not servers:
        message = "mcp.yaml has no server, because the source has no URL that others reach"
        yield without(_MCP_YAML, message, "set it with --base-url")
    if not any(auth.flow == "authorizationCode" for auth in service.requirements.auth):
        message = "MCP (REST edition) requires OAuth 2.0 with an authorization code, which the source does not declare"
        yield without(_MCP_YAML, message, "declare it in `securitySchemes` if the API has it")


def _scalar(item: Any) -> str:
    """Returns a value as YAML: text in JSON's double quotes, unless it needs neither these nor escapes."""
    text = exact_json_text(item)
    if is_plain_yaml(item) and text == f'"{item}"':
        return str(item)
    pair = lambda match: f"\\U{0x10000 + (int(match[1], 16) - 0x800) * 0x400 + int(match[2], 16) - 0xC00:08x}"  # noqa: E731
    return _SURROGATES.sub(pair, text)


def _operation(tool: Tool, schemas: _Schemas, usual: _Ways) -> dict[str, Json]:
    semantics = tool.semantics
    is_asked = semantics.requires_confirmation if semantics.is_declared("requires_confirmation") else None
    fields = {
        "operationId": tool.name,
        "summary": plain(tool.summary or tool_phrase(tool)) or tool.name,
        "description": tool.description or tool.summary or tool_phrase(tool) or tool.name,
        "tags": [tool.group] if tool.group is not None and not is_inferred(tool, "group") else None,
        "externalDocs": {"url": tool.documentation} if tool.documentation else None,
        "deprecated": tool.deprecated or None,
        "x-openai-isConsequential": is_asked,
        "x-mcp": with_values({"annotations": declared_hints(tool)}),
        "servers": _servers(tool.endpoints),
        "parameters": [_parameter(item, schemas) for item in tool.parameters if item.location in _STYLES],
        "requestBody": _body(tool, schemas),
        "responses": _responses(tool, schemas),
    }
    security = {} if tool.auth is None or tool.auth == usual else {"security": _security(tool.auth)}
    return with_values(fields) | security


def _parameter(parameter: Parameter, schemas: _Schemas) -> dict[str, Json]:
    form, schema = parameter.serialization, schemas.write(parameter.schema)
    fields: dict[str, Json] = {
        "name": parameter.name,
        "in": parameter.location,
        "required": True if parameter.required or parameter.location == "path" else None,
        "description": parameter.description,
        "deprecated": parameter.deprecated or None,
    }
    if form is not None and form.media_type is not None:
        return with_values({**fields, "content": {form.media_type: {"schema": schema}}})
    if form is not None:
        fields["style"] = form.style if form.style in _STYLES[parameter.location] else None
        fields["explode"] = form.explode
        fields["allowReserved"] = form.allow_reserved or None if parameter.location == "query" else None
    return {**with_values(fields), "schema": schema}


def _body(tool: Tool, schemas: _Schemas) -> dict[str, Json] | None:
    forms = [(tool.input, tool.body_parameters())] if tool.input is not None else []
    forms += [(form, form.parameters) for form in tool.other_inputs]
    content: dict[str, Json] = {}
    for form, parameters in forms:
        for media_type in form.media_types:
            content.setdefault(media_type, {"schema": schemas.write(form.schema_of(parameters))})
    if not content:
        return None
    required = any(form.required for form, _ in forms) or None
    return with_values({"description": forms[0][0].description, "required": required, "content": content})


def _responses(tool: Tool, schemas: _Schemas) -> dict[str, Json]:
    """Returns the responses by status; those of one status are joined."""
    responses: dict[str, Any] = {}
    outputs = filter(None, (tool.output, *tool.other_outputs))
    found: list[tuple[str | None, str | None, Output | None]]
    found = [(output.status, output.description, output) for output in outputs]
    of_errors = ((case, output) for case in tool.errors for output in (case.output, *case.other_outputs))
    found += [(case.code, case.description, output) for case, output in of_errors]
    waiting = {error.code for error in tool.errors if error.has_retry_header}
    for status, text, output in found:
        key = status if status and _STATUS.fullmatch(status) else "default"
        response = responses.setdefault(key, {"description": text or (output.description if output else None) or ""})
        if status in waiting:
            response["headers"] = {"Retry-After": {"schema": {"type": "string"}}}
        media = {"schema": schemas.write(output.schema)} if output is not None and output.schema is not None else {}
        for media_type in output.media_types if output is not None else ():
            response.setdefault("content", {}).setdefault(media_type, media)
    return responses or {"default": {"description": ""}}


def _servers(endpoints: Iterable[Endpoint]) -> list[Json]:
    servers = []
    for endpoint in filter(lambda endpoint: is_endpoint(endpoint.url), endpoints):
        chosen = {item.name: {"default": item.default or "", "enum": list(item.choices)} for item in endpoint.variables}
        variables = {name: with_values(fields) for name, fields in chosen.items()}
        url = endpoint.template if endpoint.template is not None and variables else endpoint.url
        servers.append(with_values({"url": url, "description": endpoint.description, "variables": variables}))
    return servers


# -- authentication ----------------------------------------------------------------------------------------------------


_Ways = tuple[tuple[Credential, ...], ...]


def _security(ways: _Ways) -> list[Json]:
    return [{item.scheme: list(item.scopes) for item in alternative} for alternative in ways]


def _security_schemes(found: Iterable[Auth]) -> dict[str, Json]:
    schemes: dict[str, Any] = {}
    for auth in found:
        if auth.name is not None and (fields := _scheme(auth)) is not None:
            scheme = schemes.setdefault(auth.name, {**fields, "description": auth.description})
            scheme.get("flows", {}).update(fields.get("flows", {}))
    return {name: with_values(scheme, keep=("flows",)) for name, scheme in schemes.items()}


def _scheme(auth: Auth) -> dict[str, Any] | None:
    """Returns a security scheme; of OAuth 2.0 with one of its flows."""
    if auth.kind == "oauth2" and auth.flow is not None:
        flow = {
            "authorizationUrl": auth.authorization_url,
            "tokenUrl": auth.token_url,
            "refreshUrl": auth.refresh_url,
            "scopes": {scope.name: scope.description or "" for scope in auth.scopes},
            "x-usePkce": auth.pkce,
        }
        is_flow = all(flow[name] for name in _FLOWS[auth.flow]) if auth.flow in _FLOWS else False
        return {"type": "oauth2", "flows": {auth.flow: with_values(flow, keep=("scopes",))} if is_flow else {}}
    if auth.kind == "openIdConnect":
        return {"type": "openIdConnect", "openIdConnectUrl": auth.metadata_url or ""}
    if auth.kind == "mutualTLS":
        return {"type": "mutualTLS"}
    if auth.kind == SIGNATURE or auth.prefix.endswith("="):  # `Token token=` is no name of a scheme
        header = {"type": "apiKey", "in": "header", "name": "Authorization"}
        return header | ({"x-amazon-apigateway-authtype": "awsSigv4"} if auth.kind == SIGNATURE else {})
    if auth.kind in ("bearer", "basic") or (auth.sent_as or "").startswith("Authorization:"):
        return {"type": "http", "scheme": auth.kind, "bearerFormat": auth.token_format}
    place, _, name = (auth.sent_as or "").partition(" ")
    return {"type": "apiKey", "in": place, "name": name} if place in ("header", "query", "cookie") else None


# -- schemas -----------------------------------------------------------------------------------------------------------


class _Schemas(SchemaWriter):
    """Writes schemas with what they say to readers, and the components that they refer to."""

    def __init__(self, service: Service) -> None:
        super().__init__(Types.of(service.schemas), is_request=False)
        self._names: dict[str, str] = {}
        """The components that were referred to, by the name of their type."""

    def components(self) -> dict[str, Json]:
        """Returns the named schemas that were referred to, sorted by name."""
        found: dict[str, Json] = {}
        while missing := [name for name in self._names if self._names[name] not in found]:
            found |= {self._names[name]: self.definition(name) for name in missing}
        return dict(sorted(found.items()))

    def ref(self, name: str) -> str:
        """Returns the reference to a component, whose name has only the characters that OpenAPI allows."""
        if name not in self._names:
            shown = re.sub(r"[^A-Za-z0-9._-]+", "_", name)
            while shown in self._names.values():
                shown += "_"
            self._names[name] = shown
        return f"#/components/schemas/{self._names[name]}"

    def _written(self, schema: Schema) -> Json:
        found = super()._written(schema)
        if not isinstance(found, dict):
            return found
        words = {
            "title": schema.title,
            "description": schema.description,
            "examples": list(schema.examples),
            "deprecated": schema.deprecated or None,
            "readOnly": schema.read_only or None,
            "writeOnly": schema.write_only or None,
            "xml": (schema.constraints or {}).get("xml"),
        }
        default = {} if schema.default is None else {"default": schema.default.json}
        return {**found, **with_values(words), **default}

    def _object(self, schema: Schema) -> Iterator[tuple[str, Json]]:
        texts = (item.description or item.schema.description for item in schema.properties)
        pairs = zip(schema.properties, texts, strict=True)
        described = tuple(replace(item, schema=replace(item.schema, description=text)) for item, text in pairs)
        return super()._object(replace(schema, properties=described))


# -- the server card ---------------------------------------------------------------------------------------------------


def _server_card(rendering: Rendering, problems: list[Problem]) -> dict[str, Any] | None:
    """Returns the server card of a hosted MCP server; it has no packages and no tools."""
    service = rendering.service
    identity = server_identity(rendering, "server-card", problems)
    if identity is None:
        return None
    remotes = remotes_of(service, "server-card.json", problems)
    if not remotes:
        message = "a server card describes a hosted server, and the source has no URL of it that others reach"
        problems.append(left_out("server-card", message, "read the server by its URL"))
        return None
    if service.protocol_version is not None:
        remotes = [{**remote, "supportedProtocolVersions": [service.protocol_version]} for remote in remotes]
    return {"$schema": SERVER_CARDS[rendering.options.publisher.server_card], **identity, "remotes": remotes}


# -- the links of APIs -------------------------------------------------------------------------------------------------


def _links(service: Service, described: str | None) -> Iterator[dict[str, Any]]:
    """Yields the links of an API that others reach (RFC 9727, 4.1), also to the file that describes it."""
    url = service.endpoints[0].url if service.endpoints else None
    if url is None or not is_endpoint(url):
        return
    links = {"service-doc": service.homepage, "status": service.status_page}
    published = ((relation, href) for relation, href in links.items() if is_published(href))
    found: dict[str, Any] = {relation: [{"href": href, "type": "text/html"}] for relation, href in published}
    if described is not None:
        relation = "service-desc" if service.kind == "openapi" else "service-meta"
        found[relation] = [{"href": described, "type": _media_type(described)}]
    yield {"anchor": url, **found}


# -- the headers -------------------------------------------------------------------------------------------------------


def _media_type(path: str) -> str:
    name = path.rpartition("/")[2]
    return _MEDIA_TYPES.get(name) or _MEDIA_TYPES[name[name.rindex(".") :]]
