"""``masthead serve``: where it listens, what it says, its log, its health, and how it ends."""

from __future__ import annotations

import base64
import json
import re
import signal
import socket
import ssl
from contextlib import closing
from datetime import UTC, datetime, timedelta
from errno import ECONNREFUSED
from http.client import HTTPResponse
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2
import pytest

from tests.cli.running import holds_nothing, lines_until, make_certificate, running, spoil
from tests.long import SHORT_ON_SQLITE
from tests.servers import STOP_SECONDS_MAX, Server, import_files, masthead, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.servers import Store

BASIC = "Basic " + base64.b64encode(b"key:login").decode()
ENTITIES = "subscribers,addresses,subscriptions,orders,purchases,customfields,listdownloads"


@pytest.fixture(scope="module")
def loaded(store: Store, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A database whose account 1 holds 6,000 made-up subscribers."""
    database = store.new_database("serve")
    masthead("accounts", "add", 1, "--api-key=key", "--api-login=login", database=database)
    folder = tmp_path_factory.mktemp("serve")
    masthead("generate", folder / "g", "--subscribers", 6_000, database=database)
    import_files(folder / "g", account_id="1", database=database)
    return database


@pytest.fixture(scope="module")
def server(loaded: str) -> Iterator[Server]:
    """A server of that database."""
    with serving(loaded) as server:
        yield server


def get(url: str, **more: object) -> httpx2.Response:
    with httpx2.Client(**more) as client:  # type: ignore[arg-type]
        return client.get(url, headers={"Authorization": BASIC})


def test_it_says_where_it_serves_once_it_answers(server: Server) -> None:
    assert f"Masthead serves on {server.url}\n" in server.output()
    assert re.fullmatch(r"http://127\.0\.0\.1:[1-9]\d*", server.url)
    assert get(f"{server.url}/2/accounts/1/").status_code == 200


@SHORT_ON_SQLITE
@pytest.mark.parametrize("command", ["serve", "demo"])
def test_a_port_that_is_taken_is_said_before_anything_is_made(
    server: Server, store: Store, command: str
) -> None:
    _, port = server.address
    database = store.empty_database(f"never-{command}")
    done = masthead(command, "--port", port, database=database, exit_status=2)
    assert f"cannot listen at 127.0.0.1, port {port} (Address already in use" in done.stderr
    assert "is another server running there? Choose another port; --port sets it" in done.stderr
    assert holds_nothing(database)


@SHORT_ON_SQLITE
@pytest.mark.parametrize(
    ("settings", "warned"),
    [
        ({"MASTHEAD_HOST": "0.0.0.0"}, True),
        ({"MASTHEAD_HOST": "0.0.0.0", "MASTHEAD_BEHIND_PROXY": "1"}, False),
        ({"MASTHEAD_HOST": "127.0.0.1"}, False),
    ],
)
def test_plain_http_for_other_machines_is_warned_of(
    loaded: str, settings: dict[str, str], *, warned: bool
) -> None:
    """decisions, "Plain HTTP"."""
    settings = {**settings, "MASTHEAD_PORT": "0"}
    with running("serve", database=loaded, settings=settings) as process:
        lines = lines_until(process, "Masthead serves on")
    assert any(line.startswith("warning: ") for line in lines) == warned
    assert settings["MASTHEAD_HOST"] in lines[-1]


@SHORT_ON_SQLITE
def test_an_address_of_ipv6_is_served_too(loaded: str) -> None:
    if not socket.has_ipv6:
        pytest.skip("this machine has no IPv6")
    with running("serve", "--host", "::1", "--port", 0, database=loaded) as process:
        line = lines_until(process, "Masthead serves on")[-1]
        url = line.removeprefix("Masthead serves on ")
        assert url.startswith("http://[::1]:")
        assert get(f"{url}/health").status_code == 200


def test_sigterm_lets_a_running_answer_finish(loaded: str) -> None:
    """The client reads slowly: most of the answer is not yet sent when the signal comes.

    rules, "End on SIGTERM".
    """
    with serving(loaded) as server:
        with socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
            client.settimeout(STOP_SECONDS_MAX)
            client.connect(server.address)
            since = (datetime.now(UTC) - timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
            path = f"/2/cdc?changed_since={since}&entities={ENTITIES}"
            request = f"GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: {BASIC}\r\n\r\n"
            client.sendall(request.encode())
            answer = HTTPResponse(client)
            answer.begin()
            assert answer.status == 200
            assert answer.chunked
            server._process.send_signal(signal.SIGTERM)
            assert server._process.poll() is None
            body = answer.read()
            assert not client.recv(1)
        assert len(body) > 8_000_000
        assert json.loads(body)["list_downloads"]
        assert server._process.wait(STOP_SECONDS_MAX) == 0
        server.stop()
        assert "status=200" in server.output()
        assert "Traceback" not in server.output()


@pytest.mark.parametrize("signal_", [signal.SIGTERM, signal.SIGINT])
def test_an_idle_server_ends_at_once_with_0(loaded: str, signal_: signal.Signals) -> None:
    with serving(loaded) as server:
        server._process.send_signal(signal_)
        assert server._process.wait(30) == 0
        assert "Traceback" not in server.output()


def test_the_first_request_of_an_accepted_connection_is_answered_though_the_server_ends(
    loaded: str,
) -> None:
    """rules, "SIGHUP": no request fails, and a server ends as a worker does."""
    with serving(loaded) as server, socket.create_connection(server.address) as early:
        # Connections are accepted in their order, so the first one has been by now.
        assert httpx2.get(f"{server.url}/health").status_code == 200
        server._process.send_signal(signal.SIGTERM)
        while not _is_refused(server.address):
            pass
        early.sendall(b"GET /health HTTP/1.1\r\nHost: masthead.test\r\n\r\n")
        with closing(HTTPResponse(early)) as answer:
            answer.begin()
            assert (answer.status, answer.headers["Connection"]) == (200, "close")
        assert server._process.wait(STOP_SECONDS_MAX) == 0


def _is_refused(address: tuple[str, int]) -> bool:
    with socket.socket() as client:
        # Where too many connections wait to be accepted, the system tries again after a second.
        client.settimeout(0.05)
        return client.connect_ex(address) == ECONNREFUSED


def test_several_workers_serve_together_and_end_together(loaded: str) -> None:
    with serving(loaded, "--workers", "2") as server:
        for _ in range(20):
            assert get(f"{server.url}/2/accounts/1/").status_code == 200
        assert server.stop() == 0
        assert server.output().count("event='request'") == 20
    with pytest.raises(ConnectionRefusedError), socket.create_connection(server.address):
        pass


CANARY = "canary-7c1f"
REQUESTS = [
    ("/2/subscribers/?email={0}", 200, "'/2/subscribers'", "1"),
    ("/2/subscribers/authenticate/?login={0}", 200, "'/2/subscribers/authenticate'", "1"),
    ("/2/subscribers/?emial={0}", 400, "'/2/subscribers'", "1"),
    ("/2/orders/987654321?", 404, "'/2/orders/{order_id}'", "1"),
    ("/{0}/{0}?{0}={0}", 404, "'/*/*'", "None"),
    ("/v2/orders/{0}?{0}={0}", 404, "'/v2/orders/*'", "None"),
    ("/health?{0}", 200, "'/health'", "None"),
]
REASONS = [None, None, "unknown parameter", "no such id", *["no such path"] * 2, None]


@pytest.fixture(scope="module")
def log(loaded: str) -> list[str]:
    """All lines of a server that was asked each of the requests, and once with a wrong key."""
    with serving(loaded) as server:
        for path, status, _, _ in REQUESTS:
            assert get(server.url + path.format(CANARY)).status_code == status
        with httpx2.Client() as client:
            assert client.get(f"{server.url}/2/accounts/", auth=(CANARY, "x")).status_code == 403
        server.stop()
        return server.output().splitlines()


@pytest.mark.parametrize("number", range(len(REQUESTS)))
def test_the_access_log_has_a_line_a_request(log: list[str], number: int) -> None:
    """Method, path template, status, reason, duration, client, account, request id."""
    _, status, template, account = REQUESTS[number]
    requests = [line for line in log if "event='request'" in line]
    line = re.sub(r"^timestamp='[-0-9T:.]+Z' level='info' ", "", requests[number])
    assert re.fullmatch(
        rf"event='request' method='GET' path={re.escape(template)} status={status} "
        rf"reason={REASONS[number]!r} duration_ms=\d+\.\d+ client='127\.0\.0\.1' "
        rf"account={account} partner=None user_agent='[^']+' request_id='[0-9a-f]{{16}}'",
        line,
    )


def test_the_log_has_nothing_else_and_never_a_query_string_or_credentials(log: list[str]) -> None:
    """decisions, "What is logged"."""
    others = [line for line in log if "event='request'" not in line]
    assert len(log) - len(others) == len(REQUESTS) + 1
    serves, started, ended = sorted(others)
    assert serves.startswith("Masthead serves on ")
    assert "event='server process started'" in started
    assert "event='server process ended'" in ended
    text = "\n".join(log)
    for secret in (CANARY, "canary", "987654321", "login=", "emial", "?", BASIC.split()[1]):
        assert secret not in text
    assert base64.b64encode(f"{CANARY}:x".encode()).decode() not in text


def test_each_request_has_an_id_of_its_own(log: list[str]) -> None:
    requests = [line for line in log if "event='request'" in line]
    ids = {line.rpartition("request_id=")[2] for line in requests}
    assert len(ids) == len(requests)


def test_health_says_when_the_database_does_not_answer(store: Store) -> None:
    """200 while it does; 503 once it is spoilt."""
    database = store.new_database("spoilt")
    masthead("accounts", "add", 1, database=database)
    with serving(database) as server:
        healthy = get(f"{server.url}/health")
        assert (healthy.status_code, healthy.json()) == (200, {"status": "ok"})
        spoil(store, database)
        ill = get(f"{server.url}/health")
        assert ill.status_code == 503
        assert int(ill.headers["Retry-After"]) > 0
        assert list(ill.json()) == ["error"]
        assert "Traceback" not in server.output()


def test_a_database_that_does_not_answer_fills_no_log(store: Store) -> None:
    """decisions, "What is logged": each reason once a minute, for any number of requests."""
    database = store.new_database("silent")
    masthead("accounts", "add", 1, database=database)
    with serving(database) as server:
        spoil(store, database)
        for _ in range(10):
            assert get(f"{server.url}/health").status_code == 503
        server.stop()
        lines = server.output().splitlines()
    requests = [line for line in lines if "event='request'" in line]
    assert len(requests) == 10
    assert all("status=503 reason='database'" in line for line in requests)
    others = [re.sub(r"^timestamp='[^']+' ", "", each) for each in lines if each not in requests]
    assert any("event='database unavailable'" in line for line in others)
    assert len(others) == len(set(others))
    assert len(others) < 15


@pytest.mark.parametrize(
    ("options", "client"), [((), "127.0.0.1"), (("--behind-proxy",), "192.0.2.7")]
)
def test_the_log_has_the_address_of_the_client_as_the_proxy_says_it(
    loaded: str, options: tuple[str, ...], client: str
) -> None:
    """rules, "The address of a client"; also of what HTTP itself refuses.

    A proxy may add a header of its own after the client's. So of headers that are too long, and not
    read to their end, none counts.
    """
    own = "198.51.100.1, 192.0.2.7"
    too_long = "X: x\r\n" * 6_000
    sent = {
        f"X-Forwarded-For: {own}\r\nConnection: close": b"200",
        f"X-Forwarded-For: {own}\r\nExpect: nothing": b"417",
        f"X-Forwarded-For: 198.51.100.1\r\nX-Forwarded-For: {own}\r\nExpect: nothing": b"417",
        f"X-Forwarded-For: 198.51.100.1\r\n{too_long}X-Forwarded-For: {own}": b"431",
    }
    with serving(loaded, *options) as server:
        for headers, status in sent.items():
            with socket.create_connection(server.address) as connection:
                connection.sendall(f"GET /health HTTP/1.1\r\nHost: x\r\n{headers}\r\n\r\n".encode())
                assert connection.recv(12) == b"HTTP/1.1 " + status
        server.stop()
        lines = [line for line in server.output().splitlines() if "event='request'" in line]
    assert [re.findall(r"status=(\d+) .* client='([^']+)'", line) for line in lines] == [
        [("200", client)],
        [("417", client)],
        [("417", client)],
        [("431", "127.0.0.1")],
    ]


def test_the_log_has_the_reason_of_each_refusal_and_never_its_value(loaded: str) -> None:
    """rules, "The reason of an error"."""
    sent = {
        "/2/orders/?limit=canary": "no such path",
        "/2/subscribers/?limit=canary": "parameter limit",
        "/2/subscribers/?limit=": "parameter limit",
        "/2/subscribers/?limit=1&limit=2": "parameter limit",
        "/2/subscribers/?canary=1": "unknown parameter",
        "/2/subscribers/?canary=1&canary=2": "parameters",
        "/2/subscribers/?email=%zz": "parameters",
        "/2/cdc?entities=orders": "parameter changed_since",
        "/2/cdc?changed_since=canary&entities=orders": "parameter changed_since",
        "/2/cdc?changed_since=9999-01-01T00:00:00Z&entities=orders": "parameter changed_since",
        "/2/cdc?changed_since=2020-01-01T00:00:00Z&entities=orders": "too old",
        "/2/cdc?changed_since=2020-01-01T00:00:00Z&entities=canary": "parameter entities",
        "/2/orders/canary": "no such id",
        "/2/orders/9223372036854775808": "no such id",
        "/2/orders/7777": "no such id",
        "/1/orders/7": "no such path",
        f"/2/orders/7?{'canary' * 2_000}": "address too long",
    }
    with serving(loaded, "--rate-limit=1000000") as server:
        for path in sent:
            assert get(server.url + path).status_code in {400, 404, 410, 414}
        with httpx2.Client() as client:
            assert client.get(f"{server.url}/2/accounts/").status_code == 401
            assert client.get(f"{server.url}/2/accounts/", auth=("canary", "x")).status_code == 403
            assert client.post(f"{server.url}/2/accounts/").status_code == 405
        server.stop()
        lines = server.output().splitlines()
    reasons = [found[1] for line in lines if (found := re.search(r"reason='([^']+)'", line))]
    wanted = [*sent.values(), "no credentials", "wrong credentials", "method"]
    assert sorted(reasons) == sorted(wanted)
    assert "canary" not in "\n".join(lines)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate for loopback that signs itself, and its key."""
    return make_certificate(tmp_path_factory.mktemp("tls"))


@SHORT_ON_SQLITE
def test_with_a_certificate_it_serves_https_and_warns_of_nothing(
    loaded: str, certificate: tuple[Path, Path]
) -> None:
    settings = {
        "MASTHEAD_CERTIFICATE": str(certificate[0]),
        "MASTHEAD_CERTIFICATE_KEY": str(certificate[1]),
        "MASTHEAD_HOST": "0.0.0.0",
    }
    with running("serve", "--port", 0, database=loaded, settings=settings) as process:
        lines = lines_until(process, "Masthead serves on https://0.0.0.0:")
        assert not [line for line in lines if "warning" in line]
        url = lines[-1].removeprefix("Masthead serves on ").replace("0.0.0.0", "127.0.0.1")
        trusted = ssl.create_default_context(cafile=certificate[0])
        assert get(f"{url}/2/accounts/1/", verify=trusted).status_code == 200


@SHORT_ON_SQLITE
def test_workers_can_be_set_in_the_environment(loaded: str) -> None:
    settings = {"MASTHEAD_WORKERS": "2", "MASTHEAD_PORT": "0"}
    with running("serve", database=loaded, settings=settings) as process:
        line = lines_until(process, "Masthead serves on")[-1]
        assert get(f"{line.removeprefix('Masthead serves on ')}/health").status_code == 200
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        if children.exists():
            assert len(children.read_text().split()) >= 2
