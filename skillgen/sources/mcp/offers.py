"""Reads what a server offers next to tools: resources, prompts, icons, groups and skills.

Groups follow SEP-2084, skills `io.modelcontextprotocol/skills` (SEP-2640). Icons that a document must not link are
left out (SEP-973, "Security considerations").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from skillgen.errors import ProblemLog
from skillgen.model.mcp_fields import ARGUMENT, ICON, PROMPT, RESOURCE
from skillgen.model.resource import Group, OfferedSkill, Prompt, Resource, Section, SkillFile
from skillgen.model.schema import Parameter, Schema
from skillgen.model.tool import Tool
from skillgen.model.values import Icon, Json, Origin, child
from skillgen.security.addresses import icon_objection
from skillgen.sources.json_access import as_dict, as_list, json_or_none, page_items, text_of, texts_of
from skillgen.sources.json_schema.loader import SchemaReader
from skillgen.sources.mcp.fields import FieldReader, dashdashes_in_entry, first_dashdash, named_entries, raw_entries
from skillgen.sources.mcp.session import GROUPS

_SIZE = re.compile(r"\d+x\d+|any", re.IGNORECASE)


def icons_of(owner: FieldReader, trusted_hosts: Sequence[str]) -> tuple[Icon, ...]:
    """Returns the icons of a service, a tool, a resource or a prompt.

    `trusted_hosts` are the host of the server, or that of the homepage of a server that the user runs, and those that
    the user names.
    """
    icons = []
    for item in owner.objects("icons"):
        # A list, as in the released protocol, or one string with spaces, as in seed 001.
        sizes = as_list(item.raw.get("sizes")) or [item.raw.get("sizes")]
        values = item.values(tuple(field for field in ICON if field.name != "sizes"))
        if "src" not in values:
            item.problems.report("icon-left-out", item.pointer, "the icon has no src")
        elif (objection := icon_objection(values["src"], trusted_hosts)) is not None:
            item.report("icon-left-out", "src", objection)
        else:
            words = [size for text in sizes if isinstance(text, str) for size in text.split()]
            known = tuple(size for size in words if _SIZE.fullmatch(size))
            if len(known) < len(words) or any(not isinstance(size, str | None) for size in sizes):
                item.report("member-invalid", "sizes", "expected sizes such as 48x48; the others are left out")
            if not values.get("media_type", "image/").lower().startswith("image/"):
                item.report(
                    "member-invalid", "mimeType", f"{values.pop('media_type')[:80]!r} is not of an image; left out"
                )
            icons.append(Icon(**values, sizes=known))
    return tuple(icons)


def resource_from_entry(uri: str, fields: FieldReader, trusted_hosts: Sequence[str]) -> Resource:
    """Reads a resource, or a resource template with a URI template for `uri`."""
    dashdash = first_dashdash(dashdashes_in_entry(fields), fields)
    name = fields.text("name")
    if name is None:
        fields.problems.report("name-missing", fields.pointer, "the resource has no name; its URI is shown instead")
    return Resource(
        uri=uri,
        name=name or uri,
        **fields.values(RESOURCE),
        **fields.object("annotations", "annotations").values(RESOURCE, "hint"),
        **dashdash.values(RESOURCE, "dashdash"),
        icons=icons_of(fields, trusted_hosts),
        extras=fields.unread(dashdash=dashdash) or None,
        pointer=fields.pointer,
    )


_SCHEMA_NOTES = (
    "Provide a value matching the following JSON schema: ",
    "Provide as a JSON string matching the following schema: ",
)
"""What FastMCP writes before the schema of an argument that is not annotated as a string; it ends the description."""

_ENCODING = ". Encode non-string values as JSON."


def prompt_from_entry(name: str, fields: FieldReader, trusted_hosts: Sequence[str], schemas: SchemaReader) -> Prompt:
    """Reads a prompt. In the protocol, the value of an argument is always a string, possibly with JSON."""
    parameters: list[Parameter] = []
    for item in fields.objects("arguments"):
        argument, values = item.text("name"), item.values(ARGUMENT)
        if argument is None:
            item.problems.report("name-missing", item.pointer, "the argument has no name; left out")
            continue
        if any(known.name == argument for known in parameters):
            item.problems.report("name-duplicate", item.pointer, f"{argument[:100]!r} is an argument already; left out")
            continue
        description, raw = _apart(values.get("description"))
        pointer = item.pointer_to("description")
        schema = schemas.open_document(raw, pointer, owner=name).schema(raw, pointer) if raw else None
        schema = schema or Schema(types=("string",))
        origin = Origin("inferred", "description") if raw else Origin("defaulted", "prompts/get")
        parameter = Parameter(
            name=argument,
            location="argument",
            required=values.get("required") is True,
            schema=replace(schema, title=item.text("title") or schema.title),
            description=description,
            pointer=item.pointer,
            origins={"schema": origin},
        )
        parameters.append(parameter)
    dashdash = first_dashdash(dashdashes_in_entry(fields), fields)
    return Prompt(
        name=name,
        **fields.values(PROMPT),
        parameters=tuple(parameters),
        icons=icons_of(fields, trusted_hosts),
        extras=fields.unread(dashdash=dashdash) or None,
        pointer=fields.pointer,
    )


def _apart(description: str | None) -> tuple[str | None, Json]:
    """Returns the description of an argument, and the schema that a framework generated at its end."""
    for note in _SCHEMA_NOTES:
        words, found, text = (description or "").rpartition(note)
        if found and isinstance(schema := json_or_none(text.strip().removesuffix(_ENCODING)), dict):
            return words.strip() or None, schema
    return description, None


class GroupReader:
    """Reads the groups of one server: those it lists, those that alone contain a tool, and those that tools name."""

    def __init__(self, results: Mapping[str, Json], problems: ProblemLog) -> None:
        self._problems = problems
        self._fetched = [as_dict(item) for item in as_list(results.get("groups/get"))]
        groups = [*page_items(results.get("groups/list"), "groups"), *(item.get("group") for item in self._fetched)]
        self._groups = {name: as_dict(group) for group in groups if (name := text_of(group, "name"))}
        self._disclosing: dict[str, str] = {}
        """Tool that is not in `tools/list` to its group."""

    def entries(self, key: str, name_key: str, known: set[str]) -> Iterator[tuple[str, FieldReader]]:
        """Yields the entries of one kind, such as `tools`, that are in groups alone; `known` are those in the list."""
        raw_entries: dict[str, Json] = {}
        owners: dict[str, str | None] = {}
        for index, item in enumerate(self._fetched):
            contents = as_dict(as_dict(item.get("result")).get("contents"))
            for position, raw in enumerate(as_list(contents.get(key))):
                pointer = child("", "groups/get", index, "result", "contents", key, position)
                raw_entries[pointer], owners[pointer] = raw, text_of(item.get("group"), "name")
        for name, fields in named_entries(raw_entries.items(), name_key, self._problems, known):
            if key == "tools" and (group := owners[fields.pointer]) is not None:
                self._disclosing[name] = group
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
    name = front_matter.text("name")
    if name is None:
        entry.problems.report("name-missing", entry.pointer, "the skill has no name in its front matter; left out")
        return None
    for key in _ALLOWED_TOOLS:
        if key in front_matter.raw:
            front_matter.ignore(key)
            message = "the skill asks for tools to be approved in advance; this is left out"
            front_matter.report("skill-allowed-tools", key, message)
    is_listed = isinstance(entry.raw.get("resources"), list)
    files = [
        SkillFile(
            uri=file_uri, size=size.value if size else None, digest=item.text("digest"), text=text_of(texts, file_uri)
        )
        for item in (entry.objects("resources") if is_listed else ())
        if (file_uri := item.text("uri")) is not None
        for size in [item.read("size", "integer")]
    ]
    if not is_listed and (text := text_of(texts, uri)) is not None:
        files = [SkillFile(uri=uri, text=text)]  # the SKILL.md of a skill that generates its files on demand
    entry.ignore("resources")
    return OfferedSkill(
        uri=uri,
        name=name,
        description=front_matter.text("description"),
        files=tuple(files),
        extras=entry.unread() or None,
        pointer=entry.pointer,
    )
