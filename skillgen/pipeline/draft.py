"""Texts that rules cannot write: the brief for who writes them, the checks of the answer, and what it changes.

A person or an agent is asked once. The texts live in the project file, or in `OUT/texts.yaml` for a service without a
project, with a digest of what the source declared then: later runs say what changed since.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import Meta, Struct

from skillgen.config.loader import read_options
from skillgen.config.project import DRAFTED, Texts
from skillgen.errors import UsageError
from skillgen.model.service import Service
from skillgen.model.tool import EFFECTS, Tool
from skillgen.model.values import is_inferred
from skillgen.rules.prose import check_texts
from skillgen.security.screening import screen_service
from skillgen.sources.documents import snapshot_text
from skillgen.text.markdown import fence, one_line, plain_words
from skillgen.text.summary import clip
from skillgen.text.unicode import strip_invisible
from skillgen.write.files import is_below

BRIEF_LIMIT_BYTES = 20_000
ANSWER_LIMIT_BYTES = 256 * 1024

# -- the answer ------------------------------------------------------------------------------------------------------

_Line: TypeAlias = Annotated[str, Meta(min_length=1, max_length=300)]
_Lines: TypeAlias = Annotated[tuple[_Line, ...], Meta(max_length=12)]


class _Part(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True, rename="kebab"):
    pass


class _Effect(_Part, frozen=True):
    tool: _Line
    effect: Literal["write", "sends", "destructive"]
    reason: _Line


class _Step(_Part, frozen=True):
    tool: _Line
    do: _Line


class _Workflow(_Part, frozen=True):
    goal: Annotated[str, Meta(min_length=1, max_length=80)]
    steps: Annotated[tuple[_Step, ...], Meta(min_length=2, max_length=12)]


class _Queries(_Part, frozen=True):
    should_load: _Lines = ()
    should_not_load: _Lines = ()


class Answer(_Part, frozen=True):
    """The texts that an answer may have; all are optional."""

    description: Annotated[str, Meta(min_length=150, max_length=450)] | None = None
    when_to_use: _Lines = ()
    not_for: _Lines = ()
    groups: dict[str, Annotated[str, Meta(min_length=1, max_length=60)]] = {}
    notes: Annotated[str, Meta(min_length=1, max_length=1500)] | None = None
    effects: Annotated[tuple[_Effect, ...], Meta(max_length=40)] = ()
    workflows: Annotated[tuple[_Workflow, ...], Meta(max_length=8)] = ()
    queries: _Queries = _Queries()

    def texts(self) -> dict[str, str]:
        """Returns the texts that documents quote, by their places."""
        texts = {
            "description": self.description or "",
            "notes": self.notes or "",
            "when-to-use": "\n\n".join(self.when_to_use),
            "not-for": "\n\n".join(self.not_for),
        }
        texts |= {f"groups: {name}": title for name, title in self.groups.items()}
        for item in self.effects:
            texts[f"effects: {item.tool}"] = f"{texts.get(f'effects: {item.tool}', '')}\n\n{item.reason}"
        for index, flow in enumerate(self.workflows):
            texts[f"workflows[{index}]"] = "\n\n".join((flow.goal, *(step.do for step in flow.steps)))
        return {place: text for place, text in texts.items() if text}


def _answer_in(text: str) -> Answer | str:
    """Returns the answer in a text: JSON, alone, in a fence, or with words around. Else returns what is wrong."""
    fenced = re.findall(r"^[ \t]*```[^\n]*\n(.*?)^[ \t]*```", text, re.DOTALL | re.MULTILINE)
    what = "the answer has no JSON object"
    for candidate in (text, *fenced[-20:], text[text.find("{") : text.rfind("}") + 1]):
        try:
            return msgspec.json.decode(candidate.strip().encode("utf-8", "replace"), type=Answer)
        except msgspec.ValidationError as error:
            what = f"the answer does not match the schema: {error}"
        except (msgspec.DecodeError, RecursionError):
            continue
    return what


# -- what the source declares ----------------------------------------------------------------------------------------


def _digest(*values: Any) -> str:
    text = json.dumps([" ".join(value.split()) if isinstance(value, str) else value for value in values], default=str)
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()[:3]).decode("ascii")


def _declared(service: Service) -> tuple[str, dict[str, tuple[str, str]]]:
    """Returns a digest of what a service declares, and its tools by a digest of the name, with one of the rest."""
    tools = {}
    for tool in service.tools:
        name = request_of(tool) if is_inferred(tool, "name") else tool.name  # a release may infer another one
        semantics = tool.semantics
        hints = [getattr(semantics, hint) for hint in ("read_only", "destructive") if semantics.is_declared(hint)]
        rest = _digest(tool.method, tool.path, tool.title, tool.summary, tool.description, tool.tags, hints)
        tools[_digest(name)] = tool.name, rest
    return _digest(service.name, service.title, service.description, service.instructions), tools


def declared_digest(service: Service, names: Collection[str]) -> str:
    """Returns a digest of what a source declares: of the service, of the tools in `names`, and how many there are."""
    own, tools = _declared(service)
    pairs = "".join(key + rest for key, (name, rest) in tools.items() if name in names)
    return f"{len(tools)}.{own}{pairs}"


def _tools_in(digest: str) -> dict[str, str]:
    """Returns the tools in a digest: a digest of the name with one of the rest."""
    parts = re.findall("....", digest.partition(".")[2])
    return dict(zip(parts[1::2], parts[2::2], strict=False))


def changes_since(digest: str, service: Service) -> list[str]:
    """Returns what a source declares differently than when the digest was taken."""
    before, (own, now), count = _tools_in(digest), _declared(service), digest.partition(".")[0]
    changed = [name for key, (name, rest) in now.items() if before.get(key, rest) != rest]
    is_complete = count == str(len(before))
    added = [name for key, (name, _) in now.items() if is_complete and key not in before]
    gone = len(before.keys() - now.keys())
    found = {
        "the title or description of the service changed": not digest.startswith(f"{count}.{own}"),
        f"gone: {gone} of the tools": gone,
        f"changed: {_listed(changed)}": changed,
        f"new: {_listed(added)}": added,
    }
    changes = [what for what, is_true in found.items() if is_true]
    return changes or [f"there are {len(now)} tools, not {count}"] * (count != str(len(now)))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(one_line, names[:5])) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


_Item = TypeVar("_Item")

# -- the brief -------------------------------------------------------------------------------------------------------

_KINDS = {"mcp": "MCP server", "openapi": "HTTP API", "cli": "command-line program"}


def request_of(tool: Tool) -> str:
    """Returns how the brief names a tool: by its request, or its name."""
    return one_line(f"{tool.method} {tool.path}" if tool.method and tool.path else tool.name)


def brief_for(service: Service, texts: Texts) -> tuple[str, tuple[str, ...]]:
    """Returns the brief within its limit, with the texts that exist, and the names of the tools that it shows."""
    rules = (Path(__file__).parent / "brief.md").read_text("utf-8")
    schema = json.dumps(msgspec.json.schema(Answer), separators=(",", ":"))
    end = f"\n\n## Schema of the answer\n\n```json\n{schema}\n```\n"
    names = ("description", "when_to_use", "not_for", "notes", "workflows")
    if current := {name.replace("_", "-"): value for name in names if (value := getattr(texts, name))}:
        shown_texts = _start(json.dumps(msgspec.to_builtins(current), ensure_ascii=False), 3_000)
        end = f"\n\n## The texts so far\n\nKeep what is still right.\n\n{fence(shown_texts, 'json')}{end}"
    room = BRIEF_LIMIT_BYTES - len((rules + end).encode()) - 100
    count, length = len(service.tools), 140
    while len((facts := _facts(service, count, length)).encode("utf-8", "replace")) > room and count:
        count, length = (count, length - 10) if length > 110 else (count * 9 // 10, length)
    shown = tuple(tool.name for tool in _thinned(service.tools, count))
    return f"{rules}{fence(facts, 'json')}{end}", shown


def _thinned(items: Sequence[Tool], count: int) -> list[Tool]:
    return [items[index * len(items) // count] for index in range(count)]


def _facts(service: Service, count: int, length: int) -> str:
    tools = service.tools
    facts: dict[str, Any] = {
        "kind": _KINDS[service.kind],
        "name": one_line(service.name)[:100],
        "title": one_line(service.title or "")[:100],
        "description": clip(plain_words(service.description or service.summary or ""), 1_500),
        "instructions": clip(_start((service.instructions or "").strip(), 1_500), 1_400),
        "groups": dict(
            _within(((item.name, clip(_words(item.title, item.description), length)) for item in service.groups), 3_000)
        ),
        "tools": [_line(tool, length) for tool in _thinned(tools, count)],
        "left out": f"{len(tools) - count} of {len(tools)} tools, evenly" if count < len(tools) else "",
        "resources": _within((one_line(item.name) for item in service.resources), 700),
        "prompts": _within((one_line(item.name) for item in service.prompts), 700),
    }
    return json.dumps({key: value for key, value in facts.items() if value}, ensure_ascii=False, indent=0)


def _within(items: Iterable[_Item], limit: int) -> list[_Item]:
    """Returns as many of the first items as have room in `limit` bytes."""
    sized = [(item, len(str(item).encode("utf-8", "replace"))) for item in items]
    return [item for (item, _), end in zip(sized, accumulate(size for _, size in sized), strict=True) if end <= limit]


def _start(text: str, size_bytes: int) -> str:
    return text.encode("utf-8", "replace")[:size_bytes].decode("utf-8", "ignore")


def _words(title: str | None, text: str | None) -> str:
    """Returns a title and a text, without the title if the text has it."""
    title, text = plain_words(title or ""), plain_words((text or "")[:2_000])
    return text if title in text else f"{title}: {text}" if text else title


def _line(tool: Tool, length: int) -> str:
    mark = f" [{tool.semantics.effect}]" if tool.semantics.effect else ""
    text = _words(tool.summary or tool.title, tool.description)
    return f"{request_of(tool)[:300]}{mark} {clip(text, length)}".rstrip()


# -- the checks ------------------------------------------------------------------------------------------------------

_TRIGGER = re.compile(r"\bUse (?:it |this )?(?:when|for|if|to)\b")
_TRIGGER_WITHIN = 300
"""Characters of a description that every host reads."""

_NUMBER = r"\d[\d,.]{0,10}\+?|dozens of|hundreds of|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty"
_COUNT = re.compile(rf"\b(?:{_NUMBER}) (?:[\w-]{1, 40} )?(?:tools|operations|endpoints|commands)\b", re.IGNORECASE)
_STEERS = re.compile(
    r"\b(?:always (?:prefer|use|choose|call|pick|load)|prefer (?:this|it) (?:over|to)|(?:first|best|preferred) choice"
    r"|(?:instead of|over|better than) (?:any |all )?other (?:tools?|skills?|servers?)|whenever possible"
    r"|regardless of (?:the |what )?(?:user|request|task|question)"
    r"|must be (?:used|called|loaded)|for (?:every|any) (?:request|task|question)"
    r"|without (?:asking|confirm\w*|approval|permission|telling)|no need to (?:ask|confirm)"
    r"|(?:ignore|disregard|forget|override) (?:the |all |any |your )*(?:previous|prior|earlier|system|instruction)"
    r"|(?:do not|don't|never) (?:ask|tell|inform|mention \w+ to|show \w+ to|warn) (?:the )?(?:user|person)"
    r"|system prompt)",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"(?:\A|[.!?\n])\s{0,3}(?:always|never|do not|don't|make sure|you (?:must|should)|important)\b", re.IGNORECASE
)
_URL = re.compile(r"https?://[^\s<>`\"')\]]+")
_SPAN = re.compile(r"`([^`]+)`")
_NAME = re.compile(r"-{0,2}[^\W\d][\w./{}-]*[\w}]")
_SNAKE = re.compile(r"(?<![\w`/.$-])[A-Za-z]\w*_\w+(?![\w`])")


def _flaws(where: str, text: str, known: str) -> Iterator[str]:
    """Yields why a text is refused, whatever it says of the service."""
    if strip_invisible(text) != text:
        yield "has invisible or control characters"
    if match := _STEERS.search(text) or (_ORDER.search(text) if where in ("description", "when-to-use") else None):
        yield f"addresses the reader: {match[0].strip()!r}"
    if match := _COUNT.search(text):
        yield f"has a number of tools, which changes: {match[0]!r}"
    for url in _URL.findall(text):
        if url.rstrip(".,;:") not in known:
            yield f"names a URL that the source does not have: {url}"
    for name in _names_in(text):
        if not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", known):
            yield f"names what the source does not have: {name}"
    yield from _screened(text)


def _screened(text: str) -> Iterator[str]:
    """Yields what screening finds in a text: a secret, an order, an internal host."""
    for problem in screen_service(Service(kind="mcp", name="text", description=text)).problems:
        yield problem.message.removeprefix("description ").partition(";")[0]


def _names_in(text: str) -> list[str]:
    spans = [name for span in _SPAN.findall(text) for name in _NAME.findall(span)]
    return list(dict.fromkeys(spans + _SNAKE.findall(_SPAN.sub("", text))))


def names_gone(texts: Texts, service: Service) -> Iterator[tuple[str, str]]:
    """Yields the names of tools in texts that were there when these were drafted and are gone, each after its field."""
    gone = _tools_in(texts.drafted or "").keys() - _declared(service)[1].keys()
    steps = [step for flow in texts.workflows.values() for step in flow]
    fields = {name: getattr(texts, name) or () for name in ("description", "when_to_use", "not_for", "notes")}
    for where, value in (*fields.items(), ("workflows", [f"`{step.tool}` {step.do or ''}" for step in steps])):
        text = value if isinstance(value, str) else "\n".join(value)
        words = [span.split() for span in _SPAN.findall(text)] + [[name] for name in _names_in(text)]
        starts = dict.fromkeys(" ".join(part[:end]) for part in words for end in range(1, len(part) + 1))
        yield from ((where, name) for name in starts if _digest(name) in gone)


def checked_answer(text: str, service: Service, current: Texts) -> tuple[Answer | None, list[str]]:
    """Returns the answer in a text, or `None` and why it is refused: each place with its reason.

    Of the `current` texts, those that the answer does not replace must not name what is gone either.
    """
    answer = _answer_in(text)
    if isinstance(answer, str):
        return None, [answer]
    reasons = [*_refusals(answer, service, snapshot_text([service]))]
    for where, name in names_gone(current, service):
        if not getattr(answer, where):
            reasons.append(f"{where}, unchanged: names {name}, which is gone")
    return (None if reasons else answer), list(dict.fromkeys(reasons))


def _refusals(answer: Answer, service: Service, known: str) -> Iterator[str]:
    tools, groups, texts = _tools_by_words(service), {group.name for group in service.groups}, answer.texts()
    trigger = _TRIGGER.search(answer.description or "")
    if answer.description and (trigger is None or trigger.start() > _TRIGGER_WITHIN):
        yield f'description: has no "Use when the user …" within the first {_TRIGGER_WITHIN} characters'
    for where, text in texts.items():
        yield from (f"{where}: {flaw}" for flaw in _flaws(where, text, known))
    yield from (f"{problem.where}: {problem.message}" for problem in check_texts(texts, service))
    for text in (*answer.queries.should_load, *answer.queries.should_not_load):
        yield from (f"queries: {flaw}" for flaw in _screened(text))
    for item in answer.effects:
        effect = tools[_word(item.tool)].semantics.effect if _word(item.tool) in tools else None
        if effect is not None and _WORST_LAST.index(item.effect) < _WORST_LAST.index(effect):
            yield f"effects: {item.tool}: is {effect}, and an effect only rises"
    steps = [(f"workflows: {flow.goal}", step.tool) for flow in answer.workflows for step in flow.steps]
    for where, word in (*(("effects", item.tool) for item in answer.effects), *steps):
        if _word(word) not in tools:
            yield f"{where}: the source has no tool {one_line(word)!r}"
    yield from (f"groups: the source has no group {name!r}" for name in answer.groups if name not in groups)


_WORST_LAST = list(EFFECTS)


def _word(text: str) -> str:
    """Returns how an answer names a tool, without the mark of the brief."""
    return re.sub(r" \[\w+\]\Z", "", one_line(text).strip().strip("`"))


def _tools_by_words(service: Service) -> dict[str, Tool]:
    return {**{request_of(tool): tool for tool in service.tools}, **{tool.name: tool for tool in service.tools}}


def refusal(text: str, reasons: Sequence[str]) -> str:
    """Returns what to say to an agent of its answer."""
    listed = "\n".join(f"- {one_line(reason)[:500]}" for reason in reasons[:40])
    return (
        f"\n## Refused\n\nYour last answer was refused. Answer again, corrected:\n\n{listed}\n\n{fence(text[:8_000])}\n"
    )


def values_of(answer: Answer, service: Service, digest: str) -> dict[tuple[str, ...], Any]:
    """Returns the keys that an accepted answer sets in a file of texts, with their values."""
    tools = _tools_by_words(service)
    values: dict[tuple[str, ...], Any] = {
        ("description",): one_line(answer.description or ""),
        ("when-to-use",): list(map(one_line, answer.when_to_use)),
        ("not-for",): list(map(one_line, answer.not_for)),
        **{("groups", name, "title"): one_line(title) for name, title in answer.groups.items()},
        ("notes",): "\n".join(line.rstrip() for line in (answer.notes or "").strip().splitlines()),
    }
    for item in answer.effects:
        name = tools[_word(item.tool)].name
        values |= {("tools", name, "effect"): item.effect, ("tools", name, "reason"): one_line(item.reason)}
    values["workflows",] = {
        one_line(flow.goal): [{"tool": tools[_word(step.tool)].name, "do": one_line(step.do)} for step in flow.steps]
        for flow in answer.workflows
    }
    return {path: value for path, value in {**values, ("drafted",): digest}.items() if value}


# -- the texts of a service without a project ------------------------------------------------------------------------


def texts_in(path: Path) -> Texts:
    """Returns the texts of a file that `draft` wrote; none if it does not exist.

    Raises:
        UsageError: it has other keys, or cannot be read.
    """
    if not path.is_file():
        return Texts()
    if not is_below(path, path.parent):
        raise UsageError("leads outside its folder", where=path.as_posix(), fix="replace the link by the file")
    texts = read_options(Texts, path)
    empty = Texts()
    for name in Texts.__struct_fields__:
        if name not in DRAFTED and getattr(texts, name) != getattr(empty, name):
            fix = "write other texts as options, or use a skillgen.yaml"
            raise UsageError(f"no such key: {name.replace('_', '-')}", where=path.as_posix(), fix=fix)
    return texts
