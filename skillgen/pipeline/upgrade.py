"""Distinguishes what a new release of skillgen changed in documents from what their source changed."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import to_builtins
from msgspec.structs import replace

from skillgen.config.project import OutputOptions
from skillgen.errors import Problem
from skillgen.model.service import Service
from skillgen.model.values import Json, Value
from skillgen.text.markdown import counted
from skillgen.write.plan import Change, Plan
from skillgen.write.record import lines_of

_IN_DOCUMENTS = ("emit", "publish", "profile", "budget", "split")
"""The options that documents depend on, apart from the templates."""

_VARIABLE = re.compile(rb"\bSKILL_[A-Z0-9_]*[A-Z0-9]")

_KINDS = {"heading": ("#",), "list item": ("- ", "* "), "table row": ("|",), "code line": (*'`{}[]"$', "curl")}
"""What a line may be that is no text, and how it begins."""


def declared_digest(service: Service, output: OutputOptions) -> str:
    """Returns a digest of what documents are made from, but for tools and types, which the record has, and for what a
    release infers.
    """
    about = replace(
        service, tools=(), schemas=(), problems=(), advice=(), origins=None, quotations=(), source=(),
        access_level=None, purpose=None, trigger=None, product=None, skill_name=None, source_size_bytes=0,
    )  # fmt: skip
    options = [getattr(output, name) for name in _IN_DOCUMENTS]
    templates = templates_digests(Path(output.templates)) if output.templates is not None else {}
    data = json.dumps(to_builtins([about, options, templates], enc_hook=_plain, order="deterministic"))
    return hashlib.sha256(data.encode()).hexdigest()[:16]


def _plain(value: Any) -> Json:
    return value.json if isinstance(value, Value) else str(value)


def templates_digests(folder: Path) -> dict[str, str]:
    """Returns the digest of every file in a folder of templates, since a new file may replace a built-in template."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def is_upgrade(plan: Plan) -> bool:
    """True if documents change although their source and options did not: another release of skillgen writes them."""
    before, after = plan.before, plan.after
    same = all(getattr(before, name) == getattr(after, name) for name in ("declared", "tools", "types", "offers"))
    return bool(plan.drift) and before.release not in (None, after.release) and same


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
