"""Reads a project file into `Project`; replaces its variables. Each error names file, line and key.

YAML is first read into mappings, lists and strings. The type of an option decides how its scalar is read, not
its form: `version: 1.10` is the string 1.10, and `when-to-use: [no]` the string no, unlike with a YAML 1.1 loader.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from skillgen.config.convert import Converter, Fault
from skillgen.config.option import AnyOptions, PathName, keys_in
from skillgen.config.project import SOURCE_KINDS, Project, Source, Target, in_keys
from skillgen.errors import ProblemLog, UsageError
from skillgen.text.yaml_core import Places, YamlError, parse_yaml, place_of

FILE_NAME = "skillgen.yaml"

_SIZE_LIMIT_BYTES = 4 * 1024 * 1024

_SECRET_NAME = re.compile(
    r"token|secret|passw|api[-_]?key|access[-_]?key|authorization|cookie|credential", re.IGNORECASE
)
_VARIABLE = re.compile(r"(?P<escape>\$)?\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)\}")
_NULLS = ("", "~", "null", "Null", "NULL")


def project_file(named: PathName | None) -> Path:
    """Returns the project file: the one named by `--project`, else that of the current folder.

    Raises:
        UsageError: it does not exist.
    """
    path, other = find_project_file() if named is None else Path(named), Path("pyproject.toml")
    if path is None and other.is_file() and "[tool.skillgen" in read_text(other):
        what = "the table tool.skillgen was removed in skillgen 0.2.0"
        raise UsageError(what, where=other.name, fix=f"write its keys to {FILE_NAME}")
    if path is None or not path.is_file():
        what = "no such file" if path is None or not path.exists() else "is not a file"
        raise UsageError(what, where=str(path or FILE_NAME), fix="run `skillgen init`, or name another file")
    return path


_ADD_TARGET = "add one below targets:, or have `skillgen init` write the file"


def find_project_file() -> Path | None:
    """Returns the project file of the current folder, if there is one."""
    for name in (FILE_NAME, "skillgen.yml"):
        if Path(name).is_file():
            return Path(name)
    return None


def read_project(path: Path) -> Project:
    """Reads a project file.

    Raises:
        UsageError: it cannot be read, or keys or values are invalid.
    """
    project = read_options(Project, path)
    if not project.targets:
        raise UsageError("has no targets", where=path.as_posix(), fix=_ADD_TARGET)
    return project


def read_options(kind: type[AnyOptions], path: Path) -> AnyOptions:
    """Reads a file of the keys of some options.

    Raises:
        UsageError: it cannot be read, or keys or values are invalid.
    """
    text, name = read_text(path), path.as_posix()
    data, line_of = _read_yaml(text, name)

    def error_of(fault: Fault) -> UsageError:
        line = line_of(fault.path)
        key = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in fault.path)[1:]
        what = f"{key} {fault.what}" if key and not fault.what.startswith("the key ") else fault.what
        if fault.what.startswith("no such"):
            what = f"{fault.what}: {key}" if fault.is_unknown else f"{key}: {fault.what}"
        return UsageError(what, where=f"{name}:{line}" if line else name, fix=fault.fix)

    converter = Converter(is_text=True)
    found: AnyOptions | None = converter.convert(kind, data, ())
    for key, target in found.targets.items() if isinstance(found, Project) and not converter.faults else ():
        for fault in _faults_of_target(key, target):
            converter.fault(("targets", key, *fault.path), fault.what, fault.fix)
    converter.raise_faults(error_of)
    return kind() if found is None else found


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


_LineOf: TypeAlias = Callable[["tuple[str | int, ...]"], int]
"""Returns the line of what keys and indexes lead to; 0 if it is not known."""


def read_text(path: Path | None) -> str:
    """Returns the text of a project file, or of standard input, with line ends of Unix and without a byte order mark.

    Raises:
        UsageError: it cannot be read, or is too large.
    """
    try:
        # A cloned project may link to a device that never ends, or to a pipe that blocks.
        handle = 0 if path is None else os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with open(handle, "rb", closefd=path is not None) as file:
            content = file.read(_SIZE_LIMIT_BYTES + 1)
        if len(content) > _SIZE_LIMIT_BYTES:
            raise UsageError("is too large for a project file", where=str(path or "-"), fix="make it smaller")
        # PowerShell writes UTF-16 with a byte order mark.
        return content.decode(json.detect_encoding(content[:4])).replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as error:
        what = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UsageError(f"cannot be read: {what}", where=str(path or "-"), fix="correct it") from None


def yaml_values(text: str, name: str) -> Any:
    """Returns the values of a YAML document, in which every scalar is a string or `None`.

    Raises:
        UsageError: it is not YAML, or has a duplicate key.
    """
    return _read_yaml(text.replace("\r\n", "\n"), name)[0]


def _read_yaml(text: str, name: str) -> tuple[Any, _LineOf]:
    problems, places = ProblemLog(), Places()
    try:
        data = parse_yaml(text, problems, scalar=lambda value: None if value in _NULLS else value, places=places)
        faults = [(item.where, item.message.partition(";")[0]) for item in problems]
    except YamlError as error:
        data, faults = None, [("", f"is not YAML: {error}")]
    for where, what in faults:
        line = re.search(r"line (\d+)(?:, column \d+)?(?:: )?", where or what)
        place = f"{name}:{line[1]}" if line else name
        raise UsageError(what.replace(line[0] if line else "", "", 1), where=place, fix="correct it")

    def line_of(path: tuple[str | int, ...]) -> int:
        return (place_of(path, data, places) or (0, 0))[0]

    return data, line_of


def _faults_of_target(name: str, target: Target) -> Iterator[Fault]:
    if re.search(r"[\\/]|^\.*$", name):
        yield Fault((), "is not a valid name of a target", "use letters, digits and hyphens")
    yield from _faults_of_source(target.source, ("source",))


def _faults_of_source(source: Source, path: tuple[str | int, ...]) -> Iterator[Fault]:
    given = [item for item in SOURCE_KINDS if getattr(source, item)]
    if len(given) != 1:
        kinds = ", ".join(key for key, (_, item) in keys_in(Source).items() if item.name in SOURCE_KINDS)
        what = "names no source" if not given else f"names several sources: {', '.join(given).replace('_', '-')}"
        yield Fault(path, what, f"give one of {kinds}")
        return
    for item, what, fix in source.useless_options(given):
        yield Fault((*path, item.key), in_keys(what), in_keys(fix))
    for kind, values in (("env", source.env), ("headers", source.headers)):
        for name, text in values.items():
            if _SECRET_NAME.search(name):
                yield from _faults_of_secret(text, name, (*path, kind, name))
    if source.client_secret is not None:
        yield from _faults_of_secret(source.client_secret, "client_secret", (*path, "client-secret"))


def _faults_of_secret(value: str, name: str, path: tuple[str | int, ...]) -> Iterator[Fault]:
    if "${" not in value:
        variable = re.sub(r"[^A-Za-z0-9]", "_", name).upper()
        yield Fault(path, "holds a secret", f"set it in the environment and write ${{{variable}}}")
