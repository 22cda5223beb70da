"""The targets of a project: what each reads, and whether there is anything to do for it."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from skillgen import __version__
from skillgen.config.project import Target
from skillgen.config.variables import filled_in
from skillgen.errors import SkillgenError, SourceError, UsageError
from skillgen.model.service import Service
from skillgen.pipeline.options import DescriptionOptions, OutputOptions, Overrides
from skillgen.pipeline.programs import resolved
from skillgen.write.plan import is_as_written
from skillgen.write.record import RECORD_NAME, Record, read_record

_OTHER_FILES = re.compile(rb"""\$ref["']?\s*:\s*["']?([^#"'\s,}][^#"'\s,}]*)""")
"""The other documents to which a description refers, whose changes its own bytes don't show."""


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
class ReadTarget:
    """What came of reading a target."""

    services: tuple[Service, ...]
    """Its services, with the author's words."""

    failures: tuple[SkillgenError, ...] = ()
    """Why others of it could not be read."""

    inputs: str | None = None
    """The digest of all that the documents are made from, where it is known without reading the source."""


def up_to_date(named: NamedTarget) -> tuple[Record, ...]:
    """Gives the records of a target whose inputs are those of its last run, and whose documents are as written.

    Empty where there may be something to do.
    """
    inputs = inputs_of(named)
    if inputs is None:
        return ()
    out = named.options.out
    found = _as_written([out], inputs) or (_as_written(_folders_in(out), inputs) if _is_whole_site(out) else ())
    if found and named.options.install is not None:
        installed = _as_written(_folders_in(named.options.install), inputs)
        return found if len(installed) == len(found) else ()
    return found


def _is_whole_site(out: Path) -> bool:
    """Tells whether what stands above the documents of several services is as written, where something does."""
    try:
        return not (out / RECORD_NAME).exists() or is_as_written(out, read_record(out))
    except SkillgenError:
        return False


def _folders_in(out: Path) -> list[Path]:
    return sorted(path.parent for path in out.glob(f"*/{RECORD_NAME}"))


def _as_written(folders: Sequence[Path], inputs: str) -> tuple[Record, ...]:
    """Gives the records of all services of a source; empty where one is missing or not as written."""
    try:
        found = [(folder, read_record(folder)) for folder in folders]
        found = [(folder, record) for folder, record in found if str(record.inputs).startswith(f"{inputs}/")]
        is_whole = all(record.inputs == f"{inputs}/{len(found)}" for _, record in found)
        if not is_whole or not all(is_as_written(folder, record) for folder, record in found):
            return ()
    except SkillgenError:
        return ()
    return tuple(record for _, record in found)


def inputs_of(named: NamedTarget) -> str | None:
    """Gives the digest of a target's source, words, templates and of this version, where all of it is in files."""
    source = named.target.source
    name = source.snapshot or source.openapi or source.manifest
    if any(item.startswith(("http://", "https://")) for item in source.overlays):
        return None
    if name is None or name == "-" or name.startswith(("http://", "https://")):
        return None
    try:
        content = named.path(name).read_bytes()
        overlays = [hashlib.sha256(named.path(item).read_bytes()).hexdigest() for item in source.overlays]
        templates = _folder_digest(named.options.templates) if named.options.templates else ""
        others = _referenced(named.path(source.openapi), content) if source.openapi else ()
    except OSError:
        return None
    if others is None:
        return None
    digest = hashlib.sha256(content)
    options = named.options
    words = (
        __version__,
        asdict(named.target),
        overlays,
        templates,
        others,
        options.formats,
        options.profile,
        options.strict,
    )
    digest.update(json.dumps(words, sort_keys=True, default=str).encode("utf-8", "replace"))
    return "sha256:" + digest.hexdigest()


def _referenced(path: Path, content: bytes) -> tuple[tuple[str, str], ...] | None:
    """Gives the files to which a description refers, and those to which they do, with their digests.

    None where one of them can't be told so: an address, or a name that is written in another way.
    """
    found: dict[Path, str] = {path.resolve(): ""}
    waiting = [(path, content)]
    while waiting:
        at, text = waiting.pop()
        for name in dict.fromkeys(_OTHER_FILES.findall(text)):
            try:
                other = (at.parent / name.decode("utf-8")).resolve()
                if other not in found:
                    inner = other.read_bytes()
                    found[other] = hashlib.sha256(inner).hexdigest()
                    waiting.append((other, inner))
            except (OSError, ValueError):
                return None
    folder = path.resolve().parent
    try:
        return tuple(sorted((os.path.relpath(other, folder), digest) for other, digest in found.items() if digest))
    except ValueError:  # on another drive
        return None


def _folder_digest(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            digest.update(f"{path.relative_to(folder).as_posix()}\0".encode("utf-8", "replace"))
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def read_target(named: NamedTarget, environment: Mapping[str, str]) -> ReadTarget:
    """Reads the source of a target.

    Raises:
        SourceError: it cannot be reached or read.
        UsageError: the target makes no sense.
    """
    from skillgen.pipeline.authoring import authored

    inputs = inputs_of(named)
    services, failures = _services(named, environment)
    if len(services) > 1 and (named.target.name or named.target.description):
        raise UsageError(
            "name and description are of one service, and the source has several",
            where=named.pointer,
            fix="make a target for each, with server: NAME",
        )
    found = tuple(authored(service, named.target, named.pointer) for service in services)
    return ReadTarget(
        services=found,
        failures=failures,
        inputs=f"{inputs}/{len(found)}" if inputs is not None and not failures else None,
    )


def _services(
    named: NamedTarget, environment: Mapping[str, str]
) -> tuple[tuple[Service, ...], tuple[SkillgenError, ...]]:
    from skillgen.pipeline import reading

    target, source = named.target, named.target.source
    overrides = Overrides(
        name=target.name,
        description=target.description,
        base_url=target.base_url,
        include=target.include,
        exclude=target.exclude,
    )
    if source.snapshot is not None:
        path = str(named.path(source.snapshot))
        return reading.read_snapshot(path, overrides, timeout_s=source.timeout), ()
    if source.manifest is not None:
        place = _place(source.manifest, named, environment)
        timeout_s = source.timeout
        return (reading.read_manifest(place, overrides, server_name=source.server_name, timeout_s=timeout_s),), ()
    if source.openapi is not None:
        place = _place(source.openapi, named, environment)
        return (reading.read_description(place, overrides, _description_options(named, environment)),), ()
    if source.openapi_command:
        return (_printed_description(named, overrides, environment),), ()
    if source.config is not None:
        return _configured(named, overrides, environment)
    return (_crawled(named, overrides, environment),), ()


def _place(text: str, named: NamedTarget, environment: Mapping[str, str]) -> str:
    """Gives a file or a URL of a target."""
    name = filled_in(text, environment, f"{named.pointer}/source")
    return name if name.startswith(("http://", "https://")) else str(named.path(name))


def _description_options(named: NamedTarget, environment: Mapping[str, str]) -> DescriptionOptions:
    source = named.target.source
    return DescriptionOptions(
        timeout_s=source.timeout,
        headers=_headers(named, environment),
        overlays=tuple(_place(item, named, environment) for item in source.overlays),
    )


def _headers(named: NamedTarget, environment: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (name, filled_in(value, environment, f"{named.pointer}/source/headers/{name}"))
        for name, value in named.target.source.headers.items()
    )


def _printed_description(named: NamedTarget, overrides: Overrides, environment: Mapping[str, str]) -> Service:
    from skillgen.pipeline import reading

    source = named.target.source
    command = _words(source.openapi_command, named, environment)
    where = f"{named.pointer}/source/openapi-command"
    try:
        finished = subprocess.run(
            command,
            cwd=_folder(named),
            env={**environment, **_env(named, environment)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=source.timeout,
            check=False,
        )
    except FileNotFoundError:
        raise SourceError(
            f"no such command: {command[0]}", where=where, fix="install it, or correct the name"
        ) from None
    except OSError as error:
        raise SourceError(f"{command[0]} cannot be started: {error.strerror}", where=where) from None
    except subprocess.TimeoutExpired:
        raise SourceError(
            f"{command[0]} did not end within {source.timeout:g} s", where=where, fix="give it more with timeout:"
        ) from None
    if finished.returncode != 0:
        said = finished.stderr.decode("utf-8", "replace").strip().splitlines()
        last = f": {said[-1][:200]}" if said else ""
        raise SourceError(f"{command[0]} ended with {finished.returncode}{last}", where=where, fix="run it by hand")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "openapi")
        path.write_bytes(finished.stdout)
        try:
            return reading.read_description(str(path), overrides, _description_options(named, environment))
        except SourceError as error:
            raise SourceError(f"what {command[0]} prints {error.what}", where=where, fix=error.fix) from None


def _configured(
    named: NamedTarget, overrides: Overrides, environment: Mapping[str, str]
) -> tuple[tuple[Service, ...], tuple[SkillgenError, ...]]:
    from skillgen.pipeline.several import read_servers, servers_in_file
    from skillgen.sources.mcp.target import CrawlScope, Login

    source = named.target.source
    servers = servers_in_file(
        named.path(source.config or ""),
        source.server,
        given=_env(named, environment),
        environment=environment,
        login=Login(),
        scope=CrawlScope(),
        timeout_s=source.timeout,
    )
    read = read_servers(servers, overrides, lambda message: None)
    failures = tuple(item.outcome for item in read if isinstance(item.outcome, SkillgenError))
    return tuple(item.outcome for item in read if isinstance(item.outcome, Service)), failures


def _crawled(named: NamedTarget, overrides: Overrides, environment: Mapping[str, str]) -> Service:
    from skillgen.pipeline import reading
    from skillgen.sources.mcp.target import ServerTarget

    source = named.target.source
    where = f"{named.pointer}/source"
    url = filled_in(source.url, environment, f"{where}/url") if source.url is not None else None
    if url is not None and not url.startswith(("http://", "https://")):
        raise UsageError("is no http:// or https:// address", where=f"{where}/url", fix="give https://HOST/PATH")
    target = ServerTarget(
        command=_words(source.command, named, environment),
        url=url,
        env=_env(named, environment),
        headers=_headers(named, environment),
        cwd=_folder(named) if source.command else None,
        timeout_s=source.timeout,
    )
    return reading.read_server(target, overrides, server_name=source.server_name, progress=lambda message: None)


def _words(command: tuple[str, ...], named: NamedTarget, environment: Mapping[str, str]) -> tuple[str, ...]:
    words = tuple(filled_in(word, environment, f"{named.pointer}/source") for word in command)
    return resolved(words, environment)


def _env(named: NamedTarget, environment: Mapping[str, str]) -> dict[str, str]:
    return {
        name: filled_in(value, environment, f"{named.pointer}/source/env/{name}")
        for name, value in named.target.source.env.items()
    }


def _folder(named: NamedTarget) -> Path:
    folder = named.path(named.target.source.cwd or ".")
    if not folder.is_dir():
        raise UsageError("no such folder", where=f"{named.pointer}/source/cwd", fix="give one that is there")
    return folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What the command line says of every target; it wins over the file, and its paths are relative to where one is."""

    out: Path | None = None
    """`--out`."""

    emit: str | None = None
    """`--emit`."""

    templates: Path | None = None
    """`--templates`."""

    profile: str | None = None
    """`--profile`."""

    install: str | None = None
    """`--install`."""

    user: bool = False
    """`--user`."""

    timeout_s: float | None = None
    """`--timeout`."""


def named_targets(
    targets: Mapping[str, Target], file: Path, only: str | None, options: OutputOptions, given: Given
) -> tuple[NamedTarget, ...]:
    """Gives the targets with where their documents go.

    Raises:
        UsageError: there is no target of that name, or two would write to the same folder.
    """
    from skillgen.pipeline.documenting import formats_named
    from skillgen.pipeline.installing import install_folder, profile_named

    if only is not None and only not in targets:
        raise UsageError(f"no such target: {only}", where="--target", fix=f"choose from {', '.join(targets)}")
    found = []
    folders: dict[str, str] = {}
    for name, target in targets.items():
        default = given.out or file.parent / "agent-docs"
        out = default if len(targets) == 1 else default / name
        if target.out and given.out is None:
            out = file.parent / target.out
        place = os.path.normpath(out)
        _refuse_shared_folder(name, place, folders, file)
        folders[place] = name
        emit = formats_named(given.emit) if given.emit is not None else options.formats
        profile = profile_named(given.profile) if given.profile is not None else options.profile
        try:
            if target.emit and given.emit is None:
                emit = formats_named(",".join(target.emit))
            if target.profile is not None and given.profile is None:
                profile = profile_named(target.profile)
            install = install_folder(target.install_to, user=False, formats=emit) if given.install is None else None
        except UsageError as error:
            key = (error.where or "").lstrip("-").replace("install", "install-to")
            raise UsageError(error.what, where=f"{file.name}#/targets/{name}/{key}", fix=error.fix) from None
        if install is not None:
            install = file.parent / install
        elif given.install is not None or given.user:
            install = install_folder(given.install, user=given.user, formats=emit)
        templates = file.parent / target.templates if target.templates else None
        if given.timeout_s is not None:
            target = replace(target, source=replace(target.source, timeout=given.timeout_s))
        chosen = replace(
            options,
            out=Path(place),
            formats=emit,
            profile=profile,
            install=install,
            templates=given.templates or templates,
            allow_empty=options.allow_empty or target.allow_empty,
            strict=options.strict or target.strict,
        )
        found.append(NamedTarget(name=name, target=target, file=file, options=chosen))
    return tuple(item for item in found if only is None or item.name == only)


def _refuse_shared_folder(name: str, place: str, folders: Mapping[str, str], file: Path) -> None:
    """Refuses a folder that is another target's, or that lies in it or around it."""
    for other, owner in folders.items():
        if place == other or place.startswith(other + os.sep) or other.startswith(place + os.sep):
            raise UsageError(
                f"the targets {owner} and {name} write to the same folder",
                where=file.as_posix(),
                fix="give each an out: of its own",
            )
