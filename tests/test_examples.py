"""The examples are the documentation: what is in `expected/` is what the command writes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from make_golden import EXAMPLES, ROOT, example_command


def texts(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text("utf-8") for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("folder", EXAMPLES)
def test_the_expected_documents_are_what_the_command_writes(folder: str, tmp_path: Path) -> None:
    """X-51: the same input produces the same bytes, here on another run, in another folder."""
    out = tmp_path / "documents"
    subprocess.run(example_command(folder, out), cwd=ROOT, check=True, capture_output=True)
    assert texts(out) == texts(ROOT / folder)


@pytest.mark.parametrize("folder", EXAMPLES)
def test_check_finds_no_drift_in_the_expected_documents(folder: str) -> None:
    command = [*example_command(folder, ROOT / folder)[:4], "--check", *example_command(folder, ROOT / folder)[4:]]
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (finished.returncode, finished.stdout) == (0, "")
