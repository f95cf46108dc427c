"""Where the copies of a list go: the rows of its mail file (circulation, "The mail file")."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from masthead.contract.subscription_types import PRINTED as PRINTED_TYPES
from masthead.errors import BadInput
from masthead.store import audit
from masthead.store.books.issue import find_issue
from masthead.store.books.operation import operation
from masthead.store.books.order_keys import RECEIVED_BY
from masthead.store.database import Row, Store

__all__ = ["DIGITAL", "PRINTED", "Written", "mark_written", "name_at", "rows_of"]

PRINTED = (
    "keyline",
    "copies",
    "first_name",
    "last_name",
    "company",
    "address",
    "city",
    "state",
    "zip_code",
    "country_name",
    "country_abbreviation",
)
"""The columns of the file of printed copies."""

DIGITAL = ("keyline", "copies", "email", "first_name", "last_name")
"""The columns of the file of the others."""

# Unlimited subscriptions have no last issue.
_KEYLINE = "CAST(s.subscriber_id AS TEXT) || ' ' || coalesce(s.date_expired, '-')"
_FROM = """
    FROM mailing_list_entries AS e
    JOIN subscriptions AS s
        ON s.account_id = :account_id AND s.subscription_id = e.subscription_id
    """
_OF_LIST = "WHERE e.account_id = :account_id AND e.mailing_list_id = :mailing_list_id"


def name_at(part: str, subscriber: str) -> str:
    """Return the SQL of a part of the name, ``first_name`` or ``last_name``, at an address ``a``.

    It is the address's, or the subscriber's where the address names nobody, neither a person nor a
    company: so name and address are of one place, and no name is mixed of two.
    """
    return f"""
        CASE WHEN coalesce(a.first_name, '') = '' AND coalesce(a.last_name, '') = ''
            AND coalesce(a.company, '') = '' THEN {subscriber}.{part} ELSE a.{part} END
        """


class Written(NamedTuple):
    """The list whose file is written, and its name."""

    mailing_list_id: int
    name: str


def mark_written(
    store: Store,
    account_id: int,
    issue_id: int,
    *,
    mailing_list_id: int | None = None,
    actor: audit.Actor | None = None,
    dry_run: bool = False,
) -> Written:
    """Note that a list's file is written, after which its issue stays closed; return the list.

    That is the issue's main list, or a gap list of it. It is noted before the file is there, so
    that no file is of deliveries which were undone; and the audit log has each time. Raises what
    ``operation`` and ``find_issue`` do, and BadInput if the issue has no such list.
    """
    with operation(store, account_id, actor, dry_run=dry_run) as books:
        issue = find_issue(books, issue_id)
        if issue.mailing_list_id is None:
            how = "was closed without one" if issue.closed_at else "is not closed"
            raise BadInput(f"{issue.title} {how}: a file is of a mailing list")
        which = issue.mailing_list_id if mailing_list_id is None else mailing_list_id
        row = books.connection.row(
            """
            SELECT name FROM list_downloads WHERE account_id = :account_id
                AND mailing_list_id = :which AND :main IN (mailing_list_id, parent_mailing_list_id)
            """,
            account_id=account_id,
            which=which,
            main=issue.mailing_list_id,
        )
        if row is None:
            raise BadInput(f"list {which} is none of {issue.title}")
        books.connection.change(
            """
            UPDATE issues SET file_written_at = coalesce(file_written_at, :now)
            WHERE account_id = :account_id AND issue_id = :issue_id
            """,
            account_id=account_id,
            issue_id=issue_id,
            now=books.now,
        )
        books.say(f"the file of list {which} of issue {issue_id} was written out")
        return Written(which, str(row[0] or ""))


@contextmanager
def rows_of(
    store: Store, account_id: int, issue_id: int, written: Written, *, digital: bool = False
) -> Iterator[Iterator[Row]]:
    """Yield the rows of a list's file, one by one, from one snapshot.

    Printed copies (Print and Both) have the columns :data:`PRINTED`, with the address in force on
    the issue's date, by country and postal code; the others :data:`DIGITAL`, by subscription. An
    address without a name or company gets the reader's name.
    """
    if digital:
        sql = f"""
            SELECT {_KEYLINE}, e.copies, r.email, r.first_name, r.last_name {_FROM}
            JOIN subscribers AS r
                ON r.account_id = :account_id AND r.subscriber_id = s.subscriber_id
            {_OF_LIST} AND (e.type IN {PRINTED_TYPES}) IS NOT TRUE
            ORDER BY e.subscription_id
            """
    else:
        names = ", ".join(name_at(name, "r") for name in PRINTED[2:4])
        address = ", ".join(f"a.{name}" for name in PRINTED[4:])
        sql = f"""
            SELECT {_KEYLINE}, e.copies, {names}, {address} {_FROM}
            JOIN subscribers AS r
                ON r.account_id = :account_id AND r.subscriber_id = s.subscriber_id
            JOIN subscription_issues AS d ON d.account_id = :account_id
                AND d.issue_id = :issue_id AND d.subscription_id = {RECEIVED_BY}
            LEFT JOIN addresses AS a
                ON a.account_id = :account_id AND a.address_id = d.address_id
            {_OF_LIST} AND e.type IN {PRINTED_TYPES}
            ORDER BY coalesce(a.country_name, ''), coalesce(a.zip_code, ''), e.subscription_id
            """
    values = {"account_id": account_id, "mailing_list_id": written.mailing_list_id}
    if not digital:
        values["issue_id"] = issue_id
    with store.writer() as connection, connection.read_snapshot():
        yield connection.stream(sql, **values)
