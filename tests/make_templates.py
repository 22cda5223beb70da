"""Prints docs/templates.md, what a template may use: `make golden` runs it.

It is built from the templates, the docstrings of the filters and those of the model's fields.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import jinja2
import jinja2.meta
from jinja2 import nodes
from make_model_schema import field_docstrings, model_classes
from rows import inputs

from skillgen.render.about import Said
from skillgen.render.catalogue import template_names, template_purpose, template_text
from skillgen.render.formats import FILTERS, FUNCTIONS, Places
from skillgen.render.listing import Listing, Start
from skillgen.render.pages import Page, Section
from skillgen.render.reference import Reference, Topic

NAMES: dict[str, Any] = inputs("make_templates")["names"]
"""The names that a template is given, and what each holds."""

CLASSES = (Reference, Topic, Page, Section, Listing, Start, Said, Places)

_HEAD = """\
# Templates

Python decides what a document says; Jinja templates decide order and wording, and each can be replaced.
`skillgen templates list` lists them, `skillgen templates show NAME` prints one, and
`skillgen templates export DIR [NAME]...` writes them to a folder. With `--templates DIR`, a file of that folder
replaces the template with the same name; the others are inherited. If a template has an error, the message names the
file, the line and what is missing, and nothing is written.

Each section of a document is a template of its own: `skill/SKILL.md.j2`, `reference/tool.md.j2`, `llms.txt.j2` and
`ai-help/*.md.j2` list the sections in order, each with the condition for it, so a file that replaces a section needs no
condition. Phrases within a sentence, such as "At least {limit}.", are in `phrases.j2`; a file of that name replaces
single phrases, for another word or another language, and inherits the others.

Everything that a template prints is escaped for the middle of a line, unless a filter made it safe for another place.
What a template whose name ends with `.html.j2` prints is escaped for HTML instead. Undefined names are errors, and so
is printing a value that is not declared, or that is neither a string nor a number. Your templates run in a sandbox:
they can use only what is listed here, and are stopped after a time limit (not on Windows, which has no timer for that).
In the built-in templates, `{##}` at the end of a line joins it with the next.
"""


def manual() -> str:
    """Returns the document."""
    return "\n\n".join(part.strip("\n") for part in (_HEAD, *_templates(), *_names(), *_filters(), *_classes())) + "\n"


def names_used_in(name: str) -> frozenset[str]:
    """Returns the names that a template takes from its context."""
    environment = jinja2.Environment()
    environment.filters.update(FILTERS)
    tree = environment.parse(template_text(name))
    names: set[str] = jinja2.meta.find_undeclared_variables(tree)
    assigned = {item.target.name for item in tree.find_all(nodes.Assign) if isinstance(item.target, nodes.Name)}
    assigned |= {item.target.name for item in tree.find_all(nodes.AssignBlock) if isinstance(item.target, nodes.Name)}
    return frozenset(names - FUNCTIONS.keys() - assigned)


def _templates() -> Iterator[str]:
    yield "## The templates"
    rows = [(f"`{name}`", template_purpose(name)) for name in template_names()]
    yield _table(("template", "what it renders"), rows)


def _names() -> Iterator[str]:
    yield "## Names"
    users: dict[str, list[str]] = {name: [] for name in NAMES}
    for template in template_names():
        for name in sorted(names_used_in(template)):
            users[name].append(f"`{template}`")
    yield _table(
        ("name", "what it holds", "used in"),
        [(f"`{name}`", text, ", ".join(users[name])) for name, text in NAMES.items()],
    )
    yield _table(
        ("function", "what it returns"), [(f"`{name}`", _first_sentence(item)) for name, item in FUNCTIONS.items()]
    )


def _filters() -> Iterator[str]:
    yield "## Filters"
    yield "All filters of Jinja, and these:"
    yield _table(
        ("filter", "what it does"), [(f"`{name}`", _first_sentence(FILTERS[name])) for name in sorted(FILTERS)]
    )


def _classes() -> Iterator[str]:
    yield "## What the names hold"
    yield "Lists are tuples. A field that is not declared is `none`, or an empty tuple."
    for cls in (*CLASSES, *model_classes()):
        yield f"### {cls.__name__}"
        yield _first_paragraph(cls)
        yield "\n".join(f"- `{name}`: {words}" for name, words in field_docstrings(cls).items())
        properties = [
            (name, item.fget if isinstance(item, property) else item.func)
            for name, item in vars(cls).items()
            if isinstance(item, (property, cached_property))
        ]
        if properties:
            yield "\n".join(f"- `{name}`: {_first_sentence(function)}" for name, function in properties)


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _first_paragraph(item: object) -> str:
    return " ".join((inspect.getdoc(item) or "").split("\n\n")[0].split())


def _first_sentence(item: object) -> str:
    return _first_paragraph(item).partition(". ")[0].removesuffix(".")


if __name__ == "__main__":
    print(manual(), end="")
