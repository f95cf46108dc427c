"""Runs ``masthead`` with every library at its debug level: ``python -m tests.debugging …``."""

from __future__ import annotations

import logging


class _Talkative(logging.Logger):
    """A logger of any name that passes on all messages, with any settings of its parents."""

    def __init__(self, name: str, level: int = logging.NOTSET) -> None:
        super().__init__(name, level or logging.DEBUG)


def main() -> None:
    """Let all loggers that are made from now on speak, then run the command line."""
    logging.setLoggerClass(_Talkative)
    from masthead.cli import main as masthead_main  # noqa: PLC0415 - libraries make loggers

    masthead_main()


if __name__ == "__main__":
    main()
