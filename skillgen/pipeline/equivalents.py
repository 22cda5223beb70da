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
    return replace(service, problems=(*service.problems, *_problems(service, programs))) if programs else service


def _problems(service: Service, programs: Sequence[Service]) -> Iterator[Problem]:
    for tool in service.tools:
        found = next(filter(None, (find_command(tool.cli_equivalent or "", program) for program in programs)), None)
        if found is not None and found.flaw is not None:
            message = f"{tool.name!r} names `{tool.cli_equivalent}`, but {found.flaw}"
            yield Problem.of("cli-equivalent-unknown", child(tool.pointer, "cliEquivalent"), message)


def find_command(text: str, program: Service) -> FoundCommand | None:
    """Returns the command of a program that a text names; `None` if it names another program, or none."""
    try:
        words = shlex.split(text)
    except ValueError:
        words = text.split()
    end = next((index for index, word in enumerate(words) if word in _OPERATORS), len(words))
    start = _program_words(program)
    if not start or tuple(words[: len(start)]) != start:
        return None
    commands = {tool.command[len(start) :]: tool for tool in program.tools}
    path: tuple[str, ...] = ()
    options: list[str] = []
    rest = iter([word.strip("[]") for word in words[len(start) : end]])
    for word in rest:
        if word.startswith("-") and word != "-":
            options.append(word.partition("=")[0])
            known = _parameter(options[-1], _of_path(path, commands, program))
            if known is not None and known.syntax is not None and not known.syntax.is_flag and "=" not in word:
                next(rest, None)
        elif any(other[: len(path) + 1] == (*path, word) for other in commands):
            path = (*path, word)
        elif path not in commands or _takes_only_commands(path, commands):
            named = " ".join((*start, *path, word))
            return FoundCommand(None, None if "{" in word else f"`{start[-1]}` has no command `{named}`")
    if path not in commands:
        return FoundCommand(None, f"`{' '.join((*start, *path))}` is not a command of its own")
    tool = commands[path]
    return FoundCommand(tool, next(_unknown_options(tool, options, program), None))


def _takes_only_commands(path: tuple[str, ...], commands: Mapping[tuple[str, ...], Tool]) -> bool:
    is_group = any(len(other) > len(path) and other[: len(path)] == path for other in commands)
    return is_group and not any(item.location == "positional" for item in commands[path].parameters)


def _program_words(program: Service) -> tuple[str, ...]:
    """Returns the words that start a program, which precede the name of each command."""
    for tool in program.tools:
        name = tuple(tool.name.split(" "))
        return tool.command[: -len(name)] if len(tool.command) > len(name) else tool.command
    return ()


def _of_path(path: tuple[str, ...], commands: Mapping[tuple[str, ...], Tool], program: Service) -> list[Parameter]:
    """Returns the parameters that may follow the words of a path."""
    below = [tool for other, tool in commands.items() if other[: len(path)] == path]
    return [*program.parameters, *(parameter for tool in below for parameter in tool.parameters)]


def _parameter(option: str, parameters: Sequence[Parameter]) -> Parameter | None:
    for parameter in parameters:
        syntax = parameter.syntax
        if syntax is not None and option in (syntax.word or parameter.name, *syntax.aliases, *syntax.negations):
            return parameter
    return None


def _unknown_options(tool: Tool, options: Sequence[str], program: Service) -> Iterator[str]:
    """Yields what a command does not have; help may list less than the command takes."""
    if not tool.is_input_declared or is_inferred(program, "tools"):
        return
    parameters = [*program.parameters, *tool.parameters]
    for option in options:
        is_usual = option in ("--help", "--version", "--ai-help")
        if option.startswith("--") and len(option) > 2 and not is_usual and _parameter(option, parameters) is None:
            yield f"`{' '.join(tool.command)}` has no option `{option}`"
