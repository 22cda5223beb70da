"""Merges what several sources of one service declare: an MCP server, an API and a program that do the same things.

The first source is the main one. A tool of another source that does the same as a tool of the main one becomes an
alternative of it: as the author says (`same-as`), as a source declares (`cliEquivalent`, `apiEquivalent`), or because
both have the same words in their names. The other tools are tools of their own, in a group of their source.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from skillgen.errors import Problem
from skillgen.model.resource import Group
from skillgen.model.schema import Discriminator, Schema
from skillgen.model.service import Service
from skillgen.model.tool import EFFECTS, Semantics, Tool
from skillgen.model.traversal import field_types, rewrite_pointers
from skillgen.model.values import Json, Origin, child, is_inferred
from skillgen.pipeline.equivalents import ProgramCommands, with_checked_equivalents
from skillgen.text.words import singular

LABELS = {"mcp": "MCP tool", "openapi": "HTTP request", "cli": "command"}
"""What a tool of each kind of source is called."""

_GROUPS = {"mcp": "Only as MCP tools", "openapi": "Only over HTTP", "cli": "Only as commands"}
"""The titles of the groups of tools that only one source has."""

_MAIN_GROUPS = {"mcp": "MCP tools", "openapi": "HTTP requests", "cli": "Commands"}
"""The title of a group for the main source's tools without one."""

_TEXTS = (
    *("summary", "description", "instructions", "emoji", "homepage", "repository", "status_page", "license"),
    *("when_to_use", "when_not_to_use", "categories", "sections", "workflows", "rate_limit"),
)
"""What a service declares of itself."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
_REQUEST = re.compile(r"(?P<method>[A-Za-z]+)\s+(?:https?://[^/\s]*)?(?P<path>/[^\s?]*)")
_PLACEHOLDER = re.compile(r"\{[^{}]*\}")


def merged_service(services: Sequence[Service], same_as: Mapping[str, Sequence[str]], place: str) -> Service:
    """Returns one service for several sources, the main one first.

    `same_as` has names of tools of any source with those of others that do the same; `place` is where it is declared.
    """
    merged = services[0]
    groups = [{name, *others} for name, others in same_as.items()]
    for other in services[1:]:
        prefixed: Service = rewrite_pointers(other, lambda pointer: f"/{other.kind}{pointer}")  # noqa: B023
        merged = _Merger(merged, _with_own_types(prefixed, merged), groups).merged()
    known = {tool.name for service in services for tool in service.tools}
    problems = [
        Problem.of("same-as-unknown", child(place, name), f"no source has a tool {other!r}")
        for name, others in same_as.items()
        for other in (name, *others)
        if other not in known
    ]
    programs = [service for service in services if service.kind == "cli"]
    merged = with_checked_equivalents(merged, programs)
    return replace(merged, problems=(*merged.problems, *problems))


class _Merger:
    """Merges the tools of one source into those of the sources before it."""

    def __init__(self, main: Service, other: Service, groups: Sequence[set[str]]) -> None:
        self._main, self._other = main, other
        self._groups = groups
        """The names of tools that do the same, as the author says."""
        self._pairs: dict[str, list[Tool]] = {}
        """Name of a tool to those of the other source that do the same."""
        self._left = {tool.name: tool for tool in other.tools}

    def merged(self) -> Service:
        """Returns the service."""
        for tool in self._main.tools:
            own = {tool.name, *(way.name for way in tool.alternatives)}
            for name in sorted({name for group in self._groups if own & group for name in group}):
                if name in self._left:
                    self._pair(tool, self._left[name])
        self._pair_all(self._declared())
        for key in (_words, lambda name: tuple(sorted(_words(name)))):
            self._pair_all(self._named_alike(key), Origin("inferred", "its name"))
        problems: list[Problem] = []
        tools = [self._with_alternatives(tool, problems) for tool in self._main.tools]
        known = {tool.name for tool in tools}
        group = _GROUPS[self._other.kind]
        rest = [
            replace(
                tool,
                name=tool.name if tool.name not in known else f"{tool.name} ({LABELS[tool.kind]})",
                group=group,
                endpoints=tool.endpoints or (self._other.endpoints if tool.kind == "openapi" else ()),
            )
            for tool in self._left.values()
        ]
        logins = tuple(Tool(name=tool.name, auth=tool.auth, pointer=tool.pointer) for tool in self._other.tools)
        stripped = replace(self._other, tools=logins, groups=(), schemas=(), problems=(), advice=(), events=())
        groups = list(self._main.groups)
        if rest:
            title = _MAIN_GROUPS[self._main.kind]
            if any(tool.group is None for tool in tools):
                groups.append(Group(name=title, title=title))
                tools = [tool if tool.group is not None else replace(tool, group=title) for tool in tools]
            groups.append(Group(name=group, title=group))
        return replace(
            self._with_texts(),
            tools=(*tools, *rest),
            groups=tuple(groups),
            schemas=tuple(
                sorted(
                    {item.name: item for item in (*self._main.schemas, *self._other.schemas)}.values(),
                    key=lambda item: item.name,
                )
            ),
            alternatives=(*self._main.alternatives, stripped),
            problems=(*self._main.problems, *self._other.problems, *problems),
            source_size_bytes=self._main.source_size_bytes + self._other.source_size_bytes,
            resources=self._main.resources or self._other.resources,
            prompts=self._main.prompts or self._other.prompts,
        )

    def _with_texts(self) -> Service:
        """Returns the main service with what only the other one declares of the service itself."""
        main, other = self._main, self._other
        if is_inferred(main, "summary") and not is_inferred(other, "summary") and (other.summary or other.description):
            main = replace(main, summary=None)
        names = [name for name in _TEXTS if not getattr(main, name) and getattr(other, name)]
        if main.description and "summary" in names:
            names.remove("summary")
        texts = {name: getattr(other, name) for name in names}
        origins = {name: origin for name, origin in (other.origins or {}).items() if name in names}
        links = {
            name: getattr(other.access, name)
            for name in ("cli", "api", "web", "mcp")
            if getattr(main.access, name) is None
        }
        return replace(
            main,
            **texts,
            access=replace(main.access, **links),
            install={**(other.install or {}), **(main.install or {})} or None,
            origins={**(main.origins or {}), **origins} or None,
        )

    def _pair(self, tool: Tool, other: Tool, origin: Origin | None = None) -> None:
        del self._left[other.name]
        if origin is not None:
            other = replace(other, origins={**(other.origins or {}), "alternatives": origin})
        self._pairs.setdefault(tool.name, []).append(other)

    def _pair_all(self, pairs: Iterator[tuple[Tool, Tool]], origin: Origin | None = None) -> None:
        for tool, other in pairs:
            if other.name in self._left and tool.name not in self._pairs:
                self._pair(tool, other, origin)

    def _declared(self) -> Iterator[tuple[Tool, Tool]]:
        """Yields pairs of which one names the other as its equivalent."""
        owners = {way.pointer: tool for tool in self._main.tools for way in (tool, *tool.alternatives)}
        ways = [way for tool in self._main.tools for way in (tool, *tool.alternatives)]
        of_other, of_main = _Equivalents(self._other, self._other.tools), _Equivalents(self._main, ways)
        for way in ways:
            if (other := of_other.of(way)) is not None:
                yield owners[way.pointer], other
        for other in self._other.tools:
            if (found := of_main.of(other)) is not None:
                yield owners[found.pointer], other

    def _named_alike(self, key: Any) -> Iterator[tuple[Tool, Tool]]:
        """Yields pairs whose names have the same key, which no other name has."""
        mains = [tool for tool in self._main.tools if tool.name not in self._pairs]
        keys = Counter(key(tool.name) for tool in mains), Counter(key(name) for name in self._left)
        by_key = {key(name): tool for name, tool in self._left.items()}
        for tool in mains:
            words = key(tool.name)
            if words and keys[0][words] == 1 and keys[1][words] == 1:
                yield tool, by_key[words]

    def _with_alternatives(self, tool: Tool, problems: list[Problem]) -> Tool:
        """Returns a tool with its alternatives; the most cautious facts on safety count."""
        others = self._pairs.get(tool.name, [])
        if not others:
            return tool
        effects = {way.semantics.effect for way in (tool, *others)} - {None}
        if len(effects) > 1:
            ways = ", ".join(f"[{way.semantics.effect}] as {LABELS[way.kind]}" for way in (tool, *others))
            message = f"{tool.name!r} is {ways}; the worst effect counts"
            problems.append(Problem.of("safety-facts-disagree", tool.pointer, message))
        texts = {
            name: next(filter(None, (getattr(way, name) for way in (tool, *others))), None)
            for name in ("title", "summary", "description")
        }
        semantics = _most_cautious([way.semantics for way in (tool, *others)])
        return replace(tool, alternatives=(*tool.alternatives, *others), semantics=semantics, **texts)


class _Equivalents:
    """Finds the tools that others name as their equivalents."""

    def __init__(self, service: Service, tools: Sequence[Tool]) -> None:
        self._commands = ProgramCommands(replace(service, tools=tuple(tool for tool in tools if tool.kind == "cli")))
        self._requests = {(tool.method, _plain_path(tool.path or "")): tool for tool in tools if tool.method}

    def of(self, tool: Tool) -> Tool | None:
        """Returns the tool that another one names, if it exists."""
        if tool.cli_equivalent is not None:
            found = self._commands.find(tool.cli_equivalent)
            if found is not None and found.tool is not None:
                return found.tool
        if (request := _REQUEST.match((tool.api_equivalent or "").strip())) is None:
            return None
        path = _plain_path(request["path"])
        while path:  # it may begin with that of the base URL
            if (named := self._requests.get((request["method"].upper(), path))) is not None:
                return named
            path = path[path.find("/", 1) :] if "/" in path[1:] else ""
        return None


def _plain_path(path: str) -> str:
    return _PLACEHOLDER.sub("{}", path).rstrip("/")


def _words(name: str) -> tuple[str, ...]:
    return tuple(singular(word.lower()) for word in _WORD.findall(name))


def _most_cautious(all_of_them: Sequence[Semantics]) -> Semantics:
    """Returns the semantics of the way with the worst effect, confirmed by a person if one of the ways must be."""
    order = [None, *EFFECTS]
    worst = max(all_of_them, key=lambda item: order.index(item.effect))
    asking = next((item for item in all_of_them if item.requires_confirmation), None)
    if asking is None or worst.requires_confirmation:
        return worst
    return replace(worst, requires_confirmation=True, confirmation_message=asking.confirmation_message)


# -- named types of several sources ----------------------------------------------------------------------------------


def _with_own_types(service: Service, main: Service) -> Service:
    """Returns a service whose named types have no name of another type of the main one."""
    taken = {item.name: item.raw for item in main.schemas}
    names = {
        item.name: f"{item.name} ({LABELS[service.kind]})"
        for item in service.schemas
        if item.name in taken and item.raw != taken[item.name]
    }
    return _renamed(service, names) if names else service


def _renamed(node: Any, names: Mapping[str, str]) -> Any:
    """Returns a node with the names of types replaced."""
    kind = node.__class__
    if kind is tuple:
        return tuple(_renamed(item, names) for item in node)
    if kind in (dict, list):
        return _renamed_json(node, names)
    if not isinstance(node, Struct):
        return node
    changed = {name: _renamed(getattr(node, name), names) for name in field_types(kind)}
    if isinstance(node, Schema):
        changed["ref"] = names.get(node.ref or "", node.ref)
        changed["includes"] = tuple(names.get(name, name) for name in node.includes)
    if isinstance(node, Discriminator):
        changed["default"] = names.get(node.default or "", node.default)
        changed["mapping"] = {key: names.get(name or "", name) for key, name in (node.mapping or {}).items()} or None
    if isinstance(node, Service):
        changed["schemas"] = tuple(replace(item, name=names.get(item.name, item.name)) for item in changed["schemas"])
    return replace(node, **changed)


def _renamed_json(data: Json, names: Mapping[str, str]) -> Any:
    if isinstance(data, list):
        return [_renamed_json(item, names) for item in data]
    if isinstance(data, dict):
        items = {key: _renamed_json(item, names) for key, item in data.items()}
        ref = items.get("$ref")
        if isinstance(ref, str):
            start, _, name = ref.rpartition("/")
            items["$ref"] = f"{start}/{names.get(name, name)}"
        return items
    return _renamed(data, names) if isinstance(data, (Struct, tuple)) else data
