"""The kiosk with extensions of the protocol, in one of many manners: `python -m servers.extended MANNER`.

It logs as `over_stdio` does.
"""

from __future__ import annotations

import hashlib
import json
import random
import sys
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote, urlsplit

from servers.kiosk import DASHDASH, LEGACY, META, MODERN, TOOLS, Json, Kiosk, RpcError, pages
from servers.over_stdio import endless, log, messages, say, serve

DESCRIPTIONS = "kiosk:///tool_descriptions"

FULL: dict[str, Json] = {
    "buy_paper": {
        "name": "buy_paper",
        "description": "Buys a newspaper and delivers it. The price is taken from the account.",
        "inputSchema": {
            "type": "object",
            "properties": {"title": {"type": "string", "description": "Which paper."}, "copies": {"type": "integer"}},
            "required": ["title"],
        },
        "annotations": {"readOnlyHint": False, "destructiveHint": False},
        "examples": [{"description": "One copy", "input": {"title": "Daily"}}],
        "usage_guidance": {"when": "Only before noon.", "tip": "Look at list_papers first."},
        "error_guidance": {"SOLD_OUT": "Nothing is left; try tomorrow.", "NO_MONEY": "Fill up the account."},
    },
    "list_papers": {
        "name": "list_papers",
        "description": "Lists the newspapers that are on sale today.",
        "inputSchema": {"type": "object", "properties": {"language": {"type": "string"}}},
        "usage_guidance": "Call it once a day.",
    },
    "a,b": {"name": "a,b", "description": "Has a comma.", "inputSchema": {"type": "object", "properties": {}}},
}


class Progressive(Kiosk):
    """Describes its tools in two stages (seed 003), and logs every read."""

    def __init__(self, *versions: str, full: dict[str, Json] | None = None) -> None:
        super().__init__(*versions)
        self.full = FULL if full is None else full
        self.authorised: set[str] = set()
        open_schema = {"type": "object", "additionalProperties": True}
        self.methods["tools/list"] = lambda _: {
            "tools": [{"name": n, "description": f"{n} in brief.", "inputSchema": open_schema} for n in self.full]
        }
        self.methods["resources/list"] = lambda _: {
            "resources": [
                {
                    "uri": DESCRIPTIONS,
                    "name": "Tool Descriptions - Required for tool use",
                    "description": "Pick a tool, fetch ?tools=NAME, call it.",
                    "mimeType": "application/json",
                }
            ]
        }
        self.methods["resources/read"] = self.read

    def read(self, params: Json) -> Json:
        """Returns the descriptions of the tools that the URI names, and authorises them."""
        names = names_in(params["uri"])
        if names is None:
            return contents({"error": {"code": "MISSING_TOOL_SELECTION", "message": "Name the tools."}})
        self.authorised |= set(names)
        return contents({name: self.described(name) for name in names})

    def described(self, name: str) -> Json:
        """Returns the description of one tool, or an error in its place."""
        if name not in self.full:
            return {"error": f"Tool '{name}' not found", "available_tools": list(self.full)}
        return self.full[name]


def names_in(uri: str) -> list[str] | None:
    query = urlsplit(uri).query
    if "tools=" not in query:
        return None
    raw = query.split("tools=", 1)[1]
    return [unquote(name) for name in raw.split(",")]


def contents(*data: Any, uri: str = DESCRIPTIONS) -> Json:
    return {"contents": [{"uri": uri, "mimeType": "application/json", "text": json.dumps(item)} for item in data]}


def progressive(*versions: str) -> Callable[[], None]:
    return lambda: serve(Progressive(*versions))


def many() -> None:
    """Has two hundred tools, and takes batches."""
    names = [f"tool_number_{number}" for number in range(200)]
    serve(Progressive(LEGACY[-1], full={name: {**FULL["list_papers"], "name": name} for name in names}))


def odd_names() -> None:
    """Has three hundred tools with names of any characters and lengths."""
    drawn = random.Random(1)
    characters = "abcdefghijklmnop_-.&#?/ %+=:;'日é🛳" + '"'
    lengths = [drawn.choice((3, 9, 20, 150)) for _ in range(300)]
    names = [*("".join(drawn.choices(characters, k=length)) + str(n) for n, length in enumerate(lengths))]
    serve(Progressive(LEGACY[-1], full={name: {**FULL["list_papers"], "name": name} for name in names}))


def one_by_one() -> None:
    """Understands one tool at a time only."""
    kiosk = Progressive(LEGACY[-1])
    read = kiosk.methods["resources/read"]

    def single(params: Json) -> Json:
        names = names_in(params["uri"]) or []
        if len(names) != 1:
            raise RpcError(-32602, "Tool not found: " + ",".join(names))
        result: Json = read(params)
        return result

    kiosk.methods["resources/read"] = single
    serve(kiosk)


def lacking() -> None:
    """Knows nothing of one tool, and returns one that was not requested."""
    kiosk = Progressive(LEGACY[-1])
    known = dict(FULL)

    def read(params: Json) -> Json:
        names = names_in(params["uri"]) or []
        found = {name: known[name] for name in names if name != "list_papers"}
        if "list_papers" in names:
            found["list_papers"] = {"error": "Tool 'list_papers' not found", "available_tools": ["buy_paper"]}
        return contents({**found, "secret_tool": known["buy_paper"]})

    kiosk.methods["resources/read"] = read
    serve(kiosk)


def refusing(channel: str) -> Callable[[], None]:
    """Answers every read with an error of the extension, in one of the ways in which it may come."""
    error = {"error": {"code": "MISSING_TOOL_SELECTION", "message": "You must specify one or more tool names."}}

    def read(_: Json) -> Json:
        if channel == "json-rpc":
            raise RpcError(-32000, "refused", error)
        if channel == "json-rpc-message":
            raise RpcError(-32000, json.dumps(error))
        if channel == "tool-result":
            return {"isError": True, "content": [{"type": "text", "text": json.dumps(error)}]}
        if channel == "no-json":
            return {"contents": [{"uri": DESCRIPTIONS, "text": "not { json"}]}
        return contents(error)

    def manner() -> None:
        kiosk = Progressive(LEGACY[-1])
        kiosk.methods["resources/read"] = read
        serve(kiosk)

    return manner


def in_parts() -> None:
    """Returns each description as a separate content without a media type, identified by its name alone."""
    kiosk = Progressive(LEGACY[-1])
    resources = [{"uri": "kiosk://docs/tools", "name": "tool_descriptions"}]
    kiosk.methods["resources/list"] = lambda _: {"resources": resources}
    kiosk.methods["resources/read"] = lambda params: {
        "contents": [
            {"uri": params["uri"], "text": json.dumps({name: FULL[name]})} for name in names_in(params["uri"]) or []
        ]
    }
    serve(kiosk)


GROUPS = META + "groups"
SKILLS = META + "skills"


def grouped() -> None:
    """Keeps tools, a prompt and a resource in groups (`groups/get`), one of them nested, one in two groups."""
    kiosk = Kiosk(LEGACY[-1])
    kiosk.capabilities["extensions"] = {GROUPS: {"listChanged": True}}
    deliver = {"name": "deliver", "description": "Delivers a paper.", "inputSchema": {"type": "object"}}
    track = {"name": "track", "description": "Tracks a delivery.", "inputSchema": {"type": "object"}}
    groups: dict[str, Json] = {
        "delivery": {
            "instructions": "Deliver first, then track.",
            "contents": {
                "tools": [deliver],
                "prompts": [{"name": "apologise"}],
                "resources": [{"uri": "kiosk://van", "name": "van"}],
                "groups": [{"name": "tracking", "title": "Tracking", "description": "Where papers are."}],
            },
        },
        "tracking": {"contents": {"tools": [track, deliver], "groups": [{"name": "delivery"}]}},
        "manners": {"instructions": "Always greet."},
    }
    kiosk.methods["groups/list"] = pages(
        "groups",
        {
            None: ([{"name": "delivery", "title": "Delivery", "description": "Brings papers."}], {"nextCursor": "2"}),
            "2": ([{"name": "manners", "description": "How to talk."}, {"name": "gone"}], {}),
        },
    )

    def get(params: Json) -> Json:
        if params["name"] not in groups:
            raise RpcError(-32002, "Resource not found")
        return groups[params["name"]]

    kiosk.methods["groups/get"] = get
    serve(kiosk)


def labelled() -> None:
    """Names groups in the `_meta` of its tools."""
    kiosk = Kiosk(LEGACY[-1])
    kiosk.capabilities["extensions"] = {META + "grouping": {}}
    tools = [{"name": "count", "description": "Counts.", "_meta": {GROUPS: ["arithmetic", "other"]}}]
    kiosk.methods["tools/list"] = lambda _: {"tools": tools}
    kiosk.methods["groups/list"] = lambda _: {
        "groups": [{"name": "arithmetic", "title": "Sums", "description": "Adds up."}]
    }
    serve(kiosk)


SKILL_TEXT = "---\nname: reading\ndescription: How to read a paper.\n---\n\n# Reading\n\nTurn the pages.\n"


def skilled(*, digest: str | None = None, size: int | None = None) -> Callable[[], None]:
    """Offers skills, on two pages, and their files; digest and size may be wrong."""
    content = SKILL_TEXT.encode()
    files = [
        {
            "uri": "skill://reading/SKILL.md",
            "digest": digest or f"sha256:{hashlib.sha256(content).hexdigest()}",
            "size": len(content) if size is None else size,
        }
    ]

    def manner() -> None:
        kiosk = Kiosk(LEGACY[-1])
        kiosk.capabilities["extensions"] = {SKILLS: {}}
        reading = {
            "uri": "skill://reading/SKILL.md",
            "frontmatter": {
                "name": "reading",
                "description": "How to read a paper.",
                "allowed-tools": "Bash(rm:*)",
                "license": "MIT",
            },
            "resources": files,
        }
        folding = {
            "uri": "skill://folding/SKILL.md",
            "frontmatter": {"name": "folding", "description": "How to fold one."},
            "resources": "dynamic",
        }
        kiosk.methods["skills/list"] = pages("skills", {None: ([reading], {"nextCursor": ""}), "": ([folding], {})})
        kiosk.methods["skills/get"] = lambda params: {"skill": {**folding, "resources": [{"uri": params["uri"]}]}}
        kiosk.methods["resources/read"] = lambda params: {
            "contents": [
                {"uri": params["uri"], "text": SKILL_TEXT if "reading" in params["uri"] else "# Folding\n\nFold twice."}
            ]
        }
        serve(kiosk)

    return manner


MANIFEST: Json = {
    "manifest_version": "0.1.0",
    "server": {"name": "kiosk-server", "version": "1.2.3", "mcp_spec_version": "2025-11-25", "description": "Sells."},
    "tools": [
        {
            "name": "buy_paper",
            "description": "Buys a newspaper.",
            "input_schema": {"type": "object"},
            "requires_confirmation": True,
            "confirmation_message": "Buy {title}?",
            "cost": {"category": "metered", "estimated_units": 2, "unit_label": "coins"},
        }
    ],
    "supported_extensions": ["intent_hints", "made_up"],
}


def with_manifest_tool() -> None:
    """Has a tool that returns its manifest."""
    kiosk = Kiosk(LEGACY[-1])
    tools = [*TOOLS, {"name": "get_manifest", "inputSchema": {"type": "object"}}]
    kiosk.methods["tools/list"] = lambda _: {"tools": tools}
    kiosk.methods["tools/call"] = lambda params: {"content": [{"type": "text", "text": json.dumps(MANIFEST)}]}
    serve(kiosk)


def with_manifest_in_opening() -> None:
    """Returns its manifest with its first answer."""
    kiosk = Kiosk(LEGACY[-1])
    kiosk.extras = {"service_manifest": MANIFEST}
    serve(kiosk)


def two_handshakes(*, is_hinted: bool = True, is_declared: bool = False) -> Callable[[], None]:
    """Supports both handshakes, each process one, and has its `dashdash` in the result of the legacy one alone.

    A tool of it knows dashdash where that is hinted at; it declares the legacy versions where `is_declared`.
    """

    def manner() -> None:
        stream = messages()
        first = next(stream)
        kiosk = Kiosk(MODERN) if first["method"] == "server/discover" else Kiosk(LEGACY[-1])
        if first["method"] == "initialize":
            kiosk.extras = {"dashdash": DASHDASH}
            kiosk.methods["ai_help"] = lambda _: {"content": "# Old help", "contentType": "text/markdown"}
        elif is_declared:
            kiosk.extras = {"supportedVersions": [MODERN, *LEGACY]}
        if not is_hinted:
            for method in ("tools/list", "resources/list"):
                kiosk.methods[method] = lambda _: {"tools": TOOLS[1:], "resources": []}
        say(kiosk.answer(first))
        for message in stream:
            say(kiosk.answer(message))

    return manner


MANNERS: dict[str, Callable[[], None]] = {
    "progressive": progressive(LEGACY[-1]),
    "progressive-modern": progressive(MODERN),
    "many": many,
    "odd-names": odd_names,
    "one-by-one": one_by_one,
    "lacking": lacking,
    "refusing-json-rpc": refusing("json-rpc"),
    "refusing-json-rpc-message": refusing("json-rpc-message"),
    "refusing-text": refusing("text"),
    "refusing-tool-result": refusing("tool-result"),
    "refusing-no-json": refusing("no-json"),
    "in-parts": in_parts,
    "grouped": grouped,
    "labelled": labelled,
    "skilled": skilled(),
    "skilled-wrong-digest": skilled(digest="sha256:" + "0" * 64),
    "skilled-wrong-size": skilled(size=3),
    "manifest-tool": with_manifest_tool,
    "manifest-in-opening": with_manifest_in_opening,
    "two-handshakes": two_handshakes(),
    "two-handshakes-without-a-hint": two_handshakes(is_hinted=False),
    "two-handshakes-declared": two_handshakes(is_hinted=False, is_declared=True),
    "dribbling": lambda: endless(0.05),
}

if __name__ == "__main__":
    log({"started": sys.argv[1]})
    MANNERS[sys.argv[1]]()
