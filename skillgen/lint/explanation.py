"""Explains kinds of problems: meaning, clause, fix and examples, for `skillgen rule` and docs/rules.md."""

from __future__ import annotations

import json
from difflib import get_close_matches
from functools import cache
from importlib.resources import files

import yaml
from msgspec import Struct

from skillgen.errors import UsageError
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
    "arazzo": ("yaml", "the workflows of an Arazzo file, for an API with `getOrder` and `deleteOrder`"),
}
"""What examples are part of: its syntax, and its name for readers."""


@cache
def _examples() -> dict[str, Examples]:
    """Returns the examples of every code."""
    data = yaml.safe_load(_text_of("examples.yaml"))
    cases = {code: Examples(case=case) for code, case in data.pop("case").items()}
    return cases | {code: Examples(part=part, **pair) for part, pairs in data.items() for code, pair in pairs.items()}


@cache
def _hit_rates() -> dict[str, str]:
    """Returns how many of the measured sources each code hits, and how often it is right, in words."""
    measured = json.loads(_text_of("hit_rates.json"))
    reviewed = measured.pop("reviewed")
    codes = dict.fromkeys(code for kind in measured.values() for code in kind["rates"])
    sentences = {
        code: "Found in "
        + " and ".join(
            f"{kind['rates'][code]} % of {kind['count']} {name}"
            for name, kind in measured.items()
            if code in kind["rates"]
        )
        + "."
        for code in codes
    }
    for code, (right, read) in reviewed["findings"].items():
        review = f"Right in {right} of {read} findings that were read."
        sentences[code] = f"{sentences[code]} {review}" if code in sentences else review
    return sentences


def _text_of(name: str) -> str:
    return files("skillgen.lint").joinpath(name).read_text("utf-8")


def unknown_code(code: str, where: str) -> UsageError:
    """Returns the error for a code that does not exist, with those that may be meant, the closest first."""
    words = [known for known in sorted(CODES) if code and code in known]
    close = list(dict.fromkeys([*get_close_matches(code, CODES, n=3), *words]))[:3]
    fix = f"did you mean {' or '.join(close)}?" if close else "run `skillgen rule` to list all codes"
    return UsageError(f"no such code: {code}", where=where, fix=fix)


def explanation(code: str) -> str:
    """Returns meaning, level, clause, fix, hit rate and examples of a code, in Markdown without a heading."""
    kind = CODES[code]
    facts = [f"Level: {kind.level}."]
    if kind.clause:
        facts.append(f"Clause: {kind.clause}.")
    if kind.subject:
        facts.append(f"Subject: {kind.subject}.")
    if kind.known_as:
        facts.append(f"Also known as {kind.known_as}.")
    if kind.is_optional:
        facts.append("`lint` reports it only if `--select` names it.")
    paragraphs = [_sentence(kind.meaning), " ".join(facts)]
    if kind.fix:
        paragraphs.append(f"Fix: {kind.fix}.")
    if code in _hit_rates():
        paragraphs.append(_hit_rates()[code])
    examples = _examples().get(code)
    if examples is not None and examples.case:
        paragraphs.append(f"Case: {examples.case}.")
    elif examples is not None:
        syntax, part = PARTS[examples.part]
        for label, example in ((f"Bad ({part})", examples.bad), ("Good", examples.good)):
            paragraphs += [f"{label}:", f"```{syntax}\n{example}```"]
    return "\n\n".join(paragraphs) + "\n"


def _sentence(clause: str) -> str:
    return f"{clause[:1].upper()}{clause[1:]}."


_PROSE = """\
## What a person wrote

`build` and `lint` check the texts of `skillgen.yaml`, and `lint --skill PATH SOURCE` a complete skill. A name that the
source writes anywhere, also in a text, is known. Only these are checked:

- a tool: a code span with a name, or a name after "call", "use" or before "tool", that has the style of the tools
  (`snake_case`, `kebab-case` or `camelCase`) and the first word of one of them; and `mcp__SERVER__NAME` anywhere, if
  SERVER has a word of the service's name
- a parameter: a code span next to the word parameter, argument, option or flag, and the arguments of a call
- a value: `NAME=VALUE` or `NAME: VALUE` in a code span, if all parameters with that name list their values
- a variable: a code span in capitals with the first word of a variable of the service
- a command of a program: words after its name that are no command, and options that no command has; of a program that
  is known by its help only options that are nearly those of the help
- a path of an API: a code span that begins with a segment of its paths, with or without a method
- a call: a tool followed by its arguments in `(…)` or `{…}`, JSON with the name of a tool and its arguments, and `curl`
  with a URL of the API; placeholders and what `...` leaves out have any value
- a version: `NAME@VERSION` or `NAME==VERSION` of the service or its package
- a URL: one with a host of the API, and another scheme or another version in its path

"""


def rules_page() -> str:
    """Returns docs/rules.md: every code with its level and meaning, then each with fix and examples."""
    reviewed = json.loads(_text_of("hit_rates.json"))["reviewed"]
    rows = "".join(f"| [`{code}`](#{code}) | {kind.level} | {kind.meaning} |\n" for code, kind in sorted(CODES.items()))
    sections = "".join(f"\n## {code}\n\n{explanation(code)}" for code in sorted(CODES))
    return f"""# Rules

A problem is a defect of one part of a source, or of a file in OUT. It is reported on standard error and in the `--json`
report, and the rest is still documented. `info` problems are printed with `-v`; `--strict` treats warnings as errors.
`skillgen rule CODE` prints the section of a code.

`skillgen lint SOURCE` reports the problems of a source without writing documents, with rules that only it checks; its
`error` is what is useless to agents, and exits with 1. A rule that most sources break is optional, and one whose
findings are mostly wrong. "Found in" says how many public descriptions and servers break a rule at least once. A person
read findings of {len(reviewed["findings"])} rules in their sources ({reviewed["when"]}). MUST and SHOULD say how
strictly the clause asks, and the subject is the part of the [quality score](scores.md) that a rule counts for. "Also
known as" names codes of Snyk's agent-scan and of Agent Threat Rules (ATR) for the same defect. This page is generated:
`make golden`.

{_PROSE}
| code | level | meaning |
| --- | --- | --- |
{rows}{sections}"""


if __name__ == "__main__":
    print(rules_page(), end="")
