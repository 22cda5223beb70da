"""Finds the passage and the first sentence of a text that say what it is about, and cuts texts to a length.

A text may begin with a heading, a greeting, a notice, a label (`Purpose:`), a date or a version (`Last updated: …`), a
link, an example in a fence or a warning. The passage about its subject then comes later.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from itertools import islice

from msgspec import Struct

from skillgen.text import lazy_re as re
from skillgen.text.html import html_to_markdown
from skillgen.text.markdown import CACHE_SIZE, plain_words
from skillgen.text.words import is_verb, word_set, words_of

_MAX_PASSAGES = 40
"""Passages that are read at most."""

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(?P<words>(?:.*[^\s#])?)[\s#]*\Z")
_BOLD_LINE = re.compile(r"\s*(?P<mark>\*\*|__)(?P<words>[^*_\n]{1,80})(?P=mark)\s*\Z")
_UNDERLINE = re.compile(r"\s*(?:={3,}|-{3,})\s*\Z")
_RULE = re.compile(r"\s*(?:[-*_=]\s*){3,}\Z|\s*\|")
"""A thematic break, or a row of a table."""

_ITEM_START = re.compile(r"\s*(?:[-+*•]|\d{1,3}[.)])\s+(?=\S)")
_QUOTE = re.compile(r"\s*>\s?")
_LABEL = re.compile(r"[\W_]{0,8}(?P<words>[A-Za-z][\w '/&-]{0,40})[*_]{0,3}:[*_]{0,3}(?:\s+|\Z)")
_LABEL_LIMIT = 45
_LINK_LIMIT = 80
"""Characters at the start of a text in which a link may be all of its first passage."""

_ICON_LABEL = re.compile(r"\s*[^\x00-\u218f]\W{0,4}(?P<words>[A-Za-z][\w '/&-]{0,40})\Z")

_NOTICE = "(?:attention|caution|deprecat(?:ed|ion)|disclaimer|important|news|note|notice|update|warning)"
_ASIDE = re.compile(
    rf"\W{{0,6}}(?:(?:welcome|hello)\b|(?:please )?note that\b|please note\b|(?:\w+ ){{0,2}}{_NOTICE}\W{{0,4}}[:!])",
    re.IGNORECASE,
)
"""The start of a greeting or a notice."""

_SUBJECT = re.compile(
    r"\W*(?:purpose|description|overview|summary|introduction|abstract|goal|about|function|what (?:it|this)\b(?s:.*))"
    r"\W*\Z",
    re.IGNORECASE,
)
"""Labels and headings above the passage that says what a text is about."""

_DETAILS = re.compile(
    r"\W*(?:args?|arguments|auth\w*|caution|constraints?|errors?|examples?|guardrails?|hints?|important|inputs?|limits?"
    r"|limitations?|notes?|options?|outputs?|parameters?|params|pre-?requisites?|raises|requirements?|requires|returns?"
    r"|rules?|tips?|usage\b(?s:.*)|use[ -]cases?|warnings?|when (?:not )?to use(?s:.*))\W*\Z",
    re.IGNORECASE,
)
"""Labels and headings above other passages."""

_METADATA = re.compile(
    r"\W*(?:(?:last |date )?(?:changed|created|edited|generated|modified|published|released?|reviewed|revised|updated?)"
    r"(?: (?:at|by|date|on))?|(?:api |document |spec(?:ification)? )?(?:date|revision|status|version)|authors?"
    r"|base ur[il]|contacts?|copyright|e-?mail|home ?page|host|licen[cs]e|maintainers?|owners?|ur[il]|web ?site)\W*\Z",
    re.IGNORECASE,
)
"""Labels of metadata about a text or its authors."""

_LINK = re.compile(r"!?\[(?:[^\[\]]|!\[[^\[\]]*\]\([^()\s]*\))*\]\([^()\s]*(?:\s[^()]*)?\)|<?https?://[^\s<>]+>?")

_MAX_WORDS_WITH_LINK = 2
"""A passage with at most this many words next to its links is only a link: `Download [the description](…)`."""


_LAST_RESORT = 4
"""The rank of what is shown only if there is nothing else."""


_GREETING = re.compile(r"(?:hello|hi|welcome)\b[^.!?]{0,120}[.!]\s+(?!this\b|thank\b|while\b)(?=\S)", re.IGNORECASE)
"""A greeting before what a text is about, not before more words on the text itself ("This guide is")."""


class _Passage(Struct):
    """A paragraph, a list item or a heading, ranked by how well it says what the text is about."""

    text: str
    rank: int
    """The lower the better; the first of equal rank wins."""


def main_passage(text: str) -> str:
    """Returns the passage that says what a text is about, without list or heading marker."""
    text = html_to_markdown(text)
    passages: list[_Passage] = []
    for passage in islice(_passages(text), _MAX_PASSAGES):
        if passage.rank == 0:
            return passage.text
        passages.append(passage)
    return min(passages, key=lambda passage: passage.rank).text if passages else ""


def _passages(text: str) -> Iterator[_Passage]:
    reader = _Reader()
    for line in text.split("\n"):
        yield from reader.read(line)
    yield from reader.end()


class _Reader(Struct):
    """Reads a text line by line."""

    lines: list[str] | None = None
    """The lines of the open passage."""

    fence: str | None = None
    """The marker that closes the current code block."""

    sections: int = 0
    """The number of headings and labels so far."""

    is_subject: bool = True
    """Whether prose in this section presumably says what the text is about."""

    def read(self, line: str) -> Iterator[_Passage]:
        """Reads a line; yields the passages that it completes."""
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
        if label is not None and _METADATA.match(label["words"]) and _is_value(line[label.end() :]):
            yield from self.end()
            yield _Passage(line, _LAST_RESORT)
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
        """Completes the open passage."""
        if self.lines is not None:
            words = _GREETING.sub("", " ".join(self.lines).strip())
            self.lines = None
            if words.strip("=-*_~`#|. "):
                yield _Passage(words, self._rank(words))

    def _rank(self, words: str) -> int:
        if _ASIDE.match(words):
            return 3
        if ("](" in words or "://" in words) and len(_LINK.sub(" ", words).split()) <= _MAX_WORDS_WITH_LINK:
            return _LAST_RESORT
        return 0 if self.is_subject else 2

    def _section(self, words: str, is_label: bool = False) -> _Passage:
        self._enter(words)
        if is_label:
            return _Passage(words.rstrip(": "), _LAST_RESORT)
        return _Passage(words, 3 if _is_known(words) or _ASIDE.match(words) else 1)

    def _enter(self, words: str) -> None:
        """Begins a section. It is about the subject if its heading says so, or if it is the first."""
        self.sections += 1
        is_first = self.sections == 1 and not _DETAILS.match(words)
        self.is_subject = is_first or _SUBJECT.match(words) is not None


def _is_value(words: str) -> bool:
    """True if words are a date, a number, a URL or a name, not a sentence."""
    return 0 < len(words.split()) <= 2 or any(character.isdigit() or character in "@/©" for character in words)


def _is_known(words: str) -> bool:
    return _SUBJECT.match(words) is not None or _DETAILS.match(words) is not None


def opens_with_prose(text: str) -> bool:
    """True if a text begins with prose, so that its main passage need not be searched for."""
    head, _, rest = text.partition("\n")
    if not head[:1].isalpha() or not head.isascii() or ":" in head[:_LABEL_LIMIT] or _ASIDE.match(head):
        return False
    if "](" in head[:_LINK_LIMIT]:
        return False
    return not rest or _UNDERLINE.match(rest.partition("\n")[0]) is None


LIMIT = 300
"""Characters after which a sentence is cut at a word."""

_END = re.compile(r"[.!?]\s+(?=[^\W_a-zß-öø-ÿа-џα-ω]|[\"'`(\[*\\¿¡«„“‘])|[。！](?=[^\s。！？）」』”])")
"""The end of a sentence: before a character that is not a lower-case letter of any script, or before opening
punctuation. Chinese and Japanese full stops need no space."""
_WIDE_ENDS = ("。", "！")
ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|incl|no|Mr|Dr|St)|(?-i:(?<![\w.])(?:[A-Z]\.)*[A-Z]))\.$", re.IGNORECASE
)
_NEXT_PART = re.compile(r"\n[^\S\n]*(?=[-*+]\s|\d+[.)]\s|[A-Z][\w /-]{0,40}:(?:\s|$))")
"""The start of a list, or a line with a label such as `Returns:`."""

TRIGGER = re.compile(
    r"(?<!\bnot )(?<!n['’]t )(?<!\bnever )(?<!\bnot to )\buse\s+(?:it\s+|(?:this|the)\s+(?:\w+\s+){1,3}?)?"
    r"(?:when|whenever|for|if)\b",
    re.IGNORECASE,
)
"""Phrases that say when to use a service: "Use when …", "Use this server for …" (seed 000). "Use to …" says what it
does, and "Do not use for …" when not to use it."""

ORDER = re.compile(
    r"\b(?:always|never|must|mandatory|please|(?:do|should) not|don['’]t|make sure|be sure|remember|note that"
    r"|instead of|(?:you|users?|agents?) (?:should|need|have to|are)|first (?:call|use|read)"
    r"|before (?:calling|using|any|you))\b",
    re.IGNORECASE,
)
"""Words of an order to the reader, or of a rule: they do not say what a service does."""

_NO_PURPOSE = re.compile(
    r"(?:this|these|here|that|when|welcome|hello|note|important|warning|see|visit|click|refer|check|go|learn|download|if"
    r"|in order|before|after|while|below|copyright|version|deprecated|beta|it|we|by|more|call|read the|start|run|sign"
    r"|log in|install|follow|contact|ask|tell|ensure|choose|enter|getting started|provided by|authentication"
    r"|all (?:calls|endpoints|methods|requests|responses)|access to [^.]{1,60} (?:is|requires)"
    r"|uses (?:an? )?(?:rest|oauth|json|https?)"
    r"|(?:the )?(?:following|purpose)|for (?:more|details|information|help)|to (?:use|make|get|access|start|call)"
    r"|(?:the )?(?:(?:open|rest(?:ful)? )?api|swagger|full|complete|generated)?\s?"
    r"(?:reference|documentation|docs|documents?|spec(?:ification)?s?|definitions?|description)s?)\b"
    r"|one way|our\b|(?:\S+ ){1,4}(?:mode|enabled|disabled)\W*\Z|(?-i:[^a-z]+\Z)",
    re.IGNORECASE,
)
"""The beginning of a sentence that says something else, and a banner such as `READ-ONLY MODE`."""

_NO_DESCRIPTION = re.compile(
    r"://|\bwww\.|@\w|~/|\$\{|: |…|[:;]\Z|[<‹]/?\w"
    r"|\bfollowing\b|\bdeprecated\b|subject to change|\b(?:openapi|swagger)\b",
    re.IGNORECASE,
)
"""Content of sentences about a document or its version."""

_ABOUT_DOCUMENT = re.compile(
    r"[^\w.'’-]*(?:(?:an?|our|the|these|this) )?(?:is (?:an? |the )?)?(?:[\w.'’-]+ ){0,3}?"
    r"(?:openapi|swagger)(?: v?\d[\d.]*)? (?:api )?"
    r"(?:(?:definitions?|descriptions?|docs|documentation|documents?|files?|spec(?:ification)?s?)\b|(?=for\b))",
    re.IGNORECASE,
)
"""The start of a sentence about the description of an API itself: "OpenAPI specs with our extension"."""

_THING = "(?:api|service|server|plugin|tool|app|application|platform|library|client|system|interface|suite)s?"
_LEAD_OF_PURPOSE = re.compile(
    rf"(?:(?:this|these|an?|our|the) (?:[\w./+-]+ ){{0,4}}?{_THING} (?:(?:that|which) )?|it (?:also )?|which )"
    r"(?:can be used to |is (?:used|designed|intended) to |(?:allows?|lets?|enables?|helps?|permits?) (?:for )?"
    r"(?:(?:you|(?:the |third[- ]party )?(?:users?|developers?|clients?|customers?|applications?|agents?|models?)) )?"
    r"(?:to )?|(?:can|will) |(?=(?!(?:is|was|has|does|its|this)\b)[a-z]{2,}s ))"
    r"|(?:with|using|through|via) (?:this|the|these) (?:[\w./+-]+ ){1,6}?you can "
    r"|you can (?:use (?:[\w.'’/+-]+ ){1,8}?to )?"
    r"|use (?:[\w.'’/+-]+ ){1,8}?(?:to|for) ",
    re.IGNORECASE,
)
"""A subject that only says that something is a service, up to what it does: "This API allows you to"."""

_CLAUSE_END = re.compile(
    r"; | [-–—] |, (?=which|so that|where|allowing|ranging)|,? (?=including|such as|like|e\.g|for example)"
    r"| \((?=[^()]*\Z)"
)
"""Where a sentence can end earlier."""

_SYMBOLS = re.compile(r"\A[^\w\s!-~¿¡«„“‘]+\s*")
"""Emoji and other symbols before a sentence."""

_URL_IN_BRACKETS = re.compile(r"(?<!\s)\s*\((?:https?://|www\.)[^()\s]*\)")

_GENERIC = word_set(
    """
    a access across admin an and api apis architectural are around as available based built by client compatible
    content data database definition description docs documentation endpoint endpoints for from functionality
    functions http https in information interact interacting interface interfaces into is its json management mcp
    methods new of offers official on operations or organised organized our platform provide provided provider
    provides public reference resource resources rest restful sdk server servers service services set software spec
    specification stored style that the through to using v various version via web with within your
    """
)
"""Words of which a sentence may consist that says nothing about what a service does."""

_PASSAGE_LENGTH = 2_000
"""Characters of a passage in which its first sentence is searched."""

_MIN_WORDS = 2
"""Other words that a sentence must have, without those of the service's name."""

_NAME_LIMIT = 120
"""Characters of a text above which it is not only a name."""


_TRIGGER_OF_SERVICE = re.compile(
    rf"use\s+(?:it\s+|this\s+(?:\w+\s+){{0,2}}|the\s+(?:\w+\s+){{0,2}}?{_THING}\s+)?(?:when|whenever|for|if)\b",
    re.IGNORECASE,
)


_SAYS_WHEN = re.compile(rf"{TRIGGER.pattern}|\buse\b[^.!?]{{0,200}}\bwhen(?:ever)?\b", re.IGNORECASE)
"""A sentence that says when to use the service, not what it does."""


@lru_cache(4096)
def is_statement(sentence: str) -> bool:
    """True if a sentence orders nothing, and is not about a document or its version."""
    return not (ORDER.search(sentence) or _NO_DESCRIPTION.search(sentence))


def is_trigger(sentence: str) -> bool:
    """True if a sentence says when to use a service, and orders nothing else."""
    return _TRIGGER_OF_SERVICE.match(sentence) is not None and is_statement(sentence)


def _names_it(lead: str, known: Collection[str]) -> bool:
    """True if the subject of a sentence, such as "The Harbour API allows you to", has a word of the service's name."""
    words = re.findall(r"[^\W\d_]+", lead.lower())
    return words[:1] == ["the"] and any(word in known and word not in _GENERIC for word in words)


def purpose_sentence(text: str, name: str, limit: int, *, is_imperative: bool = False) -> str | None:
    """Returns the first sentence of a text if it says what the service of this name does, without its final stop.

    A longer sentence is cut before a subordinate clause, so that the rest is a sentence too. The help of a program
    `is_imperative`: "Run the tests" is what it does.
    """
    passage = _URL_IN_BRACKETS.sub("", plain_words(main_passage(text[:_JOIN_LIMIT])))[:_PASSAGE_LENGTH]
    sentence = next((item for item in sentences(passage) if not _SAYS_WHEN.search(item)), "")
    sentence = _SYMBOLS.sub("", sentence).strip(" \"'*_`").rstrip(".。! ")
    known = _words_in(name) | {*words_of(name)} | _GENERIC
    lead = _LEAD_OF_PURPOSE.match(sentence)
    if lead is not None and not _names_it(lead[0], known):
        sentence = sentence[lead.end() :]
        sentence = sentence[:1].upper() + sentence[1:]
    while len(sentence) > limit and (ends := list(_CLAUSE_END.finditer(sentence))):
        sentence = sentence[: ends[-1].start()]
    is_useless = (
        len(sentence) > limit
        or len(_words_in(sentence) - known) < _MIN_WORDS
        or sentence.endswith("?")
        or (not is_imperative and (_NO_PURPOSE.match(sentence) or not is_statement(sentence)))
        or ORDER.search(sentence)
    )
    return None if is_useless else sentence


def without_document(text: str) -> str:
    """Returns a text without a first sentence about the description of the API itself."""
    start = _ABOUT_DOCUMENT.match(text)
    if start is None or is_verb(start[0].split()[0].lower().removesuffix("s")):  # "Compares OpenAPI documents"
        return text
    return " ".join([*sentences(text)][1:])


def says_only_name(text: str, name: str) -> bool:
    """True if a text has only words of a service's name and general ones: `This is the public Acme REST API.`"""
    return len(text) <= _NAME_LIMIT and _words_in(text) <= _words_in(f"this {name}") | _GENERIC


def _words_in(text: str) -> set[str]:
    """Returns the words of a text in lower case, without numbers."""
    return set(re.findall(r"[^\W\d_]+", text.lower()))


_ITEMS = re.compile(r"\s*(?:\n[^\S\n]*(?:[-*+•]|\d+[.)])\s+[^\n]+){2,}")
_LIST_ITEM = re.compile(r"\n(?P<indent>[^\S\n]*)(?:[-*+•]|\d{1,3}[.)])\s+(?P<words>[^\n]{1,100})(?=\n|$)")

_ITEM_SEARCH_LENGTH = 4_000
"""Characters after a sentence that ends with a colon in which its items are searched."""

_JOIN_LIMIT = 10_000
"""Characters of a text to which no other is joined, because every sentence is compared."""

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
"""Words that only say that something is a tool: "This tool is used to"."""

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
"""Words after which a text cannot be cut."""


@lru_cache(CACHE_SIZE)
def first_sentence(text: str) -> str:
    """Returns the first sentence of a Markdown text that says what it is about, on one line."""
    text = text.strip()
    if not opens_with_prose(text):
        text = main_passage(text)
    block = re.split(r"\n\s*\n", text, maxsplit=1)[0]
    part = _NEXT_PART.split(block, maxsplit=1)[0]
    sentence = next(sentences(plain_words(part)))
    if sentence.endswith(":"):
        sentence = plain_words(f"{sentence}{_items_after(text, len(part))}")
    return clip(sentence, LIMIT)


_MAX_STATEMENTS = 5
"""Sentences among which one that says what something is about is searched."""


_ORDER_START = 40
"""Characters of a sentence in which an order to the reader begins; later, it follows what the sentence is about."""


def first_statement(text: str) -> str:
    """Returns the first sentence of a text that does not begin with an order; its first sentence if all do."""
    first = first_sentence(text)
    if not ORDER.search(first[:_ORDER_START]):
        return first
    others = map(first_sentence, islice(sentences(text[:_JOIN_LIMIT]), 1, _MAX_STATEMENTS))
    return next((sentence for sentence in others if sentence and is_statement(sentence)), first)


def _items_after(text: str, start: int) -> str:
    """Returns the items that continue a sentence: all items, or only their names if they have further lines."""
    if (items := _ITEMS.match(text, start)) is not None:
        return items[0]
    matches = list(_LIST_ITEM.finditer(text, start, start + _ITEM_SEARCH_LENGTH))
    if len(matches) < 2 or text[start : matches[0].start()].strip():
        return ""
    return "".join(f"\n- {item['words']}" for item in matches if item["indent"] == matches[0]["indent"])


def sentences(text: str) -> Iterator[str]:
    """Yields the sentences of a text, unchanged."""
    start = 0
    for end in _END.finditer(text):
        sentence = text[start : end.start() + 1]
        if sentence[-1] != "." or not ABBREVIATION.search(sentence.rsplit(None, 1)[-1]):
            yield sentence
            start = end.end()
    yield text[start:]


def join_texts(first: str | None, rest: str | None, between: str = " ") -> str | None:
    """Joins two texts about the same thing, without the sentences of the second that the first has already.

    `between` separates texts of one line; longer texts become paragraphs.
    """
    if first is None or rest is None or first == rest:
        return rest if first is None else first
    if len(first) > _JOIN_LIMIT:
        return first
    known, added = ({normalise_sentence(item): item for item in sentences(text.strip())} for text in (first, rest))
    if known.keys() < added.keys():
        return rest
    new = [item for key, item in added.items() if key not in known]
    if not new:
        return first
    if "\n" in first.strip() or "\n" in rest.strip():  # perhaps a list, which cannot be split into sentences
        return f"{first.rstrip()}\n\n{rest}"
    stop = "." if between == " " and first.rstrip()[-1:].isalnum() else ""
    return f"{first.rstrip()}{stop}{between}{' '.join(new)}"


def normalise_sentence(text: str) -> str:
    """Returns a text without case, line breaks and final stop, for comparisons."""
    return " ".join(text.split()).rstrip(".").casefold()


@lru_cache(CACHE_SIZE)
def list_phrase(text: str, limit: int) -> str:
    """Returns a sentence about a tool as a phrase for a list: it begins with what the tool does, and has no full
    stop."""
    line = plain_words(text)
    line = _EMPHASIS.sub("", line) if "**" in line else line
    if (lead := _LEAD.match(line)) is not None:
        line = line[lead.end() :]
        line = line[:1].upper() + line[1:]
    line = shorten(line, limit).rstrip(".。 ")
    return line[1:] if line[:1] == '"' and line.count('"') == 1 else line  # a quote that a cut leaves open


def clip(text: str, limit: int) -> str:
    """Cuts a text at a word, to at most `limit` characters including the ellipsis.

    Examples are cut with the words that introduce them, and so are parentheses and code that would stay open; the last
    word is one that a text can end with.
    """
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    half = limit // 2
    if " " in head[half:]:
        head = head[: head.rfind(" ")]
    if (examples := _EXAMPLES.search(head, half)) is not None:
        head = head[: examples.start()]
    head = _cut_open_bracket(head, limit // 3).rstrip(_LOOSE_ENDS)
    while len(head) > half and head.rpartition(" ")[2].lower() in _DANGLING:
        head = head.rpartition(" ")[0].rstrip(_LOOSE_ENDS)
    return head + "…"


def _cut_open_bracket(head: str, least: int) -> str:
    """Cuts a text before an unclosed parenthesis or code span, if that leaves `least` characters."""
    opened = head.rfind("(") if head.count("(") > head.count(")") else -1
    if head.count("`") % 2:
        opened = max(opened, head.rfind("`"))
    return head[:opened] if opened >= least else head


_SEE_BELOW = re.compile(
    r"\s{0,3}\bSee (?:\[below\]\(#[^()\s]{0,80}\)|below)(?: for (?:more )?(?:details?|info|information))?\.?\s{0,3}\Z",
    re.IGNORECASE,
)


def without_see_below(text: str | None) -> str:
    """Returns a description without a last sentence that only refers to what follows in another document."""
    return _SEE_BELOW.sub("", text) if text and "elow" in text else text or ""


def shorten(text: str, limit: int) -> str:
    """Returns as many complete sentences as fit in `limit` characters; cuts the first one at a word if it does not
    fit."""
    if len(text) <= limit:
        return text
    result = ""
    for sentence in sentences(text):
        space = "" if result.endswith(_WIDE_ENDS) else " "
        longer = f"{result}{space}{sentence}" if result else sentence
        if len(longer) > limit:
            break
        result = longer
    return result or clip(text, limit)


def common_prefix(texts: Iterable[str]) -> str:
    """Returns the words in brackets, or before a bar or a colon, with which all texts begin: `Acme | `, `[Acme]-`."""
    texts = list(texts)
    match = _START.match(texts[0]) if len(texts) > 1 else None
    return match[0] if match is not None and all(text.startswith(match[0]) for text in texts) else ""


def adds_to_name(text: str, name: str) -> bool:
    """True if a text says more than a name: `ListOrders` and `List orders.` add nothing to `listOrders`."""
    return len(text) > 2 * len(name) + 2 or _letters_of(text) != _letters_of(name)


def _letters_of(text: str) -> str:
    return _NO_LETTERS.sub("", text).lower()


def clip_middle(text: str, limit: int) -> str:
    """Cuts a long name in the middle, because long names differ at their ends."""
    if len(text) <= limit:
        return text
    end = (limit - 1) // 2
    return f"{text[: limit - 1 - end].rstrip()}…{text[-end:].lstrip()}"
