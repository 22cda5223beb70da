"""Sources whose texts hold every block that Markdown has and most that only people write, for tests of the output."""

from __future__ import annotations

from typing import Any

from captured import service_of_answers
from descriptions import description, operation

from skillgen import snapshot

Json = Any

BLOCKS = {
    "headings": (
        "Setext\n======\n\nAnother\n---\n\n# First\n### Third ###\n#Hash without space\n\n***\n\nAfter a rule.\n* * *"
    ),
    "lists": (
        "Marks:\n- a\n  * b\n      + c\n\n        deep\n1. one\n   1) two\n      - three\n10. ten\n* [ ] "
        "open\n* [x] done\n-\n- last:"
    ),
    "tables": (
        "Kinds:\n\n| name | meaning |\n|:---|---:|\n| `a|b` | one \\| two |\n| short |\n\na | b\n--|--\n1 | 2\nand on"
    ),
    "fences": (
        '~~~python title="x"\nprint("# no heading")\n~~~\n```\n{"a": 1}\n```\n- item\n  ````md\n  ```\n  '
        "````\n\n~~~\nnever ended"
    ),
    "indented": (
        "Call it so:\n\n    curl -X POST https://x.example/v1 \\\n      -d '{\"a\": 1}'\n\n\tif (x) {\n"
        "\t}\n\nThen   go on."
    ),
    "html": (
        "<h2>Title</h2><p>One<br/>two</p><ul><li>a</li></ul><!-- gone --> <select name=x> & &lt;b&gt; <img "
        "src=x> <details>"
    ),
    "arguments": (
        "Does it.\n\n    Args:\n        path (str): Where it is.\n        *names: Which.\n            Goes "
        "on here.\n\n    Returns:\n        dict: What came.\n\n    Raises:\n        ValueError: if `path` "
        "is empty"
    ),
    "emphasis": (
        "**Bold:**text, __init__ and __bold__, _it_, *it*, ***both***, a*b*c, snake_case_name, 2 * 3 * 4, "
        "** open, ~~gone~~"
    ),
    "links": (
        "See [the guide][g], [g], ![alt](x.png), [local](#there), [two\nlines](https://x.example/a_(b)), "
        "<https://x.example> and www.x.example, a@b.example, (a)[b], arr[0](1), [^1]\n\n[g]: "
        "https://x.example 'Guide'\n[^1]: a note"
    ),
    "spaces": (
        "  \n\n\n  first  \nhard break\\\nagain   \n\n\n\n\ttab\tinside \n > quote\n>> deeper\nlazy\n\n> \n"
        "\n`open and ``two` ` x `\n\n"
    ),
}
"""What a text holds to a text."""

LABELS = (
    "Link",
    "here",
    "Read_Me",
    "`<select>` elements",
    "A <b>bold</b> one",
    "*x* & [y](z)",
    "c:\\dir\\",
    "N/A.",
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
