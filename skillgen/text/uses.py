"""Finds statements in prose on when to use a service and when not, such as `Do not use it for: …`.

Only statements on the service count: sentences and lists that name one of its tools, or are below the heading of one,
do not. A use is quoted without its opening words. A negative use is never read as a positive one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import lru_cache

from msgspec import Struct

from skillgen.text import lazy_re as re
from skillgen.text.markdown import one_line
from skillgen.text.summary import sentences

_TEXT_LIMIT = 20_000
"""Characters of a text that are scanned."""

_MAX_USES = 12
"""Maximum number of uses of one kind."""

_MAX_USE_LENGTH = 400
"""Maximum length of a use, in characters; a longer text is not a phrase."""

_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(?P<title>(?:.*[^\s#])?)[\s#]*\Z")
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,2}[.)])\s+(?P<text>\S.*)")
_MARKS = re.compile(r"(?P<code>`[^`]*`)|[*_]{2,}|\A[*_]|[*_]\Z")
_FENCE = re.compile(r"\s{0,3}(?:```|~~~)")
_CONDITION = re.compile(r"\b(?:when|whenever|if)\b", re.IGNORECASE)
_FOR = re.compile(r"for\b\s*:?\s*", re.IGNORECASE)
_CONNECTIVE = r"(?:when|whenever|if|to|for)"
_ASKED = r"(?:\s+(?:you|the\s+user|users?)\s+(?:needs?|wants?|would\s+like|asks?)(?:\s+you)?(?:\s+to)?)?"
_NOUNS = "server|service|skill|api|mcp|toolset|toolkit|tools"
_SUBJECT = rf"(?:(?:this|the|these)\s+(?:\w+\s+){{0,2}}?(?:{_NOUNS}|tool|cli)|this|it)"

_SIGN = r"(?:(?:[{}][\ufe0f\u200d\u2640\u2642\U0001f3fb-\U0001f3ff]*|:(?:{}):)\s*)+"
_NO_SIGN = _SIGN.format("❌✖✗✘✕❎☒🚫⛔🛑👎🙅🔴", "x|no_entry(?:_sign)?|no_good|thumbsdown|-1")
_YES_SIGN = _SIGN.format("✅☑✔✓👍🟢", "(?:white_|heavy_)?check_mark|ballot_box_with_check|thumbsup|\\+1")

_SIGNED = re.compile(rf"\s{{0,3}}(?:{_NO_SIGN}|{_YES_SIGN})\S")

_DO_NOT = (
    r"(?:do\s+not|don['’]?t|never|(?:should|must|may)\s*(?:not|n['’]t)(?:\s+be)?|not\s+to(?:\s+be)?|no\s+need\s+to"
    r"|avoid)"
)
_NO_USE = rf"(?:please\s+)?{_DO_NOT}\s+us(?:e|ed|ing)\b"
_NOT_FOR = (
    r"not\s+(?:(?:an?|the|yet|well|really)\s+)*(?:for|when|if|suit(?:able|ed)|intended|meant|designed|recommended"
    r"|appropriate|ideal|needed|supported|good|right|fit)\b"
)
_OPENING = re.compile(
    rf"{_NO_USE}(?:\s+{_SUBJECT})?(?=\s+{_CONNECTIVE}\b|\W*:|\W*\Z)|{_NOT_FOR}(?:\s+for\b)?|(?:avoid|never|not|out\s+of\s+scope)\s*:",
    re.IGNORECASE,
)
"""Words that open a negative use and are not part of it."""
_NEGATIVE = re.compile(
    rf"{_NO_SIGN}|{_NO_USE}|{_NOT_FOR}|(?:avoid|never|out\s+of\s+scope|unsuitable)\b"
    r"|(?:do\s+not|don['’]t)\b(?!\s+(?:forget|hesitate|know|remember|have|understand|need))|(?-i:NOT)\b(?!\s+only)",
    re.IGNORECASE,
)
"""The beginning of a negative use."""
_CLAUSE = re.compile(
    rf"(?:(?<=[.!?])\s+|(?<!\s)\s*[;,—–(]\s*|(?<!\s)\s+-\s+|:\s+|(?:,|(?<!\s)(?=\s))\s+but\s+)(?={_NO_USE}|{_NO_SIGN})",
    re.IGNORECASE,
)
"""The boundary before a negative clause in a longer text."""
_NEGATIVE_LABEL = re.compile(
    rf"{_NEGATIVE.pattern}|\Anot\b(?!\s+only)|\Adon['’]?ts?\Z|\bto\s+avoid\b|\b(?:bad|poor|wrong)\s+(?:fit|for|choice|tool)\b"
    r"|(?:\A|\b(?:it|this|server|service|tool|api)\s+)(?:can(?:\s?not|['’]t)|does(?:\s+not|n['’]t)|will\s+not|won['’]t)\b"
    r"|\banti-?\s?patterns?\b|\buse\s+(?:another|something\s+else|other|a\s+different)\b"
    r"|\buse\s+(?!this|it\b|the\b)[^.:]{0,80}\binstead\b(?!\s+of)",
    re.IGNORECASE,
)
_POSITIVE_LABEL = re.compile(
    rf"\A(?:{_YES_SIGN}|do['’]?s?\Z|(?:good|best|ideal|perfect|great)\s+(?:for|fit)\b)|\buse\b", re.IGNORECASE
)
_OPENS_USE = re.compile(rf"(?:please\s+)?use(?:\s+{_SUBJECT})?\s+(?={_CONNECTIVE}\b)", re.IGNORECASE)
_QUOTES = frozenset("`'\"“")
_NAME_START = re.compile(r"(?<![\w-])(?=\S)")
_NAME_MARK = re.compile(r"\(|\s+tool\b")
_NAME_END = re.compile(r"(?![\w-])")
_WORD_END = re.compile(r"\b")
_NEGATIVE_ELSEWHERE = (
    "nicht verwenden", "nicht benutzen", "nicht nutzen", "nicht geeignet", "nicht gedacht", "nicht für", "nicht wenn",
    "ne pas utiliser", "ne l'utilisez pas", "n'utilisez pas", "n'utilise pas", "pas pour", "à éviter", "éviter",
    "no usar", "no utilizar", "no use", "no uses", "no utilice", "no utilices", "no apto", "no para", "evitar",
    "não usar", "não use", "não utilizar", "não utilize", "não para", "não indicado", "evite",
    "non usare", "non usarlo", "non utilizzare", "non adatto", "non per",
    "niet gebruiken", "niet geschikt", "niet voor",
    "nie używaj", "nie używać", "nie stosować", "nie dla", "ikke brug", "brug ikke", "använd inte", "inte för",
    "не использовать", "не используй", "не используйте", "не применять", "не подходит", "не для", "не використовувати",
    "kullanmayın", "不要", "请勿", "請勿", "勿用", "切勿", "别用", "別用", "不适", "不適", "不用于", "不用於", "禁止",
    "使用しない", "使わない", "使用不可", "不向き", "適さない", "適していない", "向いていない",
    "사용하지", "사용 금지", "적합하지",
)  # fmt: skip
"""Beginnings of negative uses in other languages, in lower case."""


class DeclaredUses(Struct, frozen=True):
    """The uses that a text declares."""

    wanted: tuple[str, ...] = ()
    """When to use the service."""

    unwanted: tuple[str, ...] = ()
    """When not to use it, or for what."""


def label_of(line: str) -> bool | None:
    """Returns whether a line introduces a list of negative uses; `None` if it introduces no uses."""
    words = _bare(line).rstrip(" :")
    negative, positive = _NEGATIVE_LABEL.search(words), _POSITIVE_LABEL.search(words)
    if negative is not None and (positive is None or negative.start() <= positive.start()):
        return True
    if any(phrase in words.lower().replace("’", "'") for phrase in _NEGATIVE_ELSEWHERE):
        return True
    return False if positive is not None else None


def uses_in_item(item: str, unwanted: bool) -> Iterator[tuple[bool, str]]:
    """Yields the uses of a list item, each with whether it is negative.

    The words or the emoji of the item decide, else `unwanted`, which is that of the list.
    """
    words = _bare(item)
    if (sign := re.match(_YES_SIGN, words)) is not None:
        words, unwanted = words[sign.end() :], False
    clauses = [clause for clause in _CLAUSE.split(words) if clause.strip(" .,;:()")]
    if len(clauses) > 1 and all(_opened(clause) == "" for clause in clauses[1:]):
        clauses, unwanted = clauses[:1], True  # "File storage (do not use)"
    for clause in clauses:
        negative = _opened(clause)
        text = clause if negative is None else negative
        if negative is None and not unwanted:
            text = _OPENS_USE.sub("", text, count=1)
        if text == words == _bare(item):
            text = " ".join(item.split())  # the original, with emphasis and code
        elif text.count(")") > text.count("("):
            text = text.rstrip(" .)")
        if text.strip():
            yield unwanted or negative is not None, text.strip()


def _opened(clause: str) -> str | None:
    """Returns a negative clause without its opening words; `None` for any other clause."""
    is_elsewhere = clause.lower().replace("’", "'").startswith(_NEGATIVE_ELSEWHERE)
    if not is_elsewhere and _NEGATIVE.match(clause) is None:
        return None
    words = re.sub(rf"\A{_NO_SIGN}", "", clause)
    if (opening := _OPENING.match(words)) is not None:
        words = words[opening.end() :].lstrip(" :,—–-")
        words = _FOR.sub("", words, count=1) if _FOR.match(words) else words
    return words.strip(" .)") and words


def lead_ins_apart(text: str, *, are_signs_bullets: bool = False) -> str:
    """Inserts an empty line before each line that introduces a list or states a negative use.

    Right below a list item, such a line would be part of the item (CommonMark, "lazy continuation line"), which no
    author means. With `are_signs_bullets`, a line such as "✅ Plan a week" becomes a list item.
    """
    lines: list[str] = []
    is_code = False
    for line in text.split("\n"):
        is_code ^= _FENCE.match(line) is not None
        if are_signs_bullets and not is_code and _SIGNED.match(line) and not _leads_in(line):
            line = f"- {line.strip()}"
        is_plain = line.strip() and not is_code and not _ITEM.fullmatch(line)
        if is_plain and lines and lines[-1].strip() and (_leads_in(line) or _opened(_bare(line)) is not None):
            lines.append("")
        lines.append(line)
    return "\n".join(lines)


def _leads_in(line: str) -> bool:
    return line.rstrip(" *_").endswith((":", "：")) and label_of(line) is not None


def _bare(text: str) -> str:
    """Returns a text on one line without emphasis."""
    return _MARKS.sub(lambda mark: mark["code"] or "", one_line(text)).strip()


def uses_declared_in(text: str, part_names: Collection[str] = ()) -> DeclaredUses:
    """Returns the uses that a text on a service declares; `part_names` are the names of the service's tools."""
    uses: tuple[list[str], list[str]] = ([], [])  # wanted, unwanted
    for unwanted, use in _Reader(part_names).uses_in(text[:_TEXT_LIMIT]):
        if 0 < len(use) <= _MAX_USE_LENGTH and use not in uses[unwanted]:
            uses[unwanted].append(use)
    return DeclaredUses(tuple(uses[False][:_MAX_USES]), tuple(uses[True][:_MAX_USES]))


class _Reader:
    """Reads a text block by block; a heading or a line with a colon decides the kind of the list below it."""

    def __init__(self, part_names: Collection[str]) -> None:
        self._sentence, self._label_form = _forms(not part_names)
        self._parts = _Names(part_names)
        self._is_of_part = False
        self._label: bool | None = None

    def uses_in(self, text: str) -> Iterator[tuple[bool, str]]:
        """Yields each use with whether it is negative."""
        for kind, block in _blocks(lead_ins_apart(text)):
            if kind == "heading":
                self._is_of_part = self._parts.are_in(block)
                self._label = self._label_of(block)
            elif self._is_of_part:
                continue
            elif kind == "item" and self._label is not None:
                yield from [] if self._parts.are_in(block) else uses_in_item(block, self._label)
            elif kind == "item":
                yield from self._sentences_of(block, True)
            elif (label := self._label_of(block)) is not None:
                self._label = label
            else:
                self._label = None
                yield from self._sentences_of(block, False)

    def _label_of(self, line: str) -> bool | None:
        return label_of(line) if self._label_form.fullmatch(line) else None

    def _sentences_of(self, block: str, needs_subject: bool) -> Iterator[tuple[bool, str]]:
        for sentence in sentences(block):
            match = self._sentence.match(sentence.rstrip(" .;"))
            if match is None or (needs_subject and not match["subject"]) or self._parts.are_in(sentence):
                continue
            use, unwanted = match["use"], match["no"] is not None
            if unwanted:
                yield True, _FOR.sub("", use, count=1) if _FOR.match(use) else use
            elif _CONDITION.search(use) or (_FOR.match(use) and match["subject"] not in ("it", "this")):
                yield False, use


@lru_cache(2)
def _forms(is_single: bool) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Returns the patterns of sentences and labels on use; "this tool" means the service only if `is_single`."""
    nouns = _NOUNS + ("|tool|function" if is_single else "")
    subject = rf"(?:(?:this|the|these)\s+(?:\w+\s+){{0,2}}?(?:{nouns})|this|it)"
    no = r"(?:do\s+not|don['’]t|never)"
    return (
        re.compile(
            rf"(?P<no>{no}\s+)?use(?:\s+(?P<subject>{subject}))?\s+(?P<use>{_CONNECTIVE}\b\s*:?\s*\S.*)",
            re.IGNORECASE | re.DOTALL,
        ),
        re.compile(
            rf"(?:{_NO_SIGN}|{_YES_SIGN})?(?:when\s+(?:not\s+to|to\s+not|to)\s+use(?:\s+{subject})?"
            rf"|(?:{no}\s+)?use(?:\s+{subject})?\s+{_CONNECTIVE}{_ASKED}"
            rf"|{no}\s+use(?:\s+{subject})?|{_NOT_FOR})\s*:?",
            re.IGNORECASE,
        ),
    )


class _Names:
    """The names of a service's tools; the time to find them in a text does not grow with their number."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = frozenset(names)
        self._lengths = sorted({len(name) for name in names})

    def are_in(self, text: str) -> bool:
        """True if a text mentions one of them; a name that is an ordinary word has to be marked as a name."""
        return any(
            text[start : start + length] in self._names and _is_mention(text, start, start + length)
            for start in (place.start() for place in _NAME_START.finditer(text))
            for length in self._lengths
        )


def _is_mention(text: str, start: int, end: int) -> bool:
    name = text[start:end]
    if _NAME_MARK.match(text, end) or (not (name.isalpha() and name.islower()) and _NAME_END.match(text, end)):
        return True
    return text[start - 1 : start] in _QUOTES and _WORD_END.match(text, end) is not None


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    """Yields kind and text of headings, list items and paragraphs, each on one line without emphasis."""
    kind, lines = "", list[str]()
    for line in [*text.splitlines(), ""]:
        item, heading = _ITEM.fullmatch(line), _HEADING.fullmatch(line)
        if item or heading or not line.strip():
            if lines:
                yield kind, _bare(" ".join(lines))
            kind, lines = ("item", [item["text"]]) if item else ("", [])
            if heading:
                yield "heading", _bare(heading["title"])
        else:
            kind = kind or "paragraph"
            lines.append(line)
            if line.rstrip(" *_").endswith(":") and kind == "paragraph":
                yield kind, _bare(" ".join(lines))
                kind, lines = "", []
