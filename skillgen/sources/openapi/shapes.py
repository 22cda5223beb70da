"""Checks that the members of a description's objects have the types that OpenAPI declares.

The readers take a value of another type for an absent one, so each is reported here. Schemas and security requirements
are checked where they are read. Null carries no fact and is not reported.
"""

from __future__ import annotations

import re

from skillgen.errors import ProblemLog
from skillgen.model.pointer import child, follow
from skillgen.model.value import Json
from skillgen.sources.json_schema.keywords import kind_of
from skillgen.sources.openapi.paths import METHODS


def check_shapes(data: dict[str, Json], problems: ProblemLog) -> None:
    """Reports members of another type, in a description and in the objects that its references lead to."""
    checker = _Checker(data, problems)
    for name, kind in (_ROOT | (_ROOT_3 if "openapi" in data else _ROOT_2)).items():
        checker.check(data.get(name), child("", name), kind, name)
    checker.check_targets()


def _members(**names_by_kind: str) -> dict[str, str]:
    """Returns the kind of each member; the names of one kind are separated by spaces."""
    return {name: kind for kind, names in names_by_kind.items() for name in names.split()}


_WORDS = _members(string="summary description", docs="externalDocs")
_SENT = _members(string="description style", boolean="required deprecated explode allowReserved allowEmptyValue")

_OBJECTS: dict[str, dict[str, str]] = {
    "info": _WORDS
    | _members(string="title termsOfService", contact="contact", license="license")
    | {"x-mcp": "manifest", "x-apiClientRegistration": "docs"},
    "manifest": {"logo": "string", "categories": "[string]"},
    "contact": _members(string="name url email"),
    "license": _members(string="name url identifier"),
    "docs": _members(string="url description"),
    "tag": _WORDS | _members(string="name parent kind"),
    "server": _members(string="url description name") | {"variables": "{variable}"},
    "variable": _members(string="description", list="enum"),
    "path": _WORDS
    | {"parameters": "[parameter]", "servers": "[server]", "additionalOperations": "{operation}"}
    | dict.fromkeys(METHODS, "operation"),
    "operation": _WORDS
    | _members(string="operationId", boolean="deprecated", body="requestBody")
    | {"parameters": "[parameter]", "servers": "[server]", "callbacks": "{callback}", "responses": "{response}"}
    | dict.fromkeys(("tags", "consumes", "produces", "schemes"), "[string]"),
    "parameter": _SENT | {"content": "{media}", "examples": "{example}"},
    "header": _SENT | {"content": "{media}", "examples": "{example}"},
    "body": _members(string="description", boolean="required") | {"content": "{media}"},
    "media": {"examples": "{example}", "encoding": "{encoding}"},
    "encoding": _members(string="contentType style", boolean="explode allowReserved") | {"headers": "{header}"},
    "response": _WORDS | {"headers": "{header}", "content": "{media}", "links": "{link}"},
    "example": _members(string="summary description externalValue serializedValue"),
    "link": _members(string="operationId operationRef description", object="parameters", server="server"),
    "callback": {},
    "scheme": _members(string="type description name in scheme bearerFormat openIdConnectUrl oauth2MetadataUrl flow")
    | {"flows": "{flow}", "scopes": "object"},
    "flow": _members(string="authorizationUrl tokenUrl refreshUrl deviceAuthorizationUrl", object="scopes"),
    "components": _members(object="schemas")
    | {"responses": "{response}", "parameters": "{parameter}", "examples": "{example}", "requestBodies": "{body}"}
    | {"headers": "{header}", "securitySchemes": "{scheme}", "links": "{link}", "callbacks": "{callback}"}
    | {"pathItems": "{path}", "mediaTypes": "{media}"},
}
"""Kinds of the members of each object: `[tag]` is a list of tags, `{path}` an object whose values are path items."""

_ROOT = {"info": "info", "paths": "{path}", "tags": "[tag]", "externalDocs": "docs"}
_ROOT_3 = {"servers": "[server]", "webhooks": "{path}", "x-webhooks": "{path}", "components": "components"}
_ROOT_2 = (
    _members(string="host basePath", object="definitions")
    | {"parameters": "{parameter}", "responses": "{response}", "securityDefinitions": "{scheme}"}
    | dict.fromkeys(("schemes", "consumes", "produces"), "[string]")
)

_REPORTED_BY_READERS = frozenset(
    {"path", "operation", "parameter", "body", "response", "header", "example", "link", "callback", "scheme", "server"}
)
"""Objects of which the reader itself reports a value that is not one."""

_TYPES: dict[str, tuple[type, str]] = {
    "string": (str, "a string"),
    "boolean": (bool, "a boolean"),
    "list": (list, "a list"),
    "[": (list, "a list"),
    "{": (dict, "an object"),
}
"""Type of each kind, and what a message calls it; an object of whatever else."""

_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")


class _Checker:
    """Checks the objects of one description; one that several references lead to is checked once."""

    def __init__(self, data: dict[str, Json], problems: ProblemLog) -> None:
        self._data = data
        self._problems = problems
        self._seen: set[str] = set()
        self._targets: list[tuple[str, str]] = []

    def check_targets(self) -> None:
        """Checks what references lead to, one after another: a chain of them may be longer than the stack."""
        for reference, kind in self._targets:
            try:
                self.check(follow(self._data, reference[1:]), reference[1:], kind, kind)
            except LookupError:
                continue  # reported where the reference is followed

    def check(self, value: Json, pointer: str, kind: str, name: str) -> None:
        """Checks a value against its kind; `name` is the member that holds it."""
        if value is None:
            return
        expected, words = _TYPES.get(kind, _TYPES.get(kind[0], _TYPES["{"]))
        if not isinstance(value, expected):
            if kind not in _REPORTED_BY_READERS:
                self._report(value, pointer, words, name)
        elif isinstance(value, list):
            for index, item in enumerate(value):
                if kind != "list":
                    self.check(item, child(pointer, index), kind[1:-1], _singular(kind[1:-1], name))
        elif isinstance(value, dict) and kind[0] == "{":
            for key, item in value.items():
                if not key.startswith("x-"):
                    self.check(item, child(pointer, key), kind[1:-1], kind[1:-1])
        elif isinstance(value, dict) and kind in _OBJECTS:
            self._check_object(value, pointer, kind)

    def _check_object(self, value: dict[str, Json], pointer: str, kind: str) -> None:
        if isinstance(reference := value.get("$ref"), str):
            if reference.startswith("#/") and reference not in self._seen:
                self._seen.add(reference)
                self._targets.append((reference, kind))
            if kind != "path":
                return
        if kind == "callback":
            self.check(value, pointer, "{path}", kind)
        for name, inner in _OBJECTS[kind].items():
            if name in value:
                self.check(value[name], child(pointer, name), inner, name)

    def _report(self, value: Json, pointer: str, expected: str, name: str) -> None:
        code = f"{_CAPITAL.sub('-', name).lower()}-invalid"
        if isinstance(value, (dict, list)) or expected in ("an object", "a list"):
            message = f"expected {expected}, found {kind_of(value)}; it is left out"
            self._problems.warning(code, pointer, message, f"make it {expected}")
        elif expected == "a boolean":
            message = f"{str(value)[:40]!r} is neither true nor false; it is ignored"
            self._problems.warning(code, pointer, message, "write true or false")
        else:
            message = f"expected {expected}, found {kind_of(value)}; it is ignored"
            self._problems.warning(code, pointer, message, "put it in quotes")


def _singular(kind: str, name: str) -> str:
    """Returns what a problem calls an item of a list: the kind of an object, else the list itself."""
    return kind if kind in _OBJECTS else name
