"""Reads what a line of a help text declares: the names, the value and the text of an option, an argument, a usage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from skillgen.model.values import Json
from skillgen.sources.cli.declarations import Param
from skillgen.text import lazy_re as re

WIDTH_LIMIT = 2_000
"""Maximum length of a line; the rest is cut."""

_OPTION_NAME = re.compile(r"-{1,2}(?:\[no-\]|\(no-\))?[A-Za-z0-9?#@][\w.:+-]*")
_NEXT_NAME = re.compile(r"(?: ?, ?| ?\| ?| / | or | |/)(?=-{1,2}(?:\[no-\]|\(no-\))?[A-Za-z0-9?#@])")
_VALUE_WORD = re.compile(
    r"=?(?:\[=?[^\[\]]{1,200}\]|<[^<>]{1,200}>|\{[^{}]{1,2000}\}|\([^()]{1,200}\)|[^\s\[\]<>{}()]{1,60})(?:\.\.\.|…)?"
)

_PLACEHOLDER = r"[<\[({]{0,2}(?:sub-?)?(?:command|cmd|task)s?[>\])}]{0,2}"
TAKES_COMMAND = re.compile(rf"(?:^|\s){_PLACEHOLDER}(?:\s|\.|$)", re.IGNORECASE)
SUBPARSERS = re.compile(r"\{[^{}]*\} \.\.\.| \.\.\.\Z")


_OF_SHELLS = ("$", "`", ";", "&", "'", '"', "\\")
"""Characters that no name of an option precedes."""


def option_names(spec: str) -> list[tuple[str, str]]:
    """Returns the names of an option, each with what follows it."""
    pieces = []
    for part in _NEXT_NAME.split(" ".join(spec.split()).strip(",")):
        if (name := _OPTION_NAME.match(part)) is not None:
            rest = part[name.end() :].strip(" ,")
            if part[name.end() :][:1] in _OF_SHELLS:
                continue
            pieces.append((name[0].rstrip(":."), "" if rest.startswith("|") else rest))  # `-v|vv|vvv`
    return pieces


def option_from_spec(spec: str, text: str, *, is_click: bool = False) -> Param | None:
    """Returns an option as its line declares it, in the style of Click or another; `None` for help."""
    spec = spec.strip()
    if spec.startswith("[") and spec.endswith("]"):
        spec = spec[1:-1]
    names: list[str] = []
    negations: list[str] = []
    value = ""
    for raw, rest in option_names(spec):
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
    if is_click and (bounds := re.search(r" \[[^\[\]|]*x[^\[\]|]*\]\Z", value)) is not None:  # in boxes
        value, text = value[: bounds.start()], text + bounds[0]
    facts = _Value(value, is_click=is_click)
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
        deprecated=bool(DEPRECATED.search(tags.text)),
        exits=is_flag and {"--version", "--usage"} & {*names} != set(),
    )


def _merged(declared: dict[str, Json], tagged: dict[str, Json]) -> dict[str, Json]:
    """Returns the schema of a value: tags are more exact than its name, but a range has no type of its own."""
    if declared.get("type") == "integer" and tagged.get("type") == "number":
        return {**tagged, "type": "integer"}
    return {**declared, **tagged}


DEPRECATED = re.compile(r"[\[(]deprecated|\Adeprecated\b|\bDEPRECATED\b")

_INTEGERS = {"int", "integer", "int32", "int64", "uint", "uint32", "uint64"}
_NUMBERS = {"float", "float32", "float64", "number"}
_PATHS = {"path", "file", "filename", "filepath", "dir", "directory", "folder"}


class _Value:
    """What follows the name of an option."""

    def __init__(self, text: str, *, is_click: bool = False) -> None:
        text = text.strip()
        self._is_click, self._text = is_click, text
        self.is_optional = text.startswith("[") and "|" not in text.partition("]")[0] and "..." not in text
        if self.is_optional:
            text = text[1:].removesuffix("]").replace("]", "", 1) if text.count("[") == 1 else text.strip("[]")
        text = text.removeprefix("=").strip()
        self.is_repeatable = bool(re.search(r"(?:[>\])}]|\b)(?:\.\.\.|…)\s*\]?\Z", text)) and " " not in text
        self.number: int | None = 1
        words = [word[0] for word in _VALUE_WORD.finditer(text)]
        if is_click and text.startswith("<"):
            text = text.rstrip(".")  # Click writes it behind several values, too
            words = text.strip("<>").split()
        elif is_click and not text.startswith("["):  # one value, however it is called
            words = ["-".join(words).removesuffix("-RANGE")] if words else []
        if len(words) > 1 and ("..." in text or "…" in text):
            self.number, words = None, words[:1]
        self.words = tuple(word.rstrip(".…") for word in words if word.strip(".…"))[:4]
        if len(self.words) > 1:
            self.number = len(self.words)

    @property
    def metavar(self) -> str:
        """What the value is called."""
        if not self.words:
            return ""
        return self.words[0].strip("<>[](){}=") if not self._choices() else "VALUE"

    def _choices(self) -> list[str]:
        if self._text.startswith("[") and "]" not in self._text:  # cut by the end of its column
            return []
        word = self.words[0].strip("<>[](){}=") if self.words else ""
        separator = "," if self.words and self.words[0].startswith("{") else "|"
        found = [item.strip() for item in word.split(separator)]
        is_list = len(found) > 1 and all(re.fullmatch(r"[\w.+:@/-]{1,60}", item) for item in found)
        are_names = separator == "|" and not self._is_click and all(item.isupper() and len(item) > 2 for item in found)
        return found if is_list and not are_names else []

    def schema(self) -> dict[str, Json]:
        """Returns the JSON Schema of one value."""
        if choices := self._choices():
            return {"type": "string", "enum": [*choices]}
        word = self.metavar.lower()
        if word in ("bool", "boolean"):
            return {"type": "boolean"}
        if word in _INTEGERS:
            return {"type": "integer"}
        if word in _NUMBERS:
            return {"type": "number"}
        return {"type": "string", "format": "path"} if word in _PATHS else {"type": "string"}


_TAG = re.compile(
    r" ?[\[(](?P<tag>(?:default|env(?: var)?|possible values|choices|required|string|boolean|number|array|count)\b"
    r"[^\[\]()]{0,400}|(?:-?[\d.]+<=?)?x(?:[<>]=?-?[\d.]+)?(?:; (?:default|required)[^\[\]()]{0,200})?)[\])]\.?"
)


_NO_DEFAULT = re.compile(r" ?[\[(]default:? (?:\[\]|\{\}|None|null)[\])]")
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
        text = _NO_DEFAULT.sub("", " ".join(text.split()))
        self.text = " ".join(_TAG.sub(self._take, text).split())

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
    if kind == "boolean":
        return {"true": True, "false": False}.get(text.lower())
    choices = schema.get("enum")
    return text if not isinstance(choices, list) or text in choices else None


def without_repeated(params: Iterable[Param]) -> list[Param]:
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


def params_from_usage(
    usages: Sequence[str], words: Sequence[str], described: dict[str, Param], *, has_commands: bool, is_click: bool
) -> tuple[list[Param], list[Param]]:
    """Returns the positional arguments and the options that usage lines have; required are those that all require."""
    positional: dict[str, Param] = {}
    options: dict[str, Param] = {}
    counts: dict[str, int] = {}
    if has_commands:
        usages = [usage for usage in usages if not (TAKES_COMMAND.search(usage) or SUBPARSERS.search(usage))]
    for usage in usages[:50]:
        reader = _UsageReader(words, described, is_click=is_click, is_cobra=usage.endswith("[flags]"))
        reader.read(_tokens(usage)[:WIDTH_LIMIT])
        for param in reader.positional:
            name = param.name or ""
            positional.setdefault(name, param)
            counts[name] = counts.get(name, 0) + param.is_required
        for param in reader.options:
            options.setdefault(param.names[0], param)
    kept = [replace(param, is_required=counts[name] == len(usages)) for name, param in positional.items()]
    return kept, [*options.values()]


def with_value_of(param: Param, in_usage: Mapping[str, Param]) -> Param:
    """Returns an option with the value that only usage shows."""
    other = next((in_usage[name] for name in param.names if name in in_usage), None)
    if other is None or not param.is_flag or other.is_flag:
        return param
    return replace(
        param,
        schema=other.schema,
        metavar=other.metavar,
        values=other.values,
        is_value_optional=other.is_value_optional,
    )


_CLICK_CHOICES = re.compile(r"[\[{][\w.+:@/-]+(?:\|[\w.+:@/-]+)+[\]}]")


class _UsageReader:
    """Reads one usage line."""

    def __init__(self, words: Sequence[str], described: dict[str, Param], *, is_click: bool, is_cobra: bool) -> None:
        self._is_click, self._is_cobra = is_click, is_cobra
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
            if self._is_click and _CLICK_CHOICES.fullmatch(core):
                self._take_positional("{" + core[1:-1].replace("|", ",") + "}", core.startswith("["))
            elif core.startswith("-") and len(core) > 1:
                value = tokens[index] if index < len(tokens) and not tokens[index].startswith(("-", "[-", "|")) else ""
                name = _OPTION_NAME.match(core)
                if name is not None and name[0] == core and value and re.match(r"[<{A-Z]", value):
                    index += 1
                if (param := option_from_spec(f"{core} {value}" if is_optional else core, "")) is not None:
                    self.options.append(param)
            elif core.startswith("[") and core.rstrip(".").endswith("]") and depth < 8:
                self._bracket(core[1:-1], token, depth)
            elif core.startswith("(") and core.endswith(")") and depth < 8:
                for part in _alternatives(core[1:-1]):
                    self.read(_tokens(part), is_optional=True, depth=depth + 1)
            else:
                self._take_positional(token, is_optional)

    def _bracket(self, inner: str, token: str, depth: int) -> None:
        inner = inner.strip()
        if _GENERIC.match(inner.strip("<>")) or TAKES_COMMAND.search(inner):
            return
        if inner.startswith("-"):
            if (param := option_from_spec(inner, "")) is not None:
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

    def _take_positional(self, token: str, is_optional: bool) -> None:
        core = token.removesuffix("...").removesuffix("…")
        if core.startswith("<") and core.endswith(">") and len(parts := _alternatives(core[1:-1])) > 1:
            for part in parts:
                self.read(_tokens(part), is_optional=True, depth=8)
            return
        name = core.strip("<>{}[]").strip()
        if _GENERIC.match(name) or TAKES_COMMAND.search(core) or core in ("|", "=", ""):
            return
        listed = next((other for other in self._described if other.lower() == name.lower()), None)
        if listed is not None:  # Typer writes names in capitals in usage only
            token, name = token.replace(name, listed), listed
        is_marked = (
            core[:1] in "<{"
            or self._is_cobra
            or (name.isupper() and len(name) > 1 - self._is_click)
            or listed is not None
        )
        if not is_marked and not (is_optional and re.fullmatch(r"[a-z][\w.-]{1,40}", name)):
            return
        # argparse writes what may follow as `name [name ...]`.
        for index, other in enumerate(self.positional):
            if other.name == name:
                self.positional[index] = replace(other, values=None)
                return
        known = self._described.get(name)
        param = argument_from_spec(token, is_optional=is_optional, text="")
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


def argument_from_spec(spec: str, *, is_optional: bool, text: str) -> Param | None:
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
        metavar=name,
        help=tags.text or None,
        schema={**schema, **tags.schema},
        values=None if repeats else 1,
        is_required=not is_optional,
        has_default=default is not None,
        default=default,
        default_text=tags.default_text,
        variables=tags.variables,
    )
