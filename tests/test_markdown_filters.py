"""Hostile text stays text: whatever a source says, it opens nothing in a document (design, "Trust").

Each filter is used in the place that it is made for, and the result is read with markdown-it: it must show the same
structure as harmless words in that place.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote

import pytest
import yaml
from captured import service_of_answers
from documents import PARSER, pieces_of, shown
from filters import each, filtered
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from properties import examples
from rows import inputs

FRAGMENTS = (
    *("<example>", "</example>", "\n<examples>\n", "\n    # ", "x = 1"),
    *("# ", "## ", "#", "=", "===", "-", "---", "***", "> ", "- ", "* ", "+ ", "1. ", "1) ", "    ", "\t", "|", " | "),
    *("|---|---|", ":-:", "```", "````", "~~~", "```sh", "`", "``", "\\", "\\\\", "!", "![", "[", "]", "](", ")", "("),
    *("[a]", "[a]:", "[a]: http://x.example", "[a](b)", "[a](http://x.example)", "[x][a]", "[^1]:", ":", "](/x)"),
    *("<", ">", "<b>", "</b>", "<!--", "-->", "<script>", "<br>", "<a href='x'>"),
    *("![a](b)", "<?", "<![CDATA[", "]]>"),
    *("<http://x.example>", "<x:y>", "<a@x.example>", "http://x.example", "<details>", "&lt;", "&#96;", "&#35;"),
    *("&", "&amp;"),
    *("$ARGUMENTS", "$ARG", "UMENTS", "${CLAUDE_SESSION_ID}", "$", "{", "!`ls`", "{{ x }}", "{% x %}", "{# x #}"),
    *("\n", "\n\n", "\r", "\r\n", " ", "  \n", "\x0b", "\x0c", "\x85", "\u2028", "\u2029", "\xa0", "\u3000"),
    *("\x00", "\x01", "\x02", "\x03", "\x1b[31m", "\x7f", "\x9b", "\u200b", "\u202e", "\ufeff", "\U000e0041", "\ud800"),
    "\uffff",
    *("a", "b", "word", "Two words.", "é", "日本", "0", "12", ".", ",", "*", "**", "_", "~", "'", '"', "@", "%", "^"),
)  # fmt: skip
SIGNS = "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
"""Signs that Python calls not printable, but that a reader sees; what is not assigned yet is a box."""

HOSTILE = st.one_of(
    st.lists(st.sampled_from(FRAGMENTS), max_size=14).map("".join),
    st.text(st.sampled_from("#-=>*+1.)`~|<!&[](): \t\n\\$a"), max_size=24),
    st.text(st.characters(exclude_categories=["Cn"], exclude_characters=SIGNS), max_size=20),
)
LINES = st.lists(HOSTILE, max_size=6).map("\n".join)

NEVER_INLINE = {"html_inline", "foreign link", "image"}
NEVER_BLOCK = NEVER_INLINE | {"heading_open", "html_block", "table_open", "hr"}

many = settings(max_examples=examples(400))
some = settings(max_examples=examples(150))


LINKING_PARSER = MarkdownIt("gfm-like")
"""Reads Markdown as GitHub does: bare addresses are links."""


def parsed(text: str) -> tuple[list[Token], dict[str, Any]]:
    """Returns the tokens of a document and the link definitions in it."""
    env: dict[str, Any] = {}
    return PARSER.parse(text, env), env.get("references", {})


def visible(text: str) -> str:
    """Returns what can be seen of a text, without its spaces and sequences for a terminal."""
    text = re.sub(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-~]|[\U000e0100-\U000e01ef]", "", text)
    return "".join(character for character in text if character.isprintable() and not character.isspace())


def structure(tokens: list[Token]) -> list[str]:
    return [token.type for token in tokens]


def inner(tokens: list[Token]) -> list[Token]:
    """Returns the inline tokens; a link that leads neither to the web nor to a mailbox is a "foreign link"."""
    found = [child for token in tokens for child in token.children or ()]
    for child in found:
        if child.type == "link_open" and not re.match("https?://|mailto:", str(child.attrs.get("href"))):
            child.type = "foreign link"
    return found


def assert_like_harmless_words(place: str, safe: str) -> list[Token]:
    """Checks that a text in a place shows the structure that a word has there."""
    tokens, definitions = parsed(place.replace("TEXT", safe))
    harmless, _ = parsed(place.replace("TEXT", "word"))
    assert structure(tokens) == structure(harmless)
    assert not {child.type for child in inner(tokens)} & NEVER_INLINE
    assert definitions == {}
    return tokens


EVERY_FILTER = ("inline", "paragraph", "block", "code", "value", "fence", "heading", "label", "url")

WITH_ADDRESSES = st.lists(
    st.sampled_from((*FRAGMENTS, *("https://x.example/a", "www.x.example", "x://", "<img src=x>") * 12)), max_size=8
).map("".join)


@some
@given(text=WITH_ADDRESSES)
@example("https://x.example/a<img src=x>")
@example("https://x.example/`<img src=x>`")
@example("www.x.example\\\\`<img src=x>`")
def test_an_address_that_becomes_a_link_by_itself_frees_no_html(text: str) -> None:
    """X-52, S0-25: such a link takes the backslash or the tick that follows it, and what they kept from being HTML."""
    (results,) = filtered([text], *EVERY_FILTER)
    for name, safe in zip(EVERY_FILTER, results, strict=True):
        place = "[word](TEXT)\n" if name == "url" else "word\n\nTEXT\n"
        tokens = LINKING_PARSER.parse(place.replace("TEXT", safe))
        types = {token.type for token in (*tokens, *inner(tokens))}
        assert not types & {"html_inline", "html_block", "image"}, name


@many
@given(text=LINES)
@example("!`ls`")
@example("a `!`ls` b")
@example("done!")
@example("!![`ls`](x)")
@example("a\u200b!\u200b`ls`")
@example("```\n!`ls`\n```")
@example("$ARGUMENTS")
@example("\\$ARGUMENTS")
@example("$[ARGUMENTS](x)")
@example("$ARGU\u200bMENTS ${CLAUDE_SESSION_ID}")
@example("```\n$ARGUMENTS\n```")
def test_nothing_is_left_that_a_host_would_run_or_that_cannot_be_seen(text: str) -> None:
    """X-52, S0-25: an exclamation mark right before a backtick runs what follows."""
    (results,) = filtered([text], *EVERY_FILTER)
    for name, result in zip(EVERY_FILTER, results, strict=True):
        assert not re.search(r"!`|\$ARGUMENTS|\$\{CLAUDE_", result), name
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]", result), (
            name
        )
        assert not re.search("[\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff\U0010ffff\U000e0000-\U000e0fff]", result), name


LINES_OF_DOCUMENTS = (
    *("Words: TEXT end.", "- `name` (string): xTEXT", "1. xTEXT.", "## Heading TEXT", "> xTEXT", "- a\n  - b: TEXT"),
)


@many
@given(text=HOSTILE)
@example("<[b](x)>")
@example("<[!--](x) b -->")
@example("<<http://x.example>>")
@example("[[a](b)](c)")
@example("```<b>```")
@example("***")
@example("<br># a")
@example("![# a](b)")
@example("[~~~](b)")
def test_text_inside_a_line_or_of_a_paragraph_stays_inside_it(text: str) -> None:
    """X-52, S0-25: and a code span holds the text and nothing else, a heading shows the exact name."""
    ((inline, paragraph, code, heading),) = filtered([text], "inline", "paragraph", "code", "heading")
    for place in LINES_OF_DOCUMENTS:
        assert_like_harmless_words(place, inline)
    if paragraph:
        assert_like_harmless_words("Before.\n\nTEXT\n\n## After\n\nend", paragraph)
    (line,) = [token for token in assert_like_harmless_words("- `name` TEXT, end", code) if token.type == "inline"]
    assert [piece.kind for piece in pieces_of(line)] == ["code", "text", "code", "text"]
    assert visible(pieces_of(line)[2].text) == (visible(text) or '""')
    if visible(text):
        assert visible(shown(assert_like_harmless_words("## TEXT\n\nend", heading)[1])) == visible(text)


@many
@given(text=LINES)
@example("[a\nb](http://x.example)")
@example("[a\nb]: http://x.example\n\n[a b]")
@example("a `b\n# c` d")
@example("<[b](x)>")
@example("***")
@example("a\n-")
@example("<br># a")
@example("<br>~~~")
@example("![# a](b)")
@example("# # a *b*")
@example("# ~~~ *")
@example("# <br>")
@example("a\n- # ")
@example("- - # a")
@example("> - # a")
@example("> a\n> ===")
@example("- a\n  ```\n  b\n# c")
def test_a_longer_text_ends_where_its_place_ends_and_opens_no_heading(text: str) -> None:
    """X-52, S0-25: paragraphs, lists, quotes and code blocks are all that it shows; a code block only itself."""
    ((block, fence),) = filtered([text], "block", "fence('json')")
    tokens, definitions = parsed(f"Before.\n\n{block}\n\n## After\n\nend")
    rest, after = tokens[:-6], tokens[-6:]
    assert structure(after) == structure(parsed("## After\n\nend")[0])
    assert (after[0].level, shown(after[1])) == (0, "After")
    assert not {token.type for token in rest} & NEVER_BLOCK
    assert not {child.type for child in inner(rest)} & NEVER_INLINE
    assert definitions == {}
    tokens, definitions = parsed(f"Before.\n\n{fence}\n\n## After\n\nend")
    assert structure(tokens) == structure(parsed("Before.\n\n```json\na\n```\n\n## After\n\nend")[0])
    assert definitions == {}


@given(data=st.recursive(st.none() | st.booleans() | st.integers() | HOSTILE, st.lists, max_leaves=5))
def test_a_json_value_is_a_code_span(data: Any) -> None:
    """X-52."""
    tokens = assert_like_harmless_words("- Default: TEXT.", *each("value", [data]))
    (inline,) = [token for token in tokens if token.type == "inline"]
    assert [piece.kind for piece in pieces_of(inline)] == ["text", "code", "text"]


NAMES = [
    *("get_a", "a/b", "a.b-c", "*all*", "_x_", "a_b_c", "get users", "#1", "1. a", "<T>", "a|b", "`x`", "[x](y)"),
    *("&amp;", "\\", "a\\b", "~x~", "$ARGUMENTS", "!`ls`", "日本", "é", "a#", "a #", "# a", "-", "=", "+ a", "{{ x }}"),
    *("a:b", "_links", "_links (2)", "_meta_data", "type_", "a._b_.c", "__init__", "_", "a_ _b", "_a *b*", "\\_a"),
]


def test_a_heading_shows_names_of_every_kind() -> None:
    for name, heading in zip(NAMES, each("heading", NAMES), strict=True):
        tokens, _ = parsed(f"## {heading}\n\nend")
        assert structure(tokens)[:3] == ["heading_open", "inline", "heading_close"]
        assert visible(shown(tokens[1])) == visible(name)
        assert not {child.type for child in inner(tokens)} & (NEVER_INLINE | {"em_open", "strong_open"})
        assert visible(name) in visible(heading)  # also for those who read the file


def test_a_name_is_code_in_a_heading_only_where_it_must_be() -> None:
    names = ["_links", "_links (2)", "_meta_data", "type_", "a_ _b"]
    assert each("heading", names) == names
    assert each("heading", ["_x_", "a._b_.c"]) == ["`_x_`", "`a._b_.c`"]


@many
@given(label=HOSTILE, url=HOSTILE)
def test_a_link_stays_one_link_with_its_label_and_its_address(label: str, url: str) -> None:
    """X-31, X-52."""
    (safe_label, _), (_, safe_url) = filtered([label, url], "label", "url")
    if not safe_label or not safe_url:
        return
    tokens, definitions = parsed(f"- [{safe_label}]({safe_url}): note")
    children = [child.type.replace("foreign link", "link_open") for child in inner(tokens)]
    assert structure(tokens) == structure(parsed("- [a](b): note")[0])
    assert children.count("link_open") == 1
    assert children[0] == "link_open"
    assert not set(children) & {"html_inline", "image"}
    assert definitions == {}
    assert not set("[]") & set(safe_label)
    assert not set("() <>") & set(safe_url)
    (link,) = [child for child in inner(tokens) if child.type in ("link_open", "foreign link")]
    assert visible(unquote(str(link.attrs["href"]))) == visible(unquote(url))


# -- front matter ----------------------------------------------------------------------------------------------------

FIELDS = st.dictionaries(
    st.sampled_from(["name", "description", "install", "requires"]),
    HOSTILE | st.lists(HOSTILE, max_size=3) | st.dictionaries(st.sampled_from(["npm", "pip"]), HOSTILE, max_size=2),
)


@many
@given(fields=FIELDS)
def test_front_matter_holds_its_fields_and_nothing_else(fields: dict[str, Any]) -> None:
    """X-26, X-52, S0-43: block style, without comments, anchors, tags and dashes inside a value."""
    (text,) = each("front_matter", [fields])
    first, *body, last = text.split("\n")
    assert (first, last) == ("---", "---")
    assert not any("---" in line for line in body)
    read = yaml.safe_load("\n".join(body))
    assert (read or {}).keys() <= fields.keys()
    for key, value in (read or {}).items():
        assert readable(value) == readable(fields[key])
    for line in body:
        assert re.match(r"\s*(?:- )?\S", line) or line in ("", "{}")
        assert not re.match(r"\s*(?:- )?(?:\w+: )?[\[{&*!#]", line) or line == "{}", line


def readable(value: Any) -> Any:
    """Returns a field with as much of its texts as any front matter keeps: letters and digits."""
    if isinstance(value, str):
        return "".join(filter(str.isalnum, visible(value)))
    if isinstance(value, list):
        return [readable(item) for item in value]
    return {key: readable(item) for key, item in value.items()}


def test_front_matter_keeps_words_words() -> None:
    """X-23: also for readers of YAML 1.1."""
    words = ["no", "on", "null", "~", "1.0", "0x1F", "12:30", "2024-01-01", "true", "=", "<<"]
    texts = each("front_matter", [{"version": word} for word in words])
    assert [yaml.safe_load(text.strip("-"))["version"] for text in texts] == words


# -- what a text keeps -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        *("Plain words, with (parentheses), a_name, 2 * 3 and a-b.", "A `code` span, **bold** and *emphasis*."),
        *("One paragraph.\n\nAnother.", "- one\n- two\n  - three", "1. one\n2. two"),
        *("```json\n{\n  \"a\": [1]\n}\n```", "Mail me at a@x.example; 5 < 6 and 7 > 3."),
    ],
)  # fmt: skip
def test_harmless_markdown_is_not_changed(text: str) -> None:
    assert each("block", [text]) == [text]


@pytest.mark.parametrize(("text", "written"), inputs("markdown_filters")["blocks"])
def test_the_blocks_of_a_text_are_written_one_way(text: str, written: str) -> None:
    """Issue 5: what people write in many ways reads the same, and a second time changes nothing."""
    assert each("block", [text, written]) == [written, written]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("See https://x.example/_search?q=*.*&a=_b_ or *.json",
         "See https://x.example/_search?q=*.*&a=_b_ or *.json"),
        ("At https://x.example/~a?$top=5 and www.x.example/[b]",
         "At https://x.example/~a?$top=5 and www.x.example/[b]"),
        ("Use xmpp:a@x.example, WWW.x.example or ftp://x.example.",
         "Use `xmpp:a@x.example`, `WWW.x.example` or `ftp://x.example`."),
        ("_www.x.example/<b> and https://x.example/`<b>`", "`_www.x.example/<b>` and https://x.example/ `<b>`"),
    ],
)  # fmt: skip
def test_a_bare_address_works_and_takes_nothing_along(text: str, shown: str) -> None:
    """X-52: it stays unchanged; what is not of the web or of mail, or has a tag, is code."""
    assert each("inline", [text]) == [shown]


def test_a_link_to_the_web_keeps_its_words_and_its_address() -> None:
    assert each("inline", ["See [the guide](https://x.example/a)."]) == ["See [the guide](https://x.example/a)."]


def test_front_matter_has_no_null_for_what_nobody_declares() -> None:
    """X-23: `metadata` maps texts to texts; a server need not have a version."""
    fields = [{"name": "a", "metadata": {"version": None}}, {"metadata": {"a": "b", "version": None}}]
    assert each("front_matter", fields) == ["---\nname: a\n---", "---\nmetadata:\n  a: b\n---"]


def first_sentence(text: str) -> str:
    """Returns the summary of a tool that has this description."""
    entry = {"name": "keep_tasks", "description": text}
    (tool,) = service_of_answers({"tools/list": [{"tools": [entry]}]}).tools
    return tool.summary or ""


def test_tags_within_a_line_leave_no_space_and_those_that_end_a_line_do() -> None:
    """S0-25: `With Connect, you can`, as a browser shows it."""
    text = '<p>With <a href="/connect">Connect</a>, you <b>can</b>not.</p><p>Two.</p>'
    assert first_sentence(text) == "With Connect, you cannot."


@pytest.mark.parametrize(("text", "shown"), inputs("markdown_filters")["html"])
def test_a_description_in_html_reads_like_one_in_markdown(text: str, shown: str) -> None:
    """S0-25, issue 5, "Beauty": lists stay lists, code is code, and no tag is left."""
    assert each("block", [text]) == [shown]


def test_a_value_of_front_matter_without_end_is_cut() -> None:
    """X-13: a version of a million characters was written anew for each form of SKILL.md."""
    (text,) = each("front_matter", [{"version": "v" * 1_000_000}])
    assert len(text) < 5_000
    assert text.endswith("…\n---")


# -- byte for byte ---------------------------------------------------------------------------------------------------

LITERALS = (
    r"^docs\.example\.com$",
    "title~\"Meeting*\"",
    "~/docs and ~/x",
    "*/5 * * * *",
    "a|b or c | d",
    "$5 and $6, US$7",
    "'**/*.ext' matches /api/.*user",
    "() => { /* code */ } or (x) => { /* code */ }",
    "__init__, snake_case, _it_ and *it*",
    r"C:\dir\file and \d+\.\d*",
    "a `code` span, ``double`` and [0-9]{3}",
    "a@x.example, #1, @alice and @scope/name",
    "5 < 6 && 7 > 3, Q&A, AT&T",
    "See [the guide](https://x.example/a?b=c#d), https://x.example/~a[0]",
    "{\"a\": [1, {\"b\": 2}]} and /users/{id}",
    "m\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 and \U0001f468\u200d\U0001f4bb",
)  # fmt: skip


@pytest.mark.parametrize("text", LITERALS)
def test_a_text_without_structure_is_written_byte_for_byte(text: str) -> None:
    """Documents, section 7: agents read the raw file; no backslash is added."""
    text = f"Takes {text}"
    assert filtered([text], "inline", "paragraph", "block") == [(text,) * 3]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("<id> and /v1/<id>/x, List<String>.", "`<id>` and `/v1/<id>/x`, `List<String>`."),
        ("node-id=<nodeId> at https://x.example/?n=<n>", "`node-id=<nodeId>` at `https://x.example/?n=<n>`"),
        ("![logo](https://x.example/a.png) [here](/docs) a[0](1)",
         "[logo](https://x.example/a.png) here a[0] (1)"),
        ("See [`f`](#f/{id}), ![pic](data:image/png;base64,AA==)[x](./y \"t\") `[a](/b)`", "See `f`, picx `[a](/b)`"),
        ("<[scr](#a)ipt> [x](javascript:1)", "`<script>` `[x](javascript:1)`"),
        ("As [name](:/id), [`T`](a::T) [or](x://(y))", "As `[name](:/id)`, `` [`T`](a::T) `` [or] (`x://(y`))"),
        ("Matches /(?i)^[a-z]+$/, or ^[+]*", "Matches `/(?i)^[a-z]+$/`, or `^[+]*`"),
        ("A &amp; b&#58; &lt;!-- x --&gt; `&lt;` p&shy;re<wbr>fi&zwj;x", "A & b: `<!-- x -->` `&lt;` prefix"),
        ("##Start here", "Start here"),
        ('Of ["https://x.example", "tls://1.1.1.1"]', 'Of `["https://x.example", "tls://1.1.1.1"]`'),
        ('Of {"a": {"ids": [1, "<id>"]}}, "tls://1.1.1.1"', 'Of `{"a": {"ids": [1, "<id>"]}}`, `"tls://1.1.1.1"`'),
        ("[x]: https://x.example", "[x] : https://x.example"),
        ("a MySQL ` tick", "a MySQL `` ` `` tick"),
        ("a\u2028b\u2029c\u0085d\u000be\u000cf", "a b c d e f"),
        ("\x1b[1mLists\x1b[0m \x1b]8;;http://x\x07it", "Lists it"),
    ],
)  # fmt: skip
def test_what_a_parser_would_take_for_more_is_code_or_broken(text: str, written: str) -> None:
    """X-52: with the word around a tag, which stays one literal."""
    assert each("paragraph", [text]) == [written]


def test_tags_that_only_group_lines_are_dropped() -> None:
    text = "\n<use_case> This moves it.\n</use_case>\n\n<notes>\n- a\n</notes>\n\nOf <id>."
    assert each("block", [text]) == ["This moves it.\n\n- a\n\nOf `<id>`."]
    xml = "Send <user><name>x</name><age>3</age></user> as XML."
    assert "<user><name>x</name><age>3</age></user>" in each("block", [xml])[0]
