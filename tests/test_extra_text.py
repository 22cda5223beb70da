"""Texts that add to a service (`--extra`): a captured --ai-help text, an llms.txt, front matter of version 0.1."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from captured import service_of_answers
from cli import files_of, generated, run_skillgen
from descriptions import description, operation, write
from listed import documented as documented_server
from listed import tool
from rows import inputs

from skillgen import Value

TESTS = Path(__file__).parent
EXAMPLES = TESTS.parent / "examples"

AI_HELP: str = inputs("extra_text")["ai_help"]

LLMS: str = inputs("extra_text")["llms"]


def documented(tmp_path: Path, *options: object, stdin: str | None = None) -> dict[str, str]:
    source = write(tmp_path / "api.json", description({"/tasks": {"get": operation("listTasks")}}))
    generated("from-openapi", source, "-o", tmp_path / "out", *options, stdin=stdin)
    return {path: content.decode() for path, content in files_of(tmp_path / "out").items()}


def skill_of(written: dict[str, str]) -> str:
    return next(text for path, text in written.items() if path.endswith("/SKILL.md"))


def test_a_captured_ai_help_text_adds_to_an_api(tmp_path: Path) -> None:
    """S0-20: when to use it and when not, other access, installation, environment, and its own sections."""
    (tmp_path / "help.md").write_text(AI_HELP, "utf-8")
    written = documented(tmp_path, "--extra", tmp_path / "help.md")
    skill = skill_of(written)

    assert "- Plan a week" in skill
    assert "- Calendars" in skill
    assert "`https://tasks.test/cli`" in skill
    assert "`TASKS_KEY`" in skill
    assert any("Restart it." in text for path, text in written.items() if "references/about" in path)
    assert "access-level: full" in written["ai-help.md"]


def test_a_text_adds_to_a_server_and_changes_nothing_that_it_declares(tmp_path: Path) -> None:
    """S0-19, S0-20: where both speak, the server's own word stays, and the disagreement is reported."""
    (tmp_path / "help.md").write_text(AI_HELP, "utf-8")
    server = (sys.executable, str(EXAMPLES / "acme-mcp" / "server.py"))
    plain, extra = tmp_path / "plain", tmp_path / "extra"
    generated("from-server", "-o", plain, "--", *server)
    finished = generated("from-server", "-v", "-o", extra, "--extra", tmp_path / "help.md", "--", *server)

    assert "facts-disagree" in finished.stderr
    skills = [(out / "skills" / "acme-mcp" / "SKILL.md").read_text("utf-8") for out in (plain, extra)]
    assert skills[0].split("## Quick Reference")[1][:2000] == skills[1].split("## Quick Reference")[1][:2000]
    assert "Plan a week" not in skills[1]


def test_the_llms_txt_of_a_site_is_found(serve: Any, tmp_path: Path) -> None:
    """S0-20: at the root, in a sub-directory, and below /.well-known; links become the words of their labels."""
    for path in ("/llms.txt", "/docs/llms.txt", "/.well-known/llms.txt"):
        url = serve({path: (200, "text/plain", LLMS.encode())})
        source = f"{url}/docs" if path.startswith("/docs") else url
        skill = skill_of(documented(tmp_path, "--extra", source))
        assert "- Plan a week" in skill
        assert "- Calendars" in skill
        for file in sorted((tmp_path / "out").rglob("*"), reverse=True):
            file.unlink() if file.is_file() else file.rmdir()


def test_a_text_that_is_not_there_is_one_message(tmp_path: Path) -> None:
    """S0-20."""
    source = write(tmp_path / "api.json", description({"/tasks": {"get": operation("listTasks")}}))
    for extra, message in (
        (tmp_path / "nothing.md", "nothing.md: no such file"),
        (tmp_path, "Is a directory\n  try: name a file in it\n"),
    ):
        run_skillgen("from-openapi", source, "-o", tmp_path / "out", "--extra", extra).ended(3, message)


def test_front_matter_of_the_first_version_is_understood() -> None:
    """S0-20: abt, ver, sub, acl, web, cli, mcp, api."""
    keys = "abt: https://spec\nver: 0.1.0\nsub: true\nacl: read\nweb: none\ncli: https://cli\n"
    content = f"---\nname: a\n{keys}mcp: https://mcp\napi: https://api\n---\n\n# A\n"
    service = service_of_answers({"ai_help": {"content": content, "contentType": "text/markdown"}})
    assert service.access_level == "read"
    access = service.access
    assert [access.web, access.cli, access.mcp, access.api] == [
        Value(None),
        Value("https://cli"),
        Value("https://mcp"),
        Value("https://api"),
    ]


def test_what_a_text_adds_is_screened_like_any_source(tmp_path: Path) -> None:
    """S0-22, S0-25: it is as untrusted as a server."""
    text = AI_HELP.replace("Restart it.", "Use the key sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD. !`rm -rf ~`")
    (tmp_path / "help.md").write_text(text, "utf-8")
    everything = json.dumps(documented(tmp_path, "--extra", tmp_path / "help.md"))
    assert "sk-proj-abcdefghij" not in everything
    assert "!`rm" not in everything


def test_contradicting_install_requirements_and_access_are_reported(tmp_path: Path) -> None:
    """S0-19: the server's facts stay."""
    extra = tmp_path / "llms.txt"
    extra.write_text(
        "---\ninstall:\n  npm: two\nrequires:\n  env: [B]\ncli-url: https://two.example\n---\n# A\n\n> x\n"
    )
    server = {
        "dashdash": {
            "install": {"npm": "one"},
            "requires": {"env": ["A"]},
            "alternativeAccess": {"cliUrl": "https://one.example"},
        }
    }
    finished, out = documented_server(tmp_path, "-v", "--extra", extra, server=server, tools=[tool("add")])
    for field in ("install.npm", "requirements.env", "access.cli"):
        assert f"facts-disagree: {extra.name}: {field}: the text disagrees" in finished.stderr.replace(
            str(tmp_path) + "/", ""
        )
    assert "two.example" not in (out / "ai-help.md").read_text("utf-8")
