"""What an operation does to the world: what HTTP says of its method, and what extensions declare over that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from skillgen.errors import ProblemLog
from skillgen.model.pointer import child
from skillgen.model.tool import CAUTION, Semantics
from skillgen.model.value import Json, Origin
from skillgen.sources.guards import as_dict, text_of
from skillgen.sources.safety import flag_from
from skillgen.sources.words import verb_of, words_of

_SAFE_METHODS = frozenset({"get", "head", "options", "trace", "query", "propfind", "report", "search"})
_HINTS = {
    "readOnlyHint": ("read_only", False),
    "destructiveHint": ("destructive", True),
    "idempotentHint": ("idempotent", False),
    "openWorldHint": ("open_world", True),
}
"""Each hint with its field and its cautious value."""

_EXTENSIONS = ("x-mcp", "x-speakeasy-mcp")
"""What says of an operation how it is as a tool."""

_CONSEQUENTIAL = "x-openai-isConsequential"

_REMOVING = frozenset({"delete", "destroy", "erase", "purge", "remove", "terminate", "wipe"})

NAME = "its name"
Claim = tuple[bool | str, Origin]


def facts_of_method(method: str) -> dict[str, bool | str]:
    """Gives what HTTP says of a method (RFC 9110, 9.2), and of QUERY and WebDAV's reading ones; nothing of others."""
    method = method.lower()
    if method in _SAFE_METHODS:
        return {"operation": "read", "read_only": True, "idempotent": True}
    if method == "delete":
        return {"operation": "delete", "read_only": False, "destructive": True, "idempotent": True}
    if method == "put":
        return {"operation": "write", "read_only": False, "idempotent": True}
    if method in ("post", "patch"):
        return {"operation": "write", "read_only": False}
    return {}


def semantics_from_method(method: str, is_removing: bool = False) -> Semantics:
    """Returns what HTTP says of a method, as inferred facts; where POST stands for all, the name says what removes."""
    claims = _inferred(method, is_removing)
    return Semantics(
        **{field: value for field, (value, _) in claims.items()},  # type: ignore[arg-type]
        origins={field: origin for field, (_, origin) in claims.items()} or None,
    )


def is_removing(method: str, name: str | None) -> bool:
    """True if an operation is named after a removal, whatever its method."""
    if name is None or method.lower() == "delete":
        return False
    return not _REMOVING.isdisjoint(words_of(name)[:1]) or (method.lower() == "post" and verb_of(name) in _REMOVING)


def semantics_from_operation(
    method: str, operation: Mapping[str, Json], pointer: str, problems: ProblemLog, *, removes: bool
) -> Semantics | None:
    """Returns the semantics of an operation that declares some; `None` where it declares none."""
    declared: dict[str, list[Claim]] = {}
    for field, claim in _declared(operation, pointer, problems):
        declared.setdefault(field, []).append(claim)
    if not declared:
        return None
    inferred = _inferred(method, removes)
    if method.lower() == "post" and not removes and any(value is True for value, _ in declared.get("read_only", ())):
        # POST may do anything (RFC 9110, 9.3.3), so that it contradicts nothing.
        inferred = {}
    found: dict[str, Claim] = dict(inferred)
    for field, claims in declared.items():
        made = [*claims, *([inferred[field]] if field in inferred and field in CAUTION else [])]
        if field in CAUTION:
            made.sort(key=lambda claim: -CAUTION[field].index(claim[0]))
        found[field] = made[0]
        for value, origin in made[1:]:
            if value != made[0][0]:
                problems.warning(
                    "facts-disagree",
                    pointer,
                    f"{field} is {str(value).lower()} by {origin.source}, but {str(made[0][0]).lower()} by "
                    f"{made[0][1].source}; the more cautious one is used",
                    "correct the one that is wrong",
                )
    return Semantics(
        **{field: value for field, (value, _) in found.items()},  # type: ignore[arg-type]
        origins={field: origin for field, (_, origin) in found.items()},
    )


def _inferred(method: str, removes: bool) -> dict[str, Claim]:
    origin = Origin("inferred", f"HTTP {method.upper()}")
    found: dict[str, Claim] = {field: (value, origin) for field, value in facts_of_method(method).items()}
    return {**found, "destructive": (True, Origin("inferred", NAME))} if removes else found


def _declared(operation: Mapping[str, Json], pointer: str, problems: ProblemLog) -> Iterator[tuple[str, Claim]]:
    for name in _EXTENSIONS:
        extension, place = operation.get(name), child(pointer, name)
        annotations = as_dict(extension).get("annotations")
        if annotations is not None and not isinstance(annotations, dict):
            problems.warning("member-invalid", child(place, "annotations"), "expected an object; left out")
        for holder_place, holder in ((place, extension), (child(place, "annotations"), annotations)):
            for hint, (field, cautious) in _HINTS.items():
                yield from _flag(as_dict(holder), hint, holder_place, field, cautious, problems)
    yield from _flag(operation, _CONSEQUENTIAL, pointer, "requires_confirmation", True, problems)


def _flag(
    holder: Mapping[str, Json], key: str, pointer: str, field: str, cautious: bool, problems: ProblemLog
) -> Iterator[tuple[str, Claim]]:
    value, place = holder.get(key), child(pointer, key)
    if isinstance(value, bool):
        yield field, (value, Origin("declared", place))
    elif value is not None:
        read = flag_from(value, cautious)
        end = "left out" if read is None else f"read as {str(read).lower()}, to be careful"
        problems.warning("member-invalid", place, f"expected true or false, found {str(value)[:60]!r}; {end}")
        if read is not None:
            yield field, (read, Origin("inferred", key))


def described_for_agents(operation: Mapping[str, Json]) -> tuple[str | None, str | None]:
    """Gives the title and the description that an operation has for its use as a tool, where it has them."""
    for name in _EXTENSIONS:
        extension = as_dict(operation.get(name))
        title, description = text_of(extension, "title"), text_of(extension, "description")
        if title or description:
            return title, description
    return None, None
