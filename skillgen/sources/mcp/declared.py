"""Reads what is declared of the service as a whole: in a `dashdash` object, in `ai_help`, in `serverInfo`.

The first two have one shape (seed 000, 3.1.2 and 3.3.2), so that every field is asked of both in the same words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from skillgen.errors import SourceError
from skillgen.model.access import Access, AccessLevel, Auth, Invocation, RateLimit, Requirements
from skillgen.model.pointer import child
from skillgen.model.value import Json, Value
from skillgen.sources.mcp.ai_help import AiHelp
from skillgen.sources.mcp.claims import Claim, Members
from skillgen.sources.mcp.precedence import Facts
from skillgen.sources.mcp.tool_entry import Read

ACCESS_LEVELS = ("read", "interact", "full")
"""Access levels of an MCP server (seed 000, 3.1.2)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Voices:
    """Those who speak of the service as a whole; one that says nothing has no members."""

    dashdash: Members
    """The `dashdash` object of the server."""

    ai_help: AiHelp
    """The answer to `ai_help`."""

    server_info: Members
    """`serverInfo`: what MCP itself has."""

    manifest: Members
    """The part `server` of a service manifest (seed 004)."""

    other_dashdashes: tuple[Members, ...] = ()
    """The `dashdash` objects of other places, of which only facts on safety count."""

    def both(self, key: str, read: Read = Members.text, *, within: str | None = None) -> tuple[Claim | None, ...]:
        """Gives what `dashdash` and `ai_help` claim of a member, or of a member of their part `within`."""
        objects = (self.dashdash, self.ai_help.metadata)
        return tuple(read(item.part(within) if within else item, key) for item in objects)


def homepage_from(voices: Voices, facts: Facts) -> str | None:
    """Reads the address of the documentation; `websiteUrl` is the protocol's name for it (SEP-973)."""
    homepage: str | None = facts.take(
        "homepage",
        *voices.both("homepage", Members.link),
        voices.manifest.link("homepage"),
        voices.server_info.link("websiteUrl"),
    )
    return homepage


def access_level_from(
    voices: Voices, facts: Facts, default: AccessLevel, *, levels: tuple[str, ...] = ACCESS_LEVELS
) -> AccessLevel:
    """Reads the access level; where nobody declares one the default is left, without an origin.

    Raises:
        SourceError: agents must not use the service.
    """
    places = (voices.dashdash, *voices.other_dashdashes, voices.ai_help.metadata)
    for place in places:
        level = place.raw.get("accessLevel")
        if isinstance(level, str) and level.strip().lower() == "none":
            raise SourceError(
                "the declared access level is none: agents must not use this service",
                where=place.at("accessLevel"),
                fix="document another service, or ask its author to declare read, interact or full",
            )
    claims = (place.cautious_word("accessLevel", levels) for place in places)
    return facts.cautious("access_level", *claims) or default


def access_from(
    voices: Voices, facts: Facts, *, url: str | None, repository: str | None, homepage: str | None
) -> Access:
    """Reads the other ways to use the service; `url` is where the server itself was reached."""

    def way(field: str, key: str) -> Value | None:
        return _value(facts.claim(field, *voices.both(key, Members.url, within="alternativeAccess")))

    own = [claim for claim in voices.both("mcpUrl", Members.url, within="alternativeAccess") if claim is not None]
    known = {"url": url, "repository": repository, "homepage": homepage}
    derived = [Claim(value, "", "serverInfo", inferred_from=field) for field, value in known.items() if value]
    if url is not None or not own:
        own = derived[:1]
    return Access(
        cli=way("cli", "cliUrl"),
        api=way("api", "apiUrl"),
        web=way("web", "webUrl"),
        mcp=_value(facts.claim("mcp", *own)),
        api_endpoint=_api_endpoint(voices, facts),
        origins=facts.origins,
    )


def install_from(voices: Voices, facts: Facts) -> Mapping[str, str] | None:
    """Reads package managers and packages; those that only one of the two names are kept all the same."""
    objects = [item.part("install") for item in (voices.dashdash, voices.ai_help.metadata)]
    keys = dict.fromkeys(key for item in objects for key in item.raw)
    found = {key: facts.take(f"install.{key}", *(item.text(key) for item in objects)) for key in keys}
    return {key: package for key, package in found.items() if package is not None} or None


def requirements_from(voices: Voices, facts: Facts) -> Requirements:
    """Reads what must be there first."""

    def names(key: str, read: Read = Members.texts) -> tuple[str, ...]:
        claims = voices.both(key, read, within="requires")
        return facts.take(f"requirements.{key}", *claims) or ()

    required = _auth_from(facts.claim("requirements.auth", *voices.both("auth", Members.texts, within="requires")))
    named = next(not_null(voices.both("authMethods", Members.texts)), None)
    known = {auth.kind for auth in required}
    further = tuple(auth for auth in _auth_from(named) if auth.kind not in known)
    if named is not None and further and not required:
        facts.note("requirements.auth", named.origin())
    return Requirements(
        auth=(*required, *further),
        env=names("env", Members.variable_names),
        scopes=names("scopes"),
        bins=names("bins"),
        os=names("os"),
    )


def invocation_from(voices: Voices, facts: Facts) -> Invocation | None:
    """Reads who may start a skill."""

    def take(field: str, key: str, read: Read) -> Json:
        return facts.take(f"invocation.{field}", *voices.both(key, read, within="invocation"))

    invocation = Invocation(
        argument_hint=facts.take("invocation.argument_hint", *voices.both("argumentHint")),
        model_invocable=take("model_invocable", "modelInvocable", Members.flag),
        user_invocable=take("user_invocable", "userInvocable", Members.flag),
        allowed_tools=take("allowed_tools", "allowedTools", Members.texts) or (),
    )
    return invocation if invocation != Invocation() else None


def rate_limit_from(voices: Voices, facts: Facts) -> RateLimit | None:
    """Reads how often the service may be called."""
    text = facts.take("rate_limit", *voices.both("rateLimit"))
    return RateLimit(text=text) if text is not None else None


def not_null(claims: Iterable[Claim | None]) -> Iterator[Claim]:
    """Gives the claims of a field for which seed 000 does not allow null, so that it is no value there."""
    return (claim for claim in claims if claim is not None and claim.value is not None)


def _value(claim: Claim | None) -> Value | None:
    return Value(claim.value) if claim is not None else None


def _auth_from(claim: Claim | None) -> tuple[Auth, ...]:
    if claim is None or claim.value is None:
        return ()
    in_text = claim.place == "ai_help"
    return tuple(
        Auth(kind=kind, pointer=claim.pointer if in_text else child(claim.pointer, index))
        for index, kind in enumerate(claim.value)
        if kind != "none"
    )


def _api_endpoint(voices: Voices, facts: Facts) -> str | None:
    url: str | None = facts.take("api_endpoint", *not_null(voices.both("apiEndpoint", Members.url)))
    return url
