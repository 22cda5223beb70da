"""A server that says what a file holds: `python -m servers.listed FILE`.

The file has `server` (members of the `initialize` result), `tools`, `resources` and `prompts`, in one page each, and
the results of other methods by their names. Hundreds of tests start it, so it imports next to nothing.
"""

from __future__ import annotations

import json
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Json = Any

LISTS = {"tools/list": "tools", "resources/list": "resources", "prompts/list": "prompts"}


def answer(said: dict[str, Json], method: str) -> dict[str, Json] | None:
    """Returns the result of a method; `None` where there is no such method."""
    if method == "initialize":
        capabilities: dict[str, Json] = {name: {} for name in LISTS.values() if name in said}
        identity = {"name": "listed", "version": "1.0.0"}
        return {"protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": identity, **said["server"]}
    name = LISTS.get(method)
    return {name: said[name]} if name is not None and name in said else said.get(method)


def main() -> None:
    """Answers each request on standard input."""
    with open(sys.argv[1], encoding="utf-8") as file:
        said = json.load(file)
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        result = answer(said, message["method"])
        found = {"error": {"code": -32601, "message": "Method not found"}} if result is None else {"result": result}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **found}), flush=True)


if __name__ == "__main__":
    main()
