"""Finds the operation of a request by method and path (OpenAPI 3.1, "Path Templating")."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from urllib.parse import parse_qsl, unquote, urlsplit

from msgspec import Struct

from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.sources.openapi.parameters import EXPANSIONS, TEMPLATE_VARIABLE

_WITH_SLASHES = ("+", "/")
"""Operators of variables whose value may have several segments (RFC 6570)."""

_PIECES_LIMIT = 7
"""Variables and literals of a template that are distinguished: the time grows with the power of the variables."""

_SEGMENT_LIMIT = 2_000
"""Characters of a value in a path."""


class Route(Struct, frozen=True):
    """An operation at one of its addresses."""

    tool: Tool
    segments: tuple[str, ...]
    """The template of its path, with that of the base URL."""

    query: tuple[tuple[str, str], ...]
    """Parts of the query that the template holds."""

    @property
    def has_variables(self) -> bool:
        """True if its path has a variable."""
        return any("{" in segment for segment in self.segments)

    @property
    def shape(self) -> str:
        """Its path without the names of its variables."""
        return TEMPLATE_VARIABLE.sub("{}", "/".join(self.segments))

    @property
    def rank(self) -> tuple[int, int, int]:
        """Its place among several that match: concrete paths come first (OpenAPI 3.1, "Paths Object")."""
        variables = sum("{" in segment for segment in self.segments)
        return variables, -len("".join(self.segments)), -len(self.query)


class Match(Struct, frozen=True):
    """A route that has the path of a request."""

    route: Route
    values: dict[str, str]
    """Variable to its value, percent-encoded."""


class Router:
    """The operations of a service by path."""

    def __init__(self, service: Service) -> None:
        self._by_length: dict[int, list[Route]] = {}
        self._others: list[Route] = []
        """Routes with a variable that may have several segments."""
        for tool in service.tools:
            if tool.path is None or tool.method is None:
                continue
            for base in base_paths(service, tool):
                path, _, query = _template(tool).partition("#")[0].partition("?")
                segments = tuple(f"{base}/{path.lstrip('/')}".split("/"))
                constants = tuple(parse_qsl(TEMPLATE_VARIABLE.sub("", query)))
                route = Route(tool, segments, constants)
                is_long = any(name.startswith(_WITH_SLASHES) for name in TEMPLATE_VARIABLE.findall(path))
                routes = self._others if is_long else self._by_length.setdefault(len(segments), [])
                routes.append(route)

    def matches(self, path: str, query: str) -> list[Match]:
        """Returns the routes of a path, whatever their method, the best first."""
        segments, sent = path.split("/"), set(parse_qsl(query, keep_blank_values=True))
        found = []
        for route in self._by_length.get(len(segments), ()):
            if (values := _values(route.segments, segments)) is not None:
                found.append(Match(route, values))
        for route in self._others:
            match = _pattern("/".join(route.segments)).fullmatch(path) if len(path) <= _SEGMENT_LIMIT else None
            if match is not None:
                names = TEMPLATE_VARIABLE.findall("/".join(route.segments))
                found.append(Match(route, dict(_named(names, match.groups()))))
        found = [match for match in found if sent.issuperset(match.route.query)]
        found.sort(key=lambda match: match.route.rank)
        # A path without variables is matched before any template, whatever the methods of either.
        is_concrete = bool(found) and not found[0].route.has_variables
        return [match for match in found if not (is_concrete and match.route.has_variables)]


def _template(tool: Tool) -> str:
    """Returns the path of an operation, in which `+` marks the variables whose values are not encoded."""
    reserved = {
        item.name
        for item in tool.parameters
        if item.location == "path" and item.serialization is not None and item.serialization.allow_reserved
    }
    path = tool.path or ""
    return TEMPLATE_VARIABLE.sub(lambda match: f"{{+{match[1]}}}" if match[1] in reserved else match[0], path)


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


def _values(template: Sequence[str], segments: Sequence[str]) -> dict[str, str] | None:
    """Returns the variables of a path; `None` if it does not match."""
    values: dict[str, str] = {}
    for expected, segment in zip(template, segments, strict=True):
        if "{" not in expected:
            if expected != segment and unquote(expected) != unquote(segment):
                return None
            continue
        if len(segment) > _SEGMENT_LIMIT or (match := _pattern(expected).fullmatch(segment)) is None:
            return None
        values.update(_named(TEMPLATE_VARIABLE.findall(expected), match.groups()))
    return values


def _named(names: Sequence[str], texts: Sequence[str | None]) -> Iterator[tuple[str, str]]:
    for name, text in zip(names, texts, strict=True):
        if text:
            yield name, text
            if name[:1] in EXPANSIONS:
                yield name[1:], text


@lru_cache(1 << 14)
def _pattern(template: str) -> re.Pattern[str]:
    """Returns the expression of a template; of one with many variables, one that does not tell them apart."""
    pieces = TEMPLATE_VARIABLE.split(template)
    pattern = re.escape(pieces[0])
    if len(pieces) > _PIECES_LIMIT:
        return re.compile("([^/]+)" + "()" * (len(pieces) // 2 - 1))
    for name, literal in zip(pieces[1::2], pieces[2::2], strict=True):
        if name[:1] in EXPANSIONS and name[:1] != "+":
            pattern += rf"(?:{re.escape(EXPANSIONS[name[0]])}(.+))?" if name[0] == "/" else r"(?:[.;]?([^/]+?))?"
        else:
            pattern += "(.+)" if name.startswith("+") else "([^/]+)"
        pattern += re.escape(literal)
    return re.compile(pattern)
