"""mcp.yaml, the OpenAPI 3.1 description of an API that its publisher serves to models (seed 002), and its entry in a
registry.

It is curated: the tools of the service with what a call needs, without the extensions and the events of the source.
Schemas stay those of the source; what only OpenAPI 3.0 and Swagger 2.0 know is written as 3.1 does.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from skillgen.errors import Problem
from skillgen.model.auth import SIGNATURE, Auth, Endpoint
from skillgen.model.calls import Input
from skillgen.model.document import Document
from skillgen.model.schema import NamedType, Parameter
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.values import Json, is_inferred
from skillgen.render.declarations import declared_confirmation, declared_hints
from skillgen.render.filters import yaml_lines
from skillgen.render.identity import description, plain, skill_name, title, tool_phrase
from skillgen.render.publishing import is_endpoint, is_published, with_values, without
from skillgen.text import lazy_re as re
from skillgen.text.inert import disarm_json
from skillgen.text.markdown import json_text, one_line
from skillgen.text.unicode import strip_invisible

_PATH = "well-known/mcp.yaml"

_TYPES = frozenset(("null", "boolean", "object", "array", "number", "integer", "string"))
_SCHEMA_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_SCHEMA_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_SCHEMAS = (
    *("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"),
    *("unevaluatedItems", "unevaluatedProperties", "additionalItems"),
)
_IDENTITIES = ("$id", "$schema", "$anchor", "$dynamicAnchor")
"""Keywords that change what a reference means."""

_KINDS: dict[type | tuple[type, ...], tuple[str, ...]] = {
    str: ("$comment", "contentEncoding", "contentMediaType", "description", "format", "pattern", "title"),
    bool: ("deprecated", "readOnly", "uniqueItems", "writeOnly"),
    int: ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"),
    (int, float): ("minimum", "maximum", "multipleOf"),
    list: ("enum", "examples", "required"),
    dict: ("dependentRequired", "externalDocs"),
}
_KIND_OF = {key: kind for kind, keys in _KINDS.items() for key in keys}
"""The type of a keyword's value, where JSON Schema and OpenAPI declare one."""

_XML: dict[str, type] = {"name": str, "namespace": str, "prefix": str, "attribute": bool, "wrapped": bool}

_FLOWS = {
    "implicit": ("authorizationUrl",),
    "password": ("tokenUrl",),
    "clientCredentials": ("tokenUrl",),
    "authorizationCode": ("authorizationUrl", "tokenUrl"),
}
"""The flows of OAuth 2.0, and the URLs that OpenAPI requires of each."""

_BOUNDS = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}

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
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_/-]*(?: [A-Za-z0-9_/-]+)*", re.ASCII)
"""Text that YAML reads as text without quotes, unless it is one of `_WORDS`."""

_WORDS = frozenset(("true", "false", "null", "yes", "no", "on", "off", "y", "n"))
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
        paths.setdefault(tool.path, {})[tool.method.lower()] = _operation(tool, schemas, security)
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
    if schemas.unresolved:
        message = f"{len(schemas.unresolved)} references of schemas have no target; they allow any value"
        yield without(_PATH, message, "correct them in the source")


def registry_entry_of_manifest(service: Service, domain: str) -> dict[str, Json]:
    """Returns the entry of the API in a registry of such manifests."""
    methods = dict.fromkeys(auth.kind for auth in service.requirements.auth if not auth.is_for_events)
    return {
        "name": skill_name(service),
        "manifest_url": f"https://{domain}/.well-known/mcp.yaml",
        "auth": list(methods),
        "categories": [plain(category) for category in service.categories],
    }


def _scalar(item: Any) -> str:
    """Returns a value as YAML: text in JSON's double quotes, with escapes for what a filter would change."""
    if not isinstance(item, str):
        return json_text(item)
    if _PLAIN.fullmatch(item) and item.lower() not in _WORDS:
        return item
    text = json_text(item)
    if strip_invisible(text) != text:
        pair = lambda match: f"\\U{0x10000 + (int(match[1], 16) - 0x800) * 0x400 + int(match[2], 16) - 0xC00:08x}"  # noqa: E731
        text = _SURROGATES.sub(pair, json.dumps(item))
    return disarm_json(text.replace("\x7f", "\\u007f"))


def _operation(tool: Tool, schemas: _Schemas, usual: Json) -> dict[str, Json]:
    security = _security(tool)
    sent = [item for item in tool.parameters if item.location in _STYLES]
    raw = tool.input_schema.get("properties", {}) if isinstance(tool.input_schema, dict) else {}
    keys = list(raw)
    fields = {
        "operationId": tool.name,
        "summary": plain(tool.summary or tool_phrase(tool)) or tool.name,
        "description": tool.description or tool.summary or tool_phrase(tool) or tool.name,
        "tags": [tool.group] if tool.group is not None and not is_inferred(tool, "group") else None,
        "deprecated": tool.deprecated or None,
        "x-openai-isConsequential": declared_confirmation(tool),
        "x-mcp": with_values({"annotations": declared_hints(tool)}),
        "servers": _servers(tool.endpoints),
        "parameters": [_parameter(item, schemas.of(raw.get(key))) for key, item in zip(keys, sent, strict=False)],
        "requestBody": _body(tool, raw[keys[len(sent)]] if len(keys) > len(sent) else None, schemas),
        "responses": _responses(tool, schemas),
    }
    found = with_values(fields)
    return {**found, "security": security} if security is not None and security != usual else found


def _parameter(parameter: Parameter, schema: Json) -> dict[str, Json]:
    form = parameter.serialization
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


def _body(tool: Tool, raw: Json, schemas: _Schemas) -> dict[str, Json] | None:
    forms: list[Input] = [*([tool.input] if tool.input is not None else []), *tool.other_inputs]
    if not forms or raw is None or not any(form.media_types for form in forms):
        return None
    alternatives = raw.get("anyOf") if isinstance(raw, dict) and set(raw) == {"anyOf"} else None
    each = alternatives if isinstance(alternatives, list) and len(alternatives) == len(forms) else [raw] * len(forms)
    content: dict[str, Json] = {}
    for form, schema in zip(forms, each, strict=True):
        for media_type in form.media_types:
            content.setdefault(media_type, {"schema": schemas.of(schema)})
    required = True if any(form.required for form in forms) else None
    return with_values({"description": forms[0].description, "required": required, "content": content})


def _responses(tool: Tool, schemas: _Schemas) -> dict[str, Json]:
    """Returns the responses by status; those of one status are joined."""
    responses: dict[str, Any] = {}
    outputs = [*([tool.output] if tool.output is not None else []), *tool.other_outputs]
    found = [(output.status, output.description, output) for output in outputs]
    waiting: set[str | None] = set()
    for error in tool.errors:
        if error.has_retry_header:
            waiting.add(error.code)
        cases = [*([error.output] if error.output is not None else [None]), *error.other_outputs]
        found += [(error.code, error.description, output) for output in cases]
    for status, text, output in found:
        key = status if status and _STATUS.fullmatch(status) else "default"
        response = responses.setdefault(key, {"description": text or (output.description if output else None) or ""})
        if status in waiting:
            response["headers"] = {"Retry-After": {"schema": {"type": "string"}}}
        for media_type in output.media_types if output is not None else ():
            media = {"schema": schemas.of(output.raw)} if output.raw is not None else {}
            response.setdefault("content", {}).setdefault(media_type, media)
    return responses or {"default": {"description": ""}}


def _servers(endpoints: Iterable[Endpoint]) -> list[Json]:
    servers = []
    for endpoint in endpoints:
        if not is_endpoint(endpoint.url):
            continue
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
        if auth.name is None:
            continue
        fields = _scheme(auth)
        if fields is None:
            continue
        scheme = schemes.setdefault(auth.name, {**fields, "description": auth.description})
        if "flows" in fields:
            scheme["flows"] |= fields["flows"]
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


def _is_valid(key: str, item: Json) -> bool:
    """True unless JSON Schema wants another type for the value of a keyword."""
    if key == "required":
        return isinstance(item, list) and all(isinstance(name, str) for name in item)
    if key == "xml":
        return isinstance(item, dict) and all(isinstance(value, _XML.get(name, ())) for name, value in item.items())
    kind = _KIND_OF.get(key, object)
    return isinstance(item, kind) and (kind is bool or key not in _KIND_OF or not isinstance(item, bool))


class _Schemas:
    """Schemas in the form of OpenAPI 3.1, and the components that they refer to."""

    def __init__(self, service: Service) -> None:
        self._types = {item.pointer: item for item in service.schemas}
        self._names: dict[str, str] = {}
        self._used: dict[str, Json] = {}
        self._queue: list[NamedType] = []
        self.unresolved: set[str] = set()
        """References without a target."""

    def components(self) -> dict[str, Json]:
        """Returns the named schemas that were referred to, sorted by name."""
        while self._queue:
            item = self._queue.pop()
            self._used[self._names[item.pointer]] = self.of(item.raw)
        return dict(sorted(self._used.items()))

    def of(self, raw: Json) -> Json:
        """Returns a schema; anything that is not one allows any value."""
        if not isinstance(raw, dict):
            return raw if isinstance(raw, bool) else {}
        if isinstance(raw.get("$ref"), str):
            kept = {key: item for key, item in raw.items() if key in ("description", "deprecated", "default")}
            more = {key: item for key, item in kept.items() if _is_valid(key, item)}
            return {**more, **self._reference(raw["$ref"])}
        fields: dict[str, Any] = {}
        for key, item in raw.items():
            fields |= self._member(key, item)
        return self._as_3_1(raw, fields)

    def _member(self, key: str, item: Json) -> dict[str, Json]:
        if key in _SCHEMA_MAPS:
            return {key: {name: self.of(inner) for name, inner in item.items()}} if isinstance(item, dict) else {}
        if key in _SCHEMA_LISTS:
            return {key: [self.of(inner) for inner in item]} if isinstance(item, list) and item else {}
        if key == "items" and isinstance(item, list):
            return {"prefixItems": [self.of(inner) for inner in item]} if item else {}
        if key in _SCHEMAS:
            return {key: self.of(item)}
        if key == "discriminator":
            name, mapping = (item.get("propertyName"), item.get("mapping")) if isinstance(item, dict) else (item, None)
            return {key: self._discriminator(name, mapping)} if isinstance(name, str) else {}
        is_dropped = key.startswith("x-") or key in ("$ref", "nullable", *_BOUNDS, *_IDENTITIES)
        return {} if is_dropped or not _is_valid(key, item) else {key: item}

    def _as_3_1(self, raw: Mapping[str, Any], fields: dict[str, Any]) -> dict[str, Json]:
        for key, bound in _BOUNDS.items():
            limit = raw.get(key)
            if limit is True and bound in fields:
                fields[key] = fields.pop(bound)
            elif isinstance(limit, (int, float)) and not isinstance(limit, bool):
                fields[key] = limit
        kinds = fields.get("type")
        if kinds == "file":
            fields |= {"type": "string", "format": "binary"}
        elif "type" in fields:
            listed = [kind for kind in (kinds if isinstance(kinds, list) else [kinds]) if isinstance(kind, str)]
            known = [kind for kind in dict.fromkeys(listed) if kind in _TYPES]
            fields["type"] = known[0] if len(known) == 1 and not isinstance(kinds, list) else known
            if not known:
                del fields["type"]
        if raw.get("nullable") is True:
            if isinstance(fields.get("type"), str):
                fields["type"] = [fields["type"], "null"]
            if isinstance(fields.get("enum"), list) and None not in fields["enum"]:
                fields["enum"] = [*fields["enum"], None]
        return fields

    def _discriminator(self, name: str, mapping: Json) -> Json:
        references = mapping if isinstance(mapping, dict) else {}
        targets = {key: self._reference(ref).get("$ref") for key, ref in references.items() if isinstance(ref, str)}
        return with_values({"propertyName": name, "mapping": with_values(targets)})

    def _reference(self, reference: str) -> dict[str, Json]:
        pointer = unquote(reference.removeprefix("#"))
        target = self._types.get(pointer)
        if target is None:
            self.unresolved.add(reference)
            return {}
        if pointer not in self._names:
            name = re.sub(r"[^A-Za-z0-9._-]+", "_", target.name)
            while name in self._used:
                name += "_"
            self._names[pointer] = name
            self._used[name] = {}
            self._queue.append(target)
        return {"$ref": f"#/components/schemas/{self._names[pointer]}"}
