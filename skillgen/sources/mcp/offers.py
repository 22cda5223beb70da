"""Resources, prompts, icons, groups, skills.

Reads icons and leaves out those that a document must not link (SEP-973, "Security considerations").

Reads resources, resource templates and prompts.

Reads groups: those that a server lists, those whose tools only the group itself gives, and those that tools name.

Reads the skills that a server offers itself (`io.modelcontextprotocol/skills`, SEP-2640).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from skillgen.errors import ProblemLog
from skillgen.model.resource import Group, OfferedSkill, Prompt, Resource, Section, SkillFile
from skillgen.model.schema import Parameter, Schema
from skillgen.model.tool import Tool
from skillgen.model.values import Icon, Json, Origin, child
from skillgen.security.addresses import icon_objection
from skillgen.sources.json_access import as_dict, as_list, text_of, texts_of
from skillgen.sources.mcp import entries
from skillgen.sources.mcp.extensions import GROUPS
from skillgen.sources.mcp.fields import FieldReader, SourcedValue, named_entries


class IconReader:
    """Reads the icons of one service."""

    def __init__(self, trusted_host: str | None, problems: ProblemLog) -> None:
        """`trusted_host` is the server's own, or that of its homepage where it has none."""
        self._trusted = (trusted_host,) if trusted_host is not None else ()
        self._problems = problems

    def icons(self, owner: FieldReader) -> tuple[Icon, ...]:
        """Reads the icons of a service, a tool, a resource or a prompt; members that are unknown are ignored."""
        found = (self._icon(item) for item in owner.objects("icons"))
        return tuple(icon for icon in found if icon is not None)

    def _icon(self, raw: FieldReader) -> Icon | None:
        source = raw.string("src")
        if source is None:
            self._problems.warning("icon-left-out", raw.pointer, "the icon has no src")
            return None
        if (objection := icon_objection(source.value, self._trusted)) is not None:
            self._problems.warning("icon-left-out", source.pointer, objection)
            return None
        media_type, theme = raw.string("mimeType"), raw.string("theme")
        return Icon(
            src=source.value,
            media_type=media_type.value if media_type is not None else None,
            sizes=_sizes(raw.raw.get("sizes")),
            theme=theme.value if theme is not None else None,
        )


def _sizes(raw: Json) -> tuple[str, ...]:
    """Reads `sizes`: a list as it shipped, or one text with spaces as seed 001 has it."""
    items = raw if isinstance(raw, list) else [raw]
    return tuple(size for item in items if isinstance(item, str) for size in item.split())


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceReader:
    """Reads what one server offers beside tools."""

    icons: IconReader
    problems: ProblemLog

    def resource(self, uri: str, fields: FieldReader) -> Resource:
        """Reads a resource, or a template of resources, that has a URI."""
        own = entries.find_in_entry(fields) or FieldReader({}, fields.pointer, "dashdash", self.problems)
        annotations = fields.object("annotations", "annotations")
        return Resource(
            uri=uri,
            name=self._name(fields) or uri,
            title=_value(fields.string("title")),
            description=_value(fields.string("description")),
            media_type=_value(fields.string("mimeType")),
            size=_value(fields.integer("size")),
            audience=_value(annotations.strings("audience")) or (),
            priority=_value(annotations.number("priority")),
            last_modified=_value(annotations.string("lastModified")),
            resource_type=_value(own.string("resourceType")),
            refreshable=_value(own.boolean("refreshable")),
            cache_duration_s=_value(own.integer("cacheDuration")),
            web_equivalent=_value(own.string("webEquivalent")),
            api_equivalent=_value(own.string("apiEquivalent")),
            icons=self.icons.icons(fields),
            extras=_extras(fields, own),
            pointer=fields.pointer,
        )

    def prompt(self, name: str, fields: FieldReader) -> Prompt:
        """Reads a prompt that has a name."""
        return Prompt(
            name=name,
            title=_value(fields.string("title")),
            description=_value(fields.string("description")),
            parameters=tuple(
                self._argument(claim.value, item)
                for item in fields.objects("arguments")
                if (claim := self._required_name(item)) is not None
            ),
            icons=self.icons.icons(fields),
            extras=_extras(fields, entries.find_in_entry(fields)),
            pointer=fields.pointer,
        )

    def _argument(self, name: str, fields: FieldReader) -> Parameter:
        """Reads an argument of a prompt; by the protocol its value is always a text."""
        return Parameter(
            name=name,
            location="argument",
            required=_value(fields.boolean("required")) is True,
            schema=Schema(types=("string",), title=_value(fields.string("title"))),
            description=_value(fields.string("description")),
            pointer=fields.pointer,
            origins={"schema": Origin("defaulted", "prompts/get")},
        )

    def _name(self, fields: FieldReader) -> str | None:
        claim = fields.string("name")
        if claim is None:
            self.problems.warning("name-missing", fields.pointer, "the resource has no name; its URI is shown instead")
            return None
        return str(claim.value)

    def _required_name(self, fields: FieldReader) -> SourcedValue | None:
        claim = fields.string("name")
        if claim is None:
            self.problems.warning("name-missing", fields.pointer, "the argument has no name; left out")
        return claim


def _value(claim: SourcedValue | None) -> Json:
    return claim.value if claim is not None else None


def _extras(fields: FieldReader, own: FieldReader | None) -> dict[str, Json] | None:
    extras = fields.unread()
    if own is not None and (unknown := own.unread()):
        extras["dashdash"] = unknown
    return extras or None


class Groups:
    """The groups of one server."""

    def __init__(self, results: Mapping[str, Json], problems: ProblemLog) -> None:
        self._problems = problems
        self._fetched = [as_dict(item) for item in as_list(results.get("groups/get"))]
        listed = [
            group for page in as_list(results.get("groups/list")) for group in as_list(as_dict(page).get("groups"))
        ]
        fetched = [item.get("group") for item in self._fetched]
        self._listed = {name: as_dict(group) for group in (*listed, *fetched) if (name := text_of(group, "name"))}
        self._group_of: dict[str, str] = {}

    def entries(self, key: str, name_key: str, seen: Iterable[str]) -> Iterator[tuple[str, FieldReader]]:
        """Gives what the groups hold of a kind, each once, without what stands in a list already."""
        known = set(seen)
        for index, item in enumerate(self._fetched):
            group = text_of(item.get("group"), "name")
            for position, raw in enumerate(_contents(item, key)):
                name = text_of(raw, name_key)
                if name is None:
                    pointer = child("", "groups/get", index, "result", "contents", key, position)
                    self._problems.warning("name-missing", pointer, f"the entry has no {name_key}; left out")
                elif name not in known:
                    known.add(name)
                    if key == "tools" and group is not None:
                        self._group_of[name] = group
                    pointer = child("", "groups/get", index, "result", "contents", key, position)
                    fields = FieldReader(raw, pointer, "entry", self._problems)
                    fields.ignore(name_key)
                    yield name, fields

    def disclosing(self, name: str) -> str | None:
        """Gives the group that alone shows a tool."""
        return self._group_of.get(name)

    def group_of(self, name: str, entry: FieldReader) -> str | None:
        """Gives the group that holds a tool, or the first that the tool names in its `_meta` (SEP-2084)."""
        named = texts_of(entry.raw.get("_meta"), GROUPS)
        return self.disclosing(name) or next((item for item in named if item.strip()), None)

    def of_tools(self, tools: Iterable[Tool]) -> tuple[Group, ...]:
        """Gives the groups of the tools, in the order of first use."""
        return tuple(self._group(name) for name in dict.fromkeys(tool.group for tool in tools if tool.group))

    def sections(self) -> Iterator[Section]:
        """Gives the instructions of the groups that have any, also of those that hold nothing else."""
        for item in self._fetched:
            instructions = text_of(item.get("result"), "instructions")
            if instructions is not None and (name := text_of(item.get("group"), "name")) is not None:
                said = (text_of(self._listed[name], "description"), instructions)
                yield Section(title=self._group(name).title, body="\n\n".join(filter(None, said)))

    def _group(self, name: str) -> Group:
        raw = self._listed.get(name, {})
        declared = text_of(raw, "title")
        title = declared or _title(name)
        return Group(
            name=name,
            title=title,
            description=text_of(raw, "description"),
            origins={"title": Origin("inferred", "category")} if declared is None and title != name else None,
        )


def _contents(item: Mapping[str, Json], key: str) -> list[Json]:
    return as_list(as_dict(as_dict(item.get("result")).get("contents")).get(key))


def _title(category: str) -> str:
    words = " ".join(re.split(r"[-_\s]+", category)).strip()
    return words[:1].upper() + words[1:] or category


_ALLOWED_TOOLS = ("allowed-tools", "allowedTools", "allowed_tools")


def offered_skills(results: Mapping[str, Json], problems: ProblemLog) -> tuple[OfferedSkill, ...]:
    """Reads the entries of `skills/list`, and the files that were asked for."""
    texts = as_dict(results.get("skills/files"))
    entries = named_entries(results, "skills/list", "skills", "uri", problems)
    return tuple(skill for uri, entry in entries if (skill := _skill(uri, entry, texts, problems)) is not None)


def _skill(uri: str, entry: FieldReader, texts: Mapping[str, Json], problems: ProblemLog) -> OfferedSkill | None:
    front_matter = entry.object("frontmatter")
    name = front_matter.string("name")
    if name is None:
        problems.warning("name-missing", entry.pointer, "the skill has no name in its front matter; left out")
        return None
    for key in _ALLOWED_TOOLS:
        if key in front_matter.raw:
            front_matter.ignore(key)
            problems.info(
                "skill-allowed-tools",
                front_matter.pointer_to(key),
                "the skill would have tools approved in advance; that is not passed on",
            )
    is_list = isinstance(entry.raw.get("resources"), list)
    files = [_file(item, texts) for item in entry.objects("resources")] if is_list else [_lone_file(uri, texts)]
    entry.ignore("resources")
    return OfferedSkill(
        uri=uri,
        name=name.value,
        description=_value(front_matter.string("description")),
        files=tuple(file for file in files if file is not None),
        extras=entry.unread() or None,
        pointer=entry.pointer,
    )


def _file(item: FieldReader, texts: Mapping[str, Json]) -> SkillFile | None:
    uri = item.string("uri")
    if uri is None:
        return None
    return SkillFile(
        uri=uri.value,
        size=_value(item.integer("size")),
        digest=_value(item.string("digest")),
        text=_text(uri.value, texts),
    )


def _lone_file(uri: str, texts: Mapping[str, Json]) -> SkillFile | None:
    """Gives the SKILL.md of a skill whose files are made on demand, where it was read."""
    text = _text(uri, texts)
    return SkillFile(uri=uri, text=text) if text is not None else None


def _text(uri: str, texts: Mapping[str, Json]) -> str | None:
    found = texts.get(uri)
    return found if isinstance(found, str) else None
