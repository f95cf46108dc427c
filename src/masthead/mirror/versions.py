"""Since when each row is as it is, and in a history what it was before.

A pass replaces rows: it deletes those of a record and inserts the new ones. Here the deleted rows
are kept aside until the end of the pass's transaction. Then a row that came back with the same
values gets its time again, and the history gets the rows that are different now, or gone. So a
pass that is killed leaves neither a row nor a part of the history.
"""

from collections.abc import Collection, Iterable
from datetime import UTC, datetime, timedelta

from masthead.databases.connection import Connection
from masthead.errors import BadUsage
from masthead.mirror.tables import CHANGED_AT, Table, entity_named

_MICROSECOND = timedelta(microseconds=1)
PERSONAL_ENTITIES = ("subscribers", "addresses", "customfields", "orders", "purchases")
"""The entities with values that are blanked when a person is erased."""

_PERSONAL = [
    table
    for name in PERSONAL_ENTITIES
    for table in entity_named(name).tables
    if "subscriber_id" in table.compared
]
"""The tables of these entities that say whose their rows are."""

OF_ERASED = """
    subscriber_id IN (SELECT subscriber_id FROM subscribers WHERE delete_date IS NOT NULL
    AND email IS NULL AND first_name IS NULL AND last_name IS NULL AND password_md5 IS NULL)
"""
"""The condition that a row belongs to an erased person."""


class Versions:
    """The replaced rows of one transaction at a time."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._taken: list[Table] = []
        self._takes = True
        self.now = ""
        """The time of this pass, later than that of each pass before."""

    def begin(self, last: str | None) -> None:
        """Begin with a transaction. ``last`` is the time of the pass before."""
        now = datetime.now(UTC).replace(tzinfo=None)
        if last and now <= datetime.fromisoformat(last):
            now = datetime.fromisoformat(last) + _MICROSECOND
        self.now = now.isoformat(" ", "microseconds")
        self._taken.clear()
        self._takes = True

    def take(self, table: Table, where: str = "", **values: int | str) -> None:
        """Keep aside the rows that are about to be deleted, except those of this pass."""
        if not self._takes:
            return
        aside = _aside(table)
        if table not in self._taken:
            self._connection.script(
                f"CREATE TEMPORARY TABLE {aside} AS SELECT * FROM {table.name} LIMIT 0"
            )
            self._taken.append(table)
        also = f"{where} AND" if where else "WHERE"
        self._connection.change(
            f"INSERT INTO {aside} SELECT * FROM {table.name} {also} {CHANGED_AT} < '{self.now}'",
            **values,
        )

    def take_all(self, tables: Iterable[Table]) -> None:
        """Keep aside all rows, which are about to be deleted; later ones are of this pass."""
        for table in tables:
            self.take(table)
        self._takes = False

    def restore(self, table: Table, where: str, **values: int | str) -> int:
        """Insert again rows that are kept aside, unless the table has their keys."""
        if table not in self._taken:
            return 0
        return self._connection.change(
            f"INSERT INTO {table.name} SELECT r.* FROM {_aside(table)} AS r {where} AND NOT EXISTS "
            f"(SELECT 1 FROM {table.name} AS t WHERE {_same(table, 't', 'r')})",
            **values,
        )

    def settle(self, histories: Collection[str]) -> set[str]:
        """End the transaction's part; return the names of the histories that got rows.

        ``histories`` are the names of those that the copy has.
        """
        grown = set()
        for table in self._taken:
            aside, name = _aside(table), table.name
            self._connection.change(
                f"UPDATE {name} SET {CHANGED_AT} = r.{CHANGED_AT} FROM {aside} AS r "
                f"WHERE {_same(table, name, 'r', whole=True)}"
            )
            history = history_of(table)
            if history in histories and self._connection.change(
                f"INSERT INTO {history} SELECT r.*, '{self.now}' FROM {aside} AS r "
                f"WHERE NOT EXISTS (SELECT 1 FROM {name} AS t "
                f"WHERE {_same(table, 't', 'r')} AND t.{CHANGED_AT} = r.{CHANGED_AT})"
            ):
                grown.add(history)
            self._connection.script(f"DROP TABLE {aside}")
        if any(table in _PERSONAL for table in self._taken):
            grown |= self._forget_erased(histories)
        self._taken.clear()
        return grown

    def _forget_erased(self, histories: Collection[str]) -> set[str]:
        """Delete what the histories have of erased persons; return the names of these histories.

        A merge moves records to another subscriber, so the earlier rows of a record go if any of
        its rows belongs to an erased person.
        """
        return {
            history
            for table in _PERSONAL
            if (history := history_of(table)) in histories
            and self._connection.change(
                f"DELETE FROM {history} WHERE {table.owner} IN ("
                f"SELECT {table.owner} FROM {table.name} WHERE {OF_ERASED} "
                f"UNION SELECT {table.owner} FROM {history} WHERE {OF_ERASED})"
            )
        }


def check_history(entities: Collection[str]) -> None:
    """Raise BadUsage if a copy of these entities could not remove an erased person's history."""
    personal = [name for name in PERSONAL_ENTITIES if name in entities]
    if personal and "subscribers" not in personal:
        raise BadUsage(
            f"a history of {' and '.join(personal)} needs the entity subscribers too, since only "
            "it shows who was erased: begin a copy that has it"
        )


def history_of(table: Table) -> str:
    """Return the name of the table with the earlier rows of a table."""
    return f"{table.name}_history"


def _aside(table: Table) -> str:
    return f"replaced_{table.name}"


def _same(table: Table, left: str, right: str, *, whole: bool = False) -> str:
    """Return the condition that two rows have the same key, or all the same values."""
    key, others = table.compared[: table.key], table.compared[table.key :]
    conditions = [f'{left}."{name}" = {right}."{name}"' for name in key]
    if whole:
        conditions += [f'{left}."{name}" IS NOT DISTINCT FROM {right}."{name}"' for name in others]
    return " AND ".join(conditions)
