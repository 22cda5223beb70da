"""Finds the secrets among what a user gives: variables, headers, arguments and URLs.

A value is a secret by the name of its variable or header, or by its form: a known credential, or generated characters.
An ordinary setting (`AWS_REGION=us-east-1`) is not.
"""

from __future__ import annotations

import base64
import contextlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import unquote, urlsplit

from skillgen.markdown.credentials import is_secret_name, redacted
from skillgen.model.value import Json
from skillgen.sources.addresses import public_url
from skillgen.sources.secrets import Secrets, is_made_of_words

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


def names_secret(name: str) -> bool:
    """True if a variable, header or option of this name holds a secret: `ACME_KEY`, `X-Auth-Token`."""
    words = "_".join(part for part in _CAMEL.split(name) if part).lower()
    if _ORDINARY_NAME.search(words):
        return False
    return _SECRET_NAME.search(words) is not None or is_secret_name(name)


def is_secret_form(value: str) -> bool:
    """True if a value is a credential of a known form, or generated characters."""
    if redacted(value)[1]:
        return True
    return len(value) >= _FORM_LENGTH and _PATH.match(value) is None and not is_made_of_words(value)


def secrets_of_environment(given: Mapping[str, str], inherited: Mapping[str, str]) -> Secrets:
    """Returns the secrets among variables; an inherited one is the system's own unless its name says otherwise."""
    found: dict[str, str] = {}
    for name, value in inherited.items():
        found |= _of_variable(name, value, by_form=False)
    for name, value in given.items():
        found |= _of_variable(name, value)
    return Secrets(found)


def secrets_of_headers(headers: Iterable[tuple[str, str]]) -> Secrets:
    """Returns the secrets among headers; of a cookie or an authorization each part by itself."""
    found: dict[str, str] = {}
    for name, value in headers:
        place = f"the header {name}"
        if name.lower() in ("cookie", "set-cookie"):
            for cookie in value.split(";"):
                key, _, content = cookie.strip().partition("=")
                if names_secret(key) or is_secret_form(content):
                    found[content] = place
        elif names_secret(name):
            found[value.rpartition(" ")[2]] = place
            for password in _basic_password(value):
                found[password] = place
            found |= dict.fromkeys(_named_parts(value), place)
        else:
            found |= _of_value(value, place)
    return Secrets(found)


def secrets_of_url(url: str | None) -> Secrets:
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
        if not equals or names_secret(unquote(name)) or is_secret_form(unquote(value)):
            shown = f"the parameter {unquote(name)} of the URL" if equals else "the query of the URL"
            found |= dict.fromkeys((value, unquote(value), unquote(value.replace("+", " "))), shown)
    for segment in parts.path.split("/"):
        if is_secret_form(unquote(segment)):
            found |= dict.fromkeys((segment, unquote(segment)), "a part of the URL's path")
    return Secrets({value: place for value, place in found.items() if value})


def published_url(url: str) -> str:
    """Returns a URL without credentials and query; `{secret}` is written for a secret in its path."""
    return secrets_of_url(url).hide_in_url(public_url(url))


def secrets_of_arguments(arguments: Iterable[str]) -> Secrets:
    """Returns the secrets among the arguments of a command: `--api-key VALUE`, `--dsn=…;Password=VALUE`, a URL's."""
    found = Secrets()
    secret_option = ""
    for argument in arguments:
        if secret_option and not argument.startswith("-"):
            found |= Secrets({argument: f"the argument {secret_option}"})
        elif argument.startswith(("http://", "https://")):
            found |= secrets_of_url(argument)
        elif "\n" not in argument:  # a script is not an argument that holds a setting
            setting = _SETTING.match(argument)
            name, value = (setting[1], argument[setting.end() :]) if setting is not None else ("", argument)
            place = f"the argument {name}" if name.startswith("-") else "an argument of the command"
            found |= Secrets(_of_variable(name, value, place))
        is_option = argument.startswith("-") and "=" not in argument
        secret_option = argument if is_option and names_secret(argument) else ""
    return found


def secrets_of_variables(variables: Mapping[str, str]) -> Secrets:
    """Returns the secrets among values that were filled in for `${NAME}`."""
    return secrets_of_environment(variables, {})


def _of_variable(name: str, value: str, place: str = "", *, by_form: bool = True) -> dict[str, str]:
    place = place or f"the variable {name}"
    if names_secret(name) and value.lower() not in {*_NO_SECRETS, *re.split(r"[^a-z0-9]+", name.lower())}:
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
        if names_secret(match["name"]):
            yield match["value"]


def _basic_password(header: str) -> Iterator[str]:
    """Yields what basic authentication encodes: the password, and it with its user."""
    if (match := _ENCODED_PAIR.fullmatch(header.strip())) is not None:
        with contextlib.suppress(ValueError):
            pair = base64.b64decode(match[1], validate=True).decode()
            yield from filter(None, {pair, pair.partition(":")[2]})
