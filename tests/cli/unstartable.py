"""Runs ``masthead``, whose app cannot start while a file exists: ``python -m … serve``.

UNSTARTABLE names the file, which says what is wrong: ``key`` for another secret key than that of
the database, ``killed`` for a process that dies. It is too late for the checks that come before.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from masthead.cli import main

IMPORTED_FIRST = "uvloop"
"""Imported only by processes that are to answer."""


def watch(event: str, arguments: tuple[object, ...]) -> None:
    """Take what is needed away from a process that is about to make the app."""
    if event != "import" or arguments[0] != IMPORTED_FIRST:
        return
    file = Path(os.environ["UNSTARTABLE"])
    what = file.read_text() if file.exists() else ""
    if what == "key":
        os.environ["MASTHEAD_SECRET_KEY"] = "0" * 64
    elif what == "killed":
        os.kill(os.getpid(), signal.SIGKILL)


sys.addaudithook(watch)  # in a worker too, which imports this module

if __name__ == "__main__":
    main()
