"""Reads a project file into `Project`, and sets values in it. Each error names file, line and key.

YAML is first read into mappings, lists and strings. The type of an option decides how its scalar is read, not
its form: `version: 1.10` is the string 1.10, and `when-to-use: [no]` the string no, unlike with a YAML 1.1 loader.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from textwrap import indent
from typing import Any

import yaml

from skillgen.config.convert import Converter, Fault, Keys, in_keys
from skillgen.config.option import AnyOptions, PathName, keys_in
from skillgen.config.project import FILE_NAME, SOURCE_KINDS, Project, Source, find_project_file
from skillgen.errors import ProblemLog, UsageError, raise_all
from skillgen.text.yaml_core import Places, YamlError, parse_yaml, place_of

_SIZE_LIMIT_BYTES = 4 * 1024 * 1024

_SECRET_NAME = re.compile(r"(?i)token|secret|passw|api[-_]?key|access[-_]?key|authorization|cookie|credential")
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


def read_project(path: Path) -> Project:
    """Reads a project file.

    Raises:
        UsageError: it cannot be read, or keys or values are invalid.
    """
    project = read_options(Project, path)
    if not project.targets:
        fix = "add one below targets:, such as one that `skillgen init` finds"
        raise UsageError("has no targets", where=path.as_posix(), fix=fix)
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
        what = f"{key}: {fault.what}" if key else fault.what
        return UsageError(what, where=f"{name}:{line}" if line else name, fix=fault.fix)

    converter = Converter(is_text=True)
    found: AnyOptions | None = converter.convert(kind, data, ())
    for key, target in found.targets.items() if isinstance(found, Project) and not converter.faults else ():
        if re.search(r"[\\/]|^\.*$", key):
            converter.fault(("targets", key), "is not a valid name of a target", "use letters, digits and hyphens")
        for fault in _faults_of_source(target.source, ("targets", key, "source")):
            converter.faults.append(fault)
    raise_all([*map(error_of, converter.faults)])
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


def _read_yaml(text: str, name: str) -> tuple[Any, Callable[[Keys], int]]:
    """Returns the values of a YAML document, and what returns the line of one of them; 0 if it is not known."""
    problems, places = ProblemLog(), Places()
    try:
        data = parse_yaml(text, problems, scalar=lambda value: None if value in _NULLS else value, places=places)
        faults = [(item.where, item.message.partition(";")[0]) for item in problems]
    except YamlError as error:
        data, faults = None, [("", f"is not YAML: {error}")]
    for where, what in faults:
        line = re.search(r"line (\d+)(?:, column \d+)?(?:: )?", where or what)
        place = f"{name}:{line[1]}" if line else name
        fix = "put a text with a colon into quotes" if "mapping values" in what else "correct it"
        raise UsageError(what.replace(line[0] if line else "", "", 1), where=place, fix=fix)

    def line_of(path: Keys) -> int:
        return (place_of(path, data, places) or (0, 0))[0]

    return data, line_of


def _faults_of_source(source: Source, path: Keys) -> Iterator[Fault]:
    if len(given := source.kinds) != 1:
        kinds = ", ".join(key for key, (_, item) in keys_in(Source).items() if item.name in SOURCE_KINDS)
        what = "names no source" if not given else f"names several sources: {', '.join(given).replace('_', '-')}"
        yield Fault(path, what, f"give one of {kinds}")
        return
    for item, what, fix in source.useless_options(given):
        yield Fault((*path, item.key), in_keys(what), in_keys(fix))
    values: dict[tuple[str, ...], str] = {("client-secret",): source.client_secret or "${}"}
    values |= {("env", name): text for name, text in source.env.items()}
    values |= {("headers", name): text for name, text in source.headers.items()}
    for keys, text in values.items():
        if _SECRET_NAME.search(keys[-1]) and "${" not in text:
            variable = re.sub(r"[^A-Za-z0-9]", "_", keys[-1]).upper()
            fix = f"set it in the environment and write ${{{variable}}}"
            yield Fault((*path, *keys), "holds a secret", fix)


# -- writing ----------------------------------------------------------------------------------------------------------

_WIDTH = 110
_PLAIN_KEY = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)


class _Loader(yaml.SafeLoader):
    """Composes a document in which an alias is a scalar at its own place."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if not self.check_event(yaml.AliasEvent):
            return super().compose_node(parent, index)
        event = self.get_event()  # type: ignore[no-untyped-call]
        return yaml.ScalarNode("alias", "", event.start_mark, event.end_mark)


class _LiteralDumper(yaml.SafeDumper):
    """Writes a string of several lines as a literal block if it may be one."""


_LiteralDumper.add_representer(
    str,
    lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None),
)


def with_value(text: str, path: Sequence[str], value: Any, name: str) -> str:
    """Returns a YAML document with a value below the keys of `path`; those that are missing are added.

    Line ends and a byte order mark stay. `name` is that of the file, for messages.

    Raises:
        UsageError: the document is invalid, or other values would change too.
    """
    mark, body = text[: text.startswith("\ufeff")], text.removeprefix("\ufeff")
    expected = members = yaml_values(body, name) or {}
    with suppress(UsageError, ValueError):
        changed = _spliced(body, path, value)
        if "\r\n" in body:
            changed = re.sub(r"(?<!\r)\n", "\r\n", changed)
        for key in path[:-1]:
            members[key] = members = members.get(key) or {}
        members[path[-1]] = value
        if yaml_values(changed, name) == expected:
            return mark + changed
    fix = "write its value out where it is an alias, an anchor or a tag"
    raise UsageError(f"{'.'.join(path)} cannot be changed alone", where=name, fix=fix)


def _spliced(text: str, path: Sequence[str], value: Any) -> str:
    root: Any = yaml.compose(text, Loader=_Loader)
    if root is None:
        return f"{text}{'' if not text or text.endswith(chr(10)) else chr(10)}{_pair(path, value, 0)}\n"
    node, key, rest, is_flow = root, root, list(path), False
    while rest and (node is root or _pairs(node)):
        pair = next((pair for pair in _pairs(node) if pair[0].value == rest[0]), None)
        if pair is None:
            return _inserted(text, node, rest, value)
        is_flow, (key, node), rest = node.flow_style, pair, rest[1:]
    value, end = _nested(rest, value), len(text[: _end(node, text)].rstrip())
    comment = text[end:].partition("\n")[0].rstrip()
    column = key.start_mark.column
    dumped = f": {_json(value)}" if is_flow else _dumped(value, column, yaml.SafeDumper if comment else _LiteralDumper)
    if comment and dumped.startswith(":\n"):
        dumped, end = f":{comment}{dumped[1:]}", end + len(comment)
    return text[: key.end_mark.index] + dumped + text[end:]


def _pairs(node: Any) -> list[tuple[Any, Any]]:
    return node.value if isinstance(node, yaml.MappingNode) else []


def _end(node: Any, text: str) -> int:
    """Returns the end of the last scalar, alias or bracket of a value: no comment after it belongs to it."""
    if isinstance(node, yaml.CollectionNode) and node.value and not node.flow_style:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last, text)
    start, end = node.start_mark.index, int(node.end_mark.index)
    is_stripped = getattr(node, "style", None) in ("|", ">") and "+" not in text[start:].partition("\n")[0]
    return start + len(text[start:end].rstrip()) if is_stripped else end


def _inserted(text: str, node: Any, rest: Sequence[str], value: Any) -> str:
    """Returns the text with a new key after the last member of a mapping."""
    pairs = _pairs(node)
    last = _end(pairs[-1][1], text) if pairs else node.end_mark.index - 1
    if node.flow_style:
        pair = f"{_json(rest[0])}: {_json(_nested(rest[1:], value))}"
        return f"{text[:last]}{', ' if pairs else ''}{pair}{text[last:]}"
    column = pairs[0][0].start_mark.column if pairs else 0
    line_end = text.find("\n", last - (text[last - 1] == "\n"))
    start, before = (line_end + 1, "") if line_end >= 0 else (len(text), "\n")
    return f"{text[:start]}{before}{' ' * column}{_pair(rest, value, column)}\n{text[start:]}"


def _nested(path: Sequence[str], value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _pair(path: Sequence[str], value: Any, column: int) -> str:
    key = path[0] if _PLAIN_KEY.fullmatch(path[0]) else _json(path[0])
    return key + _dumped(_nested(path[1:], value), column, _LiteralDumper)


def _dumped(value: Any, column: int, dumper: Any) -> str:
    """Returns what follows a key in block style."""
    dumped = yaml.dump({"k": value}, Dumper=dumper, width=_WIDTH - column, allow_unicode=True, sort_keys=False)
    return indent(dumped[1:].rstrip("\n"), " " * column).lstrip(" ")
