"""Closing an issue, and gap lists: who gets it, on which list, out of which term.

Each step is one statement for all subscriptions (circulation, "What must hold").
"""

from datetime import date, timedelta
from itertools import islice
from typing import NamedTuple

from masthead.circulation import copy_classes
from masthead.contract.printable import counted
from masthead.errors import BadInput
from masthead.store.books.derived_values import add_kinds, write_balances
from masthead.store.books.earning import earn_by_deliveries, earn_by_months
from masthead.store.books.held import Held
from masthead.store.books.ids import next_ids
from masthead.store.books.issue import Issue, issues_of
from masthead.store.books.operation import Operation, Reading
from masthead.store.books.qualified_copies import LAPSED_WITH, ON_THE_DAY, note_lapses
from masthead.store.books.served_subscriptions import Grace, PressRunPart, Serving
from masthead.store.books.stored_expiry_dates import GOES_ON, calendar_of, write_expiry_dates
from masthead.store.key_lists import KeyLists

_CHANGED, _DATES = "books_changed", "books_simple"


class MailingList(NamedTuple):
    """A list of an issue that closing or a gap list made, or would make.

    ``mailing_list_id`` is None for a gap list without entries, which is not stored. ``lapsed``
    readers get no copies any more since their qualification had ended before the issue.
    """

    issue_id: int
    is_gap: bool
    mailing_list_id: int | None
    name: str
    entries: int
    press_run: list[PressRunPart]
    held: list[Held]
    lapsed: int = 0

    @property
    def sentence(self) -> str:
        """What the operation made."""
        issue = f"issue {self.issue_id} ({self.name})"
        held = f"{len(self.held):,} held"
        if self.mailing_list_id is None:
            return f"no reader is to get {issue} now, so no list was made: {held}"
        has = f"{counted(self.entries, 'entry', 'entries')}, {held}"
        if self.is_gap:
            return f"gap list {self.mailing_list_id} of {issue} was made: {has}"
        if self.lapsed:
            has += f", {counted(self.lapsed, 'qualification')} lapsed"
        return f"{issue} was closed with list {self.mailing_list_id}: {has}"


def deliver(
    books: Operation, issue: Issue, grace: Grace, *, parent: int | None = None
) -> MailingList:
    """Deliver an issue with a new list, and write all that follows except the expiry dates.

    ``parent`` is the main list of a gap list.
    """
    return _Delivery(books, issue, grace, parent=parent).run()


def check_open(books: Reading, issue: Issue) -> None:
    """Raise BadInput unless the issue is the next one of its publication to close."""
    if issue.closed_at:
        which = f"with list {issue.mailing_list_id}" if issue.mailing_list_id else "without a list"
        raise BadInput(f"{issue.title} is closed already, {which}: nothing was changed")
    for other in issues_of(books, issue.publication_id):
        if other.issue_id == issue.issue_id:
            return
        if not other.closed_at and other.date:
            raise BadInput(
                f"{issue.title} cannot be closed before {other.title}: issues close in the order "
                "of their dates"
            )


class _Delivery:
    """The delivery of an issue with one list; ``parent`` is the main list of a gap list."""

    def __init__(self, books: Operation, issue: Issue, grace: Grace, *, parent: int | None) -> None:
        self._books = books
        self._issue = issue
        self._grace = grace
        self._parent = parent
        self._list_id = next_ids(books.connection, books.account_id, "list_downloads")

    def run(self) -> MailingList:
        """Deliver the issue, and write all that follows except the expiry dates."""
        if self._books.connection.dialect == "sqlite":
            # The rows of a large list are spread over their tables and indexes.
            self._books.connection.script("PRAGMA main.cache_size = -32768")
        self._add_list()
        if self._parent is None:
            self._note_closing()
        serving = Serving(self._books, self._issue, self._grace)
        count = serving.deliver(self._list_id)
        held = serving.held(self._list_id)
        name = self._issue.list_name
        if not count and self._parent is not None:
            self._books.change(
                """DELETE FROM list_downloads
                WHERE account_id = :account_id AND mailing_list_id = :mailing_list_id""",
                mailing_list_id=self._list_id,
            )
            return MailingList(self._issue.issue_id, True, None, name, 0, [], held)
        lapsed = self._note_lapses() if self._parent is None else 0
        self._add_entries()
        if serving.out_of_terms:
            self._use_up_terms()
            earn_by_deliveries(self._books, self._issue, self._list_id)
        earn_by_months(self._books, self._issue)
        self._books.change(
            """UPDATE list_downloads SET count = :count
            WHERE account_id = :account_id AND mailing_list_id = :mailing_list_id""",
            mailing_list_id=self._list_id,
            count=count,
        )
        write_balances(
            self._books,
            """(SELECT e.subscription_id AS key FROM mailing_list_entries AS e
            WHERE e.account_id = :account_id AND e.mailing_list_id = :mailing_list_id
                AND e.qualification_id IS NULL)""",
            mailing_list_id=self._list_id,
        )
        add_kinds(self._books, self._issue.publication_id)
        return MailingList(
            self._issue.issue_id,
            self._parent is not None,
            self._list_id,
            name,
            count,
            self._press_run(),
            held,
            lapsed,
        )

    def _note_lapses(self) -> int:
        """Note which qualifications have ended, and take their issues away; return the number."""
        lapsed = note_lapses(self._books, self._issue, self._list_id)
        write_balances(self._books, f"({LAPSED_WITH})", mailing_list_id=self._list_id)
        return lapsed

    def _add_list(self) -> None:
        self._books.change(
            """
            INSERT INTO list_downloads (account_id, mailing_list_id, name, status, count, is_gap,
                grace_from_date, grace_issues, parent_mailing_list_id, date_created, commit_id)
            VALUES (:account_id, :mailing_list_id, :name, 'Complete', 0, :is_gap, :since,
                :grace_issues, :parent, :created, :commit_id)
            """,
            mailing_list_id=self._list_id,
            name=self._issue.list_name,
            is_gap=int(self._parent is not None),
            since=self._grace.since,
            grace_issues=self._grace.issues,
            parent=self._parent,
            created=self._books.now,
            commit_id=self._books.commit_id,
        )

    def _note_closing(self) -> None:
        self._books.change(
            """
            UPDATE issues SET closed_at = :now, mailing_list_id = :mailing_list_id
            WHERE account_id = :account_id AND issue_id = :issue_id
            """,
            mailing_list_id=self._list_id,
            issue_id=self._issue.issue_id,
            now=self._books.now,
        )

    def _add_entries(self) -> None:
        self._books.change(
            f"""
            INSERT INTO mailing_list_entries (
                account_id, mailing_list_id, subscription_id, copies, is_grace, is_paid, type,
                class, free_copies, free_class, qualification_id)
            SELECT d.account_id, d.mailing_list_id, d.subscription_id,
                coalesce(t.copies + t.free_copies, s.copies), d.is_grace,
                CASE WHEN t.paid_on IS NOT NULL THEN 1 ELSE 0 END, s.type,
                CASE WHEN q.qualification_id IS NOT NULL THEN '{copy_classes.QUALIFIED}'
                    WHEN t.term_id IS NULL THEN '{copy_classes.GRACE}'
                    WHEN t.price > 0 AND t.paid_on IS NULL THEN '{copy_classes.UNPAID}'
                    ELSE t.class END,
                coalesce(t.free_copies, 0), t.free_class, {ON_THE_DAY}
            FROM subscription_issues AS d JOIN subscriptions AS s
                ON s.account_id = :account_id AND s.subscription_id = d.subscription_id
            LEFT JOIN terms AS t ON t.account_id = :account_id AND t.term_id = d.term_id
            LEFT JOIN qualified_subscriptions AS q ON q.account_id = :account_id
                AND q.subscription_id = d.subscription_id
                AND d.term_id IS NULL AND d.is_grace = 0
            WHERE d.account_id = :account_id AND d.mailing_list_id = :mailing_list_id
            ORDER BY d.subscription_id
            """,
            mailing_list_id=self._list_id,
            day=self._issue.date,
        )

    def _use_up_terms(self) -> None:
        """Take an issue off each term; an unlimited one begins with its earliest delivered issue.

        An unlimited opening term begins when the books are opened.
        """
        self._books.change(
            """
            UPDATE terms AS t SET
                issues_left = CASE WHEN t.issues_left > 0 THEN t.issues_left - 1
                    ELSE t.issues_left END,
                starts_on = CASE WHEN t.issues_left < 0 THEN :day ELSE t.starts_on END
            FROM subscription_issues AS d
            WHERE d.account_id = :account_id AND d.mailing_list_id = :mailing_list_id
                AND t.account_id = :account_id AND t.term_id = d.term_id
                AND (t.issues_left > 0 OR t.starts_on IS NULL
                    OR (t.starts_on > :day AND t.kind <> 'opening'))
            """,
            mailing_list_id=self._list_id,
            day=self._issue.date,
        )

    def _press_run(self) -> list[PressRunPart]:
        if self._books.connection.dialect == "sqlite":
            # Sorting takes as much again, while the held subscriptions are in memory.
            self._books.connection.script("PRAGMA main.cache_size = -8192")
        return self._books.rows_as(
            PressRunPart,
            """
            SELECT type, is_grace, is_paid, count(*), CAST(coalesce(sum(copies), 0) AS BIGINT),
                CAST(coalesce(sum(free_copies), 0) AS BIGINT), is_qualified
            FROM (
                SELECT type, is_grace, is_paid, copies, free_copies,
                    CASE WHEN qualification_id IS NULL THEN 0 ELSE 1 END AS is_qualified
                FROM mailing_list_entries
                WHERE account_id = :account_id AND mailing_list_id = :mailing_list_id) AS e
            GROUP BY type, is_grace, is_paid, is_qualified
            ORDER BY type, is_grace, is_paid, is_qualified
            """,
            mailing_list_id=self._list_id,
        )


def write_expiry_of_gap_list(books: Operation, made: MailingList) -> None:
    """Recompute the expiry dates of the subscriptions on a gap list."""
    lists = KeyLists(books.connection, books.account_id, books.commit_id)
    lists.keep(
        _CHANGED,
        """SELECT e.subscription_id AS key FROM mailing_list_entries AS e
        WHERE e.account_id = :account_id AND e.mailing_list_id = :mailing_list_id""",
        ("key",),
        mailing_list_id=made.mailing_list_id,
    )
    write_expiry_dates(books, lists, lists.keys_in(_CHANGED))
    lists.drop(_CHANGED)


def write_expiry_after_closing(books: Operation, issue: Issue, made: MailingList) -> None:
    """Update the ``date_expired`` values that the closing has changed.

    Each subscription has one issue fewer left, and one fewer issue is coming, so most dates stay
    the same: the date for this number of issues left, without suspensions and missed issues. The
    date is computed again only for subscriptions that have another one, whose open suspension
    skipped this issue, or that pay and are qualified: after the last paid issue it is the last day
    of the qualification.
    """
    calendar = calendar_of(books, issue.publication_id)
    kinds = books.column_as(
        int,
        """
        SELECT DISTINCT issues FROM subscription_kinds
        WHERE account_id = :account_id AND publication_id = :publication_id AND issues >= 0
        ORDER BY issues
        """,
        publication_id=issue.publication_id,
    )
    dates = []
    last = kinds[-1] if kinds else -1
    coming = list(islice(calendar.after_closed(), last + 1))
    for left in kinds:
        day = coming[left] - timedelta(days=1) if left < len(coming) else date.max
        dates.append((left, f"{day}"))
    lists = KeyLists(books.connection, books.account_id, books.commit_id)
    lists.keep_rows(_DATES, ("key", "text"), dates)
    lists.keep(
        _CHANGED,
        f"""
        SELECT e.subscription_id AS key
        FROM mailing_list_entries AS e JOIN subscriptions AS s
            ON s.account_id = :account_id AND s.subscription_id = e.subscription_id
        JOIN {lists.keys_in(_DATES)} AS n ON n.key = s.issues
        WHERE e.account_id = :account_id AND e.mailing_list_id = :mailing_list_id
            AND s.date_expired IS DISTINCT FROM n.text
        UNION
        SELECT e.subscription_id FROM mailing_list_entries AS e JOIN qualified_subscriptions AS q
            ON q.account_id = :account_id AND q.subscription_id = e.subscription_id
        WHERE e.account_id = :account_id AND e.mailing_list_id = :mailing_list_id
            AND e.qualification_id IS NULL AND {GOES_ON}
        UNION
        SELECT a.subscription_id FROM suspensions AS a JOIN subscriptions AS s
            ON s.account_id = :account_id AND s.subscription_id = a.subscription_id
        WHERE a.account_id = :account_id AND a.to_date IS NULL AND a.from_date <= :day
            AND s.publication_id = :publication_id
        UNION
        {LAPSED_WITH}
        """,
        ("key",),
        mailing_list_id=made.mailing_list_id,
        publication_id=issue.publication_id,
        day=issue.date,
    )
    write_expiry_dates(books, lists, lists.keys_in(_CHANGED))
    lists.drop(_CHANGED, _DATES)
