"""Formats for publishers: each file is valid by the schema of its specification, and states nothing but the source."""

from __future__ import annotations

from cli import ROOT, run_python


def test_the_page_of_formats_is_up_to_date() -> None:
    assert run_python("-m", "skillgen.model.document").stdout == (ROOT / "docs" / "formats.md").read_text("utf-8")
