"""Reads the result of `ai_help` (seed 000, 3.3), in Markdown or JSON as its `contentType` says.

Its front matter or `metadata` is read in the shape of a `dashdash` object (seed 000, 3.1.2 and 3.3.2). Its quick
reference and tool reference add to the tools (S0-18), but never change what the source declares: a chapter on a tool
becomes guidance, unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import takewhile

from msgspec import Struct
from msgspec.structs import replace

from skillgen.errors import ProblemLog
from skillgen.model.mcp_fields import camel
from skillgen.model.resource import Section
from skillgen.model.tool import Tool
from skillgen.model.values import Json, Origin
from skillgen.sources.json_access import as_dict, as_list, is_bare_markup, json_or_none, text_of
from skillgen.sources.mcp.fields import FieldReader
from skillgen.text import generated
from skillgen.text import lazy_re as re
from skillgen.text.generated import OWN_WORDS, is_edited
from skillgen.text.structure import open_fence, sections_of_level

_TOOL_LINE = re.compile(
    r"(?:\*\*|__)?(?P<code>`)?(?:\*\*)?(?P<name>[\w./-]+)(?![\w./-])(?(code)[^`]*`|(?:\s?\([^`\n]*?\))?(?:\*\*)?)(?:\*\*|__)?"
    r"(?:\s*[:\u2014\u2013]|\s+-)(?:\*\*)?\s+(?P<phrase>\S.*)",
    re.DOTALL,
)
_TOOL_HEADING = re.compile(r"(?:\d+[.)]\s+)?[`*_]*(?P<name>[\w./-]+)[`*_]*(?:\s*\W.*)?")
_SIDE_EFFECTS = re.compile(
    r"^(?:#{4,6} |\*\*)Side Effects?(?:\*\*:?|:\*\*)?[ \t]*\n{0,2}(?P<text>(?:[-*] .*\n?)+|[^\s*#].*)",
    re.IGNORECASE | re.MULTILINE,
)
"""The label of a tool's side effects (seed 000, 3.3.2, "Tool Reference"), with the line or the list that follows."""

_LABEL = re.compile(r"^(?=\*\*|#{4,6} )", re.MULTILINE)
_EQUIVALENT = re.compile(
    r"^\*\*(?P<way>CLI|API) Equivalent:\*\*[ \t]*`(?P<call>[^`\n]+)`[ \t]*$\n?", re.IGNORECASE | re.MULTILINE
)
_NO_EFFECT = re.compile(r"\W*(?:none|no|nothing|n/?a|no\s+side[\s-]effects?)?\W*", re.IGNORECASE)

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
                if _LIST.search(body):  # in a form that cannot be merged with the documents' own list
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


def with_help(tool: Tool, text: ToolHelp, origin: Origin) -> Tool:
    """Returns a tool with the text on it: its line of the quick reference, and its chapter with its side effects."""
    origins, semantics, summary = dict(tool.origins or {}), tool.semantics, tool.summary
    phrase, chapter = text.phrases.get(tool.name), text.chapters.get(tool.name)
    if phrase and (summary is None or ("summary" in origins and origins["summary"].kind == "inferred")):
        summary, origins["summary"] = phrase, origin
    lines = [line for label in _SIDE_EFFECTS.finditer(chapter or "") for line in label["text"].splitlines()]
    if effects := tuple(line.lstrip("-* ") for line in lines if not _NO_EFFECT.fullmatch(line)):
        if not semantics.side_effects:
            semantics = replace(
                semantics, side_effects=effects, origins={**(semantics.origins or {}), "side_effects": origin}
            )
    description, chapter = tool.description, chapter or ""
    if description is None and (words := _LABEL.split(chapter, maxsplit=1)[0].strip()):
        description, origins["description"], chapter = words, origin, chapter.removeprefix(words).strip()
    equivalents: dict[str, str] = {}
    for line in _EQUIVALENT.finditer(chapter):
        field = f"{line['way'].lower()}_equivalent"
        if (getattr(tool, field) or line["call"]) == line["call"]:
            equivalents[field], chapter = line["call"], chapter.replace(line[0], "")
            origins[field] = origins.get(field, origin)
    guidance = (*tool.guidance, Section(kind="help", body=chapter.strip())) if chapter.strip() else tool.guidance
    return replace(
        tool,
        **equivalents,
        summary=summary,
        description=description,
        origins=origins or None,
        semantics=semantics,
        guidance=guidance,
    )


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
        if (decoded := json_or_none(content)) is None:
            what = "the content is not JSON, though `contentType` is"
            problems.report("ai-help-invalid", f"{_POINTER}/content", what)
        result = decoded if isinstance(decoded, dict) else {"content": decoded}
        content, kind = _joined_blocks(result.get("content")), _media_type(result)
    if isinstance(content, str) and kind != "application/json":
        return _from_markdown(content, problems, pointer)
    if "metadata" in result or "sections" in result:
        return _from_json(result, problems)
    if raw is not None:
        problems.report("ai-help-invalid", _POINTER, "the answer to ai_help has neither `content` nor `metadata`")
    return AiHelp(metadata=metadata_from_mapping({}, "", problems))


def _media_type(result: dict[str, Json]) -> str:
    return str(result.get("contentType", "")).partition(";")[0].strip().lower()


def _joined_blocks(content: Json) -> Json:
    """Returns the text of content blocks; anything else unchanged."""
    blocks = [content] if isinstance(content, dict) else as_list(content)
    texts = [text for block in blocks if (text := text_of(block, "text")) is not None]
    return "\n\n".join(texts) if texts else content


def _from_markdown(content: str, problems: ProblemLog, pointer: str) -> AiHelp:
    front_matter, text = _split_front_matter(content)
    lines = text.split("\n")
    headings = [item for item in _headings(lines) if item[1] <= 2]
    # A heading of level 1 ends a chapter but does not begin one.
    ends = [number for number, _, _ in headings[1:]] + [len(lines)]
    chapters = [
        Section(title=title, body="\n".join(lines[number + 1 : end]).strip())
        for (number, level, title), end in zip(headings, ends, strict=False)
        if level == 2
    ]
    first_chapter = next((number for number, level, _ in headings if level == 2), len(lines))
    title_line, _, title = headings[0] if headings and headings[0][1] == 1 else (-1, 1, None)
    head = lines[title_line + 1 : first_chapter]
    start = next((number for number, line in enumerate(head) if line.startswith(">")), len(head))
    quoted = list(takewhile(lambda line: line.startswith(">"), head[start:]))
    quote = "\n".join(line[1:].strip() for line in quoted).partition("\n\n")[0]
    members = _parsed_yaml(front_matter, pointer, problems) if front_matter is not None else {}
    ai_help = AiHelp(
        metadata=metadata_from_mapping(members, pointer, problems),
        pointer=pointer,
        title=title,
        quote=" ".join(quote.split()) or None,
        introduction="\n".join(head[:start] + head[start + len(quoted) :]).strip() or None,
        edited=is_edited(members.get(generated.KEY), text),
    )
    return _with_chapters(ai_help, chapters)


def _from_json(result: dict[str, Json], problems: ProblemLog) -> AiHelp:
    metadata = as_dict(result.get("metadata"))
    ai_help = AiHelp(
        metadata=metadata_from_mapping(metadata, f"{_POINTER}/metadata", problems),
        pointer=f"{_POINTER}/sections",
        title=text_of(metadata, "title"),
        edited=is_edited(metadata.get(camel(generated.KEY)), json.dumps(result.get("sections"), ensure_ascii=False)),
    )
    members = as_dict(result.get("sections")).items()
    chapters = (Section(title=_title_from_key(key), body=_body(key, value)) for key, value in members)
    return _with_chapters(ai_help, chapters)


def _with_chapters(ai_help: AiHelp, chapters: Iterable[Section]) -> AiHelp:
    """Returns the result with its sections, without the uses that they list."""
    uses: tuple[list[str], list[str]] = ([], [])  # wanted, unwanted
    sections = []
    for chapter in chapters:
        key, body = _letters(chapter.title), chapter.body
        is_unwanted = _NO_USE.match(key) is not None
        if is_unwanted or _USE.match(key):
            body = _uses_in_section(body, is_unwanted, uses)
        if body and not is_bare_markup(body):
            sections.append(replace(chapter, body=body))
    return replace(ai_help, when_to_use=tuple(uses[0]), when_not_to_use=tuple(uses[1]), sections=tuple(sections))


def _body(key: str, value: Json) -> str:
    """Returns a section in JSON as Markdown: the tools of a reference with a heading each, and so their members."""
    items = list(value.items()) if isinstance(value, dict) else [*map(_named, as_list(value))]
    named = [(name, item) for name, item in items if name]
    if _letters(key) == "quickreference":
        phrases = {name: item if isinstance(item, str) else text_of(item, "description") for name, item in named}
        lines = (f"- `{name}` — {' '.join(phrase.split())}" for name, phrase in phrases.items() if phrase)
        return "\n".join(lines) or as_markdown(value)
    if _letters(key) in _REFERENCES and named:
        return "\n\n".join(f"### {name}\n\n{_chapter(item)}" for name, item in named)
    return as_markdown(value)


def _named(item: Json) -> tuple[str | None, Json]:
    return text_of(item, "name") or text_of(item, "tool"), item


def _chapter(item: Json) -> str:
    if not isinstance(item, dict):
        return as_markdown(item)
    rest = {key: part for key, part in item.items() if key not in ("name", "tool", "description")}
    parts = (f"**{_title_from_key(key)}:**\n\n{as_markdown(part)}" for key, part in rest.items())
    return "\n\n".join(filter(None, (text_of(item, "description"), *parts)))


def _letters(title: str) -> str:
    return re.sub(r"[^a-z]", "", title.lower())


def _split_front_matter(text: str) -> tuple[str | None, str]:
    """Returns the text between two lines of dashes at the beginning, if there is one, and the rest.

    Empty lines before it are ignored: they come from a string literal with a line break after the quotes.
    """
    lines = text.lstrip("\ufeff\r\n").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    end = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip() in ("---", "...")), None)
    if lines[0].rstrip() != "---" or end is None:
        return None, "\n".join(lines)
    return "\n".join(lines[1:end]), "\n".join(lines[end + 1 :])


def _headings(lines: list[str]) -> Iterator[tuple[int, int, str]]:
    """Yields the number of the line, the level and the text of headings outside of code."""
    fence = ""
    for number, line in enumerate(lines):
        fence = open_fence(line, fence)
        if not fence and (match := _HEADING.match(line)) is not None:
            words = line[match.end() :].strip()
            yield number, len(match[1]), words.rstrip("#").rstrip() or words


_ITEM = re.compile(
    r"\A\s*(?:[-*+•]|\d{1,2}[.)])\s+(?=\S)|\A\s{0,3}(?=[✅☑✔✓👍❌✖✗✘✕❎☒🚫⛔🛑👎🙅]|:(?:x|white_check_mark):)"
)
_HEADING = re.compile(r" {0,3}(#{1,6})\s+(?=\S)")
_LIST = re.compile(r"^[^\S\n]*(?:[-*+•]\s|\d+[.)]\s|```|~~~)|\|", re.MULTILINE)
"""A list, a block of code or a table."""

_SIGN = re.compile(
    r"\A[\s*_]*(?:[✅☑✔✓👍❌✖✗✘✕❎☒🚫⛔🛑👎🙅🔴🟢]\ufe0f?|:(?:x|no_entry|white_check_mark|heavy_check_mark):)\s*"
)
_UNWANTED = re.compile(
    r"\W*(?:please )?(?:do(?: not|n['’]?t)s?|(?:should|must) not|never|not|avoid|(?:when|use) (?:not|to (?:not|avoid))"
    r"|(?:it |this |the )?(?:\w+ )?(?:can(?:not|['’]t)|does(?: not|n['’]t)|will not|won['’]t)|out of scope"
    r"|anti-?patterns?|use (?:another|a different|something else|an? [^:]{1,60} instead))\b"
    r"|[\s*_]*[❌✖✗✘✕❎☒🚫⛔🛑👎🙅🔴]|[\s*_]*:(?:x|no_entry(?:_sign)?|no_good|thumbsdown|-1):"
    r"|.{0,80}[(—–-] ?(?:do not|don['’]t) use\b"
    r"|.{0,80}(?:\b(?:nicht|ne pas|n['’]utilis\w+|pas pour|no (?:usar|use|util\w+)|não|evit\w+|non (?:usare|adatto)"
    r"|niet|nie (?:używa|stosowa)\w+|ikke|inte|не|kullanmayın)\b|不要|[请請別切]勿"
    r"|不[適适用]|禁止|使用(?:しない|不可)|使わない|不向き|사용하지|금지)",
    re.IGNORECASE,
)
"""The start of a use for which something is not meant, or of the words before a list of them."""

_OPENING = re.compile(
    r"\W*(?:please )?(?:do not|don['’]t|never) use(?: it| this(?: \w+)?)?(?: for:? | ?: ?| (?=(?:when|if|to)\b))",
    re.IGNORECASE,
)
"""Words that open a negative use and are not part of it."""


def _uses_in_section(body: str, unwanted: bool, uses: tuple[list[str], list[str]]) -> str:
    """Adds when to use something and when not (`uses[True]`) by the lists of a section, and returns its other text.

    The heading and the words before a list decide which it is, and those of each item.
    """
    lines = body.split("\n")
    label = below_heading = unwanted
    read: set[int] = set()
    blocks = list(_blocks(lines))
    for (kind, numbers), (following, _) in zip(blocks, [*blocks[1:], ("", [])], strict=False):
        words = " ".join(" ".join(lines[number] for number in numbers).split())
        words = words[marker.end() :] if kind == "item" and (marker := _ITEM.match(words)) else words
        is_unwanted, is_lead = _UNWANTED.match(words) is not None, words.rstrip(" *_").endswith((":", "："))
        opening = _OPENING.match(words)
        if kind == "heading":
            label = below_heading = unwanted or is_unwanted
        elif is_lead or (kind == "text" and following == "item"):
            label = below_heading or is_unwanted
            read.update(numbers if is_lead else ())
        elif kind == "item" or (is_unwanted and opening):
            use = _SIGN.sub("", words[opening.end() :] if opening else words, count=1)
            uses[label or is_unwanted].append(use if kind == "item" else use.rstrip("."))
            read.update(numbers)
        else:
            label = below_heading
    return _unread(body, read)


def _blocks(lines: list[str]) -> Iterator[tuple[str, list[int]]]:
    """Yields kind and lines of headings, list items and paragraphs, without code.

    Right below an item, a negative line or one that introduces a list is a paragraph of its own, though CommonMark
    takes it for a part of the item ("lazy continuation line"), which no author means.
    """
    kind, numbers, fence = "", list[int](), ""
    for number, line in enumerate([*lines, ""]):
        was_code, fence = bool(fence), open_fence(line, fence)
        is_code = was_code or bool(fence)
        own = "item" if _ITEM.match(line) else "heading" if line.startswith("#") else "text"
        is_apart = kind == "item" and (line.rstrip(" *_").endswith(":") or _UNWANTED.match(line))
        if numbers and (not line.strip() or is_code or own != "text" or is_apart):
            yield kind, numbers
            numbers = []
        if line.strip() and not is_code:
            kind = kind if numbers else own
            numbers.append(number)
            if kind == "heading" or line.rstrip(" *_").endswith((":", "：")):
                yield kind, numbers
                numbers = []


def _unread(text: str, read: Collection[int]) -> str:
    """Returns the lines that were not read, without headings of empty chapters and labels of lists that were read."""
    rest: list[str] = []  # in reverse order
    is_below_read = False
    for number, line in reversed([*enumerate(text.split("\n"))]):
        below = next((item for item in reversed(rest) if item), "#")
        if number in read:
            is_below_read = True
        elif not line.strip():
            rest.extend([""] if rest and rest[-1] else [])
        elif line.lstrip().startswith("#"):
            rest.extend([line] if not below.lstrip().startswith("#") else [])
        elif not (is_below_read and line.rstrip(" *_").endswith((":", "："))):
            rest.append(line)
            is_below_read = False
    return "\n".join(reversed(rest)).strip()


def _tool_lines(body: str, tool_names: Collection[str], *, is_own: bool) -> tuple[dict[str, str], list[str], str]:
    """Reads the items of a quick reference that name a tool: `name`, a dash or colon, a phrase.

    Returns tool name to phrase, the names of unknown tools, and the other text. With `is_own`, the list is the
    service's own: items with the names of unknown tools are not part of the other text.
    """
    phrases: dict[str, str] = {}
    unknown: list[str] = []
    read: set[int] = set()
    lines = body.split("\n")
    for kind, numbers in _blocks(lines):
        words = " ".join(" ".join(lines[number] for number in numbers).split())
        words = _ITEM.sub("", words, count=1) if kind == "item" else ""
        match = _TOOL_LINE.fullmatch(words)
        if match is not None and match["name"] in tool_names:
            phrases.setdefault(match["name"], match["phrase"])
        elif match is not None and match["code"] and is_own:
            unknown.append(match["name"])
        elif words.strip("`*_ ") not in tool_names:
            continue
        read.update(numbers)
    return phrases, unknown, _unread(body, read)


def _tool_chapters(body: str, tool_names: Collection[str]) -> tuple[dict[str, str], str]:
    """Returns tool name to the text below its heading in a tool reference, and the rest of the reference."""
    by_tool: dict[str, str] = {}
    lines = body.split("\n")
    headings = [
        (number, level, match["name"] if match is not None and match["name"] in tool_names else None)
        for number, level, title in _headings(lines)
        for match in [_TOOL_HEADING.fullmatch(title)]
    ]
    read: set[int] = set()
    for index, (start, level, name) in enumerate(headings):
        if name is None:
            continue
        stops = (number for number, other, tool in headings[index + 1 :] if tool is not None or other <= level)
        stop = next(stops, len(lines))
        by_tool[name] = f"{by_tool.get(name, '')}\n\n{chr(10).join(lines[start + 1 : stop])}".strip()
        read.update(range(start, stop))
    return by_tool, _unread(body, read)


_FRONT_MATTER_LIMIT = 20_000
"""Characters of front matter; longer ones are not read, since the YAML parser takes quadratic time for deep nesting."""

_ALIASES = {"abt": "spec-url", "ver": "spec-version", "sub": "subcommand-help", "acl": "access-level"} | {
    way: f"{way}-url" for way in ("web", "cli", "mcp", "api")
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
    keys = {camel(_ALIASES.get(key, key)): key for key in raw}
    shaped = {camel(_ALIASES.get(key, key)): value for key, value in raw.items()}
    for part in ("requires", "invocation"):
        if isinstance(shaped.get(part), dict):
            keys.update((camel(key), key) for key in shaped[part])
            shaped[part] = {camel(key): value for key, value in shaped[part].items()}
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
    fields.ignore("specUrl", "specVersion", "subcommandHelp", camel(generated.KEY))
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
        levels = [match["level"].lower() for match in _ACCESS_LEVEL_LINE.finditer(front_matter[:_FRONT_MATTER_LIMIT])]
        return {"access-level": "none" if "none" in levels else levels[0]} if levels else {}


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
