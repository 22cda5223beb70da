"""Texts that rules cannot write: the brief for who writes them, the checks of the answer, and what outdates them.

A person or an agent is asked once. The texts live in the project file, or in `OUT/texts.yaml` for a service without a
project, each with a digest of what the source declared then: later runs say what changed since.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from skillgen.config.convert import Converter
from skillgen.config.project import DRAFTED, Texts
from skillgen.model.service import Service
from skillgen.model.tool import EFFECTS, Tool, is_raised_by
from skillgen.model.values import Json, is_inferred
from skillgen.render.examples import credential_variable
from skillgen.render.pages import is_own_heading
from skillgen.rules.prose import check_texts, source_text
from skillgen.security.screening import screen_service
from skillgen.text.markdown import fence, first_of, one_line, plain_words
from skillgen.text.summary import CLAIM, clip
from skillgen.text.unicode import strip_invisible
from skillgen.typed import decode

BRIEF_LIMIT_BYTES = 20_000
ANSWER_LIMIT_BYTES = 256 * 1024

# -- the answer ------------------------------------------------------------------------------------------------------


class Answer(Struct, frozen=True):
    """An answer in the form of the schema in brief.md."""

    texts: Texts
    queries: Mapping[str, Sequence[str]]
    """What users type: `should-load` and `should-not-load`."""


def _brief() -> tuple[str, str]:
    """Returns what is before and after the facts in a brief; at its end is the schema of an answer."""
    start, _, end = (Path(__file__).parent / "brief.md").read_text("utf-8").partition("FACTS\n")
    return start, end


def _answer_in(text: str, service: Service) -> tuple[Answer | None, list[str]]:
    """Returns the answer in a text: JSON, alone, in a fence, or with words around; without what is wrong, and that."""
    from jsonschema_rs import Draft202012Validator

    declared = json.loads(_brief()[1].partition("```json\n")[2].partition("```")[0])
    schema = Draft202012Validator(declared, mask="the value")
    fenced = re.findall(r"^[ \t]*```[^\n]*\n(.*?)^[ \t]*```", text, re.DOTALL | re.MULTILINE)
    found, reasons = None, ["the answer has no JSON object"]
    for candidate in (text, *fenced[-20:], text[text.find("{") : text.rfind("}") + 1]):
        try:
            data = decode(candidate.strip().encode("utf-8", "replace"), dict[str, Any])
        except (msgspec.DecodeError, RecursionError):
            continue
        found, reasons = {key: data[key] for key in declared["properties"] if key in data}, []
        for error in schema.iter_errors(data):
            place, part = error.instance_path, found
            reasons.append(f"/{'/'.join(map(str, place))} does not match the schema: {one_line(error.message)}")
            if len(place) > 1 and isinstance(part.get(place[0]), dict):
                part, place = part[place[0]], place[1:]
            part.pop(next(iter(place), None), None)
        if not reasons:
            break
    answer, faults = (None, []) if found is None else _answer_from(_cleaned(found), service)
    return answer, [*reasons, *faults]


def _answer_from(data: dict[str, Any], service: Service) -> tuple[Answer | None, list[str]]:
    """Returns an answer with the names of tools for what the brief called them, or `None` and what is wrong."""
    names = {request_of(tool): tool.name for tool in service.tools}

    def name_of(text: str) -> str:
        word = re.sub(r" \[\w+\]\Z", "", text.strip().strip("`"))
        return names.get(word, word)

    queries = data.pop("queries", {})
    data["tools"] = {name_of(name): item for name, item in data.get("tools", {}).items()}
    for step in (step for steps in data.get("workflows", {}).values() for step in steps):
        step["tool"] = name_of(step["tool"])
    converter = Converter()
    texts = converter.convert(Texts, data, ())
    faults = [f"{'.'.join(map(str, fault.path))} {fault.what}" for fault in converter.faults]
    return None if faults else Answer(texts, queries), faults


def _cleaned(value: Any, key: str = "") -> Any:
    """Returns texts on one line each, but for notes, without what is empty."""
    if isinstance(value, dict):
        return {one_line(name): _cleaned(item, name) for name, item in value.items() if item}
    if isinstance(value, list):
        return [_cleaned(item) for item in value]
    return one_line(value) if key != "notes" else "\n".join(map(str.rstrip, value.strip().splitlines()))


def _keys_in(texts: Texts) -> dict[str, str]:
    """Returns the texts that have a digest each, by their keys."""
    found = dict[str, str]()
    for (key, *_), text in texts.prose().items():
        found[key] = f"{found[key]}\n\n{text}" if key in found else text
    return found


# -- what the source declares ----------------------------------------------------------------------------------------


def _digest(*values: Any) -> str:
    text = json.dumps([" ".join(value.split()) if isinstance(value, str) else value for value in values], default=str)
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()[:3]).decode("ascii")


def _declared(service: Service) -> dict[str, tuple[str, str]]:
    """Returns a digest of each name in a service, the service itself being "", with one of what it declares of it."""
    found = {"": (_digest(""), _digest(service.name, service.title, service.description, service.instructions))}
    for group in service.groups:
        found[f"groups.{group.name}"] = _digest("group", group.name), _digest(group.title, group.description)
    for tool in service.tools:
        name = request_of(tool) if is_inferred(tool, "name") else tool.name  # a release may infer another one
        semantics = tool.semantics
        hints = [getattr(semantics, hint) for hint in ("read_only", "destructive") if semantics.is_declared(hint)]
        texts = tool.title, tool.summary, tool.description, tool.help
        found[tool.name] = _digest(name), _digest(tool.method, tool.path, *texts, tool.tags, hints)
    return found


def _taken(digest: str) -> dict[str, str]:
    """Returns what a source declared when a digest was taken."""
    parts = re.findall("....", digest.partition(".")[2])
    return dict(zip(parts[::2], parts[1::2], strict=False))


def outdated_texts(texts: Texts, service: Service) -> dict[str, list[str]]:
    """Returns what a source declares differently than when texts were written, with these texts."""
    keys, found = _keys_in(texts), dict[str, list[str]]()
    for record in texts.drafted:
        if (what := _changes_since(record.source, service)) and (same := [key for key in record.texts if key in keys]):
            found.setdefault(what, []).extend(same)
    return found


def _changes_since(digest: str, service: Service) -> str:
    count, before, now = digest.partition(".")[0], _taken(digest), _declared(service)
    changed = [name or "the service itself" for name, (key, rest) in now.items() if before.get(key, rest) != rest]
    gone = len(before.keys() - {key for key, _ in now.values()})
    is_complete = count == str(len(before) - 1)
    added = [tool.name for tool in service.tools if is_complete and now[tool.name][0] not in before]
    is_other_count = not (is_complete or count in ("", str(len(service.tools))))
    found = {
        f"changed: {first_of(map(one_line, changed), 5)}": changed,
        f"gone: {gone} of the tools": gone,
        f"new: {first_of(map(one_line, added), 5)}": added,
        f"there are {len(service.tools)} tools, not {count}": is_other_count,
    }
    return "; ".join(what for what, is_true in found.items() if is_true)


def names_gone(texts: Texts, service: Service) -> Iterator[tuple[str, str]]:
    """Yields the names of tools in texts that were there when these were written and are gone, each after its text."""
    now, keys = {key for key, _ in _declared(service).values()}, _keys_in(texts)
    for record in texts.drafted:
        gone = _taken(record.source).keys() - now
        for key in filter(keys.__contains__, record.texts if gone else ()):
            spans = [span.split() for span in (*_SPAN.findall(keys[key]), *_names_in(keys[key]))]
            # A command may have several words, and others around it.
            parts = [span[at:end] for span in spans for at in range(len(span)) for end in range(at + 1, at + 5)]
            yield from ((key, name) for name in dict.fromkeys(map(" ".join, parts)) if _digest(name) in gone)


def values_of(
    answer: Answer,
    service: Service,
    texts: Texts,
    declared: Service,
    shown: Collection[str],
    outdated: Mapping[str, list[str]],
) -> dict[tuple[str, ...], Any]:
    """Returns the keys that an accepted answer sets in a file of texts, with their values.

    The digests are of the texts that it replaces, and of `outdated` ones, which are still right if it does not.
    """
    new = answer.texts
    given = {name: value for name in DRAFTED if (value := getattr(new, name))}
    together = {name: {**getattr(texts, name), **getattr(new, name)} for name in ("tools", "groups", "skills")}
    values: dict[tuple[str, ...], Any] = {}
    for name, value in json.loads(msgspec.json.encode(given)).items():
        if name in together:
            found = ((part, key, text) for part, item in value.items() for key, text in item.items() if text)
            values |= {(name, part, key.replace("_", "-")): text for part, key, text in found}
        else:
            values[name.replace("_", "-"),] = value
    renewed = {*_keys_in(new), *(key for keys in outdated.values() for key in keys)}
    records = _records(msgspec.structs.replace(texts, **given | together), renewed, declared, shown)
    return values | ({("drafted",): records} if renewed else {})


def _records(texts: Texts, renewed: Collection[str], declared: Service, shown: Collection[str]) -> list[Json]:
    """Returns the digests of texts: those that they have, and new ones of `renewed`.

    A digest covers what the text is about: effects and workflows their tools, titles their groups if all are declared,
    and any other text the service and the tools that the brief has `shown`, and how many there are.
    """
    facts, found = _declared(declared), dict[str, list[Json]]()
    before = {text: record.source for record in texts.drafted for text in record.texts}
    groups = {f"groups.{name}" for name in texts.groups}
    subjects: dict[str, Collection[str]] = {
        "workflows": {step.tool for steps in texts.workflows.values() for step in steps},
        "tools": texts.tools.keys(),
        "groups": groups if groups <= facts.keys() else {"", *shown},
    }
    for key in _keys_in(texts):
        about = subjects.get(key, {"", *shown})
        pairs = "".join("".join(pair) for name, pair in facts.items() if name in about)
        digest = f"{len(declared.tools) if '' in about else ''}.{pairs}" if key in renewed else before.get(key)
        if digest is not None:
            found.setdefault(digest, []).append(key)
    return [{"texts": keys, "source": digest} for digest, keys in found.items()]


# -- the brief -------------------------------------------------------------------------------------------------------

_Item = TypeVar("_Item")
_KINDS = {"mcp": "MCP server", "openapi": "HTTP API", "cli": "command-line program"}


def request_of(tool: Tool) -> str:
    """Returns how the brief names a tool: by its request, or its name."""
    return one_line(f"{tool.method} {tool.path}" if tool.method and tool.path else tool.name)


def brief_for(
    service: Service, texts: Texts, outdated: Mapping[str, list[str]], skills: Mapping[str, Sequence[str]]
) -> tuple[str, tuple[str, ...]]:
    """Returns the brief within its limit, with the texts that exist, and the names of the tools that it shows.

    `skills` are those of parts of the service, with the titles of their groups. If texts are `outdated`, it asks for
    these only.
    """
    rules, end = _brief()
    wanted = {key for keys in outdated.values() for key in keys}
    if current := {key: text for key, text in _keys_in(texts).items() if key in wanted or not wanted}:
        changes = [f"{', '.join(keys)} ({what})" for what, keys in outdated.items()]
        asks = "Write only these anew where they are no longer right." if wanted else "Keep what is still right."
        data = fence(_start(json.dumps([current, *changes], ensure_ascii=False, indent=0), 3_000), "json")
        end = f"\n## The texts so far\n\n{asks}\n\n{data}\n{end}"
    room = BRIEF_LIMIT_BYTES - len((rules + end).encode()) - 100
    count, length = len(service.tools), 140
    while len((facts := _facts(service, skills, count, length)).encode("utf-8", "replace")) > room and count:
        count, length = (count, length - 10) if length > 110 else (count * 9 // 10, length)
    return f"{rules}{fence(facts, 'json')}\n{end}", tuple(tool.name for tool in _thinned(service.tools, count))


def _thinned(items: Sequence[Tool], count: int) -> list[Tool]:
    return [items[index * len(items) // count] for index in range(count)]


def _facts(service: Service, skills: Mapping[str, Sequence[str]], count: int, length: int) -> str:
    tools = service.tools
    groups = ((item.name, clip(_words(item.title, item.description), length)) for item in service.groups)
    facts: dict[str, Any] = {
        "kind": _KINDS[service.kind],
        "name": one_line(service.name)[:100],
        "title": one_line(service.title or "")[:100],
        "description": clip(plain_words(service.description or service.summary or ""), 1_500),
        "instructions": clip(_start((service.instructions or "").strip(), 1_500), 1_400),
        "groups": dict(_within(groups, 3_000)),
        "skills": {name: ", ".join(groups) for name, groups in skills.items()},
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
_COUNT = re.compile(rf"\b(?:{_NUMBER}) (?:[\w-]{{1,40}} )?(?:tools|operations|endpoints|commands)\b", re.IGNORECASE)
_STEERS = re.compile(
    r"\b(?:always (?:prefer|use|choose|call|pick|load)|prefer (?:this|it) (?:over|to)|(?:first|best|preferred) choice"
    r"|(?:instead of|over|better than) (?:any |all )?other (?:tools?|skills?|servers?)|whenever possible"
    r"|regardless of (?:the |what )?(?:user|request|task|question)|must be (?:used|called|loaded)"
    r"|for (?:every|any) (?:request|task|question)|(?:start|end) of (?:a|any|each|every) (?:session|conversation)"
    r"|(?:no|without) (?:asking|confirm\w*|approvals?|permission|telling)"
    r"|(?:confirmation|approval|permission) (?:is|was) (?:not|never|given)|(?:person|user) (?:has )?(?:approved|agreed)"
    r"|(?:ignore|disregard|forget|override) (?:the |all |any |your )*(?:previous|prior|earlier|system|instruction)"
    r"|(?:no need to|do not|don't|never) (?:ask|confirm|(?:tell|inform|mention \w+ to|show \w+ to|warn)"
    r" (?:the )?(?:user|person))\b|ask(?:ing)? (?:the |a )?(?:user|person|human)|system prompt)",
    re.IGNORECASE,
)
_MARK = re.compile(rf"\[\W{{0,3}}(?:ask first|{'|'.join(EFFECTS)})\b", re.IGNORECASE)
_ORDER = re.compile(
    r"(?:\A|[.!?\n])\s{0,3}(?:always|never|do not|don't|make sure|you (?:must|should)|important)\b", re.IGNORECASE
)
_UNKNOWN = "names what the source does not have: "
_OF_EXAMPLES = {"openapi": "\ncurl"}
"""The program of the examples, by kind of the source."""

_URL = re.compile(r"\w[\w+.-]{0,30}://[^\s<>`\"')\]]+")
_TOP = r"(?:[^\W\d_A-Z]{2,24}|[A-Z]{2,24}|xn--[\w-]{2,60})"
_HOST = re.compile(rf"(?:(?<=//)|(?<![\w./-]))(?:(?:[\w-]{{1,63}}\.)+{_TOP}|\d{{1,3}}(?:\.\d{{1,3}}){{3}})(?![\w-])")
"""A host, or a file, in words that are not an address with a scheme."""

_SPAN = re.compile(r"`([^`]+)`")
_NAME = re.compile(r"(?<!\w)-{0,2}[^\W\d][\w./{}-]*[\w}]")
_SNAKE = re.compile(r"(?<![\w`/.$-])[A-Za-z]\w*_\w+(?![\w`])")


def checked_answer(
    text: str, service: Service, current: Texts, outdated: Mapping[str, list[str]], skills: Collection[str]
) -> tuple[Answer | None, list[str]]:
    """Returns the answer in a text, or `None` and why it is refused: each place with its reason.

    Of the `current` texts, those that the answer does not replace must not name what is gone either. If texts are
    `outdated`, it may have these only.
    """
    answer, reasons = _answer_in(text, service)
    if answer is None:
        return None, reasons
    new, wanted = answer.texts, [key for keys in outdated.values() for key in keys]
    reasons += _refusals(answer, service)
    reasons += [f"skills: the facts have no skill {name!r}" for name in new.skills if name not in skills]
    reasons += [f"{key}: is not outdated, so leave it out" for key in _keys_in(new) if wanted and key not in wanted]
    tools = {tool.name for tool in service.tools}
    gone = [("workflows", step.tool) for flow in current.workflows.values() for step in flow if step.tool not in tools]
    kept = ((key, name) for key, name in (*names_gone(current, service), *gone) if key not in _keys_in(new))
    reasons += [f"{key}, unchanged: names {name}, which is gone" for key, name in kept]
    return (None if reasons else answer), list(dict.fromkeys(reasons))


def _refusals(answer: Answer, service: Service) -> Iterator[str]:
    new = answer.texts
    tools, groups = {tool.name: tool for tool in service.tools}, {group.name for group in service.groups}
    known, prose = source_text(service) + _OF_EXAMPLES.get(service.kind, ""), _keys_in(new)
    of_skills = {f"skills: {name}: ": skill.description for name, skill in new.skills.items()}
    for where, text in {"": new.description, **of_skills}.items():
        trigger = _TRIGGER.search(text or "")
        if text and (trigger is None or trigger.start() > _TRIGGER_WITHIN):
            yield f'{where}description: has no "Use when the user …" within the first {_TRIGGER_WITHIN} characters'
    for where, text in prose.items():
        yield from (f"{where}: {flaw}" for flaw in _flaws(where, text, known))
        yield from (f"{where}: {_UNKNOWN}{name}" for name in _unknown_names(text, known, service))
    yield from (f"{problem.where}: {problem.message}" for problem in check_texts(prose, service))
    for text in (text for texts in answer.queries.values() for text in texts):
        yield from (f"queries: {flaw}" for flaw in _screened(text))
    for name, item in new.tools.items():
        effect = tools[name].semantics.effect if name in tools else None
        if item.effect not in (None, effect) and not is_raised_by(effect, item.effect):
            asked = "has no mark, so the user is asked"
            yield f"tools: {name} {f'is {effect}' if effect else asked}, and an effect only rises"
    steps = [(f"workflows: {goal}", step.tool) for goal, flow in new.workflows.items() for step in flow]
    for where, name in (*(("tools", name) for name in new.tools), *steps):
        if name not in tools:
            yield f"{where}: the source has no tool {name!r}"
    yield from (f"groups: the source has no group {name!r}" for name in new.groups if name not in groups)


def orders_in(where: str, text: str) -> Iterator[str]:
    """Yields what in a text is for the agent that reads it, not on the service: orders, marks, hidden characters."""
    if strip_invisible(text) != text:
        yield "has invisible or control characters"
    others = (_ORDER, CLAIM) if where in ("description", "when-to-use", "skills") else ()
    for match in filter(None, (pattern.search(text) for pattern in (_STEERS, *others))):
        yield f"addresses the reader: {match[0].strip()!r}"
    if match := _MARK.search(text):
        yield f"has a mark: {match[0]!r}"
    if headings := [line for line in text.splitlines() if is_own_heading(line.strip(" #*_"))]:
        yield f"has a heading of skillgen: {headings[0]!r}"
    yield from _screened(text)


def _screened(text: str) -> Iterator[str]:
    """Yields what screening finds in a text: a secret, an order, an internal host."""
    for problem in screen_service(Service(kind="mcp", name="text", description=text)).problems:
        yield problem.message.removeprefix("description ").partition(";")[0]


def _flaws(where: str, text: str, known: str) -> Iterator[str]:
    """Yields why a text is refused, whatever it says of the service."""
    yield from orders_in(where, text)
    if match := _COUNT.search(text):
        yield f"has a number of tools, which changes: {match[0]!r}"
    for url in _URL.findall(text):
        start = url.rstrip(".,;:/") + "/"  # of an address, to the end of its host or of a part of its path
        if not any(f"{other.rstrip('.,;:')}/".startswith(start) for other in _URL.findall(known)):
            yield f"names a URL that the source does not have: {url}"
    for host in _HOST.findall(_URL.sub("", text)):
        if not re.search(rf"(?<![\w.-]){re.escape(host)}(?![\w-]|\.\w)", known):
            yield f"{_UNKNOWN}{host}"


def _unknown_names(text: str, known: str, service: Service) -> Iterator[str]:
    """Yields the names in a text that are neither of the source, nor paths of its properties, nor login variables."""
    variable, tools = credential_variable(service, service.endpoints, ""), [tool.name for tool in service.tools]
    for name in _names_in(text):
        is_of_tool = any(tool.startswith(f"{name.partition('.')[0]}.") for tool in tools)  # `orders.list` is one name
        parts = [name] if is_of_tool else filter(None, name.split("."))
        is_known = all(re.search(rf"(?<![\w-]){re.escape(part)}(?![\w-])", known) for part in parts)
        if not (is_known or name.startswith(variable)):
            yield name


def _names_in(text: str) -> list[str]:
    spans = [name for span in _SPAN.findall(text) for name in _NAME.findall(span)]
    return list(dict.fromkeys(spans + _SNAKE.findall(_SPAN.sub("", text))))


def refusal(text: str, reasons: Sequence[str]) -> str:
    """Returns what to say to an agent of its answer."""
    listed = "\n".join(f"- {one_line(reason)[:500]}" for reason in reasons[:40])
    start = "\n## Refused\n\nYour last answer was refused. Answer again, corrected:"
    return f"{start}\n\n{listed}\n\n{fence(text[:8_000])}\n"
