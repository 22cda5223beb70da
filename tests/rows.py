"""Tables of inputs and what comes of them: in `tables/*.yaml`, names with rows, and a test runs for each row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml


def rows(table: str) -> list[Any]:
    """Returns the parameters of a test: each row of a table; the key `common` holds what rows refer to."""
    text = (Path(__file__).parent / "tables" / f"{table}.yaml").read_text("utf-8")
    named = {name: found for name, found in yaml.safe_load(text).items() if name != "common"}
    return [pytest.param(row, id=f"{name} {index}") for name, found in named.items() for index, row in enumerate(found)]


def inputs(module: str) -> dict[str, Any]:
    """Returns the long inputs of a test module, by name: what sources say in `inputs/*.yaml`."""
    found: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "inputs" / f"{module}.yaml").read_text("utf-8"))
    return found
