"""Targets of skillgen.yaml: resolve, up to date?, read.

What each target of a project is asked for: by its file, and by the command line, which wins.

Which programs the commands of a project's file mean: those of the project's environment, never skillgen's own.

What a target says of its source, with paths from its folder and values from the environment.

Decides whether a target is up to date: its files are those that its last run read, its documents those it left.

What a run read and wrote is remembered in the user's cache folder. The project's own record would not do: it could be
forged, it would change with line ends, and branches would conflict in it. `--check` never asks here, but renders.

The description that a command of a target prints (`openapi-command`).

Reads the source of a target into services, with the words of its author.
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
from typing import TYPE_CHECKING

from skillgen import __version__
from skillgen.config.loader import interpolate, variables_in
from skillgen.config.project import Source, Target
from skillgen.errors import SkillgenError, SourceError, UsageError
from skillgen.model.service import Service
from skillgen.pipeline.generate import (
    DEFAULT_OUT,
    DescriptionOptions,
    OutputOptions,
    Overrides,
    install_folders,
    parse_formats,
    parse_profile,
)
from skillgen.render.document import DEFAULT_FORMATS, DEFAULT_PROFILE
from skillgen.security.secrets import Secrets, secrets_from_arguments, secrets_from_environment, secrets_from_variables
from skillgen.sources.documents import FilesRead, file_digest, track_files_read
from skillgen.sources.http import read_cached, write_cached
from skillgen.sources.json_access import SOURCE_LIMIT_BYTES
from skillgen.sources.mcp.jsonrpc import ConnectionLost
from skillgen.sources.mcp.process import ProcessTree
from skillgen.sources.mcp.session import CancelToken
from skillgen.sources.mcp.target import is_tool_environment, programs_folder, without_tool_environment
from skillgen.write.files import is_below
from skillgen.write.record import RECORD_NAME, read_record

if TYPE_CHECKING:
    from skillgen.sources.mcp.target import Login


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedTarget:
    """A target and where it is declared."""

    name: str
    """Its name in the project's file."""

    target: Target
    """What it says."""

    file: Path
    """The project's file; paths in the target are relative to its folder."""

    options: OutputOptions
    """Where the documents go, and what may happen to those that are there."""

    @property
    def pointer(self) -> str:
        """Where it stands, in origins and messages."""
        return f"{self.file.name}#/targets/{self.name}"

    def path(self, text: str) -> Path:
        """Gives a path of the target."""
        return self.file.parent / text


@dataclass(frozen=True, slots=True, kw_only=True)
class CliOverrides:
    """What the command line says of every target; it wins over the file, and its paths are relative to where one is."""

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
    targets: Mapping[str, Target], file: Path, only: str | None, given: CliOverrides
) -> tuple[NamedTarget, ...]:
    """Gives the targets of a file, or the one that is meant by `only`, with where their documents go.

    Raises:
        UsageError: there is no target of that name, two would write to the same folder, or a name is unknown.
    """
    if only is not None and only not in targets:
        raise UsageError(f"no such target: {only}", where="--target", fix=f"choose from {', '.join(targets)}")
    found = []
    folders: dict[str, str] = {}
    for name, target in targets.items():
        out = os.path.normpath(_out_folder(name, target, file, given, is_alone=len(targets) == 1))
        _refuse_shared_folder(name, out, folders, file)
        folders[out] = name
        options = _options(target, Path(out), file, f"{file.name}#/targets/{name}", given)
        if given.timeout_s is not None:
            target = replace(target, source=replace(target.source, timeout=given.timeout_s))
        found.append(NamedTarget(name=name, target=target, file=file, options=options))
    siblings = tuple(item.options.out for item in found)
    return tuple(
        replace(item, options=replace(item.options, siblings=siblings))
        for item in found
        if only is None or item.name == only
    )


def _out_folder(name: str, target: Target, file: Path, given: CliOverrides, *, is_alone: bool) -> Path:
    if target.out and given.out is None:
        return file.parent / target.out
    default = given.out or file.parent / DEFAULT_OUT
    return default if is_alone else default / name


def _options(target: Target, out: Path, file: Path, pointer: str, given: CliOverrides) -> OutputOptions:
    """Gives what a target asks for, and in its place what the command line does."""
    folder = file.parent
    formats = parse_formats(given.emit) if given.emit is not None else DEFAULT_FORMATS
    profile = parse_profile(given.profile) if given.profile is not None else DEFAULT_PROFILE
    with errors_located_in_file(pointer):
        if target.emit and given.emit is None:
            formats = parse_formats(",".join(target.emit))
        if target.profile is not None and given.profile is None:
            profile = parse_profile(target.profile)
        if given.out is None:
            _refuse_outside(out, folder, "--out")
        templates = given.templates
        if templates is None and target.templates is not None:
            templates = folder / target.templates
            _refuse_outside(templates, folder, "--templates")
        hosts = () if given.install else target.install_to
        is_users = bool(hosts) and given.user
        install = install_folders(hosts, user=is_users, formats=formats, project=folder)
    if not install:
        install = install_folders(given.install, user=given.user, formats=formats)
    return OutputOptions(
        out=out,
        within=folder if given.out is None else None,
        owner=file,
        formats=formats,
        templates=templates,
        profile=profile,
        install=install,
        check=given.check,
        allow_empty=given.allow_empty or target.allow_empty,
        force=given.force,
        prune=given.prune or target.prune,
        strict=given.strict or target.strict,
    )


def _refuse_outside(place: Path, folder: Path, option: str) -> None:
    """Refuses a folder that a project's file names and that is outside the project, also through a symbolic link."""
    if not is_below(place, folder):
        raise UsageError(
            f"{place.as_posix()} is outside the folder of the project's file",
            where=option,
            fix=f"name a folder below it, or give {option} on the command line",
        )


@contextmanager
def errors_located_in_file(pointer: str) -> Iterator[None]:
    """Replaces the option that an error names by the key of the target at `pointer` that sets it."""
    try:
        yield
    except UsageError as error:
        if error.where is not None and error.where.startswith("--"):
            error.where = f"{pointer}/{error.where[2:].replace('install', 'install-to')}"
        raise


def _refuse_shared_folder(name: str, place: str, folders: Mapping[str, str], file: Path) -> None:
    """Refuses a folder that is another target's, or that lies in it or around it."""
    for other, owner in folders.items():
        if place == other or place.startswith(other + os.sep) or other.startswith(place + os.sep):
            raise UsageError(
                f"the targets {owner} and {name} write to the same folder",
                where=file.as_posix(),
                fix="give each an out: of its own",
            )


_ENVIRONMENT_FOLDERS = (".venv", "venv")


def project_environment(caller: Mapping[str, str], folder: Path, project: Path) -> dict[str, str]:
    """Returns the variables for a command of a project that runs in `folder`.

    An active environment stays. Where there is none, as in a commit from an editor, the project's own is activated:
    the nearest from `folder` up to the repository's top.
    """
    found = without_tool_environment(caller)
    active = found.get("VIRTUAL_ENV")
    if not active or not _is_environment(Path(active)):
        active = None if _is_active(found) else next(_environments(folder.resolve(), project.resolve()), None)
    if active is None:
        return found
    programs = str(programs_folder(Path(active)))
    entries = found.get("PATH", os.defpath).split(os.pathsep)
    if programs not in entries:
        found["PATH"] = os.pathsep.join((programs, *entries))
    return found | {"VIRTUAL_ENV": active}


def with_resolved_program(words: tuple[str, ...], environment: Mapping[str, str]) -> tuple[str, ...]:
    """Returns a command with its program as this system has it.

    Many systems have `python3` only. What is not on PATH at all is taken from skillgen's environment, unless that was
    created for skillgen alone: there a project's server finds other packages than its own.
    """
    if not words or Path(words[0]).name != words[0]:
        return words
    path = environment.get("PATH")
    if shutil.which(words[0], path=path):
        return words
    if words[0] == "python" and shutil.which("python3", path=path):
        return ("python3", *words[1:])
    own = None if is_tool_environment() else shutil.which(words[0], path=str(Path(sys.executable).parent))
    return (own or words[0], *words[1:])


def _is_active(environment: Mapping[str, str]) -> bool:
    """True if the first Python on PATH is that of an environment, which conda's base is not."""
    path = environment.get("PATH")
    python = shutil.which("python", path=path) or shutil.which("python3", path=path)
    if python is None:
        return False
    # On Windows, conda's python.exe is in the environment's top folder.
    roots = (Path(python).parent, Path(python).parent.parent)
    is_conda = any((root / "conda-meta").is_dir() and not (root / "condabin").is_dir() for root in roots)
    return is_conda or any(map(_is_environment, roots))


def _environments(folder: Path, project: Path) -> Iterator[str]:
    top = next((place for place in (project, *project.parents) if (place / ".git").exists()), project)
    if sys.prefix != sys.base_prefix and not is_tool_environment() and Path(sys.prefix).is_relative_to(top):
        yield sys.prefix
    for place in (folder, *folder.parents):
        yield from (str(place / name) for name in _ENVIRONMENT_FOLDERS if _is_environment(place / name))
        if place == top or not place.is_relative_to(top):
            return


def _is_environment(folder: Path) -> bool:
    return (folder / "pyvenv.cfg").is_file()


class InterpolatedSource:
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
        filled = interpolate(text, self.environment, self.where + key)
        self.secrets |= secrets_from_variables({name: self.environment[name] for name in variables_in(text)})
        return filled

    def place(self, text: str) -> str:
        """Gives a file, as a path from the current folder, or a URL."""
        name = self.text(text)
        return name if name.startswith(("http://", "https://")) else str(self.named.path(name))

    def words(self, command: tuple[str, ...]) -> tuple[str, ...]:
        """Returns a command with its program as this system has it."""
        return with_resolved_program(tuple(map(self.text, command)), self.project_environment())

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
            is_requested=source.login,
            announce=announce if source.login else None,
            client_id=self.text(source.client_id, "/client-id") if source.client_id else None,
            client_secret=self.text(source.client_secret, "/client-secret") if source.client_secret else None,
            issuer=self.text(source.issuer, "/issuer") if source.issuer else None,
        )


_KIND = "built"


def up_to_date_folders(named: NamedTarget) -> dict[Path, bool]:
    """Returns the folders of a target as `remember` took them if nothing is to do for it; else nothing."""
    if named.options.check or named.options.force:
        return {}
    with suppress(OSError, ValueError, LookupError, TypeError, SkillgenError):
        last = json.loads(read_cached(_KIND, _key(named)) or b"null")
        if (
            last["options"] == _options_digest(named)
            and _are_unchanged(last["files"])
            and all(_folder_digest(Path(folder)) == digest for folder, _, digest in last["folders"])
        ):
            return {Path(folder): is_service for folder, is_service, _ in last["folders"]}
    return {}


def remember(named: NamedTarget, files: FilesRead, folders: Mapping[Path, bool]) -> None:
    """Remembers a run of a target that succeeded, if its source is nothing but files.

    `folders` are those that it wrote, and whether each holds the documents of a service.
    """
    source = named.target.source
    is_in_files = source.openapi or source.snapshot or source.manifest
    if not is_in_files or not files.is_complete or "${" in repr(named.target):
        return
    with suppress(OSError, SkillgenError):
        last = {
            "options": _options_digest(named),
            "files": files.digests,
            "folders": [(str(folder), is_service, _folder_digest(folder)) for folder, is_service in folders.items()],
        }
        write_cached(_KIND, _key(named), json.dumps(last).encode("utf-8", "surrogatepass"))


def _key(named: NamedTarget) -> str:
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
    """Returns the digest of every file in a folder of templates: also a new one may be the first to be read.

    Raises:
        OSError: a symbolic link is among them, behind which files may change.
    """
    found: dict[str, str] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            raise OSError("a symbolic link")
        if path.is_file():
            found[path.relative_to(folder).as_posix()] = _digest(path)
    return found


def _digest(path: Path) -> str:
    """Returns the digest of a file.

    Raises:
        OSError: it is not a file (a pipe would be waited for, and a device read without end), or too large.
    """
    if not path.is_file() or path.stat().st_size > SOURCE_LIMIT_BYTES:
        raise OSError("no file that is read")
    return file_digest(path.read_bytes())


_CHUNK_BYTES = 64 * 1024


def description_from_command(filled: InterpolatedSource, overrides: Overrides, cancel_token: CancelToken) -> Service:
    """Runs the command and reads what it prints; the command ends with all that it started, as a server does.

    Raises:
        SourceError: the command fails, takes longer than the target's timeout, or prints no description.
        UsageError: its folder is not there, or a variable has no value.
    """
    from skillgen.pipeline import read

    command = filled.words(filled.source.openapi_command)
    where = f"{filled.where}/openapi-command"
    options = filled.description_options()
    extra_secrets = secrets_from_environment(filled.env(), filled.environment) | secrets_from_arguments(command[1:])
    options = replace(options, secrets=options.secrets | extra_secrets)
    with tempfile.TemporaryDirectory() as folder, options.secrets.redact_errors():
        path = Path(folder, "openapi")
        path.write_bytes(_command_output(command, filled, options.secrets, where, cancel_token))
        try:
            return read.read_description(str(path), overrides, options)
        except SourceError as error:
            raise SourceError(f"what {command[0]} prints {error.what}", where=where, fix=error.fix) from None


def _command_output(
    command: tuple[str, ...], filled: InterpolatedSource, secrets: Secrets, where: str, cancel_token: CancelToken
) -> bytes:
    program, timeout_s = command[0], filled.source.timeout
    try:
        family = ProcessTree(
            command,
            environment={**filled.project_environment(), **filled.env()},
            cwd=filled.folder(),
            stdin=subprocess.DEVNULL,
            kill_on_leader_exit=True,
        )
    except FileNotFoundError:
        raise SourceError(f"no such command: {program}", where=where, fix="install it, or correct the name") from None
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


class _CommandOutput:
    """Reads what a command prints, so that it never waits for a reader; kills one that prints too much."""

    def __init__(self, family: ProcessTree) -> None:
        self._family = family
        self._process = family.process
        self._stdout = bytearray()
        self._errors = bytearray()
        self._threads = [Thread(target=run, daemon=True) for run in (self._read_printed, self._read_errors)]
        for thread in self._threads:
            thread.start()

    def read(self) -> tuple[bytes, bytes]:
        """Returns what was printed, one byte over the limit at most, and the end of standard error."""
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


_AT_ONCE = 8
"""Sources that are read at the same time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadTarget:
    """What came of reading a target."""

    services: tuple[Service, ...]
    """Its services, with the author's words."""

    files: FilesRead
    """The files that it was read from."""

    failures: tuple[SkillgenError, ...] = ()
    """Why others of it could not be read."""


@contextmanager
def read_concurrently(
    targets: Sequence[NamedTarget], environment: Mapping[str, str], announce: Callable[[str], None] | None
) -> Iterator[Callable[[NamedTarget], ReadTarget]]:
    """Reads targets at the same time; yields what waits for one of them and returns or raises what `read_target` does.

    A target with overlays is read when it is asked for, in the main thread: only there a slow expression can be
    stopped. The other threads are daemons, so that an interrupted run waits for none of them.
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
                futures[named.name].set_result(read_target(named, environment, cancel_token, announce))
            except BaseException as error:
                futures[named.name].set_exception(error)

    def read(named: NamedTarget) -> ReadTarget:
        if named.name in futures:
            return futures[named.name].result()
        return read_target(named, environment, cancel_token, announce)

    for number in range(min(_AT_ONCE, len(futures))):
        Thread(target=work, name=f"skillgen-build-{number}", daemon=True).start()
    try:
        yield read
    finally:
        cancel_token.cancel()


def read_target(
    named: NamedTarget,
    environment: Mapping[str, str],
    cancel_token: CancelToken,
    announce: Callable[[str], None] | None = None,
) -> ReadTarget:
    """Reads the source of a target; `announce` shows a person where to log in, and is None where there is nobody.

    Raises:
        SourceError: it cannot be reached or read.
        UsageError: the target makes no sense.
    """
    from skillgen.pipeline.read import with_author_texts

    with track_files_read() as files, errors_located_in_file(named.pointer):
        services, failures = _services(InterpolatedSource(named, environment), cancel_token, announce)
    one = [key for key in ("name", "version", "description", "base_url", "extra") if getattr(named.target, key)]
    if len(services) > 1 and one:
        raise UsageError(
            f"of one service, and the source has several: {', '.join(one).replace('_', '-')}",
            where=named.pointer,
            fix="make a target for each, with server: NAME",
        )
    found = tuple(with_author_texts(service, named.target, named.pointer) for service in services)
    return ReadTarget(services=found, failures=failures, files=files)


def _services(
    filled: InterpolatedSource, cancel_token: CancelToken, announce: Callable[[str], None] | None
) -> tuple[tuple[Service, ...], tuple[SkillgenError, ...]]:
    from skillgen.pipeline import read

    target, source = filled.named.target, filled.source
    overrides = Overrides(
        name=target.name,
        version=target.version,
        description=target.description,
        base_url=target.base_url,
        include=target.include,
        exclude=target.exclude,
    )
    if target.extra:
        extra = [filled.place(item) for item in target.extra]
        with filled.secrets.redact_errors():
            overrides = read.with_extras(overrides, extra, timeout_s=source.timeout)
    if source.snapshot is not None:
        path = str(filled.named.path(source.snapshot))
        return read.read_snapshot(path, overrides, timeout_s=source.timeout), ()
    if source.manifest is not None:
        found = read.read_manifest(
            filled.place(source.manifest),
            overrides,
            server_name=source.server_name,
            timeout_s=source.timeout,
            secrets=filled.secrets,
        )
        return (found,), ()
    if source.openapi is not None:
        place = filled.place(source.openapi)
        return (read.read_description(place, overrides, filled.description_options()),), ()
    if source.openapi_command:
        return (description_from_command(filled, overrides, cancel_token),), ()
    if source.config is not None:
        return _configured(filled, source.config, overrides, cancel_token, filled.login(announce))
    return (_crawled(filled, overrides, cancel_token, filled.login(announce)),), ()


def _configured(
    filled: InterpolatedSource, file: str, overrides: Overrides, cancel_token: CancelToken, login: Login
) -> tuple[tuple[Service, ...], tuple[SkillgenError, ...]]:
    from skillgen.pipeline.read import read_servers, servers_in_file
    from skillgen.sources.mcp.target import CrawlScope

    servers = servers_in_file(
        filled.named.path(file),
        filled.source.server,
        given=filled.env(),
        environment=filled.project_environment(),
        login=login,
        scope=CrawlScope.from_options(filled.source),
        timeout_s=filled.source.timeout,
    )
    read = read_servers(servers, overrides, lambda message: None, cancel_token)
    failures = tuple(item.outcome for item in read if isinstance(item.outcome, SkillgenError))
    return tuple(item.outcome for item in read if isinstance(item.outcome, Service)), failures


def _crawled(filled: InterpolatedSource, overrides: Overrides, cancel_token: CancelToken, login: Login) -> Service:
    from skillgen.pipeline import read
    from skillgen.sources.mcp.target import CrawlScope, ServerTarget

    source = filled.source
    url = filled.text(source.url, "/url") if source.url is not None else None
    if url is not None and not url.startswith(("http://", "https://")):
        raise UsageError("is not an http:// or https:// URL", where=f"{filled.where}/url", fix="give https://HOST/PATH")
    target = ServerTarget(
        command=filled.words(source.command),
        caller_env=filled.project_environment(),
        url=url,
        env=filled.env(),
        headers=filled.headers(),
        cwd=filled.folder() if source.command else None,
        login=login,
        timeout_s=source.timeout,
        scope=CrawlScope.from_options(source),
        extra_secrets=filled.secrets,  # at last, when everything is filled in
    )
    return read.read_server(
        target,
        overrides,
        server_name=source.server_name,
        progress=lambda message: None,
        cancel_token=cancel_token,
    )
