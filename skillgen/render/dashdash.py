"""The front matter and the registry entry that dashdash defines for its CLI and web profiles (seed 000)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from skillgen.model.document import Document
from skillgen.model.mcp_fields import REQUIREMENTS, SERVICE, camel, declared
from skillgen.model.service import Service
from skillgen.model.values import Json, Value, is_inferred
from skillgen.render.access import url_of
from skillgen.render.identity import description, is_quoted, skill_name
from skillgen.render.publishing import with_values
from skillgen.render.semantics import rate_limit_phrase
from skillgen.render.skill import Rendering
from skillgen.text import lazy_re as re
from skillgen.text.generated import GENERATOR, KEY

_LINKS = ("homepage", "repository", "statusPage")
_OBJECTS = ("requires", "invocation")
"""Members whose members are fields; the names of package managers under `install` stay."""

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
    fields = mcp_front_matter(service)
    if service.access.cli is None:
        del fields["cli-url"]
    keys = ("name", "description", "spec-url", "spec-version")
    return {**{key: fields[key] for key in keys}, "subcommand-help": subcommand_help, **fields}


def mcp_front_matter(service: Service) -> dict[str, Any]:
    """Returns the front matter of the result of `ai_help` (MCP profile, 3.3.2); an unknown URL is `none`."""
    level = _CLI_LEVELS.get(service.access_level, service.access_level)
    urls = {f"{name}Url": _url_or_none(getattr(service.access, name)) for name in ("web", "mcp", "api", "cli")}
    return _front_matter(service, {"accessLevel": level, **urls})


def web_front_matter(service: Service) -> dict[str, Any]:
    """Returns the front matter of llms.txt (web profile, 4.3)."""
    endpoint = service.endpoints[0] if service.endpoints and service.kind == "openapi" else None
    is_known = endpoint is not None and "url" not in (endpoint.origins or {})
    api_endpoint = endpoint.url if endpoint is not None and is_known else service.access.api_endpoint
    urls = {f"{name}Url": _url_or_none(getattr(service.access, name)) for name in ("cli", "mcp", "api")}
    others = {"apiEndpoint": _web_url(api_endpoint), "authMethods": _auth_methods(service)}
    web = url_of(service.access.web)
    return _front_matter(service, {"accessLevel": service.access_level, **urls, "webUrl": web, **others})


def metadata(service: Service) -> dict[str, Any]:
    """Returns the fields that the metadata of all profiles have, in the spelling of JSON; some may be unset."""
    fields = declared(SERVICE, service, "dashdash")
    requires = declared(REQUIREMENTS, service, "dashdash").get("requires", {})
    requires["auth"] = list(dict.fromkeys(item.kind for item in service.requirements.auth if not item.is_for_events))
    requires["os"] = [name for name in service.requirements.os if name in ("darwin", "linux", "windows")]
    limit = service.rate_limit
    return {
        "name": skill_name(service),
        "description": description(service),
        "specUrl": SPEC_URL,
        "specVersion": SPEC_VERSION,
        "accessLevel": service.access_level,
        "argumentHint": fields.get("argumentHint"),
        "install": dict(service.install or {}),
        "requires": with_values(requires),
        **{key: _web_url(value) if key in _LINKS else value for key, value in fields.items() if key != "identity"},
        "rateLimit": (limit.text or rate_limit_phrase(limit)) if limit else None,
        "emoji": service.emoji,
        camel(KEY): GENERATOR,
        "notDeclared": ", ".join(not_declared(service)),
    }


def _front_matter(service: Service, access: dict[str, Any]) -> dict[str, Any]:
    """Returns metadata with the keys of YAML: who it is, its other access, and what is recommended."""
    fields = metadata(service)
    head = {key: fields.pop(key) for key in ("name", "description", "specUrl", "specVersion")}
    return {
        _kebab(key): {_kebab(name): item for name, item in value.items()} if key in _OBJECTS else value
        for key, value in {**head, **access, **{key: fields[key] for key in fields if key != "accessLevel"}}.items()
    }


def _kebab(key: str) -> str:
    return re.sub(r"(?=[A-Z])", "-", key).lower()


def registry_documents(rendering: Rendering) -> Iterator[Document]:
    """Yields registry.json (seed 000, "MCP servers MAY register"), without `verified`, which others decide."""
    service = rendering.service
    fields = {
        "name": skill_name(service),
        "description": description(service),
        "specVersion": SPEC_VERSION,
        "install": dict(service.install or {}),
        "alternativeAccess": _alternative_access(service),
        "categories": list(service.categories),
    }
    yield Document("registry.json", rendering.templates.render("registry.json.j2", fields=with_values(fields)))


def not_declared(service: Service) -> list[str]:
    """Returns the fields of front matter that the specification requires and nothing declares.

    A reader must not take their values for the author's: `none` is the word for an unknown URL too.
    """
    origins = service.origins or {}
    declared = {
        "name": not is_inferred(service, "product"),
        "title": service.kind == "openapi"
        or ("title" in origins and not origins["title"].source.endswith("erverInfo/title")),
        "description": service.summary is not None or (service.kind == "openapi" and is_quoted(service)),
        "when-to-use": service.when_to_use,
        "access-level": not is_inferred(service, "access_level"),
        **{
            f"{way}-url": getattr(service.access, way) is not None and not is_inferred(service.access, way)
            for way in ("cli", "api", "web", "mcp")
        },
    }
    return [key for key, is_declared in declared.items() if not is_declared]


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
