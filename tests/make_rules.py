"""Compiles the rules on injection, `rules.toml` and `lexicon.toml`, into `compiled.json`: `make golden` runs it.

Every start would otherwise take a tenth of the time of a small service to derive the same from the two tables: the
forms of all terms, regular expressions from patterns, and the literals of regular expressions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from cli import PACKAGE

from skillgen.security.injection.patterns import Lexicon, Pattern, Rule, one_word
from skillgen.security.tables import Regex, load_table, requirements

TABLES = f"{PACKAGE}/security/injection/patterns.py"
"""The module next to the tables."""

_FIRST_CODE = 0x100
"""Code point of the first concept: from here on, characters need no escape in a regular expression."""

_VOWELS = frozenset("aeiou")
_VOWEL_SOUNDS = _VOWELS | {"h"}
_GAP = "(?: {}[^ \n]*){{0,{}}}?"

_Phrases = dict[str, dict[tuple[str, ...], str]]


def _compiled_lexicon(data: Mapping[str, Any]) -> Lexicon:
    concepts: dict[str, str] = data["concepts"]
    codes = {name: chr(_FIRST_CODE + index) for index, name in enumerate(concepts)}
    foreign = chr(_FIRST_CODE + len(concepts))
    words: dict[str, str] = {}
    phrases: _Phrases = {}

    def add(term: str, term_codes: str) -> None:
        first, *rest = term.split("_")
        if rest:
            rests = phrases.setdefault(first, {})
            rests[tuple(rest)] = rests.get(tuple(rest), "") + term_codes
        else:
            words[first] = words.get(first, "") + term_codes

    for name, terms in concepts.items():
        for term in terms.split():
            for form in _word_forms(term):
                add(form, codes[name])
    english = {"_".join((first, *rest)) for first, rests in phrases.items() for rest in rests}
    english |= {*words, *data["english_too"].split()}
    scripts: dict[str, dict[str, str]] = data["scripts"]
    for language, table in (*data["languages"].items(), *scripts.items()):
        elided = data["elided"].get(language, "").split()
        for name, terms in table.items():
            for term in terms.split():
                word = one_word(term) if language in scripts else term
                add(word, codes[name] if term in english else codes[name] + foreign)
                if elided and term[0] in _VOWEL_SOUNDS:
                    for article in elided:
                        add(article + term, codes[name] + foreign)
    unspaced = {term for table in scripts.values() for terms in table.values() for term in terms.split()}
    return Lexicon(
        codes=codes,
        foreign=foreign,
        words=words,
        phrases={first: tuple(rests.items()) for first, rests in phrases.items()},
        # The longest first; terms of these scripts have no character that needs an escape.
        unspaced=_compiled_regex("|".join(sorted(unspaced, key=lambda term: (-len(term), term)))),
        sensitive_files=_compiled_regex("|".join(data["sensitive_files"])),
    )


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


def _compiled_regex(pattern: str) -> Regex:
    return Regex(pattern, requirements=requirements(pattern))


class _RuleCompiler:
    """Compiles rules over one lexicon."""

    def __init__(self, lexicon: Lexicon, concepts: Mapping[str, str]) -> None:
        self._lexicon = lexicon
        self._shortest_terms = {lexicon.codes[name]: min(map(len, terms.split())) for name, terms in concepts.items()}

    def rule(self, row: Mapping[str, Any]) -> Rule:
        return Rule(
            code=row["code"],
            meaning=row["meaning"],
            example=row["example"],
            patterns=tuple(map(self._pattern, row.get("patterns", "").splitlines())),
            regexes=tuple(map(_compiled_regex, row.get("regexes", ()))),
            foreign_patterns=tuple(map(self._pattern, row.get("foreign_patterns", "").splitlines())),
        )

    def _pattern(self, source: str) -> Pattern:
        parts: list[str] = []
        choices: list[str] = []
        for part in source.split():
            if part[0].isdigit():
                most, _, excluded = part.partition("!")
                parts.append(_GAP.format(f"(?![^ \n]*[{self._class_of(excluded)}])" if excluded else "", most))
            elif part[0] == "-":
                parts.append(f"(?=[ \n]|$)(?! [^ \n]*[{self._class_of(part[1:])}])")
            else:
                choices.append(self._class_of(part))
                parts.append(f" [^ \n]*[{choices[-1]}][^ \n]*")
        choices.sort(key=self._length, reverse=True)
        return Pattern("".join(parts), tuple(choices))

    def _length(self, choice: str) -> int:
        """Returns the length of the shortest term of some concepts: the longer, the rarer."""
        return min(self._shortest_terms[code] for code in choice)

    def _class_of(self, alternatives: str) -> str:
        return "".join(sorted(self._lexicon.codes_of(alternatives)))


def compiled_tables() -> str:
    """Returns `compiled.json`: a line for each rule, so that a change of one can be read."""
    data = load_table(TABLES, "lexicon.toml")
    lexicon = _compiled_lexicon(data)
    compiler = _RuleCompiler(lexicon, data["concepts"])
    rules = map(compiler.rule, load_table(TABLES, "rules.toml")["rules"])
    members = (msgspec.json.encode(member).decode() for member in (lexicon, *rules))
    return '{{"lexicon":{},\n"rules":[{}]}}'.format(next(members), ",\n".join(members))


if __name__ == "__main__":
    print(compiled_tables())
