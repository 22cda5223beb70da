"""The user's cache folder, and in it what was fetched before, with the validators that let a server answer "unchanged"
(RFC 9111, 4.3).

It is never in the project or in OUT. Only documents that anybody may read are cached: the caller asks for none that was
fetched with credentials. A cache that cannot be read or written costs a download and no more.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

ENTRIES_LIMITS = {"fetched": 50, "built": 1_000}
"""Entries that are kept of each kind: documents, and the last runs of targets; the ones unused for longest go."""

SIZE_LIMIT_BYTES = 64 * 1024 * 1024
"""The largest document that is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A document that was fetched before."""

    etag: str | None
    """Its `ETag`."""

    last_modified: str | None
    """Its `Last-Modified`."""

    content: bytes
    """The document."""

    @property
    def conditions(self) -> dict[str, str]:
        """The request headers that ask for it only if it changed."""
        found = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in found.items() if value}


def kept_for(url: str) -> Kept | None:
    """Gives what was kept of an address."""
    cached = read_cached("fetched", url)
    if cached is None:
        return None
    try:
        head, _, content = cached.partition(b"\n")
        described = json.loads(head)
        kept = Kept(etag=described["etag"], last_modified=described["last_modified"], content=content)
        if described["sha256"] != hashlib.sha256(content).hexdigest():
            return None
    except (ValueError, LookupError, TypeError):
        return None
    return kept


def keep(url: str, kept: Kept) -> None:
    """Keeps a document for the next run, readable by this user only."""
    if not kept.conditions or len(kept.content) > SIZE_LIMIT_BYTES:
        return
    head = {
        "etag": kept.etag,
        "last_modified": kept.last_modified,
        "sha256": hashlib.sha256(kept.content).hexdigest(),
    }
    write_cached("fetched", url, json.dumps(head).encode() + b"\n" + kept.content)


def read_cached(kind: str, key: str) -> bytes | None:
    """Returns what is cached for a key, or `None`."""
    with suppress(OSError, RuntimeError):
        path = _path(kind, key)
        content = path.read_bytes()
        path.touch()
        return content
    return None


def write_cached(kind: str, key: str, content: bytes) -> None:
    """Caches something for the next run, readable by this user only; of each kind the newest entries are kept."""
    with suppress(OSError, RuntimeError):
        path = _path(kind, key)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent)  # of mode 0600
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            Path(name).replace(path)
        except OSError:
            Path(name).unlink(missing_ok=True)
        _forget_oldest(path.parent, ENTRIES_LIMITS[kind])


def _forget_oldest(folder: Path, limit: int) -> None:
    entries = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in entries[limit:]:
        path.unlink(missing_ok=True)


def _path(kind: str, key: str) -> Path:
    """Returns the file of a key; its name does not show the key, which may be a URL with a secret in its query."""
    return _folder() / kind / hashlib.sha256(key.encode("utf-8", "backslashreplace")).hexdigest()


def _folder() -> Path:
    if named := os.environ.get("XDG_CACHE_HOME"):
        return Path(named) / "skillgen"
    if sys.platform == "win32" and (local := os.environ.get("LOCALAPPDATA")):
        return Path(local) / "skillgen" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "skillgen"
    return Path.home() / ".cache" / "skillgen"
