"""The examples are the documentation: what is in `expected/` is what the command writes."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli import files_of, generated, run_skillgen
from make_golden import EXAMPLES, ROOT, example_command


def options_of(folder: str, out: Path) -> list[str]:
    """Returns what follows `python -m skillgen` in the command that writes an example."""
    command = example_command(folder, out)
    return command[command.index("skillgen") + 1 :]


@pytest.mark.parametrize("folder", EXAMPLES)
def test_the_expected_documents_are_what_the_command_writes(folder: str, tmp_path: Path) -> None:
    """X-51: the same input produces the same bytes, here on another run, in another folder."""
    out = tmp_path / "documents"
    generated(*options_of(folder, out), cwd=ROOT)
    assert files_of(out) == files_of(ROOT / folder)


@pytest.mark.parametrize("folder", EXAMPLES)
def test_check_finds_no_drift_in_the_expected_documents(folder: str) -> None:
    command, *options = options_of(folder, ROOT / folder)
    finished = run_skillgen(command, "--check", *options, cwd=ROOT)
    assert (finished.exit_code, finished.stdout) == (0, "")
