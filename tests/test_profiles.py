"""The front matter of SKILL.md in both profiles, and the skill in the place where a host looks."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from cli import files_of, generated, run_skillgen
from descriptions import description, write
from documents import MarkdownDocument, skill_in
from listed import documented, documents, tool

Json = Any

PORTABLE = {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}
READ_ONLY = {"annotations": {"readOnlyHint": True}}


def fields_of(out: Path) -> dict[str, Json]:
    """Returns the front matter of the one skill."""
    return MarkdownDocument(skill_in(out)).fields()


def dashdash(**invocation: Json) -> dict[str, Json]:
    """Returns what a server says that declares who may start its skill."""
    return {
        "dashdash": {
            "specVersion": "0.2.0",
            "identity": {"name": "berths", "description": "Books berths. Use when the user asks to book a berth."},
            "accessLevel": "interact",
            "requires": {"env": ["HARBOUR_TOKEN"], "bins": ["sail"]},
            "invocation": invocation,
        }
    }


TOOLS = [tool("find_berths", description="Finds berths.", **READ_ONLY), tool("book_berth", description="Books one.")]


def test_the_portable_profile_has_the_six_legal_fields_only(tmp_path: Path) -> None:
    """X-20, X-23: what must be there first is its compatibility."""
    server = dashdash(modelInvocable=False, userInvocable=True, allowedTools=["find_berths"])
    out = documents(tmp_path, server=server, tools=TOOLS)
    fields = fields_of(out)
    assert fields.keys() <= PORTABLE
    assert "allowed-tools" not in fields
    assert fields["compatibility"] == "Needs environment variable HARBOUR_TOKEN; sail on the PATH."
    assert fields["description"] == "Books berths. Use when the user asks to book a berth."
    assert fields["metadata"] == {"version": "1.0.0"}


def test_the_claude_profile_says_who_may_start_the_skill(tmp_path: Path) -> None:
    """X-25."""
    server = dashdash(modelInvocable=False, userInvocable=True)
    out = documents(tmp_path, "--profile", "claude", server=server, tools=TOOLS)
    fields = fields_of(out)
    assert fields["disable-model-invocation"] is True
    assert fields["user-invocable"] is True
    assert fields["when_to_use"].startswith("Use when ")
    assert len(fields["description"]) + len(fields["when_to_use"]) <= 1_536


def test_undeclared_invocation_is_not_mentioned(tmp_path: Path) -> None:
    _, out = documented(tmp_path, "--profile", "claude", tools=TOOLS)
    assert fields_of(out).keys() == {"name", "description", "when_to_use", "metadata"}


def test_when_to_use_and_description_keep_to_their_limit_together(tmp_path: Path) -> None:
    """X-25, X-22."""
    long = {"description": "Word " * 600, "version": "1", "title": "Long"}
    source = write(tmp_path / "api.json", description(info=long))
    assert run_skillgen("from-openapi", source, "-o", tmp_path / "out", "--profile", "claude").exit_code == 0
    fields = fields_of(tmp_path / "out")
    assert 1 <= len(fields["description"]) <= 1_024
    assert len(fields["description"]) + len(fields["when_to_use"]) <= 1_536


def test_only_read_only_tools_are_allowed_and_that_is_reported(tmp_path: Path) -> None:
    """X-11, X-25: the source would have everything allowed; what it gets and what not is said."""
    server = dashdash(modelInvocable=True, allowedTools=["find_berths", "book_berth", "Bash", "Bash(rm:*)"])
    finished, out = documented(tmp_path, "--profile", "claude", server=server, tools=TOOLS)
    assert finished.exit_code == 0
    assert fields_of(out)["allowed-tools"] == ["mcp__berths__find_berths"]
    assert "allowed-tools-passed-on" in finished.stderr
    assert "book_berth, Bash, Bash(rm:*)" in finished.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--profile", "other"], "no such value: other"),
        (["--install", "claude, other"], "no such value: other"),
        (["--install", "claude", "--emit", "llms"], "no skill to install"),
        (["--user"], "has no effect without --install"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: list[str], words: str, tmp_path: Path) -> None:
    source = write(tmp_path / "api.json", description())
    run_skillgen("from-openapi", source, "-o", tmp_path / "out", *options).ended(2, words)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("host", "folder"), [("claude", ".claude/skills"), ("agents", ".agents/skills")])
def test_the_skill_is_put_where_the_host_looks(host: str, folder: str, tmp_path: Path) -> None:
    """Issue 5: in the current project, the same files as in OUT, with a record of their own."""
    source = write(tmp_path / "api.json", description())
    finished = generated("from-openapi", source, "-o", "out", "--install", host, "--json", cwd=tmp_path)
    installed = files_of(tmp_path / folder / "tasks")
    assert installed.pop(".skillgen.json")
    assert installed == files_of(tmp_path / "out" / "skills" / "tasks")
    report = json.loads(finished.stdout)
    assert {"path": f"{folder}/tasks/SKILL.md", "action": "create"} in report["files"]
    assert report["counts"]["services"] == 1
    again = run_skillgen("from-openapi", source, "-o", "out", "--install", host, "--check", cwd=tmp_path)
    assert (again.exit_code, again.stdout) == (0, "")


def test_with_user_it_is_put_below_the_home_folder(tmp_path: Path) -> None:
    source = write(tmp_path / "api.json", description())
    options = ("-o", tmp_path / "out", "--install", "claude", "--user")
    home = {"HOME": str(tmp_path / "home"), "USERPROFILE": str(tmp_path / "home")}
    assert run_skillgen("from-openapi", source, *options, env=home).exit_code == 0
    assert (tmp_path / "home" / ".claude" / "skills" / "tasks" / "SKILL.md").is_file()


@pytest.mark.parametrize("options", [["claude"], ["agents", "--user"], ["package"]])
def test_an_installed_copy_is_renewed_until_its_folder_is_deleted(options: list[str], tmp_path: Path) -> None:
    """Also by a run without `--install`, and in a home folder that is not above the documents."""
    project, home = tmp_path / "project", tmp_path / "home"
    (project / "src" / "pkg").mkdir(parents=True)
    (project / "src" / "pkg" / "__init__.py").touch()
    (project / "pyproject.toml").write_text('[project]\nname = "pkg"\n', "utf-8")
    places = {"HOME": str(home), "USERPROFILE": str(home), "TMPDIR": str(tmp_path)}
    first = ("from-openapi", write(project / "api.json", description()), "-o", "docs/tasks")
    generated(*first, "--install", *options, cwd=project, env=places)
    (copy,) = (path for path in tmp_path.rglob("skills/tasks/SKILL.md") if "docs" not in path.parts)
    assert str(tmp_path) not in (copy.parent / ".skillgen.json").read_text("utf-8")
    generated(*first, cwd=project, env=places)
    write(project / "api.json", description(info={"title": "Tasks", "version": "2", "description": "Keeps all tasks."}))
    checked = run_skillgen("update", "--check", "docs/tasks", cwd=project, env=places)
    changed = [line for line in checked.stdout.splitlines() if line.startswith("+++") and line.endswith("SKILL.md")]
    assert (checked.exit_code, len(changed)) == (1, 2), checked.stdout
    assert run_skillgen("update", "docs/tasks", cwd=project, env=places).exit_code == 0
    assert copy.read_bytes() == (project / "docs/tasks/skills/tasks/SKILL.md").read_bytes()
    shutil.rmtree(copy.parent)
    generated(*first, cwd=project, env=places)
    assert not copy.exists()


def test_edited_and_foreign_installed_skills_are_not_overwritten(tmp_path: Path) -> None:
    """Issue 5: the same rules for edits as OUT."""
    source = write(tmp_path / "api.json", description())
    other = tmp_path / ".claude" / "skills" / "mine" / "SKILL.md"
    other.parent.mkdir(parents=True)
    other.write_text("mine", encoding="utf-8")
    run = ("from-openapi", source, "-o", "out", "--install", "claude")
    assert run_skillgen(*run, cwd=tmp_path).exit_code == 0
    installed = tmp_path / ".claude" / "skills" / "tasks" / "SKILL.md"
    edited = installed.read_text("utf-8").replace("Keeps tasks.", "Keeps my tasks.")
    installed.write_text(edited, encoding="utf-8")
    write(source, description(info={"title": "Tasks", "version": "2", "description": "Keeps other tasks."}))
    run_skillgen(*run, cwd=tmp_path).ended(4)
    assert installed.read_text("utf-8") == edited
    assert other.read_text("utf-8") == "mine"


def test_check_reports_an_edit_of_one_copy_and_the_other_stays(tmp_path: Path) -> None:
    """Issue 5: both places are looked at before anything is written; words that were added stay in both."""
    source = write(tmp_path / "api.json", description())
    run = ("from-openapi", source, "-o", "out", "--install", "agents")
    assert run_skillgen(*run, cwd=tmp_path).exit_code == 0
    ours = tmp_path / "out" / "skills" / "tasks" / "SKILL.md"
    installed = tmp_path / ".agents" / "skills" / "tasks" / "SKILL.md"
    for path in (ours, installed):
        path.write_text(path.read_text("utf-8") + "\n## House Rules\n\nBe kind.\n", encoding="utf-8")
    write(source, description(info={"title": "Tasks", "version": "2", "description": "Keeps other tasks."}))
    assert run_skillgen(*run, cwd=tmp_path).exit_code == 0
    for path in (ours, installed):
        assert "Keeps other tasks." in path.read_text("utf-8")
        assert path.read_text("utf-8").endswith("Be kind.\n")
    installed.write_text(installed.read_text("utf-8").replace("other tasks", "my tasks"), encoding="utf-8")
    write(source, description(info={"title": "Tasks", "version": "3", "description": "Keeps all tasks."}))
    before = files_of(tmp_path)
    run_skillgen(*run, "--check", cwd=tmp_path).ended(1, "edited: SKILL.md")
    assert run_skillgen(*run, cwd=tmp_path).exit_code == 4
    assert files_of(tmp_path) == before


def test_where_out_is_the_hosts_folder_the_skill_is_put_there_once(tmp_path: Path) -> None:
    source = write(tmp_path / "api.json", description())
    run = ("from-openapi", source, "-o", ".claude", "--install", "claude")
    assert run_skillgen(*run, cwd=tmp_path).exit_code == 0
    assert [path.parent.name for path in tmp_path.rglob(".skillgen.json")] == [".claude"]
    assert run_skillgen(*run, "--check", cwd=tmp_path).exit_code == 0


def test_a_skills_folder_that_is_a_link_of_the_users_is_followed(tmp_path: Path) -> None:
    """Issue 5: people keep their hosts' folders in a repository of dotfiles."""
    home = tmp_path / "home"
    (tmp_path / "dotfiles" / "claude").mkdir(parents=True)
    home.mkdir()
    (home / ".claude").symlink_to(tmp_path / "dotfiles" / "claude", target_is_directory=True)
    source = write(tmp_path / "api.json", description())
    run = ("from-openapi", source, "-o", tmp_path / "out", "--install", "claude", "--user")
    places = {"HOME": str(home), "USERPROFILE": str(home)}
    assert run_skillgen(*run, env=places).exit_code == 0
    assert (tmp_path / "dotfiles" / "claude" / "skills" / "tasks" / "SKILL.md").is_file()
    assert run_skillgen(*run, "--check", env=places).exit_code == 0


def test_a_skill_of_the_users_own_with_the_same_name_is_not_overwritten(tmp_path: Path) -> None:
    own = tmp_path / ".claude" / "skills" / "tasks" / "SKILL.md"
    own.parent.mkdir(parents=True)
    own.write_text("mine", encoding="utf-8")
    source = write(tmp_path / "api.json", description())
    assert run_skillgen("from-openapi", source, "--install", "claude", cwd=tmp_path).exit_code == 4
    assert own.read_text("utf-8") == "mine"


def test_a_use_that_the_identity_declares_in_prose_is_the_declared_one(tmp_path: Path) -> None:
    """X-25, S0-33: in neither profile are uses drawn from tools, and the claude profile says each thing once."""
    server = dashdash()
    server["dashdash"]["identity"]["description"] += " Do NOT use for cars."
    out = documents(tmp_path, "--profile", "claude", server=server, tools=TOOLS)
    fields = fields_of(out)
    assert fields["description"] == "Books berths. Do NOT use for cars."
    assert fields["when_to_use"] == "Use when the user asks to book a berth."
    text = skill_in(out)
    assert (
        "- Use when the user asks to book a berth.\n\nDo NOT use it in these cases:\n\n- Do NOT use for cars.\n" in text
    )
    assert "Its tools are for" not in text
