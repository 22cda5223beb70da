"""Counts the options that `from-cli --command` finds: `python tests/help_shares.py NAME...`, by hand.

What a program has is taken from another place than its help: the completion that it generates for a shell, its manual
pages (MANPATH says where), or the declarations of its parser. Only long options count, of each command that is
documented; `--help` and `--version` do not. With `-v`, the missing and the surplus options of each command are printed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping

import skillgen
from skillgen import Tool

Path = tuple[str, ...]
Options = dict[Path, set[str]]
"""The words of a command, without the program, to its long options."""

LONG = re.compile(r"(?<![\w-])--[A-Za-z0-9][\w-]*")
IGNORED = {"--help", "--version", "--"}

DECLARED = {
    "black": "black:patched_main",
    "mypy": "mypy.main:main",
    "pytest": "_pytest.config:console_main",
}
"""Programs that generate no completion, and where the parser of each is."""


def output(command: Iterable[str], env: Mapping[str, str] | None = None) -> str:
    """Returns what a command prints; nothing if it fails."""
    try:
        finished = subprocess.run(
            [*command],
            env={**os.environ, **(env or {})},
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=60,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return finished.stdout


def from_git(name: str, paths: list[Path]) -> Options:
    """Returns the options that git prints for its own completion."""
    if name != "git":
        return {}
    found = {}
    for path in paths:
        words = output([name, *path, "--git-completion-helper-all"]).split(" -- ")[0].split()
        found[path] = {word.rstrip("=").rstrip() for word in words if word.startswith("--")}
    return {path: options for path, options in found.items() if options}


def from_cobra(name: str, paths: list[Path]) -> Options:
    """Returns the options by Cobra's hidden command for completion."""
    if not re.search(r"^:\d+\s*\Z", output([name, "__complete", "--"]), re.MULTILINE):
        return {}
    inherited = set(LONG.findall(output([name, "__complete", "--"])))
    return {
        path: set(LONG.findall(output([name, "__complete", *path, "--"]))) - (inherited if path else set())
        for path in paths
    }


def from_clap(name: str, paths: list[Path]) -> Options:
    """Returns the options in the completion for bash that clap generates."""
    commands = (["generate-shell-completion", "bash"], ["--generate", "complete-bash"], ["completion", "bash"])
    text = next((text for words in commands if "opts=" in (text := output([name, *words]))), "")
    found: Options = {}
    for block in re.finditer(r'^\s+([\w.-]+)\)\n\s+opts="([^"]*)"', text, re.MULTILINE):
        words = tuple(block[1].replace("__subcmd__", "__").split("__"))
        stem = name.replace("-", "__")
        if words[: len(stem.split("__"))] == tuple(stem.split("__")) and "help" not in words:
            found[words[len(stem.split("__")) :]] = set(LONG.findall(block[2]))
    inherited = found.get((), set())
    return {path: options - inherited if path else options for path, options in found.items()}


def from_cleo(name: str, paths: list[Path]) -> Options:
    """Returns the options in the completion for bash that Poetry generates."""
    text = output([name, "completions", "bash"])
    inherited = set(LONG.findall(text.partition("opts=")[2].partition("\n")[0]))
    found = re.findall(r"\(['\"]?([a-z][\w -]*?)['\"]?\)\s*\n\s*opts=\"\$\{opts\}([^\"]*)\"", text)
    return {tuple(words.split()): set(LONG.findall(options)) - inherited for words, options in found}


def from_click(name: str, paths: list[Path]) -> Options:
    """Returns the options by Click's completion."""
    variable = f"_{name.upper().replace('-', '_')}_COMPLETE"
    found = {}
    for path in paths:
        words = " ".join([name, *path, "--"])
        env = {variable: "zsh_complete", "COMP_WORDS": words, "COMP_CWORD": str(len(path) + 1)}
        lines = output([name], env).splitlines()
        if lines[:1] == ["plain"]:
            found[path] = set(LONG.findall("\n".join(lines[1::3])))
    return found if any(found.values()) else {}


def from_pip(name: str, paths: list[Path]) -> Options:
    """Returns the options by pip's completion."""
    if not name.startswith("pip"):
        return {}
    found = {}
    for path in paths:
        words = " ".join([name, *path, "--"])
        env = {"COMP_WORDS": words, "COMP_CWORD": str(len(path) + 1), "PIP_AUTO_COMPLETE": "1"}
        found[path] = set(LONG.findall(output([name], env)))
    inherited = found.get((), set())
    return {path: options - inherited if path else options for path, options in found.items() if options}


def from_manual(name: str, paths: list[Path]) -> Options:
    """Returns the options that the manual pages define, each at the start of a line."""
    found = {}
    for path in paths:
        text = output(["man", "-P", "cat", "-".join((name, *path))], {"MANWIDTH": "200", "MAN_KEEP_FORMATTING": ""})
        text = re.sub(r".\x08", "", text)
        lines = re.findall(r"^ {0,8}(-\S[^\n]*)", text, re.MULTILINE)
        names = {word for line in lines for word in LONG.findall(re.split(r" {3,}", line)[0])}
        if names:
            found[path] = names
    return found


def from_declarations(name: str, paths: list[Path]) -> Options:
    """Returns the options that the program's parser declares."""
    python = output(["sh", "-c", f"head -1 $(command -v {name})"]).strip().removeprefix("#!")
    if name not in DECLARED or not python:
        return {}
    try:
        service = skillgen.read(cli=DECLARED[name], python=python, program=name)
    except skillgen.SourceError:
        return {}
    return options_of(service.tools, name)


SOURCES: tuple[Callable[[str, list[Path]], Options], ...] = (
    *(from_git, from_pip, from_cleo, from_click, from_clap, from_cobra, from_manual, from_declarations),
)


def options_of(tools: Iterable[Tool], name: str) -> Options:
    """Returns the options that are documented."""
    found = {}
    for tool in tools:
        path = tuple(tool.name.split(" ")) if tool.name != name else ()
        syntaxes = [(parameter, parameter.syntax) for parameter in tool.parameters if parameter.syntax is not None]
        found[path] = {
            word
            for parameter, syntax in syntaxes
            if syntax is not None
            for word in (syntax.word or parameter.name, *syntax.aliases, *syntax.negations)
            if word.startswith("--")
        }
    return found


def main() -> None:
    """Prints a line for each program."""
    names = [word for word in sys.argv[1:] if not word.startswith("-")]
    total = [0, 0, 0]
    for name in names:
        service = skillgen.read(cli_command=[name])
        read = options_of(service.tools, name)
        if read.keys() != {()}:
            read.setdefault((), set()).update(item.name for item in service.parameters if item.name.startswith("--"))
        source, declared = "nothing", dict[Path, set[str]]()
        for find in SOURCES:
            if declared := find(name, [*read]):
                source = find.__name__.removeprefix("from_")
                break
        found = missing = surplus = 0
        for path, options in declared.items():
            if path not in read:
                continue
            wanted = options - IGNORED
            found += len(wanted & read[path])
            missing += len(wanted - read[path])
            surplus += len(read[path] - wanted - IGNORED)
            if "-v" in sys.argv and wanted ^ (read[path] - IGNORED):
                print(
                    f"  {' '.join(path)}: missing {sorted(wanted - read[path])} surplus {sorted(read[path] - wanted)}"
                )
        total = [total[0] + found, total[1] + missing, total[2] + surplus]
        unread = [" ".join(path) for path in declared if path not in read]
        share = f"{100 * found / (found + missing):.1f} %" if found + missing else "unknown"
        print(
            f"{name}: {len(service.tools)} commands, {found} of {found + missing} options ({share}), {surplus} others; "
            f"by {source}" + (f"; commands not documented: {len(unread)}" if unread else ""),
            flush=True,
        )
    print(f"all: {total[0]} of {total[0] + total[1]}, {total[2]} others")


if __name__ == "__main__":
    main()
