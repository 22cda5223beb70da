"""`skillgen draft`: texts that rules cannot write, from a person or any agent, checked against the source."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import Struct, structs

from skillgen.cli.eval import words_of_agent
from skillgen.cli.options import command
from skillgen.cli.output import Console, print_diff
from skillgen.cli.source import SOURCE, Given, read
from skillgen.config.option import Options, PathName, option
from skillgen.config.project import DEFAULT_OUT, DRAFTED, TEXTS_NAME, SkillTexts, Texts
from skillgen.errors import ExitCode, OutputError, SkillgenError, UsageError
from skillgen.text.markdown import one_line

if TYPE_CHECKING:
    from skillgen.model.service import Service
    from skillgen.pipeline.draft import Answer
    from skillgen.pipeline.request import Request


class DraftOptions(Options, frozen=True, kw_only=True):
    """Who writes the texts, and where."""

    PANEL = "Report"

    agent: str | None = option("Command of an agent, which gets the brief on standard input.", metavar="COMMAND")
    prints: bool = option("Print the brief on standard output.", False, flag="--print")
    answer: str | None = option(
        "Apply the answer in a file. - reads standard input.", flag="--apply", metavar="FILE", is_path=True
    )
    outdated: bool = option("Only renew texts whose source changed since they were written.", False)
    out: PathName | None = option(
        f"Folder of SOURCE's documents. Default: {DEFAULT_OUT}.", short="-o", metavar="DIR", is_path=True
    )
    yes: bool = option("Write without asking.", False, panel="Safety")
    agent_timeout: float = option("Time limit of the agent for an answer.", 600.0, metavar="SECONDS")


@command
def draft(
    *,
    given: Annotated[Given, SOURCE],
    options: DraftOptions,
    console: Console,
) -> ExitCode:
    """Have an agent write the texts that rules cannot.

    The answer is checked against the source and written to the project file, or for a SOURCE to OUT/texts.yaml. A
    refused answer changes nothing. Without SOURCE, every target of the project is drafted; build uses the texts from
    then on.

    Examples:

        \b
        skillgen draft --agent 'claude -p'
        skillgen draft openapi.yaml -o agent-docs --print > brief.md
    """
    if [options.agent is not None, options.prints, options.answer is not None].count(True) != 1:
        raise UsageError("exactly one of --agent, --print and --apply is needed", fix="give one of them")
    if options.out is not None and not given.has_source:
        raise UsageError("has no effect without SOURCE", where="--out", fix="leave it out; the target names its folder")
    drafts = [draft_of(given.request(), Path(options.out or DEFAULT_OUT))] if given.has_source else []
    for named, request in () if given.has_source else given.targets():
        path, split = ("targets", named.name), named.target.output.split
        drafts.append(Draft(request, named.file, named.place.out, named.name, path, split))
    if options.agent is None and len(drafts) > 1:
        names = ", ".join(item.name for item in drafts)
        raise UsageError("several targets have a brief each", where="--target", fix=f"choose from {names}")
    code = ExitCode.DONE
    for item in drafts:
        try:
            code = max(code, run_draft(item, options, console))
        except SkillgenError as error:
            console.fail(error)
            code = max(code, error.exit_code)
    return code


class Draft(Struct, frozen=True):
    """Texts to write."""

    request: Request
    file: Path
    """The file that has them."""

    out: Path
    """The folder of the documents."""

    name: str
    """What messages call it."""

    path: tuple[str, ...] = ()
    """The keys above them in the file."""

    split: str | None = None
    """How the service is divided into several skills."""


def draft_of(request: Request, out: Path, split: str | None = None) -> Draft:
    """Returns the draft of the texts in `out` for a source; they are those of the request unless it has its own.

    Raises:
        UsageError: the file of the texts has other keys, or cannot be read.
    """
    from skillgen.config.loader import read_options
    from skillgen.write.files import is_below

    file, own = out / TEXTS_NAME, request.texts
    if file.is_file() and not is_below(file, out):
        raise UsageError("leads outside its folder", where=file.as_posix(), fix="replace the link by the file")
    stored = read_options(Texts, file) if file.is_file() else Texts()
    for name in Texts.__struct_fields__:
        if name not in DRAFTED and getattr(stored, name) != getattr(Texts(), name):
            fix = "write other texts as options, or use a skillgen.yaml"
            raise UsageError(f"no such key: {name.replace('_', '-')}", where=file.as_posix(), fix=fix)
    values = {name: getattr(own, name) or getattr(stored, name) for name in DRAFTED}
    texts = structs.replace(own, **values | {"tools": {**stored.tools, **own.tools}})
    raising = frozenset(stored.tools.keys() - own.tools.keys())
    request = replace(request, texts=texts, texts_file=file.as_posix(), raising=raising)
    return Draft(request, file, out, file.as_posix(), split=split)


def run_draft(item: Draft, options: DraftOptions, console: Console, *, shows: bool = True) -> ExitCode:
    """Prints the brief, or asks the agent or reads the file for the answer, which it checks and writes.

    With `shows`, standard output has the diff, or the refused answer of an agent.

    Raises:
        OutputError: a file cannot be written.
        SourceError: the source or the agent fails.
        UsageError: an option or a file is invalid, or nobody can be asked.
    """
    from skillgen.config.loader import read_text
    from skillgen.infer.split import skills_in
    from skillgen.pipeline.draft import brief_for, checked_answer, outdated_texts, refusal, values_of

    declared: list[Service] = []
    texts = item.request.texts
    others = structs.replace(texts, **{name: getattr(Texts(), name) for name in DRAFTED if name != "tools"})
    parts = {name: SkillTexts(groups=skill.groups) for name, skill in texts.skills.items()}
    others = structs.replace(others, skills=parts)
    reading = read(replace(item.request, texts=others, on_declared=declared.append), console)
    service = reading.only
    changes = outdated_texts(texts, declared[0]) if options.outdated else {}
    if options.outdated and not changes:
        console.say(f"{item.name}: not outdated")
        return ExitCode.DONE
    skills = skills_in(service, item.split)
    brief, shown = brief_for(service, texts, changes, skills)
    if options.agent is None and options.answer is None:
        sys.stdout.write(brief)
        return ExitCode.DONE
    with console.progress(f"{item.name}: asking the agent"):
        refused, accepted = "", None
        for _ in range(1 if options.agent is None else 2):
            if options.agent is not None:
                text = _asked(options.agent, brief + refused, options.agent_timeout)
            else:
                text = read_text(None if options.answer == "-" else Path(options.answer or ""))
            accepted, reasons = checked_answer(text, service, texts, changes, skills)
            if accepted is not None:
                break
            refused = refusal(text, reasons)
    if accepted is None:
        console.say(f"{item.name}: the answer is refused, so nothing is written")
        for reason in reasons:
            console.say(f"  - {one_line(reason)[:500]}")
        if options.agent is not None and shows:
            print_diff(f"{text.rstrip()}\n")
            console.say("  try: correct the answer, which is on standard output, and pass it with --apply FILE")
        return ExitCode.DRIFT
    values = values_of(accepted, service, texts, declared[0], shown, changes)
    return _write(item, _changes(item, accepted, values, service), console, yes=options.yes, shows=shows)


def _asked(agent: str, brief: str, timeout_s: float) -> str:
    """Returns what an agent prints; it runs without a shell, in an empty folder."""
    from skillgen.pipeline.draft import ANSWER_LIMIT_BYTES
    from skillgen.sources.command_output import command_output

    with tempfile.TemporaryDirectory(prefix="skillgen-") as folder:
        printed = command_output(
            words_of_agent(agent),
            where="--agent",
            what="answer",
            timeout_key="--agent-timeout",
            environment=os.environ,
            cwd=Path(folder),
            timeout_s=timeout_s,
            limit_bytes=ANSWER_LIMIT_BYTES,
            text=brief,
        )
    return printed.decode("utf-8", "replace")


_HEADER = (
    "# Texts on the service, which every run into this folder uses. `skillgen draft` wrote them: edit them freely.\n"
)


def _changes(
    item: Draft, answer: Answer, values: Mapping[tuple[str, ...], object], service: Service
) -> list[tuple[Path, str | None, str]]:
    """Returns each file that changes, with its old text, `None` if it is new, and its new one."""
    from skillgen.config.loader import with_value
    from skillgen.evals.tasks import FILE, with_queries
    from skillgen.render.identity import skill_name
    from skillgen.sources.documents import text_of_file
    from skillgen.write.files import is_below

    old = item.file.read_bytes().decode("utf-8") if item.file.is_file() else None
    new = _HEADER if old is None else old
    for path, value in values.items():
        new = with_value(new, (*item.path, *path), value, item.file.as_posix())
    changes = [(item.file, old, new)]
    queries = {text: name == "should-load" for name, texts in answer.queries.items() for text in texts}
    if queries:
        name = skill_name(service)
        file = item.out / "skills" / name / FILE
        old = text_of_file(file) if is_below(file, item.out) else None
        if old is None and file.exists():
            raise UsageError("is not a text file of the skill", where=file.as_posix(), fix="move it away")
        changes.append((file, old, with_queries(old, file, name, queries)))
    return [change for change in changes if change[1] != change[2]]


def _write(
    item: Draft, changes: list[tuple[Path, str | None, str]], console: Console, *, yes: bool, shows: bool
) -> ExitCode:
    from skillgen.write.files import replace_file
    from skillgen.write.line_diff import unified_diff

    for file, old, new in changes if shows else ():
        before = "/dev/null" if old is None else file.as_posix()
        print_diff(unified_diff(before, file.as_posix(), (old or "").splitlines(), new.splitlines()))
    sys.stdout.flush()
    if not changes:
        console.say(f"{item.name}: nothing changed")
    elif not (yes or (sys.stdin.isatty() and sys.stderr.isatty())):
        raise UsageError("nothing is written, since nobody can be asked", where=item.name, fix="add --yes")
    elif not (yes or typer.confirm("Write these texts? Nothing has checked that what they say is true.", err=True)):
        console.say(f"{item.name}: nothing is written")
        return ExitCode.DONE
    for file, _, new in changes:
        try:
            replace_file(file, new.encode())
        except OSError as error:
            raise OutputError(f"cannot be written: {error.strerror}", where=file.as_posix()) from None
        console.say(f"{item.name}: wrote {file.as_posix()}")
    return ExitCode.DONE
