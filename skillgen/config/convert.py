"""Converts the values of a project file, a command line or a call of the API into options.

`msgspec.convert` stops at the first fault and ignores keys that it does not know. Here every fault is found, with its
path, and a key that is misspelt has a proposal. `dropped.json` has what a user wrote before release 0.2.0 (commands,
options, keys, formats and names of the Python API), to what to do instead.
"""

from __future__ import annotations

import difflib
import os
import re
import typing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import msgspec
from msgspec import UNSET, Meta, Struct

from skillgen.config.option import Option, Options, command_words, keys_in
from skillgen.config.project import ALL_OPTIONS, Source, Target
from skillgen.errors import UsageError
from skillgen.typed import convert, decode

Keys: TypeAlias = tuple[str | int, ...]
"""The keys and indexes that lead to a value."""

LEAST, MOST = 500, 1_000_000
"""Bounds of a number of tokens."""

SCALARS: dict[Any, Any] = {
    bool: bool,
    float: Annotated[float, Meta(gt=0, le=86_400)],
    int: Annotated[int, Meta(ge=LEAST, le=MOST)],
    str: Annotated[str, Meta(min_length=1)],
}
"""Type of an option to that of its values."""

_EMPTY = "give it a value, or leave it out"


class Fault(Struct, frozen=True):
    """What is wrong with one value."""

    path: Keys
    what: str
    fix: str


class Converter:
    """Converts values, and collects their faults."""

    def __init__(self, *, is_text: bool = False) -> None:
        """`is_text` if scalars are strings or `None`, as in a file: their types follow from the options."""
        self.faults: list[Fault] = []
        self._is_text = is_text

    def convert(self, kind: Any, value: Any, path: Keys, item: Option = Option()) -> Any:  # noqa: B008 - frozen
        """Returns a value as an instance of `kind`, the type of the option `item`."""
        if isinstance(kind, type) and issubclass(kind, Options):
            return self._struct(kind, value, path)
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        if value is None and not self._is_text and item.default is None:
            return None
        if origin is Sequence:
            return self._list(arguments[0], value, path, item)
        if origin is Mapping:
            members = self._mapping(value, path)
            return {name: self.convert(arguments[1], member, (*path, name), item) for name, member in members.items()}
        if origin is typing.Union:  # a document: a path, or what a parser returned
            if isinstance(value, (str, os.PathLike, Mapping)):
                return value if isinstance(value, Mapping) else self._scalar(str, value, path, item)
            return self.wrong(path, "a path, a URL or a mapping", value)
        return self._scalar(kind, value, path, item)

    def fault(self, path: Keys, what: str, fix: str, gone: UsageError | None = None) -> Any:
        """Adds a fault; returns `None` in place of the value."""
        self.faults.append(Fault(path, what, fix) if gone is None else Fault(path, gone.what, gone.fix))

    def _struct(self, cls: type[Options], value: Any, path: Keys) -> Any:
        known = keys_in(cls)
        values: dict[str, dict[str, Any]] = {holder: {} for holder, _ in known.values()}
        for name, member in self._mapping(value, path).items():
            key = name if self._is_text else name.replace("_", "-")
            if key not in known:
                close = difflib.get_close_matches(key.replace("_", "-"), known, n=1, cutoff=0.5)
                fix = f"did you mean {close[0]}?" if close else f"choose from {', '.join(known)}"
                if cls is Target and (key in keys_in(Source) or f"--{key}" in _FLAGS):
                    *above, right = key_in_target(f"--{key}").split("/")
                    fix = f"write {right} below source:" if above else f"did you mean {right}?"
                self.fault((*path, name), "no such key", fix, dropped("key", key))
                continue
            holder, item = known[key]
            values[holder][item.name] = self.convert(item.type, member, (*path, name), item)
        own = values.pop("", {})
        if missing := [item.key for _, item in known.values() if item.is_required and item.name not in own]:
            if not self.faults:  # a key that is not known may be the missing one
                self.fault(path, f"has no {missing[0]}", f"add {missing[0]}:")
            return None
        hints = typing.get_type_hints(cls)
        return cls(**own, **{holder: hints[holder](**given) for holder, given in values.items() if given})

    def _mapping(self, value: Any, path: Keys) -> Mapping[str, Any]:
        if value is None and self._is_text:
            return {}
        if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
            return value
        self.wrong(path, "a mapping" if self._is_text else "a mapping with strings as keys", value)
        return {}

    def _list(self, kind: Any, value: Any, path: Keys, item: Option) -> Any:
        if isinstance(value, str):
            if item.is_command:
                try:
                    value = command_words(value, "")
                except UsageError as error:
                    return self.fault(path, error.what, error.fix)
            elif not self._is_text:
                value = [value]
        if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
            return self.wrong(path, "a list" if self._is_text else "a list of strings", value)
        if item.choices and not self._is_text:
            words = (word.replace(",", " ").split() if isinstance(word, str) else [word] for word in value)
            value = [part for word in words for part in word]
        return tuple(self.convert(kind, member, (*path, index), item) for index, member in enumerate(value))

    def _scalar(self, kind: Any, value: Any, path: Keys, item: Option) -> Any:
        if value is None and item.default is UNSET:
            return None
        if value is None and self._is_text:
            return self.fault(path, "is empty", _EMPTY)
        if isinstance(value, os.PathLike) and (item.is_path or item.is_command):
            value = os.fspath(value)
        if self._is_text and kind is bool:
            value = {"true": True, "false": False}.get(value, value)
        try:
            is_exact = kind is not float and not (self._is_text and kind is int)
            value = convert(value, str if kind is str else SCALARS[kind], strict=is_exact)
        except msgspec.ValidationError:
            tokens = f"a whole number from {LEAST} to {MOST:,}"
            numbers = {float: ("a number of seconds above 0", 30), int: (tokens, 3000)}
            if kind in numbers:
                return self.fault(path, f"must be {numbers[kind][0]}", f"give one, such as {numbers[kind][1]}")
            return self.wrong(path, "a string" if kind is str else "true or false", value)
        if kind is str:
            if "\0" in value:
                return self.fault(path, "holds a null character", "remove it")
            if not value.strip() and (self._is_text or typing.get_origin(item.type) is not Mapping):
                return self.fault(path, "is empty", _EMPTY)
            if item.choices and value not in item.choices:
                fix = f"choose from {(',' if item.is_comma_separated else ', ').join(item.choices)}"
                self.fault(path, f"no such value: {value}", fix, dropped("format", value))
        return value

    def wrong(self, path: Keys, expected: str, value: Any) -> Any:
        """Adds the fault of a value of a wrong type."""
        if self._is_text:
            how = {"a list": "a list: one item a line, after a hyphen", "a mapping": "`key: value` lines"}
            other = _FLAGS.get(f"--{path[-1]}")
            fix = f", or did you mean `{other.key}`?" if other and other.key != path[-1] else ""
            return self.fault(path, f"must be {expected}", f"write it as {how.get(expected, expected)}{fix}")
        return self.fault(path, f"must be {expected}, not {type(value).__name__}", f"pass {expected}")


def error_of_argument(fault: Fault) -> UsageError:
    """Returns a fault of an argument, or of an option of the command line."""
    names = [part for part in fault.path if isinstance(part, str)]
    return UsageError(fault.what, where=names[0] if names[0].startswith("--") else ".".join(names), fix=fault.fix)


# -- options in messages ---------------------------------------------------------------------------------------------

_FLAGS = {item.flag: item for item in ALL_OPTIONS.values()}
_FLAG = re.compile(
    r"(?P<flag>--[a-z][a-z-]*)"
    r"(?P<value> (?P<variable>[^\s=]+)=(?P<text>\w+)| '(?P<header>[^':]+): (?P<content>[^']*)'| [A-Z_]+\b)?"
)
"""An option of the command line in a message, with its value: `--timeout SECONDS`, `--env NAME=VALUE`."""


def renamed(text: str, name_of: Callable[[Option, re.Match[str]], str | None]) -> str:
    """Returns a message with other names in place of the options that it names, unless it has a command line.

    `name_of` gets an option and its place in the message, with its value; `None` leaves it.
    """

    def name(match: re.Match[str]) -> str:
        item = _FLAGS.get(match["flag"])
        return (name_of(item, match) if item is not None else None) or match[0]

    return text if re.search(r"skillgen [a-z-]+ -", text) else _FLAG.sub(name, text)


def in_keys(text: str, given: Collection[str] = ()) -> str:
    """Returns a message with keys of the project file in place of options, except those that the run has."""
    return renamed(text, lambda item, match: as_key(item, match) if item.is_key and item.name not in given else None)


def as_key(item: Option, match: re.Match[str]) -> str:
    """Returns an option in a message as what to write in the project file, where secrets come from the environment."""
    value = (match["value"] or "").strip()
    if item.is_secret and value:
        name = match["variable"] or match["header"] or value
        *words, variable = (match["content"] or name).split()
        value = f'{{{name}: "{" ".join((*words, f"${{{variable}}}"))}"}}'
    return f"`{item.key}: {value}`" if value else f"`{item.key}`"


def key_in_target(flag: str) -> str:
    """Returns the place of an option below a target of the project file: `source/headers` for `--header`."""
    key = _FLAGS[flag].key if flag in _FLAGS else flag[2:]
    return f"source/{key}" if key in keys_in(Source) else key


def dropped(what: str, name: str, where: str | None = None) -> UsageError | None:
    """Returns the error for a name or pattern that is gone, such as the key `samples`; `None` for any other."""
    table = decode(Path(__file__).with_name("dropped.json").read_bytes(), dict[str, str])
    found = next((each for each in table if fnmatchcase(each, f"{what} {name}")), None)
    if found is None:
        return None
    return UsageError(f"the {found} was removed in skillgen 0.2.0", where=where, fix=table[found])
