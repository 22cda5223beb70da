"""Applies OpenAPI Overlays (1.0, 1.1) to a description before it is read.

A target is a JSONPath (RFC 9535); its library is imported only if there is an overlay. The description is copied, so
the loaded document never changes.
"""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, cast

from msgspec.structs import replace

from skillgen.errors import ProblemLog, SourceError, time_limit
from skillgen.model.values import Json, child
from skillgen.sources.documents import Document, is_url, load_document
from skillgen.sources.http import FetchOptions
from skillgen.sources.json_access import as_dict, text_of

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
        self._name = overlay.name
        self._problems = problems
        self._version, self._actions = _version_and_actions(overlay)
        self._seconds_left = _TIME_LIMIT_S
        self._characters_left = _ADDED_LIMIT

    def apply(self, data: Json) -> Json:
        """Returns the description after all actions; each one sees the result of the one before."""
        for index, action in enumerate(self._actions):
            pointer = child("/actions", index)
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
            return self._remove(nodes, data)
        value = self._value(action, data)
        if len({_shape(_at(data, parts)) for parts in nodes}) > 1:
            raise _InvalidAction("the target selects nodes of different types (object, array, other)", "/target")
        self._characters_left -= len(json.dumps(value)) * len(nodes)
        if self._characters_left < 0:
            what = f"adds more than {_ADDED_LIMIT:,} characters to the description"
            raise SourceError(what, where=f"{self._name}#{pointer}", fix="correct the overlay")
        for parts in nodes:
            try:
                data = _replace_at(data, parts, _merge(_at(data, parts), copy.deepcopy(value), at_target=True))
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

    def _remove(self, nodes: list[_Parts], data: Json) -> Json:
        if () in nodes:
            raise _InvalidAction("the action would remove the complete description")
        # In reverse order: removing a node keeps earlier indexes valid, and children go before their parents.
        for parts in sorted(nodes, key=lambda parts: [*map(_sort_key, parts)], reverse=True):
            del _at(data, parts[:-1])[parts[-1]]
        return data

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


def _version_and_actions(overlay: Document) -> tuple[str, list[Json]]:
    data = as_dict(overlay.data)
    version, actions = str(data.get("overlay"))[:20], data.get("actions")
    if "overlay" not in data:
        what, fix = "is not an OpenAPI Overlay: it has no `overlay` key", "check --overlay"
    elif not version.startswith("1."):
        what, fix = f"is Overlay {version!r}; only 1.0 and 1.1 are supported", "convert it to 1.1"
    elif not isinstance(actions, list):
        what, fix = "has no list of `actions`", "correct the overlay"
    else:
        return version, actions
    raise SourceError(what, where=overlay.name, fix=fix)


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


def _replace_at(data: Json, parts: _Parts, value: Json) -> Json:
    if not parts:
        return value
    _at(data, parts[:-1])[parts[-1]] = value
    return data


def _sort_key(part: str | int) -> tuple[int, str]:
    return (part, "") if isinstance(part, int) else (-1, part)
