"""Explains kinds of problems: meaning, clause, fix and examples, for `skillgen rule` and docs/rules.md."""

from __future__ import annotations

import json
from difflib import get_close_matches
from functools import cache
from importlib.resources import files

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
    return files("skillgen.rules").joinpath(name).read_text("utf-8")


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
    if kind.case:
        paragraphs.append(f"Case: {kind.case}.")
    else:
        syntax, part = PARTS[kind.part]
        for label, example in ((f"Bad ({part})", kind.bad), ("Good", kind.good)):
            paragraphs += [f"{label}:", f"```{syntax}\n{example}```"]
    return "\n\n".join(paragraphs) + "\n"


def _sentence(clause: str) -> str:
    return f"{clause[:1].upper()}{clause[1:]}."


_PROSE = """\
## What a person wrote

`build` and `lint` check the texts of `skillgen.yaml` and the lines that a person added to SKILL.md, every other run
that writes documents these lines too, and `lint --skill PATH SOURCE` a complete skill. A name that the source writes
anywhere, also in a text, is known. These are checked, and nothing else:

- a tool: a code span with a name, or a name after "call", "use" or another such verb or before "tool", in the style of
  the tools (`snake_case`, `kebab-case` or `camelCase`) and with the first word of one of them; of an MCP server also
  the words of a tool in another style, and `mcp__SERVER__NAME` anywhere if SERVER has a word of the service's name
- a parameter: a code span next to the word parameter, argument, option or flag; a value: `NAME=VALUE` or `NAME: VALUE`
  in a code span, if all parameters of that name list their values. In a skill, only in a paragraph that names a tool
- a variable: a code span in capitals with the first word of a variable of the service
- a command of a program: the word after its name or after one of its groups; an option, unless only the help of the
  program is known, since help texts do not list all options
- a path of an API: a code span that begins with the first segment of one, with or without a method; other operations
  may have a longer path, and `{id}`, `:id` and `<id>` are any segment
- a call of a tool: its arguments in `(…)` or `{…}` behind the name, or in JSON with the name of the tool
- a request: `curl` with a host of the API. Credentials and media types are not checked
- in calls and requests, a placeholder has any value, and `...` is what is left out
- a version: `NAME@VERSION` or `NAME==VERSION` with the name of the service or its package
- a URL on a host of the API: without encryption, or with another version in its path

In November 2026, 46 hand-written skills of public repositories were checked against their servers, APIs and programs.
Of 107 findings, 1 was wrong, on a command that the help of its program hides; 8 were on calls that a service may accept
although its description, which has broken values there, does not. Half were on APIs whose description was older than
the skill.

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
