"""The money of orders: what is paid, received, earned and refunded (circulation, "Money").

``masthead.books.payments`` has the rules. The functions run in an operation
(``store.books.operation``). All amounts are whole cents.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from masthead.circulation.amounts import stored_cents
from masthead.circulation.copy_classes import COMPLIMENTARY
from masthead.circulation.earned_share import EVENLY, Spread
from masthead.circulation.refunding import TermMoney
from masthead.contract.subscription_types import UNLIMITED
from masthead.errors import NotFound
from masthead.store.books.earned_share_sql import months_served
from masthead.store.books.earning import listed_issues
from masthead.store.books.operation import Operation, Reading
from masthead.store.books.order_keys import listed
from masthead.store.books.stored_expiry_dates import GOES_ON

_MONTHS = "months_served_of_terms"
"""A memory (:func:`keep_months`)."""


class BookedItem(NamedTuple):
    """An item of an order: its net price and tax, and what was given back of both together.

    ``is_dropped`` is 1 if it ended before the order was paid.
    """

    order_item_id: int
    net: int
    tax: int
    refunded: int
    refund_date: str | None
    is_dropped: int


class BookedOrder(NamedTuple):
    """An order with its items; ``paid_on`` is None if it is not paid, ``ordered`` is its time."""

    order_id: int
    paid_on: str | None
    ordered: str | None
    items: Sequence[BookedItem]


class Term(NamedTuple):
    """A term of an order; ``ended_at`` is set when it is refunded or cancelled."""

    term_id: int
    order_item_id: int
    subscription_id: int
    publication_id: int
    issues: int
    issues_left: int
    price: int
    paid_on: str | None
    months: int | None
    starts_on: str | None
    ended_at: str | None
    spread: Spread = EVENLY

    @property
    def is_due(self) -> bool:
        """Whether a payment of the order pays for it."""
        return self.price > 0 and self.paid_on is None and self.ended_at is None


class Booking(NamedTuple):
    """A row of ``revenue``: the cents that a term receives, earns or gives back on a day."""

    term_id: int
    kind: Literal["received", "earned", "refunded"]
    cents: int
    booked_on: str


def find_order(books: Reading, order_id: int) -> BookedOrder:
    """Return an order with its items, by their ids. Raises NotFound if there is none."""
    found = find_orders(books, [order_id]).get(order_id)
    if found is None:
        raise NotFound(f"account {books.account_id} has no order {order_id}", code="unknown_order")
    return found


def find_orders(books: Reading, orders: Iterable[int]) -> dict[int, BookedOrder]:
    """Return orders with their items, by the ids of both; those that there are."""
    rows = books.rows(
        f"""
        SELECT o.order_id, o.paid_on, o.order_date, i.order_item_id, i.sub_total, i.tax_total,
            i.refunded, i.refund_date, i.is_dropped
        FROM orders AS o
        LEFT JOIN order_items AS i ON i.account_id = o.account_id AND i.order_id = o.order_id
        WHERE o.account_id = :account_id AND o.order_id IN ({listed(orders)})
        ORDER BY o.order_id, i.order_item_id
        """,
    )
    found: dict[int, BookedOrder] = {}
    for order_id, paid_on, ordered, item_id, net, tax, *more in rows:
        order = found.setdefault(order_id, BookedOrder(order_id, paid_on, ordered, []))
        if item_id is not None:
            item = BookedItem(item_id, stored_cents(net), stored_cents(tax), *more)
            found[order_id] = order._replace(items=[*order.items, item])
    return found


def terms_of(books: Reading, items: Iterable[int]) -> list[Term]:
    """Return the terms that items of an order brought, by their ids, in the order of adding."""
    rows = books.rows(
        f"""
        SELECT t.term_id, t.order_item_id, t.subscription_id,
            (SELECT s.publication_id FROM subscriptions AS s
                WHERE s.account_id = t.account_id AND s.subscription_id = t.subscription_id),
            t.issues, t.issues_left, t.price, t.paid_on, t.months, t.starts_on, t.ended_at,
            t.allowed, t.spread_after, t.spread_earned, t.spread_parts, t.copies
        FROM terms AS t
        WHERE t.account_id = :account_id AND t.order_item_id IN ({listed(items)})
        """,
    )
    found = [Term._make((*row[:11], Spread(*row[11:]))) for row in rows]
    return sorted(found, key=lambda term: term.term_id)


def done_of(books: Operation, term: Term) -> int:
    """Return the issues delivered from a term, or the months served of an unlimited one."""
    if term.issues != UNLIMITED:
        return term.issues - term.issues_left
    known: dict[int, int] = books.memory(_MONTHS)
    return known[term.term_id] if term.term_id in known else months_of(books, [term])[term.term_id]


def months_of(books: Reading, terms: Iterable[Term]) -> dict[int, int]:
    """Return the months that each of the unlimited terms was served, by id."""
    unlimited = [term for term in terms if term.issues == UNLIMITED]
    found = {term.term_id: 0 for term in unlimited}
    by_publication = defaultdict[int, list[int]](list)
    for term in unlimited:
        if term.starts_on is not None:
            by_publication[term.publication_id].append(term.term_id)
    for publication_id, ids in by_publication.items():
        months = months_served(listed_issues(books, publication_id))
        rows = books.rows_as(
            tuple[int, int],
            f"""
            SELECT t.term_id, {months} FROM terms AS t
            WHERE t.account_id = :account_id AND t.term_id IN ({listed(ids)})
            """,
        )
        found |= {term_id: max(served, 0) for term_id, served in rows}
    return found


def keep_months(books: Operation, found: Mapping[int, int]) -> None:
    """Remember the months that terms were served until the queued rows are written."""
    books.memory(_MONTHS).update(found)


def money_of(books: Reading, terms: Sequence[Term]) -> list[TermMoney]:
    """Return what each of the terms has in the books."""
    rows = books.rows_as(
        tuple[int, str, int],
        f"""
        SELECT term_id, kind, CAST(sum(cents) AS BIGINT) FROM revenue
        WHERE account_id = :account_id AND term_id IN ({listed(term.term_id for term in terms)})
        GROUP BY term_id, kind
        """,
    )
    sums = {(term_id, kind): cents for term_id, kind, cents in rows}
    kinds = ("received", "earned", "refunded")
    return [TermMoney(*(sums.get((term.term_id, kind), 0) for kind in kinds)) for term in terms]


def earned_ahead(books: Operation, term: Term) -> list[tuple[str, int]]:
    """Return what a term has earned with issues dated after today, by day."""
    return earned_after(books, term, books.today)


def earned_after(books: Reading, term: Term, day: str) -> list[tuple[str, int]]:
    """Return what a term has earned after a day, by day."""
    return books.rows_as(
        tuple[str, int],
        """
        SELECT booked_on, CAST(sum(cents) AS BIGINT) FROM revenue
        WHERE account_id = :account_id AND term_id = :term_id AND kind = 'earned'
            AND booked_on > :day
        GROUP BY booked_on
        """,
        term_id=term.term_id,
        day=day,
    )


def add_revenue(books: Operation, bookings: Iterable[Booking]) -> None:
    """Add the bookings; those of 0 cents are not written."""
    for each in bookings:
        if each.cents:
            books.add("revenue", revenue_id=books.new_id("revenue"), **each._asdict())


class Marked(NamedTuple):
    """What an order and its terms have of a payment; ``booked_on`` is the day of the bookings."""

    paid_on: str
    booked_on: str
    payment_type: str | None
    reference: str | None


def mark_paid(books: Operation, order_id: int, terms: Iterable[Term], marked: Marked) -> None:
    """Queue that an order and its terms are paid, with the payment type of its purchases.

    The terms have the day to which the payment is booked.
    """
    payment_type = marked.payment_type
    for term in terms:
        books.change_later(
            """
            UPDATE terms SET paid_on = :booked_on
            WHERE account_id = :account_id AND term_id = :term_id
            """,
            booked_on=marked.booked_on,
            term_id=term.term_id,
        )
    books.change_later(
        """
        UPDATE orders SET paid_on = :paid_on, payment_type = coalesce(:payment_type, payment_type),
            payment_reference = :reference
        WHERE account_id = :account_id AND order_id = :order_id
        """,
        paid_on=marked.paid_on,
        payment_type=payment_type,
        reference=marked.reference,
        order_id=order_id,
    )
    if payment_type is not None:
        books.change_later(
            """
            UPDATE purchases SET payment_type = :payment_type, commit_id = :commit_id
            WHERE account_id = :account_id AND purchase_id IN (
                SELECT i.purchase_id FROM order_items AS i
                WHERE i.account_id = :account_id AND i.order_id = :order_id)
            AND (payment_type IS NULL OR payment_type <> :payment_type)
            """,
            payment_type=payment_type,
            commit_id=books.commit_id,
            order_id=order_id,
        )


def mark_unpaid(books: Operation, order_id: int, terms: Iterable[Term]) -> None:
    """Mark an order and terms as unpaid: the payment was taken back."""
    books.change(
        f"""
        UPDATE terms SET paid_on = NULL
        WHERE account_id = :account_id AND term_id IN ({listed(term.term_id for term in terms)})
        """,
    )
    books.change(
        """
        UPDATE orders SET paid_on = NULL, payment_reference = NULL
        WHERE account_id = :account_id AND order_id = :order_id
        """,
        order_id=order_id,
    )


def reprice(books: Operation, terms: Sequence[Term], shares: Sequence[int]) -> list[Term]:
    """Make what was paid for terms their price; one that costs nothing now is complimentary.

    ``shares`` are the cents of each term. What its spread has as given back is added to its price.
    Returns the terms as they are now.
    """
    now = [
        term._replace(price=share + term.spread.allowed, spread=Spread(term.spread.allowed))
        for term, share in zip(terms, shares, strict=True)
    ]
    for term in now:
        books.change(
            """
            UPDATE terms SET price = :price, allowed = :allowed,
                spread_after = 0, spread_earned = 0, spread_parts = NULL,
                kind = CASE WHEN :price = 0 THEN 'free' ELSE kind END,
                class = CASE WHEN :price = 0 THEN :complimentary ELSE class END
            WHERE account_id = :account_id AND term_id = :term_id
            """,
            price=term.price,
            allowed=term.spread.allowed,
            complimentary=COMPLIMENTARY,
            term_id=term.term_id,
        )
    return now


def end_item(books: Operation, order_id: int, item_id: int, *, is_dropped: bool) -> None:
    """End the terms of an item today, which is its day of refund."""
    books.change(
        """
        UPDATE terms SET issues_left = 0, ended_at = :now
        WHERE account_id = :account_id AND order_item_id = :item_id AND ended_at IS NULL
        """,
        now=books.now,
        item_id=item_id,
    )
    books.change(
        """
        UPDATE order_items SET refund_date = :now,
            is_dropped = CASE WHEN :is_dropped = 1 THEN 1 ELSE is_dropped END
        WHERE account_id = :account_id AND order_item_id = :item_id
        """,
        now=books.now,
        is_dropped=int(is_dropped),
        item_id=item_id,
    )
    books.change(
        """
        UPDATE orders SET commit_id = :commit_id
        WHERE account_id = :account_id AND order_id = :order_id
        """,
        order_id=order_id,
        commit_id=books.commit_id,
    )


def add_refunded(books: Operation, item_id: int, cents: int) -> None:
    """Note that ``cents`` more, tax included, were given back for an item."""
    books.change(
        """
        UPDATE order_items SET refunded = refunded + :cents
        WHERE account_id = :account_id AND order_item_id = :item_id
        """,
        cents=cents,
        item_id=item_id,
    )


def leave_campaign(books: Operation, subscription_id: int) -> None:
    """Take a subscription out of the renewal campaign if it has no issues left.

    One that goes by a qualification stays in it, so that its reader is asked to qualify again. A
    later order brings it back (``store.books.order_terms``), and so does a later qualification.
    """
    books.change(
        f"""
        UPDATE subscriptions SET renew_campaign_active = 0, commit_id = :commit_id
        WHERE account_id = :account_id AND subscription_id = :subscription_id
            AND renew_campaign_active = 1 AND NOT EXISTS (
                SELECT 1 FROM terms AS t WHERE t.account_id = :account_id
                AND t.subscription_id = :subscription_id AND t.issues_left <> 0)
            AND NOT EXISTS (SELECT 1 FROM qualified_subscriptions AS q
                WHERE q.account_id = :account_id AND q.subscription_id = :subscription_id
                AND {GOES_ON})
        """,
        subscription_id=subscription_id,
        commit_id=books.commit_id,
    )


def spread_rest(books: Operation, term: Term, money: TermMoney, cents: int) -> None:
    """Spread what an allowance of ``cents`` leaves of a term evenly over what remains of it."""
    books.change(
        """
        UPDATE terms SET allowed = allowed + :cents, spread_after = :done,
            spread_earned = :earned, spread_parts = NULL
        WHERE account_id = :account_id AND term_id = :term_id
        """,
        cents=cents,
        done=done_of(books, term),
        earned=money.earned,
        term_id=term.term_id,
    )
