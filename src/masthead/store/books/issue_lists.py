"""The list downloads of an account, and their entries."""

from typing import NamedTuple

from masthead.errors import NotFound
from masthead.store.books.operation import Reading

_ID_MAX = 2**63 - 1


class ListShown(NamedTuple):
    """A list download; ``is_gap`` is 1 for a gap list."""

    mailing_list_id: int
    name: str | None
    status: str | None
    entries: int | None
    is_gap: int
    parent_mailing_list_id: int | None
    date_created: str | None


class EntryShown(NamedTuple):
    """An entry of a list, with the reader."""

    subscription_id: int
    copies: int | None
    is_grace: int | None
    is_paid: int | None
    type: str | None
    subscriber_id: int
    first_name: str | None
    last_name: str | None
    copy_class: str | None


_LIST = ", ".join(ListShown._fields).replace("entries", "count")


def of_issue(reading: Reading, main_list: int | None) -> list[ListShown]:
    """Return the lists of an issue, by its main list: the main list, then its gap lists."""
    if main_list is None:
        return []
    found = reading.rows_as(
        ListShown,
        f"""
        SELECT {_LIST} FROM list_downloads
        WHERE account_id = :account_id
            AND (mailing_list_id = :main_list OR parent_mailing_list_id = :main_list)
        """,
        main_list=main_list,
    )
    return sorted(found)


def newest(reading: Reading, *, before: int | None, limit: int) -> list[ListShown]:
    """Return the lists with an id below ``before``, the newest first."""
    return reading.rows_as(
        ListShown,
        f"""
        SELECT {_LIST} FROM list_downloads
        WHERE account_id = :account_id AND mailing_list_id < :before
        ORDER BY mailing_list_id DESC LIMIT :limit
        """,
        before=_ID_MAX if before is None else before,
        limit=limit,
    )


def find(reading: Reading, mailing_list_id: int) -> ListShown:
    """Return a list. Raises NotFound if there is none."""
    found = reading.row_as(
        ListShown,
        f"""
        SELECT {_LIST} FROM list_downloads
        WHERE account_id = :account_id AND mailing_list_id = :mailing_list_id
        """,
        mailing_list_id=mailing_list_id,
    )
    if found is None:
        raise NotFound("there is no such list")
    return found


def issue_of(reading: Reading, found: ListShown) -> int | None:
    """Return the issue of a main list or gap list; None if no issue was closed with it."""
    main = found.parent_mailing_list_id if found.is_gap else found.mailing_list_id
    return reading.value_as(
        int,
        """
        SELECT issue_id FROM issues
        WHERE account_id = :account_id AND mailing_list_id = :mailing_list_id
        """,
        mailing_list_id=main,
    )


def entries(reading: Reading, mailing_list_id: int, *, after: int, limit: int) -> list[EntryShown]:
    """Return the entries of a list for subscriptions above ``after``, sorted by subscription."""
    return reading.rows_as(
        EntryShown,
        """
        SELECT e.subscription_id, e.copies, e.is_grace, e.is_paid, e.type, r.subscriber_id,
            r.first_name, r.last_name, e.class
        FROM (SELECT account_id, subscription_id, copies, is_grace, is_paid, type, class
            FROM mailing_list_entries
            WHERE account_id = :account_id AND mailing_list_id = :mailing_list_id
                AND subscription_id > :after
            ORDER BY subscription_id LIMIT :limit) AS e
        JOIN subscriptions AS s
            ON s.account_id = e.account_id AND s.subscription_id = e.subscription_id
        JOIN subscribers AS r ON r.account_id = s.account_id AND r.subscriber_id = s.subscriber_id
        ORDER BY e.subscription_id
        """,
        mailing_list_id=mailing_list_id,
        after=after,
        limit=limit,
    )
