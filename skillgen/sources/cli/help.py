"""Reads a program from the help that it prints: its commands from the lists in it, and the help of each verbatim.

Only the lists of commands, a usage line and a summary are interpreted: agents read the text itself.

Nothing but help is requested, and of a command only as the program itself says that its help is requested: a program
may ignore `--help` behind a command, and run it. The program gets no input, no terminal, no secrets of the user's
shell, and empty folders as its home and to work in; a proxy that does not exist keeps most programs off the network.
"""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from itertools import accumulate, takewhile
from pathlib import Path
from textwrap import dedent, indent
from time import monotonic

from msgspec import Struct, field
from msgspec.structs import replace

from skillgen.errors import ProblemLog, SourceError
from skillgen.model.auth import Requirements
from skillgen.model.resource import Group, Section
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.values import Origin
from skillgen.security.secrets import Secrets, report_echoed_secrets, without_own_folders
from skillgen.sources.mcp.process import CommandRun
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

SHOWN_BYTES = 28_000
"""How much of the help of a command is documented, so that a page has room for it; the rest is cut between lines."""

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
    r"|--help as an argument\b|Show help options\b|Show this message and exit|Prints? help(?: information)?\b"
    r"|display help for (?:the given )?command|--help\W? to any of these (?:sub-?)?commands"
    r"|help (?:message )?for this command\b|Show help and usage information|--help\W+Show help\.? +\[boolean\]"
    r"|Display this message and exit|\bwith the \W?-h,--help\W? flag|\d [a-z0-9]+-[a-z0-9]+ node-v\d"
    r"|--help\W{1,4}(?:-h\W{1,4})?(?:\w+ ){1,3}(?:help|information) (?:about|for|on) (?:a|any|the) (?:sub)?command\b"
    r"|\[OPTIONS\] COMMAND \[ARGS\]\.\.\.",  # Click's usage, which may be without its options; before, oclif's version
    re.IGNORECASE,
)
_ASKS_OTHER = re.compile(
    rf"{_COMMAND} (?P<short>-h)\b|(?<![\w-])(?P<single>-help) Show this help output, or the help for a specified sub",
    re.IGNORECASE,
)
"""How a program says that the help of a command is requested by `--help`, or by `-h` or `-help`."""

_SPEAKS_OF_COMMANDS = re.compile(
    rf"(?:(?<![\w-]){_COMMAND} (?:--help|-h)|(?:available|list of) (?:sub-?)?commands?|\bCOMMAND \| help)\b",
    re.IGNORECASE,
)
_HELP_COMMAND = re.compile(
    r"^[ \t]{1,12}(?:(?!-)\S{1,60} )?help\b(?=.*\b(?:help|(?:sub)?commands?|topics?)\b)"
    r"|\bhelp [<\[({]*(?:sub-?)?(?:command|cmd|topic|term)",
    re.MULTILINE | re.IGNORECASE,
)
_UNKNOWN = re.compile(r"[^\n]{0,80}(?:unknown|unrecogni[sz]ed|invalid|no such)[^\n]{0,80}--help", re.IGNORECASE)
"""How a program refuses `--help`; many print their help behind it."""
_MANUAL, _MANUAL_INDENT = re.compile(r"\A\s*(?:[A-Z][\w-]*\(\d\w?\)|NAME\n)"), 7
_LISTING = re.compile(
    r"(?P<words>help (?:-a|--all|commands)|--list)(?![\w-])[^\n]{0,60}\blist[^\n]{0,40}\b(?:sub)?commands?\b"
    r"|\blist[^\n]{0,40}(?:command)[^\n]{0,20}(?P<other>--list)(?![\w-])|[Tt]he (?P<symfony>list) command lists"
)
"""How a program says that it lists its commands; `--help` of Symfony's and cleo's prints the help of `list`."""
_LONGER = re.compile(r"(?<![\w-])--?h(?:elp)?[ =-](?:all|full)(?![\w-])")
"""How a program without commands says that it has more options than `--help` prints."""
_HELPFUL = re.compile(
    r"^[ ]{0,12}(?:usage|syntax|synopsis)\b|^[ ]{0,40}-{1,2}[A-Za-z]|│ {1,4}-"
    r"|^[ ]{0,12}(?:\S{0,40} ?(?:commands?|options|flags) ?:?|[^\n]{0,40} commands:)$"
    r"|^[ ]{1,12}(?!at )(\w[\w-]{1,40}) [a-z<\[][^\n]{0,200}\n[ ]{1,12}\1 [^\n]{0,200}\n[ ]{1,12}\1 ",  # calls
    re.IGNORECASE | re.MULTILINE,
)


def with_program_path(command: tuple[str, ...], environment: Mapping[str, str], folder: Path) -> tuple[str, ...]:
    """Returns a command with the absolute path of its program, which runs in another folder.

    Raises:
        SourceError: there is no such program.
    """
    program = command[0]
    place = program if Path(program).name == program else str((folder / program).absolute())
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

_BOX_TOP = re.compile(r"\s*[╭┌][─-] {0,2}(?P<title>[^─╮┐\n]{1,80}?) ?[─-].*")
_BOX_LINE = re.compile(r"\s*(?:(?:[│┃]|=(?= .* =\Z))(?P<text>.*?)[│┃=]?|[╰└].*)")
_HEADING = re.compile(
    r"(?:(?:[A-Z][\w-]{0,40} ){0,3}(?:Sub)?[Cc]ommands(?: \([^()\n]{0,80}\))?:?|[A-Za-z][^\n:<>\[\]]{0,60}:"
    r"|[A-Z][A-Z0-9 /&_-]{2,40})\Z"
)
_FLAT = re.compile(r"(?m)^((?:[A-Z][\w-]{0,40} ){0,3}(?:Sub)?[Cc]ommands:?\n)(?=\w\S* {2})((?:[^\n]+(?:\n|\Z))+)")
"""A list of commands that is no deeper than its title."""
_ASIDES = re.compile(
    r"(?:try|type|run|use) (?:[\"'`‘“]|e\.g\.)|(?:see|consult|for|with(?: no|out)|you (?:can|may|also)) "
    r"|[<\[][\w -]{1,40}[>\]] (?:is|are)\b|.{1,60} (?:v\d+|\d+\.\d+)\.\d[\w.+-]{0,20}\)?\Z"
    r"|(?:\W{0,3}|\S{1,40}: )(?:arguments?|options?|default (?:\w{1,20} )?is|error|fatal|invalid|mandatory"
    r"|note(?=:)|unknown|unrecogni[sz]ed|warning)\b|(?-i:[A-Z]{4,} (?:is|are)\b)"
    r"|.{0,200}\b(?:copyright|listed below|(?-i:COMMAND|ARGUMENTS?|OPTIONS?))\b|\w{1,40}: \S{1,200}\Z",
    re.IGNORECASE,
)
"""What precedes the lists of a help without saying what the program does."""


_BANNER = re.compile(
    r"\S{1,60}[ /](?:\(?version )?v?\d+\.\d(?!.* - )|\[\w+\]\S* (?!is |are )|[\W_]{2}|\W*\w?\W*\Z"
    r"|.*<[^<>@\s]+@[^<>\s]+>\W?\Z|https?://\S+\Z|\W?\d{4}-\d\d|[A-Z]+: |[a-z]+=\S|[\w-]+\(\d\w?\)"
    r"|[A-Z][a-z]+ing .*(?:\.{3}|…)\Z"
)
"""A line with a version, one of a log, one of a picture of letters, the head of a manual page, or the authors or the
URL, as clap writes them."""

_USAGE = re.compile(r"\A\s*(?:usage|synopsis|syntax)(?::\s*(?P<text>.*)|\s*)\Z", re.IGNORECASE)
_BELOW_USAGE = re.compile(
    r"\A-.*(?:\S {2,}\S|[>\]] [A-Z][a-z])|(?<![^\s])[A-Za-z][a-z'’]*(?: [a-z]+){3}(?![^\s.,])"
    r"|\A[a-z][^\[\]<>{}|=.]* [^\[\]<>{}|=]*\Z|\A[A-Z][a-z]+ (?:an?|the) |:\Z"
)
"""An option with its text, words of a sentence, or a title."""

_ABOUT_IT = re.compile(r"\S+ (?:[a-z]+ ){1,3}(?:an?|the|your)(?: |\Z)")
"""A sentence that begins with the name of the program."""

_TAKES_COMMAND = re.compile(
    r"(?:^|\s)[<\[({]{0,2}(?:sub-?)?(?:command|cmd|task|action)s?[>\])}]{0,2}(?:\s|\.|$)"
    r"|\{[^{}\s]*\}(?: \.\.\.|\Z)| \.\.\.\Z",
    re.IGNORECASE,
)
_LISTS = re.compile(r"command(?![- ]line)|\Atopics\Z|\b(?:tasks|functions)\Z|\bactions?\b", re.IGNORECASE)
_LISTS_NOT = re.compile(
    r"option|flag|switch|argument|\Aargs\Z|positional|parameter|usage|example|environment(?! commands)|alias|\bfiles?\Z"
    r"|\Asee also|learn more|help topic|exit|description|\Aname\Z|feedback|interface|format|concept|guide",
    re.IGNORECASE,
)
_WORD = r"[A-Za-z0-9](?:[\w+-]|[.:](?=[\w+-])){0,60}"
_ENTRY = re.compile(
    rf"[ \t]+(?P<names>{_WORD}(?:(?:, ?| ?\| ?|/| ){_WORD}){{0,4}}?(?: \([a-z][\w, -]{{0,40}}\)(?= {{2}}|\Z))?)\*?"
    r"(?P<args>(?: (?:\|?(?:<[^>]{1,80}>|\[[^\]]{1,80}\]{1,3}|\([^)]{1,80}\)|\?[^?\n]{1,40}\?"
    r"|--[\w-]{1,60}[ =][A-Z]{1,30}|\.\.\.[A-Z]{0,30}|[A-Z][A-Z0-9_=|.]{1,60})){1,4}(?:\.\.\.|…){0,2}){0,8})"
    r":?(?:(?: {2,}|\t+| - |(?<=:) )(?P<text>[^\s-].*|-\S* .*)|\s*)\Z"
)
_CALLED = re.compile(rf"[ \t]+(?P<names>{_WORD}(?: {_WORD}){{1,4}})(?P<args>(?: [<\[{{].*)?)(?P<text>)\Z")
"""A call with arguments of any form."""
_CALL = re.compile(rf"\[?(?P<name>{_WORD})\]?(?P<args>(?: .*)?)\n(?P<text> (?:.|\n(?![^ \n]))*)")
"""A call without the program, with the deeper lines below it."""
_BROKEN = re.compile(r"^( +\w[\w -]{0,80} <[\w.-]+)((?: {2,}\S.*)?\n) +([\w.-]*>)(?= {2}|$)", re.MULTILINE)
"""An argument of a command of which the end is on the next line."""
_SWITCH = re.compile(r" \[-[^\[\]]{1,80}\]")
_BEHIND = re.compile(r" [a-z][\w-]*(?: |\Z)")
"""A word of a usage line that is the name of another command."""

_FIRST = re.compile(
    r"(?: \[(?:-|[\w ]{0,40}(?i:option|flag|global))[^\[\]]{0,80}\](?:\.\.\.)?)*"
    r" \[?<?(?i:(?:sub-?)?command|cmd|action|function)\b"
)
"""A command as the first positional argument of a usage line, behind the call."""

_NAMES = re.compile(rf" *(?:\[{{1,2}}, )*{_WORD}(?:(?:, ?| {{2,}}){_WORD}){{0,200}},?\Z")
"""A line of names alone, separated by commas or in columns."""

_SEVERAL = 3
"""Names in the first line of them, or lines."""

_BRACES = re.compile(r"[ \t]*(?:\{(?P<names>[\w.:+,-]{1,4000})\}|<(?:sub-?)?command>)")
"""What argparse writes above the commands: their names, or a placeholder."""


class _Listed(Struct, frozen=True):
    """A command in a list."""

    words: tuple[str, ...]
    summary: str = ""
    arguments: str = ""
    """What follows the name, which it begins with a space."""
    line: str = ""
    """The lines of the list, if they say more than that."""
    heading: str = ""
    """The title of the list."""


class _Above(Struct, frozen=True):
    """A line that is less deep than those below it."""

    depth: int
    text_at: int
    """The column of the text of a command; -1 without one."""
    kind: str
    """What the lines below it list."""
    heading: str
    """The title of these lines."""


def _parsed_line(raw: str) -> str:
    """Returns a line of a help text without the frame of a box, whose title becomes a heading."""
    line = raw[:WIDTH_LIMIT].expandtabs().rstrip()
    line = re.sub(r"(\A[ \t]+[a-z]{1,20})[\[(]([a-z]{1,30})[\])](?=\s)", r"\1\2", line)  # `g[eneral]`
    if (top := _BOX_TOP.match(line)) is not None:
        return f"{top['title'].strip()}:"
    inner = _BOX_LINE.fullmatch(line)
    return line if inner is None else f"  {inner['text'] or ''}".rstrip()


class _Help:
    """A help text: its usage, its summary and the commands that it lists."""

    def __init__(self, text: str, words: Sequence[str], request: Sequence[str], *, is_listing: bool = False) -> None:
        self.text = text
        self.request = " ".join(request)
        """The arguments for which the program prints it."""
        text = _FLAT.sub(lambda found: found[1] + indent(found[2], "  "), text)
        self._words = [word.rpartition("/")[2] for word in words]
        self._call = " ".join(self._words)
        self._lines = [*map(_parsed_line, _BROKEN.sub(r"\1\3\2", text).splitlines())]
        self._is_manual = _MANUAL.match(text) is not None
        self._usage_lines: set[int] = set()
        self.unread: list[str] = []
        """Lines of lists of commands that have another form."""
        calls = self._read_calls()
        self._usages = usages = [] if calls else self._read_usages()
        self._takes_command = is_listing or any(map(_TAKES_COMMAND.search, usages))
        self.names_command = any(_FIRST.match(usage.removeprefix(self._call)) for usage in usages)
        """Whether its usage has a command as its first argument."""
        listed: dict[tuple[str, ...], _Listed] = {}
        for item in (*calls, *self._read_commands("commands" if is_listing else "")):
            listed.setdefault(item.words, item)
        self.commands = [*listed.values()]
        below = self._call.partition(" ")[2]
        if below and usages and f"{usages[0]} ".startswith(f"{below} "):  # without the program
            usages[0] = f"{self._words[0]} {usages[0]}"
        own = [usage for usage in usages if re.sub(r" \[[^\[\]]{1,80}\]", "", usage).startswith(self._call)]
        # Others are of commands behind this one, such as `git stash list`.
        own = [usage for usage in own if len(own) == 1 or not _BEHIND.match(usage, len(self._call))]
        self.usage = own[0] if own else None
        self.is_callable = not self.commands or not all(map(_TAKES_COMMAND.search, own))
        """Whether the command does something without another command behind it."""

    def _starts(self, text: str) -> bool:
        """True if a text begins with the name of the program, and is no sentence on it."""
        return text.partition(" ")[0].rpartition("/")[2] == self._words[0] and not _ABOUT_IT.match(text)

    def _is_call(self, text: str) -> bool:
        """True if a text is the command with its arguments, and no sentence that begins with the name."""
        return self._starts(text) and not re.match(r" +(?:[a-z]+(?:[ .,]|:\Z)|[-–—]+ )", text.removeprefix(self._call))

    def _read_usages(self) -> list[str]:
        """Returns the usage lines, each with the lines that continue it, without the folder of the program.

        Without a title, one of the first two lines is the usage if it is a call with arguments.
        """
        filled = [number for number, line in enumerate(self._lines) if line]
        texts = {number: _usage_text(self._lines[number]) for number in filled[:2]}
        starts = [number for number in filled if _USAGE.match(self._lines[number])]
        starts = starts or [number for number, text in texts.items() if text != self._call and self._is_call(text)]
        usages: list[str] = []
        for number, line in enumerate(self._lines[starts[0] :] if starts else [], starts[0] if starts else 0):
            text = _usage_text(line)
            is_own = self._starts(text)
            is_below = usages and not is_own and (not text or _BELOW_USAGE.search(text))
            is_listed = number > starts[0] and not usages and not is_own and _text_column(line) > 0
            if is_below or is_listed or (number > starts[0] and line[:1].strip() and not is_own):
                break
            self._usage_lines.add(number)
            if is_own or (text and not usages):
                usages.append(text.removeprefix(text.partition(" ")[0].rpartition("/")[0]).removeprefix("/"))
            elif text:
                usages[-1] = _joined(usages[-1], text)
        if not usages:  # its lines are a list of commands
            self._usage_lines.clear()
        return [re.split(r" {2,}| [-–—] (?=[A-Za-z])", usage, maxsplit=1)[0] for usage in usages]

    def _read_calls(self) -> list[_Listed]:
        """Returns the commands of a usage that explains each call in deeper lines below it, as that of `pass`."""
        at = next((number for number, line in enumerate(self._lines, 1) if _USAGE.match(line)), len(self._lines))
        block = [*takewhile(lambda line: not line[:1].strip(), self._lines[at:])]
        above, *calls = f"\n{dedent(chr(10).join(block))}".split(f"\n{self._call} ")
        found = [
            _Listed((call["name"],), first_sentence(call["text"]), call["args"], f"{self._call} {call[0].rstrip()}")
            for call in map(_CALL.fullmatch, calls)
            if call is not None and call["name"].islower()
        ]
        if above.strip() or len(found) < max(len(calls), _SEVERAL):
            return []
        self._usage_lines.update(range(at - 1, at + len(block)))
        return [item for item in found if item.words != ("help",)]

    def summary(self) -> str:
        """Returns the first sentence of a paragraph that precedes all options and lists, without the name before it."""
        paragraph: list[str] = []
        in_usage, name = False, re.escape(self._words[-1])
        for number, line in enumerate([*self._lines, ""]):
            text = line.strip()
            continues = in_usage and (line[:1].isspace() or text[:1].islower()) and not _BELOW_USAGE.search(text)
            in_usage = bool(text) and (number in self._usage_lines or continues)
            is_titled = text.lower().rstrip(":") in ("description", "name")
            is_list = not (in_usage or is_titled) and (text[:1] == "-" or text[-1:] == ":" or _HEADING.match(text))
            if in_usage or is_list or not text:
                said = re.sub(rf"\A(?:\S+ )?\S*{name}(?: \([^()]*\))?(?: [-–—]{{1,2}}|:) ", "", " ".join(paragraph))
                paragraph = []
                # A file below the home folder is of this run: "Created ~/.crate/data".
                if said and not _ASIDES.match(said) and "~/" not in (sentence := first_sentence(said)):
                    return sentence
                if is_list:
                    break
            elif paragraph and self._is_call(text) and number > min(self._usage_lines, default=number):
                break  # the text was that of the call above it
            elif not (is_titled or self._is_call(text) or _BANNER.match(text) or text == "-".join(self._words)):
                paragraph.append(text)
        return ""

    def _read_commands(self, default: str) -> Iterator[_Listed]:
        """Yields the commands of the lists; the last line above that is less deep decides what a line lists."""
        above: list[_Above] = []
        after_names, kind_of_parts, depth_of_calls, last_call = 0, "", -1, -1
        calls = [_depth(line) if line.lstrip().startswith(f"{self._call} ") else -1 for line in (*self._lines, "")]
        counts = Counter(calls)
        for number, line in enumerate(self._lines):
            if not line or number in self._usage_lines or number < after_names:
                continue
            depth, entry = _depth(line), _ENTRY.match(line)
            column = next((item.text_at for item in reversed(above) if item.depth == depth), -1)
            if entry is None and line[max(column - 1, 0) : column] == " ":  # long arguments leave no room for two
                entry = _ENTRY.match(f"{line[:column]} {line[column:]}")
            is_call = self._starts(line.strip()) and (entry is None or not entry["text"])
            entry = _CALLED.match(line) if is_call and entry is None else entry
            text_at = len(line) - len(entry["text"]) if entry is not None and entry["text"] else -1
            is_text = bool(above) and depth == above[-1].text_at
            # Prisma aligns the names of commands on the right.
            while above and (above[-1].depth >= depth or text_at == above[-1].text_at != -1):
                above.pop()
            kind, heading = (above[-1].kind, above[-1].heading) if above else (default, "")
            # Calls one below the other share the text below the last.
            last_call = max(last_call, number)
            while is_call and calls[last_call + 1] == depth:
                last_call += 1
            last = last_call if is_call else number
            below = next(filter(None, self._lines[last + 1 :]), "")
            is_deeper = below[: depth + 1].isspace()
            # The texts of a manual page are justified, and look like entries.
            inner = _ENTRY.match(below) if is_deeper and text_at == -1 and not self._is_manual else None
            shown = below.strip().partition(f"{self._call} ") if is_deeper and text_at == -1 else ("", "", "")
            call = _CALL.fullmatch(f"{shown[2]}\n {line}") if not shown[0] and shown[2][:1] != "[" else None
            is_title = inner is not None and inner["text"] is not None and "  " not in line.strip()
            if not kind and entry is not None and is_call and "example" not in heading.lower():
                depth_of_calls = depth if is_deeper and counts[depth] >= _SEVERAL else depth_of_calls
                kind = "called" if depth == depth_of_calls else ""
            kind_below = kind if depth and (is_title or not kind) else ""
            if (braces := _BRACES.match(line)) is not None:
                kind_below, heading = "commands", ""
                if braces["names"] and not is_deeper and "} ..." in " ".join(self._usages):
                    yield from (_Listed((name,), line=line.strip()) for name in braces["names"].split(","))
            elif (_HEADING.match(line.strip()) and not is_text) or (not depth and is_deeper):
                heading = line.partition(" (")[0].strip(" :")
                kind_below = kind_of_parts or ("other" if self._takes_command else "named")
                kind_below = "commands" if _LISTS.search(heading) else kind_below
                kind_below = "" if _LISTS_NOT.search(heading) else kind_below
                if not depth and below[:1].strip() and _HEADING.match(below):  # its lists have titles of their own
                    kind_of_parts = kind_below if kind_below == "commands" else ""
                kind_below = "commands" if not self._usages and _USAGE.match(line) else kind_below
                depth = min(depth, _depth(below) - 1)  # the list may be no deeper than its title
            elif kind == "commands" and call and call["name"].islower() and not line.islower():  # s3cmd
                yield _Listed((call["name"],), line.strip(), call["args"], below.strip(), heading)
            elif kind == "commands" and (rows := self._rows_of_names(number)):
                after_names = number + len(rows)
                yield from (_Listed((name,), heading=heading) for row in rows for name in row if name != "help")
            elif kind and entry is not None and is_title:
                heading = line.partition(" (")[0].strip()  # of a part
            elif kind and entry is not None and (item := self._listed(number, last, entry, kind, heading)) is not None:
                yield item
            elif kind == "commands" and entry is None and column > 0 and "  " in line.strip() and not self._is_manual:
                self.unread.append(line.strip())
            above.append(_Above(depth, text_at, kind_below, heading))

    def _rows_of_names(self, number: int) -> list[list[str]]:
        """Returns the names in each of the lines from one on, if these have nothing else."""
        depth = _depth(self._lines[number])
        lines = takewhile(lambda line: line.islower() and _depth(line) == depth, self._lines[number:])
        rows = [re.sub(r"[,\[]", " ", line).split() for line in takewhile(_NAMES.match, lines)]
        is_list = max([len(rows), *map(len, rows[:1])]) >= _SEVERAL and not self._is_manual
        # Below it, a line with a text makes it a list of commands whose texts have one word.
        return rows if is_list and not _ENTRY.match("".join(self._lines[number + len(rows) :][:1])) else []

    def _listed(self, number: int, last: int, entry: re.Match[str], kind: str, heading: str) -> _Listed | None:
        """Returns the command that a line of a list declares, with the lines below the last that continue its text."""
        line = self._lines[number]
        depth, column = _depth(line) + 2, _text_column(line)
        below = takewhile(lambda line: line[:depth].isspace(), self._lines[last + 1 : last + 6])
        # Prisma aligns the names on the right.
        below = takewhile(lambda line: column < 0 or _text_column(line) != column, below)
        shown = [line.strip(), *map(str.strip, below)]
        text = reduce(_joined, shown[1:], entry["text"] or "").strip()
        name = re.split(r" ?[,|/(] ?", entry["names"], maxsplit=1)[0]
        words, path = name.split(" "), self._words
        is_named = words[0] == path[0]  # yargs, cac and Thor repeat the program
        if not is_named and kind != "named":
            path = path[1:] if words[: len(path) - 1] == path[1:] else []  # oclif repeats the topic
        if words[: len(path)] != path or (kind == "other" and not entry["text"]):
            return None
        words = words[len(path) :]
        is_known = bool(text) or kind == "called"
        is_phrase = len(words) > (3 if is_known else 1) or (name != name.lower() and (len(words) > 1 or not text))
        # A short name of a manual page has its text on its line, behind an indent of seven.
        is_prose = self._is_manual and (not text or (entry["text"] and column - _depth(line) != _MANUAL_INDENT))
        is_placeholder = name.isupper() or (is_named and not is_known)
        is_titled = name.title() == name or heading[-8:].lower() != "commands"
        is_label = line[entry.end("args") :][:2] == ": " and is_titled
        is_help = "help" in words and (len(words) > 1 or not text or _HELP_COMMAND.search(f" {' '.join(shown)}"))
        if not words or is_help or is_label or is_phrase or is_prose or is_placeholder:
            return None
        summary = first_sentence(text) or text
        line = "" if (summary, name) == (text, entry["names"]) else "\n".join(shown)
        return _Listed(tuple(words), summary, entry["args"], line, heading)


def _text_column(line: str) -> int:
    """Returns where the text of a line of a list begins; -1 without a name before it."""
    entry = _ENTRY.match(line)
    return len(line) - len(entry["text"]) if entry is not None and entry["text"] else -1


def _joined(text: str, below: str) -> str:
    """Returns a text with the line that continues it, also in the middle of a word."""
    is_word = re.search(r"(?:\w-|\[[^\s\[\]]*\|[^\s\[\]|]+)\n[a-z][\w-]{0,60}(?:[|\s]|\Z)", f"{text}\n{below}")
    return f"{text}{'' if is_word else ' '}{below}"


def _whole(listed: str, own: str) -> str:
    """Returns the summary of a command in a list, or that of its help if the list cuts it.

    Where both are the same, a line may be broken within a word (yargs): only the spaces that both have are shown.
    """
    letters, shown = ("".join(text.split()) for text in (own, listed))
    if letters != shown:
        return own if own and listed.endswith(("...", "…")) else listed or own
    ends = {*accumulate(map(len, own.split()))} & {*accumulate(map(len, listed.split()))}
    return "".join(f"{letter} " if end in ends else letter for end, letter in enumerate(letters, 1)).strip()


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _usage_text(line: str) -> str:
    """Returns a line of usage without its title and mark."""
    return _USAGE.sub(r"\g<text>", line).strip().removeprefix("$ ").removeprefix("or: ").strip()


# -- the program -----------------------------------------------------------------------------------------------------


_OF_HELP = {"title": Origin("inferred", "words and headings of commands")}


class _Command(Struct):
    """The program, or a command of it."""

    path: tuple[str, ...]
    listed: _Listed
    above: _Help
    """The help that lists it."""
    help: _Help | None = None
    """The help that it prints of its own."""
    commands: list[_Command] = field(default_factory=list)


class Explorer(Struct, kw_only=True):
    """Reads one program."""

    run: CommandRun
    """A run without arguments; of its environment, a program gets what it needs to start."""
    words: tuple[str, ...]
    """What users type for the command of the run."""
    env: Mapping[str, str]
    """The variables that the user sets."""
    problems: ProblemLog
    secrets: Secrets
    progress: Callable[[str], None]

    _deadline: float = field(default_factory=lambda: monotonic() + TOTAL_LIMIT_S)
    _sizes_bytes: list[int] = field(default_factory=list)
    """The length of what each run printed; threads append to it."""
    _way: tuple[str, ...] | None = None

    def explored(self) -> tuple[Service, str | None]:
        """Returns the program, and what it prints with `--ai-help`, if its help lists that.

        Raises:
            SourceError: the program cannot be started, prints no help, or takes too long.
        """
        with tempfile.TemporaryDirectory(prefix="skillgen-", ignore_cleanup_errors=True) as folder:
            home, given = Path(folder, "home"), self.run.environment
            home.mkdir()
            own = {"HOME": str(home), "USERPROFILE": str(home), "TMPDIR": folder, "TEMP": folder, "TMP": folder}
            variables = {name: given[name] for name in _INHERITED if name in given} | _QUIET | own | {**self.env}
            cwd = self.run.cwd or Path(folder)
            self.run = replace(self.run, environment=variables, cwd=cwd, limit_bytes=OUTPUT_LIMIT_BYTES)
            return self._explored()

    def _explored(self) -> tuple[Service, str | None]:
        # With its first help, a program may report what it created.
        request, text = "--help", self._text(["--help"]) and self._text(["--help"])
        del self._sizes_bytes[:-1]
        if text is None:
            raise SourceError("did not print its help in time", where=self.words[0], fix="increase --timeout")
        if _UNKNOWN.match(text) and _HELP_COMMAND.search(text):
            request, text = "help", self._text(["help"]) or text
        if not _HELPFUL.search(text):
            what = f"--help prints no help: {text.strip().partition(chr(10))[0][:200] or 'nothing'}"
            fix = "document another command, or pass on what it needs, such as --env HOME: its home is an empty folder"
            raise SourceError(what, where=self.words[0], fix=fix)
        root = self._with_listing(_Help(text, self.words, [request]))
        if not root.commands and (named := _LONGER.search(text)):
            longer = self._text(named[0].split()) or ""
            if len(longer) > len(text) and _HELPFUL.search(longer):
                root.text, root.request = longer, named[0]
        if len(root.commands) > COMMANDS_LIMIT:
            self._report(f"more than {COMMANDS_LIMIT:,} commands are listed; the others are left out")
            del root.commands[COMMANDS_LIMIT:]
        program = _Command((), _Listed(()), root, root)
        if root.commands:
            self._choose_way(root)
            if self._way is not None:
                # A program may print a notice, such as on telemetry, with the first help of a command and never again.
                self._read_help(_Command(root.commands[0].words, root.commands[0], root))
                self._sizes_bytes.pop()
            self._read_commands(program)
        elif root.names_command or _SPEAKS_OF_COMMANDS.search(text):
            self._report("it has commands, but no list of them is found in its help")
        ai_help = self._text(["--ai-help"]) or None if re.search(r"(?<![\w-])--ai-help(?![\w-])", text) else None
        return self._service(program, root), ai_help

    def _report(self, message: str, fix: str | None = None) -> None:
        self.problems.report("help-unread", " ".join(self.words), message, fix)

    def _with_listing(self, root: _Help) -> _Help:
        """Returns a help with the commands that only another call lists, if it says so."""
        found = _LISTING.search(root.text)
        request = (found[found.lastindex or 0] if found is not None else "").split()
        if found is None or not (text := self._text(request)):
            return root
        listing = _Help(text, self.words, request, is_listing=not found["symfony"])
        if found["symfony"]:
            return listing
        root.commands += listing.commands
        return root

    def _text(self, arguments: Sequence[str]) -> str | None:
        """Returns what the program prints; `None` if it hangs."""
        timeout_s = min(self.run.timeout_s, self._deadline - monotonic())
        run = replace(self.run, words=(*self.run.words, *arguments), timeout_s=timeout_s)
        finished = run.finished() if timeout_s > 0 else None
        if finished is None or finished.status is None:
            self._sizes_bytes.append(0)
            return None
        home, path = run.environment["HOME"], run.words[0]
        text, errors = (data.decode("utf-8", "replace") for data in (finished.output, finished.errors))
        text = text if _HELPFUL.search(text) or (text.strip() and not _HELPFUL.search(errors)) else errors
        text = _TERMINAL.sub("", text).replace(home, "~").replace(str(Path(home).parent), "~")
        data, echoed_from = self.secrets.hide_in(without_own_folders(text.replace(path, Path(path).name), self.run.cwd))
        report_echoed_secrets(self.problems, echoed_from)
        self._sizes_bytes.append(len(str(data).encode()))
        return str(data).strip("\n")

    def _choose_way(self, root: _Help) -> None:
        """Chooses how to request the help of a command; none if the program does not say how."""
        flat = " ".join(root.text.split())
        shown = "|".join(re.escape(" ".join(item.words)) for item in root.commands)
        if _ASKS_LONG.search(flat) or re.search(rf"\b{re.escape(self.words[-1])} (?:{shown}) --help\b", flat):
            self._way = ("--help",)
        elif (asks := _ASKS_OTHER.search(flat)) is not None:
            self._way = (asks["short"] or asks["single"],)
        elif _HELP_COMMAND.search(root.text):
            self._way = ("help",)
            if re.search(r"\[-h\b|^[ ]{0,12}-h\b|[|,] -h\b", root.text, re.MULTILINE):
                # `git help CMD` opens a manual page, but `git CMD -h` prints the options.
                sample = self._text(["help", *root.commands[0].words]) or ""
                if not _HELPFUL.search(sample) or (_MANUAL.match(sample) and sample.lstrip()[:4] != "NAME"):
                    self._way = ("-h",)
        else:
            what = "its help does not say how to get that of a command, so none is run; only the lists are read"
            self._report(what, f"run `{self.words[-1]} --help`, and name a text with --extra")

    def _read_help(self, command: _Command) -> None:
        """Reads the help of a command, if it prints one of its own."""
        path, above = command.path, command.above.text
        # Commander's `help env set` prints the help of `env`, which says that `--help` prints that of a command.
        way = ("--help",) if _ASKS_LONG.search(" ".join(above.split())) else self._way or ()
        at = 0 if way == ("help",) else len(path)
        # Thor and picocli list a command `help` of their groups: `crate tags help add`.
        call = re.escape(" ".join((self.words[-1], *path[:-1])))
        if at == 0 and re.search(rf"^ +(?:{call} )?help(?: {{2}}| ?[\[<(])", above, re.MULTILINE):
            at = len(path) - 1
        request = [*path[:at], *way, *path[at:]]
        text = self._text(request)
        if text and text.strip() != above.strip() and _HELPFUL.search(text):
            found = _Help(text, (*self.words, *path), request)
            others = {*command.above.commands} - {command.listed}
            # ipmitool prints the list of all commands instead of a help of one.
            command.help = None if len(others) >= _SEVERAL and others.issubset(found.commands) else found
            if any(item.words in (path, path[:1], path[-1:]) for item in found.commands):  # a list of those above
                found.commands = []

    def _read_commands(self, program: _Command) -> None:
        """Reads the commands, level by level."""
        known: set[tuple[str, ...]] = set()
        level = [program]
        with ThreadPoolExecutor(max_workers=_AT_ONCE, thread_name_prefix="skillgen-help") as pool:
            while (level := [item for parent in level for item in _commands_below(parent, known)]) and self._way:
                level = level[: max(RUNS_LIMIT - len(self._sizes_bytes), 0)]
                try:
                    for done, _ in enumerate(pool.map(self._read_help, level)):
                        self.progress(f"reading the help of {counted(len(level), 'command')}, {done:,} are done")
                except BaseException:
                    pool.shutdown(wait=False, cancel_futures=True)
                    raise

    def _service(self, program: _Command, root: _Help) -> Service:
        name = self.words[-1].rpartition("/")[2]
        commands = [*_in_order(program)]
        if self._way and (unread := [command for command in commands if command.help is None]):
            is_limited = len(self._sizes_bytes) >= RUNS_LIMIT
            reason = f"more than {RUNS_LIMIT:,} are listed" if is_limited else "none is printed"
            which = f"{counted(len(unread), 'command')}, such as `{' '.join(unread[0].path)}`,"
            self._report(f"the help of {which} is not documented: {reason}")
        if lines := [line for command in commands if command.help is not None for line in command.help.unread]:
            self._report(f"{counted(len(lines), 'line')} of lists of commands cannot be read, such as `{lines[0]}`")
        parents = {item.path[:length] for item in commands for length in range(len(item.path))}
        counts = Counter(item.listed.heading for item in program.commands).values()
        with_arguments = {command.listed.heading for command in commands if command.listed.arguments}
        tools, sections = [], []
        for command in commands:
            if command.help is None or command.help.is_callable:
                group = " ".join(command.path if command.path in parents else command.path[:-1])
                group = group or ":".join(command.path).rpartition(":")[0]
                group = group or (sum(count > 1 for count in counts) > 1 and command.listed.heading) or name
                tools.append(self._tool(command, name, group, is_shown=command.listed.heading in with_arguments))
            else:
                title = " ".join((*self.words, *command.path))
                sections.append(Section(title=title, body=str(fence(self._shown(command.help)))))
        options = [{*_SWITCH.findall(tool.usage)} for tool in tools if tool.usage]
        shared = set.intersection(*options) if len(options) >= _SEVERAL else set[str]()
        if len(shared) >= _SEVERAL:
            tools = [replace(tool, usage=tool.usage and _shortened(tool.usage, shared)) for tool in tools]
        titles = {group: group if group != name else "Commands" for group in (tool.group or name for tool in tools)}
        return Service(
            kind="cli",
            name=name,
            title=name,
            summary=root.summary() or None,
            requirements=Requirements(bins=self.words[:1]),
            groups=tuple(Group(name=group, title=title, origins=_OF_HELP) for group, title in titles.items()),
            tools=tuple(tools),
            sections=tuple(sections),
            source_size_bytes=sum(self._sizes_bytes),
            origins={"summary": Origin("declared", "/root/help")},
        )

    def _tool(self, command: _Command, name: str, group: str, *, is_shown: bool) -> Tool:
        """Returns a command with its help, or with the line that lists it, where arguments may be shown."""
        found, listed = command.help, command.listed
        # What a program does says nothing on a call without a command.
        summary = found.summary() if found is not None and (command.path or not command.commands) else ""
        call = " ".join(word.rpartition("/")[2] for word in (*self.words, *command.path))
        return Tool(
            name=" ".join(command.path) or name,
            # A list of topics says what the commands below are about, not what the call does (oclif).
            summary=(summary if listed.heading.lower() == "topics" else "") or _whole(listed.summary, summary) or None,
            help=self._shown(found) if found is not None else listed.line,
            usage=(found.usage if found is not None else None) or (f"{call}{listed.arguments}" if is_shown else None),
            group=group,
            input_schema={"type": "object"},
            is_input_declared=False,
            command=(*self.words, *command.path),
            pointer="/root" + "".join(f"/{word}" for word in command.path),
            origins=None if command.path else {"name": Origin("defaulted", "the program, of which no word is a verb")},
        )

    def _shown(self, found: _Help) -> str:
        """Returns a help without its margin; a long one ends with a line on how to read the rest."""
        shown = "\n".join(map(str.rstrip, dedent(found.text.expandtabs()).strip("\n").splitlines())).encode()
        if len(shown) > SHOWN_BYTES:
            rest = f"\n… The rest: {' '.join(self.words)} {found.request}"
            shown = shown[:SHOWN_BYTES].rpartition(b"\n")[0] + rest.encode()
        return shown.decode("utf-8", "ignore")


def _shortened(usage: str, shared: Collection[str]) -> str:
    """Returns a usage line with their number in the place of the options that all commands share."""
    first, *others = (option for option in _SWITCH.findall(usage) if option in shared)
    return reduce(lambda text, other: text.replace(other, ""), others, usage.replace(first, f" […{len(shared)}]", 1))


def _commands_below(parent: _Command, known: set[tuple[str, ...]]) -> list[_Command]:
    """Returns the commands that the help of another lists; those that are known are left out."""
    if parent.help is None:
        return []
    for item in parent.help.commands:
        # oclif lists `access:add`, which is called so, in the help of `access`.
        is_complete = item.words[0].startswith(f"{':'.join(parent.path)}:")
        path = item.words if is_complete else (*parent.path, *item.words)
        if path not in known and len(path) <= DEPTH_LIMIT:
            known.add(path)
            parent.commands.append(_Command(path, item, parent.help))
    return parent.commands


def _in_order(command: _Command) -> Iterator[_Command]:
    """Yields a command, and those behind it as the lists have them."""
    yield command
    for item in command.commands:
        yield from _in_order(item)
