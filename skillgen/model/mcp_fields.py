"""The fields that MCP servers declare, each with its keys: for the reader, the formats for authors and the mock.

A field has up to three keys, for the places where it is declared: the entry of a list itself (the protocol and seed
004), its `dashdash` object (seed 000), and its annotations. A key in snake case is also read in camel case.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any, Literal

from msgspec import Struct

from skillgen.model.tool import CAUTION
from skillgen.model.values import Json, Value

Kind = Literal[
    "json", "string", "strings", "boolean", "number", "integer", "version", "url", "link", "names",
    "flag", "choice", "effects",
]  # fmt: skip
"""How a value is read: `names` are those of environment variables, the last three are facts on safety."""

Place = Literal["entry", "dashdash", "hint"]


class Field(Struct, frozen=True):
    """A field of a node of the model; a dot separates the fields of nodes within the node, a slash the keys of objects
    within an object, and a bar the keys of which the first that is there counts.
    """

    name: str
    kind: Kind = "string"
    entry: str = ""
    dashdash: str = ""
    hint: str = ""
    words: tuple[str, ...] = ()
    """The values that its specification knows; others are reported."""

    @property
    def is_safety(self) -> bool:
        """Whether it is a fact on safety, for which all `dashdash` objects of a node count."""
        return self.kind in ("flag", "choice", "effects")

    @property
    def caution(self) -> tuple[Json, ...]:
        """The values of a fact on safety, the most cautious last."""
        return CAUTION.get(self.name, (True, False))


@functools.cache
def spellings(keys: str) -> tuple[str, ...]:
    """Returns the alternatives of a key, each in camel case and unchanged."""
    return tuple(dict.fromkeys(form for key in keys.split("|") for form in (camel(key), key)))


@functools.cache
def first_keys(field: Field) -> tuple[str, ...]:
    """Returns the keys of a field in all its places; of one within an object, those of the object."""
    paths = (field.entry, field.dashdash, field.hint)
    return tuple(key for path in paths if path for key in spellings(path.partition("/")[0]))


def camel(key: str) -> str:
    """Returns a key in camel case: `site-url` and `site_url` are `siteUrl`."""
    first, *rest = key.replace("_", "-").split("-")
    return first + "".join(word[:1].upper() + word[1:] for word in rest)


def declared(table: Iterable[Field], node: Any, place: Place, *, in_camel_case: bool = True) -> dict[str, Json]:
    """Returns the object of one place with the values that a node declares: neither inferred ones, nor words that the
    specification does not know.
    """
    values: dict[str, Json] = {}
    for field in table:
        value = _declared_value(node, field.name)
        keys = getattr(field, place)
        if not keys or value in (None, ()) or (field.words and value not in field.words):
            continue
        *parents, key = keys.split("/")
        owner = values
        for parent in parents:
            owner = owner.setdefault(parent, {})
        key = key.partition("|")[0]
        owner[camel(key) if in_camel_case else key] = _json(value)
    return values


def _json(value: Any) -> Json:
    if isinstance(value, tuple):
        return list(value)
    # A node without fields of its own in the table, such as pagination, says that there is something.
    return value.json if isinstance(value, Value) else True if isinstance(value, Struct) else value


def _declared_value(node: Any, name: str) -> Any:
    origins = getattr(node, "origins", None) or {}
    origin = origins.get(name) or origins.get(name.partition(".")[0])
    if origin is not None and origin.kind != "declared":
        return None
    return functools.reduce(lambda owner, part: getattr(owner, part, None), name.split("."), node)


# -- tools -------------------------------------------------------------------------------------------------------------

TOOL = (
    Field("title", entry="title"),
    Field("group", dashdash="category"),
    Field("cli_equivalent", dashdash="cliEquivalent"),
    Field("api_equivalent", dashdash="apiEquivalent"),
    Field("rate_limit.text", dashdash="rateLimit"),
    Field("input_media_types", "strings", entry="input_types"),
    Field("output_media_types", "strings", entry="output_types"),
    Field("max_input_bytes", "integer", entry="max_input_size_bytes"),
    Field("binary_transport", entry="binary_transport"),
    Field("cost.category", entry="cost/category", words=("free", "metered", "requires_approval")),
    Field("cost.estimated_units", "number", entry="cost/estimated_units"),
    Field("cost.unit_label", entry="cost/unit_label"),
    Field("latency", entry="latency", words=("instant", "seconds", "minutes")),
    Field("scopes", "strings", entry="required_scopes"),
    Field("streaming", "boolean", entry="supports_streaming"),
    Field("pagination", "boolean", entry="supports_pagination"),
)
"""Seed 000, 3.2.2; seed 004, 3, 4, 8 and 10."""

SEMANTICS = (
    Field("operation", "choice", dashdash="operationType"),
    Field("read_only", "flag", hint="readOnlyHint"),
    Field("destructive", "flag", hint="destructiveHint"),
    Field("idempotent", "flag", entry="idempotent", dashdash="idempotent", hint="idempotentHint"),
    Field("idempotent_with_key", "flag", dashdash="idempotentWithKey"),
    Field("open_world", "flag", hint="openWorldHint"),
    Field("side_effects", "effects", dashdash="sideEffects"),
    Field("reversible", "flag", dashdash="reversible"),
    Field("reversed_by", dashdash="reverseMethod"),
    Field("requires_confirmation", "flag", entry="requires_confirmation"),
    Field("confirmation_message", entry="confirmation_message"),
    Field("risk", "choice", entry="risk_level"),
)
"""The effects of a call (seed 000, 3.2.2; seed 004, 5 and 6; annotations of the protocol)."""

ERROR = (
    Field("code", "json", entry="code"),
    Field("description", entry="description|message"),
    Field("resolution", entry="resolution|suggestion"),
    Field("category", entry="category"),
    Field("retry_after_s", "number", entry="retry_after_seconds"),
    Field("user_actionable", "boolean", entry="user_actionable"),
    Field("documentation", entry="documentation_url"),
    Field("details", "json", entry="details"),
)
"""Seed 000, 3.2.2; seed 004, 11."""

LIMIT = (
    Field("requests_per_minute", "integer", entry="requests_per_minute"),
    Field("requests_per_day", "integer", entry="requests_per_day"),
)

# -- what else a server offers -----------------------------------------------------------------------------------------

RESOURCE = (
    Field("title", entry="title"),
    Field("description", entry="description"),
    Field("media_type", entry="mimeType"),
    Field("size", "integer", entry="size"),
    Field("audience", "strings", hint="audience"),
    Field("priority", "number", hint="priority"),
    Field("last_modified", hint="lastModified"),
    Field("resource_type", dashdash="resourceType"),
    Field("refreshable", "boolean", dashdash="refreshable"),
    Field("cache_duration_s", "integer", dashdash="cacheDuration"),
    Field("web_equivalent", dashdash="webEquivalent"),
    Field("api_equivalent", dashdash="apiEquivalent"),
)
"""The protocol; seed 000, 3.4.2."""

PROMPT = (Field("title", entry="title"), Field("description", entry="description"))
ARGUMENT = (Field("description", entry="description"), Field("required", "boolean", entry="required"))
ICON = (
    Field("src", entry="src"),
    Field("media_type", entry="mimeType"),
    Field("sizes", "strings", entry="sizes"),
    Field("theme", entry="theme"),
)
SCOPE = (
    Field("name", entry="name"),
    Field("description", entry="description"),
    Field("grants", "strings", entry="grants"),
)
RELATED = (
    Field("name", entry="server_name|server"),
    Field("capability", entry="capability|capability_needed"),
    Field("registry_url", entry="registry_url"),
    Field("auth_flow", entry="auth_flow"),
    Field("confidence", entry="match_confidence", words=("high", "medium", "low")),
)
"""Recommended servers (seed 004, 13)."""

# -- the server itself -------------------------------------------------------------------------------------------------

ACCESS = tuple(Field(way, "url", dashdash=f"alternativeAccess/{way}Url") for way in ("cli", "api", "web", "mcp"))
REQUIREMENTS = (
    Field("requirements.auth", "strings", dashdash="requires/auth"),
    Field("requirements.env", "names", dashdash="requires/env"),
    Field("requirements.scopes", "strings", dashdash="requires/scopes"),
    Field("requirements.bins", "strings", dashdash="requires/bins"),
    Field("requirements.os", "strings", dashdash="requires/os"),
)
IDENTITY = (
    Field("name", entry="name", dashdash="identity/name"),
    Field("summary", entry="description", dashdash="identity/description"),
    Field("title", entry="title"),
    Field("version", "version", entry="version"),
)
SERVICE = (
    Field("invocation.argument_hint", dashdash="argumentHint"),
    Field("invocation.model_invocable", "boolean", dashdash="invocation/modelInvocable"),
    Field("invocation.user_invocable", "boolean", dashdash="invocation/userInvocable"),
    Field("invocation.allowed_tools", "strings", dashdash="invocation/allowedTools"),
    Field("homepage", "url", entry="homepage|websiteUrl", dashdash="homepage"),
    Field("repository", "link", dashdash="repository"),
    Field("content_version", "version", dashdash="contentVersion"),
    Field("last_updated", dashdash="lastUpdated"),
    Field("rate_limit.text", dashdash="rateLimit"),
    Field("status_page", "link", dashdash="statusPage"),
    Field("categories", "strings", dashdash="categories"),
    Field("emoji", dashdash="identity/emoji"),
)
"""Seed 000, 3.1.2; the metadata of `ai_help` has the same keys (3.3.2)."""
