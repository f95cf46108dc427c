"""The texts of an account's settings, by name: those of billing and those of the readers' pages.

A setting that was never set has no row, so it has its default. The functions leave the queued rows
of an operation queued.
"""

from collections.abc import Mapping
from typing import Literal

from masthead.databases.queries import Query, rows_as
from masthead.store.books.operation import Operation, Reading

Table = Literal["billing_settings", "page_settings"]


def stored_texts(reading: Reading, table: Table) -> dict[str, str]:
    """Return the texts of the settings that were set, by name."""
    sql, values = texts_in(table).bound
    return texts_in(table).answer_of(
        reading.direct.rows(sql, **values, account_id=reading.account_id)
    )


def texts_in(table: Table) -> Query[dict[str, str]]:
    """Return the query of :func:`stored_texts`."""
    return rows_as(
        tuple[str, str],
        f"""
        SELECT name, value FROM {table}
        WHERE account_id = :account_id AND value IS NOT NULL ORDER BY setting_id
        """,
    ).then(dict)


def save_texts(change: Operation, table: Table, texts: Mapping[str, str]) -> None:
    """Store texts of settings by name; "" removes one, so that it has its default again."""
    stored = stored_texts(change, table)
    for name, text in texts.items():
        if not text:
            sql = f"DELETE FROM {table} WHERE account_id = :account_id AND name = :name"
            change.change(sql, name=name)
        elif name in stored:
            change.change(
                f"""
                UPDATE {table} SET value = :value
                WHERE account_id = :account_id AND name = :name
                """,
                name=name,
                value=text,
            )
        else:
            setting_id = change.new_id(table)
            change.add(table, setting_id=setting_id, name=name, value=text)
    change.write()
