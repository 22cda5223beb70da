"""Texts that rules cannot write: the brief for who writes them, the checks of the answer, and what it changes.

A person or an agent is asked once. The texts live in the project file, or in `OUT/texts.yaml` for a service without a
project, with a digest of what the source declared then: later runs say what changed since.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import Meta, Struct

from skillgen.config.convert import Converter, error_of_argument
from skillgen.config.loader import read_text, yaml_values
from skillgen.config.project import DRAFTED, Texts
from skillgen.errors import SkillgenError, UsageError
from skillgen.lint.prose import check_prose
from skillgen.model.service import Service
from skillgen.model.tool import EFFECTS, Tool
from skillgen.model.values import is_inferred
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

    def texts(self) -> Iterator[tuple[str, str]]:
        """Yields the texts that documents quote, with their places."""
        yield "description", self.description or ""
        yield "notes", self.notes or ""
        for name in ("when_to_use", "not_for"):
            yield from ((name.replace("_", "-"), text) for text in getattr(self, name))
        yield from ((f"groups: {name}", text) for name, text in self.groups.items())
        yield from ((f"effects: {item.tool}", item.reason) for item in self.effects)
        for flow in self.workflows:
            yield f"workflows: {flow.goal}", flow.goal
            yield from ((f"workflows: {flow.goal}", step.do) for step in flow.steps)


def _answer_in(text: str) -> Answer | str:
    """Returns the answer in a text: JSON, alone, in a fence, or with words around. Else returns what is wrong."""
    fenced = re.findall(r"^[ \t]*```[^\n]*\n(.*?)^[ \t]*```", text, re.DOTALL | re.MULTILINE)
    candidates = [text, *fenced[-20:], text[text.find("{") : text.rfind("}") + 1]]
    what = "the answer has no JSON object"
    for candidate in candidates:
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


def _parts_of(digest: str) -> tuple[str, str, dict[str, str]]:
    """Returns the number of tools in a digest, the digest of the service, and each tool as in `_declared`."""
    count, _, text = digest.partition(".")
    parts = [text[at : at + 4] for at in range(0, len(text), 4)]
    return count, text[:4], dict(zip(parts[1::2], parts[2::2], strict=False))


def changes_since(digest: str, service: Service) -> list[str]:
    """Returns what a source declares differently than when the digest was taken."""
    (count, own_before, before), (own, now) = _parts_of(digest), _declared(service)
    changes = [] if own_before == own else ["the title or description of the service changed"]
    changed = [name for key, (name, rest) in now.items() if before.get(key, rest) != rest]
    added = [name for key, (name, _) in now.items() if key not in before] if count == str(len(before)) else []
    if gone := len(before.keys() - now.keys()):
        changes.append(f"gone: {gone} of the tools")
    for what, names in (("changed", changed), ("new", added)):
        if names:
            more = f" and {len(names) - 5} more" if len(names) > 5 else ""
            changes.append(f"{what}: {', '.join(map(one_line, names[:5]))}{more}")
    if not changes and count != str(len(now)):
        changes.append(f"there are {len(now)} tools, not {count}")
    return changes


# -- the brief -------------------------------------------------------------------------------------------------------

_Item = TypeVar("_Item")
_KINDS = {"mcp": "MCP server", "openapi": "HTTP API", "cli": "command-line program"}


def request_of(tool: Tool) -> str:
    """Returns how the brief names a tool: by its request, or its name."""
    return one_line(f"{tool.method} {tool.path}" if tool.method and tool.path else tool.name)


def brief_for(service: Service, current: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """Returns the brief within its limit, with the texts that exist, and the names of the tools that it shows."""
    rules = (Path(__file__).parent / "brief.md").read_text("utf-8")
    schema = json.dumps(msgspec.json.schema(Answer), separators=(",", ":"))
    end = f"\n\n## Schema of the answer\n\n```json\n{schema}\n```\n"
    if current:
        texts = json.dumps(current, ensure_ascii=False)[:4_000]
        end = f"\n\n## The texts so far\n\nKeep what is still right.\n\n{fence(texts, 'json')}{end}"
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
    groups = {item.name: clip(_words(item.title, item.description), length) for item in service.groups}
    facts: dict[str, Any] = {
        "kind": _KINDS[service.kind],
        "name": one_line(service.name)[:200],
        "title": one_line(service.title or "")[:200],
        "description": clip(plain_words(service.description or service.summary or ""), 1_500),
        "instructions": clip((service.instructions or "").strip(), 1_500),
        "groups": dict(_within(groups.items(), 3_000)),
        "tools": [_line(tool, length) for tool in _thinned(tools, count)],
        "left out": f"{len(tools) - count} of {len(tools)} tools, evenly" if count < len(tools) else "",
        "resources": _within([one_line(item.name) for item in service.resources], 700),
        "prompts": _within([one_line(item.name) for item in service.prompts], 700),
    }
    return json.dumps({key: value for key, value in facts.items() if value}, ensure_ascii=False, indent=0)


def _within(items: Iterable[_Item], limit: int) -> list[_Item]:
    """Returns as many of the first items as have room in `limit` bytes."""
    ends = accumulate(len(str(item).encode("utf-8", "replace")) for item in items)
    return [item for item, end in zip(items, ends, strict=True) if end <= limit]


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
    r"|(?:instead of|over|better than) (?:any |all )?other (?:tools?|skills?|servers?)|whenever possible|regardless of"
    r"|must be (?:used|called|loaded)|for (?:every|any) (?:request|task|question)"
    r"|without (?:asking|confirm\w*|approval|permission|telling)|no need to (?:ask|confirm)"
    r"|(?:ignore|disregard|forget|override) (?:the |all |any |your )*(?:previous|prior|earlier|system|instruction)"
    r"|(?:do not|don't|never) (?:ask|tell|inform|mention \w+ to|show \w+ to|warn) (?:the )?(?:user|person)"
    r"|system prompt)",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"(?:\A|[.!?]\s+)(?:always|never|do not|don't|make sure|you (?:must|should)|important)\b", re.IGNORECASE
)
_URL = re.compile(r"https?://[^\s<>`\"')\]]+")
_SPAN = re.compile(r"`([^`]+)`")
_NAME = re.compile(r"-{0,2}[^\W\d][\w./{}-]*[\w}]")
_SNAKE = re.compile(r"(?<![\w`/.$-])[A-Za-z]\w*_\w+(?![\w`])")


def _flaws(where: str, text: str, service: Service, known: str) -> Iterator[str]:
    """Yields why a text is refused."""
    if strip_invisible(text) != text:
        yield "has invisible or control characters"
    if match := _STEERS.search(text) or (_ORDER.search(text) if where in ("description", "when-to-use") else None):
        yield f"addresses the reader: {match[0].strip()!r}"
    if match := _COUNT.search(text):
        yield f"has a number of tools, which changes: {match[0]!r}"
    yield from (
        f"names a URL that the source does not have: {url}"
        for url in _URL.findall(text)
        if url.rstrip(".,;:") not in known
    )
    yield from _screened(text)
    yield from (f"names what the source does not have: {name}" for name in _names_missing(text, known))
    yield from (problem.message for problem in check_prose(text, service, where=where))


def _names_missing(text: str, known: str) -> list[str]:
    """Returns the names in a text, in code spans or with underscores, that do not occur in what is known."""
    return [name for name in _names_in(text) if not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", known)]


def _names_in(text: str) -> list[str]:
    spans = [name for span in _SPAN.findall(text) for name in _NAME.findall(span)]
    return list(dict.fromkeys(spans + _SNAKE.findall(_SPAN.sub("", text))))


def names_gone(texts: Texts, service: Service) -> Iterator[tuple[str, str]]:
    """Yields the names of tools in texts that were there when these were drafted and are gone, each after its field."""
    gone = _parts_of(texts.drafted or "")[2].keys() - _declared(service)[1].keys()
    steps = [step for flow in texts.workflows.values() for step in flow]
    fields = {name: getattr(texts, name) or () for name in ("description", "when_to_use", "not_for", "notes")}
    for where, value in (*fields.items(), ("workflows", [f"`{step.tool}` {step.do or ''}" for step in steps])):
        text = value if isinstance(value, str) else "\n".join(value)
        words = [span.split() for span in _SPAN.findall(text)] + [[name] for name in _names_in(text)]
        starts = dict.fromkeys(" ".join(part[:end]) for part in words for end in range(1, len(part) + 1))
        yield from ((where, name) for name in starts if _digest(name) in gone)


def _screened(text: str) -> Iterator[str]:
    """Yields what screening finds in a text: a secret, an order, an internal host."""
    for problem in screen_service(Service(kind="mcp", name="text", description=text)).problems:
        yield problem.message.removeprefix("description ").partition(";")[0]


def checked_answer(text: str, service: Service, current: Texts) -> tuple[Answer | None, list[str]]:
    """Returns the answer in a text, or `None` and why it is refused: each place with its reason.

    Of the `current` texts, those that the answer does not replace must not name what is gone either.
    """
    answer = _answer_in(text)
    if isinstance(answer, str):
        return None, [answer]
    reasons = _refusals(answer, service, snapshot_text([service]))
    for where, name in names_gone(current, service):
        if not getattr(answer, where):
            reasons.append(f"{where}, unchanged: names {name}, which is gone")
    return (None if reasons else answer), reasons


def _refusals(answer: Answer, service: Service, known: str) -> list[str]:
    tools = _tools_by_words(service)
    found = [
        f"{where}: {flaw}" for where, text in answer.texts() if text for flaw in _flaws(where, text, service, known)
    ]
    trigger = _TRIGGER.search(answer.description or "")
    if answer.description and (trigger is None or trigger.start() > _TRIGGER_WITHIN):
        found.append(f'description: has no "Use when the user …" within the first {_TRIGGER_WITHIN} characters')
    for item in answer.effects:
        tool = tools.get(_word(item.tool))
        effect = tool.semantics.effect if tool else None
        if tool is not None and effect is not None and _WORST_LAST.index(item.effect) < _WORST_LAST.index(effect):
            found.append(f"effects: {item.tool}: is {effect}, and an effect only rises")
    named = [("effects", item.tool) for item in answer.effects]
    named += [(f"workflows: {flow.goal}", step.tool) for flow in answer.workflows for step in flow.steps]
    found += [
        f"{where}: the source has no tool {one_line(word)!r}" for where, word in named if _word(word) not in tools
    ]
    groups = {group.name for group in service.groups}
    found += [f"groups: the source has no group {name!r}" for name in answer.groups if name not in groups]
    for text in (*answer.queries.should_load, *answer.queries.should_not_load):
        found += [f"queries: {flaw}" for flaw in _screened(text)]
    return list(dict.fromkeys(found))


_WORST_LAST = list(EFFECTS)


def _word(text: str) -> str:
    """Returns how an answer names a tool, without the mark of the brief."""
    return re.sub(r" \[\w+\]\Z", "", one_line(text).strip().strip("`"))


def _tools_by_words(service: Service) -> dict[str, Tool]:
    return {**{request_of(tool): tool for tool in service.tools}, **{tool.name: tool for tool in service.tools}}


def values_of(answer: Answer, service: Service, digest: str) -> list[tuple[tuple[str, ...], Any]]:
    """Returns the keys that an accepted answer sets in a file of texts, with their values."""
    tools, values = _tools_by_words(service), list[tuple[tuple[str, ...], Any]]()
    for name in ("description", "when_to_use", "not_for"):
        if text := getattr(answer, name):
            value = one_line(text) if isinstance(text, str) else list(map(one_line, text))
            values.append(((name.replace("_", "-"),), value))
    values += [(("groups", name, "title"), one_line(title)) for name, title in answer.groups.items()]
    if answer.notes:
        values.append((("notes",), "\n".join(line.rstrip() for line in answer.notes.strip().splitlines())))
    for item in answer.effects:
        name = tools[_word(item.tool)].name
        values += [(("tools", name, "effect"), item.effect), (("tools", name, "reason"), one_line(item.reason))]
    if answer.workflows:
        flows = {
            one_line(flow.goal): [
                {"tool": tools[_word(step.tool)].name, "do": one_line(step.do)} for step in flow.steps
            ]
            for flow in answer.workflows
        }
        values.append((("workflows",), flows))
    return [*values, (("drafted",), digest)]


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
    converter = Converter(is_text=True)
    data = yaml_values(read_text(path), path.as_posix()) or {}
    keys = {name.replace("_", "-") for name in DRAFTED}
    if isinstance(data, dict) and (others := data.keys() - keys):
        fix = "write other texts as options, or use a skillgen.yaml"
        raise UsageError(f"no such key: {min(others)}", where=path.as_posix(), fix=fix)
    texts: Texts = converter.convert(Texts, data, ())

    def located(fault: Any) -> SkillgenError:
        error = error_of_argument(fault)
        error.where = f"{path.as_posix()}: {error.where}" if error.where else path.as_posix()
        return error

    converter.raise_faults(located)
    return texts
