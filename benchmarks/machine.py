"""The machine: its cores, its processes and its description."""

import os
import platform
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from sqlite3 import sqlite_version

SERVER_CORE, CLIENT_CORE = 0, 1
"""HTTP servers run on the first core; clients and PostgreSQL on the second."""

_PACKAGES = ("uvicorn", "starlette", "apsw", "psycopg", "msgspec", "fastapi", "sqlalchemy")
_CORES = sorted(os.sched_getaffinity(0))


def pin(core: int, pid: int = 0) -> None:
    """Restrict a process (0: this one) to one core."""
    os.sched_setaffinity(pid, {_CORES[core % len(_CORES)]})


@contextmanager
def on_core(core: int) -> Iterator[None]:
    """Restrict this process and its children to one core within the block."""
    pin(core)
    try:
        yield
    finally:
        os.sched_setaffinity(0, _CORES)


def process_tree(pid: int) -> list[int]:
    """Return the ids of a process and of all its descendants."""
    children: list[int] = []
    with suppress(OSError):  # it has ended
        for thread in Path(f"/proc/{pid}/task").glob("*/children"):
            children += map(int, thread.read_text().split())
    return [pid, *(each for child in children for each in process_tree(child))]


def memory_mib(pid: int, field: str) -> float:
    """Return a field of /proc/PID/status, such as VmHWM, in MiB; 0 for an ended process."""
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(rf"^{field}:\s+(\d+) kB$", status, re.MULTILINE)
    return int(found[1]) / 1024 if found else 0.0


def description() -> str:
    """Return the date, the machine, its load and the versions."""
    cpu = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    packages = ", ".join(f"{name} {version(name)}" for name in _PACKAGES)
    return (
        f"{datetime.now(UTC).date()}, {os.cpu_count()} cores of "
        f"{cpu[1] if cpu else platform.machine()}, load average {os.getloadavg()[0]:.2f}; "
        f"Python {platform.python_version()} with SQLite {sqlite_version}, {packages}"
    )
