"""The language of the code and the documents: words that CONTRIBUTING.md, "Language", keeps out."""

from __future__ import annotations

import ast
import io
import os
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

from cli import ROOT

WORDS = (
    "stands|stood|beside|besides|mend|mends|mended|mending|gives|gave|tells|told|whoever|dead ends?|in a row"
    "|(?:is|are|be|was|were|has|have) none|as (?:it|they) (?:is|are)|of one's own|the like|what there is"
    "|(?:small|capital) letters|neither is"
)
"""Everyday words and turns for which the field has a term, or English a plainer one."""

NAME_LENGTH = 70
"""Characters that the name of a test may have: a short sentence; details belong into its docstring."""

PROSE = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs", "templates", "skillgen")
CODE = ("skillgen", "tests", "examples")
FOREIGN = {"golden", "expected", "specifications", "node_modules", ".venvs", "build"}
"""Folders of what others wrote or tools make."""

_BANNED = re.compile(rf"\b(?:{WORDS})\b", re.IGNORECASE)
_BANNED_AFTER_HASH = re.compile(rf"#.*\b(?:{WORDS})\b", re.IGNORECASE)
_CODE_BLOCK = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def test_prose_has_only_plain_words() -> None:
    found = []
    for path in files(PROSE, (".md", ".j2")):
        text = _CODE_BLOCK.sub(lambda block: "\n" * block.group().count("\n"), path.read_text("utf-8"))
        found += [f"{path.relative_to(ROOT)}:{number}: {line}" for number, line in banned_lines(text)]
    assert found == []


def test_docstrings_comments_and_messages_have_only_plain_words() -> None:
    found = []
    for path in files(CODE, (".py",)):
        if not _BANNED.search(path.read_text("utf-8")):
            continue
        for line, text in texts_of(path):
            if _BANNED.search(text):
                found.append(f"{path.relative_to(ROOT)}:{line}: {text.strip()[:100]}")
    assert found == []


def test_names_of_tests_are_short_and_have_only_plain_words() -> None:
    found = []
    for path in files(("tests",), (".py",), "test_"):
        for name in re.findall(r"^ *def (test_\w+)", path.read_text("utf-8"), re.MULTILINE):
            if len(name) > NAME_LENGTH or _BANNED.search(name.replace("_", " ")):
                found.append(f"{path.name}: {name}")
    assert found == []


def files(places: tuple[str, ...], suffixes: tuple[str, ...], start: str = "") -> Iterator[Path]:
    for place in places:
        if (ROOT / place).is_file():
            yield ROOT / place
        for folder, inner, names in os.walk(ROOT / place):
            inner[:] = sorted(set(inner) - FOREIGN)
            yield from (
                Path(folder, name) for name in sorted(names) if name.endswith(suffixes) and name.startswith(start)
            )


def banned_lines(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.split("\n"), 1):
        if _BANNED.search(line):
            yield number, line.strip()[:100]


def texts_of(path: Path) -> Iterator[tuple[int, str]]:
    """Yields line and text of each docstring and comment; of skillgen itself also of each string with a space."""
    source = path.read_text("utf-8")
    docstrings = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            docstrings.add(node.value)
            yield node.lineno, node.value.value
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in docstrings:
            if path.is_relative_to(ROOT / "skillgen") and " " in node.value:
                yield node.lineno, node.value
    if not _BANNED_AFTER_HASH.search(source):
        return  # tokenize takes most of the time
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
