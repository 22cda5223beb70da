"""How often the effect that skillgen states of a tool is the one that a careful reader sees in its declaration.

`python tests/measure_effects.py [-v]` reads the labelled tools in specifications/effects and prints the share that is
wrong; `-v` names each wrong tool. It also screens the honest texts in specifications/injection, none of which is meant
for the model.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from captured import service_of_answers

import skillgen
from skillgen import Service, Tool

SPECIFICATIONS = Path(__file__).parent / "specifications"
LABELLED = SPECIFICATIONS / "effects"
HONEST = SPECIFICATIONS / "injection" / "honest.txt"
UNKNOWN = "unknown"
"""The label of a tool whose effect cannot be read from its declaration."""

CAUTION = {effect: rank for rank, effect in enumerate(("read", "write", "sends", "destructive"))}
"""Every effect with its rank; the worst is last."""

Json = Any
Record = Mapping[str, Json]


def labelled() -> dict[str, list[Record]]:
    """Returns the labelled tools of each source."""
    sources: dict[str, list[Record]] = defaultdict(list)
    for path in sorted(LABELLED.glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            record = {**json.loads(line), "set": path.stem}
            sources[record["source"]].append(record)
    return dict(sources)


def service_of_tools(name: str, tools: Sequence[Json]) -> Service:
    """Returns the service of an MCP server that lists these tools."""
    info = {"name": name, "version": "1"}
    initialised = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
    return service_of_answers({"initialize": initialised, "tools/list": [{"tools": list(tools)}]})


def service_of_operations(name: str, records: Sequence[Record]) -> Service:
    """Returns the service of a description that has these operations alone."""
    paths: dict[str, dict[str, Json]] = defaultdict(dict)
    for record in records:
        paths[record["path"]][record["method"].lower()] = record["operation"]
    return skillgen.read(
        {
            "openapi": "3.0.3",
            "info": {"title": name, "version": "1"},
            "servers": [{"url": "http://127.0.0.1"}],
            "paths": dict(paths),
        }
    )


def measured() -> Iterator[tuple[Record, Tool]]:
    """Yields each labelled tool with what skillgen reads from it."""
    for source, records in labelled().items():
        if records[0]["kind"] == "mcp":
            tools = {tool.name: tool for tool in service_of_tools(source, [each["tool"] for each in records]).tools}
            yield from ((record, tools[record["name"]]) for record in records)
        else:
            tools = {tool.pointer or "": tool for tool in service_of_operations(source, records).tools}
            yield from ((record, tools[_pointer(record)]) for record in records)


def mistake(mark: str | None, record: Record) -> str | None:
    """Returns how a mark is wrong, or None for an acceptable one."""
    accepted = {record["label"], *record.get("also", ())}
    if record["label"] == UNKNOWN or (mark or UNKNOWN) in accepted:
        return None
    if mark is None:
        return "no mark"
    ranks = [CAUTION[effect] for effect in accepted - {UNKNOWN}]
    if CAUTION[mark] > max(ranks):
        return "too much"
    return "too little" if CAUTION[mark] < min(ranks) else "between two labels"


def flagged(text: str) -> bool:
    """True if the screening takes a description for an instruction to the model."""
    service = service_of_tools("honest", [{"name": "tool", "description": text, "inputSchema": {"type": "object"}}])
    return any(problem.code == "addresses-reader" for problem in service.problems)


def _pointer(record: Record) -> str:
    path = record["path"].replace("~", "~0").replace("/", "~1")
    return f"/paths/{path}/{record['method'].lower()}"


def _summary(title: str, results: Sequence[tuple[Record, str | None]]) -> str:
    """Returns one line: how many of the tools have a wrong mark, and how."""
    judged = [kind for record, kind in results if record["label"] != UNKNOWN]
    kinds = Counter(kind for kind in judged if kind)
    shares = {"wrong": kinds.total(), **{kind: kinds[kind] for kind in ("too much", "too little", "no mark")}}
    if kinds["between two labels"]:
        shares["between two labels"] = kinds["between two labels"]
    figures = ", ".join(f"{kind} {count / max(1, len(judged)):.1%} ({count})" for kind, count in shares.items())
    return f"{title}: {len(judged)} tools, {figures}"


def main() -> None:
    """Prints the shares."""
    is_verbose = "-v" in sys.argv[1:]
    results = []
    for record, tool in measured():
        mark = tool.semantics.effect
        kind = mistake(mark, record)
        results.append((record, kind))
        if kind and is_verbose:
            accepted = " or ".join([record["label"], *record.get("also", ())])
            origins = sorted({origin.source for origin in (tool.semantics.origins or {}).values()})
            print(f"{kind}: {record['source']} {record['name']}: {mark}, not {accepted}; {', '.join(origins)}")
    print(_summary("all", results))
    for name in sorted({record["set"] for record, _ in results}):
        print(_summary(f"of {name}.jsonl", [result for result in results if result[0]["set"] == name]))
    mcp = [result for result in results if result[0]["kind"] == "mcp"]
    print(_summary("MCP", mcp))
    print(_summary("MCP without hints", [result for result in mcp if "hints" not in result[0]]))
    print(_summary("OpenAPI", [result for result in results if result[0]["kind"] == "openapi"]))
    for label in CAUTION:
        print(_summary(f"labelled {label}", [result for result in results if result[0]["label"] == label]))
    texts = HONEST.read_text("utf-8").splitlines()
    wrong = [text for text in texts if flagged(text)]
    if is_verbose:
        for text in wrong:
            print(f"flagged: {text}")
    print(f"honest texts: {len(wrong)} of {len(texts)} flagged ({len(wrong) / len(texts):.1%})")


if __name__ == "__main__":
    main()
