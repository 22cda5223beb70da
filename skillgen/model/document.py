"""A document, and the formats and profiles of documents, each declared here and nowhere else.

The options and the schema of `skillgen.yaml` are derived from `FORMATS` and `PROFILES`; docs/formats.md says what is in
the documents.
"""

from __future__ import annotations

from msgspec import Struct

BYTES_PER_TOKEN = 4
"""Tokens are counted as UTF-8 bytes / 4, rounded up (design, "Output")."""

DEFAULT_BUDGET = 3_000
"""Tokens of SKILL.md at most."""

TEXTS_NAME = "texts.yaml"
"""The file in OUT with the texts that `draft` wrote of a service without a project."""


class Document(Struct, frozen=True):
    """A file that skillgen would write."""

    path: str
    """Relative to OUT, with forward slashes."""

    text: str
    """Its content, with `\\n` line ends and one at the end."""

    @property
    def content(self) -> bytes:
        """Its bytes."""
        return self.text.encode("utf-8")


class Artifact(Struct, frozen=True):
    """A file that another document names with a digest, such as an archive: it is written byte for byte, and an edit is
    a conflict, because nothing could be added without making the digest wrong."""

    path: str
    """Relative to OUT, with forward slashes."""

    content: bytes
    """Its bytes."""


SERVER_CARDS = {"v1": "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"}
"""The versions of the server card to the schema of each."""


class Publisher(Struct, frozen=True, kw_only=True):
    """Who publishes the service, as the author declares it."""

    domain: str | None = None
    """Its domain: `acme.com`."""

    base_url: str | None = None
    """The URL below which the documents are served."""

    namespace: str | None = None
    """Its namespace in registries: `com.acme`, `io.github.acme`."""

    server_card: str = next(iter(SERVER_CARDS))
    """The version of the server card's schema."""


class Format(Struct, frozen=True):
    """A format of `--emit`."""

    renderer: str
    """The function that yields its documents from a `Rendering`, and problems such as texts that had to be left out, as
    `module:name`: it is imported when it is needed."""

    site_renderer: str = ""
    """The function that yields the documents above those of several services from a `Site`; empty if it has no such
    documents."""


SERVER_FORMATS = ("server-json", "server-card", "tool-descriptions", "dashdash", "service-manifest")
"""The formats that only MCP servers have."""

FORMATS = {
    "skill": Format("skillgen.render.skill:skill_documents"),
    "scripts": Format("skillgen.render.skill:script_documents"),
    "llms": Format("skillgen.render.formats:llms_documents", "skillgen.render.formats:site_documents"),
    "ai-help": Format("skillgen.render.ai_help:ai_help_documents"),
    "ai-help-commands": Format("skillgen.render.ai_help:command_documents"),
    "registry": Format("skillgen.render.ai_help:registry_documents"),
    "plugin": Format("skillgen.render.publishing:plugin_documents", "skillgen.render.publishing:marketplace_documents"),
    "server-json": Format("skillgen.render.publishing:server_json_documents"),
    "server-card": Format("skillgen.render.well_known:server_card_documents"),
    "well-known": Format(*["skillgen.render.well_known:well_known_documents"] * 2),
    "tool-descriptions": Format("skillgen.render.declarations:tool_description_documents"),
    "dashdash": Format("skillgen.render.declarations:dashdash_documents"),
    "skills-list": Format("skillgen.render.declarations:skills_list_documents"),
    "service-manifest": Format("skillgen.render.declarations:manifest_documents"),
    "html": Format("skillgen.render.website:html_documents", "skillgen.render.website:html_site_documents"),
}
"""Every format by its name, in rendering order."""

DEFAULT_FORMATS = ("skill", "llms", "ai-help", "registry")
"""The formats without `--emit`."""

PROFILES = {"portable": "the six fields of Agent Skills", "claude": "those and Claude Code's own"}
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


class RenderOptions(Struct, frozen=True, kw_only=True):
    """What the user wants of the documents of a service."""

    formats: tuple[str, ...] = DEFAULT_FORMATS
    """The formats that are rendered."""

    overrides: str | None = None
    """The folder of the user's templates."""

    profile: str = DEFAULT_PROFILE
    """The profile of SKILL.md's front matter."""

    publisher: Publisher = Publisher()
    """Who publishes the service."""

    budget: int = DEFAULT_BUDGET
    """Tokens of SKILL.md."""
