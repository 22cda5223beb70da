"""Removes characters that are invisible to a reader but not to a model.

Unicode tags and variation selectors can encode complete sentences, bidirectional controls change the order in which a
text is shown, and zero-width characters hide a word from a search.
"""

from __future__ import annotations

import unicodedata

from skillgen.text import lazy_re as re

_NONCHARACTERS = "\ufdd0-\ufdef" + "".join(
    f"{chr(plane | 0xFFFE)}{chr(plane | 0xFFFF)}" for plane in range(0, 0xF0000, 0x10000)
)

_KINDS = (
    ("tag characters", "\U000e0000-\U000e00ff\U000e01f0-\U000e0fff", True),
    ("variation selectors", "\u180b-\u180d\u180f\ufe00-\ufe0e\U000e0100-\U000e01ef", True),
    ("bidirectional controls", "\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f", True),
    (
        "zero-width characters",
        "\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200d\u2060-\u2065\u2d7f\u3164\ufeff\uffa0\ufff0-\ufff8"
        "\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a\U0001107f\U00013430-\U0001343f\U00016fe4",
        True,
    ),
    ("control characters", "\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ufff9-\ufffb", False),
    ("soft hyphens", "\u00ad", False),
    ("code points without a character", f"\ud800-\uf8ff{_NONCHARACTERS}\U000f0000-\U0010ffff", False),
)
"""Kind, its characters, and whether they suggest that something is hidden on purpose."""

_LINE_ENDS = "\r\x0b\x0c\x85\u2028\u2029"
_EMOJI = "\u00a9\u00ae\u203c-\u3299\U0001f000-\U0001faff"
_SELECTOR = f"(?<![{_EMOJI}])\ufe0f(?!\u20e3)"
"""The emoji variation selector has a meaning only after an emoji and before a keycap."""

_REMOVED = re.compile(f"[{''.join(characters for _, characters, _ in _KINDS)}{_LINE_ENDS}]|{_SELECTOR}")
_LINE_END = re.compile(f"\r\n|[{_LINE_ENDS}]")
_ESCAPE_SEQUENCE = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b(?:\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])")
_ASCII_REMOVED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_BLANKS = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000]")

_JOINER = (
    "(?<=[\u0600-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u17ff])[\u200c\u200d](?=\\w)|(?<=[\u2d30-\u2d6f])\u2d7f"
    f"|(?<=[\ufe0f{_EMOJI}])\u200d(?=[{_EMOJI}])|(?<=[\U00011052-\U0001106f])\U0001107f"
)
"""What belongs to the spelling of Arabic, Indic and other words, and to joined emoji."""

_USUAL = re.compile(f"{_JOINER}|^\ufeff|(?<=[\u0590-\u08ff])[\u200e\u200f]|[\u200e\u200f](?=[\u0590-\u08ff])")
_JOINER_PATTERN = re.compile(_JOINER)
_BY_KIND = tuple(
    (kind, re.compile(f"[{characters}]" + (f"|{_SELECTOR}" if kind == "variation selectors" else "")), is_odd)
    for kind, characters, is_odd in _KINDS
)


_PLAIN = bytes((*b"\n", *range(ord(" "), ord("~") + 1)))


def is_plain(text: str) -> bool:
    """True if a text has only ASCII characters that are printed, and line feeds."""
    return text.isascii() and (text.isprintable() or not text.encode().translate(None, _PLAIN))


def strip_invisible(text: str) -> str:
    """Returns a text without invisible characters, with line feeds as line ends and plain spaces."""
    if is_plain(text):
        return text
    if "\x1b" in text or "\x9b" in text:
        text = _ESCAPE_SEQUENCE.sub("", text)
    text = _LINE_END.sub("\n", text)
    if text.isascii():
        return _ASCII_REMOVED.sub("", text)
    text = _BLANKS.sub(" ", text)
    return _REMOVED.sub(lambda it: it[0] if _JOINER_PATTERN.match(text, it.start()) else "", text)


def escape_invisible_in_json(text: str) -> str:
    """Returns JSON with escapes for invisible characters: the same data, without control sequences for a terminal."""
    return "\n".join(line if is_plain(line) else _REMOVED.sub(_json_escape, line) for line in text.split("\n"))


def _json_escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def strip_invisible_by_line(text: str) -> str:
    """Returns a text that is safe for a terminal, line by line."""
    return "\n".join(strip_invisible(line.removesuffix("\r").replace("\r", " ")) for line in text.split("\n"))


def invisible_kinds(text: str) -> tuple[tuple[str, ...], bool]:
    """Returns the kinds of invisible characters in a text, and whether any of them suggests hidden content.

    Characters that belong to the spelling of a language or to an emoji do not count, nor do line ends.
    """
    if is_plain(text) or not (_ASCII_REMOVED if text.isascii() else _REMOVED).search(text):
        return (), False
    text = _USUAL.sub("", text)
    kinds = [(kind, is_odd) for kind, pattern, is_odd in _BY_KIND if pattern.search(text)]
    return tuple(kind for kind, _ in kinds), any(is_odd for _, is_odd in kinds)


_CYRILLIC = ("авеёзіјкмнорстухѕһԁԛԝьгпѵ", "abeeзijkmhopctyxshdqwbrnv")
_GREEK = ("αβγεικνορτυχωηκ", "abyeikvoptuxwnk")
_LATIN = ("ıɑɡɩℓǃǀᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡʏᴢ", "iagil!labcdefghijklmnopqrstuvwyz")
_LISU = ("ꓮꓐꓚꓓꓰꓝꓖꓧꓲꓙꓗꓡꓟꓠꓳꓑꓣꓢꓔꓴꓦꓪꓫꓬꓜ", "abcdefghijklmnoprstuvwxyz")
_TABLE = str.maketrans(*map("".join, zip(_CYRILLIC, _GREEK, _LATIN, _LISU, strict=True)))
_TABLE |= {start + n: ord("a") + n for start in (0x1F150, 0x1F170, 0x1F1E6) for n in range(26)}
"""Letters to the Latin ones that they resemble, also white ones in circles and squares, and those of flags."""


def to_latin(text: str) -> str:
    """Returns a text in lower case, with look-alike letters replaced by Latin ones and without combining marks."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", text).lower().translate(_TABLE)
    return "".join(character for character in plain if not unicodedata.combining(character))


def printable(text: str, max_characters: int = 300) -> str:
    """Returns text on one line that is safe for a terminal."""
    text = " ".join(strip_invisible(text).split())
    return text if len(text) <= max_characters else text[: max_characters - 1] + "…"
