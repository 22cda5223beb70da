"""Json, Value, Origin, Icon, Quotation, JSON pointer.

JSON values, and where a fact comes from.

JSON pointers (RFC 6901): written for every fact of the model, followed for every `$ref`.

Frozen dataclasses of which thousands are made.

Python's frozen dataclass sets each field of a new object through `object.__setattr__`, which takes three times as long
as an assignment, and compiles six methods for each class, which takes a millisecond. A large description has ten
thousand schemas of thirty fields, and the model seventy classes. So here an object is filled while it is of a class
with the same slots that can still be changed, and becomes one of the frozen class when it is whole; and what all
classes can do in the same way, they share.

Pictures that a source declares.

Words of a source that address the reader.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import FrozenInstanceError, dataclass, fields
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar
from urllib.parse import unquote

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


def child(pointer: str, *tokens: object) -> str:
    """Gives the pointer to a member below `pointer`."""
    for token in tokens:
        pointer = f"{pointer}/{_escape(token) if isinstance(token, str) else token}"
    return pointer


def last_token(pointer: str) -> str:
    """Gives the last token of a pointer, unescaped; empty for the whole document."""
    return _unescape(pointer.rpartition("/")[2])


def shorten_pointer(pointer: str) -> str:
    """Returns the start of a pointer that is too long for a message."""
    return f"{pointer[:200]}…"


def follow(document: Json, pointer: str) -> Json:
    """Gives the value at a pointer, also one that is percent-encoded as a URI fragment.

    Raises:
        LookupError: nothing is there.
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


@frozen
class Icon:
    """A picture of a service or of one of its parts (SEP-973)."""

    src: str
    """An `https:` or `data:` URI."""

    media_type: str | None = None
    """Overrides the media type that the server of `src` sends."""

    sizes: tuple[str, ...] = ()
    """`48x48` and the like, or `any`."""

    theme: str | None = None
    """`light` or `dark`: the background that it is made for."""


@frozen
class Quotation:
    """Words of the source that address the reader instead of describing something.

    They are taken out of the field in which they stood, and documents show them as a quotation only.
    """

    text: str
    """The words, untrusted."""

    field: str
    """The field in which they stood; that of a parameter after its name and a dot."""

    rule: str
    """The rule by which they were found (`skillgen.markdown.voice`)."""

    pointer: str
    """JSON pointer to them in the source."""
