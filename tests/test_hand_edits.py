"""What a person adds to a document lives on, and what they change in skillgen's own text stops the run (issue 6)."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from cli import Finished, environment, files_of, generated, run_python, run_skillgen, stamps_of
from descriptions import TWO_GROUPS, description, grouped, operation, write

SKILL = "skills/tasks/SKILL.md"
TASKS = "skills/tasks/references/tasks.md"
USERS = "skills/tasks/references/users.md"


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def run(out: Path, data: object = TWO_GROUPS, *options: str) -> Finished:
    return run_skillgen("from-openapi", write(out.parent / "api.json", data), "-o", out, *options)


def changed() -> dict[str, object]:
    """Returns the description with get_task described anew, list_tasks and the users gone, and teams added."""
    data = grouped(tasks=["get_task", "make_task"], teams=["list_teams", "get_team"])
    data["paths"]["/tasks/get_task"]["get"]["description"] = "Gets one task by its number."
    return data


# -- additions -------------------------------------------------------------------------------------------------------


def test_lines_that_a_person_adds_stay_where_they_are_through_every_run(out: Path) -> None:
    edit(out / SKILL, "## How to Call\n", "Ask the team before you plan for them.\n\n## How to Call\n")
    edit(out / TASKS, "## get_task\n", "## get_task\n\nNumbers start at 1.\n")
    edit(out / TASKS, "# tasks\n", "# tasks\n\nOur own word on tasks.\n")
    before = stamps_of(out)
    assert run(out).exit_code == 0
    assert stamps_of(out) == before, "nothing is written where nothing changed"
    assert run(out, TWO_GROUPS, "--check").exit_code == 0
    run(out, changed()).ok()
    tasks = (out / TASKS).read_text("utf-8")
    assert tasks.startswith("# tasks\n\nOur own word on tasks.\n\nOne section: ")
    assert "\n\n## get_task\n\nNumbers start at 1.\n\n" in tasks
    assert "Gets one task by its number." in tasks
    assert "Ask the team before you plan for them.\n\n## How to Call\n" in (out / SKILL).read_text("utf-8")
    assert run(out, changed(), "--check").exit_code == 0


@pytest.mark.parametrize("words", ["## House rules\n\nAsk Bob.\n", "Ask Bob first.\n"])
def test_what_is_new_in_a_list_comes_before_what_a_person_added_below_it(out: Path, words: str) -> None:
    """Below a heading of theirs a new tool, or a new group, would be taken for theirs."""
    path = out / SKILL
    edit(path, "\n## More\n", f"\n{words}\n## More\n")
    grown = grouped(tasks=["list_tasks", "get_task"], users=["list_users", "get_user", "lock_user"])
    assert run(out, grown).exit_code == 0
    assert f"— Does lock_user\n\n{words}\n## More\n" in path.read_text("utf-8")
    wider = grouped(
        tasks=["list_tasks", "get_task"], users=["list_users", "get_user"], zones=["list_zones", "get_zone"]
    )
    assert run(out, wider).exit_code == 0
    text = path.read_text("utf-8")
    if words.startswith("#"):
        assert f"— Does get_zone\n\n{words}\n## More\n" in text
    assert text.count(words) == 1
    assert run(out, wider, "--check").exit_code == 0
    assert run(out).exit_code == 0
    assert f"— Does get_user\n\n{words}\n## More\n" in path.read_text("utf-8")


def test_keys_that_a_person_adds_to_front_matter_stay(out: Path) -> None:
    edit(out / SKILL, "metadata:\n", "compatibility: Needs curl\nallowed-tools: Read Grep\nmetadata:\n  author: me\n")
    data = changed()
    data["info"] = {"title": "Tasks", "version": "2.0", "description": "Plans work.", "license": {"name": "MIT"}}
    run(out, data).ok()
    front = (out / SKILL).read_text("utf-8").split("---\n")[1]
    assert front.splitlines()[2:] == [
        "compatibility: Needs curl",
        "allowed-tools: Read Grep",
        *(["license: MIT"] if "license" in front else []),
        "metadata:",
        "  author: me",
        "  version: '2.0'",
    ]
    subprocess.run(["agentskills", "validate", str((out / SKILL).parent)], check=True, capture_output=True)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("description: ", "mine: kept\n"),
        ("description: ", "mine:\n  - kept\n"),
        ("  version: ", "  mine: kept\n"),
        ("  version: ", "mine: kept\n"),
    ],
)
def test_force_keeps_a_key_that_a_person_added_below_one_that_they_changed(out: Path, old: str, new: str) -> None:
    """`--force` replaces what was changed; additions stay."""
    text = (out / SKILL).read_text("utf-8")
    (line,) = [line for line in text.split("---\n")[1].splitlines() if line.startswith(old)]
    edit(out / SKILL, f"{line}\n", f"{old}changed\n{new}")
    assert run(out, changed()).exit_code == 4
    run(out, changed(), "--force").ok()
    front = (out / SKILL).read_text("utf-8").split("---\n")[1]
    assert new in front
    assert f"{old}changed" not in front


def test_a_key_that_skillgen_writes_too_stops_the_run(out: Path) -> None:
    edit(out / SKILL, "metadata:\n", "name: mine\nmetadata:\n")
    run(out).ended(4, "skillgen writes name too")


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("skills/tasks/scripts/call.py", "import os"),
        ("skills/tasks/scripts/tools.json", '  "command": ["sh"],'),
        ("html/site.js", "document.title = 'a'"),
        ("html/index.html", "<script></script>"),
    ],
)
def test_a_line_added_to_a_program_or_page_stops_the_run(tmp_path: Path, path: str, line: str) -> None:
    """Design, "Trust": a page or program that skillgen generates runs only code of skillgen."""
    formats = ("--emit", "skill,scripts,html")
    generated("from-openapi", write(tmp_path / "api.json", TWO_GROUPS), "-o", tmp_path / "out", *formats)
    first, _, rest = (tmp_path / "out" / path).read_text("utf-8").partition("\n")
    (tmp_path / "out" / path).write_text(f"{first}\n{line}\n{rest}", encoding="utf-8")
    assert run(tmp_path / "out", TWO_GROUPS, *formats, "--check").exit_code == 1
    run(tmp_path / "out", TWO_GROUPS, *formats).ended(4, "programs and pages of skillgen have no lines of others")


def test_a_skill_called_scripts_takes_lines_like_any_other(tmp_path: Path) -> None:
    named = ("--name", "scripts")
    generated("from-openapi", write(tmp_path / "api.json", TWO_GROUPS), "-o", tmp_path / "out", *named)
    edit(tmp_path / "out/skills/scripts/SKILL.md", "## How to Call\n", "Our words.\n\n## How to Call\n")
    assert run(tmp_path / "out", TWO_GROUPS, *named).exit_code == 0


def test_a_check_says_how_many_lines_people_added_and_what_replaces_a_mark(out: Path) -> None:
    """Who reviews a change of generated files alone sees it, at once when a mark rises."""
    text = (out / TASKS).read_text("utf-8")
    line = next(line for line in text.splitlines() if line.endswith("[read]"))
    edit(out / TASKS, f"{line}\n", region("Every tool here is safe."))
    run(out, TWO_GROUPS, "--check").ended(0, "with 3 lines that people added", "safety-replaced")
    run(out, TWO_GROUPS, "--effect", "*=destructive").ended(0, "is said on safety: ", "[destructive]")


def test_additions_to_a_checkout_with_other_line_ends_stay(out: Path) -> None:
    edit(out / TASKS, "## get_task\n", "## get_task\n\nNumbers start at 1.\n")
    (out / TASKS).write_bytes((out / TASKS).read_bytes().replace(b"\n", b"\r\n"))
    assert run(out, changed()).exit_code == 0
    assert "Numbers start at 1.\n" in (out / TASKS).read_text("utf-8")


# -- tools that are gone ---------------------------------------------------------------------------------------------


def test_a_note_on_a_tool_that_is_gone_is_kept_and_reported(out: Path) -> None:
    edit(out / TASKS, "## list_tasks\n", "## list_tasks\n\nSlow on Mondays.\n")
    finished = run(out, changed()).ok()
    tasks = (out / TASKS).read_text("utf-8")
    assert "## list_tasks" not in tasks
    assert tasks.endswith("\n\n<!-- This was under list_tasks, which is gone. -->\nSlow on Mondays.\n")
    assert f"note-without-place: {TASKS}: 'list_tasks' is gone" in finished.stderr
    again = run(out, changed())
    assert (again.exit_code, "note-without-place" in again.stderr) == (0, False)


@pytest.mark.parametrize("is_region", [False, True])
def test_a_note_goes_with_its_section_to_another_page_and_back(is_region: bool, tmp_path: Path) -> None:
    tools = {
        "description": "Makes a thing.",
        "parameters": [{"name": "q", "in": "query", "description": "Long. " * 30}],
    }

    def documents(count: int) -> str:
        paths = {f"/t/{number}": {"get": operation(f"make_{number}", **tools)} for number in range(count)}
        finished = run(tmp_path / "out", description(paths, webhooks={}), "--name", "tasks")
        assert (finished.exit_code, "note-without-place" in finished.stderr) == (0, False), finished.stderr
        texts = {path: path.read_text("utf-8") for path in (tmp_path / "out/skills").rglob("*.md")}
        [(path, text)] = [(path.name, text) for path, text in texts.items() if "Never in blue." in text] or [("", "")]
        section = next((part for part in re.split(r"^#+ ", text, flags=re.MULTILINE) if "Never in blue." in part), "")
        assert not path or section.startswith("make_1\n"), text
        return path

    note = region("Never in blue.") if is_region else "Never in blue.\n"
    documents(2)
    edit(tmp_path / "out" / SKILL, "## make_1\n", f"## make_1\n\n{note}")
    assert documents(2) == "SKILL.md"
    assert documents(40) == documents(40) != "SKILL.md"
    assert documents(2) == "SKILL.md"
    assert not (tmp_path / "out/skills/tasks/references").exists()


def test_a_note_in_a_file_that_is_gone_is_kept_in_it(out: Path) -> None:
    edit(out / USERS, "## get_user\n", "## get_user\n\nOnly for admins.\n")
    assert run(out, changed()).exit_code == 0
    kept = "<!-- This was under get_user, which is gone. -->\nOnly for admins.\n"
    assert (out / USERS).read_text("utf-8") == kept
    run(out, changed(), "--check").ended(0, f"stale-file-kept: {USERS}: ", "with 2 lines that people added")
    assert run(out).exit_code == 0
    users = (out / USERS).read_text("utf-8")
    assert "Only for admins." in users.split("## get_user\n")[1], "the section is back"
    assert "is gone" not in users


@pytest.mark.parametrize("options", [(), ("--name", "Other")], ids=["same name", "other name"])
def test_additions_come_back_with_a_format_that_left_for_a_run(out: Path, options: tuple[str, ...]) -> None:
    edit(out / SKILL, "## How to Call\n", "## How to Call\n\nAsk first.\n")
    edit(out / SKILL, "metadata:\n", "compatibility: Needs curl\nmetadata:\n  author: me\n")
    (out / SKILL).write_text(f"{(out / SKILL).read_text('utf-8')}\n## Mine\n\nA word.\n", "utf-8")
    for words in (("--emit", "llms"), options):
        run(out, TWO_GROUPS, *words).ok()
    assert [path.name for path in (out / "skills").iterdir()] == ["other" if options else "tasks"]
    front, body = next((out / "skills").glob("*/SKILL.md")).read_text("utf-8").split("---\n")[1:]
    own = {"compatibility": "Needs curl", "metadata": {"version": "1.0", "author": "me"}}
    assert own.items() <= yaml.safe_load(front).items()
    assert "Ask first." in body.split("## How to Call\n")[1].split("\n#")[0]
    assert body.count("\n## Mine\n\nA word.\n") == 1
    assert "is gone" not in body
    assert run(out, TWO_GROUPS, *options, "--check").exit_code == 0


def test_all_edits_move_with_a_skill_that_is_renamed(out: Path) -> None:
    edit(out / SKILL, "## How to Call\n", "## How to Call\n\nAsk first.\n")
    edit(out / SKILL, "metadata:\n", "compatibility: Needs curl\nmetadata:\n")
    (out / TASKS).write_text(f"{(out / TASKS).read_text('utf-8')}\n{region('## House rules')}", "utf-8")
    files = ("assets/plan.bin", "evals/evals.json", "references/mine.md")
    for name in files:
        (out / "skills/tasks" / name).parent.mkdir(exist_ok=True)
        (out / "skills/tasks" / name).write_bytes(b"\0\r\n{}")
    assert run(out, TWO_GROUPS, "--name", "Other").exit_code == 0
    for name in files:
        assert (out / "skills/other" / name).read_bytes() == b"\0\r\n{}"
    text = (out / "skills/other/SKILL.md").read_text("utf-8")
    assert "## How to Call\n\nAsk first.\n" in text
    assert "compatibility: Needs curl\nmetadata:\n" in text
    tasks = (out / "skills/other/references/tasks.md").read_text("utf-8")
    assert tasks.endswith(f"\n\n{region('## House rules')}")
    assert not (out / "skills/tasks").exists()
    assert run(out, TWO_GROUPS, "--name", "Other", "--check").exit_code == 0


def test_changed_text_stops_the_run_that_renames_a_skill(out: Path) -> None:
    edit(out / SKILL, "## How to Call", "## How I Call")
    before = files_of(out)
    run(out, TWO_GROUPS, "--name", "Other").ended(4, "\n+## How I Call\n")
    assert files_of(out) == before


# -- changes inside generated text -----------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [TWO_GROUPS, changed()], ids=["same source", "changed source"])
def test_an_edit_of_generated_text_stops_the_run_with_diff_and_fixes(out: Path, data: object) -> None:
    edit(out / TASKS, "Does get_task", "Gives it")
    edit(out / TASKS, "# tasks\n", "# tasks\n\nMy own hint.\n")
    before = files_of(out)
    finished = run(out, data).ended(4, "a person changed what skillgen wrote")
    assert files_of(out) == before
    for way in ("skillgen.yaml", "<!-- yours -->", "--force"):
        assert way in finished.stderr
    assert f"--- a/{TASKS}\n+++ b/{TASKS}\n" in finished.stderr
    assert "\n+Gives it" in finished.stderr
    assert "\n-Does get" in finished.stderr
    assert "+My own hint." not in finished.stderr, "it would survive"
    assert finished.stdout == ""


def test_an_edit_that_is_shown_does_not_steer_the_terminal(out: Path) -> None:
    """S0-25: documents come from other people's branches, too."""
    edit(out / TASKS, "Does get_task", "Gives \x1b[2J\x9b31m\rit\u202e")
    finished = run(out).ended(4, "\n+Gives  it")
    assert finished.stderr.replace("\n", "").isprintable()


def test_force_restores_generated_text_and_keeps_what_was_added(out: Path) -> None:
    before = files_of(out)
    edit(out / TASKS, "## get_task\n", "## get_task\n\nNumbers start at 1.\n")
    edit(out / TASKS, "# tasks\n", "# Our tasks\n")
    assert run(out).exit_code == 4
    assert run(out, TWO_GROUPS, "--force").exit_code == 0
    assert (out / TASKS).read_bytes().replace(b"\nNumbers start at 1.\n", b"") == before[TASKS]


def test_force_replaces_a_file_that_skillgen_did_not_make(out: Path, tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "llms.txt").write_text("# Mine\n")
    assert run(tmp_path / "new", TWO_GROUPS, "--force").exit_code == 0
    assert files_of(tmp_path / "new") == files_of(out)


def test_a_merge_of_branches_that_is_what_skillgen_would_write_is_no_edit(out: Path, tmp_path: Path) -> None:
    generated("from-openapi", write(tmp_path / "api.json", changed()), "-o", tmp_path / "fresh")
    shutil.copy(tmp_path / "fresh" / TASKS, out / TASKS)
    edit(out / TASKS, "# tasks\n", "# tasks\n\nOur own word on tasks.\n")
    assert run(out, changed()).exit_code == 0
    assert (out / TASKS).read_text("utf-8").startswith("# tasks\n\nOur own word on tasks.\n\nOne section: ")


def test_a_section_of_another_branch_is_not_written_twice(out: Path, tmp_path: Path) -> None:
    more = grouped(tasks=["list_tasks", "get_task", "make_task"], users=["list_users", "get_user"])
    generated("from-openapi", write(tmp_path / "api.json", more), "-o", tmp_path / "fresh")
    shutil.copy(tmp_path / "fresh" / TASKS, out / TASKS)
    block = "## make_task\n\n```\nOur own word.\n```\n"
    edit(out / TASKS, "## make_task\n", block)
    assert run(out, more).exit_code == 0
    edit(out / TASKS, block, "## make_task\n")
    assert files_of(out) == files_of(tmp_path / "fresh")


def test_unchanged_documents_are_adopted_without_the_record(out: Path) -> None:
    edit(out / TASKS, "# tasks\n", "# tasks\n\nOur own word on tasks.\n")
    (out / ".skillgen.json").unlink()
    assert run(out).exit_code == 0
    assert run(out, changed()).exit_code == 0
    assert "Our own word on tasks." in (out / TASKS).read_text("utf-8")


# -- marked regions --------------------------------------------------------------------------------------------------


def region(text: str) -> str:
    return f"<!-- yours -->\n{text}\n<!-- /yours -->\n"


def test_a_marked_region_is_in_place_of_generated_text_until_it_goes(out: Path) -> None:
    text = (out / TASKS).read_text("utf-8")
    start = text.index("\n", text.index("## get_task")) + 1
    (out / TASKS).write_text(text[:start] + "\n" + region("My own words on it."), encoding="utf-8")
    edited = files_of(out)
    assert run(out).exit_code == 0
    assert files_of(out)[TASKS] == edited[TASKS]
    finished = run(out, changed()).ok()
    tasks = (out / TASKS).read_text("utf-8")
    assert f"## get_task\n\n{region('My own words on it.')}" in tasks
    assert "Gets one task by its number." not in tasks
    assert "## make_task\n" in tasks
    assert "replaced-text-changed" in finished.stderr
    assert run(out, changed(), "--check").exit_code == 0
    (out / TASKS).write_text(tasks.replace(region("My own words on it."), ""), encoding="utf-8")
    assert run(out, changed()).exit_code == 4, "without its markers, text is missing"
    assert "a person changed what skillgen wrote" in run(out, changed()).stderr
    assert run(out, changed(), "--force").exit_code == 0
    assert "Gets one task by its number." in (out / TASKS).read_text("utf-8")


def test_a_region_in_front_matter_replaces_a_key(out: Path) -> None:
    front = (out / SKILL).read_text("utf-8").split("\n")
    front[2:3] = ["# yours", "description: Plans work. Use when the user plans.", "# /yours"]
    (out / SKILL).write_text("\n".join(front), encoding="utf-8")
    assert run(out).exit_code == 0
    assert run(out, changed()).exit_code == 0
    text = (out / SKILL).read_text("utf-8")
    assert text.count("\ndescription:") == 1
    assert "# yours\ndescription: Plans work. Use when the user plans.\n# /yours\nmetadata:\n" in text
    subprocess.run(["agentskills", "validate", str((out / SKILL).parent)], check=True, capture_output=True)


@pytest.mark.parametrize(
    ("marker", "missing"), [("<!-- yours -->", "<!-- /yours -->"), ("<!-- /yours -->", "<!-- yours -->")]
)
def test_half_a_region_stops_the_run_and_says_what_to_restore(out: Path, marker: str, missing: str) -> None:
    edit(out / TASKS, "# tasks\n", f"# tasks\n\n{marker}\n")
    before = files_of(out)
    run(out, changed()).ended(4, f"{TASKS}, line 3: ", f"restore {missing}")
    assert files_of(out) == before


def test_a_source_can_open_no_region(tmp_path: Path) -> None:
    words = "```\n<!-- yours -->\nText.\n```"
    data = description({"/a": {"get": operation("get_a", description=words)}})
    out = tmp_path / "out"
    assert run(out, data).exit_code == 0
    data["paths"]["/a"]["get"]["description"] = "Other words."
    assert run(out, data).exit_code == 0
    assert not any(b"yours" in content for content in files_of(out).values())


# -- two runs at once ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_two_runs_at_once_on_one_out_do_not_mix(out: Path, tmp_path: Path) -> None:
    expected = []
    commands = []
    for name, data in (("one", TWO_GROUPS), ("two", changed())):
        source = write(tmp_path / f"{name}.json", data)
        generated("from-openapi", source, "-o", tmp_path / name)
        expected.append(files_of(tmp_path / name))
        commands.append(
            [sys.executable, "-m", "skillgen", "from-openapi", str(source), "-o", str(out), "--replace", "-q"]
        )
    for _ in range(3):
        running = [subprocess.Popen(command, env=environment()) for command in commands]
        assert [process.wait(timeout=60) for process in running] == [0, 0]
        assert files_of(out) in expected


@pytest.mark.parametrize("size", [7, 8])
def test_a_merge_that_is_not_resolved_stops_the_run_and_is_no_note(out: Path, size: int) -> None:
    """Markers are longer where both branches renamed the file."""
    marks = f"{'<' * size} HEAD\nOne word.\n{'=' * size}\nAnother word.\n{'>' * size} branch\n"
    edit(out / TASKS, "## get_task\n", f"## get_task\n\n{marks}")
    run(out, changed()).ended(4, "has unresolved merge conflicts", "resolve it: keep the lines that people wrote")
    assert run(out, changed(), "--force").exit_code == 4, "it does not say which side is wanted"
    edit(out / TASKS, marks, "One word.\n")
    assert run(out, changed()).exit_code == 0
    record = out / ".skillgen.json"
    record.write_text(f"<<<<<<< HEAD\n{record.read_text('utf-8')}=======\n{{}}\n>>>>>>> branch\n", "utf-8")
    run(out, changed()).ended(4, f"git checkout HEAD -- {out.as_posix()})")
    record.unlink()
    run(out).ended(4, "restore .skillgen.json if skillgen wrote these files")


@pytest.mark.parametrize("size", [7, 8])
def test_a_record_with_conflicts_is_not_up_to_date(out: Path, size: int) -> None:
    """Also if all documents are, and both sides of the record have the same facts."""
    record = out / ".skillgen.json"
    good = record.read_text("utf-8")
    record.write_text(f"{'<' * size} HEAD\n{good}{'=' * size}\n{good}{'>' * size} branch\n", "utf-8")
    finished = run(out, TWO_GROUPS, "--check", "--json")
    data = json.loads(finished.stdout)
    changes = {Path(file["path"]).name for file in data["files"] if file["action"] != "keep"}
    assert (finished.exit_code, changes) == (1, {".skillgen.json"})
    assert "<<<<<<< HEAD\n" in run(out, TWO_GROUPS, "--check").stdout
    assert run(out, TWO_GROUPS).exit_code == 0
    assert record.read_text("utf-8") == good
    assert run(out, TWO_GROUPS, "--check").exit_code == 0


HEADINGS = {TASKS: "## get_task\n", "ai-help.md": "## Examples\n"}


@pytest.mark.parametrize("style", ["merge", "diff3", "zdiff3"])
def test_a_merge_of_branches_needs_only_a_run(style: str, tmp_path: Path) -> None:
    """Both changed the source and added lines: no line is lost, and no generated one is left over."""

    def git(*arguments: str) -> None:
        names = ("-c", "user.name=A", "-c", "user.email=a@example.com", "-c", f"merge.conflictStyle={style}")
        subprocess.run(["git", *names, *arguments], cwd=tmp_path, env=environment(), capture_output=True, check=True)

    def commit(branch: str, added: dict[str, str], **groups: list[str]) -> None:
        git("checkout", "-q", "-B", branch, *(["base"] if branch != "base" else []))
        write(tmp_path / "api.json", grouped(**groups))
        generated("from-openapi", "api.json", "-o", "out", "--emit", formats, cwd=tmp_path)
        for path, words in added.items():
            edit(tmp_path / "out" / path, HEADINGS[path], f"{HEADINGS[path]}\n{words}\n")
        git("add", "--all")
        git("commit", "-q", "-m", branch)

    formats = "skill,llms,ai-help,registry,well-known"
    others = [f"{verb}_{noun}" for noun in ("label", "team", "file") for verb in ("list", "get", "add", "archive")]
    git("init", "-q")
    commit("base", {}, tasks=["get_task", "old_task", "add_task"], others=others)
    commit("ours", {TASKS: "OURS"}, tasks=["get_task", "add_task"], others=others)
    commit("theirs", {"ai-help.md": "THEIRS"}, tasks=["get_task", "old_task", "new_task"], others=others)
    with pytest.raises(subprocess.CalledProcessError):
        git("merge", "ours")
    for path in (".skillgen.json", SKILL, "well-known/agent-skills/index.json"):
        assert "<<<<<<<" in (tmp_path / "out" / path).read_text("utf-8"), path
    write(tmp_path / "api.json", grouped(tasks=["get_task", "new_task"], others=others))
    generated("from-openapi", "api.json", "-o", "out", "--emit", formats, cwd=tmp_path)
    generated("from-openapi", "api.json", "-o", "fresh", "--emit", formats, cwd=tmp_path)
    for path, words in ((TASKS, "OURS"), ("ai-help.md", "THEIRS")):
        edit(tmp_path / "out" / path, f"\n{words}\n", "")
    generated("from-openapi", "api.json", "-o", "out", "--emit", formats, cwd=tmp_path)
    assert files_of(tmp_path / "out") == files_of(tmp_path / "fresh")


# -- what a message says ---------------------------------------------------------------------------------------------


def test_keys_that_a_person_adds_to_json_stay_and_the_advice_says_where(tmp_path: Path) -> None:
    source = write(tmp_path / "api.json", description())
    generated("from-openapi", source, "-o", "out", cwd=tmp_path)
    path = tmp_path / "out" / "registry.json"
    lines = path.read_text("utf-8").splitlines()
    path.write_text("\n".join([lines[0], '  "categories": ["work"],', *lines[1:]]) + "\n", "utf-8")
    write(source, description({"/tasks": {"get": operation("list_other_tasks")}}))
    generated("from-openapi", source, "-o", "out", cwd=tmp_path)
    assert json.loads(path.read_text("utf-8"))["categories"] == ["work"]
    good = path.read_text("utf-8")
    path.write_text(good.replace("{", "{\n  no JSON", 1), "utf-8")
    run_skillgen("from-openapi", source, "-o", "out", cwd=tmp_path).ended(4, "would break the JSON")
    data = json.loads(good)
    path.write_text(json.dumps({**data, "name": "mine", "last": 1}, indent=2) + "\n", "utf-8")
    finished = run_skillgen("from-openapi", source, "-o", "out", cwd=tmp_path).ended(
        4, "put your keys above the last key"
    )
    assert "<!--" not in finished.stderr.partition("--- a/")[0]
    for broken in (path.read_text("utf-8"), path.read_text("utf-8").replace("{", "{\n  no JSON", 1)):
        path.write_text(broken, "utf-8")
        generated("from-openapi", source, "-o", "out", "--force", cwd=tmp_path)
        generated("from-openapi", source, "-o", "out", "--check", cwd=tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limits")
def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    source = write(tmp_path / "api.json", description())
    script = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
    script += "from skillgen.__main__ import main\nmain()"
    # -B: Python would leave truncated bytecode of each module that it compiles.
    finished = run_python("-B", "-c", script, "from-openapi", source, "-o", "out", cwd=tmp_path).ended(5)
    assert re.search(r"error: out/[\w./-]+: cannot be written: File too large", finished.stderr), finished.stderr


def test_a_skill_template_without_front_matter_is_reported(tmp_path: Path) -> None:
    source = write(tmp_path / "api.json", description())
    (tmp_path / "own" / "skill").mkdir(parents=True)
    template = tmp_path / "own" / "skill" / "SKILL.md.j2"
    command = ("from-openapi", source, "-o", "out", "--templates", "own")
    for text, is_reported in (("# {{ title }}\n", True), ("{{ fields | front_matter }}\n\n# {{ title }}\n", False)):
        template.write_text(text, "utf-8")
        finished = generated(*command, cwd=tmp_path)
        assert ("warning: skill-without-front-matter: " in finished.stderr) is is_reported
