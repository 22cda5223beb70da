"""The Jinja environment that renders every template."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Mapping, MutableMapping
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from traceback import walk_tb
from typing import Any, TypeVar

import jinja2
from jinja2.bccache import Bucket, FileSystemBytecodeCache
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import missing
from markupsafe import escape

import skillgen.render
import skillgen.text
from skillgen.errors import SkillgenError, UsageError, time_limit
from skillgen.render.catalogue import templates_folder
from skillgen.text import lazy_re as re
from skillgen.text.markdown import Markdown, paragraph

TIME_LIMIT_S = 10.0
"""CPU seconds that one template, or one macro, may take."""

MAX_REPETITIONS = 1_000_000
"""Maximum length of a repeated string or list."""

MAX_EXPONENT = 1_000
"""The largest exponent that a template may use."""


_Result = TypeVar("_Result")


class MissingName(jinja2.StrictUndefined):
    """An undefined name: using it is an error, which suggests the closest field."""

    __slots__ = ()

    @property
    def _undefined_message(self) -> str:
        if self._undefined_hint or self._undefined_obj is missing:
            return super()._undefined_message
        kind = type(self._undefined_obj)
        known = getattr(kind, "__struct_fields__", ())
        close = get_close_matches(str(self._undefined_name), known, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        return f"{kind.__name__} has no {self._undefined_name!r}{hint}"


class TemplateLoader(jinja2.FileSystemLoader):
    """Loads templates from folders, the first folder first. Those of skillgen alone are read with what they include."""

    def get_source(self, environment: jinja2.Environment, template: str) -> tuple[str, str, Callable[[], bool]]:
        """Returns the source of a template, its file, and a function that reports whether it is unchanged.

        Raises:
            TemplateNotFound: there is no template of this name.
            TemplateSyntaxError: it is not UTF-8, or a symbolic link that points out of the folder.
        """
        try:
            text, file, is_current = super().get_source(environment, template)
            text = text if text.endswith("\n") else f"{text}\n"  # or the next section would be on its last line
            if len(self.searchpath) == 1:
                is_whole = "{% include" not in text
                text = text if is_whole else _INCLUDE.sub(lambda name: self.get_source(environment, name[1])[0], text)
            elif not any(Path(file).resolve().is_relative_to(Path(folder).resolve()) for folder in self.searchpath):
                message = "it is a symbolic link that points out of the folder"
                raise jinja2.TemplateSyntaxError(message, 1, template, file)
            return text, file, is_current
        except jinja2.TemplateNotFound:
            raise jinja2.TemplateNotFound(template, f"there is no template {template!r}") from None
        except UnicodeDecodeError as error:
            line = bytes(error.object[: error.start]).count(b"\n") + 1
            raise jinja2.TemplateSyntaxError("it is not UTF-8", line, template, self.file_of(template)) from None

    def file_of(self, template: str) -> str | None:
        """Returns the file of a template, if there is one."""
        files = [Path(folder, *template.split("/")) for folder in self.searchpath]
        return next((str(file) for file in files if file.is_file()), None)


_INCLUDE = re.compile(r'^\{% include "([^"]+)" %\}\n(?!\{%-)', re.MULTILINE)
"""What is on a line of its own: to include it once is faster than at each rendering."""


class Context(jinja2.runtime.Context):
    """Jinja's context; no function of ours asks for it."""

    def call(self, function: Any, *args: Any, _loop_vars: Any = None, _block_vars: Any = None, **fields: Any) -> Any:
        """Calls a function."""
        return function(*args, **fields)


class Environment(jinja2.Environment):
    """Jinja's environment, with one mapping of the functions: to copy a chain for each rendering is slow."""

    context_class = Context

    def make_globals(self, d: MutableMapping[str, Any] | None) -> MutableMapping[str, Any]:
        """Returns the names that every template has."""
        return {**self.globals, **d} if d else self.globals


class SandboxedEnvironment(Environment, ImmutableSandboxedEnvironment):
    """Jinja's sandbox, without the operations that let one short line use unbounded time or memory."""

    intercepted_binops = frozenset({"*", "**"})

    def call_binop(self, context: jinja2.runtime.Context, operator: str, left: Any, right: Any) -> Any:
        """Evaluates a multiplication or power, unless its result would be too large."""
        if operator == "**" and isinstance(right, int) and abs(right) > MAX_EXPONENT:
            raise jinja2.exceptions.SecurityError(f"an exponent of more than {MAX_EXPONENT:,} is refused")
        if operator == "*":
            for items, times in ((left, right), (right, left)):
                if hasattr(items, "__len__") and isinstance(times, int) and len(items) * times > MAX_REPETITIONS:
                    raise jinja2.exceptions.SecurityError(f"more than {MAX_REPETITIONS:,} repetitions are refused")
        return super().call_binop(context, operator, left, right)


class TemplateCache(FileSystemBytecodeCache):
    """A bytecode file for each template, in the user's cache folder: compiling takes longer than rendering most
    services.

    Jinja checks the source of a template and the version of Python. Where the cache cannot be read or written, the
    templates are compiled again, without a message.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder / f"templates-{_digest_of_modules()}"
        super().__init__(str(self._folder), "%s")

    def load_bytecode(self, bucket: Bucket) -> None:
        """Loads a template if it is cached and nobody else could have written it."""
        try:
            if _is_written_by_user_only(self._folder) and _is_written_by_user_only(self._folder / bucket.key):
                super().load_bytecode(bucket)
        except Exception:  # a damaged file raises whatever the reader stumbles over
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Caches a template, atomically; the first one of a version removes those of others."""
        with suppress(OSError):
            if not self._folder.is_dir():
                for other in self._folder.parent.glob("templates-*"):
                    shutil.rmtree(other, ignore_errors=True)
                self._folder.mkdir(parents=True, mode=0o700)
            super().dump_bytecode(bucket)


def _digest_of_modules() -> str:
    """Returns a digest of what is compiled in: Jinja, and the filters, which it runs on constants."""
    packages = (skillgen.text, skillgen.render, jinja2)
    entries = (entry for package in packages for entry in os.scandir(package.__path__[0]))
    found = ((entry.path, entry.stat()) for entry in entries if entry.name.endswith(".py"))
    states = sorted((path, state.st_mtime_ns, state.st_size) for path, state in found)
    return hashlib.sha256(repr(states).encode()).hexdigest()[:16]


def _is_written_by_user_only(path: Path) -> bool:
    """True if only this user can have written a file: what is loaded is executed."""
    if os.name != "posix":
        return True
    state = path.stat()
    return state.st_uid == os.getuid() and not state.st_mode & 0o022


class Templates:
    """Loads templates: the user's first, then those of skillgen."""

    def __init__(
        self,
        filters: Mapping[str, Callable[..., Any]],
        functions: Mapping[str, Callable[..., Any]],
        overrides: Path | None = None,
    ) -> None:
        """Takes the filters, and the functions that templates may call."""
        if overrides is not None and not overrides.is_dir():
            raise UsageError("no such folder", where=f"--templates {overrides}", fix="give a folder of templates")
        self._files = TemplateLoader([templates_folder()] if overrides is None else [overrides, templates_folder()])
        kind = Environment if overrides is None else SandboxedEnvironment
        self._environment = kind(
            loader=self._files,
            undefined=MissingName,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
            autoescape=False,  # Markdown, not HTML: see `escape_printed`
            finalize=escape_printed,
            auto_reload=False,
            cache_size=-1,
            bytecode_cache=_template_cache() if overrides is None else None,
        )
        self._html = self._environment.overlay(finalize=escape_for_html)
        self.are_builtin = overrides is None
        """True if no template is a user's."""
        self._environment.filters.update(filters)
        self._environment.globals.update(functions)

    def render(self, template: str, **context: Any) -> Markdown:
        """Renders one template; the result ends with exactly one newline.

        Raises:
            UsageError: the template has an error; the message names the file, the line and what is missing.
        """
        environment = self._html if template.endswith(_HTML) else self._environment
        text = self._checked(template, lambda: environment.get_template(template).render(context))
        return Markdown(text.strip("\n") + "\n")

    def names_set_in(self, template: str) -> dict[str, Any]:
        """Returns the names that a template sets, with their values."""
        module = self._checked(template, lambda: self._environment.get_template(template).make_module())
        return {name: item for name, item in vars(module).items() if not name.startswith("_")}

    def is_builtin(self, template: str) -> bool:
        """True if a template is one of skillgen's own."""
        return Path(self._files.file_of(template) or "").is_relative_to(templates_folder())

    def _checked(self, template: str, render: Callable[[], _Result]) -> _Result:
        """Turns errors of a template into a `UsageError`; for our own templates, only the errors of Jinja itself."""
        try:
            if self.are_builtin:
                return render()
            too_long = jinja2.TemplateRuntimeError(f"it takes more than {TIME_LIMIT_S:g} s")
            with time_limit(TIME_LIMIT_S, too_long):
                return render()
        except SkillgenError:
            raise
        except Exception as error:
            if self.are_builtin and not isinstance(error, jinja2.TemplateError):
                raise
            raise self._problem(template, error) from error

    def _problem(self, template: str, error: Exception) -> UsageError:
        """Returns the error with the file and the line."""
        file, line = getattr(error, "filename", None), getattr(error, "lineno", None)
        if line is None:
            file, line = _position_in_template(error)
        path, builtin = Path(file or self._files.file_of(template) or template), templates_folder()
        name = path.relative_to(builtin) if path.is_relative_to(builtin) else path
        where = f"template {name.as_posix()}" + (f", line {line}" if line else "")
        reasons = {RecursionError: "it calls itself without end", MemoryError: "it needs too much memory"}
        reason = reasons.get(type(error)) or str(error)
        return UsageError(f"the template cannot be rendered: {reason}", where=where, fix="correct the template")


def _template_cache() -> TemplateCache | None:
    from platformdirs import user_cache_path  # only here: `--help` renders nothing

    try:
        return TemplateCache(user_cache_path("skillgen", appauthor=False))
    except RuntimeError:  # the user has no home folder
        return None


_HTML = ".html.j2"
"""How the name of a template for HTML ends; what it prints is escaped for HTML."""


def escape_for_html(value: Any) -> str:
    """Returns what a template for HTML prints for a value: HTML unchanged, anything else escaped.

    Raises:
        TemplateRuntimeError: the value is not declared (`None`), or is Markdown, which must be converted.
    """
    if value is None or type(value) is Markdown:
        kind = "Markdown, which is not HTML" if value is not None else "a value that is not declared (None)"
        raise jinja2.TemplateRuntimeError(f"it prints {kind}")
    return escape(value)


def escape_printed(value: Any) -> str:
    """Returns what a template prints for a value: Markdown unchanged, other strings escaped for a line.

    Raises:
        TemplateRuntimeError: the value is not declared (`None`), or is neither a string nor a number.
    """
    if type(value) is Markdown:
        return value
    if type(value) is str:
        return paragraph(value)
    if isinstance(value, jinja2.Undefined):
        return str(value)  # raises, with the name that is missing
    if value is None:
        raise jinja2.TemplateRuntimeError("it prints a value that is not declared (None)")
    if isinstance(value, (str, int, float)):
        return paragraph(str(value))
    kind = type(value).__name__
    raise jinja2.TemplateRuntimeError(f"it prints a {kind}; name one of its fields, or use a filter for it")


def _position_in_template(error: Exception) -> tuple[str | None, int | None]:
    """Finds the template's file and line in the traceback of a runtime error; the error itself does not hold them."""
    found: tuple[str | None, int | None] = None, None
    for frame, line in walk_tb(error.__traceback__):
        if "__jinja_template__" in frame.f_globals or frame.f_code.co_filename.endswith((".j2", ".jinja")):
            found = frame.f_code.co_filename, line
    return found
