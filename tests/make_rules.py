"""Prints docs/rules.md, every kind of problem with its examples: `make golden` runs it."""

from __future__ import annotations

import sys

from skillgen.errors import CODES
from skillgen.rules.reports import explanation

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
- a command of a program: the word after its name or after one of its groups. Of a program that is known by its help,
  a word that its help writes anywhere is known, and nothing is reported where the help of commands cannot be read. An
  option, unless only the help is known, which may not list all options
- a path of an API: a code span that begins with the first segment of one, with or without a method; other operations
  may have a longer path, and `{id}`, `:id` and `<id>` are any segment
- a call of a tool: its arguments in `(…)` or `{…}` behind the name, or in JSON with the name of the tool
- a request: `curl` with a base URL of the API. Credentials, media types and what `$(…)` inserts are not checked. What
  is inserted into a path may have a slash
- in calls and requests, a placeholder has any value, and `...` is what is left out
- a version: `NAME@VERSION` or `NAME==VERSION` with the name of the service or its package
- a URL on a host of the API: without encryption, or with another version in its path

In November 2026, hand-written skills of public repositories were checked against their servers, APIs and programs, in
three samples. Of 140 findings on the first 84 skills, 1 was wrong, and 18 were on calls that a service may accept
although its description does not. A second sample of 45 skills showed five more kinds of false findings, on commands
of programs whose help is incomplete, paths with placeholders, and names of functions; these are no longer reported. On
a third of 60 skills, read after that, 36 findings were made, and 1 was wrong: `turbo build` is short for a task.

"""


def rules_page() -> str:
    """Returns the page: every code with its level and meaning, then each with fix and examples."""
    rows = "".join(f"| [`{code}`](#{code}) | {kind.level} | {kind.meaning} |\n" for code, kind in sorted(CODES.items()))
    sections = "".join(f"\n## {code}\n\n{explanation(code)}" for code in sorted(CODES))
    return f"""# Rules

A problem is a defect of one part of a source, or of a file in OUT. It is reported on standard error and in the `--json`
report, and the rest is still documented. `info` problems are printed with `-v`; `--strict` treats warnings as errors.
`skillgen rule CODE` prints the section of a code.

`skillgen lint SOURCE` reports the problems of a source without writing documents, with rules that only it checks; its
`error` is what is useless to agents, and exits with 1. A rule that most sources break is optional, and one whose
findings are mostly wrong. MUST and SHOULD say how strictly the clause asks. "Also known as" names codes of Snyk's
agent-scan and of Agent Threat Rules (ATR) for the same defect. This page is generated: `make golden`.

{_PROSE}
| code | level | meaning |
| --- | --- | --- |
{rows}{sections}"""


if __name__ == "__main__":
    sys.stdout.buffer.write(rules_page().encode())
