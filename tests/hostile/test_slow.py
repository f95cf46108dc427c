"""A client that gets nowhere is hung up on, and one that is only slow is not.

The server of these tests has 1 and 2 seconds of patience where Masthead has 20 and 60.
"""

from __future__ import annotations

import select
import socket
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.hostile.impatient import REQUEST_S_MAX, STALL_S_MAX
from tests.hostile.wire import Wire, answers_in
from tests.long import ONLY_LONG
from tests.servers import Store, masthead, serving, write_ndjson

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.servers import Server

ADDRESSES = 60_000
"""Some 30 MB of response, more than the buffers of two sockets ever hold."""

EVERYTHING = b"/snapshot?entities=addresses"
FILES_OF_EVERYTHING = {1, 2}
"""Its parts are of 16 MiB, and it has less than two of them."""
PAUSE_S = 0.05
END_S_MAX = 60


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("slow")
    database = Store("sqlite", folder).new_database("slow")
    masthead("accounts", "add", 1, "--api-key=key", "--api-login=login", database=database)
    addresses = [
        {"address_id": number, "subscriber_id": 1, "address": f"{number} {'Long ' * 20}Street"}
        for number in range(1, ADDRESSES + 1)
    ]
    files: dict[str, list[dict[str, Any]]] = {
        "subscribers": [{"subscriber_id": 1}],
        "addresses": addresses,
    }
    paths = write_ndjson(folder / "files", files)
    masthead("import", *paths, "--account", 1, database=database)
    with serving(database, module="tests.hostile.impatient") as server:
        yield server


@pytest.fixture
def wire(server: Server) -> Wire:
    return Wire(server, "key", "login")


def connection(server: Server) -> socket.socket:
    """Return a connection with a small buffer for what comes."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
    client.settimeout(END_S_MAX)
    client.connect(server.address)
    return client


def dripped(server: Server, request: bytes, drop: bytes) -> bytes:
    """Send a request and then drop after drop, until the server hangs up; return what it said."""
    received = b""
    with connection(server) as client:
        client.sendall(request)
        while True:
            if select.select([client], [], [], PAUSE_S)[0]:
                with suppress(ConnectionResetError):
                    if piece := client.recv(65_536):
                        received += piece
                        continue
                return received
            with suppress(BrokenPipeError, ConnectionResetError):
                client.sendall(drop)


@pytest.mark.parametrize(
    ("start", "drop"),
    [
        (b"GET /2/accounts/ HTTP/1.1\r\nHost: x\r\n", b""),
        (b"GET /2/accounts/ HTTP/1.1\r\nHost: x\r\n", b"X: y\r\n"),
        (b"\r\nGET /2/accounts", b"s"),
    ],
)
def test_a_head_that_does_not_end_is_given_up(server: Server, start: bytes, drop: bytes) -> None:
    """rules, "Requests that come slowly": 408, as long as some of it has come."""
    (response,) = answers_in(dripped(server, start, drop))
    assert response.status == 408
    assert f"{REQUEST_S_MAX} second" in response.error()


@pytest.mark.parametrize("drop", [b"", b"\r\n"])
def test_a_connection_that_says_nothing_is_closed_without_a_word(
    server: Server, drop: bytes
) -> None:
    """rules, "Requests that come slowly"."""
    assert dripped(server, b"", drop) == b""


@pytest.mark.parametrize(
    ("line", "drop"),
    [
        (b"Content-Length: 1000", b""),
        (b"Content-Length: 1000", b" "),
        (b"Transfer-Encoding: chunked", b"1\r\n \r\n"),
    ],
)
def test_a_body_that_does_not_end_is_given_up(
    server: Server, wire: Wire, line: bytes, drop: bytes
) -> None:
    """rules, "Requests that come slowly": 408, and the log has it."""
    lines = server.output().count("status=408")
    (response,) = answers_in(dripped(server, wire.head(b"/2/accounts/", line), drop))
    assert response.status == 408
    assert response.error()
    while server.output().count("status=408") == lines:
        assert wire.one(wire.head(b"/health")).status == 200


def test_the_body_of_a_disconnected_client_is_given_up_too(server: Server) -> None:
    """rules, "Requests that come slowly": the request has its response already."""
    request = b"GET /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n"
    (response,) = answers_in(dripped(server, request, b" "))
    assert response.status == 404


def test_each_request_of_a_long_connection_has_its_own_deadline(wire: Wire) -> None:
    """rules, "Requests that come slowly"."""
    request = wire.head(b"/2/accounts/").replace(b"Connection: close\r\n", b"")
    with connection(wire.server) as client:
        for _ in range(8):
            client.sendall(request[:20])
            assert not select.select([client], [], [], REQUEST_S_MAX / 6)[0]
            client.sendall(request[20:])
            received = b""
            while not received.endswith(b"]}"):
                received += client.recv(65_536)
            assert received.startswith(b"HTTP/1.1 200 OK\r\n")


def test_bytes_after_a_request_do_not_cut_its_long_response(wire: Wire) -> None:
    """rules, "Requests that come slowly": the next request may wait in the middle."""
    request = wire.head(EVERYTHING).replace(b"Connection: close\r\n", b"")
    received = b""
    with connection(wire.server) as client:
        client.sendall(request + b"GET /2/acc")
        while piece := client.recv(1_000_000):
            received += piece
            select.select([], [], [], 2 * REQUEST_S_MAX if len(received) == len(piece) else 0)
    everything, refused = answers_in(received)
    assert everything.status == 200
    assert everything.body.count(b'"address_id"') == ADDRESSES
    assert refused.status == 408


def temporary_files(server: Server) -> int:
    folder = Path(f"/proc/{server._process.pid}/fd")
    count = 0
    for file in folder.iterdir():
        with suppress(FileNotFoundError):
            count += str(file.readlink()).endswith(" (deleted)")
    return count


def wait_for_no_files(server: Server) -> None:
    for _ in range(round(END_S_MAX / PAUSE_S)):
        if not temporary_files(server):
            return
        select.select([], [], [], PAUSE_S)
    assert temporary_files(server) == 0


@pytest.mark.parametrize("half_closed", [False, True])
def test_a_response_that_nobody_reads_is_given_up(
    server: Server, wire: Wire, half_closed: bool
) -> None:
    """rules, "Responses that nobody reads": its file goes, and the connection."""
    if not Path("/proc/self/fd").exists():
        pytest.skip("needs /proc, which lists the files that a process has open")
    with connection(server) as client:
        client.sendall(wire.head(EVERYTHING))
        if half_closed:
            client.shutdown(socket.SHUT_WR)
        client.recv(1_000)
        assert temporary_files(server) in FILES_OF_EVERYTHING
        # Nothing is read, so that nothing tells of the end but what the server has open.
        wait_for_no_files(server)
        received: list[bytes] = []
        with pytest.raises(ConnectionResetError):
            received.extend(iter(lambda: client.recv(1_000_000), b""))
        assert sum(map(len, received)) < 20_000_000


def test_unread_short_responses_are_given_up_too(wire: Wire) -> None:
    """rules, "Responses that nobody reads": many requests in a row, and not one response read."""
    requests = wire.head(b"/2/accounts/").replace(b"Connection: close\r\n", b"") * 1_000
    sent: list[int] = []
    with connection(wire.server) as client:
        client.settimeout(STALL_S_MAX * 10)
        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            sent.extend(iter(lambda: client.send(requests), 0))
    assert sum(sent) < 20_000_000, "the server reads requests that it cannot answer yet"


def test_a_response_that_is_read_slowly_is_whole(wire: Wire) -> None:
    """rules, "Responses that nobody reads": what counts is that it goes on."""
    received = []
    with connection(wire.server) as client:
        client.sendall(wire.head(EVERYTHING))
        while piece := client.recv(65_536):
            received.append(piece)
            select.select([], [], [], STALL_S_MAX / 4 if len(received) <= 5 else 0)
    (response,) = answers_in(b"".join(received))
    assert response.body.count(b'"address_id"') == ADDRESSES


@pytest.mark.parametrize(
    "behind",
    [
        b"",
        pytest.param(b"GET /2/acc", marks=ONLY_LONG),
        pytest.param(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n", marks=ONLY_LONG),
    ],
)
def test_a_client_that_has_sent_everything_gets_its_long_response(
    wire: Wire, behind: bytes
) -> None:
    """rules, "Connections that are half closed": all of it, however slowly it is read."""
    received = []
    with connection(wire.server) as client:
        request = wire.head(EVERYTHING).replace(b"Connection: close\r\n", b"")
        client.sendall(request + behind)
        client.shutdown(socket.SHUT_WR)
        while piece := client.recv(65_536):
            received.append(piece)
            select.select([], [], [], STALL_S_MAX / 4 if len(received) <= 5 else 0)
    response, *others = answers_in(b"".join(received))
    assert response.body.count(b'"address_id"') == ADDRESSES
    assert [other.status for other in others] == [200] * behind.endswith(b"\r\n")


@pytest.mark.parametrize("half_closed", [False, True])
@pytest.mark.parametrize("behind", [b"", b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"])
def test_a_long_response_ends_when_its_client_goes(
    wire: Wire, behind: bytes, half_closed: bool
) -> None:
    """rules, "Connections that are half closed"; also where another request waits behind it."""
    if not Path("/proc/self/fd").exists():
        pytest.skip("needs /proc, which lists the files that a process has open")
    with connection(wire.server) as client:
        client.sendall(wire.head(EVERYTHING).replace(b"Connection: close\r\n", b"") + behind)
        if half_closed:
            client.shutdown(socket.SHUT_WR)
        client.recv(1_000)
        assert temporary_files(wire.server) in FILES_OF_EVERYTHING
    wait_for_no_files(wire.server)
    assert wire.one(wire.head(b"/health")).status == 200
    assert "exception" not in wire.server.output(), "something was written to nobody"


def drip(client: socket.socket) -> None:
    for _ in range(round(END_S_MAX / PAUSE_S)):
        client.sendall(b" ")
        select.select([], [], [], PAUSE_S)


def test_a_client_that_sends_after_the_last_response_is_disconnected(server: Server) -> None:
    """rules, "Responses before the end of a request": as long as a request may take."""
    request = b"GET /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n"
    received = b""
    with connection(server) as client:
        client.sendall(request)
        while piece := client.recv(65_536):
            received += piece
        (response,) = answers_in(received)
        assert response.status == 404
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            drip(client)
