"""The record of what skillgen wrote to an OUT: `.skillgen.json`.

It holds the digest of each file, so that an edit can be told from skillgen's own text, and how many tools the
documents have, so that an empty crawl can't replace them. Nothing in it depends on the clock or on where OUT is.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path

from skillgen.errors import OutputError

RECORD_NAME = ".skillgen.json"
VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What skillgen wrote last."""

    service: str | None = None
    """The name of the service that the documents describe."""

    tools: int = 0
    """How many tools they have."""

    digests: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Path to the digests that a file of skillgen's may have: one, or two while a run was replacing it."""

    def is_own(self, path: str, content: bytes) -> bool:
        """Tells whether a file's content is what skillgen wrote."""
        return digest_of(content) in self.digests.get(path, ())

    def to_text(self) -> str:
        """Gives the record as JSON, sorted."""
        data = {
            "version": VERSION,
            "service": self.service,
            "tools": self.tools,
            "files": {path: list(self.digests[path]) for path in sorted(self.digests)},
        }
        return json.dumps(data, ensure_ascii=False, indent=2) + "\n"


def digest_of(content: bytes) -> str:
    """Gives the digest of a file's content."""
    return "sha256:" + hashlib.sha256(content).hexdigest()


def read_record(out: Path) -> Record:
    """Reads the record of an OUT; without one, nothing there is skillgen's.

    Raises:
        OutputError: the record is damaged.
    """
    path = out / RECORD_NAME
    try:
        data = json.loads(path.read_text("utf-8"))
        return Record(
            service=data["service"],
            tools=int(data["tools"]),
            digests={str(name): tuple(map(str, digests)) for name, digests in data["files"].items()},
        )
    except (FileNotFoundError, NotADirectoryError):
        return Record()
    except OSError as error:
        raise OutputError(f"cannot be read: {error.strerror}", where=str(path)) from None
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        raise OutputError(
            "is not a record that skillgen wrote",
            where=str(path),
            fix="restore it from version control, or move the documents away and run again",
        ) from None
