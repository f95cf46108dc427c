"""Deletions: the notes of removed records, which clients of the change feed request.

The table ``deletions`` has a row for each removed record, with the commit that removed it last. If
the record comes back, the row stays but is not returned while the record exists. Rows are never
deleted.
"""

from collections.abc import Iterator
from typing import NamedTuple

from masthead.store.database import Connection, Value


class Removable(NamedTuple):
    """The table of an entity's records, and the column of their ids."""

    table: str
    key: str


REMOVABLE = {
    "subscriptions": Removable("subscriptions", "subscription_id"),
    "addresses": Removable("addresses", "address_id"),
    "purchases": Removable("purchases", "purchase_id"),
    "listdownloads": Removable("list_downloads", "mailing_list_id"),
    "orders": Removable("orders", "order_id"),
}
"""The entities whose records can be removed, by their names in requests. A subscriber's row stays
and gets a ``delete_date``."""


def note(
    connection: Connection,
    account_id: int,
    commit_id: int,
    entity: str,
    records: str,
    **values: Value,
) -> int:
    """Note that a commit removes records; return their number.

    ``records`` is a query that selects ``account_id`` and ``record_id``, each record once, with the
    parameters ``values`` and ``:account_id``. Call it in the transaction that removes the records
    and has locked the account. If the query reads these rows, call it before they are deleted.
    """
    # The account is a column of the query, so that the rows stay on their node.
    return connection.change(
        f"""
        INSERT INTO deletions (account_id, entity, record_id, commit_id)
        SELECT r.account_id, :entity, r.record_id, :commit_id FROM ({records}) AS r
        WHERE TRUE
        ON CONFLICT (account_id, entity, record_id) DO UPDATE SET commit_id = excluded.commit_id
        """,
        account_id=account_id,
        entity=entity,
        commit_id=commit_id,
        **values,
    )


def removed(
    connection: Connection, entity: str, account_id: int, first_commit: int
) -> Iterator[int]:
    """Yield the ids of records that this or a later commit removed and that do not exist now.

    They come by commit and then by id, in constant memory. Entities whose records are never removed
    yield no ids.
    """
    if entity not in REMOVABLE:
        return iter(())
    table, key = REMOVABLE[entity]
    # A scalar subquery: PostgreSQL does not turn it into a join that reads whole tables.
    rows = connection.stream(
        f"""
        SELECT d.record_id FROM deletions AS d
        WHERE d.account_id = :account_id AND d.entity = :entity AND d.commit_id >= :first_commit
            AND (SELECT o.{key} FROM {table} AS o
                WHERE o.account_id = :account_id AND o.{key} = d.record_id) IS NULL
        ORDER BY d.commit_id, d.record_id
        """,
        account_id=account_id,
        entity=entity,
        first_commit=first_commit,
    )
    return (record_id for (record_id,) in rows)


def has_noted(connection: Connection, entity: str, account_id: int, first_commit: int) -> bool:
    """Return whether this or a later commit removed a record, even one that exists again."""
    found = connection.row(
        """
        SELECT 1 FROM deletions
        WHERE account_id = :account_id AND entity = :entity AND commit_id >= :first_commit
        ORDER BY commit_id LIMIT 1
        """,
        account_id=account_id,
        entity=entity,
        first_commit=first_commit,
    )
    return found is not None
