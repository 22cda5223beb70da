"""Reads a service manifest (seed 004, 1): a document of its own, or a part of what a server says."""

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
from skillgen.sources.mcp.entries import counted_limit, error_cases, spelled
from skillgen.sources.mcp.extensions import is_manifest
from skillgen.sources.mcp.fields import FieldReader, SourcedValue

VERSION = "0.1.0"

_SEMVER = re.compile(r"\d+\.\d+\.\d+")
_METHODS = ("oauth2_device", "oauth2_code", "api_key", "bearer_token", "none")
_LATENCIES = ("instant", "seconds", "minutes")
_COSTS = ("free", "metered", "requires_approval")
_KEYS_IN_RESULT = ("manifest", "service_manifest", "serviceManifest")


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """A manifest, member by member; without any where there is none."""

    fields: FieldReader
    """The manifest."""

    server: FieldReader
    """Its part `server`."""

    problems: ProblemLog
    """Where what is wrong is collected."""

    @property
    def tools_pointer(self) -> str:
        """The pointer to its list of tools."""
        return self.fields.pointer_to("tools")

    def tools(self) -> dict[str, FieldReader]:
        """Gives its entries by name, for what they add to `tools/list`."""
        found: dict[str, FieldReader] = {}
        for index, raw in enumerate(as_list(self.fields.raw.get("tools"))):
            if (name := text_of(raw, "name")) is not None and name not in found:
                found[name] = FieldReader(raw, child(self.tools_pointer, index), "manifest", self.problems)
        return found

    def auth(self) -> tuple[Auth, ...]:
        """Reads ways to authenticate, with the scopes that can be asked for."""
        auth = self.fields.object("auth")
        methods = auth.strings("methods")
        kinds = [kind for kind in (methods.value if methods is not None else ()) if kind != "none"]
        scopes = tuple(_scope(item) for item in auth.objects("scopes") if item.string("name") is not None)
        if scopes and not kinds:
            kinds = ["not declared"]
        return tuple(
            # The scopes are the manifest's own, so they stand once.
            Auth(kind=kind, scopes=scopes if index == 0 else (), pointer=auth.pointer)
            for index, kind in enumerate(kinds)
        )

    def session_ttl_s(self) -> int | None:
        """Reads how long a session lasts without a call."""
        claim = _first(spelled(self.fields.object("auth"), "session_ttl_seconds", FieldReader.integer))
        return claim.value if claim is not None else None

    def rate_limit(self) -> RateLimit | None:
        """Reads how often the service may be called; what is left at the moment is no fact of the service."""
        return counted_limit(self.fields)

    def extensions(self) -> dict[str, Json]:
        """Reads the names of the extensions that it supports, also those that the schema does not know."""
        claim = _first(spelled(self.fields, "supported_extensions", FieldReader.strings))
        return {name: {} for name in (claim.value if claim is not None else ())}

    def errors(self) -> tuple[ErrorCase, ...]:
        """Reads errors that any tool may give."""
        for key in ("errors", "error_catalogue", "error_catalog"):
            if isinstance(self.fields.raw.get(key), (list, dict)):
                return tuple(error_cases(self.fields, key, self.problems))
        return ()

    def related(self) -> tuple[RelatedServer, ...]:
        """Reads the servers that it recommends, also in the form of the wire (seed 004, 13)."""
        raw = self.fields.raw.get("recommendations")
        wire = isinstance(raw, dict) and "recommendations" in raw
        owner = self.fields.object("recommendations") if wire else self.fields
        needed = owner.string("capability_needed")
        return tuple(self._related(item, needed) for item in owner.objects("recommendations"))

    def _related(self, item: FieldReader, needed: SourcedValue | None) -> RelatedServer:
        name = item.string("server_name") or item.string("serverName") or item.string("server")
        capability = item.string("capability") or item.string("capability_needed") or needed
        url, flow, confidence = item.string("registry_url"), item.string("auth_flow"), item.string("match_confidence")
        if name is None:
            self.problems.warning("name-missing", item.pointer, "the recommended server has no server_name")
        return RelatedServer(
            name=name.value if name is not None else "unnamed",
            capability=capability.value if capability is not None else None,
            registry_url=url.value if url is not None else None,
            auth_flow=flow.value if flow is not None else None,
            confidence=confidence.value if confidence is not None else None,
        )

    def check(self) -> None:
        """Reports what its schema wants and it lacks; a tool may have any name (service-manifest.schema.json)."""
        version = self.fields.string("manifest_version")
        if version is None:
            self._lacks("manifest_version", self.fields.pointer)
        elif version.value != VERSION:
            self.problems.warning(
                "manifest-version-unknown",
                version.pointer,
                f"{version.value[:40]!r} is not {VERSION}; it is read as that",
            )
        for key in ("name", "version", "mcp_spec_version"):
            if text_of(self.server.raw, key) is None:
                self._lacks(f"server.{key}", self.server.pointer)
        own = text_of(self.server.raw, "version")
        if own is not None and not _SEMVER.match(own):
            self.problems.warning(
                "manifest-server-version-invalid", self.server.pointer_to("version"), "it is not like 1.4.2"
            )
        if not isinstance(self.fields.raw.get("tools"), list):
            self._lacks("tools", self.fields.pointer)
        for index, raw in enumerate(as_list(self.fields.raw.get("tools"))):
            for key in ("description", "input_schema"):
                if isinstance(raw, dict) and key not in raw and not (key == "input_schema" and "inputSchema" in raw):
                    self._lacks(f"{text_of(raw, 'name') or index}.{key}", child(self.tools_pointer, index))
            self._check_words(raw, child(self.tools_pointer, index))
        self._check_auth()

    def _check_words(self, raw: Json, pointer: str) -> None:
        cost = as_dict(as_dict(raw).get("cost"))
        for owner, key, words in ((as_dict(raw), "latency", _LATENCIES), (cost, "category", _COSTS)):
            word = text_of(owner, key)
            if word is not None and word not in words:
                self.problems.info(
                    "manifest-word-unknown", pointer, f"{key} is {word[:40]!r}, which is none of {', '.join(words)}"
                )

    def _check_auth(self) -> None:
        auth = as_dict(self.fields.raw.get("auth"))
        pointer = self.fields.pointer_to("auth")
        for method in texts_of(auth, "methods"):
            if method not in _METHODS:
                self.problems.info("manifest-auth-method-unknown", pointer, f"{method[:40]!r} is kept as it is")
        names = {name for raw in as_list(self.fields.raw.get("tools")) if (name := text_of(raw, "name"))}
        for index, scope in enumerate(as_list(auth.get("scopes"))):
            unknown = [name for name in texts_of(scope, "grants") if name not in names]
            if unknown:
                self.problems.warning(
                    "scope-grants-unknown-tool",
                    child(pointer, "scopes", index),
                    f"{text_of(scope, 'name') or index} grants {', '.join(unknown)[:200]}, which are no tools here",
                )

    def _lacks(self, field: str, pointer: str) -> None:
        self.problems.warning("manifest-field-missing", pointer, f"the manifest has no {field}", f"declare {field}")


def manifest_from_document(data: Json, problems: ProblemLog) -> Manifest:
    """Reads a document that is a manifest."""
    return _manifest(as_dict(data), "", problems)


def manifest_from_results(results: Mapping[str, Json], handshakes: list[FieldReader], problems: ProblemLog) -> Manifest:
    """Finds a manifest in what a server said: as the result of `get_manifest`, or in its first answer."""
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
    name, description, grants = item.string("name"), item.string("description"), item.strings("grants")
    return Scope(
        name=name.value if name is not None else "",
        description=description.value if description is not None else None,
        grants=grants.value if grants is not None else (),
    )


def _first(claims: list[SourcedValue]) -> SourcedValue | None:
    return next(iter(claims), None)
