"""Reads the help text of a command, as programs print it: usage, options, arguments, commands and prose.

Help is written for people, so every rule here is lenient: a line that begins with a dash declares an option, two spaces
or a deeper line separate it from its text, a heading such as "Commands:" says what the lines below it are. Nothing of
it is certain, and documents say so.

The styles: argparse, Click and Typer (also in boxes), clap, Cobra, commander, yargs, GNU, docopt, npm, and git's usage.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from skillgen.sources.cli.declarations import Command, Param
from skillgen.sources.cli.help_specs import (
    DEPRECATED,
    SUBPARSERS,
    TAKES_COMMAND,
    WIDTH_LIMIT,
    argument_from_spec,
    option_from_spec,
    option_names,
    params_from_usage,
    with_value_of,
    without_repeated,
)
from skillgen.text import lazy_re as re

LINES_LIMIT = 20_000
"""Maximum number of lines of a help text that are read."""

ITEMS_LIMIT = 2_000
"""Maximum number of options, and of commands, of one command."""

_TERMINAL = re.compile(r"\x1b\[[0-9;?]{0,20}[A-Za-z]|\x1b\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|[^\n]\x08")
"""Colours, links, and letters that are struck over, as in manual pages."""

_BOX_TOP = re.compile(r"[╭┌][─-] {0,2}(?P<title>[^─╮┐\n]{1,80}?) ?[─-]")
_BOX_LINE = re.compile(r"[│|┃](?P<text>.*?)[│|┃]?[ \t]*\Z")

_HEADING = re.compile(
    r"(?P<title>[A-Za-z][^\n:<>\[\]]{0,60}):\s*\Z|(?P<upper>[A-Z][A-Z0-9 /_-]{2,40})\Z|(?P<bare>Examples?|Learn more)\Z"
)
_USAGE = re.compile(r"(?P<indent>\s*)(?:usage|synopsis)(?::\s*(?P<text>.*)|\s*)\Z", re.IGNORECASE)
_OR = re.compile(r"\s*or:\s+(?P<text>\S.*)\Z")

_OPTION_LINE = re.compile(r"(?P<indent>[ \t]*)(?:\* +)?(?P<item>\[?-{1,2}[A-Za-z0-9?#@\[(][^\n]*)\Z")
_USAGE_LINE = re.compile(r"\s*\[-[^\n]*\]\.{0,3}\s*\Z")
_CLICK_TYPE = re.compile(r"(?<=[a-z] )[A-Z][A-Z0-9-]*(?: (?!RANGE)[A-Z][A-Z0-9-]*)+(?=  |\Z)")
_OPEN_CHOICES = re.compile(r"[\[{][^\s\[\]{}]*\|[^\s\[\]{}]*\Z")
"""Choices that Click breaks between any two characters."""

_COLUMN = re.compile(r"[ ]{2,}|\t+")
_METAVAR = re.compile(
    r"(?:-{1,2}[\w?#]\S*(?: [A-Z<\[{]\S*)?\Z|\[[^\s\[\]|]*\|[^\s\[\]]*\Z|[A-Z][A-Z0-9_:=|,./-]*\Z|[A-Z]+ RANGE"
    r"|<[^<>]*>\Z|\[[^\[\]|]*\|[^\[\]]*\]\Z|\{[^{}]*\}\Z)"
)
"""A value in a column of its own; choices may be cut at its end."""

_COMMAND_WORD = r"[A-Za-z0-9](?:[\w+-]|[.:](?=[\w+-])){0,60}"
_COMMAND_LINE = re.compile(
    rf"[ \t]*(?:\$ )?(?P<names>{_COMMAND_WORD}(?:(?:, ?|\||/| ){_COMMAND_WORD}){{0,4}}?)[*]?"
    r"(?P<args>(?: (?:<[^>]{1,80}>|\[[^\]]{1,80}\]|\([^)]{1,80}\)|[A-Z][A-Z0-9_]{1,30}|\.\.\.)(?:\.\.\.)?){0,8})"
    r":?(?:(?: {2,}|\t+| - | -- )(?P<text>\S.*)|\s*)\Z"
)
_ALIASES = re.compile(rf" \((?P<names>{_COMMAND_WORD}(?:, {_COMMAND_WORD})*)\)")
_COMMA_LIST = re.compile(rf"[ \t]+(?:{_COMMAND_WORD}, ?){{2,200}}(?:{_COMMAND_WORD})?\Z")
_BRACES = re.compile(r"[ \t]*\{(?P<names>[\w.:+,-]{1,4000})\}")
_HEAD = re.compile(r"\s*(?:\{[\w.:+,-]{1,4000}\}|<(?:sub-?)?command>)")
"""What argparse writes above the commands: their names, or a placeholder."""

_POINTER = re.compile(r"--help|\bhelp (?:<|\[|command)|for more (?:info|help|details)|-h\b.{0,40}help", re.IGNORECASE)

_TITLES = {
    "commands": re.compile(r"command|subcommand|tasks\Z", re.IGNORECASE),
    "arguments": re.compile(
        r"(?:positional )?arguments?\Z|args\Z|positionals?(?: parameters)?\Z|parameters\Z", re.IGNORECASE
    ),
    "examples": re.compile(r"examples?\Z|usage examples?\Z", re.IGNORECASE),
    "codes": re.compile(r"exit (?:codes?|status)", re.IGNORECASE),
    "aliases": re.compile(r"alias(?:es)?\Z", re.IGNORECASE),
    "ignored": re.compile(
        r"topics\Z|learn more|feedback|environment(?: variables?)?\Z|see also|\Afiles\Z", re.IGNORECASE
    ),
    "prose": re.compile(r"description|name|about|summary|overview", re.IGNORECASE),
    "options": re.compile(r"options|flags|switches|optional arguments|parameters", re.IGNORECASE),
}
"""Kind of a section to its titles; the first that matches counts. Others may have options, too."""


class _Item(Struct):
    """An entry of a list: what is declared, and its text."""

    indent: int
    spec: str
    text: list[str]
    section: str
    is_option: bool


def help_lines(text: str) -> list[str]:
    """Returns the lines of a help text without colours and boxes."""
    lines = []
    for raw in _TERMINAL.sub("", text[: LINES_LIMIT * 200]).splitlines()[:LINES_LIMIT]:
        line = raw[:WIDTH_LIMIT].expandtabs().rstrip()
        stripped = line.lstrip()
        if (top := _BOX_TOP.match(stripped)) is not None:
            line = f"{top['title'].strip()}:"
        elif stripped[:1] in "╰└" and stripped:
            line = ""
        elif stripped[:1] in "│┃" and stripped and (inner := _BOX_LINE.match(stripped)) is not None:
            line = f"  {inner['text'].rstrip()}"
        lines.append(line)
    return lines


def command_from_help(text: str, name: str, words: Sequence[str]) -> Command:
    """Returns a command with what its help declares; `words` are those that start it, the program first.

    Its own commands have only names and summaries.
    """
    return _HelpReader(text, name, words).command()


def commands_listed(text: str, words: Sequence[str]) -> tuple[Command, ...]:
    """Returns the commands in a text that lists nothing else."""
    reader = _HelpReader(text, "", words, lists_only=True)
    return reader.command().commands


class _HelpReader:
    """Reads one help text."""

    def __init__(self, text: str, name: str, words: Sequence[str], *, lists_only: bool = False) -> None:
        self._name, self._words = name, tuple(words)
        self._usages: list[str] = []
        self._prose: list[str] = []
        self._named: dict[str, list[str]] = {"examples": [], "codes": []}
        self._aliases: list[str] = []
        self._items: list[_Item] = []
        self._has_item = False
        self._current: _Item | None = None
        """The item that the next line may continue."""
        self._text_column = WIDTH_LIMIT
        """The column of its text."""
        self._lists_only = lists_only
        self._is_click = "[OPTIONS]" in text and "Show this message and exit." in text
        self._read(help_lines(text))

    # -- lines -------------------------------------------------------------------------------------------------------

    def _read(self, lines: Sequence[str]) -> None:
        kind, number = ("commands" if self._lists_only else "", 0)
        while number < len(lines):
            line = lines[number]
            indent = len(line) - len(line.lstrip())
            following = next((item for item in lines[number + 1 : number + 3] if item.strip()), "")
            deeper = len(following) - len(following.lstrip()) > indent
            if not line.strip():
                self._blank(kind)
                number += 1
            elif (usage := _USAGE.match(line)) is not None and (usage["text"] or deeper or not indent):
                number = self._usage(lines, number, usage)
                kind = ""
            elif (title := self._heading(line, indent, kind)) is not None:
                kind = next((kind for kind, pattern in _TITLES.items() if pattern.search(title)), "other")
                self._current = None
                number += 1
            else:
                self._line(line, indent, kind)
                number += 1

    def _heading(self, line: str, indent: int, kind: str) -> str | None:
        """Returns the title that a line is, if it is one."""
        found = _HEADING.match(line.strip())
        if found is None or indent > 4 or line.lstrip().startswith("-"):
            return None
        if self._current is not None and indent and indent > self._current.indent:
            return None
        if indent and (self._is_click or (kind == "arguments" and found["upper"])):
            return None
        return (found["title"] or found["upper"] or found["bare"]).strip()

    def _usage(self, lines: Sequence[str], number: int, found: re.Match[str]) -> int:
        """Reads the usage from its first line; returns the number of the line behind it."""
        base = len(found["indent"])
        self._current = None
        current = [found["text"]] if found["text"] else []
        least: int | None = None
        number += 1
        is_section = not found["text"]
        while number < len(lines):
            line = lines[number]
            indent = len(line) - len(line.lstrip())
            if not line.strip():
                following = lines[number + 1] if number + 1 < len(lines) else ""
                if is_section and least is None:
                    number += 1
                    continue
                if not (is_section and self._starts_program(following)):
                    break
                number += 1
                continue
            if indent <= base and not (is_section and least is None) and not _OR.match(line):
                break
            if (option := _OPTION_LINE.match(line)) is not None and _COLUMN.search(option["item"]):
                break
            if (other := _OR.match(line)) is not None:
                self._usages.append(" ".join(current))
                current = [other["text"]]
            elif self._starts_program(line) or (is_section and (least is None or indent <= least)):
                if _OPTION_LINE.match(line) and current:
                    break
                if current:
                    self._usages.append(" ".join(current))
                least, current = indent, [line.strip()]
            elif current and _OPEN_CHOICES.search(current[-1]):
                current[-1] += line.strip()
            else:
                current.append(line.strip())
            number += 1
        if current:
            self._usages.append(" ".join(current))
        return number

    def _starts_program(self, line: str) -> bool:
        first = line.strip().removeprefix("$ ").split(" ")[0]
        return bool(first) and first.rpartition("/")[2] == self._words[0].rpartition("/")[2]

    def _blank(self, kind: str) -> None:
        if kind in self._named:
            self._named[kind].append("")
        elif self._current is None and not self._has_item:
            self._prose.append("")

    def _line(self, line: str, indent: int, kind: str) -> None:
        """Reads a line that is neither a heading nor usage."""
        if kind in self._named:
            self._named[kind].append(line)
            return
        if kind == "ignored":
            return
        if kind == "aliases":
            self._aliases += [word.strip() for word in line.split(",")]
            return
        has_options = not self._lists_only and bool(kind or not self._is_click)  # Click's are below a heading
        option = _OPTION_LINE.match(line) if has_options else None
        if option is not None and _USAGE_LINE.match(line):  # npm has usage below "Options:"
            self._usages[-1:] = [" ".join([*self._usages[-1:], line.strip()])]
            return
        is_listed = kind != "commands" or self._current is None or self._current.is_option
        if option is not None and self._is_new(indent) and is_listed:
            item = option["item"]
            if self._is_click:  # a type of several words
                item = _CLICK_TYPE.sub(lambda found: found[0].replace(" ", "-"), item, count=1)
            self._add(indent, item, kind, is_option=True)
            return
        if kind == "commands" and _COMMA_LIST.match(line):
            for word in line.replace(",", " ").split():
                self._items.append(_Item(indent, word, [], kind, False))
            self._current, self._has_item = None, True
            return
        may_list = kind == "commands" or (self._takes_command and kind not in ("arguments", "prose", "options"))
        is_item = indent > 0 and self._is_new(indent, is_option=False)
        if is_item and _HEAD.match(line) is not None and kind != "prose":
            self._add(indent, line.strip(), kind, is_option=False)
            return
        if is_item and kind == "arguments" and re.match(r"[\[<(]?[A-Za-z_]", line.strip()):
            self._add(indent, line.strip(), kind, is_option=False)
            return
        current = self._current
        is_below = current is not None and not current.is_option and line.strip().startswith(f"{current.spec} ")
        if (is_item or (is_below and indent > 0)) and may_list and (found := _COMMAND_LINE.match(line)) is not None:
            if kind == "commands" or (found["text"] and _COLUMN.search(line.strip())):
                self._add(indent, line.strip(), "commands", is_option=False)
                return
        if self._current is not None:
            if indent > self._current.indent or not self._current.text:
                self._current.text.append(line.strip())
                return
            self._current = None
        if kind in ("", "prose") and not self._has_item:
            if not self._usages and not any(map(str.strip, self._prose)) and self._starts_program(line):
                words = line.split()[len(self._words) :]
                if not words or words[0][:1] in "<[(":  # yargs has no word before its usage
                    self._usages.append(line.strip())
                    return
            self._prose.append(line)

    @property
    def _takes_command(self) -> bool:
        return self._lists_only or any(TAKES_COMMAND.search(usage) for usage in self._usages)

    def _is_new(self, indent: int, *, is_option: bool = True) -> bool:
        """True if a line with this indent is not the text of the item above it."""
        current = self._current
        if current is None:
            return True
        deeper = 6 if is_option and current.is_option else 4 if not is_option and _HEAD.match(current.spec) else 0
        return indent <= current.indent + deeper and indent < self._text_column

    def _add(self, indent: int, line: str, section: str, *, is_option: bool) -> None:
        if sum(item.is_option == is_option for item in self._items) >= ITEMS_LIMIT:
            return
        spec, text, column = _split_item(line, is_option=is_option)
        self._text_column = indent + column if column else WIDTH_LIMIT
        self._current = _Item(indent, spec, [text] if text else [], section, is_option)
        self._items.append(self._current)
        self._has_item = True

    # -- what the lines declare --------------------------------------------------------------------------------------

    def command(self) -> Command:
        """Returns the command."""
        options = [item for item in self._items if item.is_option]
        commands = [*self._commands()]
        params = without_repeated(
            param
            for item in options
            for param in [option_from_spec(item.spec, " ".join(item.text), is_click=self._is_click)]
            if param is not None
        )
        described = {} if commands else dict(self._arguments())
        positional, more = params_from_usage(
            self._usages, self._words, described, has_commands=bool(commands), is_click=self._is_click
        )
        in_usage = {name: param for param in more for name in param.names}
        params = [with_value_of(param, in_usage) for param in params]
        known = {name for param in params for name in (*param.names, *param.negations)}
        params += [param for param in more if not known & {*param.names, *param.negations}]
        positional += [item for name, item in described.items() if name not in {found.name for found in positional}]
        prose = _prose(self._prose, self._words)
        parts = [prose, _section("Examples", self._named["examples"]), _section("Exit codes", self._named["codes"])]
        return Command(
            name=self._name,
            help="\n\n".join(filter(None, parts)) or None,
            markup="raw",
            params=(*params, *positional),
            is_callable=not commands
            or any(not TAKES_COMMAND.search(usage) and not SUBPARSERS.search(usage) for usage in self._usages),
            aliases=tuple(
                name for name in self._aliases if name and name != self._name and re.fullmatch(_COMMAND_WORD, name)
            ),
            commands=tuple(commands),
        )

    def _commands(self) -> Iterator[Command]:
        """Yields the commands that are listed, each with its summary."""
        seen: set[str] = set()
        named = [item for item in self._items if not item.is_option]
        grouping = {item.spec.split(" ")[0] for item in named if " " in item.spec}
        for index, item in enumerate(named):
            if (braces := _BRACES.match(item.spec)) is not None:
                deeper = index + 1 < len(named) and named[index + 1].indent > item.indent
                is_choice = re.search(re.escape(braces[0].strip()) + r" ?\.\.\.", " ".join(self._usages)) is None
                if deeper or is_choice:
                    continue
                lines = [(name, "") for name in braces["names"].split(",")]
            elif item.section == "commands" or self._is_below_braces(named, index):
                lines = [(item.spec, " ".join(item.text))]
            else:
                continue
            if not item.text and item.spec in grouping:  # a heading of commands with two words
                continue
            for spec, text in lines:
                if len(seen) >= ITEMS_LIMIT or (command := self._listed(spec, text)) is None or command.name in seen:
                    continue
                seen.add(command.name)
                yield command

    def _is_below_braces(self, named: Sequence[_Item], index: int) -> bool:
        return any(
            _HEAD.match(other.spec) and other.indent < named[index].indent
            for other in named[max(index - 200, 0) : index]
        )

    def _listed(self, spec: str, text: str) -> Command | None:
        found = _COMMAND_LINE.match(spec)
        if found is None:
            return None
        names = [name.strip() for name in re.split(r"[,|/]", found["names"]) if name.strip()]
        first = names[0].split(" ") if names else []
        words = [word.rpartition("/")[2] for word in self._words]
        while first and words and first[0] == words[0]:  # yargs and cac repeat the program
            first, words = first[1:], words[1:]
        name = " ".join(first)
        is_phrase = len(first) > 1 and (not text or not re.fullmatch(r"[a-z][\w -]*", name))
        if not name or name == "help" or len(first) > 3 or is_phrase:
            return None
        if (others := _ALIASES.fullmatch(found["args"])) is not None:
            names += others["names"].split(", ")
        return Command(
            name=name,
            help=text or None,
            short_help=text or None,
            deprecated=bool(DEPRECATED.search(text)),
            takes_more=True,
            aliases=tuple(alias for alias in names[1:] if " " not in alias),
        )

    def _arguments(self) -> Iterator[tuple[str, Param]]:
        """Yields the positional arguments that are described, by name."""
        for item in self._items:
            if item.is_option or item.section == "commands" or _PHRASE.search(item.spec):
                continue
            param = argument_from_spec(item.spec, is_optional=False, text=" ".join(item.text))
            if param is not None and param.name:
                yield param.name, param


_PHRASE = re.compile(r"[a-z] [a-z]+ [a-z]|[a-z]\.\Z")


def _split_item(line: str, *, is_option: bool) -> tuple[str, str, int]:
    """Returns what an item declares, its text, and the column of the text; 0 without a text."""
    start = 0
    for gap in _COLUMN.finditer(line):
        rest = line[gap.end() :]
        head = _COLUMN.split(rest, maxsplit=1)[0]
        if line[: gap.start()].endswith(",") or (is_option and _METAVAR.match(head)):
            start = gap.end()
            continue
        return line[: gap.start()], rest.strip(), gap.end()
    if is_option and start == 0 and (short := _inline_text(line)) is not None:
        return line[:short].rstrip(), line[short:].strip(), short
    return line, "", 0


_INLINE_VALUE = re.compile(
    r"(?:(?:=\S+|<[^>]*>|\[[^\]]*\]\S*|\{[^}]*\}|[A-Z][A-Z0-9_-]+(?= ))(?:\.\.\.)?(?: \[[^\]]*\]| [A-Z]{3,}(?= ))*)"
    r"(?: +(?=[A-Za-z(])|\Z)"
)


def _inline_text(line: str) -> int | None:
    """Returns where the text of an option begins that only one space separates, such as `-v be verbose about it`."""
    pieces = option_names(line)
    if not pieces:
        return None
    rest = pieces[-1][1]
    value = _INLINE_VALUE.match(rest)
    start = value.end() if value is not None else 0
    if len(rest[start:].split()) < (1 if start else 3):
        return None
    return len(line) - len(rest) + start


# -- prose -----------------------------------------------------------------------------------------------------------


_IMPRINT = re.compile(
    r"copyright\b|\bno warranty\b|free software|\bversion v?\d|\b(?:bug reports|home ?page|web ?site)\b.*:",
    re.IGNORECASE,
)
"""What programs print about their version and licence."""


def _prose(lines: Sequence[str], words: Sequence[str]) -> str | None:
    """Returns the paragraphs on what a command does, without its name and those on more help, version and licence."""
    paragraphs: list[list[str]] = [[]]
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    for line in lines:
        if line.strip():
            paragraphs[-1].append(line[margin:])
        elif paragraphs[-1]:
            paragraphs.append([])
    name = re.compile(
        rf"(?:{re.escape(' '.join(words))}|{re.escape(words[0])}(?=[ /]v?\d))(?:\.exe)?"
        r"(?: \(v?\d[^)]{0,80}\)|[ /]v?\d[\w.+-]{0,80})?(?:\Z|: | -{1,2} |\n)"
    )
    kept = []
    for paragraph in paragraphs:
        is_code = all(line.startswith("  ") for line in paragraph)
        text = "\n".join(paragraph if is_code else map(str.strip, paragraph))
        if (named := name.match(text)) is not None:
            text = text[named.end() :]
        is_pointer = len(paragraph) <= 2 and _POINTER.search(text) is not None
        if text.strip() and not is_pointer and _IMPRINT.search(text) is None:
            kept.append(text if is_code else text.strip())
    return "\n\n".join(kept) or None


def _section(title: str, lines: Sequence[str]) -> str | None:
    """Returns lines below a title, in the form of a docstring."""
    shown = [line for line in lines if line.strip()]
    if not shown:
        return None
    margin = min(len(line) - len(line.lstrip()) for line in shown)
    return "\n".join([f"{title}:", *(f"  {line[margin:]}" if line.strip() else "" for line in lines)]).rstrip()
