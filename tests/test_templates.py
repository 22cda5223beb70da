"""A folder of templates: one file overrides one template, the rest are inherited."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from cli import ROOT, Finished, files_of, generated, run_python, run_skillgen
from descriptions import description, write
from rows import inputs

from skillgen import UsageError, generate, read, render_documents

SERVICE = read(description())
SKILL = "skills/tasks/SKILL.md"


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """Returns an empty folder of templates."""
    (tmp_path / "mine").mkdir()
    return tmp_path / "mine"


def rendered(mine: Path, name: str, text: str) -> tuple[Finished, dict[str, bytes]]:
    """Overrides one template and returns what a run says and writes."""
    (mine / name).parent.mkdir(parents=True, exist_ok=True)
    (mine / name).write_text(text, encoding="utf-8", errors="surrogateescape")
    source = write(mine.parent / "api.json", description())
    out = mine.parent / "out"
    return run_skillgen("from-openapi", source, "-o", out, "--templates", mine), files_of(out) if out.exists() else {}


def error_of(mine: Path, name: str, text: str) -> UsageError:
    """Returns why nothing is written with a template of llms.txt."""
    (mine / name).write_text(text, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(UsageError) as caught:
        generate(SERVICE, out=mine.parent / "out", emit="llms", templates=mine)
    assert not (mine.parent / "out").exists()
    return caught.value


def test_an_empty_folder_changes_nothing(mine: Path) -> None:
    finished, files = rendered(mine, "unknown.md.j2", "nobody asks for this")
    assert finished.exit_code == 0
    source, plain = mine.parent / "api.json", mine.parent / "plain"
    assert run_skillgen("from-openapi", source, "-o", plain).exit_code == 0
    assert files == files_of(plain)


def test_one_file_overrides_one_template_and_the_rest_are_inherited(mine: Path) -> None:
    finished, files = rendered(mine, "skill/tools.md.j2", "## Mine\n\nAsk {{ service.name }} first.\n\n")
    assert finished.exit_code == 0
    assert b"\n## Mine\n\nAsk Tasks first.\n" in files[SKILL]
    assert b"\n## How to Call\n" in files[SKILL]
    assert b"Mine" not in files["llms.txt"]


def test_a_template_may_extend_on_what_is_there(mine: Path) -> None:
    ours = (ROOT / "templates" / "skill" / "more.md.j2").read_text("utf-8")
    _, files = rendered(mine, "skill/more.md.j2", ours + "\n## House Rules\n\nBe kind.\n")
    assert files[SKILL].endswith(b"## House Rules\n\nBe kind.\n")


@pytest.mark.parametrize(("text", "line", "words"), inputs("templates")["errors"])
def test_an_error_names_the_file_the_line_and_what_is_missing(mine: Path, text: str, line: int, words: str) -> None:
    error = error_of(mine, "llms.txt.j2", text)
    assert str(error.where).endswith(f"mine/llms.txt.j2, line {line}")
    assert words in error.what
    assert str(ROOT) not in error.what


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no timer that interrupts, and it would never end")
@pytest.mark.usefixtures("short_time_limits")
def test_a_template_that_does_not_end_is_ended(mine: Path) -> None:
    """Issue 5."""
    endless = "{% for i in range(9999) %}{% for i in range(9999) %}{% for i in range(9999) %}" + "{% endfor %}" * 3
    (mine / "llms.txt.j2").write_text(f"first\n{endless}", encoding="utf-8")
    with pytest.raises(UsageError, match=r"it takes more than 10 s") as caught:
        render_documents(SERVICE, emit="llms", templates=mine)
    assert str(caught.value.where).endswith("mine/llms.txt.j2, line 2")


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("SKILL.md.j2", "skill/SKILL.md.j2"),
        ("skill/skill.md.j2", "skill/SKILL.md.j2"),
        ("skill/SKILL.md", "skill/SKILL.md.j2"),
        ("Skill/SKILL.md.j2", "skill/SKILL.md.j2"),
        ("skill/savety.md.j2", "skill/safety.md.j2"),
        ("llms.j2", "llms.txt.j2"),
        ("footer.j2", None),
    ],
)
def test_a_template_that_nothing_uses_is_reported(mine: Path, name: str, near: str | None) -> None:
    (mine / name).parent.mkdir(exist_ok=True)
    (mine / name).write_text("never used", "utf-8")
    problems = generate(SERVICE, out=mine.parent / "out", emit="llms", templates=mine).problems
    (problem,) = [problem for problem in problems if problem.code == "unknown-template"]
    assert f"skillgen has no template {name}" in problem.message
    assert ("rename it" in str(problem.fix)) == (near is not None)
    assert f"rename it to {near};" in str(problem.fix) or near is None


@pytest.mark.parametrize(
    ("name", "place"),
    [("reference/macros.md.j2", "{% macro parameters("), ("reference/tool/result.md.j2", "{# A result")],
)
def test_an_error_in_a_macro_or_a_section_names_its_file_and_line_too(mine: Path, name: str, place: str) -> None:
    lines = (ROOT / "templates" / name).read_text("utf-8").split("\n")
    line = next(number for number, text in enumerate(lines, 1) if text.startswith(place))
    lines.insert(line, "{{ service.nmae }}")
    finished, _ = rendered(mine, name, "\n".join(lines))
    assert finished.exit_code == 2
    assert f"{name}, line {line + 1}: " in finished.stderr.replace("\\", "/")
    assert "service" in finished.stderr


@pytest.mark.parametrize(
    "text",
    [
        "{{ service.__class__.__mro__ }}",
        "{{ ''.__class__.__base__.__subclasses__() }}",
        "{{ cycler.__init__.__globals__.os.system('touch owned') }}",
        "{{ service.tools.__setattr__('x', 1) }}",
    ],
)
def test_a_users_template_gets_no_further_than_the_model(mine: Path, text: str) -> None:
    assert str(error_of(mine, "llms.txt.j2", text).where).endswith("llms.txt.j2, line 1")


def test_what_a_template_prints_without_a_filter_is_safe_all_the_same(mine: Path) -> None:
    """X-52."""
    (mine / "skill").mkdir()
    (mine / "skill" / "tools.md.j2").write_text("Hint: {{ service.description }}\n\n", encoding="utf-8")
    text = "fine <script> ![x](https://x.example) \n# Heading\n!`ls` $ARGUMENTS"
    source = write(mine.parent / "api.json", description(info={"title": "Tasks", "version": "1", "description": text}))
    out = mine.parent / "out"
    assert run_skillgen("from-openapi", source, "-o", out, "--templates", mine).exit_code == 0
    (line,) = [line for line in (out / SKILL).read_text("utf-8").split("\n") if line.startswith("Hint: ")]
    assert line.startswith("Hint: fine `<script>`")
    assert "!`" not in line
    assert "$ARGUMENTS" not in line
    assert "![" not in line


def test_harmless_pieces_that_meet_in_a_template_run_nothing(mine: Path) -> None:
    """X-52: the last scan is over the finished file."""
    (mine / "skill").mkdir()
    pieces = "Hint: !{{ 'id' | code }} @{{ '/etc/passwd' | markdown }} ${{ 'ARGUMENTS' | markdown }} ${{ 1 }}"
    (mine / "skill" / "tools.md.j2").write_text(f"{pieces}\n\n", encoding="utf-8")
    source = write(mine.parent / "api.json", description())
    out = mine.parent / "out"
    assert run_skillgen("from-openapi", source, "-o", out, "--templates", mine).exit_code == 0
    assert "Hint: ! `id` @ /etc/passwd $ ARGUMENTS $ 1\n" in (out / SKILL).read_text("utf-8")


def test_every_template_is_listed_with_what_it_makes() -> None:
    finished = generated("templates", "list")
    rows = [line.split(maxsplit=1) for line in finished.stdout.splitlines()]
    folder = ROOT / "templates"
    assert [row[0] for row in rows] == sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.j2"))
    assert all(len(row) == 2 and not row[1].endswith("-") for row in rows)


def test_exported_templates_give_the_same_documents_and_their_edits_stay(mine: Path) -> None:
    source, ours = write(mine.parent / "api.json", description()), mine.parent / "ours"
    assert run_skillgen("templates", "export", mine).exit_code == 0
    assert run_skillgen("from-openapi", source, "-o", ours).exit_code == 0
    out = mine.parent / "out"
    assert run_skillgen("from-openapi", source, "-o", out, "--templates", mine).exit_code == 0
    assert files_of(out) == files_of(ours)
    own = "{{ title }} @./notes.md\n##[group]mine\n::set-env name=A::mine\n"
    (mine / "llms.txt.j2").write_text(own, encoding="utf-8")
    finished = run_skillgen("templates", "export", mine).ended(4, "llms.txt.j2", "-{{ title }} @./notes.md\n")
    assert "##[group]" not in finished.stderr
    assert "::set-env" not in finished.stderr
    assert (mine / "llms.txt.j2").read_text("utf-8") == own
    assert run_skillgen("templates", "export", mine, "skill/how.md.j2").exit_code == 0


def test_what_a_template_may_use_is_documented_from_the_models_own_words() -> None:
    """Issue 5: docs/templates.md is what `make golden` makes, and names whatever a template takes from its context."""
    finished = run_python(ROOT / "tests" / "make_templates.py").ok()
    assert (ROOT / "docs" / "templates.md").read_text("utf-8") == finished.stdout
    assert "|  |" not in finished.stdout, "a name that no template uses"


def changed_lines(mine: Path, files: dict[str, bytes]) -> list[str]:
    """Returns the lines that the folder of templates adds to the documents or removes from them, without digests."""
    plain = mine.parent / "plain"
    assert run_skillgen("from-openapi", mine.parent / "api.json", "-o", plain).exit_code == 0
    lines = [{*b"\n".join(content.values()).decode().split("\n")} for content in (files, files_of(plain))]
    return sorted(line for line in lines[0] ^ lines[1] if not re.search('digest|generated-by|"', line))


def test_two_lines_replace_one_section_of_every_tool_and_nothing_else(mine: Path) -> None:
    text = "A call answers with `{{ output.status }}`,\nas agreed."
    finished, files = rendered(mine, "reference/tool/result.md.j2", text)
    assert finished.exit_code == 0, finished.stderr
    assert changed_lines(mine, files) == ["A call answers with `200`,", "Returns (200): Done", "as agreed."]


def test_a_phrase_is_replaced_by_one_line_and_the_rest_are_inherited(mine: Path) -> None:
    finished, files = rendered(mine, "phrases.j2", '{% set takes_none = "Es nimmt keine Parameter." %}\n')
    assert finished.exit_code == 0, finished.stderr
    assert changed_lines(mine, files) == ["Es nimmt keine Parameter.", "No parameters."]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{% set at_moost = "x" %}', "there is no phrase 'at_moost' try: did you mean at_most?"),
        ('{% set at_most = "{limits}" %}', "the phrase 'at_most' has no field limits try: use limit"),
        ('{% set at_most = "{limit.__class__}" %}', "has no field limit.__class__"),
        ('{% set at_most = "{limit:9999999999}" %}', "has no field limit:9999999999"),
        ('{% set at_most = "{limit!r}" %}', "has no field limit!r"),
        ('{% set at_most = "{limit" %}', "a phrase has a brace that does not match"),
        ("{% set at_most = 1 %}", "the phrase 'at_most' is not a text"),
        ('{% set items = "{number} items" %}', "the phrase 'items' is not like ('{number} item', '{number} items')"),
        ("{% set at_most = nothing %}", "the phrase 'at_most' is not a text"),
    ],
)
def test_an_error_in_the_phrases_says_what_is_wrong(mine: Path, text: str, words: str) -> None:
    error = error_of(mine, "phrases.j2", text)
    assert words in f"{error.what} try: {error.fix}"
    assert "phrases.j2" in str(error.where)


def test_a_section_that_is_replaced_keeps_its_condition(mine: Path) -> None:
    finished, files = rendered(mine, "skill/safety.md.j2", "## Mine\n\nAsk {{ service.name }} first.")
    assert finished.exit_code == 0, finished.stderr
    assert b"## Mine" not in files[SKILL]
    deleting = description({"/tasks": {"delete": {"operationId": "delete_tasks", "responses": {}}}})
    source, out = write(mine.parent / "deleting.json", deleting), mine.parent / "deleting"
    assert run_skillgen("from-openapi", source, "-o", out, "--templates", mine).exit_code == 0
    assert "\n\n## Mine\n\nAsk Tasks first.\n\n## Quick Reference\n" in (out / SKILL).read_text("utf-8")


def test_every_phrase_is_used_and_every_use_has_a_phrase() -> None:
    """A phrase is named by a literal; a name that is put together has all its forms in the table."""
    text = (ROOT / "templates" / "phrases.j2").read_text("utf-8")
    names = set(re.findall(r"\{% set (\w+) =", text))
    code = "\n".join(path.read_text("utf-8") for path in sorted((ROOT / "skillgen" / "render").glob("*.py")))
    written = set(re.findall(r"\"(\w+)\"", code))
    patterns = [re.sub(r"\{[^{}]*\}", r"\\w*", name) for name in re.findall(r"f\"(\w*\{[^\"]*\}\w*)\"", code)]
    used = {name for name in names if name in written or any(re.fullmatch(pattern, name) for pattern in patterns)}
    assert names - used == set()
    assert set(re.findall(r"\bphrases?\(\s*\"(\w+)\"", code)) - names == set()
