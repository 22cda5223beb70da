"""Whatever a description is made of, its documents say all that it says, and nothing else (S2-08, S2-09).

The descriptions are drawn so that each word of them is in one place and each name says what must be said of it.
What an operation says is found by following its references; what documents say, by following their links.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
from corpus_checks import target
from descriptions import LONG, operation
from documents import ABOVE, Item, MarkdownDocument, Section, named_above
from jsonschema import Draft202012Validator
from random_descriptions import WORD, Drawn
from sendable import calls_in

import skillgen

pytestmark = pytest.mark.slow

Json = Any

DRAWN = 48
"""Descriptions, a quarter of each version."""


class Pages:
    """The references of a description, or SKILL.md where it holds all of them."""

    def __init__(self, data: Json) -> None:
        rendered = skillgen.render_documents(skillgen.read(data), emit="skill")
        whole = [path for path in rendered if "/references/" in path] or [*rendered]
        self.texts = {PurePosixPath(path).name: rendered[path] for path in whole}
        self._sections: dict[tuple[str, str], Section] = {}
        self._above: dict[str, str] = {}
        for name, text in self.texts.items():
            document = MarkdownDocument(text)
            self._above[name] = text.partition(f"\n{ABOVE}\n")[2].partition("\n## ")[0]
            # In SKILL.md, the types are one level below the tools.
            for section in (*document.sections(2), *document.sections(3)):
                self._sections[name, section.heading.anchor] = section

    def __iter__(self) -> Iterator[Section]:
        return iter(self._sections.values())

    def of(self, tool: str) -> tuple[str, Section]:
        """Returns the one section of a tool, with the name of its page."""
        ((name, section),) = (
            (key[0], section) for key, section in self._sections.items() if section.heading.text == tool
        )
        return name, section

    def reached(self, name: str, section: Section, seen: set[tuple[str, str]]) -> str:
        """Returns the text of a section and of every type to which it leads."""
        text = section.text
        for page, anchor in re.findall(r"\]\(([^)#\s]*)#([^)\s]+)\)", section.text):
            key = page or name, unquote(anchor)
            if key not in seen:
                seen.add(key)
                text += "\n" + self.reached(key[0], self._sections[key], seen)
        if any(named_above(line.removeprefix("- ")) for line in section.text.split("\n")):
            text += "\n" + self._above[name]
        return text


def said(data: Json, node: Json, seen: set[int], way: str = "any") -> set[str]:
    """Returns the words of a part of a description and of what it refers to.

    Without the defaults of what is returned, unless `way` is `any`.
    """
    if id(node) in seen:
        return set()
    seen.add(id(node))
    if isinstance(node, dict):
        found = {word for key in node for word in WORD.findall(key)}
        if "$ref" in node:
            return found | said(data, target(data, node), seen, way)
        parts = {key: value for key, value in node.items() if not (way == "returned" and key == "default")}
        parts |= {"default": node["default"]} if isinstance(node.get("default"), dict) else {}
        ways = {key: "returned" if way == "sent" and key == "responses" else way for key in parts}
        return found.union(*(said(data, parts[key], seen, ways[key]) for key in parts))
    if isinstance(node, list):
        return set().union(*(said(data, value, seen, way) for value in node))
    return set(WORD.findall(node)) if isinstance(node, str) else set()


def items_in(items: tuple[Item, ...] | list[Item]) -> Iterator[Item]:
    for item in items:
        yield item
        yield from items_in(item.children)


def wrong_facts(section: Section) -> Iterator[str]:
    """Yields the items of which a section says another type than their name, or whether they are required."""
    for item in items_in(section.items):
        if match := re.fullmatch(r"(must|may)_([a-z]+)_\d+", item.name):
            shown = re.split(r"[ (]", item.facts[0])[0] if item.facts else ""
            is_sent = item.label.startswith(("Path", "Query", "Cookies", "Body"))  # results do not say "required"
            if ("required" in item.facts, match[1]) in ((True, "may"), *[(False, "must")] * is_sent) or match[
                2
            ] not in (shown, "ref", "any"):
                yield item.text


def wrong_request(data: Json, command: str, path: str, operation: Json) -> Iterator[str]:
    """Yields what is wrong with a command: a parameter that is not as declared, a body that is not valid."""
    words = shlex.split(command.replace("\\\n", " "))
    (address,) = (word for word in words if word.startswith("https://drawn.example/v1/"))
    parts = urlsplit(address)
    shape = re.sub(r"\\\{.*?\\\}", "[^/]+", re.escape("/v1" + path))
    if not re.fullmatch(shape, parts.path):
        yield f"{parts.path} is no {path}"
    sent = {name for name, _ in parse_qsl(parts.query, keep_blank_values=True)}
    for parameter in operation.get("parameters", ()):
        name, where = parameter["name"], parameter["in"]
        declared = parameter.get("schema", parameter)
        exploded = parameter.get("explode", True) and "properties" in declared
        names = declared["properties"].keys() if exploded else {name}
        if where == "query" and parameter["required"] != bool(sent & names):
            yield f"{name} in {parts.query}"
        if where == "header" and parameter["required"] != any(re.match(f"{name}[:;]", word) for word in words):
            yield f"{name} is no header"
    bodies = {item["in"]: item["schema"] for item in operation.get("parameters", ()) if item["in"] == "body"}
    bodies |= {name: item["schema"] for name, item in operation.get("requestBody", {}).get("content", {}).items()}
    if bodies and "-d" in words:
        sent_as = [word.removeprefix("Content-Type: ") for word in words if word.startswith("Content-Type: ")]
        schemas = [bodies[name] for name in sent_as if name in bodies] or [*bodies.values()]
        whole = {**{key: data[key] for key in ("components", "definitions") if key in data}, "allOf": schemas[:1]}
        value = json.loads(words[words.index("-d") + 1])
        yield from (error.message for error in Draft202012Validator(whole).iter_errors(value))


def large(data: Json) -> Json:
    """Returns a description with one operation more, which makes it too large for SKILL.md."""
    return {**data, "paths": {**data["paths"], "/filler": {"get": operation("filler", description=LONG)}}}


@pytest.mark.parametrize("is_whole", [True, False], ids=["SKILL.md", "references"])
@pytest.mark.parametrize("seed", range(DRAWN))
def test_a_drawn_description_is_documented_completely_and_nothing_is_added(seed: int, is_whole: bool) -> None:
    """S2-07, S2-08, S2-09; issue 4: every parameter and property, of its type, and an example that is valid."""
    data = Drawn(seed).data
    pages = Pages(data if is_whole else large(data))
    calls = {name: call for text in pages.texts.values() for name, call in calls_in(text).items() if call is not None}
    for path, entry in data["paths"].items():
        for method in entry.keys() - {"parameters"}:
            declaration = entry[method]
            name, section = pages.of(declaration["operationId"])
            assert f"`{method.upper()} {path}`" in section.text
            parts = {key: value for key, value in declaration.items() if key != "operationId"}
            declared, needed = (said(data, [parts, entry["parameters"]], set(), way) for way in ("any", "sent"))
            told = set(WORD.findall(pages.reached(name, section, set())))
            assert needed - told == set(), "lost"
            linked = {
                word for word in told if word in data.get("definitions", data.get("components", {}).get("schemas"))
            }
            assert set(WORD.findall(section.text)) - declared - linked - {declaration["operationId"]} == set(), (
                "invented"
            )
            if (call := calls.get(declaration["operationId"])) is not None:  # not with placeholders only
                assert list(wrong_request(data, call.text, path, declaration)) == []
    assert [line for section in pages for line in wrong_facts(section)] == []
