"""The public Python API: read a source, write its documents or check them, build a project.

`import skillgen` offers everything here; docs/api.md explains it. The command line is built on the same functions of
`pipeline`. A fatal error is a `SkillgenError`; a defect of a source is a value, in `problems`.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from skillgen.config.project import Output, Source, Texts
from skillgen.errors import EditedError, ExitCode, OutputError, Problem, SkillgenError, SourceError, UsageError
from skillgen.model.auth import Endpoint
from skillgen.model.calls import Example
from skillgen.model.document import DEFAULT_FORMATS, DEFAULT_PROFILE
from skillgen.model.resource import Group, Prompt, Resource, Section
from skillgen.model.schema import NamedType, Parameter, Schema
from skillgen.model.service import Service
from skillgen.model.tool import Semantics, Tool
from skillgen.model.values import Origin, Value
from skillgen.pipeline.generate import File, Result, checked_output, write_documents
from skillgen.pipeline.read import Notify

P = ParamSpec("P")
Options = TypeVar("Options")
Answer = TypeVar("Answer")


def _takes(
    options: Callable[P, Options],
) -> Callable[[Callable[[Options, Mapping[str, Any]], Answer]], Callable[P, Answer]]:
    """Decorates a function of options, which are declared once, as the fields of a class: it gets their values as its
    own arguments.

    The function receives an object of the class, and the keyword arguments that were given.
    """

    def decorate(function: Callable[[Options, Mapping[str, Any]], Answer]) -> Callable[P, Answer]:
        @functools.wraps(function)
        def call(*args: P.args, **given: P.kwargs) -> Answer:
            return function(options(*args, **given), given)

        call.__signature__ = inspect.signature(options)  # type: ignore[attr-defined]
        return call

    return decorate


@dataclass(frozen=True, kw_only=True)
class _Read(Source, Texts):
    source: str | os.PathLike[str] | Mapping[str, Any] | None = field(default=None, kw_only=False)
    notify: Notify | None = None


@dataclass(frozen=True, kw_only=True)
class _Write(Output):
    service: Service = field(kw_only=False)


@dataclass(frozen=True, kw_only=True)
class _Build(Output):
    config: str | os.PathLike[str] | None = field(default=None, kw_only=False)
    target: str | None = None
    timeout: float = 30.0
    notify: Notify | None = None


@_takes(_Read)
def read(options: _Read, given: Mapping[str, Any]) -> Service:
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


@_takes(_Write)
def generate(options: _Write, given: Mapping[str, Any]) -> Result:
    """Writes the documents of a service to the folder `out`. The options are those of the command line.

    Raises:
        EditedError: a file that would be overwritten was edited; nothing was written.
        OutputError: a file cannot be written.
        SourceError: the service lacks what its documents have, or has problems and `strict` is set.
        UsageError: an option or a template is invalid.
    """
    result = write_documents([options.service], options)
    if result.errors:
        raise result.errors[0]
    return result


@_takes(_Write)
def check(options: _Write, given: Mapping[str, Any]) -> Result:
    """Compares the documents in the folder `out` with those that `generate` would write. Writes nothing.

    `drift` of the result is true if they differ, and `diff` is the difference.

    Raises:
        OutputError: a file cannot be read.
        SourceError: the service lacks what its documents have, or has problems and `strict` is set.
        UsageError: an option or a template is invalid.
    """
    return generate(**{**given, "service": options.service, "check": True})


def render_documents(
    service: Service,
    *,
    emit: Sequence[str] = DEFAULT_FORMATS,
    profile: str = DEFAULT_PROFILE,
    templates: str | os.PathLike[str] | None = None,
) -> dict[str, str]:
    """Returns the documents of a service, path to text. Reads and writes no documents.

    Raises:
        UsageError: an option or a template is invalid.
    """
    from skillgen.render import formats

    output = checked_output(Output(emit=emit, profile=profile))
    folder = None if templates is None else Path(templates)
    documents = formats.render_documents(service, tuple(output.emit), folder, output.profile)
    return {document.path: document.text for document in documents}


@_takes(_Build)
def build(options: _Build, given: Mapping[str, Any]) -> Result:
    """Builds every target of a project file, or only `target`; with `check`, writes nothing.

    `config` is the file; by default the `skillgen.yaml` of the current folder, else its `pyproject.toml`. The other
    options win over those of every target. A target that fails does not stop the others: `errors` of the result says
    why, and `exit_code` is what the command line would exit with.

    Raises:
        UsageError: the project file or an option is invalid.
    """
    from skillgen.config.loader import project_file, read_project
    from skillgen.pipeline.build import build_targets, prune_targets, resolve_targets

    file = project_file(None if options.config is None else Path(options.config))
    values = {name: value for name, value in given.items() if name not in ("config", "target", "notify")}
    targets = resolve_targets(read_project(file).targets, file, options.target, values)
    result = Result()
    for built in build_targets(targets, os.environ, options.notify):
        result = result.joined(built.result)
    return result if options.target is not None else result.joined(prune_targets(targets, result, options.out))
