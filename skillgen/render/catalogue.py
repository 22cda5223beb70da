"""The templates that skillgen comes with: their names, texts and what each is for. No Jinja is needed to read them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

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
