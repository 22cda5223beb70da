"""A credential belongs to an origin: its variable has the host in its name, and no other host gets it."""

from __future__ import annotations

import base64
import itertools
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pytest
from captured import service_of_answers
from cli import Finished, generated, run_skillgen
from descriptions import LONG, description, operation
from http_servers import QuietHandler, http_servers
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace
from rows import inputs
from test_scripts import run_script, script_of

import skillgen
from skillgen.model.credentials import origin_of, variable_prefix

SECRET = 'sesame"kQ9x/7Lw+2\\Zt8mPq'
BEARER: dict[str, Any] = {"type": "http", "scheme": "bearer"}

HOSTS: list[str] = inputs("credentials")["hosts"]


def origins() -> list[str]:
    schemes = ("https://{}", "http://{}", "https://{}:80", "http://{}:443", "https://{}:8443", "http://{}:8443")
    return [form.format(host) for host in HOSTS for form in schemes]


def test_no_two_origins_share_the_name_of_a_variable() -> None:
    names: dict[str, object] = {}
    for url in origins():
        assert names.setdefault(variable_prefix(url), origin_of(url)) == origin_of(url), url
    assert len(list(itertools.combinations(names, 2))) > 10_000
    assert [name for name in names if not re.fullmatch(r"SKILL_[A-Z0-9]+(_+[A-Z0-9]+)*", name)] == []


URLS = st.tuples(
    st.sampled_from(["http", "https"]),
    st.one_of(st.text("ab0x5f._-", min_size=1), st.text(min_size=1)),
    st.sampled_from(["", ":1", ":80", ":443", ":8080"]),
).map(lambda parts: f"{parts[0]}://{parts[1]}{parts[2]}")


@given(URLS, URLS)
def test_names_of_any_two_origins_differ(left: str, right: str) -> None:
    if origin_of(left) and origin_of(right) and origin_of(left) != origin_of(right):
        assert variable_prefix(left) != variable_prefix(right)


@pytest.mark.parametrize(
    "name", ["x|e touch ran;#/", "x/w ran;#|", "x'; touch ran; '", "x’; touch ran", "x'&touch$IFS'ran", "x'>ran'"]
)
def test_a_command_that_reads_a_section_runs_nothing_of_a_name(name: str, tmp_path: Path) -> None:
    """Neither what begins every path, nor what a reader puts in the place of the name."""
    about = {f"get_{number}": LONG for number in range(40)} | {name: "It. " + LONG}
    tools = [{"name": key, "description": text, "inputSchema": {}} for key, text in about.items()]
    server = service_of_answers({"tools/list": [{"tools": tools}]})
    path = f"/{name.lstrip('/')}"
    paths = {f"{path}/a{number}": {"get": operation(f"get_{number}", description=LONG)} for number in range(40)}
    for source in (server, skillgen.read(description(paths))):
        texts = skillgen.render_documents(source, emit="skill")
        text = next(text for name, text in texts.items() if name.endswith("SKILL.md"))
        commands = re.findall(r"read its section: (`+) ?(.*?) ?\1[.]", text)
        assert len(commands) == 1
        (tmp_path / "FILE").write_text(f"`GET {path}/a1`\n## {name}\nx\n", "utf-8")
        command = commands[0][1].replace("METHOD", "GET").replace("NAME", name).replace("PATH", f"{path}/a1")
        subprocess.run(["sh", "-c", command.replace("references/", "")], cwd=tmp_path, check=False, capture_output=True)
        assert not (tmp_path / "ran").exists()


def test_the_example_of_a_snapshot_runs_nothing_of_a_path(tmp_path: Path) -> None:
    """Nor does `curl` read a range in a server's URL."""
    data = description({"/a": {"get": operation("get_a")}}, servers=[{"url": "https://harbour.example/v[1-5]"}])
    text = json.dumps(skillgen.snapshot(skillgen.read(data)))
    path = json.dumps({"path": '/a"; touch ran; "$(touch ran)'})
    snapshot = json.loads(text.replace('"request": {"path": "/a"}', f'"request": {path}'))
    texts = skillgen.render_documents(skillgen.read(snapshot), emit="skill")
    (command,) = re.findall("^curl .*", "\n".join(texts.values()), re.MULTILINE)
    assert "/v%5B1-5%5D/a%22" in command
    subprocess.run(["sh", "-c", f"curl() {{ :; }}; {command}"], cwd=tmp_path, capture_output=True, check=False)
    assert not (tmp_path / "ran").exists()


@given(st.text("#?@\\/:.%{}[] \t\nevil", max_size=12))
@example("#@evil.example")
@example("?@evil.example")
def test_a_command_sends_a_credential_where_its_variable_says(end: str) -> None:
    """Of a description, and of a snapshot, of which no URL is checked."""
    url = f"https://harbour.example{end}"
    data = description({"/a": {"get": operation("get_a")}}, security=[{"key": []}], servers=[{"url": url}])
    data["components"] = {"securitySchemes": {"key": BEARER}}
    service = skillgen.read(data)
    for changed in (service, replace(service, endpoints=(replace(service.endpoints[0], url=url),))):
        texts = skillgen.render_documents(changed, emit="skill")
        text = next(text for name, text in texts.items() if name.endswith("SKILL.md"))
        for shown, variable in re.findall(r'curl "([^"$]*)/PATH" -H "Authorization: Bearer \$(\w+)"', text):
            host = unquote((origin_of(shown) or ("", "", 0))[1])
            is_host = re.fullmatch(r"[\w-]+(\.[\w-]+)+", host)
            assert not is_host or variable.startswith(f"{variable_prefix(f'https://{host}')}___")


@pytest.mark.parametrize(
    "urls",
    [
        ("https://api.github.com", "HTTPS://API.GitHub.com:443/v3?x=1", "https://user@api.github.com/"),
        ("https://münchen.de", "https://MÜNCHEN.de", "https://xn--mnchen-3ya.de"),
        ("http://[::1]:8080/mcp", "http://[::1]:8080"),
    ],
)
def test_one_origin_has_one_name(urls: tuple[str, ...]) -> None:
    assert len({variable_prefix(url) for url in urls}) == 1


def described(
    url: str | None, schemes: Any = BEARER, *, title: str = "GitHub", security: Any = ({"k": []},), tool_url: str = ""
) -> dict[str, Any]:
    operation: dict[str, Any] = {"operationId": "getMe", "responses": {"200": {"description": "ok"}}}
    upload = {**operation, "operationId": "send", **({"servers": [{"url": tool_url}]} if tool_url else {})}
    document: dict[str, Any] = {"openapi": "3.1.0", "info": {"title": title, "version": "1"}}
    document["paths"] = {"/me": {"get": operation}, "/sent": {"get": upload}}
    if url is not None:
        document["servers"] = [{"url": url}]
    if security is not None:
        document |= {"security": list(security), "components": {"securitySchemes": {"k": schemes}}}
    return document


def test_all_documents_name_the_variable_of_the_host(tmp_path: Path) -> None:
    data = described("https://api.github.com", tool_url="https://uploads.github.com:8443/v1")
    documents = skillgen.render_documents(skillgen.read(data), emit=["skill", "llms", "ai-help", "scripts"])
    names = {name for text in documents.values() for name in re.findall(r"SKILL_\w+", text)}
    assert names - {"SKILL_GITHUB"} == {"SKILL_API_GITHUB_COM___TOKEN", "SKILL_UPLOADS_GITHUB_COM___8443___TOKEN"}
    skill = documents["skills/github/SKILL.md"]
    assert '-H "Authorization: Bearer $SKILL_API_GITHUB_COM___TOKEN"` (`k`)' in skill
    uploads = "at `https://uploads.github.com:8443/v1` take it from `$SKILL_UPLOADS_GITHUB_COM___8443___TOKEN`"
    assert uploads in skill


@pytest.fixture
def start() -> Iterator[Callable[..., tuple[str, list[str]]]]:
    """Yields a function that starts a service; returns its URL, and what it receives."""
    with http_servers() as servers:

        def service(target: str = "", answer: Callable[[], str] = lambda: "{}") -> tuple[str, list[str]]:
            received: list[str] = []

            class Service(QuietHandler):
                def do_GET(self) -> None:
                    received.append(f"{self.path} {dict(self.headers)}")
                    body = answer().encode()
                    self.send_response(302 if target else 200)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(body)))
                    if target:
                        self.send_header("Location", f"{target}/elsewhere")
                    self.end_headers()
                    self.wfile.write(body)

            return servers(Service), received

        yield service


def both(folder: Path, data: dict[str, Any], tool: str, env: dict[str, str], *options: object) -> list[Finished]:
    """Returns what `call` and the program of the skill do."""
    (folder / "api.json").write_text(json.dumps(data), "utf-8")
    shutil.rmtree(folder / "out", ignore_errors=True)
    generated("from-openapi", folder / "api.json", "--emit", "skill,scripts", "-o", folder / "out")
    by_command = run_skillgen("call", folder / "api.json", *options, tool, cwd=folder, env=env)
    return [by_command, run_script(script_of(folder / "out"), tool, cwd=folder, env=env)]


def variable(url: str, noun: str = "TOKEN") -> str:
    return f"SKILL_127_0_0_1___HTTP___{url.rpartition(':')[2]}___{noun}"


SCHEMES = (BEARER, *({"type": "apiKey", "name": "key", "in": place} for place in ("header", "query", "cookie")))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_no_redirect_carries_a_credential(tmp_path: Path, start: Any, scheme: Any) -> None:
    other, elsewhere = start()
    url, received = start(other)
    noun = "TOKEN" if scheme is BEARER else "API_KEY"
    both(tmp_path, described(url, scheme), "getMe", {variable(url, noun): "sesame", variable(other, noun): "other"})
    assert ["sesame" in text for text in received] == [True, True]
    assert not any("sesame" in text or "other" in text for text in elsewhere)


def test_each_origin_gets_its_own_credential(tmp_path: Path, start: Any) -> None:
    (url, received), (other, uploads) = start(), start()
    data, env = described(url, tool_url=other), {variable(url): "sesame"}
    for finished in both(tmp_path, data, "send", env):
        assert (finished.exit_code, variable(other) in finished.stderr) == (2, True)
    for finished in both(tmp_path, data, "send", {**env, variable(other): "other"}):
        assert finished.exit_code == 0, finished.stderr
    assert (len(uploads), any("sesame" in text for text in uploads)) == (2, False)
    assert all("Bearer other" in text for text in uploads)
    assert received == []


def test_the_value_of_a_variable_in_a_url_decides_which_credential_is_sent(tmp_path: Path, start: Any) -> None:
    (url, _), (other, received) = start(), start()
    data = described("http://127.0.0.1:{port}", title="Ports")
    for finished in both(
        tmp_path, data, "getMe", {variable(url): "sesame", "SKILL_PORTS_URL_PORT": other.rpartition(":")[2]}
    ):
        assert (finished.exit_code, variable(other) in finished.stderr) == (2, True), finished.stderr
    assert received == []


def test_a_title_chooses_no_credential(tmp_path: Path, start: Any) -> None:
    url, received = start()
    env = {"SKILL_GITHUB_TOKEN": "sesame", "SKILL_API_GITHUB_COM___TOKEN": "sesame"}
    for title in ("GitHub", "git hub!", "api.github.com"):
        ways: tuple[Any, ...] = (({"k": []},), ({"k": []}, {}))
        for security in ways:
            for finished in both(tmp_path, described(url, title=title, security=security), "getMe", env):
                assert (finished.exit_code, variable(url) in finished.stderr) == (
                    (2, True) if security == ({"k": []},) else (0, False)
                ), finished.stderr
    assert not any("sesame" in text for text in received)


def test_none_is_sent_where_none_is_declared(tmp_path: Path, start: Any) -> None:
    url, received = start()
    env = {"SKILL_GITHUB_TOKEN": "sesame", variable(url): "sesame"}
    for data in (described(url, security=None), {**described(url), "security": []}):
        for finished in both(tmp_path, data, "getMe", env):
            assert finished.exit_code == 0, finished.stderr
    assert (len(received), any("sesame" in text for text in received)) == (4, False)


def test_a_base_url_that_is_given_has_its_own_variable(tmp_path: Path, start: Any) -> None:
    url, received = start()
    env = {"SKILL_API_GITHUB_COM___TOKEN": "sesame", "SKILL_API_GITHUB_COM___BASE_URL": url}
    for finished in both(tmp_path, described("https://api.github.com"), "getMe", env, "--base-url", url):
        assert (finished.exit_code, variable(url) in finished.stderr) == (2, True)
    for finished in both(tmp_path, described("https://api.github.com"), "getMe", {**env, variable(url): "other"}):
        assert finished.exit_code == 0, finished.stderr
    assert all("Bearer other" in text for text in received)


def test_without_a_host_the_variable_of_the_base_url_is_in_the_name(tmp_path: Path, start: Any) -> None:
    """So documents can name it; a description that has a host, or variables in URLs, cannot read it."""
    url, received = start()
    env = {"SKILL_GITHUB_BASE_URL": url, "SKILL_GITHUB_BASE_URL___TOKEN": "sesame"}
    for finished in both(tmp_path, described(None), "getMe", env):
        assert finished.exit_code == 0, finished.stderr
    assert "$SKILL_GITHUB_BASE_URL___TOKEN" in (tmp_path / "out/skills/github/SKILL.md").read_text("utf-8")
    assert ["Bearer sesame" in text for text in received] == [True, True]
    received.clear()
    for finished in both(tmp_path, described("/{area}/v1"), "getMe", {**env, "SKILL_GITHUB_URL_AREA": "eu"}):
        assert finished.exit_code == 0, finished.stderr
    assert ["/eu/v1/me" in text for text in received] == [True, True]
    received.clear()
    for data in (described(url), described("{base_url___token}"), described(f"{url}/{{base_url___token}}")):
        both(tmp_path, data, "getMe", {**env, "SKILL_GITHUB_BASE_URL": ""})
    assert received == []


def test_a_title_moves_no_service_and_fills_no_url(tmp_path: Path, start: Any) -> None:
    """What a user sets for one service is for another of its title neither the host nor a part of the URL."""
    (honest, to_honest), (other, to_other) = start(), start()
    names = ("BASE_URL", "URL", "TOKEN", "KEY", "BASE_URL___KEY", "URL_KEY")
    env = {f"SKILL_GITHUB_{name}": honest if "URL" in name else "sesame" for name in names}
    env |= {variable(honest): "sesame", variable(honest, "KEY"): "sesame", variable(other): "other"}
    for url in (other, f"{other}/{{token}}", f"{other}/bot{{key}}", f"{other}/{{base_url___key}}"):
        both(tmp_path, described(url), "getMe", env)
    assert to_honest == []
    assert len(to_other) == 4  # with {token}, the credential of its own origin
    assert not any("sesame" in text or honest in text for text in to_other)
    for finished in both(tmp_path, described(f"{other}/{{key}}"), "getMe", {**env, variable(other, "KEY"): "mine"}):
        assert finished.exit_code == 0, finished.stderr
    assert "/mine/me" in to_other[-1]
    for finished in both(tmp_path, described("https://{key}.github.example"), "getMe", env):
        assert "sesame" not in finished.stderr


@pytest.mark.parametrize("place", ["scheme", "parameter"])
def test_a_header_option_is_the_credential_that_it_carries(tmp_path: Path, start: Any, place: str) -> None:
    (url, received), (other, elsewhere) = start(), start()
    data = described(url, {"type": "apiKey", "name": "X-Gate-Key", "in": "header"}, tool_url=other)
    if place == "parameter":
        parameter = {"name": "X-Gate-Key", "in": "header", "required": True, "schema": {"type": "string"}}
        data["paths"]["/me"]["get"]["parameters"] = [parameter]
    (tmp_path / "api.json").write_text(json.dumps(data), "utf-8")
    options = ["api.json", "--header", "x-gate-key: env:K"]
    finished = generated("call", *options, "getMe", cwd=tmp_path, env={"K": "sesame"})
    assert received[0].lower().count("x-gate-key': 'sesame") == 1
    finished = run_skillgen("call", *options, "send", cwd=tmp_path, env={"K": "sesame"})
    assert (finished.exit_code, variable(other, "API_KEY") in finished.stderr, elsewhere) == (2, True, [])


def test_a_local_server_gets_no_credential_of_an_origin(tmp_path: Path) -> None:
    data = {"server": {}, "tools": [{"name": "find", "inputSchema": {"type": "object"}}]}
    (tmp_path / "server.json").write_text(json.dumps({**data, "tools/call": {"content": []}}), "utf-8")
    words = "import os, runpy; open('names', 'w').write(' '.join(os.environ)); "
    command = [sys.executable, "-c", words + "runpy.run_module('servers.listed', run_name='__main__')", "server.json"]
    env = {"PYTHONPATH": str(Path(__file__).parent), "SKILL_API_GITHUB_COM___TOKEN": "sesame", "ACME_KEY": "x"}
    options = ["--emit", "skill,scripts", "-o", "out", "--", *command]
    assert run_skillgen("from-server", *options, cwd=tmp_path, env=env).exit_code == 0
    run_script(script_of(tmp_path / "out"), "find", "--", *command, cwd=tmp_path, env=env).ok()
    names = (tmp_path / "names").read_text("utf-8").split()
    assert ("ACME_KEY" in names, "SKILL_API_GITHUB_COM___TOKEN" in names) == (True, False)


def test_a_secret_that_a_service_echoes_is_hidden(tmp_path: Path, start: Any) -> None:
    """N13: literal, quoted for a URL, escaped for JSON and in Base64, also within a longer text."""
    encoded = [base64.b64encode(f"{'x' * number}{SECRET}".encode()).decode() for number in range(3)]
    texts = [SECRET, quote(SECRET), quote(SECRET, safe=""), json.dumps(SECRET), *encoded]
    url, _ = start(answer=lambda: json.dumps({"kept": "yes", "texts": texts}))
    for finished in both(tmp_path, described(url), "getMe", {variable(url): SECRET}):
        assert finished.exit_code == 0, finished.stderr
        found = json.loads(finished.stdout)
        assert (found["kept"], len(found["texts"])) == ("yes", len(texts))
        assert all("[hidden]" in text and "sesame" not in text for text in found["texts"]), found
