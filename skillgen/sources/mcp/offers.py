"""Reads what a server offers next to tools: resources, prompts, icons, groups and skills.

Groups follow SEP-2084, skills `io.modelcontextprotocol/skills` (SEP-2640). Icons that a document must not link are
left out (SEP-973, "Security considerations").
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
from skillgen.sources.mcp.entries import dashdashes_in_entry
from skillgen.sources.mcp.extensions import GROUPS
from skillgen.sources.mcp.fields import FieldReader, SourcedValue, named_entries, raw_entries, value_of


class IconReader:
    """Reads the icons of one service."""

    def __init__(self, trusted_host: str | None, problems: ProblemLog) -> None:
        """`trusted_host` is the host of the server, or that of its homepage for a server without a URL."""
        self._trusted = (trusted_host,) if trusted_host is not None else ()
        self._problems = problems

    def icons(self, owner: FieldReader) -> tuple[Icon, ...]:
        """Returns the icons of a service, a tool, a resource or a prompt."""
        icons = (self._icon(item) for item in owner.objects("icons"))
        return tuple(icon for icon in icons if icon is not None)

    def _icon(self, raw: FieldReader) -> Icon | None:
        source = raw.string("src")
        if source is None:
            self._problems.report("icon-left-out", raw.pointer, "the icon has no src")
            return None
        if (objection := icon_objection(source.value, self._trusted)) is not None:
            self._problems.report("icon-left-out", source.pointer, objection)
            return None

        return Icon(
            src=source.value,
            media_type=value_of(raw.string("mimeType")),
            sizes=_sizes(raw.raw.get("sizes")),
            theme=value_of(raw.string("theme")),
        )


def _sizes(raw: Json) -> tuple[str, ...]:
    """Reads `sizes`: a list, as in the released protocol, or one string with spaces, as in seed 001."""
    items = raw if isinstance(raw, list) else [raw]
    return tuple(size for item in items if isinstance(item, str) for size in item.split())


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceReader:
    """Reads the resources and prompts of one server."""

    icons: IconReader
    problems: ProblemLog

    def resource(self, uri: str, fields: FieldReader) -> Resource:
        """Reads a resource, or a resource template with a URI template for `uri`."""
        dashdash = next(dashdashes_in_entry(fields), None) or FieldReader({}, fields.pointer, "dashdash", self.problems)
        annotations = fields.object("annotations", "annotations")
        return Resource(
            uri=uri,
            name=self._resource_name(uri, fields),
            title=value_of(fields.string("title")),
            description=value_of(fields.string("description")),
            media_type=value_of(fields.string("mimeType")),
            size=value_of(fields.integer("size")),
            audience=value_of(annotations.strings("audience")) or (),
            priority=value_of(annotations.number("priority")),
            last_modified=value_of(annotations.string("lastModified")),
            resource_type=value_of(dashdash.string("resourceType")),
            refreshable=value_of(dashdash.boolean("refreshable")),
            cache_duration_s=value_of(dashdash.integer("cacheDuration")),
            web_equivalent=value_of(dashdash.string("webEquivalent")),
            api_equivalent=value_of(dashdash.string("apiEquivalent")),
            icons=self.icons.icons(fields),
            extras=_extras(fields, dashdash),
            pointer=fields.pointer,
        )

    def prompt(self, name: str, fields: FieldReader) -> Prompt:
        """Reads a prompt."""
        return Prompt(
            name=name,
            title=value_of(fields.string("title")),
            description=value_of(fields.string("description")),
            parameters=tuple(
                self._argument(argument_name.value, item)
                for item in fields.objects("arguments")
                if (argument_name := self._argument_name(item)) is not None
            ),
            icons=self.icons.icons(fields),
            extras=_extras(fields, next(dashdashes_in_entry(fields), None)),
            pointer=fields.pointer,
        )

    def _argument(self, name: str, fields: FieldReader) -> Parameter:
        """Reads an argument of a prompt; in the protocol its value is always a string."""
        return Parameter(
            name=name,
            location="argument",
            required=value_of(fields.boolean("required")) is True,
            schema=Schema(types=("string",), title=value_of(fields.string("title"))),
            description=value_of(fields.string("description")),
            pointer=fields.pointer,
            origins={"schema": Origin("defaulted", "prompts/get")},
        )

    def _resource_name(self, uri: str, fields: FieldReader) -> str:
        name = fields.string("name")
        if name is None:
            self.problems.report("name-missing", fields.pointer, "the resource has no name; its URI is shown instead")
        return uri if name is None else str(name.value)

    def _argument_name(self, fields: FieldReader) -> SourcedValue | None:
        name = fields.string("name")
        if name is None:
            self.problems.report("name-missing", fields.pointer, "the argument has no name; left out")
        return name


def _extras(fields: FieldReader, dashdash: FieldReader | None) -> dict[str, Json] | None:
    extras = fields.unread()
    if dashdash is not None and (unread := dashdash.unread()):
        extras["dashdash"] = unread
    return extras or None


class GroupReader:
    """Reads the groups of one server: those it lists, those that alone contain a tool, and those that tools name."""

    def __init__(self, results: Mapping[str, Json], problems: ProblemLog) -> None:
        self._problems = problems
        self._fetched = [as_dict(item) for item in as_list(results.get("groups/get"))]
        listed = [
            group for page in as_list(results.get("groups/list")) for group in as_list(as_dict(page).get("groups"))
        ]
        fetched = [item.get("group") for item in self._fetched]
        self._listed = {name: as_dict(group) for group in (*listed, *fetched) if (name := text_of(group, "name"))}
        self._disclosing: dict[str, str] = {}

    def entries(self, key: str, name_key: str, seen: Iterable[str]) -> Iterator[tuple[str, FieldReader]]:
        """Yields the entries of one kind, such as `tools`, that are in groups alone; `seen` are those in the list."""
        known = set(seen)
        for index, item in enumerate(self._fetched):
            group = text_of(item.get("group"), "name")
            for position, raw in enumerate(_contents(item, key)):
                name = text_of(raw, name_key)
                pointer = child("", "groups/get", index, "result", "contents", key, position)
                if name is None:
                    self._problems.report("name-missing", pointer, f"the entry has no {name_key}; left out")
                elif name not in known:
                    known.add(name)
                    if key == "tools" and group is not None:
                        self._disclosing[name] = group
                    fields = FieldReader(raw, pointer, "entry", self._problems)
                    fields.ignore(name_key)
                    yield name, fields

    def disclosing_group(self, name: str) -> str | None:
        """Returns the group of a tool that is not in `tools/list`."""
        return self._disclosing.get(name)

    def group_of(self, name: str, entry: FieldReader) -> str | None:
        """Returns the group that contains a tool, or the first that the tool names in its `_meta` (SEP-2084)."""
        named = texts_of(entry.raw.get("_meta"), GROUPS)
        return self.disclosing_group(name) or next((item for item in named if item.strip()), None)

    def groups_of(self, tools: Iterable[Tool]) -> tuple[Group, ...]:
        """Returns the groups of the tools, in the order of first use."""
        return tuple(self._group(name) for name in dict.fromkeys(tool.group for tool in tools if tool.group))

    def sections(self) -> Iterator[Section]:
        """Yields the instructions of groups, also of groups without contents."""
        for item in self._fetched:
            instructions = text_of(item.get("result"), "instructions")
            if instructions is not None and (name := text_of(item.get("group"), "name")) is not None:
                paragraphs = (text_of(self._listed[name], "description"), instructions)
                yield Section(title=self._group(name).title, body="\n\n".join(filter(None, paragraphs)))

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
    """Reads the entries of `skills/list`, and the files that were fetched."""
    texts = as_dict(results.get("skills/files"))
    entries = named_entries(raw_entries(results, "skills/list", "skills", problems), "uri", problems)
    return tuple(skill for uri, entry in entries if (skill := _skill(uri, entry, texts, problems)) is not None)


def _skill(uri: str, entry: FieldReader, texts: Mapping[str, Json], problems: ProblemLog) -> OfferedSkill | None:
    front_matter = entry.object("frontmatter")
    name = front_matter.string("name")
    if name is None:
        problems.report("name-missing", entry.pointer, "the skill has no name in its front matter; left out")
        return None
    for key in _ALLOWED_TOOLS:
        if key in front_matter.raw:
            front_matter.ignore(key)
            problems.report(
                "skill-allowed-tools",
                front_matter.pointer_to(key),
                "the skill asks for tools to be approved in advance; this is left out",
            )
    is_list = isinstance(entry.raw.get("resources"), list)
    files = [_file(item, texts) for item in entry.objects("resources")] if is_list else [_single_file(uri, texts)]
    entry.ignore("resources")
    return OfferedSkill(
        uri=uri,
        name=name.value,
        description=value_of(front_matter.string("description")),
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
        size=value_of(item.integer("size")),
        digest=value_of(item.string("digest")),
        text=_text(uri.value, texts),
    )


def _single_file(uri: str, texts: Mapping[str, Json]) -> SkillFile | None:
    """Returns the SKILL.md of a skill that generates its files on demand, if it was read."""
    text = _text(uri, texts)
    return SkillFile(uri=uri, text=text) if text is not None else None


def _text(uri: str, texts: Mapping[str, Json]) -> str | None:
    text = texts.get(uri)
    return text if isinstance(text, str) else None
