"""What was fetched before, kept with the validators that let a server say "unchanged" (RFC 9111, 4.3).

It lives in the user's cache folder, never in the project or in OUT. Only what anybody may read is kept: the caller asks
for nothing that was fetched with credentials. A cache that cannot be read or written costs a download and no more.
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

ENTRIES_LIMIT = 50
"""Documents that are kept; the ones unused for longest go."""

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
    path = _path(url)
    try:
        head, _, content = path.read_bytes().partition(b"\n")
        described = json.loads(head)
        kept = Kept(etag=described["etag"], last_modified=described["last_modified"], content=content)
        if described["sha256"] != hashlib.sha256(content).hexdigest():
            return None
        path.touch()
    except (OSError, ValueError, LookupError, TypeError, RuntimeError):
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
    with suppress(OSError, RuntimeError):
        path = _path(url)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent)  # of mode 0600
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(json.dumps(head).encode() + b"\n" + kept.content)
            Path(name).replace(path)
        except OSError:
            Path(name).unlink(missing_ok=True)
        _forget_oldest(path.parent)


def _forget_oldest(folder: Path) -> None:
    entries = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in entries[ENTRIES_LIMIT:]:
        path.unlink(missing_ok=True)


def _path(url: str) -> Path:
    """Gives the file of an address; its name tells nobody the address, whose query may hold a secret."""
    return _folder() / "fetched" / hashlib.sha256(url.encode("utf-8", "backslashreplace")).hexdigest()


def _folder() -> Path:
    if named := os.environ.get("XDG_CACHE_HOME"):
        return Path(named) / "skillgen"
    if sys.platform == "win32" and (local := os.environ.get("LOCALAPPDATA")):
        return Path(local) / "skillgen" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "skillgen"
    return Path.home() / ".cache" / "skillgen"
