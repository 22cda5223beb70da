"""The record of what skillgen wrote to an OUT (`.skillgen.json`), and digests of lines.

It holds the digests of the lines of each file, to distinguish a person's lines from generated ones; the facts of each
tool that matter to callers, to describe changes and to refuse an empty crawl that would replace documents with tools;
and the command that wrote the documents. Nothing in it depends on the clock, and of the path of OUT only the way
from there to the folder of that command. Line ends are not content: other ones (git's `autocrlf`), a byte order mark or
a missing last line feed are not edits.
"""

from __future__ import annotations

import binascii
import codecs
import hashlib
import re
import shlex
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from difflib import Match, SequenceMatcher
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct, field
from msgspec.json import encode
from msgspec.structs import replace

from skillgen.errors import EditedError, OutputError
from skillgen.model.document import TEXTS_NAME
from skillgen.typed import decode
from skillgen.write.files import Folder

BLANK = "."
"""The digest of a blank line, since half of a document's lines are blank."""

_NOTHING = hashlib.blake2b(digest_size=5)
_URL_SAFE = bytes.maketrans(b"+/", b"-_")
_DIGEST = re.compile(r"\.|[A-Za-z0-9_-]{6}")


def lines_of(content: bytes) -> list[str]:
    """Returns the lines of a file without line ends; bytes that are not UTF-8 survive `content_of`."""
    return [line.decode("utf-8", "surrogateescape") for line in _raw_lines(content)]


def content_of(lines: Iterable[str]) -> bytes:
    """Returns the content of a file with these lines."""
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")


class LineDigests(dict[bytes, bytes]):
    """Line to 36 bits of its digest as six characters of Base64; documents share most of their lines."""

    def __missing__(self, line: bytes) -> bytes:
        digest = _NOTHING.copy()  # a new one takes longer than the digest
        digest.update(line)
        self[line] = text = binascii.b2a_base64(digest.digest())[:6] if line else BLANK.encode()
        return text


def state_of(content: bytes, known: LineDigests | None = None) -> str:
    """Returns a file in the form of the record: the digests of its lines, concatenated.

    `known` gets the digest of each line, for other files with the same lines.
    """
    return _state(_raw_lines(content), LineDigests() if known is None else known)


def _state(lines: Iterable[bytes], known: LineDigests) -> str:
    return b"".join(map(known.__getitem__, lines)).translate(_URL_SAFE).decode("ascii")


def line_digests(lines: Iterable[str]) -> tuple[str, ...]:
    """Returns the digest of each line."""
    return unpack_digests(_state((line.encode("utf-8", "surrogateescape") for line in lines), LineDigests()))


def unpack_digests(text: str) -> tuple[str, ...]:
    """Splits concatenated digests."""
    return tuple(_DIGEST.findall(text))


def _raw_lines(content: bytes) -> list[bytes]:
    content = content.removeprefix(codecs.BOM_UTF8)
    lines = (content.replace(b"\r\n", b"\n") if b"\r" in content else content).split(b"\n")
    if not lines[-1]:
        lines.pop()
    return lines


Resolve = Callable[[Sequence[str], Sequence[str], Sequence[str]], Sequence[str]]
"""Returns the lines for a merge conflict; gets those of both sides, and what git wrote."""


def resolve_conflicts(lines: Sequence[str], resolve: Resolve) -> list[str]:
    """Returns a text with its merge conflicts resolved; the lines of the common ancestor, which git may add, go."""
    resolved: list[str] = []
    parts: list[list[str]] = []
    start = size = 0
    for number, line in enumerate(lines):
        if not parts and line.startswith("<<<<<<<"):  # longer where git renamed the file on both sides
            start, size, parts = number, len(line) - len(line.lstrip("<")), [[]]
        elif len(parts) == 1 and line.startswith(f"{'|' * size} "):
            parts.append([])
        elif parts and len(parts) < 3 and line == "=" * size:
            parts += [[]] * (3 - len(parts))
        elif len(parts) == 3 and line.startswith(f"{'>' * size} "):
            resolved += resolve(parts[0], parts[2], lines[start : number + 1])
            parts = []
        else:
            (parts[-1] if parts else resolved).append(line)
    return [*resolved, *lines[start:]] if parts else resolved


RECORD_NAME = ".skillgen.json"
VERSION = 2


_Path = Annotated[str, Meta(pattern=r"\A[^\0]*\Z")]
_State = Annotated[str, Meta(pattern=r"\A(?:\.|[A-Za-z0-9_-]{6})*\Z")]


class Run(Struct, frozen=True, rename={"folder": "in"}, omit_defaults=True):
    """A command that wrote documents, without the options of that one run."""

    words: Annotated[tuple[str, ...], Meta(min_length=1)]
    """What was typed, but no secret."""

    lacks: tuple[str, ...] = ()
    """What was typed and may be secret."""

    folder: Annotated[str, Meta(pattern=r"\A[^\0]*\Z")] | None = None
    """The path from OUT to the folder in which it ran; `None` if they share only what belongs to others too."""


class Record(Struct, frozen=True, kw_only=True, rename={"states": "files"}):
    """What skillgen wrote in its last run."""

    service: str | None = None
    owner: str | None = None
    """The path from OUT to its owner: a project's file, the folder of all services of a run, or the documents of which
    an installed skill is a copy."""

    target: str | None = None
    """The target of the project's file."""

    out: str | None = None
    """The path from the project's file to OUT; `None` after a run with --out. A copy elsewhere does not move."""

    server: str | None = None
    """The server of a client's configuration, as its folder is called."""

    source: tuple[str, ...] = ()
    """What the service was read from, as in the model; empty if unknown."""

    services: Mapping[str, Any] = field(default_factory=dict)
    """Of documents above those of several services: the folder of each to what they say of it, as JSON."""

    tools: Mapping[str, Any] = field(default_factory=dict)
    """The documented tools: name to facts, as JSON."""

    types: Mapping[str, Any] = field(default_factory=dict)
    """The named types that the tools refer to: name to facts, as JSON."""

    digests: Mapping[str, str] = field(default_factory=dict)
    """Digests of what matters to callers too: of a tool by its name, of the service under the empty name."""

    offers: Mapping[str, int] = field(default_factory=dict)
    """The number of other documented items, by the method that lists them."""

    release: str | None = None
    """The release of skillgen that wrote the documents."""

    declared: str | None = None
    """A digest of what the documents are made from and that is not in `tools`, `types` and `offers`."""

    run: Run | None = None
    """The command that `skillgen update` repeats."""

    states: dict[_Path, tuple[_State, ...]] = field(default_factory=dict)
    """Path to the states that skillgen may have written: one, or two while a run was replacing the file."""

    @property
    def skills(self) -> list[str]:
        """The names of the skills, without folders that have only notes of people."""
        return skills_in(path for path, states in self.states.items() if any(states))

    def is_own(self, path: str, content: bytes, known: LineDigests | None = None) -> bool:
        """True if skillgen wrote this content, ignoring line ends; `known` as for `state_of`."""
        return path in self.states and state_of(content, known) in self.states[path]

    def edited_in(self, out: Path) -> list[str]:
        """Returns the files of OUT that a person changed, with the texts there and the files next to skills.

        Raises:
            OSError: one cannot be read.
            OutputError: one is outside OUT.
        """
        paths = dict.fromkeys((TEXTS_NAME, *self.states, *files_beside(out, self.skills)))
        files = ((path, Folder(str(out), None).read(path)) for path in paths)
        return [path for path, content in files if content is not None and not self.is_own(path, content)]

    def joined(self, other: Record) -> Record:
        """Returns the record of documents that are a merge of two branches."""
        names = ("services", "tools", "types", "digests", "offers")
        joined = {name: {**getattr(other, name), **getattr(self, name)} for name in names}
        return replace(self, states=joined_states(self.states, other.states), **joined)

    def to_json(self) -> bytes:
        """Returns the record as sorted JSON, with a line for each tool and each file."""
        parts = [b'{\n  "version": %d' % VERSION]
        for name, key in zip(self.__struct_fields__, self.__struct_encode_fields__, strict=True):
            value = getattr(self, name) if name != "states" else dict(sorted(self.states.items()))
            if value or name in ("service", "tools", "states"):
                has_lines = isinstance(value, dict) and name != "offers"
                parts += (b',\n  "%b": ' % key.encode(), *(_lines(value) if has_lines else [encode(value)]))
        return b"".join([*parts, b"\n}\n"])


def skills_in(paths: Iterable[str]) -> list[str]:
    """Returns the names of the skills with these files."""
    return [path.split("/")[1] for path in paths if path.startswith("skills/") and path.endswith("/SKILL.md")]


def files_beside(out: Path, skills: Iterable[str], known: Collection[str] = ()) -> Iterator[str]:
    """Yields the files in the folders of skills that no symbolic link leads to, but for those `known`."""
    top = out.resolve()
    for file in sorted(file for name in skills for file in (out / "skills" / name).rglob("*")):
        path = file.relative_to(out).as_posix()
        if path not in known and file.is_file() and file.resolve() == top / path and ".git" not in file.parts:
            yield path


def joined_states(*states: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Returns path to all states that skillgen may have written."""
    paths = dict.fromkeys(path for item in states for path in item)
    return {path: tuple(dict.fromkeys(state for item in states for state in item.get(path, ()))) for path in paths}


def read_record(out: Path) -> Record:
    """Reads the record of an OUT; without one, no file in OUT is skillgen's.

    Of a record that git could not merge, both sides are read: a merged file has lines of both.

    Raises:
        EditedError: the record is damaged.
        OutputError: it cannot be read, or another release wrote it.
    """
    path, content = out / RECORD_NAME, b""
    try:
        content = (Folder(str(out), None).read(RECORD_NAME) or b"").removeprefix(codecs.BOM_UTF8)
        if not content:
            return Record()
        if not has_conflicts(content):
            return _record_from(content, path)
        lines = lines_of(content)
        ours = _record_from(content_of(resolve_conflicts(lines, lambda ours, theirs, raw: ours)), path)
        theirs = _record_from(content_of(resolve_conflicts(lines, lambda ours, theirs, raw: theirs)), path)
        return ours.joined(theirs)
    except NotADirectoryError:
        return Record()
    except OSError as error:
        raise OutputError(f"cannot be read: {error.strerror}", where=str(path)) from None
    except (ValueError, RecursionError):
        what = "is not a record that skillgen wrote"
        fix = "restore it from version control, or move the documents away and run again"
        if has_conflicts(content):
            what = "has merge conflicts that cannot be resolved"
            fix = f"take all documents of one side (git checkout HEAD -- {shlex.quote(out.as_posix())}) and run again"
        raise EditedError(what, where=str(path), fix=fix, diff="") from None


def has_conflicts(content: bytes) -> bool:
    """True for a record that git could not merge."""
    return content.startswith(b"<<<<<<<") or b"\n<<<<<<<" in content


class _Version(Struct):
    version: int


def _record_from(content: bytes, path: Path) -> Record:
    is_current = content.startswith(b'{\n  "version": %d,' % VERSION)
    if not is_current and (version := decode(content, _Version).version) != VERSION:
        what = f"is a record of version {version}; this skillgen reads version {VERSION}"
        raise OutputError(what, where=str(path), fix="move the documents away and run again")
    return decode(content, Record)


def _lines(items: Mapping[str, Any]) -> list[bytes]:
    lines = b",".join([b"\n    %b: %b" % (encode(key), encode(item)) for key, item in items.items()])
    return [b"{", lines, b"\n  }"] if items else [b"{}"]


MAX_PAIRS = 10_000
"""Pairs of lines in a piece that `difflib` aligns; a larger one counts as replaced."""

_BLANK = ("", ".")
"""Blank lines, and their digest: equal ones say nothing about the lines around them."""

Opcode = tuple[str, int, int, int, int]
"""As of `SequenceMatcher.get_opcodes`: "equal" or what else became of these old lines, and the new ones."""


class _Matcher(SequenceMatcher[str]):
    """Aligns lines in a time that grows with their number, not with its square."""

    def __init__(self, old: Sequence[str], new: Sequence[str]) -> None:
        super().__init__(None, "", "")
        self._texts = old, new

    def get_matching_blocks(self) -> list[Match]:
        """Returns the lines that are equal; all old ones if the new text contains them in order."""
        blocks: list[Match] = []
        for i, j, size in _matches(*self._texts):
            if blocks and (blocks[-1].a + blocks[-1].size, blocks[-1].b + blocks[-1].size) == (i, j):
                i, j, above = blocks.pop()
                size += above
            if size:
                blocks.append(Match(i, j, size))
        return [*blocks, Match(len(self._texts[0]), len(self._texts[1]), 0)]


def opcodes(old: Sequence[str], new: Sequence[str]) -> list[Opcode]:
    """Returns how a new text differs from an old one. If it contains every old line in order, it only adds."""
    return list(_Matcher(old, new).get_opcodes())


def _matches(
    old: Sequence[str], new: Sequence[str], i: int = 0, j: int = 0, *, is_piece: bool = False
) -> Iterator[tuple[int, int, int]]:
    """Yields where equal lines start, and their number; for a piece of longer texts, with its first lines `i`, `j`."""
    start, limit = 0, min(len(old), len(new))
    while start < limit and old[start] == new[start]:
        start += 1
    end = 0
    while end < limit - start and old[-1 - end] == new[-1 - end]:
        end += 1
    yield i, j, start
    last = i + len(old) - end, j + len(new) - end, end
    i, j, old, new = i + start, j + start, old[start : len(old) - end], new[start : len(new) - end]
    pairs = _all_of(old, new)
    if pairs is None and not is_piece:
        k = m = 0
        for next_k, next_m in (*_anchors(old, new), (len(old), len(new))):
            yield from _matches(old[k:next_k], new[m:next_m], i + k, j + m, is_piece=True)
            yield i + next_k, j + next_m, int(next_k < len(old))
            k, m = next_k + 1, next_m + 1
    elif pairs is None and len(old) * len(new) <= MAX_PAIRS:
        for block in SequenceMatcher(_BLANK.__contains__, old, new, autojunk=False).get_matching_blocks():
            yield i + block.a, j + block.b, block.size
    for k, m in pairs or ():
        yield i + k, j + m, 1
    yield last


def _all_of(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]] | None:
    """Returns where all old lines are in the new text, in order; `None` if any of them is missing."""
    pairs, lines = [], enumerate(new)
    for i, line in enumerate(old):
        j = next((j for j, other in lines if other == line), None)
        if j is None:
            return None
        pairs.append((i, j))
    return pairs


def once_in_both(old: Iterable[str], new: Iterable[str]) -> set[str]:
    """Returns the lines that occur once in each text."""
    return set.intersection(*({line for line, count in Counter(text).items() if count == 1} for text in (old, new)))


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Returns the lines that occur once in each text: the longest sequence in the same order."""
    once = once_in_both(old, new)
    places = {line: j for j, line in enumerate(new) if line in once}
    ends: list[int] = []
    chains: list[Any] = []  # for each length, the last pair of a sequence, and those before it
    for i, line in enumerate(old):
        if line in once:
            length = bisect_left(ends, places[line])
            ends[length : length + 1] = [places[line]]
            chains[length : length + 1] = [(i, places[line], chains[length - 1] if length else None)]
    pairs = []
    chain = chains[-1] if chains else None
    while chain is not None:
        i, j, chain = chain
        pairs.append((i, j))
    return pairs[::-1]


def change_diff(path: str, old: bytes | None, new: bytes | None) -> str:
    """Returns the unified diff of one file, which may be created or deleted."""
    before = f"a/{path}" if old is not None else "/dev/null"
    after = f"b/{path}" if new is not None else "/dev/null"
    if is_binary(old or b"") or is_binary(new or b""):
        return f"Binary files {before} and {after} differ\n" if old != new else ""
    return unified_diff(before, after, _split(old), _split(new))


def is_binary(content: bytes) -> bool:
    """True if a file has no lines, by git's rule."""
    return b"\0" in content[:8_000]


def unified_diff(before: str, after: str, old: Sequence[str], new: Sequence[str]) -> str:
    """Returns the unified diff of lines without line ends; empty if they are equal."""
    lines = [f"--- {before}", f"+++ {after}"]
    for group in _Matcher(old, new).get_grouped_opcodes():
        lines.append(f"@@ -{_span(group[0][1], group[-1][2])} +{_span(group[0][3], group[-1][4])} @@")
        for tag, i1, i2, j1, j2 in group:
            lines += [f"{' ' if tag == 'equal' else '-'}{line}" for line in old[i1:i2]]
            lines += [f"+{line}" for line in new[j1:j2] if tag != "equal"]
    return "".join(f"{line}\n" for line in lines) if lines[2:] else ""


def _span(start: int, end: int) -> str:
    """Returns a range of lines in the notation of `patch`: one line without a count, an empty range at the line
    before."""
    if end - start == 1:
        return str(start + 1)
    return f"{start if start == end else start + 1},{end - start}"


def _split(content: bytes | None) -> list[str]:
    """Splits at line feeds only, as `patch` does, with its mark of a last line without one."""
    *lines, last = (content or b"").decode("utf-8", "replace").split("\n")
    return [*lines, f"{last}\n\\ No newline at end of file"] if last else lines
