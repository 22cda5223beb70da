"""Looks at every text of a service before anything is made of it (design, "Trust").

Three things are taken out, each with a problem that says where: characters that nobody sees, what looks like a
credential, and words that address the model instead of describing the tool. Those words are kept as quotations, which
the references show as what the source says; no other document has them. A name by which something is called stays as
it is, for no call would work with another; where it addresses the model or looks like another's, that is told.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

from skillgen.errors import Problem, ProblemLog
from skillgen.model.auth import Credential, EndpointVariable
from skillgen.model.calls import Example
from skillgen.model.resource import Event, Prompt, Resource
from skillgen.model.schema import NamedType, Parameter, Schema
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.traversal import TextIndex, TextRewriter, field_types, rewrite_pointers, rewrite_texts
from skillgen.model.values import Json, Quotation, child, last_token
from skillgen.security.addresses import is_private, origin_of
from skillgen.security.credentials import is_secret_name, looks_random, might_hold_credential, placeholder, redact
from skillgen.security.injection.detection import MAX_TEXT_LENGTH, find_injections, first_matching_rule
from skillgen.security.injection.patterns import Rule
from skillgen.text.markdown import one_line
from skillgen.text.summary import clip, leading_sentence
from skillgen.text.unicode import find_look_alikes, invisible_kinds, mixes_scripts, strip_invisible

_PARTS = ("groups", "tools", "resources", "resource_templates", "prompts", "events", "schemas")
"""Fields of a service whose items are looked at one by one."""

_CALLED_BY = frozenset(
    {
        *((Tool, "name"), (Tool, "path"), (Prompt, "name"), (Parameter, "name"), (NamedType, "name")),
        *((Event, name) for name in ("name", "tool", "address")),
        *((EndpointVariable, name) for name in ("name", "default", "choices")),
        (Credential, "scheme"),
        *((Resource, "uri"), (Schema, "ref"), (Schema, "includes"), (Schema, "discriminator")),
    }
)
"""Fields that must stay what they are."""

_WORDS = frozenset({"grants", "reversed_by", "scopes", "auth", "env", "bins", "os", "types", "format", "method"})
"""Fields that name something by one word, wherever they stand; a sentence there is no name."""

_RAW = frozenset({"input_schema", "raw", "extras"})
_LEFT_OUT = "[left out: it addresses the reader]"
_WITH_TEXT = frozenset({str, list, dict})
_LEFT_OUT_OF = placeholder("")[1:]
_SHOWN = 100

_HOST = re.compile(
    r"(?:(?<=://)|(?<=@)|(?<![\w.:@/-]))"
    r"(?P<host>(?:\d{1,3}\.){3}\d{1,3}|(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{3,8})(?P<port>:\d{2,5})?(?![\w-]|\.\w)"
)
_INTERNAL_NAMES = (".internal", ".lan", ".local", ".corp", ".intranet")
_INTERNAL = ("10.", "172.", "192.168.", *_INTERNAL_NAMES)
"""Parts of a text without which it names no internal host."""

_EXAMPLE_HOSTS = ("192.168.0.", "192.168.1.", "10.0.0.", "172.16.0.", "172.17.0.1", "host.docker.internal")
"""Beginnings of hosts that everybody's documentation names."""


def screen_service(service: Service) -> Service:
    """Gives a service that can be documented; what was taken out is among its problems."""
    return _Screening(service).service()


class _Screening:
    """Looks at one service."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._rest = _without_parts(service)
        self._texts = TextIndex()
        self._problems = ProblemLog()
        self._changes: dict[str, str] = {}
        self._kinds: dict[str, tuple[str, ...]] = {}
        self._voices: dict[str, Rule] = {}
        self._internal_hosts: dict[str, str] = {}
        self._quotations: list[Quotation] = []

    def service(self) -> Service:
        service = self._service
        for problem in service.problems:
            self._problems.add(problem)
        self._add_texts()
        known = self._texts.all()
        self._look_at(known)
        self._voices = find_injections(text for text in known if len(text) <= MAX_TEXT_LENGTH)
        for text in known:
            if len(text) > MAX_TEXT_LENGTH:
                self._voices.update((text, rule) for rule in find_injections((text[:MAX_TEXT_LENGTH],)).values())
        own = {origin[1] for url, _ in _addresses(service) if (origin := origin_of(url)) is not None}
        hosts = ((text, _internal_host(text)) for text in known)
        self._internal_hosts = {text: host for text, host in hosts if host is not None and host not in own}
        touched = frozenset(self._changes.keys() | self._voices.keys() | self._internal_hosts.keys())
        if touched:
            service = self._without(service, touched)
        self._look_at_names(service.tools)
        self._look_at_addresses(service)
        service = replace(service, problems=tuple(map(_told_safely, self._problems)))
        # A credential in a key of the source stands in the pointers to all that is below it.
        if any(problem.code == "credential-left-out" and _LEFT_OUT_OF in problem.where for problem in service.problems):
            service = rewrite_pointers(service, _pointer_without)
        return service

    def _add_texts(self) -> None:
        for name in _PARTS:
            for part in getattr(self._service, name):
                self._texts.add(part)
        self._texts.add(self._rest)
        for name, value in self._texts.members:
            if value.__class__ in _WITH_TEXT and is_secret_name(name):
                self._look_at_secret(value)
        parts: tuple[Tool | Prompt, ...] = (*self._service.tools, *self._service.prompts)
        for part in parts:
            for parameter in part.parameters:
                if is_secret_name(parameter.name):
                    schema = parameter.schema
                    self._look_at_secret([schema.default.json if schema.default else None, *schema.examples])

    def _look_at_secret(self, value: Json) -> None:
        """Looks at the value of a member that is named like a secret: itself, or those of a schema."""
        if isinstance(value, dict):
            value = [value.get(key) for key in ("default", "example", "const")]
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str) and looks_random(text):
                self._changes[text], self._kinds[text] = placeholder("secret"), ("secret",)

    def _look_at(self, texts: Iterable[str]) -> None:
        """Finds what is to be taken out of texts, wherever they stand."""
        for text in texts:
            if len(text) > MAX_TEXT_LENGTH:
                self._changes[text] = cut = text[:MAX_TEXT_LENGTH]
                self._look_at((cut,))
                self._changes[text] = self._changes.get(cut, cut)
                self._kinds[text] = self._kinds.get(cut, ())
                continue
            if invisible_kinds(text)[0]:
                self._changes[text] = strip_invisible(text)
            if might_hold_credential(text) and text not in self._kinds:
                safe, kinds = redact(self._changes.get(text, text))
                if kinds:
                    self._changes[text], self._kinds[text] = safe, kinds

    # -- what is changed ---------------------------------------------------------------------------------------------

    def _without(self, service: Service, touched: frozenset[str]) -> Service:
        """Gives the service without them. Only parts that may have one of the texts are walked again."""
        self._make_names_unique(service.tools)
        affected = self._texts.parts_with(touched)
        parts: dict[str, Any] = {
            name: tuple(self._part_without(item) if id(item) in affected else item for item in getattr(service, name))
            for name in _PARTS
        }
        rest = rewrite_texts(self._rest, self._changer()) if id(self._rest) in affected else self._rest
        quotations = (*service.quotations, *self._quotations)
        return replace(rest, **parts, quotations=tuple(dict.fromkeys(quotations)))

    def _part_without(self, part: Any) -> Any:
        outer, self._quotations = self._quotations, []
        before, part = part, rewrite_texts(part, self._changer())
        own, self._quotations = self._quotations, outer
        if isinstance(part, Tool):
            part = replace(part, examples=_still_exact(before.examples, part.examples))
        if not isinstance(part, (Tool, Resource, Prompt)):
            self._quotations += own
            return part
        return replace(part, quotations=tuple(dict.fromkeys((*part.quotations, *own)))) if own else part

    def _make_names_unique(self, tools: Iterable[Tool]) -> None:
        """Gives a tool whose name has invisible characters a name of its own, whatever the others are called."""
        names = {tool.name for tool in tools}
        taken = {name for name in names if name not in self._changes}
        for name in sorted(names & self._changes.keys()):
            shown = self._changes[name] or "unnamed"
            if shown in taken:
                shown = f"{shown}-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:6]}"
            self._changes[name] = shown
            taken.add(shown)

    def _changer(self) -> TextRewriter:
        """Gives what changes the texts of one part."""
        told: set[str] = set()

        def change(node: Any, field: str, text: str, pointer: str) -> str | None:
            safe = self._changes.get(text, text)
            rule = self._voices.get(text)
            host = self._internal_hosts.get(text)
            if safe is text and rule is None and host is None:
                return text
            where = _where(node, field, pointer, self._service)
            # The raw form comes last, and repeats what was told of the rest.
            is_told = text in told and field.partition(":")[0] in _RAW
            if host is not None and text not in told:
                self._report_internal_host(where, field, host)
            told.add(text)
            if safe is not text and not is_told:
                self._tell_change(where, field, text, safe, is_name=isinstance(node, Tool) and field == "name")
            return safe if rule is None else self._unvoiced(node, field, safe, rule, where, is_told=is_told)

        return change

    def _tell_change(self, where: str, field: str, old: str, new: str, *, is_name: bool) -> None:
        if len(old) > MAX_TEXT_LENGTH:
            self._problems.warning(
                "text-too-long",
                where,
                f"{_shown(field)} has {len(old):,} characters; what comes after {MAX_TEXT_LENGTH:,} is left out",
            )
        kinds, is_odd = invisible_kinds(old[:MAX_TEXT_LENGTH])
        if is_name and kinds:
            self._problems.warning(
                "name-not-exact",
                where,
                f"the name holds {' and '.join(kinds)}; it is shown as {new!r}, by which it can't be called",
                "give the tool a name that can be read",
            )
        elif kinds:
            tell = self._problems.warning if is_odd else self._problems.info
            tell("invisible-characters", where, f"{_shown(field)} holds {' and '.join(kinds)}; they are left out")
        for kind in self._kinds.get(old, ()):
            self._problems.warning(
                "credential-left-out",
                where,
                f"{_shown(field)} holds what looks like a credential ({kind}); a placeholder stands in its place",
                "take it out of the source, and revoke it if it is real",
            )

    def _report_internal_host(self, where: str, field: str, host: str) -> None:
        self._problems.warning(
            "internal-address",
            where,
            f"{_shown(field)} names {host}, which is in a private network; the documents hold it",
            "take it out of the source if it is not for everybody",
        )

    def _unvoiced(self, node: Any, field: str, text: str, rule: Rule, where: str, *, is_told: bool) -> str | None:
        """Gives what is left of a text that addresses the model."""
        kind: type = type(node)
        name = field.partition(":")[0]
        what = f"{_shown(field)} addresses the reader: it {rule.meaning} ({rule.code})"
        declared = field_types(kind).get(name, "")
        # A member of a JSON value is part of what is sent; the name of a package manager is not.
        is_member = field.endswith(":key") and not declared.startswith("Mapping")
        if (kind, name) in _CALLED_BY or (name in _WORDS and " " not in text.strip()) or is_member:
            if not is_told:
                self._problems.warning("name-addresses-reader", where, f"{what}; it is a name, so it stays as it is")
            return text
        head, tail = _divided(text)
        if not is_told:
            self._problems.warning(
                "addresses-reader",
                where,
                f"{what}; it is quoted in the references, llms-full.txt and ai-help.md, and left out everywhere else",
                "describe what the tool does, and leave orders to the user",
            )
            place = f"{node.name}.{name}" if isinstance(node, Parameter) else name
            self._quotations.append(Quotation(text=tail, field=place, rule=rule.code, pointer=where))
        if field.endswith(":key"):
            return None
        if declared.startswith(("Json", "Value", "Mapping", "tuple[Json")):
            return _LEFT_OUT
        if head:
            return head
        if declared == "str" or name == "group":
            digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:6]
            return "" if name in ("body", "text") else f"unnamed-{digest}"
        return None

    # -- what is told ------------------------------------------------------------------------------------------------

    def _look_at_names(self, tools: tuple[Tool, ...]) -> None:
        pointers = {tool.name: tool.pointer for tool in tools}
        for name, earlier in find_look_alikes(pointers):
            self._problems.warning(
                "name-look-alike",
                child(pointers[name], "name"),
                f"{name!r} looks like {earlier!r}, but is another name",
                "give one of them a name that nobody takes for the other",
            )
        for name in filter(mixes_scripts, pointers):
            self._problems.warning(
                "name-look-alike", child(pointers[name], "name"), f"{name!r} mixes letters of several alphabets"
            )

    def _look_at_addresses(self, service: Service) -> None:
        for url, pointer in _addresses(service):
            origin = origin_of(url)
            if origin is not None and is_private(origin[1]):
                self._problems.info(
                    "private-address",
                    pointer,
                    f"{origin[1]} is reached in a private network only; it is kept as declared",
                )


def _internal_host(text: str) -> str | None:
    """Returns the first host in a text that only a private network knows; `localhost` is everybody's own."""
    if not any(part in text for part in _INTERNAL):
        return None
    for match in _HOST.finditer(text[:MAX_TEXT_LENGTH]):
        host = match["host"].lower()
        is_address = match["port"] is not None or text[max(0, match.start() - 1) : match.start()] in ("/", "@")
        if host.startswith(_EXAMPLE_HOSTS) or not (is_address or host[-1].isdigit()):
            continue
        is_name = host.endswith(_INTERNAL_NAMES)
        if is_name or (host.startswith(_INTERNAL) and host[-1].isdigit() and is_private(host)):
            return host
    return None


def _told_safely(problem: Problem) -> Problem:
    """Gives a problem that tells no credential: a key of the source is in its pointer, a name in its message."""
    where, message = problem.where, problem.message
    # Most problems share the tokens of their pointers; each is scanned once.
    if not (any(map(_token_may_hold_credential, where.split("/"))) or might_hold_credential(message)):
        return problem
    return replace(problem, where=_pointer_without(where), message=redact(message)[0])


@lru_cache(1 << 12)
def _token_may_hold_credential(token: str) -> bool:
    return might_hold_credential(last_token(token))


def _pointer_without(pointer: str) -> str:
    """Gives a pointer in whose keys a placeholder stands for each credential."""
    keys = (redact(last_token(key))[0] for key in pointer.split("/"))
    return "/".join(child("", key)[1:] for key in keys)


def _without_parts(service: Service) -> Service:
    none: dict[str, Any] = dict.fromkeys(_PARTS, ())
    return replace(service, **none)


def _addresses(service: Service) -> Iterator[tuple[str, str]]:
    declared = (service.origins or {}).get("endpoints")
    pointer = declared.source if declared is not None else "/servers" if service.kind == "openapi" else "endpoints"
    for endpoint in service.endpoints:
        yield endpoint.url, pointer
    for tool in service.tools:
        for endpoint in tool.endpoints:
            yield endpoint.url, tool.pointer


def _divided(text: str) -> tuple[str, str]:
    """Divides a text where it begins to address the model: at a paragraph, or after its first sentence."""
    parts = re.split(r"(\n\s*\n)", text)
    for index in range(0, len(parts), 2):
        if first_matching_rule(parts[index]) is not None:
            head = "".join(parts[:index]).rstrip()
            break
    else:
        head = ""
    if not head:
        head = leading_sentence(text.lstrip())
        if head == text.lstrip() or first_matching_rule(head) is not None:
            return "", text.strip()
    return head, text.lstrip()[len(head.lstrip()) :].strip()


def _still_exact(before: tuple[Example, ...], after: tuple[Example, ...]) -> tuple[Example, ...]:
    """Gives the calls of which nothing was taken out: with a placeholder in it, one can't be sent any more."""
    pairs = zip(before, after, strict=True)
    return tuple(new for old, new in pairs if old.input == new.input and old.request == new.request)


def _where(node: Any, field: str, pointer: str, service: Service) -> str:
    """Gives the place of a text, below the nearest node that has a pointer."""
    name = field.partition(":")[0]
    if isinstance(node, Service):
        origin = (service.origins or {}).get(name)
        return origin.source if origin is not None and origin.kind == "declared" else name
    return child(pointer or type(node).__name__.lower(), name)


def _shown(field: str) -> str:
    return clip(one_line(field.partition(":")[0].replace("_", " ")), _SHOWN)
