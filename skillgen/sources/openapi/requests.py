"""Requests: the operations of path items, their parameters, and their bodies in each media type.

See OpenAPI 3.2, "Path Item Object", and 3.1, "Parameter Object" and "Request Body Object".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from skillgen.model.calls import Input
from skillgen.model.schema import Location, Parameter, Schema, Serialization
from skillgen.model.serialization import LINES, QUERY_STRING, RECORDS, URL_ENCODED, media_kind
from skillgen.model.values import Json, Origin, child, shorten_pointer
from skillgen.sources.json_access import POINTER_LIMIT, as_dict, as_list, text_of
from skillgen.sources.json_schema.flatten import EMPTY_OBJECT, FlatObject, flatten
from skillgen.sources.json_schema.loader import SchemaDocument
from skillgen.sources.json_schema.merge import ANYTHING
from skillgen.sources.openapi.checks import METHODS, check_responses
from skillgen.sources.openapi.references import Resolver
from skillgen.sources.openapi.responses import (
    DeclaredExample,
    Representation,
    apply_encoding,
    declared_examples,
    form_type,
    is_concrete,
    parameter_fields,
    representations,
    serialization_of,
)
from skillgen.text import lazy_re as re

_PATH_ITEM_MEMBERS = frozenset({"$ref", "summary", "description", "servers", "parameters", "additionalOperations"})
"""The other members of a path item."""

_OPERATION_MEMBERS = frozenset(
    {"callbacks", "deprecated", "externalDocs", "operationId", "requestBody", "responses", "security", "tags"}
)
"""Members of an operation that are invalid in a path item."""


_INTERNAL = frozenset({"x-internal", "x-hidden", "x-speakeasy-ignore", "x-fern-ignore", "x-stainless-skip"})
"""Extensions of other tools that keep a part of a description out of documents, if they are true."""


def is_internal(part: Mapping[str, Json]) -> bool:
    """True if a part of a description is not for everybody."""
    return not _INTERNAL.isdisjoint(part) and any(part.get(name) is True for name in _INTERNAL)


PathItems = tuple[tuple[dict[str, Json], str], ...]
"""Path items, each with its JSON pointer; later ones take precedence."""


class PathOperation(Struct, frozen=True, kw_only=True):
    """One operation of the document, raw."""

    method: str
    """Lower case; in `additionalOperations` as declared."""

    path: str
    """The key of its path item."""

    items: PathItems
    """The path item; if it has a `$ref`, the target and then the siblings of the `$ref`."""

    operation: dict[str, Json]
    pointer: str

    @property
    def sent_method(self) -> str:
        """The method in a request; `additionalOperations` has it in this form."""
        return self.method.upper() if self.method in METHODS else self.method


TEMPLATE_VARIABLE = re.compile(r"\{(/?[^{}/]*)\}")
"""A variable in a path."""

EXPANSIONS = {"+": "", ".": ".", "/": "/", ";": ";"}
"""What an operator before the name of a variable puts before its value (RFC 6570, 3.2)."""

_QUERY_OPERATORS = ("?", "&", "#")
"""Operators of variables that are not in the path; parameters of the query are sent anyway."""

_LOGIN = "authorization"
_IGNORED_HEADERS = {_LOGIN, "accept", "content-type", "host", "content-length", "connection", "transfer-encoding"}
"""Header parameters that are left out.

The first three "SHALL be ignored" (OpenAPI 3.2, "Parameter Object"), but without `security` the first is the only
declaration of the login of an operation, and is read. The others are of the connection (RFC 9110, 7.2 and 7.6.1): a
request for one host would be signed for another.
"""

_SIGNING = frozenset(
    f"x-amz-{name}"
    for name in ("content-sha256", "date", "algorithm", "credential", "security-token", "signature", "signedheaders")
)
"""Parameters that a tool which signs requests writes (AWS Signature Version 4)."""

_LOCATIONS: tuple[Location, ...] = ("path", "query", "header", "cookie")


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


class Body(Struct, frozen=True, kw_only=True):
    """A request body in the terms of the model."""

    parameters: tuple[Parameter, ...] = ()
    """The properties of its recommended representation, or one parameter for the complete body."""

    media_types: tuple[str, ...] = ()
    """The media types in which it can be sent, as declared."""

    input: Input | None = None
    """Its recommended representation, without parameters."""

    other_inputs: tuple[Input, ...] = ()
    """Its other representations, with their parameters."""

    forms: tuple[tuple[Input, Representation], ...] = ()
    """Its representations, each with its parameters; none if there is nothing to send."""

    is_required: bool = False


_STRUCTURED = re.compile(r"json|xml|form", re.IGNORECASE)


class RequestReader:
    """Reads the requests of one description: operations, their parameters and bodies; a shared part is read once."""

    def __init__(
        self, resolver: Resolver, schemas: SchemaDocument, *, signs_requests: bool = False, has_internal: bool = False
    ) -> None:
        """`signs_requests`: parameters with a signature are not for the caller; `has_internal`: internal operations and
        parameters are."""
        self._has_internal = has_internal
        self._written = _SIGNING if signs_requests else frozenset[str]()
        self._resolver = resolver
        self._schemas = schemas
        self._problems = resolver.problems
        self._shared: dict[str, tuple[Parameter, ...]] = {}
        self._of_items: dict[str, dict[tuple[str, str], Parameter]] = {}
        self._query_strings: set[str] = set()
        self._bodies: dict[tuple[str, bool], FlatObject] = {}
        self.examples: dict[str, tuple[DeclaredExample, ...]] = {}
        """The declared examples of parameters, by their pointers."""

    def operations(self, paths: dict[str, Json], pointer: str) -> Iterator[PathOperation]:
        """Yields every operation of a map of path items, which is at `pointer`."""
        for path, raw in paths.items():
            if path.startswith("x-"):
                continue
            path_pointer = child(pointer, path)
            item, item_pointer = self._resolver.resolve(raw, path_pointer)
            if item is None:
                continue
            seen: set[str] = set()
            if item_pointer == path_pointer:
                yield from self._operations(path, item, path_pointer, ((item, path_pointer),), seen)
                continue
            # Operations next to the `$ref` replace those of its target.
            siblings = {
                key: value
                for key, value in as_dict(raw).items()
                if key != "$ref" and (key not in item or key == "parameters")
            }
            items: PathItems = ((item, item_pointer), (siblings, path_pointer))
            yield from self._operations(path, siblings, path_pointer, items, seen)
            yield from self._operations(path, item, item_pointer, items, seen)

    def _operations(
        self, path: str, item: dict[str, Json], item_pointer: str, items: PathItems, seen: set[str]
    ) -> Iterator[PathOperation]:
        operations = [(key, value, f"{item_pointer}/{key}") for key, value in item.items() if key in METHODS]
        operations += self._misspelt_methods(item, item_pointer)
        for key, value in as_dict(item.get("additionalOperations")).items():
            method, pointer = key, child(item_pointer, "additionalOperations", key)
            if key.isupper() and key.lower() in METHODS:
                method = key.lower()
                message = f"`additionalOperations` must not have {key}: it is the member {method!r} of a path item"
                self._problems.report("method-misplaced", pointer, message, f"move it to {method!r} of the path item")
            operations.append((method, value, pointer))
        for method, operation, pointer in operations:
            if method in seen:
                continue
            seen.add(method)
            if isinstance(operation, dict) and "$ref" in operation:  # not in OpenAPI, but tools that bundle follow it
                operation, pointer = self._resolver.resolve(operation, pointer)
                if operation is None:
                    continue
            if not isinstance(operation, dict):
                self._problems.report("operation-invalid", pointer, "the operation is not an object; left out")
                continue
            if len(pointer) > POINTER_LIMIT:
                message = f"its JSON pointer is longer than {POINTER_LIMIT:,} characters; the operation is left out"
                self._problems.report("operation-invalid", shorten_pointer(pointer), message, "shorten the path")
                continue
            if not self._has_internal and (is_internal(operation) or any(is_internal(part) for part, _ in items)):
                message = "the description marks the operation as internal; left out"
                self._problems.report("internal-left-out", pointer, message)
                continue
            check_responses(operation, pointer, self._problems)
            yield PathOperation(method=method, path=path, items=items, operation=operation, pointer=pointer)

    def _misspelt_methods(self, item: dict[str, Json], item_pointer: str) -> Iterator[tuple[str, Json, str]]:
        """Yields the operations with a method that is not in lower case, and reports unknown members."""
        for key, value in item.items():
            if key in METHODS or key in _PATH_ITEM_MEMBERS or key.startswith("x-"):
                continue
            pointer, method = child(item_pointer, key), key.lower()
            if method in METHODS:
                self._problems.report("method-misspelt", pointer, f"{key!r} is read as {method!r}")
                yield method, value, pointer
            elif key in _OPERATION_MEMBERS:
                message = f"{key!r} belongs to an operation, not to a path item; left out"
                self._problems.report("member-misplaced", pointer, message)
            else:
                message = f"{key[:60]!r} is neither a method nor another member of a path item; left out"
                self._problems.report("method-unknown", pointer, message)

    # -- parameters --------------------------------------------------------------------------------------------------

    def parameters(self, entry: PathOperation, *, has_login: bool = False) -> tuple[Parameter, ...]:
        """Returns the parameters of an operation, which override those of its path items; these are read once.

        With `has_login`, a header `authorization` is not one of them.
        """
        parameters: dict[tuple[str, str], Parameter] = {}
        for item, pointer in entry.items:
            if pointer not in self._of_items:
                self._of_items[pointer] = self._declared(item, pointer)
            parameters |= self._of_items[pointer]
        parameters |= self._declared(entry.operation, entry.pointer)
        if has_login and (login := parameters.pop(("header", _LOGIN), None)) is not None:
            self._report_ignored(login.name, login.pointer)
        if self._query_strings:
            query = {item.pointer in self._query_strings for item in parameters.values() if item.location == "query"}
            if len(query) > 1:
                message = "a parameter in `querystring` is the complete query, but there are parameters in `query` too"
                self._problems.report("querystring-not-alone", f"{entry.pointer}/parameters", message)
        return tuple(parameters.values())

    def _declared(self, owner: dict[str, Json], pointer: str) -> dict[tuple[str, str], Parameter]:
        """Reads the parameters of an object, each by its place and its name."""
        parameters: dict[tuple[str, str], Parameter] = {}
        for index, raw in enumerate(as_list(owner.get("parameters"))):
            place = f"{pointer}/parameters/{index}"
            if not self._has_internal and is_internal(as_dict(raw)) and as_dict(raw).get("required") is not True:
                message = "the description marks the parameter as internal; left out"
                self._problems.report("internal-left-out", place, message)
                continue
            for parameter in self._read(raw, place):
                is_header = parameter.location == "header"  # its name has no case
                key = parameter.location, parameter.name.lower() if is_header else parameter.name
                if key in parameters:
                    message = f"the {key[0]} parameter {key[1][:100]!r} is declared twice; the last declaration is used"
                    self._problems.report("parameter-duplicate", place, message)
                parameters[key] = parameter
        return parameters

    def with_path_parameters(self, parameters: tuple[Parameter, ...], path: str, pointer: str) -> tuple[Parameter, ...]:
        """Returns the parameters of an operation with the undeclared variables of its path.

        Each variable must be declared, but a caller has to send an undeclared one too (OpenAPI 3.1, "Path Templating").
        """
        declared = {item.name for item in parameters if item.location == "path"}
        named: dict[str, None] = {}
        for name in TEMPLATE_VARIABLE.findall(path):
            if name[:1] in EXPANSIONS and name not in declared:
                name = name[1:]
                if name not in declared and any(item.name == name for item in parameters):
                    continue
            if not name.startswith(_QUERY_OPERATORS):
                named[name] = None
        for name in declared - named.keys():
            message = f"the path has no variable for the path parameter {name[:100]!r}"
            self._problems.report("path-parameter-unused", pointer, message)
        for name in [name for name in named if name.strip() and name not in declared]:
            message = f"no parameter declares the path variable {name[:100]!r}"
            self._problems.report("path-parameter-missing", pointer, message)
            parameters += (Parameter(name=name, location="path", required=True, schema=Schema(), pointer=pointer),)
        return parameters

    def _read(self, raw: Json, pointer: str) -> tuple[Parameter, ...]:
        """Reads a parameter, or all parameters of a query string; what several operations refer to is read once."""
        reference = text_of(raw, "$ref")
        if reference is None:
            return self._parameters_from(raw, pointer)
        if reference not in self._shared:
            target, target_pointer = self._resolver.resolve({"$ref": reference}, pointer)
            self._shared[reference] = () if target is None else self._parameters_from(target, target_pointer)
        shared = self._shared[reference]
        if not self._resolver.reads_ref_siblings or (description := text_of(raw, "description")) is None:
            return shared
        origin = {"description": Origin("declared", f"{pointer}/description")}
        return tuple(
            replace(item, description=description, origins={**(item.origins or {}), **origin}) for item in shared
        )

    def _report_ignored(self, name: str, pointer: str) -> None:
        message = f"a header {name!r} is no parameter of a call; it is left out"
        self._problems.report("header-parameter-ignored", pointer, message)

    def _query_string(self, raw: dict[str, Json], pointer: str) -> tuple[Parameter, ...]:
        """Reads a parameter for the complete query string: the fields of a form, or one value."""
        for form in representations(raw, pointer, self._resolver):
            if form.media_types != (URL_ENCODED,):
                break
            parameters = flatten(self._schemas, form.schema, f"{form.pointer}/schema", "query").parameters
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
            message = "a parameter without a name or with an unknown `in`; left out"
            self._problems.report("parameter-invalid", pointer, message)
            return ()
        header = name.lower().partition(":")[0].strip()
        if location == "header" and header in _IGNORED_HEADERS and name.lower() != _LOGIN:
            self._report_ignored(name, pointer)
            return ()
        if name.lower() in self._written and location in ("header", "query"):
            return ()
        fields = parameter_fields(raw, pointer, self._resolver, self._schemas)
        examples = tuple(declared_examples(raw, pointer, self._resolver))
        for form in representations(raw, pointer, self._resolver) if "content" in raw else ():
            examples += tuple(declared_examples(form.media, form.pointer, self._resolver))
        if examples:
            # They override the examples of the schema (OpenAPI 3.1, "Parameter Object").
            fields["schema"] = replace(fields["schema"], examples=tuple(example.value for example in examples))
            self.examples[pointer] = examples
        fields["required"] |= location == "path"
        sent = serialization_of(raw, location, fields["schema"], self._schemas.reader.types)
        return (Parameter(name=name, location=location, serialization=sent, **fields),)

    # -- bodies ------------------------------------------------------------------------------------------------------

    def body(self, raw: Json, pointer: str, *, sent_by_service: bool = False) -> Body:
        """Reads a request body: its properties, or one parameter `body` if it is not an object.

        With `sent_by_service`, as for a webhook, it has read-only properties and no write-only ones.
        """
        body, pointer = self._resolver.resolve(raw, pointer) if raw is not None else (None, pointer)
        if body is None:
            return Body()
        content = as_dict(body.get("content"))
        if not content:
            self._problems.report("body-without-content", pointer, "the request body has no media type; left out")
        for name in content:
            if (form := form_type(name)) != name:
                message = f"{name[:60]!r} is not the media type of a form; read as {form}"
                self._problems.report("member-coerced", child(pointer, "content", name), message, f"write {form}")
        all_representations = representations(body, pointer, self._resolver)
        for item in all_representations:
            is_untyped = item.media.keys().isdisjoint(("schema", "itemSchema"))
            if is_untyped and _STRUCTURED.search(" ".join(item.media_types)):
                message = f"the body of type {', '.join(item.media_types)[:80]} has no schema"
                self._problems.report("body-untyped", item.pointer, message)
        inputs = [self._input(body, pointer, item, sent_by_service) for item in all_representations]
        if not inputs:
            return Body()
        recommended = next((index for index, item in enumerate(inputs) if item.parameters), 0)
        return Body(
            parameters=inputs[recommended].parameters,
            media_types=tuple(dict.fromkeys(map(form_type, content))),
            input=replace(inputs[recommended], parameters=()),
            other_inputs=tuple(item for index, item in enumerate(inputs) if index != recommended and item.parameters),
            forms=tuple(zip(inputs, all_representations, strict=True)) if inputs[recommended].parameters else (),
            is_required=body.get("required") is True,
        )

    def _input(
        self, body: dict[str, Json], pointer: str, representation: Representation, sent_by_service: bool
    ) -> Input:
        flat = EMPTY_OBJECT
        if "itemSchema" not in representation.media:
            flat = self._flatten(representation.schema, f"{representation.pointer}/schema", sent_by_service)
        parameters = apply_encoding(flat.parameters, representation, self._resolver, self._schemas)
        if "multipart/form-data" in representation.media_types:
            parameters = tuple(map(_with_file, parameters))
        schema, raw = flat.schema if parameters else None, representation.schema
        is_required = body.get("required") is True
        # An optional body that is an object without properties: there is nothing to send.
        is_empty = isinstance(raw, dict) and raw.get("properties") == {} and not raw.get("additionalProperties")
        if not parameters and (is_required or not is_empty):
            parameters = (self._body_parameter(body, pointer, representation),)
        return Input(
            media_types=representation.media_types,
            required=is_required,
            description=text_of(body, "description"),
            schema=schema,
            parameters=parameters,
            pointer=representation.pointer,
        )

    def _body_parameter(self, body: dict[str, Json], pointer: str, representation: Representation) -> Parameter:
        schema = representation.read(self._schemas) or ANYTHING
        kinds = {*map(media_kind, representation.media_types)}
        if schema == ANYTHING and kinds == {"file"} and all(map(is_concrete, representation.media_types)):
            schema = Schema(types=("string",), format="binary")  # the form of a file in 3.1
        style = LINES if LINES in kinds else RECORDS if RECORDS in kinds else None
        return Parameter(
            name="body",
            location="body",
            required=body.get("required") is True,
            schema=schema,
            description=text_of(body, "description"),
            serialization=Serialization(style=style) if style is not None else None,
            pointer=pointer,
            origins={"name": Origin("defaulted", "a request body has no name")},
        )

    def _flatten(self, schema: Json, pointer: str, sent_by_service: bool) -> FlatObject:
        key = text_of(schema, "$ref") or pointer, sent_by_service
        if key not in self._bodies:
            self._bodies[key] = _relax_required(flatten(self._schemas, schema, pointer, "body"), sent_by_service)
        return self._bodies[key]


_FILE = re.compile(r"(?:(?:the|a|an) )?(?:binary )?file(?: to (?:be )?upload|[.]?\Z)", re.IGNORECASE)
"""The start of the text of a file."""


def _with_file(item: Parameter) -> Parameter:
    """Returns a field of a form; a string called or explained as a file is one, although 3.0 wants a format for it."""
    is_plain = item.schema == Schema(types=("string",), description=item.schema.description, title=item.schema.title)
    if not is_plain or not (item.name.lower() == "file" or _FILE.match(item.description or "")):
        return item
    origins = {**(item.origins or {}), "schema": Origin("inferred", "the name or the text of a field")}
    return replace(item, schema=replace(item.schema, format="binary"), origins=origins)


def _relax_required(flat: FlatObject, sent_by_service: bool) -> FlatObject:
    """Makes properties optional that are sent in the other direction only.

    A required read-only property is required in responses, a write-only one in requests.
    """
    parameters = []
    for item in flat.parameters:
        is_other_direction = item.schema.write_only if sent_by_service else item.schema.read_only
        parameters.append(replace(item, required=False) if item.required and is_other_direction else item)
    return replace(flat, parameters=tuple(parameters))
