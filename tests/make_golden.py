"""Renews every golden file by the public command line: `make golden`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
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
}
"""Folder to the command that fills it; `python` is the interpreter that runs this."""


def example_command(folder: str, out: Path) -> list[str]:
    """Gives the command line that writes an example's documents to `out`."""
    arguments = [sys.executable if word == "python" else word for word in EXAMPLES[folder]]
    return [sys.executable, "-m", "skillgen", arguments[0], "--out", str(out), *arguments[1:]]


def main() -> None:
    """Writes the examples' documents anew, then the error outputs."""
    for folder in EXAMPLES:
        shutil.rmtree(ROOT / folder, ignore_errors=True)
        subprocess.run(example_command(folder, ROOT / folder), cwd=ROOT, check=True)
    environment = {**os.environ, "SKILLGEN_WRITE_GOLDEN": "1"}
    subprocess.run([sys.executable, "-m", "pytest", "-q", "tests/test_cli.py"], cwd=ROOT, env=environment, check=True)


if __name__ == "__main__":
    main()
