"""The files of a project that may say what it has: not those of its dependencies, its tests or its output."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

DEPTH = 4
"""Folders below the project's own in which it is looked."""

FILE_LIMIT = 10_000
"""Files after which looking ends."""

_TEXT_LIMIT_BYTES = 1024 * 1024
# fmt: off
_NOT_OURS = frozenset((
    "node_modules", "bower_components", "vendor", "third_party", "venv", "env", "site-packages", "lib64",
    "dist", "build", "out", "target", "coverage", "htmlcov", "test", "tests", "__tests__", "testdata",
    "fixtures", "example", "examples", "sample", "samples", "demo", "demos", "e2e", "mocks", "__mocks__",
    "__pycache__", "agent-docs", "skills",
))
# fmt: on


@dataclass(frozen=True)
class Places:
    """A project's folder."""

    root: Path
    """The folder."""

    @cached_property
    def files(self) -> tuple[str, ...]:
        """Its files relative to it, with forward slashes; those nearest to it first."""
        found: list[str] = []
        for folder, folders, names in os.walk(self.root):
            above = Path(folder).relative_to(self.root)
            folders[:] = sorted(name for name in folders if name.lower() not in _NOT_OURS and not _is_hidden(name))
            if len(above.parts) >= DEPTH:
                folders.clear()
            ours = (name for name in sorted(names) if not name.startswith("."))
            found += [(above / name).as_posix() for name in ours if self._is_file(Path(folder, name))]
            if len(found) >= FILE_LIMIT:
                break
        return tuple(sorted(found, key=lambda path: (path.count("/"), path)))

    def named(self, name: str) -> tuple[str, ...]:
        """Gives the files of a name, in all folders."""
        return tuple(path for path in self.files if path.rpartition("/")[2] == name)

    def has(self, path: str) -> bool:
        """True if there is such a file in the project."""
        return bool(path) and self._is_file(self.root / path)

    def text(self, path: str) -> str:
        """Gives a small file's text; empty where it cannot be read."""
        if not self.has(path):
            return ""
        try:
            with (self.root / path).open("rb") as file:
                return file.read(_TEXT_LIMIT_BYTES).decode("utf-8-sig", "replace")
        except OSError:
            return ""

    @cached_property
    def _top(self) -> Path:
        return self.root.resolve()

    def _is_file(self, path: Path) -> bool:
        """True for a file of the project: a link out of it may show a private file, or one of /proc that never ends."""
        try:
            return path.is_file() and path.resolve().is_relative_to(self._top)
        except (OSError, ValueError, RuntimeError):  # such as a name that is too long, or a link to itself
            return False


def _is_hidden(name: str) -> bool:
    return name.startswith(".") and name != ".well-known"
