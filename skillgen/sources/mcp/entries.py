"""Walks over the pages of a list, and leaves out entries that cannot be used; the rest is still documented."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from skillgen.errors import ProblemLog
from skillgen.model.pointer import child
from skillgen.model.value import Json
from skillgen.sources.guards import as_dict, as_list
from skillgen.sources.mcp.claims import Members


def named_entries(
    results: Mapping[str, Json], method: str, list_key: str, name_key: str, problems: ProblemLog
) -> Iterator[tuple[str, Members]]:
    """Gives the entries that have a name that none before them has, each with that name."""
    return named_among(raw_entries(results, method, list_key, problems), name_key, problems)


def named_among(
    entries: Iterable[tuple[str, Json]], name_key: str, problems: ProblemLog
) -> Iterator[tuple[str, Members]]:
    """Does the same with entries that stand elsewhere, each with its pointer."""
    seen: dict[str, str] = {}
    for pointer, raw in entries:
        name = as_dict(raw).get(name_key)
        if not isinstance(raw, dict):
            problems.warning("entry-invalid", pointer, "the entry is not an object; left out")
        elif not isinstance(name, str) or not name.strip():
            problems.warning("name-missing", pointer, f"the entry has no {name_key} that is a text; left out")
        elif name in seen:
            problems.warning("name-duplicate", pointer, f"{name[:100]!r} stands at {seen[name]} already; left out")
        else:
            seen[name] = pointer
            members = Members(raw, pointer, "entry", problems)
            members.ignore(name_key)
            yield name, members


def raw_entries(
    results: Mapping[str, Json], method: str, list_key: str, problems: ProblemLog
) -> Iterator[tuple[str, Json]]:
    """Gives every entry of every page, each with its pointer."""
    for number, page in enumerate(as_list(results.get(method))):
        pointer = child("", method, number, list_key)
        entries = as_dict(page).get(list_key)
        if not isinstance(entries, list):
            problems.warning("page-invalid", pointer, f"page {number + 1} of {method} has no list `{list_key}`")
        for index, entry in enumerate(as_list(entries)):
            yield child(pointer, index), entry
