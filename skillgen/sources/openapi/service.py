"""Reads an OpenAPI description (3.0, 3.1) as a service."""

from __future__ import annotations

from skillgen.errors import ProblemLog, SourceError
from skillgen.markdown.sentences import first_sentence
from skillgen.model.service import Access, Endpoint, Group, Icon, Requirements, Service, Tool
from skillgen.model.value import Json, Origin, Value
from skillgen.sources.addresses import without_credentials
from skillgen.sources.document import Document
from skillgen.sources.guards import as_dict, as_list, text_of, texts_of
from skillgen.sources.json_schema import SchemaReader
from skillgen.sources.openapi.operations import OperationReader
from skillgen.sources.openapi.security import auth_from_schemes
from skillgen.sources.openapi.servers import endpoints_from


def is_description(data: Json) -> bool:
    """Tells whether a document is meant as OpenAPI or Swagger."""
    return isinstance(data, dict) and ("openapi" in data or "swagger" in data)


def service_from_description(document: Document, problems: ProblemLog) -> Service:
    """Reads a description.

    Raises:
        SourceError: the document is not OpenAPI 3.0 or 3.1.
    """
    data = document.data
    version = _checked_version(data, document.name, problems)
    info = as_dict(data.get("info"))
    reader = SchemaReader(problems)
    tools = OperationReader(
        data, reader.scope(data, "", ref_siblings=not version.startswith("3.0")), problems, document.url
    ).tools()
    title = text_of(info, "title")
    if title is None:
        problems.warning("title-missing", "/info/title", "the description has no title", "add info.title")
    if not tools:
        problems.warning("no-operations", "/paths", "the description has no operations")
    external = text_of(as_dict(data.get("externalDocs")), "url")
    external = without_credentials(external) if external is not None else None
    description = text_of(info, "description")
    summary = text_of(info, "summary")
    extension = as_dict(info.get("x-mcp"))
    return Service(
        kind="openapi",
        protocol_version=version,
        name=title or "api",
        title=title,
        version=text_of(info, "version"),
        summary=summary or (first_sentence(description) if description else None),
        description=description,
        homepage=external,
        license=text_of(as_dict(info.get("license")), "name"),
        icons=_icons(extension, problems),
        endpoints=_endpoints(data, document, problems),
        access=Access(
            api=Value(external) if external else None,
            origins={"api": Origin("declared", "/externalDocs/url")} if external else None,
        ),
        requirements=Requirements(
            auth=auth_from_schemes(as_dict(data.get("components")).get("securitySchemes"), problems),
            scopes=(),
        ),
        categories=texts_of(extension, "categories"),
        groups=_groups(data, tools, problems),
        tools=tools,
        schemas=reader.named_types(),
        source_size_bytes=document.size_bytes,
        origins=None if summary or not description else {"summary": Origin("inferred", "/info/description")},
    )


def _checked_version(data: Json, name: str, problems: ProblemLog) -> str:
    if not isinstance(data, dict):
        raise SourceError("is not OpenAPI: the document is not an object", where=name, fix="give an OpenAPI document")
    version = data.get("openapi")
    if version is None and "swagger" in data:
        raise SourceError(
            f"is Swagger {str(data['swagger'])[:20]}, which is not read yet",
            where=name,
            fix="convert it to OpenAPI 3 first",
        )
    if version is None:
        keys = ", ".join(str(key)[:30] for key in list(data)[:5]) or "none"
        raise SourceError(
            f"is not OpenAPI: it has no `openapi` key (its keys: {keys})", where=name, fix="give an OpenAPI document"
        )
    version = str(version)
    if not version.startswith("3."):
        raise SourceError(f"is OpenAPI {version[:20]!r}; 3.0 and 3.1 are read", where=name)
    if not version.startswith(("3.0", "3.1")):
        problems.warning("version-unknown", "/openapi", f"OpenAPI {version[:20]} is read by the rules of 3.1")
    return version


def _endpoints(data: dict[str, Json], document: Document, problems: ProblemLog) -> tuple[Endpoint, ...]:
    found = endpoints_from(data.get("servers"), "/servers", document.url, problems)
    if not any(endpoint.url.startswith(("http://", "https://")) for endpoint in found):
        problems.warning("base-url-missing", "/servers", "no absolute address of the API is declared", "use --base-url")
    return found


def _icons(extension: dict[str, Json], problems: ProblemLog) -> tuple[Icon, ...]:
    logo = text_of(extension, "logo")
    if logo is None:
        return ()
    if not logo.startswith("https:"):
        problems.warning("icon-left-out", "/info/x-mcp/logo", "only https: addresses are kept (SEP-973)")
        return ()
    return (Icon(src=logo),)


def _groups(data: dict[str, Json], tools: tuple[Tool, ...], problems: ProblemLog) -> tuple[Group, ...]:
    """Gives a group for each tag that is some tool's first, in the order of the root's `tags`, then of use."""
    used = dict.fromkeys(tool.group for tool in tools if tool.group is not None)
    declared: dict[str, Group] = {}
    for tag in as_list(data.get("tags")):
        name = text_of(tag, "name")
        if name in used and name not in declared:
            declared[name] = Group(
                name=name,
                title=text_of(tag, "x-displayName") or name,
                description=text_of(tag, "description"),
            )
    rest = (Group(name=name, title=name) for name in used if name not in declared)
    return (*declared.values(), *rest)
