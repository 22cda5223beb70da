"""What templates may use, as a document: `python -m skillgen.render.manual > docs/templates.md` renews it.

For developers: made from the templates, the filters and the docstrings of the model's fields, so it can't be out of
date; a test holds the committed one current. Nothing else imports this module.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence

import jinja2
import jinja2.meta
from jinja2 import nodes

from skillgen.model.json_schema import field_docstrings, model_classes
from skillgen.render.about import ABOUT_TEMPLATE, OFFERS_TEMPLATE
from skillgen.render.catalogue import template_names, template_purpose, template_text
from skillgen.render.filters import FILTERS, FUNCTIONS
from skillgen.render.index import Entry, Index
from skillgen.render.llms import Places
from skillgen.render.pages import Page, Section
from skillgen.render.reference import SECTIONS_TEMPLATE, Reference, Topic

NAMES = {
    "asked": "names of the tools for which a person must be asked first",
    "bare": "whether there is room only for what a safe call needs",
    "body": "the sections of a page, rendered",
    "brief": "whether there is little room, so that lists are cut short",
    "by_default": "names of the tools that may delete or overwrite by MCP's default, not by what is declared",
    "by_method": "whether that a tool changes something is known from its HTTP method alone",
    "command_errors": "the errors that tools declare, a line each",
    "dates": "`date`, `date-time` and `time` to the parameters that are declared to be of that format",
    "deprecated": "the tools that are not to be used any more",
    "destructive": "names of the tools that may delete or overwrite, declared or inferred",
    "destructive_inferred": "those of them of which it is inferred",
    "elsewhere": "where the parameters stand that are too many for the text",
    "entries": "lines that lead to groups, `Entry`, where the tools are too many to list; else `none`",
    "examples": "pairs of a tool and one of its examples",
    "fields": "the front matter, as a mapping",
    "form": "how SKILL.md shows the tools: `calls`, `phrases`, `names`, `groups` or `index`",
    "formats": "names of the formats that are written",
    "index": "the `Index` on which SKILL.md relies, where `form` is `groups` or `index`; else `none`",
    "inlined": "whether the text holds every parameter itself",
    "irreversible": "names of the tools whose effect cannot be undone, declared or by their description",
    "irreversible_inferred": "those of them of which it is inferred",
    "is_long": "whether description and instructions are too long to stand in the text",
    "lists": "`resources`, `prompts` and `events` to the `Index` of each that stands on several pages",
    "marks": "what the marks behind tools mean, in words",
    "media_types": "media types that the tools give",
    "name": "the exact name of a tool",
    "noun": "what the document calls its subject: `skill`, `service` or `tool`",
    "offered": "the resources and prompts, a line each",
    "operational": "what tools do to the world: facts with `label` and `names`",
    "own": "the source's own sections by those of the profile that they continue, such as `setup` and `limits`",
    "page": "the `Page` that is rendered",
    "phrase": "a function that gives what a tool does in one short line",
    "places": "where the other files are, `Places`",
    "quick": "the tools of the quick reference, twenty at the most",
    "reference": "all that is documented, in pages: `Reference`",
    "rest": "the source's own sections that continue none of the profile",
    "service": "what the source says: `Service`",
    "site": "the services of a folder, each with `folder`, `title`, `does` and `tools`",
    "structured": "names of the tools that declare a JSON result",
    "title": "the name of the service for people",
    "unlisted": "the tools that are not in the quick reference",
    "unknown": "how many tools there are of which nothing is known of what they change",
    "what": "what the service says of itself in short, else what it is",
    "words": "how many characters of words may stand behind an entry of the index; 0 where there is no room",
}
"""The names that a template is given, and what each holds."""

MACROS = (SECTIONS_TEMPLATE, ABOUT_TEMPLATE, OFFERS_TEMPLATE)
"""Templates whose macros are called one by one; their parameters are named after what they are given."""

CLASSES = (Reference, Topic, Page, Section, Index, Entry, Places)

_HEAD = """\
# Templates

What a document says is decided in Python; how it is ordered and worded stands in Jinja templates, and each can be
replaced. `skillgen templates list` names them, `skillgen templates show NAME` prints one, and
`skillgen templates export DIR [NAME]...` writes them to a folder. With `--templates DIR`, a file of that folder takes
the place of the template with the same name; the rest are inherited. An error in a template names the file, the line
and what is missing, and nothing is written.

Whatever a template prints is made safe for the middle of a line, unless a filter made it safe for another place. Names
that do not exist are errors, and so is printing a value that is not declared, or that is neither text nor a number. A
template of yours runs in a sandbox: it reaches what is named here and no further, and is ended where it does not end
(not on Windows, which has no timer for that).
"""


def manual() -> str:
    """Gives the whole document."""
    return "\n\n".join(part.strip("\n") for part in (_HEAD, *_templates(), *_names(), *_filters(), *_classes())) + "\n"


def names_used_in(name: str) -> frozenset[str]:
    """Gives the names that a template takes from its context."""
    environment = jinja2.Environment()
    environment.filters.update(FILTERS)
    tree = environment.parse(template_text(name))
    names: set[str] = jinja2.meta.find_undeclared_variables(tree)
    set_there = {item.target.name for item in tree.find_all(nodes.Assign) if isinstance(item.target, nodes.Name)}
    set_there |= {item.target.name for item in tree.find_all(nodes.AssignBlock) if isinstance(item.target, nodes.Name)}
    return frozenset(names - FUNCTIONS.keys() - set_there)


def _templates() -> Iterator[str]:
    yield "## The templates"
    rows = [(f"`{name}`", template_purpose(name)) for name in template_names()]
    yield _table(("template", "what it makes"), rows)
    yield (
        f"The macros of {', '.join(f'`{name}`' for name in MACROS)} are called one by one; a file that takes the "
        "place of one of these needs all its macros."
    )


def _names() -> Iterator[str]:
    yield "## Names"
    users: dict[str, list[str]] = {name: [] for name in NAMES}
    for template in template_names():
        if template not in MACROS:
            for name in sorted(names_used_in(template)):
                users[name].append(f"`{template}`")
    yield _table(
        ("name", "what it holds", "used in"),
        [(f"`{name}`", text, ", ".join(users[name])) for name, text in NAMES.items() if users[name]],
    )
    yield _table(
        ("function", "what it gives"), [(f"`{name}`", _first_sentence(item)) for name, item in FUNCTIONS.items()]
    )


def _filters() -> Iterator[str]:
    yield "## Filters"
    yield "Those of Jinja, and these:"
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
        properties = [(name, item) for name, item in vars(cls).items() if isinstance(item, property)]
        if properties:
            yield "\n".join(f"- `{name}`: {_first_sentence(item.fget)}" for name, item in properties)


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _first_paragraph(item: object) -> str:
    return " ".join((inspect.getdoc(item) or "").split("\n\n")[0].split())


def _first_sentence(item: object) -> str:
    return _first_paragraph(item).partition(". ")[0].removesuffix(".")


if __name__ == "__main__":
    print(manual(), end="")
