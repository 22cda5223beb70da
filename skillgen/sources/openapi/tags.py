"""Reads tags as groups: which of them sort tools, and which is part of which (OpenAPI 3.2, "Tag Object")."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from skillgen.errors import ProblemLog
from skillgen.model.offers import Group
from skillgen.model.pointer import child
from skillgen.model.value import Json
from skillgen.sources.guards import as_dict, as_list, text_of, texts_of

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
