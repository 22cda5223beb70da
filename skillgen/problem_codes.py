"""Every kind of problem that skillgen reports: its code, its level and its meaning.

A code is declared here and nowhere else. Its level follows from it, and docs/problems.md is built from this table. A
code and its level are stable between versions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

Level = Literal["info", "warning", "error"]


WHERE = "where"


class ProblemCode(Struct, frozen=True):
    """A kind of problem."""

    level: Level
    """`info`: worth knowing; `warning`: the documents are incomplete or could mislead; `error`: the run fails, and its
    exit code says so."""

    meaning: str
    """What is wrong, in one clause that is true of every problem with this code."""

    missing: str = ""
    """The part of the source that is not read completely, such as `ai_help`; `WHERE` if `where` of the problem names
    it, and empty if nothing is missing."""


CODES: Mapping[str, ProblemCode] = {
    # All sources.
    "addresses-reader": ProblemCode("warning", "a text instructs the model instead of describing the service"),
    "control-characters": ProblemCode("warning", "the document contains control characters, which are replaced"),
    "credential-left-out": ProblemCode("warning", "a text holds what looks like a credential, which is replaced"),
    "documents-left-out": ProblemCode("warning", "the YAML file has several documents; only the first is read"),
    "duplicate-key": ProblemCode("warning", "a key occurs twice in one object; the last value is used"),
    "effect-lowered": ProblemCode(
        "info", "skillgen.yaml declares a tool less dangerous than its source; its word counts"
    ),
    "example-invalid": ProblemCode("info", "a declared value does not match its schema"),
    "example-missing": ProblemCode("info", "no valid example call could be generated"),
    "example-not-shown": ProblemCode("info", "a declared example holds a value that is left out of documents"),
    "example-too-long": ProblemCode("info", "a declared example is too long for the documents"),
    "extra-empty": ProblemCode("warning", "a text of --extra has neither front matter nor sections"),
    "facts-disagree": ProblemCode("info", "two places declare different values; the one that ranks higher is used"),
    "group-unknown": ProblemCode("warning", "skillgen.yaml names a group that the service does not have"),
    "internal-address": ProblemCode("warning", "a text names a host in a private network"),
    "invisible-characters": ProblemCode("info", "a text holds invisible characters, which are left out"),
    "member-coerced": ProblemCode("info", "a field has a value of another type, which is read as the expected one"),
    "member-invalid": ProblemCode("warning", "a field has a value of a wrong type or form, which is left out"),
    "name-addresses-reader": ProblemCode("warning", "a name instructs the model; it is not changed"),
    "name-look-alike": ProblemCode("warning", "a name looks like another name, or mixes alphabets"),
    "name-not-exact": ProblemCode("warning", "a name holds characters that cannot be shown, so it cannot be called"),
    "nested-too-deeply": ProblemCode("warning", "the document is nested too deeply; deeper levels are left out"),
    "pattern-unmatched": ProblemCode("warning", "a pattern of --include, --exclude or tools matches no tool"),
    "private-address": ProblemCode("info", "an endpoint is reached only in a private network"),
    "safety-facts-disagree": ProblemCode("warning", "facts on safety contradict each other; the cautious one is used"),
    "secret-echoed": ProblemCode("warning", "the source repeats a secret that was passed to it"),
    "service-failed": ProblemCode("error", "a service could not be read, or its documents not written"),
    "suspicious-characters": ProblemCode("warning", "a text hides characters where no writing system needs them"),
    "text-too-long": ProblemCode("warning", "a text is too long for the documents; only its start is used"),
    "url-secret-left-out": ProblemCode("info", "the URL of the source seems to hold a secret, which is replaced"),
    "version-of-sdk": ProblemCode("warning", "the server reports the version of its SDK as its own"),
    # Schemas.
    "dynamic-reference": ProblemCode("info", "$dynamicRef or $recursiveRef is read as a plain $ref"),
    "properties-undescribed": ProblemCode("info", "parameters or properties have no description"),
    "reference-not-followed": ProblemCode("warning", "a $ref points outside the document and is not followed"),
    "reference-not-found": ProblemCode("warning", "a $ref points to nothing"),
    "reference-siblings-ignored": ProblemCode("info", "keywords next to a $ref are ignored by this dialect"),
    "schema-invalid": ProblemCode("warning", "a schema or one of its keywords is invalid"),
    "schema-too-deep": ProblemCode("warning", "a schema is nested too deeply; deeper levels are left out"),
    "schema-too-large": ProblemCode("warning", "a schema is too large; the rest is left out"),
    # OpenAPI descriptions.
    "base-url-missing": ProblemCode("warning", "no absolute URL of the API is declared"),
    "body-without-content": ProblemCode("warning", "a request body declares no media type"),
    "description-missing": ProblemCode("warning", "the API has no description"),
    "dialect-differs": ProblemCode("info", "a schema declares another dialect than the description"),
    "dialect-unknown": ProblemCode("info", "the declared dialect of schemas is unknown"),
    "document-not-read": ProblemCode("warning", "a document that the description refers to could not be read"),
    "error-message-missing": ProblemCode("warning", "the body of an error has no property for what went wrong"),
    "events-not-detailed": ProblemCode("info", "webhooks and callbacks are listed without their contents"),
    "header-parameter-ignored": ProblemCode("warning", "OpenAPI ignores header parameters of this name"),
    "host-invalid": ProblemCode("warning", "the host of a Swagger description is not a host"),
    "mcp-disabled": ProblemCode("info", "the description excludes an operation from MCP servers"),
    "member-misplaced": ProblemCode("warning", "a path item has a member that belongs in its operations"),
    "method-misplaced": ProblemCode("warning", "`additionalOperations` has a method with a member of its own"),
    "method-misspelt": ProblemCode("warning", "a method is not written in lower case"),
    "method-unknown": ProblemCode("warning", "a member of a path item is not a method"),
    "no-operations": ProblemCode("warning", "the description has no operations"),
    "oauth-missing": ProblemCode("info", "no OAuth 2.0 authorization code flow is declared"),
    "object-expected": ProblemCode("warning", "a value that must be an object is of another type"),
    "operation-id-duplicate": ProblemCode("warning", "two operations have the same operationId"),
    "operation-id-missing": ProblemCode("warning", "an operation has no operationId"),
    "operation-invalid": ProblemCode("warning", "an operation is not an object"),
    "overlay-action-invalid": ProblemCode("warning", "an action of an overlay cannot be applied"),
    "overlay-copy-invalid": ProblemCode("warning", "the source of an overlay's copy action cannot be used"),
    "overlay-path-invalid": ProblemCode("warning", "a JSONPath of an overlay cannot be evaluated"),
    "overlay-target-unmatched": ProblemCode("warning", "the target of an overlay's action selects nothing"),
    "parameter-duplicate": ProblemCode("warning", "a parameter is declared twice; the last declaration is used"),
    "parameter-invalid": ProblemCode("warning", "a parameter has no name or an unknown location"),
    "parameter-untyped": ProblemCode("warning", "a parameter has neither a schema nor content"),
    "path-invalid": ProblemCode("warning", "a path is not valid"),
    "path-parameter-missing": ProblemCode("warning", "no parameter declares a variable of the path"),
    "path-parameter-unused": ProblemCode("warning", "the path has no variable for a path parameter"),
    "paths-missing": ProblemCode("warning", "the description has neither paths nor webhooks nor components"),
    "properties-forbidden": ProblemCode("info", "one part of a body forbids properties that another part requires"),
    "querystring-not-alone": ProblemCode("warning", "a `querystring` parameter is declared next to `query` parameters"),
    "responses-missing": ProblemCode("info", "an operation declares no responses"),
    "result-unsaid": ProblemCode("info", "an operation does not say what it returns"),
    "screen-mentioned": ProblemCode("info", "an operation mentions an element of a screen"),
    "security-invalid": ProblemCode("warning", "a security requirement is invalid"),
    "security-missing": ProblemCode("info", "no security requirement for all operations is declared"),
    "security-scheme-invalid": ProblemCode("warning", "a security scheme is invalid"),
    "security-scheme-missing": ProblemCode("warning", "operations require a security scheme that is not declared"),
    "server-invalid": ProblemCode("warning", "a server has no valid URL"),
    "server-scheme-missing": ProblemCode("info", "the URL of a server has no scheme; https is assumed"),
    "server-variable-missing": ProblemCode("warning", "a variable in the URL of a server is not declared"),
    "server-variable-without-default": ProblemCode("warning", "a variable of a server has no default"),
    "status-invalid": ProblemCode("warning", "the key of a response is not an HTTP status"),
    "tag-invalid": ProblemCode("warning", "a tag has no name"),
    "tag-parent-circular": ProblemCode("warning", "a tag is its own ancestor"),
    "tag-parent-missing": ProblemCode("warning", "the parent of a tag is not declared"),
    "title-missing": ProblemCode("warning", "the API has no title"),
    "tool-description-missing": ProblemCode("info", "an operation has no description"),
    "tool-summary-missing": ProblemCode("info", "an operation has no summary"),
    "tool-undescribed": ProblemCode("warning", "an operation has neither summary nor description"),
    "url-invalid": ProblemCode("warning", "a URL has a scheme that is neither of HTTP nor of WebSocket"),
    "version-missing": ProblemCode("warning", "the API has no version"),
    "version-not-text": ProblemCode("warning", "the version of the API is a number"),
    "version-old": ProblemCode("warning", "the description has a version that seed 002 no longer accepts"),
    "version-unknown": ProblemCode("warning", "the version of OpenAPI is unknown; it is read as the newest one"),
    # MCP servers.
    "ai-help-invalid": ProblemCode(
        "warning", "the server's ai_help text does not have the specified form", missing="ai_help"
    ),
    "ai-help-missing": ProblemCode("info", "the server's ai_help could not be read", missing=WHERE),
    "call-example-invalid": ProblemCode("warning", "a declared example call does not match the tool's own schema"),
    "confirmation-message-missing": ProblemCode("warning", "a tool requires confirmation but has no message for it"),
    "dashdash-access-level-missing": ProblemCode("warning", "dashdash has no accessLevel"),
    "dashdash-api-url-missing": ProblemCode("warning", "dashdash has no alternativeAccess.apiUrl"),
    "dashdash-cli-url-missing": ProblemCode("warning", "dashdash has no alternativeAccess.cliUrl"),
    "dashdash-description-without-trigger": ProblemCode("info", "the description does not say when to use the server"),
    "dashdash-identity-description-missing": ProblemCode("warning", "dashdash has no identity.description"),
    "dashdash-identity-name-invalid": ProblemCode("warning", "the name in dashdash is not a valid identifier"),
    "dashdash-identity-name-missing": ProblemCode("warning", "dashdash has no identity.name"),
    "dashdash-spec-version-invalid": ProblemCode("warning", "specVersion of dashdash is not a version"),
    "dashdash-spec-version-missing": ProblemCode("warning", "dashdash has no specVersion"),
    "dashdash-spec-version-old": ProblemCode("warning", "specVersion of dashdash is older than 0.2.0"),
    "dashdash-web-url-missing": ProblemCode("warning", "dashdash has no alternativeAccess.webUrl"),
    "disclosure-criterion-not-met": ProblemCode("info", "a criterion of progressive disclosure is not met"),
    "disclosure-without-session": ProblemCode("warning", "progressive disclosure is used without sessions"),
    "entry-invalid": ProblemCode("warning", "an entry of a list is not an object"),
    "error-invalid": ProblemCode("warning", "a declared error has no code or is not an object"),
    "group-failed": ProblemCode("warning", "the contents of a group could not be read", missing=WHERE),
    "groups-too-many": ProblemCode(
        "warning", "the server has too many groups; the rest is not read", missing="groups/get"
    ),
    "home-folder-replaced": ProblemCode("info", "texts of the server name the folder of a user, which becomes ~"),
    "icon-left-out": ProblemCode("warning", "an icon has no usable address"),
    "input-schema-invalid": ProblemCode("warning", "the input schema of a tool is not an object schema"),
    "input-schema-minimal": ProblemCode("info", "the input schema of a tool accepts any object"),
    "input-schema-missing": ProblemCode("info", "a tool has no input schema"),
    "legacy-handshake-missing": ProblemCode("info", "the server did not answer the legacy handshake", missing=WHERE),
    "list-cursor-repeated": ProblemCode(
        "warning", "a list repeats a cursor, so its end cannot be reached", missing=WHERE
    ),
    "list-failed": ProblemCode("warning", "a list could not be read completely", missing=WHERE),
    "list-incomplete": ProblemCode("warning", "the server asks for input while a list is read", missing=WHERE),
    "list-not-offered": ProblemCode("info", "the server declares a list but does not offer it", missing=WHERE),
    "list-page-repeated": ProblemCode("warning", "a list repeats a page", missing=WHERE),
    "list-too-long": ProblemCode("warning", "reading a list took too long, or it has too many pages", missing=WHERE),
    "manifest-auth-method-unknown": ProblemCode("info", "the manifest declares an unknown authentication method"),
    "manifest-failed": ProblemCode("warning", "the service manifest could not be read", missing=WHERE),
    "manifest-field-missing": ProblemCode("warning", "the service manifest lacks a required field"),
    "manifest-server-version-invalid": ProblemCode("warning", "the server's version in the manifest is not a version"),
    "manifest-tool-missing": ProblemCode("warning", "the server has no tool get_manifest"),
    "manifest-tool-not-listed": ProblemCode("warning", "the manifest has tools that the server does not list"),
    "manifest-version-unknown": ProblemCode("warning", "the version of the service manifest is unknown"),
    "manifest-word-unknown": ProblemCode("info", "the manifest uses a value that is not specified"),
    "name-duplicate": ProblemCode("warning", "a name is listed twice; the second entry is left out"),
    "name-missing": ProblemCode("warning", "an entry has no name"),
    "page-invalid": ProblemCode("warning", "a page of a list has no list"),
    "placeholder-unknown": ProblemCode("warning", "a message of a tool refers to an unknown parameter"),
    "quick-reference-unknown-tool": ProblemCode("warning", "the quick reference lists an unknown tool"),
    "results-private": ProblemCode("info", "results of lists are meant for the user who asks"),
    "reverse-method-unknown": ProblemCode("warning", "reverseMethod names an unknown tool"),
    "risk-contradicted": ProblemCode("warning", "a tool is declared safe but destructive"),
    "scope-grants-unknown-tool": ProblemCode("warning", "a scope grants access to an unknown tool"),
    "scope-undeclared": ProblemCode("warning", "a tool requires scopes that are not declared"),
    "skill-allowed-tools": ProblemCode("info", "a listed skill asks for tools to be approved in advance"),
    "skill-file-binary": ProblemCode("info", "a file of a skill is not text; only its name is documented"),
    "skill-file-failed": ProblemCode("warning", "a file of a skill could not be read", missing="skills/files"),
    "skill-file-refused": ProblemCode("warning", "a file of a skill is refused", missing="skills/files"),
    "skill-files-too-many": ProblemCode(
        "warning", "the skills of the server have too many files", missing="skills/files"
    ),
    "tool-description-extra": ProblemCode("warning", "a description contains tools that were not requested"),
    "tool-description-failed": ProblemCode("warning", "the description of a tool could not be read"),
    "tool-header-invalid": ProblemCode("warning", "x-mcp-header of a tool is invalid, so no client may call it"),
    "tools-authorised": ProblemCode("info", "reading the descriptions of tools authorises them"),
    # Documents and files.
    "allowed-tools-left-out": ProblemCode("warning", "the source wants tools to run without asking; not passed on"),
    "allowed-tools-passed-on": ProblemCode("warning", "the skill lets tools run without asking, as the source wants"),
    "description-inferred": ProblemCode("warning", "the source does not say what the service does"),
    "documents-left": ProblemCode("warning", "the target or server of documents no longer exists"),
    "edited": ProblemCode("warning", "a generated file was edited; a run would stop"),
    "installed-skill-left": ProblemCode("warning", "an installed skill is a copy of documents that no longer exist"),
    "invocation-left-out": ProblemCode("info", "the profile has no field for how the skill may be invoked"),
    "note-moved": ProblemCode("info", "what a person wrote moved with its section to another file"),
    "note-without-place": ProblemCode("warning", "the section of what a person wrote is gone; it is kept at the end"),
    "replaced-text-changed": ProblemCode("warning", "generated text changed that a person's region replaces"),
    "service-replaced": ProblemCode("warning", "the documents of one service are replaced by those of another"),
    "skill-renamed": ProblemCode("warning", "the skill has another name than in the existing documents"),
    "skill-shortened": ProblemCode("warning", "the source's names and descriptions are too long for SKILL.md"),
    "skill-without-front-matter": ProblemCode(
        "warning", "SKILL.md has no front matter, so hosts do not find the skill"
    ),
    "stale-file-kept": ProblemCode("warning", "a file that is no longer written was edited, so it is not deleted"),
    "unknown-template": ProblemCode("warning", "a template of the user is not used"),
}
"""Code of a problem to what it means, by the part of skillgen that reports it."""


def problem_table() -> str:
    """Returns docs/problems.md: every code with its level and meaning."""
    rows = "".join(f"| `{code}` | {kind.level} | {kind.meaning} |\n" for code, kind in sorted(CODES.items()))
    return f"""# Problems

A problem is a defect of one part of a source, or of a file in OUT. It is reported on standard error and in the `--json`
report, and the rest is still documented. `info` problems are printed with `-v`; `--strict` treats warnings as errors.
This page is generated: `make golden`.

| code | level | meaning |
| --- | --- | --- |
{rows}"""


if __name__ == "__main__":
    print(problem_table(), end="")
