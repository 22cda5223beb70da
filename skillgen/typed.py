"""JSON into structs of msgspec, by one thread at a time.

msgspec 0.22 publishes what it knows of a class before that is complete: a second thread that uses it then crashes.
"""

from __future__ import annotations

import threading
from typing import Any, TypeVar

import msgspec

Kind = TypeVar("Kind")

_TURN = threading.RLock()


def convert(value: Any, kind: type[Kind], **options: Any) -> Kind:
    """Returns a value as an object of a type, as `msgspec.convert` does."""
    with _TURN:
        found: Kind = msgspec.convert(value, kind, **options)  # noqa: TID251
        return found


def decode(content: bytes | str, kind: type[Kind]) -> Kind:
    """Returns JSON as an object of a type, as `msgspec.json.decode` does."""
    with _TURN:
        found: Kind = msgspec.json.decode(content, type=kind)  # noqa: TID251
        return found
