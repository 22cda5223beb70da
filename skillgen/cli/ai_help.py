"""`skillgen.ai_help`: the flag `--ai-help` of a Click or Typer program and of each of its commands; also our own.

A program imports this module whenever it starts, so that it loads nothing until the flag is given.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

if TYPE_CHECKING:
    from skillgen.pipeline.read import Request

App = TypeVar("App")

_HELP = "Show comprehensive usage guide for LLMs/agents and exit."
_POINTER = "LLMs/agents: run it with --ai-help for detailed usage guidance."


def ai_help(app: App, *, config: str | os.PathLike[str] | None = None) -> App:
    """Adds `--ai-help` to a Click or Typer program and to each of its commands, and returns the program.

    The flag prints the documents of the program or the command (dashdash, CLI profile) and exits with 0, before other
    options are validated. `config` is a project file with the author's texts: those of its target for a program. Of a
    Typer program, call it after the first command or callback is declared.

    Raises:
        TypeError: it is not such a program, or one without a command.
    """
    flag = _Flag(config)
    if hasattr(app, "registered_commands"):
        flag.add_to_typer(app)
    elif hasattr(app, "make_context"):
        flag.add_to(app, is_root=True)
    else:
        raise TypeError(f"ai_help() takes a Click or Typer program, not {type(app).__name__}")
    return app


class _Flag:
    """The flag, for all commands of one program."""

    def __init__(self, config: str | os.PathLike[str] | None) -> None:
        self._config = config
        self._options: dict[str, Any] = {}
        """Module of a library to its option."""

    def add_to(self, command: Any, *, is_root: bool = False) -> None:
        """Adds the flag to a Click command, and to its own commands when they are looked up."""
        if any("--ai-help" in param.opts for param in command.params):
            return
        library = [kind.__module__ for kind in type(command).__mro__ if kind.__name__ == "Command"][-1]
        if library not in self._options:
            self._options[library] = self._option(library)
        command.params.append(self._options[library])
        if is_root:
            self._add_to_root(command)
        if hasattr(command, "get_command"):
            look_up = command.get_command

            def get_command(context: Any, name: str) -> Any:
                if (found := look_up(context, name)) is not None:
                    self.add_to(found)
                return found

            command.get_command = get_command

    def _add_to_root(self, command: Any) -> None:
        """Has a program look for the flag before it parses anything, and mention it in its help."""
        if "--ai-help" not in f"{command.help} {command.epilog}":
            command.epilog = f"{command.epilog}\n\n{_POINTER}" if command.epilog else _POINTER
        parse = command.parse_args

        def parse_args(context: Any, args: list[str]) -> Any:
            # Click would run the functions of the groups above a command, and require their options.
            words = args[: args.index("--")] if "--" in args else args
            if "--ai-help" in words and not context.resilient_parsing:
                self._show(context, _command_names(command, context, words[: words.index("--ai-help")]))
            return parse(context, args)

        command.parse_args = parse_args

    def _option(self, library: str) -> Any:
        """Returns the option as an object of a library: Click, or the copy of it in Typer."""
        declared: dict[str, Any] = {"is_eager": True, "expose_value": False, "help": _HELP}

        def show(context: Any, param: Any, is_requested: bool) -> None:
            if is_requested and not context.resilient_parsing:
                self._show(context, [])  # the command was started by itself

        show.__annotations__.clear()  # Typer passes what a function without annotations expects, as Click does
        if "typer" not in library:
            return sys.modules[library].Option(["--ai-help"], is_flag=True, callback=show, **declared)
        # The arguments of Typer's own class of options differ between its versions.
        typer: Any = sys.modules["typer"]
        sample = typer.Typer(add_completion=False)

        def command(ai_help: bool = False) -> None:
            pass

        command.__annotations__ = {"ai_help": Annotated[bool, typer.Option("--ai-help", callback=show, **declared)]}
        sample.command()(command)
        return typer.main.get_command(sample).params[0]

    def add_to_typer(self, app: Any) -> None:
        """Has Typer create the program with the flag; it creates a group, or the only command."""
        if not (app.registered_commands or app.registered_groups or app.registered_callback):
            raise TypeError("ai_help() takes a program that has a command: call it after the first is declared")
        core: Any = sys.modules["typer.core"]

        def is_root(command: Any) -> bool:
            others = (*app.registered_commands[1:], *app.registered_groups, app.registered_callback)
            return hasattr(command, "get_command") or not any(others)

        callback = app.registered_callback
        if callback is not None and isinstance(callback.cls, type):
            callback.cls = self._with_flag(callback.cls, is_root)
        app.info.cls = self._with_flag(app.info.cls if isinstance(app.info.cls, type) else core.TyperGroup, is_root)
        for command in app.registered_commands[:1]:
            command.cls = self._with_flag(command.cls or core.TyperCommand, is_root)

    def _with_flag(self, cls: type, is_root: Callable[[Any], bool]) -> type:
        """Returns a class whose commands have the flag."""

        def __init__(command: Any, *args: Any, **kwargs: Any) -> None:
            cls.__init__(command, *args, **kwargs)  # type: ignore[misc]
            self.add_to(command, is_root=is_root(command))

        return type(cls.__name__, (cls,), {"__init__": __init__, "__module__": cls.__module__})

    def _show(self, context: Any, names: Sequence[str]) -> None:
        from skillgen.errors import SkillgenError

        try:
            text = _text(context.find_root(), names, self._config)
        except SkillgenError as error:
            context.fail(f"--ai-help: {error.where}: {error.what}; {error.fix}")
        # The same bytes on every system.
        getattr(sys.stdout, "reconfigure", lambda **options: None)(encoding="utf-8", errors="backslashreplace")
        print(text, end="")
        context.exit()


def _command_names(command: Any, context: Any, words: Sequence[str]) -> list[str]:
    """Returns the names among the words of a call by which a command is found, below the program."""
    names = []
    for word in words:
        try:
            found = command.get_command(context, word) if hasattr(command, "get_command") else None
        except Exception as error:  # its module cannot be imported
            context.fail(f"--ai-help: {word!r} cannot be read: {type(error).__name__}: {error}")
        if found is not None:
            names.append(word)
            command = found
    return names


def _text(root: Any, names: Sequence[str], config: str | os.PathLike[str] | None) -> str:
    """Returns the document of a program, of a command, or of all commands of a group."""
    from skillgen.api import render_documents
    from skillgen.pipeline.read import read_command
    from skillgen.render.pages import file_stems

    words = tuple((root.info_name or root.command.name or "program").split())
    service = read_command(root.command, words, _request(words[-1], config))
    documents = render_documents(service, emit=("ai-help", "ai-help-commands"))
    stems = file_stems((tool.name for tool in service.tools), frozenset())
    name = " ".join(names)
    shown = [name] if name in stems else [item for item in stems if name and item.startswith(f"{name} ")]
    texts = [documents[f"ai-help/{stems[item]}.md"] for item in shown] or [documents["ai-help.md"]]
    return "\n".join(texts).replace("[ai-help.md](../ai-help.md)", f"`{' '.join(words)} --ai-help`")


def _request(program: str, config: str | os.PathLike[str] | None) -> Request:
    """Returns how the program is read: as the only target for a program, or the one with its name, says.

    Raises:
        UsageError: the file is invalid, or has no such target.
    """
    from pathlib import Path

    from skillgen.config.loader import read_project
    from skillgen.config.project import Source
    from skillgen.errors import UsageError
    from skillgen.pipeline.build import request_of_target, resolve_targets, sources_of
    from skillgen.pipeline.read import Request
    from skillgen.sources.mcp.session import CancelToken

    if config is None:
        return Request(source=Source(cli=program))
    file = Path(config)
    targets = [
        item
        for item in resolve_targets(read_project(file).targets, file, None, {})
        if any(source.cli for source in sources_of(item.target))
    ]
    named = [item for item in targets if item.name == program] or targets
    if len(named) != 1:
        raise UsageError(f"has no target {program!r} with `cli`", where=str(file), fix="name a target like the program")
    return request_of_target(named[0], os.environ, None, CancelToken())
