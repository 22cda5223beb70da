"""Frozen dataclasses of which thousands are made.

Python's frozen dataclass sets each field of a new object through `object.__setattr__`, three times as slow as an
assignment. A large description has ten thousand schemas of thirty fields. So here an object is filled while it is of a
class with the same slots that is not frozen yet, and becomes one of the frozen class when it is whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**traits: bool) -> Any:
        """Means something to type checkers only."""
        return lambda decorator: decorator


_Made = TypeVar("_Made")


@dataclass_transform(frozen_default=True, kw_only_default=True)
def frozen(cls: type[_Made]) -> type[_Made]:
    """Makes a class a frozen, slotted, keyword-only dataclass."""
    fields = dict(vars(cls))
    open_class: Any = dataclass(slots=True, kw_only=True)(type(cls.__name__, cls.__bases__, dict(fields)))
    frozen_class: Any = dataclass(frozen=True, slots=True, kw_only=True)(cls)

    def new(kind: Any, **values: Any) -> Any:
        made = open_class(**values)
        made.__class__ = kind
        return made

    def reduced(made: Any) -> Any:
        return _remade, (frozen_class, {name: getattr(made, name) for name in frozen_class.__slots__})

    new.__wrapped__ = open_class.__init__  # type: ignore[attr-defined]  # for whoever asks for its signature
    del frozen_class.__init__
    frozen_class.__new__ = new
    frozen_class.__reduce__ = reduced
    return frozen_class  # type: ignore[no-any-return]


def _remade(kind: Any, values: dict[str, Any]) -> Any:
    return kind(**values)
