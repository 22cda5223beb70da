"""Finds the texts that address the model, also obfuscated ones.

Deobfuscation undoes entities, look-alike letters, encodings and characters between letters, since models read all of
them. Only the search sees the result; documents contain the original text.

A prefilter skips nearly all texts of a large service. Each pattern is indexed by a concept that is rare in
descriptions, each regular expression by a word of its literals. A text with such a word is searched if it has all
concepts of a pattern, in any order.
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
    MIN_FOREIGN_WORDS,
    SENTENCE_END,
    Rule,
    bits_of,
    codes_of,
    pattern_requirements,
    sentences_of,
    tokenize,
    vocabulary,
)
from skillgen.security.injection.rules import RULES
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
_MIRRORED = ("snoitcurtsni", "tnatsissa", "tpmorp metsys", "suoiverp", "resu eht", "tegrof", "erongi")
_ROTATED = ("vafgehpgvba", "nffvfgnag", "cerivbhf", "gur hfre", "flfgrz cebzcg", "vtaber")

_TELLTALES = (*_MIRRORED, *_ROTATED)
"""Words that indicate, in lower case, a text in reverse or in ROT13."""


def _deobfuscate(text: str) -> str:
    """Returns a text as a reader sees it, in lower case, and again with look-alike letters replaced by Latin ones."""
    text = strip_invisible(html.unescape(text) if "&" in text else text)
    if "<" in text:
        text = _TAG_IN_WORD.sub(_tag_separator, _COMMENT.sub("\n", text))
    if "](" in text:
        text = _LINK.sub(r"\1", _SENDING_IMAGE.sub(" imagewithdata ", text) if "![" in text else text)
    if text.isascii():
        return _split_name(text).lower()
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
            yield _LEET_WORD.sub(partial(_translate_leet, table), text).lower()
    lower = text.lower()
    if any(word in lower for word in _MIRRORED):
        yield lower[::-1]
    if any(word in lower for word in _ROTATED):
        yield codecs.decode(lower, "rot13")


def _tag_separator(tag: re.Match[str]) -> str:
    return "\n" if _BLOCK.fullmatch(tag[1]) else ""


def _translate_leet(table: dict[int, int], match: re.Match[str]) -> str:
    return match[0].lower().translate(table)


def _split_name(text: str) -> str:
    """Splits the words of a name such as `systemPrompt`."""
    return _CAMEL.sub(" ", text) if " " not in text else text


_MIN_LENGTH, _MIN_LENGTH_NON_ASCII = 12, 5
"""Characters of the shortest order, in ASCII and in scripts that write a word in one or two characters."""

_BLANK = str.maketrans({**dict.fromkeys("'*`\"~", None), **dict.fromkeys("!#$%&()+,-./:;<=>?@[\\]^_{|}\t\n\r", " ")})
_FILE_NAMES = (
    "ssh rsa dsa ed25519 ecdsa passwd shadow sudoers hosts aws env cursor claude gitconfig netrc npmrc pypirc kube "
    "gnupg bash bashrc zsh zshrc pgpass gcloud azure wallet mcp authorized credentials pem"
)
_FILE_WORDS = frozenset(_FILE_NAMES.split())
_FILE_PARTS = ("~/.", ".docker/", ".config/")
_COMMON_WORDS = (
    "a about access add admin alert all an any api are as at be been by can check comment comments for from full get "
    "has have if in include is it key list may must need new not note number of on one only or pass private project "
    "read request requests reference removed report response rest secret secrets see text that the their this time to "
    "tokens use user users value view was what when whether which will with you your"
)
_COMMON = frozenset(_COMMON_WORDS.split())
"""Words that are too common in descriptions to index a phrase."""

_TELLTALE_WORDS = frozenset(max(telltale.split(), key=len) for telltale in _TELLTALES)
_URL_SCHEMES = frozenset({"http", "https"})
_LONE_LETTERS = frozenset("lohru")
"""Letters that rarely occur alone; an order with spaces between its letters has one of them."""
_MIN_CHARACTERS_PER_WORD = 2.5
"""A text with fewer characters per word probably has spaces between its letters."""

_DIGIT_IN_WORD = re.compile(r"[A-Za-z@$][0134578]|[0134578][A-Za-z]")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Index:
    """The index of the prefilter, by words. Sets of concepts are bit sets."""

    trigger_words: frozenset[str]
    """Words one of which every match has."""
    rare_words: frozenset[str]
    """Words for the concepts by which patterns are indexed."""
    regex_literals: dict[str, tuple[str, ...]]
    """The literals of regular expressions, by one word of each."""
    foreign: frozenset[str]
    """Foreign words."""
    patterns: dict[int, tuple[tuple[int, tuple[int, ...]], ...]]
    """The needs of each pattern (`pattern_requirements`), by its rarest concepts."""
    rare_concepts: int
    """The concepts by which patterns are indexed."""
    concept_words: frozenset[str]
    """All words that express a concept, alone or in a phrase."""
    concepts: dict[str, int]
    """The concepts of single words."""
    phrases: dict[str, tuple[tuple[frozenset[str], int], ...]]
    """The words of phrases and their concepts, by the rarest word."""


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


def _might_match(text: str, words: list[str]) -> bool:
    """True unless certainly no rule matches a text in lower case with these words."""
    index = _index()
    triggers = index.trigger_words.intersection(words)
    if _might_match_regex(text, triggers):
        return True
    return bool(triggers) and (len(triggers & index.foreign) >= MIN_FOREIGN_WORDS or _might_match_pattern(text, words))


def _might_match_regex(text: str, words: Iterable[str]) -> bool:
    """True unless certainly no regular expression of a rule matches."""
    if "<|" in text or "~/." in text:
        return True
    literals = _index().regex_literals
    return any(literal in text for word in literals.keys() & words for literal in literals[word])


def _might_name_file(text: str, words: list[str]) -> bool:
    """True if a text may name a sensitive file."""
    return not _FILE_WORDS.isdisjoint(words) or any(part in text for part in _FILE_PARTS)


def _is_foreign(text: str, words: list[str]) -> bool:
    """True if a text with these words may have a foreign sentence."""
    return not text.isascii() or len(_index().foreign.intersection(words)) >= MIN_FOREIGN_WORDS


def _might_match_pattern(text: str, words: list[str]) -> bool:
    """True if a text in lower case, with these words, has all concepts of a pattern, in any order."""
    index = _index()
    if index.rare_words.isdisjoint(words):
        return False
    concepts = _concepts_in(text, words, index)
    rare = concepts & index.rare_concepts
    while rare:
        lowest = rare & -rare
        for every, choices in index.patterns[lowest]:
            if concepts & every == every and all(concepts & choice for choice in choices):
                return True
        rare ^= lowest
    return False


def _suspicious_words(texts: Iterable[list[str]]) -> frozenset[str]:
    """Returns the words that hint at obfuscated text."""
    words = set().union(*texts)
    return (
        _LONE_LETTERS
        | _TELLTALE_WORDS
        | {word for word in words if len(word) >= _MIN_BASE64_LENGTH or _DIGIT_IN_WORD.search(word)}
    )


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


def _concepts_in(text: str, words: list[str], index: _Index) -> int:
    """Returns the bit set of the concepts that the words of a text may express."""
    present = index.concept_words.intersection(words)
    concepts = bits_of(codes_of(("MAIL", "AWAY"))) if "@" in text else 0
    for word in present:
        concepts |= index.concepts.get(word, 0)
    for word in index.phrases.keys() & present:
        for phrase, phrase_concepts in index.phrases[word]:
            if phrase <= present:
                concepts |= phrase_concepts
    return concepts


def _rarest(words: Iterable[str]) -> str:
    """Returns the word that indexes a phrase: the longest that is not common, and the last of these."""
    return max(reversed(tuple(words)), key=lambda word: (word not in _COMMON, len(word)), default="")


@lru_cache(1)
def _index() -> _Index:
    patterns: dict[int, list[tuple[int, tuple[int, ...]]]] = {}
    rare_concepts: set[str] = set()
    for pattern in chain.from_iterable(rule.patterns for rule in RULES):
        every, choices, rarest = pattern_requirements(pattern)
        rare_concepts |= rarest
        for code in rarest:
            patterns.setdefault(bits_of(code), []).append((every, choices))
    single, phrases = vocabulary()
    concepts = {word: bits_of(codes) for word, codes in single.items()}
    for words, names in ((_FILE_WORDS, ("FILE",)), (_URL_SCHEMES, ("URL", "AWAY"))):
        bits = bits_of(codes_of(names))
        concepts |= {word: concepts.get(word, 0) | bits for word in words}
    rare_words = {word for word, codes in single.items() if not rare_concepts.isdisjoint(codes)} | _FILE_WORDS
    phrases_by_word: dict[str, list[tuple[frozenset[str], int]]] = {}
    for first, rests in phrases.items():
        for rest, codes in rests:
            rarest_word = _rarest((first, *rest))
            phrases_by_word.setdefault(rarest_word, []).append((frozenset((first, *rest)), bits_of(codes)))
            if not rare_concepts.isdisjoint(codes):
                rare_words.add(rarest_word)
    regex_literals: dict[str, tuple[str, ...]] = {}
    for literal in chain.from_iterable(rule.literals for rule in RULES):
        word = _rarest(_words_of(literal))
        regex_literals[word] = (*regex_literals.get(word, ()), literal)
    foreign = frozenset(word for word, codes in single.items() if FOREIGN in codes)
    return _Index(
        trigger_words=frozenset(rare_words) | regex_literals.keys() | foreign,
        rare_words=frozenset(rare_words),
        regex_literals=regex_literals,
        foreign=foreign,
        patterns={concept: tuple(needs) for concept, needs in patterns.items()},
        rare_concepts=bits_of(rare_concepts),
        concept_words=frozenset(concepts).union(
            *(words for entries in phrases_by_word.values() for words, _ in entries)
        ),
        concepts=concepts,
        phrases={word: tuple(entries) for word, entries in phrases_by_word.items()},
    )


MAX_TEXT_LENGTH = 1_000_000
"""Characters of a text that are searched; a longer one is not a description and is cut."""

_FILES = re.compile(
    r"(?<!\w)\.ssh\b(?!.{0,40}\.pub)|\bid_(?:rsa|dsa|ed25519|ecdsa)\b(?!\.pub)"
    r"|(?<![\w.])/?etc/(?:passwd|shadow|sudoers|hosts)\b"
    r"|(?<![\w/])\.(?:aws|env|cursor|claude|git-credentials|gitconfig|netrc|npmrc|pypirc|kube|gnupg|docker/config|bashrc|"
    r"bash_history|zshrc|zsh_history|pgpass|config/gh|config/gcloud|azure)\b(?![-(])|(?<=~/)\.\w[\w./-]*|\bmcp\.json\b"
    r"|(?:/home/[\w.-]{1,60}|/root|/users/[\w.-]{1,60}|\$\{?home\}?|%userprofile%)[/\\]\.\w[\w./-]*"
    r"|\bclaude_desktop_config|\bwallet\.dat\b|\bcredentials\.json\b|(?<=\s)\.pem\b"
)
_BATCH_SIZE = 1_000
"""Texts that are split into words at a time, which bounds memory."""

_SEPARATORS = frozenset(" \n")
_MIN_WORDS = 3
"""Words of the shortest order in ASCII."""

_EMAIL = re.compile(r"[\w.+-]{1,60}@[\w-]{1,60}\.\w+")
_URL = re.compile(r"https?://[^\s<>\"')]+")
_DELETED = str.maketrans(dict.fromkeys("'’‘*`\"“”~", None))


def first_matching_rule(text: str) -> Rule | None:
    """Returns the first rule that matches a text; `None` if it only describes."""
    return find_injections((text[:MAX_TEXT_LENGTH],)).get(text[:MAX_TEXT_LENGTH])


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
    suspicious = _suspicious_words(words_of_texts)
    for text, stripped, reading, words in zip(texts, stripped_texts, readings, words_of_texts, strict=True):
        if len(words) < _MIN_WORDS and len(text) < _MIN_BASE64_LENGTH and reading.isascii():
            continue
        if not reading.isascii() or _might_match(reading, words):
            yield text, reading
        if _might_be_obfuscated(stripped, words, suspicious):
            for hidden in _decode_hidden(stripped):
                yield text, hidden


@lru_cache(1 << 12)
def _rule_for(reading: str) -> Rule | None:
    words = _words_of(reading)
    sentences = sentences_of(_name_urls_and_files(reading, words))
    if len(sentences) > 1 and not _is_foreign(reading, words):
        pairs = zip(sentences, _words_of_each(sentences), strict=True)
        sentences = [sentence for sentence, sentence_words in pairs if _might_match_pattern(sentence, sentence_words)]
    tokens = SENTENCE_END.join(map(tokenize, sentences))
    concepts = bits_of(set(tokens) - _SEPARATORS)
    might = _might_match_regex(reading, words)
    return next((rule for rule in RULES if rule.matches(reading, tokens, concepts, might_match_regex=might)), None)


def _name_urls_and_files(text: str, words: list[str]) -> str:
    """Replaces URLs, e-mail addresses and sensitive files by words of the lexicon."""
    if _might_name_file(text, words):
        text = _FILES.sub(" sensitivefile ", text)
    if "@" in text:
        text = _EMAIL.sub(" somemail ", text)
    if "://" in text:
        text = _URL.sub(" someurl ", text)
    return text.translate(_DELETED)
