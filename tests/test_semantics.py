"""What is understood of sixty descriptions and of recorded servers is what `tests/golden/semantics` says."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from semantics import FOLDER, kind_of, semantics_of, sources

SHOWN = 40
"""Lines of a failure that are shown."""


def test_no_fact_is_read_otherwise_than_before(node_modules: Path) -> None:
    """A change of words changes nothing here. `make semantics` renews the files; review each kind of difference."""
    kinds: Counter[str] = Counter()
    shown = []
    for name, path in sources(node_modules).items():
        old = (FOLDER / f"{name}.txt").read_text("utf-8").splitlines()
        new = semantics_of(path).splitlines()
        for sign, lines in (("-", Counter(old) - Counter(new)), ("+", Counter(new) - Counter(old))):
            kinds.update(f"{sign} {kind_of(line)}" for line in lines.elements())
            shown += [f"{name} {sign} {line[:300]}" for line in lines.elements()]
    assert not kinds, "\n".join([str(dict(kinds)), *shown[:SHOWN]])


def test_each_golden_file_is_about_a_source(node_modules: Path) -> None:
    assert {path.stem for path in FOLDER.iterdir()} == sources(node_modules).keys()
