"""A document, and the formats and profiles of documents, each declared here and nowhere else.

The options, the schema of `skillgen.yaml` and the help are derived from `FORMATS` and `PROFILES`.
"""

from __future__ import annotations

from msgspec import Struct

from skillgen.errors import Problem


class Document(Struct, frozen=True):
    """A file that skillgen would write."""

    path: str
    """Relative to OUT, with forward slashes."""

    text: str
    """Its content, with `\\n` line ends and one at the end."""

    problems: tuple[Problem, ...] = ()
    """What was left out of it."""


class Format(Struct, frozen=True, kw_only=True):
    """A format of `--emit`."""

    purpose: str
    """What is written, for help and documentation."""

    renderer: str
    """The function that yields its documents from a `Rendering`, as `module:name`: it is imported when it is needed."""

    is_default: bool = True
    """Whether it is written without `--emit`."""


FORMATS: dict[str, Format] = {
    "skill": Format(
        purpose="a skill: SKILL.md and its references",
        renderer="skillgen.render.skill:skill_documents",
    ),
    "llms": Format(
        purpose="llms.txt and llms-full.txt",
        renderer="skillgen.render.llms:llms_documents",
    ),
    "ai-help": Format(
        purpose="ai-help.md, the text of an --ai-help flag",
        renderer="skillgen.render.ai_help:ai_help_documents",
    ),
    "ai-help-commands": Format(
        purpose="a help text for each tool, in ai-help/",
        renderer="skillgen.render.ai_help:command_documents",
        is_default=False,
    ),
    "registry": Format(
        purpose="registry.json, dashdash's discovery entry",
        renderer="skillgen.render.dashdash:registry_documents",
    ),
}
"""Every format by its name, in rendering order."""

DEFAULT_FORMATS = tuple(name for name, item in FORMATS.items() if item.is_default)
"""The formats without `--emit`."""

PROFILES = {
    "portable": "the six fields of Agent Skills",
    "claude": "those and Claude Code's own",
}
"""Every profile of SKILL.md's front matter by its name."""

SCREENINGS = {
    "quote": "quoted in the references, left out elsewhere, and reported",
    "warn": "left in its place, and reported",
    "off": "not searched for",
}
"""What can happen to text of a source that addresses the model, by name."""

DEFAULT_SCREENING = "quote"
"""The screening for a source that nobody has read."""

DEFAULT_PROFILE = "portable"
"""The profile that every host reads."""
