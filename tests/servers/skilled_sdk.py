"""A server made with the Python SDK that has a skill: `python -m servers.skilled_sdk OUT`."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mcp.server.extension import Extension, MethodBinding
from mcp.server.mcpserver import MCPServer
from mcp_types import RequestParams

OUT = Path(sys.argv[1])
ANSWER: dict[str, Any] = json.loads((OUT / "skills-list.json").read_text("utf-8"))


class Skills(Extension):
    """Answers with the list that skillgen wrote."""

    identifier = "io.modelcontextprotocol/skills"

    def methods(self) -> Sequence[MethodBinding]:
        return [MethodBinding("skills/list", RequestParams, self._list)]

    async def _list(self, context: object, parameters: object) -> dict[str, Any]:
        return ANSWER


server = MCPServer("Acme", extensions=[Skills()])


def _serve(uri: str) -> None:
    @server.resource(uri, mime_type="text/markdown")
    def content() -> str:
        return (OUT / "skills" / uri.removeprefix("skill://")).read_bytes().decode("utf-8")


for item in ANSWER["skills"][0]["resources"]:
    _serve(item["uri"])

if __name__ == "__main__":
    server.run("stdio")
