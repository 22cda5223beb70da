"""Values the user passed; masked in every output.

Values that the user gave and that no output may hold, in the forms in which a careless source repeats them.

The forms: literal, also broken by white space; quoted for a URL, JSON or HTML; in hexadecimal; in base64, also inside
of a longer text. A server that wants to publish what it was given can encode it in a way that nobody finds.

Finds the secrets among what a user gives: variables, headers, arguments and URLs.

A value is a secret by the name of its variable or header, or by its form: a known credential, or generated characters.
An ordinary setting (`AWS_REGION=us-east-1`) is not.
"""

from __future__ import annotations

import base64
import contextlib
import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from urllib.parse import quote, quote_plus, unquote, urlsplit

from skillgen.errors import Problem, ProblemLog, SkillgenError
from skillgen.model.values import Json
from skillgen.security.addresses import public_url
from skillgen.security.credentials import HIDDEN, is_secret_name, redact
from skillgen.text.unicode import printable

SHORTEST = 4
"""Characters of the shortest value that is redacted; shorter ones are switches and numbers."""

_SHORTEST_ENCODED = 8
"""Characters of the shortest encoded form of a value that is made of words."""

HIDDEN_IN_URL = "{secret}"
"""The placeholder in a URL: a URI template names in this way what its reader fills in."""

_EXCERPT_LIMIT = 4_000
"""Characters of a text that are searched for what a message shows of it."""

_CHUNK = 1 << 20
"""Characters that are searched at once."""

_NAME_KEYS = frozenset(
    {
        *("name", "uri", "uriTemplate", "enum", "const", "required", "type", "format", "method", "operationId", "tags"),
        *("in", "$ref", "$id", "$anchor", "propertyName", "reverseMethod", "protocolVersion", "mimeType"),
    }
)
"""Keys of a source whose values are identifiers, by which something is called or found."""

_PIECE = re.compile(r"[A-Za-z0-9]+")
_WORD = re.compile(r"[A-Z]|[a-z]*(?:[A-Z]+[a-z]+)*(?:[A-Z]{2,})?")
_HUMP = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_NUMBERED_WORD = re.compile(r"[A-Za-z]{1,12}[0-9]{1,8}|[0-9]{1,8}[A-Za-z]{1,12}")
_LONGEST_WORD, _LONGEST_NUMBER, _LONGEST_MIXED = 30, 15, 8
"""Characters of what people write as a word, a number, and both in one, such as `arm64v8` or `20250514`."""

_FEWEST_PER_HUMP = 2.5
"""Letters of a camel-case word per hump; generated text changes its case more often."""

_FEWEST_GENERATED = 6
"""Characters of a value outside of words and numbers from which on it was generated, not written."""


def is_made_of_words(value: str) -> bool:
    """True if a value is words, numbers and versions (`us-east-1`, `gpt-4o-mini`), and not generated characters."""
    generated = (piece for piece in _PIECE.findall(value) if not _is_word(piece))
    return sum(map(len, generated)) < _FEWEST_GENERATED


def _is_word(piece: str) -> bool:
    if piece.isdigit():
        return len(piece) <= _LONGEST_NUMBER
    if piece.isalpha():
        is_camel = len(piece) < _FEWEST_PER_HUMP * len(_HUMP.findall(piece))
        return len(piece) <= _LONGEST_WORD and _WORD.fullmatch(piece) is not None and not (is_camel and len(piece) > 8)
    letters = re.findall("[A-Za-z]+", piece)
    if not all(map(_WORD.fullmatch, letters)):
        return False
    return len(piece) <= _LONGEST_MIXED or _NUMBERED_WORD.fullmatch(piece) is not None


class Secrets:
    """Secret values, each with the place where the user gave it, for messages: "the variable API_KEY".

    A value that is made of words is redacted only where it is a word of its own, and never in an identifier:
    "customers" may be somebody's password and a part of every tool's name.
    """

    def __init__(self, values: Mapping[str, str] | None = None) -> None:
        self._places: dict[str, str] = {}
        for value, place in (values or {}).items():
            for line in _lines(value):
                self._places.setdefault(line, place)
        own = sorted(self._places, key=len, reverse=True)
        self._words = {
            value: re.compile(rf"(?<![^\W_]){re.escape(value)}(?![^\W_])") for value in own if is_made_of_words(value)
        }
        forms = {form: value for value in own for form in _forms_of(value) if not self._is_ordinary(form, value)}
        self._forms = dict(sorted(forms.items(), key=lambda pair: -len(pair[0])))

    def __or__(self, other: Secrets) -> Secrets:
        """Returns both together."""
        return Secrets({**other._places, **self._places})

    def __bool__(self) -> bool:
        return bool(self._places)

    def hide(self, text: str) -> str:
        """Returns a text without them."""
        return self._redacted(text, set())

    def hide_in_url(self, url: str) -> str:
        """Returns a URL in which a reader fills them in."""
        return self.hide(url).replace(HIDDEN, HIDDEN_IN_URL)

    def hide_in(self, data: Json) -> tuple[Json, tuple[str, ...]]:
        """Returns what a source said without them, and the places of those that it repeated."""
        if not self or not any(map(self._may_hold_any, text_chunks(data))):
            return data, ()
        found: set[str] = set()
        hidden = _mapped(data, partial(self._redacted, found=found))
        return hidden, tuple(sorted(found))

    def excerpt(self, text: str, max_characters: int = 300) -> str:
        """Returns the beginning of a text without them and without credentials, for a message.

        Both are redacted before it is cut: a part of a value would not be found.
        """
        line = self.hide(printable(text, _EXCERPT_LIMIT))
        return printable(redact(line)[0], max_characters)

    def hide_in_problem(self, problem: Problem) -> Problem:
        """Returns a problem without them."""
        if not self:
            return problem
        where = self._redacted(problem.where, set(), is_name=True)
        return replace(
            problem, where=where, message=self.hide(problem.message), fix=problem.fix and self.hide(problem.fix)
        )

    @contextlib.contextmanager
    def redact_errors(self) -> Iterator[None]:
        """Redacts them in any `SkillgenError` that is raised inside."""
        try:
            yield
        except SkillgenError as error:
            error.what = self.hide(error.what)
            error.where = error.where and self._redacted(error.where, set(), is_name=True)
            error.fix = error.fix and self.hide(error.fix)
            error.args = (error.what,)
            raise

    def _is_ordinary(self, form: str, value: str) -> bool:
        """True if a form of a value that is made of words may be a part of other words."""
        return value in self._words and (form == value or len(form) < _SHORTEST_ENCODED)

    def _may_hold_any(self, text: str) -> bool:
        squeezed = "".join(text.split())
        return any(form in squeezed for form in self._forms) or any(word in text for word in self._words)

    def _redacted(self, text: str, found: set[str], *, is_name: bool = False) -> str:
        squeezed = "".join(text.split())
        held = [form for form in self._forms if form in squeezed]
        found.update(self._places[self._forms[form]] for form in held)
        if not is_name:  # a credential of which a part was replaced would not be recognised any more
            text = redact(text)[0]
        for form in held:
            text = re.sub(r"\s*".join(map(re.escape, form)), HIDDEN, text)
        for value, word in self._words.items():
            if not is_name and value in text and (new := word.sub(HIDDEN, text)) != text:
                text = new
                found.add(self._places[value])
        return text


def report_echoed_secrets(problems: ProblemLog, places: Iterable[str]) -> None:
    """Reports secrets that a source repeats."""
    if names := ", ".join(places):
        problems.warning(
            "secret-echoed",
            "",
            f"The source repeats a secret that was passed to it: {names}. A placeholder is written in its place.",
        )


def report_url_secret(problems: ProblemLog) -> None:
    """Reports a URL that the documents write without a secret in it."""
    problems.info(
        "url-secret-left-out",
        "",
        f"The path of the URL seems to hold a secret. {HIDDEN_IN_URL} is written in its place.",
        "tell your readers what to fill in",
    )


def _lines(value: str) -> Iterator[str]:
    """Yields a value, and of one with several lines those that are not words: a header of a key is no secret."""
    lines = [line.strip() for line in value.splitlines()]
    for line in lines:
        if len(line) >= SHORTEST and (len(lines) == 1 or not is_made_of_words(line)):
            yield line


def _forms_of(value: str) -> set[str]:
    """Returns a value as URLs, JSON, HTML, hexadecimal and base64 write it, without white space."""
    content = value.encode("utf-8", "surrogatepass")
    quoted = {quote(content, safe=""), quote(content), quote_plus(content)}
    lower_case = {re.sub("%[0-9A-F]{2}", lambda code: code[0].lower(), form) for form in quoted}
    escaped = {json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], html.escape(value)}
    hexadecimal = {content.hex(), content.hex().upper()}
    encoded = {_inside_base64(content, offset) for offset in range(3)}
    encoded |= {form.translate(str.maketrans("+/", "-_")) for form in encoded}
    forms = {value, *quoted, *lower_case, *escaped, *hexadecimal, *encoded}
    return {squeezed for form in forms if len(squeezed := "".join(form.split())) >= SHORTEST}


def _inside_base64(content: bytes, offset: int) -> str:
    """Returns what is the same of a value in every longer text in base64, with `offset` bytes before it."""
    encoded = base64.b64encode(bytes(offset) + content).decode()
    return encoded[-(-8 * offset // 6) : 8 * (offset + len(content)) // 6]


def text_chunks(data: Json) -> Iterator[str]:
    """Yields all texts of some data, keys too, many in one string."""
    waiting: list[Json] = [data]
    texts: list[str] = []
    length = 0
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            texts += value
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, str):
            texts.append(value)
            length += len(value)
        if length > _CHUNK:
            yield "\0".join(texts)
            texts, length = [], 0
    yield "\0".join(texts)


def _mapped(data: Json, redact: partial[str], *, is_name: bool = False) -> Json:
    """Returns data with every text redacted; `is_name` where a text is an identifier."""
    if isinstance(data, str):
        return redact(data, is_name=is_name)
    if isinstance(data, list):
        return [_mapped(item, redact, is_name=is_name) for item in data]
    if isinstance(data, dict):
        return {
            redact(key, is_name=True): _mapped(item, redact, is_name=key in _NAME_KEYS) for key, item in data.items()
        }
    return data


_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+")
_SECRET_NAME = re.compile(
    r"(?:^|_)(?:tokens?|secrets?|pass|passw(?:or)?d|passphrase|passcode|pwd|pin|otp|cred(?:ential)?s?|keys?|apikeys?|pat|"
    r"auth|authorization|cookies?|csrf|xsrf|sid|session|sessionid|sig|signature|jwt|bearer|salt)"
    r"(?:_(?:id|value|prod|production|staging|dev|test|live|b64|base64|\d+))*$"
)
_ORDINARY_NAME = re.compile(
    r"(?:^|_)(?:public|primary|foreign|partition|sort|cache|object|routing|map|max|min|num|page|next|previous|prev|"
    r"continuation|cursor|sync)_(?:tokens?|keys?)(?:_id)?$"
)
_NO_SECRETS = frozenset(
    {
        *("admin", "auto", "changeme", "default", "disabled", "enabled", "example", "false", "guest", "localhost"),
        *("none", "null", "password", "placeholder", "public", "root", "secret", "test", "token", "true", "user"),
    }
)
"""Values that everybody writes under the name of a secret, and that protect nothing."""

_USERINFO = re.compile(r"://(?P<user>[^/@:\s]*)(?::(?P<password>[^/@\s]*))?@")
_PAIR = re.compile(
    r"(?P<name>[A-Za-z_][\w.-]{1,60})[\"']?\s*[=:]\s*(?:(?:Bearer|Basic|Token)\s+)?[\"']?(?P<value>[^\s\"';&,]{4,4000})"
)
_SETTING = re.compile(r"(-{0,2}[A-Za-z_][\w.-]{0,100})=")
_PATH = re.compile(r"(?:[A-Za-z]:)?[\\/]|\.{1,2}[\\/]|~")
_ENCODED_PAIR = re.compile(r"basic\s+(\S+)", re.IGNORECASE)
_FORM_LENGTH = 8
"""Characters from which on a value can be a secret by its form."""


def is_secret_setting(name: str) -> bool:
    """True if a variable, header or option of this name holds a secret: `ACME_KEY`, `X-Auth-Token`."""
    words = "_".join(part for part in _CAMEL.split(name) if part).lower()
    if _ORDINARY_NAME.search(words):
        return False
    return _SECRET_NAME.search(words) is not None or is_secret_name(name)


def is_secret_form(value: str) -> bool:
    """True if a value is a credential of a known form, or generated characters."""
    if redact(value)[1]:
        return True
    return len(value) >= _FORM_LENGTH and _PATH.match(value) is None and not is_made_of_words(value)


def secrets_from_environment(given: Mapping[str, str], inherited: Mapping[str, str]) -> Secrets:
    """Returns the secrets among variables; an inherited one is the system's own unless its name says otherwise."""
    found: dict[str, str] = {}
    for name, value in inherited.items():
        found |= _of_variable(name, value, by_form=False)
    for name, value in given.items():
        found |= _of_variable(name, value)
    return Secrets(found)


def secrets_from_headers(headers: Iterable[tuple[str, str]]) -> Secrets:
    """Returns the secrets among headers; of a cookie or an authorization each part by itself."""
    found: dict[str, str] = {}
    for name, value in headers:
        place = f"the header {name}"
        if name.lower() in ("cookie", "set-cookie"):
            for cookie in value.split(";"):
                key, _, content = cookie.strip().partition("=")
                if is_secret_setting(key) or is_secret_form(content):
                    found[content] = place
        elif is_secret_setting(name):
            found[value.rpartition(" ")[2]] = place
            for password in _basic_password(value):
                found[password] = place
            found |= dict.fromkeys(_named_parts(value), place)
        else:
            found |= _of_value(value, place)
    return Secrets(found)


def secrets_from_url(url: str | None) -> Secrets:
    """Returns the secrets in a URL: user, password, values of its query and generated segments of its path.

    Some services put a user's key into the path.
    """
    try:
        parts = urlsplit(url or "")
        user, password = parts.username or "", parts.password or ""
    except ValueError:  # a port or a bracket that makes no sense
        return Secrets()
    found: dict[str, str] = {}
    for value in (password, f"{user}:{password}") if password else (user,):
        found |= dict.fromkeys((value, unquote(value)), "the user or password of the URL")
    for pair in parts.query.split("&"):
        name, equals, value = pair.partition("=")
        value = value if equals else name
        if not equals or is_secret_setting(unquote(name)) or is_secret_form(unquote(value)):
            shown = f"the parameter {unquote(name)} of the URL" if equals else "the query of the URL"
            found |= dict.fromkeys((value, unquote(value), unquote(value.replace("+", " "))), shown)
    for segment in parts.path.split("/"):
        if is_secret_form(unquote(segment)):
            found |= dict.fromkeys((segment, unquote(segment)), "a part of the URL's path")
    return Secrets({value: place for value, place in found.items() if value})


def published_url(url: str) -> str:
    """Returns a URL without credentials and query; `{secret}` is written for a secret in its path."""
    return secrets_from_url(url).hide_in_url(public_url(url))


def secrets_from_arguments(arguments: Iterable[str]) -> Secrets:
    """Returns the secrets among the arguments of a command: `--api-key VALUE`, `--dsn=…;Password=VALUE`, a URL's."""
    found = Secrets()
    secret_option = ""
    for argument in arguments:
        if secret_option and not argument.startswith("-"):
            found |= Secrets({argument: f"the argument {secret_option}"})
        elif argument.startswith(("http://", "https://")):
            found |= secrets_from_url(argument)
        elif "\n" not in argument:  # a script is not an argument that holds a setting
            setting = _SETTING.match(argument)
            name, value = (setting[1], argument[setting.end() :]) if setting is not None else ("", argument)
            place = f"the argument {name}" if name.startswith("-") else "an argument of the command"
            found |= Secrets(_of_variable(name, value, place))
        is_option = argument.startswith("-") and "=" not in argument
        secret_option = argument if is_option and is_secret_setting(argument) else ""
    return found


def secrets_from_variables(variables: Mapping[str, str]) -> Secrets:
    """Returns the secrets among values that were filled in for `${NAME}`."""
    return secrets_from_environment(variables, {})


def _of_variable(name: str, value: str, place: str = "", *, by_form: bool = True) -> dict[str, str]:
    place = place or f"the variable {name}"
    if is_secret_setting(name) and value.lower() not in {*_NO_SECRETS, *re.split(r"[^a-z0-9]+", name.lower())}:
        return {value: place, **_of_parts(value, place)}
    return _of_value(value, place) if by_form else _of_parts(value, place)


def _of_value(value: str, place: str) -> dict[str, str]:
    """Returns what is secret in a value whose name says nothing."""
    found = _of_parts(value, place)
    if not found and _json_from(value) is None and is_secret_form(value):
        found = {value: place}
    return found


def _of_parts(value: str, place: str) -> dict[str, str]:
    """Returns the secrets inside of a connection string, a URL, a list of settings or an object of JSON."""
    found: dict[str, str] = {}
    if (data := _json_from(value)) is not None:
        for name, text in _texts_of(data):
            found |= _of_variable(name, text, place, by_form=False)
        return found
    parts = {*_named_parts(value)}
    for match in _USERINFO.finditer(value):
        parts |= {match["password"], match[0][3:-1]} if match["password"] else {match["user"]}
    return {form: place for part in parts for form in (part, unquote(part)) if form}


def _texts_of(data: Json, name: str = "") -> Iterator[tuple[str, str]]:
    """Yields the strings in some JSON that are not prose, with the names of their members."""
    if isinstance(data, str) and " " not in data:
        yield name, data
    for key, item in data.items() if isinstance(data, dict) else ():
        yield from _texts_of(item, key)
    for item in data if isinstance(data, list) else ():
        yield from _texts_of(item, name)


def _json_from(value: str) -> Json:
    """Returns the object or list that a value is in JSON; `None` if it is something else."""
    if value.startswith(("{", "[")):
        with contextlib.suppress(ValueError, RecursionError):
            return json.loads(value)
    return None


def _named_parts(value: str) -> Iterator[str]:
    for match in _PAIR.finditer(value):
        if is_secret_setting(match["name"]):
            yield match["value"]


def _basic_password(header: str) -> Iterator[str]:
    """Yields what basic authentication encodes: the password, and it with its user."""
    if (match := _ENCODED_PAIR.fullmatch(header.strip())) is not None:
        with contextlib.suppress(ValueError):
            pair = base64.b64decode(match[1], validate=True).decode()
            yield from filter(None, {pair, pair.partition(":")[2]})
