"""Takes the first words or the first sentence of a longer text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from skillgen.markdown.filters import CACHE_SIZE, plain_words
from skillgen.markdown.openings import is_plain, opening

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
_ITEM = re.compile(r"\n(?P<indent>[^\S\n]*)(?:[-*+•]|\d{1,3}[.)])\s+(?P<words>[^\n]{1,100})(?=\n|$)")

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
    if not is_plain(text):
        text = opening(text)
    block = re.split(r"\n\s*\n", text, maxsplit=1)[0]
    part = _NEXT_PART.split(block, maxsplit=1)[0]
    sentence = leading_sentence(plain_words(part))
    if sentence.endswith(":"):
        sentence = plain_words(f"{sentence}{_items_after(text, len(part))}")
    return clipped(sentence, LIMIT)


def _items_after(text: str, start: int) -> str:
    """Gives the items that go on with a sentence: all of them, or what each is called where it has more than a line."""
    if (items := _ITEMS.match(text, start)) is not None:
        return items[0]
    found = list(_ITEM.finditer(text, start, start + ITEMS_READ))
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


def joined_texts(first: str | None, rest: str | None, between: str = " ") -> str | None:
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
    return without_open_quote(shortened(line, limit).rstrip(".。 "))


def clipped(text: str, limit: int) -> str:
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


def shortened(text: str, limit: int) -> str:
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
    return kept or clipped(text, limit)


def shared_start(texts: Iterable[str]) -> str:
    """Gives the words in brackets, or before a bar or a colon, with which all texts begin: `Acme | `, `[Acme]-`."""
    texts = list(texts)
    match = _START.match(texts[0]) if len(texts) > 1 else None
    return match[0] if match is not None and all(text.startswith(match[0]) for text in texts) else ""


def tells_more(text: str, name: str) -> bool:
    """Tells whether a text says more than a name: `ListOrders` and `List orders.` do not of `listOrders`."""
    return len(text) > 2 * len(name) + 2 or _letters(text) != _letters(name)


def _letters(text: str) -> str:
    return _NO_LETTERS.sub("", text).lower()


def clipped_inside(text: str, limit: int) -> str:
    """Cuts a name that is too long in its middle, for long names differ at their ends."""
    if len(text) <= limit:
        return text
    end = (limit - 1) // 2
    return f"{text[: limit - 1 - end].rstrip()}…{text[-end:].lstrip()}"


def without_open_quote(text: str) -> str:
    """Takes off a quotation mark with which a text begins and which nothing closes, as a cut leaves it."""
    return text[1:] if text[:1] == '"' and text.count('"') == 1 else text
