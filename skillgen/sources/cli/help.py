"""Reads a program from the help that it prints: its commands from the lists in it, and the help of each verbatim.

Only the lists of commands, a usage line and a summary are interpreted: agents read the text itself.

Nothing but help is requested, and of a command only as the program itself says that its help is requested: a program
may ignore `--help` behind a command, and run it. The program gets no input, no terminal, no secrets of the user's
shell, and empty folders as its home and to work in; a proxy that does not exist keeps most programs off the network.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import takewhile
from pathlib import Path
from textwrap import dedent
from time import monotonic

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
_USAGE = re.compile(r"\s*(?:usage|synopsis)(?::\s*(?P<text>.*)|\s*)\Z", re.IGNORECASE)
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
_PLACEHOLDERS = re.compile(r"<[^>]{0,80}>|\[[^\]]{0,80}\]|\([^)]{0,80}\)")
_LITERAL = re.compile(r"(?<= )[a-z][\w-]*(?= |\Z)")
"""A word of a usage line, between its placeholders and options."""

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

    def __init__(self, text: str, words: Sequence[str], *, only_lists: bool = False) -> None:
        self.text = text
        self._words = [word.rpartition("/")[2] for word in words]
        self._lines = _parsed_lines(text)
        self.usages = [*self._read_usages()]
        self._takes_command = only_lists or any(_TAKES_COMMAND.search(usage) for usage in self.usages)
        self._only_lists = only_lists
        found: dict[tuple[str, ...], _Listed] = {}
        for item in self._read_commands():
            found.setdefault(item.words, item)
        self.commands = [*found.values()]
        if not self.commands and len(self._words) == 1:
            self.commands = [*self._commands_of_usage()]
        of_others = tuple(" ".join((*self._words, *item.words)) for item in self.commands)
        self.usages = [usage for usage in self.usages if not usage.startswith(of_others)] if of_others else self.usages

    @property
    def is_callable(self) -> bool:
        """True if the command does something without another command behind it."""
        is_group = bool(self.commands) and bool(self.usages)
        return not self.commands or (is_group and any(not _TAKES_COMMAND.search(usage) for usage in self.usages))

    def summary(self) -> str:
        """Returns the first sentence of the first paragraph that is neither usage, heading nor list."""
        paragraph: list[str] = []
        in_usage = False
        for line in [*self._lines, ""]:
            text = line.strip()
            heading = _HEADING.match(text)
            continues = line[:1].isspace() or text[:1].islower() or _starts(line, self._words)
            if _USAGE.match(line) or (text and in_usage and continues):
                in_usage, paragraph = True, []
                continue
            in_usage = False
            if text and not heading and not text.startswith("-") and not (self._is_call(line) or _VERSION.match(text)):
                paragraph.append(text)
            elif paragraph or heading:
                break
        return first_sentence(" ".join(paragraph))

    def _is_call(self, line: str) -> bool:
        """True if a line is the command with its arguments, and no sentence that begins with the name."""
        rest = line.strip().removeprefix("$ ").removeprefix(" ".join(self._words))
        return _starts(line, self._words) and not re.match(r" +[a-z]+(?: |:\Z)", rest)

    def _read_usages(self) -> Iterator[str]:
        """Yields the usage lines, each with the lines that continue it."""
        lines = iter(self._lines)
        for line in lines:
            if (found := _USAGE.match(line)) is None:
                continue
            current = found["text"] or ""
            for below in lines:
                text = below.strip().removeprefix("$ ").removeprefix("or: ").strip()
                is_other = below[:1].strip() and not _starts(below, self._words)
                if (not text and current) or is_other or (current and re.match(r"-.*\S {2,}\S", text)):
                    break  # the last is an option with its text
                if _starts(text, self._words) and current:
                    yield self._usage(current)
                    current = text
                else:
                    current = f"{current} {text}".strip()
            if current:
                yield self._usage(current)
            return
        first = next((line.strip() for line in self._lines if line.strip()), "")
        if self._is_call(first) and first != " ".join(self._words):
            yield self._usage(first)  # of yargs and Mercurial

    def _usage(self, text: str) -> str:
        """Returns a usage line that begins with the name of the program, without its folder."""
        first, _, rest = re.split(r" {2,}|\t", text.removeprefix("$ "), maxsplit=1)[0].partition(" ")
        return f"{first.rpartition('/')[2]} {rest}".strip()

    def _commands_of_usage(self) -> Iterator[_Listed]:
        """Yields the commands that only usage lines name, as those of docopt: the words before the first argument."""
        found: dict[tuple[str, ...], list[str]] = {}
        for usage in self.usages:
            words = usage.removeprefix(" ".join(self._words)).split() if _starts(usage, self._words) else []
            literal = tuple(takewhile(lambda word: re.fullmatch(_WORD, word) and not word.isupper(), words))
            if literal:
                found.setdefault(literal, []).append(usage)
        for words_of, usages in found.items() if len(found) > 1 else ():
            yield _Listed(words_of, "", "\n".join(usages))

    def _read_commands(self) -> Iterator[_Listed]:
        """Yields the commands of the lists: those below a heading that says so, of another one if usage has one."""
        kind, indent, braces, first_column = "commands" if self._only_lists else "", None, None, None
        in_usage = False
        for number, line in enumerate(self._lines):
            # picocli has no empty line between usage, description and lists.
            continues = line[:1].isspace() or _starts(line, self._words)
            in_usage = bool(line.strip()) and ((in_usage and continues) or _USAGE.match(line) is not None)
            if not line.strip() or in_usage:
                continue
            depth = len(line) - len(line.lstrip())
            below = next((item for item in self._lines[number + 1 : number + 3] if item.strip()), "")
            title = _HEADING.match(line.strip())
            is_above = indent is None or depth < indent or (depth == indent and title and title["title"])
            is_head = depth <= 4 and not line.lstrip().startswith("-") and is_above
            if is_head and (title or (not depth and below[:1].isspace() and not line.endswith("."))):
                kind = self._kind((title["title"] or title["upper"] if title else line).strip())
                indent = braces = None
            elif not depth:
                kind, braces = ("commands" if self._only_lists else ""), None
            elif (head := _BRACES.match(line)) is not None:
                braces, indent = depth, None
                if head["names"] and not len(below) - len(below.lstrip()) > depth and self._is_in_usage(head[0]):
                    yield from (_Listed((name,), "", line.strip()) for name in head["names"].split(","))
            elif braces is not None and depth <= braces:
                braces = None
            elif kind or braces is not None:
                if kind == "commands" and _COMMA_LIST.match(line):
                    yield from (_Listed((name,), "", "") for name in line.replace(",", " ").split() if name != "help")
                    continue
                if self._heads_list(number, below):
                    indent = None
                    continue
                found = _ENTRY.match(line)
                column = found.start("text") if found is not None and found["text"] else None
                if indent is not None and depth < indent and column is None:
                    continue  # the title of a part, or of another list
                first_column = column if indent is None else first_column
                indent = depth if indent is None else min(indent, depth)
                # Prisma aligns the names of commands on the right.
                is_aligned = depth <= indent + 1 or column == first_column is not None
                if is_aligned and (item := self._entry(number, kind or "braces")) is not None:
                    yield item

    def _heads_list(self, number: int, below: str) -> bool:
        """True for the title of a part of a list, with an empty line and deeper commands below it."""
        title = re.match(r"( +)[A-Z]\w*\Z", self._lines[number])
        entry = _ENTRY.match(below) if title and number + 1 < len(self._lines) and not self._lines[number + 1] else None
        return title is not None and entry is not None and bool(entry["text"]) and len(entry["indent"]) > len(title[1])

    def _kind(self, title: str) -> str:
        if _LISTS_NOT.search(title):
            return ""
        return "commands" if _LISTS.search(title) else "other" if self._takes_command else "named" * title.isupper()

    def _is_in_usage(self, braces: str) -> bool:
        return any(re.search(re.escape(braces.strip()) + r"(?: ?\.\.\.|\Z)", usage) for usage in self.usages)

    def _entry(self, number: int, kind: str) -> _Listed | None:
        """Returns the command that a line of a list declares, with the lines below it that continue its text."""
        found = _ENTRY.match(self._lines[number])
        if found is None:
            return None
        depth = len(found["indent"]) + 2
        shown = [self._lines[number].strip()]
        for line in self._lines[number + 1 : number + 6]:
            if not line[:depth].isspace() or not line.strip():
                break
            shown.append(line.strip())
        text = " ".join([found["text"] or "", *shown[1:]]).strip()
        names = [name.strip() for name in re.split(r"[,|/]", found["names"]) if name.strip()]
        first = names[0].split(" ")
        is_named = first[0] == self._words[0]  # yargs, cac and Thor repeat the program
        if is_named and first[: len(self._words)] == self._words:
            first = first[len(self._words) :]
        elif is_named or kind == "named":
            return None
        elif len(self._words) > 1 and tuple(first[: len(self._words) - 1]) == tuple(self._words[1:]):
            first = first[len(self._words) - 1 :]  # oclif repeats the topic
        if _MANUAL.match(self.text) and (found["text"] or not text):  # a line of prose, which is justified
            return None
        below = "".join(self._lines[number + 1 : number + 2])
        # Symfony's namespaces are headings; SWITCH is a placeholder.
        is_heading = names[0].isupper() or (not text and below[: depth - 1].isspace())
        if not first or "help" in first or len(first) > 3 or is_heading or (kind == "other" and not found["text"]):
            return None
        is_example = not text and (is_named or len(first) > 1)
        if is_example or (len(first) > 1 and any(word != word.lower() for word in first)):  # or a phrase
            return None
        return _Listed(tuple(first), first_sentence(text) or text, "\n".join(shown))


def _starts(line: str, words: Sequence[str]) -> bool:
    """True if a line begins with the name of the program."""
    first = line.strip().removeprefix("$ ").split(" ")[0]
    return bool(first) and first.rpartition("/")[2] == words[0]


# -- the program -----------------------------------------------------------------------------------------------------


class _Node(Struct):
    """A command, with its help if it prints any of its own."""

    listed: _Listed
    help: _Help | None


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
        self._nodes: dict[tuple[str, ...], _Node] = {}
        self._unread: list[tuple[str, str]] = []

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
        root = _Help(text, self._words)
        if (found := _LISTING.search(text)) is not None:
            listing = self._text(next(filter(None, found.groups())).split())
            if listing is not None and found["symfony"]:
                root = _Help(listing, self._words)
            elif listing is not None:
                known = {item.words for item in root.commands}
                more = _Help(listing, self._words, only_lists=True).commands
                root.commands += [item for item in more if item.words not in known]
        if len(root.commands) > COMMANDS_LIMIT:
            message = f"more than {COMMANDS_LIMIT:,} commands are listed; the others are left out"
            self._problems.report("help-unread", "/root", message)
            del root.commands[COMMANDS_LIMIT:]
        if root.commands:
            self._choose_way(root)
            if self._way is not None:
                # A program may print a notice, such as on telemetry, with the first help of a command and never again.
                self._help_of(root.commands[0].words, root.text)
                self._sizes_bytes.pop()
            self._read_commands(root)
        ai_help = self._text(["--ai-help"]) if _AI_HELP.search(text) else None
        return Explored(service=self._service(root), ai_help=ai_help)

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

    def _help_of(self, path: tuple[str, ...], parent: str) -> _Help | None:
        """Returns the help of a command; `None` if it prints none of its own."""
        # Commander's `help env set` prints the help of `env`, which says that `--help` prints that of a command.
        way = ("--help",) if _ASKS_LONG.search(" ".join(parent.split())) else self._way or ()
        at = 0 if way == ("help",) else len(path)
        # Thor and picocli list a command `help` of their groups: `crate tags help add`.
        call = " ".join((self._words[-1], *path[:-1], ""))
        if at == 0 and any(
            re.match(r" +help(?: {2}| ?[\[<(])", line.replace(call, "")) for line in parent.splitlines()
        ):
            at = len(path) - 1
        text = self._text([*path[:at], *way, *path[at:]])
        if text is None or text.strip() == parent.strip():
            return None
        # A command without options may print no more than its name, its arguments and what it does.
        is_own = _HELPFUL.search(text) or text.lstrip().startswith(" ".join((self._words[-1], *path)))
        return _Help(text, (*self._words, *path)) if is_own else None

    def _read_commands(self, root: _Help) -> None:
        """Reads the commands, level by level."""
        if self._way is None:
            message = "its help does not say how to get that of a command, so none is run; only the lists are read"
            self._problems.report(
                "help-unread", "/root", message, f"run `{self._words[-1]} --help`, and name a text with --extra"
            )
        level: list[tuple[tuple[str, ...], _Help]] = [((), root)]
        names_above = {item.words for item in root.commands}
        with ThreadPoolExecutor(max_workers=_AT_ONCE, thread_name_prefix="skillgen-help") as pool:
            while level:
                waiting = {
                    full: (item, text.text)
                    for path, text in level
                    for item in text.commands
                    # oclif lists `access:add`, which is called so, in the help of `access`.
                    if (full := (*(() if item.words[0].startswith(f"{':'.join(path)}:") else path), *item.words))
                    not in self._nodes
                    and len(full) <= DEPTH_LIMIT
                }
                room = max(RUNS_LIMIT - len(self._sizes_bytes), 0) if self._way is not None else 0
                asked = dict([*waiting.items()][:room])
                if self._way is not None:
                    reason = f"there are more than {RUNS_LIMIT:,} commands"
                    self._unread += [(" ".join(path), reason) for path in waiting if path not in asked]
                    self._progress(f"reading the help of {counted(len(asked), 'command')}")
                try:
                    helps = [*pool.map(self._help_of, asked, [parent for _, parent in asked.values()])]
                except BaseException:
                    pool.shutdown(wait=False, cancel_futures=True)
                    raise
                self._nodes |= {path: _Node(item, None) for path, (item, _) in waiting.items()}
                level = []
                for path, text in zip(asked, helps, strict=True):
                    if text is None:
                        self._unread.append((" ".join(path), "no help is printed"))
                        continue
                    names = {item.words for item in text.commands}
                    if names and (names == names_above or path[-1:] in names):  # a list of the program
                        text.commands = []
                    self._nodes[path].help = text
                    level.append((path, text))

    # -- the service -------------------------------------------------------------------------------------------------

    def _service(self, root: _Help) -> Service:
        name = self._words[-1].rpartition("/")[2]
        for reason in dict.fromkeys(reason for _, reason in self._unread):
            names = [unread for unread, why in self._unread if why == reason]
            shown = ", ".join(f"`{unread}`" for unread in names[:5]) + (", …" if len(names) > 5 else "")
            message = f"the help of {counted(len(names), 'command')} is not documented, because {reason}: {shown}"
            self._problems.report("help-unread", "/root", message)
        parents = {path[:length] for path in self._nodes for length in range(1, len(path))}
        tools, sections = [], []
        if root.is_callable:
            tools.append(self._tool((), _Node(_Listed((), "", ""), root), name, is_parent=bool(self._nodes)))
        else:
            sections.append(self._section((), root.text))
        for path in sorted(self._nodes, key=self._order()):
            node = self._nodes[path]
            if path not in parents or node.help is None or node.help.is_callable:
                tools.append(self._tool(path, node, name, is_parent=path in parents))
            else:
                sections.append(self._section(path, node.help.text))
        groups = {
            tool.group: Group(name=tool.group, title=tool.group if tool.group != name else "Commands")
            for tool in tools
            if tool.group is not None
        }
        return Service(
            kind="cli",
            name=name,
            title=name,
            summary=root.summary() or None,
            requirements=Requirements(bins=self._words[:1]),
            groups=tuple(groups.values()),
            tools=tuple(tools),
            sections=tuple(sections),
            source_size_bytes=sum(self._sizes_bytes),
            origins={"summary": Origin("declared", "/root/help")},
        )

    def _order(self) -> Callable[[tuple[str, ...]], tuple[int, ...]]:
        """Returns the key that sorts commands as their lists do, those of a command after it."""
        places = {path: number for number, path in enumerate(self._nodes)}
        return lambda path: tuple(places.get(path[:length], 0) for length in range(1, len(path) + 1))

    def _section(self, path: tuple[str, ...], text: str) -> Section:
        return Section(title=" ".join((*self._words, *path)), body=str(fence(self._verbatim(text))))

    def _tool(self, path: tuple[str, ...], node: _Node, name: str, *, is_parent: bool) -> Tool:
        """Returns a command with its help, or with the line that lists it."""
        text = node.help.text if node.help is not None else node.listed.line
        default = name if any(len(other) > 1 or ":" in other[0] for other in self._nodes) else None
        group = " ".join(path if is_parent else path[:-1]) or ":".join(path).rpartition(":")[0] or default
        call = " ".join((*self._words, *path))
        usages = [item for item in (node.help.usages if node.help is not None else []) if item.startswith(call)]
        if len(usages) > 1 and any(_LITERAL.search(_PLACEHOLDERS.sub("", item[len(call) :])) for item in usages):
            usages = []  # the first may be that of a command behind this one, such as `git stash list`
        summary = node.listed.summary or (node.help.summary() if node.help is not None else "")
        return Tool(
            name=" ".join(path) or name,
            summary=summary or None,
            help=self._verbatim(text) or None,
            usage=usages[0] if usages else None,
            group=group,
            input_schema={"type": "object"},
            is_input_declared=False,
            command=(*self._words, *path),
            pointer="/root" + "".join(f"/{word}" for word in path),
        )

    @staticmethod
    def _verbatim(text: str) -> str:
        """Returns as much of a text as is documented, without its margin; a last line `…` is for the rest."""
        shown = "\n".join(map(str.rstrip, dedent(text.expandtabs()).strip("\n").splitlines())).encode()
        cut = shown[:SHOWN_BYTES].rpartition(b"\n")[0] + "\n…".encode() if len(shown) > SHOWN_BYTES else shown
        return cut.decode("utf-8", "ignore")
