"""Has a program print its help, command by command, and reads the texts.

Nothing but help is requested, and of a command only as the program itself says that its help is requested: a program
may ignore `--help` behind a command, and run it. The program gets no input, no terminal, no secrets of the user's
shell, and empty folders as its home and to work in; a proxy that does not exist keeps most programs off the network.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic

from msgspec import Struct
from msgspec.structs import replace

from skillgen.errors import ProblemLog, SourceError
from skillgen.security.secrets import Secrets, report_echoed_secrets, without_own_folders
from skillgen.sources.cli.declarations import Command, Param, Program
from skillgen.sources.cli.help_text import ITEMS_LIMIT, command_from_help, commands_listed
from skillgen.sources.command_output import Finished, run_command
from skillgen.sources.mcp.session import CancelToken
from skillgen.text import lazy_re as re
from skillgen.text.markdown import counted

RUNS_LIMIT = 1_000
"""Maximum number of runs of a program."""

DEPTH_LIMIT = 5
"""Maximum number of words of a command."""

OUTPUT_LIMIT_BYTES = 2 << 20
"""Maximum length of what one run prints."""

TOTAL_LIMIT_S = 600.0
"""How long all runs may take."""

_AT_ONCE = 4
"""Number of runs at the same time."""

_INHERITED = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYTHONPATH", "VIRTUAL_ENV", "CONDA_PREFIX", "NODE_PATH",
              "PYENV_ROOT", "RUSTUP_HOME", "JAVA_HOME", "DOTNET_ROOT", "GEM_HOME", "GEM_PATH", "SYSTEMROOT", "PATHEXT",
              "COMSPEC", "WINDIR")  # fmt: skip
"""Variables of the user's shell that a program needs to start."""

_QUIET = {
    "LC_ALL": "C.UTF-8", "LANG": "C.UTF-8", "COLUMNS": "300", "MANWIDTH": "160", "TERM": "dumb", "NO_COLOR": "1",
    "PAGER": "cat", "MANPAGER": "cat", "GIT_PAGER": "cat", "BROWSER": "false", "EDITOR": "false", "VISUAL": "false",
    "CI": "1", "DO_NOT_TRACK": "1", "NO_UPDATE_NOTIFIER": "1", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0",
    "HTTP_PROXY": "http://127.0.0.1:9", "HTTPS_PROXY": "http://127.0.0.1:9", "ALL_PROXY": "http://127.0.0.1:9",
    "http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9", "all_proxy": "http://127.0.0.1:9",
}  # fmt: skip
"""Variables that keep a program from asking, opening a pager or a browser, and reporting to others."""

_COMMAND = r"[`'\"]?[<\[({]{0,2}(?:sub-?)?(?:command|cmd)s?(?:[ _-]?name)?[>\])}]{0,2}[`'\"]?"
_EVIDENCE = (
    (
        ("--help",),
        re.compile(
            rf"{_COMMAND} --help\b|any (?:sub-?)?command with (?:the )?[`'\"]?--help|show this help message and exit"
            r"|Show this message and exit|Prints? help(?: information)?\b|display help for (?:the given )?command"
            r"|--help\W+Show help\.? +\[boolean\]",
            re.IGNORECASE,
        ),
    ),
    (("-h",), re.compile(rf"{_COMMAND} -h\b", re.IGNORECASE)),
)
"""Words that request the help of a command, and the text by which a program says so."""

_HELP_COMMAND = re.compile(r"^[ ]{1,12}(?:[^\s]{1,60} )?help(?:[,|:]? .*)?$|\bhelp [<\[({]", re.MULTILINE)
_SHORT_HELP = re.compile(r"\[-h\b|^[ ]{0,12}-h\b|[|,] -h\b", re.MULTILINE)
_MANUAL = re.compile(r"\A\s*(?:[A-Z][\w-]*\(\d\w?\)|NAME\n)")
_COMPLETE = re.compile(
    r"(?<![\w-])(?P<words>--help[ =](?:--)?(?:all|full)|--help-all|--help-full|--full-help)(?![\w-])"
)
_LISTING = re.compile(
    r"(?P<words>help (?:-a|--all)|--list)\b[^\n]{0,60}\blist|list[^\n]{0,40}(?:command)[^\n]{0,20}(?P<other>--list)\b"
)
_DEFAULT_COMMAND = re.compile(
    r"when no command is given,? display help for the [`'\"]?(?P<name>[a-z]+)[`'\"]? command", re.IGNORECASE
)
_AI_HELP = re.compile(r"(?<![\w-])--ai-help(?![\w-])")
_HELPFUL = re.compile(
    r"^[ ]{0,12}usage\b|^[ ]{0,40}-{1,2}[A-Za-z]|^[ ]{0,12}[^\s]{0,40} ?(?:commands?|options|flags) ?:?$|│ {1,4}-",
    re.IGNORECASE | re.MULTILINE,
)


class Explored(Struct, frozen=True, kw_only=True):
    """What a program prints about itself."""

    program: Program
    ai_help: str | None
    """What it prints with `--ai-help`, if its help lists that."""

    size_bytes: int
    """The length of all texts that were read."""


def explore(
    command: tuple[str, ...],
    words: tuple[str, ...],
    problems: ProblemLog,
    *,
    environment: Mapping[str, str],
    env: Mapping[str, str],
    cwd: Path | None,
    timeout_s: float,
    cancel_token: CancelToken,
    progress: Callable[[str], None],
    secrets: Secrets,
) -> Explored:
    """Reads a program from its help; `words` are what users type for `command`, and `env` has the variables they set.

    Raises:
        SourceError: the program cannot be started, prints no help, or takes too long.
    """
    with tempfile.TemporaryDirectory(prefix="skillgen-") as folder:
        home = Path(folder, "home")
        home.mkdir()
        inherited = {name: environment[name] for name in _INHERITED if name in environment}
        own = {"HOME": str(home), "USERPROFILE": str(home), "TMPDIR": folder, "TEMP": folder, "TMP": folder}
        variables = {**inherited, **_QUIET, **own, **env}
        deadline = monotonic() + TOTAL_LIMIT_S

        def cleaned(text: str) -> str:
            for path in (str(home), folder):
                text = text.replace(path, "~")
            data, echoed_from = secrets.hide_in(without_own_folders(text, cwd))
            report_echoed_secrets(problems, echoed_from)
            return str(data)

        def run(arguments: Sequence[str]) -> Finished | None:
            if (left := deadline - monotonic()) <= 0:
                return None
            return run_command(
                (*command, *arguments),
                environment=variables,
                cwd=cwd or Path(folder),
                timeout_s=min(timeout_s, left),
                limit_bytes=OUTPUT_LIMIT_BYTES,
                cancel_token=cancel_token,
            )

        return _Explorer(words, problems, run, cleaned, progress).explored()


def with_program_path(command: tuple[str, ...], environment: Mapping[str, str], folder: Path) -> tuple[str, ...]:
    """Returns a command with the absolute path of its program, which runs in another folder.

    Raises:
        SourceError: there is no such program.
    """
    program = command[0]
    if os.sep in program or (os.altsep and os.altsep in program):
        found = str((folder / program).absolute())
        is_there = shutil.which(found) is not None
    else:
        found = shutil.which(program, path=environment.get("PATH")) or ""
        is_there = bool(found)
    if not is_there:
        what, fix = f"the command {program} does not exist", "install it, or correct the name"
        if found and Path(found).is_file():
            what, fix = f"the file {program} is not executable", f"make it so: chmod +x {program}"
        raise SourceError(what, where="--command", fix=fix)
    return (str(Path(found).absolute()), *command[1:])


class _Explorer:
    """Reads one program."""

    def __init__(
        self,
        words: tuple[str, ...],
        problems: ProblemLog,
        run: Callable[[Sequence[str]], Finished | None],
        cleaned: Callable[[str], str],
        progress: Callable[[str], None],
    ) -> None:
        self._words, self._problems = words, problems
        self._run, self._cleaned, self._progress = run, cleaned, progress
        self._sizes_bytes: list[int] = []
        """The length of what each run printed; threads append to it."""
        self._run_out = False
        self._way: tuple[str, ...] | None = None
        self._unread: list[tuple[str, str]] = []

    def explored(self) -> Explored:
        """Returns the program."""
        text = self._text(["--help"])
        if text is None and self._run_out:
            raise SourceError("did not print its help in time", where=self._words[0], fix="increase --timeout")
        if text is None or not _HELPFUL.search(text):
            first = next((line.strip() for line in (text or "").splitlines() if line.strip()), "nothing")
            raise SourceError(
                f"--help prints no help: {first[:200]}", where=self._words[0], fix="document another command"
            )
        if (default := _DEFAULT_COMMAND.search(" ".join(text.split()))) is not None:
            text = self._text([default["name"]]) or text
        text = self._complete(text)
        root = command_from_help(text, self._words[-1], self._words)
        listed = self._listed(text)
        known = {item.name for item in root.commands}
        root = replace(root, commands=(*root.commands, *(item for item in listed if item.name not in known)))
        if len(root.commands) >= ITEMS_LIMIT:
            message = f"more than {ITEMS_LIMIT:,} commands are listed; the others are left out"
            self._problems.report("help-unread", "/root", message)
        if root.commands:
            self._choose_way(text, root)
            root = self._with_commands(root, text)
        ai_help = self._text(["--ai-help"]) if _AI_HELP.search(text) else None
        self._report()
        name = self._words[-1]
        program = Program(root=root, name=name, module=name, program=name, distribution=None, is_inferred=True)
        return Explored(program=program, ai_help=ai_help, size_bytes=sum(self._sizes_bytes))

    def _text(self, arguments: Sequence[str]) -> str | None:
        """Returns what the program prints: its output, or its errors if these are the help."""
        finished = self._run(arguments)
        if finished is None:
            self._sizes_bytes.append(0)
            self._run_out = True
            return None
        texts = [data.decode("utf-8", "replace") for data in (finished.output, finished.errors)]
        text = texts[0] if _HELPFUL.search(texts[0]) or not _HELPFUL.search(texts[1]) else texts[1]
        text = self._cleaned(text)
        self._sizes_bytes.append(len(text.encode()))
        return text if text.strip() else None

    def _complete(self, text: str) -> str:
        """Returns the complete help, if the text says how to get it."""
        if (found := _COMPLETE.search(text)) is None:
            return text
        longer = self._text(found["words"].split(" "))
        return f"{text}\n\nOptions:\n{longer}" if longer and _HELPFUL.search(longer) else text

    def _listed(self, text: str) -> tuple[Command, ...]:
        """Returns the commands that another text lists, if the help names one."""
        found = _LISTING.search(text)
        words = (found["words"] or found["other"] or "") if found is not None else ""
        listing = self._text(words.split()) if words else None
        return commands_listed(listing, self._words) if listing else ()

    # -- commands ----------------------------------------------------------------------------------------------------

    def _choose_way(self, text: str, root: Command) -> None:
        """Chooses how to request the help of a command; none if the program does not say how."""
        flat = " ".join(text.split())
        name = re.escape(self._words[-1])
        shown = "|".join(re.escape(item.name) for item in root.commands[:50])
        ways = [way for way, evidence in _EVIDENCE if evidence.search(flat)]
        if re.search(rf"\b{name} (?:{shown}) --help\b", flat):
            ways.append(("--help",))
        self._way = ways[0] if ways else ("help",) if _HELP_COMMAND.search(text) else None
        if self._way == ("help",) and _SHORT_HELP.search(text):
            # `git help CMD` opens a manual page, but `git CMD -h` prints the options.
            sample = self._text(["help", root.commands[0].name])
            if sample is None or not _HELPFUL.search(sample) or _MANUAL.match(sample):
                self._way = ("-h",)

    def _help_of(self, path: tuple[str, ...], parent: str) -> str | None:
        """Returns the help of a command; `None` if it prints none of its own."""
        way = self._way or ()
        text = self._text([*way, *path] if way == ("help",) else [*path, *way])
        return text if text is not None and _HELPFUL.search(text) and text.strip() != parent.strip() else None

    def _with_commands(self, root: Command, text: str) -> Command:
        """Returns the program with its commands, level by level."""
        if self._way is None:
            message = "its help does not say how to get that of a command, so none is run; the commands have no options"
            self._problems.report(
                "help-unread", "/root", message, f"run `{self._words[-1]} --help`, and name a text with --extra"
            )
            return root
        read: dict[tuple[str, ...], Command] = {(): root}
        texts: dict[tuple[str, ...], str] = {(): text}
        level: list[tuple[str, ...]] = [()]
        of_root = {param.names: (param.help or "").rstrip(".") for param in root.params if param.names}
        with ThreadPoolExecutor(max_workers=_AT_ONCE, thread_name_prefix="skillgen-help") as pool:
            while level:
                paths = list(
                    dict.fromkeys((*path, *item.name.split(" ")) for path in level for item in read[path].commands)
                )
                paths = [path for path in paths if path not in read and len(path) <= DEPTH_LIMIT]
                room = max(RUNS_LIMIT - len(self._sizes_bytes), 0)
                self._unread += [
                    (" ".join(path), f"there are more than {RUNS_LIMIT:,} commands") for path in paths[room:]
                ]
                paths = paths[:room]
                self._progress(f"reading the help of {counted(len(paths), 'command')}")
                parents = [
                    texts[max((other for other in texts if path[: len(other)] == other), key=len)] for path in paths
                ]
                try:
                    found = list(pool.map(self._help_of, paths, parents))
                except BaseException:
                    pool.shutdown(wait=False, cancel_futures=True)
                    raise
                level = []
                for path, help_text in zip(paths, found, strict=True):
                    if help_text is None:
                        self._unread.append((" ".join(path), "no help is printed"))
                        continue
                    command = command_from_help(help_text, path[-1], (*self._words, *path))
                    names = {item.name for item in command.commands}
                    above = {item.name for other in range(len(path)) for item in read.get(path[:other], root).commands}
                    if names and (names == above or path[-1] in names):  # a list of the program, not of the command
                        command = replace(command, commands=(), is_callable=True)
                    own = tuple(param for param in command.params if not _is_inherited(param, of_root))
                    read[path], texts[path] = replace(command, params=own), help_text
                    level.append(path)
        return _assembled(root, (), read)

    def _report(self) -> None:
        """Reports the commands whose help is not read."""
        for reason in dict.fromkeys(reason for _, reason in self._unread):
            names = [name for name, why in self._unread if why == reason]
            shown = ", ".join(f"`{name}`" for name in names[:5]) + (", …" if len(names) > 5 else "")
            message = f"options of {counted(len(names), 'command')} are not documented, because {reason}: {shown}"
            self._problems.report("help-unread", "/root", message)


def _is_inherited(param: Param, of_root: Mapping[tuple[str, ...], str]) -> bool:
    """True if the help of a command repeats an option of the program; its text may be longer there."""
    return param.names in of_root and (param.help or "").startswith(of_root[param.names])


def _assembled(command: Command, path: tuple[str, ...], read: Mapping[tuple[str, ...], Command]) -> Command:
    """Returns a command with those below it as they were read; names of several words become groups."""
    below: dict[str, Command] = {}
    for item in command.commands:
        words = tuple(item.name.split(" "))
        if len(words) > 1:
            group = below.get(words[0])
            rest = replace(item, name=" ".join(words[1:]))
            if group is None:
                below[words[0]] = Command(name=words[0], is_callable=False, commands=(rest,))
            elif rest.name not in {other.name for other in group.commands}:
                below[words[0]] = replace(group, commands=(*group.commands, rest))
            continue
        known = read.get((*path, item.name))
        merged = item
        if known is not None:
            merged = replace(
                known,
                help=known.help or item.help,
                short_help=item.short_help,
                deprecated=item.deprecated,
                aliases=item.aliases or known.aliases,
            )
        earlier = below.get(item.name)
        below[item.name] = replace(merged, commands=(*merged.commands, *earlier.commands)) if earlier else merged
    commands = tuple(_assembled(item, (*path, item.name), read) for item in below.values())
    # The help of the commands repeats the options of their group, which may follow them then.
    repeated = {param.names for item in commands for param in item.params}
    params = command.params
    if path and not command.is_callable:
        params = tuple(param for param in params if not param.names or param.names not in repeated)
    return replace(command, params=params, commands=commands)
