"""Parameters of operations, and the input schema that they form with the body (OpenAPI 3.1, "Parameter Object")."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain

from msgspec.structs import replace

from skillgen.model.schema import Location, Parameter, Schema
from skillgen.model.serialization import QUERY_STRING
from skillgen.model.values import Json, Origin, child
from skillgen.sources.json_access import as_dict, as_list, text_of
from skillgen.sources.json_schema.flatten import flatten
from skillgen.sources.json_schema.loader import SchemaDocument
from skillgen.sources.openapi.media import (
    URL_ENCODED,
    DeclaredExample,
    apply_encoding,
    declared_examples,
    parameter_fields,
    representations,
    serialization_of,
)
from skillgen.sources.openapi.paths import is_internal
from skillgen.sources.openapi.references import Resolver

TEMPLATE_VARIABLE = re.compile(r"\{(/?[^{}/]*)\}")
"""A variable in a path."""

EXPANSIONS = {"+": "", ".": ".", "/": "/", ";": ";"}
"""What an operator before the name of a variable puts before its value (RFC 6570, 3.2)."""

_QUERY_OPERATORS = ("?", "&", "#")
"""Operators of variables that are not in the path; parameters of the query are sent anyway."""

_IGNORED_HEADERS = {
    **dict.fromkeys(
        ("host", "content-length", "connection", "transfer-encoding"), "remove it: the client sends its own"
    ),
    "accept": "declare the media types of the responses",
    "content-type": "declare the media types of the request body",
    "authorization": "declare a security scheme",
}
"""Header parameters that "SHALL be ignored" (OpenAPI 3.2, "Parameter Object"), and what to declare instead.

The first are of the connection (RFC 9110, 7.2 and 7.6.1): a request for one host would be signed for another. Without
any scheme, the last is the only declaration of the login, and is read.
"""

_SIGNING = frozenset(
    f"x-amz-{name}"
    for name in ("content-sha256", "date", "algorithm", "credential", "security-token", "signature", "signedheaders")
)
"""Parameters that a tool which signs requests writes (AWS Signature Version 4)."""

_LOCATIONS: tuple[Location, ...] = ("path", "query", "header", "cookie")


class ParameterReader:
    """Reads parameters; a shared one is read once."""

    def __init__(
        self, resolver: Resolver, schemas: SchemaDocument, *, signs_requests: bool = False, has_internal: bool = False
    ) -> None:
        """`signs_requests`: parameters with a signature are not for the caller; `has_internal`: internal ones are."""
        self._has_internal = has_internal
        self._written = _SIGNING if signs_requests else frozenset[str]()
        has_schemes = bool(as_dict(resolver.document.get("components")).get("securitySchemes"))
        self._login = None if has_schemes else "authorization"
        self._resolver = resolver
        self._schemas = schemas
        self._problems = resolver.problems
        self._shared: dict[str, tuple[Parameter, ...]] = {}
        self._query_strings: set[str] = set()
        self.examples: dict[str, tuple[DeclaredExample, ...]] = {}
        """The declared examples of parameters, by their pointers."""

    def parameters(self, owners: Iterable[tuple[dict[str, Json], str]]) -> tuple[Parameter, ...]:
        """Reads the parameters of objects with their pointers: path items, then the operation, which overrides them."""
        parameters: dict[tuple[str, str], Parameter] = {}
        for owner, pointer in owners:
            keys: set[tuple[str, str]] = set()
            for index, raw in enumerate(as_list(owner.get("parameters"))):
                place = child(pointer, "parameters", index)
                if not self._has_internal and is_internal(as_dict(raw)) and as_dict(raw).get("required") is not True:
                    message = "the description marks the parameter as internal; left out"
                    self._problems.report("internal-left-out", place, message)
                    continue
                for parameter in self._read(raw, place):
                    is_header = parameter.location == "header"  # its name has no case
                    key = parameter.location, parameter.name.lower() if is_header else parameter.name
                    if key in keys:
                        self._problems.report(
                            "parameter-duplicate",
                            child(pointer, "parameters", index),
                            f"the {key[0]} parameter {key[1][:100]!r} is declared twice; the last declaration is used",
                        )
                    keys.add(key)
                    parameters[key] = parameter
        query = [item.pointer in self._query_strings for item in parameters.values() if item.location == "query"]
        if any(query) and not all(query):
            message = "a parameter in `querystring` is the complete query, but there are parameters in `query` too"
            self._problems.report("querystring-not-alone", child(pointer, "parameters"), message)
        return tuple(parameters.values())

    def with_path_parameters(self, parameters: tuple[Parameter, ...], path: str, pointer: str) -> tuple[Parameter, ...]:
        """Returns the parameters of an operation with the undeclared variables of its path.

        Each variable must be declared, but a caller has to send an undeclared one too (OpenAPI 3.1, "Path Templating").
        """
        if "{" not in path and not any(item.location == "path" for item in parameters):
            return parameters
        declared = {item.name for item in parameters if item.location == "path"}
        elsewhere = {item.name for item in parameters} - declared
        named = dict[str, None]()
        for name in TEMPLATE_VARIABLE.findall(path):
            if name[:1] in EXPANSIONS and name not in declared:
                name = name[1:]
                if name in elsewhere:
                    continue
            if not name.startswith(_QUERY_OPERATORS):
                named[name] = None
        for name in declared - named.keys():
            message = f"the path has no variable for the path parameter {name[:100]!r}"
            self._problems.report("path-parameter-unused", pointer, message)
        missing = [name for name in named if name.strip() and name not in declared]
        for name in missing:
            message = f"no parameter declares the path variable {name[:100]!r}"
            self._problems.report("path-parameter-missing", pointer, message)
        return parameters + tuple(
            Parameter(name=name, location="path", required=True, schema=Schema(), pointer=pointer) for name in missing
        )

    def _read(self, raw: Json, pointer: str) -> tuple[Parameter, ...]:
        """Reads a parameter, or all parameters of a query string; what several operations refer to is read once."""
        reference = text_of(raw, "$ref")
        if reference is None:
            return self._parameters_from(raw, pointer)
        if reference not in self._shared:
            target, target_pointer = self._resolver.resolve({"$ref": reference}, pointer)
            self._shared[reference] = () if target is None else self._parameters_from(target, target_pointer)
        shared, description = self._shared[reference], text_of(raw, "description")
        if description is None or not self._resolver.reads_ref_siblings:
            return shared
        origin = {"description": Origin("declared", child(pointer, "description"))}
        return tuple(
            replace(item, description=description, origins={**(item.origins or {}), **origin}) for item in shared
        )

    def _query_string(self, raw: dict[str, Json], pointer: str) -> tuple[Parameter, ...]:
        """Reads a parameter for the complete query string: the fields of a form, or one value."""
        for form in representations(as_dict(raw.get("content")), child(pointer, "content"), self._resolver):
            if form.media_types != (URL_ENCODED,):
                break
            parameters = flatten(self._schemas, form.schema, child(form.pointer, "schema"), "query").parameters
            if parameters:
                return apply_encoding(parameters, form, self._resolver, self._schemas)
        return self._parameters_from({"name": "querystring", **raw, "in": "query", "style": QUERY_STRING}, pointer)

    def _parameters_from(self, raw: Json, pointer: str) -> tuple[Parameter, ...]:
        name, location = text_of(raw, "name"), text_of(raw, "in")
        if location == "querystring":  # OpenAPI 3.2
            parameters = self._query_string(raw, pointer)
            self._query_strings.update(item.pointer for item in parameters)
            return parameters
        if name is None or location not in _LOCATIONS:
            self._problems.report(
                "parameter-invalid", pointer, "a parameter without a name or with an unknown `in`; left out"
            )
            return ()
        header = name.lower().partition(":")[0].strip()
        if location == "header" and header in _IGNORED_HEADERS and name.lower() != self._login:
            message = f"a header {name!r} is no parameter of a call; it is left out"
            self._problems.report("header-parameter-ignored", pointer, message, _IGNORED_HEADERS[header])
            return ()
        if name.lower() in self._written and location in ("header", "query"):
            return ()
        fields = parameter_fields(raw, pointer, self._resolver, self._schemas)
        forms = representations(as_dict(raw.get("content")), child(pointer, "content"), self._resolver)
        owners = [(raw, pointer), *((form.media, form.pointer) for form in forms)]
        examples = tuple(chain.from_iterable(declared_examples(*owner, self._resolver) for owner in owners))
        if examples:
            # They override the examples of the schema (OpenAPI 3.1, "Parameter Object").
            fields["schema"] = replace(fields["schema"], examples=tuple(example.value for example in examples))
            self.examples[pointer] = examples
        fields["required"] |= location == "path"
        sent = serialization_of(raw, location, fields["schema"], self._schemas.types)
        return (Parameter(name=name, location=location, serialization=sent, **fields),)


def with_query_parameters(
    path: str, parameters: tuple[Parameter, ...], pointer: str
) -> tuple[str, tuple[Parameter, ...]]:
    """Returns a path without the variables of its query, such as `?page={page}`, which are parameters of the query."""
    start, _, query = path.partition("?")
    if not query:
        return path, parameters
    pairs = [pair.partition("=") for pair in query.split("&")]
    is_variable = TEMPLATE_VARIABLE.fullmatch  # `{page}=1` is meant as `page={page}`
    pairs = [(name[1:-1], is_, name) if is_ and is_variable(name) else (name, is_, value) for name, is_, value in pairs]
    found = {(str(item.location), item.name): item for item in parameters}
    for name, _, value in pairs:
        if is_variable(value):
            item = found.pop(("path", value[1:-1]), None) or found.pop(("query", value[1:-1]), None)
            item = item or Parameter(name=name, location="query", required=True, schema=Schema(), pointer=pointer)
            found["query", name] = replace(item, name=name, location="query")
    rest = "&".join("".join(pair) for pair in pairs if not is_variable(pair[2]))
    return f"{start}?{rest}" if rest else start, tuple(found.values())
