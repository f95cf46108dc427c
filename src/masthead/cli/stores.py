"""The database of a command; it is closed when the command ends.

An open pool of PostgreSQL has threads, for which Python 3.13 waits many seconds at exit.
"""

from contextlib import closing
from functools import partial

import click

from masthead.cli.users import user_name
from masthead.errors import MastheadError
from masthead.store import Store, Waiting, find_store


def found(database: str) -> Store:
    """Return the database, not opened, until the command ends. Raises what ``find_store`` does.

    A command that waits for another one says so on standard error.
    """
    context = click.get_current_context()
    store = find_store(database)
    store.waiting = Waiting(user_name(), context.command_path, partial(click.echo, err=True))
    return context.with_resource(closing(store))


def opened(database: str) -> Store:
    """Return the database, open until the command ends.

    Raises what ``open_store`` does, and MastheadError if the database does not exist.
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
    """Return the database, open until the command ends; create a missing file.

    Raises what ``open_store`` does.
    """
    store = found(database)
    store.open()
    return store
