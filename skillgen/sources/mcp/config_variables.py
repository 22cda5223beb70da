"""Fills in the variables of a client's server file, as the clients do it.

Claude Code writes `${NAME}` and `${NAME:-default}`; VS Code, Cursor and Windsurf `${env:NAME}`, `${workspaceFolder}`
and their like; VS Code `${input:ID}` for what it asks its user. What has none of these forms stays as it is, so that
an argument may hold a script.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from skillgen.errors import UsageError
from skillgen.sources.given import secrets_of_variables
from skillgen.sources.secrets import Secrets

_VARIABLE = re.compile(r"\$\{([^${}]*)\}")
_NAME = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>.*))?\Z", re.DOTALL)
_EDITORS_OWN = ("command:", "config:", "extensionInstallFolder:")


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """What VS Code asks its user once (`inputs`)."""

    is_secret: bool = False
    """Whether it is typed unseen."""

    default: str | None = None
    """What is offered."""


@dataclass(slots=True, kw_only=True)
class Variables:
    """What may stand for a variable, and which secrets were used."""

    given: Mapping[str, str]
    """`--env`: comes before the environment, and answers inputs by their ids."""

    environment: Mapping[str, str]
    """The environment of skillgen."""

    folder: Path
    """The folder that an editor would have opened."""

    inputs: Mapping[str, Input] = field(default_factory=dict)
    """Id to input."""

    secrets: Secrets = field(default_factory=Secrets)
    """Values that were filled in and may reach no output."""

    def fill_in(self, text: str, where: str) -> str:
        """Gives a text with its variables filled in.

        Raises:
            UsageError: one of them has no value.
        """
        return _VARIABLE.sub(lambda match: self._value(match[1], match[0], where), text)

    def _value(self, inner: str, whole: str, where: str) -> str:
        if (own := _EDITOR.get(inner.partition(":")[0])) is not None:
            return own(self.folder)
        if inner.startswith("input:"):
            return self._input(inner.removeprefix("input:"), where)
        if inner.startswith(_EDITORS_OWN):
            raise UsageError(f"{whole} is known to the editor alone", where=where, fix="write its value instead")
        match = _NAME.match(inner.removeprefix("env:"))
        return whole if match is None else self._variable(match["name"], match["default"], where)

    def _variable(self, name: str, default: str | None, where: str) -> str:
        value = self.given.get(name, self.environment.get(name, default))
        if value is None:
            raise UsageError(f"{name} is not set", where=where, fix=f"set it, or give --env {name}=VALUE")
        self.secrets |= secrets_of_variables({name: value})
        return value

    def _input(self, key: str, where: str) -> str:
        asked = self.inputs.get(key, Input(is_secret=True))
        name = re.sub(r"[^A-Za-z0-9]+", "_", key).upper()
        value = self.given.get(key, self.given.get(name, self.environment.get(name, asked.default)))
        if value is None:
            raise UsageError(
                f"the input {key!r} has no value here", where=where, fix=f"give --env {key}=VALUE, or set {name}"
            )
        self.secrets |= Secrets({value: f"the input {key}"}) if asked.is_secret else secrets_of_variables({key: value})
        return value


_EDITOR: Mapping[str, Callable[[Path], str]] = {
    "workspaceFolder": str,
    "workspaceRoot": str,
    "workspaceFolderBasename": lambda folder: folder.name,
    "userHome": lambda folder: str(Path.home()),
    "cwd": str,
    "pathSeparator": lambda folder: os.sep,
    "/": lambda folder: os.sep,
}
"""Variables of the editors; `${workspaceFolder:NAME}` names one of several folders."""
