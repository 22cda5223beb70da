"""Words of a text as concepts, and patterns over them.

A text as the row of things that its words speak of, and shapes that are looked for in it.

Each word becomes a space and a letter for each thing that it may speak of; a word that speaks of none is a space alone.
A sentence ends in a line end. So a shape, some things in an order and a distance, is a short regular expression,
whatever the words are, and in whatever language.

One way to address the model: shapes of things (`coding.compile_pattern`), or signs that only a host writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from skillgen.security.injection.lexicon import CONCEPTS, ELIDED, ENGLISH_TOO, LANGUAGES, SCRIPTS, forms

_FIRST_LETTER = 0x100
"""Of the alphabet in which things are written: letters that need no escape."""

_LETTERS = {name: chr(_FIRST_LETTER + index) for index, name in enumerate(CONCEPTS)}
FOREIGN = chr(_FIRST_LETTER + len(CONCEPTS))
"""Marks a word of another language than English."""

_OFTEN_WORDS = (
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
_OFTEN = {name: index for index, name in enumerate(_OFTEN_WORDS.split())}
"""Things that descriptions speak of often, the most frequent first: nothing is found by them where another thing is."""

FOREIGN_WORDS = 2
"""Words of another language that a sentence has at least which is in that language."""

SENTENCE_END = "\n"
_ELLIPSIS = re.compile(r"\.{2,}|…")
_END = re.compile(r"[.!?](?<!\s\d\.)(?=\s|$)|[。！？]")
"""The number of a step ends no sentence."""
_TOKEN = re.compile(rf"{_END.pattern}|[^\W_]+")
_ENDS = frozenset(".!?。！？")
_VOWELS = frozenset("aeiouh")
_UNSPACED_SCRIPT = re.compile("[\u0370-\u1cff\u3040-\u9fff\uac00-\ud7af]")
"""A letter of those languages whose terms stand within longer words."""
_GAP = "(?: {}[^ \n]*){{0,{}}}?"


def letters_of(names: Iterable[str]) -> frozenset[str]:
    """Gives the letters of things."""
    return frozenset(_LETTERS[name] for name in names)


def bits_of(letters: Iterable[str]) -> int:
    """Gives things as one number, of which each is a bit."""
    bits = 0
    for letter in letters:
        bits |= 1 << (ord(letter) - _FIRST_LETTER)
    return bits


@lru_cache(1)
def vocabulary() -> tuple[dict[str, str], dict[str, tuple[tuple[tuple[str, ...], str], ...]]]:
    """Gives the letters of each word, and for each first word the phrases that begin with it."""
    words: dict[str, str] = {}
    phrases: dict[str, dict[tuple[str, ...], str]] = {}
    for name, term, mark in _terms():
        first, *rest = term.split("_")
        if rest:
            known = phrases.setdefault(first, {})
            key = tuple(rest)
            known[key] = known.get(key, "") + _LETTERS[name] + mark
        else:
            words[first] = words.get(first, "") + _LETTERS[name] + mark
    return words, {first: tuple(found.items()) for first, found in phrases.items()}


def _terms() -> Iterator[tuple[str, str, str]]:
    """Gives each thing with each of its terms, and the mark of other languages."""
    for name, terms in CONCEPTS.items():
        for term in terms.split():
            yield from ((name, form, "") for form in forms(term))
    english = {form for terms in CONCEPTS.values() for term in terms.split() for form in forms(term)} | ENGLISH_TOO
    for language, table in LANGUAGES.items():
        elided = ELIDED.get(language, ())
        for name, terms in table.items():
            for term in terms.split():
                yield name, _one_word(term) if language in SCRIPTS else term, "" if term in english else FOREIGN
                if elided and term[0] in _VOWELS:
                    yield from ((name, article + term, FOREIGN) for article in elided)


def sentences_of(text: str) -> list[str]:
    """Gives the sentences of a text; three dots end none."""
    return _END.split(_ELLIPSIS.sub(" ", text))


def _one_word(term: str) -> str:
    """Gives a term without the signs that some scripts write vowels with: no letters, they would divide it."""
    return term if term.isalnum() else "".join(letter for letter in term if letter.isalnum() or letter == "_")


@lru_cache(1)
def _unspaced() -> re.Pattern[str]:
    """Finds the terms that stand within longer words, the longest first."""
    terms = {term for table in SCRIPTS.values() for terms in table.values() for term in terms.split()}
    return re.compile("|".join(map(re.escape, sorted(terms, key=len, reverse=True))))


def tokenize(text: str) -> str:
    """Gives the row of things of a text in lower case."""
    words, phrases = vocabulary()
    if not text.isascii() and _UNSPACED_SCRIPT.search(text):
        text = _unspaced().sub(lambda match: f" {_one_word(match[0])} ", text)
    tokens: list[str] = _TOKEN.findall(_ELLIPSIS.sub(" ", text))
    row = []
    for index, token in enumerate(tokens):
        if token in _ENDS:
            row.append(SENTENCE_END)
            continue
        found = words.get(token, "")
        for rest, known in phrases.get(token, ()):
            if tuple(tokens[index + 1 : index + 1 + len(rest)]) == rest:
                found += known
        row.append(" " + found)
    return "".join(row)


@lru_cache(512)
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Gives the expression for a shape: `NOT 3 TELL 8 USER` are these three with at most 3 and 8 words between them,
    `8!NOT` are at most 8 of which none is the other, `A/B` is one of two, `-A` forbids one to follow, and what has no
    number between it stands side by side."""
    parts = []
    for part in pattern.split():
        if part[0].isdigit():
            most, _, without = part.partition("!")
            other = f"(?![^ \n]*[{''.join(sorted(letters_of(without.split('/'))))}])" if without else ""
            parts.append(_GAP.format(other, most))
        elif part.startswith("-"):
            parts.append(f"(?=[ \n]|$)(?! [^ \n]*[{''.join(sorted(letters_of(part[1:].split('/'))))}])")
        else:
            parts.append(f" [^ \n]*[{''.join(sorted(letters_of(part.split('/'))))}][^ \n]*")
    return re.compile("".join(parts))


@lru_cache(512)
def pattern_requirements(pattern: str) -> tuple[int, tuple[int, ...], frozenset[str]]:
    """Gives the things that a shape must have, as bits, those of which it must have one, and the letters of the thing
    spoken of least, by which it is found."""
    parts = [part.split("/") for part in pattern.split() if not (part[0].isdigit() or part[0] == "-")]
    by = max(parts, key=lambda part: min(_OFTEN.get(name, len(_OFTEN)) for name in part))
    choices = [letters_of(part) for part in parts]
    every = bits_of(frozenset[str]().union(*(choice for choice in choices if len(choice) == 1)))
    return every, tuple(bits_of(choice) for choice in choices if len(choice) != 1), letters_of(by)


def foreign_sentences(row: str) -> Iterator[list[str]]:
    """Gives the sentences that are not in English, each as the letters of its words that speak of something."""
    if FOREIGN in row:
        for sentence in row.split(SENTENCE_END):
            if sentence.count(FOREIGN) >= FOREIGN_WORDS:
                yield [word for word in sentence.split(" ") if word]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One way to address the model."""

    code: str
    """A name that does not change between versions."""

    meaning: str
    """What such a text wants, for people."""

    example: str
    """A sentence that it finds."""

    patterns: tuple[str, ...] = ()
    """What it finds: things in an order, with the number of words that may stand between them."""

    foreign_patterns: tuple[str, ...] = ()
    """Things that stand in one sentence of another language than English, in any order."""

    regex: str = ""
    """An expression for what it finds in the text as it stands, in lower case."""

    regex_literals: str = ""
    """Of which a text that has the signs has one, exactly so; a space parts them, and `␣` stands for one."""

    def finds(self, text: str, row: str, things: int, *, has_sign: bool) -> bool:
        """Tells whether a text is one that this rule finds: as it is shown, as a row of things, and these as bits; and
        whether it may have any sign at all."""
        for pattern, every, choices in _prepared(self.patterns) if things else ():
            has_all = things & every == every and all(things & choice for choice in choices)
            if has_all and compile_pattern(pattern).search(row):
                return True
        if self.foreign_patterns:
            if any(_stand_together(self.foreign_patterns, sentence) for sentence in foreign_sentences(row)):
                return True
        return (
            has_sign
            and bool(self.regex)
            and any(stem in text for stem in self.literals)
            and bool(_compiled(self.regex).search(text))
        )

    @property
    def literals(self) -> tuple[str, ...]:
        """Gives the stems."""
        return _literals(self.regex_literals)


@lru_cache(64)
def _prepared(patterns: tuple[str, ...]) -> tuple[tuple[str, int, tuple[int, ...]], ...]:
    """Gives each shape with the things that it must have, as bits, and those of which it must have one."""
    return tuple((pattern, *pattern_requirements(pattern)[:2]) for pattern in patterns)


def _stand_together(patterns: tuple[str, ...], sentence: list[str]) -> bool:
    """Tells whether each thing of one of the patterns stands in a sentence, each in a word of its own."""
    for pattern in patterns:
        wanted = [letters_of(part.split("/")) for part in pattern.split()]
        places = [{index for index, word in enumerate(sentence) if not choice.isdisjoint(word)} for choice in wanted]
        if all(places) and len(set().union(*places)) >= len(places):
            return True
    return False


@lru_cache(64)
def _literals(regex_literals: str) -> tuple[str, ...]:
    return tuple(stem.replace("␣", " ") for stem in regex_literals.split())


@lru_cache(64)
def _compiled(regex: str) -> re.Pattern[str]:
    return re.compile(regex)
