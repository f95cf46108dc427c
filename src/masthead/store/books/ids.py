"""The ids of new records of the books."""

from masthead.contract.records import TABLES_BY_NAME
from masthead.store import deletions
from masthead.store.database import Connection

_ENTITIES = {table: entity for entity, (table, _) in deletions.REMOVABLE.items()}


def of_all(function: str) -> str:
    """Return a query of a function that knows the rows of all readers of ``:account_id``.

    ``l.account_id`` is the account in it. The function runs where the account's rows are: beside
    the statements of the transaction, a distributed database runs it nowhere else.
    """
    return f"""
        SELECT {function} FROM account_locks AS l
        WHERE l.account_id = :account_id AND l.kind = 'data'
        """


def next_ids(connection: Connection, account_id: int, table: str) -> int:
    """Return the lowest id that a new row of ``table`` can have; higher ones are free too.

    It is above every id in the table, every id in a natural key of its rows, and every id of a
    removed record: no id is given twice. So within a statement, the ids of new rows are this one +
    ``row_number() OVER (ORDER BY …) - 1``. The caller has locked the account.

    A reader's connection does not see the rows of others: there, a function of PostgreSQL tells the
    greatest id (``rights_of_readers.sql``).
    """
    if connection.reader_id is not None:
        greatest = connection.value_as(
            int,
            of_all("greatest_id(l.account_id, :table_name, :entity)"),
            account_id=account_id,
            table_name=table,
            entity=_ENTITIES.get(table, ""),
        )
        return (greatest or 0) + 1
    key = TABLES_BY_NAME[table].key[0]
    sources = [
        f"SELECT max({key}) AS id FROM {table} WHERE account_id = :account_id",
        """SELECT record_id FROM natural_keys
        WHERE account_id = :account_id AND table_name = :table_name AND key_digest = ''""",
    ]
    values: dict[str, int | str] = {"account_id": account_id, "table_name": table}
    if table in _ENTITIES:
        sources.append(
            """SELECT max(record_id) FROM deletions
            WHERE account_id = :account_id AND entity = :entity"""
        )
        values["entity"] = _ENTITIES[table]
    greatest = connection.value_as(
        int, f"SELECT max(s.id) FROM ({' UNION ALL '.join(sources)}) AS s", **values
    )
    return (greatest or 0) + 1
