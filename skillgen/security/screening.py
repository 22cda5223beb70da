"""Screens every string of a service before it is rendered (design, "Trust").

Three things are removed, each with a problem that names its location: invisible characters, credentials, and text that
addresses the model instead of describing the tool (prompt injection). The last becomes a quotation, which only the
references, llms-full.txt and ai-help.md show, in its place. A name by which something is called never
changes, since no call would work with another name; a name that addresses the model is reported.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain
from typing import Any

from msgspec import Struct
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
from skillgen.model.values import Quotation, child, last_token
from skillgen.security.credentials import is_secret_name, looks_random, placeholder, redact
from skillgen.security.injection import MAX_TEXT_LENGTH, Passage, Rule, find_injections, without_passages
from skillgen.security.secrets import hosts_of, is_private
from skillgen.text.blocks import dedent_docstring
from skillgen.text.markdown import one_line, shown_forms
from skillgen.text.summary import clip
from skillgen.text.unicode import invisible_kinds, strip_invisible

_PARTS = ("groups", "tools", "resources", "resource_templates", "prompts", "events", "schemas")
"""Fields of a service whose items are screened one by one."""

_IDENTIFIER_FIELDS = frozenset({
    *((Tool, "name"), (Tool, "path"), (Prompt, "name"), (Parameter, "name"), (NamedType, "name")),
    *((Event, name) for name in ("name", "tool", "address")),
    (EndpointVariable, "name"),
    *((CommandSyntax, name) for name in ("value", "word", "aliases", "negations", "variables")),
    *((Tool, "command"), (Credential, "scheme")),
    *((Resource, "uri"), (Schema, "ref"), (Schema, "includes"), (Schema, "discriminator")),
})  # fmt: skip
"""Fields that never change: calls and references need them exactly."""

_ONE_WORD = frozenset({"grants", "reversed_by", "scopes", "auth", "env", "bins", "os", "types", "format", "method"})
"""Fields of any node that are identifiers if they have one word; a sentence there is screened."""

_RAW_FIELDS = frozenset({"input_schema", "raw", "extras"})
_REMOVED_VALUE = "[left out: a text like an instruction]"
_CREDENTIAL_SUFFIX = placeholder("")[1:]
_VALUE_FIELDS = _RAW_FIELDS | {"body", "default", "examples", "input", "value"}

_BY_NAME = "by its name"
"""The kind of a credential that only the name of its parameter or member shows."""

_SHOWN = frozenset({"default", "example", "const"})
"""Keywords of a schema that show a value of a member that is named like a secret."""

_UNUSUAL = re.compile(r"[^\n -$'-/;>?\[\\^-~](?:(?<![A-Z])|(?<=\S{8}.)|(?=\S{8}))")
"""A digit, a mark of markup or of an address, an invisible character, or a capital in a long word."""

_MAX_FIELD_LABEL = 100
_HOST = re.compile(
    r"(?:(?P<start>(?<=://)|(?<=@))|(?<![\w.:@/-]))"
    r"(?P<host>(?:\d{1,3}\.){3}\d{1,3}|(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{3,8})(?P<port>:\d{2,5})?(?![\w-]|\.\w)"
)
_INTERNAL_NAMES = (".internal", ".lan", ".local", ".corp", ".intranet")
_INTERNAL_NETWORKS = ("10.", "172.", "192.168.")
_INTERNAL = (*_INTERNAL_NETWORKS, *_INTERNAL_NAMES)
_OPERATOR = re.compile(r"[;|&`\n]|\$\(|[<>](?![=\d])")
"""What begins another command of a shell, or writes a file; not the range of a version."""

_EXAMPLE_HOSTS = ("192.168.0.", "192.168.1.", "10.0.0.", "172.16.0.", "172.17.0.1", "host.docker.internal")
"""Prefixes of hosts that are common in documentation."""


def screen_service(service: Service, screening: str = DEFAULT_SCREENING) -> Service:
    """Returns a service that is safe to render; its problems report everything that was removed.

    `screening` is one of `SCREENINGS`: what happens to text that addresses the model.
    """
    return _Screening(service, screening).service()


class _Finding(Struct):
    """What is wrong with a text."""

    safe: str
    """The text that replaces it."""

    kinds: tuple[str, ...] = ()
    """The kinds of the credentials in it."""

    passages: tuple[Passage, ...] = ()
    """What addresses the model, in the text that replaces it."""

    weak: Rule | None = None
    """A rule of whose words it has some, although it speaks to nobody."""

    host: str | None = None
    """A host of a private network that it names."""


class _Screening:
    """The screening of one service."""

    def __init__(self, service: Service, screening: str) -> None:
        self._service = service
        self._screening = screening
        empty: dict[str, Any] = dict.fromkeys(_PARTS, ())
        self._rest = replace(service, **empty)
        self._texts = TextIndex()
        self._problems, self._advice = ProblemLog(), ProblemLog()
        self._findings: dict[str, _Finding] = {}
        self._quotations: list[Quotation] = []

    def service(self) -> Service:
        service = self._service
        self._problems.add(*service.problems)
        for name in _PARTS:
            for part in getattr(service, name):
                self._texts.add(part)
        self._texts.add(self._rest)
        self._find()
        if self._findings:
            service = self._rewrite(service, frozenset(self._findings))
        self._report_private_endpoints(service)
        service = self._without_commands(service)
        problems, advice = (tuple(map(_redact_problem, log)) for log in (self._problems, self._advice))
        service = replace(service, problems=problems, advice=(*service.advice, *advice))
        # A credential in a key of the source is in every pointer below that key.
        leaks = (problem.where for problem in service.problems if problem.code == "credential-left-out")
        if any(_CREDENTIAL_SUFFIX in where for where in leaks):
            service = rewrite_pointers(service, _redact_pointer)
        return service

    def _find(self) -> None:
        """Finds what is wrong with each text; in most nothing is."""
        texts = self._texts.all()
        own_hosts = hosts_of(url for url, _ in _endpoint_urls(self._service))
        named, shown = self._named_secrets(), dict[str, list[str]]()
        # In others there are neither credentials, hosts, markup nor invisible characters.
        for text in (text for text in texts if _UNUSUAL.search(text) or len(text) > MAX_TEXT_LENGTH):
            used = text[:MAX_TEXT_LENGTH]
            safe = strip_invisible(used) if invisible_kinds(used)[0] else used
            safe, kinds = redact(safe) if text not in named else (placeholder("secret"), (_BY_NAME,))
            if forms := shown_forms(safe):
                shown[text], more = forms, [kind for form in forms for kind in redact(form)[1]]
                safe, kinds = redact(forms[-1])[0] if more else safe, (*kinds, *more)
            host = next(filter(None, map(_internal_host, (used, *forms))), None)
            if safe != text or (host is not None and host not in own_hosts):
                self._findings[text] = _Finding(safe, kinds, host=host if host not in own_hosts else None)
        if self._screening == "off":
            return
        # The help of a program that the user runs is shown verbatim, in a code block.
        verbatim = {tool.help for tool in self._service.tools if tool.help is not None}
        verbatim |= {section.body for section in self._service.sections} if verbatim else set()
        safe_texts = {text: text for text in texts if text not in verbatim}
        safe_texts |= {text: found.safe for text, found in self._findings.items() if text not in verbatim}
        weak: dict[str, Rule] = {}
        passages = find_injections(chain(safe_texts.values(), *shown.values()), weak)
        for text, safe in safe_texts.items() if passages or weak else ():
            forms = [safe, *shown.get(text, ())]
            found = next(filter(None, map(passages.get, forms)), ())
            if safe not in weak and not found:
                continue
            finding = self._findings.setdefault(text, _Finding(text))
            finding.weak, finding.passages = weak.get(safe), found
            if found and (len(forms) > 1 or "\n" in safe):  # a quotation is a block of Markdown, not indented
                finding.safe = dedent_docstring(redact(forms[-1])[0])
                everything = Passage(0, len(finding.safe), found[0].rule)
                finding.passages = find_injections([finding.safe]).get(finding.safe, (everything,))

    def _named_secrets(self) -> frozenset[str]:
        """Returns the values that look random of members and parameters that are named like a secret."""
        objects = self._texts.objects
        names = frozenset(filter(is_secret_name, set().union(*objects)))
        values = [item[name] for item in objects for name in names.intersection(item)]
        for schema in (each.schema for each in self._texts.parameters if is_secret_name(each.name)):
            constant = schema.choices if schema.choices and len(schema.choices) == 1 else ()
            values.append([schema.default.json if schema.default else None, *constant, *schema.examples])
        values += [value[key] for value in values if isinstance(value, dict) for key in _SHOWN.intersection(value)]
        texts = chain.from_iterable(value if isinstance(value, list) else [value] for value in values)
        return frozenset(text for text in texts if isinstance(text, str) and looks_random(text))

    def _rewrite(self, service: Service, affected_texts: frozenset[str]) -> Service:
        """Returns the service with these texts changed. Only parts that may have one of them are walked again."""
        self._make_names_unique(service.tools)
        affected = self._texts.parts_with(affected_texts)
        parts: dict[str, Any] = {
            name: tuple(self._rewrite_part(item) if id(item) in affected else item for item in getattr(service, name))
            for name in _PARTS
        }
        rest = self._rewrite_part(self._rest) if id(self._rest) in affected else self._rest
        return replace(rest, **parts, quotations=tuple(dict.fromkeys((*service.quotations, *self._quotations))))

    def _rewrite_part(self, part: Any) -> Any:
        start = len(self._quotations)
        before, part = part, rewrite_texts(part, self._rewriter())
        if isinstance(part, Tool):
            # A call with a placeholder cannot be sent.
            pairs = zip(before.examples, part.examples, strict=True)
            kept = (new for old, new in pairs if old.input == new.input and old.request == new.request)
            part = replace(part, examples=tuple(kept))
        if isinstance(part, (Tool, Resource, Prompt)) and (own := self._quotations[start:]):
            del self._quotations[start:]
            part = replace(part, quotations=tuple(dict.fromkeys((*part.quotations, *own))))
        return part

    def _make_names_unique(self, tools: Iterable[Tool]) -> None:
        """Makes names without their invisible characters unique among the tools."""
        names = {tool.name for tool in tools}
        changed = {name for name in names & self._findings.keys() if self._findings[name].safe != name}
        taken = names - changed
        for name in sorted(changed):
            shown = self._findings[name].safe or "unnamed"
            if shown in taken:
                shown = f"{shown}-{_digest(name)}"
            self._findings[name].safe = shown
            taken.add(shown)

    def _rewriter(self) -> TextRewriter:
        """Returns the function that rewrites the texts of one part and reports each change once."""
        reported: set[str] = set()

        def change(node: Any, field: str, text: str, pointer: str) -> str | None:
            finding = self._findings.get(text)
            if finding is None:
                return text
            where, name = place_of(node, field, pointer), field.partition(":")[0]
            # The raw fields come last and repeat texts of the other fields.
            is_reported = text in reported and name in _RAW_FIELDS
            is_value = name in _VALUE_FIELDS  # an address there is mostly an example of one
            host = finding.host
            if host is not None and text not in reported and (f"//{host}" in text.lower() or not is_value):
                message = f"{_label(field)} names {host}, which is in a private network; the documents hold it"
                self._problems.report("internal-address", where, message)
            reported.add(text)
            if finding.safe != text and not is_reported:
                self._report_change(where, field, text, finding, is_name=isinstance(node, Tool) and field == "name")
            if finding.weak is not None and name in PROSE_FIELDS:
                what = f"a text that {finding.weak.meaning} ({finding.weak.code}), but speaks to nobody"
                self._advice.report("like-an-order", where, f"{_label(field)} has words of {what}")
            if not finding.passages:
                return finding.safe
            return self._quote_injection(node, field, finding, where, is_reported=is_reported)

        return change

    def _report_change(self, where: str, field: str, text: str, finding: _Finding, *, is_name: bool) -> None:
        if len(text) > MAX_TEXT_LENGTH:
            message = f"{_label(field)} has {len(text):,} characters; only the first {MAX_TEXT_LENGTH:,} are used"
            self._problems.report("text-too-long", where, message)
        kinds, is_odd = invisible_kinds(text[:MAX_TEXT_LENGTH])
        if is_name and kinds:
            message = f"the name holds {' and '.join(kinds)}; it is shown as {finding.safe!r}, which cannot be called"
            self._problems.report("name-not-exact", where, message)
        elif kinds:
            code = "suspicious-characters" if is_odd else "invisible-characters"
            self._problems.report(code, where, f"{_label(field)} holds {' and '.join(kinds)}; they are left out")
        for kind in finding.kinds:
            message = f"{_label(field)} holds what looks like a credential ({kind}); a placeholder replaces it"
            # An example that only the name of its parameter makes a secret is nearly always a fictitious one.
            is_example = kind == _BY_NAME and field.partition(":")[0] in _VALUE_FIELDS
            self._problems.report("example-not-shown" if is_example else "credential-left-out", where, message)

    def _quote_injection(
        self, node: Any, field: str, finding: _Finding, where: str, *, is_reported: bool
    ) -> str | None:
        """Returns the rest of a text that addresses the model, and records what was removed as a quotation."""
        kind: type = type(node)
        name, text, rule = field.partition(":")[0], finding.safe, finding.passages[0].rule
        what = f"{_label(field)} may address the reader, like a text that {rule.meaning} ({rule.code})"
        declared = field_types(kind).get(name, "")
        # A key of a JSON value is sent; a key of a mapping of the model, such as a package manager, is not.
        is_member = field.endswith(":key") and not declared.startswith("Mapping")
        if (kind, name) in _IDENTIFIER_FIELDS or (name in _ONE_WORD and " " not in text.strip()) or is_member:
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
        rest, quoted = without_passages(text, finding.passages)
        if not is_reported:
            label = f"{node.name}.{name}" if isinstance(node, Parameter) else name
            self._quotations += (
                Quotation(text=words, field=label, rule=passage.rule.code, pointer=where, rest=rest, at=at)
                for passage, (words, at) in zip(finding.passages, quoted, strict=True)
            )
        if field.endswith(":key"):
            return None
        if declared.startswith(("Declared", "Json", "Value", "Mapping", "tuple[Json")):
            return _REMOVED_VALUE
        if rest or name in PROSE_FIELDS:
            return rest
        return f"unnamed-{_digest(text)}" if declared == "str" or name == "group" else None

    def _without_commands(self, service: Service) -> Service:
        """Returns a service without programs, variables and packages in which a shell would read several commands."""
        needed, packages = service.requirements, service.install or {}
        env, bins = (tuple(filter(self._is_name, names)) for names in (needed.env, needed.bins))
        install = {key: package for key, package in packages.items() if self._is_name(f"{key}: {package}")}
        return replace(service, requirements=replace(needed, env=env, bins=bins), install=install or None)

    def _is_name(self, text: str) -> bool:
        if (operator := _OPERATOR.search(text)) is not None:
            message = f"{clip(one_line(text), 60)!r} has more than one command in a shell; it is left out"
            self._problems.report("member-invalid", "requirements", message)
        return operator is None

    def _report_private_endpoints(self, service: Service) -> None:
        for url, pointer in _endpoint_urls(service):
            origin = origin_of(url)
            if origin is not None and is_private(origin[1]):
                message = f"{origin[1]} is reached only in a private network; it is documented as declared"
                self._problems.report("private-address", pointer, message)


def _internal_host(text: str) -> str | None:
    """Returns the first host of a private network in a text; `localhost` does not count."""
    # Without a port or a scheme, it is mostly an example of an address, or a file.
    if "." not in text or (":" not in text and "@" not in text) or not [part for part in _INTERNAL if part in text]:
        return None
    found = (match["host"].lower() for match in _HOST.finditer(text) if match["port"] or match["start"] is not None)
    inner = (host for host in found if host.startswith(_INTERNAL_NETWORKS) or host.endswith(_INTERNAL_NAMES))
    return next((host for host in inner if not host.startswith(_EXAMPLE_HOSTS) and is_private(host)), None)


def _redact_problem(problem: Problem) -> Problem:
    """Redacts credentials in a problem: its pointer has keys of the source, its message names."""
    return replace(problem, where=_redact_pointer(problem.where), message=redact(problem.message)[0])


def _redact_pointer(pointer: str) -> str:
    """Returns a pointer with the credentials in its keys redacted."""
    return "/".join(map(_redact_token, pointer.split("/")))


@lru_cache(1 << 12)  # most pointers share their tokens
def _redact_token(token: str) -> str:
    return child("", redact(last_token(token))[0])[1:]


def _endpoint_urls(service: Service) -> Iterator[tuple[str, str]]:
    declared = (service.origins or {}).get("endpoints")
    pointer = declared.source if declared is not None else "/servers" if service.kind == "openapi" else "endpoints"
    for endpoint in service.endpoints:
        yield endpoint.url, pointer
    for tool in service.tools:
        for endpoint in tool.endpoints:
            yield endpoint.url, tool.pointer


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:6]


def _label(field: str) -> str:
    return clip(one_line(field.partition(":")[0].replace("_", " ")), _MAX_FIELD_LABEL)
