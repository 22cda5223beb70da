"""Formats for publishers: each file is valid by the schema of its specification, and states nothing but the source."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from captured import service_of_answers
from cli import ROOT, files_of, generated, run_skillgen
from descriptions import description, operation, write
from documents import MarkdownDocument
from jsonschema import Draft7Validator, Draft202012Validator, FormatChecker
from real_servers import clock
from test_validators import MARKDOWNLINT, binary, run

import skillgen

SPECIFICATIONS = ROOT / "tests" / "specifications"
SERVER_SCHEMA = json.loads((SPECIFICATIONS / "registry" / "server.schema.json").read_text("utf-8"))
SERVER_JSON = Draft7Validator(SERVER_SCHEMA, format_checker=FormatChecker())
AGENT_PLUGINS = {
    name: Draft202012Validator(json.loads((SPECIFICATIONS / f"agent-plugins/{name}.schema.json").read_text("utf-8")))
    for name in ("plugin", "mcp")
}
SNAPSHOTS = sorted((ROOT / "tests" / "golden" / "sources").glob("*.json"))
Json = Any

ACME: Json = {"domain": "acme.com"}
OTHER: Json = {"domain": "acme.org"}


def answers(**server_info: Json) -> dict[str, Json]:
    """Returns the answers of a server that sells tickets; `dashdash` is what it declares there."""
    dashdash = server_info.pop("dashdash", {})
    info = {"name": "kiosk", "version": "1.4.2", **server_info}
    tool = {"name": "book", "description": "Books a ticket.", "inputSchema": {"type": "object"}}
    return {"initialize": {"serverInfo": info, "dashdash": dashdash}, "tools/list": [{"tools": [tool]}]}


def published(folder: Path, service: skillgen.Service, **options: Json) -> tuple[Path, dict[str, list[str]]]:
    """Returns OUT, and the messages of the problems of publishing by their code."""
    result = skillgen.generate(service, out=folder / "out", **options)
    messages: dict[str, list[str]] = {}
    for problem in result.problems:
        if problem.code in ("format-left-out", "published-without", "publisher-inferred"):
            messages.setdefault(problem.code, []).append(problem.message)
    return folder / "out", messages


def server_json(folder: Path, service: skillgen.Service, **publish: str) -> tuple[Json, dict[str, list[str]]]:
    """Returns server.json, which is valid, and the problems."""
    out, problems = published(folder, service, emit=["server-json"], publish=publish or ACME)
    path = out / "server.json"
    if not path.exists():
        return None, problems
    entry = json.loads(path.read_text("utf-8"))
    assert list(SERVER_JSON.iter_errors(entry)) == []
    return entry, problems


def test_the_page_of_formats_has_each_of_them() -> None:
    rows = re.findall(r"^\| `([\w-]+)`( \*)? \|", (ROOT / "docs" / "formats.md").read_text("utf-8"), re.MULTILINE)
    schema = json.loads((ROOT / "docs" / "skillgen.schema.json").read_text("utf-8"))
    emit = schema["$defs"]["Target"]["properties"]["emit"]
    assert [name for name, _ in rows] == emit["items"]["enum"]
    assert [name for name, star in rows if star] == emit["default"]


# -- who publishes -----------------------------------------------------------------------------------------------------


def test_the_publisher_is_declared_on_the_command_line_or_in_the_file(tmp_path: Path) -> None:
    """Issue 18: `publish: {domain, base-url, namespace}` in skillgen.yaml and as options."""
    snapshot = ROOT / "tests" / "golden" / "sources" / "github-mcp-server.json"
    words = ("--snapshot", snapshot, "--emit", "server-json", "--publish")
    generated("from-server", *words, "base-url=https://Docs.Acme.com/agents/", "-o", tmp_path / "one")
    assert json.loads((tmp_path / "one/server.json").read_bytes())["name"] == "com.acme.docs/github"
    target = f"source: {{snapshot: {json.dumps(str(snapshot))}}}, emit: [server-json], out: two"
    text = f"targets: {{a: {{{target}, publish: {{domain: acme.com, namespace: io.github.acme}}}}}}\n"
    (tmp_path / "skillgen.yaml").write_text(text, "utf-8")
    generated("build", cwd=tmp_path)
    assert json.loads((tmp_path / "two/server.json").read_bytes())["name"] == "io.github.acme/github"
    generated("build", "--check", cwd=tmp_path)


@pytest.mark.parametrize(
    "value",
    ["domain=../../x", "domain=acme", "namespace=acme", "namespace={{x}}/y", "base-url=http://acme.com", "homepage=x"],
)
def test_an_invalid_publisher_is_refused(value: str, tmp_path: Path) -> None:
    words = ("--snapshot", SNAPSHOTS[0], "-o", tmp_path / "out", "--publish", value)
    finished = run_skillgen("from-server", *words)
    assert (finished.exit_code, finished.stdout) == (2, "")
    assert "--publish" in finished.stderr
    assert not (tmp_path / "out").exists()


def test_without_a_declared_publisher_homepage_or_account_counts(tmp_path: Path) -> None:
    """Issue 18: the declared homepage's host counts, and without that the format is left out with a problem."""
    cases = {
        "https://www.acme.com/kiosk": "com.acme/kiosk",
        "https://acme.github.io/kiosk": "io.github.acme/kiosk",
        "https://github.com/Acme/kiosk": "io.github.acme/kiosk",
    }
    for number, (homepage, name) in enumerate(cases.items()):
        service = service_of_answers(answers(websiteUrl=homepage))
        out, problems = published(tmp_path / str(number), service, emit=["server-json"])
        assert json.loads((out / "server.json").read_bytes())["name"] == name
        assert len(problems["publisher-inferred"]) == 1
    for number, homepage in enumerate(["https://pypi.org/project/kiosk", "http://localhost/x", "https://10.0.0.1/"]):
        service = service_of_answers(answers(websiteUrl=homepage))
        out, problems = published(tmp_path / f"none{number}", service, emit=["server-json"])
        assert "server.json" not in files_of(out)
        assert problems == {"format-left-out": ["the source does not declare who publishes the server"]}


# -- server.json -------------------------------------------------------------------------------------------------------


def test_the_package_of_the_command_is_published_with_names_alone(tmp_path: Path) -> None:
    """X-40: packages are mapped; no value of a variable is in the file."""
    command = ("npx", "-y", "@acme/kiosk@2.1.0", "--read-only")
    service = service_of_answers(answers(), command=command, env={"KIOSK_KEY": "hunter22x", "LOG_LEVEL": "debug"})
    entry, problems = server_json(tmp_path, service)
    assert problems == {}
    assert entry == {
        "$schema": SERVER_SCHEMA["$id"],
        "name": "com.acme/kiosk",
        "description": entry["description"],
        "version": "1.4.2",
        "packages": [
            {
                "registryType": "npm",
                "identifier": "@acme/kiosk",
                "version": "2.1.0",
                "packageArguments": [{"type": "positional", "value": "--read-only"}],
                "transport": {"type": "stdio"},
                "runtimeHint": "npx",
                "environmentVariables": [{"name": "KIOSK_KEY", "isSecret": True}, {"name": "LOG_LEVEL"}],
            }
        ],
    }


def test_what_the_command_does_not_declare_of_a_package_is_reported(tmp_path: Path) -> None:
    """X-40: a version is never a range, and never invented."""
    cases = {
        "npx -y @acme/kiosk": ("@acme/kiosk", "has no exact version"),
        "npx -y @acme/kiosk@^2": ("@acme/kiosk", "has no exact version"),
        "uvx kiosk@latest": ("kiosk", "has no exact version"),
        "uvx kiosk==2.1": ("kiosk", ""),
        "docker run -i --rm -e TOKEN ghcr.io/acme/kiosk:1.2": ("ghcr.io/acme/kiosk:1.2", ""),
        "docker run --network host ghcr.io/acme/kiosk:1.2": (None, "have no place in server.json"),
        "uvx --from kiosk==2.1 kiosk-mcp": ("kiosk", "do not find kiosk-mcp in kiosk"),
        "uvx --from kiosk --offline kiosk-mcp": (None, "have no place in server.json"),
        "kiosk-mcp stdio": (None, "neither a package nor a URL"),
        "/opt/kiosk": (None, "neither a package nor a URL"),
    }
    for number, (command, (identifier, message)) in enumerate(cases.items()):
        service = service_of_answers(answers(), command=command.split())
        entry, problems = server_json(tmp_path / str(number), service)
        (package,) = entry.get("packages", [{}])
        assert package.get("identifier") == identifier, command
        texts = problems.get("published-without", [])
        assert message in texts[0] if message else texts == [], command


@pytest.mark.parametrize(
    ("command", "hint", "flag", "exact"),
    [
        ("uvx --from kiosk kiosk-mcp --x", "uvx", "--from", "kiosk==1.4.2"),
        ("uv tool run --from kiosk kiosk-mcp --x", "uvx", "--from", "kiosk==1.4.2"),
        ("npx -y --package @acme/kiosk kiosk-mcp --x", "npx", "--package", "@acme/kiosk@1.4.2"),
    ],
)
def test_a_program_with_another_name_than_its_package(
    command: str, hint: str, flag: str, exact: str, tmp_path: Path
) -> None:
    """The schema has `runtimeArguments` for what names the package; not every client starts that."""
    service = service_of_answers(answers(), command=["python", "server.py"])
    entry, problems = server_json(tmp_path, service, domain="acme.com", command=command)
    (package,) = entry["packages"]
    assert package["runtimeHint"] == hint
    assert package["runtimeArguments"] == [{"type": "named", "name": flag, "value": exact}]
    assert [item["value"] for item in package["packageArguments"]] == ["kiosk-mcp", "--x"]
    assert list(problems) == ["published-without"]


def test_a_hosted_server_is_published_by_its_url(tmp_path: Path) -> None:
    """X-40: remotes; headers by name, never by value."""
    headers = {"Authorization": "Bearer hunter22x", "X-Tenant": "acme"}
    service = service_of_answers(answers(title="Acme Kiosk"), url="https://mcp.acme.com/mcp", headers=headers)
    entry, problems = server_json(tmp_path, service)
    assert problems == {}
    assert entry["title"] == "Acme Kiosk"
    secret = [{"name": name, "isSecret": True} for name in headers]
    assert entry["remotes"] == [{"type": "streamable-http", "url": "https://mcp.acme.com/mcp", "headers": secret}]
    text = (tmp_path / "out/server.json").read_text("utf-8")
    assert "hunter22x" not in text
    private = service_of_answers(answers(), url="http://localhost:8080/mcp")
    entry, problems = server_json(tmp_path / "private", private)
    assert "remotes" not in entry
    assert "others cannot reach the server at http" in problems["published-without"][0]


def test_icons_and_links_are_those_that_the_registry_takes(tmp_path: Path) -> None:
    """S1-08: https alone, at most 255 characters, allowed types."""
    icons = [
        {"src": "https://acme.com/a.png", "mimeType": "image/png", "sizes": ["48x48", "big"]},
        {"src": "https://acme.com/a.gif", "mimeType": "image/gif"},
        {"src": f"https://acme.com/{'a' * 255}.png"},
        {"src": "data:image/png;base64,AAAA", "mimeType": "image/png"},
    ]
    service = service_of_answers(
        answers(icons=icons, websiteUrl="https://acme.com/kiosk", repository="https://github.com/acme/kiosk.git"),
        command=("uvx", "kiosk==2.1"),
    )
    entry, _ = server_json(tmp_path, service)
    assert entry["websiteUrl"] == "https://acme.com/kiosk"
    assert entry["icons"] == [{"src": "https://acme.com/a.png", "mimeType": "image/png", "sizes": ["48x48"]}]


@pytest.mark.parametrize("version", [None, "^1.2.3", "1.x", ">=2", "latest", "Wed Oct 15 2025"])
def test_a_server_without_an_exact_version_has_no_server_json(version: str | None, tmp_path: Path) -> None:
    """X-40: version ranges are rejected."""
    entry, problems = server_json(tmp_path, service_of_answers(answers(version=version)))
    assert entry is None
    assert problems == {"format-left-out": ["the server declares no exact version of its own"]}


HOSTILE = ["../../x", "{{ x }}", "a\x1b[31m\u202eb", "${HOME}", "<script>", "a" * 5000, "\n# Heading", '"}]', "/"]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_stay_values_of_a_valid_server_json(text: str, tmp_path: Path) -> None:
    dashdash = {
        "identity": {"name": text, "description": text},
        "install": {"npm": text},
        "requires": {"env": [text, "KIOSK_KEY"]},
    }
    info = {"name": text, "title": text, "description": text, "websiteUrl": text}
    entry, _ = server_json(tmp_path, service_of_answers(answers(dashdash=dashdash, **info)))
    assert entry["name"].startswith("com.acme/")
    assert len(entry["name"]) < 90
    assert set(files_of(tmp_path)) == {"out/server.json", "out/.skillgen.json"}
    shown = (tmp_path / "out/server.json").read_text("utf-8")
    assert not set(shown) & set("\x1b\u202e")


# -- plugin ------------------------------------------------------------------------------------------------------------


def plugin(folder: Path, service: skillgen.Service, **options: Json) -> tuple[Path, dict[str, list[str]]]:
    """Returns the folder of the plugin, whose portable files are valid, and the problems."""
    out, problems = published(folder, service, emit=["plugin"], publish=ACME, **options)
    for name, validator in AGENT_PLUGINS.items():
        path = out / "plugin" / f"{name}.json"
        assert not path.exists() or list(validator.iter_errors(read_json(path))) == []
    return out / "plugin", problems


def read_json(path: Path) -> Json:
    return json.loads(path.read_text("utf-8"))


def kinds_of_servers() -> dict[str, skillgen.Service]:
    """Returns a server for each way to connect to one, and an API."""
    hosted = "https://mcp.acme.com/mcp"
    login = {"requires": {"auth": ["oauth2"]}}
    header = {"Authorization": "Bearer hunter22x"}
    return {
        "open": service_of_answers(answers(), url=hosted),
        "header": service_of_answers(answers(), url=hosted, headers=header),
        "oauth": service_of_answers(answers(dashdash=login), url=hosted, headers=header),
        "command": service_of_answers(answers(), command=("uvx", "kiosk==2.1")),
        "variable": service_of_answers(
            answers(), command=("npx", "@acme/kiosk@2.1.0"), env={"KIOSK_KEY": "hunter22x", "LOG_LEVEL": "debug"}
        ),
        "local": service_of_answers(answers()),
        "private": service_of_answers(answers(), url="http://localhost:8080/mcp"),
        "api": skillgen.read(description({"/a": {"get": operation("get_a")}})),
    }


def test_a_plugin_has_the_skill_and_the_server_for_every_host(tmp_path: Path) -> None:
    """Issue 18: an Agent Plugin 1.0.0, with the manifests of Claude Code, Codex and Cursor."""
    folder, problems = plugin(tmp_path, kinds_of_servers()["open"])
    assert problems == {}
    assert set(files_of(folder)) == {
        *("plugin.json", "mcp.json", "README.md", "skills/kiosk/SKILL.md", ".claude-plugin/plugin.json"),
        *(".codex-plugin/plugin.json", ".cursor-plugin/plugin.json"),
    }
    url = "https://mcp.acme.com/mcp"
    assert read_json(folder / "mcp.json")["mcpServers"] == {"kiosk": {"type": "streamable-http", "url": url}}
    claude = read_json(folder / ".claude-plugin/plugin.json")
    assert claude["mcpServers"] == {"kiosk": {"type": "http", "url": url}}
    assert "userConfig" not in claude
    facts = read_json(folder / ".cursor-plugin/plugin.json")
    assert (facts["name"], facts["version"], facts["author"]) == ("kiosk", "1.4.2", {"name": "acme.com"})
    manifests = [folder / "plugin.json", folder / ".claude-plugin/plugin.json", folder / ".codex-plugin/plugin.json"]
    assert all(facts.items() <= read_json(path).items() for path in manifests)


def test_a_value_of_the_user_is_asked_for_by_claude_code_alone(tmp_path: Path) -> None:
    """Issue 18: what mcp.json cannot express goes into the Claude form as `userConfig`, and a problem says so."""
    services = kinds_of_servers()
    for kind, name, key in (("header", "Authorization", "authorization"), ("variable", "KIOSK_KEY", "kiosk_key")):
        folder, problems = plugin(tmp_path / kind, services[kind])
        assert not (folder / "mcp.json").exists()
        assert "mcpServers" not in read_json(folder / ".codex-plugin/plugin.json")
        claude = read_json(folder / ".claude-plugin/plugin.json")
        entry = claude["mcpServers"]["kiosk"]
        assert entry["headers" if kind == "header" else "env"] == {name: f"${{user_config.{key}}}"}
        assert (claude["userConfig"][key]["sensitive"], claude["userConfig"][key]["required"]) == (True, True)
        (message,) = problems["published-without"]
        assert f"({name})" in message
        assert f"`{name}`" in (folder / "README.md").read_text("utf-8")
        assert not [path for path, content in files_of(tmp_path).items() if b"hunter22x" in content]


def test_a_url_is_published_unless_a_part_of_it_may_be_secret(tmp_path: Path) -> None:
    """In the plugin as in server.json."""
    urls = {
        "https://mcp.acme.com/mcp": True,
        "https://mcp.acme.com/mcp?tenant=blue": False,
        "https://mcp.acme.com/mcp?api_key=hunter22xyz12345678": False,
        "https://kiosk:hunter22x@mcp.acme.com/mcp": False,
    }
    for number, (url, is_shown) in enumerate(urls.items()):
        service = service_of_answers(answers(), url=url)
        out, problems = published(tmp_path / str(number), service, emit=["plugin", "server-json"], publish=ACME)
        assert (out / "plugin/mcp.json").exists() is is_shown
        assert ("remotes" in read_json(out / "server.json")) is is_shown
        assert len(problems.get("published-without", [])) == (0 if is_shown else 2)
        assert not [path for path, content in files_of(out).items() if b"hunter22" in content]


def test_a_plugin_is_checked_edited_and_removed_like_other_documents(tmp_path: Path) -> None:
    service = kinds_of_servers()["open"]
    folder, _ = plugin(tmp_path, service)
    out = tmp_path / "out"
    readme = folder / "README.md"
    readme.write_text(readme.read_text("utf-8") + "\nAsk us at the desk.\n", "utf-8")
    assert not skillgen.check(service, out=out, emit=["plugin"], publish=ACME).drift
    assert skillgen.check(service, out=out, emit=["plugin"], publish=OTHER).drift
    skillgen.generate(service, out=out, emit=["plugin"], publish=OTHER)
    assert "Ask us at the desk." in readme.read_text("utf-8")
    assert read_json(folder / "plugin.json")["author"] == {"name": "acme.org"}
    skillgen.generate(service, out=out, emit=["llms"])
    assert set(files_of(folder)) == {"README.md"}, "only what a person wrote is left"


def several(folder: Path) -> Path:
    """Writes the plugins of two services; returns OUT."""
    services = [skillgen.read(path) for path in SNAPSHOTS if path.stem in ("github-mcp-server", "slack")]
    write(folder / "snapshot.json", skillgen.snapshot(*services))
    words = ("--snapshot", folder / "snapshot.json", "-o", folder / "out", "--emit", "plugin")
    generated("from-server", *words, "--publish", "domain=acme.com")
    return folder / "out"


def test_several_plugins_have_a_marketplace_for_each_host(tmp_path: Path) -> None:
    out = several(tmp_path)
    for host in (".claude-plugin", ".cursor-plugin"):
        marketplace = read_json(out / host / "marketplace.json")
        assert (marketplace["name"], marketplace["owner"]) == ("acme-com", {"name": "acme.com"})
        assert {item["name"] for item in marketplace["plugins"]} == {"github", "slack"}
        assert all((out / item["source"] / "plugin.json").is_file() for item in marketplace["plugins"])
    sources = [item["source"] for item in read_json(out / ".agents/plugins/marketplace.json")["plugins"]]
    assert all((out / source["path"] / ".codex-plugin/plugin.json").is_file() for source in sources)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_stay_within_the_plugin(text: str, tmp_path: Path) -> None:
    dashdash = {"identity": {"name": text, "description": text}, "requires": {"env": [text]}, "categories": [text]}
    info = {"name": text, "title": text, "description": text, "websiteUrl": text}
    service = service_of_answers(answers(dashdash=dashdash, **info), command=("uvx", "kiosk"), server_name=text)
    folder, _ = plugin(tmp_path, service)
    assert {path.split("/")[0] for path in files_of(tmp_path)} == {"out"}
    assert {path.split("/")[0] for path in files_of(tmp_path / "out")} == {"plugin", ".skillgen.json"}
    for path, content in files_of(folder).items():
        assert not set(content.decode("utf-8")) & set("\x1b\u202e"), path
    assert "\n# Heading" not in (folder / "README.md").read_text("utf-8")


@pytest.mark.slow
def test_validators_of_plugins_find_no_fault(tmp_path: Path) -> None:
    """Issue 18: no error and no warning of `claude plugin validate` and of skillsaw."""
    folders = [plugin(tmp_path / kind, service)[0] for kind, service in kinds_of_servers().items()]
    folders += [several(tmp_path)]
    claude = MARKDOWNLINT / "node_modules" / ".bin" / "claude"
    for folder in folders:
        command = ["env", f"HOME={tmp_path}", claude, "plugin", "validate", "--strict", folder]
        finished = run(command, tmp_path)
        assert finished.returncode == 0, finished.stdout + finished.stderr
        assert "Validation passed" in finished.stdout
        finished = run([binary("skillsaw"), "lint", folder], tmp_path)
        assert finished.returncode == 0, finished.stdout
        assert re.search(r"Errors: +0\n +Warnings: 0\n", finished.stdout), finished.stdout


# -- what an author declares or serves ---------------------------------------------------------------------------------


def validator(name: str) -> Draft202012Validator:
    """Returns the validator of a schema that was derived from a specification."""
    folder = "mcp-extension-proposals" if name == "service-manifest" else "dashdash"
    schema = read_json(SPECIFICATIONS / folder / f"{name}.schema.json")
    return Draft202012Validator(schema, format_checker=FormatChecker())


DECLARATIONS = ["tool-descriptions", "dashdash", "service-manifest"]


def declared(folder: Path, service: skillgen.Service) -> dict[str, Json]:
    """Returns every file of these formats, each of which is valid."""
    out, _ = published(folder, service, emit=DECLARATIONS, allow_empty=True)
    files = {path: json.loads(text) for path, text in files_of(out).items() if path != ".skillgen.json"}
    dashdash = files["dashdash.json"]
    validator("dashdash-initialize").validate(dashdash["initialize"])
    for kind in ("tool", "resource"):
        for item in dashdash.get(f"{kind}s", {}).values():
            validator(f"dashdash-{kind}").validate(item)
    for result in dashdash["ai_help"].values():
        validator("dashdash-ai_help-result").validate(result)
    if "service-manifest.json" in files:
        validator("service-manifest").validate(files["service-manifest.json"])
    for path, item in files.items():
        if path.startswith("tool-descriptions/") and not path.endswith("s-list.json"):
            validator("progressive-disclosure-response").validate({item["name"]: item})
    return files


@pytest.mark.parametrize("stem", ["everything", "github-mcp-server", "slack"])
def test_real_servers_have_valid_declarations(stem: str, tmp_path: Path) -> None:
    """S0-50, S0-51, S4-18: valid by the published schemas; every tool in each, with its own schema."""
    service = skillgen.read(ROOT / "tests/golden/sources" / f"{stem}.json")
    files = declared(tmp_path, service)
    names = [tool.name for tool in service.tools]
    listed = files["tool-descriptions/tools-list.json"]["tools"]
    assert [item["name"] for item in listed] == names
    full = {item["name"]: item for path, item in files.items() if "/" in path and not path.endswith("s-list.json")}
    assert {name: item["inputSchema"] for name, item in full.items()} == {
        tool.name: tool.input_schema for tool in service.tools
    }
    assert [tool.get("title", tool["name"]) for tool in files["service-manifest.json"]["tools"]] == names


def answers_with(*tools: Json) -> dict[str, Json]:
    return {**answers(), "tools/list": [{"tools": [{"inputSchema": {"type": "object"}, **tool} for tool in tools]}]}


def test_dashdash_objects_have_what_is_declared_and_nothing_inferred(tmp_path: Path) -> None:
    """S0-51."""
    errors = [{"code": "SOLD_OUT", "description": "No seat is left.", "resolution": "Ask for another day."}]
    facts = {"operationType": "write", "reversible": True, "reverseMethod": "delete_show", "errors": errors}
    tools = ({"name": "delete_show", "description": "Deletes a show."}, {"name": "book", "dashdash": facts})
    service = service_of_answers(answers_with(*tools))
    files = declared(tmp_path, service)
    assert files["dashdash.json"]["tools"] == {"book": facts}
    assert files["dashdash.json"]["initialize"]["identity"]["name"] == "kiosk"
    messages = published(tmp_path / "again", service, emit=["dashdash"])[1]["published-without"]
    assert messages[-1].startswith("dashdash requires cliUrl, apiUrl, webUrl, which the source does not declare")


def test_a_manifest_has_no_inferred_danger_and_says_so(tmp_path: Path) -> None:
    """S4-21: what the server does not declare is not written as its own, though a call without it counts as safe."""
    tools = [
        {"name": f"{verb}_show", "description": f"{verb.title()}s a show."} for verb in ("delete", "create", "list")
    ]
    service = service_of_answers(answers_with(*tools))
    files = declared(tmp_path, service)
    assert not {"risk_level", "requires_confirmation"} & {
        key for item in files["service-manifest.json"]["tools"] for key in item
    }
    messages = published(tmp_path / "again", service, emit=["service-manifest"])[1]["published-without"]
    assert any("counts as safe" in message and "delete_show" in message for message in messages)


@pytest.mark.parametrize("stem", ["everything", "github-mcp-server", "slack"])
def test_the_markdown_of_ai_help_has_the_profile_of_mcp(stem: str, tmp_path: Path) -> None:
    """S0-50: front matter with cli-url, api-url and web-url, valid by the MCP profile; the sections of ai-help.md."""
    service = skillgen.read(ROOT / "tests/golden/sources" / f"{stem}.json")
    out, _ = published(tmp_path, service, emit=["dashdash", "ai-help"])
    result = read_json(out / "dashdash.json")["ai_help"]["markdown"]
    document = MarkdownDocument(result["content"])
    fields = document.fields()
    validator("dashdash-frontmatter-mcp").validate(fields)
    assert fields["cli-url"] == "none"
    assert document.text.split("---\n")[2].split("\n\n")[1].startswith("> ")
    help_text = MarkdownDocument((out / "ai-help.md").read_text("utf-8"))
    assert [item.text for item in document.headings] == [item.text for item in help_text.headings]


def test_the_json_of_ai_help_has_the_keys_of_the_seed(tmp_path: Path) -> None:
    """S0-54: with the uses to avoid; all keys are in camel case."""
    help_text = "## When to Use\n\n- Plan a show\n\nDo NOT use it for:\n\n- Taxes\n\n## Authentication\n\nAsk Ada.\n"
    dashdash = {"rateLimit": "100/hour", "invocation": {"modelInvocable": True, "userInvocable": False}}
    service = service_of_answers(answers(dashdash=dashdash) | {"ai_help": {"content": help_text}})
    result = declared(tmp_path, service)["dashdash.json"]["ai_help"]["json"]
    sections = result["sections"]
    assert sections["whenToUse"] == ["Plan a show"]
    assert sections["doNotUse"] == ["Taxes"]
    assert sections["quickReference"] == [{"name": "book", "description": "Books a ticket"}]
    assert "Ask Ada." in sections["authentication"]
    assert "100/hour" in sections["rateLimits"]["description"]
    assert result["metadata"]["invocation"] == {"modelInvocable": True, "userInvocable": False}
    assert service_of_answers(answers() | {"ai_help": result}).when_not_to_use == ("Taxes",)


def test_a_server_that_answers_the_list_of_skills_hands_over_the_skill(tmp_path: Path) -> None:
    """X-11: the client gets every file, with the size and the digest of the list."""
    github = skillgen.read(ROOT / "tests/golden/sources/github-mcp-server.json")
    out, _ = published(tmp_path, github, emit=["skill", "skills-list"])
    (entry,) = read_json(out / "skills-list.json")["skills"]
    validator("mcp-skill-entry").validate(entry)
    assert entry["frontmatter"] == MarkdownDocument((out / "skills/github/SKILL.md").read_text("utf-8")).fields()
    command = (sys.executable, "-m", "servers.skilled_sdk", str(out))
    service = skillgen.read(command=command, cwd=ROOT / "tests", skill_files=True)
    (skill,) = service.skills
    files = {f"skills/{file.uri.removeprefix('skill://')}": (file.text or "").encode() for file in skill.files}
    assert files == {path: content for path, content in files_of(out).items() if path.startswith("skills/github/")}
    assert not [problem.code for problem in service.problems if problem.code.startswith("skill-")]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_stay_values_of_valid_declarations(text: str, tmp_path: Path) -> None:
    dashdash = {"identity": {"name": text, "description": text}, "requires": {"env": [text]}}
    tools = {"name": text, "description": text, "dashdash": {"category": text, "errors": [{"code": text}]}}
    service = service_of_answers({**answers_with(tools), **answers(name=text, dashdash=dashdash)} | answers_with(tools))
    files = declared(tmp_path, service)
    assert all(re.fullmatch(r"(tool-descriptions/[a-z0-9-]+|[a-z-]+)\.json", path) for path in files)
    for path, content in files_of(tmp_path).items():
        assert not set(content.decode("utf-8")) & set("\x1b\u202e"), path


def test_a_server_that_others_cannot_reach_is_not_in_the_plugin(tmp_path: Path) -> None:
    services = kinds_of_servers()
    for kind in ("local", "private"):
        folder, problems = plugin(tmp_path / kind, services[kind])
        assert not (folder / "mcp.json").exists()
        assert "mcpServers" not in read_json(folder / ".claude-plugin/plugin.json")
        assert "the plugin has only the skill" in problems["published-without"][0]


@pytest.mark.slow
def test_the_version_of_the_sdk_is_not_published(tmp_path: Path) -> None:
    service = skillgen.read(command=clock())
    out, problems = published(tmp_path, service, emit=["server-json", "plugin", "service-manifest"], publish=ACME)
    assert set(files_of(out)) & {"server.json", "service-manifest.json"} == set()
    assert "version" not in read_json(out / "plugin/plugin.json")
    assert len(problems["format-left-out"]) == 2
