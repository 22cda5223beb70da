"""Reads what docstrings declare of parameters, in the styles of Google, Sphinx, JSDoc and Markdown.

SDKs send the docstring of a function as the description of its tool, next to a schema without any.
"""

from __future__ import annotations

from collections.abc import Collection
from textwrap import dedent

from skillgen.model.values import Json
from skillgen.text import lazy_re as re
from skillgen.text.markdown import json_text

_TITLES = ("args", "arguments", "params", "parameters", "inputs")
_SIGNS = ("@param", ":param", *(title + end for title in _TITLES for end in "*:"))
"""What a text that documents parameters contains, in lower case."""

_TITLE = re.compile(rf"(?:#{{1,6}} )?(?:\*\*)?(?:{'|'.join(_TITLES)})[*:]{{1,3}}\Z", re.IGNORECASE)

_FIELD = re.compile(
    r"(?::param(?: [\w\[\], |.]{1,40})?|@param(?: \{[^{}\n]{0,60}\})?) \[?(?P<name>\w{1,60})\]?:?(?: -)?(?P<type>)"
    r" (?P<text>\S.*)"
)
"""`:param type name: …` or `@param {type} name - …`, which need no title."""

_ENTRY = re.compile(
    r"(?:[-*+] )?[*`]{0,3}(?P<name>\w[\w.-]{0,60})[*`]{0,3}(?: ?\((?P<type>[^()\n]{0,80})\))?[*`]{0,3}"
    r"(?:[*]{0,2}:[*]{0,2}| [-–—])[ ]{1,9}(?P<text>\S.*)"
)
"""`name: …`, `name (type): …`, or an item of a list, below a title."""

_ITEM = re.compile(r"[-*+] ")

_TYPE = re.compile(
    r"(?:str|string|int|integer|float|number|bool|boolean|list|array|dict|object|any|none|null|optional|required|of|or"
    r"|default|[\s,|\[\]])*\Z",
    re.IGNORECASE,
)
"""The type in an entry, which the schema declares too."""


def documented_parameters(text: str, names: Collection[str], schema: Json = None) -> tuple[str, dict[str, str]]:
    """Returns a description without its descriptions of the named parameters, and these as Markdown by name.

    Entries for other names stay, and so does the title above them; those among them that no word of the schema names go
    too: what a function gets that no caller sends.
    """
    if not names or not any(map(text.lower().__contains__, _SIGNS)):
        return text, {}
    declared = json_text(schema)
    said: dict[str, list[str]] = {}
    rest: list[str] = []
    entry: list[str] | None = None
    section: int | None = None  # where the title of the open section is in `rest`
    column = section_column = 0

    for line in [*text.expandtabs(4).split("\n"), "."]:
        body, indent = line.strip(), len(line) - len(line.lstrip(" "))
        if entry is not None and (not body or indent > column):
            entry.append(line)
            continue
        if entry is not None and not entry[-1].strip():
            rest.append("")
        entry = None
        found = _FIELD.match(body) or (_ENTRY.match(body) if section is not None and indent >= section_column else None)
        name = found["name"] if found is not None else ""
        is_foreign = schema and name.islower() and f'"{name}"' not in declared
        if found is not None and name not in said and (name in names or is_foreign):
            kind = found["type"] or ""
            column, entry = indent, [found["text"] if _TYPE.match(kind) else f"({kind}) {found['text']}"]
            said[name] = entry
            continue
        if section is not None and body and indent <= section_column and not _ITEM.match(body):
            if not any(map(str.strip, rest[section + 1 :])):
                del rest[section:]
            section = None
        if _TITLE.match(body):
            section, section_column = len(rest), indent
        rest.append(line)
    texts = {name: _dedented(lines) for name, lines in said.items() if name in names}
    return ("\n".join(rest[:-1]).strip(), texts) if texts else (text, {})


def _dedented(lines: list[str]) -> str:
    return "\n".join([lines[0], dedent("\n".join(lines[1:]))]).strip()
