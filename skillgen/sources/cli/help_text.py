"""Reads the help text of a command, as programs print it: usage, options, arguments, commands and prose.

Help is written for people, so every rule here is lenient: a line that begins with a dash declares an option, two spaces
or a deeper line separate it from its text, a heading such as "Commands:" says what the lines below it are. Nothing of
it is certain, and documents say so.

The styles: argparse, Click and Typer (also in boxes), clap, Cobra, commander, yargs, GNU, docopt, npm, and git's usage.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from skillgen.model.values import Json
from skillgen.sources.cli.declarations import Command, Param
from skillgen.text import lazy_re as re

LINES_LIMIT = 20_000
"""Maximum number of lines of a help text that are read."""

WIDTH_LIMIT = 2_000
"""Maximum length of a line; the rest is cut."""

_ITEMS_LIMIT = 2_000
"""Maximum number of options, and of commands, of one command."""

_TERMINAL = re.compile(r"\x1b\[[0-9;?]{0,20}[A-Za-z]|\x1b\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|[^\n]\x08")
"""Colours, links, and letters that are struck over, as in manual pages."""

_BOX_TOP = re.compile(r"[╭┌][─-] {0,2}(?P<title>[^─╮┐\n]{1,80}?) ?[─-]")
_BOX_LINE = re.compile(r"[│|┃](?P<text>.*?)[│|┃]?[ \t]*\Z")

_HEADING = re.compile(r"(?P<title>[A-Za-z][^\n:<>\[\]]{0,60}):\s*\Z|(?P<upper>[A-Z][A-Z0-9 /_-]{2,40})\Z")
_USAGE = re.compile(r"(?P<indent>\s*)(?:usage|synopsis)(?::\s*(?P<text>.*)|\s*)\Z", re.IGNORECASE)
_OR = re.compile(r"\s*or:\s+(?P<text>\S.*)\Z")

_OPTION_LINE = re.compile(r"(?P<indent>[ \t]*)(?:\* +)?(?P<item>\[?-{1,2}[A-Za-z0-9?#@\[(][^\n]*)\Z")
_USAGE_LINE = re.compile(r"\s*\[-[^\n]*\]\.{0,3}\s*\Z")
_OPTION_NAME = re.compile(r"-{1,2}(?:\[no-\]|\(no-\))?[A-Za-z0-9?#@][\w.:+-]*")
_NEXT_NAME = re.compile(r"(?: ?, ?| ?\| ?| / | or | |/)(?=-{1,2}(?:\[no-\]|\(no-\))?[A-Za-z0-9?#@])")
_VALUE_WORD = re.compile(
    r"=?(?:\[=?[^\[\]]{1,200}\]|<[^<>]{1,200}>|\{[^{}]{1,2000}\}|\([^()]{1,200}\)|[^\s\[\]<>{}()]{1,60})(?:\.\.\.|…)?"
)
_COLUMN = re.compile(r"[ ]{2,}|\t+")
_METAVAR = re.compile(
    r"(?:-{1,2}[\w?#]|[A-Z][A-Z0-9_:=|,./-]*\Z|[A-Z]+ RANGE|<[^<>]*>\Z|\[[^\[\]|]*\|[^\[\]]*\]\Z|\{[^{}]*\}\Z)"
)

_COMMAND_WORD = r"[A-Za-z0-9](?:[\w+-]|[.:](?=[\w+-])){0,60}"
_COMMAND_LINE = re.compile(
    rf"[ \t]*(?:\$ )?(?P<names>{_COMMAND_WORD}(?:(?:, ?|\||/| ){_COMMAND_WORD}){{0,4}}?)[*]?"
    r"(?P<args>(?: (?:<[^>]{1,80}>|\[[^\]]{1,80}\]|\([^)]{1,80}\)|[A-Z][A-Z0-9_]{1,30}|\.\.\.)(?:\.\.\.)?){0,8})"
    r":?(?:(?: {2,}|\t+| - | -- )(?P<text>\S.*)|\s*)\Z"
)
_COMMA_LIST = re.compile(rf"[ \t]+(?:{_COMMAND_WORD}, ?){{2,200}}(?:{_COMMAND_WORD})?\Z")
_BRACES = re.compile(r"[ \t]*\{(?P<names>[\w.:+,-]{1,4000})\}")

_PLACEHOLDER = r"[<\[({]{0,2}(?:sub-?)?(?:command|cmd|task)s?[>\])}]{0,2}"
_TAKES_COMMAND = re.compile(rf"(?:^|\s){_PLACEHOLDER}(?:\s|\.|$)", re.IGNORECASE)
_SUBPARSERS = re.compile(r"\{[^{}]*\} \.\.\.")
_POINTER = re.compile(r"--help|\bhelp (?:<|\[|command)|for more (?:info|help|details)|-h\b.{0,40}help", re.IGNORECASE)

_TITLES = {
    "commands": re.compile(r"command|subcommand|tasks\Z", re.IGNORECASE),
    "arguments": re.compile(
        r"(?:positional )?arguments?\Z|args\Z|positionals?(?: parameters)?\Z|parameters\Z", re.IGNORECASE
    ),
    "examples": re.compile(r"examples?\Z|usage examples?\Z", re.IGNORECASE),
    "codes": re.compile(r"exit (?:codes?|status)", re.IGNORECASE),
    "aliases": re.compile(r"alias(?:es)?\Z", re.IGNORECASE),
    "ignored": re.compile(r"topics|learn more|feedback|environment|see also|files\Z", re.IGNORECASE),
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
        self._lists_only = lists_only
        self._read(help_lines(text))

    # -- lines -------------------------------------------------------------------------------------------------------

    def _read(self, lines: Sequence[str]) -> None:
        kind, number = ("commands" if self._lists_only else "", 0)
        while number < len(lines):
            line = lines[number]
            indent = len(line) - len(line.lstrip())
            following = next((item for item in lines[number + 1 :][:2] if item.strip()), "")
            deeper = len(following) - len(following.lstrip()) > indent
            if not line.strip():
                self._blank(kind)
                number += 1
            elif (usage := _USAGE.match(line)) is not None and (usage["text"] or deeper or not indent):
                number = self._usage(lines, number, usage)
                kind = ""
            elif (title := self._heading(line, indent, deeper)) is not None:
                kind = next((kind for kind, pattern in _TITLES.items() if pattern.search(title)), "other")
                self._current: _Item | None = None
                number += 1
            else:
                self._line(line, indent, kind)
                number += 1

    _current: _Item | None = None

    def _heading(self, line: str, indent: int, deeper: bool) -> str | None:
        """Returns the title that a line is, if it is one."""
        found = _HEADING.match(line.strip())
        if found is None or indent > 4 or line.lstrip().startswith("-"):
            return None
        if self._current is not None and indent and indent > self._current.indent:
            return None
        return (found["title"] or found["upper"]).strip()

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
        option = None if self._lists_only else _OPTION_LINE.match(line)
        if option is not None and _USAGE_LINE.match(line):  # npm has usage below "Options:"
            self._usages[-1:] = [" ".join([*self._usages[-1:], line.strip()])]
            return
        if option is not None and self._is_new(indent) and kind != "commands":
            self._add(indent, option["item"], kind, is_option=True)
            return
        if kind == "commands" and _COMMA_LIST.match(line):
            for word in line.replace(",", " ").split():
                self._items.append(_Item(indent, word, [], kind, False))
            self._current, self._has_item = None, True
            return
        may_list = kind == "commands" or (self._takes_command and kind not in ("arguments", "prose", "options"))
        is_item = indent > 0 and self._is_new(indent, is_option=False)
        if is_item and _BRACES.match(line) is not None and kind != "prose":
            self._add(indent, line.strip(), kind, is_option=False)
            return
        if is_item and kind == "arguments" and re.match(r"[\[<(]?[A-Za-z_]", line.strip()):
            self._add(indent, line.strip(), kind, is_option=False)
            return
        current = self._current
        is_below = current is not None and not current.is_option and line.strip().startswith(f"{current.spec} ")
        if (is_item or (is_below and indent > 0)) and may_list and (found := _COMMAND_LINE.match(line)) is not None:
            if found["text"] or kind == "commands":
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
        return self._lists_only or any(_TAKES_COMMAND.search(usage) for usage in self._usages)

    def _is_new(self, indent: int, *, is_option: bool = True) -> bool:
        """True if a line with this indent is not the text of the item above it."""
        current = self._current
        if current is None:
            return True
        return indent <= current.indent + (6 if is_option and current.is_option else 0) and indent < self._text_column

    _text_column = WIDTH_LIMIT

    def _add(self, indent: int, line: str, section: str, *, is_option: bool) -> None:
        if sum(item.is_option == is_option for item in self._items) >= _ITEMS_LIMIT:
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
        params = _without_repeated(
            param for item in options for param in [_option(item.spec, " ".join(item.text))] if param is not None
        )
        described = {} if commands else dict(self._arguments())
        positional, more = _from_usage(self._usages, self._words, described, has_commands=bool(commands))
        in_usage = {name: param for param in more for name in param.names}
        params = [_with_value(param, in_usage) for param in params]
        known = {name for param in params for name in (*param.names, *param.negations)}
        params += [param for param in more if not known & {*param.names, *param.negations}]
        positional += [item for name, item in described.items() if name not in {found.name for found in positional}]
        prose = _prose(self._prose, self._words)
        parts = [prose, _section("Examples", self._named["examples"]), _section("Exit codes", self._named["codes"])]
        return Command(
            name=self._name,
            help="\n\n".join(filter(None, parts)) or None,
            short_help=None,
            doc=None,
            epilog=None,
            markup=None,
            deprecated=False,
            is_hidden=False,
            panel=None,
            params=(*params, *positional),
            takes_more=False,
            is_callable=not commands
            or any(not _TAKES_COMMAND.search(usage) and not _SUBPARSERS.search(usage) for usage in self._usages),
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
                if len(seen) >= _ITEMS_LIMIT or (command := self._listed(spec, text)) is None or command.name in seen:
                    continue
                seen.add(command.name)
                yield command

    def _is_below_braces(self, named: Sequence[_Item], index: int) -> bool:
        return any(
            _BRACES.match(other.spec) and other.indent < named[index].indent
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
        if not name or name == "help" or len(first) > 3 or (len(first) > 1 and not re.fullmatch(r"[a-z][\w -]*", name)):
            return None
        return Command(
            name=name,
            help=text or None,
            short_help=text or None,
            doc=None,
            epilog=None,
            markup=None,
            deprecated=bool(_DEPRECATED.search(text)),
            is_hidden=False,
            panel=None,
            params=(),
            takes_more=True,
            is_callable=True,
            aliases=tuple(alias for alias in names[1:] if " " not in alias),
        )

    def _arguments(self) -> Iterator[tuple[str, Param]]:
        """Yields the positional arguments that are described, by name."""
        for item in self._items:
            if item.is_option or item.section == "commands":
                continue
            param = _argument(item.spec, is_optional=False, text=" ".join(item.text))
            if param is not None and param.name:
                yield param.name, param


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


_INLINE_VALUE = re.compile(r"(?:=\S+|<[^>]*>|\[[^\]]*\]|\{[^}]*\}|[A-Z][A-Z0-9_-]+(?= )) *(?=[A-Za-z(])")


def _inline_text(line: str) -> int | None:
    """Returns where the text of an option begins that only one space separates, such as `-v be verbose about it`."""
    pieces = _pieces(line)
    if not pieces:
        return None
    rest = pieces[-1][1]
    value = _INLINE_VALUE.match(rest)
    start = value.end() if value is not None else 0
    if len(rest[start:].split()) < (1 if start else 3):
        return None
    return len(line) - len(rest) + start


def _pieces(spec: str) -> list[tuple[str, str]]:
    """Returns the names of an option, each with what follows it."""
    pieces = []
    for part in _NEXT_NAME.split(" ".join(spec.split()).strip(",")):
        if (name := _OPTION_NAME.match(part)) is not None:
            rest = part[name.end() :].strip(" ,")
            pieces.append((name[0].rstrip(":."), "" if rest.startswith("|") else rest))  # `-v|vv|vvv`
    return pieces


def _option(spec: str, text: str) -> Param | None:
    """Returns an option as its line declares it; `None` for help."""
    spec = spec.strip()
    if spec.startswith("[") and spec.endswith("]"):
        spec = spec[1:-1]
    names: list[str] = []
    negations: list[str] = []
    value = ""
    for raw, rest in _pieces(spec):
        name = raw
        for prefix in ("[no-]", "(no-)"):
            if prefix in raw:
                name = raw.replace(prefix, "")
                negations.append(raw.replace(prefix, "no-"))
        if name not in names:
            names.append(name)
        if len(rest) > len(value):
            value = rest
    if not names or {"--help", "-?"} & {*names} or names in (["-h"], ["-help"]):
        return None
    positive = {name for name in names if not name.startswith("--no-")}
    negations += [name for name in names if name.startswith("--no-") and f"--{name[5:]}" in positive]
    names = [name for name in names if name not in negations]
    facts = _Value(value)
    tags = _Tags(text)
    if tags.is_flag:
        facts.words = ()
    elif tags.takes_value and not facts.words:  # yargs shows no name of a value
        facts.words = ("VALUE",)
    is_flag = not facts.words
    schema: dict[str, Json] = {"type": "boolean"} if is_flag else _merged(facts.schema(), tags.schema)
    default = _typed(tags.default, schema) if tags.default is not None and not is_flag else None
    return Param(
        name=max(names, key=lambda name: name.startswith("--")).lstrip("-"),
        names=tuple(names),
        negations=tuple(dict.fromkeys(negations)),
        metavar=facts.metavar,
        help=tags.text or None,
        schema=schema,
        is_flag=is_flag,
        is_repeatable=facts.is_repeatable or tags.is_repeatable,
        is_value_optional=facts.is_optional,
        values=facts.number,
        is_required=tags.is_required,
        has_default=default is not None,
        default=default,
        default_text=tags.default_text,
        variables=tags.variables,
        prompt=None,
        is_secret=False,
        is_hidden=False,
        deprecated=bool(_DEPRECATED.search(tags.text)),
        exits={"--version", "--usage"} & {*names} != set(),
    )


def _merged(declared: dict[str, Json], tagged: dict[str, Json]) -> dict[str, Json]:
    """Returns the schema of a value: tags are more exact than its name, but a range has no type of its own."""
    if declared.get("type") == "integer" and tagged.get("type") == "number":
        return {**tagged, "type": "integer"}
    return {**declared, **tagged}


_DEPRECATED = re.compile(r"[\[(]deprecated|\Adeprecated\b|\bDEPRECATED\b")

_INTEGERS = {"int", "integer", "int32", "int64", "uint", "uint32", "uint64"}
_NUMBERS = {"float", "float32", "float64", "number"}
_PATHS = {"path", "file", "filename", "filepath", "dir", "directory", "folder"}


class _Value:
    """What follows the name of an option."""

    def __init__(self, text: str) -> None:
        text = text.strip()
        self.is_optional = text.startswith("[") and "|" not in text.partition("]")[0] and "..." not in text
        if self.is_optional:
            text = text[1:].removesuffix("]").replace("]", "", 1) if text.count("[") == 1 else text.strip("[]")
        text = text.removeprefix("=").strip()
        self.is_repeatable = bool(re.search(r"(?:[>\])}]|\b)(?:\.\.\.|…)\s*\]?\Z", text)) and " " not in text
        self.number: int | None = 1
        words = [word[0] for word in _VALUE_WORD.finditer(text)]
        if len(words) > 1 and ("..." in text or "…" in text):
            self.number, words = None, words[:1]
        if len(words) == 2 and words[1] == "RANGE":
            words = [words[0]]
        self.words = tuple(word.rstrip(".…") for word in words if word.strip(".…"))[:4]
        self._text = text
        if len(self.words) > 1:
            self.number = len(self.words)

    @property
    def metavar(self) -> str:
        """What the value is called."""
        if not self.words:
            return ""
        return self.words[0].strip("<>[](){}=") if not self._choices() else "VALUE"

    def _choices(self) -> list[str]:
        word = self.words[0].strip("<>[](){}=") if self.words else ""
        separator = "," if self.words and self.words[0].startswith("{") else "|"
        found = [item.strip() for item in word.split(separator)]
        is_list = len(found) > 1 and all(re.fullmatch(r"[\w.+:@/-]{1,60}", item) for item in found)
        return found if is_list and not all(item.isupper() and len(item) > 2 for item in found) else []

    def schema(self) -> dict[str, Json]:
        """Returns the JSON Schema of one value."""
        if choices := self._choices():
            return {"type": "string", "enum": [*choices]}
        word = self.metavar.lower()
        if word in _INTEGERS:
            return {"type": "integer"}
        if word in _NUMBERS:
            return {"type": "number"}
        return {"type": "string", "format": "path"} if word in _PATHS else {"type": "string"}


_TAG = re.compile(
    r" ?[\[(](?P<tag>(?:default|env(?: var)?|possible values|choices|required|string|boolean|number|array|count)\b"
    r"[^\[\]()]{0,400}|(?:-?[\d.]+<=?)?x(?:[<>]=?-?[\d.]+)?(?:; (?:default|required)[^\[\]()]{0,200})?)[\])]\.?"
)


_RANGE = re.compile(r"(?:(?P<least>-?[\d.]+)(?P<open><=?))?x(?:(?P<end>[<>]=?)(?P<most>-?[\d.]+))?")
"""Click's words for a range."""


def _bounds_from(found: re.Match[str]) -> dict[str, Json]:
    """Returns the bounds of a range in JSON Schema."""
    bounds: dict[str, Json] = {}
    sides = [(found["least"], "minimum" if found["open"] == "<=" else "exclusiveMinimum")]
    is_upper = (found["end"] or "").startswith("<")
    name = "aximum" if is_upper else "inimum"
    is_closed = (found["end"] or "").endswith("=")
    sides.append((found["most"], ("m" if is_closed else "exclusiveM") + name))
    for text, keyword in sides:
        if text and re.fullmatch(r"-?\d+(?:\.\d+)?", text):
            bounds[keyword] = float(text) if "." in text else int(text)
    return bounds


class _Tags:
    """The text of an option, and the facts in brackets at its end: clap's, Click's, argparse's, Cobra's, yargs's."""

    def __init__(self, text: str) -> None:
        self.schema: dict[str, Json] = {}
        self.default: str | None = None
        self.default_text: str | None = None
        self.variables: tuple[str, ...] = ()
        self.is_required = self.is_repeatable = self.is_flag = self.takes_value = False
        self.text = " ".join(_TAG.sub(self._take, " ".join(text.split())).split())

    def _take(self, found: re.Match[str]) -> str:
        tag: str = found["tag"]
        for part in re.split(r"; |, (?=default\b|env\b|required\b)", tag):
            key, _, value = part.partition(":") if ":" in part[:20] else part.partition(" ")
            key, value = key.strip().lower(), value.strip(" =")
            if key == "default":
                self._take_default(value)
            elif key in ("env", "env var"):
                self.variables = tuple(
                    name
                    for item in value.split(",")
                    if re.fullmatch(r"[A-Z_][A-Z0-9_]*", name := item.partition("=")[0].strip())
                )
            elif key in ("possible values", "choices"):
                choices = [item.strip(" \"'`") for item in value.split(",")]
                self.schema = {"type": "string", "enum": [item for item in choices if item]}
            elif (bounds := _RANGE.fullmatch(part)) is not None and "x" in part:
                self.schema = {"type": "number", **_bounds_from(bounds)}
            elif part == "required":
                self.is_required = True
            elif part in ("array", "count"):
                self.is_repeatable = True
                self.is_flag = part == "count"
                self.takes_value = not self.is_flag
            elif part == "boolean":
                self.is_flag = True
            elif part == "number":
                self.schema = {"type": "number"}
                self.takes_value = True
            elif part == "string":
                self.takes_value = True
            else:
                return found[0]
        return ""

    def _take_default(self, value: str) -> None:
        plain = value.strip("\"'`")
        if not plain or plain in ("None", "null", "[]", "{}"):
            return
        if " " in plain or len(plain) > 80:
            self.default_text = plain
        else:
            self.default = plain


def _typed(text: str, schema: dict[str, Json]) -> Json:
    """Returns a default as its type has it; `None` if it has not."""
    kind = schema.get("type")
    if kind in ("integer", "number"):
        return (
            (int(text) if kind == "integer" or "." not in text else float(text))
            if re.fullmatch(r"-?\d{1,15}(?:\.\d{1,15})?", text) and (kind == "number" or "." not in text)
            else None
        )
    choices = schema.get("enum")
    return text if not isinstance(choices, list) or text in choices else None


def _without_repeated(params: Iterable[Param]) -> list[Param]:
    """Returns options without those whose names all came before."""
    seen: set[str] = set()
    kept = []
    for param in params:
        if not {*param.names} <= seen:
            kept.append(param)
        seen |= {*param.names}
    return kept


# -- usage -----------------------------------------------------------------------------------------------------------

_GENERIC = re.compile(
    r"(?:global |common )?(?:options?|flags?|opts?|switches)(?:\.\.\.|…)?\Z|(?:\.\.\.|…|--|-)\Z", re.IGNORECASE
)
_OPEN, _CLOSE = "[<({", "]>)}"


def _tokens(text: str) -> list[str]:
    """Returns the words of a usage line; brackets hold theirs together."""
    tokens: list[str] = []
    current, depth = "", 0
    for character in text[:WIDTH_LIMIT]:
        if character in _OPEN:
            depth += 1
        elif character in _CLOSE:
            depth = max(depth - 1, 0)
        if character.isspace() and depth == 0:
            if current:
                tokens.append(current)
            current = ""
        else:
            current += character
    if current:
        tokens.append(current)
    joined: list[str] = []
    for token in tokens:
        if token in ("...", "…") and joined:
            joined[-1] += "..."
        else:
            joined.append(token)
    return joined


def _from_usage(
    usages: Sequence[str], words: Sequence[str], described: dict[str, Param], *, has_commands: bool
) -> tuple[list[Param], list[Param]]:
    """Returns the positional arguments and the options that usage lines have; required are those that all require."""
    positional: dict[str, Param] = {}
    options: dict[str, Param] = {}
    counts: dict[str, int] = {}
    if has_commands:
        usages = [usage for usage in usages if not (_TAKES_COMMAND.search(usage) or _SUBPARSERS.search(usage))]
    for usage in usages[:50]:
        reader = _UsageReader(words, described)
        reader.read(_tokens(usage)[:WIDTH_LIMIT])
        for param in reader.positional:
            name = param.name or ""
            positional.setdefault(name, param)
            counts[name] = counts.get(name, 0) + param.is_required
        for param in reader.options:
            options.setdefault(param.names[0], param)
    kept = [_with_required(param, counts[name] == len(usages)) for name, param in positional.items()]
    return kept, [*options.values()]


def _with_value(param: Param, in_usage: Mapping[str, Param]) -> Param:
    """Returns an option with the value that only usage shows."""
    other = next((in_usage[name] for name in param.names if name in in_usage), None)
    if other is None or not param.is_flag or other.is_flag:
        return param
    return replace(
        param,
        is_flag=False,
        schema=other.schema,
        metavar=other.metavar,
        values=other.values,
        is_value_optional=other.is_value_optional,
    )


def _with_required(param: Param, is_required: bool) -> Param:
    return replace(param, is_required=is_required)


class _UsageReader:
    """Reads one usage line."""

    def __init__(self, words: Sequence[str], described: dict[str, Param]) -> None:
        self._words = [word.rpartition("/")[2] for word in words]
        self._described = described
        self.positional: list[Param] = []
        self.options: list[Param] = []

    def read(self, tokens: list[str], *, is_optional: bool = False, depth: int = 0) -> None:
        """Reads words, all optional within brackets."""
        if depth == 0:
            while tokens and self._words and tokens[0].rpartition("/")[2].removeprefix("$") == self._words[0]:
                tokens, self._words = tokens[1:], self._words[1:]
            tokens = tokens[1:] if tokens[:1] == ["$"] else tokens
        index = 0
        while index < len(tokens):
            token = tokens[index]
            index += 1
            core = token.removesuffix("...")
            if core.startswith("-") and len(core) > 1:
                value = tokens[index] if index < len(tokens) and not tokens[index].startswith(("-", "[-", "|")) else ""
                name = _OPTION_NAME.match(core)
                if name is not None and name[0] == core and value and re.match(r"[<{A-Z]", value):
                    index += 1
                self._take_option(f"{core} {value}" if is_optional else core)
            elif core.startswith("[") and core.rstrip(".").endswith("]") and depth < 8:
                self._bracket(core[1:-1], token, depth)
            elif core.startswith("(") and core.endswith(")") and depth < 8:
                for part in _alternatives(core[1:-1]):
                    self.read(_tokens(part), is_optional=True, depth=depth + 1)
            else:
                self._take_positional(token, is_optional)

    def _bracket(self, inner: str, token: str, depth: int) -> None:
        inner = inner.strip()
        if _GENERIC.match(inner.strip("<>")) or _TAKES_COMMAND.search(inner):
            return
        if inner.startswith("-"):
            if (param := _option(inner, "")) is not None:
                self.options.append(param)
            return
        parts = _tokens(inner)
        if len(parts) == 1 and "|" not in inner:
            self._take_positional(parts[0] + ("..." if token.endswith("...") else ""), True)
            return
        if len(parts) == 2 and parts[0].rstrip(".") == parts[1].strip("[]").rstrip("."):  # argparse: `name [name ...]`
            self._take_positional(f"{parts[0].rstrip('.')}...", True)
            return
        for part in _alternatives(inner):
            self.read(_tokens(part), is_optional=True, depth=depth + 1)

    def _take_option(self, text: str) -> None:
        if (param := _option(text, "")) is not None:
            self.options.append(param)

    def _take_positional(self, token: str, is_optional: bool) -> None:
        core = token.removesuffix("...").removesuffix("…")
        if core.startswith("<") and core.endswith(">") and len(parts := _alternatives(core[1:-1])) > 1:
            for part in parts:
                self.read(_tokens(part), is_optional=True, depth=8)
            return
        name = core.strip("<>{}[]").strip()
        if _GENERIC.match(name) or _TAKES_COMMAND.search(core) or core in ("|", "=", ""):
            return
        listed = next((other for other in self._described if other.lower() == name.lower()), None)
        if listed is not None:  # Typer writes names in capitals in usage only
            token, name = token.replace(name, listed), listed
        is_marked = core[:1] in "<{" or (name.isupper() and len(name) > 1) or listed is not None
        if not is_marked and not (is_optional and re.fullmatch(r"[a-z][\w.-]{1,40}", name)):
            return
        # argparse writes what may follow as `name [name ...]`.
        for index, other in enumerate(self.positional):
            if other.name == name:
                self.positional[index] = replace(other, values=None)
                return
        known = self._described.get(name)
        param = _argument(token, is_optional=is_optional, text="")
        if param is None:
            return
        if known is not None:
            param = replace(known, is_required=not is_optional, values=param.values)
        self.positional.append(param)


def _alternatives(text: str) -> list[str]:
    """Returns the parts of a text that `|` separates outside brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in _OPEN) - (character in _CLOSE)
        if character == "|" and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def _argument(spec: str, *, is_optional: bool, text: str) -> Param | None:
    """Returns a positional argument as usage or its line declares it."""
    spec = spec.strip()
    is_optional = is_optional or spec.startswith("[")
    repeats = ".." in spec or "…" in spec
    core = spec.strip("[]").replace("...", "").replace("..", "").replace("…", "").strip()
    choices = core[1:-1].split(",") if core.startswith("{") and core.endswith("}") else []
    inner = "-".join(core[1:-1].split()) if core.startswith("<") and core.endswith(">") else core
    word = re.split(r"[\s=]", inner.strip("<>[]"))[0].strip("<>[]:")
    name = "VALUE" if choices else word if "|" not in word else "VALUE"
    if not re.fullmatch(r"[\w@.][\w.:/@+-]{0,60}", name):
        return None
    schema: dict[str, Json] = {"type": "string"}
    if choices:
        schema["enum"] = [*choices]
    elif name.lower() in _PATHS:
        schema["format"] = "path"
    tags = _Tags(text)
    default = _typed(tags.default, schema) if tags.default is not None else None
    return Param(
        name=name,
        names=(),
        negations=(),
        metavar=name,
        help=tags.text or None,
        schema={**schema, **tags.schema},
        is_flag=False,
        is_repeatable=False,
        is_value_optional=False,
        values=None if repeats else 1,
        is_required=not is_optional,
        has_default=default is not None,
        default=default,
        default_text=tags.default_text,
        variables=tags.variables,
        prompt=None,
        is_secret=False,
        is_hidden=False,
        deprecated=False,
        exits=False,
    )


# -- prose -----------------------------------------------------------------------------------------------------------


_IMPRINT = re.compile(
    r"copyright\b|\bno warranty\b|free software|\bversion v?\d|\b(?:bug reports|home ?page|web ?site)\b.*:",
    re.IGNORECASE,
)
"""What programs print about their version and licence."""


def _prose(lines: Sequence[str], words: Sequence[str]) -> str | None:
    """Returns the paragraphs on what a command does, without its name and those on more help, version and licence."""
    paragraphs: list[list[str]] = [[]]
    for line in lines:
        if line.strip():
            paragraphs[-1].append(line.strip())
        elif paragraphs[-1]:
            paragraphs.append([])
    name = re.compile(
        rf"{re.escape(' '.join(words))}(?:\.exe)?(?: \(v?\d[^)]{{0,80}}\)| v?\d[\w.+-]{{0,80}})?(?:\Z|: | -{{1,2}} |\n)"
    )
    kept = []
    for paragraph in paragraphs:
        text = "\n".join(paragraph)
        if (named := name.match(text)) is not None:
            text = text[named.end() :]
        is_pointer = len(paragraph) <= 2 and _POINTER.search(text) is not None
        if text.strip() and not is_pointer and _IMPRINT.search(text) is None:
            kept.append(text.strip())
    return "\n\n".join(kept) or None


def _section(title: str, lines: Sequence[str]) -> str | None:
    """Returns lines below a title, in the form of a docstring."""
    shown = [line for line in lines if line.strip()]
    if not shown:
        return None
    margin = min(len(line) - len(line.lstrip()) for line in shown)
    return "\n".join([f"{title}:", *(f"  {line[margin:]}" if line.strip() else "" for line in lines)]).rstrip()
