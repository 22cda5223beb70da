"""Reads candidates for example values out of prose, and which parameters the prose requires.

A value follows a word such as "e.g.", is quoted in a list, or has the form that the text describes. A complete call is
a JSON object, or is written like a function call. No candidate is more than a guess: the caller validates it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache

from skillgen.model.schema import Parameter
from skillgen.model.values import Json
from skillgen.security.tables import Regex
from skillgen.text import lazy_re as re

_TEXT_LIMIT = 8_000
"""Characters of a text that are read."""

_ATTEMPTS_LIMIT = 20
"""Places of one text at which JSON or a call may begin, and parentheses at which a call may end."""

_LEAD = re.compile(
    r"\b(?P<strong>e\.\s?g\.?|eg\.|for (?:example|instance)|examples?(?=\s?:|\sis\b|\sare\b)"
    r"|default(?:s?(?=\s?:)|s? (?:to|is)|ing to)|(?:values?|options?)(?=\s?:|\sare:?\s)|one of(?! the\b))"
    r"|\b(?:such as|like|either|can be|must be|should be|one of|default)\b",
    re.IGNORECASE,
)
"""What precedes a value. After a strong lead it need not be quoted."""

_FILLER = re.compile(r"(?:[\s:,=(\[]|(?:is|are)\b){0,6}")
_QUOTED = re.compile(
    r"`([^`\n]{1,300})`|\"([^\"\n]{1,200})\"|(?<!\w)'([^'\n]{1,200})'(?!\w)|“([^“”\n]{1,200})”|‘([^‘’\n]{1,200})’"
)
_BARE = re.compile(r"[A-Z0-9][^\s,;()]{0,60}(?: [A-Z0-9][^\s,;()]{0,60}){1,4}|[^\s,;()]{1,200}")
_AFTER_BARE = re.compile(r"\s?[,;)\n]|\s?\Z|\s(?:or|and)\s|(?<=\.)\s")
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,6})?(?![\w%:/-]|\.\d)")
_BETWEEN_VALUES = re.compile(r"\s?(?:[,|/]|,?\s(?:or|and)\b)\s?")
_DEFINED = re.compile(r"^\s{0,12}[-*]\s[`'\"]([^`'\"\n]{1,60})[`'\"]", re.MULTILINE)
"""An item that explains a value."""

_FORM = re.compile(r"[`'\"]([^`'\"\n]{1,100})[`'\"](?=\s(?:format|form|syntax|pattern)\b)")
_CODE_TAG = re.compile(r"</?(?:code|tt|kbd|samp)>", re.IGNORECASE)
_NEGATION = re.compile(r"\b(?:not|no|never|avoid|cannot|except|than|instead|without)\b|n't\b", re.IGNORECASE)
_NO_VALUE = re.compile(
    r"<[^<>]*>|\{[^{}]*\}|\$\{?\w+\}?|\[[^\[\]]*\]|(?:null|none|undefined|etc|true|false)\.?", re.IGNORECASE
)
"""A placeholder, or what no one would send."""

_UNFINISHED = re.compile(r"\.\.\.|…|yyyy|hh:mm", re.IGNORECASE)
"""A part of what is only a form of values."""

_REFUSED = re.compile(
    r"(?:[^.;\n]|\.(?!\s)){0,120}\b(?:not (?:allowed|permitted|supported|valid|accepted|used)"
    r"|(?:are|be|is) (?:blocked|denied|disallowed|forbidden|invalid|prohibited|refused|rejected))\b"
)
"""The rest of a sentence on values that are not to be sent."""

_SENTENCE_END = re.compile(r"(?<!e\.g)(?<!i\.e)[.;](?:\s|\Z)|\n\s*\n|\)")

_LOWER_CASE = re.compile(r"\blower[ -]?case", re.IGNORECASE)

_DATE_PART = r"(?:YYYY|yyyy|YY|yy|MM|mm|DD|dd|HH|hh|SS|ss)"
_DATE_FORM = re.compile(
    rf"(?<![\w-]){_DATE_PART}(?:(?:[-/:. ]|'?T'?)?{_DATE_PART}){{1,5}}(?:\.s{{3}}|\.S{{3}})?(?:'?Z'?)?(?!\w|[-/:.]\w)"
)
_DATE_TOKEN = re.compile(rf"{_DATE_PART}|s{{3}}|S{{3}}|.")
_DATE_VALUES = {"YYYY": "2025", "YY": "25", "DD": "31", "HH": "14", "SS": "00"}

_STANDARDS: tuple[tuple[re.Pattern[str], Json], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), value)
    for pattern, value in {
        r"\bE\.?164\b": "+12025550123",
        r"\bISO.?8601 duration|\bduration\b.{0,40}\bISO.?8601": "P1D",
        r"\bISO.?8601 (?:calendar )?date(?!.?time)|\bdate only\b": "2025-01-31",
        r"\bISO.?8601|\bRFC.?3339": "2025-01-31T09:00:00Z",
        r"\bISO.?4217": "USD",
        r"\bISO.?3166": "US",
        r"\bISO.?639": "en",
        r"\bBCP.?47|\bRFC.?5646": "en-US",
        r"\bCIDR\b": "192.0.2.0/24",
        r"\b(?:unix|epoch)\b.{0,40}\b(?:milliseconds|ms)\b|\bmilliseconds since\b.{0,30}\bepoch\b": 1738314000000,
        r"\bunix (?:time|epoch)|\bepoch (?:time|seconds)|\bseconds since\b.{0,30}\bepoch\b": 1738314000,
    }.items()
)
"""Standards that define the form of a value."""


@lru_cache(4096)
def values_in(text: str, kind: str) -> tuple[Json, ...]:
    """Returns the values of a JSON type that a description mentions, the best first."""
    text = _CODE_TAG.sub("`", text[:_TEXT_LIMIT])
    return tuple({json.dumps(value): value for value in _values(text, kind)}.values())


def _values(text: str, kind: str) -> Iterator[Json]:
    if kind in ("object", "array"):
        yield from _json_in(text, "{" if kind == "object" else "[")
        return
    for lead in _LEAD.finditer(text):
        before = text[max(lead.start() - 30, 0) : lead.start()].rpartition(". ")[2]
        if not _NEGATION.search(before) and not _REFUSED.match(text[lead.end() : lead.end() + 200]):
            yield from _after(text, lead, kind)
    if kind == "string":
        yield from filter(_is_value, (*_listed(text), *_DEFINED.findall(text), *_FORM.findall(text)))
        yield from (_date_of(match[0]) for match in _DATE_FORM.finditer(text))
    for pattern, value in _STANDARDS:
        if isinstance(value, str) == (kind == "string") and pattern.search(text):
            yield value.lower() if isinstance(value, str) and _LOWER_CASE.search(text) else value
            return


def _after(text: str, lead: re.Match[str], kind: str) -> Iterator[Json]:
    """Yields the values that follow a lead."""
    filler = _FILLER.match(text, lead.end())
    start = filler.end() if filler is not None else lead.end()
    if kind in ("integer", "number"):
        quote = start + (text[start : start + 1] in tuple("`'\""))
        number = _NUMBER.match(text, quote)
        if number is not None:
            exact = float(number[0])
            yield int(exact) if exact.is_integer() else exact
        return
    if kind != "string":
        return
    quoted = _QUOTED.match(text, start)
    if quoted is None:
        bare = _BARE.match(text, start) if lead["strong"] else None
        word = bare[0].rstrip(".:") if bare is not None and _AFTER_BARE.match(text, bare.end()) else ""
        if word and _is_value(word) and word[0] not in "`'\"“‘*-" and any(map(str.isalnum, word)):
            yield word
        return
    end = _SENTENCE_END.search(text, quoted.end())
    for item in (quoted, *_QUOTED.finditer(text, quoted.end(), end.start() if end is not None else len(text))):
        if _is_value(value := _inside(item)):
            yield value


def _inside(quoted: re.Match[str]) -> str:
    text = next(part for part in quoted.groups() if part is not None)
    if quoted[0][0] == "`" and (inner := _QUOTED.fullmatch(text)) is not None:
        return _inside(inner)
    return text.rstrip(".,") if quoted[0][0] in '"“' and not text.startswith(".") else text


def _is_value(text: str) -> bool:
    return bool(text.strip()) and not (_NO_VALUE.fullmatch(text) or _UNFINISHED.search(text))


def _listed(text: str) -> Iterator[str]:
    """Yields the first of several quoted values in a list."""
    previous: re.Match[str] | None = None
    for quoted in _QUOTED.finditer(text):
        if previous is not None and _BETWEEN_VALUES.fullmatch(text[previous.end() : quoted.start()]):
            is_negated = _NEGATION.search(text[max(previous.start() - 20, 0) : previous.start()])
            if not is_negated and not _REFUSED.match(text[quoted.end() : quoted.end() + 200]):
                yield _inside(previous)
        previous = quoted


def _date_of(form: str) -> str:
    """Returns a date or time of a form: `14:30` for `HH:MM`."""
    has_hour = False
    parts = []
    for part in _DATE_TOKEN.findall(form):
        key = part.upper()
        has_hour |= key == "HH"
        if key == "MM":
            parts.append("30" if has_hour else "01")
        elif key == "SSS":
            parts.append("000")
        else:
            parts.append(_DATE_VALUES.get(key, part) if part != "'" else "")
    return "".join(parts)


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
        if value:
            yield value


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
                if value := json.loads(f"{{{')'.join(pieces[:count]).strip().rstrip(',')}}}"):
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


def text_on(item: Parameter, text: str) -> str:
    """Returns the description of a parameter, and the lines of a tool's description that explain it: `name (type): …`.

    If it is a URL, an example in the tool's description is added.
    """
    about = description_of(item)
    if not text:
        return about
    lines = _EXPLAINED.finditer(text[:_TEXT_LIMIT])
    about = "\n".join([about, *(line[0].partition(":")[2] for line in lines if line[1] == item.name)])
    if item.name.lower().endswith(("url", "uri")) and (url := _EXAMPLE_URL.search(text[:_TEXT_LIMIT])):
        return f"{about}\nExample: {url[1]}"
    return about


def description_of(item: Parameter) -> str:
    """Returns the description of a parameter, of its value, or of the first alternative that has one."""
    parts = (item.description, item.schema.description, *(part.description for part in item.schema.alternatives))
    return next(filter(None, parts), "")


_EXAMPLE_URL = re.compile(r"\bexamples?\b[^.]{0,80}?(https?://[^\s`'\"<>(){}]{1,200})", re.IGNORECASE)
_REQUIRED = Regex(
    r"\A[^.]{0,60}\(required\)|\A\W{0,3}required\b(?!.{0,3}\b(?:if|when|only|for|by|with)\b)"
    r"|(?<!not )\brequired unless\b",
    re.IGNORECASE,
)
_CONDITION = Regex(
    r"\b(?:required|provide|must|needed|specify|set)\b[^.;\n]{0,40}?\b(?:when|if|for|with)\s(?:the\s)?[`'\"]?(\w{1,60})"
    r"[`'\"]?\s?(?:is set to|is|=|==|:|equals|set to)\s?[`'\"]?([\w-]{1,60})",
    re.IGNORECASE,
)
_CHOICE = Regex(
    r"\b(?:(?:exactly|at least) one of|(?:provide|specify|pass|give|set|use|supply) (?:either|one of)"
    r"|either\b[^.\n]{1,80}\bmust"
    r"|one of\b[^.\n]{1,80}\b(?:must|required|needed))\b[^.\n]{0,200}",
    re.IGNORECASE,
)
_EXCLUSIVE = Regex(
    r"\b(?:exactly|only) one of\b|\bone of these\b[^.\n]{1,40}\bmust\b|\bmutually exclusive\b|^\W{0,4}option (?:1|a)\b",
    re.IGNORECASE | re.MULTILINE,
)
_NEEDS = Regex(r"(?<!not )\brequires?\s(?:an?\s|the\s|either\s)?[`'\"]?([\w-]{1,60})", re.IGNORECASE)
_WORD = re.compile(r"\w+")


def excludes_others(text: str) -> bool:
    """True if the description of a tool has parameters of which a call takes only some."""
    return _EXCLUSIVE.search(text[:_TEXT_LIMIT]) is not None


def wanted_by(text: str, items: Sequence[Parameter], value: Mapping[str, Json]) -> Iterator[tuple[str, ...]]:
    """Yields the optional parameters that the prose requires for a call with some values: one of each tuple.

    `text` is the description of the tool; `items` are all its parameters.
    """
    names = {item.name for item in items}
    for item in items:
        required = _requirement_in(description_of(item))
        is_met = required if isinstance(required, bool) else str(value.get(required[0])) == required[1]
        if item.schema.format == "binary" or is_met:
            yield (item.name,)
    for about in (text, *map(description_of, items)):
        for words in _choices_in(about):
            named = tuple(word for word in words if word in names)
            if len(named) > 1:
                yield named
    for needed in _needs_in(text):
        if needed in names:
            yield (needed,)


@lru_cache(4096)
def _requirement_in(about: str) -> tuple[str, str] | bool:
    """Returns the parameter and its value with which a description requires its own; else whether it is required."""
    condition = _CONDITION.search(about)
    return bool(_REQUIRED.search(about)) if condition is None else (condition[1], condition[2])


@lru_cache(4096)
def _choices_in(about: str) -> tuple[tuple[str, ...], ...]:
    """Returns the words of each choice in a description, without duplicates."""
    choices = _CHOICE.finditer(about[:_TEXT_LIMIT])
    return tuple(tuple(dict.fromkeys(_WORD.findall(choice[0]))) for choice in choices)


@lru_cache(4096)
def _needs_in(text: str) -> tuple[str, ...]:
    """Returns the words for what the description of a tool requires."""
    return tuple(needed[1] for needed in _NEEDS.finditer(text[:_TEXT_LIMIT]))
