"""What must be true of the documents of any description, whatever it holds. It knows the raw JSON and nothing else.

The documents are read line by line here, not with a Markdown parser: there are millions of lines.
"""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from posixpath import normpath
from typing import Any
from urllib.parse import unquote

from documents import named_above, neighbours
from llms_txt import parse_llms_file  # type: ignore[import-untyped]
from skills_ref import validate  # type: ignore[import-untyped]

Json = Any

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
IGNORED_HEADERS = (
    *("accept", "content-type", "authorization", "host", "content-length", "connection", "transfer-encoding"),
)
"""Header parameters of which OpenAPI says that they are ignored."""

SIGNING = frozenset(
    f"x-amz-{name}"
    for name in ("content-sha256", "date", "algorithm", "credential", "security-token", "signature", "signedheaders")
)
"""Parameters that a program which signs requests writes (AWS Signature Version 4)."""

LABELS = {"path": "Path parameters:", "query": "Query parameters:", "header": "Headers:", "cookie": "Cookies:"}
TOKEN_BYTES = 4

KINDS = (
    *("operation not documented once", "two operations under one heading", "heading is not the exact name"),
    *("parameter not documented once", "body property not documented once", "SKILL.md has 500 lines"),
    *("SKILL.md has over 3,000 tokens", "ai-help.md has over 3,000 tokens", "two blank lines", "the word None"),
    *("control character", "link to no file", "link to no heading", "item that is not above", "agentskills validate"),
    *("llms-txt parser", "the check itself fails"),
)
"""What can be wrong."""

_FENCE = re.compile(r"(?:> ?)* *(`{3,}(?!.*`)|~{3,})")
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)")
_LINK = re.compile(r"(?<!\\)\]\(([^()\s]+)\)")
_ITEM = re.compile(r"- (?:the body itself|(`+) ?(.*?) ?\1) \(")
_REQUEST = re.compile(r"`+ ?([A-Z]+) (.*?) ?`+(?: \[[a-z, ]+\])?(?: \(deprecated\))?(?:, sent to .*)?\Z")
_ANSWER = re.compile(r"Returns (?:.* )?\((?:[1-5][\dX]{2}|default)\b|Errors:")
"""The line that begins what is returned; a description may begin with "Returns", too."""

_NONE = re.compile(r"\bNone\b(?! declared\.$)", re.MULTILINE)
"""Python's `None` as a value; "None declared." is a sentence."""

_INVISIBLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


@dataclass(slots=True)
class Section:
    """What is below one heading of the second level."""

    title: str
    requests: set[tuple[str, str]] = field(default_factory=set)
    """Method and path of the operation that it documents, and perhaps of others that a description names."""
    items: dict[str, list[str]] = field(default_factory=dict)
    """Label of a list to the names that its outermost items begin with."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation as the raw description has it."""

    method: str
    path: str
    operation_id: str | None
    parameters: frozenset[tuple[str, str]]
    """Label and name of each."""
    properties: frozenset[str]
    """Top-level properties of all bodies."""


def complaints(source: Path, out: Path) -> Iterator[tuple[str, str]]:
    """Yields the kind and the place of everything that is wrong with the documents of a description."""
    text = source.read_text("utf-8-sig")
    raw = json.loads(text)
    documents = {path.relative_to(out).as_posix(): path.read_text("utf-8") for path in sorted(out.rglob("*.*"))}
    (skill,) = (out / "skills").iterdir()
    references = [name for name in documents if "/references/" in name] or [f"skills/{skill.name}/SKILL.md"]
    sections = [section for name in references for section in sections_of(documents[name])]
    found = list(operations(raw))
    yield from _operation_complaints(found, sections)
    yield from _limit_complaints((skill / "SKILL.md").read_text("utf-8"), documents["ai-help.md"])
    yield from _text_complaints(documents, text)
    yield from _link_complaints(documents)
    yield from (("agentskills validate", str(problem)) for problem in validate(skill))
    yield from _llms_txt_complaints(documents["llms.txt"])


# -- the raw description ---------------------------------------------------------------------------------------------


def target(raw: Json, value: Json) -> Json:
    """Follows the `$ref`s that lead to something in the document; `None` for others."""
    for _ in range(50):
        if not isinstance(value, dict) or not isinstance(value.get("$ref"), str):
            return value
        node = raw
        for token in value["$ref"].split("/")[1:] if value["$ref"].startswith("#") else ["\0"]:
            token = token.replace("~1", "/").replace("~0", "~")
            if isinstance(node, list) and token.isdigit() and int(token) < len(node):
                node = node[int(token)]
            elif isinstance(node, dict) and (token in node or unquote(token) in node):
                node = node[token if token in node else unquote(token)]
            else:
                return None
        value = node
    return None


def operations(raw: Json) -> Iterator[Operation]:
    """Yields every operation of a description of OpenAPI 3.

    Its path has a fragment only where nothing else distinguishes operations; variables of its query are parameters.
    """
    found = [*_operations(raw)]
    counts = Counter((item.method, item.path.partition("#")[0]) for item in found)
    for item in found:
        sent = item.path.partition("#")[0]
        start, _, query = (item.path if counts[item.method, sent] > 1 else sent).partition("?")
        pairs = [pair.partition("=") for pair in re.sub(r"\{([^{}]+)\}=[^&]*", r"\1={\1}", query).split("&")]
        variables = {value[1:-1]: name for name, _, value in pairs if re.fullmatch(r"\{[^{}]+\}", value)}
        rest = "&".join("".join(pair) for pair in pairs if pair[2][1:-1] not in variables)
        parameters = {
            (LABELS["query"], variables[name]) if name in variables else (label, name)
            for label, name in item.parameters
        }
        yield replace(item, path=f"{start}?{rest}" if rest else start, parameters=frozenset(parameters))


def _operations(raw: Json) -> Iterator[Operation]:
    paths = raw.get("paths")
    for path, entry in (paths if isinstance(paths, dict) else {}).items():
        item = target(raw, entry)
        if path.startswith("x-") or not isinstance(item, dict):
            continue
        for method in METHODS:
            if isinstance(operation := item.get(method), dict) and not {"x-internal", "x-hidden"} & {*operation, *item}:
                operation_id = operation.get("operationId")
                yield Operation(
                    method=method.upper(),
                    path=path,
                    operation_id=operation_id if isinstance(operation_id, str) and operation_id.strip() else None,
                    parameters=frozenset(_parameters(raw, item, operation)),
                    properties=frozenset(_body_properties(raw, operation)),
                )


def _parameters(raw: Json, item: Json, operation: Json) -> Iterator[tuple[str, str]]:
    schemes = ((raw.get("components") or {}).get("securitySchemes") or {}).values()
    ignored = IGNORED_HEADERS if schemes else IGNORED_HEADERS[:2]  # without any scheme, the last is the login
    signed = any(scheme.get("x-amazon-apigateway-authtype") in ("awsSigv4", "awsS3") for scheme in schemes)
    for owner in (item, operation):
        declared = owner.get("parameters")
        for entry in declared if isinstance(declared, list) else ():
            parameter = target(raw, entry)
            if isinstance(parameter, dict) and parameter.get("in") in LABELS and isinstance(parameter.get("name"), str):
                name = parameter["name"].strip()
                is_ignored = parameter["in"] == "header" and name.lower() in ignored
                if name and not is_ignored and not (signed and name.lower() in SIGNING):
                    yield LABELS[parameter["in"]], plain(parameter["name"])


def _body_properties(raw: Json, operation: Json) -> Iterator[str]:
    body = target(raw, operation.get("requestBody"))
    content = body.get("content") if isinstance(body, dict) else None
    for media_type in content.values() if isinstance(content, dict) else ():
        if isinstance(media_type, dict):
            yield from (plain(name) for name in _properties(raw, media_type.get("schema"), set()))


def _properties(raw: Json, schema: Json, seen: set[int]) -> Iterator[str]:
    """Yields the names of the top-level properties, through references, `allOf` and alternatives."""
    schema_ids = set(seen)
    while isinstance(schema, dict) and id(schema) not in schema_ids:
        schema_ids.add(id(schema))
        if isinstance(properties := schema.get("properties"), dict):
            yield from properties
        for keyword in ("allOf", "oneOf", "anyOf"):
            if isinstance(members := schema.get(keyword), list):
                for member in members:
                    yield from _properties(raw, member, schema_ids)
        schema = target(raw, schema) if "$ref" in schema else None


def plain(text: str) -> str:
    """Returns a name as a reader sees it: on one line, without invisible characters."""
    return " ".join(_INVISIBLE.sub("", text).split())


# -- the documents ---------------------------------------------------------------------------------------------------


def outside_fences(text: str) -> Iterator[str]:
    """Yields the lines that are no code, and three backticks for each that is."""
    fence: str | None = None
    for line in text.split("\n"):
        is_code = fence is not None
        if match := _FENCE.match(line):
            if fence is None:
                fence, is_code = match[1], True
            elif (inner := line.lstrip("> ").strip()).startswith(fence) and not inner.strip(fence[0]):
                fence = None
        yield "```" if is_code else line


def sections_of(text: str) -> Iterator[Section]:
    """Yields the sections of the second level."""
    section: Section | None = None
    label, is_answer = "", False
    for line in outside_fences(text):
        if line.startswith("## "):
            if section is not None:
                yield section
            section, label, is_answer = Section(shown(line.lstrip("#").strip())), "", False
        elif section is not None and line:
            if match := _REQUEST.match(line):
                section.requests.add((match[1], match[2]))
                is_answer = False  # a description may show its request, too, and go on with what it returns
            is_answer = is_answer or (bool(section.requests) and _ANSWER.match(line) is not None)
            if is_answer:
                continue
            if line.startswith("- Only returned: "):
                section.items.setdefault(label, []).extend(name for _, name in _CODE_SPAN.findall(line))
            elif names := named_above(line[2:]):
                section.items.setdefault(label, []).extend(names)
            elif _ITEM.match(line):
                found = (_ITEM.match(f"- {item}") for item in neighbours(line[2:]))
                section.items.setdefault(label, []).extend(match[2] or "" for match in filter(None, found))
            elif not line.startswith((" ", "- ", "```")):
                label = line
    if section is not None:
        yield section


def shown(heading: str) -> str:
    """Returns what a renderer shows of a heading that holds a name."""
    return html.unescape(re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", heading.strip("`")))


def _operation_complaints(found: list[Operation], sections: list[Section]) -> Iterator[tuple[str, str]]:
    by_request: dict[tuple[str, str], list[Section]] = {}
    for section in sections:
        for request in section.requests:
            by_request.setdefault(request, []).append(section)
    titles = Counter(section.title for section in sections if section.requests)
    yield from (("two operations under one heading", title) for title, count in titles.items() if count > 1)
    named: set[str] = set()
    counts = Counter((operation.method, operation.path) for operation in found)  # the query may distinguish them
    for operation in found:
        where = f"{operation.method} {plain(operation.path)}"
        documented = by_request.get((operation.method, plain(operation.path)), [])
        if not documented and operation.path.endswith("{format}"):
            continue  # the twin of another
        if len(documented) != counts[operation.method, operation.path]:
            yield "operation not documented once", f"{where}: {len(documented)} times"
            continue
        titled = [section for section in documented if section.title == plain(operation.operation_id or "")]
        if len(documented) > 1 and not titled:
            continue
        section = (titled or documented)[0]
        if operation.operation_id is not None and operation.operation_id not in named:
            named.add(operation.operation_id)
            if section.title != plain(operation.operation_id):
                yield "heading is not the exact name", f"{where}: {section.title!r}, {operation.operation_id!r}"
        for label, name in operation.parameters:
            if section.items.get(label, []).count(name) != 1:
                yield "parameter not documented once", f"{where}: {label} {name}"
        # A body that can be sent in several forms has a list for each.
        bodies = [names for label, names in section.items.items() if label.startswith(("Body", "Or as "))]
        for name in operation.properties:
            if max((names.count(name) for names in bodies), default=0) != 1:
                yield "body property not documented once", f"{where}: {name}"


def _limit_complaints(skill: str, ai_help: str) -> Iterator[tuple[str, str]]:
    if skill.count("\n") >= 500:
        yield "SKILL.md has 500 lines", str(skill.count("\n"))
    for name, text in (("SKILL.md", skill), ("ai-help.md", ai_help)):
        if len(text.encode("utf-8")) / TOKEN_BYTES > 3_000:
            yield f"{name} has over 3,000 tokens", str(len(text))


def _text_complaints(documents: dict[str, str], source: str) -> Iterator[tuple[str, str]]:
    says_none = "None" in source
    for name, text in documents.items():
        if name.endswith((".md", ".txt")):
            if "\n\n\n" in "\n".join(outside_fences(text)):
                yield "two blank lines", name
            if not says_none and _NONE.search(text):
                yield "the word None", name
            if re.search("[\x00-\x08\x0b-\x1f]", text):
                yield "control character", name


def _link_complaints(documents: dict[str, str]) -> Iterator[tuple[str, str]]:
    anchors = {name: set(anchors_of(text)) for name, text in documents.items()}
    for name, text in documents.items():
        if not name.endswith((".md", ".txt")):
            continue
        for line in outside_fences(text):
            if "](" not in line:
                continue
            for url in _LINK.findall(_CODE_SPAN.sub("", line)):
                path, _, anchor = url.partition("#")
                if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", url):
                    continue
                goal = normpath(f"{name.rpartition('/')[0]}/{unquote(path)}").lstrip("/") if path else name
                if goal not in documents:
                    yield "link to no file", f"{name}: {url}"
                elif anchor and unquote(anchor) not in anchors[goal]:
                    yield "link to no heading", f"{name}: {url}"


def anchors_of(text: str) -> Iterator[str]:
    """Yields the anchors of all headings, by GitHub's rule."""
    counts: dict[str, int] = {}
    for line in outside_fences(text):
        if match := re.match(r"#{1,6} (.*)", line):
            base = anchor = re.sub(r"[^\w\- ]", "", shown(match[1]).strip().lower()).replace(" ", "-")
            while anchor in counts:
                counts[base] += 1
                anchor = f"{base}-{counts[base]}"
            counts[anchor] = 0
            yield anchor


def _llms_txt_complaints(text: str) -> Iterator[tuple[str, str]]:
    try:
        parsed = parse_llms_file(text)
    except Exception as error:  # whatever the parser raises is a complaint
        yield "llms-txt parser", repr(error)[:200]
        return
    headings = [line[3:] for line in outside_fences(text) if line.startswith("## ")]
    links = sum(line.startswith("- [") for line in outside_fences(text))
    if not parsed.title or not parsed.summary or not parsed.info:
        yield "llms-txt parser", "finds no title, summary or information"
    if list(parsed.sections) != headings or sum(map(len, parsed.sections.values())) != links:
        yield "llms-txt parser", f"finds other sections or links: {list(parsed.sections)}"
