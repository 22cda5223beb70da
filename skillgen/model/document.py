"""A document, and the formats and profiles of documents, each declared here and nowhere else.

The options, the schema of `skillgen.yaml`, the help and docs/formats.md are derived from `FORMATS` and `PROFILES`.
"""

from __future__ import annotations

from msgspec import Struct

BYTES_PER_TOKEN = 4
"""Tokens are counted as UTF-8 bytes / 4, rounded up (design, "Output")."""

DEFAULT_BUDGET = 3_000
"""Tokens of SKILL.md at most."""


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


UNKNOWN_PUBLISHER = Publisher()


class Format(Struct, frozen=True, kw_only=True):
    """A format of `--emit`."""

    purpose: str
    """What is written, for help and documentation."""

    files: tuple[str, ...]
    """What is written, relative to OUT; `NAME` is the name of the skill, `TOOL` that of a tool."""

    specification: str
    """What it follows, as Markdown for docs/formats.md."""

    renderer: str
    """The function that yields its documents from a `Rendering`, and problems such as texts that had to be left out, as
    `module:name`: it is imported when it is needed."""

    site_renderer: str = ""
    """The function that yields the documents above those of several services from a `Site`; empty if it has no such
    documents."""


_DASHDASH = "[dashdash](https://github.com/visionik/dashdash) 0.2.0"

FORMATS: dict[str, Format] = {
    "skill": Format(
        purpose="a skill: SKILL.md and its references",
        files=("skills/NAME/SKILL.md", "skills/NAME/references/"),
        specification="[Agent Skills](https://agentskills.io/specification)",
        renderer="skillgen.render.skill:skill_documents",
    ),
    "scripts": Format(
        purpose="a program in the skill that calls the tools, for hosts without them",
        files=("skills/NAME/scripts/call.py", "skills/NAME/scripts/tools.json"),
        specification="[Agent Skills](https://agentskills.io/specification); Python 3.9, its standard library alone",
        renderer="skillgen.render.skill:script_documents",
    ),
    "llms": Format(
        purpose="llms.txt and llms-full.txt",
        files=("llms.txt", "llms-full.txt"),
        specification=f"[llmstxt.org](https://llmstxt.org) and the web profile of {_DASHDASH}",
        renderer="skillgen.render.formats:llms_documents",
        site_renderer="skillgen.render.formats:site_documents",
    ),
    "ai-help": Format(
        purpose="ai-help.md, the text of an --ai-help flag",
        files=("ai-help.md",),
        specification=f"the CLI profile of {_DASHDASH}",
        renderer="skillgen.render.ai_help:ai_help_documents",
    ),
    "ai-help-commands": Format(
        purpose="a help text for each tool, in ai-help/",
        files=("ai-help/TOOL.md",),
        specification=f"the CLI profile of {_DASHDASH}",
        renderer="skillgen.render.ai_help:command_documents",
    ),
    "registry": Format(
        purpose="registry.json, dashdash's discovery entry",
        files=("registry.json",),
        specification=f"the discovery entry of {_DASHDASH}",
        renderer="skillgen.render.dashdash:registry_documents",
    ),
    "plugin": Format(
        purpose="a plugin with the skill and the server, for Claude Code, Codex, Cursor and others",
        files=("plugin/", ".claude-plugin/", ".cursor-plugin/", ".agents/plugins/"),
        specification="[Agent Plugins](https://agent-plugins.org) 1.0.0; above several services, marketplaces",
        renderer="skillgen.render.plugin:plugin_documents",
        site_renderer="skillgen.render.plugin:marketplace_documents",
    ),
    "server-json": Format(
        purpose="the entry of an MCP server in a registry",
        files=("server.json",),
        specification="[MCP registry](https://github.com/modelcontextprotocol/registry) 2025-12-11",
        renderer="skillgen.render.well_known:server_json_documents",
    ),
    "server-card": Format(
        purpose="the card of a hosted MCP server; with `well-known`, also there",
        files=("server-card.json",),
        specification="the draft of [server cards](https://github.com/modelcontextprotocol/modelcontextprotocol/pull/2127)",
        renderer="skillgen.render.well_known:server_card_documents",
    ),
    "well-known": Format(
        purpose="a folder to serve below /.well-known/: the skill with its digest, catalogues, headers",
        files=("well-known/",),
        specification="[Agent Skills discovery](https://github.com/cloudflare/agent-skills-discovery-rfc) 0.2.0, "
        "[ARD](https://github.com/ards-project/ard-spec) 0.9, [RFC 9727](https://www.rfc-editor.org/rfc/rfc9727)",
        renderer="skillgen.render.well_known:well_known_documents",
        site_renderer="skillgen.render.well_known:well_known_site",
    ),
    "tool-descriptions": Format(
        purpose="a full description of each tool, and the minimal list of tools",
        files=("tool-descriptions/TOOL.json", "tool-descriptions/tools-list.json"),
        specification="progressive disclosure for MCP 2.1",
        renderer="skillgen.render.declarations:tool_description_documents",
    ),
    "dashdash": Format(
        purpose="the dashdash objects of a server, its tools and its resources, and both results of ai_help",
        files=("dashdash.json",),
        specification=f"the MCP profile of {_DASHDASH}",
        renderer="skillgen.render.declarations:dashdash_documents",
    ),
    "skills-list": Format(
        purpose="what a server that has the skill answers to skills/list",
        files=("skills-list.json",),
        specification="the MCP extension [Skills](https://github.com/modelcontextprotocol/ext-skills); "
        "[how a server has it](skills-list.md)",
        renderer="skillgen.render.declarations:skills_list_documents",
    ),
    "service-manifest": Format(
        purpose="a manifest of the server and its tools",
        files=("service-manifest.json",),
        specification="[MCP extension proposals](https://github.com/davioe/mcp-extension-proposals) 0.1.0",
        renderer="skillgen.render.declarations:manifest_documents",
    ),
    "html": Format(
        purpose="a static site with a search, for people",
        files=("html/",),
        specification="a folder for any web server or `file://`; no page loads anything from elsewhere",
        renderer="skillgen.render.website:html_documents",
        site_renderer="skillgen.render.website:html_site_documents",
    ),
}
"""Every format by its name, in rendering order."""

DEFAULT_FORMATS = ("skill", "llms", "ai-help", "registry")
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


def format_table() -> str:
    """Returns docs/formats.md: every format with its files and what it follows."""
    rows = ""
    for name, item in FORMATS.items():
        files = ", ".join(f"`{file}`" for file in item.files)
        rows += (
            f"| `{name}`{' *' if name in DEFAULT_FORMATS else ''} | {item.purpose} | {files} | {item.specification} |\n"
        )
    return f"""# Formats

`--emit` takes these names, separated by commas; without it, the formats with a star are written. Files are relative to
`--out`; with several services, each has a folder there. This page is generated: `make golden`.

| format | content | files | follows |
| --- | --- | --- | --- |
{rows}"""


if __name__ == "__main__":
    print(format_table(), end="")
