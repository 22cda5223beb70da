"""Builds the service from the commands of a program, as `tree` prints them.

A command is a tool, and so is a group that does something by itself. The options of the program itself are those of the
service, and the options of a group are among those of its commands, which they precede.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from itertools import combinations
from textwrap import dedent
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from skillgen.errors import ProblemLog, SourceError
from skillgen.model.auth import Access, Requirements
from skillgen.model.calls import Deprecation, ErrorCase, Example, Input
from skillgen.model.resource import Group, Section
from skillgen.model.schema import (
    CommandSyntax,
    Location,
    Parameter,
    Schema,
    SchemaWriter,
    Types,
    arguments_of,
    object_of,
)
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.values import Json, Origin, Value, child
from skillgen.sources.examples.generator import call_examples
from skillgen.sources.json_schema.merge import merge
from skillgen.text import lazy_re as re
from skillgen.text.markdown import fence, value, with_stop
from skillgen.text.summary import first_sentence, join_texts
from skillgen.typed import convert


class Param(Struct, frozen=True, kw_only=True):
    """A parameter of a command."""

    name: str | None
    names: tuple[str, ...] = ()
    """The names of an option; empty for a positional argument."""
    metavar: str
    help: str | None = None
    schema: Schema
    """That of one value."""
    formats: tuple[str, ...] = ()
    """How a time is written, for `strftime`."""
    is_flag: bool = False
    value_if_none: Json = None
    """The value of an option that is given without one."""
    least_values: int = 0
    is_required: bool = False
    default: tuple[Json, ...] = ()
    """The default, if it is known."""
    default_text: str | None = None
    """What the help says of the default."""
    syntax: CommandSyntax
    """How it is written, but for its names and its value."""
    is_secret: bool = False
    is_hidden: bool = False
    deprecated: bool | str = False
    exits: bool = False
    """Whether the program prints something and exits."""


class Exclusion(Struct, frozen=True, kw_only=True):
    """Parameters of which one at most may be given, by their index."""

    params: tuple[int, ...]
    is_required: bool


class Command(Struct, frozen=True, kw_only=True):
    """A command of a program."""

    name: str
    help: str | None = None
    short_help: str | None = None
    epilog: str | None = None
    markup: str | None = None
    deprecated: bool | str = False
    is_hidden: bool = False
    panel: str | None = None
    params: tuple[Param, ...] = ()
    takes_more: bool = False
    is_callable: bool = True
    is_chain: bool = False
    """Whether several of its commands may follow each other."""

    exclusive: tuple[Exclusion, ...] = ()
    aliases: tuple[str, ...] = ()
    commands: tuple[Command, ...] = ()


class Distribution(Struct, frozen=True, kw_only=True):
    """The metadata of the distribution that has the program."""

    version: str | None
    summary: str | None
    homepage: str | None
    links: dict[str, str]
    """Label, in lower case, to URL."""


class Program(Struct, frozen=True, kw_only=True):
    """A program as the reader prints it."""

    root: Command
    name: str
    module: str
    program: str | None
    distribution: Distribution | None
    left_out: tuple[tuple[str, str], ...] = ()
    """The words of commands that cannot be read, each with the reason."""


class _Declared(NamedTuple):
    """A parameter of a command."""

    parameter: Parameter
    plain_name: str
    """Its name in words, from which an example value is made."""
    is_needed: bool
    """Whether an example has it: the program asks for it otherwise."""
    exits: bool
    """Whether the program prints something and exits: below the program itself, such a flag is like --help."""


def service_from_program(data: Json, problems: ProblemLog, *, target: str, command: tuple[str, ...] | None) -> Service:
    """Builds the service from what the reader printed; `command` has the words that users type, if they are declared.

    Raises:
        SourceError: the reader could not read the program.
    """
    try:
        if isinstance(data, dict) and "error" in data:
            raise SourceError(str(data["error"]), where=target, fix=str(data.get("fix", "")) or None)
        program = convert(data, Program)
    except msgspec.MsgspecError as error:
        what = f"its commands could not be read: {error}"
        raise SourceError(what, where=target, fix="import it by hand: it may exit or write to other streams") from None
    return _ServiceReader(program, command, problems).service()


class _ServiceReader:
    """Reads the commands of one program."""

    def __init__(self, program: Program, command: tuple[str, ...] | None, problems: ProblemLog) -> None:
        self._program = program
        self._problems = problems
        self._hidden: set[str] = set()
        """Pointers of what help hides."""
        words = command or ((program.program,) if program.program else ())
        self._words = words or ("python", "-m", program.module)
        self._name = words[-1].rpartition("/")[2] if words else program.name
        if not words:
            message = f"no console script starts the program; calls begin with `{' '.join(self._words)}`"
            problems.report("command-unknown", program.name, message, "name the command with --program")
        # Next to groups, the commands of the program itself are one; they come first.
        has_both = {bool(item.commands) for item in program.root.commands if not item.is_hidden} == {True, False}
        self._main_group = self._name if has_both else None
        self._groups = {self._name: Group(name=self._name, title="Commands")} if has_both else {}

    def service(self) -> Service:
        """Returns the service."""
        root, facts = self._program.root, self._program.distribution
        tools = tuple(self._tools(root, "/root", (), []))
        texts = _Texts(root)
        parameters = self._declared(root, texts, "/root", "global", len(self._words)) if root.commands else []
        homepage, repository = _links(facts) if facts is not None else (None, None)
        said = first_sentence(texts.prose or "")
        summary = said if any(len(word) > 2 and word.isalpha() for word in said.split()) else None  # no picture
        if self._hidden:
            message = f"{len(self._hidden):,} of the commands and options: hidden in the help, so left out"
            self._problems.report("hidden-left-out", self._name, message)
        for name, error in self._program.left_out:
            message = f"`{name}` cannot be read, and is left out: {error}"
            self._problems.report("command-unreadable", "/left_out", message)
        return Service(
            kind="cli",
            name=self._name,
            title=self._name,
            version=facts.version if facts is not None else None,
            summary=summary or (facts.summary if facts is not None else None),
            description=texts.prose if root.commands else None,
            homepage=homepage,
            repository=repository,
            access=Access(cli=Value(homepage or repository) if homepage or repository else None),
            requirements=Requirements(bins=self._words[:1]),
            groups=tuple(self._groups.values()),
            tools=tools,
            parameters=_parameters(parameters),
            errors=texts.exit_codes if root.commands else (),
            sections=texts.sections if root.commands else (),
            origins={"summary": Origin("declared", "/root/help" if summary else "/distribution/summary")},
        )

    def _tools(
        self,
        command: Command,
        pointer: str,
        path: tuple[str, ...],
        above: Sequence[_Declared],
        is_chained: bool = False,
    ) -> Iterator[Tool]:
        """Yields a command, if it does something by itself, then its commands; `above` are the parameters before it."""
        texts = _Texts(command, is_chained=is_chained)
        if command.is_callable:
            yield self._tool(command, texts, pointer, path, above)
        if command.commands and path:
            name = " ".join(path)
            parent = " ".join(path[:-1]) or None
            self._groups[name] = Group(name=name, title=name, description=texts.prose, parent=parent)
        if command.commands:
            own = self._declared(command, texts, pointer, "global", len(self._words) + len(path))
            above = [*above, *(item for item in own if (not item.exits if path else item.is_needed))]
        for index, item in enumerate(command.commands):
            where = f"{pointer}/commands/{index}"
            if item.is_hidden:
                self._hidden.add(where)
            else:
                yield from self._tools(item, where, (*path, item.name), above, command.is_chain)

    def _tool(
        self, command: Command, texts: _Texts, pointer: str, path: tuple[str, ...], above: Sequence[_Declared]
    ) -> Tool:
        name = " ".join(path) or self._name
        group = " ".join(path[:-1]) or command.panel or self._main_group if path else None
        if group is not None:
            self._groups.setdefault(group, Group(name=group, title=group))
        own = [item for item in self._declared(command, texts, pointer, "option", None) if not (path and item.exits)]
        declared = [*self._distinct(above, own, path), *own]
        parameters, rules = _parameters(declared), _rules(command, declared)
        return Tool(
            name=name,
            summary=_shown(command.short_help, command.markup) or None,
            description=texts.prose,
            group=group,
            parameters=parameters,
            input_schema=_raw(parameters, rules),
            is_input_declared=not command.takes_more,
            input=Input(schema=rules, pointer=pointer) if rules is not None else None,
            examples=self._examples(command, declared, pointer, name, texts.prose),
            errors=texts.exit_codes,
            guidance=texts.sections,
            command=(*self._words, *path),
            deprecated=bool(command.deprecated),
            deprecation=Deprecation(message=command.deprecated) if isinstance(command.deprecated, str) else None,
            pointer=pointer,
        )

    def _distinct(
        self, above: Iterable[_Declared], own: Iterable[_Declared], path: tuple[str, ...]
    ) -> Iterator[_Declared]:
        """Yields the parameters of groups; one with the name of another has the words before it in its name."""
        below = {item.parameter.name for item in own}
        renamed = []
        for item in reversed([*above]):
            parameter, name = item.parameter, item.parameter.name
            if name in below and parameter.syntax is not None:
                words = (self._name, *path[: (parameter.syntax.after or 0) - len(self._words)])
                syntax = replace(parameter.syntax, word=name)
                parameter = replace(parameter, name=" ".join((*words, name)), syntax=syntax)
            below.add(name)
            renamed.append(item._replace(parameter=parameter))
        yield from reversed(renamed)

    def _declared(
        self, command: Command, texts: _Texts, pointer: str, location: Location, after: int | None
    ) -> list[_Declared]:
        """Returns the parameters of a command that its help shows; `after` as in `CommandSyntax`."""
        declared = []
        for index, item in enumerate(command.params):
            where, syntax = f"{pointer}/params/{index}", _syntax(item)
            if item.is_hidden:
                self._hidden.add(where)
                continue
            name = _name(item)
            place: Location = location if item.names or item.syntax.negations or after is not None else "positional"
            schema = _value_schema(item)
            text = join_texts(_shown(item.help, command.markup), texts.of_parameters.get(item.name or ""))
            if item.deprecated and text is not None:
                text = _DEPRECATED.sub("", text)
            is_label = schema.choices is not None or _value(item) in (None, item.metavar)
            notes = {
                f"Written as {' or '.join(f'`{form}`' for form in item.formats)} (`strftime`).": item.formats,
                f"Written as `{item.metavar}`.": item.metavar and not is_label,
                with_stop(f"Deprecated: {item.deprecated}"): isinstance(item.deprecated, str),
                f"Without a value: {value(item.value_if_none)}.": item.value_if_none is not None and not item.is_secret,
                f"Default: {item.default_text}.": item.default_text,
            }
            for note, is_known in notes.items():
                text = join_texts(text, note) if is_known else text
            parameter = Parameter(
                name=name,
                location=place,
                required=item.is_required and syntax.prompt is None,
                schema=schema,
                description=text,
                deprecated=bool(item.deprecated),
                syntax=replace(syntax, after=after),
                pointer=where,
            )
            is_needed = parameter.required or (syntax.prompt is not None and not item.default and not item.is_flag)
            declared.append(_Declared(parameter, item.name or name.strip("-"), is_needed, item.exits))
        return declared

    def _examples(
        self, command: Command, declared: Sequence[_Declared], pointer: str, name: str, description: str | None
    ) -> tuple[Example, ...]:
        """Returns a call with what the program requires or asks for, if its values are known."""
        chosen = {child(pointer, "params", group.params[0]) for group in command.exclusive if group.is_required}
        # Those of groups come first, and yield their plain name to that of the command.
        needed = {
            item.parameter.name if item.parameter.syntax and item.parameter.syntax.word else item.plain_name: item
            for item in declared
            if item.is_needed or item.parameter.pointer in chosen
        }
        schema = object_of(
            (
                replace(item.parameter, name=plain_name, required=True, schema=_given(item.parameter.schema))
                for plain_name, item in needed.items()
            ),
            Schema(additional=False),
        )
        found = call_examples((), schema, Types.of(()), self._problems, name=name, description=description)
        return tuple(
            replace(item, input={needed[key].parameter.name: value for key, value in item.input.items()})
            for item in found
            if needed
        )


def _parameters(declared: Iterable[_Declared]) -> tuple[Parameter, ...]:
    return tuple({item.parameter.name: item.parameter for item in declared}.values())


def _raw(parameters: tuple[Parameter, ...], rules: Schema | None) -> dict[str, Json]:
    """Returns the JSON Schema of all arguments of a command, with descriptions and defaults."""
    raw: Any = SchemaWriter(Types.of(()), is_request=False).write(arguments_of(parameters, rules))
    for item in parameters:
        raw["properties"][item.name] |= {"description": item.description} if item.description else {}
        raw["properties"][item.name] |= {"default": item.schema.default.json} if item.schema.default else {}
    return {"properties": {}, **raw}


def _given(schema: Schema) -> Schema:
    """Returns the schema of a value in an example, which has a flag only if it is given."""
    return Schema(choices=(True,)) if schema.types == ("boolean",) else schema


def _name(item: Param) -> str:
    """Returns the long name of an option, or what help calls a positional argument."""
    names = item.names or item.syntax.negations
    return max(names, key=lambda name: name.startswith("--")) if names else _label(item)


_DEPRECATED = re.compile(r" ?\((?:DEPRECATED|deprecated)[^()]{0,200}\)\.?\Z")
"""What Click adds to the help of a deprecated option."""

_LABEL = re.compile(r"[A-Za-z0-9_][^\s\[\]{}|]*\Z")


def _label(item: Param) -> str:
    """Returns what help calls the value of a parameter, unless that is a syntax."""
    return item.metavar if _LABEL.match(item.metavar) else (item.name or "value").upper()


def _value(item: Param) -> str | None:
    """Returns what a usage line has for a value; `None` for a flag."""
    if item.is_flag:
        return None
    is_syntax = not item.names and "[" in item.metavar
    is_syntax = is_syntax or (item.syntax.values or 1) == len(item.metavar.split()) > 1  # a label for each value
    return item.metavar if is_syntax else _label(item)


def _syntax(item: Param) -> CommandSyntax:
    """Returns how a parameter is written; a flag that only turns something off is named by that."""
    name, negations = _name(item), item.syntax.negations
    return replace(
        item.syntax,
        value=_value(item),
        aliases=tuple(other for other in item.names or negations if other != name),
        negations=negations if item.names else (),
    )


def _value_schema(item: Param) -> Schema:
    """Returns the schema of all values of a parameter."""
    schema = item.schema
    if item.is_flag and schema.types != ("integer",):
        schema = Schema(types=("boolean",))
    values, default = item.syntax.values, item.default
    if "%Y-%m-%d" in item.formats and len("".join(map(str, default))) <= len("2024-01-02"):
        schema = replace(schema, format="date")
    if values != 1 and not schema.prefix_items and not item.is_flag:
        counts: dict[str, Json] = {}
        if values is not None:
            counts = {"minItems": values, "maxItems": values}
        elif item.names and item.least_values:
            counts = {"minItems": item.least_values}
        schema = Schema(types=("array",), items=schema, constraints=counts or None)
    if item.syntax.is_repeatable and not item.is_flag and not (values is None and schema.items is not None):
        schema = Schema(types=("array",), items=schema)
    # A flag is on or off only if another flag is the opposite; what help says of a default replaces it.
    is_open = not item.is_flag or (item.names and item.syntax.negations)
    if default not in ((), ([],)) and not item.default_text and not item.is_secret and is_open:
        schema = replace(schema, default=Value(default[0]))
    return schema


def _rules(command: Command, declared: Sequence[_Declared]) -> Schema | None:
    """Returns the rules of the groups of parameters of which one at most may be given."""
    own = [item.parameter for item in declared if item.parameter.location != "global"]
    by_pointer = {parameter.pointer.rpartition("/")[2]: parameter.name for parameter in own}
    choices, pairs = list[Schema](), list[Schema]()
    for group in command.exclusive:
        names = [by_pointer[key] for key in map(str, group.params) if key in by_pointer]
        if group.is_required and names:
            choices.append(Schema(alternatives=tuple(Schema(required=(name,)) for name in names), is_exclusive=True))
        elif len(names) > 1:
            pairs += [Schema(excluded=Schema(required=pair)) for pair in combinations(names, 2)]
    rules = [*choices, *pairs[:_PAIRS_LIMIT]]
    return reduce(merge, rules) if rules else None


_PAIRS_LIMIT = 20
"""Maximum of pairs of parameters that exclude each other, of one command."""


# -- texts -----------------------------------------------------------------------------------------------------------

_TAG = re.compile(r"\[(/?)([a-z][a-z0-9 _#=:/.,()-]{0,60})?\]")
"""A tag of rich markup."""

_SECTION = re.compile(
    r"^(?P<title>args|arguments|parameters|options|examples?|usage examples?|exit (?:codes?|status)|return codes?):?"
    r"[ \t]*\n(?:\s*^\.\. code-block::.*\n)?(?P<lines>(?:[ \t]*\n)*[ \t]+\S.*(?:\n[ \t]+\S.*|\n[ \t]*$)*)",
    re.IGNORECASE | re.MULTILINE,
)
"""A title with the lines below it, which are indented."""

_TO_AI_HELP = re.compile(r"(?:\A|\n\n)[^\w\n]{0,4}LLMs?/agents: run (?:[^\n]|\n(?!\n)){0,200}--ai-help[^\n]{0,200}")
"""What help says to agents of the text that they read."""

_ENTRY = re.compile(r"^[ \t]*([*`\w-]{1,60})(?:[ \t]*\([^()\n]{0,80}\))?[ \t]*(?::|[ \t]-)[ \t]+(?=\S)", re.MULTILINE)


class _Texts:
    """The texts of a command: its prose, and what sections of it say."""

    def __init__(self, command: Command, *, is_chained: bool = False) -> None:
        """Takes a command, and whether it is one of a chain."""
        text, sections = _divided(_TO_AI_HELP.sub("", command.help or ""))
        epilog, more = _divided(_TO_AI_HELP.sub("", command.epilog or ""))
        sections |= more
        parts = [_shown(part, command.markup) for part in (text, epilog)]
        if command.aliases:
            parts.append(f"Also called {', '.join(f'`{name}`' for name in command.aliases)}.")
        if is_chained:
            parts.append("Other commands of its group, each with its options, may follow it in the same call.")
        self.prose = "\n\n".join(filter(None, parts)) or None
        """What it does, as Markdown."""
        self.of_parameters = {
            name.lstrip("*"): text
            for title, lines in sections.items()
            if title.lower().startswith(("arg", "param", "opt"))
            for name, text in _entries(lines)
        }
        """Name of a parameter to what a section says of it."""
        self.exit_codes = tuple(
            ErrorCase(code=name.strip("`"), description=text)
            for title, lines in sections.items()
            if title.lower().startswith(("exit", "return"))
            for name, text in _entries(lines)
            if name.strip("`") != "0"
        )
        """What exit codes mean, apart from success."""
        self.sections = tuple(
            Section(title=title, body=_verbatim(lines))
            for title, lines in sections.items()
            if "example" in title.lower()
        )
        """Examples."""


def _divided(text: str) -> tuple[str, dict[str, str]]:
    """Returns a text without its sections, and the lines below the title of each."""
    sections: dict[str, str] = {}

    def taken(found: re.Match[str]) -> str:
        sections[found["title"]] = f"{sections.get(found['title'], '')}\n{found['lines']}"
        return ""

    return _SECTION.sub(taken, text).strip("\n"), sections


def _entries(lines: str) -> Iterator[tuple[str, str]]:
    """Yields the names of a section with their texts, each of which may continue on the lines below it."""
    _, *parts = _ENTRY.split(lines)
    return zip(parts[::2], (" ".join(part.split()) for part in parts[1::2]), strict=True)


def _verbatim(lines: str) -> str:
    """Returns lines as a code block."""
    return str(fence(dedent("\n".join(line.rstrip() for line in lines.split("\n") if line.strip() != "\b"))))


def _shown(text: str | None, markup: str | None) -> str | None:
    """Returns a help text as Markdown: lines that the program does not fill become code, tags are removed."""
    if text is None or not text.strip():
        return None
    if markup == "filled":
        return " ".join(text.split())
    if markup == "rich":
        text = _without_tags(text)
    return "\n\n".join(filter(None, (_paragraph(part, markup) for part in re.split(r"\n[ \t]*\n", text)))) or None


def _paragraph(text: str, markup: str | None) -> str:
    lines = text.strip("\n")
    has_margin = any(line[:1] in " \t" for line in lines.split("\n"))
    is_exact = lines.lstrip(" \t").startswith("\b") or (markup == "raw" and has_margin)
    return _verbatim(lines) if is_exact else lines


def _without_tags(text: str) -> str:
    """Returns a text without those tags of rich markup that are closed."""
    opened = {match[2] for match in _TAG.finditer(text) if match[1] and match[2]}
    closes_any = "[/]" in text

    def replacement(match: re.Match[str]) -> str:
        if match[1]:
            return "" if match[2] is None or match[2] in opened else match[0]
        is_closed = match[2] is not None and (closes_any or match[2] in opened or match[2].partition("=")[0] in opened)
        return "" if is_closed else match[0]

    return _TAG.sub(replacement, text)


def _links(facts: Distribution) -> tuple[str | None, str | None]:
    """Returns the homepage and the repository of a distribution."""
    links = {label: url for label, url in facts.links.items() if url.startswith(("https://", "http://"))}

    def first(*labels: str) -> str | None:
        return next((links[label] for label in labels if label in links), None)

    homepage = first("homepage", "home page", "home", "documentation", "docs")
    return homepage or facts.homepage, first("repository", "source", "source code", "code", "github", "gitlab")
