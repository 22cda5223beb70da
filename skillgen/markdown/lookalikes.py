"""Names that look like others: letters of another alphabet, or of the same one, that a reader takes for each other."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

_CYRILLIC = ("авеёзіјкмнорстухѕһԁԛԝьгпѵ", "abeeзijkmhopctyxshdqwbrnv")
_GREEK = ("αβγεικνορτυχωηκ", "abyeikvoptuxwnk")
_LATIN = ("ıɑɡɩℓǃǀ", "iagil!l")
_TABLE = str.maketrans("".join(pair[0] for pair in (_CYRILLIC, _GREEK, _LATIN)),
                       "".join(pair[1] for pair in (_CYRILLIC, _GREEK, _LATIN)))  # fmt: skip
_SAME = str.maketrans("0i1|!", "ollll", " \t-._'")
_CAPITAL_EYE = str.maketrans("I", "l")
_OTHER_LETTERS = re.compile("[\u0370-\u03ff\u0400-\u052f]")
_LATIN_LETTERS = re.compile("[A-Za-z]")


def latin(text: str) -> str:
    """Gives a text whose letters are the Latin ones that they look like, without marks, in lower case."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", text).lower().translate(_TABLE)
    return "".join(character for character in plain if not unicodedata.combining(character))


def is_mixed(name: str) -> bool:
    """Tells whether a name mixes Latin letters with Greek or Cyrillic ones."""
    return not name.isascii() and bool(_OTHER_LETTERS.search(name) and _LATIN_LETTERS.search(name))


def look_alikes(names: Iterable[str]) -> list[tuple[str, str]]:
    """Gives each name that looks like an earlier one, with that one. Names that differ in case only are told apart."""
    seen: dict[str, str] = {}
    found = []
    for name in names:
        looks = latin(name.translate(_CAPITAL_EYE)).translate(_SAME)
        earlier = seen.setdefault(looks, name)
        if earlier != name and earlier.lower() != name.lower() and _differ_in_looks_only(earlier, name):
            found.append((name, earlier))
    return found


def _differ_in_looks_only(one: str, other: str) -> bool:
    """Leaves out names that differ in their separators, such as `get_user` and `get-user`: a reader sees those."""
    return len(one) == len(other) and all(
        a == b or (a.isalnum() and b.isalnum()) for a, b in zip(one, other, strict=True)
    )
