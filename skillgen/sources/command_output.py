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


def run_command(
    command: tuple[str, ...],
    *,
    environment: Mapping[str, str],
    cwd: Path | None,
    timeout_s: float,
    limit_bytes: int,
    cancel_token: CancelToken,
    text: str | None = None,
) -> Finished:
    """Returns what a command printed. Kills all processes that it started.

    Its standard input is `text`, which it need not read; without one, it is empty.

    Raises:
        OSError: it cannot be started.
        ConnectionLost: the run was cancelled.
    """
    stdin = subprocess.DEVNULL if text is None else subprocess.PIPE
    family = ProcessTree(command, environment=environment, cwd=cwd, stdin=stdin, kill_on_leader_exit=True)
    printed, errors = bytearray(), bytearray()

    def read_printed() -> None:
        with streams[0] as stream:
            while len(printed) <= limit_bytes and (chunk := stream.read(_CHUNK_BYTES)):
                printed.extend(chunk)
        if len(printed) > limit_bytes:
            family.kill()

    def read_errors() -> None:
        with streams[1] as stream:
            while chunk := stream.read(_CHUNK_BYTES):
                errors[:] = (errors + chunk)[-_CHUNK_BYTES:]

    def write_text() -> None:
        if family.process.stdin is not None:
            with suppress(OSError, ValueError), family.process.stdin as stream:
                stream.write((text or "").encode("utf-8", "replace"))

    assert family.process.stdout is not None
    assert family.process.stderr is not None
    streams = (family.process.stdout, family.process.stderr)
    threads = [Thread(target=run, daemon=True) for run in (write_text, read_printed, read_errors)]
    for thread in threads:
        thread.start()
    status = None
    try:
        with suppress(subprocess.TimeoutExpired), cancel_token.attach(family):
            status = family.process.wait(timeout_s)
        cancel_token.raise_if_cancelled()  # it did not exit by itself
    finally:
        # Processes that it started would keep running, with its output streams open.
        family.kill()
        for thread in threads:
            thread.join()
    return Finished(status=status, output=bytes(printed), errors=bytes(errors))


def command_output(
    command: tuple[str, ...],
    *,
    where: str,
    what: str,
    timeout_key: str,
    environment: Mapping[str, str],
    cwd: Path | None,
    timeout_s: float,
    limit_bytes: int,
    cancel_token: CancelToken | None = None,
    secrets: Secrets = Secrets(),  # noqa: B008 - empty, and not changed
    text: str | None = None,
) -> bytes:
    """Returns what a command printed: `what`, for messages, in which `where` is its place. Kills all that it started.

    Raises:
        SourceError: it cannot be started, does not finish in time, prints too much, fails, or the run was cancelled.
    """
    program, token = shutil.which(command[0], path=environment.get("PATH")) or command[0], cancel_token or CancelToken()
    fix: str | None
    try:
        finished = run_command(
            command,
            environment=environment,
            cwd=cwd,
            timeout_s=timeout_s,
            limit_bytes=limit_bytes,
            cancel_token=token,
            text=text,
        )
    except FileNotFoundError:
        failure, fix = f"the command {program} does not exist", "install it, or correct the name"
    except OSError as error:
        failure, fix = f"{program} cannot be started: {error.strerror}", "check the command"
    except ConnectionLost as error:
        failure, fix = f"{program}: {error.what}", error.fix
    else:
        if len(finished.output) <= limit_bytes and finished.status == 0:
            return finished.output
        if finished.status is None:
            failure, fix = f"{program} did not finish within {timeout_s:g} s", f"increase {timeout_key}"
        elif len(finished.output) > limit_bytes:
            failure, fix = f"{program} prints more than {limit_bytes / 2**20:g} MiB", f"print only the {what}"
        else:
            lines = finished.errors.decode("utf-8", "replace").strip().splitlines()
            last = f": {secrets.excerpt(lines[-1], 200)}" if lines else ""
            failure, fix = f"{program} exited with {finished.status}{last}", "run it by hand"
    raise SourceError(failure, where=where, fix=fix)
