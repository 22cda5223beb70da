"""Runs a command that is to print something and exit: bounded in time and output, and with all that it starts."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from threading import Thread

from msgspec import Struct

from skillgen.errors import SourceError
from skillgen.security.secrets import Secrets
from skillgen.sources.mcp.jsonrpc import ConnectionLost
from skillgen.sources.mcp.process import ProcessTree
from skillgen.sources.mcp.session import CancelToken

_CHUNK_BYTES = 64 * 1024


class Finished(Struct, frozen=True, kw_only=True):
    """The end of a command."""

    status: int | None
    """The exit code; `None` if it was killed since it ran out of time."""

    output: bytes
    """Standard output; longer than the limit if the command printed too much, and was killed."""

    errors: bytes
    """The end of standard error."""


class CommandRun(Struct, frozen=True, kw_only=True):
    """A run of a command, and its bounds."""

    words: tuple[str, ...]
    environment: Mapping[str, str]
    cwd: Path | None
    timeout_s: float
    limit_bytes: int
    """Maximum length of what it prints."""

    cancel_token: CancelToken | None = None
    text: str | None = None
    """Its standard input, which it need not read; without one, it is empty."""

    def finished(self) -> Finished:
        """Runs the command to its end. Kills all processes that it started.

        Raises:
            OSError: it cannot be started.
            ConnectionLost: the run was cancelled.
        """
        stdin = subprocess.DEVNULL if self.text is None else subprocess.PIPE
        family = ProcessTree(
            self.words, environment=self.environment, cwd=self.cwd, stdin=stdin, kill_on_leader_exit=True
        )
        printed, errors, token = bytearray(), bytearray(), self.cancel_token or CancelToken()

        def read_printed() -> None:
            with streams[0] as stream:
                while len(printed) <= self.limit_bytes and (chunk := stream.read(_CHUNK_BYTES)):
                    printed.extend(chunk)
            if len(printed) > self.limit_bytes:
                family.kill()

        def read_errors() -> None:
            with streams[1] as stream:
                while chunk := stream.read(_CHUNK_BYTES):
                    errors[:] = (errors + chunk)[-_CHUNK_BYTES:]

        def write_text() -> None:
            if family.process.stdin is not None:
                with suppress(OSError, ValueError), family.process.stdin as stream:
                    stream.write((self.text or "").encode("utf-8", "replace"))

        assert family.process.stdout is not None
        assert family.process.stderr is not None
        streams = (family.process.stdout, family.process.stderr)
        threads = [Thread(target=run, daemon=True) for run in (write_text, read_printed, read_errors)]
        for thread in threads:
            thread.start()
        status = None
        try:
            with suppress(subprocess.TimeoutExpired), token.attach(family):
                status = family.process.wait(self.timeout_s)
            token.raise_if_cancelled()  # it did not exit by itself
        finally:
            # Processes that it started would keep running, with its output streams open.
            family.kill()
            for thread in threads:
                thread.join()
        return Finished(status=status, output=bytes(printed), errors=bytes(errors))

    def output(self, *, where: str, what: str, timeout_key: str, secrets: Secrets | None = None) -> bytes:
        """Returns what the command printed: `what`, for messages, in which `where` is its place.

        Raises:
            SourceError: it cannot be started, does not finish in time, prints too much, fails, or was cancelled.
        """
        program = shutil.which(self.words[0], path=self.environment.get("PATH")) or self.words[0]
        fix: str | None
        try:
            finished = self.finished()
        except FileNotFoundError:
            failure, fix = f"the command {program} does not exist", "install it, or correct the name"
        except OSError as error:
            failure, fix = f"{program} cannot be started: {error.strerror}", "check the command"
        except ConnectionLost as error:
            failure, fix = f"{program}: {error.what}", error.fix
        else:
            if len(finished.output) <= self.limit_bytes and finished.status == 0:
                return finished.output
            if finished.status is None:
                failure, fix = f"{program} did not finish within {self.timeout_s:g} s", f"increase {timeout_key}"
            elif len(finished.output) > self.limit_bytes:
                failure, fix = f"{program} prints more than {self.limit_bytes / 2**20:g} MiB", f"print only the {what}"
            else:
                lines = finished.errors.decode("utf-8", "replace").strip().splitlines()
                last = f": {(secrets or Secrets()).excerpt(lines[-1], 200)}" if lines else ""
                failure, fix = f"{program} exited with {finished.status}{last}", "run it by hand"
        raise SourceError(failure, where=where, fix=fix)
