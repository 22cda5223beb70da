"""Judges what calling a tool changes. The worst of these counts, in this order:

1. `_judge`: the HTTP method, the verbs of the name and those of the first sentence of a text. A method does not make a
   call harmless that is named `uninstall`; a POST only reads if name or text say so, and nothing says otherwise.
2. `_with_strong_words`: what a text says anywhere of what is overwritten, ended, sent or final.
3. `_with_body`: arguments that can only end something, or name who receives something.
4. `_with_code`: code, commands or SQL of the caller that the tool runs.
5. `_with_options`: flags with which a command deletes, or asks before it acts.
6. `_reconciled` and `_merged`: what the source declares. A contradiction is a problem; the more cautious fact counts.
7. `_with_author_effect`: what the author of the documents declares counts whatever else is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, pairwise, takewhile
from typing import NamedTuple

from msgspec.structs import replace

from skillgen.errors import ProblemLog
from skillgen.model.schema import Schema
from skillgen.model.service import Service
from skillgen.model.tool import EFFECTS, JUDGED_BY, OVERRULES, Effect, Semantics, Tool
from skillgen.model.values import Json, Origin
from skillgen.security.tables import Regex
from skillgen.text import lazy_re as re
from skillgen.text.words import (
    FORMAT_IN_PATH,
    NEUTRAL_VERBS,
    effect_of_verb,
    singular,
    without_request,
    word_set,
    words_of,
)

_WORST_LAST = (*EFFECTS,)

_NOTHING = Semantics()
_FIELDS = ("operation", "read_only", "destructive", "sends")
_BY_NAME, _BY_TEXT, _BY_METHOD, _BY_OPTION, _BY_PROPERTY = JUDGED_BY

_WEAK_READS = frozenset({"download", "return", "show"})
"""A POST that shows or downloads may change what is shown, and one that returns something may do anything before."""

_NOUNS = word_set(
    """
    archive ban block book boot broadcast build call capture change charge check claim clear click clone comment commit
    connect copy count deny deploy dial download draft drop email end exchange exit export extract fax filter follow
    fork format forward grant hide import increment insert install invite issue join kick launch leave license like link
    list load lock log lookup mark merge message mount move open order patch pause pay place post press preview process
    promote provision pull purchase purge push put query record redeem refresh refund register release render reply
    report request reserve reset retry return review rollback run sample save scan schedule search select send set
    share show sign sms sort spend split stage star start stop store submit swap switch sync tag take test toggle track
    train transfer trash trigger tweet update upgrade upload use view void vote wait watch wipe withdraw write
    """
)
"""Verbs that are nouns, or parts of them, as well: `order_status`, `get_update`."""

_MOSTLY_NOUNS = word_set(
    """
    block book call change charge comment connect email exchange fax format import issue license link log message mount
    order place post process record report schedule sms stage star store text train tweet
    """
)
"""Those that are hardly ever verbs unless a determiner follows."""

_SENT = word_set(
    """
    call charge comment disbursement donation fax fund invitation message notification order payment payout refund
    remittance reply reversal sms topup transfer withdrawal
    """
)
"""What reaches people or costs money once it exists."""

_OPENED = frozenset({"issue", "review", "merge request", "pull request"})
"""What notifies people when it is created, but not when something existing is added to it or posted below it."""

_MERGED = word_set("branch change changeset commit fork mr patch pr pull request upstream")
"""What is handed over when it is merged; of cells, contacts or accounts, one is left."""

_SECRETS = word_set("code credential key password secret token")
"""A call that generates one changes what is valid."""

_CREATES = word_set("add capture create generate initiate instruct issue make place post push schedule")

_FILLERS = frozenset({"all", "async", "batch", "bulk", "do", "force", "multi", "new"})
"""Words before the verb of a name."""

_BEFORE_VERB = _FILLERS | word_set(
    """
    a action allow allows an and api asynchronously be beta can command deprecated endpoint
    experimental for function functions helps http immediately in invoke invokes is it lets let method now
    operation permanently permits request resource rest route safely service simply synchronously that the this to
    tool tries used use user users we which will with you your
    """
)
"""Words before the verb of a sentence: "This endpoint allows you to delete"."""

_DETERMINERS = word_set(
    """
    a all an another any each every existing its it multiple my new one several specific that the their them these this
    those your
    """
)
_ENDS_OBJECT = word_set("about as at between by for from in into of on through to under using via when where with")
_QUESTIONS = frozenset({"how", "if", "that", "what", "where", "whether", "which", "why"})
"""Words after "report" that make it say something: "Report what is missing", but "Report an issue"."""

_QUERIES = frozenset({"aggregation", "aggregations", "queries", "query", "search"})
"""What is run or started without being known to change something: a declaration counts more."""

_JOINTS = frozenset({"and", "or", "then"})
_CHECKS_IN = frozenset({"in", "off", "on", "out", "up"})
"""`check_in` and `log_out` change something, unlike `check_status`."""

_SAFE_METHODS = frozenset({"get", "head", "options", "trace", "query", "propfind", "report", "search"})
_EFFECT_OF_METHOD: dict[str, Effect] = {"delete": "destructive", "put": "write", "patch": "write"}

_LOGIN = word_set(
    "auth authenticate authentication authorization login logon oauth password session sessions signin token tokens"
)
"""A POST about these creates something, even if it says "get"."""

_DESTROYING_OPTIONS = word_set(
    "delete destroy discard drop erase nuke overwrite prune purge remove replace rm shred truncate wipe"
)
"""The first word of a flag with which a command may delete or overwrite; `--discard` alone may concern its output."""

_ASKING_OPTIONS = word_set("assume-yes auto-approve confirm no-confirm skip-confirm skip-confirmation y yes")
"""Flags of a command that asks before it acts, without their hyphens."""

_ENDED = word_set(
    """
    canceled cancelled closed completed deactivated deleted disabled ended expired finished rejected
    removed revoked stopped suspended terminated
    """
)
"""Values with which a call ends something if it can send no other, next to the verbs that destroy."""

_ACTING_ON_GET = frozenset({"open", "request", "verify"})
"""Neutral verbs that a name of a GET has only for what the call does: `views.open`."""

_SEGMENT = re.compile(r"[/.:=#]")
_NOTICE = re.compile(r"\A\s*<(note|important)>.{0,4000}?</\1>", re.DOTALL)
"""An element before the first sentence of a text that says something else."""

_TEXTS_KEPT = 1 << 12
"""Texts of which the signals and the words are kept: several questions concern each, and tools share texts."""

_TEXT_LIMIT = 400
_TEXT_WORD = re.compile(r"[A-Za-z][A-Za-z'’-]*|[,;:/&]|\d+")
_SENTENCE_END = re.compile(r"[.!?](?:\s|$)|\n\s*\n")
_TAGS = re.compile(r"</?[A-Za-z][^<>]{0,200}>")
_BRACKETS = re.compile(r"^\W*[\[(][^\])\n]{0,80}[\])]\W*")
_OPERATION = re.compile(
    r"\A\W*The \W?\w+\W? (?:action|api|call|command|function|method|operation|request|tool)\b", re.IGNORECASE
)
"""A start that repeats the name: "The GetItem operation returns …"."""

_OVERWRITES = re.compile(r"\b(?:overwrit(?:e|es|ing)|permanently)\b", re.IGNORECASE)
_SENDS = Regex(
    r"\b(?:(?:triggers|will trigger) (?:\w+ )?\[?notifications?"
    r"|(?:sends|will send) (?:\w+ ){0,4}(?:e-?mails?|notifications?|sms|text messages?) to"
    r"|(?:e-?mail|invitation|message|notification|sms) (?:is|will be|will also be) (?:sent|send) (?:to|if|when|once)"
    r"|(?:initiates?|attempts?) (?:a|the) (?:charge|payment)"
    r"|(?:charges|debits|debiting) (?:an?|the|your) (?:\w+ ){0,3}(?:account|buyer|card|customer|payer|payment method)"
    r"|will receive an? (?:\w+ )?(?:e-?mail|notification|sms|text message)"
    r"|tops? up (?:an?|the|your) (?:account|balance|wallet)"
    r"|account is (?:billed|charged|debited)|you are (?:billed|charged) (?:for|the|upfront)"
    r"|will (?:\w+ly |also |then )?be (?:billed|charged))\b",
    re.IGNORECASE,
)
"""What reaches people or costs money, wherever a text says it of a call; of one that reads, only about itself."""

_REPLACES = Regex(
    r"\b(?:(?:overwrites?|replaces) (?:all|any) existing"
    r"|overwrites? (?:(?:all|an|any|the|your) )?(?:current|entire|existing|previous)"
    r"|(?:action|call|method|operation|request|this) (?:will overwrite|overwrites)"
    r"|(?:existing|old|original|previous(?:ly)?) (?:[\w-]+ ){1,6}(?:are|is|will be) "
    r"(?:\w+ly )?(?:deleted|erased|invalidated|lost|overwritten|replaced|revoked))\b",
    re.IGNORECASE,
)
"""What a text says of a call that changes something, and does so to what is there already."""

_ENDS = Regex(
    r"\b(?:(?:limited|used) to (?:revok(?:e|ing)|cancel(?:ing|ling)?|delet(?:e|ing)|redact(?:ing)?|remov(?:e|ing)"
    r"|terminat(?:e|ing))"
    r"|will also (?:cancel|delete|erase|remove|revoke) "
    r"|will no longer (?:be an? |belong to |have (?:any )?access ))",
    re.IGNORECASE,
)
"""What a text says of a call that ends or takes away something."""

_RECIPIENT = re.compile(r"\b(?:e-?mail address|phone number|recipients?)\b", re.IGNORECASE)

_REQUEST = re.compile(r"\A\W*(?:send|submit)s? an? (?:\w+ )?request to (?=(\w+))", re.IGNORECASE)
"""A start before the verb that counts: "Sends a request to cancel"."""

_WILL_CHANGE = re.compile(
    r"\bwill (?:\w+ly |also |then )?be (?:\w+ly )?"
    r"(?:added|charged|created|deleted|removed|replaced|saved|sent|stored|updated)\b",
    re.IGNORECASE,
)


class _Judgement(NamedTuple):
    """What a call changes."""

    effect: Effect
    """The worst effect."""

    source: str
    """What suggests it."""

    is_certain: bool = True
    """False if a declared fact may rule it out."""


class _Signal(NamedTuple):
    """What one verb says."""

    effect: Effect
    verb: str
    is_certain: bool
    """False if it may be a noun."""


def with_effects(service: Service, authored: Mapping[str, tuple[Effect, str]]) -> Service:
    """Returns the service with what each tool changes: the worst of what is declared and what is judged.

    Each contradiction is a problem, and the more cautious fact counts. `authored` has what the author of the documents
    declares, with the place: it counts whatever else is known.
    """
    problems = ProblemLog()
    types = {item.name: item.schema for item in service.schemas}
    judged = {tool.name: _with_effect(tool, types, problems) for tool in service.tools if tool.name not in authored}
    tools = tuple(
        _with_author_effect(tool, *authored[tool.name], problems) if tool.name in authored else judged[tool.name]
        for tool in service.tools
    )
    return replace(service, tools=tools, problems=tuple(dict.fromkeys((*service.problems, *problems))))


def _without_format(path: str | None) -> str:
    return FORMAT_IN_PATH.sub("", path or "")


def _with_author_effect(tool: Tool, effect: Effect, place: str, problems: ProblemLog) -> Tool:
    semantics = tool.semantics
    by_source = replace(_NOTHING, **{name: getattr(semantics, name) for name in _FIELDS if semantics.is_declared(name)})
    if by_source.effect and _WORST_LAST.index(effect) < _WORST_LAST.index(by_source.effect):
        message = f"{tool.name!r} is declared {effect} instead of {by_source.effect}, as its source declares it"
        problems.report("effect-lowered", place, message)
    if effect == "read":
        semantics = replace(semantics, side_effects=(), reversed_by=None, reversible=None)
    operations = ("write", "admin", "delete") if effect == "destructive" else ("write", "admin")
    other = semantics.operation if semantics.operation in operations else "write"
    semantics = _with(
        replace(semantics, risk=semantics.risk if effect == "destructive" else None),
        Origin("declared", place),
        operation="read" if effect == "read" else other,
        read_only=effect == "read",
        destructive=True if effect == "destructive" else None,
        sends=True if effect == "sends" else None,
    )
    return replace(tool, semantics=_with_judged(semantics, None, (tool.method or "").lower()))


def _with_effect(tool: Tool, types: Mapping[str, Schema], problems: ProblemLog) -> Tool:
    semantics, method = tool.semantics, (tool.method or "").lower()
    texts = [text for text in (tool.summary, tool.description or tool.title) if text and not tool.is_preflight]
    # The group of a command precedes its verb, as a prefix precedes that of a tool.
    name = tool.name.replace(" ", "_") if tool.command else tool.name
    judged = _judge(method, tool.path, name, texts)
    said = (tool.summary, tool.description, *semantics.side_effects, *(part.body for part in tool.guidance))
    is_read = semantics.read_only or (judged is not None and judged.effect == "read")
    is_final = _says(_IRREVERSIBLE, said, is_read)
    judged = _with_body(_with_strong_words(judged, texts, is_final), tool, types)
    judged = _with_code(judged, tool, name, texts)
    judged, asking = _with_options(judged, tool) if tool.command else (judged, None)
    if semantics == _NOTHING:
        semantics = _judged(judged, method, is_final)
    else:
        semantics = _merged(tool, _reconciled(tool, is_final, problems), judged, problems)
    if asking is not None and semantics.requires_confirmation is None:
        semantics = _with(semantics, Origin("inferred", _BY_OPTION + asking), requires_confirmation=True)
    return replace(tool, semantics=semantics)


def _with_strong_words(judged: _Judgement | None, texts: Sequence[str], is_final: bool) -> _Judgement | None:
    """Returns the effect, worse if a text says anywhere what the call overwrites or reaches, or that it is final."""
    effect = judged.effect if judged else None
    if effect in (None, "write", "sends") and (
        _says(_REPLACES, texts) or _says(_ENDS, texts) or (is_final and _says(_UNDOES_NOT, texts))
    ):
        return _Judgement("destructive", _BY_TEXT)
    if effect in (None, "read", "write") and _says(_SENDS, texts, effect == "read"):
        return _Judgement("sends", _BY_TEXT, judged is not None and judged.is_certain)
    return judged


_FORCED = re.compile(r"\b(?:overwrit|discard|destroy|delet|lose\b|lost\b)", re.IGNORECASE)
"""What a call may do that is forced."""


def _with_body(judged: _Judgement | None, tool: Tool, types: Mapping[str, Schema]) -> _Judgement | None:
    """Returns the effect, worse if the arguments can only end something, or say who receives something."""
    if judged is None or judged.effect not in ("write", "sends"):
        return judged
    sent = [item for item in tool.parameters if item.location in ("argument", "body")]
    for item in sent:
        schema = types.get(item.schema.ref or "", item.schema)
        match schema.choices:
            case [str(value)] if value.lower() in _ENDED or effect_of_verb(value.lower()) == "destructive":
                return _Judgement("destructive", _BY_PROPERTY + item.name)
        if item.name.lower() == "force" and _FORCED.search(item.description or ""):
            return _Judgement("destructive", _BY_PROPERTY + item.name)
    if judged.effect == "write" and judged.is_certain and tool.method == "POST":
        if any(
            item.name.lower() == "to" and item.required and _RECIPIENT.search(item.description or "") for item in sent
        ):
            return _Judgement("sends", _BY_PROPERTY + "to")
    return judged


_RUNS_CODE = re.compile(
    r"\A\W*(?:(?!describe|get|list|show)\w+ ){0,2}?(?:eval|evaluate|exec|execute|run)s? (?:[\w/-]+ ){0,4}?"
    r"(?:code|commands?|cmds?|cypher|(?:apple|java|power|type)?scripts?|lua|python|(?:power)?shell|sql|statements?)\b"
    r"|\A\W*(?:send|type|write)s? (?:\w+ ){0,3}?(?:commands?|input|key(?:stroke)?s|text) to (?:[\w/-]+ ){0,5}?"
    r"(?:console|pane|process|repl|shell|terminal|tmux)\b",
    re.IGNORECASE,
)
"""What calls or names a tool that runs what its caller writes."""

_CODE_TO_RUN = re.compile(
    r"\b(?:cmd|code|commands?|cypher|javascript|python|scripts?|sql|statements?)(?: \w+)? to (?:be )?(?:eval|exec|run)",
    re.IGNORECASE,
)
"""What says that an argument is such code."""

_ONLY_QUERIES = re.compile(r"\b[Rr]ead-?only\b|\bSELECT\b|\b(?:dry[ -]run|explain)\b")


def _with_code(judged: _Judgement | None, tool: Tool, name: str, texts: Sequence[str]) -> _Judgement | None:
    """Returns the effect of a tool; it may delete if it runs commands, code or SQL that its caller writes."""
    is_worst = judged is not None and judged.effect == "destructive"
    is_safe = (tool.method or "").lower() in _SAFE_METHODS
    if is_worst or is_safe or any(map(_ONLY_QUERIES.search, texts)):
        return judged
    if any(_RUNS_CODE.match(_TAGS.sub("", text)) for text in texts):
        return _Judgement("destructive", _BY_TEXT, is_certain=False)
    if _RUNS_CODE.match(" ".join(words_of(name))):
        return _Judgement("destructive", _BY_NAME, is_certain=False)
    for item in () if tool.method else tool.parameters:  # an operation may keep the code, to run it later
        text = item.description or ""
        if (match := _CODE_TO_RUN.search(text)) and not _ONLY_QUERIES.search(text[: match.start()]):
            return _Judgement("destructive", _BY_PROPERTY + item.name, is_certain=False)
    return judged


def _with_options(judged: _Judgement | None, tool: Tool) -> tuple[_Judgement | None, str | None]:
    """Returns the effect of a command, worse if a flag may make it so, and the flag for a yes in advance."""
    asking = None
    for item in tool.parameters:
        syntax = item.syntax
        if syntax is None or not syntax.is_flag:
            continue
        effect: Effect | None = None
        for name in (item.name, *syntax.aliases):
            words = name.strip("-").lower()
            first = words.partition("-")[0]
            if words in _ASKING_OPTIONS or (syntax.prompt is not None and not syntax.negations):
                effect, asking = "write", item.name
            elif words == "dry-run":
                effect = "write"
            elif words == "force" or (first in _DESTROYING_OPTIONS and words != "discard"):
                effect = "destructive"
        if effect is not None and (judged is None or _WORST_LAST.index(effect) > _WORST_LAST.index(judged.effect)):
            judged = _Judgement(effect, _BY_OPTION + item.name)
    return judged, asking


@lru_cache(256)
def _judged(judged: _Judgement | None, method: str, is_final: bool) -> Semantics:
    """Returns the semantics of a tool that declares none; many tools share one object."""
    return _with_judged(_final(_NOTHING) if is_final else _NOTHING, judged, method)


def _reconciled(tool: Tool, is_final: bool, problems: ProblemLog) -> Semantics:
    """Returns what a tool declares, without contradictions: any change counts more than that it is read-only."""
    semantics = tool.semantics
    if is_final and semantics.reversible is not False:
        if semantics.reversible and semantics.is_declared("reversible"):
            _report(problems, tool, "is marked reversible, but its description says that it cannot be undone")
        semantics = _final(semantics)
    if semantics.reversible is False and semantics.reversed_by is not None:
        _report(problems, tool, f"cannot be undone, but its reverseMethod is {semantics.reversed_by[:80]!r}")
        semantics = replace(semantics, reversed_by=None)
    is_destructive = semantics.destructive and semantics.is_declared("destructive")
    if semantics.risk == "reversible" and (is_destructive or semantics.reversible is False):
        reason = "it is destructive" if is_destructive else "it cannot be undone"
        _report(problems, tool, f"has the risk reversible, but {reason}")
        is_implied = semantics.reversible and not semantics.is_declared("reversible")
        semantics = replace(semantics, risk=None, reversible=None if is_implied else semantics.reversible)
    elif semantics.risk == "safe" and is_destructive:
        semantics = replace(semantics, risk=None)
    change = _declared_change(semantics)
    if change is not None and semantics.read_only is not False:
        field, reason = change
        if semantics.read_only and not semantics.is_judged("read_only"):
            _report(problems, tool, f"is marked read-only, but {reason}")
        semantics = _with(semantics, Origin("inferred", _source(semantics, field)), read_only=False)
    elif semantics.read_only is False and (semantics.destructive, semantics.operation) == (None, None):
        semantics = _with(semantics, Origin("defaulted", "MCP's default"), destructive=True)
    return semantics


def _merged(tool: Tool, semantics: Semantics, judged: _Judgement | None, problems: ProblemLog) -> Semantics:
    """Returns what is declared, with what is judged where that is worse."""
    method = (tool.method or "").lower()
    if judged is None:
        return _with_judged(semantics, None, method)
    if judged.effect == "read":
        origin = (semantics.origins or {}).get("destructive")
        is_marked = semantics.destructive and (origin is None or origin.kind != "defaulted")
        # That a tool is not read-only is hardly wrong because its name reads: what it gets, it may store.
        if is_marked or (semantics.read_only is False and judged.source.startswith(_BY_METHOD)):
            label = "destructive" if is_marked else "not read-only"
            _report(problems, tool, f"is marked {label}, but only reads by {judged.source}")
        return _with_judged(semantics, judged, method)
    field = "read_only" if semantics.read_only else "destructive"
    if semantics.read_only or (semantics.destructive is False and judged.effect == "destructive"):
        is_known = not semantics.is_judged(field)
        if is_known and not judged.is_certain:
            return _with_judged(semantics, None, method)
        if is_known:
            label = "read-only" if semantics.read_only else "not destructive"
            _report(problems, tool, f"is marked {label}, but {EFFECTS[judged.effect]} by {judged.source}")
            judged = judged._replace(source=f"{judged.source}{OVERRULES}")
    return _with_judged(semantics, judged, method)


def _with_judged(semantics: Semantics, judged: _Judgement | None, method: str) -> Semantics:
    """Returns the semantics with the judged effect, unless they have a worse one, and with what HTTP defines."""
    facts: dict[str, Json] = {}
    if judged is not None and judged.effect != "read":
        facts = {"read_only": False, **({} if judged.effect == "write" else {judged.effect: True})}
    elif judged is not None and semantics.read_only is None and not semantics.destructive:
        facts = {"read_only": True}
    facts = {field: value for field, value in facts.items() if getattr(semantics, field) is not value}
    if judged is not None and facts:
        semantics = _with(semantics, Origin("inferred", judged.source), **facts)
    origin = Origin("inferred", _source(semantics, "read_only"))
    if semantics.read_only and semantics.operation is None:
        semantics = _with(semantics, origin, operation="read")
    elif semantics.read_only is False and semantics.operation in (None, "read"):
        semantics = _with(semantics, origin, operation="delete" if method == "delete" else "write")
    # HTTP defines these methods as idempotent (RFC 9110, 9.2.2), which many services are not.
    if semantics.idempotent is None and (
        method in ("put", "delete") or (method in _SAFE_METHODS and semantics.read_only)
    ):
        semantics = _with(semantics, Origin("inferred", _BY_METHOD + method.upper()), idempotent=True)
    return semantics


def _judge(method: str, path: str | None, name: str, texts: Sequence[str]) -> _Judgement | None:
    """Returns the worst effect that method, name and texts suggest; `None` if they suggest none.

    The first of `texts` with a verb counts; all do for a POST, which may do anything (RFC 9110, 9.3.3).
    """
    is_safe, of_method = method in _SAFE_METHODS, _BY_METHOD + method.upper()
    of_name = [*_signals_of_name(method, path or "", name)]
    of_each = map(_signals_of_text, texts)
    of_texts = next(filter(None, of_each), ()) if is_safe or not method else (*chain.from_iterable(of_each),)
    found = [_Judgement(_EFFECT_OF_METHOD[method], of_method)] if method in _EFFECT_OF_METHOD else []
    for signals, others, source in ((of_name, of_texts, _BY_NAME), (of_texts, of_name, _BY_TEXT)):
        acting = [signal for signal in signals if signal.effect != "read"]
        certain = [signal for signal in acting if signal.is_certain]
        if _only_read(others):
            certain = acting = [
                signal
                for signal in certain
                if not (is_safe and signal.verb in _NOUNS) and not (not method and signal.verb in NEUTRAL_VERBS)
            ]
        found += [
            _Judgement(signal.effect, source, signal.is_certain and signal.verb not in NEUTRAL_VERBS)
            for signal in certain or ([] if is_safe else acting)
            if not (is_safe and signal.verb in NEUTRAL_VERBS - _ACTING_ON_GET)
        ]
    if found:
        return max(found, key=lambda item: (_WORST_LAST.index(item.effect), item.is_certain))
    if is_safe:
        return _Judgement("read", of_method)
    reads = {signal.verb for signal in of_texts if signal.effect == "read"}
    name_reads = any(signal.effect == "read" and (signal.is_certain or not method) for signal in of_name)
    is_changing = any(map(_WILL_CHANGE.search, texts))
    if not method:
        source = _BY_NAME if name_reads else _BY_TEXT
        if is_changing:
            return _Judgement("write", _BY_TEXT, is_certain=False)
        return _Judgement("read", source) if name_reads or reads - _WEAK_READS else None
    is_read = reads - _WEAK_READS - {"report"} or (name_reads and (reads or not any(texts)))
    if is_read and not is_changing and _LOGIN.isdisjoint(words_of(f"{name} {path}")):
        return _Judgement("read", _BY_TEXT if reads else _BY_NAME)
    return _Judgement("write", of_method, is_certain=False)


def _only_read(signals: Sequence[_Signal]) -> bool:
    """True if a verb certainly reads, and no other one acts."""
    return any(signal.is_certain for signal in signals) and all(signal.effect == "read" for signal in signals)


def _signals_of_name(method: str, path: str, name: str) -> Iterator[_Signal]:
    """Yields what a name says; the last fixed segment of the path, if the name consists of method and path."""
    fixed = [part for part in path.split("/") if part and "{" not in part]
    last = _without_format(fixed[-1]) if fixed else ""
    words = words_of(last)
    bare = name[len(method) :].lstrip("_-") if name.lower().startswith(method) else name
    if _letters(_without_format(path)).endswith(_letters(_without_format(bare)) or "/"):
        signals = []
    else:
        # With its path: the method at the end of FastAPI's names says more than a verb of the function's name.
        signals = [*_signals_of_words(without_request(name, method, None))]
    is_collection = bool(words) and path.rstrip("/").endswith(fixed[-1]) and _is_sent(words)
    if method == "post" and is_collection and not _only_read(signals):
        if not any(effect_of_verb(word) == "read" for word in words):
            yield _Signal("sends", "post", True)
    if not signals:
        is_thing = _is_thing(words)
        signals = [item._replace(is_certain=False) if is_thing else item for item in _signals_of_words(last)]
        # `sendToken` at /sendtoken
        if not signals and method == "post" and _letters(bare) == last.lower() and not _is_thing(words_of(bare)):
            signals = [*_signals_of_words(bare)]
    yield from signals
    if method == "post" and len(words) == 1 and effect_of_verb(words[0]) in ("destructive", "sends"):
        if words[0] not in _NOUNS and path.rstrip("/").endswith(fixed[-1]):  # `POST /orders/{id}/cancel`
            yield _Signal(effect_of_verb(words[0]) or "write", words[0], True)


def _is_thing(words: Sequence[str]) -> bool:
    """True for `merge_requests`, which are things; `purge_ropes` and `list_ropes` are actions."""
    return (
        bool(words) and words[0] in _NOUNS and effect_of_verb(words[0]) != "read" and singular(words[-1]) != words[-1]
    )


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).lower()


def _signals_of_words(name: str) -> Iterator[_Signal]:
    """Yields what the verbs of a name say: the first word, the one after the last `_`, and those joined by "or"."""
    parts = [part for part in _SEGMENT.split(name) if part] or [name]
    first_part, last_part = parts[0], parts[-1]
    all_words = words_of(last_part)
    words = all_words[sum(1 for _ in takewhile(_FILLERS.__contains__, all_words[:-1])) :]
    if words[:1] == ("un",) and words[1:]:
        words = (f"un{words[1]}", *words[2:])  # `unSuspend`
    if not words:
        return
    for before, word in pairwise(words):
        if before in _JOINTS and (effect := effect_of_verb(word)):
            yield _Signal(effect, word, word not in _NOUNS)
    if words[0] in ("check", "log", "sign") and words[1:] and words[1] in _CHECKS_IN:
        yield _Signal("write", words[0], True)
        return
    tail = words_of(last_part.rpartition("_")[2])
    effects = [effect_of_verb(word) for word in words]
    plain = next((index for index, word in enumerate(words) if effects[index] and word not in _NOUNS), None)
    is_read = plain is not None and effects[plain] == "read"
    tail_reads = bool(tail) and effect_of_verb(tail[0]) == "read"
    if is_read or (tail_reads and len(words) > len(tail)):
        yield _Signal("read", words[plain or 0] if is_read else tail[0], effects[0] in (None, "read"))
    for index, (word, effect) in enumerate(zip(words, effects, strict=True)):
        is_tail = index == len(words) - len(tail)
        if (
            effect is None
            or (is_read and index >= (plain or 0))
            or (plain is not None and index > plain and not (is_tail and word not in _NOUNS))
        ):
            continue
        if index == 0:
            is_noun = tail_reads or plain is not None or word in _MOSTLY_NOUNS
            is_noun = is_noun or (word == "request" and len(words) > 1)  # `requestRoles`
            is_certain = word not in _NOUNS or not is_noun or effect == "read"
        elif word in _NOUNS:
            is_certain = is_tail and len(tail) == 1 and word not in _MOSTLY_NOUNS
        else:
            is_certain = effects[0] is None or is_tail or index == len(words) - 1
        yield _created(effect, words[index:], is_certain and not _reads(first_part, last_part))


def _reads(first_part: str, last_part: str) -> bool:
    """True if another part of a name begins with a verb that reads: `Get.Count.callRecords`."""
    return first_part != last_part and effect_of_verb((words_of(first_part) or ("",))[0]) == "read"


def _created(effect: Effect, words: Sequence[str], is_certain: bool) -> _Signal:
    """Returns the signal of the first of these words; it sends if it creates what reaches people or costs money."""
    what = [*takewhile(lambda word: word.isalpha() and word not in _ENDS_OBJECT, words)]
    if words[0] == "merge" and len(what) > 1 and _MERGED.isdisjoint((what[1], singular(what[-1]))):
        return _Signal("destructive", "merge", is_certain)
    if words[0] in _CREATES:
        is_opened = words[0] == "create" and not _OPENED.isdisjoint((singular(what[-1]), singular(" ".join(what[-2:]))))
        if (_is_sent(what) or is_opened) and len(what) > 1:
            return _Signal("sends", "create", is_certain)
        if singular(what[-1]) in _SECRETS:
            return _Signal(effect, "create", is_certain)
    if words[0] in ("regenerate", "rotate") and singular(what[-1]) in _SECRETS:
        return _Signal("destructive", words[0], is_certain)
    return _Signal(effect, words[0], is_certain)


def _is_sent(what: Sequence[str]) -> bool:
    """True if what is created reaches people or costs money; a payment intent may be confirmed at once."""
    words = [*takewhile(lambda word: word not in _ENDS_OBJECT, what)]
    return bool(words) and (singular(words[-1]) in _SENT or "payment intent" in singular(" ".join(words)))


@lru_cache(_TEXTS_KEPT)
def _signals_of_text(text: str) -> tuple[_Signal, ...]:
    """Returns what the first sentence says: its first verb, and the verbs that are joined to it."""
    return tuple(_signals_of_sentence(text))


def _signals_of_sentence(text: str) -> Iterator[_Signal]:
    text = _TAGS.sub("", _NOTICE.sub("", text)[:_TEXT_LIMIT]).strip()
    text = _OPERATION.sub("", _BRACKETS.sub("", text))
    if (request := _REQUEST.match(text)) is not None and effect_of_verb(request[1]):
        text = text[request.end() :]
    sentence = _SENTENCE_END.split(text, maxsplit=1)[0]
    words = [word.lower() for word in _TEXT_WORD.findall(sentence)]
    start = sum(1 for _ in takewhile(_BEFORE_VERB.__contains__, words))
    verb, ending = _verb_in(words[start]) if start < len(words) else ("", "")
    if not verb or effect_of_verb(verb) != "read":
        for match in _OVERWRITES.finditer(sentence):
            if not _DENIED.search(sentence[: match.start()]):
                yield _Signal("destructive", match[0].lower(), True)
    if not verb:
        return
    rest = words[start + 1 :]
    effect = effect_of_verb(verb)
    assert effect is not None
    if verb == "report" and rest and rest[0] in _QUESTIONS:
        effect = "read"
    if effect == "read":
        is_certain = verb != "return"
        effect = "write" if verb == "check" and rest and rest[0] in _CHECKS_IN else effect
    else:
        has_object = bool(rest) and rest[0] in _DETERMINERS
        # "Used to create payments" is often said of a resource, below each of its methods.
        is_certain = (verb not in _NOUNS or has_object) and words[0] not in ("can", "used") and ending != "ing"
        is_certain = is_certain and not (verb in ("execute", "run", "start") and _QUERIES & {*rest[:4]})
    yield _created(effect, [verb, *rest], is_certain)
    is_enumeration = bool(rest) and (not rest[0].isalpha() or rest[0] in _JOINTS)
    for before, word, after in zip(rest, rest[1:], (*rest[2:], ""), strict=False):
        is_enumeration = is_enumeration and (not before.isalpha() or before in _JOINTS or bool(_verb_in(before)[0]))
        other, other_ending = _verb_in(word) if before in _JOINTS or not before.isalpha() else ("", "")
        is_clause = after in _DETERMINERS and other not in NEUTRAL_VERBS
        is_joined = before in _JOINTS and (other not in _NOUNS or is_clause)
        is_part = effect == "read" and other in NEUTRAL_VERBS  # "Fetch and extract the text of a page"
        if other and other_ending == ending and (is_enumeration or is_joined) and not is_part:
            yield _Signal(effect_of_verb(other) or "write", other, True)


def _verb_in(word: str) -> tuple[str, str]:
    """Returns the verb of a word, and its ending: `delete` and `s` for "deletes"."""
    stems = [(word, "")]
    if word.endswith("s"):
        stems += [(word[:-1], "s"), (word.removesuffix("es"), "s"), (re.sub("ies$", "y", word), "s")]
    elif word.endswith("ing"):
        stems += [(word[:-3], "ing"), (word[:-3] + "e", "ing"), (word[:-4], "ing")]
    return next(((stem, ending) for stem, ending in stems if effect_of_verb(stem)), ("", ""))


_REMOVE = "(?:delet|remov|eras|destroy|wip|purg|overwrit|drop|clear|discard|revok|cancel|terminat|clos)(?:e?s?|ing)"
_REMOVED = "(?:deleted|removed|erased|destroyed|wiped|purged|overwritten|lost)"
_CANNOT = "(?:can(?:no|['’]?)t|couldn['’]?t|won['’]?t|(?:can|could|will|may) (?:not|never))"
_LOSES = r"(?:can|could|may|might|will) (?:cause|lead to|result in|be) (?:\w+ )?(?:data loss|loss of data)"
_IRREVERSIBLE = Regex(
    r"\b(?:"
    rf"{_CANNOT} (?:\w+ )?be (?:\w+ )?(?:undone|reversed|reverted|recovered|restored|rolled back|taken back)"
    r"|irreversibl[ey]|irrevocabl[ey]|unrecoverabl[ey]|non-?(?:recoverable|reversible)"
    r"|not (?:be )?(?:reversible|undoable|recoverable)"
    r"|(?:no|no way to|(?:im|not )possible to|can(?:no|['’]?)t|can(?: not| never)) undo"
    rf"|permanently (?:and \w+ )?{_REMOVE}|{_REMOVE}(?: [^\s.;]+){{1,8}} permanently"
    rf"|(?:be|is|are|gets?) permanently {_REMOVED}|permanent (?:deletion|removal|erasure|data loss)"
    rf"|{_LOSES}"
    r")\b",
    re.IGNORECASE,
)
_UNDOES_NOT = Regex(rf"\b(?:irreversibl[ey]|{_CANNOT} (?:\w+ )?be (?:undone|reversed)|{_LOSES})\b", re.IGNORECASE)
"""Of these, what says that the call itself destroys something."""

_DENIED = re.compile(
    r"\b(?:not|cannot|never|no|nothing|without|\w+n['’]t|instead of|rather than|avoids?|prevents?)(?: \w+){0,2} \Z",
    re.IGNORECASE,
)
"""A negation before such a phrase."""

_CLAUSE_END = re.compile(r"[.!?;:]")
_LEAD_LIMIT = 200
"""Characters before such a phrase that are searched for the start of its sentence."""

_EARLIER = re.compile(r"\W*following\b", re.IGNORECASE)
"""The start of a sentence about an earlier call."""

_ABOUT_ITSELF = re.compile(r"\W*(?:(?:this|it|the (?:action|operation|call|change|effect)s?)\b|\Z)", re.IGNORECASE)
"""The start of a sentence about the tool itself, not about the data that it reads."""


def _declared_change(semantics: Semantics) -> tuple[str, str] | None:
    """Returns the field that says that a tool changes something, and what it says."""
    if semantics.destructive:
        return "destructive", "it may delete or overwrite"
    if semantics.operation in ("write", "admin", "delete"):
        return "operation", f"its operation is {semantics.operation}"
    if semantics.risk in ("reversible", "destructive"):
        return "risk", f"its risk is {semantics.risk}"
    if semantics.side_effects:
        return "side_effects", "it has side effects"
    if semantics.reversed_by is not None:
        return "reversed_by", "another tool undoes it"
    if semantics.reversible is False:
        return "reversible", "it cannot be undone"
    return None


def _says(pattern: Regex, texts: Iterable[str | None], is_read_only: bool | None = False) -> bool:
    """True if a text of a tool says this, not negated; of a read-only tool, only about itself."""
    said = "\n\n".join(filter(None, texts))
    if said.isascii() and not pattern.might_match(_folded(said)):
        return False
    for paragraph in said.split("\n\n"):
        text = " ".join(paragraph.split())
        for match in pattern.compiled.finditer(text):
            lead = _CLAUSE_END.split(text[max(match.start() - _LEAD_LIMIT, 0) : match.start()])[-1]
            if _DENIED.search(lead) or _EARLIER.match(lead):
                continue
            if not is_read_only or _ABOUT_ITSELF.match(lead):
                return True
    return False


@lru_cache(_TEXTS_KEPT)
def _folded(text: str) -> str:
    return " ".join(text.lower().split())


def _with(semantics: Semantics, origin: Origin, **fields: Json) -> Semantics:
    return replace(semantics, **fields, origins={**(semantics.origins or {}), **dict.fromkeys(fields, origin)})


def _source(semantics: Semantics, field: str) -> str:
    """Returns the source of a fact, as an inferred origin names it."""
    origin = (semantics.origins or {}).get(field)
    if origin is None:
        return field
    return origin.source.rpartition("/")[2] if origin.kind == "declared" else origin.source


def _final(semantics: Semantics) -> Semantics:
    return _with(semantics, Origin("inferred", _BY_TEXT), reversible=False)


def _report(problems: ProblemLog, tool: Tool, contradiction: str) -> None:
    problems.report(
        "safety-facts-disagree",
        tool.pointer,
        f"{tool.name!r} {contradiction}; the more cautious fact is used",
    )
