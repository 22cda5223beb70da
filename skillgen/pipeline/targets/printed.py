"""The description that a command of a target prints (`openapi-command`)."""

from __future__ import annotations

import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

from skillgen.errors import SourceError
from skillgen.model.service import Service
from skillgen.pipeline.options import Overrides
from skillgen.pipeline.targets.filling import FilledSource
from skillgen.sources.given import secrets_of_arguments, secrets_of_environment
from skillgen.sources.secrets import Secrets


def printed_description(filled: FilledSource, overrides: Overrides) -> Service:
    """Runs the command and reads what it prints.

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
        path.write_bytes(_printed(command, filled, options.secrets, where))
        try:
            return reading.read_description(str(path), overrides, options)
        except SourceError as error:
            raise SourceError(f"what {command[0]} prints {error.what}", where=where, fix=error.fix) from None


def _printed(command: tuple[str, ...], filled: FilledSource, secrets: Secrets, where: str) -> bytes:
    program, timeout_s = command[0], filled.source.timeout
    try:
        finished = subprocess.run(
            command,
            cwd=filled.folder(),
            env={**filled.project_environment(), **filled.env()},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout_s,
            check=False,
        )
    except FileNotFoundError:
        raise SourceError(f"no such command: {program}", where=where, fix="install it, or correct the name") from None
    except OSError as error:
        raise SourceError(f"{program} cannot be started: {error.strerror}", where=where) from None
    except subprocess.TimeoutExpired:
        raise SourceError(
            f"{program} did not end within {timeout_s:g} s", where=where, fix="give it more with timeout:"
        ) from None
    if finished.returncode != 0:
        said = finished.stderr.decode("utf-8", "replace").strip().splitlines()
        last = f": {secrets.excerpt(said[-1], 200)}" if said else ""
        raise SourceError(f"{program} ended with {finished.returncode}{last}", where=where, fix="run it by hand")
    return finished.stdout
