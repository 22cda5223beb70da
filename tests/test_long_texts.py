"""Edits and changes of long documents: what a check shows of them, and that each of a person's words is kept.

The documents are those of a template that is nothing but text, so that a test decides on every line.
"""

from __future__ import annotations

import re
import tempfile
import tracemalloc
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import pytest
from cli import steps_of
from descriptions import description, operation
from hypothesis import given, settings
from hypothesis import strategies as st
from properties import examples

from skillgen import Result, Service, check, generate, read
from skillgen.model.values import from_json, to_json
from skillgen.security.credentials import redact
from skillgen.security.injection import find_injections
from skillgen.text.blocks import block
from skillgen.text.summary import first_sentence

SERVICE = read(description())
LINES = st.lists(st.sampled_from([*"abcdefghij", "aa", "bb", "", "z"]), max_size=40).map(
    lambda lines: ["#", *lines, "#"]
)
NAMES = ["".join(letters) for letters in product("abcdefghijklmnopqrstuvwxyz", repeat=3)]
"""17,576 names."""


PIECES = [
    *("a", "a ", "a. ", "e.g. ", "A", "1. ", "- ", "# ", "> ", "`", "```\n", "[", "](", "[a]: ", "<"),
    *("<a ", "<!--", "&", "|", "a|b\n", "\n", "  - a\n", "    a\n", "*a", "_", "$", "{{", "@a "),
    *("http://", "a@b.", "token=", "eyJhbGciOi", 'key="', "\u200b", "\ufdfa", "e\u0301", "<b>"),
    *("</b>", "<details>", "Args:\n  a: b\n", ">>> ", "[^1]", "---\n", "=\n", "a\\\n"),
]
"""What a text may be made of to be slow for its readers."""


@pytest.mark.parametrize("reader", [redact, block, first_sentence, lambda text: find_injections([text])])
def test_a_reader_of_texts_takes_steps_by_their_length(reader: Callable[[str], object]) -> None:
    """Of one piece, two in turn, or one after the other, as brackets are."""
    slow = []
    for piece, other in zip(PIECES, PIECES[7:] + PIECES[:7], strict=True):
        for form in (
            lambda count, piece=piece: (piece * count)[:count],
            lambda count, piece=piece, other=other: (piece * count)[:count] + (other * count)[:count],
            lambda count, piece=piece, other=other: ((piece + other) * count)[:count],
        ):
            short, long = (steps_of(lambda count=count, form=form: reader(form(count))) for count in (300, 600))  # type: ignore[misc]
            if long > 2.5 * short + 3_000:
                slow.append((piece, other, short, long))
    assert slow == []


class Document:
    """An llms.txt of given lines, in a folder."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "out" / "llms.txt"
        self._templates = folder / "templates"
        self._templates.mkdir()
        (self._templates / "llms-full.txt.j2").write_text("nothing", "utf-8")

    def write(self, lines: list[str]) -> list[str]:
        """Generates the document, over the one that is there, and returns its lines."""
        self._generate(lines, generate)
        return self.read()

    def read(self) -> list[str]:
        return self.file.read_text("utf-8").split("\n")[:-1]

    def edit(self, lines: list[str]) -> None:
        self.file.write_text("\n".join(lines) + "\n", "utf-8")

    def diff(self, lines: list[str]) -> list[str]:
        """Returns the lines of the diff that a check shows."""
        return self._generate(lines, check).diff.split("\n")

    def _generate(self, lines: list[str], action: Callable[..., Result]) -> Result:
        text = "\n".join(lines)
        (self._templates / "llms.txt.j2").write_text(f"{{% raw %}}{text}{{% endraw %}}", "utf-8")
        return action(SERVICE, out=self.file.parent, emit="llms", templates=self._templates)


@pytest.fixture
def document(tmp_path: Path) -> Document:
    return Document(tmp_path)


def patched(old: list[str], diff: list[str]) -> Iterator[str]:
    """Yields the lines that a unified diff makes of a text."""
    at = 0
    for line in diff:
        if hunk := re.match(r"@@ -(\d+)(,0)?", line):
            start = int(hunk[1]) - (hunk[2] is None)
            yield from old[at:start]
            at = start
        elif line[:1] in (" ", "-") and not line.startswith("--- "):
            assert old[at] == line[1:]
            at += 1
        if line[:1] in (" ", "+") and not line.startswith("+++ "):
            yield line[1:]
    yield from old[at:]


@settings(max_examples=examples(30))
@given(old=LINES, new=LINES)
def test_the_diff_makes_the_new_text_from_the_old_one(old: list[str], new: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        document = Document(Path(folder))
        document.write(old)
        assert list(patched(old, document.diff(new))) == new


def test_equal_lines_of_a_long_text_are_kept_between_changed_ones(document: Document) -> None:
    """Issue 6: a person's words in the 877,633 lines of the largest llms-full.txt are treated as in a short text."""
    old = [f"line {number}" for number in range(15_000)]
    new = [f"{line}, changed" if number % 3 == 0 else line for number, line in enumerate(old)]
    document.write(old)
    diff = document.diff(new)
    assert list(patched(old, diff)) == new
    assert sum(line.startswith("-") for line in diff) == sum(line.startswith("+") for line in diff) == 5_001


def test_a_change_in_a_long_file_is_shown_as_in_a_short_one(document: Document) -> None:
    old = [f"line {number}" for number in range(50_000)]
    document.write(old)
    diff = document.diff([line if line != "line 30000" else "mine" for line in old])
    context = [f" line {number}" for number in (29997, 29998, 29999, 30001, 30002, 30003)]
    head = ["--- a/llms.txt", "+++ b/llms.txt", "@@ -29998,7 +29998,7 @@"]
    assert diff[:11] == [*head, *context[:3], "-line 30000", "+mine", *context[3:]]


def test_a_note_keeps_its_fences_next_to_new_generated_ones(document: Document) -> None:
    """Lines that skillgen writes too are not taken for generated ones."""
    document.write(["# Tasks", "", "## a", "", "Text."])
    document.edit(["# Tasks", "", "## a", "", "Text.", "", "```", "mine", "```"])
    new = ["# Tasks", "", "## a", "", "Text.", "", "```", "code", "```", "", "## b"]
    assert document.write(new) == [*new[:9], "", "```", "mine", "```", *new[9:]]


@pytest.mark.slow
def test_hand_edits_take_time_by_their_number(document: Document) -> None:
    """X-10: with a search through all sections or lines for each edit, this takes several minutes."""
    sections = ["# Tasks", *(line for i in range(60_000) for line in ("", f"## task_{i}", "", f"Does {i}."))]
    document.write(sections)
    document.edit([line for text in sections for line in ((text, "Mine.") if text.startswith("Does") else (text,))])
    assert document.write([*sections, "", "## task_new"]).count("Mine.") == 60_000


def _memory_of_chain(count: int) -> int:
    """Returns the most bytes that reading needs if each operation shares one parameter with the next."""
    places = {f"p{n}": {"name": f"p{n}", "in": "query", "schema": {"type": "string"}} for n in range(count + 1)}
    paths = {
        f"/a{n}": {"get": {"parameters": [{"$ref": f"#/components/parameters/p{at}"} for at in (n, n + 1)]}}
        for n in range(count)
    }
    data = description(paths, components={"parameters": places})
    tracemalloc.start()
    try:
        assert len(read(data).tools) == count
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
def test_what_operations_share_takes_memory_by_their_number() -> None:
    """As in a chain, where each one shares with the next."""
    _memory_of_chain(500)  # imports, tables and caches
    assert _memory_of_chain(2_000) < 5 * _memory_of_chain(500)


@pytest.mark.slow
def test_notes_on_sections_of_one_name_take_steps_by_their_number(tmp_path: Path) -> None:
    """X-10: counted, as the home of a note is searched among all sections with its heading."""

    def sections(name: str, count: int, *notes: str) -> list[str]:
        lines = (line for i in range(count) for line in (f"## {name}_{i}", "", "### Limits", "", f"Line {i}.", *notes))
        return ["# Tasks", "", *lines]

    def steps(count: int) -> int:
        folder = tmp_path / str(count)
        folder.mkdir()
        document = Document(folder)
        document.write(sections("task", count))
        document.edit(sections("task", count, "Mine.", ""))
        done = steps_of(lambda: document.write(sections("job", count)))
        assert document.read().count("Mine.") == count
        return done

    steps(5)  # loads what is imported late
    few, more, most = map(steps, (50, 100, 200))
    assert most - more < 2.2 * (more - few)


@pytest.mark.slow
def test_regions_take_time_by_their_number(document: Document) -> None:
    """X-10."""
    lines = ["# Tasks", *(f"Line {i}" for i in range(20_000))]
    regions = [("<!-- yours -->", f"Mine {i}", "<!-- /yours -->") if i % 2 else (line,) for i, line in enumerate(lines)]
    document.write(lines)
    document.edit([line for region in regions for line in region])
    written = document.write([line + "!" * (i % 6 == 1) for i, line in enumerate(lines)])
    assert sum(line.startswith("Mine") for line in written) == 10_000


@pytest.mark.slow
def test_what_a_person_adds_to_front_matter_takes_time_by_its_length(document: Document) -> None:
    """X-10."""
    added = [line for name in NAMES for line in (f"{name}: 1", f"# {name}")]
    document.write(["---", "name: a", "---"])
    document.edit(["---", "name: a", *added, "---"])
    assert document.write(["---", "name: b", "---"]) == ["---", "name: b", *added, "---"]


def _with_responses(count: int) -> Service:
    responses = {str(200 + n): {"description": f"It is {n}."} for n in range(count)}
    return read(description({"/a": {"get": operation("find", responses=responses)}}))


def _with_resources(count: int) -> Service:
    places = [{"uri": f"a://b/{n}", "name": f"r{n}", "pointer": f"/{n}"} for n in range(2 * count)]
    listed = {"kind": "mcp", "resources": places[::2], "resource_templates": places[1::2]}
    return from_json(Service, to_json(SERVICE) | listed)[0]


@pytest.mark.slow
@pytest.mark.parametrize("service", [_with_responses, _with_resources])
def test_what_a_source_lists_is_documented_in_steps_by_its_number(
    service: Callable[[int], Service], tmp_path: Path
) -> None:
    """X-10: also in those of the templates' engine, as no item may be searched among all others."""

    def steps(count: int) -> int:
        documented = service(count)
        return steps_of(lambda: generate(documented, out=tmp_path / str(count), emit=["skill"]), within="")

    steps(5)  # loads what is imported late
    few, more, most = map(steps, (50, 100, 200))
    assert most - more < 3 * (more - few)
