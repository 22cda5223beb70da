"""Reads what a server offers, in any revision of the protocol and of the seeds: tools, resources, prompts, skills.

The semantics of a tool come from `dashdash` (seed 000, 3.2.2), seed 004 (6) and annotations. Only declared facts and
what they imply count. Groups follow SEP-2084, skills `io.modelcontextprotocol/skills` (SEP-2640). Icons that a document
must not link are left out (SEP-973, "Security considerations").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from skillgen.errors import ProblemLog
from skillgen.model.calls import Example, Input, Output, Pagination
from skillgen.model.mcp_fields import ARGUMENT, ICON, PROMPT, RESOURCE, SEMANTICS, TOOL, Field, first_keys, spellings
from skillgen.model.resource import Group, OfferedSkill, Prompt, Resource, Section, SkillFile
from skillgen.model.schema import Parameter, Schema, arguments_of, is_open, takes_any_names
from skillgen.model.tool import CAUTION, Semantics, Tool
from skillgen.model.values import Icon, Json, Origin, Value, child
from skillgen.security.secrets import icon_objection
from skillgen.sources.examples.generator import call_examples
from skillgen.sources.json_access import as_dict, as_list, json_or_none, page_items, text_of, texts_of
from skillgen.sources.json_schema.flatten import EMPTY_OBJECT, FlatObject, flatten
from skillgen.sources.json_schema.loader import SchemaDocument, SchemaReader, with_root_references
from skillgen.sources.json_schema.merge import ANYTHING
from skillgen.sources.mcp.ai_help import ToolHelp, with_help
from skillgen.sources.mcp.fields import (
    FieldReader,
    FieldResolver,
    SourcedValue,
    catalogue_errors,
    counted_limit,
    dashdashes_in_entry,
    error_cases,
    first_dashdash,
    named_entries,
    raw_entries,
    value_of,
)
from skillgen.sources.mcp.progressive import guidance_from
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
                message = f"{values.pop('media_type')[:80]!r} is not of an image; left out"
                item.report("member-invalid", "mimeType", message)
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
    parameters: dict[str, Parameter] = {}
    for item in fields.objects("arguments"):
        argument, values = item.text("name"), item.values(ARGUMENT)
        if argument is None or argument in parameters:
            code = "name-missing" if argument is None else "name-duplicate"
            what = "the argument has no name" if argument is None else f"{argument[:100]!r} is an argument already"
            item.problems.report(code, item.pointer, f"{what}; left out")
            continue
        description, raw = _apart(values.get("description"))
        pointer = item.pointer_to("description")
        schema = schemas.open_document(raw, pointer, owner=name).schema(raw, pointer) if raw else None
        schema = schema or Schema(types=("string",))
        origin = Origin("inferred", "description") if raw else Origin("defaulted", "prompts/get")
        parameters[argument] = Parameter(
            name=argument,
            location="argument",
            required=values.get("required") is True,
            schema=replace(schema, title=item.text("title") or schema.title),
            description=description,
            pointer=item.pointer,
            origins={"schema": origin},
        )
    dashdash = first_dashdash(dashdashes_in_entry(fields), fields)
    return Prompt(
        name=name,
        **fields.values(PROMPT),
        parameters=tuple(parameters.values()),
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
        self.disclosing: dict[str, str] = {}
        """Tool that is not in `tools/list` to its group."""

    def entries(self, key: str, name_key: str, known: set[str]) -> Iterator[tuple[str, FieldReader]]:
        """Yields the entries of one kind, such as `tools`, that are in groups alone; `known` are those in the list."""
        entries: list[tuple[str, Json]] = []
        for index, item in enumerate(self._fetched):
            contents, group = as_dict(as_dict(item.get("result")).get("contents")), text_of(item.get("group"), "name")
            for position, raw in enumerate(as_list(contents.get(key))):
                name = text_of(raw, name_key)
                if name is None or name not in known:
                    entries.append((child("", "groups/get", index, "result", "contents", key, position), raw))
                if name is not None and name not in known and key == "tools" and group is not None:
                    self.disclosing[name] = group
                known |= {name} if name is not None else set()
        return named_entries(entries, name_key, self._problems)

    def group_of(self, name: str, entry: FieldReader) -> str | None:
        """Returns the group that contains a tool, or the first that the tool names in its `_meta` (SEP-2084)."""
        named = texts_of(entry.raw.get("_meta"), GROUPS)
        return self.disclosing.get(name) or next((item for item in named if item.strip()), None)

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


def offered_skills(results: Mapping[str, Json], problems: ProblemLog) -> Iterator[OfferedSkill]:
    """Reads the entries of `skills/list`, and the files that were fetched."""
    texts = as_dict(results.get("skills/files"))
    for uri, entry in named_entries(raw_entries(results, "skills/list", "skills", problems), "uri", problems):
        front_matter = entry.object("frontmatter")
        if (name := front_matter.text("name")) is None:
            problems.report("name-missing", entry.pointer, "the skill has no name in its front matter; left out")
            continue
        for key in filter(front_matter.raw.__contains__, ("allowed-tools", "allowedTools", "allowed_tools")):
            front_matter.ignore(key)
            message = "the skill asks for tools to be approved in advance; this is left out"
            front_matter.report("skill-allowed-tools", key, message)
        is_listed = isinstance(entry.raw.get("resources"), list)
        files = []
        for item in entry.objects("resources") if is_listed else ():
            size, digest = value_of(item.read("size", "integer")), item.text("digest")
            if (file_uri := item.text("uri")) is not None:
                files.append(SkillFile(uri=file_uri, size=size, digest=digest, text=text_of(texts, file_uri)))
        if not is_listed and (text := text_of(texts, uri)) is not None:
            files = [SkillFile(uri=uri, text=text)]  # the SKILL.md of a skill that generates its files on demand
        entry.ignore("resources")
        description, extras = front_matter.text("description"), entry.unread() or None
        skill = OfferedSkill(uri=uri, name=name, description=description, files=tuple(files), pointer=entry.pointer)
        yield replace(skill, extras=extras)


_NONE = frozenset({"", "none", "no", "n/a"})

_TASK_SUPPORT = ("forbidden", "optional", "required")

_INPUTS = ("input", "arguments", "parameters")
"""Keys under which examples have their arguments."""

_IMPLIED: tuple[tuple[str, str, dict[object, bool]], ...] = (
    ("operation", "read_only", {"read": True, "write": False, "delete": False}),
    ("operation", "destructive", {"delete": True}),
    # `safe` implies nothing: the manifests of seed 004 have it on tools that create something.
    ("risk", "destructive", {"destructive": True}),
    ("risk", "reversible", {"reversible": True}),
)
"""What values of one fact imply for another."""


class ToolEntry:
    """An entry of `tools/list` with its `dashdash` objects and its annotations.

    The second stage of a progressive server (seed 003) counts before the entry, a service manifest (seed 004) after it.
    Some servers put the fields of seed 004 at the top level, some into `_meta` or under `annotations`.
    """

    __slots__ = ("annotations", "dashdash", "dashdashes", "described", "fields", "keys", "locations", "sources")

    def __init__(self, fields: FieldReader, described: FieldReader | None, manifest: FieldReader | None) -> None:
        self.fields, self.described = fields, described
        self.sources = [source for source in (described, fields, manifest) if source is not None]
        annotations = [source.object("annotations", "annotations") for source in self.sources]
        self.annotations = [item for item in annotations if item.raw]
        locations = (location for source in self.sources for location in (source, source.object("_meta")))
        self.locations = [location for location in (*locations, *self.annotations) if location.raw]
        self.dashdashes = [dashdash for source in self.sources for dashdash in dashdashes_in_entry(source)]
        self.dashdash = first_dashdash(self.dashdashes, fields)
        self.keys = {key for reader in (*self.locations, *self.dashdashes) for key in reader.raw}

    def candidates(self, field: Field) -> list[SourcedValue]:
        """Returns the values of a field; of several `dashdash` objects, all count for facts on safety."""
        if self.keys.isdisjoint(first_keys(field)):
            return []
        dashdashes = self.dashdashes if field.is_safety else [self.dashdash]
        places = [(item, "dashdash") for item in dashdashes if field.dashdash]
        places += [(item, "entry") for item in self.locations if field.entry]
        places += [(item, "hint") for item in self.annotations if field.hint]
        return [value for item, place in places for value in item.candidates(field, place)]  # type: ignore[arg-type]

    def json(self, name: str) -> SourcedValue | None:
        """Returns the first value of a member, such as a schema."""
        for item in self.locations:
            item.ignore(*spellings(name))
        keys = ((item, key) for item in self.locations for key in spellings(name) if item.raw.get(key) is not None)
        return next((item.read(key, "json") for item, key in keys), None)


class ToolReader(Struct, frozen=True, kw_only=True):
    """Reads the tools of one server."""

    schemas: SchemaReader
    ai_help: ToolHelp
    trusted_hosts: Sequence[str]
    """The hosts whose icons may be linked."""

    problems: ProblemLog

    def tool(self, name: str, entry: ToolEntry, *, group: str | None, is_undescribed: bool) -> Tool:
        """Returns the tool of one entry; `is_undescribed` is true if the second stage of the server was not read."""
        fields, described = entry.fields, entry.described
        dashdash, resolver = entry.dashdash, FieldResolver(self.problems, fields.pointer)
        # Of several descriptions the first counts: one is longer by design, which is not a disagreement.
        descriptions = [source.read("description") for source in entry.sources]
        description = resolver.value("description", next(filter(None, descriptions), None))
        raw, pointer, flat, is_declared = self._input(name, entry)
        is_input_declared = bool(flat.parameters) or (is_declared and not is_undescribed)
        guidance, described_errors = guidance_from(described) if described is not None else ((), ())
        facts = resolver.facts(TOOL, entry.candidates)
        limit = facts.pop("rate_limit", None) or counted_limit(dashdash)
        examples = tuple(as_list(as_dict(raw).get("examples")))
        support = {self._task_support(source) for source in entry.sources}
        tool = Tool(
            name=name,
            summary=resolver.value("summary", fields.read("description") if described is not None else None),
            description=description,
            group=(facts.pop("group", None) or "").strip() or group,
            rate_limit=limit,
            pagination=Pagination() if facts.pop("pagination", None) else None,
            parameters=flat.parameters,
            input_schema=raw,
            is_input_declared=is_input_declared,
            input=Input(schema=flat.schema, pointer=pointer) if flat.schema is not None else None,
            output=self._output(name, entry),
            semantics=semantics_from_entry(entry),
            examples=call_examples(
                chain.from_iterable(_examples(source) for source in (dashdash, described) if source is not None),
                replace(arguments_of(flat.parameters, flat.schema), examples=examples) if raw else None,
                self.schemas.types,
                self.problems,
                name=name,
                description=description,
                may_generate=is_input_declared or not _is_unconstrained(flat.schema),
            ),
            errors=(*error_cases(dashdash, "errors"), *catalogue_errors(entry.locations), *described_errors),
            guidance=guidance,
            task_support="required" if "required" in support else "optional" if "optional" in support else None,
            icons=icons_of(fields, self.trusted_hosts),
            extras=fields.unread(described=described, dashdash=dashdash) or None,
            pointer=fields.pointer,
            origins=resolver.origins or None,
            **facts,
        )
        return with_help(tool, self.ai_help, Origin("declared", self.ai_help.pointer))

    def _input(self, name: str, entry: ToolEntry) -> tuple[Json, str, FlatObject, bool]:
        """Returns the schema of the arguments, its pointer, its properties, and whether it says what the tool takes."""
        declared = entry.json("input_schema")
        if declared is None:
            message = f"the tool {name!r} has no input schema; what it takes is not declared"
            self.problems.report("input-schema-missing", entry.fields.pointer, message)
            return None, "", EMPTY_OBJECT, False
        raw, pointer = with_root_references(declared.value), declared.pointer
        if not isinstance(raw, dict):
            self.problems.report("input-schema-invalid", pointer, "the input schema is not an object; left out")
            return None, "", EMPTY_OBJECT, False
        if "type" in raw and raw["type"] != "object":
            message = f"the type of the input schema is {str(raw['type'])[:60]!r}, but arguments are an object"
            self.problems.report("input-schema-invalid", pointer, message)
        schemas = self.schemas.open_document(raw, pointer, owner=name)
        flat = flatten(schemas, {**raw, "type": "object"} if "type" in raw else raw, pointer)
        has_names = bool(flat.parameters) or (flat.schema is not None and takes_any_names(flat.schema))
        is_declared = has_names or (_is_unconstrained(flat.schema) and _takes_nothing(raw, schemas, pointer))
        if not is_declared or (not has_names and is_open(raw)):
            message = f"the input schema of {name!r} does not declare what the tool takes: it accepts any object"
            self.problems.report("input-schema-minimal", pointer, message)
        return raw, pointer, flat, is_declared

    def _task_support(self, source: FieldReader) -> Json:
        # A reader of its own: all of `execution` stays among the extras.
        raw, pointer = as_dict(source.raw.get("execution")), f"{source.pointer}/execution"
        return value_of(FieldReader(raw, pointer, "entry", self.problems).read("taskSupport", "choice", _TASK_SUPPORT))

    def _output(self, name: str, entry: ToolEntry) -> Output | None:
        declared = entry.json("output_schema")
        if declared is None:
            return None
        raw, pointer = with_root_references(declared.value), declared.pointer
        schema = self.schemas.open_document(raw, pointer, owner=name).schema(raw, pointer)
        return Output(schema=schema, raw=raw, pointer=pointer)


def _is_unconstrained(schema: Schema | None) -> bool:
    """True if a schema of arguments declares nothing but parameters and whether others are allowed."""
    return schema is None or replace(schema, description=None, title=None, additional=None) == ANYTHING


def _takes_nothing(raw: Json, schemas: SchemaDocument, pointer: str) -> bool:
    """True if a schema without parameters declares that the tool has no parameters.

    Such a schema is closed, or has an empty object of properties, as SDKs write it, or is `{"type": "object"}`, which
    also accepts any object (2025-11-25, "Tool", "no parameters").
    """
    waiting, known = [raw], set[int]()
    while waiting:
        raw = waiting.pop()
        if not isinstance(raw, dict) or id(raw) in known:
            continue
        known.add(id(raw))
        is_closed = schemas.own_schema(raw, pointer).additional is False
        is_plain = raw.keys().isdisjoint(("additionalProperties", "unevaluatedProperties"))
        if is_closed or ("type" in raw and raw.get("properties", {}) == {} and is_plain):
            if raw.get("type", "object") == "object":
                return True
            continue
        target = schemas.resolve(raw["$ref"], pointer) if isinstance(raw.get("$ref"), str) else None
        waiting += [*([target[1]] if target is not None else []), *as_list(raw.get("allOf"))]
    return False


def _examples(owner: FieldReader) -> Iterator[tuple[Example, str]]:
    """Yields the example calls of a member `examples`, each with its pointer; texts alone stay among the extras."""
    has_calls = owner.provider == "dashdash" or any(map(as_dict, as_list(owner.raw.get("examples"))))
    for item in owner.objects("examples") if has_calls else ():
        description, output = item.text("description"), item.read("output", "json")
        arguments = next((value for key in _INPUTS if (value := item.read(key, "json")) is not None), None)
        if arguments is None or not isinstance(arguments.value, dict):
            owner.problems.report("call-example-invalid", item.pointer, "the example has no object `input`; left out")
            continue
        result = Value(output.value) if output is not None else None
        yield Example(input=arguments.value, description=description, output=result), item.pointer


def semantics_from_entry(entry: ToolEntry) -> Semantics:
    """Returns what calling a tool does; each fact has its origin."""
    resolver = FieldResolver(entry.fields.problems)
    found = {field.name: entry.candidates(field) for field in SEMANTICS}
    for fact, other, meaning in reversed(_IMPLIED):
        implied = (item.implies(meaning[item.value]) for item in found[fact] if item.value in meaning)
        found[other] = [*implied, *found[other]]
    for dashdash in entry.dashdashes:
        operation = dashdash.read("operationType", "json")
        if operation is not None and operation.value:
            # Only `read` is read-only, and not an operation of an unknown name.
            is_known = str(operation.value).strip().lower() in CAUTION["operation"]
            found["read_only"] += [] if is_known else [operation.implies(False)]
    effects = [
        replace(item, value=tuple(text for text in item.value if text.strip().rstrip(".").lower() not in _NONE))
        for item in found.pop("side_effects")
        if item.value is not None
    ]
    facts: dict[str, Any] = {"side_effects": resolver.union("side_effects", *effects)}
    facts |= {name: resolver.value(name, *candidates) for name, candidates in found.items() if candidates}
    return Semantics(origins=resolver.origins or None, **facts)
