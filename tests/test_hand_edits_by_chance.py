"""Whatever a person does to generated files, no line of theirs is lost without exit 4 (issue 6)."""

from __future__ import annotations

import tempfile
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from cli import files_of
from descriptions import grouped
from hypothesis import given
from hypothesis import strategies as st

from skillgen import EditedError, Service, generate, read, render_documents

pytestmark = pytest.mark.slow

SOURCES = {
    "before": grouped(tasks=["list_tasks", "get_task", "old_task"], users=["list_users", "get_user"]),
    "after": grouped(tasks=["get_task", "list_tasks", "make_task"], teams=["list_teams", "get_user"]),
}


@cache
def service(name: str) -> Service:
    return read(SOURCES[name])


Edit = tuple[str, str, float, list[str]]
"""A file, what is done, where from 0 to 1, and the words."""


LINES = st.sampled_from(
    ["MINE {}", "- MINE {}", "## MINE {}", "mine-{}: yes", "# MINE {}", "  mine-{}: 1", "<!-- MINE {} -->", "MINE {}\r"]
) | st.sampled_from(["", "```", "---", "<!-- yours -->", "<!-- /yours -->", "# yours", "## get_task", "name: x", "}"])
"""What a person may write; most lines can be distinguished from all others."""

EDITS = st.lists(
    st.tuples(
        st.deferred(lambda: st.sampled_from(sorted(render_documents(service("before"))))),
        st.sampled_from(["insert", "insert", "insert", "change", "delete"]),
        st.floats(0, 1),
        st.lists(LINES, min_size=1, max_size=4),
    ),
    min_size=1,
    max_size=4,
)


def edited(out: Path, edits: list[Edit]) -> Counter[str]:
    """Edits files, and returns the lines that a person wrote and that can be distinguished from all others."""
    number, mine = 0, Counter[str]()
    for path, kind, place, words in edits:
        lines = (out / path).read_text("utf-8").split("\n")[:-1]
        at = int(place * len(lines))
        numbered = []
        for line in words:
            number += 1
            numbered.append(line.replace("{}", str(number)))
        lines[at : at + (kind != "insert")] = [] if kind == "delete" else numbered
        (out / path).write_bytes("".join(f"{line}\n" for line in lines).encode())
    for path in {path for path, *_ in edits}:
        lines = (out / path).read_text("utf-8").splitlines()
        mine.update(line for line in lines if "MINE" in line or "mine-" in line)
    return mine


def mine_in(out: Path) -> Counter[str]:
    text = "\n".join(content.decode() for path, content in files_of(out).items() if path != ".skillgen.json")
    return Counter(line for line in text.splitlines() if "MINE" in line or "mine-" in line)


def build(out: Path, name: str) -> bool:
    """Writes the documents of a source; returns whether nothing prevented it."""
    try:
        generate(service(name), out=out)
    except EditedError:
        return False
    return True


@given(edits=EDITS, after=st.sampled_from(["before", "after"]))
def test_no_line_that_a_person_wrote_is_lost_without_exit_4(
    edits: list[tuple[str, str, float, list[str]]], after: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        assert build(out, "before")
        mine = edited(out, edits)
        before = files_of(out)
        if not build(out, after):
            assert files_of(out) == before
            return
        assert mine_in(out) == mine
        written = files_of(out)
        assert build(out, after)
        assert files_of(out) == written, "a second run changes nothing"
        build(out, "before")
        assert mine_in(out) == mine, "nothing is lost on the way back"
