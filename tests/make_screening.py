"""Writes what skillgen reads of its tables: `injection.json`, `credentials.json` and `effects.json`.

Run it after a change of a table: `python tests/make_screening.py`. Terms are written in all their forms, patterns of
concepts become regular expressions, and words are indexed, so that a run over a small source prepares nothing.
"""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Mapping
from itertools import repeat
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PACKAGE = Path(__file__).parent.parent / "skillgen"
CODES = [character for character in map(chr, range(0x240)) if character.isalnum()]
"""The codes of concepts: letters and digits, which need no escape in a regular expression."""

FORMS = dict.fromkeys("~+", "{0} {0}ing {0}ed {0}d {1}ing {1}ied {0}{2}ing {0}{2}ed") | {"": "{0}", "*": "{0} {0}s"}
FORMS["~"] += " {0}s {0}es {1}ies"
"""The forms of a term by its sign, also some that do not exist: `copy~` is copy, copies, copied and copying."""

LITERAL = re.compile(r"[\w-]*(?![?*+{])")
"""The literal start of an expression."""

CONCEPT = re.compile(r"<([A-Z_]+)>")
"""The name of a concept in an expression over tokens."""

UNSPACED = re.compile(r"[^\W\0-\u036f\u1d00-\u303f]")
"""Letters of the languages that have terms within longer words."""


def table_of(path: str) -> dict[str, Any]:
    """Returns a table of skillgen."""
    return tomllib.loads((PACKAGE / path).read_text("utf-8"))


def pattern(source: str, codes: Mapping[str, str]) -> dict[str, Any]:
    """Returns a pattern of concepts: its regular expression, its choices, and the rarest of these."""
    choices, telling, parts, comma = list[list[str]](), "", list[str](), ""
    for part in source.split():
        most, _, excluded = part.partition("!")
        names = (excluded or part.lstrip("*")).split("/")
        if part == "^":
            parts.append("(?<![^,])")
            continue
        one_of = "".join(codes[name] for name in names) if not names[0].isdigit() else ""
        if most.isdigit():
            parts.append(f"(?:{comma} {f'(?![^ ,]*[{one_of}])' if one_of else ''}[^ ,]*){{0,{most}}}?")
        else:
            choices.append(sorted(set(one_of)))
            telling = one_of if part[0] == "*" or not telling else telling
            parts.append(f"{comma} [^ ,]*[{one_of}][^ ,]*")
            comma = "" if names == ["SHOW"] else ",?"
    return {"regex": ["".join(parts)], "choices": choices, "telling": telling}


def terms(data: Mapping[str, Any], codes: Mapping[str, str], scripts: dict[str, str]) -> list[tuple[str, str]]:
    """Returns each term with its concept, and with its language unless it is a word of English too.

    `scripts` gets the terms of languages without spaces, with the words that replace them.
    """
    found: list[tuple[str, str]] = []
    for name, listed in data["concepts"].items():
        for term in listed.split():
            word = term.rstrip("~+*")
            forms = FORMS[term[len(word) :]].format(word, word[:-1], word[-1]).split()
            found += zip(forms, repeat(codes[name]))
    english = {*(term for term, _ in found), *data["english_too"].split()}
    for language, table in {**data["languages"], **data["scripts"]}.items():
        articles = data["elided"].get(language, "").split()
        for name, term in ((name, term) for name, listed in table.items() for term in listed.split()):
            concepts = codes[name] if term in english else codes[name] + codes[language]
            word = term
            if language in data["scripts"]:
                word = f"{language}{len(scripts)}".lower()
                word = scripts.setdefault(term, f" {word} ").strip()
            found.append((word, concepts))
            found += [(article + word, concepts) for article in articles if word[0] in "aeiouh"]
    for name, term in ((name, term) for name, listed in data["clauses"].items() for term in listed.split()):
        word = scripts.setdefault(term, f" clause{len(scripts)} ").strip() if UNSPACED.search(term) else term
        found.append((word, codes[name]))
    return found


def injection() -> dict[str, Any]:
    """Returns the rules and the concepts of words."""
    data = table_of("security/injection.toml")
    listed_languages = [*data["languages"], *data["scripts"]]
    names = [*data["concepts"], *data["clauses"], *listed_languages]
    codes = dict(zip(names, CODES, strict=False))
    scripts, words, phrases = dict[str, str](), dict[str, str](), dict[str, list[tuple[list[str], str]]]()
    listed = terms(data, codes, scripts)
    common = {word: place for place, word in enumerate(data["common"].split())}
    unknown = len(common)
    uses = Counter(word for term, _ in listed for word in term.split("_"))
    for term, concepts in listed:
        if "_" not in term:
            words[term] = words.get(term, "") + concepts
        else:  # found by a word that few texts have, else by a long one that few other terms have
            parts = term.split("_")
            rarest = min(parts, key=lambda part: (-common.get(part, unknown), len(part) < 5, uses[part], -len(part)))
            phrases.setdefault(rarest, []).append((parts, concepts))
    rules, patterns, by_code = list[dict[str, Any]](), list[dict[str, Any]](), dict[str, list[int]]()
    foreign = list[tuple[int, str, list[list[str]]]]()
    for number, row in enumerate(data["rules"]):
        for line in row.get("foreign_patterns", "").splitlines():
            foreign.append((number, "," if "SHOW" in line.split() else "\n", pattern(line, codes)["choices"]))
        expression = "|".join(row.get("regexes", ("(?!)",)))
        shown = {key: row[key] for key in ("code", "meaning", "example")}
        rules.append({**shown, "regex": [f"(?i){expression}"]})
        for made in (pattern(line, codes) for line in row.get("patterns", "").splitlines()):
            for code in sorted(set(made.pop("telling"))):
                by_code.setdefault(code, []).append(len(patterns))
            patterns.append({"rule": number, **made})
    languages = {codes[language] for language in listed_languages}
    marks = set(data["marks"].split())
    told = languages | by_code.keys()
    alone = marks.union(word for word, found in words.items() if not told.isdisjoint(found))
    rows = ((word, found) for word, listed in phrases.items() for _, found in listed)
    telling = alone.union(word for word, found in rows if not told.isdisjoint(found))
    in_phrases = (word for listed in phrases.values() for parts, _ in listed for word in parts)
    return {
        "files": ["|".join(data["sensitive_files"])],
        "hidden_files": [data["hidden_files"]],
        "signs": [data["signs"]],
        "order_phrases": [data["order_phrases"]],
        # The longest first; terms of these scripts have no character that needs an escape.
        "unspaced": ["|".join(sorted(scripts, key=lambda term: (-len(term), term)))],
        "freed": [CONCEPT.sub(lambda match: codes[match[1]], "|".join(data["freed"]))],
        "negating": "".join(codes[name] for name in ("NOT", "DONT", "SHOULDNT", "SILENTLY", "HIDE")),
        "marks": sorted(marks),
        "order_words": sorted(data["order_words"].split()),
        "verbs": sorted(data["verbs"].split()),
        "languages": sorted(languages),
        "rules": rules,
        "foreign_patterns": foreign,
        "patterns": patterns,
        "by_code": by_code,
        "scripts": scripts,
        "words": words,
        "phrases": phrases,
        "telling": sorted(telling),
        "alone": sorted(alone),
        "known": sorted(marks.union(words, in_phrases)),
    }


def credentials() -> dict[str, Any]:
    """Returns the documented forms of credentials."""
    known, more = (table_of(f"security/{name}.toml") for name in ("credentials", "betterleaks"))
    listed = ((kind, form) for kind, forms in known["forms"].items() for form in forms)
    rows, heads = list[tuple[str, str, str]](), dict[str, set[str]]()
    for kind, form in (*listed, *more["forms"].items()):
        head, _, rest = form.partition(" ")
        first = head[0] if head[0].isalnum() else ""
        heads.setdefault(first, set()).add(head.removeprefix(first))
        # The edge of a run of letters and digits: unlike in Python, an underscore is no part of it.
        edged = f"(?<![A-Za-z0-9]){head}{rest}".replace(r"\b", "(?![A-Za-z0-9])")
        rows.append((kind, LITERAL.findall(head)[0], edged))
    # Grouped by the first letter: a plain alternation tries every head in turn.
    groups = (f"{first}(?:{'|'.join(sorted(rests))})" for first, rests in sorted(heads.items()))
    return {
        "heads": [f"[^A-Za-z0-9](?:{'|'.join(groups)})"],
        "random_kinds": sorted(more["forms"]),
        "others": [
            (kind, mark, form)
            for kind, items in known["others"].items()
            for mark, form in zip(items[::2], items[1::2], strict=True)
        ],
        "rows": rows,
    }


EFFECTS = ("read", "write", "sends", "destructive")
STEM_LENGTH = 3
"""Letters of a verb from which other forms are made."""

ACCENTS = dict.fromkeys([*range(0x300, 0x370), 0x3099, 0x309A])


def effects() -> dict[str, Any]:
    """Returns the words by which effects are judged; verbs with what endings make of infinitives: `crear`, `crea`."""
    data = table_of("infer/effects.toml")
    verbs, stems, objects = dict[str, str](), dict[str, str](), dict[str, list[tuple[list[str], str]]]()
    for language in reversed(data["verbs"].values()):
        for effect in EFFECTS:
            words = language[effect].split()
            for ending, others in language.get("endings", {}).items():
                starts = [word.removesuffix(ending) for word in words if word.endswith(ending)]
                words += [start + other for start in starts if len(start) >= STEM_LENGTH for other in others.split()]
            verbs |= dict.fromkeys(words, effect)
    for effect in EFFECTS:
        listed = unicodedata.normalize("NFKD", " ".join(data["stems"][effect].values())).translate(ACCENTS)
        stems |= dict.fromkeys(listed.split(), effect)
    for effect, some, things in data["objects"]["rules"]:
        for verb in some.split():
            objects.setdefault(verb, []).append((things.split(), effect))
    stem = f"(?:{'|'.join(sorted(stems, key=len, reverse=True))})"
    return {
        "verbs": {effect: [verb for verb, its in verbs.items() if its == effect] for effect in EFFECTS},
        "words": {key: words.split() for key, words in data["words"].items()},
        "patterns": {key: "".join(parts).replace("{stem}", stem) for key, parts in data["patterns"].items()},
        "stems": stems,
        "objects": objects,
    }


def text_of(table: Mapping[str, Any]) -> str:
    """Returns a table as JSON, with a line for each member, and for each item of a list of objects or lists."""
    lines = []
    for key, value in table.items():
        rows = [json.dumps(item, ensure_ascii=False) for item in value] if isinstance(value, list) else []
        is_long = bool(rows) and not isinstance(value[0], str)
        shown = "[\n" + ",\n".join(rows) + "]" if is_long else json.dumps(value, ensure_ascii=False)
        lines.append(f"{json.dumps(key)}: {shown}")
    return "{" + ",\n".join(lines) + "}\n"


TABLES = {
    "security/injection.json": injection,
    "security/credentials.json": credentials,
    "infer/effects.json": effects,
}


def main() -> None:
    for name, table in TABLES.items():
        (PACKAGE / name).write_text(text_of(table()), "utf-8", newline="\n")


if __name__ == "__main__":
    main()
