"""Reads the commands of a Python program without running one, and prints them as JSON.

The interpreter of the program's environment runs this file: `python tree.py MODULE:APP`. So it imports nothing but
Python's standard library, and works with Python 3.9. It knows Click's classes by their names, since Typer has a copy of
them. What the program prints goes to standard error.

The JSON has `program`, `distribution` and `root`, a command with its parameters and its own commands, or `error` and
`fix`. What is not there has the default of its class in `declarations`.
"""

from __future__ import annotations

import argparse
import enum
import importlib
import importlib.util
import inspect
import json
import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import metadata
from typing import Any, NoReturn, get_args, get_origin

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

COMMANDS_LIMIT = 10_000
"""Maximum number of commands."""

DEPTH_LIMIT = 20
"""Maximum number of words in the name of a command."""

VALUES_LIMIT = 1_000
"""Maximum number of choices of a parameter, and of items of a default."""

TEXT_LIMIT = 100_000
"""Maximum length of a text."""

MEMORY_LIMIT_BYTES = 4 << 30
"""Memory that the program may use, where the system can limit it."""

Node = dict[str, Any]
Path = tuple[str, ...]


class Unreadable(Exception):
    """The program cannot be read."""

    def __init__(self, error: str, fix: str = "") -> None:
        """Takes what is wrong, and how to correct it."""
        super().__init__(error)
        self.fix = fix


class Started(BaseException):
    """The program was about to parse its arguments, and is stopped before it runs a command."""

    def __init__(self, program: Any, method: str) -> None:
        """Takes the parser or the command that was started, and by which method."""
        super().__init__()
        self.program = program
        names = getattr(program, "_option_string_actions", {"--help": None})
        self.is_partial = method == "parse_known_args" and not {"-h", "--help"} & {*names}
        """Whether the parser reads some options before the real parser exists: it has no help."""


def main(target: str) -> NoReturn:
    """Prints the commands of a program, and exits without running what the program registered for its exit."""
    output = os.dup(1)
    os.dup2(2, 1)
    if resource is not None:
        most = resource.getrlimit(resource.RLIMIT_DATA)[1]
        limit = MEMORY_LIMIT_BYTES if most == resource.RLIM_INFINITY else min(MEMORY_LIMIT_BYTES, most)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, most))
    if sys.path and os.path.samefile(sys.path[0] or ".", os.path.dirname(os.path.abspath(__file__))):  # noqa: PTH100, PTH120, PTH121
        del sys.path[0]
    sys.path.insert(0, os.getcwd())  # noqa: PTH109
    try:
        report = read_program(target)
    except Unreadable as error:
        report = {"error": str(error), "fix": error.fix}
    except RecursionError:
        report = {"error": "its commands are nested without end", "fix": ""}
    except Exception as error:
        report = {"error": f"reading it raises {_described(error)}", "fix": ""}
    with open(output, "w", encoding="ascii") as stream:
        json.dump(report, stream)
    os._exit(0)


def read_program(target: str) -> Node:
    """Returns the commands of `MODULE:APP`.

    Raises:
        Unreadable: there is no such program, or it cannot be imported.
    """
    module_name, _, path = target.partition(":")
    package = module_name.partition(".")[0]
    scripts = [item for item in _scripts() if re.split("[.:]", item[0].value, maxsplit=1)[0].strip() == package]
    script, distribution = next((item for item in scripts if item[0].value.split()[0] == target), (None, None))
    if script is None and len(scripts) == 1:
        script, distribution = scripts[0]
    name = script.name if script is not None else package
    sys.argv = [name, "--help"]  # a function that parses them itself has nothing else to do
    _stop_before_parsing()
    program = _program_at(_imported(module_name), path)
    if isinstance(program, argparse.ArgumentParser):
        reader: Any = _ParserReader()
        own_name = program.prog if program.prog and " " not in program.prog else None
    else:
        reader, own_name = _ClickReader(), None
    root = reader.command(program, name)
    if script is None and scripts:
        of_module = [item for item in scripts if item[0].value.partition(":")[0].strip() == module_name]
        named = [item for item in scripts if item[0].name == (own_name or root.get("own_name"))]
        named += [item for item in of_module if item[0].name == package]
        script, distribution = named[0] if named else (None, scripts[0][1])
    program_name = script.name if script is not None else None
    name = program_name or own_name or name
    return _report(reader, root, distribution, program=program_name, name=name, module=_runnable(module_name))


def tree_of_command(command: object, name: str) -> Node:
    """Returns the commands of a Click command in this process, as `read_program` does."""
    reader = _ClickReader()
    root = reader.command(command, name)
    distribution = next((found for script, found in _scripts() if script.name == name), None)
    return _report(reader, root, distribution, program=name, name=name, module=name)


def _report(reader: _Reader, root: Node, distribution: Any, **names: str | None) -> Node:
    facts = _facts_of(distribution) if distribution is not None else None
    return {**names, "distribution": facts, "root": root, "left_out": [[*item] for item in reader.left_out]}


# -- where the program comes from ------------------------------------------------------------------------------------


def _scripts() -> Iterator[tuple[Any, Any]]:
    """Yields all console scripts, each with its distribution."""
    seen: set[str] = set()
    for distribution in metadata.distributions():
        for item in distribution.entry_points:
            if item.group == "console_scripts" and item.name not in seen:
                seen.add(item.name)
                yield item, distribution


def _facts_of(distribution: Any) -> Node:
    facts = distribution.metadata
    links = [str(item).partition(",") for item in facts.get_all("Project-URL") or ()]
    return {
        "version": _text(distribution.version),
        "summary": _text(facts["Summary"]),
        "homepage": _text(facts["Home-page"]),
        "links": {label.strip().lower().replace("-", " "): url.strip() for label, _, url in links},
    }


def _runnable(module_name: str) -> str:
    """Returns the module that `python -m` starts: the package, if it has a `__main__`."""
    package = module_name.partition(".")[0]
    try:
        has_main = importlib.util.find_spec(package + ".__main__") is not None
    except (ImportError, AttributeError, ValueError):
        has_main = False
    return package if has_main else module_name


def _stop_before_parsing() -> None:
    """Makes every parser stop the program before it parses arguments."""

    def stopping(method: str) -> Callable[..., NoReturn]:
        def started(self: object, *args: object, **kwargs: object) -> NoReturn:
            raise Started(self, method)

        return started

    for name in ("parse_args", "parse_known_args", "parse_intermixed_args", "parse_known_intermixed_args"):
        setattr(argparse.ArgumentParser, name, stopping(name))
    for library in ("click.core", "typer._click.core"):
        try:
            core = importlib.import_module(library)
        except ImportError:
            continue
        for kind in getattr(getattr(core, "Command", None), "__mro__", ())[:-1]:
            for name in ("main", "__call__"):
                if name in vars(kind):
                    setattr(kind, name, stopping(name))


def _imported(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except Started:
        what = f"the module {name} runs the program when it is imported"
        fix = 'call it below `if __name__ == "__main__":`'
    except SystemExit as error:
        what = f"the module {name} exits when it is imported: {_described(error)}"
        fix = 'move what exits below `if __name__ == "__main__":`'
    except ModuleNotFoundError as error:
        what, fix = f"importing {name} raises {_described(error)}", "install what it needs"
        if error.name and (name == error.name or name.startswith(error.name + ".")):
            what, fix = f"there is no module {name!r}", "correct the name"
        fix += ", or name the interpreter that has it: --python PATH"
    except BaseException as error:
        what, fix = f"importing {name} raises {_described(error)}", "run it by hand"
    raise Unreadable(what, fix)


def _program_at(module: Any, path: str) -> Any:
    """Returns the parser or the command at a path of attributes; a function is called for it."""
    value = module
    for part in path.split("."):
        try:
            value = getattr(value, part)
        except AttributeError:
            names = [name for name, item in sorted(vars(module).items()) if _is_program(item)][:5]
            fix = f"choose from {', '.join(names)}" if names else "name a Click or Typer program, or a parser"
            raise Unreadable(f"the module {module.__name__} has no {path!r}", fix) from None
    if not _is_program(value) and callable(value):
        value = _called(value)
    if not _is_program(value):
        kind = "None" if value is None else f"an object of type {type(value).__name__}"
        what = f"it is not a Click or Typer program or an argparse parser, but {kind}"
        raise Unreadable(what, "name one, or a function that returns one")
    return sys.modules["typer.main"].get_command(value) if "Typer" in _class_names(value) else value


def _called(function: Callable[..., Any]) -> Any:
    """Returns what a function returns: a program. One that parses arguments itself is stopped, and has its parser."""
    try:
        inspect.signature(function).bind()
    except TypeError as error:
        what = f"it is not a program, and cannot be called for one: {error}"
        raise Unreadable(what, "name a program, or a function without parameters") from None
    except ValueError:
        pass
    try:
        return function()
    except Started as started:
        if not started.is_partial:
            return started.program
        what = "it first reads some of the arguments with another parser, before its own exists"
    except SystemExit as error:
        what = f"it exits when it is called: {_described(error)}"
    except BaseException as error:
        what = f"calling it raises {_described(error)}"
    raise Unreadable(what, "name a function that returns its parser, or have its help read: --command NAME")


def _is_program(value: Any) -> bool:
    if isinstance(value, type):
        return False
    is_click = "Command" in _class_names(value) and hasattr(value, "params") and hasattr(value, "make_context")
    return isinstance(value, argparse.ArgumentParser) or is_click or "Typer" in _class_names(value)


def _class_names(value: object) -> list[str]:
    """Returns the names of an object's classes; those that Typer derives from its copy of Click's also as Click's."""
    names = [kind.__name__ for kind in type(value).__mro__]
    return [*names, *(name[len("Typer") :] for name in names if name.startswith("Typer"))]


def _described(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return f"exit code {error.code}" if isinstance(error.code, int) else str(error.code or "exit code 0")[:200]
    lines = str(error).strip().splitlines()
    return type(error).__name__ + (f": {lines[0][:200]}" if lines else "")


# -- values ----------------------------------------------------------------------------------------------------------


def _text(value: object) -> str | None:
    """Returns a text, also a translated one that is not a string yet; `None` for an empty one."""
    if type(value).__name__ == "DefaultPlaceholder":  # Typer's mark of an argument that is not given
        value = getattr(value, "value", None)
    is_text = isinstance(value, str) or (value is not None and type(value).__module__ not in ("builtins", "enum"))
    text = str(value)[:TEXT_LIMIT] if is_text and type(value).__str__ is not object.__str__ else ""
    return text if text.strip() else None


def _plain(value: Any, formats: Sequence[str] = (), depth: int = 0) -> tuple[bool, Any]:
    """Returns whether a value can be shown, and the value as JSON: without paths of this machine, and a time in the
    first of the formats that has all of it.
    """
    if isinstance(value, enum.Enum):
        return _plain(value.value, formats, depth)
    if formats and hasattr(value, "strftime"):
        written = [(form, value.strftime(form)) for form in formats]
        return True, next((text for form, text in written if type(value).strptime(text, form) == value), written[0][1])
    if value is None or isinstance(value, (bool, int, float)):
        is_finite = not isinstance(value, float) or abs(value) < float("inf")
        return is_finite, value
    if isinstance(value, (str, os.PathLike)):
        text = os.fspath(value)
        return isinstance(text, str), text if isinstance(text, str) else None
    if type(value).__module__ in ("uuid", "datetime", "decimal"):
        return True, str(value)
    if isinstance(value, (list, tuple, set, frozenset)) and depth < 3 and len(value) <= VALUES_LIMIT:
        items = [_plain(item, formats, depth + 1) for item in _in_order(value)]
        return all(is_shown for is_shown, _ in items), [item for _, item in items]
    return False, None


def _in_order(values: Any) -> list[Any]:
    """Returns items in an order that no hash decides."""
    return sorted(values, key=repr) if isinstance(values, (set, frozenset)) else list(values)


def _choices(values: Any, word_of: Callable[[enum.Enum], object]) -> list[Any] | None:
    """Returns what may be written for a parameter; `None` if that is too much or not text. `word_of` returns what is
    written for a member of an enumeration.
    """
    if isinstance(values, range) and len(values) > VALUES_LIMIT:
        return None
    try:
        items = _in_order(values)[: VALUES_LIMIT + 1]
    except TypeError:
        return None
    plain = [_plain(word_of(item) if isinstance(item, enum.Enum) else item) for item in items]
    is_shown = len(items) <= VALUES_LIMIT and all(is_shown for is_shown, _ in plain)
    return [item for _, item in plain] if is_shown else None


class _Reader:
    """Reads the commands of a program, and leaves out those that cannot be read."""

    def __init__(self) -> None:
        self.left_out: list[tuple[str, str]] = []
        """The words of a command, and why it is left out."""
        self._count = 0

    def _enter(self, program: object, above: tuple[object, ...]) -> None:
        """Counts a command; `above` are the groups that it is a part of."""
        self._count += 1
        if self._count > COMMANDS_LIMIT:
            raise Unreadable(f"the program has more than {COMMANDS_LIMIT:,} commands", "document a part of it")
        if len(above) > DEPTH_LIMIT:
            raise Unreadable(f"commands are nested more than {DEPTH_LIMIT} levels deep", "document a part of them")
        if any(item is program for item in above):
            raise ValueError("it is a part of itself")

    def _nodes(self, path: Path, names: Iterable[str], read: Callable[[str, Path], Node | None]) -> list[Node]:
        """Returns the commands of a group, with the words that `path` and their names are."""
        nodes = []
        for name in names:
            try:
                node = read(name, (*path, name))
            except (Unreadable, RecursionError):
                raise
            except (Exception, SystemExit) as error:
                self.left_out.append((" ".join((*path, name)), _described(error)))
            else:
                nodes += [node] if node is not None else []
        return nodes


# -- Click and Typer -------------------------------------------------------------------------------------------------


class _ClickReader(_Reader):
    """Reads a Click command, of Click itself or of the copy in Typer."""

    def command(
        self, command: Any, name: str, parent: Any = None, path: Path = (), above: tuple[object, ...] = ()
    ) -> Node:
        """Returns a command with its own commands; `above` are the groups that it is a part of."""
        self._enter(command, above)
        settings = getattr(command, "context_settings", None) or {}
        context = command.context_class(command, info_name=name, parent=parent, **settings)
        help_names = set(getattr(context, "help_option_names", ()))
        params = [
            param
            for param in command.params
            if not (set(getattr(param, "opts", ())) & help_names and getattr(param, "is_eager", False))
        ]
        node: Node = {
            "name": name,
            "own_name": getattr(command, "name", None),
            "help": _help(getattr(command, "help", None)),
            "short_help": _text(getattr(command, "short_help", None)),
            "epilog": _help(getattr(command, "epilog", None)),
            "markup": _text(getattr(command, "rich_markup_mode", None)),
            "deprecated": _deprecation(getattr(command, "deprecated", False)),
            "is_hidden": bool(getattr(command, "hidden", False)),
            "panel": _text(getattr(command, "rich_help_panel", None)),
            "params": [self._param(param, context) for param in params],
            "takes_more": bool(getattr(context, "ignore_unknown_options", False)),
        }
        if not hasattr(command, "list_commands"):
            # What has no function and no parameters is in the place of a command that is loaded when it is called.
            node["takes_more"] |= getattr(command, "callback", None) is None and not params
        else:
            node["is_callable"] = bool(getattr(command, "invoke_without_command", False))
            node["is_chain"] = bool(getattr(command, "chain", False))

            def read(name: str, path: Path) -> Node | None:
                if command.get_command(context, name) is None:
                    return None
                found = command.resolve_command(context, [name])[1]  # as a call does, which may load it
                return self.command(found, name, context, path, (*above, command))

            node["commands"] = self._nodes(path, command.list_commands(context), read)
        return node

    def _param(self, param: Any, context: Any) -> Node:
        is_option = getattr(param, "param_type_name", "") == "option"
        names = [*getattr(param, "opts", ())]
        kind = getattr(param, "type", None)
        descriptor = getattr(param, "type_descriptor", None)
        described = _typer_schema(descriptor.annotation, descriptor.parameter_info) if descriptor is not None else None
        is_flag = bool(getattr(param, "is_flag", False))
        is_count = bool(getattr(param, "count", False))
        nargs = getattr(param, "nargs", 1)
        metavar = _text(getattr(param, "metavar", None)) or (_type_name(kind) if is_option else None)
        schema = {"types": ["integer"]} if is_count else described or self._schema(kind)
        formats = schema.pop("formats", [])
        variables = getattr(param, "envvar", None)
        prefix = getattr(context, "auto_envvar_prefix", None)
        if not variables and prefix and is_option and param.name and getattr(param, "allow_from_autoenv", True):
            variables = f"{prefix}_{param.name.upper()}"
        exits = bool(getattr(param, "is_eager", False)) and not getattr(param, "expose_value", True)
        return {
            "name": param.name,
            "names": names if is_option else [],
            "metavar": metavar or (param.name or "").upper(),
            "help": _help(getattr(param, "help", None)),
            "formats": formats,
            "schema": schema,
            "is_flag": is_flag or is_count,
            "value_if_none": None if is_flag else _plain(getattr(param, "flag_value", None))[1],
            **self._default(param, context, formats),
            "syntax": {
                "negations": [*getattr(param, "secondary_opts", ())] if is_option else [],
                "is_repeatable": bool(getattr(param, "multiple", False)) or is_count,
                "is_value_optional": is_option and not is_flag and bool(getattr(param, "_flag_needs_value", False)),
                "values": None if nargs == -1 else nargs,
                "variables": [] if exits else [variables] if isinstance(variables, str) else [*(variables or ())],
                "prompt": _text(getattr(param, "prompt", None)),
            },
            "is_secret": bool(getattr(param, "hide_input", False)),
            "is_hidden": bool(getattr(param, "hidden", False)),
            "deprecated": _deprecation(getattr(param, "deprecated", False)),
            "exits": exits,
        }

    def _default(self, param: Any, context: Any, formats: Sequence[str]) -> Node:
        """Returns what is known of a default, and whether a value is required; calls no function."""
        shown = getattr(param, "show_default", None)
        default = param.get_default(context, call=False)
        node: Node = {"default_text": _text(shown) if isinstance(shown, str) else None}
        if default is None or type(default).__name__ == "Sentinel" or default is ...:
            return {**node, "is_required": bool(getattr(param, "required", False))}
        is_shown, plain = _plain(default, formats) if not callable(default) else (False, None)
        if "Choice" in _class_names(getattr(param, "type", None)) and isinstance(default, enum.Enum):
            plain = default.name if any(item is default for item in param.type.choices) else plain
        return {**node, "default": [plain] if is_shown else []}

    def _schema(self, kind: Any) -> Node:
        """Returns the schema of one value, in the form of the model, and the `formats` of a time."""
        names = set(_class_names(kind))
        if "Choice" in names:
            return _string(_choices(kind.choices, lambda item: item.name))
        if "Tuple" in names:
            return _tuple_schema([self._schema(item) for item in kind.types])
        formats = getattr(kind, "formats", None)
        if "DateTime" in names and formats:
            return {**_string(), "formats": [str(item) for item in formats]}
        return _typed(names, kind)


def _string(choices: Iterable[object] | None = None) -> Node:
    """Returns the schema of a string, or of one of several."""
    return {"types": ["string"], **({"choices": [str(item) for item in choices]} if choices else {})}


def _tuple_schema(items: list[Node]) -> Node:
    """Returns the schema of a fixed number of values."""
    count = {"minItems": len(items), "maxItems": len(items)}
    known = [{key: value for key, value in item.items() if key != "formats"} for item in items]
    return {"types": ["array"], "prefix_items": known, "constraints": count}


def _typed(names: Iterable[str], limits: Any = None) -> Node:
    """Returns the schema of a value whose class, or the class that reads it, has these names."""
    known = {*names}
    found = next((members for classes, members in _TYPES.items() if not known.isdisjoint(classes.split())), {})
    mode = str(getattr(limits, "mode", None) or getattr(limits, "_mode", None) or "")
    is_written = getattr(limits, "writable", False) or any("Write" in name for name in known) or {*mode} & {*"wax+"}
    if is_written and "format" in found:
        found = {"format": f"output {found['format']}"}
    bounds = _bounds(limits) if found.get("types") in (["integer"], ["number"]) else {}
    return {**_string(), **found, **({"constraints": bounds} if bounds else {})}


_TYPES: dict[str, Node] = {
    "bool BoolParamType": {"types": ["boolean"]},  # before `int`, whose subclass it is
    "int IntParamType": {"types": ["integer"]},
    "float FloatParamType": {"types": ["number"]},
    "UUID UUIDParameterType": {"format": "uuid"},
    "PurePath Path": {"format": "path"},
    "IOBase _IOBase File FileType": {"format": "file"},
    "date": {"format": "date"},
}
"""Names of classes, also those of Click and argparse, to the schema of their values."""


def _typer_schema(annotation: Any, info: Any) -> Node:
    """Returns the schema of one value of an annotation: since 0.29, parameters of Typer have no types of Click."""
    inner = [item for item in get_args(annotation) if item is not type(None)]
    if get_origin(annotation) is tuple and ... not in inner:
        return _tuple_schema([_typer_schema(item, info) for item in inner])
    names = {item.__name__ for item in getattr(annotation, "__mro__", ())}
    if "Enum" in names:
        inner = _choices(annotation, lambda item: item.value) or []
    elif get_origin(annotation) is not None and any(isinstance(item, type) or get_origin(item) for item in inner):
        return _typer_schema(inner[0], info)
    if inner:
        return _string(inner)
    if "datetime" in names:
        formats = getattr(info, "formats", None) or ("%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S")
        return {**_string(), "formats": [str(item) for item in formats]}
    return _typed(names, info)


def _type_name(kind: Any) -> str | None:
    """Returns the name that help shows for a value of a program's own type."""
    is_own = type(kind).__module__.partition(".")[0] not in ("click", "typer", "rich_click", "cloup")
    name = _text(getattr(kind, "name", None)) if is_own and not hasattr(kind, "choices") else None
    return name.upper() if name else None


def _bounds(kind: Any) -> Node:
    """Returns the bounds of a range."""
    bounds: Node = {}
    for name in ("min", "max"):
        limit = getattr(kind, name, None)
        if isinstance(limit, (int, float)) and not isinstance(limit, bool):
            bounds[f"exclusive{name.title()}imum" if getattr(kind, f"{name}_open", False) else f"{name}imum"] = limit
    return bounds


def _help(text: object) -> str | None:
    """Returns a help text, up to the form feed after which Click shows nothing."""
    found = _text(text)
    return inspect.cleandoc(found).partition("\f")[0].rstrip() or None if found is not None else None


def _deprecation(value: object) -> Any:
    """Returns whether something is deprecated, or the reason."""
    return _text(value) or bool(value)


# -- argparse --------------------------------------------------------------------------------------------------------


class _ParserReader(_Reader):
    """Reads a parser of `argparse`."""

    def command(
        self,
        parser: argparse.ArgumentParser,
        name: str,
        help_text: object = None,
        path: Path = (),
        above: tuple[object, ...] = (),
    ) -> Node:
        """Returns a parser as a command; `above` are the parsers that it is a part of."""
        self._enter(parser, above)
        actions: list[argparse.Action] = parser._actions
        subparsers = [item for item in actions if isinstance(item, argparse._SubParsersAction)]
        params = [
            item
            for item in actions
            if not (item in subparsers or isinstance(item, argparse._HelpAction) or "--help" in item.option_strings)
        ]
        formatter: Any = parser.formatter_class
        is_raw = isinstance(formatter, type) and issubclass(formatter, argparse.RawDescriptionHelpFormatter)
        description, short_help = self._prose(parser, parser.description), _text(help_text)
        node: Node = {
            "name": name,
            "help": description or short_help,
            "short_help": short_help,
            "epilog": self._prose(parser, parser.epilog),
            "markup": "raw" if is_raw else "filled",
            "params": [self._param(parser, item) for item in params],
            "exclusive": [*self._exclusive(parser, params)],
            "is_callable": not subparsers,
        }
        if subparsers:
            node["commands"] = [
                command for item in subparsers for command in self._commands(item, path, (*above, parser))
            ]
        return node

    def _commands(self, action: Any, path: Path, above: tuple[object, ...]) -> list[Node]:
        """Returns the commands of a parser; the other names of a command follow its first."""
        texts = {item.dest: item.help for item in action._choices_actions}
        deprecated = getattr(action, "_deprecated", ())
        names: dict[int, list[str]] = {}
        for name, parser in action.choices.items():
            names.setdefault(id(parser), []).append(name)

        def read(first: str, path: Path) -> Node:
            parser = action.choices[first]
            is_hidden = texts.get(first) == argparse.SUPPRESS
            help_text = None if is_hidden else _expanded(texts.get(first), {"prog": parser.prog})
            node = self.command(parser, first, help_text, path, above)
            aliases = names[id(parser)][1:]
            return {**node, "aliases": aliases, "is_hidden": is_hidden, "deprecated": first in deprecated}

        return self._nodes(path, [first for first, *_ in names.values()], read)

    def _prose(self, parser: argparse.ArgumentParser, text: object) -> str | None:
        found = None if text == argparse.SUPPRESS else _text(text)
        if found is not None and "%(prog)" in found:
            found = _expanded(found, {"prog": parser.prog})
        return textwrap.dedent(found.expandtabs()).strip("\n").rstrip() or None if found is not None else None

    def _exclusive(self, parser: Any, params: Sequence[argparse.Action]) -> Iterator[Node]:
        """Yields the groups of which one parameter at most may be given, by their index."""
        for group in parser._mutually_exclusive_groups:
            members = [params.index(item) for item in group._group_actions if item in params]
            if len(members) > 1:
                yield {"params": members, "is_required": bool(group.required)}

    def _param(self, parser: argparse.ArgumentParser, action: argparse.Action) -> Node:
        names = [*action.option_strings]
        kinds = set(_class_names(action))
        is_count = "_CountAction" in kinds
        is_flag = action.nargs == 0 or is_count
        negations: list[str] = []
        if "BooleanOptionalAction" in kinds:
            negations = [name for name in names if name.startswith("--no-")]
            names = [name for name in names if name not in negations] or names
        count = 1 if action.nargs is None else action.nargs  # how many values follow each other, and the least number
        values, least = (count, count) if isinstance(count, int) else (None, int(count in ("+", "A...")))
        metavar = " ".join(map(str, action.metavar)) if isinstance(action.metavar, tuple) else action.metavar
        is_shown, default = _plain(action.default)
        has_default = is_shown and default is not None and default != argparse.SUPPRESS and (negations or not is_flag)
        schema = {"types": ["integer"]} if is_count else self._schema(action)
        return {
            "name": action.dest,
            "names": names,
            "metavar": _text(metavar) or (action.dest.upper() if names else action.dest),
            "help": self._help(parser, action),
            "schema": schema,
            "is_flag": is_flag,
            "syntax": {
                "negations": negations,
                "is_repeatable": is_count or bool(kinds & {"_AppendAction", "_AppendConstAction", "_ExtendAction"}),
                "is_value_optional": bool(names) and action.nargs == "?",
                "values": 1 if action.nargs == "?" else values,
            },
            "value_if_none": _plain(action.const)[1] if names and action.nargs == "?" else None,
            "least_values": least,
            "is_required": bool(action.required) if names else least > 0,
            "default": [default] if has_default else [],
            "is_hidden": action.help == argparse.SUPPRESS,
            "deprecated": bool(getattr(action, "deprecated", False)),
            "exits": "_VersionAction" in kinds,
        }

    def _schema(self, action: argparse.Action) -> Node:
        """Returns the schema of one value, in the form of the model."""
        kind = action.type
        names = {item.__name__ for item in getattr(kind, "__mro__", ())} | set(_class_names(kind))
        names |= {getattr(item, "__name__", "") for item in (kind, getattr(kind, "__self__", None))}
        names = set() if kind is bool else names - {"bool"}  # bool() takes any word; a flag has no value
        schema: Node = {"types": ["boolean"]} if action.nargs == 0 else _typed(names, kind)
        choices = _choices(action.choices, _argparse_word) if action.choices is not None else None
        if choices:
            numbers = schema["types"][0] in ("integer", "number") and all(
                type(item) in (int, float) for item in choices
            )
            schema["choices"] = choices if numbers else [str(item) for item in choices]
        elif isinstance(action.choices, range) and len(action.choices) and action.choices.step == 1:
            schema["constraints"] = {"minimum": action.choices[0], "maximum": action.choices[-1]}
        return schema

    def _help(self, parser: argparse.ArgumentParser, action: argparse.Action) -> str | None:
        if action.help is None or action.help == argparse.SUPPRESS:
            return None
        names = {key: value for key, value in vars(action).items() if value is not argparse.SUPPRESS}
        names = {key: getattr(value, "__name__", value) for key, value in names.items()}
        _, names["default"] = _plain(action.default)
        if action.choices is not None:
            names["choices"] = ", ".join(map(str, _choices(action.choices, _argparse_word) or ()))
        text = _expanded(action.help, {**names, "prog": parser.prog})
        formatter: Any = parser.formatter_class
        is_filled = getattr(formatter, "_split_lines", None) is argparse.HelpFormatter._split_lines
        return text if text is None else " ".join(text.split()) if is_filled else inspect.cleandoc(text)


def _argparse_word(member: enum.Enum) -> object:
    """Returns what is written for a member of an enumeration that `type` returns: its value, or its own text."""
    return member.value if type(member).__str__ in (enum.Enum.__str__, str.__str__, int.__repr__) else str(member)


def _expanded(text: object, names: Node) -> str | None:
    """Returns a help text with what its `%(name)s` stand for; unchanged if it is not such a text."""
    found = _text(text)
    try:
        return _text(found % names) if found is not None else None
    except (KeyError, TypeError, ValueError, IndexError):
        return found


if __name__ == "__main__":
    main(sys.argv[1])
