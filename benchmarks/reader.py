"""A client that reads long answers, as fast as they come or as slowly as it is told.

Run as ``python -m benchmarks.reader PORT PATH [BYTES_PER_S]``, with AUTHORIZATION in the
environment, it reads again and again until it is killed, and prints a line when an answer begins.
"""

import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse
from typing import NamedTuple

from benchmarks.machine import GENERATOR_CORE, pin

BUFFER_BYTES = 1_048_576
SLOW_BUFFER_BYTES = 16_384
TIMEOUT_S = 120


class Reading(NamedTuple):
    """How an answer came: seconds to the body's first byte and to its last, and its bytes."""

    first_byte_s: float
    seconds: float
    size: int


@contextmanager
def answered(
    port: int, path: str, authorization: str, coding: str, buffer_bytes: int = BUFFER_BYTES
) -> Iterator[HTTPResponse]:
    """Send a request; the body of its answer is the block's to read."""
    connection = HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)
    connection.connect()
    connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer_bytes)
    connection.request(
        "GET", path, headers={"Authorization": authorization, "Accept-Encoding": coding}
    )
    try:
        with connection.getresponse() as answer:
            if answer.status != 200:
                raise RuntimeError(answer.read().decode())
            yield answer
    finally:
        connection.close()


def read(
    port: int,
    path: str,
    authorization: str,
    coding: str,
    each: Callable[[], None] = lambda: None,
) -> Reading:
    """Read a whole answer; ``each`` is called after each piece of it.

    Raises IncompleteRead where the answer breaks off.
    """
    buffer = bytearray(BUFFER_BYTES)
    start = time.perf_counter()
    with answered(port, path, authorization, coding) as answer:
        total = len(answer.read(1))
        first_byte_s = time.perf_counter() - start
        while size := answer.readinto(buffer):
            total += size
            each()
    return Reading(first_byte_s, time.perf_counter() - start, total)


def read_for_ever(port: int, path: str, authorization: str, bytes_per_s: int | None) -> None:
    """Read answers until this process is killed."""
    buffer = bytearray(SLOW_BUFFER_BYTES if bytes_per_s else BUFFER_BYTES)
    while True:
        with answered(port, path, authorization, "identity", len(buffer)) as answer:
            print(flush=True)
            while size := answer.readinto(buffer):
                if bytes_per_s:
                    time.sleep(size / bytes_per_s)


if __name__ == "__main__":
    pin(GENERATOR_CORE)
    limit = int(sys.argv[3]) if sys.argv[3:] else None
    read_for_ever(int(sys.argv[1]), sys.argv[2], os.environ["AUTHORIZATION"], limit)
