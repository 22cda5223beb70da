"""mcp.yaml, the OpenAPI 3.1 description of an API that its publisher serves to models (seed 002), and its entry in a
registry.

It is curated: the tools of the service with what a call needs, without the extensions and the events of the source.
Schemas are written from the model, so those of OpenAPI 3.0 and Swagger 2.0 are as 3.1 has them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from skillgen.errors import Problem
from skillgen.model.auth import SIGNATURE, Auth, Endpoint
from skillgen.model.calls import Output
from skillgen.model.document import Document
from skillgen.model.schema import Parameter, Schema, SchemaWriter, Types
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.values import Json, is_inferred
from skillgen.render.access import logins
from skillgen.render.declarations import declared_hints
from skillgen.render.formats import is_plain_yaml, yaml_lines
from skillgen.render.identity import description, plain, skill_name, title, tool_phrase
from skillgen.render.publishing import is_endpoint, is_published, with_values, without
from skillgen.text import lazy_re as re
from skillgen.text.markdown import exact_json_text, json_text, one_line

_PATH = "well-known/mcp.yaml"

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


def mcp_manifest(service: Service) -> Iterator[Document | Problem]:
    """Yields mcp.yaml, unless the API declares no version or no operation, which it requires."""
    operations = [tool for tool in service.tools if tool.method is not None and (tool.path or "").startswith("/")]
    tools = [tool for tool in operations if tool.method in _METHODS]
    if service.version is None or not tools:
        message = "mcp.yaml is left out, because the source declares no version of the API or no operation"
        yield without(_PATH, message, "declare it in the source, or with --service-version")
        return
    schemas = _Schemas(service)
    security = _usual_security(tools)
    paths: dict[str, dict[str, Json]] = {}
    for tool in tools:
        assert tool.path is not None
        assert tool.method is not None
        key = f"{tool.path}#{tool.name}" if tool.method.lower() in paths.get(tool.path, {}) else tool.path
        paths.setdefault(key, {})[tool.method.lower()] = _operation(tool, schemas, security)
    info = {
        "title": plain(title(service)),
        "version": service.version,
        "description": service.description or description(service),
        "x-mcp": with_values(
            {
                "logo": next((icon.src for icon in service.icons if is_published(icon.src)), None),
                "categories": [plain(category) for category in service.categories],
            }
        ),
    }
    servers = _servers(service.endpoints)
    components = {"schemas": schemas.components(), "securitySchemes": _security_schemes(service.requirements.auth)}
    fields = {
        "openapi": "3.1.0",
        "info": with_values(info),
        "servers": servers,
        "paths": paths,
        "components": with_values(components),
        "security": security,
    }
    yield Document("mcp.yaml", "".join(f"{line}\n" for line in yaml_lines(with_values(fields), _scalar)))
    if others := sorted({one_line(tool.method or "") for tool in operations if tool.method not in _METHODS}):
        message = f"OpenAPI 3.1 has no method {', '.join(others)}; such operations are left out"
        yield without(_PATH, message, "describe them in the documentation of the API")
    if not servers:
        message = "mcp.yaml has no server, because the source has no URL that others reach"
        yield without(_PATH, message, "set it with --base-url")
    if not any(auth.flow == "authorizationCode" for auth in service.requirements.auth):
        message = "MCP (REST edition) requires OAuth 2.0 with an authorization code, which the source does not declare"
        yield without(_PATH, message, "declare it in `securitySchemes` if the API has it")


def registry_entry_of_manifest(service: Service, domain: str) -> dict[str, Json]:
    """Returns the entry of the API in a registry of such manifests."""
    methods = dict.fromkeys(auth.kind for auth in logins(service))
    return {
        "name": skill_name(service),
        "manifest_url": f"https://{domain}/.well-known/mcp.yaml",
        "auth": list(methods),
        "categories": [plain(category) for category in service.categories],
    }


def _scalar(item: Any) -> str:
    """Returns a value as YAML: text in JSON's double quotes, unless it needs neither these nor escapes."""
    text = exact_json_text(item)
    if is_plain_yaml(item) and text == f'"{item}"':
        return str(item)
    pair = lambda match: f"\\U{0x10000 + (int(match[1], 16) - 0x800) * 0x400 + int(match[2], 16) - 0xC00:08x}"  # noqa: E731
    return _SURROGATES.sub(pair, text)


def _operation(tool: Tool, schemas: _Schemas, usual: Json) -> dict[str, Json]:
    security, semantics = _security(tool), tool.semantics
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
    found = with_values(fields)
    return {**found, "security": security} if security is not None and security != usual else found


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
    own = tuple(item for item in tool.parameters if item.location == "body")
    forms = [(tool.input, own)] if tool.input is not None else []
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
        variables = {
            item.name: with_values({"default": item.default or "", "enum": list(item.choices)})
            for item in endpoint.variables
        }
        url = endpoint.template if endpoint.template is not None and variables else endpoint.url
        servers.append(with_values({"url": url, "description": endpoint.description, "variables": variables}))
    return servers


# -- authentication ----------------------------------------------------------------------------------------------------


def _security(tool: Tool) -> list[Json] | None:
    if tool.auth is None:
        return None
    return [{item.scheme: list(item.scopes) for item in alternative} for alternative in tool.auth]


def _usual_security(tools: Iterable[Tool]) -> Json:
    """Returns what most tools require."""
    counts = Counter(json_text(security) for tool in tools if (security := _security(tool)))
    return json.loads(counts.most_common(1)[0][0]) if counts else []


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
    if auth.kind in ("bearer", "basic"):
        return {"type": "http", "scheme": auth.kind, "bearerFormat": auth.token_format}
    if auth.kind == "mutualTLS":
        return {"type": "mutualTLS"}
    if auth.kind == SIGNATURE:
        signed = {"type": "apiKey", "in": "header", "name": "Authorization"}
        return {**signed, "x-amazon-apigateway-authtype": "awsSigv4"}
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
        described = (
            replace(item, schema=replace(item.schema, description=item.description or item.schema.description))
            for item in schema.properties
        )
        return super()._object(replace(schema, properties=tuple(described)))
