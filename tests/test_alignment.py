"""What differs between two texts, also where they are long and differ in much."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgen.write import line_diff
from skillgen.write.line_diff import change_diff, find_hunks

TEXTS = st.lists(st.sampled_from([*"abcdefghij", "aa", "bb", "", "z"]), max_size=40)


def rebuilt(old: list[str], new: list[str]) -> list[str]:
    """Returns the new text from the old one and the hunks."""
    found, at = [], 0
    for hunk in find_hunks(old, new):
        found += old[at : hunk.old_start] + new[hunk.new_start : hunk.new_end]
        at = hunk.old_end
    return found + old[at:]


@given(TEXTS, TEXTS)
def test_the_hunks_make_the_new_text_from_the_old_one(old: list[str], new: list[str]) -> None:
    assert rebuilt(old, new) == new
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(line_diff, "MAX_EDIT_DISTANCE", 2)
        assert rebuilt(old, new) == new


def test_equal_lines_of_a_long_text_are_kept_between_changed_ones() -> None:
    """Issue 6: a person's words in the 877,633 lines of the largest llms-full.txt are treated as in a short text."""
    old = [f"line {number}" for number in range(60_000)]
    new = [f"{line}, changed" if number % 3 == 0 else line for number, line in enumerate(old)]
    hunks = find_hunks(old, new)
    assert len(hunks) == 20_000
    assert all(hunk.old_end - hunk.old_start == hunk.new_end - hunk.new_start == 1 for hunk in hunks)


def test_a_change_in_a_long_file_is_shown_as_in_a_short_one() -> None:
    old = "".join(f"line {number}\n" for number in range(50_000)).encode()
    diff = change_diff("llms-full.txt", old, old.replace(b"line 30000\n", b"mine\n"))
    head, around, change = (
        ["--- a/llms-full.txt", "+++ b/llms-full.txt", "@@ -29998,7 +29998,7 @@"],
        [f" line {number}" for number in (29997, 29998, 29999, 30001, 30002, 30003)],
        ["-line 30000", "+mine"],
    )
    assert diff.split("\n") == [*head, *around[:3], *change, *around[3:], ""]
