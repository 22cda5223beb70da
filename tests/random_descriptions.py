"""Descriptions drawn at random, in which every word is said once and every name says what must be said of it.

`must_integer_7` is an integer that is required, wherever it is; `word_8` a description, a value, a status text or
a scope. So documents can be checked with no knowledge of how a description is read.
"""

from __future__ import annotations

import re
from random import Random
from typing import Any

Json = Any

VERSIONS = ("2.0", "3.0.3", "3.1.0", "3.2.0")
WORD = re.compile(r"\b(?:word|(?:must|may)_[a-z]+)_\d+\b")
"""What is in one place of a description alone."""

_STYLES = {"path": ("simple", "label", "matrix"), "query": ("form",), "header": ("simple",), "cookie": ("form",)}
_MEDIA_TYPES = ("application/json", "application/merge-patch+json", "text/plain", "application/xml", "image/png")
_METHODS = ("get", "post", "put", "patch", "delete", "head", "options")


class Drawn:
    """One description, in `data`."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._count = 0
        self.version = VERSIONS[seed % len(VERSIONS)]
        self.is_old = self.version == "2.0"
        self._types = [self._word() for _ in range(self._random.randint(1, 4))]
        self._home = "#/definitions/" if self.is_old else "#/components/schemas/"
        self.data = self._description()

    def _is(self, chance: float) -> bool:
        return self._random.random() < chance

    def _word(self, lead: str = "word") -> str:
        self._count += 1
        return f"{lead}_{self._count}"

    def _said(self, chance: float = 0.5) -> Json:
        words = ("It is {}.", "{} of a thing", "- one {}\n- two", "A {}.\n\nMore of it.")
        return {"description": self._random.choice(words).format(self._word())} if self._is(chance) else {}

    # -- types -------------------------------------------------------------------------------------------------------

    def _scalar(self, kind: str | None = None) -> Json:
        kind = kind or self._random.choice(("string", "string", "integer", "number", "boolean"))
        schema: Json = {"type": kind}
        if kind == "string" and self._is(0.3):
            schema["enum"] = [self._word(), self._word()]
        elif kind == "string" and self._is(0.3):
            schema["default"] = self._word()
        elif kind in ("integer", "number") and self._is(0.4):
            schema["minimum"] = self._random.randint(-9, 99)
        return schema

    def _schema(self, depth: int) -> tuple[str, Json]:
        """Returns a type as a name says it, and the schema."""
        choice = self._random.randrange(12)
        if choice < 6 or depth > 2:
            schema = self._scalar()
            return schema["type"], {**schema, **self._said()}
        if choice < 8:
            return "array", {"type": "array", "items": self._schema(depth + 1)[1], **self._said()}
        if choice == 8:
            return "ref", {"$ref": self._home + self._random.choice(self._types)}
        if choice == 9:
            parts = [{"$ref": self._home + self._random.choice(self._types)}, self._object(depth + 1)]
            return "ref", {"allOf": parts}
        if choice == 10 and not self.is_old:
            ways = [{**self._object(depth + 1, 0), **self._said()}, {**self._scalar("integer"), **self._said()}]
            return "any", {self._random.choice(("oneOf", "anyOf")): ways, **self._said()}
        return "object", {**self._object(depth + 1), **self._said()}

    def _object(self, depth: int, required: float = 0.4) -> Json:
        """Returns an object; of an alternative nothing is required, for the body that it is in may be another."""
        properties: dict[str, Json] = {}
        for _ in range(self._random.randint(1, 3)):
            kind, schema = self._schema(depth)
            # What refers is optional, so that every type has a value that ends.
            lead = "must" if "$ref" not in str(schema) and self._is(required) else "may"
            properties[self._word(f"{lead}_{kind}")] = schema
        names = [name for name in properties if name.startswith("must")]
        return {"type": "object", "properties": properties, **({"required": names} if names else {})}

    # -- operations --------------------------------------------------------------------------------------------------

    def _parameter(self, where: str) -> Json:
        kind = self._random.choice(("string", "integer", "boolean", "array", "object"))
        if self.is_old and kind == "object":
            kind = "string"
        lead = "must" if where == "path" or self._is(0.5) else "may"
        found = {"name": self._word(f"{lead}_{kind}"), "in": where, "required": lead == "must", **self._said()}
        if kind == "array":
            schema: Json = {"type": "array", "items": self._scalar()}
        elif kind == "object":
            names = [f"may_{inner}" for inner in ("string", "integer")]
            schema = {"type": "object", "properties": {self._word(name): self._scalar(name[4:]) for name in names}}
        else:
            schema = self._scalar(kind)
        if self.is_old:
            return {**found, **schema}
        if self._is(0.4):
            found |= {"style": self._random.choice(_STYLES[where]), "explode": self._is(0.5)}
        return {**found, "schema": {**schema, **self._said(0.3)}}

    def _response(self, with_body: bool = True) -> Json:
        found: Json = {"description": self._word()}
        if self._is(0.4):
            header = self._scalar() if self.is_old else {"schema": {**self._scalar(), **self._said(0.3)}}
            found["headers"] = {self._word(): {**header, **self._said()}}
        if with_body and self._is(0.6) and self.is_old:
            found["schema"] = self._schema(1)[1]
        elif with_body and self._is(0.6):
            media_types = self._random.sample(_MEDIA_TYPES, self._random.choice((1, 1, 2)))
            found["content"] = {name: {"schema": self._schema(1)[1]} for name in media_types}
        return found

    def _operation(self, method: str) -> Json:
        found: Json = {"operationId": self._word(), "summary": f"Does {self._word()}", **self._said()}
        places = ["query"] * self._random.randint(0, 2) + ["header"] * self._random.randint(0, 1)
        if not self.is_old:
            places += ["cookie"] * self._random.choice((0, 0, 1))
        found["parameters"] = [self._parameter(place) for place in places]
        if method in ("post", "put", "patch") and self.is_old:
            sent = {"name": "sent", "in": "body", "required": self._is(0.5), "schema": self._schema(0)[1]}
            found["parameters"].append({**sent, **self._said(0.3)})
        elif method in ("post", "put", "patch"):
            content = {name: {"schema": self._schema(0)[1]} for name in _MEDIA_TYPES[: self._random.choice((1, 1, 2))]}
            found["requestBody"] = {"required": self._is(0.5), "content": content, **self._said(0.3)}
        statuses = self._random.sample(("200", "202", "302", "400", "404", "503"), self._random.randint(1, 4))
        found["responses"] = {status: self._response() for status in statuses}
        return found

    def _description(self) -> Json:
        paths: dict[str, Json] = {}
        for index in range(self._random.randint(1, 3)):
            own = [self._parameter("path") for _ in range(self._random.randint(0, 2))]
            path = (
                f"/a{index}" + "".join(f"/{{{item['name']}}}" for item in own) + self._random.choice(("", "/b", ":c"))
            )
            methods = self._random.sample(_METHODS, self._random.randint(1, 3))
            paths[path] = {"parameters": own, **{method: self._operation(method) for method in methods}}
        types = {name: {**self._object(0), **self._said()} for name in self._types}
        info = {"title": "Drawn", "version": "1", "description": "Drawn at random."}
        if self.is_old:
            media_types = {"consumes": ["application/json"], "produces": ["application/json"]}
            place = {"host": "drawn.example", "basePath": "/v1", "schemes": ["https"]}
            return {"swagger": "2.0", "info": info, **place, **media_types, "paths": paths, "definitions": types}
        servers = [{"url": "https://drawn.example/v1"}]
        parts = {"schemas": types}
        return {"openapi": self.version, "info": info, "servers": servers, "paths": paths, "components": parts}
