"""Finds the texts that address the model, also obfuscated ones.

Deobfuscation undoes entities, look-alike letters, encodings and characters between letters, since models read all of
them. Only the search sees the result; documents contain the original text.

A prefilter skips nearly all texts of a large service. It is derived from the rules, and looks up in many texts at once
which of them have all concepts of a pattern, in any order. A regular expression is searched for in a text with one of
its literals.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import contextlib
import html
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial, reduce
from itertools import accumulate, chain
from operator import add, or_
from urllib.parse import unquote

from skillgen.security.credentials import without_placeholders
from skillgen.security.injection.patterns import (
    MIN_FOREIGN_WORDS,
    SENTENCE_END,
    Pattern,
    Rule,
    foreign_sentences,
    lexicon,
    rules,
    sentences_of,
    tokenize,
)
from skillgen.security.tables import Regex
from skillgen.text import lazy_re as re
from skillgen.text.unicode import strip_invisible, to_latin

_MIN_BASE64_LENGTH = 24
"""Characters of the shortest base64 that is decoded; fewer contain no sentence."""

_MIN_SPACED_LETTERS = 6
"""Letters with a character between each two that are read as words."""

_BASE64 = re.compile(rf"[A-Za-z0-9+/_-]{{{_MIN_BASE64_LENGTH},4000}}={{0,2}}")
_SPACED = re.compile(rf"(?<![^\W_])(?:[^\W_][ .\-_*]{{1,3}}){{{_MIN_SPACED_LETTERS - 1},}}[^\W_](?![^\W_])")
"""The separators must not be word characters: backtracking would take exponential time."""
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})")
_PERCENT = re.compile(r"(?:%[0-9a-fA-F]{2}[^%]{0,12}){2,}")
_COMMENT = re.compile(r"<!--|-->")
_TAG_IN_WORD = re.compile(r"(?<=\w)</?([a-z][a-z0-9]{0,9})/?>(?=\w)", re.IGNORECASE)
_BLOCK = re.compile(r"p|div|br|hr|[uod]l|li|d[td]|pre|table|t[rdh]|details|summary|section|h[1-6]", re.IGNORECASE)
"""Tags that separate words; others may be within a word."""
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
_REVERSIBLE = ("instructions", "assistant", "system prompt", "previous", "the user", "forget", "ignore")
_MIRRORED = tuple(words[::-1] for words in _REVERSIBLE)
_ROTATED = tuple(codecs.encode(words, "rot13") for words in _REVERSIBLE)
"""What indicates, in lower case, a text in reverse or in ROT13."""


def _deobfuscate(text: str) -> str:
    """Returns a text as a reader sees it, in lower case, and again with look-alike letters replaced by Latin ones."""
    text = strip_invisible(html.unescape(text) if "&" in text else text)
    if "<" in text:
        text = _TAG_IN_WORD.sub(_tag_separator, _COMMENT.sub("\n", text))
    if "](" in text:
        text = _LINK.sub(r"\1", _SENDING_IMAGE.sub(" imagewithdata ", text) if "![" in text else text)
    if text.isascii():
        return (_CAMEL.sub(" ", text) if " " not in text else text).lower()
    composed = unicodedata.normalize("NFKC", text)
    unmarked = to_latin(text)
    return f"{composed.lower()}\n\n{unmarked}" if unmarked != composed.lower() else unmarked


def _is_plain(text: str) -> bool:
    """True if `_deobfuscate` would only lower its case."""
    if "&" in text or "<" in text or "](" in text or not text.isascii():
        return False
    return " " in text or text.islower()


def _decode_hidden(text: str) -> Iterator[str]:
    """Yields, in lower case, what a text contains encoded, spaced out, in leetspeak, in reverse or in ROT13."""
    for match in _BASE64.finditer(text):
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
    for match in _SPACED.finditer(text):
        words = re.split(r"[ .\-_*]{2,3}", match[0]) if re.search(r"[ .\-_*]{2}", match[0]) else match[0].split(" ")
        yield " ".join(re.sub(r"[\W_]", "", word) for word in words).lower()
    if len(_LEET_WORD.findall(text)) >= _LEET_WORDS:
        for table in _LEETS:
            yield _LEET_WORD.sub(partial(lambda table, word: word[0].lower().translate(table), table), text).lower()
    lower = text.lower()
    if any(word in lower for word in _MIRRORED):
        yield lower[::-1]
    if any(word in lower for word in _ROTATED):
        yield codecs.decode(lower, "rot13")


def _tag_separator(tag: re.Match[str]) -> str:
    return "\n" if _BLOCK.fullmatch(tag[1]) else ""


_MIN_LENGTH, _MIN_LENGTH_NON_ASCII = 12, 5
"""Characters of the shortest order, in ASCII and in scripts that write a word in one or two characters."""

_BLANK = str.maketrans({**dict.fromkeys("'*`\"~", None), **dict.fromkeys("!#$%&()+,-./:;<=>?@[\\]^_{|}\t\n\r", " ")})
_TELLTALE_WORDS = frozenset(max(words.split(), key=len) for words in (*_MIRRORED, *_ROTATED))
_URL_SCHEMES = frozenset({"http", "https"})
_LONE_LETTERS = frozenset("lohru")
"""Letters that rarely occur alone; an order with spaces between its letters has one of them."""
_MIN_CHARACTERS_PER_WORD = 2.5
"""A text with fewer characters per word probably has spaces between its letters."""

_DIGIT_IN_WORD = re.compile(r"[A-Za-z@$][0134578]|[0134578][A-Za-z]")

_Literal = tuple[str, Regex]
"""A literal, and the regular expression whose matches contain it or another one."""


class _Index:
    """The index of the prefilter. Sets of texts are bit sets."""

    def __init__(self) -> None:
        known = lexicon()
        self._file, self._address = known.codes_of("FILE"), known.codes_of("MAIL/AWAY")
        self._codes = {**known.words, **dict.fromkeys(_URL_SCHEMES, "".join(known.codes_of("URL/AWAY")))}
        self._phrases: dict[str, list[tuple[list[str], str]]] = {}
        """Word to the other words of the phrases of which it is the longest, with their concepts."""
        for first, rests in known.phrases.items():
            for rest, codes in rests:
                *others, longest = sorted((first, *rest), key=len)
                self._phrases.setdefault(longest, []).append((others, codes))
        self._known_words = self._codes.keys() | known.phrases.keys()
        self._known_words.update(chain.from_iterable(rest for rests in known.phrases.values() for rest, _ in rests))
        self._foreign = frozenset(word for word, codes in known.words.items() if known.foreign in codes)
        self._patterns: dict[str, list[Pattern]] = {}
        """Concept to the patterns of which it may be the rarest."""
        for pattern in chain.from_iterable(rule.patterns for rule in rules()):
            for code in pattern.choices[0]:
                self._patterns.setdefault(code, []).append(pattern)
        self._literals: dict[str, list[_Literal]] = {}
        for regex in (known.sensitive_files, *chain.from_iterable(rule.regexes for rule in rules())):
            for literal in regex.literals or ("",):
                key = max(_words_of(literal), key=len, default="")
                self._literals.setdefault(key, []).append((literal, regex))
        self._symbols = self._literals.pop("", [])
        self._keys: dict[str, list[str]] = {}
        """First two characters to the keys that begin so."""
        for key in self._literals:
            self._keys.setdefault(key[:2], []).append(key)

    def suspects(self, texts: Sequence[str], words_of_texts: Sequence[list[str]]) -> list[int]:
        """Returns the numbers of the texts in lower case, with these words, that a rule may match."""
        words_with_literals = frozenset(filter(_literals_with, set().union(*words_of_texts)))
        concepts = self.concepts_in(texts, words_of_texts)
        maybe_foreign = concepts.get(lexicon().foreign, 0)
        suspects = self.texts_with_candidates(concepts)
        for number, (text, words) in enumerate(zip(texts, words_of_texts, strict=True)):
            if suspects >> number & 1:
                continue
            if not text.isascii() or (maybe_foreign >> number & 1 and self.is_foreign(text, words)):
                suspects |= 1 << number
                continue
            regexes = self.matching_regexes(text, words_with_literals.intersection(words))
            if regexes == {lexicon().sensitive_files}:
                _add(concepts, self._file, 1 << number)
            elif regexes:
                suspects |= 1 << number
        suspects |= self.texts_with_candidates(concepts)
        return [number for number in range(len(texts)) if suspects >> number & 1]

    def matching_regexes(self, text: str, words: Iterable[str]) -> set[Regex]:
        """Returns the regular expressions, of rules and of sensitive files, that match a text with these words."""
        literals = chain(self._symbols, chain.from_iterable(map(_literals_with, words)))
        regexes = {regex for literal, regex in literals if literal in text}
        return {regex for regex in regexes if regex.has_others(text) and regex.compiled.search(text)}

    def literals_with(self, word: str) -> tuple[_Literal, ...]:
        """Returns the literals of regular expressions of which a word holds the longest word."""
        pairs = set(map(add, word, word[1:]))  # a word may repeat them without end
        keys = {key for pair in pairs if pair in self._keys for key in self._keys[pair] if key in word}
        return tuple(chain.from_iterable(map(self._literals.__getitem__, keys)))

    def is_foreign(self, text: str, words: list[str]) -> bool:
        """True if a text with these words may have a foreign sentence."""
        return not text.isascii() or len(self._foreign.intersection(words)) >= MIN_FOREIGN_WORDS

    def candidates(self, concepts: Mapping[str, int]) -> dict[Pattern, int]:
        """Returns the patterns that have all their concepts in a text, in any order; one concept may be repeated."""
        patterns = chain.from_iterable(self._patterns.get(code, ()) for code in concepts)
        return {pattern: places for pattern in patterns if (places := pattern.places_in(concepts))}

    def texts_with_candidates(self, concepts: Mapping[str, int]) -> int:
        """Returns the texts that have all concepts of a pattern, in any order."""
        return reduce(or_, self.candidates(concepts).values(), 0)

    def concepts_in(self, texts: Iterable[str], words_of_texts: Iterable[list[str]]) -> dict[str, int]:
        """Returns the concepts that the words of texts may express, each with these texts."""
        places: dict[str, int] = {}
        concepts: dict[str, int] = {}
        place = 1
        for text, words in zip(texts, words_of_texts, strict=True):
            for word in self._known_words.intersection(words):
                places[word] = places.get(word, 0) | place
            if "@" in text:
                _add(concepts, self._address, place)
            place <<= 1
        for word, with_word in places.items():
            _add(concepts, self._codes.get(word, ""), with_word)
            for others, codes in self._phrases.get(word, ()):
                with_phrase = with_word
                for other in others:
                    with_phrase &= places.get(other, 0)
                if with_phrase:
                    _add(concepts, codes, with_phrase)
        return concepts


def _add(concepts: dict[str, int], codes: Iterable[str], places: int) -> None:
    for code in codes:
        concepts[code] = concepts.get(code, 0) | places


@lru_cache(1)
def _index() -> _Index:
    return _Index()


@lru_cache(1 << 14)
def _literals_with(word: str) -> tuple[_Literal, ...]:
    return _index().literals_with(word)


def _is_too_short(text: str) -> bool:
    """True if a text is too short for an order."""
    return len(text) < _MIN_LENGTH and (len(text) < _MIN_LENGTH_NON_ASCII or text.isascii())


def _words_of(text: str) -> list[str]:
    """Splits a text in lower case into words."""
    return text.translate(_BLANK).split()


def _words_of_each(texts: list[str]) -> list[list[str]]:
    """Splits several texts, all ASCII ones in one call: `str.translate` takes longer to start than for a short text."""
    blank = iter("\0".join([text for text in texts if text.isascii()]).translate(_BLANK).split("\0"))
    if any("\0" in text for text in texts):
        return list(map(_words_of, texts))
    return [next(blank).split() if text.isascii() else _words_of(text) for text in texts]


def _suspicious_words(words: Iterable[str]) -> frozenset[str]:
    """Returns the words, of these and in general, that hint at obfuscated text."""
    long_or_leet = (
        word
        for word in words
        if len(word) >= _MIN_BASE64_LENGTH or (not word.isalpha() and _DIGIT_IN_WORD.search(word))
    )
    return (_LONE_LETTERS | _TELLTALE_WORDS).union(long_or_leet)


def _might_be_obfuscated(text: str, words: list[str], suspicious: frozenset[str]) -> bool:
    """True if a text may be encoded, or have spaces or digits among its letters."""
    if "%" in text or "\\" in text or len(text) < _MIN_CHARACTERS_PER_WORD * len(words):
        return True
    if not suspicious.isdisjoint(words):
        if not _LONE_LETTERS.isdisjoint(words) and _SPACED.search(text):
            return True
        return (
            bool(_BASE64.search(text)) or not _TELLTALE_WORDS.isdisjoint(words) or len(_DIGIT_IN_WORD.findall(text)) > 1
        )
    return False


MAX_TEXT_LENGTH = 1_000_000
"""Characters of a text that are searched; a longer one is not a description and is cut (`searched_part`)."""

_MAX_EXPANSION = 18
"""Characters of the longest compatibility form of a character: that of U+FDFA."""


def searched_part(text: str) -> str:
    """Returns what of a text is searched: its compatibility form has at most `MAX_TEXT_LENGTH` characters."""
    text = text[:MAX_TEXT_LENGTH]
    if text.isascii() or len(text) * _MAX_EXPANSION <= MAX_TEXT_LENGTH:
        return text
    lengths = {character: len(unicodedata.normalize("NFKD", character)) for character in set(text)}
    return text[: bisect_right([*accumulate(map(lengths.__getitem__, text))], MAX_TEXT_LENGTH)]


_BATCH_SIZE = 1_000
"""Texts that are split into words at a time, which bounds memory."""

_SEPARATORS = frozenset(" \n")
_MIN_WORDS = 3
"""Words of the shortest order in ASCII."""

_EMAIL = re.compile(r"[\w.+-]{1,60}@[\w-]{1,60}\.\w+")
_URL = re.compile(r"https?://[^\s<>\"')]+")
_DELETED = str.maketrans(dict.fromkeys("'’‘*`\"“”~", None))


def find_injections(texts: Iterable[str]) -> dict[str, Rule]:
    """Returns the texts that address the model, each with the first rule that matches."""
    injections: dict[str, Rule] = {}
    candidates = [text for text in texts if not _is_too_short(text)]
    for start in range(0, len(candidates), _BATCH_SIZE):
        for text, reading in _suspect_readings(candidates[start : start + _BATCH_SIZE]):
            if text not in injections and (rule := _rule_for(reading)) is not None:
                injections[text] = rule
    return injections


def _suspect_readings(texts: list[str]) -> Iterator[tuple[str, str]]:
    """Yields texts with their deobfuscated and decoded readings, if a rule may match."""
    stripped_texts = list(map(without_placeholders, texts))  # "[hidden]" itself matches a rule
    readings = [text.lower() if _is_plain(text) else _deobfuscate(text) for text in stripped_texts]
    words_of_texts = _words_of_each(readings)
    suspicious = _suspicious_words(set().union(*words_of_texts))
    rows: list[tuple[str, str, list[str]]] = []
    for text, stripped, reading, words in zip(texts, stripped_texts, readings, words_of_texts, strict=True):
        if len(words) < _MIN_WORDS and len(text) < _MIN_BASE64_LENGTH and reading.isascii():
            continue
        rows.append((text, reading, words))
        if _might_be_obfuscated(stripped, words, suspicious):
            rows += [(text, hidden, _words_of(hidden)) for hidden in _decode_hidden(stripped)]
    for number in _index().suspects([row[1] for row in rows], [row[2] for row in rows]):
        yield rows[number][:2]


@lru_cache(1 << 12)
def _rule_for(reading: str) -> Rule | None:
    index, words = _index(), _words_of(reading)
    regexes = index.matching_regexes(reading, set(words))
    sentences = sentences_of(_name_urls_and_files(reading, has_file=lexicon().sensitive_files in regexes))
    if len(sentences) > 1 and not index.is_foreign(reading, words):
        found = index.texts_with_candidates(index.concepts_in(sentences, _words_of_each(sentences)))
        sentences = [sentence for number, sentence in enumerate(sentences) if found >> number & 1]
    tokens = SENTENCE_END.join(map(tokenize, sentences))
    candidates = index.candidates(dict.fromkeys(frozenset(tokens) - _SEPARATORS, 1))
    matching = {*regexes, *(pattern for pattern in candidates if pattern.regex.search(tokens))}
    foreign = list(foreign_sentences(tokens))
    return next(
        (rule for rule in rules() if not matching.isdisjoint((*rule.patterns, *rule.regexes)) or rule.is_in(foreign)),
        None,
    )


def _name_urls_and_files(text: str, *, has_file: bool) -> str:
    """Replaces URLs, e-mail addresses and sensitive files by words of the lexicon."""
    if has_file:
        text = lexicon().sensitive_files.compiled.sub(" sensitivefile ", text)
    if "@" in text:
        text = _EMAIL.sub(" somemail ", text)
    if "://" in text:
        text = _URL.sub(" someurl ", text)
    return text.translate(_DELETED)
