"""How an API is reached: security schemes and requirements, servers and their variables.

See OpenAPI 3.2, "Security Scheme Object" and "Security Requirement Object", and 3.1, "Server Object".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from itertools import islice, product
from typing import Any
from urllib.parse import unquote, urljoin

from msgspec.structs import replace

from skillgen.errors import ProblemLog
from skillgen.model.auth import SIGNATURE, Auth, Credential, Endpoint, EndpointVariable, Scope
from skillgen.model.values import Json, Origin, child, last_token
from skillgen.security.secrets import host_of, is_private, without_credentials
from skillgen.sources.json_access import as_dict, as_list, text_of
from skillgen.sources.json_schema.keywords import kind_of
from skillgen.sources.openapi.references import Resolver
from skillgen.text import lazy_re as re

_AUTHORIZATION_CODE, _PKCE = "authorizationCode", "x-usePkce"
SCHEMES = "/components/securitySchemes"

_CAPITALISED_SCHEMES = ("basic", "bearer", "digest")
"""HTTP authentication schemes that are capitalised; others are written as declared."""

_FLOW_URLS = {
    "authorization_url": "authorizationUrl",
    "token_url": "tokenUrl",
    "refresh_url": "refreshUrl",
    "device_authorization_url": "deviceAuthorizationUrl",
}

_TYPES = ("apiKey", "http", "mutualTLS", "oauth2", "openIdConnect")

_REQUIRED = {"apiKey": ("name",), "http": ("scheme",), "oauth2": ("flows",), "openIdConnect": ("openIdConnectUrl",)}
_REQUIRED_OF_FLOW = {
    "implicit": ("authorizationUrl", "scopes"),
    "password": ("tokenUrl", "scopes"),
    "clientCredentials": ("tokenUrl", "scopes"),
    "authorizationCode": ("authorizationUrl", "tokenUrl", "scopes"),
    "deviceAuthorization": ("deviceAuthorizationUrl", "tokenUrl", "scopes"),
}
"""What a security scheme of a type, and a flow of OAuth 2.0, must declare."""

_MAX_COMBINATIONS = 16
"""Maximum of ways to authenticate that one requirement becomes."""

SecurityOptions = tuple[tuple[Credential, ...], ...]
"""Ways to authenticate; a call needs all credentials of one of them."""


class SecurityReader:
    """Reads what operations require of a caller, and how to get it."""

    def __init__(self, resolver: Resolver, base_url: str | None) -> None:
        """`base_url` is that of the first server: relative URLs of schemes are resolved against it (OpenAPI 3.1)."""
        document = resolver.document
        self._base_url = base_url
        self._paths = [*as_dict(document.get("paths"))]
        self._schemes = as_dict(as_dict(document.get("components")).get("securitySchemes"))
        self._resolver = resolver
        self._problems = resolver.problems
        self.auth = tuple(self._auth())
        """The security schemes; one of OAuth 2.0 has an entry for each flow."""
        self._sent = {item.name: (item.field, item.prefix) for item in self.auth}
        items = map(as_dict, as_dict(document.get("paths")).values())
        is_required = any(as_list(as_dict(operation).get("security")) for item in items for operation in item.values())
        self.default = self._options(document["security"], "/security") if "security" in document else None
        """The requirements of the description; `None` if it declares none that can be read.

        An empty list says nothing where schemes are declared that no operation requires.
        """
        if self.default == () and self._schemes and not is_required:
            self.default = None
        is_only = self.default is None and len(self._schemes) == 1 and not is_required
        self.assumed = tuple(self._schemes) if is_only else ()
        """The scheme of the examples where nothing says which calls need the only one that is declared."""
        self.signs_requests = any(map(_is_signature, map(resolver.resolve_or_empty, self._schemes.values())))
        """Whether calls are signed (AWS Signature Version 4), by a tool that writes the headers for it."""

    def declared_security(self, operation: dict[str, Json], pointer: str) -> SecurityOptions | None:
        """Returns the requirements that an operation itself declares; `None` if it declares none that can be read.

        For a webhook or a callback, they are those of its receiver; those of the description do not apply. For another
        operation only a list replaces these: null or a malformed value is reported and replaces nothing.
        """
        return self._options(operation["security"], f"{pointer}/security") if "security" in operation else None

    def _options(self, requirements: Json, pointer: str) -> SecurityOptions | None:
        """Returns the ways to authenticate, one for each requirement; `None` where no requirement can be read.

        An empty requirement makes authentication optional; without other requirements, none is needed.
        """
        if isinstance(requirements, dict):
            self._report(pointer, "`security` is an object; it is read as a list of one", "make it a list")
            requirements = [requirements]
        if not isinstance(requirements, list):
            fix = "write a list such as `- NAME: []`, or `[]` for no authentication"
            self._report(pointer, f"`security` is {kind_of(requirements)}, not a list; it is ignored", fix)
            return None
        options: dict[tuple[Credential, ...], None] = {}
        for index, requirement in enumerate(requirements):
            where = f"{pointer}/{index}"
            if isinstance(requirement, dict):
                needed = [self._credential(*item, child(where, item[0])) for item in requirement.items()]
                options |= dict.fromkeys(self._combinations(needed, where))
            else:
                message = f"a security requirement is an object, not {kind_of(requirement)}; it is ignored"
                self._report(where, message, "write `- NAME: []`")
        if requirements and not options:
            return None
        return tuple(options) if any(options) else ()

    def _combinations(self, needed: list[Credential], pointer: str) -> Iterable[tuple[Credential, ...]]:
        """Returns what a requirement can mean: one scheme for each field, as a request can send no field twice.

        Reports schemes that no value of the field can be for all; a token can be one of several flows (Google).
        """
        fields: dict[str, dict[Credential, str]] = {}
        for item in needed:
            field, prefix = self._sent.get(item.scheme, (item.scheme, ""))
            fields.setdefault(field, {})[item] = prefix
        for field, items in fields.items():
            if len({*items.values()}) > 1:
                message = f"are the same field of a request, {field}; one of them is taken as enough"
                names = " and ".join(item.scheme[:80] for item in islice(items, 3))
                self._report(pointer, f"{names} {message}", "write one requirement for each")
        return islice(product(*fields.values()), _MAX_COMBINATIONS)

    def _report(self, pointer: str, message: str, fix: str) -> None:
        self._problems.report("security-invalid", pointer, message, fix)

    def _credential(self, written: str, scopes: Json, pointer: str) -> Credential:
        if not isinstance(scopes, list):
            self._report(pointer, f"the scopes are {kind_of(scopes)}, not a list", "write a list, which may be empty")
            scopes = [scopes]
        names = tuple(item for item in scopes if isinstance(item, str))
        credential = Credential(scheme=self._scheme(written), scopes=names)
        flows = as_dict(self._resolver.resolve_or_empty(self._schemes.get(credential.scheme)).get("flows"))
        lists = [as_dict(as_dict(flow).get("scopes")) for flow in flows.values()]
        if any(lists) and (unknown := [name for name in credential.scopes if not any(name in each for each in lists)]):
            message = f"{credential.scheme[:80]!r} does not declare the scopes {', '.join(unknown)[:200]}"
            fix = "add them to `scopes` of a flow, or correct them"
            self._problems.report("scope-undeclared", pointer, message, fix)
        return credential

    def _scheme(self, written: str) -> str:
        """Returns the name of the required scheme, which may be written as its URI (3.2); reports an undeclared one."""
        is_uri = written not in self._schemes and written.startswith(f"#{SCHEMES}/")
        name = last_token(unquote(written[1:])) if is_uri else written
        if name not in self._schemes:
            message = f"operations require the security scheme {name!r}, which is not declared"
            self._problems.report("security-scheme-missing", child(SCHEMES, name), message)
        return name

    def _auth(self) -> Iterator[Auth]:
        for name, raw in self._schemes.items():
            scheme, pointer = self._resolver.resolve(raw, child(SCHEMES, name))
            if scheme is None:
                continue
            kind = text_of(scheme, "type")
            self._check_required("the security scheme", scheme, ("type", *_REQUIRED.get(kind or "", ())), pointer)
            if kind is None:
                continue
            if kind not in _TYPES:
                fix = f"write one of {', '.join(_TYPES)}"
                self._report_scheme(pointer, f"the type {kind[:40]!r} is not defined by OpenAPI", fix)
            read = self._oauth_flows if kind == "oauth2" else self._auth_from_scheme
            yield from read(name, scheme, pointer)

    def _auth_from_scheme(self, name: str, scheme: dict[str, Json], pointer: str) -> Iterator[Auth]:
        kind, sent_as = scheme["type"], None
        if _is_signature(scheme):
            kind, sent_as = SIGNATURE, "Authorization: AWS4-HMAC-SHA256"
        elif kind == "apiKey":
            place, field = text_of(scheme, "in") or "header", (text_of(scheme, "name") or "").strip()
            declared = (field.partition(":")[0].strip() or field) if place == "header" else field
            if place == "header" and re.search(r"[\s:]", field):
                message = f"{field[:80]!r} is not the name of a header; it is read as {declared[:80]!r}"
                self._report_scheme(pointer, message, "write the name only; `type: http` has a word before the key")
            kind, sent_as = "api-key", f"{place} {declared}".strip()
            word = next(iter(field.partition(":")[2].split()), "") or self._word_before_key(scheme)
            if sent_as.lower() == "header authorization" and word:
                kind, sent_as = word.partition(" ")[0].lower(), f"Authorization: {_written(word)}"
        elif kind == "http":
            word = text_of(scheme, "scheme") or ""
            kind, sent_as = word.lower() or "http", f"Authorization: {_written(word)}".rstrip(": ")
        yield Auth(
            kind=kind,
            name=name,
            description=text_of(scheme, "description"),
            sent_as=sent_as,
            token_format=text_of(scheme, "bearerFormat"),
            signing_name=text_of(self._resolver.document.get("info"), "x-aws-signingName"),
            metadata_url=self._url(scheme, "openIdConnectUrl", pointer),
            deprecated=scheme.get("deprecated") is True,
            pointer=pointer,
        )

    def _word_before_key(self, scheme: dict[str, Json]) -> str:
        """Returns the word that precedes the key by the text on a scheme, or on an API with no other; or nothing.

        Swagger 2.0 has no type for such a scheme.
        """
        about = self._resolver.document.get("info") if len(self._schemes) == 1 else None
        text = f"{text_of(scheme, 'description')}.{text_of(about, 'description')}"
        lines = [line for line in text.replace("\n", ".").split(".") if _DENIALS.isdisjoint(line.lower().split())]
        found = next(filter(None, map(_WORD_BEFORE_KEY.search, lines)), None)
        return found[found.lastindex or 0].strip() if found is not None else ""

    def _oauth_flows(self, name: str, scheme: dict[str, Json], pointer: str) -> Iterator[Auth]:
        flows = {flow: as_dict(raw) for flow, raw in as_dict(scheme.get("flows")).items() if flow[:2] != "x-"}
        common: dict[str, Any] = {
            "kind": "oauth2",
            "name": name,
            "description": text_of(scheme, "description"),
            "metadata_url": self._url(scheme, "oauth2MetadataUrl", pointer),
            "deprecated": scheme.get("deprecated") is True,
        }
        if not flows:
            yield Auth(**common, pkce=_uses_pkce(scheme), pointer=pointer)
        for flow, settings in flows.items():
            where = child(pointer, "flows", flow)
            self._check_required(f"the flow {flow[:40]}", settings, _REQUIRED_OF_FLOW.get(flow, ()), where)
            # PKCE belongs to the authorization code flow: if a scheme has that, it does not concern the other flows.
            is_own = _PKCE in settings or (_AUTHORIZATION_CODE in flows and flow != _AUTHORIZATION_CODE)
            urls: dict[str, Any] = {field: self._url(settings, key, where) for field, key in _FLOW_URLS.items()}
            yield Auth(
                **common,
                **urls,
                flow=flow,
                pkce=_uses_pkce(settings if is_own else scheme),
                scopes=tuple(
                    Scope(name=scope, description=meaning if isinstance(meaning, str) and meaning else None)
                    for scope, meaning in as_dict(settings.get("scopes")).items()
                ),
                pointer=where,
            )

    def _url(self, holder: dict[str, Json], key: str, pointer: str) -> str | None:
        """Reads a URL; a relative one is that of the only operation with this path, or a path that ends with it, as
        frameworks mean it. Else it is resolved against the base URL, whose path this leaves out."""
        url = url_of(holder, key, pointer, self._problems)
        if url is None:
            return None
        path = f"/{url.lstrip('./')}"
        paths = [path] if path in self._paths else [item for item in self._paths if item.endswith(path) and path != "/"]
        return (self._base_url or "").rstrip("/") + paths[0] if len(paths) == 1 else _absolute(url, self._base_url)

    def _check_required(self, what: str, value: dict[str, Json], names: Iterable[str], pointer: str) -> None:
        if missing := [name for name in names if value.get(name) is None]:
            self._report_scheme(pointer, f"{what} has no {' and no '.join(missing)}", f"declare {', '.join(missing)}")

    def _report_scheme(self, pointer: str, message: str, fix: str) -> None:
        self._problems.report("security-scheme-invalid", pointer, message, fix)


_DENIALS = frozenset({"never", "no", "not", "without"})
_WORDS = "ApiKey|Bot|GenieKey|GNAP|NetworkInsight|OAuth|SSWS|Token"
_WORD_BEFORE_KEY = re.compile(
    rf"(?i)(?:ization:? *|\A|- |[\"'`“‘])((?:{_WORDS})(?: token=| ))[\"']?(?:[{{$]|<[^<>]{{0,30}}(?:key|token|jwt))"
    r"|ization: *((?!basic )[\w-]{2,30} )[{<][^{}<>]{0,30}(?:key|token|jwt)"
    r"|(?:ization:? *|[\"'`*“‘])(Bearer)\b|\b(Bearer)(?: *[<{$\[(]| (?:\w+ )?(?:auth|scheme|token))"
    r"|\bpre(?:fix(?:ed (?:by|with))? [\"'`“‘](?-i:(?=[A-Z]))|pended with [\"'`“‘])((?!basic\b)[a-z]{2,30}) ?[\"'`”’]"
    rf"|[\"'`“‘]({_WORDS})[\"'`”’] followed"
)
"""The word before a key as texts write it: Bearer, `SSWS {token}`, `Token token=<key>`, the prefix "GNAP"."""


def _written(word: str) -> str:
    """Returns the name of a scheme of HTTP in its usual capitals."""
    return word.capitalize() if word.lower() in _CAPITALISED_SCHEMES else word


def _is_signature(scheme: dict[str, Json]) -> bool:
    return scheme.get("x-amazon-apigateway-authtype") in ("awsSigv4", "awsS3")


def scopes_of(options: SecurityOptions | None) -> tuple[str, ...]:
    """Returns the scopes of all ways to authenticate."""
    credentials = (credential for option in options or () for credential in option)
    return tuple(dict.fromkeys(scope for credential in credentials for scope in credential.scopes))


def _uses_pkce(holder: dict[str, Json]) -> bool | None:
    """Reads `x-usePkce`: a boolean, the name of a method such as `SHA-256`, or an object of settings."""
    value = holder.get(_PKCE)
    return value if value is None else value not in (False, "", "no", "false")


_OTHER_SCHEME = re.compile(r"(?!https?:|wss?:|localhost:|[\w-]+\.[\w.-]*:)[A-Za-z][A-Za-z0-9+.-]*:", re.IGNORECASE)
"""A scheme that is not of HTTP or WebSocket; a host with a port is not a scheme."""

_IGNORED_BY_BROWSERS = re.compile(r"[\x00-\x20]")


def url_of(holder: Json, key: str, pointer: str, problems: ProblemLog) -> str | None:
    """Returns the URL of a member of the object at `pointer`, without credentials; it may be relative.

    A URL with another scheme than HTTP or WebSocket, such as one that a browser would run, is reported and left out.
    """
    url = text_of(holder, key)
    if url is not None and not url.startswith("https://") and _OTHER_SCHEME.match(_IGNORED_BY_BROWSERS.sub("", url)):
        problems.report("url-invalid", child(pointer, key), "expected an http:// or https:// URL; left out")
        return None
    return without_credentials(url) if url is not None and "@" in url else url


_VARIABLE = re.compile(r"\{([^{}]+)\}")


_MOCK = re.compile(r"\b(?:mock(?:ed|ing)?|sandbox)\b", re.IGNORECASE)
"""Words of the description of a server that does not do what its calls say."""

_PLACEHOLDER = re.compile(
    r"https?://(?:hostname|(?:[\w-]+\.){0,9}(?:example\.(?:com|net|org)|your[-_][\w.-]*))(?::[^/@]{0,20})?(?![^/])",
    re.IGNORECASE,
)
"""The start of a URL whose host is for documentation (RFC 2606), or for the user to replace: `your-domain.acme.com`."""


def endpoints_from(servers: Json, pointer: str, base_url: str | None, problems: ProblemLog) -> tuple[Endpoint, ...]:
    """Reads a list of servers; relative URLs are resolved against `base_url`, the URL of the description.

    The order is that of the list, but a host that is not public comes last (unless the description is from there),
    before it what is described as a mock or a sandbox, and before this a host that is a placeholder; https comes before
    the same URL with http, and what names no host comes after a URL with the same end. Of the first one, only the path
    is left if its host is a placeholder. A placeholder that is the default of a variable is not filled in.
    """
    endpoints: list[Endpoint] = []
    for index, server in enumerate(as_list(servers)):
        template = url_of(server, "url", f"{pointer}/{index}", problems)
        if template is None:
            # Another scheme is reported, and "" is a valid relative URL, which names no host.
            if text_of(server, "url") is None and as_dict(server).get("url") != "":
                problems.report("server-invalid", f"{pointer}/{index}", "the server has no url; left out")
            continue
        variables = tuple(_variables(as_dict(server.get("variables")), template))
        for variable in variables:
            if variable.default is None:
                where = child(pointer, index, "variables", variable.name)
                problems.report("server-variable-without-default", where, "the variable has no default")
        declared = {variable.name for variable in variables}
        for name in dict.fromkeys(_VARIABLE.findall(template)):
            if name not in declared:
                message = f"the URL has the variable {{{name[:60]}}}, which `variables` does not declare"
                problems.report("server-variable-missing", f"{pointer}/{index}", message)
        values = {variable.name: variable.default for variable in variables if variable.default is not None}
        defaults = {name: value for name, value in values.items() if not _PLACEHOLDER.match(f"https://{value}")}
        url = _VARIABLE.sub(partial(lambda known, found: known.get(found[1], found[0]), defaults), template)
        url, *rest = re.split("[?#]", url, maxsplit=1)
        if rest:  # after a `#` that is quoted, `@` would make another host of what follows
            problems.report("server-invalid", f"{pointer}/{index}", "a query or fragment is no part of it; left out")
        origins = None
        if base_url is None and url.startswith("//"):
            problems.report("server-scheme-missing", f"{pointer}/{index}", "the URL has no scheme; https is assumed")
            url, origins = f"https:{url}", {"url": Origin("inferred", "the source names no scheme")}
        endpoints.append(
            Endpoint(
                url=_absolute(url, base_url),
                description=text_of(server, "description") or text_of(server, "name"),
                template=template if variables else None,
                variables=variables,
                origins=origins,
            )
        )
    plain_twins = {f"http://{endpoint.url[8:]}" for endpoint in endpoints if endpoint.url.startswith("https://")}
    complete = [endpoint.url.rstrip("/") for endpoint in endpoints if is_absolute(endpoint)]

    def rank(at: Endpoint) -> tuple[bool, ...]:
        host, path = host_of(at.url), at.url.rstrip("/")
        is_elsewhere = host is not None and is_private(host) and host != host_of(base_url or "")
        is_known_better = not is_absolute(at) and any(at.url[:1] != "/" or url.endswith(path) for url in complete)
        is_mock, is_placeholder = _MOCK.search(at.description or "") is not None, _PLACEHOLDER.match(at.url) is not None
        return is_elsewhere, is_known_better, at.url in plain_twins, is_mock, is_placeholder

    endpoints.sort(key=rank)
    if endpoints and host_of(endpoints[0].url) != host_of(base_url or ""):
        path = _PLACEHOLDER.sub("", endpoints[0].url) or "/"
        endpoints[0] = replace(endpoints[0], url=path)
    return tuple(endpoints)


def is_absolute(endpoint: Endpoint) -> bool:
    """True if the URL does not depend on where the description is."""
    return endpoint.url.startswith(("http://", "https://"))


def _variables(raw: dict[str, Json], template: str) -> list[EndpointVariable]:
    """Returns the declared variables that a URL has; one without a default stays `{variable}` in it."""
    used = set(_VARIABLE.findall(template))
    return [
        EndpointVariable(
            name=name,
            default=default if (default := scalar_text(as_dict(variable).get("default"))) != f"{{{name}}}" else None,
            choices=tuple(filter(None, map(scalar_text, as_list(as_dict(variable).get("enum"))))),
            description=text_of(variable, "description"),
        )
        for name, variable in raw.items()
        if name in used
    ]


def scalar_text(value: Json) -> str | None:
    """Returns a value as a string, such as a version or a port, which YAML without quotes makes a number; `None` for a
    blank string, or another type."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) and value.strip() else None


def _absolute(url: str, base_url: str | None) -> str:
    if base_url is not None:
        with suppress(ValueError):  # an invalid port or bracket
            url = urljoin(base_url, url)
    return without_credentials(url)
