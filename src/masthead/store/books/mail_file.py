"""Where the copies of a list go: the rows of its mail file (circulation, "The mail file")."""

from collections.abc import Iterator
from typing import NamedTuple

from masthead.circulation.addresses import FIELDS, POSTAL
from masthead.contract.subscription_types import PRINTED as PRINTED_TYPES
from masthead.errors import BadInput
from masthead.store.books import audit_figures
from masthead.store.books.issue import Issue
from masthead.store.books.operation import Operation, Reading
from masthead.store.books.order_keys import RECEIVED_BY
from masthead.store.database import Row

PRINTED = ("keyline", "copies", *FIELDS)
"""The columns of the file of printed copies."""

DIGITAL = ("keyline", "copies", "email", "first_name", "last_name")
"""The columns of the file of subscriptions without a printed copy."""

KEYLINE = "CAST(s.subscriber_id AS TEXT) || ' ' || coalesce(s.date_expired, '-')"
"""The SQL of the keyline of a subscription ``s``: an unlimited one has no last issue."""

_FROM = """
    FROM mailing_list_entries AS e
    JOIN subscriptions AS s
        ON s.account_id = :account_id AND s.subscription_id = e.subscription_id
    """
_OF_LIST = "WHERE e.account_id = :account_id AND e.mailing_list_id = :mailing_list_id"


def address_of(subscriber: str) -> str:
    """Return the SQL of the :data:`FIELDS` at an address ``a`` of a subscriber.

    The name is the address's. If the address names no person, it is the subscriber's name, also
    beside a company. So no name mixes parts of two.
    """
    names = (
        f"""
        CASE WHEN coalesce(a.first_name, '') = '' AND coalesce(a.last_name, '') = ''
            THEN {subscriber}.{part} ELSE a.{part} END
        """
        for part in ("first_name", "last_name")
    )
    return ", ".join([*names, *(f"a.{name}" for name in POSTAL)])


class Written(NamedTuple):
    """The list of an issue whose file is written."""

    issue_id: int
    mailing_list_id: int

    @property
    def sentence(self) -> str:
        """What the operation noted."""
        return f"the file of list {self.mailing_list_id} of issue {self.issue_id} was written out"


def mark_written(books: Operation, issue: Issue, mailing_list_id: int | None) -> Written:
    """Note that the file of an issue's main list, or of one of its gap lists, is written.

    The first file of an issue of a free title freezes its audit report.

    Raises BadInput if the issue has no such list.
    """
    written = list_of(books, issue, mailing_list_id)
    if issue.file_written_at is None:
        audit_figures.freeze(books, issue.issue_id, issue.publication_id)
    books.change(
        """
        UPDATE issues SET file_written_at = coalesce(file_written_at, :now)
        WHERE account_id = :account_id AND issue_id = :issue_id
        """,
        issue_id=issue.issue_id,
        now=books.now,
    )
    return written


def list_of(books: Reading, issue: Issue, mailing_list_id: int | None) -> Written:
    """Return the main list of an issue, or the one of its gap lists that is named.

    Raises BadInput if the issue has no such list.
    """
    if issue.mailing_list_id is None:
        how = "was closed without one" if issue.closed_at else "is not closed"
        raise BadInput(f"{issue.title} {how}: a file is of a mailing list")
    which = issue.mailing_list_id if mailing_list_id is None else mailing_list_id
    if not books.row(
        """
        SELECT 1 FROM list_downloads WHERE account_id = :account_id
            AND mailing_list_id = :which AND :main IN (mailing_list_id, parent_mailing_list_id)
        """,
        which=which,
        main=issue.mailing_list_id,
    ):
        raise BadInput(f"this list is none of {issue.title}")
    return Written(issue.issue_id, which)


def rows_of(reading: Reading, written: Written, *, digital: bool = False) -> Iterator[Row]:
    """Yield the rows of a list's file, one by one, with :data:`PRINTED` or :data:`DIGITAL`.

    Printed copies (Print and Both) have the address in force on the issue's date, and are sorted by
    country and postal code. The others are sorted by subscription. An address that names no person
    gets the reader's name.
    """
    if digital:
        sql = f"""
            SELECT {KEYLINE}, e.copies, r.email, r.first_name, r.last_name {_FROM}
            JOIN subscribers AS r
                ON r.account_id = :account_id AND r.subscriber_id = s.subscriber_id
            {_OF_LIST} AND (e.type IN {PRINTED_TYPES}) IS NOT TRUE
            ORDER BY e.subscription_id
            """
    else:
        sql = f"""
            SELECT {KEYLINE}, e.copies, {address_of("r")} {_FROM}
            JOIN subscribers AS r
                ON r.account_id = :account_id AND r.subscriber_id = s.subscriber_id
            JOIN subscription_issues AS d ON d.account_id = :account_id
                AND d.issue_id = :issue_id AND d.subscription_id = {RECEIVED_BY}
            LEFT JOIN addresses AS a
                ON a.account_id = :account_id AND a.address_id = d.address_id
            {_OF_LIST} AND e.type IN {PRINTED_TYPES}
            ORDER BY coalesce(a.country_name, ''), coalesce(a.zip_code, ''), e.subscription_id
            """
    values = {"account_id": reading.account_id, "mailing_list_id": written.mailing_list_id}
    if not digital:
        values["issue_id"] = written.issue_id
    return reading.connection.stream(sql, **values)
