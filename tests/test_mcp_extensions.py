"""The official extensions: groups whose tools are in no list, and skills that a server offers itself."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from cli import Finished, run_skillgen

TESTS = Path(__file__).parent


def run(command: str, manner: str, *options: object) -> Finished:
    return run_skillgen(command, *options, "--", sys.executable, "-m", "servers.extended", manner, cwd=TESTS)


def inspected(manner: str, *options: object) -> dict[str, Any]:
    finished = run("inspect", manner, *options).ok()
    service: dict[str, Any] = json.loads(finished.stdout)["services"][0]
    return service


def documents(manner: str, out: Path, *options: object) -> Path:
    run("from-server", manner, "--out", out, *options).ok()
    return out / "skills" / "kiosk"


class TestGroups:
    def test_what_groups_alone_hold_is_documented(self) -> None:
        """S3-14: tools, prompts and resources, also of nested groups; what two groups share is written once."""
        service = inspected("grouped")

        assert [tool["name"] for tool in service["tools"]] == ["buy_paper", "list_papers", "deliver", "track"]
        assert {tool["name"]: tool.get("disclosed_by") for tool in service["tools"]} == {
            "buy_paper": None,
            "list_papers": None,
            "deliver": "delivery",
            "track": "tracking",
        }
        assert [prompt["name"] for prompt in service["prompts"]] == ["recommend", "apologise"]
        assert [resource["uri"] for resource in service["resources"]] == ["kiosk://papers", "kiosk://van"]
        assert service["sections"][0] == {"title": "Delivery", "body": "Brings papers.\n\nDeliver first, then track."}
        assert [problem["code"] for problem in service["problems"] if problem["level"] == "warning"] == ["group-failed"]

    def test_the_skill_says_how_a_host_gets_such_tools(self, tmp_path: Path) -> None:
        """S3-14: and the instructions of each group, also of one that has no tools."""
        skill = documents("grouped", tmp_path / "out")
        text = (skill / "SKILL.md").read_text("utf-8")
        about = (skill / "SKILL.md").read_text("utf-8")

        assert "2 tools are not listed by the server: a host gets them by `groups/get` with the name" in text
        assert "(`delivery`, `tracking`)" in text
        assert "Deliver first, then track." in about
        assert "Always greet." in about

    def test_groups_that_tools_name_have_the_titles_of_the_list(self) -> None:
        """S3-14: labels in `_meta` (SEP-2084), where the tools stand in the list all the same."""
        service = inspected("labelled")
        assert service["tools"][0]["group"] == "arithmetic"
        assert service["groups"] == [{"name": "arithmetic", "title": "Sums", "description": "Adds up."}]


class TestSkills:
    def test_skills_are_listed_and_their_files_left_unread(self, tmp_path: Path) -> None:
        """X-11: every page; identity is the URI, and allowed-tools go nowhere."""
        service = inspected("skilled")

        assert [(skill["uri"], skill["name"]) for skill in service["skills"]] == [
            ("skill://reading/SKILL.md", "reading"),
            ("skill://folding/SKILL.md", "folding"),
        ]
        assert "text" not in service["skills"][0]["files"][0]
        assert "skill-allowed-tools" in [problem["code"] for problem in service["problems"]]
        assert "Bash(rm" not in json.dumps(service)
        about = documents("skilled", tmp_path / "out") / "SKILL.md"
        assert "`reading` (`skill://reading/SKILL.md`): How to read a paper." in about.read_text("utf-8")
        assert "Turn the pages" not in about.read_text("utf-8")

    def test_files_are_read_on_demand_and_verified(self, tmp_path: Path) -> None:
        """X-11: `skills/get` for a skill whose files are dynamic."""
        about = documents("skilled", tmp_path / "out", "--skill-files") / "SKILL.md"
        text = about.read_text("utf-8")
        assert "Turn the pages." in text
        assert "Fold twice." in text

    @pytest.mark.parametrize(
        ("manner", "why"),
        [("skilled-wrong-digest", "its digest differs"), ("skilled-wrong-size", "instead of the declared 3")],
    )
    def test_a_file_that_is_not_what_the_skill_says_is_left_out(self, manner: str, why: str) -> None:
        """X-11."""
        service = inspected(manner, "--skill-files")
        assert "text" not in service["skills"][0]["files"][0]
        refused = [problem for problem in service["problems"] if problem["code"] == "skill-file-refused"]
        assert [why in problem["message"] for problem in refused] == [True]
