"""Jinja: loading, sandbox, bytecode cache, errors; is given its filters.

What a user's templates run in: they reach what they are given and no further, and they come to an end.

A template may come from anywhere. Jinja's sandbox keeps it from Python's objects; here are the bounds of what it may
use up, and the words in which its errors are told.

What skillgen's own templates run in: Jinja without the guesses that only other people's templates need.

An attribute is an attribute, and a function takes what it is given. What Jinja does for each of both, to find out what
else could be meant, took a ninth of the time of rendering. A test renders with every own template, so a name that is
not there does not stay.

Keeps templates as compiled, in the user's cache folder: compiling them takes longer than most services take.

A cache is a convenience. Where it cannot be read or written, the templates are compiled anew, and nobody is told.
Only skillgen's own templates are kept: those of a user are compiled for a sandbox.

The one Jinja environment: where templates are found, and how they run.

Whatever a template prints goes through `paragraph`, which is safe anywhere in a line, unless a filter of its own made
it safe for another place. So a template that forgets a filter is safe all the same.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import jinja2
from jinja2 import BytecodeCache
from jinja2.bccache import Bucket
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import missing

import skillgen.render
import skillgen.text
from skillgen.errors import SkillgenError, UsageError, time_limit
from skillgen.render.catalogue import templates_folder
from skillgen.text.markdown import Markdown, paragraph

LIMIT_S = 10.0
"""Seconds of the processor that one template, or one macro, may take."""

LIMIT_ITEMS = 1_000_000
"""How long a repeated text or list may become."""

LIMIT_EXPONENT = 1_000
"""The largest power that a template may ask for."""


class Missing(jinja2.StrictUndefined):
    """A name that is not there: using it is an error, which says what is nearest."""

    __slots__ = ()

    @property
    def _undefined_message(self) -> str:
        if self._undefined_hint:
            return self._undefined_hint
        if self._undefined_obj is missing:
            return f"{self._undefined_name!r} is undefined"
        from difflib import get_close_matches

        kind = type(self._undefined_obj)
        known = [item.name for item in dataclasses.fields(kind)] if dataclasses.is_dataclass(kind) else []
        close = get_close_matches(str(self._undefined_name), known, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        return f"{kind.__name__} has no {self._undefined_name!r}{hint}"


class TemplateFiles(jinja2.FileSystemLoader):
    """Templates below folders, the first folder first."""

    def get_source(self, environment: jinja2.Environment, template: str) -> tuple[str, str, Callable[[], bool]]:
        """Gives the text of a template, its file, and whether it is still the same.

        Raises:
            TemplateNotFound: there is none of this name.
            TemplateSyntaxError: it is no text.
        """
        try:
            text, file, is_current = super().get_source(environment, template)
            if not any(Path(file).resolve().is_relative_to(Path(folder).resolve()) for folder in self.searchpath):
                raise jinja2.TemplateSyntaxError(
                    "it is a symbolic link that leads out of the folder", 1, template, file
                )
            return text, file, is_current
        except jinja2.TemplateNotFound:
            raise jinja2.TemplateNotFound(template, f"there is no template {template!r}") from None
        except UnicodeDecodeError as error:
            line = bytes(error.object[: error.start]).count(b"\n") + 1
            raise jinja2.TemplateSyntaxError("it is not UTF-8", line, template, self.file_of(template)) from None

    def file_of(self, template: str) -> str | None:
        """Gives the file of a template, where there is one."""
        files = [Path(folder, *template.split("/")) for folder in self.searchpath]
        return next((str(file) for file in files if file.is_file()), None)


class UsersEnvironment(ImmutableSandboxedEnvironment):
    """Jinja's sandbox, without operations that one short line makes endless."""

    intercepted_binops = frozenset({"*", "**"})

    def call_binop(self, context: jinja2.runtime.Context, operator: str, left: Any, right: Any) -> Any:
        """Multiplies, unless what comes of it has no end."""
        if operator == "**" and isinstance(right, int) and abs(right) > LIMIT_EXPONENT:
            raise jinja2.exceptions.SecurityError(f"an exponent of more than {LIMIT_EXPONENT:,} is refused")
        if operator == "*":
            for items, times in ((left, right), (right, left)):
                if hasattr(items, "__len__") and isinstance(times, int) and len(items) * times > LIMIT_ITEMS:
                    raise jinja2.exceptions.SecurityError(f"more than {LIMIT_ITEMS:,} repetitions are refused")
        return super().call_binop(context, operator, left, right)


class _OwnContext(Context):
    """Calls functions, none of which asks for the context."""

    def call(
        self, function: Callable[..., Any], *args: Any, _loop_vars: Any = None, _block_vars: Any = None, **kwargs: Any
    ) -> Any:
        return function(*args, **kwargs)


class OwnEnvironment(jinja2.Environment):
    """Renders templates whose names all exist."""

    context_class = _OwnContext
    getattr = staticmethod(getattr)  # type: ignore[assignment]  # the built-in has more forms


KEPT_VERSIONS = 4
"""Versions of skillgen whose templates are kept; several may be installed."""


class CompiledTemplates(BytecodeCache):
    """A file for each template; Jinja itself checks its source and the version of Python."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / f"templates-{_digest_of_modules()}"

    def load_bytecode(self, bucket: Bucket) -> None:
        """Reads a template, if it is kept and nobody else could have written it."""
        path = self._folder / bucket.key
        try:
            if _is_ours(self._folder) and _is_ours(path):
                bucket.bytecode_from_string(path.read_bytes())
        except Exception:  # a damaged file raises whatever the reader stumbles over
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keeps a template; a file is there whole or not at all."""
        with suppress(OSError):
            if not self._folder.is_dir():
                self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                self._remove_oldest()
            handle, name = tempfile.mkstemp(dir=self._folder)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(bucket.bytecode_to_string())
                Path(name).replace(self._folder / bucket.key)
            except OSError:
                Path(name).unlink(missing_ok=True)

    def _remove_oldest(self) -> None:
        """Removes what earlier versions kept, but for the last of them."""
        folders = sorted(self._folder.parent.glob("templates-*"), key=lambda folder: folder.stat().st_mtime)
        for folder in folders[:-KEPT_VERSIONS]:
            shutil.rmtree(folder, ignore_errors=True)


def _digest_of_modules() -> str:
    """Returns a digest of what is compiled in: Jinja, and the filters, which it runs on constants."""
    states = [
        (str(path), state.st_mtime_ns, state.st_size)
        for package in (skillgen.text, skillgen.render, jinja2)
        for path in sorted(Path(package.__path__[0]).glob("*.py"))
        for state in [path.stat()]
    ]
    return hashlib.sha256(repr(states).encode()).hexdigest()[:16]


def cache_folder() -> Path | None:
    """Gives the folder for what may be deleted at any time; none where the user has no home."""
    with suppress(RuntimeError):
        if named := os.environ.get("XDG_CACHE_HOME"):
            return Path(named) / "skillgen"
        if sys.platform == "win32":
            return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "skillgen" / "Cache"
        return Path.home() / (".cache" if sys.platform != "darwin" else "Library/Caches") / "skillgen"
    return None


def _is_ours(path: Path) -> bool:
    """Tells whether only this user can have written it: what is loaded is run."""
    if os.name != "posix":
        return True
    state = path.stat()
    return state.st_uid == os.getuid() and not state.st_mode & 0o022


class Templates:
    """Loads templates: the user's first, then those that skillgen comes with."""

    def __init__(
        self,
        filters: Mapping[str, Callable[..., Any]],
        functions: Mapping[str, Callable[..., Any]],
        overrides: Path | None = None,
        limit_s: float = LIMIT_S,
    ) -> None:
        """Takes what templates may use: the filters, and the functions that they may call."""
        if overrides is not None and not overrides.is_dir():
            raise UsageError("no such folder", where=f"--templates {overrides}", fix="give a folder of templates")
        self._files = TemplateFiles([templates_folder()] if overrides is None else [overrides, templates_folder()])
        # A user's template may come from anywhere; it gets no further than the model.
        kind = OwnEnvironment if overrides is None else UsersEnvironment
        self._limit_s = None if overrides is None else limit_s
        self._environment = kind(
            loader=self._files,
            undefined=Missing,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
            autoescape=False,  # Markdown, not HTML: see `printed`
            finalize=printed,
            bytecode_cache=_kept_compiled() if overrides is None else None,
        )
        self.are_own = overrides is None
        """Whether every template is one of skillgen's own."""
        self._environment.filters.update(filters)
        self._environment.globals.update(functions)

    def render(self, template: str, **context: Any) -> Markdown:
        """Renders one template; its result ends with one line end.

        Raises:
            UsageError: the template has an error; the message names the file, the line and what is missing.
        """
        with self._problems(template):
            return Markdown(self._environment.get_template(template).render(context).strip("\n") + "\n")

    def macro(self, template: str, name: str, **context: Any) -> Any:
        """Gives a macro of a template as a function; what it returns is Markdown, trimmed."""
        with self._problems(template):
            module = self._environment.get_template(template).make_module(context)
            if not hasattr(module, name):
                raise jinja2.TemplateRuntimeError(f"it has no macro {name!r}")
            macro = getattr(module, name)

        def call(*arguments: Any) -> Markdown:
            with self._problems(template):
                try:
                    return Markdown(macro(*arguments).strip("\n"))
                except Exception:
                    self._environment.handle_exception()  # raises it again, with the lines of the template

        return call

    @contextmanager
    def _problems(self, template: str) -> Iterator[None]:
        """Turns what goes wrong in a template into a message; in one of ours, only what Jinja itself reports."""
        try:
            too_long = jinja2.TemplateRuntimeError(f"it takes more than {self._limit_s or 0:g} s")
            with time_limit(self._limit_s, too_long):
                yield
        except jinja2.TemplateError as error:
            raise self._problem(template, error) from error
        except SkillgenError:
            raise
        except Exception as error:
            if self.are_own:
                raise
            raise self._problem(template, error) from error

    def _problem(self, template: str, error: Exception) -> UsageError:
        """Says what is wrong, with the file where it stands and the line."""
        file, line = getattr(error, "filename", None), getattr(error, "lineno", None)
        if line is None:
            file, line = _place_of(error)
        name = self._shown(file or self._files.file_of(template) or template)
        where = f"template {name}" + (f", line {line}" if line else "")
        words = "it calls itself without end" if isinstance(error, RecursionError) else str(error)
        return UsageError(f"the template cannot be rendered: {words}", where=where, fix="correct the template")

    def _shown(self, file: str) -> str:
        """Gives a template of the user's with the folder that they named, and one of ours by its name."""
        path = Path(file)
        own = templates_folder()
        return path.relative_to(own).as_posix() if path.is_relative_to(own) else path.as_posix()


def _kept_compiled() -> CompiledTemplates | None:
    folder = cache_folder()
    return CompiledTemplates(folder) if folder is not None else None


def printed(value: Any) -> str:
    """Returns what is written where a template prints a value: Markdown unchanged, other text escaped for a line.

    Raises:
        TemplateRuntimeError: the value is not declared (`None`), or is neither text nor a number.
    """
    if type(value) is Markdown:
        return value
    if type(value) is str:
        return paragraph(value)
    if isinstance(value, jinja2.Undefined):
        return str(value)  # raises, with the name that is missing
    if value is None:
        raise jinja2.TemplateRuntimeError("a value that is not declared (None) would be printed")
    if isinstance(value, (str, int, float)):
        return paragraph(str(value))
    kind = type(value).__name__
    raise jinja2.TemplateRuntimeError(f"a whole {kind} would be printed; name what of it, or use a filter for it")


def _place_of(error: Exception) -> tuple[str | None, int | None]:
    """Finds the template's file and line in the traceback of a run-time error, which carries none itself."""
    trace, file, line = error.__traceback__, None, None
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if trace.tb_frame.f_globals.get("__jinja_template__") is not None or name.endswith((".j2", ".jinja")):
            file, line = name, trace.tb_lineno
        trace = trace.tb_next
    return file, line
