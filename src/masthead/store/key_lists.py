"""Lists of keys that one statement of a load or an operation finds and later statements use.

They are rows of ``staged_keys``, which is a temporary table on SQLite. On PostgreSQL it is a
permanent table, whose ``load_id`` is the id of the load or of the operation's commit.
"""

from collections.abc import Iterable, Sequence

from masthead.store.database import Connection, Row, Value

_SQLITE_TABLE = """
    CREATE TEMP TABLE IF NOT EXISTS staged_keys (
        list TEXT, key INTEGER, other INTEGER, kind TEXT, text TEXT);
    CREATE INDEX IF NOT EXISTS temp.staged_keys_by_key ON staged_keys (list, key, other);
    """


class KeyLists:
    """The lists of one load or operation.

    An operation drops its lists in its transaction, a load after its transaction
    (``Staging.discard_all``).
    """

    def __init__(
        self, connection: Connection, account_id: int, load_id: int, *, are_new: bool = False
    ) -> None:
        """Open the lists; ``are_new`` saves statements, for lists of which no row can be left."""
        self._kept: set[str] | None = set() if are_new else None
        self.connection = connection
        self.account_id = account_id
        self._load_id = load_id
        self._is_shared = connection.dialect == "postgresql"
        self._same: dict[str, int] = {}
        self._own_keys = "TRUE"
        if self._is_shared:
            self._same = {"account_id": account_id, "load_id": load_id}
            # A subquery replaces the number, so PostgreSQL expects as many rows as other loads
            # have. With the number, it expects no rows, since its statistics do not contain it.
            self._own_keys = f"account_id = {account_id:d} AND load_id = (SELECT {load_id:d})"
        else:
            connection.script(_SQLITE_TABLE)

    def keep(
        self, name: str, query: str, columns: Sequence[str] = ("key",), **values: Value
    ) -> int:
        """Store the result of a query as the list ``name``; return its number of rows.

        ``columns`` are the result's columns: ``key``, and ``other``, ``kind`` or ``text`` for
        values that belong to a key. The query may use ``:account_id``.
        """
        self.drop(name)
        return self.extend(name, query, columns, **values)

    def extend(
        self, name: str, query: str, columns: Sequence[str] = ("key",), **values: Value
    ) -> int:
        """Add the result of a query to a list; return how many rows were added."""
        self._note(name)
        if self.connection.reader_id is not None:
            # A distributed database would copy the result into the table, which policies exclude.
            rows = self.connection.rows(query, **{"account_id": self.account_id, **values})
            named = [(name, *row) for row in rows]
            self.connection.insert_many("staged_keys", ("list", *columns), named, **self._same)
            return len(named)
        into = [*self._same, "list", *columns]
        chosen = [*map(str, self._same.values()), f"'{name}'", *(f"q.{each}" for each in columns)]
        return self.connection.change(
            f"""
            INSERT INTO staged_keys ({", ".join(into)})
            SELECT {", ".join(chosen)} FROM ({query}) AS q
            """,
            **{"account_id": self.account_id, **values},
        )

    def keep_rows(self, name: str, columns: Sequence[str], rows: Iterable[Row]) -> None:
        """Store rows of these columns as the list ``name``."""
        self.drop(name)
        self._note(name)
        named = ((name, *row) for row in rows)
        self.connection.insert_many("staged_keys", ("list", *columns), named, **self._same)

    def keys_in(self, name: str) -> str:
        """Return the FROM item with the rows of a list: ``key`` and the other columns."""
        return f"""(SELECT key, other, kind, text FROM staged_keys
            WHERE {self._own_keys} AND list = '{name}')"""

    def drop(self, *names: str) -> None:
        """Delete lists."""
        found = [each for each in names if self._kept is None or each in self._kept]
        if found:
            named = ", ".join(f"'{each}'" for each in found)
            self.connection.change(
                f"DELETE FROM staged_keys WHERE {self._own_keys} AND list IN ({named})"
            )
        if self._kept is not None:
            self._kept.difference_update(found)

    def _note(self, name: str) -> None:
        if self._kept is not None:
            self._kept.add(name)
