"""The text of an `--ai-help` flag (dashdash CLI profile), and the front matter and registry entry of seed 000."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain, islice, zip_longest
from typing import Any

from skillgen.model.calls import Example
from skillgen.model.document import BYTES_PER_TOKEN, DEFAULT_BUDGET, Document
from skillgen.model.mcp_fields import REQUIREMENTS, SERVICE, camel, declared
from skillgen.model.resource import Section as SourceSection
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.values import Json, is_inferred
from skillgen.render.about import recipes_text, resource_and_prompt_lines, said_by, workflow_lines
from skillgen.render.access import logins, url_of
from skillgen.render.identity import description, is_quoted, skill_name, what_and_when
from skillgen.render.listing import FORMS, Listing, list_tools, shared_start
from skillgen.render.pages import Section, file_stems, types_reachable
from skillgen.render.parameters import lists_requests
from skillgen.render.publishing import with_values
from skillgen.render.reference import Reference, SingleFile, Topic
from skillgen.render.results import command_errors
from skillgen.render.semantics import (
    cautions,
    date_formats,
    deprecated_names,
    limit_headers,
    operational_facts,
    rate_limit_phrase,
)
from skillgen.render.skill import SAID_SHARE, Rendering, cut_lines
from skillgen.text import lazy_re as re
from skillgen.text.inert import GENERATOR, KEY, OWN_WORDS, inert, marked

_LINKS = ("homepage", "repository", "statusPage")
_OBJECTS = ("requires", "invocation")
"""Members whose members are fields; the names of package managers under `install` stay."""

SPEC_URL = "https://github.com/visionik/dashdash"
SPEC_VERSION = "0.2.0"

_AUTH_METHODS = {"bearer": "bearer", "api-key": "api-key", "oauth2": "oauth2", "basic": "basic", "cookie": "cookie",
                 "session": "session", "bearer_token": "bearer", "api_key": "api-key", "oauth2_code": "oauth2",
                 "oauth2_device": "oauth2"}  # fmt: skip
_CLI_LEVELS = {"browse": "interact"}
"""Levels that the CLI profile lacks, to the next more cautious one."""


def cli_front_matter(service: Service, *, subcommand_help: bool = False) -> dict[str, Any]:
    """Returns the front matter of `--ai-help` (CLI profile, 3.4.1); an unknown URL is `none`.

    `subcommand_help` is true if each command has its own help.
    """
    fields = mcp_front_matter(service)
    if service.access.cli is None:
        del fields["cli-url"]
    keys = ("name", "description", "spec-url", "spec-version")
    return {**{key: fields[key] for key in keys}, "subcommand-help": subcommand_help, **fields}


def mcp_front_matter(service: Service) -> dict[str, Any]:
    """Returns the front matter of the result of `ai_help` (MCP profile, 3.3.2); an unknown URL is `none`."""
    level = _CLI_LEVELS.get(service.access_level, service.access_level)
    urls = _urls(service, "web", "mcp", "api", "cli")
    return _front_matter(service, {"accessLevel": level, **urls})


def web_front_matter(service: Service) -> dict[str, Any]:
    """Returns the front matter of llms.txt (web profile, 4.3)."""
    endpoint = service.endpoints[0] if service.endpoints and service.kind == "openapi" else None
    is_known = endpoint is not None and "url" not in (endpoint.origins or {})
    api_endpoint = endpoint.url if endpoint is not None and is_known else service.access.api_endpoint
    access = {"accessLevel": service.access_level, **_urls(service, "cli", "mcp", "api")}
    kinds = ("cookie" if (auth.sent_as or "").startswith("cookie") else auth.kind for auth in logins(service))
    methods = list(dict.fromkeys(_AUTH_METHODS[kind] for kind in kinds if kind in _AUTH_METHODS))
    others = {"apiEndpoint": _web_url(api_endpoint), "authMethods": methods}
    return _front_matter(service, {**access, "webUrl": url_of(service.access.web), **others})


def metadata(service: Service) -> dict[str, Any]:
    """Returns the fields that the metadata of all profiles have, in the spelling of JSON; some may be unset."""
    fields = declared(SERVICE, service, "dashdash")
    requires = declared(REQUIREMENTS, service, "dashdash").get("requires", {})
    requires["auth"] = list(dict.fromkeys(item.kind for item in logins(service)))
    requires["os"] = [name for name in service.requirements.os if name in ("darwin", "linux", "windows")]
    limit = service.rate_limit
    return {
        "name": skill_name(service),
        "description": description(service),
        "specUrl": SPEC_URL,
        "specVersion": SPEC_VERSION,
        "accessLevel": service.access_level,
        "argumentHint": fields.get("argumentHint"),
        "install": dict(service.install or {}),
        "requires": with_values(requires),
        **{key: _web_url(value) if key in _LINKS else value for key, value in fields.items() if key != "identity"},
        "rateLimit": (limit.text or rate_limit_phrase(limit)) if limit else None,
        "emoji": service.emoji,
        camel(KEY): GENERATOR,
        "notDeclared": ", ".join(not_declared(service)),
    }


def _front_matter(service: Service, access: dict[str, Any]) -> dict[str, Any]:
    """Returns metadata with the keys of YAML: who it is, its other access, and what is recommended."""
    fields = metadata(service)
    head = {key: fields.pop(key) for key in ("name", "description", "specUrl", "specVersion")}
    return {
        _kebab(key): {_kebab(name): item for name, item in value.items()} if key in _OBJECTS else value
        for key, value in {**head, **access, **{key: fields[key] for key in fields if key != "accessLevel"}}.items()
    }


def _kebab(key: str) -> str:
    return re.sub(r"(?=[A-Z])", "-", key).lower()


def registry_documents(rendering: Rendering) -> Iterator[Document]:
    """Yields registry.json (seed 000, "MCP servers MAY register"), without `verified`, which others decide."""
    service = rendering.service
    fields = {
        "name": skill_name(service),
        "description": description(service),
        "specVersion": SPEC_VERSION,
        "install": dict(service.install or {}),
        "alternativeAccess": _alternative_access(service),
        "categories": list(service.categories),
    }
    yield Document("registry.json", rendering.templates.render("registry.json.j2", fields=with_values(fields)))


def not_declared(service: Service) -> list[str]:
    """Returns the fields of front matter that the specification requires and nothing declares.

    A reader must not take their values for the author's: `none` is the word for an unknown URL too.
    """
    origins = service.origins or {}
    declared = {
        "name": not is_inferred(service, "product"),
        "title": service.kind == "openapi"
        or ("title" in origins and not origins["title"].source.endswith("erverInfo/title")),
        "description": service.summary is not None or (service.kind == "openapi" and is_quoted(service)),
        "when-to-use": service.when_to_use,
        "access-level": not is_inferred(service, "access_level"),
        **{
            f"{way}-url": getattr(service.access, way) is not None and not is_inferred(service.access, way)
            for way in ("cli", "api", "web", "mcp")
        },
    }
    return [key for key, is_declared in declared.items() if not is_declared]


def _alternative_access(service: Service) -> dict[str, Json]:
    """Returns the declared alternatives: a URL, or null if it is declared that there is no such access.

    An API's documentation is not an alternative to that API, so alone it does not make an entry.
    """
    if service.kind == "openapi" and not (service.access.cli or service.access.web):
        return {}
    links = {"cliUrl": service.access.cli, "apiUrl": service.access.api, "webUrl": service.access.web}
    return {key: url_of(link) for key, link in links.items() if link is not None}


def _urls(service: Service, *names: str) -> dict[str, str]:
    return {f"{name}Url": url_of(getattr(service.access, name)) or "none" for name in names}


def _web_url(url: str | None) -> str | None:
    return url if url is not None and url.startswith(("https://", "http://")) else None


_RECIPES_STEPS = 40
"""Steps of all workflows up to which they are written out; of more, each workflow has a line."""

_QUICK_ITEMS = 20
"""Entries of the quick reference: the groups, then tools."""

_TYPES_LIMIT = 12_000
"""Characters of named types in the help of one command."""

_EXAMPLES_SHOWN = 12

_FEW_EXAMPLES = 3
"""The same where more would hide a command."""

_PROFILE_SECTIONS = {
    "when": ("when to use", "when not to use"),
    "overview": ("overview", "introduction"),
    "quick": ("quick reference",),
    "commands": ("command reference", "commands", "tool reference", "tools"),
    "input": ("input specification", "input"),
    "output": ("output formats", "output"),
    "examples": ("examples",),
    "setup": ("setup", "prerequisites", "setup/prerequisites", "installation"),
    "authentication": ("authentication", "authentication and prerequisites"),
    "limits": ("rate limits", "rate limits and performance"),
    "errors": ("error handling", "errors", "error codes"),
    "access": ("alternative access", "alternative access methods"),
}
"""The profile's sections, with the titles of the source's sections that are merged into each."""

_PROFILE_TITLES = {title: key for key, titles in _PROFILE_SECTIONS.items() for title in titles}


def ai_help_documents(rendering: Rendering) -> Iterator[Document]:
    """Yields ai-help.md: with every parameter if that fits, else a list of tools, else without what is optional."""
    yield Document("ai-help.md", _fitting_text(rendering, DEFAULT_BUDGET * BYTES_PER_TOKEN))


def _fitting_text(rendering: Rendering, limit: int) -> str:
    service, context, texts = rendering.service, _context(rendering), list[str]()
    is_small = rendering.reference.size_bytes() <= limit
    if is_small and len((text := _text(rendering, context, None, False, _EXAMPLES_SHOWN)).encode()) <= limit:
        return text
    empty = Listing(start=shared_start(service))
    for is_brief, examples in ((False, _EXAMPLES_SHOWN), (False, _FEW_EXAMPLES), (True, _FEW_EXAMPLES), (True, 0)):
        text = _text(rendering, context, empty, is_brief, examples)
        if (rest := len(text.encode())) > limit:
            continue
        listing = list_tools(service, rendering.reference, limit - rest - _MARGIN, is_linked=False)
        text = _text(rendering, context, listing, is_brief, examples)
        if len(text.encode()) <= limit:
            texts.append(text)
            if FORMS[-1] not in listing.forms:
                return text
    return texts[0] if texts else cut_lines(text, limit, cautions(service))


_MARGIN = 50
"""Bytes for blank lines around the list, and for what the last scan adds to a few of its lines."""


def _context(rendering: Rendering) -> dict[str, Any]:
    """Returns what the templates are given of every text, however much it has."""
    service, reference = rendering.service, rendering.reference
    quick = [tool for topic in reference.topics for tool in topic.tools]
    has_groups = len(quick) > _QUICK_ITEMS and len(reference.topics) > 1
    groups = sorted(reference.topics, key=lambda topic: -len(topic.tools))[:_QUICK_ITEMS] if has_groups else []
    own: dict[str, list[SourceSection]] = {key: [] for key in (*_PROFILE_SECTIONS, "rest")}
    for section in service.sections:
        own[_PROFILE_TITLES.get(section.title.strip().lower(), "rest")].append(section)
    return {
        **rendering.context,
        "lists_requests": lists_requests(service),
        "trigger": what_and_when(service)[1] or description(service),
        "quick": quick[: _QUICK_ITEMS - len(groups)],
        "quick_groups": groups,
        "fields": cli_front_matter(service, subcommand_help="ai-help-commands" in rendering.options.formats),
        "own": own,
        "own_words": OWN_WORDS,
        "rest": own.pop("rest"),
        "elsewhere": _elsewhere(rendering),
        "examples": [*islice(_examples(reference), _EXAMPLES_SHOWN)],
        "with_json": [
            tool.name
            for tool in service.tools
            if any(item.name == "--json" and not _INPUT.search(item.description or "") for item in tool.parameters)
        ],
        "has_examples": any(map(_has_example, service.tools)),
        "workflow_lines": workflow_lines(service.workflows, service.tools, (), str),
        "media_types": list(dict.fromkeys(name for tool in service.tools for name in tool.output_media_types)),
        "dates": date_formats(service),
        "limit_headers": limit_headers(service),
        "refuses": any(error.code == "429" for tool in service.tools for error in tool.errors),
        "says_limits": any(map(_LIMITS.search, filter(None, (service.description, service.instructions)))),
        "operational": operational_facts(service),
        "offered": resource_and_prompt_lines(service),
        "deprecated": deprecated_names(service),
        "structured": [tool.name for tool in service.tools if tool.output is not None and tool.output.schema],
    }


def _text(
    rendering: Rendering, context: Mapping[str, Any], listing: Listing | None, is_brief: bool, examples: int
) -> str:
    """Returns the text with a list of tools, or their sections; if it is brief, with the required sections only."""
    service, reference, templates = rendering.service, rendering.reference, rendering.templates
    inlined = listing is None
    limit = None if inlined else DEFAULT_BUDGET * BYTES_PER_TOKEN // (SAID_SHARE * (2 if is_brief else 1))
    texts = [said_by(service, limit, "description"), said_by(service, limit, "instructions")]
    steps = sum(len(item.steps) for item in service.workflows)
    context = {
        **context,
        "brief": is_brief,
        "listing": listing,
        "inlined": inlined,
        "texts": [said for said in texts if said.text],
        "examples": context["examples"][:examples],
        "recipes": recipes_text(reference.about, {}) if steps <= _RECIPES_STEPS and not is_brief else "",
        "command_errors": [] if is_brief else command_errors(service),
    }
    file = SingleFile()
    file.add(templates.render("ai-help/first.md.j2", **context))
    if inlined:
        for topic in reference.topics:
            file.add(topic.above)
            file.add_pages(topic.pages)
    file.add_sections(filter(None, [reference.options]))
    file.add(templates.render("ai-help/input.md.j2", **context))
    if inlined:
        file.add_sections(reference.type_sections)
        file.add_sections(filter(None, [reference.errors]), level="")
    file.add(templates.render("ai-help/last.md.j2", **context))
    return inert("ai-help.md", marked(file.text()))


def _examples(reference: Reference) -> Iterator[tuple[Tool, Example]]:
    """Yields the declared examples, one of each group in turn: the largest first, in it those of calls with a body."""

    def shown_of(topic: Topic) -> Iterator[tuple[Tool, Example]]:
        for tool in sorted(topic.tools, key=lambda tool: tool.input is None):
            valid = (item for item in tool.examples if item.is_declared and item.flaw is None)
            yield from ((tool, item) for item in valid if item.input or item.description)

    topics = sorted(reference.topics, key=lambda topic: -len(topic.tools))
    return filter(None, chain.from_iterable(zip_longest(*map(shown_of, topics))))


def _has_example(tool: Tool) -> bool:
    is_shown = any(example.flaw is None for example in tool.examples)
    return is_shown or any("example" in section.title.lower() for section in tool.guidance)


_LIMITS = re.compile(r"rate.?limit|\b429\b|too many requests", re.IGNORECASE)

_INPUT = re.compile(r"\b(?:file|input|parse|read|stdin)", re.IGNORECASE)


def _elsewhere(rendering: Rendering) -> str:
    """Returns the folder, the file or the command that has the parameters of all commands."""
    if rendering.service.kind == "cli":
        return f"{rendering.service.name} COMMAND --help"
    if rendering.skill is None:
        return "llms-full.txt"
    if rendering.parts:
        return "skills/"
    return f"{rendering.folder}/{'references/' if rendering.skill.anchors is None else 'SKILL.md'}"


def command_documents(rendering: Rendering) -> Iterator[Document]:
    """Yields the help of each command, without front matter; what concerns all of them is in ai-help.md (3.4.2)."""
    reference, templates = rendering.reference, rendering.templates
    types = {section.target: section for section in reference.type_sections}
    stems = file_stems((tool.name for tool in rendering.service.tools), frozenset())
    for topic in reference.topics:
        for page in topic.pages:
            for section in page.sections:
                file = SingleFile()
                file.add(templates.render("ai-help/command.md.j2", **rendering.context, name=section.name))
                file.add_tool(section)
                shown = [*([reference.errors] if reference.errors else []), *_linked_types(section, types)]
                file.add_sections(shown, level="")
                yield Document(f"ai-help/{stems[section.name]}.md", file.text())


def _linked_types(section: Section, types: Mapping[str, Section]) -> Iterator[Section]:
    """Yields the named types that a command's section links to, directly or indirectly, up to a size."""
    left = _TYPES_LIMIT
    for found in types_reachable([section], types):
        if len(found.text) <= left:
            left -= len(found.text)
            yield found
