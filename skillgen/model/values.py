"""JSON values, JSON pointers, origins, and the `frozen` decorator of every class of the model.

A JSON pointer (RFC 6901) is stored with every fact of the model and followed for every `$ref`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import FrozenInstanceError, dataclass, fields
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar
from urllib.parse import unquote

Json: TypeAlias = Any
"""A value as `json.loads` returns it. It belongs to the source and is never modified."""


@dataclass(frozen=True, slots=True)
class Value:
    """A JSON value that the source declares, possibly null.

    A field of type `Value | None` has three states: `None` is not declared, `Value(None)` is declared as null, and
    `Value("")` is declared as empty. In JSON, a `Value` is the bare value and `None` is an absent key.
    """

    json: Json
    """The value itself."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a fact comes from, if not from the pointer of its node."""

    kind: Literal["declared", "inferred", "defaulted"]
    """`declared`: by the source or the user; `inferred`: derived from other facts; `defaulted`: the default of a
    specification for an absent value."""

    source: str
    """For a declared fact the JSON pointer into the source, or the option that set it; otherwise what the fact was
    derived from."""


Origins: TypeAlias = Mapping[str, Origin]
"""Field name to origin, for the fields of a node that are not declared at the node's own pointer."""


class HasOrigins(Protocol):
    """A node of the model that has fields from elsewhere than its own pointer."""

    @property
    def origins(self) -> Origins | None:
        """The origins of these fields."""


def is_inferred(node: HasOrigins, field: str) -> bool:
    """True if a field was inferred from other facts."""
    origin = (node.origins or {}).get(field)
    return origin is not None and origin.kind == "inferred"


def child(pointer: str, *tokens: object) -> str:
    """Returns the pointer to a member below `pointer`."""
    for token in tokens:
        pointer = f"{pointer}/{_escape(token) if isinstance(token, str) else token}"
    return pointer


def last_token(pointer: str) -> str:
    """Returns the last token of a pointer, unescaped; empty for the document itself."""
    return _unescape(pointer.rpartition("/")[2])


def shorten_pointer(pointer: str) -> str:
    """Returns the start of a pointer that is too long for a message."""
    return f"{pointer[:200]}…"


def follow(document: Json, pointer: str) -> Json:
    """Returns the value at a pointer, which may be percent-encoded as a URI fragment.

    Raises:
        LookupError: the pointer does not resolve.
    """
    value = document
    for token in pointer.split("/")[1:]:
        if isinstance(value, dict):
            value = value[_member(value, token)]
        elif isinstance(value, list) and token.isascii() and token.isdigit() and len(token) < 10:
            value = value[int(token)]
        else:
            raise LookupError(pointer)
    return value


def _member(value: dict[str, Json], token: str) -> str:
    name = _unescape(token)
    return name if name in value else unquote(name)


def _escape(token: str) -> str:
    if "~" in token or "/" in token:
        return token.replace("~", "~0").replace("/", "~1")
    return token


def _unescape(token: str) -> str:
    if "~" in token:
        return token.replace("~1", "/").replace("~0", "~")
    return token


if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**traits: bool) -> Any:
        """Has an effect for type checkers only."""
        return lambda decorator: decorator


_Class = TypeVar("_Class")


@dataclass_transform(frozen_default=True, kw_only_default=True)
def frozen(cls: type[_Class]) -> type[_Class]:
    """Turns a class into a frozen, slotted, keyword-only dataclass with equality, hash and representation.

    It behaves like `dataclass(frozen=True, slots=True, kw_only=True)`, which sets each field by `object.__setattr__`
    and compiles six methods for each class. Here a new object is filled as an instance of a mutable class with the same
    slots, and its `__class__` is then swapped; all classes share the other methods. Measured with `Schema` (29 fields,
    CPython 3.11): 1.0 instead of 3.3 µs for one object, 11 instead of 34 ms for the 10,000 of a large description, 0.9
    instead of 1.4 ms for a class (there are 43, at every start). Comparing two objects takes longer: 1.0 instead of 0.4
    µs.
    """
    open_class: Any = type(cls.__name__, cls.__bases__, dict(vars(cls)))
    open_class = dataclass(slots=True, kw_only=True, repr=False, eq=False)(open_class)
    frozen_class: Any = dataclass(slots=True, kw_only=True, init=False, repr=False, eq=False)(cls)
    frozen_class.__dataclass_params__.frozen = True

    def new(kind: Any, /, **values: Any) -> Any:
        node = open_class(**values)
        node.__class__ = kind
        return node

    new.__wrapped__ = open_class.__init__  # type: ignore[attr-defined]  # inspect.signature follows it
    frozen_class.__new__ = new
    frozen_class.__setattr__ = _refuse_to_set
    frozen_class.__delattr__ = _refuse_to_delete
    frozen_class.__eq__, frozen_class.__hash__ = _comparison(attrgetter(*frozen_class.__slots__))
    frozen_class.__repr__ = _repr
    frozen_class.__reduce__ = _reduce
    return frozen_class  # type: ignore[no-any-return]


def _comparison(values: Callable[[Any], Any]) -> tuple[Callable[[Any, Any], Any], Callable[[Any], int]]:
    def eq(node: Any, other: Any) -> Any:
        if other.__class__ is not node.__class__:
            return NotImplemented
        return node is other or values(node) == values(other)

    def hash_(node: Any) -> int:
        return hash(values(node))

    return eq, hash_


def _refuse_to_set(node: Any, name: str, value: Any) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(node: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _repr(node: Any) -> str:
    values = (f"{field.name}={getattr(node, field.name)!r}" for field in fields(node) if field.repr)
    return f"{node.__class__.__qualname__}({', '.join(values)})"


def _reduce(node: Any) -> Any:
    return _rebuild, (node.__class__, {field.name: getattr(node, field.name) for field in fields(node)})


def _rebuild(kind: Any, values: dict[str, Any]) -> Any:
    return kind(**values)


@frozen
class Icon:
    """An icon of a service or of one of its parts (SEP-973)."""

    src: str
    """An `https:` or `data:` URI."""

    media_type: str | None = None
    """Overrides the media type that the server of `src` declares."""

    sizes: tuple[str, ...] = ()
    """Sizes such as `48x48`, or `any`."""

    theme: str | None = None
    """`light` or `dark`: the background for which it is designed."""


@frozen
class Quotation:
    """Text of the source that addresses the reader instead of describing something.

    It is removed from its field, and documents show it only as a quotation.
    """

    text: str
    """The text; untrusted."""

    field: str
    """The field from which it was removed; of a parameter, the parameter's name, a dot and the field."""

    rule: str
    """The rule that matched (`skillgen.security.injection`)."""

    pointer: str
    """JSON pointer to the text in the source."""
