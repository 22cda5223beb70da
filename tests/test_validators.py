"""Validators that other people wrote have no complaint about any golden document but those listed here.

Golden documents are made of what careful people wrote, and they were read one by one; so the same is asked of documents
whose sources hold everything that makes Markdown ugly.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli import generated
from descriptions import write
from documents import MarkdownDocument, broken_links
from llms_txt import parse_llms_file  # type: ignore[import-untyped]
from make_golden import EXAMPLES, ROOT
from markdown_blocks import small_description, ugly_description, ugly_snapshot

pytestmark = pytest.mark.slow

VENVS = ROOT / "tests" / ".venvs"
MARKDOWNLINT = ROOT / "tests" / "validators"

ALLOWED = {
    "disclosure.metadata-budget": "Agent Skills gives a description 1,024 characters; triggers are worth them",
    "frontmatter.field.unknown": "`compatibility` is a field of Agent Skills; the validator knows an older edition",
    "2a.description.user-centric": "dashdash asks for 'Use when the user asks', and the source declares it so",
}
"""The code of a warning to the reason why it may stand."""

ALLOWED_WITH_UGLY_WORDS = {
    **ALLOWED,
    "2a.description.short": "with `--profile claude` when to use it stands in `when_to_use`; the source says no more",
    "2a.description.no-when": "the same",
}
"""The same for documents of sources that say little, and that in ugly words."""

UNCHECKED = {
    "--skip-ref-check": "names of servers, packages and tools have slashes, and are taken for files; `broken_links` "
    "checks every link, here and below"
}
"""A check of skillcheck that is turned off, and why."""


def run(command: list[object], folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    # skillscheck counts the tokens of longer skills with tables from a host that the tests do not reach.
    environment = {**os.environ, "NO_COLOR": "1", "PYTHONPATH": str(MARKDOWNLINT / "tokens")}
    return subprocess.run(
        [str(word) for word in command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def skills() -> Iterator[Path]:
    for folder in (*EXAMPLES, "skillgen/.agents"):
        yield from (ROOT / folder / "skills").iterdir()


def binary(environment: str) -> Path:
    return VENVS / environment / ("Scripts" if os.name == "nt" else "bin") / environment


def test_agentskills_accepts_every_skill() -> None:
    """X-20, X-24: the reference validator."""
    for skill in skills():
        finished = run([Path(sys.executable).parent / "agentskills", "validate", skill])
        assert finished.returncode == 0, finished.stdout + finished.stderr


def test_skillcheck_finds_no_error_and_no_warning_but_the_allowed() -> None:
    """X-20, X-22."""
    finished = run([binary("skillcheck"), "--format", "json", *UNCHECKED, *skills()])
    report = json.loads(finished.stdout)
    found = [item for result in report["results"] for item in result["diagnostics"]]
    assert len(report["results"]) == len(list(skills()))
    assert [item for item in found if item["severity"] == "error"] == []
    assert {item["rule"] for item in found if item["severity"] == "warning"} <= ALLOWED.keys()


@pytest.mark.parametrize("folder", EXAMPLES)
def test_skillscheck_finds_no_error_and_no_warning_but_the_allowed(folder: str) -> None:
    """X-20, X-22, X-24."""
    finished = run([binary("skillscheck"), ROOT / folder / "skills"])
    assert finished.returncode == 0, finished.stdout
    assert " 0 errors" in finished.stdout
    assert set(re.findall(r"⚠ \[([^\]]*)\]", finished.stdout)) <= ALLOWED.keys()


@pytest.mark.parametrize("folder", EXAMPLES)
def test_agnix_finds_nothing(folder: str) -> None:
    """X-20."""
    finished = run([binary("agnix"), "."], ROOT / folder)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert "Found 0 errors, 0 warnings" in finished.stdout


def test_markdownlint_finds_nothing() -> None:
    """Issue 5: with the configuration of this repository, which says why a rule is off."""
    script = MARKDOWNLINT / "node_modules" / "markdownlint-cli2" / "markdownlint-cli2-bin.mjs"
    files = [f"{folder}/**/*.md" for folder in EXAMPLES]
    finished = run(["node", script, "--config", MARKDOWNLINT / ".markdownlint-cli2.jsonc", *files])
    assert finished.returncode == 0, finished.stdout + finished.stderr


@pytest.mark.parametrize("folder", EXAMPLES)
def test_the_reference_parser_reads_every_llms_txt(folder: str) -> None:
    """X-30."""
    check_llms_txt(ROOT / folder)


@pytest.mark.parametrize("folder", EXAMPLES)
def test_every_document_is_clean(folder: str) -> None:
    """Issue 5: links resolve; no double blank line, no empty section, no value `None`, no space at a line end."""
    check_documents(ROOT / folder)


@pytest.fixture(scope="module")
def ugly(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the documents of ugly sources: for each profile a folder, in it a folder for each source."""
    root = tmp_path_factory.mktemp("ugly")
    write(root / "snapshot.json", ugly_snapshot())
    sources = {"all": ugly_description(), **{kind: small_description(kind) for kind in ("lists", "html", "spaces")}}
    for profile in ("portable", "claude"):
        generated(
            "from-server", "--snapshot", root / "snapshot.json", "-o", root / profile / "server", "--profile", profile
        )
        for name, source in sources.items():
            path = write(root / f"{name}.json", source)
            generated("from-openapi", path, "-o", root / profile / name, "--profile", profile)
    return root


def test_validators_of_skills_find_nothing_in_documents_of_ugly_sources(ugly: Path) -> None:
    """X-20, X-22, X-24: both profiles; `agentskills` knows the six keys of the portable one alone."""
    for skill in ugly.glob("portable/*/skills/*"):
        finished = run([Path(sys.executable).parent / "agentskills", "validate", skill])
        assert finished.returncode == 0, finished.stdout + finished.stderr
    every = list(ugly.glob("*/*/skills/*"))
    report = json.loads(run([binary("skillcheck"), "--format", "json", *UNCHECKED, *every]).stdout)
    found = [item for result in report["results"] for item in result["diagnostics"]]
    assert len(report["results"]) == len(every) == 10
    assert [item for item in found if item["severity"] == "error"] == []
    assert {item["rule"] for item in found if item["severity"] == "warning"} <= ALLOWED_WITH_UGLY_WORDS.keys()
    for skills_of_one in ugly.glob("*/*/skills"):
        finished = run([binary("skillscheck"), skills_of_one])
        assert " 0 errors" in finished.stdout, finished.stdout
        assert set(re.findall(r"⚠ \[([^\]]*)\]", finished.stdout)) <= ALLOWED_WITH_UGLY_WORDS.keys(), finished.stdout
    for profile in ("portable", "claude"):
        finished = run([binary("agnix"), "."], ugly / profile)
        assert "Found 0 errors, 0 warnings" in finished.stdout, finished.stdout


def test_markdownlint_finds_nothing_in_documents_of_ugly_sources(ugly: Path) -> None:
    """Issue 5: with the same configuration."""
    script = MARKDOWNLINT / "node_modules" / "markdownlint-cli2" / "markdownlint-cli2-bin.mjs"
    config = MARKDOWNLINT / ".markdownlint-cli2.jsonc"
    finished = run(["node", script, "--config", config, "**/*.md"], ugly)
    assert finished.returncode == 0, finished.stdout + finished.stderr


def test_documents_of_ugly_sources_are_clean(ugly: Path) -> None:
    """Issue 5, X-30."""
    for folder in ugly.glob("*/*/"):
        check_documents(folder)
        check_llms_txt(folder)


def check_llms_txt(folder: Path) -> None:
    """Sees that the reference parser reads what a renderer shows; `__init__` stays exact, as names do."""
    text = (folder / "llms.txt").read_text("utf-8")
    document, parsed = MarkdownDocument(text), parse_llms_file(text)
    assert parsed.title
    assert parsed.summary
    assert parsed.info
    links = [(link.title, link.url) for section in parsed.sections.values() for link in section]
    shown = [(link.label, link.url) for link in document.links]
    assert [(re.sub(r"\b__?|__?\b", "", title), url) for title, url in links] == [
        (re.sub(r"\b__?|__?\b", "", title), url) for title, url in shown
    ]


def check_documents(folder: Path) -> None:
    """Sees that each document is clean."""
    assert broken_links(folder) == []
    for path in [*folder.rglob("*.md"), *folder.glob("llms*.txt")]:
        document = MarkdownDocument(path.read_text("utf-8"))
        prose = re.sub(r"(?ms)^ *(`{3,}).*?^ *\1$", "(code)", document.text)
        assert "\n\n\n" not in prose, path
        assert not re.search(r"[ \t]\n", prose), path
        assert not re.search(r"(?<![\w`])None(?![\w`]|(?<=^None) declared\.$)", prose, re.MULTILINE), path
        for level in (2, 3):
            empty = [section.heading.text for section in document.sections(level) if not section.text]
            assert empty == [], path
        assert document.text.endswith("\n")
        assert not document.text.endswith("\n\n")
