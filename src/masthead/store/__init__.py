"""The store: tables, migrations, and every query as a named function.

``open_store`` opens a database by its URL. The queries stand in the modules of this package, by
subject: ``accounts``, ``reading`` (operations 3 and 5 to 10), ``changes`` (operation 4),
``commits`` (stamps), ``merging`` (loads) and ``exporting``. They return rows of int, str and None
in the order of the contract's fields, and know neither HTTP nor the wire's form.
"""

from pathlib import Path

from masthead.errors import BadUsage
from masthead.store.sqlite import Clock, Database, SqliteStore, system_clock

__all__ = ["Clock", "Database", "Store", "open_store", "system_clock"]

Store = SqliteStore
"""A database; today always an embedded one."""

_SQLITE = "sqlite:///"


def open_store(url: str, *, clock: Clock = system_clock) -> Store:
    """Return the database that ``url`` names, created and migrated if need be.

    ``sqlite:///masthead.db`` is a file in the current folder, ``sqlite:////var/lib/masthead.db``
    one by its full path. Raises BadUsage for another kind of URL, StoreUnavailable where the
    database cannot be opened, MastheadError where a newer version of Masthead made it.
    """
    path = url.removeprefix(_SQLITE)
    if path in {url, ""}:
        raise BadUsage(
            f"{url.partition(':')[0]!r} is not a database that Masthead knows: "
            "the URL reads sqlite:///masthead.db, or sqlite:////full/path/masthead.db"
        )
    store = SqliteStore(Path(path), clock)
    store.migrate()
    return store
