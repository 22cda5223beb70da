"""Finds the sentences that address the model instead of describing the service (X-52).

A sentence is quoted if two independent signals agree: a rule of `injection.toml` says what it wants of its reader, and
it speaks to a reader: by an order's verb or words, by `you`, or by a name of models. A sentence that begins with what
the tool does ("Returns …") does not. A rule alone is a weak match, which only `lint` reports.

A word becomes a token: a space and one character for each concept that the word may express. So a pattern of concepts
is a short regular expression, whatever the words and the language are.
"""

from __future__ import annotations

import html
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate, chain, combinations, repeat
from typing import Any

from msgspec import Struct

from skillgen.security.credentials import without_placeholders
from skillgen.security.tables import load_table
from skillgen.text import lazy_re as re
from skillgen.text.unicode import strip_invisible, to_latin

MAX_TEXT_LENGTH = 1_000_000
"""Characters of a text that are searched; a longer one is not a description and is cut (`searched_part`)."""

_MAX_EXPANSION = 18
"""Characters of the longest compatibility form of a character: that of U+FDFA."""

_MIN_LENGTH, _MIN_ASCII_LENGTH = 5, 12
"""Characters of the shortest order, in any script, where a word may have one or two, and in ASCII."""

_MAX_SENTENCE = 2_000
"""Characters that are searched as one sentence; a longer one is searched in parts."""

_MAX_PASSAGES = 20
"""A text with more passages is quoted as a whole: each is stored with the rest."""

_FIRST_CODE = 0x100
"""Code point of the first concept: from here on, characters need no escape in a regular expression."""

_FORMS = dict.fromkeys("~+", "{0} {0}ing {0}ed {0}d {1}ing {1}ied {0}{2}ing {0}{2}ed") | {"": "{0}"}
_FORMS["~"] += " {0}s {0}es {1}ies"
"""The forms of a term by its sign, also some that do not exist: `copy~` is copy, copies, copied and copying."""

_MIN_FOREIGN_WORDS = 2
"""Words of a language that make a sentence one of it; one may be a name."""

_BLOCK_TAG = "p|div|br|hr|[uod]l|li|d[td]|pre|table|t[rdh]|details|summary|section|h[1-6]"
_END = re.compile(
    r"[.!?。！？\n`<](?:(?P<stop>(?<=[。！？])[\"'”’）」』]{0,3}"
    r"|(?<=[.!?])(?<!\.\.)(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\s\d\.)[\"'”’)\]*_`]{0,3}(?=\s|$))\s*"
    r"|(?<=\n)(?=[ \t]{0,40}(?:[-+*•#>|]|\d{1,9}[.)]\s|`{3}|\n))\s*|(?<=`{3})[\w+-]{0,20}\n\s*"
    rf"|(?<=<)/?(?:{_BLOCK_TAG})\b[^<>]{{0,200}}>\s*)",
    re.IGNORECASE,
)
"""The end of a sentence, or of a line or block that may be a part of one."""

_ELEMENT = re.compile(rf"<\s*(?!(?:{_BLOCK_TAG})>)([a-z][\w-]{{2,30}})>[^<>]{{0,1000}}<\s*/\s*\1\s*>", re.IGNORECASE)
"""An element without others: if its tag is markup of a host, all of it is quoted."""

_DIVIDES_WORD = re.compile(r"<!--|-->|(?<=\w)</?[a-z][a-z0-9]{0,9}/?>(?=\w)", re.IGNORECASE)
_LINK = re.compile(r"(?<!!)\[([^\[\]]{1,200})\]\([^()\s]{0,500}\)")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_MENTION = re.compile(
    r"\b(?:such as|for example,?|e\.g\.,?|like|phrases?) (?:\"[^\"]{1,200}\"|'[^']{1,200}'|“[^”]{1,200}”)",
    re.IGNORECASE,
)
"""An example of words, which nobody says."""

_MAIL = re.compile(r"[\w.+-]{1,60}@[\w-]{1,60}\.\w+")
_URL = re.compile(r"https?://[^\s<>\"')]+")

_DELETED = str.maketrans(dict.fromkeys("'’‘*`\"“”~", None))
_BLANK = bytes.maketrans(b"!#$%&()+,-./:;<=>?@[\\]^_{|}\t\n\r", b" " * 30)
_WORD, _LETTERS = re.compile(r"[^\W_]+"), re.compile(r"[^\W\d_]+")
_CLAUSE = re.compile(r"[][(){}<>,;:#`\n]|\b(?:and|then|please|kindly|first|also|silently|quietly|secretly)\b")
_UNSPACED = re.compile("[\u0370-\u1cff\u3040-\ud7af]")
"""Letters of the languages that have terms within longer words (`scripts` in the table)."""


class Pattern:
    """Concepts in an order and a distance; `injection.toml` explains the syntax."""

    def __init__(self, source: str, codes: Mapping[str, str]) -> None:
        self.choices: list[frozenset[str]] = []
        self.telling = frozenset[str]()
        """The rarest of the choices."""
        parts: list[str] = []
        for part in source.split():
            most, _, excluded = part.partition("!")
            names = excluded or part.lstrip("-*")
            one_of = "".join(codes[name] for name in names.split("/")) if not names.isdigit() else ""
            if most.isdigit():
                parts.append(f"(?: {f'(?![^ ]*[{one_of}])' if one_of else ''}[^ ]*){{0,{most}}}?")
            else:
                self.choices.append(frozenset(one_of))
                self.telling = self.choices[-1] if part[0] == "*" or not self.telling else self.telling
                parts.append(f" [^ ]*[{one_of}][^ ]*")
        self._source = "".join(parts)

    @cached_property
    def regex(self) -> re.Pattern[str]:
        """The compiled expression; most are never needed."""
        return re.compile(self._source)

    def occurs_in(self, words: Sequence[str]) -> bool:
        """True if a sentence, given as the codes of its words, has the concepts in any order, in separate words."""
        places = [{at for at, word in enumerate(words) if not one_of.isdisjoint(word)} for one_of in self.choices]
        subsets = chain.from_iterable(combinations(places, size) for size in range(1, len(places) + 1))
        return all(len(set().union(*subset)) >= len(subset) for subset in subsets)  # Hall's theorem


class Rule(Struct, frozen=True, eq=False):
    """A rule that finds one way to address the model."""

    code: str
    """A stable name, part of messages and quotations."""

    meaning: str
    """What such a text does, for messages: "it …"."""

    example: str
    patterns: tuple[Pattern, ...]
    foreign_patterns: tuple[Pattern, ...]
    """Patterns of concepts that occur together in one sentence of another language, in any order."""

    regex: re.Pattern[str]
    """Markup and commands, in the text itself."""


class Passage(Struct, frozen=True):
    """A part of a text that addresses the model."""

    start: int
    end: int
    rule: Rule


class _Tables:
    """The rules, and the concepts of words."""

    def __init__(self) -> None:
        data = load_table(__file__, "injection.toml")
        self.marks, self.order_words, self.verbs = (
            frozenset(data[key].split()) for key in ("marks", "order_words", "verbs")
        )
        files = "|".join(data["sensitive_files"])
        self.files, self.literals, self.order_phrases = map(
            re.compile, (files, data["literals"], data["order_phrases"])
        )
        foreign = [*data["languages"], *data["scripts"]]
        codes = {name: chr(_FIRST_CODE + number) for number, name in enumerate([*data["concepts"], *foreign])}
        self.languages = frozenset(codes[language] for language in foreign)
        self.scripts: dict[str, str] = {}
        """Terms of languages without spaces, with the words that replace them."""
        self.words: dict[str, str] = {}
        self.phrases: dict[str, list[tuple[frozenset[str], tuple[str, ...], str]]] = {}
        """The longest word of a phrase to all its words, as a set and in their order, with its concept."""
        for term, concepts in self._terms(data, codes):
            if "_" not in term:
                self.words[term] = self.words.get(term, "") + concepts
            else:
                words = tuple(term.split("_"))
                self.phrases.setdefault(max(words, key=len), []).append((frozenset(words), words, concepts))
        # The longest first; terms of these scripts have no character that needs an escape.
        self.unspaced = re.compile("|".join(sorted(self.scripts, key=lambda term: (-len(term), term))))
        self.rules = tuple(_rule(row, codes) for row in data["rules"])
        self.by_code: dict[str, list[tuple[Rule, Pattern]]] = {}
        """Concept to the patterns of which it is the telling one."""
        for rule in self.rules:
            for pattern in rule.patterns:
                for code in pattern.telling:
                    self.by_code.setdefault(code, []).append((rule, pattern))
        telling = self.languages | self.by_code.keys()
        self.telling_words = self.marks.union(
            word for word, found in self.words.items() if not telling.isdisjoint(found)
        )
        in_phrases = (word for word, rows in self.phrases.items() if any(row[2] in self.by_code for row in rows))
        self.signs = self.telling_words.union(in_phrases)

    def _terms(self, data: Mapping[str, Any], codes: Mapping[str, str]) -> list[tuple[str, str]]:
        """Returns each term with its concept, and with its language unless it is a word of English too."""
        found: list[tuple[str, str]] = []
        for name, terms in data["concepts"].items():
            for term in terms.split():
                word = term.rstrip("~+")
                forms = _FORMS[term[len(word) :]].format(word, word[:-1], word[-1]).split()
                found += zip(forms, repeat(codes[name]))
        english = {*(term for term, _ in found), *data["english_too"].split()}
        for language, table in {**data["languages"], **data["scripts"]}.items():
            articles = data["elided"].get(language, "").split()
            for name, term in ((name, term) for name, terms in table.items() for term in terms.split()):
                concepts = codes[name] if term in english else codes[name] + codes[language]
                word = term
                if language in data["scripts"]:
                    word = f"{language}{len(self.scripts)}".lower()
                    self.scripts[term] = f" {word} "
                found.append((word, concepts))
                found += [(article + word, concepts) for article in articles if word[0] in "aeiouh"]
        return found

    def is_marked(self, lower: str) -> bool:
        """True if a regular expression may match a text in lower case."""
        return not self.marks.isdisjoint(_WORD.findall(lower)) or self.literals.search(lower) is not None

    def may_match(self, text: str) -> bool:
        """True if a text has the words or a mark of a rule: a cheap test that most texts fail."""
        if not text.isascii():
            if len(text) < _MIN_LENGTH or _UNSPACED.search(text):
                return len(text) >= _MIN_LENGTH
            form = to_latin(strip_invisible(text))
        elif len(text) < _MIN_ASCII_LENGTH:
            return False
        else:
            form = (text if " " in text or text.islower() else _CAMEL.sub(" ", text)).lower()
        listed = form.encode().translate(_BLANK, b"'*`\"~").decode().split()  # faster than `str.translate`
        if self.signs.isdisjoint(listed) or self.literals.search(form):
            return self.literals.search(form) is not None
        words = {*listed, "somemail" if "@" in form else "", "someurl" if "://" in form else ""}
        phrases = chain.from_iterable(map(self.phrases.__getitem__, self.phrases.keys() & words))
        found = [concept for phrase, _, concept in phrases if phrase <= words]
        if self.telling_words.isdisjoint(words) and self.by_code.keys().isdisjoint(found):
            return False
        found += map(self.words.__getitem__, self.words.keys() & words)
        codes = "".join(found)
        is_foreign = any(codes.count(language) >= _MIN_FOREIGN_WORDS for language in self.languages & {*codes})
        return is_foreign or not self.marks.isdisjoint(words) or next(self.candidates(codes), None) is not None

    def candidates(self, codes: str) -> Iterator[tuple[Rule, Pattern]]:
        """Yields the patterns of which these codes have each concept, with their rules."""
        present = {*codes}
        for code in self.by_code.keys() & present:
            for rule, pattern in self.by_code[code]:
                if not any(map(present.isdisjoint, pattern.choices)):
                    yield rule, pattern

    def tokens(self, lower: str) -> str:
        """Returns the tokens of a text in lower case."""
        if _UNSPACED.search(lower):
            lower = self.unspaced.sub(lambda match: self.scripts[match[0]], lower)
        words = _WORD.findall(lower)
        tokens = [self.words.get(word, "") for word in words]
        for at, word in enumerate(words):
            for _, phrase, concept in self.phrases.get(word, ()):
                start = at - phrase.index(word)
                if start >= 0 and (*words[start : start + len(phrase)],) == phrase:
                    tokens[start] += concept
        return "".join(f" {token}" for token in tokens)


def _rule(row: Mapping[str, Any], codes: Mapping[str, str]) -> Rule:
    english, foreign = (
        tuple(Pattern(line, codes) for line in row.get(key, "").splitlines())
        for key in ("patterns", "foreign_patterns")
    )
    regex = re.compile("|".join(row.get("regexes", ("(?!)",))), re.IGNORECASE)
    return Rule(row["code"], row["meaning"], row["example"], english, foreign, regex)


@lru_cache(1)
def _tables() -> _Tables:
    return _Tables()


def rules() -> tuple[Rule, ...]:
    """Returns the rules, in the order in which they are tried."""
    return _tables().rules


def searched_part(text: str) -> str:
    """Returns what of a text is searched: its compatibility form has at most `MAX_TEXT_LENGTH` characters."""
    text = text[:MAX_TEXT_LENGTH]
    if text.isascii() or len(text) * _MAX_EXPANSION <= MAX_TEXT_LENGTH:
        return text
    lengths = {character: len(unicodedata.normalize("NFKD", character)) for character in set(text)}
    return text[: bisect_right([*accumulate(map(lengths.__getitem__, text))], MAX_TEXT_LENGTH)]


def find_injections(texts: Iterable[str], weak: dict[str, Rule] | None = None) -> dict[str, tuple[Passage, ...]]:
    """Returns the texts that address the model, each with its passages; `weak` gets those that only have words of a
    rule."""
    found: dict[str, tuple[Passage, ...]] = {}
    for text in filter(_tables().may_match, texts):
        passages, rule = _passages(text)
        if passages:
            found[text] = passages
        elif rule is not None and weak is not None:
            weak[text] = rule
    return found


@lru_cache(1 << 10)
def _passages(text: str) -> tuple[tuple[Passage, ...], Rule | None]:
    """Returns what addresses the model, and the first rule of which a sentence only has words."""
    found: list[Passage] = []
    weak: list[Rule] = []
    for run in _runs(text):
        if not _tables().may_match("\n".join(text[start:end] for start, end in run)):
            continue
        rules_found = {part: _rule_in(text[part[0] : part[1]], weak) for part in run}
        others = "\n".join(text[start:end] for (start, end), rule in rules_found.items() if rule is None)
        if len(run) > 1 and (rule := _rule_in(others, weak)) is not None:
            rules_found = {(run[0][0], run[-1][1]): rule}
        found += (Passage(start, end, rule) for (start, end), rule in rules_found.items() if rule is not None)
    passages = tuple(found) if len(found) <= _MAX_PASSAGES else (Passage(0, len(text), found[0].rule),)
    return passages, next(iter(weak), None)


def _runs(text: str) -> Iterator[list[tuple[int, int]]]:
    """Yields the parts of each sentence: a sentence may go on in the next line or item, but not after a full stop."""
    run: list[tuple[int, int]] = []
    start = 0
    for end, next_start, is_stop in _ends(text):
        for at in range(start, end, _MAX_SENTENCE):
            if run and min(at + _MAX_SENTENCE, end) - run[0][0] > _MAX_SENTENCE:
                yield run
                run = []
            if not text[at : at + _MAX_SENTENCE].isspace():
                run.append((at, min(at + _MAX_SENTENCE, end)))
        start = next_start
        if run and is_stop:
            yield run
            run = []


def _ends(text: str) -> Iterator[tuple[int, int, bool]]:
    """Yields where each part ends, where the next one starts, and whether its sentence ends too."""
    start = 0
    for element in (*(_ELEMENT.finditer(text) if "</" in text else ()), None):
        end = element.start() if element else len(text)
        for match in _END.finditer(text, start, end):
            is_stop = match["stop"] is not None
            yield match.end("stop") if is_stop else match.start() + (match[0][0] == "`"), match.end(), is_stop
        yield end, end, True
        if element:
            start = element.end()
            yield start, start, True


def _readings(text: str) -> tuple[str, ...]:
    """Returns a text as a reader sees it, and again with ASCII letters."""
    text = strip_invisible(html.unescape(text) if "&" in text else text)
    if "<" in text:
        text = _DIVIDES_WORD.sub(lambda match: "\n" if "-" in match[0] else "", text)
    text = _MENTION.sub(" ", without_placeholders(_LINK.sub(r"\1", text) if "](" in text else text))
    if text.isascii():
        return (text if " " in text.strip() else _CAMEL.sub(" ", text),)
    composed, latin = unicodedata.normalize("NFKC", text), to_latin(text)
    return (composed, latin) if _UNSPACED.search(composed) else (latin,)


def _rule_in(text: str, weak: list[Rule]) -> Rule | None:
    """Returns the first rule that finds a sentence; `weak` gets one of which it has words, but speaks to nobody."""
    tables, is_name = _tables(), " " not in text.strip()
    for reading in _readings(text):
        lower = reading.lower()
        is_marked = tables.is_marked(lower)
        if is_marked:
            lower = tables.files.sub(" sensitivefile ", lower)
        lower = _MAIL.sub(" somemail ", lower) if "@" in lower else lower
        lower = _URL.sub(" someurl ", lower) if "://" in lower else lower
        tokens = tables.tokens(lower := lower.translate(_DELETED))
        matching = {rule for rule, pattern in tables.candidates(tokens) if pattern.regex.search(tokens)}
        languages = [code for code in tables.languages if code in tokens]
        if matching and not (is_name or languages or _speaks(lower)):
            weak.append(next(filter(matching.__contains__, tables.rules)))
            matching.clear()
        for language in (code for code in languages if tokens.count(code) >= _MIN_FOREIGN_WORDS):
            words = [word for word in tokens.split() if language in word or tables.languages.isdisjoint(word)]
            matching |= {rule for rule in tables.rules if any(item.occurs_in(words) for item in rule.foreign_patterns)}
        for rule in tables.rules:
            if rule in matching:
                return rule
            if is_marked and (found := rule.regex.search(reading)):
                if _speaks(f"{reading[: found.start()]} , {reading[found.end() :]}".lower()):
                    return rule
                weak.append(rule)
    return None


def _speaks(sentence: str) -> bool:
    """True if a sentence in lower case speaks to a reader, and does not begin with what the tool does."""
    tables, words = _tables(), _LETTERS.findall(sentence)
    first = words[0] if words else ""
    stems = (first.removesuffix("s"), first.removesuffix("es"), f"{first.removesuffix('ies')}y")
    if first not in tables.verbs and not tables.verbs.isdisjoint(stems):
        sentence = sentence.partition(": ")[2]
        words = _LETTERS.findall(sentence)
    if not tables.order_words.isdisjoint(words) or tables.order_phrases.search(sentence):
        return True
    starts = map(_LETTERS.search, _CLAUSE.split(sentence))
    return any(start is not None and start[0] in tables.verbs for start in starts)


def without_passages(text: str, passages: Sequence[Passage]) -> tuple[str, list[tuple[str, int]]]:
    """Returns the rest of a text, and each passage with the number of characters of the rest that are before it."""
    rest, quoted, end = "", list[tuple[str, int]](), 0
    for passage in passages:
        rest = (rest + text[end : passage.start]).rstrip()
        quoted.append((text[passage.start : passage.end], len(rest)))
        end = passage.end
        if rest and (after := text[end:]).strip() and not after[0].isspace():
            rest += " "
    return (rest + text[end:]).strip() if rest else text[end:].strip(), quoted
