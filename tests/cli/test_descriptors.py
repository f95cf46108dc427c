"""A server that runs out of file descriptors: it says so once, and serves again by itself."""

from __future__ import annotations

import socket
from contextlib import ExitStack
from pathlib import Path

from tests.cli.running import address_of, running
from tests.servers import MASTHEAD, STOP_SECONDS_MAX

LIMIT, CONNECTIONS = 64, 200
LIMITED = ["sh", "-c", f'ulimit -n {LIMIT}; exec "$@"', "sh", *MASTHEAD]
HEALTH = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"
REFUSED = "connections are refused: too few file descriptors are free"


def answer(client: socket.socket) -> bytes:
    """Return the start of the response to a request; nothing where the connection is closed."""
    try:
        client.sendall(HEALTH)
        return client.recv(65_536)[:15]
    except (ConnectionResetError, BrokenPipeError):
        return b""


def test_out_of_descriptors_is_logged_once_and_over_when_some_are_free(account: str) -> None:
    """rules, "Out of file descriptors": what is connected is served meanwhile."""
    with running("serve", "--port=0", database=account, command=LIMITED) as process:
        address = address_of(process)
        with ExitStack() as stack:
            clients = [
                stack.enter_context(socket.create_connection(address, 30))
                for _ in range(CONNECTIONS)
            ]
            answers = [answer(client) for client in clients]
            served = answers.count(b"HTTP/1.1 200 OK")
            assert 0 < served < LIMIT
            assert answers.count(b"") == CONNECTIONS - served
            assert answers[0] == b"HTTP/1.1 200 OK"
            # What the last requests need, a connection to the database say, is not used up.
            assert len(list(Path(f"/proc/{process.pid}/fd").iterdir())) < LIMIT
        for _ in range(CONNECTIONS):
            with socket.create_connection(address, 30) as client:
                if answer(client):
                    break
        else:
            raise AssertionError("it does not serve again")
        process.terminate()
        assert process.stdout is not None
        log = process.stdout.read()
        assert process.wait(STOP_SECONDS_MAX) == 0
    assert log.count(REFUSED) == 1
    assert f"limit={LIMIT}" in log
    assert log.count("level='info'") == log.count("\n") - 1
