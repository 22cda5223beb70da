"""Adds a captured `--ai-help` text, an llms.txt or an Arazzo file to a service: `--extra` (seed 000; S0-20).

The text fills gaps; it changes nothing that the source declares.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from skillgen.errors import ProblemLog, SourceError
from skillgen.model.auth import Endpoint
from skillgen.model.mcp_fields import IDENTITY
from skillgen.model.resource import Section
from skillgen.model.service import Service
from skillgen.model.tool import CAUTION
from skillgen.model.values import Node, Origin
from skillgen.security.secrets import report_echoed_secrets, secrets_from_url
from skillgen.sources import http
from skillgen.sources.arazzo import apply_arazzo, is_arazzo
from skillgen.sources.documents import load_text
from skillgen.sources.mcp.ai_help import AiHelp, ai_help_from_result, with_help
from skillgen.sources.mcp.fields import FieldResolver
from skillgen.sources.mcp.metadata import access_from, access_level_from, metadata_fields, sources_from_results
from skillgen.text import lazy_re as re

N = TypeVar("N", bound=Node)

_LLMS_TXT_PATHS = ("llms.txt", ".well-known/llms.txt")
"""Paths of an llms.txt, below the URL of a site."""

_SITE = re.compile(r"https?://[^/?#]+(?:/(?:[^?#]*/)?[^/?#.]*)?")
"""A URL whose last segment has no suffix."""

_LINK_ITEM = re.compile(r"\[((?:\\.|[^\]\\])+)\]\([^)]*\)(?::.*)?", re.DOTALL)
_NOT_FOR = re.compile(r"not for:\s*", re.IGNORECASE)


class ExtraText(Struct, frozen=True, kw_only=True):
    """A text and its location."""

    name: str
    """The file or URL, for messages."""

    text: str
    """Markdown, untrusted."""

    echoed_from: tuple[str, ...] = ()
    """The origins of the user's secrets that were redacted in the text."""


def load_extra(source: str, *, timeout_s: float) -> ExtraText:
    """Loads a text from a file, a URL or standard input; for the URL of a site, its llms.txt.

    Raises:
        SourceError: no text can be read.
    """
    access = http.FetchOptions(timeout_s=timeout_s, secrets=secrets_from_url(source))
    failures: list[SourceError] = []
    for candidate in _candidate_sources(source):
        try:
            name, text, echoed_from = load_text(candidate, access)
        except SourceError as error:
            failures.append(error)
        else:
            return ExtraText(name=name, text=text, echoed_from=echoed_from)
    with access.secrets.redact_errors():
        raise failures[0]


def apply_extra(service: Service, extra: ExtraText) -> Service:
    """Returns the service with the additions of a text, or with the workflows of an Arazzo file.

    Where both have a value, the service's value is used.

    Raises:
        SourceError: an Arazzo file is neither JSON nor YAML.
    """
    problems = ProblemLog()
    report_echoed_secrets(problems, extra.echoed_from)
    if is_arazzo(extra.text):
        service = apply_arazzo(service, extra.name, extra.text)
    else:
        text = ai_help_from_result({"content": extra.text, "contentType": "text/markdown"}, problems, extra.name)
        if text.metadata.raw or text.sections or text.when_to_use or text.when_not_to_use or text.quote:
            service = with_text(service, text, extra.name)
        else:
            what = "the text has neither front matter nor sections; nothing is added"
            problems.report("extra-empty", extra.name, what)
    return replace(service, problems=(*service.problems, *problems))


def with_text(service: Service, text: AiHelp, where: str) -> Service:
    """Returns the service with the additions of a text; where both have a value, the service's value is used.

    Of a text that skillgen wrote, disagreements are not reported: it may be older than what the service declares now.
    """
    is_served = where.startswith("/")
    problems = ProblemLog()
    for problem in service.problems:
        problems.add(problem)
    disagreements = problems if text.edited is None else ProblemLog()
    if text.edited:
        message = "the text was written by skillgen and edited since; an edit of what skillgen derived is not read"
        problems.report("generated-text-edited", where, message)
    addition, text_origin = _service_from_text(text, problems), Origin("declared", where if is_served else "--extra")

    def filled(owner: N, added: N, names: Iterable[str], prefix: str = "") -> N:
        """Returns a node with the values of another where it declares none of its own; reports those that differ."""
        changes, origins = {}, dict(getattr(owner, "origins", None) or {})
        for name in names:
            own, value = getattr(owner, name), getattr(added, name)
            if value in (None, (), ""):
                continue
            if own in (None, ()) or name in weak or (name in origins and origins[name].kind == "inferred"):
                changes[name], origins[name] = value, text_origin
            elif own != value:
                disagree(prefix + name)
        return replace(owner, **changes, **({"origins": origins or None} if hasattr(owner, "origins") else {}))

    def disagree(field: str) -> None:
        disagreements.report("facts-disagree", where, f"{field}: the text disagrees with the source, which is used")

    weak = _names(service)
    for manager, package in (addition.install or {}).items():
        if (service.install or {}).get(manager, package) != package:
            disagree(f"install.{manager}")
    requirements = filled(service.requirements, addition.requirements, ("env", "scopes", "bins", "os"), "requirements.")
    access = filled(service.access, addition.access, ("cli", "api", "web", "mcp", "api_endpoint"), "access.")
    result = filled(service, addition, _FIELDS if text.edited is None else (*_FIELDS, *weak, "instructions"))
    changes, origins = dict[str, Any](), dict(result.origins or {})
    if "access_level" in (addition.origins or {}):
        level, order = addition.access_level, CAUTION["access_level"]
        if "access_level" in origins and level != service.access_level:
            message = f"access_level is {level} in the text but {service.access_level} in the source"
            problems.report("safety-facts-disagree", where, f"{message}; the more cautious one is used")
        if "access_level" not in origins or order.index(level) > order.index(service.access_level):
            changes["access_level"], origins["access_level"] = level, text_origin
    help_text = text.of_tools({tool.name for tool in service.tools}, problems, is_own=False)
    for problem in text.metadata.problems:  # of its fields, which are read only here
        problems.add(problem)
    return replace(
        result,
        **changes,
        access=access,
        endpoints=_endpoints(service, addition.access.api_endpoint),
        install={**(addition.install or {}), **(service.install or {})} or None,
        requirements=replace(requirements, auth=requirements.auth or addition.requirements.auth),
        tools=tuple(with_help(tool, help_text, text_origin) for tool in service.tools),
        sections=_merge_sections(service.sections, help_text.sections, is_repeated=text.edited is not None),
        extras={**(service.extras or {}), **({"extra": addition.extras} if addition.extras else {})} or None,
        origins=origins or None,
        problems=tuple(problems),
    )


def _names(service: Service) -> tuple[str, ...]:
    """Returns the names that a text by skillgen has from the author of a server and that `serverInfo` does not beat."""
    origins = service.origins or {}
    is_weak = {key: key not in origins or origins[key].source.endswith(f"erverInfo/{key}") for key in ("name", "title")}
    return tuple(key for key, weak in is_weak.items() if weak and service.kind == "mcp")


_FIELDS = (
    "summary", "description", "emoji", "homepage", "repository", "status_page", "content_version", "last_updated",
    "when_to_use", "when_not_to_use", "invocation", "rate_limit", "categories",
)  # fmt: skip


def _service_from_text(text: AiHelp, problems: ProblemLog) -> Service:
    """Returns the facts of a text as a service without any other source."""
    sources = replace(sources_from_results({}, problems), ai_help=text)
    resolver = FieldResolver(problems)
    wanted, unwanted = _uses(text)
    summary = resolver.value("summary", *sources.all(IDENTITY[1]))
    service = Service(
        kind="mcp",
        name=resolver.value("name", *sources.all(IDENTITY[0])) or "",
        title=text.title,
        summary=text.quote if text.edited is not None else summary or text.quote,
        description=text.introduction,
        instructions=text.instructions,
        when_to_use=wanted,
        when_not_to_use=unwanted,
        access_level=access_level_from(sources, resolver, "read", levels=CAUTION["access_level"]),
        access=access_from(sources, FieldResolver(ProblemLog()), url=None, repository=None, homepage=None),
        **metadata_fields(sources, resolver),
    )
    return replace(service, extras=text.metadata.unread() or None, origins=resolver.origins)


def _merge_sections(
    declared: tuple[Section, ...], added: tuple[Section, ...], *, is_repeated: bool
) -> tuple[Section, ...]:
    """Returns all sections; an added body is appended to the declared section of the same title.

    With `is_repeated`, the text has the declared sections too, as skillgen wrote them.
    """
    sections = {section.kind or section.title.strip().lower(): section for section in declared}
    for section in added:
        key = section.kind or section.title.strip().lower()
        first = sections.setdefault(key, section)
        if section.body not in first.body and not is_repeated:
            sections[key] = replace(first, body=f"{first.body}\n\n{section.body}")
    return tuple(sections.values())


def _uses(text: AiHelp) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns when to use the service and when not; in an llms.txt each item is a link, and its label counts."""
    wanted: list[str] = []
    unwanted = [_label(item) for item in text.when_not_to_use]
    for item in map(_label, text.when_to_use):
        (unwanted if _NOT_FOR.match(item) else wanted).append(_NOT_FOR.sub("", item, count=1))
    return tuple(wanted), tuple(_NOT_FOR.sub("", item, count=1) for item in unwanted)


def _label(item: str) -> str:
    match = _LINK_ITEM.fullmatch(item.strip())
    return re.sub(r"\\(.)", r"\1", match[1]) if match is not None else item


def _endpoints(service: Service, url: str | None) -> tuple[Endpoint, ...]:
    """Returns the endpoints of a service; the text's base URL if an API declares no URL with a host."""
    needs_host = service.kind == "openapi" and not any("://" in endpoint.url for endpoint in service.endpoints)
    return (Endpoint(url=url),) if url is not None and needs_host else service.endpoints


def _candidate_sources(source: str) -> Iterator[str]:
    """Yields the URLs or files that may have the text, the likeliest first."""
    if _SITE.fullmatch(source):
        yield from (f"{source.rstrip('/')}/{path}" for path in _LLMS_TXT_PATHS)
    yield source
