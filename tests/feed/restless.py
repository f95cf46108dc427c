"""Runs ``masthead`` with a mirror that ignores ``--every`` and begins the next pass at once."""

from __future__ import annotations

import time
from types import SimpleNamespace

from masthead.cli import main, mirror


def do_not_wait() -> None:
    """Let ``masthead mirror`` make pass after pass."""
    vars(mirror)["time"] = SimpleNamespace(monotonic=time.monotonic, sleep=lambda _seconds: None)


if __name__ == "__main__":
    do_not_wait()
    main()
