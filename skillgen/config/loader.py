"""Reads a project file into `Project`; replaces its variables. Each error names file, line and key.

YAML and TOML are first read into `_Located` values, which hold scalars as strings with their line. The type of a field
decides how its scalar is read, not its form: `version: 1.10` is the string 1.10, and `when-to-use: [no]` the string no,
unlike with a YAML 1.1 loader.
"""

from __future__ import annotations

import dataclasses
import difflib
import os
import re
import types
import typing
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct, field

from skillgen.config.dropped import dropped
from skillgen.config.project import (
    SOURCE_KINDS,
    Option,
    Project,
    Source,
    Target,
    command_words,
    is_required,
    keys_in,
)
from skillgen.errors import UsageError
from skillgen.model.values import Value
from skillgen.security.tables import parse_toml

FILE_NAME = "skillgen.yaml"

_SIZE_LIMIT_BYTES = 4 * 1024 * 1024
_VALUES_LIMIT = 100_000
_SEARCHED_LINES = 1_000_000
"""Lines of a TOML document in which keys are searched for; the places of others are not reported."""
_NESTING_LIMIT = 50
"""Levels; a project file needs ten."""

_SECRET_NAME = re.compile(
    r"token|secret|passw|api[-_]?key|access[-_]?key|authorization|cookie|credential", re.IGNORECASE
)
_VARIABLE = re.compile(r"(?P<escape>\$)?\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)\}")
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NULLS = ("", "~", "null", "Null", "NULL")


def project_file(named: Path | None) -> Path:
    """Returns the project file: the one named by `--config`, else that of the current folder.

    Raises:
        UsageError: it does not exist.
    """
    if named is not None:
        if not named.is_file():
            what = "is not a file" if named.exists() else "no such file"
            raise UsageError(what, where=str(named), fix="run `skillgen init`, or name another file")
        return named
    path = find_project_file()
    if path is None:
        raise UsageError("no such file", where=FILE_NAME, fix="run `skillgen init`, or name another file")
    return path


_ADD_TARGET = "add one below targets:, or have `skillgen init` write the file"


def find_project_file() -> Path | None:
    """Returns the project file of the current folder, if there is one."""
    for name in (FILE_NAME, "skillgen.yml"):
        if Path(name).is_file():
            return Path(name)
    path = Path("pyproject.toml")
    with suppress(UsageError):  # an unreadable pyproject.toml does not configure skillgen
        return path if path.is_file() and "tool.skillgen" in _text(path) else None
    return None


def read_project(path: Path) -> Project:
    """Reads a project file.

    Raises:
        UsageError: it cannot be read, or a key or value is invalid.
    """
    text, name = _text(path), path.as_posix()
    root = _located_toml(text, name) if path.suffix == ".toml" else _located_yaml(text, name)
    project: Project = _read(Project, root, "")
    if not project.targets:
        raise UsageError("has no targets", where=name, fix=_ADD_TARGET)
    for key, target in project.targets.items():
        _check_target(key, target, _at(_at(root, "targets"), key), f"targets.{key}")
    return project


def variables_in(text: str) -> list[str]:
    """Returns the names of the variables (`${NAME}`) in a string; `$${NAME}` is not one."""
    return [match["name"] for match in _VARIABLE.finditer(text) if match["escape"] is None]


def without_variables(text: str) -> str:
    """Returns a string as a value of a project file that `interpolate` turns into the string again."""
    return _VARIABLE.sub(r"$\g<0>", text)


def interpolate(text: str, environment: Mapping[str, str], where: str) -> str:
    """Replaces the variables in a string by their values, and `$${NAME}` by `${NAME}`.

    Raises:
        UsageError: a variable is not set.
    """
    for name in variables_in(text):
        if name not in environment:
            raise UsageError(f"{name} is not set in this environment", where=where, fix=f"set {name}")
    return _VARIABLE.sub(lambda match: match[0][1:] if match["escape"] else environment[match["name"]], text)


class _Located(Struct):
    """A value of the file and its place: a mapping (`members`), a list (`items`) or a scalar (`text`)."""

    where: str
    """The file, and the line if it is known."""

    members: dict[str, _Located] | None = None
    items: list[_Located] | None = None
    text: str = ""
    is_null: bool = False
    key_places: dict[str, str] = field(default_factory=dict)
    """Key of a mapping to the place of the key."""


def _text(path: Path) -> str:
    try:
        # A cloned project may link to a device that never ends, or to a pipe that blocks.
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
            content = file.read(_SIZE_LIMIT_BYTES + 1)
        if len(content) > _SIZE_LIMIT_BYTES:
            raise UsageError("is too large for a project file", where=str(path), fix="make it smaller")
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as error:
        what = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UsageError(f"cannot be read: {what}", where=str(path), fix="correct it") from None


def _located_yaml(text: str, name: str) -> _Located:
    """Parses a YAML document.

    Raises:
        UsageError: it is not YAML, or has a duplicate key.
    """
    try:
        node = yaml.compose(text, Loader=_LOADER)
    except yaml.YAMLError as error:
        mark, fix = getattr(error, "problem_mark", None), "correct it"
        what = getattr(error, "problem", None) or str(error).splitlines()[0]
        if mark is not None and "any token" in what and "\t" in text.splitlines()[mark.line]:
            what, fix = "a tab indents the line", "indent it with spaces"
        raise UsageError(
            f"is not YAML: {what}", where=f"{name}:{mark.line + 1}" if mark is not None else name, fix=fix
        ) from None
    return _Located(f"{name}:1", members={}) if node is None else _located_nodes(node, name)


def _located_nodes(root: Any, name: str) -> _Located:
    count = 0

    def located(node: Any, depth: int) -> _Located:
        nonlocal count
        count += 1  # an alias is expanded wherever it is used
        where = f"{name}:{node.start_mark.line + 1}"
        if count > _VALUES_LIMIT:
            raise UsageError(f"has more than {_VALUES_LIMIT:,} values", where=where, fix="use fewer aliases")
        if depth > _NESTING_LIMIT:
            what = f"is nested more than {_NESTING_LIMIT} levels deep, or an alias contains itself"
            raise UsageError(what, where=where, fix="use fewer levels, and write the value out")
        if isinstance(node, yaml.ScalarNode):
            return _Located(where, text=node.value, is_null=not node.style and node.value in _NULLS)
        if isinstance(node, yaml.SequenceNode):
            return _Located(where, items=[located(item, depth + 1) for item in node.value])
        members: dict[str, _Located] = {}
        key_places: dict[str, str] = {}
        for key, value in node.value:
            key_place = f"{name}:{key.start_mark.line + 1}"
            if not isinstance(key, yaml.ScalarNode):
                raise UsageError("a key must be a string", where=key_place, fix="correct it")
            if key.value in members:
                raise UsageError(f"the key {key.value!r} is duplicate", where=key_place, fix="remove one")
            members[key.value] = located(value, depth + 1)
            key_places[key.value] = key_place
        return _Located(where, members=members, key_places=key_places)

    return located(root, 0)


def _located_toml(text: str, name: str) -> _Located:
    """Parses the table `[tool.skillgen]` of a TOML document; empty without that table.

    Raises:
        UsageError: it is not TOML.
    """
    try:
        data = parse_toml(text)
    except ValueError as error:
        raise UsageError(f"is not TOML: {error}", where=name, fix="correct it") from None
    tool = data.get("tool")
    table = tool.get("skillgen") if isinstance(tool, dict) else None
    return _located_table(table if isinstance(table, dict) else {}, text.splitlines(), name)


def _located_table(table: dict[str, Any], lines: list[str], name: str) -> _Located:
    """Returns a TOML table; TOML libraries report no lines, so a key is searched for below its parent's line."""
    lines_left = _SEARCHED_LINES

    def located(value: Any, after: int) -> _Located:
        nonlocal lines_left
        where = f"{name}:{after}" if after else name
        if isinstance(value, dict):
            members: dict[str, _Located] = {}
            key_places: dict[str, str] = {}
            for key, item in value.items():
                pattern = re.compile(rf"""(?<![\w-])["']?{re.escape(key)}["']?\s*(=|\]|\.)""")
                searched = range(after or 1, min(len(lines), (after or 1) + lines_left) + 1)
                line = next((at for at in searched if pattern.search(lines[at - 1])), after)
                lines_left -= max(line - after, 0) or len(searched)
                members[key] = located(item, line)
                key_places[key] = f"{name}:{line}" if line else name
            return _Located(where, members=members, key_places=key_places)
        if isinstance(value, list):
            return _Located(where, items=[located(item, after) for item in value])
        if isinstance(value, bool):
            return _Located(where, text="true" if value else "false")
        return _Located(where, text=str(value))

    return located(table, 0)


def _read(annotation: Any, value: _Located, key: str, option: Option | None = None) -> Any:
    if dataclasses.is_dataclass(annotation) and isinstance(annotation, type):
        return _read_members(annotation, value, key)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        kind = next(item for item in arguments if item is not types.NoneType)
        if kind is Value:
            return Value(None) if value.is_null else Value(_scalar(value, key))
        return _read(kind, value, key)
    if origin is Sequence:
        if (
            option is not None
            and option.is_command
            and value.items is None
            and value.members is None
            and not value.is_null
        ):
            return command_words(_scalar(value, key), f"{value.where}: {key}")
        if value.items is None:
            raise _error(value, key, "must be a list", "write it as a list: one item a line, after a hyphen")
        return tuple(_read(arguments[0], item, f"{key}[{number}]") for number, item in enumerate(value.items))
    if origin is not None:
        members = _members(value, key)
        return {name: _read(arguments[1], item, f"{key}.{name}") for name, item in members.items()}
    return _read_scalar(annotation, value, key)


def _read_members(cls: type[Any], value: _Located, key: str) -> Any:
    hints = typing.get_type_hints(cls)
    known = keys_in(cls)
    values = {}
    for name, member in _members(value, key).items():
        member_key = f"{key}.{name}".lstrip(".")
        if name not in known:
            place = value.key_places.get(name, value.where)
            if (error := dropped("key", name, place)) is not None:
                raise error
            close = difflib.get_close_matches(name.replace("_", "-"), known, n=1, cutoff=0.5)
            fix = f"did you mean {close[0]}?" if close else f"choose from {', '.join(known)}"
            hint = hints.get("source")
            if hint is not None and name in keys_in(Source):
                fix = "write it below source:"
            raise UsageError(f"no such key: {member_key}", where=place, fix=fix)
        item = known[name]
        values[item.name] = _read(hints[item.name], member, member_key, item.metadata.get("option"))
    missing = [name for name, item in known.items() if item.name not in values and is_required(item)]
    if missing:
        if not key:
            raise UsageError(f"has no {missing[0]}", where=value.where, fix=_ADD_TARGET)
        raise _error(value, key, f"has no {missing[0]}", f"add {missing[0]}:")
    return cls(**values)


def _read_scalar(annotation: Any, value: _Located, key: str) -> Any:
    text = _scalar(value, key)
    if annotation is bool:
        if text not in ("true", "false"):
            raise _error(value, key, "must be true or false", "write one of them")
        return text == "true"
    if annotation is float:
        try:
            number = float(text)
        except ValueError:
            number = -1
        if not 0 < number <= 86_400:
            raise _error(value, key, "must be a number of seconds above 0", "write a number, such as 30")
        return number
    if not text.strip():
        raise _error(value, key, "is empty", "give it a value, or leave the key out")
    return text


def _scalar(value: _Located, key: str) -> str:
    if value.members is not None or value.items is not None:
        raise _error(value, key, "must be a string", "write it as one string")
    if value.is_null:
        raise _error(value, key, "is empty", "give it a value, or leave the key out")
    if "\0" in value.text:
        raise _error(value, key, "holds a null character", "remove it")
    return value.text


def _members(value: _Located, key: str) -> dict[str, _Located]:
    if value.is_null:
        return {}
    if value.members is None:
        raise _error(value, key or "the file", "must be a mapping", "write it as `key: value` lines")
    return value.members


def _check_target(name: str, target: Target, value: _Located, key: str) -> None:
    if re.search(r"[\\/]|^\.*$", name):
        raise _error(value, key, "is not a valid name of a target", "use letters, digits and hyphens")
    _check_source(target.source, _at(value, "source"), f"{key}.source")


def _check_source(source: Source, located: _Located, key: str) -> None:
    given = [item for item in SOURCE_KINDS if getattr(source, item)]
    if len(given) != 1:
        kinds = ", ".join(name for name, item in keys_in(Source).items() if item.name in SOURCE_KINDS)
        what = "names no source" if not given else f"names several sources: {', '.join(given).replace('_', '-')}"
        raise _error(located, key, what, f"give one of {kinds}")
    _refuse_useless_keys(source, given[0], located, key)
    for kind, values in (("env", source.env), ("headers", source.headers)):
        for item, text in values.items():
            if _SECRET_NAME.search(item):
                _refuse_secret(text, item, _at(_at(located, kind), item), f"{key}.{kind}.{item}")
    if source.client_secret is not None:
        _refuse_secret(source.client_secret, "client_secret", _at(located, "client-secret"), f"{key}.client-secret")


def _refuse_useless_keys(source: Source, kind: str, located: _Located, key: str) -> None:
    """Refuses keys that have no effect on a kind of source, so that nobody relies on them."""
    for name, needed in source.useless_options([kind]).items():
        written = name.replace("_", "-")
        what, fix = f"has no effect with {kind.replace('_', '-')}", "leave it out"
        if needed:
            what, fix = f"has no effect without {needed}", f"add {needed}: true"
        elif kind == "config" and name != "server_name":
            fix = "write it into the file of config"
        raise _error(_at(located, written), f"{key}.{written}", what, fix)


def _refuse_secret(value: str, name: str, located: _Located, key: str) -> None:
    if "${" not in value:
        what = f"{key} holds a secret"
        fix = f"set it in the environment and write ${{{re.sub(r'[^A-Za-z0-9]', '_', name).upper()}}}"
        raise UsageError(what, where=located.where, fix=fix)


def _at(value: _Located, key: str) -> _Located:
    return (value.members or {}).get(key, value)


def _error(value: _Located, key: str, what: str, fix: str) -> UsageError:
    return UsageError(f"{key} {what}", where=value.where, fix=fix)
