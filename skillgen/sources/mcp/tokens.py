"""What is kept of a login for the next run: the tokens, and what renewing them takes. Readable by its owner alone."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from skillgen.errors import OutputError
from skillgen.model.values import Json

StoredLogin = dict[str, Json]
"""`url`, `tokens` (RFC 6749, 5.1), `expires_at` (seconds since the epoch), `client` (RFC 7591, 3.2.1), `resource`
(RFC 9728), `issuer` and `metadata` (RFC 8414), `trusted_issuer` (which may get the secret of the user's client)."""


@dataclass(frozen=True, slots=True)
class LoginFile:
    """Where the login to one server is kept."""

    url: str
    """The server's endpoint."""

    path: Path
    """The file."""

    def read(self) -> StoredLogin:
        """Gives what is kept; nothing where there is none, or where it is damaged: then one logs in anew."""
        try:
            kept = json.loads(self.path.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return kept if isinstance(kept, dict) and kept.get("url") == self.url else {}

    def secrets(self) -> frozenset[str]:
        """Gives the tokens that are kept, and the secret of a client that was registered."""
        kept = self.read()
        tokens, client = kept.get("tokens"), kept.get("client")
        found = [tokens.get(name) for name in ("access_token", "refresh_token")] if isinstance(tokens, dict) else []
        found += [client.get("client_secret")] if isinstance(client, dict) else []
        return frozenset(value for value in found if isinstance(value, str))

    def write(self, kept: StoredLogin) -> None:
        """Keeps a login.

        Raises:
            OutputError: the folder cannot be written.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            # A temporary file is made with mode 0600: at no moment can others read it.
            handle, name = tempfile.mkstemp(prefix=".login-", dir=self.path.parent)
            temporary = Path(name)
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    json.dump({"url": self.url, **kept}, file)
                temporary.replace(self.path)
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise
        except OSError as error:
            raise OutputError(
                f"the login cannot be kept: {error.strerror}",
                where=str(self.path.parent),
                fix="check its permissions, or name another folder with XDG_CONFIG_HOME",
            ) from None

    def forget(self) -> bool:
        """Deletes what is kept, and tells whether there was anything."""
        try:
            self.path.unlink()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise OutputError(f"cannot be deleted: {error.strerror}", where=str(self.path)) from None
        return True


def login_file(url: str) -> LoginFile:
    """Gives where the login to a server is kept: in the user's configuration folder, named by a digest of the URL."""
    parts = urlsplit(url)
    plain = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2].lower(), fragment=""))
    name = hashlib.sha256(plain.encode("utf-8")).hexdigest()[:32]
    return LoginFile(plain, _configuration_folder() / "skillgen" / "logins" / f"{name}.json")


def _configuration_folder() -> Path:
    if named := os.environ.get("XDG_CONFIG_HOME"):
        return Path(named)
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    return Path.home() / (".config" if sys.platform != "darwin" else "Library/Application Support")
