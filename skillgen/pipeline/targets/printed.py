"""The description that a command of a target prints (`openapi-command`)."""

from __future__ import annotations

import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path
from threading import Thread

from skillgen.errors import SourceError
from skillgen.model.service import Service
from skillgen.pipeline.options import Overrides
from skillgen.pipeline.targets.filling import FilledSource
from skillgen.sources.bounds import SOURCE_LIMIT_BYTES
from skillgen.sources.given import secrets_of_arguments, secrets_of_environment
from skillgen.sources.mcp.connection import ConnectionLost
from skillgen.sources.mcp.interruption import Interruption
from skillgen.sources.mcp.processes import ProcessFamily
from skillgen.sources.secrets import Secrets

_CHUNK_BYTES = 64 * 1024


def printed_description(filled: FilledSource, overrides: Overrides, interruption: Interruption) -> Service:
    """Runs the command and reads what it prints; the command ends with all that it started, as a server does.

    Raises:
        SourceError: the command fails, takes longer than the target's timeout, or prints no description.
        UsageError: its folder is not there, or a variable has no value.
    """
    from skillgen.pipeline import reading

    command = filled.words(filled.source.openapi_command)
    where = f"{filled.where}/openapi-command"
    options = filled.description_options()
    passed = secrets_of_environment(filled.env(), filled.environment) | secrets_of_arguments(command[1:])
    options = replace(options, secrets=options.secrets | passed)
    with tempfile.TemporaryDirectory() as folder, options.secrets.kept_from_errors():
        path = Path(folder, "openapi")
        path.write_bytes(_printed(command, filled, options.secrets, where, interruption))
        try:
            return reading.read_description(str(path), overrides, options)
        except SourceError as error:
            raise SourceError(f"what {command[0]} prints {error.what}", where=where, fix=error.fix) from None


def _printed(
    command: tuple[str, ...], filled: FilledSource, secrets: Secrets, where: str, interruption: Interruption
) -> bytes:
    program, timeout_s = command[0], filled.source.timeout
    try:
        family = ProcessFamily(
            command,
            environment={**filled.project_environment(), **filled.env()},
            cwd=filled.folder(),
            stdin=subprocess.DEVNULL,
            ends_with_leader=True,
        )
    except FileNotFoundError:
        raise SourceError(f"no such command: {program}", where=where, fix="install it, or correct the name") from None
    except OSError as error:
        raise SourceError(
            f"{program} cannot be started: {error.strerror}", where=where, fix="check the command"
        ) from None
    output = _Outputs(family)
    try:
        with interruption.watched(family):
            status = family.process.wait(timeout_s)
    except subprocess.TimeoutExpired:
        raise SourceError(
            f"{program} did not end within {timeout_s:g} s", where=where, fix="give it more with timeout:"
        ) from None
    except ConnectionLost as error:
        raise SourceError(f"{program}: {error.what}", where=where, fix=error.fix) from None
    finally:
        # What it started would keep its outputs open, and go on.
        family.kill()
        printed, errors = output.read()
    if len(printed) > SOURCE_LIMIT_BYTES:
        raise SourceError(
            f"{program} prints more than {SOURCE_LIMIT_BYTES >> 20} MiB", where=where, fix="print the description alone"
        )
    if status != 0:
        lines = errors.decode("utf-8", "replace").strip().splitlines()
        last = f": {secrets.excerpt(lines[-1], 200)}" if lines else ""
        raise SourceError(f"{program} ended with {status}{last}", where=where, fix="run it by hand")
    return printed


class _Outputs:
    """Reads what a command prints, so that it never waits for a reader; kills one that prints too much."""

    def __init__(self, family: ProcessFamily) -> None:
        self._family = family
        self._process = family.process
        self._printed = bytearray()
        self._errors = bytearray()
        self._threads = [Thread(target=run, daemon=True) for run in (self._read_printed, self._read_errors)]
        for thread in self._threads:
            thread.start()

    def read(self) -> tuple[bytes, bytes]:
        """Returns what was printed, one byte over the limit at most, and the end of standard error."""
        for thread in self._threads:
            thread.join()
        return bytes(self._printed), bytes(self._errors)

    def _read_printed(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as stream:
            while chunk := stream.read(_CHUNK_BYTES):
                self._printed += chunk[: SOURCE_LIMIT_BYTES + 1 - len(self._printed)]
                if len(self._printed) > SOURCE_LIMIT_BYTES:
                    self._family.kill()
                    return

    def _read_errors(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as stream:
            while chunk := stream.read(_CHUNK_BYTES):
                self._errors = (self._errors + chunk)[-_CHUNK_BYTES:]
