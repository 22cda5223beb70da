"""Finds the texts that address the model, also disguised ones.

What a text says once its disguise is taken off: entities, look-alike letters, codes, signs between letters.

A model reads all of these. What is taken off is only looked at; the documents keep the text as it is written.

Tells quickly which texts are worth a look: nearly all of a large service hold nothing that a rule could find.

Each shape has a thing that descriptions seldom speak of, and each sign a word. A text without any of these words is
passed over; in one with such a word, all things of a shape must be spoken of, wherever they stand.

Finds the texts that address the model.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import contextlib
import html
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain
from urllib.parse import unquote

from skillgen.security.credentials import without_placeholders
from skillgen.security.injection.patterns import (
    FOREIGN,
    FOREIGN_WORDS,
    SENTENCE_END,
    Rule,
    bits_of,
    letters_of,
    pattern_requirements,
    sentences_of,
    tokenize,
    vocabulary,
)
from skillgen.security.injection.rules import RULES
from skillgen.text.unicode import strip_invisible, to_latin

SHORTEST_CODE = 24
"""Letters that base64 has at least: fewer hold no sentence."""

MARK_LETTERS = 6
"""Letters in a row with a sign between each two, from which on they are read as words."""

CODE = re.compile(rf"[A-Za-z0-9+/_-]{{{SHORTEST_CODE},4000}}={{0,2}}")
SPACED = re.compile(rf"(?<![^\W_])(?:[^\W_][ .\-_*]{{1,3}}){{{MARK_LETTERS - 1},}}[^\W_](?![^\W_])")
"""A sign that could be read as a letter too would make it try every way to tell them apart."""
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})")
_PERCENT = re.compile(r"(?:%[0-9a-fA-F]{2}[^%]{0,12}){2,}")
_COMMENT = re.compile(r"<!--|-->")
_TAG_IN_WORD = re.compile(r"(?<=\w)</?([a-z][a-z0-9]{0,9})/?>(?=\w)", re.IGNORECASE)
_BLOCK = re.compile(r"p|div|br|hr|[uod]l|li|d[td]|pre|table|t[rdh]|details|summary|section|h[1-6]", re.IGNORECASE)
"""Tags that part words; others may stand within one."""
_SENDING_IMAGE = re.compile(
    r"!\[[^\]\n]{0,80}\]\(https?://[^)\s]{0,200}[?&][\w-]{0,20}=[^)\s]{0,80}"
    r"(?:conversation|secret|prompt|history|token|password|message|data\b|\{\{?\w)[^)\s]{0,80}\)",
    re.IGNORECASE,
)
_LINK = re.compile(r"\[([^\[\]]{1,200})\]\([^()\s]{0,500}\)")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LEETS = tuple(str.maketrans("0134578@$!", f"o{letter}eastbasi") for letter in "il")
_LEET_WORD = re.compile(r"(?<!\w)(?=\w*[a-z])(?=\w*[0134578@$])[\w@$]{3,}(?!\w)", re.IGNORECASE)
_LEET_WORDS = 2
_MIRRORED = ("snoitcurtsni", "tnatsissa", "tpmorp metsys", "suoiverp", "resu eht", "tegrof", "erongi")
_ROTATED = ("vafgehpgvba", "nffvfgnag", "cerivbhf", "gur hfre", "flfgrz cebzcg", "vtaber")

BACKWARDS = (*_MIRRORED, *_ROTATED)
"""What a text has, in lower case, that is written backwards, or with each letter moved by half the alphabet."""


def shown(text: str) -> str:
    """Gives a text as a reader sees it, and again with letters of other alphabets in Latin ones, in lower case."""
    text = strip_invisible(html.unescape(text) if "&" in text else text)
    if "<" in text:
        text = _TAG_IN_WORD.sub(_parting, _COMMENT.sub("\n", text))
    if "](" in text:
        text = _LINK.sub(r"\1", _SENDING_IMAGE.sub(" imagewithdata ", text) if "![" in text else text)
    if text.isascii():
        return _with_words_of_a_name(text).lower()
    composed = unicodedata.normalize("NFKC", text)
    unmarked = to_latin(text)
    return f"{composed.lower()}\n\n{unmarked}" if unmarked != composed.lower() else unmarked


def is_plain(text: str) -> bool:
    """Tells whether a text reads as it is written."""
    if "&" in text or "<" in text or "](" in text or not text.isascii():
        return False
    return " " in text or text.islower()


def hidden_in(text: str) -> Iterator[str]:
    """Gives, in lower case, what a text holds in a code, with signs between its letters, backwards or turned."""
    for match in CODE.finditer(text):
        with contextlib.suppress(binascii.Error, UnicodeDecodeError):
            code = match[0].rstrip("=").replace("-", "+").replace("_", "/")
            decoded = base64.b64decode(code + "=" * (-len(code) % 4)).decode("utf-8")
            if decoded.isprintable():
                yield decoded.lower()
        with contextlib.suppress(ValueError, UnicodeDecodeError):
            decoded = bytes.fromhex(match[0]).decode("utf-8")
            if decoded.isprintable():
                yield decoded.lower()
    if "%" in text and _PERCENT.search(text):
        yield unquote(text).lower()
    if "\\" in text and _ESCAPE.search(text):
        yield _ESCAPE.sub(lambda match: chr(int(match[1] or match[2], 16)), text).lower()
    for match in SPACED.finditer(text):
        words = re.split(r"[ .\-_*]{2,3}", match[0]) if re.search(r"[ .\-_*]{2}", match[0]) else match[0].split(" ")
        yield " ".join(re.sub(r"[\W_]", "", word) for word in words).lower()
    if len(_LEET_WORD.findall(text)) >= _LEET_WORDS:
        for table in _LEETS:
            yield _LEET_WORD.sub(partial(_translated, table), text).lower()
    lower = text.lower()
    if any(word in lower for word in _MIRRORED):
        yield lower[::-1]
    if any(word in lower for word in _ROTATED):
        yield codecs.decode(lower, "rot13")


def _parting(tag: re.Match[str]) -> str:
    return "\n" if _BLOCK.fullmatch(tag[1]) else ""


def _translated(table: dict[int, int], match: re.Match[str]) -> str:
    return match[0].lower().translate(table)


def _with_words_of_a_name(text: str) -> str:
    """Gives the words of a name without spaces, such as `systemPrompt`."""
    return _CAMEL.sub(" ", text) if " " not in text else text


_SHORTEST, _SHORTEST_WITHOUT_SPACES = 12, 5
"""Characters below which nothing is an order, in alphabets and in scripts that write a word in a sign or two."""

_BLANK = str.maketrans({**dict.fromkeys("'*`\"~", None), **dict.fromkeys("!#$%&()+,-./:;<=>?@[\\]^_{|}\t\n\r", " ")})
_FILE_NAMES = (
    "ssh rsa dsa ed25519 ecdsa passwd shadow sudoers hosts aws env cursor claude gitconfig netrc npmrc pypirc kube "
    "gnupg bash bashrc zsh zshrc pgpass gcloud azure wallet mcp authorized credentials pem"
)
_FILE_WORDS = frozenset(_FILE_NAMES.split())
_FILE_SIGNS = ("~/.", ".docker/", ".config/")
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
_ALONE = frozenset("lohru")
"""Letters of which an order has one, and that hardly ever stand alone."""
_SHORT_WORDS = 2.5
"""Characters that a text has for each of its words, when signs stand between its letters."""

_DIGIT_IN_WORD = re.compile(r"[A-Za-z@$][0134578]|[0134578][A-Za-z]")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Index:
    """What is looked for, by words. A thing is a bit here, so that all that a text speaks of is one number."""

    sought: frozenset[str]
    """All words below."""
    seldom: frozenset[str]
    """Those of the things by which shapes are found."""
    regex_literals: dict[str, tuple[str, ...]]
    """The stems of signs, by a word of each."""
    foreign: frozenset[str]
    patterns: dict[int, tuple[tuple[int, tuple[int, ...]], ...]]
    """What each shape must have, and of what one, by each thing by which it is found."""
    found_by: int
    """All things by which shapes are found."""
    known: frozenset[str]
    """All words that speak of something."""
    things: dict[str, int]
    """What words that stand alone speak of."""
    phrases: dict[str, tuple[tuple[frozenset[str], int], ...]]
    """What words speak of together, by one of them."""


def is_too_short(text: str) -> bool:
    """Tells whether a text is too short for an order."""
    return len(text) < _SHORTEST and (len(text) < _SHORTEST_WITHOUT_SPACES or text.isascii())


def words_of(text: str) -> list[str]:
    """Gives the words of a text in lower case, as they are looked for."""
    return text.translate(_BLANK).split()


def words_of_each(texts: list[str]) -> list[list[str]]:
    """Gives the same for several texts, at once where they are in ASCII: to begin takes as long as a short text."""
    blank = iter("\0".join([text for text in texts if text.isascii()]).translate(_BLANK).split("\0"))
    if any("\0" in text for text in texts):
        return list(map(words_of, texts))
    return [next(blank).split() if text.isascii() else words_of(text) for text in texts]


def may_be_broken(text: str, words: list[str]) -> bool:
    """Tells whether a text in lower case, with these words, may be one that a rule finds."""
    index = _index()
    found = index.sought.intersection(words)
    if may_have_sign(text, found):
        return True
    return bool(found) and (len(found & index.foreign) >= FOREIGN_WORDS or may_have_shape(text, words))


def may_have_sign(text: str, words: Iterable[str]) -> bool:
    """Tells whether a text in lower case, with these words, has what the signs of a rule need."""
    if "<|" in text or "~/." in text:
        return True
    regex_literals = _index().regex_literals
    return any(stem in text for word in regex_literals.keys() & words for stem in regex_literals[word])


def may_name_a_file(text: str, words: list[str]) -> bool:
    """Tells whether a text may name a file that is nobody's business."""
    return not _FILE_WORDS.isdisjoint(words) or any(sign in text for sign in _FILE_SIGNS)


def is_foreign(text: str, words: list[str]) -> bool:
    """Tells whether a text with these words may have a sentence in another language than English."""
    return not text.isascii() or len(_index().foreign.intersection(words)) >= FOREIGN_WORDS


def may_have_shape(text: str, words: list[str]) -> bool:
    """Tells whether a text in lower case, with these words, speaks of all things of a shape."""
    index = _index()
    if index.seldom.isdisjoint(words):
        return False
    things = _things(text, words, index)
    left = things & index.found_by
    while left:
        lowest = left & -left
        for every, choices in index.patterns[lowest]:
            if things & every == every and all(things & choice for choice in choices):
                return True
        left ^= lowest
    return False


def strange_words(texts: Iterable[list[str]]) -> frozenset[str]:
    """Gives those of all words of some texts for which one may be disguised."""
    words = set().union(*texts)
    return _ALONE | _BACKWARDS | {word for word in words if len(word) >= SHORTEST_CODE or _DIGIT_IN_WORD.search(word)}


def may_be_disguised(text: str, words: list[str], strange: frozenset[str]) -> bool:
    """Tells whether a text may say something in a code, or with signs or digits among its letters."""
    if "%" in text or "\\" in text or len(text) < _SHORT_WORDS * len(words):
        return True
    if not strange.isdisjoint(words):
        if not _ALONE.isdisjoint(words) and SPACED.search(text):
            return True
        return bool(CODE.search(text)) or not _BACKWARDS.isdisjoint(words) or len(_DIGIT_IN_WORD.findall(text)) > 1
    return False


def _things(text: str, words: list[str], index: _Index) -> int:
    """Gives what the words of a text may speak of."""
    present = index.known.intersection(words)
    things = bits_of(letters_of(("MAIL", "AWAY"))) if "@" in text else 0
    for word in present:
        things |= index.things.get(word, 0)
    for word in index.phrases.keys() & present:
        for phrase, known in index.phrases[word]:
            if phrase <= present:
                things |= known
    return things


def _rarest(words: Iterable[str]) -> str:
    """Gives the word by which a phrase is found: the longest of those that not every text has, and the last of them."""
    return max(reversed(tuple(words)), key=lambda word: (word not in _COMMON, len(word)), default="")


@lru_cache(1)
def _index() -> _Index:
    patterns: dict[int, list[tuple[int, tuple[int, ...]]]] = {}
    found_by: set[str] = set()
    for pattern in chain.from_iterable(rule.patterns for rule in RULES):
        every, choices, by = pattern_requirements(pattern)
        found_by |= by
        for letter in by:
            patterns.setdefault(bits_of(letter), []).append((every, choices))
    single, phrases = vocabulary()
    things = {word: bits_of(known) for word, known in single.items()}
    for words, names in ((_FILE_WORDS, ("FILE",)), (_LINKED, ("URL", "AWAY"))):
        bits = bits_of(letters_of(names))
        things |= {word: things.get(word, 0) | bits for word in words}
    seldom = {word for word, known in single.items() if not found_by.isdisjoint(known)} | _FILE_WORDS
    together: dict[str, list[tuple[frozenset[str], int]]] = {}
    for first, found in phrases.items():
        for rest, known in found:
            rarest = _rarest((first, *rest))
            together.setdefault(rarest, []).append((frozenset((first, *rest)), bits_of(known)))
            if not found_by.isdisjoint(known):
                seldom.add(rarest)
    regex_literals: dict[str, tuple[str, ...]] = {}
    for stem in chain.from_iterable(rule.literals for rule in RULES):
        word = _rarest(words_of(stem))
        regex_literals[word] = (*regex_literals.get(word, ()), stem)
    foreign = frozenset(word for word, known in single.items() if FOREIGN in known)
    return _Index(
        sought=frozenset(seldom) | regex_literals.keys() | foreign,
        seldom=frozenset(seldom),
        regex_literals=regex_literals,
        foreign=foreign,
        patterns={thing: tuple(found) for thing, found in patterns.items()},
        found_by=bits_of(found_by),
        known=frozenset(things).union(*(phrase for found in together.values() for phrase, _ in found)),
        things=things,
        phrases={word: tuple(found) for word, found in together.items()},
    )


MAX_TEXT_LENGTH = 1_000_000
"""Characters of one text that are looked at; beyond them it is no description any more, and is cut off."""

_FILES = re.compile(
    r"(?<!\w)\.ssh\b(?!.{0,40}\.pub)|\bid_(?:rsa|dsa|ed25519|ecdsa)\b(?!\.pub)"
    r"|(?<![\w.])/?etc/(?:passwd|shadow|sudoers|hosts)\b"
    r"|(?<![\w/])\.(?:aws|env|cursor|claude|git-credentials|gitconfig|netrc|npmrc|pypirc|kube|gnupg|docker/config|bashrc|"
    r"bash_history|zshrc|zsh_history|pgpass|config/gh|config/gcloud|azure)\b(?![-(])|(?<=~/)\.\w[\w./-]*|\bmcp\.json\b"
    r"|(?:/home/[\w.-]{1,60}|/root|/users/[\w.-]{1,60}|\$\{?home\}?|%userprofile%)[/\\]\.\w[\w./-]*"
    r"|\bclaude_desktop_config|\bwallet\.dat\b|\bcredentials\.json\b|(?<=\s)\.pem\b"
)
_AT_ONCE = 1_000
"""Texts whose words are kept at a time."""

_NO_THINGS = frozenset(" \n")
_FEWEST_WORDS = 3
"""Words of an order in an alphabet."""

_ADDRESS = re.compile(r"[\w.+-]{1,60}@[\w-]{1,60}\.\w+")
_URL = re.compile(r"https?://[^\s<>\"')]+")
_DELETED = str.maketrans(dict.fromkeys("'’‘*`\"“”~", None))


def first_matching_rule(text: str) -> Rule | None:
    """Gives the first rule by which a text addresses the model; none where it describes."""
    return find_injections((text[:MAX_TEXT_LENGTH],)).get(text[:MAX_TEXT_LENGTH])


def find_injections(texts: Iterable[str]) -> dict[str, Rule]:
    """Gives those texts that address the model, each with the first rule by which it does."""
    found: dict[str, Rule] = {}
    waiting = [text for text in texts if not is_too_short(text)]
    for start in range(0, len(waiting), _AT_ONCE):
        for text, said in _worth_a_look(waiting[start : start + _AT_ONCE]):
            if text not in found and (rule := _rule_for(said)) is not None:
                found[text] = rule
    return found


def _worth_a_look(texts: list[str]) -> Iterator[tuple[str, str]]:
    """Gives what texts say, and what they hide, where a rule may find something in it."""
    own_words = list(map(without_placeholders, texts))  # "[hidden]" is also a form of imitation
    readings = [text.lower() if is_plain(text) else shown(text) for text in own_words]
    words_of_texts = words_of_each(readings)
    strange = strange_words(words_of_texts)
    for text, own, reading, words in zip(texts, own_words, readings, words_of_texts, strict=True):
        if len(words) < _FEWEST_WORDS and len(text) < SHORTEST_CODE and reading.isascii():
            continue
        if not reading.isascii() or may_be_broken(reading, words):
            yield text, reading
        if may_be_disguised(own, words, strange):
            for hidden in hidden_in(own):
                yield text, hidden


@lru_cache(1 << 12)
def _rule_for(reading: str) -> Rule | None:
    words = words_of(reading)
    sentences = sentences_of(_as_words(reading, words))
    if len(sentences) > 1 and not is_foreign(reading, words):
        pairs = zip(sentences, words_of_each(sentences), strict=True)
        sentences = [sentence for sentence, own in pairs if may_have_shape(sentence, own)]
    row = SENTENCE_END.join(map(tokenize, sentences))
    things = bits_of(set(row) - _NO_THINGS)
    has_sign = may_have_sign(reading, words)
    return next((rule for rule in RULES if rule.finds(reading, row, things, has_sign=has_sign)), None)


def _as_words(text: str, words: list[str]) -> str:
    """Gives a text whose addresses and files are words."""
    if may_name_a_file(text, words):
        text = _FILES.sub(" sensitivefile ", text)
    if "@" in text:
        text = _ADDRESS.sub(" somemail ", text)
    if "://" in text:
        text = _URL.sub(" someurl ", text)
    return text.translate(_DELETED)
