"""Distinguishes what a new release of skillgen changed in documents from what their source changed."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from skillgen.config.project import OutputOptions
from skillgen.errors import Problem
from skillgen.model.service import Service
from skillgen.text.markdown import counted
from skillgen.write.plan import Change, Plan
from skillgen.write.record import lines_of

_IN_DOCUMENTS = ("emit", "publish", "profile", "budget", "split")
"""The options that documents depend on."""

_VARIABLE = re.compile(rb"\bSKILL_[A-Z0-9_]*[A-Z0-9]")

_KINDS = {"heading": ("#",), "list item": ("- ", "* "), "table row": ("|",), "code line": (*'`{}[]"$', "curl")}
"""What a line may be that is no text, and how it begins."""


def declared_digest(service: Service, output: OutputOptions) -> str:
    """Returns a digest of the texts on a service as a whole, and of the options and templates of its documents."""
    texts = (service.name, service.title, service.description, service.instructions, service.version)
    options = [to_builtins(getattr(output, name)) for name in _IN_DOCUMENTS]
    folder = Path(output.templates) if output.templates is not None else None
    files = sorted(path for path in folder.rglob("*.j2") if path.is_file()) if folder is not None else []
    templates = [(path.name, hashlib.sha256(path.read_bytes()).hexdigest()) for path in files]
    data = json.dumps([texts, options, templates, to_builtins(service.areas)], default=str)
    return hashlib.sha256(data.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def is_upgrade(plan: Plan) -> bool:
    """True if documents change although their source and options did not: another release of skillgen writes them."""
    before, after = plan.before, plan.after
    if before.release in (None, after.release) or before.declared != after.declared or not plan.drift:
        return False
    same = (_facts(before.tools) == _facts(after.tools), before.types == after.types, before.offers == after.offers)
    return all(same)


def _facts(tools: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the facts of tools without those that skillgen may judge."""
    return {name: {key: value for key, value in facts.items() if key != "is"} for name, facts in tools.items()}


def upgrade_problems(plan: Plan) -> Iterator[Problem]:
    """Yields what a new release changed in documents, if that is all that changed them."""
    if not is_upgrade(plan):
        return
    kinds: Counter[str] = Counter()
    for change in plan.drift:
        old, new = Counter(lines_of(change.old or b"")), Counter(lines_of(change.new or b""))
        gone, added = (Counter(map(_kind, filter(None, lines.elements()))) for lines in (old - new, new - old))
        kinds += gone | added
    shown = ", ".join(counted(kinds[kind], kind) for kind in (*_KINDS, "text line") if kinds[kind])
    message = f"skillgen changed from {plan.before.release} to {plan.after.release}, the source did not: "
    message += f"{counted(len(plan.drift), 'file')}, with {shown or 'other blank lines'}"
    before, after = (_VARIABLE.findall(b"\n".join(contents)) for contents in zip(*map(_sides, plan.drift), strict=True))
    names, others = sorted({*before} - {*after}), sorted({*after} - {*before})
    if names:
        instead = f", in its place {b', '.join(others).decode()}" if others else ""
        message += f"; the variable {b', '.join(names).decode()} is not used any more{instead}"
    yield Problem.of("generator-changed", str(plan.out), message)


def _sides(change: Change) -> tuple[bytes, bytes]:
    return change.old or b"", change.new or b""


def _kind(line: str) -> str:
    return next((kind for kind, starts in _KINDS.items() if line.lstrip().startswith(starts)), "text line")
