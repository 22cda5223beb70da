"""What changed between two inventories of tools, in words for a changelog, and whether it breaks callers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from skillgen.model.frozen import frozen
from skillgen.model.uses import TypeUses
from skillgen.model.value import Json

_SHOWN_TOOLS = 3
_PLAIN = re.compile(r"[\w.-]+")


@frozen
class ToolChange:
    """One thing that changed."""

    tool: str
    """The tool, by its new name where it is renamed; of the kind `type` the named type."""

    kind: str
    """`added`, `removed`, `renamed`, `parameter`, `effect`, `result`, `words` or `type`."""

    text: str
    """What happened, in words."""

    breaking: bool
    """Whether a caller that was right before may be wrong now."""


@frozen
class Inventory:
    """The facts of services that matter to callers, as `inventory` gives them."""

    tools: Mapping[str, Json]
    """The tools by name."""

    types: Mapping[str, Json]
    """The named types by name; empty where there are none, or none are known."""


def changes_between(old: Inventory, new: Inventory, uses: TypeUses) -> tuple[ToolChange, ...]:
    """Gives what changed from one inventory to another, what breaks callers first; `uses` are those of the new one.

    The name of a type is no matter of callers: one that has another name and the same properties is the same.
    """
    names = _renamed_types(old.types, new.types)
    found = list(tool_changes(_with_names(old.tools, names), new.tools))
    before = {names.get(name, name): rows for name, rows in _with_names(old.types, names).items()}
    for name in sorted(before.keys() & new.types.keys()):
        if before[name] != new.types[name]:
            found += _changes_of_type(name, before[name], new.types[name], uses)
    return tuple(sorted(found, key=lambda change: not change.breaking))


def _renamed_types(old: Mapping[str, Json], new: Mapping[str, Json]) -> dict[str, str]:
    come = {str(rows): name for name, rows in new.items() if name not in old}
    return {name: come[str(rows)] for name, rows in old.items() if name not in new and str(rows) in come}


def _with_names(facts: Mapping[str, Json], names: Mapping[str, str]) -> Mapping[str, Json]:
    if not names:
        return facts
    # A pattern that tries every name at every place takes time by names and text: only those with other signs need it.
    odd = sorted((name for name in names if not _PLAIN.fullmatch(name)), key=len, reverse=True)
    known = re.compile("|".join([*(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])" for name in odd), _PLAIN.pattern]))

    def renamed(value: Json) -> Json:
        if isinstance(value, str):
            return known.sub(lambda found: names.get(found[0], found[0]), value)
        if isinstance(value, list):
            return [renamed(item) if index == 0 else item for index, item in enumerate(value)]
        return {key: renamed(item) for key, item in value.items()} if isinstance(value, dict) else value

    def of_tool(tool: Json) -> Json:
        return tool | {key: renamed(tool[key]) for key in ("takes", "gives") if key in tool}

    return {
        name: of_tool(fact) if "takes" in fact and "about" in fact else renamed(fact) for name, fact in facts.items()
    }


def _changes_of_type(name: str, old: Json, new: Json, uses: TypeUses) -> Iterator[ToolChange]:
    sent, returned = uses.sent_by(name), uses.returned_by(name)
    users = "; ".join(
        f"{verb} by {_listed(tools)}" for verb, tools in (("sent", sent), ("returned", returned)) if tools
    )
    if not users:
        return

    def change(text: str, breaking: bool) -> ToolChange:
        return ToolChange(tool=name, kind="type", text=f"{text}; {users}", breaking=breaking)

    for row in old:
        if row not in new:
            yield change(f"property {row} removed", True)
    for row, facts in new.items():
        what = f"property {row}" if row else "it"
        if row not in old:
            yield change(f"{what} added{' (required)' if facts[1] else ''}", bool(facts[1] and sent))
            continue
        for found in _changes_of_parameter(name, row, old[row], facts):
            text = found.text.replace(f"parameter {row}", what, 1)
            lost_by_readers = bool(returned) and old[row][1] > facts[1] and text.endswith("is now optional")
            is_of_senders = text.endswith("is now required") or " takes " in text
            yield change(text, lost_by_readers or (found.breaking and bool(sent or not is_of_senders)))


def _listed(tools: Sequence[str]) -> str:
    more = f" and {len(tools) - _SHOWN_TOOLS} more" if len(tools) > _SHOWN_TOOLS else ""
    return ", ".join(tools[:_SHOWN_TOOLS]) + more


def tool_changes(old: Mapping[str, Json], new: Mapping[str, Json]) -> tuple[ToolChange, ...]:
    """Gives what changed from the tools of one inventory to those of another, what breaks callers first."""
    renamed = _renamed(old, new)
    found: list[ToolChange] = []
    for name in old:
        if name not in new and name not in renamed:
            found.append(ToolChange(tool=name, kind="removed", text="removed", breaking=True))
    for before, after in renamed.items():
        text = f"renamed from {before} (inferred: the same request, or the same words and parameters)"
        found.append(ToolChange(tool=after, kind="renamed", text=text, breaking=True))
    origin = {after: before for before, after in renamed.items()}
    for name, tool in new.items():
        if name in origin or name in old:
            found += _changes_of(name, old[origin.get(name, name)], tool)
        else:
            found.append(ToolChange(tool=name, kind="added", text="added", breaking=False))
    return tuple(sorted(found, key=lambda change: not change.breaking))


def _renamed(old: Mapping[str, Json], new: Mapping[str, Json]) -> dict[str, str]:
    """Pairs a tool that is gone with the one new tool that makes the same request, or says and takes the same."""
    gone = [name for name in old if name not in new]
    come = [name for name in new if name not in old]
    found: dict[str, str] = {}
    for key in (lambda tool: tool.get("at"), lambda tool: (tool.get("about"), str(tool.get("takes")))):
        for name in gone:
            same = [other for other in come if key(new[other]) is not None and key(new[other]) == key(old[name])]
            twins = [other for other in gone if key(old[other]) == key(old[name])]
            if name not in found and len(same) == 1 and len(twins) == 1 and same[0] not in found.values():
                found[name] = same[0]
    return found


def _changes_of(name: str, old: Json, new: Json) -> Iterator[ToolChange]:
    def change(kind: str, text: str, breaking: bool = False) -> ToolChange:
        return ToolChange(tool=name, kind=kind, text=text, breaking=breaking)

    if old.get("at") != new.get("at"):
        yield change("effect", f"its request was {old.get('at')}, and is {new.get('at')}", True)
    for mark in new.get("is", ()):
        if mark not in old.get("is", ()):
            yield change("effect", f"is now {mark}", mark in ("destructive", "asks first"))
    for mark in old.get("is", ()):
        if mark not in new.get("is", ()):
            yield change("effect", f"is no longer {mark}", mark == "read-only")
    before, after = old.get("takes", {}), new.get("takes", {})
    for parameter in before:
        if parameter not in after:
            yield change("parameter", f"parameter {parameter} removed", True)
    for parameter, row in after.items():
        if parameter not in before:
            needed = " (required)" if row[1] else ""
            yield change("parameter", f"parameter {parameter} added{needed}", bool(row[1]))
            continue
        yield from _changes_of_parameter(name, parameter, before[parameter], row)
    gave, gives = old.get("gives", {}), new.get("gives", {})
    for key in gave:
        what = f"result's {key}" if key else "result"
        if key not in gives:
            yield change("result", f"{what} removed", True)
        elif gave[key] != gives[key]:
            yield change("result", f"{what} was {gave[key]}, and is {gives[key]}", True)
    for key in gives:
        if key not in gave:
            yield change("result", f"{'result has ' + key if key else 'result is declared'}")
    if old.get("about") != new.get("about"):
        yield change("words", "description changed")


def _changes_of_parameter(tool: str, name: str, old: Json, new: Json) -> Iterator[ToolChange]:
    def change(text: str, breaking: bool) -> ToolChange:
        return ToolChange(tool=tool, kind="parameter", text=f"parameter {name} {text}", breaking=breaking)

    if old[0] != new[0]:
        yield change(f"was {old[0]}, and is {new[0]}", True)
    if old[1] != new[1]:
        yield change("is now required" if new[1] else "is now optional", bool(new[1]))
    had: list[str] | None = old[2] if len(old) > 2 else None
    has: list[str] | None = new[2] if len(new) > 2 else None
    if had == has:
        return
    if had is None and has is not None:
        yield change(f"takes only {', '.join(has)}", True)
    elif has is None:
        yield change("takes any value", False)
    elif had is not None:
        lost, won = [item for item in had if item not in has], [item for item in has if item not in had]
        if lost:
            yield change(f"takes {', '.join(lost)} no longer", True)
        if won:
            yield change(f"takes {', '.join(won)} too", False)
