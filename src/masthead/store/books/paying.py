"""The payment of an order: what is received, and how much of it is already earned.

Cash basis, net of tax (circulation, "Money"). The functions run in an operation
(``store.books.operation``).
"""

from collections.abc import Iterable
from typing import NamedTuple

from masthead.circulation.amounts import decimal
from masthead.circulation.earned_share import EVENLY, Spread, earned
from masthead.contract.subscription_types import UNLIMITED
from masthead.errors import BadInput, NotFound
from masthead.store.books.earlier_orders import check_bookable
from masthead.store.books.earned_share_sql import months_served
from masthead.store.books.earning import listed_issues
from masthead.store.books.operation import Operation
from masthead.store.books.order_keys import items_of, listed


class Paid(NamedTuple):
    """What a payment brought: net cents received, and how many of them are earned at once."""

    order_id: int
    cents: int
    earned: int
    subscriptions: tuple[int, ...]

    @property
    def sentence(self) -> str:
        """What the operation booked."""
        return (
            f"order {self.order_id} was paid: received {decimal(self.cents)} without tax, earned "
            f"{decimal(self.earned)} of it at once"
        )


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


def pay(books: Operation, order_id: int, payment_type: str | None = None) -> Paid:
    """Check that an order can be paid, and :func:`book` the payment (``books.payments.pay``)."""
    row = books.connection.row(
        """
        SELECT paid_on FROM orders WHERE account_id = :account_id AND order_id = :order_id
        """,
        account_id=books.account_id,
        order_id=order_id,
    )
    if row is None:
        raise NotFound(f"account {books.account_id} has no order {order_id}", code="unknown_order")
    check_bookable(books, order_id)
    if row[0] is not None:
        raise BadInput(f"order {order_id} was paid on {row[0]} already: nothing was changed")
    if has_ended(books, order_id):
        raise BadInput(
            f"order {order_id} has nothing left to pay for: what it brought was refunded or "
            "cancelled"
        )
    return book(books, order_id, payment_type)


def has_ended(books: Operation, order_id: int) -> bool:
    """Return whether all items of an order that cost something have ended unpaid."""
    rows = books.connection.rows(
        """
        SELECT i.order_item_id, i.refund_date FROM order_items AS i
        WHERE i.account_id = :account_id AND i.order_id = :order_id
        """,
        account_id=books.account_id,
        order_id=order_id,
    )
    terms = terms_of_order(books, order_id)
    priced = [term for term in terms if term.price > 0]
    with_terms = {term.order_item_id for term in terms}
    has_product = any(not day and item_id not in with_terms for item_id, day in rows)
    return bool(rows) and not has_product and bool(priced) and not any(t.is_due for t in priced)


def terms_of_order(books: Operation, order_id: int) -> list[Term]:
    """Return the terms that an order brought, in the order of adding."""
    items = items_of(books.connection, books.account_id, [order_id])
    rows = books.connection.rows(
        f"""
        SELECT t.term_id, t.order_item_id, t.subscription_id,
            (SELECT s.publication_id FROM subscriptions AS s
                WHERE s.account_id = t.account_id AND s.subscription_id = t.subscription_id),
            t.issues, t.issues_left, t.price, t.paid_on, t.months, t.starts_on, t.ended_at,
            t.allowed, t.spread_after, t.spread_earned, t.spread_parts, t.copies
        FROM terms AS t
        WHERE t.account_id = :account_id AND t.order_item_id IN ({listed(items)})
        """,
        account_id=books.account_id,
    )
    found = [Term._make((*row[:11], Spread(*row[11:]))) for row in rows]
    return sorted(found, key=lambda term: term.term_id)


def book(books: Operation, order_id: int, payment_type: str | None) -> Paid:
    """Book the payment as :func:`pay` does, without its checks."""
    due = [term for term in terms_of_order(books, order_id) if term.is_due]
    rows = receipts(books, due)
    add_revenue(books, rows)
    which = {"account_id": books.account_id, "order_id": order_id}
    for term in due:
        books.connection.change(
            """
            UPDATE terms SET paid_on = :today WHERE account_id = :account_id AND term_id = :term_id
            """,
            account_id=books.account_id,
            term_id=term.term_id,
            today=books.today,
        )
    books.connection.change(
        """
        UPDATE orders SET paid_on = :today, payment_type = coalesce(:payment_type, payment_type)
        WHERE account_id = :account_id AND order_id = :order_id
        """,
        today=books.today,
        payment_type=payment_type,
        **which,
    )
    if payment_type is not None:
        books.connection.change(
            """
            UPDATE purchases SET payment_type = :payment_type, commit_id = :commit_id
            WHERE account_id = :account_id AND purchase_id IN (
                SELECT i.purchase_id FROM order_items AS i
                WHERE i.account_id = :account_id AND i.order_id = :order_id)
            AND (payment_type IS NULL OR payment_type <> :payment_type)
            """,
            payment_type=payment_type,
            commit_id=books.commit_id,
            **which,
        )
    return Paid(
        order_id,
        sum(term.price for term in due),
        sum(cents for _, kind, cents, _ in rows if kind == "earned"),
        tuple(sorted({term.subscription_id for term in due})),
    )


def receipts(books: Operation, due: Iterable[Term]) -> list[tuple[int, str, int, str]]:
    """Return the rows of :func:`add_revenue` for terms that are paid today."""
    return [
        row
        for term in due
        for row in (
            (term.term_id, "received", term.price, books.today),
            (term.term_id, "earned", _earned(books, term), books.today),
        )
    ]


def _earned(books: Operation, term: Term) -> int:
    """Return what a term that is paid today has earned, by its deliveries."""
    whole = term.months if term.issues == UNLIMITED else term.issues
    return earned(term.price, whole, done_of(books, term), term.spread) if whole else 0


def done_of(books: Operation, term: Term) -> int:
    """Return the issues delivered from a term, or the months served of an unlimited one."""
    if term.issues != UNLIMITED:
        return term.issues - term.issues_left
    if term.starts_on is None:
        return 0
    months = months_served(listed_issues(books, term.publication_id))
    ((served,),) = books.connection.rows(
        f"""
        SELECT {months} FROM terms AS t
        WHERE t.account_id = :account_id AND t.term_id = :term_id
        """,
        account_id=books.account_id,
        term_id=term.term_id,
    )
    return max(int(served), 0)


def add_revenue(books: Operation, rows: Iterable[tuple[int, str, int, str]]) -> None:
    """Book the term, kind and cents of each row on its day; 0 cents are not written."""
    for term_id, kind, cents, day in rows:
        if cents:
            books.add(
                "revenue",
                revenue_id=books.new_id("revenue"),
                term_id=term_id,
                kind=kind,
                cents=cents,
                booked_on=day,
            )
