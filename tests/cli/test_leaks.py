"""Nothing that a request brings, and nothing that is stored, is in any output of the server.

A server runs as a process with every library at its debug level. Each place where a request can
hold something gets a canary of its own: parameters, names of parameters, paths, headers,
credentials, bodies, methods, what is no HTTP; in requests that are answered, refused,
percent-encoded and crash.
"""

from __future__ import annotations

import base64
import json
import re
import secrets
import socket
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

import psycopg
import pytest
from psycopg import sql

from masthead.contract.operations import EXTENSIONS, OPERATIONS
from masthead.store import open_store
from tests.postgres import name_of
from tests.servers import import_files, masthead, serving, write_ndjson

if TYPE_CHECKING:
    from pathlib import Path

    from tests.servers import Server, Store

STORED = {
    name: f"stored-{name}-{secrets.token_hex(4)}"
    for name in ("email", "password", "first_name", "last_name", "source", "company", "notes")
}
ANSWERED_OR_REFUSED = (200, 400, 404)
KEY, LOGIN = secrets.token_hex(12), secrets.token_hex(12)


class Canaries:
    """Words that occur nowhere else, each with the place that it was made for."""

    def __init__(self) -> None:
        self.places: dict[str, str] = {}

    def new(self, place: str) -> str:
        word = f"canary0{secrets.token_hex(6)}"
        self.places[word] = place
        return word

    def digits(self, place: str) -> str:
        word = str(10**17 + secrets.randbelow(10**17))
        self.places[word] = place
        return word

    def encoded(self, place: str) -> str:
        """Return a word with each of its characters percent-encoded; neither form may be seen."""
        word = self.new(place)
        text = "".join(f"%{ord(character):02x}" for character in word)
        self.places[text] = f"{place}, as it was sent"
        return text

    def credentials(self, place: str) -> str:
        text = f"{self.new(f'{place}: user')}:{self.new(f'{place}: password')}"
        sent = base64.b64encode(text.encode()).decode()
        self.places[sent.rstrip("=")] = f"{place}, as it was sent"
        return sent


class Sent(NamedTuple):
    """A request, and the statuses that it may get."""

    target: str
    statuses: tuple[int, ...]
    headers: str = ""
    body: str = ""
    method: str = "GET"
    credentials: str = base64.b64encode(f"{KEY}:{LOGIN}".encode()).decode()

    def answer(self, server: Server) -> str:
        length = f"Content-Length: {len(self.body.encode())}\r\n" if self.body else ""
        text = (
            f"{self.method} {self.target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
            f"Authorization: Basic {self.credentials}\r\n{self.headers}{length}\r\n{self.body}"
        )
        answer = raw(server, text.encode())
        assert int(answer.split()[1]) in self.statuses, (self, answer[:300])
        return answer


def raw(server: Server, data: bytes) -> str:
    with socket.create_connection(server.address, timeout=30) as client:
        client.sendall(data)
        answer = b""
        while piece := client.recv(65_536):
            answer += piece
    return answer.decode()


def requests(canaries: Canaries) -> list[Sent]:
    """Return requests that are answered or refused, with something in every place."""
    new, encoded = canaries.new, canaries.encoded
    found = []
    for operation in (*OPERATIONS.values(), *EXTENSIONS):
        path = re.sub(r"{\w+}", canaries.digits(f"{operation.name}: id"), operation.path)
        for parameter in operation.parameters:
            place = f"{operation.name}: {parameter.name}"
            found += [
                Sent(f"{path}?{parameter.name}={value}", ANSWERED_OR_REFUSED)
                for value in (new(place), encoded(f"{place}, encoded"))
            ]
        place = f"{operation.name}: a name"
        found += [
            Sent(f"{path}?{name}={new(place)}", (400,)) for name in (new(place), encoded(place))
        ]
        found += [Sent(f"{path}?x={new('twice')}&x={new('twice')}", (400,))]
        found += [Sent(path, ANSWERED_OR_REFUSED)]
    search = "/2/subscribers/"
    headers = "".join(
        f"{name}: {new(f'header {name}')}\r\n"
        for name in (
            *("User-Agent", "Cookie", "Referer", "X-Forwarded-For", "Accept", "Accept-Encoding"),
            *("Accept-Language", "Origin", "If-None-Match", "Range", "X-Api-Key", "Forwarded"),
            *("Upgrade", "Sec-WebSocket-Key", "Content-Type", "Traceparent", "X-Request-Id"),
            new("a name of a header"),
        )
    )
    return [
        *found,
        Sent(search, (200,), headers),
        Sent(search, (200,), f"X-Forwarded-For: fe80::1%{new('zone')}\r\n"),
        Sent(search, (200,), f"X-Forwarded-For: 192.0.2.7, {new('port')}:1\r\n"),
        Sent(search, (200,), f'Forwarded: for="_{new("hidden")}";by={new("by")}\r\n'),
        Sent(search, (200,), f"Connection: upgrade\r\nUpgrade: {new('upgrade')}\r\n"),
        Sent(f"/{new('path')}/{new('path')}?{new('query')}", (404,)),
        Sent(f"/{encoded('path')}", (404,)),
        Sent(f"/9/{new('version')}", (404,)),
        Sent(f"/2/orders/{new('id')}", (404,)),
        Sent(f"/docs/assets/{new('file')}", (404,)),
        Sent("/health?" + new("health"), (200,)),
        Sent(search, (405,), method="POST", body=new("body of a POST")),
        Sent(search, (405,), method=new("method").upper()),
        Sent(search, (200,), body=json.dumps({"email": new("body of JSON")})),
        Sent(search, (400,), body=json.dumps({new("name in JSON"): new("of it")})),
        Sent(search, (400,), body=json.dumps({"email": {new("nested"): [new("nested")]}})),
        Sent(search, (400,), body=f'{{"email": {new("broken JSON")}'),
        Sent(search, (200,), body=f"email={new('body of a form')}"),
        Sent(search, (400,), body=f"email={new('one')}&email={new('two')}"),
        Sent(f"{search}?email=%ff{new('no UTF-8')}", (400,)),
        Sent(f"{search}?email={new('long') * 600}", (414,)),
        Sent(search, (431,), f"X-Long: {new('long header') * 2_500}\r\n"),
        Sent(search, (413,), body=new("long body") * 5_000),
        Sent(search, (403,), credentials=canaries.credentials("unknown")),
        Sent(search, (401,), credentials=new("no base64")),
        Sent(search, (401,), credentials=base64.b64encode(new("no colon").encode()).decode()),
    ]


def crashing(canaries: Canaries) -> list[Sent]:
    """Return requests that crash where the table of subscribers is gone or closed."""
    new, encoded = canaries.new, canaries.encoded
    since = f"2026-01-01T00:00:00Z&entities={new('entities')}"
    header = f"User-Agent: {new('crash: header')}\r\nCookie: {new('crash: cookie')}\r\n"
    return [
        Sent(f"/2/subscribers/?email={new('crash: email')}", (500,), header),
        Sent(f"/2/subscribers/?last_name={new('crash: name')}*", (500,), header),
        Sent(f"/2/subscribers/?email={encoded('crash: encoded')}", (500,)),
        Sent(f"/2/subscribers/authenticate?login={new('crash: login')}&password=x", (500,)),
        Sent("/2/subscribers/authenticate?login=x&password=" + new("crash: password"), (500,)),
        Sent("/2/subscribers/", (500,), body=json.dumps({"email": new("crash: body")})),
        Sent(f"/2/cdc?changed_since={since}", (400,)),
        Sent("/snapshot?entities=subscribers", (500,), header),
        Sent(f"/2/customfields/{canaries.digits('crash: id')}", (500,)),
    ]


def make_crash(store: Store, database: str) -> None:
    """Let every query of subscribers raise an unexpected error."""
    if store.kind == "sqlite":
        with open_store(database).writer() as connection:
            connection.script("PRAGMA foreign_keys = OFF; ALTER TABLE subscribers RENAME TO gone")
    else:
        role = sql.Identifier(f"{name_of(database)}_server")
        with psycopg.connect(database, autocommit=True) as server:
            server.execute(sql.SQL("REVOKE ALL ON subscribers FROM {}").format(role))


@pytest.fixture
def loaded(store: Store, tmp_path: Path) -> str:
    """A database whose account 1 holds a subscriber, all of whose words are canaries."""
    database = store.new_database(f"leaks-{secrets.token_hex(4)}")
    accounts = [{"account_id": 1, "api_key": KEY, "api_login": LOGIN, "api_active": "1"}]
    rows = {
        "subscribers": [
            {
                "subscriber_id": 1,
                **{name: STORED[name] for name in STORED if name not in {"company", "notes"}},
            }
        ],
        "addresses": [{"address_id": 1, "subscriber_id": 1, "company": STORED["company"]}],
        "purchases": [{"purchase_id": 1, "subscriber_id": 1, "notes": STORED["notes"]}],
    }
    import_files(
        *write_ndjson(tmp_path / "accounts", {"accounts": accounts}),
        account_id=None,
        database=database,
    )
    import_files(*write_ndjson(tmp_path / "rows", rows), account_id="1", database=database)
    return database


@pytest.mark.parametrize(("log_format", "proxy"), [("text", ()), ("json", ("--behind-proxy",))])
def test_no_canary_is_in_any_output(
    store: Store,
    loaded: str,
    log_format: str,
    proxy: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """decisions, "What is logged"; rules, "The address of a client" and "Errors in the log"."""
    monkeypatch.setenv("PYTHONASYNCIODEBUG", "1")
    canaries = Canaries()
    options = (f"--log-format={log_format}", "--metrics-port=0", *proxy)
    with serving(loaded, *options, module="tests.debugging") as server:
        for sent in requests(canaries):
            sent.answer(server)
        login = f"login={quote(STORED['email'])}&password={quote(STORED['password'])}"
        found = Sent(f"/2/subscribers/authenticate?{login}", (200,)).answer(server)
        assert STORED["first_name"] in found
        everything = Sent("/snapshot?entities=subscribers,addresses,purchases", (200,)).answer(
            server
        )
        assert all(STORED[name] in everything for name in ("email", "company", "notes"))
        refused = raw(server, f"{canaries.new('no HTTP')}\r\n\r\n".encode())
        assert refused.startswith("HTTP/1.1 400 ")
        make_crash(store, loaded)
        answers = [sent.answer(server) for sent in crashing(canaries)]
        assert server.stop() == 0
        output = server.output()
    assert "uvicorn.error: Started server process" in output, "libraries are silent"
    leaked = {place for word, place in canaries.places.items() if word.lower() in output.lower()}
    assert not leaked
    own = {KEY, LOGIN, base64.b64encode(f"{KEY}:{LOGIN}".encode()).decode(), *STORED.values()}
    assert not [word for word in own if word in output]
    crashed = [answer for answer in answers if answer.startswith("HTTP/1.1 500 ")]
    assert len(crashed) == len(answers) - 1
    for answer in crashed:
        assert_is_under_its_id(answer, output.splitlines())


def assert_is_under_its_id(answer: str, lines: list[str]) -> None:
    """Assert that the answer's request id leads to the fault and to the request in the log."""
    found = re.search(r"its log has it under ([0-9a-f]{16})", answer)
    assert found
    named = [line for line in lines if found[1] in line]
    fault, request = named
    assert "request failed" in fault
    assert "exception" in fault
    assert "src/masthead" in fault
    assert any(kind in fault for kind in ("SQLError", "InsufficientPrivilege", "MastheadError"))
    assert "500" in request


RAISE = """
import asyncio, logging, sys
from masthead.log import configure_logs, get_logger

configure_logs(sys.argv[1])
secret = sys.argv[2]

def fail():
    try:
        int(secret)
    except ValueError as error:
        raise ExceptionGroup(secret, [KeyError(secret), OSError(2, secret, secret)]) from error

async def forgotten():
    raise RuntimeError(secret)

async def forget():
    task = asyncio.get_running_loop().create_task(forgotten(), name="task")
    await asyncio.wait([task])

try:
    fail()
except Exception:
    get_logger().exception("ours")
    logging.getLogger("theirs").exception("theirs")
asyncio.run(forget(), debug=True)
"""


REQUESTS = """
import asyncio, sys
from masthead.log import RequestLog, configure_logs, get_logger

configure_logs(sys.argv[1])
log = RequestLog()

async def handle():
    for number in range(2):
        log.note(status=200 + number)
    get_logger().info("between", status=204)

asyncio.run(handle())
"""


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_the_lines_of_an_iteration_are_written_at_its_end_in_the_form_of_any_other(
    log_format: str,
) -> None:
    """rules, "What one turn asks"."""
    done = subprocess.run(
        [sys.executable, "-c", REQUESTS, log_format], capture_output=True, text=True, check=True
    )
    between, *requests = done.stderr.splitlines()
    forms = {"text": "status={}", "json": '"status":{}'}
    for status, line in zip((204, 200, 201), (between, *requests), strict=True):
        assert forms[log_format].format(status) in line
    names = [
        re.findall(r"\b(timestamp|level|event|status)\b", line) for line in (between, *requests)
    ]
    assert names == [["timestamp", "level", "event", "status"]] * 3


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_an_error_is_logged_by_its_kind_and_its_place_alone(log_format: str) -> None:
    """rules, "Errors in the log": what it says may quote any value."""
    secret = f"canary{secrets.token_hex(6)}"
    done = subprocess.run(
        [sys.executable, "-c", RAISE, log_format, secret],
        capture_output=True,
        text=True,
        check=True,
    )
    assert secret not in done.stdout + done.stderr
    ours, theirs, asyncios = done.stderr.splitlines()
    for line in (ours, theirs):
        for kind in ("builtins.ValueError", "builtins.ExceptionGroup", "KeyError", "in fail"):
            assert kind in line
        assert "FileNotFoundError" in line
    assert "asyncio: Task exception was never retrieved" in asyncios
    assert "builtins.RuntimeError" in asyncios


def test_what_a_command_says_of_a_key_that_is_taken_does_not_name_it(
    store: Store, tmp_path: Path
) -> None:
    """decisions, "What is logged": nor do commands, which mail what they print under cron."""
    database = store.new_database(f"leaks-{secrets.token_hex(4)}")
    masthead("accounts", "add", 1, f"--api-key={KEY}", database=database)
    accounts = [{"account_id": 2, "api_key": KEY, "api_login": LOGIN}]
    files = write_ndjson(tmp_path, {"accounts": accounts})
    done = masthead("import", *files, database=database, exit_status=1)
    assert KEY not in done.stdout + done.stderr
    assert LOGIN not in done.stdout + done.stderr
