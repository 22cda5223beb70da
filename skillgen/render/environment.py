"""The one Jinja environment: where templates are found, and how they run.

Whatever a template prints goes through `paragraph`, which is safe anywhere in a line, unless a filter of its own made
it safe for another place. So a template that forgets a filter is safe all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jinja2

from skillgen.errors import SkillgenError, UsageError
from skillgen.markdown.filters import Markdown, paragraph
from skillgen.render.catalogue import templates_folder
from skillgen.render.compiled import CompiledTemplates, cache_folder
from skillgen.render.own_environment import OwnEnvironment
from skillgen.render.sandbox import LIMIT_S, Missing, TemplateFiles, UsersEnvironment
from skillgen.time_limit import time_limit


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
