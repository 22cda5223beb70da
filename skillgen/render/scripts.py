"""What a program needs to call the tools of a service: `tools.json` of `--emit scripts`, and the data of `call`.

It holds names, types and places, not the source's prose, except for its advice on errors.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from msgspec.structs import replace

from skillgen.model.auth import LOGIN_POINTER, Auth
from skillgen.model.calls import Input
from skillgen.model.document import Document
from skillgen.model.schema import (
    Parameter,
    Schema,
    SchemaWriter,
    Serialization,
    Types,
    arguments_of,
    input_keys,
    object_of,
)
from skillgen.model.serialization import LINES, MATCHED_LENGTH, is_exploded, is_json_sequence
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.traversal import type_references, types_named_in, types_reached
from skillgen.model.values import child, is_inferred
from skillgen.render.about import client_configuration, client_variables
from skillgen.render.examples import (
    URL_VARIABLE,
    credential_variable,
    example_credentials,
    has_host,
    secret_noun,
    url_template,
    variable_name,
)
from skillgen.security.secrets import is_secret_setting
from skillgen.text import lazy_re as re
from skillgen.text.markdown import one_line
from skillgen.text.summary import clip
from skillgen.text.unicode import escape_invisible_in_json

_ADVICE_LENGTH = 300

_CHECKED_PATTERN = re.compile(
    r"\^?(?:[\w\s/@:;,<>=!#%&'\"~`-]|\\[dwDWsS./@+*?()\[\]{}|^$-]|\[\^?(?:[^\[\]\\]|\\[dwsDWS./+*?()\[\]{}|^$-])+\]|\.|[*+?|]|"
    r"\{\d{1,3}(?:,\d{1,3})?\}|\((?:\?:|(?!\?))|\))*\$?"
)
"""A pattern that means the same in Python and ECMA 262, without look-arounds and references."""

_BRANCHING = re.compile(r"[*+?|]|\{(\d+),(\d+)\}")
_STEPS_LIMIT = 10_000_000
"""Steps that a pattern may take in a string of `MATCHED_LENGTH`."""


def call_data(service: Service, tools: Iterable[Tool]) -> dict[str, Any]:
    """Returns what a program needs to call some tools of a service."""
    tools = tuple(tools)
    data: dict[str, Any] = {"service": service.name, "kind": "mcp" if service.kind == "mcp" else "http"}
    data["prefix"] = variable_name(service)
    writer = SchemaWriter(Types.of(service.schemas), is_request=True, pattern=_checkable)
    found = {tool.name: _tool(service, tool, writer) for tool in tools}
    named = types_named_in(*((tool.parameters, tool.input) for tool in tools))
    types = {name: writer.definition(name) for name in sorted(types_reached(named, type_references(service)))}
    variables: list[str] = []
    if service.kind == "mcp":
        data |= _server(service)
        is_known = "url" in data
        token = credential_variable(service, service.endpoints, "TOKEN") if is_known else f"{data['prefix']}_URL"
        variables = data.get("env", [token])
    else:
        data["base"] = url_template(service, service.endpoints)
        data["auth"] = {name: _scheme(item.auth, item.nouns) for name, item in example_credentials(service).items()}
        for tool in tools:
            item = found[tool.name]
            schemes = [data["auth"][name] for way in item.get("auth", ()) for name in way if name in data["auth"]]
            nouns = [noun for scheme in schemes for noun in scheme["nouns"]]
            nouns += [noun for noun, _ in item.get("filled", {}).values()]
            item["nouns"] = list(dict.fromkeys(nouns))
            endpoints = tool.endpoints or service.endpoints
            variables += [credential_variable(service, endpoints, noun) for noun in item["nouns"]]
        variables += URL_VARIABLE.findall(data["base"])
        if not has_host(data["base"]):
            variables.append(variable_name(service, "BASE_URL"))
    urls = (auth.authorization_url or auth.token_url or auth.metadata_url for auth in service.requirements.auth)
    if url := next(filter(None, urls), None):
        data["login"] = f"This program has no OAuth: get a token at {clip(one_line(url), 200)}"
    return {**data, "variables": list(dict.fromkeys(variables)), "types": types, "tools": found}


def _server(service: Service) -> dict[str, Any]:
    """Returns how the server is reached; empty if neither a URL nor a portable command is known."""
    # A package that only the source names is for a person to judge: no program starts it.
    entry = {} if is_inferred(service, "client_entry") else client_configuration(service, is_example=False) or {}
    server: dict[str, Any] = next(iter(entry.get("mcpServers", {}).values()), {})
    if "command" in server:
        names = client_variables(service)
        secrets = list(filter(is_secret_setting, names))
        return {"command": [server["command"], *server["args"]], "env": names, "secrets": secrets}
    return {"url": server["url"]} if "url" in server else {}


def _scheme(auth: Auth, nouns: tuple[str, ...]) -> dict[str, Any]:
    place, _, name = (auth.sent_as or "").partition(" ")
    scheme: dict[str, Any] = {"kind": auth.kind, "nouns": list(nouns)}
    if auth.kind == "api-key":
        return {**scheme, "place": place or "header", "name": name or "X-API-Key"}
    return {**scheme, "place": "header", "name": "Authorization", "prefix": auth.prefix}


def _tool(service: Service, tool: Tool, writer: SchemaWriter) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if tool.method is not None:
        found = _operation(service, tool, writer)
    else:
        rules = tool.input.schema if tool.input is not None else None
        found["schema"] = writer.write(arguments_of(tool.parameters, rules))
    if tool.task_support == "required":
        found["is_task"] = True
    if (reason := why_confirmed(tool)) is not None:
        found["confirm"] = reason
    return found | advice_data(service, tool)


def why_confirmed(tool: Tool) -> str | None:
    """Returns why a person must confirm a call; `None` if nobody must."""
    semantics = tool.semantics
    if semantics.requires_confirmation:
        return "needs a person's confirmation"
    if semantics.effect == "destructive" or semantics.risk == "destructive":
        return "deletes or overwrites"
    return None


def advice_data(service: Service, tool: Tool) -> dict[str, Any]:
    """Returns what the service advises on the errors of a tool; empty without any."""
    errors: dict[str, str] = {}
    for error in (*service.errors, *tool.errors):
        wait = f"Retry after {error.retry_after_s:g} s." if error.retry_after_s is not None else None
        if error.code and (words := " ".join(filter(None, (error.resolution, wait)))):
            errors[error.code] = clip(one_line(words), _ADVICE_LENGTH)
    return {"errors": errors} if errors else {}


# -- operations -------------------------------------------------------------------------------------------------------


def _operation(service: Service, tool: Tool, writer: SchemaWriter) -> dict[str, Any]:
    keys = input_keys(tool.parameters)[0]
    found: dict[str, Any] = {"method": tool.method, "path": _path(tool)}
    pairs = [*zip(keys, tool.parameters, strict=True)]
    found["parameters"] = {key: _place(item, tool) for key, item in pairs}
    body = tool.body_parameters()
    if tool.input is not None:
        found["body"] = _sent_form(tool.input, body)
        if tool.input.schema is not None:
            found["body"]["rules"] = writer.write(object_of(body, tool.input.schema))
    properties = [replace(item, name=key, required=_is_needed(item, tool)) for key, item in pairs]
    found["schema"] = writer.write(object_of(properties, Schema(additional=False)))
    for name in undeclared_members(tool):
        key = name if name not in keys else f"body.{name}"
        found["parameters"][key] = {"in": "body", "name": name}
        found["schema"].setdefault("properties", {})[key] = {}
    if tool.output_media_types:
        found["accept"] = ", ".join(sorted(set(tool.output_media_types), key=lambda name: ("json" not in name, name)))
    if tool.endpoints:
        found["base"] = url_template(service, tool.endpoints)
    if any(part.startswith("body ") for part in tool.unread):
        found["has_unread_body"] = True
    credentials = list(credential_parameters(service, tool))
    if credentials:
        facts = {keys[index]: (noun, is_needed) for index, noun, is_needed, _ in credentials}
        found["filled"] = {child("", key): item for key, item in facts.items()}
    if tool.auth is not None:
        schemes = {scheme for *_, scheme in credentials}
        found["auth"] = [[item.scheme for item in way if item.scheme not in schemes] for way in tool.auth]
    return found


def undeclared_members(tool: Tool) -> list[str]:
    """Returns the names that a body requires, or has in an example, although it does not declare them."""
    properties = tool.body_parameters()
    if tool.input is None or any(item.is_whole_body for item in properties):
        return []
    names = dict.fromkeys(tool.input.schema.required if tool.input.schema is not None else ())
    for example in tool.examples:
        body = example.input.get("body") if isinstance(example.input, dict) else None
        names |= dict.fromkeys(body if isinstance(body, dict) else ())
    return [name for name in names if name not in {item.name for item in properties}]


def credential_parameters(service: Service, tool: Tool) -> Iterator[tuple[int, str, bool, str]]:
    """Yields the index of each parameter with a credential, the end of the name of its variable, whether it is needed,
    and its scheme.
    """
    ways = [{item.scheme for item in way} for way in tool.auth or ()]
    used, needed = (set[str]().union(*ways), set.intersection(*ways)) if ways else (set[str](), set[str]())
    places, credentials = dict[str | None, tuple[str, str]](), example_credentials(service)
    for auth in service.requirements.auth if tool.method is not None else ():
        is_used = tool.auth is None or auth.name in used or auth.pointer == LOGIN_POINTER
        if auth.kind == "api-key" and auth.name is not None and is_used:
            places[auth.sent_as] = credentials[auth.name].nouns[0], auth.name
    for place in (place for item in tool.examples if item.request is not None for place in item.request.secrets):
        places.setdefault(place, (secret_noun(place, service), ""))
    for index, item in enumerate(tool.parameters):
        if (found := places.get(f"{item.location} {item.name}")) is not None:
            yield index, found[0], item.required or found[1] in needed, found[1]


def _is_needed(item: Parameter, tool: Tool) -> bool:
    """True if a call must have an argument: a property of an optional body need not be sent."""
    if item.location != "body":
        return item.required
    return item.required and not item.schema.read_only and (tool.input is None or tool.input.required)


def _path(tool: Tool) -> str:
    """Returns the path of an operation, percent-encoded, whose variables have the names of parameters."""
    names = {item.name for item in tool.parameters if item.location == "path"}
    path = re.sub(r"\{[?&#][^{}]*\}|#.*", "", tool.path or "")
    literals = re.split(r"\{(/?[^{}/]+)\}", path)
    literals[1::2] = [f"{{{name if name in names else name.lstrip('+./;')}}}" for name in literals[1::2]]
    literals[::2] = [quote(literal, safe="/-._~:@,;=+&%()*?!$'") for literal in literals[::2]]
    path = "".join(literals)
    return path if path.startswith(("/", "?")) else f"/{path}"


def _place(item: Parameter, tool: Tool) -> dict[str, Any]:
    found: dict[str, Any] = {"in": item.location, "name": item.name}
    if item.location == "body":
        return found
    serialization = item.serialization or Serialization()
    found |= _style(serialization, "simple" if item.location in ("path", "header") else "form")
    if serialization.media_type is not None:
        found["json"] = True
    prefix = next((mark for mark in "./" if f"{{{mark}{item.name}}}" in (tool.path or "")), None)
    if item.location == "path" and prefix is not None:
        found["prefix"] = prefix  # an operator of RFC 6570
    return found


def _style(serialization: Serialization, default: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if serialization.style is not None:
        found["style"] = serialization.style
    if serialization.style is not None or serialization.explode is not None:
        found["explode"] = is_exploded(serialization.style or default, serialization.explode)
    if serialization.allow_reserved:
        found["reserved"] = True
    return found


def _sent_form(form: Input, parameters: Sequence[Parameter]) -> dict[str, Any]:
    """Returns how a request body is sent in the recommended media type."""
    chosen = next(iter(form.media_types), "application/json")
    found: dict[str, Any] = {"type": chosen if "*" not in chosen else "application/octet-stream"}
    if form.required:
        found["required"] = True
    if len(parameters) == 1 and parameters[0].is_whole_body:
        found["whole"] = True
        if (serialization := parameters[0].serialization) is not None and serialization.style == LINES:
            found["line_start"] = ""
    if is_json_sequence(chosen):
        found["line_start"] = "\x1e"
    for item in parameters:
        if (sent := item.serialization) is not None:
            part = {} if sent.media_type is None else {"type": sent.media_type}
            found.setdefault("parts", {})[item.name] = _style(sent, "form") | part
    return found


# -- schemas ----------------------------------------------------------------------------------------------------------


def _checkable(pattern: str) -> str | None:
    """Returns a pattern if Python matches it like other engines, in a time that its length and the string's bound."""
    if not isinstance(pattern, str) or len(pattern) > 300 or not _CHECKED_PATTERN.fullmatch(pattern):
        return None
    steps = 1 if pattern.startswith("^") else MATCHED_LENGTH
    for part in _BRANCHING.finditer(pattern):
        low, high = part.groups()
        ways = int(high) - int(low) + 1 if high is not None else 2 if part[0] in "?|" else MATCHED_LENGTH
        steps *= max(1, min(ways, MATCHED_LENGTH))
    if any(f"){sign}" in pattern for sign in "*+{") or steps > _STEPS_LIMIT:  # a repeated group
        return None
    try:
        re.compile(pattern, re.ASCII)
    except (re.error, RecursionError, OverflowError):
        return None
    return pattern


# -- the program ------------------------------------------------------------------------------------------------------


def program_files(service: Service) -> Iterator[Document]:
    """Yields the program that calls the tools of a service, and its data; their paths are within the skill."""
    data = call_data(service, service.tools)
    yield Document("scripts/call.py", script_text(data["kind"]))
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    yield Document("scripts/tools.json", escape_invisible_in_json(text) + "\n")


_UNSPACED = re.compile(r"^([^@\n].*)\n(?=(?:class|def) )", re.MULTILINE)
"""A line before a class or a function without an empty line between."""

_DOCUMENTATION = re.compile(r'^((?: {4})*)"""(?:[^"]|"(?!""))*"""\n+(?=\1\S)', re.MULTILINE)
"""What documents a module, a constant or a function, but not the only statement of a class."""


@cache
def script_text(kind: str) -> str:
    """Returns the program for one kind of service: of `calls/script.py`, only what such a service needs.

    The text of a source has no part in it, so that the program is the same for every service of the kind. Without
    documentation it is short enough to be read before it is run.
    """
    package = Path(__file__).parents[1]
    client = {"http": "HttpClient", "mcp": "McpClient"}[kind]
    names = ("model/serialization", "model/credentials", "model/check", "calls/script")
    modules = [(package / f"{name}.py").read_text("utf-8") for name in names]
    statements = [item for module in modules for item in _statements(module.replace('CLIENTS[data["kind"]]', client))]
    definitions = {name: used for _, defined, used in statements for name in defined}
    live, waiting = set[str](), ["main"]
    for name in waiting:
        if name in definitions and name not in live:
            live.add(name)
            waiting += definitions[name]
    texts = [text for text, defined, _ in statements if not defined or not live.isdisjoint(defined)]
    imports = sorted({text for text in texts if text.startswith(("from ", "import "))})
    imports.sort(key=lambda line: (not line.startswith("from __future__"), line.startswith("from ")))
    body = [f"{text}\n" if "\n" in text else text for text in texts if text not in imports]
    text = "\n".join([modules[-1].partition("\nfrom __future__")[0], *imports, "", *body])
    return _UNSPACED.sub(r"\1\n\n", text)


def _statements(module: str) -> Iterator[tuple[str, Collection[str], Collection[str]]]:
    """Yields the statements of a module, each with names that it defines and uses; none that imports from skillgen."""
    module = _DOCUMENTATION.sub("", module.replace("Json", "Any"))
    lines = module.splitlines()
    for node in ast.parse(module).body:
        first = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", ()))])
        text = "\n".join(lines[first - 1 : node.end_lineno])
        targets: list[ast.expr] = [node.target] if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [])
        defined = [item.id for target in targets for item in ast.walk(target) if isinstance(item, ast.Name)]
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = node.names if not text.startswith("from __future__") else []
            defined = [(item.asname or item.name).partition(".")[0] for item in names]
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            defined = [node.name]
        if not text.startswith("from skillgen"):
            yield text, defined, {item.id for item in ast.walk(node) if isinstance(item, ast.Name)}
