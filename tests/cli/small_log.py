"""Runs ``masthead`` with a short queue of log lines: ``python -m tests.cli.small_log serve``."""

from __future__ import annotations

import masthead.log
from masthead.cli import main

masthead.log.WAITING_CHARACTERS_MAX = 100_000  # in a worker too, which imports this module

if __name__ == "__main__":
    main()
