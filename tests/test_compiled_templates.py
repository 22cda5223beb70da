"""Templates are kept as compiled between runs: a convenience that nothing depends on."""

from __future__ import annotations

from pathlib import Path

from cli import files_of, generated
from descriptions import description, write


def kept(cache: Path) -> list[Path]:
    return sorted(path for path in cache.rglob("*") if path.is_file())


def test_a_second_run_finds_the_templates_compiled_and_writes_the_same(tmp_path: Path) -> None:
    source, cache = write(tmp_path / "api.json", description()), tmp_path / "cache"
    generated("from-openapi", source, "-o", tmp_path / "one", env={"XDG_CACHE_HOME": str(cache)})
    stamps = {path: path.stat().st_mtime_ns for path in kept(cache)}
    assert stamps
    generated("from-openapi", source, "-o", tmp_path / "two", env={"XDG_CACHE_HOME": str(cache)})
    assert {path: path.stat().st_mtime_ns for path in kept(cache)} == stamps
    assert files_of(tmp_path / "two") == files_of(tmp_path / "one")


def test_a_damaged_file_of_the_cache_is_made_anew(tmp_path: Path) -> None:
    source, cache = write(tmp_path / "api.json", description()), tmp_path / "cache"
    generated("from-openapi", source, "-o", tmp_path / "one", env={"XDG_CACHE_HOME": str(cache)})
    before = {path: path.read_bytes() for path in kept(cache)}
    for path, content in before.items():
        path.write_bytes(content[:40])
    generated("from-openapi", source, "-o", tmp_path / "two", env={"XDG_CACHE_HOME": str(cache)})
    assert {path: path.read_bytes() for path in kept(cache)} == before
    assert files_of(tmp_path / "two") == files_of(tmp_path / "one")


def test_what_others_could_have_written_is_not_run(tmp_path: Path) -> None:
    source, cache = write(tmp_path / "api.json", description()), tmp_path / "cache"
    generated("from-openapi", source, "-o", tmp_path / "one", env={"XDG_CACHE_HOME": str(cache)})
    for path in kept(cache):
        path.write_bytes(path.read_bytes()[:-1] + b"?")  # still of the right version, source and length
        path.chmod(0o666)
    generated("from-openapi", source, "-o", tmp_path / "two", env={"XDG_CACHE_HOME": str(cache)})
    assert files_of(tmp_path / "two") == files_of(tmp_path / "one")


def test_a_cache_that_cannot_be_written_costs_nothing_but_time(tmp_path: Path) -> None:
    source, cache = write(tmp_path / "api.json", description()), tmp_path / "cache"
    cache.write_text("a file where the folder would be", encoding="utf-8")
    finished = generated("from-openapi", source, "-o", tmp_path / "one", env={"XDG_CACHE_HOME": str(cache)})
    assert str(cache) not in finished.stderr
    assert (tmp_path / "one" / "llms.txt").is_file()


def test_the_templates_of_a_user_are_not_kept(tmp_path: Path) -> None:
    source, cache = write(tmp_path / "api.json", description()), tmp_path / "cache"
    (tmp_path / "templates").mkdir()
    out = ("-o", tmp_path / "one", "--templates", tmp_path / "templates")
    generated("from-openapi", source, *out, env={"XDG_CACHE_HOME": str(cache)})
    assert kept(cache) == []
