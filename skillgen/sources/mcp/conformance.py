"""Checks what the specifications of extensions require of a server and recommend (seeds 000, 003 and 004).

Each clause is a row. What is required and missing is a problem, what is recommended and missing is advice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from skillgen.errors import ProblemLog
from skillgen.model.mcp_fields import RELATED, Field
from skillgen.model.service import Service
from skillgen.model.values import Json, child
from skillgen.problem_codes import CODES
from skillgen.sources.json_access import as_dict, as_list, text_of
from skillgen.sources.mcp.ai_help import has_section
from skillgen.sources.mcp.fields import FieldReader, dashdashes_in_entry, raw_entries
from skillgen.text import lazy_re as re
from skillgen.text.summary import TRIGGER

if TYPE_CHECKING:
    from skillgen.sources.mcp.metadata import MetadataSources


class Rule(Struct, frozen=True):
    """A clause on a member: that it is there, or what it matches if it is a string."""

    code: str
    path: str
    """Keys; `*` is each item of a list, and of the keys with bars between them one is enough."""

    pattern: str = ""
    may_be_null: bool = False


_ABSENT = object()
_VERSION = r"\d{1,9}\.\d{1,9}\.\d{1,9}(?:[-+].*)?"


def _each(code: str, keys: str) -> tuple[Rule, ...]:
    return tuple(Rule(code, key) for key in keys.split())


_DASHDASH = (
    Rule("dashdash-spec-version-missing", "specVersion"),
    Rule("dashdash-spec-version-invalid", "specVersion", _VERSION),
    Rule("dashdash-spec-version-old", "specVersion", r"(?!0+\.0*[01]\.).*"),
    Rule("dashdash-identity-name-missing", "identity/name"),
    Rule("dashdash-identity-name-invalid", "identity/name", "[a-z0-9-]{1,64}"),
    Rule("dashdash-identity-description-missing", "identity/description"),
    Rule("dashdash-description-without-trigger", "identity/description", f"(?i).*(?:{TRIGGER.pattern}).*"),
    Rule("dashdash-access-level-missing", "accessLevel"),
    Rule("dashdash-cli-url-missing", "alternativeAccess/cliUrl", may_be_null=True),
    Rule("dashdash-api-url-missing", "alternativeAccess/apiUrl", may_be_null=True),
    Rule("dashdash-web-url-missing", "alternativeAccess/webUrl", may_be_null=True),
)
"""Seed 000, 3.1.2."""

_MANIFEST = (
    *_each("manifest-field-missing", "manifest_version server/name server/version server/mcp_spec_version"),
    *_each("manifest-field-missing", "tools tools/*/description tools/*/input_schema|inputSchema"),
    *_each("manifest-field-missing", "auth/scopes/*/name auth/scopes/*/description"),
    *(Rule("manifest-field-missing", f"recommendations/*/{field.entry}") for field in RELATED[:2]),
    Rule("manifest-version-unknown", "manifest_version", r"0\.1\.0"),
    Rule("manifest-server-version-invalid", "server/version", _VERSION),
    Rule("manifest-auth-method-unknown", "auth/methods/*", "oauth2_device|oauth2_code|api_key|bearer_token|none"),
    Rule(
        "manifest-word-unknown",
        "supported_extensions/*",
        "streaming|progress_notifications|idempotency|transactions|session_state|intent_hints|provenance"
        "|human_in_the_loop|data_references|subscribe_notify|server_recommendations|structured_errors"
        "|multimodal_signatures|conformance",
    ),
    Rule("manifest-word-unknown", "recommendations/*/match_confidence", "|".join(RELATED[-1].words)),
)
"""Seed 004, 1 (service-manifest.schema.json); any name of a tool is valid there."""

_VOLATILE = (Field("remaining", "integer", entry="remaining"), Field("resets_at", entry="resets_at"))
_MANIFEST_ADVICE = (
    Rule("manifest-tool-name-invalid", "tools/*/name", "[a-z][a-z0-9_]*"),
    *_each("manifest-estimate-missing", "tools/*/cost tools/*/latency"),
)
_SERVER_ADVICE = _each("dashdash-field-missing", "install requires invocation rateLimit homepage repository")
_TOOL_ADVICE = _each(
    "dashdash-tool-field-missing", "category operationType idempotent cliEquivalent apiEquivalent examples errors"
)
_RESOURCE_ADVICE = _each(
    "dashdash-resource-field-missing", "resourceType refreshable cacheDuration webEquivalent apiEquivalent"
)
"""The fields that dashdash recommends (seed 000, 3.1.2, 3.2.2 with Appendix B, 3.4.2)."""

_WAY_OF = {"cliEquivalent": "cliUrl", "apiEquivalent": "apiUrl", "webEquivalent": "webUrl"}
"""Fields that a server needs only if there is that other way to use it."""

_AI_HELP_ADVICE = _each(
    "ai-help-part-missing", "identity/name identity/description specVersion accessLevel whenToUse quickReference"
)
_WORKFLOW = r"(?i)(?=.*(?:\?tools=|\btools (?:query )?parameter\b)).*\b(?:before|first|step|then|prior|required)\b.*"
_DISCLOSURE_ADVICE = (
    Rule("disclosure-workflow-unsaid", "description"),
    Rule("disclosure-workflow-unsaid", "description", _WORKFLOW),
    Rule("disclosure-media-type", "mimeType"),
    Rule("disclosure-media-type", "mimeType", "application/json"),
)
"""Seed 003, 4.1 and 4.2."""

_GUIDANCE_ADVICE = _each("disclosure-guidance-missing", "examples error_guidance")


def check_dashdash(dashdash: FieldReader) -> None:
    """Reports missing and invalid fields among those that seed 000, 3.1.2, requires of a server."""
    dashdash.text("specVersion")
    _check(_DASHDASH, dashdash.raw, dashdash.pointer, "dashdash", dashdash.problems)


def check_manifest(manifest: FieldReader) -> None:
    """Reports what the schema of a manifest requires and it lacks."""
    server = manifest.object("server")
    for owner, key in ((manifest, "manifest_version"), *((server, key) for key in ("version", "mcp_spec_version"))):
        owner.text(key)
    limits = manifest.object("rate_limits")  # what is left at the moment is not documented, so nothing else reads it
    FieldReader(limits.raw, limits.pointer, "manifest", manifest.problems).values(_VOLATILE)
    _check(_MANIFEST, manifest.raw, manifest.pointer, "the manifest", manifest.problems)


def _check(rules: Iterable[Rule], raw: Json, pointer: str, what: str, problems: ProblemLog) -> None:
    missing: dict[tuple[str, str], list[str]] = {}
    for rule in rules:
        for owner, path, value in _members(raw, pointer, rule.path.split("/")):
            is_blank = isinstance(value, str) and not value.strip()
            if rule.pattern and isinstance(value, str) and not is_blank:
                if not re.fullmatch(rule.pattern, value, re.DOTALL):
                    message, words = f"{CODES[rule.code].meaning}: {value[:80]!r}", rule.pattern.replace("|", ", ")
                    fix = f"write one of {words}" if re.fullmatch("[a-z0-9_, ]+", words) else None
                    problems.report(rule.code, child(owner, path[-1]), message, fix)
            elif not rule.pattern and (is_blank or value is _ABSENT or (value is None and not rule.may_be_null)):
                missing.setdefault((rule.code, owner), []).append(".".join(path))
    for (code, owner), fields in missing.items():
        problems.report(code, owner, f"{what} has no {', '.join(fields)}", f"declare {', '.join(fields)}")


def _members(raw: Json, pointer: str, keys: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...], Json]]:
    """Yields each member at a path, `_ABSENT` for one that is not there: its owner, the keys to it, and its value."""
    members, names = as_dict(raw), keys[0].split("|")
    name = next((name for name in names if name in members), names[0])
    found = enumerate(as_list(raw)) if name == "*" else [(name, members.get(name, _ABSENT))]
    for key, value in found:
        if len(keys) == 1:
            yield pointer, (str(key),), value
        else:
            inner = child(pointer, key) if isinstance(value, (dict, list)) else pointer
            yield from ((where, (str(key), *path), item) for where, path, item in _members(value, inner, keys[1:]))


def specifications_of(sources: MetadataSources, results: Mapping[str, Json]) -> tuple[str, ...]:
    """Returns the names of the extensions that a server uses."""
    used = (sources.dashdashes[0].raw, results.get("ai_help") is not None, sources.manifest.fields.raw)
    return tuple(name for name, is_used in zip(("dashdash", "ai_help", "manifest"), used, strict=True) if is_used)


def check_advice(
    service: Service,
    sources: MetadataSources,
    tools: Iterable[FieldReader],
    results: Mapping[str, Json],
    problems: ProblemLog,
) -> None:
    """Reports what the extensions of a server recommend and it lacks; `tools` are their entries."""
    dashdash, text, manifest = sources.dashdashes[0], sources.ai_help, sources.manifest.fields
    resources = list(raw_entries(results, "resources/list", "resources", ProblemLog()))
    if dashdash.raw:
        _check(_SERVER_ADVICE, dashdash.raw, dashdash.pointer, "dashdash", problems)
        ways = as_dict(dashdash.raw.get("alternativeAccess"))
        absent = {field for field, way in _WAY_OF.items() if ways.get(way, _ABSENT) is None}
        listed = [(_TOOL_ADVICE, (tool.pointer, tool.raw)) for tool in tools]
        for rules, (pointer, raw) in (*listed, *((_RESOURCE_ADVICE, resource) for resource in resources)):
            # A reader of its own: those of the service know which members were read.
            parts = dashdashes_in_entry(FieldReader(as_dict(raw), pointer, "entry", ProblemLog()))
            declared = {key: value for part in parts for key, value in part.raw.items() if value is not None}
            what = f"dashdash of {(text_of(raw, 'name') or text_of(raw, 'uri') or '')[:80]!r}"
            _check((rule for rule in rules if rule.path not in absent), declared, pointer, what, problems)
    if results.get("ai_help") is not None:
        there = {"whenToUse": text.when_to_use or has_section(text, "whenToUse") or None}
        there["quickReference"] = has_section(text, "quickReference") or None
        _check(_AI_HELP_ADVICE, {**text.metadata.raw, **there}, text.pointer, "the text", problems)
    elif dashdash.raw:
        problems.report("ai-help-not-offered", "ai_help", "the server has dashdash, but does not answer ai_help")
    uri = service.disclosure.uri if service.disclosure is not None else ""
    for pointer, raw in resources:
        if uri and as_dict(raw).get("uri") == uri:
            _check(_DISCLOSURE_ADVICE, raw, pointer, "the resource", problems)
    described = as_dict(as_dict(results.get("resources/read")).get("tools")) if uri else {}
    for name, raw in described.items():
        if "inputSchema" in as_dict(raw):
            declared = {key: item for key, item in raw.items() if item}
            what = f"the description of {name[:80]!r}"
            _check(_GUIDANCE_ADVICE, declared, child("", "resources/read", "tools", name), what, problems)
    _check(_MANIFEST_ADVICE, manifest.raw, manifest.pointer, "the manifest", problems)
