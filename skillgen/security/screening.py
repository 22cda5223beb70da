"""Screens every string of a service before it is rendered (design, "Trust").

Three things are removed, each with a problem that names its location: invisible characters, credentials, and text that
addresses the model instead of describing the tool (prompt injection). The last becomes a quotation, which only the
references, llms-full.txt and ai-help.md show, in its place. A name by which something is called never
changes, since no call would work with another name; a name that addresses the model or imitates another is reported.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Any

from msgspec.structs import replace

from skillgen.errors import Problem, ProblemLog
from skillgen.model.auth import Credential, EndpointVariable
from skillgen.model.credentials import origin_of
from skillgen.model.document import DEFAULT_SCREENING
from skillgen.model.resource import Event, Prompt, Resource
from skillgen.model.schema import CommandSyntax, NamedType, Parameter, Schema
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.traversal import (
    PROSE_FIELDS,
    TextIndex,
    TextRewriter,
    field_types,
    place_of,
    rewrite_pointers,
    rewrite_texts,
)
from skillgen.model.values import Json, Quotation, child, last_token
from skillgen.security.addresses import is_private
from skillgen.security.credentials import is_secret_name, looks_random, might_hold_credential, placeholder, redact
from skillgen.security.injection.detection import MAX_TEXT_LENGTH, find_injections, searched_part
from skillgen.security.injection.passages import Passage, split_passages
from skillgen.security.injection.patterns import Rule
from skillgen.text.markdown import one_line
from skillgen.text.summary import clip
from skillgen.text.unicode import find_look_alikes, invisible_kinds, mixes_scripts, strip_invisible

_PARTS = ("groups", "tools", "resources", "resource_templates", "prompts", "events", "schemas")
"""Fields of a service whose items are screened one by one."""

_IDENTIFIER_FIELDS = frozenset(
    {
        *((Tool, "name"), (Tool, "path"), (Prompt, "name"), (Parameter, "name"), (NamedType, "name")),
        *((Event, name) for name in ("name", "tool", "address")),
        *((EndpointVariable, name) for name in ("name", "default", "choices")),
        *((CommandSyntax, name) for name in ("value", "word", "aliases", "negations", "variables")),
        *((Tool, "command"), (Credential, "scheme")),
        *((Resource, "uri"), (Schema, "ref"), (Schema, "includes"), (Schema, "discriminator")),
    }
)
"""Fields that never change: calls and references need them exactly."""

_ONE_WORD_FIELDS = frozenset(
    {"grants", "reversed_by", "scopes", "auth", "env", "bins", "os", "types", "format", "method"}
)
"""Fields of any node that are identifiers if they have one word; a sentence there is screened."""

_RAW_FIELDS = frozenset({"input_schema", "raw", "extras"})
_REMOVED_VALUE = "[left out: a text like an instruction]"
_CREDENTIAL_SUFFIX = placeholder("")[1:]
_VALUE_FIELDS = _RAW_FIELDS | {"body", "default", "examples", "input", "value"}

_BY_NAME = "by its name"
"""The kind of a credential that only the name of its parameter or member shows."""

_MAX_FIELD_LABEL = 100
_JOINED_CHARACTERS = 200
"""Characters of two texts that are searched together: the end of one and the start of the next."""

_HOST = re.compile(
    r"(?:(?<=://)|(?<=@)|(?<![\w.:@/-]))"
    r"(?P<host>(?:\d{1,3}\.){3}\d{1,3}|(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{3,8})(?P<port>:\d{2,5})?(?![\w-]|\.\w)"
)
_INTERNAL_NAMES = (".internal", ".lan", ".local", ".corp", ".intranet")
_INTERNAL = ("10.", "172.", "192.168.", *_INTERNAL_NAMES)
"""A text without any of these names no internal host."""

_EXAMPLE_HOSTS = ("192.168.0.", "192.168.1.", "10.0.0.", "172.16.0.", "172.17.0.1", "host.docker.internal")
"""Prefixes of hosts that are common in documentation."""


def screen_service(service: Service, screening: str = DEFAULT_SCREENING) -> Service:
    """Returns a service that is safe to render; its problems report everything that was removed.

    `screening` is one of `SCREENINGS`: what happens to text that addresses the model.
    """
    return _Screening(service, screening).service()


class _Screening:
    """The screening of one service."""

    def __init__(self, service: Service, screening: str) -> None:
        self._service = service
        self._screening = screening
        empty: dict[str, Any] = dict.fromkeys(_PARTS, ())
        self._rest = replace(service, **empty)
        self._texts = TextIndex()
        self._problems = ProblemLog()
        self._changes: dict[str, str] = {}
        self._cuts: dict[str, str] = {}
        """Each text that is too long, with its beginning."""
        self._kinds: dict[str, tuple[str, ...]] = {}
        self._injections: dict[str, Rule] = {}
        self._undivided: set[str] = set()
        self._internal_hosts: dict[str, str] = {}
        self._quotations: list[Quotation] = []

    def service(self) -> Service:
        service = self._service
        for problem in service.problems:
            self._problems.add(problem)
        self._add_texts()
        texts = self._texts.all()
        self._find_changes(texts)
        if self._screening != "off":
            self._find_injections(texts)
        own_hosts = {origin[1] for url, _ in _endpoint_urls(service) if (origin := origin_of(url)) is not None}
        hosts = ((text, _internal_host(text)) for text in texts)
        self._internal_hosts = {text: host for text, host in hosts if host is not None and host not in own_hosts}
        affected_texts = frozenset(self._changes.keys() | self._injections.keys() | self._internal_hosts.keys())
        if affected_texts:
            service = self._rewrite(service, affected_texts)
        self._report_look_alikes(service.tools)
        self._report_private_endpoints(service)
        service = replace(service, problems=tuple(map(_redact_problem, self._problems)))
        # A credential in a key of the source is in every pointer below that key.
        leaks = (problem.where for problem in service.problems if problem.code == "credential-left-out")
        if any(_CREDENTIAL_SUFFIX in where for where in leaks):
            service = rewrite_pointers(service, _redact_pointer)
        return service

    def _find_injections(self, texts: Iterable[str]) -> None:
        # The help of a program that the user runs is shown verbatim, in a code block.
        verbatim = {tool.help for tool in self._service.tools if tool.help is not None}
        verbatim |= {section.body for section in self._service.sections} if verbatim else set()
        skipped = verbatim | self._cuts.keys()
        self._injections = find_injections(text for text in texts if text not in skipped)
        for text, cut in self._cuts.items():
            self._injections.update((text, rule) for rule in find_injections((cut,)).values())
        self._find_divided_injections()

    def _find_divided_injections(self) -> None:
        """Finds the texts of a tool that address the model only together with the next one, which continues them."""
        joined: dict[str, tuple[tuple[str, str], tuple[str, str]]] = {}
        for tool in self._service.tools:
            fields = (tool.title, tool.summary, tool.description, *(item.description for item in tool.parameters))
            for texts in pairwise(filter(None, fields)):
                if texts[0].endswith((".", "!", "?")) or texts[1][0].isupper():
                    continue
                end, start = map(self._remainder, texts)
                parts = end.rstrip()[-_JOINED_CHARACTERS:], start.lstrip()[:_JOINED_CHARACTERS]
                joined[" ".join(parts)] = texts, parts
        for text, rule in find_injections(joined).items():
            texts, parts = joined[text]
            if not find_injections(parts):
                self._injections |= dict.fromkeys(texts, rule)
                self._undivided |= set(texts)

    def _remainder(self, text: str) -> str:
        """Returns what remains of a text."""
        safe = self._changes.get(text, text)
        return split_passages(safe)[0] if text in self._injections else safe

    def _add_texts(self) -> None:
        for name in _PARTS:
            for part in getattr(self._service, name):
                self._texts.add(part)
        self._texts.add(self._rest)
        objects = self._texts.objects
        secret_names = frozenset(filter(is_secret_name, set().union(*objects)))
        for item in objects:
            for name in secret_names.intersection(item):
                self._redact_secret_values(item[name])
        parts: tuple[Tool | Prompt, ...] = (*self._service.tools, *self._service.prompts)
        for part in parts:
            for parameter in part.parameters:
                if is_secret_name(parameter.name):
                    schema = parameter.schema
                    self._redact_secret_values([schema.default.json if schema.default else None, *schema.examples])

    def _redact_secret_values(self, value: Json) -> None:
        """Redacts the values of a member that is named like a secret, also those that its schema shows."""
        if isinstance(value, dict):
            value = [value.get(key) for key in ("default", "example", "const")]
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str) and looks_random(text):
                self._changes[text], self._kinds[text] = placeholder("secret"), (_BY_NAME,)

    def _find_changes(self, texts: Iterable[str]) -> None:
        """Finds the texts to cut, with invisible characters or with credentials, and what replaces them."""
        for text in texts:
            if (cut := searched_part(text)) != text:
                self._changes[text] = self._cuts[text] = cut
                self._find_changes((cut,))
                self._changes[text] = self._changes.get(cut, cut)
                self._kinds[text] = self._kinds.get(cut, ())
                continue
            if invisible_kinds(text)[0]:
                self._changes[text] = strip_invisible(text)
            if might_hold_credential(text) and text not in self._kinds:
                safe, kinds = redact(self._changes.get(text, text))
                if kinds:
                    self._changes[text], self._kinds[text] = safe, kinds

    def _rewrite(self, service: Service, affected_texts: frozenset[str]) -> Service:
        """Returns the service with these texts changed. Only parts that may have one of them are walked again."""
        self._make_names_unique(service.tools)
        affected = self._texts.parts_with(affected_texts)
        parts: dict[str, Any] = {
            name: tuple(self._rewrite_part(item) if id(item) in affected else item for item in getattr(service, name))
            for name in _PARTS
        }
        rest = rewrite_texts(self._rest, self._rewriter()) if id(self._rest) in affected else self._rest
        quotations = (*service.quotations, *self._quotations)
        return replace(rest, **parts, quotations=tuple(dict.fromkeys(quotations)))

    def _rewrite_part(self, part: Any) -> Any:
        outer, self._quotations = self._quotations, []
        before, part = part, rewrite_texts(part, self._rewriter())
        part_quotations, self._quotations = self._quotations, outer
        if isinstance(part, Tool):
            # A call with a placeholder cannot be sent.
            pairs = zip(before.examples, part.examples, strict=True)
            kept = (new for old, new in pairs if old.input == new.input and old.request == new.request)
            part = replace(part, examples=tuple(kept))
        if not isinstance(part, (Tool, Resource, Prompt)):
            self._quotations += part_quotations
            return part
        if not part_quotations:
            return part
        return replace(part, quotations=tuple(dict.fromkeys((*part.quotations, *part_quotations))))

    def _make_names_unique(self, tools: Iterable[Tool]) -> None:
        """Makes names without their invisible characters unique among the tools."""
        names = {tool.name for tool in tools}
        taken = {name for name in names if name not in self._changes}
        for name in sorted(names & self._changes.keys()):
            shown = self._changes[name] or "unnamed"
            if shown in taken:
                shown = f"{shown}-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:6]}"
            self._changes[name] = shown
            taken.add(shown)

    def _rewriter(self) -> TextRewriter:
        """Returns the function that rewrites the texts of one part and reports each change once."""
        reported: set[str] = set()

        def change(node: Any, field: str, text: str, pointer: str) -> str | None:
            safe = self._changes.get(text, text)
            rule = self._injections.get(text)
            host = self._internal_hosts.get(text)
            if safe is text and rule is None and host is None:
                return text
            where = place_of(node, field, pointer)
            # The raw fields come last and repeat texts of the other fields.
            is_reported = text in reported and field.partition(":")[0] in _RAW_FIELDS
            is_value = field.partition(":")[0] in _VALUE_FIELDS  # an address there is mostly an example of one
            if host is not None and text not in reported and (f"//{host}" in text.lower() or not is_value):
                message = f"{_label(field)} names {host}, which is in a private network; the documents hold it"
                self._problems.report("internal-address", where, message)
            reported.add(text)
            if safe is not text and not is_reported:
                self._report_change(where, field, text, safe, is_name=isinstance(node, Tool) and field == "name")
            if rule is None:
                return safe
            return self._quote_injection(node, field, safe, rule, where, is_reported=is_reported)

        return change

    def _report_change(self, where: str, field: str, old: str, new: str, *, is_name: bool) -> None:
        used = self._cuts.get(old, old)
        if used != old:
            message = f"{_label(field)} has {len(old):,} characters; only the first {len(used):,} are used"
            self._problems.report("text-too-long", where, message)
        kinds, is_odd = invisible_kinds(used)
        if is_name and kinds:
            message = f"the name holds {' and '.join(kinds)}; it is shown as {new!r}, which cannot be called"
            self._problems.report("name-not-exact", where, message)
        elif kinds:
            code = "suspicious-characters" if is_odd else "invisible-characters"
            self._problems.report(code, where, f"{_label(field)} holds {' and '.join(kinds)}; they are left out")
        for kind in self._kinds.get(old, ()):
            message = f"{_label(field)} holds what looks like a credential ({kind}); a placeholder replaces it"
            # An example that only the name of its parameter makes a secret is nearly always a fictitious one.
            is_example = kind == _BY_NAME and field.partition(":")[0] in _VALUE_FIELDS
            self._problems.report("example-not-shown" if is_example else "credential-left-out", where, message)

    def _quote_injection(
        self, node: Any, field: str, text: str, rule: Rule, where: str, *, is_reported: bool
    ) -> str | None:
        """Returns the rest of a text that addresses the model, and records what was removed as a quotation."""
        kind: type = type(node)
        name = field.partition(":")[0]
        what = f"{_label(field)} may address the reader, like a text that {rule.meaning} ({rule.code})"
        declared = field_types(kind).get(name, "")
        # A key of a JSON value is sent; a key of a mapping of the model, such as a package manager, is not.
        is_member = field.endswith(":key") and not declared.startswith("Mapping")
        if (kind, name) in _IDENTIFIER_FIELDS or (name in _ONE_WORD_FIELDS and " " not in text.strip()) or is_member:
            if not is_reported:
                self._problems.report("name-addresses-reader", where, f"{what}; it is a name, so it is not changed")
            return text
        is_quoted = self._screening == DEFAULT_SCREENING
        if not is_reported:
            outcome = "it is quoted in the references, llms-full.txt and ai-help.md, and left out everywhere else"
            message = f"{what}; {outcome if is_quoted else 'it stays in its place (option `screen`)'}"
            self._problems.report("addresses-reader", where, message)
        if not is_quoted:
            return text
        rest, passages = ("", (Passage(text, 0),)) if text in self._undivided else split_passages(text)
        if not is_reported:
            label = f"{node.name}.{name}" if isinstance(node, Parameter) else name
            self._quotations += (
                Quotation(text=item.text, field=label, rule=rule.code, pointer=where, rest=rest, at=item.at)
                for item in passages
            )
        if field.endswith(":key"):
            return None
        if declared.startswith(("Json", "Value", "Mapping", "tuple[Json")):
            return _REMOVED_VALUE
        if rest or name in PROSE_FIELDS:
            return rest
        if declared == "str" or name == "group":
            digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:6]
            return f"unnamed-{digest}"
        return None

    def _report_look_alikes(self, tools: tuple[Tool, ...]) -> None:
        pointers = {tool.name: tool.pointer for tool in tools}
        for name, earlier in find_look_alikes(pointers):
            message = f"{name!r} looks like {earlier!r}, but is another name"
            self._problems.report("name-look-alike", child(pointers[name], "name"), message)
        for name in filter(mixes_scripts, pointers):
            self._problems.report(
                "name-look-alike", child(pointers[name], "name"), f"{name!r} mixes letters of several alphabets"
            )

    def _report_private_endpoints(self, service: Service) -> None:
        for url, pointer in _endpoint_urls(service):
            origin = origin_of(url)
            if origin is not None and is_private(origin[1]):
                message = f"{origin[1]} is reached only in a private network; it is documented as declared"
                self._problems.report("private-address", pointer, message)


def _internal_host(text: str) -> str | None:
    """Returns the first host of a private network in a text; `localhost` does not count."""
    if "." not in text or not any(part in text for part in _INTERNAL):
        return None
    for match in _HOST.finditer(text[:MAX_TEXT_LENGTH]):
        host = match["host"].lower()
        is_address = match["port"] is not None or text[max(0, match.start() - 1) : match.start()] in ("/", "@")
        # Without a port or a scheme, it is mostly an example of an address, or a file.
        if host.startswith(_EXAMPLE_HOSTS) or not is_address:
            continue
        is_name = host.endswith(_INTERNAL_NAMES)
        if is_name or (host.startswith(_INTERNAL) and host[-1].isdigit() and is_private(host)):
            return host
    return None


def _redact_problem(problem: Problem) -> Problem:
    """Redacts credentials in a problem: its pointer has keys of the source, its message names."""
    where, message = problem.where, problem.message
    # Most problems share the tokens of their pointers; each is scanned once.
    if not (any(map(_token_may_hold_credential, where.split("/"))) or might_hold_credential(message)):
        return problem
    return replace(problem, where=_redact_pointer(where), message=redact(message)[0])


@lru_cache(1 << 12)
def _token_may_hold_credential(token: str) -> bool:
    return might_hold_credential(last_token(token))


def _redact_pointer(pointer: str) -> str:
    """Returns a pointer with the credentials in its keys redacted."""
    keys = (redact(last_token(key))[0] for key in pointer.split("/"))
    return "/".join(child("", key)[1:] for key in keys)


def _endpoint_urls(service: Service) -> Iterator[tuple[str, str]]:
    declared = (service.origins or {}).get("endpoints")
    pointer = declared.source if declared is not None else "/servers" if service.kind == "openapi" else "endpoints"
    for endpoint in service.endpoints:
        yield endpoint.url, pointer
    for tool in service.tools:
        for endpoint in tool.endpoints:
            yield endpoint.url, tool.pointer


def _label(field: str) -> str:
    return clip(one_line(field.partition(":")[0].replace("_", " ")), _MAX_FIELD_LABEL)
