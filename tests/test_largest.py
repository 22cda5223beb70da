"""The documents of the largest service, 22,361 operations: as they were judged, and every tool within two reads.

One run makes them for all tests here. They are read line by line, for parsing 35 MB of Markdown takes longer than all.
`make largest` runs them; `make test` shows the same of GitHub's 1,223 operations (tests/test_two_reads.py).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli import generated
from make_golden import LARGEST, ROOT, kept_of_the_largest, largest_command, largest_description

pytestmark = pytest.mark.largest

Json = Any

READ_BYTES = 16_000
"""5,000 tokens of 3.2 bytes."""

PAGE_BYTES = 32_000
"""The same of a page of tools, of which an agent reads one section."""

_LINK = re.compile(r"\]\(([^()\s#]+\.md)(?:#[^()\s]*)?\)")
_FENCE = re.compile(r"(`{3,}|~{3,})")


@pytest.fixture(scope="module")
def largest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the documents of Microsoft Graph beta."""
    out = tmp_path_factory.mktemp("largest") / "documents"
    generated(*largest_command(out)[3:])
    return out


def lines_of(text: str) -> Iterator[str]:
    """Yields the lines that stand in no block of code."""
    fence = ""
    for line in text.split("\n"):
        if fence:
            fence = "" if line == fence else fence
        elif mark := _FENCE.match(line):
            fence = mark[1]
        else:
            yield line


def headings_of(text: str) -> list[str]:
    """Returns the headings of sections as they read."""
    return [re.sub(r"\\([!-/:-@[-`{-~])", r"\1", line[3:]) for line in lines_of(text) if line.startswith("## ")]


def links_of(path: Path) -> Iterator[Path]:
    for line in lines_of(path.read_text("utf-8")):
        yield from (path.parent / url for url in _LINK.findall(line))


def operations_of(raw: Json) -> list[Json]:
    methods = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
    return [item[method] for item in raw["paths"].values() for method in methods if method in item]


def test_the_first_level_is_as_it_was_judged_and_no_other_file_changed(largest: Path) -> None:
    """Issue 5, X-51: renewed by `make golden`, and read."""
    for name, text in kept_of_the_largest(largest).items():
        assert text.split("\n") == (ROOT / LARGEST / name).read_text("utf-8").split("\n"), name


def test_from_skill_md_any_of_its_tools_is_two_reads_away(largest: Path) -> None:
    """X-24, S3-15: SKILL.md, a page of the index, the page of the tool; each as long as an agent reads at a time."""
    (skill,) = (largest / "skills").iterdir()
    first = skill / "SKILL.md"
    indexes = [path for path in dict.fromkeys(links_of(first)) if path.name.startswith("index")]
    # An index page leads back to SKILL.md, too.
    pages = dict.fromkeys(page for index in indexes for page in links_of(index) if page.name != first.name)
    seen: list[str] = []
    for path in (first, *indexes, *pages):
        text = path.read_text("utf-8")
        headings = headings_of(text)
        limit = PAGE_BYTES if path in pages else READ_BYTES
        assert len(text.encode("utf-8")) <= limit or len(headings) == 1, path.name
        if path in pages:
            seen += [heading for heading in headings if heading != "Named types"]
    operations = operations_of(json.loads(largest_description().read_bytes()))
    assert len(seen) == len(set(seen)) == len(operations) == 22_361
    assert {item["operationId"] for item in operations if "operationId" in item} - set(seen) == set()
