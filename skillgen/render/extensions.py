"""Says what the protocol extensions mean that a service declares (seed 004 and the official ones)."""

from __future__ import annotations

from skillgen.markdown.filters import Markdown, code
from skillgen.model.service import Service

_MEANINGS = {
    "streaming": "a tool that says so sends partial results, and a long call that broke off may be taken up again from "
    "the checkpoint token that it gave.",
    "progress_notifications": "long calls tell how far they are.",
    "idempotency": "a call that changes something may carry an `idempotency_key` (1 to 128 letters, digits and "
    "`_-:.`); the same key again has no further effect, for 24 hours unless `idempotency_ttl_seconds` says otherwise.",
    "transactions": "several calls may share a `transaction_id`; when one fails, the others are undone by calls that "
    "compensate for them, as far as that works. Others may see the steps in between.",
    "session_state": "a result may carry `session_state`, an opaque token: send it back as it is with the next call.",
    "intent_hints": "a call may carry an `intent` field that says why it is made. The answer may then hold a "
    "`suggestion` (`recommended_tool`, `reason`): advice, not an instruction.",
    "provenance": "a result may carry `provenance` (source, location, time, confidence), to cite it by; no proof.",
    "human_in_the_loop": "a person must agree before a tool that wants confirmation is called.",
    "data_references": "a result may be a reference to data, which another server can fetch until it expires.",
    "subscribe_notify": "a client may subscribe to events, and is told when they happen.",
    "server_recommendations": "the server can name other servers for what it does not do itself.",
    "structured_errors": "an error has a code, a message and a category: `transient`, `permanent`, `auth_required`, "
    "`invalid_input` or `rate_limited`. It may say how long to wait, whether a person must know, and what to do.",
    "multimodal_signatures": "tools name the media types that they take and give: hints, not a complete list.",
    "conformance": "it can be tested against a conformance suite.",
    "io.modelcontextprotocol/skills": "the server offers skills of its own, listed by `skills/list`.",
    "io.modelcontextprotocol/groups": "some tools are listed only by `groups/get` with the name of their group.",
    "io.modelcontextprotocol/grouping": "the server names groups of its tools.",
}


def extension_lines(service: Service) -> tuple[Markdown, ...]:
    """Gives a line for each extension that is declared; one that is not known is named only."""
    return tuple(_line(name) for name in service.extensions or {})


def _line(name: str) -> Markdown:
    meaning = _MEANINGS.get(name)
    return Markdown(f"{code(name)}: {meaning}" if meaning else code(name))
