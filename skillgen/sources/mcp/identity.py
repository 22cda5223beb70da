"""Who an MCP server is: each fact from the voice that counts most (design, "Where facts disagree")."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from skillgen.errors import ProblemLog
from skillgen.markdown.sentences import first_sentence
from skillgen.model.access import AccessLevel, Endpoint, Requirements
from skillgen.model.service import Service
from skillgen.model.value import Json, Origin
from skillgen.sources.addresses import host_of
from skillgen.sources.mcp import declared
from skillgen.sources.mcp.claims import Claim, Members
from skillgen.sources.mcp.declared import Voices
from skillgen.sources.mcp.entries import raw_entries
from skillgen.sources.mcp.manifest import Manifest
from skillgen.sources.mcp.precedence import Facts
from skillgen.sources.mcp.rate_limits import counted_limit
from skillgen.sources.mcp.target import Crawl

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
        homepage = declared.homepage_from(voices, facts)
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
            access_level=declared.access_level_from(voices, facts, _DEFAULT_ACCESS_LEVEL),
            access=declared.access_from(
                voices, Facts(self._problems), url=self._url, repository=repository, homepage=homepage
            ),
            install=declared.install_from(voices, facts),
            requirements=self._requirements(),
            invocation=declared.invocation_from(voices, facts),
            rate_limit=declared.rate_limit_from(voices, facts) or counted or self._manifest.rate_limit(),
            categories=facts.take("categories", *voices.both("categories", Members.texts)) or (),
            extensions=self._extensions(),
        )

    def _requirements(self) -> Requirements:
        found = declared.requirements_from(self._voices, self._facts)
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
        name: str | None = self._facts.take("name", *declared.not_null(claims))
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
        whole: str | None = facts.take("summary", *declared.not_null(claims))
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
