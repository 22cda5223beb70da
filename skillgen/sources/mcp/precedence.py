"""Decides between claims: the one place that knows who counts more."""

from __future__ import annotations

from skillgen.errors import ProblemLog
from skillgen.model.tool import CAUTION
from skillgen.model.value import Json, Origin, Origins
from skillgen.sources.mcp.claims import Claim, Place

ORDER: tuple[Place, ...] = ("dashdash", "ai_help", "manifest", "serverInfo", "entry", "annotations")
"""Who counts more stands first. `--name` and its like, and the configuration file, come before all of them; they are
applied to the finished service."""


class Facts:
    """The fields of one node of the model, taken from claims; `origins` says where each comes from."""

    def __init__(self, problems: ProblemLog, node: str | None = None) -> None:
        """`node` is the pointer of a node whose own declarations need no origin; without it every field gets one."""
        self._problems = problems
        self._node = node
        self._origins: dict[str, Origin] = {}

    @property
    def origins(self) -> Origins | None:
        """Field name to origin, for the fields that need one."""
        return self._origins or None

    def take(self, field: str, *claims: Claim | None) -> Json:
        """Gives the value of a field: that of the claim that counts most, `None` without any."""
        claim = self.claim(field, *claims)
        return claim.value if claim is not None else None

    def claim(self, field: str, *claims: Claim | None) -> Claim | None:
        """Gives the claim that counts most, a declared null among them, and reports every one that disagrees.

        Of equal claims a declared one is given rather than one that was inferred.
        """
        made = [claim for claim in claims if claim is not None]
        if not made:
            return None
        if len(made) == 1:
            self._note(field, made[0])
            return made[0]
        made.sort(key=lambda claim: ORDER.index(claim.place))
        strongest = made[0]
        agreeing = [claim for claim in made if _agree(claim.value, strongest.value)]
        for other in made:
            if other not in agreeing:
                self._report(field, strongest, other)
        winner = next((claim for claim in agreeing if claim.inferred_from is None), strongest)
        self._note(field, winner)
        return winner

    def cautious(self, field: str, *claims: Claim | None) -> Json:
        """Returns the most cautious value that is claimed of a field on safety, and warns of every other one."""
        made = [claim for claim in claims if claim is not None and claim.value is not None]
        if not made:
            return None
        order = CAUTION[field]
        made.sort(key=lambda claim: (-order.index(claim.value), claim.inferred_from is not None))
        winner = made[0]
        for other in made[1:]:
            if other.value != winner.value:
                self._warn(field, winner, other)
        self._note(field, winner)
        return winner.value

    def union(self, field: str, *claims: Claim | None) -> tuple[str, ...]:
        """Returns the items of all lists that are claimed of a field on safety."""
        made = [claim for claim in claims if claim is not None and claim.value]
        for claim in reversed(made):
            self._note(field, claim)
        return tuple(dict.fromkeys(item for claim in made for item in claim.value))

    def note(self, field: str, origin: Origin) -> None:
        """Notes where a field comes from that was not taken from claims."""
        self._origins[field] = origin

    def _note(self, field: str, claim: Claim) -> None:
        at_home = self._node is not None and claim.pointer.startswith(self._node + "/")
        if claim.inferred_from is not None or not at_home:
            self._origins[field] = claim.origin()

    def _warn(self, field: str, winner: Claim, other: Claim) -> None:
        shown = [str(claim.value).lower() for claim in (other, winner)]
        self._problems.warning(
            "facts-disagree",
            other.pointer,
            f"{field} is {shown[0]} by {_member(other)} but {shown[1]} at {winner.pointer}, the more cautious fact",
            "correct the fact that is wrong",
        )

    def _report(self, field: str, strongest: Claim, other: Claim) -> None:
        self._problems.info(
            "facts-disagree",
            other.pointer,
            f"{field}: {other.place} disagrees with {strongest.place} at {strongest.pointer}, which is used",
        )


def _member(claim: Claim) -> str:
    return claim.inferred_from or claim.pointer.rpartition("/")[2]


def _agree(one: Json, other: Json) -> bool:
    """Tells whether two values say the same: line breaks in a text and the order of a list do not matter."""
    if isinstance(one, str) and isinstance(other, str):
        return one.split() == other.split()
    if isinstance(one, tuple) and isinstance(other, tuple):
        return sorted(one) == sorted(other)
    return bool(one == other)
