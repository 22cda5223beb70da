"""What a skill says of itself before it is read: what the service does, when to use it, and what it is called.

Texts are quoted as their source writes them, or left out; only the name of the product is shortened.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate

from msgspec import Struct
from msgspec.structs import replace

from skillgen.infer.effects import with_facts
from skillgen.model.resource import Prompt, Resource
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.values import Origin, is_inferred
from skillgen.security.injection import find_injections
from skillgen.security.secrets import host_of
from skillgen.text import lazy_re as re
from skillgen.text import summary as prose
from skillgen.text.markdown import one_line, plain_words, with_stop
from skillgen.text.summary import CLAIM, GENERIC, TO_THE_READER, TRIGGER, clip, sentences
from skillgen.text.words import safe_stem, singular, slug, words_of

_FROM_TOOLS = Origin("inferred", "tools")


def with_summaries(service: Service) -> Service:
    """Returns the service with a summary for each tool: the declared one, else its title, else the first sentence of
    its description. The title of an MCP tool that only repeats its name is the last resort."""
    tools = (tool if tool.summary and not is_inferred(tool, "summary") else _summarised(tool) for tool in service.tools)
    # A snapshot of an older version has one that was inferred.
    summary = None if is_inferred(service, "summary") else service.summary
    return replace(service, tools=tuple(tools), summary=summary)


def described(service: Service) -> Service:
    """Returns a service that a program made with these facts; any other unchanged."""
    return service if service.purpose else with_description(with_summaries(service))


def _summarised(tool: Tool) -> Tool:
    title = one_line(tool.title or "")
    names = f"{tool.name} {tool.name.lower()} tool deprecated"
    named, said = ({*map(singular, words_of(text))} for text in (names, title.lower()))
    text = prose.first_sentence(tool.description or "") if said <= named else ""
    field, text = ("description", text) if text else ("title", title)
    return with_facts(tool, Origin("inferred", field), summary=text) if text else tool


def with_description(service: Service) -> Service:
    """Returns the service with what its skill says of it; computed anew if it was known."""
    called, is_named = _Names(service), is_named_by_author(service)
    name = called.product()
    names = [service.title, service.name, name, called.short(service.title or "", service.kind)]
    purpose, origin = next(_purposes(service, name, [*filter(None, names)]))
    service = _with_declared_uses(service)
    of_name = Origin("declared" if is_named else "inferred", "name")
    origins = {**(service.origins or {}), "purpose": origin, "product": of_name, "skill_name": of_name}
    trigger = None if TRIGGER.search(purpose) else _trigger(service, name)
    if trigger:
        origins["trigger"] = Origin("declared" if service.when_to_use else "inferred", "when_to_use or name and groups")
    own = called.short(service.name, "mcp") if service.kind == "mcp" else name
    short = service.name if is_named else own
    usable = [item for item in (short, _host_name(service), name) if slug(item)]
    skill_name = _skill_name(next((item for item in usable if is_named or not _VENDORS.search(slug(item))), short))
    return replace(service, purpose=purpose, trigger=trigger, product=name, skill_name=skill_name, origins=origins)


# -- what it does ------------------------------------------------------------------------------------------------------

_AUTHORED_LIMIT = 1_024
"""Characters of a description (Agent Skills)."""

_LIST_LIMIT, _TITLE_LIMIT, _SUMMARY_LIMIT = 200, 40, 60
"""Characters of a list of groups, or of what tools do; of one title, and of what one of many tools does."""

_USES_LIMIT, _FEW = 400, 3
"""Characters of the uses in a trigger; tools that are all named."""

_POINTERS = {"summary": "/info/summary", "description": "/info/description", "instructions": "/initialize/instructions"}
"""Where a source declares each field, the first that is searched first."""


def _purposes(service: Service, name: str, names: Sequence[str]) -> Iterator[tuple[str, Origin]]:
    """Yields what can be said of what the service does, the best first, each with where it is from."""
    origins = service.origins or {}
    if text := _authored(service):
        yield with_stop(text), origins["summary"]
    for field, pointer in _POINTERS.items():
        said = getattr(service, field) or ""
        # Who says when to use the service wrote the description of a skill, in which names count: "Acme tasks."
        if sentence := prose.usable_sentence(said, () if TRIGGER.search(said) else names):
            yield with_stop(sentence), origins.get(field, Origin("declared", pointer))
    texts, is_program = _offered(service)[1] if len(service.tools) <= _FEW else [], service.kind == "cli"
    are_few = 0 < len(texts) <= _FEW and not (is_program and len(texts) < len(service.tools))
    if are_few and all(map(prose.is_usable, texts)):
        yield " ".join(map(with_stop, dict.fromkeys(texts))), _FROM_TOOLS
    for is_declared, from_groups in ((True, Origin("declared", "groups")), (False, _FROM_TOOLS)):
        titles = [title for title in _titles(service, is_declared) if title.lower() != name.lower()]
        is_whole = len(titles) > 1 and (is_declared or not is_program)  # those of a program may have few commands
        if is_whole and (groups := _composed(f"{name}: ", _within(titles, ", "))):
            yield groups, from_groups
    kind, texts = _offered(service)
    start = f"{kind} of {name}" if texts or not is_program else f"The program {name}"
    yield summaries_of(start, texts), _FROM_TOOLS


def _offered(service: Service) -> tuple[str, list[str]]:
    """Returns what kind of thing the service offers, and what each says of itself."""
    resources = (*service.resources, *service.resource_templates)
    if service.kind == "cli":
        return "Commands", texts_of_tools(service) or [tool.name for tool in service.tools[1:] and service.tools]
    items: Sequence[Prompt | Resource] = service.prompts or resources
    if service.tools or not (items or service.events):
        return "Tools", texts_of_tools(service)
    texts = [prose.first_sentence(item.description or item.title or item.name) for item in items]
    texts = texts or [event.summary or event.name for event in service.events]
    return "Prompts" if service.prompts else "Resources" if items else "Webhooks", texts


_TAG = re.compile(r"\A\[[A-Z][A-Z _-]*\]\s*")


def texts_of_tools(service: Service) -> list[str]:
    """Returns the summaries of tools that are not deprecated, and are no orders: `FIRST STEP: …`; without a tag before
    them: `[SEARCH] Finds it`."""
    said = (_TAG.sub("", plain_words(tool.summary)) for tool in service.tools if tool.summary and not tool.deprecated)
    return [text for text in said if not (TO_THE_READER.match(text) or CLAIM.search(text))]


def summaries_of(start: str, texts: Sequence[str]) -> str:
    """Returns a sentence with the first words of some texts; without them if they address the reader.

    What ends with a colon says nothing without the list below it.
    """
    words = dict.fromkeys(clip(text.rstrip(".。 "), _SUMMARY_LIMIT) for text in texts if not text.endswith((":", "：")))
    return _composed(f"{start}: ", _within([*filter(None, words)], "; ")) or f"{start}."


def _composed(start: str, words: str) -> str:
    """Returns a sentence of several texts; empty if together they address the reader."""
    sentence = with_stop(start + words)
    return sentence if words and not find_injections([sentence]) and not CLAIM.search(sentence) else ""


def _authored(service: Service) -> str | None:
    """Returns the description that its author declared as such: in skillgen.yaml, as `identity.description`, in
    `ai_help`, or as the help of a program."""
    origin = (service.origins or {}).get("summary")
    if not service.summary or origin is None or origin.kind != "declared":
        return None
    if origin.source == "/root/help":
        return _whole((service.description or service.summary).strip().split("\n\n")[0])
    is_own = not origin.source.startswith("/") or "/identity/" in origin.source or origin.source.startswith("/ai_help")
    believed = (item for item in sentences(service.summary) if _is_believed(service, "summary", item))
    return _whole(" ".join(believed)) if is_own else None


def _is_believed(service: Service, field: str, sentence: str) -> bool:
    """True for a sentence of the author of the documents, or one that does not put the skill before others."""
    origin = (service.origins or {}).get(field, _FROM_TOOLS)
    is_of_author = origin.kind == "declared" and not origin.source.startswith("/")
    return is_of_author or not CLAIM.search(sentence)


def _whole(text: str) -> str:
    """Returns the sentences of a text that a description has room for, with that on its use."""
    text = plain_words(text)
    when = next(filter(TRIGGER.search, sentences(text)), "")
    shown = prose.shorten(text, _AUTHORED_LIMIT)
    return shown if when in shown else f"{prose.shorten(text, _AUTHORED_LIMIT - len(when) - 1)} {when}"


def _titles(service: Service, is_declared: bool = True) -> list[str]:
    """Returns the titles of the groups that the source declares, or of the others, those of most tools first."""
    sizes = Counter(tool.group for tool in service.tools)
    groups = [group for group in service.groups if (not group.origins) is is_declared and sizes[group.name]]
    titles = [one_line(group.title) for group in sorted(groups, key=lambda group: -sizes[group.name])]
    if len({title.partition(": ")[0] for title in titles}) == 1:  # parts of the only tag
        titles = [title.partition(": ")[2] or title for title in titles]
    return [title for title in dict.fromkeys(titles) if len(title) <= _TITLE_LIMIT and not _UNSAID.search(title)]


_UNSAID = re.compile(
    r"[{}_\d]|/\w|[a-z][A-Z]|[A-Z]{2}[a-z]{2}|(?i:\A(?:default|general|hidden|misc\w*|others?|commands|root|apis?|public"
    r"|internal|deprecated|auth\w*|tokens?|login|health\w*)\Z)"
)
"""Titles of groups that users do not say: code, and what says nothing."""


def _within(items: Sequence[str], between: str) -> str:
    """Returns the first items that fit, and an ellipsis if others are left out."""
    shown = _fitting(items, _LIST_LIMIT)
    return between.join(shown if len(shown) == len(items) else [*shown, "…"])


def _fitting(items: Sequence[str], limit: int) -> list[str]:
    """Returns the first items that fit with what separates them."""
    ends = accumulate(len(item) + len(", ") for item in items)
    return [item for item, end in zip(items, ends, strict=True) if end <= limit]


_UNWANTED = re.compile(r"(?:please )?(?:do not|don['’]t|never) use\b", re.IGNORECASE)


def _with_declared_uses(service: Service) -> Service:
    """Returns the service with the uses that its declared description names, as it does, if no field has any."""
    found = [*sentences(_authored(service) or "")]
    wanted = tuple(item for item in found if TRIGGER.search(item) and not _UNWANTED.match(item))
    uses = {"when_to_use": wanted, "when_not_to_use": tuple(filter(_UNWANTED.match, found))}
    missing = {field: items for field, items in uses.items() if items and not getattr(service, field)}
    origins = {**(service.origins or {}), **{field: (service.origins or {})["summary"] for field in missing}}
    return replace(service, **missing, origins=origins) if missing else service


# -- when to use it ----------------------------------------------------------------------------------------------------

_NEGATED = re.compile(r"\b(?:not|never)\b|n['’]t\b", re.IGNORECASE)


def _trigger(service: Service, name: str) -> str:
    """Returns when to use the service: for declared uses, as its text begins, or for its name and declared groups."""
    if declared := trigger_of_uses(service, name):
        return declared
    texts = (service.summary, service.description, service.instructions)
    first = (sentence for text in texts if text for sentence in sentences(next(prose.paragraphs(text), "")))
    usable = (sentence for sentence in first if len(sentence) <= _USES_LIMIT and not CLAIM.search(sentence))
    if trigger := next(filter(TRIGGER.match, usable), None):
        return with_stop(trigger)
    known = f" {name} {service.title or ''} ".lower()
    titles = [title for title in _titles(service) if f" {title} ".lower() not in known][:_FEW]
    start = f"Use when the user mentions {name}"
    return trigger_for(f"{start} or asks about", titles) or f"{start}."


def trigger_of_uses(service: Service, name: str) -> str:
    """Returns when to use what has this name, by its declared uses; empty without one."""
    uses = [plain_words(use).rstrip(" .。;") for use in service.when_to_use if not _NEGATED.search(use)]
    uses = [use for use in uses if _is_believed(service, "when_to_use", use)]
    shown = clip("; ".join(_fitting(uses, _USES_LIMIT) or uses[:1]), _USES_LIMIT)
    return with_stop(f"Use when the user mentions {name}, or for: {shown}") if uses else ""


def trigger_for(start: str, subjects: Sequence[str], limit: int = _LIST_LIMIT) -> str:
    """Returns a sentence that ends with the first subjects that fit; empty if there is nothing to say."""
    shown = _fitting(subjects, limit)
    return _composed(f"{start} ", " or ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]])))


# -- what it is called -------------------------------------------------------------------------------------------------


def is_named_by_author(service: Service) -> bool:
    """True if the name was declared for the skill, so that it is not shortened."""
    origin = (service.origins or {}).get("name", _FROM_TOOLS)
    return origin.kind == "declared" and not origin.source.endswith(("erver/name", "serverInfo/name"))


_MORE = re.compile(r"\s[-–—](?=(?:\s\w+){1,2}\Z)|\s[+|~]\s.*|\s[-–—]\s.*", re.DOTALL)
"""What a title says after the name; of one or two words, the dash only: "Twilio - Messaging"."""

_DOCUMENT = r"(?:documentation|docs|reference|schema|specification|spec|definition|explorer|endpoints?)"
_DROPPED = re.compile(
    r"(?<![^\W_])(?:(?:fast)?mcp(?:[\s_-](?:js|py|ts)\Z)?|servers?|model[\s_-]+context[\s_-]+protocol|https?://[^\s()]+"
    r"|deprecated|version(?:[\s_-]*\d[\w.]*)?|v\d[\w.]*|\d+\.\d[\d.]*)(?![^\W_]|\.\w)"
    r"|(?<=[a-zA-Z]{4})(?-i:MCP(?:Server)?)\b|(?<=[A-Za-z])(?:(?<!Api)Management)?(?:Rest)?\s?Client\Z",
    re.IGNORECASE,
)
"""Parts of a name that users do not say: kind, version, URL. Of a class, its ending."""

_KIND = (
    r"(?<![^\W_])(?:(?:(?:(?:open|fast|litestar|json|http|rest(?:ful)?)[\s_-]?){0,3}apis?(?:v\d+)?|swagger|rest(?:ful)?)"
    rf"(?:[\s_-]+(?:{_DOCUMENT}|application|services?)){{0,2}}|official|public|sandbox|staging|production|beta|preview)"
    r"(?![^\W_]|\.\w)"
)
_DROPPED_AT_ENDS = re.compile(rf"(?:(?<! )|(?=(?:{_KIND}\s*){{1,4}}(?!\s|[^\W_]))){_KIND}", re.IGNORECASE)
"""Parts that users do not say only where the name begins or ends: Amazon API Gateway, Public Distribution."""

_LINKING = re.compile(
    r"\A(?:(?:the|a|an|of|for|to|by|with|and)\s)+|\s(?:of|for|to|by|with|and)(?:\s(?:the|an?))?\Z", re.IGNORECASE
)
"""Words before or after what is dropped; an article alone may be the end of a name: `plan-a`."""
_ENDS = " \t\n-_.,:/|+&~'’(["
_DOMAIN = re.compile(r"(?:^|\.)([a-z0-9-]{2,})\.(?:(?:ac|co|com|edu|gov|net|org)\.[a-z]{2}|[a-z]{2,})\Z")
_HOSTS_OF_OTHERS = re.compile(
    r"amazonaws|api|apiary|azurewebsites|cloudfront|example|git(?:hub|lab)|googleapis|herokuapp|openapi|postman|rapidapi"
    r"|readme|stoplight|swagger(?:hub)?|vercel|(?:[a-z0-9-]{1,60}-)?(?:dev|sandbox|staging|test)(?:-[a-z0-9-]{1,60})?"
)
"""Names in hosts that serve APIs of others, or an environment: `acme-test.dev`; a part of a host has 63 characters."""

_MIN_BRAND = 4
"""Letters of an owner's name in a host; what is shorter is often a word: `dev.to`."""

_READ_TOOLS, _READ_CHARACTERS = 200, 400
"""Of the tools, and of each text, in which spellings are searched."""

_SPELLING = re.compile(r"(?<![\w./@-])\w(?:[\w-]|\.(?=\w))*(?![\w/@-])")

_RUNNERS = frozenset({"npx", "npm", "node", "bunx", "bun", "deno", "uv", "uvx", "pipx", "python", "python3", "run"})
_ANY = frozenset({"", "index", "main", "cli", "app", "docker", "podman", "sh", "bash", "java", "dotnet", "go", "cargo"})
"""What starts a package or a file, and files and programs of any server."""

_INSTALLED = re.compile(r"[/\\]node_modules[/\\]((?:@[^/\\]+[/\\])?[^/\\]+)")
"""The package of npm that a file belongs to."""


class _Names(Struct, dict=True):
    """What a service is called. Most names have capitals already, and its texts are not read for their spelling."""

    service: Service

    def product(self) -> str:
        """Returns the name as users say it: `GitHub` for `GitHub v3 REST API`, `Adyen Checkout` for `Checkout API`."""
        service = self.service
        title = next(sentences(plain_words(service.title or service.name))).rstrip(".")
        if is_named_by_author(service) or service.kind == "cli":
            return clip(title, _NAME_LIMIT)
        name, host = self.short(title, service.kind) or self._in_command(), _host_name(service)
        brand = self._spelled(host) if host else ""
        words = name.lower().split()
        has_host = host in "".join(words) or any(len(word) >= _MIN_BRAND and word in host for word in words)
        # Each word of the name means something else too: "Checkout".
        said = re.findall(r"[^\W\d_]+", name.lower())
        are_common = (word.isascii() and (word in self._spellings or GENERIC.fullmatch(word)) for word in said)
        if not name:
            name = brand[:1].upper() + brand[1:] or title
        elif not has_host and (brand != host or title.endswith("Client") or all(are_common)):
            name = f"{brand if brand != host else host.capitalize()} {name}"
        return clip(name, _NAME_LIMIT)

    def short(self, text: str, kind: str) -> str:
        """Returns a title or name without words that users do not say; empty if nothing remains."""
        text = one_line(plain_words(text)).removeprefix("www.")
        if kind == "cli":
            return text
        text = text[:_READ_CHARACTERS]  # a longer title is no name, and each part of it is compared with the rest
        owner, is_identifier = "", kind == "mcp" and " " not in text
        if is_identifier:  # such as `io.github.acme/weather-mcp`, or `@acme/mcp`
            owner, _, text = text.lstrip("@").rpartition("/")
            text = re.sub(r"[-_]+", " ", text.rpartition(".")[2])
        said = _DROPPED_AT_ENDS.sub(" ", _DROPPED.sub(" ", text).lstrip(_ENDS))
        start = _MORE.sub("", said)
        said = start if start.strip(_ENDS) else said
        said = re.sub(r"(?<!_)_*\s[\s_]*(?=([,;)\]]?))", lambda at: "" if at[1] else " ", said)
        said = re.sub(r"[(\[][^\w()\[\]]*[)\]]", "", said)
        said = re.sub(r"['’]s(?=\s*\Z)", "", said.strip(_ENDS))
        said = said if is_identifier and said == text else _LINKING.sub("", said).strip(_ENDS)
        if not said or re.fullmatch(_DOCUMENT, said, re.IGNORECASE):
            return self.short(owner, kind) if owner and ":" not in owner else ""
        # `RecoveryServicesBackupClient`, but StorSimple is a name.
        if text.endswith("Client") and " " not in said and said not in self._spellings:
            words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", said).split()
            said = " ".join(word.upper() if word.upper() in self._spellings else word for word in words)
        if said == said.lower():
            said = " ".join(self._spelled(word) for word in said.split())
            said = said[:1].upper() + said[1:] if said.partition(" ")[0].islower() and "." not in said else said
        return said

    def _in_command(self) -> str:
        """Returns the name of the package or program that starts an MCP server whose own name says nothing.

        Its arguments may be a folder or a secret of the user.
        """
        words = (self.service.source or ())[1:] if self.service.kind == "mcp" else ()
        package = next((word for word in words if word not in (*_RUNNERS, "-y", "--yes", "-m")), "")
        package = [package, *_INSTALLED.findall(package)][-1]
        stem = package if package[:1] == "@" else re.split(r"[/\\]", package)[-1].split("@")[0].split(".")[0]
        return self.short(stem, "mcp") if package[:1] != "-" and stem.lower() not in _ANY else ""

    def _spelled(self, name: str) -> str:
        """Returns a name in lower case as the texts of the source spell it most often if that has capitals."""
        found = [form for form in self._spellings if form.lower() == name]
        return max(found, key=lambda form: (form != name, self._spellings[form], form), default=name)

    @cached_property
    def _spellings(self) -> Counter[str]:
        """Returns the words at the start of each text, in each spelling, with their counts."""
        texts = [self.service.summary, self.service.description, self.service.instructions]
        texts += [text for tool in self.service.tools[:_READ_TOOLS] for text in (tool.summary, tool.description)]
        return Counter([word for text in texts if text for word in _SPELLING.findall(text[:_READ_CHARACTERS])])


def _host_name(service: Service) -> str:
    """Returns the name of the host's owner in lower case: `adyen` of `checkout.adyen.com`."""
    host = host_of(service.endpoints[0].url) or "" if service.kind != "cli" and service.endpoints else ""
    found = _DOMAIN.search(host)
    owner = found[1].removesuffix("api") if found and not _HOSTS_OF_OTHERS.fullmatch(found[1]) else ""
    return owner if len(owner) >= _MIN_BRAND else ""


# -- the name of the skill ---------------------------------------------------------------------------------------------

_NAME_LIMIT = 64
"""Characters of a skill's name (Agent Skills)."""

_VENDORS = re.compile("claude|anthropic")
"""Words in the name of a skill that hosts refuse, because they name their vendor."""


def skill_name_of(service: Service, area: str) -> str:
    """Returns the name of the skill of a part of a service: `github-issues`."""
    start = service.skill_name or ""
    return _skill_name(area if area.startswith(f"{start}-") else f"{start[: _NAME_LIMIT - 1 - len(area)]}-{area}")


def _skill_name(text: str) -> str:
    """Returns the name of the skill: 1 to 64 of `a-z`, `0-9` and single hyphens (Agent Skills, `name`).

    The words of `_VENDORS` are removed. If nothing remains, part of a digest makes the name unique.
    """
    name = slug(text, _NAME_LIMIT)
    while _VENDORS.search(name):
        name = re.sub("-{2,}", "-", _VENDORS.sub("", name)).strip("-")
    if not name and text.strip():
        return f"service-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:6]}"
    return safe_stem(name or "service", "service")
