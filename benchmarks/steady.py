"""A load generator at a constant rate: a request is due whether or not earlier ones are answered.

``python -m benchmarks.steady PORT SECONDS AUTHORIZATION RATE < paths`` is a process of its own. The
time of an answer counts from the moment at which its request was due, even where it had to wait for
a free connection: a server that stops for a while is not asked less often. It prints, as JSON, the
milliseconds that parts of all answers took at most, and ends with an error if one was not 200.
"""

import gc
import itertools
import json
import select
import socket
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from time import perf_counter

from benchmarks.answers import Answer, request
from benchmarks.machine import GENERATOR_CORE, pin

CONNECTIONS = 64
PARTS = {"50 %": 0.5, "90 %": 0.9, "99 %": 0.99, "99.9 %": 0.999, "most": 1.0}
_SILENCE_S_MAX = 30
_RECEIVED_AT_ONCE = 262_144


def _ask(port: int, seconds: float, rate: float, requests: Iterator[bytes]) -> Iterator[float]:
    """Yield the seconds from the moment at which each request was due to the end of its answer."""
    # In turn, since a server hangs up on a connection that is not used for seconds.
    idle = deque(socket.create_connection(("127.0.0.1", port)) for _ in range(CONNECTIONS))
    for connection in idle:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    answers = {connection: Answer() for connection in idle}
    asked: dict[socket.socket, float] = {}
    moments = (start + number / rate for start in (perf_counter(),) for number in itertools.count())
    due = next(moments)
    end = due + seconds
    while asked or due < end:
        while idle and due < end and due <= perf_counter():
            connection = idle.popleft()
            connection.sendall(next(requests))
            asked[connection] = due
            due = next(moments)
        waits = idle and due < end
        wait_s = max(0.0, due - perf_counter()) if waits else _SILENCE_S_MAX
        heard = select.select(asked, [], [], wait_s)[0]
        if not (heard or waits):
            raise SystemExit(f"nothing was answered for {_SILENCE_S_MAX} seconds")
        for connection in heard:
            if not (data := connection.recv(_RECEIVED_AT_ONCE)):
                raise SystemExit("the server closed a connection")
            answer = answers[connection]
            if answer.take(data):
                if not answer.is_ok:
                    raise SystemExit(answer.head.decode())
                yield perf_counter() - asked.pop(connection)
                idle.append(connection)


def parts_of(taken: Sequence[float]) -> dict[str, float]:
    """Return for each part of all answers how many milliseconds they took at most."""
    ordered = sorted(taken)
    last = len(ordered) - 1
    return {
        title: 1e3 * ordered[min(last, int(part * len(ordered)))] for title, part in PARTS.items()
    }


def main() -> None:
    """Measure, and print the parts."""
    port, seconds, authorization, rate = sys.argv[1:]
    pin(GENERATOR_CORE)
    with suppress(OSError):
        # The system may wake a process that sleeps 50 µs late, unless it is told not to.
        Path("/proc/self/timerslack_ns").write_text("1")
    requests = [request(path, authorization) for path in sys.stdin.read().split()]
    gc.disable()
    taken = list(_ask(int(port), float(seconds), float(rate), itertools.cycle(requests)))
    print(json.dumps(parts_of(taken)))


if __name__ == "__main__":
    main()
