"""Runs ``masthead`` with shorter timeouts: ``python -m tests.postgresql.impatient …``."""

from __future__ import annotations

from masthead.cli import main as masthead_main
from masthead.store import postgresql

SILENCE_S_MAX = 1.0


def main() -> None:
    """Shorten the time for which a server may say nothing, then run the command line."""
    postgresql.READERS_SILENCE_S_MAX = SILENCE_S_MAX
    masthead_main()


if __name__ == "__main__":
    main()
