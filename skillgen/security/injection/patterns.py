"""Loads the rules and their lexicon, turns text into tokens of concepts, and matches rules against them.

A word becomes a token: a space and one character for each concept that the word may express (none for most words). A
sentence ends with a line feed. So a pattern, concepts in an order and a distance, compiles to a short regular
expression over the token string, whatever the words and the language are.

`rules.toml` and `lexicon.toml` hold the data. tests/make_rules.py compiles them into `compiled.json`, which is loaded
when the first text is screened.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from pathlib import Path

import msgspec
from msgspec import Struct

from skillgen.security.tables import Regex
from skillgen.text import lazy_re as re

MIN_FOREIGN_WORDS = 2
"""Foreign words that make a sentence foreign; one may be a name."""

SENTENCE_END = "\n"
_ELLIPSIS = re.compile(r"\.{2,}|…")
_END = re.compile(r"[.!?。！？](?:(?<=[。！？])|(?<!\s\d\.)(?=\s|$))")
"""The end of a sentence; the full stop after a step number does not count. `re` skips to the set in front."""
_TOKEN = re.compile(rf"{_END.pattern}|[^\W_]+")
_END_TOKENS = frozenset(".!?。！？")
_UNSPACED_SCRIPTS = (("\u0370", "\u1cff"), ("\u3040", "\u9fff"), ("\uac00", "\ud7af"))
"""Letters of the languages that have terms within longer words (`scripts` in the lexicon)."""


class Lexicon(Struct, frozen=True, kw_only=True):
    """The concepts and their terms in all languages. A concept is a character."""

    codes: dict[str, str]
    """Name of a concept to its character."""

    foreign: str
    """The character that marks a foreign word (not English)."""

    words: dict[str, str]
    """Word to the characters of its concepts."""

    phrases: dict[str, tuple[tuple[tuple[str, ...], str], ...]]
    """First word of a phrase to the other words with their concepts."""

    unspaced: Regex
    """The terms of languages that write them within longer words."""

    sensitive_files: Regex
    """The terms of the concept FILE that are no words."""

    def codes_of(self, alternatives: str) -> frozenset[str]:
        """Returns the characters of concepts, given as `A/B`."""
        return frozenset(self.codes[name] for name in alternatives.split("/"))


def one_word(term: str) -> str:
    """Returns a term without combining vowel signs, which are not letters and would split it into tokens."""
    return term if term.isalnum() else "".join(letter for letter in term if letter.isalnum() or letter == "_")


def sentences_of(text: str) -> list[str]:
    """Splits a text into sentences; an ellipsis does not end one."""
    return _END.split(_ELLIPSIS.sub(" ", text))


def tokenize(text: str) -> str:
    """Returns the token string of a text in lower case."""
    known = lexicon()
    if not text.isascii() and any(first <= letter <= last for letter in set(text) for first, last in _UNSPACED_SCRIPTS):
        text = known.unspaced.compiled.sub(lambda match: f" {one_word(match[0])} ", text)
    tokens: list[str] = _TOKEN.findall(_ELLIPSIS.sub(" ", text))
    parts = []
    for index, token in enumerate(tokens):
        if token in _END_TOKENS:
            parts.append(SENTENCE_END)
            continue
        codes = known.words.get(token, "")
        for rest, phrase_codes in known.phrases.get(token, ()):
            if tuple(tokens[index + 1 : index + 1 + len(rest)]) == rest:
                codes += phrase_codes
        parts.append(" " + codes)
    return "".join(parts)


class Pattern(Struct, eq=False, dict=True, array_like=True):
    """Concepts in an order and a distance; `rules.toml` explains the syntax."""

    source: str
    """The regular expression over token strings."""

    choices: tuple[str, ...]
    """Sets of concepts, of each of which every match has one, the rarest first."""

    @cached_property
    def regex(self) -> re.Pattern[str]:
        """The compiled expression; most are never needed."""
        return re.compile(self.source)

    def places_in(self, concepts: Mapping[str, int]) -> int:
        """Returns the texts, as a bit set, with all concepts that the pattern needs; `concepts` has those of each."""
        places = -1
        for choice in self.choices:
            with_one = 0
            for code in choice:
                with_one |= concepts.get(code, 0)
            places &= with_one
            if not places:
                break
        return places

    def occurs_in(self, sentence: list[str]) -> bool:
        """True if a sentence, given as the codes of its words, has the concepts in any order, in separate words."""
        positions = [
            {index for index, word in enumerate(sentence) if not concepts.isdisjoint(word)}
            for concepts in map(frozenset, self.choices)
        ]
        return all(positions) and len(set().union(*positions)) >= len(positions)


class Rule(Struct, frozen=True, kw_only=True):
    """A rule that finds one way to address the model."""

    code: str
    """A stable name, part of messages and quotations."""

    meaning: str
    """What such a text does, for messages: "it …"."""

    example: str
    patterns: tuple[Pattern, ...]
    """Patterns over concepts."""

    regexes: tuple[Regex, ...]
    """Regular expressions over the text itself, in lower case."""

    foreign_patterns: tuple[Pattern, ...]
    """Patterns of concepts that occur together in one foreign sentence, in any order."""

    def is_in(self, foreign: Iterable[list[str]]) -> bool:
        """True if the rule matches one of these sentences (`foreign_sentences`)."""
        return any(pattern.occurs_in(sentence) for sentence in foreign for pattern in self.foreign_patterns)


def foreign_sentences(tokens: str) -> Iterator[list[str]]:
    """Yields the foreign sentences of a token string, each as the codes of its words that express a concept."""
    foreign = lexicon().foreign
    if foreign in tokens:
        for sentence in tokens.split(SENTENCE_END):
            if sentence.count(foreign) >= MIN_FOREIGN_WORDS:
                yield [word for word in sentence.split(" ") if word]


class Tables(Struct, frozen=True):
    """What `compiled.json` holds."""

    lexicon: Lexicon
    rules: tuple[Rule, ...]


@lru_cache(1)
def _tables() -> Tables:
    return msgspec.json.decode(Path(__file__).with_name("compiled.json").read_bytes(), type=Tables)


def lexicon() -> Lexicon:
    """Returns the lexicon."""
    return _tables().lexicon


def rules() -> tuple[Rule, ...]:
    """Returns the rules, in the order in which they are tried."""
    return _tables().rules
