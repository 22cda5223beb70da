"""Ai_help in Markdown and JSON.

Splits the text of an `ai_help` answer: front matter, headings, lists of uses and of tools (seed 000, 3.3.2).

Reads the front matter of an `ai_help` answer, or its `metadata`, in the words of a `dashdash` object.

Both say the same things (seed 000, 3.1.2 and 3.3.2), so that the rest of the code asks both alike.

Writes JSON that stands where a text was expected as Markdown.

Reads the answer to `ai_help` (seed 000, 3.3), as Markdown or as JSON: `contentType` says which it is.

Adds to a tool what a text says of it: a line of its quick reference, a chapter of its tool reference (S0-18).

The text adds and changes nothing that the source declares. What has no field in the model, or says something else than
the source, is kept as guidance in the text's own words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

from skillgen.errors import ProblemLog
from skillgen.model.resource import Section
from skillgen.model.schema import Parameter
from skillgen.model.tool import Tool
from skillgen.model.values import Json, Origin
from skillgen.sources.json_access import as_dict, as_list, is_bare_markup, text_of
from skillgen.sources.mcp.fields import FieldReader
from skillgen.sources.yaml_core import YamlError, parse_yaml, word_scalar
from skillgen.text.summary import first_sentence, sentences
from skillgen.text.uses import label_of, lead_ins_apart, uses_declared_in, uses_in_item

_MARKDOWN = MarkdownIt("commonmark")
_TOOL_LINE = re.compile(
    r"(?:\*\*|__)?(?P<code>`)?(?:\*\*)?(?P<name>[\w./-]+)(?![\w./-])(?(code)[^`]*`|(?:\s?\([^`\n]*?\))?(?:\*\*)?)(?:\*\*|__)?"
    r"(?:\s*[:\u2014\u2013]|\s+-)(?:\*\*)?\s+(?P<phrase>\S.*)",
    re.DOTALL,
)
_TOOL_HEADING = re.compile(r"(?:\d+[.)]\s+)?[`*_]*(?P<name>[\w./-]+)")
_LABEL = re.compile(
    r"(?:#{4,6}\s+(?P<heading>\S.*)|(?P<marks>\*\*|__)(?P<bold>[^*_\n]{1,60}?):?(?P=marks)(?:(?<=:..)|\s*:|(?=\s*\Z))"
    r"|(?P<plain>Parameters|Arguments|Returns|Response|Side Effects|Examples?|Errors|Notes?|(?:CLI|API) Equivalent):)"
    r"[ \t]*(?P<text>.*)"
)
_FENCE = re.compile(r"\s{0,3}(?:```|~~~)")
_LISTS = ("bullet_list_open", "ordered_list_open")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter:
    """A heading and what stands below it, up to the next heading of its level or above."""

    title: str
    """The text of the heading, as Markdown."""

    body: str
    """Markdown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A Markdown text by its headings."""

    title: str | None
    """The first heading of level 1."""

    quote: str | None
    """The blockquote below it."""

    introduction: str | None
    """What else stands before the first chapter."""

    chapters: tuple[Chapter, ...]
    """The chapters of level 2."""


def split_front_matter(text: str) -> tuple[str | None, str]:
    """Returns the text between two lines of dashes at the beginning, if there is one, and the rest.

    Empty lines before it are those of a string literal that begins on a line of its own.
    """
    lines = text.lstrip("\ufeff\r\n").replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() != "---":
        return None, "\n".join(lines)
    for number, line in enumerate(lines[1:], start=1):
        if line.rstrip() in ("---", "..."):
            return "\n".join(lines[1:number]), "\n".join(lines[number + 1 :])
    return None, "\n".join(lines)


def page_from_markdown(text: str) -> Page:
    """Reads a text that has no front matter any more."""
    tokens = _MARKDOWN.parse(text)
    first_chapter = next(_headings(tokens, ("h2",)), None)
    opening = text if first_chapter is None else "\n".join(text.split("\n")[: first_chapter[0]])
    title = next(_headings(_MARKDOWN.parse(opening), ("h1",)), None)
    below = "\n".join(opening.split("\n")[title[1] :]) if title is not None else opening
    quote, rest = _quote_and_rest(below)
    return Page(
        title=title[2] if title is not None else None,
        quote=quote,
        introduction=rest or None,
        chapters=tuple(chapters(text, ("h1", "h2"), tokens)),
    )


def chapters(text: str, tags: tuple[str, ...], tokens: list[Token] | None = None) -> Iterator[Chapter]:
    """Gives the chapters under headings of these levels; the title of the page is none."""
    lines = text.split("\n")
    found = list(_headings(tokens if tokens is not None else _MARKDOWN.parse(text), tags))
    starts = [heading[0] for heading in found] + [len(lines)]
    for (_, start, title, tag), end in zip(found, starts[1:], strict=True):
        if tag != "h1":
            yield Chapter(title=title, body="\n".join(lines[start:end]).strip())


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedUses:
    """What a section on use says."""

    wanted: tuple[str, ...] = ()
    """When to use the service."""

    unwanted: tuple[str, ...] = ()
    """When not to use it."""

    rest: str = ""
    """What else the section says; Markdown."""


def uses(body: str, unwanted: bool = False) -> ListedUses:
    """Reads the lists that say when to use something and when not, and the sentences that do.

    The line before a list says which it is, and the heading before that line; `unwanted` is what the section says.
    """
    text = lead_ins_apart(body, are_signs_bullets=True)
    tokens = _MARKDOWN.parse(text)
    found: tuple[list[str], list[str]] = ([], [])
    read: set[int] = set()
    outer: list[bool] = []
    label = below_heading = unwanted
    for position, token in enumerate(tokens):
        if token.type in _LISTS:
            outer.append(label)
        elif token.type in ("bullet_list_close", "ordered_list_close"):
            label = outer.pop()
        if token.type != "inline" or token.map is None:
            continue
        own_label = label_of(token.content)
        leads_list = tokens[min(position + 2, len(tokens) - 1)].type in _LISTS
        if tokens[position - 1].type == "heading_open":
            label = below_heading = unwanted if own_label is None else own_label
            continue
        if leads_list and not (_is_item(tokens, position) and own_label is None):
            label = below_heading or own_label is True
            if not token.content.rstrip(" *_").endswith((":", "：")):
                if own_label is None:
                    continue
                _add_sentences(token.content, found, unwanted)
        elif _is_item(tokens, position):
            for is_unwanted, words in uses_in_item(token.content, label):
                found[is_unwanted].append(words)
        elif outer or not _add_sentences(token.content, found, unwanted):
            continue
        read.update(range(*token.map))
    return ListedUses(wanted=tuple(found[False]), unwanted=tuple(found[True]), rest=_unread(text, read))


def _add_sentences(paragraph: str, found: tuple[list[str], list[str]], unwanted: bool) -> bool:
    """Adds the uses that a paragraph declares; returns whether it says nothing else."""
    declared = uses_declared_in(paragraph)
    found[unwanted].extend(declared.wanted)
    found[True].extend(declared.unwanted)
    return 0 < len(list(sentences(paragraph))) <= len(declared.wanted) + len(declared.unwanted)


def _unread(text: str, read: Collection[int]) -> str:
    """Returns the lines that were not read, without headings that nothing follows."""
    lines = [line for number, line in enumerate(text.split("\n")) if number not in read]
    kept: list[str] = []
    for line in reversed(lines):
        if not line.lstrip().startswith("#") or (kept and not kept[-1].lstrip().startswith("#")):
            kept.extend([line] if line.strip() or (kept and kept[-1].strip()) else [])
    return "\n".join(reversed(kept)).strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolLines:
    """What a quick reference says."""

    phrases: Mapping[str, str]
    """Tool name to one line."""

    unknown: tuple[str, ...]
    """Names of tools that the service does not offer."""

    rest: str
    """What else it says; Markdown."""

    has_list: bool
    """Whether the rest lists something."""


def tool_lines(body: str, tool_names: Collection[str], *, is_own: bool) -> ToolLines:
    """Reads the items of a quick reference that name a tool: `name`, a dash or colon, a phrase.

    What names another tool is no part of the rest where the list is the service's own.
    """
    phrases: dict[str, str] = {}
    unknown: list[str] = []
    read: set[int] = set()
    labels: list[tuple[int, int, int]] = []
    tokens = _MARKDOWN.parse(body)
    for position, token in enumerate(tokens):
        if token.type != "inline" or token.map is None:
            continue
        if not _is_item(tokens, position):
            below = tokens[min(position + 2, len(tokens) - 1)]
            if below.type in _LISTS and below.map is not None and token.level == 1:
                labels.append((token.map[0], token.map[1], below.map[1]))
            continue
        match = _TOOL_LINE.fullmatch(token.content.strip())
        bare = token.content.strip("`*_ ")
        if match is not None and match["name"] in tool_names:
            phrases.setdefault(match["name"], " ".join(match["phrase"].split()))
        elif match is not None and match["code"] and is_own:
            unknown.append(match["name"])
        elif bare not in tool_names:
            continue
        read.update(range(*token.map))
    lines = body.split("\n")
    for start, stop, end in labels:
        if all(number in read or not lines[number].strip() for number in range(stop, end)):
            read.update(range(start, stop))  # "**Project tools:**" without any item left
    rest = _unread(body, read)
    kinds = {token.type for token in _MARKDOWN.parse(rest)}
    has_list = bool(kinds & {"list_item_open", "fence", "code_block"}) or any("|" in line for line in rest.split("\n"))
    return ToolLines(phrases=phrases, unknown=tuple(unknown), rest=rest, has_list=has_list)


def tool_chapters(body: str, tool_names: Collection[str]) -> tuple[dict[str, str], str]:
    """Returns what a tool reference says below the heading of each of these tools, and the rest of it."""
    found: dict[str, str] = {}
    lines = body.split("\n")
    headings = [
        (start, end, int(tag[1:]), _tool_named(title, tool_names))
        for start, end, title, tag in _headings(_MARKDOWN.parse(body), ("h3", "h4", "h5", "h6"))
    ]
    read: set[int] = set()
    for index, (start, end, level, name) in enumerate(headings):
        if name is None:
            continue
        stops = (later[0] for later in headings[index + 1 :] if later[3] is not None or later[2] <= level)
        stop = next(stops, len(lines))
        chapter = "\n".join(lines[end:stop]).strip()
        found[name] = f"{found[name]}\n\n{chapter}".strip() if name in found else chapter
        read.update(range(start, stop))
    return found, _unread(body, read)


def _tool_named(title: str, tool_names: Collection[str]) -> str | None:
    """Returns the tool that a heading is about: `create`, `create(name)`, `1. create — Makes one`."""
    bare = title.strip("`* ")
    if bare in tool_names:
        return bare
    match = _TOOL_HEADING.match(title)
    is_alone = match is not None and not title[match.end() :].strip("`*_ ")[:1].isalnum()
    return match["name"] if match is not None and is_alone and match["name"] in tool_names else None


def labelled_parts(chapter: str) -> list[Chapter]:
    """Returns the parts of a tool's chapter by their labels, `**Parameters:**` or a small heading.

    What is before the first label has an empty title.
    """
    parts = [Chapter(title="", body="")]
    is_code = False
    for line in chapter.split("\n"):
        match = None if is_code else _LABEL.fullmatch(line)
        is_code ^= _FENCE.match(line) is not None
        if match is not None:
            title = match["heading"] or match["bold"] or match["plain"]
            parts.append(Chapter(title=title.strip("`*_:# "), body=match["text"]))
        else:
            parts[-1] = replace(parts[-1], body=f"{parts[-1].body}\n{line}")
    return [replace(part, body=part.body.strip("\n")) for part in parts if part.title or part.body.strip()]


def _headings(tokens: list[Token], tags: tuple[str, ...]) -> Iterator[tuple[int, int, str, str]]:
    """Gives first line, line after, text and tag of the headings that stand in no quote and no list."""
    for token, inline in pairwise(tokens):
        if token.type == "heading_open" and token.level == 0 and token.tag in tags and token.map is not None:
            yield token.map[0], token.map[1], inline.content, token.tag


def _is_item(tokens: list[Token], position: int) -> bool:
    """Tells whether a token is the first line of text of a list item."""
    return tokens[position].type == "inline" and position > 1 and tokens[position - 2].type == "list_item_open"


def _quote_and_rest(text: str) -> tuple[str | None, str]:
    lines = text.split("\n")
    tokens = _MARKDOWN.parse(text)
    for position, token in enumerate(tokens):
        if token.type == "blockquote_open" and token.level == 0 and token.map is not None:
            quoted = next((later.content for later in tokens[position:] if later.type == "inline"), "")
            start, end = token.map
            return " ".join(quoted.split()) or None, "\n".join(lines[:start] + lines[end:]).strip()
    return None, text.strip()


FRONT_MATTER_LIMIT = 20_000
"""Characters of front matter beyond which it is not read: deep nesting takes the YAML parser quadratic time."""

_ALIASES = {
    "abt": "spec-url",
    "ver": "spec-version",
    "sub": "subcommand-help",
    "acl": "access-level",
    "web": "web-url",
    "cli": "cli-url",
    "mcp": "mcp-url",
    "api": "api-url",
}
"""Names that the fields had in version 0.1 (CLI profile, appendix C)."""

_IDENTITY = ("name", "description", "emoji")
_ACCESS = ("cliUrl", "apiUrl", "webUrl", "mcpUrl")


def metadata_from_front_matter(front_matter: str | None, pointer: str, problems: ProblemLog) -> FieldReader:
    """Reads YAML; what is not YAML is reported, and says nothing."""
    return metadata_from_mapping(_parsed(front_matter, pointer, problems), pointer, problems)


def metadata_from_mapping(raw: dict[str, Json], pointer: str, problems: ProblemLog) -> FieldReader:
    """Gives front matter in the shape of a `dashdash` object; `none` is how YAML says null (seed 000, CLI profile)."""
    keys = {_camel(_ALIASES.get(key, key)): key for key in raw}
    shaped = {_camel(_ALIASES.get(key, key)): value for key, value in raw.items()}
    for part in ("requires", "invocation"):
        if isinstance(shaped.get(part), dict):
            keys.update((_camel(key), key) for key in shaped[part])
            shaped[part] = {_camel(key): value for key, value in shaped[part].items()}
    access = {key: shaped.pop(key) for key in _ACCESS if key in shaped}
    if shaped.get("apiEndpoint") == "none":
        shaped["apiEndpoint"] = None
    groups = {
        "identity": {key: shaped.pop(key) for key in _IDENTITY if key in shaped},
        "alternativeAccess": {key: None if value == "none" else value for key, value in access.items()},
    }
    for key, group in groups.items():
        if group:
            shaped[key] = {**as_dict(shaped.get(key)), **group}
    fields = FieldReader(shaped, pointer, "ai_help", problems, keys=keys)
    fields.ignore("specUrl", "specVersion", "subcommandHelp")
    return fields


def _parsed(front_matter: str | None, pointer: str, problems: ProblemLog) -> dict[str, Json]:
    if front_matter is None:
        return {}
    if len(front_matter) > FRONT_MATTER_LIMIT:
        problems.warning("ai-help-invalid", pointer, f"the front matter is longer than {FRONT_MATTER_LIMIT} characters")
        return {}
    try:
        data = parse_yaml(front_matter, problems, scalar=word_scalar)
    except YamlError as error:
        problems.warning("ai-help-invalid", pointer, f"the front matter is not YAML: {error}")
        return {}
    if _is_bomb(data):
        problems.warning("ai-help-invalid", pointer, "the aliases of the front matter stand for too many values")
        return {}
    if not isinstance(data, dict):
        problems.warning("ai-help-invalid", pointer, "the front matter is not a mapping")
    return as_dict(data)


def _is_bomb(data: Json) -> bool:
    """Tells whether aliases make more values than the text has characters."""
    waiting, seen = [data], 0
    while waiting and seen <= FRONT_MATTER_LIMIT:
        value = waiting.pop()
        seen += 1
        waiting.extend(value.values() if isinstance(value, dict) else value if isinstance(value, list) else ())
    return bool(waiting)


def _camel(key: str) -> str:
    first, *rest = key.replace("_", "-").split("-")
    return first + "".join(word[:1].upper() + word[1:] for word in rest)


def as_markdown(value: Json) -> str:
    """Gives a text as it is, a list of texts and a flat object as list items, anything else as a block of JSON."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return "\n".join(f"- {item}" for item in value)
    if isinstance(value, dict) and not any(isinstance(item, (dict, list)) for item in value.values()):
        return "\n".join(f"- **{title_from_key(key)}:** {item}" for key, item in value.items())
    return f"```json\n{json.dumps(value, ensure_ascii=False, indent=2)}\n```" if value is not None else ""


def title_from_key(key: str) -> str:
    """Gives `commonMistakes` or `common_mistakes` as `Common mistakes`."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[-_]+", " ", key).strip()
    return words[:1].upper() + words[1:]


POINTER = "/ai_help"

OWN_LIST = "The Source's Own Quick Reference"
"""The title of what a quick reference lists in a form that cannot be merged with the documents' own list."""

_USE = re.compile(r"whentouse|usewhen")
_NO_USE = re.compile(r"when(?:not|to(?:not|avoid))|(?:do|should)not|dont|not(?:for|tobe|intended|suitable)|outofscope")
_REFERENCES = ("toolreference", "tools", "availabletools", "commandreference", "commands")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolHelp:
    """What an answer says of some tools, and what it says of nothing but the service."""

    phrases: Mapping[str, str]
    """Tool name to one line, from the quick reference."""

    chapters: Mapping[str, str]
    """Tool name to Markdown, from the tool reference."""

    sections: tuple[Section, ...]
    """The sections without what they say of these tools."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AiHelp:
    """What an answer says of the service."""

    metadata: FieldReader
    """The front matter, or `metadata`, in the shape of a `dashdash` object."""

    pointer: str = POINTER
    """JSON pointer to what the rest was read from."""

    title: str | None = None
    """The heading of the whole."""

    quote: str | None = None
    """One line that says what the service is."""

    introduction: str | None = None
    """What stands before the first section."""

    when_to_use: tuple[str, ...] = ()
    """What the service is for, item by item."""

    when_not_to_use: tuple[str, ...] = ()
    """What it is not for."""

    sections: tuple[Section, ...] = ()
    """All sections without the uses, in order."""

    def of_tools(self, tool_names: Collection[str], problems: ProblemLog, *, is_own: bool = True) -> ToolHelp:
        """Returns what it says of the tools that a service offers.

        Other tools are left out of the service's own quick reference and reported; an extra text may list commands.
        """
        phrases: dict[str, str] = {}
        chapters: dict[str, str] = {}
        sections: list[Section] = []
        unknown: list[str] = []
        for section in self.sections:
            key, title, body = _letters(section.title), section.title, section.body
            if key == "quickreference":
                lines = tool_lines(body, tool_names, is_own=is_own)
                phrases = {**lines.phrases, **phrases}
                unknown += lines.unknown
                title, body = OWN_LIST if lines.has_list else title, lines.rest
            elif key in _REFERENCES:
                found, body = tool_chapters(body, tool_names)
                for name, words in found.items():
                    chapters[name] = "\n\n".join(filter(None, (chapters.get(name), words)))
            if body:
                sections.append(Section(title=title, body=body))
        if unknown:
            problems.warning(
                "quick-reference-unknown-tool",
                self.pointer,
                f"the quick reference lists {', '.join(unknown)[:200]}, which the source does not offer; left out",
                "correct the names or remove the lines",
            )
        return ToolHelp(phrases=phrases, chapters=chapters, sections=tuple(sections))


def ai_help_from_result(raw: Json, problems: ProblemLog) -> AiHelp:
    """Reads an answer; `None` is no answer. What makes no sense is reported, and the rest is read."""
    result = as_dict(raw)
    content, kind = result.get("content"), str(result.get("contentType", "")).partition(";")[0].strip().lower()
    if kind == "application/json" and "metadata" not in result and isinstance(content, str):
        result, content = _decoded(content, problems), None
    if isinstance(content, str) and kind != "application/json":
        return _from_markdown(content, problems)
    if "metadata" in result or "sections" in result:
        return _from_json(result, problems)
    if raw is not None:
        problems.warning("ai-help-invalid", POINTER, "the answer to ai_help has neither `content` nor `metadata`")
    return AiHelp(metadata=metadata_from_mapping({}, "", problems))


def _from_markdown(content: str, problems: ProblemLog) -> AiHelp:
    pointer = f"{POINTER}/content"
    front_matter, body = split_front_matter(content)
    page = page_from_markdown(body)
    builder = _Builder()
    for chapter in page.chapters:
        builder.add_markdown(chapter.title, chapter.body)
    return builder.built(
        metadata=metadata_from_front_matter(front_matter, pointer, problems),
        pointer=pointer,
        title=page.title,
        quote=page.quote,
        introduction=page.introduction,
    )


def _from_json(result: dict[str, Json], problems: ProblemLog) -> AiHelp:
    metadata = as_dict(result.get("metadata"))
    builder = _Builder()
    for key, value in as_dict(result.get("sections")).items():
        builder.add_json(key, value)
    return builder.built(
        metadata=metadata_from_mapping(metadata, f"{POINTER}/metadata", problems),
        pointer=f"{POINTER}/sections",
        title=text_of(metadata, "title"),
    )


class _Builder:
    """Gathers what the sections of an answer say."""

    def __init__(self) -> None:
        self._wanted: tuple[str, ...] = ()
        self._unwanted: tuple[str, ...] = ()
        self._sections: list[Section] = []

    def add_markdown(self, title: str, body: str) -> None:
        key = _letters(title)
        is_unwanted = _NO_USE.match(key) is not None
        if is_unwanted or _USE.match(key):
            found = uses(body, unwanted=is_unwanted)
            self._wanted += found.wanted
            self._unwanted += found.unwanted
            body = found.rest
        if body and not is_bare_markup(body):
            self._sections.append(Section(title=title, body=body))

    def add_json(self, key: str, value: Json) -> None:
        letters = _letters(key)
        body = _tool_list(value) if letters == "quickreference" else ""
        body = body or (_tool_reference(value) if letters in _REFERENCES else "")
        self.add_markdown(title_from_key(key), body or as_markdown(value))

    def built(
        self,
        *,
        metadata: FieldReader,
        pointer: str,
        title: str | None,
        quote: str | None = None,
        introduction: str | None = None,
    ) -> AiHelp:
        return AiHelp(
            metadata=metadata,
            pointer=pointer,
            title=title,
            quote=quote,
            introduction=introduction,
            when_to_use=self._wanted,
            when_not_to_use=self._unwanted,
            sections=tuple(self._sections),
        )


def _decoded(content: str, problems: ProblemLog) -> dict[str, Json]:
    try:
        return as_dict(json.loads(content))
    except (ValueError, RecursionError):
        problems.warning("ai-help-invalid", f"{POINTER}/content", "the content is not JSON, though `contentType` is")
        return {}


def _tool_list(value: Json) -> str:
    """Returns a quick reference in JSON as the list that it is in Markdown; empty where it has another form."""
    phrases = {name: item if isinstance(item, str) else _phrase(item) for name, item in _named(value)}
    return "\n".join(f"- `{name}` — {' '.join(words.split())}" for name, words in phrases.items() if words)


def _phrase(item: Json) -> str:
    return text_of(item, "description") or text_of(item, "summary") or ""


def _tool_reference(value: Json) -> str:
    """Returns a tool reference in JSON as the chapters that it has in Markdown, a labelled part for each member."""
    return "\n\n".join(f"### {name}\n\n{_chapter(item)}" for name, item in _named(value))


def _chapter(item: Json) -> str:
    if not isinstance(item, dict):
        return as_markdown(item)
    parts = [text_of(item, "description") or ""]
    for key, part in item.items():
        if key not in ("name", "tool") and part != parts[0]:
            parts.append(f"**{title_from_key(key)}:**\n\n{as_markdown(part)}")
    return "\n\n".join(filter(None, parts))


def _named(value: Json) -> Iterator[tuple[str, Json]]:
    """Yields the members of an object, or the objects of a list that have a name."""
    if isinstance(value, dict):
        yield from value.items()
    for item in as_list(value):
        if (name := text_of(item, "name") or text_of(item, "tool")) is not None:
            yield name, item


def _letters(title: str) -> str:
    return re.sub(r"[^a-z]", "", title.lower())


OTHER_WORDS = "Its help says"
OTHER_PARAMETERS = "What its help says of the parameters"

_ROW = re.compile(
    r"(?:\*\*)?`?(?P<name>[^\s`*:(]+)`?(?:\*\*)?(?:\s*\((?P<facts>[^()]*)\))?\s*(?::|—|–|\s-\s)(?:\*\*)?\s*(?P<words>\S.*)",
    re.DOTALL,
)
_PLAIN_FACTS = frozenset(
    ("required", "optional", "string", "str", "integer", "int", "number", "float", "boolean", "bool", "array", "object")
)
_CODE = re.compile(r"\s*`([^`\n]+)`\s*")
_NO_EFFECT = re.compile(r"\W*(?:none|no|nothing|n/?a|no\s+side[\s-]effects?)?\W*", re.IGNORECASE)


def with_help(tool: Tool, text: ToolHelp, origin: Origin, nulls: Collection[str] = ()) -> Tool:
    """Returns a tool with what a text says of it; `nulls` are the fields that the source declares to be null."""
    phrase, chapter = text.phrases.get(tool.name), text.chapters.get(tool.name)
    found = _Help(tool, origin, nulls)
    for part in labelled_parts(chapter or ""):
        found.add(part.title, part.body)
    return found.tool_with(phrase)


class _Help:
    """Sorts the parts of a chapter into the fields of a tool."""

    def __init__(self, tool: Tool, origin: Origin, nulls: Collection[str]) -> None:
        self._tool = tool
        self._origin = origin
        self._nulls = nulls
        self._guidance: list[Section] = []

    def add(self, title: str, body: str) -> None:
        """Reads one part; an empty title is that of the words before the first label."""
        key = re.sub(r"[^a-z]", "", title.lower())
        if key == "":
            body = self._description(body)
        elif key in ("parameters", "arguments", "inputs", "input"):
            title, body = OTHER_PARAMETERS, self._parameters(body)
        elif key in ("sideeffects", "sideeffect"):
            body = self._side_effects(body)
        elif key in ("cliequivalent", "apiequivalent"):
            body = self._equivalent(f"{key[:3]}_equivalent", body)
        if body.strip():
            self._guidance.append(Section(title=title or OTHER_WORDS, body=body.strip()))

    def tool_with(self, phrase: str | None) -> Tool:
        """Returns the tool with all parts, and with the line of the quick reference where it declares no summary."""
        summary = (self._tool.origins or {}).get("summary")
        if phrase and (self._tool.summary is None or (summary is not None and summary.kind == "inferred")):
            self._set("summary", phrase)
        return replace(self._tool, guidance=(*self._tool.guidance, *self._guidance))

    def _set(self, field: str, value: object, origin: Origin | None = None) -> None:
        origins = {**(self._tool.origins or {}), field: origin or self._origin}
        changes: dict[str, object] = {field: value, "origins": origins}
        self._tool = replace(self._tool, **changes)  # type: ignore[arg-type]

    def _description(self, text: str) -> str:
        tool = self._tool
        if tool.description:
            return "" if _says(tool.description, text) else text
        self._set("description", text.strip())
        if tool.summary is None and (sentence := first_sentence(text)):
            self._set("summary", sentence, Origin("inferred", "description"))
        return ""

    def _parameters(self, text: str) -> str:
        """Fills in what parameters are; returns the rows that say something else or something more."""
        by_name = {parameter.name: parameter for parameter in self._tool.parameters}
        lines, filled, read = text.split("\n"), dict[str, Parameter](), set[int]()
        tokens = _MARKDOWN.parse(text)
        for position, token in enumerate(tokens):
            # paragraph, inline and their end: a row without blocks inside
            if token.type != "list_item_open" or token.map is None or tokens[position + 4 :][:1] == []:
                continue
            row = _ROW.fullmatch(tokens[position + 2].content.strip())
            parameter = by_name.get(row["name"]) if row is not None else None
            if row is None or parameter is None or tokens[position + 4].type != "list_item_close":
                continue
            words = " ".join(row["words"].split())
            if not parameter.description and parameter.name not in filled:
                origins = {**(parameter.origins or {}), "description": self._origin}
                filled[parameter.name] = replace(parameter, description=words, origins=origins)
            elif not _says((filled.get(parameter.name) or parameter).description or "", words):
                continue
            if _PLAIN_FACTS.issuperset(re.findall(r"[^\s,|]+", (row["facts"] or "").lower())):
                read.update(range(*token.map))
        if filled:
            self._tool = replace(
                self._tool, parameters=tuple(filled.get(item.name, item) for item in self._tool.parameters)
            )
        return "\n".join(line for number, line in enumerate(lines) if number not in read)

    def _side_effects(self, text: str) -> str:
        semantics = self._tool.semantics
        tokens = _MARKDOWN.parse(text)
        blocks = [" ".join(token.content.split()) for token in tokens if token.type == "inline"]
        is_plain = all(token.level < 4 and token.type not in ("fence", "code_block", "html_block") for token in tokens)
        if semantics.side_effects or not is_plain or any(map(_NO_EFFECT.fullmatch, blocks)):
            return "" if blocks and all(_says(" ".join(semantics.side_effects), block) for block in blocks) else text
        origins: Mapping[str, Origin] = {**(semantics.origins or {}), "side_effects": self._origin}
        self._tool = replace(self._tool, semantics=replace(semantics, side_effects=tuple(blocks), origins=origins))
        return ""

    def _equivalent(self, field: str, text: str) -> str:
        match = _CODE.fullmatch(text)
        if match is None or field in self._nulls:
            return "" if field in self._nulls else text
        if getattr(self._tool, field) is None:
            self._set(field, match[1])
        return "" if getattr(self._tool, field) == match[1] else text


def _says(text: str, words: str) -> bool:
    """Returns whether a text has these words already, whatever its case, emphasis and stops."""
    return _comparable(words) in _comparable(text)


def _comparable(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text.casefold()).strip()
