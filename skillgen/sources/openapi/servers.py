"""Reads servers and their variables (OpenAPI 3.1, "Server Object")."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from urllib.parse import urljoin

from skillgen.errors import ProblemLog
from skillgen.model.access import Endpoint, EndpointVariable
from skillgen.model.pointer import child
from skillgen.model.value import Json, Origin
from skillgen.sources.addresses import without_credentials
from skillgen.sources.guards import as_dict, as_list, text_of

_VARIABLE = re.compile(r"\{([^{}/]+)\}")
_DECLARED_VARIABLE = re.compile(r"\{([^{}]+)\}")


def endpoints_from(servers: Json, pointer: str, base_url: str | None, problems: ProblemLog) -> tuple[Endpoint, ...]:
    """Reads a list of servers; a relative address is joined to the one at which the document was found.

    Those that can be reached as they stand come first, each group as declared.
    """
    found: list[Endpoint] = []
    for index, server in enumerate(as_list(servers)):
        template = text_of(server, "url")
        if template is None:
            problems.warning("server-invalid", child(pointer, index), "the server has no url; left out")
            continue
        variables = tuple(_variables(as_dict(server.get("variables")), template))
        for variable in variables:
            if variable.default is None:
                place = child(pointer, index, "variables", variable.name)
                problems.warning("server-variable-without-default", place, "the variable has no default", "add one")
        declared = {variable.name for variable in variables}
        for name in dict.fromkeys(_VARIABLE.findall(template)):
            if name not in declared:
                problems.warning(
                    "server-variable-missing",
                    child(pointer, index),
                    f"the address holds {{{name[:60]}}}, which `variables` does not declare",
                    "declare it, with a default",
                )
        defaults = {variable.name: variable.default for variable in variables if variable.default is not None}
        url = _DECLARED_VARIABLE.sub(partial(_default_of, defaults), template)
        origins = None
        if base_url is None and url.startswith("//"):
            problems.info(
                "server-scheme-missing", child(pointer, index), "the address names no scheme; https is taken", "add it"
            )
            url, origins = f"https:{url}", {"url": Origin("inferred", "the source names no scheme")}
        found.append(
            Endpoint(
                url=_absolute(url, base_url),
                description=text_of(server, "description") or text_of(server, "name"),
                template=without_credentials(template) if variables else None,
                variables=variables,
                origins=origins,
            )
        )
    return tuple(sorted(found, key=lambda endpoint: not is_absolute(endpoint)))


def default_endpoint(base_url: str) -> Endpoint:
    """Gives the address of an API that declares none: `/`, where its description was found."""
    origins = {"url": Origin("defaulted", "where the description was found")}
    return Endpoint(url=_absolute("/", base_url), origins=origins)


def is_absolute(endpoint: Endpoint) -> bool:
    """Tells whether an address can be used wherever one is."""
    return endpoint.url.startswith(("http://", "https://"))


def _variables(raw: dict[str, Json], template: str) -> list[EndpointVariable]:
    """Returns the declared variables that an address has; one without a default stays a `{variable}`."""
    used = set(_DECLARED_VARIABLE.findall(template))
    return [
        EndpointVariable(
            name=name,
            default=_text(as_dict(variable).get("default")),
            choices=tuple(filter(None, map(_text, as_list(as_dict(variable).get("enum"))))),
            description=text_of(variable, "description"),
        )
        for name, variable in raw.items()
        if name in used
    ]


def _default_of(defaults: Mapping[str, str], variable: re.Match[str]) -> str:
    return defaults.get(variable[1], variable[0])


def _text(value: Json) -> str | None:
    """Gives the text of a value; a port is often written as a number."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) and value.strip() else None


def _absolute(url: str, base_url: str | None) -> str:
    if base_url is not None:
        with suppress(ValueError):  # a port or a bracket that makes no sense
            url = urljoin(base_url, url)
    return without_credentials(url)
