"""What a line of an ordered bundle does: it begins a subscription or extends one, by a term.

Every look-up is by an index (circulation, "Order", "First issue", "Late renewal"). The class is
used in an operation (``store.books.operation``).
"""

from collections.abc import Sequence
from typing import NamedTuple

from masthead.circulation.beginning import begins_on
from masthead.circulation.classes import COMPLIMENTARY, PAID
from masthead.circulation.ordering import (
    UNLIMITED,
    RefusedOrder,
    covered,
    grace_since,
    kind_of,
)
from masthead.store.books.ids import next_ids
from masthead.store.books.offering import Line, Offer
from masthead.store.books.operation import Operation
from masthead.store.books.people import Resolved
from masthead.store.database import Value

__all__ = ["Lines", "insert"]


class _Publication(NamedTuple):
    late_start: str
    grace_counts: int
    unlimited_term_months: int
    newest_closed: str | None
    first_planned: str | None


class _Subscription(NamedTuple):
    """A subscription that an item goes to; ``is_own`` if this order began it."""

    subscription_id: int
    mailing_address_id: int | None
    begins_on: str | None
    is_own: bool


class Lines:
    """The lines of one order: two of the same reader, publication and type are one subscription."""

    def __init__(self, books: Operation, payer: Resolved) -> None:
        self._books = books
        self._payer = payer
        self._account = books.account_id
        self._own: dict[tuple[int, int, str], _Subscription] = {}
        """The subscriptions of this order, by recipient, publication and type."""

    @property
    def subscriptions(self) -> tuple[int, ...]:
        """The subscriptions that the order began or extended, each once."""
        return tuple(dict.fromkeys(each.subscription_id for each in self._own.values()))

    def first_day(self, number: int, offer: Offer) -> tuple[int, str] | None:
        """Return publication and date of the issue with which the item is to begin, if any."""
        issue_id = offer.item.first_issue
        if issue_id is None:
            return None
        row = self._books.connection.row(
            """
            SELECT publication_id, date, closed_at IS NOT NULL AND mailing_list_id IS NULL
            FROM issues
            WHERE account_id = :account_id AND issue_id = :issue_id
            """,
            account_id=self._account,
            issue_id=issue_id,
        )
        if row is None or row[1] is None:
            raise RefusedOrder(
                "first_issue",
                f"account {self._account} has no issue {issue_id}: `masthead catalogue issue list` "
                "lists them",
                number,
            )
        publication_id, day, never_comes = row
        if publication_id not in {line.publication_id for line in offer.lines}:
            raise RefusedOrder(
                "first_issue",
                f"issue {issue_id} is one of publication {publication_id}, of which bundle "
                f"{offer.item.bundle_id} gives nothing",
                number,
            )
        if never_comes:
            raise RefusedOrder(
                "first_issue",
                f"issue {issue_id} was closed without a mailing list, so that it comes to nobody",
                number,
            )
        newest = self._publication(publication_id).newest_closed
        if newest is not None and day < newest:
            raise RefusedOrder(
                "first_issue",
                f"issue {issue_id} is of {day}, before {newest}: the newest closed issue is the "
                "earliest with which a subscription can begin",
                number,
            )
        return publication_id, day

    def add_term(
        self,
        number: int,
        item_id: int,
        purchase_id: int | None,
        offer: Offer,
        line: Line,
        recipient: Resolved,
        first_day: tuple[int, str] | None,
    ) -> int | None:
        """Begin or extend a subscription by a line; return its mailing address."""
        publication = self._publication(line.publication_id)
        first = first_day[1] if first_day and first_day[0] == line.publication_id else None
        key = recipient.subscriber_id, line.publication_id, line.type
        found = self._own.get(key)
        if found is None and not offer.item.is_new:
            found = self._newest(key)
        grace: Sequence[int] = ()
        if found is None:
            found = self._begin(line, recipient, publication, first)
        elif found.is_own:
            _, grace = self._state(number, found, publication, line)
        else:
            has_left, grace = self._state(number, found, publication, line)
            if has_left and first is not None:
                raise RefusedOrder(
                    "first_issue",
                    f"subscription {found.subscription_id} has issues left, so that no first issue "
                    "can be chosen; a new subscription beside it can (--new)",
                    number,
                )
            begins = found.begins_on
            if not has_left:
                begins = first or begins_on(
                    publication.late_start,
                    publication.newest_closed,
                    publication.first_planned,
                    self._books.today,
                )
                begins = max(begins, found.begins_on or begins)
            found = self._renew(found, recipient, begins)
        self._own[key] = found
        self._set_purchase(found, offer, purchase_id)
        term_id = self._next("terms")
        insert(
            self._books,
            "terms",
            term_id=term_id,
            subscription_id=found.subscription_id,
            order_item_id=item_id,
            issues=line.issues,
            issues_left=UNLIMITED if line.issues < 0 else line.issues - len(grace),
            copies=line.copies,
            price=line.price,
            kind=kind_of(line.price),
            **{"class": PAID if line.price else offer.item.of_class or COMPLIMENTARY},
            months=line.months or publication.unlimited_term_months if line.issues < 0 else None,
        )
        for issue_id in grace:
            self._books.connection.change(
                """
                UPDATE subscription_issues SET term_id = :term_id
                WHERE account_id = :account_id AND subscription_id = :subscription_id
                    AND issue_id = :issue_id
                """,
                account_id=self._account,
                subscription_id=found.subscription_id,
                issue_id=issue_id,
                term_id=term_id,
            )
        return found.mailing_address_id

    def _newest(self, key: tuple[int, int, str]) -> _Subscription | None:
        """Return the recipient's newest subscription of a publication and type, if there is one."""
        # Without ORDER BY and LIMIT, for which a planner might read the subscriptions of all.
        rows = self._books.connection.rows(
            """
            SELECT subscription_id, mailing_address_id, begins_on FROM subscriptions
            WHERE account_id = :account_id AND subscriber_id = :subscriber_id
                AND publication_id = :publication_id AND type = :type AND cancelled_on IS NULL
            """,
            account_id=self._account,
            subscriber_id=key[0],
            publication_id=key[1],
            type=key[2],
        )
        if not rows:
            return None
        subscription_id, mailing_address_id, begins = max(rows)
        return _Subscription(subscription_id, mailing_address_id, begins, is_own=False)

    def _state(
        self, number: int, found: _Subscription, publication: _Publication, line: Line
    ) -> tuple[bool, Sequence[int]]:
        """Return whether issues are left, and if none, the grace issues that the line covers.

        Raises RefusedOrder where issues are unlimited: a term behind that one is never used.
        """
        which = {"account_id": self._account, "subscription_id": found.subscription_id}
        ((least,),) = self._books.connection.rows(
            """
            SELECT min(issues_left) FROM terms WHERE account_id = :account_id
                AND subscription_id = :subscription_id AND issues_left <> 0
            """,
            **which,
        )
        if least == UNLIMITED:
            raise RefusedOrder(
                "bundle_id",
                f"subscription {found.subscription_id} is unlimited, so that nothing of this order "
                "would ever come; a new subscription beside it can (--new; in a file, true in the "
                "column new)",
                number,
            )
        if least is not None or not publication.grace_counts:
            return least is not None, ()
        rows = self._books.connection.rows(
            """
            SELECT i.date, r.issue_id, r.is_grace, r.term_id FROM subscription_issues AS r
            JOIN issues AS i ON i.account_id = r.account_id AND i.issue_id = r.issue_id
            WHERE r.account_id = :account_id AND r.subscription_id = :subscription_id
            """,
            **which,
        )
        regular = [day for day, _, is_grace, term_id in rows if not is_grace or term_id is not None]
        grace = [(day, issue) for day, issue, is_grace, term_id in rows if is_grace and not term_id]
        return False, covered(line.issues, grace_since(regular, grace))

    def _begin(
        self, line: Line, recipient: Resolved, publication: _Publication, first: str | None
    ) -> _Subscription:
        subscription_id = self._next("subscriptions")
        begins = first or begins_on(
            publication.late_start,
            publication.newest_closed,
            publication.first_planned,
            self._books.today,
        )
        insert(
            self._books,
            "subscriptions",
            subscription_id=subscription_id,
            subscriber_id=recipient.subscriber_id,
            publication_id=line.publication_id,
            mailing_address_id=recipient.address_id,
            billing_address_id=self._payer.address_id,
            issues=0,
            copies=line.copies,
            type=line.type,
            date_created=self._books.today,
            renew_campaign_active=1,
            begins_on=begins,
            commit_id=self._books.commit_id,
        )
        return _Subscription(subscription_id, recipient.address_id, begins, is_own=True)

    def _renew(
        self, found: _Subscription, recipient: Resolved, begins: str | None
    ) -> _Subscription:
        """Note an extension; addresses change only where the order names them.

        Whose newest term was refunded had left the campaign, and takes part in it again.
        """
        mailing = recipient.named_address_id
        if mailing is None:
            mailing = found.mailing_address_id
        self._books.connection.change(
            """
            UPDATE subscriptions SET date_last_renewed = :today, begins_on = :begins,
                mailing_address_id = :mailing,
                billing_address_id = coalesce(:billing, billing_address_id),
                renew_campaign_active = CASE WHEN EXISTS (
                    SELECT 1 FROM terms AS t WHERE t.account_id = :account_id
                    AND t.subscription_id = :subscription_id AND t.ended_at IS NOT NULL
                    AND t.term_id = (
                        SELECT max(n.term_id) FROM terms AS n WHERE n.account_id = :account_id
                        AND n.subscription_id = :subscription_id))
                    THEN 1 ELSE renew_campaign_active END,
                commit_id = :commit_id
            WHERE account_id = :account_id AND subscription_id = :subscription_id
            """,
            account_id=self._account,
            subscription_id=found.subscription_id,
            today=self._books.today,
            begins=begins,
            mailing=mailing,
            billing=self._payer.named_address_id,
            commit_id=self._books.commit_id,
        )
        return _Subscription(found.subscription_id, mailing, begins, is_own=True)

    def _set_purchase(self, found: _Subscription, offer: Offer, purchase_id: int | None) -> None:
        self._books.connection.change(
            """
            UPDATE subscriptions SET last_purchase_bundle_id = :bundle_id,
                last_purchase_id = :purchase_id
            WHERE account_id = :account_id AND subscription_id = :subscription_id
            """,
            account_id=self._account,
            subscription_id=found.subscription_id,
            bundle_id=offer.item.bundle_id,
            purchase_id=purchase_id,
        )

    def _publication(self, publication_id: int) -> _Publication:
        (row,) = self._books.connection.rows(
            """
            SELECT p.late_start, p.grace_counts, p.unlimited_term_months,
                (SELECT max(i.date) FROM issues AS i WHERE i.account_id = :account_id
                    AND i.publication_id = :publication_id AND i.closed_at IS NOT NULL),
                (SELECT min(i.date) FROM issues AS i WHERE i.account_id = :account_id
                    AND i.publication_id = :publication_id AND i.closed_at IS NULL)
            FROM publications AS p
            WHERE p.account_id = :account_id AND p.publication_id = :publication_id
            """,
            account_id=self._account,
            publication_id=publication_id,
        )
        return _Publication(*row)

    def _next(self, table: str) -> int:
        return next_ids(self._books.connection, self._account, table)


def insert(books: Operation, table: str, **values: Value) -> None:
    """Insert a row of the account."""
    values = {"account_id": books.account_id, **values}
    books.connection.change(
        f"INSERT INTO {table} ({', '.join(values)}) VALUES (:{', :'.join(values)})", **values
    )
