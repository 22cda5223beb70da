"""Finds credentials in text and redacts them.

There are two ways: the forms that issuers document for their keys and tokens, and values that look random after a name
that says that they are secret. Keys of documentation (AWS's `…EXAMPLE`, Stripe's `sk_test_…`) are redacted too: they
look like real keys, and no reader needs them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from pathlib import Path
from urllib.parse import unquote

from msgspec import Struct

from skillgen.model.schema import Parameter, Schema, Types
from skillgen.model.tool import Tool
from skillgen.text import lazy_re as re
from skillgen.text.lazy_re import LazyPattern
from skillgen.text.words import words_of
from skillgen.typed import decode

HIDDEN = "[hidden]"
"""The placeholder for a secret that the user passed."""

_PLACEHOLDER = re.compile(r"\[(?:hidden|[\w ]{1,40} left out)\]")

_MIN_LENGTH = 16
"""Characters of the shortest credential, except for a password in a URL."""

_GENERATED = re.compile(r"[^\0-/:-@\[-\x7f](?:(?<=\d)|(?<=\S{8}.)|(?=\S{8}))")
"""A digit, or a capital in a long word: all credentials have one, but for what is before `@`, after `=` or in a URL."""

_MAX_PLACEHOLDER_CHARACTERS = 2
"""A string that ends in so few distinct characters only shows the form of a credential: `sk-xxxx`."""

_IN_ADDRESS = "password in an address"


class _Forms(Struct):
    """The documented forms of credentials: `tests/make_screening.py` prepares them from two tables."""

    heads: LazyPattern
    random_kinds: frozenset[str]
    """The kinds of which a credential must also look random."""

    others: tuple[tuple[str, str, str], ...]
    """Kind, a string that a text with such a credential has, and the expression."""

    rows: tuple[tuple[str, str, str], ...]
    """Kind, a string with which the head begins, and the expression."""


@lru_cache(1)
def _forms() -> _Forms:
    return decode(Path(__file__).with_name("credentials.json").read_bytes(), _Forms)


@lru_cache(None)
def _compiled(form: str) -> re.Pattern[str]:
    return re.compile(form)


_NAME_PARTS = ("key", "secret", "token", "passw", "pwd", "passphrase", "credential", "sig", "auth=", "sid=", "session")
"""A text in lower case without any of these has no named value."""

_SECRET_PARTS = (*_NAME_PARTS, "auth", "jwt", "bearer")
"""A name in lower case without any of these is not that of a secret."""

_ASSIGNED = re.compile(
    r"[ACPSTacpst](?i:(?:(?<=a)(?:pi|ccess)[_-]?key|(?<=s)(?:ecret|ignature)|(?<=t)oken|(?<=c)redential"
    r"|(?<=p)(?:assw(?:or)?d|assphrase|rivate[_-]?key))[A-Za-z0-9_-]{0,20}[\"'`]{0,2}\s{0,3}(?:=>|[:=]|\bis\b))"
    r"\s{0,3}[\"'`]{0,2}(?P<value>[A-Za-z0-9+/_.~!@#$%^*-]{10,300}={0,2})"
)
_VALUE = re.compile(r"[=:iI](?:(?<==)|(?<=:)(?!//)|(?<=\b[iI])[sS]\b)>?\s{0,3}[\"'`]{0,2}[A-Za-z0-9+/_.~!@#$%^*-]{10}")
"""The end of what `_ASSIGNED` matches, which few texts have, without the colon of an address."""

_IN_URL_OR_COOKIE = re.compile(
    r"(?<![\w-])(?:sig|key|auth|sid|session|session_?id|jsessionid|phpsessid|connect\.sid)="
    r"(?P<value>[A-Za-z0-9+/_.%~-]{24,2000}={0,2})",
    re.IGNORECASE,
)
"""Names that are too short for prose, but name a secret in a URL or a cookie."""

_SECRET_PARAMETER = (
    r"(?:(?:[A-Za-z]{1,16}[_.-]?)?(?:passw(?:or)?d|passphrase|pwd|secret)|(?:access|refresh|auth|bearer|api|id)?[_-]?token"
    r"|(?:x[_-])?(?:api|access|secret|private|client|account|subscription)[_-]?key)"
)
_SECRET_VALUE = r"(?P<value>[^\s&#;\"'`<>|,)\]}]{4,200})"
_PARAMETER = re.compile(rf"(?:[?&;]|&amp;)[ ]?{_SECRET_PARAMETER}[ ]?=[ ]?{_SECRET_VALUE}", re.IGNORECASE)
"""A parameter of a URL or a connection string that is named like a secret: its value is secret, however short."""

_PLACEHOLDER_WORDS = re.compile(
    "placeholder|passphrase|passw(?:or)?d|passwort|undefined|changeme|username|redacted|database|encoded|refresh|session"
    "|example|access|bearer|client|hidden|sample|secret|string|values?|dummy|token|false|admin(?=pass)|pass|user|auth|demo"
    "|here|test|text|true|null|none|some|your|abc|api|bar|baz|foo|key|new|old|pwd|the|xyz|db|id|is|my|pw|[a-z]{0,3}xxx+",
    re.IGNORECASE,
)
_COUNTED = "1234567890"
_SECRET_NOUN = re.compile("passw|pwd|secret|token|key", re.IGNORECASE)
"""A value of letters alone that names what it is: `primaryAccessKey`, `storetoken`."""

_VARIABLE = re.compile(r"[<{\[…]|%[sd]|%[A-Za-z_]+%|\$[({]|:?\$?[A-Z][A-Z0-9]*_[A-Z0-9_]+$|\$\w+$|\*+$")
"""The start of a placeholder that a reader replaces."""

_MIN_RANDOM_LENGTH = 10
_CHARACTER_CLASSES = (re.compile("[a-z]"), re.compile("[A-Z]"), re.compile("[0-9]"))
_SYLLABLES = re.compile(r"[A-Za-z][a-z]{3}")
"""A short value with four letters in sequence is made of words, such as `newPassw0rd`."""

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_SECRET_WORDS = re.compile(
    r"(?:^|_)(?:(?:access|api|auth|bearer|refresh|security|session|user)?tokens?|secrets?|passw(?:or)?d|passphrase|pwd|"
    r"credentials?|api_?keys?|access_?keys?|private_?keys?|"
    r"secret_?keys?|auth_?keys?|client_?secret|signing_?key|encryption_?key|session_?key|signature|authorization|jwt|"
    r"bearer)(?:_?(?:value|id))?$"
)
_PAGE_TOKEN = re.compile(
    r"(?:page|pagination|next|prev|previous|continuation|cursor|sync|resume|skip)[_-]?tokens?$", re.IGNORECASE
)
"""Pagination tokens are not credentials."""

_MAX_PAGE_WORD = len("continuation_")

_SAMPLE_PAIR = re.compile(r"(?i)[<\[{]?(?=\w*user)\w+[>\]}]?:[<\[{]?(?=\w*(?:pass|pwd|secret|token))\w+[>\]}]?")
_PLAIN_WORD = re.compile(r"[a-z_./:;,#@~+$%()\[\]{}<>`'\"?=&|*!-]+").fullmatch
"""A credential has a digit or an upper-case letter; most long words are URLs and names without either."""

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+")
_NOT_RANDOM = re.compile(
    r"^(?:arn|urn):|^projects/|[\s{}<>()\[\]]|x{4,}|X{4,}|\*{3,}|\.{3,}|example[-_.]|[yY]our|YOUR|placeholder|redacted|change[-_]?me|"
    r"123e4567-e89b-12d3-a456-4266141740"  # the UUID of documentation, also in generated examples
)


def redact(text: str) -> tuple[str, tuple[str, ...]]:
    """Returns a text with a placeholder for each credential, and the kinds of these credentials.

    In most texts it finds neither a word that is long enough, nor a mark or a name of a credential.
    """
    if "://" not in text and (len(text) < _MIN_LENGTH or not ("=" in text or "@" in text or _GENERATED.search(text))):
        return text, ()
    kinds: dict[str, None] = {}
    words = " ".join([word for word in text.split() if len(word) >= _MIN_LENGTH and not _PLAIN_WORD(word)])
    rows: list[tuple[str, str, str]] = []
    # Without any of these a credential is a long word.
    if words or "://" in text or ("-" in text and (" -u " in text or "--user" in text or "-----BEGIN" in text)):
        forms = _forms()
        rows += (row for row in forms.others if row[1] in text)
        rows += (row for row in forms.rows if row[1] in words) if words and forms.heads.search(f" {words}") else ()
    for kind, _, form in rows:
        if (changed := _compiled(form).sub(partial(_placeholder, kind), text)) != text:
            text, kinds[kind] = changed, None
    for regex, replacement, kind in _named_values(text):
        if (changed := regex.sub(replacement, text)) != text:
            text, kinds[kind] = changed, None
    return text, tuple(kinds)


def placeholder(kind: str) -> str:
    """Returns the placeholder for a credential."""
    return f"[{kind} left out]"


def without_placeholders(text: str) -> str:
    """Returns a text without the placeholders for secrets and credentials."""
    return _PLACEHOLDER.sub("", text) if "[" in text else text


def joined_words(name: str) -> str:
    """Returns the words of a name in lower case with underscores between them."""
    return "_".join(filter(None, _CAMEL.split(name))).lower()


@lru_cache(1 << 12)
def is_secret_name(name: str) -> bool:
    """True if a value of this name is a secret: `api_key`, `clientSecret`, `X-Auth-Token`."""
    if not any(map(name.lower().__contains__, _SECRET_PARTS)):  # most names
        return False
    words = joined_words(name)
    return bool(_SECRET_WORDS.search(words)) and not _PAGE_TOKEN.search(words)


def looks_random(value: str) -> bool:
    """True if a value looks generated: by its entropy, or if it is short, by its mix of characters."""
    if not _MIN_RANDOM_LENGTH <= len(value) <= 4_000 or _NOT_RANDOM.search(value):
        return False
    if len(value) < _MIN_LENGTH:
        return all(characters.search(value) for characters in _CHARACTER_CLASSES) and not _SYLLABLES.search(value)
    digits = sum(character.isdigit() for character in value)
    if not digits or digits == len(value):
        return False
    counts = Counter(value)
    bits = -sum(count / len(value) * math.log2(count / len(value)) for count in counts.values())
    return bits >= (3.0 if all(character in "0123456789abcdefABCDEF-" for character in value) else 3.5)


def _placeholder(kind: str, match: re.Match[str]) -> str:
    """Returns the placeholder; keeps a sample such as `Bearer YOUR_TOKEN`, `user:password@host`, `sk-…` or `AC000…`."""
    matched = match[0]
    has_digit = any(character.isdigit() for character in matched)
    is_sample = len(set(matched[-_MIN_LENGTH:])) <= _MAX_PLACEHOLDER_CHARACTERS and "://" not in matched
    is_sample |= kind in ("authorization", "password in a command", "OpenAI key") and not has_digit
    is_sample |= kind in _forms().random_kinds and not looks_random(matched)
    is_sample |= kind == _IN_ADDRESS and _SAMPLE_PAIR.fullmatch(matched) is not None
    if is_sample:
        return matched
    # One word, so that the rest of the URL remains a URL: `mysql://redacted@host`.
    return "redacted" if kind == _IN_ADDRESS else placeholder(kind)


def _named_values(text: str) -> Iterator[tuple[re.Pattern[str], Callable[[re.Match[str]], str], str]]:
    """Yields the expressions for values after the name of a secret that might match, with what replaces the values.

    A path without a host is the request of an example, whose arguments are checked one by one.
    """
    if "=" not in text and ":" not in text and " is " not in text:
        return
    if not any(map(text.lower().__contains__, _NAME_PARTS)):
        return
    if _VALUE.search(text):
        yield _ASSIGNED, _redact_value, "secret"
    if "=" in text:
        yield _IN_URL_OR_COOKIE, _redact_value, "secret"
        if "://" in text or ";" in text:
            yield _PARAMETER, _redact_parameter, "secret in an address"


def _redact_parameter(match: re.Match[str]) -> str:
    value = match["value"].rstrip(".:!?")
    if _is_placeholder(unquote(value)):
        return match[0]
    # One word, so that the rest of the URL remains a URL.
    start = match.start("value") - match.start()
    return f"{match[0][:start]}redacted{match[0][start + len(value) :]}"


def _is_placeholder(value: str) -> bool:
    """True if a value only shows where a secret goes: `YOUR_TOKEN`, `${TOKEN}`, `***`, `password123`."""
    is_noun = value.isalpha() and _SECRET_NOUN.search(value)
    if is_noun or len(set(value)) <= _MAX_PLACEHOLDER_CHARACTERS or _VARIABLE.match(value):
        return True
    rest = re.sub(r"\A[\W_]+|[\W_]+\Z", "", _PLACEHOLDER_WORDS.sub("", value))
    return _COUNTED.startswith(rest.removeprefix("0")) or (len(rest) == 1 and rest.isdigit())


def _redact_value(match: re.Match[str]) -> str:
    matched, value = match[0], match["value"]
    if match.string[match.end() : match.end() + 1] == "(":
        return matched  # a function call in code
    if _PAGE_TOKEN.search(match.string[max(0, match.start() - _MAX_PAGE_WORD) : match.start() + len("token")]):
        return matched
    if match.re.pattern == _IN_URL_OR_COOKIE.pattern and _UUID.match(value):
        return matched
    return matched.replace(value, placeholder("secret")) if looks_random(unquote(value)) else matched


_ISSUES = re.compile(
    r"\b(?:log ?in|log ?on|sign ?in|authenticate)\b"
    r"|\b(?:create|generate|get|issue|make|obtain|request)(?: (?:access|auth|bearer|jwt))* (?:token|jwt|session)\b"
)
"""Words of the name of a tool that issues a credential."""

_CREDENTIAL = re.compile(r"(?!.*(?:next|page|csrf|public)).*(?:token|jwt|bearer|key|secret|session|ticket)\Z")
"""The name of a part of a result that is a credential, by its last word."""


def issues_credential(tool: Tool, types: Types) -> bool:
    """True if the name of a tool says that it issues a token or key, and its result has one, which is a string.

    What GET returns of a path with a variable was there before, such as a session by its id.
    """
    is_start = tool.method == "POST" or (tool.method == "GET" and "{" not in (tool.path or ""))
    if tool.deprecated or not is_start or not _ISSUES.search(" ".join(words_of(tool.name))):
        return False
    level = [tool.output.schema] if tool.output else []
    for _ in range(3):  # levels of a result
        parts = {id(part): part for schema in level for part in types.variants(schema or Schema())}
        properties = [item for part in parts.values() for item in part.properties]
        if any(_is_credential(item, types) for item in properties):
            return True
        level = [item.schema for item in properties]
    return False


def _is_credential(item: Parameter, types: Types) -> bool:
    """True for a part of a result that is named like a credential, and may be a string."""
    kinds = {kind for part in types.variants(item.schema) for kind in part.types}
    return bool(_CREDENTIAL.match(joined_words(item.name))) and (not kinds or "string" in kinds)
