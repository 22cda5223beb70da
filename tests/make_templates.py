"""Prints docs/templates.md, what a template may use: `make golden` runs it.

It is built from the templates, the docstrings of the filters and those of the model's fields.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from functools import cached_property

import jinja2
import jinja2.meta
from jinja2 import nodes
from make_model_schema import field_docstrings, model_classes

from skillgen.render.about import Said
from skillgen.render.catalogue import template_names, template_purpose, template_text
from skillgen.render.filters import FILTERS, FUNCTIONS
from skillgen.render.formats import Places
from skillgen.render.listing import Listing
from skillgen.render.pages import Page, Section
from skillgen.render.reference import Reference, Topic

NAMES = {
    "instructions_address": "where the instructions of the server are",
    "above": "the items of lists that are written once for the tools of a group",
    "about": "the pages on the service as a whole, without what SKILL.md has",
    "index": "the file that lists the sections of the page",
    "is_whole": "whether SKILL.md has everything, so that no list of tools is needed",
    "listing": "the list of tools, `Listing`; `none` if the sections of everything follow",
    "lists": "`resources`, `prompts` and `events` to the pages that list them, if they fill several pages",
    "lists_requests": "whether tools are listed by method and path",
    "said": "what the service says in its own words, `Said`",
    "shared_parameters": "parameters that most tools take, each with `parameter`, `missing` and `leaves_lines`",
    "shared_start": "what the paths of all tools begin with",
    "access": "labels and URLs of other ways to use the service",
    "articles": "the sections of a page of the site, each with `name`, `anchor`, `body` in HTML and `marks`",
    "body": "the sections of a page, rendered",
    "brief": "whether there is little room, so that lists are shortened",
    "caution_lines": "what SKILL.md warns of, a line each",
    "client_address": "the address of the section on how a host reaches the server, if there is one",
    "command_errors": "the errors that tools declare, a line each",
    "connection": "how a host connects to the server, with `name` and the `values` of the user; `none` if it cannot",
    "common": "the errors that most tools share, `CommonErrors`",
    "dates": "`date`, `date-time` and `time` to the parameters with that format",
    "deprecated": "the deprecated tools",
    "description": "the description of the tool, safe as Markdown",
    "effects": "sentences on what a call changes",
    "effect": "the marks of the worst steps of the workflow",
    "is_unknown": "whether it is not known what some of its steps do",
    "elsewhere": "the folder or file of the parameters, if there are too many for the text",
    "entry": "the entry of the server for a host's server file",
    "error_cases": "the macro of `reference/macros.md.j2` for a list of errors",
    "event": "the `Event` of a section",
    "example": "an example call: `label`, `text`, its `language`, and `output`",
    "examples": "pairs of a tool and one of its examples",
    "fields": "the front matter, or the members of registry.json, as a mapping",
    "files": "the files below /.well-known/, each with its path, media type and headers",
    "file_name": "the file of the page of the site",
    "formats": "names of the formats that are written",
    "names": "the names of the skills",
    "way": "`sent`, `returned` or `both`: which way a value goes",
    "notes": "what the descriptions of most tools say",
    "noun": "what a site lists: tools, or services",
    "other_skills": "the names of the other skills of the service, with what each does, for the common one",
    "common_skill": "the name of the common skill of the service, for another one of several",
    "has_types_elsewhere": "whether the common skill describes types of results",
    "has_program": "whether the skill has a program that calls the tools",
    "has_one_scheme": "whether all authentication is by one scheme",
    "heading": "the heading of the page of the site",
    "groups": "title, file and words of each group, if there are too many tools for an item each",
    "inlined": "whether the text itself has every parameter",
    "shown_in": "commands with examples in their sections",
    "is_first": "whether a result is the first of its tool",
    "is_index": "whether the page is one of an index, which is read as a whole",
    "is_portable": "whether every host can use the connection",
    "is_site": "whether the section is for the site, which has the marks next to the heading",
    "marks": "the marks of the tool, after its request or usage; empty on the site",
    "lead": "the text above the sections of a page of the site, in HTML",
    "legend": "what the marks mean, in HTML",
    "line": "the title of the tool, if it adds to the name",
    "has_examples": "whether the sections of commands are shown and one has an example",
    "media_types": "media types of the tools' results",
    "name": "the exact name of a tool",
    "number": "the number of tools",
    "offered": "the resources and prompts, a line each",
    "on_demand": "the tools that the server does not list",
    "operational": "effects of tools: facts with `label` and `names`",
    "quick_groups": "the groups that precede the tools of the quick reference",
    "other_pages": "the pages of the site that have no tools, each with `title`, `address`, `count` and `words`",
    "output": "a result, `Output`",
    "returned": "the words on the result: `kind`, `facts`, `words`, `notes`, `nested`, `headers` and `examples`",
    "result": "the macro of `reference/macros.md.j2` for a result",
    "own": "sections of the source that belong to a section of the document; for a tool, its own errors",
    "own_words": "the heading before the source's own sections, by which skillgen reads them again",
    "page": "the `Page` that is rendered",
    "parameters": "the macro of `reference/macros.md.j2` for all parameters of a tool or an event",
    "phrase": "a function that returns what a tool does in one short line",
    "places": "the paths of the other files, `Places`",
    "prompt": "the `Prompt` of a section",
    "quick": "the tools of the quick reference: all if there are few, else twenty",
    "quick_items": "the maximum of items of the quick reference",
    "rate_limit": "the rate limit of the service",
    "recipes": "all workflows, if they are short",
    "reference": "everything that is documented, in pages: `Reference`",
    "resource": "the `Resource` of a section",
    "rest": "the source's own sections that belong to no section of the profile",
    "section": "a section of the source, `Section`",
    "sections": "sections of the source that are written below the derived text",
    "service": "the facts of the source: `Service`",
    "services": "the services of a site, each with `title`, `address`, `count` and `words`",
    "missing": "those errors of nearly every tool that this one does not have",
    "shared_auth": "what every tool with authentication needs, if it is the same for many tools",
    "shown_examples": "the example calls of the tool that are short enough",
    "site": "the services of a folder, each with `folder`, `title`, `does` and `tools`",
    "structured": "names of the tools that declare a JSON result",
    "summary": "the summary of the tool, unless its description begins with it",
    "tasks": "names of the tools that must be called as a task",
    "text": "a text of the source",
    "texts": "the description and the instructions of the service, `Said`",
    "title": "the display name of the service",
    "trigger": "when to use the service, in a sentence",
    "tool": "the `Tool` of a section",
    "type": "the `NamedType` of a section",
    "tools": "the tools, if each has an item of its own; in a workflow, all tools by name",
    "tool_pages": "the pages of the site with the tools of a group, each with `title`, `address`, `count` and `words`",
    "what_and_when": "what the service does and when to use it",
    "what": "a short description of the service",
    "when": "when to use the service, or nothing",
    "with_json": "commands that print JSON with `--json`",
    "workflow": "the `Workflow` of a section",
    "workflow_lines": "the workflows on a line each",
}
"""The names that a template is given, and what each holds."""

CLASSES = (Reference, Topic, Page, Section, Listing, Said, Places)

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
