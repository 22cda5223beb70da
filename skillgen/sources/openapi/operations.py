"""Operation -> Tool; names, deprecation, long-running, streams.

Names for operations: the operationId, or one derived from method and path.

Reads when an operation ends and what takes its place: OpenAPI has `deprecated`, extensions and headers the rest.

Tells that the work of an operation goes on after its answer, and where to ask for the outcome (RFC 9110, 15.3.3).

Tells whether a response comes piece by piece (seed 002, 6.4; OpenAPI 3.2, "Sequential Media Types").

Reads tags as groups: which of them sort tools, and which is part of which (OpenAPI 3.2, "Tag Object").

What an operation does to the world: what HTTP says of its method, and what extensions declare over that.

Reads operations as tools (seed 002, 4.1; OpenAPI 3.2, "Operation Object").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from skillgen.errors import ProblemLog
from skillgen.model.auth import Endpoint
from skillgen.model.calls import ErrorCase
from skillgen.model.resource import Group
from skillgen.model.tool import CAUTION, Semantics, Tool
from skillgen.model.values import Json, Origin, child
from skillgen.sources.json_access import as_dict, as_list, text_of, texts_of
from skillgen.sources.json_schema.loader import SchemaDocument
from skillgen.sources.openapi.bodies import BodyReader
from skillgen.sources.openapi.checks import check_audience, check_path, check_texts
from skillgen.sources.openapi.examples import RequestGenerator
from skillgen.sources.openapi.parameters import ParameterReader
from skillgen.sources.openapi.paths import PathOperation, PathReader
from skillgen.sources.openapi.references import Resolver
from skillgen.sources.openapi.responses import PaginationReader, ResponseReader
from skillgen.sources.openapi.security import SecurityReader, endpoints_from, scopes_of
from skillgen.sources.safety import flag_from, reconcile_safety
from skillgen.text.summary import join_texts
from skillgen.text.words import verb_of, words_of


def operation_names(operations: Iterable[tuple[str, str, str | None]]) -> tuple[str, ...]:
    """Gives each operation (method, path, operationId) a name that is unique among all.

    The first operation with an operationId keeps it, so a name that others rely on never moves; an operation without
    one, or with one that is taken, is named after method and path.
    """
    operations = tuple(operations)
    taken = {operation_id for _, _, operation_id in operations if operation_id}
    kept: set[str] = set()
    names = []
    for method, path, operation_id in operations:
        if operation_id and operation_id not in kept:
            kept.add(operation_id)
            names.append(operation_id)
            continue
        name = base = derived_name(method, path)
        number = 2
        while name in taken:
            name, number = f"{base}_{number}", number + 1
        taken.add(name)
        names.append(name)
    return tuple(names)


def derived_name(method: str, path: str) -> str:
    """Gives `get_users_id` for GET /users/{id}."""
    words = re.findall(r"[A-Za-z0-9]+", path)
    return "_".join([method.lower(), *(words or ["root"])])


_WORDS = (
    "x-deprecated-description",
    "x-deprecation-message",
    "x-speakeasy-deprecation-message",
    "x-deprecated-message",
    "x-deprecatedMessage",
)
_ENDS = ("x-sunset", "x-sunset-date", "x-removal-date", "x-removalDate")
_REPLACEMENTS = ("x-replaced-by", "x-replacement", "x-speakeasy-deprecation-replacement", "x-deprecated-replacement")


def deprecation_note(operation: Mapping[str, Json], response: Mapping[str, Json]) -> str | None:
    """Says what is declared of an operation's end; takes also its response of success (RFC 8594, `Sunset`)."""
    return " ".join(_sentences(operation, response)) or None


def _sentences(operation: Mapping[str, Json], response: Mapping[str, Json]) -> Iterator[str]:
    if not any(key.startswith("x-") or key == "deprecated" for key in operation) and "headers" not in response:
        return
    graph = as_dict(operation.get("x-ms-deprecation"))
    if words := _first(operation, _WORDS) or text_of(graph, "description"):
        yield words if words.rstrip()[-1:] in ".!?" else f"{words.rstrip()}."
    github = as_dict(operation.get("x-github"))
    if ends := _first(operation, _ENDS) or text_of(github, "removalDate") or text_of(graph, "removalDate"):
        yield f"It ends on {ends.strip()}."
    if instead := _first(operation, _REPLACEMENTS):
        yield f"Use {instead.strip()} instead."
    if any(name.lower() == "sunset" for name in as_dict(response.get("headers"))):
        yield "The `Sunset` header of its responses says when it ends."


def _first(holder: Mapping[str, Json], keys: tuple[str, ...]) -> str | None:
    return next((found for key in keys if (found := text_of(holder, key)) is not None), None)


ACCEPTED = "202"
"""The status of what is accepted, and not done yet."""

_DECLARED = "x-ms-long-running-operation"
_ADDRESSES = ("operation-location", "azure-asyncoperation", "location", "content-location")
"""Headers that lead to the outcome, the more telling first."""


def is_declared_long_running(operation: Mapping[str, Json]) -> bool:
    """Tells whether an operation says itself that its work goes on."""
    return operation.get(_DECLARED) is True


def long_running_note(operation: Mapping[str, Json], responses: Mapping[str, Json], resolver: Resolver) -> str | None:
    """Says when the work goes on after the answer, and how its outcome is learned; `None` where nothing says so."""
    if ACCEPTED not in responses and not is_declared_long_running(operation):
        return None
    status = ACCEPTED if ACCEPTED in responses else min((key for key in responses if key.startswith("2")), default="")
    headers = {name.lower(): name for name in as_dict(resolver.resolve_or_empty(responses.get(status)).get("headers"))}
    found = f"after a {ACCEPTED} the work goes on" if status == ACCEPTED else "the work goes on after the answer"
    address = next((headers[name] for name in _ADDRESSES if name in headers), None)
    if address is not None:
        found += f"; ask at the address in its `{address}` header for the outcome"
    if "retry-after" in headers:
        found += f"; wait as long as its `{headers['retry-after']}` header says before each time"
    return found


SEQUENTIAL = frozenset(
    {
        "text/event-stream",
        "application/jsonl",
        "application/json-lines",
        "application/x-jsonlines",
        "application/ndjson",
        "application/x-ndjson",
        "application/json-seq",
        "application/geo+json-seq",
        "application/stream+json",
    }
)


def stream_evidence(media_types: Iterable[str], response: dict[str, Json]) -> str | None:
    """Says from what it follows that a response is a stream: a media type, or a declaration of one item of it."""
    for name in media_types:
        if name.partition(";")[0].strip().lower() in SEQUENTIAL:
            return f"the media type {name}"
    if any("itemSchema" in as_dict(media) for media in as_dict(response.get("content")).values()):
        return "the schema of one item"
    return None


DEPTH_LIMIT = 8
"""Parents of a tag, one above the other, that are told."""


class TagReader:
    """The tags of one description."""

    def __init__(self, document: dict[str, Json], problems: ProblemLog) -> None:
        self._declared: dict[str, dict[str, Any]] = {}
        for index, tag in enumerate(as_list(document.get("tags"))):
            if (name := text_of(tag, "name")) is not None:
                self._declared.setdefault(name, as_dict(tag))
            elif isinstance(tag, dict):
                problems.warning("tag-invalid", child("/tags", index), "the tag has no name; it is left out", "add one")
        self._of_group = {
            tag: name
            for item in as_list(document.get("x-tagGroups"))
            if (name := text_of(item, "name")) is not None
            for tag in texts_of(item, "tags")
        }
        self._report_parents(document, problems)

    def group_of(self, operation: dict[str, Json]) -> str | None:
        """Gives the tag that sorts an operation: the first that is neither a badge nor an audience (3.2, `kind`)."""
        tags = tags_of(operation)
        sorting = (tag for tag in tags if text_of(self._declared.get(tag), "kind") in (None, "nav"))
        return next(sorting, tags[0] if tags else None)

    def groups(self, used: Iterable[str]) -> tuple[Group, ...]:
        """Gives a group for each tag that sorts tools, each after what it is a part of, else as declared."""
        names = dict.fromkeys(used)
        order = [name for name in self._declared if name in names]
        order += [name for name in names if name not in self._declared]
        roots = {name: place for place, name in enumerate(self._declared)}
        order.sort(key=lambda name: [roots.get(part, len(roots)) for part in self._path(name)])
        return tuple(self._group(name) for name in order)

    def _group(self, name: str) -> Group:
        tag = self._declared.get(name, {})
        parents = [self._title(part) for part in self._path(name)[:-1]]
        if not parents and name in self._of_group:
            parents = [self._of_group[name]]
        return Group(
            name=name,
            title=" › ".join([*parents, self._title(name)]),
            description=text_of(tag, "description"),
            parent=text_of(tag, "parent") or self._of_group.get(name),
        )

    def _title(self, name: str) -> str:
        tag = self._declared.get(name, {})
        return text_of(tag, "x-displayName") or text_of(tag, "summary") or name

    def _path(self, name: str) -> list[str]:
        """Gives the tags from the outermost to this one; a circle ends where it closes."""
        path = [name]
        for parent in self._parents(name):
            if parent in path or len(path) >= DEPTH_LIMIT:
                break
            path.insert(0, parent)
        return path

    def _parents(self, name: str) -> Iterator[str]:
        while (parent := text_of(self._declared.get(name), "parent")) is not None:
            yield parent
            name = parent

    def _report_parents(self, document: dict[str, Json], problems: ProblemLog) -> None:
        for index, tag in enumerate(as_list(document.get("tags"))):
            pointer = child("/tags", index, "parent")
            parent = text_of(tag, "parent")
            if parent is not None and parent not in self._declared:
                problems.warning("tag-parent-missing", pointer, f"no tag is named {parent[:100]!r}", "declare it")
            elif parent is not None and text_of(tag, "name") in self._path(parent):
                problems.warning("tag-parent-circular", pointer, "the tag is a part of itself; taken as it stands")


def tags_of(operation: dict[str, Json]) -> tuple[str, ...]:
    """Gives the tags of an operation."""
    return tuple(tag for tag in as_list(operation.get("tags")) if isinstance(tag, str) and tag.strip())


_SAFE_METHODS = frozenset({"get", "head", "options", "trace", "query", "propfind", "report", "search"})
_HINTS = {
    "readOnlyHint": ("read_only", False),
    "destructiveHint": ("destructive", True),
    "idempotentHint": ("idempotent", False),
    "openWorldHint": ("open_world", True),
}
"""Each hint with its field and its cautious value."""

_EXTENSIONS = ("x-mcp", "x-speakeasy-mcp")
"""What says of an operation how it is as a tool."""

_CONSEQUENTIAL = "x-openai-isConsequential"

_REMOVING = frozenset({"delete", "destroy", "erase", "purge", "remove", "terminate", "wipe"})

NAME = "its name"
Claim = tuple[bool | str, Origin]


def _method_facts(method: str) -> dict[str, bool | str]:
    """Gives what HTTP says of a method (RFC 9110, 9.2), and of QUERY and WebDAV's reading ones; nothing of others."""
    method = method.lower()
    if method in _SAFE_METHODS:
        return {"operation": "read", "read_only": True, "idempotent": True}
    if method == "delete":
        return {"operation": "delete", "read_only": False, "destructive": True, "idempotent": True}
    if method == "put":
        return {"operation": "write", "read_only": False, "idempotent": True}
    if method in ("post", "patch"):
        return {"operation": "write", "read_only": False}
    return {}


def semantics_from_method(method: str, is_removing: bool = False) -> Semantics:
    """Returns what HTTP says of a method, as inferred facts; where POST stands for all, the name says what removes."""
    claims = _inferred(method, is_removing)
    return Semantics(
        **{field: value for field, (value, _) in claims.items()},  # type: ignore[arg-type]
        origins={field: origin for field, (_, origin) in claims.items()} or None,
    )


def is_removing(method: str, name: str | None) -> bool:
    """True if an operation is named after a removal, whatever its method."""
    if name is None or method.lower() == "delete":
        return False
    return not _REMOVING.isdisjoint(words_of(name)[:1]) or (method.lower() == "post" and verb_of(name) in _REMOVING)


def semantics_from_operation(
    method: str, operation: Mapping[str, Json], pointer: str, problems: ProblemLog, *, removes: bool
) -> Semantics | None:
    """Returns the semantics of an operation that declares some; `None` where it declares none."""
    declared: dict[str, list[Claim]] = {}
    for field, claim in _declared(operation, pointer, problems):
        declared.setdefault(field, []).append(claim)
    if not declared:
        return None
    inferred = _inferred(method, removes)
    if method.lower() == "post" and not removes and any(value is True for value, _ in declared.get("read_only", ())):
        # POST may do anything (RFC 9110, 9.3.3), so that it contradicts nothing.
        inferred = {}
    found: dict[str, Claim] = dict(inferred)
    for field, claims in declared.items():
        made = [*claims, *([inferred[field]] if field in inferred and field in CAUTION else [])]
        if field in CAUTION:
            made.sort(key=lambda claim: -CAUTION[field].index(claim[0]))
        found[field] = made[0]
        for value, origin in made[1:]:
            if value != made[0][0]:
                problems.warning(
                    "facts-disagree",
                    pointer,
                    f"{field} is {str(value).lower()} by {origin.source}, but {str(made[0][0]).lower()} by "
                    f"{made[0][1].source}; the more cautious one is used",
                    "correct the one that is wrong",
                )
    return Semantics(
        **{field: value for field, (value, _) in found.items()},  # type: ignore[arg-type]
        origins={field: origin for field, (_, origin) in found.items()},
    )


def _inferred(method: str, removes: bool) -> dict[str, Claim]:
    origin = Origin("inferred", f"HTTP {method.upper()}")
    found: dict[str, Claim] = {field: (value, origin) for field, value in _method_facts(method).items()}
    return {**found, "destructive": (True, Origin("inferred", NAME))} if removes else found


def _declared(operation: Mapping[str, Json], pointer: str, problems: ProblemLog) -> Iterator[tuple[str, Claim]]:
    for name in _EXTENSIONS:
        extension, place = operation.get(name), child(pointer, name)
        annotations = as_dict(extension).get("annotations")
        if annotations is not None and not isinstance(annotations, dict):
            problems.warning("member-invalid", child(place, "annotations"), "expected an object; left out")
        for holder_place, holder in ((place, extension), (child(place, "annotations"), annotations)):
            for hint, (field, cautious) in _HINTS.items():
                yield from _flag(as_dict(holder), hint, holder_place, field, cautious, problems)
    yield from _flag(operation, _CONSEQUENTIAL, pointer, "requires_confirmation", True, problems)


def _flag(
    holder: Mapping[str, Json], key: str, pointer: str, field: str, cautious: bool, problems: ProblemLog
) -> Iterator[tuple[str, Claim]]:
    value, place = holder.get(key), child(pointer, key)
    if isinstance(value, bool):
        yield field, (value, Origin("declared", place))
    elif value is not None:
        read = flag_from(value, cautious)
        end = "left out" if read is None else f"read as {str(read).lower()}, to be careful"
        problems.warning("member-invalid", place, f"expected true or false, found {str(value)[:60]!r}; {end}")
        if read is not None:
            yield field, (read, Origin("inferred", key))


def tool_texts(operation: Mapping[str, Json]) -> tuple[str | None, str | None]:
    """Gives the title and the description that an operation has for its use as a tool, where it has them."""
    for name in _EXTENSIONS:
        extension = as_dict(operation.get(name))
        title, description = text_of(extension, "title"), text_of(extension, "description")
        if title or description:
            return title, description
    return None, None


_WAIT_STATUSES = ("429", "503")


class OperationReader:
    """Reads the operations of one description; what is shared between them is read once."""

    def __init__(
        self,
        document: dict[str, Json],
        schemas: SchemaDocument,
        problems: ProblemLog,
        base_url: str | None,
        tags: TagReader,
        security: SecurityReader,
    ) -> None:
        self._document = document
        self._base_url = base_url
        self._problems = problems
        self._tags = tags
        self._security = security
        self._resolver = Resolver(document, problems)
        self.paths = PathReader(self._resolver, problems)
        self.parameters = ParameterReader(self._resolver, schemas, problems)
        self.bodies = BodyReader(self._resolver, schemas, problems)
        self._requests = RequestGenerator(document, self._resolver, problems)
        self._responses = ResponseReader(self._resolver, schemas, problems)
        self._pagination = PaginationReader(self._resolver)
        self._semantics: dict[tuple[str, bool], Semantics] = {}

    def tools(self) -> tuple[tuple[Tool, PathOperation], ...]:
        """Gives every operation as a tool, with where it was read, in the order of the document."""
        entries = list(self.paths.operations(as_dict(self._document.get("paths")), "/paths"))
        names = operation_names((entry.method, entry.path, entry.operation_id) for entry in entries)
        for entry, name in zip(entries, names, strict=True):
            # A path item may stand elsewhere; a link names either place.
            for place in (entry.pointer, child("/paths", entry.path, entry.method)):
                self._responses.tool_names.setdefault(place, name)
        for entry, name in zip(entries, names, strict=True):
            self._report_name(entry, name)
            check_path(entry.path, entry.items[-1][1], self._problems)
        return tuple((self._tool(entry, name), entry) for entry, name in zip(entries, names, strict=True))

    def _report_name(self, entry: PathOperation, name: str) -> None:
        if entry.operation_id is None:
            self._problems.warning(
                "operation-id-missing", entry.pointer, f"no operationId; named {name}", "give it an operationId"
            )
        elif name != entry.operation_id:
            self._problems.warning(
                "operation-id-duplicate",
                entry.pointer,
                f"another operation has the operationId {entry.operation_id!r}; this one is named {name}",
                "make it unique",
            )

    def _tool(self, entry: PathOperation, name: str) -> Tool:
        operation, pointer = entry.operation, entry.pointer
        sent = self.parameters.parameters((*entry.items, (operation, pointer)))
        sent = self.parameters.with_path_parameters(sent, entry.path, pointer)
        body = self.bodies.body(operation.get("requestBody"), child(pointer, "requestBody"))
        responses, responses_pointer = as_dict(operation.get("responses")), child(pointer, "responses")
        check_audience(operation, pointer, self._problems)
        outputs, output_media_types = self._responses.outputs(responses, responses_pointer)
        output = outputs[0] if outputs else None
        success = self._success(responses)
        auth = self._security.effective_security(operation, pointer)
        title, description = tool_texts(operation)
        origins = {} if name == entry.operation_id else {"name": Origin("inferred", "method and path")}
        words = _words(entry, origins)
        pagination = self._pagination.declared(operation)
        if pagination is None:
            raw = output.raw if output is not None else None
            pagination = self._pagination.inferred(body.parameters + sent, raw, as_dict(success.get("headers")))
            if pagination is not None:
                origins["pagination"] = Origin("inferred", "names of parameters and of what is returned")
        completion = long_running_note(operation, responses, self._resolver)
        if completion is not None and not is_declared_long_running(operation):
            origins["completion"] = Origin("inferred", "the statuses of its answers")
        stream = stream_evidence(output_media_types, success)
        if stream is not None:
            origins["streaming"] = Origin("inferred", stream)
        tool = Tool(
            name=name,
            title=title,
            summary=words["summary"],
            description=join_texts(description, words["description"], "\n\n"),
            group=self._tags.group_of(operation),
            tags=tags_of(operation),
            parameters=sent + body.parameters,
            input_schema=self.parameters.input_schema(sent, body),
            input=body.input,
            other_inputs=body.other_inputs,
            output=output,
            other_outputs=outputs[1:],
            semantics=self._semantics_of(entry),
            input_media_types=tuple(filter(None, body.media_types)),
            output_media_types=tuple(filter(None, output_media_types)),
            auth=auth,
            scopes=scopes_of(auth),
            examples=self._requests.examples(
                method=entry.method,
                path=entry.path,
                parameters=sent,
                declared=self.parameters.declared,
                body=body,
                alternatives=auth,
                pointer=pointer,
            ),
            errors=self._errors(responses, responses_pointer),
            method=entry.sent_method,
            path=entry.path,
            endpoints=self._endpoints(entry),
            deprecated=operation.get("deprecated") is True,
            deprecation=deprecation_note(operation, success),
            streaming=True if stream is not None else None,
            pagination=pagination,
            completion=completion,
            pointer=pointer,
            origins=origins or None,
        )
        check_texts(tool, self._problems)
        return reconcile_safety(tool, self._problems)

    def _semantics_of(self, entry: PathOperation) -> Semantics:
        method, removes = entry.method, is_removing(entry.method, text_of(entry.operation, "operationId"))
        found = semantics_from_operation(method, entry.operation, entry.pointer, self._problems, removes=removes)
        if found is not None:
            return found
        key = method, removes
        if key not in self._semantics:
            self._semantics[key] = semantics_from_method(*key)
        return self._semantics[key]

    def _success(self, responses: dict[str, Json]) -> dict[str, Json]:
        """Gives the response of the first status of success."""
        status = min((key for key in responses if key.startswith("2")), default="default")
        return self._resolver.resolve_or_empty(responses.get(status))

    def _errors(self, responses: dict[str, Json], pointer: str) -> tuple[ErrorCase, ...]:
        """Reads the errors; where a response has `Retry-After`, says what it is for (RFC 9110, 10.2.3)."""
        cases = self._responses.errors(responses, pointer)
        if not any(status in responses for status in _WAIT_STATUSES):
            return cases
        return tuple(replace(case, resolution=self._wait(case, responses)) for case in cases)

    def _wait(self, case: ErrorCase, responses: dict[str, Json]) -> str | None:
        if case.code not in _WAIT_STATUSES or case.resolution is not None:
            return case.resolution
        headers = as_dict(self._resolver.resolve_or_empty(responses.get(case.code)).get("headers"))
        if any(name.lower() == "retry-after" for name in headers):
            return "Wait as long as its `Retry-After` header says before the next call."
        return None

    def _endpoints(self, entry: PathOperation) -> tuple[Endpoint, ...]:
        """Reads the `servers` of an operation or of its path, which replace those of the document."""
        for owner, pointer in ((entry.operation, entry.pointer), *reversed(entry.items)):
            if "servers" in owner:
                return endpoints_from(owner["servers"], child(pointer, "servers"), self._base_url, self._problems)
        return ()


def _words(entry: PathOperation, origins: dict[str, Origin]) -> dict[str, str | None]:
    """Gives the summary and the description of an operation, with those of its path, which concern it too.

    A summary of the path stands for one of an operation that says nothing of itself (OpenAPI 3.1, "Path Item Object").
    """
    found = {name: text_of(entry.operation, name) for name in ("summary", "description")}
    says_nothing = not any(found.values())
    for item, pointer in entry.items:
        for name in ("summary", "description") if says_nothing else ("description",):
            if (text := text_of(item, name)) is not None:
                if says_nothing or found[name] is None:
                    origins[name] = Origin("declared", child(pointer, name))
                found[name] = text if says_nothing else join_texts(found[name], text, "\n\n")
    return found
