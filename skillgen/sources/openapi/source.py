"""Reads an OpenAPI description (Swagger 2.0, OpenAPI 3.0, 3.1, 3.2) as a service."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace

from skillgen.errors import ProblemLog, SourceError
from skillgen.model.auth import Access, Auth, Endpoint, Requirements
from skillgen.model.service import Service
from skillgen.model.values import Icon, Json, Origin, Value
from skillgen.security.addresses import host_of, icon_objection, without_credentials
from skillgen.sources.detect import detect_kind
from skillgen.sources.documents import Document
from skillgen.sources.json_access import as_dict, text_of, texts_of
from skillgen.sources.json_schema.loader import SchemaReader, report_undescribed
from skillgen.sources.openapi.checks import (
    check_content,
    check_dialect,
    check_info,
    check_security,
    check_shapes,
    check_version,
    dialect_of,
)
from skillgen.sources.openapi.events import EventReader
from skillgen.sources.openapi.media import is_sent_as_xml
from skillgen.sources.openapi.operations import OperationReader, TagReader
from skillgen.sources.openapi.references import Moves, ReferencePolicy, Resolver, bundled
from skillgen.sources.openapi.security import SecurityReader, Ways, default_endpoint, endpoints_from, is_absolute
from skillgen.sources.openapi.swagger import description_in_3
from skillgen.text.summary import first_sentence

LAYOUT_COUNTS_FROM_BYTES = 1 << 20
"""From this size on a description is counted with its white space: its documents are as large as they may be."""


def service_from_description(
    document: Document, problems: ProblemLog, policy: ReferencePolicy | None = None
) -> Service:
    """Reads a description, and the other documents that it names where the policy lets it.

    Raises:
        SourceError: the document is not OpenAPI or Swagger 2.0.
    """
    version = _checked_version(document.data, document.name)
    moves, found = Moves(), ProblemLog()
    check_version(version, found)
    data = document.data
    if document.refers_outward:
        # Names of schemas came with 3.1.
        has_names = not version.startswith(("2.", "3.0"))
        data = bundled(document, policy or ReferencePolicy(), moves, found, has_names=has_names)
    shapes = ProblemLog()
    check_shapes(data, shapes)
    for problem in shapes:
        problems.add(moves.problem(problem))
    if version.startswith("2."):
        data = description_in_3(data, document.url, moves, found)
    service = _service(data, version, document, found)
    if moves:
        service = moves.put_right(service)
    for problem in found:
        problems.add(moves.problem(problem))
    report_undescribed(service, problems)
    return service


def _service(data: dict[str, Json], version: str, document: Document, problems: ProblemLog) -> Service:
    info = as_dict(data.get("info"))
    check_info(data, problems)
    check_content(data, problems)
    reader = SchemaReader(problems)
    tags = TagReader(data, problems)
    security = SecurityReader(data, Resolver(data, problems), problems)
    # Before 3.1, and in the drafts before 2019-09, nothing beside a `$ref` counts.
    schemas = reader.open_document(
        data, "", ref_siblings=dialect_of(data) == "openapi-3.1", reads_xml=is_sent_as_xml(data)
    )
    check_dialect(data, problems)
    operations = OperationReader(data, schemas, problems, document.url, tags, security)
    read = operations.tools()
    tools = tuple(tool for tool, _ in read)
    reader_of_events = EventReader(data, operations.parameters, operations.bodies, operations.paths, security, problems)
    events = reader_of_events.events(read)
    used = security.default, *(tool.auth for tool in tools)
    auth = _with_use(security.auth(), used, (item.auth for item in events))
    check_security(data, auth, problems)
    if not tools:
        problems.warning("no-operations", "/paths", "the description has no operations")
    title = text_of(info, "title")
    external = text_of(as_dict(data.get("externalDocs")), "url")
    external = without_credentials(external) if external is not None else None
    description = text_of(info, "description")
    summary = text_of(info, "summary")
    extension = as_dict(info.get("x-mcp"))
    endpoints = _endpoints(data, document, problems)
    hosts = map(host_of, [*(endpoint.url for endpoint in endpoints), document.url, external])
    return Service(
        kind="openapi",
        protocol_version=version,
        name=title or "api",
        title=title,
        version=_version_text(info),
        summary=summary or (first_sentence(description) if description else None),
        description=description,
        homepage=external,
        license=text_of(as_dict(info.get("license")), "name"),
        icons=_icons(text_of(extension, "logo"), hosts, problems),
        endpoints=endpoints,
        access=Access(
            api=Value(external) if external else None,
            origins={"api": Origin("declared", "/externalDocs/url")} if external else None,
        ),
        requirements=Requirements(
            auth=auth,
            registration_url=_address(as_dict(info.get("x-apiClientRegistration")), "url"),
        ),
        categories=texts_of(extension, "categories"),
        groups=tags.groups(tool.group for tool in tools if tool.group is not None),
        tools=tools,
        events=events,
        schemas=reader.named_types(),
        source_size_bytes=_size_bytes(document),
        origins=None if summary or not description else {"summary": Origin("inferred", "/info/description")},
    )


def _with_use(auth: tuple[Auth, ...], called: Iterable[Ways | None], sent: Iterable[Ways | None]) -> tuple[Auth, ...]:
    """Returns the schemes, those marked that only events require."""
    of_calls, of_events = (
        {credential.scheme for ways in group for way in ways or () for credential in way} for group in (called, sent)
    )
    return tuple(replace(item, is_for_events=True) if item.name in of_events - of_calls else item for item in auth)


def _size_bytes(document: Document) -> int:
    """Gives the size of a description as compact JSON, as that of `tools/list` is counted.

    So the white space that lays a file out earns no larger first level. Nothing depends on it in a large one.
    """
    if document.size_bytes > LAYOUT_COUNTS_FROM_BYTES:
        return document.size_bytes
    text = json.dumps(document.data, ensure_ascii=False, separators=(",", ":"))
    return min(document.size_bytes, len(text.encode("utf-8", "surrogatepass")))


def _checked_version(data: Json, name: str) -> str:
    if not isinstance(data, dict):
        raise SourceError("is not OpenAPI: the document is not an object", where=name, fix="give an OpenAPI document")
    version = data.get("openapi", data.get("swagger"))
    if version is None:
        if (kind := detect_kind(data)) is not None:
            raise SourceError(f"is {kind.what}, not an OpenAPI description", where=name, fix=kind.fix)
        keys = ", ".join(str(key)[:30] for key in list(data)[:5]) or "none"
        raise SourceError(
            f"is not OpenAPI: it has no `openapi` key (its keys: {keys})", where=name, fix="give an OpenAPI document"
        )
    version = str(version)
    if not version.startswith(("3.", "2.") if "openapi" not in data else "3."):
        raise SourceError(f"is OpenAPI {version[:20]!r}; Swagger 2.0 and OpenAPI 3.0 to 3.2 are read", where=name)
    return version


def _version_text(info: dict[str, Json]) -> str | None:
    version = info.get("version")
    if isinstance(version, (int, float)) and not isinstance(version, bool):  # YAML without quotes
        return str(version)
    return text_of(info, "version")


def _endpoints(data: dict[str, Json], document: Document, problems: ProblemLog) -> tuple[Endpoint, ...]:
    found = endpoints_from(data.get("servers"), "/servers", document.url, problems)
    if not any(map(is_absolute, found)):
        problems.warning("base-url-missing", "/servers", "no absolute address of the API is declared", "use --base-url")
    if not found and document.url is not None:
        return (default_endpoint(document.url),)
    return found


def _icons(logo: str | None, hosts: Iterable[str | None], problems: ProblemLog) -> tuple[Icon, ...]:
    if logo is None:
        return ()
    if (objection := icon_objection(logo, filter(None, hosts))) is not None:
        problems.warning("icon-left-out", "/info/x-mcp/logo", objection)
        return ()
    return (Icon(src=logo),)


def _address(holder: dict[str, Json], key: str) -> str | None:
    found = text_of(holder, key)
    return without_credentials(found) if found is not None else None
