"""The same documents and messages on every system: code pages, line ends, names and drives of Windows, simulated."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from cli import Finished, generated, run_python, run_skillgen

from skillgen.config.option import command_words

CODE_PAGES = {
    name: {"PYTHONUTF8": "0", "PYTHONIOENCODING": name, "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}
    for name in ("cp1252", "cp932", "utf-16")
}
FORMATS = "skill,scripts,llms,ai-help,registry,dashdash,html"
TEXT = "Lists orders for Zo\u00eb, \u65e5\u672c and \U0001f980."


def describe(folder: Path) -> Path:
    """Writes a description with a text that no code page has, and a project of it."""
    folder.mkdir(exist_ok=True)
    api = {
        "openapi": "3.1.0",
        "info": {"title": "Shop", "version": "1", "description": TEXT},
        "servers": [{"url": "https://shop.example"}],
        "paths": {"/orders": {"get": {"operationId": "listOrders", "summary": TEXT}}},
    }
    (folder / "api.json").write_text(json.dumps(api, ensure_ascii=False), "utf-8")
    (folder / "skillgen.yaml").write_text("targets:\n  shop:\n    source: {openapi: api.json}\n", "utf-8")
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def run_with_crlf(*arguments: str, cwd: Path) -> Finished:
    """Runs skillgen with streams that write line ends of Windows."""
    start = "import sys; [s.reconfigure(newline='\\r\\n', encoding='cp1252') for s in (sys.stdout, sys.stderr)]; "
    start += f"sys.argv = {['skillgen', *arguments]!r}; from skillgen.__main__ import main; main()"
    return run_python("-c", start, cwd=cwd)


@pytest.mark.parametrize("page", CODE_PAGES)
def test_documents_and_outputs_do_not_depend_on_the_code_page(page: str, tmp_path: Path) -> None:
    one, two = describe(tmp_path / "one"), describe(tmp_path / "two")
    runs = (("from-openapi", "api.json", "--emit", FORMATS), ("inspect", "api.json"), ("lint", "api.json"))
    for arguments in runs:
        plain = run_skillgen(*arguments, cwd=one)
        other = run_skillgen(*arguments, cwd=two, env=CODE_PAGES[page])
        assert (plain.exit_code, plain.stdout, plain.stderr) == (other.exit_code, other.stdout, other.stderr)
    assert contents(one) == contents(two)
    assert run_skillgen("update", "--check", cwd=two, env=CODE_PAGES[page]).exit_code == 0


def test_outputs_have_line_ends_of_unix_on_every_system(tmp_path: Path) -> None:
    """A diff with others cannot be applied, and a snapshot would have other bytes."""
    describe(tmp_path)
    for arguments in (("inspect", "api.json"), ("from-openapi", "api.json", "--check"), ("build", "--json")):
        done = run_with_crlf(*arguments, cwd=tmp_path)
        assert done.stdout.count("\n") > 0
        assert "\r" not in done.stdout
        assert "\r" not in done.stderr


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_an_answer_may_be_what_a_console_of_windows_pipes(encoding: str, tmp_path: Path) -> None:
    """PowerShell writes UTF-16, or UTF-8 that Python would read in the code page."""
    describe(tmp_path)
    answer: Any = json.dumps(
        {"description": f"{TEXT} Use when the user asks {'for an order of the shop, ' * 6}or all."}, ensure_ascii=False
    )
    arguments = ("draft", "--apply", "-", "--yes")
    generated(*arguments, stdin=answer.encode(encoding), cwd=tmp_path, env=CODE_PAGES["cp1252"])
    assert TEXT in (tmp_path / "skillgen.yaml").read_text("utf-8")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_project_file_may_be_what_a_console_of_windows_writes(encoding: str, tmp_path: Path) -> None:
    file = describe(tmp_path) / "skillgen.yaml"
    file.write_bytes(file.read_text("utf-8").replace("\n", "\r\n").encode(encoding))
    generated("build", cwd=tmp_path)
    assert run_skillgen("build", "--check", cwd=tmp_path).exit_code == 0


@pytest.mark.parametrize("other", ["docs/Shop", "DOCS/shop/inner", "Docs"])
def test_targets_do_not_share_a_folder_where_case_does_not_count(other: str, tmp_path: Path) -> None:
    targets = [
        f"  t{i}:\n    source: {{openapi: api.json}}\n    out: {o}\n" for i, o in enumerate(("docs/shop", other))
    ]
    (describe(tmp_path) / "skillgen.yaml").write_text("targets:\n" + "".join(targets), "utf-8")
    run_skillgen("build", cwd=tmp_path).ended(2, "the targets t0 and t1 write to the same folder")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (r"C:\tools\gh.exe api", (r"C:\tools\gh.exe", "api")),
        (r'"C:\Program Files\gh.exe" -n \\host\share', (r"C:\Program Files\gh.exe", "-n", r"\\host\share")),
        ("npx -y 'a b' #1 --x=y;z", ("npx", "-y", "a b", "#1", "--x=y;z")),
    ],
)
def test_a_path_of_windows_in_a_command_is_kept(
    text: str, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "name", "nt")
    assert command_words(text, "--agent") == words


def test_a_backslash_escapes_in_a_command_elsewhere() -> None:
    assert command_words(r"a\ b 'c d' #e", "--agent") == ("a b", "c d", "#e")


def test_no_file_is_opened_in_the_encoding_of_the_system(tmp_path: Path) -> None:
    describe(tmp_path)
    options = ("-X", "warn_default_encoding", "-W", "error::EncodingWarning", "-m", "skillgen")
    for arguments in (
        ("build",),
        ("from-openapi", "api.json", "--emit", FORMATS, "--out", "all"),
        ("lint", "api.json"),
    ):
        done = run_python(*options, *arguments, cwd=tmp_path)
        assert "EncodingWarning" not in done.stderr
        assert done.exit_code in (0, 1), done.stderr
