"""Stores the login to a server, its tokens and what refreshing them needs, in a file that only its owner can read."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from msgspec import Struct

from skillgen.errors import OutputError
from skillgen.model.values import Json
from skillgen.sources.http import write_private
from skillgen.sources.json_access import as_dict

StoredLogin = dict[str, Json]
"""`url`, `tokens` (RFC 6749, 5.1), `expires_at` (seconds since the epoch), `client` (RFC 7591, 3.2.1), `resource`
(RFC 9728), `issuer` and `metadata` (RFC 8414), `trusted_issuer` (which may receive the secret of the user's client)."""


class LoginFile(Struct, frozen=True):
    """The file that stores the login to one server."""

    url: str
    path: Path

    def read(self) -> StoredLogin:
        """Returns the stored login; empty if the file is missing or damaged, which requires a new login."""
        try:
            login = json.loads(self.path.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return login if isinstance(login, dict) and login.get("url") == self.url else {}

    def secrets(self) -> frozenset[str]:
        """Returns the stored tokens and the secret of a registered client."""
        login = self.read()
        tokens, client = as_dict(login.get("tokens")), as_dict(login.get("client"))
        values = (tokens.get("access_token"), tokens.get("refresh_token"), client.get("client_secret"))
        return frozenset(value for value in values if isinstance(value, str))

    def write(self, login: StoredLogin) -> None:
        """Stores a login.

        Raises:
            OutputError: the folder is not writable.
        """
        try:
            write_private(self.path, json.dumps({"url": self.url, **login}).encode())
        except OSError as error:
            what = f"the login cannot be stored: {error.strerror}"
            fix = "check its permissions, or name another folder with XDG_CONFIG_HOME"
            raise OutputError(what, where=str(self.path.parent), fix=fix) from None

    def delete(self) -> bool:
        """Deletes the file; returns false if it does not exist.

        Raises:
            OutputError: the file cannot be deleted.
        """
        try:
            self.path.unlink()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise OutputError(f"cannot be deleted: {error.strerror}", where=str(self.path)) from None
        return True


def login_file(url: str) -> LoginFile:
    """Returns the file of the login to a server, in the user's configuration folder, named by a digest of the URL."""
    from platformdirs import user_config_path  # only here: few servers need a login

    parts = urlsplit(url)
    plain = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2].lower(), fragment=""))
    name = hashlib.sha256(plain.encode("utf-8")).hexdigest()[:32]
    return LoginFile(plain, user_config_path("skillgen", appauthor=False, roaming=True) / "logins" / f"{name}.json")
