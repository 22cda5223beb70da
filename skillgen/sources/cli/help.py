"""Reads a program from the help that it prints: its commands from the lists in it, and the help of each verbatim.

Only the lists of commands, a usage line and a summary are interpreted: agents read the text itself.

Nothing but help is requested, and of a command only as the program itself says that its help is requested: a program
may ignore `--help` behind a command, and run it. The program gets no input, no terminal, no secrets of the user's
shell, and empty folders as its home and to work in; a proxy that does not exist keeps most programs off the network.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import takewhile
from pathlib import Path
from textwrap import dedent
from time import monotonic
from typing import TypeAlias

from msgspec import Struct

from skillgen.errors import ProblemLog, SourceError
from skillgen.model.auth import Requirements
from skillgen.model.resource import Group, Section
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.values import Origin
from skillgen.security.secrets import Secrets, report_echoed_secrets, without_own_folders
from skillgen.sources.command_output import Finished, run_command
from skillgen.sources.mcp.session import CancelToken
from skillgen.text import lazy_re as re
from skillgen.text.markdown import counted, fence
from skillgen.text.summary import first_sentence

RUNS_LIMIT = 1_000
"""Maximum number of runs of a program."""

COMMANDS_LIMIT = 2_000
"""Maximum number of commands that one text lists."""

DEPTH_LIMIT = 5
"""Maximum number of words of a command."""

OUTPUT_LIMIT_BYTES = 2 << 20
"""Maximum length of what one run prints."""

SHOWN_BYTES = 8_192
"""How much of the help of a command is documented; the rest is cut at the end of a line."""

WIDTH_LIMIT = 2_000
"""Characters of a line in which commands are searched."""

TOTAL_LIMIT_S = 600.0
"""How long all runs may take."""

_AT_ONCE = 4
"""Number of runs at the same time."""

_INHERITED = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYTHONPATH", "VIRTUAL_ENV", "CONDA_PREFIX", "NODE_PATH",
              "PYENV_ROOT", "RUSTUP_HOME", "JAVA_HOME", "DOTNET_ROOT", "GEM_HOME", "GEM_PATH", "SYSTEMROOT", "PATHEXT",
              "COMSPEC", "WINDIR")  # fmt: skip
"""Variables of the user's shell that a program needs to start."""

_QUIET = {
    "LC_ALL": "C.UTF-8", "LANG": "C.UTF-8", "COLUMNS": "120", "MANWIDTH": "120", "TERM": "dumb", "NO_COLOR": "1",
    "PAGER": "cat", "MANPAGER": "cat", "GIT_PAGER": "cat", "BROWSER": "false", "EDITOR": "false", "VISUAL": "false",
    "CI": "1", "DO_NOT_TRACK": "1", "NO_UPDATE_NOTIFIER": "1", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0",
    "HTTP_PROXY": "http://127.0.0.1:9", "HTTPS_PROXY": "http://127.0.0.1:9", "ALL_PROXY": "http://127.0.0.1:9",
    "http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9", "all_proxy": "http://127.0.0.1:9",
}  # fmt: skip
"""Variables that keep a program from asking, opening a pager or a browser, and reporting to others."""

_COMMAND = r"[`'\"]?[<\[({]{0,2}(?:sub-?)?(?:command|cmd)s?(?:[ _-]?name)?[>\])}]{0,2}[`'\"]?"
_ASKS_LONG = re.compile(
    rf"{_COMMAND} --help\b|any (?:sub-?)?command with (?:the )?[`'\"]?--help|show this help message and exit"
    r"|Show this message and exit|Prints? help(?: information)?\b|display help for (?:the given )?command"
    r"|help (?:message )?for this command\b|Show help and usage information|--help\W+Show help\.? +\[boolean\]"
    r"|--help\W{1,4}(?:-h\W{1,4})?(?:\w+ ){1,3}(?:help|information) (?:about|for|on) (?:a|any|the) (?:sub)?command\b"
    r"|\[OPTIONS\] COMMAND \[ARGS\]\.\.\.",  # Click's usage, which may be without its options
    re.IGNORECASE,
)
_ASKS_SHORT = re.compile(rf"{_COMMAND} -h\b", re.IGNORECASE)
"""How a program says that the help of a command is requested by `--help`, or by `-h`."""

_HELP_COMMAND = re.compile(
    r"^ {1,12}(?:(?!-)\S{1,60} )?help\b(?=.*\b(?:help|(?:sub)?commands?|topics?)\b)"
    r"|\bhelp [<\[({]*(?:sub-?)?(?:command|cmd|topic|term)",
    re.MULTILINE | re.IGNORECASE,
)
_UNKNOWN = re.compile(r"[^\n]{0,80}(?:unknown|unrecogni[sz]ed|invalid|no such)[^\n]{0,80}--help", re.IGNORECASE)
"""How a program refuses `--help`; many print their help behind it."""
_SHORT_HELP = re.compile(r"\[-h\b|^[ ]{0,12}-h\b|[|,] -h\b", re.MULTILINE)
_MANUAL = re.compile(r"\A\s*(?:[A-Z][\w-]*\(\d\w?\)|NAME\n)")
_LISTING = re.compile(
    r"(?P<words>help (?:-a|--all)|--list)(?![\w-])[^\n]{0,60}\blist[^\n]{0,40}\b(?:sub)?commands?\b"
    r"|\blist[^\n]{0,40}(?:command)[^\n]{0,20}(?P<other>--list)(?![\w-])|[Tt]he (?P<symfony>list) command lists"
)
"""How a program says that it lists its commands; `--help` of Symfony's and cleo's prints the help of `list`."""
_AI_HELP = re.compile(r"(?<![\w-])--ai-help(?![\w-])")
_HELPFUL = re.compile(
    r"^[ ]{0,12}usage\b|^[ ]{0,40}-{1,2}[A-Za-z]|│ {1,4}-"
    r"|^[ ]{0,12}(?:\S{0,40} ?(?:commands?|options|flags) ?:?|[^\n]{0,40} commands:)$",
    re.IGNORECASE | re.MULTILINE,
)


class Explored(Struct, frozen=True, kw_only=True):
    """What a program prints about itself."""

    service: Service
    ai_help: str | None
    """What it prints with `--ai-help`, if its help lists that."""


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
    deadline = monotonic() + TOTAL_LIMIT_S
    with tempfile.TemporaryDirectory(prefix="skillgen-") as folder:
        home = Path(folder, "home")
        home.mkdir()
        own = {"HOME": str(home), "USERPROFILE": str(home), "TMPDIR": folder, "TEMP": folder, "TMP": folder}
        variables = {name: environment[name] for name in _INHERITED if name in environment} | _QUIET | own | {**env}

        def cleaned(text: str) -> str:
            text = text.replace(str(home), "~").replace(folder, "~")
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
    place = program if Path(program).name == program else str(folder / program)
    found = shutil.which(place, path=environment.get("PATH"))
    if found is None:
        what, fix = f"the command {program} does not exist", "install it, or correct the name"
        if place != program and Path(place).is_file():
            what, fix = f"the file {program} is not executable", f"make it so: chmod +x {program}"
        raise SourceError(what, where="--command", fix=fix)
    return (str(Path(found).absolute()), *command[1:])


# -- a help text -----------------------------------------------------------------------------------------------------

_TERMINAL = re.compile(r"\x1b\[[0-9;?]{0,20}[A-Za-z]|\x1b\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|[^\n]\x08")
"""Colours, links, and letters that are struck over, as in manual pages."""

_BOX_TOP = re.compile(r"[╭┌][─-] {0,2}(?P<title>[^─╮┐\n]{1,80}?) ?[─-]")
_BOX_LINE = re.compile(r"[│|┃](?P<text>.*?)[│|┃]?[ \t]*\Z")
_HEADING = re.compile(
    r"(?P<title>(?:Available |Main )?(?:Sub)?[Cc]ommands(?=\s*\Z)|[A-Za-z][^\n:<>\[\]]{0,60}(?=:)):?\s*\Z"
    r"|(?P<upper>[A-Z][A-Z0-9 /&_-]{2,40})\Z"
)
_VERSION = re.compile(r"\S{1,60}[ /](?:\(?version )?v?\d+\.\d\S{0,40}(?: \S{1,20})?\Z")
_USAGE = re.compile(r"\A\s*(?:usage|synopsis)(?::\s*(?P<text>.*)|\s*)\Z", re.IGNORECASE)
_TAKES_COMMAND = re.compile(
    r"(?:^|\s)[<\[({]{0,2}(?:sub-?)?(?:command|cmd|task)s?[>\])}]{0,2}(?:\s|\.|$)|\{[^{}]*\}(?: \.\.\.|\Z)| \.\.\.\Z",
    re.IGNORECASE,
)
_LISTS = re.compile(r"command|\Atopics\Z|\btasks\Z", re.IGNORECASE)
_LISTS_NOT = re.compile(
    r"option|flag|switch|argument|\Aargs\Z|positional|parameter|usage|example|environment|alias|\bfiles?\Z|\Asee also"
    r"|learn more|help topic|exit|description|\Aname\Z|feedback|interface|format|concept|guide",
    re.IGNORECASE,
)
_WORD = r"[A-Za-z0-9](?:[\w+-]|[.:](?=[\w+-])){0,60}"
_ENTRY = re.compile(
    rf"(?P<indent>[ \t]+)(?:\$ |[o•*] )?(?P<names>{_WORD}(?:(?:, ?| ?\| ?|/| ){_WORD}){{0,4}}?)[*]?"
    r"(?P<args>(?: (?:<[^>]{1,80}>|\[[^\]]{1,80}\]{1,3}|\([^)]{1,80}\)|--[\w-]{1,60}=[A-Z]{1,30}"
    r"|\.\.\.[A-Z]{0,30}|[A-Z][A-Z0-9_=]{1,30})(?:\.\.\.|…){0,2}){0,8})"
    r":?(?:(?: {2,}|\t+| - | -- )(?:# |: )?(?P<text>\S.*)|\s*)\Z"
)
_BEHIND = re.compile(r" [a-z][\w-]*(?: |\Z)")
"""A word of a usage line that is the name of another command."""

_TITLE_DEPTH = 4

_COMMA_LIST = re.compile(rf"[ \t]+(?:{_WORD}, ?){{2,200}}(?:{_WORD})?\Z")
_BRACES = re.compile(r"(?P<indent>[ \t]*)(?:\{(?P<names>[\w.:+,-]{1,4000})\}|<(?:sub-?)?command>)")
"""What argparse writes above the commands: their names, or a placeholder."""


class _Listed(Struct, frozen=True):
    """A command in a list."""

    words: tuple[str, ...]
    summary: str
    line: str
    """The line of the list."""


def _parsed_lines(text: str) -> list[str]:
    """Returns the lines of a help text without the frames of boxes, whose titles become headings."""
    lines = []
    for raw in text.splitlines():
        line = raw[:WIDTH_LIMIT].expandtabs().rstrip()
        stripped = line.lstrip()
        if (top := _BOX_TOP.match(stripped)) is not None:
            line = f"{top['title'].strip()}:"
        elif stripped[:1] in tuple("╰└"):
            line = ""
        elif stripped[:1] in tuple("│┃") and (inner := _BOX_LINE.match(stripped)) is not None:
            line = f"  {inner['text'].rstrip()}"
        lines.append(line)
    return lines


class _Help:
    """A help text: its usage, its summary and the commands that it lists."""

    def __init__(self, text: str, words: Sequence[str], *, is_listing: bool = False) -> None:
        self.text = text
        self._words = [word.rpartition("/")[2] for word in words]
        self._lines = _parsed_lines(text)
        self._usage_lines = self._usage_block()
        self._usages = [*self._read_usages()]
        self._takes_command = is_listing or any(map(_TAKES_COMMAND.search, self._usages))
        listed: dict[tuple[str, ...], _Listed] = {}
        for item in self._read_commands("commands" if is_listing else ""):
            listed.setdefault(item.words, item)
        self.commands = [*listed.values()]
        call = " ".join(self._words)
        own = [usage for usage in self._usages if usage.startswith(call)]
        if len(own) > 1:  # others are of commands behind this one, such as `git stash list`
            own = [usage for usage in own if not _BEHIND.match(usage, len(call))]
        self.usage = own[0] if own else None
        self.is_callable = not self.commands or not all(map(_TAKES_COMMAND.search, own))
        """Whether the command does something without another command behind it."""

    def _starts(self, line: str) -> bool:
        """True if a line begins with the name of the program."""
        return line.strip().removeprefix("$ ").split(" ")[0].rpartition("/")[2] == self._words[0]

    def _is_call(self, line: str) -> bool:
        """True if a line is the command with its arguments, and no sentence that begins with the name."""
        rest = line.strip().removeprefix("$ ").removeprefix(" ".join(self._words))
        return self._starts(line) and not re.match(r" +[a-z]+(?: |:\Z)", rest)

    def _usage_block(self) -> range:
        """Returns the numbers of the lines of usage; without a title, the first line if it is a call."""
        lines = self._lines
        start = next((number for number, line in enumerate(lines) if _USAGE.match(line)), None)
        if start is None:
            first = next((number for number, line in enumerate(lines) if line.strip()), 0)
            text = "".join(lines[first : first + 1])
            return range(first, first + (self._is_call(text) and text.strip() != " ".join(self._words)))
        has_text = bool(_usage_text(lines[start]))
        end = start + 1
        for line in lines[end:]:
            text = line.strip()
            is_option = re.match(r"-.*\S {2,}\S", text)  # with its text
            if (has_text and (not text or is_option)) or (line[:1].strip() and not self._starts(line)):
                break
            has_text = has_text or bool(text)
            end += 1
        return range(start, end)

    def _read_usages(self) -> Iterator[str]:
        """Yields the usage lines, each with the lines that continue it, without the folder of the program."""
        usages = [""]
        for number in self._usage_lines:
            text = _usage_text(self._lines[number])
            if self._starts(text):
                usages.append(text)
            else:
                usages[-1] = f"{usages[-1]} {text}".strip()
        for usage in filter(None, usages):
            first, _, rest = re.split(r" {2,}", usage, maxsplit=1)[0].partition(" ")
            yield f"{first.rpartition('/')[2]} {rest}".strip()

    def summary(self) -> str:
        """Returns the first sentence of the first paragraph that is neither usage, heading nor list."""
        paragraph: list[str] = []
        in_usage = False
        for number, line in enumerate([*self._lines, ""]):
            text = line.strip()
            heading = _HEADING.match(text)
            continues = in_usage and (line[:1].isspace() or text[:1].islower())
            in_usage = bool(text) and (number in self._usage_lines or continues)
            is_other = self._is_call(line) or text.startswith("-") or _VERSION.match(text)
            if in_usage:
                paragraph = []  # such as an error above it
            elif text and not heading and not is_other:
                paragraph.append(text)
            elif paragraph or heading:
                break
        return first_sentence(" ".join(paragraph))

    def _read_commands(self, default: str) -> Iterator[_Listed]:
        """Yields the commands of the lists: those below a title that says so, or below any if usage has a command.

        A line that is less deep than the title ends its list.
        """
        kind, title_depth = default, -1
        first: tuple[int, int] | None = None
        for number, line in enumerate(self._lines):
            if not line.strip() or number in self._usage_lines:
                continue
            depth = len(line) - len(line.lstrip())
            below = next(filter(str.strip, self._lines[number + 1 :]), "")
            is_deeper = below[: depth + 1].isspace()
            title = _HEADING.match(line.strip())
            is_title = title or (not depth and is_deeper and not line.endswith("."))
            is_title = is_title and depth <= _TITLE_DEPTH and not line.lstrip().startswith("-")
            if (braces := _BRACES.match(line)) is not None:
                kind, title_depth, first = "commands", depth + 1, None
                if braces["names"] and not is_deeper and f"{braces[0].strip()} ..." in " ".join(self._usages):
                    yield from (_Listed((name,), "", line.strip()) for name in braces["names"].split(","))
            elif is_title and (first is None or depth < first[0] + bool(title and title["title"])):
                kind, title_depth = self._kind((title["title"] or title["upper"] if title else line).strip()), depth
                first = None
            elif depth < title_depth or not depth:
                kind, title_depth, first = default, -1, None
            elif kind == "commands" and _COMMA_LIST.match(line):
                yield from (_Listed((name,), "", "") for name in line.replace(",", " ").split() if name != "help")
            elif kind and (entry := _ENTRY.match(line)) is not None:
                inner = _ENTRY.match(below) if is_deeper and not entry["text"] and not self._is_manual else None
                if inner is not None and inner["text"]:  # the line is the title of a part
                    first = None
                    continue
                first = first or (depth, entry.start("text"))
                # Prisma aligns the names of commands on the right.
                is_aligned = abs(depth - first[0]) <= 1 or entry.start("text") == first[1] != -1
                if is_aligned and (item := self._listed(number, entry, kind)) is not None:
                    yield item

    @property
    def _is_manual(self) -> bool:
        return _MANUAL.match(self.text) is not None

    def _kind(self, title: str) -> str:
        """Returns what a list is of, by its title: `commands`, what may be commands, or else if they are `named` with
        the program.
        """
        if _LISTS_NOT.search(title):
            return ""
        return "commands" if _LISTS.search(title) else "other" if self._takes_command else "named"

    def _listed(self, number: int, entry: re.Match[str], kind: str) -> _Listed | None:
        """Returns the command that a line of a list declares, with the lines below it that continue its text."""
        depth = len(entry["indent"]) + 2
        below = takewhile(lambda line: line.strip() and line[:depth].isspace(), self._lines[number + 1 : number + 6])
        shown = [self._lines[number].strip(), *map(str.strip, below)]
        text = " ".join([entry["text"] or "", *shown[1:]]).strip()
        name = re.split(r" ?[,|/] ?", entry["names"], maxsplit=1)[0]
        words, path = name.split(" "), self._words
        is_named = words[0] == path[0]  # yargs, cac and Thor repeat the program
        if not is_named and kind != "named":
            path = path[1:] if words[: len(path) - 1] == path[1:] else []  # oclif repeats the topic
        if words[: len(path)] != path:
            return None
        words = words[len(path) :]
        if self._is_manual and (entry["text"] or not text):  # a line of prose, which is justified
            return None
        # SWITCH is a placeholder.
        if (
            not words
            or "help" in words
            or len(words) > 3
            or name.isupper()
            or (kind != "commands" and not entry["text"])
        ):
            return None
        is_example = not text and (is_named or len(words) > 1)
        if is_example or (len(words) > 1 and any(word != word.lower() for word in words)):  # or a phrase
            return None
        return _Listed(tuple(words), first_sentence(text) or text, "\n".join(shown))


def _usage_text(line: str) -> str:
    """Returns a line of usage without its title and mark."""
    return _USAGE.sub(r"\g<text>", line).strip().removeprefix("$ ").removeprefix("or: ").strip()


# -- the program -----------------------------------------------------------------------------------------------------

_Path: TypeAlias = tuple[str, ...]


class _Explorer:
    """Reads one program."""

    def __init__(
        self,
        words: _Path,
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
        self._listed: dict[_Path, _Listed] = {}
        self._helps: dict[_Path, _Help] = {}
        """The help of the program and of each command that prints its own."""
        self._unread: dict[str, list[_Path]] = {}
        """Why the help of a command is not documented, to the commands."""

    def explored(self) -> Explored:
        """Returns the program."""
        text = self._text(["--help"])
        if text is not None and _UNKNOWN.match(text) and _HELP_COMMAND.search(text):
            text = self._text(["help"]) or text
        if text is None and self._run_out:
            raise SourceError("did not print its help in time", where=self._words[0], fix="increase --timeout")
        if text is None or not _HELPFUL.search(text):
            first = next((line.strip() for line in (text or "").splitlines() if line.strip()), "nothing")
            raise SourceError(
                f"--help prints no help: {first[:200]}", where=self._words[0], fix="document another command"
            )
        root = self._with_listing(_Help(text, self._words))
        if len(root.commands) > COMMANDS_LIMIT:
            self._report(f"more than {COMMANDS_LIMIT:,} commands are listed; the others are left out")
            del root.commands[COMMANDS_LIMIT:]
        self._helps[()] = root
        if root.commands:
            self._choose_way(root)
            if self._way is not None:
                # A program may print a notice, such as on telemetry, with the first help of a command and never again.
                self._help_of(root.commands[0].words, root.text)
                self._sizes_bytes.pop()
            self._read_commands(root)
        ai_help = self._text(["--ai-help"]) if _AI_HELP.search(text) else None
        return Explored(service=self._service(root), ai_help=ai_help)

    def _report(self, message: str, fix: str | None = None) -> None:
        self._problems.report("help-unread", " ".join(self._words), message, fix)

    def _with_listing(self, root: _Help) -> _Help:
        """Returns a help with the commands that only another call lists, if it says so."""
        if (found := _LISTING.search(root.text)) is None:
            return root
        text = self._text(next(filter(None, found.groups())).split())
        if text is None:
            return root
        listing = _Help(text, self._words, is_listing=not found["symfony"])
        if found["symfony"]:
            return listing
        known = {item.words for item in root.commands}
        root.commands += [item for item in listing.commands if item.words not in known]
        return root

    def _text(self, arguments: Sequence[str]) -> str | None:
        """Returns what the program prints: its output, or its errors if these are the help."""
        finished = self._run(arguments)
        if finished is None or finished.status is None:
            self._sizes_bytes.append(0)
            self._run_out = True
            return None
        texts = [data.decode("utf-8", "replace") for data in (finished.output, finished.errors)]
        text = texts[0] if _HELPFUL.search(texts[0]) or not _HELPFUL.search(texts[1]) else texts[1]
        text = self._cleaned(_TERMINAL.sub("", text))
        self._sizes_bytes.append(len(text.encode()))
        return text if text.strip() else None

    def _choose_way(self, root: _Help) -> None:
        """Chooses how to request the help of a command; none if the program does not say how."""
        flat = " ".join(root.text.split())
        shown = "|".join(re.escape(" ".join(item.words)) for item in root.commands)
        if _ASKS_LONG.search(flat) or re.search(rf"\b{re.escape(self._words[-1])} (?:{shown}) --help\b", flat):
            self._way = ("--help",)
        elif _ASKS_SHORT.search(flat):
            self._way = ("-h",)
        elif _HELP_COMMAND.search(root.text):
            self._way = ("help",)
            if _SHORT_HELP.search(root.text):
                # `git help CMD` opens a manual page, but `git CMD -h` prints the options.
                sample = self._text(["help", *root.commands[0].words])
                if sample is None or not _HELPFUL.search(sample) or _MANUAL.match(sample):
                    self._way = ("-h",)
        else:
            self._report(
                "its help does not say how to get that of a command, so none is run; only the lists are read",
                f"run `{self._words[-1]} --help`, and name a text with --extra",
            )

    def _help_of(self, path: _Path, parent: str) -> _Help | None:
        """Returns the help of a command; `None` if it prints none of its own."""
        # Commander's `help env set` prints the help of `env`, which says that `--help` prints that of a command.
        way = ("--help",) if _ASKS_LONG.search(" ".join(parent.split())) else self._way or ()
        at = 0 if way == ("help",) else len(path)
        # Thor and picocli list a command `help` of their groups: `crate tags help add`.
        call = re.escape(" ".join((self._words[-1], *path[:-1])))
        if at == 0 and re.search(rf"^ +(?:{call} )?help(?: {{2}}| ?[\[<(])", parent, re.MULTILINE):
            at = len(path) - 1
        text = self._text([*path[:at], *way, *path[at:]])
        if text is None or text.strip() == parent.strip():
            return None
        # A command without options may print no more than its name, its arguments and what it does.
        is_own = _HELPFUL.search(text) or text.lstrip().startswith(" ".join((self._words[-1], *path)))
        return _Help(text, (*self._words, *path)) if is_own else None

    @staticmethod
    def _path(path: _Path, item: _Listed) -> _Path:
        """Returns the words of a listed command; oclif lists `access:add`, which is called so, in that of `access`."""
        return item.words if item.words[0].startswith(f"{':'.join(path)}:") else (*path, *item.words)

    def _read_commands(self, root: _Help) -> None:
        """Reads the commands, level by level."""
        level: dict[_Path, _Help] = {(): root}
        names_above = {item.words for item in root.commands}
        with ThreadPoolExecutor(max_workers=_AT_ONCE, thread_name_prefix="skillgen-help") as pool:
            while level:
                parents: dict[_Path, str] = {}
                for path, text in level.items():
                    for item in text.commands:
                        full = self._path(path, item)
                        if full not in self._listed and len(full) <= DEPTH_LIMIT:
                            self._listed[full] = item
                            parents[full] = text.text
                if self._way is None:
                    return
                asked = [*parents][: max(RUNS_LIMIT - len(self._sizes_bytes), 0)]
                self._unread.setdefault(f"there are more than {RUNS_LIMIT:,} commands", []).extend(
                    [*parents][len(asked) :]
                )
                self._progress(f"reading the help of {counted(len(asked), 'command')}")
                try:
                    helps = [*pool.map(self._help_of, asked, map(parents.__getitem__, asked))]
                except BaseException:
                    pool.shutdown(wait=False, cancel_futures=True)
                    raise
                level = {path: text for path, text in zip(asked, helps, strict=True) if text is not None}
                self._unread.setdefault("no help is printed", []).extend(path for path in asked if path not in level)
                for path, text in level.items():
                    names = {item.words for item in text.commands}
                    if names == names_above or path[-1:] in names:  # a list of the program
                        text.commands = []
                self._helps |= level

    # -- the service -------------------------------------------------------------------------------------------------

    def _in_order(self, path: _Path, seen: set[_Path]) -> Iterator[_Path]:
        """Yields the commands as the lists have them, those of a command after it."""
        for item in self._helps[path].commands if path in self._helps else ():
            if (full := self._path(path, item)) in self._listed and full not in seen:
                seen.add(full)
                yield full
                yield from self._in_order(full, seen)

    def _service(self, root: _Help) -> Service:
        name = self._words[-1].rpartition("/")[2]
        for reason, paths in self._unread.items():
            if paths:
                shown = ", ".join(f"`{' '.join(path)}`" for path in paths[:5]) + (", …" if len(paths) > 5 else "")
                what = f"the help of {counted(len(paths), 'command')} is not documented"
                self._report(f"{what}, because {reason}: {shown}")
        parents = {path[:length] for path in self._listed for length in range(len(path))}
        tools, sections = [], []
        for path in ((), *self._in_order((), set())):
            text = self._helps.get(path)
            if text is None or text.is_callable:
                tools.append(self._tool(path, text, name, is_parent=path in parents))
            else:
                title = " ".join((*self._words, *path))
                sections.append(Section(title=title, body=str(fence(_verbatim(text.text)))))
        groups = dict.fromkeys(tool.group for tool in tools if tool.group is not None)
        return Service(
            kind="cli",
            name=name,
            title=name,
            summary=root.summary() or None,
            requirements=Requirements(bins=self._words[:1]),
            groups=tuple(Group(name=group, title=group if group != name else "Commands") for group in groups),
            tools=tuple(tools),
            sections=tuple(sections),
            source_size_bytes=sum(self._sizes_bytes),
            origins={"summary": Origin("declared", "/root/help")},
        )

    def _tool(self, path: _Path, text: _Help | None, name: str, *, is_parent: bool) -> Tool:
        """Returns a command with its help, or with the line that lists it."""
        listed = self._listed.get(path)
        default = name if any(len(other) > 1 or ":" in other[0] for other in self._listed) else None
        group = " ".join(path if is_parent else path[:-1]) or ":".join(path).rpartition(":")[0] or default
        summary = (listed.summary if listed else "") or (text.summary() if text is not None else "")
        shown = text.text if text is not None else listed.line if listed else ""
        return Tool(
            name=" ".join(path) or name,
            summary=summary or None,
            help=_verbatim(shown) or None,
            usage=text.usage if text is not None else None,
            group=group,
            input_schema={"type": "object"},
            is_input_declared=False,
            command=(*self._words, *path),
            pointer="/root" + "".join(f"/{word}" for word in path),
        )


def _verbatim(text: str) -> str:
    """Returns as much of a text as is documented, without its margin; a last line `…` is for the rest."""
    shown = "\n".join(map(str.rstrip, dedent(text.expandtabs()).strip("\n").splitlines())).encode()
    cut = shown[:SHOWN_BYTES].rpartition(b"\n")[0] + "\n…".encode() if len(shown) > SHOWN_BYTES else shown
    return cut.decode("utf-8", "ignore")
