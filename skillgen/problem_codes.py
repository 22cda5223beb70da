"""Every kind of problem that skillgen reports: its code, level, meaning, fix and clause.

A code is declared here and nowhere else; its examples are in rules/examples.yaml. Level and fix of a problem follow
from its code, and docs/rules.md is built from both files. A code and its level are stable between versions.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Literal, get_args

from msgspec import Struct
from msgspec.structs import replace

Level = Literal["info", "warning", "error"]


Subject = Literal["documentation", "identifiers", "inputs", "results", "errors", "effects", "safety"]
"""A part of the quality of a source."""


WHERE = "where"


class ProblemCode(Struct, frozen=True):
    """A kind of problem."""

    level: Level
    """`info`: worth knowing; `warning`: the documents are incomplete or could mislead; `error`: the run fails, and its
    exit code says so; of `lint` alone, what is useless to agents."""

    meaning: str
    """What is wrong, in one clause that is true of every problem with this code."""

    fix: str = ""
    """What to do about it, in the imperative; empty if nothing is to be done. A problem may have a more exact one."""

    clause: str = ""
    """The specification and its section that asks for it, followed by `(MUST)` or `(SHOULD)` if it says so."""

    subject: Subject | None = None
    """The part of the quality score in which it counts."""

    known_as: str = ""
    """Its codes in public scanners, such as that of Snyk's agent-scan."""

    is_optional: bool = False
    """Whether `lint` reports it only if --select names it, because most sources have it."""

    missing: str = ""
    """The part of the source that is not read completely, such as `ai_help`; `WHERE` if `where` of the problem names
    it, and empty if nothing is missing."""

    @property
    def demand(self) -> Literal["", "MUST", "SHOULD"]:
        """How strictly the clause asks for it."""
        return "MUST" if self.clause.endswith("(MUST)") else "SHOULD" if self.clause.endswith("(SHOULD)") else ""


def _asked_by(clause: str, codes: Mapping[str, ProblemCode]) -> dict[str, ProblemCode]:
    """Returns kinds of problems with the clause that asks for all of them."""
    return {code: replace(kind, clause=clause) for code, kind in codes.items()}


_info, _warning, _error = (partial(ProblemCode, level) for level in get_args(Level))

CODES: Mapping[str, ProblemCode] = {
    # All sources.
    "addresses-reader": _warning(
        "a text may instruct the model instead of describing the service",
        "describe what the tool does instead, if the text is an instruction",
        subject="safety",
        known_as="Snyk agent-scan E001 to E003, ATR-2026-00001, -00100, -00105 and -00161",
    ),
    "control-characters": _warning(
        "the document contains control characters, which are replaced",
        "save the document as text without control characters",
    ),
    "credential-left-out": _warning(
        "a text holds what looks like a credential, which is replaced",
        "remove it from the source, and revoke it if it is real",
        clause="dashdash, MCP servers, 5.1 (MUST)",
        subject="safety",
        known_as="Snyk agent-scan W008",
    ),
    "documents-left-out": _warning(
        "the YAML file has several documents; only the first is read", "move each document to a separate file"
    ),
    "duplicate-key": _warning(
        "a key occurs twice in one object; the last value is used", "remove one", clause="RFC 8259, 4"
    ),
    "effect-lowered": _info(
        "skillgen.yaml overrules the source, which declares a tool more dangerous",
        "make sure that the source is wrong",
    ),
    "example-invalid": _info(
        "a declared value does not match its schema",
        "correct the value or the schema",
        clause="JSON Schema 2020-12, Validation, 9.5 (SHOULD)",
        subject="results",
    ),
    "example-not-shown": _info(
        "a declared example holds a value that is left out of documents", "replace the value by a neutral one"
    ),
    "example-too-long": _info("a declared example is too long for the documents", "shorten it", is_optional=True),
    "extra-empty": _warning(
        "a text of --extra has neither front matter nor sections", "give a text with front matter or sections"
    ),
    "facts-disagree": _info(
        "two places declare different values; the one that ranks higher is used",
        "declare the same value in both places, or in one",
    ),
    "group-unknown": _warning(
        "skillgen.yaml names a group that the service does not have", "correct the name, or remove it"
    ),
    "internal-address": _warning(
        "a text names a host in a private network",
        "remove it from the source if it is not public",
        clause="dashdash, MCP servers, 5.1 (MUST)",
        subject="safety",
    ),
    "invisible-characters": _info(
        "a text holds invisible characters, which are left out", "remove them", subject="safety"
    ),
    "member-coerced": _info(
        "a field has a value of another type, which is read as the expected one", "write it as the expected type"
    ),
    "like-an-order": _info(
        "a text has words of an instruction to a model, but does not speak to one",
        "say what the tool does in other words, if agents could take it for an instruction",
        subject="safety",
    ),
    "member-invalid": _warning(
        "a field has a value of a wrong type or form, which is left out", "correct it, or remove it"
    ),
    "name-addresses-reader": _warning(
        "a name may instruct the model; it is not changed", "choose a name that says what it is", subject="safety"
    ),
    "name-look-alike": _warning(
        "a name looks like another name, or mixes alphabets",
        "rename one of them",
        clause="Unicode TR 39",
        subject="identifiers",
        known_as="ATR-2026-00086",
    ),
    "name-not-exact": _warning(
        "a name holds characters that cannot be shown, so it cannot be called",
        "give the tool a name without invisible characters",
        subject="identifiers",
    ),
    "nested-too-deeply": _warning("the document is nested too deeply; deeper levels are left out", "flatten it"),
    "pattern-unmatched": _warning(
        "a pattern of --include, --exclude or tools matches no tool", "check the spelling, or remove the pattern"
    ),
    "private-address": _info("an endpoint is reached only in a private network", "declare a public address"),
    "safety-facts-disagree": _warning(
        "facts on safety contradict each other; the cautious one is used",
        "correct the fact that is wrong, or declare the effect in skillgen.yaml (tools)",
        clause="TDQS, Annotation Contradiction",
        subject="effects",
        known_as="ATR-2026-00106",
    ),
    "secret-echoed": _warning(
        "the source repeats a secret that was passed to it", "make the source never return what it receives as a secret"
    ),
    "service-failed": _error("a service could not be read, or its documents not written"),
    "snapshot-part-unknown": _warning(
        "a snapshot of another release has what this one does not know; it is left out",
        "capture it again with `skillgen inspect`",
    ),
    "suspicious-characters": _warning(
        "a text hides characters where no writing system needs them",
        "remove them",
        clause="Unicode TR 36",
        subject="safety",
    ),
    "text-too-long": _warning(
        "a text is too long for the documents; only its start is used", "shorten it in the source"
    ),
    "url-secret-left-out": _info(
        "the URL of the source seems to hold a secret, which is replaced", "document which value to fill in"
    ),
    "workflow-invalid": _warning(
        "a part of an Arazzo file is invalid, or does not fit the description",
        "correct it there",
        clause="Arazzo 1.1, 4 (MUST)",
    ),
    "workflow-left-out": _info(
        "a workflow needs what is not documented, or calls nothing of the service, so it is left out",
        "select its tools too, or remove it",
    ),
    "workflow-operation-unknown": _warning(
        "a step of a workflow names an operation or a workflow that does not exist, so the workflow is left out",
        "correct the name in the Arazzo file",
        clause="Arazzo 1.1, Step Object (MUST)",
    ),
    "workflow-step-not-http": _info(
        "a step of a workflow sends or receives a message, which is not a call of the service",
        "say in its description how it is done",
    ),
    "version-of-sdk": _warning(
        "the server reports the version of its SDK as its own",
        "set a version in the server, or with the option `version` (`--service-version`)",
    ),
    # Command-line programs.
    "command-unknown": _warning(
        "nothing declares with which command users start the program", "name the command with --program"
    ),
    "command-unreadable": _warning(
        "a command of a program cannot be read, so it is left out", "run it by hand, and correct its program"
    ),
    "help-unread": _warning(
        "the help of commands is not read; they have the line that lists them", "add what is known of them with --extra"
    ),
    "hidden-left-out": _info("commands or options that help hides are left out"),
    # Schemas.
    "dynamic-reference": _info(
        "$dynamicRef or $recursiveRef is read as a plain $ref",
        "use $ref if that is meant",
        clause="JSON Schema 2020-12, Core, 8.2.3.2",
    ),
    "properties-undescribed": _info(
        "parameters or properties have no description",
        "add a description to each",
        clause="MCP REST Edition, 4.3 (SHOULD)",
        is_optional=True,
    ),
    "reference-not-followed": _warning(
        "a $ref points outside the document and is not followed", "put the schema into the document"
    ),
    "reference-not-found": _warning("a $ref points to nothing", "correct it", subject="inputs"),
    "reference-siblings-ignored": _info(
        "keywords next to a $ref are ignored by this dialect",
        "put the $ref into an allOf",
        clause="OpenAPI 3.0, Reference Object",
    ),
    "schema-invalid": _warning(
        "a schema or one of its keywords is invalid",
        "correct the schema",
        clause="JSON Schema 2020-12, Validation",
        subject="inputs",
    ),
    "schema-too-deep": _warning(
        "a schema is nested too deeply; deeper levels are left out",
        "move deeper levels into named schemas, or flatten them",
    ),
    "schema-too-large": _warning("a schema is too large; the rest is left out", "split it into several schemas"),
    # OpenAPI descriptions.
    "base-url-missing": _warning(
        "no absolute URL of the API is declared",
        "declare it under `servers`, or set the option `base-url`",
        clause="OpenAPI 3.1, Server Object (SHOULD)",
    ),
    "body-without-content": _warning(
        "a request body declares no media type", "add `content`", clause="OpenAPI 3.1, Request Body Object (MUST)"
    ),
    "body-untyped": _warning(
        "a request body has no schema",
        "add a schema to its media type",
        clause="MCP REST Edition, 4.3 (MUST)",
        subject="inputs",
    ),
    "description-missing": _warning(
        "the API has no description",
        "add info.description",
        clause="MCP REST Edition, 3.3 (MUST)",
        subject="documentation",
    ),
    "dialect-differs": _info(
        "a schema declares another dialect than the description",
        "use one dialect for all schemas",
        clause="OpenAPI 3.1, Schema Object",
    ),
    "dialect-unknown": _info(
        "the declared dialect of schemas is unknown",
        "leave `jsonSchemaDialect` out, or name a known dialect",
        clause="OpenAPI 3.1, OpenAPI Object",
    ),
    "document-not-read": _warning(
        "a document that the description refers to could not be read",
        "correct the reference, or allow it with an option",
    ),
    "error-message-missing": _warning(
        "the body of an error has no property for what went wrong",
        "add a text such as `message` that says what went wrong",
        clause="MCP REST Edition, 6.1 (SHOULD)",
        subject="errors",
    ),
    "events-not-detailed": _info("webhooks and callbacks are listed without their contents"),
    "header-parameter-ignored": _warning(
        "OpenAPI ignores header parameters of this name",
        "remove it; declare media types or `security` instead",
        clause="OpenAPI 3.1, Parameter Object (MUST)",
    ),
    "manifest-media-type": _info(
        "a manifest is served with a media type that is neither of JSON nor of YAML",
        "serve it as application/yaml or application/json",
        clause="MCP REST Edition, 3.1 (MUST)",
    ),
    "mcp-disabled": _info(
        "the description excludes an operation from MCP servers",
        "leave it out with the option `exclude` if it is not for agents",
    ),
    "method-misplaced": _warning(
        "`additionalOperations` has a method with a member of its own",
        "move it to the path item",
        clause="OpenAPI 3.2, Path Item Object (MUST)",
    ),
    "no-operations": _warning(
        "the description has no operations", "add operations under `paths`", clause="OpenAPI 3.1, Paths Object"
    ),
    "oauth-missing": _info(
        "a manifest declares no OAuth 2.0 authorization code flow",
        "declare it if the service has one",
        clause="MCP REST Edition, 5.1 (MUST)",
    ),
    "object-expected": _warning("a value that must be an object is of another type", "write an object"),
    "operation-id-duplicate": _warning(
        "two operations have the same operationId",
        "make it unique",
        clause="OpenAPI 3.1, Operation Object; MCP REST Edition, 4.1 (MUST)",
        subject="identifiers",
    ),
    "overlay-action-invalid": _warning(
        "an action of an overlay cannot be applied", "correct the overlay", clause="Overlay 1.1, Action Object"
    ),
    "overlay-path-invalid": _warning(
        "a JSONPath of an overlay cannot be evaluated", "correct the overlay", clause="RFC 9535"
    ),
    "overlay-target-unmatched": _warning(
        "the target of an overlay's action selects nothing", "correct the overlay", clause="Overlay 1.1, Action Object"
    ),
    "parameter-duplicate": _warning(
        "a parameter is declared twice; the last declaration is used",
        "remove one",
        clause="OpenAPI 3.1, Operation Object (MUST)",
    ),
    "parameter-invalid": _warning(
        "a parameter has no name or an unknown location",
        "give it a `name`, and `in` with one of the known locations",
        clause="OpenAPI 3.1, Parameter Object (MUST)",
    ),
    "parameter-untyped": _warning(
        "a parameter has neither a schema nor content",
        "add a schema",
        clause="OpenAPI 3.1, Parameter Object; MCP REST Edition, 4.3 (MUST)",
        subject="inputs",
    ),
    "path-invalid": _warning(
        "a path is not valid",
        "begin it with a slash, and declare the query as parameters",
        clause="OpenAPI 3.1, Paths Object (MUST)",
    ),
    "path-parameter-missing": _warning(
        "no parameter declares a variable of the path",
        "declare it with `in: path`",
        clause="OpenAPI 3.1, Path Templating (MUST)",
        subject="inputs",
    ),
    "path-parameter-unused": _warning(
        "the path has no variable for a path parameter",
        "add it to the path, or remove it",
        clause="OpenAPI 3.1, Path Templating (MUST)",
    ),
    "paths-missing": _warning(
        "the description has neither paths nor webhooks nor components",
        "add `paths`",
        clause="OpenAPI 3.1, OpenAPI Object (MUST)",
    ),
    "properties-forbidden": _info(
        "one part of a body forbids properties that another part requires",
        "remove `additionalProperties: false` from the schemas in `allOf`",
    ),
    "querystring-not-alone": _warning(
        "a `querystring` parameter is declared next to `query` parameters",
        "declare either the one or the others",
        clause="OpenAPI 3.2, Parameter Object (MUST)",
    ),
    "responses-missing": _info(
        "an operation declares no responses",
        "add `responses`",
        clause="OpenAPI 3.0, Operation Object (SHOULD)",
        subject="results",
    ),
    "result-unsaid": _info(
        "an operation does not say what it returns",
        "say in the description what comes back, or declare the response with a schema",
        clause="MCP REST Edition, 4.2 (SHOULD)",
        subject="results",
    ),
    "screen-mentioned": _info(
        "an operation mentions an element of a screen",
        "say what the operation does",
        clause="MCP REST Edition, 4.2 (SHOULD)",
        subject="documentation",
        is_optional=True,
    ),
    "security-invalid": _warning(
        "a security requirement is invalid",
        "write a list such as `- NAME: []`, or `[]` for no authentication",
        clause="OpenAPI 3.1, Security Requirement Object (MUST)",
    ),
    "security-missing": _info(
        "a manifest declares no security requirement for all operations",
        "declare `security` with the scheme that every operation needs",
        clause="MCP REST Edition, 5.1 (MUST)",
    ),
    "security-scheme-invalid": _warning(
        "a security scheme is invalid",
        "declare its `type`, and what that type requires",
        clause="OpenAPI 3.1, Security Scheme Object (MUST)",
    ),
    "security-scheme-missing": _warning(
        "operations require a security scheme that is not declared",
        "declare it, or correct the name",
        clause="OpenAPI 3.1, Security Requirement Object (MUST)",
        subject="safety",
    ),
    "server-invalid": _warning(
        "a server has no valid URL", "give it a URL", clause="OpenAPI 3.1, Server Object; Swagger 2.0 (MUST)"
    ),
    "server-scheme-missing": _info(
        "the URL of a server has no scheme; https is assumed", "add it", clause="OpenAPI 3.1, Server Object"
    ),
    "server-variable-missing": _warning(
        "a variable in the URL of a server is not declared",
        "declare it, with a default",
        clause="OpenAPI 3.1, Server Object (MUST)",
    ),
    "server-variable-without-default": _warning(
        "a variable of a server has no default", "add one", clause="OpenAPI 3.1, Server Variable Object (MUST)"
    ),
    "status-invalid": _warning(
        "the key of a response is not an HTTP status",
        "write three digits, a range such as `4XX`, or `default`",
        clause="OpenAPI 3.1, Responses Object (MUST)",
    ),
    "tag-invalid": _warning("a tag has no name", "add one", clause="OpenAPI 3.1, Tag Object (MUST)"),
    "tag-parent-circular": _warning(
        "a tag is its own ancestor", "remove one of the parents", clause="OpenAPI 3.2, Tag Object (MUST)"
    ),
    "tag-parent-missing": _warning(
        "the parent of a tag is not declared", "declare it", clause="OpenAPI 3.2, Tag Object (MUST)"
    ),
    "url-invalid": _warning("a URL has a scheme that is neither of HTTP nor of WebSocket", "correct it"),
    "version-old": _warning(
        "a manifest has a version that the MCP REST Edition does not accept",
        "move to 3.1",
        clause="MCP REST Edition, 3.2 (MUST)",
    ),
    "version-unknown": _warning(
        "the version of OpenAPI is unknown; it is read as the newest one",
        "declare a released version",
        clause="OpenAPI 3.1, Versions",
    ),
    **_asked_by(
        "OpenAPI 3.1, Path Item Object (MUST)",
        {
            "member-misplaced": _warning(
                "a path item has a member that belongs in its operations", "move it into each operation of the path"
            ),
            "method-misspelt": _warning("a method is not written in lower case", "write it in lower case"),
            "method-unknown": _warning(
                "a member of a path item is not a method", "move other methods to `additionalOperations` (3.2)"
            ),
            "operation-invalid": _warning("an operation is not an object", "write an Operation Object"),
        },
    ),
    **_asked_by(
        "MCP REST Edition, 4.1 (MUST)",
        {
            "operation-id-missing": _warning(
                "an operation has no operationId", "give it an operationId", subject="identifiers"
            ),
            "tool-description-missing": _info(
                "an operation has no description",
                "add `description`: when to use it, what it returns, what limits it has",
                subject="documentation",
            ),
            "tool-summary-missing": _info(
                "an operation has no summary", "add `summary`, one line that says what it does", subject="documentation"
            ),
            "tool-undescribed": _warning(
                "an operation has neither summary nor description",
                "say in `summary` and `description` what it does, when to use it and what it returns",
                subject="documentation",
            ),
        },
    ),
    **_asked_by(
        "OpenAPI 3.1, Info Object; MCP REST Edition, 3.3 (MUST)",
        {
            "title-missing": _warning("the API has no title", "add info.title"),
            "version-missing": _warning("the API has no version", "add info.version"),
            "version-not-text": _warning("the version of the API is a number", "put it in quotes"),
        },
    ),
    # MCP servers.
    "ai-help-invalid": _warning(
        "the server's ai_help text does not have the specified form",
        "answer with `content` in Markdown that begins with front matter",
        clause="dashdash, MCP servers, 3.3.1 (MUST)",
        missing="ai_help",
    ),
    "generated-text-edited": _warning(
        "a text that skillgen wrote was edited before the server served it, or before it was passed to --extra",
        "write the edit into skillgen.yaml, or below the heading From the Service, which is read",
        missing="ai_help",
    ),
    "ai-help-missing": _info(
        "the server's ai_help could not be read",
        "answer `ai_help`, or do not promise it",
        clause="dashdash, MCP servers, 3.3",
        missing=WHERE,
    ),
    "confirmation-message-missing": _warning(
        "a tool requires confirmation but has no message for it",
        "declare confirmation_message",
        clause="MCP extension proposals, 6 (SHOULD)",
        subject="effects",
    ),
    "disclosure-criterion-not-met": _info(
        "a criterion of progressive disclosure is not met",
        "do what the criterion asks for",
        clause="Progressive disclosure, 9 (MUST)",
    ),
    "disclosure-without-session": _warning(
        "progressive disclosure is used without sessions",
        "offer `io.modelcontextprotocol/groups` there",
        clause="Progressive disclosure, 5 (MUST)",
    ),
    "entry-invalid": _warning("an entry of a list is not an object", "write an object", clause="MCP (MUST)"),
    "group-failed": _warning(
        "the contents of a group could not be read",
        "make the server answer `groups/get` for each group that it lists",
        missing=WHERE,
    ),
    "groups-too-many": _warning(
        "the server has too many groups; the rest is not read", "offer fewer groups", missing="groups/get"
    ),
    "home-folder-replaced": _info(
        "texts of the server name its working folder or the folder of a user, which become . and ~",
        "make the server name no folder of its machine",
    ),
    "icon-left-out": _warning(
        "an icon has no usable address",
        "use an https URL of the server's own host, or a data URL of a PNG or JPEG image",
        clause="SEP-973, Security (MUST)",
    ),
    "input-schema-invalid": _warning(
        "the input schema of a tool is not an object schema",
        'declare "type": "object"',
        clause="MCP 2025-11-25, Tools (MUST)",
        subject="inputs",
    ),
    "input-schema-minimal": _info(
        "the input schema of a tool accepts any object",
        'declare its properties; "additionalProperties": false if it takes none',
        clause="MCP 2025-11-25, Tools (SHOULD)",
        subject="inputs",
    ),
    "input-schema-missing": _info(
        "a tool has no input schema", "declare an inputSchema", clause="MCP 2025-11-25, Tools (MUST)", subject="inputs"
    ),
    "legacy-handshake-missing": _info("the server did not answer the legacy handshake", missing=WHERE),
    "list-repeated": _warning(
        "a list repeats a page or a cursor, so its end cannot be reached",
        "leave `nextCursor` out of the last page",
        clause="MCP 2025-11-25, Pagination (MUST)",
        missing=WHERE,
    ),
    "list-failed": _warning("a list could not be read completely", "make the server answer it", missing=WHERE),
    "list-incomplete": _warning(
        "the server asks for input while a list is read",
        "list without asking for input",
        clause="MCP 2026-07-28",
        missing=WHERE,
    ),
    "list-not-offered": _info(
        "the server declares a list but does not offer it",
        "do not declare the capability, or answer the list",
        clause="MCP 2025-11-25, Lifecycle (MUST)",
        missing=WHERE,
    ),
    "list-too-long": _warning(
        "reading a list took too long, or it has too many pages", "return larger pages, or fewer entries", missing=WHERE
    ),
    "manifest-auth-method-unknown": _info(
        "the manifest declares an unknown authentication method",
        "name a method that is specified",
        clause="MCP extension proposals, 4 (MUST)",
    ),
    "manifest-word-unknown": _info(
        "the manifest uses a value that is not specified",
        "use a value that is specified",
        clause="MCP extension proposals, 3 (MUST)",
    ),
    "name-duplicate": _warning(
        "a name is listed twice; the second entry is left out",
        "rename or remove one",
        clause="MCP 2025-11-25, Tools (SHOULD)",
        subject="identifiers",
    ),
    "name-missing": _warning("an entry has no name", "declare a name"),
    "output-not-protocol": _info(
        "the server writes lines to standard output that are not messages, which some clients refuse",
        "write them to standard error",
        clause="MCP 2025-11-25, Transports",
    ),
    "text-not-decoded": _warning(
        "a text is not UTF-8; what cannot be read is U+FFFD in the documents",
        "make the server write UTF-8, whatever the encoding of its system",
        clause="MCP 2025-11-25, Transports (MUST)",
    ),
    "page-invalid": _warning(
        "a page of a list has no list",
        "return the list, which may be empty",
        clause="MCP 2025-11-25, Pagination (MUST)",
    ),
    "quick-reference-unknown-tool": _warning(
        "the quick reference lists an unknown tool",
        "correct the names or remove the lines",
        clause="dashdash, MCP servers, 3.3.2 (SHOULD)",
    ),
    "results-private": _info(
        "results of lists are meant for the user who asks",
        "review the documents before you share them",
        clause="MCP 2026-07-28",
    ),
    "risk-contradicted": _warning(
        "a tool is declared safe but destructive",
        "correct the fact that is wrong",
        clause="MCP extension proposals, 6",
        subject="effects",
    ),
    "scope-grants-unknown-tool": _warning(
        "a scope grants access to an unknown tool",
        "correct the name, or remove it",
        clause="MCP extension proposals, 4 (SHOULD)",
    ),
    "scope-undeclared": _warning(
        "a tool requires scopes that are not declared",
        "declare the scopes under `auth.scopes`",
        clause="MCP extension proposals, 4 (SHOULD)",
    ),
    "skill-allowed-tools": _info("a listed skill asks for tools to be approved in advance"),
    "skill-file-binary": _info("a file of a skill is not text; only its name is documented"),
    "skill-file-failed": _warning(
        "a file of a skill could not be read", "make the server answer `resources/read` for it", missing="skills/files"
    ),
    "skill-file-refused": _warning(
        "a file of a skill is refused",
        "make its path, size and digest those that the skill declares",
        missing="skills/files",
    ),
    "skill-files-too-many": _warning(
        "the skills of the server have too many files", "offer fewer files", missing="skills/files"
    ),
    "tool-description-extra": _warning(
        "a description contains tools that were not requested",
        "return only the tools that the URI names",
        clause="Progressive disclosure, 4.4 (MUST)",
    ),
    "tool-description-failed": _warning(
        "the description of a tool could not be read",
        "make the server answer for each tool that it lists",
        clause="Progressive disclosure, 4.3 (MUST)",
    ),
    "tool-header-invalid": _warning(
        "x-mcp-header of a tool is invalid, so no client may call it",
        "give each x-mcp-header a unique header name, on a property of type string, integer or boolean",
        clause="MCP 2026-07-28, Streamable HTTP (MUST)",
    ),
    "tools-authorised": _info(
        "reading the descriptions of tools authorises them",
        "set the option `no-tool-descriptions` to skip them",
        clause="Progressive disclosure, 5",
    ),
    "ai-help-not-offered": _info(
        "the server has dashdash, but no ai_help", "answer `ai_help`", clause="dashdash, MCP servers, 3.3.1 (SHOULD)"
    ),
    "ai-help-part-missing": _warning(
        "the server's ai_help text lacks a required part", "add it", clause="dashdash, MCP servers, 3.3.2 (MUST)"
    ),
    "dashdash-field-missing": _info(
        "dashdash of the server lacks recommended fields",
        "declare them",
        clause="dashdash, MCP servers, 3.1.2 (SHOULD)",
    ),
    "dashdash-resource-field-missing": _info(
        "dashdash of a resource lacks recommended fields",
        "declare them",
        clause="dashdash, MCP servers, 3.4.2 (SHOULD)",
    ),
    "disclosure-guidance-missing": _info(
        "the complete description of a tool has no examples or no advice on errors",
        "add `examples` and `error_guidance`",
        clause="Progressive disclosure, 3.2 (SHOULD)",
    ),
    "disclosure-media-type": _info(
        "the resource with the descriptions of tools is not declared as JSON",
        "declare the mimeType application/json",
        clause="Progressive disclosure, 4.1 (SHOULD)",
    ),
    "disclosure-workflow-unsaid": _warning(
        "the resource with the descriptions of tools does not say how to use it",
        "say to pick a tool, to read ?tools=NAME, and then to call it",
        clause="Progressive disclosure, 4.2 (MUST)",
    ),
    "manifest-estimate-missing": _info(
        "a tool of the manifest declares no cost or no latency",
        "declare `cost` and `latency`",
        clause="MCP extension proposals, 3 (SHOULD)",
    ),
    **_asked_by(
        "dashdash, MCP servers, 3.2.2 (SHOULD)",
        {
            "call-example-invalid": _warning(
                "a declared example call does not match the tool's own schema", "correct it", subject="inputs"
            ),
            "error-invalid": _warning("a declared error has no code or is not an object", "declare code"),
            "placeholder-unknown": _warning(
                "a message of a tool refers to an unknown parameter", "name a parameter of the tool"
            ),
            "reverse-method-unknown": _warning(
                "reverseMethod names an unknown tool", "name a tool of the server", subject="effects"
            ),
            "dashdash-tool-field-missing": _info("dashdash of a tool lacks recommended fields", "declare them"),
        },
    ),
    **_asked_by(
        "dashdash, MCP servers, 3.1.2 (MUST)",
        {
            "dashdash-access-level-missing": _warning("dashdash has no accessLevel", "declare accessLevel"),
            "dashdash-api-url-missing": _warning(
                "dashdash has no alternativeAccess.apiUrl",
                "declare alternativeAccess.apiUrl, or null if it has no such access",
            ),
            "dashdash-cli-url-missing": _warning(
                "dashdash has no alternativeAccess.cliUrl",
                "declare alternativeAccess.cliUrl, or null if it has no such access",
            ),
            "dashdash-description-without-trigger": _info(
                "the description does not say when to use the server", "add a sentence such as: Use when …"
            ),
            "dashdash-identity-description-missing": _warning(
                "dashdash has no identity.description", "declare identity.description"
            ),
            "dashdash-identity-name-invalid": _warning(
                "the name in dashdash is not a valid identifier", "use 1 to 64 lower-case letters, digits and hyphens"
            ),
            "dashdash-identity-name-missing": _warning("dashdash has no identity.name", "declare identity.name"),
            "dashdash-spec-version-invalid": _warning(
                "specVersion of dashdash is not a version", "write a version such as 0.2.0"
            ),
            "dashdash-spec-version-missing": _warning("dashdash has no specVersion", "declare specVersion"),
            "dashdash-spec-version-old": _warning("specVersion of dashdash is older than 0.2.0", "move to 0.2.0"),
            "dashdash-web-url-missing": _warning(
                "dashdash has no alternativeAccess.webUrl",
                "declare alternativeAccess.webUrl, or null if it has no such access",
            ),
        },
    ),
    **_asked_by(
        "MCP extension proposals, 1",
        {
            "manifest-failed": _warning(
                "the service manifest could not be read", "make `get_manifest` return a service manifest", missing=WHERE
            ),
            "manifest-tool-missing": _warning(
                "the server has no tool get_manifest", "leave out the option `call-get-manifest`"
            ),
            "manifest-tool-not-listed": _warning(
                "the manifest has tools that the server does not list",
                "list these tools or remove them from the manifest",
            ),
        },
    ),
    **_asked_by(
        "MCP extension proposals, 1 (MUST)",
        {
            "manifest-field-missing": _warning("the service manifest lacks a required field", "declare it"),
            "manifest-server-version-invalid": _warning(
                "the server's version in the manifest is not a version", "write a version such as 1.4.2"
            ),
            "manifest-version-unknown": _warning(
                "the version of the service manifest is unknown", "declare a version that is specified"
            ),
            "manifest-tool-name-invalid": _warning(
                "a name of a tool is not valid in a service manifest", "use lower-case letters, digits and underscores"
            ),
        },
    ),
    # Only `lint`, of names, texts and effects of all kinds.
    "ambiguous-alternatives": _info(
        "an input is one of several objects that nothing distinguishes",
        "declare a discriminator, a constant, or different required properties",
        subject="inputs",
    ),
    "default-contradicted": _warning(
        "a description says another default than the schema", "correct the one that is wrong", subject="inputs"
    ),
    "unknown-tool-named": _warning(
        "a text names a tool or a command that the service does not have",
        "write the exact name of the tool",
        subject="documentation",
    ),
    "unknown-name": _warning(
        "a person's text names a parameter, value, variable, option or path that the service does not have",
        "write the exact name",
    ),
    "call-refused": _warning("a call in a person's text does not match the schema of the tool", "correct the call"),
    "source-differs": _warning("a person's text has another version or URL than its source", "write that one"),
    "tool-unmentioned": _info("a skill does not mention tools of its source"),
    "brief-description": _info(
        "the description of a tool has one to three words",
        "say what it does, when to use it and what it returns",
        clause="TDQS, Purpose Clarity",
        subject="documentation",
    ),
    "deprecated-without-replacement": _info(
        "a deprecated tool does not say what to use instead",
        "name the replacement, or say that nothing replaces it",
        subject="documentation",
    ),
    "long-description": _info(
        "the description of a tool has more than 4,000 characters, which every conversation has to read",
        "move details into the schema, a prompt or a resource",
        clause="TDQS, Conciseness & Structure",
        subject="documentation",
    ),
    "many-parameters": _info(
        "a tool has more than 30 parameters, or more than 10 that are required",
        "split the tool, or give parameters defaults",
        subject="inputs",
    ),
    "mixed-name-styles": _info(
        "the names of tools join words in different ways",
        "write all names in one way",
        clause="TDQS, Naming Consistency",
        subject="identifiers",
    ),
    "name-too-long": _info(
        "the name of a tool is longer than the 64 characters that hosts accept",
        "choose a shorter one",
        clause="MCP REST Edition, 4.1 (MUST)",
        subject="identifiers",
    ),
    "usage-unsaid": _info(
        "a tool does not say when to use it, and when not",
        "say when it is the right one among similar tools",
        clause="TDQS, Usage Guidelines; MCP REST Edition, 4.2 (SHOULD)",
        subject="documentation",
        is_optional=True,
    ),
    # Only `lint`, of MCP servers.
    "destructive-unconfirmed": _info(
        "a tool is declared destructive, but requires no confirmation",
        "declare requires_confirmation with a confirmation_message",
        clause="MCP extension proposals, 6 (SHOULD)",
        subject="effects",
    ),
    "differs-by-run": _warning(
        "a text or a default is that of the time or the machine of the run, so every run changes the documents",
        "say in words what the default is, and leave the machine out",
        subject="documentation",
    ),
    "icon-not-portable": _info(
        "none of the icons is a PNG or JPEG image, which every client can show",
        "add one in image/png",
        clause="SEP-973, Icon (SHOULD)",
    ),
    "icon-size-invalid": _info(
        "the size of an icon is not a size", "write a size such as 48x48, or any", clause="SEP-973, Icon (SHOULD)"
    ),
    "name-not-portable": _warning(
        "the name of a tool has characters that hosts refuse, or is too long",
        "use 1 to 128 letters, digits, underscores, hyphens and dots",
        clause="MCP 2025-11-25, Tools (SHOULD)",
        subject="identifiers",
    ),
    "output-schema-invalid": _warning(
        "the output schema of a tool is not an object schema, which revisions before 2026-07-28 require",
        'declare "type": "object"',
        clause="MCP 2025-11-25, Tools (MUST)",
        subject="results",
    ),
    "prompt-undescribed": _info(
        "a prompt or one of its arguments has no description",
        "say what it is for",
        clause="MCP 2025-11-25, Prompts",
        subject="documentation",
    ),
    "resource-undescribed": _info(
        "a resource has no description",
        "say what it contains",
        clause="MCP 2025-11-25, Resources",
        subject="documentation",
    ),
    "service-undescribed": _info(
        "the server says nowhere what it is for",
        "declare `instructions`, or `description` in serverInfo",
        clause="MCP 2025-11-25, Lifecycle",
        subject="documentation",
        is_optional=True,
    ),
    "too-many-tools": _info(
        "the server lists more than 50 tools at once",
        "split the server, or offer groups or progressive disclosure",
        clause="TDQS, Tool Count Appropriateness",
        subject="documentation",
        known_as="Snyk agent-scan W002",
    ),
    # Only `lint`, of OpenAPI descriptions.
    "deep-input": _info(
        "what must be sent is nested four or more levels deep",
        "flatten the body, or make inner objects optional",
        subject="inputs",
    ),
    "key-in-query": _info(
        "an API key is sent in the query, which logs and histories keep", "accept it in a header too", subject="safety"
    ),
    "paging-without-cursor": _info(
        "an operation of a manifest returns pages, but takes no `cursor`",
        "accept `cursor` and `limit`, and return `next_cursor`",
        clause="MCP REST Edition, 6.2 (SHOULD)",
        subject="results",
    ),
    "list-without-paging": _info(
        "an operation returns a list of any length",
        "accept `cursor` and `limit`, and return `next_cursor`",
        clause="MCP REST Edition, 6.2 (SHOULD)",
        subject="results",
    ),
    "method-contradicts-name": _info(
        "a GET has the name of a call that changes something",
        "use POST, PUT, PATCH or DELETE, or choose another name",
        clause="RFC 9110, 9.2.1",
        subject="effects",
    ),
    "rate-limit-undeclared": _info(
        "no operation declares what happens after too many calls",
        "add a response 429 with the header Retry-After",
        clause="MCP REST Edition, 6.3 (SHOULD)",
        subject="errors",
        is_optional=True,
    ),
    "request-without-example": _info(
        "the body of an operation has no example",
        "add `example` to its media type or its schema",
        subject="inputs",
        is_optional=True,
    ),
    "server-without-tls": _warning(
        "credentials are sent to a server without encryption",
        "declare its https URL",
        clause="RFC 6750, 5.3",
        subject="safety",
    ),
    "ambiguous-identifier": _info(
        "a parameter has a general name such as `id`, and no description",
        "name what it identifies, or describe it",
        subject="identifiers",
    ),
    "errors-undeclared": _info(
        "an operation declares no errors",
        "add responses for `4XX`, or `default`",
        clause="MCP REST Edition, 6.1 (SHOULD)",
        subject="errors",
        is_optional=True,
    ),
    "errors-unstructured": _info(
        "no error of an operation declares its body",
        "declare a schema for the body of errors",
        clause="MCP REST Edition, 6.1 (SHOULD)",
        subject="errors",
    ),
    "result-without-example": _info(
        "the result of an operation has no example",
        "add `example` to its media type or its schema",
        subject="results",
        is_optional=True,
    ),
    "unconstrained-parameters": _info(
        "no parameter of an operation says which values it takes",
        "declare `enum`, `format`, `pattern`, or limits",
        subject="inputs",
        is_optional=True,
    ),
    # Only `lint`, of MCP servers and of both.
    "missing-annotations": _info(
        "a tool does not declare its effects",
        "declare annotations: readOnlyHint, destructiveHint, idempotentHint and openWorldHint",
        clause="TDQS; MCP 2025-11-25, ToolAnnotations",
        subject="effects",
    ),
    "no-description": _error(
        "a tool has no description",
        "say what it does, when to use it and what it returns",
        clause="TDQS; MCP 2025-11-25, Tools",
        subject="documentation",
    ),
    "no-output-schema": _info(
        "a tool does not declare the structure of its result",
        "declare an outputSchema, or say in the description what comes back",
        clause="TDQS; MCP REST Edition, 4.4; MCP 2025-11-25, Tools (SHOULD)",
        subject="results",
        is_optional=True,
    ),
    **_asked_by(
        "TDQS",
        {
            "shadow-candidate": _warning(
                "two tools have the same words in name or description, so an agent cannot distinguish them",
                "say in each how it differs from the other, or merge them",
                subject="documentation",
            ),
            "tautological-description": _warning(
                "the description of a tool only repeats its name",
                "say what it does, when to use it and what it returns",
                subject="documentation",
            ),
            "undocumented-parameters": _info(
                "more than half of the parameters of a tool have no description",
                "add a description to each",
                subject="inputs",
            ),
        },
    ),
    # Documents and files.
    "allowed-tools-left-out": _warning(
        "the source wants tools to run without asking; not passed on", "grant it yourself if you trust the service"
    ),
    "allowed-tools-passed-on": _warning(
        "the skill lets tools run without asking, as the source wants",
        "use the profile `portable` to leave allowed-tools out",
    ),
    "description-inferred": _warning(
        "the source does not say what the service does",
        "declare a description in the source, or with the option `description`",
        subject="documentation",
    ),
    "documents-left": _warning(
        "the target or server of documents no longer exists",
        "delete them with the option `prune`, or restore the target",
    ),
    "edited": _warning(
        "a generated file was edited; a run would stop", "run without --check to see the edits and how to keep them"
    ),
    "installed-skill-left": _warning("an installed skill is a copy of documents that no longer exist", "delete it"),
    "text-names-gone": _error(
        "a text of the author names a tool that the service does not have",
        "correct it, or renew it with `skillgen draft --outdated`",
    ),
    "text-outdated": _warning(
        "the source changed since `skillgen draft` wrote the texts",
        "renew them with `skillgen draft --outdated`, or confirm them by applying the answer {}",
    ),
    "invocation-left-out": _info(
        "the profile has no field for how the skill may be invoked", "use the profile `claude` to write them"
    ),
    "note-without-place": _warning(
        "the section of what a person wrote is gone; it is kept at the end", "move it where it belongs, or delete it"
    ),
    "replaced-text-changed": _warning(
        "generated text changed that a person's region replaces", "check whether your text is still correct"
    ),
    "site-partial": _warning(
        "a service failed, so the documents above those of several services are not all renewed",
        "run it again when every service can be read",
    ),
    "service-replaced": _warning(
        "the documents of one service are replaced by those of another", "give each service its own folder"
    ),
    "format-left-out": _warning(
        "a format is not written, because the source does not declare what it requires",
        "declare it in the source, or leave the format out of --emit",
    ),
    "published-without": _warning(
        "a file for publishing lacks what the source does not declare, or what the format cannot express",
        "declare it in the source or in skillgen.yaml",
    ),
    "publisher-inferred": _info(
        "the publisher of the service follows from its homepage or repository", "declare it with --publish"
    ),
    "registry-duplicate": _warning(
        "two folders of a registry have entries with one name, and only the first is in it",
        "give one of the services another name, with --name",
    ),
    "registry-entry-invalid": _warning(
        "a registry.json is not the entry of a service", "write it again with --emit registry"
    ),
    "skill-renamed": _warning(
        "the skill has another name than in the existing documents", "keep the old name with the option `name`"
    ),
    "skill-shortened": _warning(
        "the source's names and descriptions are too long for SKILL.md",
        "shorten names, uses and descriptions in the source, or the templates",
    ),
    "skill-without-front-matter": _warning(
        "SKILL.md has no front matter, so hosts do not find the skill",
        "begin the template with {{ fields|front_matter }}",
        clause="Agent Skills, SKILL.md format",
    ),
    "stale-file-kept": _warning(
        "a file that is no longer written was edited, so it is not deleted",
        "delete it after saving your text elsewhere",
    ),
    "unknown-template": _warning("a template of the user is not used", "correct its name, or remove it"),
}
"""Code of a problem to what it means, by the part of skillgen that reports it."""
