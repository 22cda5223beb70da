"""Fetches a document: again when a busy server says so, and only for what changed since the last time."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone

from skillgen.sources.addresses import hosts_of, public_url
from skillgen.sources.cache import Kept, keep, kept_for
from skillgen.sources.network import Fetched, Network, StatusError
from skillgen.sources.secrets import Secrets

RETRY_LIMIT = 2
"""How often a server that is busy is asked again."""

WAIT_LIMIT_S = 60.0
"""The longest wait for a server that is busy, all together; less where one request may take less."""

ACCEPT = "application/yaml, application/json, application/vnd.oai.openapi, application/*+json, text/yaml, */*;q=0.5"
GUARDED = (401, 403)
"""Statuses of what wants a credential."""

TOO_MANY = 429
"""The status of a server that was asked too often."""

BUSY = (TOO_MANY, 503)
"""Statuses of a server that may say when to ask again (RFC 9110, 10.2.3)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """How documents are asked for."""

    timeout_s: float = 30.0
    """How long one request may take."""

    headers: Sequence[tuple[str, str]] = field(default=(), repr=False)
    """Headers of the user's own, which may hold secrets; sent to the origin of the first request only."""

    secrets: Secrets = field(default_factory=Secrets, repr=False)
    """What of the headers and of the address no document may hold, also where a server repeats it."""

    def without_headers(self) -> Access:
        """Gives the same for a server that is not the user's."""
        return replace(self, headers=())


def fetch(url: str, access: Access, *, is_named: bool = True) -> Fetched:
    """Fetches a document; `is_named` tells that the user gave this address, so that it may be in a private network.

    Raises:
        SourceError: it cannot be reached or must not be; a `StatusError` where the server answered with a failure.
    """
    network = Network(
        named=hosts_of([url]) if is_named else frozenset(), timeout_s=access.timeout_s, headers=dict(access.headers)
    )
    # A document that is behind a credential is not kept in a cache.
    is_open = not access.headers and not access.secrets
    kept = kept_for(url) if is_open else None
    waited_s = 0.0
    for attempt in range(RETRY_LIMIT + 1):
        try:
            found = network.fetch(url, accept=ACCEPT, conditions=kept.conditions if kept is not None else {})
        except StatusError as error:
            wait_s = asked_wait_s(error.retry_after, datetime.now(timezone.utc)) if error.status in BUSY else None
            if wait_s is None or attempt == RETRY_LIMIT or waited_s + wait_s > min(WAIT_LIMIT_S, access.timeout_s):
                raise _advised(error, public_url(url)) from None
            waited_s += wait_s
            time.sleep(wait_s)
        else:
            return _settled(url, found, kept, is_open)
    raise AssertionError("the last attempt returns or raises")


def asked_wait_s(retry_after: str | None, now: datetime) -> float | None:
    """Reads `Retry-After`, seconds or a date (RFC 9110, 10.2.3); `None` where it says nothing that can be read."""
    if retry_after is None:
        return None
    if retry_after.strip().isascii() and retry_after.strip().isdigit():
        return float(retry_after.strip()[:9])
    from email.utils import parsedate_to_datetime

    try:
        moment = parsedate_to_datetime(retry_after)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    return max(0.0, (moment - now).total_seconds())


def _settled(url: str, found: Fetched, kept: Kept | None, is_open: bool) -> Fetched:
    if found.status == 304:
        if kept is None:
            raise StatusError("says that it is unchanged, and was never read", where=public_url(url), status=304)
        return Fetched(content=kept.content, url=found.url, content_type=found.content_type)
    if is_open and not found.no_store:
        keep(url, Kept(etag=found.etag, last_modified=found.last_modified, content=found.content))
    return found


def _advised(error: StatusError, where: str) -> StatusError:
    """Returns the error with what to do about it."""
    fix = error.fix
    if error.status in GUARDED:
        fix = "give what it asks for with --header"
    elif error.status in BUSY:
        asked = f"; it says Retry-After: {error.retry_after[:40]}" if error.retry_after else ""
        fix = f"run it again later{asked}"
    return StatusError(error.what, where=where, fix=fix, status=error.status, retry_after=error.retry_after)
