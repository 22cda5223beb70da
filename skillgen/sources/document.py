"""Loads a JSON or YAML document from a file, a URL or standard input. What it means is for others to say."""

from __future__ import annotations

import codecs
import json
import sys
from dataclasses import dataclass
from pathlib import Path

from skillgen.errors import ProblemLog, SourceError
from skillgen.model.value import Json
from skillgen.sources.addresses import public_url
from skillgen.sources.json_text import json_from_text
from skillgen.sources.network import Network, hosts_of
from skillgen.sources.yaml_core import YamlError, parse_yaml

SIZE_LIMIT_BYTES = 256 * 1024 * 1024
"""The largest document that is read."""

_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


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


def load_document(source: str, problems: ProblemLog, *, timeout_s: float = 30.0) -> Document:
    """Loads a document.

    Raises:
        SourceError: it cannot be reached, or is neither JSON nor YAML.
    """
    url = None
    if source == "-":
        name, content = "standard input", sys.stdin.buffer.read(SIZE_LIMIT_BYTES + 1)
    elif source.startswith(("http://", "https://")):
        name = url = public_url(source)
        content = _fetch(source, timeout_s)
    else:
        name, content = source, _read_file(Path(source))
    if len(content) > SIZE_LIMIT_BYTES:
        raise SourceError(f"larger than {SIZE_LIMIT_BYTES // 2**20} MiB", where=name)
    if not content.strip():
        raise SourceError("is empty", where=name, fix="give a JSON or YAML document")
    return Document(data=_parse(_decode(content, name), name, problems), size_bytes=len(content), name=name, url=url)


def _read_file(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(SIZE_LIMIT_BYTES + 1)
    except FileNotFoundError:
        raise SourceError("no such file", where=str(path), fix="give a file, a URL or - for standard input") from None
    except OSError as error:
        raise SourceError(f"cannot be read: {error.strerror}", where=str(path)) from None


def _fetch(url: str, timeout_s: float) -> bytes:
    network = Network(named=hosts_of([url]), timeout_s=timeout_s, size_limit_bytes=SIZE_LIMIT_BYTES)
    return network.fetch(url, accept="application/yaml, application/json, */*;q=0.5").content


def _decode(content: bytes, name: str) -> str:
    encoding = next((encoding for bom, encoding in _BOMS if content.startswith(bom)), "utf-8")
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise SourceError(f"is not text: byte {error.start} is not valid {encoding}", where=name) from None


def _parse(text: str, name: str, problems: ProblemLog) -> Json:
    """Reads JSON where the text looks like it, else YAML, of which JSON is nearly a subset."""
    json_message = None
    if text.lstrip()[0] in "{[":
        try:
            return json_from_text(text, problems)
        except json.JSONDecodeError as error:
            json_message = f"is not JSON: line {error.lineno}, column {error.colno}: {error.msg}"
        except RecursionError:
            raise SourceError("is nested too deeply to be read", where=name) from None
    try:
        return parse_yaml(text, problems)
    except YamlError as error:
        raise SourceError(
            json_message or f"is not YAML: {error}", where=name, fix="correct it there and run again"
        ) from None
