"""Reads a service manifest (seed 004, 1): a document of its own, or a part of what a server answers."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from skillgen.errors import ProblemLog
from skillgen.model.auth import Auth, Scope
from skillgen.model.calls import ErrorCase
from skillgen.model.resource import RelatedServer
from skillgen.model.values import Json, child
from skillgen.sources.json_access import as_dict, as_list, text_of, texts_of
from skillgen.sources.mcp.entries import catalogue_errors, in_either_case
from skillgen.sources.mcp.extensions import is_manifest
from skillgen.sources.mcp.fields import FieldReader, SourcedValue, value_of

_VERSION = "0.1.0"
_SEMVER = re.compile(r"\d+\.\d+\.\d+")
_METHODS = ("oauth2_device", "oauth2_code", "api_key", "bearer_token", "none")
_CONFIDENCES = ("high", "medium", "low")
_EXTENSIONS = (
    "streaming", "progress_notifications", "idempotency", "transactions", "session_state", "intent_hints", "provenance",
    "human_in_the_loop", "data_references", "subscribe_notify", "server_recommendations", "structured_errors",
    "multimodal_signatures", "conformance",
)  # fmt: skip
_KEYS_IN_RESULT = ("manifest", "service_manifest", "serviceManifest")


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
        kinds = auth_kinds(value_of(auth.strings("methods")) or ())
        scopes = tuple(_scope(item) for item in auth.objects("scopes") if item.string("name") is not None)
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
        auth = self.fields.object("auth")
        ttl_s: int | None = value_of(*in_either_case(auth, "session_ttl_seconds", FieldReader.integer))
        return ttl_s

    def extensions(self) -> dict[str, Json]:
        """Returns the names of the supported extensions, also of those that the schema does not know."""
        names = value_of(*in_either_case(self.fields, "supported_extensions", FieldReader.strings))
        return {name: {} for name in names or ()}

    def errors(self) -> tuple[ErrorCase, ...]:
        """Returns the errors that any tool may return."""
        return catalogue_errors([self.fields])

    def related(self) -> tuple[RelatedServer, ...]:
        """Returns the recommended servers, also those in the form of a protocol message (seed 004, 13)."""
        is_message = "recommendations" in as_dict(self.fields.raw.get("recommendations"))
        owner = self.fields.object("recommendations") if is_message else self.fields
        needed = owner.string("capability_needed")
        return tuple(_related(item, needed) for item in owner.objects("recommendations"))

    def check(self) -> None:
        """Reports what its schema requires and it lacks; any name of a tool is valid (service-manifest.schema.json)."""
        version = self.fields.string("manifest_version")
        if version is None:
            self._report_missing("manifest_version", self.fields.pointer)
        elif version.value != _VERSION:
            message = f"{version.value[:40]!r} is not a known version; it is read as {_VERSION}"
            self.fields.report("manifest-version-unknown", "manifest_version", message)
        for key in ("name", "version", "mcp_spec_version"):
            if text_of(self.server.raw, key) is None:
                self._report_missing(f"server.{key}", self.server.pointer)
        server_version = text_of(self.server.raw, "version")
        if server_version is not None and not _SEMVER.match(server_version):
            message = f"{server_version[:40]!r} is not a version like 1.4.2"
            self.server.report("manifest-server-version-invalid", "version", message)
        if not isinstance(self.fields.raw.get("tools"), list):
            self._report_missing("tools", self.fields.pointer)
        for index, (pointer, raw) in enumerate(self.raw_tools):
            if isinstance(raw, dict):
                self._check_tool(text_of(raw, "name") or str(index), raw, pointer)
        self._check_auth()
        self._check_words("supported_extensions", texts_of(self.fields.raw, "supported_extensions"), _EXTENSIONS)
        recommended = [as_dict(item) for item in as_list(self.fields.raw.get("recommendations"))]
        self._check_words("recommendations", (text_of(item, "match_confidence") for item in recommended), _CONFIDENCES)
        for index, item in enumerate(recommended):
            self._check_required(item, ("capability", "server_name"), f"recommendations/{index}")
        self._check_limits(self.fields.raw.get("rate_limits", {}))

    def _check_limits(self, limits: Json) -> None:
        volatile = {"remaining": int, "resets_at": str}  # not documented, so nothing else reads them
        wrong = [key for key, kind in volatile.items() if not isinstance(as_dict(limits).get(key, kind()), kind)]
        if wrong or not isinstance(limits, dict):
            what = f"{wrong[0]} has a value of a wrong type" if wrong else "expected an object"
            self.fields.report("member-invalid", "rate_limits", what)

    def _check_words(self, key: str, values: Iterable[str | None], choices: Collection[str]) -> None:
        for value in values:
            if value is not None and value not in choices:
                message = f"{value[:40]!r} is not specified; it is one of {', '.join(choices)}"
                self.fields.report("manifest-word-unknown", key, message)

    def _check_required(self, raw: dict[str, Json], keys: Sequence[str], place: str) -> None:
        for key in keys:
            if text_of(raw, key) is None:
                self._report_missing(f"{place}/{key}", self.fields.pointer_to(*place.split("/")))

    def _check_tool(self, name: str, raw: dict[str, Json], pointer: str) -> None:
        if "description" not in raw:
            self._report_missing(f"{name}.description", pointer)
        if "input_schema" not in raw and "inputSchema" not in raw:
            self._report_missing(f"{name}.input_schema", pointer)

    def _check_auth(self) -> None:
        auth = as_dict(self.fields.raw.get("auth"))
        for method in texts_of(auth, "methods"):
            if method not in _METHODS:
                message = f"the method {method[:40]!r} is unknown; it is documented under this name"
                self.fields.report("manifest-auth-method-unknown", "auth", message)
        for index, scope in enumerate(as_list(auth.get("scopes"))):
            self._check_required(as_dict(scope), ("name", "description"), f"auth/scopes/{index}")

    def _report_missing(self, field: str, pointer: str) -> None:
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


def _scope(item: FieldReader) -> Scope:
    return Scope(
        name=value_of(item.string("name")),
        description=value_of(item.string("description")),
        grants=value_of(item.strings("grants")) or (),
    )


def _related(item: FieldReader, needed: SourcedValue | None) -> RelatedServer:
    name = item.string("server_name") or item.string("serverName") or item.string("server")
    if name is None:
        item.problems.report("name-missing", item.pointer, "the recommended server has no server_name")
    return RelatedServer(
        name=name.value if name is not None else "unnamed",
        capability=value_of(item.string("capability"), item.string("capability_needed"), needed),
        registry_url=value_of(item.string("registry_url")),
        auth_flow=value_of(item.string("auth_flow")),
        confidence=value_of(item.string("match_confidence")),
    )
