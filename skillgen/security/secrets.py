"""Finds the secrets in variables, headers, arguments and URLs that the user passes, and redacts them in all output.

A value is secret by the name of its variable or header, or by its form: a known credential, or generated characters.
An ordinary setting (`AWS_REGION=us-east-1`) is not.

Secrets are redacted in the forms in which a careless source echoes them: literal; quoted for a URL or for HTML; escaped
for JSON; in base64, also within a longer string. This is no defence against a malicious server, which can write between
the characters of a secret, or encode it.
"""

from __future__ import annotations

import base64
import contextlib
import ipaddress
import ntpath
import os
import socket
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from html import unescape
from pathlib import Path
from urllib.parse import quote, unquote, unquote_plus, urljoin, urlsplit, urlunsplit

from msgspec.structs import replace

from skillgen.errors import Problem, ProblemLog, SkillgenError, UsageError
from skillgen.model.credentials import forms_of, origin_of
from skillgen.model.values import Json
from skillgen.security.credentials import HIDDEN, joined_words, redact
from skillgen.text import lazy_re as re
from skillgen.text.markdown import shown_forms
from skillgen.text.unicode import printable

_LOOPBACK_NAMES = ("localhost", "localdomain", "ip6-localhost", "ip6-loopback")

_PRIVATE_DOMAINS = ("local", "internal", "intranet", "private", "corp", "home", "lan", "home.arpa", "svc")
"""Domains of private networks (RFC 6762 appendix G, RFC 8375) and of Kubernetes."""

_NUMERIC = re.compile(r"[0-9a-fx.]{1,60}")
"""Strings that may be passed to `inet_aton`, which ignores everything after a space."""

_TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")
"""NAT64: the last 32 bits are the IPv4 address that is reached (RFC 6052)."""

_ISATAP = 0x00005EFE
"""Bits 64 to 95 of an address whose last 32 bits are an IPv4 address (RFC 5214, 6.1); bit 6 is free."""

_UNICAST = ipaddress.IPv6Network("2000::/3")

_RESERVED = tuple(map(ipaddress.ip_network, ("192.0.0.0/24", "192.88.99.0/24", "3fff::/20")))
"""Special-purpose blocks that some Python releases call global."""

_URL_LOGIN = re.compile(r"(?<=:)//[^/?#]*@")


def public_url(url: str) -> str:
    """Returns a URL without user, password, query and fragment, which may all hold secrets."""
    try:
        parts = urlsplit(url)
    except ValueError:  # an invalid port or bracket; an invalid URL is not shown
        return url.partition(":")[0] + "://…"
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def without_credentials(url: str) -> str:
    """Returns a URL without user and password."""
    try:
        parts = urlsplit(url)
    except ValueError:  # an invalid bracket, such as that of a placeholder
        return _URL_LOGIN.sub("//", url, count=1)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2])) if "@" in parts.netloc else url


def resolve_url(base: str, reference: str) -> tuple[str, str]:
    """Returns the absolute URL of a reference, and its fragment; an invalid URL is returned unchanged."""
    with suppress(ValueError):  # an invalid bracket
        reference = urljoin(base, reference)
    url, _, fragment = reference.partition("#")
    return url, fragment


def decoded_path(url: str) -> str:
    """Returns the percent-decoded path of a URL; empty if it has no path."""
    try:
        return unquote(urlsplit(url).path)
    except ValueError:  # an invalid bracket
        return ""


def host_of(url: str | None) -> str | None:
    """Returns the host of a URL, in lower case."""
    try:
        return urlsplit(url or "").hostname or None
    except ValueError:
        return None


_DOMAIN = re.compile(r"(?=.{1,253}\Z)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]")


def checked_domain(domain: str, where: str) -> str:
    """Returns a domain that the user names, in lower case.

    Raises:
        UsageError: it is something else, such as a URL.
    """
    if not _DOMAIN.fullmatch(domain.lower()):
        raise UsageError(f"{domain!r} is not a domain", where=where, fix="write a domain such as acme.com")
    return domain.lower()


def icon_objection(source: str, trusted_hosts: Iterable[str]) -> str | None:
    """Returns why a document must not link an icon; `None` if it may (SEP-973, "Security considerations").

    An icon may be a data: URL, or be on the domain of the service: `api.acme.com` may have one on `acme.com`.
    """
    scheme = source.partition(":")[0].strip().lower()
    if scheme == "data":
        is_image = source.partition(":")[2].lstrip().lower().startswith("image/")
        return None if is_image else "the data: URL is not an image"
    if scheme != "https":
        return "only https: and data: URLs are linked"
    if without_credentials(source) != source:
        return "the URL has a user name or a password"
    return host_objection(source, trusted_hosts)


def host_objection(url: str, trusted_hosts: Iterable[str]) -> str | None:
    """Returns why a document must not link a URL by its host; `None` if a trusted one is on its domain, or above it."""
    host = host_of(url)
    if host is None:
        return "the URL has no host"
    hosts = tuple(dict.fromkeys(trusted_hosts))
    if any(_is_within(host, trusted) or _is_within(trusted, host) for trusted in hosts):
        return None
    return f"its host {host[:80]} is not the server's" + (f", {hosts[0]}" if hosts else "")


def _is_within(host: str, domain: str) -> bool:
    domain = domain.removeprefix("www.")
    return host == domain or ("." in domain and host.endswith(f".{domain}"))


def hosts_of(urls: Iterable[str]) -> frozenset[str]:
    """Returns the hosts of URLs, as `Network.named` takes them."""
    return frozenset(origin[1] for url in urls if (origin := origin_of(url)) is not None)


def is_private(host: str) -> bool:
    """True if a host, by its name alone, is this machine or in a private network."""
    address = literal_address(host)
    if address is not None:
        return not is_public_address(address)
    return f".{_normalised_host(host)}".endswith(tuple(f".{name}" for name in (*_LOOPBACK_NAMES, *_PRIVATE_DOMAINS)))


def is_loopback(url: str) -> bool:
    """True if the host of a URL is this machine, by its name alone."""
    host = host_of(url) or ""
    address = literal_address(host)
    return _normalised_host(host) in _LOOPBACK_NAMES if address is None else address.is_loopback


def _normalised_host(host: str) -> str:
    """Returns a host as resolvers read it: lower case, ASCII digits and dots (UTS #46), without a trailing dot."""
    return unicodedata.normalize("NFKC", host).replace("\u3002", ".").lower().strip("[]").rstrip(".")


def literal_address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Returns the IP address that a host is, also in the forms of inet_aton(3): `127.1`, `2130706433`, `0x7f000001`."""
    text = _normalised_host(host).partition("%")[0]
    with suppress(ValueError):
        return ipaddress.ip_address(text)
    if not _NUMERIC.fullmatch(text):
        return None
    try:
        return ipaddress.IPv4Address(socket.inet_aton(text))
    except OSError:
        return None


def is_public_address(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """True if the address, and the IPv4 address that it embeds, are globally reachable (IANA's registries)."""
    if any(address in network for network in _RESERVED):
        return False
    if isinstance(address, ipaddress.IPv4Address):
        return address.is_global and not address.is_multicast
    number = int(address)
    if address.ipv4_mapped is not None or address in _TRANSLATED:
        return is_public_address(ipaddress.IPv4Address(number & 0xFFFFFFFF))
    if address.sixtofour is not None:
        return is_public_address(address.sixtofour)
    if number >> 32 & 0xFDFFFFFF == _ISATAP and not is_public_address(ipaddress.IPv4Address(number & 0xFFFFFFFF)):
        return False
    # Everything outside of 2000::/3 is reserved, local or multicast, whatever the Python release knows about it.
    return address in _UNICAST and address.is_global


_MIN_LENGTH = 4
"""Characters of the shortest value that is redacted; shorter values are flags and numbers."""

_MIN_ENCODED_LENGTH = 8
"""Characters of the shortest encoded form that is redacted, of a value made of words."""

HIDDEN_IN_URL = "{secret}"
"""The placeholder in a URL, in the syntax of a URI template variable."""

_EXCERPT_LIMIT = 4_000
"""Characters of a text that are searched for secrets before a message quotes it."""

_NAME_KEYS = frozenset({
    *("name", "uri", "uriTemplate", "enum", "const", "required", "type", "format", "method", "operationId", "tags"),
    *("in", "$ref", "$id", "$anchor", "propertyName", "reverseMethod", "protocolVersion", "mimeType", "pattern"),
})  # fmt: skip
"""Keys whose values are identifiers: with a word replaced, a call or a reference would fail."""

_ALNUM_RUN = re.compile(r"[A-Za-z0-9]+")
_LETTERS = re.compile(r"[A-Za-z]+")
_WORD = re.compile(r"[A-Z]|[a-z]*(?:[A-Z]+[a-z]+)*(?:[A-Z]{2,})?")
_HUMP = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_NUMBERED_WORD = re.compile(r"[A-Za-z]{1,12}[0-9]{1,8}|[0-9]{1,8}[A-Za-z]{1,12}|[A-Za-z0-9]{1,8}")
_MAX_WORD, _MAX_NUMBER = 30, 15
"""Characters of what people write as a word, or as a number, such as `20250514`."""

_MIN_LETTERS_PER_HUMP = 2.5
"""Letters per hump of a camel-case word; generated strings change case more often."""

_MIN_GENERATED = 6
"""Characters outside of words and numbers that make a value generated."""


def is_made_of_words(value: str) -> bool:
    """True if a value is words, numbers and versions (`us-east-1`, `gpt-4o-mini`), not generated characters."""
    return sum(len(piece) for piece in _ALNUM_RUN.findall(value) if not _is_word(piece)) < _MIN_GENERATED


def _is_word(piece: str) -> bool:
    if piece.isdigit():
        return len(piece) <= _MAX_NUMBER
    if not all(map(_WORD.fullmatch, _LETTERS.findall(piece))):
        return False
    if not piece.isalpha():
        return _NUMBERED_WORD.fullmatch(piece) is not None
    is_camel = len(piece) < _MIN_LETTERS_PER_HUMP * len(_HUMP.findall(piece))
    return len(piece) <= _MAX_WORD and not (is_camel and len(piece) > 8)


class Secrets:
    """Secret values, each with its origin for messages: "the variable API_KEY".

    A value made of words is redacted only as a separate word, and never in an identifier: "customers" may be a
    password and part of every tool's name.
    """

    def __init__(self, values: Mapping[str, str] | None = None) -> None:
        self._origins: dict[str, str] = {}
        for value, origin in (values or {}).items():
            for line in _lines(value):
                self._origins.setdefault(line, origin)
        words = {value: origin for value, origin in self._origins.items() if is_made_of_words(value)}
        forms = {form: item for item in self._origins.items() for form in forms_of(item[0])}
        self._found: dict[str, str] = {
            form: origin
            for form, (value, origin) in forms.items()
            if len(form) >= (_MIN_ENCODED_LENGTH if value in words else _MIN_LENGTH) and form not in words
        }
        """The origin of what is redacted, in each of its forms."""
        exact = _one_of(self._found)
        self._exact = re.compile(exact)
        self._any = re.compile(rf"{exact}|(?<![^\W_])(?:{_one_of(words)})(?![^\W_])")
        self._found |= words

    def __or__(self, other: Secrets) -> Secrets:
        """Returns the union; on equal values the origin in this one is used."""
        return Secrets({**other._origins, **self._origins})

    def __bool__(self) -> bool:
        return bool(self._origins)

    def hide(self, text: str) -> str:
        """Returns a string with the secrets and credentials redacted."""
        return self._redact(redact(text)[0], set())

    def hide_in_url(self, url: str) -> str:
        """Returns a URL with a template variable for each secret."""
        return self.hide(url).replace(HIDDEN, HIDDEN_IN_URL)

    def hide_in(self, data: Json) -> tuple[Json, tuple[str, ...]]:
        """Returns data with the secrets redacted, and the origins of those that were in it."""
        if not self:
            return data, ()
        origins: set[str] = set()
        redacted_data = _map_strings(data, lambda text, is_name: self._redact(text, origins, is_name=is_name))
        return redacted_data, tuple(sorted(origins))

    def excerpt(self, text: str, max_characters: int = 300) -> str:
        """Returns the start of a text, with secrets and credentials redacted, for a message.

        Both are redacted before the text is cut, since a part of a value would not be found.
        """
        return printable(self.hide(printable(text, _EXCERPT_LIMIT)), max_characters)

    def hide_in_problem(self, problem: Problem) -> Problem:
        """Returns a problem with the secrets redacted."""
        where = self._redact(problem.where, set(), is_name=True)
        fix = problem.fix and self.hide(problem.fix)
        return replace(problem, where=where, message=self.hide(problem.message), fix=fix) if self else problem

    @contextlib.contextmanager
    def redact_errors(self) -> Iterator[None]:
        """Redacts the secrets in any `SkillgenError` that is raised inside."""
        try:
            yield
        except SkillgenError as error:
            error.what = self.hide(error.what)
            error.where = error.where and self._redact(error.where, set(), is_name=True)
            error.fix = error.fix and self.hide(error.fix)
            error.args = (error.what,)
            raise

    def _redact(self, text: str, origins: set[str], *, is_name: bool = False) -> str:
        pattern = self._exact if is_name else self._any
        forms = [plain := unescape(text), *shown_forms(plain)] if "&" in text or "<" in text else []
        if any(map(pattern.search, forms)):  # quoted for HTML, or written as HTML
            text = forms[-1]
        if not (found := pattern.findall(text)):
            return text
        origins.update(self._found[form] for form in found)
        # Before the secrets: with a part replaced, a credential is not recognised any more.
        return pattern.sub(HIDDEN, text if is_name else redact(text)[0])


def _one_of(forms: Iterable[str]) -> str:
    """Returns the expression for any of some strings, the longest first."""
    return "|".join(map(re.escape, sorted(forms, key=lambda form: (-len(form), form)))) or "(?!)"


def report_echoed_secrets(problems: ProblemLog, origins: Iterable[str]) -> None:
    """Reports the secrets that a source echoes."""
    if names := ", ".join(origins):
        message = f"The source repeats a secret that was passed to it: {names}. A placeholder is written in its place."
        problems.report("secret-echoed", "", message)


def report_url_secret(problems: ProblemLog) -> None:
    """Reports that a secret in a URL is redacted in the documents."""
    message = f"The path of the URL seems to hold a secret. {HIDDEN_IN_URL} is written in its place."
    problems.report("url-secret-left-out", "", message)


def _lines(value: str) -> Iterator[str]:
    """Yields the lines of a value that are secret; in several lines, words are not: the header of a key is public."""
    lines = [line.strip() for line in value.splitlines()]
    for line in lines:
        if len(line) >= _MIN_LENGTH and (len(lines) == 1 or not is_made_of_words(line)):
            yield line


def _map_strings(data: Json, change: Callable[[str, bool], str], *, is_name: bool = False) -> Json:
    """Returns data with every string changed by a function that also takes whether it is an identifier."""
    if isinstance(data, str):
        return change(data, is_name)
    if isinstance(data, list):
        return [_map_strings(item, change, is_name=is_name) for item in data]
    if isinstance(data, dict):
        return {change(key, True): _map_strings(item, change, is_name=key in _NAME_KEYS) for key, item in data.items()}
    return data


def _shortener(working_folder: Path | None) -> Callable[[str], str]:
    """Returns a function that writes `.` for this folder, or the current one, and `~` for the home folder in a text.

    A path is found as complete parts of one; on Windows with any slashes and in any case.
    """
    forms: dict[str, str] = {}
    home = os.path.expanduser("~")  # noqa: PTH111
    for folder, short in ((str((working_folder or Path()).absolute()), "."), (home, "~")):
        for path in (folder, os.path.realpath(folder), quote(folder)):
            drive, rest = ntpath.splitdrive(path)
            parts = re.split(r"[\\/]+" if drive else "/+", rest.rstrip("\\/"))
            joined = (r"[\\/]{1,2}" if drive else "/").join(map(re.escape, parts))
            if any(parts):
                forms.setdefault(f"(?i:{re.escape(drive)}{joined})" if drive else joined, short)
    ordered = sorted(forms, key=len, reverse=True)  # one folder may be within the other
    groups, shorts = "|".join(f"({form})" for form in ordered) or "((?!))", [forms[form] for form in ordered]
    pattern = re.compile(rf"(?:(?<=file://)|(?<![\w.~/\\}}-]))(?:{groups})(?!\.?[\w-])")
    return lambda text: pattern.sub(lambda match: shorts[(match.lastindex or 1) - 1], text)


def without_own_folders(data: Json, working_folder: Path | None = None) -> Json:
    """Returns data with `.` for the folder in which a source was started, and `~` for the home folder.

    Documents would differ with the machine that writes them. Identifiers, URIs, choices and patterns keep them, and so
    does a default that is one of the choices: a call needs them.
    """
    identifiers, found = set[str](), dict[str, str]()
    shortened = _shortener(working_folder)

    def collect(text: str, is_name: bool) -> str:
        if is_name:
            identifiers.add(text)
        elif ("/" in text or "\\" in text or "%" in text) and (short := shortened(text)) != text:
            found[text] = short
        return text

    _map_strings(data, collect)
    found = {text: short for text, short in found.items() if text not in identifiers}
    return _map_strings(data, lambda text, _: found.get(text, text)) if found else data


_SECRET_NAME = re.compile(
    r"(?:^|_)(?:[a-z]{0,20}tokens?|secrets?|pass|passw(?:or)?d|passphrase|passcode|pwd|pin|otp|cred(?:ential)?s?|keys?|"
    r"apikeys?|pat|auth|authorization|cookies?|csrf|xsrf|sid|session|sessionid|sig|signature|jwt|bearer|salt)"
    r"(?:_(?:id|value|prod|production|staging|dev|test|live|b64|base64|\d+))*$"
)
_ORDINARY_NAME = re.compile(
    r"(?:^|_)(?:public|primary|foreign|partition|sort|cache|object|routing|map|max|min|num|page|next|previous|prev|"
    r"continuation|cursor|sync)_(?:tokens?|keys?)(?:_id)?$"
)
_PUBLIC_VALUES = frozenset(
    {
        *("admin", "auto", "changeme", "default", "disabled", "enabled", "example", "false", "guest", "localhost"),
        *("none", "null", "password", "placeholder", "public", "root", "secret", "test", "token", "true", "user"),
    }
)
"""Common values of secret variables that protect nothing."""

_USERINFO = re.compile(r"://(?P<user>[^/@:\s]*)(?::(?P<password>[^/@\s]*))?@")
_PAIR = re.compile(
    r"(?P<name>[A-Za-z_][\w.-]{1,60})[\"']?\s*[=:]\s*(?:(?:Bearer|Basic|Token)\s+)?[\"']?(?P<value>[^\s\"';&,]{4,4000})"
)
_SETTING = re.compile(r"(-{0,2}[A-Za-z_][\w.-]{0,100})=")
_PATH = re.compile(r"(?:[A-Za-z]:)?[\\/]|\.{1,2}[\\/]|~")
_ENCODED_PAIR = re.compile(r"basic\s+(\S+)", re.IGNORECASE)
_MIN_GENERATED_LENGTH = 8
"""Characters of the shortest value that is secret by its form."""


def is_secret_setting(name: str) -> bool:
    """True if a variable, header or option of this name holds a secret: `ACME_KEY`, `X-Auth-Token`."""
    words = joined_words(name)
    return _SECRET_NAME.search(words) is not None and _ORDINARY_NAME.search(words) is None


def looks_secret(value: str) -> bool:
    """True if a value has a known credential form, or is generated characters."""
    if redact(value)[1]:
        return True
    return len(value) >= _MIN_GENERATED_LENGTH and _PATH.match(value) is None and not is_made_of_words(value)


def secrets_from_environment(passed: Mapping[str, str], inherited: Mapping[str, str] | None = None) -> Secrets:
    """Returns the secrets in variables; an inherited variable is secret only by its name."""
    origins: dict[str, str] = {}
    for variables, by_form in ((inherited or {}, False), (passed, True)):
        for name, value in variables.items():
            origins |= _of_variable(name, value, by_form=by_form)
    return Secrets(origins)


def secrets_from_headers(headers: Iterable[tuple[str, str]]) -> Secrets:
    """Returns the secrets in headers; each part of a cookie or an authorization is a secret."""
    origins: dict[str, str] = {}
    for name, value in headers:
        found = {*_of_variable("", value)}
        if is_secret_setting(name):
            cookies = (cookie.partition("=")[2] for cookie in value.split(";"))
            found |= {value.rpartition(" ")[2], *_basic_password(value), *_parts(value), *filter(looks_secret, cookies)}
        origins |= dict.fromkeys(found, f"the header {name}")
    return Secrets(origins)


def secrets_from_url(url: str | None) -> Secrets:
    """Returns the secrets in a URL: user, password, query values and generated path segments.

    Some services put a user's key into the path.
    """
    try:
        parts = urlsplit(url or "")
        user, password = parts.username or "", parts.password or ""
    except ValueError:  # an invalid port or bracket
        return Secrets()
    found = dict.fromkeys((password, f"{user}:{password}") if password else (user,), "the user or password of the URL")
    for pair in parts.query.split("&"):
        name, equals, value = pair.partition("=")
        if not equals:
            found[name] = "the query of the URL"
        elif is_secret_setting(unquote(name)) or looks_secret(unquote(value)):
            found[value] = f"the parameter {unquote(name)} of the URL"
    found |= {part: "a part of the URL's path" for part in parts.path.split("/") if looks_secret(unquote(part))}
    forms = ((form, origin) for value, origin in found.items() for form in (value, unquote(value), unquote_plus(value)))
    return Secrets({form: origin for form, origin in forms if form})


def published_url(url: str) -> str:
    """Returns a URL without credentials and query; `{secret}` replaces a secret in its path."""
    return secrets_from_url(url).hide_in_url(public_url(url))


def secrets_from_arguments(arguments: Iterable[str]) -> Secrets:
    """Returns the secrets in the arguments of a command: `--api-key VALUE`, `--dsn=…;Password=VALUE`, URLs."""
    secrets = Secrets()
    secret_option = ""
    for argument in arguments:
        if secret_option and not argument.startswith("-"):
            secrets |= Secrets({argument: f"the argument {secret_option}"})
        elif argument.startswith(("http://", "https://")):
            secrets |= secrets_from_url(argument)
        elif "\n" not in argument:  # a script is not a setting
            setting = _SETTING.match(argument)
            name, value = (setting[1], argument[setting.end() :]) if setting is not None else ("", argument)
            origin = f"the argument {name}" if name.startswith("-") else "an argument of the command"
            secrets |= Secrets(_of_variable(name, value, origin))
        is_option = argument.startswith("-") and "=" not in argument
        secret_option = argument if is_option and is_secret_setting(argument) else ""
    return secrets


def _of_variable(name: str, value: str, origin: str = "", *, by_form: bool = True) -> dict[str, str]:
    """Returns the secrets in the value of a variable, by its name, by what is inside of it, or by its form."""
    found = [*_parts(value)]
    is_public = value.lower() in {*_PUBLIC_VALUES, *re.split(r"[^a-z0-9]+", name.lower())}
    is_form = by_form and not found and not value.startswith(("{", "[")) and looks_secret(value)
    is_folder = name in ("PWD", "OLDPWD") and _PATH.match(value) is not None  # those of a shell
    if is_form or (is_secret_setting(name) and not is_public and not is_folder):
        found.append(value)
    return dict.fromkeys(found, origin or f"the variable {name}")


def _parts(value: str) -> Iterator[str]:
    """Yields the secrets inside a connection string, a URL, a list of settings or a JSON object."""
    parts = [match["value"] for match in _PAIR.finditer(value) if is_secret_setting(match["name"])]
    for match in _USERINFO.finditer(value):
        parts += [match["password"], match[0][3:-1]] if match["password"] else [match["user"]]
    yield from filter(None, (form for part in parts for form in (part, unquote(part))))


def _basic_password(header: str) -> Iterator[str]:
    """Yields the password of basic authentication, and `user:password`."""
    if (match := _ENCODED_PAIR.fullmatch(header.strip())) is not None:
        with contextlib.suppress(ValueError):
            pair = base64.b64decode(match[1], validate=True).decode()
            yield from filter(None, {pair, pair.partition(":")[2]})
