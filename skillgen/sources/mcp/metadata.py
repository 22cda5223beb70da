"""Who the server is.

Reads what is declared of the service as a whole: in a `dashdash` object, in `ai_help`, in `serverInfo`.

The first two have one shape (seed 000, 3.1.2 and 3.3.2), so that every field is asked of both in the same words.

Who an MCP server is: each fact from the voice that counts most (design, "Where facts disagree").

What a server says when a session is opened: of itself, and in the dashdash form.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from skillgen.errors import ProblemLog, SourceError
from skillgen.model.auth import Access, AccessLevel, Auth, Endpoint, Invocation, RateLimit, Requirements
from skillgen.model.service import Service
from skillgen.model.values import Json, Origin, Value, child
from skillgen.security.addresses import host_of
from skillgen.sources.mcp import entries
from skillgen.sources.mcp.ai_help import AiHelp
from skillgen.sources.mcp.entries import Read, counted_limit
from skillgen.sources.mcp.fields import Claim, Facts, Members, raw_entries
from skillgen.sources.mcp.manifest import Manifest
from skillgen.sources.mcp.target import Crawl
from skillgen.text.summary import first_sentence

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


NAMELESS = "mcp-server"
"""The name of a server that says none, and of which nothing else gives one."""

_SAYS_NOTHING = re.compile(
    r"\s*(?:#|\W{0,3}(?:do not|don['’]t|never|avoid|always|before|after|when(?:ever)?|if|first|note|important"
    r"|call|please|make sure|ensure|remember|start (?:by|with)|(?:the )?users?)\b"
    r"|[^.!?\n]{0,60}\b(?:notes|instructions|guidelines|guide|tips|rules) (?:for|on|to) (?:the |an )?"
    r"(?:agents?|ai|llms?|models?|assistants?|clients?|using|use)\b)",
    re.IGNORECASE,
)
"""The beginning of instructions that are a manual, or that say what to do and what not, and when."""

_NAME = re.compile(r"[\w-]+")

_DEFAULT_ACCESS_LEVEL: AccessLevel = "interact"


class IdentityReader:
    """Reads who a server is, from all that speaks of it; each fact that is taken is noted in `facts`."""

    def __init__(
        self,
        crawl: Crawl,
        openings: Sequence[Members],
        voices: Voices,
        manifest: Manifest,
        facts: Facts,
        problems: ProblemLog,
    ) -> None:
        self._crawl = crawl
        self._openings = openings
        self._voices = voices
        self._manifest = manifest
        self._facts = facts
        self._problems = problems
        self._url = crawl.url

    def identity(self, server_name: str | None) -> Service:
        """Gives a service without what it offers; `server_name` is the name under which a host mounts it."""
        voices, facts, ai_help = self._voices, self._facts, self._voices.ai_help
        homepage = homepage_from(voices, facts)
        repository = facts.take("repository", *voices.both("repository", Members.link))
        summary, description = self._summary_and_description()
        counted = counted_limit(voices.dashdash)
        return Service(
            kind="mcp",
            protocol_version=self._crawl.protocol_version,
            name=self._name(server_name),
            title=facts.take("title", self._from_help(ai_help.title), voices.server_info.text("title")),
            version=facts.take("version", voices.manifest.version("version"), voices.server_info.version("version")),
            summary=summary,
            description=description,
            instructions=self._instructions(),
            emoji=facts.take("emoji", *voices.both("emoji", within="identity")),
            homepage=homepage,
            repository=repository,
            status_page=facts.take("status_page", *voices.both("statusPage", Members.link)),
            content_version=facts.take("content_version", *voices.both("contentVersion", Members.version)),
            last_updated=facts.take("last_updated", *voices.both("lastUpdated")),
            endpoints=(Endpoint(url=self._url),) if self._url is not None else (),
            server_name=server_name,
            when_to_use=facts.take("when_to_use", self._from_help(ai_help.when_to_use)) or (),
            when_not_to_use=facts.take("when_not_to_use", self._from_help(ai_help.when_not_to_use)) or (),
            access_level=access_level_from(voices, facts, _DEFAULT_ACCESS_LEVEL),
            access=access_from(voices, Facts(self._problems), url=self._url, repository=repository, homepage=homepage),
            install=install_from(voices, facts),
            requirements=self._requirements(),
            invocation=invocation_from(voices, facts),
            rate_limit=rate_limit_from(voices, facts) or counted or self._manifest.rate_limit(),
            categories=facts.take("categories", *voices.both("categories", Members.texts)) or (),
            extensions=self._extensions(),
        )

    def _requirements(self) -> Requirements:
        found = requirements_from(self._voices, self._facts)
        auth = self._manifest.auth()
        if auth and not found.auth:
            # The manifest knows what the scopes are; another voice that names ways to authenticate counts more.
            self._facts.note("requirements.auth", Origin("declared", self._manifest.members.at("auth")))
        return replace(found, auth=found.auth or auth, session_ttl_s=self._manifest.session_ttl_s())

    def _name(self, server_name: str | None) -> str:
        voices = self._voices
        claims = (
            *voices.both("name", within="identity"),
            voices.manifest.text("name"),
            voices.server_info.text("name"),
        )
        name: str | None = self._facts.take("name", *not_null(claims))
        if name is not None:
            return name
        self._problems.warning("name-missing", "serverInfo", "the server does not say its name", "use --name")
        return self._facts.take("name", *_guesses(server_name=server_name, url=host_of(self._url))) or NAMELESS

    def _summary_and_description(self) -> tuple[str | None, str | None]:
        """Gives one paragraph on one line, and the whole text where it says more than that."""
        voices, ai_help, facts = self._voices, self._voices.ai_help, self._facts
        claims = (
            *voices.both("description", within="identity"),
            voices.manifest.text("description"),
            voices.server_info.text("description"),
        )
        whole: str | None = facts.take("summary", *not_null(claims))
        if whole is None:
            instructions = self._instructions()
            guessed = _guesses(instructions=self._first_words(instructions) if instructions else None)
            return facts.take("summary", self._from_help(ai_help.quote) or next(guessed, None)), ai_help.introduction
        paragraph = " ".join(re.split(r"\n\s*\n", whole.strip())[0].split())
        return paragraph, ai_help.introduction if paragraph == " ".join(whole.split()) else whole

    def _first_words(self, instructions: str) -> str | None:
        """Gives the first sentence of instructions where it speaks of the service, not of how its tools are used."""
        if _SAYS_NOTHING.match(instructions):
            return None
        sentence = first_sentence(instructions)
        listed = raw_entries(self._crawl.results, "tools/list", "tools", self._problems)
        names = {name for _, raw in listed if isinstance(raw, dict) and isinstance(name := raw.get("name"), str)}
        speaks_of_a_tool = any(not word.isalpha() and word in names for word in _NAME.findall(sentence))
        return None if speaks_of_a_tool else sentence

    def _instructions(self) -> str | None:
        texts = [opening.text("instructions") for opening in self._openings]
        instructions: str | None = self._facts.take("instructions", *texts)
        return instructions

    def _from_help(self, value: Json) -> Claim | None:
        return Claim(value, self._voices.ai_help.pointer, "ai_help") if value else None

    def _extensions(self) -> Mapping[str, Json] | None:
        """Reads `capabilities.extensions`; some servers give a list of names (seed 004's reference server)."""
        found: dict[str, Json] = {}
        for opening in self._openings:
            capabilities = opening.part("capabilities")
            raw = capabilities.raw.get("extensions")
            if isinstance(raw, list):
                capabilities.ignore("extensions")
                found.update({name: {} for name in raw if isinstance(name, str)})
            else:
                extensions = capabilities.part("extensions")
                found.update(extensions.unread())
                extensions.ignore(*extensions.raw)
        return {**found, **self._manifest.extensions()} or None


def _guesses(**found: str | None) -> Iterator[Claim]:
    """Gives claims that are drawn from other fields, the best first."""
    return (Claim(value, "", "serverInfo", inferred_from=field) for field, value in found.items() if value)


OPENING_METHODS = ("server/discover", "initialize")
"""Methods whose result opens a session, the newest first. A server of two eras may have been asked both."""


def openings_of(results: Mapping[str, Json], problems: ProblemLog) -> list[Members]:
    """Gives the results that open a session, the newest first."""
    return [
        Members(raw, child("", method), "serverInfo", problems)
        for method in OPENING_METHODS
        if isinstance(raw := results.get(method), dict)
    ]


def dashdashes_of(openings: Sequence[Members], problems: ProblemLog) -> list[Members]:
    """Returns the dashdash objects of a server, the one that counts first; one without members if there is none."""
    found = [place for opening in openings for place in entries.all_in_result(opening)]
    if found:
        entries.check(found[0], problems)
    return found or [Members({}, "", "dashdash", problems)]


def server_info_of(openings: Sequence[Members], problems: ProblemLog) -> Members:
    """Gives what a server says of its implementation: `serverInfo`, or its entry in `_meta`; empty where nothing."""
    for opening in openings:
        for owner, key in ((opening, "serverInfo"), (opening.part("_meta"), entries.SERVER_INFO_KEY)):
            if (found := owner.part(key)).raw:
                return found
    return Members({}, "", "serverInfo", problems)
