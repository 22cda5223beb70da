"""Finds the operations below `paths`, `webhooks` and callbacks (OpenAPI 3.2, "Path Item Object")."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from skillgen.errors import ProblemLog
from skillgen.model.values import Json, child, shorten_pointer
from skillgen.sources.json_access import POINTER_LIMIT, as_dict, text_of
from skillgen.sources.openapi.references import Resolver

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
"""The methods that are members of a path item; `query` came with 3.2."""

_MEMBERS = frozenset({"$ref", "summary", "description", "servers", "parameters", "additionalOperations"})
"""The other members of a path item."""

_OF_OPERATIONS = frozenset(
    {"callbacks", "deprecated", "externalDocs", "operationId", "requestBody", "responses", "security", "tags"}
)
"""Members of an operation that a path item does not have."""


PathItems = tuple[tuple[dict[str, Json], str], ...]
"""Path items, each with its JSON pointer; what a later one says counts more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PathOperation:
    """One operation as it stands in the document."""

    method: str
    """As declared: in small letters, but for those of `additionalOperations`."""

    path: str
    """The key of its path item."""

    items: PathItems
    """The path item, and what stands beside its `$ref` where it has one."""

    operation: dict[str, Json]
    """The operation."""

    pointer: str
    """JSON pointer to the operation."""

    @property
    def sent_method(self) -> str:
        """The method as it is sent; that of `additionalOperations` is written there as it is sent."""
        return self.method.upper() if self.method in METHODS else self.method

    @property
    def operation_id(self) -> str | None:
        """Its `operationId`, where it has one."""
        return text_of(self.operation, "operationId")


class PathReader:
    """Finds operations, also through `$ref`s of path items."""

    def __init__(self, resolver: Resolver, problems: ProblemLog) -> None:
        self._resolver = resolver
        self._problems = problems

    def entries(self, paths: dict[str, Json], pointer: str) -> Iterator[PathOperation]:
        """Gives every operation of a map of path items, which stands at `pointer`."""
        for path, raw in paths.items():
            if path.startswith("x-"):
                continue
            own = child(pointer, path)
            item, item_pointer = self._resolver.resolve(raw, own)
            if item is None:
                continue
            seen: set[str] = set()
            if item_pointer == own:
                yield from self._operations(path, item, own, ((item, own),), seen)
                continue
            # Operations may stand beside the `$ref`; they go first.
            beside = {
                key: value
                for key, value in as_dict(raw).items()
                if key != "$ref" and (key not in item or key == "parameters")
            }
            items: PathItems = ((item, item_pointer), (beside, own))
            yield from self._operations(path, beside, own, items, seen)
            yield from self._operations(path, item, item_pointer, items, seen)

    def _operations(
        self, path: str, item: dict[str, Json], item_pointer: str, items: PathItems, seen: set[str]
    ) -> Iterator[PathOperation]:
        found = [(key, value, child(item_pointer, key)) for key, value in item.items() if key in METHODS]
        found += self._misspelt(item, item_pointer)
        for key, value in as_dict(item.get("additionalOperations")).items():
            method, pointer = key, child(item_pointer, "additionalOperations", key)
            if key.isupper() and key.lower() in METHODS:
                method = key.lower()
                message = f"`additionalOperations` must not have {key}, which a path item has as {method!r}"
                self._problems.warning("method-misplaced", pointer, message, f"move it to {method!r} of the path item")
            found.append((method, value, pointer))
        for method, operation, pointer in found:
            if method in seen:
                continue
            seen.add(method)
            if not isinstance(operation, dict):
                self._problems.warning("operation-invalid", pointer, "the operation is not an object; left out")
                continue
            if len(pointer) > POINTER_LIMIT:
                message = f"the path takes more than {POINTER_LIMIT:,} characters; the operation is left out"
                self._problems.warning("operation-invalid", shorten_pointer(pointer), message, "shorten the path")
                continue
            yield PathOperation(method=method, path=path, items=items, operation=operation, pointer=pointer)

    def _misspelt(self, item: dict[str, Json], item_pointer: str) -> Iterator[tuple[str, Json, str]]:
        """Gives the operations whose method is not in small letters, and reports what may have been meant as one."""
        for key, value in item.items():
            if key in METHODS or key in _MEMBERS or key.startswith("x-"):
                continue
            pointer, method = child(item_pointer, key), key.lower()
            if method in METHODS:
                self._problems.warning(
                    "method-misspelt", pointer, f"{key!r} is read as {method!r}", "write it in small letters"
                )
                yield method, value, pointer
            elif key in _OF_OPERATIONS:
                message = f"{key!r} belongs to an operation, not to a path item; left out"
                self._problems.warning("member-misplaced", pointer, message, "move it into each operation of the path")
            else:
                self._problems.warning(
                    "method-unknown",
                    pointer,
                    f"{key[:60]!r} is no method and no member of a path item; left out",
                    "put methods beyond those of OpenAPI below `additionalOperations` (3.2)",
                )
