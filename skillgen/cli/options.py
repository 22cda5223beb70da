"""Derives the options of a command from the classes of `config.project`, SOURCE among them, and runs the command.

If the annotation of a command's parameter is such a class, typer sees the options of the class in its place, and the
command gets an object of the class.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin, get_type_hints

import typer
from msgspec import Struct, structs
from typer.core import TyperCommand

from skillgen.cli.output import Console, can_ask, failed_json
from skillgen.config.convert import LEAST, MOST, Converter, error_of_argument
from skillgen.config.option import Option, Options, PathName, options_in
from skillgen.config.project import SOURCE_KINDS, Run, Source, Texts
from skillgen.errors import ExitCode, SkillgenError, UsageError, raise_all
from skillgen.text.markdown import one_line

if TYPE_CHECKING:
    from skillgen.pipeline.build import NamedTarget
    from skillgen.pipeline.results import Reading, Request


HEADER_VARIABLE = re.compile(r"(?P<scheme>[A-Za-z][\w-]*[ \t]+)?env:(?P<name>\S*)")


def _parse_env(entries: Iterable[str]) -> dict[str, str]:
    """Parses `--env`: `KEY=VALUE`, or `KEY` for its value in this environment."""
    values = {}
    for entry in entries:
        name, equals, value = entry.partition("=")
        if not name:
            raise UsageError("an entry has no name", where="--env", fix="write --env KEY=VALUE or --env KEY")
        values[name] = value if equals else _variable(name, "--env")
    return values


def _parse_headers(entries: Iterable[str]) -> dict[str, str]:
    """Parses `--header`: `NAME: VALUE`; the value may be `env:VARIABLE`, also after a scheme (`Bearer env:TOKEN`).

    Values of one header are joined (RFC 9110, 5.3; cookies: RFC 6265, 5.4).
    """
    headers: dict[str, str] = {}
    for entry in entries:
        name, _, value = map(str.strip, entry.partition(":"))
        if not name or not value:
            what = "a header is not of the form 'NAME: VALUE'"
            raise UsageError(what, where="--header", fix="write --header 'NAME: VALUE'")
        if variable := HEADER_VARIABLE.fullmatch(value):
            value = (variable["scheme"] or "") + _variable(variable["name"], "--header")
        separator = "; " if name.lower() == "cookie" else ", "
        headers[name] = f"{headers[name]}{separator}{value}" if name in headers else value
    return headers


def _parse_secret(entry: str) -> str:
    """Parses `--client-secret`, which must name a variable: other users of the machine can see command lines."""
    prefix, _, variable = entry.partition(":")
    if prefix != "env" or not variable:
        what = "the secret is not of the form env:VARIABLE"
        raise UsageError(what, where="--client-secret", fix="put it into a variable")
    return _variable(variable, "--client-secret")


def _pair(entry: str, parts: tuple[str, str, str], flag: str, form: str) -> tuple[str, str]:
    key, _, value = parts
    if not key or not value.strip():
        raise UsageError(f"{entry!r} is not of the form {form}", where=flag, fix=f"write {flag} {form}")
    return key, value.strip()


def _variable(name: str, option: str) -> str:
    if name not in os.environ:
        from skillgen.security.secrets import is_made_of_words

        shown = name if is_made_of_words(name) else "NAME"  # the user may have written the secret without its name
        raise UsageError(f"{shown} is not set in this environment", where=option, fix=f"set {shown}")
    return os.environ[name]


_PARSERS: dict[str, Callable[[Any], Any]] = {
    "env": _parse_env,
    "headers": _parse_headers,
    "client_secret": _parse_secret,
    "publish": lambda entries: dict(_pair(each, each.partition("="), "--publish", "KEY=VALUE") for each in entries),
    "tools": lambda entries: {
        tool: {"effect": effect}
        for tool, effect in (_pair(each, each.rpartition("="), "--effect", "TOOL=EFFECT") for each in entries)
    },
}
"""Options whose value has another syntax on the command line than in the project file."""


class OptionsOf(Struct, frozen=True, kw_only=True):
    """The options that replace a parameter of a command."""

    classes: tuple[type[Options], ...]
    kinds: Collection[str] = ()
    """The kinds of source that the command reads; options of other kinds are not among them."""

    only: Collection[str] = ()
    """The names of the options, if they are not all."""

    without: Collection[str] = ()
    """The names of options that are not among them."""

    is_partial: bool = False
    """Whether the command gets a mapping of the options that are given, not an object."""

    has_defaults: bool = True
    """Whether an option that is not given has its default."""

    def options(self) -> list[Option]:
        """Returns the options."""
        return [item for cls in self.classes for item in options_in(cls) if item.flag and self._has(item)]

    def _has(self, item: Option) -> bool:
        kinds = (item.name,) if item.is_kind else item.kinds
        is_chosen = (not self.only or item.name in self.only) and item.name not in self.without
        return is_chosen and (not kinds or bool(set(kinds) & set(self.kinds)))

    def parameters(self, kinds: Collection[str]) -> list[inspect.Parameter]:
        """Returns the options for typer; `kinds` are the kinds of source that the command reads."""
        return [_parameter(item, kinds, shows_default=self.has_defaults) for item in self.options()]

    def take(self, values: dict[str, Any], errors: list[UsageError]) -> Any:
        """Takes the values of the options from those of the command; adds what is invalid to `errors`."""
        converter, given = Converter(), {}
        for item in self.options():
            value = values.pop(item.name)
            if value not in (None, False, []):
                try:
                    value = _PARSERS[item.name](value) if item.name in _PARSERS else value
                except UsageError as error:
                    errors.append(error)
                else:
                    given[item.name] = converter.convert(item.type, value, (item.flag or "",), item)
        errors += map(error_of_argument, converter.faults)
        return given if self.is_partial or errors else self.classes[0](**given)


_KEYWORD = inspect.Parameter.KEYWORD_ONLY


def _parameter(item: Option, kinds: Collection[str], *, shows_default: bool) -> inspect.Parameter:
    kind: Any = str
    default: Any = None
    also = [text for name, text in item.also.items() if name in kinds]
    help_text = " ".join(filter(None, (item.help, item.usage, *also)))
    if item.type is bool:
        kind, default = bool, False
    elif item.type in (float, int):
        kind = item.type
    elif item.type is not str and not item.is_comma_separated and not (item.is_command and item.is_kind):
        kind, help_text = list[str], f"{help_text} Repeatable."
    if shows_default and isinstance(item.default, (str, float, int, tuple)) and item.default:
        default = ",".join(item.default) if isinstance(item.default, tuple) else item.default
    least, most = {float: (0.1, 86_400), int: (LEAST, MOST)}.get(kind, (None, None))
    names, metavar = filter(None, (item.short, item.flag)), None if kind is bool else item.metavar
    declaration = typer.Option(*names, help=help_text, metavar=metavar, min=least, max=most, rich_help_panel=item.panel)
    annotation: Any = Annotated[kind if default is not None else kind | None, declaration]
    return inspect.Parameter(item.name, _KEYWORD, default=default, annotation=annotation)


def _options_of(annotation: Any) -> OptionsOf | None:
    if get_origin(annotation) is Annotated:
        return next((item for item in get_args(annotation) if isinstance(item, OptionsOf)), None)
    is_group = isinstance(annotation, type) and issubclass(annotation, Options)
    return OptionsOf(classes=(annotation,)) if is_group else None


PANELS = ("Arguments", "Source", "Texts", "Output", "Safety", "Report")
"""The order in which help lists options."""


class PanelCommand(TyperCommand):
    """A command whose help lists its options in panels, and whose options have one value, or are repeatable."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parses the arguments.

        Raises:
            UsageError: an option that has one value is given twice, so that the first value would not count.
        """
        *_, given = self.make_parser(ctx).parse_args(args=[*args])
        for param in given:
            if given.count(param) > 1 and not (param.multiple or getattr(param, "is_flag", True)):
                raise UsageError("is given more than once", where=param.opts[-1], fix="give it once")
        return super().parse_args(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Writes the options by panel."""
        panels: dict[str, list[tuple[str, str]]] = {title: [] for title in PANELS}
        for param in self.get_params(ctx):
            if (record := param.get_help_record(ctx)) is not None:
                default = "Arguments" if param.param_type_name == "argument" else "Report"
                panel = getattr(param, "rich_help_panel", None) or ("Report" if param.name == "help" else default)
                panels[panel].append(record)
        for title, records in panels.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


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
        self._groups = {key: group for key, hint in hints.items() if (group := _options_of(hint)) is not None}
        kinds = {kind for group in self._groups.values() for kind in group.kinds}
        parameters: list[inspect.Parameter] = []
        for key, parameter in inspect.signature(self._function).parameters.items():
            if key in self._groups:
                parameters += self._groups[key].parameters(kinds)
            else:
                parameters.append(parameter.replace(annotation=hints[key]))
        self.__signature__ = inspect.Signature(parameters)
        self.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return self.__dict__[name]

    def __call__(self, **values: Any) -> ExitCode:
        errors = list[UsageError]()
        taken = {name: group.take(values, errors) for name, group in self._groups.items()}
        raise_all(errors)
        return self._function(**values, **taken)


def command(
    function: Callable[..., ExitCode], *, failed_json: Callable[[SkillgenError], str] = failed_json
) -> Callable[..., ExitCode]:
    """Decorates a command, which takes options and returns the exit code.

    `failed_json` returns the `--json` report of a run that a fatal error stopped.
    """
    return _Command(function, failed_json)


class Given(Struct, frozen=True, kw_only=True):
    """The sources of a command line."""

    words: Sequence[str] = ()
    """Each SOURCE."""

    options: Source
    """The options of sources; one of them may name a source too."""

    values: Mapping[str, Any] = {}
    """Those options that are given, with their values."""

    target: str | None = None
    project: PathName | None = None

    @property
    def is_empty(self) -> bool:
        """True if there is no source."""
        return not self.has_source and self.target is None

    @property
    def has_source(self) -> bool:
        """True if there is a source that is not a target."""
        return bool(self.words or self.options.kinds)

    def requests(self, texts: Mapping[str, Any] = {}, **details: Any) -> Iterator[tuple[str | None, Request]]:
        """Yields each SOURCE with the request to read it, then those of the options, with `None`.

        `texts` are options of `Texts` that are given, and `details` fields of the request.

        Raises:
            UsageError: there is no source, an option has no effect, or there is no such target.
        """
        from skillgen.pipeline.read import kind_of_source, refuse_useless_options
        from skillgen.pipeline.results import Request

        if self.is_empty:
            fix = "give a file, a URL, MODULE:APP or --target NAME; or a server: --url URL or -- COMMAND"
            raise UsageError("no source is given", fix=fix)
        if self.target is not None and self.has_source:
            raise UsageError("several sources are given", where="--target", fix="give the target or the source")
        if self.target is not None:
            ((_, request),) = self.targets()
            yield None, replace(request, texts=structs.replace(request.texts, **texts), **details)
            return
        if self.project is not None:
            raise UsageError("has no effect without --target", where="--project", fix="add --target NAME")
        details["texts"], kinds = Texts(**texts), [kind_of_source(word) for word in self.words]
        # An option may concern the documents, the server, or both.
        refuse_useless_options(self.options, [*kinds, *([self.options.kind] if self.options.kinds else [])])
        for word, kind in zip(self.words, kinds, strict=True):
            yield word, Request(source=self.options.for_kind(kind, word), **details)
        if self.options.kinds:
            kind = self.options.kind
            yield None, Request(source=self.options.for_kind(kind, getattr(self.options, kind)), **details)

    def request(self, **details: Any) -> Request:
        """Returns the request to read the only source.

        Raises:
            UsageError: there is no source, or there are several.
        """
        first, *others = [request for _, request in self.requests(**details)]
        if others:
            raise UsageError("several sources are given", fix="give one: a file, a URL, or a server")
        return first

    def targets(self) -> Iterator[tuple[NamedTarget, Request]]:
        """Yields the target of the project file, or each without --target, with the request to read it.

        Raises:
            UsageError: there is no such target, or no such file.
        """
        from skillgen.pipeline.build import request_of_target
        from skillgen.sources.mcp.session import CancelToken

        for named in self.named_targets():
            yield named, request_of_target(named, os.environ, Console().say, CancelToken())

    def named_targets(self) -> Sequence[NamedTarget]:
        """Returns the target of the project file, or each without --target, with the options of the run.

        Raises:
            UsageError: there is no such target, or no such file.
        """
        from skillgen.config.loader import project_file, read_project
        from skillgen.pipeline.build import resolve_targets

        file = project_file(self.project)
        return resolve_targets(read_project(file).targets, file, self.target, self.values)


class GivenOf(OptionsOf, frozen=True, kw_only=True):
    """SOURCE and the options of sources, which replace a parameter of a command."""

    argument: Any = None
    """The declaration of SOURCE for typer; `None` if the command reads it among other words."""

    def parameters(self, kinds: Collection[str]) -> list[inspect.Parameter]:
        """Returns SOURCE, the command of a server and the options for typer."""
        own = {"context": typer.Context} | ({} if self.argument is None else {"words": self.argument})
        added = [inspect.Parameter(name, _KEYWORD, default=None, annotation=kind) for name, kind in own.items()]
        return [*added, *super().parameters(kinds)]

    def take(self, values: dict[str, Any], errors: list[UsageError]) -> Given:
        """Takes the sources from the values of the command."""
        words = values.pop("words", None) or ()
        given = OptionsOf.take(structs.replace(self, is_partial=True), values, errors)
        named = {"target": given.pop("target", None), "project": given.pop("project", None)}
        words = (words,) if isinstance(words, str) else words
        return Given(words=words, options=Source(command=values.pop("context").obj, **given), values=given, **named)


_SOURCE_HELP = (
    "File or URL of a description, a snapshot, a service manifest or a client's servers; MODULE:APP of a program; or - "
    "for standard input."
)

_ONE = Annotated[str | None, typer.Argument(metavar="[SOURCE] [-- COMMAND [ARG]...]", help=_SOURCE_HELP)]
_MANY = Annotated[list[str] | None, typer.Argument(metavar="[SOURCE]... [-- COMMAND [ARG]...]", help=_SOURCE_HELP)]

SOURCE = GivenOf(classes=(Run, Source), kinds=SOURCE_KINDS, without=("draft", "json"), argument=_ONE)
"""One SOURCE, in all its forms."""

SOURCES = structs.replace(SOURCE, argument=_MANY)
"""Any number of them."""


def read(request: Request, console: Console) -> Reading:
    """Reads a source, and shows what is done.

    Raises:
        SourceError: it cannot be reached or read.
        UsageError: an option is invalid.
    """
    from skillgen.pipeline.read import read_source

    def confirm(issuer: str) -> bool:
        return typer.confirm(f"Send the client secret to the authorization server {one_line(issuer)}?", err=True)

    with console.progress(f"reading the {request.source.kind.replace('_', ' ')}") as progress:
        # The user must see the URL to log in at, even with --quiet.
        asked = confirm if can_ask() else None
        return read_source(replace(request, progress=progress, announce=Console().say, confirm=asked))
