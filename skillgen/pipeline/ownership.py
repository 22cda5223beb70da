"""Which source a folder of documents belongs to, the refusal to write those of another service to it, and the report
of the documents of targets, servers and names that no longer exist.

A record names the target, and the source in words that are the same for every user: the kind of the service, then the
URL, the words of the command without private paths, or the file. What does not identify a source alone, such as
standard input or a command without its paths, has the declared name of the service with it. Paths are relative to the
folder that has both OUT and the current folder, or to OUT.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import tempfile
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

from msgspec.structs import replace

from skillgen.config.option import command_words, options_in
from skillgen.config.project import HOSTS, Source
from skillgen.errors import ExitCode, Problem, ProblemLog, SkillgenError, SourceError, UsageError
from skillgen.model.service import Service
from skillgen.model.values import Json
from skillgen.pipeline.results import Place, Result
from skillgen.security.secrets import Secrets, public_url, secrets_from_arguments
from skillgen.sources.documents import RUNTIMES, Document, text_of_file
from skillgen.sources.json_access import as_dict, json_from_text, text_of
from skillgen.text import lazy_re as re
from skillgen.text.markdown import exact_json_text, first_of, json_text, one_line
from skillgen.text.words import distinct
from skillgen.write.files import is_below, replace_file
from skillgen.write.record import RECORD_NAME, Record, Run, change_diff, read_record

SITE = "services"
"""The service, and the only word of the source, in the record of documents above those of several services."""

_HERE = "./"
_RELATIVE = (_HERE, "../")
"""The beginning of a path from the folder that has both OUT and the current folder."""

_COMMANDS = {item.flag for item in options_in(Source) if item.is_command}
"""Options whose value is a command."""

_PYTHON = re.compile(r"python[\d.]*(?:\.exe)?")
_VERSION = re.compile(r"(?<=.)(?:@|==)[^@=/]*\Z")


def words_of_document(document: Document, service: Service, secrets: Secrets) -> tuple[str, ...]:
    """Returns the source of a service that a document describes."""
    if document.url is not None:
        return words_of_url(document.url, service, secrets)
    return (service.kind, service.name if document.folder is None else Path(document.name).resolve().as_posix())


def words_of_url(url: str, service: Service, secrets: Secrets) -> tuple[str, ...]:
    """Returns the source of a service at a URL."""
    return (service.kind, secrets.hide_in_url(public_url(url)), *([service.name] if "?" in url else []))


def words_of_command(
    command: Sequence[str], service: Service, folder: Path | None, secrets: Secrets, *, needs_folder: bool = True
) -> tuple[str, ...]:
    """Returns the source of a service that a command in `folder` yields: no paths but of programs, no versions.

    The folder is a part of it if the command names no file, unless a client starts every server there.
    """
    from skillgen.sources.mcp.client_config import is_portable_argument

    program, *arguments = command
    name = "python" if _PYTHON.fullmatch(Path(program).name) else program
    here = Path(folder or "").resolve()
    # A package manager links a name to a file that may be another one in its next version.
    words = [Path(os.path.normpath(here / name)).as_posix() if Path(name).name != name else name]
    secrets |= secrets_from_arguments(arguments)
    is_exact = True
    for word in arguments:
        if Path(word).suffix in RUNTIMES and "://" not in word:
            words.append(here.joinpath(word).resolve().as_posix())
        elif secrets.hide(word) == word and is_portable_argument(word):
            words += [] if word in ("-y", "--yes") else [_VERSION.sub("", word)]
        else:
            is_exact = False
    has_file = any(Path(word).is_absolute() for word in words)
    words += [here.as_posix()] if folder is not None and needs_folder and not has_file else []
    return (service.kind, *words, *([] if is_exact else [service.name]))


def words_in_record(service: Service, out: Path) -> tuple[str, ...]:
    """Returns the source of a service with the paths in the form in which the record of OUT has them."""
    here, words = Path.cwd(), service.source
    top = _top(out)
    paths = [Path(word).is_absolute() or word.startswith(_RELATIVE) for word in words]
    is_anywhere = any("://" in word for word in words) or (service.kind == "cli" and ":" not in " ".join(words))
    if top != here and words and not any(paths) and not is_anywhere:
        words, paths = (*words, here.as_posix()), [*paths, True]  # such as MODULE:APP, but not a program on PATH

    def path_word(path: Path) -> str:
        """Returns the path from the top folder, or from OUT, or only the name."""
        if path.is_relative_to(top) and not _is_private(top):
            return f"{_HERE}{path.relative_to(top).as_posix()}"
        return path.name if shared_folder(path, out) is None else Path(os.path.relpath(path, out.resolve())).as_posix()

    pairs = zip(paths, words, strict=True)
    return tuple(path_word(Path(os.path.normpath(here / word))) if is_path else word for is_path, word in pairs)


def run_in_record(run: Run | None, out: Path) -> Run | None:
    """Returns a command with its folder as the record of OUT has it, and without private paths.

    Paths are from the folder in which they are searched: those of a command that it starts, from `--cwd`.
    """
    if run is None or run.folder is None:
        return run
    here, home, shared = Path(run.folder), Path.home(), Path(tempfile.gettempdir())
    lacks = [*run.lacks]

    def in_record(words: Sequence[str], folder: Path) -> Iterator[str]:
        for flag, word in pairwise(("", *words)):
            path = Path(word)
            if flag in _COMMANDS:
                yield shlex.join(in_record(command_words(word, flag), started_in))
            elif path.is_absolute() and _PYTHON.fullmatch(path.name) and shutil.which(path.name) == word:
                yield path.name
            elif not path.is_absolute() or (here != path and {here, home, shared}.isdisjoint(path.parents)):
                yield word
            elif shared_folder(path.parent, folder) is not None:  # an interpreter is a link to another folder
                yield Path(os.path.relpath(path, folder)).as_posix()
            else:
                lacks.append(f"the path of {path.name}")

    end = run.words.index("--") if "--" in run.words else len(run.words)
    started_in = here.joinpath(*(value for flag, value in pairwise(run.words[:end]) if flag == "--cwd"))
    words = (*in_record(run.words[:end], here), *in_record(run.words[end:], started_in))
    folder = None if shared_folder(here, out) is None else Path(os.path.relpath(here, out.resolve())).as_posix()
    return replace(run, words=words, lacks=tuple(lacks), folder=folder)


def with_portable_source(service: Service) -> Service:
    """Returns a service without absolute paths, for a snapshot."""
    return replace(service, source=words_in_record(service, Path.cwd()))


def _top(out: Path) -> Path:
    """Returns the folder that has both OUT and the current folder; the latter if the path from there is private."""
    return shared_folder(Path.cwd(), out) or Path.cwd()


def shared_folder(one: Path, other: Path) -> Path | None:
    """Returns the deepest folder that has both; `None` if a path from there names a user or begins at the root."""
    with suppress(ValueError):  # two drives
        shared = Path(os.path.commonpath([one.resolve(), other.resolve()]))
        return None if _is_private(shared) else shared
    return None


def _is_private(folder: Path) -> bool:
    """True for a folder that has what does not belong together: the root, those of home folders, that of the system's
    temporary files.
    """
    return folder in (folder.parent, Path(tempfile.gettempdir()).resolve(), *Path.home().resolve().parents)


def _is_same_word(before: str, after: str, out: Path, *, is_same_name: bool) -> bool:
    """True if two words name the same; a file may have moved, unless it still exists at its old place.

    Of a file in a snapshot, only the name may be known; then the name of the service decides.
    """
    paths = [word for word in (before, after) if word.startswith(_RELATIVE)]
    linked = {(_top(out) if word.startswith(_HERE) else out).joinpath(word).resolve() for word in paths}
    if before == after or (len(paths) == 2 and len(linked) == 1):
        return True
    if not paths or Path(before).name != Path(after).name:
        return False
    old = (_top(out) if before.startswith(_HERE) else out) / before
    return is_same_name if len(paths) == 1 else not old.exists()


def is_same_service(before: Record, after: Record, out: Path) -> bool:
    """True if two records of OUT are of one service, which may have been renamed. Without sources, its name decides."""
    is_in_project = before.target is not None and before.owner is not None and is_site(before) == is_site(after)
    if is_in_project and (before.service, before.target, before.owner) == (after.service, after.target, after.owner):
        return True
    if before.source and after.source:
        is_same_name = before.service == after.service
        pairs = zip(before.source, after.source, strict=False)
        is_same = all(_is_same_word(*pair, out, is_same_name=is_same_name) for pair in pairs)
        return is_same and len(before.source) == len(after.source)
    return before.service == after.service


def is_of_other_service(service: Service, place: Place) -> bool:
    """True if a place has documents of another service, or of several."""
    before = read_record(place.out)
    return has_documents(before, place.out) and not is_same_service(before, identity_of(service, place), place.out)


def refuse_other_service(before: Record, after: Record, place: Place, *, is_other: bool = False) -> None:
    """Refuses a folder that has documents of another service, or if `is_other`, of the same from another folder.

    Documents above those of several services may replace those of one of them, and the other way round, unless the
    reader chose one of several.

    Raises:
        UsageError: it has some.
    """
    if (is_same_service(before, after, place.out) and not is_other) or not has_documents(before, place.out):
        return
    is_known = any(is_same_service(record, after, folder) for folder, record in records_in(place.out).items())
    if is_site(before) and is_known and not (place.run and "--server" in place.run.words):
        return
    both = (before, after)
    shown = [repr(record.service) for record in both]
    if before.service == after.service:
        words = [(place.is_installed and item.owner) or item.target or " ".join(item.source[1:]) for item in both]
        shown = [f"{name} ({text})" for name, text in zip(shown, words, strict=True)]
    what = f"holds the documents of another service, {shown[0]}, not those of {shown[1]}; nothing was written there"
    options, keys = ("--name", "--out", "--replace"), ("`name:`", "`out:`", "`replace: true`")
    name, out, replacing = options if place.target is None else keys
    other = f"rename one of them with {name}" if place.is_installed else f"choose another folder with {out}"
    raise UsageError(what, where=str(place.out), fix=f"{other}, or replace them with {replacing}")


_MAX_DEPTH = 4
"""Levels of folders of a project that are searched."""


def walk_project(top: Path, is_searched: Callable[[str], bool]) -> Iterator[tuple[Path, list[str]]]:
    """Yields the folders of a project with the names of their files, but for folders with other names."""
    for folder, subfolders, files in os.walk(top):
        is_last = len(Path(folder).relative_to(top).parts) >= _MAX_DEPTH
        subfolders[:] = [] if is_last else sorted(filter(is_searched, subfolders))
        yield Path(folder), sorted(files)


def folders_with_records(top: Path) -> list[Path]:
    """Returns the folders of a project that have a record, but for those of git and npm."""
    found = walk_project(top, lambda name: name not in (".git", "node_modules"))
    return [folder for folder, files in found if RECORD_NAME in files]


def records_in(out: Path, without: Collection[Path] = ()) -> dict[Path, Record]:
    """Returns the records of a folder and of the folders in it, by folder; those that cannot be read are left out."""
    found = {}
    for path in (out / RECORD_NAME, *sorted(out.glob(f"*/{RECORD_NAME}"))):
        with suppress(SkillgenError, OSError):
            if (path.parent == out or not path.parent.is_symlink()) and path.parent.resolve() not in without:
                found[path.parent] = read_record(path.parent)
    return found


def identity_of(service: Service | None, place: Place) -> Record:
    """Returns the record of a place without what is documented; without a service, above those of several."""
    name, words = (SITE, (SITE,)) if service is None else (service.name, words_in_record(service, place.out))
    name, *source = map(one_line, (name, *words))
    owner, out, path = place.owner, place.out, None
    # None if they share only what belongs to others too, unless OUT is installed in the home folder.
    if owner is not None and (shared_folder(owner, out) is not None or Path.home() in out.parents):
        with suppress(ValueError):  # two drives
            path = Path(os.path.relpath(owner.resolve(), out.resolve())).as_posix()
    server = folder_names([service])[0] if service is not None and service.server_name else None
    is_own = place.target is not None and not (place.kept or place.is_installed)
    home = Path(os.path.relpath(out, place.top.parent)).as_posix() if is_own else None
    return Record(service=name, target=place.target, out=home, server=server, source=tuple(source), owner=path)


def _names_in(record: Record) -> tuple[str, str | None]:
    """Returns the target and the server that documents belong to."""
    return (record.target or "").partition(" ")[0], record.server


def is_of_others(before: Record, after: Record, place: Place) -> bool:
    """True for documents of another target or server of the run, whatever their source."""
    (target, server), (own, mine) = _names_in(before), _names_in(after)
    return (server != mine and server in place.servers) or (target != own and target in place.siblings)


def earlier_folder(service: Service, place: Place, own: Record) -> Path | None:
    """Returns the folder that has the documents of a place, whose record is `own`, if it is another one.

    They are those of the same target and server. Those of names that are gone go to the only target or server of the
    run that has their source, if they are the only ones of it.
    """
    named, unnamed = list[Path](), list[Path]()
    # Those of several services are below the folder that one of them had.
    written = {folder.resolve() for folder in place.siblings.values() if folder not in (place.owner, place.out)}
    for folder, record in ((place.out, own), *_documents_near(place, {place.out.resolve()}, place.out)):
        after = identity_of(service, replace(place, out=folder))
        is_copy = record.out != after.out and folder != place.out
        if record.states and not is_copy and is_same_service(record, after, folder):
            if _names_in(record) == _names_in(after):
                named.append(folder)
            elif not is_of_others(record, after, place) and folder.resolve() not in written:
                unnamed.append(folder)
    found = named or ([] if place.is_shared else unnamed)
    return found[0] if len(found) == 1 and found[0] != place.out else None


def _documents_near(place: Place, seen: set[Path], *moved: Path) -> Iterator[tuple[Path, Record]]:
    """Yields the folders near a place, and those in them, that have documents of its owner, but for those `seen`.

    With those whose documents are in a folder of `moved`: a run that moved them there was killed before their record.
    """
    queue = list(place.near)
    for parent in queue:
        for folder, record in records_in(parent, seen).items():
            is_kept = any(folder.resolve().is_relative_to(other.resolve()) for other in place.kept)
            if not is_kept and _top_of(folder, record) == place.top.resolve():
                seen.add(folder.resolve())
                queue.append(folder)
                if any(has_documents(record, each) for each in (folder, *moved)):
                    yield folder, record


def _top_of(folder: Path, record: Record) -> Path:
    """Returns the project's file that a folder belongs to, or the folder that the user named."""
    if record.owner == "..":
        with suppress(SkillgenError):
            return _top_of(folder.parent, read_record(folder.parent))
    return (folder / (record.owner or "")).resolve()


def folder_names(services: Iterable[Service]) -> tuple[str, ...]:
    """Returns a distinct folder name for each service: its name in the client configuration, else its own."""
    from skillgen.render.identity import skill_name
    from skillgen.render.pages import file_stems

    names = [service.server_name or skill_name(service) for service in services]
    stems = file_stems(dict.fromkeys(names), frozenset())
    return tuple(distinct(stems[name] for name in names))


def is_site(record: Record) -> bool:
    """True for the record of documents above those of several services."""
    return (record.source or (record.service,)) == (SITE,)


def has_documents(record: Record, out: Path) -> bool:
    """True if a file of the record exists that is not only a person's notes."""
    return any(any(states) and os.path.lexists(out / path) for path, states in record.states.items())


# -- what no longer exists -------------------------------------------------------------------------------------------


def leftovers(result: Result, place: Place, install: Iterable[Path]) -> Iterator[Problem]:
    """Yields the folders with documents of something that no longer exists; nothing after a run that failed.

    Searches the folders near a place for documents of its owner that the run did not write, and those of `install` and
    others near them for copies of skills that the documents no longer have.
    """
    if result.exit_code not in (ExitCode.DONE, ExitCode.DRIFT):
        return
    written, gone = {item.plan.out.resolve(): item.plan.after for item in result.outcomes}, set[Path]()
    for folder, record in _documents_near(place, {*written}):
        if record.owner is not None and not folder.is_symlink():
            gone.add(folder.resolve())
            yield _left("documents-left", "no target or server writes these documents", folder, record)
    tops = [path.resolve() for path in place.near]
    for folder, record, owner in _copies_near(place.near, install, written):
        is_copied = False
        with suppress(SkillgenError):
            is_copied = owner not in gone and folder.name in (written.get(owner) or read_record(owner)).skills
        if not is_copied and any(map(owner.is_relative_to, tops)):
            what = "the documents that this installed skill is a copy of no longer exist, or were renamed"
            yield _left("installed-skill-left", what, folder, record)


def _left(code: str, what: str, folder: Path, record: Record) -> Problem:
    """Returns a problem that says what a person may delete, and which of it has lines of people."""
    names = ", ".join(sorted({path.partition("/")[0] for path in (*record.states, RECORD_NAME)}))
    fix = f"delete {names} there, or restore the target"
    with suppress(SkillgenError, OSError):
        if edited := first_of(record.edited_in(folder), 3):
            code, what = "lines-left", f"{what}; people wrote in {edited}"
            fix = f"move what people wrote to other documents, then {fix}"
    return Problem.of(code, folder.as_posix(), what, fix)


_SKILL_FOLDERS = (*HOSTS.values(), "skills", *(f"{folder}*/{HOSTS['agents']}" for folder in ("", "src/")))
"""Where skills are installed below a folder: for hosts, and into packages."""


def _copies_near(
    outs: Iterable[Path], install: Iterable[Path] = (), written: Collection[Path] = ()
) -> Iterator[tuple[Path, Record, Path]]:
    """Yields the skills that this run did not write in `install` and in the folders for skills below the home folder,
    those above documents, and the current one: the folder of each, its record, and the documents that it belongs to.
    """
    above = sorted({folder for out in outs for folder in out.resolve().parents if not _is_private(folder)})
    tops = {top.resolve(): top for top in (Path.home(), *above, Path())}
    near = (folder for top in tops.values() for name in _SKILL_FOLDERS for folder in top.glob(name))
    for parent in {folder.resolve(): folder for folder in (*near, *install)}.values():
        for folder, record in records_in(parent, written).items():
            if record.owner is not None and has_documents(record, folder) and not folder.is_symlink():
                yield folder, record, (folder / record.owner).resolve()


def installed_from(out: Path) -> list[Path]:
    """Returns the folders for skills that have a copy of the documents in OUT."""
    here = out.resolve()
    return [*dict.fromkeys(folder.parent for folder, _, owner in _copies_near([out]) if owner == here)]


def build_registry(folders: Sequence[Path], target: Path, *, is_check: bool) -> tuple[int, int, list[Problem], str]:
    """Writes the merged entries; a check writes nothing.

    Returns the number of services and of their tools, the problems and, in a check, the diff of what would change.

    Of two entries with one name, the first counts: that of the folder that is given first, and within a folder by name.

    Raises:
        SourceError: a folder has no documents of skillgen, or documents without an entry.
        OSError: a file cannot be written.
        UsageError: `target` is a folder or another file.
    """
    if target.is_dir():
        raise UsageError("is a folder", where=f"-o {target}", fix="name the file of the registry")
    if target.exists() and not isinstance(_json(target.parent, target.name).get("servers"), list):
        raise UsageError("is not a registry of many services", where=f"-o {target}", fix="name a new file")
    problems: list[Problem] = []
    paths = [path for folder in folders for path in _documented(folder, problems)]
    entries = _entries(paths, "registry.json", problems)
    documented = sorted(entries, key=lambda path: (one_line(str(entries[path]["name"])), path))
    files = ("server.json", "well-known/mcpx.json")
    servers, mcpx = ([*_entries(documented, file, problems).values()] for file in files)
    wrapped: Json = [{"server": entry, "_meta": {}} for entry in servers]
    forms: dict[Path, Json] = {  # of dashdash, of the MCP registry (`/v0.1/servers`), and mcpx
        target: {"servers": [entries[path] for path in documented]},
        target.with_name(f"{target.stem}.servers.json"): {"servers": wrapped, "metadata": {"count": len(servers)}},
        target.with_name(f"{target.stem}.mcpx.json"): mcpx,
    }
    drift = ""
    for path, data in forms.items():
        content = f"{exact_json_text(data, indent=2)}\n".encode()
        if not is_check:
            replace_file(path, content)
        elif (old := path.read_bytes() if path.exists() else None) != content:
            drift += change_diff(path.as_posix(), old, content)
    tools = sum(len(as_dict(_json(folder, RECORD_NAME).get("tools"))) for folder in documented)
    return len(documented), tools, problems, drift


def _documented(folder: Path, problems: list[Problem]) -> list[Path]:
    """Returns the folders with an entry: a folder, and those in it.

    Raises:
        SourceError: no folder has an entry, or one of documents has no entry any more.
    """
    paths, found = [folder] if (folder / RECORD_NAME).is_file() and (folder / "registry.json").is_file() else [], []
    with suppress(OSError):
        paths += sorted(path.parent for path in folder.glob("*/registry.json"))
    message, fix = "registry.json is not a JSON object with a name, as an entry is", "write the documents again"
    for path in paths:
        if text_of(_json(path, "registry.json"), "name") is not None:
            found.append(path)
        elif (path / RECORD_NAME).is_file():
            raise SourceError(message, where=path.as_posix(), fix=fix)
        else:
            problems.append(Problem.of("registry-entry-invalid", path.as_posix(), message, fix))
    if not found:
        fix = "name a folder of documents that has registry.json (--emit registry), or one with such folders"
        raise SourceError("has no entry of a registry", where=folder.as_posix(), fix=fix)
    return found


def _entries(folders: Iterable[Path], file: str, problems: list[Problem]) -> dict[Path, dict[str, Json]]:
    """Returns the entry that each folder has in a file; of names that look alike, such as `Good ` and `good`, the first
    counts.
    """
    found, owners = dict[Path, dict[str, Json]](), dict[str, Path]()
    for folder in folders:
        if entry := _json(folder, file):
            name = text_of(entry, "name") or folder.as_posix()
            letters = filter(str.isprintable, one_line(unicodedata.normalize("NFKC", name)).casefold())
            if (owner := owners.setdefault("".join(letters), folder)) is folder:
                found[folder] = entry
            else:
                message = f"{name!r} is also in {owner.as_posix()}, whose entry counts"
                problems.append(Problem.of("registry-duplicate", (folder / file).as_posix(), message))
    return found


def _json(folder: Path, name: str) -> dict[str, Json]:
    """Returns a JSON object, with `?` for unpaired surrogates; an empty one for anything else, and for a file behind a
    symbolic link that points out of the folder.
    """
    text = (text_of_file(folder / name) if is_below(folder / name, folder) else None) or ""
    data: dict[str, Json] = {}
    with suppress(ValueError, RecursionError):
        data = as_dict(json_from_text(text, ProblemLog()))  # in which NaN is a text
    return data if "\\ud" not in text.lower() else as_dict(json.loads(json_text(data).encode("utf-8", "replace")))
