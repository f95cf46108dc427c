"""The ``date_expired`` of many subscriptions (circulation, "Expiry").

``circulation.expiry_dates`` has the rule. The database counts at which issue each subscription
ends, and the rule gives the date of each such issue, of which there are few. Only subscriptions
with a suspension ahead, a later beginning, or more issues missed than left are computed one by one.
"""

from datetime import date, timedelta
from itertools import islice

from masthead.circulation.expiry_dates import Calendar, Range, day_before_next, with_issues_left
from masthead.store.books.operation import Operation, Reading
from masthead.store.key_lists import KeyLists

_MISSED, _ENDS, _DATES, _ALONE = "books_missed", "books_ends", "books_dates", "books_alone"
_LAST = "books_last"
_COMING, _RECEIVED, _BEGINS = "coming", "received", "begins"
"""The kinds of ends. ``coming`` has a place among the issues that are not closed: the subscription
will not get that issue. The others have no issues left, and a day as a number (20270131): of the
last issue received, or that on which the subscription would have begun."""

_DAY = timedelta(days=1)

IS_QUALIFIED = "q.served = 1 AND q.lapsed_by IS NULL"
"""Whether the qualification ``q`` of a subscription lets its reader read."""

NOT_TO_END = """NOT EXISTS (SELECT 1 FROM cancellations AS z WHERE z.account_id = :account_id
    AND z.subscription_id = q.subscription_id AND z.at_end = 1 AND z.ended_on IS NULL)"""
GOES_ON = f"{IS_QUALIFIED} AND {NOT_TO_END}"
"""Whether the qualification ``q`` lets the subscription have every issue: not if it was cancelled
at its end (decisions, "Cancelling at the end")."""

_QUALIFIED = f"""qualified_subscriptions AS q ON q.account_id = :account_id
    AND q.subscription_id = s.subscription_id AND {GOES_ON} AND s.cancelled_on IS NULL"""
_OF_TERMS = """(
        SELECT CASE WHEN min(t.issues_left) < 0 THEN -1
            ELSE coalesce(CAST(sum(t.issues_left) AS BIGINT), 0) END
        FROM terms AS t WHERE t.account_id = :account_id
            AND t.subscription_id = s.subscription_id AND t.issues_left <> 0)"""
_LEFT = f"CASE WHEN q.subscription_id IS NULL THEN s.issues ELSE {_OF_TERMS} END"
LEFT_OF_TERMS = f"CASE WHEN s.issues = -1 THEN {_OF_TERMS} ELSE s.issues END"
"""The issues left of the terms of a subscription ``s``: one that is qualified has every issue.

It is -1 for an unlimited term, and 0 for a subscription that goes by its qualification alone."""


def left_of_terms(books: Reading, subscription_id: int) -> int:
    """Return the issues left of the terms of a subscription; -1 is unlimited."""
    found = books.value_as(
        int,
        f"""
        SELECT {LEFT_OF_TERMS} FROM subscriptions AS s
        WHERE s.account_id = :account_id AND s.subscription_id = :subscription_id
        """,
        subscription_id=subscription_id,
    )
    return found or 0


_UNTIL = f"""(SELECT q.valid_until FROM qualified_subscriptions AS q
    WHERE q.account_id = :account_id AND q.subscription_id = subscriptions.subscription_id
        AND {GOES_ON} AND NOT EXISTS (SELECT 1 FROM terms AS t
            WHERE t.account_id = :account_id AND t.issues_left < 0
                AND t.subscription_id = subscriptions.subscription_id))"""
"""The last day of a qualified subscription without issues of terms left; else none is known."""


def calendar_of(books: Reading, publication_id: int) -> Calendar:
    """Return the dates of a publication's issues."""
    issues = books.rows_as(
        tuple[str | None, bool, bool, int],
        """
        SELECT i.date, i.closed_at IS NOT NULL, i.mailing_list_id IS NOT NULL, p.issues_per_year
        FROM publications AS p LEFT JOIN issues AS i
            ON i.account_id = :account_id AND i.publication_id = p.publication_id
                AND i.date IS NOT NULL
        WHERE p.account_id = :account_id AND p.publication_id = :publication_id
        ORDER BY i.date, i.issue_id
        """,
        publication_id=publication_id,
    )
    days = [
        (date.fromisoformat(day), is_closed, has_list)
        for day, is_closed, has_list, _ in issues
        if day is not None
    ]
    return Calendar(
        listed=[day for day, is_closed, has_list in days if is_closed and has_list],
        coming=[day for day, is_closed, _ in days if not is_closed],
        issues_per_year=issues[0][3],
        earlier=[day for day, is_closed, has_list in days if is_closed and not has_list],
    )


def write_expiry_dates(books: Operation, lists: KeyLists, keys: str) -> None:
    """Write ``date_expired`` of subscriptions that differ; ``keys`` has each ``key`` once.

    A subscription whose date is not known keeps its date (``circulation.expiry_dates``). A
    qualified one is served until the last day of its qualification, or until its terms are used
    up if that is later.
    """
    books.change(
        f"""
        UPDATE subscriptions SET date_expired = {_UNTIL}, commit_id = :commit_id
        WHERE account_id = :account_id AND issues < 0 AND date_expired IS DISTINCT FROM {_UNTIL}
            AND subscription_id IN (SELECT k.key FROM {keys} AS k)
            AND subscription_id NOT IN (SELECT c.subscription_id FROM cancellations AS c
                WHERE c.account_id = :account_id AND c.ended_on IS NULL
                    AND c.after_issue_id IS NOT NULL)
            AND NOT EXISTS (SELECT 1 FROM qualified_subscriptions AS q
                JOIN terms AS o ON o.account_id = :account_id
                    AND o.subscription_id = q.subscription_id AND o.issues_left > 0
                WHERE q.account_id = :account_id AND {GOES_ON}
                    AND q.subscription_id = subscriptions.subscription_id)
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
        self._first = f"{next(calendar.after_closed(), date.max)}"
        self._publication_id = publication_id
        self._source = f"""
            FROM (
                SELECT s.subscription_id, s.publication_id, s.begins_on, q.valid_until,
                    {_LEFT} AS issues
                FROM {keys} AS k JOIN subscriptions AS s
                    ON s.account_id = :account_id AND s.subscription_id = k.key
                LEFT JOIN {_QUALIFIED}
                WHERE s.publication_id = {publication_id:d}) AS s
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
                    AND s.valid_until IS NULL
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
            tuple[int, str],
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
            day: day_before_next(self._calendar, date.fromisoformat(day))
            for day in {day for _, day in found}
        }
        self._lists.keep_rows(_LAST, ("key", "text"), [(key, f"{days[day]}") for key, day in found])
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
            tuple[int, str],
            f"SELECT DISTINCT e.other, e.kind FROM {self._lists.keys_in(_ENDS)} AS e",
        )
        dates = [(value, kind, self._date_of(kind, value)) for value, kind in ends]
        self._lists.keep_rows(_DATES, ("key", "kind", "text"), dates)
        self._write(
            f"""SELECT e.key, d.text FROM {self._lists.keys_in(_ENDS)} AS e
            JOIN {self._lists.keys_in(_DATES)} AS d ON d.key = e.other AND d.kind = e.kind"""
        )

    def _date_of(self, kind: str, value: int) -> str:
        if kind == _COMING:
            coming = next(islice(self._calendar.after_closed(), value, None), None)
            return f"{coming - _DAY if coming else date.max}"
        day = date.fromisoformat(f"{value:08}")
        return f"{day_before_next(self._calendar, day - _DAY if kind == _BEGINS else day)}"

    def _write_alone(self, alone: str) -> None:
        """Compute subscriptions one by one, such as those with a suspension ahead."""
        found = self._books.rows_as(
            tuple[int, int, str],
            f"""
            SELECT s.subscription_id, s.issues, s.begins_on {self._source}
            WHERE {self._of_publication} AND s.issues > 0 AND s.begins_on IS NOT NULL AND {alone}
            ORDER BY s.subscription_id
            """,
            publication_id=self._publication_id,
        )
        if not found:
            return
        self._lists.keep_rows(_ALONE, ("key",), [(key,) for key, _, _ in found])
        missed: dict[int, list[date]] = {}
        for key, day in self._books.rows_as(
            tuple[int, str],
            f"""SELECT m.key, m.text FROM {self._lists.keys_in(_ALONE)} AS l
            JOIN {self._lists.keys_in(_MISSED)} AS m ON m.key = l.key ORDER BY m.key, m.text""",
        ):
            missed.setdefault(key, []).append(date.fromisoformat(day))
        away: dict[int, list[Range]] = {}
        for key, *days in self._books.rows_as(
            tuple[int, str, str],
            f"""SELECT l.key, a.from_date, a.to_date FROM {self._lists.keys_in(_ALONE)} AS l
            JOIN suspensions AS a ON a.account_id = :account_id AND a.subscription_id = l.key
            WHERE a.to_date IS NOT NULL ORDER BY l.key, a.from_date""",
        ):
            away.setdefault(key, []).append(Range(*map(date.fromisoformat, days)))
        rows = [
            (
                key,
                with_issues_left(
                    self._calendar,
                    left,
                    date.fromisoformat(begins_on),
                    missed.get(key, ()),
                    away.get(key, ()),
                ),
            )
            for key, left, begins_on in found
        ]
        self._lists.keep_rows(_ALONE, ("key", "text"), [(key, f"{day}") for key, day in rows])
        self._write(f"SELECT l.key, l.text FROM {self._lists.keys_in(_ALONE)} AS l")

    def _write(self, found: str) -> None:
        found = f"""SELECT w.key, CASE WHEN q.valid_until > w.text THEN q.valid_until
                ELSE w.text END AS text
            FROM ({found}) AS w
            JOIN subscriptions AS s ON s.account_id = :account_id AND s.subscription_id = w.key
            LEFT JOIN {_QUALIFIED}"""
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
