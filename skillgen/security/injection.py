"""Finds the sentences that address the model instead of describing the service (X-52).

A sentence is quoted if two independent signals agree: a rule of `injection.toml` says what it wants of its reader, and
it speaks to a reader: by an order's verb or words, by `you`, or by a name of models. A first clause that says what the
tool does ("Returns …") does not. A rule alone is a weak match, which only `lint` reports.

A word becomes a token: a space and one character for each concept that the word may express. So a pattern of concepts
is a short regular expression, whatever the words and the language are.
"""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from msgspec import Struct

from skillgen.security.credentials import without_placeholders
from skillgen.text import lazy_re as re
from skillgen.text.lazy_re import LazyPattern
from skillgen.text.unicode import strip_invisible, to_latin
from skillgen.typed import decode

MAX_TEXT_LENGTH = 1_000_000
"""Characters of a text that are used; a longer one is not a description and is cut."""

_MIN_LENGTH = 12
"""Characters of the shortest order in ASCII; in other scripts a word may have one or two."""

_MAX_SENTENCE = 2_000
"""Characters that are searched as one sentence; a longer one is searched in parts."""

_MAX_PASSAGES = 20
"""A text with more passages is quoted as a whole: each is stored with the rest."""

_MIN_CONCEPTS = 2
"""Concepts in words of a language that make a sentence one of it; one may be a name."""

_BLOCK_TAG = "p|div|br|hr|[uod]l|li|d[td]|pre|table|t[rdh]|details|summary|section|h[1-6]"
_END = re.compile(
    r"[.!?。！？\n`<](?:(?P<stop>(?<=[。！？])[\"'”’）」』]{0,3}"
    r"|(?<=[.!?])(?<!\.\.)(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\s\d\.)[\"'”’)\]*_`]{0,3}(?=\s|$)|(?<=\n)(?=[ \t]{0,40}\$ ))\s*"
    r"|(?<=\n)(?=[ \t]{0,40}(?:[-+*•#>|]|\d{1,9}[.)]\s|`{3}|\n))\s*|(?<=`{3})[\w+-]{0,20}\n\s*"
    rf"|(?<=<)/?(?:{_BLOCK_TAG})\b[^<>]{{0,200}}>\s*)",
    re.IGNORECASE,
)
"""The end of a sentence, or of a line or block that may be a part of one."""

_ELEMENT = re.compile(rf"<\s*(?!(?:{_BLOCK_TAG})>)([a-z][\w-]{{2,30}})>[^<>]{{0,1000}}<\s*/\s*\1\s*>", re.IGNORECASE)
"""An element without others: if its tag is markup of a host, all of it is quoted."""

_DIVIDES_WORD = re.compile(r"<!--|-->|(?<=\w)</?[a-z][a-z0-9]{0,9}/?>(?=\w)", re.IGNORECASE)
_LINK = re.compile(r"(?<!!)\[([^\[\]]{1,200})\]\([^()\s]{0,500}\)")
_CAMEL = re.compile(r"(?=[A-Z])(?<=[a-z0-9])")
_MENTION = re.compile(
    r"\b(?:such as|for example,?|e\.g\.,?|like|phrases?) (?:\"[^\"]{1,200}\"|'[^']{1,200}'|“[^”]{1,200}”)",
    re.IGNORECASE,
)
"""An example of words, which nobody says."""

_MAIL = re.compile(r"[\w.+-]{1,60}@[\w-]{1,60}\.\w+")
_URL = re.compile(r"https?:/[^\s<>\"')]*[^\w\s<>\"')]")
"""A URL up to its last word, with which an order may begin."""

_DELETED = str.maketrans(dict.fromkeys("'’‘*`\"“”~", None))
_BLANK = bytes.maketrans(b"!#$%&()+,-./:;<=>?@[\\]^_{|}\t\n\r", b" " * 30)

_WORD, _LETTERS = re.compile(r"[^\W_]+|(?:[,;:!?()…–—、，；：]| - )[\W_]*"), re.compile(r"[^\W\d_]+")
"""A word, or what ends a clause; a word without digits."""

_CLAUSE = re.compile(
    r"[][(){}<>,;:#`\n–—|=]| - |\b(?:and|then|now|please|kindly|first|also|silently|quietly|secretly)\b"
)
_UNSPACED = re.compile(r"[^\W\0-\u036f\u1d00-\u303f]")
"""Letters of the languages that have terms within longer words (`scripts` in the table)."""


class Pattern(Struct, frozen=True, eq=False):
    """Concepts in an order and a distance; `injection.toml` explains the syntax."""

    rule: int
    """The number of its rule."""

    regex: LazyPattern
    choices: tuple[frozenset[str], ...]
    """The codes of one concept or another for each of its places."""


class Rule(Struct, frozen=True, eq=False):
    """A rule that finds one way to address the model."""

    code: str
    """A stable name, part of messages and quotations."""

    meaning: str
    """What such a text does, for messages: "it …"."""

    example: str
    regex: LazyPattern
    """Markup and commands, in the text itself."""


class Passage(Struct, frozen=True):
    """A part of a text that addresses the model."""

    start: int
    end: int
    rule: Rule


class _Tables(Struct):
    """The rules, and the concepts of words: `tests/make_screening.py` prepares them from `injection.toml`."""

    files: LazyPattern
    hidden_files: LazyPattern
    signs: LazyPattern
    """The start of a mark of a host, of an image, or of a path of a hidden file, and other literals of the rules."""

    order_phrases: LazyPattern
    unspaced: LazyPattern
    freed: LazyPattern
    """Tokens that negate nothing: they lose the codes of `negating`, but for the group `kept`."""

    negating: str
    marks: frozenset[str]
    order_words: frozenset[str]
    verbs: frozenset[str]
    languages: frozenset[str]
    rules: tuple[Rule, ...]
    foreign_patterns: tuple[tuple[int, str, tuple[frozenset[str], ...]], ...]
    """The number of a rule, what divides the text, and concepts that a part of another language has in any order."""

    patterns: tuple[Pattern, ...]
    by_code: dict[str, tuple[int, ...]]
    """Concept to the patterns of which it is the telling one."""

    scripts: dict[str, str]
    """Terms of languages without spaces, with the words that replace them."""

    words: dict[str, str]
    phrases: dict[str, tuple[tuple[tuple[str, ...], str], ...]]
    """A word of phrases to all their words, each with its concept."""

    telling: frozenset[str]
    """Words of a concept of `by_code`, a language or a mark."""

    alone: frozenset[str]
    """Those that need no phrase."""

    known: frozenset[str]
    """All words of concepts and marks."""

    def may_match(self, text: str) -> bool:
        """True if a text has the words or a mark of a rule: a cheap test that most texts fail."""
        if text.isascii():
            if len(text) < _MIN_LENGTH:
                return False
            form = text.lower()
            if form != text and " " not in text.strip():  # a name
                form = _CAMEL.sub(" ", text).lower()
        elif _UNSPACED.search(form := to_latin(strip_invisible(text)).replace("—", " ")):
            return True
        if self.signs.search(form):
            return True
        listed = form.encode().translate(_BLANK, b"'*`\"~").decode().split()  # faster than `str.translate`
        if "@" in form or "://" in form:
            listed += ("somemail", "someurl")
        if self.telling.isdisjoint(listed):
            return False
        words = self.known.intersection(listed)
        if self.alone.isdisjoint(words) and not self._phrases(self.telling & words, words):
            return False
        codes = {*"".join([*self._phrases(words, words), *filter(None, map(self.words.get, words))])}
        return bool(self.marks & words or self.languages & codes or next(self.candidates(codes), None))

    def _phrases(self, words: frozenset[str], known: frozenset[str]) -> list[str]:
        """Returns the concepts of the phrases that are found by these of the known words of a text."""
        found = self.phrases.keys() & words
        return [concept for word in found for phrase, concept in self.phrases[word] if known.issuperset(phrase)]

    def candidates(self, codes: set[str]) -> Iterator[Pattern]:
        """Yields the patterns of which these codes have each concept."""
        for code in self.by_code.keys() & codes:
            for pattern in map(self.patterns.__getitem__, self.by_code[code]):
                if not any(map(codes.isdisjoint, pattern.choices)):
                    yield pattern

    def tokens(self, lower: str) -> str:
        """Returns the tokens of a text in lower case, with a comma after each clause."""
        if _UNSPACED.search(lower):
            lower = self.unspaced.sub(lambda match: self.scripts[match[0]], lower)
        words = _WORD.findall(lower)
        tokens = [f" {self.words.get(word, '')}" if word[0].isalnum() else "," for word in words]
        for at, word in enumerate(words):
            for phrase, concept in self.phrases.get(word, ()):
                start = at - phrase.index(word)
                if start >= 0 and tuple(words[start : start + len(phrase)]) == phrase:
                    tokens[start] += concept
        line = "".join(tokens)
        return line if set(self.negating).isdisjoint(line) else str(self.freed.sub(self._freed, line))

    def _freed(self, match: re.Match[str]) -> str:
        kept = match["kept"] or ""
        return kept + match[0].removeprefix(kept).translate(dict.fromkeys(map(ord, self.negating)))

    def rules_in(self, tokens: str) -> tuple[set[int], bool]:
        """Returns the rules that tokens match, and whether the words are of another language than English."""
        matching = {item.rule for item in self.candidates({*tokens}) if item.regex.search(tokens)}
        languages = self.languages & {*tokens}
        words = tokens.replace(",", " , ").split() if languages else []
        for language in languages:
            if len({word for word in words if language in word}) < _MIN_CONCEPTS:
                continue
            own = " ".join(word for word in words if language in word or self.languages.isdisjoint(word))
            for number, stop, choices in self.foreign_patterns:
                if any(_occur_in(part, choices) for part in own.split(stop)):
                    matching.add(number)
        return matching, bool(languages)

    def speaks(self, sentence: str) -> bool:
        """True if a sentence in lower case speaks to a reader after a first clause that says what the tool does."""
        first = next(iter(_LETTERS.findall(sentence)), "")
        stems = (first.removesuffix("s"), first.removesuffix("es"), f"{first.removesuffix('ies')}y")
        if first not in self.verbs and not self.verbs.isdisjoint(stems):
            sentence = "".join(_CLAUSE.split(sentence, maxsplit=1)[1:])
        if not self.order_words.isdisjoint(_LETTERS.findall(sentence)) or self.order_phrases.search(sentence):
            return True
        starts = map(_LETTERS.search, _CLAUSE.split(sentence))
        return any(start is not None and start[0] in self.verbs for start in starts)


@lru_cache(1)
def _tables() -> _Tables:
    return decode(Path(__file__).with_name("injection.json").read_bytes(), _Tables)


def rules() -> tuple[Rule, ...]:
    """Returns the rules, in the order in which they are tried."""
    return _tables().rules


def find_injections(texts: Iterable[str], weak: dict[str, Rule] | None = None) -> dict[str, tuple[Passage, ...]]:
    """Returns the texts that address the model, each with its passages; `weak` gets those that only have words of a
    rule."""
    found: dict[str, tuple[Passage, ...]] = {}
    for text in filter(_tables().may_match, texts):
        judged, others = ([(part, *_judged(text[slice(*part)])) for part in parts] for parts in _parts(text))
        ways = (tuple(Passage(*part, rule) for part, rule, _ in rows if rule) for rows in (judged, others))
        if passages := next(filter(None, ways), ()):
            found[text] = passages if len(passages) <= _MAX_PASSAGES else (Passage(0, len(text), passages[0].rule),)
        elif weak is not None and (words := [rule for _, _, rule in judged if rule is not None]):
            weak[text] = words[0]
    return found


def _parts(text: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Returns where sentences and elements begin and end, and those sentences that go on in the next line or item."""
    parts, longer, first = list[tuple[int, int]](), list[tuple[int, int]](), 0
    for element in (*(_ELEMENT.finditer(text) if "</" in text else ()), None):
        start, last = first, element.start() if element else len(text)
        for match in _END.finditer(text, first, last):
            end = match.end("stop")
            if is_stop := end >= 0:
                longer += _pieces(first, end) if first < start else ()
                first = match.end()
            parts += _pieces(start, end if is_stop else match.start() + (match[0][0] == "`"))
            start = match.end()
        parts += _pieces(start, last)
        longer += _pieces(first, last) if first < start else ()
        if element:
            first = element.end()
            parts += _pieces(*element.span())
    return parts, longer


def _pieces(start: int, end: int) -> Iterator[tuple[int, int]]:
    return ((at, min(at + _MAX_SENTENCE, end)) for at in range(start, end, _MAX_SENTENCE))


def _readings(text: str) -> tuple[str, ...]:
    """Returns a text as a reader sees it, a name as its words, and again with ASCII letters."""
    text = _DIVIDES_WORD.sub("", strip_invisible(html.unescape(text)))
    text = _MENTION.sub(" ", without_placeholders(_LINK.sub(r"\1", text)))
    if text.isascii():
        return (text if " " in text.strip() else _CAMEL.sub(" ", text),)
    return unicodedata.normalize("NFKC", text), to_latin(text)


@lru_cache(1 << 11)  # many texts have the same sentences
def _judged(sentence: str) -> tuple[Rule | None, Rule | None]:
    """Returns the first rule that finds a sentence, or the first of which it has words, but speaks to nobody."""
    tables, weak = _tables(), None
    for reading in _readings(sentence) if tables.may_match(sentence) else ():
        lower = reading.lower()
        # Without any of these no regular expression matches.
        is_marked = tables.signs.search(lower) or tables.marks & {*_WORD.findall(lower)}
        if is_marked and any(map(lower[:-1].__contains__, "./_")):  # as the name of a file has
            lower = tables.hidden_files.sub(" hiddenfile ", tables.files.sub(" sensitivefile ", lower))
        lower = _MAIL.sub(" somemail ", lower) if "@" in lower else lower
        lower = _URL.sub(" someurl , ", lower).translate(_DELETED)
        matching, is_foreign = tables.rules_in(tables.tokens(lower))
        speaks = bool(matching) and (is_foreign or " " not in sentence.strip() or tables.speaks(lower))
        for number, rule in enumerate(tables.rules):
            mark = rule.regex.search(reading) if is_marked else None
            rest = mark and f"{reading[: mark.start()]} , {reading[mark.end() :]}".lower()
            if (speaks and number in matching) or (rest and tables.speaks(rest)):
                return rule, weak
            weak = weak or (rule if mark or number in matching else None)
    return None, weak


def _occur_in(tokens: str, choices: Sequence[frozenset[str]]) -> bool:
    """True if tokens have the concepts in any order, in separate words."""
    words = tokens.split()
    for one_of in choices:
        if (word := next((word for word in words if not one_of.isdisjoint(word)), "")) == "":
            return False
        words.remove(word)
    return True


def without_passages(text: str, passages: Sequence[Passage]) -> tuple[str, list[tuple[str, int]]]:
    """Returns the rest of a text, and each passage with the number of characters of the rest that are before it."""
    rest, quoted, end = "", list[tuple[str, int]](), 0
    for passage in passages:
        rest = (rest + text[end : passage.start]).strip()
        quoted.append((text[passage.start : passage.end], len(rest)))
        end = passage.end
        if rest and (after := text[end:]).strip() and not after[0].isspace():
            rest += " "
    return (rest + text[end:]).strip(), quoted
