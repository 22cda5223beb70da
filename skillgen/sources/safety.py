"""Reconciles the safety facts of a tool: if they disagree, the most cautious one is used, declared or inferred.

Readers merge each field with `CAUTION`; `reconcile_safety` then compares the fields of a tool with one another and with
its description. Renderers use the result and decide nothing again.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from skillgen.errors import ProblemLog
from skillgen.model.tool import Semantics, Tool
from skillgen.model.values import Json, Origin
from skillgen.security.tables import Regex

_DESCRIPTION = "its description"

_YES = frozenset({"true", "yes", "y", "on", "1", "t"})
_NO = frozenset({"false", "no", "n", "off", "0", "f", "none", "null", ""})

_REMOVE = "(?:delet|remov|eras|destroy|wip|purg|overwrit|drop|clear|discard|revok|cancel|terminat|clos)(?:e?s?|ing)"
_REMOVED = "(?:deleted|removed|erased|destroyed|wiped|purged|overwritten|lost)"
_IRREVERSIBLE = Regex(
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
"""A negation before such a phrase."""

_SENTENCE_END = re.compile(r"[.!?;:]")
_LEAD_LIMIT = 200
"""Characters before such a phrase that are searched for the start of its sentence."""

_ABOUT_ITSELF = re.compile(r"\W*(?:(?:this|it|the (?:action|operation|call|change|effect)s?)\b|\Z)", re.IGNORECASE)
"""The start of a sentence about the tool itself, not about the data that it reads."""


def flag_from(value: Json, cautious: bool) -> bool | None:
    """Returns the cautious reading of a value that should be a boolean but is not; `None` if it is not cautious.

    `"true"` or 1 counts only if that is the cautious value. A value that is neither yes nor no counts as cautious.
    """
    if isinstance(value, str):
        word = value.strip().lower()
        flag = True if word in _YES else False if word in _NO else None
    elif isinstance(value, (int, float)):
        flag = bool(value)
    else:
        flag = None if value else not cautious
    return cautious if flag is None or flag is cautious else None


def reconcile_safety(tool: Tool, problems: ProblemLog) -> Tool:
    """Returns a tool whose safety facts do not contradict one another; reports each contradiction.

    A tool is not read-only if any fact says that it changes something.
    """
    semantics = tool.semantics
    texts = (tool.summary, tool.description, *semantics.side_effects, *(part.body for part in tool.guidance))
    if semantics.reversible is not False and any(_is_irreversible(text, semantics.read_only) for text in texts if text):
        if semantics.reversible and semantics.is_declared("reversible"):
            _report(problems, tool, "reversible", "its description says that it cannot be undone")
        semantics = _with(semantics, Origin("inferred", _DESCRIPTION), reversible=False)
    change = _declared_change(semantics)
    if semantics.read_only and change is not None:
        field, reason = change
        _report(problems, tool, "read-only", reason)
        semantics = _with(semantics, Origin("inferred", _source(semantics, field)), read_only=False)
    if semantics.read_only and semantics.operation is None:
        semantics = _with(semantics, Origin("inferred", _source(semantics, "read_only")), operation="read")
    elif semantics.read_only is False and semantics.operation == "read":
        semantics = _with(semantics, Origin("inferred", _source(semantics, "read_only")), operation="write")
    return tool if semantics is tool.semantics else replace(tool, semantics=semantics)


def _declared_change(semantics: Semantics) -> tuple[str, str] | None:
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
    """True if a description says that a call cannot be undone; of a read-only tool, only about itself."""
    for paragraph in (description or "").split("\n\n"):
        text = " ".join(paragraph.split())
        if text.isascii() and not _IRREVERSIBLE.might_match(text.lower()):
            continue
        for match in _IRREVERSIBLE.compiled.finditer(text):
            lead = _SENTENCE_END.split(text[max(match.start() - _LEAD_LIMIT, 0) : match.start()])[-1]
            if not _DENIED.search(lead) and (not is_read_only or _ABOUT_ITSELF.match(lead)):
                return True
    return False


def _with(semantics: Semantics, origin: Origin, **fields: Json) -> Semantics:
    return replace(semantics, **fields, origins={**(semantics.origins or {}), **dict.fromkeys(fields, origin)})


def _source(semantics: Semantics, field: str) -> str:
    """Returns the source of a fact, as an inferred origin names it."""
    origin = (semantics.origins or {}).get(field)
    if origin is None:
        return field
    return origin.source.rpartition("/")[2] if origin.kind == "declared" else origin.source


def _report(problems: ProblemLog, tool: Tool, label: str, contradiction: str) -> None:
    problems.report(
        "safety-facts-disagree",
        tool.pointer,
        f"{tool.name!r} is marked {label}, but {contradiction}; the more cautious fact is used",
        "correct the fact that is wrong",
    )
