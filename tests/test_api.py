"""The public Python API: every example of docs/api.md, and what it says of results and errors."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from cli import ROOT, files_of, run_python, run_skillgen
from descriptions import BOOKS
from msgspec.structs import replace

import skillgen

UNTYPED: Any = skillgen
"""The API for calls that a type checker refuses."""

PROBLEM = skillgen.Problem(code="operation-id-missing", level="warning", where="/paths", message="says nothing")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a description, a server and a project file; the current one."""
    (tmp_path / "openapi.json").write_text(json.dumps(BOOKS), "utf-8")
    (tmp_path / "openapi.yaml").write_text(yaml.safe_dump(BOOKS), "utf-8")
    shutil.copytree(ROOT / "examples/acme-mcp", tmp_path, dirs_exist_ok=True)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    (tmp_path / "skillgen.yaml").write_text("targets: {books: {source: {openapi: openapi.yaml}}}\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def service(project: Path) -> skillgen.Service:
    return skillgen.read("openapi.yaml")


def test_every_example_of_the_documentation_runs(project: Path) -> None:
    text = (ROOT / "docs/api.md").read_text("utf-8")
    examples = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert len(examples) >= 7
    names: dict[str, Any] = {}
    for example in examples:
        exec(example, names)


def test_every_public_name_is_there_and_documented() -> None:
    text = (ROOT / "docs/api.md").read_text("utf-8")
    for name in skillgen.__all__:
        assert getattr(skillgen, name).__doc__, name
    for name in ("read", "generate", "check", "build", "render_documents"):
        assert f"`{name}`" in text
    with pytest.raises(AttributeError, match="no attribute 'missing'"):
        skillgen.missing  # noqa: B018


def test_the_import_loads_nothing_else() -> None:
    finished = run_python("-c", "import sys, skillgen; print([name for name in sys.modules if 'skillgen.' in name])")
    assert finished.stdout == "[]\n"


def test_the_documents_are_those_of_the_command_line(service: skillgen.Service, project: Path) -> None:
    result = skillgen.generate(service, out=project / "api")
    assert run_skillgen("from-openapi", "openapi.yaml", "-o", "cli", cwd=project).exit_code == 0
    assert files_of(project / "api") == files_of(project / "cli")
    assert {path.relative_to(project / "api").as_posix() for path in result.changed} == set(
        skillgen.render_documents(service)
    )
    assert result.counts == {
        "services": 1,
        "tools": 1,
        "parameters": 1,
        "resources": 0,
        "prompts": 0,
        "files": len(result.files),
    }


def test_a_check_writes_nothing(service: skillgen.Service, project: Path) -> None:
    result = skillgen.check(service, out="docs")
    assert result.drift
    assert "llms.txt" in result.diff
    assert {file.action for file in result.files} == {"create"}
    assert not (project / "docs").exists()
    assert skillgen.generate(service, out="docs").diff == ""
    assert not skillgen.check(service, out="docs").drift


def test_edits_are_kept_and_reported(service: skillgen.Service, project: Path) -> None:
    skillgen.generate(service, out="docs")
    skill = project / "docs/skills/books/SKILL.md"
    skill.write_text(skill.read_text("utf-8").replace("Sells books", "Sells the best books"), "utf-8")
    changed = skillgen.read("openapi.yaml", description="Sells rare books.")
    with pytest.raises(skillgen.EditedError) as caught:
        skillgen.generate(changed, out="docs")
    assert "+Sells the best books" in caught.value.diff.replace("description: ", "")
    assert skillgen.generate(changed, out="docs", force=True).drift


def test_a_snapshot_and_a_parsed_description_are_read_alike(service: skillgen.Service, project: Path) -> None:
    (project / "snapshot.json").write_text(run_skillgen("inspect", "openapi.yaml", cwd=project).stdout, "utf-8")
    assert skillgen.render_documents(skillgen.read("snapshot.json")) == skillgen.render_documents(service)
    assert skillgen.read(snapshot=project / "snapshot.json") == skillgen.read(project / "snapshot.json")
    assert skillgen.render_documents(skillgen.read(BOOKS)) == skillgen.render_documents(service)


def test_a_server_is_read(project: Path) -> None:
    (project / ".mcp.json").write_text(
        json.dumps({"mcpServers": {"acme": {"command": "python", "args": ["server.py"]}}}), "utf-8"
    )
    messages: list[str] = []
    server = skillgen.read(config=".mcp.json", notify=messages.append)
    assert server.server_name == "acme"
    assert messages == ["0 of 1 servers read", "1 of 1 servers read"]
    assert [tool.name for tool in skillgen.read(command=["python", "server.py"]).tools] == [
        tool.name for tool in server.tools
    ]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: skillgen.read(), "no source is given"),
        (lambda: skillgen.read("a.json", url="https://example.com"), "several sources are given: url, document"),
        (lambda: skillgen.read(BOOKS, include=["nothing"]), "matches no tool"),
        (lambda: skillgen.render_documents(skillgen.read(BOOKS), emit="pdf"), "no such value: pdf"),
        (lambda: skillgen.build("other.yaml"), "no such file"),
    ],
)
def test_a_wrong_call_is_a_usage_error(call: Any, message: str, project: Path) -> None:
    with pytest.raises(skillgen.UsageError, match=message) as caught:
        call()
    assert caught.value.fix


@pytest.mark.parametrize(
    ("call", "where", "what"),
    [
        (lambda: UNTYPED.read(5), "source", "must be a path, a URL or a mapping, not int"),
        (lambda: UNTYPED.read(BOOKS, include=[5]), "include", "must be a string, not int"),
        (lambda: UNTYPED.read(BOOKS, include=None), "include", "must be a list of strings, not NoneType"),
        (lambda: UNTYPED.read(BOOKS, timeout=0), "timeout", "must be a number of seconds above 0"),
        (lambda: UNTYPED.read(BOOKS, headers={"A": 5}), "headers.A", "must be a string, not int"),
        (lambda: UNTYPED.read(BOOKS, groups={"books": {"ttle": "A"}}), "groups.books.ttle", "no such key"),
        (lambda: UNTYPED.read(BOOKS, notify="print"), "notify", "must be a function, not str"),
        (lambda: UNTYPED.read(BOOKS, name=""), "name", "is empty"),
        (lambda: UNTYPED.read(BOOKS, login=True), "login", "has no effect with a document"),
        (lambda: UNTYPED.read(command="python 'server.py"), "command", "is not a command: No closing quotation"),
        (lambda: UNTYPED.read(command=["a\0b"]), "command", "holds a null character"),
        (lambda: UNTYPED.read(url="books", login=True), "url", "is not an http:// or https:// URL"),
        (lambda: UNTYPED.generate({"name": "books"}, out="a"), "service", "must be a Service, not dict"),
        (lambda: UNTYPED.generate(skillgen.read(BOOKS), out=""), "out", "is empty"),
        (lambda: UNTYPED.check(skillgen.read(BOOKS), install_to=["vim"]), "install_to", "no such value: vim"),
        (lambda: UNTYPED.check(skillgen.read(BOOKS), strict="no"), "strict", "must be true or false, not str"),
        (lambda: UNTYPED.render_documents(skillgen.read(BOOKS), emit=5), "emit", "must be a list of strings, not int"),
        (lambda: UNTYPED.build(target="none"), "target", "no such target: none"),
        (lambda: UNTYPED.build(timeout="soon"), "timeout", "must be a number of seconds above 0"),
    ],
)
def test_an_invalid_argument_is_named_as_the_caller_wrote_it(call: Any, where: str, what: str, project: Path) -> None:
    with pytest.raises(skillgen.UsageError) as caught:
        call()
    assert (caught.value.where, caught.value.what, str(caught.value)) == (where, what, what)
    assert "--" not in caught.value.fix


def test_an_unknown_argument_is_a_type_error_of_the_function() -> None:
    with pytest.raises(TypeError, match=r"^read\(\) got an unexpected keyword argument 'colour'$"):
        UNTYPED.read(BOOKS, colour="red")


def test_advice_names_arguments(project: Path) -> None:
    with pytest.raises(skillgen.UsageError, match="without login=") as caught:
        skillgen.read(url="https://books.example.com", client_id="a")
    assert caught.value.fix == "add login="
    with pytest.raises(skillgen.SourceError) as refused:
        skillgen.generate(replace(skillgen.read(BOOKS), problems=(PROBLEM,)), strict=True)
    assert refused.value.fix == "correct the source, or run without strict="
    with pytest.raises(skillgen.SourceError) as missing:
        skillgen.read(command=["no-such-program"])
    assert (
        missing.value.fix == "Install it, that of a project with pip install -e . in its .venv, or give its full path."
    )


@pytest.mark.parametrize(("arguments", "fix"), [
    (["${port}"], "set it, or give env={'port': 'VALUE'}"),
    (["${input:key}"], "give env={'key': 'VALUE'}, or set KEY"),
])  # fmt: skip
def test_a_value_that_is_missing_is_asked_for_as_a_mapping(arguments: list[str], fix: str, project: Path) -> None:
    servers = {"mcpServers": {"acme": {"command": "python", "args": arguments}}}
    (project / ".mcp.json").write_text(json.dumps(servers), "utf-8")
    with pytest.raises(skillgen.UsageError) as caught:
        skillgen.read(config=".mcp.json")
    assert caught.value.fix == fix


def test_what_a_build_returns_names_arguments(project: Path) -> None:
    """An option that `build` does not take is named by its key in the file."""
    skillgen.build()
    targets = "{a: {source: {openapi: openapi.yaml}, name: x}, b: {source: {config: .mcp.json}}}"
    (project / "skillgen.yaml").write_text(f"targets: {targets}\n", "utf-8")
    servers = {"mcpServers": {"acme": {"command": "python", "args": ["${port}"]}}}
    (project / ".mcp.json").write_text(json.dumps(servers), "utf-8")
    result = skillgen.build()
    assert [error.fix for error in result.errors] == ['set it, or give `env: {port: "${port}"}`']
    (project / "agent-docs/a/llms.txt").write_text("edited", "utf-8")
    result = skillgen.build(target="a", emit="llms")
    assert "discard the edits with force=" in result.errors[0].fix


def test_problems_name_options_as_every_caller_knows_them(project: Path) -> None:
    target = "{source: {openapi: openapi.yaml}, exclude: [nothing]}"
    (project / "skillgen.yaml").write_text(f"targets: {{a: {target}, b: {target}}}\n", "utf-8")
    (project / "openapi.yaml").write_text(yaml.safe_dump({**BOOKS, "servers": []}), "utf-8")
    skillgen.build()
    (project / "skillgen.yaml").write_text(f"targets: {{a: {{out: agent-docs/a, {target[1:]}}}\n", "utf-8")
    problems = [*skillgen.build(force=True).problems]
    problems += skillgen.generate(skillgen.read(BOOKS, name="other"), out="agent-docs/a", replace=True).problems
    codes = {problem.code for problem in problems}
    assert codes >= {"base-url-missing", "pattern-unmatched", "documents-left", "service-replaced"}
    assert [problem for problem in problems if "--" in f"{problem.where} {problem.message} {problem.fix}"] == []


def test_values_take_the_forms_that_python_has(project: Path) -> None:
    skillgen.generate(skillgen.read(Path("openapi.yaml")), out=Path("docs"))
    Path("words.txt").write_text("---\nname: books\n---\n\n# Books\n\n## Notes\n\nBe kind.\n", "utf-8")
    service = UNTYPED.read(
        openapi=Path("openapi.yaml"),
        extra=[Path("words.txt")],
        include=(pattern for pattern in ["list_*"]),
        links={"cli": "https://books.example.com/cli", "web": None},
        groups={"none": {"title": "None"}},
        timeout=5,
    )
    assert "https://books.example.com/cli" in skillgen.render_documents(service, emit="llms")["llms.txt"]
    assert [problem.code for problem in service.problems if problem.code == "group-unknown"] == ["group-unknown"]
    server = skillgen.read(command="python server.py", cwd=project)
    assert server.tools == UNTYPED.read(command=["python", Path("server.py")]).tools


def test_a_mapping_that_is_no_json_is_refused() -> None:
    with pytest.raises(skillgen.SourceError, match="is not JSON"):
        skillgen.read({"openapi": object()})


def test_a_failed_target_is_a_value(project: Path) -> None:
    (project / "skillgen.yaml").write_text(
        "targets: {gone: {source: {openapi: gone.yaml}}, books: {source: {openapi: openapi.yaml}}}\n", "utf-8"
    )
    result = skillgen.build()
    assert [type(error) for error in result.errors] == [skillgen.SourceError]
    assert result.exit_code == skillgen.ExitCode.SOURCE
    assert result.counts["services"] == 1
    assert (project / "agent-docs/books/llms.txt").is_file()
    assert not skillgen.build(target="books").drift


# -- options and kinds of source -------------------------------------------------------------------------------------

OPTION = '    zebra: bool = option("Draw a zebra.", False, kinds=("openapi",))\n'

KIND = """
def titles(document, problems, request, access):
    description = {"openapi": "3.1.0", "info": {"title": document.data["title"], "version": "1"}, "paths": {}}
    return read_source(Request(source=Source(document=description))).services
KINDS["titles"] = SourceKind(what="a title", matches=lambda data: "title" in data, services=titles)
"""

FILTER = """
def shouted(text):
    'Returns a text in capitals. And more.'
    return text.upper()
FILTERS["shouted"] = shouted
"""

FORMAT = """
FORMATS["names"] = Format("skillgen.render.formats:names")
"""

RENDERER = """
def names(rendering):
    yield Document("names.txt", ", ".join(tool.name for tool in rendering.service.tools))
"""

CODE = "\ntool-too-slow:\n  level: info\n  meaning: a tool answers slowly\n  case: a slow tool\n"

KIND_OPTION = '    titles: str | None = _source("A file with a title.", metavar="FILE", is_path=True)\n'


@pytest.fixture
def changed_package(project: Path) -> Path:
    """A copy of the package on the path of the current folder.

    It has an option, a kind of source, a filter, a format and a problem code more.
    """
    shutil.copytree(ROOT / "skillgen", project / "skillgen", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "templates", project / "skillgen" / "templates")
    shutil.copy(ROOT / "skillgen.yaml", project / "skillgen")
    options = project / "skillgen" / "config" / "project.py"
    first, second = "    overlays: Sequence[str] = option(", "    snapshot: PathName | None = _source("
    text = options.read_text("utf-8").replace(first, OPTION + first, 1).replace(second, KIND_OPTION + second, 1)
    options.write_text(text, "utf-8")
    for name, added in {
        "pipeline/read.py": KIND,
        "model/document.py": FORMAT,
        "render/formats.py": FILTER + RENDERER,
        "problem_codes.yaml": CODE,
    }.items():
        with (project / "skillgen" / name).open("a", encoding="utf-8") as file:
            file.write(added)
    return project


def changed_skillgen(folder: Path, *arguments: str) -> str:
    finished = run_python("-m", "skillgen", *arguments, cwd=folder, env={"PYTHONPATH": str(folder)}).ok()
    return finished.stdout


@pytest.mark.slow
def test_an_option_is_declared_in_one_place(changed_package: Path) -> None:
    assert "--zebra" in changed_skillgen(changed_package, "from-openapi", "--help")
    assert "--zebra" not in changed_skillgen(changed_package, "from-server", "--help")
    assert "- `--zebra` (flag): Draw a zebra." in changed_skillgen(changed_package, "from-openapi", "--ai-help")
    schema = run_python("-m", "skillgen.config.schema", cwd=changed_package, env={"PYTHONPATH": str(changed_package)})
    assert '"description": "Draw a zebra."' in schema.stdout
    file = changed_package / "skillgen.yaml"
    file.write_text("targets: {books: {source: {openapi: openapi.yaml, zebra: true}}}\n", "utf-8")
    changed_skillgen(changed_package, "build")
    changed_skillgen(changed_package, "from-openapi", "openapi.yaml", "--zebra")


@pytest.mark.slow
def test_a_kind_of_source_is_declared_in_one_place(changed_package: Path) -> None:
    (changed_package / "title.json").write_text('{"title": "Zoo"}', "utf-8")
    assert '"name": "Zoo"' in changed_skillgen(changed_package, "inspect", "title.json")
    changed_skillgen(changed_package, "from-server", "--titles", "title.json", "-o", "zoo")
    file = changed_package / "skillgen.yaml"
    file.write_text("targets: {zoo: {source: {titles: title.json}}}\n", "utf-8")
    changed_skillgen(changed_package, "build")
    assert (changed_package / "agent-docs/skills/zoo/SKILL.md").is_file()


@pytest.mark.slow
def test_a_filter_a_format_and_a_code_are_declared_in_one_place(changed_package: Path) -> None:
    (changed_package / "mine").mkdir()
    (changed_package / "mine" / "llms.txt.j2").write_text("{{ service.name | shouted }}\n", "utf-8")
    command = ("from-openapi", "openapi.yaml", "-o", "out", "--emit", "llms,names", "--templates", "mine")
    changed_skillgen(changed_package, *command)
    assert (changed_package / "out" / "llms.txt").read_text("utf-8").isupper()
    assert (changed_package / "out" / "names.txt").is_file()
    help_text = re.sub(r"(?<=\w-)\n +", "", changed_skillgen(changed_package, "from-openapi", "--help"))
    words = " ".join(help_text.split())
    assert ",names." in words
    assert "[default: skill,llms,ai-help,registry]" in words
    pages = {
        ("-m", "skillgen.config.schema"): '"names"',
        (str(ROOT / "tests" / "make_templates.py"),): "| `shouted` | Returns a text in capitals |",
    }
    for arguments, words in pages.items():
        page = run_python(*arguments, cwd=changed_package, env={"PYTHONPATH": str(changed_package)})
        assert words in page.stdout
    assert "A tool answers slowly." in changed_skillgen(changed_package, "rule", "tool-too-slow")
