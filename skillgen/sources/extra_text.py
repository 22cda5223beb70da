"""Adds a captured `--ai-help` text, an llms.txt or an Arazzo file to a service: `--extra` (seed 000; S0-20).

The text fills gaps; it changes nothing that the source declares.
"""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

from skillgen.errors import ProblemLog, SourceError, time_limit
from skillgen.model.auth import Endpoint
from skillgen.model.mcp_fields import IDENTITY
from skillgen.model.resource import Section
from skillgen.model.service import Service
from skillgen.model.tool import CAUTION
from skillgen.model.values import Json, Node, Origin, child
from skillgen.security.secrets import report_echoed_secrets, secrets_from_url
from skillgen.sources.arazzo import apply_arazzo, is_arazzo
from skillgen.sources.documents import Document, is_url, load_document, load_text
from skillgen.sources.http import FetchOptions
from skillgen.sources.json_access import as_dict, as_list, text_of
from skillgen.sources.mcp.ai_help import AiHelp, ai_help_from_result, with_help
from skillgen.sources.mcp.fields import FieldResolver
from skillgen.sources.mcp.metadata import access_from, access_level_from, metadata_fields, sources_from_results
from skillgen.text import lazy_re as re

N = TypeVar("N", bound=Node)

_LLMS_TXT_PATHS = ("llms.txt", ".well-known/llms.txt")
"""Paths of an llms.txt, below the URL of a site."""

_SITE = re.compile(r"https?://[^/?#]+(?:/(?:[^?#]*/)?[^/?#.]*)?")
"""A URL whose last segment has no suffix."""

_LINK_ITEM = re.compile(r"\[((?:\\.|[^\]\\])+)\]\([^)]*\)(?::.*)?", re.DOTALL)
_NOT_FOR = re.compile(r"not for:\s*", re.IGNORECASE)


class ExtraText(Struct, frozen=True, kw_only=True):
    """A text and its location."""

    name: str
    """The file or URL, for messages."""

    text: str
    """Markdown, untrusted."""

    echoed_from: tuple[str, ...] = ()
    """The origins of the user's secrets that were redacted in the text."""


def load_extra(source: str, *, timeout_s: float) -> ExtraText:
    """Loads a text from a file, a URL or standard input; for the URL of a site, its llms.txt.

    Raises:
        SourceError: no text can be read.
    """
    access = FetchOptions(timeout_s=timeout_s, secrets=secrets_from_url(source))
    sites = [f"{source.rstrip('/')}/{path}" for path in _LLMS_TXT_PATHS] if _SITE.fullmatch(source) else []
    failures: list[SourceError] = []
    for candidate in (*sites, source):
        try:
            name, text, echoed_from = load_text(candidate, access)
            return ExtraText(name=name, text=text, echoed_from=echoed_from)
        except SourceError as error:
            failures.append(error)
    with access.secrets.redact_errors():
        raise failures[0]


def apply_extras(service: Service, extras: Sequence[ExtraText]) -> Service:
    """Returns the service with the additions of texts, and with the workflows of Arazzo files.

    Where both have a value, the service's value is used.

    Raises:
        SourceError: an Arazzo file is neither JSON nor YAML.
    """
    problems = ProblemLog()
    for extra in extras:
        report_echoed_secrets(problems, extra.echoed_from)
    files = {extra.name: extra.text for extra in extras if is_arazzo(extra.text)}
    for extra in (extra for extra in extras if extra.name not in files):
        text = ai_help_from_result({"content": extra.text, "contentType": "text/markdown"}, problems, extra.name)
        if text.metadata.raw or text.sections or text.when_to_use or text.when_not_to_use or text.quote:
            service = with_text(service, text, extra.name)
        else:
            what = "the text has neither front matter nor sections; nothing is added"
            problems.report("extra-empty", extra.name, what)
    service = apply_arazzo(service, files, problems)
    return replace(service, problems=(*service.problems, *problems))


def with_text(service: Service, text: AiHelp, where: str) -> Service:
    """Returns the service with the additions of a text; where both have a value, the service's value is used.

    Of a text that skillgen wrote, disagreements are not reported: it may be older than what the service declares now.
    """
    is_served = where.startswith("/")
    problems = ProblemLog()
    problems.add(*service.problems)
    disagreements = problems if text.edited is None else ProblemLog()
    if text.edited:
        message = "the text was written by skillgen and edited since; an edit of what skillgen derived is not read"
        problems.report("generated-text-edited", where, message)
    addition, text_origin = _service_from_text(text, problems), Origin("declared", where if is_served else "--extra")

    def filled(owner: N, added: N, names: Iterable[str], prefix: str = "") -> N:
        """Returns a node with the values of another where it declares none of its own; reports those that differ."""
        changes, origins = {}, dict(getattr(owner, "origins", None) or {})
        for name in names:
            own, value = getattr(owner, name), getattr(added, name)
            if value in (None, (), ""):
                continue
            if own in (None, ()) or name in weak or (name in origins and origins[name].kind == "inferred"):
                changes[name], origins[name] = value, text_origin
            elif own != value:
                disagree(prefix + name)
        return replace(owner, **changes, **({"origins": origins or None} if hasattr(owner, "origins") else {}))

    def disagree(field: str) -> None:
        disagreements.report("facts-disagree", where, f"{field}: the text disagrees with the source, which is used")

    weak = _names(service)
    for manager, package in (addition.install or {}).items():
        if (service.install or {}).get(manager, package) != package:
            disagree(f"install.{manager}")
    requirements = filled(service.requirements, addition.requirements, ("env", "scopes", "bins", "os"), "requirements.")
    access = filled(service.access, addition.access, ("cli", "api", "web", "mcp", "api_endpoint"), "access.")
    result = filled(service, addition, _FIELDS if text.edited is None else (*_FIELDS, *weak, "instructions"))
    changes, origins = dict[str, Any](), dict(result.origins or {})
    if "access_level" in (addition.origins or {}):
        level, order = addition.access_level, CAUTION["access_level"]
        if "access_level" in origins and level != service.access_level:
            message = f"access_level is {level} in the text but {service.access_level} in the source"
            problems.report("safety-facts-disagree", where, f"{message}; the more cautious one is used")
        if "access_level" not in origins or order.index(level) > order.index(service.access_level):
            changes["access_level"], origins["access_level"] = level, text_origin
    url = addition.access.api_endpoint
    needs_host = service.kind == "openapi" and not any("://" in endpoint.url for endpoint in service.endpoints)
    help_text = text.of_tools({tool.name for tool in service.tools}, problems, is_own=False)
    problems.add(*text.metadata.problems)  # of its fields, which are read only here
    return replace(
        result,
        **changes,
        access=access,
        endpoints=(Endpoint(url=url),) if url is not None and needs_host else service.endpoints,
        install={**(addition.install or {}), **(service.install or {})} or None,
        requirements=replace(requirements, auth=requirements.auth or addition.requirements.auth),
        tools=tuple(with_help(tool, help_text, text_origin) for tool in service.tools),
        sections=_merge_sections(service.sections, help_text.sections, is_repeated=text.edited is not None),
        extras={**(service.extras or {}), **({"extra": addition.extras} if addition.extras else {})} or None,
        origins=origins or None,
        problems=tuple(problems),
    )


def _names(service: Service) -> tuple[str, ...]:
    """Returns the names that a text by skillgen has from the author of a server and that `serverInfo` does not beat."""
    origins = service.origins or {}
    is_weak = {key: key not in origins or origins[key].source.endswith(f"erverInfo/{key}") for key in ("name", "title")}
    return tuple(key for key, weak in is_weak.items() if weak and service.kind == "mcp")


_FIELDS = (
    "summary", "description", "emoji", "homepage", "repository", "status_page", "content_version", "last_updated",
    "when_to_use", "when_not_to_use", "invocation", "rate_limit", "categories",
)  # fmt: skip


def _service_from_text(text: AiHelp, problems: ProblemLog) -> Service:
    """Returns the facts of a text as a service without any other source."""
    sources = replace(sources_from_results({}, problems), ai_help=text)
    resolver = FieldResolver(problems)
    uses = list(map(_label_of, text.when_to_use))
    unwanted = [*map(_label_of, text.when_not_to_use), *filter(_NOT_FOR.match, uses)]
    summary = resolver.value("summary", *sources.all(IDENTITY[1]))
    return Service(
        kind="mcp",
        name=resolver.value("name", *sources.all(IDENTITY[0])) or "",
        title=text.title,
        summary=text.quote if text.edited is not None else summary or text.quote,
        description=text.introduction,
        instructions=text.instructions,
        when_to_use=tuple(use for use in uses if not _NOT_FOR.match(use)),
        when_not_to_use=tuple(_NOT_FOR.sub("", use, count=1) for use in unwanted),
        access_level=access_level_from(sources, resolver, "read", levels=CAUTION["access_level"]),
        access=access_from(sources, FieldResolver(ProblemLog()), {}),
        **metadata_fields(sources, resolver),
        extras=text.metadata.unread() or None,
        origins=resolver.origins or None,
    )


def _merge_sections(
    declared: tuple[Section, ...], added: tuple[Section, ...], *, is_repeated: bool
) -> tuple[Section, ...]:
    """Returns all sections; an added body is appended to the declared section of the same title.

    With `is_repeated`, the text has the declared sections too, as skillgen wrote them.
    """
    sections = {section.kind or section.title.strip().lower(): section for section in declared}
    for section in added:
        key = section.kind or section.title.strip().lower()
        first = sections.setdefault(key, section)
        if section.body not in first.body and not is_repeated:
            sections[key] = replace(first, body=f"{first.body}\n\n{section.body}")
    return tuple(sections.values())


def _label_of(item: str) -> str:
    """Returns a use; in an llms.txt each is a link, and its label counts."""
    link = _LINK_ITEM.fullmatch(item.strip())
    return re.sub(r"\\(.)", r"\1", link[1]) if link is not None else item


_PATH_TIME_LIMIT_S, _TIME_LIMIT_S = 10.0, 30.0
"""CPU seconds of one path, and of all: their regular expressions run over strings of the description."""

_PATH_LENGTH_LIMIT = 1_000
_SEGMENTS_LIMIT = 100
"""Segments of a path. Each is a generator within the one before, and thousands of them overflow the stack of C."""

_MATCHES_LIMIT = 100_000
"""Nodes that a path, or a query within its filters, may select."""

_ADDED_LIMIT = 16 * 1024 * 1024
"""Characters of JSON that an overlay may add. An action that copies a value into itself doubles it."""

_Parts = Sequence["str | int"]
"""Keys and indexes from the root to a node."""


def apply_overlays(document: Document, overlays: Iterable[str], problems: ProblemLog, access: FetchOptions) -> Document:
    """Returns a description with overlays applied in order; reports each action that cannot be applied.

    Raises:
        SourceError: an overlay cannot be read, or is not an OpenAPI Overlay.
    """
    data = json.loads(json.dumps(document.data))  # five times as fast as copy.deepcopy
    for source in overlays:
        overlay = load_document(source, problems, access.without_headers() if is_url(source) else access)
        data = _Overlay(overlay, problems).apply(data)
    return replace(document, data=data, refers_outward=True)


class _InvalidAction(Exception):
    """An action that cannot be applied, at all or to one node."""

    def __init__(self, message: str, pointer: str = "", code: str = "overlay-action-invalid") -> None:
        """Takes what is wrong, the pointer of its place below the action, and the code of the problem."""
        super().__init__(message)
        self.pointer, self.code = pointer, code


class _PathLimit(Exception):
    """A path exceeds a limit; the message says which."""


@lru_cache(1)
def _path_environment() -> Any:
    """Returns the JSONPath environment, in which every query, also one within a filter, is bounded."""
    import jsonpath  # only here: few runs have an overlay
    from jsonpath.parse import Parser

    class Node(jsonpath.JSONPathMatch):
        __slots__ = ()

        def add_child(self, *children: jsonpath.JSONPathMatch) -> None:
            """Keeps nothing: the library would hold every node that it visits."""

    class Query(jsonpath.JSONPath):
        __slots__ = ()

        def finditer(
            self, data: Any, *, filter_context: Mapping[str, Any] | None = None
        ) -> Iterator[jsonpath.JSONPathMatch]:
            context, root = filter_context or {}, self.env.root_token
            nodes: Any = [Node(filter_context=context, obj=data, parent=None, path=root, parts=(), root=data)]
            for segment in self.segments:
                nodes = segment.resolve(nodes)
            nodes = iter(nodes)
            yield from islice(nodes, _MATCHES_LIMIT)
            if next(nodes, None) is not None:
                raise _PathLimit(f"selects more than {_MATCHES_LIMIT:,} nodes")

    class QueryParser(Parser):
        def parse_query(self, stream: Any, **options: Any) -> Any:
            for number, segment in enumerate(super().parse_query(stream, **options), 1):
                if number > _SEGMENTS_LIMIT:
                    raise _PathLimit(f"has more than {_SEGMENTS_LIMIT} segments")
                yield segment

        def parse_absolute_query(self, stream: Any) -> Any:
            return bounded(super().parse_absolute_query(stream))

        def parse_relative_query(self, stream: Any) -> Any:
            return bounded(super().parse_relative_query(stream))

    def bounded(query: Any) -> Any:
        query.path = Query(env=environment, segments=query.path.segments)
        return query

    class Environment(jsonpath.JSONPathEnvironment):
        parser_class = QueryParser

        def compile(self, path: str) -> Any:
            return Query(env=self, segments=cast(jsonpath.JSONPath, super().compile(path)).segments)

    environment = Environment(strict=True)
    return environment


class _Overlay:
    """An overlay, which reports its invalid actions."""

    def __init__(self, overlay: Document, problems: ProblemLog) -> None:
        """Raises `SourceError` if it is not an overlay of a known version."""
        self._name, self._problems, data = overlay.name, problems, as_dict(overlay.data)
        self._version, self._actions = str(data.get("overlay"))[:20], as_list(data.get("actions"))
        self._seconds_left, self._characters_left = _TIME_LIMIT_S, _ADDED_LIMIT
        if "overlay" not in data:
            what, fix = "is not an OpenAPI Overlay: it has no `overlay` key", "check --overlay"
        elif not self._version.startswith("1."):
            what, fix = f"is Overlay {self._version!r}; only 1.0 and 1.1 are supported", "convert it to 1.1"
        elif not isinstance(data.get("actions"), list):
            what, fix = "has no list of `actions`", "correct the overlay"
        else:
            return
        raise SourceError(what, where=overlay.name, fix=fix)

    def apply(self, data: Json) -> Json:
        """Returns the description after all actions; each one sees the result of the one before."""
        for index, action in enumerate(self._actions):
            pointer = f"/actions/{index}"
            try:
                data = self._applied(as_dict(action), data, pointer)
            except _InvalidAction as error:
                self._report(pointer, error)
        return data

    def _applied(self, action: dict[str, Json], data: Json, pointer: str) -> Json:
        """Returns the description after an action.

        Raises:
            _InvalidAction: it cannot be applied.
        """
        target = text_of(action, "target")
        if target is None:
            raise _InvalidAction("the action has no target")
        nodes = self._nodes(target, data, "/target")
        if not nodes:
            message = f"{target[:200]} selects nothing"
            if any("$ref" in as_dict(path) for path in as_dict(as_dict(data).get("paths")).values()):
                message += "; an overlay changes the description itself, not what its paths refer to with `$ref`"
            raise _InvalidAction(message, "/target", "overlay-target-unmatched")
        if action.get("remove") is True:
            if () in nodes:
                raise _InvalidAction("the action would remove the complete description")
            # In reverse order: removing a node keeps earlier indexes valid, and children go before their parents.
            for parts in sorted(nodes, key=lambda parts: [(isinstance(part, int), part) for part in parts])[::-1]:
                del _at(data, parts[:-1])[parts[-1]]
            return data
        value = self._value(action, data)
        if len({_shape(_at(data, parts)) for parts in nodes}) > 1:
            raise _InvalidAction("the target selects nodes of different types (object, array, other)", "/target")
        self._characters_left -= len(json.dumps(value)) * len(nodes)
        if self._characters_left < 0:
            what = f"adds more than {_ADDED_LIMIT:,} characters to the description"
            raise SourceError(what, where=f"{self._name}#{pointer}", fix="correct the overlay")
        for parts in nodes:
            try:
                merged = _merge(_at(data, parts), copy.deepcopy(value), at_target=True)
                if parts:
                    _at(data, parts[:-1])[parts[-1]] = merged
                else:
                    data = merged
            except _InvalidAction as error:
                self._report(pointer, _InvalidAction(f"at {child('', *parts) or 'the root'}: {error}"))
        return data

    def _value(self, action: dict[str, Json], data: Json) -> Json:
        """Returns what an action adds to its target."""
        if "copy" not in action:
            if "update" not in action:
                raise _InvalidAction("the action has neither `update` nor `remove` nor `copy`")
            return action["update"]
        if self._version.startswith("1.0"):
            raise _InvalidAction(f"`copy` requires Overlay 1.1; this is Overlay {self._version}", "/copy")
        nodes = self._nodes(str(action["copy"]), data, "/copy")
        if len(nodes) != 1:
            raise _InvalidAction(f"the path selects {len(nodes)} nodes; `copy` needs exactly one", "/copy")
        return copy.deepcopy(_at(data, nodes[0]))

    def _nodes(self, path: str, data: Json, pointer: str) -> list[_Parts]:
        """Returns the locations that a JSONPath selects."""
        from jsonpath import JSONPathError

        limit_s, start_s = min(_PATH_TIME_LIMIT_S, self._seconds_left), time.process_time()
        try:
            if len(path) > _PATH_LENGTH_LIMIT:
                raise _PathLimit(f"has more than {_PATH_LENGTH_LIMIT:,} characters")
            if limit_s <= 0:
                raise _PathLimit(f"is not evaluated: the paths of the overlay take more than {_TIME_LIMIT_S:g} s")
            with time_limit(limit_s, _PathLimit(f"takes more than {limit_s:.3g} s")):
                return list(dict.fromkeys(tuple(match.parts) for match in _path_environment().finditer(path, data)))
        except JSONPathError as error:
            flaw = f"is not a JSONPath: {str(error).splitlines()[0]}"
        except RecursionError:
            flaw = "recurses too deeply"
        except _PathLimit as error:
            flaw = str(error)
        finally:
            self._seconds_left -= time.process_time() - start_s
        raise _InvalidAction(f"{path[:200]} {flaw}", pointer, "overlay-path-invalid")

    def _report(self, pointer: str, error: _InvalidAction) -> None:
        where = f"{self._name}#{pointer}{error.pointer}"
        self._problems.report(error.code, where, str(error), "correct the overlay")


def _merge(target: Json, update: Json, *, at_target: bool = False) -> Json:
    """Returns the updated value (Overlay 1.1, "Action Object"): objects merge, arrays grow, others change."""
    if isinstance(target, list) and (at_target or isinstance(update, list)):
        return [*target, *(update if isinstance(update, list) else [update])]
    if isinstance(target, dict) and isinstance(update, dict):
        changed = {key: _merge(target[key], value) if key in target else value for key, value in update.items()}
        return {**target, **changed}
    if _shape(target) != _shape(update):
        raise _InvalidAction(f"{_shape(update)} can't be merged into {_shape(target)}")
    return update


def _shape(value: Json) -> str:
    return "an object" if isinstance(value, dict) else "an array" if isinstance(value, list) else "a plain value"


def _at(data: Json, parts: _Parts) -> Any:
    for part in parts:
        data = data[part]
    return data
