"""Templates are kept as compiled between runs: a convenience that nothing depends on."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli import Finished, files_of, generated
from descriptions import description, write

pytestmark = pytest.mark.slow


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def documented(name: str, cache: Path, *options: object) -> Finished:
    """Runs skillgen in a process that has loaded no template yet."""
    source, out = write(cache.parent / "api.json", description()), cache.parent / name
    env = {"XDG_CACHE_HOME": str(cache), "PYTHONUTF8": "1"}
    return generated("from-openapi", source, "-o", out, *options, env=env)


def kept(cache: Path) -> list[Path]:
    return sorted(path for path in cache.rglob("*") if path.is_file())


def test_a_second_run_finds_the_templates_compiled_and_writes_the_same(cache: Path) -> None:
    documented("one", cache)
    stamps = {path: path.stat().st_mtime_ns for path in kept(cache)}
    assert stamps
    documented("two", cache)
    assert {path: path.stat().st_mtime_ns for path in kept(cache)} == stamps
    assert files_of(cache.parent / "two") == files_of(cache.parent / "one")


def test_a_damaged_file_of_the_cache_is_made_anew(cache: Path) -> None:
    documented("one", cache)
    before = {path: path.read_bytes() for path in kept(cache)}
    for path, content in before.items():
        path.write_bytes(content[:40])
    documented("two", cache)
    assert {path: path.read_bytes() for path in kept(cache)} == before
    assert files_of(cache.parent / "two") == files_of(cache.parent / "one")


def test_what_others_could_have_written_is_not_run(cache: Path) -> None:
    documented("one", cache)
    for path in kept(cache):
        path.write_bytes(path.read_bytes()[:-1] + b"?")  # still of the right version, source and length
        path.chmod(0o666)
    documented("two", cache)
    assert files_of(cache.parent / "two") == files_of(cache.parent / "one")


def test_a_cache_that_cannot_be_written_costs_nothing_but_time(cache: Path) -> None:
    cache.write_text("a file where the folder would be", encoding="utf-8")
    assert str(cache) not in documented("one", cache).stderr
    assert (cache.parent / "one" / "llms.txt").is_file()


def test_the_templates_of_a_user_are_not_kept(cache: Path) -> None:
    templates = cache.parent / "templates"
    templates.mkdir()
    (templates / "llms.txt.j2").write_text("of the user", "utf-8")
    (templates / "phrases.j2").write_text('{% set takes_none = "of the user" %}', "utf-8")
    documented("one", cache, "--templates", templates)
    assert "of the user" in (cache.parent / "one" / "llms.txt").read_text("utf-8")
    assert not [path for path in kept(cache) if b"of the user" in path.read_bytes()]
