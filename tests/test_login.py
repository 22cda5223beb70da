"""Logging in to a hosted server: through the command line, a browser, an authorization server and a protected one."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import stat
import subprocess
import sys
import urllib.request
from pathlib import Path

import httpx2
import pytest
from cli import Finished, environment, files_of, run_skillgen
from servers.guarded import Door, guarded

from skillgen.sources.mcp.oauth import LoginLimits

pytestmark = pytest.mark.slow

BROWSER = """
import sys, urllib.request
urllib.request.urlopen(sys.argv[1]).read()
"""


@pytest.fixture
def browser(tmp_path: Path) -> dict[str, str]:
    """Returns the environment of a user with a browser that follows where it is sent, and a configuration folder."""
    script = tmp_path / "browser.py"
    script.write_text(BROWSER)
    return {"BROWSER": f"{sys.executable} {script} %s", "XDG_CONFIG_HOME": str(tmp_path / "config")}


def crawl(url: str, out: Path, env: dict[str, str], *options: str) -> Finished:
    return run_skillgen("from-server", "--url", url, "-o", out, *options, env=env)


def login_files(env: dict[str, str]) -> list[Path]:
    return sorted(Path(env["XDG_CONFIG_HOME"]).rglob("*.json"))


def test_a_login_registers_opens_the_browser_and_is_stored(tmp_path: Path, browser: dict[str, str]) -> None:
    """X-12: metadata of the resource, registration, PKCE; the second run asks nobody, with --login or without."""
    door = Door()
    with guarded(door) as url:
        crawl(url, tmp_path / "out", browser, "--login").ended(0, f"log in to {url} at: http://127.0.0.1:")
        assert door.seen.count("/authorize") == 1

        for options in (["--login"], []):
            again = crawl(url, tmp_path / "out", browser, *options, "--check").ok()
            assert again.stdout == ""
        assert door.seen.count("/authorize") == door.seen.count("/register") == 1
        assert door.grants == ["authorization_code"]
    assert "buy_paper" in (tmp_path / "out/skills/kiosk/SKILL.md").read_text("utf-8")


def test_a_call_uses_the_login_that_is_stored(tmp_path: Path, browser: dict[str, str]) -> None:
    door = Door()
    with guarded(door) as url:
        for options in (["--login"], []):
            finished = run_skillgen("call", "--url", url, *options, "buy_paper", "title=x", env=browser)
            assert (finished.exit_code, finished.stdout) == (0, "sold\n"), finished.stderr
    assert door.seen.count("/authorize") == 1


def test_tokens_reach_no_output_and_only_the_user_reads_their_file(tmp_path: Path, browser: dict[str, str]) -> None:
    """X-12: the server repeats the token in its instructions."""
    door = Door()
    with guarded(door) as url:
        finished = crawl(url, tmp_path / "out", browser, "--login", "-v").ok()
    tokens = door.access | door.refresh
    written = b"".join(files_of(tmp_path / "out").values()).decode("utf-8")
    assert not [token for token in tokens if token in written + finished.stdout + finished.stderr]
    assert "secret-echoed" in finished.stderr
    (file,) = login_files(browser)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_a_token_that_ended_is_renewed_without_asking(tmp_path: Path, browser: dict[str, str]) -> None:
    """X-12: one that ended by its own time, and one that the server took back before."""
    door = Door(expires_in_s=1)
    with guarded(door) as url:
        assert crawl(url, tmp_path / "out", browser, "--login").exit_code == 0
        door.access.clear()
        assert crawl(url, tmp_path / "out", browser).exit_code == 0
        assert door.grants == ["authorization_code", "refresh_token"]

        door.expires_in_s = 3600
        assert crawl(url, tmp_path / "out", browser).exit_code == 0
        door.access.clear()
        assert crawl(url, tmp_path / "out", browser).exit_code == 0
        assert door.grants == ["authorization_code", *["refresh_token"] * 3]
        assert door.seen.count("/authorize") == 1


def test_a_protected_server_without_login_is_a_fatal_error_with_a_fix(tmp_path: Path, browser: dict[str, str]) -> None:
    """X-12: nobody is asked, nothing is registered."""
    door = Door()
    with guarded(door) as url:
        crawl(url, tmp_path / "out", browser).ended(3, "HTTP 401", "--login", "--header")
        assert door.seen == []
    assert not (tmp_path / "out").exists()


def test_a_login_also_happens_if_the_handshake_needs_none(tmp_path: Path, browser: dict[str, str]) -> None:
    """X-12: this server wants a token only when its tools are listed."""
    door = Door(challenges=False)
    with guarded(door) as url:
        assert crawl(url, tmp_path / "out", browser).exit_code == 3
        crawl(url, tmp_path / "out", browser, "--login").ok()


def test_the_url_of_a_client_metadata_document_is_a_client(tmp_path: Path, browser: dict[str, str]) -> None:
    """X-12: where the authorization server reads such documents, nothing is registered."""
    door = Door(registers=False, reads_documents=True)
    with guarded(door) as url:
        crawl(url, tmp_path / "out", browser, "--login", "--client-id", "https://client.example/skillgen.json").ok()
        assert "/register" not in door.seen


@pytest.mark.parametrize(
    ("door", "message"),
    [
        (Door(registers=False), "--client-id"),
        (Door(lets_in=False), "the owner said no"),
        (Door(names={"scopes_supported": "x" * 3_000_000}), "a response is larger than 1 MiB"),
    ],
    ids=["no registration", "refused", "endless"],
)
def test_a_login_that_fails_is_reported_and_stores_nothing(
    tmp_path: Path, browser: dict[str, str], door: Door, message: str
) -> None:
    """X-12, issue 7, "Size and shape": the SDK reads whatever comes."""
    with guarded(door) as url:
        finished = crawl(url, tmp_path / "out", browser, "--login").ended(3, message)
    assert "Traceback" not in finished.stderr
    assert login_files(browser) == [] or "tokens" not in json.loads(login_files(browser)[0].read_text())


def test_without_a_browser_the_address_is_printed_and_waited_for(tmp_path: Path, browser: dict[str, str]) -> None:
    """X-12: as on a machine that is reached by ssh."""
    env = {**browser, "BROWSER": "", "DISPLAY": "", "WAYLAND_DISPLAY": ""}
    command = [sys.executable, "-m", "skillgen", "from-server", "--login", "-o", str(tmp_path / "out"), "--url"]
    with guarded(Door()) as url:
        process = subprocess.Popen([*command, url], stderr=subprocess.PIPE, text=True, env=environment(env))
        assert process.stderr is not None
        page = re.search(r" at: (http://\S+)", process.stderr.readline())
        assert page is not None
        urllib.request.urlopen(page[1]).read()
        process.stderr.read()
        assert process.wait(60) == 0
        process.stderr.close()


def test_logout_forgets(tmp_path: Path, browser: dict[str, str]) -> None:
    """X-12."""
    with guarded(Door()) as url:
        assert crawl(url, tmp_path / "out", browser, "--login").exit_code == 0
        first, second = (run_skillgen("logout", url, env=browser) for _ in range(2))
        assert (first.exit_code, second.exit_code) == (0, 0)
        assert "login deleted" in first.stderr
        assert "no login is stored" in second.stderr
        assert login_files(browser) == []
        assert crawl(url, tmp_path / "out", browser).exit_code == 3


def test_a_header_of_the_user_wins_over_a_login(tmp_path: Path, browser: dict[str, str]) -> None:
    """X-12: and nobody is asked."""
    door = Door()
    door.access.add("from-elsewhere")
    with guarded(door) as url:
        crawl(url, tmp_path / "out", browser, "--login", "--header", "Authorization: Bearer from-elsewhere").ok()
        assert door.seen == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--login", "--", "true"], "--login: has no effect with a server's command"),
        (["--url", "http://127.0.0.1:9/mcp", "--client-id", "x"], "has no effect without --login"),
        (["--url", "http://127.0.0.1:9/mcp", "--login", "--client-secret", "hunter22"], "env:VARIABLE"),
    ],
)
def test_options_that_make_no_sense_are_refused(tmp_path: Path, options: list[str], message: str) -> None:
    finished = run_skillgen("from-server", "-o", tmp_path / "out", *options).ended(2, message)
    assert "hunter22" not in finished.stderr


@pytest.mark.parametrize(
    "named",
    [
        {"token_endpoint": "http://localhost:9/token"},
        {"registration_endpoint": "http://[::1]:9/register"},
        {"authorization_endpoint": "http://localhost:9/admin"},
        {"authorization_endpoint": "https://169.254.169.254/latest"},
    ],
)
def test_what_a_server_names_for_a_login_is_in_no_private_network(
    tmp_path: Path, browser: dict[str, str], named: dict[str, str]
) -> None:
    """X-12, issue 7, "Network": only the host that the user named may be anywhere."""
    with guarded(Door(names=named)) as url:
        finished = crawl(url, tmp_path / "out", browser, "--login")
    assert finished.exit_code == 3
    assert "in a private network; only the user may name such a host" in finished.stderr
    assert "log in to" not in finished.stderr or "token_endpoint" in named


@pytest.mark.parametrize(
    "page",
    ["javascript:alert(1)", "file:///etc/passwd", "https://x.example/\x1b[31m", f"https://x.example/{'a' * 8_000}"],
    ids=lambda page: page[:20],
)
def test_no_browser_is_sent_to_what_is_no_page(tmp_path: Path, browser: dict[str, str], page: str) -> None:
    """X-12."""
    with guarded(Door(names={"authorization_endpoint": page})) as url:
        finished = crawl(url, tmp_path / "out", browser, "--login", "--timeout", "5").ended(3)
    assert "log in to" not in finished.stderr
    assert "\x1b" not in finished.stderr


def test_the_secret_of_a_client_is_in_no_message_that_repeats_it(tmp_path: Path, browser: dict[str, str]) -> None:
    """X-12: the authorization server quotes the request that it refuses."""
    door = Door(registers=False, quotes=True)
    door.clients["me"] = {"redirect_uris": AnyUri()}
    with guarded(door) as url:
        options = ("--login", "--client-id", "me", "--client-secret", "env:CLIENT_SECRET")
        finished = crawl(url, tmp_path / "out", {**browser, "CLIENT_SECRET": "cs-Zq7kWm2xP9vT4rL8"}, *options)
    assert finished.exit_code == 3
    assert "the login fails" in finished.stderr
    assert "Zq7kWm2xP9vT4rL8" not in finished.stderr


SECRET_OPTIONS = ("--login", "--client-id", "me", "--client-secret", "env:CLIENT_SECRET")


def test_the_secret_of_a_client_goes_to_no_server_that_nobody_named(tmp_path: Path, browser: dict[str, str]) -> None:
    """X-12: the MCP server names the authorization server."""
    door = Door(registers=False)
    door.clients["me"] = {"redirect_uris": AnyUri()}
    env = {**browser, "CLIENT_SECRET": "cs-Zq7kWm2xP9vT4rL8"}
    with guarded(door) as url:
        for options in ((), ("--issuer", "https://login.example")):
            crawl(url, tmp_path / "out", env, *SECRET_OPTIONS, *options).ended(
                3, "which may not get the client secret", "add --issuer http://127.0.0.1:"
            )
            assert "/authorize" not in door.seen
            assert "/token" not in door.seen


def test_an_issuer_that_the_user_named_is_kept_for_the_next_run(tmp_path: Path, browser: dict[str, str]) -> None:
    """X-12: the renewal sends the secret too."""
    door = Door(registers=False, expires_in_s=1)
    door.clients["me"] = {"redirect_uris": AnyUri()}
    env = {**browser, "CLIENT_SECRET": "cs-Zq7kWm2xP9vT4rL8"}
    with guarded(door) as url:
        issuer = door_issuer(url)
        crawl(url, tmp_path / "out", env, *SECRET_OPTIONS, "--issuer", issuer).ok()
        crawl(url, tmp_path / "out", env, *SECRET_OPTIONS).ok()
        assert door.grants == ["authorization_code", "refresh_token"]


def door_issuer(url: str) -> str:
    """Returns the authorization server that a protected server names."""
    metadata = url.replace("/mcp", "/.well-known/oauth-protected-resource/mcp")
    with urllib.request.urlopen(metadata) as response:
        issuer: str = json.load(response)["authorization_servers"][0]
    return issuer


@pytest.mark.parametrize("methods", [None, [], ["plain"]])
def test_an_authorization_server_without_pkce_is_refused(
    tmp_path: Path, browser: dict[str, str], methods: list[str] | None
) -> None:
    """X-12: clients MUST refuse to proceed (2025-11-25, "Authorization")."""
    door = Door(names={"code_challenge_methods_supported": methods})
    with guarded(door) as url:
        crawl(url, tmp_path / "out", browser, "--login").ended(3, "does not declare PKCE")
    assert "/authorize" not in door.seen


def test_a_request_of_a_login_goes_to_the_address_that_was_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """X-12: a second answer of the name server changes nothing."""
    answers = iter(["93.184.215.14", "127.0.0.1"])

    def resolved(host: str, port: int, **_: object) -> list[tuple[object, ...]]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(answers), port))]

    monkeypatch.setattr(socket, "getaddrinfo", resolved)
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    request = httpx2.Request("GET", "https://login.example:8443/token?a=b")
    asyncio.run(LoginLimits("https://server.example/mcp").check(request))
    assert str(request.url) == "https://93.184.215.14:8443/token?a=b"
    assert request.headers["Host"] == "login.example:8443"
    assert request.extensions["sni_hostname"] == "login.example"


class AnyUri:
    """Redirect URIs of a client that was registered by hand."""

    def __contains__(self, uri: object) -> bool:
        return True
