"""Applies OpenAPI Overlays (1.0, 1.1) to a description before it is read.

A target is a JSONPath (RFC 9535); its library is imported only if there is an overlay. The description is copied, so
the loaded document never changes.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from skillgen.errors import ProblemLog, SourceError, time_limit
from skillgen.model.values import Json, child
from skillgen.sources.documents import Document, is_url, load_document
from skillgen.sources.http import FetchOptions
from skillgen.sources.json_access import as_dict, text_of

_PATH_TIME_LIMIT_S = 10.0
"""CPU seconds of one path: its regular expressions run over strings of the description."""

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


class _Incompatible(Exception):
    """Values that cannot be merged; the message says which."""


class _TooLong(Exception):
    """A path exceeds its time limit."""


class _Overlay:
    """An overlay, which reports its invalid actions."""

    def __init__(self, overlay: Document, problems: ProblemLog) -> None:
        import jsonpath  # only here: few runs have an overlay

        self._name = overlay.name
        self._problems = problems
        self._version, self._actions = _version_and_actions(overlay)
        self._paths = jsonpath.JSONPathEnvironment(strict=True)
        self._path_error = jsonpath.JSONPathError

    def apply(self, data: Json) -> Json:
        """Returns the description after all actions; each one sees the result of the one before."""
        for index, action in enumerate(self._actions):
            pointer = child("/actions", index)
            target = text_of(action, "target")
            if target is None:
                self._report("overlay-action-invalid", pointer, "the action has no target")
                continue
            nodes = self._nodes(target, data, child(pointer, "target"))
            if nodes is None:
                continue
            if not nodes:
                message = f"{target[:200]} selects nothing"
                if any("$ref" in as_dict(path) for path in as_dict(as_dict(data).get("paths")).values()):
                    message += "; an overlay changes the description itself, not what its paths refer to with `$ref`"
                self._report("overlay-target-unmatched", child(pointer, "target"), message)
                continue
            data = self._apply_action(as_dict(action), nodes, data, pointer)
        return data

    def _apply_action(self, action: dict[str, Json], nodes: list[_Parts], data: Json, pointer: str) -> Json:
        if action.get("remove") is True:
            return self._remove(nodes, data, pointer)
        has_copy = "copy" in action
        if has_copy and self._version.startswith("1.0"):
            message = f"`copy` requires Overlay 1.1; this is Overlay {self._version}"
            self._report("overlay-action-invalid", child(pointer, "copy"), message)
            has_copy = False
        elif not has_copy and "update" not in action:
            self._report("overlay-action-invalid", pointer, "the action has neither `update` nor `remove` nor `copy`")
        if has_copy:
            copied = self._nodes(str(action["copy"]), data, child(pointer, "copy"))
            if copied is None or len(copied) != 1:
                if copied is not None:
                    message = f"the path selects {len(copied)} nodes; `copy` needs exactly one"
                    self._report("overlay-action-invalid", child(pointer, "copy"), message)
                return data
            value = copy.deepcopy(_at(data, copied[0]))
        elif "update" in action:
            value = action["update"]
        else:
            return data
        if len({_shape(_at(data, parts)) for parts in nodes}) > 1:
            message = "the target selects nodes of different types (object, array, other)"
            self._report("overlay-action-invalid", child(pointer, "target"), message)
            return data
        for parts in nodes:
            try:
                merged = _merge(_at(data, parts), copy.deepcopy(value), at_target=True)
            except _Incompatible as error:
                self._report("overlay-action-invalid", pointer, f"at {child('', *parts) or 'the root'}: {error}")
                continue
            data = _replace_at(data, parts, merged)
        return data

    def _remove(self, nodes: list[_Parts], data: Json, pointer: str) -> Json:
        # In reverse order: removing a node keeps earlier indexes valid, and children go before their parents.
        for parts in sorted(nodes, key=_sort_key, reverse=True):
            if not parts:
                self._report("overlay-action-invalid", pointer, "the action would remove the complete description")
                continue
            del _at(data, parts[:-1])[parts[-1]]
        return data

    def _nodes(self, path: str, data: Json, pointer: str) -> list[_Parts] | None:
        """Returns the locations that a JSONPath selects; reports an invalid path and returns `None`."""
        try:
            with time_limit(_PATH_TIME_LIMIT_S, _TooLong()):
                return list(dict.fromkeys(tuple(match.parts) for match in self._paths.finditer(path, data)))
        except self._path_error as error:
            flaw = f"is not a JSONPath: {str(error).splitlines()[0]}"
        except RecursionError:
            flaw = "recurses too deeply"
        except _TooLong:
            flaw = f"takes more than {_PATH_TIME_LIMIT_S:g} s"
        self._report("overlay-path-invalid", pointer, f"{path[:200]} {flaw}")
        return None

    def _report(self, code: str, pointer: str, message: str) -> None:
        self._problems.report(code, f"{self._name}#{pointer}", message, "correct the overlay")


def _version_and_actions(overlay: Document) -> tuple[str, list[Json]]:
    data = overlay.data
    if not isinstance(data, dict) or "overlay" not in data:
        raise SourceError(
            "is not an OpenAPI Overlay: it has no `overlay` key", where=overlay.name, fix="check --overlay"
        )
    version = str(data["overlay"])
    if not version.startswith("1."):
        raise SourceError(
            f"is Overlay {version[:20]!r}; only 1.0 and 1.1 are supported", where=overlay.name, fix="convert it to 1.1"
        )
    if not isinstance(data.get("actions"), list):
        raise SourceError("has no list of `actions`", where=overlay.name, fix="correct the overlay")
    actions: list[Json] = data["actions"]
    return version[:20], actions


def _merge(target: Json, update: Json, *, at_target: bool = False) -> Json:
    """Returns the updated value (Overlay 1.1, "Action Object"): objects merge, arrays grow, others change."""
    if isinstance(target, list) and (at_target or isinstance(update, list)):
        return [*target, *(update if isinstance(update, list) else [update])]
    if isinstance(target, dict) and isinstance(update, dict):
        merged = dict(target)
        for key, value in update.items():
            merged[key] = _merge(target[key], value) if key in target else value
        return merged
    if _shape(target) != _shape(update):
        raise _Incompatible(f"{_shape(update)} can't be merged into {_shape(target)}")
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


def _sort_key(parts: _Parts) -> tuple[tuple[int, str], ...]:
    return tuple((part, "") if isinstance(part, int) else (-1, part) for part in parts)
