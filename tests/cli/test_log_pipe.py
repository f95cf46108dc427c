"""A log whose reader is slow, gone or never there: the server goes on, and says what is missing."""

from __future__ import annotations

import os
import re
import select
import socket
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from tests.cli.running import address_of, running
from tests.long import ONLY_LONG
from tests.servers import MASTHEAD, STOP_SECONDS_MAX, Store, masthead

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.cli.running import Running

SMALL_LOG = [sys.executable, "-m", "tests.cli.small_log"]
REQUEST = b"GET /2/orders/7 HTTP/1.1\r\nHost: x\r\n\r\n"
LINE = re.compile(
    r"timestamp='[-0-9T:.]{26}Z' level='info' event='request' method='GET' "
    r"path='/2/orders/{order_id}' status=401 reason='no credentials' duration_ms=[0-9.e-]+ "
    r"client='127.0.0.1' account=None partner=None user_agent=None request_id='[0-9a-f]{16}'"
)
PROCESS = re.compile(r"timestamp='\S+' level='info' event='server process (started|ended)' .*")
DROPPED = re.compile(
    r"timestamp='[-0-9T:.]{26}Z' level='warning' event='log lines were dropped' lines=(\d+)"
)
MANY = 2_000
"""So many lines of a request need 400 KB, and a pipe has 64 KiB."""

WAIT_S_MAX = 60


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A database with an account; what is logged does not depend on its kind."""
    url = Store("sqlite", tmp_path_factory.mktemp("pipe")).new_database("pipe")
    masthead("accounts", "add", 1, database=url)
    return url


class Log:
    """A pipe that a server logs to."""

    def __init__(self, reader: int) -> None:
        """Nothing is read as yet."""
        self._reader = reader

    def read(self) -> Iterator[str]:
        """Yield the lines of requests as they come, until no process writes to the pipe."""
        rest = b""
        while select.select([self._reader], [], [], WAIT_S_MAX)[0]:
            piece = os.read(self._reader, 1_000_000)
            *lines, rest = (rest + piece).split(b"\n")
            decoded = [line.decode() for line in lines]
            yield from (line for line in decoded if not PROCESS.fullmatch(line))
            if not piece:
                assert not rest, "the last line has no end"
                return
        pytest.fail("nothing more is logged")


@contextmanager
def logging_to_a_pipe(
    database: str, *options: str, command: list[str] = MASTHEAD
) -> Iterator[tuple[Running, tuple[str, int], Log]]:
    """Serve; yield the process, where it serves, and its log."""
    reader, writer = os.pipe()
    try:
        with running(
            *("serve", "--port=0", *options), database=database, command=command, stderr=writer
        ) as process:
            os.close(writer)
            yield process, address_of(process), Log(reader)
    finally:
        os.close(reader)


def ask(address: tuple[str, int], count: int = MANY, connections: int = 4) -> None:
    """Send requests in a row on some connections, and read all answers."""
    each, more = divmod(count, connections)
    for number in range(connections):
        wanted = each + (number < more)
        with socket.create_connection(address, WAIT_S_MAX) as client:
            threading.Thread(target=client.sendall, args=(REQUEST * wanted,), daemon=True).start()
            received = bytearray()
            while received.count(b"HTTP/1.1 401 ") < wanted or not received.endswith(b"}"):
                piece = client.recv(1_000_000)
                assert piece
                received += piece


@pytest.mark.parametrize("workers", [pytest.param(1, marks=ONLY_LONG), 2])
def test_an_unread_log_stops_nothing_and_lost_lines_are_counted(
    database: str, workers: int
) -> None:
    """rules, "A log that nobody reads"."""
    options = [f"--workers={workers}"]
    with logging_to_a_pipe(database, *options, command=SMALL_LOG) as (_, address, log):
        ask(address)
        written = dropped = 0
        for line in log.read():
            if found := DROPPED.fullmatch(line):
                dropped += int(found[1])
            else:
                assert LINE.fullmatch(line), line
                written += 1
            if written + dropped == MANY:
                break
        assert dropped
        ask(address, 8)
        assert all(LINE.fullmatch(line) for _, line in zip(range(8), log.read(), strict=False))


@pytest.mark.parametrize("workers", [pytest.param(1, marks=ONLY_LONG), 2])
def test_a_reader_of_the_log_gets_every_line_whole(database: str, workers: int) -> None:
    """rules, "A log that nobody reads": two workers write to one pipe."""
    with logging_to_a_pipe(database, f"--workers={workers}") as (process, address, log):
        lines: list[str] = []
        reading = threading.Thread(target=lambda: lines.extend(log.read()))
        reading.start()
        asking = [threading.Thread(target=ask, args=(address,)) for _ in range(3)]
        for one in asking:
            one.start()
        for one in asking:
            one.join()
        process.terminate()
        assert process.wait(STOP_SECONDS_MAX) == 0
        reading.join()
    assert [line for line in lines if not LINE.fullmatch(line)] == []
    assert len(lines) == 3 * MANY


@pytest.mark.parametrize("workers", [pytest.param(1, marks=ONLY_LONG), 2])
def test_what_waits_is_written_when_the_server_ends(database: str, workers: int) -> None:
    """rules, "A log that nobody reads": who reads only then misses nothing."""
    with logging_to_a_pipe(database, f"--workers={workers}") as (process, address, log):
        ask(address)
        process.terminate()
        assert sum(bool(LINE.fullmatch(line)) for line in log.read()) == MANY
        assert process.wait(STOP_SECONDS_MAX) == 0


@ONLY_LONG
def test_the_end_does_not_wait_for_ever_for_who_never_reads(database: str) -> None:
    """rules, "A log that nobody reads"."""
    with logging_to_a_pipe(database) as (process, address, _):
        ask(address)
        process.terminate()
        assert process.wait(STOP_SECONDS_MAX) == 0


@pytest.mark.parametrize("log", ["a full disk", "a pipe whose reader is gone"])
def test_a_log_that_cannot_be_written_stops_nothing(database: str, log: str) -> None:
    """rules, "A log that nobody reads"."""
    if log == "a full disk":
        writer = os.open("/dev/full", os.O_WRONLY)
    else:
        reader, writer = os.pipe()
        os.close(reader)
    with running("serve", "--port=0", database=database, stderr=writer) as process:
        os.close(writer)
        address = address_of(process)
        ask(address, 10)
        ask(address, 10)
        process.terminate()
        assert process.wait(STOP_SECONDS_MAX) == 0


def test_without_standard_error_it_serves_and_writes_to_no_other_file(database: str) -> None:
    """rules, "A log that nobody reads": the number 2 may belong to the database by then."""
    closed = ["sh", "-c", 'exec "$@" 2>&-', "sh", *MASTHEAD]
    with running("serve", "--port=0", database=database, command=closed) as process:
        ask(address_of(process), 10)
        process.terminate()
        assert process.wait(STOP_SECONDS_MAX) == 0
    assert "1\t" in masthead("accounts", "list", database=database).stdout
