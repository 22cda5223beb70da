"""Example calls, HTTP requests as `curl` commands, and the environment variables in these.

Everything from a source is quoted, and secrets are variables. A shell takes every character between single quotes
literally; between double quotes there are only percent-encoded URLs and the variables. `curl` itself reads a file for
`@` and `<`, and expands `[` and `{` in a URL: no source text gets where it looks for these.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from urllib.parse import quote

from msgspec import Struct
from msgspec.structs import replace

from skillgen.model.auth import SIGNATURE, Auth, Endpoint
from skillgen.model.calls import Example, ExampleOutput, Output, Part, Request
from skillgen.model.credentials import origin_of, variable_prefix
from skillgen.model.serialization import is_json, is_json_sequence
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.values import Json, Value
from skillgen.render.commands import command_line
from skillgen.render.phrases import once, phrase
from skillgen.text import lazy_re as re
from skillgen.text.markdown import Markdown, code, exact_json_text, inline

_EXAMPLE_LIMIT = 3_000
"""Bytes of an example; a longer one is not shown."""

_OUTPUT_LIMIT = 1_500
"""Bytes of a result; a longer one is not shown, as its schema is documented anyway."""

_OUTPUTS_LIMIT = 3_000
"""Bytes of all results of a tool with one status."""

_EXAMPLES_LIMIT = 5_000
"""Bytes of all examples of a tool; the first is always shown."""

_LINE_LIMIT = 100
"""Characters of JSON on one line."""

_COMMAND_LIMIT = 160
"""Characters of a command on one line."""


class ShownExample(Struct, frozen=True):
    """An example as it appears in a document."""

    label: Markdown
    """The line before it."""

    language: str
    """The language of its code block: `json`, or `sh` for a command."""

    text: str
    """The arguments as JSON, or the request as a command."""

    output: str | None
    """The result, as JSON."""


def shown_examples(tool: Tool, service: Service) -> list[ShownExample]:
    """Returns the examples that are short enough, valid ones first."""
    candidates: list[ShownExample] = []
    for example in sorted(tool.examples, key=lambda example: example.flaw is not None):
        language = "sh" if tool.command or example.request is not None else "json"
        if tool.command:
            text = command_line(tool, example.input)
        elif example.request is not None:
            text = curl_command(tool, example.request, service)
        else:
            text = _example_json(example.input)
        flaw = phrase("example_with_flaw", flaw=inline(example.flaw)) if example.flaw is not None else None
        label = _label(flaw or phrase("example_call"), example, has_others=len(tool.examples) > 1)
        candidates.append(ShownExample(label, language, text, _output(example)))
    return list(_within_limits(candidates, _EXAMPLE_LIMIT, _EXAMPLES_LIMIT))


def shown_outputs(output: Output) -> list[ShownExample]:
    """Returns the declared results that are short enough."""
    candidates: list[ShownExample] = []
    for example in output.examples:
        data = example.value.json
        is_text = isinstance(data, str) and example.media_type is not None and not is_json(example.media_type)
        text = data if isinstance(data, str) and is_text else _example_json(data)
        if text.strip():
            label = _label(phrase("example_result"), example, has_others=len(output.examples) > 1)
            candidates.append(ShownExample(label, "" if is_text else "json", text, None))
    return list(_within_limits(candidates, _OUTPUT_LIMIT, _OUTPUTS_LIMIT))


def _within_limits(candidates: Sequence[ShownExample], limit: int, total_limit: int) -> Iterator[ShownExample]:
    """Yields the examples that are short enough."""
    size, is_first = 0, True
    for item in candidates:
        size_of_item = len(item.text.encode())
        size += size_of_item
        if size_of_item <= limit and (is_first or size <= total_limit):
            is_first = False
            yield item


def _example_json(data: Json) -> str:
    """Returns a value as exact JSON: on one line if that is short, else indented."""
    return exact_json_text(data, 2, _LINE_LIMIT)


def _label(lead: Markdown, example: Example | ExampleOutput, *, has_others: bool) -> Markdown:
    label = phrase("list_label", label=lead)
    name = code(example.name) if example.name and has_others else ""
    description = inline(example.description) if example.description else name
    return Markdown(f"{label} {description}") if description else label


def _output(example: Example) -> str | None:
    if example.output is None:
        return None
    text = _example_json(example.output.json)
    return text if len(text.encode()) <= _EXAMPLE_LIMIT else None


_FORM = "application/x-www-form-urlencoded"
_MULTIPART_FORM = "multipart/form-data"

_JSON = re.compile(r"(?:.*[/+])?json\s*(?:;|\Z)", re.IGNORECASE)
_BEARERS = ("oauth2", "openIdConnect", "bearer")
_PLAIN_HEADER = re.compile(r"[A-Za-z0-9_.= -]+\Z")
_PLAIN_COOKIES = re.compile(r"[A-Za-z0-9%._~,=:; -]*\Z")
_URL_SAFE = "/-._~:@&=+,;%*()"
_BODY_OPTIONS = ("-d", "-F", "--")


def login_command(service: Service, endpoints: Sequence[Endpoint], schemes: tuple[str, ...]) -> str:
    """Returns a command on one line with all that these schemes send together."""
    tool = Tool(name="", method="GET", endpoints=tuple(endpoints), pointer="")
    return " ".join(_words(tool, Request(path="/PATH", auth=schemes), service))


def curl_command(tool: Tool, request: Request, service: Service) -> str:
    """Returns the command, on one line if it is short, else with one option a line."""
    start, url, *options = _words(tool, request, service)
    line = " ".join((start, url, *options))
    if len(line) <= _COMMAND_LIMIT and "\n" not in line:
        return line
    return " \\\n  ".join((f"{start} {url}", *options))


def _words(tool: Tool, request: Request, service: Service) -> list[str]:
    """Returns the program with its method, the URL, and the options."""
    credentials = example_credentials(service)
    used = [credentials[name] for name in request.auth if name in credentials]
    used += [
        ExampleCredential(auth=Auth(kind="api-key", sent_as=place, pointer=""), nouns=(secret_noun(place, service),))
        for place in request.secrets
    ]
    endpoints = tool.endpoints or service.endpoints
    name = partial(credential_variable, service, endpoints)
    # A request may not repeat a field: the first scheme that sends it counts.
    fields = {item.auth.field: replace(item, variables=tuple(map(name, item.nouns))) for item in reversed(used)}
    used = [*fields.values()][::-1]
    in_body = {place[5:]: fields[place.lower()].variables[0] for place in request.secrets if place[:5] == "body "}
    request = _with_variables(request, in_body) if in_body else request
    parts = [_url(tool, request, service, used), *_options(request, used, next(iter(endpoints), None))]
    for variable in in_body.values():
        name_of, quoted = f"${variable}", f"'\"${variable}\"'"
        parts = [part.replace(name_of, quoted) if part[:2] in _BODY_OPTIONS else part for part in parts]
    method = tool.method or "GET"
    start = "curl"
    if method == "HEAD":
        start = "curl -I"
    elif method != ("POST" if request.media_type is not None else "GET"):
        start = f"curl -X {method}" if re.match(r"[A-Z]+\Z", method) else f"curl -X {_quoted(method)}"
    if request.body is not None and is_json_sequence(request.media_type or ""):
        items = request.body.json if isinstance(request.body.json, list) else []
        words = " ".join(_quoted(exact_json_text(item)) for item in items)
        start = f"printf '\\036%s\\n' {words} | {start}"  # invisible separators
    return [start, *parts]


def secret_noun(place: str, service: Service) -> str:
    """Returns the end of the name of the variable for a parameter that holds the credential."""
    credentials = example_credentials(service).values()
    exact = [item for item in credentials if (item.auth.sent_as or "").lower() == place.lower()]
    # In its own field, a token has `Bearer` before it, which a parameter has not.
    single = [item for item in credentials if len(item.nouns) == 1 and item.auth.field != place.lower()]
    return next((item.nouns[0] for item in (*exact, *single)), noun_of(place.partition(" ")[2]))


def _with_variables(request: Request, variables: Mapping[str, str]) -> Request:
    """Returns a request whose body has variables in place of the credentials."""
    values = {name: f"${variable}" for name, variable in variables.items()}
    parts = tuple(replace(part, text=values.get(part.name, part.text)) for part in request.parts)
    if request.body is None or not isinstance(request.body.json, dict):
        return replace(request, parts=parts)
    return replace(request, parts=parts, body=Value({**request.body.json, **values}))


def _url(tool: Tool, request: Request, service: Service, used: list[ExampleCredential]) -> str:
    """Returns the URL in double quotes; a variable replaces an unknown base URL."""
    endpoint = next(iter(tool.endpoints or service.endpoints), None)
    base = re.split("[?#]", endpoint.url)[0].rstrip("/") if endpoint is not None else ""  # as `origin_of` reads it
    start = "" if has_host(base) else f"${variable_name(service, 'BASE_URL')}"
    url = base if not start or base.startswith("/") else ""
    first, *pieces = URL_VARIABLE.split(url)
    base = start + _encoded(first)
    for name, rest in zip(pieces[::2], pieces[1::2], strict=True):
        base += f"${{{url_variable(service, url, name)}}}{_encoded(rest)}"
    path = quote(request.path, safe=f"{_URL_SAFE}?%[]<>")  # that of a snapshot may be anything
    for field in _secrets(used, "query"):
        path += f"{'&' if '?' in path else '?'}{field}"
    return f'"{base}{path}"'


def _secrets(used: list[ExampleCredential], place: str) -> Iterator[str]:
    """Yields the API keys that are sent in a place, `NAME=$VARIABLE`."""
    for credential in used:
        at, _, name = (credential.auth.sent_as or "").partition(" ")
        if credential.auth.kind == "api-key" and at == place:
            yield f"{quote(name)}=${credential.variables[0]}"


def _options(request: Request, used: list[ExampleCredential], endpoint: Endpoint | None) -> Iterator[str]:
    for credential in used:
        yield from _authentication(credential, endpoint)
    for name, text in (request.headers or {}).items():
        if name.lower().partition(":")[0].strip() != "host":  # for which a request would be signed
            yield f"-H {_quoted(f'{name}: {text}' if text else f'{name};')}"
    if cookies := _cookies(request, used):
        yield f"-b {cookies}"
    yield from _body(request)


def _cookies(request: Request, used: list[ExampleCredential]) -> str:
    """Returns all cookies as one word of the shell: `curl` would join those of several options without a space."""
    secrets = [*_secrets(used, "cookie")]
    others = "; ".join(f"{name}={text}" for name, text in (request.cookies or {}).items())
    if not secrets:
        return _quoted(others) if others else ""
    if _PLAIN_COOKIES.match(others):
        return f'"{"; ".join(filter(None, (*secrets, others)))}"'
    return f'"{"; ".join(secrets)}; "{_quoted(others)}'


def _authentication(credential: ExampleCredential, endpoint: Endpoint | None) -> Iterator[str]:
    auth = credential.auth
    if auth.kind == SIGNATURE:
        user = '"$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY"'
        yield f'--aws-sigv4 "{signature_scope(endpoint, auth)}" --user {user}'
        return
    first, *others = credential.variables
    place, _, name = (auth.sent_as or "").partition(" ")
    if others and auth.kind == "mutualTLS":
        yield f'--cert "${first}" --key "${others[0]}"'
    elif others:
        option = "--digest -u" if auth.kind == "digest" else "-u"
        yield f'{option} "${first}:${others[0]}"'
    elif auth.sent_as is None and auth.kind not in _BEARERS:
        return  # OpenAPI does not define this type
    elif auth.kind != "api-key":
        yield f'-H "Authorization: {auth.prefix if _PLAIN_HEADER.match(auth.prefix) else ""}${first}"'
    elif place not in ("query", "cookie", "body"):
        yield f'-H "{name}: ${first}"' if _PLAIN_HEADER.match(name) else f"-H {_quoted(name)}': '\"${first}\""


def _body(request: Request) -> Iterator[str]:
    if request.media_type is None:
        return
    if request.parts:
        is_form = request.media_type == _FORM
        if request.media_type not in (_FORM, _MULTIPART_FORM):  # `curl` adds the boundary
            yield f"-H {_quoted(f'Content-Type: {request.media_type}')}"
        for part in request.parts:
            field = _quoted(f"{quote(part.name, safe='[]')}={part.text}")
            yield f"--data-urlencode {field}" if is_form else _form_part(part)
        return
    yield f"-H {_quoted(f'Content-Type: {request.media_type}')}"
    if request.is_file or request.body is None:
        yield "--data-binary @FILE" if request.is_file else "-d ''"
    elif _JSON.match(request.media_type):
        yield f"-d {_quoted(_example_json(request.body.json))}"
    elif is_json_sequence(request.media_type):
        yield "--data-binary @-"
    else:
        yield f"--data-raw {_quoted(str(request.body.json))}"


def _form_part(part: Part) -> str:
    name = part.name.replace("=", "%3D")  # it would end the name, and no real name has one
    if part.is_file:
        typed = f";type={part.media_type}" if part.media_type is not None else ""
        return f"-F {_quoted(f'{name}=@FILE{typed}')}"
    if part.media_type is None:
        return f"--form-string {_quoted(f'{name}={part.text}')}"
    escaped = part.text.replace("\\", "\\\\").replace('"', '\\"')
    typed = f'{name}="{escaped}";type={part.media_type}'
    return f"-F {_quoted(typed)}"


def _quoted(text: str) -> str:
    """Puts a text in single quotes, where a shell expands nothing."""
    return "'" + text.replace("'", "'\\''") + "'"


def _encoded(text: str) -> str:
    return quote(text, safe=_URL_SAFE + "[]" * ("://[" in text))  # of IPv6; others are ranges for `curl`


# -- the variables -----------------------------------------------------------------------------------------------------


def base_url(url: str) -> str:
    """Returns a URL without its final slash."""
    return url if url.endswith("://") else url.rstrip("/") or url


SHOWN_SCHEMES = 6
"""Maximum of ways to authenticate, and of variables in URLs, that SKILL.md names."""

URL_VARIABLE = re.compile(r"\{([^{}/]+)\}")
"""A variable in a URL."""

_TOKEN = ("TOKEN",)
_NOUNS: dict[str, tuple[str, ...]] = dict.fromkeys(("basic", "digest"), ("USER", "PASSWORD"))
_NOUNS |= {SIGNATURE: (), "mutualTLS": ("CERTIFICATE", "KEY_FILE"), "api-key": ("API_KEY",)}
"""The ends of the names of the variables for a kind of credential."""


class ExampleCredential(Struct, frozen=True, kw_only=True):
    """A security scheme with the environment variables that hold its credentials in examples."""

    auth: Auth
    """The security scheme."""

    nouns: tuple[str, ...]
    """The ends of their names: one, or two such as those of a user and a password."""

    variables: tuple[str, ...] = ()
    """Their names, for the origin of one call."""


@once
def example_credentials(service: Service) -> dict[str, ExampleCredential]:
    """Returns the credentials of the examples by the name of their security scheme.

    Schemes of the same kind get different variables, but for two flows at one page of consent.
    """
    schemes = {auth.name: auth for auth in reversed(service.requirements.auth) if auth.name is not None}
    owners = login_names(service)
    kinds = Counter(_NOUNS.get(auth.kind, _TOKEN) for name, auth in schemes.items() if owners[name] == name)
    credentials = {}
    for name in reversed(schemes):
        auth = schemes[name]
        nouns = _NOUNS.get(auth.kind, _TOKEN)
        more = (owners[name],) if kinds[nouns] > 1 else ()
        credentials[name] = ExampleCredential(auth=auth, nouns=tuple(noun_of(*more, word) for word in nouns))
    return credentials


def login_names(service: Service) -> dict[str, str]:
    """Returns the scheme that replaces each in a login: of an implicit flow, another one with its page of consent."""
    named = [(auth, auth.name) for auth in reversed(service.requirements.auth) if auth.name is not None]
    pages = {auth.authorization_url: name for auth, name in named if auth.flow == "authorizationCode"}
    kept = {name: name for auth, name in named if auth.flow != "implicit" or not auth.authorization_url}
    return {name: pages.get(auth.authorization_url, name) for auth, name in named} | kept


def noun_of(*words: str) -> str:
    """Returns the end of the name of a variable."""
    return re.sub(r"[^A-Z0-9]+", "_", "_".join(words).upper()).strip("_")


def credential_variable(service: Service, endpoints: Sequence[Endpoint], noun: str) -> str:
    """Returns the name of the variable for a credential of the origin of a URL: `SKILL_API_ACME_COM___TOKEN`.

    A source chooses its URLs, so it names only variables that the user sets for these. A variable in the host is an
    asterisk, `SKILL_0X2A_ACME_COM___TOKEN`; where nothing of the host is fixed, the service is named.
    """
    url = URL_VARIABLE.sub("*", endpoints[0].url) if endpoints else ""
    if has_host(url) and url.split("/")[2].strip("*.:"):
        return f"{variable_prefix(url)}___{noun}"
    return f"{variable_name(service, 'URL' if has_host(url) else 'BASE_URL')}___{noun}"


_REGION = re.compile(r"[a-z]{2}(?:-[a-z]+){1,3}-\d{1,2}\Z")


def signature_scope(endpoint: Endpoint | None, auth: Auth) -> str:
    """Returns what `curl --aws-sigv4` needs to sign a request: `aws:amz:us-east-1:kafka`.

    The region is in the host or a variable of the URL. Without a signing name, the service is the label before it.
    """
    labels = ((origin_of(endpoint.url) if endpoint is not None else None) or ("", "", 0))[1].split(".")
    at = next((index for index, label in enumerate(labels) if _REGION.match(label)), None)
    is_own = labels[-2:-1] == ["amazonaws"] or labels[-3:-2] == ["amazonaws"]
    region = labels[at] if at is not None else "us-east-1" if is_own else "$AWS_REGION"
    service = labels[at - 1] if at else labels[0] if is_own else "execute-api"
    name = auth.signing_name if re.match(r"[\w-]{1,60}\Z", auth.signing_name or "", re.ASCII) else service
    return f"aws:amz:{region}:{name}"


def url_template(service: Service, endpoints: Sequence[Endpoint]) -> str:
    """Returns the base URL, in which names of environment variables are in braces; empty if it is not known."""
    url = endpoints[0].url if endpoints else ""
    url = base_url(url) if url else ""
    return URL_VARIABLE.sub(lambda match: f"{{{url_variable(service, url, match[1])}}}", url)


def has_host(url: str) -> bool:
    """True if a base URL includes the host."""
    return url.startswith(("http://", "https://"))


def example_variables(service: Service) -> list[Markdown]:
    """Returns the environment variables for the URL of the examples, each with what it holds."""
    if not any(example.request is not None for tool in service.tools for example in tool.examples):
        return []
    variables = []
    if not any("://" in endpoint.url for endpoint in service.endpoints[:1]):
        variables.append(phrase("variable_of_url", variable=code(variable_name(service, "BASE_URL"))))
    places = (tool.endpoints or service.endpoints for tool in service.tools)
    urls = [at[0].url for at in places if at and (has_host(at[0].url) or at[0].url.startswith("/"))]
    in_urls = {url_variable(service, url, name): name for url in urls for name in URL_VARIABLE.findall(url)}
    for variable, name in list(in_urls.items())[:SHOWN_SCHEMES]:
        variables.append(phrase("variable_in_url", variable=code(variable), name=code(f"{{{name}}}")))
    left = len(in_urls) - SHOWN_SCHEMES
    return [*variables, phrase("more_variables", number=f"{left:,}")] if left > 0 else variables


def url_variable(service: Service, url: str, name: str) -> str:
    """Returns the name of the environment variable for a variable in a URL, which may hold a credential.

    It is of the origin of the URL, as a credential is; of the service if the origin has a variable itself.
    """
    known = url.partition("{")[0]
    if has_host(url) and "/" in known.partition("://")[2]:
        return f"{variable_prefix(known)}___{noun_of(name)}"
    return variable_name(service, "URL", name)


def variable_name(service: Service, *more: str) -> str:
    """Returns the name of an environment variable for a part of a URL of a service: `SKILL_ACME_TASKS_URL_TENANT`.

    A source chooses the rest of the name. With the prefix it can never name a variable of another program, nor one with
    a credential, which has three underscores: its value would then be sent to the source.
    """
    return f"SKILL_{noun_of(service.skill_name or 'service', *more)}"
