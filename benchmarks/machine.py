"""The machine: which core does what, and what to say of it beside the figures."""

import os
import platform
from importlib.metadata import version
from pathlib import Path

SERVER_CORE, GENERATOR_CORE = 0, 1
_PACKAGES = ("uvicorn", "starlette", "apsw", "msgspec", "fastapi", "sqlalchemy", "pydantic")
_CPU_INFO = Path("/proc/cpuinfo")


_CORES = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def pin(core: int, pid: int = 0) -> None:
    """Keep a process (0: this one) on one of the machine's cores, where the system can do that."""
    if _CORES:
        os.sched_setaffinity(pid, {_CORES[core % len(_CORES)]})


def described() -> dict[str, str]:
    """Return what the figures depend on: machine, load, versions."""
    versions = ", ".join(f"{name} {version(name)}" for name in _PACKAGES)
    load = ", ".join(f"{average:.2f}" for average in os.getloadavg())
    return {
        "machine": f"{os.cpu_count()} cores of {_cpu()}, {platform.system()}",
        "load average at the start": load,
        "versions": f"Python {platform.python_version()}, {versions}",
    }


def _cpu() -> str:
    lines = _CPU_INFO.read_text().splitlines() if _CPU_INFO.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()
