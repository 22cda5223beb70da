"""The public Python API: read a source, write its documents or check them, build a project.

`import skillgen` offers everything here; docs/api.md explains it. The command line is built on the same functions of
`pipeline`. A fatal error is a `SkillgenError`; a defect of a source is a value, in `problems`.
"""

from __future__ import annotations

import functools
import inspect
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass, replace
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

from skillgen.config.project import (
    NO_PUBLISH,
    LintOptions,
    OutputOptions,
    Publish,
    Source,
    Texts,
    command_words,
    flag_of,
    option_of,
    options_in,
)
from skillgen.errors import EditedError, ExitCode, OutputError, Problem, SkillgenError, SourceError, UsageError
from skillgen.lint.findings import Findings
from skillgen.model.auth import Endpoint
from skillgen.model.calls import Example, Output
from skillgen.model.document import DEFAULT_FORMATS, DEFAULT_PROFILE, Document
from skillgen.model.resource import Group, Prompt, Resource, Section
from skillgen.model.schema import NamedType, Parameter, Schema
from skillgen.model.service import Service
from skillgen.model.tool import Semantics, Tool
from skillgen.model.values import Origin, Value
from skillgen.pipeline.generate import File, Result, checked_output, publisher_of, write_documents
from skillgen.pipeline.read import Notify

__all__ = [
    "EditedError",
    "Endpoint",
    "Example",
    "ExitCode",
    "File",
    "Findings",
    "Group",
    "NamedType",
    "Origin",
    "Output",
    "OutputError",
    "Parameter",
    "Problem",
    "Prompt",
    "Resource",
    "Result",
    "Schema",
    "Section",
    "Semantics",
    "Service",
    "SkillgenError",
    "SourceError",
    "Tool",
    "UsageError",
    "Value",
    "build",
    "check",
    "generate",
    "lint_service",
    "read",
    "render_documents",
    "snapshot",
]

P = ParamSpec("P")
Answer = TypeVar("Answer")


def _takes(options: Callable[P, object]) -> Callable[[Callable[..., Answer]], Callable[P, Answer]]:
    """Decorates a function that takes options, which are declared once, as the fields of a class.

    The function receives the arguments that were given. An argument of a wrong type is a `UsageError`, and errors name
    arguments, not options of the command line.
    """
    signature = inspect.signature(options)

    def decorate(function: Callable[..., Answer]) -> Callable[P, Answer]:
        def name_arguments(error: SkillgenError) -> None:
            """Replaces the options of the command line that an error names by arguments, and `--help` by `help()`."""
            if error.where is not None and error.where.startswith("--"):
                error.where = _in_arguments(error.where, "", signature.parameters)
            error.what = _in_arguments(error.what, "=", signature.parameters)
            fix = error.fix.replace("--help", f"help(skillgen.{function.__name__})")
            error.fix = _in_arguments(fix, "=", signature.parameters)
            error.args = (error.what,)

        @functools.wraps(function)
        def call(*args: P.args, **given: P.kwargs) -> Answer:
            try:
                arguments = signature.bind(*args, **given).arguments
            except TypeError as error:
                raise TypeError(f"{function.__name__}() {error}") from None
            hints = _type_hints(options)
            try:
                answer = function(**{name: _checked(name, hints[name], value) for name, value in arguments.items()})
            except SkillgenError as error:
                name_arguments(error)
                raise
            for failure in answer.errors if isinstance(answer, Result) else ():
                name_arguments(failure)
            return answer

        call.__signature__ = signature  # type: ignore[attr-defined]
        return call

    return decorate


_type_hints = functools.cache(get_type_hints)

_OPTIONS = {item.name: item for options in (LintOptions, Source, Texts, OutputOptions) for item in options_in(options)}

_ARGUMENTS = {flag_of(item) or f"--{name.replace('_', '-')}": name for name, item in _OPTIONS.items()}
_ARGUMENTS |= {"--target": "target"}

_FLAG = re.compile(
    r"(?P<flag>--[a-z-]+)"
    r"(?P<value> (?P<variable>[^\s=]+)=(?P<text>\w+)| '(?P<header>[^':]+): (?P<content>[^']*)'| [A-Z_]+\b)?"
)
"""An option of the command line in a message, with its value: `--timeout SECONDS`, `--env NAME=VALUE`."""


def _in_arguments(text: str, mark: str, names: Collection[str]) -> str:
    """Returns a message with arguments in place of options; those not in `names` by their keys in skillgen.yaml."""
    if re.search(r"skillgen [a-z-]+ -", text):  # a command line
        return text

    def argument(match: re.Match[str]) -> str:
        name, value = _ARGUMENTS.get(match["flag"]), match["value"] or ""
        if name is None:
            return match[0]
        if name not in names:
            return f"`{name.replace('_', '-')}`{value}"
        if match["variable"] or match["header"]:
            value = str({match["variable"] or match["header"]: match["text"] or match["content"]})
        elif mark:
            value = ""
        return f"{name}{mark}{value}"

    return _FLAG.sub(argument, text.replace("-- COMMAND", f"command{mark}").replace(" after `--`", ""))


def _checked(name: str, hint: Any, value: Any) -> Any:
    """Returns the value of an argument, with its strings, paths and mappings in the form that its option has.

    Raises:
        UsageError: it is not of the type `hint`, or a number of seconds that is out of range.
    """
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    kind, origins = kinds[0], [get_origin(kind) for kind in kinds]
    option = option_of(_OPTIONS[name]) if name in _OPTIONS else None
    if kind is Value:
        return value if isinstance(value, Value) else Value(_checked(name, str | None, value))
    if value is None and NoneType in kinds:
        return None
    if kind is str:
        takes_path = os.PathLike in origins or (option is not None and (option.is_path or option.is_command))
        text = os.fspath(value) if takes_path and isinstance(value, os.PathLike) else value
        if isinstance(text, str) and "\0" in text:
            raise UsageError("holds a null character", where=name, fix="remove it")
        if isinstance(text, str) or (Mapping in origins and isinstance(value, Mapping)):
            return text
        raise _wrong(name, "a path, a URL or a mapping" if Mapping in origins else "a string", value)
    if origins[0] is Sequence:
        return _checked_list(name, value, is_command=option is not None and option.is_command)
    if origins[0] is Mapping or is_dataclass(kind):
        return _checked_mapping(name, kind, value)
    if kind is float:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= 86_400:
            raise UsageError("must be a number of seconds above 0", where=name, fix="pass a number, such as 30")
    elif origins[0] is Callable:
        if not callable(value):
            raise _wrong(name, "a function", value)
    elif not isinstance(value, kind):
        raise _wrong(name, "True or False" if kind is bool else f"a {kind.__name__}", value)
    return value


def _checked_list(name: str, value: Any, *, is_command: bool) -> Any:
    if isinstance(value, str) and is_command:
        value = command_words(value, name)
    if isinstance(value, (bytes, Mapping)) or not isinstance(value, Iterable):
        raise _wrong(name, "a list of strings", value)
    return value if isinstance(value, str) else tuple(_checked(name, str, item) for item in value)


def _checked_mapping(name: str, kind: Any, value: Any) -> Any:
    if is_dataclass(value):
        return value
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise _wrong(name, "a mapping with strings as keys", value)
    if get_origin(kind) is Mapping:
        return {key: _checked(f"{name}.{key}", get_args(kind)[1], item) for key, item in value.items()}
    hints = _type_hints(kind)
    if unknown := [key for key in value if key not in hints]:
        raise UsageError(f"no such key: {unknown[0]}", where=name, fix=f"choose from {', '.join(hints)}")
    return kind(**{key: _checked(f"{name}.{key}", hints[key], item) for key, item in value.items()})


def _wrong(name: str, expected: str, value: Any) -> UsageError:
    return UsageError(f"must be {expected}, not {type(value).__name__}", where=name, fix=f"pass {expected}")


@dataclass(frozen=True, kw_only=True)
class _Read(Source, Texts):
    source: str | os.PathLike[str] | Mapping[str, Any] | None = field(default=None, kw_only=False)
    notify: Notify | None = None


@dataclass(frozen=True, kw_only=True)
class _Write(OutputOptions):
    service: Service = field(kw_only=False)


@dataclass(frozen=True, kw_only=True)
class _Build(OutputOptions):
    config: str | os.PathLike[str] | None = field(default=None, kw_only=False)
    target: str | None = None
    timeout: float = 30.0
    notify: Notify | None = None


@_takes(_Read)
def read(**given: Any) -> Service:
    """Reads a service from one source.

    `source` is the path or URL of an OpenAPI description, a service manifest or a snapshot, the base URL of a service
    that publishes one, `-` for standard input, or such a document as a parsed mapping. An MCP server is given by
    `command` (over stdio), by `url` (over HTTP), or by `config` (a client configuration; `server` names one of its
    servers). The other options are those of the command line; values of `env` and `headers` are literal. `notify`
    receives messages for a person: progress, and the URL to log in at.

    Raises:
        SourceError: the source cannot be reached or read.
        UsageError: an option is invalid, no source or more than one is given, or the source has several services.
    """
    from skillgen.pipeline.read import Request, read_source

    options = _Read(**given)
    source = options if options.source is None else replace(options, document=options.source)
    request = Request(source=source, texts=options, announce=options.notify)
    reading = read_source(request if options.notify is None else replace(request, progress=options.notify))
    count = len(reading.services) + len(reading.failures)
    if count != 1:
        names = ", ".join(service.name for service in reading.services[:10])
        raise UsageError(f"the source has {count} services: {names}", fix="choose a server with server=")
    if reading.failures:
        raise reading.failures[0]
    return reading.services[0]


def snapshot(*services: Service) -> dict[str, Any]:
    """Returns services as a snapshot, which `read` takes: what `skillgen inspect` prints, as a mapping."""
    from skillgen.sources.documents import snapshot_of

    return snapshot_of(services)


@_takes(_Write)
def generate(**given: Any) -> Result:
    """Writes the documents of a service to the folder `out`. The options are those of the command line.

    Raises:
        EditedError: a file that would be overwritten was edited; nothing was written.
        OutputError: a file cannot be written.
        SourceError: the service lacks what its documents have, or has problems and `strict` is set.
        UsageError: an option or a template is invalid.
    """
    return _written(_Write(**given))


def _written(options: _Write) -> Result:
    result = write_documents([options.service], options)
    if result.errors:
        raise result.errors[0]
    return result


@_takes(_Write)
def check(**given: Any) -> Result:
    """Compares the documents in the folder `out` with those that `generate` would write. Writes nothing.

    `drift` of the result is true if they differ, and `diff` is the difference.

    Raises:
        OutputError: a file cannot be read.
        SourceError: the service lacks what its documents have, or has problems and `strict` is set.
        UsageError: an option or a template is invalid.
    """
    return _written(_Write(**{**given, "check": True}))


def _render_options(
    service: Service,
    *,
    emit: Sequence[str] = DEFAULT_FORMATS,
    profile: str = DEFAULT_PROFILE,
    publish: Publish = NO_PUBLISH,
    templates: str | os.PathLike[str] | None = None,
) -> _Write:
    return _Write(service=service, emit=emit, profile=profile, publish=publish, templates=templates)


@_takes(_render_options)
def render_documents(**given: Any) -> dict[str, str]:
    """Returns the documents of a service, path to text, without archives and other files that are named by digests.

    Reads and writes no documents.

    Raises:
        UsageError: an option or a template is invalid.
    """
    from skillgen.render import formats

    output = checked_output(_render_options(**given))
    folder = None if output.templates is None else Path(output.templates)
    documents, _ = formats.render_documents(
        output.service, tuple(output.emit), folder, output.profile, publisher_of(output)
    )
    return {document.path: document.text for document in documents if isinstance(document, Document)}


def _lint_options(
    service: Service,
    *,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    levels: Mapping[str, str] = {},
    baseline: str | os.PathLike[str] | None = None,
) -> LintOptions:
    return LintOptions(select=select, ignore=ignore, levels=levels, baseline=baseline)


@_takes(_lint_options)
def lint_service(**given: Any) -> Findings:
    """Returns what a service lacks, by the rules of `skillgen lint`. The options are those of the command line, and
    `levels` that of the project file, which is not read.

    Raises:
        UsageError: an option is invalid.
    """
    from skillgen.pipeline.lint import Linter

    service: Service = given["service"]
    return Linter(_lint_options(**given)).check(service, service.name)


@_takes(_Build)
def build(**given: Any) -> Result:
    """Builds every target of a project file, or only `target`; with `check`, writes nothing.

    `config` is the file; by default the `skillgen.yaml` of the current folder, else its `pyproject.toml`. The other
    options win over those of every target. A target that fails does not stop the others: `errors` of the result says
    why, and `exit_code` is what the command line would exit with.

    Raises:
        UsageError: the project file or an option is invalid.
    """
    from skillgen.config.loader import project_file, read_project
    from skillgen.pipeline.build import build_targets, prune_targets, resolve_targets

    options = _Build(**given)
    file = project_file(None if options.config is None else Path(options.config))
    values = {name: value for name, value in given.items() if name not in ("config", "target", "notify")}
    targets = resolve_targets(read_project(file).targets, file, options.target, values)
    result = Result()
    for built in build_targets(targets, os.environ, options.notify):
        result = result.joined(built.result)
    return result if options.target is not None else result.joined(prune_targets(targets, result, options.out))
