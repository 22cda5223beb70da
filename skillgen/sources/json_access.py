"""JSON of sources: parsed with bounded depth (RFC 8259), and read with checked types; and the limits for all sources.

Parts that are nested too deeply are cut from the text, so that the rest can be read. Every later walk over the data is
recursive; the limit here bounds all of them. SECURITY.md promises these limits. A limit of a single step is in the
module of that step.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from msgspec import MsgspecError

from skillgen.errors import ProblemLog
from skillgen.model.values import NESTING_LIMIT, Json, child, number_or_text
from skillgen.text.markdown import inline
from skillgen.typed import decode

_PROSE_KEYS = frozenset({"description", "summary", "title", "instructions"})
"""Keys of text for people, which may be HTML."""


def as_dict(value: Json) -> dict[str, Json]:
    """Returns an object; an empty one if the value has another type."""
    return value if isinstance(value, dict) else {}


def as_list(value: Json) -> list[Json]:
    """Returns a list; an empty one if the value has another type."""
    return value if isinstance(value, list) else []


def text_of(value: Json, key: str) -> str | None:
    """Returns the string at a key; `None` if it is blank or has another type."""
    text = value.get(key) if isinstance(value, dict) else None
    return text if isinstance(text, str) and (text[:1].isalnum() or not is_blank(text, key)) else None


def is_blank(text: str, key: str) -> bool:
    """True if the string at a key is white space, or prose that is only markup."""
    return not text.strip() or (key in _PROSE_KEYS and is_bare_markup(text))


def is_bare_markup(text: str) -> bool:
    """True if a string is only markup, such as `<p/>`."""
    return text.lstrip()[:1] == "<" and not inline(text)


def texts_of(value: Json, key: str) -> tuple[str, ...]:
    """Returns the strings in the list at a key."""
    return tuple(item for item in as_list(as_dict(value).get(key)) if isinstance(item, str))


def page_items(pages: Json, key: str) -> list[Json]:
    """Returns the items of all pages of a list."""
    return [item for page in as_list(pages) for item in as_list(as_dict(page).get(key))]


def strings_in(value: Json) -> Iterator[str]:
    """Yields the strings in a value, and its keys."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, (dict, list)):
            waiting += reversed([*item, *item.values()] if isinstance(item, dict) else item)


def json_or_none(text: str) -> Json:
    """Returns the JSON value of a text; `None` if it is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


SOURCE_LIMIT_BYTES = 256 * 1024 * 1024
"""Limit for a decompressed body, for all other documents of a description, and for all output of a server in a crawl.

The largest servers known send less than a tenth of this.
"""

PROPERTIES_LIMIT = 100_000
"""Properties of one object that are read: a hundred times the largest published object."""

POINTER_LIMIT = 4_000
"""Characters of a JSON pointer to a schema or an operation that is read.

Each node below repeats the pointer, so one long key above many small nodes would cost their product in memory.
Published descriptions stay below 1,000 characters.
"""

REF_CHAIN_LIMIT = 100
"""Length of a chain of references; each link of a longer chain would walk the rest of it (quadratic time)."""

TOTAL_TIMEOUT_FACTOR = 10
"""A fetch or a login may take this many times the timeout of one response, since a body can arrive byte by byte."""


_YES = frozenset({"true", "yes", "y", "on", "1", "t"})
_NO = frozenset({"false", "no", "n", "off", "0", "f", "none", "null", ""})


def flag_from(value: Json, cautious: bool) -> bool | None:
    """Returns the cautious reading of a value that should be a boolean but is not; `None` if it is not cautious.

    `"true"` or 1 counts only if that is the cautious value. A value that is neither yes nor no counts as cautious.
    """
    if isinstance(value, str):
        word = value.strip().lower()
        flag = True if word in _YES else False if word in _NO else None
    elif isinstance(value, (int, float)):
        flag = bool(value)
    else:
        flag = None if value else not cautious
    return cautious if flag is None or flag is cautious else None


_CUTTABLE_LIMIT = 32 * 1024 * 1024
"""Characters of a text from which deep parts can be cut; a longer one takes too long and is refused."""

_SPACE = " \t\n\r"
_STRUCTURAL = re.compile(r'"[^"\\]*(?:\\[\s\S][^"\\]*)*"?|[\[\]{}]')
"""A string, perhaps without its end, or a bracket."""


def plain_object(content: bytes) -> dict[str, Json] | None:
    """Returns the object that is the JSON of a document in UTF-8; `None` if it is another document, or if there is
    something to report or to replace in it, for which `json_from_text` is many times slower.
    """
    try:
        data = decode(content, dict)
    except (MsgspecError, RecursionError):
        return None
    # Two for each string, and for a duplicate key, which the data lacks.
    # One after a single backslash is in a string. One after three is too, but counts here: the slow parser decides.
    quotes = content.count(b'"') - content.count(b'\\"') + content.count(b'\\\\"')
    return data if quotes == 2 * (_string_count(data) or 0) else None


def _string_count(data: Json) -> int | None:
    """Returns the number of strings in a value, with its keys; `None` if it is nested deeper than `NESTING_LIMIT`.

    Counts level by level, without recursion.
    """
    count, others = 0, [data]
    for _ in range(NESTING_LIMIT + 2):
        objects = [item for item in others if type(item) is dict]
        lists = [item for item in others if type(item) is list]
        if not objects and not lists:
            return count
        others = [item for members in objects for item in members.values() if type(item) is not str]
        others += [item for items in lists for item in items if type(item) is not str]
        count += 2 * sum(map(len, objects)) + sum(map(len, lists)) - len(others)
    return None


def _cut_deep_parts(text: str) -> str:
    """Returns JSON text with a mark in place of each part that is nested too deeply.

    Raises:
        RecursionError: the text is too long for this, or such a part never closes.
    """
    if len(text) > _CUTTABLE_LIMIT:
        raise RecursionError
    pieces: list[str] = []
    depth = done = 0
    for match in _STRUCTURAL.finditer(text):
        if match[0] in "[{":
            depth += 1
            if depth == NESTING_LIMIT + 1:
                pieces.append(text[done : match.start()])
        elif match[0] in "]}":
            if depth == NESTING_LIMIT + 1:
                pieces.append(_CUT_JSON)
                done = match.end()
            depth = max(depth - 1, 0)
    if depth > NESTING_LIMIT:
        raise RecursionError
    return "".join((*pieces, text[done:]))


_POINTER_STEPS = 6
"""Tokens of the pointer that a report of a deep part shows: they reach the schema of a tool."""


def json_from_text(text: str, problems: ProblemLog) -> Json:
    """Parses JSON. Of a duplicate key the last value is used, and a problem is reported (RFC 8259, 4).

    Numbers that Python cannot convert, and `NaN` and `Infinity`, which are not JSON, become strings. Parts that are
    nested too deeply become null and are reported.

    Raises:
        json.JSONDecodeError: the text is not JSON.
        RecursionError: it is nested too deeply, and the deep parts cannot be cut.
    """
    value, end = parse_marked_json(text, len(text) - len(text.lstrip(_SPACE)))
    if text[end:].strip(_SPACE):
        raise json.JSONDecodeError("Extra data", text, end)
    return resolve_marks(value, problems)


def parse_marked_json(text: str, start: int = 0) -> tuple[Json, int]:
    """Parses the JSON value that starts at an index; returns it and the index after it.

    Duplicate keys and parts that are nested too deeply are marked in the value, for `resolve_marks` to report.

    Raises:
        ValueError: there is no JSON at the index.
        RecursionError: it is nested too deeply, and the deep parts cannot be cut.
    """
    try:
        value, end = _DECODER.raw_decode(text, start)
        if _string_count(value) is not None:
            return value, end
    except RecursionError:
        end = len(text)
    return _DECODER.raw_decode(_cut_deep_parts(text[start:end]))[0], end


def resolve_marks(data: Json, problems: ProblemLog) -> Json:
    """Returns a value of `parse_marked_json` without its marks; reports each as a problem with its pointer."""
    root: list[Json] = [data]
    waiting: list[tuple[tuple[str | int, ...], Any, Any]] = [((), root, 0)]
    while waiting:
        path, container, key = waiting.pop()
        item = container[key]
        for name in getattr(item, "duplicate_keys", ()):
            message = f"the key {name[:100]!r} occurs twice in one object; the last value is used"
            problems.report("duplicate-key", child("", *path, name), message)
        if item == _CUT:
            container[key] = None
            # The complete pointer is as long as the part is deep.
            message = f"nested more than {NESTING_LIMIT} levels deep; deeper levels are left out"
            problems.report("nested-too-deeply", child("", *path[: _POINTER_STEPS - 1]), message)
        elif isinstance(item, (dict, list)):
            if type(item) is _DuplicateKeyObject:
                item = container[key] = dict(item)
            members = item.items() if isinstance(item, dict) else enumerate(item)
            inside = [key for key, member in members if isinstance(member, (dict, list)) or member == _CUT]
            waiting.extend(((*path, inner), item, inner) for inner in reversed(inside))
    return root[0]


class _DuplicateKeyObject(dict[str, Json]):
    """A JSON object with duplicate keys."""

    def __init__(self, pairs: list[tuple[str, Json]]) -> None:
        super().__init__(pairs)
        counts = Counter(key for key, _ in pairs)
        self.duplicate_keys = tuple(key for key, count in counts.items() if count > 1)


def _object_from(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    members = dict(pairs)
    return members if len(members) == len(pairs) else _DuplicateKeyObject(pairs)


def _int_or_text(digits: str) -> int | str:
    """Returns an integer; the digits if they are more than Python converts."""
    try:
        return int(digits)
    except ValueError:
        return digits


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object_from, parse_constant=str, parse_float=number_or_text, parse_int=_int_or_text
)
_CUT = "\x00nested too deeply\x00"
_CUT_JSON = json.dumps(_CUT)
"""Marks a cut part until it is reported."""
