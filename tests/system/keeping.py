"""Runs ``masthead`` as if no pooler were there: ``python -m tests.system.keeping …``."""

from __future__ import annotations

from masthead.cli import main as masthead_main
from masthead.databases.postgresql.session import Session


def main() -> None:
    """Let every session keep its statements prepared, then run the command line."""
    setattr(Session, "is_pooled", lambda _: False)  # noqa: B010
    masthead_main()


if __name__ == "__main__":
    main()
