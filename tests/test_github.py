"""GitHub's own description (1,223 operations) made into documents: nothing is lost, and everything keeps its bounds.

What must stand there is computed here from the raw JSON, with nothing of skillgen's own.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from cli import ROOT, files_of, generated
from conftest import GitHub
from documents import SECTIONS_OF_AI_HELP, Item, Section, document_at, with_above
from jsonschema import Draft202012Validator, FormatChecker

Json = Any

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
LABELS = {"path": "Path parameters:", "query": "Query parameters:", "header": "Headers:", "cookie": "Cookies:"}


# -- what the raw description says -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Expected:
    """One parameter as the raw description has it."""

    operation: str
    label: str
    name: str
    required: bool
    schemas: tuple[Json, ...]
    """Every schema that says something of it, references unchanged."""

    description: str = ""


def target(raw: Json, value: Json) -> Json:
    """Follows `$ref`s to what they mean."""
    while isinstance(value, dict) and "$ref" in value:
        node = raw
        for token in value["$ref"].removeprefix("#/").split("/"):
            node = node[token.replace("~1", "/").replace("~0", "~")]
        value = node
    return value


def operations(raw: Json) -> Iterator[tuple[Json, Json]]:
    for item in raw["paths"].values():
        for method in METHODS:
            if method in item:
                yield item, item[method]


def request_parameters(raw: Json) -> Iterator[Expected]:
    for item, operation in operations(raw):
        for reference in (*item.get("parameters", ()), *operation.get("parameters", ())):
            parameter = target(raw, reference)
            yield Expected(
                operation=operation["operationId"],
                label=LABELS[parameter["in"]],
                name=parameter["name"],
                required=parameter.get("required", False) or parameter["in"] == "path",
                schemas=(parameter["schema"],),
                description=parameter.get("description", ""),
            )


def properties_of(raw: Json, schema: Json) -> dict[str, list[Json]]:
    """Returns the top-level properties of a schema, through references, `allOf` and alternatives."""
    schema = target(raw, schema)
    found: dict[str, list[Json]] = {}
    for name, value in schema.get("properties", {}).items():
        found.setdefault(name, []).append(value)
    for keyword in ("allOf", "oneOf", "anyOf"):
        for member in schema.get(keyword, ()):
            for name, values in properties_of(raw, member).items():
                found.setdefault(name, []).extend(values)
    return found


def required_of(raw: Json, schema: Json) -> set[str]:
    """Returns the properties without which no value fits a schema."""
    schema = target(raw, schema)
    found = set(schema.get("required", ()))
    for member in schema.get("allOf", ()):
        found |= required_of(raw, member)
    for keyword in ("oneOf", "anyOf"):
        if schema.get(keyword):
            found |= set.intersection(*(required_of(raw, member) for member in schema[keyword]))
    return found


def body_parameters(raw: Json) -> Iterator[Expected]:
    for _, operation in operations(raw):
        content = target(raw, operation.get("requestBody", {})).get("content", {})
        for media_type in content.values():
            required = required_of(raw, media_type["schema"])
            for name, schemas in properties_of(raw, media_type["schema"]).items():
                yield Expected(
                    operation=operation["operationId"],
                    label="Body (",
                    name=name,
                    required=name in required,
                    schemas=tuple(schemas),
                )


def shown_value(value: Json, is_bare: bool = False) -> str:
    """Returns a value as a code span shows it: a string unchanged unless it could be other JSON, else JSON.

    In a URL or a header, every string `is_bare`.
    """
    is_plain = isinstance(value, str) and not re.match(r"-?\d[\d.]*$|true$|false$|null$|[\[{\"]", value)
    if isinstance(value, str) and value and (is_bare or is_plain):
        return value
    return json.dumps(value, ensure_ascii=False)


# -- what the documents say ------------------------------------------------------------------------------------------


@lru_cache(1)
def tool_sections(references: Path) -> dict[str, list[Section]]:
    """Returns the section of every tool and type in all files of the references, by its heading."""
    found: dict[str, list[Section]] = {}
    for path in sorted(references.glob("*.md")):
        document = document_at(path)
        for section in (*document.sections(2), *document.sections(3)):
            items = tuple(with_above(path, section.items))
            found.setdefault(section.heading.text, []).append(replace(section, items=items))
    return found


def items_of(github: GitHub, expected: Expected) -> list[Item]:
    references = github.skill / "references"
    (section,) = tool_sections(references)[expected.operation]
    return [item for item in section.items if item.name == expected.name and item.label.startswith(expected.label)]


def test_every_parameter_is_in_its_section_with_what_is_declared_of_it(github: GitHub) -> None:
    """S2-08: 3,526 parameters, of which 3,153 are references, and whether each is required."""
    expected = list(request_parameters(github.raw))
    assert len(expected) == 3526
    assert_documented(github, expected)


def test_every_property_of_a_request_body_is_in_its_section(github: GitHub) -> None:
    """S2-08: also where the body is a named type or an alternative of several."""
    assert_documented(github, list(body_parameters(github.raw)))


def assert_documented(github: GitHub, expected: list[Expected]) -> None:
    wrong = [
        f"{item.operation} {item.name}: {complaint}"
        for item in expected
        for complaint in complaints(github, item, items_of(github, item))
    ]
    assert wrong == []


def complaints(github: GitHub, expected: Expected, found: list[Item]) -> Iterator[str]:
    if len(found) != 1:
        yield f"stands there {len(found)} times"
        return
    (item,) = found
    if ("required" in item.facts) != expected.required:
        yield f"is {'' if expected.required else 'not '}required, and shows {item.facts}"
    if words(expected.description) not in words(item.text, whole=True):
        yield f"lacks its description {expected.description!r}"
    # Where several alternatives say something of one property, the words of one of them are enough; all their choices
    # stand in one list.
    several = len(expected.schemas) > 1
    is_bare = not expected.label.startswith("Body")  # a string in a URL or a header has no quotes
    (section,) = tool_sections(github.skill / "references")[expected.operation]
    described = (words(target(github.raw, schema).get("description", "")) for schema in expected.schemas)
    if several and all(text in words(section.text, whole=True) for text in described):  # each with its alternative
        return
    if not any(all(says(github, item, schema, several, is_bare)) for schema in expected.schemas):
        yield f"does not say {expected.schemas[0]}"


def says(github: GitHub, item: Item, schema: Json, several: bool, is_bare: bool) -> Iterator[bool]:
    """Returns for each fact of a schema whether an item says it.

    What a named type says is where the item links, but the item itself says it of a short string or number.
    """
    sections = tool_sections(github.skill / "references")
    name = schema.get("$ref", "").rpartition("/")[2]
    if name in sections:
        (section,) = sections[name]
        yield any(url.endswith(f"#{section.heading.anchor}") for url in item.urls)
        facts = target(github.raw, schema)
        yield "enum" not in facts or f"One of {codes(facts['enum'])}." in section.text
        yield "default" not in facts or f"Default: {codes([facts['default']])}." in section.text
        return
    schema = target(github.raw, schema)
    yield words(schema.get("description", "")) in words(item.text, whole=True)
    if "default" in schema:
        default = shown_value(schema["default"], is_bare)
        in_words = re.search(rf"\bdefault.{{0,20}}{re.escape(default)}\b", item.text, re.IGNORECASE)
        yield [default] in item.codes_after("Default: ") or in_words is not None
    if "enum" in schema:
        shown = [*item.codes_after("One of "), *item.codes_after("Always ")]
        wanted = [shown_value(choice, is_bare) for choice in schema["enum"]]
        prose = [piece.text for piece in item.pieces if piece.kind == "code"]
        prose += re.findall(r"['\"]([^'\"]+)['\"]", item.text)
        if re.search(r"\b(?:one of|either|values?|options?)\W", item.text, re.IGNORECASE):
            prose += re.findall(r"[\w-]+", item.text)
        yield (
            any(set(wanted) <= set(words) for words in [*shown, prose])
            if several
            else wanted in shown or (set(wanted) <= set(prose))
        )


def words(text: str, whole: bool = False) -> str:
    """Returns the letters and digits of a text, or of its start, before a mark that a filter may change."""
    return "".join(re.findall(r"[^\W_]+", text if whole else re.split(r"[\[<!&\\]", text, maxsplit=1)[0]))


def codes(values: list[Json]) -> str:
    return ", ".join(f"`{shown_value(value)}`" for value in values)


def test_inline_objects_are_nested_below_the_parameter_that_holds_them(github: GitHub) -> None:
    wrong = []
    for _, operation in operations(github.raw):
        content = target(github.raw, operation.get("requestBody", {})).get("content", {})
        for name, schema in content.get("application/json", {}).get("schema", {}).get("properties", {}).items():
            if "$ref" in schema or "properties" not in schema:
                continue
            expected = Expected(operation["operationId"], "Body (", name, False, ())
            for item in items_of(github, expected):
                if sorted(child.name for child in item.children) != sorted(schema["properties"]):
                    wrong.append(f"{operation['operationId']} {name}")
    assert wrong == []


def test_references_are_one_level_deep_and_reachable_from_skill_md(github: GitHub) -> None:
    """X-24."""
    references = github.skill / "references"
    assert all(path.is_file() for path in references.iterdir())
    reached, waiting = set[Path](), [github.skill / "SKILL.md"]
    while waiting:
        path = waiting.pop()
        if path not in reached:
            reached.add(path)
            urls = {link.url.partition("#")[0] for link in document_at(path).links}
            waiting += [target for url in urls if (target := (path.parent / url).resolve()).parent == references]
    assert set(references.iterdir()) <= reached


def test_the_description_has_the_purpose_and_only_what_hosts_accept(github: GitHub) -> None:
    """X-20, X-21, X-22, X-23."""
    fields = document_at(github.skill / "SKILL.md").fields()
    assert fields.keys() <= {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}
    assert fields["name"] == github.skill.name
    assert 1 <= len(fields["description"]) <= 1024
    assert not {"<", ">", "\n"} & set(fields["description"])
    assert "---" not in fields["description"]
    assert all(isinstance(value, str) for value in fields["metadata"].values())


def test_the_readme_has_the_figures_of_its_two_runs(github: GitHub, tmp_path: Path) -> None:
    readme = " ".join((ROOT / "README.md").read_text("utf-8").split())
    server = ("from-server", "-o", tmp_path, "--", sys.executable, ROOT / "examples" / "acme-mcp" / "server.py")
    for printed in (github.printed, generated(*server).stderr):
        (figures,) = re.findall(r": (\d.* files) in .*(SKILL\.md is .*)", printed)
        assert [figure for figure in figures if figure not in readme] == []


def test_llms_txt_has_the_sections_of_the_web_profile(github: GitHub) -> None:
    """S0-40, S0-41, X-31."""
    titles = [heading.text for heading in document_at(github.out / "llms.txt").headings]
    assert [heading.level for heading in document_at(github.out / "llms.txt").headings].count(1) == 1
    assert {"When to Use", "Quick Reference"} <= set(titles)
    assert titles[-1] == "Optional"
    assert Counter(titles).most_common(1)[0][1] == 1


def test_the_ai_help_text_has_the_ten_sections(github: GitHub) -> None:
    """S0-32, S0-33, S0-34."""
    document = document_at(github.out / "ai-help.md")
    second = [heading.text for heading in document.headings if heading.level == 2]
    assert [title for title in second if title in SECTIONS_OF_AI_HELP] == list(SECTIONS_OF_AI_HELP)
    assert second[0] == "When to Use"
    assert 10 <= len(document.section("Quick Reference").items) <= 20


@pytest.mark.parametrize(
    ("file", "schema"), [("llms.txt", "dashdash-frontmatter-web"), ("ai-help.md", "dashdash-frontmatter-cli")]
)
def test_the_front_matter_has_the_form_that_its_profile_asks_for(github: GitHub, file: str, schema: str) -> None:
    """S0-30, S0-40, S0-42."""
    validate(schema, document_at(github.out / file).fields())


def test_the_registry_entry_has_the_form_of_a_discovery_entry(github: GitHub) -> None:
    """S0-52: and nobody but somebody else says that it is verified."""
    entry = json.loads((github.out / "registry.json").read_text("utf-8"))
    validate("dashdash-registry-entry", entry)
    assert "verified" not in entry


def validate(schema: str, instance: Json) -> None:
    text = (ROOT / "tests" / "specifications" / "dashdash" / f"{schema}.schema.json").read_text("utf-8")
    Draft202012Validator(json.loads(text), format_checker=FormatChecker()).validate(instance)


def test_llms_full_has_everything_that_the_references_have(github: GitHub) -> None:
    """X-32."""
    full = Counter(heading.text for heading in document_at(github.out / "llms-full.txt").headings)
    names = [operation["operationId"] for _, operation in operations(github.raw)]
    assert [name for name in names if full[name] != 1] == []


def test_folder_and_hash_seed_do_not_change_a_byte(github: GitHub, tmp_path: Path) -> None:
    """X-26, X-51: but for the path to the source in the record."""
    generated("from-openapi", github.source, "-o", "deep/er", cwd=tmp_path, env={"PYTHONHASHSEED": "2"})
    found, expected = (
        {name: re.sub(rb'"source": \[[^\]]*\]', b"", text) for name, text in files_of(out).items()}
        for out in (tmp_path / "deep" / "er", github.out)
    )
    assert found == expected
