"""Lists of keys that one statement of an operation finds and later ones use.

They are rows of ``staged_keys``, as those of a load (``store.staging``): on SQLite a temporary
table, on PostgreSQL a permanent one, where the rows have the operation's commit as their load. Its
transaction deletes them itself, so nobody else ever sees them.
"""

from collections.abc import Iterable, Sequence

from masthead.store.books.operation import Operation
from masthead.store.database import Row, Value

__all__ = ["Lists"]

_SQLITE_TABLE = """
    CREATE TEMP TABLE IF NOT EXISTS staged_keys (
        list TEXT, key INTEGER, other INTEGER, text TEXT);
    CREATE INDEX IF NOT EXISTS temp.staged_keys_by_key ON staged_keys (list, key, other);
    """


class Lists:
    """The lists of an operation. A new one of the same name takes the place of the former."""

    def __init__(self, running: Operation) -> None:
        self._connection = running.connection
        self._is_shared = running.connection.dialect == "postgresql"
        self._same = {"account_id": running.account_id, "load_id": running.commit_id}
        if not self._is_shared:
            self._connection.script(_SQLITE_TABLE)
            self._same = {}
        # A query in place of the number, so that PostgreSQL expects as many rows as others have.
        load_id = f"(SELECT {running.commit_id:d})"
        own = f"account_id = {running.account_id:d} AND load_id = {load_id}"
        self._own = own if self._is_shared else "TRUE"

    def keep(
        self, name: str, query: str, columns: Sequence[str] = ("key",), **values: Value
    ) -> int:
        """Store the result of a query as a list; return how many rows it has.

        ``columns`` are those of the result: ``key``, and ``other`` or ``text`` for what belongs to
        a key.
        """
        self.drop(name)
        into = [*self._same, "list", *columns]
        chosen = [*map(str, self._same.values()), f"'{name}'", *(f"q.{each}" for each in columns)]
        return self._connection.change(
            f"""
            INSERT INTO staged_keys ({", ".join(into)})
            SELECT {", ".join(chosen)} FROM ({query}) AS q
            """,
            **values,
        )

    def add(self, name: str, columns: Sequence[str], rows: Iterable[Row]) -> None:
        """Store rows of these columns as a list."""
        self.drop(name)
        named = ((name, *row) for row in rows)
        self._connection.insert_many("staged_keys", ("list", *columns), named, **self._same)

    def keys_in(self, name: str) -> str:
        """Return the FROM item with the rows of a list: ``key``, ``other`` and ``text``."""
        return f"(SELECT key, other, text FROM staged_keys WHERE {self._own} AND list = '{name}')"

    def drop(self, *names: str) -> None:
        """Delete lists."""
        for name in names:
            self._connection.change(
                f"DELETE FROM staged_keys WHERE {self._own} AND list = '{name}'"
            )
