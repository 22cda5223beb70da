"""Decides between facts on safety: where they disagree, the most cautious one counts, declared or inferred.

Readers merge each field with `CAUTION`; `reconcile_safety` then compares the fields of one tool with one another and
with its description. Documents take the result and decide nothing again.
"""

from __future__ import annotations

import re
from dataclasses import replace

from skillgen.errors import ProblemLog
from skillgen.model.tool import Semantics, Tool
from skillgen.model.values import Json, Origin

DESCRIPTION = "its description"

_YES = frozenset({"true", "yes", "y", "on", "1", "t"})
_NO = frozenset({"false", "no", "n", "off", "0", "f", "none", "null", ""})

_REMOVE = "(?:delet|remov|eras|destroy|wip|purg|overwrit|drop|clear|discard|revok|cancel|terminat|clos)(?:e?s?|ing)"
_REMOVED = "(?:deleted|removed|erased|destroyed|wiped|purged|overwritten|lost)"
_IRREVERSIBLE = re.compile(
    r"\b(?:"
    r"(?:can(?:no|['’]?)t|couldn['’]?t|won['’]?t|(?:can|could|will|may) (?:not|never)) (?:\w+ )?be (?:\w+ )?"
    r"(?:undone|reversed|reverted|recovered|restored|rolled back|taken back)"
    r"|irreversibl[ey]|irrevocabl[ey]|unrecoverabl[ey]|non-?reversible|not (?:be )?(?:reversible|undoable|recoverable)"
    r"|(?:no|no way to|(?:im|not )possible to|can(?:no|['’]?)t|can(?: not| never)) undo"
    rf"|permanently (?:and \w+ )?{_REMOVE}|{_REMOVE}(?: [^\s.;]+){{1,8}} permanently"
    rf"|(?:be|is|are|gets?) permanently {_REMOVED}|permanent (?:deletion|removal|erasure|data loss)"
    r")\b",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"\b(?:not|never|no|nothing|without|\w+n['’]t|instead of|rather than|avoids?|prevents?)(?: \w+){0,2} \Z",
    re.IGNORECASE,
)
"""Words before such a phrase that deny it."""

_SENTENCE_END = re.compile(r"[.!?;:]")
_LEAD_LIMIT = 200
"""Characters before such a phrase in which the beginning of its sentence is looked for."""

_ABOUT_ITSELF = re.compile(r"\W*(?:(?:this|it|the (?:action|operation|call|change|effect)s?)\b|\Z)", re.IGNORECASE)
"""The beginning of a sentence on what the tool itself does, not on the things that it reads."""


def flag_from(value: Json, cautious: bool) -> bool | None:
    """Returns the careful reading of a value that should be a boolean and is not; `None` where it claims nothing.

    `"true"` or 1 counts only where that is the cautious value. What is neither yes nor no is the cautious value.
    """
    if isinstance(value, str):
        word = value.strip().lower()
        said = True if word in _YES else False if word in _NO else None
    elif isinstance(value, (int, float)):
        said = bool(value)
    else:
        said = None if value else not cautious
    return cautious if said is None or said is cautious else None


def reconcile_safety(tool: Tool, problems: ProblemLog) -> Tool:
    """Returns a tool whose facts on safety do not contradict one another; each contradiction is reported.

    A tool changes something if any fact says so, whatever others say.
    """
    semantics = tool.semantics
    texts = (tool.summary, tool.description, *semantics.side_effects, *(part.body for part in tool.guidance))
    if semantics.reversible is not False and any(_is_irreversible(text, semantics.read_only) for text in texts if text):
        if semantics.reversible and semantics.is_declared("reversible"):
            _report(problems, tool, "reversible", "its description says that it cannot be undone")
        semantics = _with(semantics, Origin("inferred", DESCRIPTION), reversible=False)
    change = _claimed_change(semantics)
    if semantics.read_only and change is not None:
        field, claim = change
        _report(problems, tool, "read-only", claim)
        semantics = _with(semantics, Origin("inferred", _source(semantics, field)), read_only=False)
    if semantics.read_only and semantics.operation is None:
        semantics = _with(semantics, Origin("inferred", _source(semantics, "read_only")), operation="read")
    elif semantics.read_only is False and semantics.operation == "read":
        semantics = _with(semantics, Origin("inferred", _source(semantics, "read_only")), operation="write")
    return tool if semantics is tool.semantics else replace(tool, semantics=semantics)


def _claimed_change(semantics: Semantics) -> tuple[str, str] | None:
    """Returns the field that says that a tool changes something, and what it says."""
    if semantics.destructive:
        return "destructive", "it may delete or overwrite"
    if semantics.operation in ("write", "admin", "delete"):
        return "operation", f"its operation is {semantics.operation}"
    if semantics.risk in ("reversible", "destructive"):
        return "risk", f"its risk is {semantics.risk}"
    if semantics.side_effects:
        return "side_effects", "it has side effects"
    if semantics.reversed_by is not None:
        return "reversed_by", "another tool undoes it"
    if semantics.reversible is False:
        return "reversible", "it cannot be undone"
    return None


def _is_irreversible(description: str | None, is_read_only: bool | None) -> bool:
    """True if a description says that a call cannot be undone; of a tool that only reads, if it says so of itself."""
    for paragraph in (description or "").split("\n\n"):
        text = " ".join(paragraph.split())
        for match in _IRREVERSIBLE.finditer(text):
            lead = _SENTENCE_END.split(text[max(match.start() - _LEAD_LIMIT, 0) : match.start()])[-1]
            if not _DENIED.search(lead) and (not is_read_only or _ABOUT_ITSELF.match(lead)):
                return True
    return False


def _with(semantics: Semantics, origin: Origin, **fields: Json) -> Semantics:
    return replace(semantics, **fields, origins={**(semantics.origins or {}), **dict.fromkeys(fields, origin)})


def _source(semantics: Semantics, field: str) -> str:
    """Returns what a fact is drawn from, in the words of an inferred origin."""
    origin = (semantics.origins or {}).get(field)
    if origin is None:
        return field
    return origin.source.rpartition("/")[2] if origin.kind == "declared" else origin.source


def _report(problems: ProblemLog, tool: Tool, said: str, other: str) -> None:
    problems.warning(
        "facts-disagree",
        tool.pointer,
        f"{tool.name!r} is said to be {said}, but {other}; the more cautious fact is used",
        "correct the fact that is wrong",
    )
