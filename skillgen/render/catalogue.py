"""The built-in templates: names, sources and purposes, readable without Jinja."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from skillgen.errors import Problem

_PACKAGE_TEMPLATES = Path(__file__).parent.parent / "templates"
_REPOSITORY_TEMPLATES = Path(__file__).parent.parent.parent / "templates"


def templates_folder() -> Path:
    """Returns the folder of the templates: in the package, or next to it in the repository."""
    return _PACKAGE_TEMPLATES if _PACKAGE_TEMPLATES.is_dir() else _REPOSITORY_TEMPLATES


@cache
def template_names() -> tuple[str, ...]:
    """Returns the name of each template, its path below the folder with forward slashes, sorted."""
    folder = templates_folder()
    return tuple(sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.j2")))


def template_text(name: str) -> str:
    """Returns the source of a template of `template_names()`."""
    return templates_folder().joinpath(*name.split("/")).read_text("utf-8")


def template_purpose(name: str) -> str:
    """Returns the comment at the top of a template, on one line."""
    text = template_text(name)
    return " ".join(text[2 : text.index("#}")].rstrip("-").split()) if text.startswith("{#") else ""


def template_problems(folder: str | None) -> Iterator[Problem]:
    """Yields a warning for each file of a user's folder that neither skillgen nor another file in it uses."""
    from difflib import get_close_matches

    if folder is None:
        return
    overrides = Path(folder)
    files = {path.relative_to(overrides).as_posix(): path for path in sorted(overrides.rglob("*")) if path.is_file()}
    by_lower_case = {name.lower(): name for name in template_names()}
    for name, path in files.items():
        wanted = name.lower().removesuffix(".j2") + ".j2"
        close = [known for known in by_lower_case if known.rpartition("/")[2] == wanted.rpartition("/")[2]]
        close = close or get_close_matches(wanted, by_lower_case, n=1, cutoff=0.7)
        is_unknown = name not in template_names() and (close or name.endswith(".j2"))
        others = (other for other in files.values() if other != path)
        if not is_unknown or any(name in other.read_text("utf-8", "replace") for other in others):
            continue
        message = f"skillgen has no template {name}, and no other template includes it, so it is not used"
        rename = f"rename it to {by_lower_case[close[0]]}; " if close else ""
        fix = f"{rename}`skillgen templates list` lists all templates"
        yield Problem.of("unknown-template", path.as_posix(), message, fix)
