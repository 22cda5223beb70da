"""Sources whose texts hold every block that Markdown has and most that only people write, for tests of the output."""

from __future__ import annotations

from typing import Any

from captured import service_of_answers
from descriptions import description, operation
from rows import inputs

from skillgen import snapshot

Json = Any

BLOCKS: dict[str, Any] = inputs("markdown_blocks")["blocks"]
"""What a text holds to a text."""

LABELS = (
    *("Link", "here", "Read_Me", "`<select>` elements", "A <b>bold</b> one", "*x* & [y](z)", "c:\\dir\\", "N/A."),
    "-",
)
"""Names of groups and tags."""


def ugly_description() -> Json:
    """Returns a description in which each text is wherever a description may have one."""
    paths: dict[str, Json] = {}
    for number, (kind, text) in enumerate(BLOCKS.items()):
        label = LABELS[number % len(LABELS)]
        extra = {"description": text, "tags": [label], "summary": text.split("\n", 1)[0]}
        schema = {"$ref": "#/components/schemas/Link"} if number % 2 else {"type": "string", "description": text}
        query = {"name": f"q[{kind}]", "in": "query", "description": text, "schema": schema}
        answer = {
            "description": text,
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/here"}}},
        }
        members = {**extra, "parameters": [query], "responses": {"200": answer, "404": {"description": text}}}
        paths[f"/{kind}"] = {"get": {**operation(f"{kind}_get"), **members}}
        body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Link"}}}, "description": text}
        paths[f"/{kind}/{{id}}"] = {
            "put": {
                **operation(f"put<{kind}>"),
                **extra,
                "requestBody": body,
                "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}],
            }
        }
    properties = {kind: {"type": "string", "description": text} for kind, text in BLOCKS.items()}
    link = {"type": "object", "description": BLOCKS["tables"], "properties": properties}
    here = {
        "type": "object",
        "properties": {"link": {"$ref": "#/components/schemas/Link"}, "_x_": {"enum": ["|", "`", ""]}},
    }
    info = {"title": "Ugly_ `API` <v1>.", "version": "1.0", "description": "\n\n".join(BLOCKS.values())}
    return description(
        paths,
        info=info,
        tags=[{"name": label, "description": text} for label, text in zip(LABELS, BLOCKS.values(), strict=False)],
        components={"schemas": {"Link": link, "here": here}},
    )


def small_description(kind: str) -> Json:
    """Returns a description of one operation without a summary, which says one text wherever it says something."""
    text = BLOCKS[kind]
    query = {"name": "q", "in": "query", "description": text, "schema": {"enum": ["", "|", text]}}
    return description(
        {"/": {"get": {"description": text, "parameters": [query], "responses": {"default": {"description": text}}}}},
        info={"title": f"{kind} <&> _x_", "version": "1", "description": text},
    )


def ugly_snapshot() -> Json:
    """Returns the snapshot of a server that says all of it: of itself, of tools, prompts and resources."""
    everything = "\n\n".join(BLOCKS.values())
    answers: dict[str, Json] = {
        "initialize": {
            "serverInfo": {
                "name": "ugly",
                "title": "Ugly_ `server` <v1>.",
                "version": "1",
                "description": BLOCKS["lists"],
            },
            "instructions": everything,
            "capabilities": {"tools": {}, "prompts": {}, "resources": {}},
        },
        "tools/list": [{"tools": [_tool(kind, text) for kind, text in BLOCKS.items()]}],
        "prompts/list": [
            {"prompts": [{"name": kind, "title": f"<{kind}>", "description": text} for kind, text in BLOCKS.items()]}
        ],
        "resources/list": [
            {
                "resources": [
                    {"uri": f"ugly://{kind}/a_b_[c]", "name": f"_{kind}_ & <b>", "description": text}
                    for kind, text in BLOCKS.items()
                ]
            }
        ],
    }
    return snapshot(service_of_answers(answers))


def _tool(kind: str, text: str) -> Json:
    properties = {name: {"type": "string", "description": BLOCKS[name]} for name in (kind, "html")}
    return {
        "name": f"{kind}_tool",
        "title": f"The {kind}: _ugly_ <x>",
        "description": text,
        "inputSchema": {"type": "object", "properties": properties, "required": [kind]},
        "outputSchema": {"type": "object", "description": text, "properties": properties},
    }
