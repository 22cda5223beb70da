"""Formats for publishers: each file is valid by the schema of its specification, and states nothing but the source."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from captured import service_of_answers
from cli import ROOT, files_of, generated, run_python, run_skillgen
from descriptions import description, operation, write
from jsonschema import Draft7Validator, FormatChecker

import skillgen

SPECIFICATIONS = ROOT / "tests" / "specifications"
SERVER_SCHEMA = json.loads((SPECIFICATIONS / "registry" / "server.schema.json").read_text("utf-8"))
SERVER_JSON = Draft7Validator(SERVER_SCHEMA, format_checker=FormatChecker())
SNAPSHOTS = sorted((ROOT / "tests" / "golden" / "sources").glob("*.json"))
ACME = {"domain": "acme.com"}

Json = Any


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


def test_the_page_of_formats_is_up_to_date() -> None:
    assert run_python("-m", "skillgen.model.document").stdout == (ROOT / "docs" / "formats.md").read_text("utf-8")


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
        "uvx --from kiosk kiosk-mcp": (None, "have no place in server.json"),
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


def test_a_declared_package_counts_if_the_command_names_none(tmp_path: Path) -> None:
    service = service_of_answers(answers(), install={"npm": "@acme/kiosk@2.1.0", "brew": "kiosk", "pip": "kiosk==2.1"})
    entry, problems = server_json(tmp_path, service)
    assert problems == {}
    packages = [(item["registryType"], item["identifier"], item["version"]) for item in entry["packages"]]
    assert packages == [("npm", "@acme/kiosk", "2.1.0"), ("pypi", "kiosk", "2.1")]


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
    assert "is reached only in a private network" in problems["published-without"][0]


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
    assert problems == {"format-left-out": ["the server declares no exact version"]}


def test_an_http_api_has_no_server_json(tmp_path: Path) -> None:
    write(tmp_path / "api.json", description({"/a": {"get": operation("get_a")}}))
    entry, problems = server_json(tmp_path, skillgen.read(tmp_path / "api.json"))
    assert entry is None
    assert problems == {"format-left-out": ["server.json describes an MCP server, and this is an HTTP API"]}


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
