"""Checks what a person wrote about a service: the names, calls, versions and URLs in it that the service does not have.

A name is checked only where its place says what it names (docs/rules.md lists the rules). What the texts of the source
write anywhere is known.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urlsplit

from msgspec.structs import replace

from skillgen.errors import Problem, ProblemLog
from skillgen.mock.answers import CallLog
from skillgen.mock.api import ApiMock, base_paths, request_of_words
from skillgen.model.schema import Types
from skillgen.model.service import Service
from skillgen.model.values import Json, follow, to_json
from skillgen.rules.checks import ToolNames, meant, words_in
from skillgen.security.secrets import host_of
from skillgen.sources.examples.validation import Validator
from skillgen.sources.json_access import json_or_none
from skillgen.text import lazy_re as re
from skillgen.text.markdown import json_text, one_line
from skillgen.text.yaml_core import YamlError, parse_yaml

if TYPE_CHECKING:
    from markdown_it.token import Token

_TEXT_LIMIT = 400_000
"""Characters of a text that are read."""

_PART_LIMIT = 4_000
"""Characters of a line, a code span and the arguments of a call that are read."""

_FINDINGS_LIMIT = 500

# -- prose -------------------------------------------------------------------------------------------------------------


def check_texts(texts: Mapping[str, str], service: Service) -> Iterator[Problem]:
    """Yields what texts in Markdown say of a service and the service does not have; `texts` has them by place.

    The problems of a file, a place that ends in `.md`, are at `PLACE:LINE`.
    """
    from markdown_it import MarkdownIt

    check, parser = _Check(service), MarkdownIt("commonmark").enable("table")
    tools = {tool.name for tool in service.tools}
    for where, text in texts.items():
        check.is_file = where.endswith(".md")
        lines, blocks = text[:_TEXT_LIMIT].split("\n"), parser.parse(text[:_TEXT_LIMIT])
        spans = {child.content for token in blocks for child in token.children or () if child.type == "code_inline"}
        check.has_names = service.kind != "openapi" or not check.is_file or not spans.isdisjoint(tools)
        parts = [(number, check.line(line[:_PART_LIMIT])) for number, line in enumerate(lines, 1)]
        parts += [(token.map[0] + 1 if token.map else 1, check.block(token)) for token in blocks if token.content]
        found: dict[str, Problem] = {}
        for line, code, message in islice(((line, *item) for line, part in parts for item in part), _FINDINGS_LIMIT):
            place = f"{where}:{line}" if check.is_file else where
            found.setdefault(message, Problem.of(code, place, one_line(message)))
        yield from found.values()


def unmentioned_tools(texts: Iterable[str], service: Service) -> list[str]:
    """Returns the names of the tools that no text mentions; of an API also by path, of a program by command."""
    whole = "\n".join(texts)
    words = set(_IDENTIFIER.findall(whole))
    others = {tool.name: " ".join(tool.command) or tool.path for tool in service.tools}
    return [name for name, other in others.items() if name not in words and not (other and other in whole)]


_IDENTIFIER = re.compile(r"[A-Za-z_][\w-]*")
_FLAG = re.compile(r"(?<![\w-])--[A-Za-z][\w-]*")
_SPAN = re.compile(r"(?P<name>[A-Za-z][\w-]*)\s*(?P<rest>[({].*)?", re.DOTALL)
_MCP_NAME = re.compile(r"\bmcp__([A-Za-z0-9_-]+?)__([A-Za-z0-9][\w-]*\w)(?![\w*-])")
_CAPITALS = re.compile(r"\$?\{?([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\}?(?:=.*)?")
_SETTING = re.compile(r"([A-Za-z_][\w.-]*)\s*[=:]\s*[\"']?([A-Za-z][\w.-]*)[\"']?")
_PATH = re.compile(r"((?:GET|POST|PUT|PATCH|DELETE|HEAD) )?(/[^\s`?]+)(?:\?\S*)?")
_HOLE = re.compile(r"\{[^}/]{0,100}\}|<[^>/]{0,100}>|:[A-Za-z_]\w*(?=/|$)|\$\w+")
_URL = re.compile(r"https?://[^\s<>\"'`)\[\]]+")
_PINNED = re.compile(r"(?<![@\w/.-])([@\w/.-]+)(?:@|==)v?(\d+\.\d+\.\d+[\w.-]*)")
_SHELL_VARIABLE = re.compile(r"\$\{?[A-Za-z_]\w*\}?")
_NAME_OF_RESOURCE = re.compile(r"/v\d\w*/\{")
"""The start of a path whose variable has several segments, in APIs of Google."""

_VERSION = re.compile(r"/v\d+(?:\.\d+)*(?=/|$)")
_PARAMETER = re.compile(r"(?:--)?[A-Za-z_][\w-]*")
_NOUNS = r"(?:parameter|argument|option|flag)s?\b"
_AFTER, _BEFORE = re.compile(rf" {_NOUNS}"), re.compile(rf"\b{_NOUNS} $")
_PLACEHOLDER = re.compile(r"[<{$\[]|\.\.\.|…|YOUR|your[-_]|xxx")
_UNCHECKED = re.compile(r"token|key|auth|is not JSON", re.IGNORECASE)
"""Faults of credentials, which a header may have, and of a body with comments."""

_Findings: TypeAlias = "Iterator[tuple[str, str]]"
"""Codes with messages."""


def source_text(service: Service) -> str:
    """Returns all that a service declares as one text, with the line breaks of its texts."""
    return re.sub(r"\\[nrt]", "\n", json_text(to_json(service)))


class _Check:
    """Checks texts on one service."""

    def __init__(self, service: Service) -> None:
        source = source_text(service)
        self._service, self._kind, self.is_file = service, service.kind, False
        self.has_names = True
        """False for a file on an API that names none of its operations, but may name functions of a client."""
        self._tools = {tool.name: tool for tool in service.tools}
        self._names = ToolNames(service)
        self._known = set(_IDENTIFIER.findall(source))
        self._helps = {tool.command: tool.help for tool in service.tools if tool.help}
        self._helps |= {tuple(section.title.split()): section.body for section in service.sections if self._helps}
        self._has_only_lists = any("only the lists are read" in item.message for item in service.problems)
        # Help texts list neither all variables nor all options.
        variables = () if self._helps else self._known if self._kind == "cli" else service.requirements.env
        self._variables = {name for name in variables if _CAPITALS.fullmatch(name)}
        flags = _FLAG.findall(source)
        self._flags = {*flags, *(f"--no-{flag[2:]}" for flag in flags)}
        self._commands = {tool.command: tool for tool in service.tools if tool.command}
        self._paths = {f"{tool.method} {_HOLE.sub('{}', tool.path)}": tool.path for tool in service.tools if tool.path}
        self._hosts = {host_of(endpoint.url) for endpoint in service.endpoints} - {None}
        self._validator = Validator(Types.of(service.schemas), is_request=self._kind == "openapi")
        self._log = CallLog(keeps=True)

    @cached_property
    def _mock(self) -> ApiMock:
        # Of a call without credentials the mock would check nothing else.
        tools = tuple(replace(tool, auth=()) for tool in self._service.tools)
        return ApiMock(replace(self._service, tools=tools), log=self._log)

    # -- lines and spans ---------------------------------------------------------------------------------------------

    def line(self, line: str) -> _Findings:
        """Checks what needs no code span: tools after a verb, `mcp__SERVER__TOOL`, URLs and versions."""
        for name in self._names.missing_in(line):
            yield from self._tool(name)
        own = words_in(f"{self._service.name} {self._service.server_name or ''}")
        for server, name in _MCP_NAME.findall(line):
            if not set(own).isdisjoint(words_in(server)) and name not in self._names.names:
                yield "unknown-tool-named", f"names the tool {name[:80]}{self._names.meant(name)}"
        for url in _URL.findall(line):
            for endpoint in self._service.endpoints if host_of(url) in self._hosts else ():
                if _is_other_address(url, endpoint.url):
                    yield "source-differs", f"has the URL {url[:120]}, the source {endpoint.url[:120]}"
        version, packages = self._service.version, {self._service.name, *(self._service.install or {}).values()}
        for name, written in _PINNED.findall(line):
            if name in packages and version and written != version:
                yield "source-differs", f"has the version {written} of {name}, the source {version}"

    def block(self, token: Token) -> _Findings:
        """Checks the code spans of a paragraph, or a code block."""
        children = token.children or []
        # A skill may be about other things as well.
        is_about = not self.is_file or any(child.content in self._tools for child in children)
        texts = ["", *(child.content for child in children), ""]
        for index, child in enumerate(children, 1):
            span = child.content.strip()
            if child.type == "code_inline" and len(span) < _PART_LIMIT:
                yield from self._span(span)
                if is_about and (_AFTER.match(texts[index + 1]) or _BEFORE.search(texts[index - 1])):
                    yield from self._parameter(span)
                if is_about and (match := _SETTING.fullmatch(span)):
                    yield from self._value(match[1], match[2])
        if token.type != "inline":
            yield from self._code(token.content)

    def _tool(self, name: str) -> _Findings:
        if self.has_names and name not in self._known and self._names.is_missing(name):
            yield "unknown-tool-named", f"names the tool {name[:80]}{self._names.meant(name)}"

    def _parameter(self, span: str) -> _Findings:
        # The options of a server are not those of its tools.
        known = self._known if not span.startswith("-") else self._flags if self._kind == "cli" else {span}
        if span not in known and _PARAMETER.fullmatch(span):
            names = {item.name for tool in self._service.tools for item in tool.parameters}
            yield "unknown-name", f"names the parameter {span[:80]}{meant(span, names)}"

    def _span(self, span: str) -> _Findings:
        if self._kind == "cli":
            yield from self._commands_in(span)
        elif (match := _SPAN.fullmatch(span)) and match["name"] in self._tools:
            yield from self._call(match["name"], match["rest"] or "")
        # Clients of an API may have functions of the same words.
        elif match and (self._kind == "mcp" or self._names.is_in_style(match["name"])):
            yield from self._tool(match["name"])
        elif self._kind == "openapi" and (match := _PATH.fullmatch(span)):
            yield from self._path(match[1] or "", match[2].rstrip("/"))
        if (match := _CAPITALS.fullmatch(span)) and match[1] not in self._known:
            same = [name for name in self._variables if name.split("_")[0] == match[1].split("_")[0]]
            if same:
                yield "unknown-name", f"names {match[1][:80]}{meant(match[1], same, same[0])}"

    def _value(self, name: str, value: str) -> _Findings:
        owners = [item for tool in self._service.tools for item in tool.parameters if item.name == name]
        choices = [str(value) for item in owners for value in item.schema.choices or ()]
        if owners and all(item.schema.choices for item in owners) and value not in choices:
            yield "unknown-name", f"names {value[:80]}, which is not a value of {name}{meant(value, choices)}"

    def _path(self, method: str, path: str) -> _Findings:
        base = next((base for base in base_paths(self._service) if base and path.startswith(f"{base}/")), "")
        shape, known = _HOLE.sub("{}", path[len(base) :]), [key.split(" ", 1) for key in self._paths]
        is_own = any(other.split("/")[1:2] == shape.split("/")[1:2] for _, other in known)
        if is_own and not any(verb == (method.strip() or verb) and _is_begin(shape, other) for verb, other in known):
            names = {f"{method}{path}" for key, path in self._paths.items() if key.startswith(method)}
            yield "unknown-name", f"names the path {method}{path[:120]}{meant(f'{method}{path}', names)}"

    # -- calls -------------------------------------------------------------------------------------------------------

    def _code(self, code: str) -> _Findings:
        for match in _IDENTIFIER.finditer(code) if self._kind == "mcp" else ():
            name = match[0].rpartition("__")[2] if match[0].startswith("mcp__") else match[0]
            if name in self._tools:
                rest = code[match.end() : match.end() + _PART_LIMIT].lstrip(" ")
                yield from self._call(name, _balanced(rest) if rest.startswith(("(", "{")) else "")
        if self._kind == "mcp":
            yield from self._json_calls(_literal(code))
        yield from self._commands_in(code)

    def _json_calls(self, value: Json) -> _Findings:
        for inner in value if isinstance(value, list) else value.values() if isinstance(value, dict) else ():
            yield from self._json_calls(inner)
        if isinstance(value, dict):
            names = [value.get(key) for key in ("name", "tool", "tool_name")]
            arguments = [value.get(key) for key in ("arguments", "args", "params", "input", "parameters")]
            for name in filter(self._tools.__contains__, map(str, names)):
                yield from (
                    item for given in arguments if isinstance(given, dict) for item in self._faults(name, given)
                )

    def _call(self, name: str, text: str) -> _Findings:
        """Checks `({…})`, `(name=…)` or `{…}` after the name of a tool."""
        arguments = _literal(text) if text not in ("", "()") else None
        if self._kind == "mcp" and isinstance(arguments, dict):
            yield from self._faults(name, arguments)

    def _faults(self, name: str, arguments: dict[str, Json]) -> _Findings:
        tool, is_partial = self._tools[name], "..." in arguments
        given = {name: value for name, value in arguments.items() if name != "..."}
        declared = {item.name for item in tool.parameters}
        unknown = sorted(given.keys() - declared) if tool.is_input_declared else []
        for key in unknown:
            yield "call-refused", f"calls {name} with {key[:80]}, which it does not take{meant(key, declared)}"
        for fault in self._validator.faults(given, tool.arguments_schema()):
            key = fault.pointer.split("/")[1] if fault.pointer else ""
            is_partial_fault = is_partial and fault.message == "is required"
            if key not in unknown and not is_partial_fault and not _is_open(given.get(key, "")):
                yield "call-refused", f"calls {name} with {fault.pointer or '/'}: {fault.message[:200]}"

    def _commands_in(self, code: str) -> _Findings:
        for words in commands_in(code):
            if words[:2] == ["bash", "-c"] and len(words) > 2:
                yield from self._commands_in(words[2])
            elif self._kind == "cli":
                yield from self._command(words)
            elif self._kind == "openapi" and words[0] == "curl":
                yield from self._request(words)

    def _request(self, words: list[str]) -> _Findings:
        url = next((word for word in words if "://" in word), "")
        path, bases = f"/{url.split('://', 1)[-1].partition('/')[2]}/", base_paths(self._service)
        # A host may have other APIs, and what a shell inserts may be anything, as is what dots leave out.
        is_own = host_of(url) in self._hosts and any("{" in base or path.startswith(f"{base}/") for base in bases)
        if not is_own or any("$(" in word for word in words) or "..." in path or "…" in path:
            return
        self._log.calls.clear()
        with suppress(ValueError):
            self._mock.respond(request_of_words([_SHELL_VARIABLE.sub("<x>", word) for word in words]))
        # A value is in a file, or the body is not complete.
        is_partial = any("@" in word or "..." in word or "…" in word for word in words)
        # What is inserted into a path may have a slash, such as `OWNER/NAME` for a repository.
        has_slash = _HOLE.search(url.partition("?")[0]) or any(map(_NAME_OF_RESOURCE.match, self._paths.values()))
        # Servers read and return more media types than they declare.
        ignored = [406, 415, *([404] if has_slash else [])]
        faults = [(call, fault) for call in self._log.calls if call.status not in ignored for fault in call.faults]
        for call, fault in faults:
            value = follow(call.arguments, fault.pointer, "")
            is_open = fault.pointer and (is_partial or _is_open(value) or _is_open(fault.pointer))
            if not is_open and not _UNCHECKED.search(fault.pointer + fault.message):
                yield "call-refused", f"calls {str(call.request)[:120]}: {fault.pointer} {fault.message[:200]}"

    def _command(self, words: list[str]) -> _Findings:
        starts = {command[:end] for command in self._commands for end in range(1, len(command) + 1)}
        length = next((end for end in range(len(words) + 1, 0, -1) if tuple(words[:end]) in starts), 0)
        path, rest = tuple(words[:length]), words[length:]
        tool = self._commands.get(path)
        is_named = path and tool is None and rest and re.fullmatch(r"(?!help$)[a-z][a-z0-9-]*", rest[0])
        # Without the help of a group, or of any command, it is not known which commands there are; a help may name
        # some in other places.
        is_read = not self._helps or (path in self._helps and not self._has_only_lists)
        if is_named and is_read and not (self._helps and rest[0] in self._known):
            near = meant(rest[0], {start[length] for start in starts if start[:length] == path != start})
            unlisted = ", which its help does not list" if self._helps else ""
            yield "unknown-tool-named", f"names the command {' '.join(path)} {rest[0]}{unlisted}{near}"
        for flag in {match[0] for match in map(_FLAG.match, rest) if match} if tool and tool.help is None else ():
            if flag not in self._flags:
                yield "unknown-name", f"names the option {flag} of {' '.join(path)}{meant(flag, self._flags)}"


def commands_in(code: str) -> Iterator[list[str]]:
    """Yields the words of each command in a shell script; nothing if its quotes are not closed."""
    code = re.sub(r"(?m)(?:^|[ \t])#.*$", "", code.replace("\\\n", " "))
    lexer = shlex.shlex(code, posix=True, punctuation_chars="\n|;&<>")
    lexer.whitespace, lexer.commenters, lexer.whitespace_split = " \t\r", "", True
    words: list[str] = []
    with suppress(ValueError):
        for word in lexer:
            if not word or word.strip("\n|;&<>"):
                words += [word] if words or word != "$" else []
            elif words:
                yield words
                words = []
        if words:
            yield words


def _balanced(text: str) -> str:
    """Returns the beginning of a text up to the bracket that closes its first one; the text has no other end."""
    depth = 0
    for index, character in enumerate(text[:_PART_LIMIT]):
        depth += (character in "([{") - (character in ")]}")
        if depth == 0:
            return text[: index + 1]
    return ""


def _literal(text: str) -> Json:
    """Returns a value that is written as JSON, or as in JavaScript or Python; `None` for what is not known.

    It is read as YAML, which has their literals, and in which everything else is an unquoted scalar. The key `...` says
    that something is left out.
    """
    text = re.sub(r"(?m)(?:^|\s)//.*$", "", text.strip()[:_PART_LIMIT].expandtabs())
    text = re.sub(r"(?:\.\.\.|…)(?=\s*[})])", '"...": 0', text)
    if text.startswith("("):
        text = text[1:-1].strip()
        text = text if text.startswith("{") else "{" + _KEYWORD.sub(r"\1: ", text) + "}"
    try:
        return parse_yaml(_KEY.sub(r"\1: ", text), ProblemLog(), scalar=_scalar) if text[:1] in "{[" else None
    except (YamlError, RecursionError):
        return None


_KEYWORD, _KEY = re.compile(r"(?m)((?:^|,)[^\S\n]*\w+)[^\S\n]*=(?!=)"), re.compile(r"([{,]\s*\w+):(?=\S)")


def _scalar(text: str) -> Json:
    if not text:
        raise YamlError("a key without a value")
    return json_or_none(text.lower())


def _is_open(value: Json) -> bool:
    """True if a part of a value is not known, or a placeholder."""
    if isinstance(value, dict | list):
        return any(map(_is_open, value.values() if isinstance(value, dict) else value))
    return value is None or (isinstance(value, str) and _PLACEHOLDER.search(value) is not None)


def _is_begin(shape: str, path: str) -> bool:
    """True if a path has the segments of another, which may have values for its variables, and perhaps more."""
    pairs = list(zip(shape.split("/"), path.split("/"), strict=False))
    return shape.count("/") <= path.count("/") and all(one == other or "{}" in other for one, other in pairs)


def _is_other_address(url: str, base: str) -> bool:
    """True if an address on the host of a base URL is without its encryption, or has another version in its path."""
    with suppress(ValueError):
        one, other = urlsplit(url), urlsplit(base)
        path, root = one.path, other.path.rstrip("/")
        has_other_version = _VERSION.sub("/v", path).startswith(_VERSION.sub("/v", root)) and not path.startswith(root)
        return has_other_version or (one.scheme < other.scheme and path.startswith(root))
    return False
