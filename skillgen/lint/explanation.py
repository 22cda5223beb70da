"""Explains kinds of problems: meaning, clause, fix and examples, for `skillgen rule` and docs/rules.md."""

from __future__ import annotations

from difflib import get_close_matches
from importlib.resources import files

import yaml
from msgspec import Struct

from skillgen.problem_codes import CODES


class Examples(Struct, frozen=True):
    """A bad and a good example of a kind of problem, or the case in which it is reported."""

    part: str = ""
    """What the examples are part of: a key of `PARTS`."""

    bad: str = ""
    good: str = ""

    case: str = ""
    """The case of a problem that no short example shows."""


PARTS = {
    "description": ("yaml", "part of an OpenAPI description"),
    "answers": ("json", "methods of an MCP server with their results"),
    "crawl": ("json", "methods of an MCP server with their results; there are no others"),
    "ai_help": ("markdown", "the text of `ai_help`"),
    "manifest": ("json", "part of a service manifest"),
    "target": ("yaml", "part of a target in skillgen.yaml"),
    "overlay": ("yaml", "part of an OpenAPI Overlay"),
    "extra": ("markdown", "a text of `--extra`"),
}
"""What examples are part of: its syntax, and its name for readers."""


def load_examples() -> dict[str, Examples]:
    """Returns the examples of every code."""
    data = yaml.safe_load(files("skillgen.lint").joinpath("examples.yaml").read_text("utf-8"))
    cases = {code: Examples(case=case) for code, case in data.pop("case").items()}
    return cases | {code: Examples(part=part, **pair) for part, pairs in data.items() for code, pair in pairs.items()}


def similar_codes(code: str) -> list[str]:
    """Returns the codes that a person may have meant, the closest first."""
    words = [known for known in sorted(CODES) if code and code in known]
    return list(dict.fromkeys([*get_close_matches(code, CODES, n=3), *words]))[:3]


def explanation(code: str, examples: Examples | None) -> str:
    """Returns meaning, level, clause, fix and examples of a code, in Markdown without a heading."""
    kind = CODES[code]
    lines = [f"Level: {kind.level}."]
    if kind.clause:
        lines.append(f"Clause: {kind.clause}.")
    text = f"{_sentence(kind.meaning)}\n\n{' '.join(lines)}\n"
    if kind.fix:
        text += f"\nFix: {kind.fix}.\n"
    if examples is None:
        return text
    if examples.case:
        return f"{text}\nCase: {examples.case}.\n"
    syntax, part = PARTS[examples.part]
    for label, example in ((f"Bad ({part})", examples.bad), ("Good", examples.good)):
        text += f"\n{label}:\n\n```{syntax}\n{example}```\n"
    return text


def _sentence(clause: str) -> str:
    return f"{clause[:1].upper()}{clause[1:]}."


def rules_page() -> str:
    """Returns docs/rules.md: every code with its level and meaning, then each with fix and examples."""
    examples = load_examples()
    rows = "".join(f"| [`{code}`](#{code}) | {kind.level} | {kind.meaning} |\n" for code, kind in sorted(CODES.items()))
    sections = "".join(f"\n## {code}\n\n{explanation(code, examples.get(code))}" for code in sorted(CODES))
    return f"""# Rules

A problem is a defect of one part of a source, or of a file in OUT. It is reported on standard error and in the `--json`
report, and the rest is still documented. `info` problems are printed with `-v`; `--strict` treats warnings as errors.
`skillgen rule CODE` prints the section of a code. This page is generated: `make golden`.

| code | level | meaning |
| --- | --- | --- |
{rows}{sections}"""


if __name__ == "__main__":
    print(rules_page(), end="")
