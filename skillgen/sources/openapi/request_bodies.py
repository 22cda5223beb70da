"""The body of a request, in a media type that can be written: JSON first, then forms, texts and files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote

from skillgen.markdown.filters import defused
from skillgen.markdown.invisible import visible
from skillgen.model.pointer import child
from skillgen.model.service import Part
from skillgen.model.value import Json, Value
from skillgen.sources.examples.maker import Maker, NoExample
from skillgen.sources.examples.showable import reason_to_hide
from skillgen.sources.examples.validity import Validity
from skillgen.sources.examples.variants import Variants
from skillgen.sources.guards import as_dict, text_of
from skillgen.sources.openapi.media import declared_examples, preferred_first
from skillgen.sources.openapi.parameters import Body
from skillgen.sources.openapi.resolver import Resolver
from skillgen.sources.openapi.wire_values import query_pairs, text_of_value

FORM = "application/x-www-form-urlencoded"
FILE = "FILE"
"""What stands for the name of a file."""

_MEDIA_TYPE = re.compile(r"[A-Za-z0-9!#&^_.+-]+/[A-Za-z0-9!#&^_.+-]+(?:; ?[A-Za-z0-9-]+=[A-Za-z0-9._-]+)*\Z")
_CONCRETE = {"image/*": "image/png", "text/*": "text/plain", "audio/*": "audio/mpeg", "video/*": "video/mp4"}
_TEXTS = re.compile(r"text/|application/(?:graphql|yaml|x-yaml|sql|javascript)\b|.*(?:\+|/)xml\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class SentBody:
    """A body as it is sent."""

    media_type: str
    """Its media type."""

    value: Json
    """What it says, as its schema has it."""

    is_made: bool
    """Whether any of it was made."""

    body: Value | None = None
    """JSON, or a text."""

    parts: tuple[Part, ...] = ()
    """The fields of a form."""

    is_file: bool = False
    """Whether it is the content of a file."""


class BodyMaker:
    """Makes bodies."""

    def __init__(self, maker: Maker, validity: Validity, resolver: Resolver) -> None:
        self._maker = maker
        self._validity = validity
        self._resolver = resolver
        self._variants = Variants(validity.follow, siblings_of_references=validity.reads_siblings_of_references)

    def body(self, body: Body) -> SentBody:
        """Gives a body in the first media type in which one can be made.

        Raises:
            NoExample: in none of them.
        """
        reason = "its body declares no media type"
        content = as_dict(as_dict(body.declared).get("content"))
        for name in preferred_first(content):
            pointer = child(body.pointer, "content", name)
            media, pointer = self._resolver.resolved(content[name], pointer)
            media_type = _CONCRETE.get(name, name)
            if media is None or not (_MEDIA_TYPE.match(media_type) or "*" in media_type):
                continue
            try:
                return self._in_media_type(media_type, media, pointer)
            except NoExample as problem:
                reason = str(problem)
        raise NoExample(reason)

    def _in_media_type(self, media_type: str, media: dict[str, Json], pointer: str) -> SentBody:
        bare = media_type.split(";")[0].strip().lower()
        schema = media.get("schema", {})
        if is_json(bare) or ("*" in bare and self._kind(schema) in ("object", "array")):
            made = self._made(media, pointer)
            is_concrete = is_json(bare) and "*" not in bare
            return SentBody(
                media_type=media_type if is_concrete else "application/json",
                value=made[0],
                is_made=made[1],
                body=Value(made[0]),
            )
        if bare == FORM or bare.startswith("multipart/"):
            value, is_made = self._made(media, pointer)
            if isinstance(value, str) and bare == FORM:  # the source writes the whole form as one text
                return SentBody(media_type=bare, value=value, is_made=is_made, body=Value(_shown(value)))
            if not isinstance(value, dict):
                raise NoExample("a form whose schema is not an object")
            encoding = as_dict(media.get("encoding"))
            parts = self._form(value, encoding) if bare == FORM else self._multipart(value, encoding, schema)
            return SentBody(media_type=media_type.split(";")[0], value=value, is_made=is_made, parts=parts)
        if _TEXTS.match(bare):
            return self._text(media_type, media, pointer)
        concrete = "application/octet-stream" if "*" in media_type else media_type
        return SentBody(media_type=concrete, value=FILE, is_made=True, is_file=True)

    def _text(self, media_type: str, media: dict[str, Json], pointer: str) -> SentBody:
        schema = media.get("schema", {})
        found = [pair for pair in declared_examples(media, pointer, self._resolver) if isinstance(pair[0], str)]
        if "xml" in media_type and not found:
            raise NoExample("XML is not made from a schema, and no text is declared")
        if "xml" in media_type:
            value, is_made = found[0][0], False
            if (reason := reason_to_hide(value)) is not None:
                raise NoExample(reason[1])
        else:
            made = self._maker.made(schema, "text", child(pointer, "schema"), declared=found)
            value, is_made = made.value, made.is_made
        text = value if isinstance(value, str) else text_of_value(value)
        return SentBody(media_type=media_type, value=value, is_made=is_made, body=Value(_shown(text)))

    def _made(self, media: dict[str, Json], pointer: str) -> tuple[Json, bool]:
        if "schema" not in media:
            for value, _ in declared_examples(media, pointer, self._resolver):
                return value, False
            raise NoExample("its body has no schema and no example")
        found = declared_examples(media, pointer, self._resolver)
        made = self._maker.made_meaningful(media["schema"], "body", child(pointer, "schema"), declared=found)
        return made.value, made.is_made

    def _form(self, value: dict[str, Json], encoding: dict[str, Json]) -> tuple[Part, ...]:
        """Writes the fields as `style` says, else a list as repeated fields and an object as JSON."""
        parts: list[Part] = []
        for name, item in value.items():
            how = as_dict(encoding.get(name))
            if isinstance(item, dict) and "style" in how:
                explode = how.get("explode") is True or how["style"] == "deepObject"
                for pair in query_pairs(name, item, str(how["style"]), explode):
                    key, _, text = pair.partition("=")
                    parts.append(_part(unquote(key), unquote(text)))
            elif isinstance(item, list) and how.get("explode") is not False:
                parts.extend(_part(name, text_of_value(member)) for member in item)
            elif isinstance(item, list):
                parts.append(_part(name, ",".join(map(text_of_value, item))))
            else:
                parts.append(_part(name, text_of_value(item)))
        return tuple(parts)

    def _multipart(self, value: dict[str, Json], encoding: dict[str, Json], schema: Json) -> tuple[Part, ...]:
        properties = as_dict(next(self._variants.of(schema), {}).get("properties"))
        parts: list[Part] = []
        for name, item in value.items():
            declared = properties.get(name, {})
            media_type = text_of(encoding.get(name), "contentType")
            items = item if isinstance(item, list) else [item]
            for member in items:
                if self._is_file(declared):
                    parts.append(Part(name=_shown(name), is_file=True))
                elif isinstance(member, (dict, list)):
                    parts.append(_part(name, text_of_value(member), "application/json"))
                elif media_type is not None and _MEDIA_TYPE.match(media_type) and is_json(media_type):
                    parts.append(_part(name, text_of_value(member), media_type))
                else:
                    parts.append(_part(name, text_of_value(member)))
        return tuple(parts)

    def _is_file(self, schema: Json) -> bool:
        flat = next(self._variants.of(schema), {})
        if self._kind(flat) == "array":
            flat = next(self._variants.of(flat.get("items", {})), {})
        return flat.get("format") == "binary" or ("contentMediaType" in flat and "contentEncoding" not in flat)

    def _kind(self, schema: Json) -> str | None:
        kind = next(self._variants.of(schema), {}).get("type")
        return kind if isinstance(kind, str) else None


def is_json(media_type: str) -> bool:
    """Tells whether a media type is one of JSON."""
    bare = media_type.split(";")[0].strip().lower()
    return bare.endswith(("/json", "+json")) or bare in ("text/json", "application/json")


def _part(name: str, text: str, media_type: str | None = None) -> Part:
    return Part(name=_shown(name), text=_shown(text), media_type=media_type)


def _shown(text: str) -> str:
    """Gives a text that a document can show exactly."""
    if defused(visible(text)) != text or text.strip("\n") != text:
        raise NoExample("a value holds what no document may show")
    return text
