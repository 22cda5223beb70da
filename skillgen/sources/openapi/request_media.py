"""What the requests of a description are sent in, before any is read."""

from __future__ import annotations

from collections.abc import Iterator

from skillgen.errors import ProblemLog
from skillgen.model.pointer import child
from skillgen.model.value import Json
from skillgen.sources.guards import as_dict
from skillgen.sources.openapi.media import is_xml
from skillgen.sources.openapi.paths import METHODS
from skillgen.sources.openapi.resolver import Resolver


def is_sent_as_xml(document: dict[str, Json]) -> bool:
    """Tells whether some body, or some part of a form, can be sent as XML alone: then the names in XML matter."""
    resolver = Resolver(document, ProblemLog())
    return any(_is_of_xml(as_dict(resolver.quietly(body).get("content"))) for _, body in bodies(document))


def bodies(document: dict[str, Json]) -> Iterator[tuple[str, Json]]:
    """Gives the bodies of requests, each with its pointer, before what they refer to is read."""
    for path, item in as_dict(document.get("paths")).items():
        more = as_dict(as_dict(item).get("additionalOperations"))
        for key, operation in {**as_dict(item), **more}.items():
            if (key in METHODS or key.isupper()) and isinstance(operation, dict) and "requestBody" in operation:
                above = ("paths", path, "additionalOperations") if key in more else ("paths", path)
                yield child("", *above, key, "requestBody"), operation["requestBody"]
    for name, item in as_dict(as_dict(document.get("components")).get("requestBodies")).items():
        yield child("", "components", "requestBodies", name), item


def _is_of_xml(content: dict[str, Json]) -> bool:
    if content and all(map(is_xml, content)):
        return True
    encodings = (as_dict(as_dict(media).get("encoding")) for media in content.values())
    return any(is_xml(str(as_dict(how).get("contentType"))) for encoding in encodings for how in encoding.values())
