"""Reads what calling a tool does to the world: `dashdash` (seed 000, 3.2.2), seed 004 (6), annotations.

Only what is declared, or follows from it by the meaning of the words, is a fact. The default of `destructiveHint`
counts where a tool declares that it changes something and nothing else; a tool that declares nothing has no facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from skillgen.errors import ProblemLog
from skillgen.model.tool import CAUTION, Semantics
from skillgen.model.value import Origin
from skillgen.sources.mcp.claims import Claim, Members
from skillgen.sources.mcp.precedence import Facts
from skillgen.sources.mcp.tool_entry import ToolEntry

DEFAULT = "MCP's default"

_NONE = frozenset({"", "none", "no", "n/a"})


def semantics_from_tool(entry: ToolEntry, problems: ProblemLog) -> Semantics:
    """Reads the semantics of one tool; each fact has its origin."""
    facts = Facts(problems)
    operation = [place.cautious_word("operationType", CAUTION["operation"]) for place in entry.dashdashes]
    risk = entry.field("risk_level", lambda place, key: place.cautious_word(key, CAUTION["risk"], "destructive"))

    def hint(key: str, cautious: bool) -> list[Claim | None]:
        return [place.cautious_flag(key, cautious) for place in entry.annotations]

    def flag(key: str, cautious: bool) -> list[Claim | None]:
        return [place.cautious_flag(key, cautious) for place in entry.dashdashes]

    found = Semantics(
        operation=facts.cautious("operation", *operation),
        read_only=facts.cautious(
            "read_only",
            *_implied(operation, {"read": True, "write": False, "delete": False}),
            *hint("readOnlyHint", False),
            *map(_not_read, entry.dashdashes),
        ),
        # `safe` claims nothing: seed 004's own manifests put it on tools that create.
        destructive=facts.cautious(
            "destructive",
            *_implied(operation, {"delete": True}),
            *_implied(risk, {"destructive": True}),
            *hint("destructiveHint", True),
        ),
        idempotent=facts.take(
            "idempotent",
            *flag("idempotent", False),
            *entry.field("idempotent", lambda place, key: place.cautious_flag(key, False)),
            *hint("idempotentHint", False),
        ),
        idempotent_with_key=facts.take("idempotent_with_key", *flag("idempotentWithKey", False)),
        open_world=facts.cautious("open_world", *hint("openWorldHint", True)),
        reversible=facts.cautious("reversible", *flag("reversible", False), *_implied(risk, {"reversible": True})),
        reversed_by=facts.take("reversed_by", *(place.text("reverseMethod") for place in entry.dashdashes)),
        side_effects=facts.union("side_effects", *map(_side_effects, entry.dashdashes)),
        requires_confirmation=facts.cautious(
            "requires_confirmation",
            *entry.field("requires_confirmation", lambda place, key: place.cautious_flag(key, True)),
        ),
        confirmation_message=facts.take(
            "confirmation_message", *entry.field("confirmation_message", lambda place, key: place.text(key))
        ),
        risk=facts.cautious("risk", *risk),
        origins=facts.origins,
    )
    return _with_default(found)


def _implied(claims: Iterable[Claim | None], meaning: dict[object, object]) -> Iterator[Claim]:
    """Yields what claims say of another field, where their value says something of it."""
    for claim in claims:
        if claim is not None and claim.value in meaning:
            yield claim.implies(meaning[claim.value])


def _not_read(place: Members) -> Claim | None:
    """Returns the claim of an operation that has an unknown name: nothing but `read` only reads."""
    claim = place.json("operationType")
    if claim is None or not claim.value or str(claim.value).strip().lower() in CAUTION["operation"]:
        return None
    return claim.implies(False)


def _side_effects(place: Members) -> Claim | None:
    """Returns the declared side effects; the word for "none" is not one."""
    claim = place.texts("sideEffects")
    if claim is None or claim.value is None:
        return claim
    return replace(claim, value=tuple(item for item in claim.value if item.strip().rstrip(".").lower() not in _NONE))


def _with_default(found: Semantics) -> Semantics:
    """Returns the semantics with MCP's default for `destructiveHint`, which is true."""
    is_open = found.destructive is None and found.operation is None and found.risk is None
    if not (found.read_only is False and is_open):
        return found
    origins = {**(found.origins or {}), "destructive": Origin("defaulted", DEFAULT)}
    return replace(found, destructive=True, origins=origins)
