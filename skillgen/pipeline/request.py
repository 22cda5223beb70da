"""A source to read with what its reader needs, and the services that reading it returns."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from skillgen.config.option import options_in
from skillgen.config.project import DRAFTED, Source, Texts
from skillgen.errors import SkillgenError, UsageError
from skillgen.model.service import Service
from skillgen.model.values import Json, child
from skillgen.security.secrets import Secrets, secrets_from_headers, secrets_from_url
from skillgen.sources.documents import is_url
from skillgen.sources.http import FetchOptions

if TYPE_CHECKING:
    from skillgen.sources.extra_text import ExtraText
    from skillgen.sources.mcp.session import CancelToken, Session

Notify = Callable[[str], None]
"""Receives a message for a person."""

OnCrawl: TypeAlias = "Callable[[Mapping[str, Json], Session], None]"
"""Receives the raw results of a server (method to result), and the session in which it was crawled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A source to read, with what its reader needs."""

    source: Source
    texts: Texts = field(default_factory=Texts)
    """What its author declares, and which tools are documented."""

    pointer: str | None = None
    """The target in the project file, such as `skillgen.yaml#/targets/api`; `None` for options of a caller."""

    environment: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    """The variables of the user's shell."""

    secrets: Secrets = field(default_factory=Secrets, repr=False)
    """Secrets that replaced variables of the project file."""

    extras: tuple[ExtraText, ...] = ()
    """The texts of `--extra`; `read_source` reads them."""

    progress: Notify = lambda message: None
    announce: Notify | None = None
    """Receives the URL to log in at; `None` if nobody can be asked."""

    confirm: Callable[[str], bool] | None = None
    """Asks whether an authorization server may receive the client secret; `None` if nobody can be asked."""

    cancel_token: CancelToken | None = None

    on_crawl: OnCrawl | None = None

    on_declared: Callable[[Service], None] | None = None
    """Receives a service as its source declares it, with the tools that are documented."""

    texts_file: str | None = None
    """The file of the texts of `draft`, if it is not a project file."""

    raising: Collection[str] = ()
    """The patterns of tools in that file, whose effects only raise what is known."""

    connections: contextlib.ExitStack | None = field(default=None, repr=False)
    """Closes the connections to servers; `None` closes each after its crawl."""

    def place(self, name: str) -> str:
        """Returns the place of an option for messages and origins: a pointer into the project file, or its flag."""
        if self.pointer is not None:
            return child(self.pointer, name.replace("_", "-"))
        if self.texts_file is not None and name in DRAFTED:
            return child(f"{self.texts_file}#", name.replace("_", "-"))
        return next((item.flag for item in options_in(Texts) if item.name == name and item.flag), name)

    def access(self, *addresses: object) -> FetchOptions:
        """Returns how documents are fetched; no document and no message holds the secrets in their URLs."""
        headers = tuple(self.source.headers.items())
        secrets = self.secrets | secrets_from_headers(headers)
        for address in (*addresses, *self.source.overlays):
            if isinstance(address, str) and is_url(address):
                secrets |= secrets_from_url(address)
        return FetchOptions(timeout_s=self.source.timeout, headers=headers, secrets=secrets)


class Reading(Struct, frozen=True, kw_only=True):
    """The result of reading a source."""

    services: tuple[Service, ...]
    failures: tuple[SkillgenError, ...] = ()
    """Why other services of the source could not be read."""

    @property
    def only(self) -> Service:
        """The only service.

        Raises:
            SkillgenError: it could not be read.
            UsageError: there are several.
        """
        count = len(self.services) + len(self.failures)
        if count != 1:
            names = ", ".join(service.name for service in self.services[:10])
            fix = "choose one of a client's file with --server, or give a source with one service"
            raise UsageError(f"the source has {count} services: {names}", fix=fix)
        if self.failures:
            raise self.failures[0]
        return self.services[0]
