"""YAML/TOML with positions -> Project; variables; JSON Schema of the file.

YAML and TOML with line numbers. What a value means is decided by what is wanted there, not by how it looks.

So `version: 1.10` is the text 1.10 and `when-to-use: [no]` the text no, whatever a YAML 1.1 loader makes of them.

Reads a project's file into `Project`, key by key, with a message for each that names file, line and key.

`${NAME}` in a project's file: the value of an environment variable, which no document and no message holds.
"""

from __future__ import annotations

import dataclasses
import difflib
import os
import re
import shlex
import sys
import types
import typing
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from skillgen.config.project import SOURCE_KINDS, Project, Source, Target, unsupported_keys
from skillgen.errors import UsageError
from skillgen.model.values import Value

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NULLS = ("", "~", "null", "Null", "NULL")


@dataclass(slots=True)
class Located:
    """A value and where it stands."""

    where: str
    """The file, and the line where it is known."""

    members: dict[str, Located] | None = None
    """For a mapping."""

    items: list[Located] | None = None
    """For a list."""

    text: str = ""
    """For a scalar."""

    is_null: bool = False
    """Whether it is null."""

    key_places: dict[str, str] = field(default_factory=dict)
    """Where the keys of a mapping stand."""


def located_yaml(text: str, name: str) -> Located:
    """Reads a YAML document.

    Raises:
        UsageError: it is not YAML, or a key stands twice.
    """
    try:
        node = yaml.compose(text, Loader=_LOADER)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        what = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise UsageError(
            f"is not YAML: {what}", where=f"{name}:{mark.line + 1}" if mark is not None else name, fix="correct it"
        ) from None
    except RecursionError:
        raise UsageError("is nested too deeply", where=name, fix="write it with fewer levels") from None
    return Located(f"{name}:1", members={}) if node is None else _from_node(node, name, ())


def _from_node(node: Any, name: str, above: tuple[int, ...]) -> Located:
    where = f"{name}:{node.start_mark.line + 1}"
    if id(node) in above:
        raise UsageError("an alias contains itself", where=where, fix="write the value out")
    above = (*above, id(node))
    if isinstance(node, yaml.ScalarNode):
        is_null = not node.style and node.value in _NULLS
        return Located(where, text=node.value, is_null=is_null)
    if isinstance(node, yaml.SequenceNode):
        return Located(where, items=[_from_node(item, name, above) for item in node.value])
    found = Located(where, members={})
    assert found.members is not None
    for key, value in node.value:
        place = f"{name}:{key.start_mark.line + 1}"
        if not isinstance(key, yaml.ScalarNode):
            raise UsageError("a key must be text", where=place, fix="correct it")
        if key.value in found.members:
            raise UsageError(f"the key {key.value!r} stands twice", where=place, fix="remove one")
        found.members[key.value] = _from_node(value, name, above)
        found.key_places[key.value] = place
    return found


def located_toml(text: str, name: str) -> Located:
    """Reads the table `[tool.skillgen]` of a TOML document; empty where there is none.

    Raises:
        UsageError: it is not TOML.
    """
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"is not TOML: {error}", where=name, fix="correct it") from None
    tool = data.get("tool")
    table = tool.get("skillgen") if isinstance(tool, dict) else None
    return _from_value(table if isinstance(table, dict) else {}, text.splitlines(), name, 0)


def _from_value(value: Any, lines: list[str], name: str, after: int) -> Located:
    """TOML libraries tell no lines; a key is looked for below the one that holds it."""
    where = f"{name}:{after}" if after else name
    if isinstance(value, dict):
        found = Located(where, members={})
        assert found.members is not None
        for key, item in value.items():
            line = _line_of(key, lines, after)
            found.members[key] = _from_value(item, lines, name, line)
            found.key_places[key] = f"{name}:{line}" if line else name
        return found
    if isinstance(value, list):
        return Located(where, items=[_from_value(item, lines, name, after) for item in value])
    if isinstance(value, bool):
        return Located(where, text="true" if value else "false")
    return Located(where, text=str(value))


def _line_of(key: str, lines: list[str], after: int) -> int:
    word = re.compile(rf"""(?<![\w-])["']?{re.escape(key)}["']?\s*(=|\]|\.)""")
    return next((number for number in range(after or 1, len(lines) + 1) if word.search(lines[number - 1])), after)


FILE_NAME = "skillgen.yaml"

_SIZE_LIMIT_BYTES = 4 * 1024 * 1024

_SECRET = re.compile(r"token|secret|passw|api[-_]?key|access[-_]?key|authorization|cookie|credential", re.IGNORECASE)


def project_file(named: Path | None) -> Path:
    """Gives the file of a project: the one that is named, or what stands in the current folder.

    Raises:
        UsageError: there is none.
    """
    if named is not None:
        if not named.is_file():
            raise UsageError("no such file", where=str(named), fix="run `skillgen init`, or give another --config")
        return named
    found = find_project_file()
    if found is None:
        raise UsageError("no such file", where=FILE_NAME, fix="run `skillgen init`, or name one with --config")
    return found


def find_project_file() -> Path | None:
    """Gives what stands in the current folder, where something does."""
    for name in (FILE_NAME, "skillgen.yml"):
        if Path(name).is_file():
            return Path(name)
    path = Path("pyproject.toml")
    with suppress(UsageError):  # one that cannot be read configures nothing
        return path if path.is_file() and "tool.skillgen" in _text(path) else None
    return None


def read_project(path: Path) -> Project:
    """Reads a project's file.

    Raises:
        UsageError: something in it makes no sense.
    """
    text, name = _text(path), path.as_posix()
    root = located_toml(text, name) if path.suffix == ".toml" else located_yaml(text, name)
    project: Project = _read(Project, root, "")
    if not project.targets:
        raise UsageError("has no targets", where=name, fix="add one under targets:")
    for key, target in project.targets.items():
        _check_target(key, target, _at(_at(root, "targets"), key), f"targets.{key}")
    return project


def _text(path: Path) -> str:
    try:
        # A clone may hold a link to something that has no end, or that is waited for.
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
            content = file.read(_SIZE_LIMIT_BYTES + 1)
        if len(content) > _SIZE_LIMIT_BYTES:
            raise UsageError("is too large for a project's file", where=str(path), fix="make it smaller")
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as error:
        what = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UsageError(f"cannot be read: {what}", where=str(path), fix="correct it") from None


def _read(annotation: Any, found: Located, key: str, metadata: Mapping[str, Any] | None = None) -> Any:
    if dataclasses.is_dataclass(annotation) and isinstance(annotation, type):
        return _read_members(annotation, found, key)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        kind = next(item for item in arguments if item is not types.NoneType)
        if kind is Value:
            return Value(None) if found.is_null else Value(_scalar(found, key))
        return _read(kind, found, key)
    if origin is tuple:
        if (metadata or {}).get("is_command") and found.items is None and found.members is None and not found.is_null:
            return _split(found, key)
        if found.items is None:
            raise _wrong(found, key, "must be a list", "write it as a list, one item a line after a hyphen")
        return tuple(_read(arguments[0], item, f"{key}[{number}]") for number, item in enumerate(found.items))
    if origin is not None:
        members = _members(found, key)
        return {name: _read(arguments[1], item, f"{key}.{name}") for name, item in members.items()}
    return _read_scalar(annotation, found, key)


def _read_members(cls: type[Any], found: Located, key: str) -> Any:
    hints = typing.get_type_hints(cls)
    known = {item.name.replace("_", "-"): item for item in dataclasses.fields(cls)}
    values = {}
    for name, member in _members(found, key).items():
        below = f"{key}.{name}".lstrip(".")
        if name not in known:
            near = difflib.get_close_matches(name.replace("_", "-"), known, n=1, cutoff=0.5)
            fix = f"did you mean {near[0]}?" if near else f"it may be one of {', '.join(known)}"
            raise UsageError(f"no such key: {below}", where=found.key_places.get(name, found.where), fix=fix)
        item = known[name]
        values[item.name] = _read(hints[item.name], member, below, item.metadata)
    missing = [
        name
        for name, item in known.items()
        if item.name not in values
        and item.default is dataclasses.MISSING
        and item.default_factory is dataclasses.MISSING
    ]
    if missing:
        raise _wrong(found, key or missing[0], f"has no {missing[0]}", f"add {missing[0]}:")
    return cls(**values)


def _read_scalar(annotation: Any, found: Located, key: str) -> Any:
    text = _scalar(found, key)
    if annotation is bool:
        if text not in ("true", "false"):
            raise _wrong(found, key, "must be true or false", "write one of them")
        return text == "true"
    if annotation is float:
        try:
            number = float(text)
        except ValueError:
            number = -1
        if not 0 < number <= 86_400:
            raise _wrong(found, key, "must be a number of seconds above 0", "write one, as 30")
        return number
    if not text.strip():
        raise _wrong(found, key, "is empty", "give it a value, or leave the key out")
    return text


def _scalar(found: Located, key: str) -> str:
    if found.members is not None or found.items is not None:
        raise _wrong(found, key, "must be text", "write it as one text")
    if found.is_null:
        raise _wrong(found, key, "is empty", "give it a value, or leave the key out")
    if "\0" in found.text:
        raise _wrong(found, key, "holds a null character", "remove it")
    return found.text


def _members(found: Located, key: str) -> dict[str, Located]:
    if found.is_null:
        return {}
    if found.members is None:
        raise _wrong(found, key or "the file", "must be a mapping", "write it as `key: value` lines")
    return found.members


def _split(found: Located, key: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(_scalar(found, key)))
    except ValueError as error:
        raise _wrong(found, key, f"is no command line: {error}", "write it as a list of words") from None
    if not words:
        raise _wrong(found, key, "is empty", "give the command")
    return words


def _check_target(name: str, target: Target, found: Located, key: str) -> None:
    source, place = target.source, _at(found, "source")
    given = [item for item in SOURCE_KINDS if getattr(source, item)]
    if len(given) != 1:
        kinds = ", ".join(item.replace("_", "-") for item in SOURCE_KINDS)
        what = "names no source" if not given else f"names several sources: {', '.join(given).replace('_', '-')}"
        raise _wrong(place, f"{key}.source", what, f"give one of {kinds}")
    if re.search(r"[\\/]|^\.*$", name):
        raise _wrong(found, key, "is no name of a target", "use letters, digits and hyphens")
    _refuse_useless_keys(source, given[0], place, f"{key}.source")
    for kind, values in (("env", source.env), ("headers", source.headers)):
        for item, value in values.items():
            if _SECRET.search(item):
                _refuse_secret(value, item, _at(_at(place, kind), item), f"{key}.source.{kind}.{item}")
    if source.client_secret is not None:
        _refuse_secret(
            source.client_secret, "client_secret", _at(place, "client-secret"), f"{key}.source.client-secret"
        )


def _refuse_useless_keys(source: Source, kind: str, place: Located, key: str) -> None:
    """Refuses keys that would do nothing, so that nobody relies on them."""
    default = Source()
    for name in unsupported_keys(kind):
        if getattr(source, name) != getattr(default, name):
            written = name.replace("_", "-")
            fix = "leave it out" if kind != "config" or name == "server_name" else "write it into the client's file"
            raise _wrong(_at(place, written), f"{key}.{written}", f"does nothing with {kind.replace('_', '-')}", fix)
    if not source.login:
        for name in ("client_id", "client_secret", "issuer"):
            if getattr(source, name) is not None:
                written = name.replace("_", "-")
                raise _wrong(_at(place, written), f"{key}.{written}", "does nothing without login", "add login: true")


def _refuse_secret(value: str, name: str, place: Located, key: str) -> None:
    if "${" not in value:
        raise UsageError(
            f"a secret stands in the file: {key}",
            where=place.where,
            fix=f"put it into the environment and write ${{{re.sub(r'[^A-Za-z0-9]', '_', name).upper()}}}",
        )


def _at(found: Located, key: str) -> Located:
    return (found.members or {}).get(key, found)


def _wrong(found: Located, key: str, what: str, fix: str) -> UsageError:
    return UsageError(f"{key} {what}", where=found.where, fix=fix)


_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def variables_in(text: str) -> list[str]:
    """Returns the names of the variables in a text."""
    return _VARIABLE.findall(text)


def interpolate(text: str, environment: Mapping[str, str], where: str) -> str:
    """Returns a text with the values of the variables that it names.

    Raises:
        UsageError: one of them is not set.
    """
    for name in variables_in(text):
        if name not in environment:
            raise UsageError(f"{name} is not set in this environment", where=where, fix=f"set {name}")
    return _VARIABLE.sub(lambda found: environment[found[1]], text)
