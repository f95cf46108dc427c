"""Who gets an issue, as SQL for all subscriptions at once (circulation, "Close").

``tests/circulation/test_closing.py`` compares it with the rule for one reader.
"""

from collections.abc import Collection
from typing import NamedTuple

from masthead.store.books.held import DELETED, NO_ADDRESS, PASSED_OVER, UNPAID, Held
from masthead.store.books.issue import Issue
from masthead.store.books.operation import Reading
from masthead.store.books.qualified_copies import QualifiedCopies
from masthead.store.books.serving_sql import (
    COLUMNS,
    ENTRY,
    FORMS,
    GRACE_SINCE,
    HAS_A_TERM,
    HAS_NOT_GOT_IT,
    HAS_NOWHERE_TO_GO,
    HAS_OLDER_TERM,
    IS_UNPAID,
    LAST_REGULAR,
    NOT_PAID,
    NOT_SUSPENDED,
    OF_PUBLICATION,
    OLDEST_ON_CREDIT,
    OLDEST_TERM,
    WAS_QUALIFIED,
    WAS_REFUNDED,
    has_paid,
)


class Grace(NamedTuple):
    """How many grace issues to deliver to subscriptions whose last issue was since a day."""

    issues: int = 0
    since: str | None = None


class PressRunPart(NamedTuple):
    """A part of the press run: the number of entries of a kind, and their copies.

    ``free_copies`` of these are free and come beside copies that a term pays for. ``is_qualified``
    is 1 for copies that go out by a qualification.
    """

    type: str
    is_grace: int
    is_paid: int
    entries: int
    copies: int
    free_copies: int
    is_qualified: int = 0

    @property
    def kind(self) -> str:
        """What kind of copies they are, in words."""
        if self.is_qualified:
            return "qualified"
        return "grace" if self.is_grace else "paid" if self.is_paid else "free or not paid"


def names_of(reading: Reading, subscribers: Collection[int]) -> dict[int, str]:
    """Return the names of some subscribers by their ids; those without a name are left out."""
    if not subscribers:
        return {}
    found = reading.rows_as(
        tuple[int, str],
        f"""
        SELECT subscriber_id, trim(coalesce(first_name, '') || ' ' || coalesce(last_name, ''))
        FROM subscribers WHERE account_id = :account_id
            AND subscriber_id IN ({", ".join(str(int(each)) for each in subscribers)})
        """,
    )
    return {key: name for key, name in found if name}


class Serving:
    """The queries about one issue.

    All of them have ``c`` with the subscription's columns, ``address_id`` (in force on the issue's
    date) and ``term_id``, and include subscriptions that cannot be served.
    """

    def __init__(self, books: Reading, issue: Issue, grace: Grace) -> None:
        self._books = books
        self._issue = issue
        self._grace = grace
        self._values: dict[str, int | str | None] = {
            "publication_id": issue.publication_id,
            "issue_id": issue.issue_id,
            "day": issue.date,
            "credit": issue.credit_issues,
            "since": grace.since,
        }
        forms = FORMS[books.direct.dialect]
        has_temporary = self._has_any("temporary_addresses")
        self._address = forms.address if has_temporary else "s.mailing_address_id"
        self._of_publication = f"{OF_PUBLICATION} AND {forms.is_not_deleted}"
        conditions = [NOT_SUSPENDED] if self._has_any("suspensions") else []
        conditions += [HAS_NOT_GOT_IT] if self._has_been_delivered() else []
        self._conditions = "".join(f" AND {each}" for each in conditions)
        self._qualified = QualifiedCopies(
            books, issue, self._values, address=self._address, conditions=self._conditions
        )
        self.out_of_terms = 0
        """How many copies :meth:`deliver` gave out of terms."""
        self._has_term = f" AND {HAS_A_TERM}" if self._qualified.are_there else ""

    def _due(self, conditions: str) -> str:
        """Return the FROM item of those with issues left; ``t`` is the oldest term."""
        return f"""
            (SELECT {COLUMNS}, {OLDEST_TERM} AS term_id, {self._address} AS address_id
            {self._of_publication} AND s.issues <> 0 AND s.begins_on <= :day
                {self._has_term}{conditions}) AS c
            JOIN terms AS t ON t.account_id = :account_id AND t.term_id = c.term_id
            """

    def _passing(self, conditions: str) -> str:
        """Return the FROM item of those whose term ``t`` is delivered before an unpaid one."""
        return f"""
            (SELECT {COLUMNS}, {OLDEST_ON_CREDIT} AS term_id, {self._address} AS address_id
            {self._of_publication} AND s.issues <> 0 AND s.begins_on <= :day{conditions}
                AND s.subscription_id IN ({NOT_PAID}) AND {has_paid("s")}) AS c
            JOIN terms AS t ON t.account_id = :account_id AND t.term_id = c.term_id
            """

    def _in_grace(self, conditions: str) -> str:
        """Return the FROM item, with a WHERE, of those without issues left who get grace."""
        # No subscription ends before the last issue that came out of a term.
        return f"""
            (SELECT {COLUMNS}, {self._address} AS address_id, {LAST_REGULAR} AS last_regular
            {self._of_publication} AND s.issues = 0 AND s.renew_campaign_active = 1
                AND s.date_expired >= :since{conditions}) AS c
            WHERE c.last_regular >= :since AND c.last_regular < :day
                AND {GRACE_SINCE} < {self._grace.issues:d} AND NOT {WAS_REFUNDED}
                AND NOT {WAS_QUALIFIED}
            """

    def _has_any(self, table: str) -> bool:
        """Return whether any row of ranges includes the issue's date; often none does."""
        return bool(
            self._books.row(
                f"""
                SELECT 1 FROM {table} WHERE account_id = :account_id AND from_date <= :day
                    AND (to_date IS NULL OR to_date >= :day) LIMIT 1
                """,
                day=self._issue.date,
            )
        )

    def _has_been_delivered(self) -> bool:
        return bool(
            self._books.row(
                """
                SELECT 1 FROM subscription_issues
                WHERE account_id = :account_id AND issue_id = :issue_id LIMIT 1
                """,
                issue_id=self._issue.issue_id,
            )
        )

    def deliver(self, mailing_list_id: int) -> int:
        """Add a list's deliveries, out of the oldest terms and of grace; return their number.

        A term that is not paid and beyond its credit is passed over if a later one is paid.
        Subscriptions that cannot be served get nothing.
        """
        columns = """account_id, subscription_id, issue_id, mailing_list_id, term_id, is_grace,
            address_id"""
        delivered = self._books.change(
            f"""
            INSERT INTO subscription_issues ({columns})
            SELECT c.account_id, c.subscription_id, :issue_id, :mailing_list_id, t.term_id, 0,
                c.address_id
            FROM {self._due(self._conditions)}
            WHERE NOT {IS_UNPAID} AND {HAS_NOWHERE_TO_GO} IS NOT TRUE
            ORDER BY c.subscription_id
            """,
            **self._values,
            mailing_list_id=mailing_list_id,
        )
        new = self._with_what_is_new()
        delivered += self._books.change(
            f"""
            INSERT INTO subscription_issues ({columns})
            SELECT c.account_id, c.subscription_id, :issue_id, :mailing_list_id, t.term_id, 0,
                c.address_id
            FROM {self._passing(new)}
            WHERE {HAS_NOWHERE_TO_GO} IS NOT TRUE
            ORDER BY c.subscription_id
            """,
            **self._values,
            mailing_list_id=mailing_list_id,
        )
        self.out_of_terms = delivered
        delivered += self._qualified.deliver(mailing_list_id)
        if self._grace.issues:
            delivered += self._books.change(
                f"""
                INSERT INTO subscription_issues ({columns})
                SELECT c.account_id, c.subscription_id, :issue_id, :mailing_list_id, NULL, 1,
                    c.address_id
                FROM {self._in_grace(self._conditions)}
                    AND {HAS_NOWHERE_TO_GO} IS NOT TRUE
                ORDER BY c.subscription_id
                """,
                **self._values,
                mailing_list_id=mailing_list_id,
            )
        return delivered

    def held(self, mailing_list_id: int) -> list[Held]:
        """Return the subscriptions that would be served but were not, or had a term passed over.

        Call it after the delivery, before ``issues_left`` changes.
        """
        new = self._with_what_is_new()
        found = self._books.rows_as(
            Held,
            f"""
            SELECT c.subscription_id, c.subscriber_id,
                CASE WHEN {IS_UNPAID} AND NOT {has_paid("c")} THEN '{UNPAID}'
                    ELSE '{NO_ADDRESS}' END
            FROM {self._due(new)} ORDER BY c.subscription_id
            """,
            **self._values,
        )
        if self._grace.issues:
            found += self._books.rows_as(
                Held,
                f"""
                SELECT c.subscription_id, c.subscriber_id, '{NO_ADDRESS}'
                FROM {self._in_grace(new)}
                ORDER BY c.subscription_id
                """,
                **self._values,
            )
        found += self._deleted(new)
        found += self._qualified.held()
        found += self._books.rows_as(
            Held,
            f"""
            SELECT DISTINCT d.subscription_id, s.subscriber_id, '{PASSED_OVER}'
            FROM terms AS t CROSS JOIN subscription_issues AS d
            JOIN subscriptions AS s
                ON s.account_id = :account_id AND s.subscription_id = t.subscription_id
            WHERE d.account_id = :account_id AND d.subscription_id = t.subscription_id
                AND t.account_id = :account_id AND t.price > 0 AND t.paid_on IS NULL
                AND t.issues_left <> 0 AND d.issue_id = :issue_id
                AND d.mailing_list_id = :mailing_list_id AND t.term_id < d.term_id
                AND {IS_UNPAID}
            """,
            issue_id=self._issue.issue_id,
            credit=self._issue.credit_issues,
            mailing_list_id=mailing_list_id,
        )
        return sorted(found)

    def press_run(self) -> list[PressRunPart]:
        """Return what :meth:`deliver` would deliver, and change nothing."""
        can_be_served = f"{HAS_NOWHERE_TO_GO} IS NOT TRUE"
        parts = [
            f"""SELECT {ENTRY} FROM {self._due(self._conditions)}
            WHERE NOT {IS_UNPAID} AND {can_be_served}""",
            f"""SELECT {ENTRY} FROM {self._passing(self._conditions)}
            WHERE {HAS_OLDER_TERM} AND {can_be_served}""",
        ]
        if self._qualified.are_there:
            parts.append(f"""SELECT c.type, 0, 0, coalesce(c.copies, 0), 0, 1
            FROM {self._qualified.would_get()}""")
        if self._grace.issues:
            parts.append(f"""SELECT c.type, 1, 0, coalesce(c.copies, 0), 0, 0
            FROM {self._in_grace(self._conditions)} AND {can_be_served}""")
        return self._books.rows_as(
            PressRunPart,
            f"""
            SELECT e.type, e.is_grace, e.is_paid, count(*),
                CAST(coalesce(sum(e.copies), 0) AS BIGINT),
                CAST(coalesce(sum(e.free_copies), 0) AS BIGINT), e.is_qualified
            FROM ({" UNION ALL ".join(parts)}) AS e
            GROUP BY e.type, e.is_grace, e.is_paid, e.is_qualified
            ORDER BY e.type, e.is_grace, e.is_paid, e.is_qualified
            """,
            **self._values,
        )

    def would_hold(self) -> list[Held]:
        """Return what :meth:`held` would return after :meth:`deliver`, and change nothing."""
        nowhere = f"{HAS_NOWHERE_TO_GO} IS TRUE"
        not_qualified = "TRUE"
        if self._qualified.are_there:
            not_qualified = f"""(h.why <> '{UNPAID}' OR h.subscription_id NOT IN (
                SELECT c.subscription_id FROM {self._qualified.would_get()}))"""
        found = self._books.rows_as(
            Held,
            f"""
            SELECT h.subscription_id, h.subscriber_id, h.why FROM (
                SELECT c.subscription_id, c.subscriber_id,
                    CASE WHEN {IS_UNPAID} AND NOT {has_paid("c")} THEN '{UNPAID}'
                        WHEN {nowhere} THEN '{NO_ADDRESS}'
                        WHEN {IS_UNPAID} THEN '{PASSED_OVER}' END AS why
                FROM {self._due(self._conditions)}) AS h
            WHERE h.why IS NOT NULL AND {not_qualified}
            """,
            **self._values,
        )
        if self._grace.issues:
            found += self._books.rows_as(
                Held,
                f"""
                SELECT c.subscription_id, c.subscriber_id, '{NO_ADDRESS}'
                FROM {self._in_grace(self._conditions)} AND {nowhere}
                """,
                **self._values,
            )
        found += self._qualified.would_hold()
        return sorted(found + self._deleted(self._conditions))

    def _deleted(self, conditions: str) -> list[Held]:
        return self._books.rows_as(
            Held,
            f"""
            SELECT s.subscription_id, s.subscriber_id, '{DELETED}'
            FROM subscribers AS r JOIN subscriptions AS s
                ON s.account_id = :account_id AND s.subscriber_id = r.subscriber_id
            WHERE r.account_id = :account_id AND r.delete_date IS NOT NULL
                AND s.publication_id = :publication_id AND s.cancelled_on IS NULL
                AND s.issues <> 0 AND s.begins_on <= :day{conditions}
                AND {OLDEST_TERM} IS NOT NULL
            """,
            **self._values,
        )

    def _with_what_is_new(self) -> str:
        """Return the conditions, and that the subscription has not got the issue yet."""
        if HAS_NOT_GOT_IT in self._conditions:
            return self._conditions
        return f" AND {HAS_NOT_GOT_IT}{self._conditions}"
