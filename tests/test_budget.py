"""The size of the house and the work of fixed runs stay within `tests/budget.toml`.

The total of code lines never rises; a package may rise by what another falls, in the same commit. A figure that falls
is written down (`make budget` prints all), so that it does not rise again. The work was counted with the versions that
`[versions]` names; newer ones of Python count comprehensions differently, and only ever fewer.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tomli
from budget import house, work

BUDGET: dict[str, Any] = tomli.loads(Path(__file__).with_name("budget.toml").read_text("utf-8"))

TOLERANCE = 1.01
"""What a release of a library may add to the work."""


def test_the_budgets_of_the_packages_add_up_to_the_total() -> None:
    assert sum(BUDGET["code"].values()) <= BUDGET["limits"]["code"]


@pytest.mark.parametrize("table", ["code", "lines", "counts"])
def test_the_house_does_not_grow(table: str) -> None:
    allowed = BUDGET[table]
    assert {name: size for name, size in house()[table].items() if size > allowed.get(name, 0)} == {}


@pytest.mark.slow
def test_the_work_of_a_run_does_not_grow() -> None:
    found = work()
    assert found.keys() == BUDGET["work"].keys()
    for name, figures in found.items():
        allowed = BUDGET["work"][name]
        assert {kind: count for kind, count in figures.items() if count > allowed[kind] * TOLERANCE} == {}, name
