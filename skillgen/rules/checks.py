"""The rules that only `skillgen lint` checks: what a service does not say, although it could be read.

Names of rules on MCP tools are those of the Tool Definition Quality Score (TDQS); the subjects of the rules on
operations are those of Redocly's `score`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from functools import cached_property

from skillgen.errors import Problem
from skillgen.model.calls import Output
from skillgen.model.schema import Parameter, Schema, Types, bases, writable
from skillgen.model.service import Service
from skillgen.model.tool import EFFECTS, Kind, Tool
from skillgen.model.traversal import nodes_in
from skillgen.model.values import child, is_inferred, to_json
from skillgen.security.secrets import host_of, is_loopback, is_private
from skillgen.text import lazy_re as re
from skillgen.text.markdown import counted, first_of, json_text
from skillgen.text.words import ends_of

Findings = Iterator[tuple[str, str]]
"""The place and the message of each finding."""

_Table = Sequence[tuple[str, Sequence[Callable[..., Findings]]]]
"""Kinds of sources, each with rules for them."""


def _rules_of(table: _Table, kind: Kind, codes: frozenset[str]) -> list[tuple[str, Callable[..., Findings]]]:
    """Returns the rules of a table that are checked, by their codes, which are the names of their functions."""
    rules = (rule for kinds, rules in table if kind in kinds.split() for rule in rules)
    named = ((rule.__name__.strip("_").replace("_", "-"), rule) for rule in rules)
    return [(code, rule) for code, rule in named if code in codes]


def check_service(service: Service, codes: frozenset[str]) -> Iterator[Problem]:
    """Yields the findings on each tool, then those on the service; rules that are not among `codes` are not checked.

    What several tools share has each finding once.
    """
    types = Types.of(service.schemas)
    rules = _rules_of(_RULES_ON_TOOLS, service.kind, codes)
    places: set[tuple[str, str]] = set()
    for tool in service.tools:
        for code, rule in rules if not tool.is_preflight else ():
            for place, message in rule(tool, types):
                if (code, place) not in places:
                    places.add((code, place))
                    yield Problem.of(code, place, message)
    for code, rule in _rules_of(_RULES_ON_SERVICES, service.kind, codes):
        yield from (Problem.of(code, place, message) for place, message in rule(service))


# -- texts -----------------------------------------------------------------------------------------------------------

_SCANNED_CHARACTERS = 4_000
"""How much of a text is read; also the length from which one is long, some 1,200 tokens in every conversation."""

_BRIEF_WORDS = 4
"""A description with fewer words hardly says what a tool does, when to use it and what it returns."""

_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]{2}")
"""About a word of Chinese or Japanese, which have no spaces."""


def _text_of(tool: Tool) -> str:
    """Returns the declared description; a text that is quoted elsewhere because it addresses the reader counts."""
    quoted = [item.text for item in tool.quotations if item.field in ("summary", "description")]
    return " ".join((tool.description or tool.summary or "", *quoted)).strip()


def _no_description(tool: Tool, types: Types) -> Findings:
    if not _text_of(tool):
        yield tool.pointer, f"{tool.name} has no description"


def _tautological_description(tool: Tool, types: Types) -> Findings:
    # The summary of an operation is a title.
    text = (tool.description or "") if tool.method is not None else _text_of(tool)
    if text and (what := _repeated(text, tool)) is not None:
        message = f"the description of {tool.name} only repeats its {what}: {text[:80]!r}"
        yield f"{tool.pointer}/description", message


def _repeated(text: str, tool: Tool) -> str | None:
    """Returns what a text only repeats: the name of a tool, or its title."""
    letters, own = _letters_of(text), (("name", tool.name), ("title", tool.title or ""))
    close = ((what, other) for what, other in own if len(other) >= len(letters) and _letters_of(other) == letters)
    return next((what for what, other in close if words_in(other) == words_in(text)), None)


def _brief_description(tool: Tool, types: Types) -> Findings:
    text = _text_of(tool)
    count = len(words_in(_WIDE.sub(r"\g<0> ", text)))
    if 0 < count < _BRIEF_WORDS and _repeated(text, tool) is None:
        yield f"{tool.pointer}/description", f"the description of {tool.name} has {counted(count, 'word')}: {text!r}"


def _long_description(tool: Tool, types: Types) -> Findings:
    if (count := len(_text_of(tool))) > _SCANNED_CHARACTERS:
        yield f"{tool.pointer}/description", f"the description of {tool.name} has {count:,} characters"


def _properties_undescribed(service: Service) -> Findings:
    """MCP REST Edition, 4.3.

    The description of a named type also describes a property of that type, and the description of a property also
    describes another one of this name in the same tool or type, such as in an alternative.
    """
    with_text = {item.name for item in service.schemas if item.schema.description}
    described: dict[str, bool] = {}
    outputs = (item.schema for tool in service.tools for item in (tool.output, *tool.other_outputs) if item is not None)
    parameters = (owner.parameters for owners in (service.tools, service.prompts, service.events) for owner in owners)
    for part in (*parameters, *outputs, *service.schemas):
        found = {item.pointer: item for item in nodes_in(part) if isinstance(item, Parameter)}
        names = {
            item.name
            for item in found.values()
            if item.description or item.schema.description or with_text.intersection(bases(item.schema))
        }
        for pointer, item in found.items():
            described.setdefault(pointer, item.name in names)
    if missing := [pointer for pointer, is_described in described.items() if not is_described]:
        message = f"{len(missing):,} of {len(described):,} parameters and properties have no description"
        yield missing[0], message + (f"; others are {first_of(missing[1:], 2)}" if missing[1:] else "")


def _shadow_candidate(service: Service) -> Findings:
    """Yields tools with the same words as an earlier one in their names or descriptions."""
    first_of: dict[tuple[str, ...], Tool] = {}
    texts = [(text, _letters_of(text)) for text in map(_own_text, service.tools)]
    counts = Counter(letters for _, letters in texts)
    for tool, (text, letters) in zip(service.tools, texts, strict=True):
        name = words_in(tool.name)  # `a_to_b` is not `b_to_a`
        name = name if "to" in name else tuple(sorted(name))
        own = (("name", name), ("description", words_in(text) if counts[letters] > 1 else ()))
        for what, words in () if tool.is_preflight else own:
            first = first_of.setdefault((what, *words), tool) if words else tool
            if first is not tool:
                yield child(tool.pointer, what), f"{tool.name} has the same words in its {what} as {first.name}"
                break


def _own_text(tool: Tool) -> str:
    """Returns the description; of an operation, with its summary, which may distinguish twins. What an operation has
    from its path is not its own.
    """
    if tool.method is None:
        return _text_of(tool)
    return "" if "description" in (tool.origins or {}) else f"{tool.summary or ''} {_text_of(tool)}"


_REPLACEMENT = re.compile(
    r"\b(?:use|using|used|call|replac\w+|instead|superseded|migrat\w+|switch|see|prefer|favou?r|alternative|moved|new"
    r"|recommend\w*|deprecated version of|no (?:replacement|longer|effect|substitute))\b",
    re.IGNORECASE,
)


def _deprecated_without_replacement(tool: Tool, types: Types) -> Findings:
    is_known = tool.deprecation is not None and (tool.deprecation.replacement or tool.deprecation.message)
    if tool.deprecated and not is_known:
        if not _REPLACEMENT.search(f"{tool.summary or ''} {_text_of(tool)}"[:_SCANNED_CHARACTERS]):
            yield tool.pointer, f"{tool.name} is deprecated, and does not say what to use instead"


_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?")
_REQUEST = re.compile(r"(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) (?:https?://\S+|/\S*)")


def _declaration_useless(service: Service) -> Findings:
    if service.last_updated is not None and not _DATE.fullmatch(service.last_updated.strip()):
        yield "/initialize/dashdash/lastUpdated", f"{service.last_updated[:80]!r} is no date of ISO 8601"
    for tool in service.tools:
        semantics = tool.semantics
        if tool.api_equivalent is not None and not _REQUEST.match(tool.api_equivalent.strip()):
            yield tool.pointer, f"{tool.name}: apiEquivalent {tool.api_equivalent[:80]!r} is no method with a path"
        command = words_in(tool.cli_equivalent or "")
        required = [item.name for item in tool.parameters if item.required]
        if required and command and {*words_in(tool.name)}.issuperset(command[1:]):  # any other word may be a value
            yield tool.pointer, f"{tool.name}: cliEquivalent has no place for {required[0][:60]}, which is required"
        has_key = any("key" in item.name.lower() or "idempoten" in item.name.lower() for item in tool.parameters)
        if semantics.idempotent_with_key and not has_key and not is_inferred(semantics, "idempotent_with_key"):
            yield tool.pointer, f"{tool.name} is declared to be idempotent with a key, but no parameter is a key"
        if semantics.reversible and semantics.reversed_by is None and not is_inferred(semantics, "reversible"):
            yield tool.pointer, f"{tool.name} is declared to be reversible, but no tool that reverses it is named"


def _unknown_tool_named(service: Service) -> Findings:
    names = ToolNames(service)
    about = " ".join(filter(None, (service.summary, service.description, service.instructions)))
    texts = [(service.name, "/initialize" if service.kind == "mcp" else "/info/description", about)]
    for tool in service.tools:
        texts.append((tool.name, f"{tool.pointer}/description", f"{tool.summary or ''} {_text_of(tool)}"))
        texts += [(tool.name, item.pointer, item.description) for item in tool.parameters if item.description]
    # One search over all texts decides for a service whose texts name no such tool.
    missing = [*names.missing_in("\n".join({text[:_SCANNED_CHARACTERS] for *_, text in texts}))]
    for owner, pointer, text in texts if missing else ():
        for name in names.missing_in(text[:_SCANNED_CHARACTERS]) if any(map(text.__contains__, missing)) else ():
            yield pointer, f"a text of {owner} names the tool {name[:80]}, which is not listed{names.meant(name)}"


# -- names -----------------------------------------------------------------------------------------------------------


def _name_not_portable(tool: Tool, types: Types) -> Findings:
    if not re.fullmatch(r"[A-Za-z0-9_.-]{1,128}", tool.name):
        message = f"the name {tool.name[:140]!r} is not of 1 to 128 letters, digits, `_`, `-` and `.`"
        yield f"{tool.pointer}/name", message


def _name_too_long(tool: Tool, types: Types) -> Findings:
    # Hosts of models accept names up to this length.
    if len(tool.name) > 64 and not is_inferred(tool, "name"):
        yield _place_of_name(tool), f"the name {tool.name[:140]!r} has {len(tool.name)} characters"


def _name_repeats_request(tool: Tool, types: Types) -> Findings:
    name, method = tool.name.lower(), f"_{tool.method}".lower()
    if name.endswith(method) and name.endswith(re.sub(r"\W", "_", f"{tool.path}{method}".lower())):
        yield _place_of_name(tool), f"the name {tool.name[:140]} repeats {tool.method} {tool.path}"


def _place_of_name(tool: Tool) -> str:
    return child(tool.pointer, "name" if tool.method is None else "operationId")


# -- effects ---------------------------------------------------------------------------------------------------------

_HINTS = ("read_only", "destructive", "idempotent", "open_world")


def _missing_annotations(service: Service) -> Findings:
    # What is inferred replaced a hint that is less cautious: that disagreement was reported.
    contradicted = {problem.where for problem in service.problems if problem.code == "safety-facts-disagree"}
    for tool in service.tools:
        hints = [hint for hint in _HINTS if getattr(tool.semantics, hint) is not None]
        if not any(map(tool.semantics.is_declared, hints)) and tool.pointer not in contradicted:
            yield tool.pointer, f"{tool.name} declares no effects"


def _method_contradicts_name(tool: Tool, types: Types) -> Findings:
    semantics = tool.semantics
    if tool.method in ("GET", "HEAD") and semantics.read_only is False:
        field = "destructive" if semantics.destructive else "sends" if semantics.sends else "read_only"
        origin = (semantics.origins or {}).get(field)
        if origin is not None and semantics.is_judged(field):
            effect = EFFECTS[semantics.effect or "write"]
            yield tool.pointer, f"{tool.name} is a {tool.method}, which must be safe, but {effect} by {origin.source}"


def _destructive_unconfirmed(tool: Tool, types: Types) -> Findings:
    semantics = tool.semantics
    if semantics.risk == "destructive" and semantics.is_declared("risk") and not semantics.requires_confirmation:
        yield tool.pointer, f"{tool.name} has risk_level destructive, but requires no confirmation"


# -- inputs ----------------------------------------------------------------------------------------------------------


def _is_described(parameter: Parameter, types: Types) -> bool:
    return bool(parameter.description) or any(item.description for item in types.variants(parameter.schema))


def _undocumented_parameters(tool: Tool, types: Types) -> Findings:
    # Headers and cookies are mostly credentials, which clients add.
    parameters = [item for item in writable(tool.parameters) if item.location not in ("header", "cookie")]
    missing = [item.name[:40] for item in parameters if not _is_described(item, types)]
    if 2 * len(missing) > len(parameters):  # TDQS: below a coverage of 50 %, the description must compensate
        what = f"{len(missing)} of {len(parameters)} parameters of {tool.name} have no description"
        what = what if len(parameters) > 1 else f"the only parameter of {tool.name} has no description"
        yield tool.pointer, f"{what}: {first_of(missing, 3)}"


_GENERIC = frozenset({"data", "id", "key", "name", "object", "params", "status", "type", "value"})
"""Names that say nothing without a description; Redocly's `score` counts such names."""


def _ambiguous_identifier(tool: Tool, types: Types) -> Findings:
    for item in writable(tool.parameters):
        # A value of `enum` and the properties of an object say what it is.
        is_open = not (item.schema.choices or item.schema.properties or item.schema.ref)
        if is_open and item.name.lower() in _GENERIC and not _is_described(item, types):
            yield item.pointer, f"{item.name} of {tool.name} has neither a telling name nor a description"


def _many_parameters(tool: Tool, types: Types) -> Findings:
    parameters = writable(tool.parameters)
    required = sum(parameter.required for parameter in parameters)
    if len(parameters) > 30 or required > 10:
        yield tool.pointer, f"{tool.name} has {len(parameters)} parameters, {required} of them required"


# -- results and errors ----------------------------------------------------------------------------------------------

_STRUCTURED = re.compile(r"json|xml|\*/\*|form-urlencoded|event-stream", re.IGNORECASE)
"""Media types whose content has a structure that a schema can declare."""


def _no_output_schema(tool: Tool, types: Types) -> Findings:
    output = tool.output
    if output is not None and output.schema is not None:
        return
    if tool.method is None:
        yield tool.pointer, f"{tool.name} does not declare its result"
        return
    media_types = output.media_types if output is not None else ()
    is_ok = tool.method == "GET" and output is not None and output.status == "200"
    # Otherwise it is a file, an image or plain text, or nothing.
    if any(map(_STRUCTURED.search, media_types)) or (is_ok and not media_types):
        what = "the structure of its result" if media_types else "a result"
        yield f"{tool.pointer}/responses", f"{tool.name} does not declare {what}"


def _output_schema_invalid(tool: Tool, types: Types) -> Findings:
    raw = tool.output.raw if tool.output is not None else None
    if tool.output is not None and isinstance(raw, dict) and raw.get("type") != "object":
        yield tool.output.pointer, f"the outputSchema of {tool.name} is of type {str(raw.get('type'))[:40]}"


def _list_without_paging(tool: Tool, types: Types) -> Findings:
    if tool.method != "GET" or tool.pagination is not None or tool.output is None or tool.output.schema is None:
        return
    # Short enumerations are mostly lists of strings or numbers.
    lists = [schema for schema in types.variants(tool.output.schema) if "array" in schema.types]
    is_list = any(item.items is not None and item.items.types in ((), ("object",)) for item in lists)
    if is_list and not any(parameter.location == "query" for parameter in tool.parameters):
        yield tool.pointer, f"{tool.name} returns a list, and no parameter limits its length"


def _paging_without_cursor(service: Service) -> Findings:
    for tool in service.tools if "mcp-rest" in service.uses else ():
        if tool.pagination is not None and not any(item.name == "cursor" for item in tool.parameters):
            yield tool.pointer, f"{tool.name} returns pages, but takes no `cursor`"


def _errors_undeclared(tool: Tool, types: Types) -> Findings:
    if not tool.errors:
        yield f"{tool.pointer}/responses", f"{tool.name} declares no errors"


def _errors_unstructured(tool: Tool, types: Types) -> Findings:
    if tool.errors and not any(item.output is not None for item in tool.errors):
        yield f"{tool.pointer}/responses", f"no error of {tool.name} declares its body"


_MESSAGE = re.compile(
    r"[\w-]*(?:message|msg|description|reason|error|detail|title|text|value|faultstring)s?", re.IGNORECASE
)
"""Names of properties that say what went wrong, also those of RFC 9457 and of common frameworks."""


def _error_message_missing(service: Service) -> Findings:
    types = Types.of(service.schemas)
    pointers = {item.name: item.pointer for item in service.schemas}
    bodies: dict[str, Output] = {}
    for output in (error.output for tool in service.tools for error in tool.errors):
        if output is not None and output.schema is not None and any("json" in item for item in output.media_types):
            bodies.setdefault(pointers.get(output.schema.ref or "", output.pointer), output)
    for pointer, output in bodies.items():
        if output.schema is not None and not _may_say_what_went_wrong(output.schema, types):
            what = f"the body of the error {output.status} has no property for what went wrong, such as `message`"
            yield pointer, what


def _may_say_what_went_wrong(schema: Schema, types: Types) -> bool:
    """True if an object has a text for what went wrong, also in an inner object, or its properties are unknown."""
    waiting, seen, has_properties = [schema], set[int](), False
    for item in waiting:
        for each in (each for each in types.variants(item) if id(each) not in seen):
            seen.add(id(each))
            if any(_MESSAGE.fullmatch(item.name) and _may_be_text(item.schema, types) for item in each.properties):
                return True
            has_properties = has_properties or bool(each.properties)
            waiting += [*(item.schema for item in each.properties), *filter(None, [each.items])]
    return not has_properties


def _may_be_text(schema: Schema, types: Types) -> bool:
    named = types.variants(schema if schema.items is None else schema.items)
    return any("string" in item.types for item in named) or not any(item.types or item.properties for item in named)


# -- the service -----------------------------------------------------------------------------------------------------


def _too_many_tools(service: Service) -> Findings:
    count = sum(tool.disclosed_by is None for tool in service.tools)
    if count > 50 and service.disclosure is None:
        yield "/tools~1list", f"the server lists {count} tools"


def _service_undescribed(service: Service) -> Findings:
    if not (service.summary or service.description or service.instructions or service.quotations):
        yield "/initialize", f"{service.name} has neither a description nor instructions"


def _resource_undescribed(service: Service) -> Findings:
    for resource in (*service.resources, *service.resource_templates):
        if not resource.description and not resource.quotations:
            yield resource.pointer, f"{resource.uri[:200]} has no description"


def _prompt_undescribed(service: Service) -> Findings:
    for prompt in (item for item in service.prompts if not item.quotations):
        missing = [item.name[:40] for item in prompt.parameters if not item.description]
        if not prompt.description:
            yield prompt.pointer, f"the prompt {prompt.name} has no description"
        elif missing:
            yield prompt.pointer, f"arguments of the prompt {prompt.name} have no description: {first_of(missing, 3)}"


def _server_without_tls(service: Service) -> Findings:
    urls = [endpoint.url for endpoint in service.endpoints]
    hosts = [host_of(url) if url.lower().startswith("http://") and not is_loopback(url) else None for url in urls]
    if service.requirements.auth and urls and all(host is not None and not is_private(host) for host in hosts):
        place = "/schemes" if (service.protocol_version or "").startswith("2.") else "/servers"
        yield place, f"credentials are sent to {urls[0][:200]} without encryption"


def _key_in_query(service: Service) -> Findings:
    for auth in service.requirements.auth:
        if auth.kind == "api-key" and (auth.sent_as or "").startswith("query"):
            yield auth.pointer, f"the API key {auth.name or ''} is sent in the query".replace("  ", " ")


# -- tables ----------------------------------------------------------------------------------------------------------

_RULES_ON_TOOLS: _Table = (
    ("mcp openapi cli", (_no_description, _tautological_description)),
    ("mcp openapi cli", (_deprecated_without_replacement, _undocumented_parameters)),
    ("mcp", (_brief_description, _long_description)),
    ("mcp", (_name_not_portable, _destructive_unconfirmed, _output_schema_invalid)),
    ("mcp openapi", (_name_too_long, _many_parameters, _no_output_schema)),
    ("openapi", (_method_contradicts_name, _list_without_paging)),
    ("openapi", (_errors_undeclared, _errors_unstructured, _name_repeats_request)),
    ("openapi cli", (_ambiguous_identifier,)),
)

_RULES_ON_SERVICES: _Table = (
    ("mcp openapi cli", (_shadow_candidate, _properties_undescribed)),
    ("mcp", (_declaration_useless, _missing_annotations, _too_many_tools)),
    ("mcp", (_service_undescribed, _resource_undescribed, _prompt_undescribed)),
    ("mcp openapi", (_unknown_tool_named,)),
    ("openapi", (_paging_without_cursor, _error_message_missing)),
    ("openapi", (_server_without_tls, _key_in_query)),
)


# -- names of tools ----------------------------------------------------------------------------------------------------

_NAME_IN_TEXT = r"(?=[a-z0-9]*[A-Z_-])[a-z][A-Za-z0-9]*(?:[_-][A-Za-z0-9]+)*(?![\w/:-]|\.\w)"
_VERBS = ("call ", "use ", "using ", "invoke ", "run ", "try ", "tool ", "prefer ")
_AFTER_VERB = re.compile(rf"\b(?i:{'|'.join(_VERBS)})(?i:the )?[`'\"]?({_NAME_IN_TEXT})")
_NOUN = re.compile(r" tools?\b")
_BEFORE_NOUN = re.compile(rf"(?<![\w./:-])({_NAME_IN_TEXT})[`'\"]?(?:\(\))?\Z")
"""A name of several words after "call", "use" or another such verb, or before "tool"."""

_HUMP = re.compile(r"[A-Z](?<=[a-z0-9].)")
_WORD = re.compile(r"[^\W_]+")
_STRING = re.compile(r'"([A-Za-z_][\w.-]*)"')
_COUNTER = re.compile(r"_\d+$")
"""What generators append to a name that occurs twice."""


def words_in(text: str) -> tuple[str, ...]:
    """Returns the words of a text or a name in lower case: `getOrder`, `get_order` and `Get order.` have the same."""
    return tuple(_WORD.findall(text if text.islower() else _HUMP.sub(lambda match: f" {match[0]}", text).lower()))


_OTHERS = bytes(code for code in range(0x80) if not chr(code).isalnum())


def _letters_of(text: str) -> bytes:
    """Returns the ASCII letters and digits of a text, in lower case: texts with the same words have the same."""
    return text.lower().encode("ascii", "ignore").translate(None, _OTHERS)


def style_of(name: str) -> str | None:
    """Returns how the words of a name are joined; `None` for a single word, and for two ways as in `WebApps_List`."""
    name = _COUNTER.sub("", name)
    if name != name.lower():
        return "camelCase" if "_" not in name and _HUMP.search(name) else None
    inner = name.strip("_-")
    return "snake_case" if "_" in inner else "kebab-case" if "-" in inner else None


class ToolNames:
    """The names of the tools and prompts of a service, and what has their form."""

    def __init__(self, service: Service) -> None:
        self.names = {*(prompt.name for prompt in service.prompts), *(tool.name for tool in service.tools)}
        self._by_words = {words_in(name): name for name in sorted(self.names)}
        self._service = service
        self._first_words = {words[0] for words in self._by_words if words}
        self._verbs = {words[0] for words in self._by_words if len(words) > 1}

    def is_missing(self, name: str) -> bool:
        """True for a name that is not of the service, but in the style of its tools and with the first word of one."""
        words = words_in(name)
        if not words or name in self.names:
            return False
        is_similar = words[0] in self._verbs and self.is_in_style(name)
        return words in self._by_words or (is_similar and words not in self._others)

    @cached_property
    def _styles(self) -> set[str | None]:
        return {style_of(name) for name in self.names} - {None}

    @cached_property
    def _others(self) -> set[tuple[str, ...]]:
        """Names of parameters, properties and types, and values of enumerations."""
        return set(map(words_in, set(_STRING.findall(json_text(to_json(self._service))))))

    def is_in_style(self, name: str) -> bool:
        """True if the words of a name are joined like those of a tool."""
        return style_of(name) in self._styles

    def missing_in(self, text: str) -> Iterator[str]:
        """Yields the names after "call", "use" or another such verb, or before "tool", that are missing."""
        small = text.encode("ascii", "replace").decode().lower()  # a character for each of the text
        starts = sorted(end - len(verb) for verb in _VERBS for end in ends_of(verb, small))
        after_verb = (_AFTER_VERB.match(text, start) for start in starts)
        nouns = (noun.start() for noun in _NOUN.finditer(text))
        # Names have up to 128 characters.
        before_noun = (_BEFORE_NOUN.search(text, start - 140, start) for start in nouns)
        for found in dict.fromkeys(name[1] for name in filter(None, (*after_verb, *before_noun))):
            if words_in(found)[0] in self._first_words:  # that of few names
                # `read-only` may be an adjective.
                is_name = found.count("-") != 1 or any(f"{mark}{found}" in text for mark in "`'\"")
                if is_name and self.is_missing(found):
                    yield found

    def meant(self, name: str) -> str:
        """Returns the end of a message on a missing name, with the nearest one."""
        return meant(name, self.names, self._by_words.get(words_in(name)))


def meant(name: str, known: Iterable[str], first: str | None = None) -> str:
    """Returns the end of a message on a name that is not known, with the nearest one, or the `first`."""
    close = first or next(iter(get_close_matches(name, known, 1, 0.75)), None)
    return f"; {close} may be meant" if close else ""
