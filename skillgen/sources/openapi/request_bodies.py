"""The body of a request, in a media type that can be written: JSON first, then forms, texts and files."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice

from skillgen.model.exchange import Part
from skillgen.model.pointer import child
from skillgen.model.value import Json, Value
from skillgen.model.wire import is_json, is_of_records, text_of_value
from skillgen.sources.examples.flat_schemas import NoExample
from skillgen.sources.examples.maker import Maker
from skillgen.sources.examples.showable import reason_to_hide
from skillgen.sources.examples.validity import Validity
from skillgen.sources.examples.variants import Variants
from skillgen.sources.guards import as_dict
from skillgen.sources.openapi.bodies import Body
from skillgen.sources.openapi.form_fields import multipart_fields, shown, unnamed_parts, url_encoded_fields
from skillgen.sources.openapi.media import (
    CONCRETE,
    FORM,
    MEDIA_TYPE,
    DeclaredExample,
    declared_examples,
    is_of_lines,
    is_text,
    is_xml,
    media_type_object,
    preferred_first,
    whole_schema,
)
from skillgen.sources.openapi.resolver import Resolver
from skillgen.sources.openapi.xml_text import xml_text

_USUAL = "application/json"

EXAMPLES_LIMIT = 10
"""Examples of one media type that are read."""

FILE = "FILE"
"""What stands for the name of a file."""


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

    is_assumed: bool = False
    """Whether its media type is none of the source's, which names none (Swagger 2.0 without `consumes`)."""

    shown: DeclaredExample | None = None
    """The example of the source that it is."""

    is_open: bool = False
    """Whether it fits its schema only where what is extended does not forbid the properties that are added."""


class BodyMaker:
    """Makes bodies."""

    def __init__(self, maker: Maker, validity: Validity, resolver: Resolver) -> None:
        self._maker = maker
        self._validity = validity
        self._resolver = resolver
        self._variants = Variants(validity.follow, siblings_of_references=validity.reads_siblings_of_references)

    def bodies(self, body: Body) -> list[SentBody]:
        """Returns the body as each example of the source has it, else one that is made.

        They are of the first media type in which one can be made.

        Raises:
            NoExample: in none of them.
        """
        reason = "its body declares no media type"
        content = as_dict(as_dict(body.declared).get("content"))
        for name in preferred_first(content):
            pointer = child(body.pointer, "content", name)
            media, pointer = media_type_object(content[name], pointer, self._resolver)
            if (schema := whole_schema(media)) is not media.get("schema"):
                media = {**media, "schema": schema}
            media_type = CONCRETE.get(name, name) or _USUAL
            if not (MEDIA_TYPE.match(media_type) or "*" in media_type):
                continue
            try:
                found = self._shown(media_type, media, pointer) or [self._in_media_type(media_type, media, pointer)]
            except NoExample as problem:
                reason = str(problem)
            else:
                return [replace(item, is_assumed=not name) for item in found]
        raise NoExample(reason)

    def _shown(self, media_type: str, media: dict[str, Json], pointer: str) -> list[SentBody]:
        """Returns the examples of the source that the schema allows."""
        found: list[SentBody] = []
        for example in islice(declared_examples(media, pointer, self._resolver), EXAMPLES_LIMIT):
            with suppress(NoExample):
                sent = self._in_media_type(media_type, media, pointer, example)
                if not sent.is_made and sent.value == example.value:
                    found.append(replace(sent, shown=example))
        return found

    def _in_media_type(
        self, media_type: str, media: dict[str, Json], pointer: str, example: DeclaredExample | None = None
    ) -> SentBody:
        bare = media_type.split(";")[0].strip().lower()
        schema = media.get("schema", {})
        if is_json(bare) or ("*" in bare and self._kind(schema) in ("object", "array")):
            made = self._made(media, pointer, example)
            is_concrete = is_json(bare) and "*" not in bare
            return SentBody(
                media_type=media_type if is_concrete else "application/json",
                value=made[0],
                is_made=made[1],
                body=Value(made[0]),
            )
        if bare == FORM or bare.startswith("multipart/"):
            value, is_made = self._made(media, pointer, example)
            if isinstance(value, str) and bare == FORM:  # the source writes the whole form as one text
                return SentBody(media_type=bare, value=value, is_made=is_made, body=Value(shown(value)))
            if isinstance(value, list) and bare != FORM:
                parts = unnamed_parts(value, media, self._variants)
            elif not isinstance(value, dict):
                raise NoExample("a form whose schema is not an object")
            elif bare == FORM:
                parts = url_encoded_fields(value, as_dict(media.get("encoding")))
            else:
                parts = multipart_fields(value, as_dict(media.get("encoding")), schema, self._variants)
            return SentBody(media_type=media_type.split(";")[0], value=value, is_made=is_made, parts=parts)
        if is_of_lines(bare) or is_of_records(bare):
            return self._sequence(media_type, media, pointer, example)
        if is_text(bare):
            return self._text(media_type, media, pointer, example)
        concrete = "application/octet-stream" if "*" in media_type else media_type
        return SentBody(media_type=concrete, value=FILE, is_made=True, is_file=True)

    def _text(self, media_type: str, media: dict[str, Json], pointer: str, example: DeclaredExample | None) -> SentBody:
        schema = media.get("schema", {})
        found = [(example.value, example.pointer)] if example is not None and isinstance(example.value, str) else []
        if not is_xml(media_type):
            made = self._maker.made(schema, "text", child(pointer, "schema"), declared=found)
            value, is_made = made.value, made.is_made
            text = value if isinstance(value, str) else text_of_value(value)
        elif found:
            value, is_made = text, _ = found[0][0], False
            if (reason := reason_to_hide(value)) is not None:
                raise NoExample(reason[1])
        else:
            value, is_made = self._made(media, pointer, example)
            text = xml_text(value, schema, self._variants)
        return SentBody(media_type=media_type, value=value, is_made=is_made, body=Value(shown(text)))

    def _sequence(
        self, media_type: str, media: dict[str, Json], pointer: str, example: DeclaredExample | None
    ) -> SentBody:
        """Writes each item on a line of its own; records have signs around them that only a command can show."""
        value, is_made = self._made(media, pointer, example)
        items = value if isinstance(value, list) else [value]
        text = shown("\n".join(json.dumps(item, ensure_ascii=False) for item in items))
        body = Value(items if is_of_records(media_type) else text)
        return SentBody(media_type=media_type, value=value, is_made=is_made, body=body)

    def _made(self, media: dict[str, Json], pointer: str, example: DeclaredExample | None) -> tuple[Json, bool]:
        if "schema" not in media:
            if example is None:
                raise NoExample("its body has no schema and no example")
            return example.value, False
        found = [(example.value, example.pointer)] if example is not None else []
        made = self._maker.made_meaningful(media["schema"], "body", child(pointer, "schema"), declared=found)
        return made.value, made.is_made

    def _kind(self, schema: Json) -> str | None:
        kind = next(self._variants.of(schema), {}).get("type")
        return kind if isinstance(kind, str) else None
