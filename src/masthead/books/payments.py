"""Payments, refunds and allowances of orders (circulation, "Money").

Masthead books them; the money itself moves elsewhere. All amounts are whole cents.
"""

from masthead.books.account import Books
from masthead.store.books import allowances, paying, refunding
from masthead.store.books.allowances import Allowed
from masthead.store.books.paying import Paid
from masthead.store.books.refunding import Refunded

__all__ = ["Allowed", "Paid", "Refunded", "allow", "pay", "refund"]


def pay(
    books: Books, order_id: int, payment_type: str | None = None, *, dry_run: bool = False
) -> Paid:
    """Book that an order was paid today, in full.

    What was delivered on credit is earned at once. Raises NotFound if there is no such order,
    BadInput if it is history, is already paid, or has nothing left to pay for.
    """
    with books.change(dry_run=dry_run) as change:
        paid = paying.pay(change, order_id, payment_type)
        change.touch(paid.subscriptions)
        change.say(paid.sentence)
    return paid


def refund(
    books: Books,
    order_id: int,
    item_id: int | None = None,
    cents: int | None = None,
    *,
    dry_run: bool = False,
) -> Refunded:
    """Refund ``cents``, tax included, for an item of an order. Its remaining issues end.

    By default, ``cents`` is what is unearned and its tax; 0 gives nothing back. ``item_id`` is None
    for the only item of the order. Raises NotFound if there is no such order or item. Raises
    BadInput for more than was paid, if there is nothing to refund, or if the order has several
    items and ``item_id`` is None.
    """
    with books.change(dry_run=dry_run) as change:
        done = refunding.refund(change, order_id, item_id, cents)
        change.touch(done.subscriptions)
        change.say(done.sentence)
    return done


def allow(
    books: Books, order_id: int, item_id: int | None, cents: int, *, dry_run: bool = False
) -> Allowed:
    """Give back ``cents``, tax included, for an item of an order, and keep its issues.

    ``item_id`` is None for the only item of the order. The rest of the unearned revenue is spread
    over the remaining issues; several terms share the allowance in proportion to their unearned
    revenue. Raises NotFound if there is no such order or item. Raises BadInput if the item is not
    paid, for 0, for more than is unearned, or if the order has several items and ``item_id`` is
    None.
    """
    with books.change(dry_run=dry_run) as change:
        done = allowances.allow(change, order_id, item_id, cents)
        change.touch(done.subscriptions)
        change.say(done.sentence)
    return done
