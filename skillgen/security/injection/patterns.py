"""Loads the rules and their lexicon, turns text into tokens of concepts, and matches rules against them.

A word becomes a token: a space and one character for each concept that the word may express (none for most words). A
sentence ends with a line feed. So a pattern, concepts in an order and a distance, compiles to a short regular
expression over the token string, whatever the words and the language are.

`rules.toml` and `lexicon.toml` hold the data. They are loaded when the first text is screened.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from typing import Any

from msgspec import Struct

from skillgen.security.tables import Regex, load_table
from skillgen.text import lazy_re as re

_FIRST_CODE = 0x100
"""Code point of the first concept: from here on, characters need no escape in a regular expression."""

MIN_FOREIGN_WORDS = 2
"""Foreign words that make a sentence foreign; one may be a name."""

SENTENCE_END = "\n"
_ELLIPSIS = re.compile(r"\.{2,}|…")
_END = re.compile(r"[.!?。！？](?:(?<=[。！？])|(?<!\s\d\.)(?=\s|$))")
"""The end of a sentence; the full stop after a step number does not count. `re` skips to the set in front."""
_TOKEN = re.compile(rf"{_END.pattern}|[^\W_]+")
_END_TOKENS = frozenset(".!?。！？")
_VOWELS = frozenset("aeiou")
_VOWEL_SOUNDS = _VOWELS | {"h"}
_UNSPACED_SCRIPTS = (("\u0370", "\u1cff"), ("\u3040", "\u9fff"), ("\uac00", "\ud7af"))
"""Letters of the languages that have terms within longer words (`scripts` in the lexicon)."""
_GAP = "(?: {}[^ \n]*){{0,{}}}?"


class Lexicon:
    """The concepts and their terms in all languages. A concept is a character."""

    def __init__(self) -> None:
        data = load_table(__file__, "lexicon.toml")
        concepts: dict[str, str] = data["concepts"]
        self._codes = {name: chr(_FIRST_CODE + index) for index, name in enumerate(concepts)}
        self.foreign = chr(_FIRST_CODE + len(concepts))
        """The character that marks a foreign word (not English)."""
        self.shortest_terms = {self._codes[name]: min(map(len, terms.split())) for name, terms in concepts.items()}
        """Concept to the length of its shortest English term."""
        self.sensitive_files = Regex("|".join(data["sensitive_files"]))
        self.words: dict[str, str] = {}
        """Word to the codes of its concepts."""
        self.phrases: dict[str, dict[tuple[str, ...], str]] = {}
        """First word of a phrase to the other words and their codes."""
        for name, terms in concepts.items():
            for term in terms.split():
                for form in _word_forms(term):
                    self._add(form, self._codes[name])
        english = {"_".join((first, *rest)) for first, rests in self.phrases.items() for rest in rests}
        english |= {*self.words, *data["english_too"].split()}
        scripts: dict[str, dict[str, str]] = data["scripts"]
        for language, table in (*data["languages"].items(), *scripts.items()):
            elided = data["elided"].get(language, "").split()
            for name, terms in table.items():
                code = self._codes[name]
                for term in terms.split():
                    word = _one_word(term) if language in scripts else term
                    self._add(word, code if term in english else code + self.foreign)
                    if elided and term[0] in _VOWEL_SOUNDS:
                        for article in elided:
                            self._add(article + term, code + self.foreign)
        self._unspaced = {term for table in scripts.values() for terms in table.values() for term in terms.split()}

    @cached_property
    def unspaced(self) -> re.Pattern[str]:
        """The regex of the terms within longer words, the longest first."""
        return re.compile("|".join(map(re.escape, sorted(self._unspaced, key=len, reverse=True))))

    def codes_of(self, alternatives: str) -> frozenset[str]:
        """Returns the characters of concepts, given as `A/B`."""
        return frozenset(self._codes[name] for name in alternatives.split("/"))

    def _add(self, term: str, codes: str) -> None:
        first, *rest = term.split("_")
        if rest:
            rests = self.phrases.setdefault(first, {})
            rests[tuple(rest)] = rests.get(tuple(rest), "") + codes
        else:
            self.words[first] = self.words.get(first, "") + codes


@lru_cache(1)
def lexicon() -> Lexicon:
    """Returns the lexicon."""
    return Lexicon()


def _word_forms(term: str) -> Iterator[str]:
    """Yields the forms of a term, also some that do not exist: `copy~` is copy, copies, copied and copying."""
    if term[-1] not in "~+":
        yield term
        return
    if term[-1] == "~":
        yield from (f"{term[:-1]}s", f"{term[:-1]}es", f"{term[:-2]}ies")
    word = term[:-1]
    yield from (word, f"{word}ing", f"{word}ed")
    if word.endswith("e"):
        yield from (f"{word}d", f"{word[:-1]}ing")
    elif word.endswith("y") and word[-2:-1] not in _VOWELS:
        yield f"{word[:-1]}ied"
    elif word[-1] not in _VOWELS and word[-2:-1] in _VOWELS:
        yield from (f"{word}{word[-1]}ing", f"{word}{word[-1]}ed")


def _one_word(term: str) -> str:
    """Returns a term without combining vowel signs, which are not letters and would split it into tokens."""
    return term if term.isalnum() else "".join(letter for letter in term if letter.isalnum() or letter == "_")


def sentences_of(text: str) -> list[str]:
    """Splits a text into sentences; an ellipsis does not end one."""
    return _END.split(_ELLIPSIS.sub(" ", text))


def tokenize(text: str) -> str:
    """Returns the token string of a text in lower case."""
    known = lexicon()
    if not text.isascii() and any(first <= letter <= last for letter in set(text) for first, last in _UNSPACED_SCRIPTS):
        text = known.unspaced.sub(lambda match: f" {_one_word(match[0])} ", text)
    tokens: list[str] = _TOKEN.findall(_ELLIPSIS.sub(" ", text))
    parts = []
    for index, token in enumerate(tokens):
        if token in _END_TOKENS:
            parts.append(SENTENCE_END)
            continue
        codes = known.words.get(token, "")
        for rest, phrase_codes in known.phrases.get(token, {}).items():
            if tuple(tokens[index + 1 : index + 1 + len(rest)]) == rest:
                codes += phrase_codes
        parts.append(" " + codes)
    return "".join(parts)


class Pattern:
    """Concepts in an order and a distance; `rules.toml` explains the syntax."""

    def __init__(self, source: str) -> None:
        self._source = source
        self.choices = [lexicon().codes_of(part) for part in source.split() if part[0] not in "-0123456789"]
        """Sets of concepts, of each of which every match has one."""

    @cached_property
    def regex(self) -> re.Pattern[str]:
        """The regular expression over token strings."""
        parts = []
        for part in self._source.split():
            if part[0].isdigit():
                most, _, excluded = part.partition("!")
                parts.append(_GAP.format(f"(?![^ \n]*[{_class_of(excluded)}])" if excluded else "", most))
            elif part[0] == "-":
                parts.append(f"(?=[ \n]|$)(?! [^ \n]*[{_class_of(part[1:])}])")
            else:
                parts.append(f" [^ \n]*[{_class_of(part)}][^ \n]*")
        return re.compile("".join(parts))

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
            {index for index, word in enumerate(sentence) if not choice.isdisjoint(word)} for choice in self.choices
        ]
        return all(positions) and len(set().union(*positions)) >= len(positions)


def _class_of(alternatives: str) -> str:
    return "".join(sorted(lexicon().codes_of(alternatives)))


class Rule(Struct, frozen=True, kw_only=True):
    """A rule that finds one way to address the model."""

    code: str
    """A stable name, part of messages and quotations."""

    meaning: str
    """What such a text does, for messages: "it …"."""

    example: str
    patterns: frozenset[Pattern | Regex]
    """Patterns over concepts, and regular expressions over the text itself, in lower case."""

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


@lru_cache(1)
def rules() -> tuple[Rule, ...]:
    """Returns the rules, in the order in which they are tried."""
    return tuple(map(_rule_from_table, load_table(__file__, "rules.toml")["rules"]))


def _rule_from_table(row: Mapping[str, Any]) -> Rule:
    return Rule(
        code=row["code"],
        meaning=row["meaning"],
        example=row["example"],
        patterns=frozenset((*_patterns(row, "patterns"), *map(Regex, row.get("regexes", ())))),
        foreign_patterns=_patterns(row, "foreign_patterns"),
    )


def _patterns(row: Mapping[str, str], key: str) -> tuple[Pattern, ...]:
    return tuple(map(Pattern, row.get(key, "").splitlines()))
