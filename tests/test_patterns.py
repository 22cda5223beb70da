"""Every regular expression of skillgen takes time in proportion to its text (S2-09, X-10): none on a hostile one.

A pattern is tried on repetitions that are made of its own pieces, since what is slow for one is quick for others. The
slowest of each are tried at eight times the length, and those that grow faster than it over a megabyte: a quadratic
pattern would need hours.
"""

from __future__ import annotations

import ast
import importlib
import itertools
import json
import pkgutil
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import skillgen
from skillgen.security import credentials, injection

pytestmark = pytest.mark.slow

METHODS = ("search", "match", "fullmatch", "sub", "subn", "finditer", "findall", "split")
SHORT, LONG, FULL = 600, 4_800, 1_000_000
"""Characters of a first look, of a second one where that was not quick, and of the proof."""

QUICK_S = 5e-8
"""Seconds for each character of a first look; five times what most patterns take."""

TIME_LIMIT_S = 600
"""For half of the patterns, which take ten seconds."""

SLOWEST = 20
"""How many repetitions of a pattern get a second look: a quadratic one is far slower than those that are linear."""

AFFIXES = (("", "\0"), ("\n", "\n\0"))
"""What goes before and after a repetition; a character that no pattern names keeps it from matching."""

_JOINED = "\n |- |\n- |a |a.|a_|a=|<a|<a>|</a>|<br>|](|[a](|`a|\\`|1. |&#|Aa|a://|(a|{a}|${|**a|\r\n|. "
COMMON = [*"aA0 \n\t`[]()<>{}*_-.,:;/\\|#\"'=@&%$!~+^?é中\u0301", *_JOINED.split("|"), "|a"]

Pump = tuple[str, str, str, str, str]
"""The name of a pattern, the method, and before, unit and after of the text."""


def patterns() -> dict[str, tuple[re.Pattern[str], frozenset[str]]]:
    """Returns every pattern of the package by its place, with the methods by which it is used."""
    found: dict[str, tuple[re.Pattern[str], frozenset[str]]] = {}
    uses: dict[tuple[str, str], set[str]] = {}
    trees = {}
    for module in pkgutil.walk_packages(skillgen.__path__, "skillgen."):
        if not module.name.endswith("__main__"):
            trees[module.name] = ast.parse(Path(importlib.import_module(module.name).__file__ or "").read_text("utf-8"))
    imports: dict[str, dict[str, tuple[str, str]]] = {}
    for name, tree in trees.items():
        imported = imports[name] = {
            alias.asname or alias.name: (node.module or "", alias.name)
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        for node in ast.walk(tree):
            if not isinstance(node, ast.Attribute) or node.attr not in METHODS:
                continue
            owner: ast.AST = node.value
            while isinstance(owner, (ast.Subscript, ast.Attribute, ast.Call)):
                owner = owner.func if isinstance(owner, ast.Call) else owner.value
            if isinstance(owner, ast.Name) and owner.id != "re":
                uses.setdefault(imported.get(owner.id, (name, owner.id)), set()).add(node.attr)
        for node, method in _calls_of_re(tree):
            if isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str) and method != "compile":
                flags = re.IGNORECASE if "IGNORECASE" in ast.dump(node) else 0
                found[f"{name}:{node.lineno}"] = re.compile(node.args[0].value, flags), frozenset({method})
    for name in trees:
        for constant, value in vars(sys.modules[name]).items():
            if not isinstance(value, type) and constant not in imports[name]:
                methods = frozenset(uses.get((name, constant), {"search"}))
                for number, pattern in enumerate(_patterns_in(value)):
                    found[f"{name}:{constant}" + (f"[{number}]" if number else "")] = pattern, methods
    for number, (pattern, method) in enumerate(_built()):
        found[f"built:{number}"] = pattern, frozenset({method})
    once = {(pattern, methods): name for name, (pattern, methods) in found.items()}
    return {name: (pattern, methods) for (pattern, methods), name in once.items()}


def _built() -> Iterator[tuple[re.Pattern[str], str]]:
    """Yields patterns that functions build, of what they are built from, and the method by which each is used."""
    yield credentials._forms().heads.compiled, "search"
    yield from ((re.compile(form), "sub") for _, _, form in credentials._forms().rows)
    tables = injection._tables()
    yield from ((tables.files.compiled, "sub"), (tables.unspaced.compiled, "sub"))
    yield from ((lazy.compiled, "search") for lazy in (tables.order_phrases, tables.signs))
    yield from ((rule.regex.compiled, "search") for rule in injection.rules())
    yield from ((pattern.regex.compiled, "search") for pattern in tables.patterns)


def _calls_of_re(tree: ast.AST) -> Iterator[tuple[ast.Call, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = node.func.value
            if isinstance(owner, ast.Name) and owner.id == "re" and node.func.attr in (*METHODS, "compile"):
                yield node, node.func.attr


def _patterns_in(value: Any, depth: int = 0) -> Iterator[re.Pattern[str]]:
    """Yields the patterns of a constant: itself, or in a table, in an object, or behind one of its bound methods."""
    value = getattr(value, "__self__", value)
    value = getattr(value, "compiled", value)
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield value
        return
    parts: Iterable[Any] = ()
    if isinstance(value, dict):
        parts = (*value, *value.values())
    elif isinstance(value, (list, tuple, set, frozenset)):
        parts = value
    elif type(value).__module__.startswith("skillgen"):
        names = (*getattr(value, "__struct_fields__", ()), *getattr(value, "__dict__", {}))
        parts = [getattr(value, name, None) for name in names]
    for part in parts if depth < 6 else ():
        yield from _patterns_in(part, depth + 1)


_ATOM = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{\d*,?\d*\}|.", re.DOTALL)
_OPENING = re.compile(r"\(\?(?:P<\w+>|P=\w+|<?[=!]|:|[a-zA-Z]*:?)")
_ESCAPES = {"d": "0", "D": "a", "s": " \n\t", "S": "a-", "w": "a_", "W": " .", "n": "\n", "t": "\t", "r": "\r"}
_POOL = "a b\nA0-_.,:;/\\|#\"'`=@&%$!~+^?*<>[](){}\té中\u0301"


def units(pattern: re.Pattern[str]) -> list[str]:
    """Returns what may be bad for a pattern when it is repeated: its literals, and neighbours of them."""
    text = _OPENING.sub("(", pattern.pattern)
    samples = [found for atom in _ATOM.findall(text) if (found := _samples(atom))]
    found = [sample for atom in samples for sample in atom]
    for length in (2, 3, 4):
        for start in range(len(samples) - length + 1):
            window = samples[start : start + length]
            found += ["".join(atom[0] for atom in window), "".join(atom[-1] for atom in window)]
    words = re.findall(r"[A-Za-z<>/!-]{2,}", text)[:40]
    found += [*words, *(f"{word} " for word in words), "".join(atom[0] for atom in samples)[:40]]
    return [unit for unit in dict.fromkeys((*found, *COMMON)) if unit]


def _samples(atom: str) -> list[str]:
    """Returns characters that a part of a pattern matches."""
    if atom[0] == "\\" and len(atom) > 1:
        return [] if atom[1] in "bBAZ" else list(_ESCAPES.get(atom[1], atom[1]))
    if atom[0] == "[" and len(atom) > 1:
        try:
            one = re.compile(atom)
        except re.error:
            return []
        return [character for character in dict.fromkeys((*_POOL, *atom[1:-1])) if one.fullmatch(character)][:5]
    if atom[0] in "()?*+|^$" or (atom[0] == "{" and len(atom) > 1):
        return []
    return ["a", " "] if atom == "." else [atom]


def text_of(before: str, unit: str, after: str, size: int) -> str:
    return before + (unit * (size // len(unit) + 1))[:size] + after


def seconds(pattern: re.Pattern[str], method: str, text: str) -> float:
    """Returns what a use of the pattern takes of the processor."""
    use: Callable[[], Any] = {
        "match": lambda: pattern.match(text),
        "fullmatch": lambda: pattern.fullmatch(text),
    }.get(method, lambda: sum(1 for _ in pattern.finditer(text)))
    start = time.process_time()
    use()
    return time.process_time() - start


def look(half: int) -> None:
    """Tries half of the patterns, and proves the worst repetition of each that grows faster than it; prints each."""
    known = patterns()
    assert len(known) > 300
    for name in sorted(known)[half::2]:
        print(json.dumps(name), flush=True)
        pattern, methods = known[name]
        used = sorted({method if method in ("match", "fullmatch") else "search" for method in methods})
        looks = [
            (seconds(pattern, method, text_of(before, unit, after, SHORT)), (name, method, before, unit, after))
            for method, unit, (before, after) in itertools.product(used, units(pattern), AFFIXES)
        ]
        slowest = sorted((look for look in looks if look[0] >= QUICK_S * SHORT), reverse=True)[:SLOWEST]
        growths = [(growth_of(pattern, pump), pump) for _, pump in slowest]
        if growths and max(growths)[0] > 16:
            _, pump = max(growths)
            print(json.dumps(pump), flush=True)
            _, method, before, unit, after = pump
            seconds(pattern, method, text_of(before, unit, after, FULL))


def growth_of(pattern: re.Pattern[str], pump: Pump) -> float:
    """Returns how many times longer a repetition takes at the second look, which is eight times as long."""
    _, method, before, unit, after = pump
    short, long = (text_of(before, unit, after, size) for size in (SHORT, LONG))
    return seconds(pattern, method, long) / max(seconds(pattern, method, short), 1e-6)


def unended(half: int) -> str:
    """Returns what a process of its own did not come to an end with; nothing if it tried all."""
    try:
        command = [sys.executable, __file__, str(half)]
        subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=TIME_LIMIT_S)
    except subprocess.TimeoutExpired as error:
        return (error.stdout or b"").decode().splitlines()[-1]
    return ""


def test_no_pattern_is_slow_for_a_text_that_was_made_for_it() -> None:
    with ThreadPoolExecutor(2) as pool:
        assert [*pool.map(unended, (0, 1))] == ["", ""]


def test_every_pattern_that_a_function_builds_is_known_here() -> None:
    """A pattern that is neither a constant nor listed here would not be tried."""
    building = {
        (path.relative_to(Path(skillgen.__path__[0])).as_posix(), function.name)
        for path in Path(skillgen.__path__[0]).rglob("*.py")
        for function in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(function, ast.FunctionDef)
        for node, _ in _calls_of_re(function)
        if not isinstance(node.args[0], ast.Constant)
    }
    assert building <= TRIED | WITHOUT_REPETITION | BOUNDED


TRIED = {
    ("security/injection.py", "regex"),
    ("security/credentials.py", "_compiled"),
    ("text/lazy_re.py", "compiled"),
}

BOUNDED = {
    ("model/check.py", "matches"),
    ("render/scripts.py", "_checkable"),
    ("sources/examples/validation.py", "_is_pattern"),
}
"""Functions that search with patterns of a source, whose parts are counted first, or that only compile them."""

WITHOUT_REPETITION = {
    ("infer/description.py", "_mentions"),
    ("infer/description.py", "short"),
    ("pipeline/draft.py", "_flaws"),
    ("pipeline/draft.py", "_unknown_names"),
    ("sources/mcp/metadata.py", "_check"),
    ("calls/script.py", "advice"),
    ("calls/script.py", "http_answer"),
    ("sources/cli/help.py", "__init__"),
    ("sources/cli/help.py", "summary"),
    ("sources/cli/help.py", "_read_help"),
    ("sources/cli/help.py", "_choose_way"),
    ("security/secrets.py", "_shortener"),
    ("render/reference.py", "about_topics"),
    ("render/results.py", "_body_facts"),
    ("render/types.py", "_says_default"),
    ("security/secrets.py", "__init__"),
    ("security/secrets.py", "_redact"),
}
"""Functions that find given words once in a text, or that anchor a part of a constant that is tried above."""


if __name__ == "__main__":
    look(int(sys.argv[1]))
