"""The ``date_expired`` of many subscriptions (circulation, "Expiry").

``circulation.expiry_dates`` has the rule. The database counts at which issue each subscription
ends, and the rule gives the date of each such issue, of which there are few. Only subscriptions
with a suspension ahead, a later beginning, or more issues missed than left are computed one by one.
"""

import datetime as dt
from itertools import islice
from typing import NamedTuple

from masthead.circulation.expiry_dates import Calendar, Range, day_before_next, with_issues_left
from masthead.store.books.operation import Operation, Reading
from masthead.store.key_lists import KeyLists

_MISSED, _ENDS, _DATES, _ALONE = "books_missed", "books_ends", "books_dates", "books_alone"
_LAST = "books_last"
_COMING, _RECEIVED, _BEGINS = "coming", "received", "begins"
"""The kinds of ends. With issues left, the value is the place of the first issue that the
subscription will not get among those that are not closed. Without, it is the date of the last
issue that it received, or the day on which it would have begun, as a number: 20270131."""

_DAY = dt.timedelta(days=1)


class _Issue(NamedTuple):
    """An issue of a publication; ``date`` is ``YYYY-MM-DD``."""

    date: str
    is_closed: bool
    has_list: bool
    issues_per_year: int

    @property
    def day(self) -> dt.date:
        return dt.date.fromisoformat(self.date)


class _End(NamedTuple):
    """Where subscriptions end (the constants say what ``kind`` is, and ``value`` of each)."""

    kind: str
    value: int


class _Alone(NamedTuple):
    """A subscription with issues left whose date is computed by itself."""

    subscription_id: int
    issues_left: int
    begins_on: str


class _Away(NamedTuple):
    """A suspension with an end."""

    subscription_id: int
    from_date: str
    to_date: str


class _Dated(NamedTuple):
    """A day that belongs to a subscription."""

    subscription_id: int
    date: str


def calendar_of(books: Reading, publication_id: int) -> Calendar:
    """Return the dates of a publication's issues."""
    issues = books.rows_as(
        _Issue,
        """
        SELECT i.date, i.closed_at IS NOT NULL, i.mailing_list_id IS NOT NULL, p.issues_per_year
        FROM publications AS p JOIN issues AS i
            ON i.account_id = :account_id AND i.publication_id = p.publication_id
        WHERE p.account_id = :account_id AND p.publication_id = :publication_id
            AND i.date IS NOT NULL
        ORDER BY i.date, i.issue_id
        """,
        publication_id=publication_id,
    )
    return Calendar(
        listed=[each.day for each in issues if each.is_closed and each.has_list],
        coming=[each.day for each in issues if not each.is_closed],
        issues_per_year=issues[0].issues_per_year if issues else 1,
        earlier=[each.day for each in issues if each.is_closed and not each.has_list],
    )


def write_expiry_dates(books: Operation, lists: KeyLists, keys: str) -> None:
    """Write ``date_expired`` of subscriptions that differ; ``keys`` has each ``key`` once.

    A subscription whose date is not known keeps its date (``circulation.expiry_dates``).
    """
    books.change(
        f"""
        UPDATE subscriptions SET date_expired = NULL, commit_id = :commit_id
        WHERE account_id = :account_id AND issues < 0 AND date_expired IS NOT NULL
            AND subscription_id IN (SELECT k.key FROM {keys} AS k)
            AND subscription_id NOT IN (SELECT c.subscription_id FROM cancellations AS c
                WHERE c.account_id = :account_id AND c.ended_on IS NULL
                    AND c.after_issue_id IS NOT NULL)
        """,
        commit_id=books.commit_id,
    )
    publications = books.column_as(
        int,
        f"""
        SELECT DISTINCT s.publication_id FROM {keys} AS k JOIN subscriptions AS s
            ON s.account_id = :account_id AND s.subscription_id = k.key
        ORDER BY s.publication_id
        """,
    )
    for publication_id in publications:
        calendar = calendar_of(books, publication_id)
        if calendar.dates:
            _ExpiryDates(books, lists, keys, publication_id, calendar).run()


class _ExpiryDates:
    """The expiry dates of subscriptions of one publication."""

    def __init__(
        self,
        books: Operation,
        lists: KeyLists,
        keys: str,
        publication_id: int,
        calendar: Calendar,
    ) -> None:
        self._books = books
        self._lists = lists
        self._calendar = calendar
        self._first = f"{next(calendar.after_closed(), dt.date.max)}"
        self._publication_id = publication_id
        self._source = f"""
            FROM {keys} AS k JOIN subscriptions AS s
                ON s.account_id = :account_id AND s.subscription_id = k.key
            """
        self._of_publication = "s.publication_id = :publication_id"
        self._has_last = False

    def run(self) -> None:
        """Count, look up the dates, and write them."""
        self._has_last = self._keep_last() > 0
        missed = self._keep_missed() if self._calendar.listed else 0
        of_list = f"""(SELECT count(*) FROM {self._lists.keys_in(_MISSED)} AS m
            WHERE m.key = s.subscription_id)"""
        count = of_list if missed else "0"
        alone = f"""(s.begins_on > '{self._first}' OR s.issues < {count} OR EXISTS (
            SELECT 1 FROM suspensions AS a WHERE a.account_id = :account_id
            AND a.subscription_id = s.subscription_id AND a.to_date >= '{self._first}'))"""
        self._lists.keep(
            _ENDS,
            f"""
            SELECT s.subscription_id AS key, s.issues - {count} AS other, '{_COMING}' AS kind
            {self._source}
            WHERE {self._of_publication} AND s.issues > 0 AND s.begins_on IS NOT NULL
                AND NOT {alone}
            UNION ALL
            SELECT e.key,
                CAST(replace(coalesce(e.received, e.begins_on), '-', '') AS BIGINT) AS other,
                CASE WHEN e.received IS NOT NULL THEN '{_RECEIVED}' ELSE '{_BEGINS}' END AS kind
            FROM (
                SELECT s.subscription_id AS key, s.begins_on, (
                    SELECT max(i.date) FROM subscription_issues AS r JOIN issues AS i
                        ON i.account_id = :account_id AND i.issue_id = r.issue_id
                    WHERE r.account_id = :account_id AND r.subscription_id = s.subscription_id
                        AND i.publication_id = :publication_id) AS received
                {self._source} WHERE {self._of_publication} AND s.issues = 0
            ) AS e
            WHERE e.received IS NOT NULL OR e.begins_on IS NOT NULL
            """,
            ("key", "other", "kind"),
            publication_id=self._publication_id,
        )
        self._write_ends()
        self._write_alone(alone)
        if self._has_last:
            self._write(
                f"""SELECT l.key, l.text FROM {self._lists.keys_in(_LAST)} AS l
                JOIN subscriptions AS s ON s.account_id = :account_id
                    AND s.subscription_id = l.key AND s.issues < 0"""
            )
        self._lists.drop(_MISSED, _ENDS, _DATES, _ALONE, _LAST)

    def _keep_last(self) -> int:
        """Store the last days of subscriptions that were cancelled after an issue."""
        found = self._books.rows_as(
            _Dated,
            f"""
            SELECT s.subscription_id, i.date {self._source}
            JOIN cancellations AS c ON c.account_id = :account_id
                AND c.subscription_id = s.subscription_id AND c.ended_on IS NULL
            JOIN issues AS i ON i.account_id = :account_id AND i.issue_id = c.after_issue_id
            WHERE {self._of_publication}
            """,
            publication_id=self._publication_id,
        )
        days = {
            day: day_before_next(self._calendar, dt.date.fromisoformat(day))
            for day in {each.date for each in found}
        }
        rows = [(each.subscription_id, f"{days[each.date]}") for each in found]
        self._lists.keep_rows(_LAST, ("key", "text"), rows)
        return len(found)

    def _keep_missed(self) -> int:
        """Store the closed issues that a gap list would bring; return their number."""
        return self._lists.keep(
            _MISSED,
            f"""
            SELECT s.subscription_id AS key, i.date AS text {self._source}
            JOIN issues AS i ON i.account_id = :account_id
                AND i.publication_id = s.publication_id AND i.closed_at IS NOT NULL
                AND i.mailing_list_id IS NOT NULL AND i.date >= s.begins_on
            WHERE {self._of_publication} AND s.issues > 0
                AND NOT EXISTS (
                    SELECT 1 FROM subscription_issues AS r WHERE r.account_id = :account_id
                    AND r.subscription_id = s.subscription_id AND r.issue_id = i.issue_id)
                AND NOT EXISTS (
                    SELECT 1 FROM suspensions AS a WHERE a.account_id = :account_id
                    AND a.subscription_id = s.subscription_id AND a.from_date <= i.date
                    AND (a.to_date IS NULL OR a.to_date >= i.date))
            """,
            ("key", "text"),
            publication_id=self._publication_id,
        )

    def _write_ends(self) -> None:
        """Write the date that belongs to each subscription's end."""
        ends = self._books.rows_as(
            _End, f"SELECT DISTINCT e.kind, e.other FROM {self._lists.keys_in(_ENDS)} AS e"
        )
        dates = [(each.value, each.kind, self._date_of(each)) for each in ends]
        self._lists.keep_rows(_DATES, ("key", "kind", "text"), dates)
        self._write(
            f"""SELECT e.key, d.text FROM {self._lists.keys_in(_ENDS)} AS e
            JOIN {self._lists.keys_in(_DATES)} AS d ON d.key = e.other AND d.kind = e.kind"""
        )

    def _date_of(self, end: _End) -> str:
        if end.kind == _COMING:
            coming = next(islice(self._calendar.after_closed(), end.value, None), None)
            return f"{coming - _DAY if coming else dt.date.max}"
        day = dt.date.fromisoformat(f"{end.value:08}")
        return f"{day_before_next(self._calendar, day - _DAY if end.kind == _BEGINS else day)}"

    def _write_alone(self, alone: str) -> None:
        """Compute subscriptions one by one, such as those with a suspension ahead."""
        found = self._books.rows_as(
            _Alone,
            f"""
            SELECT s.subscription_id, s.issues, s.begins_on {self._source}
            WHERE {self._of_publication} AND s.issues > 0 AND s.begins_on IS NOT NULL AND {alone}
            ORDER BY s.subscription_id
            """,
            publication_id=self._publication_id,
        )
        if not found:
            return
        self._lists.keep_rows(_ALONE, ("key",), [(each.subscription_id,) for each in found])
        missed: dict[int, list[dt.date]] = {}
        for one in self._books.rows_as(
            _Dated,
            f"""SELECT m.key, m.text FROM {self._lists.keys_in(_ALONE)} AS l
            JOIN {self._lists.keys_in(_MISSED)} AS m ON m.key = l.key ORDER BY m.key, m.text""",
        ):
            missed.setdefault(one.subscription_id, []).append(dt.date.fromisoformat(one.date))
        away: dict[int, list[Range]] = {}
        for key, *days in self._books.rows_as(
            _Away,
            f"""SELECT l.key, a.from_date, a.to_date FROM {self._lists.keys_in(_ALONE)} AS l
            JOIN suspensions AS a ON a.account_id = :account_id AND a.subscription_id = l.key
            WHERE a.to_date IS NOT NULL ORDER BY l.key, a.from_date""",
        ):
            away.setdefault(key, []).append(Range(*map(dt.date.fromisoformat, days)))
        rows = [
            (
                each.subscription_id,
                with_issues_left(
                    self._calendar,
                    each.issues_left,
                    dt.date.fromisoformat(each.begins_on),
                    missed.get(each.subscription_id, ()),
                    away.get(each.subscription_id, ()),
                ),
            )
            for each in found
        ]
        self._lists.keep_rows(_ALONE, ("key", "text"), [(key, f"{day}") for key, day in rows])
        self._write(f"SELECT l.key, l.text FROM {self._lists.keys_in(_ALONE)} AS l")

    def _write(self, found: str) -> None:
        if self._has_last:
            found = f"""SELECT w.key, CASE WHEN l.text < w.text THEN l.text ELSE w.text END AS text
                FROM ({found}) AS w
                LEFT JOIN {self._lists.keys_in(_LAST)} AS l ON l.key = w.key"""
        self._books.change(
            f"""
            UPDATE subscriptions AS s SET date_expired = f.text, commit_id = :commit_id
            FROM ({found}) AS f
            WHERE s.account_id = :account_id AND s.subscription_id = f.key
                AND s.date_expired IS DISTINCT FROM f.text
            """,
            commit_id=self._books.commit_id,
        )
