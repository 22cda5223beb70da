"""Keeps templates as compiled, in the user's cache folder: compiling them takes longer than most services take.

A cache is a convenience. Where it cannot be read or written, the templates are compiled anew, and nobody is told.
Only skillgen's own templates are kept: those of a user are compiled for a sandbox.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import jinja2
from jinja2 import BytecodeCache
from jinja2.bccache import Bucket

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
    """Tells apart the versions of what is compiled in: Jinja, and the filters, which it runs on constants."""
    package = Path(__file__).parent.parent
    states = [
        (str(path), state.st_mtime_ns, state.st_size)
        for folder in (package / "markdown", package / "render", Path(jinja2.__file__).parent)
        for path in sorted(folder.glob("*.py"))
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
