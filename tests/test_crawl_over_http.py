"""The crawl over HTTP: against the kiosk, which shares no code with any SDK, and against real servers."""

from __future__ import annotations

import json
import logging
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import real_servers
from servers import over_http
from servers.kiosk import LEGACY, MODERN
from servers.over_http import KioskOverHttp

from skillgen import Service, SkillgenError, read

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """Waits for connections to end, which they must."""
    yield
    for thread in threading.enumerate():
        if thread.name.startswith("skillgen"):
            thread.join(10)
            assert not thread.is_alive()


def crawl_url(url: str, **options: Any) -> tuple[str | None, list[str]]:
    """Returns the transport over which a server answered, and its tools."""
    service = read(url=url, **options)
    return transport_of(service), [tool.name for tool in service.tools]


def transport_of(service: Service) -> str | None:
    return service.client_entry.transport if service.client_entry else None


def failure_at(url: str, **options: Any) -> SkillgenError:
    """Returns why a URL cannot be crawled."""
    with pytest.raises(SkillgenError) as caught:
        read(url=url, **options)
    return caught.value


BOTH = ["buy_paper", "list_papers"]


def methods_of(server: KioskOverHttp) -> list[str]:
    """Returns the methods of the messages that a server received."""
    return [message["method"] for _, _, message in server.received if "method" in message]


@pytest.mark.parametrize(("manner", "transport"), [("json", "http"), ("events", "http"), ("old", "sse")])
def test_every_transport_crawls(manner: str, transport: str) -> None:
    """X-01, X-03, S0-03: answers as JSON, as events, and on the stream of the transport before."""
    with over_http.running(manner) as server:
        service = read(url=server.url)
        assert (transport_of(service), [item.url for item in service.endpoints]) == (transport, [server.url])
        assert service.protocol_version == LEGACY[-1]
        assert [tool.name for tool in service.tools] == BOTH
        assert service.prompts
        assert {problem.where for problem in service.problems if problem.where[:1] != "/"} == {"endpoints"}
        assert "tools/call" not in methods_of(server)


def test_a_session_is_kept_named_and_ended() -> None:
    """X-03: the id of the session and the version that was agreed on stand in every later request."""
    with over_http.running("json") as server:
        crawl_url(server.url)
        for thread in threading.enumerate():
            if thread.name == "skillgen-http":
                thread.join(10)

        posts = [(headers, message) for command, headers, message in server.received if command == "POST"]
        for headers, message in posts:
            if message["method"] not in ("server/discover", "initialize"):
                assert headers["mcp-session-id"] == over_http.SESSION
                assert headers["mcp-protocol-version"] == LEGACY[-1]
            assert headers["accept"] == "application/json, text/event-stream"
        assert [command for command, _, _ in server.received][-1] == "DELETE"


def test_a_redirect_within_the_origin_is_followed() -> None:
    """X-03."""
    with over_http.running("moved") as server:
        assert crawl_url(server.url) == ("http", BOTH)


def test_an_answer_that_parsers_refuse_is_repaired_and_the_rest_documented() -> None:
    """X-05, X-10, X-13: each repair is a problem with its place, and what was right stays as it was."""
    with over_http.running("odd") as server:
        service = read(url=server.url)
    assert [tool.name for tool in service.tools] == BOTH
    assert service.tools[0].description == "Buys a  paper, \U0001f600 \\ud800."
    places = {problem.code: problem.where for problem in service.problems}
    assert places["invisible-characters"] == "/tools~1list/0/tools/0/description"
    assert places["nested-too-deeply"] == "/tools~1list/0/tools/1/deeper"
    schema = json.dumps(service.tools[0].input_schema)
    assert '{"default": "NaN", "maximum": "1e999"}' in schema


def test_a_session_that_the_server_ended_is_followed_by_a_new_one() -> None:
    """X-03: of the requests in flight, one opens it, without the id of the old one; each is sent once more."""
    with over_http.running("ending-session") as server:
        service = read(url=server.url)
        assert ([tool.name for tool in service.tools], len(service.prompts)) == (BOTH, 1)
        methods = methods_of(server)
        assert (methods.count("initialize"), methods.count("tools/list"), methods.count("ai_help")) == (2, 2, 1)


def test_a_server_that_ends_every_session_is_reported_as_that() -> None:
    """X-03, X-12: the path was right, for it answered the handshake."""
    with over_http.running("without-session") as server:
        assert (
            failure_at(server.url).what
            == "The server answers `tools/list` with an error (HTTP 404): Session terminated"
        )


def test_a_body_that_is_not_utf_8_is_reported_with_its_tool() -> None:
    """X-05, X-13: the rest is documented."""
    with over_http.running("in-latin-1") as server:
        service = read(url=server.url)
    assert [tool.description for tool in service.tools] == ["Zahlt die Gr\ufffd\ufffde."]
    assert [problem.where for problem in service.problems if problem.code == "text-not-decoded"] == [
        "/tools~1list/0/tools/0/description"
    ]


def test_the_newest_revision_has_its_version_and_method_in_the_headers_too() -> None:
    """X-01, X-03, S0-16, S0-17: the kiosk refuses a request whose headers differ from its body."""
    with over_http.running("modern") as server:
        service = read(url=server.url)
        assert service.protocol_version == MODERN
        assert [tool.name for tool in service.tools] == BOTH
        assert {problem.where for problem in service.problems if problem.where[:1] != "/"} == {"endpoints"}
        # the legacy handshake is tried on a separate connection, whenever that is ready.
        assert [method for method in methods_of(server) if method != "initialize"][-1] == "ai_help"


def test_credentials_are_asked_for_and_sent() -> None:
    """X-12: with the realm and the place of the metadata that the server names."""
    with over_http.running("locked") as server:
        error = failure_at(server.url)
        assert "HTTP 401" in error.what
        assert "kiosk" in error.what
        assert "oauth-protected-resource" in error.what
        assert "headers=" in (error.fix or "")
        assert methods_of(server) == ["server/discover"]

        assert crawl_url(server.url, headers={"Authorization": "Bearer open-sesame"}) == ("http", BOTH)


def test_a_user_in_the_url_does_not_win_over_the_header_that_was_given() -> None:
    """X-12: HTTP libraries make an Authorization header of it."""
    with over_http.running("locked") as server:
        url = server.url.replace("http://", "http://me:password@")
        assert crawl_url(url, headers={"authorization": "Bearer open-sesame"}) == ("http", BOTH)


def test_an_address_declared_for_the_old_transport_is_tried_over_it_first(tmp_path: Path) -> None:
    """X-03: a client's file names the transport; where it is wrong, the other one is tried."""
    for manner, transport in (("old", "sse"), ("json", "http")):
        with over_http.running(manner) as server:
            file = tmp_path / ".mcp.json"
            file.write_text(json.dumps({"mcpServers": {"kiosk": {"type": "sse", "url": server.url}}}), "utf-8")
            assert (transport_of(read(config=file)), server.received[0][0]) == (transport, "GET")


@pytest.mark.parametrize(
    ("manner", "what"),
    [
        ("forbidding", "HTTP 403"),
        ("scoped", 'HTTP 403 (Forbidden, error "insufficient_scope", scope "papers:read papers:buy")'),
        ("crowded", "The server is busy: HTTP 429 (Too Many Requests)."),
        ("broken", "The server fails: HTTP 503"),
        ("website", "No MCP server answers here: the response is text/html"),
        ("no-json", "not a JSON-RPC message"),
        ("redirecting", "elsewhere.test/mcp"),
        ("compressed", "compressed responses"),
        ("old-without-slash", "The event stream names an endpoint that answers HTTP 405 (Method Not Allowed)."),
        ("old-without-host", "The event stream names an endpoint that answers HTTP 405 (Method Not Allowed)."),
    ],
)
def test_an_answer_that_is_not_of_the_protocol_is_reported_as_what_it_is(manner: str, what: str) -> None:
    """X-12: and never with a secret of the URL or a header."""
    with over_http.running(manner) as server:
        url = server.url.replace("127.0.0.1", "me:hunter2@127.0.0.1") + "?key=swordfish"
        error = failure_at(url, headers={"X-Key": "abracadabra"})

        assert what in error.what
        assert error.where == server.url
        assert (error.fix or "").count("Give a token") <= 1
        told = f"{error.what} {error.where} {error.fix}"
        for secret in ("hunter2", "swordfish", "abracadabra", "abcdef"):
            assert secret not in told


@pytest.mark.parametrize("manner", ["old-elsewhere", "old-without-endpoint"])
def test_an_event_stream_without_a_usable_endpoint_is_reported_as_that(manner: str) -> None:
    """X-03, X-12: the status of the newer transport says nothing about such a server."""
    with over_http.running(manner) as server:
        error = failure_at(server.url, timeout=1.0)
    assert "opened an event stream (HTTP+SSE) and named no endpoint of the same origin" in error.what
    assert error.fix is not None


def test_a_busy_server_of_the_older_transport_is_asked_again_when_it_says() -> None:
    """S2-16."""
    with over_http.running("old-busy") as server:
        assert crawl_url(server.url) == ("sse", BOTH)
        assert server.refused == {"initialize", "tools/list"}
        assert server.too_early == []


def test_a_busy_server_is_asked_again_when_it_says() -> None:
    """S2-16: nothing is sent before that, and the other handshake is not tried for it."""
    with over_http.running("busy") as server:
        assert crawl_url(server.url) == ("http", BOTH)
        assert methods_of(server)[:2] == ["server/discover", "server/discover"]
        assert methods_of(server).count("tools/list") == 2
        assert server.too_early == []


def test_a_server_that_is_busy_for_long_is_not_waited_for() -> None:
    """S2-16: the message names what the server says."""
    with over_http.running("overloaded") as server:
        error = failure_at(server.url)
        assert error.what == "The server is busy: HTTP 503 (Service Unavailable), with Retry-After: 3600."
        assert error.fix == "Run it again after that time."
        assert methods_of(server) == ["server/discover"]


def test_a_path_without_a_server_names_the_status_of_the_first_transport() -> None:
    """X-03: both were tried."""
    with over_http.running("nowhere") as server:
        error = failure_at(server.url)
        assert [command for command, _, _ in server.received] == ["POST", "POST", "GET"]
    assert error.what == "No MCP server answers here: HTTP 404 (Not Found)."
    assert "/mcp" in (error.fix or "")


def test_a_server_that_says_nothing() -> None:
    """X-13: the request that it does not answer, and the option."""
    with over_http.running("hanging") as server:
        error = failure_at(server.url, timeout=0.5)
    assert "`initialize`" in error.what
    assert "timeout=" in (error.fix or "")


def test_a_server_that_breaks_off_over_another_list_still_has_its_tools() -> None:
    """X-05."""
    with over_http.running("cut-off") as server:
        service = read(url=server.url)
        assert [tool.name for tool in service.tools] == BOTH
        assert "resources/list" in {problem.where for problem in service.problems}


def test_nobody_listens() -> None:
    """X-13."""
    error = failure_at(f"http://127.0.0.1:{real_servers.free_port()}/mcp")
    assert error.what == "The connection is refused."
    assert error.fix is not None


@pytest.mark.parametrize("url", ["ftp://kiosk.test/mcp", "https:///mcp"])
def test_a_url_that_makes_no_sense(url: str) -> None:
    """X-13."""
    assert "URL" in f"{failure_at(url).what} {failure_at(url).fix}"


def test_a_header_that_cannot_be_sent() -> None:
    """X-12: is not quoted."""
    with over_http.running("events") as server:
        error = failure_at(server.url, headers={"X-Key": "abra\ncadabra"})
    assert "header" in error.what
    assert "cadabra" not in error.what


@pytest.mark.parametrize(
    ("cause", "what"),
    [
        (socket.gaierror(-2, "Name or service not known"), "The host name is not known."),
        (ssl.SSLCertVerificationError(1, "x"), "The server's certificate is not trusted"),
        (ssl.SSLError(1, "x"), "TLS fails"),
        (TimeoutError("slow"), "The host does not answer."),
        (RuntimeError("secret"), "The connection failed (RuntimeError)."),
    ],
)
def test_a_connection_that_fails_says_what_happened(
    cause: Exception, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """X-12, X-13: the innermost of the exceptions of the libraries, and no more of an unknown one than its class."""

    def fail(*_: object, **__: object) -> None:
        raise cause

    monkeypatch.setattr(socket, "getaddrinfo", fail)
    error = failure_at("https://kiosk.example/mcp")
    assert error.what.startswith(what)
    assert "secret" not in error.what


@pytest.mark.parametrize(("manner", "what"), [("endless", "the limit of a crawl"), ("asking", "1,000 requests")])
def test_what_a_server_sends_is_bounded(manner: str, what: str) -> None:
    """X-13."""
    with over_http.running(manner) as server:
        assert what in failure_at(server.url).what


def test_the_libraries_log_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """X-12: their records hold URLs with their query."""
    caplog.set_level(logging.DEBUG)
    with over_http.running("broken") as server:
        failure_at(server.url + "?key=swordfish")
    assert "swordfish" not in caplog.text


class TestRealServers:
    """Servers that other people wrote."""

    def test_server_everything_over_sse(self) -> None:
        """X-03."""
        port = real_servers.free_port()
        with real_servers.listening(real_servers.everything("sse"), port, {"PORT": str(port)}):
            transport, tools = crawl_url(f"http://localhost:{port}/sse")
        assert (transport, "echo" in tools) == ("sse", True)

    def test_a_server_on_the_second_version_of_the_sdk(self, tmp_path: Path) -> None:
        """X-01, X-03, S0-16, S0-17."""
        port = real_servers.free_port()
        with real_servers.listening(real_servers.modern_sdk(str(port)), port, {}):
            service = read(url=f"http://127.0.0.1:{port}/mcp")
        assert (transport_of(service), service.protocol_version) == ("http", MODERN)
        assert [tool.name for tool in service.tools] == ["buy_paper"]
