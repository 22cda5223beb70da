"""The operations of `paths`, `webhooks` and callbacks (OpenAPI 3.2, "Path Item Object")."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from skillgen.model.values import Json, child, shorten_pointer
from skillgen.sources.json_access import POINTER_LIMIT, as_dict, text_of
from skillgen.sources.openapi.references import Resolver

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
"""The methods that are members of a path item; `query` came with 3.2."""

_PATH_ITEM_MEMBERS = frozenset({"$ref", "summary", "description", "servers", "parameters", "additionalOperations"})
"""The other members of a path item."""

_OPERATION_MEMBERS = frozenset(
    {"callbacks", "deprecated", "externalDocs", "operationId", "requestBody", "responses", "security", "tags"}
)
"""Members of an operation that are invalid in a path item."""


_INTERNAL = ("x-internal", "x-hidden", "x-speakeasy-ignore", "x-fern-ignore", "x-stainless-skip")
"""Extensions of other tools that keep a part of a description out of documents, if they are true."""


def is_internal(part: Mapping[str, Json]) -> bool:
    """True if a part of a description is not for everybody."""
    return any(part.get(name) is True for name in _INTERNAL)


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

    @property
    def operation_id(self) -> str | None:
        """Its `operationId`."""
        return text_of(self.operation, "operationId")


class PathReader:
    """Finds operations, also through `$ref`s of path items."""

    def __init__(self, resolver: Resolver, *, has_internal: bool = False) -> None:
        self._resolver = resolver
        self._problems = resolver.problems
        self._has_internal = has_internal
        """Whether operations for internal use are among them."""

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
        operations = [(key, value, child(item_pointer, key)) for key, value in item.items() if key in METHODS]
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
