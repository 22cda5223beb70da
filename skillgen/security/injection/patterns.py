"""Turns text into tokens of concepts, and matches rules against them.

A word becomes a token: a space and one character for each concept that the word may express (none for most words). A
sentence ends with a line feed. So a pattern, concepts in an order and a distance, compiles to a short regular
expression over the token string, whatever the words and the language are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from skillgen.security.injection.lexicon import CONCEPTS, ELIDED, ENGLISH_TOO, LANGUAGES, SCRIPTS, word_forms

_FIRST_CODE = 0x100
"""Code point of the first concept: from here on, characters need no escape in a regular expression."""

_CODES = {name: chr(_FIRST_CODE + index) for index, name in enumerate(CONCEPTS)}
FOREIGN = chr(_FIRST_CODE + len(CONCEPTS))
"""The character that marks a foreign word (not English)."""

_COMMON_CONCEPTS = (
    "FOR WHILE BEING INTO THAT THEIR READ ABOUT NEEDLESS NOTHING PERSIST THROUGH GIVE LOCAL THIS FILES PUT USE "
    "DAMAGE MUST SECRET USER SELF HOLDS ONLY RESULTS OFFICIAL CONTAINING SEARCH FOUND PRESENT PEOPLE SESSION "
    "ENVIRON REQUIRES FAILED COMMAND TRY BETTER PERSONAL TRUSTED OTHERS HOST OVER COMMANDS LOSS DISPLAY EVERY NEW "
    "BEFORE SLOT LEAVE IN_PLACE REPLY_WORD OUT_OF YES SERVERS HAPPENED MODEL_ONLY VETTED DIRECTORY ASK IF BE ARE "
    "REPEAT AS ALL HUSH SIDE WITH BOUND ASKED ORDERS ALWAYS NOT SHOW YOU OTHER LET NOTICE ANY WHENEVER MODEL_1 SEND "
    "FROM WILL STORED USERS READER ASSISTANT OTHER_1 ALSO TREAT SAY LAW COPY STOP NOTE_TO ROLE MAIL URL HAVE_BEEN "
    "YOU_WILL_BE NOT_A BY_MAKER IS WHICH TRUE NEEDED CONNECTED WHOLE REPLACE SAYS WHATEVER OBEY_IT CALLS SPEAK "
    "ALWAYS_1 INCLUDE UPDATED DESCRIPTION ENCODED AGAIN FRAME SEEK ASKING RECITE AUTHORISED_TO CHECKED ADMIN "
    "THEIR_OWN REVEAL SEND_ON APPROVE NOTICE_OF INTERFACE SO_INSTRUCTED PASSWORD STYLE TACK"
)
_COMMONNESS = {name: index for index, name in enumerate(_COMMON_CONCEPTS.split())}
"""Concepts that are frequent in descriptions, to their rank. A pattern is indexed by its rarest concept."""

MIN_FOREIGN_WORDS = 2
"""Foreign words that make a sentence foreign; one may be a name."""

SENTENCE_END = "\n"
_ELLIPSIS = re.compile(r"\.{2,}|…")
_END = re.compile(r"[.!?](?<!\s\d\.)(?=\s|$)|[。！？]")
"""The end of a sentence; the full stop after a step number does not count."""
_TOKEN = re.compile(rf"{_END.pattern}|[^\W_]+")
_END_TOKENS = frozenset(".!?。！？")
_VOWELS = frozenset("aeiouh")
_UNSPACED_SCRIPT = re.compile("[\u0370-\u1cff\u3040-\u9fff\uac00-\ud7af]")
"""A letter of the languages in `SCRIPTS`, which have terms within longer words."""
_GAP = "(?: {}[^ \n]*){{0,{}}}?"


def codes_of(names: Iterable[str]) -> frozenset[str]:
    """Returns the characters that represent concepts."""
    return frozenset(_CODES[name] for name in names)


def bits_of(codes: Iterable[str]) -> int:
    """Returns a bit set of concepts."""
    bits = 0
    for code in codes:
        bits |= 1 << (ord(code) - _FIRST_CODE)
    return bits


@lru_cache(1)
def vocabulary() -> tuple[dict[str, str], dict[str, tuple[tuple[tuple[str, ...], str], ...]]]:
    """Returns words to the codes of their concepts, and first words to the other words of a phrase and its codes."""
    words: dict[str, str] = {}
    phrases: dict[str, dict[tuple[str, ...], str]] = {}
    for name, term, mark in _terms():
        first, *rest = term.split("_")
        if rest:
            rests = phrases.setdefault(first, {})
            key = tuple(rest)
            rests[key] = rests.get(key, "") + _CODES[name] + mark
        else:
            words[first] = words.get(first, "") + _CODES[name] + mark
    return words, {first: tuple(rests.items()) for first, rests in phrases.items()}


def _terms() -> Iterator[tuple[str, str, str]]:
    """Yields each concept with each of its terms, and the mark of a foreign term."""
    for name, terms in CONCEPTS.items():
        for term in terms.split():
            yield from ((name, form, "") for form in word_forms(term))
    english = {form for terms in CONCEPTS.values() for term in terms.split() for form in word_forms(term)} | ENGLISH_TOO
    for language, table in LANGUAGES.items():
        elided = ELIDED.get(language, ())
        for name, terms in table.items():
            for term in terms.split():
                yield name, _one_word(term) if language in SCRIPTS else term, "" if term in english else FOREIGN
                if elided and term[0] in _VOWELS:
                    yield from ((name, article + term, FOREIGN) for article in elided)


def sentences_of(text: str) -> list[str]:
    """Splits a text into sentences; an ellipsis does not end one."""
    return _END.split(_ELLIPSIS.sub(" ", text))


def _one_word(term: str) -> str:
    """Returns a term without combining vowel signs, which are not letters and would split it into tokens."""
    return term if term.isalnum() else "".join(letter for letter in term if letter.isalnum() or letter == "_")


@lru_cache(1)
def _unspaced() -> re.Pattern[str]:
    """Returns the regex of the terms within longer words, the longest first."""
    terms = {term for table in SCRIPTS.values() for terms in table.values() for term in terms.split()}
    return re.compile("|".join(map(re.escape, sorted(terms, key=len, reverse=True))))


def tokenize(text: str) -> str:
    """Returns the token string of a text in lower case."""
    words, phrases = vocabulary()
    if not text.isascii() and _UNSPACED_SCRIPT.search(text):
        text = _unspaced().sub(lambda match: f" {_one_word(match[0])} ", text)
    tokens: list[str] = _TOKEN.findall(_ELLIPSIS.sub(" ", text))
    parts = []
    for index, token in enumerate(tokens):
        if token in _END_TOKENS:
            parts.append(SENTENCE_END)
            continue
        codes = words.get(token, "")
        for rest, phrase_codes in phrases.get(token, ()):
            if tuple(tokens[index + 1 : index + 1 + len(rest)]) == rest:
                codes += phrase_codes
        parts.append(" " + codes)
    return "".join(parts)


@lru_cache(512)
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Compiles a pattern to a regular expression over token strings.

    `NOT 3 TELL 8 USER` is these three concepts with at most 3 and 8 words between them; without a number they are
    adjacent. `8!NOT` is at most 8 words, none of which is NOT. `A/B` is one of two concepts, and `-A` forbids A as the
    next word.
    """
    parts = []
    for part in pattern.split():
        if part[0].isdigit():
            most, _, excluded = part.partition("!")
            other = f"(?![^ \n]*[{''.join(sorted(codes_of(excluded.split('/'))))}])" if excluded else ""
            parts.append(_GAP.format(other, most))
        elif part.startswith("-"):
            parts.append(f"(?=[ \n]|$)(?! [^ \n]*[{''.join(sorted(codes_of(part[1:].split('/'))))}])")
        else:
            parts.append(f" [^ \n]*[{''.join(sorted(codes_of(part.split('/'))))}][^ \n]*")
    return re.compile("".join(parts))


@lru_cache(512)
def pattern_requirements(pattern: str) -> tuple[int, tuple[int, ...], frozenset[str]]:
    """Returns what a text must have for a pattern to match.

    These are the concepts that it needs, as a bit set; the sets of concepts of which it needs one each; and the codes
    of its rarest concept, by which it is indexed.
    """
    parts = [part.split("/") for part in pattern.split() if not (part[0].isdigit() or part[0] == "-")]
    rarest = max(parts, key=lambda part: min(_COMMONNESS.get(name, len(_COMMONNESS)) for name in part))
    choices = [codes_of(part) for part in parts]
    every = bits_of(frozenset[str]().union(*(choice for choice in choices if len(choice) == 1)))
    return every, tuple(bits_of(choice) for choice in choices if len(choice) != 1), codes_of(rarest)


def _foreign_sentences(tokens: str) -> Iterator[list[str]]:
    """Yields the foreign sentences of a token string, each as the codes of its words that express a concept."""
    if FOREIGN in tokens:
        for sentence in tokens.split(SENTENCE_END):
            if sentence.count(FOREIGN) >= MIN_FOREIGN_WORDS:
                yield [word for word in sentence.split(" ") if word]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule that finds one way to address the model."""

    code: str
    """A stable name, part of messages and quotations."""

    meaning: str
    """What such a text does, for messages: "it …"."""

    example: str
    """A sentence that it matches."""

    patterns: tuple[str, ...] = ()
    """Patterns over concepts, see `compile_pattern`."""

    foreign_patterns: tuple[str, ...] = ()
    """Concepts that occur together in one foreign sentence, in any order."""

    regex: str = ""
    """A regular expression over the text itself, in lower case."""

    regex_literals: str = ""
    """Literals, one of which every match of `regex` has: a prefilter. Spaces separate them; `␣` is a space."""

    def matches(self, text: str, tokens: str, concepts: int, *, might_match_regex: bool) -> bool:
        """True if the rule matches a text, given with its token string and the bit set of its concepts."""
        for pattern, every, choices in _prepared(self.patterns) if concepts else ():
            has_all = concepts & every == every and all(concepts & choice for choice in choices)
            if has_all and compile_pattern(pattern).search(tokens):
                return True
        if self.foreign_patterns:
            if any(_occur_together(self.foreign_patterns, sentence) for sentence in _foreign_sentences(tokens)):
                return True
        return (
            might_match_regex
            and bool(self.regex)
            and any(literal in text for literal in self.literals)
            and bool(_compiled(self.regex).search(text))
        )

    @property
    def literals(self) -> tuple[str, ...]:
        """The literals of `regex`."""
        return _literals(self.regex_literals)


@lru_cache(64)
def _prepared(patterns: tuple[str, ...]) -> tuple[tuple[str, int, tuple[int, ...]], ...]:
    """Returns each pattern with the concepts that it needs, and the sets of which it needs one each."""
    return tuple((pattern, *pattern_requirements(pattern)[:2]) for pattern in patterns)


def _occur_together(patterns: tuple[str, ...], sentence: list[str]) -> bool:
    """True if a sentence has each concept of one of the patterns, each in a separate word."""
    for pattern in patterns:
        needed = [codes_of(part.split("/")) for part in pattern.split()]
        positions = [{index for index, word in enumerate(sentence) if not choice.isdisjoint(word)} for choice in needed]
        if all(positions) and len(set().union(*positions)) >= len(positions):
            return True
    return False


@lru_cache(64)
def _literals(regex_literals: str) -> tuple[str, ...]:
    return tuple(literal.replace("␣", " ") for literal in regex_literals.split())


@lru_cache(64)
def _compiled(regex: str) -> re.Pattern[str]:
    return re.compile(regex)
