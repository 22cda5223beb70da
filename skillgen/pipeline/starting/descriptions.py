"""Descriptions, snapshots and manifests that a project has, told by their content."""

from __future__ import annotations

import re
from collections.abc import Iterator

from skillgen.errors import ProblemLog, SkillgenError
from skillgen.model.value import Json
from skillgen.pipeline.starting.places import Places
from skillgen.pipeline.starting.proposal import Proposal
from skillgen.sources.document import load_document
from skillgen.sources.guards import as_dict, text_of
from skillgen.sources.kinds import is_description
from skillgen.sources.mcp.manifest_tool import manifest_in
from skillgen.sources.snapshot import is_snapshot

_ENDINGS = (".json", ".yaml", ".yml")
_SIZE_LIMIT_BYTES = 64 * 1024 * 1024
_HINT = re.compile(rb"""["']?(openapi|swagger|snapshot|manifest_version)["']?\s*:""")
"""What such a file holds somewhere; the others are not parsed."""


def described(places: Places) -> Iterator[Proposal]:
    """Gives a proposal for each; two files of one API (its YAML and its JSON) count once."""
    seen: set[tuple[str, str]] = set()
    for path in places.files:
        if not path.endswith(_ENDINGS) or not _may_be_one(places, path):
            continue
        try:
            data = load_document(str(places.root / path), ProblemLog()).data
        except SkillgenError:
            continue
        kind, what = _kind(data)
        if not kind:
            continue
        info = as_dict(as_dict(data).get("info"))
        title = text_of(info, "title") or path.rpartition("/")[2].rpartition(".")[0]
        identity = (kind, title.strip().lower()) if kind == "openapi" else (kind, path)
        if identity not in seen:
            seen.add(identity)
            yield Proposal(name=title, source={kind: path}, found=f"{what} in {path}")


def _may_be_one(places: Places, path: str) -> bool:
    try:
        file = places.root / path
        return file.stat().st_size <= _SIZE_LIMIT_BYTES and _HINT.search(file.read_bytes()) is not None
    except OSError:
        return False


def _kind(data: Json) -> tuple[str, str]:
    if is_snapshot(data):
        return "snapshot", "a snapshot"
    if is_description(data) and isinstance(as_dict(data).get("info"), dict):
        return "openapi", "an OpenAPI description"
    if manifest_in(data) is not None:
        return "manifest", "a service manifest"
    return "", ""
