"""Reads the result of `ai_help` (seed 000, 3.3), in Markdown or JSON as its `contentType` says.

Its front matter or `metadata` is read in the shape of a `dashdash` object (seed 000, 3.1.2 and 3.3.2). Its quick
reference and tool reference add to the tools (S0-18), but never change what the source declares.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from itertools import zip_longest
from textwrap import indent

from msgspec import Struct
from msgspec.structs import replace

from skillgen.errors import ProblemLog
from skillgen.model.mcp_fields import camel
from skillgen.model.resource import Section
from skillgen.model.tool import Tool
from skillgen.model.values import Json, Origin, is_inferred
from skillgen.sources.json_access import as_dict, as_list, is_bare_markup, json_or_none, text_of
from skillgen.sources.mcp.fields import FieldReader
from skillgen.text import lazy_re as re
from skillgen.text.blocks import outline
from skillgen.text.inert import KEY, OWN_WORDS, is_edited
from skillgen.text.summary import parts_of, sections_of_level

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

    pointer: str
    """The pointer to the text."""


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
                body = _read_tool_lines(body, tool_names, phrases, unknown if is_own else None)
                if not {"item", "other"}.isdisjoint(block.kind for block in _blocks(body)):
                    # It has a form that cannot be merged with the documents' own list.
                    section = Section(kind="quick_reference", body=body)
            elif key in _REFERENCES:
                body = _read_chapters(body, tool_names, chapters)
            if body:
                sections.append(replace(section, body=body))
        if unknown:
            message = f"the quick reference lists {', '.join(unknown)[:200]}, which the source does not offer; left out"
            problems.report("quick-reference-unknown-tool", self.pointer, message)
        return ToolHelp(phrases=phrases, chapters=chapters, sections=tuple(sections), pointer=self.pointer)


_LABEL = re.compile(r"^(?=\*\*|#{4,6} )", re.MULTILINE)
_FACT = re.compile(
    r"^(?:#{4,6} +|\*\*)(?P<label>side effects?|(?:cli|api) equivalent)[:*\s]*(?P<text>(?:[-*] .*(?:\n|\Z))+|.*\n?)",
    re.IGNORECASE | re.MULTILINE,
)
_NO_EFFECT = re.compile(r"\W*(?:none|no|nothing|n/?a|no\s+side[\s-]effects?)?\W*", re.IGNORECASE)
_CALL = re.compile(r"`([^`\n]+)`")


def with_help(tool: Tool, text: ToolHelp, origin: Origin) -> Tool:
    """Returns a tool with the text on it: its line of the quick reference, and its chapter.

    Side effects and equivalents become fields where there are no others, since they say what a call does; the rest of
    the chapter is guidance, unchanged (seed 000, 3.3.2, "Tool Reference").
    """
    origins, changes = dict(tool.origins or {}), dict[str, Json]()

    def read(part: re.Match[str]) -> str:
        field = part["label"].lower().replace(" ", "_")
        call, lines = _CALL.fullmatch(part["text"].strip()), part["text"].strip().splitlines()
        effects = tuple(line.lstrip("-* ") for line in lines if not _NO_EFFECT.fullmatch(line))
        if call is not None and field.endswith("t") and (getattr(tool, field) or call[1]) == call[1]:
            changes[field], origins[field] = call[1], origins.get(field, origin)
            return ""
        if field.startswith("side") and effects and not tool.semantics.side_effects:
            facts = {**(tool.semantics.origins or {}), "side_effects": origin}
            changes["semantics"] = replace(tool.semantics, side_effects=effects, origins=facts)
            return ""
        return part[0]

    phrase = text.phrases.get(tool.name)
    if phrase and (tool.summary is None or is_inferred(tool, "summary")):
        changes["summary"], origins["summary"] = phrase, origin
    words, *rest = _LABEL.split(_FACT.sub(read, text.chapters.get(tool.name, "")), 1)
    if tool.description is None and words.strip():
        changes["description"], origins["description"], words = words.strip(), origin, ""
    guidance = "".join((words, *rest)).strip()
    added = (Section(kind="help", body=guidance),) if guidance else ()
    return replace(tool, **changes, origins=origins or None, guidance=(*tool.guidance, *added))


def has_section(text: AiHelp, title: str) -> bool:
    """True if a text has a section with a title, in any spelling."""
    return any(_letters(section.title) == _letters(title) for section in text.sections)


_DERIVED_TITLES = """
    quickreferencenotes whentouse overview setupprerequisites quickreference commandreference inputspecification
    outputformats outputschema examples authenticationandprerequisites authentication ratelimitsandperformance
    ratelimits errorhandling dateandtimeformats operationalsemantics capabilities lifecycle resourcesandprompts
    alternativeaccess moretools workflows instructions otheraccess optional
"""
_DERIVED = frozenset(_DERIVED_TITLES.split())
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
                sections.append(replace(section, title=title.strip('"'), body=body))
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
    content, is_json = _content(result)
    if is_json and "metadata" not in result and isinstance(content, str):
        if (decoded := json_or_none(content)) is None:
            what = "the content is not JSON, though `contentType` is"
            problems.report("ai-help-invalid", f"{_POINTER}/content", what)
        result = decoded if isinstance(decoded, dict) else {"content": decoded}
        content, is_json = _content(result)
    if isinstance(content, str) and not is_json:
        return _from_markdown(content, problems, pointer)
    if "metadata" in result or "sections" in result:
        return _from_json(result, problems)
    if raw is not None:
        problems.report("ai-help-invalid", _POINTER, "the answer to ai_help has neither `content` nor `metadata`")
    return AiHelp(metadata=metadata_from_mapping({}, "", problems))


def _content(result: dict[str, Json]) -> tuple[Json, bool]:
    """Returns the content, of content blocks their text, and whether it is declared as JSON."""
    content = result.get("content")
    blocks = [content] if isinstance(content, dict) else as_list(content)
    texts = [text for block in blocks if (text := text_of(block, "text")) is not None]
    kind = str(result.get("contentType", "")).partition(";")[0].strip().lower()
    return "\n\n".join(texts) if texts else content, kind == "application/json"


_FRONT_MATTER = re.compile(r"\s*---[ \t]*\n(?P<yaml>(?:.*\n)*?)(?:---|\.\.\.)[ \t]*(?:\n|\Z)")
_QUOTE = re.compile(r"^(?:>.*(?:\n|\Z))+", re.MULTILINE)


def _from_markdown(content: str, problems: ProblemLog, pointer: str) -> AiHelp:
    text = content.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    front_matter = _FRONT_MATTER.match(text)
    text = text[front_matter.end() :] if front_matter is not None else text
    (_, _, head), *parts = parts_of(text, 2)
    title = None
    if parts and parts[0][0] == 1:
        (_, title, introduction), *parts = parts
        head = f"{head}\n\n{introduction}"
    quote = _QUOTE.search(head)
    quoted = "" if quote is None else re.sub(r"^> ?", "", quote[0], flags=re.MULTILINE).partition("\n\n")[0]
    head = head if quote is None else head[: quote.start()] + head[quote.end() :]
    members = _parsed_yaml(front_matter["yaml"], pointer, problems) if front_matter is not None else {}
    ai_help = AiHelp(
        metadata=metadata_from_mapping(members, pointer, problems),
        pointer=pointer,
        title=title,
        quote=" ".join(quoted.split()) or None,
        introduction=head.strip() or None,
        edited=is_edited(members.get(KEY), text),
    )
    return _with_sections(ai_help, ((title, body) for _, title, body in parts))


def _from_json(result: dict[str, Json], problems: ProblemLog) -> AiHelp:
    metadata, sections = as_dict(result.get("metadata")), as_dict(result.get("sections"))
    ai_help = AiHelp(
        metadata=metadata_from_mapping(metadata, f"{_POINTER}/metadata", problems),
        pointer=f"{_POINTER}/sections",
        title=text_of(metadata, "title"),
        edited=is_edited(metadata.get(camel(KEY)), json.dumps(result.get("sections"), ensure_ascii=False)),
    )
    parts = ((_title_from_key(key), _body(_letters(key), value)) for key, value in sections.items())
    return _with_sections(ai_help, parts)


def _with_sections(ai_help: AiHelp, parts: Iterable[tuple[str, str]]) -> AiHelp:
    """Returns the result with its sections, without the uses that they list."""
    uses: tuple[list[str], list[str]] = ([], [])  # wanted, unwanted
    sections = []
    for title, body in parts:
        is_unwanted = _NO_USE.match(_letters(title)) is not None
        if is_unwanted or _USE.match(_letters(title)):
            body = _read_uses(body, is_unwanted, uses)
        if body and not is_bare_markup(body):
            sections.append(Section(title=title.strip('"'), body=body))  # in them if it was like one of skillgen's
    return replace(ai_help, when_to_use=tuple(uses[0]), when_not_to_use=tuple(uses[1]), sections=tuple(sections))


def _body(key: str, value: Json) -> str:
    """Returns a section in JSON as Markdown, a quick reference as a list."""
    items = value.items() if isinstance(value, dict) else [(text_of(item, "name"), item) for item in as_list(value)]
    named = [(name, item) for name, item in items if name]
    if key == "quickreference":
        phrases = ((name, item if isinstance(item, str) else text_of(item, "description")) for name, item in named)
        lines = (f"- `{name}` — {' '.join(phrase.split())}" for name, phrase in phrases if phrase)
        return "\n".join(lines) or as_markdown(value)
    return as_markdown(value)


def _letters(title: str) -> str:
    return re.sub(r"[^a-z]", "", title.lower())


_UNWANTED = re.compile(
    r"\W*(?:please )?(?:do(?: not|n['’]?t)|(?:should|must) not|never|not|avoid|(?:when|use) (?:not|to (?:not|avoid))"
    r"|(?:it |this )?(?:\w+ )?(?:can(?:not|['’]t)|does(?: not|n['’]t))|out of scope|anti-?patterns?"
    r"|use (?:another|an? [^:]{1,60} instead))\b|.{0,80}[(—–-] ?(?:do not|don['’]t) use\b",
    re.IGNORECASE,
)
"""The start of a use for which something is not meant, or of the words before a list of them."""

_OPENING = re.compile(
    r"\W*(?:please )?(?:do not|don['’]t|never) use(?: it| this(?: \w+)?)?(?: for:? | ?: ?| (?=(?:when|if|to)\b))",
    re.IGNORECASE,
)
"""Words that open a negative use and are not part of it."""


class _Block(Struct):
    """A leaf block of a text, with all lines up to the next one."""

    kind: str
    """As in `outline`; a `lead` ends with a colon and introduces what follows."""

    first: int
    words: str = ""
    lines: tuple[str, ...] = ()


def _blocks(text: str) -> list[_Block]:
    """Splits a text into blocks.

    Right below an item, a negative line or a lead is a block of its own, though CommonMark takes it for a part of the
    item ("lazy continuation line"), which no author means.
    """
    blocks = [_Block("text", 0)]
    for leaf in outline(text):
        blocks.append(_Block(leaf.kind, leaf.first))
        for number, line in enumerate(leaf.words.split("\n"), leaf.first):
            if blocks[-1].words and (_UNWANTED.match(line) or (blocks[-1].kind == "item" and _is_lead(line))):
                blocks.append(_Block("text", number))
            blocks[-1].words = " ".join((*blocks[-1].words.split(), *line.split()))
    lines = text.split("\n")
    for block, following in zip_longest(blocks, blocks[1:]):
        block.lines = tuple(lines[block.first : following.first if following is not None else None])
        block.kind = "lead" if block.kind in ("text", "item") and _is_lead(block.words) else block.kind
    return blocks


def _is_lead(words: str) -> bool:
    return words.rstrip(" *_").endswith(":")


def _unread(blocks: Iterable[_Block], read: Collection[int]) -> str:
    """Returns the text without the blocks that were read, their leads, and headings of empty chapters."""
    rest: list[str] = []
    held: list[_Block] = []  # headings and leads, until something that they are on
    for number, block in enumerate(blocks):
        if number in read:
            held = [item for item in held if item.kind == "heading"]
        elif block.kind in ("heading", "lead"):
            held = [*([] if block.kind == "heading" else held), block]
        else:
            rest += [line for item in (*held, block) for line in item.lines]
            held = []
    return "\n".join(rest).strip()


def _read_uses(body: str, unwanted: bool, uses: tuple[list[str], list[str]]) -> str:
    """Adds when to use something and when not (`uses[True]`) by the lists of a section, and returns its other text.

    The heading and the words before a list decide which it is, and those of each item.
    """
    label = below_heading = unwanted
    read = set()
    blocks = _blocks(body)
    for number, block in enumerate(blocks):
        kind, words = block.kind, block.words
        is_unwanted, opening = _UNWANTED.match(words) is not None, _OPENING.match(words)
        if kind == "heading":
            label = below_heading = unwanted or is_unwanted
        elif kind == "lead" or (kind == "text" and [item.kind for item in blocks[number + 1 : number + 2]] == ["item"]):
            label = below_heading or is_unwanted
        elif kind == "item" or (kind == "text" and opening):
            use = words[opening.end() :] if opening else words
            uses[label or is_unwanted].append(use if kind == "item" else use.rstrip("."))
            read.add(number)
        elif kind == "text":
            label = below_heading
    return _unread(blocks, read)


_TOOL_LINE = re.compile(
    r"(?:\*\*|__)?(?P<code>`)?(?:\*\*)?(?P<name>[\w./-]+)(?![\w./-])(?(code)[^`]*`|(?:\s?\([^`\n]*?\))?(?:\*\*)?)(?:\*\*|__)?"
    r"(?:\s*[:\u2014\u2013]|\s+-)(?:\*\*)?\s+(?P<phrase>\S.*)",
    re.DOTALL,
)
_TOOL_HEADING = re.compile(r"(?:\d+[.)]\s+)?[`*_]*(?P<name>[\w./-]+)[`*_]*(?:\s*\W.*)?")


def _read_tool_lines(body: str, tool_names: Collection[str], phrases: dict[str, str], unknown: list[str] | None) -> str:
    """Reads the items of a quick reference that name a tool: `name`, a dash or colon, a phrase.

    Adds tool name to phrase and the names of `unknown` tools, without which they stay, and returns the other text.
    """
    read = set()
    blocks = _blocks(body)
    for number, block in enumerate(blocks):
        words = block.words if block.kind == "item" else ""
        match = _TOOL_LINE.fullmatch(words)
        if match is not None and match["name"] in tool_names:
            phrases.setdefault(match["name"], match["phrase"])
        elif match is not None and match["code"] and unknown is not None:
            unknown.append(match["name"])
        elif words.strip("`*_ ") not in tool_names:
            continue
        read.add(number)
    return _unread(blocks, read)


def _read_chapters(body: str, tool_names: Collection[str], chapters: dict[str, str]) -> str:
    """Adds tool name to the text below its heading in a tool reference, and returns the rest of the reference."""
    rest: list[str] = []
    tool, tool_level = "", 0
    for level, title, text in parts_of(body, 6):
        match = _TOOL_HEADING.fullmatch(title)
        if match is not None and match["name"] in tool_names:
            tool, tool_level = match["name"], level
        else:
            tool = tool if level > tool_level else ""
            text = f"{'#' * level} {title}\n\n{text}" if level and (text or tool) else text
        if tool:
            chapters[tool] = "\n\n".join(filter(None, (chapters.get(tool), text)))
        elif text:
            rest.append(text)
    return "\n\n".join(rest)


_FRONT_MATTER_LIMIT = 20_000
"""Characters of front matter; longer ones are not read, since the YAML parser takes quadratic time for deep nesting."""

_ALIASES = {"abt": "spec-url", "ver": "spec-version", "sub": "subcommand-help", "acl": "access-level"} | {
    way: f"{way}-url" for way in ("web", "cli", "mcp", "api")
}
"""Names of the fields in version 0.1 (CLI profile, appendix C)."""

_LEVEL_LINE = re.compile(
    r"^[ \t\"'-]{0,20}(?:access[-_]?level|acl)[ \t\"']{0,20}:[ \t\"']{0,20}(?P<level>none|read|interact|full)\b",
    re.IGNORECASE | re.MULTILINE,
)


def metadata_from_mapping(raw: dict[str, Json], pointer: str, problems: ProblemLog) -> FieldReader:
    """Returns front matter in the shape of a `dashdash` object; `none` is null (seed 000, CLI profile)."""
    keys: dict[str, str] = {}
    shaped: dict[str, Json] = {"identity": {}, "alternativeAccess": {}}
    for key, value in raw.items():
        name = camel(_ALIASES.get(key, key))
        keys[name] = key
        if name in ("name", "description", "emoji"):
            shaped["identity"][name] = value
        elif name in ("cliUrl", "apiUrl", "webUrl", "mcpUrl"):
            shaped["alternativeAccess"][name] = None if value == "none" else value
        elif name in ("requires", "invocation") and isinstance(value, dict):
            keys |= {camel(inner): inner for inner in value}
            shaped[name] = {camel(inner): item for inner, item in value.items()}
        else:
            shaped[name] = None if (name, value) == ("apiEndpoint", "none") else value
    members = {key: value for key, value in shaped.items() if value != {}}
    fields = FieldReader(members, pointer, "ai_help", problems, keys=keys)
    fields.ignore("specUrl", "specVersion", "subcommandHelp", camel(KEY))
    drop_undeclared(fields)
    return fields


def _not_declared(fields: FieldReader) -> list[str]:
    keys = fields.raw.get("notDeclared")
    return keys.split(", ") if isinstance(keys, str) else list(map(str, as_list(keys)))


def drop_undeclared(fields: FieldReader) -> None:
    """Removes the members of a `dashdash` object that skillgen wrote since they are required, though not declared."""
    unset = {camel(key) for key in _not_declared(fields)}
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
        levels = [match["level"].lower() for match in _LEVEL_LINE.finditer(front_matter[:_FRONT_MATTER_LIMIT])]
        return {"access-level": "none" if "none" in levels else levels[0]} if levels else {}


def as_markdown(value: Json) -> str:
    """Returns JSON as Markdown: a string unchanged, strings or a flat object as a list, the rest as a code block."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return "\n".join(map(_list_item, value))
    if isinstance(value, dict) and not any(isinstance(item, (dict, list)) for item in value.values()):
        return "\n".join(_list_item(f"**{_title_from_key(key)}:** {item}") for key, item in value.items())
    return f"```json\n{json.dumps(value, ensure_ascii=False, indent=2)}\n```" if value is not None else ""


def _list_item(text: str) -> str:
    """Returns an item of a list; a fence or a second paragraph stays within it."""
    return "- " + indent(text.strip().removeprefix("- "), "  ").lstrip()


def _title_from_key(key: str) -> str:
    """Returns a key as a title: `commonMistakes` and `common_mistakes` are `Common mistakes`."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[-_]+", " ", key).strip()
    return words[:1].upper() + words[1:]
