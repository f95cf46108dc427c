"""What a line of an ordered bundle does: it begins a subscription or extends one, by a term.

Every look-up uses an index (circulation, "Order", "First issue", "Late renewal"). The class is used
in an operation (``store.books.operation``).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from masthead.circulation.copy_classes import COMPLIMENTARY, PAID
from masthead.circulation.first_day import begins_on
from masthead.circulation.ordering import (
    RefusedOrder,
    covered,
    grace_since,
    kind_of,
)
from masthead.contract.subscription_types import UNLIMITED
from masthead.store.books.catalogue import Line
from masthead.store.books.extendable_subscriptions import (
    Delivery,
    Extendable,
    Named,
    check_named,
    deliveries,
    look_up,
    named,
    running,
)
from masthead.store.books.item_pricing import PricedItem
from masthead.store.books.operation import Operation
from masthead.store.books.order_money import Term
from masthead.store.books.order_people import Resolved

if TYPE_CHECKING:
    from masthead.store.books.pending_rows import Record


class _Publication(NamedTuple):
    late_start: str
    grace_counts: int
    unlimited_term_months: int
    newest_closed: str | None
    first_planned: str | None


class Lines:
    """The lines of one order; the same reader, publication and type share a subscription."""

    def __init__(self, books: Operation, payer: Resolved, *, is_paid: bool) -> None:
        self._books = books
        self._payer = payer
        self._is_paid = is_paid
        self._account = books.account_id
        self._own: dict[tuple[int, int, str, Named | None], Extendable] = {}
        """The subscriptions of this order, by recipient, publication, type and the named one."""
        self._named: dict[int, Named] = {}
        self._begun: list[Extendable] = []
        self.terms: list[Term] = []
        """The terms of this order, as they were before it was paid."""

    @property
    def subscriptions(self) -> tuple[int, ...]:
        """The subscriptions that the order began or extended, each once."""
        return tuple(dict.fromkeys(each.subscription_id for each in self._own.values()))

    def first_day(self, number: int, priced: PricedItem) -> tuple[int, str] | None:
        """Return publication and date of the issue with which the item should begin, if any."""
        issue_id = priced.item.first_issue
        if issue_id is None:
            return None
        row = self._books.direct.row(
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
                f"account {self._account} has no issue {issue_id}",
                number,
                code="not_in_catalogue",
                thing="issue",
            )
        publication_id, day, never_comes = row
        if publication_id not in {line.publication_id for line in priced.lines}:
            raise RefusedOrder(
                "first_issue",
                f"issue {issue_id} is one of publication {publication_id}, of which bundle "
                f"{priced.item.bundle_id} gives nothing",
                number,
            )
        if never_comes:
            raise RefusedOrder(
                "first_issue",
                f"issue {issue_id} was closed without a mailing list, so no reader gets it",
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
        priced: PricedItem,
        line: Line,
        recipient: Resolved,
        first_day: tuple[int, str] | None,
    ) -> int | None:
        """Begin or extend a subscription by a line; return its mailing address."""
        publication = self._publication(line.publication_id)
        first = first_day[1] if first_day and first_day[0] == line.publication_id else None
        wanted = self._named.get(priced.item.subscription_id or 0)
        if wanted is not None and not wanted.is_of(line):
            wanted = None
        key = recipient.subscriber_id, line.publication_id, line.type, wanted
        found = self._own.get(key)
        is_own = found is not None
        if found is None and not priced.item.is_new:
            found = running(self._books, *key)
        grace: Sequence[Delivery] = ()
        if found is None:
            found = self._begin(line, recipient, publication, first)
        else:
            has_left, grace = self._state(number, found, publication, line)
            if not is_own:
                if has_left and first is not None:
                    raise RefusedOrder(
                        "first_issue",
                        f"subscription {found.subscription_id} has issues left, so that no first "
                        "issue can be chosen: begin a new subscription beside it",
                        number,
                        code="needs_new_subscription",
                    )
                if not has_left:
                    begins = first or self._begins_on(publication)
                    found.begins_on = max(begins, found.begins_on or begins)
                self._renew(found, recipient)
        self._own[key] = found
        found.bought |= {
            "last_purchase_bundle_id": priced.item.bundle_id,
            "last_purchase_id": purchase_id,
        }
        term = Term(
            term_id=self._books.new_id("terms"),
            order_item_id=item_id,
            subscription_id=found.subscription_id,
            publication_id=line.publication_id,
            issues=line.issues,
            issues_left=UNLIMITED if line.issues < 0 else line.issues - len(grace),
            price=line.price,
            paid_on=None,
            months=line.months or publication.unlimited_term_months if line.issues < 0 else None,
            starts_on=None,
            ended_at=None,
        )
        self.terms.append(term)
        self._add_term(term, line.copies, priced.item.of_class or COMPLIMENTARY)
        if term.issues_left:
            found.least = min(term.issues_left, found.least or term.issues_left)
        for each in grace:
            each.term_id = term.term_id
            self._books.change_later(
                """
                UPDATE subscription_issues SET term_id = :term_id
                WHERE account_id = :account_id AND subscription_id = :subscription_id
                    AND issue_id = :issue_id
                """,
                subscription_id=found.subscription_id,
                issue_id=each.issue_id,
                term_id=each.term_id,
            )
        return found.mailing_address_id

    def _add_term(self, term: Term, copies: int, free_class: str) -> None:
        self._books.add(
            "terms",
            term_id=term.term_id,
            subscription_id=term.subscription_id,
            order_item_id=term.order_item_id,
            issues=term.issues,
            issues_left=term.issues_left,
            copies=copies,
            price=term.price,
            paid_on=self._books.today if self._is_paid and term.is_due else None,
            kind=kind_of(term.price),
            **{"class": PAID if term.price else free_class},
            months=term.months,
        )

    def write(self) -> None:
        """Write the subscriptions; their terms are already queued."""
        for found in self._own.values():
            self._write(found)

    def check_named(self, number: int, priced: PricedItem, reader: int) -> None:
        """Raise RefusedOrder if the item cannot extend the subscription that it names."""
        if priced.item.subscription_id is not None:
            found = named(self._books, priced.item.subscription_id, number)
            check_named(found, number, priced, reader)
            self._named[priced.item.subscription_id] = found

    def _state(
        self, number: int, found: Extendable, publication: _Publication, line: Line
    ) -> tuple[bool, Sequence[Delivery]]:
        """Return whether issues are left, and if not, the grace issues that the line covers.

        Raises RefusedOrder if issues are unlimited, because a term after those is never used.
        """
        if found.least == UNLIMITED:
            raise RefusedOrder(
                "bundle_id",
                f"subscription {found.subscription_id} is unlimited, so no issue of "
                "this order would ever be delivered: begin a new subscription beside "
                "it",
                number,
                code="needs_new_subscription",
            )
        if found.least is not None or found.row is not None or not publication.grace_counts:
            return found.least is not None, ()
        issues = deliveries(self._books, [found.subscription_id])[found.subscription_id]
        regular = [each.day for each in issues if not each.is_grace or each.term_id is not None]
        grace = {each.issue_id: each for each in issues if each.is_grace and not each.term_id}
        since = grace_since(regular, [(each.day, each.issue_id) for each in grace.values()])
        return False, [grace[issue_id] for issue_id in covered(line.issues, since)]

    def _begin(
        self, line: Line, recipient: Resolved, publication: _Publication, first: str | None
    ) -> Extendable:
        begins = first or self._begins_on(publication)
        row: Record = {
            "subscription_id": self._books.new_id("subscriptions"),
            "subscriber_id": recipient.subscriber_id,
            "publication_id": line.publication_id,
            "mailing_address_id": recipient.address_id,
            "billing_address_id": self._payer.address_id,
            "issues": 0,
            "copies": line.copies,
            "type": line.type,
            "date_created": self._books.today,
            "renew_campaign_active": 1,
            "begins_on": begins,
            "commit_id": self._books.commit_id,
        }
        found = Extendable(
            recipient.subscriber_id,
            int(row["subscription_id"] or 0),
            line.publication_id,
            line.type,
            recipient.address_id,
            begins,
            row=row,
        )
        self._begun.append(found)
        return found

    def _begins_on(self, publication: _Publication) -> str:
        return begins_on(
            publication.late_start,
            publication.newest_closed,
            publication.first_planned,
            self._books.today,
        )

    def _renew(self, found: Extendable, recipient: Resolved) -> None:
        """Note an extension; addresses change only if the order names them.

        A subscription whose newest term was refunded left the campaign, and takes part in it again.
        A subscription that was cancelled and has not ended yet continues.
        """
        if recipient.named_address_id is not None:
            found.mailing_address_id = recipient.named_address_id
        found.bought = {
            "date_last_renewed": self._books.today,
            "begins_on": found.begins_on,
            "mailing_address_id": found.mailing_address_id,
            "commit_id": self._books.commit_id,
        }
        if self._payer.named_address_id is not None:
            found.bought["billing_address_id"] = self._payer.named_address_id
        if found.ended_at is not None:
            found.bought["renew_campaign_active"] = 1
            found.ended_at = None
        if found.campaign is not None:
            found.bought["renew_campaign_active"] = found.campaign
            found.campaign = None
            self._books.change_later(
                """
                DELETE FROM cancellations WHERE account_id = :account_id
                    AND subscription_id = :subscription_id AND ended_on IS NULL
                """,
                subscription_id=found.subscription_id,
            )

    def _write(self, found: Extendable) -> None:
        """Write a subscription; if its new row is still queued, change that row."""
        known = look_up(self._books, [found.subscriber_id])[found.subscriber_id]
        bought, found.bought = found.bought, {}
        if found in self._begun and found.row is not None:
            found.row = self._books.add("subscriptions", **{**found.row, **bought})
            known.append(found)
        elif found in known and found.row is not None:
            found.row |= bought
        else:
            self._books.change_later(
                f"""
                UPDATE subscriptions SET {", ".join(f"{name} = :{name}" for name in bought)}
                WHERE account_id = :account_id AND subscription_id = :subscription_id
                """,
                subscription_id=found.subscription_id,
                **bought,
            )

    def _publication(self, publication_id: int) -> _Publication:
        memory = self._books.memory("publications")
        if publication_id not in memory:
            (row,) = self._books.direct.rows(
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
            memory[publication_id] = _Publication(*row)
        found: _Publication = memory[publication_id]
        return found
