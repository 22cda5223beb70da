"""Reads sources into services: read, apply extra texts, screen, select tools, apply overrides, infer what is missing.

`KINDS` has each kind of source with its reader. What the user or the author of a project declares wins over the source.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct, structs

from skillgen.config.option import command_words, options_in
from skillgen.config.project import Source, Texts
from skillgen.errors import Problem, ProblemLog, SkillgenError, SourceError, UsageError, failure_of
from skillgen.model.document import TEXTS_NAME
from skillgen.model.service import Service
from skillgen.model.values import Json, Origin, is_inferred
from skillgen.pipeline.authored import checked_patterns, completed
from skillgen.pipeline.ownership import folder_names, is_site, words_of_command, words_of_document, words_of_url
from skillgen.pipeline.packages import project_environment
from skillgen.pipeline.results import Reading, Request, at_once
from skillgen.security.secrets import (
    checked_domain,
    report_echoed_secrets,
    report_url_secret,
    secrets_from_arguments,
    secrets_from_environment,
    without_own_folders,
)
from skillgen.sources import documents
from skillgen.sources.detect import discover_document, is_description, wrong_kind_error
from skillgen.sources.documents import Document
from skillgen.sources.http import FetchOptions
from skillgen.sources.json_access import SOURCE_LIMIT_BYTES, json_or_none
from skillgen.sources.mcp.target import (
    CrawlScope,
    Login,
    ServerTarget,
    child_environment,
    find_manifest,
    refuse_bad_url,
    sdk_with_version,
)
from skillgen.text.markdown import first_of
from skillgen.typed import convert
from skillgen.write.record import read_record

if TYPE_CHECKING:
    from skillgen.sources.mcp.client_config import ClientConfig
    from skillgen.sources.mcp.process import CommandRun


_Services: TypeAlias = tuple[Service, ...]


def kind_of_source(source: str) -> str:
    """Returns the kind of source that a SOURCE names: a program, a document, or a client's file that lists servers.

    What is both is a document: the servers of a client's file will be started.
    """
    from skillgen.sources.mcp.client_config import data_of_client_file

    path = Path(source)
    if is_program(source) and not path.exists():
        return "cli"
    data = None if documents.is_url(source) or not path.is_file() else data_of_client_file(path)
    return "document" if data is None or _is_readable(data) else "config"


def read_source(request: Request) -> Reading:
    """Reads the services of a source.

    Raises:
        SourceError: it cannot be reached or read.
        UsageError: an option is invalid, does not concern the source, or selects nothing.
    """
    kind = request.source.kind
    refuse_useless_options(request.source, [kind])
    request = _with_extras(request)
    return checked_patterns(KINDS[kind].read(request), request.texts)


def _with_extras(request: Request) -> Request:
    if not request.texts.extra:
        return request
    from skillgen.sources.extra_text import load_extra

    with request.secrets.redact_errors():
        extras = tuple(load_extra(item, timeout_s=request.source.timeout) for item in request.texts.extra)
    return replace(request, extras=extras)


def refuse_useless_options(source: Source, kinds: Sequence[str]) -> None:
    """Refuses options that have no effect on these kinds of source, so that nobody relies on them.

    Raises:
        UsageError: such an option is given.
    """
    useless = [*source.useless_options(kinds)]
    for _, what, fix in useless[:1]:
        names = [item.flag or item.name for item, other, _ in useless if other == what]
        raise UsageError(what, where=", ".join(names), fix=fix)


def _refuse_texts_for_several(request: Request, count: int) -> None:
    texts, names = request.texts, ("name", "version", "description", "base_url", "extra")
    given = [item.flag for item in options_in(Texts) if item.flag and item.name in names and getattr(texts, item.name)]
    what = "for one service only, but the source has several"
    fix = "choose one with --server NAME, and its folder with --out"
    if count > 1 and given:
        fix = fix if request.pointer is None else "add a target for each, with server: NAME"
        raise UsageError(what, where=", ".join(given), fix=fix)
    if count > 1 and request.documents and (file := request.documents.out / TEXTS_NAME).is_file():
        record = read_record(file.parent)
        if is_site(record) or not record.states:  # else it goes with the documents of one of the services
            raise UsageError(what, where=file.as_posix(), fix="move it to the folder of its service there")


def _of_each(request: Request, names: Sequence[str]) -> list[Request]:
    """Returns the request for each service of a source, by the names of their folders."""
    if request.documents is None or len(names) == 1:
        return [request] * len(names)
    return [replace(request, documents=place) for place in request.documents.below(names)]


# -- documents: descriptions, manifests, snapshots -------------------------------------------------------------------


def _read_document(request: Request) -> Reading:
    """Reads a document of its kind, or of the kind that its content shows; a URL may be that of the service itself."""
    kind, problems = request.source.kind, ProblemLog()
    source = getattr(request.source, kind)
    access = request.access(source)
    with access.secrets.redact_errors():
        if isinstance(source, Mapping):
            document = documents.document_from_parsed(source, problems, access)
        elif kind in ("document", "openapi"):
            is_wanted = is_description if kind == "openapi" else _is_readable
            document = discover_document(os.fspath(source), problems, access, is_wanted)
        else:
            document = documents.load_document(os.fspath(source), problems, access)
        for name, item in KINDS.items():
            if item.services is not None and (name == kind or (kind == "document" and item.matches(document.data))):
                if request.source.server is not None and name != "snapshot":
                    raise UsageError(f"has no effect with {item.what}", where="--server", fix="leave it out")
                return Reading(services=item.services(document, problems, request, access))
    if (error := wrong_kind_error(document.data, document.name)) is not None:
        raise error
    *others, last = (item.what for item in KINDS.values() if item.services is not None)
    what = f"is not {', '.join(others)} or {last}"
    raise SourceError(what, where=document.name, fix="give one, or the output of skillgen inspect -- COMMAND")


def _is_readable(data: Json) -> bool:
    return any(kind.matches(data) for kind in KINDS.values())


def _from_snapshot(document: Document, problems: ProblemLog, request: Request, access: FetchOptions) -> _Services:
    error = wrong_kind_error(document.data, document.name, "a snapshot")
    if error is not None and not documents.is_snapshot(document.data):
        raise error
    services = [*map(_with_entry_of_snapshot, documents.services_from_snapshot(document.data, document.name))]
    found, wanted = dict(zip(folder_names(services), services, strict=True)), request.source.server
    names = [name for name, service in found.items() if wanted in (None, name, service.server_name)]
    if found and not names:
        raise UsageError(f"has no server {wanted!r}", where=document.name, fix=f"choose from {first_of(found, 20)}")
    _refuse_texts_for_several(request, len(names))
    pairs = zip(map(found.__getitem__, names), _of_each(request, names), strict=True)
    return tuple(completed(service, own, is_snapshot=True) for service, own in pairs)


def _with_entry_of_snapshot(service: Service) -> Service:
    """Returns a service whose command for clients comes from the snapshot, whatever that says of its origin; an
    inferred one is inferred again.
    """
    entry, origins = service.client_entry, service.origins or {}
    if entry is None or not entry.command:
        return service
    if is_inferred(service, "client_entry"):
        return structs.replace(service, client_entry=structs.replace(entry, command=()))
    return structs.replace(service, origins={**origins, "client_entry": Origin("declared", "snapshot")})


def _from_description(document: Document, problems: ProblemLog, request: Request, access: FetchOptions) -> _Services:
    from skillgen.sources.openapi.references import ReferencePolicy
    from skillgen.sources.openapi.source import service_from_description

    source = request.source
    if source.overlays:
        from skillgen.sources.extra_text import apply_overlays

        document = apply_overlays(document, tuple(source.overlays), problems, access)
    policy = ReferencePolicy(
        outside=source.allow_outside_refs,
        remote=source.allow_remote_refs,
        internal=source.include_internal,
        access=access,
    )
    service = service_from_description(document, problems, policy)
    words = words_of_document(document, service, access.secrets)
    if source.openapi_command:
        words = words_of_command(source.openapi_command, service, _folder(source), request.secrets)
    service = structs.replace(service, source=words)
    # A relative URL of a server is resolved against the description's own URL, which may hold a secret.
    endpoints = tuple(structs.replace(item, url=access.secrets.hide_in_url(item.url)) for item in service.endpoints)
    if endpoints != service.endpoints:
        report_url_secret(problems)
        service = structs.replace(service, endpoints=endpoints)
    has_url = request.texts.base_url is not None
    found = (item for item in (*problems, *service.problems) if not (has_url and item.code == "base-url-missing"))
    service = structs.replace(service, problems=tuple(map(access.secrets.hide_in_problem, found)))
    return (completed(service, request),)


def _from_manifest(document: Document, problems: ProblemLog, request: Request, access: FetchOptions) -> _Services:
    from skillgen.sources.mcp.source import service_from_manifest

    if (manifest := find_manifest(document.data)) is None:
        what = "is not a service manifest: it has neither `manifest_version` nor `server` with `tools`"
        fix = (
            "give an object with `manifest_version`, `server` and `tools`; for an OpenAPI description, use from-openapi"
        )
        raise SourceError(what, where=document.name, fix=fix)
    service = service_from_manifest(manifest, server_name=request.source.server_name)
    return (completed(structs.replace(service, source=words_of_document(document, service, access.secrets)), request),)


# -- commands that print a description, or the commands of a program -------------------------------------------------


def _read_openapi_command(request: Request) -> Reading:
    """Runs a command and reads the description that it prints. Kills all processes that it started."""
    source, command, problems = request.source, tuple(request.source.openapi_command), ProblemLog()
    secrets = request.secrets | secrets_from_environment(source.env, request.environment)
    request = replace(request, secrets=secrets | secrets_from_arguments(command[1:]))
    access = request.access()
    with request.secrets.redact_errors():
        printed = _command_output(command, request, "--openapi-command").decode("utf-8", "surrogateescape")
        content = str(without_own_folders(printed, _folder(source))).encode("utf-8", "surrogateescape")
        try:
            document = documents.document_of(content, command[0], problems, access)
            (service,) = _from_description(document, problems, request, access)
        except SourceError as error:
            what = f"the output of {command[0]} {error.what}"
            raise SourceError(what, where="--openapi-command", fix=error.fix) from None
    return Reading(services=(service,))


_PROGRAM = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*(?:\.[^\W\d]\w*)*")
"""MODULE:APP."""


def is_program(text: str) -> bool:
    """True if a text has the form MODULE:APP."""
    return _PROGRAM.fullmatch(text) is not None


def _read_cli(request: Request) -> Reading:
    """Has the interpreter of a program import it and print its commands; runs none of them."""
    from skillgen.sources.cli import tree
    from skillgen.sources.cli.source import service_from_program

    source, target = request.source, request.source.cli or ""
    if not is_program(target):
        raise UsageError("is not of the form MODULE:APP", where=target, fix="write acme.cli:app, or --command NAME")
    program = command_words(source.program, "--program") or None
    here = _folder(source) or Path()
    inherited = child_environment(project_environment(request.environment, here, here), _READER_VARIABLES)
    secrets = request.secrets | secrets_from_environment(source.env, inherited)
    problems = ProblemLog()
    request.progress(f"importing {target}")
    with secrets.redact_errors():
        path = inherited.get("PATH")
        interpreter = source.python or shutil.which("python", path=path) or shutil.which("python3", path=path)
        if interpreter is None:
            raise UsageError("there is no Python on PATH", where=source.cli, fix="name one: --python PATH")
        name = Path(interpreter).name
        command = (name if name == interpreter else str(Path(interpreter).absolute()), tree.__file__, target)
        printed = _command_output(command, replace(request, secrets=secrets, environment=inherited), target)
        tree_printed = without_own_folders(json_or_none(printed.decode("utf-8", "replace")), _folder(source))
        data, echoed_from = secrets.hide_in(tree_printed)
        report_echoed_secrets(problems, echoed_from)
        try:
            service = service_from_program(data, problems, target=target, command=program)
        except SourceError as error:
            error.what += f" (read with {command[0]})"
            raise
    folder = _folder(source)
    words = (service.kind, target, *([folder.resolve().as_posix()] if folder is not None else []))
    service = structs.replace(service, source=words, source_size_bytes=len(printed), problems=tuple(problems))
    return Reading(services=(completed(service, request),))


def _read_cli_command(request: Request) -> Reading:
    """Has a program print its help, command by command; nothing else is run."""
    from skillgen.sources.cli.help import Explorer, with_program_path
    from skillgen.sources.extra_text import ExtraText
    from skillgen.sources.mcp.session import ConnectionLost

    source, command = request.source, tuple(request.source.cli_command)
    words = command_words(source.program, "--program") or (Path(command[0]).name, *command[1:])
    here = _folder(source) or Path()
    environment = project_environment(request.environment, here, here)
    secrets = request.secrets | secrets_from_environment(source.env, {}) | secrets_from_arguments(command[1:])
    problems = ProblemLog()
    with secrets.redact_errors():
        try:
            run = _run_of(with_program_path(command, environment, here), replace(request, environment=environment))
            service, ai_help = Explorer(
                run=run, words=words, env=source.env, problems=problems, secrets=secrets, progress=request.progress
            ).explored()
        except ConnectionLost as error:
            raise SourceError(error.what, where=words[0], fix=error.fix) from None
    if ai_help is not None:
        request = replace(request, extras=(ExtraText(name="--ai-help", text=ai_help), *request.extras))
    origin = words_of_command(command, service, _folder(source), secrets)
    service = structs.replace(service, source=origin, problems=tuple(problems))
    return Reading(services=(completed(service, request),))


def read_command(command: object, words: tuple[str, ...], request: Request) -> Service:
    """Returns the service of a Click command in this process, which users start by typing `words`."""
    from skillgen.sources.cli.source import service_from_program
    from skillgen.sources.cli.tree import tree_of_command

    problems = ProblemLog()
    service = service_from_program(tree_of_command(command, words[-1]), problems, target=words[-1], command=words)
    return completed(structs.replace(service, problems=tuple(problems)), _with_extras(request))


_READER_VARIABLES = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0", "PYTHONIOENCODING": "utf-8"}
"""Variables of the process that imports a program: it writes nothing, and iterates over sets in a fixed order."""


def _command_output(command: tuple[str, ...], request: Request, where: str) -> bytes:
    """Returns what a command prints; `where` is its place for messages. Kills all processes that it started."""
    run = _run_of(command, request)
    return run.output(where=where, what="description", timeout_key="timeout:", secrets=request.secrets)


def _run_of(command: tuple[str, ...], request: Request) -> CommandRun:
    """Returns a run of a command with the variables and in the folder that the user names."""
    from skillgen.sources.mcp.process import CommandRun

    source, environment = request.source, {**request.environment, **request.source.env}
    return CommandRun(command, environment, _folder(source), source.timeout, SOURCE_LIMIT_BYTES, request.cancel_token)


def _folder(source: Source) -> Path | None:
    """Returns the working directory of a command.

    Raises:
        UsageError: it does not exist.
    """
    if source.cwd is None:
        return None
    if not Path(source.cwd).is_dir():
        raise UsageError("the folder does not exist", where=f"--cwd {source.cwd}", fix="create it, or correct the path")
    return Path(source.cwd)


# -- servers ---------------------------------------------------------------------------------------------------------


def _target(request: Request, config: ClientConfig | None = None, name: str = "") -> ServerTarget:
    """Returns the server that the options name, or one of a client configuration."""
    source = request.source
    if config is not None:
        target = config.target(name, source.env, request.environment, timeout_s=source.timeout)
    else:
        if source.url is not None:
            refuse_bad_url(source.url, "--url")
        target = ServerTarget(
            command=tuple(source.command),
            url=source.url,
            env=source.env,
            headers=tuple(source.headers.items()),
            cwd=_folder(source),
            timeout_s=source.timeout,
            extra_secrets=request.secrets,
        )
    if target.url is not None:
        client = {name: getattr(source, name) for name in ("client_id", "client_secret", "issuer")}
        announce = request.announce if source.login else None
        login = Login(is_requested=source.login, announce=announce, confirm=request.confirm, **client)
        target = replace(target, login=login)
    return replace(target, caller_env=request.environment, scope=convert(source, CrawlScope, from_attributes=True))


def _read_server(request: Request) -> Reading:
    """Crawls a server that is started by a command or reached at a URL."""
    source, target = request.source, _target(request)
    request.progress("starting the server" if source.command else f"connecting to {target.public_url}")
    return Reading(services=(_crawled(target, source.server_name, request),))


def _crawled(target: ServerTarget, server_name: str | None, request: Request) -> Service:
    from skillgen.sources.mcp.client_config import client_entry_of
    from skillgen.sources.mcp.crawl import crawled_session
    from skillgen.sources.mcp.source import service_from_crawl

    trusted = [checked_domain(name, "--trusted-domain") for name in request.source.trusted_domains]
    if request.connections is not None:  # for calls, which need no description of the server
        target = replace(target, scope=structs.replace(target.scope, no_legacy_handshake=True))
    with contextlib.ExitStack() as until_crawled:
        session_of_crawl = crawled_session(target, request.progress, cancel_token=request.cancel_token)
        result, session = (request.connections or until_crawled).enter_context(session_of_crawl)
        if request.on_crawl is not None:
            request.on_crawl(result.results, session, target)
    service = service_from_crawl(result, server_name=server_name, trusted_domains=trusted)
    origins = {**(service.origins or {}), "client_entry": Origin("declared", "command line")}
    if target.url is not None:
        words = words_of_url(target.url, service, target.secrets())
    else:
        words = words_of_command(target.command, service, target.cwd, target.secrets(), needs_folder=target.needs_cwd)
    entry = client_entry_of(target, result.transport)
    service = structs.replace(service, source=words, client_entry=entry, origins=origins)
    version = None if request.texts.version else service.version
    if version and (found := sdk_with_version(target, service.name, version)):
        message = f"the server reports {version}, which is the version of its SDK, {found[0]}; left out"
        problem = Problem.of(code="version-of-sdk", where="/initialize/serverInfo/version", message=message)
        service = structs.replace(service, name=found[1], version=None, problems=(*service.problems, problem))
    return completed(service, request)


def _read_config(request: Request) -> Reading:
    """Crawls the servers of a client configuration at the same time; one that fails does not affect the others.

    Variables in the file take their values from `--env`, then from the environment. The command of a server gets the
    part of the environment that every program needs.
    """
    from concurrent.futures import as_completed

    from skillgen.render.pages import file_stems
    from skillgen.sources.mcp.client_config import read_client_config
    from skillgen.sources.mcp.session import CancelToken

    source = request.source
    config = read_client_config(source.config or "", request.access())
    cancel_token = request.cancel_token or CancelToken()
    quiet = replace(request, progress=lambda message: None, cancel_token=cancel_token)

    def read(name: str) -> Service | SkillgenError:
        try:
            return _crawled(_target(request, config, name), None if config.is_foreign else name, requests[name])
        except Exception as error:  # also a bug that one server triggers must not cost the others
            failure = failure_of(error)
            if repr(name) not in (failure.where or ""):
                failure.where = f"server {name!r} ({failure.where})" if failure.where else name
            return failure

    names = config.chosen(source.server)
    if request.connections is not None and len(names) != 1:  # before servers are started
        fix = f"choose one with --server NAME: {', '.join(names)}"
        raise UsageError("lists several servers", where=config.name, fix=fix)
    _refuse_texts_for_several(request, len(names))
    requests = dict(zip(names, _of_each(quiet, [*file_stems(names, frozenset()).values()]), strict=True))
    request.progress(f"0 of {len(names)} servers read")
    try:
        futures = at_once(read, names)
        for number, _ in enumerate(as_completed(futures), 1):
            request.progress(f"{number} of {len(names)} servers read")
        outcomes = [future.result() for future in futures]
    except BaseException:
        cancel_token.cancel()
        raise
    services = tuple(outcome for outcome in outcomes if isinstance(outcome, Service))
    failures = tuple(outcome for outcome in outcomes if isinstance(outcome, SkillgenError))
    others = config.elsewhere.items() if source.server is None else ()
    problems = tuple(Problem.of("server-elsewhere", key, f"{key} is a server of {folder}") for key, folder in others)
    return Reading(services=services, failures=failures, problems=problems)


# -- the kinds of source ---------------------------------------------------------------------------------------------


class SourceKind(Struct, frozen=True, kw_only=True):
    """A kind of source. The option of `config.project.Source` with its name names such a source."""

    read: Callable[[Request], Reading] = _read_document
    what: str = ""
    """What a document of this kind is called, with its article."""

    matches: Callable[[Json], object] = lambda data: False
    """Whether a document is of this kind."""

    services: Callable[[Document, ProblemLog, Request, FetchOptions], _Services] | None = None
    """Returns the services of such a document; `None` if the source is not a document."""


KINDS: dict[str, SourceKind] = {
    "command": SourceKind(read=_read_server),
    "url": SourceKind(read=_read_server),
    "config": SourceKind(read=_read_config),
    "openapi_command": SourceKind(read=_read_openapi_command),
    "cli": SourceKind(read=_read_cli),
    "cli_command": SourceKind(read=_read_cli_command),
    "document": SourceKind(),
    "openapi": SourceKind(what="an OpenAPI description", matches=is_description, services=_from_description),
    "manifest": SourceKind(
        what="a service manifest", matches=lambda data: find_manifest(data) is not None, services=_from_manifest
    ),
    "snapshot": SourceKind(what="a snapshot", matches=documents.is_snapshot, services=_from_snapshot),
}
"""Every kind of source by the name of its option."""
