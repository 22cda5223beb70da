"""The options of skillgen, each declared once: how a source is read, what its author says of it, and its documents.

An option is a field that `option` returns. From these classes come the options of the command line, the keywords of the
Python API, the keys of a project file with their validation, their JSON Schema and the lists in `--ai-help`. A key has
the name of the field, with hyphens; so has an option of the command line, unless `flag` says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import NODEFAULT, UNSET, UnsetType

from skillgen.config.option import Option, Options, PathName, option, options_in
from skillgen.errors import UsageError
from skillgen.model import document as model
from skillgen.model.tool import EFFECTS

FILE_NAME = "skillgen.yaml"

DEFAULT_OUT = "agent-docs"
"""Folder of the documents by default."""

HOSTS = {"claude": ".claude/skills", "agents": ".agents/skills"}
"""Host to the folder in which it looks for skills, in the project or the home folder."""

PACKAGE = "package"
"""What `--install` calls the package of the project: its users get the skill with it."""

_SERVERS = ("command", "url", "config")
_DESCRIPTIONS = ("document", "openapi", "openapi_command")
_PROGRAMS = ("cli", "cli_command")
_LOGIN = ("url", "config")
_source = partial(option, is_kind=True)
_login = partial(option, kinds=_LOGIN, needs="login")
_safety = partial(option, panel="Safety")
_crawl = partial(_safety, kinds=_SERVERS)
"""An option that names the source; that needs `login`; on safety; and what reading a server may do."""


class Source(Options, frozen=True, kw_only=True):
    """A source, and how to read it."""

    PANEL = "Source"

    command: Sequence[str] = _source("Command that starts an MCP server on standard input and output.", is_command=True)
    url: str | None = _source("URL of an MCP server (Streamable HTTP, falling back to HTTP+SSE).", metavar="URL")
    config: PathName | None = _source(
        "File of a client that lists servers (.mcp.json, Claude Desktop, Cursor, VS Code), or what publishes one: "
        "a server.json, a server card, a catalogue, the folder of a plugin, or a domain.",
        metavar="FILE",
    )
    server: str | None = option(
        "The only server of --config, or of a snapshot, to read. Default: every one.",
        metavar="NAME",
        kinds=("config", "snapshot", "document"),
    )
    openapi: PathName | None = _source("OpenAPI description: a file or a URL.")
    openapi_command: Sequence[str] = _source("Command that prints an OpenAPI description.", is_command=True)
    snapshot: PathName | None = _source("File with a snapshot, the output of `skillgen inspect`.", metavar="FILE")
    manifest: PathName | None = _source(
        "Service manifest: a file or a URL.", usage="- reads standard input.", metavar="SOURCE"
    )
    cli: str | None = _source(
        "Command-line program, as MODULE:APP: a Click or Typer program, an argparse parser, or a function that "
        "returns one. It is imported, but no command is run."
    )
    cli_command: Sequence[str] = _source(
        "Command-line program on PATH, or a command that starts one. Its help is read, that of each command too; "
        "nothing else is run.",
        flag="--command",
        metavar="NAME",
        is_command=True,
    )
    document: str | Mapping[str, Any] | None = _source(
        "OpenAPI description, service manifest, snapshot or file of a client; its content decides.",
        is_key=False,
        is_path=True,
    )
    overlays: Sequence[str] = option(
        "OpenAPI Overlay to apply to the description first: a file or a URL.",
        flag="--overlay",
        metavar="FILE",
        kinds=_DESCRIPTIONS,
        is_path=True,
    )
    allow_remote_refs: bool = _safety("Fetch URLs that the description refers to with $ref.", kinds=_DESCRIPTIONS)
    allow_outside_refs: bool = _safety(
        "Read files outside the description's folder that it refers to.", kinds=_DESCRIPTIONS
    )
    include_internal: bool = option(
        "Document what the description marks as internal (x-internal, x-hidden and their like).", kinds=_DESCRIPTIONS
    )
    python: PathName | None = option(
        "Python of the environment that has the program. Default: that of the nearest .venv, else of the "
        "active virtual environment, else the first on PATH.",
        metavar="PATH",
        kinds=("cli",),
    )
    program: str | None = option(
        "What users type to start the program. Default: its console script, or the command itself.",
        metavar="COMMAND",
        kinds=_PROGRAMS,
    )
    env: Mapping[str, str] = option(
        "Environment variable for the command.",
        usage="As KEY=VALUE, or as KEY to pass on its current value.",
        also={"config": "Or a value for a variable in the file of --config."},
        note="Secrets only as ${NAME}.",
        metavar="KEY",
        kinds=("command", "config", "openapi_command", *_PROGRAMS),
        is_secret=True,
    )
    headers: Mapping[str, str] = option(
        "HTTP header that is sent to read the source.",
        usage="As 'NAME: VALUE', 'NAME: env:VARIABLE' or 'NAME: Bearer env:VARIABLE'.",
        note="Secrets only as ${NAME}.",
        flag="--header",
        metavar="HEADER",
        kinds=("url", *_DESCRIPTIONS),
        is_secret=True,
    )
    cwd: PathName | None = option(
        "Working directory of the command.",
        note="Default: the folder of this file.",
        metavar="DIR",
        kinds=("command", "openapi_command", *_PROGRAMS),
    )
    login: bool = option(
        "Log in with OAuth in the browser. Later runs reuse the login.",
        note="Where no person can log in, only a stored login is used.",
        kinds=_LOGIN,
    )
    client_id: str | None = _login(
        "OAuth client to log in as: a registered ID, or the URL of its metadata.", metavar="ID"
    )
    client_secret: str | None = _login(
        "Secret of --client-id.", usage="As env:VARIABLE.", note="As ${NAME}.", metavar="env:VARIABLE", is_secret=True
    )
    issuer: str | None = _login("Authorization server that --client-secret may be sent to.", metavar="URL")
    no_tool_descriptions: bool = _crawl(
        "Skip the tool descriptions of a progressive-disclosure server (reading them authorises its tools)."
    )
    no_legacy_handshake: bool = option(
        "Do not connect a second time with the handshake of older protocol revisions.", kinds=_SERVERS
    )
    call_get_manifest: bool = _crawl(
        "Call the server's tool get_manifest; without such an option, reading a server calls no tool."
    )
    call_ai_help: bool = _crawl("Call the server's tool ai_help in place of the method of that name.")
    call_undescribed: bool = _crawl(
        "Call a tool that only reads before its description is read, to check progressive disclosure in two sessions."
    )
    skill_files: bool = option("Read the files of the skills that the server lists.", kinds=_SERVERS)
    trusted_domains: Sequence[str] = _crawl(
        "Another domain for the homepage and icons than the server's own.", flag="--trusted-domain", metavar="DOMAIN"
    )
    server_name: str | None = option(
        "Name under which a host mounts the server.", metavar="NAME", kinds=("command", "url", "manifest")
    )
    timeout: float = option(
        "Timeout of one request, in seconds.",
        30.0,
        also={"command": "The first answer of npx, uvx and others may take 120."},
        metavar="SECONDS",
    )
    screen: str = _safety(
        "What happens to text that addresses the model: "
        f"{'; '.join(f'{name}: {text}' for name, text in model.SCREENINGS.items())}.",
        model.DEFAULT_SCREENING,
        metavar="HOW",
        choices=model.SCREENINGS,
    )

    def __repr__(self) -> str:
        """Returns the source without its secrets."""
        shown = {item.name: getattr(self, item.name) for item in options_in(Source) if not item.is_secret}
        return f"Source({', '.join(f'{name}={value!r}' for name, value in shown.items() if value)})"

    @property
    def kinds(self) -> list[str]:
        """The options that name a source and are given."""
        return [kind for kind in SOURCE_KINDS if getattr(self, kind)]

    @property
    def kind(self) -> str:
        """The only option that names a source.

        Raises:
            UsageError: none is given, or several are.
        """
        if len(self.kinds) != 1:
            names = ", ".join(self.kinds).replace("_", "-")
            raise UsageError(f"several sources are given: {names}" if names else "no source is given")
        return self.kinds[0]

    def for_kind(self, kind: str, value: Any) -> Source:
        """Returns the source of a kind that `value` names, with the options that concern it."""
        others = [item for item in options_in(Source) if not item.is_kind and (not item.kinds or kind in item.kinds)]
        return Source(**{item.name: getattr(self, item.name) for item in others}, **{kind: value})

    def useless_options(self, kinds: Sequence[str]) -> Iterator[tuple[Option, str, str]]:
        """Yields the options that are set, but that these kinds of source do not use: what is wrong, and its fix."""
        names = {item.name: item.flag or item.name for item in options_in(Source)}
        names |= {"": "no server", "command": "a server's command", "document": "a document"}
        kind = next(iter(kinds), "")
        fix = "write it into the file instead, or leave it out" if kind == "config" else "leave it out"
        for item in options_in(Source):
            if not getattr(self, item.name):
                continue
            if item.kinds and not set(kinds) & set(item.kinds):
                yield item, f"has no effect with {names[kind]}", fix
            elif item.needs and not getattr(self, item.needs):
                yield item, f"has no effect without {names[item.needs]}", f"add {names[item.needs]}"


class Links(Options, frozen=True, kw_only=True):
    """Other ways to use the service, each a URL; null declares that there is no such way."""

    cli: str | UnsetType | None = option("Documentation of a command line.", UNSET)
    api: str | UnsetType | None = option("Documentation of an HTTP API.", UNSET)
    web: str | UnsetType | None = option("Web interface.", UNSET)
    mcp: str | UnsetType | None = option("MCP server, or its documentation.", UNSET)


class GroupTexts(Options, frozen=True, kw_only=True):
    """The author's texts for a group of tools."""

    title: str | None = option("Heading of the group.")
    intro: str | None = option("What the tools of the group are for.")


class ToolTexts(Options, frozen=True, kw_only=True):
    """What the author declares of tools."""

    effect: str | None = option(
        "What a call does at worst: sends reaches people or costs money, destructive deletes or overwrites.",
        choices=EFFECTS,
    )
    overrule: bool = option("Whether the effect counts also where the source declares a worse one.")
    reason: str | None = option("Why, for those who read this file.")


class StepTexts(Options, frozen=True, kw_only=True):
    """A step of a workflow."""

    tool: str = option("Name of the tool to call.", NODEFAULT)
    do: str | None = option("What the step does, and what it takes from earlier steps.")


class SkillTexts(Options, frozen=True, kw_only=True):
    """A skill of some groups of a large service, and its texts."""

    groups: Sequence[str] = option("Groups of its tools. Default: the group of its name.")
    description: str | None = option("What it does and when to use it.")
    when_to_use: Sequence[str] = option("What users ask for that it can do.")
    not_for: Sequence[str] = option("What it is not for.")
    notes: str | None = option("What else an agent should know, in Markdown.")
    best_practices: Sequence[str] = option("How to use it well.")


class Drafted(Options, frozen=True, kw_only=True):
    """What a source declared when `skillgen draft` wrote texts; when that changes, a run says so."""

    texts: Sequence[str] = option("Keys of the texts.", NODEFAULT)
    source: str = option("Digest of what the source declared.", NODEFAULT)


_REPLACES = "Replaces that of the source."


class Texts(Options, frozen=True, kw_only=True):
    """What is documented of a service, and what its author says of it. The author's texts win over the source's."""

    PANEL = "Texts"

    include: Sequence[str] = option(
        "Document only matching tools: NAME-GLOB, tag:GLOB, path:GLOB or method:GET.", metavar="PATTERN"
    )
    exclude: Sequence[str] = option("Leave out matching tools; patterns as for --include.", metavar="PATTERN")
    extra: Sequence[str] = option(
        "Captured --ai-help text, llms.txt or Arazzo file that adds to the source: a file or a URL.",
        metavar="SOURCE",
        is_path=True,
    )
    name: str | None = option("Name of the service.", usage=_REPLACES, metavar="TEXT")
    version: str | None = option(
        "Version of the service.",
        usage=_REPLACES,
        also={"command": "A server that sets none reports the version of its SDK."},
        flag="--service-version",
        metavar="VERSION",
    )
    description: str | None = option("What the service does and when to use it.", usage=_REPLACES, metavar="TEXT")
    base_url: str | None = option("Base URL of the API.", usage=_REPLACES, metavar="URL")
    homepage: str | None = option("Homepage of the service.", usage=_REPLACES, metavar="URL")
    when_to_use: Sequence[str] = option(
        'What users ask for that this service can do: phrases to follow "when the user asks to".'
    )
    not_for: Sequence[str] = option("What the service is not for.")
    notes: str | None = option("What else an agent should know, in Markdown.")
    best_practices: Sequence[str] = option("How to use the service well.")
    groups: Mapping[str, GroupTexts] = option("Texts for groups of tools, by the name of the group.")
    skills: Mapping[str, SkillTexts] = option(
        "Skills of groups of a large service, each by the end of its name; all other groups are in the skill of the "
        "service, or with `split` in more."
    )
    tools: Mapping[str, ToolTexts] = _safety(
        "Effects of tools that are judged or declared wrongly, by name or pattern (as for --include). A name wins "
        "over patterns; of several patterns the worst effect counts.",
        usage=f"As TOOL=EFFECT, an effect of {', '.join(EFFECTS)}.",
        flag="--effect",
        metavar="TOOL=EFFECT",
    )
    workflows: Mapping[str, Sequence[StepTexts]] = option("Calls that reach a goal, by the goal.")
    drafted: Sequence[Drafted] = option(
        "What the source declared when `skillgen draft` wrote the texts; when that changes, a run says so."
    )
    links: Links = option("Other ways to use the service.", Links())
    install: Mapping[str, str] = option("Package manager to package.")
    license: str | None = option("Licence of the documents.")

    def prose(self) -> dict[tuple[str, ...], str]:
        """Returns the texts on the service, by the keys that lead to each."""
        found = _texts_in(self)
        for part, items in (("skills", self.skills), ("groups", self.groups), ("tools", self.tools)):
            for name, item in items.items():
                found |= _texts_in(item, part, name)
        for goal, steps in self.workflows.items():
            found["workflows", goal] = "\n\n".join((goal, *(f"{step.tool}: {step.do or ''}" for step in steps)))
        return found


def _texts_in(texts: Options, *above: str) -> dict[tuple[str, ...], str]:
    names = ("description", "notes", "when_to_use", "not_for", "best_practices", "title", "intro", "reason")
    values = {name: value for name in names if (value := getattr(texts, name, None))}
    texts_of = {name: value if isinstance(value, str) else "\n\n".join(value) for name, value in values.items()}
    return {(*above, name.replace("_", "-")): text for name, text in texts_of.items()}


DRAFTED = ("description", "when_to_use", "not_for", "notes", "groups", "skills", "tools", "workflows", "drafted")
"""The texts that `skillgen draft` writes."""


class Publish(Options, frozen=True, kw_only=True):
    """Who publishes the service, and where. Without it, the homepage and the repository decide."""

    domain: str | None = option("Domain of the publisher, such as acme.com.")
    base_url: str | None = option("URL below which the documents are served; its host is the domain by default.")
    namespace: str | None = option(
        "Namespace of the publisher in registries, such as io.github.acme. Default: the domain in reverse order."
    )
    command: Sequence[str] = option(
        "Command with which others start the server, such as `uvx acme-mcp`; it need not be released yet.",
        is_command=True,
    )
    server_card: str | None = option(
        f"Version of the server card: {' or '.join(model.SERVER_CARDS)}.", choices=model.SERVER_CARDS
    )


class OutputOptions(Options, frozen=True, kw_only=True):
    """Where the documents go, and what may happen to existing ones."""

    PANEL = "Output"

    out: PathName | None = option(
        "Folder for the documents.",
        usage=f"Default: {DEFAULT_OUT}.",
        also={"config": "Each of several servers has a folder of its own in it."},
        note=f"Default: {DEFAULT_OUT}, or {DEFAULT_OUT}/TARGET if there are several targets.",
        short="-o",
        metavar="DIR",
    )
    emit: Sequence[str] = option(
        "Output formats.",
        model.DEFAULT_FORMATS,
        usage=f"Comma-separated, of {','.join(model.FORMATS)}.",
        metavar="LIST",
        is_comma_separated=True,
        choices=model.FORMATS,
    )
    publish: Publish = option(
        "Who publishes the service, for the formats that name the publisher.",
        Publish(),
        usage="As domain=DOMAIN, base-url=URL, namespace=NAMESPACE, command=COMMAND or server-card=VERSION.",
        metavar="KEY=VALUE",
    )
    templates: PathName | None = option(
        "Folder of templates that replace built-in ones of the same name.", metavar="DIR"
    )
    profile: str = option(
        f"Front matter of the skill: {', or '.join(f'{name} for {text}' for name, text in model.PROFILES.items())}.",
        model.DEFAULT_PROFILE,
        metavar="NAME",
        choices=model.PROFILES,
    )
    budget: int = option("Tokens of SKILL.md at most; a token is four bytes.", model.DEFAULT_BUDGET, metavar="TOKENS")
    split: str | None = option(
        "Write several skills for a large service: one for each of the largest groups of tools, and a common one.",
        metavar="group",
        choices=("group",),
    )
    install_to: Sequence[str] = option(
        f"Also install the skill for a host: {' or '.join(f'{name} ({folder})' for name, folder in HOSTS.items())};"
        f" or into the project's own {PACKAGE}, for those who install that.",
        flag="--install",
        metavar="HOST",
        is_command=True,
        choices=(*HOSTS, PACKAGE),
    )
    package: PathName | None = option(
        f"Folder of the package, if the project's files leave a choice (with --install {PACKAGE}).", metavar="DIR"
    )
    user: bool = option("Install into the home folder, not the current one (with --install).", is_key=False)
    check: bool = _safety("Write nothing. Print a diff and exit with 1 if a file would change.", is_key=False)
    allow_empty: bool = _safety("Replace documents even if the source now lacks tools or parts of them.")
    force: bool = _safety("Overwrite edits within generated text. Lines that were added elsewhere stay.", is_key=False)
    replace: bool = _safety("Replace the documents of another service that are in the folder.")
    strict: bool = option("Treat warnings as errors.", panel="Report")


class Target(Options, frozen=True, kw_only=True):
    """A source and the documents generated from it. The keys of `texts` and `output` are keys of the target."""

    source: Source = option("What to document.", NODEFAULT)
    texts: Texts = option("", Texts(), is_flat=True)
    output: OutputOptions = option("", OutputOptions(), is_flat=True)


class LintOptions(Options, frozen=True, kw_only=True):
    """Which rules `skillgen lint` checks, and how its findings count."""

    PANEL = "Report"

    select: Sequence[str] = option(
        "Check only these rules: codes or patterns.", usage="Comma-separated.", metavar="CODES"
    )
    ignore: Sequence[str] = option(
        "Leave out these rules: codes or patterns.", usage="Comma-separated.", metavar="CODES"
    )
    strict: bool = option("Exit with 1 on warnings too.")


NO_LINT_OPTIONS = LintOptions()
"""All rules that are not optional, each with its own level."""


class Project(Options, frozen=True, kw_only=True):
    """The content of a project file."""

    targets: Mapping[str, Target] = option("The targets, by name.", NODEFAULT)
    lint: LintOptions = option("What `skillgen lint` checks in this folder.", NO_LINT_OPTIONS)


class Run(Options, frozen=True, kw_only=True):
    """What concerns one run of a command."""

    PANEL = "Source"

    target: str | None = option("Target of the project file.", metavar="NAME", is_key=False)
    project: PathName | None = option("Project file. Default: skillgen.yaml.", metavar="FILE", is_key=False)
    draft: str | None = option(
        f"Ask an agent once for the texts that rules cannot write, unless OUT/{model.TEXTS_NAME} has them.",
        metavar="COMMAND",
        panel="Texts",
        is_key=False,
    )
    json: bool = option("Print a JSON report to standard output.", panel="Report", is_key=False)


class CallOptions(Options, frozen=True, kw_only=True):
    """How calls are made."""

    PANEL = "Report"

    yes: bool = _safety("A person confirmed the call: of a tool that deletes or needs confirmation.")
    dry_run: bool = _safety("Print the request without secrets, and send nothing.")
    out: str = option("Folder for images and other files of the result.", "", short="-o", metavar="DIR", is_path=True)


class EvalOptions(Options, frozen=True, kw_only=True):
    """What is graded, and how it is reported."""

    PANEL = "Report"

    agent: str | None = option("Command of the agent, which gets the prompt on standard input.", metavar="COMMAND")
    init: bool = option("Draft evals/evals.json in the skill, and run nothing.")
    static: bool = option("Check what needs no agent: example calls, reads.")
    task_timeout: float = option("Time limit of an agent for a task.", 600.0, metavar="SECONDS")
    no_control: bool = option("Do not run the tasks without the skill.")
    out: PathName | None = option("Folder of the runs. Default: NAME-workspace.", short="-o", metavar="DIR")
    format: str = option("Format of the report: text or json.", "text", metavar="FORMAT", choices=("text", "json"))


SOURCE_KINDS = tuple(item.name for item in options_in(Source) if item.is_kind)
"""The options that name a source."""

ALL_OPTIONS = {item.name: item for cls in (Run, LintOptions, Source, Texts, OutputOptions) for item in options_in(cls)}
"""Every option by the name of its field."""


def find_project_file() -> Path | None:
    """Returns the project file of the current folder, if there is one."""
    return next((path for path in map(Path, (FILE_NAME, "skillgen.yml")) if path.is_file()), None)
