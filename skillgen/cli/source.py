"""SOURCE, which every command takes in the same forms, and reading it."""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from msgspec import Struct, structs

from skillgen.cli.options import HEADER_VARIABLE, OptionsOf, run_with
from skillgen.cli.output import Console, full_place, result_json, show_result
from skillgen.config.option import Option, PathName, options_in, part_of
from skillgen.config.project import DEFAULT_OUT, SOURCE_KINDS, TEXTS_NAME, OutputOptions, Run, Source, Texts
from skillgen.errors import ExitCode, SourceError, UsageError
from skillgen.text.markdown import one_line

if TYPE_CHECKING:
    from skillgen.pipeline.build import NamedTarget
    from skillgen.pipeline.read import Reading, Request
    from skillgen.pipeline.results import Outcome, Result
    from skillgen.write.record import Run as Recorded


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
        from skillgen.pipeline.read import Request, kind_of_source, refuse_useless_options

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


_OF_ONE_RUN = ("out", "check", "force", "replace", "allow_empty", "draft", "json", "quiet", "verbose", "debug")
"""Options that `skillgen update` does not repeat."""


def _recorded(context: typer.Context) -> Recorded:
    """Returns a command line as the record of its documents has it: no secret, but the names of variables."""
    from skillgen.security.secrets import published_url, secrets_from_arguments
    from skillgen.write.record import Run as Recorded

    words, lacks, arguments = [str(context.info_name)], list[str](), list[str]()
    for item in context.command.params:
        source = context.get_parameter_source(item.name or "")
        if source is None or source.name != "COMMANDLINE" or item.name in _OF_ONE_RUN:
            continue
        value = context.params[str(item.name)]
        for text in value if isinstance(value, list | tuple) else [value]:
            if item.param_type_name == "argument":
                (arguments if _is_public(text) and text != "-" else lacks).append(text)
            elif text is True:
                words.append(item.opts[-1])
            elif (known := _without_secret(item.name, str(text))) is not None:
                words += [item.opts[-1], known]
            else:
                lacks.append(f"{item.opts[-1]} {re.split('[:=]', str(text))[0]}")
    words += arguments
    if secrets_from_arguments((context.obj or ())[1:]):
        lacks.append("the command of the server")
    elif context.obj:
        words += ["--", *context.obj]
    return Recorded(tuple(words), tuple(map(published_url, lacks)), str(Path.cwd()))


def _without_secret(name: str | None, text: str) -> str | None:
    """Returns the value of an option for the record; `None` if it may be secret."""
    from skillgen.security.secrets import secrets_from_arguments

    if name == "env":
        return text.partition("=")[0]
    if name == "headers":
        return text if HEADER_VARIABLE.fullmatch(text.partition(":")[2].strip()) else None
    return text if _is_public(text) and not secrets_from_arguments(text.split()) else None


def _is_public(text: str) -> bool:
    """True for what is not a URL, such as a long name of a file, and for a URL without credentials and query."""
    from skillgen.security.secrets import published_url

    return "://" not in text or published_url(text) == text


def _keyword(name: str, annotation: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


class GivenOf(OptionsOf, frozen=True, kw_only=True):
    """SOURCE and the options of sources, which replace a parameter of a command."""

    argument: Any = None
    """The declaration of SOURCE for typer; `None` if the command reads it among other words."""

    def options(self) -> list[Option]:
        """Returns the options; those of the project file are among them."""
        return [*run_with("target", "project").options(), *super().options()]

    def parameters(self, kinds: Collection[str]) -> list[inspect.Parameter]:
        """Returns SOURCE, the command of a server and the options for typer."""
        words = [] if self.argument is None else [_keyword("words", self.argument)]
        return [_keyword("context", typer.Context), *words, *super().parameters(kinds)]

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
    classes=(Source,),
    kinds=SOURCE_KINDS,
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


class Documenting(Struct, frozen=True):
    """A command line that documents a source."""

    command: tuple[str, ...]
    """What is after `--`."""

    recorded: Recorded
    """What `skillgen update` repeats."""

    source: Source
    texts: Texts
    output: OutputOptions
    run: Run
    console: Console

    def document(self, **named: Any) -> ExitCode:
        """Documents a source that an option of `Source` names, and prints the result.

        The agent is asked for texts that the folder does not have yet.

        Raises:
            SourceError: it cannot be reached or read.
            UsageError: an option is invalid.
        """
        from skillgen.pipeline.generate import write_documents
        from skillgen.pipeline.read import Request
        from skillgen.pipeline.rendering import checked_output

        output, run, console, code = checked_output(self.output), self.run, self.console, ExitCode.DONE
        request = Request(source=structs.replace(self.source, **named), texts=self.texts)
        out = Path(output.out or DEFAULT_OUT)
        has_texts = (out / TEXTS_NAME).is_file()
        if has_texts or run.draft is not None:
            from skillgen.cli.draft import DraftOptions, draft_of, run_draft

            if not (has_texts or output.check):
                options = DraftOptions(agent=run.draft, yes=True)
                try:
                    code = run_draft(draft_of(request, out, output.split), options, console, shows=False)
                except SourceError as error:  # the documents do not need the texts
                    console.fail(error)
                    code = error.exit_code
            request = draft_of(request, out).request
        reading = read(request, console)
        result = write_documents(reading.services, output, reading.failures, self.recorded)
        show_result(result, console, shows_diff=not run.json)
        if run.json:
            print(result_json(result, lambda outcome, path: _place(result, outcome, path)))
        if output.check and result.exit_code is ExitCode.DRIFT:
            console.say("the documents are not up to date: run the same command without --check")
        return max(code, result.exit_code)


class DocumentingOf(OptionsOf, frozen=True, kw_only=True):
    """The options of a command that documents a source, which replace a parameter of it."""

    def options(self) -> list[Option]:
        """Returns the options; those of the run are among them."""
        return [*super().options(), *run_with("draft", "json").options(), *options_in(Console)]

    def parameters(self, kinds: Collection[str]) -> list[inspect.Parameter]:
        """Returns the context and the options for typer."""
        return [_keyword("context", typer.Context), *super().parameters(kinds)]

    def take(self, values: dict[str, Any]) -> Documenting:
        """Takes the options, and what was typed, from the values of the command."""
        context: typer.Context = values.pop("context")
        given = OptionsOf.take(structs.replace(self, is_partial=True), values)
        classes: tuple[type[Any], ...] = (*self.classes, Run, Console)
        return Documenting(tuple(context.obj or ()), _recorded(context), *(part_of(cls, given) for cls in classes))


def documenting(*kinds: str) -> DocumentingOf:
    """Returns the options of a command that documents sources of some kinds."""
    return DocumentingOf(classes=(Source, Texts, OutputOptions), kinds=kinds)


def _place(result: Result, outcome: Outcome, path: str) -> str:
    """Returns the path of a document in the report: below OUT, but with its folder if it is installed elsewhere."""
    if outcome.kind != "documents":
        return full_place(outcome, path)
    return path if result.is_one else f"{outcome.plan.out.name}/{path}"
