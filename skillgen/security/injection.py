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
from itertools import accumulate, chain
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

_FOREIGN = "FOREIGN"
_MIN_FOREIGN_WORDS = 2
"""Foreign words that make a sentence foreign; one may be a name."""

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
_NAMED = {"@": "somemail", "://": "someurl"}
"""What an address has, and the word that replaces it."""

_DELETED = str.maketrans(dict.fromkeys("'’‘*`\"“”~", None))
_BLANK = str.maketrans({**dict.fromkeys("'*`\"~", None), **dict.fromkeys("!#$%&()+,-./:;<=>?@[\\]^_{|}\t\n\r", " ")})
_WORD, _LETTERS = re.compile(r"[^\W_]+"), re.compile(r"[^\W\d_]+")
_CLAUSE = re.compile(r"[][(){}<>,;:#`\n]|\b(?:and|then|please|kindly|first|also|silently|quietly|secretly)\b")
_UNSPACED = re.compile("[\u0370-\u1cff\u3040-\u9fff\uac00-\ud7af]")
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

    def has_all(self, codes: frozenset[str]) -> bool:
        """True if these concepts have one of each choice."""
        return not any(map(codes.isdisjoint, self.choices))

    def occurs_in(self, words: Sequence[str]) -> bool:
        """True if a sentence, given as the codes of its words, has the concepts in any order, in separate words."""
        places = [{at for at, word in enumerate(words) if not one_of.isdisjoint(word)} for one_of in self.choices]
        return all(places) and len(set().union(*places)) >= len(places)


class Rule(Struct, frozen=True, eq=False):
    """A rule that finds one way to address the model."""

    code: str
    """A stable name, part of messages and quotations."""

    meaning: str
    """What such a text does, for messages: "it …"."""

    example: str
    patterns: tuple[Pattern, ...]
    foreign_patterns: tuple[Pattern, ...]
    """Patterns of concepts that occur together in one foreign sentence, in any order."""

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
        self.codes = {name: chr(_FIRST_CODE + number) for number, name in enumerate([*data["concepts"], _FOREIGN])}
        self.words: dict[str, str] = {}
        self.phrases: dict[str, dict[tuple[str, ...], str]] = {}
        self._scripts: dict[str, str] = {}
        self._add_terms(data)
        # The longest first; terms of these scripts have no character that needs an escape.
        self._unspaced = re.compile("|".join(sorted(self._scripts, key=lambda term: (-len(term), term))))
        self.files = re.compile("|".join(data["sensitive_files"]))
        self.rules = tuple(map(self._rule, data["rules"]))
        self.by_code: dict[str, list[tuple[Rule, Pattern]]] = {}
        """Concept to the patterns of which it is the telling one."""
        for rule in self.rules:
            for pattern in rule.patterns:
                for code in pattern.telling:
                    self.by_code.setdefault(code, []).append((rule, pattern))
        self._foreign = frozenset(word for word, codes in self.words.items() if self.codes[_FOREIGN] in codes)
        self._marks = frozenset(data["marks"].split())
        self._literals = re.compile(data["literals"])
        self._phrases: dict[str, list[tuple[frozenset[str], str]]] = {}
        """The longest word of a phrase to all its words, with its concepts."""
        for first, rests in self.phrases.items():
            for rest, codes in rests.items():
                self._phrases.setdefault(max((first, *rest), key=len), []).append((frozenset((first, *rest)), codes))
        is_telling = self.by_code.keys()
        self._telling = frozenset(word for word, codes in self.words.items() if not is_telling.isdisjoint(codes))
        self._telling_phrases = {
            word: found
            for word, rows in self._phrases.items()
            if (found := [phrase for phrase, codes in rows if not is_telling.isdisjoint(codes)])
        }
        self._known, self._known_in_phrases = frozenset(self.words), frozenset(self._phrases)
        self._any_sign = self._telling | self._telling_phrases.keys() | self._foreign | self._marks
        self.order_words, self.order_phrases = frozenset(data["order_words"].split()), re.compile(data["order_phrases"])
        self.verbs = frozenset(data["verbs"].split())

    def _add_terms(self, data: Mapping[str, Any]) -> None:
        for name, terms in data["concepts"].items():
            for form in (form for term in terms.split() for form in _forms(term)):
                self._add(form, self.codes[name])
        english = {*self.words, *data["english_too"].split()}
        english |= {"_".join((first, *rest)) for first, rests in self.phrases.items() for rest in rests}
        for kind in ("languages", "scripts"):
            for language, table in data[kind].items():
                elided = data["elided"].get(language, "").split()
                for name, term in ((name, term) for name, terms in table.items() for term in terms.split()):
                    codes = self.codes[name] if term in english else self.codes[name] + self.codes[_FOREIGN]
                    word = "".join(_WORD.findall(term)) if kind == "scripts" else term
                    for article in ("", *(elided if term[0] in "aeiouh" else ())):
                        self._add(article + word, codes)
                    if kind == "scripts":
                        self._scripts[term] = f" {word} "

    def _add(self, term: str, codes: str) -> None:
        first, *rest = term.split("_")
        if rest:
            rests = self.phrases.setdefault(first, {})
            rests[tuple(rest)] = rests.get(tuple(rest), "") + codes
        else:
            self.words[first] = self.words.get(first, "") + codes

    def _rule(self, row: Mapping[str, Any]) -> Rule:
        english, foreign = (
            tuple(Pattern(line, self.codes) for line in row.get(key, "").splitlines())
            for key in ("patterns", "foreign_patterns")
        )
        regex = re.compile("|".join(row.get("regexes", ("(?!)",))), re.IGNORECASE)
        return Rule(row["code"], row["meaning"], row["example"], english, foreign, regex)

    def is_marked(self, lower: str) -> bool:
        """True if a regular expression may match a text in lower case."""
        return not self._marks.isdisjoint(_WORD.findall(lower)) or self._literals.search(lower) is not None

    def matching(self, forms: Sequence[str]) -> Iterator[int]:
        """Yields the indices of the texts in lower case that may match a rule: most have no telling word."""
        joined = "\0".join(forms)
        ends = [*accumulate(len(form) + 1 for form in forms)]
        marked = {bisect_right(ends, match.start()) for match in self._literals.finditer(joined)}
        for index, listed in enumerate(map(str.split, joined.translate(_BLANK).split("\0"))):
            has_sign = not self._any_sign.isdisjoint(listed)
            if index in marked or (has_sign and self._may_match(frozenset(listed), forms[index])):
                yield index

    def _may_match(self, words: frozenset[str], lower: str) -> bool:
        if not self._marks.isdisjoint(words) or len(self._foreign & words) >= _MIN_FOREIGN_WORDS:
            return True
        if self._telling.isdisjoint(words):
            rows = map(self._telling_phrases.__getitem__, self._telling_phrases.keys() & words)
            if not any(phrase <= words for phrase in chain.from_iterable(rows)):
                return False
        found = [self.words[word] for word in words & self._known]
        found += [self.words[name] for mark, name in _NAMED.items() if mark in lower]
        for word in words & self._known_in_phrases:
            found += [codes for phrase, codes in self._phrases[word] if phrase <= words]
        codes = frozenset("".join(found))
        return any(
            not any(map(codes.isdisjoint, pattern.choices))
            for code in codes & self.by_code.keys()
            for _, pattern in self.by_code[code]
        )

    def tokens(self, lower: str) -> str:
        """Returns the tokens of a text in lower case."""
        if _UNSPACED.search(lower):
            lower = self._unspaced.sub(lambda match: self._scripts[match[0]], lower)
        words = _WORD.findall(lower)
        parts = []
        for at, word in enumerate(words):
            codes = self.words.get(word, "")
            for rest, more in self.phrases.get(word, {}).items():
                if tuple(words[at + 1 : at + 1 + len(rest)]) == rest:
                    codes += more
            parts.append(" " + codes)
        return "".join(parts)


def _forms(term: str) -> Iterator[str]:
    """Yields the forms of a term, also some that do not exist: `copy~` is copy, copies, copied and copying."""
    word = term.rstrip("~+")
    yield word
    if word == term:
        return
    if term[-1] == "~":
        yield from (f"{word}s", f"{word}es", f"{word[:-1]}ies")
    yield from (f"{word}ing", f"{word}ed", f"{word[:-1]}ing", f"{word}d", f"{word[:-1]}ied")
    yield from (f"{word}{word[-1]}ing", f"{word}{word[-1]}ed")


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


def find_injections(texts: Iterable[str], *, is_weak: bool = False) -> dict[str, tuple[Passage, ...]]:
    """Returns the texts that address the model, each with its passages; or those with words of a rule alone."""
    texts = list(texts)
    suspects = _suspects(texts)
    found = ((text, _passages(text, is_weak)) for text in texts if text in suspects)
    return {text: passages for text, passages in found if passages}


def _suspects(texts: Iterable[str]) -> set[str]:
    """Returns the texts that have a word or mark of a rule: a cheap test that most texts fail."""
    suspects: set[str] = set()
    plain: dict[str, str] = {}
    others: dict[str, str] = {}
    for text in texts:
        if text.isascii():
            if len(text) >= _MIN_ASCII_LENGTH:
                form = text if " " in text or text.islower() else _CAMEL.sub(" ", text)
                plain[text] = form.lower().replace("\0", " ")
        elif _UNSPACED.search(text):
            suspects.update([text] * (len(text) >= _MIN_LENGTH))
        elif len(text) >= _MIN_LENGTH:
            others[text] = to_latin(strip_invisible(text)).lower().replace("\0", " ")
    for forms in filter(None, (plain, others)):  # ASCII is translated much faster
        keys = [*forms]
        suspects.update(keys[index] for index in _tables().matching([*forms.values()]))
    return suspects


@lru_cache(1 << 10)
def _passages(text: str, is_weak: bool) -> tuple[Passage, ...]:
    found: list[Passage] = []
    sentences = [("\n".join(text[start:end] for start, end in run), run) for run in _runs(text)]
    suspects = _suspects(sentence for sentence, _ in sentences)
    for run in (run for sentence, run in sentences if sentence in suspects):
        rules_found = {part: _rule_in(text[part[0] : part[1]], is_weak) for part in run}
        others = "\n".join(text[start:end] for (start, end), rule in rules_found.items() if rule is None)
        if len(run) > 1 and (rule := _rule_in(others, is_weak)) is not None:
            rules_found = {(run[0][0], run[-1][1]): rule}
        found += (Passage(start, end, rule) for (start, end), rule in rules_found.items() if rule is not None)
    return tuple(found) if len(found) <= _MAX_PASSAGES else (Passage(0, len(text), found[0].rule),)


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


def _rule_in(text: str, is_weak: bool) -> Rule | None:
    """Returns the first rule that finds a sentence; if `is_weak`, also one that speaks to nobody."""
    tables, is_name = _tables(), " " not in text.strip()
    for reading in _readings(text):
        lower = reading.lower()
        is_marked = tables.is_marked(lower)
        if is_marked:
            lower = tables.files.sub(" sensitivefile ", lower)
        lower = _MAIL.sub(" somemail ", lower) if "@" in lower else lower
        lower = _URL.sub(" someurl ", lower) if "://" in lower else lower
        tokens = tables.tokens(lower := lower.translate(_DELETED))
        codes, foreign = frozenset(tokens), tokens.count(tables.codes[_FOREIGN])
        candidates = (pair for code in codes for pair in tables.by_code.get(code, ()))
        matching = {rule for rule, pattern in candidates if pattern.has_all(codes) and pattern.regex.search(tokens)}
        if matching and not (is_weak or is_name or foreign or _speaks(lower)):
            matching.clear()
        if foreign >= _MIN_FOREIGN_WORDS:
            words = tokens.split()
            matching |= {rule for rule in tables.rules if any(item.occurs_in(words) for item in rule.foreign_patterns)}
        for rule in tables.rules:
            if rule in matching:
                return rule
            found = rule.regex.search(reading) if is_marked else None
            if found and (is_weak or _speaks(f"{reading[: found.start()]} , {reading[found.end() :]}".lower())):
                return rule
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
