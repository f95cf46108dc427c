"""Runs ``masthead`` and leaves a file to the garbage collector: ``python -m …``."""

from __future__ import annotations

import os

from masthead.cli import main as masthead_main


def main() -> None:
    """Open a file and forget it, then run the command line."""
    open(os.devnull)  # noqa: PTH123, SIM115 - it is never closed: that is the mistake
    masthead_main()


if __name__ == "__main__":
    main()
