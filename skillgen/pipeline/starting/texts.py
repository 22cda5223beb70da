"""The text of a new project's file, of its entry for pre-commit, and of the schema that editors read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from skillgen.config.schema import project_schema
from skillgen.pipeline.options import DEFAULT_OUT
from skillgen.pipeline.starting.proposal import Proposal
from skillgen.pipeline.starting.proposals import Proposals

SCHEMA_NAME = ".skillgen.schema.json"
"""It stands beside the project's file: every checkout has it, without a network and wherever skillgen is installed."""

_PLAIN = re.compile(r"(?!(?:null|true|false|yes|no|on|off|y|n)\Z)\.?[A-Za-z_][\w./+-]*\Z", re.ASCII | re.IGNORECASE)

_HEAD = f"""\
# yaml-language-server: $schema=./{SCHEMA_NAME}
#
# What skillgen documents. `skillgen build` makes the documents of every target, `skillgen build --check` says in CI
# whether they are still true. Paths are relative to this file. Secrets come from the environment: ${{NAME}}.
# `build` and the hooks run the commands below, as make runs those of a Makefile.

targets:
"""
_WORDS = """\
    # out: {out}
    # emit: [skill, llms, ai-help, registry]
    # Words of your own win over what the source says:
    # description: What it does. Use when the user plans work.
    # when-to-use: [plan the week, find an open task]
    # not-for: [bug reports]
    # notes: |
    #   What else an agent should know, in Markdown.
"""
_EXAMPLES = """\
  # Take out the # of the one that fits, and correct it:
  #
  # api:
  #   source: {openapi: openapi.yaml}                 # a file or a URL
  #
  # app:                                              # a FastAPI application
  #   source:
  #     openapi-command: [python, -c, "import json; from main import app; print(json.dumps(app.openapi()))"]
  #
  # server:                                           # an MCP server that a command starts
  #   source: {command: [python, server.py]}
  #
  # hosted:                                           # an MCP server at an address
  #   source: {url: "https://example.com/mcp", headers: {Authorization: "Bearer ${TOKEN}"}}
"""

PRE_COMMIT_NAME = ".pre-commit-config.yaml"
_HOOK = """\
  - repo: local
    hooks:
      - id: skillgen-build
        name: skillgen build
        entry: skillgen build --fail-on-change
        language: system
        pass_filenames: false
        always_run: true
"""


def project_text(proposals: Proposals) -> str:
    """Gives a project's file: the chosen targets, the others as comments; examples where nothing was found."""
    if not proposals.chosen:
        return _HEAD + _EXAMPLES
    first, *rest = proposals.chosen
    parts = [_target(first) + _WORDS.format(out=DEFAULT_OUT if not rest else f"{DEFAULT_OUT}/{first.name}")]
    parts += [_target(proposal) for proposal in rest]
    if proposals.others:
        parts.append(_commented(proposals.others))
    return _HEAD + "\n".join(parts)


def pre_commit_text() -> str:
    """Gives a configuration of pre-commit that makes the documents at each commit, by the installed skillgen."""
    return f"repos:\n{_HOOK}"


def pre_commit_entry() -> str:
    """Gives what is added to a configuration that there is, below `repos:`."""
    return _HOOK


def schema_text() -> str:
    """Gives the JSON Schema of the project's file."""
    return json.dumps(project_schema(), ensure_ascii=False, indent=1) + "\n"


def target_text(proposal: Proposal) -> str:
    """Gives one target, as it stands below `targets:`."""
    return _target(proposal)


def _commented(proposals: Iterable[Proposal]) -> str:
    lines = "".join(_target(proposal) for proposal in proposals).splitlines()
    return "  # Also found, and left out: take out the # where you want it.\n" + "".join(
        f"  # {line[2:]}".rstrip() + "\n" for line in lines
    )


def _target(proposal: Proposal) -> str:
    lines = [f"  # {_one_line(proposal.found)}"]
    lines += [f"  # first: {_one_line(caution)}" for caution in proposal.cautions]
    if proposal.alternatives:
        lines.append(f"  # other commands of it: {_one_line(', '.join(proposal.alternatives))}")
    lines += [f"  {_scalar(proposal.name)}:", "    source:"]
    for key, value in proposal.source.items():
        lines.append(f"      {key}: {_value(value)}")
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_scalar(key)}: {_scalar(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_scalar, value)) + "]"
    return _scalar(str(value))


def _scalar(text: str) -> str:
    """Gives text as YAML: plain where nothing in it could be taken for something else, else as JSON has it."""
    return text if _PLAIN.match(text) else json.dumps(text, ensure_ascii=True)


def _one_line(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)[:200]
