"""Reads the skills that a server offers itself (`io.modelcontextprotocol/skills`, SEP-2640)."""

from __future__ import annotations

from collections.abc import Mapping

from skillgen.errors import ProblemLog
from skillgen.model.offers import OfferedSkill, SkillFile
from skillgen.model.value import Json
from skillgen.sources.guards import as_dict
from skillgen.sources.mcp.claims import Claim, Members
from skillgen.sources.mcp.entries import named_entries

_ALLOWED_TOOLS = ("allowed-tools", "allowedTools", "allowed_tools")


def offered_skills(results: Mapping[str, Json], problems: ProblemLog) -> tuple[OfferedSkill, ...]:
    """Reads the entries of `skills/list`, and the files that were asked for."""
    texts = as_dict(results.get("skills/files"))
    entries = named_entries(results, "skills/list", "skills", "uri", problems)
    return tuple(skill for uri, entry in entries if (skill := _skill(uri, entry, texts, problems)) is not None)


def _skill(uri: str, entry: Members, texts: Mapping[str, Json], problems: ProblemLog) -> OfferedSkill | None:
    front_matter = entry.part("frontmatter")
    name = front_matter.text("name")
    if name is None:
        problems.warning("name-missing", entry.pointer, "the skill has no name in its front matter; left out")
        return None
    for key in _ALLOWED_TOOLS:
        if key in front_matter.raw:
            front_matter.ignore(key)
            problems.info(
                "skill-allowed-tools",
                front_matter.at(key),
                "the skill would have tools approved in advance; that is not passed on",
            )
    is_list = isinstance(entry.raw.get("resources"), list)
    files = [_file(item, texts) for item in entry.parts("resources")] if is_list else [_lone_file(uri, texts)]
    entry.ignore("resources")
    return OfferedSkill(
        uri=uri,
        name=name.value,
        description=_value(front_matter.text("description")),
        files=tuple(file for file in files if file is not None),
        extras=entry.unread() or None,
        pointer=entry.pointer,
    )


def _file(item: Members, texts: Mapping[str, Json]) -> SkillFile | None:
    uri = item.text("uri")
    if uri is None:
        return None
    return SkillFile(
        uri=uri.value,
        size=_value(item.integer("size")),
        digest=_value(item.text("digest")),
        text=_text(uri.value, texts),
    )


def _lone_file(uri: str, texts: Mapping[str, Json]) -> SkillFile | None:
    """Gives the SKILL.md of a skill whose files are made on demand, where it was read."""
    text = _text(uri, texts)
    return SkillFile(uri=uri, text=text) if text is not None else None


def _text(uri: str, texts: Mapping[str, Json]) -> str | None:
    found = texts.get(uri)
    return found if isinstance(found, str) else None


def _value(claim: Claim | None) -> Json:
    return claim.value if claim is not None else None
