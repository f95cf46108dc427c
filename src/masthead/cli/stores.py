"""The database of a command: it is closed when the command ends.

An open pool of PostgreSQL has threads, for which Python 3.13 waits many seconds at its end.
"""

from contextlib import closing

import click

from masthead.errors import MastheadError
from masthead.store import Store, find_store

__all__ = ["found", "made", "opened"]


def found(database: str) -> Store:
    """Return the database, not opened, until the command ends. Raises what ``find_store`` does."""
    store = find_store(database)
    return click.get_current_context().with_resource(closing(store))


def opened(database: str) -> Store:
    """Return the database, open until the command ends.

    Raises what ``open_store`` does, and MastheadError if there is none.
    """
    store = found(database)
    if not store.exists():
        raise MastheadError(
            f"there is no database {database} yet: `masthead accounts add` makes it, and "
            "--database names another"
        )
    store.open()
    return store


def made(database: str) -> Store:
    """Return the database, open until the command ends; a file is created if there is none.

    Raises what ``open_store`` does.
    """
    store = found(database)
    store.open()
    return store
