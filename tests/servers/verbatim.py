"""A server that answers `tools/list` with the text of a file, be it JSON or not: `python verbatim.py FILE`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

IDENTITY = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "verbatim", "version": "1.0.0"},
}


def main() -> None:
    """Answers each request on standard input."""
    text = Path(sys.argv[1]).read_text("utf-8")
    for line in sys.stdin:
        message = json.loads(line)
        results = {"initialize": json.dumps(IDENTITY), "tools/list": text}
        if "id" in message:
            failure = '"error": {"code": -32601, "message": "Method not found"}'
            result = results.get(message["method"])
            outcome = failure if result is None else f'"result": {result}'
            print(f'{{"jsonrpc": "2.0", "id": {json.dumps(message["id"])}, {outcome}}}', flush=True)


if __name__ == "__main__":
    main()
