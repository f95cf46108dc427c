"""Read whole tables of an account for an export."""

from collections.abc import Iterator
from itertools import islice

from masthead.contract.records import Table
from masthead.store.billing.sealed import MANDATES, unsealed_rows
from masthead.store.database import Connection, Row

BATCH_ROWS = 5_000


def batches(connection: Connection, account_id: int, table: Table) -> Iterator[list[Row]]:
    """Yield the rows of ``table`` by ascending key, in lists of 5,000 rows.

    The bank accounts of mandates are in clear.
    """
    columns = ", ".join(f'"{column.name}"' for column in table.columns)
    rows = connection.stream(
        f"""
        SELECT {columns} FROM {table.name} WHERE account_id = :account_id
        ORDER BY {", ".join(table.key)}
        """,
        account_id=account_id,
    )
    while batch := list(islice(rows, BATCH_ROWS)):
        yield unsealed_rows(connection, account_id, batch) if table.name == MANDATES else batch
