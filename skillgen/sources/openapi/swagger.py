"""Converts Swagger 2.0 to OpenAPI 3, so that one set of readers suffices.

`paths`, `definitions`, `parameters` and `responses` stay where they are, so that references need no change; what moves
is recorded in the `PointerMap`. Where a description names no media type, the media type is the empty string: nothing
says that it is JSON.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from skillgen.errors import ProblemLog
from skillgen.model.values import Json, child
from skillgen.sources.json_access import as_dict, as_list, text_of, texts_of
from skillgen.sources.json_schema.keywords import rewrite_objects
from skillgen.sources.openapi.references import FILES_KEY, PointerMap, Resolver


def _convert_schema(raw: Json) -> Json:
    """Converts a schema, or an object that holds schemas; returns the same object if nothing changes."""
    return rewrite_objects(raw, _convert_keywords)


def _convert_keywords(raw: dict[str, Json], pointer: str) -> dict[str, Json]:
    """Converts what differs: `x-nullable`, `type: file`, and a discriminator that is a string."""
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


def convert_swagger(
    data: dict[str, Json], url: str | None, pointer_map: PointerMap, problems: ProblemLog
) -> dict[str, Json]:
    """Returns a Swagger 2.0 description, which was loaded from `url`, as OpenAPI 3."""
    return _Converter(data, url, pointer_map, problems).description()


class _Converter:
    """Converts one description without changing it.

    `source` is the pointer of an object in the Swagger document, `pointer` that in the converted one.
    """

    def __init__(self, data: dict[str, Json], url: str | None, pointer_map: PointerMap, problems: ProblemLog) -> None:
        self._data = data
        self._url = url
        self._map = pointer_map
        self._problems = problems
        self._resolver = Resolver(data, problems)
        pointer_map.start_pass()
        self._consumes = texts_of(data, "consumes")
        self._produces = texts_of(data, "produces")

    def description(self) -> dict[str, Json]:
        data = dict(self._data)
        for key in ("swagger", "host", "basePath", "schemes", "consumes", "produces", "securityDefinitions"):
            data.pop(key, None)
        data["openapi"] = "3.0.3"
        data["paths"] = {**as_dict(data.get("paths")), **as_dict(data.pop("x-ms-paths", None))}  # those with a query
        data["servers"] = self._servers(self._data.get("schemes"))
        self._map.record("/servers", "/host")
        data["components"] = {"securitySchemes": self._security_schemes()}
        self._map.record("/components/securitySchemes", "/securityDefinitions")
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
        schemes_in_order = [scheme for scheme in as_list(schemes) if isinstance(scheme, str) and scheme]
        schemes_in_order.sort(key=lambda scheme: ("https", "http").index(scheme) if scheme in ("https", "http") else 2)
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

    def _security_schemes(self) -> Json:
        schemes = as_dict(self._data.get("securityDefinitions"))
        for name, raw in schemes.items():
            if text_of(raw, "type") == "oauth2" and isinstance(raw.get("flow"), str):
                pointer = child("/components/securitySchemes", name, "flows", _FLOWS.get(raw["flow"], raw["flow"]))
                self._map.record(pointer, child("/securityDefinitions", name))
        return {name: _security_scheme(raw) for name, raw in schemes.items()}

    def _path_item(self, raw: Json, pointer: str) -> Json:
        if not isinstance(raw, dict) or pointer.startswith("/paths/x-"):
            return raw
        source = pointer
        if "$ref" in raw:
            target, source = self._resolver.resolve(raw, pointer)
            if target is None:
                return {}  # reported
            self._map.record(pointer, source)
            raw = target
        converted, body, form = self._parameters(raw.get("parameters"), source, pointer)
        item = dict(raw)
        if "parameters" in raw:
            item["parameters"] = converted
        for method in _METHODS:
            if isinstance(raw.get(method), dict):
                item[method] = self._operation(raw[method], child(source, method), child(pointer, method), body, form)
        return item

    def _operation(
        self, raw: dict[str, Json], source: str, pointer: str, body: _Located | None, form: dict[str, _Located]
    ) -> Json:
        operation = {key: value for key, value in raw.items() if key not in ("consumes", "produces", "schemes")}
        converted, operation_body, operation_form = self._parameters(raw.get("parameters"), source, pointer)
        if "parameters" in raw:
            operation["parameters"] = converted
        body, form = operation_body or body, {**form, **operation_form}
        consumes = texts_of(raw, "consumes") if "consumes" in raw else self._consumes
        if body is not None:
            operation["requestBody"] = self._body(body, consumes, child(pointer, "requestBody"))
        elif form:
            operation["requestBody"] = self._form(form, consumes, child(pointer, "requestBody"))
        produces = texts_of(raw, "produces") if "produces" in raw else self._produces
        if isinstance(raw.get("responses"), dict):
            operation["responses"] = {
                status: self._response(
                    response, child(source, "responses", status), child(pointer, "responses", status), produces
                )
                for status, response in raw["responses"].items()
            }
        if "schemes" in raw and raw["schemes"] != self._data.get("schemes"):
            operation["servers"] = self._servers(raw["schemes"])
            self._map.record(child(pointer, "servers"), child(source, "schemes"))
        return operation

    def _parameters(
        self, raw: Json, source: str, pointer: str
    ) -> tuple[list[Json], _Located | None, dict[str, _Located]]:
        """Returns the converted parameters, the body, and the form fields by name; only 2.0 has the latter two here."""
        converted: list[Json] = []
        body: _Located | None = None
        form: dict[str, _Located] = {}
        for index, item in enumerate(as_list(raw)):
            source_pointer = child(source, "parameters", index)
            target: dict[str, Json] | None = item if isinstance(item, dict) else None
            if text_of(item, "$ref") is not None:
                target, source_pointer = self._resolver.resolve(item, source_pointer)
                if target is None:
                    continue  # reported
            if text_of(target, "in") == "body":
                body = (as_dict(target), source_pointer)
            elif text_of(target, "in") == "formData":
                form[text_of(target, "name") or ""] = (as_dict(target), source_pointer)
            else:
                into = child(pointer, "parameters", len(converted))
                self._map.record(into, source_pointer)
                converted.append(self._parameter(item if target is None else target, source_pointer, into))
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
        self._map.record(child(pointer, "schema"), source)
        return parameter

    def _body(self, body: _Located, consumes: tuple[str, ...], pointer: str) -> Json:
        raw, source_pointer = body
        self._map.record(pointer, source_pointer)
        schema = _convert_schema(raw.get("schema", {}))
        content: dict[str, Json] = {}
        for media_type in consumes or ("",):
            content[media_type] = {"schema": schema}
            self._map.record(child(pointer, "content", media_type), source_pointer)
            self._map.record(child(pointer, "content", media_type, "schema"), child(source_pointer, "schema"))
        return {"description": raw.get("description"), "required": raw.get("required"), "content": content}

    def _form(self, form: dict[str, _Located], consumes: tuple[str, ...], pointer: str) -> Json:
        has_file = any(raw.get("type") == "file" for raw, _ in form.values())
        media_types = [name for name in consumes if name in _FORM_TYPES and not (has_file and name != _FORM_TYPES[0])]
        properties: dict[str, Json] = {}
        content: dict[str, Json] = {}
        encoding: dict[str, Json] = {}
        for name, (raw, _) in form.items():
            schema = {key: value for key, value in raw.items() if key not in _PARAMETER_MEMBERS or key == "description"}
            properties[name] = _convert_schema(schema)
            if raw.get("type") == "array" and as_dict(raw.get("items")).get("type") != "file":
                encoding[name] = _style(raw)
        required = [name for name, (raw, _) in form.items() if raw.get("required") is True]
        schema = {"type": "object", "properties": properties, "required": required}
        parameters_pointer = next(iter(form.values()))[1].rpartition("/")[0]
        for media_type in media_types or [_FORM_TYPES[0] if has_file else _FORM_TYPES[1]]:
            content[media_type] = {"schema": schema, **({"encoding": encoding} if encoding else {})}
            self._map.record(child(pointer, "content", media_type), parameters_pointer)
            for name, (_, source_pointer) in form.items():
                self._map.record(child(pointer, "content", media_type, "schema", "properties", name), source_pointer)
        self._map.record(pointer, parameters_pointer)
        return {"required": bool(required), "content": content}

    def _response(self, raw: Json, source: str, pointer: str, produces: tuple[str, ...]) -> Json:
        if not isinstance(raw, dict):
            return raw
        reference = text_of(raw, "$ref")
        if reference is not None:
            if reference.startswith("#/responses/"):
                return raw  # converted there
            target, source = self._resolver.resolve(raw, source)
            if target is None:
                return {}  # reported
            self._map.record(pointer, source)
            raw = target
        response = {key: value for key, value in raw.items() if key not in ("schema", "examples")}
        if isinstance(raw.get("headers"), dict):
            response["headers"] = {name: _header(header) for name, header in raw["headers"].items()}
        examples = as_dict(raw.get("examples"))
        content: dict[str, dict[str, Any]] = {name: {"example": value} for name, value in examples.items()}
        if "schema" in raw:
            schema = _convert_schema(raw["schema"])
            for media_type in dict.fromkeys((*produces, *examples)) or ("",):
                content.setdefault(media_type, {})["schema"] = schema
                self._map.record(child(pointer, "content", media_type), source)
                self._map.record(child(pointer, "content", media_type, "schema"), child(source, "schema"))
        if content:
            response["content"] = content
        return response


def _style(raw: dict[str, Json]) -> dict[str, Json]:
    return _STYLES.get(text_of(raw, "collectionFormat") or "csv", _STYLES["csv"])


def _header(raw: Json) -> Json:
    if not isinstance(raw, dict):
        return raw
    schema = {key: value for key, value in raw.items() if key not in ("description", "collectionFormat")}
    return {"description": raw.get("description"), "schema": _convert_schema(schema)}


def _security_scheme(raw: Json) -> Json:
    kind = text_of(raw, "type")
    if kind == "basic":
        return {**raw, "type": "http", "scheme": "basic"}
    if kind != "oauth2" or not isinstance(raw.get("flow"), str):
        return raw
    scheme = {key: value for key, value in raw.items() if key in ("type", "description") or key.startswith("x-")}
    settings = {key: raw[key] for key in ("authorizationUrl", "tokenUrl", "scopes") if key in raw}
    return {**scheme, "flows": {_FLOWS.get(raw["flow"], raw["flow"]): settings}}
