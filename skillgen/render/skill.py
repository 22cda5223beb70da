"""Renders a skill: SKILL.md within its budget, everything else in references/ (Agent Skills; design, "Output").

SKILL.md takes the richest form that fits: a call line and a phrase for each tool; name and phrase; names by group;
groups and an index. The index is written only where one of the last forms is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from skillgen.errors import Problem
from skillgen.model.service import Service
from skillgen.render.document import PROFILES, Document
from skillgen.render.environment import Templates
from skillgen.render.identity import phrase_of, skill_name, title
from skillgen.render.index import LINES, Index, index_by_group, index_in_sequence, list_indexes
from skillgen.render.invocation import skill_fields
from skillgen.render.reference import Reference, page_text, reference_files
from skillgen.render.semantics import (
    is_destructive_by_default,
    is_destructive_by_inference,
    is_effect_of_method,
    is_effect_unknown,
    marks,
    marks_legend,
)
from skillgen.text.markdown import disarm, escape_dollar_digits, one_line

LINES_LIMIT = 499
"""Lines of SKILL.md: under 500 (design, "Output")."""

BYTES_LIMIT = 15_980
"""Under 16,000 characters, and under 5,000 tokens of 3.2 bytes."""

SMALL_LIMIT = 5_000
"""Characters of SKILL.md where the service has many tools and a small source (design, "Output")."""

MANY_TOOLS = 20
"""Tools from which on SKILL.md is kept that small."""

FORMS = ("calls", "phrases", "names", "groups", "index")
"""How the tools are shown, the richest first."""


LENGTHS = ({"brief": False, "bare": False}, {"brief": True, "bare": False}, {"brief": True, "bare": True})
"""How much there is beside the tools: all, the same in short, and only what a safe call needs."""

WORDS = (320, 120, 60, 0)
"""Characters of words that an entry of the index may have, which say what its tools are about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """The first level of a skill, and the indexes that it relies on."""

    text: str
    """SKILL.md."""

    index: Index | None
    """The index of the tools, where SKILL.md shows groups only."""

    lists: Mapping[str, Index]
    """The indexes of `resources` and `prompts` that stand on several pages."""

    is_bare: bool = False
    """Whether words of the source were left out of it because they are too long."""


_SHORTENED = Problem(
    code="skill-shortened",
    level="warning",
    where="SKILL.md",
    message="words of the source are too long for SKILL.md; only how to call, what to mind and the tools are in it",
    fix="shorten names, uses and descriptions in the source, or the templates",
)


def skill_documents(service: Service, skill: Skill, reference: Reference, templates: Templates) -> Iterator[Document]:
    """Gives SKILL.md and the files of its references."""
    folder = f"skills/{skill_name(service)}"
    yield Document(f"{folder}/SKILL.md", skill.text, (_SHORTENED,) if skill.is_bare else ())
    indexes = [*([skill.index] if skill.index else []), *skill.lists.values()]
    for page in (page for index in indexes for page in index.pages):
        yield Document(f"{folder}/references/{page.file_name}", page_text(page, templates))
    for file_name, text in reference_files(reference, templates):
        yield Document(f"{folder}/references/{file_name}", text)


def skill_of(service: Service, reference: Reference, templates: Templates, profile: str = PROFILES[0]) -> Skill:
    """Gives SKILL.md in the richest form that fits, and the index where that form needs it."""
    limit = characters_limit(service)
    index: Index | None = None
    text = ""
    lists = list_indexes(reference)
    irreversible = [tool for tool in service.tools if tool.semantics.reversible is False]
    destructive = [
        tool for tool in service.tools if "destructive" in marks(tool) and not is_destructive_by_default(tool.semantics)
    ]
    context = {
        "service": service,
        "fields": skill_fields(service, profile),
        "title": title(service),
        "noun": "skill",
        "reference": reference,
        "phrase": phrase_of(service),
        "asked": [tool.name for tool in service.tools if tool.semantics.requires_confirmation],
        "destructive": [tool.name for tool in destructive],
        "destructive_inferred": [tool.name for tool in destructive if is_destructive_by_inference(tool.semantics)],
        "by_default": [tool.name for tool in service.tools if is_destructive_by_default(tool.semantics)],
        "irreversible": [tool.name for tool in irreversible],
        "irreversible_inferred": [tool.name for tool in irreversible if not tool.semantics.is_declared("reversible")],
        "unknown": sum(map(is_effect_unknown, service.tools)),
        "by_method": any(map(is_effect_of_method, service.tools)),
        "marks": marks_legend(service.tools),
        "lists": lists,
    }
    names = sum(len(one_line(tool.name)) + len("``, ") for tool in service.tools)
    for lengths, most in ((LENGTHS[:-1], limit), (LENGTHS[-1:], BYTES_LIMIT)):
        for form, index, words in _forms(reference):
            # What every tool or every entry of the index takes at the least is known before the template is rendered.
            if templates.are_own and (names if index is None else _least_of(index)) > most:
                continue
            for length in lengths:
                text = _unfilled(
                    templates.render("skill/SKILL.md.j2", **context, **length, index=index, form=form, words=words)
                )
                if fits(text, most):
                    return Skill(text=text, index=index, lists=lists, is_bare=length["bare"])
    return Skill(text=_cut(text), index=index, lists=lists, is_bare=True)


def _unfilled(text: str) -> str:
    """Keeps a host from filling in the body; front matter is read as it is."""
    fields, end, body = text.partition("\n---\n") if text.startswith("---\n") else ("", "", text)
    return disarm(fields + end + escape_dollar_digits(body))


def _forms(reference: Reference) -> Iterator[tuple[str, Index | None, int]]:
    """Gives each form with the index that it needs, and how many characters of words each entry of that may have.

    There is an index for each group of several pages, or one for all.
    """
    for form in FORMS:
        if form == "groups":
            index = index_by_group(reference)
            yield from ((form, index, words) for words in WORDS)
        elif form == "index":
            for lines in LINES:
                index = index_in_sequence(reference, lines)
                yield from ((form, index, words) for words in WORDS)
        else:
            yield form, None, 0


def _least_of(index: Index) -> int:
    """Gives how many characters the entries of an index take at the least; too many as lines are too many at all."""
    if len(index.entries) > LINES_LIMIT:
        return BYTES_LIMIT + 1
    return sum(len(entry.label) + sum(map(len, entry.files)) for entry in index.entries)


def characters_limit(service: Service) -> int:
    """Gives how many characters SKILL.md may have (design, "Output")."""
    if len(service.tools) < MANY_TOOLS:
        return BYTES_LIMIT
    return min(max(SMALL_LIMIT, service.source_size_bytes // 10), BYTES_LIMIT)


def fits(text: str, limit: int) -> bool:
    """Tells whether a text keeps to the limits of SKILL.md."""
    return len(text) <= limit and len(text.encode("utf-8")) <= BYTES_LIMIT and text.count("\n") <= LINES_LIMIT


def _cut(text: str) -> str:
    """Cuts at a line what no form could make fit; front matter stays whole."""
    least = text.find("\n---\n") + len("\n---\n") if text.startswith("---\n") else 0
    while not fits(text, BYTES_LIMIT) and len(text) > least:
        text = text[: max(text.rstrip("\n").rfind("\n") + 1, least)]
    return text
