"""The templates that skillgen comes with: their names, texts and what each is for. No Jinja is needed to read them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from skillgen.errors import Problem

_PACKAGE_TEMPLATES = Path(__file__).parent.parent / "templates"
_REPOSITORY_TEMPLATES = Path(__file__).parent.parent.parent / "templates"


def templates_folder() -> Path:
    """Gives the folder of the templates: in the package, or beside it in the repository."""
    return _PACKAGE_TEMPLATES if _PACKAGE_TEMPLATES.is_dir() else _REPOSITORY_TEMPLATES


@cache
def template_names() -> tuple[str, ...]:
    """Gives the name of each template, its path below the folder with forward slashes, sorted."""
    folder = templates_folder()
    return tuple(sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.j2")))


def template_text(name: str) -> str:
    """Gives the text of a template, whose name is one of `template_names()`."""
    return templates_folder().joinpath(*name.split("/")).read_text("utf-8")


def template_purpose(name: str) -> str:
    """Gives the comment with which a template begins, on one line."""
    text = template_text(name)
    return " ".join(text[2 : text.index("#}")].split()) if text.startswith("{#") else ""


def template_problems(overrides: Path | None) -> Iterator[Problem]:
    """Names templates of a user's folder that take no template's place, though their names are near to one."""
    from difflib import get_close_matches

    if overrides is None:
        return
    for path in sorted(overrides.rglob("*.j2")):
        name = path.relative_to(overrides).as_posix()
        close = get_close_matches(name, template_names(), n=1, cutoff=0.7)
        if name not in template_names() and close:
            yield Problem(
                code="unknown-template",
                level="warning",
                where=path.as_posix(),
                message=f"skillgen has no template {name}, so this one takes no template's place",
                fix=f"call it {close[0]}, if that is meant; `skillgen templates list` names them all",
            )
