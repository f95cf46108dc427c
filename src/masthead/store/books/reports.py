"""What the reports count: statements that sum in the database, one row for each group.

Rules: circulation, "Reports". Each reads one snapshot, which the caller opens, as of the end of a
day. Values shown beside the counts (classification, name of a publication) are current.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from masthead.circulation.copy_classes import COMPLIMENTARY, GRACE, PAID
from masthead.circulation.efforts import EffortResult
from masthead.circulation.liability import Booked
from masthead.circulation.press_run import Moves, Served
from masthead.errors import NotFound
from masthead.store.books.operation import Reading, check_mode
from masthead.store.books.order_keys import RECEIVED_BY, listed
from masthead.store.database import Store, Value

SENT_TO = f"""
    LEFT JOIN subscription_issues AS r
        ON r.account_id = :account_id AND r.issue_id = :issue_id
        AND r.subscription_id = {RECEIVED_BY}
    LEFT JOIN addresses AS a ON a.account_id = :account_id AND a.address_id = r.address_id
    """
"""The address ``a`` to which a list's entry ``e``, whose subscription is ``s``, was sent."""

COUNTRY = "coalesce(nullif(a.country_name, ''), a.country_abbreviation)"
"""The country of an address."""

_EVER = "9999-12-31"


@contextmanager
def counting(store: Store, account_id: int, *, reader_id: int | None = None) -> Iterator[Reading]:
    """Read whole tables within the block, from one snapshot; no writer waits for it.

    The database may hash and sort here, while statements of requests follow an index.
    Raises NotFound if there is no such account, MastheadError if it is not in mode ``here``.
    """
    with store.writer() as connection:
        connection.set_tenant(account_id)
        if reader_id is not None:
            connection.set_reader(reader_id)
        with connection.read_snapshot():
            check_mode(connection, account_id, "here")
            yield Reading(store, connection, account_id)


class CountedList(NamedTuple):
    """A list of an issue, whether it is a gap list (1 or 0), and its number of entries."""

    mailing_list_id: int
    is_gap: int
    entries: int


class _Issue(NamedTuple):
    """An issue with the names in full; ``main_list`` is -1 if it has none."""

    issue_id: int
    publication_id: int
    publication: str
    name: str
    date: str
    main_list: int


class IssueLists(NamedTuple):
    """An issue and its lists; ``name`` is that of the publication and the issue.

    ``lists`` has the main list and its gap lists that were made by the day.
    """

    issue_id: int
    publication_id: int
    name: str
    date: str
    lists: list[CountedList]

    @property
    def ids(self) -> tuple[int, ...]:
        """The ids of the lists."""
        return tuple(each.mailing_list_id for each in self.lists)


def lists_of(reading: Reading, issue_id: int, day: str) -> tuple[IssueLists, IssueLists | None]:
    """Return an issue with its lists until a day, and the issue before it with its own.

    The issue before is the closed one of the same publication with the next earlier date, or None.
    Raises NotFound if there is no such issue, or it had no list on that day.
    """
    found = _issue(reading, "i.issue_id = :issue_id", day, issue_id=issue_id)
    if found is None:
        raise NotFound(
            f"account {reading.account_id} has no issue {issue_id}", code="unknown_issue"
        )
    if not found.lists:
        raise NotFound(
            f"{found.name} had no mailing list on {day}: close the issue first",
            code="no_mailing_list",
            issue=issue_id,
        )
    before = _issue(
        reading,
        """
        i.publication_id = :publication_id AND i.closed_at IS NOT NULL
        AND (i.date < :date OR (i.date = :date AND i.issue_id < :issue_id))
        """,
        day,
        publication_id=found.publication_id,
        date=found.date,
        issue_id=issue_id,
    )
    return found, before


def _issue(reading: Reading, condition: str, day: str, **values: Value) -> IssueLists | None:
    """Return the newest issue that matches a condition, with its lists until a day."""
    found = reading.row_as(
        _Issue,
        f"""
        SELECT i.issue_id, i.publication_id, coalesce(p.name, ''), coalesce(i.name, ''),
            coalesce(i.date, ''), coalesce(i.mailing_list_id, -1)
        FROM issues AS i
        JOIN publications AS p
            ON p.account_id = i.account_id AND p.publication_id = i.publication_id
        WHERE i.account_id = :account_id AND {condition}
        ORDER BY i.date DESC, i.issue_id DESC LIMIT 1
        """,
        **values,
    )
    if found is None:
        return None
    lists = reading.rows_as(
        CountedList,
        """
        SELECT mailing_list_id, is_gap, coalesce(count, 0) FROM list_downloads
        WHERE account_id = :account_id AND substr(date_created, 1, 10) <= :day
            AND (mailing_list_id = :main_list OR parent_mailing_list_id = :main_list)
        ORDER BY mailing_list_id
        """,
        day=day,
        main_list=found.main_list,
    )
    name = f"{found.publication} {found.name}".strip()
    return IssueLists(found.issue_id, found.publication_id, name, found.date, lists)


def copies_on(ids: Iterable[int]) -> str:
    """Return the query of the copies on some lists, each with its class.

    Free copies beside others are rows of their own, which count no subscription (``is_counted``).
    """
    return f"""
        SELECT account_id, mailing_list_id, subscription_id, type, 1 AS is_counted,
            coalesce(copies, 0) - free_copies AS copies,
            coalesce(class, CASE WHEN is_grace = 1 THEN '{GRACE}'
                WHEN is_paid = 1 THEN '{PAID}' ELSE '{COMPLIMENTARY}' END) AS class,
            qualification_id
        FROM mailing_list_entries
        WHERE account_id = :account_id AND mailing_list_id IN ({listed(ids)})
        UNION ALL
        SELECT account_id, mailing_list_id, subscription_id, type, 0, free_copies,
            coalesce(free_class, '{COMPLIMENTARY}'), NULL
        FROM mailing_list_entries
        WHERE account_id = :account_id AND mailing_list_id IN ({listed(ids)})
            AND free_copies > 0
        """


def served(reading: Reading, issue: IssueLists) -> list[Served]:
    """Return the entries of an issue's lists, grouped by the values that reports use.

    Country and state are those of the address to which the issue was sent. A list that was loaded
    from a file has no classes: its copies are grace, paid or complimentary.
    """
    return reading.rows_as(
        Served,
        f"""
        SELECT coalesce(e.type, ''), e.class, s.audit_classification, s.audit_request_type,
            {COUNTRY}, a.state,
            CAST(sum(e.is_counted) AS BIGINT), CAST(sum(e.copies) AS BIGINT)
        FROM ({copies_on(issue.ids)}) AS e
        JOIN subscriptions AS s
            ON s.account_id = :account_id AND s.subscription_id = e.subscription_id
        {SENT_TO}
        GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 3, 4, 5, 6
        """,
        issue_id=issue.issue_id,
    )


def moves(reading: Reading, issue: IssueLists, before: IssueLists | None) -> Moves:
    """Return what differs between the lists of an issue and those of the issue before."""
    now = f"e.mailing_list_id IN ({listed(issue.ids)})"
    then = f"e.mailing_list_id IN ({listed(before.ids if before else ())})"
    ((*counts,),) = reading.rows(
        f"""
        SELECT sum(was), sum(before), sum(CASE WHEN was = 0 THEN 1 ELSE 0 END),
            sum(CASE WHEN copies > before THEN copies - before ELSE 0 END),
            sum(CASE WHEN is_now = 0 THEN 1 ELSE 0 END),
            sum(CASE WHEN copies < before THEN before - copies ELSE 0 END)
        FROM (
            SELECT e.subscription_id,
                max(CASE WHEN {now} THEN 1 ELSE 0 END) AS is_now,
                max(CASE WHEN {then} THEN 1 ELSE 0 END) AS was,
                sum(CASE WHEN {now} THEN coalesce(e.copies, 0) ELSE 0 END) AS copies,
                sum(CASE WHEN {then} THEN coalesce(e.copies, 0) ELSE 0 END) AS before
            FROM mailing_list_entries AS e
            WHERE e.account_id = :account_id AND ({now} OR {then})
            GROUP BY e.subscription_id) AS compared
        """,
    )
    numbers = [int(count or 0) for count in counts]
    return Moves((numbers[0], numbers[1]), (numbers[2], numbers[3]), (numbers[4], numbers[5]))


def booked(reading: Reading, day: str | None, publication_id: int | None = None) -> list[Booked]:
    """Return what was booked until a day, by publication, month and kind; None: everything.

    Earned revenue of an issue belongs to the issue's publication, so only other revenue is looked
    up by its term. The plus keeps SQLite from an index by issue: the index by day has all columns,
    in the order of the groups.
    """
    only = "" if publication_id is None else "AND b.publication_id = :publication_id"
    return reading.rows_as(
        Booked,
        f"""
        SELECT p.publication_id, coalesce(p.name, ''), b.month, b.kind,
            CAST(sum(b.cents) AS BIGINT)
        FROM (
            SELECT i.publication_id, r.month, r.kind, r.cents
            FROM (
                SELECT issue_id, substr(booked_on, 1, 7) AS month, kind, sum(cents) AS cents
                FROM revenue
                WHERE account_id = :account_id AND booked_on <= :day AND +issue_id IS NOT NULL
                GROUP BY account_id, booked_on, issue_id, kind) AS r
            JOIN issues AS i ON i.account_id = :account_id AND i.issue_id = r.issue_id
            UNION ALL
            SELECT s.publication_id, substr(r.booked_on, 1, 7), r.kind, sum(r.cents)
            FROM revenue AS r
            JOIN terms AS t ON t.account_id = r.account_id AND t.term_id = r.term_id
            JOIN subscriptions AS s
                ON s.account_id = t.account_id AND s.subscription_id = t.subscription_id
            WHERE r.account_id = :account_id AND r.issue_id IS NULL AND r.booked_on <= :day
            GROUP BY 1, 2, 3) AS b
        JOIN publications AS p
            ON p.account_id = :account_id AND p.publication_id = b.publication_id
        WHERE TRUE {only}
        GROUP BY 1, 2, 3, 4 ORDER BY 1, 3, 4
        """,
        day=day or _EVER,
        **({} if publication_id is None else {"publication_id": publication_id}),
    )


def efforts(reading: Reading, day: str) -> list[EffortResult]:
    """Return the letters of each effort until a day, and what happened to them until then.

    A renewal is an order's term that is newer than the term of the letter, unless it ended before
    any issue came from it. It counts for the last letter for that term.
    """
    return reading.rows_as(
        EffortResult,
        """
        SELECT coalesce(p.name, ''), w.effort, g.issues_left, CAST(sum(w.sent) AS BIGINT),
            CAST(sum(w.renewed) AS BIGINT), CAST(sum(w.went_on) AS BIGINT)
        FROM (
            SELECT publication_id, effort, 1 AS sent,
                CASE WHEN is_last = 1 AND is_renewed = 1 THEN 1 ELSE 0 END AS renewed,
                1 - is_last AS went_on
            FROM (
                SELECT s.publication_id, n.effort,
                    CASE WHEN EXISTS (
                        SELECT 1 FROM renewals_sent AS m
                        WHERE m.account_id = n.account_id
                            AND m.subscription_id = n.subscription_id
                            AND m.term_id = n.term_id AND m.effort > n.effort
                            AND m.sent_on <= :day) THEN 0 ELSE 1 END AS is_last,
                    CASE WHEN EXISTS (
                        SELECT 1 FROM terms AS t
                        JOIN order_items AS x
                            ON x.account_id = t.account_id AND x.order_item_id = t.order_item_id
                        JOIN orders AS o ON o.account_id = x.account_id AND o.order_id = x.order_id
                        WHERE t.account_id = n.account_id
                            AND t.subscription_id = n.subscription_id AND t.term_id > n.term_id
                            AND substr(o.order_date, 1, 10) <= :day
                            AND (t.ended_at IS NULL OR substr(t.ended_at, 1, 10) > :day
                                OR EXISTS (SELECT 1 FROM subscription_issues AS d
                                    WHERE d.account_id = t.account_id
                                        AND d.subscription_id = t.subscription_id
                                        AND d.term_id = t.term_id))) THEN 1 ELSE 0 END AS is_renewed
                FROM renewals_sent AS n
                JOIN subscriptions AS s
                    ON s.account_id = n.account_id AND s.subscription_id = n.subscription_id
                WHERE n.account_id = :account_id AND n.sent_on <= :day) AS letters
            UNION ALL
            SELECT publication_id, effort, 0, 0, 0 FROM renewal_efforts
            WHERE account_id = :account_id) AS w
        JOIN publications AS p
            ON p.account_id = :account_id AND p.publication_id = w.publication_id
        LEFT JOIN renewal_efforts AS g
            ON g.account_id = :account_id AND g.publication_id = w.publication_id
            AND g.effort = w.effort
        GROUP BY p.name, w.publication_id, w.effort, g.issues_left
        ORDER BY w.publication_id, w.effort
        """,
        day=day,
    )
