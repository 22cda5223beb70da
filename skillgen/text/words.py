"""Splits names and paths into words, and forms singulars and plurals."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain, count

from skillgen.text import lazy_re as re


def distinct(names: Iterable[str]) -> list[str]:
    """Returns names, with a number after each that is taken."""
    taken: dict[str, None] = {}
    for name in names:
        numbered = (f"{name[:60]}-{number}" for number in count(2))
        taken[next(item for item in chain([name], numbered) if item not in taken)] = None
    return [*taken]


def word_set(words: str) -> frozenset[str]:
    """Returns the words of a multi-line string."""
    return frozenset(words.split())


STOP_WORDS = word_set("""
    a after all an and any api are as at batch be before between bulk by current during for from given if in into is it
    its less many me more multiple my new newer not of older on or over per single than that the this to under using via
    when which with without
    """)
WORD = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[^\W\d_A-Za-z]+")


@lru_cache(1 << 13)
def words_of(name: str) -> tuple[str, ...]:
    """Returns the words of a name in lower case, without numbers: `getPullRequest2` has `get`, `pull`, `request`."""
    return tuple(map(str.lower, WORD.findall(name)))


_PAIRS = """
    people:person children:child men:man women:woman indices:index vertices:vertex matrices:matrix
    criteria:criterion analyses:analysis hypotheses:hypothesis aliases:alias biases:bias gases:gas lenses:lens
    leaves:leaf shelves:shelf lives:life quizzes:quiz axes:axis heroes:hero cookies:cookie movies:movie ties:tie
    caches:cache uses:use
    """
_IRREGULAR = dict(pair.split(":") for pair in _PAIRS.split())
"""Plurals that do not follow from their endings."""

_PLURAL = {one: many for many, one in _IRREGULAR.items()}
_SAME = word_set(
    "alias analytics apis atlas bias canvas cors data diabetes economics https kubernetes lens logistics media metadata"
    " news postgres series species"
)
"""Words that are no plurals although they end in -s, and words without a plural."""


@lru_cache(1 << 13)
def singular(word: str) -> str:
    """Returns the singular of a noun, by its ending and a table of exceptions."""
    if word in _SAME or len(word) < 4 or not (word.endswith("s") or word in _IRREGULAR):
        return word
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes")) or (word.endswith("uses") and word[-5] not in "ao"):
        return word[:-2]
    return word if word.endswith(("ss", "us", "is")) else word[:-1]


def plural(noun: str) -> str:
    """Returns the plural of a noun: `policies` for `policy`."""
    if noun in _PLURAL or noun in _SAME:
        return _PLURAL.get(noun, noun)
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "x", "sh", "ch", "z")) else "s")


_NO_WORD_CHARACTER = re.compile(r"\W")
FORMAT_IN_PATH = re.compile(r"\.(?:json|xml)\Z")


def path_segments(path: str) -> tuple[str, ...]:
    """Returns the static segments of a path, without parameters, a query, the name of a format (`/orders.json`), and
    `#Action=Name`, which only names an action."""
    parts = path.partition("?")[0].split("/")
    parts = [FORMAT_IN_PATH.sub("", part.partition(".{")[0]) for part in parts] if "." in path else parts
    return tuple(part for part in parts if part and "{" not in part and not part.startswith("#"))


def without_request(name: str, method: str | None, path: str | None) -> str:
    """Returns a name without its HTTP method: `ListUsers` for `GET_ListUsers`.

    FastAPI adds path and method to the name of a function: `read_user_users__id__get` is `read_user` at `/users/{id}`.
    The path stays if less than two words remain without it.
    """
    if not method:
        return name
    if name.endswith(ending := f"_{method.lower()}"):
        place = _NO_WORD_CHARACTER.sub("_", (path or "").partition("?")[0]) or "_"
        own, _, rest = name.rpartition(place)
        if rest == ending:
            return own if len(words_of(own)) > 1 else own + place
    return name[len(method) + 1 :] or name if name.lower().startswith(f"{method.lower()}_") else name


_STEM_LIMIT = 48
"""Characters of a file name, without extension."""

_RESERVED = frozenset({"con", "prn", "aux", "nul", *(f"com{n}" for n in range(10)), *(f"lpt{n}" for n in range(10))})


def slug(text: str, limit: int = _STEM_LIMIT) -> str:
    """Returns a text in `a-z`, `0-9` and single hyphens, at most `limit` long; it may be empty."""
    text = re.sub("['\u2019]", "", text)
    ascii_text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    result = "-".join(re.findall("[a-z0-9]+", ascii_text))
    if len(result) > limit:
        result = result[:limit].rpartition("-")[0] if "-" in result[limit // 2 : limit] else result[:limit]
    return result.strip("-")


def safe_stem(stem: str, prefix: str, taken: frozenset[str] = frozenset()) -> str:
    """Returns a slug, with a prefix if it is taken or reserved by a system."""
    return f"{prefix}-{stem}" if stem in taken or stem in _RESERVED else stem


def ends_of(word: str, text: str) -> Iterator[int]:
    """Yields the index after each occurrence of a word; a pattern or `split` searches long texts far slower."""
    start = text.find(word)
    while start >= 0:
        yield start + len(word)
        start = text.find(word, start + len(word))
