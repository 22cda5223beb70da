"""SOURCE, which every command takes in the same forms, and reading it."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer
from msgspec import Struct, structs

from skillgen.cli.options import OptionsOf
from skillgen.cli.output import Console
from skillgen.config.option import PathName, options_in
from skillgen.config.project import SOURCE_KINDS, Run, Source
from skillgen.errors import UsageError
from skillgen.text.markdown import one_line

if TYPE_CHECKING:
    from skillgen.pipeline.build import NamedTarget
    from skillgen.pipeline.request import Reading, Request


class Given(Struct, frozen=True, kw_only=True):
    """The sources of a command line."""

    words: Sequence[str] = ()
    """Each SOURCE."""

    options: Source
    """The options of sources; one of them may name a source too."""

    target: str | None = None
    project: PathName | None = None

    @property
    def is_empty(self) -> bool:
        """True if there is no source."""
        return not self.has_source and self.target is None

    @property
    def has_source(self) -> bool:
        """True if there is a source that is not a target."""
        return bool(self.words) or self._is_named

    @property
    def _is_named(self) -> bool:
        return any(getattr(self.options, kind) for kind in SOURCE_KINDS)

    def requests(self, **details: Any) -> Iterator[tuple[str | None, Request]]:
        """Yields each SOURCE with the request to read it, then those of the options, with `None`.

        Raises:
            UsageError: there is no source, an option has no effect, or there is no such target.
        """
        from skillgen.pipeline.read import kind_of_source, refuse_useless_options
        from skillgen.pipeline.request import Request

        if self.is_empty:
            fix = "give a file, a URL, MODULE:APP or --target NAME; or a server: --url URL or -- COMMAND"
            raise UsageError("no source is given", fix=fix)
        if self.target is not None and self.has_source:
            raise UsageError("several sources are given", where="--target", fix="give the target or the source")
        if self.target is not None:
            ((_, request),) = self.targets()
            yield None, replace(request, **{name: value for name, value in details.items() if name != "texts"})
            return
        kinds = [kind_of_source(word) for word in self.words]
        # An option may concern the documents, the server, or both.
        refuse_useless_options(self.options, [*kinds, *([self.options.kind] if self._is_named else [])])
        for word, kind in zip(self.words, kinds, strict=True):
            yield word, Request(source=self.options.for_kind(kind, word), **details)
        if self._is_named:
            kind = self.options.kind
            yield None, Request(source=self.options.for_kind(kind, getattr(self.options, kind)), **details)

    def request(self, **details: Any) -> Request:
        """Returns the request to read the only source.

        Raises:
            UsageError: there is no source, or there are several.
        """
        requests = [request for _, request in self.requests(**details)]
        if len(requests) != 1:
            raise UsageError("several sources are given", fix="give one: a file, a URL, or a server")
        return requests[0]

    def targets(self) -> Iterator[tuple[NamedTarget, Request]]:
        """Yields the target of the project file, or each without --target, with the request to read it.

        Raises:
            UsageError: there is no such target, or no such file.
        """
        from skillgen.config.loader import project_file, read_project
        from skillgen.pipeline.build import request_of_target, resolve_targets
        from skillgen.sources.mcp.session import CancelToken

        file = project_file(self.project)
        values = {item.name: getattr(self.options, item.name) for item in options_in(Source)}
        given = {item.name: value for item in options_in(Source) if (value := values[item.name]) != item.default}
        for named in resolve_targets(read_project(file).targets, file, self.target, given):
            yield named, request_of_target(named, os.environ, Console().say, CancelToken())


class GivenOf(OptionsOf, frozen=True, kw_only=True):
    """SOURCE and the options of sources, which replace a parameter of a command."""

    argument: Any = None
    """The declaration of SOURCE for typer; `None` if the command reads it among other words."""

    def parameters(self, kinds: Collection[str]) -> list[inspect.Parameter]:
        """Returns SOURCE, the command of a server and the options for typer."""
        own = {"context": typer.Context} | ({} if self.argument is None else {"words": self.argument})
        keyword = inspect.Parameter.KEYWORD_ONLY
        added = [inspect.Parameter(name, keyword, default=None, annotation=kind) for name, kind in own.items()]
        return [*added, *super().parameters(kinds)]

    def take(self, values: dict[str, Any]) -> Given:
        """Takes the sources from the values of the command."""
        words = values.pop("words", None) or ()
        given = OptionsOf.take(structs.replace(self, is_partial=True), values)
        named = {"target": given.pop("target", None), "project": given.pop("project", None)}
        source = Source(command=values.pop("context").obj, **given)
        return Given(words=(words,) if isinstance(words, str) else words, options=source, **named)


_SOURCE_HELP = (
    "File or URL of a description, a snapshot, a service manifest or a client's servers; MODULE:APP of a program; or - "
    "for standard input."
)

SOURCE = GivenOf(
    classes=(Run, Source),
    kinds=SOURCE_KINDS,
    without=("draft", "json"),
    argument=Annotated[str | None, typer.Argument(metavar="[SOURCE] [-- COMMAND [ARG]...]", help=_SOURCE_HELP)],
)
"""One SOURCE, in all its forms."""

SOURCES = structs.replace(
    SOURCE,
    argument=Annotated[
        list[str] | None, typer.Argument(metavar="[SOURCE]... [-- COMMAND [ARG]...]", help=_SOURCE_HELP)
    ],
)
"""Any number of them."""


def read(request: Request, console: Console) -> Reading:
    """Reads a source, and shows what is done.

    Raises:
        SourceError: it cannot be reached or read.
        UsageError: an option is invalid.
    """
    from skillgen.pipeline.read import read_source

    with console.progress(f"reading the {request.source.kind.replace('_', ' ')}") as progress:
        return read_source(
            replace(
                request,
                progress=progress,
                # The user must see the URL to log in at, even with --quiet.
                announce=Console().say,
                confirm=_confirm_sending_secret if sys.stdin.isatty() and sys.stderr.isatty() else None,
            )
        )


def _confirm_sending_secret(issuer: str) -> bool:
    return typer.confirm(f"Send the client secret to the authorization server {one_line(issuer)}?", err=True)
