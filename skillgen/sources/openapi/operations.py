"""Operations as tools (seed 002, 4.1; OpenAPI 3.2, "Operation Object").

What OpenAPI has no field for is inferred, and its origin recorded: a name, and that a call is long-running.
Deprecation, tags and streams are read here too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from skillgen.errors import ProblemLog
from skillgen.model.auth import Endpoint
from skillgen.model.calls import Completion, Deprecation
from skillgen.model.mcp_fields import SEMANTICS
from skillgen.model.resource import Group
from skillgen.model.serialization import essence_of, media_kind
from skillgen.model.tool import CAUTION, Semantics, Tool
from skillgen.model.values import Json, Origin, child, last_token
from skillgen.sources.json_access import as_dict, as_list, text_of, texts_of
from skillgen.sources.json_schema.loader import SchemaDocument
from skillgen.sources.mcp.fields import FieldReader, FieldResolver, SourcedValue
from skillgen.sources.openapi.checks import check_path, check_texts
from skillgen.sources.openapi.examples import RequestGenerator, login_parameters
from skillgen.sources.openapi.references import Resolver
from skillgen.sources.openapi.requests import Body, PathOperation, RequestReader, with_query_parameters
from skillgen.sources.openapi.responses import ResponseReader, pagination_of
from skillgen.sources.openapi.security import SecurityReader, endpoints_from, scopes_of, url_of
from skillgen.text.summary import join_texts
from skillgen.text.words import FORMAT_IN_PATH


class OperationReader:
    """Reads the operations of one description; shared parts are read once."""

    def __init__(
        self,
        resolver: Resolver,
        schemas: SchemaDocument,
        base_url: str | None,
        tags: TagReader,
        security: SecurityReader,
        *,
        has_internal: bool,
    ) -> None:
        self.resolver = resolver
        self.security = security
        self._problems = resolver.problems
        self._base_url = base_url
        self._tags = tags
        signs_requests = security.signs_requests
        self.requests = RequestReader(resolver, schemas, signs_requests=signs_requests, has_internal=has_internal)
        self._generator = RequestGenerator(resolver, schemas.reader.types, self.requests.examples, security)
        self.responses = ResponseReader(resolver, schemas)
        self._types = schemas.reader.types

    def tools(self) -> tuple[tuple[Tool, PathOperation], ...]:
        """Returns every operation as a tool, with its raw form, in the order of the document."""
        entries = list(self.requests.operations(as_dict(self.resolver.document.get("paths")), "/paths"))
        plain = {(entry.method, entry.path.removesuffix("/")): entry.operation for entry in entries}
        entries = [entry for entry in entries if not self._is_twin(entry, plain)]
        declared = [text_of(entry.operation, "operationId") for entry in entries]
        names = _operation_names(entries, declared)
        self.responses.operations = frozenset(names)
        for entry, name, operation_id in zip(entries, names, declared, strict=True):
            # If the path item is a reference, a link may use the pointer of either.
            for pointer in (entry.pointer, child("/paths", entry.path, entry.method)):
                self.responses.tool_names.setdefault(pointer, name)
            if operation_id is None:
                self._problems.report("operation-id-missing", entry.pointer, f"no operationId; named {name}")
            elif name != operation_id:
                message = f"another operation has the operationId {operation_id!r}; this one is named {name}"
                self._problems.report("operation-id-duplicate", entry.pointer, message)
            check_path(entry.path, entry.items[-1][1], self._problems)
        sent = [(entry.method, entry.path.partition("#")[0]) for entry in entries]
        counts = Counter(sent)  # a fragment is never sent, but it may be all that distinguishes operations
        paths = [entry.path if counts[item] > 1 else item[1] for entry, item in zip(entries, sent, strict=True)]
        drafts = [*map(self._tool, entries, names, paths)]
        text = text_of(self.resolver.document.get("info"), "description")
        self.logins = login_parameters([tool for tool, _ in drafts], text)
        return tuple(
            (replace(tool, examples=self._generator.examples(tool, body, self.logins)), entry)
            for (tool, body), entry in zip(drafts, entries, strict=True)
        )

    def _is_twin(self, entry: PathOperation, others: Mapping[tuple[str, str], dict[str, Json]]) -> bool:
        """True if an operation only adds a suffix with one value to another one: `/orders{format}` to `/orders/`."""
        if not entry.path.endswith("{format}"):
            return False
        twin = others.get((entry.method, entry.path.removesuffix("{format}").removesuffix("/")), {})
        own = {**entry.operation, "operationId": twin.get("operationId")}
        kept = [item for item in as_list(own.get("parameters")) if not _is_only_format(as_dict(item))]
        if {**own, "parameters": kept} != {"operationId": None, "parameters": [], **twin}:
            return False
        self._problems.report("twin-left-out", entry.pointer, f"{entry.path[:100]} only adds a format; left out")
        return True

    def _tool(self, entry: PathOperation, name: str, path: str) -> tuple[Tool, Body]:
        """Returns an operation as a tool without examples, and its body."""
        operation, pointer = entry.operation, entry.pointer
        own = self.security.declared_security(operation, pointer)
        auth = self.security.default if own is None else own
        has_login = bool((auth and self.security.auth) or self.security.assumed)
        sent = self.requests.parameters(entry, has_login=has_login)
        path, sent = with_query_parameters(path, sent, pointer)
        sent = self.requests.with_path_parameters(sent, path, pointer)
        body = self.requests.body(operation.get("requestBody"), f"{pointer}/requestBody")
        responses, responses_pointer = as_dict(operation.get("responses")), f"{pointer}/responses"

        outputs, output_media_types, success = self.responses.outputs(responses, responses_pointer)
        output = outputs[0] if outputs else None
        title, description = _tool_texts(operation)
        tags = tags_of(operation)
        origins = {} if name == operation.get("operationId") else {"name": Origin("inferred", "method and path")}
        texts = _texts(entry, origins)
        headers = as_dict(success.get("headers"))
        pagination, reason = pagination_of(operation, body.parameters + sent, output, headers, self._types)
        if reason is not None:
            origins["pagination"] = Origin("inferred", reason)
        completion = _completion_of(operation, responses, self.resolver)
        if completion is not None and operation.get(_LONG_RUNNING) is not True:
            origins["completion"] = Origin("inferred", "the headers of its 202 response")
        stream = _stream_evidence(output_media_types, success)
        if stream is not None:
            origins["streaming"] = Origin("inferred", stream)
        unread = self._unread(entry) if self.resolver.unread else ()
        tool = Tool(
            name=name,
            title=title,
            summary=texts["summary"],
            description=join_texts(description, texts["description"], "\n\n"),
            group=self._tags.group_of(tags),
            tags=tags,
            parameters=sent + body.parameters,
            is_input_declared=not unread or all(part.startswith("result ") for part in unread),
            unread=unread,
            input=body.input,
            other_inputs=body.other_inputs,
            output=output,
            other_outputs=outputs[1:],
            semantics=_semantics_of(entry, self._problems),
            input_media_types=tuple(filter(None, body.media_types)),
            output_media_types=tuple(filter(None, output_media_types)),
            auth=auth,
            scopes=scopes_of(auth),
            errors=self.responses.errors(responses, responses_pointer),
            method=entry.sent_method,
            path=path,
            endpoints=self._endpoints(entry),
            documentation=url_of(operation.get("externalDocs"), "url", f"{pointer}/externalDocs", self._problems),
            deprecated=operation.get("deprecated") is True,
            deprecation=_deprecation_of(operation, success),
            streaming=True if stream is not None else None,
            pagination=pagination,
            completion=completion,
            pointer=pointer,
            origins=origins or None,
        )
        check_texts(tool, self._problems)
        return tool, body

    def _unread(self, entry: PathOperation) -> tuple[str, ...]:
        """Returns the parts of an operation whose references could not be followed."""
        owners = (*(item for item, _ in entry.items), entry.operation)
        parts = [("parameter", raw) for owner in owners for raw in as_list(owner.get("parameters"))]
        parts.append(("body", entry.operation.get("requestBody")))
        parts += [("result", raw) for status, raw in as_dict(entry.operation.get("responses")).items() if status < "3"]
        named = ((kind, text_of(raw, "$ref")) for kind, raw in parts)
        return tuple({f"{kind} {last_token(name)}": None for kind, name in named if name in self.resolver.unread})

    def _endpoints(self, entry: PathOperation) -> tuple[Endpoint, ...]:
        """Reads the `servers` of an operation or of its path, which replace those of the document if they differ."""
        for owner, pointer in ((entry.operation, entry.pointer), *reversed(entry.items)):
            if "servers" in owner:
                if owner["servers"] == self.resolver.document.get("servers"):
                    return ()
                return endpoints_from(owner["servers"], f"{pointer}/servers", self._base_url, self._problems)
        return ()


def _is_only_format(item: dict[str, Json]) -> bool:
    return item.get("name") == "format" and len(as_list(as_dict(item.get("schema")).get("enum"))) == 1


_TAG_DEPTH_LIMIT = 8
"""Maximum number of tags in a title, from the outermost to the tag itself."""


class TagReader:
    """Reads tags as groups: which of them group tools, and their hierarchy (OpenAPI 3.2, "Tag Object")."""

    def __init__(self, document: dict[str, Json], problems: ProblemLog) -> None:
        self._declared: dict[str, dict[str, Any]] = {}
        for index, tag in enumerate(as_list(document.get("tags"))):
            if (name := text_of(tag, "name")) is not None:
                self._declared.setdefault(name, as_dict(tag))
            elif isinstance(tag, dict):
                problems.report("tag-invalid", f"/tags/{index}", "the tag has no name; it is left out")
        self._tag_groups = {
            tag: name
            for item in as_list(document.get("x-tagGroups"))
            if (name := text_of(item, "name")) is not None
            for tag in texts_of(item, "tags")
        }
        for index, tag in enumerate(as_list(document.get("tags"))):
            pointer, parent = f"/tags/{index}/parent", text_of(tag, "parent")
            if parent is not None and parent not in self._declared:
                problems.report("tag-parent-missing", pointer, f"no tag is named {parent[:100]!r}")
            elif parent is not None and text_of(tag, "name") in self._path(parent):
                problems.report("tag-parent-circular", pointer, "the tag is its own ancestor; the cycle is cut")

    def group_of(self, tags: tuple[str, ...]) -> str | None:
        """Returns the tag that groups an operation: the first that is neither a badge nor an audience (3.2, `kind`)."""
        grouping = (tag for tag in tags if text_of(self._declared.get(tag), "kind") in (None, "nav"))
        return next(grouping, tags[0] if tags else None)

    def introductions(self) -> list[str]:
        """Returns what tags say of the whole API: those that no operation has, by their declaration (Redoc)."""
        traits = (name for name, tag in self._declared.items() if tag.get("x-traitTag") is True)
        texts = ((self._title(name), text_of(self._declared[name], "description")) for name in traits)
        return [f"# {title}\n\n{text}" for title, text in texts if text]

    def groups(self, used: Iterable[str]) -> tuple[Group, ...]:
        """Returns the groups of the tags in use: parents before children, otherwise in the order declared."""
        positions = {name: position for position, name in enumerate(self._declared)}

        def place(name: str) -> list[int]:
            return [positions.get(part, len(positions)) for part in self._path(name)]

        order = sorted(dict.fromkeys(used), key=place)
        titles = Counter(map(self._title, order))
        return tuple(self._group(name, is_alike=titles[self._title(name)] > 1) for name in order)

    def _group(self, name: str, *, is_alike: bool) -> Group:
        tag, path = self._declared.get(name, {}), self._path(name)
        area = [self._tag_groups[name]] if is_alike and len(path) == 1 and name in self._tag_groups else []
        return Group(
            name=name,
            title=" › ".join([*area, *map(self._title, path)]),
            description=text_of(tag, "description"),
            parent=text_of(tag, "parent") or self._tag_groups.get(name),
        )

    def _title(self, name: str) -> str:
        tag = self._declared.get(name, {})
        return text_of(tag, "x-displayName") or text_of(tag, "summary") or name

    def _path(self, name: str) -> list[str]:
        """Returns the tags from the outermost to this one; a cycle is cut."""
        path = [name]
        while (parent := text_of(self._declared.get(path[0]), "parent")) is not None and parent not in path:
            if len(path) >= _TAG_DEPTH_LIMIT:
                break
            path.insert(0, parent)
        return path


def tags_of(operation: dict[str, Json]) -> tuple[str, ...]:
    """Returns the tags of an operation."""
    return tuple(tag for tag in as_list(operation.get("tags")) if isinstance(tag, str) and tag.strip())


def _operation_names(entries: Sequence[PathOperation], declared: Sequence[str | None]) -> tuple[str, ...]:
    """Returns a unique name for each operation; `declared` are their operationIds.

    The first operation with an operationId has it as its name, so that a name on which others rely never changes. An
    operation without one, or with one that is taken, is named after method and path, without an extension that is the
    only one of the description: `/orders.json`.
    """
    extensions = {found[0] for entry in entries if (found := FORMAT_IN_PATH.search(entry.path))}
    extension = extensions.pop() if len(extensions) == 1 else ""
    taken = {*filter(None, declared)}
    used_ids: set[str] = set()
    numbers: Counter[str] = Counter()
    names = []
    for entry, operation_id in zip(entries, declared, strict=True):
        if operation_id and operation_id not in used_ids:
            used_ids.add(operation_id)
            names.append(operation_id)
            continue
        # Such as `get_users_id` for GET /users/{id}.
        words = re.findall(r"[^\W_]+", entry.path.removesuffix(extension)) or ["root"]
        name = base = "_".join([entry.method.lower(), *words])
        while name in taken:
            numbers[base] += 1
            name = f"{base}_{numbers[base] + 1}"
        taken.add(name)
        names.append(name)
    return tuple(names)


def _deprecation_of(operation: Mapping[str, Json], response: Mapping[str, Json]) -> Deprecation | None:
    """Returns the declared deprecation; `response` is that of success (RFC 8594, `Sunset` header).

    OpenAPI itself has only `deprecated`; the rest is in headers, and in extensions of Atlassian, Speakeasy, Zalando,
    GitHub and Microsoft.
    """
    graph, github = operation.get("x-ms-deprecation"), operation.get("x-github")
    message = text_of(operation, "x-deprecatedMessage") or text_of(operation, "x-speakeasy-deprecation-message")
    message = message or text_of(graph, "description")
    date = text_of(operation, "x-sunset") or text_of(github, "removalDate") or text_of(graph, "removalDate")
    replacement = text_of(operation, "x-speakeasy-deprecation-replacement")
    has_header = "sunset" in map(str.lower, as_dict(response.get("headers")))
    if not (message or date or replacement or has_header):
        return None
    return Deprecation(message=message, removal_date=date, replacement=replacement, has_sunset_header=has_header)


_ACCEPTED = "202"
"""Status of a request that is accepted but not completed (RFC 9110, 15.3.3)."""

_LONG_RUNNING = "x-ms-long-running-operation"
_RESULT_URL_HEADERS = ("operation-location", "azure-asyncoperation", "location", "content-location")
"""Headers with the URL of the result, the more specific first."""


def _completion_of(
    operation: Mapping[str, Json], responses: Mapping[str, Json], resolver: Resolver
) -> Completion | None:
    """Returns how to get the result of a long-running operation; `None` for any other.

    Many services answer 202 to all that they did, so that it counts only with a header by which to ask for the result.
    """
    is_accepted, is_declared = _ACCEPTED in responses, operation.get(_LONG_RUNNING) is True
    if not is_accepted and not is_declared:
        return None
    status = _ACCEPTED if is_accepted else min((key for key in responses if key.startswith("2")), default="")
    headers = {name.lower(): name for name in as_dict(resolver.resolve_or_empty(responses.get(status)).get("headers"))}
    completion = Completion(
        status=_ACCEPTED if is_accepted else None,
        url_header=next((headers[name] for name in _RESULT_URL_HEADERS if name in headers), None),
        wait_header=headers.get("retry-after"),
    )
    return completion if is_declared or completion.url_header or completion.wait_header else None


_EVENT_STREAMS = ("text/event-stream", "application/stream+json")


def _stream_evidence(media_types: Iterable[str], response: dict[str, Json]) -> str | None:
    """Returns why a response is a stream: its media type, or a schema of one item; `None` if it is not one.

    See seed 002, 6.4, and OpenAPI 3.2, "Sequential Media Types".
    """
    for name in media_types:
        if media_kind(name) in ("lines", "records") or essence_of(name) in _EVENT_STREAMS:
            return f"the media type {name}"
    if any("itemSchema" in as_dict(media) for media in as_dict(response.get("content")).values()):
        return "the schema of one item"
    return None


def _texts(entry: PathOperation, origins: dict[str, Origin]) -> dict[str, str | None]:
    """Returns the summary and the description of an operation; a description of its path is appended.

    An operation with neither has both from its path (OpenAPI 3.1, "Path Item Object").
    """
    texts = {name: text_of(entry.operation, name) for name in ("summary", "description")}
    is_undescribed = not any(texts.values())
    for item, pointer in entry.items:
        for name in ("summary", "description") if is_undescribed else ("description",):
            if (text := text_of(item, name)) is not None:
                if is_undescribed or texts[name] is None:
                    origins[name] = Origin("declared", child(pointer, name))
                texts[name] = text if is_undescribed else join_texts(texts[name], text, "\n\n")
    return texts


_HINTS = {field.hint: field.name for field in SEMANTICS if field.hint}
_EXTENSIONS = ("x-mcp", "x-speakeasy-mcp")
"""Extensions that describe an operation as a tool."""

_CONSEQUENTIAL = "x-openai-isConsequential"


def _semantics_of(entry: PathOperation, problems: ProblemLog) -> Semantics:
    """Returns the declared semantics of an operation; the most cautious value of each field counts."""
    if entry.operation.keys().isdisjoint((*_EXTENSIONS, _CONSEQUENTIAL)):
        return Semantics()
    found: dict[str, list[SourcedValue | None]] = {field: [] for field in _HINTS.values()}
    operation = FieldReader(entry.operation, entry.pointer, "entry", problems)
    for name in filter(entry.operation.__contains__, _EXTENSIONS):
        extension = FieldReader(as_dict(entry.operation[name]), child(entry.pointer, name), "entry", problems)
        for holder in (extension, extension.object("annotations")):
            for hint, field in _HINTS.items():
                found[field].append(holder.read(hint, "flag", CAUTION[field]))
    asks = operation.read(_CONSEQUENTIAL, "flag", CAUTION["requires_confirmation"])
    found["destructive"].append(asks if asks is not None and asks.value else None)
    resolver = FieldResolver(problems)
    values = {field: resolver.value(field, *read) for field, read in {**found, "requires_confirmation": [asks]}.items()}
    return Semantics(**values, origins=resolver.origins or None)


def _tool_texts(operation: Mapping[str, Json]) -> tuple[str | None, str | None]:
    """Returns the title and the description that extensions declare for the operation as a tool."""
    for name in filter(operation.__contains__, _EXTENSIONS):
        extension = as_dict(operation[name])
        title, description = text_of(extension, "title"), text_of(extension, "description")
        if title or description:
            return title, description
    return None, None
