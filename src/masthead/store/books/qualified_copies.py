"""Who gets an issue by a qualification, as SQL for all subscriptions (qualification, "Served").

Who pays comes first: a subscription that gets the issue out of a term gets no qualified copy. The
quota of an audit class is a ceiling on the copies of an issue, of all its lists together.
"""

from collections.abc import Mapping
from typing import cast

from masthead.store.books.held import NO_ADDRESS, OVER_QUOTA, Held
from masthead.store.books.issue import Issue
from masthead.store.books.operation import Operation, Reading
from masthead.store.books.order_keys import listed
from masthead.store.books.serving_sql import (
    FORMS,
    HAS_NOT_GOT_IT,
    HAS_NOWHERE_TO_GO,
    IS_UNPAID,
    OLDEST_TERM,
    has_paid,
)
from masthead.store.books.stored_expiry_dates import GOES_ON, NOT_TO_END
from masthead.store.database import Value

CLASS_NOW = "coalesce(n.new_class_id, n.audit_class_id)"
"""The audit class of the qualification ``n`` by the rules of now; later answers do not matter."""

QUALIFICATION_OF_ENTRY = """
    LEFT JOIN qualifications AS n
        ON n.account_id = :account_id AND n.qualification_id = e.qualification_id
    """
"""The qualification by which the copy of a list's entry went out."""

ON_THE_DAY = """
    CASE WHEN q.qualified_on <= :day THEN q.qualification_id
        ELSE (SELECT o.qualification_id FROM qualifications AS o
            WHERE o.account_id = :account_id AND o.subscription_id = q.subscription_id
                AND o.qualified_on <= :day
            ORDER BY o.qualified_on DESC, o.qualification_id DESC LIMIT 1) END
    """
"""The qualification of ``qualified_subscriptions AS q`` that counts on a day: the newest until
then (decisions, "The qualification on the date of an issue"). Few have a newer one."""

_NEWEST = "qualified_subscriptions AS q"
_ONE_BEFORE = f"""
    (SELECT n.account_id, n.publication_id, n.subscription_id, x.audit_class_id,
        x.position AS class_position, t.position AS request_position, n.qualified_on,
        n.valid_until, CASE WHEN n.disqualified = 0 THEN x.served ELSE 0 END AS served
    FROM qualified_subscriptions AS q
    JOIN qualifications AS n
        ON n.account_id = :account_id AND n.qualification_id = ({ON_THE_DAY})
    JOIN audit_classes AS x ON x.account_id = :account_id AND x.audit_class_id = {CLASS_NOW}
    LEFT JOIN request_types AS t ON t.account_id = :account_id AND t.code = n.request_type
    WHERE q.account_id = :account_id AND q.publication_id = :publication_id
        AND q.qualified_on > :day) AS q
    """
"""The one that counts on the day, of those whose newest one is later."""

_IS_NOT_AMONG_THEM = """
    q.subscription_id NOT IN (
        SELECT g.subscription_id FROM subscription_issues AS g
        WHERE g.account_id = :account_id AND g.issue_id = :issue_id)
    """
"""``HAS_NOT_GOT_IT``, for the transaction that has just delivered the issue. PostgreSQL has no
statistics of the new rows yet: it would answer NOT EXISTS by a nested loop over all of them, and
answers NOT IN by a hash table."""

_HAS_NO_TERM = f"({OLDEST_TERM}) IS NULL"
_OUT_OF_A_TERM = f"""
    ({has_paid("s")} OR EXISTS (SELECT 1 FROM terms AS t
        WHERE t.account_id = :account_id AND t.term_id = {OLDEST_TERM} AND NOT {IS_UNPAID}))
    """
_FIRST = {
    "newest": "c.qualified_on DESC",
    "class": "c.class_position, c.qualified_on DESC",
    "request": "c.request_position, c.qualified_on DESC",
}
"""Who gets the copies of a class that has a quota, by the rule of the form."""


_OF_COPY = "c.account_id, c.subscription_id, c.type, c.copies, c.address_id"


class QualifiedCopies:
    """The qualified copies of one issue.

    ``values`` are the parameters of the issue's statements, ``address`` the SQL of the address in
    force on its date, and ``conditions`` what holds for everybody (``Serving``).
    """

    def __init__(
        self,
        books: Reading,
        issue: Issue,
        values: Mapping[str, Value],
        *,
        address: str,
        conditions: str,
    ) -> None:
        self._books = books
        self._issue = issue
        self._values = values
        self._address = address
        self._conditions = conditions
        self._forms = FORMS[books.direct.dialect]
        self.are_there = bool(
            books.row(
                """
                SELECT 1 FROM qualified_subscriptions
                WHERE account_id = :account_id AND publication_id = :publication_id LIMIT 1
                """,
                publication_id=issue.publication_id,
            )
        )
        self._sources = [_NEWEST]
        if self.are_there and self._are_some_later():
            self._sources.append(_ONE_BEFORE)
        self._goes_on = f" AND {NOT_TO_END}" if self.are_there and self._are_some_to_end() else ""
        self._room = self._room_of_classes() if self.are_there else {}
        self._order = _FIRST[self._filled_by()] if self._room else ""

    def deliver(self, mailing_list_id: int) -> int:
        """Add the qualified copies of a list, after those out of terms; return their number."""
        if not self.are_there:
            return 0
        return self._books.change(
            f"""
            INSERT INTO subscription_issues (account_id, subscription_id, issue_id,
                mailing_list_id, term_id, is_grace, address_id)
            SELECT c.account_id, c.subscription_id, :issue_id, :mailing_list_id, NULL, 0,
                c.address_id
            FROM {self._within_quota(self._not_delivered())}
            ORDER BY c.subscription_id
            """,
            **self._values,
            mailing_list_id=mailing_list_id,
        )

    def would_get(self) -> str:
        """Return the FROM item ``c`` of those whom :meth:`deliver` would give the issue."""
        return self._within_quota(f" AND NOT {_OUT_OF_A_TERM}")

    def held(self) -> list[Held]:
        """Return who qualifies and got nothing; call it after the delivery.

        A subscription with issues left is not among them: it is held for its terms.
        """
        if not self.are_there:
            return []
        return self._held(f"{self._not_delivered()} AND {_HAS_NO_TERM}")

    def would_hold(self) -> list[Held]:
        """Return what :meth:`held` would return after :meth:`deliver`, and change nothing."""
        if not self.are_there:
            return []
        held = f"{HAS_NOWHERE_TO_GO} IS TRUE"
        if self._room:
            held += f""" OR c.subscription_id NOT IN (
                SELECT c.subscription_id FROM {self.would_get()})"""
        return self._held(f" AND {_HAS_NO_TERM}", held)

    def _held(self, more: str, held: str = "TRUE") -> list[Held]:
        names = dict(
            self._books.rows_as(
                tuple[int, str],
                """
                SELECT audit_class_id, coalesce(name, code) FROM audit_classes
                WHERE account_id = :account_id AND publication_id = :publication_id
                """,
                publication_id=self._issue.publication_id,
            )
        )
        # Many can be over a quota: the reasons are few, and stored once.
        reasons = {key: f"{OVER_QUOTA} {name}" for key, name in names.items()}
        rows = self._books.connection.stream(
            f"""
            SELECT c.subscription_id, c.subscriber_id,
                CASE WHEN {HAS_NOWHERE_TO_GO} THEN NULL ELSE c.audit_class_id END
            FROM {self._qualified(more)} AS c
            WHERE {held}
            """,
            account_id=self._books.account_id,
            **self._values,
        )
        return [
            Held(cast("int", key), cast("int", reader), reasons.get(cast("int", why), NO_ADDRESS))
            for key, reader, why in rows
        ]

    def _not_delivered(self) -> str:
        """Return the condition for who has not got the issue, '' if nobody has."""
        is_new = not self._books.row(
            """
            SELECT 1 FROM subscription_issues
            WHERE account_id = :account_id AND issue_id = :issue_id LIMIT 1
            """,
            issue_id=self._issue.issue_id,
        )
        return "" if is_new or HAS_NOT_GOT_IT in self._conditions else f" AND {_IS_NOT_AMONG_THEM}"

    def _qualified(self, more: str) -> str:
        """Return the FROM item of those who are qualified on the issue's date and served.

        SQLite joins in the order of a CROSS JOIN: both tables are read once, by their keys.
        """
        parts = " UNION ALL ".join(
            f"""
            SELECT s.account_id, q.subscription_id, s.subscriber_id, s.type, s.copies,
                {self._address} AS address_id, q.audit_class_id,
                q.class_position, q.request_position, q.qualified_on
            FROM {source} CROSS JOIN subscriptions AS s
            WHERE q.account_id = :account_id AND {self._forms.of_publication}
                AND q.served = 1 AND q.qualified_on <= :day AND q.valid_until >= :day
                AND s.account_id = :account_id AND s.subscription_id = q.subscription_id
                AND s.cancelled_on IS NULL AND {self._forms.is_not_deleted}
                AND s.begins_on <= :day{self._goes_on}{self._conditions}{more}
            """
            for source in self._sources
        )
        return f"({parts})"

    def _within_quota(self, more: str) -> str:
        """Return the FROM item ``c`` of those who can be served, until the quotas are full."""
        if not self._room:
            return f"(SELECT {_OF_COPY} FROM {self._able(more)}) AS c"
        # Only the classes with a quota are sorted.
        keys = listed(self._room)
        free = f"{more} AND coalesce(q.audit_class_id, 0) NOT IN ({keys})"
        full = f"{more} AND q.audit_class_id IN ({keys})"
        rooms = " ".join(
            f"WHEN c.audit_class_id = {key:d} THEN {room:d}" for key, room in self._room.items()
        )
        return f"""
            (SELECT {_OF_COPY} FROM {self._able(free)}
            UNION ALL
            SELECT {_OF_COPY} FROM (
                SELECT {_OF_COPY}, c.audit_class_id, CAST(sum(coalesce(c.copies, 0)) OVER (
                    PARTITION BY c.audit_class_id ORDER BY {self._order}, c.subscription_id
                    ROWS UNBOUNDED PRECEDING) AS BIGINT) AS running
                FROM {self._able(full)}) AS c
            WHERE c.running <= CASE {rooms} END) AS c
            """

    def _able(self, more: str) -> str:
        """Return the FROM item ``c``, with a WHERE, of those who qualify and can be served."""
        return f"{self._qualified(more)} AS c WHERE {HAS_NOWHERE_TO_GO} IS NOT TRUE"

    def _are_some_later(self) -> bool:
        """Return whether a newest qualification is later than the issue; none is to come."""
        return self._issue.date < self._books.today and bool(
            self._books.row(
                f"""
                SELECT 1 FROM qualified_subscriptions AS q WHERE q.account_id = :account_id
                    AND {self._forms.of_publication} AND q.qualified_on > :day LIMIT 1
                """,
                publication_id=self._issue.publication_id,
                day=self._issue.date,
            )
        )

    def _are_some_to_end(self) -> bool:
        """Return whether a subscription is to end with its terms."""
        return bool(
            self._books.row(
                """
                SELECT 1 FROM cancellations
                WHERE account_id = :account_id AND at_end = 1 AND ended_on IS NULL LIMIT 1
                """
            )
        )

    def _filled_by(self) -> str:
        return (
            self._books.value_as(
                str,
                """
            SELECT fills FROM qualification_forms
            WHERE account_id = :account_id AND publication_id = :publication_id
            """,
                publication_id=self._issue.publication_id,
            )
            or "newest"
        )

    def _room_of_classes(self) -> dict[int, int]:
        """Return how many copies each class with a quota can still get of the issue."""
        quotas = dict(
            self._books.rows_as(
                tuple[int, int],
                """
                SELECT audit_class_id, quota FROM audit_classes WHERE account_id = :account_id
                    AND publication_id = :publication_id AND quota IS NOT NULL
                """,
                publication_id=self._issue.publication_id,
            )
        )
        if not quotas or self._issue.mailing_list_id is None:
            return quotas
        delivered = dict(
            self._books.rows_as(
                tuple[int | None, int],
                f"""
                SELECT {CLASS_NOW}, CAST(sum(coalesce(e.copies, 0)) AS BIGINT)
                FROM list_downloads AS l
                JOIN mailing_list_entries AS e
                    ON e.account_id = :account_id AND e.mailing_list_id = l.mailing_list_id
                {QUALIFICATION_OF_ENTRY}
                WHERE l.account_id = :account_id AND e.qualification_id IS NOT NULL
                    AND :main_list IN (l.mailing_list_id, l.parent_mailing_list_id)
                GROUP BY 1
                """,
                main_list=self._issue.mailing_list_id,
            )
        )
        return {key: max(0, quota - delivered.get(key, 0)) for key, quota in quotas.items()}


def would_lapse(reading: Reading, issue: Issue) -> int:
    """Return how many readers get no copies any more since their qualification has ended.

    Those who cancelled, were deleted, or get copies out of a term are not counted.
    """
    return (
        reading.value_as(
            int,
            f"""
        SELECT count(*) FROM qualified_subscriptions AS q
        JOIN subscriptions AS s
            ON s.account_id = :account_id AND s.subscription_id = q.subscription_id
        WHERE q.account_id = :account_id AND q.publication_id = :publication_id
            AND q.valid_until < :day AND {GOES_ON} AND s.cancelled_on IS NULL
            AND NOT EXISTS (SELECT 1 FROM subscribers AS r WHERE r.account_id = :account_id
                AND r.subscriber_id = s.subscriber_id AND r.delete_date IS NOT NULL)
            AND NOT EXISTS (SELECT 1 FROM terms AS t WHERE t.account_id = :account_id
                AND t.subscription_id = s.subscription_id AND t.issues_left <> 0
                AND (t.price = 0 OR t.paid_on IS NOT NULL))
        """,
            publication_id=issue.publication_id,
            day=issue.date,
        )
        or 0
    )


def note_lapses(books: Operation, issue: Issue, mailing_list_id: int) -> int:
    """Note which qualifications ended before an issue that is closed with a list.

    Returns what :func:`would_lapse` returns.
    """
    count = would_lapse(books, issue)
    books.change(
        """
        UPDATE qualified_subscriptions SET lapsed_by = :mailing_list_id
        WHERE account_id = :account_id AND publication_id = :publication_id
            AND valid_until < :day AND lapsed_by IS NULL
        """,
        mailing_list_id=mailing_list_id,
        publication_id=issue.publication_id,
        day=issue.date,
    )
    return count


LAPSED_WITH = """
    SELECT q.subscription_id AS key FROM qualified_subscriptions AS q
    WHERE q.account_id = :account_id AND q.lapsed_by = :mailing_list_id
    """
"""The subscriptions whose qualification lapsed when a list was made."""


def undo_lapses(books: Operation, mailing_list_id: int) -> None:
    """Undo :func:`note_lapses`."""
    books.change(
        """
        UPDATE qualified_subscriptions SET lapsed_by = NULL
        WHERE account_id = :account_id AND lapsed_by = :mailing_list_id
        """,
        mailing_list_id=mailing_list_id,
    )
