"""Reads servers (OpenAPI 3.1, "Server Object")."""

from __future__ import annotations

from contextlib import suppress
from urllib.parse import urljoin

from skillgen.errors import ProblemLog
from skillgen.model.pointer import child
from skillgen.model.service import Endpoint
from skillgen.model.value import Json
from skillgen.sources.addresses import without_credentials
from skillgen.sources.guards import as_dict, as_list, text_of


def endpoints_from(servers: Json, pointer: str, base_url: str | None, problems: ProblemLog) -> tuple[Endpoint, ...]:
    """Reads a list of servers; a relative address is joined to the one at which the document was found."""
    found: list[Endpoint] = []
    for index, server in enumerate(as_list(servers)):
        url = text_of(server, "url")
        if url is None:
            problems.warning("server-invalid", child(pointer, index), "the server has no url; left out")
            continue
        url = _with_defaults(url, as_dict(server.get("variables")))
        found.append(Endpoint(url=_absolute(url, base_url), description=text_of(server, "description")))
    return tuple(found)


def _with_defaults(url: str, variables: dict[str, Json]) -> str:
    """Puts the defaults of its variables into a URL; one without a default stays a `{variable}`."""
    for name, variable in variables.items():
        if (default := text_of(variable, "default")) is not None:
            url = url.replace(f"{{{name}}}", default)
    return url


def _absolute(url: str, base_url: str | None) -> str:
    if base_url is not None:
        with suppress(ValueError):  # a port or a bracket that makes no sense
            url = urljoin(base_url, url)
    return without_credentials(url)
