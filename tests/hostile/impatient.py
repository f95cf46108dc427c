"""Runs ``masthead`` with shorter timeouts: ``python -m tests.hostile.impatient …``."""

from __future__ import annotations

from masthead.http_server import timeouts

# Less than in production, and more than a busy machine lets a good client wait.
REQUEST_S_MAX = 3
STALL_S_MAX = 6


def main() -> None:
    """Shorten all times, then run the command line."""
    timeouts.REQUEST_S_MAX = REQUEST_S_MAX
    timeouts.STALL_S_MAX = STALL_S_MAX
    from masthead.cli import main as masthead_main  # noqa: PLC0415 - the server reads the times

    masthead_main()


if __name__ == "__main__":
    main()
