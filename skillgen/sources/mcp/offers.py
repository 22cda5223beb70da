"""Reads what a server offers next to tools: resources, prompts, icons, groups and skills.

Groups follow SEP-2084, skills `io.modelcontextprotocol/skills` (SEP-2640). Icons that a document must not link are
left out (SEP-973, "Security considerations").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from skillgen.errors import ProblemLog
from skillgen.model.resource import Group, OfferedSkill, Prompt, Resource, Section, SkillFile
from skillgen.model.schema import Parameter, Schema
from skillgen.model.tool import Tool
from skillgen.model.values import Icon, Json, Origin, child
from skillgen.security.addresses import icon_objection
from skillgen.sources.json_access import as_dict, as_list, page_items, text_of, texts_of
from skillgen.sources.mcp.entries import dashdashes_in_entry, first_dashdash, unread_members
from skillgen.sources.mcp.extensions import GROUPS
from skillgen.sources.mcp.fields import FieldReader, named_entries, raw_entries, value_of


def icons_of(owner: FieldReader, trusted_host: str | None) -> tuple[Icon, ...]:
    """Returns the icons of a service, a tool, a resource or a prompt.

    `trusted_host` is the host of the server, or that of its homepage for a server without a URL.
    """
    icons = []
    for item in owner.objects("icons"):
        source = item.string("src")
        if source is None:
            item.problems.report("icon-left-out", item.pointer, "the icon has no src")
        elif (objection := icon_objection(source.value, (trusted_host,) if trusted_host else ())) is not None:
            item.report("icon-left-out", "src", objection)
        else:
            # A list, as in the released protocol, or one string with spaces, as in seed 001.
            sizes = as_list(item.raw.get("sizes")) or [item.raw.get("sizes")]
            if any(not isinstance(size, str | None) for size in sizes):
                item.report("member-invalid", "sizes", "expected sizes such as 48x48; the others are left out")
            icon = Icon(
                src=source.value,
                media_type=value_of(item.string("mimeType")),
                sizes=tuple(size for text in sizes if isinstance(text, str) for size in text.split()),
                theme=value_of(item.string("theme")),
            )
            icons.append(icon)
    return tuple(icons)


def resource_from_entry(uri: str, fields: FieldReader, trusted_host: str | None) -> Resource:
    """Reads a resource, or a resource template with a URI template for `uri`."""
    dashdash = first_dashdash(dashdashes_in_entry(fields), fields)
    annotations = fields.object("annotations", "annotations")
    name = fields.string("name")
    if name is None:
        fields.problems.report("name-missing", fields.pointer, "the resource has no name; its URI is shown instead")
    return Resource(
        uri=uri,
        name=uri if name is None else name.value,
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
        icons=icons_of(fields, trusted_host),
        extras=unread_members(fields, dashdash=dashdash) or None,
        pointer=fields.pointer,
    )


def prompt_from_entry(name: str, fields: FieldReader, trusted_host: str | None) -> Prompt:
    """Reads a prompt. In the protocol, the value of an argument is always a string."""
    parameters = []
    for item in fields.objects("arguments"):
        argument = item.string("name")
        if argument is None:
            item.problems.report("name-missing", item.pointer, "the argument has no name; left out")
            continue
        parameter = Parameter(
            name=argument.value,
            location="argument",
            required=value_of(item.boolean("required")) is True,
            schema=Schema(types=("string",), title=value_of(item.string("title"))),
            description=value_of(item.string("description")),
            pointer=item.pointer,
            origins={"schema": Origin("defaulted", "prompts/get")},
        )
        parameters.append(parameter)
    dashdash = first_dashdash(dashdashes_in_entry(fields), fields)
    return Prompt(
        name=name,
        title=value_of(fields.string("title")),
        description=value_of(fields.string("description")),
        parameters=tuple(parameters),
        icons=icons_of(fields, trusted_host),
        extras=unread_members(fields, dashdash=dashdash) or None,
        pointer=fields.pointer,
    )


class GroupReader:
    """Reads the groups of one server: those it lists, those that alone contain a tool, and those that tools name."""

    def __init__(self, results: Mapping[str, Json], problems: ProblemLog) -> None:
        self._problems = problems
        self._fetched = [as_dict(item) for item in as_list(results.get("groups/get"))]
        groups = [*page_items(results.get("groups/list"), "groups"), *(item.get("group") for item in self._fetched)]
        self._groups = {name: as_dict(group) for group in groups if (name := text_of(group, "name"))}
        self._disclosing: dict[str, str] = {}
        """Tool that is not in `tools/list` to its group."""

    def entries(self, key: str, name_key: str, seen: Iterable[str]) -> Iterator[tuple[str, FieldReader]]:
        """Yields the entries of one kind, such as `tools`, that are in groups alone; `seen` are those in the list."""
        known = set(seen)
        for index, item in enumerate(self._fetched):
            group = text_of(item.get("group"), "name")
            contents = as_dict(as_dict(item.get("result")).get("contents"))
            for position, raw in enumerate(as_list(contents.get(key))):
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
                group = self._group(name)
                yield Section(title=group.title, body="\n\n".join(filter(None, (group.description, instructions))))

    def _group(self, name: str) -> Group:
        raw = self._groups.get(name, {})
        words = " ".join(re.split(r"[-_\s]+", name)).strip()
        declared = text_of(raw, "title")
        title = declared or words[:1].upper() + words[1:] or name
        return Group(
            name=name,
            title=title,
            description=text_of(raw, "description"),
            origins={"title": Origin("inferred", "category")} if declared is None and title != name else None,
        )


_ALLOWED_TOOLS = ("allowed-tools", "allowedTools", "allowed_tools")


def offered_skills(results: Mapping[str, Json], problems: ProblemLog) -> tuple[OfferedSkill, ...]:
    """Reads the entries of `skills/list`, and the files that were fetched."""
    texts = as_dict(results.get("skills/files"))
    entries = named_entries(raw_entries(results, "skills/list", "skills", problems), "uri", problems)
    return tuple(skill for uri, entry in entries if (skill := _skill(uri, entry, texts)) is not None)


def _skill(uri: str, entry: FieldReader, texts: Mapping[str, Json]) -> OfferedSkill | None:
    front_matter = entry.object("frontmatter")
    name = front_matter.string("name")
    if name is None:
        entry.problems.report("name-missing", entry.pointer, "the skill has no name in its front matter; left out")
        return None
    for key in _ALLOWED_TOOLS:
        if key in front_matter.raw:
            front_matter.ignore(key)
            message = "the skill asks for tools to be approved in advance; this is left out"
            front_matter.report("skill-allowed-tools", key, message)
    files = []
    if isinstance(entry.raw.get("resources"), list):
        for item in entry.objects("resources"):
            if (file_uri := value_of(item.string("uri"))) is not None:
                size, digest = value_of(item.integer("size")), value_of(item.string("digest"))
                files.append(SkillFile(uri=file_uri, size=size, digest=digest, text=_text(file_uri, texts)))
    elif (text := _text(uri, texts)) is not None:  # the SKILL.md of a skill that generates its files on demand
        files.append(SkillFile(uri=uri, text=text))
    entry.ignore("resources")
    return OfferedSkill(
        uri=uri,
        name=name.value,
        description=value_of(front_matter.string("description")),
        files=tuple(files),
        extras=entry.unread() or None,
        pointer=entry.pointer,
    )


def _text(uri: str, texts: Mapping[str, Json]) -> str | None:
    text = texts.get(uri)
    return text if isinstance(text, str) else None
