"""The commands of a program as its declarations have them, for the service that is made of them."""

from __future__ import annotations

from msgspec import Struct

from skillgen.model.schema import CommandSyntax, Schema
from skillgen.model.values import Json


class Param(Struct, frozen=True, kw_only=True):
    """A parameter of a command."""

    name: str | None
    names: tuple[str, ...] = ()
    """The names of an option; empty for a positional argument."""
    metavar: str
    help: str | None = None
    schema: Schema
    """That of one value."""
    formats: tuple[str, ...] = ()
    """How a time is written, for `strftime`."""
    is_flag: bool = False
    value_if_none: Json = None
    """The value of an option that is given without one."""
    least_values: int = 0
    is_required: bool = False
    default: tuple[Json, ...] = ()
    """The default, if it is known."""
    default_text: str | None = None
    """What the help says of the default."""
    syntax: CommandSyntax
    """How it is written, but for its names and its value."""
    is_secret: bool = False
    is_hidden: bool = False
    deprecated: bool | str = False
    exits: bool = False
    """Whether the program prints something and exits."""


class Exclusion(Struct, frozen=True, kw_only=True):
    """Parameters of which one at most may be given, by their index."""

    params: tuple[int, ...]
    is_required: bool


class Command(Struct, frozen=True, kw_only=True):
    """A command of a program."""

    name: str
    help: str | None = None
    short_help: str | None = None
    epilog: str | None = None
    markup: str | None = None
    deprecated: bool | str = False
    is_hidden: bool = False
    panel: str | None = None
    params: tuple[Param, ...] = ()
    takes_more: bool = False
    is_callable: bool = True
    is_chain: bool = False
    """Whether several of its commands may follow each other."""

    exclusive: tuple[Exclusion, ...] = ()
    aliases: tuple[str, ...] = ()
    commands: tuple[Command, ...] = ()


class Distribution(Struct, frozen=True, kw_only=True):
    """The metadata of the distribution that has the program."""

    version: str | None
    summary: str | None
    homepage: str | None
    links: dict[str, str]
    """Label, in lower case, to URL."""


class Program(Struct, frozen=True, kw_only=True):
    """A program as the reader prints it."""

    root: Command
    name: str
    module: str
    program: str | None
    distribution: Distribution | None
    left_out: tuple[tuple[str, str], ...] = ()
    """The words of commands that cannot be read, each with the reason."""
