"""The log of a mock: a JSON object a line for each call."""

from __future__ import annotations

import json
from pathlib import Path

from msgspec import Struct, to_builtins

from skillgen.errors import OutputError
from skillgen.model.values import Json
from skillgen.sources.examples.validation import Fault


class LoggedCall(Struct, frozen=True, kw_only=True):
    """A call as it arrived, and what came of it."""

    tool: str | None
    """The name of the tool; `None` if no tool has that name or path."""

    arguments: Json = None
    """The arguments in the form of the tool's input schema; of an unknown tool as they were sent."""

    valid: bool
    """Whether the service would accept them."""

    faults: tuple[Fault, ...] = ()
    status: str | int
    """`ok`, `invalid`, `unknown-tool`, or `error:CODE`; of an API, the HTTP status."""

    request: str | None = None
    """Of an API, the method and the path with its query, without credentials."""


class CallLog:
    """Collects calls, and appends each to a file at once."""

    def __init__(self, path: Path | None = None, *, keeps: bool = False) -> None:
        """Creates the file; with `keeps`, the calls are also in `calls`.

        Raises:
            OutputError: it cannot be written.
        """
        self.calls: list[LoggedCall] = []
        self._keeps = keeps
        try:
            self._file = open(path, "a", encoding="utf-8") if path is not None else None  # noqa: SIM115
        except OSError as error:
            raise OutputError(f"cannot be written: {error.strerror}", where=str(path)) from None

    def add(self, call: LoggedCall) -> None:
        """Records a call."""
        if self._keeps:
            self.calls.append(call)
        if self._file is not None:
            self._file.write(log_line(call))
            self._file.flush()

    def close(self) -> None:
        """Closes the file."""
        if self._file is not None:
            self._file.close()


def log_line(call: LoggedCall) -> str:
    """Returns a call as a line of a log."""
    members = {key: value for key, value in to_builtins(call).items() if value is not None or key == "tool"}
    return json.dumps(members) + "\n"
