"""Reads a service manifest (seed 004, 1): a document of its own, or a part of what a server answers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from skillgen.errors import ProblemLog
from skillgen.model.auth import Auth, RateLimit, Scope
from skillgen.model.calls import ErrorCase
from skillgen.model.resource import RelatedServer
from skillgen.model.values import Json, child
from skillgen.sources.json_access import as_dict, as_list, text_of, texts_of
from skillgen.sources.mcp.entries import counted_limit, error_cases, in_either_case
from skillgen.sources.mcp.extensions import is_manifest
from skillgen.sources.mcp.fields import FieldReader, SourcedValue, value_of

_VERSION = "0.1.0"
_SEMVER = re.compile(r"\d+\.\d+\.\d+")
_METHODS = ("oauth2_device", "oauth2_code", "api_key", "bearer_token", "none")
_LATENCIES = ("instant", "seconds", "minutes")
_COSTS = ("free", "metered", "requires_approval")
_KEYS_IN_RESULT = ("manifest", "service_manifest", "serviceManifest")


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """A service manifest; `fields` is empty for a server without one."""

    fields: FieldReader
    """The members of the manifest."""

    server: FieldReader
    """The members of its `server` object."""

    problems: ProblemLog
    """Collects the problems found while reading."""

    @property
    def tools_pointer(self) -> str:
        """The pointer to its list of tools."""
        return self.fields.pointer_to("tools")

    def tools(self) -> dict[str, FieldReader]:
        """Returns its tools by name, for what they add to `tools/list`."""
        tools: dict[str, FieldReader] = {}
        for index, raw in enumerate(as_list(self.fields.raw.get("tools"))):
            if (name := text_of(raw, "name")) is not None and name not in tools:
                tools[name] = FieldReader(raw, child(self.tools_pointer, index), "manifest", self.problems)
        return tools

    def auth(self) -> tuple[Auth, ...]:
        """Returns the authentication methods; the first has the scopes that can be requested."""
        auth = self.fields.object("auth")
        kinds = [kind for kind in value_of(auth.strings("methods")) or () if kind != "none"]
        scopes = tuple(_scope(item) for item in auth.objects("scopes") if item.string("name") is not None)
        if scopes and not kinds:
            kinds = ["not declared"]
        return tuple(
            # The manifest does not assign scopes to methods, so they are listed once.
            Auth(kind=kind, scopes=scopes if index == 0 else (), pointer=auth.pointer)
            for index, kind in enumerate(kinds)
        )

    def session_ttl_s(self) -> int | None:
        """Returns how long a session lasts without a call."""
        ttl_s: int | None = value_of(
            *in_either_case(self.fields.object("auth"), "session_ttl_seconds", FieldReader.integer)
        )
        return ttl_s

    def rate_limit(self) -> RateLimit | None:
        """Returns how often the service may be called."""
        return counted_limit(self.fields)

    def extensions(self) -> dict[str, Json]:
        """Returns the names of the supported extensions, also of those that the schema does not know."""
        names = value_of(*in_either_case(self.fields, "supported_extensions", FieldReader.strings))
        return {name: {} for name in names or ()}

    def errors(self) -> tuple[ErrorCase, ...]:
        """Returns the errors that any tool may return."""
        for key in ("errors", "error_catalogue", "error_catalog"):
            if isinstance(self.fields.raw.get(key), (list, dict)):
                return tuple(error_cases(self.fields, key, self.problems))
        return ()

    def related(self) -> tuple[RelatedServer, ...]:
        """Returns the recommended servers, also those in the form of a protocol message (seed 004, 13)."""
        raw = self.fields.raw.get("recommendations")
        is_message = isinstance(raw, dict) and "recommendations" in raw
        owner = self.fields.object("recommendations") if is_message else self.fields
        needed = owner.string("capability_needed")
        return tuple(self._related(item, needed) for item in owner.objects("recommendations"))

    def _related(self, item: FieldReader, needed: SourcedValue | None) -> RelatedServer:
        name = item.string("server_name") or item.string("serverName") or item.string("server")
        if name is None:
            self.problems.report("name-missing", item.pointer, "the recommended server has no server_name")
        return RelatedServer(
            name=name.value if name is not None else "unnamed",
            capability=value_of(item.string("capability") or item.string("capability_needed") or needed),
            registry_url=value_of(item.string("registry_url")),
            auth_flow=value_of(item.string("auth_flow")),
            confidence=value_of(item.string("match_confidence")),
        )

    def check(self) -> None:
        """Reports what its schema requires and it lacks; any name of a tool is valid (service-manifest.schema.json)."""
        version = self.fields.string("manifest_version")
        if version is None:
            self._report_missing("manifest_version", self.fields.pointer)
        elif version.value != _VERSION:
            self.problems.report(
                "manifest-version-unknown",
                version.pointer,
                f"{version.value[:40]!r} is not a known version; it is read as {_VERSION}",
            )
        for key in ("name", "version", "mcp_spec_version"):
            if text_of(self.server.raw, key) is None:
                self._report_missing(f"server.{key}", self.server.pointer)
        server_version = text_of(self.server.raw, "version")
        if server_version is not None and not _SEMVER.match(server_version):
            self.problems.report(
                "manifest-server-version-invalid",
                self.server.pointer_to("version"),
                f"{server_version[:40]!r} is not a version like 1.4.2",
            )
        if not isinstance(self.fields.raw.get("tools"), list):
            self._report_missing("tools", self.fields.pointer)
        for index, raw in enumerate(as_list(self.fields.raw.get("tools"))):
            for key in ("description", "input_schema"):
                if isinstance(raw, dict) and key not in raw and not (key == "input_schema" and "inputSchema" in raw):
                    self._report_missing(f"{text_of(raw, 'name') or index}.{key}", child(self.tools_pointer, index))
            self._check_choices(raw, child(self.tools_pointer, index))
        self._check_auth()

    def _check_choices(self, raw: Json, pointer: str) -> None:
        cost = as_dict(as_dict(raw).get("cost"))
        for owner, key, choices in ((as_dict(raw), "latency", _LATENCIES), (cost, "category", _COSTS)):
            value = text_of(owner, key)
            if value is not None and value not in choices:
                self.problems.report(
                    "manifest-word-unknown", pointer, f"{key} is {value[:40]!r}; expected one of {', '.join(choices)}"
                )

    def _check_auth(self) -> None:
        auth = as_dict(self.fields.raw.get("auth"))
        pointer = self.fields.pointer_to("auth")
        for method in texts_of(auth, "methods"):
            if method not in _METHODS:
                self.problems.report(
                    "manifest-auth-method-unknown",
                    pointer,
                    f"the method {method[:40]!r} is unknown; it is documented under this name",
                )
        names = {name for raw in as_list(self.fields.raw.get("tools")) if (name := text_of(raw, "name"))}
        for index, scope in enumerate(as_list(auth.get("scopes"))):
            unknown = [name for name in texts_of(scope, "grants") if name not in names]
            if unknown:
                self.problems.report(
                    "scope-grants-unknown-tool",
                    child(pointer, "scopes", index),
                    f"{text_of(scope, 'name') or index} grants unknown tools: {', '.join(unknown)[:200]}",
                )

    def _report_missing(self, field: str, pointer: str) -> None:
        self.problems.report("manifest-field-missing", pointer, f"the manifest has no {field}", f"declare {field}")


def manifest_from_document(data: Json, problems: ProblemLog) -> Manifest:
    """Reads a manifest that is a document of its own."""
    return _manifest(as_dict(data), "", problems)


def manifest_from_results(results: Mapping[str, Json], handshakes: list[FieldReader], problems: ProblemLog) -> Manifest:
    """Reads a manifest that is the result of `get_manifest` or part of the result of a handshake."""
    if isinstance(raw := results.get("manifest"), dict):
        return _manifest(raw, child("", "manifest"), problems)
    for handshake in handshakes:
        for owner in (handshake, handshake.object("_meta")):
            for key in _KEYS_IN_RESULT:
                if is_manifest(owner.raw.get(key)):
                    owner.ignore(key)
                    return _manifest(as_dict(owner.raw[key]), owner.pointer_to(key), problems)
    return _manifest({}, "", problems)


def _manifest(raw: dict[str, Json], pointer: str, problems: ProblemLog) -> Manifest:
    fields = FieldReader(raw, pointer, "manifest", problems)
    fields.ignore("tools", "$schema")
    return Manifest(fields=fields, server=fields.object("server"), problems=problems)


def _scope(item: FieldReader) -> Scope:
    return Scope(
        name=value_of(item.string("name")),
        description=value_of(item.string("description")),
        grants=value_of(item.strings("grants")) or (),
    )
