"""What the console shows of an account besides the results of the books' operations."""

import re
from collections.abc import Collection
from typing import NamedTuple

from masthead.contract.moments import date_in
from masthead.store import accounts
from masthead.store.audit import Entry
from masthead.store.books.operation import Mode, mode_of
from masthead.store.database import Connection, Store

_LOOKED_AT = 5_000
_ALL_ACCOUNTS = 0


class Account(NamedTuple):
    """An account: its company name, its mode, and the current day in its time zone."""

    company_name: str
    mode: Mode
    today: str


def account_of(store: Store, account_id: int) -> Account:
    """Return what each page shows of the account. Raises NotFound if it does not exist."""
    with store.reader() as connection:
        connection.set_tenant(account_id)
        with connection.read_snapshot():
            settings = accounts.settings_of(connection, account_id)
            mode = mode_of(connection, account_id)
    today = date_in(str(settings["time_zone"]), store.clock())
    return Account(str(settings["company_name"] or f"Account {account_id}"), mode, today)


def log_page(
    connection: Connection, account_id: int, *, before: int | None, limit: int
) -> list[tuple[int, Entry]]:
    """Return a page of an account's audit log entries with their ids, newest first.

    ``before`` is the id of the last entry of the previous page; None for the first page.
    """
    older = "" if before is None else "AND entry_id < :before"
    values = {} if before is None else {"before": before}
    rows = connection.rows(
        f"""
        SELECT entry_id, at, user_name, command, account_id, summary FROM audit
        WHERE account_id IN (:account_id, {_ALL_ACCOUNTS}) {older}
        ORDER BY entry_id DESC LIMIT :limit
        """,
        account_id=account_id,
        limit=limit,
        **values,
    )
    return [(row[0], Entry(row[1], row[2], row[3], row[4] or None, row[5])) for row in rows]


def changes_of(
    connection: Connection, account_id: int, names: Collection[str], *, limit: int
) -> list[Entry]:
    """Return the newest log entries that contain one of the ``names``, such as ``order 7``.

    It searches the last 5,000 entries of the account.
    """
    named = re.compile("|".join(rf"\b{re.escape(name)}\b" for name in names))
    found = log_page(connection, account_id, before=None, limit=_LOOKED_AT)
    return [entry for _, entry in found if named.search(entry.summary)][:limit]


def has_order(connection: Connection, account_id: int, order_id: int) -> bool:
    """Return whether the account has an order with this id."""
    return (
        connection.row(
            "SELECT 1 FROM orders WHERE account_id = :account_id AND order_id = :order_id",
            account_id=account_id,
            order_id=order_id,
        )
        is not None
    )


def first_issue(connection: Connection, account_id: int, subscription_id: int) -> str:
    """Return the name and date of the next issue that a subscription gets.

    That is the first planned or closed issue since its beginning that it has not received;
    suspensions are ignored. An issue that was closed without a list does not count. Returns '' if
    there is no such issue.
    """
    row = connection.row(
        """
        SELECT i.name, i.date FROM subscriptions AS s
        JOIN issues AS i ON i.account_id = s.account_id AND i.publication_id = s.publication_id
        WHERE s.account_id = :account_id AND s.subscription_id = :subscription_id
            AND i.date >= s.begins_on
            AND (i.closed_at IS NULL OR i.mailing_list_id IS NOT NULL)
            AND NOT EXISTS (SELECT 1 FROM subscription_issues AS d WHERE d.account_id = s.account_id
                AND d.subscription_id = s.subscription_id AND d.issue_id = i.issue_id)
        ORDER BY i.date, i.issue_id LIMIT 1
        """,
        account_id=account_id,
        subscription_id=subscription_id,
    )
    return f"{row[0] or 'issue'} ({row[1]})" if row else ""
