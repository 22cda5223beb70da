"""That a tool takes no parameters is written only where its schema declares it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from listed import documented, inspected
from rows import inputs

Json = Any

NO_PARAMETERS = "No parameters."
NOT_DECLARED = "What it takes is not declared."


def section_of(folder: Path, *schema: Json) -> tuple[str, str, str]:
    """Returns SKILL.md, the section of the one tool and the messages."""
    entry = {"name": "use", "description": "Uses it.", **({"inputSchema": schema[0]} if schema else {})}
    finished, out = documented(folder, "-v", "--emit", "skill,llms", tools=[entry])
    assert finished.exit_code == 0, finished.stderr
    (skill,) = out.glob("skills/*/SKILL.md")
    return skill.read_text("utf-8"), (out / "llms-full.txt").read_text("utf-8"), finished.stderr


@pytest.mark.parametrize("schema", inputs("no_parameters")["undeclared"])
def test_what_is_not_declared_is_not_called_nothing(tmp_path: Path, schema: tuple[Json, ...]) -> None:
    """S3-02: accepted, flagged, and documented as not declared."""
    skill, text, stderr = section_of(tmp_path, *schema)
    assert "`use(…)`" in skill
    assert NOT_DECLARED in text
    assert NO_PARAMETERS not in text
    assert "Example" not in text
    assert ": input-schema-" in stderr


def test_the_model_says_whether_the_input_is_declared(tmp_path: Path) -> None:
    """S3-02."""
    entries = [{"name": "a", "inputSchema": {}}, {"name": "b", "inputSchema": {"type": "object", "properties": {}}}]
    tools = inspected(tmp_path, tools=entries)["tools"]
    assert [tool.get("is_input_declared", True) for tool in tools] == [False, True]
