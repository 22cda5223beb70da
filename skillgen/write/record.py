""".skillgen.json and line digests.

Files as lines, and the lines of a file as digests, which is how the record remembers what skillgen wrote.

Line ends are not content: a checkout with other ones (git's `autocrlf`), a byte order mark or a missing last line feed
is no edit.

The record of what skillgen wrote to an OUT: `.skillgen.json`.

It holds the digests of the lines of each file, so that a person's lines can be told from skillgen's own, and the facts
of each tool that matter to callers, so that a change can be told in words and an empty crawl can't replace documents
that have tools. Nothing in it depends on the clock or on where OUT is.
"""

from __future__ import annotations

import binascii
import codecs
import functools
import hashlib
import json
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skillgen.errors import OutputError
from skillgen.write.files import folder_at

_BLANK = "."
_IN_NAMES = bytes.maketrans(b"+/", b"-_")
_DIGEST = re.compile(r"\.|[A-Za-z0-9_-]{6}")


def lines_of(content: bytes) -> list[str]:
    """Gives the lines of a file without their ends; bytes that are not UTF-8 survive the way back."""
    return [line.decode("utf-8", "surrogateescape") for line in _raw_lines(content)]


def content_of(lines: Iterable[str]) -> bytes:
    """Gives a file of these lines."""
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")


def state_of(content: bytes) -> str:
    """Gives a file as the record remembers it: the digests of its lines, as one text."""
    return packed(map(_digest, _raw_lines(content)))


def line_digest(line: str) -> str:
    """Gives 36 bits of a line's digest as text; a blank line is `.`, for half the lines of a document are blank."""
    return _digest(line.encode("utf-8", "surrogateescape"))


def digests_of(lines: Iterable[str]) -> tuple[str, ...]:
    """Gives the digest of each line."""
    return tuple(map(line_digest, lines))


def packed(digests: Iterable[str]) -> str:
    """Gives digests as one text."""
    return "".join(digests)


def unpacked(text: str) -> tuple[str, ...]:
    """Gives the digests of a text that `packed` gave.

    Raises:
        ValueError: it gave no such text.
    """
    found = tuple(_DIGEST.findall(text))
    if sum(map(len, found)) != len(text):
        raise ValueError("not the digests of lines")
    return found


def _raw_lines(content: bytes) -> list[bytes]:
    lines = content.removeprefix(codecs.BOM_UTF8).replace(b"\r\n", b"\n").split(b"\n")
    if not lines[-1]:
        lines.pop()
    return lines


@functools.lru_cache(maxsize=1 << 17)
def _digest(line: bytes) -> str:
    if not line:
        return _BLANK
    digest = hashlib.blake2b(line, digest_size=5).digest()
    return binascii.b2a_base64(digest).translate(_IN_NAMES)[:6].decode("ascii")


RECORD_NAME = ".skillgen.json"
VERSION = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What skillgen wrote last."""

    service: str | None = None
    """The name of the service that the documents describe."""

    owner: str | None = None
    """The path from OUT to what it belongs to: a project's file, the folder of all services of a run, or the documents
    of which an installed skill is a copy."""

    tools: Mapping[str, Any] = field(default_factory=dict)
    """The tools that they have: name to the facts of each, as JSON."""

    types: Mapping[str, Any] = field(default_factory=dict)
    """The named types that the tools refer to: name to the facts of each, as JSON."""

    offers: Mapping[str, int] = field(default_factory=dict)
    """How much of each other kind they have, by the method that lists it."""

    states: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Path to the texts that skillgen may have written there, as packed digests of lines: one, or two while a run was
    replacing it."""

    regions: dict[str, int] = field(default_factory=dict)
    """Path to how many marked regions stood there in place of generated text."""

    def is_own(self, path: str, content: bytes) -> bool:
        """Tells whether a file's content is what skillgen wrote, but for line ends."""
        return state_of(content) in self.states.get(path, ())

    def to_text(self) -> str:
        """Gives the record as JSON, sorted, with a line for each tool and each file."""
        parts = [f'"version": {VERSION}', f'"service": {_json(self.service)}']
        if self.owner is not None:
            parts.append(f'"owner": {_json(self.owner)}')
        parts.append(f'"tools": {_lines(self.tools)}')
        if self.types:
            parts.append(f'"types": {_lines(self.types)}')
        if self.offers:
            parts.append(f'"offers": {_json(dict(self.offers))}')
        if self.regions:
            parts.append(f'"yours": {_lines(dict(sorted(self.regions.items())))}')
        parts.append(f'"files": {_lines({path: list(self.states[path]) for path in sorted(self.states)})}')
        return "{\n  " + ",\n  ".join(parts) + "\n}\n"


def read_record(out: Path) -> Record:
    """Reads the record of an OUT; without one, nothing there is skillgen's.

    Raises:
        OutputError: the record is damaged.
    """
    path, text = out / RECORD_NAME, b""
    try:
        with folder_at(out, "") as folder:
            found = None if folder is None else folder.read(RECORD_NAME)
        if found is None:
            return Record()
        text = found
        data = json.loads(text.decode("utf-8"))
        if data["version"] != VERSION:
            raise OutputError(
                f"is a record of version {str(data['version'])[:20]}; this skillgen reads version {VERSION}",
                where=str(path),
                fix="move the documents away and run again",
            )
        return Record(
            service=data["service"],
            owner=data.get("owner"),
            tools=dict(data["tools"]),
            types=dict(data.get("types", {})),
            offers={str(method): int(count) for method, count in data.get("offers", {}).items()},
            states={_path(name): tuple(map(_state, states)) for name, states in data["files"].items()},
            regions={_path(name): int(number) for name, number in data.get("yours", {}).items()},
        )
    except NotADirectoryError:
        return Record()
    except OSError as error:
        raise OutputError(f"cannot be read: {error.strerror}", where=str(path)) from None
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        is_conflict = b"\n<<<<<<< " in b"\n" + text
        raise OutputError(
            "holds a merge that is not resolved" if is_conflict else "is not a record that skillgen wrote",
            where=str(path),
            fix=f"take one side complete (git checkout --ours {shlex.quote(path.as_posix())}) and run again"
            if is_conflict
            else "restore it from version control, or move the documents away and run again",
        ) from None


def _path(name: str) -> str:
    if "\0" in name:
        raise ValueError("no file has such a name")
    name.encode("utf-8")  # which half of a surrogate pair does not survive
    return name


def _state(text: str) -> str:
    unpacked(text)
    return text


def _lines(items: Mapping[str, Any]) -> str:
    if not items:
        return "{}"
    return "{\n    " + ",\n    ".join(f"{_json(key)}: {_json(item)}" for key, item in items.items()) + "\n  }"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
