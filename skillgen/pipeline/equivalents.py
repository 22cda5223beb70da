"""Commands that a server or an API names as equivalents of its tools (`cliEquivalent`), found among those of programs.

Both are targets of one project. A command of a program that is not a target cannot be checked.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from skillgen.errors import Problem
from skillgen.model.schema import Parameter
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.values import child, is_inferred

_OPERATORS = frozenset(["|", "||", "&", "&&", ";", ">", ">>", "<", "<<", "2>"])
"""Words of a shell that end a command."""


class FoundCommand(Struct, frozen=True):
    """What a text such as `acme order --shelf {shelf} add {name}` means for a program."""

    tool: Tool | None
    """The command; `None` if the program has no such command."""

    flaw: str | None
    """What the program does not have."""


def with_checked_equivalents(service: Service, programs: Sequence[Service]) -> Service:
    """Returns a service with a problem for each equivalent command that a program of the project does not have."""
    known = [ProgramCommands(program) for program in programs]
    return replace(service, problems=(*service.problems, *_problems(service, known))) if known else service


def _problems(service: Service, programs: Sequence[ProgramCommands]) -> Iterator[Problem]:
    for tool in service.tools:
        if tool.cli_equivalent is None:
            continue
        found = next(filter(None, (program.find(tool.cli_equivalent) for program in programs)), None)
        if found is not None and found.flaw is not None:
            message = f"{tool.name!r} names `{tool.cli_equivalent}`, but {found.flaw}"
            yield Problem.of("cli-equivalent-unknown", child(tool.pointer, "cliEquivalent"), message)


class ProgramCommands:
    """The commands of a program, by the words that follow it."""

    def __init__(self, program: Service) -> None:
        self._program = program
        self._start = _program_words(program)
        self._commands = {tool.command[len(self._start) :]: tool for tool in program.tools}
        self._groups = {path[:length] for path in self._commands for length in range(len(path))}
        self._options: dict[tuple[str, ...], dict[str, Parameter]] = {}

    def find(self, text: str) -> FoundCommand | None:
        """Returns the command that a text names; `None` if it names another program, or none."""
        try:
            words = shlex.split(text)
        except ValueError:
            words = text.split()
        end = next((index for index, word in enumerate(words) if word in _OPERATORS), len(words))
        start = self._start
        if not start or tuple(words[: len(start)]) != start:
            return None
        path: tuple[str, ...] = ()
        options: list[str] = []
        rest = iter([word.strip("[]") for word in words[len(start) : end]])
        for word in rest:
            deeper = (*path, word)
            if word.startswith("-") and word != "-":
                options.append(word.partition("=")[0])
                known = self._options_of(path).get(options[-1])
                if known is not None and known.syntax is not None and not known.syntax.is_flag and "=" not in word:
                    next(rest, None)
            elif deeper in self._commands or deeper in self._groups:
                path = deeper
            elif path not in self._commands or self._takes_only_commands(path):
                named = " ".join((*start, *deeper))
                return FoundCommand(None, None if "{" in word else f"`{start[-1]}` has no command `{named}`")
        if path not in self._commands:
            return FoundCommand(None, f"`{' '.join((*start, *path))}` is not a command of its own")
        return FoundCommand(self._commands[path], next(self._unknown_options(path, options), None))

    def _takes_only_commands(self, path: tuple[str, ...]) -> bool:
        takes_value = any(item.location == "positional" for item in self._commands[path].parameters)
        return path in self._groups and not takes_value

    def _options_of(self, path: tuple[str, ...]) -> Mapping[str, Parameter]:
        """Returns the options that may follow the words of a path, by each of their names."""
        if path not in self._options:
            below = (tool for other, tool in self._commands.items() if other[: len(path)] == path)
            parameters = [*self._program.parameters, *(item for tool in below for item in tool.parameters)]
            self._options[path] = {
                name: item
                for item in parameters
                if item.syntax is not None
                for name in (item.syntax.word or item.name, *item.syntax.aliases, *item.syntax.negations)
            }
        return self._options[path]

    def _unknown_options(self, path: tuple[str, ...], options: Sequence[str]) -> Iterator[str]:
        """Yields what a command does not have; help may list less than the command takes."""
        tool = self._commands[path]
        if not tool.is_input_declared or is_inferred(self._program, "tools"):
            return
        for option in options:
            is_usual = option in ("--help", "--version", "--ai-help")
            if option.startswith("--") and len(option) > 2 and not is_usual and option not in self._options_of(path):
                yield f"`{' '.join(tool.command)}` has no option `{option}`"


def _program_words(program: Service) -> tuple[str, ...]:
    """Returns the words that start a program, which precede the name of each command."""
    for tool in program.tools:
        name = tuple(tool.name.split(" "))
        return tool.command[: -len(name)] if len(tool.command) > len(name) else tool.command
    return ()
