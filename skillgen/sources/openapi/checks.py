"""Checks of a description; none of them changes what is documented.

They report what a description lacks of seed 002 (MCP* REST edition, 3.2 to 5.1), unknown schema dialects (OpenAPI 3.1,
"Schema Object", `jsonSchemaDialect`), and members of a wrong type, which the readers ignore. Schemas and security
requirements are checked where they are read. Null is treated as absent.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from skillgen.errors import ProblemLog
from skillgen.model.auth import Auth
from skillgen.model.tool import Tool
from skillgen.model.values import Json, child, follow
from skillgen.sources.documents import Document
from skillgen.sources.json_access import as_dict, text_of
from skillgen.sources.json_schema.keywords import kind_of
from skillgen.text import lazy_re as re

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
"""The methods that are members of a path item; `query` came with 3.2."""

_SCREEN_PATTERN = re.compile(
    r"\b(?:click(?:ing)? (?:(?:on )?(?:the|a|this)|here)\b|(?:drop-?down|context) menus?|"
    r"check ?box(?:es)?|radio buttons?|side ?bars?|tool ?bars?|pop-?ups?|"
    r"(?:the|a|this|that) \w{0,20} ?(?:button|screen|dialog|tab|menu))\b",
    re.IGNORECASE,
)
_SCREEN_WORDS = ("click", "menu", "box", "bar", "pop", "button", "screen", "dialog", " tab")
"""One of these is in every text that the pattern matches, in lower case; most texts lack them."""

_RESULT_PATTERN = re.compile(
    r"\b(?:returns?|returned|returning|responds?|responses?|results?|gives?|gets?|lists?|retrieves?|fetch(?:es)?|shows?|"
    r"finds?|search(?:es)?|reads?|provides?|outputs?|yields?)\b",
    re.IGNORECASE,
)
_TELLING_WORDS = 5
"""The description of a response with fewer words is hardly more than "Successful operation"."""

_SCANNED_LENGTH = 4_000
"""Characters of a description that are scanned."""


REST_EDITION = "mcp-rest"
"""What a service uses whose description claims to be a manifest of the MCP REST Edition."""

_MANIFEST_NAMES = ("mcp.yaml", "mcp.json")


def check_version(document: Document, version: str, problems: ProblemLog) -> bool:
    """Reports an unknown version; true if a description claims to be a manifest: by its well-known name, or by
    `info.x-mcp` (seed 002, 3.1).

    Of a manifest, reports a version that is not allowed (3.2), and that it was fetched without a media type for
    manifests, or with that of JSON although it is not (3.1).
    """
    path = urlsplit(document.url).path if document.url is not None else document.name
    is_named_so = path.replace("\\", "/").rpartition("/")[2] in _MANIFEST_NAMES
    is_manifest = is_named_so or isinstance(as_dict(document.data.get("info")).get("x-mcp"), dict)
    key = "swagger" if version.startswith("2.") else "openapi"
    if is_manifest and version.startswith(("2.", "3.0")):
        problems.report("version-old", f"/{key}", f"{key} {version[:20]} is read; manifests are OpenAPI 3.1 or later")
    elif not version.startswith(("2.", "3.0", "3.1", "3.2")):
        problems.report("version-unknown", "/openapi", f"OpenAPI {version[:20]} is unknown; it is read as 3.2")
    media_type = document.media_type
    is_right = media_type == "application/yaml" or (media_type == "application/json" and document.is_json)
    if is_manifest and document.url is not None and not is_right:
        message = f"the manifest was served as {media_type[:80]}" if media_type else "the manifest has no Content-Type"
        message += ", but is YAML" if media_type == "application/json" else ""
        problems.report("manifest-media-type", "", message)
    return is_manifest


def check_info(data: dict[str, Json], problems: ProblemLog) -> None:
    """Reports a missing title, version or description (seed 002, 3.3), and a description with nothing to describe
    (OpenAPI 3.1, "OpenAPI Object").
    """
    info = as_dict(data.get("info"))
    for name in ("title", "version", "description"):
        if isinstance(info.get(name), (int, float)) and name == "version":
            problems.report("version-not-text", "/info/version", "the version is a number")
        elif text_of(info, name) is None:
            problems.report(f"{name}-missing", f"/info/{name}", f"`info` has no {name}", f"add info.{name}")
    if not any(key in data for key in ("paths", "webhooks", "components")):
        problems.report("paths-missing", "", "`paths`, `webhooks` and `components` are all missing")


def check_security(data: dict[str, Json], auth: Iterable[Auth], problems: ProblemLog) -> None:
    """Reports a missing OAuth 2.0 flow, or a missing requirement for all operations (seed 002, 5.1).

    PKCE is not checked: OpenAPI has no field for it, only the extension `x-usePkce`.
    """
    if not any(item.flow == "authorizationCode" and item.authorization_url and item.token_url for item in auth):
        message = "no OAuth 2.0 authorization code flow with both its URLs is declared"
        problems.report("oauth-missing", "/components/securitySchemes", message)
    if not (isinstance(required := data.get("security"), list) and required):
        problems.report("security-missing", "/security", "no security requirement for all operations is declared")


def check_path(path: str, pointer: str, problems: ProblemLog) -> None:
    """Reports a path that can't be appended to the URL of the API (OpenAPI 3.1, "Paths Object")."""
    if not path.startswith("/"):
        problems.report("path-invalid", pointer, f"the path {path[:100]!r} does not begin with a slash", "add it")
    elif "?" in path or "#" in path:
        message = f"the path {path[:100]!r} has a query or a fragment"
        problems.report("path-invalid", pointer, message, "declare parameters")


def check_responses(operation: dict[str, Json], pointer: str, problems: ProblemLog) -> None:
    """Reports missing responses, and responses to what is no status."""
    if "responses" not in operation:
        problems.report("responses-missing", pointer, "the operation declares no responses")
    for status in as_dict(operation.get("responses")):
        if not status.startswith("x-") and not _STATUS.fullmatch(status):
            message = f"{status[:40]!r} is not an HTTP status, a range such as 4XX, or default"
            problems.report("status-invalid", child(pointer, "responses", status), message, "correct it")


def check_texts(tool: Tool, problems: ProblemLog) -> None:
    """Reports a missing or unsuitable summary or description of an operation (seed 002, 4.1 and 4.2)."""
    if tool.is_preflight or (tool.summary is None and tool.description is None):  # which a rule reports
        return
    for name in ("summary", "description"):
        if getattr(tool, name) is None:
            problems.report(f"tool-{name}-missing", child(tool.pointer, name), f"{tool.name} has no {name}")
        elif name in (tool.origins or {}):
            message = f"{tool.name} has no {name} of its own, only that of its path"
            problems.report(f"tool-{name}-missing", child(tool.pointer, name), message)
    description = (tool.description or "")[:_SCANNED_LENGTH]
    if any(map(description.lower().__contains__, _SCREEN_WORDS)) and (mention := _SCREEN_PATTERN.search(description)):
        message = f"{tool.name} mentions an element of a screen ({mention[0]!r}), which an agent can't see"
        problems.report("screen-mentioned", f"{tool.pointer}/description", message)
    is_empty = tool.output is not None and tool.output.status in ("204", "205")
    returns_nothing_known = not is_empty and (tool.output is None or tool.output.schema is None)
    if description and returns_nothing_known and tool.method != "DELETE":
        told = f"{tool.summary or ''} {description}"
        if tool.output is not None and len((tool.output.description or "").split()) >= _TELLING_WORDS:
            told += " returned"
        if not _RESULT_PATTERN.search(told):
            message = f"{tool.name} does not say what it returns"
            problems.report("result-unsaid", f"{tool.pointer}/description", message)


DRAFT_07 = re.compile(r"https?://json-schema\.org/draft-0[4-7]/schema#?\Z")
_KNOWN_DIALECT = re.compile(
    r"https?://(?:json-schema\.org/draft/(?:2019-09|2020-12)/schema|spec\.openapis\.org/oas/3\.[12]/dialect/[\w-]+)#?\Z"
)


def check_dialect(document: dict[str, Json], problems: ProblemLog) -> None:
    """Reports an unknown dialect."""
    declared = text_of(document, "jsonSchemaDialect")
    if declared is not None and not DRAFT_07.match(declared) and not _KNOWN_DIALECT.match(declared):
        message = f"the dialect {declared[:100]!r} is unknown; schemas are read as JSON Schema 2020-12"
        problems.report("dialect-unknown", "/jsonSchemaDialect", message)


_MEMBERS: dict[type, str] = {
    str: "summary description title termsOfService name url email identifier parent kind operationId style contentType "
    "externalValue serializedValue operationRef type in scheme bearerFormat openIdConnectUrl oauth2MetadataUrl flow "
    "authorizationUrl tokenUrl refreshUrl deviceAuthorizationUrl host basePath logo",
    bool: "required deprecated explode allowReserved allowEmptyValue",
    list: "tags consumes produces schemes categories servers parameters",
    dict: "info contact license components externalDocs x-apiClientRegistration schemas scopes definitions paths "
    "webhooks x-webhooks pathItems additionalOperations callbacks responses content mediaTypes examples encoding "
    "headers links requestBodies securitySchemes securityDefinitions flows variables server requestBody "
    + " ".join(METHODS),
}
_TYPES: dict[str, Any] = {name: kind for kind, names in _MEMBERS.items() for name in names.split()}
"""Member to its type."""

_TYPES_IN = {holder: {**_TYPES, "parameters": dict} for holder in ("root", "components", "links")}
_TYPES_IN |= {"variables": {**_TYPES, "enum": list}, "info": {**_TYPES, "x-mcp": dict}}
"""The same for objects of which some members have another type, by the member that holds the object."""

_PATH_ITEMS = frozenset({"paths", "webhooks", "x-webhooks", "pathItems", "callback"})
_MAPS = _PATH_ITEMS | {
    *("additionalOperations", "callbacks", "responses", "content", "mediaTypes", "examples", "encoding", "headers"),
    *("links", "requestBodies", "securitySchemes", "securityDefinitions", "flows", "variables", "parameters"),
}
"""Members whose keys are names of the author."""

_OBJECTS = frozenset({"content", "mediaTypes", "encoding", "flows", "variables"})
"""Those of which the readers do not report a value of another type."""

_NOT_CHECKED = frozenset({"schemas", "scopes", "definitions"})
_STRINGS = frozenset({"tags", "consumes", "produces", "schemes", "categories"})
"""Lists of strings; only in the description itself are `tags` objects."""

_REPORTED_BY_READERS = frozenset({*METHODS, "requestBody", "server"})
"""Members for which the readers themselves report a value of another type."""

_STATUS = re.compile(r"[1-5](?:\d\d|[Xx]{2})|default")

_Place: TypeAlias = "str | tuple[Any, str | int]"
"""A pointer, or a place and a token below it: nearly all places are fine, and need no pointer."""


def _pointer_to(place: _Place) -> str:
    return place if isinstance(place, str) else child(_pointer_to(place[0]), place[1])


def check_shapes(data: dict[str, Json], problems: ProblemLog) -> None:
    """Reports members of a wrong type, in a description and in the targets of its references."""
    seen: set[str] = set()
    waiting: list[tuple[dict[str, Json], _Place, str, bool]] = [(data, "", "root", False)]
    for value, place, holder, is_map in waiting:  # grows
        if is_map:
            is_callback = holder == "callbacks"
            inner = "callback" if is_callback else holder
            for key, item in value.items():
                if isinstance(item, dict) and not key.startswith("x-"):
                    waiting.append((item, (place, key), inner, is_callback))
                elif holder in _OBJECTS and item is not None and not key.startswith("x-"):
                    _report_shape(item, dict, (place, key), problems)
            continue
        if isinstance(reference := value.get("$ref"), str):
            if reference not in seen and reference.startswith("#/"):
                seen.add(reference)
                waiting += [(as_dict(follow(data, reference[1:])), reference[1:], holder, False)]
            if holder not in _PATH_ITEMS:
                continue
        if holder == "parameters" and "openapi" in data and value and "schema" not in value and "content" not in value:
            problems.report("parameter-untyped", _pointer_to(place), "the parameter has neither a schema nor content")
        types = _TYPES_IN.get(holder, _TYPES)
        for key, item in value.items():
            if (expected := types.get(key)) is None or item is None:
                continue
            if not isinstance(item, expected):
                if key not in _REPORTED_BY_READERS:
                    _report_shape(item, expected, (place, key), problems)
            elif expected is list:
                wanted = str if key in _STRINGS and (holder, key) != ("root", "tags") else dict
                for index, entry in enumerate(item):
                    if isinstance(entry, dict) and wanted is dict:
                        waiting.append((entry, ((place, key), index), key, False))
                    elif key in _STRINGS and not isinstance(entry, wanted):
                        _report_shape(entry, wanted, ((place, key), index), problems)
            elif expected is dict and key not in _NOT_CHECKED and (holder, key) != ("links", "parameters"):
                waiting.append((item, (place, key), key, key in _MAPS))


def _report_shape(value: Json, expected: type, place: _Place, problems: ProblemLog) -> None:
    article = kind_of(expected())
    message, fix = f"expected {article}, found {kind_of(value)}; it is ignored", "put it in quotes"
    if isinstance(value, (dict, list)) or expected in (dict, list):
        message, fix = f"expected {article}, found {kind_of(value)}; it is left out", f"make it {article}"
    elif expected is bool:
        message, fix = f"{str(value)[:40]!r} is neither true nor false; it is ignored", "write true or false"
    problems.report("member-invalid", _pointer_to(place), message, fix)
