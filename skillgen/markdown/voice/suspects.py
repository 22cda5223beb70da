"""Tells quickly which texts are worth a look: nearly all of a large service hold nothing that a rule could find.

Each shape has a thing that descriptions seldom speak of, and each sign a word. A text without any of these words is
passed over; in one with such a word, all things of a shape must be spoken of, wherever they stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from skillgen.markdown.voice.coding import FOREIGN, FOREIGN_WORDS, letters_of, shape_choices, vocabulary
from skillgen.markdown.voice.disguises import BACKWARDS, SHORTEST_CODE
from skillgen.markdown.voice.rules import RULES

FILE_STEMS = (
    *(".ssh", "id_rsa", "id_dsa", "id_ed25519", "id_ecdsa", "etc/", ".aws", ".env", ".cursor", ".claude", ".git"),
    *(".netrc", ".npmrc", ".pypirc", ".kube", ".gnupg", ".docker", ".bash", ".zsh", ".pgpass", ".config/", ".azure"),
    *("mcp.json", "claude_desktop", "wallet.dat", "authorized_keys", "credentials.json", ".pem"),
)
"""Of which the name of a file that is nobody's business has one."""

_SHORTEST, _SHORTEST_WITHOUT_SPACES = 12, 5
"""Characters below which nothing is an order, in alphabets and in scripts that write a word in a sign or two."""

_BLANK = str.maketrans({**dict.fromkeys("'*`\"~", None), **dict.fromkeys("!#$%&()+,-./:;<=>?@[\\]^_{|}\t\n\r", " ")})
_FILES_WORDS = (
    "ssh rsa dsa ed25519 ecdsa passwd shadow sudoers hosts aws env cursor claude gitconfig netrc npmrc pypirc kube "
    "gnupg bash bashrc zsh zshrc pgpass gcloud azure wallet mcp authorized credentials pem"
)
_FILES = frozenset(_FILES_WORDS.split())
_COMMON_WORDS = (
    "a about access add admin alert all an any api are as at be been by can check comment comments for from full get "
    "has have if in include is it key list may must need new not note number of on one only or pass private project "
    "read request requests reference removed report response rest secret secrets see text that the their this time to "
    "tokens use user users value view was what when whether which will with you your"
)
_COMMON = frozenset(_COMMON_WORDS.split())
"""Words that so many descriptions have that a phrase is not looked for by them."""

_BACKWARDS = frozenset(max(stem.split(), key=len) for stem in BACKWARDS)
_LINKED = frozenset({"http", "https"})
_SHORT_WORDS = 2.5
"""Characters that a text has for each of its words, when signs stand between its letters."""

_DIGIT_IN_WORD = re.compile(r"[A-Za-z@$][0134578]|[0134578][A-Za-z]")

Choices = tuple[frozenset[str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Index:
    """What is looked for, by words."""

    sought: frozenset[str]
    """All words below."""
    seldom: frozenset[str]
    """Those of the things by which shapes are found."""
    stems: dict[str, tuple[str, ...]]
    """The stems of signs, by a word of each."""
    foreign: frozenset[str]
    shapes: dict[str, tuple[Choices, ...]]
    """The letters of each shape, by each letter of the thing by which it is found."""
    known: frozenset[str]
    """All words that speak of something."""
    first: frozenset[str]
    """The first words of phrases."""


def is_too_short(text: str) -> bool:
    """Tells whether a text is too short for an order."""
    return len(text) < _SHORTEST and (len(text) < _SHORTEST_WITHOUT_SPACES or text.isascii())


def words_of(text: str) -> list[str]:
    """Gives the words of a text in lower case, as they are looked for."""
    return text.translate(_BLANK).split()


def may_be_broken(text: str, words: list[str]) -> bool:
    """Tells whether a text in lower case, with these words, may be one that a rule finds."""
    index = _index()
    found = index.sought.intersection(words)
    if "<|" in text or "~/." in text:
        return True
    if not found:
        return False
    for word in found & index.stems.keys():
        if any(stem in text for stem in index.stems[word]):
            return True
    if len(found & index.foreign) >= FOREIGN_WORDS:
        return True
    if found.isdisjoint(index.seldom):
        return False
    letters = _letters(text, words, index)
    return any(
        all(not choice.isdisjoint(letters) for choice in choices)
        for letter in index.shapes.keys() & letters
        for choices in index.shapes[letter]
    )


def may_be_disguised(text: str, words: list[str]) -> bool:
    """Tells whether a text may say something in a code, or with signs or digits among its letters."""
    if "%" in text or "\\" in text or len(text) < _SHORT_WORDS * len(words):
        return True
    if len(text) >= SHORTEST_CODE and max(map(len, words), default=0) >= SHORTEST_CODE:
        return True
    if not _BACKWARDS.isdisjoint(words):
        return True
    return not text.isalpha() and len(_DIGIT_IN_WORD.findall(text)) > 1


def _letters(text: str, words: list[str], index: _Index) -> set[str]:
    """Gives the letters of what the words of a text may speak of."""
    single, phrases = vocabulary()
    present = index.known.intersection(words)
    letters = set("".join([single[word] for word in present if word in single]))
    for word in index.first & present:
        for rest, known in phrases[word]:
            if present.issuperset(rest):
                letters.update(known)
    if "@" in text:
        letters |= letters_of(("MAIL", "AWAY"))
    if not _FILES.isdisjoint(present):
        letters |= letters_of(("FILE",))
    if not _LINKED.isdisjoint(present):
        letters |= letters_of(("URL", "AWAY"))
    return letters


def _rarest(words: Iterable[str]) -> str:
    """Gives the word by which a phrase is found: the longest of those that not every text has."""
    return max(words, key=lambda word: (word not in _COMMON, len(word)), default="")


@lru_cache(1)
def _index() -> _Index:
    shapes: dict[str, list[Choices]] = {}
    for pattern in chain.from_iterable(rule.shapes for rule in RULES):
        choices, by = shape_choices(pattern)
        for letter in by:
            shapes.setdefault(letter, []).append(choices)
    single, phrases = vocabulary()
    seldom = {word for word, known in single.items() if not shapes.keys().isdisjoint(known)} | _FILES
    for first, found in phrases.items():
        seldom |= {_rarest((first, *rest)) for rest, known in found if not shapes.keys().isdisjoint(known)}
    stems: dict[str, tuple[str, ...]] = {}
    for stem in chain.from_iterable(rule.literals for rule in RULES):
        word = _rarest(words_of(stem))
        stems[word] = (*stems.get(word, ()), stem)
    foreign = frozenset(word for word, known in single.items() if FOREIGN in known)
    return _Index(
        sought=frozenset(seldom) | stems.keys() | foreign,
        seldom=frozenset(seldom),
        stems=stems,
        foreign=foreign,
        shapes={letter: tuple(found) for letter, found in shapes.items()},
        known=frozenset(single)
        | phrases.keys()
        | {word for found in phrases.values() for rest, _ in found for word in rest}
        | _FILES
        | _LINKED,
        first=frozenset(phrases),
    )
