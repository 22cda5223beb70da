"""Loads JSON and YAML documents from files, URLs and standard input, and reads and writes snapshots.

A snapshot is services as JSON: `inspect` prints it, `--snapshot` takes it. Other modules interpret the data.
"""

from __future__ import annotations

import codecs
import hashlib
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from skillgen.errors import CODES, Problem, ProblemLog, SourceError
from skillgen.model.service import Service
from skillgen.model.values import DecodeError, Json, child, from_json, to_json
from skillgen.security.secrets import report_echoed_secrets
from skillgen.sources.http import Fetched, FetchOptions, fetch
from skillgen.sources.json_access import SOURCE_LIMIT_BYTES, json_from_text, plain_object
from skillgen.text import lazy_re as re
from skillgen.text.markdown import json_text
from skillgen.text.words import ends_of

_COMPRESSED_STARTS = ((b"\x1f\x8b", "gzip"), (b"PK\x03\x04", "zip"), (b"BZh", "bzip2"), (b"\xfd7zXZ\0", "xz"))
_COMMENT_START = re.compile(r"[\s{\[]*(?://|/\*)")
_EXTERNAL_REF = re.compile(r"""ref["']?\s*:\s*(?:["']\s*)?(?:[^#"'\s{]|\Z)|id\b|anchor\b|dynamicAnchor\b|self\b""")
"""What follows the `$` of a reference to another document, or of an identifier."""
_EXTERNAL_MAPPING = re.compile(r"""["']?\s*:(?!\s*\{\s*(?:"[^"\\{}]*"\s*:\s*"(?:#[^"\\]*|[\w-]+)"\s*(?:,\s*)?)*\})""")
"""What follows the key of a discriminator's mapping, unless it is JSON with only component names or pointers into the
same document."""
_JSON_START = re.compile(r"""\{\s*(?:"|\})|\[\s*(?:[\[\]{"0-9-]|true|false|null)""")
"""The start of JSON. A YAML flow mapping that starts like this is read only if it is also JSON."""


_START_CHARACTERS = 4_000
CONVERT = "give an OpenAPI description of the service, or convert it to one"
_OTHER_TEXTS = tuple(
    (re.compile(pattern, re.MULTILINE), what, fix)
    for pattern, what, fix in (
        (r"\A#%RAML", "RAML", CONVERT),
        (r"\AFORMAT: 1A", "API Blueprint", CONVERT),
        (r"\A\s*<(?:\?xml[^<]*<)?(?:\w+:)?definitions\b", "WSDL", CONVERT),
        (r"\A\s*<", "HTML or XML, neither JSON nor YAML", "give the file or the URL of the document itself"),
        (r"^syntax *= *[\"']proto[23]", "Protocol Buffers", CONVERT),
        (r"\A\$version: ", "Smithy", CONVERT),
        (r"^(?:extend )?(?:type|interface|input|schema)\b[^\n:]*\{$", "GraphQL", CONVERT),
        (r"\Aversion https://git-lfs\.", "a pointer of Git LFS, not the file", "fetch the file: git lfs pull"),
        (r"^<<<<<<< ", "in the middle of a merge: it has conflict markers", "resolve the conflict"),
    )
)
"""The start of texts that are neither JSON nor YAML, or YAML of another kind: what they are, and the fix."""

RUNTIMES = {".py": "python", ".ts": "npx tsx", ".sh": "sh", ".rb": "ruby"}
RUNTIMES |= dict.fromkeys((".js", ".mjs", ".cjs"), "node")
"""Suffix of the file of a program to what runs it."""


FileState: TypeAlias = tuple[str, list[int]]
"""Digest of a file's content, and its marks: size, times and number. While the marks are the same, the content is."""


class FilesRead(Struct):
    """The files that a source was read from."""

    states: dict[str, FileState] = field(default_factory=dict)
    """Absolute path to the state of the file when it was read."""

    is_complete: bool = True
    """False if the source also depends on something else: a URL, standard input or a missing file."""


_FILES_READ: ContextVar[FilesRead | None] = ContextVar("files_read", default=None)


@contextmanager
def track_files_read() -> Iterator[FilesRead]:
    """Records the files that documents are loaded from, in this thread."""
    files = FilesRead()
    token = _FILES_READ.set(files)
    try:
        yield files
    finally:
        _FILES_READ.reset(token)


def note_other_input() -> None:
    """Records that the source depends on more than files."""
    if (files := _FILES_READ.get()) is not None:
        files.is_complete = False


def file_state(content: bytes, found: os.stat_result) -> FileState:
    """Returns the state of a file; `found` is from before its content was read."""
    return hashlib.sha256(content).hexdigest(), marks_of(found)


def marks_of(found: os.stat_result) -> list[int]:
    """Returns the marks of a file."""
    return [found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino]


class Document(Struct, frozen=True, kw_only=True):
    """A parsed document and its location."""

    data: Json
    size_bytes: int
    name: str
    """For messages: the file, the URL without credentials and query, or `standard input`."""

    url: str | None = None
    """The URL it was fetched from: the base of relative URLs."""

    media_type: str = ""
    """The media type with which it was fetched; empty if the server declared none, and for a file."""

    is_json: bool = True
    """Whether its text is JSON; of what was fetched only."""

    folder: Path | None = None
    """The folder of the file: the base of relative paths."""

    refers_outward: bool = False
    """Whether a `$ref` or a discriminator's `mapping` may name another document, or an anchor instead of a pointer."""


def is_url(source: str) -> bool:
    """True if a source is fetched over HTTP."""
    return source.startswith(("http://", "https://"))


def load_document(source: str, problems: ProblemLog, access: FetchOptions | None = None) -> Document:
    """Loads a document.

    Raises:
        SourceError: it cannot be read or fetched, or is neither JSON nor YAML.
    """
    access = access or FetchOptions()
    if is_url(source):
        return document_from_response(fetch(source, access), problems, access)
    name, content = _read(source, access)
    document = document_of(content, name, problems, access)
    return replace(document, folder=Path(source).parent if source != "-" else None)


def load_text(source: str, access: FetchOptions) -> tuple[str, str, tuple[str, ...]]:
    """Returns the name of a text for messages, the text, and the origins of the secrets that it echoes.

    Raises:
        SourceError: it cannot be read or fetched, or is not text.
    """
    name, content = _read(source, access)
    _check_size(content, name, fix="check the file, or the program that writes it")
    text, echoed_from = access.secrets.hide_in(_decode(content, name))
    return access.secrets.hide_in_url(name), str(text), echoed_from


def document_from_parsed(data: Mapping[str, Json], problems: ProblemLog, access: FetchOptions) -> Document:
    """Returns a document that the caller parsed.

    Raises:
        SourceError: it holds something that JSON does not have, or is too large.
    """
    note_other_input()
    name = "the mapping"
    try:
        content = json.dumps(data).encode("utf-8")
    except (TypeError, ValueError, RecursionError) as error:
        raise SourceError(f"is not JSON: {error}", where=name, fix="pass what a JSON parser returns") from None
    return document_of(content, name, problems, access)


def document_from_response(fetched: Fetched, problems: ProblemLog, access: FetchOptions) -> Document:
    """Parses a fetched document, with the secrets redacted that the server echoes.

    Raises:
        SourceError: it is neither JSON nor YAML.
    """
    note_other_input()
    document = document_of(fetched.content, fetched.url, problems, access)
    is_json = fetched.content.removeprefix(codecs.BOM_UTF8).lstrip()[:1] in (b"{", b"[")
    return replace(document, url=fetched.url, media_type=fetched.content_type, is_json=is_json)


def document_of(content: bytes, name: str, problems: ProblemLog, access: FetchOptions) -> Document:
    """Parses a document and redacts the user's secrets in it and in its problems."""
    _check_size(content, name, fix="give a JSON or YAML document")
    parse_problems = ProblemLog()
    if (data := plain_object(content)) is None:
        data = parse_text(_decode(content, name), name, parse_problems)
    data, echoed_from = access.secrets.hide_in(data)
    problems.add(*map(access.secrets.hide_in_problem, parse_problems))
    report_echoed_secrets(problems, echoed_from)
    encoding = json.detect_encoding(content[:4])
    # One byte for each character is searched faster than up to four, and references are ASCII.
    text = content.decode("latin-1" if encoding.startswith("utf-8") else encoding)
    return Document(data=data, size_bytes=len(content), name=name, refers_outward=_may_refer_outward(text))


def _check_size(content: bytes, name: str, *, fix: str) -> None:
    if len(content) > SOURCE_LIMIT_BYTES:
        raise SourceError(f"larger than {SOURCE_LIMIT_BYTES // 2**20} MiB", where=name)
    if not content.strip():
        raise SourceError("is empty", where=name, fix=fix)


_ESCAPED_REF = tuple(f"{mark}{code}" for mark in ("u00", "x") for code in ("24", "72", "65", "66"))
"""The characters of `$ref` in an escape of JSON or YAML."""


def _may_refer_outward(text: str) -> bool:
    """True unless every reference certainly points into the document itself, so that bundling changes nothing."""
    text = text.replace('$ref": "#', '.ref": "#')  # as nearly all are written
    return (
        any(_EXTERNAL_REF.match(text, end) for end in ends_of("$", text))
        or any(text.startswith(_ESCAPED_REF, end) for end in ends_of("\\", text))
        or ("discriminator" in text and any(_EXTERNAL_MAPPING.match(text, end) for end in ends_of("mapping", text)))
    )


def _read(source: str, access: FetchOptions) -> tuple[str, bytes]:
    """Returns the name of a source for messages, and its content."""
    if source == "-":
        note_other_input()
        return "standard input", sys.stdin.buffer.read(SOURCE_LIMIT_BYTES + 1)
    if is_url(source):
        note_other_input()
        fetched = fetch(source, access)
        return fetched.url, fetched.content
    return source, read_file(Path(source))


def text_of_file(path: Path) -> str | None:
    """Returns a file that is not a source; `None` if it is not a file, too large or not UTF-8."""
    try:
        size = path.stat().st_size if path.is_file() else SOURCE_LIMIT_BYTES + 1
        if size > SOURCE_LIMIT_BYTES:
            return None
        with path.open("rb") as file:
            # As much as its size: a file of /proc has size 0, and may have no end.
            return file.read(size).decode("utf-8-sig").replace("\r\n", "\n")
    except (OSError, ValueError):
        return None


def read_file(path: Path) -> bytes:
    """Returns the content of a file of a source.

    Raises:
        SourceError: it cannot be read.
    """
    fix = "give a file, a URL or - for standard input"
    try:
        with path.open("rb") as file:
            found, content = os.fstat(file.fileno()), file.read(SOURCE_LIMIT_BYTES + 1)
    except FileNotFoundError:
        raise SourceError("no such file", where=str(path), fix=fix) from None
    except OSError as error:
        fix = "name a file in it" if path.is_dir() else "check its permissions"
        raise SourceError(f"cannot be read: {error.strerror}", where=str(path), fix=fix) from None
    except ValueError:  # a null character in the name
        raise SourceError("is not a file name", where=str(path), fix=fix) from None
    if (files := _FILES_READ.get()) is not None:
        files.states[str(path.absolute())] = file_state(content, found)
    return content


def _decode(content: bytes, name: str) -> str:
    for start, compression in _COMPRESSED_STARTS:
        if content.startswith(start):
            what, fix = f"is compressed ({compression})", "decompress it and give the document inside"
            raise SourceError(what, where=name, fix=fix)
    encoding = json.detect_encoding(content[:4])
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        is_binary = b"\0" in content[:1000] or content.startswith(b"%PDF")
        fix = "give a JSON or YAML document" if is_binary else "save it as UTF-8"
        raise SourceError(f"is not text: byte {error.start} is not valid {encoding}", where=name, fix=fix) from None


def parse_text(text: str, name: str, problems: ProblemLog) -> Json:
    """Parses JSON if the text starts like JSON, else YAML.

    Broken JSON is never parsed as YAML, which reads a missing value as null and accepts a missing quote.

    Raises:
        SourceError: it is neither.
    """
    if _JSON_START.match(text.lstrip()):
        try:
            return json_from_text(text, problems)
        except json.JSONDecodeError as error:
            message = f"is not JSON: line {error.lineno}, column {error.colno}: {error.msg}"
            raise SourceError(message, where=name, fix="correct it there and run again") from None
        except RecursionError:
            raise SourceError("is nested too deeply to be read", where=name) from None
    if _COMMENT_START.match(text):
        what, fix = "contains // or /* comments, which neither JSON nor YAML allows", "remove them"
        raise SourceError(what, where=name, fix=fix)
    for pattern, what, fix in _OTHER_TEXTS:
        if pattern.search(text, 0, _START_CHARACTERS):
            raise SourceError(f"is {what}", where=name, fix=fix)
    if (runtime := RUNTIMES.get(Path(name).suffix)) is not None:
        fix = f"if it is an MCP server, give its command: skillgen from-server -- {runtime} {name}"
        raise SourceError("is a program", where=name, fix=fix)
    from skillgen.text.yaml_core import YamlError, parse_yaml

    try:
        return parse_yaml(text, problems)
    except YamlError as error:
        raise SourceError(f"is not YAML: {error}", where=name, fix="correct it there and run again") from None


_SNAPSHOT_VERSION = 1


def is_snapshot(data: Json) -> bool:
    """True if a document is a snapshot of any version."""
    return isinstance(data, dict) and "snapshot" in data and "services" in data


def snapshot_parts(services: Iterable[Service]) -> Iterator[str]:
    """Yields the text of a snapshot in parts: all of it at once takes several times the memory of the services."""
    yield f'{{\n  "snapshot": {_SNAPSHOT_VERSION},\n  "services": ['
    for number, service in enumerate(services):
        yield ",\n    {" if number else "\n    {"
        first = replace(service, tools=service.tools[:1], schemas=service.schemas[:1])
        for index, (name, value) in enumerate(to_json(first).items()):
            yield f'{"," if index else ""}\n      "{name}": '
            if name not in ("tools", "schemas"):
                yield _indented(value, 6)
                continue
            for place, item in enumerate(getattr(service, name)):
                yield f"{',' if place else '['}\n        {_indented(to_json(item), 8)}"
            yield "\n      ]"
        yield "\n    }"
    yield "\n  ]\n}\n"


def _indented(data: Json, columns: int) -> str:
    return json_text(data, indent=2).replace("\n", "\n" + " " * columns)


def services_from_snapshot(data: Json, name: str) -> tuple[Service, ...]:
    """Reads the services of a snapshot.

    Raises:
        SourceError: it is not a snapshot, or has another version.
    """
    if not is_snapshot(data):
        raise SourceError("is not a snapshot", where=name, fix="give what `skillgen inspect` printed")
    if data["snapshot"] != _SNAPSHOT_VERSION or not isinstance(data["services"], list):
        what = f"is a snapshot of version {str(data['snapshot'])[:20]}; this skillgen reads version {_SNAPSHOT_VERSION}"
        raise SourceError(what, where=name, fix="capture it again with `skillgen inspect`")
    try:
        return tuple(_service_from_snapshot(item, f"/services/{index}") for index, item in enumerate(data["services"]))
    except DecodeError as error:
        what, fix = f"is an invalid snapshot: {error}", "capture it again with `skillgen inspect`"
        raise SourceError(what, where=name, fix=fix) from None


def _service_from_snapshot(data: Json, pointer: str) -> Service:
    """Returns a service; what this release does not know is left out, and a problem."""
    service, unknown = from_json(Service, data, pointer)
    # Earlier releases stored the raw form of each type, which nothing reads.
    unknown = [where for where in unknown if not (where.startswith(f"{pointer}/schemas/") and where.endswith("/raw"))]
    known = {}
    for name in ("problems", "advice"):
        problems = getattr(service, name)
        known[name] = tuple(problem for problem in problems if problem.code in CODES)
        if len(known[name]) < len(problems):
            unknown.append(child(pointer, name))
    message = "this release of skillgen does not know what the snapshot has here"
    known["problems"] += tuple(Problem.of("snapshot-part-unknown", where, message) for where in unknown)
    return replace(service, **known)
