"""Frozen dataclasses of which thousands are made.

Python's frozen dataclass sets each field of a new object through `object.__setattr__`, which takes three times as long
as an assignment, and compiles six methods for each class, which takes a millisecond. A large description has ten
thousand schemas of thirty fields, and the model seventy classes. So here an object is filled while it is of a class
with the same slots that can still be changed, and becomes one of the frozen class when it is whole; and what all
classes can do in the same way, they share.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass, fields
from operator import attrgetter
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
    """Makes a class a frozen, slotted, keyword-only dataclass with equality, a hash and a representation."""
    open_class: Any = type(cls.__name__, cls.__bases__, dict(vars(cls)))
    open_class = dataclass(slots=True, kw_only=True, repr=False, eq=False)(open_class)
    frozen_class: Any = dataclass(slots=True, kw_only=True, init=False, repr=False, eq=False)(cls)
    frozen_class.__dataclass_params__.frozen = True

    def new(kind: Any, /, **values: Any) -> Any:
        made = open_class(**values)
        made.__class__ = kind
        return made

    new.__wrapped__ = open_class.__init__  # type: ignore[attr-defined]  # for whoever asks for its signature
    frozen_class.__new__ = new
    frozen_class.__setattr__ = _refuse_to_set
    frozen_class.__delattr__ = _refuse_to_delete
    frozen_class.__eq__, frozen_class.__hash__ = _comparison(attrgetter(*frozen_class.__slots__))
    frozen_class.__repr__ = _represented
    frozen_class.__reduce__ = _reduced
    return frozen_class  # type: ignore[no-any-return]


def _comparison(values: Callable[[Any], Any]) -> tuple[Callable[[Any, Any], Any], Callable[[Any], int]]:
    def is_equal(made: Any, other: Any) -> Any:
        if other.__class__ is not made.__class__:
            return NotImplemented
        return made is other or values(made) == values(other)

    def hashed(made: Any) -> int:
        return hash(values(made))

    return is_equal, hashed


def _refuse_to_set(made: Any, name: str, value: Any) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(made: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _represented(made: Any) -> str:
    shown = (f"{field.name}={getattr(made, field.name)!r}" for field in fields(made) if field.repr)
    return f"{made.__class__.__qualname__}({', '.join(shown)})"


def _reduced(made: Any) -> Any:
    return _remade, (made.__class__, {field.name: getattr(made, field.name) for field in fields(made)})


def _remade(kind: Any, values: dict[str, Any]) -> Any:
    return kind(**values)
