"""First sentence, clipping, the passage that says what it is about.

Finds the words of a longer text that say what it is about: mostly its first, but not always.

A text may open with a heading, a greeting, a notice, a label (`Purpose:`), a date or a version (`Last updated: …`), a
link to something else, an example in a fence or what is to be looked out for. What it speaks of then stands further
down.

Takes the first words or the first sentence of a longer text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from skillgen.text.html import html_to_markdown
from skillgen.text.markdown import CACHE_SIZE, plain_words

PASSAGES = 40
"""Passages that are looked through."""

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(?P<words>(?:.*[^\s#])?)[\s#]*\Z")
_BOLD_LINE = re.compile(r"\s*(?P<mark>\*\*|__)(?P<words>[^*_\n]{1,80})(?P=mark)\s*\Z")
_UNDERLINE = re.compile(r"\s*(?:={3,}|-{3,})\s*\Z")
_RULE = re.compile(r"\s*(?:[-*_=]\s*){3,}\Z|\s*\|")
"""A line that parts passages, or a row of a table."""

_ITEM_START = re.compile(r"\s*(?:[-+*•]|\d{1,3}[.)])\s+(?=\S)")
_QUOTE = re.compile(r"\s*>\s?")
_LABEL = re.compile(r"[\W_]{0,8}(?P<words>[A-Za-z][\w '/&-]{0,40})[*_]{0,3}:[*_]{0,3}(?:\s+|\Z)")
_LABEL_LIMIT = 45
_LINK_LIMIT = 80
"""Characters within which a text has a link that may be all that its first passage is."""

_ICON_LABEL = re.compile(r"\s*[^\x00-\u218f]\W{0,4}(?P<words>[A-Za-z][\w '/&-]{0,40})\Z")

_NOTICE = "(?:attention|caution|deprecat(?:ed|ion)|disclaimer|important|news|note|notice|update|warning)"
_ASIDE = re.compile(
    rf"\W{{0,6}}(?:(?:welcome|hello)\b|(?:please )?note that\b|please note\b|(?:\w+ ){{0,2}}{_NOTICE}\W{{0,4}}[:!])",
    re.IGNORECASE,
)
"""How a greeting or a notice begins."""

_SUBJECT = re.compile(
    r"\W*(?:purpose|description|overview|summary|introduction|abstract|goal|about|function|what (?:it|this)\b(?s:.*))"
    r"\W*\Z",
    re.IGNORECASE,
)
"""Labels and headings below which a text says what it is about."""

_DETAILS = re.compile(
    r"\W*(?:args?|arguments|auth\w*|caution|constraints?|errors?|examples?|guardrails?|hints?|important|inputs?|limits?"
    r"|limitations?|notes?|options?|outputs?|parameters?|params|pre-?requisites?|raises|requirements?|requires|returns?"
    r"|rules?|tips?|usage\b(?s:.*)|use[ -]cases?|warnings?|when (?:not )?to use(?s:.*))\W*\Z",
    re.IGNORECASE,
)
"""Labels and headings below which it says something else."""

_RECORD = re.compile(
    r"\W*(?:(?:last |date )?(?:changed|created|edited|generated|modified|published|released?|reviewed|revised|updated?)"
    r"(?: (?:at|by|date|on))?|(?:api |document |spec(?:ification)? )?(?:date|revision|status|version)|authors?"
    r"|base ur[il]|contacts?|copyright|e-?mail|home ?page|host|licen[cs]e|maintainers?|owners?|ur[il]|web ?site)\W*\Z",
    re.IGNORECASE,
)
"""Labels before what a text records of itself or of who keeps it."""

_LINK = re.compile(r"!?\[(?:[^\[\]]|!\[[^\[\]]*\]\([^()\s]*\))*\]\([^()\s]*(?:\s[^()]*)?\)|<?https?://[^\s<>]+>?")

BESIDE_A_LINK = 2
"""Words up to which a passage is no more than the links that stand in it: `Download [the description](…)`."""


_LEAST = 4
"""The rank of what is shown only where there is nothing else."""


@dataclass(slots=True)
class _Passage:
    """A paragraph, an item of a list or a heading, and how well its words say what the text is about."""

    text: str
    rank: int
    """The lower the better; among equals the first counts."""


def main_passage(text: str) -> str:
    """Gives the passage of a text that says what it is about, without the mark of a list or a heading."""
    text = html_to_markdown(text)
    found: list[_Passage] = []
    for passage in _passages(text):
        if passage.rank == 0:
            return passage.text
        found.append(passage)
        if len(found) == PASSAGES:
            break
    return min(found, key=lambda passage: passage.rank).text if found else ""


def _passages(text: str) -> Iterator[_Passage]:
    reader = _Reader()
    for line in text.split("\n"):
        yield from reader.read(line)
    yield from reader.end()


@dataclass(slots=True)
class _Reader:
    """Reads a text line by line."""

    lines: list[str] | None = None
    """The lines of the passage that is open."""

    fence: str | None = None
    """The mark that ends the code block in which the next line stands."""

    sections: int = 0
    """How many headings and labels there were."""

    is_subject: bool = True
    """Whether prose at this place says what the text is about, for all that is known."""

    def read(self, line: str) -> Iterator[_Passage]:
        """Takes a line in; gives the passages that it ends or is."""
        if self.fence is not None:
            if line.strip().startswith(self.fence):
                self.fence = None
            return
        if mark := _FENCE.match(line):
            yield from self.end()
            self.fence = mark[1]
        elif self.lines is not None and len(self.lines) == 1 and _UNDERLINE.match(line):
            heading, self.lines = self.lines[0], None
            yield self._section(heading)
        elif not line.strip() or _RULE.match(line):
            yield from self.end()
        elif title := _HEADING.match(line) or _BOLD_LINE.match(line) or _ICON_LABEL.match(line):
            yield from self.end()
            if title["words"].strip("*_`~=- "):
                yield self._section(title["words"])
        else:
            yield from self._prose(line)

    def _prose(self, line: str) -> Iterator[_Passage]:
        item = _ITEM_START.match(line)
        if mark := item or _QUOTE.match(line):
            line = line[mark.end() :]
        label = None if item else _LABEL.match(line)
        if label is not None and _RECORD.match(label["words"]) and _is_value(line[label.end() :]):
            yield from self.end()
            yield _Passage(line, _LEAST)
            return
        if label is None and not item:
            self.lines = [*(self.lines or ()), line]
            return
        if label is not None and self.lines is None and self.sections == 0 and not _is_known(label["words"]):
            if label.end() < len(line):  # `Berths: finds them` is a sentence
                self.lines = [line]
                return
        yield from self.end()
        if label is None:
            self.lines = [line]
        elif _SUBJECT.match(label["words"]) and label.end() < len(line):
            self._enter(label["words"])
            self.lines = [line[label.end() :]]
        elif label.end() < len(line):
            self._enter(label["words"])
            self.lines = [line]
        else:
            yield self._section(line, is_label=True)

    def end(self) -> Iterator[_Passage]:
        """Ends the passage that is open."""
        if self.lines is not None:
            words = " ".join(self.lines).strip()
            self.lines = None
            if words.strip("=-*_~`#|. "):
                yield _Passage(words, self._rank(words))

    def _rank(self, words: str) -> int:
        if _ASIDE.match(words):
            return 3
        if ("](" in words or "://" in words) and len(_LINK.sub(" ", words).split()) <= BESIDE_A_LINK:
            return _LEAST
        return 0 if self.is_subject else 2

    def _section(self, words: str, is_label: bool = False) -> _Passage:
        self._enter(words)
        if is_label:
            return _Passage(words.rstrip(": "), _LEAST)
        return _Passage(words, 3 if _is_known(words) or _ASIDE.match(words) else 1)

    def _enter(self, words: str) -> None:
        """Begins a section: what it says is about the subject where it says so, or where it is the first."""
        self.sections += 1
        is_first = self.sections == 1 and not _DETAILS.match(words)
        self.is_subject = is_first or _SUBJECT.match(words) is not None


def _is_value(words: str) -> bool:
    """Tells whether words are a date, a number, an address or a name rather than a sentence."""
    return 0 < len(words.split()) <= 2 or any(sign.isdigit() or sign in "@/©" for sign in words)


def _is_known(words: str) -> bool:
    return _SUBJECT.match(words) is not None or _DETAILS.match(words) is not None


def opens_with_prose(text: str) -> bool:
    """Tells whether a text opens with prose, so that its first words need not be looked for."""
    head, _, rest = text.partition("\n")
    if not head[:1].isalpha() or not head.isascii() or ":" in head[:_LABEL_LIMIT] or _ASIDE.match(head):
        return False
    if "](" in head[:_LINK_LIMIT]:
        return False
    return not rest or _UNDERLINE.match(rest.partition("\n")[0]) is None


LIMIT = 300
"""Characters beyond which a sentence is cut at a word."""

_END = re.compile(r"(?<=[.!?])\s+(?=[^\W_a-zß-öø-ÿа-џα-ω]|[\"'`(\[*\\¿¡«„“‘])|(?<=[。！])(?=[^\s。！？）」』”])")
"""The end of a sentence: before a letter that is not small, in any script, or what a sentence begins with. The full
stops of Chinese and Japanese need no space."""
_WIDE_ENDS = ("。", "！")
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|incl|no|Mr|Dr|St|U\.S))\.$", re.IGNORECASE)
_NEXT_PART = re.compile(r"\n[^\S\n]*(?=[-*+]\s|\d+[.)]\s|[A-Z][\w /-]{0,40}:(?:\s|$))")
"""Where a list begins, or a line with a label of its own such as `Returns:`."""

TRIGGER = re.compile(
    r"(?<!\bnot )(?<!n['’]t )(?<!\bnever )(?<!\bnot to )\buse\s+(?:it\s+|(?:this|the)\s+(?:\w+\s+){1,3}?)?"
    r"(?:when|whenever|for|if)\b",
    re.IGNORECASE,
)
"""What says when to use a service: "Use when …", "Use this server for …" (seed 000). "Use to …" says what it does, and
"Do not use for …" when not to use it."""

_ITEMS = re.compile(r"\s*(?:\n[^\S\n]*(?:[-*+•]|\d+[.)])\s+[^\n]+){2,}")
_LIST_ITEM = re.compile(r"\n(?P<indent>[^\S\n]*)(?:[-*+•]|\d{1,3}[.)])\s+(?P<words>[^\n]{1,100})(?=\n|$)")

ITEMS_READ = 4_000
"""Characters after a sentence that ends with a colon in which its items are looked for."""

JOINED_LIMIT = 10_000
"""Characters of a text from which on no other is joined to it: each is compared with all that it has."""

_EMPHASIS = re.compile(r"(?<![\w`/*])\*\*(?=[^\s*/`])|(?<=[^\s*/`])\*\*(?![\w/*`])")

_NOUN = "(?:tool|function|endpoint|operation|method|command)"
_LEAD = re.compile(
    rf"(?:this|the) (?:\w+ )?{_NOUN} (?:(?:is|can be|may be|should be) used (?:to|for) "
    r"|(?:allows|lets|enables|helps) (?:you|users|the user) (?:to )?"
    r"|(?:will|can) (?!be\b|not\b)"
    r"|(?=(?!(?:is|was|has|does|its|this)\b)[a-z]{2,}s ))"
    rf"|use this(?: {_NOUN})? to ",
    re.IGNORECASE,
)
"""Words that say no more than that something is a tool: "This tool is used to"."""

_EXAMPLES = re.compile(
    r"(?:[,;:]|(?<!\s)(?=\s))\s+\(?(?:such as|e\.g\.|for example|for instance)(?!\w).*$", re.IGNORECASE | re.DOTALL
)

_START = re.compile(r"\[[^\[\]\n]{1,40}\][\s:|-]*|[^|:\n]{1,40}[|:] +")

_LOOSE_ENDS = " ,;:.…—–-(["

_UNFINISHED = """
    a an and any are as at be by each every for from if in including into is its of on or per such that the their this
    to using via when where which whose will with within without your
    """
_NO_LETTERS = re.compile(r"[\W_]+")
_DANGLING = frozenset(_UNFINISHED.split())
"""Words after which a text can't be cut."""


@lru_cache(CACHE_SIZE)
def first_sentence(text: str) -> str:
    """Gives the first sentence of a Markdown text that says what it is about, on one line."""
    text = text.strip()
    if not opens_with_prose(text):
        text = main_passage(text)
    block = re.split(r"\n\s*\n", text, maxsplit=1)[0]
    part = _NEXT_PART.split(block, maxsplit=1)[0]
    sentence = leading_sentence(plain_words(part))
    if sentence.endswith(":"):
        sentence = plain_words(f"{sentence}{_items_after(text, len(part))}")
    return clip(sentence, LIMIT)


def _items_after(text: str, start: int) -> str:
    """Gives the items that go on with a sentence: all of them, or what each is called where it has more than a line."""
    if (items := _ITEMS.match(text, start)) is not None:
        return items[0]
    found = list(_LIST_ITEM.finditer(text, start, start + ITEMS_READ))
    if len(found) < 2 or text[start : found[0].start()].strip():
        return ""
    return "".join(f"\n- {item['words']}" for item in found if item["indent"] == found[0]["indent"])


def sentences(text: str) -> Iterator[str]:
    """Gives the sentences of a text as they stand."""
    start = 0
    for end in _END.finditer(text):
        if not _ABBREVIATION.search(text[start : end.start()]):
            yield text[start : end.start()]
            start = end.end()
    yield text[start:]


def join_texts(first: str | None, rest: str | None, between: str = " ") -> str | None:
    """Returns two texts on one thing as one, the second without the sentences of the first.

    `between` separates texts of one line; others are paragraphs of their own.
    """
    if first is None or rest is None or first == rest:
        return rest if first is None else first
    if len(first) > JOINED_LIMIT:
        return first
    known, added = ({_plain_sentence(item): item for item in sentences(text.strip())} for text in (first, rest))
    if known.keys() < added.keys():
        return rest
    new = [item for key, item in added.items() if key not in known]
    if not new:
        return first
    if "\n" in first.strip() or "\n" in rest.strip():  # perhaps a list, from which no sentence can be taken
        return f"{first.rstrip()}\n\n{rest}"
    stop = "." if between == " " and first.rstrip()[-1:].isalnum() else ""
    return f"{first.rstrip()}{stop}{between}{' '.join(new)}"


def _plain_sentence(text: str) -> str:
    return " ".join(text.split()).rstrip(".").casefold()


def leading_sentence(text: str) -> str:
    """Gives the first sentence as it stands; the whole text where it has but one."""
    return next(sentences(text))


@lru_cache(CACHE_SIZE)
def list_phrase(text: str, limit: int) -> str:
    """Gives a sentence on what a tool does as a phrase of a list: what it does comes first, and no full stop last."""
    line = _EMPHASIS.sub("", plain_words(text))
    if (lead := _LEAD.match(line)) is not None:
        line = line[lead.end() :]
        line = line[:1].upper() + line[1:]
    return without_open_quote(shorten(line, limit).rstrip(".。 "))


def clip(text: str, limit: int) -> str:
    """Cuts a text at a word so that it has at most `limit` characters, the ellipsis included.

    Examples go before the words that they are examples of, and so do parentheses and code that would stay open; the
    last word is one that a text can end with.
    """
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    half = limit // 2
    if " " in head[half:]:
        head = head[: head.rfind(" ")]
    if (examples := _EXAMPLES.search(head, half)) is not None:
        head = head[: examples.start()]
    head = _closed(head, limit // 3).rstrip(_LOOSE_ENDS)
    while len(head) > half and head.rpartition(" ")[2].lower() in _DANGLING:
        head = head.rpartition(" ")[0].rstrip(_LOOSE_ENDS)
    return head + "…"


def _closed(head: str, least: int) -> str:
    """Gives a text up to a parenthesis or a code span that does not end in it, where that leaves `least` characters."""
    opened = head.rfind("(") if head.count("(") > head.count(")") else -1
    if head.count("`") % 2:
        opened = max(opened, head.rfind("`"))
    return head[:opened] if opened >= least else head


def shorten(text: str, limit: int) -> str:
    """Gives as many whole sentences as have room in `limit` characters; cuts the first at a word where it has none."""
    if len(text) <= limit:
        return text
    kept = ""
    for sentence in sentences(text):
        space = "" if kept.endswith(_WIDE_ENDS) else " "
        found = f"{kept}{space}{sentence}" if kept else sentence
        if len(found) > limit:
            break
        kept = found
    return kept or clip(text, limit)


def common_prefix(texts: Iterable[str]) -> str:
    """Gives the words in brackets, or before a bar or a colon, with which all texts begin: `Acme | `, `[Acme]-`."""
    texts = list(texts)
    match = _START.match(texts[0]) if len(texts) > 1 else None
    return match[0] if match is not None and all(text.startswith(match[0]) for text in texts) else ""


def adds_to_name(text: str, name: str) -> bool:
    """Tells whether a text says more than a name: `ListOrders` and `List orders.` do not of `listOrders`."""
    return len(text) > 2 * len(name) + 2 or _letters(text) != _letters(name)


def _letters(text: str) -> str:
    return _NO_LETTERS.sub("", text).lower()


def clip_middle(text: str, limit: int) -> str:
    """Cuts a name that is too long in its middle, for long names differ at their ends."""
    if len(text) <= limit:
        return text
    end = (limit - 1) // 2
    return f"{text[: limit - 1 - end].rstrip()}…{text[-end:].lstrip()}"


def without_open_quote(text: str) -> str:
    """Takes off a quotation mark with which a text begins and which nothing closes, as a cut leaves it."""
    return text[1:] if text[:1] == '"' and text.count('"') == 1 else text
