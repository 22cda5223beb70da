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
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate, chain, combinations
from pathlib import Path

from msgspec import Struct

from skillgen.security.credentials import without_placeholders
from skillgen.text import lazy_re as re
from skillgen.text.lazy_re import LazyPattern
from skillgen.text.unicode import strip_invisible, to_latin
from skillgen.typed import decode

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


class Pattern(Struct, frozen=True, eq=False, dict=True):
    """Concepts in an order and a distance; `injection.toml` explains the syntax."""

    rule: int
    """The number of its rule."""

    source: str
    choices: tuple[frozenset[str], ...]
    """The codes of one concept or another for each of its places."""

    @cached_property
    def regex(self) -> re.Pattern[str]:
        """The compiled expression; most are never needed."""
        return re.compile(self.source)


class Rule(Struct, frozen=True, eq=False):
    """A rule that finds one way to address the model."""

    code: str
    """A stable name, part of messages and quotations."""

    meaning: str
    """What such a text does, for messages: "it …"."""

    example: str
    regex: LazyPattern
    """Markup and commands, in the text itself."""

    foreign_patterns: tuple[tuple[frozenset[str], ...], ...]
    """Concepts that occur together in one sentence of another language, in any order."""


class Passage(Struct, frozen=True):
    """A part of a text that addresses the model."""

    start: int
    end: int
    rule: Rule


class _Tables(Struct):
    """The rules, and the concepts of words: `tests/make_screening.py` prepares them from `injection.toml`."""

    files: LazyPattern
    literals: LazyPattern
    order_phrases: LazyPattern
    unspaced: LazyPattern
    marks: frozenset[str]
    order_words: frozenset[str]
    verbs: frozenset[str]
    languages: frozenset[str]
    rules: tuple[Rule, ...]
    patterns: tuple[Pattern, ...]
    by_code: dict[str, tuple[int, ...]]
    """Concept to the patterns of which it is the telling one."""

    scripts: dict[str, str]
    """Terms of languages without spaces, with the words that replace them."""

    words: dict[str, str]
    phrases: dict[str, tuple[tuple[tuple[str, ...], str], ...]]
    """The longest word of a phrase to all its words, with its concept."""

    telling_words: frozenset[str]
    signs: frozenset[str]
    """The telling words, and the longest words of telling phrases."""

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
        found = [concept for phrase, concept in phrases if words.issuperset(phrase)]
        if self.telling_words.isdisjoint(words) and self.by_code.keys().isdisjoint(found):
            return False
        found += map(self.words.__getitem__, self.words.keys() & words)
        codes = "".join(found)
        is_foreign = any(codes.count(language) >= _MIN_FOREIGN_WORDS for language in self.languages & {*codes})
        return is_foreign or not self.marks.isdisjoint(words) or next(self.candidates(codes), None) is not None

    def candidates(self, codes: str) -> Iterator[Pattern]:
        """Yields the patterns of which these codes have each concept."""
        present = {*codes}
        for code in self.by_code.keys() & present:
            for pattern in map(self.patterns.__getitem__, self.by_code[code]):
                if not any(map(present.isdisjoint, pattern.choices)):
                    yield pattern

    def tokens(self, lower: str) -> str:
        """Returns the tokens of a text in lower case."""
        if _UNSPACED.search(lower):
            lower = self.unspaced.sub(lambda match: self.scripts[match[0]], lower)
        words = _WORD.findall(lower)
        tokens = [self.words.get(word, "") for word in words]
        for at, word in enumerate(words):
            for phrase, concept in self.phrases.get(word, ()):
                start = at - phrase.index(word)
                if start >= 0 and tuple(words[start : start + len(phrase)]) == phrase:
                    tokens[start] += concept
        return "".join(f" {token}" for token in tokens)


@lru_cache(1)
def _tables() -> _Tables:
    content = Path(__file__).with_name("injection.json").read_bytes()
    return decode(content, _Tables)


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
        matching = {item.rule for item in tables.candidates(tokens) if item.regex.search(tokens)}
        languages = [code for code in tables.languages if code in tokens]
        if matching and not (is_name or languages or _speaks(lower)):
            weak.append(tables.rules[min(matching)])
            matching.clear()
        for language in (code for code in languages if tokens.count(code) >= _MIN_FOREIGN_WORDS):
            words = [word for word in tokens.split() if language in word or tables.languages.isdisjoint(word)]
            matching |= {
                number
                for number, rule in enumerate(tables.rules)
                if any(_occurs_in(words, choices) for choices in rule.foreign_patterns)
            }
        for number, rule in enumerate(tables.rules):
            if number in matching:
                return rule
            if is_marked and (found := rule.regex.search(reading)):
                if _speaks(f"{reading[: found.start()]} , {reading[found.end() :]}".lower()):
                    return rule
                weak.append(rule)
    return None


def _occurs_in(words: Sequence[str], choices: Sequence[frozenset[str]]) -> bool:
    """True if a sentence, as the codes of its words, has the concepts in any order, in separate words."""
    places = [{at for at, word in enumerate(words) if not one_of.isdisjoint(word)} for one_of in choices]
    subsets = chain.from_iterable(combinations(places, size) for size in range(1, len(places) + 1))
    return all(len(set().union(*subset)) >= len(subset) for subset in subsets)  # Hall's theorem


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
