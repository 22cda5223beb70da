"""Explains kinds of problems: meaning, clause, fix and examples, for `skillgen rule`, SARIF and docs/rules.md."""

from __future__ import annotations

from difflib import get_close_matches

from skillgen.config.dropped import dropped
from skillgen.errors import UsageError
from skillgen.problem_codes import CODES

PARTS = {
    "description": ("yaml", "part of an OpenAPI description"),
    "answers": ("json", "methods of an MCP server with their results"),
    "crawl": ("json", "methods of an MCP server with their results; there are no others"),
    "ai_help": ("markdown", "the text of `ai_help`"),
    "manifest": ("json", "part of a service manifest"),
    "target": ("yaml", "part of a target in skillgen.yaml"),
    "overlay": ("yaml", "part of an OpenAPI Overlay"),
    "extra": ("markdown", "a text of `--extra`"),
    "arazzo": ("yaml", "the workflows of an Arazzo file, for an API with `getOrder` and `deleteOrder`"),
}
"""What examples are part of: its syntax, and its name for readers."""


def unknown_code(code: str, where: str) -> UsageError:
    """Returns the error for a code that does not exist, with those that may be meant, the closest first; for one that
    earlier releases had, with the release that removed it."""
    if (error := dropped("rule", code, where)) is not None:
        return error
    words = [known for known in sorted(CODES) if code and code in known]
    close = list(dict.fromkeys([*get_close_matches(code, CODES, n=3), *words]))[:3]
    fix = f"did you mean {' or '.join(close)}?" if close else "run `skillgen rule` to list all codes"
    return UsageError(f"no such code: {code}", where=where, fix=fix)


def explanation(code: str) -> str:
    """Returns meaning, level, clause, fix and examples of a code, in Markdown without a heading."""
    kind = CODES[code]
    facts = [f"Level: {kind.level}."]
    if kind.clause:
        facts.append(f"Clause: {kind.clause}.")
    if kind.known_as:
        facts.append(f"Also known as {kind.known_as}.")
    if kind.is_optional:
        facts.append("`lint` reports it only if `--select` names it.")
    paragraphs = [f"{kind.meaning[:1].upper()}{kind.meaning[1:]}.", " ".join(facts)]
    if kind.fix:
        paragraphs.append(f"Fix: {kind.fix}.")
    if kind.case:
        paragraphs.append(f"Case: {kind.case}.")
    else:
        syntax, part = PARTS[kind.part]
        for label, example in ((f"Bad ({part})", kind.bad), ("Good", kind.good)):
            paragraphs += [f"{label}:", f"```{syntax}\n{example}```"]
    return "\n\n".join(paragraphs) + "\n"
