"""JSON values, and where a fact comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

Json: TypeAlias = Any
"""A value as `json.loads` gives it. It belongs to the source: nobody changes it."""


@dataclass(frozen=True, slots=True)
class Value:
    """A JSON value that the source declared, which may be null.

    A field of type `Value | None` tells three things apart: `None` is "none declared", `Value(None)` is "declared
    null", and `Value("")` is "declared empty". In JSON a `Value` is the bare value and `None` is an absent key.
    """

    json: Json
    """The value itself."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a fact comes from, when that is not the pointer of the node that holds it."""

    kind: Literal["declared", "inferred", "defaulted"]
    """`declared`: the source or the user says it; `inferred`: drawn from other facts; `defaulted`: a specification's
    default for what is absent."""

    source: str
    """For a declared fact a JSON pointer into the source or the flag that gave it; else what it was drawn from."""


Origins: TypeAlias = Mapping[str, Origin]
"""Field name to origin, for the fields of a node that are not declared at the node's own pointer."""


class HasOrigins(Protocol):
    """A node of the model whose fields may come from other places than its own pointer."""

    @property
    def origins(self) -> Origins | None:
        """The fields that do."""


def is_inferred(node: HasOrigins, field: str) -> bool:
    """True if a field was inferred from others rather than declared."""
    origin = (node.origins or {}).get(field)
    return origin is not None and origin.kind == "inferred"
