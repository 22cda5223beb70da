"""The parts of a regular expression of ECMA 262, as Python's own parser gives them."""

from __future__ import annotations

import re
import sys
import unicodedata
import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any

if sys.version_info >= (3, 11):
    from re import _constants as sre
    from re import _parser as sre_parser
else:
    import sre_constants as sre
    import sre_parse as sre_parser

__all__ = ["LENGTH_LIMIT", "NoText", "parsed_pattern", "property_of", "sre"]

LENGTH_LIMIT = 200
"""Characters of a text, and of a pattern four times as many; beyond that none is made."""

_PROPERTY = re.compile(r"\\\\|\\([pP])\{(?:\w+=)?(\^?\w+)\}|\[:(\^?\w+):\]")
_SURROGATES = re.compile(r"\\u([Dd][89ABab][0-9A-Fa-f]{2})\\u([Dd][C-Fc-f][0-9A-Fa-f]{2})")
_CLASS_IN_RANGE = re.compile(r"(\\[wdsWDS])-(?!\])")
_CODE_POINT = re.compile(r"\\\\|\\u\{([0-9A-Fa-f]{1,6})\}")
_NOT_OF_PYTHON = re.compile(r"\A/\^|\$/[a-z]*\Z|(?<!\\)(?:\\\\)*(?:\[\^?\]|\{,)")
"""What the author means otherwise: `/^a$/i` as JavaScript writes it, and `[]`, `[^]`, `{,3}`, which Python has too."""
_ENDS = re.compile(r"\\[\\Az]")
_END_SIGNS = {"\\A": "^", "\\z": "$"}
"""What other languages have for the two ends of a text."""

_FIRST_MARKER = 0xF0000
"""Code point of the first character that represents a Unicode property in a parsed pattern; it is of private use."""

_FLAGS = re.UNICODE.value
"""The flags that a parsed pattern may have: Python sets this one for any string."""


class NoText(ValueError):
    """No text is made for a pattern."""


@lru_cache(4096)
def parsed_pattern(pattern: str) -> Any:
    """Returns the parts of a pattern of ECMA 262 with the `u` flag; a literal may be a marker (`property_of`).

    Raises:
        re.error: it is not a pattern of Python's either.
        NoText: it is too long, or Python reads it otherwise.
    """
    if len(pattern) > 4 * LENGTH_LIMIT:
        raise NoText("the pattern is too long")
    if _NOT_OF_PYTHON.search(pattern) or any(property_of(ord(sign)) for sign in pattern):
        raise NoText("the pattern means something else in Python")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parsed = sre_parser.parse(_translated(pattern))
    if parsed.state.flags & ~_FLAGS:
        raise NoText("flags in the pattern")
    return parsed


def property_of(code: int) -> Callable[[str], bool] | None:
    """Returns the test for the Unicode property that a marker represents; `None` for any other character."""
    place = code - _FIRST_MARKER
    if not 0 <= place < 2 * len(_PROPERTIES):
        return None
    test = _PROPERTIES[place // 2]
    return test if place % 2 == 0 else lambda sign: not test(sign)


def _translated(pattern: str) -> str:
    """Returns a pattern of ECMA 262 as Python reads it."""
    pattern = _PROPERTY.sub(_marker, pattern)
    pattern = _CODE_POINT.sub(lambda match: f"\\U{int(match[1], 16):08X}" if match[1] else match[0], pattern)
    pattern = _ENDS.sub(lambda match: _END_SIGNS.get(match[0], match[0]), pattern)
    pattern = _SURROGATES.sub(lambda pair: f"\\U{_joined(pair[1], pair[2]):08X}", pattern)
    pattern = _CLASS_IN_RANGE.sub(r"\1\\-", pattern)
    pattern = pattern.replace("(?<", "(?P<").replace("(?P<=", "(?<=").replace("(?P<!", "(?<!")
    return pattern.replace("\\/", "/")


def _joined(high: str, low: str) -> int:
    return 0x10000 + ((int(high, 16) - 0xD800) << 10) + int(low, 16) - 0xDC00


def _marker(match: re.Match[str]) -> str:
    written = match[2] or match[3]
    if written is None:  # an escaped backslash
        return match[0]
    name = written.removeprefix("^").lower().replace("_", "")
    name = _NAMES.get(name, name)
    name = _NAMES.get(name.removeprefix("is"), name.removeprefix("is"))
    if name not in _PLACES:
        raise NoText(f"the property {written} is not known")
    is_negated = (match[1] == "P") is not written.startswith("^")
    return chr(_FIRST_MARKER + 2 * _PLACES[name] + is_negated)


def _of_category(prefix: str) -> Callable[[str], bool]:
    return lambda sign: unicodedata.category(sign).startswith(prefix)


def _of_script(name: str) -> Callable[[str], bool]:
    """Returns a test that is certain for characters named after the script, and for those of ASCII."""

    def test(sign: str) -> bool:
        if unicodedata.name(sign, "").startswith(name):
            return True
        if sign.isascii():
            return False
        raise NoText(f"the script of {sign!r} is not known")

    return test


def _is_alphabetic(sign: str) -> bool:
    if unicodedata.category(sign) in ("Mn", "Mc", "So", "Nl"):
        raise NoText(f"whether {sign!r} is alphabetic is not known")
    return sign.isalpha()


_CATEGORIES = "Lu Ll Lt Lm Lo L Mn Mc Me M Nd Nl No N Pc Pd Ps Pe Pi Pf Po P Sm Sc Sk So S Zs Zl Zp Z Cc Cf Cs Co Cn C"
_SCRIPTS = "LATIN GREEK CYRILLIC ARABIC HEBREW THAI HANGUL HIRAGANA KATAKANA DEVANAGARI ARMENIAN GEORGIAN"
_TESTS: dict[str, Callable[[str], bool]] = {
    **{name.lower(): _of_category(name) for name in _CATEGORIES.split()},
    **{name.lower(): _of_script(name) for name in _SCRIPTS.split()},
    "han": _of_script("CJK UNIFIED IDEOGRAPH"),
    "lc": lambda sign: unicodedata.category(sign) in ("Lu", "Ll", "Lt"),
    "alphabetic": _is_alphabetic,
    "lowercase": str.islower,
    "uppercase": str.isupper,
    "alnum": lambda sign: _is_alphabetic(sign) or sign.isdecimal(),
    "hexdigit": lambda sign: sign in "0123456789abcdefABCDEF",
    "ascii": str.isascii,
    "any": lambda sign: True,
    "print": lambda sign: " " <= sign <= "~",
    "graph": lambda sign: "!" <= sign <= "~",
}
_PROPERTIES = tuple(_TESTS.values())
_PLACES = {name: place for place, name in enumerate(_TESTS)}
_NAMES = {
    "letter": "l",
    "lowercaseletter": "ll",
    "uppercaseletter": "lu",
    "titlecaseletter": "lt",
    "casedletter": "lc",
    "modifierletter": "lm",
    "otherletter": "lo",
    "mark": "m",
    "combiningmark": "m",
    "nonspacingmark": "mn",
    "number": "n",
    "decimalnumber": "nd",
    "digit": "nd",
    "letternumber": "nl",
    "othernumber": "no",
    "punctuation": "p",
    "punct": "p",
    "dashpunctuation": "pd",
    "connectorpunctuation": "pc",
    "symbol": "s",
    "mathsymbol": "sm",
    "currencysymbol": "sc",
    "separator": "z",
    "spaceseparator": "zs",
    "space": "zs",
    "other": "c",
    "control": "cc",
    "cntrl": "cc",
    "format": "cf",
    "unassigned": "cn",
    "privateuse": "co",
    "alpha": "alphabetic",
    "lower": "lowercase",
    "upper": "uppercase",
    "latn": "latin",
    "grek": "greek",
    "cyrl": "cyrillic",
    "arab": "arabic",
    "hebr": "hebrew",
    "hani": "han",
    "hira": "hiragana",
    "kana": "katakana",
    "xdigit": "hexdigit",
    "asciihexdigit": "hexdigit",
    "ahex": "hexdigit",
}
"""Names to those of `_TESTS`, in lower case and without underscores."""
