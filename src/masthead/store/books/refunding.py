"""The refund of an item of an order: its remaining issues end; money is given back.

``masthead.circulation.refunding`` says what comes from where. The function runs in an operation
(``store.books.operation``).
"""

from typing import NamedTuple

from masthead.circulation.amounts import decimal, stored_cents
from masthead.circulation.booking_day import taken_back
from masthead.circulation.refunding import (
    Held,
    Item,
    amount_by_default,
    net_of,
    paid_gross,
    taken,
)
from masthead.contract.printable import counted
from masthead.errors import BadInput, NotFound
from masthead.store.books.earlier_orders import check_bookable
from masthead.store.books.operation import Operation
from masthead.store.books.paying import Term, add_revenue, terms_of_order


class Refunded(NamedTuple):
    """What a refund did, in cents: gross, its tax, and how much of it was already earned.

    ``kept`` was unearned and is earned now. ``issues`` are those that are no longer delivered; -1
    if a term was unlimited.
    """

    order_id: int
    order_item_id: int
    cents: int
    tax: int
    taken_back: int
    kept: int
    issues: int
    subscriptions: tuple[int, ...]

    @property
    def sentence(self) -> str:
        """What was given back, what ends, and what happens to the rest."""
        said = (
            f"item {self.order_item_id} of order {self.order_id}: refund {decimal(self.cents)}, of "
            f"which tax {decimal(self.tax)}; "
        )
        if self.issues < 0:
            said += "an unlimited term ends"
        else:
            said += counted(self.issues, "issue ends", "issues end")
        if self.taken_back:
            said += f"; {decimal(self.taken_back)} that was earned is taken back"
        if self.kept:
            said += f"; {decimal(self.kept)} is kept and earned"
        return said


class Stored(NamedTuple):
    """An item of an order as it is stored; ``paid_on`` is that of its order."""

    order_item_id: int
    product_id: int | None
    net: int
    tax: int
    refunded: int
    refund_date: str | None
    is_dropped: int
    paid_on: str | None

    def item(self, paid_net: int, *, is_paid: bool = True) -> Item:
        """Return the item as the rules need it; ``paid_net`` is how much of its net was paid."""
        return Item(self.net, self.tax if is_paid else 0, paid_net, self.refunded)


def refund(
    books: Operation, order_id: int, item_id: int | None = None, cents: int | None = None
) -> Refunded:
    """Refund an item of an order, as ``books.payments.refund`` says."""
    stored = find_item(books, order_id, item_id)
    item_id, paid_on = stored.order_item_id, stored.paid_on
    terms = [term for term in terms_of_order(books, order_id) if term.order_item_id == item_id]
    held = [held_of(books, term) for term in terms]
    is_paid = paid_on is not None and (bool(terms) or not stored.is_dropped)
    if terms:
        paid_net = sum(term.price for term in terms if term.paid_on is not None)
    else:
        paid_net = stored.net if is_paid else 0
    item = stored.item(paid_net, is_paid=is_paid)
    most = paid_gross(item) if is_paid else 0
    if cents is None:
        cents = amount_by_default(item, held) if terms else most
        if not cents and (over := _over(stored, terms)):
            raise BadInput(
                f"item {item_id} {over}, and nothing of it is unearned: say how much to give back "
                f"of the {decimal(most)} that are left of what was paid",
                code="needs_amount",
            )
    if cents > most:
        why = ""
        if paid_on is None:
            why = ", since the order is not paid"
        elif not is_paid:
            why = ", since it ended unpaid"
        raise BadInput(
            f"{decimal(cents)} is more than can be refunded of item {item_id}: at most "
            f"{decimal(most)}{why}"
        )
    if not cents and (over := _over(stored, terms)):
        raise BadInput(f"item {item_id} {over}: nothing was changed")
    net = net_of(item, cents, held or [Held(paid_net, 0, _net_of_product(item))])
    booked = taken(net, held) if terms else []
    rows = []
    for term, each in zip(terms, booked, strict=True):
        rows.append((term.term_id, "refunded", each.refunded, books.today))
        rows.append((term.term_id, "earned", max(each.earned, 0), books.today))
        back = taken_back(max(-each.earned, 0), _earned_ahead(books, term), books.today)
        rows += [(term.term_id, "earned", -part, day) for day, part in back]
    add_revenue(books, rows)
    _end(books, order_id, item_id, cents, is_dropped=paid_on is None and not terms)
    _leave_campaign(books, terms, is_all_back=is_paid and cents == most)
    unearned = sum(each.unearned for each in held)
    lost = [term.issues_left for term in terms if term.ended_at is None]
    return Refunded(
        order_id,
        item_id,
        cents,
        cents - net,
        max(net - unearned, 0),
        max(unearned - net, 0),
        -1 if any(left < 0 for left in lost) else sum(lost),
        tuple(sorted({term.subscription_id for term in terms})),
    )


def _net_of_product(item: Item) -> int:
    """Return the net that was refunded of a product before."""
    return net_of(item._replace(refunded=0), item.refunded, [Held(item.paid_net, 0, 0)])


_ENDED_BEFORE = "was refunded or cancelled before"


def _over(stored: Stored, terms: list[Term]) -> str:
    """Return why a refund of 0 would end nothing of an item.

    The result is empty if there are issues to end, or money that is still due.
    """
    if not terms:
        return "" if stored.refund_date is None else _ENDED_BEFORE
    running = [term for term in terms if term.ended_at is None]
    if not running:
        return _ENDED_BEFORE
    has_something_left = any(
        term.issues_left or (term.price and term.paid_on is None) for term in running
    )
    return "" if has_something_left else "has no issues left"


def find_item(books: Operation, order_id: int, item_id: int | None) -> Stored:
    """Return an item of an order; if ``item_id`` is None, its only item.

    Raises NotFound if there is no such order or item, BadInput if the order is history, or has
    several items and ``item_id`` is None.
    """
    rows = books.connection.rows(
        """
        SELECT o.paid_on, i.order_item_id, i.product_id, i.sub_total, i.tax_total, i.refunded,
            i.refund_date, i.is_dropped
        FROM orders AS o
        LEFT JOIN order_items AS i ON i.account_id = o.account_id AND i.order_id = o.order_id
        WHERE o.account_id = :account_id AND o.order_id = :order_id
        """,
        account_id=books.account_id,
        order_id=order_id,
    )
    if not rows:
        raise NotFound(f"account {books.account_id} has no order {order_id}", code="unknown_order")
    check_bookable(books, order_id)
    of_order = sorted(row[1] for row in rows if row[1] is not None)
    if item_id is None:
        if len(of_order) != 1:
            raise BadInput(
                f"order {order_id} has the items {', '.join(map(str, of_order)) or '(none)'}: "
                "choose one of them",
                code="several_items",
            )
        (item_id,) = of_order
    if item_id not in of_order:
        raise NotFound(
            f"order {order_id} has no item {item_id}", code="unknown_item", order=order_id
        )
    (row,) = (row for row in rows if row[1] == item_id)
    paid_on, _, product_id, net, tax, refunded, refund_date, is_dropped = row
    return Stored(
        item_id,
        product_id,
        stored_cents(net),
        stored_cents(tax),
        refunded,
        refund_date,
        is_dropped,
        paid_on,
    )


def held_of(books: Operation, term: Term) -> Held:
    """Return what a term has in the books."""
    rows = books.connection.rows(
        """
        SELECT kind, CAST(sum(cents) AS BIGINT) FROM revenue
        WHERE account_id = :account_id AND term_id = :term_id GROUP BY kind
        """,
        account_id=books.account_id,
        term_id=term.term_id,
    )
    sums = {kind: int(cents) for kind, cents in rows}
    return Held(*(sums.get(kind, 0) for kind in ("received", "earned", "refunded")))


def _earned_ahead(books: Operation, term: Term) -> list[tuple[str, int]]:
    """Return what a term has earned with issues dated after today, by day."""
    rows = books.connection.rows(
        """
        SELECT booked_on, CAST(sum(cents) AS BIGINT) FROM revenue
        WHERE account_id = :account_id AND term_id = :term_id AND kind = 'earned'
            AND booked_on > :today
        GROUP BY booked_on
        """,
        account_id=books.account_id,
        term_id=term.term_id,
        today=books.today,
    )
    return [(day, int(cents)) for day, cents in rows]


def _leave_campaign(books: Operation, terms: list[Term], *, is_all_back: bool) -> None:
    """Take subscriptions that have no issues left out of the renewal campaign.

    This applies if the refund took their issues, or gave all the money back. A later order brings
    them back (``store.books.order_lines``).
    """
    for subscription_id in sorted({term.subscription_id for term in terms}):
        own = [term for term in terms if term.subscription_id == subscription_id]
        if not is_all_back and not any(term.issues_left for term in own):
            continue
        books.connection.change(
            """
            UPDATE subscriptions SET renew_campaign_active = 0, commit_id = :commit_id
            WHERE account_id = :account_id AND subscription_id = :subscription_id
                AND renew_campaign_active = 1 AND NOT EXISTS (
                    SELECT 1 FROM terms AS t WHERE t.account_id = :account_id
                    AND t.subscription_id = :subscription_id AND t.issues_left <> 0)
            """,
            account_id=books.account_id,
            subscription_id=subscription_id,
            commit_id=books.commit_id,
        )


def _end(books: Operation, order_id: int, item_id: int, cents: int, *, is_dropped: bool) -> None:
    """End the terms of an item, and note the refund in it."""
    which = {"account_id": books.account_id, "item_id": item_id}
    books.connection.change(
        """
        UPDATE terms SET issues_left = 0, ended_at = :now
        WHERE account_id = :account_id AND order_item_id = :item_id AND ended_at IS NULL
        """,
        now=books.now,
        **which,
    )
    books.connection.change(
        """
        UPDATE order_items SET refunded = refunded + :cents, refund_date = :at,
            is_dropped = CASE WHEN :is_dropped = 1 THEN 1 ELSE is_dropped END
        WHERE account_id = :account_id AND order_item_id = :item_id
        """,
        cents=cents,
        at=books.now,
        is_dropped=int(is_dropped),
        **which,
    )
    books.connection.change(
        """
        UPDATE orders SET commit_id = :commit_id
        WHERE account_id = :account_id AND order_id = :order_id
        """,
        account_id=books.account_id,
        order_id=order_id,
        commit_id=books.commit_id,
    )
