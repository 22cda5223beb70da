"""What a description lacks of what seed 002 asks (MCP* REST edition, 3.2 to 5.1), as problems; nothing is left out."""

from __future__ import annotations

import re
from collections.abc import Iterable

from skillgen.errors import ProblemLog
from skillgen.model.access import Auth
from skillgen.model.pointer import child
from skillgen.model.tool import Tool
from skillgen.model.value import Json
from skillgen.sources.guards import as_dict, text_of

_SCREEN_WORDS = re.compile(
    r"\b(?:click(?:s|ed|ing)?|(?:drop-?down|context) menus?|check ?box(?:es)?|radio buttons?|side ?bars?|tool ?bars?|"
    r"pop-?ups?|(?:the|a|this|that) \w{0,20} ?(?:button|screen|dialog|tab|menu))\b",
    re.IGNORECASE,
)
_SCREEN_STEMS = ("click", "menu", "box", "radio", "bar", "pop", "button", "screen", "dialog", "tab")
"""One of them is in whatever matches; to look for them takes a fraction of the time."""
_RESULT_WORDS = re.compile(
    r"\b(?:returns?|returned|returning|responds?|responses?|results?|gives?|gets?|lists?|retrieves?|fetch(?:es)?|shows?|"
    r"finds?|search(?:es)?|reads?|provides?|outputs?|yields?)\b",
    re.IGNORECASE,
)
_LEFT_OUT_OF_MCP = (
    ("x-speakeasy-mcp", "disabled", True),
    ("x-mcp", "disabled", True),
    ("x-mcp", "enabled", False),
    ("x-mcp", "skip", True),
    ("x-mcp", "ignore", True),
)
"""Extension, member and value by which descriptions keep an operation out of an MCP server."""

LOOKED_AT = 4_000
"""Characters of a description that are looked at."""


def check_version(version: str, problems: ProblemLog) -> None:
    """Reports a version that is read and that the specification of manifests does not take (seed 002, 3.2)."""
    if version.startswith("2."):
        problems.warning(
            "version-old",
            "/swagger",
            f"Swagger {version[:20]} is read; manifests are OpenAPI 3.1 or later",
            "convert it",
        )
    elif version.startswith("3.0"):
        problems.warning(
            "version-old", "/openapi", f"OpenAPI {version[:20]} is read; manifests are 3.1 or later", "move to 3.1"
        )
    elif not version.startswith(("3.1", "3.2")):
        problems.warning("version-unknown", "/openapi", f"OpenAPI {version[:20]} is read by the rules of 3.2")


def check_info(data: dict[str, Json], problems: ProblemLog) -> None:
    """Reports what is missing of title, version and description (seed 002, 3.3)."""
    info = as_dict(data.get("info"))
    for name in ("title", "version", "description"):
        found = info.get(name)
        if isinstance(found, (int, float)) and name == "version":
            problems.warning("version-not-text", "/info/version", "the version is a number", "put it in quotes")
        elif text_of(info, name) is None:
            problems.warning(f"{name}-missing", f"/info/{name}", f"the description has no {name}", f"add info.{name}")


def check_content(data: dict[str, Json], problems: ProblemLog) -> None:
    """Reports a description with nothing to describe (OpenAPI 3.1, "OpenAPI Object")."""
    if not any(key in data for key in ("paths", "webhooks", "components")):
        problems.warning("paths-missing", "", "there is none of `paths`, `webhooks` and `components`", "add `paths`")


def check_security(data: dict[str, Json], auth: Iterable[Auth], problems: ProblemLog) -> None:
    """Reports what is missing of OAuth 2.0 and of a requirement for all operations (seed 002, 5.1).

    That PKCE is used can't be seen in OpenAPI; `x-usePkce` may say so.
    """
    if not any(item.flow == "authorizationCode" and item.authorization_url and item.token_url for item in auth):
        problems.info(
            "oauth-missing",
            "/components/securitySchemes",
            "no OAuth 2.0 authorization code flow with both its URLs is declared",
            "declare it, if the service has it",
        )
    if not isinstance(data.get("security"), list):
        problems.info("security-missing", "/security", "no security requirement for all operations is declared")


def check_path(path: str, pointer: str, problems: ProblemLog) -> None:
    """Reports a path that can't be appended to the address of the API (OpenAPI 3.1, "Paths Object")."""
    if not path.startswith("/"):
        problems.warning("path-invalid", pointer, f"the path {path[:100]!r} does not begin with a slash", "add it")
    elif "?" in path or "#" in path:
        problems.warning(
            "path-invalid", pointer, f"the path {path[:100]!r} holds a query or a fragment", "declare parameters"
        )


def check_audience(operation: dict[str, Json], pointer: str, problems: ProblemLog) -> None:
    """Reports an operation that its author keeps out of an MCP server."""
    for name, key, value in _LEFT_OUT_OF_MCP:
        if as_dict(operation.get(name)).get(key) is value:
            problems.info(
                "mcp-disabled",
                child(pointer, name, key),
                "the description keeps this operation out of an MCP server; it is documented as one of the API",
                "leave it out with --exclude if it is not for agents",
            )


def check_words(tool: Tool, problems: ProblemLog) -> None:
    """Reports what is missing or out of place in what an operation says of itself (seed 002, 4.1 and 4.2)."""
    if tool.summary is None and tool.description is None:
        problems.warning(
            "tool-undescribed", tool.pointer, f"{tool.name} has no summary and no description", "say what it does"
        )
        return
    for name in ("summary", "description"):
        if getattr(tool, name) is None:
            problems.info(f"tool-{name}-missing", child(tool.pointer, name), f"{tool.name} has no {name}", "add one")
    description = (tool.description or "")[:LOOKED_AT]
    if found := _screen_words(description):
        problems.info(
            "screen-mentioned",
            child(tool.pointer, "description"),
            f"{tool.name} speaks of what stands on a screen ({found!r}), which an agent can't see",
            "say what the operation does",
        )
    returns_nothing_known = tool.output is None or tool.output.schema is None
    if description and returns_nothing_known and not _RESULT_WORDS.search(f"{tool.summary or ''} {description}"):
        problems.info(
            "result-unsaid", child(tool.pointer, "description"), f"{tool.name} does not say what it returns", "say it"
        )


def _screen_words(text: str) -> str | None:
    folded = text.casefold()
    if not any(stem in folded for stem in _SCREEN_STEMS):
        return None
    found = _SCREEN_WORDS.search(text)
    return found[0] if found else None
