"""Swagger 2.0 -> 3.

Schemas of Swagger 2.0 in the words of OpenAPI 3: `x-nullable`, `type: file` and a discriminator's name alone.

Reads Swagger 2.0 as OpenAPI 3: the same description in the words of the later version.

What has a place of its own in both stays where it is (`paths`, `definitions`, `parameters`, `responses`), so that
references need no change; what moves is noted in `Moves`. Media types are the empty text where the description names
none, for it does not say that they are JSON.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from skillgen.errors import ProblemLog
from skillgen.model.values import Json, child
from skillgen.sources.json_access import as_dict, as_list, text_of, texts_of
from skillgen.sources.openapi.references import Moves, Resolver

DEPTH_LIMIT = 200
"""Levels of nesting that are looked at; deeper ones stay as they are, and are not read in any case."""

_VALUES = frozenset({"enum", "default", "example", "examples", "x-example", "required"})
"""Members that hold values, which only look like schemas."""

_OF_NAMES = frozenset({"properties", "definitions", "parameters", "responses", "paths", "headers"})
"""Members whose own members are called by the author: `default` may be a property."""


def schema_in_3(raw: Json, depth: int = 0, *, is_of_names: bool = False) -> Json:
    """Gives a schema, or whatever holds schemas, in the words of OpenAPI 3; what needs no change is given as it is."""
    if depth > DEPTH_LIMIT:
        return raw
    if isinstance(raw, list):
        items = [schema_in_3(item, depth + 1) for item in raw]
        return raw if all(new is old for new, old in zip(items, raw, strict=True)) else items
    if not isinstance(raw, dict):
        return raw
    changed: dict[str, Json] = {}
    for key, value in raw.items():
        if isinstance(value, (dict, list)) and (is_of_names or key not in _VALUES):
            new = schema_in_3(value, depth + 1, is_of_names=not is_of_names and key in _OF_NAMES)
            if new is not value:
                changed[key] = new
    if is_of_names:
        return {**raw, **changed} if changed else raw
    if raw.get("x-nullable") is True and "nullable" not in raw:
        changed["nullable"] = True
    if raw.get("type") == "file":
        changed |= {"type": "string", "format": "binary"}
    if isinstance(discriminator := raw.get("discriminator"), str):
        changed["discriminator"] = {"propertyName": discriminator}
    return {**raw, **changed} if changed else raw


_METHODS = ("get", "put", "post", "delete", "options", "head", "patch")
_OF_PARAMETER = frozenset({"name", "in", "description", "required", "allowEmptyValue", "collectionFormat", "$ref"})
_STYLES: dict[str, dict[str, Json]] = {
    "multi": {"style": "form", "explode": True},
    "csv": {"explode": False},
    "ssv": {"style": "spaceDelimited", "explode": False},
    "pipes": {"style": "pipeDelimited", "explode": False},
    "tsv": {"style": "tabDelimited", "explode": False},
}
"""`collectionFormat` in the words of OpenAPI 3, which has none for `tsv`."""
_FORM_TYPES = ("multipart/form-data", "application/x-www-form-urlencoded")
_FLOWS = {
    "implicit": "implicit",
    "password": "password",
    "application": "clientCredentials",
    "accessCode": "authorizationCode",
}
_Placed = tuple[dict[str, Json], str]
"""An object and where it stands."""


def description_in_3(data: dict[str, Json], url: str | None, moves: Moves, problems: ProblemLog) -> dict[str, Json]:
    """Returns a Swagger 2.0 description, found at `url`, in the words of OpenAPI 3."""
    return _Converter(data, url, moves, problems).description()


class _Converter:
    """Converts one description; nothing of it is changed."""

    def __init__(self, data: dict[str, Json], url: str | None, moves: Moves, problems: ProblemLog) -> None:
        self._data = data
        self._url = url
        self._moves = moves
        self._problems = problems
        self._resolver = Resolver(data, problems)
        moves.begin()
        self._consumes = texts_of(data, "consumes")
        self._produces = texts_of(data, "produces")

    def description(self) -> dict[str, Json]:
        data = dict(self._data)
        for key in ("swagger", "host", "basePath", "schemes", "consumes", "produces", "securityDefinitions"):
            data.pop(key, None)
        data["openapi"] = "3.0.3"
        data["servers"] = self._servers(self._data.get("schemes"))
        self._moves.move("/servers", "/host")
        data["components"] = {"securitySchemes": self._security_schemes()}
        self._moves.move("/components/securitySchemes", "/securityDefinitions")
        if isinstance(data.get("definitions"), dict):
            data["definitions"] = {name: schema_in_3(raw) for name, raw in data["definitions"].items()}
        if isinstance(data.get("x-files"), dict):  # the other files of the description
            data["x-files"] = schema_in_3(data["x-files"])
        if isinstance(data.get("parameters"), dict):
            data["parameters"] = {
                name: self._parameter(raw, child("/parameters", name), child("/parameters", name))
                for name, raw in data["parameters"].items()
            }
        if isinstance(data.get("responses"), dict):
            data["responses"] = {
                name: self._response(raw, place := child("/responses", name), place, self._produces)
                for name, raw in data["responses"].items()
            }
        if isinstance(data.get("paths"), dict):
            data["paths"] = {
                path: item if path.startswith("x-") else self._path_item(item, child("/paths", path))
                for path, item in data["paths"].items()
            }
        return data

    def _servers(self, schemes: Json) -> list[Json]:
        host, base = text_of(self._data, "host") or "", text_of(self._data, "basePath") or ""
        named = [scheme for scheme in as_list(schemes) if isinstance(scheme, str) and scheme]
        named.sort(key=lambda scheme: ("https", "http").index(scheme) if scheme in ("https", "http") else 2)
        scheme, slashes, authority = host.partition("//")
        if slashes and (scheme == "" or scheme.endswith(":")):
            host, scheme = authority, scheme.removesuffix(":").lower()
            found = f"`host` has a scheme, {scheme!r}" if scheme else "`host` begins with two slashes"
            self._problems.warning("host-invalid", "/host", found, "write the host and the port only")
            named = named or list(filter(None, [scheme]))
        if base and not base.startswith("/"):
            base = f"/{base}"
        if not host and named and self._url is not None:  # "the host serving the documentation is to be used"
            host = urlsplit(self._url).netloc
        host = host.rstrip("/")
        if not host:
            return [{"url": base}] if base else []
        # Without schemes it is that of the place where the description was found: an address relative to it.
        return [{"url": f"{scheme}://{host}{base}"} for scheme in named] or [{"url": f"//{host}{base}"}]

    def _security_schemes(self) -> Json:
        schemes = self._data.get("securityDefinitions")
        if not isinstance(schemes, dict):
            return {}
        for name, raw in schemes.items():
            pointer = child("/components/securitySchemes", name)
            if text_of(raw, "type") == "oauth2" and isinstance(raw.get("flow"), str):
                flow = _FLOWS.get(raw["flow"], raw["flow"])
                self._moves.move(child(pointer, "flows", flow), child("/securityDefinitions", name))
        return {name: _security_scheme(raw) for name, raw in schemes.items()}

    def _path_item(self, raw: Json, pointer: str) -> Json:
        if not isinstance(raw, dict):
            return raw
        if "$ref" in raw:
            target, place = self._resolver.resolved(raw, pointer)
            if target is None:
                return {}  # reported
            self._moves.move(pointer, place)
            return self._converted_item(target, place, pointer)
        return self._converted_item(raw, pointer, pointer)

    def _converted_item(self, raw: dict[str, Json], source: str, read: str) -> Json:
        kept, body, form = self._parameters(raw.get("parameters"), source, read)
        item = dict(raw)
        if "parameters" in raw:
            item["parameters"] = kept
        for method in _METHODS:
            if isinstance(raw.get(method), dict):
                item[method] = self._operation(raw[method], child(source, method), child(read, method), body, form)
        return item

    def _operation(
        self, raw: dict[str, Json], source: str, read: str, body: _Placed | None, form: dict[str, _Placed]
    ) -> Json:
        operation = {key: value for key, value in raw.items() if key not in ("consumes", "produces", "schemes")}
        kept, own_body, own_form = self._parameters(raw.get("parameters"), source, read)
        if "parameters" in raw:
            operation["parameters"] = kept
        body, form = own_body or body, {**form, **own_form}
        consumes = texts_of(raw, "consumes") if "consumes" in raw else self._consumes
        if body is not None:
            operation["requestBody"] = self._body(body, consumes, child(read, "requestBody"))
        elif form:
            operation["requestBody"] = self._form(form, consumes, child(read, "requestBody"))
        produces = texts_of(raw, "produces") if "produces" in raw else self._produces
        if isinstance(raw.get("responses"), dict):
            operation["responses"] = {
                status: self._response(
                    response, child(source, "responses", status), child(read, "responses", status), produces
                )
                for status, response in raw["responses"].items()
            }
        if "schemes" in raw and raw["schemes"] != self._data.get("schemes"):
            operation["servers"] = self._servers(raw["schemes"])
            self._moves.move(child(read, "servers"), child(source, "schemes"))
        return operation

    def _parameters(self, raw: Json, source: str, read: str) -> tuple[list[Json], _Placed | None, dict[str, _Placed]]:
        """Gives the parameters that OpenAPI 3 has too, the body, and the fields of a form by name."""
        kept: list[Json] = []
        body: _Placed | None = None
        form: dict[str, _Placed] = {}
        for index, item in enumerate(as_list(raw)):
            place = child(source, "parameters", index)
            target: dict[str, Json] | None = item if isinstance(item, dict) else None
            if text_of(item, "$ref") is not None:
                target, place = self._resolver.resolved(item, place)
                if target is None:
                    continue  # reported
            if text_of(target, "in") == "body":
                body = (as_dict(target), place)
            elif text_of(target, "in") == "formData":
                form[text_of(target, "name") or ""] = (as_dict(target), place)
            else:
                into = child(read, "parameters", len(kept))
                self._moves.move(into, place)
                kept.append(self._parameter(item if target is None else target, place, into))
        return kept, body, form

    def _parameter(self, raw: Json, source: str, read: str) -> Json:
        if not isinstance(raw, dict) or text_of(raw, "in") in ("body", "formData"):
            return raw
        parameter = {key: value for key, value in raw.items() if key in _OF_PARAMETER or key.startswith("x-")}
        parameter.pop("collectionFormat", None)
        if raw.get("type") == "array":
            parameter |= _style(raw)
        schema = {key: value for key, value in raw.items() if key not in parameter and key not in _OF_PARAMETER}
        if "x-nullable" in raw:
            schema["x-nullable"] = raw["x-nullable"]
        parameter["schema"] = schema_in_3(schema)
        self._moves.move(child(read, "schema"), source)
        return parameter

    def _body(self, body: _Placed, consumes: tuple[str, ...], read: str) -> Json:
        raw, place = body
        self._moves.move(read, place)
        schema = schema_in_3(raw.get("schema", {}))
        content: dict[str, Json] = {}
        for media_type in consumes or ("",):
            content[media_type] = {"schema": schema}
            self._moves.move(child(read, "content", media_type), place)
            self._moves.move(child(read, "content", media_type, "schema"), child(place, "schema"))
        return {"description": raw.get("description"), "required": raw.get("required"), "content": content}

    def _form(self, form: dict[str, _Placed], consumes: tuple[str, ...], read: str) -> Json:
        has_file = any(raw.get("type") == "file" for raw, _ in form.values())
        media_types = [name for name in consumes if name in _FORM_TYPES and not (has_file and name != _FORM_TYPES[0])]
        properties: dict[str, Json] = {}
        content: dict[str, Json] = {}
        encoding: dict[str, Json] = {}
        for name, (raw, _) in form.items():
            schema = {key: value for key, value in raw.items() if key not in _OF_PARAMETER or key == "description"}
            properties[name] = schema_in_3(schema)
            if raw.get("type") == "array" and as_dict(raw.get("items")).get("type") != "file":
                encoding[name] = _style(raw)
        required = [name for name, (raw, _) in form.items() if raw.get("required") is True]
        schema = {"type": "object", "properties": properties, "required": required}
        place_of_all = next(iter(form.values()))[1].rpartition("/")[0]
        for media_type in media_types or [_FORM_TYPES[0] if has_file else _FORM_TYPES[1]]:
            content[media_type] = {"schema": schema, **({"encoding": encoding} if encoding else {})}
            self._moves.move(child(read, "content", media_type), place_of_all)
            for name, (_, place) in form.items():
                self._moves.move(child(read, "content", media_type, "schema", "properties", name), place)
        self._moves.move(read, place_of_all)
        return {"required": bool(required), "content": content}

    def _response(self, raw: Json, source: str, read: str, produces: tuple[str, ...]) -> Json:
        if not isinstance(raw, dict):
            return raw
        reference = text_of(raw, "$ref")
        if reference is not None:
            if reference.startswith("#/responses/"):
                return raw  # converted there
            target, source = self._resolver.resolved(raw, source)
            if target is None:
                return {}  # reported
            self._moves.move(read, source)
            raw = target
        response = {key: value for key, value in raw.items() if key not in ("schema", "examples")}
        if isinstance(raw.get("headers"), dict):
            response["headers"] = {name: _header(header) for name, header in raw["headers"].items()}
        examples = as_dict(raw.get("examples"))
        content: dict[str, dict[str, Any]] = {name: {"example": value} for name, value in examples.items()}
        if "schema" in raw:
            schema = schema_in_3(raw["schema"])
            for media_type in (*(produces or ("",)), *(name for name in examples if produces and name not in produces)):
                content.setdefault(media_type, {})["schema"] = schema
                self._moves.move(child(read, "content", media_type), source)
                self._moves.move(child(read, "content", media_type, "schema"), child(source, "schema"))
        if content:
            response["content"] = content
        return response


def _style(raw: dict[str, Json]) -> dict[str, Json]:
    return _STYLES.get(text_of(raw, "collectionFormat") or "csv", _STYLES["csv"])


def _header(raw: Json) -> Json:
    if not isinstance(raw, dict):
        return raw
    schema = {key: value for key, value in raw.items() if key not in ("description", "collectionFormat")}
    return {"description": raw.get("description"), "schema": schema_in_3(schema)}


def _security_scheme(raw: Json) -> Json:
    kind = text_of(raw, "type")
    if kind == "basic":
        return {**raw, "type": "http", "scheme": "basic"}
    if kind != "oauth2" or not isinstance(raw.get("flow"), str):
        return raw
    scheme = {key: value for key, value in raw.items() if key in ("type", "description") or key.startswith("x-")}
    settings = {key: raw[key] for key in ("authorizationUrl", "tokenUrl", "scopes") if key in raw}
    return {**scheme, "flows": {_FLOWS.get(raw["flow"], raw["flow"]): settings}}
