"""What else is asked: groups, skill files, get_manifest.

Reads what the official extensions offer beside their lists: the contents of groups, the files of skills.

Calls the one tool that skillgen ever calls, and only where the user asks for it: `get_manifest` (seed 004, 1).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json

from skillgen.errors import ProblemLog
from skillgen.model.values import Json
from skillgen.security.secrets import Secrets
from skillgen.sources.json_access import as_dict, as_list, text_of
from skillgen.sources.mcp.session import Request, Session

SKILLS = "io.modelcontextprotocol/skills"
"""Skills as resources (SEP-2640)."""

GROUPS = "io.modelcontextprotocol/groups"
"""Tools that are in no list until their group is fetched (draft of 2026-09-28)."""

GROUPING = "io.modelcontextprotocol/grouping"
"""Groups as labels of tools that stand in the lists all the same (SEP-2084)."""

_GROUPS_LIMIT = 500
_FILES_LIMIT = 2_000
_FILE_LIMIT_BYTES = 1024 * 1024
_ALL_FILES_LIMIT_BYTES = 16 * 1024 * 1024


def read_groups(session: Session, pages: Json, log: ProblemLog, secrets: Secrets) -> list[Json]:
    """Fetches every group, also those in groups, each once: a list of `{"group": …, "result": …}`."""
    found: list[Json] = []
    seen: set[str] = set()
    waiting = [group for page in as_list(pages) for group in as_list(as_dict(page).get("groups"))]
    while waiting:
        level = [group for group in waiting if (name := text_of(group, "name")) is not None and _is_new(name, seen)]
        if len(seen) > _GROUPS_LIMIT:
            log.warning(
                "groups-too-many", "groups/list", f"There are more than the {_GROUPS_LIMIT} groups that are read."
            )
            break
        answers = session.request_all([Request("groups/get", {"name": group["name"]}) for group in level])
        waiting = []
        for group, answer in zip(level, answers, strict=True):
            if answer.failure is not None:
                reason = secrets.excerpt(str(answer.failure))
                log.warning(
                    "group-failed", "groups/get", f"The group {group['name'][:80]!r} could not be read: {reason}"
                )
            found.append({"group": group, "result": answer.result})
            waiting += as_list(as_dict(as_dict(answer.result).get("contents")).get("groups"))
    return found


def read_skill_files(session: Session, pages: Json, log: ProblemLog, secrets: Secrets) -> dict[str, Json]:
    """Reads the files of skills: URI to text for those whose size and digest are what the skill says.

    A skill whose files are made on demand (`dynamic`) is asked for with `skills/get` first.
    """
    skills = [as_dict(skill) for page in as_list(pages) for skill in as_list(as_dict(page).get("skills"))]
    wanted: dict[str, dict[str, Json]] = {}
    for skill in skills:
        files = skill.get("resources")
        if not isinstance(files, list) and (uri := text_of(skill, "uri")) is not None:
            answer = session.request(Request("skills/get", {"uri": uri}))
            files = as_dict(as_dict(answer.result).get("skill")).get("resources")
            if not isinstance(files, list):
                files = [{"uri": uri}]
        wanted.update({uri: as_dict(item) for item in as_list(files) if (uri := text_of(item, "uri")) is not None})
    if len(wanted) > _FILES_LIMIT:
        log.warning("skill-files-too-many", "skills/list", f"Only {_FILES_LIMIT} of {len(wanted)} files are read.")
    uris = list(wanted)[:_FILES_LIMIT]
    answers = session.request_all([Request("resources/read", {"uri": uri}) for uri in uris])
    found: dict[str, Json] = {}
    total_bytes = 0
    for uri, answer in zip(uris, answers, strict=True):
        content = _content(answer.result) if answer.failure is None else None
        if content is None:
            reason = secrets.excerpt(str(answer.failure or "it has no content"))
            log.warning("skill-file-failed", uri, f"The file of a skill could not be read: {reason}")
            continue
        total_bytes += len(content)
        if (objection := _objection(content, wanted[uri], total_bytes)) is not None:
            log.warning("skill-file-refused", uri, f"The file of a skill is left out: {objection}")
            continue
        try:
            found[uri] = content.decode("utf-8")
        except UnicodeDecodeError:
            log.info("skill-file-binary", uri, "The file of a skill is no text; it is named only.")
    return found


def _is_new(name: str, seen: set[str]) -> bool:
    is_new = name not in seen
    seen.add(name)
    return is_new


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


def _objection(content: bytes, said: dict[str, Json], total_bytes: int) -> str | None:
    """Tells what is wrong with a file (SEP-2640, `SkillResource`)."""
    size, digest = said.get("size"), said.get("digest")
    if len(content) > _FILE_LIMIT_BYTES or total_bytes > _ALL_FILES_LIMIT_BYTES:
        return "it is too large"
    if isinstance(size, int) and not isinstance(size, bool) and size != len(content):
        return f"it has {len(content)} bytes, and {size} are declared"
    if digest is not None and digest != f"sha256:{hashlib.sha256(content).hexdigest()}":
        return "its digest is not the one that is declared"
    return None


MANIFEST_TOOL = "get_manifest"


def read_manifest(session: Session, log: ProblemLog, secrets: Secrets) -> dict[str, Json] | None:
    """Calls the tool, and gives the manifest that it returns; what went wrong is reported."""
    answer = session.request(Request("tools/call", {"name": MANIFEST_TOOL, "arguments": {}}))
    result = as_dict(answer.result)
    if answer.failure is not None or result.get("isError") is True:
        reason = secrets.excerpt(str(answer.failure or "the result is an error"))
        log.warning("manifest-failed", MANIFEST_TOOL, f"The manifest could not be read: {reason}")
        return None
    candidates = [result.get("structuredContent"), *(_json_of(item) for item in as_list(result.get("content"))), result]
    for candidate in candidates:
        if (found := find_manifest(candidate)) is not None:
            return found
    log.warning("manifest-failed", MANIFEST_TOOL, "The result of the tool holds no service manifest.")
    return None


def find_manifest(data: Json) -> dict[str, Json] | None:
    """Gives a service manifest: the object itself, or one that it holds under `manifest`, `service_manifest` or
    `result`."""
    found = as_dict(data)
    for candidate in (found, *(as_dict(found.get(key)) for key in ("manifest", "service_manifest", "result"))):
        if is_manifest(candidate):
            return candidate
    return None


def is_manifest(data: Json) -> bool:
    """Tells whether an object is meant as a service manifest (seed 004, 1), also one that breaks its schema."""
    if not isinstance(data, dict) or "openapi" in data or "swagger" in data:
        return False
    has_tools = isinstance(data.get("tools"), list)
    return ("manifest_version" in data and (has_tools or "server" in data)) or (
        has_tools and isinstance(data.get("server"), dict)
    )


def _json_of(item: Json) -> Json:
    try:
        return json.loads(text_of(item, "text") or "null")
    except (ValueError, RecursionError):
        return None
