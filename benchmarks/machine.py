"""The machine: which core does what, who uses it, and what to say of it beside the figures."""

import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from sqlite3 import sqlite_version

SERVER_CORE, GENERATOR_CORE = 0, 1
_PACKAGES = (
    "uvicorn",
    "starlette",
    "apsw",
    "psycopg",
    "msgspec",
    "fastapi",
    "sqlalchemy",
    "pydantic",
    "flask",
    "django",
    "djangorestframework",
    "gunicorn",
    "datasette",
)
_CPU_INFO = Path("/proc/cpuinfo")
_CLOCK_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_CORES = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def pin(core: int, pid: int = 0) -> None:
    """Keep a process (0: this one) on one of the machine's cores, where the system can do that."""
    if _CORES:
        os.sched_setaffinity(pid, {_CORES[core % len(_CORES)]})


@contextmanager
def on_core(core: int) -> Iterator[None]:
    """Keep this process, and what it starts, on a core for as long as the block lasts."""
    pin(core)
    try:
        yield
    finally:
        if _CORES:
            os.sched_setaffinity(0, _CORES)


def children(pid: int) -> list[int]:
    """Return the ids of the processes that a process has started."""
    found: list[int] = []
    with suppress(OSError):  # it has ended meanwhile
        for of_thread in Path(f"/proc/{pid}/task").glob("*/children"):
            found += map(int, of_thread.read_text().split())
    return found


def tree(pid: int) -> list[int]:
    """Return the ids of a process and of all that descend from it."""
    return [pid, *(found for child in children(pid) for found in tree(child))]


def cpu_s(pid: int) -> float:
    """Return the seconds of CPU that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _CLOCK_TICKS_PER_S


def described() -> dict[str, str]:
    """Return what the figures depend on: machine, load, versions."""
    versions = ", ".join(f"{name} {version(name)}" for name in _PACKAGES)
    load = ", ".join(f"{average:.2f}" for average in os.getloadavg())
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{os.cpu_count()} cores of {_cpu()}, {platform.system()}",
        "load average at the start": load,
        "versions": f"Python {platform.python_version()} with SQLite {sqlite_version}, {versions}",
    }


def _cpu() -> str:
    lines = _CPU_INFO.read_text().splitlines() if _CPU_INFO.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()
