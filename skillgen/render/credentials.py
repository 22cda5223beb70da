"""Environment variables that stand for credentials, and for an address that is not known, in examples."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import islice

from skillgen.markdown.filters import Markdown, code
from skillgen.model.access import Auth
from skillgen.model.service import Service
from skillgen.render.identity import skill_name

SHOWN_SCHEMES = 6
"""Security schemes whose variables SKILL.md names at the most."""

ADDRESS_VARIABLE = re.compile(r"\{([^{}/]+)\}")
"""What stands for a part of an address that the source leaves open."""

_KEYS = frozenset({"api-key"})
_LOGINS = frozenset({"basic", "digest"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """One way to authenticate, as examples use it."""

    auth: Auth
    """What the source says of it."""

    variables: tuple[str, ...]
    """Names of environment variables: one, or those of a user and a password."""


def credentials(service: Service) -> dict[str, Credential]:
    """Returns how examples authenticate, by the name of the security scheme; each scheme has its own variables."""
    schemes = {auth.name: auth for auth in reversed(service.requirements.auth) if auth.name is not None}
    kinds = Counter(map(_words, schemes.values()))
    found = {}
    for name in reversed(schemes):
        auth = schemes[name]
        words = _words(auth)
        prefix = variable(service, name) if kinds[words] > 1 else variable(service)
        found[name] = Credential(auth=auth, variables=tuple(f"{prefix}_{word}" for word in words))
    return found


def example_variables(service: Service) -> list[Markdown]:
    """Returns the environment variables of the examples, each with what to put there."""
    if not any(example.request is not None for tool in service.tools for example in tool.examples):
        return []
    found = []
    if not any(endpoint.url.startswith(("http://", "https://")) for endpoint in service.endpoints):
        found.append(Markdown(f"{code(variable(service, 'BASE_URL'))} (the URL of the service)"))
    addresses, known = list(_address_variables(service)), credentials(service)
    for name in addresses[:SHOWN_SCHEMES]:
        found.append(Markdown(f"{code(variable(service, name))} (the value for {code(f'{{{name}}}')} in the URL)"))
    for name, credential in islice(known.items(), SHOWN_SCHEMES):
        names = " and ".join(code(item) for item in credential.variables)
        kind = " and ".join(word.lower().replace("_", " ").replace("api", "API") for word in _words(credential.auth))
        found.append(Markdown(f"{names} (the {kind} for {code(name)})"))
    left = sum(max(len(names) - SHOWN_SCHEMES, 0) for names in (addresses, known))
    return [*found, Markdown(f"{left:,} more in the examples of the tools")] if left else found


def _address_variables(service: Service) -> dict[str, None]:
    """Gives the variables in the addresses that the examples call which have no value of their own."""
    called = [tool.endpoints or service.endpoints for tool in service.tools]
    return dict.fromkeys(name for held in called if held for name in ADDRESS_VARIABLE.findall(held[0].url))


def variable(service: Service, *more: str) -> str:
    """Returns the name of an environment variable of a service: `SKILL_ACME_TASKS`.

    A source chooses the rest of the name. With the prefix it never names a variable of another program, whose value an
    example would then send to the source.
    """
    text = "_".join((skill_name(service), *more))
    return "SKILL_" + re.sub(r"[^A-Z0-9]+", "_", text.upper()).strip("_")


def _words(auth: Auth) -> tuple[str, ...]:
    if auth.kind in _LOGINS:
        return ("USER", "PASSWORD")
    if auth.kind == "mutualTLS":
        return ("CERTIFICATE", "KEY_FILE")
    return ("API_KEY",) if auth.kind in _KEYS else ("TOKEN",)
