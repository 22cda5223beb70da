"""Adds to a tool what a text says of it: a line of its quick reference, a chapter of its tool reference (S0-18).

The text adds and changes nothing that the source declares. What has no field in the model, or says something else than
the source, is kept as guidance in the text's own words.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace

from markdown_it import MarkdownIt

from skillgen.markdown.sentences import first_sentence
from skillgen.model.offers import Section
from skillgen.model.schema import Parameter
from skillgen.model.tool import Tool
from skillgen.model.value import Origin
from skillgen.sources.mcp.ai_help import ToolHelp
from skillgen.sources.mcp.ai_help_markdown import labelled_parts

OTHER_WORDS = "Its help says"
OTHER_PARAMETERS = "What its help says of the parameters"

_MARKDOWN = MarkdownIt("commonmark")
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
    return _letters(words) in _letters(text)


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text.casefold()).strip()
