"""What a target says of its source, with paths from its folder and values from the environment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from skillgen.config.project import Source
from skillgen.config.variables import filled_in, variables_in
from skillgen.errors import UsageError
from skillgen.pipeline.options import DescriptionOptions
from skillgen.pipeline.programs import project_environment, resolved
from skillgen.pipeline.targets.choosing import NamedTarget
from skillgen.sources.given import secrets_of_variables
from skillgen.sources.secrets import Secrets

if TYPE_CHECKING:
    from skillgen.sources.mcp.target import Login


class FilledSource:
    """The source of a target; each value is filled in when it is asked for.

    A variable without a value raises a `UsageError` with its place in the project's file. Secrets among the values that
    were filled in so far are in `secrets`.
    """

    def __init__(self, named: NamedTarget, environment: Mapping[str, str]) -> None:
        self.named = named
        self.environment = environment
        self.where = f"{named.pointer}/source"
        self.secrets = Secrets()

    @property
    def source(self) -> Source:
        """What the file says, as it stands there."""
        return self.named.target.source

    def text(self, text: str, key: str = "") -> str:
        """Gives a text of the source with its variables filled in; `key` is where it stands, after a slash."""
        filled = filled_in(text, self.environment, self.where + key)
        self.secrets |= secrets_of_variables({name: self.environment[name] for name in variables_in(text)})
        return filled

    def place(self, text: str) -> str:
        """Gives a file, as a path from the current folder, or a URL."""
        name = self.text(text)
        return name if name.startswith(("http://", "https://")) else str(self.named.path(name))

    def words(self, command: tuple[str, ...]) -> tuple[str, ...]:
        """Returns a command with its program as this system has it."""
        return resolved(tuple(map(self.text, command)), self.project_environment())

    def project_environment(self) -> dict[str, str]:
        """Returns the variables of the user's shell, with the project's own environment active."""
        return project_environment(self.environment, self.folder(), self.named.file.parent)

    def env(self) -> dict[str, str]:
        """Gives the variables for a command; they may hold secrets."""
        return {name: self.text(value, f"/env/{name}") for name, value in self.source.env.items()}

    def headers(self) -> tuple[tuple[str, str], ...]:
        """Gives the headers for an address; they may hold secrets."""
        return tuple((name, self.text(value, f"/headers/{name}")) for name, value in self.source.headers.items())

    def folder(self) -> Path:
        """Gives the folder in which a command is started.

        Raises:
            UsageError: it is not there.
        """
        found = self.named.path(self.source.cwd or ".")
        if not found.is_dir():
            raise UsageError("no such folder", where=f"{self.where}/cwd", fix="give one that is there")
        return found

    def description_options(self) -> DescriptionOptions:
        """Gives how a description is reached, and what is read with it."""
        headers, overlays = self.headers(), tuple(map(self.place, self.source.overlays))
        return DescriptionOptions(
            timeout_s=self.source.timeout,
            headers=headers,
            secrets=self.secrets,
            overlays=overlays,
            allow_remote_refs=self.source.allow_remote_refs,
            allow_outside_refs=self.source.allow_outside_refs,
        )

    def login(self, announce: Callable[[str], None] | None) -> Login:
        """Returns how the server's token is got; `announce` is None where no person can be asked."""
        from skillgen.sources.mcp.target import Login

        source = self.source
        return Login(
            is_wanted=source.login,
            announce=announce if source.login else None,
            client_id=self.text(source.client_id, "/client-id") if source.client_id else None,
            client_secret=self.text(source.client_secret, "/client-secret") if source.client_secret else None,
            issuer=self.text(source.issuer, "/issuer") if source.issuer else None,
        )
