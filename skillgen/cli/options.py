"""Derives the options of a command from the classes of `config.project`, and runs the command.

If the annotation of a command's parameter is such a class, typer sees the options of the class in its place, and the
command gets an object of the class.
"""

from __future__ import annotations

import functools
import inspect
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import Field, dataclass, is_dataclass
from typing import Annotated, Any, TypeAlias, get_args, get_origin, get_type_hints

import typer

from skillgen.cli.output import Console, failed_json, run_command
from skillgen.config.project import Publish, flag_of, keys_in, option_of, options_in
from skillgen.errors import ExitCode, SkillgenError, UsageError

AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print a JSON report to standard output.")]

Sources: TypeAlias = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[SOURCE]... [-- COMMAND [ARG]...]", help="OpenAPI descriptions, service manifests or snapshots."
    ),
]

Program: TypeAlias = Annotated[
    str | None, typer.Option("--cli", metavar="MODULE:APP", help="Command-line program, as of from-cli.")
]
ProgramCommand: TypeAlias = Annotated[
    str | None,
    typer.Option("--cli-command", metavar="NAME", help="Any other command-line program, read from its help."),
]

_HEADER_VARIABLE = re.compile(r"(?P<scheme>[A-Za-z][\w-]*[ \t]+)?env:(?P<name>\S*)")


def parse_env(entries: Iterable[str] | None) -> dict[str, str]:
    """Parses `--env`: `KEY=VALUE`, or `KEY` for its value in this environment.

    Raises:
        UsageError: a variable is not set, or an entry has no name.
    """
    values = {}
    for entry in entries or ():
        name, equals, value = entry.partition("=")
        if not name:
            raise UsageError("an entry has no name", where="--env", fix="write --env KEY=VALUE or --env KEY")
        values[name] = value if equals else _variable(name, "--env", or_else=", or {name}=…")
    return values


def parse_headers(entries: Iterable[str] | None) -> tuple[tuple[str, str], ...]:
    """Parses `--header`: `NAME: VALUE`; the value may be `env:VARIABLE`, also after a scheme (`Bearer env:TOKEN`).

    Raises:
        UsageError: an entry does not have that form, or the variable is not set.
    """
    headers = []
    for entry in entries or ():
        name, colon, value = entry.partition(":")
        name, value = name.strip(), value.strip()
        if not colon or not name or not value:
            raise UsageError(
                "a header is not of the form 'NAME: VALUE'", where="--header", fix="write --header 'NAME: VALUE'"
            )
        if variable := _HEADER_VARIABLE.fullmatch(value):
            value = (variable["scheme"] or "") + _variable(variable["name"], "--header")
        headers.append((name, value))
    return tuple(headers)


def parse_secret(entry: str | None) -> str | None:
    """Parses `--client-secret`, which must name a variable: other users of the machine can see command lines.

    Raises:
        UsageError: it does not name a variable, or the variable is not set.
    """
    if entry is None:
        return None
    prefix, _, variable = entry.partition(":")
    if prefix != "env" or not variable:
        raise UsageError(
            "the secret is not of the form env:VARIABLE", where="--client-secret", fix="put it into a variable"
        )
    return _variable(variable, "--client-secret")


def parse_publish(entries: Iterable[str]) -> Publish:
    """Parses `--publish`: `KEY=VALUE`.

    Raises:
        UsageError: an entry does not have that form, or the key is unknown.
    """
    keys = keys_in(Publish)
    values = {}
    for entry in entries:
        key, equals, value = entry.partition("=")
        if key not in keys or not equals or not value.strip():
            fix = f"write KEY=VALUE with a key of {', '.join(keys)}"
            raise UsageError(f"{entry!r} has no known key", where="--publish", fix=fix)
        values[keys[key].name] = value.strip()
    return Publish(**values)


def _variable(name: str, option: str, *, or_else: str = "") -> str:
    if name not in os.environ:
        from skillgen.security.secrets import is_made_of_words

        shown = name if is_made_of_words(name) else "NAME"  # the user may have written the secret without its name
        raise UsageError(
            f"{shown} is not set in this environment", where=option, fix="set it" + or_else.format(name=shown)
        )
    return os.environ[name]


def _joined_headers(entries: Iterable[str]) -> dict[str, str]:
    """Parses `--header`; values of one header are joined (RFC 9110, 5.3; cookies: RFC 6265, 5.4)."""
    headers: dict[str, str] = {}
    for name, value in parse_headers(entries):
        separator = "; " if name.lower() == "cookie" else ", "
        headers[name] = f"{headers[name]}{separator}{value}" if name in headers else value
    return headers


_PARSERS: dict[str, Callable[[Any], Any]] = {
    "env": parse_env,
    "headers": _joined_headers,
    "client_secret": parse_secret,
    "publish": parse_publish,
}
"""Options whose value has another syntax on the command line than in the project file."""


@dataclass(frozen=True, slots=True)
class OptionsOf:
    """The options that replace a parameter of a command."""

    classes: tuple[type[Any], ...]
    kinds: Collection[str] = ()
    """The kinds of source that the command reads; options of other kinds are not among them."""

    is_partial: bool = False
    """Whether the command gets a mapping of the options that are given, not an object."""

    def fields(self) -> list[Field[Any]]:
        """Returns the fields of the options."""
        return [item for cls in self.classes for item in options_in(cls) if flag_of(item) and self._has(item)]

    def _has(self, item: Field[Any]) -> bool:
        option = option_of(item)
        kinds = (item.name,) if option.is_kind else option.kinds
        return not kinds or bool(set(kinds) & set(self.kinds))

    @functools.cache  # noqa: B019 - commands share a few objects, which live as long as the program
    def parameters(self) -> list[inspect.Parameter]:
        """Returns the options for typer."""
        hints = {name: hint for cls in self.classes for name, hint in get_type_hints(cls).items()}
        return [_parameter(item, hints[item.name], shows_default=not self.is_partial) for item in self.fields()]

    def take(self, values: dict[str, Any]) -> Any:
        """Takes the values of the options from those of the command.

        Raises:
            UsageError: a value has the wrong syntax.
        """
        raw = {item.name: values.pop(item.name) for item in self.fields()}
        given = {
            name: _PARSERS[name](value) if name in _PARSERS else value
            for name, value in raw.items()
            if value is not None and value is not False and value != []
        }
        return given if self.is_partial else self.classes[0](**given)


def _parameter(item: Field[Any], hint: Any, *, shows_default: bool) -> inspect.Parameter:
    option = option_of(item)
    kind: Any = str
    default: Any = None
    help_text = f"{option.help} {option.usage}".rstrip()
    if hint is bool:
        kind, default = bool, False
    elif hint is float:
        kind = float
    elif is_dataclass(hint) or (get_origin(hint) in (Sequence, Mapping) and not option.is_comma_separated):
        kind, help_text = list[str], f"{help_text} Repeatable."
    if shows_default and hint is not bool and isinstance(item.default, (str, float, tuple)) and item.default:
        default = ",".join(item.default) if isinstance(item.default, tuple) else item.default
    names = [option.short, flag_of(item)] if option.short else [flag_of(item)]
    declaration = typer.Option(
        *names,
        help=help_text,
        metavar=None if kind is bool else option.metavar,
        min=0.1 if kind is float else None,
        max=86_400 if kind is float else None,
    )
    return inspect.Parameter(
        item.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind if default is not None else kind | None, declaration],
    )


def _options_of(annotation: Any) -> OptionsOf | None:
    if get_origin(annotation) is Annotated:
        return next((item for item in get_args(annotation) if isinstance(item, OptionsOf)), None)
    is_group = is_dataclass(annotation) and isinstance(annotation, type) and bool(options_in(annotation))
    return OptionsOf((annotation,)) if is_group else None


class _Command:
    """A command as typer takes it. Its options are derived when typer asks for them: most commands are not run."""

    def __init__(self, function: Callable[..., ExitCode], failed_json: Callable[[SkillgenError], str]) -> None:
        self._function = function
        self.failed_json = failed_json
        self._groups: dict[str, OptionsOf] = {}
        self.__name__, self.__doc__, self.__module__ = function.__name__, function.__doc__, function.__module__

    def __getattr__(self, name: str) -> Any:
        if name not in ("__signature__", "__annotations__"):
            raise AttributeError(name)
        hints = get_type_hints(self._function, include_extras=True)
        parameters: list[inspect.Parameter] = []
        for key, parameter in inspect.signature(self._function).parameters.items():
            if (group := _options_of(hints[key])) is not None:
                self._groups[key] = group
                parameters += group.parameters()
            else:
                parameters.append(parameter.replace(annotation=hints[key]))
        self.__signature__ = inspect.Signature(parameters)
        self.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return self.__dict__[name]

    def __call__(self, **values: Any) -> None:
        console: Console = self._groups["console"].take(values)

        def run() -> ExitCode:
            taken = {name: group.take(values) for name, group in self._groups.items() if name != "console"}
            return self._function(**values, **taken, console=console)

        run_command(run, console, failed_json=self.failed_json if values.get("as_json") else None)


def command(
    function: Callable[..., ExitCode], *, failed_json: Callable[[SkillgenError], str] = failed_json
) -> Callable[..., None]:
    """Decorates a command: it takes options, prints a fatal error as a message, and exits with the returned code.

    `failed_json` returns the `--json` report of a run that a fatal error stopped.
    """
    return _Command(function, failed_json)
