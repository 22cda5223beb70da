"""The name and description of a skill, when to use it, and what its tools do in short.

A description has two sentences: what the service does, and when to use it. The first is the source's own if it says so,
else it is inferred from the names of the tools.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache

from msgspec import Struct
from msgspec.structs import replace

from skillgen.errors import Problem
from skillgen.model.resource import Prompt, Resource
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.values import Origin
from skillgen.render.pages import safe_stem, slug
from skillgen.render.phrases import once, phrase, plain_phrase
from skillgen.render.purpose import ABBREVIATIONS, listed, subjects_of, task_of, without_orders
from skillgen.security.addresses import host_of
from skillgen.text import lazy_re as re
from skillgen.text.markdown import CACHE_SIZE, Markdown, one_line, plain_words
from skillgen.text.summary import (
    TRIGGER,
    adds_to_name,
    clip,
    common_prefix,
    first_sentence,
    first_statement,
    is_trigger,
    list_phrase,
    purpose_sentence,
    says_only_name,
    shorten,
    without_document,
)
from skillgen.text.words import word_set, words_of

_CONNECTED = re.compile(r"(?:when|whenever|if|to|for)\s", re.IGNORECASE)
_PERSON = re.compile(r"(?:(?:the|a|an)\s+)?(?:users?|you|someone|people|agents?|caller)\b", re.IGNORECASE)
_DOING = re.compile(r"\w{2,}ing\b")

_USES = 12
"""Maximum of uses in a list."""

_BRIEF_USES = 5
"""The same in a short list."""

_USE_CHARACTERS = 200
"""Characters of a use."""

_BRIEF_USE_CHARACTERS = 100
"""The same in a short list."""


class Uses(Struct, frozen=True):
    """Declared uses, worded to follow their lead."""

    lead: str
    """The words before the list: "when the user asks to"."""

    phrases: tuple[str, ...]
    """The uses."""

    def shown(self, brief: bool) -> Uses:
        """Returns them as a list shows them."""
        count, limit = (_BRIEF_USES, _BRIEF_USE_CHARACTERS) if brief else (_USES, _USE_CHARACTERS)
        return replace(self, phrases=tuple(clip(use, limit) for use in self.phrases[:count]))


def wanted_uses(service: Service, brief: bool) -> Uses:
    """Returns when to use the service, as a list shows it."""
    return _worded(service.when_to_use, phrase("when_asked"), phrase("to_do")).shown(brief)


def unwanted_uses(service: Service, brief: bool) -> Uses:
    """Returns when not to use the service, as a list shows it."""
    return _worded(service.when_not_to_use, phrase("for_this"), phrase("for_this")).shown(brief)


def _worded(phrases: Sequence[str], lead: str, connective: str) -> Uses:
    """Returns phrases with a lead that all of them can follow: some already begin with such words."""
    if any(_CONNECTED.match(phrase) for phrase in phrases):
        connected = (phrase if _CONNECTED.match(phrase) else f"{connective} {_lowered(phrase)}" for phrase in phrases)
        return Uses("", tuple(map(_lowered, connected)))
    if any(_PERSON.match(phrase) for phrase in phrases):
        return Uses(phrase("when"), tuple(phrases))
    if any(_DOING.match(phrase) for phrase in phrases):
        return Uses(phrase("for_this"), tuple(phrases))
    return Uses(lead, tuple(phrases))


def _lowered(phrase: str) -> str:
    """Puts the first word in lower case, unless it is an abbreviation or a name with inner capitals."""
    first = phrase.split(" ", 1)[0]
    return phrase if first[1:].lower() != first[1:] else phrase[:1].lower() + phrase[1:]


_NAME_LIMIT = 64
"""Characters of a skill's name (Agent Skills)."""

TITLE_LIMIT = 120
"""Characters of a display name."""

_VENDOR_WORDS = re.compile(r"(?:^|-)(?:claude|anthropic)(?=-|$)")

_START, _END = r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9])"
_DOCUMENT_WORDS = re.compile(
    rf"{_START}API[\s_-]+(?:documentation|docs?|reference|schema|specification|spec|definition|description){_END}"
    rf"|{_START}official{_END}",
    re.IGNORECASE,
)
_SPECIFICATION = re.compile(
    rf"{_START}(?:interactive\s+)?(?:open\s?api|swagger)(?:\s+ui)?[\s_-]+"
    rf"(?:specification|spec|definition|description|document(?:ation)?|docs){_END}",
    re.IGNORECASE,
)
_MCP_WORDS = re.compile(rf"{_START}(?:(?:fast)?mcp|servers?){_END}|(?<=[a-z])MCP(?:Server)?{_END}", re.IGNORECASE)
_MORE = re.compile(r"\s[+|]\s|(?<=\bAPI)\swith\s|(?<=\bserver)\swith\s", re.IGNORECASE)
_ABOUT_API = re.compile(r"(?:test the|(?:rest )?api (?:for|of)(?: the)?)\s+(?=\S)", re.IGNORECASE)
"""The start of a title that is no name: "API for the library"."""

_CLIENT = re.compile(r"(?<=[A-Za-z])(?:(?:\s?Management)?\s?(?:Rest)?Client|Management)\Z")
"""The end of the name of a class that calls a service: `StorageManagementClient`."""

_ENDS = " \t\n-_.,:/|+&~'’"
_GAP, _VERSION = r"(?<![\s_-])[\s_-]", r"\d[a-z0-9.]*"
_API = re.compile(
    rf"(?:{_GAP}+(?:(?:public|rest(?:ful)?|web|http|json|v?{_VERSION}|open|the)[\s_-]+){{0,5}}(?:rest[\s_-]*)?apis?"
    rf"(?:[\s_-]*\(?(?:v|version )?{_VERSION}\)?)?"
    r"(?:[\s_-]+(?:documentation|endpoints?|explorer|servers?|services?))?"
    rf"|{_GAP}+v{_VERSION}"
    rf"|{_GAP}*[(\[](?:beta|deprecated|preview|v?{_VERSION})[)\]])\Z",
    re.IGNORECASE,
)
_HOST = re.compile(r"(?:(?:www|api|apis|developer|docs)\.)?([a-z0-9-]+)(?:\.[a-z]{2,})+\Z", re.IGNORECASE)


_DOMAIN = re.compile(r"(?:^|\.)([a-z0-9-]{3,})\.(?:(?:ac|co|com|edu|gov|net|org)\.[a-z]{2}|[a-z]{2,})\Z")
_HOSTS_OF_OTHERS = word_set("apiary github gitlab openapi postman rapidapi readme stoplight swagger swaggerhub")
"""Names in hosts that serve APIs of others."""


def _cleaned(text: str, kind: str) -> str:
    """Returns a name without the words that say what document or server has it: `GitHub API` for `GitHub's official
    OpenAPI spec + Octokit extension`; unchanged if nothing else remains."""
    name = one_line(text)
    if kind == "cli":  # what users type
        return name
    if (more := _MORE.search(name)) is not None and " " in name[: more.start()]:
        name = name[: more.start()]
    name = _DOCUMENT_WORDS.sub("\0", _SPECIFICATION.sub("API", name))
    if kind == "mcp":
        name = _MCP_WORDS.sub("\0", name)
    name = re.sub(r"(?<![\s._/-])[\s._/-]*\0[\s._/\0-]*", " ", name).strip(_ENDS)
    name = re.sub(r"['’]s(?=\s*(?:API)?\Z)", "", name)
    return name or one_line(text)


def is_named_by_author(service: Service) -> bool:
    """True if the name was declared for the skill, so that it is not shortened."""
    origin = (service.origins or {}).get("name")
    return (
        origin is not None
        and origin.kind == "declared"
        and not origin.source.endswith("erver/name")
        and (not origin.source.endswith("serverInfo/name"))
    )


def skill_name(service: Service) -> str:
    """Returns the name of the skill: 1 to 64 of `a-z`, `0-9` and single hyphens (Agent Skills, `name`).

    Hosts refuse the names of their vendor in it, so those words are removed. If nothing remains, part of a digest makes
    the name unique.
    """
    return _skill_name(service.name if is_named_by_author(service) else _cleaned(service.name, service.kind))


def _skill_name(text: str) -> str:
    name = _VENDOR_WORDS.sub("", slug(text, _NAME_LIMIT)).strip("-")
    while "claude" in name or "anthropic" in name:
        name = name.replace("claude", "").replace("anthropic", "").strip("-")
    name = re.sub("-{2,}", "-", name)
    if not name and text.strip():
        return f"service-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:6]}"
    return safe_stem(name or "service", "service")


@once
def title(service: Service) -> str:
    """Returns the display name, on one line."""
    if is_named_by_author(service):
        return clip(one_line(service.title or service.name), TITLE_LIMIT) or skill_name(service)
    text = _cleaned(service.title or service.name, service.kind)
    if not service.title and text.islower():
        text = _spelled(re.sub(r"[-_./]+", " ", text), service)
    return clip(text, TITLE_LIMIT) or skill_name(service)


def _spelled(name: str, service: Service) -> str:
    """Returns a name in lower case as the texts of the tools spell it or its words, else with a capital."""
    if (spelling := _spelling(name, service)) is None and " " in name:
        words = ((word, _spelling(word, service) or word) for word in name.split(" "))
        name = " ".join(spelled if has_inner_capital(spelled) else word for word, spelled in words)
    return spelling or name[:1].upper() + name[1:]


def _spelled_words(service: Service) -> list[str]:
    """Returns the names within a title that was formed from a name in lower case: `DynamoDB`."""
    words = title(service).split(" ")
    is_formed = not service.title and not is_named_by_author(service) and service.name.islower() and len(words) > 1
    return [word for word in words if has_inner_capital(word) or any(map(str.isdigit, word))] if is_formed else []


def _spelling(name: str, service: Service) -> str | None:
    """Returns the most frequent spelling of a name in the texts of the tools that is not in lower case."""
    found = Counter(_mentions(name, service))
    return max((text for text in found if text != name), key=lambda text: (found[text], text), default=None)


def has_inner_capital(word: str) -> bool:
    """True for a word that is a name by its spelling: `DynamoDB`."""
    return word[1:] != word[1:].lower()


def _mentions(name: str, service: Service) -> Iterator[str]:
    """Yields a name as the texts of the tools spell it, within their sentences."""
    pattern = re.compile(rf"(?<=[\w,(] )(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)
    for tool in service.tools[:_MENTION_TOOLS]:
        for text in (tool.summary, tool.description):
            yield from pattern.findall((text or "")[:_MENTION_LENGTH])


_MENTION_TOOLS = 200
"""Tools in whose texts the product is searched."""

_MENTION_LENGTH = 400
"""Characters of a tool's text in which the product is searched."""


@once
def product(service: Service) -> str:
    """Returns the name of what the service is part of, as users say it: `GitHub` for `GitHub v3 REST API`."""
    name = _name_of_product(service)
    brand = "" if is_named_by_author(service) else _brand(service)
    return name if brand.lower() in name.lower().replace(" ", "") else f"{brand} {name}"


def _brand(service: Service) -> str:
    """Returns the name in the host of an API if texts have it as a word with a capital: `Acme` for `api.acme.com`."""
    host = host_of(service.endpoints[0].url) or "" if service.kind == "openapi" and service.endpoints else ""
    found = _DOMAIN.search(host)
    if found is None or found[1] in _HOSTS_OF_OTHERS:
        return ""
    texts = (service.summary, service.description, *(tool.summary or tool.description for tool in service.tools))
    pattern = re.compile(rf"(?<![\w./@-]){re.escape(found[1])}(?![\w/@-]|\.\w)", re.IGNORECASE)
    spellings = Counter(
        spelling for text in texts[:_MENTION_TOOLS] if text for spelling in pattern.findall(text[:_MENTION_LENGTH])
    )
    usual = max(spellings, key=lambda spelling: (spellings[spelling], spelling), default="")
    return "" if usual == usual.lower() else usual


def _name_of_product(service: Service) -> str:
    name = title(service)
    name = _ABOUT_API.sub("", _product_of_host(name) or name, count=1)
    if (client := _CLIENT.search(name)) is not None:
        words = re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", " ", name[: client.start()]).split(" ")
        name = " ".join(word.upper() if word.lower() in ABBREVIATIONS else word for word in words)
    while (shorter := _API.sub("", name).strip(_ENDS)) and shorter != name:
        name = shorter
    if name.lower() in ("api", "rest", "openapi", "swagger", "service") and service.endpoints:
        name = _product_of_host(host_of(service.endpoints[0].url) or "") or name
    return re.sub(r"\s-\s", " ", name)


def _product_of_host(host: str) -> str:
    found = _HOST.match(host)
    return found[1].capitalize() if found else ""


def _is_said(name: str, service: Service) -> bool:
    """True if a product's name is a name, not a word such as "memory", which users say without meaning it.

    What users type is a name.
    """
    if service.kind == "cli":
        return True
    found = Counter(text == text.lower() for text in _mentions(name, service))
    if len(service.tools) > 1 and all(words_of(tool.name)[:1] == (name.lower(),) for tool in service.tools):
        return True
    if found[True] or found[False]:
        return found[False] >= found[True]
    return bool(service.title) or name[1:].lower() != name[1:] or service.name != service.name.lower()


_DESCRIPTION_LIMIT = 1024
"""Characters of a description (Agent Skills)."""

_WHAT_LIMIT = 240
"""Characters of what a service does, so that the trigger begins within the first 300 of the description."""

_OWN_WHAT_LIMIT = 290
"""The same in a text that the author wrote for the skill."""

_TRIGGER_LIMIT = 400
"""Characters of a trigger."""

_NOUNS_ASKED = 3
"""Nouns in a trigger."""

_TASKS_ASKED = 5
"""Tasks in a trigger."""

_OFFERED = 3
"""Prompts and resources that are named for a service without tools."""


def description(service: Service, limit: int = _DESCRIPTION_LIMIT) -> str:
    """Says on one line what the service does and when to use it, within `limit` characters.

    Hosts refuse angle brackets, and `---` ends front matter for careless parsers.
    """
    what, when = what_and_when(service)
    start = shorten(what, _OWN_WHAT_LIMIT)
    rest = what.removeprefix(start).strip()
    return shorten(" ".join(filter(None, (start, when, rest))), limit)


@once
def what_and_when(service: Service) -> tuple[str, str]:
    """Returns what the service does and when to use it, a sentence each; more if its author wrote them."""
    own = _author_text(service)
    if own is None:
        return what_it_does(service), _declared_trigger(service) or _trigger(service)
    sentences = _sentences(own)
    when = next(filter(TRIGGER.search, sentences), None)
    what = " ".join(item for item in sentences if item != when)
    if when is None:
        return _stopped(what), _declared_trigger(service) or _trigger(service)
    return _stopped(what or when), _stopped(when) if what else ""


def _author_text(service: Service) -> str | None:
    """Returns the description that its author declared as such: in skillgen.yaml, as `identity.description`, in the
    front matter of `ai_help`, as the help of a program; or a first paragraph that says when to use the service.
    """
    origin = (service.origins or {}).get("summary", Origin("declared", "/info"))
    if not service.summary or (origin.kind != "declared" and origin.source != "/info/description"):
        return None
    if not origin.source.startswith("/") or "/identity/" in origin.source or origin.source.startswith("/ai_help"):
        return plain(service.summary) or None
    paragraph = (service.description or service.summary).strip().partition("\n\n")[0]
    is_own = origin.source == "/root/help" or TRIGGER.search(paragraph) is not None
    return plain(paragraph) or None if is_own else None


@once
def what_it_does(service: Service) -> str:
    """Returns what the service does in one sentence."""
    return _stopped(_author_text(service) or _sentence_of_source(service) or _inferred_sentence(service))


def is_description_inferred(service: Service) -> bool:
    """True if nobody wrote what the service does."""
    return _author_text(service) is None and _sentence_of_source(service) is None


def intro(service: Service) -> str | None:
    """Returns the summary for the head of a document; None if it only repeats the name, or is about its source."""
    text = without_document(service.summary or "")
    return None if not text or says_only_name(text, f"{service.title or ''} {service.name}") else text


@once
def _sentence_of_source(service: Service) -> str | None:
    """Returns the source's first sentence if it says what the service does, with the name of the product."""
    words = set(re.findall(r"\w+", product(service).lower()))
    for text in (service.summary, service.description):
        name, is_imperative = f"{service.title or ''} {service.name}", service.kind == "cli"
        if text and (sentence := purpose_sentence(plain(text), name, _WHAT_LIMIT, is_imperative=is_imperative)):
            full = plain_phrase("of_product", what=sentence, product=_product_and_kind(service))
            is_named = 2 * len(words & set(re.findall(r"\w+", sentence.lower()))) > len(words)
            return sentence if is_named or len(full) > _OWN_WHAT_LIMIT else full
    return None


def _product_and_kind(service: Service) -> str:
    if service.kind == "mcp":
        name = plain(service.server_name or service.name)
        return name if re.search(r"\bMCP\s+server\b", name, re.IGNORECASE) else plain_phrase("mcp_server", name=name)
    if service.kind == "cli":
        return plain_phrase("program_of", name=plain(service.name))
    name = plain(product(service))
    return name if re.search(r"\bAPI\b", name, re.IGNORECASE) else plain_phrase("api_of", product=name)


def _inferred_sentence(service: Service) -> str:
    """Returns what the names of the tools say that the service does."""
    subjects, where = subjects_of(service), _product_and_kind(service)
    if what := without_orders(plain(subjects.what)):
        return plain_phrase("of_product", what=what, product=where)
    if names := without_orders(plain(listed(subjects.nouns))):
        return plain_phrase("through_product", what=names[:1].upper() + names[1:], product=where)
    others: list[Prompt | Resource] = [*service.prompts, *service.resources, *service.resource_templates]
    if others and not service.tools:
        texts = [list_phrase(first_sentence(item.description or item.title or item.name), 90) for item in others]
        return plain_phrase("of_product", what=plain("; ".join(texts[:_OFFERED])), product=where)
    return plain_phrase("tools_of_product", product=where)


def _declared_trigger(service: Service) -> str | None:
    """Returns the sentence of the source that says when to use the service, if there is one that orders nothing."""
    texts = (service.description, service.summary)
    found = (sentence for text in texts if text for sentence in _sentences(plain(text[:_TEXT_SEARCHED])))
    return next((item for item in found if is_trigger(item) and len(item) <= _TRIGGER_LIMIT), None)


_TEXT_SEARCHED = 20_000
"""Characters of a text that are searched for a trigger."""


def _trigger(service: Service) -> str:
    """Returns when to use the service: by its declared uses, else by product and tools. Not safe Markdown."""
    uses = _worded(service.when_to_use, phrase("when_asked"), phrase("to_do"))
    if uses.phrases:
        return _trigger_of_uses(uses)
    subjects, name = subjects_of(service), plain(product(service))
    tasks = [plain(task) for task in subjects.tasks[:_TASKS_ASKED]]
    said = _spelled_words(service) or ([name] if _is_said(name, service) else [])
    products = [_spelling(word, service) or word for word in subjects.products]
    names = list(dict.fromkeys([*said, *products, *subjects.abbreviations]))
    mentioned = {word.lower() for word in names}
    about = [plain(noun) for noun in subjects.nouns if noun.lower() not in mentioned][:_NOUNS_ASKED]
    about = [] if len(tasks) >= _NOUNS_ASKED else about
    if not (about or names or tasks):
        tasks = list(dict.fromkeys(plain(task) for tool in service.tools[:_TASKS_ASKED] if (task := task_of(tool))))
    conditions = [
        plain_phrase(condition, **{field: listed(items, "or_between")})
        for condition, field, items in (
            ("mentions", "names", names),
            ("asks_about", "nouns", about),
            ("asks_to", "tasks", tasks),
        )
        if items
    ] or [plain_phrase("mentions", names=name)]
    text = plain_phrase("use_when", conditions=listed(conditions, "or_between", has_comma=len(conditions) > 2))
    return without_orders(text) or plain_phrase("use_when", conditions=plain_phrase("mentions", names=name))


def _trigger_of_uses(uses: Uses) -> str:
    phrases = [_lowered(plain(item).rstrip(" .。;")) for item in uses.phrases]
    while len(phrases) > 1 and sum(map(len, phrases)) + 2 * len(phrases) > _TRIGGER_LIMIT:
        phrases.pop()
    words = listed(phrases, "or_between") if not any(", " in item for item in phrases) else "; ".join(phrases)
    return plain_phrase("use", uses=" ".join(filter(None, (uses.lead, _stopped(clip(words, _TRIGGER_LIMIT))))))


def short_description(service: Service, limit: int = 100) -> str:
    """Says what the service does in one sentence, for a server.json: at most `limit` characters, cut at a word."""
    return clip(_sentences(what_and_when(service)[0])[0], limit)


def description_problems(service: Service) -> Iterator[Problem]:
    """Yields a problem with the description if it had to be inferred."""
    if is_description_inferred(service):
        line = description(service).replace("\\", "\\\\").replace('"', '\\"')
        yield Problem.of(
            code="description-inferred",
            where=skill_name(service),
            message="no sentence of the source says what the service does; the description follows from names of tools",
            fix=f'declare what the service does, as the description: "{line}"',
        )


def _sentences(line: str) -> list[str]:
    return re.split(r"(?<=[.!?])\s+|(?<=[。！])(?=[^\s。！？）」』”])", line)


def _stopped(words: str) -> str:
    return words if words.endswith((".", "!", "?", "…", "。", "！")) else f"{words}."


_EMPHASIS = re.compile(r"(?<![\w*])\*([^\s*](?:[^*\n]{0,80}[^\s*])?)\*(?![\w*])")


def plain(text: str) -> str:
    """Returns a text on one line for a value of front matter: without angle brackets, `---` and Markdown code."""
    line = plain_words(text).replace("<", "‹").replace(">", "›").replace("`", "").replace("**", "")
    line = _EMPHASIS.sub(r"\1", line)
    return re.sub("-{3,}", "—", line)


def offered_counts(service: Service) -> str:
    """Returns the numbers of what a service offers: `2 tools, 1 prompt`; `0 tools` only if it offers nothing."""
    return _counts(service, ("tools", "resources", "resource_templates", "prompts")) or phrase("tools", 0, number=0)


def resource_counts(service: Service) -> Markdown:
    """Returns the numbers of resources and resource templates."""
    return _counts(service, ("resources", "resource_templates"), " and ")


def _counts(service: Service, names: Iterable[str], separator: str = ", ") -> Markdown:
    counts = {name: len(items) for name in names if (items := getattr(service, name))}
    return Markdown(separator.join(phrase(name, count, number=f"{count:,}") for name, count in counts.items()))


PHRASE_LIMIT = 110
"""Characters of a phrase in a list of tools, resources or prompts."""


def tool_phrase(tool: Tool, limit: int = PHRASE_LIMIT) -> str:
    """Returns the summary of a tool, else the first sentence of its description, else its title; cut at a word.

    A text that only repeats the name is skipped.
    """
    return list_phrase(_best_phrase(tool.name, tool.summary, tool.description, tool.title), limit)


def phrase_of(service: Service) -> Callable[..., str]:
    """Returns a function for the phrase of a tool, without a beginning that all tools of the service share.

    It takes the tool, and the maximum of characters if that is below `PHRASE_LIMIT`. The phrase is empty if several
    tools have the same one, which then says nothing of any of them.
    """
    start = common_prefix(text for tool in service.tools for text in [tool.summary or tool.description] if text)

    def own_phrase(tool: Tool, limit: int = PHRASE_LIMIT) -> str:
        return tool_phrase(tool, limit + len(start)).removeprefix(start)

    counts = cache(lambda: Counter(map(own_phrase, service.tools)))

    def telling_phrase(tool: Tool, limit: int = 0) -> str:
        words = own_phrase(tool)
        if counts()[words] >= _SAME_PHRASES:
            return ""
        return own_phrase(tool, limit) if limit else words

    return telling_phrase


_SAME_PHRASES = 3
"""Tools with one phrase from which it is left out."""


@lru_cache(CACHE_SIZE)
def _best_phrase(name: str, summary: str | None, description: str | None, title: str | None) -> str:
    """Cached: every format shows the phrases of all tools, and SKILL.md in every form that is tried."""
    if summary and adds_to_name(summary, name):
        return summary
    texts = (first_statement(description or ""), title)
    return next((text for text in texts if text and adds_to_name(text, name)), "")
