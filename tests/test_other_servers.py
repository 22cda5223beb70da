"""More servers that other people wrote, each crawled once and judged by validators of other people."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import real_servers
from cli import generated
from documents import broken_links
from llms_txt import parse_llms_file  # type: ignore[import-untyped]

pytestmark = pytest.mark.slow

GIVES_INSTRUCTIONS = "awslabs.aws-documentation-mcp-server (PyPI)"


@pytest.mark.parametrize("name", real_servers.OTHERS)
def test_a_server_is_documented_whole(name: str, tmp_path: Path) -> None:
    """Issue 3, the table of servers; S0-05, X-01, X-20, X-30: every tool, and nothing that a validator minds."""
    command, env, tools = real_servers.OTHERS[name]
    given = [word for key, value in env.items() for word in ("--env", f"{key}={value}")]
    finished = generated("from-server", "--json", "--out", tmp_path / "out", *given, "--", *command)

    assert json.loads(finished.stdout)["counts"]["tools"] == tools
    (skill,) = (tmp_path / "out" / "skills").iterdir()
    judged = subprocess.run(
        [Path(sys.executable).parent / "agentskills", "validate", str(skill)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert judged.returncode == 0, judged.stdout + judged.stderr
    assert parse_llms_file((tmp_path / "out" / "llms.txt").read_text("utf-8")).sections
    assert broken_links(tmp_path / "out") == []
    if name == GIVES_INSTRUCTIONS:
        everything = "".join(path.read_text("utf-8") for path in skill.rglob("*.md"))
        assert "access public AWS documentation" in everything
    for value in env.values():
        if value.startswith("ntn_"):
            assert value not in finished.stdout + finished.stderr
