"""Reads groups: those that a server lists, those whose tools only the group itself gives, and those that tools name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from skillgen.errors import ProblemLog
from skillgen.model.offers import Group, Section
from skillgen.model.pointer import child
from skillgen.model.tool import Tool
from skillgen.model.value import Json, Origin
from skillgen.sources.guards import as_dict, as_list, text_of, texts_of
from skillgen.sources.mcp.claims import Members
from skillgen.sources.mcp.extensions import GROUPS


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

    def entries(self, key: str, name_key: str, seen: Iterable[str]) -> Iterator[tuple[str, Members]]:
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
                    members = Members(raw, pointer, "entry", self._problems)
                    members.ignore(name_key)
                    yield name, members

    def disclosing(self, name: str) -> str | None:
        """Gives the group that alone shows a tool."""
        return self._group_of.get(name)

    def group_of(self, name: str, entry: Members) -> str | None:
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
