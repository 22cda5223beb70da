"""What the author of an MCP server may declare or serve, as JSON: objects of dashdash and the result of `ai_help` (seed
000), the files of progressive disclosure (seed 003), a list of skills (SEP-2640), and a service manifest (seed 004).

An inferred fact is not the author's statement, so only declared ones are written.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any

import yaml

from skillgen.errors import Problem
from skillgen.model.auth import Auth
from skillgen.model.document import Document
from skillgen.model.mcp_fields import ERROR, LIMIT, RELATED, RESOURCE, SEMANTICS, TOOL, Field, camel, declared
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.values import Json, is_inferred
from skillgen.render.access import logins
from skillgen.render.ai_help import ai_help_documents, cli_front_matter, mcp_front_matter, metadata, not_declared
from skillgen.render.formats import front_matter
from skillgen.render.identity import plain, skill_name, tool_phrase, what_and_when
from skillgen.render.pages import file_stems
from skillgen.render.publishing import (
    UNVERSIONED,
    exact_version,
    json_document,
    left_out,
    published,
    with_values,
    without,
)
from skillgen.render.skill import Rendering
from skillgen.text import lazy_re as re
from skillgen.text.inert import GENERATOR, KEY, OWN_WORDS, digest_of, disarm, marked
from skillgen.text.markdown import inline, one_line
from skillgen.text.summary import sections_of_level
from skillgen.text.words import slug

_OPEN_SCHEMA = {"type": "object", "additionalProperties": True}
"""What seed 003, 3.1, writes in place of the schema in a minimal list."""

_LIST = "tools-list"
"""The file of the minimal list."""

_MANIFEST_NAME = re.compile(r"[a-z][a-z0-9_]*", re.ASCII)
_MANIFEST_VERSION = re.compile(r"\d+\.\d+\.\d+", re.ASCII)
_METHODS = {name: name for name in ("api_key", "bearer_token", "oauth2_code", "oauth2_device", "none")}
_METHODS |= {"api-key": "api_key", "bearer": "bearer_token"}
"""The term of a source for a method of authentication to that of seed 004."""

_FLOWS = {"authorizationCode": "oauth2_code", "deviceAuthorization": "oauth2_device"}
_SKILL_FILES = 512
"""Files that a skill may have in a list (SEP-2640, limits of publication)."""

_FRONT_MATTER = re.compile(r"---\n(.*?)\n---\n", re.DOTALL)

_REQUIRED_FIELDS = ("name", "description", "access-level", "cli-url", "api-url", "web-url")
"""Fields of front matter that the object of the handshake requires too."""


_RESOURCES = "resources-list"
_RESOURCE = {
    "uri": "resource:///tool_descriptions",
    "name": "Tool descriptions, required to call a tool",
    "description": "1. Choose a tool from tools/list by what it does. 2. Read its parameters, examples and errors here "
    "before the first call: resource:///tool_descriptions?tools=NAME, or ?tools=NAME,NAME for several; without ?tools= "
    "the server answers with an error. 3. Call the tool. Reading a description authorises the tool for the session; a "
    "call before that is refused.",
    "mimeType": "application/json",
}
"""The entry of resources/list (seed 003, 4.1, 4.2 and 11.2)."""


def tool_description_documents(rendering: Rendering) -> Iterator[Document | Problem]:
    """Yields a file for each tool, and the minimal list (seed 003, 3.1, 4.4 and 7.1)."""
    service = rendering.service
    stems = file_stems((tool.name for tool in service.tools), frozenset({_LIST, _RESOURCES}))
    entries = []
    for tool in service.tools:
        full = {
            "name": tool.name,
            **_described(tool, "inputSchema"),
            "examples": _examples(tool),
            "usage_guidance": [section.body for section in tool.guidance],
            "error_guidance": [declared(ERROR, error, "entry") for error in tool.errors],
        }
        yield json_document(f"tool-descriptions/{stems[tool.name]}.json", full, keep=("description",))
        entry = {
            "name": tool.name,
            "description": tool_phrase(tool) or one_line(tool.title or ""),
            "inputSchema": _OPEN_SCHEMA,
            "annotations": declared_hints(tool),
        }
        entries.append(with_values(entry, keep=("description",)))
    yield json_document(f"tool-descriptions/{_LIST}.json", {"tools": entries}, keep=("tools",))
    yield json_document(f"tool-descriptions/{_RESOURCES}.json", {"resources": [_RESOURCE]})


def skills_list_documents(rendering: Rendering) -> Iterator[Document | Problem]:
    """Yields skills-list.json: the answer to `skills/list` of a server that has the skill (SEP-2640)."""
    entries = []
    for skill in rendering.skills:
        files = skill.skill_contents
        front = _FRONT_MATTER.match(skill.any_skill.text)
        if front is None or len(files) > _SKILL_FILES:
            needed = f"SKILL.md with front matter and at most {_SKILL_FILES} files"
            yield left_out("skills-list", f"a list needs {needed}; there are {len(files)}")
            return
        base = f"skill://{skill_name(skill.service)}"
        digests = {path: f"sha256:{hashlib.sha256(content).hexdigest()}" for path, content in files.items()}
        resources = [{"uri": f"{base}/{path}", "digest": digests[path], "size": len(files[path])} for path in files]
        entries.append({"uri": f"{base}/SKILL.md", "frontmatter": yaml.safe_load(front[1]), "resources": resources})
    # Nothing is known of who may read it, and for how long: what both SDKs answer by default.
    answer = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", "skills": entries}
    yield json_document("skills-list.json", answer)


def server_object(service: Service) -> dict[str, Json]:
    """Returns the `dashdash` object of the handshake (seed 000, 3.1.2)."""
    fields = metadata(service)
    for key in ("specUrl", camel(KEY)):
        del fields[key]
    identity = {key: fields.pop(key) for key in ("name", "description", "emoji")}
    access = {name: getattr(service.access, name) for name in ("cli", "api", "web")}
    members = {
        "specVersion": fields["specVersion"],
        "identity": with_values({**identity, "description": _declared_description(service) or identity["description"]}),
        "accessLevel": cli_front_matter(service)["access-level"],
        "alternativeAccess": {f"{name}Url": link.json if link else None for name, link in access.items()},
        **{key: value for key, value in fields.items() if key != "accessLevel"},
        "notDeclared": [camel(key) for key in not_declared(service) if key in _REQUIRED_FIELDS],
    }
    return with_values(members, keep=("alternativeAccess",))


def tool_object(tool: Tool) -> dict[str, Json]:
    """Returns the `dashdash` object of a tool (seed 000, 3.2.2)."""
    members = {
        **declared(TOOL, tool, "dashdash"),
        **declared(SEMANTICS, tool.semantics, "dashdash"),
        "examples": _examples(tool),
        "errors": [declared(ERROR, error, "entry") for error in tool.errors if error.code],
    }
    return with_values(members)


def dashdash_documents(rendering: Rendering) -> Iterator[Document | Problem]:
    """Yields dashdash.json: the objects of the handshake, of tools by name and of resources by URI, and the results of
    `ai_help` by format (seed 000, 3).
    """
    service = rendering.service
    initialize, tools = server_object(service), {tool.name: tool_object(tool) for tool in service.tools}
    offered = (*service.resources, *service.resource_templates)
    resources = {item.uri: declared(RESOURCE, item, "dashdash") for item in offered}
    objects = {"initialize": initialize, "tools": with_values(tools), "resources": with_values(resources)}
    yield json_document("dashdash.json", {**objects, "ai_help": _ai_help_results(rendering)})
    if is_inferred(service, "access_level"):
        message = f"dashdash requires accessLevel; {initialize['accessLevel']} follows from the effects of the tools"
        yield without("dashdash.json", message, "check it before you paste the object")
    if unknown := [f"{name}Url" for name in ("cli", "api", "web") if getattr(service.access, name) is None]:
        message = f"dashdash requires {', '.join(unknown)}, which the source does not declare; null is in their place"
        yield without("dashdash.json", message, "declare it with `links`, where null says that there is no such access")


_KEYS = {"authenticationAndPrerequisites": "authentication", "rateLimitsAndPerformance": "rateLimits"}
"""Keys of seed 000 for sections of ai-help.md that have a longer title."""


def _ai_help_results(rendering: Rendering) -> dict[str, Json]:
    """Returns the results of `ai_help`, by the requested format (seed 000, 3.3); both have what ai-help.md says.

    The Markdown has the front matter of the MCP profile, and a sentence on what the server does.
    """
    service = rendering.service
    (text,) = (disarm(document.text) for document in ai_help_documents(rendering))
    heading, _, rest = text.partition("\n---\n")[2].lstrip("\n").partition("\n")
    about = f"> {inline(what_and_when(service)[0])}"
    markdown = f"{front_matter(mcp_front_matter(service))}\n\n{heading}\n\n{about}\n\n{rest.lstrip()}"
    markdown = marked(disarm(markdown))

    sections: dict[str, Json] = {}
    for title, body in sections_of_level(2, text):
        key = camel(slug(title)) or "section"
        key = _KEYS.get(key, key)
        sections[key] = f"{sections[key]}\n\n{body}" if key in sections else body
    if sections.get("rateLimits") == "None declared.":
        del sections["rateLimits"]
    _, own, notes = str(sections.get("quickReference", "")).partition(f"### {OWN_WORDS}")
    limits = declared(LIMIT, service.rate_limit, "entry") if service.rate_limit else {}
    sections = {
        "quickReferenceNotes": own + notes or None,
        **sections,
        "whenToUse": list(service.when_to_use) or [" ".join(filter(None, what_and_when(service)))],
        "doNotUse": list(service.when_not_to_use),
        "quickReference": [{"name": tool.name, "description": tool_phrase(tool)} for tool in service.tools],
        "rateLimits": with_values({"description": sections.get("rateLimits"), **limits}),
    }
    sections = with_values(sections)
    # An unknown URL is absent in JSON, and one that is declared null is null.
    links = {f"{name}Url": getattr(service.access, name) for name in ("cli", "api", "web", "mcp")}
    fields = with_values(metadata(service)) | {key: link.json for key, link in links.items() if link is not None}
    if "title" not in not_declared(service):
        fields["title"] = one_line(service.title or "")
    fields[camel(KEY)] = f"{GENERATOR} {digest_of(json.dumps(sections, ensure_ascii=False))}"
    result = {"metadata": fields, "sections": sections, "contentType": "application/json"}
    return {"markdown": {"content": markdown, "contentType": "text/markdown"}, "json": result}


def manifest_documents(rendering: Rendering) -> Iterator[Document | Problem]:
    """Yields service-manifest.json (seed 004, 1)."""
    service = rendering.service
    version = exact_version(service) or ""
    if not _MANIFEST_VERSION.match(version):
        yield left_out("service-manifest", *UNVERSIONED)
        return
    if service.protocol_version is None:
        yield left_out("service-manifest", "the revision of the protocol is not known, which a manifest requires")
        return
    names = _manifest_names(service.tools)
    server = {
        "name": one_line(service.name),
        "version": version,
        "mcp_spec_version": service.protocol_version,
        "description": _declared_description(service),
        "homepage": published(service.homepage),
    }
    limit = service.rate_limit
    manifest = {
        "manifest_version": "0.1.0",
        "server": with_values(server),
        "auth": _auth(service, names),
        "tools": [_manifest_tool(tool, names[tool.name]) for tool in service.tools],
        "rate_limits": declared(LIMIT, limit, "entry", in_camel_case=False) if limit else None,
        # Names with a slash are extensions of the protocol itself.
        "supported_extensions": [name for name in service.extensions or {} if "/" not in name],
        "recommendations": [
            with_values({**_snake(RELATED, item), "registry_url": published(item.registry_url)})
            for item in service.related
            if item.capability is not None
        ],
    }
    yield json_document("service-manifest.json", manifest, keep=("tools",))
    if unnamed_needs := [one_line(item.name) for item in service.related if item.capability is None]:
        message = f"a manifest names what a server is recommended for; {', '.join(unnamed_needs)} is left out"
        yield without("service-manifest.json", message, "declare its `capability`")
    changing = (tool for tool in service.tools if tool.semantics.effect in ("destructive", "sends"))
    if risky := [tool.name for tool in changing if not (tool.semantics.risk and tool.semantics.is_declared("risk"))]:
        message = f"a call without `risk_level` counts as safe, and the source declares none of {len(risky)} tools"
        message = f"{message} that delete or send, such as {one_line(risky[0])}"
        yield without("service-manifest.json", message, "declare `risk_level` and `requires_confirmation`")
    if unnamed := sorted({auth.kind for auth in logins(service) if _method_of(auth) is None}):
        message = f"a manifest has no term for the login {', '.join(map(one_line, unnamed))}"
        yield without("service-manifest.json", message, "declare its flow, such as oauth2_code")
    if renamed := [name for name, shown in names.items() if name != shown]:
        message = f"a manifest has only a-z, 0-9 and _ in names; `title` has the exact name of {len(renamed)} tools"
        yield without("service-manifest.json", message, "serve the tools with names of a-z, 0-9 and _")


def _declared_description(service: Service) -> str | None:
    return None if "description" in not_declared(service) else plain(service.summary or "") or None


def _snake(table: tuple[Field, ...], node: Any) -> dict[str, Json]:
    return declared(table, node, "entry", in_camel_case=False)


def _described(tool: Tool, schema_key: str) -> dict[str, Json]:
    """Returns the description of a tool, and its input schema under a key."""
    schema = tool.input_schema if isinstance(tool.input_schema, dict) else {"type": "object"}
    return {"description": tool.description or tool.summary or tool.title or "", schema_key: schema}


def _examples(tool: Tool) -> list[dict[str, Json]]:
    """Returns the declared examples that match the schema."""
    found = []
    for item in tool.examples:
        if item.is_declared and item.flaw is None and isinstance(item.input, dict):
            output = item.output.json if item.output is not None else None
            fields = {"description": item.description or item.name, "input": item.input, "output": output}
            found.append(with_values(fields, keep=("input",)))
    return found


def declared_hints(tool: Tool) -> dict[str, Json]:
    """Returns the hints of a tool that the source declares."""
    denied = ("readOnlyHint",) if tool.semantics.effect != "read" and tool.semantics.read_only else ()
    return {hint: value for hint, value in declared(SEMANTICS, tool.semantics, "hint").items() if hint not in denied}


def _manifest_names(tools: Sequence[Tool]) -> dict[str, str]:
    """Returns a distinct name for each tool that a manifest allows; names that become equal get a digest."""
    names: dict[str, str] = {tool.name: tool.name for tool in tools if _MANIFEST_NAME.fullmatch(tool.name)}
    taken = set(names)
    for tool in tools:
        if tool.name in names:
            continue
        shown = re.sub(r"[^a-z0-9]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", tool.name).lower()).strip("_")
        shown = shown if _MANIFEST_NAME.fullmatch(shown) else f"tool_{shown}".rstrip("_")
        if shown in taken:
            shown += "_" + hashlib.sha256(tool.name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        names[tool.name] = shown
        taken.add(shown)
    return names


def _method_of(auth: Auth) -> str | None:
    """Returns the term of a manifest for a way to log in."""
    return _METHODS.get(auth.kind) or _FLOWS.get(auth.flow or "")


def _auth(service: Service, names: dict[str, str]) -> dict[str, Json] | None:
    used = logins(service)
    scopes = []
    for scope in {scope.name: scope for auth in used for scope in auth.scopes}.values():
        grants = [names[name] for name in scope.grants if name in names]
        scope_fields = {"name": scope.name, "description": scope.description or "", "grants": grants}
        scopes.append(with_values(scope_fields, keep=("description",)))
    fields = {
        "methods": list(dict.fromkeys(filter(None, map(_method_of, used)))),
        "scopes": scopes,
        "session_ttl_seconds": service.requirements.session_ttl_s,
    }
    return with_values(fields) or None


def _manifest_tool(tool: Tool, name: str) -> dict[str, Json]:
    fields = {
        "name": name,
        "title": None,
        **_described(tool, "input_schema"),
        "output_schema": tool.output.raw if tool.output is not None and isinstance(tool.output.raw, dict) else None,
        **_snake(TOOL, tool),
        **_snake(SEMANTICS, tool.semantics),
    }
    fields["title"] = tool.name if name != tool.name else None
    return with_values(fields, keep=("description", "input_schema"))
