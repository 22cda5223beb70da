"""Selects the tools and events of a service by patterns: `--include` and `--exclude`.

A pattern is `NAME-GLOB`, `tag:GLOB`, `path:GLOB` or `method:NAME`; a tag is a tag of OpenAPI or the group of a tool.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase

from msgspec import Struct
from msgspec.structs import replace

from skillgen.errors import Problem, UsageError
from skillgen.model.resource import Event
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.traversal import type_references, types_named_in, types_reached
from skillgen.sources.arazzo import usable_workflows

_SUGGESTIONS_LIMIT = 5_000
"""Names, tags, paths and methods that are compared with an unmatched pattern to suggest one."""

_KINDS = ("tag", "path", "method")


class Pattern(Struct, frozen=True, kw_only=True):
    """A parsed pattern."""

    option: str
    """`--include` or `--exclude`."""

    text: str
    """As the user wrote it."""

    glob: str
    """The glob to match with the labels of an item; `*` also matches `/`."""

    def matches(self, item: Tool | Event) -> bool:
        """True if the pattern matches a tool or an event."""
        labels = [f"name:{item.name}"] if self.glob.startswith("name:") else _labels(item)  # often one for each tool
        return any(fnmatchcase(label, self.glob) for label in labels)


def _labels(item: Tool | Event) -> list[str]:
    """Returns what a pattern may select an item by, each after its kind."""
    labels = [f"name:{item.name}", *(f"tag:{tag}" for tag in item.tags)]
    if isinstance(item, Tool):
        facts = {"tag": item.group, "path": item.path, "method": item.method}
        labels += [f"{kind}:{value}" for kind, value in facts.items() if value]
    return labels


def parse_patterns(option: str, texts: Iterable[str]) -> tuple[Pattern, ...]:
    """Parses the patterns of an option.

    Raises:
        UsageError: a pattern is empty, or has nothing after its kind.
    """
    patterns = []
    for text in texts:
        kind, colon, glob = text.strip().partition(":")
        if not (colon and kind in _KINDS):
            kind, glob = "name", text.strip()
        glob = glob.strip()
        if not glob:
            what = f"the pattern {text[:80]!r} is empty"
            raise UsageError(what, where=option, fix="write NAME-GLOB, tag:GLOB, path:GLOB or method:NAME")
        glob = f"{kind}:{glob.upper() if kind == 'method' else glob}"
        patterns.append(Pattern(option=option, text=text.strip(), glob=glob))
    return tuple(patterns)


def select_tools(service: Service, include: Sequence[Pattern], exclude: Sequence[Pattern]) -> Service:
    """Returns the service with the selected tools, and only the groups and named types that they use.

    A pattern that matches nothing is reported.

    Raises:
        UsageError: nothing is selected.
    """
    if not include and not exclude:
        return service
    tools = tuple(tool for tool in service.tools if _is_selected(tool, include, exclude))
    names = {tool.name for tool in tools}
    events = tuple(
        event
        for event in service.events
        if (event.tool in names if event.tool is not None else _is_selected(event, include, exclude))
    )
    candidates: tuple[Tool | Event, ...] = (*service.tools, *service.events)
    if (include or candidates) and not tools and not events:
        raise _empty_selection(
            _unmatched((*include, *exclude), candidates), candidates, "--include" if include else "--exclude"
        )
    problems = unmatched_patterns((*include, *exclude), candidates)
    used_groups = {tool.group for tool in tools}
    groups = tuple(group for group in service.groups if group.name in used_groups)
    selection = replace(service, tools=tools, events=events, groups=groups)
    used = types_reached(types_named_in(tools, events, selection.prompts), type_references(service))
    workflows, left_out = usable_workflows(service.workflows, names)
    return replace(
        selection,
        schemas=tuple(item for item in service.schemas if item.name in used),
        workflows=workflows,
        problems=(*service.problems, *problems, *left_out),
    )


def unmatched_patterns(patterns: Sequence[Pattern], candidates: Sequence[Tool | Event]) -> list[Problem]:
    """Returns a problem for each pattern that matches nothing."""
    message = "the pattern matches no tool"
    return [
        Problem.of("pattern-unmatched", f"{item.option[2:]} {item.text}", message, _suggestion(item, candidates))
        for item in _unmatched(patterns, candidates)
    ]


def _unmatched(patterns: Sequence[Pattern], candidates: Sequence[Tool | Event]) -> list[Pattern]:
    return [pattern for pattern in patterns if not any(pattern.matches(item) for item in candidates)]


def _empty_selection(unmatched: Sequence[Pattern], candidates: Sequence[Tool | Event], option: str) -> UsageError:
    if not unmatched:
        what, fix = "the patterns select no tool", "remove a pattern, or make one narrower"
    else:
        names = ", ".join(f"`{pattern.text}`" for pattern in unmatched[:5])
        what = f"{names} {'match' if len(unmatched) > 1 else 'matches'} no tool"
        fix = f"check the spelling or remove the pattern; {_suggestion(unmatched[0], candidates)}"
    return UsageError(what, where=option, fix=fix)


def _suggestion(pattern: Pattern, candidates: Iterable[Tool | Event]) -> str:
    """Returns a fix that suggests a similar pattern: in another case, of another kind, or with a typo."""
    known: dict[str, str] = {}
    for item in candidates:
        for label in _labels(item):
            text = label.removeprefix("name:")
            known.setdefault(text.lower(), text)
            known.setdefault(label.partition(":")[2].lower(), text)
    near = get_close_matches(pattern.text.lower(), list(known)[:_SUGGESTIONS_LIMIT], n=1)
    if near:
        return f"perhaps {known[near[0]]!r} is meant"
    return "compare it with the names, tags, paths and methods of the service"


def _is_selected(item: Tool | Event, include: Sequence[Pattern], exclude: Sequence[Pattern]) -> bool:
    is_included = not include or any(pattern.matches(item) for pattern in include)
    return is_included and not any(pattern.matches(item) for pattern in exclude)
