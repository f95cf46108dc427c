"""Orders: what they bring to subscribers, subscriptions, terms and purchases.

All that an order does is one operation (circulation, "Order"). Every look-up is by an index, so an
order takes as long in a large account as in a small one. The functions run in an operation
(``store.books.operation``); :func:`finish` comes once, after all orders.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from masthead.circulation.amounts import CENTS_MAX, decimal, shortest, spread
from masthead.circulation.beginning import begins_on
from masthead.circulation.ordering import (
    UNLIMITED,
    Item,
    Order,
    Person,
    RefusedOrder,
    covered,
    digest,
    grace_since,
    kind_of,
)
from masthead.store.books import paying
from masthead.store.books.ids import next_ids
from masthead.store.books.operation import Operation
from masthead.store.books.people import Resolved, resolve
from masthead.store.books.refreshing import refresh
from masthead.store.database import Value
from masthead.store.searching import ascii_lower

__all__ = ["Placed", "finish", "place"]


class Placed(NamedTuple):
    """An order that was placed; ``is_known`` if it was there already.

    ``was_paid``: its payment was booked now. ``subscriptions`` are those that it began or extended,
    ``cents`` its grand total.
    """

    order_id: int
    is_known: bool
    was_paid: bool
    subscriber_id: int
    subscriptions: tuple[int, ...]
    cents: int


class _Line(NamedTuple):
    """What an item gives of one publication; ``price`` is that of this order."""

    publication_id: int
    issues: int
    type: str
    copies: int
    price: int


class _Offer(NamedTuple):
    """An item with its net price and tax, and its lines; a product has none."""

    item: Item
    net: int
    tax: int
    lines: Sequence[_Line]


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


def place(books: Operation, order: Order) -> Placed:
    """Place an order, unless one with its reference is there; see :func:`finish`.

    The same reference with the same content changes nothing, but books the payment that has come
    since. Raises RefusedOrder, also for the same reference with other content.
    """
    known = _known(books, order)
    if known is not None:
        return known
    if not order.items:
        raise RefusedOrder("bundle_id", "an order has at least one bundle or product")
    offers = [_offer(books, number, item) for number, item in enumerate(order.items)]
    payer = resolve(books, order.payer)
    return _Placing(books, order, payer, offers).run()


def finish(books: Operation, placed: Iterable[Placed]) -> None:
    """Compute anew what follows from the orders for their subscriptions, once for all of them."""
    touched = sorted({each for one in placed for each in one.subscriptions})
    # In parts: a statement of SQLite can have only so many numbers.
    for first in range(0, len(touched), _TOUCHED_MAX):
        part = touched[first : first + _TOUCHED_MAX]
        refresh(books, _ids_query(part))


_TOUCHED_MAX = 5_000


def _ids_query(ids: Sequence[int]) -> str:
    listed = ", ".join(f"{each:d}" for each in ids)
    return f"""SELECT s.subscription_id FROM subscriptions AS s
        WHERE s.account_id = :account_id AND s.subscription_id IN ({listed})"""


def _known(books: Operation, order: Order) -> Placed | None:
    if order.reference is None:
        return None
    row = books.connection.row(
        """
        SELECT order_id, subscriber_id, content_digest, paid_on FROM orders
        WHERE account_id = :account_id AND external_reference_lower = :reference
        """,
        account_id=books.account_id,
        reference=ascii_lower(order.reference),
    )
    if row is None:
        return None
    order_id, subscriber_id, content, paid_on = row
    # None: the content was erased with the subscriber, or came from elsewhere.
    if content is not None and content != digest(order):
        raise RefusedOrder(
            "external_reference",
            f"order {order_id} has the reference {order.reference!r} and other content: give the "
            "other order another reference, or refund that one",
        )
    if not order.is_paid or paid_on is not None or paying.has_ended(books, order_id):
        return Placed(order_id, True, False, subscriber_id, (), 0)
    paid = paying.pay(books, order_id, order.payment_type)
    return Placed(order_id, True, True, subscriber_id, paid.subscriptions, paid.cents)


def _offer(books: Operation, number: int, item: Item) -> _Offer:
    """Return what an item costs and gives. Raises RefusedOrder, such as for a retired bundle."""
    what = "bundle" if item.product_id is None else "product"
    wanted = item.bundle_id if item.product_id is None else item.product_id
    if wanted is None or (item.bundle_id is not None and item.product_id is not None):
        raise RefusedOrder("bundle_id", "an item is either a bundle or a product", number)
    row = books.connection.row(
        f"""
        SELECT active, price, tax FROM {what}s
        WHERE account_id = :account_id AND {what}_id = :wanted
        """,
        account_id=books.account_id,
        wanted=wanted,
    )
    if row is None:
        raise RefusedOrder(
            f"{what}_id",
            f"account {books.account_id} has no {what} {wanted}: `masthead catalogue {what} list` "
            "lists them",
            number,
        )
    active, price, tax = row
    if not active:
        raise RefusedOrder(
            f"{what}_id",
            f"{what} {wanted} is retired: `masthead catalogue {what} list` lists those on offer, "
            f"and `masthead catalogue {what} set {wanted} --active` offers it again",
            number,
        )
    net = price if item.price is None else item.price
    tax = tax if item.tax is None else item.tax
    for name, cents in (("price", net), ("tax", tax)):
        if not 0 <= cents <= CENTS_MAX:
            raise RefusedOrder(name, f"{name} {decimal(cents)} is below 0 or too great", number)
    if item.product_id is not None:
        if item.is_new or item.first_issue is not None:
            raise RefusedOrder("first_issue", "a product begins no subscription", number)
        return _Offer(item, net, tax, ())
    lines = books.connection.rows(
        """
        SELECT publication_id, issues, type, copies, price FROM bundle_lines
        WHERE account_id = :account_id AND bundle_id = :bundle_id ORDER BY line_number
        """,
        account_id=books.account_id,
        bundle_id=wanted,
    )
    if not lines:
        raise RefusedOrder("bundle_id", f"bundle {wanted} has no lines: it gives nothing", number)
    prices = spread(net, [line[-1] for line in lines])
    return _Offer(
        item,
        net,
        tax,
        [_Line(*line[:-1], part) for line, part in zip(lines, prices, strict=True)],
    )


class _Placing:
    """The placing of one order."""

    def __init__(
        self, books: Operation, order: Order, payer: Resolved, offers: Sequence[_Offer]
    ) -> None:
        self._books = books
        self._order = order
        self._payer = payer
        self._offers = offers
        self._account = books.account_id
        self._own: dict[tuple[int, int, str], _Subscription] = {}
        """The subscriptions of this order, by recipient, publication and type."""

    def run(self) -> Placed:
        """Write the order and all that it brings."""
        order_id = self._next("orders")
        recipients = [self._recipient(number) for number in range(len(self._offers))]
        is_gift = any(each.subscriber_id != self._payer.subscriber_id for each in recipients)
        net = sum(offer.net for offer in self._offers)
        tax = sum(offer.tax for offer in self._offers)
        if net + tax > CENTS_MAX:
            raise RefusedOrder("price", f"the order is over {decimal(CENTS_MAX)} in all")
        self._insert(
            "orders",
            order_id=order_id,
            subscriber_id=self._payer.subscriber_id,
            mailing_address_id=None,
            billing_address_id=self._payer.address_id,
            import_name=self._order.import_name,
            channel_id=self._order.channel_id,
            order_date=self._books.local_now,
            is_gift=int(is_gift),
            sub_total=shortest(net),
            tax_total=shortest(tax),
            grand_total=shortest(net + tax),
            external_reference=self._order.reference,
            content_digest=digest(self._order) if self._order.reference is not None else None,
            payment_type=self._order.payment_type,
            commit_id=self._books.commit_id,
        )
        mailing = [
            self._place(number, order_id, offer, recipient)
            for number, (offer, recipient) in enumerate(zip(self._offers, recipients, strict=True))
        ]
        self._books.connection.change(
            """
            UPDATE orders SET mailing_address_id = :mailing
            WHERE account_id = :account_id AND order_id = :order_id
            """,
            account_id=self._account,
            order_id=order_id,
            mailing=next((each for each in mailing if each is not None), self._payer.address_id),
        )
        if self._order.is_paid:
            paying.book(self._books, order_id, self._order.payment_type)
        subscriptions = tuple(dict.fromkeys(each.subscription_id for each in self._own.values()))
        return Placed(
            order_id,
            False,
            self._order.is_paid,
            self._payer.subscriber_id,
            subscriptions,
            net + tax,
        )

    def _recipient(self, number: int) -> Resolved:
        """Return who gets an item, and where: the one who pays, unless somebody is named."""
        person: Person = self._offers[number].item.recipient
        if not person.is_named:
            if person.address_id is None and not any(person.address.values()):
                return self._payer
            person = person._replace(subscriber_id=self._payer.subscriber_id)
        try:
            return resolve(self._books, person, "recipient_")
        except RefusedOrder as error:
            error.item = number
            raise

    def _place(
        self, number: int, order_id: int, offer: _Offer, recipient: Resolved
    ) -> int | None:
        """Write an item and what it brings; return the address to which it goes."""
        item = offer.item
        item_id = self._next("order_items")
        purchase_id = None
        if item.bundle_id is not None:
            purchase_id = self._next("purchases")
            self._insert(
                "purchases",
                purchase_id=purchase_id,
                payment_type=self._order.payment_type,
                notes=self._order.notes,
                subscriber_id=self._payer.subscriber_id,
                bundle_id=item.bundle_id,
                billing_address_id=self._payer.address_id,
                invoice_id=str(order_id),
                total=decimal(offer.net + offer.tax),
                is_gift=int(recipient.subscriber_id != self._payer.subscriber_id),
                commit_id=self._books.commit_id,
            )
        self._insert(
            "order_items",
            order_item_id=item_id,
            order_id=order_id,
            bundle_id=item.bundle_id,
            product_id=item.product_id,
            fulfilled_date=(
                self._books.local_now if self._order.is_fulfilled and not offer.lines else None
            ),
            sub_total=shortest(offer.net),
            tax_total=shortest(offer.tax),
            grand_total=shortest(offer.net + offer.tax),
            purchase_id=purchase_id,
        )
        first_day = self._first_day(number, offer)
        mailing = [
            self._add_term(number, item_id, purchase_id, offer, line, recipient, first_day)
            for line in offer.lines
        ]
        where = next((each for each in mailing if each is not None), None)
        if purchase_id is not None and where is not None:
            self._books.connection.change(
                """
                UPDATE purchases SET shipping_address_id = :address_id
                WHERE account_id = :account_id AND purchase_id = :purchase_id
                """,
                account_id=self._account,
                purchase_id=purchase_id,
                address_id=where,
            )
        return where

    def _first_day(self, number: int, offer: _Offer) -> tuple[int, str] | None:
        """Return publication and date of the issue with which the item is to begin, if any."""
        issue_id = offer.item.first_issue
        if issue_id is None:
            return None
        row = self._books.connection.row(
            """
            SELECT publication_id, date FROM issues
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
        publication_id, day = row
        if publication_id not in {line.publication_id for line in offer.lines}:
            raise RefusedOrder(
                "first_issue",
                f"issue {issue_id} is one of publication {publication_id}, of which bundle "
                f"{offer.item.bundle_id} gives nothing",
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

    def _add_term(
        self,
        number: int,
        item_id: int,
        purchase_id: int | None,
        offer: _Offer,
        line: _Line,
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
        elif not found.is_own:
            has_left, grace = self._state(found, publication, line)
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
        self._set_purchase(found, line, offer, purchase_id)
        term_id = self._next("terms")
        self._insert(
            "terms",
            term_id=term_id,
            subscription_id=found.subscription_id,
            order_item_id=item_id,
            issues=line.issues,
            issues_left=UNLIMITED if line.issues < 0 else line.issues - len(grace),
            price=line.price,
            kind=kind_of(line.price),
            months=publication.unlimited_term_months if line.issues < 0 else None,
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
        return _Subscription(*max(rows), is_own=False) if rows else None

    def _state(
        self, found: _Subscription, publication: _Publication, line: _Line
    ) -> tuple[bool, Sequence[int]]:
        """Return whether issues are left, and if none, the grace issues that the line covers."""
        which = {"account_id": self._account, "subscription_id": found.subscription_id}
        left = self._books.connection.row(
            """
            SELECT 1 FROM terms WHERE account_id = :account_id
                AND subscription_id = :subscription_id AND issues_left <> 0 LIMIT 1
            """,
            **which,
        )
        if left or not publication.grace_counts:
            return bool(left), ()
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
        self, line: _Line, recipient: Resolved, publication: _Publication, first: str | None
    ) -> _Subscription:
        subscription_id = self._next("subscriptions")
        begins = first or begins_on(
            publication.late_start,
            publication.newest_closed,
            publication.first_planned,
            self._books.today,
        )
        self._insert(
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
        """Note an extension; addresses change only where the order names them."""
        mailing = recipient.named_address_id
        if mailing is None:
            mailing = found.mailing_address_id
        self._books.connection.change(
            """
            UPDATE subscriptions SET date_last_renewed = :today, begins_on = :begins,
                mailing_address_id = :mailing,
                billing_address_id = coalesce(:billing, billing_address_id),
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

    def _set_purchase(
        self, found: _Subscription, line: _Line, offer: _Offer, purchase_id: int | None
    ) -> None:
        self._books.connection.change(
            """
            UPDATE subscriptions SET copies = :copies, last_purchase_bundle_id = :bundle_id,
                last_purchase_id = :purchase_id
            WHERE account_id = :account_id AND subscription_id = :subscription_id
            """,
            account_id=self._account,
            subscription_id=found.subscription_id,
            copies=line.copies,
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

    def _insert(self, table: str, **values: Value) -> None:
        values = {"account_id": self._account, **values}
        self._books.connection.change(
            f"INSERT INTO {table} ({', '.join(values)}) VALUES (:{', :'.join(values)})", **values
        )
