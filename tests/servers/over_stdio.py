"""The kiosk on standard input and output, in one of many manners: `python -m servers.over_stdio MANNER`.

With KIOSK_LOG, every message that it receives is appended to that file, and so are the processes that it starts.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from servers.kiosk import DASHDASH, LEGACY, MODERN, TOOLS, UNSUPPORTED_VERSION, Json, Kiosk, RpcError, pages


def log(entry: Json) -> None:
    """Notes something for the test that started this."""
    if path := os.environ.get("KIOSK_LOG"):
        with Path(path).open("a") as file:
            file.write(json.dumps(entry) + "\n")


def messages() -> Iterator[Json]:
    """Yields the messages as they come."""
    for line in sys.stdin.buffer:
        message = json.loads(line)
        log(message)
        yield message


def say(message: Json | None) -> None:
    """Sends a message."""
    if message is not None:
        write(json.dumps(message).encode() + b"\n")


def write(data: bytes) -> None:
    """Writes bytes unchanged."""
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def serve(kiosk: Kiosk) -> None:
    """Answers every message."""
    for message in messages():
        say(kiosk.answer(message))


def die(*_: object) -> Any:
    """Ends the process at once."""
    print("kiosk: fatal", file=sys.stderr, flush=True)
    os._exit(7)


def silent() -> None:
    """Reads, and never answers."""
    for _ in messages():
        pass


def exits() -> None:
    """Complains, in colour and with a secret, and exits."""
    print(f"\x1b]0;title\x07\x1b[31mkiosk: ba\u202ed key {os.environ.get('KIOSK_KEY')}\x1b[0m\x9b", file=sys.stderr)
    sys.exit(3)


def garbage() -> None:
    """Writes what is no message, without end."""
    while True:
        write(b"tick\n" * 1000)


def changed(
    version: str = LEGACY[-1],
    *,
    capabilities: Json | None = None,
    extras: Json | None = None,
    methods: dict[str, Callable[[Json], Any] | None] | None = None,
) -> Callable[[], None]:
    """Speaks one version, has other capabilities, more in its first answer, or other methods; `None` is no method."""

    def manner() -> None:
        kiosk = Kiosk(version)
        kiosk.capabilities = kiosk.capabilities if capabilities is None else capabilities
        kiosk.extras = extras or {}
        changed_methods = {**kiosk.methods, **(methods or {})}
        kiosk.methods = {name: method for name, method in changed_methods.items() if method is not None}
        serve(kiosk)

    return manner


def sends(block: bytes, times: int = 260) -> Callable[[], None]:
    """Sends something so many times, and then serves."""

    def manner() -> None:
        for _ in range(times):
            write(block)
        serve(Kiosk(LEGACY[-1]))

    return manner


def only(version: str, text: str, data: Json | None) -> Callable[[], None]:
    """Refuses every version but one, and names it instead of offering it."""

    def manner() -> None:
        kiosk = Kiosk(version)
        opens = kiosk.methods["initialize"]

        def initialize(params: Json) -> Any:
            if params["protocolVersion"] != version:
                raise RpcError(-32602, text, data and {**data, "requested": params["protocolVersion"]})
            return opens(params)

        kiosk.methods["initialize"] = initialize
        serve(kiosk)

    return manner


def in_latin_1() -> None:
    """Writes the encoding of its system."""
    kiosk = Kiosk(LEGACY[-1])
    schema = {"type": "object", "properties": {"Größe": {"type": "integer"}}}
    pay = {"name": "pay", "description": "Zahlt die Größe.", "inputSchema": schema}
    kiosk.methods["tools/list"] = lambda _: {"tools": [*TOOLS, pay]}
    for message in messages():
        if answer := kiosk.answer(message):
            write(json.dumps(answer, ensure_ascii=False).encode("latin-1") + b"\n")


def framed() -> None:
    """Writes headers before each message, as language servers do, and no line end after it."""
    kiosk = Kiosk(LEGACY[-1])
    for message in messages():
        if answer := kiosk.answer(message):
            body = json.dumps(answer).encode()
            write(b"Content-Length: %d\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n" % len(body))
            write(body)


def sloppy() -> None:
    """Answers without `jsonrpc`, with texts for ids and error codes, and with a null result."""
    kiosk = Kiosk(LEGACY[-1])

    def refuse(_: Json) -> Json:
        raise RpcError("E_NO", "not today")

    kiosk.methods["prompts/list"] = refuse
    kiosk.methods["resources/list"] = lambda _: None
    for message in messages():
        if answer := kiosk.answer(message):
            del answer["jsonrpc"]
            say({**answer, "id": str(answer["id"])})


def float_ids() -> None:
    """Writes every number as a fraction, and several messages on one line as a batch."""
    kiosk = Kiosk(LEGACY[1])
    for message in messages():
        if answer := kiosk.answer(message):
            write(json.dumps([{"method": "notifications/message"}, {**answer, "id": float(answer["id"])}]).encode())
            write(b"\n")


def closes_stdout() -> None:
    """Closes its standard output instead of listing its tools, and stays."""
    kiosk = Kiosk(LEGACY[-1])

    def close(_: Json) -> Json:
        os.close(1)
        signal.pause()
        return {}

    kiosk.methods["tools/list"] = close
    serve(kiosk)


def floods() -> None:
    """Sends thousands of notifications and requests before it says what it has."""
    kiosk = Kiosk(LEGACY[-1])
    for message in messages():
        if message.get("method") == "tools/list":
            for number in range(3000):
                say({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": number}})
                say({"jsonrpc": "2.0", "id": f"kiosk-{number}", "method": "elicitation/create", "params": {}})
        say(kiosk.answer(message))


def null_id() -> None:
    """Answers a method that it does not know with an error that names no request."""
    kiosk = Kiosk(LEGACY[-1])
    for message in messages():
        known = message["method"] in kiosk.methods
        say(kiosk.answer(message) if known else {"jsonrpc": "2.0", "id": None, "error": {"code": -32600}})


def dies_on_unknown() -> None:
    """Ends when it is asked what it does not know."""
    kiosk = Kiosk(LEGACY[0])
    for message in messages():
        if "id" in message and message["method"] not in kiosk.methods:
            die()
        say(kiosk.answer(message))


def ignores_unknown() -> None:
    """Says nothing when it is asked what it does not know."""
    kiosk = Kiosk(LEGACY[1])
    for message in messages():
        if message["method"] in kiosk.methods:
            say(kiosk.answer(message))


def starts_slowly() -> None:
    """Speaks the newest version only, and answers nothing before it has been asked twice."""
    requests = messages()
    first, second = next(requests), next(requests)
    kiosk = Kiosk(MODERN)
    say(kiosk.answer(first))
    say(kiosk.answer(second))
    for message in requests:
        say(kiosk.answer(message))


def locked() -> None:
    """Speaks both eras, and after the first request only that request's."""
    kiosk = Kiosk(*LEGACY, MODERN)
    for number, message in enumerate(messages()):
        if number == 0:
            kiosk.methods.pop("initialize" if message["method"] == "server/discover" else "server/discover")
        say(kiosk.answer(message))


def spoiled() -> None:
    """Refuses `initialize` unless it is the first request."""
    kiosk = Kiosk(LEGACY[-1])
    for number, message in enumerate(messages()):
        if number > 0:
            kiosk.methods.pop("initialize", None)
        say(kiosk.answer(message))


def unsupported(*supported: str) -> Callable[[], None]:
    """Answers the newest version with an error of that version, and would answer `initialize`."""

    def manner() -> None:
        kiosk = Kiosk(LEGACY[-1])

        def refuse(_: Json) -> Json:
            data = {"supported": list(supported), "requested": MODERN}
            raise RpcError(UNSUPPORTED_VERSION, "Unsupported protocol version", data)

        kiosk.methods["server/discover"] = refuse
        serve(kiosk)

    return manner


def help_text(_: Json) -> Json:
    return {"content": "# Kiosk", "contentType": "text/markdown"}


def wants_input(_: Json) -> Json:
    return {"resultType": "input_required", "inputRequests": {"a": {}}}


def told_values(_: Json) -> Json:
    """Returns a tool whose description has the values of all variables, and the arguments."""
    told = " ".join([*os.environ.values(), *sys.argv])
    return {"tools": [{"name": "tell", "description": f"Tells {told}"}]}


def modern_dashdash() -> None:
    """Describes itself with dashdash in the newest version, and answers `ai_help`."""
    kiosk = Kiosk(MODERN)
    kiosk.capabilities["extensions"] = {"io.dashdash/dashdash": DASHDASH}
    kiosk.methods["ai_help"] = help_text
    serve(kiosk)


def in_time(*days: float, **others: Json) -> Json:
    """Returns a tool whose arguments have times so many days from now as defaults, and others."""
    times = [datetime.now(timezone.utc) + timedelta(days=number) for number in days]
    dates = {
        f"day{number}": {"type": "string", "default": f"{time:%F}"} for number, time in zip(days, times, strict=True)
    }
    return {"name": f"sell{len(days)}", "inputSchema": {"type": "object", "properties": {**dates, **others}}}


def paged(**pages_of_tools: tuple[list[Json], Json]) -> Callable[[], None]:
    """Returns its tools in pages; `first` is the page without a cursor, `empty` the one at the empty cursor."""

    def manner() -> None:
        kiosk = Kiosk(LEGACY[-1])
        names: dict[str, str | None] = {"first": None, "empty": ""}
        kiosk.methods["tools/list"] = pages("tools", {names.get(k, k): page for k, page in pages_of_tools.items()})
        serve(kiosk)

    return manner


def endless(pause_s: float = 0) -> None:
    """Has always one more page, each a little later."""
    kiosk = Kiosk(LEGACY[-1])

    def page(params: Json) -> Json:
        number = int(params.get("cursor", 0)) + 1
        time.sleep(pause_s)
        return {"tools": [{"name": f"tool_{number}"}], "nextCursor": str(number)}

    kiosk.methods["tools/list"] = page
    serve(kiosk)


def refuses_lists() -> None:
    """Fails at one list that it declares, does not know another, and wants input for the third."""
    kiosk = Kiosk(LEGACY[-1])

    def fail(_: Json) -> Json:
        raise RpcError(-32603, "database is locked")

    kiosk.methods["resources/list"] = fail
    del kiosk.methods["resources/templates/list"]
    kiosk.methods["prompts/list"] = lambda _: {"resultType": "input_required", "prompts": []}
    serve(kiosk)


def asks_back() -> None:
    """Asks the client this and that before it says what it has, and has nothing without the right answers."""
    kiosk = Kiosk(LEGACY[-1])
    replies: dict[Any, Json] = {}
    for message in messages():
        if message.get("method") == "tools/list":
            for number, method in enumerate(("ping", "roots/list", "sampling/createMessage")):
                say({"jsonrpc": "2.0", "id": f"kiosk-{number}", "method": method})
            waiting = message
        elif "method" not in message:
            replies[message["id"]] = message
            if len(replies) == 3:
                outcomes = [replies[f"kiosk-{number}"] for number in range(3)]
                fine = outcomes[0]["result"] == {} and [o["error"]["code"] for o in outcomes[1:]] == [-32601, -32601]
                say({"id": waiting["id"], "result": {"tools": TOOLS if fine else []}})
        else:
            say(kiosk.answer(message))


def floods_stderr() -> None:
    """Writes far more to standard error than a pipe holds."""
    for _ in range(64):
        sys.stderr.write("x" * 16_383 + "\n")
    serve(Kiosk(LEGACY[-1]))


def deep() -> None:
    """Sends a message that is nested without reason."""
    for message in messages():
        write(b'{"id": %d, "result": ' % message["id"] + b"[" * 200_000 + b"]" * 200_000 + b"}\n")


def stubborn() -> None:
    """Neither ends with its standard input nor on a signal, and starts others that do not either."""
    ignore = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); signal.pause()"
    for elsewhere in (False, True):
        child = subprocess.Popen(
            [sys.executable, "-c", ignore],
            start_new_session=elsewhere,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
        )
        assert child.stdout is not None
        child.stdout.readline()
        log({"pid": child.pid})
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    serve(Kiosk(LEGACY[-1]))
    signal.pause()


def leaves_child() -> None:
    """Ends as it should, and leaves a child behind."""
    child = subprocess.Popen(["sleep", "1000"], stdin=subprocess.DEVNULL)
    log({"pid": child.pid})
    serve(Kiosk(LEGACY[-1]))


def start_hidden_child() -> None:
    """Starts a child that leaves its parent, its group and its session."""
    if os.fork() == 0:
        os.setsid()
        child = os.fork()
        if child == 0:
            signal.pause()
        # The server waits for this line: the test may look before the child has run at all.
        log({"pid": child})
        os._exit(0)
    os.wait()


def hides_child() -> None:
    """Starts a child that leaves its parent, its group and its session, and then answers nothing."""
    start_hidden_child()
    log({"ready": True})
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        signal.pause()


def hides_child_and_ends() -> None:
    """Does its work, and leaves a child that nothing in the process table ties to it."""
    start_hidden_child()
    serve(Kiosk(LEGACY[-1]))


def icons() -> None:
    """Carries large icons in its own text, on all that can have some, and one that leads to a stranger."""
    picture = {"src": "data:image/png;base64," + "iVBORw0KGgo" * 2000, "sizes": ["48x48"]}
    own = {"icons": [picture, {"src": "https://stranger.example/pixel.png"}]}
    kiosk = Kiosk(LEGACY[-1])
    kiosk.extras = {"serverInfo": {"name": "kiosk", "version": "1.0", "websiteUrl": "https://kiosk.example", **own}}
    kiosk.methods["tools/list"] = lambda _: {"tools": [{**tool, **own} for tool in TOOLS]}
    kiosk.methods["prompts/list"] = lambda _: {"prompts": [{"name": "recommend", **own}]}
    serve(kiosk)


MANNERS: dict[str, Callable[[], None]] = {
    **{number: changed(number) for number in (*LEGACY, MODERN)},
    "silent": silent,
    "exits": exits,
    "garbage": garbage,
    "banner": sends("Bienvenue au café\n".encode("latin-1") + b'\n{"level": 30, "msg": "ready"}\n{not json\n', 1),
    "banner-without-end": sends(b"Listening {on stdio} ", 1),
    "sloppy": sloppy,
    "framed": framed,
    "null-id": null_id,
    "float-ids": float_ids,
    "closes-stdout": closes_stdout,
    "banner-in-utf16": sends("Prêt ".encode("utf-16"), 1),
    "floods": floods,
    "dies-in-tools": changed(methods={"tools/list": die}),
    "dies-in-resources": changed(methods={"resources/list": die}),
    "dies-on-unknown": dies_on_unknown,
    "ignores-unknown": ignores_unknown,
    "starts-slowly": starts_slowly,
    "locked": locked,
    "spoiled": spoiled,
    "unsupported": unsupported("2099-01-01"),
    "unsupported-but-legacy": unsupported(LEGACY[-1]),
    "dashdash": changed(LEGACY[0], extras={"dashdash": DASHDASH}, methods={"ai_help": help_text}),
    "modern-dashdash": modern_dashdash,
    "only-by-data": only(LEGACY[0], "Unsupported protocol version", {"supported": [LEGACY[0]]}),
    "only-by-text": only(LEGACY[2], f"Unsupported protocol version (supported versions: {LEGACY[2]})", None),
    "in-latin-1": in_latin_1,
    "dashdash-without-help": changed(LEGACY[0], extras={"dashdash": DASHDASH}),
    "pages": paged(
        first=(TOOLS[:1], {"nextCursor": ""}),
        empty=(TOOLS[1:], {"nextCursor": "last"}),
        last=([{"name": "close"}], {"nextCursor": None}),
    ),
    "in-time": paged(
        first=([in_time(-30, 0, size={"default": 3}, note={"default": "2026"}), in_time(-400)], {}),
    ),
    "pages-in-a-circle": paged(
        first=(TOOLS[:1], {"nextCursor": "b"}), b=(TOOLS[1:], {"nextCursor": "c"}), c=([], {"nextCursor": "b"})
    ),
    "empty-cursor-for-the-end": paged(first=(TOOLS, {"nextCursor": ""}), empty=(TOOLS, {"nextCursor": ""})),
    "endless": endless,
    "refuses-lists": refuses_lists,
    "asks-before-tools": changed(methods={"tools/list": wants_input}),
    "refuses-tools": changed(methods={"tools/list": None}),
    "declares-nothing": changed(capabilities={}),
    "no-tools": changed(capabilities={"prompts": {}}, methods={"tools/list": None}),
    "asks-back": asks_back,
    "floods-stderr": floods_stderr,
    "deep": deep,
    "long-line": sends(b"x" * 2**20),
    "many-lines": sends(b'{"method": "' + b"x" * (2**20 - 20) + b'"}\n'),
    "stubborn": stubborn,
    "leaves-child": leaves_child,
    "hides-child": hides_child,
    "hides-child-and-ends": hides_child_and_ends,
    "icons": icons,
    "environment": changed(methods={"tools/list": lambda _: {"tools": [{"name": name} for name in os.environ]}}),
    "environment-values": changed(methods={"tools/list": told_values}),
}

if __name__ == "__main__":
    log({"started": sys.argv[1]})
    MANNERS[sys.argv[1]]()
