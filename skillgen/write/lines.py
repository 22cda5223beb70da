"""Files as lines, and the lines of a file as digests, which is how the record remembers what skillgen wrote.

Line ends are not content: a checkout with other ones (git's `autocrlf`), a byte order mark or a missing last line feed
is no edit.
"""

from __future__ import annotations

import binascii
import codecs
import functools
import hashlib
import re
from collections.abc import Iterable

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
