"""Where the time of a request goes: each operation, by the part of Masthead that has it.

py-spy looks at the running server a thousand times a second while it answers as fast as it can, and
each look counts for the part whose code runs, or has called what runs. On PostgreSQL only the looks
count at which Python runs: the waits for the database overlap.
"""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.databases import STORES
from benchmarks.machine import GENERATOR_CORE, tree
from benchmarks.processes import ask, running
from benchmarks.publisher import filled, make_files
from benchmarks.questions import poll, questions
from benchmarks.report import Found, Scale, grid
from benchmarks.servers import STATIC_PATH

LOOKS_PER_S = 1_000
PARTS = {
    "credentials": ("masthead/api/http/credentials.py", "masthead/store/keys.py"),
    "log, metrics": (
        "masthead/log.py",
        "structlog/",
        "masthead/api/http/metrics.py",
        "prometheus_",
    ),
    "threads": ("masthead/api/http/threads.py", "anyio/", "concurrent/futures/"),
    "query": ("masthead/store/", "psycopg/", "psycopg_pool/"),
    "parameters": ("masthead/api/http/parameters.py", "masthead/contract/kinds.py"),
    "encoding": (
        *(
            "masthead/contract/",
            "masthead/api/operations/lists.py",
            "masthead/api/operations/json_arrays.py",
            "(<string>",
        ),
        *(
            f"masthead/api/{name}.py"
            for name in ("accounts", "changes", "custom_fields", "orders", "subscribers")
        ),
    ),
    "framework": ("starlette/", "masthead/api/"),
    "server": (
        "uvicorn/",
        "masthead/api/http/protocol.py",
        "masthead/api/http/request_checks.py",
        "asyncio/",
    ),
}
"""What of the stack's files is which part; the innermost call that is in any of them decides."""

_ALL_OF_IT = ("credentials", "log, metrics")
"""Parts that have what they call, whichever part that is in."""

_SERVER = PARTS["server"][:3]
_WAITING = (".wait (threading.py", ".get (queue.py", "._take (masthead/api/http/threads.py")
"""Where a thread is that has nothing to do."""


def measure(scale: Scale) -> Found:
    """Return how the time of each operation divides, in per cent, and the answers a second."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    about = {"looks": f"{LOOKS_PER_S:,} a second for {scale.seconds:g} s each, with py-spy"}
    with TemporaryDirectory() as name, ExitStack() as stack:
        files = Path(name) / "files"
        make_files(files, scale.subscribers)
        for store in scale.stores:
            database, of_store = stack.enter_context(filled(store, files, core=GENERATOR_CORE))
            about |= of_store
            with running("masthead", database, Path(name) / f"{store}.log") as port:
                (server,) = (pid for pid in tree(os.getpid()) if _is_server(pid))
                asked = {"static answer": [STATIC_PATH], **questions(files)}
                asked["4 poll that finds nothing"] = [poll(port)]
                found[store] = {
                    title: _divided(store, server, port, paths, scale.seconds)
                    for title, paths in sorted(asked.items())
                }
    tables = [
        grid(
            f"{STORES[store]}, % of the time",
            [*PARTS, "requests/s"],
            {
                title: [*(f"{shares[part]:.0f}" for part in PARTS), f"{shares['rate']:,.0f}"]
                for title, shares in divided.items()
            },
        )
        for store, divided in found.items()
    ]
    return Found(tables, found, about)


def _is_server(pid: int) -> bool:
    command = Path(f"/proc/{pid}/cmdline").read_bytes()
    return command.endswith(b"benchmarks.servers\0masthead\0")


def _divided(
    store: str, server: int, port: int, paths: list[str], seconds: float
) -> dict[str, float]:
    with TemporaryDirectory() as name:
        looks = Path(name) / "looks"
        spy = subprocess.Popen(
            [
                *(Path(sys.executable).with_name("py-spy"), "record", "--nonblocking"),
                *("--rate", str(LOOKS_PER_S), "--duration", str(max(1, round(seconds)))),
                *("--format", "raw", "--output", looks, "--pid", str(server)),
                *(() if store == "sqlite" else ("--gil",)),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        asked = ask(port, paths, seconds + 1)
        _, said = spy.communicate()
        if spy.returncode:
            raise SystemExit(f"py-spy cannot look at the server (root can): {said}")
        counts = Counter(dict(_counted(looks.read_text())))
    total = sum(counts.values())
    return {**{part: 100 * counts[part] / total for part in PARTS}, "rate": asked.rate}


def _counted(looks: str) -> Iterator[tuple[str, int]]:
    counts: Counter[str] = Counter()
    for line in looks.splitlines():
        stack, _, count = line.rpartition(" ")
        calls = [call for call in stack.split(";") if "/" in call or "(<string>" in call]
        if part := _part_of(calls):
            counts[part] += int(count)
    yield from counts.items()


def _part_of(calls: list[str]) -> str | None:
    """Return the part that a stack counts for; None of a thread that waits for work."""
    if not calls or any(waiting in calls[-1] for waiting in _WAITING):
        return None
    for part in _ALL_OF_IT:
        if any(file in call for call in calls for file in PARTS[part]):
            return part
    for call in reversed(calls):
        if any(file in call for file in _SERVER):
            return "server"
        for part, of_part in PARTS.items():
            if any(file in call for file in of_part):
                return part
    return None
