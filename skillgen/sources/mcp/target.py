"""What goes into a crawl, a server as the user names it, and what comes out of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Literal

from skillgen.errors import Problem, UsageError
from skillgen.model.value import Json
from skillgen.sources.addresses import public_url
from skillgen.sources.given import (
    secrets_of_arguments,
    secrets_of_environment,
    secrets_of_headers,
    secrets_of_url,
)
from skillgen.sources.mcp.environment import child_environment
from skillgen.sources.secrets import Secrets

Transport = Literal["stdio", "http", "sse"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """What the user wants of logging in to a server over HTTP. A login that was kept is used without being asked."""

    is_wanted: bool = False
    """Whether the user says that the server needs one."""

    announce: Callable[[str], None] | None = None
    """Shows a person where to log in; `None` where nobody is to be asked."""

    client_id: str | None = None
    """A client that is registered already, or the https URL of its client metadata document."""

    client_secret: str | None = field(default=None, repr=False)
    """The secret of that client, if it has one."""

    issuer: str | None = None
    """The authorization server that may get the secret; `None` where a person confirms it, or has confirmed it."""

    confirm: Callable[[str], bool] | None = None
    """Asks a person whether the secret may go to an authorization server; `None` where nobody can be asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlScope:
    """What is asked of a server besides its lists and its `ai_help`; the fields have the names of the options."""

    no_tool_descriptions: bool = False
    """Whether the descriptions of a progressive server are not read: reading authorises its tools in that session (seed
    003)."""

    no_older_era: bool = False
    """Whether a server that has no `dashdash` in the newer era is not asked in the older one too."""

    call_get_manifest: bool = False
    """Whether the tool `get_manifest` may be called, the only one that ever is (seed 004, 1)."""

    skill_files: bool = False
    """Whether the files of the skills that it offers are read."""

    @classmethod
    def given_in(cls, options: object) -> CrawlScope:
        """Returns what options or a project's file say: values with the names of the fields."""
        return cls(**{item.name: getattr(options, item.name) for item in fields(cls)})


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerTarget:
    """A server to crawl: a command or a URL."""

    command: tuple[str, ...] = ()
    """The program and its arguments, for a server on standard input and output."""

    url: str | None = None
    """The endpoint, for a server over HTTP."""

    is_sse: bool = False
    """Whether the endpoint is said to be of HTTP+SSE (2024-11-05)."""

    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Environment variables for the command."""

    caller: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    """The variables of the user's shell, of which the command gets those that any program needs."""

    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """Headers for every HTTP request."""

    cwd: Path | None = None
    """Where the command runs."""

    login: Login = Login()
    """How to get a token, where no header has one."""

    passed: Secrets = field(default_factory=Secrets, repr=False)
    """Secrets that were filled in for a variable, in any of the above, or that a login returned."""

    timeout_s: float = 30.0
    """For each request."""

    scope: CrawlScope = field(default_factory=CrawlScope)
    """What may be asked."""

    def __post_init__(self) -> None:
        if self.url is None and not self.command:
            raise UsageError("No server is given.", fix="Give the command that starts one after `--`, or --url.")

    @property
    def where(self) -> str:
        """The server's name in messages: never an argument or a query, which may hold a secret."""
        return self.public_url or self.command[0]

    @property
    def public_url(self) -> str | None:
        """The endpoint without credentials and query; `{secret}` is written for a secret in its path."""
        return None if self.url is None else self.secrets().hide_in_url(public_url(self.url))

    def secrets(self) -> Secrets:
        """Returns the secrets that the user or their shell passed on, which no document and no message may hold."""
        return (
            self.passed
            | secrets_of_environment(self.env, child_environment(self.caller, {}))
            | secrets_of_arguments(self.command[1:])
            | secrets_of_headers(self.headers)
            | secrets_of_url(self.url)
            | Secrets({self.login.client_secret or "": "the client secret"})
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Crawl:
    """What a server said of itself."""

    results: Mapping[str, Json]
    """Method to raw result: `server/discover` or `initialize`, `ai_help`; for a list method the list of its pages."""

    protocol_version: str | None
    """The version that was spoken."""

    transport: Transport
    """What it was spoken over."""

    url: str | None
    """The endpoint, without user, password and query."""

    problems: tuple[Problem, ...] = ()
    """What could not be read."""
