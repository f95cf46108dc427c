"""What the console shows of an account beside what the operations of the books return."""

import re
from collections.abc import Collection
from typing import NamedTuple

from masthead.contract.moments import date_in
from masthead.errors import NotFound
from masthead.store import accounts
from masthead.store.audit import Entry
from masthead.store.books.operation import Mode, mode_of
from masthead.store.database import Connection, Row, Store

__all__ = [
    "Account",
    "ListShown",
    "account_of",
    "changes_of",
    "first_issue",
    "has_order",
    "issue_of_list",
    "list_with_entries",
    "lists_of_issue",
    "log_page",
    "newest_lists",
]

_LOOKED_AT = 5_000
_ALL_ACCOUNTS = 0


class Account(NamedTuple):
    """An account: its company's name, who owns its data, and the day in its time zone."""

    company_name: str
    mode: Mode
    today: str


def account_of(store: Store, account_id: int) -> Account:
    """Return what each page says of the account. Raises NotFound if there is none."""
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
    """Return the entries of the audit log that an account has, the newest first, with their ids.

    ``before`` is the id of the entry that the page follows; None: it is the first page.
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
    """Return the newest entries of the log that name one of the things, such as ``order 7``.

    It looks at the last 5,000 entries of the account.
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

    That is the first planned or closed one from its beginning on which it has not received, without
    suspensions. One that was closed without a list never comes. '' if none is planned.
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


class ListShown(NamedTuple):
    """A list download; ``is_gap`` is 1 for a gap list."""

    mailing_list_id: int
    name: str | None
    status: str | None
    entries: int | None
    is_gap: int
    parent_mailing_list_id: int | None
    date_created: str | None


_LIST = ", ".join(ListShown._fields).replace("entries", "count")


def lists_of_issue(
    connection: Connection, account_id: int, main_list: int | None
) -> list[ListShown]:
    """Return the lists of an issue, by its main list: that one, then its gap lists."""
    if main_list is None:
        return []
    rows = connection.rows(
        f"""
        SELECT {_LIST} FROM list_downloads
        WHERE account_id = :account_id
            AND (mailing_list_id = :main_list OR parent_mailing_list_id = :main_list)
        """,
        account_id=account_id,
        main_list=main_list,
    )
    return sorted(ListShown(*row) for row in rows)


def newest_lists(
    connection: Connection, account_id: int, *, before: int | None, limit: int
) -> list[ListShown]:
    """Return the list downloads of an account, the newest first, from one id on downwards."""
    rows = connection.rows(
        f"""
        SELECT {_LIST} FROM list_downloads
        WHERE account_id = :account_id AND mailing_list_id < :before
        ORDER BY mailing_list_id DESC LIMIT :limit
        """,
        account_id=account_id,
        before=2**63 - 1 if before is None else before,
        limit=limit,
    )
    return [ListShown(*row) for row in rows]


def issue_of_list(connection: Connection, account_id: int, found: ListShown) -> int | None:
    """Return the issue whose main list it is, or whose gap list; None if no issue was closed."""
    main = found.parent_mailing_list_id if found.is_gap else found.mailing_list_id
    row = connection.row(
        """
        SELECT issue_id FROM issues
        WHERE account_id = :account_id AND mailing_list_id = :mailing_list_id
        """,
        account_id=account_id,
        mailing_list_id=main,
    )
    return row[0] if row else None


def list_with_entries(
    connection: Connection, account_id: int, mailing_list_id: int, *, after: int, limit: int
) -> tuple[ListShown, list[Row]]:
    """Return a list, and its entries behind a subscription: with subscribers and their names.

    A row has the subscription, copies, is_grace, is_paid, type, and the subscriber's id and names.
    Raises NotFound if there is no such list.
    """
    row = connection.row(
        f"""
        SELECT {_LIST} FROM list_downloads
        WHERE account_id = :account_id AND mailing_list_id = :mailing_list_id
        """,
        account_id=account_id,
        mailing_list_id=mailing_list_id,
    )
    if row is None:
        raise NotFound(f"account {account_id} has no list {mailing_list_id}")
    entries = connection.rows(
        """
        SELECT e.subscription_id, e.copies, e.is_grace, e.is_paid, e.type, r.subscriber_id,
            r.first_name, r.last_name
        FROM (SELECT account_id, subscription_id, copies, is_grace, is_paid, type
            FROM mailing_list_entries
            WHERE account_id = :account_id AND mailing_list_id = :mailing_list_id
                AND subscription_id > :after
            ORDER BY subscription_id LIMIT :limit) AS e
        JOIN subscriptions AS s
            ON s.account_id = e.account_id AND s.subscription_id = e.subscription_id
        JOIN subscribers AS r ON r.account_id = s.account_id AND r.subscriber_id = s.subscriber_id
        ORDER BY e.subscription_id
        """,
        account_id=account_id,
        mailing_list_id=mailing_list_id,
        after=after,
        limit=limit,
    )
    return ListShown(*row), entries
