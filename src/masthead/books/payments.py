"""Payments of orders, and money that is given back (circulation, "Money").

Masthead books them; the money itself is moved elsewhere. All amounts are whole cents.
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

    What was delivered from it on credit is earned at once. Raises NotFound if there is no such
    order, BadInput if it is history, is paid, or nothing of it is left to pay for.
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
    """Refund an item of an order: ``cents`` with tax. Its remaining issues end.

    ``cents`` is by default what is unearned and its tax; 0 gives nothing back. ``item_id`` is None
    for the only item of the order. Raises NotFound if there is no such order or item, BadInput for
    more than was paid, if there is nothing to refund, or if the order has several items and none
    was named.
    """
    with books.change(dry_run=dry_run) as change:
        done = refunding.refund(change, order_id, item_id, cents)
        change.touch(done.subscriptions)
        change.say(done.sentence)
    return done


def allow(
    books: Books, order_id: int, item_id: int | None, cents: int, *, dry_run: bool = False
) -> Allowed:
    """Give ``cents`` (with tax) of an item of an order back, and keep its issues.

    ``item_id`` is None for the only item of the order. What remains unearned is spread over the
    issues that remain; several terms share it in proportion to what is unearned of each. Raises
    NotFound if there is no such order or item, BadInput if it is not paid, for 0, for more than is
    unearned, or if the order has several items and none was named.
    """
    with books.change(dry_run=dry_run) as change:
        done = allowances.allow(change, order_id, item_id, cents)
        change.touch(done.subscriptions)
        change.say(done.sentence)
    return done
