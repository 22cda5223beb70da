"""File, URL, stdin -> data.

Loads a JSON or YAML document from a file, a URL or standard input. What it means is for others to say.

Reads and writes snapshots: services as JSON, what `inspect` prints and `--snapshot` takes.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path

from skillgen.errors import ProblemLog, SourceError
from skillgen.model.codec import DecodeError, from_json, to_json
from skillgen.model.service import Service
from skillgen.model.values import Json
from skillgen.security.secrets import report_echoed_secrets
from skillgen.sources.http import Fetched, FetchOptions, fetch
from skillgen.sources.json_access import SOURCE_LIMIT_BYTES
from skillgen.sources.json_text import json_from_text
from skillgen.text.markdown import json_text

_PACKED = ((b"\x1f\x8b", "gzip"), (b"PK\x03\x04", "zip"), (b"BZh", "bzip2"), (b"\xfd7zXZ\0", "xz"))
_COMMENT = re.compile(r"[\s{\[]*(?://|/\*)")
_OUTWARD = re.compile(r"""\$(?:ref["']?\s*:\s*(?:["']\s*)?[^#"'\s]|id\b|anchor\b|dynamicAnchor\b|self\b)""")
_MAPPING = re.compile(r"""mapping["']?\s*:""")
_INWARD = re.compile(r"""\s*\{\s*(?:"[^"\\{}]*"\s*:\s*"(?:#[^"\\]*|[\w-]+)"\s*(?:,\s*)?)*\}""")
"""A discriminator's mapping in JSON whose values are names of components or places of the same document."""
_JSON_START = re.compile(r"""\{\s*(?:"|\})|\[\s*(?:[\[\]{"0-9-]|true|false|null)""")
"""How JSON begins. A flow mapping of YAML may begin so too, but then its keys are all quoted, or it is not read."""


@dataclass(slots=True)
class FilesRead:
    """What a source was read from, as far as it is files."""

    digests: dict[str, str] = field(default_factory=dict)
    """Absolute path to the digest of what was read there."""

    is_complete: bool = True
    """False where the source depends on something else too: an address, standard input, or a file that is missing."""


_FILES_READ: ContextVar[FilesRead | None] = ContextVar("files_read", default=None)


@contextmanager
def track_files_read() -> Iterator[FilesRead]:
    """Collects the files that documents are loaded from, in this thread."""
    found = FilesRead()
    token = _FILES_READ.set(found)
    try:
        yield found
    finally:
        _FILES_READ.reset(token)


def note_other_input() -> None:
    """Notes that the source depends on more than the files that are read."""
    if (found := _FILES_READ.get()) is not None:
        found.is_complete = False


def file_digest(content: bytes) -> str:
    """Returns the digest by which a file is compared with what was read of it."""
    return hashlib.sha256(content).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A document and where it came from."""

    data: Json
    """Its content."""

    size_bytes: int
    """The size of its text."""

    name: str
    """For messages: the file, the URL without credentials and query, or `standard input`."""

    url: str | None = None
    """Where it was fetched, for relative addresses in it."""

    folder: Path | None = None
    """The folder of the file, for the files that it names."""

    refers_outward: bool = False
    """Whether a `$ref` or a discriminator's `mapping` in it may name another document, or a name, not a pointer."""


def is_url(source: str) -> bool:
    """Tells whether a source is fetched."""
    return source.startswith(("http://", "https://"))


def load_document(source: str, problems: ProblemLog, access: FetchOptions | None = None) -> Document:
    """Loads a document.

    Raises:
        SourceError: it cannot be reached, or is neither JSON nor YAML.
    """
    access = access or FetchOptions()
    if source == "-":
        note_other_input()
        name, content = "standard input", sys.stdin.buffer.read(SOURCE_LIMIT_BYTES + 1)
        return _document(content, name, problems, access)
    if is_url(source):
        return document_from_response(fetch(source, access), problems, access)
    return _document(_read_file(Path(source)), source, problems, access, folder=Path(source).parent)


def load_text(source: str, access: FetchOptions) -> tuple[str, str, tuple[str, ...]]:
    """Returns the name of a text for messages, the text, and where the user gave the secrets that it repeats.

    Raises:
        SourceError: it cannot be reached, or is no text.
    """
    name = source
    if source == "-" or is_url(source):
        note_other_input()
    if source == "-":
        name, content = "standard input", sys.stdin.buffer.read(SOURCE_LIMIT_BYTES + 1)
    elif is_url(source):
        fetched = fetch(source, access)
        name, content = fetched.url, fetched.content
    else:
        content = _read_file(Path(source))
    if len(content) > SOURCE_LIMIT_BYTES:
        raise SourceError(f"larger than {SOURCE_LIMIT_BYTES // 2**20} MiB", where=name)
    if not content.strip():
        raise SourceError("is empty", where=name, fix="check the file, or what writes it")
    text, repeated = access.secrets.hide_in(_decode(content, name))
    return access.secrets.hide_in_url(name), str(text), repeated


def document_from_response(fetched: Fetched, problems: ProblemLog, access: FetchOptions) -> Document:
    """Reads a document that was fetched, without the secrets that the server repeats.

    Raises:
        SourceError: it is neither JSON nor YAML.
    """
    note_other_input()
    return _document(fetched.content, fetched.url, problems, access, url=fetched.url)


def _document(
    content: bytes,
    name: str,
    problems: ProblemLog,
    access: FetchOptions,
    *,
    url: str | None = None,
    folder: Path | None = None,
) -> Document:
    found = ProblemLog()
    document = document_from(content, name, found, url=url, folder=folder)
    data, repeated = access.secrets.hide_in(document.data)
    for problem in found:
        problems.add(access.secrets.hide_in_problem(problem))
    report_echoed_secrets(problems, repeated)
    return replace(document, data=data)


def document_from(
    content: bytes, name: str, problems: ProblemLog, *, url: str | None = None, folder: Path | None = None
) -> Document:
    """Reads the content of a document.

    Raises:
        SourceError: it is neither JSON nor YAML.
    """
    if len(content) > SOURCE_LIMIT_BYTES:
        raise SourceError(f"larger than {SOURCE_LIMIT_BYTES // 2**20} MiB", where=name)
    if not content.strip():
        raise SourceError("is empty", where=name, fix="give a JSON or YAML document")
    text = _decode(content, name)
    return Document(
        data=_parse(text, name, problems),
        size_bytes=len(content),
        name=name,
        url=url,
        folder=folder,
        refers_outward=_may_refer_outward(text),
    )


def _may_refer_outward(text: str) -> bool:
    """True unless the references of a document surely lead to itself, where following them changes nothing."""
    if _OUTWARD.search(text):
        return True
    return any(_INWARD.match(text, found.end()) is None for found in _MAPPING.finditer(text))


def _read_file(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(SOURCE_LIMIT_BYTES + 1)
    except FileNotFoundError:
        raise SourceError("no such file", where=str(path), fix="give a file, a URL or - for standard input") from None
    except OSError as error:
        fix = "name a file in it" if path.is_dir() else "check its permissions"
        raise SourceError(f"cannot be read: {error.strerror}", where=str(path), fix=fix) from None
    except ValueError:  # a null character in the name
        raise SourceError(
            "is no name of a file", where=str(path), fix="give a file, a URL or - for standard input"
        ) from None
    if (found := _FILES_READ.get()) is not None:
        found.digests[str(path.absolute())] = file_digest(content)
    return content


def _decode(content: bytes, name: str) -> str:
    for start, packed in _PACKED:
        if content.startswith(start):
            raise SourceError(f"is packed ({packed})", where=name, fix="unpack it, and give the document in it")
    encoding = json.detect_encoding(content[:4])
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise SourceError(
            f"is not text: byte {error.start} is not valid {encoding}", where=name, fix="save it as UTF-8"
        ) from None


def _parse(text: str, name: str, problems: ProblemLog) -> Json:
    """Reads JSON where the text begins like it, else YAML.

    Broken JSON is never read as YAML, where a missing value is null and a missing quote may pass.
    """
    if _JSON_START.match(text.lstrip()):
        try:
            return json_from_text(text, problems)
        except json.JSONDecodeError as error:
            message = f"is not JSON: line {error.lineno}, column {error.colno}: {error.msg}"
            raise SourceError(message, where=name, fix="correct it there and run again") from None
        except RecursionError:
            raise SourceError("is nested too deeply to be read", where=name) from None
    if _COMMENT.match(text):
        raise SourceError("holds // or /* comments, which neither JSON nor YAML has", where=name, fix="remove them")
    if text.lstrip().startswith("<"):
        raise SourceError("is a page or XML, neither JSON nor YAML", where=name, fix="give the document's own address")
    from skillgen.sources.yaml_core import YamlError, parse_yaml

    try:
        return parse_yaml(text, problems)
    except YamlError as error:
        raise SourceError(f"is not YAML: {error}", where=name, fix="correct it there and run again") from None


VERSION = 1


def is_snapshot(data: Json) -> bool:
    """Tells whether a document is meant as a snapshot."""
    return isinstance(data, dict) and "snapshot" in data and "services" in data


def snapshot_text(services: Iterable[Service]) -> str:
    """Gives services as one JSON document."""
    return json_text({"snapshot": VERSION, "services": [to_json(service) for service in services]}, indent=2) + "\n"


def services_from_snapshot(data: Json, name: str) -> tuple[Service, ...]:
    """Reads the services of a snapshot.

    Raises:
        SourceError: it is no snapshot, or one of another version.
    """
    if not is_snapshot(data):
        raise SourceError("is not a snapshot", where=name, fix="give what `skillgen inspect` printed")
    if data["snapshot"] != VERSION or not isinstance(data["services"], list):
        raise SourceError(
            f"is a snapshot of version {str(data['snapshot'])[:20]}; this skillgen reads version {VERSION}",
            where=name,
            fix="capture it again with `skillgen inspect`",
        )
    try:
        return tuple(from_json(Service, item, f"/services/{index}") for index, item in enumerate(data["services"]))
    except DecodeError as error:
        raise SourceError(
            f"is not a snapshot that can be read: {error}", where=name, fix="capture it again with `skillgen inspect`"
        ) from None
