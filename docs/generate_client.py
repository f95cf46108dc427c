"""Writes ``client/sync.py`` from ``client/asynchronous.py``: the same client without ``await``.

Run by ``make docs``; a test holds the file against what this would write.
"""

import re
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "src" / "masthead" / "client"
PAGE = FOLDER / "sync.py"

_REPLACED = (
    (
        r'"""The asynchronous client: .*?"""',
        '"""The synchronous client, made by `make docs` from the asynchronous one: edit that."""',
    ),
    (r"from masthead.client.opening import .*\n", ""),
    (r" *@opened_by_use\n", ""),
    ("an ``async with``", "a ``with``"),
    ("number of tasks", "number of threads"),
    (r"\basync (?=def|with|for)", ""),
    (r"\bawait ", ""),
    (r"\b(_?)Async(?=[A-Z])", r"\1"),
    (r"\b__a(?=enter__|exit__|iter__|next__)", "__"),
    (r"\ba(?=close\(|iter_bytes\()", ""),
    (r"\banext\(", "next("),
    (r"\bStopAsync(?=Iteration)", "Stop"),
)
"""Patterns and what takes their place, in this order."""


def client() -> str:
    """Return the whole file, formatted."""
    text = (FOLDER / "asynchronous.py").read_text()
    for pattern, replacement in _REPLACED:
        text = re.sub(pattern, replacement, text)
    fix = ("check", "--select=I,RUF022,UP028", "--fix-only", "--unsafe-fixes", "--quiet")
    for command in (fix, ("format",)):
        text = subprocess.run(  # noqa: S603 - ruff alone
            [sys.executable, "-m", "ruff", *command, f"--stdin-filename={PAGE}", "-"],
            input=text,
            stdout=subprocess.PIPE,
            check=True,
            text=True,
        ).stdout
    return text


if __name__ == "__main__":
    PAGE.write_text(client())
