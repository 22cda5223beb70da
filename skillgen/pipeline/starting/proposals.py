"""What is proposed of all that a project has: its own first, each under a name of its own."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from skillgen.pipeline.starting.clients import configured
from skillgen.pipeline.starting.descriptions import described
from skillgen.pipeline.starting.node import node_servers
from skillgen.pipeline.starting.places import Places
from skillgen.pipeline.starting.proposal import Proposal
from skillgen.pipeline.starting.python import fastapi_applications, python_servers


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposals:
    """The targets of a new project's file."""

    chosen: tuple[Proposal, ...]
    """Those that are made."""

    others: tuple[Proposal, ...]
    """Those that stand in the file as a comment."""


def proposals_for(root: Path) -> Proposals:
    """Looks at a project.

    A server that its developers use (`npx` some package) is not documented in a project that has something of its own,
    and neither is an application whose description is there as a file.
    """
    places = Places(root)
    descriptions, clients = list(described(places)), list(configured(places))
    servers = [*python_servers(places), *node_servers(places)]
    applications = list(fastapi_applications(places))
    own_clients = [] if servers else [item for item in clients if item.is_own]
    used = [item for item in clients if item not in own_clients]
    chosen = [*descriptions, *servers, *own_clients]
    others: list[Proposal] = []
    (others if descriptions else chosen).extend(applications)
    (others if chosen else chosen).extend(used)
    named = _named([*chosen, *others])
    return Proposals(chosen=tuple(named[: len(chosen)]), others=tuple(named[len(chosen) :]))


def _named(proposals: Iterable[Proposal]) -> list[Proposal]:
    taken: set[str] = set()
    found = []
    for proposal in proposals:
        stem = _fit(proposal.name)
        name, number = stem, 2
        while name in taken:
            name, number = f"{stem}-{number}", number + 1
        taken.add(name)
        found.append(replace(proposal, name=name))
    return found


def _fit(name: str) -> str:
    """Gives a name as that of a folder."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode("ascii")
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")[:40].strip("-") or "api"
