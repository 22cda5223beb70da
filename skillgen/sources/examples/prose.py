"""Reads example values out of prose: what follows "e.g.", and calls that a description has as a whole.

No candidate is more than a guess: the caller validates it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache

from skillgen.model.values import Json
from skillgen.text import lazy_re as re
from skillgen.text.words import singular

_TEXT_LIMIT = 8_000
"""Characters of a text that are read."""

_ATTEMPTS_LIMIT = 20
"""Places of one text at which JSON or a call may begin, and parentheses at which a call may end."""

_LEAD = re.compile(
    r"(?P<bare>\be\.\s?g\.?|\beg\.|\bfor (?:example|instance)|\bexamples?(?=\s?:|\sis\b|\sare\b)"
    r"|\bdefault(?:s?(?=\s?:)|s? (?:to|is)))|\bsuch as\b|\bare (?:accepted|allowed|supported)(?=:\n)",
    re.IGNORECASE,
)
"""What precedes a value. After the first ones it need not be quoted."""

_FILLER = re.compile(r"(?:\n\s{0,9}[-*]\s|[\s:,=(\[]|(?:is|are)\b){0,6}")
_QUOTED = re.compile(
    r"`([^`\n]{1,300})`|\"([^\"\n]{1,200})\"|'([^'\n]{1,200})'(?!\w)|“([^“”\n]{1,200})”|‘([^‘’\n]{1,200})’"
)
_BARE = re.compile(
    r"(?:[A-Z0-9][^\s,;()]{0,60}(?: [A-Z0-9][^\s,;()]{0,60}){1,4}|[^\s,;()]{1,200})"
    r"(?=\s?[,;)\n]|\s?\Z|\s(?:or|and)\s|(?<=\.)\s)"
)
_NUMBER = re.compile(r"[`'\"]?(-?\d{1,15}(?:\.\d{1,6})?)(?![\w%:/-]|\.\d)")
_CODE_TAG = re.compile(r"</?(?:code|tt|kbd|samp)>", re.IGNORECASE)
_NEGATION = re.compile(r"\b(?:not|no|never|avoid|cannot|except|than|instead|without)\b|n't\b", re.IGNORECASE)
_REFUSED = re.compile(
    r"(?:[^.;\n]|\.(?!\s)){0,120}\b(?:not (?:allowed|permitted|supported|valid|accepted|used)"
    r"|(?:are|be|is) (?:blocked|denied|disallowed|forbidden|invalid|prohibited|refused|rejected))\b"
)
"""The rest of a sentence on values that are not to be sent."""

_NO_VALUE = re.compile(
    r"\W*|<[^<>]*>|\{[^{}]*\}|\$\{?\w+\}?|\[[^\[\]]*\]|(?:null|none|undefined|etc|true|false|string|integer|number)\.?"
    r"|.*(?:\.\.\.|…|\"|yyyy|hh:mm).*",
    re.IGNORECASE,
)
"""A placeholder, a form, the name of a type, words with a quoted value, or what no one would send."""


_JSON_TEXT = re.compile(
    r"(?i)(?:.{0,80} as |\W{0,3}(?:optional\W+)?)(?:an? )?JSON (?:string )?(?:(?P<list>array|list)|string|object)\b"
)
"""The start of the description of a string that is JSON."""

_TYPE_NAME = re.compile(r"(?i)<?(?:str|string|int|integer|number|float|bool|boolean|object|array)>?|\.\.\.|…")


@lru_cache(4096)
def values_in(text: str, kind: str) -> tuple[Json, ...]:
    """Returns the values of a JSON type that a description has as examples, in their order."""
    text = _CODE_TAG.sub("`", text[:_TEXT_LIMIT])
    if kind in ("object", "array"):
        return tuple(_json_in(text, "{" if kind == "object" else "["))
    if kind == "string" and (written := _JSON_TEXT.match(text)) is not None:
        return tuple(json.dumps(item, ensure_ascii=False) for item in _json_in(text, "[" if written["list"] else "{"))
    found: list[Json] = []
    for lead in _LEAD.finditer(text):
        before = text[max(lead.start() - 30, 0) : lead.start()].rpartition(". ")[2]
        if not _NEGATION.search(before) and not _REFUSED.match(text[lead.end() : lead.end() + 200]):
            filler = _FILLER.match(text, lead.end())
            found += _after(text, filler.end() if filler is not None else lead.end(), kind, lead["bare"] is not None)
    return tuple(found)


def _after(text: str, start: int, kind: str, may_be_bare: bool) -> Iterator[Json]:
    """Yields the values at a place: numbers, or strings in quotation marks, one after another."""
    if kind in ("integer", "number"):
        if (number := _NUMBER.match(text, start)) is not None:
            exact = float(number[1])
            yield int(exact) if exact.is_integer() else exact
    elif kind == "string" and (quoted := _QUOTED.match(text, start)) is not None:
        while quoted is not None:
            if not _NO_VALUE.fullmatch(value := next(filter(None, quoted.groups())).strip("'\"")):
                yield value.rstrip(",")
            quoted = _QUOTED.match(text, between.end()) if (between := _BETWEEN.match(text, quoted.end())) else None
    elif kind == "string" and may_be_bare and (bare := _BARE.match(text, start)) is not None:
        word = bare[0].rstrip(".:")
        if word[:1] not in (*"`'\"“‘*-", "") and not _NO_VALUE.fullmatch(word):
            yield word


_BETWEEN = re.compile(r"\s?(?:[,|/]|,?\s(?:or|and)\b)\s?")


def _json_in(text: str, opening: str) -> Iterator[Json]:
    decoder, start = json.JSONDecoder(), 0
    for _ in range(_ATTEMPTS_LIMIT):
        start = text.find(opening, start)
        if start < 0:
            return
        try:
            value, start = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            start += 1
            continue
        if value and not _names_types(value):
            yield value


def _names_types(value: Json) -> bool:
    """True if a value has names of types in place of values."""
    if isinstance(value, (dict, list)):
        return any(map(_names_types, value.values() if isinstance(value, dict) else value))
    return isinstance(value, str) and _TYPE_NAME.fullmatch(value) is not None


_ARGUMENT = re.compile(
    r"'((?:[^'\\\n]|\\.)*)'?|\"(?:[^\"\\\n]|\\.)*\"?|\b(True|False|None)\b|\b([A-Za-z_]\w{0,60})\s?=(?!=)|,(?=\s*[)\]}])"
)
_CONSTANTS = {"True": "true", "False": "false", "None": "null"}


def calls_in(text: str, name: str) -> Iterator[dict[str, Json]]:
    """Yields the arguments of calls of a tool in its description: `NAME(key="value")`, or JSON objects."""
    text = text[:_TEXT_LIMIT]
    for written in text.split(f"{name}(")[1 : _ATTEMPTS_LIMIT + 1]:
        *pieces, _ = _ARGUMENT.sub(_json_token, written[:2_000]).split(")", _ATTEMPTS_LIMIT)
        for count in range(1, len(pieces) + 1):
            with suppress(ValueError, RecursionError):
                value = json.loads(f"{{{')'.join(pieces[:count]).strip().rstrip(',')}}}")
                if value and not _names_types(value):
                    yield value
                break
    for found in _json_in(text, "{"):
        inner = found.get("arguments") if isinstance(found, dict) else None
        yield inner if isinstance(inner, dict) else found


def _json_token(token: re.Match[str]) -> str:
    single, constant, key = token.groups()
    if single is not None:
        return json.dumps(single.replace("\\'", "'"))
    if constant is not None:
        return _CONSTANTS[constant]
    return f'"{key}":' if key is not None else "" if token[0] == "," else token[0]


_EXPLAINED = re.compile(
    r"^[ \t]{0,16}(?:[-*]\s)?[`*]{0,2}([\w.-]{1,60})[`*]{0,2}(?:\s?\([^()\n]{0,80}\))?\s?:.*", re.MULTILINE
)
"""A line that explains a parameter."""

_LISTED = re.compile(
    r"^\W{0,16}examples? (\w{1,60})\W{0,3}\n\s{0,20}[-*]\s([^\s`]{1,200})$", re.IGNORECASE | re.MULTILINE
)
"""A heading and the first item of the list below it: `Example URLs`."""

_ONE_OF = re.compile(
    r"\b(?:at least one of|exactly one of|(?:pass|provide|specify|supply) (?:either|one of))\b([^.\n]{1,200})",
    re.IGNORECASE,
)
_REQUIRED = re.compile(
    r"\A[^.]{0,60}\(required\)|\A\W{0,3}required\b(?!.{0,3}\b(?:if|when|only|for|by|with|unless)\b)", re.IGNORECASE
)


def lines_on(name: str, text: str) -> str:
    """Returns the lines of a tool's description that explain a parameter: `name (type): …`, or list examples of it."""
    lines = _EXPLAINED.finditer(text[:_TEXT_LIMIT])
    listed = _LISTED.finditer(text[:_TEXT_LIMIT])
    found = [line[0].partition(":")[2] for line in lines if line[1] == name]
    return "\n".join(found + [f"e.g. `{item[2]}`" for item in listed if singular(item[1].lower()) == name.lower()])


def requires(about: str) -> bool:
    """True if a description begins with the word that its parameter is required."""
    return _REQUIRED.match(about) is not None


def needs_one_of(names: Sequence[str], text: str) -> list[str]:
    """Returns those of the names that prose names as alternatives of which a call needs one."""
    if (found := _ONE_OF.search(text[:_TEXT_LIMIT])) is None:
        return []
    words = re.findall(r"[\w.-]+", found[1])
    return [name for name in names if name in words]
