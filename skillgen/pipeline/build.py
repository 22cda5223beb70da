"""Targets of skillgen.yaml: resolves their options, decides whether they are up to date, reads their sources.

A target is up to date if the files that its last run read, and the documents that it wrote, are unchanged. What a run
read and wrote is remembered in the user's cache folder, not in the project: a file there could be forged, would change
with line endings, and would conflict between branches. `--check` ignores it and always renders.

Commands of a target run in the project's environment, never in skillgen's own.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Literal

from skillgen import __version__
from skillgen.config.loader import interpolate, variables_in
from skillgen.config.project import Source, Target
from skillgen.errors import ExitCode, SkillgenError, SourceError, UsageError, failure_from_bug
from skillgen.model.document import DEFAULT_FORMATS, DEFAULT_PROFILE
from skillgen.model.service import Service
from skillgen.pipeline.generate import (
    DEFAULT_OUT,
    HOSTS,
    DescriptionOptions,
    Failure,
    Outcome,
    OutputOptions,
    Overrides,
    Result,
    install_folders,
    orphaned_folders,
    parse_formats,
    parse_profile,
    prune_folders,
    write_services,
)
from skillgen.security.secrets import Secrets, secrets_from_arguments, secrets_from_environment, secrets_from_variables
from skillgen.sources.documents import FilesRead, file_digest, track_files_read
from skillgen.sources.http import read_cached, write_cached
from skillgen.sources.json_access import SOURCE_LIMIT_BYTES
from skillgen.sources.mcp.jsonrpc import ConnectionLost
from skillgen.sources.mcp.process import ProcessTree
from skillgen.sources.mcp.session import CancelToken
from skillgen.sources.mcp.target import is_tool_environment, programs_folder, without_tool_environment
from skillgen.write.files import is_below
from skillgen.write.plan import Change, Plan
from skillgen.write.record import RECORD_NAME, read_record

if TYPE_CHECKING:
    from skillgen.sources.mcp.target import Login


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedTarget:
    """A target with its name, its file, and its options combined with those of the command line."""

    name: str
    """Its key in the project file."""

    target: Target
    """Its declaration."""

    file: Path
    """The project file; paths in the target are relative to its folder."""

    options: OutputOptions
    """Where the documents go, and what may happen to existing ones."""

    @property
    def pointer(self) -> str:
        """The place of the target for origins and messages, such as `skillgen.yaml#/targets/api`."""
        return f"{self.file.name}#/targets/{self.name}"

    def path(self, text: str) -> Path:
        """Returns a path of the target, resolved against the folder of the project file."""
        return self.file.parent / text


@dataclass(frozen=True, slots=True, kw_only=True)
class CliOverrides:
    """Options of the command line, which win over those of every target; paths are relative to the current folder."""

    out: Path | None = None
    """`--out`."""

    emit: str | None = None
    """`--emit`."""

    templates: Path | None = None
    """`--templates`."""

    profile: str | None = None
    """`--profile`."""

    install: tuple[str, ...] = ()
    """`--install`."""

    user: bool = False
    """`--user`."""

    timeout_s: float | None = None
    """`--timeout`."""

    check: bool = False
    """`--check`."""

    allow_empty: bool = False
    """`--allow-empty`."""

    force: bool = False
    """`--force`."""

    prune: bool = False
    """`--prune`."""

    strict: bool = False
    """`--strict`."""


def resolve_targets(
    targets: Mapping[str, Target], file: Path, only: str | None, cli: CliOverrides
) -> tuple[NamedTarget, ...]:
    """Returns the targets of a file, or only the one named `only`, with their options.

    Raises:
        UsageError: there is no such target, two targets share a folder, or a format, profile or host is unknown.
    """
    if only is not None and only not in targets:
        raise UsageError(f"no such target: {only}", where="--target", fix=f"choose from {', '.join(targets)}")
    resolved = []
    folders: dict[str, str] = {}
    for name, target in targets.items():
        out = os.path.normpath(_out_folder(name, target, file, cli, is_alone=len(targets) == 1))
        _refuse_shared_folder(name, out, folders, file)
        folders[out] = name
        options = _options(target, Path(out), file, f"{file.name}#/targets/{name}", cli)
        if cli.timeout_s is not None:
            target = replace(target, source=replace(target.source, timeout=cli.timeout_s))
        resolved.append(NamedTarget(name=name, target=target, file=file, options=options))
    siblings = tuple(item.options.out for item in resolved)
    return tuple(
        replace(item, options=replace(item.options, siblings=siblings))
        for item in resolved
        if only is None or item.name == only
    )


def _out_folder(name: str, target: Target, file: Path, cli: CliOverrides, *, is_alone: bool) -> Path:
    if target.out and cli.out is None:
        return file.parent / target.out
    default = cli.out or file.parent / DEFAULT_OUT
    return default if is_alone else default / name


def _options(target: Target, out: Path, file: Path, pointer: str, cli: CliOverrides) -> OutputOptions:
    """Returns the output options of a target; those of the command line win."""
    folder = file.parent
    formats = parse_formats(cli.emit) if cli.emit is not None else DEFAULT_FORMATS
    profile = parse_profile(cli.profile) if cli.profile is not None else DEFAULT_PROFILE
    with errors_located_in_file(pointer):
        if target.emit and cli.emit is None:
            formats = parse_formats(",".join(target.emit))
        if target.profile is not None and cli.profile is None:
            profile = parse_profile(target.profile)
        if cli.out is None:
            _refuse_outside(out, folder, "--out")
        templates = cli.templates
        if templates is None and target.templates is not None:
            templates = folder / target.templates
            _refuse_outside(templates, folder, "--templates")
        hosts = () if cli.install else target.install_to
        install = install_folders(hosts, user=bool(hosts) and cli.user, formats=formats, project=folder)
    if not install:
        install = install_folders(cli.install, user=cli.user, formats=formats)
    return OutputOptions(
        out=out,
        within=folder if cli.out is None else None,
        owner=file,
        formats=formats,
        templates=templates,
        profile=profile,
        install=install,
        check=cli.check,
        allow_empty=cli.allow_empty or target.allow_empty,
        force=cli.force,
        prune=cli.prune or target.prune,
        strict=cli.strict or target.strict,
    )


def _refuse_outside(path: Path, folder: Path, option: str) -> None:
    """Refuses a folder outside the project, also one behind a symbolic link: a cloned project must not name it."""
    if not is_below(path, folder):
        raise UsageError(
            f"{path.as_posix()} is outside the folder of the project file",
            where=option,
            fix=f"name a folder below it, or give {option} on the command line",
        )


@contextmanager
def errors_located_in_file(pointer: str) -> Iterator[None]:
    """Replaces the option that an error names by the corresponding key of the target at `pointer`."""
    try:
        yield
    except UsageError as error:
        if error.where is not None and error.where.startswith("--"):
            error.where = f"{pointer}/{error.where[2:].replace('install', 'install-to')}"
        raise


def _refuse_shared_folder(name: str, out: str, folders: Mapping[str, str], file: Path) -> None:
    """Refuses a folder that is the same as another target's, or inside or above it."""
    for other, owner in folders.items():
        if out == other or out.startswith(other + os.sep) or other.startswith(out + os.sep):
            raise UsageError(
                f"the targets {owner} and {name} write to the same folder",
                where=file.as_posix(),
                fix="give each target its own out:",
            )


_ENVIRONMENT_FOLDERS = (".venv", "venv")


def project_environment(caller: Mapping[str, str], folder: Path, project: Path) -> dict[str, str]:
    """Returns the variables for a command that runs in `folder` of a project.

    An active virtual environment remains active. Without one, as for a commit from an editor, the project's is
    activated: the nearest one from `folder` up to the top of the repository.
    """
    variables = without_tool_environment(caller)
    active = variables.get("VIRTUAL_ENV")
    if not active or not _is_environment(Path(active)):
        active = (
            None if _has_active_python(variables) else next(_environments(folder.resolve(), project.resolve()), None)
        )
    if active is None:
        return variables
    programs = str(programs_folder(Path(active)))
    entries = variables.get("PATH", os.defpath).split(os.pathsep)
    if programs not in entries:
        variables["PATH"] = os.pathsep.join((programs, *entries))
    return variables | {"VIRTUAL_ENV": active}


def with_resolved_program(command: tuple[str, ...], environment: Mapping[str, str]) -> tuple[str, ...]:
    """Returns a command with a program that exists on this system.

    Many systems have only `python3`. A program that is not on PATH is taken from skillgen's environment, unless that
    was created for skillgen alone: a project's server would not find its packages there.
    """
    if not command or Path(command[0]).name != command[0]:
        return command
    program, *arguments = command
    path = environment.get("PATH")
    if shutil.which(program, path=path):
        return command
    if program == "python" and shutil.which("python3", path=path):
        return ("python3", *arguments)
    bundled = None if is_tool_environment() else shutil.which(program, path=str(Path(sys.executable).parent))
    return (bundled or program, *arguments)


def _has_active_python(environment: Mapping[str, str]) -> bool:
    """True if the first Python on PATH belongs to a virtual or conda environment (conda's base is not one)."""
    path = environment.get("PATH")
    python = shutil.which("python", path=path) or shutil.which("python3", path=path)
    if python is None:
        return False
    # On Windows, conda's python.exe is in the environment's top folder.
    roots = (Path(python).parent, Path(python).parent.parent)
    is_conda = any((root / "conda-meta").is_dir() and not (root / "condabin").is_dir() for root in roots)
    return is_conda or any(map(_is_environment, roots))


def _environments(folder: Path, project: Path) -> Iterator[str]:
    top = next((parent for parent in (project, *project.parents) if (parent / ".git").exists()), project)
    if sys.prefix != sys.base_prefix and not is_tool_environment() and Path(sys.prefix).is_relative_to(top):
        yield sys.prefix
    for parent in (folder, *folder.parents):
        yield from (str(parent / name) for name in _ENVIRONMENT_FOLDERS if _is_environment(parent / name))
        if parent == top or not parent.is_relative_to(top):
            return


def _is_environment(folder: Path) -> bool:
    return (folder / "pyvenv.cfg").is_file()


class InterpolatedSource:
    """The source of a target. Variables in a value are replaced when the value is read.

    A variable that is not set raises a `UsageError` with its place in the project file. `secrets` collects the secrets
    among the values that were replaced so far.
    """

    def __init__(self, named: NamedTarget, environment: Mapping[str, str]) -> None:
        self.named = named
        self.environment = environment
        self.where = f"{named.pointer}/source"
        self.secrets = Secrets()

    @property
    def source(self) -> Source:
        """The source with its variables, as written in the file."""
        return self.named.target.source

    def interpolate(self, text: str, key: str = "") -> str:
        """Returns a string with its variables replaced; `key` is its pointer within the source, with a slash."""
        value = interpolate(text, self.environment, self.where + key)
        self.secrets |= secrets_from_variables({name: self.environment[name] for name in variables_in(text)})
        return value

    def path_or_url(self, text: str) -> str:
        """Returns a URL unchanged, and a file as a path relative to the current folder."""
        name = self.interpolate(text)
        return name if name.startswith(("http://", "https://")) else str(self.named.path(name))

    def command(self, command: tuple[str, ...]) -> tuple[str, ...]:
        """Returns a command with its variables replaced and a program that exists on this system."""
        return with_resolved_program(tuple(map(self.interpolate, command)), self.project_environment())

    def project_environment(self) -> dict[str, str]:
        """Returns the variables of the user's shell, with the project's own environment active."""
        return project_environment(self.environment, self.cwd(), self.named.file.parent)

    def env(self) -> dict[str, str]:
        """Returns the variables for a command; they may hold secrets."""
        return {name: self.interpolate(value, f"/env/{name}") for name, value in self.source.env.items()}

    def headers(self) -> tuple[tuple[str, str], ...]:
        """Returns the headers for a URL; they may hold secrets."""
        return tuple((name, self.interpolate(value, f"/headers/{name}")) for name, value in self.source.headers.items())

    def cwd(self) -> Path:
        """Returns the working directory of a command.

        Raises:
            UsageError: it does not exist.
        """
        cwd = self.named.path(self.source.cwd or ".")
        if not cwd.is_dir():
            raise UsageError(
                "the folder does not exist", where=f"{self.where}/cwd", fix="create it, or correct the path"
            )
        return cwd

    def description_options(self) -> DescriptionOptions:
        """Returns how to fetch the description, and what to read with it."""
        headers, overlays = self.headers(), tuple(map(self.path_or_url, self.source.overlays))
        return DescriptionOptions(
            timeout_s=self.source.timeout,
            headers=headers,
            secrets=self.secrets,
            overlays=overlays,
            allow_remote_refs=self.source.allow_remote_refs,
            allow_outside_refs=self.source.allow_outside_refs,
        )

    def login(self, announce: Callable[[str], None] | None) -> Login:
        """Returns how to log in to the server; `announce` is `None` if no person can be asked."""
        from skillgen.sources.mcp.target import Login

        source = self.source
        return Login(
            is_requested=source.login,
            announce=announce if source.login else None,
            client_id=self.interpolate(source.client_id, "/client-id") if source.client_id else None,
            client_secret=self.interpolate(source.client_secret, "/client-secret") if source.client_secret else None,
            issuer=self.interpolate(source.issuer, "/issuer") if source.issuer else None,
        )


_CACHE_KIND = "built"


def _up_to_date_result(named: NamedTarget) -> Result | None:
    """Returns the result of a target without reading its source if it is up to date."""
    if named.options.check or named.options.force:
        return None
    with suppress(OSError, ValueError, LookupError, TypeError, SkillgenError):
        last = json.loads(read_cached(_CACHE_KIND, _cache_key(named)) or b"null")
        if (
            last["options"] == _options_digest(named)
            and _are_unchanged(last["files"])
            and all(_folder_digest(Path(folder)) == digest for folder, _, digest in last["folders"])
        ):
            return Result(steps=tuple(_kept(Path(folder), is_service) for folder, is_service, _ in last["folders"]))
    return None


def _kept(folder: Path, is_service: bool) -> Outcome:
    record = read_record(folder)
    changes = tuple(Change(path=path, action="keep", old=None, new=None) for path in sorted(record.states))
    plan = Plan(out=folder, changes=changes, before=record, after=record)
    return Outcome(kind="documents" if is_service else "installed", plan=plan, is_check=False)


def _remember(named: NamedTarget, files: FilesRead, result: Result) -> None:
    """Stores what a successful run of a target read and wrote, if its source consists of files only."""
    source = named.target.source
    is_in_files = source.openapi or source.snapshot or source.manifest
    if not is_in_files or not files.is_complete or "${" in repr(named.target):
        return
    with suppress(OSError, SkillgenError):
        last = {
            "options": _options_digest(named),
            "files": files.digests,
            "folders": [
                (str(outcome.plan.out), outcome.kind == "documents", _folder_digest(outcome.plan.out))
                for outcome in result.outcomes
            ],
        }
        write_cached(_CACHE_KIND, _cache_key(named), json.dumps(last).encode("utf-8", "surrogatepass"))


def _cache_key(named: NamedTarget) -> str:
    return f"{named.file.absolute()}#{named.name}"


def _options_digest(named: NamedTarget) -> str:
    options = named.options
    templates = _templates_digests(options.templates) if options.templates is not None else {}
    data = (__version__, asdict(named.target), asdict(options), templates)
    return hashlib.sha256(json.dumps(data, sort_keys=True, default=str).encode("utf-8", "replace")).hexdigest()


def _are_unchanged(files: Mapping[str, str]) -> bool:
    return all(_digest(Path(path)) == digest for path, digest in files.items())


def _folder_digest(folder: Path) -> str:
    """Returns the digest of a folder's record and of every file that it names."""
    record = read_record(folder)
    paths = [folder.joinpath(*path.split("/")) for path in (RECORD_NAME, *sorted(record.states))]
    return hashlib.sha256("".join(map(_digest, paths)).encode()).hexdigest()


def _templates_digests(folder: Path) -> dict[str, str]:
    """Returns the digest of every file in a folder of templates, since a new file may replace a built-in template.

    Raises:
        OSError: the folder holds a symbolic link, behind which files may change.
    """
    digests: dict[str, str] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            raise OSError("a symbolic link")
        if path.is_file():
            digests[path.relative_to(folder).as_posix()] = _digest(path)
    return digests


def _digest(path: Path) -> str:
    """Returns the digest of a file.

    Raises:
        OSError: it is too large, or not a regular file (a pipe would block, a device may never end).
    """
    if not path.is_file() or path.stat().st_size > SOURCE_LIMIT_BYTES:
        raise OSError("not a regular file, or too large")
    return file_digest(path.read_bytes())


_CHUNK_BYTES = 64 * 1024


def description_from_command(
    source_values: InterpolatedSource, overrides: Overrides, cancel_token: CancelToken
) -> Service:
    """Runs `openapi-command` and reads the description that it prints. Kills all processes that it started.

    Raises:
        SourceError: the command fails, exceeds the target's timeout, or prints something else.
        UsageError: its working directory does not exist, or a variable is not set.
    """
    from skillgen.pipeline import read

    command = source_values.command(source_values.source.openapi_command)
    where = f"{source_values.where}/openapi-command"
    options = source_values.description_options()
    extra_secrets = secrets_from_environment(source_values.env(), source_values.environment) | secrets_from_arguments(
        command[1:]
    )
    options = replace(options, secrets=options.secrets | extra_secrets)
    with tempfile.TemporaryDirectory() as folder, options.secrets.redact_errors():
        path = Path(folder, "openapi")
        path.write_bytes(_command_output(command, source_values, options.secrets, where, cancel_token))
        try:
            return read.read_description(str(path), overrides, options)
        except SourceError as error:
            raise SourceError(f"the output of {command[0]} {error.what}", where=where, fix=error.fix) from None


def _command_output(
    command: tuple[str, ...], source_values: InterpolatedSource, secrets: Secrets, where: str, cancel_token: CancelToken
) -> bytes:
    program, timeout_s = command[0], source_values.source.timeout
    try:
        family = ProcessTree(
            command,
            environment={**source_values.project_environment(), **source_values.env()},
            cwd=source_values.cwd(),
            stdin=subprocess.DEVNULL,
            kill_on_leader_exit=True,
        )
    except FileNotFoundError:
        raise SourceError(
            f"the command {program} does not exist", where=where, fix="install it, or correct the name"
        ) from None
    except OSError as error:
        raise SourceError(
            f"{program} cannot be started: {error.strerror}", where=where, fix="check the command"
        ) from None
    output = _CommandOutput(family)
    try:
        with cancel_token.attach(family):
            status = family.process.wait(timeout_s)
    except subprocess.TimeoutExpired:
        raise SourceError(
            f"{program} did not finish within {timeout_s:g} s", where=where, fix="increase timeout:"
        ) from None
    except ConnectionLost as error:
        raise SourceError(f"{program}: {error.what}", where=where, fix=error.fix) from None
    finally:
        # Processes that it started would keep running, with its output streams open.
        family.kill()
        printed, errors = output.read()
    if len(printed) > SOURCE_LIMIT_BYTES:
        raise SourceError(
            f"{program} prints more than {SOURCE_LIMIT_BYTES >> 20} MiB", where=where, fix="print only the description"
        )
    if status != 0:
        lines = errors.decode("utf-8", "replace").strip().splitlines()
        last = f": {secrets.excerpt(lines[-1], 200)}" if lines else ""
        raise SourceError(f"{program} exited with {status}{last}", where=where, fix="run it by hand")
    return printed


class _CommandOutput:
    """Reads the output of a command in threads, so that it never blocks; kills a command that prints too much."""

    def __init__(self, family: ProcessTree) -> None:
        self._family = family
        self._process = family.process
        self._stdout = bytearray()
        self._errors = bytearray()
        self._threads = [Thread(target=run, daemon=True) for run in (self._read_printed, self._read_errors)]
        for thread in self._threads:
            thread.start()

    def read(self) -> tuple[bytes, bytes]:
        """Returns standard output, at most one byte more than the limit, and the last 64 KiB of standard error."""
        for thread in self._threads:
            thread.join()
        return bytes(self._stdout), bytes(self._errors)

    def _read_printed(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as stream:
            while chunk := stream.read(_CHUNK_BYTES):
                self._stdout += chunk[: SOURCE_LIMIT_BYTES + 1 - len(self._stdout)]
                if len(self._stdout) > SOURCE_LIMIT_BYTES:
                    self._family.kill()
                    return

    def _read_errors(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as stream:
            while chunk := stream.read(_CHUNK_BYTES):
                self._errors = (self._errors + chunk)[-_CHUNK_BYTES:]


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltTarget:
    """The result of building one target."""

    name: str
    """Its key in the project file."""

    result: Result
    """What happened to its documents."""

    status: Literal["built", "unchanged", "failed"]
    """`unchanged` if it was up to date and its source was not read; `failed` if its source could not be read."""


def build_targets(
    targets: Sequence[NamedTarget], environment: Mapping[str, str], announce: Callable[[str], None] | None
) -> Iterator[BuiltTarget]:
    """Builds targets and yields their results in order. A target that fails does not stop the others.

    `announce` prints the URL for a login, and is `None` if no person can log in.
    """
    up_to_date = {named.name: _up_to_date_result(named) for named in targets}
    waiting = [named for named in targets if up_to_date[named.name] is None]
    with _read_concurrently(waiting, environment, announce) as read:
        for named in targets:
            if (result := up_to_date[named.name]) is not None:
                yield BuiltTarget(name=named.name, result=result, status="unchanged")
            else:
                yield _built(named, read)


def _built(named: NamedTarget, read: Callable[[NamedTarget], ReadTarget]) -> BuiltTarget:
    try:
        source = read(named)
        result = write_services(source.services, named.options, source.failures)
        if result.exit_code is ExitCode.DONE and not named.options.check:
            _remember(named, source.files, result)
        return BuiltTarget(name=named.name, result=result, status="built")
    except SkillgenError as error:
        failure = error
    except Exception as error:
        failure = failure_from_bug(error)
    return BuiltTarget(name=named.name, result=Result(steps=(Failure(error=failure),)), status="failed")


def prune_targets(targets: Sequence[NamedTarget], result: Result, out: Path | None) -> Result:
    """Reports or removes the documents of targets, servers and service names that no longer exist.

    `result` is that of all targets; nothing is done if one of them failed. `out` is the folder of `--out`.
    """
    if result.exit_code not in (ExitCode.DONE, ExitCode.DRIFT):
        return Result()
    file, outs = targets[0].file, [named.options.out for named in targets]
    top = out if out is not None else file.parent / DEFAULT_OUT
    installed = [file.parent / folder for folder in HOSTS.values()]
    installed += [folder for named in targets for folder in named.options.install]
    folders = orphaned_folders(
        result.documents, [top, *outs, *(folder.parent for folder in outs)], [file, *outs], installed
    )
    options = [named.options for named in targets]
    return prune_folders(folders, prune=all(item.prune for item in options), check=options[0].check)


_AT_ONCE = 8
"""Number of sources that are read at the same time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadTarget:
    """The result of reading a target."""

    services: tuple[Service, ...]
    """The services, with the author's texts."""

    files: FilesRead
    """The files that were read."""

    failures: tuple[SkillgenError, ...] = ()
    """Errors of services that could not be read."""


@contextmanager
def _read_concurrently(
    targets: Sequence[NamedTarget], environment: Mapping[str, str], announce: Callable[[str], None] | None
) -> Iterator[Callable[[NamedTarget], ReadTarget]]:
    """Reads targets at the same time; yields a function that waits for one of them, like `_read_target`.

    A target with overlays is read in the main thread, when it is asked for: only there can a slow JSONPath expression
    be stopped. The other threads are daemons, so that an interrupted run does not wait for them.
    """

    cancel_token = CancelToken()
    waiting: SimpleQueue[NamedTarget] = SimpleQueue()
    futures: dict[str, Future[ReadTarget]] = {}
    for named in targets:
        if not named.target.source.overlays:
            futures[named.name] = Future()
            waiting.put(named)

    def work() -> None:
        while True:
            try:
                named = waiting.get_nowait()
            except Empty:
                return
            try:
                futures[named.name].set_result(_read_target(named, environment, cancel_token, announce))
            except BaseException as error:
                futures[named.name].set_exception(error)

    def read(named: NamedTarget) -> ReadTarget:
        if named.name in futures:
            return futures[named.name].result()
        return _read_target(named, environment, cancel_token, announce)

    for number in range(min(_AT_ONCE, len(futures))):
        Thread(target=work, name=f"skillgen-build-{number}", daemon=True).start()
    try:
        yield read
    finally:
        cancel_token.cancel()


def _read_target(
    named: NamedTarget,
    environment: Mapping[str, str],
    cancel_token: CancelToken,
    announce: Callable[[str], None] | None = None,
) -> ReadTarget:
    """Reads the source of a target; `announce` prints the URL for a login, and is `None` if no person can log in.

    Raises:
        SourceError: the source cannot be reached or read.
        UsageError: the target is invalid.
    """
    from skillgen.pipeline.read import with_author_texts

    with track_files_read() as files, errors_located_in_file(named.pointer):
        services, failures = _services(InterpolatedSource(named, environment), cancel_token, announce)
    keys = [key for key in ("name", "version", "description", "base_url", "extra") if getattr(named.target, key)]
    if len(services) > 1 and keys:
        raise UsageError(
            f"{', '.join(keys).replace('_', '-')}: for one service only, but the source has several",
            where=named.pointer,
            fix="add a target for each, with server: NAME",
        )
    return ReadTarget(
        services=tuple(with_author_texts(service, named.target, named.pointer) for service in services),
        failures=failures,
        files=files,
    )


def _services(
    source_values: InterpolatedSource, cancel_token: CancelToken, announce: Callable[[str], None] | None
) -> tuple[tuple[Service, ...], tuple[SkillgenError, ...]]:
    from skillgen.pipeline import read

    target, source = source_values.named.target, source_values.source
    overrides = Overrides(
        name=target.name,
        version=target.version,
        description=target.description,
        base_url=target.base_url,
        include=target.include,
        exclude=target.exclude,
    )
    if target.extra:
        extra = [source_values.path_or_url(item) for item in target.extra]
        with source_values.secrets.redact_errors():
            overrides = read.with_extras(overrides, extra, timeout_s=source.timeout)
    if source.snapshot is not None:
        path = str(source_values.named.path(source.snapshot))
        return read.read_snapshot(path, overrides, timeout_s=source.timeout), ()
    if source.manifest is not None:
        service = read.read_manifest(
            source_values.path_or_url(source.manifest),
            overrides,
            server_name=source.server_name,
            timeout_s=source.timeout,
            secrets=source_values.secrets,
        )
        return (service,), ()
    if source.openapi is not None:
        description = source_values.path_or_url(source.openapi)
        return (read.read_description(description, overrides, source_values.description_options()),), ()
    if source.openapi_command:
        return (description_from_command(source_values, overrides, cancel_token),), ()
    if source.config is not None:
        return _configured(source_values, source.config, overrides, cancel_token, source_values.login(announce))
    return (_crawled(source_values, overrides, cancel_token, source_values.login(announce)),), ()


def _configured(
    source_values: InterpolatedSource, file: str, overrides: Overrides, cancel_token: CancelToken, login: Login
) -> tuple[tuple[Service, ...], tuple[SkillgenError, ...]]:
    from skillgen.pipeline.read import read_servers, servers_in_file
    from skillgen.sources.mcp.target import CrawlScope

    servers = servers_in_file(
        source_values.named.path(file),
        source_values.source.server,
        given=source_values.env(),
        environment=source_values.project_environment(),
        login=login,
        scope=CrawlScope.from_options(source_values.source),
        timeout_s=source_values.source.timeout,
    )
    read = read_servers(servers, overrides, lambda message: None, cancel_token)
    failures = tuple(item.outcome for item in read if isinstance(item.outcome, SkillgenError))
    return tuple(item.outcome for item in read if isinstance(item.outcome, Service)), failures


def _crawled(
    source_values: InterpolatedSource, overrides: Overrides, cancel_token: CancelToken, login: Login
) -> Service:
    from skillgen.pipeline import read
    from skillgen.sources.mcp.target import CrawlScope, ServerTarget

    source = source_values.source
    url = source_values.interpolate(source.url, "/url") if source.url is not None else None
    if url is not None and not url.startswith(("http://", "https://")):
        raise UsageError(
            "is not an http:// or https:// URL", where=f"{source_values.where}/url", fix="write https://HOST/PATH"
        )
    target = ServerTarget(
        command=source_values.command(source.command),
        caller_env=source_values.project_environment(),
        url=url,
        env=source_values.env(),
        headers=source_values.headers(),
        cwd=source_values.cwd() if source.command else None,
        login=login,
        timeout_s=source.timeout,
        scope=CrawlScope.from_options(source),
        extra_secrets=source_values.secrets,  # complete only after all values above were read
    )
    return read.read_server(
        target,
        overrides,
        server_name=source.server_name,
        progress=lambda message: None,
        cancel_token=cancel_token,
    )
