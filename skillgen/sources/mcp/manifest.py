"""Reads a service manifest (seed 004, 1): a document of its own, or a part of what a server answers."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from skillgen.errors import ProblemLog
from skillgen.model.auth import Auth, Scope
from skillgen.model.calls import ErrorCase
from skillgen.model.mcp_fields import RELATED, SCOPE, Field, spellings
from skillgen.model.resource import RelatedServer
from skillgen.model.values import Json, child
from skillgen.sources.json_access import as_dict, as_list, text_of, texts_of
from skillgen.sources.mcp.entries import catalogue_errors
from skillgen.sources.mcp.extensions import is_manifest
from skillgen.sources.mcp.fields import FieldReader, value_of

_VERSION = "0.1.0"
_SEMVER = re.compile(r"\d+\.\d+\.\d+")
_METHODS = ("oauth2_device", "oauth2_code", "api_key", "bearer_token", "none")
_EXTENSIONS = (
    "streaming", "progress_notifications", "idempotency", "transactions", "session_state", "intent_hints", "provenance",
    "human_in_the_loop", "data_references", "subscribe_notify", "server_recommendations", "structured_errors",
    "multimodal_signatures", "conformance",
)  # fmt: skip
_KEYS_IN_RESULT = ("manifest", "service_manifest", "serviceManifest")
_SESSION_TTL = Field("session_ttl_s", "integer", entry="session_ttl_seconds")
_SUPPORTED = Field("extensions", "strings", entry="supported_extensions")
_VOLATILE = (Field("remaining", "integer", entry="remaining"), Field("resets_at", entry="resets_at"))


class Manifest:
    """A service manifest; empty for a server without one."""

    def __init__(self, raw: Json, pointer: str, problems: ProblemLog) -> None:
        self.fields = FieldReader(as_dict(raw), pointer, "manifest", problems)
        """The members of the manifest."""
        self.fields.ignore("tools", "$schema")
        self.server = self.fields.object("server")
        """The members of its `server` object."""
        tools = enumerate(as_list(self.fields.raw.get("tools")))
        self.raw_tools = [(self.fields.pointer_to("tools", index), tool) for index, tool in tools]
        """Its tools, raw, each with its pointer."""

    def tools(self) -> dict[str, FieldReader]:
        """Returns its tools by name, for what they add to `tools/list`; the first of a name counts."""
        tools: dict[str, FieldReader] = {}
        for pointer, raw in self.raw_tools:
            if (name := text_of(raw, "name")) is not None:
                tools.setdefault(name, FieldReader(raw, pointer, "manifest", self.fields.problems))
        return tools

    def auth(self) -> tuple[Auth, ...]:
        """Returns the authentication methods; the first has the scopes that can be requested."""
        auth = self.fields.object("auth")
        kinds = auth_kinds(value_of(auth.read("methods", "strings")) or ())
        scopes = tuple(Scope(**values) for item in auth.objects("scopes") if "name" in (values := item.values(SCOPE)))
        if scopes and not kinds:
            kinds = ("not declared",)
        # The manifest does not assign scopes to methods, so they are listed once.
        first = next((kind for kind in kinds if kind != "none"), None)
        return tuple(
            Auth(kind=kind, scopes=scopes if kind == first else (), pointer=auth.pointer)
            for kind in dict.fromkeys(kinds)
        )

    def session_ttl_s(self) -> int | None:
        """Returns how long a session lasts without a call."""
        return self.fields.object("auth").values((_SESSION_TTL,)).get("session_ttl_s")

    def extensions(self) -> dict[str, Json]:
        """Returns the names of the supported extensions, also of those that the schema does not know."""
        return {name: {} for name in self.fields.values((_SUPPORTED,)).get("extensions", ())}

    def errors(self) -> tuple[ErrorCase, ...]:
        """Returns the errors that any tool may return."""
        return catalogue_errors([self.fields])

    def related(self) -> tuple[RelatedServer, ...]:
        """Returns the recommended servers, also those in the form of a protocol message (seed 004, 13)."""
        is_message = "recommendations" in as_dict(self.fields.raw.get("recommendations"))
        owner = self.fields.object("recommendations") if is_message else self.fields
        needed = {"capability": owner.text("capability_needed")}
        related = []
        for item in owner.objects("recommendations"):
            values = item.values(RELATED)
            if "name" not in values:
                item.problems.report("name-missing", item.pointer, "the recommended server has no server_name")
            related.append(RelatedServer(**{"name": "unnamed", **needed, **values}))
        return tuple(related)

    def check(self) -> None:
        """Reports what its schema requires and it lacks; any name of a tool is valid (service-manifest.schema.json)."""
        version, server_version = self.fields.text("manifest_version"), text_of(self.server.raw, "version")
        self._check_required(self.fields.raw, ("manifest_version",), "")
        if version is not None and version != _VERSION:
            message = f"{version[:40]!r} is not a known version; it is read as {_VERSION}"
            self.fields.report("manifest-version-unknown", "manifest_version", message)
        self._check_required(self.server.raw, ("name", "version", "mcp_spec_version"), "server")
        if server_version is not None and not _SEMVER.match(server_version):
            message = f"{server_version[:40]!r} is not a version like 1.4.2"
            self.server.report("manifest-server-version-invalid", "version", message)
        if not isinstance(self.fields.raw.get("tools"), list):
            self._report_missing("tools", "")
        for index, (_, raw) in enumerate(self.raw_tools):
            for keys in (("description",), ("input_schema", "inputSchema")) if isinstance(raw, dict) else ():
                if raw.keys().isdisjoint(keys):
                    self._report_missing(f"{text_of(raw, 'name') or index}.{keys[0]}", f"tools/{index}")
        auth = as_dict(self.fields.raw.get("auth"))
        for method in texts_of(auth, "methods"):
            if method not in _METHODS:
                message = f"the method {method[:40]!r} is unknown; it is documented under this name"
                self.fields.report("manifest-auth-method-unknown", "auth", message)
        for index, scope in enumerate(as_list(auth.get("scopes"))):
            self._check_required(as_dict(scope), ("name", "description"), f"auth/scopes/{index}")
        self._check_words("supported_extensions", texts_of(self.fields.raw, "supported_extensions"), _EXTENSIONS)
        for index, item in enumerate(map(as_dict, as_list(self.fields.raw.get("recommendations")))):
            place = f"recommendations/{index}"
            self._check_words("recommendations", filter(None, [text_of(item, "match_confidence")]), RELATED[-1].words)
            for field in RELATED[:2]:
                if not any(text_of(item, key) for key in spellings(field.entry)):
                    self._report_missing(f"{place}/{field.entry.partition('|')[0]}", place)
        limits = self.fields.object("rate_limits")
        # Not documented, so nothing else reads them.
        FieldReader(limits.raw, limits.pointer, "manifest", self.fields.problems).values(_VOLATILE)

    def _check_words(self, key: str, values: Iterable[str], choices: Collection[str]) -> None:
        for value in values:
            if value not in choices:
                message = f"{value[:40]!r} is not specified; it is one of {', '.join(choices)}"
                self.fields.report("manifest-word-unknown", key, message)

    def _check_required(self, raw: dict[str, Json], keys: Sequence[str], place: str) -> None:
        for key in keys:
            if text_of(raw, key) is None:
                self._report_missing(f"{place}.{key}".lstrip("."), place)

    def _report_missing(self, field: str, place: str) -> None:
        pointer = self.fields.pointer_to(*filter(None, place.split("/")))
        message = f"the manifest has no {field}"
        self.fields.problems.report("manifest-field-missing", pointer, message, f"declare {field}")


def manifest_from_results(
    results: Mapping[str, Json], handshakes: Sequence[FieldReader], problems: ProblemLog
) -> Manifest:
    """Reads a manifest that is the result of `get_manifest` or part of the result of a handshake."""
    if isinstance(raw := results.get("manifest"), dict):
        return Manifest(raw, child("", "manifest"), problems)
    for handshake in handshakes:
        for owner in (handshake, handshake.object("_meta")):
            for key in _KEYS_IN_RESULT:
                if is_manifest(owner.raw.get(key)):
                    owner.ignore(key)
                    return Manifest(owner.raw[key], owner.pointer_to(key), problems)
    return Manifest({}, "", problems)


def auth_kinds(methods: Sequence[str]) -> tuple[str, ...]:
    """Returns the declared authentication methods: `none` alone is no method, but next to others it is one of them."""
    return () if set(methods) <= {"none"} else tuple(methods)
