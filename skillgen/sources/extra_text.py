"""Reads what else is known of a service: a captured `--ai-help` text or an llms.txt (seed 000; S0-20).

It adds to a service and changes nothing that its source declares.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from skillgen.errors import ProblemLog, SourceError
from skillgen.model.auth import Access, Endpoint
from skillgen.model.resource import Section
from skillgen.model.service import Service
from skillgen.model.tool import CAUTION
from skillgen.model.values import Origin
from skillgen.security.secrets import report_echoed_secrets, secrets_from_url
from skillgen.sources import http
from skillgen.sources.documents import load_text
from skillgen.sources.mcp import metadata
from skillgen.sources.mcp.ai_help import AiHelp, ai_help_from_result, with_help
from skillgen.sources.mcp.fields import FieldReader, FieldResolver
from skillgen.sources.mcp.metadata import MetadataSources
from skillgen.sources.safety import reconcile_safety

ORIGIN = Origin("declared", "--extra")

_PLACES = ("llms.txt", ".well-known/llms.txt")
"""Where a site keeps its llms.txt, below the address that is given."""

_LINK_ITEM = re.compile(r"\[((?:\\.|[^\]\\])+)\]\([^)]*\)(?::.*)?", re.DOTALL)
_NOT_FOR = re.compile(r"not for:\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraText:
    """A text, and where it came from."""

    name: str
    """For messages."""

    text: str
    """Markdown, untrusted."""

    repeated: tuple[str, ...] = ()
    """Where the user gave the secrets that it repeated."""


def load_extra(source: str, *, timeout_s: float) -> ExtraText:
    """Loads a text from a file, a URL or standard input; for the address of a site, its llms.txt.

    Raises:
        SourceError: there is none.
    """
    access = http.FetchOptions(timeout_s=timeout_s, secrets=secrets_from_url(source))
    failures: list[SourceError] = []
    for address in _addresses(source):
        try:
            name, text, repeated = load_text(address, access)
        except SourceError as error:
            failures.append(error)
        else:
            return ExtraText(name=name, text=text, repeated=repeated)
    with access.secrets.redact_errors():
        raise failures[0]


def apply_extra_text(service: Service, extra: ExtraText) -> Service:
    """Gives the service with what a text adds; where both say something, the service's own word stays."""
    problems = ProblemLog()
    for problem in service.problems:
        problems.add(problem)
    report_echoed_secrets(problems, extra.repeated)
    reader = _ExtraReader(extra, problems)
    found = reader.service()
    if found is None:
        problems.warning("extra-empty", extra.name, "the text has neither front matter nor sections; nothing is added")
        return replace(service, problems=tuple(problems))
    origins = dict(service.origins or {})
    changes: dict[str, Any] = {}
    for field in _FIELDS:
        value, own = getattr(found, field), getattr(service, field)
        if value in (None, ()):
            continue
        origin = origins.get(field)
        if own in (None, ()) or (origin is not None and origin.kind == "inferred"):
            changes[field], origins[field] = value, ORIGIN
        elif own != value:
            problems.info("facts-disagree", extra.name, f"{field}: the text disagrees with the source, which is used")
    if "access_level" in (found.origins or {}):
        level, order = found.access_level, CAUTION["access_level"]
        if "access_level" in origins and level != service.access_level:
            message = f"access_level is {level} in the text but {service.access_level} in the source"
            problems.warning("facts-disagree", extra.name, f"{message}; the more cautious one is used")
        if "access_level" not in origins or order.index(level) > order.index(service.access_level):
            changes["access_level"], origins["access_level"] = level, ORIGIN
    help_text = reader.text.of_tools({tool.name for tool in service.tools}, problems, is_own=False)
    return replace(
        service,
        **changes,
        access=_access(service.access, found.access),
        endpoints=_endpoints(service, found.access.api_endpoint),
        install={**(found.install or {}), **(service.install or {})} or None,
        requirements=replace(
            service.requirements,
            **{
                name: getattr(service.requirements, name) or getattr(found.requirements, name)
                for name in ("auth", "env", "scopes", "bins", "os")
            },
        ),
        tools=tuple(reconcile_safety(with_help(tool, help_text, ORIGIN), problems) for tool in service.tools),
        sections=_joined(service.sections, help_text.sections),
        extras={**(service.extras or {}), **({"extra": found.extras} if found.extras else {})} or None,
        origins=origins or None,
        problems=tuple(problems),
    )


_FIELDS = (
    "summary",
    "description",
    "emoji",
    "homepage",
    "repository",
    "status_page",
    "content_version",
    "last_updated",
    "when_to_use",
    "when_not_to_use",
    "invocation",
    "rate_limit",
    "categories",
)


class _ExtraReader:
    """Reads one text as a service that says nothing but this."""

    def __init__(self, extra: ExtraText, problems: ProblemLog) -> None:
        result = {"content": extra.text, "contentType": "text/markdown"}
        self.text: AiHelp = ai_help_from_result(result, problems)
        nothing = FieldReader({}, "", "dashdash", problems)
        self._sources = MetadataSources(dashdash=nothing, ai_help=self.text, server_info=nothing, manifest=nothing)
        self._resolver = FieldResolver(problems)

    def service(self) -> Service | None:
        """Gives what it says, or none where it says nothing."""
        sources, resolver, text = self._sources, self._resolver, self.text
        if not (text.metadata.raw or text.sections or text.when_to_use or text.when_not_to_use or text.quote):
            return None

        def take(field: str, key: str, within: str | None = None) -> Any:
            return resolver.value(field, *sources.all(key, within=within))

        wanted, unwanted = _uses(text)
        homepage = metadata.homepage_from(sources, resolver)
        repository = resolver.value("repository", *sources.all("repository", FieldReader.link))
        said = text.metadata.raw.get("alternativeAccess", {})
        access = metadata.access_from(sources, FieldResolver(ProblemLog()), url=None, repository=None, homepage=None)
        service = Service(
            kind="mcp",
            name=take("name", "name", "identity") or "",
            summary=take("summary", "description", "identity") or text.quote,
            description=text.introduction,
            emoji=take("emoji", "emoji", "identity"),
            homepage=homepage,
            repository=repository,
            status_page=resolver.value("status_page", *sources.all("statusPage", FieldReader.link)),
            content_version=resolver.value("content_version", *sources.all("contentVersion", FieldReader.version)),
            last_updated=take("last_updated", "lastUpdated"),
            when_to_use=wanted,
            when_not_to_use=unwanted,
            access_level=metadata.access_level_from(sources, resolver, "read", levels=CAUTION["access_level"]),
            access=access if "mcpUrl" in said else replace(access, mcp=None),
            install=metadata.install_from(sources, resolver),
            requirements=metadata.requirements_from(sources, resolver),
            invocation=metadata.invocation_from(sources, resolver),
            rate_limit=metadata.rate_limit_from(sources, resolver),
            categories=resolver.value("categories", *sources.all("categories", FieldReader.strings)) or (),
        )
        return replace(service, extras=text.metadata.unread() or None, origins=resolver.origins)


def _joined(own: tuple[Section, ...], added: tuple[Section, ...]) -> tuple[Section, ...]:
    """Returns the sections of both; one whose title both have goes on with what the text adds."""
    found = {section.title.strip().lower(): section for section in own}
    for section in added:
        key = section.title.strip().lower()
        known = found.setdefault(key, section)
        if section.body not in known.body:
            found[key] = replace(known, body=f"{known.body}\n\n{section.body}")
    return tuple(found.values())


def _uses(text: AiHelp) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Gives when to use it and when not; in an llms.txt each item is a link, whose label says it."""
    wanted: list[str] = []
    unwanted = [_label(item) for item in text.when_not_to_use]
    for item in map(_label, text.when_to_use):
        (unwanted if _NOT_FOR.match(item) else wanted).append(_NOT_FOR.sub("", item, count=1))
    return tuple(wanted), tuple(_NOT_FOR.sub("", item, count=1) for item in unwanted)


def _label(item: str) -> str:
    match = _LINK_ITEM.fullmatch(item.strip())
    return re.sub(r"\\(.)", r"\1", match[1]) if match is not None else item


def _endpoints(service: Service, url: str | None) -> tuple[Endpoint, ...]:
    """Returns the addresses of a service; the text's base URL where an API declares none with a host."""
    is_open = service.kind == "openapi" and not any("://" in endpoint.url for endpoint in service.endpoints)
    return (Endpoint(url=url),) if url is not None and is_open else service.endpoints


def _access(own: Access, found: Access) -> Access:
    ways = {name: getattr(own, name) or getattr(found, name) for name in ("cli", "api", "web", "mcp", "api_endpoint")}
    added = {name: ORIGIN for name in ways if getattr(own, name) is None and ways[name] is not None}
    return replace(own, **ways, origins={**(own.origins or {}), **added} or None)


def _addresses(source: str) -> Iterator[str]:
    """Gives the addresses at which the text may stand, the likeliest first."""
    is_site = False
    if source.startswith(("http://", "https://")):
        try:
            path = urlsplit(source).path
        except ValueError:
            path = ".txt"
        is_site = "." not in path.rpartition("/")[2] and "?" not in source
    if is_site:
        yield from (f"{source.rstrip('/')}/{place}" for place in _PLACES)
    yield source
