"""Targets of skillgen.yaml: combines their options with those of a run, and builds those that are not up to date.

A target is up to date if the files that its last run read, and the documents that it wrote, are unchanged. What a run
read and wrote is remembered in the user's cache folder, not in the project: a file there could be forged, would change
with line endings, and would conflict between branches. `--check` ignores it and always renders.

Commands of a target run in the project's environment, never in skillgen's own.

The readers are imported only to read a source: a build with nothing to do is a hook of every commit.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct, structs
from msgspec import json as msgspec_json

from skillgen import __version__
from skillgen.config.convert import in_keys, key_in_target
from skillgen.config.loader import interpolate, variables_in
from skillgen.config.option import options_in
from skillgen.config.project import DEFAULT_OUT, Source, Target
from skillgen.errors import ExitCode, SkillgenError, UsageError, failure_of
from skillgen.model.document import TEXTS_NAME
from skillgen.pipeline.generate import write_services
from skillgen.pipeline.ownership import folders_with_records, leftovers
from skillgen.pipeline.packages import project_environment, skill_folders, with_resolved_program
from skillgen.pipeline.rendering import checked_output, templates_digests
from skillgen.pipeline.results import Failure, Notify, Outcome, Place, Reading, Request, Result, at_once
from skillgen.security.secrets import Secrets, secrets_from_environment
from skillgen.sources.documents import FilesRead, FileState, file_state, is_url, marks_of, track_files_read
from skillgen.sources.http import read_cached, write_cached
from skillgen.sources.json_access import SOURCE_LIMIT_BYTES
from skillgen.sources.mcp.session import CancelToken
from skillgen.write.files import is_below
from skillgen.write.plan import Change, Plan
from skillgen.write.record import RECORD_NAME, read_record


class NamedTarget(Struct, frozen=True, kw_only=True):
    """A target with its name and its file."""

    name: str
    """Its key in the project file."""

    target: Target
    """Its options, combined with those of the run."""

    file: Path
    """The project file; paths in the target are relative to its folder."""

    place: Place
    given: Collection[str] = ()
    """Names of the options of the run."""

    @property
    def pointer(self) -> str:
        """The place of the target for origins and messages, such as `skillgen.yaml#/targets/api`."""
        return f"{self.file.name}#/targets/{self.name}"


def resolve_targets(
    targets: Mapping[str, Target], file: Path, only: str | None, given: Mapping[str, Any]
) -> tuple[NamedTarget, ...]:
    """Returns the targets of a file, or only the one named `only`.

    `given` holds options of the run, which win over those of every target; their paths are relative to the current
    folder.

    Raises:
        UsageError: there is no such target, two targets share a folder, or a format, profile or host is unknown.
    """
    if only is not None and only not in targets:
        raise UsageError(f"no such target: {only}", where="--target", fix=f"choose from {', '.join(targets)}")
    top = Path(given.get("out") or file.parent / DEFAULT_OUT)
    parts = {name: name if len(targets) > 1 else "" for name in targets}
    own = {name: file.parent / (item.output.out or Path(DEFAULT_OUT, parts[name])) for name, item in targets.items()}
    outs = {name: top / parts[name] for name in targets} if "out" in given else own
    own, outs = ({name: Path(os.path.normpath(out)) for name, out in item.items()} for item in (own, outs))
    for (owner, other), (name, out) in combinations(outs.items(), 2):
        # Windows and macOS know one folder by names that differ in case only.
        one, two = (f"{folder}{os.sep}".casefold() for folder in (out, other))
        if one.startswith(two) or two.startswith(one):
            what = f"the targets {owner} and {name} write to the same folder"
            raise UsageError(what, where=file.as_posix(), fix="give each target its own out:")
    # An --out may be for one run, so nothing moves there from the folders of the file.
    more = () if "out" in given else (file.parent, *(out.parent for out in outs.values()))
    if more and ("check" in given or not all((out / RECORD_NAME).exists() for out in outs.values())):
        more = (*more, *folders_with_records(file.parent))
    near, kept = tuple(dict.fromkeys((top, *outs.values(), *more))), () if outs == own else tuple(own.values())
    place = Place(out=top, near=near, siblings=outs, kept=kept, owner=file, top=file)
    sources = [getattr(target.source, target.source.kind) for target in targets.values()]
    places = [structs.replace(place, is_shared=sources.count(source) > 1) for source in sources]
    triples = ((name, target, at) for (name, target), at in zip(targets.items(), places, strict=True))
    return tuple(_resolved(name, target, file, given, at) for name, target, at in triples if only in (None, name))


def _resolved(name: str, target: Target, file: Path, given: Mapping[str, Any], place: Place) -> NamedTarget:
    """Returns a target with the options of the run, and the place of its documents; `place` is that of all targets."""
    folder, is_named = file.parent, "out" in given
    of_source = {item.name: given[item.name] for item in options_in(Source) if item.name in given}
    of_output = {key: value for key, value in given.items() if key not in of_source}
    if "publish" in given:  # an option replaces one key
        changes = {key: value for key, value in structs.asdict(given["publish"]).items() if value}
        of_output["publish"] = structs.replace(target.output.publish, **changes)
    with errors_located_in_file(f"{file.name}#/targets/{name}", given):
        output = checked_output(structs.replace(target.output, **of_output))
        if not is_named:
            _refuse_outside(place.siblings[name], folder, "--out")
        if output.templates is not None and "templates" not in given:
            _refuse_outside(folder / output.templates, folder, "--templates")
            output = structs.replace(output, templates=str(folder / output.templates))
        install = skill_folders(output, Path() if "install_to" in given else folder)
        within = None if is_named else folder
        place = structs.replace(place, out=place.siblings[name], within=within, target=name, install=install)
    target = structs.replace(target, source=structs.replace(target.source, **of_source), output=output)
    return NamedTarget(name=name, target=target, file=file, place=place, given=tuple(given))


def _refuse_outside(path: Path, folder: Path, option: str) -> None:
    """Refuses a folder outside the project, also one behind a symbolic link: a cloned project must not name it."""
    if not is_below(path, folder):
        what = f"{path.as_posix()} is outside the folder of the project file"
        if link := next((item for item in (path, *path.parents) if item.is_symlink()), None):
            what += f": {link.as_posix()} is a symbolic link"
        raise UsageError(what, where=option, fix=f"name a folder below it, or run skillgen build {option} DIR")


@contextmanager
def errors_located_in_file(pointer: str, given: Collection[str] = ()) -> Iterator[None]:
    """Replaces the options that an error names by the keys of the target at `pointer`, unless the run sets them."""
    try:
        yield
    except SkillgenError as error:
        flag = (error.where or "").split(" ")[0].rstrip(",")
        if flag.startswith("--"):
            key = key_in_target(flag)
            if key.rpartition("/")[2].replace("-", "_") not in given:
                error.where = f"{pointer}/{key}"
        error.what, error.fix = in_keys(error.what, given), in_keys(error.fix, given)
        raise


def request_of_target(
    named: NamedTarget, environment: Mapping[str, str], announce: Notify | None, cancel_token: CancelToken
) -> Request:
    """Returns the request to read a target, with its variables replaced and its paths relative to the current folder.

    The options of the run are as they were given.

    Raises:
        UsageError: a variable is not set.
    """
    target, folder, where = named.target, named.file.parent, f"{named.pointer}/source"
    secrets = Secrets()

    def resolved(value: Any, place: str, *, is_path: bool = False) -> Any:
        nonlocal secrets
        if isinstance(value, tuple):
            return tuple(resolved(item, place, is_path=is_path) for item in value)
        if isinstance(value, Mapping):
            return {name: resolved(text, f"{place}/{name}") for name, text in value.items()}
        if not isinstance(value, str):
            return value
        text = interpolate(value, environment, place)
        secrets |= secrets_from_environment({name: environment[name] for name in variables_in(value)})
        return str(folder / text) if is_path and not is_url(text) else text

    values = {}
    for item in options_in(Source):
        if item.name not in named.given:
            value = getattr(target.source, item.name)
            values[item.name] = resolved(value, f"{where}/{item.key}", is_path=item.is_path)
    source = structs.replace(target.source, **values)
    extra = resolved(tuple(target.texts.extra), f"{named.pointer}/extra", is_path=True)
    kind, cwd = source.kind, Path(source.cwd or folder)
    if kind in ("command", "openapi_command", "cli", "cli_command", "config"):
        environment = project_environment(environment, cwd, folder)
    if kind in ("command", "openapi_command", "cli_command"):
        program, *rest = with_resolved_program(tuple(getattr(source, kind)), environment)
        if kind == "cli_command" and Path(program).name != program:  # it runs in a folder of its own
            program = str(cwd / program)
        source = structs.replace(source, **{kind: (program, *rest)})
    if kind in ("command", "openapi_command", "cli"):
        source = structs.replace(source, cwd=str(cwd))
    return Request(
        source=source,
        texts=structs.replace(target.texts, extra=extra),
        pointer=named.pointer,
        documents=named.place,
        environment=environment,
        secrets=secrets,
        announce=announce,
        cancel_token=cancel_token,
    )


def _up_to_date_result(named: NamedTarget) -> Result | None:
    """Returns the result of a target without reading its source if it is up to date."""
    if named.target.output.check or named.target.output.force:
        return None
    with suppress(OSError, ValueError, LookupError, TypeError, SkillgenError):
        last = json.loads(read_cached(_cache_key(named)) or b"null")
        if last["options"] == _options_digest(named) and all(
            path.is_file() and (marks_of(path.stat()) == marks or _state(path)[0] == digest)
            for path, (digest, marks) in ((Path(name), state) for name, state in last["files"].items())
        ):
            steps = []
            for folder, kind in last["folders"]:
                record = read_record(Path(folder))
                changes = tuple(Change(path=path, action="keep", old=None, new=None) for path in sorted(record.states))
                plan = Plan(out=Path(folder), changes=changes, before=record, after=record)
                steps.append(Outcome(kind=kind, plan=plan, is_check=False))
            return Result(steps=tuple(steps))
    return None


def _remember(named: NamedTarget, files: FilesRead, result: Result) -> None:
    """Stores what a successful run of a target read and wrote, if its source consists of files only."""
    from skillgen.pipeline.read import KINDS

    is_document = KINDS[named.target.source.kind].services is not None
    if not is_document or not files.is_complete or b"${" in msgspec_json.encode(named.target):
        return
    with suppress(OSError, SkillgenError):
        plans = [outcome.plan for outcome in result.outcomes]
        written = (plan.out / path for plan in plans for path in (RECORD_NAME, *plan.after.states))
        last = {
            "options": _options_digest(named),
            "files": files.states | {str(path): _state(path) for path in written},
            "folders": [(str(item.plan.out), item.kind) for item in result.outcomes],
        }
        write_cached(_cache_key(named), json.dumps(last).encode("utf-8", "surrogatepass"))


def _cache_key(named: NamedTarget) -> str:
    return f"{named.file.absolute()}#{named.name}"


def _options_digest(named: NamedTarget) -> str:
    """Returns a digest of what a target's documents depend on but for the files of its source.

    Raises:
        OSError: the folder of templates holds a symbolic link.
    """
    folder = named.target.output.templates
    if folder is not None and any(path.is_symlink() for path in Path(folder).rglob("*")):
        raise OSError("a symbolic link, behind which templates may change")
    templates = templates_digests(Path(folder)) if folder is not None else {}
    patterns = (TEXTS_NAME, f"*/{TEXTS_NAME}", "skills/**/*", "*/skills/**/*")
    own = sorted(path for pattern in patterns for path in named.place.out.glob(pattern) if path.is_file())
    target = msgspec_json.encode(named.target).decode()
    data = (__version__, target, structs.asdict(named.place), templates, [(str(path), _state(path)[0]) for path in own])
    return hashlib.sha256(json.dumps(data, sort_keys=True, default=str).encode("utf-8", "replace")).hexdigest()


def _state(path: Path) -> FileState:
    """Returns the state of a file.

    Raises:
        OSError: it is too large, or not a regular file (a pipe would block, a device may never end).
    """
    found = path.stat()
    if not path.is_file() or found.st_size > SOURCE_LIMIT_BYTES:
        raise OSError("not a regular file, or too large")
    return file_state(path.read_bytes(), found)


Status = Literal["built", "unchanged", "failed"]
"""`unchanged` if a target was up to date and its source was not read; `failed` if its source could not be read."""


def build_targets(
    targets: Sequence[NamedTarget], environment: Mapping[str, str], announce: Notify | None
) -> Iterator[tuple[str, Status, Result]]:
    """Builds targets and yields their names and results in order. A target that fails does not stop the others.

    After all targets of a project, it reports the documents of targets, servers and service names that no longer exist.
    `announce` prints the URL for a login, and is `None` if no person can log in.
    """
    joined = Result()
    up_to_date = {named.name: _up_to_date_result(named) for named in targets}
    waiting = [named for named in targets if up_to_date[named.name] is None]
    with _read_concurrently(waiting, environment, announce) as read:
        for named in targets:
            status: Status = "unchanged"
            if (result := up_to_date[named.name]) is None:
                status = "built"
                try:
                    reading, files = read(named)
                    result = write_services(reading, named.target.output, named.place)
                    if result.exit_code is ExitCode.DONE and not named.target.output.check:
                        _remember(named, files, result)
                except Exception as error:
                    status, result = "failed", Result(steps=(Failure(error=failure_of(error)),))
            joined = joined.joined(result)
            yield named.name, status, result
    if len(targets) == len(targets[0].place.siblings):
        install = [folder for named in targets for folder in named.place.install]
        yield "", "built", Result(notices=tuple(leftovers(joined, targets[0].place, install)))


def read_targets(
    targets: Sequence[NamedTarget], environment: Mapping[str, str]
) -> Iterator[tuple[NamedTarget, Reading]]:
    """Reads targets and yields what each source has, or why it could not be read, in order."""
    with _read_concurrently(targets, environment, None) as read:
        for named in targets:
            try:
                yield named, read(named)[0]
            except SkillgenError as error:
                yield named, Reading(services=(), failures=(error,))


def document_of(named: NamedTarget) -> str | None:
    """Returns the file that a target documents, relative to the current folder; `None` if it is not a local file."""
    source = named.target.source
    path = next((os.fspath(item) for item in (source.openapi, source.manifest, source.snapshot) if item), None)
    return None if path is None or is_url(path) else Path(named.file.parent, path).as_posix()


@contextmanager
def _read_concurrently(
    targets: Sequence[NamedTarget], environment: Mapping[str, str], announce: Notify | None
) -> Iterator[Callable[[NamedTarget], tuple[Reading, FilesRead]]]:
    """Reads targets at the same time; yields a function that waits for one of them, and returns the files read, too.

    A target with overlays is read in the main thread, when it is asked for: only there can a slow JSONPath expression
    be stopped.
    """
    from skillgen.pipeline.read import read_source

    cancel_token = CancelToken()

    def read_now(named: NamedTarget) -> tuple[Reading, FilesRead]:
        with track_files_read() as files, errors_located_in_file(named.pointer, named.given):
            return read_source(request_of_target(named, environment, announce, cancel_token)), files

    waiting = {named.name: named for named in targets if not named.target.source.overlays}
    futures = dict(zip(waiting, at_once(read_now, waiting.values()), strict=True))
    try:
        yield lambda named: futures[named.name].result() if named.name in futures else read_now(named)
    finally:
        cancel_token.cancel()
