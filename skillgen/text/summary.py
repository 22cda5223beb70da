"""Paragraphs, sentences and cuts of a text; a sentence is used as the source writes it, or not at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from functools import lru_cache
from itertools import chain, islice
from textwrap import dedent

from skillgen.model.values import Json
from skillgen.text import lazy_re as re
from skillgen.text.blocks import Leaf, outline
from skillgen.text.html import html_to_markdown
from skillgen.text.inert import disarm
from skillgen.text.markdown import CACHE_SIZE, json_text, plain_words

_READ = 4_000
"""Characters of a text in which its first sentences are searched."""

_FENCE = re.compile(r"`{3,}|~{3,}")
_UNDERLINE = re.compile(r"={3,}|-{3,}")
_HEADING = re.compile(r"#{1,6}(?:\s|\Z)|(?:[-*_=] ?){3,}\Z")
"""A heading or a thematic break."""

_OTHER_BLOCK = re.compile(r"[>|]|(?:[-+*•]|\d{1,3}[.)])\s")
"""A quote, a row of a table, or a list item; it continues up to an empty line."""

_LABEL = re.compile(r"[A-Z@:][\w /-]{0,40}:(?:\s|\Z)")
"""A line such as `Returns: a list`, which begins another paragraph."""

_NOTICE = re.compile(
    r"[\W_]*[\u26a0\u2139\u2757\U0001f6a8]|[\W_]*(?-i:NOTE|IMPORTANT|MANDATORY|WARNING|CAUTION|DEPRECATED)\b"
    r"|\W*(?:please )?note that\b|\W*(?:note|important|warning|caution|attention|deprecated|disclaimer)\W{0,3}[:!]"
    r"|(?:\*\*|__)[^*_]+(?:\*\*|__)\W*(?::|\Z)|\W*(?:last (?:modified|updated?)|revision date)\b",
    re.IGNORECASE,
)
"""The start of a notice, of a bold label, or a paragraph that is bold throughout."""

_BARE_NOTICE = re.compile(r"\A\W{0,9}(?:warning\W{1,5})?(?:destructive|irreversible) (?:action|operation)[.!]\s+", re.I)
"""A first sentence that warns, and does not say of what."""

_LINK = re.compile(r"!?\[(?:[^\[\]]|!\[[^\[\]]*\]\([^()\s]*\))*\]\([^()\s]*(?:\s[^()]*)?\)|<?https?://[^\s<>]+>?")

_ADDRESS = re.compile(r"<?https?://\S+")

_ASIDE = re.compile(r" ?\(<?(?:https?://|www\.)[^\s()]*\)")
"""An address in parentheses, without which a sentence is whole."""

_END = re.compile(r"[.!?]\s+(?=[^\W_a-zß-öø-ÿа-џα-ω]|[\"'`(\[*\\¿¡«„“‘])|[。！](?=[^\s。！？）」』”])")
"""The end of a sentence: before a character that is not a lower-case letter of any script, or before opening
punctuation. Chinese and Japanese full stops need no space."""
_WIDE_ENDS = ("。", "！")
ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|incl|no|Mr|Mrs|Dr|St|Co|Corp|Prof)|(?-i:(?<![\w.])(?:[A-Z]\.)*[A-Z]))\.$",
    re.IGNORECASE,
)

TRIGGER = re.compile(
    r"(?<!\bnot )(?<!n['’]t )(?<!\bnever )(?<!\bnot to )\buse\s+(?:it\s+|(?:this|the)\s+(?:\w+\s+){1,3}?)?"
    r"(?:when|whenever|for|if)\b",
    re.IGNORECASE,
)
"""Phrases that say when to use a service: "Use when …", "Use this server for …" (seed 000). "Use to …" says what it
does, and "Do not use for …" when not to use it."""

CLAIM = re.compile(
    r"\b(?:before|over|above|ahead of|instead of|rather than|prior to)(?: \w+){0,2} other (?:\w+ )?"
    r"(?:skill|tool|server|plugin|agent)s?\b|\banything at all\b|\bwhatever it is\b"
    r"|\b(?:for|on|at|with|to) (?:any|every)(?: user| single)? (?:request|question|task|message|prompt)s?\b(?! \w)",
    re.IGNORECASE,
)
"""What puts a skill before others or says that it is for everything, by which nobody can choose it."""

TO_THE_READER = re.compile(
    r"(?-i:(?:[A-Z]{4,} )+[A-Z]{4,}[:!])|\W*(?:(?:you )?(?:always|never|must|should|do not|don['’]t)|please|make sure"
    r"|use (?:this|these|the|it|when|for)(?!(?: [\w-]+){0,3} (?:api|server|service) to\b)|call|see|visit|read the"
    r"|ensure|learn (?:more|how)|you (?:are|have)|if|when|before|for|to|we|welcome|here"
    r"|whether|this (?:document|file|page|guide|section|collection)|also|additionally|in addition)\b|\W*[你您]是",
    re.IGNORECASE,
)
"""The start of an order to the reader, of a sentence on the reader or on how to begin, or of one that continues
another."""

_OTHER_SUBJECT = re.compile(
    r"://|\bwww\.|(?:[?:]|(?-i:\bClient)|management client)\W*\Z"
    r"|\b(?:call|run|start with|use) (?-i:\w+_\w|[a-z]{3,}[A-Z][a-z])|(?:\A|[:,;] )(?-i:[a-z]+_\w{1,60}) to\b"
    r"|\b(?:openapi|swagger|spec(?:ification)?s?|references?|documentation|docs|api definitions?|for demonstration"
    r"|available commands|instructions|below|following|deprecated|beta|(?:is|are) no longer|copyright|licen[cs]ed"
    r"|terms of|rate limits?|common errors|requires? authenticat\w+|authenticat\w+ (?:is|are|with)|(?:over|via) https"
    r"|v\d.{0,200}\bv\d)\b|\A\W*(?:authenticat|quick ?start\b(?! \w)|getting started|(?:all |the )?(?:api )?"
    r"(?:endpoint|method|request)s?\b)",
    re.IGNORECASE,
)
"""Content of sentences about a document, a version or the use of a service (which tool to call), and of those that
are not statements."""

GENERIC = re.compile(
    r"(?:allow|platform|build|custom|provide|provider|manage|api|service|tool|access|server|client|resource|endpoint"
    r"|operation|application|data|http|rest|json|developer|public|expose|interface|restful|description|this|that|with"
    r"|your|these|full|only|simple|straight|mostly|crud|core|type|principle|user|interact|various|way|forward|object"
    r"|classic|integration|integrate|general|purpose|world|greatest|best|programmatically|done|base|basic|account"
    r"|possible|premium|version|control|controlled|backward|compatible)(?:e?s|e?d|ing|ment)?",
    re.IGNORECASE,
)
"""Words that say nothing about what a service does."""

_MIN_WORDS = 2
"""Other words that a sentence must have, without those of the service's name; an exclamation or a title needs more."""

_ASCII_WORD = re.compile("[A-Za-z]{4,}")
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2}|[^\W\d_]{4,}")
"""A word; in Chinese, Japanese and Korean, two characters. To compile it takes longer than to read most texts."""

LIMIT = 300
"""Characters after which the first sentence of a text is cut at a word."""

_SENTENCES = 6
"""Sentences among which one that says what a service does is searched; later ones are on details."""

_ABOUT_IT = re.compile(r"(?:it|an?|this)\b(?!['’])|.*\bthis (?:api|service|server)\b", re.IGNORECASE)
"""The start of a second sentence on the service; one in Chinese or Japanese needs no word for it."""


_FIELDS = (":param", ":return", ":rtype", ":type")
_FIELD_LINE = re.compile(rf"^[ \t]*(?:{'|'.join(_FIELDS)})", re.MULTILINE)
"""The start of the fields of a docstring, below its sentences."""


def paragraphs(text: str) -> Iterator[str]:
    """Yields the paragraphs of a Markdown text, without headings, quotes, code, tables, lists and notices."""
    lines: list[str] = []
    fence, is_other = "", False
    for line in [*html_to_markdown(text[:_READ]).split("\n"), ""]:
        line = line.strip()
        mark = _FENCE.match(line)
        if fence or mark:
            fence = (mark[0] if mark else "") if not fence else "" if line.startswith(fence) else fence
            line = ""
        is_heading = (lines and _UNDERLINE.fullmatch(line)) or _HEADING.match(line)
        starts_other = _OTHER_BLOCK.match(line) is not None
        if lines and (not line or is_heading or starts_other or _LABEL.match(line)):
            paragraph = " ".join(lines)
            lines = []
            is_link = "://" in paragraph or "](" in paragraph
            is_link = is_link and not _LINK.sub("", paragraph).strip("\"'()*_,.|- ")
            if not (is_link or _NOTICE.match(paragraph) or _UNDERLINE.fullmatch(line)):
                yield plain_words(paragraph)
        is_other = starts_other or (is_other and bool(line))
        if line and not is_heading and not is_other:
            lines.append(line)


@lru_cache(CACHE_SIZE)
def first_sentence(text: str) -> str:
    """Returns the first sentence of a Markdown text on one line: of its first paragraph, else of whatever it has."""
    if any(map(text.__contains__, _FIELDS)):
        text = _FIELD_LINE.split(text, maxsplit=1)[0]
    paragraph = next(paragraphs(text), "")
    if not paragraph or _LABEL.match(f"{paragraph[0].upper()}{paragraph[1:]}"):  # a notice may be all that is said
        paragraph = plain_words(text[:_READ])
    return clip(next(sentences(_BARE_NOTICE.sub("", paragraph, 1))), LIMIT)


def usable_sentence(text: str, names: Collection[str]) -> str | None:
    """Returns the sentence of a text that says what the service of these names does; `None` without one.

    It is the first, the second if it is about the service too, or a later one that begins with a name of it. A second
    one after when to use the service follows that: "Use it for tasks. It …".
    """
    starts = tuple(start.lower() for name in names for start in (name, name.partition(" ")[2]) if start)
    shown = (_ASIDE.sub("", paragraph) for paragraph in paragraphs(text))
    found = [*islice(chain.from_iterable(map(sentences, shown)), _SENTENCES)]
    for number, sentence in enumerate(found):
        is_about_it = number == 0 or (number == 1 and ("\u3040" <= sentence < "\ua000" or _ABOUT_IT.match(sentence)))
        is_about_it = is_about_it or sentence.lower().removeprefix("the ").startswith(starts)
        if is_about_it and is_usable(sentence, names):
            has_trigger = number == 1 and TRIGGER.search(found[0]) and not CLAIM.search(found[0])
            return f"{found[0]} {sentence}" if has_trigger else sentence
    return None


def is_usable(sentence: str, names: Collection[str] = ()) -> bool:
    """True if a sentence says something other than the names, and is not an order or about a document."""
    is_order = TO_THE_READER.match(sentence) and not sentence.startswith(tuple(names))
    if is_order or CLAIM.search(sentence) or _OTHER_SUBJECT.search(_without(names, sentence)):
        return False
    is_title = sentence.rstrip(".").endswith(("!", "！", "MCP Server", "MCP server"))
    least = 2 * _MIN_WORDS if is_title else _MIN_WORDS
    return says_something(sentence, names, least)


def says_something(text: str, names: Collection[str], least: int = _MIN_WORDS) -> bool:
    """True if a text is no address, and has so many words without the names and those that say nothing."""
    text = _without(names, text)
    found = (_ASCII_WORD if text.isascii() else _WORD).findall(text)
    words = {word.lower() for word in found if not GENERIC.fullmatch(word)}
    return len(words) >= least and not _ADDRESS.fullmatch(text)


def _without(names: Collection[str], text: str) -> str:
    for name in filter(None, names):  # "tasks" in lower case says something, also of Tasks
        text = text.replace(name, " ")
    return text


def sentences(text: str) -> Iterator[str]:
    """Yields the sentences of a text, unchanged."""
    start = 0
    for end in _END.finditer(text):
        sentence = text[start : end.start() + 1]
        if sentence[-1] != "." or not ABBREVIATION.search(sentence.rsplit(None, 1)[-1]):
            yield sentence
            start = end.end()
    yield text[start:]


_JOIN_LIMIT = 10_000
"""Characters of a text to which no other is joined, because every sentence is compared."""


def join_texts(first: str | None, rest: str | None, between: str = " ") -> str | None:
    """Joins two texts about the same thing, without the sentences of the second that the first has already.

    `between` separates texts of one line; longer texts become paragraphs.
    """
    if first is None or rest is None:
        return rest if first is None else first
    if first in rest or rest in first:
        return max(first, rest, key=len)
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


_LOOSE_ENDS = " ,;:.…—–-(["


def clip(text: str, limit: int) -> str:
    """Cuts a text at a word, or in a long one at what separates its parts, to at most `limit` characters including the
    ellipsis; parentheses and code that would stay open are cut too."""
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    head = head[: next((at for mark in " /,|" if (at := head.rfind(mark, limit // 2)) >= 0), len(head))]
    opened = head.rfind("(") if head.count("(") > head.count(")") else -1
    if head.count("`") % 2:
        opened = max(opened, head.rfind("`"))
    return (head[:opened] if opened >= limit // 3 else head).rstrip(_LOOSE_ENDS) + "…"


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


def clip_middle(text: str, limit: int) -> str:
    """Cuts a long name in the middle, because long names differ at their ends."""
    if len(text) <= limit:
        return text
    end = (limit - 1) // 2
    return f"{text[: limit - 1 - end].rstrip()}…{text[-end:].lstrip()}"


_REMOVED = re.compile(r"[^\w\- ]")


class Anchors:
    """Assigns anchors to the headings of one document, in their order."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def of(self, heading: str) -> str:
        """Returns the anchor of the next heading, with a number if it is repeated."""
        base = anchor = _REMOVED.sub("", disarm(heading).strip().lower()).replace(" ", "-")
        while anchor in self._counts:
            self._counts[base] += 1
            anchor = f"{base}-{self._counts[base]}"
        self._counts[anchor] = 0
        return anchor


_PARAGRAPH_END = re.compile(r"\n\n|</p>")


def start_of(text: str, limit_bytes: int) -> str:
    """Returns the start of a text, to the first paragraph that ends in its second half, else to a line or a word."""
    content = text.encode("utf-8", "replace")
    if len(content) <= limit_bytes:
        return text
    start = content[:limit_bytes].decode("utf-8", "ignore")
    half = len(start) // 2
    paragraph = _PARAGRAPH_END.search(start, half)
    ends = (paragraph.end() if paragraph else -1, start.rfind("\n", half), start.rfind(" ", half))
    return start[: next((end for end in ends if end > 0), None)]


def top_headings(text: str) -> tuple[str, ...]:
    """Returns the text of the headings of the highest level that occurs more than once."""
    headings = [(leaf.level, leaf.words) for leaf in outline(text) if leaf.kind == "heading"] if "#" in text else []
    counts = Counter(level for level, _ in headings)
    level = min((level for level, count in counts.items() if count > 1), default=0)
    return tuple(words for its_level, words in headings if its_level == level)


def without_empty_sections(text: str) -> str:
    """Returns a text without the headings that have nothing below them."""
    if "#" not in text and "\n" not in text:
        return text.strip()
    lines, following = text.split("\n"), Leaf("heading", 0, 0)
    for leaf in reversed(outline(text)):
        if leaf.kind == following.kind == "heading" and following.level <= leaf.level:
            del lines[leaf.first : leaf.end]
        else:
            following = leaf
    return "\n".join(lines).strip()


_FENCE_LINE = re.compile(r"\s{0,12}(`{3,}|~{3,})(.*)")


def open_fence(line: str, fence: str) -> str:
    """Returns the line that opened the code block around the next line; empty outside of a code block."""
    match = _FENCE_LINE.match(line)
    if match is None:
        return fence
    if not fence:
        return line if "`" not in match[2] else ""
    return "" if match[1].startswith(fence.strip()[:3]) and not match[2].strip() else fence


def headings_in(text: str) -> Iterator[str]:
    """Yields the Markdown of each heading outside code blocks."""
    fence = ""
    for line in text.split("\n"):
        words = line.lstrip("#")
        if not fence and words != line and words.startswith(" "):
            yield words[1:]
        fence = open_fence(line, fence)


def parts_of(text: str, deepest: int) -> Iterator[tuple[int, str, str]]:
    """Yields level, title and text of the part below each heading down to a level; first what no heading precedes."""
    lines = text.split("\n")
    headings = [leaf for leaf in outline(text) if leaf.kind == "heading" and leaf.level <= deepest]
    for heading, following in zip([None, *headings], [*headings, None], strict=True):
        level, title, first = (0, "", 0) if heading is None else (heading.level, heading.words, heading.end)
        yield level, title, "\n".join(lines[first : following.first if following is not None else None]).strip("\n")


def sections_of_level(level: int, text: str) -> Iterator[tuple[str, str]]:
    """Yields each heading of a level with the text below it."""
    return ((title, body) for its_level, title, body in parts_of(text, level) if its_level == level)


_TITLES = ("args", "arguments", "params", "parameters", "inputs")
_SIGNS = ("@param", ":param", *(title + end for title in _TITLES for end in "*:"))
"""What a text that documents parameters contains, in lower case."""

_TITLE = re.compile(rf"(?:#{{1,6}} )?(?:\*\*)?(?:{'|'.join(_TITLES)})[*:]{{1,3}}\Z", re.IGNORECASE)

_FIELD = re.compile(
    r"(?::param(?: [\w\[\], |.]{1,40})?|@param(?: \{[^{}\n]{0,60}\})?) \[?(?P<name>\w{1,60})\]?:?(?: -)?(?P<type>)"
    r" (?P<text>\S.*)"
)
"""`:param type name: …` or `@param {type} name - …`, which need no title."""

_ENTRY = re.compile(
    r"(?:[-*+] )?[*`]{0,3}(?P<name>\w[\w.-]{0,60})[*`]{0,3}(?: ?\((?P<type>[^()\n]{0,80})\))?[*`]{0,3}"
    r"(?:[*]{0,2}:[*]{0,2}| [-–—])[ ]{1,9}(?P<text>\S.*)"
)
"""`name: …`, `name (type): …`, or an item of a list, below a title."""

_ITEM = re.compile(r"[-*+] ")

_TYPE = re.compile(
    r"(?:str|string|int|integer|float|number|bool|boolean|list|array|dict|object|any|none|null|optional|required|of|or"
    r"|default|[\s,|\[\]])*\Z",
    re.IGNORECASE,
)
"""The type in an entry, which the schema declares too."""


def documented_parameters(text: str, names: Collection[str], schema: Json = None) -> tuple[str, dict[str, str]]:
    """Returns a description without its descriptions of the named parameters, and these as Markdown by name.

    Entries for other names stay, and so does the title above them; those among them that no word of the schema names go
    too: what a function gets that no caller sends.
    """
    if not names or not any(map(text.lower().__contains__, _SIGNS)):
        return text, {}
    declared = json_text(schema)
    said: dict[str, list[str]] = {}
    rest: list[str] = []
    entry: list[str] | None = None
    section: int | None = None  # where the title of the open section is in `rest`
    column = section_column = 0

    for line in [*text.expandtabs(4).split("\n"), "."]:
        body, indent = line.strip(), len(line) - len(line.lstrip(" "))
        if entry is not None and (not body or indent > column):
            entry.append(line)
            continue
        if entry is not None and not entry[-1].strip():
            rest.append("")
        entry = None
        found = _FIELD.match(body) or (_ENTRY.match(body) if section is not None and indent >= section_column else None)
        name = found["name"] if found is not None else ""
        is_foreign = schema and name.islower() and f'"{name}"' not in declared
        if found is not None and name not in said and (name in names or is_foreign):
            kind = found["type"] or ""
            column, entry = indent, [found["text"] if _TYPE.match(kind) else f"({kind}) {found['text']}"]
            said[name] = entry
            continue
        if section is not None and body and indent <= section_column and not _ITEM.match(body):
            if not any(map(str.strip, rest[section + 1 :])):
                del rest[section:]
            section = None
        if _TITLE.match(body):
            section, section_column = len(rest), indent
        rest.append(line)
    texts = {name: _dedented(lines) for name, lines in said.items() if name in names}
    return ("\n".join(rest[:-1]).strip(), texts) if texts else (text, {})


def _dedented(lines: list[str]) -> str:
    return "\n".join([lines[0], dedent("\n".join(lines[1:]))]).strip()
