"""A request that HTTP itself refuses leaves one line in the log, as any other does.

The server has a second of patience where Masthead has 20.
"""

from __future__ import annotations

import json
import re
import socket
from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.api.conftest import DATA, NO_LIMITS
from tests.hostile.wire import HANG_S, Wire, answers_in
from tests.servers import import_files, serving

if TYPE_CHECKING:
    from tests.servers import Server, Store

CANARY = b"canary"
PAIR = re.compile(r"(\w+)=('[^']*'|\S+)")
GOOD = ("GET", "/2/accounts", 200)


class Refused(NamedTuple):
    """Bytes that are refused, and what the log has of them: method, path and status."""

    sent: bytes
    method: str | None
    path: str | None
    status: int


def requests(wire: Wire) -> list[Refused]:
    head, chunked = b"GET /2/accounts/ HTTP/1.1\r\n", b"Transfer-Encoding: chunked"
    with_chunks = wire.head(b"/2/accounts/", chunked, b"X: " + CANARY)
    return [
        Refused(CANARY + b"\r\n\r\n", None, None, 400),
        Refused(b"\x16\x03\x01" + CANARY, None, None, 400),
        Refused(CANARY.upper() + b" /canary HTTP/1.1\r\nHost: x\r\n\r\n", None, None, 405),
        Refused(b"GET /canary HTTP/1.1\r\n\r\n", "GET", None, 400),
        Refused("GET /canary?x=ü HTTP/1.1\r\n\r\n".encode(), None, None, 400),
        Refused(b"HEAD  /canary HTTP/1.1\r\nHost: x\r\n\r\n", "HEAD", None, 400),
        Refused(b"OPTIONS * HTTP/1.1\r\nHost: canary\r\n\r\n", "OPTIONS", None, 405),
        Refused(b"GET /" + CANARY * 2_000, "GET", None, 414),
        Refused(head + b"Host: x\r\nExpect: canary\r\n\r\n", "GET", None, 417),
        Refused(head + CANARY * 20_000, "GET", None, 431),
        Refused(head + b"Host: x\r\n" + b"X: canary\r\n" * 3_000 + b"\r\n", "GET", None, 431),
        Refused(head + b"Host: canary\r\n", "GET", None, 408),
        Refused(b"GET /canary", "GET", None, 408),
        Refused(b"GE", None, None, 408),
        Refused(with_chunks + b"canary\r\n", "GET", "/2/accounts", 400),
        Refused(with_chunks + b"2;" + CANARY * 20_000, "GET", "/2/accounts", 400),
        Refused(with_chunks + b"ffff;canary\r\n", "GET", "/2/accounts", 413),
        Refused(with_chunks + b"6\r\ncanary", "GET", "/2/accounts", 408),
        Refused(with_chunks + b"0\r\n" + b"X: canary\r\n" * 4_000, "GET", "/2/accounts", 431),
    ]


def lines_of_requests(server: Server, log_format: str) -> list[dict[str, str | None]]:
    """Return the fields of the lines that the server's requests have left, as texts."""
    found: list[dict[str, str | None]] = []
    for line in server.output().splitlines():
        if log_format == "json" and line.startswith("{"):
            fields = {
                name: None if value is None else str(value)
                for name, value in json.loads(line).items()
            }
        else:
            fields = {
                name: None if value == "None" else value.strip("'")
                for name, value in PAIR.findall(line)
            }
        if fields.get("event") == "request":
            found.append(fields)
    return found


def statuses_of_last(server: Server, requests: list[bytes]) -> list[int]:
    """Send each on a connection of its own, all at once; return the statuses of the last responses.

    The server has to hang up behind each of them.
    """
    found = []
    with ExitStack() as stack:
        connections = []
        for request in requests:
            connection = stack.enter_context(socket.create_connection(server.address, HANG_S))
            connection.sendall(request)
            connections.append(connection)
        for connection in connections:
            received = b"".join(iter(lambda: connection.recv(65_536), b""))  # noqa: B023
            found.append(list(answers_in(received))[-1].status)
    return found


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_what_is_refused_leaves_one_line(store: Store, log_format: str) -> None:
    """decisions, "What is logged"; rules, "The form of the log"."""
    database = store.new_database(f"lines-{log_format}")
    import_files(DATA / "accounts.csv", account_id=None, database=database)
    options = (*NO_LIMITS, f"--log-format={log_format}")
    with serving(database, *options, module="tests.hostile.impatient") as server:
        wire = Wire(server, "key-golden", "login-golden")
        good = wire.head(b"/2/accounts/").replace(b"Connection: close\r\n", b"")
        cases = requests(wire)
        wanted = [(case.method, case.path, case.status) for case in cases]
        statuses = [case.status for case in cases]
        assert statuses_of_last(server, [case.sent for case in cases]) == statuses
        assert statuses_of_last(server, [good + case.sent for case in cases]) == statuses
        wanted += [*wanted, *[GOOD] * len(cases)]
        with socket.create_connection(server.address) as nothing:
            assert nothing.recv(1) == b"", "who says nothing is hung up on, without a line"
        assert server.stop() == 0
        lines = lines_of_requests(server, log_format)
        assert CANARY.decode() not in server.output().lower()
    found = [(line["method"], line["path"], int(line["status"] or 0)) for line in lines]
    assert sorted(found, key=str) == sorted(wanted, key=str)
    assert len({line["request_id"] for line in lines}) == len(lines)
    for line in lines:
        assert re.fullmatch(r"[0-9a-f]{16}", line["request_id"] or "")
        assert float(line["duration_ms"] or -1) >= (500 if line["status"] == "408" else 0)
        assert [*line] == [*lines[0]]
