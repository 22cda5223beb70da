"""The public Python API: read a source, write its documents or check them, build a project.

`import skillgen` offers everything here; docs/api.md explains it. The command line is built on the same functions of
`pipeline`. A fatal error is a `SkillgenError`; a defect of a source is a value, in `problems`.
"""

from __future__ import annotations

import functools
import inspect
import json
import os
import re
from collections.abc import Callable, Collection, Mapping
from functools import partial, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from msgspec import structs

from skillgen.config.convert import Converter, as_key, error_of_argument, renamed
from skillgen.config.option import Option, Options, options_in, part_of
from skillgen.config.project import ALL_OPTIONS, DEFAULT_OUT, LintOptions, OutputOptions, Source, Texts
from skillgen.errors import (
    EditedError,
    ExitCode,
    OutputError,
    Problem,
    SkillgenError,
    SourceError,
    UsageError,
    raise_all,
)
from skillgen.infer.description import described
from skillgen.model.auth import Endpoint
from skillgen.model.calls import Example, Output
from skillgen.model.changes import ToolChange, compare_services
from skillgen.model.document import TEXTS_NAME, Document
from skillgen.model.resource import Group, Prompt, Resource, Section
from skillgen.model.schema import NamedType, Parameter, Schema
from skillgen.model.service import Service
from skillgen.model.tool import Semantics, Tool
from skillgen.model.values import Origin, Value
from skillgen.pipeline.generate import write_documents
from skillgen.pipeline.ownership import with_portable_source
from skillgen.pipeline.read import kind_of_source, read_source
from skillgen.pipeline.rendering import checked_output, documents_of
from skillgen.pipeline.results import File, Notify, Reading, Request, Result
from skillgen.rules.reports import Findings
from skillgen.sources.documents import snapshot_parts

__all__ = [
    "EditedError", "Endpoint", "Example", "ExitCode", "File", "Findings", "Group", "NamedType", "Origin", "Output",
    "OutputError", "Parameter", "Problem", "Prompt", "Resource", "Result", "Schema", "Section", "Semantics",
    "Service", "SkillgenError", "SourceError", "Tool", "ToolChange", "UsageError", "Value", "build", "check",
    "diff", "generate", "lint", "read", "render_documents", "snapshot",
]  # fmt: skip

P = ParamSpec("P")
Answer = TypeVar("Answer")

if TYPE_CHECKING:

    class _ReadOptions(Source, Texts, frozen=True, kw_only=True):
        notify: Notify | None = None

    class _Read(_ReadOptions, frozen=True):
        source: str | os.PathLike[str] | Mapping[str, Any] | None = None

    class _Write(OutputOptions, frozen=True):
        service: Service

    class _BuildOptions(OutputOptions, frozen=True, kw_only=True):
        target: str | None = None
        timeout: float = 30.0
        notify: Notify | None = None

    class _Build(_BuildOptions, frozen=True):
        project: str | os.PathLike[str] | None = None

    class _Lint(LintOptions, frozen=True):
        service: Service

else:
    _Read = _Write = _Build = _Lint = None  # layouts of structs cannot be combined: these are for type checkers

_OWN = {"source": ALL_OPTIONS["document"], **{name: ALL_OPTIONS[name] for name in ("project", "target", "timeout")}}
"""Arguments of functions that are not options of the same name."""


def _takes(
    arguments: Callable[P, object], *classes: type[Options], without: Collection[str] = ()
) -> Callable[[Callable[..., Answer]], Callable[P, Answer]]:
    """Decorates a function that takes options of these classes as keywords, in addition to its own parameters.

    The function receives the arguments that were given, converted. An argument of a wrong type is a `UsageError`, and
    errors name arguments, not options of the command line.
    """
    options = {item.name: item for cls in classes for item in options_in(cls) if item.name not in without}

    def decorate(function: Callable[..., Answer]) -> Callable[P, Answer]:
        own = [item for item in inspect.signature(function).parameters.values() if item.kind is not item.VAR_KEYWORD]
        new = partial(inspect.Parameter, kind=inspect.Parameter.KEYWORD_ONLY)
        keywords = [new(name, default=item.default, annotation=item.type) for name, item in options.items()]
        signature = inspect.Signature([*own, *keywords])

        def in_arguments(text: str) -> str:
            return renamed(text, partial(_argument, signature.parameters)).replace("-- COMMAND", "command=")

        def name_arguments(error: SkillgenError) -> None:
            """Replaces the options of the command line that an error names by arguments, and `--help` by `help()`."""
            if error.where is not None and error.where.startswith("--"):
                error.where = in_arguments(error.where).replace("=", "", 1)
            error.what = in_arguments(error.what)
            error.fix = in_arguments(error.fix.replace("--help", f"help(skillgen.{function.__name__})"))
            error.args = (error.what,)

        @functools.wraps(function)
        def call(*args: P.args, **given: P.kwargs) -> Answer:
            try:
                bound = signature.bind(*args, **given).arguments
            except TypeError as error:
                raise TypeError(f"{function.__name__}() {error}") from None
            try:
                answer = function(**_converted(bound, {**_OWN, **options}))
            except SkillgenError as error:
                name_arguments(error)
                raise
            for failure in answer.errors if isinstance(answer, Result) else ():
                name_arguments(failure)
            return answer

        call.__signature__ = signature  # type: ignore[attr-defined]
        return call

    return decorate


def _converted(given: Mapping[str, Any], options: Mapping[str, Option]) -> dict[str, Any]:
    """Returns arguments as their options are; `None` is a function or a service that is not given.

    Raises:
        UsageError: values are invalid.
    """
    converter, values = Converter(), dict(given)
    for name, value in given.items():
        if name in options:
            values[name] = converter.convert(options[name].type, value, (name,), options[name])
        elif name == "notify" and value is not None and not callable(value):
            converter.wrong((name,), "a function", value)
        elif name in ("service", "old", "new") and not isinstance(value, Service):
            converter.wrong((name,), "a Service", value)
    raise_all([*map(error_of_argument, converter.faults)])
    return values


def _argument(names: Collection[str], item: Option, match: re.Match[str]) -> str:
    """Returns an option as an argument; one that the function does not take as its key in the project file."""
    if item.name not in names:
        return as_key(item, match)
    variable = match["variable"] or match["header"]
    return f"{item.name}={ {variable: match['text'] or match['content']} if variable else '' }"


@_takes(_Read, Source, Texts)
def read(source: str | Mapping[str, Any] | None = None, *, notify: Notify | None = None, **options: Any) -> Service:
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
    kind = kind_of_source(source) if isinstance(source, str) else "document"
    given = options if source is None else {**options, "document" if kind in options else kind: source}
    progress = notify or (lambda message: None)
    texts = part_of(Texts, given)
    return read_source(Request(source=part_of(Source, given), texts=texts, announce=notify, progress=progress)).only


def snapshot(*services: Service) -> dict[str, Any]:
    """Returns services as a snapshot, which `read` takes: what `skillgen inspect` prints, as a mapping."""
    data: dict[str, Any] = json.loads("".join(snapshot_parts(map(with_portable_source, services))))
    return data


@_takes(_Write, OutputOptions)
def generate(service: Service, **options: Any) -> Result:
    """Writes the documents of a service to the folder `out`. The options are those of the command line.

    Raises:
        EditedError: a file that would be overwritten was edited; nothing was written.
        OutputError: a file cannot be written.
        SourceError: the service lacks what its documents have, or has problems and `strict` is set.
        UsageError: an option or a template is invalid.
    """
    return _written(service, options)


def _written(service: Service, options: Mapping[str, Any]) -> Result:
    if (file := Path(options.get("out") or DEFAULT_OUT, TEXTS_NAME)).is_file():
        raise UsageError("is read by commands only", where=str(file), fix="move it away, and pass its texts to read()")
    result = write_documents(Reading(services=(service,)), OutputOptions(**options))
    if result.errors:
        raise result.errors[0]
    return result


@_takes(_Write, OutputOptions, without=("check",))
def check(service: Service, **options: Any) -> Result:
    """Compares the documents in the folder `out` with those that `generate` would write. Writes nothing.

    `drift` of the result is true if they differ, and `diff` is the difference.

    Raises:
        OutputError: a file cannot be read.
        SourceError: the service lacks what its documents have, or has problems and `strict` is set.
        UsageError: an option or a template is invalid.
    """
    return _written(service, {**options, "check": True})


@_takes(_Write, OutputOptions)
def render_documents(service: Service, **options: Any) -> dict[str, str]:
    """Returns the documents of a service, path to text, without archives and other files that are named by digests.

    Of the options, those that concern the content count. Reads and writes no documents.

    Raises:
        UsageError: an option or a template is invalid.
    """
    documents = documents_of(described(service), checked_output(OutputOptions(**options)))
    return {path: text.decode() for path, text in documents.contents.items() if path not in documents.artifacts}


@_takes(_Lint, LintOptions)
def lint(service: Service, **options: Any) -> Findings:
    """Returns what a service lacks, by the rules of `skillgen lint`. The options are those of the command line and of
    `lint` in the project file, which is not read.

    Raises:
        UsageError: an option is invalid.
    """
    from skillgen.pipeline.lint import Linter

    return Linter(LintOptions(**options)).check(service, service.name).located()


def diff(old: Service, new: Service) -> tuple[ToolChange, ...]:
    """Returns what changed for callers between two readings of a service, breaking changes first."""
    return compare_services([old], [new])


@_takes(_Build, OutputOptions)
def build(
    project: str | None = None,
    *,
    target: str | None = None,
    timeout: float | None = None,
    notify: Notify | None = None,
    **options: Any,
) -> Result:
    """Builds every target of a project file, or only `target`; with `check`, writes nothing.

    `project` is the file; by default the `skillgen.yaml` of the current folder. The other
    options win over those of every target. A target that fails does not stop the others: `errors` of the result says
    why, and `exit_code` is what the command line would exit with.

    Raises:
        UsageError: the project file or an option is invalid.
    """
    from skillgen.config.loader import project_file, read_project
    from skillgen.pipeline.build import build_targets, resolve_targets

    file = project_file(project)
    given = options if timeout is None else {**options, "timeout": timeout}
    targets = resolve_targets(read_project(file).targets, file, target, given)
    return reduce(Result.joined, (result for *_, result in build_targets(targets, os.environ, notify)), Result())
