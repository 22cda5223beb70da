"""Reads what extensions offer in addition to lists: the contents of groups, the files of skills, the service manifest.

skillgen calls two tools, and only on request: `get_manifest` (seed 004, 1) and `ai_help` (seed 000, 3.3).
"""

from __future__ import annotations

import base64
import binascii
import hashlib

from skillgen.errors import ProblemLog
from skillgen.model.values import Json
from skillgen.security.secrets import Secrets
from skillgen.sources.json_access import as_dict, as_list, json_or_none, page_items, text_of
from skillgen.sources.mcp.session import AI_HELP_PARAMS, Session

SKILLS = "io.modelcontextprotocol/skills"
"""Skills as resources (SEP-2640)."""

GROUPS = "io.modelcontextprotocol/groups"
"""Tools that are not listed until their group is fetched (draft of 2026-09-28)."""

GROUPING = "io.modelcontextprotocol/grouping"
"""Groups as labels of tools that are listed (SEP-2084)."""

MANIFEST_TOOL = "get_manifest"
AI_HELP = "ai_help"
_HELP_KEYS = ("content", "metadata", "sections")

_GROUPS_LIMIT = 500
_FILES_LIMIT = 2_000
_FILE_LIMIT_BYTES = 1024 * 1024
_ALL_FILES_LIMIT_BYTES = 16 * 1024 * 1024


def read_groups(session: Session, pages: Json, log: ProblemLog, secrets: Secrets) -> list[Json]:
    """Fetches every group and nested group once: a list of `{"group": …, "result": …}`."""
    results: list[Json] = []
    seen: set[str] = set()
    pending = page_items(pages, "groups")
    while pending:
        level = []
        for group in pending:
            if (name := text_of(group, "name")) is not None and name not in seen:
                seen.add(name)
                level.append(group)
        if len(seen) > _GROUPS_LIMIT:
            message = f"The server has more than {_GROUPS_LIMIT} groups; only the first levels are read."
            log.report("groups-too-many", "groups/list", message)
            break
        answers = session.request_all("groups/get", [{"name": group["name"]} for group in level])
        pending = []
        for group, answer in zip(level, answers, strict=True):
            if answer.failure is not None:
                reason = secrets.excerpt(str(answer.failure))
                message = f"The group {group['name'][:80]!r} could not be read: {reason}"
                log.report("group-failed", "groups/get", message)
            results.append({"group": group, "result": answer.result})
            pending += as_list(as_dict(as_dict(answer.result).get("contents")).get("groups"))
    return results


def read_skill_files(session: Session, pages: Json, log: ProblemLog, secrets: Secrets) -> dict[str, Json]:
    """Reads the files of skills: URI to content for those with the declared size and digest.

    The list of files that are created on demand (`dynamic`) is fetched with `skills/get` first.
    """
    declared: dict[str, dict[str, Json]] = {}
    for skill in map(as_dict, page_items(pages, "skills")):
        files = skill.get("resources")
        if not isinstance(files, list) and (uri := text_of(skill, "uri")) is not None:
            answer = session.request("skills/get", {"uri": uri})
            files = as_dict(as_dict(answer.result).get("skill")).get("resources")
            if not isinstance(files, list):
                files = [{"uri": uri}]
        declared.update({uri: as_dict(item) for item in as_list(files) if (uri := text_of(item, "uri")) is not None})
    if len(declared) > _FILES_LIMIT:
        log.report("skill-files-too-many", "skills/list", f"Only {_FILES_LIMIT} of {len(declared)} files are read.")
    uris = list(declared)[:_FILES_LIMIT]
    answers = session.request_all("resources/read", [{"uri": uri} for uri in uris])
    texts: dict[str, Json] = {}
    total_bytes = 0
    for uri, answer in zip(uris, answers, strict=True):
        content = _content(answer.result) if answer.failure is None else None
        if content is None:
            reason = secrets.excerpt(str(answer.failure or "it has no content"))
            log.report("skill-file-failed", uri, f"The file of a skill could not be read: {reason}")
            continue
        total_bytes += len(content)
        if (flaw := _flaw(content, declared[uri], total_bytes)) is not None:
            log.report("skill-file-refused", uri, f"The file of a skill is omitted: {flaw}")
            continue
        try:
            texts[uri] = content.decode("utf-8")
        except UnicodeDecodeError:
            log.report("skill-file-binary", uri, "The file of a skill is not text; only its name is documented.")
    return texts


def _content(result: Json) -> bytes | None:
    for item in as_list(as_dict(result).get("contents")):
        if isinstance(text := as_dict(item).get("text"), str):
            return text.encode("utf-8", "surrogatepass")
        if isinstance(blob := as_dict(item).get("blob"), str):
            try:
                return base64.b64decode(blob, validate=True)
            except (binascii.Error, ValueError):
                return None
    return None


def _flaw(content: bytes, declared: dict[str, Json], total_bytes: int) -> str | None:
    """Compares a file with the declared size and digest (SEP-2640, `SkillResource`)."""
    size, digest = declared.get("size"), declared.get("digest")
    if len(content) > _FILE_LIMIT_BYTES or total_bytes > _ALL_FILES_LIMIT_BYTES:
        return "it is too large"
    if isinstance(size, int) and not isinstance(size, bool) and size != len(content):
        return f"it has {len(content)} bytes instead of the declared {size}"
    if digest is not None and digest != f"sha256:{hashlib.sha256(content).hexdigest()}":
        return "its digest differs from the declared one"
    return None


def read_manifest(session: Session, log: ProblemLog, secrets: Secrets) -> dict[str, Json] | None:
    """Calls `get_manifest` and returns the manifest in its result; reports failures."""
    candidates, reason = _results_of_call(session, MANIFEST_TOOL, {})
    if (manifest := next(filter(None, map(find_manifest, candidates)), None)) is None:
        reason = secrets.excerpt(reason or "the result of the tool contains no service manifest")
        log.report("manifest-failed", MANIFEST_TOOL, f"The manifest could not be read: {reason}")
    return manifest


def call_ai_help(session: Session, tool: dict[str, Json], log: ProblemLog, secrets: Secrets) -> Json:
    """Calls the tool `ai_help` and returns what the method would return; reports failures."""
    known = as_dict(as_dict(tool.get("inputSchema")).get("properties"))
    arguments = {key: value for key, value in AI_HELP_PARAMS.items() if key in known and value is not None}
    candidates, reason = _results_of_call(session, AI_HELP, arguments)
    found = (item for item in candidates if isinstance(item, str) or not as_dict(item).keys().isdisjoint(_HELP_KEYS))
    if (result := next(found, None)) is None:
        reason = secrets.excerpt(reason or "the result of the tool contains no text")
        log.report("ai-help-missing", AI_HELP, f"The server's own documentation could not be read: {reason}")
    return result


def _results_of_call(session: Session, name: str, arguments: dict[str, Json]) -> tuple[list[Json], str]:
    """Calls a tool; returns what may be its result, the most structured first, or why it failed."""
    answer = session.request("tools/call", {"name": name, "arguments": arguments})
    result = as_dict(answer.result)
    if answer.failure is not None or result.get("isError") is True:
        return [], str(answer.failure or "the result is an error")
    structured = as_dict(result.get("structuredContent"))
    texts = [text_of(item, "text") or "" for item in as_list(result.get("content"))]
    return [structured, structured.get("result"), *map(json_or_none, texts), result], ""


def find_manifest(data: Json) -> dict[str, Json] | None:
    """Returns the object if it is a service manifest, or its member `manifest`, `service_manifest` or `result`."""
    outer = as_dict(data)
    for candidate in (outer, *(as_dict(outer.get(key)) for key in ("manifest", "service_manifest", "result"))):
        if is_manifest(candidate):
            return candidate
    return None


def is_manifest(data: Json) -> bool:
    """True if an object is intended as a service manifest (seed 004, 1), even if it violates the schema."""
    if not isinstance(data, dict) or "openapi" in data or "swagger" in data:
        return False
    has_tools = isinstance(data.get("tools"), list)
    return ("manifest_version" in data and (has_tools or "server" in data)) or (
        has_tools and isinstance(data.get("server"), dict)
    )
