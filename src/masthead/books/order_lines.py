"""What a line of an ordered bundle does: it begins a subscription or extends one, by a term.

The rules are those of circulation, "Order", "First issue" and "Late renewal".
``masthead.store.books.order_terms`` has the statements.
"""

from collections.abc import Iterable, Sequence

from masthead.circulation.copy_classes import COMPLIMENTARY, PAID
from masthead.circulation.first_day import begins_on
from masthead.circulation.ordering import RefusedOrder, covered, grace_since
from masthead.contract.subscription_types import UNLIMITED
from masthead.store.books.catalogue import Line
from masthead.store.books.extendable_subscriptions import (
    Delivery,
    Extendable,
    Named,
    deliveries,
    named,
    running,
)
from masthead.store.books.issue import title_of
from masthead.store.books.item_pricing import PricedItem
from masthead.store.books.names import reader_named, subscription_named
from masthead.store.books.operation import Operation, Reading
from masthead.store.books.order_money import Term
from masthead.store.books.order_people import Resolved
from masthead.store.books.order_terms import (
    Publication,
    add_term,
    begin,
    cover,
    find_first_issue,
    free_until,
    publication_of,
    renew,
    write,
)


def named_by(reading: Reading, number: int, priced: PricedItem, reader: int) -> Named | None:
    """Return the subscription that an item names, None if it names none.

    Raises RefusedOrder if the item cannot extend it.
    """
    if priced.item.subscription_id is None:
        return None
    found = named(reading, priced.item.subscription_id, number)
    said = None
    if priced.item.is_new:
        said = "an order extends a subscription, or begins a new one: leave one of the two out"
    elif found.subscriber_id != reader:
        said = (
            f"{subscription_named(reading, found.subscription_id)} is a subscription of "
            f"{reader_named(reading, found.subscriber_id)}, and not of "
            f"{reader_named(reading, reader)}"
        )
    elif not any(map(found.is_of, priced.lines)):
        said = (
            f"the order gives nothing of {subscription_named(reading, found.subscription_id)}: "
            "choose a subscription that it can extend"
        )
    if said is not None:
        raise RefusedOrder("subscription_id", said, number)
    return found


class Lines:
    """The lines of one order; the same reader, publication and type share a subscription.

    If an order sends these to several addresses, each address has a subscription of its own: the
    one that goes there, or a new one (circulation, "Order").
    """

    def __init__(self, change: Operation, payer: Resolved, *, is_paid: bool) -> None:
        self._change = change
        self._payer = payer
        self._is_paid = is_paid
        self._own: dict[tuple[int, int, str, Named | None, int | None], Extendable] = {}
        """The subscriptions of this order, by recipient, publication, type and the named one.

        The last part is the address, for those in ``_apart``.
        """
        self._apart: set[tuple[int, int, str]] = set()
        """Recipient, publication and type that this order sends to several addresses."""
        self._named: dict[int, Named] = {}
        self.begun: list[int] = []
        """The subscriptions that the order began."""
        self.going_on: list[int] = []
        """The subscriptions that were cancelled, had not ended yet, and go on."""
        self.terms: list[Term] = []
        """The terms of this order, as they were before it was paid."""

    @property
    def subscriptions(self) -> tuple[int, ...]:
        """The subscriptions that the order began or extended, each once."""
        return tuple(dict.fromkeys(each.subscription_id for each in self._own.values()))

    def check_named(self, number: int, priced: PricedItem, reader: int) -> None:
        """Raise RefusedOrder if the item cannot extend the subscription that it names."""
        found = named_by(self._change, number, priced, reader)
        if found is not None:
            self._named[priced.item.subscription_id or 0] = found

    def _name(self, found: Extendable) -> str:
        return subscription_named(self._change, found.subscription_id)

    def _issue_title(self, issue_id: int) -> str:
        return title_of(self._change, issue_id)

    def tell_apart(self, items: Iterable[tuple[PricedItem, Resolved]]) -> None:
        """Note which readers get a publication and type at several addresses."""
        places: dict[tuple[int, int, str], set[int]] = {}
        for priced, recipient in items:
            for line in priced.lines:
                if self._wanted(priced, line) is None and recipient.address_id is not None:
                    kind = recipient.subscriber_id, line.publication_id, line.type
                    places.setdefault(kind, set()).add(recipient.address_id)
        self._apart = {kind for kind, addresses in places.items() if len(addresses) > 1}

    def _wanted(self, priced: PricedItem, line: Line) -> Named | None:
        """Return the subscription that the item names, if the line is of its kind."""
        wanted = self._named.get(priced.item.subscription_id or 0)
        return wanted if wanted is not None and wanted.is_of(line) else None

    def first_day(self, number: int, priced: PricedItem) -> tuple[int, str] | None:
        """Return publication and date of the issue with which the item should begin, if any."""
        issue_id = priced.item.first_issue
        if issue_id is None:
            return None
        issue = find_first_issue(self._change, issue_id)
        if issue is None:
            raise RefusedOrder(
                "first_issue",
                f"account {self._change.account_id} has no issue {issue_id}",
                number,
                code="unknown_issue",
            )
        publication_id, day, never_comes = issue
        if publication_id not in {line.publication_id for line in priced.lines}:
            raise RefusedOrder(
                "first_issue",
                f"{self._issue_title(issue_id)} is no issue of what is ordered: choose one that "
                "is, or none",
                number,
            )
        if never_comes:
            raise RefusedOrder(
                "first_issue",
                f"{self._issue_title(issue_id)} was closed without a mailing list, so no reader "
                "gets it",
                number,
            )
        newest = publication_of(self._change, publication_id).newest_closed
        if newest is not None and day < newest:
            raise RefusedOrder(
                "first_issue",
                f"{self._issue_title(issue_id)} is before {newest}: the newest closed issue is the "
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
        publication = publication_of(self._change, line.publication_id)
        first = first_day[1] if first_day and first_day[0] == line.publication_id else None
        wanted = self._wanted(priced, line)
        kind = recipient.subscriber_id, line.publication_id, line.type
        place = recipient.address_id if wanted is None and kind in self._apart else None
        key = *kind, wanted, place
        found = self._own.get(key)
        is_own = found is not None
        if found is None and not priced.item.is_new:
            found = running(self._change, *key)
        grace: Sequence[Delivery] = ()
        if found is None:
            begins = first or self._begins_on(publication)
            found = begin(self._change, line, recipient, self._payer, begins)
            self.begun.append(found.subscription_id)
        else:
            has_left, grace = self._state(number, found, publication, line)
            if not is_own:
                if has_left and first is not None:
                    raise RefusedOrder(
                        "first_issue",
                        f"{self._name(found)} has issues left, so that no first issue can be "
                        "chosen: begin a new subscription beside it",
                        number,
                        code="needs_new_subscription",
                    )
                if first is not None:
                    self._check_free(number, found, publication, first)
                if not has_left:
                    begins = first or self._begins_on(publication)
                    found.begins_on = max(begins, found.begins_on or begins)
                if found.campaign is not None:
                    self.going_on.append(found.subscription_id)
                renew(self._change, found, recipient, self._payer)
        self._own[key] = found
        found.bought |= {
            "last_purchase_bundle_id": priced.item.bundle_id,
            "last_purchase_id": purchase_id,
        }
        term = Term(
            term_id=self._change.new_id("terms"),
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
        add_term(
            self._change,
            term,
            line.copies,
            PAID if term.price else priced.item.of_class or COMPLIMENTARY,
            is_paid=self._is_paid,
        )
        if term.issues_left:
            found.least = min(term.issues_left, found.least or term.issues_left)
        for each in grace:
            cover(self._change, found, each, term)
        return found.mailing_address_id

    def write(self) -> None:
        """Write the subscriptions; their terms are already queued."""
        for found in dict.fromkeys(self._own.values()):
            write(self._change, found)

    def _state(
        self, number: int, found: Extendable, publication: Publication, line: Line
    ) -> tuple[bool, Sequence[Delivery]]:
        """Return whether issues are left, and if not, the grace issues that the line covers.

        Raises RefusedOrder if issues are unlimited, because a term after those is never used.
        """
        if found.least == UNLIMITED:
            raise RefusedOrder(
                "bundle_id",
                f"{self._name(found)} is unlimited, so no issue of this order would ever be "
                "delivered: begin a new subscription beside it",
                number,
                code="needs_new_subscription",
            )
        if found.least is not None or found.row is not None or not publication.grace_counts:
            return found.least is not None, ()
        issues = deliveries(self._change, [found.subscription_id])[found.subscription_id]
        regular = [each.day for each in issues if not each.is_grace or each.term_id is not None]
        grace = {each.issue_id: each for each in issues if each.is_grace and not each.term_id}
        since = grace_since(regular, [(each.day, each.issue_id) for each in grace.values()])
        return False, [grace[issue_id] for issue_id in covered(line.issues, since)]

    def _check_free(
        self, number: int, found: Extendable, publication: Publication, first: str
    ) -> None:
        """Raise RefusedOrder if free issues would not come before the first one.

        (decisions, "A first issue for who is qualified".)
        """
        until = None if found.row is not None else free_until(self._change, found.subscription_id)
        planned = publication.first_planned
        if until is not None and planned is not None and planned <= until and planned < first:
            raise RefusedOrder(
                "first_issue",
                f"{self._name(found)} is free by a qualification until {until}, and its issues "
                "would not come before a later first issue: choose the next issue, or none",
                number,
            )

    def _begins_on(self, publication: Publication) -> str:
        return begins_on(
            publication.late_start,
            publication.newest_closed,
            publication.first_planned,
            self._change.today,
        )
