"""Documents do not name the folder in which a source was started, nor the home folder."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from cli import generated
from listed import command, tool

from skillgen.security.secrets import without_own_folders

Json = Any
FORMATS = "skill,llms,ai-help,registry,dashdash,tool-descriptions,skills-list,service-manifest,html,scripts"


def texts_of(out: Path) -> str:
    return "\n".join(path.read_text("utf-8") for path in out.rglob("*") if path.is_file())


def test_no_folder_of_this_machine_is_in_documents_of_a_server(tmp_path: Path) -> None:
    """documents.md 7: in every field, of every format; longer names that begin alike are others."""
    folder, home = tmp_path / "shelf", tmp_path / "keeper"
    for path in (folder, home):
        path.mkdir()
    text = f"Writes below {folder}/out and {home}. Not {folder}-old, PATH={folder}:{home}/bin, file://{folder}/a."
    schema = {
        "type": "object",
        "properties": {
            "to": {"type": "string", "description": text, "default": f"{folder}/out", "examples": [f"{home}/x"]},
            "in": {"type": "string", "title": text},
        },
    }
    lists: Json = {
        "server": {"instructions": text, "dashdash": {"identity": {"description": text}}},
        "tools": [
            tool("write", title=text, description=text, annotations={"title": text}, dashdash={"sideEffects": [text]})
        ],
        "resources": [{"uri": "shelf://readme.md", "name": "readme", "title": text, "description": text}],
        "prompts": [
            {"name": "ask", "title": text, "description": text, "arguments": [{"name": "a", "description": text}]}
        ],
    }
    lists["tools"][0]["inputSchema"] = schema
    lists["tools"][0]["outputSchema"] = schema
    arguments = command(tmp_path, **lists)
    env = {"HOME": str(home), "USERPROFILE": str(home), "PYTHONPATH": str(Path(__file__).parent)}
    out = tmp_path / "out"
    generated("from-server", "-o", out, "--emit", FORMATS, "--", *arguments, cwd=folder, env=env)
    written = texts_of(out)
    assert "./out" in written
    assert "~" in written
    assert f"{folder}-old" in written
    rest = written.replace(f"{folder}-old", "").replace(str(tmp_path / "said.json"), "")
    assert (str(folder) in rest, str(home) in rest) == (False, False)


def test_what_callers_send_is_exact(tmp_path: Path) -> None:
    """Names, URIs and choices of the machine's folders are not altered, and `call` takes them."""
    sent = [f"{tmp_path}/in", str(Path.home() / "in")]
    takes = {"type": "object", "properties": {"in": {"enum": sent, "default": sent[0]}, "at": {"const": sent[1]}}}
    lists: Json = {
        "tools": [{**tool("write", description=f"Writes to {sent[0]}."), "inputSchema": takes}],
        "resources": [{"uri": f"file://{path}", "name": path} for path in sent],
        "resources/templates/list": {
            "resourceTemplates": [{"uriTemplate": f"file://{path}/{{name}}", "name": path} for path in sent]
        },
    }
    arguments = command(tmp_path, **lists)
    out, env = tmp_path / "out", {"PYTHONPATH": str(Path(__file__).parent)}
    generated("from-server", "-o", out, "--", *arguments, cwd=tmp_path, env=env)
    skill = texts_of(out / "skills")
    exact = [f"`{path}`" for path in sent] + [f"`file://{path}{end}`" for path in sent for end in ("", "/{name}")]
    assert [item for item in exact if item not in skill] == []
    assert "Writes to ./in." in skill
    generated("call", "--dry-run", "write", f"in={sent[1]}", "--", *arguments, cwd=tmp_path, env=env)


def test_no_folder_of_this_machine_is_in_documents_of_a_program(tmp_path: Path) -> None:
    """documents.md 7: declared programs, and those that only print help."""
    program = """
import argparse, os
app = argparse.ArgumentParser(prog="shelf", description=f"Sort books. Reads {os.getcwd()}/books.")
app.add_argument("--to", default=os.getcwd() + "/out", help=f"Where to; {os.path.expanduser('~')}/shelf otherwise")
if __name__ == "__main__":
    app.parse_args()
"""
    home = tmp_path / "keeper"
    home.mkdir()
    (tmp_path / "shelf.py").write_text(program, encoding="utf-8")
    out = tmp_path / "out"
    env = {"HOME": str(home), "USERPROFILE": str(home)}
    generated("from-cli", "shelf:app", "--python", sys.executable, "-o", out, cwd=tmp_path, env=env)
    written = texts_of(out)
    assert "./books" in written
    assert (str(tmp_path) in written, str(home) in written) == (False, False)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"C:\Work\shop\out", r".\out"),
        (r"c:/work/shop/out", "./out"),
        (json.dumps({"a": r"C:\Work\shop"}), '{"a": "."}'),
        (r"C:\Work\shopping", r"C:\Work\shopping"),
    ],
)
def test_a_folder_of_windows_is_found_in_each_form(text: str, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "absolute", lambda path: r"C:\Work\shop")
    assert without_own_folders(text, Path(r"C:\Work\shop")) == expected
