"""The store: tables, migrations, and every query as a named function.

``open_store`` opens a database by its URL. The queries are in modules by subject: ``accounts``,
``interface_queries`` (operations 3 and 5 to 10), ``changes`` (operation 4), ``commits`` (stamps),
``merging`` (loads) and ``exporting``. They return rows of int, str and None, in the order of the
contract's fields, and know neither HTTP nor JSON.
"""

from masthead.databases.urls import is_postgresql, sqlite_path
from masthead.errors import BadUsage
from masthead.store.database import Clock, Connection, Greenlets, Store, system_clock
from masthead.store.sqlite import SqliteStore
from masthead.store.waiting_writers import Waiting

__all__ = [
    "Clock",
    "Connection",
    "Greenlets",
    "Store",
    "Waiting",
    "find_store",
    "open_store",
    "system_clock",
]


def open_store(url: str, *, clock: Clock | None = None, read_url: str | None = None) -> Store:
    """Open and return the database that ``url`` names (``Store.open``).

    Raises what :func:`find_store` raises, and MastheadError if the schema is not this version's or
    the secret key is not the database's.
    """
    store = find_store(url, clock=clock, read_url=read_url)
    store.open()
    return store


def find_store(url: str, *, clock: Clock | None = None, read_url: str | None = None) -> Store:
    """Return the database that ``url`` names, without opening it.

    ``sqlite:///masthead.db`` is a file in the current folder, ``sqlite:////var/lib/masthead.db`` is
    a file by its full path, and ``postgresql://user@host/name`` is a database on a server.
    ``read_url`` names a replica of a PostgreSQL database to read from. Stamps use ``clock`` if it
    is given. Raises BadUsage for any other URL.
    """
    if is_postgresql(url):
        # Imported here because psycopg takes long to import.
        from masthead.store.postgresql import PostgresStore  # noqa: PLC0415

        if read_url and not is_postgresql(read_url):
            raise BadUsage("a replica of a PostgreSQL database is named as postgresql://host/name")
        return PostgresStore(url, clock, read_url=read_url)
    if read_url:
        raise BadUsage("only a PostgreSQL database has a replica to read from")
    path = sqlite_path(url)
    if path is None:
        raise BadUsage(
            f"{url.partition(':')[0]!r} is not a database that Masthead knows: the URL reads "
            "sqlite:///masthead.db, sqlite:////full/path/masthead.db or "
            "postgresql://user@host/name"
        )
    return SqliteStore(path, clock or system_clock)
