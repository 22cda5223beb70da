"""Reads the result of `ai_help` (seed 000, 3.3), in Markdown or JSON as its `contentType` says.

Its front matter or `metadata` is read in the shape of a `dashdash` object (seed 000, 3.1.2 and 3.3.2). Its quick
reference and tool reference add to the tools (S0-18), but never change what the source declares: text that has no field
in the model, or that differs from the source, becomes guidance, unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from skillgen.errors import ProblemLog
from skillgen.model.resource import Section, SectionKind
from skillgen.model.schema import Parameter
from skillgen.model.tool import Tool
from skillgen.model.values import Json, Origin
from skillgen.sources.json_access import as_dict, as_list, is_bare_markup, text_of
from skillgen.sources.mcp.fields import FieldReader
from skillgen.text import generated
from skillgen.text import lazy_re as re
from skillgen.text.generated import OWN_WORDS, is_edited
from skillgen.text.structure import sections_of_level
from skillgen.text.summary import first_sentence, sentences
from skillgen.text.uses import label_of, lead_ins_apart, uses_declared_in, uses_in_item

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

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


_POINTER = "/ai_help"

_USE = re.compile(r"whentouse|usewhen")
_NO_USE = re.compile(r"when(?:not|to(?:not|avoid))|(?:do|should)not|dont|not(?:for|tobe|intended|suitable)|outofscope")
_REFERENCES = ("toolreference", "tools", "availabletools", "commandreference", "commands")


class ToolHelp(Struct, frozen=True, kw_only=True):
    """The text of `ai_help` on the tools of a service, and the rest of its sections."""

    phrases: Mapping[str, str]
    """Tool name to one line, from the quick reference."""

    chapters: Mapping[str, str]
    """Tool name to Markdown, from the tool reference."""

    sections: tuple[Section, ...]
    """The sections without the text on these tools."""


class AiHelp(Struct, frozen=True, kw_only=True):
    """The result of `ai_help`."""

    metadata: FieldReader
    """The front matter, or `metadata`, in the shape of a `dashdash` object."""

    pointer: str = _POINTER
    """JSON pointer to the text of the fields below."""

    title: str | None = None
    """The heading of level 1."""

    quote: str | None = None
    """One line that describes the service."""

    introduction: str | None = None
    """The text before the first section."""

    when_to_use: tuple[str, ...] = ()
    """Uses of the service, one each."""

    when_not_to_use: tuple[str, ...] = ()
    """Uses for which it is not meant."""

    sections: tuple[Section, ...] = ()
    """All sections without the uses, in order."""

    edited: bool | None = None
    """Whether a text that skillgen wrote was edited since; `None` for any other text."""

    instructions: str | None = None
    """The instructions of a server, which only a text that skillgen wrote repeats."""

    def of_tools(self, tool_names: Collection[str], problems: ProblemLog, *, is_own: bool = True) -> ToolHelp:
        """Returns the text on the tools of a service.

        Unknown tools are left out of the service's own quick reference and reported; an extra text may list commands.
        """
        phrases: dict[str, str] = {}
        chapters: dict[str, str] = {}
        sections: list[Section] = []
        unknown: list[str] = []
        for section in self.sections:
            key, body = _letters(section.title), section.body
            if key == "quickreference":
                listed, unknown_in_list, body = _tool_lines(body, tool_names, is_own=is_own)
                phrases = {**listed, **phrases}
                unknown += unknown_in_list
                if _has_list(body):  # in a form that cannot be merged with the documents' own list
                    section = Section(kind="quick_reference", body=body)
            elif key in _REFERENCES:
                by_tool, body = _tool_chapters(body, tool_names)
                for name, chapter in by_tool.items():
                    chapters[name] = "\n\n".join(filter(None, (chapters.get(name), chapter)))
            if body:
                sections.append(replace(section, body=body))
        if unknown:
            message = f"the quick reference lists {', '.join(unknown)[:200]}, which the source does not offer; left out"
            problems.report("quick-reference-unknown-tool", self.pointer, message)
        return ToolHelp(phrases=phrases, chapters=chapters, sections=tuple(sections))


def has_section(text: AiHelp, title: str) -> bool:
    """True if a text has a section with a title, in any spelling."""
    return any(_letters(section.title) == _letters(title) for section in text.sections)


_DERIVED = frozenset(
    (
        "quickreferencenotes",
        "whentouse", "overview", "setupprerequisites", "quickreference", "commandreference", "inputspecification",
        "outputformats", "outputschema", "examples", "authenticationandprerequisites", "authentication",
        "ratelimitsandperformance", "ratelimits", "errorhandling", "dateandtimeformats", "operationalsemantics",
        "capabilities", "lifecycle", "resourcesandprompts", "alternativeaccess", "moretools", "workflows",
        "instructions", "otheraccess", "optional",
    )
)  # fmt: skip
"""Sections of ai-help.md and llms.txt that skillgen derives."""


def _without_derived(text: AiHelp) -> AiHelp:
    """Returns what a text that skillgen wrote has of the source's own words.

    Those are the parts below a heading of their own, and the sections that skillgen does not derive, which include all
    after the last derived one.
    """
    sections: list[Section] = []
    overview: dict[str, str] = {}
    is_after = False
    for section in text.sections:
        key = _letters(section.title)
        if is_after or key not in _DERIVED:
            sections.append(section)
            continue
        is_after = key == "alternativeaccess"
        for heading, body in sections_of_level(3, section.body):
            label, _, title = heading.partition(": ")
            if label == OWN_WORDS and title:
                sections.append(replace(section, title=title, body=body))
            elif key == "overview":
                overview[label] = body
    not_declared = _not_declared(text.metadata)
    description = overview.get("Description")
    summary = overview.get("Summary") or (description or "").partition("\n\n")[0]
    return replace(
        text,
        title=None if "title" in not_declared else text.title,
        quote=" ".join(summary.split()) if "description" not in not_declared else None,
        introduction=description,
        instructions=overview.get("Instructions"),
        when_to_use=() if "when-to-use" in not_declared else text.when_to_use,
        sections=tuple(sections),
    )


def ai_help_from_result(raw: Json, problems: ProblemLog, pointer: str = f"{_POINTER}/content") -> AiHelp:
    """Reads the result of `ai_help`, which may be missing; invalid parts are reported and left out.

    Servers also answer with the text alone, or with content blocks as `tools/call` returns them. Of a text that
    skillgen wrote, what it derived is left out. `pointer` is that of a text in Markdown.
    """
    text = _any_text(raw, problems, pointer)
    return text if text.edited is None else _without_derived(text)


def _any_text(raw: Json, problems: ProblemLog, pointer: str) -> AiHelp:
    result = {"content": raw} if isinstance(raw, str) else as_dict(raw)
    content, kind = _joined_blocks(result.get("content")), _media_type(result)
    if kind == "application/json" and "metadata" not in result and isinstance(content, str):
        decoded = _parsed_json(content, problems)
        result = decoded if isinstance(decoded, dict) else {"content": decoded}
        content, kind = _joined_blocks(result.get("content")), _media_type(result)
    if isinstance(content, str) and kind != "application/json":
        return _from_markdown(content, problems, pointer)
    if "metadata" in result or "sections" in result:
        return _from_json(result, problems)
    if raw is not None:
        problems.report("ai-help-invalid", _POINTER, "the answer to ai_help has neither `content` nor `metadata`")
    return AiHelp(metadata=metadata_from_mapping({}, "", problems))


@lru_cache(1)
def _parser() -> MarkdownIt:
    """Returns the parser, which few servers need: importing it takes as long as the rest of a small crawl."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark")


def _parse(text: str) -> list[Token]:
    """Returns the tokens of a text; lines of JSON sections end with a newline only, the parser counts a return too."""
    return _parser().parse(text.replace("\r", " "))


def _media_type(result: dict[str, Json]) -> str:
    return str(result.get("contentType", "")).partition(";")[0].strip().lower()


def _joined_blocks(content: Json) -> Json:
    """Returns the text of content blocks; anything else unchanged."""
    blocks = [content] if isinstance(content, dict) else as_list(content)
    texts = [text for block in blocks if (text := text_of(block, "text")) is not None]
    return "\n\n".join(texts) if texts else content


def _from_markdown(content: str, problems: ProblemLog, pointer: str) -> AiHelp:
    front_matter, text = _split_front_matter(content)
    lines, headings = text.split("\n"), list(_headings(_parse(text), ("h1", "h2")))
    # A heading of level 1 ends a chapter but does not begin one.
    ends = [heading[0] for heading in headings[1:]] + [len(lines)]
    chapters = [
        Section(title=title, body="\n".join(lines[start:end]).strip())
        for (_, start, title, tag), end in zip(headings, ends, strict=False)
        if tag == "h2"
    ]
    first_chapter = next((start for start, _, _, tag in headings if tag == "h2"), len(lines))
    _, title_end, title, _ = next((item for item in headings if item[0] < first_chapter), (0, 0, None, ""))
    quote, introduction = _quote_and_rest("\n".join(lines[title_end:first_chapter]))
    members = _parsed_yaml(front_matter, pointer, problems) if front_matter is not None else {}
    ai_help = AiHelp(
        metadata=metadata_from_mapping(members, pointer, problems),
        pointer=pointer,
        title=title,
        quote=quote,
        introduction=introduction or None,
        edited=is_edited(members.get(generated.KEY), text),
    )
    return _with_chapters(ai_help, chapters)


def _from_json(result: dict[str, Json], problems: ProblemLog) -> AiHelp:
    metadata = as_dict(result.get("metadata"))
    ai_help = AiHelp(
        metadata=metadata_from_mapping(metadata, f"{_POINTER}/metadata", problems),
        pointer=f"{_POINTER}/sections",
        title=text_of(metadata, "title"),
        edited=is_edited(metadata.get(_camel(generated.KEY)), json.dumps(result.get("sections"), ensure_ascii=False)),
    )
    members = as_dict(result.get("sections")).items()
    chapters = (Section(title=_title_from_key(key), body=_body(key, value)) for key, value in members)
    return _with_chapters(ai_help, chapters)


def _with_chapters(ai_help: AiHelp, chapters: Iterable[Section]) -> AiHelp:
    """Returns the result with its sections, without the uses that they list."""
    wanted: list[str] = []
    unwanted: list[str] = []
    sections = []
    for chapter in chapters:
        key, body = _letters(chapter.title), chapter.body
        is_unwanted = _NO_USE.match(key) is not None
        if is_unwanted or _USE.match(key):
            wanted_here, unwanted_here, body = _uses_in_section(body, is_unwanted)
            wanted += wanted_here
            unwanted += unwanted_here
        if body and not is_bare_markup(body):
            sections.append(replace(chapter, body=body))
    return replace(ai_help, when_to_use=tuple(wanted), when_not_to_use=tuple(unwanted), sections=tuple(sections))


def _body(key: str, value: Json) -> str:
    """Returns a section in JSON as Markdown."""
    letters = _letters(key)
    body = _tool_list(value) if letters == "quickreference" else ""
    return body or (_tool_reference(value) if letters in _REFERENCES else "") or as_markdown(value)


def _parsed_json(content: str, problems: ProblemLog) -> Json:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        problems.report("ai-help-invalid", f"{_POINTER}/content", "the content is not JSON, though `contentType` is")
        return {}


def _tool_list(value: Json) -> str:
    """Returns a quick reference in JSON as a list in Markdown; empty if it has another form."""
    phrases = {
        name: item if isinstance(item, str) else text_of(item, "description") or text_of(item, "summary")
        for name, item in _named_items(value)
    }
    return "\n".join(f"- `{name}` — {' '.join(phrase.split())}" for name, phrase in phrases.items() if phrase)


def _tool_reference(value: Json) -> str:
    """Returns a tool reference in JSON as chapters in Markdown, with a label for each member of a tool."""
    return "\n\n".join(f"### {name}\n\n{_chapter(item)}" for name, item in _named_items(value))


def _chapter(item: Json) -> str:
    if not isinstance(item, dict):
        return as_markdown(item)
    parts = [text_of(item, "description") or ""]
    for key, part in item.items():
        if key not in ("name", "tool") and part != parts[0]:
            parts.append(f"**{_title_from_key(key)}:**\n\n{as_markdown(part)}")
    return "\n\n".join(filter(None, parts))


def _named_items(value: Json) -> Iterator[tuple[str, Json]]:
    """Yields the members of an object, or the objects of a list that have a name."""
    if isinstance(value, dict):
        yield from value.items()
    for item in as_list(value):
        if (name := text_of(item, "name") or text_of(item, "tool")) is not None:
            yield name, item


def _letters(title: str) -> str:
    return re.sub(r"[^a-z]", "", title.lower())


def _split_front_matter(text: str) -> tuple[str | None, str]:
    """Returns the text between two lines of dashes at the beginning, if there is one, and the rest.

    Empty lines before it are ignored: they come from a string literal with a line break after the quotes.
    """
    lines = text.lstrip("\ufeff\r\n").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if lines[0].rstrip() != "---":
        return None, "\n".join(lines)
    for number, line in enumerate(lines[1:], start=1):
        if line.rstrip() in ("---", "..."):
            return "\n".join(lines[1:number]), "\n".join(lines[number + 1 :])
    return None, "\n".join(lines)


def _headings(tokens: list[Token], tags: tuple[str, ...]) -> Iterator[tuple[int, int, str, str]]:
    """Yields first line, line after the last, text and tag of the headings outside of quotes and lists."""
    for token, inline in pairwise(tokens):
        if token.type == "heading_open" and token.level == 0 and token.tag in tags and token.map is not None:
            yield token.map[0], token.map[1], inline.content, token.tag


def _is_item(tokens: list[Token], position: int) -> bool:
    """True if a token is the first paragraph of a list item."""
    return tokens[position].type == "inline" and position > 1 and tokens[position - 2].type == "list_item_open"


def _quote_and_rest(text: str) -> tuple[str | None, str]:
    lines = text.split("\n")
    tokens = _parse(text)
    for position, token in enumerate(tokens):
        if token.type == "blockquote_open" and token.level == 0 and token.map is not None:
            quoted = next((later.content for later in tokens[position:] if later.type == "inline"), "")
            start, end = token.map
            return " ".join(quoted.split()) or None, "\n".join(lines[:start] + lines[end:]).strip()
    return None, text.strip()


def _uses_in_section(body: str, unwanted: bool) -> tuple[list[str], list[str], str]:
    """Returns when to use something and when not, by the lists and sentences of a section, and its other text.

    The line before a list decides which it is, then the heading before that line, then `unwanted`, which is that of
    the section.
    """
    text = lead_ins_apart(body, are_signs_bullets=True)
    tokens = _parse(text)
    uses: tuple[list[str], list[str]] = ([], [])  # wanted, unwanted
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
                _add_sentences(token.content, uses, unwanted)
        elif _is_item(tokens, position):
            for is_unwanted, use in uses_in_item(token.content, label):
                uses[is_unwanted].append(use)
        elif outer or not _add_sentences(token.content, uses, unwanted):
            continue
        read.update(range(*token.map))
    return *uses, _unread(text, read)


def _add_sentences(paragraph: str, uses: tuple[list[str], list[str]], unwanted: bool) -> bool:
    """Adds the uses that a paragraph declares; returns whether it has no other sentences."""
    declared = uses_declared_in(paragraph)
    uses[unwanted].extend(declared.wanted)
    uses[True].extend(declared.unwanted)
    return 0 < len(list(sentences(paragraph))) <= len(declared.wanted) + len(declared.unwanted)


def _unread(text: str, read: Collection[int]) -> str:
    """Returns the lines that were not read, without headings of empty chapters."""
    lines = [line for number, line in enumerate(text.split("\n")) if number not in read]
    rest: list[str] = []  # in reverse order
    for line in reversed(lines):
        if not line.lstrip().startswith("#") or (rest and not rest[-1].lstrip().startswith("#")):
            rest.extend([line] if line.strip() or (rest and rest[-1].strip()) else [])
    return "\n".join(reversed(rest)).strip()


def _tool_lines(body: str, tool_names: Collection[str], *, is_own: bool) -> tuple[dict[str, str], list[str], str]:
    """Reads the items of a quick reference that name a tool: `name`, a dash or colon, a phrase.

    Returns tool name to phrase, the names of unknown tools, and the other text. With `is_own`, the list is the
    service's own: items with the names of unknown tools are not part of the other text.
    """
    phrases: dict[str, str] = {}
    unknown: list[str] = []
    read: set[int] = set()
    labels: list[tuple[int, int, int]] = []
    tokens = _parse(body)
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
            read.update(range(start, stop))  # "**Project tools:**", if all items below it were read
    return phrases, unknown, _unread(body, read)


def _has_list(text: str) -> bool:
    """True if a text contains a list, a table or a block of code."""
    kinds = {token.type for token in _parse(text)}
    return bool(kinds & {"list_item_open", "fence", "code_block"}) or "|" in text


def _tool_chapters(body: str, tool_names: Collection[str]) -> tuple[dict[str, str], str]:
    """Returns tool name to the text below its heading in a tool reference, and the rest of the reference."""
    by_tool: dict[str, str] = {}
    lines = body.split("\n")
    headings = [
        (start, end, int(tag[1:]), _tool_named(title, tool_names))
        for start, end, title, tag in _headings(_parse(body), ("h3", "h4", "h5", "h6"))
    ]
    read: set[int] = set()
    for index, (start, end, level, name) in enumerate(headings):
        if name is None:
            continue
        stops = (later[0] for later in headings[index + 1 :] if later[3] is not None or later[2] <= level)
        stop = next(stops, len(lines))
        chapter = "\n".join(lines[end:stop]).strip()
        by_tool[name] = f"{by_tool[name]}\n\n{chapter}".strip() if name in by_tool else chapter
        read.update(range(start, stop))
    return by_tool, _unread(body, read)


def _tool_named(title: str, tool_names: Collection[str]) -> str | None:
    """Returns the tool that a heading is about: `create`, `create(name)`, `1. create — Makes one`."""
    bare = title.strip("`* ")
    if bare in tool_names:
        return bare
    match = _TOOL_HEADING.match(title)
    is_alone = match is not None and not title[match.end() :].strip("`*_ ")[:1].isalnum()
    return match["name"] if match is not None and is_alone and match["name"] in tool_names else None


def _labelled_parts(chapter: str) -> list[Section]:
    """Splits a tool's chapter at its labels, such as `**Parameters:**` or a heading of level 4 to 6.

    The text before the first label has an empty title.
    """
    parts = [Section(title="", body="")]
    is_code = False
    for line in chapter.split("\n"):
        match = None if is_code else _LABEL.fullmatch(line)
        is_code ^= _FENCE.match(line) is not None
        if match is not None:
            title = match["heading"] or match["bold"] or match["plain"]
            parts.append(Section(title=title.strip("`*_:# "), body=match["text"]))
        else:
            parts[-1] = replace(parts[-1], body=f"{parts[-1].body}\n{line}")
    return [replace(part, body=part.body.strip("\n")) for part in parts if part.title or part.body.strip()]


_FRONT_MATTER_LIMIT = 20_000
"""Characters of front matter; longer ones are not read, since the YAML parser takes quadratic time for deep nesting."""

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
"""Names of the fields in version 0.1 (CLI profile, appendix C)."""

_ACCESS_LEVEL_LINE = re.compile(
    r"^[ \t]{0,20}(?:-[ \t]{1,20})?[\"']?(?:access[-_]?level|acl)[\"']?[ \t]{0,20}:[ \t]{0,20}"
    r"[\"']?(?P<level>none|read|interact|full)\b",
    re.IGNORECASE | re.MULTILINE,
)

_IDENTITY = ("name", "description", "emoji")
_ACCESS = ("cliUrl", "apiUrl", "webUrl", "mcpUrl")


def metadata_from_mapping(raw: dict[str, Json], pointer: str, problems: ProblemLog) -> FieldReader:
    """Returns front matter in the shape of a `dashdash` object; `none` is null (seed 000, CLI profile)."""
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
    fields.ignore("specUrl", "specVersion", "subcommandHelp", _camel(generated.KEY))
    drop_undeclared(fields)
    return fields


def _not_declared(fields: FieldReader) -> list[str]:
    keys = fields.raw.get("notDeclared")
    return keys.split(", ") if isinstance(keys, str) else list(map(str, as_list(keys)))


def drop_undeclared(fields: FieldReader) -> None:
    """Removes the members of a `dashdash` object that skillgen wrote since they are required, though not declared."""
    unset = {_camel(key) for key in _not_declared(fields)}
    fields.ignore("notDeclared")
    for owner in (fields, fields.object("identity"), fields.object("alternativeAccess")) if unset else ():
        owner.raw = {key: value for key, value in owner.raw.items() if key not in unset}


def _parsed_yaml(front_matter: str, pointer: str, problems: ProblemLog) -> dict[str, Json]:
    """Returns the members of front matter; of an invalid one, which is reported, the access level."""
    from skillgen.text.yaml_core import YamlError, parse_yaml, word_scalar

    try:
        if len(front_matter) > _FRONT_MATTER_LIMIT:
            raise YamlError(f"it is longer than {_FRONT_MATTER_LIMIT} characters")
        data = parse_yaml(front_matter, problems, scalar=word_scalar)
        if not isinstance(data, dict):
            raise YamlError("it is not a mapping")
        return data
    except YamlError as error:
        problems.report("ai-help-invalid", pointer, f"the front matter cannot be read: {error}")
        # What forbids agents the use of the server still counts.
        levels = [match["level"].lower() for match in _ACCESS_LEVEL_LINE.finditer(front_matter[:_FRONT_MATTER_LIMIT])]
        return {"access-level": "none" if "none" in levels else levels[0]} if levels else {}


def _camel(key: str) -> str:
    first, *rest = key.replace("_", "-").split("-")
    return first + "".join(word[:1].upper() + word[1:] for word in rest)


def as_markdown(value: Json) -> str:
    """Returns JSON as Markdown: a string unchanged, strings or a flat object as a list, the rest as a code block."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return "\n".join(f"- {item}" for item in value)
    if isinstance(value, dict) and not any(isinstance(item, (dict, list)) for item in value.values()):
        return "\n".join(f"- **{_title_from_key(key)}:** {item}" for key, item in value.items())
    return f"```json\n{json.dumps(value, ensure_ascii=False, indent=2)}\n```" if value is not None else ""


def _title_from_key(key: str) -> str:
    """Returns a key as a title: `commonMistakes` and `common_mistakes` are `Common mistakes`."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[-_]+", " ", key).strip()
    return words[:1].upper() + words[1:]


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
    """Returns a tool with the text on it; `nulls` are the fields that the source declares to be null."""
    phrase, chapter = text.phrases.get(tool.name), text.chapters.get(tool.name)
    merger = _HelpMerger(tool, origin, nulls)
    for part in _labelled_parts(chapter or ""):
        merger.add(part.title, part.body)
    return merger.tool_with(phrase)


class _HelpMerger:
    """Adds the parts of a chapter to the fields of a tool."""

    def __init__(self, tool: Tool, origin: Origin, nulls: Collection[str]) -> None:
        self._tool = tool
        self._origin = origin
        self._nulls = nulls
        self._guidance: list[Section] = []

    def add(self, title: str, body: str) -> None:
        """Adds one part; the text before the first label has an empty title."""
        key = _letters(title)
        kind: SectionKind | None = None if title else "help"
        if key == "":
            body = self._description(body)
        elif key in ("parameters", "arguments", "inputs", "input"):
            title, kind, body = "", "help_on_parameters", self._parameters(body)
        elif key in ("sideeffects", "sideeffect"):
            body = self._side_effects(body)
        elif key in ("cliequivalent", "apiequivalent"):
            body = self._equivalent(f"{key[:3]}_equivalent", body)
        if body.strip():
            self._guidance.append(Section(title=title, kind=kind, body=body.strip()))

    def tool_with(self, phrase: str | None) -> Tool:
        """Returns the tool with all parts; `phrase`, its line of the quick reference, replaces an inferred summary."""
        summary = (self._tool.origins or {}).get("summary")
        if phrase and (self._tool.summary is None or (summary is not None and summary.kind == "inferred")):
            self._set("summary", phrase)
        return replace(self._tool, guidance=(*self._tool.guidance, *self._guidance))

    def _set(self, field: str, value: object, origin: Origin | None = None) -> None:
        origins = {**(self._tool.origins or {}), field: origin or self._origin}
        changes: dict[str, object] = {field: value, "origins": origins}
        self._tool = replace(self._tool, **changes)

    def _description(self, text: str) -> str:
        tool = self._tool
        if tool.description:
            return "" if _says(tool.description, text) else text
        self._set("description", text.strip())
        if tool.summary is None and (sentence := first_sentence(text)):
            self._set("summary", sentence, Origin("inferred", "description"))
        return ""

    def _parameters(self, text: str) -> str:
        """Adds missing descriptions of parameters; returns the rows that differ from the tool or add other facts."""
        by_name = {parameter.name: parameter for parameter in self._tool.parameters}
        lines, filled, read = text.split("\n"), dict[str, Parameter](), set[int]()
        tokens = _parse(text)
        for position, token in enumerate(tokens):
            # The item is one paragraph: paragraph_open, inline, paragraph_close, list_item_close.
            if token.type != "list_item_open" or token.map is None or tokens[position + 4 :][:1] == []:
                continue
            row = _ROW.fullmatch(tokens[position + 2].content.strip())
            parameter = by_name.get(row["name"]) if row is not None else None
            if row is None or parameter is None or tokens[position + 4].type != "list_item_close":
                continue
            description = " ".join(row["words"].split())
            if not parameter.description and parameter.name not in filled:
                origins = {**(parameter.origins or {}), "description": self._origin}
                filled[parameter.name] = replace(parameter, description=description, origins=origins)
            elif not _says((filled.get(parameter.name) or parameter).description or "", description):
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
        tokens = _parse(text)
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
    """True if a text contains these words, regardless of case, emphasis and punctuation."""
    return _comparable(words) in _comparable(text)


def _comparable(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text.casefold()).strip()
