"""What the formats for publishers share: who publishes the service, what others may read of it, and JSON files.

A publisher states only what the source or the author declares. What is missing is left out, and each omission is a
problem.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from msgspec import Struct

from skillgen.errors import Problem
from skillgen.model.document import Document, Publisher
from skillgen.model.service import Service
from skillgen.render.about import client_variables
from skillgen.security.addresses import host_of, is_private, literal_address, public_url
from skillgen.security.secrets import is_secret_setting
from skillgen.text import lazy_re as re
from skillgen.text.markdown import exact_json_text, one_line

_SHARED_HOSTS = frozenset(
    {
        *("github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "npmjs.com", "pypi.org", "hub.docker.com"),
        *("docs.google.com", "notion.so", "medium.com", "readme.com", "smithery.ai", "glama.ai"),
    }
)
"""Hosts on which everybody publishes: a page there does not make its domain the publisher's."""

_ACCOUNT = re.compile(r"https?://(?:www\.)?github\.com/(?P<owner>[A-Za-z0-9-]+)(?:/|\Z)", re.ASCII)

VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}", re.ASCII)
"""The name of an environment variable."""

HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}", re.ASCII)
"""The name of an HTTP header (RFC 9110, 5.6.2)."""

_VERSION = re.compile(r"v?[0-9]+(?:[-+.][0-9A-Za-z.+-]+)?", re.ASCII)
_RANGE = re.compile(r"(?:^|\.)[xX](?:\.|$)")


def json_document(path: str, fields: dict[str, Any], keep: Collection[str] = ()) -> Document:
    """Returns a JSON file of the fields that have a value.

    Its reader compares names and schemas with those of the service, so an invisible character is written as an escape
    and not left out.
    """
    return Document(path, exact_json_text(with_values(fields, keep), indent=2) + "\n")


def with_values(fields: dict[str, Any], keep: Collection[str] = ()) -> dict[str, Any]:
    """Returns the fields that have a value, and those to keep in any case. `false` and an empty text are values."""
    return {key: value for key, value in fields.items() if key in keep or value not in (None, [], {}, ())}


def left_out(format_name: str, message: str, fix: str = "leave it out of --emit for this service") -> Problem:
    """Returns the problem of a format that is not written."""
    return Problem.of("format-left-out", format_name, message, fix)


def left_out_unversioned(format_name: str) -> Problem:
    """Returns the problem of a format that is not written, because it requires a version."""
    return left_out(format_name, "the server declares no exact version of its own", VERSION_FIX)


def without(path: str, message: str, fix: str | None = None) -> Problem:
    """Returns the problem of a file that lacks something."""
    return Problem.of("published-without", path, message, fix)


NOT_A_SERVER = "the format is for an MCP server, and this service is not one"
VERSION_FIX = "declare a version such as 1.0.2 in the source, or with --service-version"
PUBLISH_FIX = "give --publish domain=DOMAIN or --publish namespace=NAMESPACE"


class Variable(Struct, frozen=True):
    """An environment variable of a server that a command starts."""

    name: str
    is_required: bool
    is_secret: bool


def variables_of(service: Service) -> tuple[Variable, ...]:
    """Returns the variables that a client sets for the server."""
    names = filter(VARIABLE.fullmatch, client_variables(service))
    return tuple(Variable(name, name in service.requirements.env, is_secret_setting(name)) for name in names)


class Namespace(Struct, frozen=True):
    """The namespace of a publisher, in reverse order of its domain."""

    text: str
    owner: str
    """The name of the publisher: its domain or account."""

    domain: str
    """The domain whose names it has: `acme.com`, `acme.github.io`."""

    problem: Problem | None = None
    """What it was inferred from, if nobody declares it."""


def namespace_of(service: Service, publisher: Publisher) -> Namespace | None:
    """Returns the publisher's namespace; without a declared one, that of the host of the homepage or the account of the
    repository.
    """
    if publisher.namespace:
        domain = publisher.domain or _reversed(publisher.namespace)
        return Namespace(publisher.namespace, publisher.domain or publisher.namespace, domain)
    if publisher.domain:
        return Namespace(_reversed(publisher.domain), publisher.domain, publisher.domain)
    for field, url in (("homepage", service.homepage), ("repository", service.repository)):
        host = (host_of(url) or "").removeprefix("www.")
        account = _ACCOUNT.match(url or "")
        owner = account["owner"] if account else ""
        name = f"io.github.{owner.lower()}" if owner else ""
        if field == "homepage" and is_published(url) and host not in _SHARED_HOSTS and host.isascii():
            name, owner = _reversed(host), host
        if name:
            message = f"the namespace {name} follows from the {field}"
            return Namespace(
                name, owner, _reversed(name), Problem.of("publisher-inferred", field, message, PUBLISH_FIX)
            )
    return None


def _reversed(domain: str) -> str:
    return ".".join(reversed(domain.split(".")))


def is_published(url: str | None) -> bool:
    """True if a URL is of HTTP and its host is reached from everywhere."""
    host = host_of(url)
    is_web = url is not None and url.startswith(("https://", "http://")) and " " not in url and one_line(url) == url
    return bool(is_web and host and "." in host and not is_private(host) and literal_address(host) is None)


def published(url: str | None) -> str | None:
    """Returns a URL that is reached from everywhere, else `None`."""
    return url if is_published(url) else None


def is_endpoint(url: str | None) -> bool:
    """True if others reach a service at its URL, which has no part that may be secret."""
    return url is not None and is_published(url) and public_url(url) == url


def exact_version(service: Service) -> str | None:
    """Returns the version of a service if it is one, not a range."""
    text = service.version or ""
    return text if _VERSION.fullmatch(text) and not _RANGE.search(text) else None
