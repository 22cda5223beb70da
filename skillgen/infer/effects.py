"""Says what calling a tool changes: [read], [write], [sends] or [destructive], or nothing where nothing is known.

The rows are tried from the top, and the first that decides wins:

1. the author's effect, which may lower what is declared only with `overrule`
2. what the source declares: a contradiction is a problem, and the more cautious fact counts
3. the HTTP method
4. the verb of the name, then the first word of the summary, else of the description, or what an argument chooses

A later row may raise the effect: side effects and an approval always; the name of what is declared to read only by a
verb that is never a noun; the name of a GET by a few verbs and those that delete, or by any verb if the summary begins
with one too; the summary where no hint decides, of PUT, PATCH and what is declared not to read only to [sends] and
[destructive]. The words are in `effects.toml`.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, dropwhile, pairwise, takewhile
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from skillgen.errors import ProblemLog
from skillgen.model.schema import CommandSyntax, Parameter, Schema, Types
from skillgen.model.service import Service
from skillgen.model.tool import EFFECTS, JUDGED_BY, Effect, Semantics, Tool, is_raised_by, rank_of
from skillgen.model.traversal import nodes_in
from skillgen.model.values import Json, Origin, Value
from skillgen.text import lazy_re as re
from skillgen.text.markdown import rewritten
from skillgen.text.summary import first_sentence
from skillgen.text.words import path_segments, singular, without_request, words_of
from skillgen.typed import decode

Words: TypeAlias = tuple[str, ...]
_Arguments: TypeAlias = list[tuple[Parameter, Words]]


class _Table(Struct):
    """The words: `tests/make_screening.py` prepares them from `effects.toml`."""

    verbs: dict[Effect, frozenset[str]]
    words: dict[str, frozenset[str]]
    stems: dict[str, Effect]
    patterns: dict[str, str]
    objects: dict[str, tuple[tuple[frozenset[str], Effect], ...]]
    """What a verb does to certain things; the first that fits counts."""


_TABLE = decode(Path(__file__).with_name("effects.json").read_bytes(), _Table)
_WORDS, _STEMS = _TABLE.words, _TABLE.stems
_NOUNS, _FILLERS, _ENDS = _WORDS["nouns"] | _WORDS["nouns_at_end"], _WORDS["fillers"], _WORDS["ends"]

_ACCENTS = dict.fromkeys([*range(0x300, 0x370), 0x3099, 0x309A])
_LETTERS = str.maketrans({"ß": "ss", "ı": "i", "ł": "l", "ø": "o"})


def _folded(text: str) -> str:
    """Returns a text without accents."""
    return text if text.isascii() else unicodedata.normalize("NFKD", text.translate(_LETTERS)).translate(_ACCENTS)


_VERBS: dict[str, Effect] = {verb: effect for effect, verbs in _TABLE.verbs.items() for verb in verbs}
_CHANGES = _VERBS.keys() - _TABLE.verbs["read"]
_PLAIN = _VERBS.keys() - _NOUNS
"""The verbs that are never nouns."""

_DELETES = _TABLE.verbs["destructive"] - _NOUNS
_RAISED = _WORDS["raised_get"] | _DELETES
"""The verbs of a declared name for which even a GET is not believed to read."""

_NOUNS_OF_POSTS = (_NOUNS - _WORDS["read_posts"]) | _WORDS["acts"]
_UNSAID = _NOUNS | _WORDS["weak"]
"""The verbs of a name that do not say what a call does, if an argument does."""

_BY_NAME, _BY_TEXT, _BY_METHOD, _BY_ARGUMENT, _BY_OPTION, *_ = JUDGED_BY
_PARTICIPLES = dict(pair.split(":") for pair in _WORDS["participles"])
_JOINTS, _PRONOUNS, _DETERMINERS = _WORDS["joints"], _WORDS["pronouns"], _WORDS["determiners"]
_JOINED = 12
"""Words of a name or a sentence in which verbs are joined."""

_JUDGED = ("operation", "read_only", "destructive", "sends", "idempotent", "reversible")
_EFFECT_OF_METHOD: dict[str, Effect] = {"delete": "destructive", "put": "write", "patch": "write"}
_EFFECT_OF_METHOD |= dict.fromkeys(("get", "head", "options", "query", "trace"), "read")

_PREFIX_SHARE, _PREFIX_NAMES = 0.9, 3
"""A first word that so many of the names have, of at least so many, is a prefix."""

_TEXT_LIMIT, _LIST_LIMIT = 300, 1_000
"""Characters of a text in which its first sentence, and the actions that it lists, are searched."""

_SENTENCE_END = re.compile(r"[.!?:](?:\s|$)|[。！？]|\n")
_WORD = re.compile(r"[^\W\d_][\w'’-]*|[,/&;]")
_PATTERNS = {name: re.compile(pattern) for name, pattern in _TABLE.patterns.items()}


def is_verb(word: str, *, is_sure: bool = True) -> bool:
    """True for a word that is a verb, and if `is_sure`, hardly ever a noun."""
    return word in (_PLAIN if is_sure else _VERBS)


Node = TypeVar("Node", Parameter, Semantics, Tool)


def with_facts(node: Node, origin: Origin, **fields: Any) -> Node:
    """Returns a node with these fields, and where they are from."""
    return replace(node, **fields, origins={**(node.origins or {}), **dict.fromkeys(fields, origin)})


def words_without_prefix(tools: Sequence[Tool]) -> dict[str, Words]:
    """Returns the words of each name, without the prefix of nearly all."""
    prefix = _prefix(tools)
    names = {tool.name: words_of(without_request(tool.name, tool.method, tool.path)) for tool in tools}
    return {name: words[len(prefix) :] if words[: len(prefix)] == prefix else words for name, words in names.items()}


class AuthorEffect(NamedTuple):
    """What the author of the documents declares of a tool."""

    effect: Effect
    """The worst effect of a call."""

    place: str
    """Where it is declared."""

    overrules: bool = False
    """Whether it counts also where the source declares a worse one."""


def with_effects(service: Service, authored: Mapping[str, AuthorEffect]) -> Service:
    """Returns the service with what each tool changes; `authored` has what the author declares, by tool.

    Each contradiction is a problem, and the more cautious fact counts.
    """
    problems, prefix, types = ProblemLog(), _prefix(service.tools), Types.of(service.schemas)
    tools = [_with_effect(tool, prefix, types, authored.get(tool.name), problems) for tool in service.tools]
    effects = {tool.name: tool.semantics.effect for tool in tools}
    tools = [tool if tool.name in authored else _with_called(tool, effects, problems) for tool in tools]
    return replace(service, tools=tuple(tools), problems=tuple(dict.fromkeys((*service.problems, *problems))))


def _with_effect(tool: Tool, prefix: Words, types: Types, author: AuthorEffect | None, problems: ProblemLog) -> Tool:
    method = (tool.method or "").lower()
    semantics = _with_side_effects(tool, _reconciled(tool, problems))
    if author is not None:
        semantics = _with_author(tool, semantics, author, problems)
    elif judged := _judged(tool if semantics is tool.semantics else replace(tool, semantics=semantics), prefix, types):
        semantics = _with_judged(tool, semantics, *judged, problems)
    operation = "read" if semantics.read_only else "delete" if method == "delete" else "write"
    if semantics.read_only is not None and semantics.operation in (None, None if semantics.read_only else "read"):
        semantics = with_facts(semantics, Origin("inferred", _source(semantics, "read_only")), operation=operation)
    # HTTP defines these methods as idempotent (RFC 9110, 9.2.2), but services create, send and pay with PUT.
    is_repeatable = method in ("put", "delete") or _EFFECT_OF_METHOD.get(method) == semantics.effect == "read"
    if semantics.idempotent is None and is_repeatable and not semantics.sends:
        semantics = with_facts(semantics, Origin("inferred", _BY_METHOD + method.upper()), idempotent=True)
    flags = (item.name for item in tool.parameters if item.syntax is not None and _is_asking(item.name, item.syntax))
    if semantics.requires_confirmation is None and (flag := next(flags, None)):
        semantics = with_facts(semantics, Origin("inferred", f"its option {flag}"), requires_confirmation=True)
    return replace(tool, semantics=semantics)


def _with_called(tool: Tool, effects: Mapping[str, Effect | None], problems: ProblemLog) -> Tool:
    """Returns a tool with the worst effect of the tools of a server that an argument may choose, unless it reads."""
    if tool.method or tool.semantics.effect in ("read", "destructive"):
        return tool
    schemas = ((item.name, node) for item in tool.parameters for node in nodes_in(item) if isinstance(node, Schema))
    lists = ((name, {*map(str, schema.choices)}) for name, schema in schemas if schema.choices)
    called = ((effects[each], name) for name, names in lists if effects.keys() >= names for each in names)
    effect, name = max(called, key=lambda item: rank_of(item[0]), default=(None, ""))
    if effect is None or not is_raised_by(tool.semantics.effect, effect):
        return tool
    return replace(tool, semantics=_with_judged(tool, tool.semantics, effect, _BY_ARGUMENT + name, problems))


def _is_asking(name: str, syntax: CommandSyntax) -> bool:
    """True for the flag of a command with which it does not ask before it acts."""
    is_yes = syntax.prompt is not None or name.strip("-") in _WORDS["asking"]
    return is_yes and syntax.is_flag and not syntax.negations


def _reconciled(tool: Tool, problems: ProblemLog) -> Semantics:
    """Returns what a tool declares, without contradictions: any change counts more than that it is read-only."""
    semantics = tool.semantics
    if earlier := [field for field in semantics.origins or () if field in _JUDGED and semantics.is_judged(field)]:
        origins = {field: origin for field, origin in (semantics.origins or {}).items() if field not in earlier}
        semantics = replace(semantics, **dict.fromkeys(earlier), origins=origins)
    if semantics.reversible is False and semantics.reversed_by is not None:
        _report(problems, tool, f"cannot be undone, but its reverseMethod is {semantics.reversed_by[:80]!r}")
        semantics = replace(semantics, reversed_by=None)
    if semantics.risk in ("safe", "reversible") and (semantics.destructive or semantics.reversible is False):
        reason = "it is destructive" if semantics.destructive else "it cannot be undone"
        _report(problems, tool, f"has the risk {semantics.risk}, but {reason}")
        is_implied = semantics.reversible and not semantics.is_declared("reversible")
        semantics = replace(semantics, risk=None, reversible=None if is_implied else semantics.reversible)
    changes = {
        "destructive": semantics.destructive and "it may delete or overwrite",
        "operation": semantics.operation not in (None, "read") and f"its operation is {semantics.operation}",
        "risk": semantics.risk not in (None, "safe") and f"its risk is {semantics.risk}",
        "reversible": semantics.reversible is False and "it cannot be undone",
        "side_effects": semantics.side_effects and "it has side effects",
        "reversed_by": semantics.reversed_by and "another tool undoes it",
    }
    field = next((field for field, reason in changes.items() if reason), None)
    if field and semantics.read_only is not False:
        if semantics.read_only:
            _report(problems, tool, f"is marked read-only, but {changes[field]}")
        semantics = with_facts(semantics, Origin("inferred", _source(semantics, field)), read_only=False)
    return semantics


def _with_side_effects(tool: Tool, semantics: Semantics) -> Semantics:
    """Returns the semantics with what the declared side effects and the cost say."""
    origins, declared = {**(tool.origins or {}), **(semantics.origins or {})}, Origin("declared", tool.pointer)
    for text in semantics.side_effects:
        effect = verb.effect if (verb := _verb_of_text(text)) else _effect_of_participles(text)
        if effect in ("sends", "destructive"):
            semantics = with_facts(semantics, origins.get("side_effects", declared), **{effect: True})
    if tool.cost is not None and tool.cost.category == "requires_approval":
        semantics = with_facts(semantics, origins.get("cost", declared), sends=True, requires_confirmation=True)
    return semantics


def _with_author(tool: Tool, semantics: Semantics, author: AuthorEffect, problems: ProblemLog) -> Semantics:
    """Returns the semantics with the author's effect, unless the source declares a worse one."""
    declared, effect = semantics.effect, author.effect
    if effect == declared:
        return semantics
    if rank_of(effect) < rank_of(declared):
        said = f"{tool.name!r} is declared {effect} instead of {declared}, as its source declares it"
        if not author.overrules:
            fix = f"add overrule: true to {tool.name} in skillgen.yaml (tools) if the source is wrong"
            problems.report("safety-facts-disagree", author.place, f"{said}; the more cautious fact is used", fix)
            return semantics
        problems.report("effect-lowered", author.place, said)
    facts: dict[str, Json] = {"read_only": effect == "read", "operation": "read" if effect == "read" else "write"}
    facts |= {other: effect == other or None for other in ("sends", "destructive")}
    cleared = {"side_effects": (), "reversed_by": None, "reversible": None} if effect == "read" else {}
    return with_facts(replace(semantics, risk=None, **cleared), Origin("declared", author.place), **facts)


def _with_judged(tool: Tool, semantics: Semantics, effect: Effect, source: str, problems: ProblemLog) -> Semantics:
    """Returns the semantics with the judged effect, where it is worse than what is declared."""
    origin = Origin("inferred", source)
    if effect == "read":
        label = "destructive" if semantics.destructive else "not read-only"
        if semantics.destructive or (semantics.read_only is False and source.startswith(_BY_METHOD)):
            _report(problems, tool, f"is marked {label}, but only reads by {source}")
        return with_facts(semantics, origin, read_only=True) if semantics.read_only is None else semantics
    if semantics.read_only or (semantics.destructive is False and effect == "destructive"):
        label = "read-only" if semantics.read_only else "not destructive"
        _report(problems, tool, f"is marked {label}, but {EFFECTS[effect]} by {source}")
    facts: dict[str, Json] = {"read_only": False} if effect == "write" or not semantics.read_only else {}
    facts |= {effect: True} if effect != "write" else {}
    facts = {key: value for key, value in facts.items() if getattr(semantics, key) != value}
    return with_facts(semantics, origin, **facts)


def _method_of(tool: Tool, types: Types) -> str:
    """Returns the method of a request in lower case, or the worst one that a parameter may put in its place."""
    method = (tool.method or "").lower()
    is_method = _PATTERNS["method"].match
    named = [item for item in tool.parameters if "method" in item.name.lower() and is_method(item.name.strip())]
    if not named:
        return method
    schemas = [schema for item in named for schema in types.variants(item.schema)]
    values = [value for schema in schemas for value in (*(schema.choices or ()), *schema.examples)]
    values += [schema.default.json for schema in schemas if schema.default is not None]
    others = (name for name in map(str.lower, map(str, values)) if name == "post" or name in _EFFECT_OF_METHOD)
    return max((method, *others), key=lambda method: rank_of(_EFFECT_OF_METHOD.get(method, "write")))


def _judged(tool: Tool, prefix: Words, types: Types) -> tuple[Effect, str] | None:
    """Returns the effect by method, name and summary, and which of them says it."""
    method, semantics = _method_of(tool, types), tool.semantics
    of_method, by_method = _EFFECT_OF_METHOD.get(method), _BY_METHOD + method.upper()
    if of_method == "destructive" and not semantics.read_only:
        return of_method, by_method
    own = _words(without_request(tool.name, tool.method, tool.path))
    readings = _readings(tool, own, prefix)
    sole = types.variants(tool.parameters[0].schema) if len(tool.parameters) == 1 else []  # its members, if it has any
    items = [item for schema in sole for item in schema.properties] or tool.parameters
    arguments = [(item, words_of(item.name) or ("",)) for item in items]
    if semantics.read_only:
        is_said = any(_VERBS.get(words[0]) == "read" for words in readings)
        listed = _chosen_by_arguments(tool, [] if is_said else arguments, own, types, of_method, None)
        worse = (each for each in listed if each[0] in ("sends", "destructive"))
        found = [(_plain_effect(readings), _BY_NAME), (of_method, by_method), *worse]
        effect, source = max(found, key=lambda item: rank_of(item[0]))
        return (effect, source) if effect else None
    ending = _PATTERNS["custom_method"].search(tool.path or "")
    custom = ending[1].lower() if ending else ""
    starts = {custom, *(words[0] for words in readings)}
    is_get = of_method == "read"
    text = tool.summary or tool.description or tool.title or ""
    verb = code = _code_in(starts if is_get else own, text, [words for _, words in arguments])
    if ending and custom in _VERBS and not (is_get and code):
        done = _effect_of(custom, [other for other in own if other != custom])
        # What follows a slash may be a noun, unless the name begins with it: it is not believed to read.
        if ":" in ending[0] or is_get or (own[:1] == (custom,) and done != "read" and not verb):
            verb = _Verb(custom, done)
    verb = verb or _verb_of_name(readings, is_request=bool(method))
    said, is_doubted = None, verb and verb.word in _RAISED
    if not is_get or code or is_doubted or starts & _CHANGES:
        said = _verb_of_text(text) or _verb_of_text(first_sentence(tool.description or ""))
    if is_get and not code:
        # What may be a noun begins the name and ends the path: `stop_job` at `/jobs/{id}/stop`, "Stop Job".
        certain = {*_WORDS["runs"], custom if tool.name.lower().startswith(custom) else ""}
        is_sure = said and (said.is_certain or said.word in certain) and starts & _CHANGES
        if (said and said.effect == "read") or not (is_sure or is_doubted):
            verb = said = None
    is_raised = said and said.effect in ("sends", "destructive") and (said.is_certain or not of_method)
    is_known = (semantics.read_only is not None or of_method) and not is_raised
    if is_known or (said and said.effect == "destructive" and semantics.destructive is False):
        said = None
    # Most requests of this method change something, so that a noun does not show that one reads.
    acts = () if _WORDS["acts"].isdisjoint(own) else _WORDS["acts"]
    nouns = _NOUNS_OF_POSTS if method == "post" else acts
    if said and said.effect == "read" and said.word in nouns and (not said.is_certain or said.word in acts):
        said = None
    if verb and verb.word in nouns and verb.effect == "read" and not (said and said.effect == "read"):
        verb = None
    if verb and said:
        *topics, last = map(_words, _PATTERNS["segment"].split(tool.name.replace(" ", "/")))  # `submit:status`
        is_topic = topics and (said.is_certain or said.word in last) and verb.word.partition("_")[0] not in last
        if said.effect == "read" and (verb.word in _NOUNS or is_topic):
            verb = None
        elif verb.effect == "read" and not said.is_certain:
            said = None
    chosen = [*_chosen_by_arguments(tool, arguments, own, types, of_method, verb)]
    if chosen and all(each == "read" for each, _ in chosen):  # "Manage boards", whose actions are list and get
        verb, said = (None if each and each.word in _WORDS["weak"] else each for each in (verb, said))
    found = [(of_method, by_method), (verb and verb.effect, _BY_NAME), (said and said.effect, _BY_TEXT)]
    if method == "post" and not verb and not (said and said.effect == "read") and not (tool.path or "").endswith("}"):
        posted = _effect_of("create", _words("".join(path_segments(tool.path or "")[-1:])))
        found.append(("sends" if posted == "sends" else None, by_method))
    sent = _PATTERNS["request_flags"].findall(tool.help) if tool.help else ()
    chosen += (("destructive", _BY_OPTION + flag) for flag in sent)
    effect, source = max([*found, *chosen], key=lambda item: rank_of(item[0]))
    if effect == "read" and method == "post" and _is_empty(tool) and not (verb and verb.word in _WORDS["checks"]):
        return "write", by_method
    if effect == "read" and tool.help and (flags := _PATTERNS["changing_flags"].findall(tool.help)):
        return "write", _BY_OPTION + min(flags)
    if effect == "read" and not (of_method or tool.command or _is_said_to_read(sentence := _said(text))):
        ends = [(words[-1], {*words, *sentence} & _WORDS["query_languages"]) for _, words in arguments]
        if any(end in _WORDS["languages"] or (is_code and end in _WORDS["queries"]) for end, is_code in ends):
            return None
    whole = (tool.help or tool.description or "").lower() if effect == "write" and semantics.destructive is None else ""
    if any(map(whole.__contains__, _WORDS["warnings"])) and _PATTERNS["warning"].search(" ".join(whole.split())):
        return "destructive", _BY_TEXT
    return (effect, source) if effect else None


def _is_empty(tool: Tool) -> bool:
    """True if no answer of a request has anything to read: it is done later, or without content (RFC 9110, 15.3)."""
    return tool.output is not None and {"202", "204", "205"} >= {it.status for it in (tool.output, *tool.other_outputs)}


# -- names -----------------------------------------------------------------------------------------------------------


class _Verb(NamedTuple):
    """What a verb says."""

    word: str
    effect: Effect
    is_certain: bool = True
    """Whether it says so much that a name that reads is not believed."""


def _words(name: str) -> Words:
    name = _folded(name)
    return words_of(_PATTERNS["version"].sub("", name) if "v" in name or "V" in name else name)


def _prefix(tools: Iterable[Tool]) -> Words:
    """Returns the word with which nearly all names begin, unless it is a verb."""
    names = [_words(tool.name) for tool in tools if "name" not in (tool.origins or {})]
    starts = Counter(words[:1] for words in names if len(words) > 1)
    start, count = max(starts.items(), key=lambda item: item[1], default=((), 0))
    is_prefix = len(names) >= _PREFIX_NAMES and count >= _PREFIX_SHARE * len(names) and start[0] not in _PLAIN
    return start if is_prefix else ()


def _readings(tool: Tool, own: Words, prefix: Words) -> list[Words]:
    """Returns the words of a name: of its last part after a full stop, those after a prefix or tag, and all of them.

    The last fixed segment of the path follows a POST's name. It replaces a name that was made up, and what it is done
    to precedes it: `/backups/restore`.
    """
    *before, last = path_segments(tool.path or "") or ("",)
    segment = _words(last)
    if "name" in (tool.origins or {}):
        done_to = _words("".join(before[-1:])) if len(segment) == 1 and segment[0] in _PLAIN else ()
        return [(*segment, *done_to)] if segment else []
    starts = [start for start in (prefix, *map(_words, tool.tags)) if start and start == own[: len(start)]]
    parts = map(_words, _PATTERNS["segment"].split(tool.name)[1:][-1:])  # `locations.transfer`
    others = [segment] if tool.method == "POST" else []
    return list(filter(None, [*parts, *(own[len(start) :] for start in starts), own, *others]))


def _first_verb(words: Words) -> _Verb | None:
    """Returns the verb with which a name begins, unless it may be a noun."""
    for size in (3, 2, 1):
        if (verb := "_".join(words[:size])) in _PLAIN:
            return _Verb(verb, _effect_of(verb, words[size:]))
    return None


def _verb_of_name(readings: Sequence[Words], *, is_request: bool) -> _Verb | None:
    """Returns the verb of a name: its first word, else its last one, else one in the middle; of the first reading.

    What may be a noun counts only if no other word is a verb; in a path, and after a method, hardly ever.
    """
    if first := next(filter(None, map(_first_verb, readings)), None):
        return first
    for words in readings:
        verbs: list[_Verb] = []
        words = (words[0], *takewhile(lambda word: word not in _ENDS, words[1:]))
        if words[-1] in _WORDS["read_nouns"] and _VERBS.get(words[0], "read") != "read":
            continue
        if not is_request and not _WORDS["read_nouns"].isdisjoint((words[0], words[-1])):
            verbs.append(_Verb(words[-1], "read"))
        for at, word in enumerate(words, 1):
            if word in _VERBS and (word not in _WORDS["nouns_at_end"] or (at == 1 and not is_request)):
                effect = _effect_of(word, words[at:] or words[:-1])
                if effect != "read" or at in (1, len(words)) or words[0] not in _VERBS:
                    verbs.append(_Verb(word, effect))
        if verbs:
            return min(verbs, key=lambda verb: (verb.word in _NOUNS, verb.effect != "read"))
    return None


def _plain_effect(readings: Sequence[Words]) -> Effect | None:
    """Returns the effect of a destructive or sending verb in a name that is never a noun, joined to another one.

    Of a name that does not begin with a verb that reads, also at its ends; of one that deletes, anywhere.
    """
    found = [*chain.from_iterable(map(_joined, readings))]
    if not any(_VERBS.get(words[0]) == "read" for words in readings):
        found += [_VERBS[end] for own in readings for end in (own[0], "_".join(own[:2]), own[-1]) if end in _PLAIN]
        found += ["destructive" for words in readings if not _DELETES.isdisjoint(words)]
    return next((effect for effect in found if effect in ("sends", "destructive")), None)


def _effect_of(verb: str, rest: Sequence[str]) -> Effect:
    """Returns what a verb does to what the words after it name; a verb that is joined to it counts too."""
    rules = _TABLE.objects.get(verb, ())
    what = [*takewhile(lambda word: word not in _ENDS and word not in _JOINTS, rest)] or rest[:1] if rules else ()
    names = {singular("_".join(what[-size:])) for size in (1, 2)} if what and "draft" not in what else set()
    effect = next((effect for things, effect in rules if names & things), _VERBS[verb])
    return effect if _JOINTS.isdisjoint(rest) else max([effect, *_joined(rest)], key=rank_of)


def _joined(rest: Sequence[str]) -> Iterator[Effect]:
    """Yields the effects of the verbs that are joined to one: "list, create or close", "read it and delete it"."""
    pairs = [*pairwise((*rest[:_JOINED], ""))]
    acting = {_base(*pair) for pair in pairs if pair[1] in _PRONOUNS}
    named = {_base(word) for word, after in pairs if after in _DETERMINERS and after not in ("as", "that")}
    acting |= {verb for verb in named if _VERBS.get(verb) != "write"}
    words = [_base(*pair) or pair[0] for pair in pairs if pair[0] not in _PRONOUNS and pair[0] not in _FILLERS]
    starts = takewhile(lambda word: word in _JOINTS or word in _VERBS, words)
    listed = [*starts] if _JOINTS.intersection(words[:1]) else []
    is_meant = False
    for at, (joint, word) in reversed([*enumerate(pairwise(words), 2)]):
        if joint in _JOINTS and word not in _JOINTS:
            # A word that may be a noun is a verb directly after the first one: "find and lock a row". Others are verbs
            # only if the last one of their list may be: not in "Get total, unread, and recent counts". "Bill" is one in
            # "and bill the customer".
            is_meant = word in _VERBS and (is_meant or at <= len(listed) or _JOINTS.isdisjoint(words[at:-1][:1]))
            if is_meant and (at == 2 or joint == "then" or word in _PLAIN or (word in acting and joint != ",")):
                yield _effect_of(word, words[at:])


def _code_in(words: Collection[str], text: str, arguments: Iterable[Sequence[str]] = ()) -> _Verb | None:
    """Returns the verb of what runs code that its caller writes, if these words or the arguments say so."""
    if _WORDS["runs"].isdisjoint(words) or _WORDS["code"].isdisjoint(chain(words, *arguments)):
        return None
    return _Verb("run_code", "read" if _is_said_to_read(_said(text)) else "destructive")


def _said(text: str) -> Words:
    """Returns the words of the first sentence."""
    return words_of(_SENTENCE_END.split(text[:_TEXT_LIMIT].strip().lower(), maxsplit=1)[0])


def _is_said_to_read(said: Words) -> bool:
    """True if these words of a sentence say that the code of a caller can change nothing."""
    return ("read", "only") in pairwise(said) or not _WORDS["only_reads"].isdisjoint(said)


# -- arguments ---------------------------------------------------------------------------------------------------------


def _chosen_by_arguments(
    tool: Tool, arguments: _Arguments, own: Words, types: Types, of_method: Effect | None, verb: _Verb | None
) -> Iterator[tuple[Effect | None, str]]:
    """Yields what the arguments of a call may choose: an action on what the name says, a flag, a file that it writes.

    Optional ones are data, if name or method say what the tool does, but for `cmd`, flags that are true by default, and
    files unless a method says it; so are flags in the body of a PUT or PATCH, and actions of what is added. "Manage"
    and "tag" do not say it. Of what is declared to read only, a required list of actions counts, by verbs that are
    never nouns.
    """
    declared, said_by = tool.semantics.read_only, verb.word if verb else ""
    is_named = declared or (verb and said_by not in _UNSAID)
    choosers = () if said_by in _WORDS["adds"] else _WORDS["choosers_of_get" if of_method == "read" else "choosers"]
    is_talk = verb and verb.effect == "write" and not of_method and singular("".join(own[-1:])) in _WORDS["talks"]
    for item, words in arguments:
        is_flag = "boolean" in item.schema.types and (item.required or item.schema.default == Value(True))
        is_act = is_flag and declared is None and (item.location, of_method) != ("body", "write")
        form = (item.schema.items or item.schema).format or ""
        is_meant = item.required or words[-1] == "cmd" or not (is_named or of_method)
        value = item.syntax and item.syntax.value
        is_text = not (item.syntax or tool.method) and item.schema.types in ((), ("string",))
        is_free = (value or is_text) and not item.schema.choices
        said = item.description if is_free and _PATTERNS["saved"].search((item.description or "").lower()) else None
        may_write = (said or words[0] in _WORDS["saves"]) and (item.syntax or item.required or not of_method)
        place = (*words_of(f"{words[-1]} {value} {said}"), "_".join(words)) if may_write else ()
        is_place = form == "path" or not _WORDS["places"].isdisjoint(place)
        if is_act and (act := _first_verb(words)) and act.effect in ("sends", "destructive"):
            yield act.effect, _BY_ARGUMENT + item.name
        elif (may_write and is_place) or form.startswith("output "):
            yield "write", _BY_ARGUMENT + item.name
        elif is_talk and item.required and words[-1] in _WORDS["messages"]:
            yield "sends", _BY_ARGUMENT + item.name
        elif is_meant and words[-1] in choosers:
            values = [value for schema in types.variants(item.schema) for value in schema.choices or ()]
            if not (values or declared):
                said = (item.description or tool.description or "")[:_LIST_LIMIT]
                values = _PATTERNS["listed"].findall(said)
                if words[-1] == "method" and len(values) < 2 and "http" in said.lower():
                    values = ["delete"]
            for first, *rest in filter(None, (_words(str(value)) for value in values)):
                known = _PLAIN if declared else _VERBS
                done = first if first in known else next(filter(_PLAIN.__contains__, rest[-1:]), "")
                yield None if not done else _effect_of(done, rest or own[-1:]), _BY_ARGUMENT + item.name


# -- sentences -------------------------------------------------------------------------------------------------------


def _verb_of_text(text: str) -> _Verb | None:
    """Returns the first word of a sentence if it is a verb, after words such as "This tool".

    In a text without spaces, the last stem of the first sentence counts, in Chinese the first.
    """
    text = _PATTERNS["start"].sub("", _folded(_PATTERNS["asides"].sub("", rewritten(text[:_TEXT_LIMIT]))))
    sentence = _SENTENCE_END.split(text, maxsplit=1)[0]
    if not sentence.isascii() and (runs := _PATTERNS["stems"].findall(sentence)):
        run = runs[-1 if _PATTERNS["kana"].search(sentence) else 0]
        return _Verb("", max((effect for stem, effect in _STEMS.items() if stem in run), key=rank_of))
    words = _WORD.findall(_PATTERNS["lead"].sub("", sentence.lower()))
    first, *rest = [*dropwhile(_FILLERS.__contains__, words)] or [""]
    verb = _base(first)
    if rest and (phrase := f"{verb or first}_{rest[0]}") in _PLAIN:  # "Turn off logging"
        return _Verb(phrase, _effect_of(phrase, rest[1:]))
    if not verb or verb in _WORDS["states"]:
        return _Verb("", "read") if first in _WORDS["read_leads"] else None
    if code := _code_in((verb, *takewhile(lambda word: word not in _ENDS, rest)), sentence):
        return code
    is_joined = rest[1:] and rest[0] in _JOINTS and rest[1] in _PLAIN  # "Display or change settings"
    is_noun = verb in _NOUNS and not is_joined and (not rest or rest[0] not in _DETERMINERS)
    if is_noun and first != verb and _VERBS[verb] != "read":  # "Orders by harbour"
        return None
    effect = _effect_of(verb, rest)
    is_certain = not is_noun or (first != verb and effect == "read")
    return _Verb(verb, effect, is_certain and verb not in _WORDS["weak"])


def _base(word: str, after: str = "") -> str:
    """Returns the verb of which a word is a form ("deletes", "deleting it"); empty without one."""
    words: Words = (word.replace("-", ""), word.rpartition("-")[2]) if "-" in word else (word,)
    if after in _PRONOUNS and word.endswith("ing"):
        words = (f"{word[:-3]}e", word[:-3], word[:-4])
    forms = ((word, word.removesuffix("s"), word.removesuffix("es"), f"{word.removesuffix('ies')}y") for word in words)
    return next((form for form in chain.from_iterable(forms) if form in _VERBS), "")


def _effect_of_participles(text: str) -> Effect | None:
    """Returns the worst that the participles of a sentence say: "Old records are deleted"."""
    words = map(str.lower, _WORD.findall(text))
    stems = (word[:-cut] if word.endswith("ed") else _PARTICIPLES.get(word, "") for word in words for cut in (1, 2, 3))
    return max((_VERBS[stem] for stem in stems if stem in _VERBS), key=rank_of, default=None)


def _source(semantics: Semantics, field: str) -> str:
    """Returns the source of a fact, as an inferred origin names it."""
    origin = (semantics.origins or {}).get(field, Origin("declared", field))
    return origin.source.rpartition("/")[2] if origin.kind == "declared" else origin.source


def _report(problems: ProblemLog, tool: Tool, what: str) -> None:
    problems.report("safety-facts-disagree", tool.pointer, f"{tool.name!r} {what}; the more cautious fact is used")
