"""The front matter and the registry entry that dashdash defines for its CLI and web profiles (seed 000)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from skillgen.model.document import Document
from skillgen.model.service import Service
from skillgen.model.values import Json, Value, is_inferred
from skillgen.render.access import url_of
from skillgen.render.identity import description, is_named_by_author, plain, skill_name
from skillgen.render.publishing import json_document, with_values
from skillgen.render.semantics import rate_limit_phrase
from skillgen.render.skill import Rendering
from skillgen.text.generated import GENERATOR, KEY

SPEC_URL = "https://github.com/visionik/dashdash"
SPEC_VERSION = "0.2.0"

_AUTH_METHODS = {"bearer": "bearer", "api-key": "api-key", "oauth2": "oauth2", "basic": "basic", "cookie": "cookie",
                 "session": "session", "bearer_token": "bearer", "api_key": "api-key", "oauth2_code": "oauth2",
                 "oauth2_device": "oauth2"}  # fmt: skip
_CLI_LEVELS = {"browse": "interact"}
"""Levels that the CLI profile lacks, to the next more cautious one."""


def cli_front_matter(service: Service, *, subcommand_help: bool = False) -> dict[str, Any]:
    """Returns the front matter of `--ai-help` (CLI profile, 3.4.1); an unknown URL is `none`.

    `subcommand_help` is true if each command has its own help.
    """
    return {
        **_identity(service),
        "subcommand-help": subcommand_help,
        "access-level": _CLI_LEVELS.get(service.access_level, service.access_level),
        "web-url": _url_or_none(service.access.web),
        "mcp-url": _url_or_none(service.access.mcp),
        "api-url": _url_or_none(service.access.api),
        "cli-url": _url_or_none(service.access.cli) if service.access.cli is not None else None,
        **_recommended(service),
    }


def mcp_front_matter(service: Service) -> dict[str, Any]:
    """Returns the front matter of the result of `ai_help` (MCP profile, 3.3.2); an unknown URL is `none`."""
    fields = cli_front_matter(service)
    del fields["subcommand-help"]
    return {**fields, "cli-url": _url_or_none(service.access.cli)}


def web_front_matter(service: Service) -> dict[str, Any]:
    """Returns the front matter of llms.txt (web profile, 4.3)."""
    endpoint = service.endpoints[0] if service.endpoints and service.kind == "openapi" else None
    is_known = endpoint is not None and "url" not in (endpoint.origins or {})
    return {
        **_identity(service),
        "access-level": service.access_level,
        "cli-url": _url_or_none(service.access.cli),
        "mcp-url": _url_or_none(service.access.mcp),
        "api-url": _url_or_none(service.access.api),
        "web-url": url_of(service.access.web),
        "api-endpoint": _web_url(endpoint.url if endpoint is not None and is_known else service.access.api_endpoint),
        "auth-methods": _auth_methods(service),
        **_recommended(service),
    }


def registry_documents(rendering: Rendering) -> Iterator[Document]:
    """Yields registry.json."""
    yield json_document("registry.json", registry_entry(rendering.service))


def registry_entry(service: Service) -> dict[str, Json]:
    """Returns the discovery entry (seed 000, "MCP servers MAY register"), without `verified`, which others decide."""
    return {
        "name": skill_name(service),
        "description": description(service),
        "specVersion": SPEC_VERSION,
        "install": dict(service.install or {}),
        "alternativeAccess": _alternative_access(service),
        "categories": list(service.categories),
    }


def not_declared(service: Service) -> list[str]:
    """Returns the fields of front matter that the specification requires and nothing declares.

    A reader must not take their values for the author's: `none` is the word for an unknown URL too.
    """
    origins = service.origins or {}
    declared = {
        "name": is_named_by_author(service),
        "title": "title" in origins and not origins["title"].source.endswith("erverInfo/title"),
        "description": service.summary is not None and not is_inferred(service, "summary"),
        "when-to-use": service.when_to_use,
        "access-level": not is_inferred(service, "access_level"),
        **{
            f"{way}-url": getattr(service.access, way) is not None and not is_inferred(service.access, way)
            for way in ("cli", "api", "web", "mcp")
        },
    }
    return [key for key, is_declared in declared.items() if not is_declared]


def _identity(service: Service) -> dict[str, Any]:
    return {
        "name": skill_name(service),
        "description": description(service),
        "spec-url": SPEC_URL,
        "spec-version": SPEC_VERSION,
    }


def _recommended(service: Service) -> dict[str, Any]:
    requirements, invocation = service.requirements, service.invocation
    return {
        "argument-hint": plain(invocation.argument_hint) if invocation and invocation.argument_hint else None,
        "install": dict(service.install or {}),
        "requires": with_values(
            {
                "auth": list(dict.fromkeys(auth.kind for auth in requirements.auth if not auth.is_for_events)),
                "env": list(requirements.env),
                "scopes": list(requirements.scopes),
                "bins": list(requirements.bins),
                "os": [name for name in requirements.os if name in ("darwin", "linux", "windows")],
            }
        ),
        "invocation": with_values(
            {
                "model-invocable": invocation.model_invocable,
                "user-invocable": invocation.user_invocable,
                "allowed-tools": list(invocation.allowed_tools),
            }
        )
        if invocation
        else None,
        "homepage": _web_url(service.homepage),
        "repository": _web_url(service.repository),
        "content-version": service.content_version,
        "last-updated": service.last_updated,
        "rate-limit": rate_limit_phrase(service.rate_limit) if service.rate_limit else None,
        "status-page": _web_url(service.status_page),
        "categories": list(service.categories),
        "emoji": service.emoji,
        KEY: GENERATOR,
        "not-declared": ", ".join(not_declared(service)),
    }


def _alternative_access(service: Service) -> dict[str, Json]:
    """Returns the declared alternatives: a URL, or null if it is declared that there is no such access.

    An API's documentation is not an alternative to that API, so alone it does not make an entry.
    """
    if service.kind == "openapi" and not (service.access.cli or service.access.web):
        return {}
    links = {"cliUrl": service.access.cli, "apiUrl": service.access.api, "webUrl": service.access.web}
    return {key: url_of(link) for key, link in links.items() if link is not None}


def _auth_methods(service: Service) -> list[str]:
    used = (auth for auth in service.requirements.auth if not auth.is_for_events)
    kinds = ("cookie" if (auth.sent_as or "").startswith("cookie") else auth.kind for auth in used)
    return list(dict.fromkeys(_AUTH_METHODS[kind] for kind in kinds if kind in _AUTH_METHODS))


def _url_or_none(link: Value | None) -> str:
    return url_of(link) or "none"


def _web_url(url: str | None) -> str | None:
    return url if url is not None and url.startswith(("https://", "http://")) else None
