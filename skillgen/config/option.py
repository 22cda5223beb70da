"""What an option is: a field of a class of options, which declares the rest in place of its default."""

from __future__ import annotations

import functools
import os
import shlex
import typing
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeVar

from msgspec import NODEFAULT, UNSET, Struct, StructMeta, UnsetType, structs

from skillgen.errors import UsageError

if TYPE_CHECKING:
    PathName: TypeAlias = str | os.PathLike[str]
else:
    PathName = str  # what `config.convert` makes of a path


class Option(Struct, frozen=True, kw_only=True):
    """An option: what its declaration and its field say."""

    name: str = ""
    """The name of its field."""

    type: Any = None
    """The type of its value, without `None`."""

    default: Any = UNSET

    help: str = ""
    """What it does, for every place that explains it."""

    usage: str = ""
    """What to add on the command line: its syntax there."""

    note: str = ""
    """What to add in the project file."""

    also: Mapping[str, str] = {}
    """What to add for commands that read a kind of source."""

    flag: str | None = None
    """Its name on the command line, by default that of the field; `None` if it is not an option there: a value needs a
    `metavar`."""

    short: str | None = None
    """Its short name on the command line."""

    metavar: str | None = None
    """What its value is called in help."""

    panel: str = ""
    """Where help lists it, if not with the other options of its class."""

    is_key: bool = True
    """Whether it is a key of the project file; other options concern a single run."""

    kinds: tuple[str, ...] = ()
    """The kinds of source that use it; empty for all."""

    needs: str = ""
    """The option without which it has no effect."""

    is_flat: bool = False
    """Whether it is a class whose keys belong to the class that holds it."""

    is_kind: bool = False
    """Whether its value names the source; exactly one such option is given."""

    is_path: bool = False
    """Whether it is a path or a URL; a path in the project file is relative to the folder of that file."""

    is_command: bool = False
    """Whether the project file may have a string instead of a list, which is split as a shell does."""

    is_comma_separated: bool = False
    """Whether a string lists values, as on the command line."""

    is_secret: bool = False
    """Whether its value may be a secret, which `repr` leaves out."""

    choices: Collection[str] = ()
    """Its possible values; empty for any."""

    @property
    def is_required(self) -> bool:
        """Whether it has no default."""
        return self.default is NODEFAULT

    @property
    def key(self) -> str:
        """Its key in the project file."""
        return self.name.replace("_", "-")


def option(help: str, default: Any = None, **details: Any) -> Any:
    """Returns the declaration of an option, in place of the default of its field; `details` are fields of `Option`.

    Without a `default`, a flag is off, and a list or a mapping empty.
    """
    return Option(help=help, default=default, **details)


_EMPTY = {"bool": False, "Sequence": (), "Mapping": {}}


class _OptionsMeta(StructMeta):
    """Takes the declarations of options out of a class."""

    def __new__(mcls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **details: Any) -> Any:
        declared = {key: item for key, item in namespace.items() if isinstance(item, Option)}
        for key, item in declared.items():
            if item.default is None:
                kind = namespace["__annotations__"][key].partition("[")[0]
                declared[key] = structs.replace(item, default=_EMPTY.get(kind))
        others = {key: item for key, item in namespace.items() if key not in declared}
        defaults = {key: item.default for key, item in declared.items() if not item.is_required}
        return super().__new__(mcls, name, bases, {**others, **defaults, "DECLARED": declared}, **details)


class Options(Struct, metaclass=_OptionsMeta, frozen=True, kw_only=True):
    """A class whose fields are options."""

    PANEL: ClassVar[str] = ""
    """Where help lists its options."""

    DECLARED: ClassVar[Mapping[str, Option]]
    """What its fields declare."""


AnyOptions = TypeVar("AnyOptions", bound=Options)


@functools.cache
def options_in(cls: type[Options]) -> tuple[Option, ...]:
    """Returns the options that a class declares, with their names and types."""
    hints, found = typing.get_type_hints(cls), []
    for name, item in cls.DECLARED.items():
        arguments = typing.get_args(hints[name])
        members = tuple(kind for kind in arguments if kind not in (type(None), UnsetType))
        kind = typing.Union[members] if len(members) < len(arguments) else hints[name]  # noqa: UP007
        flag = (item.flag or f"--{name.replace('_', '-')}") if item.metavar or hints[name] is bool else None
        is_path = item.is_path or "PathName" in cls.__annotations__[name]
        panel = item.panel or cls.PANEL
        found.append(structs.replace(item, name=name, type=kind, panel=panel, flag=flag, is_path=is_path))
    return tuple(found)


def part_of(cls: type[AnyOptions], given: Mapping[str, Any]) -> AnyOptions:
    """Returns the options of a class among those that are given."""
    return cls(**{item.name: given[item.name] for item in options_in(cls) if item.name in given})


@functools.cache
def keys_in(cls: type[Options]) -> dict[str, tuple[str, Option]]:
    """Returns the keys of a class in the project file, each with its option.

    Before the option is the name of the field that holds it, empty if that is `cls` itself.
    """
    found: dict[str, tuple[str, Option]] = {}
    for item in options_in(cls):
        if item.is_flat:
            found |= {key: (item.name, inner) for key, (_, inner) in keys_in(item.type).items()}
        elif item.is_key:
            found[item.key] = "", item
    return found


def command_words(text: str | None, where: str) -> tuple[str, ...]:
    """Returns the words of a command, split as a shell does; none if it is `None`. `where` is its place for messages.

    Raises:
        UsageError: it is empty, or a quotation is not closed.
    """
    lexer = shlex.shlex(text or "", posix=True, punctuation_chars="")
    lexer.whitespace_split, lexer.commenters = True, ""
    if os.name == "nt":  # there, a backslash separates folders
        lexer.escape = ""
    try:
        words = tuple(lexer)
    except ValueError as error:
        raise UsageError(f"is not a command: {error}", where=where, fix="close its quotation marks") from None
    if text is not None and not words:
        raise UsageError("is empty", where=where, fix="give it a value, or leave it out")
    return words
