"""Files are written so that nobody's words are lost, and so that a run can be stopped at any moment."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pytest
from cli import Finished, files_of, generated, run_skillgen, stamps_of
from descriptions import TWO_GROUPS, description, grouped, write
from fork_server import SETUP

pytestmark = pytest.mark.slow

SKILL = "skills/tasks/SKILL.md"
NOTHING = description({})

KILLER = """
import os, signal, sys, warnings
out, seen = os.path.realpath(out), 0
warnings.simplefilter("error")

def stop(event, arguments):
    global seen
    writes = event in ("os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.chmod")
    if event == "open":  # of a file that is made or written
        writes = isinstance(arguments[0], str) and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
    # A change in a folder that is held open has no whole name.
    if writes and (event != "open" and is_held(arguments) or is_below(arguments[0])):
        count()

def is_held(arguments):
    return isinstance(arguments[0], int) or (isinstance(arguments[-1], int) and arguments[-1] >= 0)

def is_below(path):
    return os.fspath(path).startswith(".skillgen-") or os.path.realpath(path).startswith(out)

def count():
    global seen
    seen += 1
    if seen == limit:
        os.kill(os.getpid(), signal.SIGKILL)

def halved(handle, content, write=os.write):
    count()  # before, and again when only a part is written
    if len(content) < 2:
        return write(handle, content)
    written = write(handle, content[: len(content) // 2])
    count()
    return written + write(handle, content[written:])

os.write = halved
sys.addaudithook(stop)
"""
"""Kills skillgen right before it writes to `out` for the `limit`-th time: each call that makes, fills, renames or
removes a file or folder of OUT counts, and a call that fills one counts twice, with half of it written in between."""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Returns that description."""
    return write(tmp_path / "api.json", TWO_GROUPS)


def changed(source: Path) -> None:
    """Changes the description: a tool more in one group, the other group gone, a group that is new."""
    write(source, grouped(tasks=["list_tasks", "get_task", "make_task"], teams=["list_teams", "get_team"]))


def documents_of(source: Path, folder: Path) -> dict[str, bytes]:
    generated("from-openapi", source, "-o", folder)
    return files_of(folder)


def run(source: Path, out: Path, *options: str) -> Finished:
    return run_skillgen("from-openapi", source, "-o", out, *options)


def prepared(setup: str, *words: object, **names: object) -> Finished:
    """Runs skillgen in a process in which this has been executed, with values for these names."""
    values = "".join(f"{name} = {value!r}\n" for name, value in names.items())
    return run_skillgen(*words, env={SETUP: values + setup})


# -- what is written -------------------------------------------------------------------------------------------------


def test_a_run_writes_the_files_of_all_four_outputs_and_their_record(out: Path) -> None:
    files = files_of(out)
    assert sorted(files) == [
        ".skillgen.json",
        "ai-help.md",
        "llms-full.txt",
        "llms.txt",
        "registry.json",
        SKILL,
        "skills/tasks/references/events.md",
        "skills/tasks/references/tasks.md",
        "skills/tasks/references/users.md",
    ]
    assert sorted(json.loads(files[".skillgen.json"])["files"]) == sorted(set(files) - {".skillgen.json"})
    assert all(b"\r" not in content and content.endswith(b"\n") for content in files.values())
    assert all(not content.endswith(b"\n\n") for content in files.values())


def test_only_files_that_changed_are_replaced(source: Path, out: Path) -> None:
    before, contents = stamps_of(out), files_of(out)
    data = json.loads(source.read_text("utf-8"))
    data["paths"]["/users/get_user"]["get"]["description"] = "One user, by its number."
    generated("from-openapi", write(source, data), "-o", out)
    after = {path: stamp for path, stamp in stamps_of(out).items() if stamp != before[path]}
    assert after.keys() == {path for path, content in files_of(out).items() if content != contents[path]}
    assert "registry.json" not in after


def test_new_files_can_be_read_by_those_whom_the_umask_lets(out: Path) -> None:
    (out.parent / "plain").write_text("")
    assert (out / SKILL).stat().st_mode == (out.parent / "plain").stat().st_mode


def test_stale_files_go_and_empty_folders_with_them(source: Path, out: Path, tmp_path: Path) -> None:
    changed(source)
    generated("from-openapi", source, "-o", out, "--name", "Other")
    assert not (out / "skills" / "tasks").exists()
    generated("from-openapi", source, "-o", tmp_path / "fresh", "--name", "Other")
    assert files_of(out) == files_of(tmp_path / "fresh")


def test_formats_that_are_no_longer_asked_for_go(source: Path, out: Path) -> None:
    generated("from-openapi", source, "-o", out, "--emit", "registry")
    assert sorted(files_of(out)) == [".skillgen.json", "registry.json"]


# -- check -----------------------------------------------------------------------------------------------------------


def test_check_finds_that_only_the_record_is_missing(source: Path, out: Path) -> None:
    (out / ".skillgen.json").unlink()
    for code in (1, 0):
        finished = run(source, out, "--check")
        assert (finished.exit_code, f"in {out}, all up to date but .skillgen.json;" in finished.stderr) == (
            code,
            code == 1,
        )
        generated("from-openapi", source, "-o", out)


def test_line_ends_of_a_checkout_are_no_tokens(source: Path, out: Path) -> None:
    before = run(source, out, "--check").stderr
    (out / SKILL).write_bytes((out / SKILL).read_bytes().replace(b"\n", b"\r\n"))
    assert run(source, out, "--check").stderr == before


def test_check_with_drift_prints_a_diff_exits_1_and_writes_nothing(source: Path, out: Path) -> None:
    before = stamps_of(out)
    changed(source)
    finished = run(source, out, "--check").ended(1, "without --check")
    assert stamps_of(out) == before
    assert "--- a/skills/tasks/references/tasks.md\n+++ b/skills/tasks/references/tasks.md\n@@ " in finished.stdout
    assert "\n+## make_task\n" in finished.stdout
    assert "--- a/skills/tasks/references/users.md\n+++ /dev/null\n" in finished.stdout
    assert "--- /dev/null\n+++ b/skills/tasks/references/teams.md\n" in finished.stdout


def test_the_diff_of_check_is_exactly_what_a_run_would_change(source: Path, out: Path) -> None:
    changed(source)
    finished = run(source, out, "--check", "-q")
    generated("from-openapi", source, "-o", out, "-q")
    added = {line[1:] for line in finished.stdout.splitlines() if line.startswith("+") and not line.startswith("+++")}
    text = "\n".join(content.decode() for content in files_of(out).values())
    assert added <= set(text.splitlines())
    assert "## make_task" in added


def test_check_of_a_folder_that_is_not_there_exits_1_and_makes_none(source: Path, tmp_path: Path) -> None:
    finished = run(source, tmp_path / "none", "--check").ended(1)
    assert "--- /dev/null\n+++ b/llms.txt\n" in finished.stdout
    assert not (tmp_path / "none").exists()


def test_check_shows_an_edit_as_drift(source: Path, out: Path) -> None:
    (out / SKILL).write_text("my words\n")
    finished = run(source, out, "--check").ended(1)
    assert "\n-my words\n" in finished.stdout
    assert (out / SKILL).read_text() == "my words\n"


def test_check_with_json_says_in_the_object_what_would_change(source: Path, out: Path) -> None:
    changed(source)
    finished = run(source, out, "--check", "--json")
    files = json.loads(finished.stdout)["files"]
    actions = {Path(file["path"]).relative_to(out).as_posix(): file["action"] for file in files}
    assert finished.exit_code == 1
    assert actions["skills/tasks/references/users.md"] == "delete"
    assert actions["skills/tasks/references/teams.md"] == "create"
    assert actions["llms.txt"] == "replace"


# -- edits and other people's files ----------------------------------------------------------------------------------


def test_an_edit_that_is_taken_back_or_deleted_is_no_edit_any_more(source: Path, out: Path) -> None:
    before = files_of(out)
    (out / "llms.txt").write_text("# Mine\n")
    assert run(source, out).exit_code == 4
    (out / "llms.txt").unlink()
    assert run(source, out).exit_code == 0
    assert files_of(out) == before


def test_a_foreign_file_is_neither_overwritten_nor_deleted(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "llms.txt").write_text("# Mine\n")
    (out / "NOTES.md").write_text("My notes\n")
    run(source, out).ended(4, "\n-# Mine\n")
    assert files_of(out) == {"llms.txt": b"# Mine\n", "NOTES.md": b"My notes\n"}
    (out / "llms.txt").unlink()
    assert run(source, out).exit_code == 0
    assert (out / "NOTES.md").read_text() == "My notes\n"


def test_an_edited_stale_file_stays_and_the_next_run_is_silent(source: Path, out: Path) -> None:
    users = out / "skills" / "tasks" / "references" / "users.md"
    users.write_text("My users\n")
    changed(source)
    run(source, out).ended(0, "stale-file-kept: skills/tasks/references/users.md")
    assert users.read_text() == "My users\n"
    again = run(source, out)
    assert (again.exit_code, "stale-file-kept" in again.stderr) == (0, False)
    assert users.read_text() == "My users\n"


# -- a source that has nothing any more ------------------------------------------------------------------------------


def test_an_empty_source_does_not_replace_documents_that_have_tools(source: Path, out: Path) -> None:
    before = stamps_of(out)
    write(source, NOTHING)
    for options in ([], ["--check"]):
        finished = run(source, out, *options)
        assert (finished.exit_code, finished.stdout) == (3, "")
        assert "lists no tools" in finished.stderr
        assert "--allow-empty" in finished.stderr
    assert stamps_of(out) == before


def test_an_empty_source_replaces_them_where_the_user_says_so(source: Path, out: Path) -> None:
    write(source, NOTHING)
    generated("from-openapi", source, "-o", out, "--allow-empty")
    assert not (out / "skills" / "tasks" / "references" / "users.md").exists()
    assert run(source, out).exit_code == 0


def test_an_empty_source_is_documented_into_a_new_folder(tmp_path: Path) -> None:
    finished = generated("from-openapi", write(tmp_path / "api.json", NOTHING), "-o", tmp_path / "out")
    assert "no-operations" in finished.stderr
    assert (tmp_path / "out" / SKILL).is_file()


def test_a_source_that_cannot_be_read_changes_nothing(source: Path, out: Path) -> None:
    before = stamps_of(out)
    source.write_text("no description\n")
    assert run(source, out).exit_code == 3
    assert stamps_of(out) == before


# -- an OUT that cannot be written -----------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["llms.txt", SKILL, ".skillgen.json"])
def test_a_folder_where_a_file_belongs_exits_5_and_nothing_is_written(source: Path, tmp_path: Path, place: str) -> None:
    (tmp_path / "out" / place).mkdir(parents=True)
    finished = run(source, tmp_path / "out").ended(5)
    assert finished.stderr.count("skillgen: error:") == 1
    assert files_of(tmp_path / "out") == {}


def test_a_file_where_a_folder_belongs_exits_5_and_nothing_is_written(source: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "skills").write_text("mine")
    finished = run(source, tmp_path / "out").ended(5)
    assert finished.stderr.count("skillgen: error:") == 1
    assert files_of(tmp_path / "out") == {"skills": b"mine"}


@pytest.mark.parametrize("place", ["skills", "skills/tasks/references"])
def test_a_folder_in_out_that_leads_outside_is_not_written_through(source: Path, tmp_path: Path, place: str) -> None:
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "out" / place
    link.parent.mkdir(parents=True)
    link.symlink_to(tmp_path / "elsewhere")
    assert run(source, tmp_path / "out").exit_code == 5
    assert files_of(tmp_path / "elsewhere") == {}
    assert not (tmp_path / "out" / "llms.txt").exists()


def test_a_file_in_out_that_leads_outside_is_not_written_through(source: Path, out: Path, tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes((out / "llms.txt").read_bytes())
    (out / "llms.txt").unlink()
    (out / "llms.txt").symlink_to(tmp_path / "target")
    before = (tmp_path / "target").read_bytes()
    changed(source)
    assert run(source, out).exit_code in (4, 5)
    assert (tmp_path / "target").read_bytes() == before


@pytest.mark.parametrize("what", ["a pipe", "a link to a device", "a link to a file"])
def test_a_record_that_is_no_file_is_neither_waited_for_nor_followed(source: Path, tmp_path: Path, what: str) -> None:
    """S0-25: the next run of `build` reads it first of all."""
    record = tmp_path / "out" / ".skillgen.json"
    record.parent.mkdir()
    if what == "a pipe":
        os.mkfifo(record)
    else:
        record.symlink_to("/dev/zero" if what == "a link to a device" else source)
    finished = run(source, tmp_path / "out").ended(5)
    assert finished.stderr.count("skillgen: error:") == 1
    assert [path.name for path in (tmp_path / "out").iterdir()] == [".skillgen.json"]


def test_a_pipe_where_a_document_belongs_is_not_waited_for(source: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    os.mkfifo(tmp_path / "out" / "llms.txt")
    assert run(source, tmp_path / "out").exit_code == 5


def test_a_link_inside_of_out_is_followed(source: Path, tmp_path: Path) -> None:
    (tmp_path / "out" / "real").mkdir(parents=True)
    (tmp_path / "out" / "skills").symlink_to("real")
    generated("from-openapi", source, "-o", tmp_path / "out")
    assert (tmp_path / "out" / "real" / "tasks" / "SKILL.md").is_file()
    assert run(source, tmp_path / "out", "--check").exit_code == 0


def test_the_folder_of_one_of_several_services_does_not_lead_outside(source: Path, tmp_path: Path) -> None:
    snapshot = tmp_path / "snapshot.json"
    other = write(
        tmp_path / "other.json", {**grouped(notes=["list_notes"]), "info": {"title": "Notes", "version": "1"}}
    )
    snapshot.write_text(run_skillgen("inspect", source, other).stdout, encoding="utf-8")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "tasks").symlink_to(tmp_path / "elsewhere")
    run_skillgen("from-server", "--snapshot", snapshot, "-o", tmp_path / "out").ended(5, "out/tasks: leads outside OUT")
    assert files_of(tmp_path / "elsewhere") == {}
    assert (tmp_path / "out" / "notes" / "llms.txt").is_file(), "the next one is written"


@pytest.mark.parametrize("options", [[], ["--check"]])
def test_an_installed_skill_does_not_lead_out_of_where_the_host_looks(
    source: Path, tmp_path: Path, options: list[str]
) -> None:
    """The name comes from the source, and what is linked under it may be anything."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".claude" / "skills").mkdir(parents=True)
    (tmp_path / ".claude" / "skills" / "tasks").symlink_to(tmp_path / "elsewhere")
    run_skillgen("from-openapi", source, "--install", "claude", *options, cwd=tmp_path).ended(5)
    assert files_of(tmp_path / "elsewhere") == {}
    assert not (tmp_path / "agent-docs" / "llms.txt").exists()


def test_a_link_that_is_put_into_out_while_a_run_goes_on_leads_nowhere(source: Path, tmp_path: Path) -> None:
    """Issue 7, "Paths": right before each rename, whatever was looked at before."""
    for number in range(1, 9):
        out, elsewhere = tmp_path / f"out-{number}", tmp_path / f"elsewhere-{number}"
        (elsewhere / "tasks" / "references").mkdir(parents=True)
        (out / "skills" / "tasks" / "references").mkdir(parents=True)
        words = ("from-openapi", source, "-o", out, "--emit", "skill")
        finished = prepared(SWAPPING, *words, left=number, victim=f"{out}/skills", elsewhere=str(elsewhere))
        assert "Traceback" not in finished.stderr
        assert files_of(elsewhere) == {}
        if finished.exit_code == 0:
            break
    assert number > 3


SWAPPING = """\
import os, sys

def swap(event, arguments):
    global left
    if event == "os.rename" and not str(arguments[0]).startswith(victim):
        left -= 1
        if not left:
            os.rename(victim, victim + "-moved")
            os.symlink(elsewhere, victim)

sys.addaudithook(swap)
"""
"""Puts a link in the place of the folder `victim` right before the n-th file would be in its place."""


def test_an_out_that_is_itself_a_link_to_a_folder_is_written(source: Path, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "real")
    generated("from-openapi", source, "-o", tmp_path / "out")
    assert (tmp_path / "real" / SKILL).is_file()


def test_a_record_that_names_a_file_outside_deletes_nothing(source: Path, out: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim.txt"
    victim.write_bytes((out / "llms.txt").read_bytes())
    record = json.loads((out / ".skillgen.json").read_text("utf-8"))
    record["files"]["../victim.txt"] = record["files"]["llms.txt"]
    write(out / ".skillgen.json", record)
    run(source, out)
    assert victim.exists()


@pytest.mark.parametrize("text", [
    "", "{", "[]", "{}", '{"files": 3}', '{"files": {}, "service": 1, "tools": "many"}',
    '{"files": {}, "run": {"words": []}}', '{"files": {}, "run": {"words": ["from-cli"], "in": "\\u0000"}}',
])  # fmt: skip
def test_a_damaged_record_exits_4_and_nothing_is_written(source: Path, out: Path, text: str) -> None:
    (out / ".skillgen.json").write_text(text)
    changed(source)
    before = stamps_of(out)
    run(source, out).ended(4, ".skillgen.json")
    assert stamps_of(out) == before


# -- a run that is stopped -------------------------------------------------------------------------------------------


def stopped(source: Path, out: Path, limit: int) -> int:
    """Runs skillgen and stops it right before its n-th change to a file; 0 where it comes to its end."""
    finished = prepared(KILLER, "from-openapi", source, "-o", out, "-q", out=str(out), limit=limit)
    assert finished.exit_code in (0, -9), finished.stderr
    return finished.exit_code


def test_a_stopped_run_leaves_complete_files_and_the_next_repairs(source: Path, out: Path, tmp_path: Path) -> None:
    old = files_of(out)
    changed(source)
    new = documents_of(source, tmp_path / "expected")
    limit = 0
    while True:
        limit += 1
        copy = tmp_path / f"stopped-{limit}"
        shutil.copytree(out, copy)
        if stopped(source, copy, limit) == 0:
            break
        for path, content in files_of(copy).items():
            if path in old.keys() | new.keys() and path != ".skillgen.json":
                assert content in (old.get(path), new.get(path)), f"{path} is neither old nor new"
        finished = run(source, copy, "-q")
        assert (finished.exit_code, finished.stderr) == (0, ""), f"after {limit} changes"
        kept = {path: content for path, content in files_of(copy).items() if ".skillgen-" not in path}
        assert kept == new
    assert limit > 40


def test_after_a_run_that_was_stopped_the_old_source_repairs_too(source: Path, out: Path, tmp_path: Path) -> None:
    old, old_source = files_of(out), source.read_text("utf-8")
    changed(source)
    assert stopped(source, out, 12) == -9
    source.write_text(old_source, encoding="utf-8")
    assert run(source, out, "-q").exit_code == 0
    assert {path: content for path, content in files_of(out).items() if ".skillgen-" not in path} == old


def test_the_run_after_one_that_was_stopped_leaves_no_temporary_files(source: Path, out: Path, tmp_path: Path) -> None:
    changed(source)
    assert stopped(source, out, 12) == -9
    assert run(source, out, "-q").exit_code == 0
    assert files_of(out) == documents_of(source, tmp_path / "expected")


def test_an_edit_that_is_made_after_a_run_was_stopped_is_kept(source: Path, out: Path) -> None:
    changed(source)
    assert stopped(source, out, 12) == -9
    (out / SKILL).write_text("my words\n")
    assert run(source, out).exit_code == 4
    assert (out / SKILL).read_text() == "my words\n"


def test_a_template_that_fails_leaves_the_documents_as_they_were(source: Path, out: Path, tmp_path: Path) -> None:
    """Everything is rendered before anything is written."""
    (tmp_path / "mine" / "ai-help").mkdir(parents=True)
    (tmp_path / "mine" / "ai-help" / "last.md.j2").write_text("{{ nothing }}")
    changed(source)
    before = stamps_of(out)
    assert run(source, out, "--templates", str(tmp_path / "mine")).exit_code == 2
    assert stamps_of(out) == before


# -- several runs ----------------------------------------------------------------------------------------------------


AFTER_A_FILE = """\
import os, signal, sys

def kill(event, arguments):
    global left
    if event == "os.rename":
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(kill)
"""
"""Kills skillgen when `left` files are in their place, before the next one is."""


def test_a_skill_that_is_renamed_loses_no_note_wherever_a_run_is_killed(source: Path, out: Path) -> None:
    notes = {SKILL: "## How to Call\n", "skills/tasks/references/tasks.md": "## get_task\n"}
    for path, heading in notes.items():
        page = out / path
        page.write_text(page.read_text("utf-8").replace(heading, f"{heading}\nNote on {path}.\n"), "utf-8")
    for number in range(1, 20):
        copy = out.parent / f"copy-{number}"
        shutil.copytree(out, copy)
        words = ("from-openapi", source, "-o", copy, "--emit", "skill", "--name", "Other")
        killed = prepared(AFTER_A_FILE, *words, left=number).exit_code != 0
        for counts in ({1, 2}, {1}):
            text = b"".join(files_of(copy / "skills").values()).decode()
            assert {text.count(f"Note on {path}.") for path in notes} <= counts, number
            assert run_skillgen(*words).exit_code == 0
        assert not (copy / "skills/tasks").exists()
        if not killed:
            break
    assert number > 5


def test_names_become_names_of_files_that_every_system_has_in_any_order(tmp_path: Path) -> None:
    """S0-25, X-51: no way out, nothing reserved, no two that differ in case alone, whatever the order of arrival."""
    names = [
        *("..", ".", "../../etc/passwd", "/etc/passwd", "a/b", "a\\b", "a:b", "CON", "con", "nul.txt", "aux", "COM¹"),
        *("Foo", "foo", "FOO", "trail", "trail.", "trail ", "x" * 4_000, "\N{PILE OF POO}", "\N{GRINNING FACE}", "-rf"),
        *("über", "ÜBER", "uber", "a\nb", "a\u202eb", "index", "tools", "SKILL.md", "%2e%2e%2f", "~"),
    ]
    done = {"responses": {"200": {"description": "Done"}}}
    described = {"description": "Words that fill a page. " * 40, **done}
    paths = [
        (f"/{i}/{verb}", {"get": {"operationId": f"{verb}{i}", "tags": [name], **described}})
        for i, name in enumerate(names)
        for verb in ("get", "list", "find")
    ]
    tags = [{"name": name, "description": "A tag."} for name in names]
    found = []
    for order in (1, -1):
        source, out = tmp_path / f"{order}.json", tmp_path / f"out{order}"
        info = {"title": "../Names.", "version": "1"}
        said = {"openapi": "3.1.0", "info": info, "tags": tags[::order], "paths": dict(paths[::order])}
        source.write_text(json.dumps(said), encoding="utf-8")
        generated("from-openapi", source, "-o", out)
        found.append(sorted(files_of(out)))
    assert found[0] == found[1]
    assert len({path.lower() for path in found[0]}) == len(found[0]) > len(names)
    for path in found[0]:
        parts = path.removeprefix(".").split("/")
        assert all(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9-]{0,63}(?:\.[a-z]+)?", part) for part in parts), path
        assert not {part.partition(".")[0].lower() for part in parts} & {"con", "nul", "aux", "prn", "com1", "lpt1"}
    assert not (tmp_path.parent / "etc").exists()
