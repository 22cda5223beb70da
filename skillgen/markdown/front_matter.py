"""YAML front matter: block style only, no comments, no anchors, no tags.

The reference validator of skills reads a strict subset of YAML and breaks at `---` inside a value; the reference parser
of llms.txt takes a comment for the title.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import yaml

from skillgen.markdown.filters import Markdown, inert, one_line

VALUE_LIMIT = 1_536
"""Characters of one value; the longest that a host reads is Claude Code's `description`."""


_NUMBER = re.compile(
    r"[-+]?(?:0o?[0-7]+|0x[0-9a-f]+|\.?[0-9][0-9_]*(?:\.[0-9_]*)?(?:e[-+]?[0-9]+)?|\.inf|\.nan)\Z", re.IGNORECASE
)


class _Dumper(yaml.SafeDumper):
    """Indents the items of a list below its key, as people do."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)

    def represent_text(self, text: str) -> yaml.ScalarNode:
        """Quotes what YAML 1.2 reads as a number; PyYAML itself knows those of YAML 1.1."""
        return self.represent_scalar("tag:yaml.org,2002:str", text, style="'" if _NUMBER.match(text) else None)

    def ignore_aliases(self, data: Any) -> bool:
        return True


_Dumper.add_representer(str, _Dumper.represent_text)


def front_matter(fields: Mapping[str, Any]) -> Markdown:
    """Gives the fields between two lines of dashes; those that are `None` or empty are left out, inside a field
    those that are `None`."""
    kept = {key: safe for key, item in fields.items() if (safe := _safe(item)) not in (None, "", [], {})}
    body = yaml.dump(kept, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=1 << 30)
    return Markdown(f"---\n{body}---")


def _safe(item: Any) -> Any:
    if isinstance(item, str):
        line = inert(one_line(item)).replace("---", "—")
        return line if len(line) <= VALUE_LIMIT else line[: VALUE_LIMIT - 1] + "…"
    if isinstance(item, Mapping):
        return {_safe(key): safe for key, inner in item.items() if (safe := _safe(inner)) is not None}
    if isinstance(item, (list, tuple)):
        return [_safe(inner) for inner in item]
    return item
