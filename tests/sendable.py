"""Takes the example calls out of documents, and nothing else: what an agent would copy."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from documents import PARSER, shown

LANGUAGES = ("json", "sh")
LABEL = "Example:"


@dataclass(frozen=True, slots=True)
class Call:
    """The first example of a tool."""

    tool: str
    language: str
    text: str


def calls_in(text: str) -> dict[str, Call | None]:
    """Returns each section of a page of the references with its first example: the code block after that word."""
    found: dict[str, Call | None] = {}
    tool, label = "", ""
    tokens = PARSER.parse(text)
    for before, token in zip([None, *tokens], tokens, strict=False):
        if token.type == "inline" and before is not None:
            if before.type == "heading_open" and before.tag == "h2":
                tool, label = shown(token), ""
                found[tool] = None
            else:
                label = shown(token)
        elif token.type == "fence" and tool and found[tool] is None and label.startswith(LABEL):
            if token.info in LANGUAGES:
                found[tool] = Call(tool, token.info, token.content.removesuffix("\n"))
    return found


def calls_of(skill: Path, pages: str = "*.md") -> dict[str, Call]:
    """Returns the first example of every tool of a skill, by the tool's name."""
    found: dict[str, Call] = {}
    for page in sorted(skill.rglob(pages)):
        for name, call in calls_in(page.read_text("utf-8")).items():
            if call is not None:
                found[name] = call
    return found


class FakeCurl:
    """A folder for the PATH whose `curl` prints its arguments, and that notices whatever else a command does."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        program = folder / "curl"
        program.write_text("#!/bin/sh\nprintf '%s\\0' \"$@\"\n", "utf-8")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)

    def arguments(self, command: str, env: Mapping[str, str] | None = None) -> list[str]:
        """Runs a command with `sh -c` and returns what `curl` was called with."""
        workplace = self.folder / "work"
        workplace.mkdir(exist_ok=True)
        finished = subprocess.run(
            ["/bin/sh", "-c", command],
            capture_output=True,
            cwd=workplace,
            env={"PATH": f"{self.folder}{os.pathsep}/usr/bin:/bin", **(env or {})},
            check=False,
            timeout=20,
        )
        assert finished.returncode == 0, finished.stderr
        assert finished.stderr == b""
        assert list(workplace.iterdir()) == []
        return finished.stdout.decode("utf-8").split("\0")[:-1]
