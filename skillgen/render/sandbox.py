"""What a user's templates run in: they reach what they are given and no further, and they come to an end.

A template may come from anywhere. Jinja's sandbox keeps it from Python's objects; here are the bounds of what it may
use up, and the words in which its errors are told.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import missing

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
