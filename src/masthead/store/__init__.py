"""The store: tables, migrations, and every query as a named function.

``open_store`` opens a database by its URL. The queries stand in the modules of this package, by
subject: ``accounts``, ``reading`` (operations 3 and 5 to 10), ``changes`` (operation 4),
``commits`` (stamps), ``merging`` (loads) and ``exporting``. They return rows of int, str and None
in the order of the contract's fields, and know neither HTTP nor the wire's form.
"""

from pathlib import Path

from masthead.errors import BadUsage
from masthead.store.database import Clock, Connection, Later, Store, system_clock
from masthead.store.sqlite import SqliteStore

__all__ = ["Clock", "Connection", "Later", "Store", "find_store", "open_store", "system_clock"]

_SQLITE = "sqlite:///"
_POSTGRESQL = ("postgresql://", "postgres://")


def open_store(url: str, *, clock: Clock | None = None, read_url: str | None = None) -> Store:
    """Return the database that :func:`find_store` finds, its schema brought up to date.

    Raises MastheadError where a newer version of Masthead made it or the secret key is not its own,
    and what that function does.
    """
    store = find_store(url, clock=clock, read_url=read_url)
    store.migrate()
    return store


def find_store(url: str, *, clock: Clock | None = None, read_url: str | None = None) -> Store:
    """Return the database that ``url`` names, as it is.

    ``sqlite:///masthead.db`` is a file in the current folder, ``sqlite:////var/lib/masthead.db``
    one by its full path, ``postgresql://user@host/name`` a database of a server, of which
    ``read_url`` may name a replica to read from. Stamps go by ``clock``, if that is given. Raises
    BadUsage for another kind of URL, StoreUnavailable where the database cannot be opened.
    """
    if url.startswith(_POSTGRESQL):
        # Its driver takes time to import, and an embedded database has no use for it.
        from masthead.store.postgresql import PostgresStore  # noqa: PLC0415

        if read_url and not read_url.startswith(_POSTGRESQL):
            raise BadUsage("a replica of a PostgreSQL database is named as postgresql://host/name")
        return PostgresStore(url, clock, read_url=read_url)
    if read_url:
        raise BadUsage("only a PostgreSQL database has a replica to read from")
    path = url.removeprefix(_SQLITE)
    if path in {url, ""}:
        raise BadUsage(
            f"{url.partition(':')[0]!r} is not a database that Masthead knows: the URL reads "
            "sqlite:///masthead.db, sqlite:////full/path/masthead.db or "
            "postgresql://user@host/name"
        )
    return SqliteStore(Path(path), clock or system_clock)
