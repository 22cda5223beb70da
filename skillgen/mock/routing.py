"""Finds the operation of a request by method and path (OpenAPI 3.1, "Path Templating")."""

from __future__ import annotations

from urllib.parse import parse_qsl, quote, urlsplit

from msgspec import Struct

from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.sources.openapi.parameters import EXPANSIONS, TEMPLATE_VARIABLE

_WITH_SLASHES = ("+", "/")
"""Operators of variables whose value may have several segments (RFC 6570)."""


class Route(Struct, frozen=True):
    """An operation at one of its addresses."""

    tool: Tool
    path: str
    """The template of its path, with that of the base URL."""

    query: tuple[tuple[str, str], ...]
    """Parts of the query that the template holds."""

    @property
    def shape(self) -> str:
        """Its path without the names of its variables."""
        return TEMPLATE_VARIABLE.sub("{}", self.path)

    @property
    def rank(self) -> tuple[int, int, int]:
        """Its place among several that match: concrete paths come first (OpenAPI 3.1, "Paths Object")."""
        return self.path.count("{"), -len(self.path), -len(self.query)


class Match(Struct, frozen=True):
    """A route that has the path of a request."""

    route: Route
    values: dict[str, str]
    """Variable to its value, percent-encoded."""


class Router:
    """The operations of a service by path."""

    def __init__(self, service: Service) -> None:
        self._routes: list[Route] = []
        for tool in service.tools:
            path, _, query = _template(tool).partition("#")[0].partition("?")
            constants = tuple(parse_qsl(TEMPLATE_VARIABLE.sub("", query)))
            for base in base_paths(service, tool) if tool.method is not None else ():
                self._routes.append(Route(tool, f"{base}/{path.lstrip('/')}", constants))

    def matches(self, path: str, query: str) -> list[Match]:
        """Returns the routes of a path, whatever their method, the best first."""
        sent = set(parse_qsl(query, keep_blank_values=True))
        found = [
            Match(route, values)
            for route in self._routes
            if sent.issuperset(route.query) and (values := variables_in(path, route.path)) is not None
        ]
        found.sort(key=lambda match: match.route.rank)
        # A path without variables is matched before any template, whatever the methods of either.
        is_concrete = bool(found) and "{" not in found[0].route.path
        return [match for match in found if not (is_concrete and "{" in match.route.path)]


def _template(tool: Tool) -> str:
    """Returns the path of an operation, percent-encoded, in which `+` marks the variables whose values are not."""
    reserved = {
        item.name
        for item in tool.parameters
        if item.location == "path" and item.serialization is not None and item.serialization.allow_reserved
    }
    pieces = TEMPLATE_VARIABLE.split(tool.path or "")
    pieces[::2] = [quote(literal, safe="/-._~:@,;=+&%()*?!$'#") for literal in pieces[::2]]
    pieces[1::2] = [f"{{+{name}}}" if name in reserved else f"{{{name}}}" for name in pieces[1::2]]
    return "".join(pieces)


def base_paths(service: Service, tool: Tool | None = None) -> list[str]:
    """Returns the paths of the base URLs, without a slash at the end; variables are in braces."""
    endpoints = (tool.endpoints if tool is not None else ()) or service.endpoints
    paths = []
    for endpoint in endpoints:
        try:
            paths.append(urlsplit(endpoint.template or endpoint.url).path.rstrip("/"))
        except ValueError:
            continue
    return list(dict.fromkeys(paths)) or [""]


def variables_in(text: str, template: str, operators: tuple[str, ...] = _WITH_SLASHES) -> dict[str, str] | None:
    """Returns the variables of a template in a text; `None` if it is not of that template.

    Values of variables with these operators may have slashes. A value ends where the next literal begins, so that the
    time grows with the length of the text alone.
    """
    if not text.startswith(template.partition("{")[0]):
        return None
    values: dict[str, str] = {}
    first, *pieces = TEMPLATE_VARIABLE.split(template)
    start, end = len(first), len(text)
    for index in range(0, len(pieces), 2):
        name, literal = pieces[index : index + 2]
        is_long, least = name.startswith(operators), start + (name[:1] not in EXPANSIONS)
        if index == len(pieces) - 2:
            end = len(text) - len(literal) if text.endswith(literal) else -1
        else:
            end = text.rfind(literal, least) if is_long else text.find(literal, least)
        value = text[start:end]
        if end < least or ("/" in value and not is_long):
            return None
        operator = name[0] if name[:1] in EXPANSIONS else ""
        if value:
            values |= dict.fromkeys((name, name[len(operator) :]), value.removeprefix(EXPANSIONS.get(operator, "")))
        start = end + len(literal)
    return values if start == len(text) else None
